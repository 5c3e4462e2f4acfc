"""Search a world that wraps around.

The bodies keep their places and the query is shifted.  It is made once for each shift by whole
widths at which it may meet something, and the best result of each body counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ecs_collide._checks import Floats, Integers
from ecs_collide._kernel import backend
from ecs_collide._kernel.constants import MAX_ROUNDS, QueryKind
from ecs_collide.motion.wrapping import PeriodicDomain

# A fraction of a width, larger than the rounding errors of a path.
_SHIFT_REACH = 2.0**-30

Rows: TypeAlias = tuple[int, ...] | None
Boxes: TypeAlias = tuple[Any, Any, Any]
"""The own boxes by row, min and max, and the ids: memoryviews for the kernel."""
Query: TypeAlias = tuple[int, tuple[Any, ...], int, float]
"""The kind, the vectors, the number of results (0: all), and their greatest time or distance."""
Shifts = list[tuple[Floats, Floats]]
"""Offsets of images, and the earliest time when each query may meet something; inf for never."""


def search_of(domain: PeriodicDomain, *trees: Any) -> Any:
    """Return the search in one tree or two, in a world that may wrap."""
    search = backend.kernels.search.Search(*trees)
    return WrappedSearch(domain, search, trees) if domain.axes else search


class WrappedSearch:
    """Searches a world that wraps, with the interface of the kernel's `Search`.

    Vectors must be checked.  Results are in the order of `Search`.  If two images of a body are met
    at once, the lower one on the first axis on which they differ counts.
    """

    def __init__(self, domain: PeriodicDomain, search: Any, trees: tuple[Any, ...]) -> None:
        self._domain = domain
        self._search = search
        self._trees = trees
        self._dim = len(domain.widths)

    def use_bodies(self, bodies: Any) -> Any:
        """Treat the slopes among the bodies as such, as the kernel's `Search` does."""
        return self._search.use_bodies(bodies)

    # -- which images --

    def _bounds(self) -> tuple[Floats, Floats] | None:
        """Return a box that contains all bodies at their positions; None without bodies."""
        low, high = np.full(self._dim, np.inf), np.full(self._dim, -np.inf)
        one, two = np.zeros(self._dim), np.zeros(self._dim)
        for tree in self._trees:
            if tree.root_into(one.data, two.data):
                low, high = np.minimum(low, one), np.maximum(high, two)
        return None if low[0] > high[0] else (low, high)

    def _shifts(self, low: Floats, high: Floats) -> Iterator[Floats]:
        """Yield the shifts at which a query between two corners may find bodies."""
        bounds = self._bounds()
        if bounds is None:
            return
        least, limit = [0] * self._dim, [0] * self._dim
        for k in self._domain.axes:
            width = self._domain.widths[k]
            least[k] = int(np.ceil((low[k] - bounds[1][k]) / width - _SHIFT_REACH))
            limit[k] = int(np.floor((high[k] - bounds[0][k]) / width + _SHIFT_REACH))
        yield from self._domain.around(least, limit)

    def _shifts_on_path(self, starts: Floats, halves: Floats, displacements: Floats) -> Shifts:
        """Return the shifts at which moving boxes may meet a body."""
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

    def _beside(self) -> Iterator[Floats]:
        """Yield all shifts by -1, 0 or 1 widths, one of which brings a body nearest."""
        one = [int(width > 0.0) for width in self._domain.widths]
        return self._domain.around([-n for n in one], one)

    def refuse_wrong(self, kind: int, vectors: dict[str, Floats]) -> None:
        """Raise ValueError for boxes wider than the world and paths that go around it too often."""
        named = list(vectors.items())
        for k in self._domain.axes if kind == QueryKind.CAST else ():
            name, sizes = named[1]
            width = float(self._domain.widths[k])
            if 2.0 * sizes[..., k].max(initial=0.0) > width:
                raise ValueError(
                    f"{name} must be at most {width / 2.0!r} on {'xyz'[k]}: the world is "
                    f"{width!r} wide, and a box may be no wider"
                )
        name, ways = named[-1]
        for k in self._domain.axes if kind in (QueryKind.RAY, QueryKind.CAST) else ():
            width = float(self._domain.widths[k])
            longest = float(np.abs(ways[..., k]).max(initial=0.0))
            if longest > MAX_ROUNDS * width:
                raise ValueError(
                    f"{name} leads {longest!r} on {'xyz'[k]} and may not lead more than "
                    f"{MAX_ROUNDS} times around the world, which is {width!r} wide"
                )

    # -- the interface of the kernel --

    def search(self, query: Query, excluded: Rows, boxes: Boxes, solid: bool = False) -> list[Any]:
        """Return the first results of one query."""
        kind, vectors, limit, bound = query
        first, *others = (np.array(vector) for vector in vectors)
        if kind == QueryKind.REGION:
            corners = first[None], others[0][None]
            items = self.query_many(corners, excluded, boxes, np.empty(2, np.int64))
            return [boxes[2][item] for item in items.tolist()]
        start = self._domain.into_world(first)
        if kind == QueryKind.NEAR:
            shifts = [(shift, np.zeros(1)) for shift in self._beside()]
            size = others[0] - first if others else 0.0
        else:
            half = others[0] if kind == QueryKind.CAST else 0.0 * start
            shifts = self._shifts_on_path(start[None], half[None], others[-1][None])

        def search(shift: Floats) -> list[Any]:
            moved = [start - shift, *others]
            if kind == QueryKind.NEAR:
                moved = [start - shift, start - shift + size]
            vectors = tuple(tuple(vector.tolist()) for vector in moved)
            query = kind, vectors, limit, bound
            found: list[Any] = self._search.search(query, excluded, boxes, solid)
            return found

        return [
            (id, key, tuple(self._domain.into_world(np.array(place)).tolist()), *more)
            for id, key, place, *more in _first(shifts, limit, search)
        ]

    def search_many(
        self, query: Query, excluded: Rows, boxes: Boxes, rows: tuple[Any, Any, Any], solid: bool
    ) -> None:
        """Write the first results of many queries."""
        kind, vectors, limit, bound = query
        first, *others = (np.asarray(vector) for vector in vectors)
        each, found, hits = (np.asarray(array) for array in rows)
        ids = np.asarray(boxes[2])
        starts = self._domain.into_world(first)

        def search(shift: Floats, which: Integers) -> tuple[Integers, Floats]:
            moved = starts[which] - shift, *(other[which] for other in others)
            items = np.full((len(which), limit), -1, np.int64)
            numbers = np.full((len(which) * limit, hits.shape[1]), np.nan)
            shifted = kind, tuple(vector.data for vector in moved), limit, bound
            into = each[which].data, items.data, numbers.data
            self._search.search_many(shifted, excluded, boxes, into, solid)
            numbers[items.ravel() < 0, 0] = np.inf
            return items, numbers

        if kind == QueryKind.NEAR:
            all_rows = np.arange(len(starts))
            self._keep_nearest([search(s, all_rows) for s in self._beside()], ids, found, hits)
        else:
            halves = others[0] if kind == QueryKind.CAST else np.zeros_like(starts)
            shifts = self._shifts_on_path(starts, halves, others[-1])
            _keep_first(shifts, search, ids, found[:, 0], hits)
        hits[:, 1 : 1 + self._dim] = self._domain.into_world(hits[:, 1 : 1 + self._dim])

    def _keep_nearest(
        self,
        parts: list[tuple[Integers, Floats]],
        ids: Integers,
        found: Integers,
        hits: Floats,
    ) -> None:
        """Write the nearest results of each query; only the nearest image of an item counts."""
        n, limit = found.shape
        items = np.concatenate([part for part, _ in parts], axis=1)
        numbers = np.concatenate(
            [part.reshape(n, limit, hits.shape[1]) for _, part in parts], axis=1
        )
        rows = np.arange(n)[:, None]
        order = np.lexsort(
            (numbers[:, :, 0], items), axis=1
        )  # stable: the first shift of equal ones
        items, numbers = items[rows, order], numbers[rows, order]
        again = items[:, 1:] == items[:, :-1]
        items[:, 1:][again], numbers[:, 1:][again] = -1, np.nan
        numbers[items < 0, 0] = np.inf
        order = np.lexsort((ids[items], numbers[:, :, 0]), axis=1)[:, :limit]
        found[:], hits[:] = items[rows, order], numbers[rows, order].reshape(hits.shape)

    def query_many(
        self, corners: tuple[Any, Any], excluded: Rows, boxes: Boxes, offsets: Any
    ) -> Integers:
        """Return the items in many regions."""
        lowers, uppers = (np.array(corner) for corner in corners)
        for k in self._domain.axes:
            width, low, high = self._domain.widths[k], lowers[:, k], uppers[:, k]
            whole = high - low >= width
            number = np.floor(low / width)
            low[:], high[:] = low - number * width, high - number * width
            low[whole], high[whole] = -2.0 * width, 3.0 * width  # boxes reach half a width beyond
        parts: list[NDArray[np.int64]] = []
        starts = np.empty(len(lowers) + 1, np.int64)
        for shift in self._beside():
            moved = (lowers - shift).data, (uppers - shift).data
            items = self._search.query_many(moved, excluded, boxes, starts.data)
            many = np.diff(starts).astype(np.intp)  # numpy refuses int64 here on wasm32
            parts.append(np.stack([np.repeat(np.arange(len(lowers)), many), items]))
        rows, items = np.concatenate(parts, axis=1)
        order = np.lexsort((np.asarray(boxes[2])[items], rows))
        rows, items = rows[order], items[order]
        # A box may be found at several images.
        is_first = np.ones(len(items), np.bool_)
        is_first[1:] = (rows[1:] != rows[:-1]) | (items[1:] != items[:-1])
        np.asarray(offsets)[:] = np.searchsorted(rows[is_first], np.arange(len(lowers) + 1))
        in_order: Integers = items[is_first]
        return in_order


def _first(shifts: Shifts, limit: int, search: Callable[[Floats], list[Any]]) -> list[Any]:
    """Return the first results of a query at all images, each an id, a key and more.

    Only the first result of each id is returned; of two at once, the one at the first shift.
    """
    best: dict[int, tuple[Any, ...]] = {}
    for rank in sorted(range(len(shifts)), key=lambda n: float(shifts[n][1][0])):
        shift, enter = shifts[rank]
        if enter[0] == np.inf:
            continue
        if limit and len(best) >= limit:
            keys = sorted(hit[1] for hit, _ in best.values())
            if keys[limit - 1] < enter[0]:
                break
        for hit in search(shift):
            known = best.get(hit[0])
            if known is None or (hit[1], rank) < (known[0][1], known[1]):
                best[hit[0]] = (hit, rank)
    hits = sorted((hit for hit, _ in best.values()), key=lambda hit: (hit[1], hit[0]))
    return hits[:limit] if limit else hits


def _keep_first(
    shifts: Shifts,
    search: Callable[[Floats, Integers], tuple[Integers, Floats]],
    ids: Integers,
    found: Integers,
    hits: Floats,
) -> None:
    """Write the first result of each query at any image; of two at once, the lower id's."""
    hits[:, 0] = np.inf
    for shift, enter in shifts:
        rows = np.flatnonzero(enter <= hits[:, 0])
        items, numbers = search(shift, rows)
        item, times, known = items[:, 0], numbers[:, 0], hits[rows, 0]
        better = (times < known) | ((times == known) & (ids[item] < ids[found[rows]]))
        better &= item >= 0
        found[rows[better]], hits[rows[better]] = item[better], numbers[better]
