"""Platforms that are solid from one side: jumped through, landed on, dropped through."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, Ledger, box, gaps, mover, position, set_velocity, velocity
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world", "implementation")

UP = (0, 1)
AXES = [(k, sign, dim) for dim in (2, 3) for k in range(dim) for sign in (-1, 1)]


def along(k, sign, dim, value, other=0.0):
    """Return a vector with `value` along a direction and `other` on the next axis."""
    vector = [0.0] * dim
    vector[k] = value * sign + 0.0
    vector[(k + 1) % dim] = other
    return tuple(vector)


@pytest.mark.parametrize("speed", [100.0, 500.0, 5e5])
@pytest.mark.parametrize("dt", [1 / 60, 1 / 7, 1.0])
def test_a_jump_through_from_below_lands_on_top(speed, dt):
    platform = box((0, 0), (10, 1), ec.OneWay(UP))
    ceiling = box((0, 40), (10, 1))
    jumper = mover((0, -20), (1, 1), (0, speed), ec.Slide(), Falls())
    space = ec.install()
    ledger = Ledger(space)
    esper.add_processor(Gravity(-50.0), priority=200)
    for _ in range(math.ceil(4 / dt)):
        esper.process(dt)
        ledger.record()

    assert position(jumper) == (0, 2)
    assert space.is_on(jumper).other(jumper) == platform
    assert [pair for pair, _ in ledger.ends if platform in pair] == []  # passing it was no contact
    if speed > 100:
        assert (ceiling, jumper) in [pair for pair, _ in ledger.ends]


@pytest.mark.parametrize(
    "phase", [0.0, 0.3125, *further(*[n / 16 for n in range(16) if n not in (0, 5)])]
)
def test_walking_over_platforms_side_by_side_never_snags_nor_falls(phase):
    for x in range(-50, 50, 4):
        box((x, -1), (2, 1), ec.OneWay(UP))
    walker = mover((-40 + phase, 1), (1, 1), (0, 0), ec.Slide(), Falls())
    ec.install()
    esper.add_processor(Gravity(-900.0), priority=200)
    for _ in range(120):
        esper.component_for_entity(walker, ec.Velocity).x = 40.0
        esper.process(1 / 60)
        assert velocity(walker) == (40, 0)
        assert position(walker)[1] == 1


@pytest.mark.parametrize("place", [(6, 0), (-6, 0.5), (0, -2), (3, -2)])
def test_what_touches_another_side_is_in_no_contact(place):
    box((0, 0), (5, 1), ec.OneWay(UP))
    body = mover(place, (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)

    assert space.contacts(body) == []


def test_a_platform_that_turns_round_under_one_who_sleeps_on_it():
    platform = box((0, 0), (5, 1), ec.OneWay(UP))
    sleeper = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(30):
        esper.process(0.1)
    assert space.stats.asleep == 1  # and nothing wakes it
    assert space.is_on(sleeper).other(sleeper) == platform

    esper.component_for_entity(platform, ec.OneWay).normal = (0, -1)
    esper.process(0.1)
    assert space.contacts(sleeper) == []


class TestDropThrough:
    """What `Space.drop_through` does."""

    def stand(self, *, tiles=2):
        self.tiles = [box((4 * n, -1), (2, 1), ec.OneWay(UP)) for n in range(tiles)]
        self.crate = mover((2, 1), (1, 1), (0, 0), ec.Slide(), Falls())
        self.space = ec.install()
        self.ledger = Ledger(self.space)
        esper.add_processor(Gravity(-60.0), priority=200)
        self.steps(5)

    def steps(self, n):
        for _ in range(n):
            esper.process(1 / 60)
            self.ledger.record()

    def test_it_falls_through_all_that_it_stands_on_and_lands_below(self):
        self.stand()
        floor = box((0, -20), (50, 1))
        assert len(self.space.contacts(self.crate)) == 2

        assert self.space.drop_through(self.crate)
        assert len(self.space.contacts(self.crate)) == 2  # as of the last step
        self.steps(1)
        assert self.space.contacts(self.crate) == []

        dropped = [((tile, self.crate), ec.EndReason.DROPPED) for tile in self.tiles]
        assert self.ledger.ends == dropped
        self.steps(90)
        assert position(self.crate) == (2, -18)
        assert self.space.is_on(self.crate).other(self.crate) == floor
        assert self.ledger.ends == dropped

    def test_only_from_the_one_that_is_named(self):
        self.stand()
        assert self.space.drop_through(self.crate, self.tiles[0])
        self.steps(5)

        assert position(self.crate) == (2, 1)
        assert [c.other(self.crate) for c in self.space.contacts(self.crate)] == [self.tiles[1]]
        esper.component_for_entity(self.crate, ec.Velocity).x = -60.0  # off the other one
        self.steps(60)
        assert position(self.crate)[1] < -3

    def test_who_jumps_instead_lands_again(self):
        self.stand(tiles=1)
        self.space.drop_through(self.crate)
        set_velocity(self.crate, 0, 20)
        self.steps(90)

        assert position(self.crate) == (2, 1)
        assert [c.other(self.crate) for c in self.space.contacts(self.crate)] == self.tiles

    def test_who_has_left_it_for_a_hair_lands_again(self):
        self.stand(tiles=1)
        self.space.drop_through(self.crate)
        set_velocity(self.crate, 0, 1.5)  # half a unit a second after what gravity takes
        self.steps(1)
        assert 1 < position(self.crate)[1] < 1.01
        self.steps(5)

        assert position(self.crate) == (2, 1)

    def test_who_sleeps_is_pushed_through_by_what_falls_on_it(self):
        platform = box((0, 0), (5, 1), ec.OneWay(UP), ec.Filter(1, 1))  # no stones
        sleeper = mover((0, 2), (1, 1), (0, 0), ec.Slide())
        space = ec.install()
        for _ in range(30):
            esper.process(0.1)
        assert space.drop_through(sleeper, platform)
        for _ in range(16):
            esper.process(0.1)
        assert space.stats.asleep == 1

        mover((0, 6), (1, 1), (0, -20), ec.Slide(), ec.Filter(2, ec.ALL))
        esper.process(0.2)
        assert position(sleeper) == (0, 1)

    def test_what_no_longer_is_a_platform_holds_again(self):
        self.stand(tiles=1)
        self.space.drop_through(self.crate)
        self.steps(2)
        depth = position(self.crate)[1]
        esper.remove_component(self.tiles[0], ec.OneWay)
        self.steps(5)

        assert position(self.crate)[1] == depth < 1
        assert (self.tiles[0], self.crate) in self.ledger.open

    def test_of_nothing(self):
        self.stand()
        other = mover((50, 0), (1, 1), (0, 0), ec.Slide())
        self.steps(1)
        assert not self.space.drop_through(other)
        assert not self.space.drop_through(self.crate, other)
        with pytest.raises(KeyError, match="12345 is no body"):
            self.space.drop_through(12345)
        with pytest.raises(KeyError, match="12345 is no body"):
            self.space.drop_through(self.crate, 12345)

    def test_a_wall_and_a_solid_floor_are_no_platforms(self):
        self.stand()
        box((2, -3), (5, 1))  # below the tiles
        wall = box((4, 2), (1, 1))
        esper.component_for_entity(self.crate, ec.Velocity).x = 1.0
        self.steps(1)
        assert (self.crate, wall) in self.ledger.open
        assert self.space.drop_through(self.crate)
        self.steps(1)
        assert (self.crate, wall) in self.ledger.open

    def test_not_within_a_step(self):
        self.stand()
        self.space.update_bounds(1 / 60)
        with pytest.raises(RuntimeError, match="within a step"):
            self.space.drop_through(self.crate)

    def test_in_a_handler(self):
        self.stand()
        self.space.on_collision(lambda event: self.space.drop_through(self.crate))
        self.steps(60)
        assert position(self.crate)[1] < -5

    def test_the_platform_or_the_body_goes_meanwhile(self):
        self.stand()
        self.space.drop_through(self.crate)
        self.steps(1)
        esper.delete_entity(self.tiles[0], immediate=True)
        self.steps(1)
        esper.component_for_entity(self.crate, ec.Position).y = 30.0
        self.steps(1)
        assert [why for _, why in self.ledger.ends] == [ec.EndReason.DROPPED] * 2
        self.steps(120)
        assert position(self.crate) == (2, 1)

    def test_who_becomes_a_sensor_meanwhile_crosses(self):
        self.stand(tiles=1)
        self.space.drop_through(self.crate)
        self.steps(2)
        esper.add_component(self.crate, ec.Sensor())
        self.steps(2)
        assert [c.kind for c in self.space.contacts(self.crate)] == [ec.ContactKind.CROSSING]
        self.steps(60)
        assert self.ledger.open == set()


def test_a_normal_out_of_a_2d_space_is_quarantined():
    box((0, 0), (5, 1), ec.OneWay((0, 0, 1)))
    ec.install()
    with pytest.warns(RuntimeWarning, match="of the space"):
        esper.process(1.0)


@pytest.mark.parametrize(("k", "sign", "dim"), AXES)
@pytest.mark.parametrize("carried", [False, True])
def test_a_crate_that_has_it_stands_and_is_jumped_through_and_landed_on(k, sign, dim, carried):
    up = along(k, sign, dim, 1)
    # In a well, whose walls it does not pass either.
    lift = [ec.Velocity(*along(k, sign, dim, 6))] if carried else []
    floor = box(along(k, sign, dim, -10), (10,) * dim if dim == 2 else (10, 10, 10), *lift)
    crate = mover(
        along(k, sign, dim, 9), (2,) * dim, (0,) * dim, ec.Slide(), ec.Mass(9), ec.OneWay()
    )
    wall = box(along(k, sign, dim, 0, -60), tuple(50.0 if n == k else 8.0 for n in range(dim)))
    hero = mover(along(k, sign, dim, 3, 5), (1,) * dim, along(k, sign, dim, 40), ec.Slide())
    space = ec.install(gravity=along(k, sign, dim, -100), up=up, dim=dim)
    for step in range(130):
        if step == 30:  # under the crate, which stands by then
            on = position(floor, dim)[k] * sign + 11
            esper.component_for_entity(hero, ec.Position).set(*along(k, sign, dim, on, 0))
            set_velocity(hero, *along(k, sign, dim, 34 + 6 * carried))
        if step == 90:
            set_velocity(crate, *along(k, sign, dim, 0, -600))
        esper.process(1 / 60)
        assert gaps(crate, floor, dim)[k] >= -1e-9 or max(gaps(crate, floor, dim)) > 0
        assert max(gaps(crate, wall, dim)) >= -1e-9
        if step == 29:
            assert space.is_on(crate, up).other(crate) == floor
        if step == 89:
            assert space.is_on(hero, up).other(hero) == crate


def test_moving_a_body_that_has_it_by_hand_stops_at_a_wall_and_not_for_who_is_open_to_it():
    platform = mover((0, 0), (4, 1), (0, 0), ec.Slide(), ec.OneWay())
    wall = box((20, 0), (2, 20))
    hero = mover((0, 5), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)

    assert [hit.entity for hit in space.check_move(platform, (30, 0)).hits if hit.is_solid] == [
        wall
    ]
    assert [hit.entity for hit in space.check_move(platform, (0, 9)).hits if hit.is_solid] == [hero]
    assert not [hit for hit in space.check_move(platform, (0, -9)).hits if hit.is_solid]
