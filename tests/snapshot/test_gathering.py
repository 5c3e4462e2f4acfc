"""The components that a snapshot collects from the log of a world, beside a pass over all."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from ecs_collide.esper_world import World
from ecs_collide.snapshot.capture import SnapshotSchema
from tests.scenes import box
from tests.test_world_log import do_anything


@dataclass
class Ammo:
    """A component of the game."""

    n: int = 0


def contents(schema: SnapshotSchema, world: World) -> tuple[Any, ...]:
    found = schema.inspect(world)
    held = {
        records.type: (found.holders(n).tolist(), [*map(id, records.items)])
        for n, records in enumerate(schema._records)
        if records.items
    }
    return held, found.sizes, found.dead, found.ids.tolist(), found.others.tolist()


def do_more(rng: random.Random, n: int) -> None:
    """Change a world, also by entities without components and by types that come later."""
    act = rng.random()
    if act < 0.1:
        empty = [entity for entity, its in esper._entities.items() if not its]
        if empty and esper.entity_exists(empty[0]):
            esper.delete_entity(empty[0], immediate=True)
        esper.create_entity()
    elif act < 0.2:
        esper.create_entity(Ammo(n))
    elif act < 0.25 and n > 50:
        esper.add_component(rng.choice([*esper._entities, esper.create_entity()]), ec.Mass(n))
    else:
        do_anything(rng, n)


@pytest.mark.parametrize("seed", range(3))
def test_the_log_tells_what_a_pass_over_all_entities_finds(kernels, world, volume, seed):
    rng, schema, here = random.Random(seed), SnapshotSchema(), World(())

    for n in range(volume(300, 2000)):
        do_more(rng, n)
        if rng.random() < 0.3:
            assert contents(schema, here) == contents(SnapshotSchema(), here)


def test_a_snapshot_collects_what_has_changed(kernels, world, monkeypatch):
    def spy(*arguments: Any) -> Any:
        full.append(arguments)
        return gather(*arguments)

    full: list[Any] = []
    gather = backend.kernels.records.gather_components
    monkeypatch.setattr(backend.kernels.records, "gather_components", spy)
    for k in range(200):
        box((20 * k, 900), (10, 10), ec.Fixed())
    body = box((0, 0), (5, 5), ec.Velocity(1, 0), Ammo(3))
    space = ec.install()
    esper.process(1 / 60)
    space.snapshot()
    full.clear()

    for k in range(9):
        esper.create_entity(Ammo(k))
        esper.add_component(body, ec.Velocity(k, 0))
        shot = box((0, -900), (2, 2), ec.Velocity(0, -60))
        esper.process(1 / 60)
        state = space.save_state()
        esper.delete_entity(shot, immediate=True)
        space.restore(state)
        assert esper.entity_exists(shot)

    assert full == []
    esper.create_entity()  # no set of esper's tells of it
    space.snapshot()
    assert len(full) == 1


def test_what_is_no_body_is_no_news_to_the_steps_of_a_game_with_snapshots(kernels, world):
    body = box((0, 0), (5, 5), ec.Velocity(1, 0))
    space = ec.install()
    esper.process(1 / 60)
    space.snapshot()
    esper.create_entity(Ammo(1))
    space.snapshot()  # asks for `Ammo`, too
    index = space._registry.index

    for change in (
        lambda: esper.create_entity(Ammo(2)),
        lambda: esper.add_component(body, Ammo(3)),
        lambda: esper.remove_component(body, Ammo),
    ):
        change()
        assert index.is_current(space.world)
        assert space.snapshot() != b""
    esper.add_component(body, ec.Velocity(2, 0))
    assert not index.is_current(space.world)
