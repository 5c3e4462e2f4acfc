"""Ten thousand boxes bounce in a closed arena, and not a bit of their energy is lost.

What to look at: the time of a step, with that of pymunk beside it where it is installed.  Boxes
of equal mass exchange their speeds without arithmetic, so the sum of the squared speeds is the
same number after every step.  The heat of the middle spreads; no box gets out.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from math import sqrt

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.boxes import ORANGE, RED, YELLOW, Boxes
from demos.app.parts import Energy
from demos.app.scene import Label, Palette, Scene
from demos.ten_thousand.peer import Peer

SPACING = 12.0  # between the middles of two boxes at the start, in world units
WIDTH, BAR = 960.0, 110.0  # of the window, and the height of the line of times, in pixels
WALL = 8.0  # thickness
WARM, COLD = 300.0, 30.0  # highest speed on an axis at the start, units per second
HOT = 0.17  # radius of the warm middle, compared with the width
PEER_EVERY = 6  # steps between two of pymunk's, so that the window does not wait for it
MANY = 10_000 if ec.COMPILED else 1_000  # boxes by default
COLOURS = np.array(  # from slow to fast
    [(84, 120, 230), (74, 170, 240), (126, 214, 190), YELLOW, ORANGE, RED],
    np.uint8,
)


def build(seed: int = 0, n: int = MANY) -> TenThousand:
    """Make the world in the current esper world.

    Parameters
    ----------
    seed : int
        The seed of sizes, places and speeds.
    n : int
        Number of boxes, at least 1.
    """
    if n < 1:
        raise ValueError(f"n={n} must be at least 1")
    chance = np.random.default_rng(seed)
    columns = int(np.ceil(sqrt(n * 16 / 9)))
    rows = -(-n // columns)
    width, height = columns * SPACING, rows * SPACING

    walls = [
        (-WALL / 2, height / 2, WALL / 2, height / 2 + WALL),
        (width + WALL / 2, height / 2, WALL / 2, height / 2 + WALL),
        (width / 2, -WALL / 2, width / 2 + WALL, WALL / 2),
        (width / 2, height + WALL / 2, width / 2 + WALL, WALL / 2),
    ]
    for x, y, half_x, half_y in walls:
        esper.create_entity(ec.Position(x, y), ec.Extents(half_x, half_y))

    halves = chance.uniform(2.0, 4.5, (n, 2))
    cells = np.stack(np.divmod(np.arange(n), rows), axis=1) + 0.5
    centres = cells * SPACING + chance.uniform(-1.5, 1.5, (n, 2))
    off_middle = np.hypot(*(centres - np.array([width, height]) / 2).T)[:, None]
    top = np.where(off_middle < HOT * width, WARM, COLD)
    speeds = chance.uniform(-1.0, 1.0, (n, 2)) * top
    boxes = [
        esper.create_entity(
            ec.Position(*centre), ec.Extents(*half), ec.Velocity(*speed), ec.Deflect()
        )
        for centre, half, speed in zip(
            centres.tolist(), halves.tolist(), speeds.tolist(), strict=True
        )
    ]
    space = ec.install()
    esper.process(0.0)  # nothing moves, but the space now knows the boxes
    return TenThousand(space, (width, height), walls, boxes, halves)


class TenThousand(Scene):
    """Boxes in a closed arena, and proofs that none leaves it and no energy is lost."""

    title = "ten thousand"
    palette = Palette(bad=(255, 110, 100), good=(120, 240, 150))
    seconds = 10.0
    corner = (-WALL, -WALL)  # all walls are seen

    def __init__(
        self,
        space: ec.Space,
        size: tuple[float, float],
        walls: list[tuple[float, float, float, float]],
        boxes: list[int],
        halves: NDArray[np.float64],
    ) -> None:
        zoom = WIDTH / (size[0] + 2 * WALL)
        view = (size[0] + 2 * WALL, size[1] + 2 * WALL + BAR / zoom)
        super().__init__(space, size, view, zoom)
        self.peer: Peer | None = None
        self.ids = boxes
        self.rows = np.searchsorted(space.entities, boxes)  # of the boxes among all bodies
        self.walls = Boxes.of(
            [((x - a, y - b, x + a, y + b), 0, self.palette.wall) for x, y, a, b in walls]
        )
        self.halves = halves
        self.n_outside = 0
        self.mean_ms = 0.0
        self.energy = Energy(self.velocities)
        self.speeds_at_start = self.speeds()

    def step(self) -> None:
        """Advance the world, and check that every box is still inside."""
        super().step()
        self.n_outside += int(self.outside().sum())
        self.mean_ms += (self.ms - self.mean_ms) / min(self.n_steps, 30)
        if self.n_steps == 1:
            if find_spec("pymunk"):
                places, speeds = self.space.positions(self.ids), self.velocities()
                self.peer = Peer(places, self.halves, speeds, self.walls.rects)
        elif self.peer is not None and self.n_steps % PEER_EVERY == 0:
            self.peer.step()

    def velocities(self) -> NDArray[np.float64]:
        """Return the boxes' velocities, shape (n, 2)."""
        return self.space.velocities().take(self.rows, axis=0)

    def speeds(self) -> NDArray[np.float64]:
        """Return the speeds on each axis, sorted; they only change hands."""
        return np.sort(np.abs(self.velocities()), axis=0)

    def outside(self) -> NDArray[np.bool_]:
        """Return which boxes have a face beyond a wall's."""
        centres = self.space.positions().take(self.rows, axis=0)
        low, high = centres - self.halves, centres + self.halves
        return np.asarray(((low < 0) | (high > self.size)).any(axis=1))

    def boxes(self) -> Boxes:
        """Return the boxes, coloured by their speed."""
        centres = self.space.positions().take(self.rows, axis=0)
        rects = np.concatenate([centres - self.halves, centres + self.halves], axis=1)
        speed = np.sqrt((self.velocities() ** 2).sum(axis=1))
        shade = np.minimum((speed * (len(COLOURS) / WARM)).astype(np.int64), len(COLOURS) - 1)
        boxes = Boxes(rects, np.zeros(len(rects), np.int64), COLOURS.take(shade, axis=0))
        return boxes.joined(self.walls)

    def labels(self) -> list[Label]:
        """Return the times of a step, and whether the energy is the same number as at the start."""
        (left, bottom), pixel = self.corner, 1 / self.zoom
        y = bottom + self.view[1] - 64 * pixel
        below, energy = y - 36 * pixel, self.energy.caption(len(self.ids))
        found = [
            Label(f"{self.mean_ms:.1f} ms a step", left + 20 * pixel, y, 54.0, self.palette.good),
            Label(energy, left + 20 * pixel, below, 28.0, self.palette.dim),
        ]
        if self.peer is not None and self.peer.ms:
            text, x = f"pymunk: {self.peer.ms:.1f} ms", left + (WIDTH - 20) * pixel
            found.append(Label(text, x, y, 36.0, self.palette.bad, "right"))
        return found

    def report(self) -> list[str]:
        """Return the conserved quantities."""
        return [
            f"walls       {self.n_outside} boxes outside, at the end of any step",
            self.energy.report(),
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        same = np.array_equal(self.speeds(), self.speeds_at_start)
        return [
            ("no box is outside the walls at the end of any step", self.n_outside == 0),
            self.energy.claim(),
            ("the speeds on each axis are the same numbers, now on other boxes", same),
        ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this demo to the command line."""
    parser.add_argument("--n", type=_count, default=MANY, help="how many boxes (%(default)s)")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} boxes: say 1 or more")
    return value
