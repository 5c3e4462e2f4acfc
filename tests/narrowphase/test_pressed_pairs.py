"""The shorter way of a sweep finds the same as the longer one, wherever it finds anything."""

import math
import random

import pytest

from ecs_collide._kernel.constants import CLEAR
from tests import plain

Narrowphase = plain.kernel("narrowphase.narrowphase").Narrowphase
IMPACT = plain.kernel("narrowphase.sweep_test").IMPACT
Sweeper = plain.kernel("narrowphase.sweep_test").Sweeper


FIELDS = ("kind", "axis", "sign", "corner", "enter", "exit", "depth")


class OfPair:
    """What `Narrowphase._is_impact_now` needs of a pair that was swept by itself."""

    def __init__(self, sweeper, dim: int) -> None:
        self.sweeper = sweeper
        self.bodies = type("Bodies", (), {"dim": dim})

    def is_due(self) -> bool:
        return Narrowphase._is_impact_now(self)

    def is_apart(self) -> bool:
        return Narrowphase.is_apart(self)


def random_path(rng: random.Random, dim: int, scale: float, at: list[float]) -> list[float]:
    """Return centre, half size, motion and resize of a body, for each axis."""
    path = []
    for k in range(dim):
        half = rng.choice([0.5, 0.5, 1.0, 0.25, 0.0, 2.0**-50]) * scale
        motion = rng.choice([0.0, 1.0, -1.0, 2.0**-60, rng.uniform(-1, 1)]) * scale
        if rng.random() < 0.05:
            motion *= rng.choice([1e9, 1e15])
        path += [at[k], half, motion, 0.0]
    return path


def touching_pair(rng: random.Random, dim: int) -> tuple[list[float], list[float], float, float]:
    """Return two paths whose boxes are near each other on most axes, and when they begin."""
    scale = rng.choice([1.0, 1e-3, 2.0**-300, 1e6])
    one = random_path(rng, dim, scale, [rng.choice([0.0, 0.3, 77.7]) * scale for _ in range(dim)])
    two = random_path(rng, dim, scale, [0.0] * dim)
    way1, way2 = rng.choice([0.0, 0.0, 0.25]), rng.choice([0.0, 0.0, 0.125])
    for k in range(dim):
        sizes = one[4 * k + 1] + two[4 * k + 1]
        side = rng.choice([-1.0, 1.0])
        near = rng.choice([1.0, 1.0, 0.3, 0.0, 1.5, 1.0 - 2.0**-28, 1.0 + 2.0**-46])
        middle = one[4 * k] + one[4 * k + 2] * way1
        two[4 * k] = middle + side * sizes * near - two[4 * k + 2] * way2
        for _ in range(rng.choice([0, 0, 1, 3])):
            two[4 * k] = math.nextafter(two[4 * k], rng.choice([-math.inf, math.inf]))
    return one, two, way1, way2


def sweep_both_ways(dim, one, two, way1, way2):
    """Return the sweeper of the shorter way, or None, and that of the longer one."""
    path = one + two
    reach = max(abs(x) for x in path[0::4] + path[1::4]) * 3.0  # new motions have not been bounded
    short, long = Sweeper(dim), Sweeper(dim)
    found = short.press(path, 0, 4 * dim, way1, way2, CLEAR * reach)
    for k in range(dim):
        c1, h1, m1, _ = one[4 * k : 4 * k + 4]
        c2, h2, m2, _ = two[4 * k : 4 * k + 4]
        c1 += m1 * way1
        c2 += m2 * way2
        long.aim(k, c1 - h1, c1 + h1, c2 - h2, c2 + h2, m1, 0.0, m2, 0.0, 1.0 - max(way1, way2))
    long.solve()
    return (short if found else None), long


@pytest.mark.parametrize("dim", [2, 3])
def test_a_pair_that_simply_presses_gives_the_same_bits_in_the_shorter_way(dim):
    rng = random.Random(7)
    n_found = n_with_gap = 0
    for _ in range(40_000):
        pair = touching_pair(rng, dim)
        short, long = sweep_both_ways(dim, *pair)
        if short is None:
            continue
        n_found += 1
        n_with_gap += short.enter > 0.0
        for field in FIELDS:
            assert repr(getattr(short, field)) == repr(getattr(long, field)), (field, pair)
        assert OfPair(long, dim).is_due(), pair
    assert n_found > 1000
    assert n_with_gap > 20


def test_most_impacts_of_touching_faces_take_the_shorter_way():
    rng = random.Random(8)
    n_found = n_due = 0
    for _ in range(5000):
        pair = touching_pair(rng, 2)
        short, long = sweep_both_ways(2, *pair)
        if long.kind == IMPACT and not long.corner and OfPair(long, 2).is_due():
            n_due += 1
            n_found += short is not None
    assert n_due > 200
    assert n_found > 0.5 * n_due


def is_deep(dim, one, two, way1, way2):
    """Return whether two boxes that touch overlap clearly on all axes but one, if they rest."""
    still = [number if k % 4 != 2 else 0.0 for k, number in enumerate(one + two)]
    for k in range(dim):
        still[4 * k] += one[4 * k + 2] * way1
        still[4 * (dim + k)] += two[4 * k + 2] * way2
    deep = [
        abs(still[4 * k] - still[4 * (dim + k)]) < 0.99 * (one[4 * k + 1] + two[4 * k + 1])
        for k in range(dim)
    ]
    return sum(deep) == dim - 1


@pytest.mark.parametrize("dim", [2, 3])
def test_a_pressed_pair_with_new_velocities_is_due_while_it_closes_and_has_the_same_exit(dim):
    rng = random.Random(9)
    n_due = n_parting = 0
    for _ in range(8_000):
        one, two, way1, way2 = touching_pair(rng, dim)
        swept = sweep_both_ways(dim, one, two, way1, way2)[0]
        if swept is None or not is_deep(dim, one, two, way1, way2):
            continue
        path = one + two
        for start, way in ((0, way1), (4 * dim, way2)):
            for k in range(start, start + 4 * dim, 4):
                path[k] += path[k + 2] * way
                path[k + 2] = rng.choice([0.0, 1.0, -1.0, 0.3, -2.0]) * path[start + 1]
        axis, sign = swept.axis, swept.sign
        closing = sign * (path[4 * (dim + axis) + 2] - path[4 * axis + 2])

        closes = swept.press_again(path, 0, 4 * dim, 0.0, 0.0, axis, sign)

        assert closes == (closing > 0.0)
        n_parting += not closes
        fresh = sweep_both_ways(dim, path[: 4 * dim], path[4 * dim :], 0.0, 0.0)[1]
        if closes and fresh.kind == IMPACT:
            n_due += 1
            assert (fresh.axis, fresh.sign, fresh.corner) == (axis, sign, swept.corner)
            assert repr(swept.exit) == repr(fresh.exit)
    assert n_due > 50
    assert n_parting > 50
