"""Contacts: every begin has one end, with a reason."""

from __future__ import annotations

import math
import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, set_velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


def standing():
    """Build a floor and a crate that stands on it; take the step in which they meet."""
    floor = box((0, -1), (5, 1))
    crate = mover((0, 1), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)
    assert [contact.other(crate) for contact in space.contacts(crate)] == [floor]
    return floor, crate, space


def reasons(space):
    return [event.reason for event in space.contacts_ended]


def test_what_am_i_standing_on():
    floor, crate, space = standing()

    (contact,) = space.contacts(crate)
    assert contact.other(crate) == floor
    assert contact.normal_for(crate) == (0, 1)
    assert contact.kind is ec.ContactKind.SOLID
    assert [c.other(floor) for c in space.contacts(floor)] == [crate]


def test_a_contact_begins_once_and_lasts():
    floor, crate, space = standing()
    (began,) = space.contacts_began
    assert (began.first, began.second, began.normal) == (floor, crate, (0, -1))

    for _ in range(10):
        set_velocity(crate, 0, -1)
        esper.process(1 / 60)
        assert len(space.contacts_began) == 0
        assert len(space.contacts_ended) == 0
        assert len(space.contacts(crate)) == 1


def test_who_jumps_off_ends_the_contact_at_the_start_of_the_step():
    floor, crate, space = standing()

    set_velocity(crate, 0, 60)
    esper.process(1 / 60)

    assert [(e.first, e.second, e.time) for e in space.contacts_ended] == [(floor, crate, 0.0)]


def test_who_is_thrown_back_on_to_the_floor_stands_there_since_then():
    floor, crate, space = standing()
    set_velocity(crate, 0, 8)
    hammer = mover((0, 5), (1, 1), (0, -8))
    start = space.time

    esper.process(0.5)

    # It meets the hammer after 1/8 s, goes down with it, and is crushed on the floor.
    assert [(e.other(crate), e.time) for e in space.contacts_began] == [
        (hammer, 0.25),
        (floor, 0.5),
    ]
    assert [(e.other(crate), e.time) for e in space.contacts_ended] == [(floor, 0.0)]
    since = {c.other(crate): c.since for c in space.contacts(crate)}
    assert since == {hammer: start + 0.125, floor: start + 0.25}


def test_a_contact_that_a_response_deletes_in_ends_as_deleted():
    class Glass:
        pass

    floor = box((0, -1), (50, 1))
    glass = mover((0, 3), (1, 1), (0, -4), ec.Deflect(), Glass())
    space = ec.install()
    space.respond_with(Glass, lambda impact: esper.delete_entity(glass, immediate=True))

    esper.process(1.0)
    assert [(e.first, e.second, e.time) for e in space.contacts_began] == [(floor, glass, 0.5)]
    assert reasons(space) == []
    esper.process(1.0)
    assert [(e.first, e.second, e.time) for e in space.contacts_ended] == [(floor, glass, 0.0)]
    assert reasons(space) == [ec.EndReason.ENTITY_DELETED]


def test_a_bounce_before_a_deletion_has_ended_as_separated():
    class Glass:
        pass

    floor = box((0, -1), (50, 1))
    ceiling = box((0, 9), (50, 1), Glass())
    ball = mover((0, 3), (1, 1), (0, -16), ec.Deflect())
    space = ec.install()
    space.respond_with(Glass, lambda impact: esper.delete_entity(ball))

    esper.process(1.0)
    assert [(e.other(ball), e.time) for e in space.contacts_began] == [
        (floor, 0.125),
        (ceiling, 0.5),
    ]
    assert [(e.other(ball), e.time) for e in space.contacts_ended] == [(floor, 0.125)]
    assert reasons(space) == [ec.EndReason.SEPARATED]
    esper.process(1.0)
    assert [e.other(ball) for e in space.contacts_ended] == [ceiling]
    assert reasons(space) == [ec.EndReason.ENTITY_DELETED]


def test_an_impact_that_nobody_answers_begins_a_contact_too():
    box((5, 0), (1, 5))
    mover((0, 0), (1, 1), (8, 0), ec.Slide())
    space = ec.install()
    esper.remove_processor(ec.ResponseSystem)

    esper.process(1.0)

    assert [e.time for e in space.contacts_began] == [0.375]
    assert [e.time for e in space.contacts_ended] == [0.875]


@pytest.mark.parametrize("immediate", [True, False])
@pytest.mark.parametrize("which", ["floor", "crate"])
def test_entity_deleted(which, immediate):
    floor, crate, space = standing()

    esper.delete_entity(floor if which == "floor" else crate, immediate=immediate)
    esper.process(1 / 60)

    assert reasons(space) == [ec.EndReason.ENTITY_DELETED]
    assert [(e.first, e.second) for e in space.contacts_ended] == [(floor, crate)]
    esper.process(1 / 60)
    assert reasons(space) == []


@pytest.mark.parametrize("component", [ec.Position, ec.Extents])
def test_component_removed(component):
    _, crate, space = standing()

    esper.remove_component(crate, component)
    esper.process(1 / 60)

    assert reasons(space) == [ec.EndReason.COMPONENT_REMOVED]


def test_teleported():
    _, crate, space = standing()

    esper.component_for_entity(crate, ec.Position).set(100, 100)
    esper.process(1 / 60)

    assert reasons(space) == [ec.EndReason.TELEPORTED]


def test_world_cleared():
    _, _, space = standing()

    esper.clear_database()
    esper.process(1 / 60)

    assert reasons(space) == [ec.EndReason.WORLD_CLEARED]


def test_quarantined():
    _, crate, space = standing()

    esper.component_for_entity(crate, ec.Position).x = float("nan")
    with pytest.warns(RuntimeWarning):
        esper.process(1 / 60)

    assert reasons(space) == [ec.EndReason.QUARANTINED]


def test_boxes_that_meet_at_an_edge_only_are_in_no_contact_in_three_dimensions():
    mover((0, 0, 0), (1, 1, 1), (0, 0, 0), ec.Slide())
    box((2, 2, 0), (1, 1, 1))
    face = box((2, 0, 0), (1, 1, 1))
    space = ec.install(dim=3)

    esper.process(1 / 60)

    assert [event.second for event in space.contacts_began] == [face]


def test_a_gap_within_slop_is_a_contact_and_one_beyond_is_none():
    near = mover((0, 1 + 2.0**-46), (1, 1), (0, 0), ec.Slide())
    mover((5, 1 + 2.0**-36), (1, 1), (0, 0), ec.Slide())
    box((0, -1), (50, 1))
    space = ec.install()

    esper.process(1 / 60)

    assert [event.first for event in space.contacts_began] == [near]


def test_a_contact_changes_its_side():
    # Up the side of a block and on to its top without letting go: the normal turns.
    block = box((0, 0), (1, 1))
    crate = mover((2, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)
    assert space.contacts(crate)[0].normal_for(crate) == (1, 0)

    esper.component_for_entity(crate, ec.Position).set(0.5, 2)
    esper.process(1 / 60)

    (contact,) = space.contacts(crate)
    assert contact.other(crate) == block
    assert contact.normal_for(crate) == (0, 1)


@pytest.mark.slow_in_python
def test_every_begin_has_exactly_one_end():
    rng = random.Random(4)
    space = ec.install()
    for i in range(12):
        box((5 * i, -1), (2.5, 1))
    alive = []
    open_pairs = {}
    n_begun = n_ended = 0

    for step in range(200):
        if len(alive) < 25:
            response = rng.choice([ec.Slide, ec.Slide, ec.Stop, ec.Sensor, ec.Deflect])
            centre = (rng.uniform(0, 55), rng.uniform(1, 8))
            alive.append(mover(centre, (0.5, 0.5), (rng.uniform(-9, 9), -5), response()))
        if step % 9 == 8:
            esper.delete_entity(alive.pop(rng.randrange(len(alive))), immediate=rng.random() < 0.5)
        if step % 11 == 10:
            lucky = rng.choice(alive)
            esper.component_for_entity(lucky, ec.Position).set(rng.uniform(0, 55), 3)
        for entity in alive:
            speed = esper.component_for_entity(entity, ec.Velocity)
            speed.y -= 0.2
        esper.process(1 / 60)

        # A contact may end and begin in one step (teleports), or begin and end (sensors).
        for row in space.contact_array:
            pair = (int(row["first"]), int(row["second"]))
            open_pairs[pair] = open_pairs.get(pair, 0) + (1 if row["event"] == 0 else -1)
        n_begun += len(space.contacts_began)
        n_ended += len(space.contacts_ended)
        assert set(open_pairs.values()) <= {0, 1}
        standing = {pair for pair, count in open_pairs.items() if count}
        asked = {
            (contact.first, contact.second)
            for entity in space.entities
            for contact in space.contacts(entity)
        }
        assert asked == standing

    esper.clear_database()
    esper.process(1 / 60)
    n_ended += len(space.contacts_ended)
    assert n_begun == n_ended
    assert n_begun > 100


def test_times_of_contacts_are_in_the_step():
    rng = random.Random(5)
    for i in range(30):
        mover((3 * i, 0), (1, 1), (rng.uniform(-90, 90), 0), rng.choice([ec.Slide, ec.Sensor])())
    space = ec.install()

    for _ in range(20):
        esper.process(1 / 60)
        times = space.contact_array["time"]
        assert ((times >= 0) & (times <= 1)).all()


def test_a_contact_that_ends_at_once_ends_at_zero_and_not_at_minus_zero():
    box((0, -1), (5, 1))
    crate = mover((0, 1), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)

    set_velocity(crate, 0, 60)
    esper.process(1 / 60)

    (ended,) = space.contacts_ended
    assert math.copysign(1.0, ended.time) == 1.0
    assert ended.time == 0.0


def test_a_plane_that_lands_on_a_plane_in_the_origin_stays_in_contact(implementation):
    # It lands 2e-200 below 0, where the reach of bounds was a part of the coordinates: none.
    box((0, 0), (2, 0))
    mover((0, -1), (1, 0), (0, 2), ec.Slide())
    space = ec.install()

    for _ in range(3):
        esper.process(1.0)

    assert [contact.since for contact in space.contacts()] == [0.5]
    assert space.contacts_ended == []


def test_the_only_overlap_of_a_sensor_keeps_the_time_at_which_it_began():
    space = ec.install()
    esper.create_entity(ec.Position(0, 0), ec.Extents(5, 5), ec.Sensor())
    esper.create_entity(ec.Position(-8, 0), ec.Extents(1, 1), ec.Velocity(4, 0))

    for _ in range(3):
        esper.process(1.0)

    (contact,) = space.contacts()
    assert contact.since == 0.5


class _DeleteAll(ec.ResponseSystem):
    def respond(self, impact):
        esper.delete_entity(impact.second, immediate=True)


def test_an_overlap_that_began_in_the_step_in_which_a_body_is_deleted_ends_once():
    space = ec.install()
    esper.add_processor(_DeleteAll(space), priority=118)
    sensor = esper.create_entity(ec.Position(0, 0), ec.Extents(5, 5), ec.Sensor())
    esper.create_entity(ec.Position(4, 0), ec.Extents(0.5, 5))
    body = esper.create_entity(ec.Position(-8, 0), ec.Extents(1, 1), ec.Velocity(16, 0), ec.Slide())
    ended = []

    for _ in range(3):
        esper.process(1.0)
        ended += [each.reason for each in space.contacts_ended if each.first == sensor]

    assert not esper.entity_exists(body)
    assert ended == ["entity_deleted"]
