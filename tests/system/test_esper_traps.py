"""What esper itself does that surprises, and that it makes nothing of ours wrong.

Each test shows the trap first, so that it fails where a later esper no longer
has it, and then that steps, events and contacts are as they should be.
"""

from __future__ import annotations

import gc

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Ledger, box, mover, of, position

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Tagged:
    """A custom response."""


class Hover(ec.Velocity):
    """A game's own kind of velocity."""


@pytest.fixture
def shot(world):
    """Build a bullet and the wall that it hits at 0.3; return both."""
    return mover((0, 0), (1, 1), (10, 0), ec.Slide(), Tagged()), box((5, 0), (1, 1))


def causes(space):
    return [finding.cause for finding in space.doctor()]


# -- events --


def test_espers_handlers_are_weak_and_ours_are_not(shot):
    heard = []

    class Game:
        def on_hit(self, event):
            heard.append(type(self).__name__)

    space = ec.install()
    esper.set_handler(ec.COLLISION, Game().on_hit)
    gc.collect()
    assert ec.COLLISION not in esper.event_registry  # the trap: it is gone already

    space.on_collision(Game().on_hit)
    gc.collect()
    esper.process(1.0)

    assert heard == ["Game"]


def test_espers_handlers_have_no_order_and_ours_have(shot):
    assert isinstance(esper.event_registry, dict)
    heard, handlers = [], []
    space = ec.install()
    for number in range(20):

        def by_esper(event):
            heard.append("esper")

        handlers.append(by_esper)
        esper.set_handler(ec.COLLISION, by_esper)
        space.on_collision(lambda event, number=number: heard.append(number))
    assert isinstance(esper.event_registry[ec.COLLISION], set)  # the trap

    esper.process(1.0)

    assert heard == [*range(20), *["esper"] * 20]


def test_espers_remove_handler_leaves_a_bound_method_and_our_unsubscribe_does_not(shot):
    heard = []

    class Game:
        def on_hit(self, event):
            heard.append(1)

    game = Game()
    space = ec.install()
    esper.set_handler(ec.COLLISION, game.on_hit)
    esper.remove_handler(ec.COLLISION, game.on_hit)
    assert ec.COLLISION in esper.event_registry  # the trap: it is still there
    del game
    stop = space.on_collision(Game().on_hit)
    stop()

    esper.process(1.0)

    assert heard == []


@pytest.mark.parametrize("change", ["add", "remove", "let go"])
def test_handlers_may_be_changed_while_esper_dispatches(change, shot):
    heard, handlers, changed = [], {}, []

    def make(number):
        def handler(event):
            heard.append(number)
            if changed:
                return
            changed.append(number)  # whoever comes first changes what comes after
            other = (number + 1) % 5
            if change == "add":
                handlers["new"] = lambda event: None
                esper.set_handler(ec.COLLISION, handlers["new"])
            elif change == "remove":
                esper.remove_handler(ec.COLLISION, handler)
            else:
                del handlers[other]
                gc.collect()

        return handler

    def register():
        heard.clear()
        changed.clear()
        for number in range(5):
            handlers.setdefault(number, make(number))
            esper.set_handler(ec.COLLISION, handlers[number])

    space = ec.install()
    register()
    with pytest.raises(RuntimeError, match="changed size"):
        esper.dispatch_event(ec.COLLISION, None)  # the trap
    register()
    esper.process(1.0)

    everybody = set(range(5)) - ({(changed[0] + 1) % 5} if change == "let go" else set())
    assert everybody <= set(heard)
    assert len(heard) == len(set(heard))
    assert len(space.collisions) == 1


# -- entities --


@pytest.mark.parametrize("how", ["unknown", "twice"])
def test_an_id_deleted_that_is_not_there_breaks_espers_process_and_not_ours(how, shot):
    bullet, wall = shot
    space = ec.install()
    systems = [esper.get_processor(kind) for kind in (ec.BroadphaseSystem, ec.MotionSystem)]
    if how == "unknown":
        esper.delete_entity(999)
    else:
        esper.delete_entity(wall)
        esper.delete_entity(wall, immediate=True)
    for _ in range(2):
        with pytest.raises(KeyError):
            esper.process(1.0)  # the trap: forever
    assert position(bullet) == (0, 0)

    assert causes(space) == ["deleted_twice"]
    assert "every esper.process() raises a KeyError" in str(space.doctor()[0])
    for system in systems:
        system.process(1.0)
    assert position(bullet) == (10, 0)
    space.check()
    esper.clear_database()
    mover((0, 0), (1, 1), (1, 0), ec.Slide())
    esper.process(1.0)
    assert causes(space) == []
    assert len(space) == 1


def test_what_is_to_be_deleted_is_still_found_by_espers_queries_and_not_by_ours(shot):
    bullet, wall = shot
    space = ec.install()
    esper.process(0.0)
    esper.delete_entity(wall)
    assert wall in [entity for entity, _ in esper.get_component(ec.Position)]  # the trap
    assert not esper.entity_exists(wall)

    for kind in (ec.BroadphaseSystem, ec.NarrowphaseSystem, ec.ResponseSystem, ec.MotionSystem):
        esper.get_processor(kind).process(1.0)  # nobody has cleared the dead

    assert wall not in space
    assert position(bullet) == (10, 0)
    assert space.explain(bullet, wall).findings[0].cause == "deleted"


@pytest.mark.parametrize("kind", [ec.Position, ec.Velocity])
def test_a_component_for_an_unknown_id_leaves_a_ghost(kind, shot):
    bullet, _ = shot
    space = ec.install()
    with pytest.raises(KeyError):
        esper.add_component(77, kind(1, 1))
    esper.clear_cache()
    with pytest.raises(KeyError):
        esper.get_component(kind)  # the trap: from now on

    esper.process(1.0)

    assert position(bullet) == (3, 0)
    assert causes(space) == ["ghost"]
    assert "entity 77, which does not exist" in str(space.doctor()[0])


def test_a_ghost_does_not_hide_the_others_where_esper_is_asked_by_queries(shot, monkeypatch):
    bullet, _ = shot
    esper.create_entity(ec.Position(3, 3))
    ec.install()
    with pytest.raises(KeyError):
        esper.add_component(77, ec.Position(1, 1))
    there = esper._entities

    class Mapping(dict):
        """What a later esper might keep its entities in."""

    monkeypatch.setattr(esper, "_entities", Mapping(there))
    esper.process(1.0)

    assert position(bullet) == (3, 0)


# -- worlds --


class Switch(esper.Processor):
    """A game's system that switches worlds when told."""

    to: str | None = None

    def process(self, dt=1.0):
        if self.to is not None:
            esper.switch_world(self.to)


@pytest.mark.parametrize("priority", [131, 125, 115, 99])
def test_a_world_switched_in_mid_process(priority, world, shot):
    # esper goes on with the systems of the world that was, in the one that is.
    bullet, _wall = shot
    space = ec.install()
    ledger = Ledger(space)
    switch = Switch()
    esper.add_processor(switch, priority)
    esper.process(0.0)
    ledger.record()
    beyond = f"{world} beyond"
    esper.switch_world(beyond)
    stranger = mover((0, 0), (1, 1), (7, 0), ec.Slide(), Tagged())
    assert stranger == bullet
    esper.switch_world(world)

    switch.to = beyond
    try:
        if priority > 100:
            with pytest.raises(RuntimeError, match="is current: install one space"):
                esper.process(1.0)
        else:
            esper.process(1.0)
            ledger.record()
        assert position(stranger) == (0, 0)  # nobody has moved it
        switch.to = None
        esper.switch_world(world)
        if priority > 100:
            esper.process(1.0)
            ledger.record()
    finally:
        esper.switch_world(world)
        esper.delete_world(beyond)
    assert position(bullet) == (3, 0)
    assert [(e.first, e.second) for e in space.collisions] == [shot]
    assert ledger.open == {shot}
    space.check()


def test_a_step_that_another_system_broke_off_loses_no_end_of_a_contact(world):
    class Breaks(esper.Processor):
        broken = False

        def process(self, dt=1.0):
            if self.broken:
                raise LookupError("the game's own fault")

    floor, sensor = box((0, -2), (5, 1)), box((0, 0), (1, 1), ec.Sensor())
    crate = mover((0, 0), (1, 1), (0, -1), ec.Slide())
    space = ec.install()
    ledger = Ledger(space)
    breaks = Breaks()
    esper.add_processor(breaks, 100.5)
    esper.process(1.0)
    ledger.record()
    assert ledger.open == {(floor, crate), (sensor, crate)}

    breaks.broken = True
    esper.delete_entity(floor)
    of(crate, ec.Velocity).set(90, 0)  # leaves the sensor in the step that is broken off
    for _ in range(2):
        with pytest.raises(LookupError):
            esper.process(1.0)
    breaks.broken = False
    of(crate, ec.Velocity).set(0, 0)
    esper.process(1.0)
    ledger.record()
    assert ledger.ends == [((floor, crate), ec.EndReason.ENTITY_DELETED)]
    of(crate, ec.Position).x = 90.0
    esper.process(1.0)
    ledger.record()

    assert ledger.ends[1:] == [((sensor, crate), ec.EndReason.TELEPORTED)]


# -- types and systems --


def test_a_subclass_is_found_under_its_base_only_with_type_alias(world):
    still = box((0, 0), (1, 1), Hover(1, 0))
    moved = box((0, 9), (1, 1))
    esper.add_component(moved, Hover(1, 0), type_alias=ec.Velocity)
    space = ec.install()
    assert esper.try_component(still, ec.Velocity) is None  # the trap

    esper.process(1.0)

    assert position(still) == (0, 0)
    assert position(moved) == (1, 9)
    assert [(f.cause, f.entities) for f in space.doctor()] == [("no_type_alias", (still,))]


def test_add_processor_overwrites_the_priority_of_a_class(world, shot):
    bullet, _ = shot
    space = ec.Space()

    class Motion(ec.MotionSystem):
        priority = -5

    classes = (ec.BroadphaseSystem, ec.NarrowphaseSystem, ec.ResponseSystem, Motion)
    for kind in reversed(classes):
        esper.add_processor(kind(space))
    assert esper.get_processor(Motion).priority == 0  # the trap

    with pytest.raises(RuntimeError, match="MotionSystem was run out of order: it needs Broad"):
        esper.process(1.0)
    assert position(bullet) == (0, 0)
    assert causes(space) == ["system_order"]
    assert "MotionSystem, ResponseSystem, NarrowphaseSystem, BroadphaseSystem" in str(
        space.doctor()[0]
    )
    for place, kind in enumerate(classes):
        esper.remove_processor(kind)
        esper.add_processor(kind(space), priority=10 - place)
    esper.process(1.0)
    assert position(bullet) == (3, 0)
    assert causes(space) == []


@pytest.mark.parametrize("kind", [ec.BroadphaseSystem, ec.NarrowphaseSystem, ec.MotionSystem])
def test_two_systems_of_one_class(kind, shot):
    bullet, _ = shot
    space = ec.install()
    ledger = Ledger(space)
    priority = esper.get_processor(kind).priority
    esper.add_processor(kind(space), priority)

    if kind is ec.BroadphaseSystem:
        esper.process(1.0)  # the second begins the step again
        ledger.record()
        assert position(bullet) == (3, 0)
        assert [(e.first, e.second) for e in space.collisions] == [shot]
    else:
        with pytest.raises(RuntimeError, match="was run out of order"):
            esper.process(1.0)
    assert causes(space) == ["system_twice"]
    esper.remove_processor(kind)  # the trap: the other one stays, and is not found
    assert esper.get_processor(kind) is None
    assert kind in [type(system) for system in esper._processors]
