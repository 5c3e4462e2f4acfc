"""Questions about where the bodies of a space are, as of the end of the last step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide import _checks
from ecs_collide.events import Vector, VectorLike
from ecs_collide.queries.searcher import (
    Asker,
    BoxHit,
    BoxHits,
    Exclude,
    Neighbour,
    Neighbours,
    RegionHits,
    checked_count,
    checked_distance,
    first_allowed,
    rows_to_exclude,
    rows_to_exclude_each,
)
from ecs_collide.queries.wrapped import RingAsker
from ecs_collide.snapshot.snapshots import SnapshotStepper
from ecs_collide.tree import RayHits

Filter: TypeAlias = type | tuple[type, ...] | Callable[[int], object] | None
_Each: TypeAlias = Sequence[int] | NDArray[np.int64] | None

_second = itemgetter(1)  # of what the kernel tells of a ray: the entity
_entity = attrgetter("id")


class Hit(NamedTuple):
    """Where a ray meets a body.

    Attributes
    ----------
    entity : int
    time : float
        Fraction of the ray's way, from 0 to 1.
    point : tuple of float
        Where, in world units.
    normal : tuple of float
        Of the face that is met; zeros if the ray begins inside the body.
    """

    entity: int
    time: float
    point: Vector
    normal: Vector


class Questions(SnapshotStepper):
    """What is where: regions, points, rays, boxes that are cast, nearest bodies.

    In a world that wraps each body is found across the edges too, once: at the image that comes
    first.  Points of answers are in the world; a ray, or the way of a box that is cast, may lead
    64 times around it.

    All answers are as of the end of the last step, without the entities that have been deleted
    since, at once or deferred.  They are *closed*: what only touches is found.  Only `cast_box`
    follows the open rules of impacts, as bodies do.

    Every question takes `exclude`, an entity or several to leave out; such as
    are no bodies are none to leave out.  Single ones take `filter` as well: a component type, a
    tuple of types, of which an entity must have all, or a function that is
    called with an entity and says whether it counts.  It is called from the first hit on
    until enough are found, and may itself ask the space.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._make_asker()

    def _use(self, timeline: Any) -> None:
        super()._use(timeline)
        self._make_asker()

    def _make_asker(self) -> None:
        """Ask the trees of the timeline from now on."""
        candidates = self._timeline.candidates
        trees = candidates.still, candidates.moving
        self._any_asker = (
            Asker(self.dim, "space", *trees)
            if self._ring is None
            else RingAsker(self._ring, self.dim, "space", *trees)
        )

    @property
    def _asker(self) -> Asker:
        self._guard.refuse_others()
        return self._any_asker

    # -- regions and points --

    def query(
        self,
        min: VectorLike,
        max: VectorLike,
        *,
        exclude: Exclude = None,
        filter: Filter = None,
    ) -> list[int]:
        """Return the bodies whose boxes share a point with a region, sorted by id (closed).

        Parameters
        ----------
        min, max : sequence of float (dim,)
            The lower and the upper corner, in world units.
        exclude : int or several, optional
            Entities to leave out.
        filter : type, tuple of types or callable, optional
            Only entities with this component, with all of these, or for which
            the function returns something true.

        Raises
        ------
        ValueError
            The corners are no good.
        TypeError
            `exclude` or `filter` is none.
        """
        boxes = self._boxes
        found: list[int] = []
        if self._ring is not None:
            lower, upper = self._checked_corners(min, max)
            found = self._asker.query_many([lower], [upper], None, boxes).ids.tolist()
        for tree in self._trees if self._ring is None else ():
            some = tree.walker.query(min, max, *boxes)
            if some is None:  # no plain tuples: take a closer look
                lower, upper = self._checked_corners(min, max)
                return self.query(lower, upper, exclude=exclude, filter=filter)
            found += some
        found.sort()
        if exclude is not None:
            ids = self._roster.columns.ids
            barred = {int(ids[row]) for row in self._barred(exclude) or ()}
            found = [entity for entity in found if entity not in barred]
        allowed = self._allowed(filter, len(found))
        if allowed is not None:
            found = [entity for entity in found if allowed(entity)]
        return found

    def query_point(
        self, point: VectorLike, *, exclude: Exclude = None, filter: Filter = None
    ) -> list[int]:
        """Return the bodies whose boxes hold a point, sorted by id (closed); see `query`."""
        return self.query(point, point, exclude=exclude, filter=filter)

    def query_many(
        self, mins: ArrayLike, maxs: ArrayLike, *, exclude: Exclude = None
    ) -> RegionHits:
        """Return the bodies in each of many regions: `query` by row, but quicker.

        Parameters
        ----------
        mins, maxs : float64, shape (n, dim)
            A single corner holds for all rows of the other.
        exclude : int or several, optional
            Entities to leave out.

        Returns
        -------
        RegionHits
            Its ids are the entities.
        """
        return self._asker.query_many(mins, maxs, self._left_out(exclude), self._boxes)

    def _checked_corners(self, min: VectorLike, max: VectorLike) -> tuple[Vector, Vector]:
        corners = _checks.same_vectors(min=min, max=max)
        if corners.shape[1] != self.dim:
            raise ValueError(f"min and max must have {self.dim} axes in this space")
        if (corners[0] > corners[1]).any():
            raise ValueError(f"min={min!r} must not be beyond max={max!r}")
        lower, upper = corners.tolist()
        return tuple(lower), tuple(upper)

    # -- rays --

    def cast_ray(
        self,
        origin: VectorLike,
        direction: VectorLike,
        *,
        exclude: Exclude = None,
        filter: Filter = None,
    ) -> Hit | None:
        """Return where a ray from `origin` to `origin + direction` meets a body first (closed).

        Of several met at once the lowest entity id is returned; None if there
        is none.  For `exclude` and `filter` see `query`.
        """
        hits = self._ray(origin, direction, 1, exclude, filter)
        return hits[0] if hits else None

    def ray_hits(
        self,
        origin: VectorLike,
        direction: VectorLike,
        *,
        exclude: Exclude = None,
        filter: Filter = None,
    ) -> list[Hit]:
        """Return where a ray meets each body on its way, sorted by time, then entity.

        As `cast_ray`, which returns the first of them.
        """
        return self._ray(origin, direction, 0, exclude, filter)

    def _ray(
        self,
        origin: VectorLike,
        direction: VectorLike,
        wanted: int,
        exclude: Exclude,
        filter: Filter,
    ) -> list[Hit]:
        barred, boxes = self._barred(exclude), self._boxes

        def ask(most: int) -> list[Any]:
            return self._asker.ray(origin, direction, most, barred, boxes)

        allowed = self._allowed(filter)
        hits = ask(wanted) if allowed is None else first_allowed(ask, wanted, _second, allowed)
        return [Hit(entity, time, point, normal) for time, entity, point, normal in hits]

    def cast_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        exclude: Exclude = None,
        exclude_each: _Each = None,
    ) -> RayHits:
        """Return where each of many rays meets a body first: `cast_ray` by row, but quicker.

        Parameters
        ----------
        origins, directions : float64, shape (n, dim)
            A single vector holds for all rows of the other.
        exclude, exclude_each : optional
            As in `cast_boxes`.

        Returns
        -------
        RayHits
            Its ids are the entities.
        """
        starts, ways = self._asker.same_rows(origins=origins, directions=directions)
        hits = self._cast(starts, ways)
        barred = self._left_out(exclude)
        if barred or exclude_each is not None:
            each = rows_to_exclude_each(exclude_each, self._row_or_none)
            self._asker.cast_rays_again(hits, starts, ways, each, barred, self._boxes)
        return hits

    def _cast(self, origins: NDArray[np.float64], directions: NDArray[np.float64]) -> RayHits:
        asker = self._asker
        if isinstance(asker, RingAsker):
            return RayHits(*asker.rays(origins, directions, self._cast_as_they_stand))
        return self._cast_as_they_stand(origins, directions)

    def _cast_as_they_stand(
        self, origins: NDArray[np.float64], directions: NDArray[np.float64]
    ) -> RayHits:
        v, n = self._roster.views, len(origins)
        both = []
        for tree in self._trees:
            rows, hits = np.empty(n, np.int64), np.empty((n, 1 + 2 * self.dim))
            tree.rays(
                origins.data, directions.data, v.tight_min, v.tight_max, v.ids,
                rows.data, hits.data,
            )  # fmt: skip
            both.append(RayHits.of(rows, self._roster.columns.ids, hits))
        one, other = both
        later = (other.times > one.times) | ((other.times == one.times) & (other.ids > one.ids))
        return RayHits(
            np.where(later, one.ids, other.ids),
            np.where(later, one.times, other.times),
            np.where(later[:, None], one.points, other.points),
            np.where(later[:, None], one.normals, other.normals),
        )

    # -- boxes that move --

    def cast_box(
        self,
        centre: VectorLike,
        half: VectorLike,
        motion: VectorLike,
        *,
        exclude: Exclude = None,
        filter: Filter = None,
    ) -> BoxHit | None:
        """Return which body a box meets first on a straight way, or None.

        By the rules of the sweep, which are *open*, as if the box were a body
        and all others stood still: an impact is where the insides begin to overlap, before the
        way's end; to slide along a face or over a seam, to graze a corner and to move
        away are none.  Bodies that overlap the box from the start are hits at time 0.
        Of several met at once the lowest entity id is returned.

        Parameters
        ----------
        centre, half, motion : sequence of float (dim,)
            Centre and half sizes of the box, and how far it moves, in world units.
        exclude, filter : optional
            As in `query`.

        Raises
        ------
        ValueError
            A number is not finite or beyond 2**500, or a half size is negative.
        """
        barred, boxes = self._barred(exclude), self._boxes
        allowed = self._allowed(filter)
        if allowed is None:
            hits = self._asker.box(centre, half, motion, 1, barred, boxes)
            return hits[0] if hits else None

        def ask(most: int) -> list[BoxHit]:
            return self._asker.box(centre, half, motion, most, barred, boxes)

        hits = first_allowed(ask, 1, _entity, allowed)
        return hits[0] if hits else None

    def cast_boxes(
        self,
        centres: ArrayLike,
        halves: ArrayLike,
        motions: ArrayLike,
        *,
        exclude: Exclude = None,
        exclude_each: _Each = None,
    ) -> BoxHits:
        """Return which body each of many boxes meets first: `cast_box` by row, but quicker.

        Parameters
        ----------
        centres, halves, motions : float64, shape (n, dim)
            A single vector holds for all rows of the others.
        exclude : int or several, optional
            Entities that all rows leave out.
        exclude_each : integers, shape (n,), optional
            An entity that each row leaves out besides, such as the one whose
            box it casts; -1 for none.
        """
        each = rows_to_exclude_each(exclude_each, self._row_or_none)
        barred = self._left_out(exclude)
        return self._asker.cast_boxes(centres, halves, motions, each, barred, self._boxes)

    # -- neighbours --

    def nearest(
        self,
        point: VectorLike,
        k: int = 1,
        *,
        within: float = math.inf,
        exclude: Exclude = None,
        filter: Filter = None,
    ) -> list[Neighbour]:
        """Return the k bodies nearest to a point, by distance, then entity.

        The distance is that from the point to the body's box, 0 inside.  Fewer
        than k where there are no more.

        Parameters
        ----------
        point : sequence of float (dim,)
        k : int
            How many, at least 1.
        within : float
            Only bodies at most so far away, in world units (closed).
        exclude, filter : optional
            As in `query`.

        Raises
        ------
        ValueError
            The point, `k` or `within` is no good.
        """
        barred, boxes = self._barred(exclude), self._boxes
        k, within = checked_count(k), checked_distance(within)
        allowed = self._allowed(filter)
        if allowed is None:
            return self._asker.near(point, k, within, barred, boxes)

        def ask(most: int) -> list[Neighbour]:
            return self._asker.near(point, most, within, barred, boxes)

        return first_allowed(ask, k, _entity, allowed)

    def nearest_many(
        self,
        points: ArrayLike,
        k: int = 1,
        *,
        within: float = math.inf,
        exclude: Exclude = None,
        exclude_each: _Each = None,
    ) -> Neighbours:
        """Return the k bodies nearest to each of many points: `nearest` by row, but quicker.

        Parameters
        ----------
        points : float64, shape (n, dim)
        k, within, exclude
            As in `nearest`, for all rows.
        exclude_each : integers, shape (n,), optional
            An entity that each row leaves out besides; -1 for none.
        """
        each = rows_to_exclude_each(exclude_each, self._row_or_none)
        k, within, barred = checked_count(k), checked_distance(within), self._left_out(exclude)
        return self._asker.nearest_many(points, k, within, each, barred, self._boxes)

    # -- who counts --

    @property
    def _trees(self) -> tuple[Any, Any]:
        self._guard.refuse_others()
        return self._timeline.candidates.still, self._timeline.candidates.moving

    @property
    def _boxes(self) -> tuple[Any, Any, Any]:
        views = self._roster.views
        return views.tight_min, views.tight_max, views.ids

    def _row_or_none(self, entity: int) -> int:
        return self._roster.row_of.get(entity, -1)

    def _barred(self, exclude: Exclude) -> tuple[int, ...] | None:
        return rows_to_exclude(exclude, self._row_or_none)

    def _left_out(self, exclude: Exclude) -> tuple[int, ...] | None:
        """Return the rows that a query in bulk leaves out: excluded ones, and deleted bodies."""
        barred = self._barred(exclude)
        gone = () if self._world is None else self._presence.gone_rows(self._world)
        return (*(barred or ()), *gone) if gone else barred

    def _allowed(self, filter: Filter, n_hits: int = 1) -> Callable[[int], object] | None:
        """Return a function that says whether a hit counts, None if all do.

        Deleted entities do not.
        """
        if filter is None:
            world = self._world
            return None if world is None else self._presence.still_there(world, n_hits)
        kinds = (filter,) if isinstance(filter, type) else filter
        if isinstance(kinds, tuple) and kinds and all(isinstance(kind, type) for kind in kinds):
            world = self.world
            world.require_current()
            is_there = self._presence.still_there(world, n_hits)  # no code of the game runs here

            def has_all(entity: int) -> bool:
                return (is_there is None or is_there(entity)) and all(
                    world.component(entity, kind) is not None for kind in kinds
                )

            return has_all
        if callable(filter):
            if self._world is None:
                return filter
            exists = self._presence.is_there(self._world)
            return lambda entity: exists(entity) and filter(entity)
        raise TypeError(
            f"filter={filter!r} must be a component type, a tuple of component types of which "
            "an entity must have all, or a function that takes an entity"
        )
