"""The scenes: seeded, and made whole before the clock runs.

A scene is a list of frames, and a frame says where every box is.  All
coordinates are multiples of 1/32, and chosen so that two faces never coincide:
centres are multiples of 1/8, half sizes are 1/32 more than such a multiple, so
the gap between two boxes is an odd multiple of 1/16 on each axis.  So a peer
that computes in single precision, or that takes boxes for touching when they
are 0.02 apart, must find exactly the same pairs as all others.

The world is made so large that a box overlaps about one other: half a pair a
body.  In *level* that goes for those that move, as tiles do not overlap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DT = 1.0 / 60.0
LATTICE = 0.125  # centres are multiples of it
OFFSET = LATTICE / 4  # half sizes are this much more than a multiple


@dataclass(frozen=True)
class Boxes:
    """Boxes by id.

    Attributes
    ----------
    ids : int64, shape (n,)
    mins, maxs : float64, shape (n, dim)
        Lower and upper corners, in world units.
    motions : float64, shape (n, dim)
        Displacement from this frame to the next.
    """

    ids: Integers
    mins: Floats
    maxs: Floats
    motions: Floats

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: Integers | NDArray[np.bool_] | slice) -> Boxes:
        return Boxes(self.ids[rows], self.mins[rows], self.maxs[rows], self.motions[rows])


@dataclass(frozen=True)
class Frame:
    """Where everything is, and what is different from the frame before.

    Attributes
    ----------
    boxes : Boxes
        All of them; ids ascend.
    moved : Boxes
        Those that were there before and are among the ones that move.
    gone : int64, shape (k,)
        Ids that were there in the frame before.
    new : Boxes
        Those that were not.
    """

    boxes: Boxes
    moved: Boxes
    gone: Integers
    new: Boxes


@dataclass(frozen=True)
class Scene:
    """A list of frames.

    Attributes
    ----------
    name : str
    dim : int
    frames : list of Frame
        The first is the start.
    resting : Boxes
        Those that never move; they have the lowest ids.
    """

    name: str
    dim: int
    frames: list[Frame]
    resting: Boxes


def half_sizes(wanted: Floats) -> Floats:
    """Return the nearest half sizes that keep faces apart."""
    return np.maximum(np.rint((wanted - OFFSET) / LATTICE), 0.0) * LATTICE + OFFSET


def world_side(halves: Floats, dim: int) -> float:
    """Return the side of the square or cube in which the boxes have half an overlap each.

    Two boxes of sides s and t, dropped at random into a world of side W, overlap
    with probability ``((s + t) / W) ** dim``, but for what is lost at its border.
    """
    s, n = 2.0 * halves, len(halves)
    sums = (s**2).sum() * n + s.sum() ** 2  # over all pairs, of (s + t) ** 2
    if dim == 3:
        sums = (s**3).sum() * n + 3.0 * s.sum() * (s**2).sum()
    return float((sums / (0.5 * n)) ** (1.0 / dim))


def bounced(start: Floats, velocity: Floats, times: Floats, side: float) -> Floats:
    """Return where centres are that bounce between 0 and `side`; shape (times, n, dim)."""
    far = start + velocity * times[:, None, None]
    return side - np.abs(np.mod(far, 2.0 * side) - side)


def made(name: str, centres: Floats, halves: Floats, moves: NDArray[np.bool_]) -> Scene:
    """Make a scene in which nobody comes or goes, from where the centres are in each frame.

    Parameters
    ----------
    name : str
    centres : float64, shape (frames + 1, n, dim)
        One frame more than the scene gets, for the last motions.
    halves : float64, shape (n,)
    moves : bool, shape (n,)
        False for boxes that never move: the first rows.
    """
    centres = np.rint(centres / LATTICE) * LATTICE
    ids = np.arange(len(halves))
    frames: list[Frame] = []
    for now, then in pairwise(centres):
        boxes = Boxes(ids, now - halves[:, None], now + halves[:, None], then - now)
        frames.append(Frame(boxes, boxes[moves], ids[:0], boxes[:0]))
    return Scene(name, centres.shape[2], frames, frames[0].boxes[~moves])


def random_walkers(
    name: str,
    n: int,
    dim: int,
    n_frames: int,
    rng: np.random.Generator,
    halves: Floats,
    speed: float,
    rest: float = 0.0,
) -> Scene:
    """Make boxes that fly straight and bounce off the walls of the world.

    Velocities are uniform in ``[-speed, speed]`` on each axis, in units per
    second; the first `rest` of the boxes, a fraction, have none.
    """
    side = world_side(halves, dim)
    moves = np.arange(n) >= int(rest * n)
    velocity = rng.uniform(-speed, speed, (n, dim)) * moves[:, None]
    times = np.arange(n_frames + 1) * DT
    centres = bounced(rng.uniform(0.0, side, (n, dim)), velocity, times, side)
    return made(name, centres, halves, moves)


def gas(n: int, dim: int, n_frames: int, rng: np.random.Generator) -> Scene:
    """Equal boxes, all moving."""
    return random_walkers("gas", n, dim, n_frames, rng, half_sizes(np.full(n, 2.5)), 48.0)


def mostly_static(n: int, dim: int, n_frames: int, rng: np.random.Generator) -> Scene:
    """Equal boxes, of which 90 % rest."""
    halves = half_sizes(np.full(n, 2.5))
    return random_walkers("mostly-static", n, dim, n_frames, rng, halves, 48.0, rest=0.9)


def bullets(n: int, dim: int, n_frames: int, rng: np.random.Generator) -> Scene:
    """Small boxes that fly twice their size in a frame: 60 units a second on each axis."""
    halves = half_sizes(np.full(n, 0.25))
    side = world_side(halves, dim)
    velocity = 60.0 * rng.choice([-1.0, 1.0], (n, dim))
    times = np.arange(n_frames + 1) * DT
    centres = bounced(rng.uniform(0.0, side, (n, dim)), velocity, times, side)
    moves = np.ones(n, bool)
    return made("bullets", centres, halves, moves)


def sizes(n: int, dim: int, n_frames: int, rng: np.random.Generator) -> Scene:
    """Log-normal sizes: 95 % of the boxes within two orders of magnitude, the rest clipped."""
    logs = np.clip(rng.normal(0.0, 0.5, n), -1.0, 1.0)
    return random_walkers("sizes", n, dim, n_frames, rng, half_sizes(2.5 * 10.0**logs), 48.0)


def level(n: int, dim: int, n_frames: int, rng: np.random.Generator) -> Scene:
    """Ten tiles for each of `n`, but at most 100,000, and one mover for every 200 tiles."""
    n_tiles, pitch = min(10 * n, 100_000), 8.0
    n_movers = n_tiles // 200
    across = int(np.ceil((6 * n_tiles) ** (1.0 / dim)))  # one cell in six holds a tile
    cells = np.sort(rng.choice(across**dim, n_tiles, replace=False))
    tiles = np.stack(np.unravel_index(cells, (across,) * dim), axis=1) * pitch + pitch / 2
    side = across * pitch
    velocity = rng.uniform(-120.0, 120.0, (n_movers, dim))
    times = np.arange(n_frames + 1) * DT
    flying = bounced(rng.uniform(0.0, side, (n_movers, dim)), velocity, times, side)
    standing = np.broadcast_to(tiles, (n_frames + 1, *tiles.shape))
    halves = half_sizes(np.repeat([3.75, 2.5], [n_tiles, n_movers]))
    moves = np.arange(n_tiles + n_movers) >= n_tiles
    return made("level", np.concatenate([standing, flying], axis=1), halves, moves)


def spawn(n: int, dim: int, n_frames: int, rng: np.random.Generator) -> Scene:
    """Gas, of which 5 % are replaced by new bodies in each frame, the oldest first."""
    halves = half_sizes(np.full(n, 2.5))
    side = world_side(halves, dim)
    k = max(n // 20, 1)
    total = n + k * n_frames  # a long row of bodies, of which each frame sees n
    start = rng.uniform(0.0, side, (total, dim))
    velocity = rng.uniform(-48.0, 48.0, (total, dim))
    frames: list[Frame] = []
    for f in range(n_frames):
        ids = np.arange(f * k, f * k + n)
        now, then = np.rint(
            bounced(start[ids], velocity[ids], np.array([f, f + 1]) * DT, side) / LATTICE
        )
        now, motions = now * LATTICE, (then - now) * LATTICE
        boxes = Boxes(ids, now - halves[:, None], now + halves[:, None], motions)
        fresh = 0 if f == 0 else k
        frames.append(
            Frame(boxes, boxes[: n - fresh], np.arange(f * k - fresh, f * k), boxes[n - fresh :])
        )
    return Scene("spawn", dim, frames, frames[0].boxes[:0])


def pile(n: int, dim: int, n_frames: int, rng: np.random.Generator) -> Scene:
    """Boxes that fall onto a heap: columns of ten, of which eight rest when it begins.

    All may move, so none counts as resting.  Most neighbours in a column
    overlap by a little, as in engines that push out what overlaps.
    """
    halves = half_sizes(np.full(n, 2.5))
    column, place = np.divmod(np.arange(n), 10)
    gaps = rng.choice([-2.0, 2.0], n, p=[0.7, 0.3]) * LATTICE
    gaps[place == 0] = 0.0
    runs = np.cumsum(gaps)
    height = 5.0 * place + runs - runs[place == 0][column]
    across = int(np.ceil(np.sqrt(column[-1] + 1))) if dim == 3 else int(column[-1]) + 1
    above = rng.exponential(20.0, n) * (place >= 8)  # the topmost still fall
    above = np.cumsum(above) - np.cumsum(above)[place == 0][column]
    times = np.arange(n_frames + 1)[:, None] * DT
    fallen = np.maximum(above - 0.5 * 400.0 * times**2, 0.0)
    centres = np.zeros((n_frames + 1, n, dim))
    centres[:, :, 0] = 6.0 * (column % across)
    centres[:, :, 1] = height + fallen
    if dim == 3:
        centres[:, :, 2] = 6.0 * (column // across)
    moves = np.ones(n, bool)
    return made("pile", centres, halves, moves)


SCENES: dict[str, Callable[[int, int, int, np.random.Generator], Scene]] = {
    "gas": gas,
    "mostly-static": mostly_static,
    "bullets": bullets,
    "sizes": sizes,
    "level": level,
    "spawn": spawn,
    "pile": pile,
}


WITH_REST = ("mostly-static", "level")  # where some boxes never move


def scene(name: str, n: int, dim: int, n_frames: int, seed: int = 1) -> Scene:
    """Make the scene of this name: `n` bodies, and `n_frames` frames after the start."""
    return SCENES[name](n, dim, n_frames + 1, np.random.default_rng(seed))
