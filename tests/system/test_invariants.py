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
from tests.random_worlds import Draw
from tests.scenes import mixed_bodies
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world", "implementation")


def crowd_on_a_grid(seed, dim, unit):
    """Create a crowd in which every length is a multiple of a quarter of a unit."""
    rng = random.Random(seed)
    draw = Draw(
        rng,
        dim,
        mixture=0.5,
        reach=rng.choice([2, 4, 6]),
        sizes=(0.5, 1, 2, 0),
        speed=8.0,
        on_grid=True,
    )
    for _ in range(rng.randint(4, 30)):
        place, size, *_ = parts = draw.parts()
        for part in (
            place,
            size,
            *(part for part in parts if type(part) in (ec.Velocity, ec.Growth)),
        ):
            part.set(*(unit * number for number in part.xyz[:dim]))
        draw.bodies.append(esper.create_entity(*parts))


def run(dim, steps, dt):
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
    for body in mixed_bodies(seed, dim):
        esper.create_entity(*body)
    run(dim, steps=40, dt=1 / 60)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("unit", [1.0, 0.1])
@pytest.mark.parametrize("seed", [0, 1, 2, *further(*range(3, 15))])
def test_a_crowd_on_a_grid(dim, unit, seed):
    crowd_on_a_grid(seed, dim, unit)
    run(dim, steps=12, dt=[0.125, 0.25, 1.0][seed % 3])


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

        assert space.stats.resolutions == 1
        after = space.velocities().tolist()
        for k in [0, *along]:
            change = sum(
                Fraction(mass) * (Fraction(new[k]) - Fraction(old[k]))
                for mass, new, old in zip(masses, after, speeds, strict=True)
            )
            size = sum(abs(mass * old[k]) for mass, old in zip(masses, speeds, strict=True))
            assert abs(change) <= 2 * math.ulp(size)
