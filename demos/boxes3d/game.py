"""Boxes bounce in a closed room in 3D, and not a bit of energy is lost.

What to look at: the space has three axes, ``Space(dim=3)``; all else is as in 2D.  One box starts
so fast that it would cross the room four times in a step.  Whatever it hits takes over its speed,
and white lines are the paths of such a step.
"""

from __future__ import annotations

import argparse
from itertools import pairwise, product

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.boxes import PALE, WHITE, YELLOW, Quads
from demos.app.parts import Energy
from demos.app.scene import Label, Scene
from demos.boxes3d.eye import Eye

ROOM = (60.0, 36.0, 60.0)  # half its size, multiples of half a cell; its middle is at the origin
SPACING = 12.0
FAR = 10.0  # length of a path that is drawn; most boxes go 2 units a step
FASTEST = 90.0  # on an axis, units per second
BULLET = 30_000.0  # of one small box
WIDTH, HEIGHT = 900.0, 560.0
UP = 31.0  # pixels from the middle of the picture to that of the room: the corners are seen
AWAY = 300.0  # of the eye, from the middle of the room
FOCUS = 1060.0  # pixels
TURN = 0.25  # radians per second
TILT = 0.42  # radians
INSIDE = (74.0, 80.0, 104.0)  # colour of the room


def build(seed: int = 0, n: int = 150) -> Room:
    """Make the world in the current esper world.

    Parameters
    ----------
    seed : int
        The seed of sizes, places and speeds.
    n : int
        Number of boxes, from 1 to 300.
    """
    if not 1 <= n <= 300:
        raise ValueError(f"n={n} must be from 1 to 300: more do not fit into the room")
    chance = np.random.default_rng(seed)
    for axis, side in product(range(3), (-1, 1)):
        place, half = [0.0, 0.0, 0.0], [side + 10.0 for side in ROOM]
        place[axis], half[axis] = side * (ROOM[axis] + 5.0), 5.0
        esper.create_entity(ec.Position(*place), ec.Extents(*half))
    steps = [np.arange(-side + SPACING / 2, side, SPACING) for side in ROOM]
    cells = np.array(list(product(*steps)))
    chosen = chance.permutation(len(cells))[:n]
    ids, halves = [], chance.uniform(2.0, 5.0, (n, 3))
    halves[0] = 1.5
    for number, (cell, half) in enumerate(zip(cells[chosen], halves, strict=True)):
        speed = chance.uniform(-FASTEST, FASTEST, 3)
        if number == 0:
            speed = speed * (BULLET / FASTEST)
        body = (ec.Position(*cell), ec.Extents(*half), ec.Velocity(*speed), ec.Deflect())
        ids.append(esper.create_entity(*body))
    space = ec.install(dim=3)
    esper.process(0.0)  # nothing moves, but the space now knows the boxes
    return Room(space, ids, halves, chance.uniform(0.0, 1.0, n))


class Room(Scene):
    """The boxes, the eye that goes around them, and proofs that nothing is lost."""

    title = "boxes in 3D"
    seconds = 10.0
    sky = ((30, 34, 50), (12, 13, 20))

    def __init__(
        self,
        space: ec.Space,
        ids: list[int],
        halves: NDArray[np.float64],
        hues: NDArray[np.float64],
    ) -> None:
        super().__init__(space, (WIDTH, HEIGHT), (WIDTH, HEIGHT))
        self.ids = ids
        self.halves = halves
        wave = 2 * np.pi * (hues[:, None] + np.array([0.0, 1 / 3, 2 / 3]))
        self.colours = 165 + 75 * np.cos(wave)
        self.n_outside = 0
        self.fastest = 0.0
        self.paths = np.zeros((0, 2, 3))
        self.energy = Energy(self.velocities)

    def step(self) -> None:
        """Advance the world, and check that every box is still inside."""
        turns = {box: [place] for box, place in zip(self.ids, self.positions(), strict=True)}
        super().step()
        centres = self.positions()
        for hit in self.space.collisions:
            for box in turns.keys() & {hit.first, hit.second}:
                turns[box].append(np.array(hit.position_of(box)))
        ended = zip(turns.values(), centres, strict=True)
        paths = np.array([way for places, end in ended for way in pairwise([*places, end])])
        self.paths = paths[np.linalg.norm(paths[:, 1] - paths[:, 0], axis=1) > FAR]
        self.n_outside += int((np.abs(centres) + self.halves > ROOM).any(axis=1).sum())
        self.fastest = max(self.fastest, float(np.abs(self.velocities()).max()))

    def positions(self) -> NDArray[np.float64]:
        """Return the middles of the boxes."""
        return self.space.positions(self.ids)

    def velocities(self) -> NDArray[np.float64]:
        """Return the velocities of the boxes."""
        return self.space.velocities(self.ids)

    def eye(self) -> Eye:
        """Return the eye, which goes around the room."""
        angle = 0.5 + TURN * self.n_steps / 60
        return Eye(angle, TILT, AWAY, FOCUS, (WIDTH / 2, HEIGHT / 2 + UP))

    def quads(self) -> Quads:
        """Return the room's inside, the shadows, the boxes from the far to the near, the paths."""
        eye, centres, flat = self.eye(), self.positions(), np.array([1.0, 0.0, 1.0])
        shadows, dark = centres * flat - (0.0, ROOM[1], 0.0), np.full((len(centres), 3), 34.0)
        parts = (
            eye.faces(np.zeros((1, 3)), np.array([ROOM]), np.array([INSIDE]), inside=True),
            eye.faces(shadows, self.halves * flat, dark, only=(3,)),
            eye.faces(centres, self.halves, self.colours),
            eye.lines(self.paths, WHITE, 3.0),
        )
        corners, colours = ([part[n] for part in parts] for n in (0, 1))
        return Quads(np.concatenate(corners), np.concatenate(colours))

    def labels(self) -> list[Label]:
        """Return whether the energy is as at the start, and what the white lines are."""
        fast = f"white: up to {self.fastest / 60:.0f} units a step"
        return [
            Label(self.energy.caption(len(self.ids)), 14, HEIGHT - 34, 25.0, YELLOW),
            Label(fast, WIDTH - 14, HEIGHT - 34, 25.0, PALE, "right"),
        ]

    def report(self) -> list[str]:
        """Return the conserved quantities."""
        return [
            f"walls       {self.n_outside} boxes outside, at the end of any step",
            f"fastest     {self.fastest / 60:.0f} units a step; the room is {2 * ROOM[0]:g} wide",
            self.energy.report(),
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        return [
            ("no box is outside the room at the end of any step", self.n_outside == 0),
            self.energy.claim(),
        ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this demo to the command line."""
    parser.add_argument("--n", type=_count, default=150, help="how many boxes (%(default)s)")


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 300:
        raise argparse.ArgumentTypeError(f"{text} boxes: say 1 to 300")
    return value
