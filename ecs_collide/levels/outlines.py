"""Outlines as Tiled draws them, and which of them are bodies: upright rectangles, and ramps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ecs_collide.levels.frame import Point

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""

FLIPS = 0xF0000000
"""The bits of a tile number that say how Tiled flips the tile."""

# By its diagonal first.
_FLIP_X, _FLIP_Y, _FLIP_DIAGONALLY = 1 << 31, 1 << 30, 1 << 29
_QUARTERS: dict[float, Point] = {0: (1.0, 0.0), 90: (0.0, 1.0), 180: (-1.0, 0.0), 270: (0.0, -1.0)}


class Drawing(NamedTuple):
    """How Tiled draws the picture of a tile.

    Attributes
    ----------
    size : tuple of 2 floats
        Of the picture, in pixels.
    drawn : tuple of 2 floats
        The size that it is scaled to.
    keeps_aspect : bool
        Whether both axes get the smaller of the two scales.
    offset : tuple of 2 floats
        In pixels of the picture, to the right and downwards.
    flips : int
        A tile number with the bits that say how it is flipped.

    Notes
    -----
    This is the transform of `CellRenderer::render` in Tiled 1.11, for a cell whose origin is its
    top left corner.  A diagonal flip is a turn by 90 degrees with other mirrors.
    """

    size: Point
    drawn: Point
    keeps_aspect: bool
    offset: Point
    flips: int

    def place(self, points: Iterable[Point]) -> list[Point]:
        """Return where points of the picture lie, from the top left corner of the drawn size."""
        (wide, high), (width, height) = self.size, self.drawn
        scale_x, scale_y = width / wide, height / high
        if self.keeps_aspect:
            scale_x = scale_y = min(scale_x, scale_y)
        x = width / 2 + self.offset[0] * scale_x
        y = height / 2 + self.offset[1] * scale_y
        mirror_x, mirror_y = bool(self.flips & _FLIP_X), bool(self.flips & _FLIP_Y)
        is_turned = bool(self.flips & _FLIP_DIAGONALLY)
        if is_turned:
            mirror_x, mirror_y = mirror_y, not mirror_x
            x, y = x + (height - width) / 2, y + (height - width) / 2
        placed = []
        for right, down in points:
            across = (right - wide / 2) * (-scale_x if mirror_x else scale_x)
            along = (down - high / 2) * (-scale_y if mirror_y else scale_y)
            placed.append((x - along, y + across) if is_turned else (x + across, y + along))
        return placed


def turned(points: Iterable[Point], centre: Point, degrees: float) -> list[Point]:
    """Return points turned clockwise around a centre; y grows downwards."""
    degrees %= 360
    angle = math.radians(degrees)
    cos, sin = _QUARTERS.get(degrees) or (math.cos(angle), math.sin(angle))
    x, y = centre
    return [
        (x + cos * (right - x) - sin * (down - y), y + sin * (right - x) + cos * (down - y))
        for right, down in points
    ]


def corners_of(left: float, top: float, width: float, height: float) -> list[Point]:
    """Return the corners of a rectangle; a negative size reaches to the other side."""
    right, bottom = left + width, top + height
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def box_around(points: Iterable[Point]) -> Box:
    """Return the box around points."""
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


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
