"""The lines of slopes, whose ends are corners of the region that is seen from a point."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ecs_collide.queries.visibility import ROUNDING, Floats


def slope_ends(
    point: Floats, reach: float, slopes: Iterable[tuple[Any, Any, Any]], up: Sequence[float]
) -> tuple[Floats, Floats]:
    """Return the ends of the lines of slopes, (n, 2), and the point, beside a line if it is on it.

    Each slope has its two corners, the component and `up` of the space.
    """
    ends = []
    slop = ROUNDING * (np.abs(point).max() + reach)
    for low, high, slope in slopes:
        base, tip = (low[1], high[1]) if up[1] > 0.0 else (high[1], low[1])
        start, stop = (
            np.array([x, base + part * (tip - base)])
            for x, part in zip(
                (low[0], high[0]) if slope.x > 0.0 else (high[0], low[0]),
                (slope.low, slope.high),
                strict=True,
            )
        )
        way = stop - start
        if not way.all():  # a flat box
            continue
        normal = np.array([-way[1], way[0]]) / np.hypot(*way)
        if normal[1] * up[1] * (-1.0 if slope.ceiling else 1.0) < 0.0:
            normal = -normal
        if (
            abs((point - start) @ normal) <= slop
            and (np.abs(point - (start + stop) / 2) <= np.abs(way) / 2 + slop).all()
        ):
            point = point + 2.0 * slop * normal
        ends += [start, stop]
    return np.array(ends).reshape(-1, 2), point
