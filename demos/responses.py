"""One ball and one floor under each response: deflect, slide, push, stop, sensor, and friction.

What to look at: all six fall at the same velocity, (90, -120) units a second, and meet the floor
at the same instant.  The arrow is the velocity of each.  What it becomes is the response's, and
exact: not nearly (150, 0) but that.
"""

from __future__ import annotations

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.boxes import BLUE, GREEN, ORANGE, RED, WHITE, YELLOW, Boxes, Colour, Quads
from demos.app.parts import Paint, PaintedScene, create_wall
from demos.app.scene import Label, Palette

FALL = (90.0, -120.0)
CELL = (320.0, 310.0)
FLOOR = (56.0, 88.0)  # bottom and top in a cell
START = (58.0, 212.0)  # 100 above the floor
HALF = 24.0
ROUND = 128  # steps until it begins again
EVERY = 6  # steps between two boxes of a trail
VIOLET = (186, 132, 250)
ARROW = 0.45  # length beside the ball for each unit of speed
DUST = 0.12  # particles for each unit of impulse

Point = NDArray[np.float64]
Way = tuple[str, tuple[object, ...], tuple[float, float], Colour]
WAYS: list[Way] = [  # name, components, expected velocity, colour
    ("Deflect", (ec.Deflect(),), (90.0, 120.0), ORANGE),
    ("Slide", (ec.Slide(),), (90.0, 0.0), GREEN),
    ("Push", (ec.Push(),), (150.0, 0.0), YELLOW),
    ("Stop", (ec.Stop(),), (0.0, 0.0), RED),
    ("Sensor", (ec.Sensor(), ec.Deflect()), (90.0, -120.0), BLUE),
    ("Friction", (ec.Slide(), ec.Friction(0.5)), (30.0, 0.0), VIOLET),
]


def build(seed: int = 0) -> Responses:
    """Make the world in the current esper world; there is nothing random in it."""
    for number in range(len(WAYS)):
        x, y = corner(number)
        create_wall((x + 10, y + FLOOR[0]), (x + CELL[0] - 10, y + FLOOR[1]))
    return Responses(ec.install())


def corner(number: int) -> tuple[float, float]:
    """Return the bottom left of a cell: two rows of three."""
    return CELL[0] * (number % 3), CELL[1] * (1 - number // 3)


class Responses(PaintedScene):
    """Six balls, their trails, and their velocities after the floor."""

    title = "responses"
    seconds = 5.0
    palette = Palette((30, 34, 54), (20, 22, 36), wall=(92, 99, 122))

    def __init__(self, space: ec.Space) -> None:
        size = (3 * CELL[0], 2 * CELL[1])
        super().__init__(space, size, size)
        self.balls: list[int] = []
        self.after: dict[int, tuple[float, float]] = {}  # by the number of the cell
        self.n_wrong = 0
        self.drop()
        space.on_collision(self.note)

    def drop(self) -> None:
        """Drop all balls again."""
        for ball in self.balls:
            esper.delete_entity(ball, immediate=True)
        self.balls = []
        for number, (_, parts, _, colour) in enumerate(WAYS):
            x, y = corner(number)
            place = ec.Position(x + START[0], y + START[1])
            body = (place, ec.Extents(HALF, HALF), ec.Velocity(*FALL), *parts)
            self.balls.append(esper.create_entity(*body, Paint(colour, layer=1)))

    def note(self, event: ec.Collision) -> None:
        """Store the velocity of a ball after it met the floor for the first time."""
        if FALL not in (event.velocity_first, event.velocity_second):
            return
        number = next(n for n, ball in enumerate(self.balls) if ball in (event.first, event.second))
        velocity = esper.component_for_entity(self.balls[number], ec.Velocity).xy
        self.after[number] = velocity
        self.n_wrong += velocity != WAYS[number][2]
        colour, n = WAYS[number][3], round(event.impulse * DUST)
        self.effects.burst(event.point, colour, n, 170.0, towards=(0.0, 0.5))
        self.effects.slow(0.3, 0.8)
        self.effects.play("hit")

    def step(self) -> None:
        """Advance the world, leave a trail, and begin again after a while."""
        if self.n_steps % ROUND == ROUND - 1:
            self.drop()
        super().step()
        if self.n_steps % EVERY == 0:
            for ball, way in zip(self.balls, WAYS, strict=True):
                (left, low), (right, high) = self.space.bounds(ball)
                red, green, blue = way[3]
                shade = red // 3, green // 3, blue // 3
                self.effects.flash((left, low, right, high), shade, 0.9, shrinks=True)

    def drawn(self) -> Boxes:
        """Return the effects below the balls."""
        return self.effects.boxes().joined(self.boxes())

    def quads(self) -> Quads:
        """Return an arrow for each velocity that is not zero."""
        corners = []
        for ball in self.balls:
            middle = np.array(esper.component_for_entity(ball, ec.Position).xy)
            velocity = np.array(esper.component_for_entity(ball, ec.Velocity).xy)
            speed = np.hypot(*velocity)
            if speed > 0:
                way = velocity / speed
                corners += arrow_faces(middle, middle + way * (HALF + ARROW * speed), way)
        colours = np.broadcast_to(np.array(WHITE, np.uint8), (len(corners), 3))
        return Quads(np.array(corners).reshape(-1, 4, 2), colours)

    def labels(self) -> list[Label]:
        """Return the names."""
        found = []
        for number, (name, _, _, colour) in enumerate(WAYS):
            x, y = corner(number)
            found.append(Label(name, x + CELL[0] / 2, y + CELL[1] - 50, 40.0, colour, "center"))
        return found

    def report(self) -> list[str]:
        """Return the velocities after the floor."""
        return [
            f"{name:<11} {FALL} -> {self.after.get(number, 'not there yet')}"
            for number, (name, *_) in enumerate(WAYS)
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        return [("every velocity after the floor is exactly what it must be", self.n_wrong == 0)]


def arrow_faces(
    start: NDArray[np.float64], end: NDArray[np.float64], way: NDArray[np.float64]
) -> list[list[NDArray[np.float64]]]:
    """Return the shaft and the head of an arrow, each with four corners."""
    side, neck = np.array([-way[1], way[0]]), end - 18 * way
    shaft = [start - 4 * side, start + 4 * side, neck + 4 * side, neck - 4 * side]
    return [shaft, [neck - 13 * side, neck + 13 * side, end, end]]
