"""The body table as Python sees it: the columns as numpy arrays, and which rows are free."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.motion.columns import views_of


class BodyTable:
    """The columns of `Bodies`, as numpy arrays of the same memory, and its free rows.

    Rows are allocated and freed, never moved.  A freed row is reused from the next step on, so that
    it keeps its contents if the current step is rolled back.

    Each column of `motion.columns` is an attribute, of the shape (capacity, ...).

    Attributes
    ----------
    bodies : Bodies
        The kernel that owns the columns.
    views : SimpleNamespace
        The columns as memoryviews, whose items are plain Python numbers.
    """

    def __init__(self, bodies: Any) -> None:
        self.bodies = bodies
        self.dim: int = bodies.dim
        self.is_apart: bool = bodies.is_apart
        self.capacity = 0
        self.views = SimpleNamespace()
        self._free: list[int] = []
        self._freed: list[int] = []
        self._cleared: list[NDArray[Any]] = []
        self.bind()

    def __getattr__(self, name: str) -> NDArray[Any]:
        raise AttributeError(name)  # declares to mypy that every column is an attribute

    def bind(self) -> None:
        """Use the arrays of the kernel, which may have been replaced by longer ones."""
        self.bodies.bind()
        blocks, memory = self.bodies.blocks, self.bodies.memory
        new = views_of(blocks, memory)
        capacity = len(new["ids"])
        new["views"] = SimpleNamespace(**{name: view.data for name, view in new.items()})
        new["_cleared"] = [
            columns for block, columns in zip(blocks, memory, strict=True) if block.is_cleared
        ]
        new["_free"] = [*self._free, *range(capacity - 1, self.capacity - 1, -1)]
        new["capacity"] = capacity
        self.__dict__.update(new)  # one call, so that no interrupt leaves a part of it

    def reserve(self, n_more: int) -> bool:
        """Make room for more rows; return whether the arrays were replaced."""
        wanted = self.capacity - len(self._free) + n_more
        if wanted <= self.capacity:
            return False
        self.bodies.reserve(max(wanted, self.capacity + self.capacity // 2))
        self.bind()
        return True

    def allocate(self, entities: list[int]) -> list[int]:
        """Return cleared rows for new bodies."""
        rows = [self._free.pop() for _ in entities]
        for columns in self._cleared:
            columns[:, rows] = 0
        self.ids[rows] = entities
        self.mass[rows] = 1.0
        return rows

    def take_seen(self, rows: NDArray[np.int64]) -> None:
        """Reset the columns of bodies to the values last seen in their components."""
        self.centre[rows], self.half[rows] = self.seen_centre[rows], self.seen_half[rows]
        self.velocity[rows], self.growth[rows] = self.seen_velocity[rows], self.seen_growth[rows]

    def free(self, rows: list[int]) -> None:
        """Free the rows of deleted bodies, from the next step on."""
        self._freed += rows

    def reuse_freed(self) -> None:
        """Make the freed rows available."""
        rows, self._freed = self._freed, []
        self._free += rows

    def free_all_but(self, rows: NDArray[np.int64]) -> None:
        """Make all rows available except these."""
        used = set(rows.tolist())
        free = [row for row in range(self.capacity - 1, -1, -1) if row not in used]
        self.__dict__.update(_free=free, _freed=[])
