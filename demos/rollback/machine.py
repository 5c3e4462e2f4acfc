"""One player's world and session."""

from __future__ import annotations

from contextlib import AbstractContextManager

import esper

import ecs_collide as ec
from demos.app.boxes import BLUE, ORANGE
from demos.app.parts import Paint, create_frame
from demos.app.scene import DT, Look
from demos.app.sprites import Sprite
from demos.app.worlds import in_world
from ecs_collide.recording.rollback import Session

SIDE, EDGE = (390.0, 400.0), 16.0  # of a world; thickness of its walls
DELAY, WINDOW = 1, 20
THRUST, DRAG = 22.0, 0.97
COLOURS = (ORANGE, BLUE)

Rect = tuple[float, float, float, float]


class Machine:
    """One player's world and session."""

    def __init__(self, world: str, local: int) -> None:
        self.world = world
        with self.current():
            create_frame(*SIDE, EDGE)
            for n in range(8):
                place = ec.Position(46.0 + 42 * n, 200.0 + 60 * (-1) ** n)
                crate = (ec.Extents(13, 13), ec.Velocity(0, 0), ec.Deflect(0.8), ec.Mass(0.5))
                esper.create_entity(place, *crate, Look(Sprite.CRATE, 28, 28))
            self.ships = [self.ship(70.0 + 250.0 * n, COLOURS[n]) for n in range(2)]
            self.space = ec.install()
            for drawing in (Look, Paint):  # these never change
                self.space.snapshot_without(drawing)
            self.session = Session(
                self.space, self.step, 2, local, delay=DELAY, window=WINDOW, default=[0, 0]
            )
        self.n_collisions = 0

    @staticmethod
    def ship(x: float, colour: tuple[int, int, int]) -> int:
        """Create a ship."""
        body = ec.Position(x, 70.0), ec.Extents(16, 16), ec.Velocity(0, 0), ec.Deflect(0.6)
        return esper.create_entity(*body, Look(Sprite.SHIP, 40, 40, layer=1, colour=colour))

    def current(self) -> AbstractContextManager[None]:
        """Make this world the current one within a block."""
        return in_world(self.world)

    def step(self, pressed: list[list[int]]) -> None:
        """Do one step of the game."""
        for ship, (x, y) in zip(self.ships, pressed, strict=True):
            velocity = esper.component_for_entity(ship, ec.Velocity)
            velocity.set(velocity.x * DRAG + THRUST * x, velocity.y * DRAG + THRUST * y)
        esper.process(DT)
        self.n_collisions += len(self.space.collisions)

    def where(self, player: int) -> Rect:
        """Return the box of a ship."""
        (left, bottom), (right, top) = self.space.bounds(self.ships[player])
        return left, bottom, right, top
