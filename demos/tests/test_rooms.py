"""The dungeon: doors need their keys, arrows knock back, and the bot finds the chest."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from demos.rooms import dungeon
from demos.rooms import game as rooms
from demos.rooms.dungeon import Arrow, Crate, Door, Key, Slime, Trap


def put(scene: rooms.Rooms, entity: int, column: float, row: float) -> None:
    esper.component_for_entity(entity, ec.Position).set(*dungeon.place(column, row))


def without(*kinds: type) -> rooms.Rooms:
    """Build the dungeon without some things."""
    scene = rooms.build()
    for kind in kinds:
        for entity, _ in esper.get_component(kind):
            esper.delete_entity(entity, immediate=True)
    return scene


def run(scene: rooms.Rooms, n_steps: int) -> None:
    for _ in range(n_steps):
        scene.step()


def test_door_opens_with_its_key_alone(world: str) -> None:
    scene = without(Trap, Slime)
    put(scene, scene.hero, 7, 5)
    scene.keys.right = True

    run(scene, 40)
    assert scene.place(scene.hero)[0] < dungeon.place(8, 5)[0]
    scene.keys_held.append("b")
    run(scene, 5)
    assert scene.n_opened == 0
    scene.keys_held.append("y")
    run(scene, 40)

    assert scene.n_opened == 1
    assert scene.place(scene.hero)[0] > dungeon.place(8.5, 5)[0]
    assert [door.needs for _, door in esper.get_component(Door)] == ["b"]


def test_key_is_taken_once(world: str) -> None:
    scene = without(Trap, Slime)
    put(scene, scene.hero, 5, 2)
    scene.keys.left = True

    run(scene, 40)

    assert scene.keys_held == ["y"]
    assert [key.opens for _, key in esper.get_component(Key)] == ["b"]


@pytest.mark.parametrize("way", [-1, 1])
def test_arrow_knocks_the_hero_back_along_its_flight(world: str, way: int) -> None:
    scene = without(Trap, Slime, Crate)
    put(scene, scene.hero, 12, 5)
    esper.process(0.0)
    before, y = scene.place(scene.hero)

    scene.arrow(before - way * 90, y, way)
    run(scene, 40)

    assert (scene.place(scene.hero)[0] - before) * way > 20
    assert scene.wounds == 1
    assert esper.get_component(Arrow) == []


def test_arrow_knocks_a_crate_away_and_the_crate_comes_to_rest(world: str) -> None:
    scene = without(Trap, Slime)
    crate = next(entity for entity, _ in esper.get_component(Crate))
    put(scene, crate, 10, 5)
    put(scene, scene.hero, 1, 10)
    esper.process(0.0)
    before, y = scene.place(crate)

    scene.arrow(before - 40, y, 1)
    run(scene, 120)

    assert scene.place(crate)[0] - before > 25
    assert abs(esper.component_for_entity(crate, ec.Velocity).x) < 1.0


def test_bot_finds_the_chest(world: str) -> None:
    scene = rooms.build()
    scene.keys.bot = True

    for _ in range(900):
        scene.step()
        if scene.rounds:
            break

    assert scene.rounds == 1
    assert scene.n_opened == 2
    assert all(holds for _, holds in scene.claims())


def test_body_in_a_wall_breaks_the_claim(world: str) -> None:
    scene = without(Trap, Slime)
    crate = next(entity for entity, _ in esper.get_component(Crate))
    put(scene, crate, 0, 0)

    scene.step()

    assert [holds for _, holds in scene.claims()] == [False, True]
