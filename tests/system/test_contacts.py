"""Contacts: every begin has one end, with a reason."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, position, set_velocity

pytestmark = pytest.mark.usefixtures("world", "life")


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


def test_landing_begins_at_the_time_of_the_impact():
    floor = box((0, -1), (5, 1))
    crate = mover((0, 2), (1, 1), (0, -4), ec.Slide())
    space = ec.install()

    esper.process(1.0)

    assert [(e.time, e.first, e.second) for e in space.contacts_began] == [(0.25, floor, crate)]


def test_an_elastic_bounce_is_a_collision_without_a_contact():
    box((0, -1), (5, 1))
    mover((0, 2), (1, 1), (0, -4), ec.Deflect())
    space = ec.install()

    esper.process(1.0)

    assert len(space.collisions) == 1
    assert len(space.contacts_began) == 0


def test_separated():
    _, crate, space = standing()

    set_velocity(crate, 0, 3)
    esper.process(1 / 60)

    assert reasons(space) == [ec.EndReason.SEPARATED]
    assert list(space.contacts(crate)) == []


def test_sliding_off_the_edge_ends_the_contact():
    floor, crate, space = standing()

    set_velocity(crate, 9, 0)
    ends = []
    for _ in range(3):
        esper.process(0.25)
        ends.append([(e.first, e.second) for e in space.contacts_ended])

    # The crate's left side passes the edge after 6 units.
    assert ends == [[], [], [(floor, crate)]]


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


def test_boxes_that_meet_at_a_corner_only_are_in_no_contact():
    mover((0, 0), (1, 1), (0, 0), ec.Slide())
    box((2, 2), (1, 1))
    space = ec.install()

    esper.process(1 / 60)

    assert len(space.contacts_began) == 0


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


def test_a_crate_on_two_tiles_stands_on_both():
    left, right = box((-1, -1), (1, 1)), box((1, -1), (1, 1))
    crate = mover((0, 1), (1, 1), (0, -1), ec.Slide())
    space = ec.install()

    esper.process(1 / 60)

    assert [contact.other(crate) for contact in space.contacts(crate)] == [left, right]
    assert position(crate) == (0, 1)
