"""Overlaps, sweeps of one pair and of many, swept bounds."""

import dataclasses
import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest

from ecs_collide._kernel import backend
from ecs_collide.sweeps import (
    Sweep,
    SweepBatch,
    SweepKind,
    overlaps,
    sweep,
    sweep_pairs,
    swept_bounds,
)

pytestmark = pytest.mark.usefixtures("implementation")

SEPARATE, TOUCH, IMPACT, OVERLAP = SweepKind


def box(centre, half, motion=(0, 0), growth=(0, 0)):
    return centre, half, motion, growth


def meet(first, second):
    (c1, h1, v1, w1), (c2, h2, v2, w2) = first, second
    return sweep(c1, h1, v1, c2, h2, v2, w1, w2)


FAR, TINY, SLOP = 2.0**40, 5e-324, 2.0**-44
LEFT, RIGHT, DOWN = (-1.0, 0.0), (1.0, 0.0), (0.0, -1.0)
UNIT = box((0, 0), (1, 1))
PLATE = box((2, 0), (0, 1))

# Each row: two boxes, the kind of their meeting, and more that the sweep says.
PAIRS_OF_BOXES = {
    "follows at the same speed": (
        box((0, 0), (1, 1), (5, 0)), box((2, 0), (1, 1), (5, 0)), TOUCH, {},
    ),
    "follows more slowly": (box((0, 0), (1, 1), (4, 0)), box((2, 0), (1, 1), (5, 0)), TOUCH, {}),
    "follows faster": (box((0, 0), (1, 1), (6, 0)), box((2, 0), (1, 1), (5, 0)), IMPACT, {}),
    "together for ever": (
        box((0, 0), (1, 1), (5, 3)), box((0.5, 0), (1, 1), (5, 3)), OVERLAP,
        {"enter": -math.inf, "exit": math.inf},
    ),
    # -- corners --
    "two axes close at once": (
        box((0, 0), (1, 1), (8, 6)), box((6, 5), (1, 1)), IMPACT,
        {"time": 0.5, "corner": True, "normal": LEFT},
    ),
    "one axis closes": (
        box((0, 0), (1, 1), (8, 6)), box((6, 4.5), (1, 1)), IMPACT,
        {"time": 0.5, "corner": False, "normal": LEFT},
    ),
    "of two equally fast axes the lowest": (
        box((0, 0), (1, 1), (8, 8)), box((6, 6), (1, 1)), IMPACT, {"corner": True, "normal": LEFT},
    ),
    "of three axes the fastest": (
        ((0, 0, 0), (1, 1, 1), (4, 6, 8), None), ((4, 5, 6), (1, 1, 1), (0, 0, 0), None), IMPACT,
        {"time": 0.5, "corner": True, "normal": (0.0, 0.0, -1.0)},
    ),
    # -- overlaps: their normal is that of the shallowest side --
    "half deep on x, 1 deep on y": (
        box((0, 0), (2, 1)), box((2.5, -1), (1, 1)), OVERLAP,
        {"time": 0.0, "depth": 0.5, "normal": LEFT, "corner": False},
    ),
    "equally deep": (UNIT, box((1.5, 1.5), (1, 1)), OVERLAP, {"normal": LEFT}),
    "equally deep, closing on y": (
        box((0, 0), (1, 1), (0, 1)), box((1.5, 1.5), (1, 1)), OVERLAP, {"normal": DOWN},
    ),
    "concentric": (UNIT, UNIT, OVERLAP, {"normal": LEFT, "depth": 2.0}),
    "parts": (UNIT, box((1, 0), (1, 1), (4, 0)), OVERLAP, {"time": 0.0, "exit": 0.25}),
    "a point inside": (box((0.25, 0), (0, 0)), UNIT, OVERLAP, {"depth": 0.75, "normal": RIGHT}),
    # -- boxes that change their size --
    "one grows by 2 on each side, one shrinks by 1": (
        box((0, 0), (1, 1), growth=(2, 0)), box((2.5, 0), (1, 1), growth=(-1, 0)), IMPACT,
        {"time": 0.5, "normal": LEFT},
    ),
    "shrinks out of the way of one that falls": (
        # It leaves the column at 1/2, and the other one reaches its height at 2/3.
        box((0, 3), (1, 1), (0, -1.5)), box((1.5, 0), (1, 1), growth=(-1, 0)), SEPARATE, {},
    ),
    "stays in the way": (box((0, 3), (1, 1), (0, -1.5)), box((1.5, 0), (1, 1)), IMPACT, {}),
    "grows faster than the other flees": (
        box((0, 0), (1, 1), growth=(3, 3)), box((-3, 0), (1, 1), (-1, 0)), IMPACT,
        {"time": 0.5, "normal": RIGHT},
    ),
    # -- points and plates --
    "a point meets a plate": (
        box((0, 0), (0, 0), (4, 0)), PLATE, IMPACT, {"time": 0.5, "exit": 0.5, "normal": LEFT},
    ),
    "a point passes the end of a plate": (box((0, 2), (0, 0), (4, 0)), PLATE, SEPARATE, {}),
    "a point goes along the end of a plate": (box((0, 1), (0, 0), (4, 0)), PLATE, TOUCH, {}),
    "a point 1e-14 too low when it is in line with a plate": (
        box((0, 0), (0, 0), (4, 4)), box((2, 3 + 1e-14), (0, 1)), SEPARATE, {},
    ),
    "and high enough": (
        box((0, 0), (0, 0), (4, 4)), box((2, 3 - 1e-14), (0, 1)), IMPACT, {},
    ),
    # -- rounding --
    "faces that touch at 0.3 on paper and overlap in their last bit": (
        box((0.1, 0), (0.2, 1)), box((0.5, 0), (0.2, 1)), TOUCH, {},
    ),
    "the same along each other": (
        box((0.1, 0), (0.2, 1), (0, 5)), box((0.5, 0), (0.2, 1)), TOUCH, {},
    ),
    "that touch on paper, pressed": (
        box((0.1, 0), (0.2, 1), (1, 0)), box((0.5, 0), (0.2, 1)), IMPACT, {"time": 0.0},
    ),
    "as deep as rounding": (UNIT, box((2 - SLOP, 0), (1, 1)), TOUCH, {}),
    "deeper than rounding": (UNIT, box((2 - 8 * SLOP, 0), (1, 1)), OVERLAP, {}),
    "as deep as rounding at the end of the path": (
        box((0, 0), (1, 1), (-FAR, 0)), box((1.97, 0), (1, 1)), TOUCH, {},  # 2**-4 is rounding
    ),
    "a corner that passes 1e-14 inside": (
        UNIT, box((3, -1 + 1e-14), (1, 1), (-2, -2)), TOUCH, {},
    ),
    "a corner that passes 1e-9 inside": (
        UNIT, box((3, -1 + 1e-9), (1, 1), (-2, -2)), IMPACT, {"normal": LEFT},
    ),
    "thinner than the tolerance, far out": (
        # At 1e12 faces are 0.000122 apart at least, and 0.057 counts as rounding.
        box((1e12, 0), (0.01, 1), (1, 0)), box((1e12 + 0.05, 0), (0.01, 1)), IMPACT,
        {"normal": LEFT},
    ),
    "the same pressed": (
        box((1e12, 0), (2.0**-7, 1), (1, 0)), box((1e12 + 2.0**-6, 0), (2.0**-7, 1)), IMPACT,
        {"time": 0.0, "normal": LEFT},
    ),
    "a trillion from the origin": (
        box((1e12, -1e12), (1, 1), (8, 0)), box((1e12 + 6, -1e12), (1, 1)), IMPACT,
        {"time": 0.5, "normal": LEFT},
    ),
    "a denormal motion": (box((0, 0), (1, 1), (TINY, 0)), box((2, 0), (1, 1)), TOUCH, {}),
    "denormal sizes": (box((0, 0), (TINY, TINY)), box((0, 0), (TINY, TINY)), TOUCH, {}),
    "a denormal distance": (box((0, 0), (0, 0)), box((TINY, 0), (0, 0), (TINY, 0)), TOUCH, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS_OF_BOXES)
def test_two_boxes_meet_as_they_should(name):
    first, second, kind, expected = PAIRS_OF_BOXES[name]

    hit = meet(first, second)

    assert hit.kind is kind
    assert {name: getattr(hit, name) for name in expected} == expected


@pytest.mark.parametrize("place", [1.0, -1.0, 100.1, 1e12])
@pytest.mark.parametrize("speed", [1.0, 1e-3, 1e6])
def test_point_one_ulp_before_a_plate_is_still_before_it(place, speed):
    hit = meet(
        box((place, 0), (0, 0), (speed, 0)), box((math.nextafter(place, math.inf), 0), (0, 1))
    )

    assert (hit.kind, hit.normal) == (IMPACT, LEFT)


def test_half_size_never_shrinks_below_zero():
    to_nothing = meet(box((0, 0), (1, 1), growth=(-1, 0)), box((5, 0), (1, 1), (-8, 0)))

    assert to_nothing.kind is IMPACT
    assert meet(box((0, 0), (1, 1), growth=(-9, 0)), box((5, 0), (1, 1), (-8, 0))) == to_nothing


def test_result_tells_all_of_an_impact():
    #
    #      +---+
    #      | B |
    #      +---+             B falls on A
    #        v
    #    +-------+
    #    |   A   |
    #    +-------+
    #
    hit = sweep((0, 0), (2, 1), (0, 0), (0, 4), (1, 1), (0, -4))

    assert hit.kind is IMPACT
    assert hit.time == hit.enter == 0.5
    assert hit.exit == 1.5
    assert hit.normal == (0.0, -1.0)
    assert (hit.axis, hit.sign) == (1, -1)
    assert hit.corner is False
    assert hit.depth == 0.0


def test_result_says_nothing_of_a_face_where_there_is_no_collision():
    miss = sweep((0, 0), (1, 1), (0, 0), (9, 0), (1, 1), (-1, 0))

    assert miss.kind is SEPARATE
    assert miss.time is miss.normal is miss.axis is miss.sign is None
    assert miss.corner is False
    assert miss.depth == 0.0
    assert (miss.enter, miss.exit) == (7.0, 11.0)


def test_results_are_frozen_plain_values():
    hit = meet(box((0, 0), (1, 1), (8, 0)), box((5, 0), (1, 1)))

    assert [type(value) for value in (hit.time, hit.enter, hit.exit, hit.depth)] == [float] * 4
    assert [type(value) for value in (hit.axis, hit.sign)] == [int] * 2
    assert type(hit.kind) is SweepKind
    assert type(hit.corner) is bool
    assert [type(part) for part in hit.normal] == [float, float]
    assert pickle.loads(pickle.dumps(hit)) == hit
    assert isinstance(hash(hit), int)
    with pytest.raises(dataclasses.FrozenInstanceError):
        hit.time = 0.0
    assert repr(hit) == (
        "Sweep(kind=<SweepKind.IMPACT: 2>, time=0.375, enter=0.375, exit=0.875, "
        "normal=(-1.0, 0.0), axis=0, sign=-1, corner=False, depth=0.0)"
    )


def test_positions_lie_on_the_paths_at_any_time():
    hit = sweep((0, 1), (1, 1), (8, 0), (5, 1), (1, 1), (-2, 4))

    assert hit.positions(0) == ((0.0, 1.0), (5.0, 1.0))
    assert hit.positions(0.5) == ((4.0, 1.0), (4.0, 3.0))
    assert hit.positions(1) == ((8.0, 1.0), (3.0, 5.0))
    assert hit.positions(-1) == ((-8.0, 1.0), (7.0, -3.0))


@pytest.mark.parametrize("t", [math.inf, -math.inf, math.nan])
def test_positions_at_no_time_are_refused(t):
    hit = sweep((0, 0), (1, 1), (0, 0), (0, 0), (1, 1), (0, 0))

    with pytest.raises(ValueError, match=f"t={t} must be a finite fraction"):
        hit.positions(t)


@pytest.mark.parametrize("width", [1, 0.5, 0.1, 0.3, 1 / 3])
@pytest.mark.parametrize("top", [0, 0.3, 0.7, 100.1])
def test_box_on_a_floor_of_tiles_never_catches_on_a_seam(width, top):
    #
    #        +---+ ============================>
    #        | A |
    #    +---+---+---+-------+-------+-------+
    #    |       |       |       |       |          gravity presses A down
    #
    n_tiles = 200
    x = (np.arange(n_tiles) + 0.5) * width
    floor = np.column_stack([x, np.full(n_tiles, top - 0.5)])
    tops = swept_bounds(floor, [width / 2, 0.5], (0, 0))[1][:, 1]
    standing = np.array([[0.05, tops.max() + 0.25]])
    if standing[0, 1] - 0.25 < tops.max():
        standing[0, 1] = np.nextafter(standing[0, 1], np.inf)
    centres = np.vstack([standing, floor])
    halves = np.vstack([[[0.2, 0.25]], np.tile([width / 2, 0.5], (n_tiles, 1))])
    motions = np.zeros_like(centres)
    pairs = np.column_stack([np.zeros(n_tiles, int), np.arange(1, n_tiles + 1)])

    motions[0] = width * 150, 0
    sliding = sweep_pairs(centres, halves, motions, pairs)
    motions[0] = width * 150, -0.01
    pressed = sweep_pairs(centres, halves, motions, pairs)

    assert (sliding.kind <= TOUCH).all()
    landings = pressed.kind == IMPACT
    first = pressed.time[landings].min()
    assert first < 1e-9
    assert (pressed.axis[landings & (pressed.time == first)] == 1).all()


def test_growth_of_one_alone_may_be_left_out():
    vectors = ((0, 0), (1, 1), (0, 0), (3, 0), (1, 1), (0, 0))

    first = sweep(*vectors, growth1=(2, 0))
    second = sweep(*vectors, growth2=(2, 0))

    assert first.time == second.time == 0.5
    assert sweep(*vectors).kind is SEPARATE


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**-300, 1.0, 2.0**300, 2.0**490])
def test_any_unit_works(scale):
    hit = sweep((0, 0), (scale, scale), (8 * scale, 0), (6 * scale, 0), (scale, scale), (0, 0))

    assert (hit.kind, hit.time, hit.exit) == (IMPACT, 0.5, 1.0)


def test_any_sequence_of_numbers_is_a_vector():
    expected = sweep((0, 0), (1, 1), (8, 0), (6, 0), (1, 1), (0, 0))

    for kind in (list, np.array, lambda v: np.array(v, np.float32), lambda v: np.array(v, np.int8)):
        vectors = [kind(v) for v in [(0, 0), (1, 1), (8, 0), (6, 0), (1, 1), (0, 0)]]
        assert sweep(*vectors) == expected
    assert sweep((0, Fraction(0)), (1, 1), (8, 0), (6, 0), (1, 1), (0, 0)) == expected


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"centre2": (1, 2, 3)}, "centre2 has 3 axes and centre1 has 2"),
        ({"growth2": (1, 2, 3)}, "growth2 has 3 axes and centre1 has 2"),
        ({"motion1": (1,)}, "motion1 must have 2 or 3 axes"),
        ({"motion1": (1, 2, 3, 4)}, "motion1 must have 2 or 3 axes"),
        ({"motion1": 1}, "motion1 must have 2 or 3 axes"),
        ({"half1": [(1, 1), (2, 2)]}, "half1 must be a single vector; got shape (2, 2)"),
        ({"centre1": ("0", "0")}, "centre1=('0', '0') must be numbers"),
        ({"centre1": (0, "0")}, "centre1=(0, '0') must be numbers"),
        ({"centre1": None}, "centre1"),
        ({"centre1": (None, 0)}, "centre1"),
        ({"motion2": (1j, 0)}, "motion2=(1j, 0) must be numbers"),
        ({"growth1": (math.nan, 0)}, "growth1=(nan, 0.0) must be finite"),
        ({"growth2": (0, math.inf)}, "growth2=(0.0, inf) must be finite"),
        ({"centre1": (10**400, 0)}, "centre1"),
        ({"half1": (1, -0.5)}, "half1=(1.0, -0.5) must be >= 0"),
        ({"half2": (1, -5e-324)}, "half2=(1.0, -5e-324) must be >= 0"),
    ],
)
def test_sweep_names_the_argument_it_refuses(change, told):
    vectors = {"centre1": (0, 0), "half1": (1, 1), "motion1": (1, 0)}
    vectors |= {"centre2": (5, 0), "half2": (1, 1), "motion2": (0, 0)}

    with pytest.raises(ValueError, match=re.escape(told)):
        sweep(**{**vectors, **change})


def test_numbers_up_to_the_limit_are_taken():
    limit = 2.0**500

    hit = sweep((-limit, 0), (0, 1), (limit, 0), (-limit / 2, 0), (0, 1), (0, 0))

    assert (hit.kind, hit.time) == (IMPACT, 0.5)
    with pytest.raises(ValueError, match="centre1"):
        sweep((math.nextafter(-limit, -math.inf), 0), (0, 1), (0, 0), (0, 0), (0, 1), (0, 0))


CENTRES = [(0, 0), (6, 0), (0, 9), (0.5, 0)]
HALVES = [(1, 1)] * 4
MOTIONS = [(8, 0), (0, 0), (0, 0), (0, 0)]
PAIRS = [(0, 1), (0, 2), (0, 3), (1, 0)]


def test_pairs_give_a_row_each():
    batch = sweep_pairs(CENTRES, HALVES, MOTIONS, PAIRS)

    assert len(batch) == 4
    assert batch.kind.tolist() == [IMPACT, SEPARATE, OVERLAP, IMPACT]
    assert batch.time[[0, 2, 3]].tolist() == [0.5, 0.0, 0.5]
    assert math.isnan(batch.time[1])
    assert batch.enter[[0, 3]].tolist() == [0.5, 0.5]
    assert batch.exit.tolist()[0] == 1.0
    assert batch.axis.tolist() == [0, -1, 0, 0]
    assert batch.sign.tolist() == [-1, 0, -1, 1]
    assert batch.normal.tolist() == [[-1, 0], [0, 0], [-1, 0], [1, 0]]
    assert batch.depth.tolist() == [0, 0, 1.5, 0]
    assert batch.corner.tolist() == [False] * 4
    assert batch.pairs.tolist() == [list(pair) for pair in PAIRS]


def test_batch_has_the_fields_of_a_sweep_as_arrays():
    batch = sweep_pairs(CENTRES, HALVES, MOTIONS, PAIRS)

    for name in ("kind", "axis", "sign"):
        assert getattr(batch, name).dtype == np.int8
    for name in ("time", "enter", "exit", "depth", "normal"):
        assert getattr(batch, name).dtype == np.float64
    assert batch.corner.dtype == np.bool_
    public = {field.name for field in dataclasses.fields(Sweep) if field.name[0] != "_"}
    assert all(len(getattr(batch, name)) == 4 for name in public)
    assert isinstance(batch, SweepBatch)


def test_row_of_a_batch_is_the_sweep_of_that_pair():
    batch = sweep_pairs(CENTRES, HALVES, MOTIONS, PAIRS)

    for row, (i, j) in enumerate(PAIRS):
        single = sweep(CENTRES[i], HALVES[i], MOTIONS[i], CENTRES[j], HALVES[j], MOTIONS[j])
        assert batch[row] == single
    assert list(batch) == [batch[row] for row in range(4)]
    with pytest.raises(IndexError):
        batch[4]


def test_positions_of_a_batch_at_one_time_or_at_one_for_each():
    batch = sweep_pairs(CENTRES, HALVES, MOTIONS, PAIRS)

    first, second = batch.positions(0.5)
    assert first.tolist() == [[4, 0], [4, 0], [4, 0], [6, 0]]
    assert second.tolist() == [[6, 0], [0, 9], [0.5, 0], [4, 0]]

    first, second = batch.positions(batch.time)
    assert first[0].tolist() == [4, 0]
    assert np.isnan(first[1]).all()
    assert first[2].tolist() == [0, 0]


@pytest.mark.parametrize("pairs", [[], np.zeros((0, 2), np.int64), np.zeros((0, 2))])
def test_no_pairs_give_no_rows(pairs):
    batch = sweep_pairs(CENTRES, HALVES, MOTIONS, pairs)

    assert len(batch) == 0
    assert list(batch) == []
    assert batch.normal.shape == (0, 2)
    assert len(sweep_pairs(*np.zeros((3, 0, 2)), [])) == 0


def test_arrays_of_any_layout_and_kind_are_taken_and_left_alone():
    wide = np.zeros((4, 6))
    wide[:, ::3] = CENTRES
    halves = np.asfortranarray(HALVES, np.float32)
    motions = np.array(MOTIONS, np.int16)
    pairs = np.array(PAIRS, np.uint8)
    frozen = wide[:, ::3]
    frozen.flags.writeable = False

    batch = sweep_pairs(frozen, halves, motions, pairs)

    assert list(batch) == list(sweep_pairs(CENTRES, HALVES, MOTIONS, PAIRS))
    assert frozen.tolist() == [list(map(float, centre)) for centre in CENTRES]


def test_batch_does_not_follow_later_changes_of_the_arrays():
    centres, motions, pairs = np.array(CENTRES, float), np.array(MOTIONS, float), np.array(PAIRS)
    batch = sweep_pairs(centres, HALVES, motions, pairs)
    before = list(batch)

    centres += 1
    motions += 1
    pairs[:] = 0

    assert list(batch) == before


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"pairs": [(0, 1), (0, 4)]}, "pairs[1]=(0, 4) must be rows of the 4 bodies"),
        ({"pairs": [(0, 1), (-1, 2)]}, "pairs[1]=(-1, 2) must be rows of the 4 bodies"),
        ({"pairs": np.array([(2**63, 0)], np.uint64)}, "pairs[0]=(9223372036854775808, 0)"),
        ({"pairs": [(0.0, 1.0)]}, "pairs must be integers of shape (m, 2); got float64"),
        ({"pairs": [(True, False)]}, "pairs must be integers"),
        (
            {"pairs": np.array([0, 1], np.int64)},
            "pairs must be integers of shape (m, 2); got int64 of shape (2,)",
        ),
        ({"pairs": [(0, 1, 2)]}, "of shape (1, 3)"),
        ({"pairs": [(0, 1), (2,)]}, "must be rows of two integers"),
        ({"centres": [(0, 0)] * 3}, "halves must have shape (n, dim), the same for all"),
        ({"motions": (0, 0)}, "motions must have shape (n, dim)"),
        ({"growths": [(0, 0)]}, "growths must have shape (n, dim)"),
        ({"halves": [(1, 1, 1)] * 4}, "halves has 3 axes and centres has 2"),
        ({"motions": [(0, 0), (0, 0), (0, 0), (0, math.nan)]}, "motions[3]=(0.0, nan) must be fin"),
        ({"halves": [(1, 1), (1, 1), (-1, 1), (1, 1)]}, "halves[2]=(-1.0, 1.0) must be >= 0"),
        ({"centres": [(0, 0), (0,), (0, 0), (0, 0)]}, "centres="),
        ({"centres": np.zeros((4, 2, 2))}, "centres must have 2 or 3 axes"),
        ({"centres": np.zeros((4, 2), complex)}, "must be numbers"),
    ],
)
def test_sweep_pairs_names_the_row_it_refuses(change, told):
    arrays = {"centres": CENTRES, "halves": HALVES, "motions": MOTIONS, "pairs": PAIRS}

    with pytest.raises(ValueError, match=re.escape(told)):
        sweep_pairs(**{**arrays, **change})


def test_single_box_is_compared_with_every_row():
    lows, highs = np.array([(0, 0), (2, 2), (5, 0)]), np.array([(1, 1), (3, 3), (6, 1)])

    assert overlaps((1, 1), (2, 2), lows, highs).tolist() == [True, True, False]
    assert overlaps(lows, highs, (1, 1), (2, 2)).tolist() == [True, True, False]
    assert overlaps(lows, highs, lows[::-1], highs[::-1]).tolist() == [False, True, False]
    assert overlaps(np.zeros((0, 2)), np.zeros((0, 2)), (0, 0), (1, 1)).tolist() == []


@pytest.mark.parametrize(
    ("corners", "told"),
    [
        (([(0, 0)] * 2, (1, 1), [(0, 0)] * 3, (1, 1)), "same number of rows; got min1 2, min2 3"),
        (((0, 0), (1, 1), (0, 0, 0), (1, 1, 1)), "min2 has 3 axes and min1 has 2"),
        (((0, 0), (1, 1), ("a", 0), (1, 1)), "min2=('a', 0) must be numbers"),
        (
            ((0, 0), [(1, 1), (1, -1)], (0, 0), (1, 1)),
            "min1[1]=(0.0, 0.0) must not be above max1[1]=(1.0, -1.0)",
        ),
    ],
)
def test_overlaps_names_what_it_refuses(corners, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        overlaps(*corners)


def test_centres_and_half_sizes_may_be_single_boxes_or_rows():
    many = {"centre1": [(0, 0), (2, 2), (5, 0)], "half1": [(1, 1), (0, 0), (1, 1)]}
    one = {"centre2": (2, 0), "half2": (1, 2)}

    assert overlaps(**many, **one).tolist() == [True, True, False]
    assert overlaps(centre1=(0, 0), half1=(1, 1), **one) is True
    assert overlaps(centre1=(5, 0), half1=(1, 1), **one) is False


@pytest.mark.parametrize(
    ("corners", "boxes", "error", "told"),
    [
        ((), {}, TypeError, "got no arguments: it takes either"),
        (((0, 0), (1, 1)), {}, TypeError, "got min1, max1: it takes either"),
        (
            ((0, 0), (1, 1)),
            {"centre2": (0, 0), "half2": (1, 1)},
            TypeError,
            "got min1, max1, centre2, half2: it takes either",
        ),
        (
            (),
            {"centre1": (0, 0), "half1": (1, -1), "centre2": (0, 0), "half2": (1, 1)},
            ValueError,
            "half1=(1.0, -1.0) must be >= 0",
        ),
    ],
)
def test_overlaps_refuses_boxes_of_two_forms_and_negative_half_sizes(corners, boxes, error, told):
    with pytest.raises(error, match=re.escape(told)):
        overlaps(*corners, **boxes)


def test_swept_bounds_of_arrays():
    low, high = swept_bounds([(0, 0), (5, 5)], (1, 2), [(3, 0), (0, -3)])

    assert low.tolist() == [[-1, -2], [4, 0]]
    assert high.tolist() == [[4, 2], [6, 7]]
    assert low.dtype == high.dtype == np.float64


def test_swept_bounds_hold_a_box_that_changes_its_size():
    assert swept_bounds((0, 0), (1, 1), (3, 0), (2, -0.5)) == ((-1.0, -1.0), (6.0, 1.0))
    assert swept_bounds((0, 0), (1, 1), (3, 0), (-5, 0)) == ((-1.0, -1.0), (3.0, 1.0))


def test_swept_bounds_never_show_minus_zero():
    assert repr(swept_bounds((-0.0, 0), (0, 0), (-0.0, 0))) == "((0.0, 0.0), (0.0, 0.0))"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (((0, math.nan), (1, 1), (0, 0)), "centre=(0.0, nan) must be finite"),
        (((0, 0), [(1, 1), (1, -1)], (0, 0)), "half[1]=(1.0, -1.0) must be >= 0"),
        (((0, 0), (1, 1), (0, 0, 0)), "motion has 3 axes and centre has 2"),
        (((0, 0), (1, 1), (0, 0), (math.inf, 0)), "growth=(inf, 0.0) must be finite"),
    ],
)
def test_swept_bounds_name_what_they_refuse(arguments, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        swept_bounds(*arguments)


def test_compiled_and_pure_kernel_give_the_same_bits():
    try:
        compiled = backend.load(compiled=True).sweep
    except ImportError:
        pytest.skip("the compiled kernels are not installed")
    plain = backend.load(compiled=False).sweep
    rng = np.random.default_rng(7)

    for dim in (2, 3):
        # Decimals of one digit: flush faces, corners and seams all over the place.
        centres, motions, growths = rng.integers(-40, 41, (3, 60, dim)) / 10
        halves = rng.integers(0, 11, (60, dim)) / 10
        motions *= rng.integers(0, 2, (60, dim))
        growths = np.maximum(growths * rng.integers(0, 2, (60, dim)), -halves)
        pairs = np.array([(i, j) for i in range(60) for j in range(60)], np.int64)
        results = []
        for kernel in (plain, compiled):
            written = [np.zeros(len(pairs), np.int8) for _ in range(4)]
            written += [np.zeros(len(pairs)) for _ in range(4)]
            taken = (centres, halves, motions, growths, pairs)
            kernel.sweep_pairs(*(array.data for array in (*taken, *written)))
            results.append(written)
        assert set(results[0][0].tolist()) == {0, 1, 2, 3}
        for of_plain, of_compiled in zip(*results, strict=True):
            # Bytes, but for nan, whose sign the two may choose for themselves.
            assert np.array_equal(of_plain, of_compiled, equal_nan=of_plain.dtype == np.float64)
            assert np.array_equal(np.signbit(of_plain + 0), np.signbit(of_compiled + 0)) or (
                np.isnan(of_plain).any()
            )
