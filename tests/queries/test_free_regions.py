"""Whether a region is free, so that something can be built there."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import esper
import pytest

import ecs_collide as ec
from tests.scenes import another_world, box, mover

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


def line_of(rise, low, high, whole):
    """Return the height of the line of a slope at a place, as exact fractions."""
    (left, bottom), (right, top) = whole

    def end_at(x):
        share = Fraction(x - left, right - left)
        share = share if rise == "right" else 1 - share
        return bottom + (top - bottom) * (low + (high - low) * share)

    return end_at


def test_corner_above_the_upper_end_of_a_slope_is_free(world):
    esper.create_entity(ec.Position(164, 4), ec.Extents(12, 20), ec.Slope("left", 0, 0.75))
    space = ec.install()
    esper.process(1.0)
    assert space.is_free((148, 14), (154, 24))
    assert space.is_free((148.3, 14), (151, 24))
    assert not space.is_free((148, 13.9), (154, 24))


def test_regions_beside_slopes_are_free_as_in_exact_fractions(volume, world):
    """Regions of whole numbers beside slopes whose ends are quarters and eighths of a box."""
    rng, n_free, n_touching = random.Random(5), 0, 0
    for n in range(volume(40, 200, 400)):
        with another_world(f"{world} {n}"):
            far = rng.choice([0, 0, 1000, -70_000])
            x, y, wide, tall = (rng.randrange(1, 40) for _ in range(4))
            low, high = sorted(rng.sample(range(9), 2))
            rise, ceiling = rng.choice(["left", "right"]), rng.random() < 0.3
            whole = (far + x, y), (far + x + 2 * wide, y + 2 * tall)
            slope = ec.Slope(rise, low / 8, high / 8, ceiling=ceiling)
            place = ec.Position(far + x + wide, y + tall)
            esper.create_entity(place, ec.Extents(wide, tall), slope)
            space = ec.install()
            space.update() if n % 2 else esper.process(1 / 60)
            end_at = line_of(rise, Fraction(low, 8), Fraction(high, 8), whole)
            for _ in range(60):
                left = far + rng.randrange(-10, 90)
                right = left + rng.randrange(1, 30)
                # Near the line, so that many regions only touch it.
                inner = [max(left, whole[0][0]), min(right, whole[1][0])]
                line = [end_at(min(max(at, whole[0][0]), whole[1][0])) for at in inner]
                bottom = math.floor(rng.choice(line)) + rng.randrange(-3, 4)
                top = bottom + rng.randrange(1, 30)
                end = (min if ceiling else max)(line)
                apart = inner[0] >= inner[1] or bottom >= whole[1][1] or top <= whole[0][1]
                apart = apart or (top <= end if ceiling else bottom >= end)
                assert space.is_free((left, bottom), (right, top)) is bool(apart), (n, slope, whole)
                n_free += apart
                n_touching += (top if ceiling else bottom) == end
    assert min(n_free, n_touching) > 0


def test_trees_answer_too():
    tree = ec.AABBTree()
    tree.insert(3, (0, 0), (2, 2))

    assert tree.is_free((2, 0), (3, 1))
    assert not tree.is_free((1, 0), (3, 1))
