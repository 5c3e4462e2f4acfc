"""Which cells of a grid bodies occupy, for path finders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._checks import refuse_reversed, same_vectors
from ecs_collide.components.base import shown

Boxes: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
Corners: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]

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

    def occupied(
        self, boxes: Boxes, slopes: Mapping[int, Callable[[Corners, Corners], float]], up: int
    ) -> NDArray[np.bool_]:
        """Return which cells have no room for the box beside bodies (open).

        Parameters
        ----------
        boxes : (mins, maxs), each float64 (n, dim)
            The corners of the bodies.
        slopes : dict
            By index of a body with a `Slope`: the function that returns how deep a box is beyond
            its line, from the corners of the two; inf if the body is a box.
        up : int
            The axis of heights.
        """
        mins, maxs = boxes
        grid = np.zeros([len(centres) for centres in self.centres], np.bool_)
        places = []
        for k, centres in enumerate(self.centres):
            slop = _ROUNDING * max(abs(self.low[k]), abs(self.high[k]), self.half[k])
            first = np.searchsorted(centres, mins[:, k] - self.half[k] + slop, side="right")
            last = np.searchsorted(centres, maxs[:, k] + self.half[k] - slop, side="left")
            places.append(list(map(slice, first.tolist(), last.tolist())))
        for n, place in enumerate(zip(*places, strict=True)):
            whole = tuple(mins[n].tolist()), tuple(maxs[n].tolist())
            if n not in slopes or slopes[n](whole, whole) == np.inf:
                grid[place] = True
            elif grid[place].size:
                grid[place] |= self._beyond_line(place, whole, slopes[n], up)
        return grid

    def _beyond_line(
        self,
        place: tuple[slice, ...],
        whole: Corners,
        depth_in: Callable[[Corners, Corners], float],
        up: int,
    ) -> NDArray[np.bool_]:
        """Return in which cells of a part of the grid the box is beyond the line of a slope.

        Its depth there is linear in the height of the cell, so two depths give those of a column.
        """
        axes = [centres[part] for centres, part in zip(self.centres, place, strict=True)]
        heights = axes[up] - axes[up][0]
        axes[up] = np.array([axes[up][0], axes[up][0] + 1.0])
        two = np.empty([len(axis) for axis in axes])
        for index in np.ndindex(two.shape):
            centre = np.array([axis[k] for axis, k in zip(axes, index, strict=True)])
            box = tuple((centre - self.half).tolist()), tuple((centre + self.half).tolist())
            two[index] = depth_in(whole, box)
        two = np.moveaxis(two, up, -1)
        depths = two[..., :1] + (two[..., 1:] - two[..., :1]) * heights
        sizes = np.subtract(whole[1], whole[0])
        steep = sizes[up] / sizes  # the line is no steeper than this
        reach = np.maximum(np.abs(self.low), np.abs(self.high)) + self.half
        beyond: NDArray[np.bool_] = depths > _ROUNDING * float((steep * reach).sum())
        return np.moveaxis(beyond, -1, up)
