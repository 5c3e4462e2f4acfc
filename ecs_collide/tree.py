"""A dynamic tree of boxes, usable alone: which boxes touch this one, each other, or a ray.

The tree keeps two boxes for every id: its own, the *tight* one, by which all
answers are given, and *fat bounds* around it, by which it hangs in the tree.
A box that stays inside its fat bounds is never moved in the tree.  Fatness
never shows in an answer, only in its cost.

All answers are *closed*: boxes that only touch are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import gt, index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ecs_collide import _backend
from ecs_collide._numbers import LARGEST, Floats, refuse_reversed, vectors
from ecs_collide._rows import Integers, Rows, checked_id, checked_ids

__all__ = ["AABBTree", "RayHit"]

_Vector: TypeAlias = tuple[float, ...]
_AnyVector: TypeAlias = Sequence[float] | Floats

_AUTO = -1.0  # tells the kernel to choose the margin by the size of each box


@dataclass(frozen=True, slots=True)
class RayHit:
    """Where a ray meets a box.

    Attributes
    ----------
    id : int
        The box.
    time : float
        The fraction of the ray's way, 0 at its origin and 1 at its end.
    point : tuple of float
        In world units, exactly in the face that is met.
    normal : tuple of float or None
        Unit axis vector out of that face; None where the ray begins inside
        the box, or on its surface without entering it.
    """

    id: int
    time: float
    point: _Vector
    normal: _Vector | None


class AABBTree:
    """Axis-aligned boxes by id, found by where they are.

    Parameters
    ----------
    dim : int
        2 or 3.
    capacity : int
        Number of boxes to reserve room for; the tree grows beyond it.
    margin : float, optional
        How far the fat bounds of a box reach beyond it on all sides, in world
        units.  Default: a tenth of its longest side.
    lookahead : float
        How many more steps of its motion the fat bounds of a moving box
        cover; at most half its side on each axis.

    Notes
    -----
    Ids are any integers of 64 bits.  A *box* is given by its lower and its
    upper corner, `min` and `max`, as any sequences of `dim` numbers; a
    *motion* is a displacement in the step to come.  NaN, infinities, numbers
    beyond 2**500 and corners in the wrong order are refused with a ValueError
    that names argument, row and value, before anything changes.

    A binary tree, as flat as AVL keeps one: the depth of n boxes is at most
    1.44 * log2(n), whatever they are.  `ecs_collide._kernels._nodes` says why
    this balance was chosen.  The same calls in the same order give the same
    tree.

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
        lookahead: float = 2.0,
    ) -> None:
        if dim not in (2, 3):
            raise ValueError(f"dim={dim!r} must be 2 or 3")
        if index(capacity) < 0:
            raise ValueError(f"capacity={capacity!r} must be >= 0: a number of boxes")
        for name, value in (("margin", margin), ("lookahead", lookahead)):
            if value is not None and not 0.0 <= value <= LARGEST:
                raise ValueError(f"{name}={value!r} must be finite and >= 0")
        self._dim = int(dim)
        self._margin = _AUTO if margin is None else float(margin)
        self._lookahead = float(lookahead)
        self._tree = _backend.kernels.tree.Tree(self._dim, index(capacity))
        n_rows = max(index(capacity), 8)
        self._rows = Rows(n_rows)
        self._min, self._max = np.zeros((n_rows, self._dim)), np.zeros((n_rows, self._dim))
        self._mins, self._maxs = _view(self._min), _view(self._max)
        # A single box passes through these on its way to the kernel.
        self._row, self._renewed = _view(np.zeros(1, np.int64)), _view(np.zeros(1, np.int8))
        self._lower, self._upper, self._motion, self._fat_lower, self._fat_upper = (
            _view(np.zeros((1, self._dim))) for _ in range(5)
        )

    # One box

    def insert(self, id: int, min: _AnyVector, max: _AnyVector) -> None:
        """Add a box.  O(log n) on average.

        Raises
        ------
        ValueError
            The id is there already, or the box is no good.
        """
        number = checked_id(id)
        if number in self._rows.row_of:
            raise ValueError(f"id={id!r} is in the tree already; update() moves it")
        lower, upper = self._box(min, max)
        self._place(self._add_row(number), lower, upper, None)

    def update(
        self, id: int, min: _AnyVector, max: _AnyVector, motion: _AnyVector | None = None
    ) -> bool:
        """Move or resize a box; return whether its fat bounds were renewed.

        They are where the box escapes them, on its way by `motion` too, and
        where they have more than four times the perimeter (in 3D: surface) of
        fresh ones.  O(1) where it stays inside, else O(log n) on average.

        Raises
        ------
        KeyError
            The id is not in the tree.
        ValueError
            The box or the motion is no good.
        """
        row = self._rows.of(id)
        lower, upper = self._box(min, max)
        known = None if motion is None else self._vector("motion", motion)
        return self._place(row, lower, upper, known)

    def remove(self, id: int) -> None:
        """Take a box out.  O(log n).

        Raises
        ------
        KeyError
            The id is not in the tree.
        """
        self._tree.drop(self._rows.remove(id))

    def bounds(self, id: int) -> tuple[_Vector, _Vector]:
        """Return the lower and the upper corner of a box.

        Raises
        ------
        KeyError
            The id is not in the tree.
        """
        row = self._rows.of(id)
        return tuple(self._min[row].tolist()), tuple(self._max[row].tolist())

    def fat_bounds(self, id: int) -> tuple[_Vector, _Vector]:
        """Return the lower and the upper corner of the bounds by which a box hangs in the tree.

        Raises
        ------
        KeyError
            The id is not in the tree.
        """
        self._tree.bounds_into(self._rows.of(id), self._fat_lower, self._fat_upper, 0)
        return tuple(self._fat_lower.tolist()[0]), tuple(self._fat_upper.tolist()[0])

    # Many boxes

    def insert_many(self, ids: ArrayLike, mins: ArrayLike, maxs: ArrayLike) -> None:
        """Add boxes: `insert` for each row, but quicker, and all or none.

        Parameters
        ----------
        ids : integers, shape (n,)
        mins, maxs : float64, shape (n, dim)

        Raises
        ------
        ValueError
            An id is there already or twice, or a box is no good.
        """
        numbers = checked_ids(ids)
        boxes = self._boxes(len(numbers), mins, maxs)
        for row, number in enumerate(numbers.tolist()):
            if number in self._rows.row_of:
                raise ValueError(
                    f"ids[{row}]={number} is in the tree already; update_many() moves it"
                )
        rows = np.array([self._add_row(number) for number in numbers.tolist()], np.int64)
        self._place_many(rows, *boxes, np.zeros_like(boxes[0]))

    def update_many(
        self, ids: ArrayLike, mins: ArrayLike, maxs: ArrayLike, motions: ArrayLike | None = None
    ) -> int:
        """Move or resize boxes: `update` for each row, but quicker, and all or none.

        Parameters
        ----------
        ids : integers, shape (n,)
        mins, maxs, motions : float64, shape (n, dim)

        Returns
        -------
        int
            For how many boxes the fat bounds were renewed.

        Raises
        ------
        KeyError
            An id is not in the tree.
        ValueError
            An id is there twice, or a box or motion is no good.
        """
        rows = self._rows.of_many(ids)
        lowers, uppers = self._boxes(len(rows), mins, maxs)
        known = np.zeros_like(lowers)
        if motions is not None:
            known = self._vectors("motions", motions, len(rows))
        return self._place_many(rows, lowers, uppers, known)

    def remove_many(self, ids: ArrayLike) -> None:
        """Take boxes out: all or none.

        Raises
        ------
        KeyError
            An id is not in the tree.
        ValueError
            An id is there twice.
        """
        for id in self._rows.ids[self._rows.of_many(ids)].tolist():
            self._tree.drop(self._rows.remove(id))

    # Questions

    def __len__(self) -> int:
        return len(self._rows.row_of)

    def __contains__(self, id: object) -> bool:
        return id in self._rows.row_of

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._rows.row_of))

    def __repr__(self) -> str:
        return f"<AABBTree of {len(self)} boxes in {self._dim}D, {self.depth} deep>"

    def query(self, min: _AnyVector, max: _AnyVector) -> list[int]:
        """Return the ids of all boxes that share a point with a box, sorted.

        O(log n) and the number found.
        """
        lower, upper = self._box(min, max)
        for k in range(self._dim):
            self._lower[0, k], self._upper[0, k] = lower[k], upper[k]
        return self._overlapping(self._lower, self._upper, 0)

    def query_id(self, id: int) -> list[int]:
        """Return the ids of all boxes that share a point with the box of `id`, but `id`; sorted.

        O(log n) and the number found.

        Raises
        ------
        KeyError
            The id is not in the tree.
        """
        found = self._overlapping(self._mins, self._maxs, self._rows.of(id))
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
        n = self._tree.pairs(self._mins, self._maxs)
        pairs = np.sort(self._rows.ids[np.asarray(self._tree.found)[: 2 * n].reshape(n, 2)], axis=1)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def cast_ray(self, origin: _AnyVector, direction: _AnyVector) -> RayHit | None:
        """Return where a ray first meets a box, or None.

        The ray goes from `origin` to ``origin + direction``, both ends
        included.  Of several boxes met at once, the one with the lowest id.
        O(log n) for boxes that overlap few others.
        """
        hit = np.zeros(1 + 2 * self._dim)
        row = self._tree.ray(
            _view(np.array(self._vector("origin", origin))),
            _view(np.array(self._vector("direction", direction))),
            self._mins,
            self._maxs,
            _view(self._rows.ids),
            _view(hit),
        )
        if row < 0:
            return None
        time, *rest = hit.tolist()
        point, normal = tuple(rest[: self._dim]), tuple(rest[self._dim :])
        return RayHit(int(self._rows.ids[row]), time, point, normal if any(normal) else None)

    @property
    def dim(self) -> int:
        """The number of axes, 2 or 3."""
        return self._dim

    @property
    def depth(self) -> int:
        """The number of branches above the deepest leaf; 0 for up to one box."""
        return int(self._tree.depth)

    def check(self) -> None:
        """Verify every invariant of the tree.  O(n).

        Raises
        ------
        AssertionError
            One does not hold; the message says which, and where.
        """
        self._tree.check()
        if self._tree.n_items != len(self._rows.row_of):
            raise AssertionError(f"{len(self._rows.row_of)} ids, but {self._tree.n_items} leaves")
        for id, row in self._rows.row_of.items():
            if self._rows.ids[row] != id:
                raise AssertionError(f"the row of id {id} belongs to id {self._rows.ids[row]}")
            if not self._tree.covers(row, self._mins, self._maxs, row):
                raise AssertionError(f"the box of id {id} is not inside its fat bounds")

    # What goes in

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

    def _boxes(self, n: int, mins: ArrayLike, maxs: ArrayLike) -> tuple[Floats, Floats]:
        """Return the corners of `n` boxes, checked."""
        lowers, uppers = self._vectors("mins", mins, n), self._vectors("maxs", maxs, n)
        refuse_reversed("mins", lowers, "maxs", uppers)
        return lowers, uppers

    # To the kernel and back

    def _add_row(self, id: int) -> int:
        row = self._rows.add(id)
        if row == len(self._min):
            self._min = np.concatenate([self._min, np.zeros_like(self._min)])
            self._max = np.concatenate([self._max, np.zeros_like(self._max)])
            self._mins, self._maxs = _view(self._min), _view(self._max)
        return row

    def _place(self, row: int, lower: _Vector, upper: _Vector, motion: _Vector | None) -> bool:
        """Let a row have this box; tell whether its fat bounds were renewed."""
        self._row[0] = row
        for k in range(self._dim):
            way = 0.0 if motion is None else motion[k]
            self._mins[row, k], self._maxs[row, k] = lower[k], upper[k]
            self._lower[0, k] = lower[k] + (way if way < 0.0 else 0.0)
            self._upper[0, k] = upper[k] + (way if way > 0.0 else 0.0)
            self._motion[0, k] = way
        n_renewed = self._tree.renew(
            self._row,
            self._lower,
            self._upper,
            self._motion,
            self._margin,
            self._lookahead,
            self._fat_lower,
            self._fat_upper,
            self._renewed,
        )
        return bool(n_renewed)

    def _place_many(self, rows: Integers, lowers: Floats, uppers: Floats, motions: Floats) -> int:
        """Let rows have these boxes; return for how many the fat bounds were renewed."""
        self._min[rows], self._max[rows] = lowers, uppers
        n_renewed = self._tree.renew(
            _view(rows),
            _view(lowers + np.where(motions < 0.0, motions, 0.0)),
            _view(uppers + np.where(motions > 0.0, motions, 0.0)),
            _view(motions),
            self._margin,
            self._lookahead,
            _view(np.empty_like(lowers)),
            _view(np.empty_like(uppers)),
            _view(np.empty(len(rows), np.int8)),
        )
        return int(n_renewed)

    def _overlapping(self, mins: Any, maxs: Any, row: int) -> list[int]:
        n = self._tree.overlapping(mins, maxs, row, self._mins, self._maxs)
        found: list[int] = self._rows.ids[np.asarray(self._tree.found)[:n]].tolist()
        found.sort()
        return found


def _view(array: Any) -> Any:
    """Return an array as kernels take it: read as Python it gives Python numbers."""
    return memoryview(array)
