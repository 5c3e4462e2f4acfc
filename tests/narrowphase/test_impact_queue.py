"""The queue of impacts gives the least key first, whatever order pairs come and go in.

Of plain Python, where a queue may be looked into; whole steps compare it with the compiled one.
"""

import random

import pytest

from tests import plain

impact_queue = plain.kernel("narrowphase.impact_queue")
DIGIT, FEW, ImpactQueue = impact_queue.DIGIT, impact_queue.FEW, impact_queue.ImpactQueue


class Plain:
    """A queue that looks at all of its pairs each time."""

    def __init__(self, queue) -> None:
        self.queue = queue
        self.keys: dict[int, tuple[float, int, int, int, int]] = {}

    def put(self, pair: int, time: float, rank: int) -> None:
        of_pair = self.queue.at[pair]
        self.keys[pair] = (time, rank, of_pair.low, of_pair.high, of_pair.image)
        self.queue.put(pair, time, rank)

    def drop(self, pair: int) -> None:
        self.keys.pop(pair, None)
        self.queue.drop(pair)

    def check(self) -> None:
        expected = min(self.keys, key=self.keys.__getitem__) if self.keys else -1
        assert self.queue.top() == expected
        assert self.queue.size == len(self.keys)


def filled(rng: random.Random, n: int, ids: list[int], one_against_many: bool) -> Plain:
    queue = ImpactQueue()
    queue.grow(n)
    keys = set()
    for pair in range(n):
        while True:
            low, high = sorted(rng.sample(ids, 2))
            low = ids[0] if one_against_many else low
            key = (low, high, rng.choice([0, 0, 1, -1]))
            if key not in keys:
                break
        keys.add(key)
        queue.at[pair].low, queue.at[pair].high, queue.at[pair].image = key
    return Plain(queue)


def some_ids(rng: random.Random, kind: str) -> list[int]:
    if kind == "dense":
        return list(range(1, 60))
    if kind == "one against many":
        return list(range(1, 2000))
    if kind == "sparse":
        return rng.sample(range(1, 1 << (2 * DIGIT + 3)), 200)
    return [*rng.sample(range(1, 1 << 62), 100), 1, (1 << 63) - 2]


@pytest.mark.parametrize("kind", ["dense", "sparse", "huge", "one against many"])
@pytest.mark.parametrize("n", [5, FEW, FEW + 1, 400])
def test_the_least_key_comes_first(kind, n):
    rng = random.Random(n)
    for _ in range(20):
        plain = filled(rng, n, some_ids(rng, kind), kind == "one against many")
        for step in range(2):
            for _ in range(2 * n):  # all before the first is asked for; some pairs several times
                pair = rng.randrange(n)
                if rng.random() < 0.2:
                    plain.drop(pair)
                else:
                    time = rng.choice([0.0, 0.0, 0.0, 0.5, rng.random()])
                    plain.put(pair, time, rng.choice([0, 0, 0, 0, 1, 2]))
            for taken in range(n // 6 + 1 if step == 0 else 3 * n):
                plain.check()
                if taken % 3 == 0 and plain.keys:  # some go that are not due yet
                    plain.drop(rng.choice(list(plain.keys)))
                if taken % 4 == 0 and step == 0:  # and some come at the same instant
                    plain.put(rng.randrange(n), rng.choice([0.0, 0.5]), rng.choice([0, 0, 1]))
                if plain.keys:
                    plain.drop(plain.queue.top())
            for pair in range(n):
                assert plain.queue.holds(pair) == (pair in plain.keys)
                assert plain.queue.is_due(pair, 0.0) == (plain.keys.get(pair, (1.0,))[0] == 0.0)
            plain.queue.clear()
            plain.keys.clear()
            assert not any(plain.queue.holds(pair) for pair in range(n))
            plain.check()
            plain.queue.clear()
