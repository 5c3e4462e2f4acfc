"""Levels that are loaded in regions: chunks, and bodies that wait for them."""

from __future__ import annotations

import sys
from math import inf, nan
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide import levels
from ecs_collide.levels.cells import Block, Grid, Tiling
from ecs_collide.levels.level import Level
from tests.levels.test_tiled_bodies import Load, load, tiles

__all__ = ["load"]  # the fixture

DT = 1 / 60
EARTH = {1: {"solid": True}}
LONG = ["." * 100] * 9 + ["#" * 100]  # a floor, 1000 long and 10 high


def strip(rows: list[str] = LONG, **more: Any) -> Level:
    return levels.from_grid(rows, 10, {"#": {"solid": True}, "c": "crate"}, **more)


def crate(x: float, y: float, *more: Any) -> int:
    return esper.create_entity(
        ec.Position(x, y), ec.Extents(4, 4), ec.Velocity(0, 0), ec.Slide(), *more
    )


def height(entity: int) -> float:
    return esper.component_for_entity(entity, ec.Position).y


def waits(entity: int) -> bool:
    return esper.has_component(entity, ec.Disabled)


@pytest.fixture
def space(world: str) -> ec.Space:
    return ec.install(gravity=(0, -500))


def play(level: Level, steps: int, *regions: Any, **more: Any) -> None:
    for _ in range(steps):
        level.stream(regions=regions, **more)
        esper.process(DT)


LEFT, RIGHT = ((0, 0), (200, 100)), ((800, 0), (1000, 100))


def test_bodies_wait_for_their_floor_and_go_on_when_it_is_there(space: ec.Space) -> None:
    level = strip()
    near, far, above = crate(50, 14), crate(900, 14), crate(900, 60)
    play(level, 60, LEFT)
    assert (height(near), height(far)) == (14, 14)
    assert not waits(near)
    assert waits(far)
    assert 20 < height(above) <= 60
    assert space.is_on(near) is not None

    play(level, 60, RIGHT)
    assert waits(near)
    assert not waits(far)
    assert (height(near), height(far), height(above)) == (14, 14, 22)
    play(level, 30, LEFT)
    assert (height(near), height(far), height(above)) == (14, 14, 22)
    assert not space.doctor()


def test_two_regions_are_loaded_at_once(space: ec.Space) -> None:
    level = strip()
    ours = [crate(50, 40), crate(900, 40)]
    between = crate(500, 14)
    play(level, 60, LEFT, RIGHT, at_most=9)

    assert [height(entity) for entity in ours] == [14, 14]
    assert waits(between)
    assert not space.query_point((500, 5))
    play(level, 60, LEFT, ((400, 0), (600, 100)), at_most=9)
    assert [waits(entity) for entity in (*ours, between)] == [False, True, False]
    assert height(between) == 14


def test_body_that_the_game_has_switched_off_stays_off(space: ec.Space) -> None:
    level = strip()
    spare = crate(900, 14, ec.Disabled())
    play(level, 10, LEFT, at_most=9)
    play(level, 10, RIGHT, at_most=9)

    assert waits(spare)


def test_walls_lifts_of_no_tiles_and_the_sky_do_not_wait(space: ec.Space) -> None:
    level = strip()
    wall = esper.create_entity(ec.Position(900, 14), ec.Extents(4, 4), ec.Fixed())
    still = esper.create_entity(ec.Position(910, 14), ec.Extents(4, 4))
    bird = esper.create_entity(ec.Position(500, 400), ec.Extents(1, 1), ec.Velocity(60, 0))
    owner = crate(50, 14)
    box = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Attached(owner, (860, 0)))
    play(level, 60, LEFT)

    assert not any(map(waits, (wall, still, bird, box)))
    assert esper.component_for_entity(bird, ec.Position).x == 560


def test_fast_body_stops_before_a_wall_that_is_not_there_yet(space: ec.Space) -> None:
    #
    #   . . . o -> . . | # . .     the wall is in a chunk that is not loaded
    #   # # # # # # #  | # # #
    #
    level = strip(["." * 20 + "#" + "." * 11, "#" * 32])
    runner = crate(20, 14)
    esper.component_for_entity(runner, ec.Velocity).x = 1500
    play(level, 60, ((0, 0), (150, 20)))
    assert waits(runner)
    assert esper.component_for_entity(runner, ec.Position).x < 160

    play(level, 60, ((0, 0), (320, 20)), at_most=9)
    assert esper.component_for_entity(runner, ec.Position).x == 196


def test_waiting_is_in_snapshots_and_the_future_is_the_same(space: ec.Space) -> None:
    level = strip()
    ours = [crate(x, 14 + x / 50) for x in range(20, 1000, 60)]
    play(level, 5, LEFT)
    state, saved = space.save_state(), space.snapshot()

    def future() -> list[bytes]:
        found = []
        for n in range(20):
            level.set_cell(n, 9)
            level.stream((40 * n, 0), (40 * n + 200, 100))
            esper.process(DT)
            found.append(space.state_hash())
        return found

    first = future()
    for data in (state, saved):
        space.restore(data)
        assert future() == first
    assert any(map(waits, ours))


def test_odd_numbers_are_left_to_the_step_to_report(space: ec.Space) -> None:
    level = strip()
    near, lost = crate(50, 14), crate(90, 14)
    esper.component_for_entity(lost, ec.Position).x = nan
    with pytest.warns(RuntimeWarning, match=f"entity {lost} is skipped"):
        play(level, 3, LEFT)
    assert height(near) == 14
    assert lost in {report.entity for report in space.reports}

    esper.component_for_entity(near, ec.Velocity).x = "fast"
    level.stream(*LEFT)
    with pytest.raises(TypeError, match=f"entity {near}: Velocity.x is 'fast'"):
        esper.process(DT)


def test_unload_lets_bodies_go_on(space: ec.Space) -> None:
    level = strip()
    far = crate(900, 14)
    play(level, 2, LEFT)
    assert waits(far)

    level.unload()

    assert not waits(far)
    play(strip(), 1, LEFT)
    assert waits(far)


def test_objects_of_a_level_wait_too(space: ec.Space) -> None:
    level = strip([*LONG[:8], "." * 90 + "c" + "." * 9, LONG[9]])
    table = {"crate": lambda thing: (ec.Velocity(0, 0), ec.Slide())}
    ((_, entity),) = level.create(table, tiles=False, offset=(50, 0))
    play(level, 30, ((0, 0), (200, 100)))

    assert waits(entity)
    assert height(entity) == 15
    play(level, 30, ((900, 0), (1000, 100)))
    assert not waits(entity)


# -- regions --


@pytest.mark.parametrize(
    "region",
    [
        ((-inf, -inf), (inf, inf)), ((-1e300, -1e300), (1e300, 1e300)), ((-inf, 0), (1e9, 100)),
        ((-1e9, -1e9), (1e9, 1e9)), ((0, -inf), (inf, 100)),
    ],
)  # fmt: skip
def test_time_of_a_stream_follows_the_map_and_not_the_region(space: ec.Space, region: Any) -> None:
    level = strip()
    calls = [0]

    def count(*_: Any) -> None:
        calls[0] += 1

    sys.setprofile(count)
    waiting = level.stream(*region, at_most=3)
    sys.setprofile(None)

    assert waiting == 4
    assert calls[0] < 3000
    assert level.stream(*region, at_most=9) == 0
    esper.process(DT)
    assert len(space) == 7


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        (((0, nan), (1, 1)), {}, r"stream\(min=\(0, nan\), max=\(1, 1\)\) must be the lower and"),
        (((0, 0), (1, -1)), {}, "must be the lower and the upper corner of a region"),
        (((0, 0), (1,)), {}, "must be the lower and the upper corner of a region"),
        (((0, 0),), {}, "must be the lower and the upper corner of a region"),
        ((), {}, r"takes either min and max, or regions="),
        (((0, 0), (1, 1)), {"regions": [((0, 0), (1, 1))]}, "takes either min and max, or regions"),
        ((), {"regions": [((0, 0), (1, -1))]}, "several are given by regions="),
        (((0, 0), (1, 1)), {"chunk": 0}, "must be 1 or more"),
    ],
)
def test_wrong_regions_are_refused(
    space: ec.Space, arguments: Any, named: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        strip().stream(*arguments, **named)


def test_cells_change_before_the_first_stream(space: ec.Space) -> None:
    level = strip()
    level.set_cell(3, 3, "#")
    level.set_cell(4, 9)
    assert level.tile_at((35, 65)).type == "#"
    esper.process(DT)
    assert len(space) == 0

    level.stream(*LEFT, at_most=99)
    esper.process(DT)

    assert space.query_point((35, 65))
    assert not space.query_point((45, 5))
    assert space.query_point((55, 5))


def test_far_cells_of_an_infinite_map_are_right_or_refused(load: Load, space: ec.Space) -> None:
    level = load(tiles(".... .... 1111"), tile=EARTH, infinite=True)
    level.create()
    for cell in ((2**31, 2), (-(2**31), 2), (5, -(2**39)), (2**40, 2**40)):
        level.set_cell(*cell, 1)
        x, y = 10.0 * cell[0] + 5, 30 - (10.0 * cell[1] + 5)
        assert level.tile_at((x, y)).number == 1
        assert level.to_cell(x, y) == cell
        esper.process(DT)
        assert space.query_point((x, y))
    space.restore(space.snapshot())
    for far in (2**40 + 1, -(2**41), 10**30):
        message = rf"there is no cell \({far}, 0\); columns and rows must lie within -2\*\*40"
        with pytest.raises(ValueError, match=message):
            level.set_cell(far, 0, 1)
    level.unload()
    assert not level.tile_at((5.0, 30 + 10.0 * 2**39 - 5))


def test_chunks_far_apart_cost_no_more_than_near_ones(space: ec.Space) -> None:
    level = strip(["##"])
    layer = level._tiling.grid.layers[0]
    layer.blocks.append(Block(10**9, 0, [[ord("#")] * 2]))
    grid = Grid((layer,), level._tiling.grid.frame, is_infinite=True)
    level = Level((20, 10), Tiling(grid), (), {}, None, key="far")

    assert level.stream((0, 0), (1e11, 10), at_most=9) == 0
    esper.process(DT)
    assert len(space) == 2


def test_streamed_chunks_give_the_same_bodies_as_a_whole_level(space: ec.Space) -> None:
    rows = ["#" * 40 if n % 3 else "#." * 20 for n in range(20)]
    level = strip(rows)
    while level.stream((-9, -9), (500, 300), chunk=7):
        pass
    esper.process(DT)

    full = space.occupancy(((0, 0), (400, 200)), 10, half=(1, 1))
    assert [[bool(full[x, 19 - y]) for x in range(40)] for y in range(20)] == [
        [mark == "#" for mark in row] for row in rows
    ]
