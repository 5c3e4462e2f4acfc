"""Sort and sweep in whole-array numpy: the best that needs no compiled code.

Boxes are cut into strips (in 3D: columns) along the first axis, so that a box
has few neighbours in its strip, and all strips are sorted at once by one key.
Then every box is compared with its first follower, its second, and so on, as
long as they begin before it ends: a few passes over arrays that only shrink.
That is quicker than listing all candidates by `searchsorted` and `repeat`.
"""

from __future__ import annotations

import numpy as np

from benchmarks.scenes import Floats, Integers

STRIP = 3.0  # height of a strip, in mean sides of the boxes


def spans(counts: Integers) -> tuple[Integers, Integers]:
    """Return for counts (2, 3) the rows (0, 0, 1, 1, 1) and the places (0, 1, 0, 1, 2)."""
    rows = np.repeat(np.arange(len(counts)), counts)
    return rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)


def sweep(mins: Floats, maxs: Floats) -> Integers:
    """Return all pairs of rows of boxes that share a point.

    Parameters
    ----------
    mins, maxs : float64, shape (n, dim)

    Returns
    -------
    int64, shape (m, 2)
        Each pair once, in no order.
    """
    n_axes = mins.shape[1]
    first, last = _cells(mins, maxs)
    size = last - first + 1
    if n_axes == 2:
        home, wide = first[0], 1
        rows, place = spans(size[0])
        cell = home[rows] + place
    else:
        wide = int(last[1].max()) + 1
        home = first[0] * wide + first[1]
        rows, place = spans(size[0] * size[1])
        down, along = np.divmod(place, size[1][rows])
        cell = home[rows] + down * wide + along

    origin = mins[:, 0].min()
    shift = cell * (maxs[:, 0].max() - origin + 1.0) - origin
    start = mins[:, 0].take(rows) + shift
    order = start.argsort()
    rows, cell, start = rows.take(order), cell.take(order), start.take(order)
    stop = maxs[:, 0].take(rows) + shift.take(order)
    lows = [mins[:, k].take(rows) for k in range(1, n_axes)]
    highs = [maxs[:, k].take(rows) for k in range(1, n_axes)]

    found: list[tuple[Integers, Integers]] = []
    ahead = 1
    live = (start[1:] <= stop[:-1]).nonzero()[0]
    while len(live) > 1000:
        found.append(_overlapping(live, live + ahead, lows, highs))
        ahead += 1
        live = live[: np.searchsorted(live, len(rows) - ahead)]
        live = live[start.take(live + ahead) <= stop.take(live)]
    # The few with a long way to go, as the large ones among small, at once.
    left = np.searchsorted(start, stop.take(live), "right") - live - ahead
    which, place = spans(left)
    live = live.take(which)
    found.append(_overlapping(live, live + ahead + place, lows, highs))

    early, late = (np.concatenate(side) for side in zip(*found, strict=True))
    cell, early, late = cell.take(early), rows.take(early), rows.take(late)
    # A pair that shares several cells counts in the first of them.
    shared = np.maximum(first[0].take(early), first[0].take(late))
    if n_axes == 3:
        shared = shared * wide + np.maximum(first[1].take(early), first[1].take(late))
    once = (shared == cell).nonzero()[0]
    return np.stack([early.take(once), late.take(once)], axis=1)


class RestingBoxes:
    """Boxes that stay, sorted once; those that move are then looked up among them."""

    def __init__(self, mins: Floats, maxs: Floats) -> None:
        self.high = STRIP * float((maxs[:, 1] - mins[:, 1]).mean())
        self.bottom = float(mins[:, 1].min())
        first, last = (np.floor((v[:, 1] - self.bottom) / self.high) for v in (mins, maxs))
        rows, place = spans((last - first + 1).astype(np.int64))
        strip = first[rows] + place
        self.n_strips = int(last.max()) + 1
        self.widest = float((maxs[:, 0] - mins[:, 0]).max())
        self.origin = float(mins[:, 0].min())
        self.length = float(maxs[:, 0].max()) - self.origin + 2.0 * self.widest + 1.0
        key = mins[:, 0][rows] - self.origin + strip * self.length
        order = key.argsort()
        self.rows, self.key = rows[order], key[order]
        self.first = first
        self.mins, self.maxs = mins, maxs

    def meeting(self, mins: Floats, maxs: Floats) -> Integers:
        """Return the pairs (row of what moves, row of what rests) that share a point."""
        first, last = (
            np.clip(np.floor((v[:, 1] - self.bottom) / self.high), 0.0, self.n_strips - 1.0)
            for v in (mins, maxs)
        )
        rows, place = spans((last - first + 1).astype(np.int64))
        strip = first[rows] + place
        # What overlaps on the first axis begins at most one widest side before.
        room = self.length - self.widest - 1.0
        low = np.clip(mins[:, 0] - self.origin - self.widest, -self.widest, room)[rows]
        high = np.clip(maxs[:, 0] - self.origin, -self.widest, room)[rows]
        begin = np.searchsorted(self.key, low + strip * self.length, "left")
        end = np.searchsorted(self.key, high + strip * self.length, "right")
        which, place = spans(end - begin)
        here, there = rows[which], self.rows[begin[which] + place]
        keep = strip[which] == np.maximum(first[here], self.first[there])
        for k in range(mins.shape[1]):
            keep &= mins[:, k].take(here) <= self.maxs[:, k].take(there)
            keep &= self.mins[:, k].take(there) <= maxs[:, k].take(here)
        return np.stack([here[keep], there[keep]], axis=1)


def _cells(mins: Floats, maxs: Floats) -> tuple[Integers, Integers]:
    """Return the first and the last cell of each box on all axes but the first, (dim - 1, n)."""
    low, high = mins[:, 1:].T, maxs[:, 1:].T
    scale = 1.0 / (STRIP * (high - low).mean(axis=1, keepdims=True))
    origin = low.min(axis=1, keepdims=True)
    return ((low - origin) * scale).astype(np.int64), ((high - origin) * scale).astype(np.int64)


def _overlapping(
    a: Integers, b: Integers, lows: list[Floats], highs: list[Floats]
) -> tuple[Integers, Integers]:
    """Return those of the pairs that overlap on all axes but the first."""
    for low, high in zip(lows, highs, strict=True):
        near = ((low.take(a) <= high.take(b)) & (low.take(b) <= high.take(a))).nonzero()[0]
        a, b = a.take(near), b.take(near)
    return a, b
