"""Loops of kernels over many bodies as array operations, which only pure Python calls.

Each function gives the same bits as the loop of the kernel that calls it.  From `MANY` rows on it
takes less time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import APART_AT_LEAST, MAX_REST_COUNT, NAN, Bad, Has

MANY = 16  # rows

Rows = NDArray[np.int64]


def gather(target: Any, column: Any, rows: Any) -> None:
    """Copy rows of a column to the first rows of `target`."""
    np.asarray(target)[: len(rows)] = np.asarray(column)[np.asarray(rows)]


# -- motion.bodies --


@np.errstate(all="ignore")  # as Python's floats
def start(b: Any, rows: Any, reach: float) -> None:
    """Find the paths of bodies for the whole step, as `Bodies.start`; `reach` is its `REACH`."""
    rows = np.asarray(rows)
    growth = np.asarray(b.growth)
    path = by_axis(b.path, b.dim)
    centre, half = np.asarray(b.centre)[rows], np.asarray(b.half)[rows]
    motion = np.asarray(b.velocity)[rows] * b.dt + 0.0
    change = growth[rows] * b.dt + 0.0

    vanishes = half + change < 0.0
    if vanishes.any():
        change[vanishes] = -half[vanishes]
        growth[rows] = np.where(vanishes, change / b.dt, growth[rows])
    np.asarray(b.base)[rows] = 0.0
    np.asarray(b.motion)[rows] = motion
    path[rows] = np.stack([centre, half, motion, change], axis=2)
    b.any_resize |= bool(change.any())

    low, high = centre - half, centre + half
    low_end, high_end = low + (motion - change), high + (motion + change)
    low = np.where(low_end < low, low_end, low)
    high = np.where(high_end > high, high_end, high)
    largest = np.maximum(abs(low), abs(high))
    around = reach * largest + APART_AT_LEAST
    np.asarray(b.swept_min)[rows] = low - around
    np.asarray(b.swept_max)[rows] = high + around
    b.farthest = max(float(largest.max()), b.farthest)


@np.errstate(all="ignore")
def finish_step(b: Any, rows: Any) -> None:
    """Move bodies to the end of the step, as `Bodies.finish_step`."""
    rows = np.asarray(rows)
    path = by_axis(b.path, b.dim)
    base = np.asarray(b.base)
    interrupted = np.asarray(b.interrupted)
    count = np.asarray(b.rest_count)
    centre, half, motion, change = path[rows].transpose(2, 0, 1)
    elapsed = 1.0 - base[rows][:, None]
    half = half + change * elapsed

    base[rows] = 1.0
    np.asarray(b.centre)[rows] = path[rows, :, 0] = centre + motion * elapsed + 0.0
    np.asarray(b.half)[rows] = path[rows, :, 1] = np.where(half > 0.0, half, 0.0)
    rests = ((motion == 0.0) & (change == 0.0)).all(axis=1) & (interrupted[rows] == 0)
    interrupted[rows] = 0
    count[rows] = np.where(rests, np.minimum(count[rows], MAX_REST_COUNT - 1) + 1, 0)


def by_axis(path: Any, dim: int) -> NDArray[np.float64]:
    """Return the memory of `Bodies.path` as an array (capacity, dim, 4)."""
    return np.asarray(path).reshape(-1, dim, 4)


# -- broadphase.fat_bounds --


def classify(bounds: Any, items: Any, by_item: bool, too_big: float) -> Iterator[int]:
    """Write the boxes of items to their places in the tree, as `broadphase.bounds.classify_run`.

    Items that move inside their fat bounds are noted in `bounds.moved`.  Returns the places of the
    items that are new or leave their fat bounds, by rising place.
    """
    dim = bounds.dim
    items = np.asarray(items)
    rows = items if by_item else slice(0, len(items))
    low, high = (np.asarray(flat).reshape(-1, dim)[rows] for flat in (bounds.mins, bounds.maxs))
    fat = np.asarray(bounds.bounds)[items]
    fat_low, fat_high = fat[:, :dim], fat[:, dim:]
    side = high - low
    first, last, ahead = low, high, np.zeros(())
    if not bounds.still:
        displacement = np.asarray(bounds.motion).reshape(-1, dim)[rows]
        ahead = abs(displacement)
        if bounds.swept:
            side = side - ahead
        else:
            first = low + 0.5 * (displacement - ahead)
            last = high + 0.5 * (displacement + ahead)
    around = 2.0 * bounds.margin
    if bounds.margin < 0.0:
        around = 2.0 * np.maximum(side.max(axis=1, keepdims=True), 0.0)
    fits = ((first >= fat_low) & (last <= fat_high)).all(axis=1)
    needed = side + (ahead * (1.0 + bounds.lookahead) + around)
    fits &= _surface(fat_high - fat_low) <= too_big * _surface(needed)

    fits = fits.tolist()
    moved = []
    box, place_of, width = bounds.nodes.box, bounds.nodes.place_of, 2 * dim
    now = np.concatenate([low, high], axis=1) + 0.0  # -0.0 becomes 0.0
    for n, (item, corners) in enumerate(zip(items.tolist(), now.tolist(), strict=True)):
        at = width * place_of[item]
        if at < 0:
            fits[n] = False
        elif box[at : at + width] != corners:
            box[at : at + width] = corners
            if fits[n]:
                bounds.nodes.is_changed[item] = 1
                moved.append(item)
    bounds.n_moved = len(moved)
    np.asarray(bounds.moved)[: len(moved)] = moved
    return (n for n, inside in enumerate(fits) if not inside)


def _surface(sides: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return half the perimeter (2D) or surface (3D) of boxes."""
    if sides.shape[1] == 2:
        return sides[:, 0] + sides[:, 1]
    x, y, z = sides[:, 0], sides[:, 1], sides[:, 2]
    return x * y + y * z + z * x


# -- broadphase.overlaps --


def find_pairs(finder: Any, nodes: Any, width: int) -> bool:
    """Find all pairs of items of a tree whose boxes touch, as `OverlapFinder.within`.

    Returns False for a small tree, and if there are more pairs than `finder.limit`, which the loop
    finds one part at a time.  `width` is the number of places of a node.
    """
    if nodes.n_items < 2 * MANY:
        return False
    n_used = 1 + max(node for node, level in enumerate(nodes.level) if level >= 0)
    n_places = n_used * width
    box = np.array(nodes.box[: 2 * nodes.dim * n_places]).reshape(n_used, width, -1)
    child = np.array(nodes.child[:n_places]).reshape(n_used, width)
    is_child = np.arange(width) < np.array(nodes.count[:n_used])[:, None]

    one = other = np.array([nodes.root()])  # pairs of nodes of one level, in the order of the loop
    for _ in range(nodes.level[nodes.root()]):
        # The loop visits nodes with themselves last, and the pairs that it finds last first.
        touching = _touching(box, one, other).reshape(len(one), -1)[:, ::-1]
        itself = (is_child[one] & (one == other)[:, None])[:, ::-1]
        row, at = np.concatenate([touching, itself], axis=1).nonzero()
        if len(row) > finder.limit:
            return False
        at = width * width - 1 - at
        lane, lane2 = (np.where(at < 0, width + at, part) for part in divmod(at, width))
        one, other = child[one[row], lane], child[other[row], lane2]
    row, lane, lane2 = _touching(box, one, other).nonzero()
    finder.n = len(row)
    if finder.n > finder.limit:
        return False
    if 2 * finder.n > finder.found.shape[0]:
        finder.found = np.zeros(4 * finder.n, np.int64).data
    found = np.asarray(finder.found)[: 2 * finder.n]
    found[::2], found[1::2] = child[one[row], lane], child[other[row], lane2]
    return True


def _touching(box: NDArray[np.float64], one: Rows, other: Rows) -> NDArray[np.bool_]:
    """Return which children of pairs of nodes touch, each pair once: bool (pairs, width, width)."""
    dim, lane = box.shape[2] // 2, np.arange(box.shape[1])
    first, second = box[one][:, :, None], box[other][:, None]
    found: NDArray[np.bool_] = (lane > lane[:, None]) | (one != other)[:, None, None]
    for k in range(dim):
        found &= first[..., k] <= second[..., dim + k]
        found &= first[..., dim + k] >= second[..., k]
    return found


# -- sync.reader --
# They read and write the bodies whose components hold plain numbers in plain attributes, as
# `sync/slots.h` does in C.  The kernel reads and writes all others one by one.


def places_to_read(reader: Any, rows: Any) -> Iterable[int]:
    """Return the places in `rows` whose bodies may have something new, as `watch_run`.

    These are all places if reading any of the bodies may run code of the game.
    """
    b = reader.bodies
    rows = np.asarray(rows)
    flags = np.asarray(b.news) | b.touched | b.bad | b.quarantined | b.traits
    has = np.asarray(b.has)[rows]

    found = flags[rows] != 0
    for binding, mark in (
        (reader.position, 0),
        (reader.extents, 0),
        (reader.velocity, Has.VELOCITY),
        (reader.growth, Has.GROWTH),
        (reader.mass_kind, Has.MASS),
        (reader.deflect, Has.DEFLECT),
    ):
        at = (has & mark == mark).nonzero()[0] if mark else np.arange(len(rows))
        items = _plain_items(binding, rows[at])
        try:
            for k, name in enumerate(binding.names if items else ()):
                values = list(map(attrgetter(name), items))
                if {*map(type, values)} != {float}:
                    values = [value if type(value) is float else NAN for value in values]
                found[at] |= np.asarray(binding.seen)[rows[at], k] != values
        except AttributeError:
            items = []
        if len(items) < len(at):
            return range(len(rows))
    places: list[int] = found.nonzero()[0].tolist()
    return places


def _plain_items(binding: Any, rows: Rows) -> list[Any]:
    """Return the components of rows; none if one may not store its numbers as they are."""
    if not len(rows) or binding.has_parts or not binding.keeps:
        return []
    items = list(map(binding.items.__getitem__, rows.tolist()))
    return items if {*map(type, items)} == {binding.type} else []


def write(reader: Any, rows: Any) -> Rows:
    """Write the results of a step into components; return the rows that are left.

    These are the rows of growing bodies, or all if writing any of the components may run code of
    the game.  The seen numbers change first, so that after an interrupt each component holds either
    the number from before or the seen one.
    """
    rows = np.asarray(rows)
    has = np.asarray(reader.bodies.has)[rows]
    grows = has & Has.GROWTH != 0
    steady, moving = rows[~grows], rows[~grows & (has & Has.VELOCITY != 0)]
    places = _plain_items(reader.position, steady)
    velocities = _plain_items(reader.velocity, moving)

    left: Rows = rows
    if len(places) == len(steady) and len(velocities) == len(moving):
        _write_into(reader.position, steady, places)
        _write_into(reader.velocity, moving, velocities)
        left = rows[grows]
    return left


def _write_into(binding: Any, rows: Rows, items: list[Any]) -> None:
    """Write the numbers that differ from the seen ones into the components of rows."""
    now, seen = np.asarray(binding.now), np.asarray(binding.seen)
    new, before = now[rows], seen[rows]
    differs = new != before
    now[rows] = seen[rows] = np.where(differs, new, before)  # zeros may differ in sign
    for k, name in enumerate(binding.names):
        at = differs[:, k].nonzero()[0]
        changing = map(items.__getitem__, at.tolist())
        deque(map(setattr, changing, repeat(name), new[at, k].tolist()), maxlen=0)


def find_faces(b: Any, rows: Any, limit: float) -> None:
    """Compute the tight boxes of bodies, as `ComponentReader.find_faces`; limit `SAFE_LIMIT`."""
    rows = np.asarray(rows)
    centre, half = np.asarray(b.centre)[rows], np.asarray(b.half)[rows]
    half = np.where(half == 0.0, np.asarray(b.seen_half)[rows], half)
    np.asarray(b.half)[rows] = half
    with np.errstate(invalid="ignore"):  # skipped bodies may hold any numbers
        low, high = centre - half, centre + half
    np.asarray(b.tight_min)[rows] = low
    np.asarray(b.tight_max)[rows] = high
    near = (low >= -limit) & (high <= limit) & (abs(np.asarray(b.velocity)[rows]) <= limit)
    np.asarray(b.bad)[rows[~near.all(axis=1)]] |= Bad.DISTANT
