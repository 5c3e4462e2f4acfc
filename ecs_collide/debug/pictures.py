"""Pictures of a world for reports: as text, and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ecs_collide.debug.shapes import COLOURS
from ecs_collide.queries.inspection import BodyKind
from ecs_collide.space import Space

Doubles = NDArray[np.float64]

COLUMNS, ROWS = 66, 20  # characters of a picture in text; a character is twice as high as wide
_PICTURE_WIDTH = 720  # pixels of an SVG
_NAMED = "AB"


def draw_text(space: Space, around: Sequence[int] = ()) -> str:
    """Return the first two axes of a world as text.

    Static bodies are drawn with ``#``, moving ones with ``+`` and sensors with ``:``.

    Parameters
    ----------
    space : Space
    around : up to two entity ids
        Bodies that are drawn with the letters A and B; the picture shows their neighbourhood.
        By default it shows the whole world.
    """
    named = [entity for entity in around if entity in space][: len(_NAMED)]
    seen = _view(space, named)
    if seen is None:
        return "(there is no body to draw)"
    low, high = seen
    size = high - low
    scale = min((COLUMNS - 1) / size[0], 2 * (ROWS - 1) / size[1])
    n_columns, n_rows = int(size[0] * scale) + 1, int(size[1] * scale / 2) + 1
    grid = [[" "] * n_columns for _ in range(n_rows)]
    mins, maxs = space.boxes()
    entities, kinds = space.entities, space.body_kinds()
    outlines = _outlines(space, mins, maxs)
    order = sorted(range(len(entities)), key=lambda n: (entities[n] in named, kinds[n], n))
    for n in order:
        if not np.isfinite(outlines[n]).all():
            continue
        corners = (outlines[n] - low) * scale / (1.0, 2.0)
        left, right = (int(np.floor(end)) for end in (corners[:, 0].min(), corners[:, 0].max()))
        entity = entities[n]
        mark = _NAMED[named.index(entity)] if entity in named else _mark(int(kinds[n]))
        for x in range(max(left, 0), min(right, n_columns - 1) + 1):
            bottom, top = _span(corners, x)
            for y in range(max(bottom, 0), min(top, n_rows - 1) + 1):
                if x in (left, right) or y in (bottom, top) or entity in named:
                    grid[y][x] = mark
    if space.up[1] >= 0:
        grid.reverse()
    edge = "+" + "-" * n_columns + "+"
    lines = [edge, *("|" + "".join(row) + "|" for row in grid), edge]
    corner, other = (", ".join(f"{part:.6g}" for part in point) for point in (low, high))
    words = [f"{_NAMED[n]} entity {entity}" for n, entity in enumerate(named)]
    return "\n".join([*lines, "; ".join([*words, f"from ({corner}) to ({other})"])])


def _outlines(space: Space, mins: Doubles, maxs: Doubles) -> Doubles:
    """Return the corners of all bodies on the first two axes, float64 (n, 4, 2)."""
    left, bottom, right, top = *mins.T[:2], *maxs.T[:2]
    corners = np.stack([left, bottom, right, bottom, right, top, left, top], axis=1)
    corners = corners.reshape(-1, 4, 2)
    places, solid = space.slope_outlines()
    corners[places] = solid
    return corners


def _span(corners: Doubles, column: int) -> tuple[int, int]:
    """Return the lowest and the highest row of a column of characters in a convex polygon."""
    heights: list[float] = []
    for first, second in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        (x, y), (to_x, to_y) = sorted([first.tolist(), second.tolist()])
        for edge in (max(column, x), min(column + 1, to_x)):
            if x <= edge <= to_x:
                heights.append(y + (to_y - y) * ((edge - x) / (to_x - x) if to_x > x else 0.0))
    return int(np.floor(min(heights))), int(np.floor(max(heights)))


def _mark(kind: int) -> str:
    if kind & BodyKind.SENSOR:
        return ":"
    return "+" if kind & BodyKind.MOVES else "#"


def _view(space: Space, named: Sequence[int]) -> tuple[Doubles, Doubles] | None:
    """Return the corners of the area of a picture, on the first two axes.

    It lies around the smaller of two bodies, and contains the near side of the other.
    """
    mins, maxs = space.boxes(named or None)
    if len(named) == 2 and np.isfinite([mins, maxs]).all():
        small = int((maxs - mins)[:, :2].sum(axis=1).argmin())
        gap = np.maximum(mins[0] - maxs[1], mins[1] - maxs[0])[:2].max()
        low, high = mins[small, :2], maxs[small, :2]
        around = 1.5 * (high - low).max() + max(gap, 0.0) + 1e-9
        return low - around, high + around
    fine = np.isfinite(mins).all(axis=1) & np.isfinite(maxs).all(axis=1)
    if not fine.any():
        return None
    low, high = mins[fine, :2].min(axis=0), maxs[fine, :2].max(axis=0)
    size = np.maximum(high - low, 1e-9 + 1e-9 * np.abs(high))
    around = size.max() * (1.0 if named else 0.02)
    return low - around, low + size + around


def draw_svg(space: Space, path: Path | str, around: Sequence[int] = ()) -> Path:
    """Write an SVG of the first two axes of a world; arguments as in `draw_text`."""
    path = Path(path)
    seen = _view(space, [entity for entity in around if entity in space])
    low, high = (np.zeros(2), np.ones(2)) if seen is None else seen
    scale = _PICTURE_WIDTH / (high - low)[0]
    height = (high - low)[1] * scale
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_PICTURE_WIDTH}" height="{height:.0f}">',
        '<rect width="100%" height="100%" fill="#12141e"/>',
    ]
    outlines = _outlines(space, *space.boxes())
    for entity, kind, corners in zip(
        space.entities, space.body_kinds().tolist(), outlines, strict=True
    ):
        if not np.isfinite(corners).all():
            continue
        x, y = (corners - low).T * scale
        down = height - y if space.up[1] >= 0 else y
        points = " ".join(f"{x:.2f},{y:.2f}" for x, y in zip(x, down, strict=True))
        name = "sensor" if kind & BodyKind.SENSOR else "static"
        name = "moving" if kind & BodyKind.MOVES else name
        colour = "#{:02x}{:02x}{:02x}".format(*COLOURS[name])
        parts.append(
            f'<polygon points="{points}" '
            f'fill="{colour}" fill-opacity="{0.7 if entity in around else 0.25}" '
            f'stroke="{colour}"><title>entity {entity}</title></polygon>'
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>\n"]), "utf-8")
    return path
