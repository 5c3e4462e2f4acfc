"""Search one tree or two as one: check the arguments, call the kernel, name the results.

The kernel takes vectors that are plain tuples at once.  Anything else is checked and converted
first, and then given to it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide import _backend
from ecs_collide._checks import (
    Floats,
    refuse_negative,
    refuse_reversed,
    rows_together,
    same_axes,
    same_vectors,
)
from ecs_collide._ids import Integers
from ecs_collide.events import Vector, VectorLike

Boxes: TypeAlias = tuple[Any, Any, Any]
"""The own boxes by row, min and max, and the ids: memoryviews for the kernel."""
Rows: TypeAlias = tuple[int, ...] | None
Exclude: TypeAlias = int | Iterable[int] | None

_FIRST_HITS = 8  # hits that are looked at first where a filter refuses some


class RayHit(NamedTuple):
    """Where a ray meets a box.

    Attributes
    ----------
    id : int
        The box; in a `Space` the entity.
    time : float
        The fraction of the ray's way, 0 at its origin and 1 at its end.
    point : tuple of float
        In world units, exactly in the face that is met.
    normal : tuple of float
        Unit axis vector out of that face; zeros where the ray begins inside the box, or on its
        surface without entering it.
    """

    id: int
    time: float
    point: Vector
    normal: Vector

    @property
    def entity(self) -> int:
        """The same as `id`."""
        return self.id


class RayHits(NamedTuple):
    """Where many rays meet boxes, a row for each.

    Attributes
    ----------
    ids : ndarray
        int64, shape (n,): the box, or the entity, that each meets first; -1 for none.
    times : ndarray
        float64, shape (n,): as in `RayHit`; inf for none.
    points, normals : ndarray
        float64, shape (n, dim): as in `RayHit`; nan for none.  A normal is 0
        where the ray begins inside.
    """

    ids: Integers
    times: Floats
    points: Floats
    normals: Floats

    @classmethod
    def of(cls, rows: Integers, ids: Integers, hits: Floats) -> RayHits:
        """Return the hits that a kernel has written, for rows that have these ids."""
        missed = rows < 0
        dim = hits.shape[1] // 2
        hits[missed] = np.nan
        times, points, normals = np.hsplit(hits, [1, 1 + dim])
        times[missed] = np.inf
        return cls(np.where(missed, -1, ids[rows]), times.ravel(), points, normals)


class BoxHit(NamedTuple):
    """Where a box that is cast meets a box.

    Attributes
    ----------
    id : int
        The box that is met; in a `Space` the entity.
    time : float
        The fraction of the way, in [0, 1).  0.0 also where they overlap from
        the start.
    centre : tuple of float
        Where the centre of the box that was cast is then, in world units.
        After an impact it stands flush against the face that it meets: put a
        body there, and it touches without overlapping.
    normal : tuple of float
        Unit axis vector out of the face that is met, towards the box that was cast.
        For an overlap: the shortest way out.
    depth : float
        How far they overlap at the start, on the side of `normal`, in world
        units; 0.0 for an impact.
    """

    id: int
    time: float
    centre: Vector
    normal: Vector
    depth: float

    @property
    def entity(self) -> int:
        """The same as `id`."""
        return self.id


class BoxHits(NamedTuple):
    """Where many boxes that are cast meet boxes, a row for each.

    Attributes
    ----------
    ids : ndarray
        int64, shape (n,): the box, or the entity, that each meets first; -1 for none.
    times, depths : ndarray
        float64, shape (n,): as in `BoxHit`; inf and nan for none.
    centres, normals : ndarray
        float64, shape (n, dim): as in `BoxHit`; nan for none.
    """

    ids: Integers
    times: Floats
    centres: Floats
    normals: Floats
    depths: Floats


class Neighbour(NamedTuple):
    """A box near a point.

    Attributes
    ----------
    id : int
        The box; in a `Space` the entity.
    distance : float
        From the point to the box, in world units; 0.0 inside and on its surface.
    point : tuple of float
        The point of the box that is closest.
    """

    id: int
    distance: float
    point: Vector

    @property
    def entity(self) -> int:
        """The same as `id`."""
        return self.id


class Neighbours(NamedTuple):
    """The boxes near many points, a row for each, the nearest first.

    Attributes
    ----------
    ids : ndarray
        int64, shape (n, k): boxes or entities; -1 where there are no more.
    distances : ndarray
        float64, shape (n, k): as in `Neighbour`; inf where there are no more.
    points : ndarray
        float64, shape (n, k, dim): as in `Neighbour`; nan where there are no more.
    """

    ids: Integers
    distances: Floats
    points: Floats


class RegionHits(NamedTuple):
    """The boxes in many regions: those of region i are ``ids[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    offsets : ndarray
        int64, shape (n + 1,): where the ids of each region begin and end.
    ids : ndarray
        int64: boxes or entities, those of each region sorted.
    """

    offsets: Integers
    ids: Integers


class Branches(NamedTuple):
    """The bounds of the inner nodes of trees, a row for each.

    Attributes
    ----------
    mins, maxs : ndarray
        float64, shape (n, dim): the corners, in world units.
    depths : ndarray
        int64, shape (n,): levels below the root of its tree; 0 for a root.
    moving : ndarray
        bool, shape (n,): in a `Space`, True in the tree of moving bodies and False in the
        tree of the others; in an `AABBTree`, False.
    """

    mins: Floats
    maxs: Floats
    depths: Integers
    moving: NDArray[np.bool_]


class Searcher:
    """Searches one tree, or two as one.

    Parameters
    ----------
    dim : int
    place : str
        What an error calls the whole: "tree" or "space".
    trees : kernel trees
        One or two.
    """

    def __init__(self, dim: int, place: str, *trees: Any) -> None:
        self.dim = dim
        self.place = place
        self._search = _backend.kernels.search.Search(*trees)

    # Single queries: at most `limit` results, 0 for all

    def region(self, lower: VectorLike, upper: VectorLike, boxes: Boxes) -> list[int]:
        """Return the ids of the boxes that share a point with a region, sorted."""
        found: list[int] | None = self._search.query(lower, upper, *boxes)
        if found is None:
            found = self._search.query(*self._corners(lower, upper), *boxes)
        assert found is not None
        return found

    def _corners(self, lower: VectorLike, upper: VectorLike) -> tuple[Vector, Vector]:
        low, high = self._vectors(min=lower, max=upper)
        refuse_reversed("min", np.array(low), "max", np.array(high))
        return low, high

    def ray(
        self, origin: VectorLike, direction: VectorLike, limit: int, excluded: Rows, boxes: Boxes
    ) -> list[RayHit]:
        """Return the first hits of a ray."""
        hits = self._search.cast_ray(origin, direction, limit, excluded, *boxes)
        if hits is None:
            start, displacement = self._vectors(origin=origin, direction=direction)
            hits = self._search.cast_ray(start, displacement, limit, excluded, *boxes)
        return [RayHit(id, time, point, normal) for time, id, point, normal in hits]

    def box(
        self,
        centre: VectorLike,
        half: VectorLike,
        motion: VectorLike,
        limit: int,
        excluded: Rows,
        boxes: Boxes,
    ) -> list[BoxHit]:
        """Return the first hits of a box that moves."""
        hits = self._search.cast_box(centre, half, motion, limit, excluded, *boxes)
        if hits is None:
            vectors = self._vectors(centre=centre, half=half, motion=motion)
            refuse_negative("half", np.array(vectors[1]))
            hits = self._search.cast_box(*vectors, limit, excluded, *boxes)
        return [BoxHit(id, time, at, normal, depth) for time, id, at, normal, depth in hits]

    def near(
        self,
        lower: VectorLike,
        upper: VectorLike,
        limit: int,
        within: float,
        excluded: Rows,
        boxes: Boxes,
    ) -> list[Neighbour]:
        """Return the boxes nearest to a box, which may be a point."""
        hits = self._search.nearest(lower, upper, limit, within, excluded, *boxes)
        if hits is None:
            low, high = self._box_or_point(lower, upper)
            hits = self._search.nearest(low, high, limit, within, excluded, *boxes)
        return [Neighbour(id, distance, at) for distance, id, at in hits]

    def _box_or_point(self, lower: VectorLike, upper: VectorLike) -> tuple[Vector, Vector]:
        """Return the corners of a box as plain tuples; the same vector twice is a point."""
        if lower is not upper:
            return self._corners(lower, upper)
        (point,) = self._vectors(point=lower)
        return point, point

    # Queries in bulk

    def rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        excluded_each: Integers | None,
        excluded: Rows,
        boxes: Boxes,
    ) -> RayHits:
        """Return the first hit of each of many rays."""
        rows = self._rows(origins=origins, directions=directions)
        n = len(rows[0])
        found, hits = np.empty(n, np.int64), np.full((n, 1 + 2 * self.dim), np.nan)
        self._search.cast_rays(
            *(array.data for array in rows),
            _each(excluded_each, n).data,
            excluded,
            *boxes,
            found.data,
            hits.data,
        )
        return RayHits.of(found, np.asarray(boxes[2]), hits)

    def cast_boxes(
        self,
        centres: ArrayLike,
        halves: ArrayLike,
        motions: ArrayLike,
        excluded_each: Integers | None,
        excluded: Rows,
        boxes: Boxes,
    ) -> BoxHits:
        """Return the first hit of each of many boxes that move."""
        rows = self._rows(centres=centres, halves=halves, motions=motions)
        refuse_negative("halves", rows[1])
        n = len(rows[0])
        found, hits = np.empty(n, np.int64), np.full((n, 2 + 2 * self.dim), np.nan)
        self._search.cast_boxes(
            *(array.data for array in rows),
            _each(excluded_each, n).data,
            excluded,
            *boxes,
            found.data,
            hits.data,
        )
        missed = found < 0
        ids = np.where(missed, -1, np.asarray(boxes[2])[found])
        times, centres_then, normals, depths = np.hsplit(hits, [1, 1 + self.dim, 1 + 2 * self.dim])
        times[missed] = np.inf
        return BoxHits(ids, times.ravel(), centres_then, normals, depths.ravel())

    def nearest_many(
        self,
        points: ArrayLike,
        k: int,
        within: float,
        excluded_each: Integers | None,
        excluded: Rows,
        boxes: Boxes,
    ) -> Neighbours:
        """Return the nearest boxes to each of many points."""
        (places,) = self._rows(points=points)
        n = len(places)
        found, hits = np.empty((n, k), np.int64), np.full((n * k, 1 + self.dim), np.nan)
        self._search.nearest_many(
            places.data,
            k,
            within,
            _each(excluded_each, n).data,
            excluded,
            *boxes,
            found.data,
            hits.data,
        )
        missed = found < 0
        ids = np.where(missed, -1, np.asarray(boxes[2])[found])
        distances, closest = np.hsplit(hits, [1])
        distances = distances.reshape(n, k)
        distances[missed] = np.inf
        return Neighbours(ids, distances, closest.reshape(n, k, self.dim))

    def regions(self, mins: ArrayLike, maxs: ArrayLike, excluded: Rows, boxes: Boxes) -> RegionHits:
        """Return the boxes in each of many regions."""
        lowers, uppers = self._rows(mins=mins, maxs=maxs)
        refuse_reversed("mins", lowers, "maxs", uppers)
        offsets = np.empty(len(lowers) + 1, np.int64)
        items = self._search.query_many(lowers.data, uppers.data, excluded, *boxes, offsets.data)
        return RegionHits(offsets, np.asarray(boxes[2])[np.asarray(items)])

    # What goes in

    def _vectors(self, **vectors: VectorLike) -> list[Vector]:
        """Return single vectors as plain tuples, or raise ValueError."""
        rows = same_vectors(**vectors)
        self._require_dim(rows.shape[1], vectors)
        return [tuple(row) for row in rows.tolist()]

    def _rows(self, **arrays: ArrayLike) -> list[Floats]:
        """Return arrays of as many rows each, as `same_rows`, out of empty lists too."""
        return self.same_rows(
            **{
                name: np.zeros((0, self.dim)) if np.size(array) == 0 else array
                for name, array in arrays.items()
            }
        )

    def same_rows(self, **arrays: ArrayLike) -> list[Floats]:
        """Return arrays of as many rows each, single vectors repeated."""
        known = same_axes(**arrays)
        self._require_dim(known[next(iter(known))].shape[-1], arrays)
        return [np.array(np.atleast_2d(rows), order="C") for rows in rows_together(known)]

    def _require_dim(self, dim: int, named: Iterable[str]) -> None:
        if dim != self.dim:
            raise ValueError(
                f"{' and '.join(named)} must have {self.dim} axes in this {self.place}"
            )


_Hit = TypeVar("_Hit", RayHit, BoxHit, Neighbour)


def checked_count(k: int) -> int:
    """Return the number of results, or raise ValueError."""
    try:
        number = index(k)
    except TypeError:
        raise TypeError(f"k={k!r} must be a whole number: how many are wanted") from None
    if number < 1:
        raise ValueError(f"k={k!r} must be at least 1: how many are wanted")
    return number


def checked_distance(within: float) -> float:
    """Return the largest distance, or raise ValueError."""
    if not (isinstance(within, (int, float)) and within >= 0.0):
        raise ValueError(f"within={within!r} must be a distance in world units, 0 or more")
    return float(within)


def rows_to_exclude(exclude: Exclude, row_of: Callable[[int], int]) -> Rows:
    """Return the rows of one id or several; such as have none are nothing to exclude."""
    if exclude is None:
        return None
    try:
        ids: Iterable[int] = (index(exclude),)  # type: ignore[arg-type]
    except TypeError:
        ids = exclude  # type: ignore[assignment]
    try:
        rows = [row_of(index(id)) for id in ids]
    except TypeError:
        raise TypeError(f"exclude={exclude!r} must be an id, or several ids") from None
    return tuple([row for row in rows if row >= 0])


def rows_to_exclude_each(
    exclude_each: Sequence[int] | Integers | None, row_of: Callable[[int], int]
) -> Integers | None:
    """Return the row of each id; -1 for unknown ids."""
    if exclude_each is None:
        return None
    ids = np.asarray(exclude_each)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise ValueError(
            f"exclude_each={exclude_each!r} must be ids, one for each row; -1 excludes none"
        )
    return np.array([row_of(id) for id in ids.tolist()], np.int64)


def first_allowed(
    search: Callable[[int], list[_Hit]], wanted: int, allowed: Callable[[int], object]
) -> list[_Hit]:
    """Return the first `wanted` hits whose ids are allowed; 0: all.

    Searches for a few hits and then for more, so that a filter is not called for all.
    """
    kept: list[_Hit] = []
    n_seen, limit = 0, 0 if wanted == 0 else max(_FIRST_HITS, 2 * wanted)
    while True:
        hits = search(limit)
        for hit in hits[n_seen:]:
            if allowed(hit.id):
                kept.append(hit)
                if len(kept) == wanted:
                    return kept
        if limit == 0 or len(hits) < limit:
            return kept
        n_seen, limit = limit, 4 * limit


def _each(excluded_each: Integers | None, n: int) -> Integers:
    """Return the row that each question leaves out, -1 for none."""
    if excluded_each is None:
        return np.full(n, -1, np.int64)
    if len(excluded_each) != n:
        raise ValueError(
            f"exclude_each must have an id for each of the {n} rows; got {len(excluded_each)}"
        )
    return excluded_each
