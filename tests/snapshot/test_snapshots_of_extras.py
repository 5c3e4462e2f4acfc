"""Snapshots of the library's component types that the core does not import."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, Ladder
from ecs_collide.character.changes import Changes
from ecs_collide.levels.changes import Cells
from ecs_collide.path import Path
from ecs_collide.snapshot.own_types import EXTRAS
from ecs_collide.zone import Zone
from tests.scenes import box, mover
from tests.snapshot.test_snapshots import everything

pytestmark = pytest.mark.usefixtures("world", "implementation")

Elsewhere = Callable[..., ec.Space]

MAKERS: dict[str, Callable[[], Any]] = {
    "Cells": lambda: Cells("cellar"),
    "Changes": lambda: Changes(6, 20.0),
    "Character": lambda: Character(walk_speed=9.0),
    "Ladder": Ladder,
    "Path": lambda: Path([(0, 0), (9, 9)], 5.0, pause=0.5),
    "Random": lambda: ec.Random(7),
    "Zone": lambda: Zone(buoyancy=1.5, flow_x=-3),
}


def content(component: Any) -> object:
    """Return all that a component is."""
    return component.to_bytes() if hasattr(component, "to_bytes") else repr(component)[:15]


@pytest.mark.parametrize("name", MAKERS)
def test_each_type_of_the_library_loads_where_nothing_but_a_space_is_installed(
    name: str, elsewhere: Elsewhere
) -> None:
    component = MAKERS[name]()
    entity = esper.create_entity(ec.Position(0, 0), component)
    data = ec.install().snapshot()

    other = elsewhere()
    other.restore(data)

    assert content(esper.component_for_entity(entity, type(component))) == content(component)
    assert other.snapshot() == data


def test_game_with_all_extras_goes_on_in_a_space_that_has_not_seen_them(
    elsewhere: Elsewhere,
) -> None:
    def run(space: ec.Space) -> bytes:
        for _ in range(30):
            esper.process(1 / 60)
        return space.state_hash()

    box((0, -8), (500, 8))
    box((60, 40), (4, 40), ec.Sensor(), Ladder())
    box((-60, 40), (30, 40), ec.Sensor(), Zone(buoyancy=1.5, drag=2.0))
    mover((0, 60), (9, 2), (0, 0), ec.Carry(), Path([(0, 60), (90, 60)], 50.0))
    hero = Character(climb_speed=50.0, swim_speed=50.0)
    mover((10, 16), (6, 16), (0, 0), ec.Slide(), hero)
    mover((-60, 30), (5, 5), (0, 0), ec.Slide())
    space = ec.install(gravity=(0, -900))
    hero.walk = 1.0
    run(space)
    data, after = space.snapshot(), run(space)

    other = elsewhere()
    other.restore(data)

    assert run(other) == after


LOADER = """
import sys
import esper
import ecs_collide as ec

space = ec.install()
before = set(sys.modules)
space.restore(open(sys.argv[1], "rb").read())
entities = map(esper.components_for_entity, esper.get_entities())
print(*sorted({type(part).__name__ for parts in entities for part in parts}))
assert "ecs_collide.levels.tiled" not in sys.modules
assert "pyglet" not in sys.modules
"""


def test_new_process_loads_all_types_of_the_library(tmp_path: File) -> None:
    for make in MAKERS.values():
        esper.create_entity(ec.Position(0, 0), make())
    (tmp_path / "save").write_bytes(ec.install().snapshot())

    run = [sys.executable, "-c", LOADER, str(tmp_path / "save")]
    said = subprocess.run(run, capture_output=True, text=True, check=False)

    assert said.stdout.split() == sorted([*MAKERS, "Position"]), said.stderr


# An empty class is found only by the name that the game has given.
@pytest.mark.parametrize(
    ("name", "is_told_first"),
    [*((name, False) for name in MAKERS), *((name, True) for name in MAKERS if name != "Ladder")],
)
def test_game_that_names_a_type_of_the_library_reads_the_saves_of_one_that_does_not(
    name: str, is_told_first: bool, elsewhere: Elsewhere
) -> None:
    component = MAKERS[name]()
    kind: Any = type(component)
    functions = (kind.to_bytes, kind.from_bytes) if hasattr(kind, "to_bytes") else ()
    entity = esper.create_entity(ec.Position(0, 0), component)
    first = ec.install()
    if is_told_first:
        first.snapshot_with(kind, *functions)
    data = first.snapshot()
    other = elsewhere()
    if not is_told_first:
        other.snapshot_with(kind, *functions)

    other.restore(data)

    assert content(esper.component_for_entity(entity, kind)) == content(component)


def own(name: str, **fields: type) -> Any:
    """Return a dataclass of the game with the name of a class of the library."""
    return dataclass(type(name, (), {"__annotations__": fields}))


@pytest.mark.parametrize("name", sorted({*MAKERS} - {"Random"}))
def test_type_of_the_game_has_the_name_of_one_of_the_library_beside_it(
    name: str, elsewhere: Elsewhere
) -> None:
    theirs = own(name, size=int)
    component = MAKERS[name]()
    entity = esper.create_entity(ec.Position(0, 0), component, theirs(3))
    data = ec.install().snapshot()

    other = elsewhere()
    other.snapshot_with(theirs)
    other.restore(data)

    assert esper.component_for_entity(entity, theirs) == theirs(3)
    assert content(esper.component_for_entity(entity, type(component))) == content(component)


@pytest.mark.parametrize("name", MAKERS)
def test_type_of_the_game_is_not_taken_for_that_of_the_library(
    name: str, elsewhere: Elsewhere
) -> None:
    esper.create_entity(own(name, size=int)(3))
    esper.create_entity(ec.Position(0, 0), type(name, (), {})())
    space = ec.install()
    space.snapshot_with(type(esper.components_for_entity(2)[1]), name=f"{name} 2")
    data = space.snapshot()
    other = elsewhere()

    with pytest.raises(ValueError, match=f"the snapshot holds {name}"):
        other.restore(data)
    assert everything() == {}


def test_mark_of_the_game_is_not_taken_for_a_ladder_of_the_library(elsewhere: Elsewhere) -> None:
    esper.create_entity(ec.Position(0, 0), type("Ladder", (), {})())
    data = ec.install().snapshot()
    other = elsewhere()

    with pytest.raises(ValueError, match="holds Ladder components of the game"):
        other.restore(data)


def test_snapshot_names_only_types_of_the_library_that_entities_have() -> None:
    space = ec.install()
    before = space.snapshot()
    entity = esper.create_entity(Character(), Path([(0, 0)], 0.0))
    space.snapshot()
    esper.delete_entity(entity, immediate=True)
    esper.create_entity(ec.Position(1, 2))

    assert b"Character" not in space.snapshot()
    space.restore(before)
    assert space.snapshot() == before


def test_component_of_the_library_that_came_since_goes_again() -> None:
    entity = esper.create_entity(ec.Position(0, 0))
    space = ec.install()
    before = space.snapshot()
    esper.add_component(entity, Character())
    esper.create_entity(Path([(0, 0)], 0.0))

    space.restore(before)

    assert not esper.get_component(Character)
    assert not esper.get_component(Path)
    assert list(esper.get_entities()) == [entity]


def test_type_of_the_library_may_be_left_out(elsewhere: Elsewhere) -> None:
    esper.create_entity(ec.Position(0, 0), Zone(gravity=0.5))
    data = ec.install().snapshot()
    other = elsewhere()
    other.snapshot_without(Zone)

    other.restore(data)

    assert not esper.get_component(Zone)
    assert len(esper.get_component(ec.Position)) == 1


def test_error_of_a_save_names_the_entity_and_the_field() -> None:
    hero = Character()
    entity = esper.create_entity(ec.Position(0, 0), hero)
    lift = esper.create_entity(Path([(0, 0)], 1.0))
    space = ec.install()
    hero.walk = "left"  # type: ignore[assignment]
    with pytest.raises(TypeError, match=r"Character\(walk='left'\) must be a number") as raised:
        space.snapshot()
    assert raised.value.__notes__ == [f"while saving the ecs_collide.Character of entity {entity}"]
    hero.walk = 0.0
    esper.component_for_entity(lift, Path).speed = None  # type: ignore[assignment]

    with pytest.raises(TypeError, match=r"Path\(speed=None\) must be a number") as raised:
        space.snapshot()
    assert raised.value.__notes__ == [f"while saving the ecs_collide.Path of entity {lift}"]


def test_table_of_the_extras_names_every_component_type_with_bytes() -> None:
    found = set()
    for package in ("character", "levels", "path", "zone"):
        for module in pkgutil.iter_modules([str(File(ec.__file__).parent / package)]):
            try:
                there = importlib.import_module(f"ecs_collide.{package}.{module.name}")
            except ImportError:  # a package that levels need is missing
                continue
            kinds = [kind for kind in vars(there).values() if isinstance(kind, type)]
            found |= {kind for kind in kinds if hasattr(kind, "set_bytes")}

    assert found == {Cells, Character, Path}
    for name, module in EXTRAS.items():
        kind = getattr(importlib.import_module(module), name.rpartition(".")[2])
        assert kind.__module__ == module
