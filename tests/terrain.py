"""Random ground of boxes and slopes, and its height."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import ecs_collide as ec
from tests.scenes import box


def terrain(
    rng: random.Random,
    n: int,
    tile: float,
    parts: Callable[[], list[object]] = list,
    *,
    depth: float | None = None,
    ceiling: float | None = None,
) -> list[tuple[float, float]]:
    """Lay columns whose upper ends are level or sloped; return the heights of both ends of each.

    `parts` returns further components of each body.  In 3D the columns are `depth` long.  With a
    `ceiling` they hang upside down from this height, in tiles.
    """
    height, columns = 0.0, []
    for k in range(n):
        step = rng.choice([0, 0, 1, -1, 0.5, -0.5, 2, -2])
        if abs(height + step) > 6:
            step = -step
        low, high, base = min(height, height + step), max(height, height + step), -8
        x = (k + 0.5) * tile

        def column(bottom: float, top: float, *own: object, x: float = x) -> None:
            aside = () if depth is None else (0.0,)
            deep = () if depth is None else (depth / 2,)
            centre, half = (bottom + top) / 2 * tile, (top - bottom) / 2 * tile
            if ceiling is not None:
                centre = ceiling * tile - centre
            box((x, centre, *aside), (tile / 2, half, *deep), *own, *parts())

        def slope(low: float = 0.0, high: float = 1.0, right: bool = step > 0) -> ec.Slope:
            if ceiling is None:
                return ec.Slope("right" if right else "left", low=low, high=high)
            return ec.Slope("left" if right else "right", low=1 - high, high=1 - low, ceiling=True)

        kind = rng.randrange(3)
        if step == 0:
            column(base, low)
        elif kind == 0:  # a triangle on a box
            column(base, low)
            column(low, high, slope())
        elif kind == 1:  # one piece
            column(base, high, slope(low=(low - base) / (high - base)))
        else:  # a slope lower than its box
            column(base, low)
            column(low, high + 1, slope(high=(high - low) / (high + 1 - low)))
        columns.append((height, height + step))
        height += step
    return columns


def ground_below(
    columns: list[tuple[float, float]], tile: float, left: float, right: float
) -> float:
    """Return the highest point of the ground between two places."""

    def at(x: float) -> float:
        k = min(max(int(x // tile), 0), len(columns) - 1)
        first, last = columns[k]
        return tile * (first + (last - first) * (x / tile - k))

    places = [left, right]
    places += [k * tile for k in range(math.ceil(left / tile), math.floor(right / tile) + 1)]
    return max(map(at, places))
