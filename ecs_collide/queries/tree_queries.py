"""What an `AABBTree` is asked beyond pairs, single regions and rays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ecs_collide._checks import Floats
from ecs_collide._ids import Integers
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
    rows_to_exclude,
    rows_to_exclude_each,
)

_AnyVector: TypeAlias = Sequence[float] | Floats

OWN: Any = np.zeros((0, 2)).data  # tells a kernel that the boxes in the tree are the items' own


class TreeQuestions:
    """Regions in bulk, boxes that are cast, nearest boxes."""

    _asker: Asker
    _rows: Any

    def query_many(
        self, mins: ArrayLike, maxs: ArrayLike, *, exclude: Exclude = None
    ) -> RegionHits:
        """Return the ids of all boxes that share a point with each of many: `query` for each row.

        Parameters
        ----------
        mins, maxs : float64, shape (n, dim)
            A single corner holds for all rows of the other.
        exclude : int or several, optional
            Ids to leave out.

        Raises
        ------
        ValueError
            A box is no good.
        """
        return self._asker.query_many(mins, maxs, self._barred(exclude), self._boxes)

    def cast_box(
        self,
        centre: _AnyVector,
        half: _AnyVector,
        motion: _AnyVector,
        *,
        exclude: Exclude = None,
    ) -> BoxHit | None:
        """Return what a box meets first on a straight way, or None.

        By the rules of `ecs_collide.sweep`, which are *open*: an impact is
        where the insides begin to overlap, before the way's end; to slide
        along a face, graze a corner or move away is none.  Boxes that overlap from the
        start are hits at time 0.  Of several met at once, the lowest id.

        Parameters
        ----------
        centre, half, motion : sequence of float (dim,)
            Centre and half sizes of the box, and how far it moves, in world units.
        exclude : int or several, optional
            Ids to leave out.

        Raises
        ------
        ValueError
            A number is not finite or beyond 2**500, or a half size is negative.

        Notes
        -----
        Nodes are visited in the order in which the box would meet them, and
        no more of them once they come later than the best hit so far.
        O(log n) for boxes that overlap few others.

        Examples
        --------
        >>> tree = AABBTree()
        >>> tree.insert(7, (10, -5), (12, 5))
        >>> hit = tree.cast_box((0, 0), (1, 1), (18, 0))
        >>> hit.id, hit.time, hit.centre, hit.normal
        (7, 0.5, (9.0, 0.0), (-1.0, 0.0))
        """
        hits = self._asker.box(centre, half, motion, 1, self._barred(exclude), self._boxes)
        return hits[0] if hits else None

    def cast_boxes(
        self,
        centres: ArrayLike,
        halves: ArrayLike,
        motions: ArrayLike,
        *,
        exclude: Exclude = None,
        exclude_each: Sequence[int] | Integers | None = None,
    ) -> BoxHits:
        """Return what each of many boxes meets first: `cast_box` for each row, but quicker.

        Parameters
        ----------
        centres, halves, motions : float64, shape (n, dim)
            A single vector holds for all rows of the others.
        exclude : int or several, optional
            Ids that all rows leave out.
        exclude_each : integers, shape (n,), optional
            An id that each row leaves out besides.
        """
        each = rows_to_exclude_each(exclude_each, self._row_or_none)
        barred = self._barred(exclude)
        return self._asker.cast_boxes(centres, halves, motions, each, barred, self._boxes)

    def nearest(
        self,
        point: _AnyVector,
        k: int = 1,
        *,
        within: float = math.inf,
        exclude: Exclude = None,
    ) -> list[Neighbour]:
        """Return the k boxes nearest to a point, by distance, then id; fewer where there are fewer.

        Parameters
        ----------
        point : sequence of float (dim,)
        k : int
            How many, at least 1.
        within : float
            Only boxes at most so far away, in world units.
        exclude : int or several, optional
            Ids to leave out.

        Raises
        ------
        ValueError
            The point, k or the distance is no good.

        Notes
        -----
        O(log n + k) on average, for boxes that overlap few others.
        """
        barred = self._barred(exclude)
        return self._asker.near(
            point, checked_count(k), checked_distance(within), barred, self._boxes
        )

    def nearest_many(
        self,
        points: ArrayLike,
        k: int = 1,
        *,
        within: float = math.inf,
        exclude: Exclude = None,
        exclude_each: Sequence[int] | Integers | None = None,
    ) -> Neighbours:
        """Return the k boxes nearest to each of many points: `nearest` for each row, but quicker.

        Parameters
        ----------
        points : float64, shape (n, dim)
        exclude_each : integers, shape (n,), optional
            An id that each row leaves out besides.
        """
        each = rows_to_exclude_each(exclude_each, self._row_or_none)
        k, within, barred = checked_count(k), checked_distance(within), self._barred(exclude)
        return self._asker.nearest_many(points, k, within, each, barred, self._boxes)

    @property
    def _boxes(self) -> tuple[Any, Any, Any]:
        return OWN, OWN, self._rows.ids

    def _row_or_none(self, id: int) -> int:
        """Return the row of an id, -1 where it has none."""
        return int(self._rows.find(id)) if -(2**63) <= id < 2**63 else -1

    def _barred(self, exclude: Exclude) -> tuple[int, ...] | None:
        return rows_to_exclude(exclude, self._row_or_none)
