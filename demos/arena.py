"""Ten thousand boxes bounce elastically in a closed arena, and not a bit of energy is lost.

What to look at: boxes of equal mass exchange their speeds without arithmetic, so
that the sum of the squared speeds is the same number after every step.  The warm
boxes begin on the left, the cold ones on the right.
"""

from __future__ import annotations

import argparse
from math import fsum, sqrt

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.boxes import Boxes
from demos.app.scene import Scene

SPACING = 12.0  # between the middles of two boxes at the start, in world units
WIDTH = 960.0  # of the window, in pixels
STATUS = 26.0  # height of the line above the arena, in pixels
WALL = 8.0  # thickness
WARM, COLD = 260.0, 40.0  # highest speed on an axis at the start, units per second
MANY = 10_000 if ec.COMPILED else 1_000  # boxes by default
GREY = (72, 78, 98)
COLOURS = np.array(  # from slow to fast
    [(58, 84, 178), (74, 148, 214), (126, 214, 190), (250, 214, 96), (248, 128, 60), (226, 58, 72)],
    np.uint8,
)


def build(seed: int = 0, n: int = MANY) -> Arena:
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

    halves = chance.uniform(1.5, 3.5, (n, 2))
    cells = np.stack(np.divmod(np.arange(n), rows), axis=1) + 0.5
    centres = cells * SPACING + chance.uniform(-2.0, 2.0, (n, 2))
    top = np.where(centres[:, :1] < width / 2, WARM, COLD)
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
    return Arena(space, (width, height), walls, boxes, halves)


class Arena(Scene):
    """Boxes in a closed arena, and proofs that none leaves it and no energy is lost."""

    title = "arena"
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
        view = (size[0] + 2 * WALL, size[1] + 2 * WALL + size[0] * STATUS / WIDTH)
        super().__init__(space, size, view, zoom=WIDTH / view[0])
        self.ids = boxes
        self.rows = np.searchsorted(space.entities, boxes)  # of the boxes among all bodies
        self.walls = Boxes.of([((x - a, y - b, x + a, y + b), 0, GREY) for x, y, a, b in walls])
        self.halves = halves
        self.n_outside = 0
        self.energy_at_start = self.energy()
        self.speeds_at_start = self.speeds()

    def step(self) -> None:
        """Advance the world, and check that every box is still inside."""
        super().step()
        self.n_outside += int(self.outside().sum())

    def velocities(self) -> NDArray[np.float64]:
        """Return the boxes' velocities, shape (n, 2)."""
        return self.space.velocities().take(self.rows, axis=0)

    def speeds(self) -> NDArray[np.float64]:
        """Return the speeds on each axis, sorted; they only change hands."""
        return np.sort(np.abs(self.velocities()), axis=0)

    def energy(self) -> float:
        """Return the exactly rounded sum of the squared speeds."""
        return fsum((self.velocities() ** 2).ravel().tolist())

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

    def status(self) -> str:
        """Return the energy, all digits of it."""
        drift = self.energy() - self.energy_at_start
        return f"{len(self.ids)} boxes   energy {self.energy()!r}   drift {drift!r}"

    def report(self) -> list[str]:
        """Return the conserved quantities."""
        return [
            f"walls       {self.n_outside} boxes outside, at the end of any step",
            f"energy      {self.energy_at_start!r} at the start, {self.energy()!r} now",
            f"drift       {self.energy() - self.energy_at_start!r}",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        same = np.array_equal(self.speeds(), self.speeds_at_start)
        return [
            ("no box is outside the walls at the end of any step", self.n_outside == 0),
            ("the energy is the same number", self.energy() == self.energy_at_start),
            ("the speeds on each axis are the same numbers, in other hands", same),
        ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this demo to the command line."""
    parser.add_argument("--n", type=_count, default=MANY, help="how many boxes (%(default)s)")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} boxes: say 1 or more")
    return value
