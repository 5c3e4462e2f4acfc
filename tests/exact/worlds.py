"""Random worlds of four to eight bodies, for whole steps.

Every number of a world follows from its own number.  The kinds, the places and
the lengths of the steps go round, so that sixty worlds hold each of the 48
combinations.
"""

from __future__ import annotations

import itertools
import math
import random

import esper

import ecs_collide as ec
from tests.random_worlds import RESPONSES, TABLE, Draw
from tests.scenes import box, mover

# What the simulator models, or what changes nothing in these worlds.
MODELLED = {
    ec.Position, ec.Extents, ec.Velocity, ec.Growth, ec.Stop, ec.Push, ec.Slide, ec.Deflect,
    ec.Mass, ec.Sensor, ec.Dominance, ec.LockedAxes, ec.MaxSpeed, ec.Restitution, ec.GravityScale,
    ec.Disabled, ec.Filter, ec.OneWay, ec.Friction, ec.Carry, ec.PushOut, ec.Separate,
    ec.Damping,
}  # fmt: skip
WITHOUT = {kind: "reference" for kind in TABLE if kind not in MODELLED}
KINDS = ("elastic", "masses", "restitution", "slide", "mixed", "growing")
SECONDS = 12.0
FAR = float(10**6)
SIDE = 16.0  # of the room
CELL = 5.0  # at most one body begins in each


class RandomWorld:
    """A world, and the game that stirs it.

    With `furnished` its bodies also have what else the table of random worlds gives them, and
    one of them is a platform.

    Attributes
    ----------
    walls : whether there is a room, else bodies are turned round when they have gone far
    grid : whether all numbers are short binary fractions: rows of equal boxes, walls of
        tiles, hits at one instant, corners
    offset : how far from the origin
    movers : the entities that move
    dts : the lengths of the steps, in seconds; 12 in all
    """

    def __init__(self, number: int, *, furnished: bool = False) -> None:
        rng = self.rng = random.Random(f"world {number}")
        self.kind = KINDS[number % 6]
        self.walls = number // 6 % 2 == 0
        self.offset = FAR if number // 12 % 2 else 0.0
        self.grid = number // 24 % 2 == 1
        self.dim = 3 if rng.random() < 0.25 else 2
        self.dts = []
        lengths = [1 / 64, 1 / 32, 1 / 8, 1 / 2] if self.grid else [1 / 60, 1 / 30, 0.1, 0.4]
        while sum(self.dts) < SECONDS:
            self.dts.append(rng.choice(lengths))
        self.draw = None
        if furnished:
            parts = random.Random(f"furniture of world {number}")
            self.draw = Draw(
                parts, self.dim, without=WITHOUT, mixture=0.7, speed=24.0, on_grid=self.grid
            )
        if self.walls:
            self._build_room()
        self.n_paddles = 0
        self.movers = [self._create() for _ in range(rng.randint(4, 8))]
        self.platforms = [] if self.draw is None else [self._build_platform(self.draw, number)]
        self.clock = 0.0
        self._lay_out()
        self._kick()

    def _build_room(self) -> None:
        """Build the walls; on the grid the floor and the left wall are of tiles."""
        for axis in range(self.dim):
            for sign in (-1, 1):
                centre, half = [SIDE / 2 + self.offset] * self.dim, [SIDE / 2 + 8.0] * self.dim
                centre[axis] += sign * (SIDE / 2 + 2.0)
                half[axis] = 2.0
                if not (self.grid and self.dim == 2 and sign < 0):
                    self._build_wall(centre, half)
                    continue
                half[1 - axis] = 2.0
                for tile in range(-1, 5):
                    centre[1 - axis] = 2.0 + 4.0 * tile + self.offset
                    self._build_wall(centre, half)

    def _build_wall(self, centre: list[float], half: list[float]) -> None:
        kinds = (ec.Restitution, ec.Friction, ec.Carry) if self.draw is not None else ()
        box(centre, half, *(self.draw.component(k) for k in kinds if self.draw.rng.random() < 0.3))

    def _build_platform(self, draw: Draw, number: int) -> int:
        """Build a platform that is solid on one side, or met by few, or by all; or a lift."""
        half = [0.5 if self.grid else draw.number(0.4, 1.4) for _ in range(self.dim)]
        given = [[draw.component(ec.OneWay)], [ec.Filter(2, 2)], []][number % 3]
        if number % 2:
            speed = [draw.pick(-4.0, 0.0, 4.0) for _ in range(self.dim)]
            given = [draw.component(ec.Carry), ec.Velocity(*speed)]
            half[0] = 1.5
        platform = draw.body(ec.Position(*[0.0] * self.dim), ec.Extents(*half), *given, moves=False)
        for response in RESPONSES if number % 2 else ():
            if esper.has_component(platform, response):
                esper.remove_component(platform, response)
        return platform

    def _create(self) -> int:
        rng, kind = self.rng, self.kind
        if self.grid:
            half = [rng.choice([0.5, 1.0, 1.0, 1.5])] * self.dim
        else:
            half = [rng.uniform(0.4, 1.4) for _ in range(self.dim)]
        more: list[object] = []
        if not self.walls and self.n_paddles == 0 and kind in ("masses", "mixed"):
            self.n_paddles = 1  # what nobody moves, and moves itself
            return mover([0.0] * self.dim, half, [0.0] * self.dim, ec.Deflect(), ec.Mass(math.inf))
        if kind in ("masses", "restitution", "mixed") and rng.random() < 0.7:
            more.append(ec.Mass(rng.choice([1.0, 3.0] if self.grid else [0.5, 3.0, 10.0, 0.1])))
        if kind == "slide":
            more.append(ec.Slide())
        elif kind == "restitution":
            more.append(ec.Deflect(0.5))
        elif kind == "mixed":
            some = [ec.Slide(), ec.Push(), ec.Stop(), ec.Deflect(), ec.Deflect(0.5)]
            more.append(rng.choice(some))
        elif kind == "growing":
            more.append(rng.choice([ec.Slide(), ec.Deflect(), ec.Deflect(0.5)]))
            if rng.random() < 0.5:
                more.append(ec.Growth(*[0.0] * self.dim))
        else:
            more.append(ec.Deflect())
        if self.draw is not None:
            nowhere = [0.0] * self.dim
            return self.draw.body(
                ec.Position(*nowhere), ec.Extents(*half), ec.Velocity(*nowhere), *more
            )
        return mover([0.0] * self.dim, half, [0.0] * self.dim, *more)

    def shake(self, dt: float) -> None:
        """Do what the game does before a step of `dt` seconds."""
        before = self.clock
        self.clock += dt
        if int(before / 1.0) != int(self.clock / 1.0):
            if self.grid:
                self._lay_out()
            self._kick()
        elif not self.walls:
            self._turn_round()

    def _lay_out(self) -> None:
        """Put every body into a cell of its own; on the grid sometimes side by side."""
        rng = self.rng
        per_axis = 3
        placed = [*self.movers, *self.platforms]
        cells = rng.sample(range(per_axis**self.dim), len(placed))
        for entity, cell in zip(placed, cells, strict=True):
            place = esper.component_for_entity(entity, ec.Position)
            half = esper.component_for_entity(entity, ec.Extents)
            size = (half.x, half.y, half.z)
            centre = []
            for k in range(self.dim):
                middle = 3.0 + CELL * (cell // per_axis**k % per_axis)
                if self.grid:
                    middle += rng.choice([-0.5, 0.0, 0.0, 0.5, 1.0])
                else:
                    middle += rng.uniform(-1.0, 1.0)
                centre.append(middle + self.offset)
            place.set(*centre)
            if size[0] < 0.2:
                half.set(*[0.5] * self.dim)
        if self.grid:
            self._make_rows()
        if self.draw is not None:
            self._put_one_into_another()

    def _put_one_into_another(self) -> None:
        """Put the first body with `PushOut` into the one after it, if there is one."""
        for entity, other in itertools.pairwise(self.movers):
            if esper.has_component(entity, ec.PushOut):
                place = esper.component_for_entity(other, ec.Position)
                esper.component_for_entity(entity, ec.Position).set(
                    place.x + 0.25, *(place.y, place.z)[: self.dim - 1]
                )
                break

    def _make_rows(self) -> None:
        """Push some bodies on until they touch their neighbour."""
        boxes = [
            (
                esper.component_for_entity(entity, ec.Position),
                esper.component_for_entity(entity, ec.Extents),
            )
            for entity in self.movers
        ]
        for place, half in boxes:
            if self.rng.random() < 0.5:
                continue
            for other, size in boxes:
                apart = other.x - place.x
                if other.y == place.y and other.z == place.z and 0.0 < apart < 7.0:
                    place.set(other.x - half.x - size.x, *((place.y, place.z)[: self.dim - 1]))
                    break

    def _kick(self) -> None:
        """Give everybody a new velocity, and a new growth to those that have one."""
        rng = self.rng
        for entity in self.movers:
            if self.grid:
                motion = [rng.choice([-16.0, 0.0, 16.0]) for _ in range(self.dim)]
            else:
                motion = [rng.uniform(-24.0, 24.0) for _ in range(self.dim)]
            esper.component_for_entity(entity, ec.Velocity).set(*motion)
            growth = esper.try_component(entity, ec.Growth)
            if growth is not None:
                half = esper.component_for_entity(entity, ec.Extents)
                rate = rng.choice([0.25, 0.5]) if self.grid else rng.uniform(0.1, 0.4)
                growth.set(*[-rate if half.x > 0.9 else rate] * self.dim)
        for entity in self.platforms:  # a lift goes back
            velocity = esper.try_component(entity, ec.Velocity)
            if velocity is not None:
                velocity.set(-velocity.x, -velocity.y, *[-velocity.z] * (self.dim - 2))
        if not self.walls:
            self._turn_round()

    def _turn_round(self) -> None:
        """Send back what has gone far."""
        for entity in self.movers:
            place = esper.component_for_entity(entity, ec.Position)
            speed = esper.component_for_entity(entity, ec.Velocity)
            motion = []
            for at, v in zip(
                (place.x, place.y, place.z)[: self.dim],
                (speed.x, speed.y, speed.z)[: self.dim],
                strict=True,
            ):
                away = at - SIDE / 2 - self.offset
                motion.append(-v if abs(away) > SIDE / 2 and away * v > 0 else v)
            speed.set(*motion)
