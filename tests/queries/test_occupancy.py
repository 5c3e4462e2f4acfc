"""The grid of the cells in which a box has no room, and what lies in a circle."""

from __future__ import annotations

import math
import random

import esper
import numpy as np
import pytest

import ecs_collide as ec


class Wall:
    """What is in the way."""


def box(x, y, half_x, half_y, *more):
    return esper.create_entity(ec.Position(x, y), ec.Extents(half_x, half_y), *more)


def space_of(**settings):
    space = ec.install(**settings)
    esper.process(0)
    return space


@pytest.mark.parametrize("dim", [2, 3])
def test_cells_are_occupied_where_the_box_would_overlap_a_body(world, dim):
    rng = random.Random(dim)
    for _ in range(30):
        centre = [rng.randint(-8, 40) * 0.5 for _ in range(dim)]
        half = [rng.choice([0, 0.5, 1, 3]) for _ in range(dim)]
        esper.create_entity(ec.Position(centre), ec.Extents(half))
    space = space_of(dim=dim)
    mins, maxs = space.boxes()

    for _ in range(20):
        low = np.array([rng.randint(-9, 9) for _ in range(dim)])
        size = np.array([rng.randint(1, 9) for _ in range(dim)])
        cell, half = rng.choice([0.5, 1, 2]), np.array([rng.choice([0, 0.25, 1, 2.5])] * dim)
        grid = space.occupancy((low, low + size), cell, half=half)
        assert grid.shape == tuple(math.ceil(part / cell) for part in size)
        for at in np.ndindex(grid.shape):
            centre = low + (np.array(at) + 0.5) * cell
            gaps = np.maximum(mins - (centre + half), (centre - half) - maxs)
            assert grid[at] == (gaps < 0).all(axis=1).any(), (at, centre)


def test_box_that_fills_its_cell_fits_between_walls(world):
    box(0.05, 0.5, 0.05, 0.5)
    box(0.35, 0.5, 0.05, 0.5)
    space = space_of()

    grid = space.occupancy(((0, 0), (0.5, 0.1)), 0.1)  # tenths are rounded

    assert grid[:, 0].tolist() == [True, False, False, True, False]


def test_sensors_and_bodies_that_the_filter_skips_are_not_in_the_way(world):
    box(8, 8, 4, 4, Wall())
    box(24, 8, 4, 4, ec.Sensor(), Wall())
    mover = box(40, 8, 4, 4)
    space = space_of()

    def grid(**how):
        return space.occupancy(((0, 0), (48, 16)), 16, **how)[:, 0].tolist()

    assert grid() == [True, False, True]
    assert grid(filter=Wall) == [True, False, False]
    assert grid(filter=Wall, solid=False) == [True, True, False]
    assert grid(exclude=mover) == [True, False, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((((0, 0), (1, 1)), 0), "cell=0"),
        ((((0, 0), (1, 1)), math.nan), "cell=nan"),
        ((((0, 0), (1e9, 1e9)), 1), "at most"),
        ((((2, 0), (1, 1)), 1), "min"),
        ((((0, 0, 0), (1, 1, 1)), 1), "must have 2 axes"),
        ((((0, math.nan), (1, 1)), 1), "finite"),
    ],
)
def test_grid_that_makes_no_sense_is_refused(world, arguments, message):
    with pytest.raises(ValueError, match=message):
        space_of().occupancy(*arguments)


def test_half_below_0_and_worlds_that_wrap_are_refused(world):
    with pytest.raises(ValueError, match="half"):
        space_of().occupancy(((0, 0), (1, 1)), 1, half=(-1, 1))
    with pytest.raises(ValueError, match="wrap"):
        ec.Space(wrap=(9, 9)).occupancy(((0, 0), (1, 1)), 1)


# -- circles --


@pytest.mark.parametrize("settings", [{}, {"dim": 3}, {"wrap": (40, None)}])
def test_circle_finds_the_boxes_whose_nearest_point_is_within(world, settings):
    rng = random.Random(4)
    dim = settings.get("dim", 2)
    for _ in range(60):
        centre = [rng.randint(0, 39) for _ in range(dim)]
        esper.create_entity(ec.Position(centre), ec.Extents([rng.randint(0, 3)] * dim))
    space = space_of(**settings)

    for _ in range(50):
        point = tuple(rng.randint(0, 39) for _ in range(dim))
        radius = rng.choice([0, 1, 5, 13])  # 3, 4, 5 and 5, 12, 13 touch exactly
        near = space.nearest(point, 99, within=radius)
        assert space.query_circle(point, radius) == sorted(each.entity for each in near)
        if "wrap" not in settings:
            mins, maxs = space.boxes()
            gaps = np.maximum(np.maximum(mins - point, point - maxs), 0)
            inside = (gaps**2).sum(axis=1) <= radius**2
            assert space.query_circle(point, radius) == np.array(space.entities)[inside].tolist()


def test_circle_takes_the_options_of_the_other_queries(world):
    wall, ghost = box(5, 0, 1, 1, Wall()), box(0, 5, 1, 1, ec.Sensor())
    space = space_of()

    assert space.query_circle((0, 0), 4) == [wall, ghost]
    assert space.query_circle((0, 0), 4, filter=Wall) == [wall]
    assert space.query_circle((0, 0), 4, solid=True) == [wall]
    assert space.query_circle((0, 0), 4, exclude=wall) == [ghost]
    assert space.query_circle((0, 0), 3.9) == []
    with pytest.raises(ValueError, match="radius=-1"):
        space.query_circle((0, 0), -1)
    with pytest.raises(ValueError, match="radius=nan"):
        space.query_circle((0, 0), math.nan)


@pytest.mark.parametrize("up", [(0, 1), (0, -1), (0, 1, 0), (0, 0, -1)])
@pytest.mark.parametrize("ceiling", [False, True])
@pytest.mark.parametrize("ends", [(0.0, 1.0), (0.25, 1.0), (0.0, 0.5)])
@pytest.mark.parametrize("sign", [1, -1])
def test_cells_beside_the_solid_part_of_a_slope_are_free(world, up, ceiling, ends, sign):
    dim = len(up)
    rise = [0.0] * dim
    rise[0 if up[0] == 0 else 1] = sign
    centre, size = [3.0, 5.0, 2.0][:dim], [8.0, 6.0, 4.0][:dim]
    slope = ec.Slope(rise, *ends, ceiling=ceiling)
    esper.create_entity(ec.Position(centre), ec.Extents(size), slope)
    space = space_of(dim=dim, up=up)
    low, high = [-7.0, -4.0, -5.0][:dim], [14.0, 14.0, 10.0][:dim]

    for half in ((0.5,) * dim, (1.0,) * dim, (2.0, 0.25, 1.0)[:dim]):
        grid = space.occupancy((low, high), 1.0, half=half)

        at = np.argwhere(np.ones(grid.shape))
        inner = np.array(half) - 1e-9  # a query is closed
        centres = np.array(low) + at + 0.5
        hits = space.query_many(centres - inner, centres + inner)
        assert grid.ravel().tolist() == (np.diff(hits.offsets) > 0).tolist()


def test_dynamic_body_with_a_slope_takes_the_whole_box(world):
    box(0, 0, 10, 10, ec.Slope("right"), ec.Velocity(0, 0), ec.Slide())
    space = space_of()

    assert space.occupancy(((-10, -10), (10, 10)), 2.0).all()


def test_one_body_of_a_flight_of_ramps_hides_no_air_of_another(world):
    box(8, 8, 8, 8, ec.Slope("right"))
    box(8, -4, 8, 4)
    box(24, 8, 8, 8, ec.Slope("left"))
    space = space_of()

    grid = space.occupancy(((0, -8), (32, 16)), 4.0)

    drawn = ["".join(".#"[int(cell)] for cell in row) for row in grid.T[::-1]]
    assert drawn == ["...##...", "..####..", ".######.", "########", "####....", "####...."]


def test_an_enemy_finds_its_way_over_a_ramp(world):
    box(0, 0, 8, 8, ec.Slope("right"))
    box(16, 0, 8, 8, ec.Slope("left"))
    space = space_of()
    blocked = space.occupancy(((-10, -8), (26, 12)), 2.0)
    reached, waiting = set(), [(0, 0)]

    while waiting:
        i, j = waiting.pop()
        inside = 0 <= i < blocked.shape[0] and 0 <= j < blocked.shape[1]
        if inside and not blocked[i, j] and (i, j) not in reached:
            reached.add((i, j))
            waiting += [(i + 1, j + 1), (i + 1, j), (i + 1, j - 1)]

    assert (blocked.shape[0] - 1, 0) in reached
