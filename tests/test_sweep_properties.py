"""What must hold for every sweep, tried on boxes that nobody thought of."""

from __future__ import annotations

import math
from contextlib import contextmanager

import pytest

from ecs_collide._kernel import backend
from ecs_collide.sweeps import SweepKind, overlaps, sweep, sweep_pairs, swept_bounds
from tests.exact import reference

pytest.importorskip("hypothesis", reason="needs hypothesis: pip install ecs_collide[test]")

from hypothesis import assume, example, given
from hypothesis import strategies as st

SEPARATE, TOUCH, IMPACT, OVERLAP = SweepKind


@contextmanager
def using(kernels):
    """Run on compiled or pure kernels; `kernels` has session scope, as `given` requires."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "kernels", kernels)
        yield


@st.composite
def boxes(draw, dim, numbers, halves, changes):
    """Draw centre, half sizes, motion and growth."""

    def vector(parts):
        return tuple(draw(parts) for _ in range(dim))

    return vector(numbers), vector(halves), vector(numbers), vector(changes)


# Small whole numbers meet in corners, at the ends of the step and in one
# instant all the time; quarters keep every sum and difference exact.
small = st.integers(-6, 6)
quarters = st.integers(-40, 40).map(lambda n: n / 4)
whole_boxes = {
    dim: boxes(dim, small, st.integers(0, 3), st.one_of(st.just(0), st.integers(-3, 3)))
    for dim in (2, 3)
}
quarter_boxes = {
    dim: boxes(dim, quarters, st.integers(0, 12).map(lambda n: n / 4), st.just(0.0))
    for dim in (2, 3)
}
dims = st.sampled_from([2, 3])
pairs_of_boxes = dims.flatmap(lambda dim: st.tuples(whole_boxes[dim], whole_boxes[dim]))
pairs_of_quarter_boxes = dims.flatmap(lambda dim: st.tuples(quarter_boxes[dim], quarter_boxes[dim]))


def meet(first, second):
    (c1, h1, v1, w1), (c2, h2, v2, w2) = first, second
    return sweep(c1, h1, v1, c2, h2, v2, w1, w2)


def sides_of(first, second):
    """Return the sides of two boxes, in fractions; no half size shrinks below 0."""

    def exact(centre, half, motion, growth):
        faces = [[c + sign * h for c, h in zip(centre, half, strict=True)] for sign in (-1, 1)]
        shrunk = [max(change, -h) for change, h in zip(growth, half, strict=True)]
        return reference.exactly(*faces, motion, shrunk)

    return reference.sides_of(exact(*first), exact(*second))


def shows_minus_zero(found):
    numbers = [found.time or 0.0, found.enter, found.exit, found.depth, *(found.normal or ())]
    numbers += [part for place in found.positions(0.0) for part in place]
    return any(number == 0.0 and math.copysign(1, number) < 0 for number in numbers)


WALL = ((0, 0), (1, 3), (0, 0), (0, 0))


@given(pairs_of_boxes)
# At rest side by side; sliding along; corner against corner, equally fast.
@example((((0, 0), (1, 1), (0, 0), (0, 0)), ((2, 0), (1, 1), (0, 0), (0, 0))))
@example((((0, 2), (1, 1), (6, 0), (0, 0)), ((3, 0), (1, 1), (0, 0), (0, 0))))
@example((((0, 0), (1, 1), (4, 4), (0, 0)), ((4, 4), (1, 1), (0, 0), (0, 0))))
# A point meets a plate: in its middle, at its end, from the side.
@example((((-2, 0), (0, 0), (4, 0), (0, 0)), ((0, 0), (0, 2), (0, 0), (0, 0))))
@example((((-2, -4), (0, 0), (4, 4), (0, 0)), ((0, 0), (0, 2), (0, 0), (0, 0))))
@example((((-2, 0), (0, 0), (4, 4), (0, 0)), ((0, 0), (0, 2), (0, 0), (0, 0))))
@example((((0, -4), (0, 0), (0, 4), (0, 0)), ((0, 0), (0, 2), (0, 0), (0, 0))))
# Growing into a wall, growing from inside out, shrinking away to nothing.
@example((((-3, 0), (1, 1), (0, 0), (2, 0)), WALL))
@example((((0, 0), (0, 0), (0, 0), (3, 3)), WALL))
@example((((-3, 0), (1, 1), (4, 0), (-3, -3)), WALL))
# A plane that grows out of another one, away from it: never on both sides of it.
@example((((0, 0), (0, 1), (2, 0), (2, 0)), ((0, 0), (0, 1), (0, 0), (0, 0))))
# Two at one place; both sides close at once.
@example((WALL, WALL))
@example((((0, 0), (1, 1), (0, 4), (3, 0)), ((0, 3), (1, 1), (0, 0), (3, 0))))
def test_sweep_agrees_with_the_rule_in_exact_fractions(kernels, pair):
    expected = reference.meet(sides_of(*pair))

    with using(kernels):
        found = meet(*pair)

    assert found.kind == expected.kind
    assert found.enter == float(expected.enter)
    assert found.exit == float(expected.exit)
    if expected.sign:
        assert (found.axis, found.sign) == (expected.axis, expected.sign)
        assert found.corner == expected.corner
        assert found.depth == expected.depth
        assert found.time == (found.enter if found.kind is IMPACT else 0.0)
        assert found.normal == tuple(
            float(expected.sign) * (k == expected.axis) for k in range(len(pair[0][0]))
        )
    else:
        assert found.time is found.normal is found.axis is found.sign is None
        assert found.depth == 0.0
    assert not shows_minus_zero(found)


@given(pairs_of_boxes)
def test_exchanging_the_boxes_turns_the_normal_round_and_nothing_else(kernels, pair):
    first, second = pair
    with using(kernels):
        one = meet(first, second)
        other = meet(second, first)

    assert (one.kind, one.time, one.enter, one.exit, one.depth, one.corner) == (
        (other.kind, other.time, other.enter, other.exit, other.depth, other.corner)
    )
    if one.normal is not None:
        assert one.axis == other.axis
        sides = [side for side in sides_of(first, second) if side.axis == one.axis]
        # Both sides of the axis alike: then it is minus, whoever is first.
        assume((sides[0].gap, sides[0].rate) != (sides[1].gap, sides[1].rate))
        assume(one.kind is OVERLAP or sides[0].rate != sides[1].rate)
        assert one.sign == -other.sign
        assert one.normal == tuple(0.0 - part for part in other.normal)


@st.composite
def closing_pairs(draw):
    """Draw two boxes face to face and closing, and wind time back to the start of the step."""
    dim = draw(dims)
    axis = draw(st.integers(0, dim - 1))
    sign = draw(st.sampled_from([-1, 1]))
    time = draw(st.integers(0, 63)) / 64
    halves = [[draw(st.integers(1, 40)) / 4 for _ in range(dim)] for _ in range(2)]
    motions = [[float(draw(st.integers(-50, 50))) for _ in range(dim)] for _ in range(2)]
    places = [[0.0] * dim, [0.0] * dim]
    for k in range(dim):
        places[0][k] = draw(quarters)
        reach = halves[0][k] + halves[1][k]
        if k == axis:
            places[1][k] = places[0][k] - sign * reach
            slowest = draw(st.integers(1, 60))
            motions[1][k] = motions[0][k] + sign * slowest
        else:
            inside = draw(st.integers(1 - int(4 * reach), int(4 * reach) - 1)) / 4
            places[1][k] = places[0][k] + inside
    starts = [
        tuple(c - v * time for c, v in zip(place, motion, strict=True))
        for place, motion in zip(places, motions, strict=True)
    ]
    still = (0.0,) * dim
    first, second = zip(starts, halves, motions, [still, still], strict=True)
    return first, second, places, axis, sign, time


@given(closing_pairs())
def test_meeting_built_backwards_in_time_is_found(kernels, meeting):
    first, second, places, axis, sign, time = meeting

    with using(kernels):
        hit = meet(first, second)

    assert hit.kind is IMPACT
    assert hit.time == time
    assert (hit.axis, hit.sign) == (axis, sign)
    assert not hit.corner
    assert hit.positions(hit.time) == (tuple(places[0]), tuple(places[1]))


@given(pairs_of_boxes, st.lists(st.integers(-20, 20), min_size=3, max_size=3))
def test_moving_the_whole_world_by_powers_of_two_changes_nothing(kernels, pair, exponents):
    def moved(box):
        shifts = [math.copysign(2.0 ** abs(e), e) for e in exponents]
        return tuple(c + s for c, s in zip(box[0], shifts, strict=False)), *box[1:]

    with using(kernels):
        here = meet(*pair)
        there = meet(*map(moved, pair))

    assert there.kind is here.kind
    for name in ("time", "enter", "exit", "normal", "axis", "sign", "corner", "depth"):
        assert getattr(there, name) == getattr(here, name)


@given(pairs_of_boxes, st.integers(-60, 60))
def test_measuring_in_another_unit_changes_only_the_depth(kernels, pair, exponent):
    scale = 2.0**exponent

    def scaled(box):
        return [tuple(part * scale for part in vector) for vector in box]

    with using(kernels):
        here = meet(*pair)
        there = meet(*map(scaled, pair))

    assert there.kind is here.kind
    assert there.depth == here.depth * scale
    for name in ("time", "enter", "exit", "normal", "axis", "sign", "corner"):
        assert getattr(there, name) == getattr(here, name)


@given(pairs_of_quarter_boxes)
def test_closed_and_open_answers_agree_about_boxes_at_rest(kernels, pair):
    (c1, h1, _, _), (c2, h2, _, _) = pair
    still = (0.0,) * len(c1)
    corners = *swept_bounds(c1, h1, still), *swept_bounds(c2, h2, still)

    with using(kernels):
        kind = sweep(c1, h1, still, c2, h2, still).kind

    assert (kind is not SEPARATE) is overlaps(*corners)
    insides = all(
        low1 < high2 and low2 < high1 for low1, high1, low2, high2 in zip(*corners, strict=True)
    )
    assert (kind is OVERLAP) is insides


@given(pairs_of_boxes)
def test_overlaps_of_centres_agrees_with_that_of_the_stored_faces(pair):
    (c1, h1, _, _), (c2, h2, _, _) = pair
    still = (0.0,) * len(c1)
    corners = *swept_bounds(c1, h1, still), *swept_bounds(c2, h2, still)

    assert overlaps(centre1=c1, half1=h1, centre2=c2, half2=h2) is overlaps(*corners)


@given(pairs_of_quarter_boxes)
def test_boxes_share_points_exactly_from_enter_to_exit(kernels, pair):
    first, second = pair
    with using(kernels):
        found = meet(first, second)

    for t in (n / 16 for n in range(-16, 33)):
        at1, at2 = found.positions(t)
        still = (0.0,) * len(at1)
        shared = overlaps(*swept_bounds(at1, first[1], still), *swept_bounds(at2, second[1], still))
        assert shared is (found.enter <= t <= found.exit)


@given(pairs_of_boxes)
def test_boxes_that_meet_have_swept_bounds_that_meet(kernels, pair):
    with using(kernels):
        found = meet(*pair)

    if found.kind is not SEPARATE:
        assert overlaps(*swept_bounds(*pair[0]), *swept_bounds(*pair[1]))


@given(pairs_of_boxes)
def test_no_step_is_too_fine_to_see_an_impact(kernels, pair):
    # Cut the step in two: the impact is in exactly one of the halves, at the same instant.
    def half_step(box, begin):
        c, h, v, w = box
        w = [max(change, -size) for change, size in zip(w, h, strict=True)]
        return (
            [a + b * begin for a, b in zip(c, v, strict=True)],
            [a + b * begin for a, b in zip(h, w, strict=True)],
            [b / 2 for b in v],
            [b / 2 for b in w],
        )

    with using(kernels):
        whole = meet(*pair)
        early, late = ([half_step(box, begin) for box in pair] for begin in (0, 0.5))
        early, late = meet(*early), meet(*late)

    # Two planes that the cut catches in one place have no side on which they lie.
    assume(not whole.enter == whole.exit == 0.5)
    if whole.kind is IMPACT:
        found, time = (early, early.enter / 2) if whole.time < 0.5 else (late, 0.5 + late.enter / 2)
        assert found.kind is IMPACT
        assert found.normal == whole.normal
        assert math.isclose(time, whole.time, abs_tol=1e-15)
        assert whole.time < 0.5 or early.kind is not IMPACT
    elif whole.kind is not OVERLAP:
        assert early.kind is not IMPACT
        assert late.kind is not IMPACT


@st.composite
def thin_obstacles(draw):
    """Draw a thin wall far out, and something thin close before it that flies through."""
    dim = draw(dims)
    axis = draw(st.integers(0, dim - 1))
    sign = draw(st.sampled_from([-1.0, 1.0]))
    face = draw(st.sampled_from([0.0, 1.0, 0.1, 1 / 3, -7.7, 1e3, 1e12]))
    grain = math.ulp(face) if face else 1e-190
    gap, *thicknesses = (draw(st.integers(0, 600)) * grain for _ in range(3))
    thicknesses = [draw(st.sampled_from([0.0, size, 2.0])) for size in thicknesses]
    speed = draw(st.sampled_from([1e-3, 1.0, 1e6, 1e12]))

    def body(place, thickness, motion):
        centre, half, path = [0.0] * dim, [1.0] * dim, [0.0] * dim
        centre[axis], half[axis], path[axis] = place, thickness / 2, motion
        return centre, half, path, [0.0] * dim

    mover = body(face - sign * thicknesses[0] / 2, thicknesses[0], sign * speed)
    wall = body(face + sign * (gap + thicknesses[1] / 2), thicknesses[1], 0.0)
    return mover, wall, axis, -int(sign)


@given(thin_obstacles())
def test_nothing_is_too_thin_or_too_close_to_be_met(kernels, obstacle):
    mover, wall, axis, sign = obstacle
    low1, high1 = (end[axis] for end in swept_bounds(*mover[:2], [0.0] * len(mover[0])))
    low2, high2 = (end[axis] for end in swept_bounds(*wall[:2], [0.0] * len(wall[0])))
    gap = low2 - high1 if sign < 0 else low1 - high2
    without_thickness = low1 == high1 and low2 == high2
    # Two planes in one place have no side on which they lie.
    assume(gap > 0 or (gap == 0 and not without_thickness))
    assume(gap < abs(mover[2][axis]))

    with using(kernels):
        hit = meet(mover, wall)

    assert hit.kind is IMPACT
    assert (hit.axis, hit.sign) == (axis, sign)


finite = st.floats(-1e6, 1e6, allow_subnormal=True)
rough_boxes = {
    dim: boxes(dim, finite, st.floats(0, 1e3), st.one_of(st.just(0.0), st.floats(-10, 10)))
    for dim in (2, 3)
}


@given(dims.flatmap(lambda dim: st.lists(rough_boxes[dim], min_size=2, max_size=6)))
def test_array_of_pairs_gives_the_same_bits_as_pair_after_pair(kernels, bodies):
    centres, halves, motions, growths = zip(*bodies, strict=True)
    pairs = [(i, j) for i in range(len(bodies)) for j in range(len(bodies)) if i != j]

    with using(kernels):
        batch = sweep_pairs(centres, halves, motions, pairs, growths)
        singles = [meet(bodies[i], bodies[j]) for i, j in pairs]

    assert [batch[row] for row in range(len(batch))] == singles


@given(dims.flatmap(lambda dim: st.tuples(rough_boxes[dim], rough_boxes[dim])))
def test_results_stay_in_their_ranges_whatever_the_numbers(kernels, pair):
    with using(kernels):
        found = meet(*pair)

    assert not math.isnan(found.enter)
    assert not math.isnan(found.exit)
    assert not shows_minus_zero(found)
    if found.kind is IMPACT:
        assert 0 <= found.time < 1
        assert found.time == found.enter <= found.exit
    if found.kind is OVERLAP:
        assert found.time == 0.0
        assert found.depth > 0
        assert found.enter < 0 < found.exit
    if found.kind in (SEPARATE, TOUCH):
        assert found.time is None
