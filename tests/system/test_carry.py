"""Lifts and conveyor belts with `Carry`."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, Ledger, box, gaps, mover, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "life")


def of(entity, kind):
    return esper.component_for_entity(entity, kind)


@pytest.mark.parametrize("gravity", [0.0, -900.0])
@pytest.mark.parametrize("side", ["up", "down", "left", "right"])
def test_a_lift_that_turns_round_keeps_its_riders_and_what_stands_on_them(gravity, side):
    k, sign = {"up": (1, 1), "down": (1, -1), "right": (0, 1), "left": (0, -1)}[side]

    def v(along, across=0.0):
        return (across, along * sign) if k else (along * sign, across)

    lift = mover(v(0), [abs(x) for x in v(1, 20)], v(0), ec.Carry(normal=v(1)))
    riders = [mover(v(2 + 2 * n), (1, 1), v(0), ec.Slide()) for n in range(3)]
    space = ec.install()
    ledger = Ledger(space)
    esper.process(1 / 60)  # who stands where is known from now on
    ledger.record()
    for step in range(200):
        speed = 300.0 if step % 7 < 3 else -500.0
        across = 70.0 * math.sin(step)
        of(lift, ec.Velocity).xy = v(speed, across)
        for rider in riders:
            x, y = v(gravity / 60)
            of(rider, ec.Velocity).x += x
            of(rider, ec.Velocity).y += y
        esper.process(1 / 60)
        ledger.record()
        for below, rider in zip([lift, *riders], riders, strict=False):
            assert abs(gaps(below, rider)[k]) <= 1e-11
            assert position(rider)[1 - k] == pytest.approx(position(lift)[1 - k], abs=1e-9)
        assert [velocity(rider) for rider in riders] == [(0, 0)] * 3
        assert space.carried(riders[2]) == v(speed, across)
    assert ledger.ends == []  # no flicker


def test_a_rider_walks_on_its_lift_and_falls_off_its_end():
    lift = mover((0, 0), (10, 1), (30, 0), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide(), Falls())
    space = ec.install()
    esper.add_processor(Gravity(-60.0), priority=200)
    esper.process(1 / 60)
    start = position(rider)[0] - position(lift)[0]
    for step in range(1, 31):
        of(rider, ec.Velocity).x = 12.0
        esper.process(1 / 60)
        assert position(rider)[0] - position(lift)[0] == pytest.approx(start + 12 * step / 60)
    assert space.is_on(rider).other(rider) == lift

    for _ in range(60):
        esper.process(1 / 60)
    assert space.is_on(rider) is None
    assert velocity(rider)[0] == 12 + 30  # it goes on as fast as it went
    assert space.carried(rider) == (0, 0)


def test_who_jumps_off_keeps_the_speed_of_the_lift_and_gains_none_by_landing():
    lift = mover((0, 0), (100, 1), (30, 20), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide(), Falls())
    space = ec.install()
    esper.add_processor(Gravity(-600.0), priority=200)
    for _ in range(10):
        esper.process(1 / 60)
    place = position(rider)[0] - position(lift)[0]
    for _jump in range(4):
        of(rider, ec.Velocity).y = 100.0
        esper.process(1 / 60)
        assert velocity(rider) == (30, 20 + 90)
        for _ in range(40):
            esper.process(1 / 60)
        assert velocity(rider) == (0, 0)
        assert position(rider)[0] - position(lift)[0] == pytest.approx(place)
    assert space.carried(rider) == (30, 20)


@pytest.mark.parametrize(
    ("before", "own"), [(0, 0), (30, 0), (20, 0), (80, 50), (-40, -40), (31, 1)]
)
def test_who_lands_is_taken_along_at_once_and_is_never_faster_for_it(before, own):
    mover((0, 0), (500, 1), (30, 0), ec.Carry())
    body = mover((0, 12), (1, 1), (before, -20), ec.Slide())
    ec.install()
    esper.process(1.0)

    assert velocity(body) == (own, 0)


def test_a_conveyor_belt_takes_along_what_lies_on_it():
    belt = box((0, 0), (500, 1), ec.Carry(surface=(60, 99)))  # along itself: 99 is of no account
    crate = mover((0, 12), (1, 1), (0, 0), ec.Slide(), Falls())
    beside = mover((502, 0), (2, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.add_processor(Gravity(-600.0), priority=200)
    for _ in range(60):
        esper.process(1 / 60)
    assert space.carried(crate) == (60, 0)
    x = position(crate)[0]
    for _ in range(60):
        esper.process(1 / 60)
    assert position(crate) == (pytest.approx(x + 60), 2)
    assert position(beside) == (502, 0)

    of(belt, ec.Carry).x = -30.0
    x = position(crate)[0]
    for _ in range(60):
        esper.process(1 / 60)
    assert position(crate)[0] == pytest.approx(x - 30)


@pytest.mark.parametrize("gravity", [0.0, -3.0])
@pytest.mark.parametrize("lift", [0.0, 30.0])
@pytest.mark.parametrize("response", [ec.Stop, ec.Slide, ec.Deflect])
def test_a_belt_takes_all_along_under_gravity_too(gravity, lift, response):
    mover((0, 0), (500, 1), (lift, 0), ec.Carry(surface=(-10, 0)))
    body = mover((0, 2), (1, 1), (0, 0), response())
    space = ec.install()
    for _ in range(61):
        of(body, ec.Velocity).y += gravity
        esper.process(1 / 60)

    if response is not ec.Deflect or gravity == 0.0:  # which bounces
        assert position(body)[0] == pytest.approx(lift - 10, abs=0.7)
        assert (velocity(body), space.carried(body)) == ((0, 0), (lift - 10, 0))


def test_over_the_seams_of_a_belt_of_tiles():
    for n in range(-50, 50):
        box((4 * n, 0), (2, 1), ec.Carry(surface=(60, 0)))
    crate = mover((0.5, 2), (1, 1), (0, 0), ec.Slide(), Falls())
    ec.install()
    esper.add_processor(Gravity(-600.0), priority=200)
    for step in range(120):
        esper.process(1 / 60)
        assert velocity(crate)[1] == 0
        assert position(crate) == (pytest.approx(0.5 + step), 2)


def test_what_leans_against_a_rider_does_not_ride():
    mover((0, 0), (1.5, 1), (0, 10), ec.Carry())
    rider = mover((1, 2), (1, 1), (0, 0), ec.Slide())
    beside = mover((4, 2), (2, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(5):
        esper.process(0.01)

    assert space.is_on(beside, (1, 0)).other(beside) == rider
    assert space.carried(rider) == (0, 10)
    assert space.carried(beside) == (0, 0)
    assert position(beside) == (4, 2)


@pytest.mark.parametrize("side", [-5, 5])
def test_between_two_carriers_it_goes_with_the_one_that_rises_faster(side):
    slow = mover((side, 0), (5, 1), (7, 10), ec.Carry())
    fast = mover((-side, 0), (5, 1), (-7, 20), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(0.01)
    esper.process(0.01)

    assert space.carried(rider) == (-7, 20)
    of(fast, ec.Velocity).xy = (-7, 10)
    of(rider, ec.Velocity).xy = (0, 0)
    of(fast, ec.Position).y = of(slow, ec.Position).y
    of(rider, ec.Position).y = of(slow, ec.Position).y + 2
    esper.process(0.0)
    assert space.carried(rider) == (7, 10)  # as fast: the lower id


def test_a_carrier_that_is_carried_itself():
    lift = mover((0, 0), (50, 1), (5, 10), ec.Carry())
    belt = mover((0, 2), (20, 1), (0, 0), ec.Slide(), ec.Carry(surface=(3, 0)))
    rider = mover((0, 4), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(11):
        esper.process(0.1)

    assert space.carried(belt) == (5, 10)
    assert space.carried(rider) == (8, 10)
    assert position(rider)[0] == pytest.approx(8)
    assert gaps(rider, belt)[1] == gaps(belt, lift)[1] == 0


def test_who_stands_on_a_lift_and_on_one_who_rides_faster_goes_with_the_faster():
    slow = mover((-4, 2), (4, 1), (0, 5), ec.Carry())
    fast = mover((4, 0), (4, 1), (0, 9), ec.Carry())
    crate = mover((2, 2), (2, 1), (0, 0), ec.Slide())
    rider = mover((0, 4), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(0.0)

    assert {c.other(rider) for c in space.contacts(rider)} == {slow, crate}
    assert space.carried(crate) == (0, 9)
    assert space.carried(rider) == (0, 9)
    assert fast


def test_a_tower_of_a_hundred_rides_as_one():
    mover((0, 0), (5, 1), (7, 30), ec.Carry())
    tower = [mover((0, 2 + 2 * n), (1, 1), (0, 0), ec.Slide()) for n in range(100)]
    space = ec.install()
    for _ in range(3):
        esper.process(0.125)

    assert {space.carried(rider) for rider in tower} == {(7, 30)}
    assert {position(rider)[0] for rider in tower} == {7 * 0.25}


@pytest.mark.parametrize("surface", [0, 3])
def test_two_that_carry_each_other_go_on(surface):
    # With belts each pass finds them faster: it is not looked for an end that there is none of.
    one = mover((-1, 0), (1, 1), (1, 0), ec.Slide(), ec.Carry((0, surface), normal=(1, 0)))
    two = mover((1, 0), (1, 1), (0, 0), ec.Slide(), ec.Carry((0, surface), normal=(-1, 0)))
    space = ec.install()
    for _ in range(5):
        esper.process(0.1)
    assert max(gaps(one, two)) >= 0
    assert max(abs(x) for body in (one, two) for x in position(body)) < 10
    space.check()


def test_a_ceiling_above_a_lift_crushes_and_both_solids_are_named():
    lift = mover((0, 0), (20, 1), (0, 50), ec.Carry())
    ceiling = box((0, 14), (20, 1))
    lower = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    upper = mover((0, 4), (1, 1), (0, 0), ec.Slide())
    space = ec.install()

    def crushed():
        return [event for event in space.collisions if event.answer is ec.Answer.CRUSHED]

    while not crushed():
        esper.process(1 / 60)
        for event in space.collisions:
            assert (event.solids != ()) == (event.answer is ec.Answer.CRUSHED)
    assert {event.solids for event in crushed()} == {(lift, ceiling)}
    victims = {entity for event in crushed() for entity in (event.first, event.second)}
    assert victims & {lower, upper}
    for event, row in zip(space.collisions, space.collision_array, strict=True):
        assert tuple(row["solids"]) == (event.solids or (-1, -1))


def test_a_paddle_that_pushes_against_a_wall_names_both_too():
    wall = box((10, 0), (1, 5))
    paddle = mover((0, 0), (1, 5), (4, 0))
    crate = mover((3, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(2.0)

    crushed = [event for event in space.collisions if event.answer is ec.Answer.CRUSHED]
    assert [event.solids for event in crushed] == [(wall, paddle)]
    assert crushed[0].time == 0.75
    assert position(crate) == (8, 0)


def test_a_body_that_outgrows_its_shaft_names_the_walls_it_meets():
    left, right = box((-4, 0), (1, 5)), box((4, 0), (1, 5))
    grower = mover((0, 0), (1, 1), (0, 0), ec.Slide(), ec.Growth(4, 0))
    space = ec.install()
    esper.process(1.0)

    crushed = [event for event in space.collisions if event.answer is ec.Answer.CRUSHED]
    assert {event.solids for event in crushed} <= {(left,), (right,)}
    assert crushed
    assert grower


def test_a_lift_pushes_what_is_in_its_way_and_carries_only_what_is_on_top():
    lift = mover((0, 0), (5, 1), (10, 10), ec.Carry())
    above = mover((0, 7), (1, 1), (0, 0), ec.Slide())
    beside = mover((11, 5), (1, 20), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(20):
        esper.process(0.1)

    assert gaps(above, lift)[1] == 0
    assert gaps(beside, lift)[0] == 0
    assert velocity(beside) == (10, 0)
    assert space.carried(beside) == (0, 0)


def test_a_rider_that_a_wall_holds_back_goes_along_again_when_the_lift_turns_round():
    lift = mover((0, 0), (50, 1), (30, 0), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    wall = box((8, 4), (1, 3))
    space = ec.install()
    for _ in range(10):
        esper.process(0.1)
    assert position(rider) == (6, 2)
    assert velocity(rider) == (0, 0)
    assert space.is_on(rider, (-1, 0)).other(rider) == wall

    of(lift, ec.Velocity).x = -30.0
    for _ in range(10):
        esper.process(0.1)
    assert position(rider) == (pytest.approx(6 - 30), 2)
    assert velocity(rider) == (0, 0)


def test_riders_that_sleep_wake_when_their_lift_sets_off():
    lift = mover((0, 0), (5, 1), (0, 0), ec.Carry())
    riders = [mover((0, 2 + 2 * n), (1, 1), (0, 0), ec.Slide()) for n in range(3)]
    space = ec.install()
    for _ in range(30):
        esper.process(0.1)
    assert space.stats.asleep == 4

    of(lift, ec.Velocity).x = 10.0
    esper.process(0.1)
    assert [position(rider) for rider in riders] == [(1, 2 + 2 * n) for n in range(3)]
    assert space.stats.asleep == 0


def test_what_does_not_yield_is_not_carried():
    lift = mover((0, 0), (5, 1), (10, 10), ec.Carry())
    block = mover((0, 2), (1, 1), (0, 0))
    heavy = mover((3, 2), (1, 1), (0, 0), ec.Slide(), ec.Mass(math.inf))
    space = ec.install()
    esper.process(0.1)
    esper.process(0.1)

    assert position(block) == (0, 2)
    assert position(heavy) == (3, 2)
    assert space.carried(block) == (0, 0)
    assert lift


@pytest.mark.parametrize("gone", ["lift deleted", "carry removed", "rider teleported"])
def test_what_is_carried_no_more(gone):
    lift = mover((0, 0), (50, 1), (30, 0), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(3):
        esper.process(0.1)
    if gone == "lift deleted":
        esper.delete_entity(lift, immediate=True)
    elif gone == "carry removed":
        esper.remove_component(lift, ec.Carry)
    else:
        of(rider, ec.Position).y = 9.0
    x = position(rider)[0]
    esper.process(0.1)

    assert space.carried(rider) == (0, 0)
    assert velocity(rider) == (0, 0)
    assert position(rider)[0] == x


def test_a_response_sees_a_riders_whole_velocity_and_may_set_it():
    class Own:
        pass

    lift = mover((0, 0), (500, 1), (30, 0), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), Own())
    wall = box((30, 5), (1, 3))
    space = ec.install()
    seen = []

    def respond(impact):
        if wall in (impact.first, impact.second):
            seen.append(impact.velocity(rider))
            impact.set_velocity(rider, (-10, 0))
            return None
        return ec.DEFAULT

    space.respond_with(Own, respond)
    esper.process(0.1)
    set_velocity(rider, 5, 0)
    while not seen:
        esper.process(0.1)

    assert seen == [(35, 0)]
    assert velocity(rider) == (-10, 0)  # of itself, and beside that the lift takes it along
    assert lift


def test_where_the_game_moves_the_bodies():
    space = ec.install(ec.Space(motion="swept"))
    lift = box((0, 0), (50, 1), ec.Carry())
    rider = box((0, 2), (1, 1), ec.Slide())
    for _ in range(2):
        esper.process(0.1)
    for _ in range(20):
        of(lift, ec.Position).x += 1.0
        of(lift, ec.Position).y += 0.5
        of(rider, ec.Position).x += 0.25
        esper.process(0.1)

    assert position(lift) == (20, 10)
    assert position(rider) == (pytest.approx(25), pytest.approx(12))
    assert space.carried(rider) == (pytest.approx(10), pytest.approx(5))


def test_a_snapshot_in_the_middle_of_a_ride(elsewhere):
    lift = mover((0, 0), (50, 1), (30, 5), ec.Carry())
    rider = mover((0, 2), (1, 1), (1, 0), ec.Slide())
    space = ec.install()
    for _ in range(3):
        esper.process(0.1)
    data, carried = space.snapshot(), space.carried(rider)

    def go_on():
        set_velocity(lift, -7, -9)
        for _ in range(3):
            esper.process(0.1)
        return position(lift), position(rider), velocity(rider)

    wanted = go_on()
    other = elsewhere()
    other.restore(data)
    assert other.carried(rider) == carried
    assert go_on() == wanted


@pytest.mark.parametrize(
    ("field", "value"), [("normal_x", 1.0), ("normal_y", 0.0), ("x", math.inf)]
)
def test_a_carry_out_of_bounds_is_quarantined(field, value):
    lift = box((0, 0), (50, 1), ec.Carry())
    ec.install()
    setattr(of(lift, ec.Carry), field, value)
    with pytest.warns(RuntimeWarning, match=r"Carry\.\w+ is"):
        esper.process(1.0)
