"""The region that is seen from a point among boxes, within a square.

The visible part changes only in the directions of corners, of the boxes and of what two of them share.
Between two such directions one face is seen, so one ray in the middle finds it.  Asano, "An
Efficient Algorithm for Finding the Visibility Polygon for a Polygonal Region with Holes", 1985, goes
around in the same order.  The rays replace its sorted list of edges.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ecs_collide.queries.results import RayHits

Floats = NDArray[np.float64]

ROUNDING = 2.0**-40  # of the largest coordinate: a point that is less deep in a box touches it
_LEAST_TURN = 1e-12  # radians: directions that are closer are one


def visible_region(
    point: Floats,
    reach: float,
    ids: NDArray[np.int64],
    boxes: tuple[Floats, Floats],
    holds: NDArray[np.bool_],
    ends: Floats,
    cast: Callable[[Floats, list[int]], RayHits],
) -> Floats:
    """Return the corners of the visible region, counter-clockwise; none for a point in a box.

    Parameters
    ----------
    point : float64 (2,)
    reach : float
        Half the side of the square.
    ids : int64 (n,)
        The boxes that the square reaches, sorted.
    boxes : two float64 (n, 2)
        Their corners.
    holds : bool (n,)
        Which of them have the point, within or on their faces: a slope only in its solid part, a
        `OneWay` only if it counts on all sides.
    ends : float64 (m, 2)
        The ends of the lines of slopes.
    cast : callable
        Return the first hits of rays from the point, by their directions (n, 2).  The second
        argument has the boxes to ignore, as the point lies on them.
    """
    low, high = point - reach, point + reach
    mins, maxs = np.maximum(boxes[0], low), np.minimum(boxes[1], high)
    slop = ROUNDING * max(np.abs(low).max(), np.abs(high).max())
    if (((mins + slop < point) & (point < maxs - slop)).all(axis=1) & holds).any():
        return np.empty((0, 2))
    touches = ((mins <= point + slop) & (point - slop <= maxs)).all(axis=1) & holds
    starts, stops, middles = _sectors(point, low, high, mins, maxs, ends)
    lengths = reach / np.abs(middles).max(axis=1)
    hits = cast(middles * lengths[:, None], ids[touches].tolist())

    rows = np.arange(len(middles))
    at_once = hits.times == 0.0  # the point lies on the solid side of a `OneWay`
    is_hit = (hits.ids >= 0) & ~at_once
    across = np.where(is_hit[:, None], hits.normals, middles)
    axes = np.abs(across).argmax(axis=1)
    is_up = middles[rows, axes] > 0.0
    lines = np.where(is_up, high[axes], low[axes])  # the coordinate of the seen face on its axis
    hit_axes, places = axes[is_hit], np.searchsorted(ids, hits.ids[is_hit])
    lines[is_hit] = np.where(is_up[is_hit], boxes[0][places, hit_axes], boxes[1][places, hit_axes])
    away = lines - point[axes]
    first = starts * (away / starts[rows, axes])[:, None] + point
    last = stops * (away / stops[rows, axes])[:, None] + point
    first[rows, axes] = last[rows, axes] = lines  # without rounding
    slanted = np.flatnonzero(is_hit & (np.abs(across).min(axis=1) > 0.0))
    for row in slanted.tolist():  # the line of a slope
        normal = hits.normals[row]
        distance = (hits.points[row] - point) @ normal
        first[row] = starts[row] * (distance / (starts[row] @ normal)) + point
        last[row] = stops[row] * (distance / (stops[row] @ normal)) + point
    dark = at_once | _enters(point, mins[touches], maxs[touches], middles, slop)
    first[dark] = last[dark] = point
    return _without_needless(np.stack([first, last], axis=1).reshape(-1, 2))


def _sectors(
    point: Floats, low: Floats, high: Floats, mins: Floats, maxs: Floats, ends: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the directions between which one face is seen, in turn, and those in their middle."""
    first, second = _pairs(mins, maxs)
    shared_low = np.maximum(mins[first], mins[second])
    shared_high = np.minimum(maxs[first], maxs[second])
    shared = (shared_low <= shared_high).all(axis=1)
    lows, highs = [low[None], mins, shared_low[shared]], [high[None], maxs, shared_high[shared]]
    both = np.stack([np.concatenate(lows), np.concatenate(highs)])
    corners = np.concatenate(
        [np.stack([both[i, :, 0], both[j, :, 1]], axis=1) for i in (0, 1) for j in (0, 1)]
    )
    ways = np.concatenate([corners, ends]) - point
    ways = ways[ways.any(axis=1)]
    angles = np.arctan2(ways[:, 1], ways[:, 0])
    order = np.argsort(angles, kind="stable")
    ways, angles = ways[order], angles[order]
    new = np.diff(angles, prepend=angles[-1] - 2.0 * np.pi) > _LEAST_TURN
    starts = ways[new]
    ends = np.roll(starts, -1, axis=0)
    units = starts / np.hypot(starts[:, 0], starts[:, 1])[:, None]
    return starts, ends, units + np.roll(units, -1, axis=0)


def _pairs(mins: Floats, maxs: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of boxes that touch or overlap, as two arrays of numbers, some repeatedly.

    There are others among them: those that share an x and one of about √n horizontal strips.
    """
    n_strips = int(np.ceil(np.sqrt(len(mins))))
    low, high = mins[:, 1].min(initial=np.inf), maxs[:, 1].max(initial=-np.inf)
    bottom, top = (
        (each[:, 1] - low) * (n_strips / max(high - low, ROUNDING)) for each in (mins, maxs)
    )
    strips = np.minimum(np.stack([bottom, top]), n_strips - 1).astype(np.intp)
    box, strip = _ranges(*strips)
    # In the order of strips, then of x.  Ranks of x are whole numbers, so a key has both.
    sides = np.sort(np.concatenate([mins[:, 0], maxs[:, 0]]))
    ranks = (np.searchsorted(sides, each[:, 0]) for each in (mins, maxs))
    starts, stops = (strip * (2 * len(mins)) + rank[box] for rank in ranks)
    order = np.argsort(starts, kind="stable")
    place, other = _ranges(np.arange(1, len(order) + 1),
                           np.searchsorted(starts[order], stops[order], side="right") - 1)  # fmt: skip
    return box[order[place]], box[order[other]]


def _ranges(
    first: NDArray[np.intp], last: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the whole numbers from `first` to `last` of each row, after the numbers of the rows."""
    counts = last - first + 1
    rows = np.repeat(np.arange(len(first)), counts)
    return rows, first[rows] + np.arange(len(rows)) - (counts.cumsum() - counts)[rows]


def _enters(
    point: Floats, mins: Floats, maxs: Floats, ways: Floats, slop: float
) -> NDArray[np.bool_]:
    """Return which directions lead into a box on which the point lies."""
    at_min, at_max = np.abs(point - mins) <= slop, np.abs(point - maxs) <= slop
    inward = np.where(at_min, ways[:, None] > 0.0, True) & np.where(
        at_max, ways[:, None] < 0.0, True
    )
    entered: NDArray[np.bool_] = np.any(np.all(inward, axis=2), axis=1)
    return entered


def _without_needless(ring: Floats) -> Floats:
    """Return a ring without points that repeat or lie on a line with their neighbours."""
    for _ in range(2):
        before = ring - np.roll(ring, 1, axis=0)
        ring = ring[before.any(axis=1)]
        before, after = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
        on_line = ((before == 0.0) & (after == 0.0)).any(axis=1)
        ring = ring[~on_line]
    return ring
