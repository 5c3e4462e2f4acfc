"""The lines of slopes, whose ends are corners of the region that is seen from a point."""

from __future__ import annotations

import numpy as np

from ecs_collide.queries.visibility import ROUNDING, Floats


def slope_ends(point: Floats, reach: float, outlines: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the lines of slopes, (n, 2), and the point, beside a line if it is on it.

    `outlines` has the corners of each solid part, (n, 4, 2): the first two on its solid side.
    """
    slop = ROUNDING * (np.abs(point).max() + reach)
    for inner, _, stop, start in outlines:
        way = stop - start
        if not way.all():  # a flat box
            continue
        normal = np.array([-way[1], way[0]]) / np.hypot(*way)
        if normal[1] * (start[1] + stop[1] - 2.0 * inner[1]) < 0.0:
            normal = -normal
        if (
            abs((point - start) @ normal) <= slop
            and (np.abs(point - (start + stop) / 2) <= np.abs(way) / 2 + slop).all()
        ):
            point = point + 2.0 * slop * normal
    return outlines[:, 2:].reshape(-1, 2), point
