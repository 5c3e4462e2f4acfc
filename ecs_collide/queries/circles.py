"""When a moving circle, or in 3D a ball, meets a box or a slope.

The square of its distance from a box is a quadratic polynomial of time between the times when its
centre passes the planes of the faces.  A slope is met at one of three boxes: one as high as the low
end of its line, its high end, and in coordinates along the line the line itself.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from math import inf, sqrt
from typing import NamedTuple

from ecs_collide._kernel.constants import SLOP
from ecs_collide.events import Vector


def _sum(parts: Iterable[float]) -> float:
    """Return a sum with the same bits on every Python; `sum` is compensated since 3.12."""
    total = 0.0
    for part in parts:
        total += part
    return total


def _length(vector: Sequence[float]) -> float:
    """Return the length of a vector."""
    return sqrt(_sum(part * part for part in vector))


class Shape(NamedTuple):
    """A box, or with the six numbers of `Slopes.shape_of` the solid part of a slope."""

    low: Vector
    high: Vector
    line: tuple[float, ...] = ()

    def has_inside(self, low: Vector, high: Vector) -> bool:
        """Return whether a region that overlaps the box has a part of the inside of the shape.

        Within the slop they only touch.
        """
        if not self.line:
            return True
        along, forth, upright, out, foot, top = self.line
        run, up = int(along), int(upright)
        start, end = (self.low, self.high) if forth > 0.0 else (self.high, self.low)
        base = (self.low if out > 0.0 else self.high)[up]
        front = (high if forth > 0.0 else low)[run]
        corner = (low if out > 0.0 else high)[up]
        height = self.high[up] - self.low[up]
        share = min(1.0, (front - start[run]) / (end[run] - start[run]))
        rise = height * (foot + (top - foot) * share)
        places = *self.low, *self.high, front, corner
        return rise - out * (corner - base) > SLOP * max(map(abs, places))


class Part(NamedTuple):
    """A box in coordinates that may be turned: the origin, the axes, and the corners."""

    origin: Vector
    axes: tuple[Vector, ...]
    low: Vector
    high: Vector

    def turned(self, vector: Sequence[float]) -> list[float]:
        """Return a vector of the world along the axes."""
        return [_sum(a * b for a, b in zip(axis, vector, strict=True)) for axis in self.axes]

    def nearest(self, point: Vector) -> Vector:
        """Return the point of the box that is nearest to another one, in the world."""
        at = self.turned([a - b for a, b in zip(point, self.origin, strict=True)])
        held = [max(a, min(b, c)) for a, b, c in zip(self.low, at, self.high, strict=True)]
        return tuple(
            self.origin[k]
            + _sum(part * axis[k] for part, axis in zip(held, self.axes, strict=True))
            for k in range(len(point))
        )


def meet(shape: Shape, centre: Vector, radius: float, motion: Vector) -> float:
    """Return when a circle overlaps a shape, as a fraction of its motion; inf for never (open)."""
    if _is_inside(shape, centre):
        return 0.0
    return min(_first_time(part, centre, radius, motion) for part in _parts(shape))


def touch(shape: Shape, centre: Vector) -> tuple[Vector, Vector]:
    """Return the point of a shape nearest to a centre, and the unit normal from there to it.

    The normal is zeros for a centre inside.
    """
    if _is_inside(shape, centre):
        return centre, (0.0,) * len(centre)
    ways = []
    for part in _parts(shape):
        point = part.nearest(centre)
        way = tuple(a - b for a, b in zip(centre, point, strict=True))
        ways.append((_length(way), point, way))
    length, point, way = min(ways, key=lambda each: each[0])
    return point, tuple(part / length + 0.0 for part in way) if length else (0.0,) * len(way)


def _parts(shape: Shape) -> list[Part]:
    """Return boxes that have the whole surface of a shape."""
    dim = len(shape.low)
    zero = (0.0,) * dim
    axes = tuple(tuple(float(j == k) for j in range(dim)) for k in range(dim))
    if not shape.line:
        return [Part(zero, axes, shape.low, shape.high)]
    run, up, start, end, foot, top = _line_of(shape)
    base = shape.low[up] if shape.line[3] > 0.0 else shape.high[up]
    whole = [list(shape.low), list(shape.high)]
    parts = []
    for one, other, height in ((start, end, foot), (end, end, top)):
        low, high = (list(corner) for corner in whole)
        low[run], high[run] = min(one, other), max(one, other)
        low[up], high[up] = min(base, height), max(base, height)
        parts.append(Part(zero, axes, tuple(low), tuple(high)))
    length = _length((end - start, top - foot))
    along, across = [0.0] * dim, [0.0] * dim
    along[run], along[up] = (end - start) / length, (top - foot) / length
    across[run], across[up] = -along[up], along[run]
    turned = [*axes]
    turned[run], turned[up] = tuple(along), tuple(across)
    origin = [0.0] * dim
    origin[run], origin[up] = start, foot
    low, high = (list(corner) for corner in whole)
    low[run], high[run], low[up], high[up] = 0.0, length, 0.0, 0.0
    return [*parts, Part(tuple(origin), tuple(turned), tuple(low), tuple(high))]


def _line_of(shape: Shape) -> tuple[int, int, float, float, float, float]:
    """Return the axes of a slope's line, and its ends: along the first axis, then their heights."""
    run, forth, up, out, low, high = shape.line
    run, up = int(run), int(up)
    start, end = (shape.low[run], shape.high[run])[:: 1 if forth > 0.0 else -1]
    base, whole = (shape.low[up], shape.high[up])[:: 1 if out > 0.0 else -1]
    return run, up, start, end, base + low * (whole - base), base + high * (whole - base)


def _is_inside(shape: Shape, point: Vector) -> bool:
    """Return whether a point is in the interior of a shape."""
    if not all(a < b < c for a, b, c in zip(shape.low, point, shape.high, strict=True)):
        return False
    if not shape.line:
        return True
    run, up, start, end, foot, top = _line_of(shape)
    height = foot + (top - foot) * ((point[run] - start) / (end - start))
    return (height - point[up]) * shape.line[3] > 0.0


def _first_time(part: Part, centre: Vector, radius: float, motion: Vector) -> float:
    """Return when a circle overlaps a box, inf for never."""
    at = part.turned([a - b for a, b in zip(centre, part.origin, strict=True)])
    way = part.turned(motion)
    times = {0.0, 1.0}
    for k, speed in enumerate(way):
        if speed:
            times |= {(face[k] - at[k]) / speed for face in (part.low, part.high)}
    ordered = sorted(time for time in times if 0.0 <= time <= 1.0)
    for begin, end in pairwise(ordered):
        middle = (begin + end) / 2.0
        gaps = []  # at time 0, and their rates
        for k, speed in enumerate(way):
            if at[k] + middle * speed < part.low[k]:
                gaps.append((part.low[k] - at[k], -speed))
            elif at[k] + middle * speed > part.high[k]:
                gaps.append((at[k] - part.high[k], speed))
        time = _time_within(gaps, radius, begin)
        if time <= end:
            return time
    return inf


def _time_within(gaps: list[tuple[float, float]], radius: float, begin: float) -> float:
    """Return when, from `begin` on, the length of a vector of linear gaps is below a radius."""
    rest = [(gap + begin * rate, rate) for gap, rate in gaps]
    c = _sum(gap * gap for gap, _ in rest) - radius * radius
    b = _sum(gap * rate for gap, rate in rest)
    if c < 0.0 or (c == 0.0 and b < 0.0):
        return begin
    # b * b - a * c, in which a thin circle far away would be lost to rounding
    across = _sum((f * s - g * r) ** 2 for (f, r), (g, s) in combinations(rest, 2))
    root = _sum(rate * rate for _, rate in rest) * radius * radius - across
    if b >= 0.0 or root <= 0.0:
        return inf
    return begin + c / (sqrt(root) - b)
