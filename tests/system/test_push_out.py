"""Bodies that the game has put into others, and that are pushed out."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, box, gaps, mover, of, position, set_velocity, velocity
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world", "implementation")


@pytest.mark.parametrize(
    "x",
    [-1.0, 0.0, 0.375, 2.0, *further(*[n / 8 for n in range(-16, 17) if n not in (-8, 0, 3, 16)])],
)
def test_out_of_a_floor_of_tiles_never_through_a_seam(x):
    for n in range(-6, 6):
        box((2 * n + 1, -4), (1, 4))
    body = mover((x, -0.5), (0.75, 1), (0, 0), ec.Slide(), ec.PushOut(40), Falls())
    ec.install()
    esper.add_processor(Gravity(-300.0), priority=200)
    for _ in range(30):
        esper.process(1 / 60)

    assert position(body) == (x, 1)


def test_a_way_that_opens_late_is_taken():
    box((0, 0), (5, 5))
    lids = [box((0, 6.5), (5, 1)), box((0, -6), (5, 1)), box((-6, 0), (1, 5)), box((6, 0), (1, 5))]
    body = mover((0, 4), (1, 1), (0, 0), ec.Slide(), ec.PushOut())
    ec.install()
    for _ in range(40):
        esper.process(1 / 60)
    assert position(body) == (0, 4)

    of(lids[0], ec.Position).y = 60.0
    esper.process(1 / 60)
    assert position(body) == (0, 6)


def test_who_stands_up_under_a_ceiling_and_who_sinks_by_growing():
    box((0, -1), (50, 1))
    box((0, 4), (3, 2))  # its lower side is at 2
    body = mover((0, 1), (1, 1), (0, 0), ec.Slide(), ec.PushOut(), Falls())
    ec.install()
    esper.add_processor(Gravity(-300.0), priority=200)
    esper.process(1 / 60)
    assert position(body) == (0, 1)

    of(body, ec.Extents).y = 1.5  # into the floor and the ceiling at once: out to a side
    esper.process(1 / 60)
    assert position(body) == (-4, 1)
    esper.process(1 / 60)
    assert position(body) == (-4, 1.5)
    for _ in range(60):
        esper.process(1 / 60)
    assert position(body) == (-4, 1.5)


def test_nothing_pushes_out_of_a_one_way_platform():
    box((0, 0), (5, 5), ec.OneWay((0, 1)))
    body = mover((4, 1), (1, 1), (0, 0), ec.Slide(), ec.PushOut())
    ec.install()
    esper.process(1 / 60)

    assert position(body) == (4, 1)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 6000])
@pytest.mark.parametrize("response", [ec.Slide, ec.Deflect, ec.Push, ec.Stop])
def test_a_push_is_no_momentum(dt, response):
    box((0, -10), (50, 10))
    sunk = mover((0, -8), (1, 1), (1, 0), response(), ec.PushOut())
    crate = mover((0, 3), (1, 1), (0, -5), ec.Slide())
    ec.install()
    for _ in range(30):
        esper.process(dt)
        assert max(abs(x) for body in (sunk, crate) for x in velocity(body)) <= 6

    assert max(gaps(sunk, crate)) >= 0
    assert position(sunk)[1] >= 0.5


def test_along_a_wall_a_push_turns_into_no_speed():
    box((0, -10), (50, 10))
    box((6, 5), (1, 4.5))  # its foot hangs half a unit above the floor
    walker = mover((0, -3), (1, 1), (60, 0), ec.Push(), ec.PushOut())
    ec.install()
    for _ in range(60):
        esper.process(1 / 60)
        assert max(map(abs, velocity(walker))) <= 60


def test_a_response_sees_the_velocity_that_a_body_has_of_itself():
    class Own:
        pass

    box((0, -10), (50, 10))
    sunk = mover((0, -8), (1, 1), (0, 0), Own(), ec.PushOut())
    crate = mover((0, 3), (1, 1), (0, -5), ec.Slide())
    space = ec.install()
    seen = []

    def respond(impact):
        seen.append((impact.velocity(sunk), impact.closing_speed))
        return ec.DEFAULT

    space.respond_with(Own, respond)
    esper.process(1 / 60)

    assert seen[0] == ((0, 0), 5)
    assert max(speed for _, speed in seen) == 5
    (hit,) = [event for event in space.collisions if crate in (event.first, event.second)]
    assert hit.velocity_first == (0, 0)


@pytest.mark.parametrize("met", ["in front", "beside"])
def test_what_a_response_sets_on_the_way_out_is_kept(met):
    class Own:
        pass

    box((0, -10), (50, 10))
    speed = (0, 0) if met == "in front" else (600, 0)
    sunk = [mover((x, -8), (1, 1), speed, Own(), ec.PushOut()) for x in (-20, 0, 20)]
    if met == "in front":
        other = mover((20, 3), (1, 1), (0, -5), ec.Slide())
    else:
        other = mover((26, -5), (1, 9), (0, 0), ec.Slide(), ec.Mass(1e6))
    space = ec.install()

    def respond(impact):
        if other in (impact.first, impact.second):
            impact.set_velocity(sunk[2], (0, 7))
            impact.set_velocity(other, (0, 9))
            return None
        return ec.DEFAULT

    space.respond_with(Own, respond)
    esper.process(1 / 60)

    assert [velocity(body) for body in sunk] == [speed, speed, (0, 7)]


def test_after_a_teleport_into_a_wall_and_a_step_without_time():
    box((0, 0), (5, 5))
    body = mover((40, 1), (1, 1), (0, 0), ec.Slide(), ec.PushOut())
    space = ec.install()
    esper.process(1 / 60)
    space.teleport(body, (4, 1))
    esper.process(0.0)
    assert position(body) == (4, 1)
    esper.process(1 / 60)
    assert position(body) == (6, 1)
    set_velocity(body, 0, 0)


def test_a_body_is_pushed_out_of_a_wall_while_others_cross_until_they_separate():
    box((0, 0), (5, 5))
    body = mover((0, 20), (1, 1), (0, 0), ec.Slide(), ec.PushOut())
    ghost = mover((22, 0), (1, 1), (-10, 0), ec.Slide(), ec.PushOut())
    box((18, 0), (2, 2))
    space = ec.install()
    space.respond_with(ec.Slide, lambda impact: impact.cross(until_separate=True))
    for _ in range(20):
        esper.process(1 / 60)

    of(body, ec.Position).y = 4.0
    esper.process(1 / 60)

    assert position(body) == (0, 6)
    assert position(ghost) == pytest.approx((22 - 10 * 21 / 60, 0))
