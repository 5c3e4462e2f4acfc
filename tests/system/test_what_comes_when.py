"""Each row of the table "What comes when" of docs/events.md, with the counts of all four events."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import of

pytestmark = pytest.mark.usefixtures("world", "implementation")


def body(x, y, half, *components):
    return esper.create_entity(ec.Position(x, y), ec.Extents(*half), *components)


def floor():
    return body(0, -1, (50, 1))


def pressed(entity):
    """Return what a game does before each step: gravity."""
    return lambda step, space: setattr(of(entity, ec.Velocity), "y", -9)


def lands():
    floor()
    return pressed(body(0, 5.5, (1, 1), ec.Velocity(0, -9), ec.Slide()))


def bounces():
    floor()
    body(0, 5.5, (1, 1), ec.Velocity(0, -9), ec.Deflect())


def slides_on():
    body(0, -1, (1, 1))
    body(2, -1, (1, 1))
    return pressed(body(-0.25, 0.5, (0.5, 0.5), ec.Velocity(0.5, -9), ec.Slide()))


def enters_a_sensor():
    body(0, 0, (5, 5), ec.Sensor())
    guest = body(9, 0, (1, 1), ec.Velocity(-9, 0), ec.Slide())
    speed = of(guest, ec.Velocity)
    return lambda step, space: speed.set(-9 if step == 0 else 0, 0)


def flies_through_a_sensor():
    body(0, 0, (1, 1), ec.Sensor())
    body(9, 0, (1, 1), ec.Velocity(-19, 0), ec.Slide())


def is_created_in_a_sensor():
    body(0, 0, (5, 5), ec.Sensor())
    body(1, 0, (1, 1), ec.Velocity(0, 0), ec.Slide())


def passes_through():
    body(0, 0, (5, 5))
    body(9, 0, (1, 1), ec.Velocity(-4, 0))


def sleeps():
    floor()
    body(0, 1.5, (1, 1), ec.Velocity(0, -1), ec.Slide())


def is_teleported():
    floor()
    guest = body(0, 1.5, (1, 1), ec.Velocity(0, -1), ec.Slide())
    return lambda step, space: step == 2 and space.teleport(guest, (0, 50))


def is_deleted():
    floor()
    guest = body(0, 1.5, (1, 1), ec.Velocity(0, -1), ec.Slide())
    return lambda step, space: step == 2 and esper.delete_entity(guest)


ROWS = [  # what happens, steps, and how often each is reported: collision, began, on_contact, ended
    (lands, 3, (3, 1, 3, 0)),
    (bounces, 3, (1, 1, 1, 1)),
    (slides_on, 2, (2, 2, 3, 0)),  # the second tile begins with the end of the second step
    (slides_on, 5, (7, 2, 7, 1)),
    (enters_a_sensor, 3, (1, 1, 3, 0)),
    (flies_through_a_sensor, 3, (1, 1, 1, 1)),
    (is_created_in_a_sensor, 3, (0, 1, 3, 0)),
    (passes_through, 7, (1, 1, 3, 1)),
    (sleeps, 14, (1, 1, 14, 0)),
    (is_teleported, 3, (1, 1, 2, 1)),
    (is_deleted, 3, (1, 1, 2, 1)),
]


@pytest.mark.parametrize(
    ("happens", "steps", "counts"), ROWS, ids=lambda value: getattr(value, "__name__", None)
)
def test_each_event_is_reported_as_often_as_the_table_says(happens, steps, counts):
    before = happens()
    space = ec.install()
    seen = [0, 0, 0, 0]
    for n, register in enumerate(
        (space.on_collision, space.on_contact_began, space.on_contact, space.on_contact_ended)
    ):
        register(lambda event, n=n: seen.__setitem__(n, seen[n] + 1))

    for step in range(steps):
        if before is not None:
            before(step, space)
        esper.process(1.0)

    assert tuple(seen) == counts
