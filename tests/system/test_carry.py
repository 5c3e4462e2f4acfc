"""Lifts and conveyor belts with `Carry`."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import (
    Falls,
    Gravity,
    Ledger,
    another_world,
    box,
    enter_new_world,
    gaps,
    mover,
    of,
    position,
    set_velocity,
    velocity,
)

pytestmark = pytest.mark.usefixtures("world", "implementation")


@pytest.mark.parametrize("gravity", [0.0, -900.0])
@pytest.mark.parametrize("side", ["up", "down", "left", "right"])
def test_a_lift_that_turns_round_keeps_its_riders_and_what_stands_on_them(gravity, side, volume):
    k, sign = {"up": (1, 1), "down": (1, -1), "right": (0, 1), "left": (0, -1)}[side]

    def v(along, across=0.0):
        return (across, along * sign) if k else (along * sign, across)

    lift = mover(v(0), [abs(x) for x in v(1, 20)], v(0), ec.Carry(normal=v(1)))
    riders = [mover(v(2 + 2 * n), (1, 1), v(0), ec.Slide()) for n in range(3)]
    space = ec.install()
    ledger = Ledger(space)
    esper.process(1 / 60)  # who stands where is known from now on
    ledger.record()
    for step in range(volume(100, 200, least=50)):
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
        assert position(crate) == (pytest.approx(1.5 + step), 2)


@pytest.mark.parametrize("rounding", [-(2.0**-50), 0, 2.0**-50])
@pytest.mark.parametrize("is_slope", [False, True])
def test_over_the_seams_of_a_lift_whose_tiles_are_as_fast_but_for_rounding(is_slope, rounding):
    for k in range(3):
        speed = -1 * (1 + k * rounding)
        slope = [ec.Slope("right")] if is_slope else []
        mover((16 * k, 8 * k * is_slope), (8, 4), (speed, 0), ec.Carry(), *slope)
    rider = mover((0, 3 if is_slope else 6), (2, 2), (0, 0), ec.Slide())
    ec.install()

    esper.process(0.125)
    for _ in range(50):
        own = (2, 1) if is_slope else (2, 0)
        set_velocity(rider, *own)
        before = position(rider)
        esper.process(0.125)
        assert velocity(rider) == pytest.approx(own, abs=1e-13)
        assert position(rider)[0] - before[0] == pytest.approx(0.125, abs=1e-13)


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
def test_of_two_carriers_the_one_that_rises_faster_counts_or_their_mean_by_width(side):
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
    width = 1.28 if side < 0 else 0.72  # on the slow one, and 1 on the fast one
    mean = (7 * width - 7 * 1) / (width + 1)
    assert space.carried(rider) == pytest.approx((mean, 10))


def test_a_carrier_that_is_carried_itself():
    lift = mover((0, 0), (50, 1), (5, 10), ec.Carry())
    belt = mover((0, 2), (20, 1), (0, 0), ec.Slide(), ec.Carry(surface=(3, 0)))
    rider = mover((0, 4), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(10):
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


def test_a_tower_on_a_slow_lift_and_on_a_tower_of_a_fast_one_goes_whole_with_the_fast_one():
    #          | 3 |
    #          | 2 |
    #       +--+---+--+
    #       |    1    |
    #   +---+-+-+-----+--+
    #   | slow  | crate  |    each pass finds how fast one more of them goes
    #   +-------+--------+
    #           | crate  |
    #           +--------+
    #           | fast   |
    mover((-4, 4), (4, 1), (2, 5), ec.Carry())
    mover((4, 0), (4, 1), (7, 9), ec.Carry())
    places = [(4, 2), (4, 4), (0, 6), (0, 8), (0, 10)]
    halves = [(4, 1), (4, 1), (2, 1), (1, 1), (1, 1)]
    bodies = [mover(*body, (0, 0), ec.Slide()) for body in zip(places, halves, strict=True)]
    space = ec.install()
    esper.process(0.0)
    assert [space.carried(body) for body in bodies] == [(7, 9)] * 5

    esper.process(1 / 4)

    assert [position(body) for body in bodies] == [(x + 7 / 4, y + 9 / 4) for x, y in places]
    assert [velocity(body) for body in bodies] == [(0, 0)] * 5
    assert len(space.collisions) == 0


def test_what_stands_on_a_walker_is_carried_exactly_as_fast_as_the_lift():
    # 0.7 + 0.1 - 0.7 is not 0.1.
    mover((0, 0), (50, 1), (0.1, 0), ec.Carry())
    walker = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    top = mover((0, 4), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(0.0)
    set_velocity(walker, 0.7, 0)

    for _ in range(3):
        esper.process(1 / 64)

        assert space.carried(walker) == space.carried(top) == (0.1, 0)
        assert velocity(walker) == (0.7, 0)
        assert velocity(top) == (0, 0)


def test_a_rough_tile_beside_a_slippery_one_that_is_as_fast_takes_only_what_it_rubs_off():
    #       +---+
    #       | < |
    #       +---+
    #   ->->->|->->->    the rough tile bears a quarter of the walker, whom the other one carries
    for x, friction in ((-10, 0), (10.5, 0.5)):
        half = 10.5 if x < 0 else 10
        box((x, -1), (half, 1), ec.Carry((30, 0)), ec.Friction(friction))
    walker = mover((0, 1), (1, 1), (0, 0), ec.Slide(), ec.Friction(0.5))
    space = ec.install(gravity=(0, -32))
    esper.process(0.0)
    set_velocity(walker, -20, 0)

    share, own = 0.25, -20.0
    for _ in range(3):
        esper.process(1 / 16)

        own += 0.5 * 32 / 16 * share
        share += (30 + own) / 16 / 2  # its width is 2
        assert velocity(walker) == (pytest.approx(own), 0)
        assert space.carried(walker) == (30, 0)


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
        return [event for event in space.collisions if event.outcome is ec.Outcome.CRUSHED]

    while not crushed():
        esper.process(1 / 60)
        for event in space.collisions:
            assert (event.solids != ()) == (event.outcome is ec.Outcome.CRUSHED)
    assert {event.solids for event in crushed()} == {(lift, ceiling)}
    victims = {entity for event in crushed() for entity in (event.first, event.second)}
    assert victims & {lower, upper}
    for event, row in zip(space.collisions, space.collision_array, strict=True):
        assert tuple(row["solids"]) == (event.solids or (-1, -1))


def test_a_body_that_outgrows_its_shaft_names_the_walls_it_meets():
    left, right = box((-4, 0), (1, 5)), box((4, 0), (1, 5))
    grower = mover((0, 0), (1, 1), (0, 0), ec.Slide(), ec.Growth(4, 0))
    space = ec.install()
    esper.process(1.0)

    crushed = [event for event in space.collisions if event.outcome is ec.Outcome.CRUSHED]
    assert {event.solids for event in crushed} == {(left, right)}
    assert all(grower in (event.first, event.second) for event in crushed)


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


@pytest.mark.parametrize("way", [1, -1])
def test_a_rider_of_a_cart_that_rebounds_twice_within_a_step_ends_where_it_stood_on_it(way):
    #         +-+
    #  +--+   +-+rider  +--+      The cart goes 1 to the right, 2 back and 1 to the right.
    #  +--+-1-+----+--1-+--+
    for x in (4, -4):
        box((x, 0), (1, 1))
    cart = mover((0, 0), (2, 1), (8 * way, 0), ec.Deflect(), ec.Carry())
    rider = mover((0, 2), (0.5, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(0.0)  # who stands where is known from now on

    esper.process(0.5)

    assert position(cart) == (0, 0)
    assert position(rider) == (0, 2)
    assert velocity(rider) == (0, 0)
    assert space.carried(rider) == (8 * way, 0)


def test_a_tower_whose_lowest_box_goes_over_from_a_belt_to_a_piston_leaves_the_belt_whole():
    #                          +-+
    #                          +-+ tower       The piston carries the row that leans on it, and the
    #  piston +-+-+-+-+-+      +-+             foot at its end, so the foot rides on no belt: nor
    #    ===> +-+-+-+-+-+foot--+-+             does what stands on the foot.
    #             belt <==     +-+
    box((40, -1), (40, 1), ec.Carry(surface=(-1, 0)))
    mover((-1, 4), (1, 1), (2, 0), ec.Carry(normal=(1, 0)))
    for n in range(4):
        mover((1 + 2 * n, 4), (1, 1), (0, 0), ec.Slide())
    foot = mover((9, 2.75), (1, 2.75), (0, 0), ec.Slide())
    tower = [mover((9, 6.5 + 2 * n), (1, 1), (0, 0), ec.Slide()) for n in range(4)]
    space = ec.install()

    esper.process(0.0)

    assert space.carried(foot) == (2, 0)
    assert {space.carried(each) for each in tower} == {(0, 0)}


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


def test_what_is_not_dynamic_is_not_carried():
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


def lose(lift, how):
    """Let a lift carry no more."""
    if how == "deleted":
        esper.delete_entity(lift)
    elif how == "deleted at once":
        esper.delete_entity(lift, immediate=True)
    elif how == "teleported":
        of(lift, ec.Position).x += 1000.0
    elif how == "without Carry":
        esper.remove_component(lift, ec.Carry)
    elif how == "carrying on another side":
        esper.add_component(lift, ec.Carry(normal=(-1, 0)))
    elif how == "without Extents":
        esper.remove_component(lift, ec.Extents)
    elif how == "filtered":
        esper.add_component(lift, ec.Filter(mask=0))
    else:
        of(lift, ec.Velocity).x = math.nan


WAYS_TO_LOSE = [
    "deleted", "deleted at once", "teleported", "without Carry", "carrying on another side",
    "without Extents", "filtered", "quarantined",
]  # fmt: skip


@pytest.mark.parametrize("how", WAYS_TO_LOSE)
@pytest.mark.filterwarnings("ignore:.*NaN:RuntimeWarning")
def test_who_loses_its_lift_keeps_the_speed_of_the_lift(how):
    lift = mover((0, 0), (50, 1), (10, 20), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    walker = mover((9, 2), (1, 1), (0, 0), ec.Slide())
    above = mover((9, 4), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(3):
        of(walker, ec.Velocity).x = 3.0
        esper.process(0.125)
    x, y = position(rider)
    lose(lift, how)
    esper.process(0.125)

    assert velocity(rider) == velocity(above) == (10, 20)
    assert velocity(walker) == (13, 20)
    assert position(rider) == (x + 1.25, y + 2.5)
    assert space.carried(rider) == space.carried(above) == (0, 0)
    esper.process(0.125)
    assert velocity(rider) == (10, 20)  # it is added once


def test_who_is_teleported_off_its_lift_has_no_speed_but_its_own():
    mover((0, 0), (50, 1), (30, 0), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(3):
        esper.process(0.1)
    of(rider, ec.Position).y = 9.0
    x = position(rider)[0]
    esper.process(0.1)

    assert space.carried(rider) == (0, 0)
    assert velocity(rider) == (0, 0)
    assert position(rider)[0] == x


def test_a_lift_and_its_rider_that_are_teleported_together_go_on_together():
    lift = mover((0, 0), (50, 1), (10, 20), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(0.125)
    for body in (lift, rider):
        of(body, ec.Position).x += 500.0
    for _ in range(2):
        esper.process(0.125)

    assert velocity(rider) == (0, 0)
    assert space.carried(rider) == (10, 20)


def test_who_falls_through_its_lift_keeps_the_speed_of_the_lift():
    lift = mover((0, 0), (50, 1), (10, 20), ec.Carry(), ec.OneWay((0, 1)))
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(2):
        esper.process(0.125)
    assert space.drop_through(rider)
    of(rider, ec.Velocity).y = -25.0
    esper.process(0.125)

    assert velocity(rider) == (10, -5)
    assert gaps(lift, rider)[1] < 0


@pytest.mark.parametrize("own", [0, -10])
def test_who_was_held_back_by_a_wall_is_not_thrown_at_it_when_the_lift_is_gone(own):
    lift = mover((0, 0), (50, 1), (30, 0), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Deflect(0.5))
    box((8, 4), (1, 3))
    space = ec.install(ec.Space(rest_speed=60.0))
    esper.process(0.0)
    set_velocity(rider, own, 0)
    for _ in range(10):
        esper.process(0.1)
    assert (position(rider), velocity(rider), space.carried(rider)) == ((6, 2), (own, 0), (30, 0))
    esper.delete_entity(lift)
    esper.process(0.1)

    assert len(space.collisions) == 0
    assert (position(rider), velocity(rider)) == ((6, 2), (0, 0))


def test_who_loses_its_lift_is_no_faster_than_its_maximum_within_that_step():
    lift = mover((0, 0), (50, 1), (10, 0), ec.Carry())
    walker = mover((0, 2), (1, 1), (0, 0), ec.Slide(), ec.MaxSpeed(12.0))
    ec.install()
    for _ in range(2):
        set_velocity(walker, 3, 0)
        esper.process(0.125)
    x, y = position(walker)
    esper.delete_entity(lift)
    esper.process(0.125)

    assert position(walker) == (x + 12 * 0.125, y)


def test_who_loses_one_of_two_lifts_rides_on_the_other():
    slow = mover((-5, 0), (5, 1), (7, 10), ec.Carry())
    fast = mover((5, 0), (5, 1), (7, 10), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(2):
        esper.process(0.1)
    esper.delete_entity(slow)
    esper.process(0.1)

    assert velocity(rider) == (0, 0)
    assert space.carried(rider) == (7, 10)
    assert space.is_on(rider).other(rider) == fast


def test_who_loses_a_lift_that_has_just_reached_it_goes_on_as_fast_as_before():
    #
    #               +-+
    #        10 ==> |6|=>         The lift enters the floor, and its end gets below the crate,
    #   +------------+----+       which is slower than the lift and so rides on it at rest.
    #   | lift       :    |
    #
    lift = mover((-4, -1), (4, 1), (10, 0), ec.Carry())
    box((4, -1), (6, 1))
    crate = mover((1.125, 1), (1, 1), (6, 0), ec.Slide())
    space = ec.install()
    esper.process(0.0625)
    assert (velocity(crate), space.carried(crate)) == ((0, 0), (10, 0))
    esper.delete_entity(lift)
    esper.process(0.0625)

    assert velocity(crate) == (6, 0)
    assert position(crate) == (1.125 + 6 * 0.125, 1)


def test_who_loses_its_velocity_with_its_lift_stays_where_it_is():
    lift = mover((0, 0), (50, 1), (10, 20), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    ec.install()
    esper.process(0.125)
    place = position(rider)
    esper.delete_entity(lift)
    esper.remove_component(rider, ec.Velocity)
    esper.process(0.125)

    assert position(rider) == place


def test_who_walks_against_a_belt_that_is_gone_stays_where_it_was():
    belt = box((0, 0), (50, 1), ec.Carry(surface=(60, 0)))
    walker = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    ec.install()
    esper.process(0.0)
    set_velocity(walker, -60, 0)
    for _ in range(40):  # so long that it might sleep
        esper.process(1 / 60)
    assert (position(walker), velocity(walker)) == ((0, 2), (-60, 0))
    esper.delete_entity(belt)
    esper.process(1 / 60)

    assert (position(walker), velocity(walker)) == ((0, 2), (0, 0))


def test_a_new_body_does_not_inherit_the_speed_of_a_rider_that_is_gone():
    lift = mover((0, 0), (50, 1), (30, 20), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    ec.install()
    esper.process(0.1)
    esper.delete_entity(rider, immediate=True)
    esper.delete_entity(lift, immediate=True)
    new = mover((0, 99), (1, 1), (0, 0), ec.Slide())
    esper.process(0.1)

    assert (position(new), velocity(new)) == ((0, 99), (0, 0))


@pytest.mark.parametrize("how", ["deleted at once", "teleported", "without Carry"])
def test_a_lift_is_lost_after_a_snapshot(how):
    lift = mover((0, 0), (50, 1), (10, 20), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    box((15, 9), (1, 9))
    held = mover((12, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(4):
        esper.process(0.125)
    space.restore(space.snapshot())
    lose(lift, how)
    esper.process(0.125)

    assert velocity(rider) == (10, 20)
    assert velocity(held) == (0, 20)


@pytest.mark.parametrize("response", [ec.Slide, ec.Stop])
def test_who_lands_within_a_step_is_carried_from_that_instant(response):
    lift = mover((0, 0), (500, 1), (60, 0), ec.Carry())
    rider = mover((0, 12), (1, 1), (0, -20), response())
    walker = mover((-50, 12), (1, 1), (6, -20), ec.Slide())
    space = ec.install()
    esper.process(1.0)

    assert [e.time for e in space.contacts_began] == [0.5, 0.5]
    assert (position(rider), velocity(rider)) == ((30, 2), (0, 0))
    assert (position(walker), velocity(walker)) == ((-50 + 3 + 30, 2), (0, 0))
    assert space.carried(rider) == (60, 0)
    esper.process(1.0)
    assert (position(rider), velocity(rider)) == ((90, 2), (0, 0))
    assert lift


@pytest.mark.parametrize("seed", range(12))
def test_who_shrinks_lands_on_a_lift_that_gives_way_as_others_do(seed):
    # Both go on at one velocity, but for rounding: the faces may seem to part.
    rng = random.Random(f"shrinks {seed}")
    lift = mover((0, 0), (50, 1), (10, rng.random()), ec.Slide(), ec.Carry(), ec.Mass(seed + 1))
    shrinks = ec.Growth(-rng.random(), -rng.random())
    rider = mover((0, 5), (1, 1), (0, -5 - 20 * rng.random()), ec.Slide(), shrinks)
    space = ec.install()
    esper.process(0.5)

    (began,) = space.contacts_began
    assert position(rider)[0] == pytest.approx(5 * (1 - began.time))
    assert space.carried(rider)[0] == velocity(lift)[0] == 10


def test_a_landing_in_parts_of_a_step_ends_where_one_in_a_whole_step_does():
    ends = []
    for n_parts in (1, 2, 4, 16):
        home = esper.current_world
        with another_world(f"{home} {n_parts}"):
            mover((0, 0), (500, 1), (64, 8), ec.Carry(surface=(16, 0)))
            rider = mover((0, 12), (1, 1), (-32, -24), ec.Slide())
            ec.install()
            for _ in range(n_parts):
                esper.process(1 / n_parts)
            ends.append((position(rider), velocity(rider)))

    assert ends == [ends[0]] * 4


def test_who_lands_and_walks_off_within_a_step_goes_on_as_fast_as_it_went():
    mover((0, 0), (10, 1), (64, 0), ec.Carry())
    rider = mover((0, 12), (1, 1), (80, -40), ec.Slide())
    space = ec.install()
    esper.process(1.0)

    # It lands after 1/4 s at x = 20, and the lift's end is at 26: 16 faster, and its own is that.
    (ended,) = space.contacts_ended
    assert ended.time == pytest.approx(0.25 + 7 / 16)
    assert velocity(rider) == (80, 0)
    assert space.carried(rider) == (0, 0)


def test_a_body_that_bounces_is_not_carried():
    mover((0, 0), (500, 1), (60, 0), ec.Carry())
    ball = mover((0, 12), (1, 1), (0, -20), ec.Deflect(0.5))
    space = ec.install()
    esper.process(1.0)

    assert (position(ball), velocity(ball)) == ((0, 7), (0, 10))
    assert space.carried(ball) == (0, 0)


def test_a_tower_that_lands_within_a_step_is_carried_whole():
    mover((0, 0), (500, 1), (64, 0), ec.Carry())
    tower = [mover((0, 18 + 2 * n), (1, 1), (0, -32), ec.Slide()) for n in range(5)]
    space = ec.install()
    esper.process(1.0)

    assert [position(body) for body in tower] == [(32, 2 + 2 * n) for n in range(5)]
    assert {velocity(body) for body in tower} == {(0, 0)}
    assert {space.carried(body) for body in tower} == {(64, 0)}


def test_what_rides_on_a_belt_that_lands_on_a_lift_goes_along_with_both():
    mover((0, 0), (500, 1), (64, 0), ec.Carry())
    belt = mover((0, 18), (100, 1), (0, 0), ec.Slide(), ec.Carry(surface=(16, 0)))
    rider = mover((0, 20), (1, 1), (0, 0), ec.Slide())
    space = ec.install(ec.Space(gravity=(0, -128)))
    esper.process(0.0)
    assert space.carried(rider) == (16, 0)
    esper.process(1.0)

    # They fall 16 as fast as in the mean over the step, so the belt lands after a quarter of it.
    assert position(belt) == (48, 2)
    assert position(rider) == (4 + 48 + 12, 4)
    assert velocity(belt) == velocity(rider) == (0, 0)
    assert space.carried(rider) == (80, 0)


def test_who_jumps_from_one_lift_to_the_next_within_a_step_goes_with_the_next():
    mover((0, 0), (5, 1), (0, 0), ec.Carry())
    mover((20, -20), (9, 1), (0, 32), ec.Carry(surface=(24, 0)))
    rider = mover((4, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(0.0)
    set_velocity(rider, 16, 0)
    esper.process(1.0)

    # It walks off the first after 1/8 s, and the next one comes up to it at 5/8 s.
    assert [e.time for e in space.contacts_ended] == [1 / 8]
    assert [e.time for e in space.contacts_began] == [5 / 8]
    assert position(rider) == (4 + 10 + 9, 14)
    assert velocity(rider) == (0, 0)
    assert space.carried(rider) == (24, 32)


@pytest.mark.parametrize("order", list(itertools.permutations(["first", "second", "there"])))
def test_a_ceiling_that_stops_stops_whoever_hangs_on_it_and_whoever_has_jumped_up_to_it(order):
    #   ->->->->->->->->->->->->->|wall      "there" hangs on the ceiling from the start, and the
    #     ^           +---+                  others jump up to it, one after the other
    #   +---+  +---+  +---+
    #   +---+--+---+--------------
    parts = {
        "first": lambda: mover((-5, 2), (1, 1), (0, 0), ec.Slide()),
        "second": lambda: mover((-10, 2), (1, 1), (0, 0), ec.Slide()),
        "there": lambda: mover((5, 9), (1, 1), (0, 0), ec.Slide()),
    }
    made = {name: parts[name]() for name in order}
    box((0, 0), (20, 1), ec.Carry())
    mover((0, 11), (20, 1), (16, 0), ec.Carry(normal=(0, -1)), ec.Slide())
    box((32, 11), (1, 1))
    box((0, 13), (99, 1))  # keeps the ceiling from being pushed up
    space = ec.install()
    esper.process(0.0)
    set_velocity(made["first"], 0, 28)
    set_velocity(made["second"], 0, 14)
    esper.process(1.0)

    # They reach it after 1/4 s and 1/2 s, and it meets the wall after 11/16 s.
    assert position(made["first"]) == (-5 + 7, 9)
    assert position(made["second"]) == (-10 + 3, 9)
    assert position(made["there"]) == (5 + 11, 9)
    assert {velocity(made[name]) for name in order} == {(0, 0)}
    assert {space.carried(made[name]) for name in order} == {(0, 0)}


@pytest.mark.parametrize("mirror", [1, -1])
@pytest.mark.parametrize("order", list(itertools.permutations(["rider", "wide", "narrow"])))
@pytest.mark.parametrize("dim", [2, 3])
def test_who_lands_on_two_carts_follows_the_one_that_bears_most_of_it(dim, order, mirror):
    #             +---+
    #             +---+ v
    #   +--------+--------+
    #   | narrow |  wide  |   A block stops the wide cart, and the narrow one rolls on.
    #   +-+---+--+        |
    #     +---+  |        |
    def at(x, y, z=0):
        return (mirror * x, y, z)[:dim]

    half = (3, 1, 1)[:dim]
    parts = {
        "wide": lambda: mover(at(3, -5), (3, 5, 1)[:dim], at(-8, 0), ec.Carry(), ec.Slide()),
        "narrow": lambda: mover(at(-3, -1), half, at(-8, 0), ec.Carry()),
        "rider": lambda: mover(at(-1.5, 3), (1, 1, 1)[:dim], at(0, -8), ec.Slide()),
    }
    made = {name: parts[name]() for name in order}
    box(at(-7, -5), half)
    box(at(0, -11), (20, 1, 1)[:dim])
    space = ec.install(dim=dim)
    esper.process(1.0)

    # It lands after 1/4 s with 1.5 on the wide one and 0.5 on the other; that stops after 1/2 s.
    assert position(made["wide"], dim) == at(3 - 4, -5)
    assert position(made["narrow"], dim) == at(-3 - 8, -1)
    assert position(made["rider"], dim) == at(-1.5 - 2, 1)
    assert velocity(made["rider"], dim) == space.carried(made["rider"]) == at(0, 0)


def test_who_lands_between_two_tiles_of_which_one_is_a_lift_is_carried():
    box((-4, 0), (4, 1))
    lift = mover((12, 0), (4, 1), (-16, 0), ec.Carry())
    rider = mover((0, 12), (1, 1), (0, -20), ec.Slide())
    space = ec.install()
    esper.process(1.0)

    hits = {hit.other(rider): hit.outcome for hit in space.collisions if hit.second == rider}
    assert hits[lift] is ec.Outcome.STOPPED_ALREADY
    assert position(rider) == (-8, 2)
    assert space.carried(rider) == (-16, 0)


def test_who_lands_where_the_game_moves_the_bodies_is_carried_from_there():
    space = ec.install(ec.Space(motion="swept"))
    lift = box((0, 0), (50, 1), ec.Carry())
    rider = box((0, 12), (1, 1), ec.Slide())
    esper.process(1.0)
    of(lift, ec.Position).x += 60.0
    of(rider, ec.Position).xy = (2, -8)
    esper.process(1.0)

    assert position(lift) == (60, 0)
    assert position(rider) == (2 + 30, 2)
    assert space.carried(rider) == (60, 0)
    esper.delete_entity(lift)
    esper.process(1.0)
    assert position(rider) == (32, 2)


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


def could_be_nearer(space, upper, lower):
    """Return whether the upper of two bodies could stand nearer to the lower one."""
    feet, top = space.bounds(upper)[0][1], space.bounds(lower)[1][1]
    assert feet >= top
    place = space.position_of(upper)[1]
    half = esper.component_for_entity(upper, ec.Extents).y
    return top <= math.nextafter(place, -math.inf) - half < feet


@pytest.mark.parametrize("gravity", [None, (0, -900)])
def test_riders_of_any_size_stand_on_a_lift_to_the_last_bit_of_the_coordinates(gravity, volume):
    rng = random.Random(5)
    for _ in range(volume(4, 40)):
        enter_new_world()
        top, half, speed = rng.uniform(-100, 100), rng.uniform(1, 5), rng.uniform(-60, 60)
        lift = mover((0, top - half), (400, half), (rng.uniform(-9, 9), speed), ec.Carry())
        pile = [lift]
        for _ in range(3):
            half = rng.uniform(0.3, 8.0)
            pile.append(mover((0, top + half), (3, half), (0, 0), ec.Slide()))
            top += 2.0 * half
        space = ec.install(gravity=gravity)
        for step in range(60):
            if step == 30:
                esper.component_for_entity(lift, ec.Velocity).y = -speed
            esper.process(1 / 60)
            for upper, lower in zip(pile[1:], pile, strict=False):
                if step > 1:
                    assert not could_be_nearer(space, upper, lower), (step, upper)


@pytest.mark.parametrize("gravity", [None, (0, -900)])
@pytest.mark.parametrize("way", [(60, 0), (0, 60), (0, -60), (60, -60), (0, -3000)])
@pytest.mark.parametrize("comes_later", [False, True])
def test_a_rider_that_is_created_on_a_lift_is_carried_in_its_first_step(way, gravity, comes_later):
    lift = mover((0, -1), (10, 1), way, ec.Carry())
    space = ec.install(gravity=gravity)
    if comes_later:
        esper.process(1 / 64)
    x, y = position(lift)
    rider = mover((x, y + 1.5), (0.5, 0.5), (0, 0), ec.Slide())
    crate = mover((x, y + 2.5), (0.5, 0.5), (0, 0), ec.Slide())

    for _ in range(3):
        esper.process(1 / 64)
        x, y = position(lift)
        assert position(rider) == (x, y + 1.5)
        assert position(crate) == (x, y + 2.5)
    assert [contact.since for contact in space.contacts(rider)] != []
    assert esper.component_for_entity(rider, ec.Velocity).xy == (0, 0)


def test_a_rider_on_a_lift_in_a_cleared_world_is_carried_in_its_first_step():
    for _ in range(2):  # the second one with the ids of the first
        esper.clear_database()
        mover((0, -1), (10, 1), (0, -60), ec.Carry())
        rider = mover((0, 1), (1, 1), (0, 0), ec.Slide())
        ec.install()

        esper.process(1 / 64)

        assert position(rider) == (0, 1 - 60 / 64)


def test_a_body_that_is_created_beside_or_far_above_a_lift_is_not_carried():
    lift = mover((0, -1), (10, 1), (60, 0), ec.Carry())
    above, beside = mover((0, 5), (1, 1), (0, 0), ec.Slide()), mover((-11, -1), (1, 1), (0, 0))
    space = ec.install()

    esper.process(1 / 64)

    assert (position(above), position(beside)) == ((0, 5), (-11, -1))
    assert space.carried(above) == (0, 0)
    assert position(lift)[0] > 0


# -- who is in the way, and carriers that turn --


@pytest.mark.parametrize("carries", ["belt", "lift"])
@pytest.mark.parametrize("wall_first", [False, True])
def test_who_is_carried_against_a_wall_keeps_its_own_speed_away_from_it(carries, wall_first):
    if wall_first:
        box((11, 4), (1, 2))
    if carries == "belt":
        box((0, 0), (99, 1), ec.Carry(surface=(60, 0)))
    else:
        mover((0, 0), (99, 1), (60, 0), ec.Carry())
    rider = mover((9, 3), (1, 2), (0, 0), ec.Slide())
    if not wall_first:
        box((11, 4), (1, 2))
    space = ec.install()
    for own in (0, -20, -40, -60):
        set_velocity(rider, own, 0)
        esper.process(1 / 8)
        assert velocity(rider) == (own, 0)
        assert position(rider) == (9, 3)
    set_velocity(rider, -70, 0)
    esper.process(1 / 8)

    assert position(rider) == (9 - 10 / 8, 3)
    assert space.carried(rider) == (60, 0)


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("wall_first", [False, True])
def test_a_belt_that_rubs_on_who_leans_on_a_wall_gives_it_no_speed(friction, wall_first):
    floor = [(0, 0), (99, 1), ec.Carry(surface=(60, 0)), ec.Friction(friction)]
    wall = [(11, 4), (1, 2)]
    made = [box(*each) for each in ([wall, floor] if wall_first else [floor, wall])]
    rider = mover((9, 3), (1, 2), (0, 0), ec.Slide(), ec.Friction(1.0))
    ec.install(ec.Space(gravity=(0, -900)))
    for _ in range(30):
        esper.process(1 / 60)
        assert velocity(rider) == (0, 0)
    esper.remove_component(made[wall_first], ec.Carry)
    esper.process(1 / 60)

    assert velocity(rider) == (0, 0)
    assert position(rider) == (9, 3)


def test_a_belt_rubs_the_speed_off_who_walks_against_it_at_a_wall():
    #           +-+  The wall holds back what the belt adds, and the walker's own speed points away
    #    +---+--+ |  from it.  The belt rubs on that as anywhere.
    #    | < |  | |
    #   ->->->->->->->
    box((0, -1), (50, 1), ec.Carry((30, 0)), ec.Friction(0.5))
    walker = mover((6, 1), (1, 1), (0, 0), ec.Slide(), ec.Friction(0.5))
    box((8, 4), (1, 4))
    ec.install(gravity=(0, -30))
    esper.process(1 / 16)
    set_velocity(walker, -3, 0)
    speeds = []
    for _ in range(5):
        esper.process(1 / 16)
        speeds.append(velocity(walker)[0])

    assert speeds == [-2.0625, -1.125, -0.1875, 0, 0]  # 0.5 * 30 / 16 less in each step
    assert position(walker) == (6, 1)


@pytest.mark.parametrize("order", [1, -1])
def test_a_tower_stands_still_on_a_crate_that_a_wall_has_stopped(order):
    box((0, 0), (99, 1), ec.Carry(surface=(30, 0)))
    box((13, 2), (1, 1))  # only the lowest meets it
    tower = {n: mover((9, 2 + 2 * n), (2, 1), (0, 0), ec.Slide()) for n in range(5)[::order]}
    ec.install(ec.Space(gravity=(0, -900)))
    for _ in range(60):
        esper.process(1 / 60)

    assert [position(tower[n]) for n in range(5)] == [(10, 2 + 2 * n) for n in range(5)]
    assert {velocity(body) for body in tower.values()} == {(0, 0)}


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("start", [0.0, 3.0, 5.0])
def test_riders_of_a_dynamic_carrier_stop_in_the_instant_in_which_it_stops(dim, order, way, start):
    def at(x, y):
        return (x * way, y, 0)[:dim]

    half = (20, 10, 20)[:dim]
    box(at(0, -10), (999, 10, 99)[:dim])
    box(at(115, 5), (5, 5, 99)[:dim])
    made = {}
    for n in range(4)[::order]:  # the first is a trolley
        more = [] if n else [ec.Carry()]
        made[n] = mover(at(start, 10 + 20 * n), half, at(0 if n else 600, 0), ec.Slide(), *more)
    space = ec.install(ec.Space(dim=dim, gravity=at(0, -900)))
    for _ in range(60):
        esper.process(1 / 60)

    assert [position(made[n])[:2] for n in range(4)] == [(90 * way, 10 + 20 * n) for n in range(4)]
    assert {velocity(body)[:2] for body in made.values()} == {(0, 0)}
    assert not space.stats.crushed


def test_a_sleeping_rider_follows_a_carrier_that_is_hit():
    box((0, -1), (99, 1))
    trolley = mover((0, 1), (4, 1), (0, 0), ec.Slide(), ec.Carry())
    rider = mover((0, 3), (1, 1), (0, 0), ec.Slide())
    space = ec.install(ec.Space(gravity=(0, -900)))
    for _ in range(100):
        esper.process(1 / 60)
    assert space.body_kinds([rider])[0] & ec.BodyKind.ASLEEP
    ball = mover((-30, 1), (1, 0.5), (600, 0), ec.Deflect(1.0))
    for _ in range(6):
        esper.process(1 / 60)

    assert velocity(trolley)[0] > 0
    assert position(rider)[0] == pytest.approx(position(trolley)[0], abs=1e-9)
    assert velocity(rider) == (0, 0)
    assert space.carried(rider) == (velocity(trolley)[0], 0)
    assert ball


def test_the_weight_of_riders_rests_on_a_dynamic_carrier():
    low = mover((0, 10), (4, 1), (0, 0), ec.Slide(), ec.Carry())
    heavy = mover((0, 12), (1, 1), (0, -30), ec.Slide(), ec.Mass(2.0))
    space = ec.install(ec.Space())
    esper.process(1 / 8)

    assert velocity(low) == velocity(heavy) == (0, -20)
    assert space.carried(heavy) == (0, 0)


@pytest.mark.parametrize("side", [-1, 1])
def test_a_face_that_grows_carries_as_one_that_moves(side):
    floor = mover((0, 0), (50, 1), (0, 5), ec.Growth(0, 3), ec.Carry(normal=(0, side)))
    rider = mover((0, 2 * side), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(4):
        esper.process(1 / 8)
        assert velocity(rider) == (0, 0)
        assert gaps(floor, rider)[1] == 0
    assert space.carried(rider) == (0, 5 + 3 * side)
    of(floor, ec.Growth).y = 0.0
    esper.process(1 / 8)
    assert velocity(rider) == (0, 0)


@pytest.mark.parametrize("rise", ["right", "left"])
@pytest.mark.parametrize("surface", [60, -60])
@pytest.mark.parametrize("more", [ec.Friction(1.0), ec.Stop()], ids=["friction", "stop"])
@pytest.mark.quick
def test_the_belt_of_a_slope_runs_along_its_line(rise, surface, more):
    side = 1 if rise == "right" else -1
    box((0, 150), (200, 150), ec.Slope(rise), ec.Carry(surface=(surface, 0)))
    crate = mover(
        (-8 * side, 158), (8, 8), (0, 0), *([] if more == ec.Stop() else [ec.Slide()]), more
    )
    space = ec.install(ec.Space(gravity=(0, -300)))
    for _ in range(8):
        esper.process(1 / 8)

    assert space.carried(crate) == pytest.approx((surface * 0.8, surface * side * 0.6))
    assert velocity(crate) == pytest.approx((0, 0), abs=1e-12)
    assert position(crate) == pytest.approx((-8 * side + surface * 0.8, 158 + surface * side * 0.6))


@pytest.mark.parametrize("order", [1, -1])
def test_a_tower_of_new_carriers_on_a_new_lift_boards_in_any_order(order):
    made = {}
    for n in range(4)[::order]:  # a lift, and three that carry each other
        more = [ec.Carry(surface=(n, 0))] if n else [ec.Carry()]
        more += [ec.Slide()] if n else []
        made[n] = mover((0, 2 * n), (9 - n, 1), (0, 0) if n else (4, 8), *more)
    space = ec.install()
    esper.process(0.25)

    assert [position(made[n]) for n in range(4)] == [
        (1, 2), (1, 4), (1.25, 6), (1.75, 8)
    ]  # fmt: skip
    assert [space.carried(made[n]) for n in range(1, 4)] == [(4, 8), (5, 8), (7, 8)]
    assert {velocity(made[n]) for n in range(1, 4)} == {(0, 0)}


@pytest.mark.parametrize("axis", [0, 2])
def test_who_stands_on_two_belts_has_their_mean_along_each_axis(axis):
    for side, speed in ((-1, 40.0), (1, -8.0)):  # a quarter of it stands on the second
        at = [100.0 * side, -8.0, 0.0] if axis == 2 else [0.0, -8.0, 100.0 * side]
        belt = [0.0, 0.0, 0.0]
        belt[axis] = speed
        box(at, (100, 8, 100), ec.Carry(belt))
    at = (-4, 8, 0) if axis == 2 else (0, 8, -4)
    crate = mover(at, (8, 8, 8), (0, 0, 0), ec.Slide())
    space = ec.install(dim=3)
    esper.process(1 / 64)

    assert space.carried(crate)[axis] == 28.0


@pytest.mark.parametrize("speeds", list(itertools.permutations([0.1, 0.2, -0.3, 0.0])))
def test_the_mean_of_belts_that_almost_cancel_has_no_rounding_error(speeds):
    # 0.1 + 0.2 - 0.3 is 2**-55 for the three doubles, but 2**-54 if their sums are rounded.
    for n, speed in enumerate(speeds):
        box((n / 2 - 0.75, 0), (0.25, 1), ec.Carry(surface=(speed, 0)))
    rider = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)

    assert space.carried(rider) == (2**-55 / 4, 0)


def test_who_lands_has_no_memory_of_how_it_rode_before():
    mover((0, -8), (50, 8), (0, 0), ec.Carry())
    mover((200, -8), (50, 8), (30, 0), ec.Carry())
    crate = mover((0, 8), (8, 8), (-20, 0), ec.Slide())
    ec.install()
    esper.process(1 / 64)
    assert velocity(crate) == (-20, 0)

    esper.component_for_entity(crate, ec.Position).set(200, 9)
    esper.component_for_entity(crate, ec.Velocity).set(
        10, -128
    )  # as fast as one that walks at -20 on the lift
    esper.process(1 / 64)

    assert velocity(crate) == (0, 0)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    "more",
    [[ec.Damping(2)], [ec.Slide(), ec.Damping(2)], [ec.Slide(), ec.Acceleration(20, 0)]],
    ids=repr,
)
def test_riders_stay_in_their_places_on_a_carrier_that_gains_or_loses_speed(more, order):
    made = {}
    for n in range(3)[::order]:  # a raft, and two crates on each other
        parts = [ec.Slide()] if n else [ec.Carry(), *more]
        made[n] = mover((0, 2 * n), (9 - n, 1), (0, 0) if n else (40, 0), *parts)
    ec.install()
    for _ in range(8):
        esper.process(1 / 8)

        assert len({position(body)[0] for body in made.values()}) == 1
        assert velocity(made[1]) == velocity(made[2]) == (0, 0)


@pytest.mark.parametrize("steps", [30, 60, 144])
@pytest.mark.parametrize("side", [1, -1])
def test_who_slides_down_the_belt_of_a_slope_keeps_its_own_speed(side, steps):
    box((0, 150), (200, 150), ec.Slope("right"), ec.Carry(surface=(60 * side, 0)))
    crate = mover((-8, 158), (8, 8), (0, 0), ec.Slide())
    ec.install(ec.Space(gravity=(0, -100)))
    for step in range(1, steps + 1):
        esper.process(1 / steps)
        along = velocity(crate)[0] / 0.8

        assert along == pytest.approx(-60 * step / steps, abs=60 / steps)


@pytest.mark.parametrize("rise", ["right", "left"])
@pytest.mark.parametrize(("belt", "own"), [(-60, 0), (60, -38.4)], ids=["down", "up"])
def test_who_lands_on_the_belt_of_a_slope_within_a_step_gains_no_speed_by_it(belt, own, rise):
    # Of its 64 units per second 64 x 0.6 = 38.4 go down the line, which is less than the belt goes.
    side = 1 if rise == "right" else -1

    def along(speed):
        return (speed * 0.8 * side, speed * 0.6)

    box((0, 0), (200, 150), ec.Slope(rise), ec.Carry(surface=(belt * side, 0)))
    crate = mover((-4 * side, 15), (4, 4), (0, -64), ec.Slide())
    space = ec.install()
    esper.process(0.25)

    assert space.carried(crate) == pytest.approx(along(belt))
    assert velocity(crate) == pytest.approx(along(own), abs=1e-12)
    x, y = along((belt + own) * (0.25 - 11 / 64))  # it lands 11 units below its place
    assert position(crate) == pytest.approx((-4 * side + x, 4 + y))


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_who_rides_on_a_trolley_stops_with_it_between_two_steps(damping):
    box((0, -10), (999, 10))
    box((105, 5), (5, 5))
    trolley = mover((0, 10), (20, 10), (80, 0), ec.Slide(), ec.Carry())
    rider = mover((0, 28), (8, 8), (0, 0), ec.Slide(), ec.Damping(damping))
    ec.install(ec.Space(gravity=(0, -900)))
    for _ in range(80):  # it arrives at the end of the 64th
        esper.process(1 / 64)

    assert position(trolley) == (80, 10)
    assert position(rider) == (80, 28)
    assert velocity(rider) == (0, 0)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("mirror", [1, -1])
@pytest.mark.parametrize(
    ("first", "own", "second", "after"),
    [
        ([ec.Carry()], 60, [ec.Carry((40, 0))], 60),
        ([], 60, [ec.Carry((40, 0))], 60),
        ([ec.Carry((-40, 0))], 100, [ec.Carry((40, 0))], 60),
        ([ec.Carry((40, 0))], 0, [ec.Carry()], 40),
        ([ec.Carry((40, 0))], 0, [], 40),
        ([ec.Carry()], 60, [ec.Carry((-40, 0))], 20),
        ([ec.Carry((40, 0))], -20, [ec.Carry((40, 0))], 20),
        ([ec.Carry((40, 0))], 0, [ec.Carry((90, 0))], 90),
    ],
)
def test_who_slides_from_one_carrier_to_another_gains_no_speed_by_it(
    first, own, second, after, mirror, axis
):
    def at(along, across):
        return (mirror * along, across) if axis == 0 else (across, mirror * along)

    half = (100, 8) if axis == 0 else (8, 100)
    for x, parts in ((-100, first), (100, second)):
        parts = [ec.Carry(at(part.x, 0), normal=at(0, 1)) for part in parts]
        box(at(x, -8), half, *parts)
    crate = mover(at(-12, 8), (8, 8), at(own, 0), ec.Slide())
    space = ec.install(gravity=at(0, -900))
    speeds = []
    for _ in range(60):
        esper.process(1 / 60)
        speeds.append(mirror * (space.velocity_of(crate)[axis] + space.carried(crate)[axis]))

    start = own + sum(part.x for part in first)
    least, most = sorted((start, after))
    assert all(least - 1e-9 <= speed <= most + 1e-9 for speed in speeds)
    assert speeds[-1] == pytest.approx(after)


#    wall  -1   load
#    |-+  +--+                   The plough goes at 60 and is flush with both: the load stays where
#    | | +------+ cart, carries  it is on the cart.  A hammer that goes at 100 and meets the load
#    +-+ +------+                alone at that instant leaves it the rest of its speed, 40.
@pytest.mark.parametrize(("hammer", "own"), [(None, 0.0), (100.0, 40.0)], ids=["plough", "hammer"])
@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("dim", [2, 3])
def test_what_pushes_a_cart_and_its_load_at_once_does_not_count_twice(
    hammer, own, is_reversed, direction, dim
):
    def at(x, y=0.0):
        return (direction * x, y, *(0.0,) * (dim - 2))

    rest = (1,) * (dim - 2)
    parts = {
        "cart": lambda: mover(at(0, 1), (2, 1, *rest), at(0), ec.Slide(), ec.Carry()),
        "load": lambda: mover(at(-1, 3), (1, 1, *rest), at(0), ec.Slide()),
        "plough": lambda: mover(at(-3, 2), (1, 0.5 if hammer else 2, *rest), at(0)),
        "hammer": lambda: mover(at(-3, 3.5), (1, 0.25, *rest), at(0)),
    }
    names = list(parts) if hammer else list(parts)[:3]
    made = {name: parts[name]() for name in (names[::-1] if is_reversed else names)}
    space = ec.install(dim=dim)
    esper.process(1 / 64)
    set_velocity(made["plough"], *at(60))
    if hammer:
        set_velocity(made["hammer"], *at(hammer))

    for _ in range(3):
        esper.process(1 / 64)

    assert velocity(made["cart"], dim) == at(60)
    assert velocity(made["load"], dim) == pytest.approx(at(own))
    assert space.carried(made["load"]) == at(60)


def on_a_raft(raft, parts, speeds, *, dim, up, axis, railing=False, saves=False):
    """Return the own velocities of three crates on a raft, after they have met there."""

    def vector(along, height):
        found = [0.0] * dim
        found[axis], found[up] = along, height
        return tuple(found)

    size, half = [400.0] * dim, [8.0] * dim
    size[up] = 8.0
    with another_world("raft"):
        mover(vector(0, -8), size, vector(raft, 0), ec.Carry(normal=vector(0, 1)))
        if railing:
            mover(vector(100, 8), half, vector(raft, 0))
        crates = [
            mover(vector(at, 8), half, vector(0, 0), *[copy.copy(part) for part in parts[n]])
            for n, at in enumerate((-40.0, -8.0, 30.0))
        ]
        space = ec.install(dim=dim, gravity=vector(0, -400))
        for n in range(30):
            if n == 4:
                for crate, speed in zip(crates, speeds, strict=True):
                    of(crate, ec.Velocity).set(*vector(speed, 0))
            if saves:
                space.restore(space.save_state())
            esper.process(1 / 64)
        return [velocity(crate, dim)[axis] for crate in crates]


ON_A_RAFT = {
    "slide": [[ec.Slide()], [ec.Slide()], [ec.Slide()]],
    "masses": [[ec.Slide(), ec.Mass(4)], [ec.Slide()], [ec.Slide(), ec.Mass(2)]],
    "bounce": [[ec.Deflect(0.5)], [ec.Slide()], [ec.Deflect(1.0), ec.Mass(2)]],
    "ranks": [[ec.Slide(), ec.Dominance(1)], [ec.Slide()], [ec.Slide()]],
    "stops": [[ec.Stop()], [ec.Slide(), ec.Mass(4)], [ec.Stop(), ec.Mass(2)]],
    "a carrier": [[ec.Slide(), ec.Carry()], [ec.Slide()], [ec.Slide(), ec.Carry()]],
}


@pytest.mark.parametrize("parts", ON_A_RAFT)
@pytest.mark.parametrize("raft", [64.0, -24.0])
@pytest.mark.parametrize("railing", [False, True])
@pytest.mark.parametrize(("dim", "up", "axis"), [(2, 1, 0), (2, 0, 1), (3, 1, 2)])
def test_riders_of_one_raft_meet_as_on_the_ground(dim, up, axis, railing, raft, parts):
    scene = functools.partial(
        on_a_raft, parts=ON_A_RAFT[parts], dim=dim, up=up, axis=axis, railing=railing
    )
    for speeds in [(40.0, 0.0, -32.0), (96.0, 96.0, 32.0)]:
        assert scene(raft, speeds=speeds) == pytest.approx(scene(0.0, speeds=speeds), abs=1e-9)
        assert scene(raft, speeds=speeds, saves=True) == scene(raft, speeds=speeds)


@pytest.mark.parametrize("moves", [True, False])
@pytest.mark.parametrize("places", [[0], [-200, 200]])
def test_who_stops_on_its_carriers_has_no_own_speed_left(places, moves):
    #              | => |
    #     +-----------++-----------+   lifts or belts, which move along
    for place in places:
        carry = ec.Carry() if moves else ec.Carry((64, 0))
        mover((place, -8), (200, 8), (64 if moves else 0, 0), carry)
    crate = mover((-1, 4), (4, 4), (0, 0), ec.Stop())
    space = ec.install(gravity=(0, -400))
    esper.process(1 / 64)
    of(crate, ec.Velocity).x = 32.0

    esper.process(1 / 64)

    assert velocity(crate) == (0, 0)
    assert space.position_of(crate) == (1, 4)


@pytest.mark.parametrize("speeds", [(64, -64), (0, -64), (100, -30)])
def test_what_lands_far_away_changes_no_rider(speeds):
    #     +----+  +----+              +----+
    #     | => |  |    |              |    | v    later in the step
    #   ->->->->->->->->->->          +----+
    def play(is_alone):
        box((0, -8), (200, 8), ec.Carry((40, 0)))
        crates = [
            mover((x, 8), (8, 8), (speed, 0), ec.Slide())
            for x, speed in zip((-8, 8.25), speeds, strict=True)
        ]
        esper.add_component(crates[0], ec.Acceleration(320, 0))
        if not is_alone:
            box((3000, 0), (8, 8))
            mover((3000, 16.75), (8, 8), (0, -64), ec.Slide())  # at 0.75 of the step
        space = ec.install()
        esper.process(1 / 64)
        times = [hit.time for hit in space.collisions]
        assert [time for time in times if time != 0.75] == times[:1]
        return [velocity(crate) for crate in crates]

    with another_world("alone"):
        alone = play(True)
    assert play(False) == alone


@pytest.mark.parametrize("up", [1, -1])
@pytest.mark.parametrize(("raft", "own"), [(0, 0), (0, -30), (-30, 0), (-30, -30), (30, -60)])
def test_a_rider_that_hits_a_column_of_riders_keeps_the_momentum(raft, own, up):
    #             +---+
    #    +---+    | C |
    #    | A | -> +---+
    #    |   |    | B |
    #  +-+---+----+---+--+
    #  |      raft       |
    mover((0, -16 * up), (200, 16), (raft, 0), ec.Carry())
    bodies = [
        mover((-66, 8 * up), (8, 8), (raft + 120, 0), ec.Slide()),
        mover((-45, 4 * up), (8, 4), (raft + own, 0), ec.Slide()),
        mover((-45, 16 * up), (8, 8), (raft + own, 0), ec.Slide()),
    ]
    space = ec.install(gravity=(0, -900 * up))
    esper.process(1 / 60)
    before = [space.velocity_of(body)[0] for body in bodies]

    for _ in range(9):
        esper.process(1 / 60)

    after = [space.velocity_of(body)[0] for body in bodies]
    assert after == [pytest.approx(sum(before) / 3)] * 3


@pytest.mark.parametrize("slides", [0, 0.5])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("up", [1, -1])
@pytest.mark.parametrize("lands", [{1: -32, 2: -64}, {3: -16}, {2: -8, 4: -16}])
def test_crates_that_land_as_a_step_begins_stay_on_a_tower_of_riders(lands, up, side, slides):
    #       | crate | v
    #      | crate | v   they touch what is below them when a step has ended
    #     | crate |
    #  ================
    rubs = [ec.Friction(1)] if slides else []
    box((0, -up), (50, 1), ec.Carry(normal=(0, up)), *rubs)
    places = [(side * n / 4, (1 + 2 * n) * up) for n in range(6)]
    tower = [mover(place, (2, 1), (0, 0), ec.Slide(), *rubs) for place in places]
    ec.install(gravity=(0, -64 * up))
    esper.process(1 / 64)
    for n, crate in enumerate(tower):
        set_velocity(crate, (slides * (n > 1), lands.get(n, 0) * up))
    for _ in range(3):
        esper.process(1 / 64)
        assert [velocity(crate) for crate in tower] == [(0, 0)] * 6
        assert [position(crate) for crate in tower] == places


@pytest.mark.parametrize("side", [1, -1])
def test_a_hit_from_above_lets_each_rider_of_a_tower_rub_on_the_one_below(side):
    #      | |
    #    |     |     a pile falls onto a crate that slides, and its top falls onto it a step later:
    #      | |       then they press hard enough to stop together
    #    |     |
    #      | |->
    #   |       |
    #   =========
    box((0, -16), (100, 16), ec.Carry())
    crates = [
        mover((side * x, y), half, (side * speed, 0), ec.Slide(), *rubs)
        for x, y, half, speed, rubs in [
            (3, 8, (16, 8), 0, [ec.Friction(0.25)]),
            (3, 20, (8, 4), 60, []),
            (-5, 29, (16, 4), 0, [ec.Friction(0.5)]),
            (-9, 41, (8, 8), 0, []),
            (-9, 53, (16, 4), 0, []),
            (-5, 66, (8, 8), 0, []),
        ]
    ]
    ec.install(gravity=(0, -900))

    for _ in range(2):
        esper.process(1 / 30)
    assert [velocity(crate)[0] for crate in crates] == [0, side * 15, side * 15, side * 15, 0, 0]
    esper.process(1 / 30)

    assert [velocity(crate) for crate in crates] == [(0, 0)] * 6


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("up", [1, -1])
def test_a_carrier_pushes_what_blocks_it_before_its_riders_do(up, side, order):
    #       +---+---+
    #       | 2 | 3 |    at the start of the second step both 1 and 2 push the crate that falls
    #       +---+   |
    #       | 1 +---+
    #   ================  ->
    mover((0, -16 * up), (100, 16), (side * 32, 0), ec.Carry(normal=(0, up)))
    places = (0, 4), (0, 12), (16, 12)
    made = {
        n: mover((side * places[n][0], up * places[n][1]), (8, 4), (0, 0), ec.Slide())
        for n in range(3)[::order]
    }
    space = ec.install(gravity=(0, -1024 * up))
    for _ in range(2):
        esper.process(1 / 64)

    first, second = space.collisions[1:3]
    assert {first.first, first.second} == {made[0], made[2]}
    assert {second.first, second.second} == {made[1], made[2]}
    assert space.velocity_of(made[2]) == pytest.approx((side * 80 / 3, up * -32))


@pytest.mark.parametrize("dx", [1, -1])
@pytest.mark.parametrize("speed", [60, 0, -60])
@pytest.mark.parametrize(("n_standing", "n_falling"), [(2, 1), (2, 2), (3, 3)])
def test_crates_that_fall_on_riders_of_a_lift_do_not_bounce(n_standing, n_falling, speed, dx):
    #     +---+
    #     | C |
    #     +---+
    #       v
    #    +---+
    #    | B |
    #    +---+
    #   | A |
    #  +-+---+--+
    #  |  lift  |
    mover((0, 0), (16, 4), (0, speed), ec.Carry())
    heights = [8 * n for n in range(n_standing)]
    heights += [20 + 8 * (n_standing + n) for n in range(n_falling)]
    crates = [mover((dx * n, 8 + y), (4, 4), (0, 0), ec.Slide()) for n, y in enumerate(heights)]
    space = ec.install(gravity=(0, -1000))

    for _ in range(30):
        esper.process(1 / 60)

    for below, crate in itertools.pairwise(crates):
        assert space.position_of(crate)[1] == space.position_of(below)[1] + 8
    assert [space.velocity_of(crate) for crate in crates] == [(0, 0)] * len(crates)
    assert [space.carried(crate) for crate in crates] == [(0, speed)] * len(crates)
