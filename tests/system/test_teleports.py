"""What a game writes into Position and Extents is a new place, never a motion."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, half, mover, of, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


def test_contacts_end_and_begin():
    first = box((0, -1), (5, 1))
    second = box((100, -1), (5, 1))
    crate = mover((0, 1), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)

    of(crate, ec.Position).set(100, 1)
    esper.process(1 / 60)

    ended = [(event.other(crate), event.reason) for event in space.contacts_ended]
    assert ended == [(first, ec.EndReason.TELEPORTED)]
    assert [event.other(crate) for event in space.contacts_began] == [second]


@pytest.mark.parametrize("write", ["set", "attributes", "replace", "teleport", "set_positions"])
def test_every_way_to_write_a_position(write):
    runner = mover((0, 0), (1, 1), (1, 0), ec.Stop())
    box((5, 0), (1, 1))
    space = ec.install()
    esper.process(1.0)

    place = of(runner, ec.Position)
    if write == "set":
        place.set(10, 0)
    elif write == "attributes":
        place.x = 10.0
    elif write == "replace":
        esper.add_component(runner, ec.Position(10, 0))
    elif write == "teleport":
        space.teleport(runner, (10, 0))
    else:
        space.set_positions([runner], [(10, 0)])
    esper.process(1.0)

    assert len(space.collisions) == 0
    assert position(runner) == (11, 0)
    assert space.query_point((11, 0)) == [runner]
    space.check()


def test_a_static_body_is_found_at_its_new_place():
    wall = box((50, 0), (1, 1))
    runner = mover((0, 0), (1, 1), (8, 0), ec.Stop())
    ec.install()
    esper.process(1 / 60)

    of(wall, ec.Position).set(4, 0)
    set_velocity(runner, 8, 0)
    esper.process(1.0)

    assert position(runner) == (2, 0)


def test_a_wall_moved_into_a_body_at_rest_shows_as_a_contact_of_those_who_overlap():
    # The overlap rule: no push, no collision while nothing closes.
    wall = box((50, 0), (1, 1))
    crate = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)

    of(wall, ec.Position).set(1.5, 0)
    esper.process(1 / 60)
    assert len(space.collisions) == 0
    assert position(crate) == (0, 0)

    set_velocity(crate, 3, 0)
    esper.process(1 / 60)
    assert [hit.kind for hit in space.collisions] == [ec.SweepKind.OVERLAP]
    assert position(crate) == (0, 0)

    set_velocity(crate, -30, 0)
    esper.process(1 / 60)
    assert position(crate) == (-0.5, 0)


def test_crouching_under_a_beam_and_rising():
    # Extents set by the game: the new size counts at once, and nothing is thrown about.
    beam = box((20, 3), (2, 1))
    player = mover((0, 2), (1, 2), (60, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    assert position(player) == (17, 2)

    of(player, ec.Extents).set(1, 0.5)
    of(player, ec.Position).set(17, 0.5)
    set_velocity(player, 4, 0)
    esper.process(1.0)
    assert position(player) == (21, 0.5)

    # It rises under the beam: stuck inside, not deeper, and free to go on and out.
    of(player, ec.Extents).set(1, 2)
    of(player, ec.Position).set(21, 2)
    set_velocity(player, 0, 1)
    esper.process(1.0)
    assert position(player) == (21, 2)
    assert beam in space

    set_velocity(player, 4, 0)
    esper.process(1.0)
    assert position(player) == (25, 2)
    assert velocity(player) == (4, 0)


def test_growing_by_hand_updates_the_tree():
    body = box((0, 0), (1, 1))
    space = ec.install()
    esper.process(1 / 60)
    assert space.query_point((3, 3)) == []

    of(body, ec.Extents).set(4, 4)
    esper.process(1 / 60)

    assert space.query_point((3, 3)) == [body]
    assert half(body) == (4, 4)
    space.check()


def test_a_teleport_out_of_the_fat_bounds_and_back():
    runner = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for place in [(1e6, 0), (0, 0), (0, -1e6), (0.01, 0)]:
        of(runner, ec.Position).set(*place)
        esper.process(1 / 60)
        assert space.query_point(place) == [runner]
        space.check()


def test_a_teleport_by_less_than_slop_is_still_one():
    crate = mover((0, 1), (1, 1), (0, 0), ec.Slide())
    box((0, -1), (5, 1))
    space = ec.install()
    esper.process(1 / 60)

    of(crate, ec.Position).x = 2.0**-60
    esper.process(1 / 60)

    assert position(crate) == (2.0**-60, 1)
    assert len(space.contacts(crate)) == 1


@pytest.mark.parametrize("half", [(1, 10), (2, 2), (10, 1)])
@pytest.mark.parametrize("speed", [(5, 0), (-5, 0), (0, 5), (0, -5), (5, 5), (3, -5)])
def test_a_body_exactly_in_the_middle_of_a_wall_leaves_it_in_any_direction(speed, half):
    ec.install()
    box((3, 4), half)
    body = mover((3, 4), (0.5, 0.5), speed, ec.Slide())

    esper.process(0.125)

    assert position(body) == (3 + speed[0] / 8, 4 + speed[1] / 8)


def test_a_body_beside_the_middle_of_a_wall_gets_no_deeper():
    ec.install()
    box((3, 4), (1, 10))
    body = mover((3.25, 4), (0.5, 0.5), (-5, 2), ec.Slide())

    esper.process(0.125)

    assert position(body) == (3.25, 4.25)
