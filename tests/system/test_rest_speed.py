"""A rest speed turns slow bounces into slides."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, box, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


@pytest.mark.parametrize(
    ("speed", "after"), [(-1, 0), (-1.999, 0), (-2.001, 2.001), (-3, 3), (-50, 50)]
)
def test_slower_bounces_become_slides(speed, after):
    ball = mover((0, 1 - speed / 2), (1, 1), (7, speed), ec.Deflect())
    box((0, -1), (50, 1))
    ec.install(ec.Space(rest_speed=2.0))

    esper.process(1.0)

    assert velocity(ball) == (7, after)


def test_the_speed_is_per_second_whatever_the_step():
    ball = mover((0, 1.01), (1, 1), (0, -3), ec.Deflect())
    box((0, -1), (50, 1))
    ec.install(ec.Space(rest_speed=2.0))

    esper.process(1 / 60)

    assert velocity(ball) == (0, 3)


def test_it_is_the_closing_speed_that_counts():
    # The paddle comes at 5: a ball that lies still is hit, not slid.
    ball = mover((3, 0), (1, 1), (0, 0), ec.Deflect())
    mover((0, 0), (1, 1), (5, 0))
    ec.install(ec.Space(rest_speed=2.0))

    esper.process(1.0)

    assert velocity(ball) == (10, 0)


def test_two_balls_that_meet_slowly_stay_together():
    first = mover((0, 0), (1, 1), (1, 0), ec.Deflect())
    second = mover((2.5, 0), (1, 1), (0, 0), ec.Deflect())
    ec.install(ec.Space(rest_speed=2.0))

    esper.process(1.0)

    assert velocity(first) == velocity(second) == (0.5, 0)


def test_off_by_default():
    ball = mover((0, 1), (1, 1), (0, -1e-9), ec.Deflect())
    box((0, -1), (50, 1))
    ec.install()

    esper.process(1.0)

    assert velocity(ball) == (0, 1e-9)


@pytest.mark.parametrize(("rest_speed", "rests"), [(2 * 10 / 60, True), (0.0, False)])
def test_a_ball_under_gravity_comes_to_rest(rest_speed, rests):
    ball = mover((0, 3), (0.5, 0.5), (0, 0), ec.Deflect(0.5), Falls())
    box((0, -1), (50, 1))
    space = ec.install(ec.Space(rest_speed=rest_speed))
    esper.add_processor(Gravity(), priority=200)

    for _ in range(300):
        esper.process(1 / 60)
        assert position(ball)[1] >= 0.5

    assert (velocity(ball) == (0, 0)) is rests
    if rests:
        assert position(ball) == (0, 0.5)
        assert len(space.contacts(ball)) == 1
