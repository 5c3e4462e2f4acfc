"""Find boxes: in regions, along rays, on paths of moving boxes, near points.

`BoxQueries` documents the queries.  Here arguments are checked, the kernel is called and hits are
filtered, in one way for the bodies of a `Space` and the boxes of an `AABBTree`, which are both
`Queried`.  The kernel reads the vectors of a single query directly if they are plain tuples.
Other vectors are checked and converted first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import index
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._checks import (
    Floats,
    Integers,
    refuse_negative,
    refuse_reversed,
    rows_together,
    same_axes,
    same_vectors,
)
from ecs_collide._kernel.constants import INF, QueryKind
from ecs_collide.components.base import shown
from ecs_collide.components.filters import Filter as CategoryFilter
from ecs_collide.queries.results import BoxHit, Neighbour, RayHit, RegionHits
from ecs_collide.queries.wrapped import Boxes, Query, Rows, WrappedSearch

Exclude: TypeAlias = int | Iterable[int] | None
Each: TypeAlias = Sequence[int] | NDArray[np.int64] | None
Filter: TypeAlias = type | tuple[type, ...] | CategoryFilter | Callable[[int], object] | None
Allowed: TypeAlias = Callable[[int], object] | None
Selection: TypeAlias = tuple[Exclude, Any, bool]
"""The arguments `exclude`, `filter` and `solid` of a query, which select boxes."""

_NAMES: dict[int, tuple[str, ...]] = {
    QueryKind.RAY: ("origin", "direction"),
    QueryKind.CAST: ("centre", "half", "motion"),
    QueryKind.NEAR: ("min", "max"),
    QueryKind.REGION: ("min", "max"),
}
_NAMES_OF_MANY: dict[int, tuple[str, ...]] = {
    QueryKind.RAY: ("origins", "directions"),
    QueryKind.CAST: ("centres", "halves", "motions"),
    QueryKind.NEAR: ("points",),
    QueryKind.REGION: ("mins", "maxs"),
}
_FIRST_HITS = 8  # hits examined first if a filter refuses some
_Hit = TypeVar("_Hit", RayHit, BoxHit, Neighbour)


class Queried(Protocol):
    """The interface of the boxes that are searched."""

    dim: int
    place: str  # the noun in errors: "tree" or "space"

    @property
    def search(self) -> Any:
        """The search in the trees: a kernel's `Search`, or a `WrappedSearch`."""

    @property
    def boxes(self) -> Boxes:
        """The own boxes by row, and the ids."""

    def row(self, id: int) -> int:
        """Return the row of an id, -1 if it has none."""

    def attached_to(self, rows: Sequence[int]) -> Sequence[int]:
        """Return the rows of the boxes that are attached to the ones in some rows."""

    def allowed(self, filter: Filter, solid: bool = False) -> Allowed:
        """Return a function that returns whether a hit may be returned; None if all may."""

    def skipped(self, filter: Filter, solid: bool) -> Sequence[int]:
        """Return the rows that a query in bulk must not return."""


class Queries:
    """Answers queries about boxes; `BoxQueries` documents each."""

    def __init__(self, queried: Queried) -> None:
        self._queried = queried

    # -- single queries --

    def in_region(self, corners: tuple[Any, Any], selection: Selection) -> list[int]:
        """Return the ids of the boxes that share a point with a region, sorted."""
        exclude, filter, solid = selection
        excluded = None if exclude is None else self._excluded(exclude)
        found: list[int] = self._find((QueryKind.REGION, corners, 0, 0.0), excluded, solid)
        allowed = self._queried.allowed(filter, solid)
        return found if allowed is None else [id for id in found if allowed(id)]

    def first(self, hit: type[_Hit], query: Query, selection: Selection) -> list[_Hit]:
        """Return the first allowed results, by time or distance, then id.

        A few are searched first, and then more, so that the filter is not called for all.
        """
        exclude, filter, solid = selection
        excluded = None if exclude is None else self._excluded(exclude)
        allowed = self._queried.allowed(filter, solid)
        if allowed is None:
            return [hit(*found) for found in self._find(query, excluded, solid)]
        kind, vectors, limit, bound = query
        kept: list[_Hit] = []
        n_seen, n_wanted = 0, max(_FIRST_HITS, 2 * limit) if limit else 0
        while True:
            hits = self._find((kind, vectors, n_wanted, bound), excluded, solid)
            for found in (hit(*one) for one in hits[n_seen:]):
                if allowed(found.id):
                    kept.append(found)
                    if len(kept) == limit:
                        return kept
            if n_wanted == 0 or len(hits) < n_wanted:
                return kept
            n_seen, n_wanted = n_wanted, 4 * n_wanted

    def _find(self, query: Query, excluded: Rows, solid: bool) -> Any:
        """Return the list of results of the kernel."""
        queried, found = self._queried, None
        search, boxes = queried.search, queried.boxes
        if type(search) is not WrappedSearch:
            found = search.search(query, excluded, boxes, solid)
        if found is None:
            kind, vectors, limit, bound = query
            names = ("point",) if len(vectors) == 1 else _NAMES[kind]
            rows = same_vectors(**dict(zip(names, vectors, strict=True)))
            self._refuse_wrong(kind, dict(zip(names, rows, strict=True)))
            checked = tuple(tuple(row) for row in rows.tolist())
            found = search.search((kind, checked, limit, bound), excluded, boxes, solid)
        return found

    # -- queries in bulk --

    def in_regions(self, corners: tuple[ArrayLike, ArrayLike], selection: Selection) -> RegionHits:
        """Return the ids of the boxes in each of many regions."""
        skipped = self._skipped(selection)
        search, boxes = self._queried.search, self._queried.boxes
        mins, maxs = self._rows(QueryKind.REGION, corners)
        offsets = np.empty(len(mins) + 1, np.int64)
        items = search.query_many((mins.data, maxs.data), skipped, boxes, offsets.data)
        return RegionHits(offsets, np.asarray(boxes[2])[np.asarray(items)])

    def first_each(
        self, query: Query, exclude_each: Each, selection: Selection
    ) -> tuple[Integers, Integers, Floats]:
        """Return the first results of each of many queries.

        Returns
        -------
        found : int64 (n, limit)
            Rows of boxes, -1 where there are no more.
        ids : int64
            By row.
        hits : float64 (n * limit, ...)
            The numbers of each result; inf, nan, nan ... where there are no more.
        """
        kind, vectors, limit, bound = query
        queried, solid = self._queried, selection[2]
        each, skipped = self._excluded_each(exclude_each), self._skipped(selection)
        search, boxes = queried.search, queried.boxes
        known = self._rows(kind, vectors)
        n = len(known[0])
        if each is None:
            each = np.full(n, -1, np.int64)
        elif len(each) != n:
            raise ValueError(
                f"exclude_each must have an id for each of the {n} rows; got {len(each)}"
            )
        n_numbers: dict[int, int] = {
            QueryKind.NEAR: 1 + queried.dim,
            QueryKind.RAY: 1 + 2 * queried.dim,
            QueryKind.CAST: 2 + 2 * queried.dim,
        }
        found = np.full((n, limit), -1, np.int64)
        hits = np.full((n * limit, n_numbers[kind]), np.nan)
        checked = kind, tuple(array.data for array in known), limit, bound
        search.search_many(checked, skipped, boxes, (each.data, found.data, hits.data), solid)
        for owner, mine in self._boxes_of_each(each):  # their queries are asked again
            rows = np.flatnonzero(each == owner)
            some, numbers = found[rows], np.full((len(rows) * limit, hits.shape[1]), np.nan)
            checked = kind, tuple(array[rows].data for array in known), limit, bound
            others = *(skipped or ()), *mine
            into = each[rows].data, some.data, numbers.data
            search.search_many(checked, others, boxes, into, solid)
            found[rows] = some
            hits.reshape(n, limit, -1)[rows] = numbers.reshape(len(rows), limit, -1)
        hits[:, 0][found.ravel() < 0] = np.inf
        return found, np.asarray(boxes[2]), hits

    # -- arguments --

    def _rows(self, kind: int, arrays: tuple[ArrayLike, ...]) -> list[Floats]:
        """Return checked arrays of equal length; single vectors are repeated."""
        none = np.zeros((0, self._queried.dim))
        given = zip(_NAMES_OF_MANY[kind], arrays, strict=True)
        known = same_axes(**{name: none if np.size(array) == 0 else array for name, array in given})
        rows = [np.array(np.atleast_2d(array), order="C") for array in rows_together(known)]
        self._refuse_wrong(kind, dict(zip(known, rows, strict=True)))
        return rows

    def _excluded(self, exclude: int | Iterable[int]) -> tuple[int, ...]:
        """Return the rows of one id or several, and of their boxes; others are ignored."""
        try:
            ids: Iterable[int] = (index(exclude),)  # type: ignore[arg-type]
        except TypeError:
            ids = exclude  # type: ignore[assignment]
        try:
            rows = [self._queried.row(index(id)) for id in ids]
        except TypeError:
            raise TypeError(f"exclude={shown(exclude)} must be an id, or several ids") from None
        known = tuple([row for row in rows if row >= 0])
        return (*known, *self._queried.attached_to(known))

    def _excluded_each(self, exclude_each: Each) -> Integers | None:
        """Return the row of each id; -1 for unknown ids."""
        if exclude_each is None:
            return None
        ids = np.asarray(exclude_each)
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise ValueError(
                f"exclude_each={shown(exclude_each)} must be ids, one for each row; -1 excludes none"
            )
        return np.array([self._queried.row(id) for id in ids.tolist()], np.int64)

    def _boxes_of_each(self, rows: Integers) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield those of some rows to which boxes are attached, each once, with the rows of these."""
        owners = {row for row in rows.tolist() if row >= 0}
        if owners and len(self._queried.attached_to([*owners])):
            for owner in owners:
                mine = self._queried.attached_to([owner])
                if len(mine):
                    yield owner, mine

    def _skipped(self, selection: Selection) -> Rows:
        """Return the rows that a query in bulk skips."""
        exclude, filter, solid = selection
        excluded = None if exclude is None else self._excluded(exclude)
        others = self._queried.skipped(filter, solid)
        return (*(excluded or ()), *others) if others else excluded

    def _refuse_wrong(self, kind: int, known: dict[str, Floats]) -> None:
        """Raise ValueError if vectors of finite numbers are not a valid query."""
        queried, named = self._queried, list(known.items())
        if named[0][1].shape[-1] != queried.dim:
            raise ValueError(
                f"{' and '.join(known)} must have {queried.dim} axes in this {queried.place}"
            )
        if kind in (QueryKind.NEAR, QueryKind.REGION) and len(named) == 2:
            refuse_reversed(*named[0], *named[1])
        elif kind == QueryKind.CAST:
            refuse_negative(*named[1])
        if isinstance(queried.search, WrappedSearch):
            queried.search.refuse_wrong(kind, known)


def checked_count(k: int) -> int:
    """Return the number of results, or raise."""
    try:
        number = index(k)
    except TypeError:
        raise TypeError(f"k={shown(k)} must be a whole number: how many are wanted") from None
    if number < 1:
        raise ValueError(f"k={shown(k)} must be at least 1: how many are wanted")
    return min(number, 2**62)  # as many as there are


def checked_distance(within: float, name: str = "within") -> float:
    """Return the largest distance, or raise."""
    if not (isinstance(within, (int, float)) and within >= 0.0):
        raise ValueError(f"{name}={shown(within)} must be a distance in world units, 0 or more")
    return float(within) if within < 2.0**1023 else INF  # an int may be beyond any float
