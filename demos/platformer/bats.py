"""Bats that hunt the player in a cave: they find their way by `Space.occupancy`."""

from __future__ import annotations

from dataclasses import dataclass

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.scene import Look
from demos.platformer.machines import Player
from ecs_collide.levels.tiled import LevelObject

CELL = 16.0  # world units
HALF = (10.0, 7.0)  # of a bat
SPEED = 110.0  # world units per second
MEAL = 1.2  # seconds after a bite for which a bat flies home
HEAD = 6.0  # world units above the middle of the player, where a bat aims
WINGS = (43, 44)  # tiles

Point = tuple[float, float]
Cell = tuple[int, int]


@dataclass(slots=True)
class Bat:
    """A bat: where it sleeps, and the middles of the cells through which it flies next."""

    home: Point
    way: tuple[Point, ...] = ()
    meal: float = 0.0  # seconds for which it is not hungry


def bat(thing: LevelObject) -> tuple[object, ...]:
    """Return the components of a bat except its place."""
    look = Look(WINGS[0], layer=1)
    body = ec.Extents(*HALF), ec.Velocity(0, 0), ec.GravityScale(0), ec.Slide()
    return *body, Bat(thing.centre), look


class Bats(esper.Processor):
    """The system that steers the bats of one cave.

    A bat flies to the player while it is in the cave, and home otherwise.  In the middle of each
    cell it asks the space anew which cells are free, so it also flies around crates.
    """

    def __init__(self, space: ec.Space, cave: LevelObject) -> None:
        (x, y), (wide, high) = cave.centre, cave.half
        self.space = space
        self.low, self.high = (x - wide, y - high), (x + wide, y + high)

    def process(self, dt: float) -> None:
        """Set the velocities of the bats."""
        prey = self._prey()
        for entity, (bat, place, velocity, look) in esper.get_components(
            Bat, ec.Position, ec.Velocity, Look
        ):
            bat.meal -= dt
            if not bat.way or abs(ec.Position(bat.way[0]) - place) < 1e-6:
                goal = bat.home if prey is None or bat.meal > 0.0 else prey
                bat.way = self._way(entity, place.xy, goal)
            velocity.set(0.0, 0.0)
            if bat.way and dt > 0.0:
                away = ec.Position(bat.way[0]) - place
                velocity.set(away * min(SPEED / abs(away), 1.0 / dt))
                look.mirrored = away.x < 0.0
            look.tile = WINGS[int(self.space.time * 8) % 2] if bat.way else WINGS[1]

    def _prey(self) -> Point | None:
        """Return the head of the player, if it is in the cave."""
        for _, (_, place) in esper.get_components(Player, ec.Position):
            x, y = place.x, place.y + HEAD
            if self.low[0] < x < self.high[0] and self.low[1] < y < self.high[1]:
                return x, y
        return None

    def _way(self, bat: int, start: Point, goal: Point) -> tuple[Point, ...]:
        """Return the middles of the cells from a bat to its goal; none if there is no way."""
        if self._cell(start) == self._cell(goal):
            return ()
        living = [entity for kind in (Bat, Player) for entity, _ in esper.get_component(kind)]
        blocked = self.space.occupancy((self.low, self.high), CELL, half=HALF, exclude=living)
        cells = shortest(blocked, self._cell(start), self._cell(goal))
        return tuple(
            (self.low[0] + (x + 0.5) * CELL, self.low[1] + (y + 0.5) * CELL) for x, y in cells
        )

    def _cell(self, point: Point) -> Cell:
        return int((point[0] - self.low[0]) // CELL), int((point[1] - self.low[1]) // CELL)


def shortest(blocked: NDArray[np.bool_], start: Cell, goal: Cell) -> list[Cell]:
    """Return the cells of a shortest way, without its start; none if there is none."""
    after, waiting = {goal: goal}, [goal]
    for x, y in waiting:  # the list grows
        for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            inside = 0 <= cell[0] < blocked.shape[0] and 0 <= cell[1] < blocked.shape[1]
            if inside and cell not in after and (cell == start or not blocked[cell]):
                after[cell] = (x, y)
                waiting.append(cell)
    way: list[Cell] = []
    while start in after and start != goal:
        start = after[start]
        way.append(start)
    return way
