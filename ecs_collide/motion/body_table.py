"""The numbers of all bodies, one row each, as the kernels want them."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Bytes = NDArray[np.int8]
Longs = NDArray[np.int64]

Number = TypeVar("Number", bound=np.generic)

_VECTORS = (
    "centre", "half", "velocity", "growth", "motion", "swept_min", "swept_max", "tight_min",
    "tight_max", "seen_centre", "seen_half", "seen_velocity", "seen_growth", "seen_offset",
)  # fmt: skip
_PLACES = {"place": "centre", "seen_place": "seen_centre", "size": "half", "seen_size": "seen_half"}
_SINGLES = ("seen_mass", "seen_restitution", "seen_owner")  # vectors of one axis
_SCALARS = ("mass", "restitution")
_FLAGS = (
    "response", "custom", "moves", "touched", "yields", "sensor", "gone", "has", "news", "bad",
    "quarantined", "disabled", "attached", "present", "driven", "surfaces", "rest_count", "asleep", "held",
    "leans",
)  # fmt: skip
_LONGS = ("ids", "n_filed", "island")

INITIAL_ROWS = 64  # rows that there are from the beginning


class BodyTable:
    """Arrays of one row per body.  Rows are given out and taken back, never moved.

    A row that is given back is given out again from the next step on: should the step
    under way not happen, it holds what it held.

    Vectors are float64 (capacity, dim), scalars float64 (capacity,), flags
    int8 (capacity,).  `seen_...` is what the game's components were last known
    to say, and the names without it are what the step works on.  `has` and
    `news` hold the bits of `ecs_collide.constants`.

    `place` and `size` are what the components of the game hold: other columns
    than `centre` and `half` where `is_apart`, else the same.
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
    seen_offset: Doubles
    seen_owner: Doubles
    seen_mass: Doubles
    seen_restitution: Doubles
    mass: Doubles
    restitution: Doubles
    response: Bytes
    custom: Bytes
    moves: Bytes
    touched: Bytes
    yields: Bytes
    sensor: Bytes
    gone: Bytes
    has: Bytes
    news: Bytes
    bad: Bytes
    quarantined: Bytes
    disabled: Bytes
    attached: Bytes
    present: Bytes
    driven: Bytes
    surfaces: Bytes
    rest_count: Bytes
    asleep: Bytes
    held: Bytes
    leans: Bytes
    ids: Longs
    n_filed: Longs
    island: Longs
    place: Doubles
    seen_place: Doubles
    size: Doubles
    seen_size: Doubles

    def __init__(self, dim: int, apart: bool = False) -> None:
        self.dim = dim
        self.capacity = 0
        self.is_apart = apart
        self._free: list[int] = []
        self._freed: list[int] = []
        self._vectors: Doubles = np.zeros((len(_VECTORS) + apart * len(_PLACES), 0, dim))
        self._scalars: Doubles = np.zeros((len(_SCALARS) + 2, 0))
        self._flags: Bytes = np.zeros((len(_FLAGS), 0), np.int8)
        self._longs: Longs = np.zeros((len(_LONGS), 0), np.int64)
        self._allocate(INITIAL_ROWS)

    def _allocate(self, capacity: int) -> None:
        """Replace all arrays by longer ones, at once: parts of four blocks."""
        new: dict[str, Any] = {
            name: _lengthened(getattr(self, name), capacity)
            for name in ("_vectors", "_scalars", "_flags", "_longs")
        }
        for names, block in (
            ((*_VECTORS, *_PLACES), "_vectors"),
            (_SCALARS, "_scalars"),
            (_FLAGS, "_flags"),
            (_LONGS, "_longs"),
        ):
            new.update(zip(names, new[block], strict=False))
        if not self.is_apart:
            new.update((name, new[twin]) for name, twin in _PLACES.items())
        # The same numbers: a mass is used as it is read.
        new["seen_mass"] = new["mass"].reshape(-1, 1)
        new["seen_restitution"] = new["_scalars"][-2].reshape(-1, 1)
        new["seen_owner"] = new["_scalars"][-1].reshape(-1, 1)
        new["_free"] = [*self._free, *range(capacity - 1, self.capacity - 1, -1)]
        new["capacity"] = capacity
        self.__dict__.update(new)  # one call, in which nothing can come between

    def reserve(self, n_more: int) -> bool:
        """Make room for more rows; return whether the arrays were replaced."""
        wanted = self.capacity - len(self._free) + n_more
        if wanted <= self.capacity:
            return False
        self._allocate(max(wanted, self.capacity + self.capacity // 2))
        return True

    def allocate(self, entities: list[int]) -> list[int]:
        """Return free rows, cleared, for new bodies."""
        rows = [self._free.pop() for _ in entities]
        for block in (self._vectors, self._scalars, self._flags, self._longs):
            block[:, rows] = 0
        self.ids[rows] = entities
        self.mass[rows] = 1.0
        return rows

    def free(self, row: int) -> None:
        """Free the row of a body that is gone, from the next step on."""
        self._freed.append(row)

    def reuse_freed(self) -> None:
        """Have the rows that were given back to give out again."""
        rows, self._freed = self._freed, []
        self._free += rows

    def free_all_but(self, rows: NDArray[np.int64]) -> None:
        """Have all rows to give out again but these."""
        used = set(rows.tolist())
        free = [row for row in range(self.capacity - 1, -1, -1) if row not in used]
        self.__dict__.update(_free=free, _freed=[])

    def views(self) -> _MemoryViews:
        """Return the arrays as memoryviews, for the kernels."""
        return _MemoryViews(self)


def _lengthened(block: NDArray[Number], capacity: int) -> NDArray[Number]:
    """Return a copy of a block with its second axis lengthened to `capacity` by zeros."""
    longer: NDArray[Any] = np.zeros((len(block), capacity, *block.shape[2:]), block.dtype)
    longer[:, : block.shape[1]] = block
    return longer


class _MemoryViews:
    """The arrays of `BodyTable` as memoryviews: read as Python they give plain numbers."""

    def __init__(self, table: BodyTable) -> None:
        for name in (*_VECTORS, *_PLACES, *_SINGLES, *_SCALARS, *_FLAGS, *_LONGS):
            setattr(self, name, memoryview(getattr(table, name)))

    def __getattr__(self, name: str) -> memoryview:
        raise AttributeError(name)
