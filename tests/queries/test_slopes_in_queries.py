"""Queries among slopes: against brute force, and before the first step as after it."""

from __future__ import annotations

import itertools
import math
import random

import esper
import numpy as np
import pytest

import ecs_collide as ec

NUMBERS = itertools.count()

pytestmark = pytest.mark.usefixtures("world", "implementation")


def switch():
    esper.switch_world(f"slopes {next(NUMBERS)}")


def random_level(rng, dim):
    """Create slopes and boxes that may overlap; return the shapes by entity.

    A shape is a convex polygon on the two axes of its line, the numbers of these, and its box.
    """
    side = rng.choice([1, -1])
    up = [0.0] * dim
    up[rng.choice(range(dim)) if rng.random() < 0.3 else dim - 1] = float(side)
    space = ec.install(dim=dim, up=tuple(up))
    height = next(k for k, part in enumerate(up) if part)
    shapes = {}
    for _ in range(12):
        centre = [rng.uniform(-40, 40) for _ in range(dim)]
        half = [rng.uniform(1, 12) for _ in range(dim)]
        run = rng.choice([k for k in range(dim) if k != height])
        forth, ceiling = rng.choice([1, -1]), rng.random() < 0.4
        low, high = sorted(rng.choice([0.0, 0.25, 0.5, 0.75, 1.0]) for _ in range(2))
        parts = [ec.Position(*centre), ec.Extents(*half)]
        lines = (low, high) if low < high else (1.0, 1.0)
        if low < high:
            rise = [float(forth) if k == run else 0.0 for k in range(dim)]
            parts.append(ec.Slope(rise, low, high, ceiling))
        if rng.random() < 0.3:
            parts.append(ec.Fixed())
        entity = esper.create_entity(*parts)
        out = side * (-1 if ceiling else 1)
        if ceiling and low < high:  # its line rises towards its open side
            lines, forth = (1.0 - high, 1.0 - low), -forth
        start, end = centre[run] - forth * half[run], centre[run] + forth * half[run]
        base, whole = centre[height] - out * half[height], 2 * half[height] * out
        corners = [
            (start, base),
            (end, base),
            (end, base + lines[1] * whole),
            (start, base + lines[0] * whole),
        ]
        box = np.subtract(centre, half), np.add(centre, half)
        shapes[entity] = (corners, (run, height), box)
    return space, shapes


def distance_of_points(point, start, end):
    way = end[0] - start[0], end[1] - start[1]
    length = way[0] ** 2 + way[1] ** 2
    part = (point[0] - start[0]) * way[0] + (point[1] - start[1]) * way[1]
    part = max(0.0, min(1.0, part / length)) if length else 0.0
    return math.dist(point, (start[0] + part * way[0], start[1] + part * way[1]))


def side(start, end, point):
    """Return a number whose sign says on which side of a line a point is."""
    way, to = (end[0] - start[0], end[1] - start[1]), (point[0] - start[0], point[1] - start[1])
    return way[0] * to[1] - way[1] * to[0]


def is_in(point, corners):
    """Return whether a point is in a convex polygon, on either side around it."""
    turns = [side(*edge, point) for edge in zip(corners, corners[1:] + corners[:1], strict=True)]
    return min(turns) >= 0 or max(turns) <= 0


def crosses(one, two, three, four):
    return (
        side(one, two, three) * side(one, two, four) < 0
        and side(three, four, one) * side(three, four, two) < 0
    )


def distance_of(shape, low, high):
    """Return the distance of a shape from a box, by all pairs of edges and corners."""
    corners, axes, (mins, maxs) = shape
    box = [(low[axes[0]], low[axes[1]]), (high[axes[0]], low[axes[1]])]
    box += [(high[axes[0]], high[axes[1]]), (low[axes[0]], high[axes[1]])]
    flat = math.inf
    edges = [list(zip(ring, ring[1:] + ring[:1], strict=True)) for ring in (corners, box)]
    if any(is_in(p, corners) for p in box) or any(
        all(low[k] <= at <= high[k] for k, at in zip(axes, p, strict=True)) for p in corners
    ):
        flat = 0.0
    for (one, two), (three, four) in itertools.product(*edges):
        ends = [(one, three, four), (two, three, four), (three, one, two), (four, one, two)]
        flat = min(flat, *(distance_of_points(*each) for each in ends))
        if crosses(one, two, three, four):
            flat = 0.0
    aside = [max(mins[k] - high[k], low[k] - maxs[k], 0.0) for k in range(len(low))]
    return math.hypot(flat, *(aside[k] for k in range(len(low)) if k not in axes))


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("moment", ["of the last step", "before any step"])
def test_distances_regions_and_cells_are_those_of_the_solid_parts(dim, moment, volume):
    for seed in range(volume(3, 6, 9, least=3)):
        rng = random.Random(f"{seed} {dim}")
        switch()
        space, shapes = random_level(rng, dim)
        if moment == "before any step":
            space.update()
        else:
            esper.process(0)
        for _ in range(4):
            low = [rng.uniform(-50, 50) for _ in range(dim)]
            high = [part + rng.choice([0, rng.uniform(0, 20)]) for part in low]
            right = {entity: distance_of(shape, low, high) for entity, shape in shapes.items()}

            found = space.nearest_to_box(low, high, len(shapes))

            assert {each.id for each in found} == set(shapes)
            assert found == sorted(found, key=lambda each: (each.distance, each.id))
            for each in found:
                assert each.distance == pytest.approx(right[each.id], abs=1e-9)
                aside = np.maximum(np.maximum(np.subtract(each.point, high), 0), 0)
                aside = np.maximum(aside, np.subtract(low, each.point))
                assert np.hypot.reduce(aside) == pytest.approx(each.distance, abs=1e-9)
                assert distance_of(shapes[each.id], each.point, each.point) < 1e-9
            overlapping = [entity for entity, far in right.items() if far == 0]
            assert space.query(low, high) == overlapping
            assert space.query_point(low) == [
                entity for entity, shape in shapes.items() if distance_of(shape, low, low) == 0
            ]
            assert space.query_circle(low, 9) == sorted(
                each.id for each in space.nearest(low, len(shapes), within=9)
            )

        corner, cell = [-30.0] * dim, 12.0 if dim == 2 else 20.0
        map = space.occupancy((corner, [30.0] * dim), cell)
        for place in np.ndindex(map.shape):
            low = np.add(corner, np.multiply(place, cell))
            least = min(distance_of(shape, low, low + cell) for shape in shapes.values())
            assert map[place] == (least == 0)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_cast_circle_meets_the_first_solid_part_that_it_comes_nearer_than_its_radius(dim, volume):
    n_hits = 0
    for seed in range(volume(3, 6, 9, least=3)):
        rng = random.Random(f"circle {seed} {dim}")
        switch()
        space, shapes = random_level(rng, dim)
        space.update()
        for _ in range(10):
            start, way = ([rng.uniform(-60, 60) for _ in range(dim)] for _ in range(2))
            radius = rng.choice([0.5, 4.0, 9.0])

            def nearest_at(time, start=start, way=way, shapes=shapes):
                place = np.add(start, np.multiply(time, way))
                return min((distance_of(shape, place, place), id) for id, shape in shapes.items())

            hit = space.cast_circle(start, radius, way)

            for part in range(9):  # nothing is met before
                assert nearest_at(part / 8 * (hit.time if hit else 1.0))[0] >= radius - 1e-9 or (
                    hit is not None and hit.time == 0.0
                )
            if hit is None:
                continue
            n_hits += 1
            place = np.add(start, np.multiply(hit.time, way))
            assert distance_of(shapes[hit.id], hit.point, hit.point) < 1e-9
            if hit.time > 0.0:
                assert nearest_at(hit.time) == (pytest.approx(radius), hit.id)
                assert place - np.multiply(radius, hit.normal) == pytest.approx(hit.point)
                assert np.dot(hit.normal, way) < 0.0
    assert n_hits > 5


def test_a_cast_circle_slips_past_corners_and_grazes_faces_in_a_tree_and_across_an_edge():
    tree = ec.AABBTree()
    tree.insert(7, (10, -1), (12, 5))
    corner = tree.cast_circle((0, -2.5), 2, (16, 0))
    assert corner.point == (10, -1)
    assert math.dist((16 * corner.time, -2.5), corner.point) == pytest.approx(2)
    assert (
        tree.cast_box((0, -2.9), (2, 2), (16, 0)).time
        < tree.cast_circle((0, -2.9), 2, (16, 0)).time
    )
    for miss in ((0, -3), (0, 7), (0, 9)):
        assert tree.cast_circle(miss, 2, (30, 0)) is None
    inside = tree.cast_circle((11, 1), 2, (16, 0))
    assert (inside.time, inside.normal) == (0, (0, 0))
    assert tree.cast_circle((8, 0), 2, (-5, 0)) is None  # it touches, and goes away
    assert tree.cast_circle((8, 0), 2, (5, 0)).time == 0
    for wrong in (0, -1, math.inf, math.nan):
        with pytest.raises(ValueError, match="radius"):
            tree.cast_circle((8, 0), wrong, (5, 0))
    for centre, motion in (((8,), (5, 0)), ((8, 0), (5, 0, 0)), ((8, 0), (math.nan, 0))):
        with pytest.raises(ValueError, match=r"^(centre|motion)\b"):
            tree.cast_circle(centre, 1, motion)
    thin = tree.cast_circle((-1e9, 1), 1e-3, (2e9, 0))
    assert (thin.id, thin.point, thin.normal) == (7, (10, 1), (-1, 0))

    switch()
    wall = esper.create_entity(ec.Position(1, 5), ec.Extents(2, 5))
    space = ec.install(wrap=(100, None))
    esper.process(0)
    hit = space.cast_circle((90, 5), 3, (20, 0))
    assert (hit.id, hit.time, hit.normal) == (wall, 0.3, (-1, 0))


@pytest.mark.parametrize("dim", [2, 3])
def test_every_question_has_the_same_answer_before_the_first_step_and_after_it(dim):
    def answers(seed, steps):
        rng = random.Random(seed)
        switch()
        space, _ = random_level(rng, dim)
        entity = esper.create_entity(
            ec.Position(*[60.0] * dim),
            ec.Extents(*[2.0] * dim),
            ec.Velocity(*[0.0] * dim),
            ec.Slide(),
        )
        for _ in range(steps):
            esper.process(0)
        space.update()
        found = []
        for _ in range(12):
            start, way, half = (
                [rng.uniform(-size, size) for _ in range(dim)] for size in (50, 60, 3)
            )
            half = [abs(part) for part in half]
            found += [space.cast_ray(start, way), space.cast_box(start, half, way)]
            found += [space.nearest(start, 3), space.query(start, np.add(start, half))]
            space.teleport(entity, start)
            space.update()
            found.append(space.check_move(entity, way))
            if dim == 2:
                found.append(space.visible_region(start, 30).tolist())
        return found

    for seed in range(3):
        assert answers(seed, 0) == answers(seed, 1)


def test_a_slope_that_is_changed_after_a_step_is_what_it_is_now():
    space = ec.install()
    slope = ec.Slope("right")
    entity = esper.create_entity(ec.Position(5, 5), ec.Extents(5, 5), slope)
    esper.process(0)

    def is_solid_at(x, y):
        space.update()
        return space.query_point((x, y)) == [entity]

    assert (is_solid_at(2, 8), is_solid_at(8, 2)) == (False, True)
    slope.rise = "left"
    assert (is_solid_at(2, 7), is_solid_at(8, 7)) == (True, False)
    esper.component_for_entity(entity, ec.Extents).x = 50  # the line is half as steep at x = 2
    assert is_solid_at(8, 4)
    esper.add_component(entity, ec.Velocity(0, 0))
    esper.add_component(entity, ec.Slide())  # a dynamic body is a box
    assert is_solid_at(8, 9)
    esper.remove_component(entity, ec.Slide)
    assert not is_solid_at(8, 9)
    esper.remove_component(entity, ec.Slope)
    assert is_solid_at(8, 9)
    esper.process(0)
    assert is_solid_at(8, 9)
