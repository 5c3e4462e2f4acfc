"""Overlap tests of boxes, and swept tests of moving boxes.

Usable without a space, for one pair or for arrays of pairs.  There are two kinds of tests:

- *Queries are closed*: for `overlaps`, boxes that only touch overlap.
- *Impacts are open*: `sweep` finds an impact where the *interiors* begin to overlap.  Touching at
  rest, sliding along a face or a seam, grazing a corner and moving apart are at most a ``TOUCH``.

Responses to an impact are not part of this module.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._checks import (
    Floats,
    refuse_negative,
    refuse_reversed,
    rows_of_pairs,
    rows_together,
    same_axes,
    same_vectors,
)
from ecs_collide._kernel import backend
from ecs_collide.events import SweepKind, Vector

__all__ = ["Sweep", "SweepBatch", "SweepKind", "overlaps", "sweep", "sweep_pairs", "swept_bounds"]

_AnyVector: TypeAlias = Sequence[float] | Floats


@dataclass(frozen=True, slots=True)
class Sweep:
    """The result of the sweep of one pair of boxes.

    Attributes
    ----------
    kind : SweepKind
        ``SEPARATE``, ``TOUCH``, ``IMPACT`` or ``OVERLAP``.
    time : float or None
        When they collide, as a fraction of the step in [0, 1); 0.0 for an
        overlap; None where there is neither impact nor overlap.
    enter, exit : float
        First and last instant at which the closed boxes share a point, as
        fractions of the step from its start.  Unclipped: they may lie before
        the step, after it, or be -inf and inf.  If the paths never meet,
        enter is after exit.
    normal : tuple of float or None
        Unit axis vector from the second box towards the first; None where
        there is neither impact nor overlap.
    axis : int or None
        The axis of the normal.
    sign : int or None
        The direction of the normal on its axis, -1 or 1.
    corner : bool
        Whether another axis closes at the same instant.
    depth : float
        How far they are inside each other at the start, on the side of
        `normal`, in world units; 0.0 for all but an overlap.
    """

    kind: SweepKind
    time: float | None
    enter: float
    exit: float
    normal: Vector | None
    axis: int | None
    sign: int | None
    corner: bool
    depth: float
    _centre1: Vector = field(repr=False)
    _motion1: Vector = field(repr=False)
    _centre2: Vector = field(repr=False)
    _motion2: Vector = field(repr=False)

    def positions(self, t: float) -> tuple[Vector, Vector]:
        """Return both centres at an instant, had nothing stopped them.

        Parameters
        ----------
        t : float
            A fraction of the step; before 0 and after 1 are on the same lines.

        Raises
        ------
        ValueError
            `t` is not finite, as is the `exit` of boxes that never part.
        """
        if not math.isfinite(t):
            raise ValueError(f"t={t!r} must be a finite fraction of the step")
        return (
            tuple(c + v * t + 0.0 for c, v in zip(self._centre1, self._motion1, strict=True)),
            tuple(c + v * t + 0.0 for c, v in zip(self._centre2, self._motion2, strict=True)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class SweepBatch:
    """The results of sweeps of many pairs: the fields of `Sweep` as arrays, a row for each pair.

    Attributes
    ----------
    kind : int8 (m,)
        Codes of `SweepKind`.
    time : float64 (m,)
        As a fraction of the step; nan where there is neither impact nor
        overlap.
    enter, exit : float64 (m,)
        As fractions of the step, unclipped.
    axis, sign : int8 (m,)
        -1 and 0 where there is neither impact nor overlap.
    corner : bool (m,)
        Whether another axis closes at the same instant.
    depth : float64 (m,)
        In world units; 0 for all but overlaps.
    pairs : int64 (m, 2)
        Rows of the bodies that were swept, first and second.
    """

    kind: NDArray[np.int8]
    time: Floats
    enter: Floats
    exit: Floats
    axis: NDArray[np.int8]
    sign: NDArray[np.int8]
    corner: NDArray[np.bool_]
    depth: Floats
    pairs: NDArray[np.int64] = field(repr=False)
    _centres: Floats = field(repr=False)
    _motions: Floats = field(repr=False)

    @property
    def normal(self) -> Floats:
        """Unit axis vectors from second to first, float64 (m, dim); zeros without a normal."""
        normals = np.zeros((len(self.kind), self._centres.shape[1]))
        rows = np.flatnonzero(self.sign)
        normals[rows, self.axis[rows]] = self.sign[rows]
        return normals

    def __len__(self) -> int:
        return len(self.kind)

    def __iter__(self) -> Iterator[Sweep]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, row: int) -> Sweep:
        """Return one row as a `Sweep`."""
        first, second = self.pairs[row]
        kind = SweepKind(int(self.kind[row]))
        met = kind >= SweepKind.IMPACT
        sign = int(self.sign[row])
        axis = int(self.axis[row])
        normal = tuple(float(sign) if k == axis else 0.0 for k in range(self._centres.shape[1]))
        return Sweep(
            kind=kind,
            time=float(self.time[row]) if met else None,
            enter=float(self.enter[row]),
            exit=float(self.exit[row]),
            normal=normal if met else None,
            axis=axis if met else None,
            sign=sign if met else None,
            corner=bool(self.corner[row]),
            depth=float(self.depth[row]),
            _centre1=tuple(self._centres[first].tolist()),
            _motion1=tuple(self._motions[first].tolist()),
            _centre2=tuple(self._centres[second].tolist()),
            _motion2=tuple(self._motions[second].tolist()),
        )

    def positions(self, t: ArrayLike) -> tuple[Floats, Floats]:
        """Return the centres of both bodies of each pair at an instant.

        Parameters
        ----------
        t : float or float64 (m,)
            Fractions of the step, one for all pairs or one for each.  A pair
            whose fraction is not finite gets nan.

        Returns
        -------
        first, second : float64 (m, dim)
        """
        times = np.broadcast_to(np.asarray(t, np.float64), (len(self),))
        times = np.where(np.isfinite(times), times, np.nan)[:, None]
        first, second = self.pairs.T
        return (
            self._centres[first] + self._motions[first] * times + 0.0,
            self._centres[second] + self._motions[second] * times + 0.0,
        )


@overload
def overlaps(
    min1: Sequence[float], max1: Sequence[float], min2: Sequence[float], max2: Sequence[float]
) -> bool: ...
@overload
def overlaps(min1: ArrayLike, max1: ArrayLike, min2: ArrayLike, max2: ArrayLike) -> Any: ...
@overload
def overlaps(
    *,
    centre1: Sequence[float],
    half1: Sequence[float],
    centre2: Sequence[float],
    half2: Sequence[float],
) -> bool: ...
@overload
def overlaps(
    *, centre1: ArrayLike, half1: ArrayLike, centre2: ArrayLike, half2: ArrayLike
) -> Any: ...
def overlaps(
    min1: ArrayLike | None = None,
    max1: ArrayLike | None = None,
    min2: ArrayLike | None = None,
    max2: ArrayLike | None = None,
    *,
    centre1: ArrayLike | None = None,
    half1: ArrayLike | None = None,
    centre2: ArrayLike | None = None,
    half2: ArrayLike | None = None,
) -> Any:
    """Return whether boxes share a point.  Touching and containment count.

    Boxes are given by their corners, or by name as centres and half sizes.

    Parameters
    ----------
    min1, max1, min2, max2 : sequence of float (dim,) or float64 (n, dim)
        Lower and upper corners in world units.  A single box is compared with
        each row of an array.
    centre1, half1, centre2, half2 : sequence of float (dim,) or float64 (n, dim)
        Centres and half sizes, zero or more, in world units.

    Returns
    -------
    bool, or bool (n,) where an argument is an array

    Raises
    ------
    ValueError
        A number is not finite or beyond 2**500, a min is above its max, a
        half size is negative, or the shapes do not fit.
    TypeError
        The arguments are not all of one form.

    Notes
    -----
    Two boxes with sides along the axes are apart exactly if one axis
    separates them: Gomez, "Simple Intersection Tests for Games" (1999).  The
    article, and studiofreya, "Simple AABB vs AABB Collision Detection" (2016), compare the
    distance of the centres with the sum of the half sizes.  That rounds in
    another way than the faces ``centre - half`` and ``centre + half`` that
    everything else here compares, and parts a quarter of the boxes that touch
    in decimals.  So the faces are computed first, and both forms agree.

    Examples
    --------
    >>> overlaps((0, 0), (1, 1), (1, 1), (2, 2))
    True
    >>> overlaps(centre1=(0, 0), half1=(1, 1), centre2=(2.5, 0), half2=(1, 1))
    False
    """
    corners = {"min1": min1, "max1": max1, "min2": min2, "max2": max2}
    boxes = {"centre1": centre1, "half1": half1, "centre2": centre2, "half2": half2}
    given = {name: value for name, value in (corners | boxes).items() if value is not None}
    if given.keys() == corners.keys():
        known = same_axes(**given)
        refuse_reversed("min1", known["min1"], "max1", known["max1"])
        refuse_reversed("min2", known["min2"], "max2", known["max2"])
        lows1, highs1, lows2, highs2 = rows_together(known)
    elif given.keys() == boxes.keys():
        known = same_axes(**given)
        refuse_negative("half1", known["half1"])
        refuse_negative("half2", known["half2"])
        centres1, halves1, centres2, halves2 = rows_together(known)
        lows1, highs1 = centres1 - halves1, centres1 + halves1
        lows2, highs2 = centres2 - halves2, centres2 + halves2
    else:
        raise TypeError(
            f"overlaps() got {', '.join(given) or 'no arguments'}: it takes either min1, max1, "
            "min2 and max2, or centre1, half1, centre2 and half2 by name"
        )
    found = np.all((lows1 <= highs2) & (lows2 <= highs1), axis=-1)
    return found if found.ndim else bool(found)


def sweep(
    centre1: _AnyVector,
    half1: _AnyVector,
    motion1: _AnyVector,
    centre2: _AnyVector,
    half2: _AnyVector,
    motion2: _AnyVector,
    growth1: _AnyVector | None = None,
    growth2: _AnyVector | None = None,
) -> Sweep:
    """Find when two moving boxes meet, and on which face.

    Parameters
    ----------
    centre1, centre2 : sequence of float (dim,)
        Where the centres are at the start of the step, in world units.
    half1, half2 : sequence of float (dim,)
        Half sizes at the start of the step, zero or more.
    motion1, motion2 : sequence of float (dim,)
        How far the centres move in the step: velocity times dt.
    growth1, growth2 : sequence of float (dim,), optional
        The change of the half sizes in the step: rate times dt.  A half size
        that it would take below 0 ends at 0.

    Returns
    -------
    Sweep

    Raises
    ------
    ValueError
        A number is not finite or beyond 2**500, a half size is negative, or
        the vectors have different lengths.

    Notes
    -----
    First and last times per axis are Gomez, "Simple Intersection Tests for
    Games" (1999).  Here impacts are open, so that the seams of a tiled floor
    do not catch, and sizes may change.

    Examples
    --------
    A box 2 wide flies 100 far; a thin wall stands in its way:

    >>> hit = sweep((0, 0), (1, 1), (100, 0), (50, 0), (0.5, 10), (0, 0))
    >>> hit.time, hit.normal
    (0.485, (-1.0, 0.0))
    """
    growths = {"growth1": growth1, "growth2": growth2}
    given = {name: growth for name, growth in growths.items() if growth is not None}
    rows = same_vectors(
        centre1=centre1, centre2=centre2, half1=half1, half2=half2, motion1=motion1,
        motion2=motion2, **given,
    )  # fmt: skip
    refuse_negative("half1", rows[2])
    refuse_negative("half2", rows[3])
    known, none = dict(zip(given, rows[6:], strict=True)), np.zeros(rows.shape[1])
    growing = np.stack([known.get(name, none) for name in growths])
    return _swept(rows[0:2], rows[2:4], rows[4:6], growing, np.array([[0, 1]], np.int64))[0]


def sweep_pairs(
    centres: ArrayLike,
    halves: ArrayLike,
    motions: ArrayLike,
    pairs: ArrayLike,
    growths: ArrayLike | None = None,
) -> SweepBatch:
    """Find for many pairs of moving boxes when they meet, and on which face.

    Parameters
    ----------
    centres, halves, motions : float64 (n, dim)
        The bodies: centres and half sizes at the start of the step, and how
        far the centres move in it, in world units.
    pairs : int64 (m, 2)
        Rows of the bodies to sweep against each other, first and second.
    growths : float64 (n, dim), optional
        The change of the half sizes in the step.  A half size that it would
        take below 0 ends at 0.

    Returns
    -------
    SweepBatch
        Row i belongs to ``pairs[i]``.

    Raises
    ------
    ValueError
        A number is not finite or beyond 2**500, a half size is negative, a
        pair names a body that is not there, or the shapes do not fit.
    """
    arrays = {"centres": centres, "halves": halves, "motions": motions}
    if growths is not None:
        arrays["growths"] = growths
    known = same_axes(**arrays)
    shape = known["centres"].shape
    for name, array in known.items():
        if array.ndim != 2 or array.shape != shape:
            raise ValueError(
                f"{name} must have shape (n, dim), the same for all; "
                f"got {array.shape}, and {shape} for centres"
            )
    refuse_negative("halves", known["halves"])
    return _swept(
        known["centres"],
        known["halves"],
        known["motions"],
        known.get("growths", np.zeros(shape)),
        rows_of_pairs(pairs, shape[0]),
    )


@overload
def swept_bounds(
    centre: Sequence[float],
    half: Sequence[float],
    motion: Sequence[float],
    growth: Sequence[float] | None = None,
) -> tuple[Vector, Vector]: ...
@overload
def swept_bounds(
    centre: ArrayLike, half: ArrayLike, motion: ArrayLike, growth: ArrayLike | None = None
) -> tuple[Any, Any]: ...
def swept_bounds(
    centre: ArrayLike, half: ArrayLike, motion: ArrayLike, growth: ArrayLike | None = None
) -> tuple[Any, Any]:
    """Return the box around all that a moving box covers in the step.

    That is the union of the box at the start and the box at the end.

    Parameters
    ----------
    centre, half, motion : sequence of float (dim,) or float64 (n, dim)
        Centre and half sizes at the start of the step, and how far the centre
        moves in it, in world units.
    growth : sequence of float (dim,) or float64 (n, dim), optional
        The change of the half sizes in the step.  A half size that it would
        take below 0 ends at 0.

    Returns
    -------
    min, max : tuple of float, or float64 (n, dim) where an argument is an array

    Raises
    ------
    ValueError
        A number is not finite or beyond 2**500, a half size is negative, or
        the shapes do not fit.

    Examples
    --------
    >>> swept_bounds((0, 0), (1, 1), (5, -3))
    ((-1.0, -4.0), (6.0, 1.0))
    """
    arrays = {"centre": centre, "half": half, "motion": motion}
    if growth is not None:
        arrays["growth"] = growth
    known = same_axes(**arrays)
    refuse_negative("half", known["half"])
    centres, halves, motions, *growths = rows_together(known)
    ends = centres + motions
    end_halves = np.maximum(halves + growths[0], 0.0) if growths else halves
    lower = np.minimum(centres - halves, ends - end_halves) + 0.0
    upper = np.maximum(centres + halves, ends + end_halves) + 0.0
    if lower.ndim > 1:
        return lower, upper
    return tuple(lower.tolist()), tuple(upper.tolist())


def _swept(
    centres: Floats,
    halves: Floats,
    motions: Floats,
    growths: Floats,
    pairs: NDArray[np.int64],
) -> SweepBatch:
    """Run the kernel over checked arrays."""
    n_pairs = len(pairs)
    kind, axis, sign, corner = (np.zeros(n_pairs, np.int8) for _ in range(4))
    time, enter, exit, depth = (np.zeros(n_pairs) for _ in range(4))
    read: list[NDArray[Any]] = [centres, halves, motions, np.maximum(growths, -halves), pairs]
    written: list[NDArray[Any]] = [kind, axis, sign, corner, time, enter, exit, depth]
    backend.kernels.sweep.sweep_pairs(*(array.data for array in (*read, *written)))
    return SweepBatch(
        kind, time, enter, exit, axis, sign, corner.view(np.bool_), depth, pairs, centres, motions
    )
