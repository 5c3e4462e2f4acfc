"""Bodies that the game has put into others, and that are pushed out."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, box, gaps, mover, of, position, set_velocity, velocity
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world", "implementation")


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(
    ("start", "end"),
    [
        ((4, 1), (6, 1)),
        ((-4, 1), (-6, 1)),
        ((1, 4.5), (1, 6)),
        ((0, -3), (0, -6)),
        ((0, 0), (-6, 0)),
    ],
)
def test_the_shortest_way_out_in_one_step(start, end, dim):
    depth = (0,) * (dim - 2)
    box((0, 0, *depth), (5,) * dim)
    body = mover((*start, *depth), (1,) * dim, (0,) * dim, ec.Slide(), ec.PushOut())
    space = ec.install(dim=dim)
    esper.process(1 / 60)

    assert position(body)[:2] == pytest.approx(end)
    assert velocity(body) == (0, 0)
    assert max(gaps(1, body, dim)) >= 0
    rest = position(body, dim)
    for _ in range(3):
        esper.process(1 / 60)
    assert position(body, dim) == rest
    space.check()


def test_no_faster_than_it_says():
    box((0, 0), (50, 5))
    body = mover((0, 3), (1, 1), (0, 0), ec.Slide(), ec.PushOut(60))
    ec.install()
    ways = []
    for _ in range(6):
        before = position(body)[1]
        esper.process(1 / 60)
        ways.append(position(body)[1] - before)

    assert ways == pytest.approx([1, 1, 1, 0, 0, 0])
    assert position(body)[1] == 6


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


def test_a_way_that_something_else_bars_is_none():
    box((0, 0), (5, 5))
    lid = box((0, 7.5), (5, 1))  # too low for a body that is 2 high
    body = mover((0, 4), (1, 1), (0, 0), ec.Slide(), ec.PushOut())
    ec.install()
    esper.process(1 / 60)

    assert position(body) == (-6, 4)
    assert lid


def test_where_there_is_no_way_it_stays():
    for x in (-20, 0, 20):
        for y in (-20, 0, 20):
            box((x, y), (10, 10))
    body = mover((3, 3), (1, 1), (0, 0), ec.Slide(), ec.PushOut())
    ec.install()
    for _ in range(3):
        esper.process(1 / 60)

    assert position(body) == (3, 3)


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


@pytest.mark.parametrize("who", ["first", "second", "both"])
def test_of_two_dynamic_bodies_one_is_moved(who):
    out = ec.PushOut()
    one = mover((0, 0), (2, 2), (0, 0), ec.Slide(), *([out] if who != "second" else []))
    two = mover((1, 0), (2, 2), (0, 0), ec.Slide(), *([out] if who != "first" else []))
    ec.install()
    esper.process(1 / 60)

    if who == "first":
        assert (position(one), position(two)) == ((pytest.approx(-3), 0), (1, 0))
    else:  # of two alike the higher id
        assert (position(one), position(two)) == ((0, 0), (pytest.approx(4), 0))


def test_on_its_way_out_of_one_it_does_not_go_deeper_into_another():
    box((0, -1), (50, 1))
    heavy = mover((0, 0.5), (1, 1), (0, 0), ec.Slide(), ec.PushOut(20), ec.Mass(4))
    light = mover((0, 2), (1, 1), (0, 0), ec.Slide(), ec.PushOut(50))
    box((0, 4), (5, 1))  # the light one cannot go anywhere
    for x in (-2, 2):
        box((x, 2.2), (1, 0.5))
    ec.install()
    for _ in range(3):
        esper.process(1 / 60)

    assert max(gaps(heavy, light)) >= -0.5
    assert position(light) == (0, 2)


def test_of_two_dynamic_bodies_the_lighter_is_moved():
    one = mover((0, 0), (2, 2), (0, 0), ec.Slide(), ec.PushOut(), ec.Mass(0.5))
    two = mover((1, 0), (2, 2), (0, 0), ec.Slide(), ec.PushOut())
    ec.install()
    esper.process(1 / 60)

    assert (position(one), position(two)) == ((pytest.approx(-3), 0), (1, 0))


@pytest.mark.parametrize(
    "what",
    [
        lambda: box((0, 0), (5, 5), ec.Sensor()),
        lambda: box((0, 0), (5, 5), ec.OneWay((0, 1))),
        lambda: box((0, 0), (5, 5), ec.Filter(2)),
    ],
)
def test_nothing_pushes_out_of_what_is_not_solid(what):
    what()
    body = mover((4, 1), (1, 1), (0, 0), ec.Slide(), ec.PushOut(), ec.Filter(1, 1))
    ec.install()
    esper.process(1 / 60)

    assert position(body) == (4, 1)


def test_without_it_and_without_a_response_nobody_is_moved():
    box((0, 0), (5, 5))
    plain = mover((4, 1), (1, 1), (0, 0), ec.Slide())
    wall = mover((4, 1), (1, 1), (0, 0), ec.PushOut())
    sensor = mover((4, 1), (1, 1), (0, 0), ec.Slide(), ec.Sensor(), ec.PushOut())
    ec.install()
    esper.process(1 / 60)

    assert {position(e) for e in (plain, wall, sensor)} == {(4, 1)}


@pytest.mark.parametrize(("before", "after"), [(0, 0), (-50, 0), (20, 20), (500, 500)])
def test_what_led_outward_is_kept_and_what_led_in_is_lost(before, after):
    box((0, 0), (50, 5))
    body = mover((0, 5), (1, 1), (0, before), ec.Slide(), ec.PushOut())
    ec.install()
    esper.process(1 / 60)

    assert velocity(body) == (0, after)
    assert position(body)[1] == pytest.approx(6 if before < 100 else 5 + 500 / 60)


def test_on_its_way_it_resolves_what_it_meets():
    box((0, 0), (5, 5))
    stone = mover((9, 1), (1, 1), (-240, 0), ec.Slide())
    body = mover((4, 1), (1, 1), (0, 0), ec.Slide(), ec.PushOut(60), ec.Mass(3))
    space = ec.install()
    for step in range(20):
        esper.process(1 / 60)
        if step == 0:
            assert [(e.first, e.second) for e in space.collisions] == [(stone, body), (1, body)]
        assert max(gaps(stone, body)) >= 0

    assert position(body) == (pytest.approx(6), 3)  # past the stone, by a way round


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


@pytest.mark.parametrize("kind", [ec.PushOut, ec.Separate])
@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_met_beside_the_way_out_is_met_with_its_own_velocity(sign, kind):
    # The way out leads up, past the upper of the two; the post stands beside it.
    box((0, -10), (50, 10), *([ec.Separate()] if kind is ec.Separate else []))
    box((3 * sign, 12), (1, 11.5))
    sunk = mover((0, 0.5), (1, 1), (600 * sign, 0), ec.Slide(), kind())
    space = ec.install()
    esper.process(1 / 60)

    (met,) = [event for event in space.collisions if event.normal[0]]
    assert met.velocity_of(sunk) == (600 * sign, 0)
    assert met.closing_speed == 600
    assert velocity(sunk) == (0, 0)
    assert position(sunk) == (sign, pytest.approx(1, abs=1e-6))  # it goes on up


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
