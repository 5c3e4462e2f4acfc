"""A dynamic tree of boxes, usable without a space.

It finds the boxes that touch a box, each other or a ray, the first box that a moving box meets, and
the boxes nearest to a point.

The tree has two boxes for every id: its own, which all results depend on, and *fat bounds* around
it.  A box that stays inside its fat bounds is never moved in the tree.  Fat bounds change the cost
of a query, never its result.

All queries are *closed*, so boxes that only touch are found.  Only a box that is
cast follows the open rules of the sweep, as bodies do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import gt, index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ecs_collide._checks import Floats, Integers, checked_id, checked_ids, refuse_reversed, vectors
from ecs_collide._kernel import backend
from ecs_collide._kernel.constants import LARGEST
from ecs_collide.queries.boxes import BoxQueries
from ecs_collide.queries.circles import Shape
from ecs_collide.queries.queries import Allowed, Filter, Queries
from ecs_collide.queries.results import (
    BoxHit,
    BoxHits,
    Branches,
    Neighbour,
    Neighbours,
    RayHit,
    RayHits,
    RegionHits,
    branches_of,
)
from ecs_collide.queries.wrapped import Boxes

__all__ = [
    "AABBTree",
    "BoxHit",
    "BoxHits",
    "Neighbour",
    "Neighbours",
    "RayHit",
    "RayHits",
    "RegionHits",
]

_Vector: TypeAlias = tuple[float, ...]
_AnyVector: TypeAlias = Sequence[float] | Floats

_OWN: Any = np.zeros((0, 2)).data  # no boxes besides those in the tree
_AUTO = -1.0  # the kernel chooses the margin by the size of each box


class AABBTree(BoxQueries[Callable[[int], object]]):
    """Axis-aligned boxes by id, and queries for them.

    Parameters
    ----------
    dim : int
        2 or 3.
    capacity : int
        Number of boxes to reserve room for; the tree grows beyond it.
    margin : float, optional
        Distance by which the fat bounds of a box extend beyond it on all sides, in world
        units.  Default: its longest side.
    lookahead : float
        Number of further steps of its motion, on average, that the fat bounds of a moving box
        cover.

    Notes
    -----
    Ids are any integers of 64 bits.  A *box* is given by its lower and its
    upper corner, `min` and `max`, as any sequences of `dim` numbers; a
    *motion* is a displacement in the coming step.  NaN, infinities, numbers
    beyond 2**500 and corners in the wrong order are refused with a ValueError
    that names argument, row and value, before anything changes.

    A wide tree: each node has up to eight children, and all leaves have the same depth, at most
    2 * log2(n) + 8 for any n boxes.  `ecs_collide.broadphase.nodes` explains this shape.  The
    same calls in the same order give the same tree.

    `pairs` keeps its result, and only searches the pairs of boxes that have changed since.

    Examples
    --------
    >>> tree = AABBTree()
    >>> tree.insert(7, (0, 0), (2, 2))
    >>> tree.insert(9, (2, 1), (3, 3))
    >>> tree.query((-1, -1), (0, 0))
    [7]
    >>> tree.pairs().tolist()
    [[7, 9]]
    >>> tree.update(9, (5, 1), (6, 3))
    True
    >>> tree.pairs().tolist()
    []
    """

    def __init__(
        self,
        dim: int = 2,
        capacity: int = 0,
        margin: float | None = None,
        lookahead: float = 12.0,
    ) -> None:
        if dim not in (2, 3):
            raise ValueError(f"dim={dim!r} must be 2 or 3")
        if index(capacity) < 0:
            raise ValueError(f"capacity={capacity!r} must be >= 0: a number of boxes")
        for name, value in (("margin", margin), ("lookahead", lookahead)):
            if value is not None and not 0.0 <= value <= LARGEST:
                raise ValueError(f"{name}={value!r} must be within 0 ... 2**500")
        self._dim = int(dim)
        self._margin = _AUTO if margin is None else float(margin)
        self._lookahead = float(lookahead)
        kernels = backend.kernels
        self._are_fine = kernels.fat_bounds.are_fine
        self._id_map = kernels.id_map.IdMap(index(capacity))
        self._tree = kernels.tree.Tree(self._dim, index(capacity))
        self._queries = Queries(_QueriedBoxes(self._dim, self._tree, self._id_map))
        self._pair_cache = kernels.pair_cache.PairCache(self._tree)
        self._pairs: Integers | None = np.zeros((0, 2), np.int64)  # None if boxes have changed
        self._keys: tuple[Any, Any] | None = None  # key of each row, row of each key
        self._last_ids = self._last_rows = np.zeros(0, np.int64)

    # One box

    def insert(self, id: int, min: _AnyVector, max: _AnyVector) -> None:
        """Add a box.  O(log n) on average.

        Raises
        ------
        ValueError
            The id is in the tree already, or the box is not valid.
        """
        number = checked_id(id)
        if self._id_map.find(number) >= 0:
            raise ValueError(f"id={id!r} is in the tree already; update() moves it")
        lower, upper = self._box(min, max)
        self._id_map.reserve(1)
        self._keys = None
        try:
            self._place(self._id_map.add(number), lower, upper, None)
        except BaseException:
            self._remove(number)
            raise

    def update(
        self, id: int, min: _AnyVector, max: _AnyVector, motion: _AnyVector | None = None
    ) -> bool:
        """Move or resize a box; return whether its fat bounds were renewed.

        They are renewed if the box, swept by `motion`, escapes them, and if they have more than
        four times the perimeter (in 3D: surface) of new ones.  O(1) if the box stays inside
        them, otherwise O(log n) on average.

        Raises
        ------
        KeyError
            The id is not in the tree.
        ValueError
            The box or the motion is not valid.
        """
        row = self._row(id)
        lower, upper = self._box(min, max)
        known = None if motion is None else self._vector("motion", motion)
        return self._place(row, lower, upper, known)

    def remove(self, id: int) -> None:
        """Remove a box.  O(log n).

        Raises
        ------
        KeyError
            The id is not in the tree.
        """
        self._row(id)
        self._forget()
        self._remove(index(id))

    def bounds(self, id: int) -> tuple[_Vector, _Vector]:
        """Return the lower and the upper corner of a box.

        Raises
        ------
        KeyError
            The id is not in the tree.
        """
        lower, upper = np.empty((2, self._dim))
        self._tree.box_into(self._row(id), lower.data, upper.data)
        return tuple(lower.tolist()), tuple(upper.tolist())

    def _shape_near(self, id: int, place: Sequence[float]) -> Shape:
        return Shape(*self.bounds(id))

    def fat_bounds(self, id: int) -> tuple[_Vector, _Vector]:
        """Return the lower and the upper corner of the fat bounds of a box.

        Raises
        ------
        KeyError
            The id is not in the tree.
        """
        lower, upper = np.empty((2, 1, self._dim))
        self._tree.bounds_into(self._row(id), lower.data, upper.data, 0)
        return tuple(lower[0].tolist()), tuple(upper[0].tolist())

    # Many boxes

    def insert_many(self, ids: ArrayLike, mins: ArrayLike, maxs: ArrayLike) -> None:
        """Add boxes: as `insert` for each row, but faster, and all or none.

        Parameters
        ----------
        ids : integers, shape (n,)
        mins, maxs : float64, shape (n, dim)

        Raises
        ------
        ValueError
            An id is in the tree already or given twice, or a box is not valid.
        """
        numbers = checked_ids(ids)
        lowers, uppers = self._corners(len(numbers), mins, maxs)
        self._id_map.reserve(len(numbers))
        rows = np.empty(len(numbers), np.int64)
        n = self._id_map.add_many(numbers.data, rows.data)
        if n < len(numbers):
            self._id_map.remove_many(numbers[:n].data)
            if numbers[n] in numbers[:n]:
                raise ValueError(f"ids[{n}]={numbers[n]} is given twice")
            raise ValueError(
                f"ids[{n}]={numbers[n]} is in the tree already; update_many() moves it"
            )
        self._keys = None
        try:
            self._place_many(rows, lowers, uppers, lowers[:0])
        except BaseException:
            for number in numbers.tolist():
                self._remove(number)
            raise

    def update_many(
        self, ids: ArrayLike, mins: ArrayLike, maxs: ArrayLike, motions: ArrayLike | None = None
    ) -> int:
        """Move or resize boxes: as `update` for each row, but faster, and all or none.

        Parameters
        ----------
        ids : integers, shape (n,)
        mins, maxs, motions : float64, shape (n, dim)

        Returns
        -------
        int
            Number of boxes whose fat bounds were renewed.

        Raises
        ------
        KeyError
            An id is not in the tree.
        ValueError
            An id is given twice, or a box or motion is not valid.
        """
        rows = self._rows_of(ids)
        lowers, uppers = self._corners(len(rows), mins, maxs)
        if motions is None:
            return self._place_many(rows, lowers, uppers, lowers[:0])
        if not self._are_plain(len(rows), motions, motions):
            motions = self._vectors("motions", motions, len(rows))
        return self._place_many(rows, lowers, uppers, motions)  # type: ignore[arg-type]

    def remove_many(self, ids: ArrayLike) -> None:
        """Remove boxes: all or none.

        Raises
        ------
        KeyError
            An id is not in the tree.
        ValueError
            An id is given twice.
        """
        rows = self._rows_of(ids)
        self._forget()
        self._tree.drop_many(rows.data)
        self._id_map.remove_many(checked_ids(ids).data)

    # Queries

    def __len__(self) -> int:
        return int(self._id_map.n)

    def __contains__(self, id: object) -> bool:
        try:
            return bool(self._id_map.find(checked_id(id)) >= 0)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._id_map.in_use()))

    def __repr__(self) -> str:
        return f"<AABBTree of {len(self)} boxes in {self._dim}D, {self.depth} deep>"

    def query_id(self, id: int) -> list[int]:
        """Return the ids of all boxes that share a point with the box of `id`, but `id`; sorted.

        O(log n) and the number found.

        Raises
        ------
        KeyError
            The id is not in the tree.
        """
        found = self.query(*self.bounds(id))
        found.remove(id)
        return found

    def pairs(self) -> Integers:
        """Return all pairs of boxes that share a point.

        Returns
        -------
        ndarray
            int64, shape (n, 2): two ids in each row, the lower first; rows
            sorted.  O(n log n) and the number found, for boxes that overlap
            few others.
        """
        if self._pairs is None:
            self._pairs = np.empty((self._pair_cache.renew(*self._find_keys()), 2), np.int64)
            self._pair_cache.write(self._id_map.ids, self._pairs.data)
        return self._pairs.copy()

    @property
    def dim(self) -> int:
        """The number of axes, 2 or 3."""
        return self._dim

    @property
    def n_escapes(self) -> int:
        """How often a box has escaped its fat bounds, or these have become too big.

        Counted since the tree was created, like `n_reinsertions` and `n_rebuilds`.
        """
        return int(self._tree.n_escaped)

    @property
    def n_reinsertions(self) -> int:
        """The number of times that an escaped box was removed and inserted again on its own."""
        return int(self._tree.n_reinserted)

    @property
    def n_rebuilds(self) -> int:
        """How often the whole tree was rebuilt in bulk."""
        return int(self._tree.n_rebuilt)

    @property
    def depth(self) -> int:
        """The number of branches above the deepest leaf; 0 for up to one box."""
        return int(self._tree.depth)

    def branches(self) -> Branches:
        """Return the bounds of all nodes of the tree, for drawing it.

        Returns
        -------
        Branches
            The bounds of a node are the smallest box around its children.  `depths` is in
            ascending order: 0 for the root, `depth` - 1 for the leaves.  `moving` is False.

        Notes
        -----
        Copies.  O(n) for n boxes; an empty tree has no nodes.
        """
        branches = branches_of(self._tree, False)
        order = np.argsort(branches.depths, kind="stable")
        mins, maxs, depths, moving = branches
        return Branches(mins[order], maxs[order], depths[order], moving)

    def check(self) -> None:
        """Verify every invariant of the tree.  O(n).

        Raises
        ------
        AssertionError
            An invariant does not hold; the message names it and the place.
        """
        self._tree.check()
        if self._tree.n_items != self._id_map.n:
            raise AssertionError(f"{self._id_map.n} ids, but {self._tree.n_items} in the tree")
        for id in self._id_map.in_use():
            (lower, upper), (fat_lower, fat_upper) = self.bounds(id), self.fat_bounds(id)
            if any(map(gt, fat_lower, lower)) or any(map(gt, upper, fat_upper)):
                raise AssertionError(f"the box of id {id} is not inside its fat bounds")

    # Checks of arguments

    def _vector(self, name: str, value: _AnyVector) -> _Vector:
        """Return a single vector, checked."""
        if (
            type(value) is tuple
            and len(value) == self._dim
            and all(type(v) in (float, int) and -LARGEST <= v <= LARGEST for v in value)
        ):
            return tuple([v + 0.0 for v in value])  # never -0.0
        known = vectors(name, value)
        if known.shape != (self._dim,):
            raise ValueError(f"{name}={value!r} must have {self._dim} numbers")
        return tuple((known + 0.0).tolist())

    def _box(self, min: _AnyVector, max: _AnyVector) -> tuple[_Vector, _Vector]:
        """Return the corners of a single box, checked."""
        lower, upper = self._vector("min", min), self._vector("max", max)
        if any(map(gt, lower, upper)):
            refuse_reversed("min", np.array(lower), "max", np.array(upper))
        return lower, upper

    def _vectors(self, name: str, value: ArrayLike, n: int) -> Floats:
        """Return `n` vectors, checked."""
        known = vectors(name, value) if n > 0 or np.size(value) > 0 else np.zeros((0, self._dim))
        if known.shape != (n, self._dim):
            raise ValueError(
                f"{name} must have shape ({n}, {self._dim}), a row for each id; "
                f"got shape {known.shape}"
            )
        return known + 0.0

    def _corners(self, n: int, mins: ArrayLike, maxs: ArrayLike) -> tuple[Floats, Floats]:
        """Return the corners of `n` boxes, checked."""
        if self._are_plain(n, mins, maxs):
            return mins, maxs  # type: ignore[return-value]
        lowers, uppers = self._vectors("mins", mins, n), self._vectors("maxs", maxs, n)
        refuse_reversed("mins", lowers, "maxs", uppers)
        return lowers, uppers

    def _are_plain(self, n: int, lows: Any, highs: Any) -> bool:
        """Return whether two arrays are in order, with nothing to copy or to convert."""
        for array in (lows, highs):
            if not (
                type(array) is np.ndarray
                and array.dtype == np.float64
                and array.shape == (n, self._dim)
                and array.flags.c_contiguous
            ):
                return False
        return bool(self._are_fine(lows.data, highs.data))

    def _row(self, id: int) -> int:
        """Return the row of an id; KeyError if it has none."""
        try:
            row: int = self._id_map.find(index(id))
        except (TypeError, OverflowError):
            row = -1
        if row < 0:
            raise KeyError(f"id={id!r} is not in the tree")
        return row

    def _rows_of(self, ids: ArrayLike) -> Integers:
        """Return the rows of ids, at once if they equal the ids of the last call."""
        array = np.asarray(ids)
        if len(self._last_ids) > 0 and np.array_equal(array, self._last_ids):
            return self._last_rows
        numbers = checked_ids(array)
        rows = np.empty(len(numbers), np.int64)
        n = self._id_map.find_many(numbers.data, rows.data)
        if n < len(numbers):
            if rows[n] == -1:
                raise KeyError(f"ids[{n}]={numbers[n]} is not in the tree")
            raise ValueError(f"ids[{n}]={numbers[n]} is given twice")
        self._last_ids, self._last_rows = numbers.copy(), rows
        return rows

    # To the kernel and back

    def _remove(self, number: int) -> None:
        """Take a box out of the tree, if it is there, and then its id."""
        row = self._id_map.find(number)
        if row >= 0:
            self._tree.drop(row)
            self._id_map.remove(number)

    def _forget(self) -> None:
        """Discard the cached rows, pairs and keys."""
        self._last_ids = self._last_rows = np.zeros(0, np.int64)
        self._pairs = self._keys = None

    def _place(self, row: int, lower: _Vector, upper: _Vector, motion: _Vector | None) -> bool:
        """Set the box of a row; return whether its fat bounds were renewed."""
        self._pairs = None
        rows = (
            np.array(vector or (), float).reshape(-1, self._dim).data
            for vector in (lower, upper, motion)
        )
        return bool(self._tree.renew_one(row, *rows, False, self._margin, self._lookahead))

    def _place_many(self, rows: Integers, lowers: Floats, uppers: Floats, motions: Floats) -> int:
        """Set the boxes of rows; return the number of renewed fat bounds."""
        if len(rows) == 0:
            return 0
        self._pairs = None
        arrays = (array.data for array in (rows, lowers, uppers, motions))
        n_renewed: int = self._tree.renew(*arrays, False, self._margin, self._lookahead)
        return n_renewed

    def _find_keys(self) -> tuple[Any, Any]:
        """Return a small number for each row, in the order of the ids, and the row of each."""
        if self._keys is None:
            rows = np.flatnonzero(np.asarray(self._id_map.used)).astype(np.int64, copy=False)
            ids = np.asarray(self._id_map.ids)
            order = np.argsort(ids[rows], kind="stable")
            key_of, row_of = np.zeros(len(ids), np.int64), rows[order]
            key_of[row_of] = np.arange(len(rows))
            self._keys = key_of.data, row_of.data
        return self._keys


class _QueriedBoxes:
    """The boxes of a tree for its queries.  The boxes in the tree are the items' own."""

    place = "tree"

    def __init__(self, dim: int, tree: Any, rows: Any) -> None:
        self.dim = dim
        self.search = backend.kernels.search.Search(tree)
        self._rows = rows
        self._boxes: Boxes = (_OWN, _OWN, rows.ids)
        self._room: int = rows.room  # the array of ids is replaced when it grows

    @property
    def boxes(self) -> Boxes:
        """No boxes besides those in the tree, and the ids by row."""
        if self._room != self._rows.room:
            self._boxes, self._room = (_OWN, _OWN, self._rows.ids), self._rows.room
        return self._boxes

    def row(self, id: int) -> int:
        """Return the row of an id, -1 if it has none."""
        return int(self._rows.find(id)) if -(2**63) <= id < 2**63 else -1

    def attached_to(self, rows: Sequence[int]) -> Sequence[int]:
        """Return no rows: boxes of a tree are attached to nothing."""
        return ()

    def allowed(self, filter: Filter, solid: bool = False) -> Allowed:
        """Return the filter, a function that takes an id."""
        if filter is None:
            return None
        if callable(filter) and not isinstance(filter, type):
            return filter
        raise TypeError(f"filter={filter!r} must be a function that takes an id, or None")

    def skipped(self, filter: Filter, solid: bool) -> list[int]:
        """Return the rows of the ids that a filter refuses."""
        allowed = None if filter is None else self.allowed(filter)
        if allowed is None:
            return []
        return [self.row(id) for id in sorted(self._rows.in_use()) if not allowed(id)]
