"""One ball and one floor under each response: deflect, slide, push, stop, cross, and friction.

What to look at: all six fall at the same speed, (90, -120) units a second, and what they do next is
the response's.  The numbers are exact: not nearly (150, 0) but that.  On the right a program adds
systems between the stages of a step: one lets the ghost through the wall, and by a function the
ball, whose response is Stop, bounces off it at half its speed.
"""

from __future__ import annotations

import inspect
from collections import deque

import esper

import ecs_collide as ec
from demos.app import stages
from demos.app.boxes import BLUE, GREEN, ORANGE, PALE, RED, YELLOW, Boxes, Colour, plain
from demos.app.parts import Paint, PaintedScene, create_wall
from demos.app.scene import Label

FALL = (90.0, -120.0)
CELL = (300.0, 240.0)
FLOOR = (16.0, 44.0)  # bottom and top in a cell
START = (40.0, 154.0)  # 100 above the floor
HALF = 10.0
ROUND = 140  # steps until it begins again
EVERY = 6  # steps between two dots of a trail
PROGRAM = inspect.getsource(stages).split("import ecs_collide as ec\n")[1].strip()
PANEL = 420.0  # width of the program's panel
LINE = 10.8  # height of a line of it
FLIGHT = 240.0  # speed of the ghost and the ball beside the program

Way = tuple[str, tuple[object, ...], tuple[float, float], Colour]
WAYS: list[Way] = [  # name, components, expected velocity, colour
    ("Deflect()", (ec.Deflect(),), (90.0, 120.0), ORANGE),
    ("Slide()", (ec.Slide(),), (90.0, 0.0), GREEN),
    ("Push()", (ec.Push(),), (150.0, 0.0), YELLOW),
    ("Stop()", (ec.Stop(),), (0.0, 0.0), RED),
    ("Sensor()", (ec.Sensor(), ec.Deflect()), (90.0, -120.0), BLUE),
    ("Slide(), Friction(0.5)", (ec.Slide(), ec.Friction(0.5)), (30.0, 0.0), PALE),
]


def build(seed: int = 0) -> Responses:
    """Make the world in the current esper world; there is nothing random in it."""
    for number in range(len(WAYS)):
        x, y = corner(number)
        create_wall((x + 8, y + FLOOR[0]), (x + CELL[0] - 8, y + FLOOR[1]))
    right = 3 * CELL[0]
    create_wall((right + 290, 8), (right + 300, 68))
    return Responses(ec.install())


def corner(number: int) -> tuple[float, float]:
    """Return the bottom left of a cell: two rows of three."""
    return CELL[0] * (number % 3), CELL[1] * (1 - number // 3)


class Responses(PaintedScene):
    """Six balls, their trails, and their velocities after the floor."""

    title = "responses"
    seconds = 5.0
    counts_work = True  # it shows the number of escapes from the tree

    def __init__(self, space: ec.Space) -> None:
        size = (3 * CELL[0] + PANEL, 2 * CELL[1] + 30)
        super().__init__(space, size, size)
        self.balls: list[int] = []
        self.after: dict[int, tuple[float, float]] = {}  # by the number of the cell
        self.n_wrong = 0
        self.said: deque[str] = deque(maxlen=6)
        self.ended: list[tuple[float, float]] = []  # of the ghost and the ball, once each round
        stages.add_systems(space, self.hear)  # type: ignore[no-untyped-call]
        self.begin()
        space.on_collision(self.note)

    def begin(self) -> None:
        """Drop all balls again."""
        for ball in self.balls:
            esper.delete_entity(ball, immediate=True)
        self.trail: list[list[tuple[float, float]]] = [[] for _ in WAYS]
        self.balls = []
        for number, (_, parts, _, colour) in enumerate(WAYS):
            x, y = corner(number)
            place = ec.Position(x + START[0], y + START[1])
            body = (place, ec.Extents(HALF, HALF), ec.Velocity(*FALL), *parts)
            self.balls.append(esper.create_entity(*body, Paint(colour, layer=1)))
        x, size, speed = 3 * CELL[0] + 20, ec.Extents(HALF, HALF), FLIGHT
        ghost = ec.Position(x, 52), size, ec.Velocity(speed, 0), ec.Slide(), stages.Ghost()
        size = ec.Extents(HALF, HALF)
        stone = ec.Position(x, 24), size, ec.Velocity(speed, 0), ec.Stop(), stages.Rubber()
        self.balls.append(esper.create_entity(*ghost, Paint(PALE, layer=1)))
        self.balls.append(esper.create_entity(*stone, Paint(RED, layer=1)))

    def hear(self, line: str) -> None:
        """Keep what the program says of impacts, and the last that it says of the tree."""
        kept = [each for each in self.said if each.partition(" ")[2] != line.partition(" ")[2]]
        self.said = deque([*kept, line], maxlen=6)

    def note(self, event: ec.Collision) -> None:
        """Store the velocity of a ball after it met the floor for the first time."""
        if event.velocity_second != FALL and event.velocity_first != FALL:
            return
        number = next(n for n, ball in enumerate(self.balls) if ball in (event.first, event.second))
        if number >= len(WAYS):
            return
        velocity = esper.component_for_entity(self.balls[number], ec.Velocity).xy
        self.after[number] = velocity
        self.n_wrong += velocity != WAYS[number][2]

    def step(self) -> None:
        """Advance the world; begin again after a while."""
        if self.n_steps % ROUND == ROUND - 40:
            self.ended += [esper.component_for_entity(b, ec.Velocity).xy for b in self.balls[-2:]]
        if self.n_steps % ROUND == ROUND - 1:
            self.begin()
        super().step()
        if self.n_steps % EVERY == 0:
            for trail, ball in zip(self.trail, self.balls, strict=False):
                trail.append(esper.component_for_entity(ball, ec.Position).xy)

    def boxes(self) -> Boxes:
        """Return the trails below the bodies."""
        dots = [
            (
                [(x - 2, y - 2, x + 2, y + 2) for x, y in trail[:-1]],
                [tuple(part // 2 for part in way[3])] * len(trail[:-1]),
            )
            for trail, way in zip(self.trail, WAYS, strict=True)
        ]
        drawn = [plain(rects, colours) for rects, colours in dots if rects]
        return super().boxes().joined(*drawn)

    def labels(self) -> list[Label]:
        """Return the names, and the velocities after the floor."""
        found = []
        for number, (name, _, _, colour) in enumerate(WAYS):
            x, y = corner(number)
            found.append(Label(name, x + 16, y + CELL[1] - 24, 16.0, colour))
            if number in self.after:
                found.append(
                    Label(f"{FALL} -> {self.after[number]}", x + 16, y + 24, 12.0, (20, 22, 32))
                )
        left, top = 3 * CELL[0] + 12, self.size[1] - 22
        for number, line in enumerate(PROGRAM.replace("\n\n\n", "\n\n").splitlines()):
            if line.strip():
                found.append(Label(line, left, top - LINE * number, 9.0, PALE))
        for number, line in enumerate(self.said):
            found.append(Label(line, left, 88 - 13 * number, 8.5, YELLOW))
        return found

    def report(self) -> list[str]:
        """Return the velocities after the floor."""
        return [
            f"{name:<24} {FALL} -> {self.after.get(number, 'not there yet')}"
            for number, (name, *_) in enumerate(WAYS)
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        ends = [(FLIGHT, 0.0), (-FLIGHT / 2, 0.0)] * (len(self.ended) // 2)
        return [
            ("every velocity after the floor is exactly what it must be", self.n_wrong == 0),
            ("the ghost crosses the wall, and the ball beside it bounces", self.ended == ends),
        ]
