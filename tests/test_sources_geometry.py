"""What the source documents ask of the geometry, row by row, and the faults in their listings.

Each test carries the id of its row and uses its numbers: G is Gomez, "Simple
Intersection Tests for Games" (1999); F studiofreya, "Simple AABB vs AABB
Collision Detection" (2016); N GameDev.net, "Swept AABB Collision Detection and
Response" (2013).  The rows about trees and about whole steps are in the tests
of those.
"""

import itertools
import math
import re

import numpy as np
import pytest

from ecs_collide.sweeps import SweepKind, overlaps, sweep, sweep_pairs, swept_bounds

pytestmark = pytest.mark.usefixtures("implementation")

SEPARATE, TOUCH, IMPACT, OVERLAP = SweepKind


def cube(start, end=None, half=(1, 1, 1)):
    """Return centre, half sizes and motion of a box that goes from start to end."""
    end = start if end is None else end
    return start, half, tuple(e - s for s, e in zip(start, end, strict=True))


def tile(corner, velocity=(0, 0), size=(1, 1)):
    """Return the same for a box given by its lowest corner, as the article N does."""
    half = (size[0] / 2, size[1] / 2)
    return (corner[0] + half[0], corner[1] + half[1]), half, velocity


def meet(first, second):
    return sweep(*first, *second)


def faces(centre, half):
    """Return the stored faces of a box that does not move."""
    return swept_bounds(centre, half, (0.0,) * len(centre))


def share_a_point(centre1, half1, centre2, half2):
    return overlaps(*faces(centre1, half1), *faces(centre2, half2))


A = cube((0, 0, 0))


def test_faces_lie_half_the_size_from_the_centre():
    assert faces((1, 2, 3), (0.5, 1, 4)) == ((0.5, 1.0, -1.0), (1.5, 3.0, 7.0))
    assert faces((0.1, 0.7), (0.2, 0.2)) == ((0.1 - 0.2, 0.7 - 0.2), (0.1 + 0.2, 0.7 + 0.2))


@pytest.mark.parametrize(
    ("centre2", "half2", "expected"),
    [
        ((1.5, 0), (1, 1), True),
        ((2, 0), (1, 1), True),  # touching
        ((2, 2), (1, 1), True),  # touching at a corner
        ((0, 0), (0.25, 0.25), True),  # contained
        ((0, 0), (9, 9), True),  # containing
        ((2.001, 0), (1, 1), False),
        ((0, -2.001), (1, 1), False),
    ],
)
def test_boxes_overlap_iff_no_centre_distance_exceeds_the_sum_of_halves(centre2, half2, expected):
    distances_fit = all(abs(c) <= 1 + h for c, h in zip(centre2, half2, strict=True))

    assert share_a_point((0, 0), (1, 1), centre2, half2) is expected
    assert distances_fit is expected


@pytest.mark.parametrize("dim", [2, 3])
def test_disjoint_boxes_always_have_a_separating_axis(dim):
    # A fact of boxes, so the test of the axes alone must agree with one that
    # searches all cells of a grid for a shared point.
    spans = [(0, 1), (0, 3), (1, 2), (2, 3), (4, 4)]
    boxes = list(itertools.product(spans, repeat=dim))
    if dim == 3:
        boxes = boxes[::3]

    for one, other in itertools.product(boxes, repeat=2):
        shared = all(
            set(range(low1, high1 + 1)) & set(range(low2, high2 + 1))
            for (low1, high1), (low2, high2) in zip(one, other, strict=True)
        )
        corners = [[span[end] for span in box] for box in (one, other) for end in (0, 1)]
        assert overlaps(*corners) is shared


def test_only_the_relative_displacement_counts():
    #
    #    A ==>            <== B        the same as        A ====>     B
    #
    both_move = meet(((0, 0), (1, 1), (6, 1)), ((10, 0), (1, 1), (-10, 1)))
    one_moves = meet(((0, 0), (1, 1), (16, 0)), ((10, 0), (1, 1), (0, 0)))

    assert both_move.kind is one_moves.kind is IMPACT
    assert both_move.time == one_moves.time == 0.5
    assert both_move.exit == one_moves.exit == 0.75
    assert both_move.normal == one_moves.normal == (-1.0, 0.0)


def test_enter_is_the_last_first_time_and_exit_the_first_last_time():
    # x overlaps from 0.25 to 0.75, y from 0.5 to 1.5: together from 0.5 to 0.75.
    hit = meet(((0, 0), (1, 1), (8, 4)), ((4, 4), (1, 1), (0, 0)))

    assert (hit.enter, hit.exit) == (0.5, 0.75)
    assert hit.normal == (0.0, -1.0)


def test_boxes_that_overlap_at_the_start_are_told_so():
    hit = meet(A, cube((0.5, 0, 0), (9, 0, 0)))

    assert hit.kind is OVERLAP
    assert hit.time == 0.0
    assert hit.depth == 1.5


def test_times_are_fractions_of_the_step_and_reported_unclipped():
    before = meet(cube((0, 0, 0), (1, 0, 0)), cube((-4, 0, 0)))
    after = meet(cube((0, 0, 0), (1, 0, 0)), cube((4, 0, 0)))

    assert (before.enter, before.exit) == (-6.0, -2.0)
    assert (after.enter, after.exit) == (2.0, 6.0)
    assert before.kind is after.kind is SEPARATE


def test_positions_at_the_first_and_the_last_overlap():
    #
    #    t = 0.4:   A at 2, B at 4          t = 1.2:   A at 6, B at 4
    #
    hit = meet(cube((0, 0, 0), (5, 0, 0)), cube((4, 0, 0)))

    assert hit.positions(hit.enter) == ((2.0, 0.0, 0.0), (4.0, 0.0, 0.0))
    assert hit.positions(hit.exit) == ((6.0, 0.0, 0.0), (4.0, 0.0, 0.0))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sign", [-1, 1])
def test_all_three_axes_work_alike(axis, sign):
    place = [0, 0, 0]
    place[axis] = -5 * sign
    hit = meet(cube((0, 0, 0), place), cube(place))

    expected = [0.0, 0.0, 0.0]
    expected[axis] = float(sign)
    assert hit.time == 0.6
    assert hit.normal == tuple(expected)
    assert (hit.axis, hit.sign) == (axis, sign)


def test_boxes_are_given_by_centre_and_half_widths():
    # 4 wide at 0 and 2 wide at 3 touch; taken for whole widths they would be apart.
    assert share_a_point((0, 0), (2, 1), (3, 0), (1, 1)) is True


def test_side_by_side_is_an_overlap_for_queries_and_only_a_touch_for_sweeps():
    #
    #    +---+---+
    #    | A | B |
    #    +---+---+
    #
    assert share_a_point((0, 0), (1, 1), (2, 0), (1, 1)) is True
    assert meet(((0, 0), (1, 1), (0, 0)), ((2, 0), (1, 1), (0, 0))).kind is TOUCH


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
HALF = (0.5, 0.5, 0.5)


def wrong_rows(are_overlapping):
    return [row for row in F6 if are_overlapping(row[0], row[1]) is not row[2]]


@pytest.mark.parametrize(("centre1", "centre2", "expected"), F6)
def test_vector_of_unit_boxes(centre1, centre2, expected):
    assert share_a_point(centre1, HALF, centre2, HALF) is expected
    assert share_a_point(centre2, HALF, centre1, HALF) is expected

    at_rest = meet(cube(centre1, half=HALF), cube(centre2, half=HALF))
    assert (at_rest.kind is not SEPARATE) is expected


def test_variant_that_wants_all_axes_to_separate_fails_seven_rows():
    def overlaps_unless_all_axes_separate(centre1, centre2):
        return not all(abs(a - b) > 1 for a, b in zip(centre1, centre2, strict=True))

    wrong = wrong_rows(overlaps_unless_all_axes_separate)
    ours = wrong_rows(lambda a, b: share_a_point(a, HALF, b, HALF))

    assert len(wrong) == 7
    assert ours == []


def test_array_form_gives_the_same_as_single_boxes():
    centres1, centres2, expected = zip(*F6, strict=True)
    low1, high1 = swept_bounds(centres1, [HALF] * 13, np.zeros((13, 3)))
    low2, high2 = swept_bounds(centres2, [HALF] * 13, np.zeros((13, 3)))

    found = overlaps(low1, high1, low2, high2)
    branch_free = ((low1 <= high2) & (low2 <= high1)).all(axis=1)

    assert found.dtype == np.bool_
    assert found.tolist() == list(expected)
    assert found.tolist() == branch_free.tolist()


def test_picture_1_normal_stop():
    #
    #    +---+          +---+
    #    | A | =======> | B |        stops at B's near face
    #    +---+          +---+
    #
    hit = meet(tile((0, 0), (4, 0)), tile((3, 0)))

    assert hit.time == 0.5
    assert hit.normal == (-1.0, 0.0)


def test_picture_2_never_put_out_on_the_wrong_side():
    #
    #    +---+     +-----------+
    #    | A | ====|=====> :.: |     ends inside, beyond the middle: pushing it
    #    +---+     +-----------+     out the short way would be the wrong side
    #
    hit = meet(tile((0, 0), (6, 0)), tile((2, 0), size=(6, 1)))

    assert hit.time == 1 / 6
    assert hit.normal == (-1.0, 0.0)


def test_picture_3_tunnelling():
    #
    #    +---+      ||               +...+
    #    | A | =====||==============>:   :
    #    +---+      ||               +...+
    #
    hit = meet(tile((0, 0), (100, 0)), tile((50, -5), size=(0.001, 11)))

    assert hit.kind is IMPACT
    assert hit.time == 0.49
    assert hit.normal == (-1.0, 0.0)


def test_motion_is_velocity_times_dt():
    # 60 per second for a sixtieth: 1 unit, half of the way to the wall.
    speed, dt = 60.0, 1 / 60
    hit = meet(tile((0, 0), (speed * dt, 0)), tile((3, 0)))

    assert hit.kind is SEPARATE
    assert hit.enter == 2.0


def test_time_is_in_the_half_open_step_with_the_normal_of_the_face_hit():
    right = meet(tile((0, 0), (2, 0)), tile((-2, 0), (4, 0)))
    top = meet(tile((0, 0), (0, -8)), tile((0, -3)))

    assert 0 <= right.time < 1
    assert (right.time, right.normal) == (0.5, (1.0, 0.0))
    assert (top.time, top.normal) == (0.25, (0.0, 1.0))


@pytest.mark.parametrize(
    ("corner", "velocity", "enter", "exit_"),
    [
        ((0, 0), (8, 0), 0.375, 0.625),  # distances 3 and 5 along the motion
        ((8, 0), (-8, 0), 0.375, 0.625),
        ((4, 4), (0, -8), 0.375, 0.625),
        ((4, -4), (0, 8), 0.375, 0.625),
    ],
)
def test_entry_and_exit_distance_depend_on_the_direction(corner, velocity, enter, exit_):
    hit = meet(tile(corner, velocity), tile((4, 0)))

    assert (hit.enter, hit.exit) == (enter, exit_)


def test_axis_without_motion_neither_hits_nor_divides_by_zero():
    inside_the_span = meet(tile((0, 0), (4, 0)), tile((3, 0.5)))
    outside_the_span = meet(tile((0, 0), (4, 0)), tile((3, 5)))
    at_rest = meet(tile((0, 0)), tile((3, 5)))

    assert inside_the_span.time == 0.5
    assert outside_the_span.kind is at_rest.kind is SEPARATE
    assert outside_the_span.enter > outside_the_span.exit


@pytest.mark.parametrize(
    ("velocity", "why"),
    [
        ((4, 8), "y is left before x is entered"),
        ((1, 0), "after the step"),
        ((-4, 0), "before the step"),
    ],
)
def test_no_hit_where_entry_is_after_exit_or_outside_the_step(velocity, why):
    hit = meet(tile((0, 0), velocity), tile((3, 0.5)))

    assert hit.kind is SEPARATE, why
    assert hit.time is hit.normal is hit.axis is hit.sign is None


def test_after_moving_by_time_the_boxes_touch_and_the_rest_of_the_step_remains():
    mover, block = tile((0, 0), (4, 1)), tile((3, 0))
    hit = meet(mover, block)

    (at_hit, _), (at_end, _) = hit.positions(hit.time), hit.positions(1)
    remaining = tuple(e - h for e, h in zip(at_end, at_hit, strict=True))

    assert hit.time == 0.5
    assert at_hit == (2.5, 1.0)
    assert share_a_point(at_hit, mover[1], block[0], block[1])
    assert remaining == (2.0, 0.5)


def test_swept_bounds_are_the_union_of_the_start_and_the_end_box():
    #
    #    +---+ . . . .
    #    | s |       .
    #    +---+   +---+
    #    .       | e |
    #    . . . . +---+
    #
    assert swept_bounds((0, 0), (1, 1), (4, -3)) == ((-1.0, -4.0), (5.0, 1.0))
    assert swept_bounds((0, 0), (1, 1), (-4, 3)) == ((-5.0, -1.0), (1.0, 4.0))
    assert swept_bounds((1, 2, 3), (1, 1, 1), (0, 0, -9)) == ((0.0, 1.0, -7.0), (2.0, 3.0, 4.0))


def test_boxes_whose_swept_bounds_are_apart_need_no_sweep():
    values = [-3, 0, 1, 4]
    boxes = [((x, y), (1, 0.5), (u, v)) for x, y, u, v in itertools.product(values, repeat=4)][::5]

    apart = 0
    for one, other in itertools.combinations(boxes, 2):
        if not overlaps(*swept_bounds(*one), *swept_bounds(*other)):
            apart += 1
            assert meet(one, other).kind is SEPARATE
    assert apart > 100


def test_boxes_may_change_their_size():
    #
    #    +---+   +---+            +-----+-----+
    #    | A |   | B |   ==>      |  A  |  B  |      at half of the step
    #    +---+   +---+            +-----+-----+
    #
    hit = sweep((0, 0), (1, 1), (0, 0), (4, 0), (1, 1), (0, 0), growth1=(1, 0), growth2=(1, 0))

    assert hit.kind is SEPARATE  # they meet at exactly 1: in the next step
    hit = sweep((0, 0), (1, 1), (0, 0), (4, 0), (1, 1), (0, 0), growth1=(2, 0), growth2=(2, 0))
    assert (hit.kind, hit.time, hit.normal) == (IMPACT, 0.5, (-1.0, 0.0))


def test_paths_are_straight():
    hit = meet(tile((0, 0), (4, 4)), tile((9, 9)))

    start, middle, end = (hit.positions(t)[0] for t in (0, 0.5, 1))
    assert middle == tuple((s + e) / 2 for s, e in zip(start, end, strict=True))


def test_both_boxes_may_move_in_two_and_three_dimensions():
    flat = meet(((0, 0), (1, 1), (3, 0)), ((8, 0), (1, 1), (-9, 0)))
    deep = meet(cube((0, 0, 0), (3, 0, 0)), cube((8, 0, 0), (-1, 0, 0)))

    assert flat.time == deep.time == 0.5


def test_apart_on_x_without_relative_motion_is_no_hit():
    hit = meet(A, cube((9, 0, 0)))

    assert hit.kind is SEPARATE  # published: [0, 1]


def test_apart_on_x_with_y_closing_is_no_hit():
    hit = meet(A, cube((9, 5, 0), (9, 0, 0)))

    assert hit.kind is SEPARATE  # published: [0.6, 1]


def test_moving_apart_is_no_hit():
    hit = meet(A, cube((3, 0, 0), (6, 0, 0)))

    assert hit.kind is SEPARATE  # published: [0, 1]
    assert hit.exit == -1 / 3


def test_contact_after_the_step_is_no_hit_in_it():
    hit = meet(A, cube((10, 1.5, 1.5), (7, 1.4, 1.4)))

    assert hit.kind is SEPARATE  # published: a hit, first 2.67, last 4
    assert (hit.enter, hit.exit) == (8 / 3, 4.0)


def test_touching_and_leaving_is_a_touch():
    hit = meet(A, cube((2, 0, 0), (5, 0, 0)))

    assert hit.kind is TOUCH  # published: [0, 0]
    assert hit.exit == 0.0
    assert hit.time is None


def test_prime_touching_and_leaving_on_x_while_y_closes_is_no_hit():
    hit = meet(A, cube((2, 4, 0), (3, 1, 0)))

    assert hit.kind is SEPARATE  # published: [0.67, 1]


def test_overlap_at_the_start_keeps_its_exit():
    hit = meet(A, cube((1, 0, 0), (2, 0, 0)))

    assert hit.kind is OVERLAP  # published: [0, 0]
    assert (hit.time, hit.exit) == (0.0, 1.0)
    assert hit.depth == 1.0
    assert hit.normal == (-1.0, 0.0, 0.0)


@pytest.mark.parametrize("drift", [0.0, 1e-9, -1e-9, 1e-300])
def test_exit_is_right_while_still_overlapping_at_the_end(drift):
    hit = meet(A, cube((3, 0, 0), (1.5, drift, drift)))

    assert hit.kind is IMPACT
    assert hit.enter == 2 / 3
    assert hit.exit == 5 / 1.5  # published: 1, and 3.33 with tiny motion across


def test_corner_graze_of_one_instant_is_a_touch():
    hit = meet(A, cube((3, 1, 0), (1, 3, 0)))

    assert hit.kind is TOUCH  # published: [0.5, 0.5]
    assert (hit.enter, hit.exit) == (0.5, 0.5)


def test_sliding_on_a_floor_towards_the_next_tile_is_a_touch():
    #
    #            +---+
    #            | B | <====
    #    +---+---+---+
    #    |   A   |                 B slides along the top of A
    #    +-------+
    #
    hit = meet(A, cube((4, 2, 0), (1, 2, 0)))

    assert hit.kind is TOUCH  # published: 0.67
    assert hit.time is None


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize("bad", [NAN, INF, -INF, 2.0**501, -(2.0**501)])
def test_number_that_is_none_is_refused_by_sweep(bad):
    # Published: NaN velocity is a hit, or a NaN time with a normal; a NaN centre overlaps.
    for place, name in enumerate(["centre1", "half1", "motion1", "centre2", "half2", "motion2"]):
        vectors = [[0.0, 0.0], [1.0, 1.0], [3.0, 0.0], [4.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
        vectors[place][1] = bad

        with pytest.raises(  # its message names the argument
            ValueError, match=rf"{name}=\(.*{re.escape(str(bad))}.* must be finite"
        ):
            sweep(*vectors)


@pytest.mark.parametrize("bad", [NAN, INF, -INF, 2.0**501])
@pytest.mark.parametrize("name", ["centres", "halves", "motions", "growths"])
def test_number_that_is_none_is_refused_with_its_row(name, bad):
    arrays = {key: np.ones((5, 3)) for key in ("centres", "halves", "motions", "growths")}
    arrays[name][3, 1] = bad

    with pytest.raises(ValueError, match=rf"{name}\[3\]=\(1\.0, .*, 1\.0\) must be finite"):
        sweep_pairs(**arrays, pairs=[[0, 1]])


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize("place", range(4))
def test_number_that_is_none_is_refused_by_overlaps(place, bad):
    # Published: the branching test says overlap, the branch-free one says apart.
    name = ["min1", "max1", "min2", "max2"][place]
    single = [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    single[place][0] = bad
    many = np.array([[[0.0, 0.0]] * 3, [[1.0, 1.0]] * 3] * 2)
    many[place, 2, 1] = bad

    with pytest.raises(ValueError, match=rf"{name}=\(.* must be finite"):
        overlaps(*single)
    with pytest.raises(ValueError, match=rf"{name}\[2\]=\(.* must be finite"):
        overlaps(*many)


def test_negative_half_size_is_refused():
    with pytest.raises(ValueError, match=r"half1=\(1\.0, -0\.5\) must be >= 0"):
        sweep((0, 0), (1, -0.5), (0, 0), (0, 0), (1, 1), (0, 0))
    with pytest.raises(ValueError, match=r"half2=\(-1\.0, 1\.0\) must be >= 0"):
        sweep((0, 0), (1, 1), (0, 0), (0, 0), (-1, 1), (0, 0))
    with pytest.raises(ValueError, match=r"halves\[1\]=\(1\.0, -2\.0\) must be >= 0"):
        sweep_pairs(np.zeros((2, 2)), [(1, 1), (1, -2)], np.zeros((2, 2)), [(0, 1)])
    with pytest.raises(ValueError, match=r"half=\(-1\.0, 1\.0\) must be >= 0"):
        swept_bounds((0, 0), (-1, 1), (0, 0))
    with pytest.raises(ValueError, match=r"min2=\(1\.0, 0\.0\) must not be above max2=\(0\.0"):
        overlaps((0, 0), (1, 1), (1, 0), (0, 1))


def test_contact_exactly_at_one_belongs_to_the_next_step():
    this_step = meet(cube((0, 0, 0), (2, 0, 0)), cube((4, 0, 0)))
    next_step = meet(cube((2, 0, 0), (4, 0, 0)), cube((4, 0, 0)))

    assert this_step.kind is SEPARATE  # published: a hit in both
    assert this_step.enter == 1.0
    assert (next_step.kind, next_step.time) == (IMPACT, 0.0)


def test_box_that_starts_inside_and_goes_deeper_is_seen():
    hit = meet(tile((0.5, 0), (1, 0)), tile((1, 0)))

    assert hit.kind is OVERLAP  # published: none, it passes through
    assert hit.time == 0.0
    assert hit.depth == 0.5
    assert hit.normal == (-1.0, 0.0)  # against its motion: it is closing, and blocked


def test_apart_on_x_without_motion_on_x_is_no_hit():
    hit = meet(tile((5, 0), (0, 6)), tile((0, 3)))

    assert hit.kind is SEPARATE  # published: a hit with normal -y


def test_falling_past_a_wall_it_touches_is_a_touch():
    #
    #        +---+
    #        | A |
    #        +---+
    #    +---+ |
    #    | B | v
    #    +---+
    #
    hit = meet(tile((1, 0), (0, 6)), tile((0, 3)))

    assert hit.kind is TOUCH  # published: a hit at 1/3
    assert hit.time is None
    assert hit.enter == 1 / 3


def test_walking_on_to_the_next_floor_tile_is_a_touch():
    #
    #    +---+ ====>
    #    | A |
    #    +---+ +---+
    #          | B |
    #          +---+
    #
    hit = meet(tile((0, 0), (2, 0)), tile((1.5, 1)))

    assert hit.kind is TOUCH  # published: stopped at 0.25
    assert hit.enter == 0.25


def test_pressing_against_the_wall_it_touches_is_a_hit_at_zero_with_its_normal():
    hit = meet(tile((1, 0), (-1, 0)), tile((0, 0)))

    assert hit.kind is IMPACT
    assert repr(hit.time) == "0.0"  # published: -0.0
    assert hit.normal == (1.0, 0.0)  # published: (-1, 0)


def test_corner_graze_is_a_touch():
    hit = meet(tile((0, 2), (3, -3)), tile((2, 2)))

    assert hit.kind is TOUCH  # published: a hit at 1/3
    assert hit.enter == hit.exit == 1 / 3


def test_of_two_axes_at_once_the_faster_one_is_the_face():
    faster_x = meet(tile((0, 0), (4, 2)), tile((3, 2)))
    faster_y = meet(tile((0, 0), (2, 4)), tile((2, 3)))

    assert (faster_x.time, faster_x.normal, faster_x.corner) == (0.5, (-1.0, 0.0), True)
    assert (faster_y.time, faster_y.normal, faster_y.corner) == (0.5, (0.0, -1.0), True)


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
    assert (asked == (low[rows:, 0] <= high[:rows, 0])).all()
    assert (asked == (at_rest.kind == TOUCH)).all()
    assert (~asked == (at_rest.kind == SEPARATE)).all()
    # Whatever the rounding was, pressing them together is an impact at once.
    assert (pressed.kind == IMPACT).all()
    assert (pressed.time < 1e-13).all()
    assert (pressed.normal == (-1.0, 0.0)).all()


def test_box_laid_on_the_stored_face_of_another_touches_it():
    tenths = np.array([(i, j) for i in range(101) for j in range(1, 101)]) / 10
    low, high = swept_bounds(tenths[:, [0, 0]], tenths[:, [1, 1]], np.zeros((10_100, 2)))

    assert overlaps(low, high, high, high + 1).all()
    assert overlaps(low - 1, low, low, high).all()
    assert overlaps(low, high, high, high).all()
