"""Who is put against whom when two bodies meet: exact, and never into a third."""

from __future__ import annotations

import math
import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, faces, gaps, mover, position, set_velocity
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world", "implementation")


def meet(first_mass, second_mass, seed):
    """Let two bodies meet at a time that is no round number; return both and the event."""
    rng = random.Random(seed)
    speeds = rng.uniform(1, 9), rng.uniform(-9, -1)
    gap = rng.uniform(0.1, 0.9) * (speeds[0] - speeds[1])
    starts = rng.uniform(-1, 1), 0.0
    starts = starts[0], starts[0] + 0.7 + gap
    first = mover((starts[0], 0), (0.3, 1), (speeds[0], 0), ec.Slide(), ec.Mass(first_mass))
    second = mover((starts[1], 0), (0.4, 1), (speeds[1], 0), ec.Slide(), ec.Mass(second_mass))
    space = ec.install()
    esper.process(1.0)
    (hit,) = space.collisions
    assert (hit.first, hit.second) == (first, second)
    free = [start + speed * hit.time for start, speed in zip(starts, speeds, strict=True)]
    return hit, free


@pytest.mark.parametrize("seed", [0, 1, *further(*range(2, 10))])
@pytest.mark.parametrize(("masses", "stays"), [((1, 2), 1), ((2, 1), 0), ((1, 1), 0)])
def test_the_lighter_is_put_against_the_heavier_then_the_later_against_the_earlier(
    masses, stays, seed
):
    hit, free = meet(*masses, seed)

    places = hit.position_first[0], hit.position_second[0]
    assert places[stays] == free[stays]
    # The other one is put there by its face: flush, or an ulp away.
    flush = places[0] + 0.3 + 0.4 if stays == 0 else places[1] - 0.4 - 0.3
    assert places[1 - stays] == pytest.approx(flush, rel=1e-15, abs=1e-15)
    assert places[0] + 0.3 <= places[1] - 0.4


def test_a_body_on_the_floor_is_not_moved_by_a_heavy_one_that_comes_down_on_it():
    # Both meet at one instant: the lower one is flush with the floor to the last bit and stays so.
    rng = random.Random(1)
    columns = []
    for i in range(200):
        top = rng.randint(-50, 50) / 10
        half = rng.randint(1, 9) / 10
        load_half = rng.randint(1, 9) / 10
        speed = -rng.randint(20, 90) / 10
        start = top + half - speed * rng.uniform(0.1, 0.9)
        x = 10.0 * i
        floor = box((x, top - 1), (3, 1))
        crate = mover((x, start), (1, half), (0, speed), ec.Slide())
        load = mover(
            (x, start + half + load_half), (1, load_half), (0, speed), ec.Slide(), ec.Mass(9)
        )
        columns.append((floor, crate, load))
    ec.install()

    esper.process(1.0)

    for floor, crate, load in columns:
        face = faces(floor)[1][1]
        half = esper.component_for_entity(crate, ec.Extents).y
        lowest = face + half
        assert position(crate)[1] in (lowest, math.nextafter(lowest, math.inf))
        assert faces(crate)[0][1] >= face
        assert faces(load)[0][1] >= faces(crate)[1][1]


def test_being_placed_again_changes_nothing():
    # A hundred steps of pressing on: the same bits.
    runner = mover((0.1, 0.2), (0.3, 0.7), (0.9, 0), ec.Slide())
    box((1.7, 0), (0.1, 5))
    ec.install()
    esper.process(1.7)
    placed = position(runner)

    for _ in range(100):
        set_velocity(runner, 12.3, 0)
        esper.process(0.1)
        assert position(runner) == placed


@pytest.mark.parametrize("dim", [2, 3])
def test_a_box_that_is_pressed_into_a_corner_does_not_creep(dim):
    walls = []
    for axis in range(dim):
        centre, size = [20.0] * dim, [40.0] * dim
        centre[axis], size[axis] = -1.0, 1.0
        walls.append(box(centre, size))
    start = [0.1 + 0.7, 0.1 + 0.2, 0.3][:dim]
    runner = mover(start, [0.1, 0.2, 0.3][:dim], [0.0] * dim, ec.Slide())
    ec.install(dim=dim)
    esper.process(1 / 60)

    places = set()
    for _ in range(300):
        set_velocity(runner, *[-7.3] * dim)
        esper.process(1 / 60)
        places.add(position(runner, dim))
        assert all(max(gaps(runner, wall, dim)) >= 0 for wall in walls)

    assert position(runner, dim) == (0.1, 0.2, 0.3)[:dim]
    assert len(places) <= 8  # the way there
