"""The game changes bodies between two steps: what runs before the step takes them as they are."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, Ladder
from ecs_collide.path import Path
from ecs_collide.zone import Zone
from tests.scenes import of, position, velocity
from tests.system.test_wrong_numbers import Level

pytestmark = pytest.mark.usefixtures("world")

ADDED: tuple[Callable[[], object], ...] = (
    *(ec.Disabled, ec.Sensor, ec.Fixed, ec.OneWay, ec.Carry, ec.Stop, Zone, Ladder, Character),
    *(lambda: ec.Mass(math.inf), lambda: ec.Velocity(1, 0), lambda: ec.Position(5, 500)),
    *(lambda: ec.Extents(2, 2), lambda: ec.Slope("right"), lambda: ec.Attached(1, (0, 50))),
    lambda: Path([(0, 0), (9, 9)], 5),
)


def deeds(entity: int) -> Iterator[Callable[[], object]]:
    """Yield what a game may do to an entity."""
    for component in esper.components_for_entity(entity):
        kind = type(component)
        yield lambda kind=kind: esper.remove_component(entity, kind)
    for make in ADDED:
        yield lambda make=make: esper.add_component(entity, make())
    yield lambda: esper.delete_entity(entity)
    yield lambda: esper.delete_entity(entity, immediate=True)


WISHES = ("walk", "jump", "dash", "crouch", "climb", "drop")
ROLES = ("hero", "rider", "swimmer", "lift", "guard", "zone", "crate", "ladder", "floor")


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("role", ROLES)
def test_any_change_of_a_body_leaves_steps_that_work(role, dim, volume):
    name = esper.current_world
    start = ROLES.index(role) + dim
    for n in range(start % 5, 40, volume(5, 1)):
        esper.switch_world(f"{name}, {n}")
        level = Level(dim)
        for keys in (of(entity, Character) for entity in (level.hero, level.rider, level.swimmer)):
            setattr(keys, WISHES[n % len(WISHES)], 1.0)
        level.play(3)
        changes = list(deeds(getattr(level, role)))
        if n >= len(changes):
            break

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            changes[n]()
            level.play(3)

            level.space.check()
            level.space.doctor()
            assert len(level.space.snapshot()) > 0


def test_body_that_loses_its_velocity_in_a_zone_stays_there():
    level = Level()

    esper.remove_component(level.crate, ec.Velocity)
    level.play(2)
    before = position(level.crate)
    level.play(2)

    assert position(level.crate) == before


@pytest.mark.parametrize("kind", [ec.Disabled, ec.Sensor])
def test_zone_leaves_a_body_alone_that_the_game_has_just_switched_off(kind):
    level = Level()
    of(level.zone, Zone).flow_x = 500.0
    before = velocity(level.crate)

    esper.add_component(level.crate, kind())
    level.play()

    assert velocity(level.crate)[0] == before[0]


def test_body_whose_position_is_replaced_goes_back_to_its_path():
    level = Level()

    esper.add_component(level.guard, ec.Position(300, 15))
    level.play(60)

    assert position(level.guard)[1] == 5.0


def test_character_on_a_lift_that_is_deleted_falls():
    level = Level()

    esper.delete_entity(level.lift)
    level.play(4)

    assert of(level.rider, Character).ground is None
    assert velocity(level.rider)[1] < 0.0
