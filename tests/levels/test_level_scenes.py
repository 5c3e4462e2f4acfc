"""Games whose levels come, go and repeat, played by the public API only."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import inf
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide import levels, testing
from ecs_collide.character import Character
from ecs_collide.levels.level import Level
from ecs_collide.path import Path
from ecs_collide.testing.sim import Inputs
from tests.volume import Volume

DT = 1 / 60


class Hero: ...


class Door: ...


class Plate: ...


class Crate: ...


class Earth: ...


KINDS: dict[Any, Any] = {
    "#": {"solid": True}, "e": {"solid": True}, "=": {"one_way": True}, "d": "door", "p": "plate",
    "c": "crate",
}  # fmt: skip
TABLE: dict[str, Any] = {
    "door": (ec.Sensor, Door),
    "plate": (ec.Sensor, Plate),
    "crate": lambda thing: (ec.Extents(4, 4), ec.Velocity(0, 0), ec.Slide(), Crate()),
    "e": Earth,
}


def make(rows: list[str], **more: Any) -> Level:
    return levels.from_grid(rows, 10, KINDS, **more)


def place(entity: int) -> tuple[float, float]:
    x, y = esper.component_for_entity(entity, ec.Position).xy
    return x, y


def hero(x: float, y: float, **abilities: Any) -> tuple[int, Character]:
    keys = Character(walk_speed=60, acceleration=inf, deceleration=inf, **abilities)
    body = ec.Position(x, y), ec.Extents(3, 8), ec.Velocity(0, 0), ec.Slide()
    return esper.create_entity(*body, keys, Hero()), keys


# -- rooms that change under a hero who stands in the door and carries a crate --


def test_hero_carries_a_crate_on_a_lift_through_rooms_that_replace_each_other(world: str) -> None:
    #
    #   # c           the hero rides on a lift of the game, with a crate on its head, over plates
    #   # h . p d     and through doors; each room begins where the one before it ends
    #   # - # # #
    #
    rooms = [make([".......", ".....pd", "......."]), make([".......", ".p....d", "#######"])]
    space = ec.install(gravity=(0, -900))
    lift = esper.create_entity(
        ec.Position(25, 12), ec.Extents(8, 2), ec.Velocity(0, 0), ec.Carry(),
        Path([(25, 12), (400, 12)], 60.0),
    )  # fmt: skip
    me, _ = hero(25, 22)
    esper.add_component(me, ec.Carry())
    crate = esper.create_entity(
        ec.Position(25, 34), ec.Extents(3, 4), ec.Velocity(0, 0), ec.Slide(), Crate()
    )
    began: list[int] = []
    ended: list[int] = []
    n_rooms = 1

    def leave(event: ec.ContactBegan) -> None:
        nonlocal n_rooms
        assert esper.entity_exists(event.second)
        rooms[n_rooms % 2].at((70 * n_rooms, 0)).create(TABLE)
        rooms[(n_rooms - 1) % 2].at((70 * (n_rooms - 1), 0)).unload()
        n_rooms += 1

    space.on_contact_began(leave, Hero, Door)
    space.on_contact_began(lambda event: began.append(event.second), Hero, Plate)
    space.on_contact_ended(lambda event: ended.append(event.second), Hero, Plate)
    rooms[0].create(TABLE, offset=(0, 0))
    for _ in range(360):
        esper.process(DT)
        x, y = place(me)
        assert (x, y) == (place(lift)[0], 22)
        assert place(crate) == (x, 34)

    assert n_rooms == 6
    assert not space.doctor()
    rooms[1].at((350, 0)).unload()
    esper.process(DT)
    assert set(space.entities) == {lift, me, crate}
    assert len(began) == 6
    assert ended == began


# -- digging under regions that stream, with saves --


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("y_down", [False, True])
def test_nothing_falls_or_sticks_while_a_level_streams_is_dug_and_restored(
    world: str, volume: Volume, seed: int, y_down: bool
) -> None:
    rng = random.Random(seed)
    rows = ["." * 60] * 3 + ["".join(rng.choice("eeeeee.#") for _ in range(60)) for _ in range(9)]
    rows[4] = rows[4][:20] + "." * 9 + rows[4][29:]
    level = make([*rows, "#" * 60], y_down=y_down, key="mine")
    sign = -1 if y_down else 1
    space = ec.install(gravity=(0, -900 * sign))
    crates = [
        esper.create_entity(
            ec.Position(x, 15 if y_down else 115), ec.Extents(3, 3), ec.Velocity(0, 0), ec.Slide()
        )
        for x in range(15, 600, 40)
    ]
    saved: list[tuple[Any, list[list[int]]]] = []
    views = [0.0, 400.0]

    def numbers() -> list[list[int]]:
        found = []
        for row in range(13):
            points = (level.to_world(10 * column + 5, 10 * row + 5) for column in range(60))
            found.append([tile.number if (tile := level.tile_at(at)) else 0 for at in points])
        return found

    for step in range(volume(60, 160, 800)):
        what = rng.random()
        if what < 0.3:
            x = rng.choice(views) + rng.randrange(150)
            column, row = level.to_cell(x, rng.randrange(10, 100))
            level.set_cell(column, min(max(row, 0), 11), rng.choice(["e", "#", 0]))
        elif what < 0.35:
            saved.append((rng.choice([space.snapshot, space.save_state])(), numbers()))
        elif what < 0.4 and saved:
            data, expected = rng.choice(saved)
            space.restore(data)
            assert numbers() == expected
        elif what < 0.42:
            level.unload(keep_changes=True)
        views[0] = min(max(views[0] + rng.choice([-20, 0, 20]), 0), 400)
        views[1] = min(max(views[1] + rng.choice([-40, 0, 40]), 0), 400)
        regions = [((x - 20, -inf), (x + 170, inf)) for x in views]
        level.stream(regions=regions, chunk=4, at_most=rng.choice([1, 3, 99]))
        esper.process(DT)
        for crate in crates:
            x, y = place(crate)
            assert (y if not y_down else 130 - y) - 13 >= -1, (step, crate, y)
    while level.stream((-inf, -inf), (inf, inf), chunk=4, at_most=50):
        pass
    esper.process(DT)
    full = space.occupancy(((0, 0), (600, 130)), 10, half=(1, 1), exclude=crates)
    cells = numbers()
    for column in range(60):
        for row in range(13):
            y = row if y_down else 12 - row
            assert bool(full[column, y]) == bool(cells[row][column]), (column, row)
    assert not any(esper.has_component(crate, ec.Disabled) for crate in crates)


# -- one arena twice in a world, for two players over a network --


@dataclass
class Score:
    dug: int = 0


class Arenas:
    def __init__(self) -> None:
        arena = make(["#......#", "#..c...#", "#eeeeee#", "#eeeeee#", "########"], key="arena")
        self.inputs = Inputs()
        self.arenas = [arena, arena.at((80, 0))]
        for each in self.arenas:
            each.create(TABLE)
        self.players = [hero(80 * n + 25, 40) for n in range(2)]
        self.scores = [Score(), Score()]
        for (entity, _), score in zip(self.players, self.scores, strict=True):
            esper.add_component(entity, score)
        self.space = ec.install(gravity=(0, -900))

    def step(self) -> None:
        keys = self.inputs
        for n, (entity, character) in enumerate(self.players):
            character.walk = float(keys.right) - float(keys.left)
            if n == 1:
                character.walk *= -1
            x, y = place(entity)
            arena = self.arenas[n]
            tile = arena.tile_at((x, y - 9))
            if keys.dig and tile is not None and tile.type == "e":
                arena.set_cell(tile.column, tile.row)
                self.scores[n].dug += 1
            if keys.reset and n == 1:
                arena.unload()
                arena.create(TABLE)
                self.space.teleport(entity, (105, 40))
        esper.process(DT)


def test_two_copies_of_an_arena_are_safe_for_rollback_and_repeats() -> None:
    script = [("right", 8), ("dig", 9), ("reset", 1), ("dig", 9)]

    testing.assert_rollback_safe(Arenas, script, distance=3)
    testing.assert_repeats(Arenas, script, variants=("again",))


def test_copies_of_an_arena_are_dug_each_for_itself(sim: testing.Sim) -> None:
    game = sim.build(Arenas)
    sim.play([("", 20), ("right", 10), ("dig", 12)])
    cells = [(x, y) for x in range(1, 7) for y in (2, 3)]
    holes = [
        [at for at in cells if not arena.tile_at(arena.to_world(10 * at[0] + 5, 10 * at[1] + 5))]
        for arena in game.arenas
    ]

    assert [score.dug for score in game.scores] == [len(each) for each in holes]
    assert holes == [[], [(1, 2), (1, 3)]]  # the left hero has climbed the crate
    assert not sim.space.doctor()
