"""Which cells of a grid bodies occupy, for path finders."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._checks import refuse_reversed, same_vectors
from ecs_collide.components.base import shown

_ROUNDING = 2.0**-40  # of the largest coordinate: bodies that overlap by less only touch
_MOST_CELLS = 2**26


class Cells:
    """The cells of a grid, and a box that is to fit into them.

    Parameters
    ----------
    bounds : (min, max)
        Two corners.  The first cell begins at `min`; the last one may reach beyond `max`.
    cell : float
        The length of the sides of a cell.
    half : sequence of float, or None
        Half sizes of the box that stands in the middle of a cell; by default it fills the cell.
    """

    def __init__(
        self, bounds: tuple[ArrayLike, ArrayLike], cell: float, half: ArrayLike | None, dim: int
    ) -> None:
        if not (isinstance(cell, (int, float)) and 0.0 < cell < np.inf):
            raise ValueError(
                f"occupancy(cell={shown(cell)}) must be a length above 0, in world units"
            )
        low, high = bounds
        if np.shape(low) != (dim,) or np.shape(high) != (dim,):
            raise ValueError(
                f"occupancy(bounds={shown(bounds)}) must have {dim} axes in this space"
            )
        named = {"min": low, "max": high, "half": [cell / 2] * dim if half is None else half}
        self.low, self.high, self.half = same_vectors(**named)
        refuse_reversed("min", self.low, "max", self.high)
        if (self.half < 0.0).any():
            raise ValueError(f"occupancy(half={shown(half)}) must be 0 or more on each axis")
        shape = np.ceil((self.high - self.low) / cell * (1.0 - _ROUNDING)).clip(1)
        if shape.prod() > _MOST_CELLS:
            raise ValueError(
                f"occupancy(cell={shown(cell)}) has {shape.prod():.3g} cells, and {_MOST_CELLS} at "
                "most: ask for a smaller area or larger cells"
            )
        self.centres = [
            low + (np.arange(int(n)) + 0.5) * cell for low, n in zip(self.low, shape, strict=True)
        ]

    def occupied(self, mins: NDArray[np.float64], maxs: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which cells have no room for the box beside other boxes (open)."""
        grid = np.zeros([len(centres) for centres in self.centres], np.bool_)
        places = []
        for k, centres in enumerate(self.centres):
            slop = _ROUNDING * max(abs(self.low[k]), abs(self.high[k]), self.half[k])
            first = np.searchsorted(centres, mins[:, k] - self.half[k] + slop, side="right")
            last = np.searchsorted(centres, maxs[:, k] + self.half[k] - slop, side="left")
            places.append(list(map(slice, first.tolist(), last.tolist())))
        for place in zip(*places, strict=True):
            grid[place] = True
        return grid
