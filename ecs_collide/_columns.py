"""The numbers of all bodies, one row each, as the kernels want them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Bytes = NDArray[np.int8]

_VECTORS = (
    "centre", "half", "velocity", "growth", "motion", "swept_min", "swept_max", "tight_min",
    "tight_max", "seen_centre", "seen_half", "seen_velocity", "seen_growth",
)  # fmt: skip
_SCALARS = ("mass", "restitution")
_FLAGS = (
    "response", "custom", "moves", "touched", "yields", "sensor", "gone", "can_yield",
    "bad_centre", "bad_half", "bad_velocity", "bad_growth", "bad_material", "bad_motion",
    "quarantined",
)  # fmt: skip


class Columns:
    """Arrays of one row per body.  Rows are given out and taken back, never moved.

    Vectors are float64 (capacity, dim), scalars float64 (capacity,), flags
    int8 (capacity,).  `seen_...` is what the game's components were last known
    to say, and the names without it are what the step works on.
    """

    centre: Doubles
    half: Doubles
    velocity: Doubles
    growth: Doubles
    motion: Doubles
    swept_min: Doubles
    swept_max: Doubles
    tight_min: Doubles
    tight_max: Doubles
    seen_centre: Doubles
    seen_half: Doubles
    seen_velocity: Doubles
    seen_growth: Doubles
    mass: Doubles
    restitution: Doubles
    response: Bytes
    custom: Bytes
    moves: Bytes
    touched: Bytes
    yields: Bytes
    sensor: Bytes
    gone: Bytes
    can_yield: Bytes
    bad_centre: Bytes
    bad_half: Bytes
    bad_velocity: Bytes
    bad_growth: Bytes
    bad_material: Bytes
    bad_motion: Bytes
    quarantined: Bytes
    ids: NDArray[np.int64]

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.capacity = 0
        self._free: list[int] = []
        self._allocate(64)

    def _allocate(self, capacity: int) -> None:
        def lengthened(name: str, dtype: Any, *width: int) -> None:
            array = np.zeros((capacity, *width), dtype)
            if self.capacity:
                array[: self.capacity] = getattr(self, name)
            setattr(self, name, array)

        for name in _VECTORS:
            lengthened(name, np.float64, self.dim)
        for name in _SCALARS:
            lengthened(name, np.float64)
        for name in _FLAGS:
            lengthened(name, np.int8)
        lengthened("ids", np.int64)
        self._free.extend(range(capacity - 1, self.capacity - 1, -1))
        self.capacity = capacity

    def reserve(self, n_more: int) -> bool:
        """Make room for so many more rows; tell whether the arrays were replaced."""
        wanted = self.capacity - len(self._free) + n_more
        if wanted <= self.capacity:
            return False
        self._allocate(max(wanted, 2 * self.capacity))
        return True

    def take(self, entity: int) -> int:
        """Return a free row, cleared, for a new body."""
        row = self._free.pop()
        for name in (*_VECTORS, *_SCALARS, *_FLAGS):
            getattr(self, name)[row] = 0
        self.ids[row] = entity
        self.mass[row] = 1.0
        return row

    def give_back(self, row: int) -> None:
        """Free the row of a body that is gone."""
        self._free.append(row)

    def views(self) -> _Views:
        """Return the arrays as memoryviews, for the kernels."""
        return _Views(self)


class _Views:
    """The arrays of `Columns` as memoryviews: read as Python they give plain numbers."""

    def __init__(self, columns: Columns) -> None:
        for name in (*_VECTORS, *_SCALARS, *_FLAGS, "ids"):
            setattr(self, name, memoryview(getattr(columns, name)))

    def __getattr__(self, name: str) -> memoryview:
        raise AttributeError(name)
