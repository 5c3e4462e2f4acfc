"""The polygon that is seen from a point."""

from __future__ import annotations

import random

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.queries.visibility import _pairs

pytestmark = pytest.mark.usefixtures("world")


def space_of(*boxes):
    for x, y, half_x, half_y in boxes:
        esper.create_entity(ec.Position(x, y), ec.Extents(half_x, half_y))
    space = ec.install()
    esper.process(1 / 60)
    return space


def corners(ring):
    return {(x, y) for x, y in ring.tolist()}


def area(ring):
    x, y = ring.T
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def test_nothing_in_the_way_leaves_the_square():
    ring = space_of().visible_region((10, 20), 5)

    assert corners(ring) == {(5, 15), (15, 15), (15, 25), (5, 25)}
    assert area(ring) == 100  # counter-clockwise


def test_pillar_throws_a_shadow():
    #
    #   +-----------+
    #   |         . |
    #   |      +-+  |
    #   |  o   | |  |      the shadow begins at the pillar's left face
    #   |      +-+  |
    #   |         . |
    #   +-----------+
    #
    ring = space_of((3, 0, 1, 1)).visible_region((0, 0), 5)

    assert corners(ring) == {
        (2, -1), (2, 1), (5, 2.5), (5, 5), (-5, 5), (-5, -5), (5, -5), (5, -2.5)
    }  # fmt: skip
    assert area(ring) == 100 - 10.5


def test_boxes_behind_others_are_hidden_and_seams_let_no_light_through():
    wall = [(4, y, 1, 1) for y in (-4, -2, 0, 2, 4)]

    ring = space_of(*wall, (6, 0, 1, 1)).visible_region((0, 0), 10)

    assert (ring[:, 0] == 3).sum() == 2
    assert not ((ring[:, 0] > 3) & (np.abs(ring[:, 1]) < 5)).any()


def test_inner_corner_of_two_boxes_that_cross_is_a_corner_of_the_region():
    ring = space_of((3, 0, 1, 4), (2, 0, 2, 1)).visible_region((-1, 3), 8)

    assert (2.0, 1.0) in corners(ring)


def test_torch_on_a_wall_lights_its_side():
    space = space_of((-1, 0, 1, 20))

    assert corners(space.visible_region((0, 0), 5)) == {(0, -5), (5, -5), (5, 5), (0, 5)}


def test_torch_on_an_outer_corner_lights_three_quarters():
    ring = space_of((-2, -2, 2, 2)).visible_region((0, 0), 4)

    assert area(ring) == 48


def test_point_in_a_wall_sees_nothing_unless_it_is_excluded():
    space = space_of((0, 0, 2, 2))
    (wall,) = space.entities

    assert space.visible_region((1, 0), 5).shape == (0, 2)
    assert area(space.visible_region((1, 0), 5, exclude=wall)) == 100
    assert area(space.visible_region((1, 0), 5, exclude=[wall, 99])) == 100
    assert area(space.visible_region((1, 0), 5, filter=lambda entity: False)) == 100


def test_sensors_are_seen_through():
    esper.create_entity(ec.Position(3, 0), ec.Extents(1, 1), ec.Sensor())
    space = space_of()

    assert len(space.visible_region((0, 0), 5)) == 4
    assert len(space.visible_region((0, 0), 5, solid=False)) == 8


def test_region_has_exactly_the_points_to_which_a_segment_is_free(volume):
    rng = random.Random(4)
    for _ in range(volume(12, 100)):
        esper.clear_database()
        boxes = [
            (
                rng.randrange(-20, 21),
                rng.randrange(-20, 21),
                rng.randrange(1, 7),
                rng.randrange(1, 7),
            )
            for _ in range(rng.choice([1, 3, 12]))
        ]
        space = space_of(*boxes)
        eye = np.array([rng.randrange(-20, 21), rng.randrange(-20, 21)], float)
        ring = space.visible_region(eye, 25)
        if any(abs(eye[0] - x) < w and abs(eye[1] - y) < h for x, y, w, h in boxes):
            assert not len(ring)
            continue
        ways, nexts = ring - eye, np.roll(ring, -1, axis=0) - eye
        for _ in range(60):
            spot = np.array([rng.uniform(-25, 25) + at for at in eye])
            way = spot - eye
            sees = not any(is_blocked(eye, way, box) for box in boxes)
            # In one of the triangles around the eye?
            doubled = ways[:, 0] * nexts[:, 1] - ways[:, 1] * nexts[:, 0]
            with np.errstate(divide="ignore", invalid="ignore"):
                a = (way[0] * nexts[:, 1] - way[1] * nexts[:, 0]) / doubled
                b = (ways[:, 0] * way[1] - ways[:, 1] * way[0]) / doubled
                inside = (a >= -1e-9) & (b >= -1e-9) & (a + b <= 1 + 1e-9)
            assert inside.any() == sees, (boxes, eye, spot)


def is_blocked(eye, way, box):
    """Return whether a segment leads through the interior of a box."""
    (x, y, half_x, half_y), enter, leave = box, 0.0, 1.0
    for start, step, at, half in zip(eye, way, (x, y), (half_x, half_y), strict=True):
        if step == 0:
            if not at - half < start < at + half:
                return False
            continue
        first, second = sorted([(at - half - start) / step, (at + half - start) / step])
        enter, leave = max(enter, first), min(leave, second)
    return enter < leave


@pytest.mark.parametrize("reach", [0, -1, float("inf"), float("nan"), None])
def test_reach_that_makes_no_sense_is_refused(reach):
    with pytest.raises(ValueError, match="reach="):
        space_of().visible_region((0, 0), reach)


def test_worlds_in_3d_or_that_wrap_are_refused():
    for space in (ec.Space(dim=3), ec.Space(wrap=(9, 9))):
        with pytest.raises(ValueError, match="2D worlds that do not wrap"):
            space.visible_region((0, 0), 1)


def test_slope_is_seen_along_its_line_and_hides_what_is_behind_it():
    #
    #        /|
    #  eye /  |
    #    /____|
    #
    esper.create_entity(ec.Position(5, 5), ec.Extents(5, 5), ec.Slope("right", high=0.5))
    space = space_of()

    ring = space.visible_region((2, 8), 20)

    assert {(0.0, 0.0), (10.0, 5.0)} <= {(round(x, 9), round(y, 9)) for x, y in ring.tolist()}
    for x, y in ring.tolist():
        assert y >= x / 2 - 1e-9 or not 0 < x < 10


def test_torch_on_a_slope_lights_its_side_and_one_inside_lights_nothing():
    esper.create_entity(ec.Position(5, 5), ec.Extents(5, 5), ec.Slope("left", ceiling=True))
    space = space_of()

    ring = space.visible_region((5, 5), 5)

    assert area(ring) == pytest.approx(50)
    assert space.visible_region((6, 8), 5).shape == (0, 2)


def test_pairs_of_boxes_that_share_a_corner_grow_with_the_boxes_not_with_their_square():
    for n in (10, 40):
        lows = np.array([(16.0 * x, 16.0 * y) for x in range(n) for y in range(n)])
        first, second = _pairs(lows, lows + 16.0)
        low, high = (
            np.maximum(lows[first], lows[second]),
            np.minimum(lows[first], lows[second]) + 16,
        )

        assert len(first) < 6 * n * n
        found = {frozenset(pair) for pair in zip(first.tolist(), second.tolist(), strict=True)}
        touching = (low <= high).all(axis=1)
        kept = {frozenset(pair) for pair in zip(first[touching].tolist(), second[touching].tolist(),
                                                strict=True)}  # fmt: skip
        # Beside, above, and on both diagonals.
        assert len(kept) == 2 * n * (n - 1) + 2 * (n - 1) ** 2 <= len(found)
