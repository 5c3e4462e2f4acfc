"""Nothing goes through a wall, however thin, at whatever speed and step."""

from __future__ import annotations

import math

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import (
    box,
    gaps,
    mover,
    position,
    set_velocity,
    velocity,
)

pytestmark = pytest.mark.usefixtures("world", "implementation")

SPEED = 1e6
HALF = 0.1
THIN = 0.5e-3  # half of a wall 1e-3 thick
PHASES = range(50)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("dt", [1 / 60, 10.0])
@pytest.mark.parametrize("response", [ec.Stop, ec.Slide])
def test_a_bullet_stops_at_a_thin_wall_at_every_start_phase(dim, dt, response):
    #
    #   o ========================================================> |
    #   the bullet: 0.2 long, 16,667 or 10,000,000 a step           the wall: 0.001 thick
    #
    bullets, walls = [], []
    for phase in PHASES:
        across = [100.0 * phase, 7.0][: dim - 1]
        way = SPEED * dt * phase / len(PHASES)
        wall = box((0.0, *across), (THIN, *(40.0,) * (dim - 1)))
        start = -(THIN + HALF + way)
        ahead = (SPEED, *(0.0,) * (dim - 1))
        bullets.append(mover((start, *across), (HALF,) * dim, ahead, response()))
        walls.append(wall)
    space = ec.install(dim=dim)

    for _ in range(2):  # the first phases touch the wall, give or take an ulp
        esper.process(dt)

    ulp = math.ulp(HALF + THIN)
    for bullet, wall in zip(bullets, walls, strict=True):
        gap = gaps(bullet, wall, dim)[0]
        assert position(bullet, dim)[0] < 0
        assert 0 <= gap <= ulp
        assert velocity(bullet, dim) == (0,) * dim
    assert space.stats.bodies == 2 * len(PHASES)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("dt", [1 / 60, 10.0])
def test_an_oblique_bullet_slides_along_the_wall_it_hits(dim, dt):
    # Half as fast along the wall as into it; the wall is wide enough for all of it.
    way = SPEED * dt
    motion = [SPEED, *[SPEED / 2] * (dim - 1)]
    bullet = mover([-0.3 * way, *[0.0] * (dim - 1)], [HALF] * dim, motion, ec.Slide())
    wall = box([0.0] * dim, [THIN, *[2 * way] * (dim - 1)])
    space = ec.install(dim=dim)

    esper.process(dt)

    (hit,) = space.collisions
    assert hit.time == pytest.approx(0.3, abs=1e-4)
    assert hit.normal_for(bullet) == (-1, *[0] * (dim - 1))
    assert gaps(bullet, wall, dim)[0] >= 0
    assert velocity(bullet, dim) == (0, *motion[1:])
    assert position(bullet, dim)[1:] == pytest.approx([way / 2] * (dim - 1), rel=1e-14)


def test_a_thin_wall_that_flies_takes_a_box_along():
    # The wall is the fast one, and nothing stops it.
    crates = [mover((1000.0 * i, 50.0 * i), (1, 1), (0, 0), ec.Slide()) for i in range(10)]
    walls = [mover((-5.0 + 1000.0 * i, 50.0 * i), (THIN, 10), (SPEED, 0)) for i in range(10)]
    ec.install()

    for _ in range(5):
        esper.process(1 / 60)
        for crate, wall in zip(crates, walls, strict=True):
            assert gaps(crate, wall)[0] >= -(2**-44) * 1e6
            assert position(crate)[0] > position(wall)[0]
            assert velocity(crate) == (SPEED, 0)


def test_a_point_does_not_pass_a_plate():
    # No thickness on either side: half sizes 0 on the contact axis.
    point = mover((0.0, 0.25), (0.0, 0.0), (1e5, 0.0), ec.Stop())
    box((1.0, 0.0), (0.0, 3.0))
    space = ec.install()

    for _ in range(3):
        set_velocity(point, 1e5, 0.0)
        esper.process(1 / 60)

        assert position(point)[0] < 1
        assert position(point)[0] == pytest.approx(1, rel=1e-15)
        assert len(space.collisions) == 1


def test_a_far_away_world_keeps_its_walls():
    # At 1e12 a face has steps of 1e-4: the wall is some of them thick.
    far = 1e12
    bullet = mover((far - 1000.0, 0.0), (HALF, HALF), (SPEED, 0.0), ec.Stop())
    wall = box((far, 0.0), (1.0, 40.0))
    ec.install()

    for _ in range(3):
        esper.process(1 / 60)

    assert 0 <= gaps(bullet, wall)[0] <= np.spacing(far)
    assert velocity(bullet) == (0, 0)
