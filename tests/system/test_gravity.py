"""Gravity and damping: free fall, bounces, rest, and what they do to everything else."""

from __future__ import annotations

import math
import random

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from ecs_collide.space import parts_of
from tests.scenes import box, mover

DT = 1 / 60
G = 900.0


def velocity(entity):
    return esper.component_for_entity(entity, ec.Velocity)


def position(entity):
    return esper.component_for_entity(entity, ec.Position)


def steps(n, dt=DT):
    for _ in range(n):
        esper.process(dt)


@pytest.mark.parametrize("n", [1, 3, 7, 60, 144])
def test_free_fall_is_the_parabola_for_any_dt(n, world, implementation):
    ec.install(gravity=(30.0, -G))
    body = mover((5.0, 2.0), (1.0, 1.0), (3.0, 100.0), ec.Slide())

    steps(n, 1.0 / n)

    assert position(body).xy == pytest.approx((5.0 + 3.0 + 15.0, 2.0 + 100.0 - 450.0), rel=1e-12)
    assert velocity(body).xy == pytest.approx((33.0, -800.0), rel=1e-12)


def test_one_step_of_dyadic_numbers_is_exact(world, implementation):
    ec.install(gravity=(0.0, -8.0))
    body = mover((0.0, 0.0), (1.0, 1.0), (0.5, 4.0), ec.Slide())

    esper.process(0.25)

    assert position(body).xy == (0.125, 4.0 * 0.25 - 8.0 * 0.25 * 0.25 / 2)
    assert velocity(body).xy == (0.5, 2.0)


@pytest.mark.parametrize("n", [1, 4, 60])
@pytest.mark.parametrize("damping", [0.01, 0.7, 5.0, 100.0])
def test_damping_is_the_exponential_for_any_dt(damping, n, world, implementation):
    ec.install(gravity=(0.0, -G))
    body = mover((0.0, 0.0), (1.0, 1.0), (50.0, 0.0), ec.Slide(), ec.Damping(damping))

    steps(n, 1.0 / n)

    left = math.exp(-damping)
    assert velocity(body).x == pytest.approx(50.0 * left, rel=1e-12)
    assert position(body).x == pytest.approx(50.0 * (1.0 - left) / damping, rel=1e-11)
    assert velocity(body).y == pytest.approx(-G * (1.0 - left) / damping, rel=1e-11)
    assert position(body).y == pytest.approx(
        -G / damping * (1.0 - (1.0 - left) / damping), rel=1e-9
    )


@pytest.mark.parametrize("rate", [30, 60, 144])
@pytest.mark.parametrize("friction", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("more", [(), (ec.Slope("left"),)], ids=["", "beside a slope"])
def test_damping_goes_on_while_a_body_slides(more, friction, rate, world, implementation):
    ec.install(gravity=(0.0, -G))
    box((0.0, -20.0), (5000.0, 20.0), ec.Friction(friction, rule="max"))
    box((0.0, 900.0), (10.0, 10.0), *more)
    body = mover((0.0, 12.0), (12.0, 12.0), (900.0, 0.0), ec.Slide(), ec.Damping(2.0))

    steps(rate // 2, 0.5 / (rate // 2))

    # v' = -friction * g - damping * v
    final = -friction * G / 2.0
    assert velocity(body).xy == pytest.approx(((900.0 - final) * math.exp(-1.0) + final, 0.0))


@pytest.mark.parametrize("rate", [30, 60, 144])
def test_damping_goes_on_along_a_slope(rate, world, implementation):
    ec.install(gravity=(0.0, -G))
    box((0.0, 0.0), (2000.0, 2000.0), ec.Slope("left"))
    body = mover((1.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Damping(2.0))

    steps(rate, 1.0 / rate)

    along = G / 2.0 * (1.0 - math.exp(-2.0)) / 2.0
    assert velocity(body).xy == pytest.approx((along, -along))


@pytest.mark.parametrize("rate", [30, 60, 144])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    "response", [ec.Slide, ec.Stop, ec.Push, ec.Deflect], ids=lambda r: r.__name__
)
def test_what_presses_together_reaches_the_terminal_speed_of_all(
    response, order, axis, rate, world, implementation
):
    # A crowd that steers by Acceleration and slows by Damping: the rear ones push the others.
    def along(value):
        return [value if k == axis else 0.0 for k in range(3)]

    ec.install(dim=3)
    crowd = [(1.0, 340.0, 1.0), (4.0, 320.0, 1.5), (2.0, 300.0, 2.0), (1.0, 280.0, 3.0)]
    velocities = []
    for n in range(len(crowd))[::order]:
        mass, acceleration, damping = crowd[n]
        velocities.append(ec.Velocity(*along(order * 100.0)))
        esper.create_entity(
            ec.Position(*along(order * 2.0 * n)), ec.Extents(1, 1, 1), velocities[-1], response(),
            ec.Mass(mass), ec.Acceleration(*along(order * acceleration)), ec.Damping(damping),
        )  # fmt: skip

    steps(10 * rate, 1.0 / rate)

    thrust = sum(mass * acceleration for mass, acceleration, _ in crowd)
    drag = sum(mass * damping for mass, _, damping in crowd)
    rel = 0.15 if response is ec.Deflect else 0.01  # bodies that rebound have speeds of their own
    for velocity in velocities:
        assert velocity.xyz[axis] == pytest.approx(order * thrust / drag, rel=rel)


@pytest.mark.parametrize("masses", [(1.0, 1.0), (1.0, 3.0), (3.0, 1.0)], ids=str)
@pytest.mark.parametrize("side", [1, -1])
def test_a_damped_body_slows_who_runs_into_it(masses, side, world, implementation):
    ec.install()
    velocities = [ec.Velocity(side * 100.0, 0.0) for _ in masses]
    dampings = 0.0, 2.0
    for n, mass in enumerate(masses):
        more = velocities[n], ec.Slide(), ec.Mass(mass), ec.Damping(dampings[n])
        box((side * 2.0 * n, 0.0), (1.0, 1.0), *more)

    steps(60, 1.0 / 60.0)

    left = 100.0 * math.exp(-2.0 * masses[1] / sum(masses))
    for velocity in velocities:
        assert side * velocity.x == pytest.approx(left, rel=0.02)


def test_push_turns_a_pair_that_pulls_part_in_both_mirror_images(world, implementation):
    # Once they have met they have one velocity but for rounding, and then their pulls part them.
    rng = random.Random(1)
    ec.install()
    pairs = []
    for row in range(60):
        speeds = rng.uniform(50, 150), rng.uniform(-150, -50)
        pulls = rng.uniform(-60, -20), rng.uniform(20, 60)
        beside = rng.uniform(4, 10)
        for side in (1, -1):
            velocities = [ec.Velocity(side * v, 70.0 - 73.0 * n) for n, v in enumerate(speeds)]
            for n, v in enumerate(velocities):
                place = side * (100.0 + 15.0 * n), 50.0 * row - beside * n
                more = ec.Damping(1), ec.Acceleration(side * pulls[n], 0)
                box(place, (7, 7), v, ec.Push(), *more)
            pairs.append(velocities)

    steps(3, 1.0 / 60.0)

    for one, other in zip(pairs[::2], pairs[1::2], strict=True):
        for n in range(2):
            assert one[n].xy == pytest.approx((-other[n].x, other[n].y))
        assert one[1].y < -5.0  # it was -3


@pytest.mark.parametrize("seed", range(6))
def test_no_step_of_a_damped_crowd_gains_energy(seed, world, implementation):
    rng = random.Random(seed)
    dt = rng.choice([1 / 144, 1 / 60, 1 / 30, 0.1])
    ec.install()
    for x, y, half in [(0, 45, (50, 5)), (0, -45, (50, 5)), (45, 0, (5, 50)), (-45, 0, (5, 50))]:
        box((x, y), half)
    moving = []
    for n in range(14):
        place = [-30 + 15 * c + rng.uniform(-2, 2) for c in (n % 4, n // 4)]
        v = ec.Velocity(rng.uniform(-60, 60), rng.uniform(-60, 60))
        mass = ec.Mass(rng.choice([0.1, 1.0, 3.0]))
        response = rng.choice([ec.Slide(), ec.Push(), ec.Stop(), ec.Deflect(0.5), ec.Deflect()])
        damping = ec.Damping(rng.choice([0.1, 0.5, 5.0, 20.0]))
        box(place, (rng.uniform(2, 5), rng.uniform(2, 5)), v, mass, response, damping)
        moving.append((v, mass.value))
    energy = math.inf

    for _ in range(60):
        esper.process(dt)

        before, energy = energy, sum(mass * (v.x * v.x + v.y * v.y) for v, mass in moving)
        assert energy <= before * (1.0 + 1e-9)


@pytest.mark.parametrize("response", [ec.Slide(), ec.Stop(), ec.Push(), ec.Deflect(0.5)], ids=repr)
@pytest.mark.parametrize("normal", [(-1, 1), (1, 1)], ids=str)
def test_damping_adds_nothing_to_a_landing_on_a_slope(normal, response, world, implementation):
    ec.install()
    slope = ec.Slope("left" if normal[0] > 0 else "right")
    box((0.0, 0.0), (50.0, 50.0), ec.Friction(0.2), slope)
    start = 90.0 * normal[0], 90.0 * normal[1]
    body = mover(start, (1.0, 1.0), (-10.0 * start[0], -10.0 * start[1]), response, ec.Damping(9.0))
    away, most = [], 0.0

    for _ in range(30):
        before = velocity(body).xy
        esper.process(DT)
        after = velocity(body).xy
        assert math.hypot(*after) <= math.hypot(*before)
        away.append(sum(a * b for a, b in zip(after, normal, strict=True)))
        most = max(most, -away[-1])

    most *= response.restitution if isinstance(response, ec.Deflect) else 0.0
    assert max(away) <= most + 1e-9


def test_what_is_not_dynamic_does_not_fall(world, implementation):
    ec.install(gravity=(0.0, -G))
    bodies = [
        mover((0.0, 0.0), (1.0, 1.0), (2.0, 0.0)),
        mover((20.0, 0.0), (1.0, 1.0), (2.0, 0.0), ec.Slide(), ec.Mass(math.inf)),
        mover((40.0, 0.0), (1.0, 1.0), (2.0, 0.0), ec.Slide(), ec.Sensor()),
        mover((60.0, 0.0), (1.0, 1.0), (2.0, 0.0), ec.Slide(), ec.GravityScale(0.0)),
    ]

    steps(10)

    assert [velocity(body).xy for body in bodies] == [(2.0, 0.0)] * 4
    assert [position(body).y for body in bodies] == [0.0] * 4


def test_gravity_scale_is_taken_up_when_it_changes(world, implementation):
    ec.install(gravity=(0.0, -64.0))
    body = mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.GravityScale(-0.5))

    esper.process(0.25)
    assert velocity(body).y == 8.0
    esper.component_for_entity(body, ec.GravityScale).value = 2.0
    esper.process(0.25)
    assert velocity(body).y == 8.0 - 32.0
    esper.remove_component(body, ec.GravityScale)
    esper.process(0.25)
    assert velocity(body).y == -24.0 - 16.0


@pytest.mark.parametrize(
    "response", [ec.Slide(), ec.Stop(), ec.Push(), ec.Deflect(0.3), ec.Deflect(0.9)], ids=repr
)
def test_a_body_comes_to_rest_with_a_gap_of_zero_and_no_normal_velocity(
    response, world, implementation
):
    ec.install(gravity=(0.0, -G), sleep=False)
    box((0.0, -10.0), (100.0, 10.0))
    body = mover((0.1, 3.7), (1.0, 1.0), (0.0, 0.0), response)

    steps(300)

    for _ in range(5):
        esper.process(DT)
        assert position(body).xy == (0.1, 1.0)
        assert velocity(body).xy == (0.0, 0.0)


def test_an_elastic_ball_loses_no_more_than_the_chord_takes(world, implementation):
    space = ec.install(gravity=(0.0, -G))
    box((0.0, -10.0), (100.0, 10.0))
    ball = mover((0.1, 21.0), (1.0, 1.0), (0.0, 0.0), ec.Deflect())
    n_bounces = 0

    for _ in range(600):
        esper.process(DT)
        n_bounces += len(space.collisions)
    energy = velocity(ball).y ** 2 / 2 + G * (position(ball).y - 1.0)

    assert n_bounces > 20
    assert energy >= G * 20.0 - n_bounces * (G * DT) ** 2 / 8


def test_events_report_the_velocities_of_the_instant(world, implementation):
    space = ec.install(gravity=(0.0, -8.0))
    box((0.0, -1.0), (9.0, 1.0))
    mover((0.0, 2.5), (1.0, 1.0), (0.0, -2.0), ec.Slide())

    esper.process(0.5)  # the chord is 2 units long, and meets the floor after 1.5

    (event,) = space.collisions
    assert event.time == 0.75
    assert event.velocity_second == (0.0, -2.0 - 8.0 * 0.375)
    assert event.closing_speed == 5.0


def test_a_resting_body_closes_at_no_speed(world, implementation):
    space = ec.install(gravity=(0.0, -G), sleep=False)
    box((0.0, -1.0), (9.0, 1.0))
    mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())

    esper.process(DT)

    assert [event.closing_speed for event in space.collisions] == [0.0]


@pytest.mark.parametrize("up", [1, -1])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_fall_onto_two_tiles_has_one_closing_speed(dim, up, world, implementation):
    def at(x, y):
        return (x, up * y, *(0,) * (dim - 2))

    mover(at(0, 3), (1,) * dim, at(0, -5), ec.Slide())
    for x in (-2, 2):
        box(at(x, 0), (2, *(1,) * (dim - 1)))
    space = ec.install(dim=dim, gravity=at(0, -10))

    esper.process(0.5)

    landed, stopped = space.collisions
    assert stopped.outcome is ec.Outcome.STOPPED_ALREADY
    assert landed.closing_speed == stopped.closing_speed == -up * landed.velocity_first[1]


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_a_bounce_has_the_impulse_that_turned_the_body(
    restitution, is_first, world, implementation
):
    space = ec.install(gravity=(0.0, -G))
    if not is_first:
        box((0.0, -1.0), (9.0, 1.0))
    ball = mover((0.0, 1.5), (1.0, 1.0), (0.0, -100.0), ec.Deflect(restitution), ec.Mass(2.0))
    if is_first:
        box((0.0, -1.0), (9.0, 1.0))

    esper.process(DT)

    (event,) = space.collisions
    before = -100.0 - G * DT * event.time
    after = velocity(ball).y + G * DT * (1.0 - event.time)
    assert event.impulse == pytest.approx(2.0 * (after - before))
    assert after == pytest.approx(-restitution * before)


def test_two_that_bounce_in_the_air_pass_on_what_they_would_without_gravity(world, implementation):
    space = ec.install(gravity=(0.0, -G))
    mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Deflect(1.0), ec.Mass(2.0))
    mover((0.0, 3.1), (1.0, 1.0), (0.0, -20.0), ec.Deflect(1.0), ec.Mass(3.0))

    esper.process(DT)

    assert [event.impulse for event in space.collisions] == pytest.approx([2 * 20.0 * 2 * 3 / 5])


def test_two_of_one_mass_exchange_their_velocities_even_if_gravity_pulls_only_one(
    world, implementation
):
    space = ec.install(gravity=(0.0, -8.0))
    balloon = mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Deflect(), ec.GravityScale(0.0))
    ball = mover((0.0, 2.0), (1.0, 1.0), (0.0, -4.0), ec.Deflect())

    esper.process(0.125)

    assert velocity(balloon).y == -4.0
    assert velocity(ball).y == -8.0 * 0.125
    assert [event.impulse for event in space.collisions] == [4.0]


def test_a_body_that_lies_on_something_is_hit_at_rest(world, implementation):
    space = ec.install(gravity=(-8.0, 0.0))
    seen = []

    class Ball:
        pass

    def respond(impact):
        seen.append((velocity(crate).x, velocity(crate).y))
        return ec.DEFAULT

    space.respond_with(Ball, respond)
    wall = box((-1.0, 0.0), (1.0, 9.0))
    crate = mover((1.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
    how = (ec.Slide(), ec.GravityScale(0.0), Ball())
    ball = mover((1.0, 2.0), (1.0, 1.0), (0.0, -4.0), *how)

    esper.process(DT)

    met = [(hit.first, hit.second, hit.velocity_first) for hit in space.collisions]
    assert seen == [(0, 0)]
    assert met == [(wall, crate, (0, 0)), (crate, ball, (0, 0))]


@pytest.mark.parametrize("more", [[], [ec.Growth(0.5, 0.0)], [ec.Growth(0.0, 1e-9)]])
def test_who_lies_on_something_passes_its_weight_on_in_each_step(more, world, implementation):
    space = ec.install(gravity=(0.0, -G), sleep=False)
    box((0.0, -1.0), (9.0, 1.0))
    mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Mass(2.0), *more)
    mover((5.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Mass(4.0))
    mover((5.0, 3.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Mass(6.0))

    for _ in range(4):
        esper.process(DT)
        impulses = [event.impulse for event in space.collisions]
        assert impulses == pytest.approx([2.0 * G * DT, 4.0 * G * DT, 6.0 * G * DT])


@pytest.mark.parametrize("up", [1.0, -1.0])
def test_a_landing_takes_the_weight_of_the_rest_of_the_step_too(up, world, implementation):
    space = ec.install(gravity=(0.0, -up * G))
    box((0.0, -up), (9.0, 1.0))
    mover((0.0, up * 1.5), (1.0, 1.0), (0.0, -up * 100.0), ec.Slide(), ec.Mass(2.0))

    esper.process(DT)

    assert [event.impulse for event in space.collisions] == pytest.approx([2.0 * (100.0 + G * DT)])


def test_friction_forgets_a_gravity_that_was_switched_off(world, implementation):
    space = ec.install(gravity=(0.0, -G), sleep=False)
    box((0.0, -1.0), (90.0, 1.0))
    crate = mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Friction(0.5))
    esper.process(DT)

    space.gravity = (0.0, 0.0)
    velocity(crate).set(50.0, -1.0)
    esper.process(DT)

    assert velocity(crate).xy == (49.5, 0.0)


@pytest.mark.parametrize(("friction", "holds"), [(0.4, False), (0.6, True)])
def test_friction_holds_a_crate_on_a_wall_if_it_is_pressed_enough(
    friction, holds, world, implementation
):
    ec.install(gravity=(0.0, -G))
    box((10.0, 0.0), (1.0, 900.0))
    crate = mover((8.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Friction(friction))

    for _ in range(30):
        velocity(crate).x = 2.0 * G * DT  # presses it twice as hard as it is heavy
        esper.process(DT)

    # The crate is held from below by 2 * friction times its weight.
    fallen = 0.0 if holds else (1.0 - 2.0 * friction) * G * 0.5**2 / 2
    assert position(crate).y == pytest.approx(-fallen, rel=0.1)
    assert (velocity(crate).y == 0.0) == holds


def test_a_character_keeps_its_own_gravity(world, implementation):
    heights = []
    for gravity in (None, (0.0, -G)):
        esper.switch_world(f"characters {gravity} {implementation}")
        ec.install(gravity=gravity)
        hero = mover((0.0, 50.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), Character())
        steps(30)
        heights.append(position(hero).y)

    assert heights[0] == heights[1] < 50.0


def test_a_response_of_the_game_sees_and_sets_the_velocity_of_the_instant(world, implementation):
    space = ec.install(gravity=(0.0, -8.0))
    seen = []

    class Ball:
        pass

    def respond(impact):
        entity = impact.first if esper.has_component(impact.first, Ball) else impact.second
        seen.append((impact.time, velocity(entity).y))
        velocity(entity).y = -velocity(entity).y

    space.respond_with(Ball, respond)
    box((0.0, -1.0), (9.0, 1.0))
    ball = mover((0.0, 2.5), (1.0, 1.0), (0.0, -2.0), Ball())

    esper.process(0.5)  # the chord is 4 units a second, and 2 units long: it meets at 0.75

    assert seen == [(0.75, -5.0)]
    # Up with 5 from the floor, for an eighth of a second.
    assert position(ball).y == 1.0 + 5.0 * 0.125 - 4.0 * 0.125**2
    assert velocity(ball).y == 4.0
    assert not space.stats.forced


def test_a_response_that_resolves_sees_and_sets_the_velocity_after_it(world, implementation):
    space = ec.install(gravity=(0.0, -8.0))
    seen = []

    def respond(impact):
        impact.resolve(ec.Deflect(0.5))
        seen.append(velocity(impact.second).y)
        velocity(impact.second).y *= 2.0

    space.respond_with(ec.Slide, respond)
    box((0.0, -1.0), (9.0, 1.0))
    ball = mover((0.0, 2.5), (1.0, 1.0), (0.0, -2.0), ec.Slide())

    esper.process(0.5)  # it meets at 0.75, with 5 units a second

    assert seen == [2.5]
    assert position(ball).y == 1.0 + 5.0 * 0.125 - 4.0 * 0.125**2
    assert velocity(ball).y == 4.0


@pytest.mark.parametrize("resolves", [False, True])
@pytest.mark.parametrize("pull", [0.0, -8.0])
def test_the_impulse_is_the_momentum_that_a_response_gives(pull, resolves, world, implementation):
    space = ec.install(gravity=(0.0, pull))

    class Ball:
        pass

    def respond(impact):
        if resolves:
            impact.resolve(ec.Deflect(0.5))
        impact.set_velocity(ball, (0.0, 5.0))

    space.respond_with(Ball, respond)
    box((0.0, -1.0), (9.0, 1.0))
    ball = mover((0.0, 2.5), (1.0, 1.0), (0.0, -2.0), Ball(), ec.Mass(2))

    esper.process(1.0)

    (event,) = space.collisions
    assert event.impulse == 2.0 * (5.0 - event.velocity_second[1])


class Late:
    """Its impacts are handed to the game."""


def meet_a_lasting_cluster(pull, respond):
    """Let a body meet three that go on together to the end of the step; return all and the space.

    0.0 s   ->A    B    C      D<-     B joins A, then both join C, the heavier, and last
    """
    space = ec.install(gravity=(pull, 0.0))
    a = mover((0, 0), (1, 1), (20, 0), ec.Slide())
    b = mover((4, 0), (1, 1), (0, 0), ec.Slide())
    c = mover((8, 0), (1, 1), (0, 0), ec.Slide(), ec.Mass(3))
    d = mover((20, 0), (1, 1), (-16, 0), ec.Slide(), Late())
    space.respond_with(Late, respond)
    esper.process(1.0)
    return space, (a, b, c, d)


@pytest.mark.parametrize("pull", [0.0, -4.0])
def test_events_and_responses_tell_the_same_velocity_of_a_lasting_cluster(
    pull, world, implementation
):
    seen = []

    def respond(impact):
        seen.append((impact.velocity_first, impact.velocity_second, impact.closing_speed))

    space, (_, _, c, d) = meet_a_lasting_cluster(pull, respond)

    event = next(e for e in space.collisions if (e.first, e.second) == (c, d))
    assert seen[0] == (event.velocity_first, event.velocity_second, event.closing_speed)
    # All fall alike, so the two close as they would without gravity.
    assert event.velocity_first[0] - event.velocity_second[0] == pytest.approx(16.0, rel=1e-14)
    assert event.closing_speed == pytest.approx(16.0, rel=1e-14)


@pytest.mark.parametrize("pull", [0.0, -4.0])
def test_who_joins_a_lasting_cluster_leaves_the_step_as_fast_as_the_others(
    pull, world, implementation
):
    _, members = meet_a_lasting_cluster(pull, lambda impact: ec.DEFAULT)

    shared = (20.0 - 16.0) / 6.0 + pull
    assert [velocity(e).x for e in members] == pytest.approx([shared] * 4, rel=1e-14)
    assert len({velocity(e).x for e in members}) == 1


def test_a_response_that_only_stops_a_body_on_its_floor_is_not_forced(world, implementation):
    space = ec.install(gravity=(0.0, -8.0))

    class Crate:
        pass

    space.respond_with(Crate, lambda impact: velocity(impact.second).set(0.0, 0.0))
    box((0.0, -1.0), (9.0, 1.0))
    crate = mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), Crate())

    for _ in range(4):
        esper.process(0.5)
        assert space.stats.forced == 0
        assert velocity(crate).y == 0.0
        assert position(crate).y == 1.0


def test_a_body_is_free_to_fall_from_a_ceiling_at_once(world, implementation):
    ec.install(gravity=(0.0, -8.0))
    box((0.0, 5.0), (9.0, 1.0))
    body = mover((0.0, 3.0), (1.0, 1.0), (0.0, 4.0), ec.Slide())

    esper.process(0.5)

    assert position(body).y == 3.0 - 8.0 * 0.25 / 2
    assert velocity(body).y == -4.0


def test_up_is_against_gravity_where_it_is_not_given():
    assert ec.Space(gravity=(0, 900)).up == (0.0, -1.0)
    assert ec.Space(gravity=(-5, 0)).up == (1.0, 0.0)
    assert ec.Space(gravity=(5, -5)).up == (0.0, 1.0)
    assert ec.Space(dim=3, gravity=(0, 0, -5)).up == (0.0, 0.0, 1.0)
    assert ec.Space(gravity=(0, 900), up=(1, 0)).up == (1.0, 0.0)
    assert ec.Space().up == (0.0, 1.0)


def test_wrong_settings_are_refused():
    for wrong in (9.81, (1,), (1, 2, 3), "ab", (0, math.nan), (0, 2.0**101), (None, 0)):
        with pytest.raises(ValueError, match=r"Space\(dim=2, gravity=.*must be 2 numbers"):
            ec.Space(gravity=wrong)
    with pytest.raises(ValueError, match="must be None with motion='swept'"):
        ec.Space(gravity=(0, -9), motion="swept")
    with pytest.raises(ValueError, match="must be None with motion='swept'"):
        ec.Space(motion="swept").gravity = (0, -9)


def test_install_takes_gravity_and_compares_it(world):
    space = ec.install(gravity=(0, -900), sleep=True)

    assert ec.install(gravity=(0.0, -900.0), up=(0, 1)) is space
    with pytest.raises(ValueError, match="gravity="):
        ec.install(gravity=(0, -901))


def test_gravity_is_saved_and_what_falls_goes_on_the_same(world, implementation):
    def build():
        space = ec.install(gravity=(0.0, -G))
        box((0.0, -10.0), (100.0, 10.0))
        for k in range(6):
            more = [ec.Damping(0.5)] if k % 2 else [ec.GravityScale(1.5)]
            mover((k * 1.7, 3.0 * k + 2.3), (1.0, 1.0), (5.0, 0.0), ec.Deflect(0.5), *more)
        return space

    space = build()
    steps(20)
    data = space.snapshot()
    steps(60)
    later = space.state_hash()
    space.gravity = (0.0, 0.0)
    space.restore(data)
    assert space.gravity == (0.0, -G)
    steps(60)

    assert space.state_hash() == later


def test_explain_says_what_gravity_will_close(world):
    space = ec.install(gravity=(0.0, -G))
    floor = box((0.0, -1.0), (90.0, 1.0))
    crate = mover((0.0, 3.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
    balloon = mover((9.0, 3.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.GravityScale(-0.1))
    bullet = mover((18.0, 3.0), (1.0, 1.0), (0.0, -4.0))
    rail = mover((27.0, 3.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.LockedAxes(y=True))
    hero = mover((36.0, 3.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), Character())
    diver = mover((45.0, 3.0), (1.0, 1.0), (0.0, -4.0), ec.Slide())

    def gap(entity):
        found = space.explain(floor, entity).findings
        return [str(f) for f in found if f.cause in ("gap", "ahead")]

    assert gap(crate) == ["gap 2 on y, which gravity closes"]
    for entity in (balloon, rail, hero):
        assert gap(entity) == ["gap 2 on y, which does not close"]
    how = "gap 2 on y, closing by 4 a second"
    assert gap(bullet) == [how, "left alone they meet in 0.5 seconds"]
    assert gap(diver) == [how, "left alone, and without gravity, they meet in 0.5 seconds"]


@pytest.mark.parametrize(
    "component",
    [
        ec.Dominance(1),
        ec.Friction(0.5),
        ec.Restitution(0.5),
        ec.MaxSpeed(1e6),
        ec.LockedAxes(x=True),
        ec.Damping(0.0),
        ec.GravityScale(1.0),
        ec.Mass(2.0),
    ],
    ids=lambda component: type(component).__name__,
)
def test_gravity_is_left_to_any_component_also_to_our_own(component, world, implementation):
    space = ec.install(gravity=(0.0, -G))
    parts_of(space).registry.exempt_from_gravity(type(component))
    falling = mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
    floating = mover((50.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), component)

    steps(5)

    assert position(falling).y < 0.0
    assert position(floating).y == 0.0


@pytest.mark.parametrize("start", [-3.5, -5.0])
def test_stop_at_rest_that_is_hit_from_the_side_stays_on_its_floor(start, world, implementation):
    ec.install(gravity=(0.0, -G))
    box((0.0, -1.0), (100.0, 1.0))
    body = mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Stop())
    steps(3)
    mover((start, 1.2), (1.0, 1.0), (300.0, 0.0), ec.Slide(), ec.GravityScale(0.0))

    for _ in range(4):
        esper.process(DT)
        assert (position(body).y, velocity(body).y) == (1.0, 0.0)

    assert position(body).x > 0.0


def test_bodies_of_different_gravity_scale_that_press_fall_as_one(world, implementation):
    space = ec.install(gravity=(0.0, -8.0))
    balloon = mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.GravityScale(0.0))
    crate = mover((0.0, 2.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Mass(3.0))

    esper.process(0.5)

    # Three of four units of mass fall: 3/4 of gravity acts on both.
    assert velocity(balloon).xy == velocity(crate).xy == (0.0, -3.0)
    assert position(balloon).y == -0.75
    assert position(crate).y == 1.25
    assert len(space.contacts()) == 1


@pytest.mark.parametrize("damping", [0.0, 6.0])
@pytest.mark.parametrize("driven", [0, 1, 2])
@pytest.mark.parametrize("elastic", [0, 1, 2])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("axis", [0, 1])
def test_nothing_bounces_off_a_row_at_rest_that_one_of_it_pushes(
    axis, side, elastic, driven, damping, world, implementation
):
    def along(x):
        return (side * x, 0.0) if axis == 0 else (0.0, side * x)

    ec.install()
    bodies = [
        mover(along(20.0 * n), (10.0, 10.0), (0.0, 0.0),
              ec.Deflect(1.0) if n == elastic else ec.Slide(), ec.Damping(damping),
              ec.Acceleration(*along(300.0 if n == driven else 0.0)))
        for n in range(3)
    ]  # fmt: skip

    steps(60)

    driven_speed, *others = (velocity(body).xy[axis] * side for body in bodies[driven:])
    n_moving = 3 - driven
    speed = 300.0 / n_moving
    if damping:
        speed *= (1.0 - math.exp(-damping)) / damping
    assert driven_speed == pytest.approx(speed, rel=1e-12)
    assert others == [driven_speed] * (n_moving - 1)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("up", [1, -1])
def test_boxes_that_fall_together_meet_once_if_one_of_them_is_hit(up, side, world, implementation):
    #  +---+    +---+
    #  |hit| -> |top|
    #  +---+  +-+-+-+-+
    #         | a | b |    a and b fall a bit faster
    #         +---+---+
    top = mover((0, 16 * up), (8, 8), (0, 0), ec.Stop())
    below = [
        mover((9 * side, 0), (8, 8), (0, -0.1 * up), ec.Slide()),
        mover((-9 * side, 0), (8, 8), (0, -0.2 * up), ec.Slide()),
    ]
    mover((-16.25 * side, 20 * up), (8, 8), (60 * side, 0), ec.Slide())
    space = ec.install(gravity=(0, -G * up))

    esper.process(DT)

    pairs = [{hit.first, hit.second} for hit in space.collisions]
    assert [pairs.count({top, body}) for body in below] == [1, 1]
    assert [velocity(body).y for body in (top, *below)] == pytest.approx(
        [-15 * up, -15.1 * up, -15.2 * up], rel=1e-12
    )


@pytest.mark.parametrize("up", [1, -1])
@pytest.mark.parametrize("axis", [0, 1])
def test_what_lands_on_a_stack_stops_as_on_its_floor(up, axis, world, implementation):
    def at(along, across=0.0):
        return (across, up * along) if axis else (up * along, across)

    floor = box(at(-10), at(10 * up, 400))
    stack = [mover(at(6 + 12 * n), (6, 6), (0, 0), ec.Slide()) for n in range(3)]
    anvil = mover(at(42.5), (6, 6), at(-64), ec.Slide(), ec.Mass(10), ec.GravityScale(0))
    space = ec.install(gravity=at(-64))

    esper.process(1 / 64)

    hits = [(hit.time, {hit.first, hit.second}, hit.impulse) for hit in space.collisions]
    assert hits[-1] == (0.5, {stack[2], anvil}, 640.0)
    assert [pair for time, pair, _ in hits if time == 0.0] == [
        {floor, stack[0]}, {stack[0], stack[1]}, {stack[1], stack[2]},
    ]  # fmt: skip
    assert len(hits) == 4
    assert [velocity(body).xy for body in (*stack, anvil)] == [(0, 0)] * 4


@pytest.mark.parametrize("side", [1, -1])
def test_what_stands_rises_with_what_lands_on_it_if_both_are_hit_at_once(
    side, world, implementation
):
    #          +---+ falls
    #          | c |
    #        +-+---+-+
    #        |   b   |
    #     +--+-+   +-+
    #     |    | ^ |       a ram comes up beside the table
    box((-15 * side, -10), (10, 10))
    standing = mover((0, 6), (6, 6), (0, 0), ec.Slide())
    landing = mover((0, 18.5), (6, 6), (0, -64), ec.Slide(), ec.GravityScale(0))
    box((0, -6.5), (4, 6), ec.Velocity(0, 64))
    ec.install(gravity=(0, -64))

    esper.process(1 / 64)

    assert velocity(standing).xy == velocity(landing).xy == (0, 64)
    assert position(standing).y == 6.5
    assert position(landing).y == 18.5
