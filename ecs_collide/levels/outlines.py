"""Which polygons are bodies: upright rectangles, and ramps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Point = tuple[float, float]


class Ramp(NamedTuple):
    """The arguments of a `Slope`."""

    rise: str
    low: float
    high: float
    ceiling: bool


def corners(points: Sequence[Point]) -> list[Point]:
    """Return the corners of a polygon: without points between two others on an upright line."""
    ring = [*points]
    return [
        here
        for before, here, after in zip(
            ring[-1:] + ring[:-1], ring, ring[1:] + ring[:1], strict=True
        )
        if not (before[0] == here[0] == after[0] or before[1] == here[1] == after[1])
    ]


def is_rectangle(points: Sequence[Point]) -> bool:
    """Return whether a polygon is a rectangle whose sides are parallel to the axes."""
    ring = corners(points)
    if len(ring) != 4:
        return False
    (a, b), (c, d), (e, f), (g, h) = ring
    across = b == d and c == e and f == h and g == a
    down = a == c and d == f and e == g and h == b
    return (across and b != f and a != c) or (down and a != e and b != d)


def ramp_of(points: Sequence[Point]) -> Ramp | None:
    """Return the slope of a polygon, or None.

    y grows downwards.  The polygon has a level side, one or two upright ones, and a line.  It is a
    right triangle, or one of the tiles of a longer ramp.
    """
    ring = corners(points)
    xs = sorted({x for x, _ in ring})
    if len(ring) not in (3, 4) or len(set(ring)) != len(ring) or len(xs) != 2:
        return None
    left, right = ([y for x, y in ring if x == side] for side in xs)
    top, bottom = min(y for _, y in ring), max(y for _, y in ring)
    if len(left) > 2 or len(right) > 2 or top == bottom:
        return None
    if max(left) == max(right):
        heights = bottom - min(left), bottom - min(right)
    elif min(left) == min(right):
        heights = bottom - max(left), bottom - max(right)
    else:
        return None
    if heights[0] == heights[1]:
        return None
    low, high = (height / (bottom - top) for height in sorted(heights))
    return Ramp("right" if heights[1] > heights[0] else "left", low, high, max(left) != max(right))
