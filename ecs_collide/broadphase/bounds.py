"""Compare a box with its fat bounds, and write new fat bounds.

Compiled kernels take these functions from `broadphase/bounds.h`, which computes both axes in 2D
side by side.  Arrays are flat.  The corners of a box begin at `p` of `mins` and `maxs`, its fat
bounds at `q` and its box in the tree at `at`, both as dim minima, then dim maxima.  `motion` is the
displacement in the step, not read if `still`; if `swept`, the box contains it.
"""

from __future__ import annotations

FITS = 1  # fat bounds contain the path of a box, and are not far larger than necessary
SAME = 2  # the box has not changed


def classify(
    mins: list[float],
    maxs: list[float],
    motion: list[float],
    p: int,
    still: bool,
    swept: bool,
    fat: list[float],
    q: int,
    margin: float,
    lookahead: float,
    too_big: float,
    box: list[float],
    at: int,
    dim: int,
) -> int:
    """Write a box to its place in the tree; return FITS and SAME as bits."""
    if dim == 2:
        return _classify_2d(
            mins, maxs, motion, p, still, swept, fat, q, margin, lookahead, too_big, box, at
        )
    low, high = mins[p : p + dim], maxs[p : p + dim]
    displacements, sides = _displacements_and_sides(mins, maxs, motion, p, still, swept, dim)
    fits = same = True
    for k in range(dim):
        displacement = 0.0 if swept else displacements[k]
        fits &= low[k] + 0.5 * (displacement - abs(displacement)) >= fat[q + k]
        fits &= high[k] + 0.5 * (displacement + abs(displacement)) <= fat[q + dim + k]
        same &= box[at + k] == low[k] and box[at + dim + k] == high[k]
        box[at + k] = low[k] + 0.0  # -0.0 becomes 0.0
        box[at + dim + k] = high[k] + 0.0
    around = 2.0 * (margin if margin >= 0.0 else max(*sides, 0.0))
    needed = [
        side + (abs(displacement) * (1.0 + lookahead) + around)
        for side, displacement in zip(sides, displacements, strict=True)
    ]
    fits &= _surface([fat[q + dim + k] - fat[q + k] for k in range(dim)]) <= too_big * _surface(
        needed
    )
    return fits * FITS | same * SAME


def _classify_2d(
    mins: list[float],
    maxs: list[float],
    motion: list[float],
    p: int,
    still: bool,
    swept: bool,
    fat: list[float],
    q: int,
    margin: float,
    lookahead: float,
    too_big: float,
    box: list[float],
    at: int,
) -> int:
    """Do the same as `classify` for two axes, in a third of the time."""
    left, bottom, right, top = mins[p], mins[p + 1], maxs[p], maxs[p + 1]
    fat_left, fat_bottom, fat_right, fat_top = fat[q : q + 4]
    before = box[at : at + 4]
    width, height = right - left, top - bottom
    far_x = far_y = 0.0
    fits = left >= fat_left and right <= fat_right and bottom >= fat_bottom and top <= fat_top
    if not still:
        x, y = motion[p], motion[p + 1]
        far_x, far_y = abs(x), abs(y)
        if swept:
            width, height = width - far_x, height - far_y
        else:
            fits = (
                left + 0.5 * (x - far_x) >= fat_left
                and right + 0.5 * (x + far_x) <= fat_right
                and bottom + 0.5 * (y - far_y) >= fat_bottom
                and top + 0.5 * (y + far_y) <= fat_top
            )
    now = [left + 0.0, bottom + 0.0, right + 0.0, top + 0.0]  # -0.0 becomes 0.0
    box[at : at + 4] = now
    around = 2.0 * (margin if margin >= 0.0 else max(width, height, 0.0))
    needed = (width + (far_x * (1.0 + lookahead) + around)) + (
        height + (far_y * (1.0 + lookahead) + around)
    )
    fits = fits and (fat_right - fat_left) + (fat_top - fat_bottom) <= too_big * needed
    return fits * FITS | (before == now) * SAME


def classify_run(items: object, n: int, *_: object) -> int:
    """Return `n`: in pure Python the caller classifies each item."""
    return n


def widen(
    mins: list[float],
    maxs: list[float],
    motion: list[float],
    p: int,
    still: bool,
    swept: bool,
    margin: float,
    lookahead: float,
    share: float,
    fat: list[float],
    q: int,
    dim: int,
) -> None:
    """Write the fat bounds of a box.

    They contain its path in the step and the margin on all sides; a negative margin stands for the
    longest side.  In the direction of motion they contain a share, from 0 to 1, of the body's
    motion in the next 2 * `lookahead` steps.
    """
    displacements, sides = _displacements_and_sides(mins, maxs, motion, p, still, swept, dim)
    if margin < 0.0:
        margin = max(*sides, 0.0)
    for k, displacement in enumerate(displacements):
        growth = share * (2.0 * lookahead * abs(displacement))
        fat[q + k] = mins[p + k] - margin
        fat[q + dim + k] = maxs[p + k] + margin
        if not swept:
            fat[q + k] += 0.5 * (displacement - abs(displacement))
            fat[q + dim + k] += 0.5 * (displacement + abs(displacement))
        ahead = displacement > 0.0
        fat[q + k] -= growth * (1.0 - ahead)
        fat[q + dim + k] += growth * ahead


def _displacements_and_sides(
    mins: list[float],
    maxs: list[float],
    motion: list[float],
    p: int,
    still: bool,
    swept: bool,
    dim: int,
) -> tuple[list[float], list[float]]:
    """Return how far a box moves on each axis, and its size without its path."""
    displacements = [0.0] * dim if still else list(motion[p : p + dim])
    sides = [maxs[p + k] - mins[p + k] for k in range(dim)]
    if swept:
        sides = [
            side - abs(displacement)
            for side, displacement in zip(sides, displacements, strict=True)
        ]
    return displacements, sides


def _surface(sides: list[float]) -> float:
    """Return half the perimeter (2D) or surface (3D) of a box."""
    if len(sides) == 2:
        return sides[0] + sides[1]
    x, y, z = sides
    return x * y + y * z + z * x
