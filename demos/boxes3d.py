"""Boxes bounce in a closed room in 3D, and not a bit of energy is lost.

What to look at: the space has three axes, ``Space(dim=3)``; all else is as in 2D.  numpy turns and
projects the boxes, and the faces towards you are drawn from the far to the near.
"""

from __future__ import annotations

import argparse
from itertools import product
from math import cos, fsum, sin

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.boxes import Quads
from demos.app.scene import Scene

ROOM = (60.0, 36.0, 60.0)  # half its size, multiples of half a cell; its middle is at the origin
SPACING = 12.0
FASTEST = 90.0  # on an axis, units per second
BULLET = 30_000.0  # of one small box
WIDTH, HEIGHT = 900.0, 560.0
AWAY = 245.0  # of the eye, from the middle of the room
FOCUS = 880.0  # pixels
TURN = 0.25  # radians per second
TILT = 0.42  # radians
LIGHT = (0.75, 1.0, 0.55)  # of a face, by its axis
FACES = np.array(  # corners of a box's six faces, going around; corner 4 x + 2 y + z
    [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
)
CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))
NORMALS = np.array([[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]], float)


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
        self.colours[0] = 255.0  # the bullet
        self.n_outside = 0
        self.fastest = 0.0
        self.energy_at_start = self.energy()

    def step(self) -> None:
        """Advance the world, and check that every box is still inside."""
        super().step()
        centres = self.space.positions(self.ids)
        self.n_outside += int((np.abs(centres) + self.halves > ROOM).any(axis=1).sum())
        self.fastest = max(self.fastest, float(np.abs(self.space.velocities(self.ids)).max()))

    def energy(self) -> float:
        """Return the exactly rounded sum of the squared speeds."""
        return fsum((self.space.velocities(self.ids) ** 2).ravel().tolist())

    def eye(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the place of the eye, and its axes as rows: right, up, ahead."""
        angle = 0.5 + TURN * self.n_steps / 60
        ahead = np.array([-sin(angle) * cos(TILT), -sin(TILT), -cos(angle) * cos(TILT)])
        right = np.array([cos(angle), 0.0, -sin(angle)])
        return -AWAY * ahead, np.stack([right, np.cross(right, ahead), ahead])

    def quads(self) -> Quads:
        """Return the room's inside, the shadows, and the boxes' faces from the far to the near."""
        centres = self.space.positions(self.ids)
        eye, axes = self.eye()
        flat = np.array([1.0, 0.0, 1.0])
        shadows = centres * flat - (0.0, ROOM[1], 0.0)
        parts = [
            self.faces(np.zeros((1, 3)), np.array([ROOM]), np.array([(74, 80, 104.0)]), eye, -1),
            self.faces(shadows, self.halves * flat, np.full((len(centres), 3), 34.0), eye, 1, [3]),
            self.faces(centres, self.halves, self.colours, eye, 1),
        ]
        corners = np.concatenate([part[0] for part in parts])
        colours = np.concatenate([part[1] for part in parts])
        seen = (corners - eye) @ axes.T
        points = seen[:, :, :2] * (FOCUS / seen[:, :, 2:]) + (WIDTH / 2, HEIGHT / 2 + 22)
        return Quads(points, colours.astype(np.uint8))

    @staticmethod
    def faces(
        centres: NDArray[np.float64],
        halves: NDArray[np.float64],
        colours: NDArray[np.float64],
        eye: NDArray[np.float64],
        way: int,
        only: list[int] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return corners (n, 4, 3) and colours (n, 3) of the faces towards the eye, far ones first.

        With `way` -1, the faces away from the eye: the inside of a room.
        """
        chosen = np.arange(6) if only is None else np.array(only)
        corners = centres[:, None] + halves[:, None] * CORNERS
        faces = corners[:, FACES[chosen]]  # (n, faces, 4, 3)
        middles = faces.mean(axis=2)
        looks = ((eye - middles) * NORMALS[chosen]).sum(axis=2) * way > 0
        light = np.array(LIGHT)[chosen // 2]
        shades = colours[:, None] * light[:, None]
        # A box that a plane parts from another is nearer if it is on the eye's side of it;
        # the distance of the middles is near enough to that for boxes of about one size.
        away = np.broadcast_to(((centres - eye) ** 2).sum(axis=1)[:, None], looks.shape)[looks]
        order = np.argsort(-away, kind="stable")
        return faces[looks][order], shades[looks][order]

    def status(self) -> str:
        """Return whether the energy is the same number as at the start."""
        same = "as at the start" if self.energy() == self.energy_at_start else "has changed"
        return f"{len(self.ids)} boxes, energy {same}"

    def report(self) -> list[str]:
        """Return the conserved quantities."""
        return [
            f"walls       {self.n_outside} boxes outside, at the end of any step",
            f"fastest     {self.fastest / 60:.0f} units a step; the room is {2 * ROOM[0]:g} wide",
            f"energy      {self.energy_at_start!r} at the start, {self.energy()!r} now",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        return [
            ("no box is outside the room at the end of any step", self.n_outside == 0),
            ("the energy is the same number", self.energy() == self.energy_at_start),
        ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this demo to the command line."""
    parser.add_argument("--n", type=_count, default=150, help="how many boxes (%(default)s)")


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 300:
        raise argparse.ArgumentTypeError(f"{text} boxes: say 1 to 300")
    return value
