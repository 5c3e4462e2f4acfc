"""What must hold after every step of any scene, judged from the components alone.

Random rooms full of everything, also on a grid of whole numbers, where boxes
touch, meet at corners and arrive at the same instant all the time.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import esper
import pytest

import ecs_collide as ec
from tests.oracles import Oracle
from tests.scenes import mixed_bodies
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world", "implementation")


def grid_bodies(seed, dim, unit=1.0):
    """Make a crowd in which every length is a multiple of half a unit."""
    rng = random.Random(seed)
    n = rng.randint(4, 30)
    reach = rng.choice([4, 8, 12])
    kinds = [ec.Stop, ec.Push, ec.Slide, ec.Deflect]
    bodies = []
    for _ in range(n):
        centre = [rng.randint(-reach, reach) / 2 * unit for _ in range(dim)]
        size = [rng.choice([0.5, 0.5, 1, 1, 2, 0]) * unit for _ in range(dim)]
        body = [ec.Position(*centre), ec.Extents(*size)]
        if rng.random() < 0.7:
            speed = [rng.choice([-8, -4, -1, 0, 0, 1, 4, 8]) * unit for _ in range(dim)]
            body.append(ec.Velocity(*speed))
            if rng.random() < 0.85:
                body.append(rng.choice(kinds)())
        if rng.random() < 0.1:
            body.append(ec.Growth(*[rng.choice([-1, 0, 0.5, 1]) * unit for _ in range(dim)]))
        if rng.random() < 0.1:
            body.append(ec.Sensor())
        if rng.random() < 0.3:
            body.append(ec.Mass(rng.choice([0.5, 2, 3, float("inf")])))
        bodies.append(body)
    return bodies


def run(bodies, dim, steps, dt):
    for body in bodies:
        esper.create_entity(*body)
    space = ec.install(dim=dim)
    oracle = Oracle(space, dim)
    for _ in range(steps):
        oracle.begin()
        esper.process(dt)
        oracle.end()
    space.check()


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", [11, 12])
def test_a_room_with_some_of_everything(dim, seed):
    run(mixed_bodies(seed, dim), dim, steps=40, dt=1 / 60)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("unit", [1.0, 0.1])
@pytest.mark.parametrize("seed", [0, 1, 2, *further(*range(3, 15))])
def test_a_crowd_on_a_grid(dim, unit, seed):
    run(grid_bodies(seed, dim, unit), dim, steps=12, dt=[0.125, 0.25, 1.0][seed % 3])


@pytest.mark.parametrize("other", [ec.Slide, ec.Deflect, ec.Stop, ec.Push])
@pytest.mark.parametrize("response", [ec.Slide, ec.Deflect, ec.Stop, ec.Push])
def test_momentum_is_kept_along_the_normal_and_by_two_that_stop(response, other, volume):
    rng = random.Random(1)
    space = ec.install()
    along = [1] if response is other is ec.Stop else []

    for _ in range(volume(10, 100)):
        esper.clear_database()
        masses = [10.0 ** rng.uniform(-3, 6) for _ in range(2)]
        speeds = [(rng.uniform(5, 50), rng.uniform(-20, 20)), (rng.uniform(-50, 4), 3.0)]
        for n, kind in enumerate((response, other)):
            esper.create_entity(
                ec.Position(4.0 * n, 0.0),
                ec.Extents(1.0, 1.0 + 30.0 * n),
                ec.Velocity(*speeds[n]),
                ec.Mass(masses[n]),
                kind(),
            )
        esper.process(1.0)

        assert space.stats.answers == 1
        after = space.velocities().tolist()
        for k in [0, *along]:
            change = sum(
                Fraction(mass) * (Fraction(new[k]) - Fraction(old[k]))
                for mass, new, old in zip(masses, after, speeds, strict=True)
            )
            size = sum(abs(mass * old[k]) for mass, old in zip(masses, speeds, strict=True))
            assert abs(change) <= 2 * math.ulp(size)
