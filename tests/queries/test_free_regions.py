"""Whether a region is free, so that something can be built there."""

from __future__ import annotations

import math
import random

import pytest

import ecs_collide as ec
from tests.scenes import box, mover

pytestmark = pytest.mark.usefixtures("world", "implementation")


def test_buildings_stand_side_by_side_and_not_in_each_other():
    #   +---+---+
    #   | A | ? |     a house of 2 x 2 beside another one
    #   +---+---+
    box((1, 1), (1, 1))
    space = ec.install()
    space.update()

    assert space.is_free((2, 0), (4, 2))
    assert space.is_free((2, 2), (4, 4))
    assert not space.is_free((math.nextafter(2, 0), 0), (4, 2))
    assert not space.is_free((0.5, 0.5), (1.5, 1.5))
    assert not space.is_free((-9, -9), (9, 9))


def test_sensors_and_what_is_left_out_do_not_count():
    class Tree: ...

    house = box((1, 1), (1, 1))
    box((9, 1), (1, 1), ec.Sensor())
    box((19, 1), (1, 1), Tree())
    space = ec.install()
    space.update()

    assert space.is_free((0, 0), (2, 2), exclude=house)
    assert space.is_free((8, 0), (10, 2))
    assert not space.is_free((8, 0), (10, 2), solid=False)
    assert space.is_free((0, 0), (2, 2), filter=Tree)
    assert not space.is_free((18, 0), (20, 2), filter=Tree)


@pytest.mark.parametrize(
    ("low", "high"), [((0, 0), (0, 1)), ((2, 0), (1, 1)), ((0, 0), (math.nan, 1)), ((0,), (1,))]
)
def test_a_region_without_an_inside_is_refused(low, high):
    space = ec.install()
    with pytest.raises(ValueError, match=r"m(in|ax)"):
        space.is_free(low, high)


@pytest.mark.parametrize("wrap", [None, (32, 32)])
@pytest.mark.parametrize("seed", range(3))
def test_regions_are_free_where_no_box_has_a_part_of_them(seed, wrap):
    rng = random.Random(seed)
    boxes = [(rng.randrange(32), rng.randrange(32)) for _ in range(20)]
    for x, y in boxes:
        mover((x, y), (1, 1), (0, 0))
    space = ec.install(wrap=wrap)
    space.update()
    shifts = [0] if wrap is None else [-32, 0, 32]
    n_free = 0

    for _ in range(100):
        x, y = rng.randrange(31), rng.randrange(31)
        expected = not any(
            abs(x + 0.5 - a - dx) < 1.5 and abs(y + 0.5 - b - dy) < 1.5
            for a, b in boxes
            for dx in shifts
            for dy in shifts
        )
        assert space.is_free((x, y), (x + 1, y + 1)) is expected
        n_free += expected
    assert 0 < n_free < 100


def test_trees_answer_too():
    tree = ec.AABBTree()
    tree.insert(3, (0, 0), (2, 2))

    assert tree.is_free((2, 0), (3, 1))
    assert not tree.is_free((1, 0), (3, 1))
