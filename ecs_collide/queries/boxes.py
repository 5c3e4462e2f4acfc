"""The queries of `Space` and `AABBTree`, with their signatures and docstrings.

`Queries` checks the arguments, calls the kernel and names the results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Generic, TypeVar

from numpy.typing import ArrayLike

from ecs_collide._checks import same_vectors, vectors
from ecs_collide._kernel.constants import LARGEST, QueryKind
from ecs_collide.components.base import shown
from ecs_collide.events import VectorLike
from ecs_collide.queries.circles import Shape, meet, touch
from ecs_collide.queries.queries import Each, Exclude, Queries, checked_count, checked_distance
from ecs_collide.queries.results import (
    BoxHit,
    BoxHits,
    Neighbour,
    Neighbours,
    RayHit,
    RayHits,
    RegionHits,
    to_box_hits,
    to_neighbours,
    to_ray_hits,
)

_Filter = TypeVar("_Filter", contravariant=True)


class BoxQueries(Generic[_Filter]):
    """Queries for boxes by id: in regions, along rays, on paths of moving boxes, near points.

    In a `Space` the boxes belong to its bodies, and the ids are entities.  A space answers as
    of the end of the last step, or as of a later `Space.update` or `Space.move`, and never returns
    an entity that has been deleted since.  If its world wraps, a body is found once, at the image
    that comes first.

    Regions, points, rays and distances are *closed*.  Boxes that only touch are found.  Only a box
    that is cast follows the *open* rules of impacts.

    The type parameter is the type of `filter`.  A subclass sets `_queries`, which all queries use.
    """

    _queries: Queries

    def query(
        self,
        min: VectorLike,
        max: VectorLike,
        *,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> list[int]:
        """Return the ids of the boxes that share a point with a region, sorted (closed).

        O(log n + results) for n boxes that overlap few others.

        Parameters
        ----------
        min, max : sequence of float (dim,)
            The lower and the upper corner, in world units.
        exclude : int or several, optional
            Ids that are not returned.  In a `Space`, the boxes that are `Attached` to them go too.
        filter : type, tuple of types, Filter or callable, optional
            Only ids for which this function returns a true value.  A `Space` also accepts a component
            type that the entity must have, a tuple of types of which it must have one, and a
            `Filter`, which must allow its body.
        solid : bool
            Exclude sensors.  Rays and casts then meet a `OneWay` as a body does in a step: on its
            solid side, from outside.  Regions and distances have no direction and find all of it.
            An `AABBTree` has neither.

        Raises
        ------
        ValueError
            A corner is not a vector of finite numbers, or a minimum is above its maximum.
        TypeError
            `exclude` or `filter` has the wrong type.
        """
        return self._queries.in_region((min, max), (exclude, filter, solid))

    def is_free(
        self,
        min: VectorLike,
        max: VectorLike,
        *,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = True,
    ) -> bool:
        """Return whether no box overlaps a region, such as a building site (open).

        Boxes that only touch the region leave it free, so buildings may stand side by side.  The
        parameters are those of `query`, but sensors do not count.

        Raises
        ------
        ValueError
            A corner is not a vector of finite numbers, or a minimum is not below its maximum.
        TypeError
            `exclude` or `filter` has the wrong type.
        """
        low, high = _inside_of(min, max)
        middle = [(a + b) / 2.0 for a, b in zip(low, high, strict=True)]
        found = self._queries.in_region((low, high), (exclude, filter, solid))
        return not any(
            self._shape_near(each, middle).has_inside(tuple(min), tuple(max)) for each in found
        )

    def query_point(
        self,
        point: VectorLike,
        *,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> list[int]:
        """Return the ids of the boxes that contain a point, sorted (closed); see `query`."""
        return self._queries.in_region((point, point), (exclude, filter, solid))

    def query_circle(
        self,
        centre: VectorLike,
        radius: float,
        *,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> list[int]:
        """Return the ids of the boxes that share a point with a circle, sorted (closed).

        In 3D it is a ball.  `nearest` with `within` gives the distances too.

        Parameters
        ----------
        centre : sequence of float (dim,)
        radius : float
            In world units, 0 or more.
        exclude, filter, solid : optional
            As in `query`.

        Examples
        --------
        >>> import ecs_collide as ec
        >>> tree = ec.AABBTree()
        >>> tree.insert(7, (3, 4), (9, 9))
        >>> tree.query_circle((0, 0), 5), tree.query_circle((0, 0), 4.9)
        ([7], [])
        """
        query = QueryKind.NEAR, (centre,), 0, checked_distance(radius, "radius")
        found = self._queries.first(Neighbour, query, (exclude, filter, solid))
        return sorted(neighbour.id for neighbour in found)

    def query_many(
        self,
        mins: ArrayLike,
        maxs: ArrayLike,
        *,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> RegionHits:
        """Return the ids of the boxes in each of many regions: as `query` per row, but faster.

        Parameters
        ----------
        mins, maxs : float64, shape (n, dim)
            A single corner is used for all rows of the other.
        exclude, filter, solid : optional
            As in `query`, for all rows.  A filter that is a function is called for all ids.
        """
        return self._queries.in_regions((mins, maxs), (exclude, filter, solid))

    def cast_ray(
        self,
        origin: VectorLike,
        direction: VectorLike,
        *,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> RayHit | None:
        """Return the first hit of the ray from `origin` to `origin + direction`, or None (closed).

        Of several boxes hit at once, the one with the lowest id.  For `exclude`, `filter` and
        `solid` see `query`.  O(log n) for boxes that overlap few others.
        """
        query = QueryKind.RAY, (origin, direction), 1, 1.0
        hits = self._queries.first(RayHit, query, (exclude, filter, solid))
        return hits[0] if hits else None

    def ray_hits(
        self,
        origin: VectorLike,
        direction: VectorLike,
        *,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> list[RayHit]:
        """Return all hits of a ray, sorted by time, then id; as `cast_ray`."""
        query = QueryKind.RAY, (origin, direction), 0, 1.0
        return self._queries.first(RayHit, query, (exclude, filter, solid))

    def cast_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        exclude: Exclude = None,
        exclude_each: Each = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> RayHits:
        """Return the first hit of each of many rays: as `cast_ray` for each row, but faster.

        Parameters
        ----------
        origins, directions : float64, shape (n, dim)
            A single vector is used for all rows of the other.
        exclude, exclude_each, filter, solid : optional
            As in `cast_boxes`.
        """
        query = QueryKind.RAY, (origins, directions), 1, 1.0
        found = self._queries.first_each(query, exclude_each, (exclude, filter, solid))
        return to_ray_hits(*found)

    def cast_box(
        self,
        centre: VectorLike,
        half: VectorLike,
        motion: VectorLike,
        *,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> BoxHit | None:
        """Return the first box that a box moving on a straight path meets, or None.

        The rules of impacts apply, which are *open*, as if the other boxes were at rest.  A hit is
        where the interiors begin to overlap, before the end of the path.  Sliding along a face or
        over a seam, grazing a corner and moving away are no hits.  Boxes that overlap the moving
        one from the start are hits at time 0.  Of several hits at once, the one with the lowest id
        is returned.  O(log n) for boxes that overlap few others.

        Parameters
        ----------
        centre, half, motion : sequence of float (dim,)
            Centre and half sizes of the box, and its displacement, in world units.
        exclude, filter, solid : optional
            As in `query`.

        Raises
        ------
        ValueError
            A number is not finite or beyond 2**500, or a half size is negative.

        Examples
        --------
        >>> import ecs_collide as ec
        >>> tree = ec.AABBTree()
        >>> tree.insert(7, (10, -5), (12, 5))
        >>> hit = tree.cast_box((0, 0), (1, 1), (18, 0))
        >>> hit.id, hit.time, hit.centre, hit.normal
        (7, 0.5, (9.0, 0.0), (-1.0, 0.0))
        """
        query = QueryKind.CAST, (centre, half, motion), 1, 1.0
        hits = self._queries.first(BoxHit, query, (exclude, filter, solid))
        return hits[0] if hits else None

    def box_hits(
        self,
        centre: VectorLike,
        half: VectorLike,
        motion: VectorLike,
        *,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> list[BoxHit]:
        """Return all boxes that a moving box meets, sorted by time, then id; as `cast_box`."""
        query = QueryKind.CAST, (centre, half, motion), 0, 1.0
        return self._queries.first(BoxHit, query, (exclude, filter, solid))

    def cast_circle(
        self,
        centre: VectorLike,
        radius: float,
        motion: VectorLike,
        *,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> RayHit | None:
        """Return the first box that a moving circle meets, or None: a thick ray.  In 3D it is a ball.

        It is round, unlike the box of `cast_box`, and slips past corners.  The rules are *open*:
        grazing a face or a corner is no hit.  A circle that overlaps a box from the start hits it at
        time 0.  Of several hits at once, the one with the lowest id is returned.  If the world
        wraps, a box counts at the image that the square around the circle meets first.

        Parameters
        ----------
        centre, motion : sequence of float (dim,)
            The centre of the circle, and its displacement, in world units.
        radius : float
            In world units, above 0.
        exclude, filter, solid : optional
            As in `query`.  With `solid`, a `OneWay` counts if the square around the circle meets it.

        Returns
        -------
        RayHit or None
            `time` is the fraction of the motion, and `point` where they touch.  `normal` points from
            there to the centre of the circle; zeros if that is inside the box.

        Examples
        --------
        >>> import ecs_collide as ec
        >>> tree = ec.AABBTree()
        >>> tree.insert(7, (10, -1), (12, 5))
        >>> hit = tree.cast_circle((0, 0), 2, (16, 0))
        >>> hit.id, hit.time, hit.point, hit.normal
        (7, 0.5, (10.0, 0.0), (-1.0, 0.0))
        """
        if not (isinstance(radius, (int, float)) and 0.0 < radius <= LARGEST):
            raise ValueError(f"radius={shown(radius)} must be a number above 0, at most 2**500")
        start, way = same_vectors(centre=centre, motion=motion).tolist()
        half = (float(radius),) * len(start)
        best: RayHit | None = None
        for hit in self.box_hits(start, half, way, exclude=exclude, filter=filter, solid=solid):
            if best is not None and hit.time > best.time:
                break
            shape = self._shape_near(
                hit.id, [a + hit.time * b for a, b in zip(start, way, strict=True)]
            )
            time = meet(shape, tuple(start), float(radius), tuple(way))
            if time < (math.inf if best is None else best.time) or (
                best is not None and time == best.time and hit.id < best.id
            ):
                there = tuple(a + time * b for a, b in zip(start, way, strict=True))
                best = RayHit(hit.id, time, *touch(shape, there))
        return best

    def _shape_near(self, id: int, place: Sequence[float]) -> Shape:
        """Return the shape of a box, at its image nearest to a place if the world wraps."""
        raise NotImplementedError

    def cast_boxes(
        self,
        centres: ArrayLike,
        halves: ArrayLike,
        motions: ArrayLike,
        *,
        exclude: Exclude = None,
        exclude_each: Each = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> BoxHits:
        """Return the first hit of each of many moving boxes: as `cast_box` per row, but faster.

        Parameters
        ----------
        centres, halves, motions : float64, shape (n, dim)
            A single vector is used for all rows of the others.
        exclude : int or several, optional
            Ids that no row returns.
        exclude_each : integers, shape (n,), optional
            One more id that each row does not return, as `exclude` for all; -1 for none.
        filter, solid : optional
            As in `query_many`.
        """
        query = QueryKind.CAST, (centres, halves, motions), 1, 1.0
        found = self._queries.first_each(query, exclude_each, (exclude, filter, solid))
        return to_box_hits(*found)

    def nearest(
        self,
        point: VectorLike,
        k: int = 1,
        *,
        within: float = math.inf,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> list[Neighbour]:
        """Return the k boxes nearest to a point, or all if there are fewer, by distance.

        O(log n + k) on average, for boxes that overlap few others.

        Parameters
        ----------
        point : sequence of float (dim,)
            Distances are measured from here, 0 inside a box.  Equal ones are in the order of ids.
        k : int
            Number of boxes, at least 1.
        within : float
            The largest distance, in world units (closed).
        exclude, filter, solid : optional
            As in `query`.

        Raises
        ------
        ValueError
            The point, `k` or `within` is not valid.
        """
        query = QueryKind.NEAR, (point,), checked_count(k), checked_distance(within)
        return self._queries.first(Neighbour, query, (exclude, filter, solid))

    def nearest_to_box(
        self,
        min: VectorLike,
        max: VectorLike,
        k: int = 1,
        *,
        within: float = math.inf,
        exclude: Exclude = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> list[Neighbour]:
        """Return the k boxes nearest to a box, by distance, then id; otherwise as `nearest`.

        Distances are from box to box, 0 if they share a point.  The `point` of a result is the
        point of the found box that is closest to the given one.

        Parameters
        ----------
        min, max : sequence of float (dim,)
            The lower and the upper corner, in world units.
        """
        query = QueryKind.NEAR, (min, max), checked_count(k), checked_distance(within)
        return self._queries.first(Neighbour, query, (exclude, filter, solid))

    def nearest_many(
        self,
        points: ArrayLike,
        k: int = 1,
        *,
        within: float = math.inf,
        exclude: Exclude = None,
        exclude_each: Each = None,
        filter: _Filter | None = None,
        solid: bool = False,
    ) -> Neighbours:
        """Return the k boxes nearest to each of many points: as `nearest` per row, but faster.

        Parameters
        ----------
        points : float64, shape (n, dim)
        exclude, exclude_each, filter, solid : optional
            As in `cast_boxes`.
        """
        query = QueryKind.NEAR, (points,), checked_count(k), checked_distance(within)
        found = self._queries.first_each(query, exclude_each, (exclude, filter, solid))
        return to_neighbours(*found)


def _inside_of(min: VectorLike, max: VectorLike) -> tuple[list[float], list[float]]:
    """Return the corners of the largest region of floats inside another one, without its faces."""
    for name, corner in (("min", min), ("max", max)):
        vectors(name, corner)
    if not all(low < high for low, high in zip(min, max, strict=True)):
        raise ValueError(f"min={min!r} must be below max={max!r} on each axis")
    return (
        [math.nextafter(low, math.inf) for low in min],
        [math.nextafter(high, -math.inf) for high in max],
    )
