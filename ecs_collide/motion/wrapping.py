"""The widths of a world that wraps, and positions in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from ecs_collide._checks import Floats
from ecs_collide._kernel import backend
from ecs_collide._kernel.constants import LARGEST

Wrap: TypeAlias = tuple[float | None, ...]
"""The width of the world on each axis, or None if it does not wrap there."""


def checked_wrap(wrap: Sequence[float | None] | None, dim: int) -> Wrap | None:
    """Return the widths as floats, or None if no axis wraps; raise if they are invalid."""
    if wrap is None:
        return None
    wanted = (
        f"Space(dim={dim}, wrap={wrap!r}): wrap must have {dim} entries, one for each axis: "
        "how wide the world is on it, or None where it does not wrap"
    )
    try:
        widths = tuple(wrap)
    except TypeError:
        raise TypeError(wanted) from None
    if isinstance(wrap, (str, bytes)) or len(widths) != dim:
        raise ValueError(wanted)
    for k, width in enumerate(widths):
        if width is None:
            continue
        if isinstance(width, bool) or not isinstance(width, (int, float, np.number)):
            raise TypeError(f"{wanted}; the {'xyz'[k]} entry is {width!r}")
        if not 1.0 / LARGEST <= width <= LARGEST:
            raise ValueError(
                f"{wanted}; the width on {'xyz'[k]} is {width!r} and must be within "
                "2**-500 ... 2**500"
            )
    checked = tuple(None if width is None else float(width) for width in widths)
    return None if not any(checked) else checked


class PeriodicDomain:
    """The edges of a world on the axes that wrap, if any, for arrays of positions.

    Attributes
    ----------
    wrap : tuple or None
        None if no axis wraps.
    widths : float64 (dim,)
        0 on the axes that do not wrap.
    axes : list of int
        The axes that wrap.
    """

    def __init__(self, wrap: Wrap) -> None:
        self.widths = np.array([width or 0.0 for width in wrap])
        self.axes = [k for k, width in enumerate(wrap) if width]
        self.wrap = wrap if self.axes else None

    def into_world(self, places: Floats) -> Floats:
        """Return positions (..., dim) wrapped into the world, as by `Bodies.into_world`.

        If no axis wraps, the result may share the memory of the positions.
        """
        inside = np.array(places, np.float64) if self.axes else np.asarray(places, np.float64)
        for k in self.axes:
            width, column = self.widths[k], inside[..., k]
            out = ~((column >= 0.0) & (column < width)) & np.isfinite(column)
            if out.any():
                places = column[out]
                backend.kernels.bodies.bring_into_world(places.data, width)
                column[out] = places
        return inside

    def shortest(self, displacements: Floats) -> Floats:
        """Return how many widths to subtract from displacements (..., dim) to shorten them most."""
        rounds = np.zeros_like(displacements)
        for k in self.axes:
            rounds[..., k] = np.rint(displacements[..., k] / self.widths[k])
        return rounds

    def whole_displacement(self, displacements: Floats, motions: Floats) -> Floats:
        """Return displacements (..., dim) plus the whole widths that make them closest to motions.

        If nothing has turned a body, that is its motion.  It is at most half a width longer.
        """
        taken = displacements.copy()
        for k in self.axes:
            taken[..., k] += self.widths[k] * np.rint(
                (motions[..., k] - displacements[..., k]) / self.widths[k]
            )
        return taken

    def around(self, minimum: Sequence[int], maximum: Sequence[int]) -> Iterator[Floats]:
        """Yield the offsets of images from `minimum` to `maximum` widths on each axis."""
        counts = [range(low, high + 1) for low, high in zip(minimum, maximum, strict=True)]
        for numbers in product(*counts):
            yield np.array(numbers) * self.widths

    def __str__(self) -> str:
        return repr(self.wrap)


def nearest_shift(wrap: Wrap | None, one: Sequence[float], two: Sequence[float]) -> list[float]:
    """Return the offset from `two` to its image that is nearest to `one`."""
    domain = PeriodicDomain(wrap or (None,) * len(one))
    shifts = -domain.shortest(np.subtract(two, one)) * domain.widths
    return [shift if math.isfinite(shift) else 0.0 for shift in shifts.tolist()]
