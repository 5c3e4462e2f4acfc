"""The queue of impacts gives the least key first, whatever order pairs come and go in.

Of plain Python, where a queue may be looked into; whole steps compare it with the compiled one.
"""

import random
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from tests import plain

ImpactQueue = plain.kernel("narrowphase.impact_queue").ImpactQueue


class Bodies:
    """Bodies on a line, the coordinate of each being its row."""

    rare = SimpleNamespace(any_carrier=False)

    def place_of(self, row: int, axis: int) -> float:
        return float(row)


@dataclass
class Pair:
    first: int
    second: int
    image: int
    has_wall: bool = False
    is_outweighed: bool = False
    where: int = 0
    tier: int = 0


class Pairs:
    """Pairs of these bodies, in the order of their rows, then of their images."""

    def __init__(self, pairs: list[Pair]) -> None:
        self.at = pairs

    def note_place(self, pair: int, where: int) -> None:
        self.at[pair].where = where

    def note_tier(self, pair: int, tier: int) -> None:
        self.at[pair].tier = tier

    def key(self, pair: int) -> tuple[int, int, int]:
        one, other = self.at[pair].first, self.at[pair].second
        return min(one, other), max(one, other), self.at[pair].image

    def leader(self, pair: int, bodies: Bodies) -> int:
        return self.key(pair)[0]

    def is_outweighed(self, pair: int, bodies: Bodies) -> bool:
        return self.at[pair].is_outweighed

    def meets_wall(self, pair: int, bodies: Bodies) -> bool:
        return self.at[pair].has_wall

    def precedes(self, one: int, i: int, other: int, j: int, bodies: Bodies, by_side: bool) -> bool:
        assert (i, j) == (self.key(one)[0], self.key(other)[0])
        return self.key(one) < self.key(other)


class Plain:
    """A queue that looks at all of its pairs each time."""

    def __init__(self, pairs: Pairs, n_rows: int) -> None:
        self.pairs = pairs
        self.queue = ImpactQueue(Bodies(), pairs)
        self.queue.set_rows(n_rows)
        self.queue.grow(len(pairs.at))
        self.keys: dict[int, tuple[float, int, int, int, int, int]] = {}

    def put(self, pair: int, time: float, tier: int) -> None:
        of = self.pairs.at[pair]
        kind = 0 if of.has_wall else 1 if of.is_outweighed else 2
        self.keys[pair] = (time, tier, tier == 0 and kind, *self.pairs.key(pair))
        self.queue.put(pair, time, tier)

    def drop(self, pair: int) -> None:
        self.keys.pop(pair, None)
        self.queue.drop(pair)

    def check(self) -> None:
        expected = min(self.keys, key=self.keys.__getitem__) if self.keys else -1
        assert self.queue.top() == expected
        assert self.queue.size == len(self.keys)


def filled(rng: random.Random, n: int, n_rows: int, one_against_many: bool) -> Plain:
    pairs: dict[tuple[int, int, int], Pair] = {}
    while len(pairs) < n:
        first, second = rng.sample(range(n_rows), 2)
        image = rng.choice([0, 0, 1, -1])
        kind = rng.random() < 0.3, rng.random() < 0.3
        pair = Pair(0 if one_against_many else first, second, image, *kind)
        if pair.first != pair.second:
            pairs.setdefault((min(pair.first, second), max(pair.first, second), pair.image), pair)
    return Plain(Pairs(list(pairs.values())), n_rows)


@pytest.mark.parametrize("kind", ["dense", "sparse", "one against many"])
@pytest.mark.parametrize("n", [5, 64, 65, 400])
def test_the_least_key_comes_first(kind, n):
    rng = random.Random(n)
    for _ in range(20):
        plain = filled(rng, n, 60 if kind == "dense" else 2000, kind == "one against many")
        for step in range(2):
            for pair in rng.sample(range(n), n - n // 5):  # all before the first is asked for
                time = rng.choice([0.0, 0.0, 0.0, 0.5, rng.random()])
                plain.put(pair, time, rng.choice([0, 0, 0, 0, 1, 2]))
            for taken in range(n // 6 + 1 if step == 0 else 3 * n):
                plain.check()
                if taken % 3 == 0 and plain.keys:  # some go that are not due yet
                    plain.drop(rng.choice(list(plain.keys)))
                if taken % 4 == 0 and step == 0:  # and some come at the same instant
                    pair = rng.randrange(n)
                    plain.drop(pair)
                    plain.put(pair, rng.choice([0.0, 0.5]), rng.choice([0, 0, 1]))
                if plain.keys:
                    plain.drop(plain.queue.top())
            for pair in range(n):
                assert plain.queue.holds(pair) == (pair in plain.keys)
                assert plain.queue.is_due(pair, 0.0) == (plain.keys.get(pair, (1.0,))[0] == 0.0)
            for pair in list(plain.keys):
                plain.drop(pair)
            plain.check()
            plain.queue.clear()
