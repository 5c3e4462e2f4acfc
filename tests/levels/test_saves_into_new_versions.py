"""Saved games that are loaded with a newer file of their level: no wall is missing or doubled."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide import levels
from ecs_collide.levels.level import Level
from ecs_collide.levels.things import SolidBox
from tests.levels.test_tiled_bodies import Load, load, objects, thing, tiles
from tests.scenes import another_world

__all__ = ["load"]  # the fixture

SIDE = 7  # cells
SOLID = {"solid": True}
Rows = list[list[str]]


class Coin: ...


def level_of(rows: Rows) -> Level:
    kinds = {"#": {"solid": True}, "=": {"one_way": True}, "c": "coin"}
    return levels.from_grid(["".join(row) for row in rows], 10, kinds, key="cave")


def walls() -> Counter[tuple[float, float, bool]]:
    """Return the cells that boxes of tiles cover, and whether they are one-way, with counts."""
    found: Counter[tuple[float, float, bool]] = Counter()
    for entity, (at, half, _) in esper.get_components(ec.Position, ec.Extents, ec.Fixed):
        if esper.entity_exists(entity):
            one_way = esper.has_component(entity, ec.OneWay)
            for x in range(round(at.x - half.x), round(at.x + half.x), 10):
                for y in range(round(at.y - half.y), round(at.y + half.y), 10):
                    found[x, y, one_way] += 1
    return found


def expected(rows: Rows) -> Counter[tuple[float, float, bool]]:
    """Return the same for the cells of a map."""
    return Counter(
        (10.0 * column, 10.0 * (SIDE - 1 - row), symbol == "=")
        for row, line in enumerate(rows)
        for column, symbol in enumerate(line)
        if symbol in "#="
    )


@pytest.mark.parametrize("seed", range(12))
def test_walls_are_those_of_the_new_file_with_the_changed_cells(world: str, seed: int) -> None:
    rng = random.Random(seed)
    old = [rng.choices("..#=", k=SIDE) for _ in range(SIDE)]
    new = [list(row) for row in old]
    for _ in range(rng.randrange(1, 12)):  # walls that came, went or became platforms
        new[rng.randrange(SIDE)][rng.randrange(SIDE)] = rng.choice(".#=")
    is_streamed = seed % 3 == 0

    space = ec.install()
    level = level_of(old)
    if is_streamed:
        level.stream((-10, -10), (10 * SIDE, 10 * SIDE), chunk=3, at_most=99)
    else:
        level.create()
    for _ in range(rng.randrange(6)):
        column, row, symbol = rng.randrange(SIDE), rng.randrange(SIDE), rng.choice(".#=")
        level.set_cell(column, row, 0 if symbol == "." else symbol)
        if symbol != old[row][column]:
            new[row][column] = symbol
    player = esper.create_entity(ec.Position(500, 500), ec.Extents(1, 1))
    esper.process(1 / 60)
    saved = space.snapshot()

    with another_world("new version"):
        space = ec.install()
        level = level_of(new)
        space.restore(saved)
        level.resume()
        esper.process(1 / 60)

        assert walls() == expected(new)
        assert esper.entity_exists(player)
        again = space.snapshot()
        level.resume()  # the save is of this version now
        assert space.snapshot() == again


def coin(number: int, x: float) -> dict[str, Any]:
    """Return a coin of 10 x 10 at the upper border of the map."""
    return thing(number, type="coin", x=x)


def test_objects_are_those_of_the_save(load: Load, world: str) -> None:
    table = {"coin": (ec.Sensor, Coin)}
    space = ec.install()
    old = load(tiles("1... .... 1111"), objects(coin(1, 10), coin(2, 20)), tile={1: SOLID})
    first, second = (made for _, made in old.create(table)[-2:])
    esper.delete_entity(first)  # collected
    esper.process(1 / 60)
    saved = space.snapshot()

    with another_world("new version"):
        space = ec.install()
        new = load(tiles("..11 .... 1111"), objects(coin(1, 10), coin(3, 0)), tile={1: SOLID})
        space.snapshot_with(Coin)
        space.restore(saved)
        new.resume(table)
        esper.process(1 / 60)

        assert [entity for entity, _ in esper.get_component(Coin)] == [second]
        assert space.position_of(second) == (25, 25)
        floor = [(10 * column, 0, False) for column in range(4)]
        assert walls() == Counter([*floor, (20, 20, False), (30, 20, False)])


def test_walls_stay_as_saved_if_the_table_fails_for_the_new_file(world: str) -> None:
    #
    #   chunks of 3 cells:   ### ### #        the second one fails: ### ### .
    #
    level = level_of([[*"#######"]])
    level.stream((0, 0), (70, 10), {"#": Coin}, chunk=3, at_most=9)
    space = ec.install()
    saved = space.snapshot()
    hash_ = space.state_hash()

    def fail(box: SolidBox) -> Coin:
        if box.centre[0] > 30:
            raise OSError("no picture")
        return Coin()

    with another_world("new version"):
        space = ec.install()
        space.snapshot_with(Coin)
        level = level_of([[*"######."]])
        space.restore(saved)
        with pytest.raises(OSError, match="no picture"):
            level.resume({"#": fail})

        assert space.state_hash() == hash_
        level.resume({"#": Coin})
        esper.process(1 / 60)
        assert [x for x, _, _ in sorted(walls())] == [0, 10, 20, 30, 40, 50]
