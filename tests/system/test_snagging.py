"""A box slides over floors and along walls of separate tiles as over one piece."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import SLOP, box, mover, position, set_velocity, tile_row, velocity

pytestmark = pytest.mark.usefixtures("world")

WIDTHS = [1, 0.5, 0.1, 0.3, 1 / 3]
FACES = [0, 0.3, 0.7, 100.1]
EQUAL = [0.5]
DIFFERENT = [0.5, 0.35, 0.7, 1.1, 0.05]
DT = 1 / 60


def tracks(width, axis):
    """Lay one row of tiles for each face and both kinds of thickness, far from each other.

    Returns
    -------
    For each: the side on which to slide, and where the row begins and ends along its axis.
    """
    n = max(60, int(24 / width))
    found = []
    first = -n
    for half_sizes in (EQUAL, DIFFERENT):
        for face in FACES:
            tile_row(width, face, first, n, half_sizes, axis)
            found.append((face, first * width, (first + n) * width))
            first += n + int(12 / width)
    return found


def test_the_rows_do_hold_faces_that_differ_in_their_last_bits(world):
    # Otherwise the tests below would show little.
    faces = set()
    for face, _, _ in tracks(0.3, axis=0):
        for _, (centre, half) in esper.get_components(ec.Position, ec.Extents):
            faces.add(centre.y + half.y - face)

    assert any(0 < abs(difference) < 1e-13 for difference in faces)


@pytest.mark.parametrize("axis", [0, 1], ids=["floor", "wall"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_box_slides_over_a_row_of_tiles(width, axis, volume):
    # Pressed against it all the time, to and fro.
    rng = random.Random(int(1000 * width) + axis)
    size = (0.4, 0.45)
    runners = []
    for face, begin, end in tracks(width, axis):
        start = along(axis, begin + 2.0, away(axis, face, size[1] + 0.02))
        runner = mover(start, along(axis, *size), (0.0, 0.0), ec.Slide())
        runners.append([runner, face, begin + 1.0, end - 1.0, rng.uniform(2.0, 9.0)])
    space = ec.install()
    snags = falls = turns = 0
    steps = volume(1000, 1500, 6000, least=300)

    for step in range(steps):
        before = []
        for row in runners:
            runner, _, low, high, speed = row
            place = position(runner)[axis]
            if (place > high and speed > 0) or (place < low and speed < 0):
                speed = row[4] = -(1 if speed > 0 else -1) * rng.uniform(2.0, 9.0)
                turns += 1
            set_velocity(runner, *along(axis, speed, away(axis, 0.0, -3.0)))
            before.append(place)
        esper.process(DT)

        snags += int((space.collision_array["normal"][:, axis] != 0).sum())
        for (runner, face, _, _, speed), place in zip(runners, before, strict=True):
            now, moves = position(runner), velocity(runner)
            snags += moves[axis] != speed or abs(now[axis] - (place + speed * DT)) > 1e-9
            # one ulp up or down from tile to tile is all there may be
            level = abs(now[1 - axis] - away(axis, face, size[1]))
            falls += step > 1 and level > SLOP * (abs(face) + 2.0)
            falls += step > 1 and moves[1 - axis] != 0

    assert (snags, falls) == (0, 0)
    assert turns >= steps // 1000


def along(axis, ahead, aside):
    """Return a vector with a number along an axis, and one across it."""
    return (ahead, aside) if axis == 0 else (aside, ahead)


def away(axis, face, by):
    """Return what is away from the face of a row: a floor's is its top, a wall's its left side."""
    return face + by if axis == 0 else face - by


@pytest.mark.parametrize("half_sizes", [EQUAL, DIFFERENT], ids=["equal", "different"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_landing_aimed_at_a_seam_does_not_catch(width, half_sizes, volume):
    #
    #        +---+
    #        | A |  ----._
    #        +---+        `-> its lower right corner comes down on the seam
    #   ________________________________________
    #   |       |       |       |       |       |
    #
    rng = random.Random(int(1000 * width) + 2)
    size = (0.4, 0.45)
    landings = []
    per_landing = max(6, int(6 / width))
    n = volume(40, 100)
    first = 0
    for top in FACES:
        tile_row(width, top, first, n * per_landing, half_sizes)
        for i in range(n):
            seam = (first + i * per_landing + per_landing // 2) * width
            time = rng.uniform(0.05, 0.95)
            speed = (rng.choice([-1, 1]) * rng.uniform(10, 100), -rng.uniform(10, 100))
            ahead = size[0] if speed[0] > 0 else -size[0]
            x = seam - ahead - speed[0] * DT * time
            y = top + size[1] - speed[1] * DT * time
            landings.append((mover((x, y), size, speed, ec.Slide()), speed[0], x, top))
        first += n * per_landing + int(10 / width)
    space = ec.install()

    esper.process(DT)

    assert int((space.collision_array["normal"][:, 0] != 0).sum()) == 0
    for runner, speed, x, top in landings:
        assert velocity(runner) == (speed, 0)
        assert position(runner)[0] == pytest.approx(x + speed * DT, abs=1e-9)
        assert abs(position(runner)[1] - (top + size[1])) <= SLOP * (abs(top) + 2.0)


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("step", [0.25, 0.01, 1e-6])
def test_a_real_step_does_catch(step):
    # A tile that is higher by more than rounding is a wall.
    box((-1, -1), (1, 1))
    high = box((1, -1 + step), (1, 1))
    runner = mover((-1, 1), (0.5, 1), (8, -1), ec.Slide())
    space = ec.install()

    esper.process(1.0)

    assert velocity(runner) == (0, 0)
    assert position(runner) == (-0.5, 1)
    assert [hit.normal_for(runner) for hit in space.collisions] == [(0, 1), (-1, 0)]
    assert space.collisions[1].other(runner) == high


@pytest.mark.usefixtures("implementation")
def test_an_elastic_ball_on_a_floor_of_tiles_bounces_as_on_one_piece(world):
    for x in range(-40, 40):
        box((0.3 * x + 0.15, -0.5), (0.15, 0.5))
        box((0.3 * x + 0.15, 2.5), (0.15, 0.5))
    ball = mover((-8.0, 0.5), (0.5, 0.5), (4.0, -3.0), ec.Deflect())
    ec.install()

    for _ in range(200):
        esper.process(DT)
        assert velocity(ball)[0] == 4.0
        assert abs(velocity(ball)[1]) == 3.0
        assert 0.5 <= position(ball)[1] <= 1.5
