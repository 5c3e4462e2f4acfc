"""`Acceleration`: a pull of one body, with the exact paths, rest, friction and sleep of gravity."""

from __future__ import annotations

import math
import random

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from ecs_collide.space import parts_of
from tests.scenes import another_world, box, mover, of, position, velocity
from tests.volume import further

DT = 1 / 64
RATES = (30, 60, 144)


def steps(n, dt=DT):
    for _ in range(n):
        esper.process(dt)


# -- as gravity --

UP = (0.0, 1.0, 0.0)
PULL = (0.0, -512.0, 0.0)


def build(seed, dim, pull):
    """Create a scene of everything that meets gravity, and crates that `pull` pulls."""
    rng = random.Random(seed)

    def at(x, y):
        return (x, y, 0.0)[:dim]

    def crate(x, y, *more, speed=(0.0, 0.0)):
        half = (rng.choice([2.0, 3.0, 4.0]), rng.choice([2.0, 3.0]), 2.0)[:dim]
        own = [] if pull is None else [ec.Acceleration(*pull)]
        return mover(at(x, y), half, at(*speed), *more, *own)

    box(at(0, -10), (200, 10, 50)[:dim], ec.Friction(0.5))
    box(at(0, 120), (200, 10, 50)[:dim])
    box(at(-60, 10), (20, 10, 50)[:dim], ec.Slope("left"), ec.Friction(0.1))
    mover(at(60, 2), (15, 2, 9)[:dim], at(0, 16), ec.Carry())
    box(at(110, 2), (15, 2, 9)[:dim], ec.Carry(surface=(24, 0)))
    box(at(-110, 20), (15, 1, 9)[:dim], ec.OneWay())
    crates = [
        crate(-66, 40, ec.Slide(), ec.Friction(0.2)),
        crate(-54, 60, ec.Deflect(0.5)),
        crate(60, 30, ec.Slide()), crate(60, 40, ec.Stop()),
        crate(110, 20, ec.Slide(), ec.Friction(1.0)), crate(112, 40, ec.Push()),
        crate(-110, 60, ec.Slide()), crate(-108, 10, ec.Slide(), speed=(0, 200)),
        crate(0, 5, ec.Slide(), ec.Friction(0.5), speed=(100, 0)),
        crate(10, 20, ec.Slide(), ec.Mass(5)), crate(10, 40, ec.Slide()),
        crate(11, 60, ec.Deflect(0.9)), crate(-20, 20, ec.Separate(20), ec.Slide()),
        crate(-19, 21, ec.Separate(20), ec.Slide()), crate(-30, 60, ec.Slide(), ec.Damping(2.0)),
        crate(-5, 60, ec.Slide(), ec.LockedAxes(y=True)),
        crate(30, 60, ec.Slide(), ec.MaxSpeed(90)),
        crate(-80, 60, ec.Deflect(0.4), ec.Dominance(1)), crate(30, 20, ec.Slide(), ec.PushOut()),
    ]  # fmt: skip
    for entity in crates:
        of(entity, ec.Position).x += rng.choice([0.0, 0.25, -0.5])
    return crates


def play(space, crates, n=160, dts=(1 / 32, 1 / 64, 1 / 128)):
    """Play a scene in steps of uneven lengths, with a lift that turns; return all that is seen."""
    log = []
    lifts = [entity for entity, _ in esper.get_components(ec.Carry, ec.Velocity)]
    for n_steps in range(n):
        if n_steps == 70:
            for lift in lifts:
                of(lift, ec.Velocity).y = -16.0
        if n_steps == 90:
            space.teleport(crates[0], (-66, 50, 0)[: space.dim])
        esper.process(dts[n_steps % len(dts)])
        log.append(
            [(position(each, 3), velocity(each, 3)) for each in crates]
            + [
                repr(event)
                for event in [*space.collisions, *space.contacts_began, *space.contacts_ended]
            ]
        )
    return log


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", [0, *further(1, 2, 3)])
@pytest.mark.parametrize("how", [{}, {"wrap": True}, {"sleep": False}], ids=str)
@pytest.mark.slow_in_python
def test_gravity_and_the_same_acceleration_of_each_body_have_the_same_bits(
    how, seed, dim, world, implementation
):
    logs, up = [], UP[:dim]
    if "wrap" in how:
        how = {"wrap": (400.0, *[None] * (dim - 1))}
    for part in (1.0, 0.0, 0.5):  # of the pull that is gravity
        with another_world(f"{world} {part}"):
            gravity = tuple(k * part for k in PULL[:dim])
            rest = tuple(k * (1.0 - part) for k in PULL)
            space = ec.install(dim=dim, up=up, gravity=gravity, **how)
            crates = build(seed, dim, None if part == 1.0 else rest)
            logs.append(play(space, crates))
            space.check()

    assert logs[0] == logs[1]
    assert logs[0] == logs[2]


# -- paths --


def test_change_between_steps_acts_from_the_next_step_on(world, implementation):
    ec.install(gravity=(0, -64))
    body = mover((0, 0), (1, 1), (0, 0), ec.Slide())

    for pull, speed in ((None, -16), ((0, 128), 0), ((32, 64), 0), (None, -16)):
        if pull is None and esper.has_component(body, ec.Acceleration):
            esper.remove_component(body, ec.Acceleration)
        elif pull is not None and esper.has_component(body, ec.Acceleration):
            of(body, ec.Acceleration).xy = pull
        elif pull is not None:
            esper.add_component(body, ec.Acceleration(*pull))
        before = velocity(body)[1]
        esper.process(0.25)
        assert velocity(body)[1] - before == -16 + (pull[1] / 4 if pull else 0)
        assert speed is not None


def test_teleport_keeps_the_acceleration(world, implementation):
    space = ec.install()
    body = mover((0, 0), (1, 1), (0, 0), ec.Slide(), ec.Acceleration(64, 0))
    esper.process(0.25)

    space.teleport(body, (100, 50))
    esper.process(0.25)

    assert velocity(body) == (32, 0)
    assert position(body) == (100 + 16 / 4 + 64 / 32, 50)


def test_locked_axis_has_no_pull(world, implementation):
    ec.install(gravity=(0, -90))
    body = mover(
        (0, 0), (1, 1), (0, 0), ec.Slide(), ec.Acceleration(64, 128), ec.LockedAxes(y=True)
    )

    steps(64)

    assert position(body) == (32, 0)
    assert velocity(body) == (64, 0)


def test_it_acts_on_dynamic_bodies_only(world, implementation):
    ec.install()
    pull = 64, 64
    bodies = [
        mover((0, 0), (1, 1), (2, 0), ec.Acceleration(pull)),
        mover((20, 0), (1, 1), (2, 0), ec.Slide(), ec.Mass(math.inf), ec.Acceleration(pull)),
        mover((40, 0), (1, 1), (2, 0), ec.Slide(), ec.Sensor(), ec.Acceleration(pull)),
    ]

    steps(10)

    assert [velocity(body) for body in bodies] == [(2, 0)] * 3


@pytest.mark.parametrize("kind", [ec.Acceleration(64, 64), ec.Damping(3)], ids=repr)
def test_body_that_the_game_moves_goes_where_the_game_says(kind, world, implementation):
    ec.install(motion="swept")
    body = box((0, 0), (1, 1), ec.Slide(), kind)
    esper.process(DT)

    for n in range(1, 4):
        of(body, ec.Position).x = n
        esper.process(DT)
        assert position(body) == (n, 0)


def test_characters_and_bodies_without_gravity_have_none(world, implementation):
    class Bullet:
        pass

    space = ec.install()
    parts_of(space).registry.exempt_from_gravity(Bullet)
    pull = ec.Acceleration(64, 0)
    floor = box((0, -10), (99, 10))
    hero = mover((0, 4), (4, 4), (0, 0), ec.Slide(), Character(), pull)
    shot = mover((0, 40), (1, 1), (8, 0), ec.Slide(), Bullet(), pull)

    steps(20)

    assert position(hero) == (0, 4)
    assert velocity(shot) == (8, 0)
    assert space.is_on(hero).first == floor


# -- contacts --


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(
    ("pull", "gravity"), [(3000, (0, -900)), (1800, (0, -900)), (2100, None), (2100, (50, 0))]
)
def test_magnet_on_a_ceiling_comes_to_rest_with_one_contact(
    pull, gravity, rate, world, implementation
):
    space = ec.install(gravity=gravity, up=(0, 1))
    box((0, 160), (1000, 10), ec.Friction(1, rule="max"))
    crate = mover((0, 100), (12, 12), (0, 0), ec.Slide(), ec.Acceleration(0, pull))
    began = []
    space.on_contact_began(began.append)

    steps(4 * rate, 1 / rate)

    assert space.bounds(crate)[1][1] == 150.0
    assert velocity(crate) == (0, 0)
    assert len(began) == 1
    assert space.stats.asleep == 1


def test_magnet_that_is_switched_off_or_turned_wakes_what_it_held(world, implementation):
    space = ec.install(gravity=(0, -256))
    box((0, 40), (50, 10))
    crates = [
        mover((30 * n, 20), (10, 10), (0, 0), ec.Slide(), ec.Acceleration(0, 512)) for n in (-1, 1)
    ]
    below = mover((-30, 5), (5, 5), (0, 0), ec.Slide(), ec.Acceleration(0, 512))
    steps(64)
    assert space.stats.asleep == 3

    esper.remove_component(crates[1], ec.Acceleration)
    of(below, ec.Acceleration).y = 0.0
    steps(64)

    assert position(crates[0]) == (-30, 20)
    assert position(crates[1]) == (30, 20 - 128)
    assert position(below) == (-30, 5 - 128)


def test_acceleration_that_presses_is_part_of_the_friction(world, implementation):
    ec.install(gravity=(0, -100))
    box((0, -10), (9999, 10), ec.Friction(0.5, rule="max"))
    for press, stops in ((0, 64 / 50), (-100, 64 / 100), (50, 64 / 25)):
        sled = mover((0, 5), (5, 5), (64, 0), ec.Slide(), ec.Acceleration(0, press))

        steps(round(stops / 2 * 64))
        assert velocity(sled)[0] == pytest.approx(32, abs=1)
        steps(round(stops / 2 * 64) + 1)
        assert velocity(sled) == (0, 0)
        esper.delete_entity(sled, immediate=True)


def test_rider_is_pulled_relative_to_its_lift(world, implementation):
    space = ec.install(gravity=(0, -256))
    lift = mover((0, -4), (500, 4), (16, 32), ec.Carry())
    rider = mover((0, 4), (4, 4), (0, 0), ec.Slide(), ec.Acceleration(32, -64))

    esper.process(DT)  # it boards
    start, speed = position(rider)[0] - position(lift)[0], velocity(rider)[0]

    steps(64)

    assert velocity(rider) == pytest.approx((speed + 32, 0))
    assert position(rider)[0] - position(lift)[0] == pytest.approx(start + speed + 16)
    assert space.bounds(rider)[0][1] == pytest.approx(space.bounds(lift)[1][1])


def test_what_is_pulled_goes_on_the_same_after_a_restore(world, implementation):
    space = ec.install(gravity=PULL[:2])
    crates = build(3, 2, (24.0, 64.0, 0.0))
    steps(90)
    data, before = space.snapshot(), space.state_hash()
    steps(60)
    later = space.state_hash()
    for crate in crates:
        of(crate, ec.Acceleration).y = 0.0
    assert space.state_hash() != before

    space.restore(data)
    assert space.state_hash() == before
    steps(60)

    assert space.state_hash() == later
