"""Search a world that wraps around.

The bodies stay where they are and the query is shifted: it is made once for each number of widths
by which it may meet something, and the best result of each body counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._checks import Floats, refuse_negative, refuse_reversed
from ecs_collide._ids import Integers
from ecs_collide.constants import MAX_ROUNDS
from ecs_collide.events import VectorLike
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.queries.searcher import (
    Boxes,
    BoxHit,
    BoxHits,
    Neighbour,
    Neighbours,
    RayHit,
    RayHits,
    RegionHits,
    Rows,
    Searcher,
)

_SHIFT_REACH = (
    2.0**-30
)  # of a width: more than is lost by rounding where a part of a way is passed over


class WrappedSearcher(Searcher):
    """Searches the two trees of a world that wraps.

    Results come in the order of `Searcher`; where two images of a body are met at
    once, the one that lies lower on the first axis on which they differ counts.
    """

    def __init__(self, domain: PeriodicDomain, dim: int, place: str, *trees: Any) -> None:
        super().__init__(dim, place, *trees)
        self._domain = domain
        self._trees = trees

    # -- which images --

    def _bounds(self) -> tuple[Floats, Floats] | None:
        """Return a box that contains all bodies at their positions; None without bodies."""
        low, high = np.full(self.dim, np.inf), np.full(self.dim, -np.inf)
        one, two = np.zeros(self.dim), np.zeros(self.dim)
        for tree in self._trees:
            if tree.root_into(one.data, two.data):
                low, high = np.minimum(low, one), np.maximum(high, two)
        return None if low[0] > high[0] else (low, high)

    def _shifts(self, low: Floats, high: Floats) -> Iterator[Floats]:
        """Yield the offsets by which a query from one corner to another may find images."""
        bounds = self._bounds()
        if bounds is None:
            return
        least, limit = [0] * self.dim, [0] * self.dim
        for k in self._domain.axes:
            width = self._domain.widths[k]
            least[k] = int(np.ceil((low[k] - bounds[1][k]) / width - _SHIFT_REACH))
            limit[k] = int(np.floor((high[k] - bounds[0][k]) / width + _SHIFT_REACH))
        yield from self._domain.around(least, limit)

    def _shifts_on_path(
        self, starts: Floats, halves: Floats, displacements: Floats
    ) -> list[tuple[Floats, Floats]]:
        """Return the shifts by which boxes that move come by, and when at the earliest, by row.

        inf for rows that do not.
        """
        bounds = self._bounds()
        if bounds is None or len(starts) == 0:
            return []
        low = np.minimum(starts, starts + displacements) - halves
        high = np.maximum(starts, starts + displacements) + halves
        found = []
        reach = halves + _SHIFT_REACH * (self._domain.widths + abs(starts) + abs(displacements))
        for shift in self._shifts(low.min(axis=0), high.max(axis=0)):
            behind = (bounds[0] - reach) - (starts - shift)
            ahead = (bounds[1] + reach) - (starts - shift)
            with np.errstate(divide="ignore", invalid="ignore"):
                one, other = behind / displacements, ahead / displacements
            still = displacements == 0.0
            inside = (behind <= 0.0) & (ahead >= 0.0)
            first = np.where(still, np.where(inside, -np.inf, np.inf), np.minimum(one, other))
            last = np.where(still, np.inf, np.maximum(one, other))
            enter = np.maximum(first.max(axis=1), 0.0)
            enter[enter > np.minimum(last.min(axis=1), 1.0)] = np.inf
            if np.isfinite(enter).any():
                found.append((shift, enter))
        return found

    def _refuse_long(self, name: str, displacements: Floats) -> None:
        """Refuse a way that leads around the world too often."""
        for k in self._domain.axes:
            width = float(self._domain.widths[k])
            longest = float(np.abs(displacements[..., k]).max(initial=0.0))
            if longest > MAX_ROUNDS * width:
                raise ValueError(
                    f"{name} leads {longest!r} on {'xyz'[k]} and may not lead more than {MAX_ROUNDS} "
                    f"times around the world, which is {width!r} wide"
                )

    def _refuse_wide(self, name: str, halves: Floats) -> None:
        for k in self._domain.axes:
            width = float(self._domain.widths[k])
            if 2.0 * halves[..., k].max(initial=0.0) > width:
                raise ValueError(
                    f"{name} must be at most {width / 2.0!r} on {'xyz'[k]}: the world is "
                    f"{width!r} wide, and a box may be no wider"
                )

    def _place(self, places: Iterable[float]) -> tuple[float, ...]:
        return tuple(self._domain.into_world(np.array(tuple(places))).tolist())

    # -- single queries --

    def region(self, lower: VectorLike, upper: VectorLike, boxes: Boxes) -> list[int]:
        """Return the ids of the boxes that share a point with a region, sorted."""
        low, high = self._corners(lower, upper)
        found: list[int] = self.regions([low], [high], None, boxes).ids.tolist()
        return found

    def ray(
        self, origin: VectorLike, direction: VectorLike, limit: int, excluded: Rows, boxes: Boxes
    ) -> list[RayHit]:
        """Return the first hits of a ray."""
        start, displacement = (
            np.array(v) for v in self._vectors(origin=origin, direction=direction)
        )
        self._refuse_long("direction", displacement)
        start = self._domain.into_world(start)

        def ask(shift: Floats) -> list[Any]:
            moved = tuple((start - shift).tolist())
            hits = super(WrappedSearcher, self).ray(
                moved, tuple(displacement.tolist()), limit, excluded, boxes
            )
            return [(hit.time, *hit) for hit in hits]

        hits = self._first(
            self._shifts_on_path(start[None], 0.0 * displacement[None], displacement[None]),
            limit,
            ask,
        )
        return [RayHit(id, time, self._place(point), normal) for _, id, time, point, normal in hits]

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
        vectors = self._vectors(centre=centre, half=half, motion=motion)
        start, size, displacement = (np.array(vector) for vector in vectors)
        refuse_negative("half", size)
        self._refuse_wide("half", size)
        self._refuse_long("motion", displacement)
        start = self._domain.into_world(start)

        def ask(shift: Floats) -> list[Any]:
            moved = tuple((start - shift).tolist())
            hits = super(WrappedSearcher, self).box(
                moved, vectors[1], vectors[2], limit, excluded, boxes
            )
            return [(hit.time, *hit) for hit in hits]

        hits = self._first(
            self._shifts_on_path(start[None], size[None], displacement[None]), limit, ask
        )
        return [
            BoxHit(id, time, self._place(at), normal, depth)
            for _, id, time, at, normal, depth in hits
        ]

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
        low, high = self._box_or_point(lower, upper)
        start = self._domain.into_world(np.array(low))
        size = np.array(high) - np.array(low)

        def ask(shift: Floats) -> list[Any]:
            one = tuple((start - shift).tolist())
            other = tuple((start - shift + size).tolist())
            hits = super(WrappedSearcher, self).near(one, other, limit, within, excluded, boxes)
            return [(hit.distance, *hit) for hit in hits]

        displacements = [(shift, np.zeros(1)) for shift in self._beside()]
        return [
            Neighbour(id, distance, self._place(at))
            for _, id, distance, at in self._first(displacements, limit, ask)
        ]

    def _beside(self) -> Iterator[Floats]:
        """Yield no shift, and one width either way: one of them brings a body nearest."""
        one = [int(width > 0.0) for width in self._domain.widths]
        return self._domain.around([-n for n in one], one)

    def _first(self, shifts: list[tuple[Floats, Floats]], limit: int, ask: Any) -> list[Any]:
        """Return the first answers, each a key, an id and more; of each id the first."""
        best: dict[int, tuple[Any, ...]] = {}
        for rank in sorted(range(len(shifts)), key=lambda n: float(shifts[n][1][0])):
            shift, enter = shifts[rank]
            if enter[0] == np.inf:
                continue
            if limit and len(best) >= limit:
                keys = sorted(hit[0] for hit, _ in best.values())
                if keys[limit - 1] < enter[0]:
                    break
            for hit in ask(shift):
                known = best.get(hit[1])
                if known is None or (hit[0], rank) < (known[0][0], known[1]):
                    best[hit[1]] = (hit, rank)
        hits = sorted((hit for hit, _ in best.values()), key=lambda hit: (hit[0], hit[1]))
        return hits[:limit] if limit else hits

    # -- queries in bulk --

    def rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        excluded_each: Integers | None,
        excluded: Rows,
        boxes: Boxes,
    ) -> RayHits:
        """Return the first hit of each of many rays."""
        starts, displacements = self._rows(origins=origins, directions=directions)
        self._refuse_long("directions", displacements)
        starts, n = self._domain.into_world(starts), len(starts)
        best = RayHits(
            np.full(n, -1, np.int64),
            np.full(n, np.inf),
            np.full((n, self.dim), np.nan),
            np.full((n, self.dim), np.nan),
        )
        excluded_each = _checked_each(excluded_each, n)

        def ask(rows: Integers, moved: Floats) -> RayHits:
            own = None if excluded_each is None else excluded_each[rows]
            return super(WrappedSearcher, self).rays(
                moved, displacements[rows], own, excluded, boxes
            )

        self._keep_first(best, starts, np.zeros_like(starts), displacements, ask)
        return best._replace(points=self._domain.into_world(best.points))

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
        starts, sizes, displacements = self._rows(centres=centres, halves=halves, motions=motions)
        refuse_negative("halves", sizes)
        self._refuse_wide("halves", sizes)
        self._refuse_long("motions", displacements)
        starts = self._domain.into_world(starts)
        best = BoxHits(
            np.full(len(starts), -1, np.int64),
            np.full(len(starts), np.inf),
            np.full((len(starts), self.dim), np.nan),
            np.full((len(starts), self.dim), np.nan),
            np.full(len(starts), np.nan),
        )
        excluded_each = _checked_each(excluded_each, len(starts))

        def ask(rows: Integers, moved: Floats) -> BoxHits:
            own = None if excluded_each is None else excluded_each[rows]
            return super(WrappedSearcher, self).cast_boxes(
                moved, sizes[rows], displacements[rows], own, excluded, boxes
            )

        self._keep_first(best, starts, sizes, displacements, ask)
        return best._replace(centres=self._domain.into_world(best.centres))

    def _keep_first(
        self, best: tuple[Any, ...], starts: Floats, sizes: Floats, displacements: Floats, ask: Any
    ) -> None:
        """Write the first hit of each row, at any image of the world, over `best`.

        Both are arrays of ids, times and more; `ask` is called with rows and their starts.
        """
        ids, times, *_ = best
        for shift, enter in self._shifts_on_path(starts, sizes, displacements):
            rows = np.flatnonzero(enter <= times)
            hits = ask(rows, starts[rows] - shift)
            better = _is_better(hits.times, hits.ids, times[rows], ids[rows])
            for whole, part in zip(best, hits, strict=True):
                whole[rows[better]] = part[better]

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
        places = self._domain.into_world(places)
        parts = [
            super(WrappedSearcher, self).nearest_many(
                places - shift, k, within, excluded_each, excluded, boxes
            )
            for shift in self._beside()
        ]
        ids = np.concatenate([part.ids for part in parts], axis=1)
        distances = np.concatenate([part.distances for part in parts], axis=1)
        at = np.concatenate([part.points for part in parts], axis=1)
        rows = np.arange(len(places))[:, None]
        order = np.lexsort((distances, ids), axis=1)  # stable: of equal ones the first shift
        again = ids[rows, order][:, 1:] == ids[rows, order][:, :-1]
        keys = distances[rows, order]
        keys[:, 1:][again] = np.inf
        then = np.lexsort((ids[rows, order], keys), axis=1)[:, :k]
        order, keys = order[rows, then], keys[rows, then]
        missed = keys == np.inf
        found = np.where(missed, -1, ids[rows, order])
        at = np.where(missed[:, :, None], np.nan, at[rows, order])
        return Neighbours(found, keys, self._domain.into_world(at))

    def regions(self, mins: ArrayLike, maxs: ArrayLike, excluded: Rows, boxes: Boxes) -> RegionHits:
        """Return the boxes in each of many regions."""
        lowers, uppers = self._rows(mins=mins, maxs=maxs)
        refuse_reversed("mins", lowers, "maxs", uppers)
        for k in self._domain.axes:
            width, low, high = self._domain.widths[k], lowers[:, k], uppers[:, k]
            whole = high - low >= width
            number = np.floor(low / width)
            low[:], high[:] = low - number * width, high - number * width
            low[whole], high[whole] = -2.0 * width, 3.0 * width  # boxes reach half a width beyond
        rows: list[NDArray[np.int64]] = []
        ids: list[NDArray[np.int64]] = []
        for shift in self._beside():
            hits = super().regions(lowers - shift, uppers - shift, excluded, boxes)
            many = np.diff(hits.offsets).astype(np.intp)  # numpy refuses int64 here on wasm32
            rows.append(np.repeat(np.arange(len(lowers)), many))
            ids.append(hits.ids)
        hit = np.stack([np.concatenate(rows), np.concatenate(ids)], axis=1)
        row, id = np.unique(hit, axis=0).T
        counts = np.bincount(row.astype(np.intp), minlength=len(lowers))
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        return RegionHits(offsets, id.copy())


def _is_better(times: Floats, ids: Integers, than: Floats, of: Integers) -> NDArray[np.bool_]:
    """Return for each row whether a hit is before another; the lower id of two at once."""
    found: NDArray[np.bool_] = (times < than) | ((times == than) & (ids < of))
    return found & (ids >= 0)


def _checked_each(excluded_each: Integers | None, n: int) -> Integers | None:
    if excluded_each is not None and len(excluded_each) != n:
        raise ValueError(
            f"exclude_each must have an id for each of the {n} rows; got {len(excluded_each)}"
        )
    return excluded_each
