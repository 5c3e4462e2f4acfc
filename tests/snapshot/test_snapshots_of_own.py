"""Snapshots of custom components: saving, loading, changing in place."""

from __future__ import annotations

from dataclasses import dataclass

import esper
import pytest

import ecs_collide as ec
from tests.scenes import position
from tests.snapshot.test_snapshots import Tag, everything, resting

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Thinks:
    """A custom component with a method, which may set anything."""

    def think(self):
        self.plan = "wait"


class Health:
    """A custom component."""

    def __init__(self, points):
        self.points = points


def save_health(health):
    return health.points.to_bytes(4, "little")


def load_health(data):
    return Health(int.from_bytes(data, "little"))


def remember_health(space, **how):
    space.snapshot_with(Health, save_health, load_health, **how)


def test_own_components_come_back(elsewhere):
    crate, floor, space = resting()
    remember_health(space)
    space.snapshot_with(Tag, save=lambda tag: b"", load=lambda data: Tag())
    esper.add_component(crate, Health(70))
    esper.add_component(floor, Tag())
    lone = esper.create_entity(Health(1))
    data = space.snapshot()

    other = elsewhere()
    other.snapshot_with(Tag, save=lambda tag: b"", load=lambda data: Tag())  # in another order
    remember_health(other)
    for _ in range(2):  # the second time they are all there
        other.restore(data)

    assert esper.component_for_entity(crate, Health).points == 70
    assert esper.component_for_entity(lone, Health).points == 1
    assert esper.has_component(floor, Tag)
    assert not esper.has_component(floor, Health)


def test_an_own_component_that_is_the_same_is_left_alone():
    crate, floor, space = resting()
    remember_health(space)
    same, other = Health(5), Health(6)
    esper.add_component(crate, same)
    esper.add_component(floor, other)
    data = space.snapshot()
    other.points = 7

    space.restore(data)

    assert esper.component_for_entity(crate, Health) is same
    assert esper.component_for_entity(floor, Health) is not other
    assert esper.component_for_entity(floor, Health).points == 6


def test_an_own_component_can_be_changed_in_place():
    crate, floor, space = resting()

    def update(health, data):
        health.points = int.from_bytes(data, "little")

    remember_health(space, update=update)
    held = Health(5)
    esper.add_component(crate, held)
    esper.add_component(floor, Health(8))
    data = space.snapshot()
    held.points = 0
    esper.remove_component(floor, Health)

    space.restore(data)

    assert esper.component_for_entity(crate, Health) is held
    assert held.points == 5
    assert esper.component_for_entity(floor, Health).points == 8


@pytest.mark.parametrize("fails", ["load", "update"])
def test_a_function_that_raises_leaves_the_world_untouched(fails):
    crate, floor, space = resting()

    def load(data):
        health = load_health(data)
        if health.points == floor:
            raise KeyError(f"for {floor}")
        return health

    def update(health, data):
        health.points = load(data).points

    space.snapshot_with(Health, save_health, load, update if fails == "update" else None)
    for entity in (crate, floor):
        esper.add_component(entity, Health(entity))
    data = space.snapshot()
    for entity in (crate, floor):
        esper.component_for_entity(entity, Health).points = 77
    esper.component_for_entity(crate, ec.Position).x = 9
    now = space.snapshot()

    with pytest.raises(KeyError, match=f"for {floor}") as raised:
        space.restore(data)

    assert f"Health of entity {floor}; nothing has been changed" in raised.value.__notes__[0]
    assert space.snapshot() == now
    space.check()


def test_save_must_give_bytes_and_load_a_component():
    crate, _, space = resting()
    esper.add_component(crate, Health(5))

    space.snapshot_with(Health, lambda health: health.points, load_health)
    with pytest.raises(TypeError, match=f"save gave 5 for the Health of entity {crate}"):
        space.snapshot()
    space.snapshot_with(Health, save_health, lambda data: None)
    data = space.snapshot()
    esper.remove_component(crate, Health)
    with pytest.raises(TypeError, match="load gave None, and must give a Health"):
        space.restore(data)


def test_own_components_that_nobody_can_load_are_refused(elsewhere):
    crate, _, space = resting()
    remember_health(space, name="hit points")
    esper.add_component(crate, Health(5))
    data = space.snapshot()

    other = elsewhere()

    with pytest.raises(ValueError, match="holds hit points components of the game"):
        other.restore(data)
    assert everything() == {}


def test_types_a_snapshot_does_not_know_are_left_alone():
    crate, _, space = resting()
    data = space.snapshot()
    remember_health(space)
    esper.add_component(crate, Health(5))
    lone = esper.create_entity(Health(6))
    esper.component_for_entity(crate, ec.Position).x = 9

    space.restore(data)

    assert esper.component_for_entity(crate, Health).points == 5
    assert esper.component_for_entity(lone, Health).points == 6
    assert position(crate) == (0, 1)


def test_what_snapshot_with_refuses():
    space = ec.install()
    remember_health(space)

    with pytest.raises(ValueError, match="hold Position components without being told"):
        space.snapshot_with(ec.Position, save_health, load_health)
    with pytest.raises(ValueError, match="name='Health'"):
        space.snapshot_with(Tag, save_health, load_health, name="Health")
    with pytest.raises(ValueError, match="name='Mass'"):
        space.snapshot_with(Tag, save_health, load_health, name="Mass")
    with pytest.raises(TypeError, match="component=3"):
        space.snapshot_with(3, save_health, load_health)
    with pytest.raises(TypeError, match="load=None"):
        space.snapshot_with(Tag, save_health, None)
    with pytest.raises(TypeError, match="update=3"):
        space.snapshot_with(Tag, save_health, load_health, 3)
    remember_health(space)  # once more is no harm
    with pytest.raises(TypeError, match=r"Thinks.* must be a dataclass whose fields are declared"):
        space.snapshot_with(Thinks)
    with pytest.raises(ValueError, match="hold Position components without being told"):
        space.snapshot_without(ec.Position)


def test_a_game_may_have_any_number_of_own_types(elsewhere):
    kinds = [type(f"Own{n}", (), {"data": b""}) for n in range(150)]

    def remember_all(space, order):
        for kind in order:

            def load(data, kind=kind):
                component = kind()
                component.data = data
                return component

            space.snapshot_with(kind, lambda component: component.data, load)

    space = ec.install()
    remember_all(space, kinds)
    entities = [esper.create_entity(ec.Position(n, 0)) for n in range(150)]
    for n, kind in enumerate(kinds):
        component = kind()
        component.data = bytes([n])
        esper.add_component(entities[(n * 7) % 150], component)
    lone = esper.create_entity(kinds[140](), kinds[3]())
    data = space.snapshot()

    other = elsewhere()
    remember_all(other, kinds[::-1])
    for _ in range(2):
        other.restore(data)

    for n, kind in enumerate(kinds):
        found = [entity for entity, _ in esper.get_component(kind) if entity != lone]
        assert found == [entities[(n * 7) % 150]]
        assert esper.component_for_entity(found[0], kind).data == bytes([n])
    assert esper.has_components(lone, kinds[140], kinds[3])
    assert len(esper.components_for_entity(lone)) == 2


class Wounded:
    """A component in the style of a first game."""

    health = 2


class Marked:
    """A mark."""


@dataclass
class Counted:
    n: int = 0


def test_what_no_snapshot_holds_is_warned_of_once_and_listed_by_the_doctor():
    crate, floor, space = resting()
    for entity in (crate, floor):
        esper.add_component(entity, Wounded())
    esper.add_component(crate, Thinks())
    for kept in (Marked(), Counted(), ec.Random(1), Health(1)):
        esper.add_component(crate, kept)
    remember_health(space)
    assert not space.doctor()  # a game that saves nothing loses nothing

    with pytest.warns(UserWarning, match="snapshots do not save") as warned:
        space.snapshot()
    messages = [str(warning.message) for warning in warned]
    assert [warning.filename for warning in warned] == [__file__] * 2
    assert f"do not save Thinks, a component of entity {crate}:" in messages[0]
    assert f"do not save Wounded, a component of entity {floor} and 1 more:" in messages[1]
    esper.create_entity(Wounded())
    space.snapshot()  # an error, were there another warning
    found = [finding for finding in space.doctor() if finding.cause == "not_in_snapshots"]
    assert [finding.entities for finding in found] == [(crate,), (floor, crate, 3)]

    space.snapshot_without(Wounded)
    esper.remove_component(crate, Thinks)
    assert not any(finding.cause == "not_in_snapshots" for finding in space.doctor())


def test_what_the_game_leaves_out_of_snapshots_is_not_warned_of():
    crate, _, space = resting()
    esper.add_component(crate, Wounded())
    space.snapshot_without(Wounded)

    space.restore(space.snapshot())

    assert esper.has_component(crate, Wounded)


def test_warning_that_was_made_an_error_comes_once():
    crate, _, space = resting()
    esper.add_component(crate, Wounded())

    with pytest.raises(UserWarning, match="do not save Wounded"):
        space.snapshot()
    space.restore(space.snapshot())


def test_an_empty_class_whose_objects_have_attributes_is_warned_of():
    crate, _, space = resting()
    marked = Marked()
    esper.add_component(crate, marked)
    space.snapshot()  # nothing can be lost yet
    marked.health = 2
    esper.create_entity(Marked())

    with pytest.warns(UserWarning, match=f"do not save Marked, a component of entity {crate}:"):
        space.snapshot()

    (found,) = space.doctor()
    assert (found.cause, found.entities) == ("not_in_snapshots", (crate,))
