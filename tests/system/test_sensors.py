"""Sensors and other pairs that cross freely: times of entry and exit, also within one step."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, box, mover, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


@pytest.mark.parametrize("dim", [2, 3])
def test_entry_and_exit_within_one_step(dim):
    rest = (0,) * (dim - 1)
    runner = mover((0, *rest), (1,) * dim, (20, *rest), ec.Slide())
    coin = box((5, *rest), (1,) * dim, ec.Sensor())
    space = ec.install(dim=dim)

    esper.process(1.0)

    (hit,) = space.collisions
    assert (hit.first, hit.second, hit.outcome) == (runner, coin, ec.Outcome.CROSSED)
    assert (hit.time, hit.exit, hit.normal) == (0.15, 0.35, (-1, *rest))
    (began,) = space.contacts_began
    assert (began.time, began.kind, began.normal) == (0.15, ec.ContactKind.CROSSING, (-1, *rest))
    (ended,) = space.contacts_ended
    assert (ended.time, ended.kind) == (0.35, ec.ContactKind.CROSSING)
    assert ended.reason is ec.EndReason.SEPARATED
    assert space.contacts(runner) == [] or list(space.contacts(runner)) == []
    assert position(runner, dim) == (20, *rest)
    assert velocity(runner, dim) == (20, *rest)


def test_a_body_that_starts_inside_is_a_contact_and_no_collision():
    runner = mover((0.5, 0), (1, 1), (1, 0), ec.Slide())
    coin = box((0, 0), (1, 1), ec.Sensor())
    space = ec.install()

    esper.process(1.0)

    assert len(space.collisions) == 0
    assert [(event.other(runner), event.time) for event in space.contacts_began] == [(coin, 0.0)]

    esper.process(1.0)
    assert len(space.collisions) == 0
    assert [(event.other(runner), event.time) for event in space.contacts_ended] == [(coin, 0.5)]


def test_two_sensors_at_rest_are_not_looked_at():
    box((0, 0), (1, 1), ec.Sensor())
    box((1, 0), (1, 1))
    space = ec.install()
    esper.process(1.0)

    esper.process(1.0)

    assert space.stats.pairs == 0


def test_a_crate_that_becomes_a_sensor_lets_its_load_fall():
    crate = box((0, 0), (1, 1))
    rider = mover((0, 2), (0.5, 1), (0, -4), ec.Slide())
    space = ec.install()
    esper.process(0.25)
    assert position(rider) == (0, 2)

    esper.add_component(crate, ec.Sensor())
    set_velocity(rider, 0, -4)
    esper.process(1.0)

    assert position(rider) == (0, -2)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.CROSSED]


@pytest.mark.parametrize("sensor_is_older", [False, True])
def test_a_body_at_rest_does_not_flicker_in_a_sensor_flush_with_its_floor(sensor_is_older):
    if sensor_is_older:
        box((0, -5), (50, 5), ec.Sensor())
    floor = box((0, -5), (50, 5))
    if not sensor_is_older:
        box((0, -5), (50, 5), ec.Sensor())
    crate = mover((0, 3), (1, 1), (0, 0), ec.Slide(), Falls())
    space = ec.install()
    esper.add_processor(Gravity(), priority=200)
    met = []
    space.on_contact_began(lambda event: met.append((event.first, event.second, event.kind)))

    for _ in range(120):
        esper.process(1 / 60)

    assert (floor, crate, ec.ContactKind.SOLID) in met
    assert not [pair for pair in met if crate in pair[:2] and pair[2] is ec.ContactKind.CROSSING]


def reported(space):
    began = [("began", event.first, event.second) for event in space.contacts_began]
    ended = [("ended", event.first, event.second, event.reason) for event in space.contacts_ended]
    return began + ended


@pytest.mark.parametrize("how", ["set", "another component", "set_extents", "attached"])
def test_a_sensor_that_the_game_resizes_keeps_its_contacts_with_what_it_still_overlaps(how):
    #
    #       size 5 9 13 6          near      far
    #    |---- blast ----|         (4)       (10)
    #
    size, at = ec.Extents(5, 5), ec.Position(0, 0)
    owner = mover((0, 0), (1, 1), (0, 0), ec.Sensor())
    blast = esper.create_entity(at, size, ec.Sensor())
    if how == "attached":
        esper.delete_entity(blast, immediate=True)
        blast = esper.create_entity(ec.Position(0, 0), ec.Attached(owner), size, ec.Sensor())
    near, far = (mover((x, 0), (1, 1), (0, 0), ec.Stop()) for x in (4, 10))
    space = ec.install()

    log = []
    for half in (5, 9, 9.5, 13, 6, 5):
        if how == "another component":
            esper.add_component(blast, ec.Extents(half, half))
        elif how == "set_extents":
            space.set_extents([blast], [(half, half)])
        else:
            size.set(half, half)
        esper.process(0.5)
        log += [event for event in reported(space) if blast in event and owner not in event]

    assert log == [
        ("began", blast, near),
        ("began", blast, far),
        ("ended", blast, far, ec.EndReason.SEPARATED),
    ]


@pytest.mark.parametrize(
    ("speed", "ended", "entered"),
    [((-3, 30), 1.0, []), ((-20, 0), 0.0, [0.15])],
    ids=["passes by", "enters again"],
)
def test_a_sensor_that_shrinks_away_from_a_body_ends_their_contact(speed, ended, entered):
    size = ec.Extents(1, 1)
    esper.create_entity(ec.Position(0, 0), size, ec.Sensor())
    body = mover((1.5, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(0.1)

    size.set(0.2, 0.2)
    set_velocity(body, *speed)
    esper.process(0.1)

    assert [(contact.time, contact.reason) for contact in space.contacts_ended] == [
        (ended, ec.EndReason.SEPARATED)
    ]
    assert [hit.time for hit in space.collisions] == pytest.approx(entered)
    assert [contact.time for contact in space.contacts_began] == pytest.approx(entered)


def test_a_contact_with_a_sensor_that_shrinks_goes_on_if_the_body_rebounds_into_it_in_that_step():
    #
    #     ########## ceiling        The body leaves the sensor as this shrinks, and enters it again
    #       /  ^                    from above, after it has hit the ceiling.
    #      v   | body
    #    zone
    #
    size = ec.Extents(1, 1)
    zone = esper.create_entity(ec.Position(0, 0), size, ec.Sensor())
    body = mover((1.5, 0), (1, 1), (0, 0), ec.Deflect())
    ceiling = box((1.5, 3), (3, 1))
    space = ec.install()
    esper.process(0.1)

    size.set(0.2, 0.2)
    set_velocity(body, -6, 30)
    esper.process(0.1)

    assert [hit.other(body) for hit in space.collisions] == [ceiling, zone]
    assert [event for event in reported(space) if zone in event] == []
    assert [contact.other(body) for contact in space.contacts(body)] == [zone]


def test_a_sensor_that_the_game_moves_and_resizes_at_once_is_another_place():
    place, size = ec.Position(0, 0), ec.Extents(5, 5)
    zone = esper.create_entity(place, size, ec.Sensor())
    body = mover((1, 0), (1, 1), (0, 0), ec.Stop())
    space = ec.install()
    esper.process(0.5)

    place.set(0.5, 0)
    size.set(6, 6)
    esper.process(0.5)

    assert reported(space) == [
        ("began", zone, body),
        ("ended", zone, body, ec.EndReason.TELEPORTED),
    ]


def test_a_floor_that_the_game_resizes_ends_its_contacts():
    size = ec.Extents(5, 1)
    floor = esper.create_entity(ec.Position(0, 0), size)
    body = mover((0, 2), (1, 1), (0, -1), ec.Stop())
    space = ec.install()
    esper.process(0.5)

    size.set(6, 1)
    set_velocity(body, (0, -1))
    esper.process(0.5)

    assert reported(space) == [
        ("began", floor, body),
        ("ended", floor, body, ec.EndReason.TELEPORTED),
    ]


def test_a_sleeping_body_that_a_sensor_leaves_by_its_size_is_left():
    size = ec.Extents(5, 5)
    zone = esper.create_entity(ec.Position(0, 0), size, ec.Sensor())
    box((4, -2), (3, 1))
    crate = mover((4, 0), (1, 1), (0, 0), ec.Stop())
    space = ec.install(gravity=(0, -10))
    for _ in range(60):
        esper.process(1 / 60)
    assert space.stats.asleep == 1

    size.set(2, 5)
    esper.process(1 / 60)

    assert ("ended", zone, crate, ec.EndReason.SEPARATED) in reported(space)


class Returns:
    """A custom component."""


#    +---- zone, 8 wide ---+
#    |       body []->    ###    At 0.25 the body hits the wall, and a response puts it 12 back,
#    +--------------------###    outside the zone, with a velocity of 8 towards it.
@pytest.mark.parametrize(
    ("box_of_body", "re_entry"), [(0, 0.875), (2, 0.75)], ids=["sensor", "attached"]
)
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_body_that_a_response_puts_out_of_a_zone_leaves_it_then(
    box_of_body, re_entry, direction, dim
):
    def along(x):
        return (direction * x, *(0,) * (dim - 1))

    def put_back(impact):
        esper.component_for_entity(body, ec.Position).xy = along(-10)[:2]
        impact.set_velocity(body, along(8))

    body = mover(along(0), (1,) * dim, along(4), ec.Slide(), Returns())
    zone = box(along(0), (4,) * dim, ec.Sensor())
    who = body
    if box_of_body:
        who = box(along(0), (box_of_body,) * dim, ec.Attached(body))
    box(along(4), (2, *(20,) * (dim - 1)))
    space = ec.install(dim=dim)
    space.respond_with(Returns, put_back)

    esper.process(1.0)

    assert [hit.time for hit in space.collisions if {hit.first, hit.second} == {who, zone}] == [
        re_entry
    ]
    times = [
        [contact.time for contact in found if {contact.first, contact.second} == {who, zone}]
        for found in (space.contacts_began, space.contacts_ended)
    ]
    assert times == [[0.0, re_entry], [0.25]]
