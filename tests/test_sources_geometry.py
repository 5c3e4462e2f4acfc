"""What the source documents ask of a pair of boxes, row by row, and the faults in their listings.

Each row has the numbers of its source: G is Gomez, "Simple Intersection Tests for Games" (1999); F
studiofreya, "Simple AABB vs AABB Collision Detection" (2016); N GameDev.net, "Swept AABB Collision
Detection and Response" (2013).  Trees and whole steps have tests of their own.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from ecs_collide.sweeps import SweepKind, overlaps, sweep, sweep_pairs, swept_bounds

pytestmark = pytest.mark.usefixtures("implementation")

SEPARATE, TOUCH, IMPACT, OVERLAP = SweepKind


def cube(start, end=None):
    """Return centre, half sizes and motion of a box of side 2 that goes from start to end."""
    end = start if end is None else end
    return start, (1, 1, 1), tuple(e - s for s, e in zip(start, end, strict=True))


def tile(corner, velocity=(0, 0), size=(1, 1)):
    """Return the same for a box given by its lowest corner, as the article N does."""
    half = (size[0] / 2, size[1] / 2)
    return (corner[0] + half[0], corner[1] + half[1]), half, velocity


A = cube((0, 0, 0))
LEFT, DOWN = (-1.0, 0.0), (0.0, -1.0)

# Each row: two boxes, and what the sweep says of them; what the sources have published instead
# stands behind it.
ROWS = {
    # -- what is asked --
    "G only the relative displacement counts": (
        ((0, 0), (1, 1), (6, 1)), ((10, 0), (1, 1), (-10, 1)),
        {"kind": IMPACT, "time": 0.5, "exit": 0.75, "normal": LEFT},
    ),
    "G the same with one that moves": (
        ((0, 0), (1, 1), (16, 0)), ((10, 0), (1, 1), (0, 0)),
        {"kind": IMPACT, "time": 0.5, "exit": 0.75, "normal": LEFT},
    ),
    "G enter is the last first time, exit the first last time": (
        # x overlaps from 0.25 to 0.75, y from 0.5 to 1.5
        ((0, 0), (1, 1), (8, 4)), ((4, 4), (1, 1), (0, 0)),
        {"enter": 0.5, "exit": 0.75, "normal": DOWN},
    ),
    "G overlap at the start": (
        A, cube((0.5, 0, 0), (9, 0, 0)), {"kind": OVERLAP, "time": 0.0, "depth": 1.5},
    ),
    "G times before the step are not clipped": (
        cube((0, 0, 0), (1, 0, 0)), cube((-4, 0, 0)),
        {"kind": SEPARATE, "enter": -6.0, "exit": -2.0},
    ),
    "G times after the step are not clipped": (
        cube((0, 0, 0), (1, 0, 0)), cube((4, 0, 0)), {"kind": SEPARATE, "enter": 2.0, "exit": 6.0},
    ),
    "G side by side is no impact": (
        ((0, 0), (1, 1), (0, 0)), ((2, 0), (1, 1), (0, 0)), {"kind": TOUCH},
    ),
    "N picture 1: normal stop": (
        tile((0, 0), (4, 0)), tile((3, 0)), {"time": 0.5, "normal": LEFT},
    ),
    "N picture 2: ends inside beyond the middle": (
        # Pushing it out by the short way would be the wrong side.
        tile((0, 0), (6, 0)), tile((2, 0), size=(6, 1)), {"time": 1 / 6, "normal": LEFT},
    ),
    "N picture 3: tunnelling": (
        tile((0, 0), (100, 0)), tile((50, -5), size=(0.001, 11)),
        {"kind": IMPACT, "time": 0.49, "normal": LEFT},
    ),
    "N the face is that which is hit: right": (
        tile((0, 0), (2, 0)), tile((-2, 0), (4, 0)), {"time": 0.5, "normal": (1.0, 0.0)},
    ),
    "N the face is that which is hit: top": (
        tile((0, 0), (0, -8)), tile((0, -3)), {"time": 0.25, "normal": (0.0, 1.0)},
    ),
    "N distances along the motion: right": (
        tile((0, 0), (8, 0)), tile((4, 0)), {"enter": 0.375, "exit": 0.625},
    ),
    "N distances along the motion: left": (
        tile((8, 0), (-8, 0)), tile((4, 0)), {"enter": 0.375, "exit": 0.625},
    ),
    "N an axis without motion, inside of its span": (
        tile((0, 0), (4, 0)), tile((3, 0.5)), {"time": 0.5},
    ),
    "N an axis without motion, outside of its span": (
        tile((0, 0), (4, 0)), tile((3, 5)),
        {"kind": SEPARATE, "enter": math.inf, "exit": -math.inf, "time": None, "normal": None},
    ),
    "N y is left before x is entered": (
        tile((0, 0), (4, 8)), tile((3, 0.5)), {"kind": SEPARATE, "axis": None, "sign": None},
    ),
    # -- faults of the listings --
    "G apart on x without relative motion": (
        A, cube((9, 0, 0)), {"kind": SEPARATE},  # published: [0, 1]
    ),
    "G apart on x with y closing": (
        A, cube((9, 5, 0), (9, 0, 0)), {"kind": SEPARATE},  # published: [0.6, 1]
    ),
    "G moving apart": (
        A, cube((3, 0, 0), (6, 0, 0)), {"kind": SEPARATE, "exit": -1 / 3},  # published: [0, 1]
    ),
    "G contact after the step": (  # published: a hit
        A, cube((10, 1.5, 1.5), (7, 1.4, 1.4)), {"kind": SEPARATE, "enter": 8 / 3, "exit": 4.0},
    ),
    "G touching and leaving": (  # published: [0, 0]
        A, cube((2, 0, 0), (5, 0, 0)), {"kind": TOUCH, "exit": 0.0, "time": None},
    ),
    "G touching and leaving on x while y closes": (
        A, cube((2, 4, 0), (3, 1, 0)), {"kind": SEPARATE},  # published: [0.67, 1]
    ),
    "G overlap at the start keeps its exit": (  # published: [0, 0]
        A, cube((1, 0, 0), (2, 0, 0)),
        {"kind": OVERLAP, "time": 0.0, "exit": 1.0, "depth": 1.0, "normal": (-1.0, 0.0, 0.0)},
    ),
    "G still overlapping at the end": (  # published: an exit of 1
        A, cube((3, 0, 0), (1.5, 0, 0)), {"kind": IMPACT, "enter": 2 / 3, "exit": 5 / 1.5},
    ),
    "G still overlapping at the end, tiny motion across": (  # published: an exit of 3.33
        A, cube((3, 0, 0), (1.5, 1e-9, -1e-9)), {"kind": IMPACT, "enter": 2 / 3, "exit": 5 / 1.5},
    ),
    "G corner graze": (  # published: [0.5, 0.5]
        A, cube((3, 1, 0), (1, 3, 0)), {"kind": TOUCH, "enter": 0.5, "exit": 0.5},
    ),
    "G sliding on a floor towards the next tile": (
        A, cube((4, 2, 0), (1, 2, 0)), {"kind": TOUCH, "time": None},  # published: 0.67
    ),
    "G contact exactly at 1 is of the next step": (
        cube((0, 0, 0), (2, 0, 0)), cube((4, 0, 0)), {"kind": SEPARATE, "enter": 1.0},
    ),
    "G in which it is at 0": (
        cube((2, 0, 0), (4, 0, 0)), cube((4, 0, 0)), {"kind": IMPACT, "time": 0.0},
    ),
    "N starts inside and goes deeper": (  # published: none, it passes through
        tile((0.5, 0), (1, 0)), tile((1, 0)),
        {"kind": OVERLAP, "time": 0.0, "depth": 0.5, "normal": LEFT},
    ),
    "N apart on x without motion on x": (
        tile((5, 0), (0, 6)), tile((0, 3)), {"kind": SEPARATE},  # published: a hit
    ),
    "N falling past a wall it touches": (  # published: a hit at 1/3
        tile((1, 0), (0, 6)), tile((0, 3)), {"kind": TOUCH, "time": None, "enter": 1 / 3},
    ),
    "N walking on to the next floor tile": (
        tile((0, 0), (2, 0)), tile((1.5, 1)), {"kind": TOUCH, "enter": 0.25},  # published: a stop
    ),
    "N pressing against the wall it touches": (  # published: -0.0 and the other normal
        tile((1, 0), (-1, 0)), tile((0, 0)), {"kind": IMPACT, "time": 0.0, "normal": (1.0, 0.0)},
    ),
    "N corner graze": (  # published: a hit at 1/3
        tile((0, 2), (3, -3)), tile((2, 2)), {"kind": TOUCH, "enter": 1 / 3, "exit": 1 / 3},
    ),
    "N of two axes at once the faster one is the face: x": (
        tile((0, 0), (4, 2)), tile((3, 2)), {"time": 0.5, "normal": LEFT, "corner": True},
    ),
    "N of two axes at once the faster one is the face: y": (
        tile((0, 0), (2, 4)), tile((2, 3)), {"time": 0.5, "normal": DOWN, "corner": True},
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_sweep_of_a_row(row):
    first, second, expected = ROWS[row]

    hit = sweep(*first, *second)

    assert repr({name: getattr(hit, name) for name in expected}) == repr(expected)  # not -0.0


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sign", [-1, 1])
def test_all_three_axes_work_alike(axis, sign):
    place = [0, 0, 0]
    place[axis] = -5 * sign
    hit = sweep(*cube((0, 0, 0), place), *cube(place))

    expected = [0.0, 0.0, 0.0]
    expected[axis] = float(sign)
    assert (hit.time, hit.normal, hit.axis, hit.sign) == (0.6, tuple(expected), axis, sign)


def test_positions_at_the_first_and_the_last_overlap():
    #
    #    t = 0.4:   A at 2, B at 4          t = 1.2:   A at 6, B at 4
    #
    hit = sweep(*cube((0, 0, 0), (5, 0, 0)), *cube((4, 0, 0)))

    assert hit.positions(hit.enter) == ((2.0, 0.0, 0.0), (4.0, 0.0, 0.0))
    assert hit.positions(hit.exit) == ((6.0, 0.0, 0.0), (4.0, 0.0, 0.0))


# -- at rest --

F6 = [
    ((0, 0, 0), (0, 0, 0), True),
    ((0, 0, 0), (1, 0, 0), True),
    ((0, 0, 0), (1.5, 0, 0), False),
    ((0, 0, 0), (15, 0, 0), False),
    ((1, 0, 0), (1, 0, 0), True),
    ((1, 0, 0), (1.5, 0, 0), True),
    ((1, 0, 0), (15, 0, 0), False),
    ((1.5, 0, 0), (1.5, 0, 0), True),
    ((1.5, 0, 0), (15, 0, 0), False),
    ((0, 0, 0), (0, 1.5, 0), False),
    ((0, 0, 0), (0, 2.5, 0), False),
    ((0, 0, 0), (0, 3.5, 0), False),
    ((0, 0, 0), (15, 15, 15), False),
]


def test_unit_boxes_overlap_one_by_one_and_as_arrays():
    # A published variant that wants all axes to separate the boxes fails seven of the rows.
    half, still = (0.5, 0.5, 0.5), (0, 0, 0)
    centres1, centres2, expected = zip(*F6, strict=True)

    for centre1, centre2, overlap in F6:
        boxes = [swept_bounds(centre, half, still) for centre in (centre1, centre2)]
        assert overlaps(*boxes[0], *boxes[1]) is overlaps(*boxes[1], *boxes[0]) is overlap
        at_rest = sweep(centre1, half, still, centre2, half, still)
        assert (at_rest.kind is not SEPARATE) is overlap
    arrays = [swept_bounds(centres, [half] * 13, np.zeros((13, 3))) for centres in
              (centres1, centres2)]  # fmt: skip
    assert overlaps(*arrays[0], *arrays[1]).tolist() == list(expected)


@pytest.mark.parametrize(
    ("centre2", "half2", "expected"),
    [
        ((1.5, 0), (1, 1), True),
        ((2, 0), (1, 1), True),  # touching
        ((2, 2), (1, 1), True),  # touching at a corner
        ((0, 0), (0.25, 0.25), True),  # contained
        ((0, 0), (9, 9), True),  # containing
        ((3, 0), (2, 1), True),  # taken for whole widths they would be apart
        ((2.001, 0), (1, 1), False),
        ((0, -2.001), (1, 1), False),
    ],
)
def test_boxes_of_centres_and_half_sizes_overlap_where_they_share_a_point(centre2, half2, expected):
    assert overlaps(centre1=(0, 0), half1=(1, 1), centre2=centre2, half2=half2) is expected


def test_one_form_everywhere_for_boxes_that_touch_on_paper():
    # 10,100 pairs side by side, whose centres and sizes are tenths, such as centres 0.1 and 0.7
    # with sizes 0.6 and 0.6.  Rounding puts some of them an instant apart, and the published
    # form, |d| <= sum of halves, rounds in its own way again.
    tenths = np.array([(i, j) for i in range(101) for j in range(1, 101)])
    centre1, half = tenths[:, 0] / 10, tenths[:, 1] / 20
    centre2 = (tenths[:, 0] + tenths[:, 1]) / 10
    rows = len(tenths)
    assert rows == 10_100

    centres = np.zeros((2 * rows, 2))
    centres[:rows, 0], centres[rows:, 0] = centre1, centre2
    halves = np.ones((2 * rows, 2))
    halves[:, 0] = np.tile(half, 2)
    pairs = np.column_stack([np.arange(rows), np.arange(rows) + rows])
    still = np.zeros((2 * rows, 2))
    low, high = swept_bounds(centres, halves, still)
    closing = still.copy()
    closing[:rows, 0] = 1

    published = np.abs(centre2 - centre1) <= half + half
    asked = overlaps(low[:rows], high[:rows], low[rows:], high[rows:])
    at_rest = sweep_pairs(centres, halves, still, pairs)
    pressed = sweep_pairs(centres, halves, closing, pairs)

    # The figures of docs/design.md.
    assert round(np.mean(~published), 3) == 0.250
    assert round(np.mean(~asked), 3) == 0.175
    by_centres = overlaps(
        centre1=centres[:rows], half1=halves[:rows], centre2=centres[rows:], half2=halves[rows:]
    )
    assert (by_centres == asked).all()
    assert (asked == (at_rest.kind == TOUCH)).all()
    assert (~asked == (at_rest.kind == SEPARATE)).all()
    # Whatever the rounding was, pressing them together is an impact at once.
    assert (pressed.kind == IMPACT).all()
    assert (pressed.time < 1e-13).all()
    assert (pressed.normal == (-1.0, 0.0)).all()


# -- numbers that are none; published: a NaN velocity is a hit, a NaN centre overlaps --


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 2.0**501, -(2.0**501)])
def test_number_that_is_none_is_refused_by_the_name_of_its_argument(bad):
    for place, name in enumerate(["centre1", "half1", "motion1", "centre2", "half2", "motion2"]):
        vectors = [[0.0, 0.0], [1.0, 1.0], [3.0, 0.0], [4.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
        vectors[place][1] = bad
        with pytest.raises(ValueError, match=rf"{name}=\(.*{re.escape(str(bad))}.* must be finite"):
            sweep(*vectors)

    for name in ("centres", "halves", "motions", "growths"):
        arrays = {key: np.ones((5, 3)) for key in ("centres", "halves", "motions", "growths")}
        arrays[name][3, 1] = bad
        with pytest.raises(ValueError, match=rf"{name}\[3\]=\(1\.0, .*, 1\.0\) must be finite"):
            sweep_pairs(**arrays, pairs=[[0, 1]])

    for place, name in enumerate(["min1", "max1", "min2", "max2"]):
        single = [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
        single[place][0] = bad
        many = np.array([[[0.0, 0.0]] * 3, [[1.0, 1.0]] * 3] * 2)
        many[place, 2, 1] = bad
        with pytest.raises(ValueError, match=rf"{name}=\(.* must be finite"):
            overlaps(*single)
        with pytest.raises(ValueError, match=rf"{name}\[2\]=\(.* must be finite"):
            overlaps(*many)
