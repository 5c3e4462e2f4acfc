"""Immovable movers: a velocity and no response.  They push, carry and hit."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, box, gaps, mover, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


def test_a_lift_carries_its_rider_up():
    lift = mover((0, 0), (5, 1), (0, 2))
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    ec.install()

    for _ in range(60):
        esper.process(1 / 60)
        assert 0 <= gaps(rider, lift)[1] <= 1e-13

    assert position(lift)[1] == pytest.approx(2)
    assert velocity(rider) == (0, 2)


def test_a_rider_follows_a_lift_down_under_gravity():
    lift = mover((0, 0), (5, 1), (0, -2))
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide(), Falls())
    space = ec.install()
    esper.add_processor(Gravity(-60.0), priority=200)

    for step in range(60):
        esper.process(1 / 60)
        if step > 10:
            assert 0 <= gaps(rider, lift)[1] <= 1e-13
            assert velocity(rider) == (0, -2)
            assert [contact.other(rider) for contact in space.contacts(rider)] == [lift]


@pytest.mark.parametrize(("response", "carried"), [(ec.Slide, False), (ec.Stop, True)])
def test_a_platform_that_moves_sideways(response, carried):
    # Slide has no friction; Stop takes the partner's velocity along the face.
    mover((0, 0), (20, 1), (3, 0))
    rider = mover((0, 2.5), (1, 1), (0, 0), response(), Falls())
    ec.install()
    esper.add_processor(Gravity(), priority=200)

    for _ in range(60):
        esper.process(1 / 60)

    assert velocity(rider) == ((3, 0) if carried else (0, 0))


def test_a_lift_moved_by_writing_its_position_neither_pushes_nor_carries():
    lift = box((0, 0), (5, 1))
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    ec.install()

    for step in range(10):
        esper.component_for_entity(lift, ec.Position).y = 0.05 * step
        esper.process(1 / 60)

    assert position(rider) == (0, 2)
    assert gaps(rider, lift)[1] == pytest.approx(-0.45)


def test_a_lift_that_turns_round_lets_its_rider_go():
    lift = mover((0, 0), (5, 1), (0, 20))
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide(), Falls())
    space = ec.install()
    esper.add_processor(Gravity(), priority=200)
    for _ in range(10):
        esper.process(1 / 60)
    assert velocity(rider) == (0, 20)

    set_velocity(lift, 0, -20)
    esper.process(1 / 60)

    assert velocity(rider)[1] == pytest.approx(20 - 10 / 60)
    assert [event.reason for event in space.contacts_ended] == [ec.EndReason.SEPARATED]
