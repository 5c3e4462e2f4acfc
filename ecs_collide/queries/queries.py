"""Find boxes: in regions, along rays, before boxes that move, near points.

One interface for the bodies of a `Space` and the boxes of an `AABBTree`, each of which is
`Queried` in its own way.  `Space` documents the questions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._ids import Integers
from ecs_collide.events import VectorLike
from ecs_collide.filters import Filter as CategoryFilter
from ecs_collide.queries.searcher import (
    Boxes,
    BoxHit,
    BoxHits,
    Exclude,
    Neighbour,
    Neighbours,
    RayHit,
    RayHits,
    RegionHits,
    Rows,
    Searcher,
    checked_count,
    checked_distance,
    first_allowed,
    rows_to_exclude,
    rows_to_exclude_each,
)

Filter: TypeAlias = type | tuple[type, ...] | CategoryFilter | Callable[[int], object] | None
Each: TypeAlias = Sequence[int] | NDArray[np.int64] | None
Allowed: TypeAlias = Callable[[int], object] | None


class Queried(Protocol):
    """The interface of the boxes that are searched."""

    @property
    def searcher(self) -> Searcher:
        """What searches the trees."""

    @property
    def boxes(self) -> Boxes:
        """The own boxes by row, and the ids."""

    def row(self, id: int) -> int:
        """Return the row of an id, -1 if it has none."""

    def allowed(self, filter: Filter, n_hits: int = 1, solid: bool = False) -> Allowed:
        """Return a function that returns whether a hit may be returned; None if all may."""

    def left_out(self, filter: Filter, solid: bool) -> Sequence[int]:
        """Return the rows that a query in bulk must not return."""


class Queries:
    """Answers queries about boxes; `Space` documents each."""

    def __init__(self, queried: Queried) -> None:
        self._queried = queried

    def query(
        self,
        min: VectorLike,
        max: VectorLike,
        exclude: Exclude = None,
        filter: Filter = None,
        solid: bool = False,
    ) -> list[int]:
        """Return the boxes that share a point with a region, sorted by id."""
        queried = self._queried
        found = queried.searcher.region(min, max, queried.boxes)
        if exclude is not None:
            ids = queried.boxes[2]
            excluded = {ids[row] for row in self._excluded(exclude) or ()}
            found = [id for id in found if id not in excluded]
        allowed = queried.allowed(filter, len(found), solid)
        if allowed is not None:
            found = [id for id in found if allowed(id)]
        return found

    def query_many(
        self,
        mins: ArrayLike,
        maxs: ArrayLike,
        exclude: Exclude = None,
        filter: Filter = None,
        solid: bool = False,
    ) -> RegionHits:
        """Return the boxes in each of many regions."""
        queried = self._queried
        return queried.searcher.regions(
            mins, maxs, self._left_out(exclude, filter, solid), queried.boxes
        )

    def cast_ray(
        self,
        origin: VectorLike,
        direction: VectorLike,
        limit: int,
        exclude: Exclude = None,
        filter: Filter = None,
        solid: bool = False,
    ) -> list[RayHit]:
        """Return the first `limit` hits of a ray, sorted by time, then id; 0: all."""
        queried, excluded = self._queried, self._excluded(exclude)
        searcher, boxes, allowed = (
            queried.searcher,
            queried.boxes,
            queried.allowed(filter, 1, solid),
        )
        if allowed is None:
            return searcher.ray(origin, direction, limit, excluded, boxes)

        def search(limit: int) -> list[RayHit]:
            return searcher.ray(origin, direction, limit, excluded, boxes)

        return first_allowed(search, limit, allowed)

    def cast_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        exclude: Exclude = None,
        exclude_each: Each = None,
        filter: Filter = None,
        solid: bool = False,
    ) -> RayHits:
        """Return the first hit of each of many rays."""
        queried = self._queried
        each = self._excluded_each(exclude_each)
        left_out = self._left_out(exclude, filter, solid)
        return queried.searcher.rays(origins, directions, each, left_out, queried.boxes)

    def cast_box(
        self,
        centre: VectorLike,
        half: VectorLike,
        motion: VectorLike,
        limit: int,
        exclude: Exclude = None,
        filter: Filter = None,
        solid: bool = False,
    ) -> list[BoxHit]:
        """Return the first `limit` hits of a box on a straight way, by time, then id; 0: all."""
        queried, excluded = self._queried, self._excluded(exclude)
        searcher, boxes = queried.searcher, queried.boxes
        allowed = queried.allowed(filter, 1, solid)

        def search(limit: int) -> list[BoxHit]:
            return searcher.box(centre, half, motion, limit, excluded, boxes)

        return search(limit) if allowed is None else first_allowed(search, limit, allowed)

    def cast_boxes(
        self,
        centres: ArrayLike,
        halves: ArrayLike,
        motions: ArrayLike,
        exclude: Exclude = None,
        exclude_each: Each = None,
        filter: Filter = None,
        solid: bool = False,
    ) -> BoxHits:
        """Return what each of many boxes meets first."""
        queried, each = self._queried, self._excluded_each(exclude_each)
        left_out = self._left_out(exclude, filter, solid)
        return queried.searcher.cast_boxes(centres, halves, motions, each, left_out, queried.boxes)

    def nearest(
        self,
        min: VectorLike,
        max: VectorLike,
        k: int = 1,
        within: float = math.inf,
        exclude: Exclude = None,
        filter: Filter = None,
        solid: bool = False,
    ) -> list[Neighbour]:
        """Return the k boxes nearest to a box, or to a point, by distance, then id."""
        queried, excluded = self._queried, self._excluded(exclude)
        k, within = checked_count(k), checked_distance(within)
        searcher, boxes = queried.searcher, queried.boxes
        allowed = queried.allowed(filter, 1, solid)

        def search(limit: int) -> list[Neighbour]:
            return searcher.near(min, max, limit, within, excluded, boxes)

        return search(k) if allowed is None else first_allowed(search, k, allowed)

    def nearest_many(
        self,
        points: ArrayLike,
        k: int = 1,
        within: float = math.inf,
        exclude: Exclude = None,
        exclude_each: Each = None,
        filter: Filter = None,
        solid: bool = False,
    ) -> Neighbours:
        """Return the k boxes nearest to each of many points."""
        queried, each = self._queried, self._excluded_each(exclude_each)
        k, within, left_out = (
            checked_count(k),
            checked_distance(within),
            self._left_out(exclude, filter, solid),
        )
        return queried.searcher.nearest_many(points, k, within, each, left_out, queried.boxes)

    def _excluded(self, exclude: Exclude) -> Rows:
        return None if exclude is None else rows_to_exclude(exclude, self._queried.row)

    def _excluded_each(self, exclude_each: Each) -> Integers | None:
        return rows_to_exclude_each(exclude_each, self._queried.row)

    def _left_out(self, exclude: Exclude, filter: Filter, solid: bool) -> Rows:
        """Return the rows that a query in bulk leaves out."""
        excluded, others = self._excluded(exclude), self._queried.left_out(filter, solid)
        return (*(excluded or ()), *others) if others else excluded
