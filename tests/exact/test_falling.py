"""Steps of falling boxes against exact fractions: floors, ceilings, lifts, magnets, bounces."""

from __future__ import annotations

import random
from fractions import Fraction

import esper
import pytest

import ecs_collide as ec
from tests.exact.falling import Falling
from tests.scenes import box, mover
from tests.volume import further

TOLERANCE = 1e-9


def exact(value: float) -> Fraction:
    return Fraction(value)


@pytest.mark.parametrize("seed", [0, 1, 2, *further(3, 4)])
def test_steps_of_falling_boxes_are_those_of_the_exact_rules(seed, world, implementation, volume):
    rng = random.Random(seed)
    gravity = -rng.choice([8.0, 100.0, 900.0])
    space = ec.install(gravity=(0.0, gravity), sleep=False)
    scenes = []
    for n in range(12):
        x = 100.0 * n
        rises = rng.choice([0.0, 0.0, 2.0, -1.5])
        floor = box((x, -5.0), (9.0, 5.0), ec.Velocity(0.0, rises))
        ceiling = box((x, rng.choice([9.0, 14.5])), (9.0, 1.0))
        restitution = rng.choice([0.0, 0.0, 0.25, 0.5, 0.9, 1.0])
        kind = ec.Deflect(restitution) if restitution else ec.Slide()
        body = mover((x, rng.uniform(1.0, 6.0)), (1.0, 1.0), (0.0, rng.uniform(-50, 50)), kind)
        pull = rng.choice([0.0, 0.0, -0.5, -1.5, 0.25]) * gravity
        if pull:
            esper.add_component(body, ec.Acceleration(0.0, pull))
        damping = rng.choice([0.0, 0.0, 0.5, 5.0, 40.0])
        if damping:
            esper.add_component(body, ec.Damping(damping))
        scenes.append((floor, ceiling, body, restitution, gravity + pull, damping, rises))
    n_impacts, n_steps = 0, volume(60, 120, 400, least=30)

    for _ in range(n_steps):
        dt = rng.choice([1 / 144, 1 / 60, 1 / 30, 0.1])
        for floor, *_, rises in scenes:  # not so high that a box is crushed
            high = space.bounds(floor)[1][1] if floor in space else 0.0
            speed = esper.component_for_entity(floor, ec.Velocity)
            speed.y = -abs(rises) if high > 2.0 else abs(rises) if high < -2.0 else speed.y
        expected = [_step_of(*scene[:-1], dt) for scene in scenes]
        esper.process(dt)
        for (_, _, body, *_), (falling, met) in zip(scenes, expected, strict=True):
            at = esper.component_for_entity(body, ec.Position).y
            velocity = esper.component_for_entity(body, ec.Velocity).y
            events = space.collisions_of(body)
            n_impacts += len(events)
            assert at == pytest.approx(float(falling.low) + 1.0, abs=TOLERANCE)
            assert velocity == pytest.approx(float(falling.velocity), abs=1e-6)
            assert len(events) == len(met)
            for event, (time, speed, _) in zip(events, met, strict=True):
                own = event.velocity_first if event.first == body else event.velocity_second
                assert event.time == pytest.approx(float(time), abs=1e-9)
                assert own[1] == pytest.approx(float(speed), abs=1e-6)

    assert n_impacts > n_steps / 2


def _step_of(floor, ceiling, body, restitution, acceleration, damping, dt):
    """Return a box after a step by the exact rules, from where it is now, and what it has met."""

    def faces(entity):
        at = exact(esper.component_for_entity(entity, ec.Position).y)
        half = exact(esper.component_for_entity(entity, ec.Extents).y)
        return at - half, at + half

    low, high = faces(body)
    top, bottom = faces(floor)[1], faces(ceiling)[0]
    falling = Falling(
        low if abs(low - top) > TOLERANCE / 1000 else top,
        high if abs(low - top) > TOLERANCE / 1000 else top + (high - low),
        exact(esper.component_for_entity(body, ec.Velocity).y),
        exact(acceleration),
        exact(restitution),
        top,
        exact(esper.component_for_entity(floor, ec.Velocity).y),
        bottom,
        Fraction(0),
        exact(damping),
    )
    return falling, falling.step(exact(dt))


def test_the_judge_takes_no_bounce_that_gains_energy():
    falling = Falling(
        Fraction(20), Fraction(22), Fraction(0), Fraction(-900), Fraction(1),
        Fraction(0), Fraction(0), Fraction(1000), Fraction(0),
    )  # fmt: skip
    energy = falling.velocity**2 / 2 + 900 * falling.low

    for _ in range(40):
        falling.step(Fraction(1, 60))
        after = falling.velocity**2 / 2 + 900 * falling.low
        assert after <= energy
        energy = after
