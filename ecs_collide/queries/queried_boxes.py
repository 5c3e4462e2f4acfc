"""The boxes of an `AABBTree` for its queries."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecs_collide.queries.queries import Allowed, Boxes, Filter
from ecs_collide.queries.wrapped import search_of

OWN: Any = np.zeros((0, 2)).data  # the boxes in the tree are the items' own


class QueriedBoxes:
    """Boxes by id, without other boxes than those in the tree."""

    place = "tree"

    def __init__(self, dim: int, tree: Any, rows: Any) -> None:
        self.dim = dim
        self.search = search_of(None, tree)
        self._rows = rows
        self._boxes: Boxes = (OWN, OWN, rows.ids)
        self._room: int = rows.room  # the array of ids is replaced when it grows

    @property
    def boxes(self) -> Boxes:
        """No boxes besides those in the tree, and the ids by row."""
        if self._room != self._rows.room:
            self._boxes, self._room = (OWN, OWN, self._rows.ids), self._rows.room
        return self._boxes

    def row(self, id: int) -> int:
        """Return the row of an id, -1 if it has none."""
        return int(self._rows.find(id)) if -(2**63) <= id < 2**63 else -1

    def allowed(self, filter: Filter, n_hits: int = 1, solid: bool = False) -> Allowed:
        """Return the filter, a function that takes an id."""
        if filter is None:
            return None
        if callable(filter) and not isinstance(filter, type):
            return filter
        raise TypeError(f"filter={filter!r} must be a function that takes an id, or None")

    def left_out(self, filter: Filter, solid: bool) -> tuple[int, ...]:
        """Return no rows: a box that was removed is in no tree."""
        return ()
