"""Characters over random tilings of boxes and slopes, a million steps with ``--long --long``."""

from __future__ import annotations

import math
import random

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from ecs_collide.path import Path
from tests.scenes import mover, position, set_velocity, steps, velocity
from tests.terrain import ground_below, terrain

pytestmark = pytest.mark.usefixtures("implementation", "world")

DT = 1 / 60
N = 40  # columns
FLUSH = 1e-9  # of a tile


class Walk:
    """A character that walks to and fro over a random tiling, which may move, or be 3D."""

    def __init__(self, rng, *, moves=False, dim=2):
        self.rng, self.dim = rng, dim
        self.tile = rng.choice([16, 1, 0.1, 0.3, 1 / 3, 7.7, 1000.0])

        def parts():
            return [ec.Velocity(*[0] * dim), ec.Carry()] if moves else []

        depth = 20 * self.tile if dim == 3 else None
        self.columns = terrain(rng, N, self.tile, parts, depth=depth)
        self.half = [rng.uniform(0.2, 1.6) * self.tile, rng.uniform(0.2, 1) * self.tile]
        self.half += [self.tile] * (dim - 2)
        self.speed = rng.uniform(1, 12) * self.tile
        self.is_constant = rng.random() < 0.5
        self.character = Character(
            walk_speed=self.speed, acceleration=math.inf, deceleration=math.inf,
            floor_max_angle=80, floor_constant_speed=self.is_constant,
            snap_distance=self.tile, step_height=0, corner=0,
            jump_height=self.tile, time_to_top=0.3, fall_speed=math.inf,
        )  # fmt: skip
        start = [5 * self.tile, self.ground_at(5 * self.tile) + self.half[1], 0.0][:dim]
        self.body = esper.create_entity(
            ec.Position(*start), ec.Extents(*self.half), ec.Velocity(*[0] * dim), ec.Slide(),
            self.character,
        )  # fmt: skip
        self.space = ec.install(dim=dim)
        self.lifts = [entity for entity, _ in esper.get_component(ec.Carry)]
        self.origin = position(self.lifts[0], dim) if moves else (0.0,) * dim
        steps(5, DT)
        self.ride()
        self.character.walk = 1.0

    def ride(self):
        """Move all columns along one path, with bends."""
        if not self.lifts:
            return
        way = [[self.rng.uniform(-3, 3) * self.tile for _ in range(self.dim)] for _ in range(9)]
        for lift in self.lifts:
            start = position(lift, self.dim)
            points = [[a + b for a, b in zip(start, part, strict=True)] for part in way]
            esper.add_component(lift, Path([start, *points], 3 * self.tile, mode="loop"))

    def now(self):
        return position(self.lifts[0], self.dim) if self.lifts else self.origin

    def way(self):
        """Return the velocity of the tiling."""
        return velocity(self.lifts[0]) if self.lifts else (0, 0)

    def place(self):
        """Return the place of the character on its tiling."""
        parts = zip(position(self.body, self.dim), self.now(), self.origin, strict=True)
        return [own - now + then for own, now, then in parts]

    def ground_at(self, x):
        return ground_below(self.columns, self.tile, x - self.half[0], x + self.half[0])

    def bends_between(self, x, after):
        """Return whether an end of a column is below an edge of the character on a way."""
        return any(
            math.floor((x + side) / self.tile) != math.floor((after + side) / self.tile)
            for side in (self.half[0], -self.half[0])
        )

    def step(self):
        """Take a step; return the distances ahead and up, the gap, and whether there is a bend."""
        before = self.place()
        if before[0] > (N - 5) * self.tile or before[0] < 5 * self.tile:
            self.character.walk = math.copysign(1.0, 20 * self.tile - before[0])
        esper.process(DT)
        after = self.place()
        gap = after[1] - self.half[1] - self.ground_at(after[0])
        assert gap >= -FLUSH * self.tile
        assert self.space.stats.held == 0
        bends = self.bends_between(before[0], after[0])
        return after[0] - before[0], after[1] - before[1], gap, bends


def clear():
    for entity, _ in esper.get_components(ec.Position):
        esper.delete_entity(entity, immediate=True)


@pytest.mark.parametrize(("moves", "dim"), [(False, 2), (True, 2), (False, 3)])
def test_a_walk_over_any_tiling_keeps_its_speed_and_its_feet_on_the_ground(moves, dim, volume):
    rng = random.Random(10 * dim + moves)
    for _ in range(volume(2, 6, 1000, least=1)):
        walk = Walk(rng, moves=moves, dim=dim)
        asked = walk.speed * DT
        was_flush = is_even = False
        for step in range(volume(120, 240, 1000, least=60)):
            way = walk.way()
            if dim == 3 and step % 50 == 0:
                side = rng.choice([0, 1, -1]) - round(walk.place()[2] / (3 * walk.tile))
                walk.character.across = 0.3 * max(-1, min(1, side))
            stood = bool(walk.space.contacts(walk.body))
            ahead, up, gap, bends = walk.step()

            assert walk.character.on_ground
            was_even, is_even = is_even, walk.way() == pytest.approx(way, rel=1e-6)
            # At an end of a column it goes straight on until the step ends, or for a second step
            # if the lift turns under it.
            is_flush = gap <= FLUSH * walk.tile
            assert is_flush or bends or not (was_even and is_even)
            assert gap <= 4.01 * asked
            if not (was_even and is_even):
                is_flush = False  # the velocity of the ground has jumped
            elif dim == 2 and not walk.is_constant and (stood or not moves):
                # On a lift only from a contact: as others, it may lose speed where it lands.
                assert abs(ahead) == pytest.approx(asked, rel=1e-7)
            elif dim == 2 and is_flush and was_flush and not bends:
                # Where it enters a valley the way is shorter than the two parts of the ground.
                assert math.hypot(ahead, up) <= asked * (1 + 1e-8)
                assert abs(ahead) >= asked * 0.4472
            was_flush = is_flush
        clear()


def test_no_jump_on_any_tiling_ends_in_the_ground_or_in_the_ceiling(volume):
    rng = random.Random(1)
    for _ in range(volume(2, 6, 1000, least=1)):
        walk = Walk(rng)
        tile, character = walk.tile, walk.character
        ceilings = terrain(rng, N, tile, ceiling=16)
        character.jump_height = rng.uniform(0.5, 10) * tile
        esper.process(DT)
        in_air = 0
        for _ in range(volume(120, 240, 1000, least=60)):
            character.jump = rng.random() < 0.8 and in_air < 10
            stood = character.on_ground
            ahead, _, gap, bends = walk.step()

            x, y = position(walk.body)
            head = 16 * tile - (y + walk.half[1])
            assert head - ground_below(ceilings, tile, x - walk.half[0], x + walk.half[0]) >= -1e-8
            in_air = 0 if character.on_ground else in_air + 1
            assert in_air < 120
            if character.on_ground and stood:
                assert gap <= FLUSH * tile or bends
                if not walk.is_constant:
                    assert abs(ahead) == pytest.approx(walk.speed * DT, rel=1e-8)
        clear()


@pytest.mark.parametrize("dim", [2, 3])
def test_no_body_stops_at_a_seam_of_a_ceiling(dim, volume):
    rng = random.Random(dim)
    for _ in range(volume(2, 6, 1000, least=1)):
        tile = rng.choice([16, 1, 0.1, 0.3, 1 / 3, 7.7, 1000.0])
        depth = 20 * tile if dim == 3 else None
        columns = terrain(rng, N, tile, ceiling=0, depth=depth)
        half = (rng.uniform(0.2, 1.6) * tile, rng.uniform(0.2, 1.0) * tile, tile)[:dim]
        top = ground_below(columns, tile, 5 * tile - half[0], 5 * tile + half[0])
        start = (5 * tile, -top - 1.01 * half[1], 0.0)[:dim]
        body = mover(start, half, [0] * dim, ec.Slide())
        space = ec.install(dim=dim)
        speed = rng.uniform(1, 12) * tile
        for _ in range(volume(120, 240, 1000, least=60)):
            x = position(body)[0]
            speed = -abs(speed) if x > 35 * tile else abs(speed) if x < 5 * tile else speed
            rise = velocity(body)[1] + 56 * tile * DT
            set_velocity(body, speed, rise, *[rng.uniform(-1, 1) * tile] * (dim - 2))
            esper.process(DT)
            x, y = position(body)
            inside = ground_below(columns, tile, x - half[0], x + half[0]) + (y + half[1])
            assert inside <= FLUSH * tile
            assert all(abs(hit.normal[0]) < 1 for hit in space.collisions)  # no tile has a wall
            assert space.stats.held == 0
            if velocity(body) == (0, 0):  # only a valley stops it, or a line at a right angle
                met = [*space.collisions, *space.contacts(body)]
                assert len({tuple(each.normal) for each in met}) > 1
        clear()
