"""Games whose levels change, played by the public API only."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from tests.levels.test_tiled_bodies import Load, load, tiles

__all__ = ["load"]  # the fixture

DT = 1 / 60
EARTH = {1: {"solid": True, "type": "earth"}, 2: {"solid": True, "type": "door"}}


def place(entity: int) -> ec.Position:
    return esper.component_for_entity(entity, ec.Position)


@pytest.fixture
def space(world: str) -> ec.Space:
    return ec.install(gravity=(0, -900))


def create_hero(x: float, y: float, *more: Any) -> tuple[int, Character]:
    character = Character(walk_speed=60)
    body = ec.Position(x, y), ec.Extents(3, 8), ec.Velocity(0, 0), ec.Slide(), character
    return esper.create_entity(*body, *more), character


def wait(steps: int) -> None:
    for _ in range(steps):
        esper.process(DT)


# -- a digging game --


def test_miner_digs_down_and_sideways_and_falls_by_whole_tiles(load: Load, space: Any) -> None:
    level = load(tiles("......... " * 3 + "111111111 " * 5), tile=EARTH)
    level.create()
    hero, character = create_hero(45, 58)
    feet = place(hero).y - 8

    for n in range(1, 4):  # a shaft
        under = level.tile_at((place(hero).x, place(hero).y - 8.5))
        level.set_cell(under.column, under.row)
        wait(30)
        assert place(hero).y - 8 == feet - 10 * n
    for dy in (-5, 5):  # a tunnel, two tiles high
        beside = level.tile_at((place(hero).x + 10, place(hero).y + dy))
        level.set_cell(beside.column, beside.row)
    character.walk = 1
    wait(60)

    assert place(hero).xy == (57, feet - 22)  # in front of the next tile
    assert space.is_on(hero) is not None
    assert not space.doctor()


def test_walker_feels_nothing_of_changes_elsewhere_in_the_ground(load: Load, space: Any) -> None:
    level = load(tiles("1" * 40 + " " + "1" * 40), tile=EARTH)
    level.create()
    hero, character = create_hero(30, 28)
    wait(5)
    character.walk = 1
    xs = []

    for n in range(10):
        level.set_cell(39 - n, n % 2)  # out of the box on which it walks
        wait(1)
        assert place(hero).y == 28
        assert space.is_on(hero) is not None
        xs.append(place(hero).x)
    character.jump = True
    level.set_cell(0, 0)
    wait(1)

    assert [round(b - a, 9) for a, b in pairwise(xs)] == [1.0] * 9
    assert place(hero).y > 28


# -- a bomb that clears a circle --


def test_bomb_opens_a_crater_and_what_lay_there_falls_into_it(load: Load, space: Any) -> None:
    level = load(tiles(("1" * 20 + " ") * 12), tile=EARTH)
    level.create()
    crates = [
        esper.create_entity(
            ec.Position(65 + 10 * (n % 7), 124 + 8 * (n // 7)), ec.Extents(4, 4),
            ec.Velocity(0, 0), ec.Slide(),
        )
        for n in range(14)
    ]  # fmt: skip
    wait(40)  # they sleep
    assert [place(crate).y for crate in crates] == [124.0] * 7 + [132.0] * 7

    column, row = level.to_cell(95, 115)
    level.set_cells(
        (column + x, row + y)
        for x in range(-4, 5) for y in range(-4, 5) if x * x + y * y <= 16
    )  # fmt: skip
    wait(120)

    assert all(place(crate).y < 124 for crate in crates)
    for crate in crates:  # none lies in a tile
        x, y = place(crate).xy
        assert level.tile_at((x, y)) is None
    assert not space.doctor()
    assert all(space.is_on(crate) is not None for crate in crates)


# -- a door of tiles that closes on a player --


def test_door_that_closes_pushes_out_who_may_be_pushed(load: Load, space: Any) -> None:
    #
    #   1 1 1 1 1 1
    #   . . D . . .      the door falls tile by tile, onto the hero
    #   . . D h . .
    #   1 1 1 1 1 1
    #
    level = load(tiles("111111 ...... ...... 111111"), tile=EARTH)
    level.create()
    hero, character = create_hero(29, 18, ec.PushOut())
    wait(5)
    assert place(hero).xy == (29, 18)

    for row in (1, 2):
        level.set_cell(2, row, 2)
        wait(30)

    assert place(hero).x == 33  # beside the door, which ends at 30
    character.walk = -1
    wait(30)
    assert place(hero).x == 33
    assert not space.doctor()


def test_door_waits_for_the_player_who_stands_in_it(load: Load, space: Any) -> None:
    level = load(tiles("111111 ...... ...... 111111"), tile=EARTH)
    level.create()
    _, character = create_hero(25, 18)
    shut = []

    def is_free(column: int, row: int) -> bool:
        left, top = level.to_world(10 * column, 10 * row)
        found = space.query((left + 0.1, top - 9.9), (left + 9.9, top - 0.1), filter=Character)
        return not found

    for step in range(120):
        wait(1)
        if step == 30:
            character.walk = 1
        for row in (1, 2):
            if row not in shut and is_free(2, row):
                level.set_cell(2, row, 2)
                shut.append(row)
                assert step > 30

    assert shut == [1, 2]
    assert [each.cause for each in space.doctor()] == ["below_all"]  # the player has walked off


# -- a ball that breaks bricks --


def test_ball_breaks_the_brick_that_it_hits_and_no_other(load: Load, space: Any) -> None:
    space.gravity = (0, 0)
    level = load(tiles("111111 111111 ...... ......"), tile=EARTH)
    level.create()
    ball = esper.create_entity(
        ec.Position(35, 5), ec.Extents(1, 1), ec.Velocity(0, 600), ec.Deflect(1.0)
    )
    broken = []

    def strike(event: ec.Collision) -> None:
        tile = level.tile_at(event.point)
        broken.append((tile.column, tile.row))
        level.set_cell(tile.column, tile.row)

    space.on_collision(strike, ec.Deflect)
    wait(4)

    assert broken == [(3, 1)]
    assert esper.component_for_entity(ball, ec.Velocity).xy == (0, -600)
    esper.component_for_entity(ball, ec.Velocity).y = 600
    wait(4)
    assert broken == [(3, 1), (3, 0)]
