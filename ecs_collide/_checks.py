"""Take numbers in at the border: arrays checked once, so that no loop needs to.

All that is refused is refused with a ValueError that names the argument, the
row and the value, and says what would be valid.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide.constants import LARGEST

Floats: TypeAlias = NDArray[np.float64]


def vectors(name: str, value: ArrayLike) -> Floats:
    """Return a copy of vectors as float64; raise an error that names one that is not valid."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO":
            raise TypeError
        with np.errstate(over="ignore"):  # becomes inf, and is refused below
            numbers = np.array(array, np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}={value!r} must be numbers, as many in each row") from None
    if numbers.ndim not in (1, 2) or numbers.shape[-1] not in (2, 3):
        raise ValueError(
            f"{name} must have 2 or 3 axes, as (x, y), (x, y, z) or an array of such rows; "
            f"got shape {numbers.shape}"
        )
    fine = np.abs(numbers) <= LARGEST  # not so for nan
    if not fine.all():
        _refuse(name, numbers, ~fine, "must be finite and within -2**500 ... 2**500")
    return numbers


def same_axes(**arrays: ArrayLike) -> dict[str, Floats]:
    """Return checked arrays, all 2D or all 3D."""
    known = {name: vectors(name, value) for name, value in arrays.items()}
    model, *_ = known
    dim = known[model].shape[-1]
    for name, array in known.items():
        if array.shape[-1] != dim:
            raise ValueError(
                f"{name} has {array.shape[-1]} axes and {model} has {dim}: they must be the same"
            )
    return known


def same_vectors(**arrays: ArrayLike) -> Floats:
    """Return checked single vectors, all 2D or all 3D, as the rows of one array."""
    with suppress(TypeError, ValueError):
        rows = np.array(list(arrays.values()))
        if rows.ndim == 2 and rows.shape[1] in (2, 3) and rows.dtype in (np.float64, np.int64):
            rows = rows.astype(np.float64)
            if (np.abs(rows) <= LARGEST).all():
                return rows
    # The whole array is not valid: check the vectors one by one, to name the one that is wrong.
    known = same_axes(**arrays)
    for name, array in known.items():
        if array.ndim != 1:
            raise ValueError(f"{name} must be a single vector; got shape {array.shape}")
    return np.stack(list(known.values()))


def rows_together(arrays: dict[str, Floats]) -> list[Floats]:
    """Return arrays of one shape, single vectors repeated for each row of the others."""
    lengths = {name: len(array) for name, array in arrays.items() if array.ndim > 1}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"arrays must have the same number of rows; got {told}")
    return list(np.broadcast_arrays(*arrays.values()))


def refuse_negative(name: str, halves: Floats) -> None:
    """Raise ValueError where a half size is below 0."""
    negative = halves < 0.0
    if negative.any():
        _refuse(name, halves, negative, "must be >= 0: half the size on each axis")


def refuse_reversed(low_name: str, lows: Floats, high_name: str, highs: Floats) -> None:
    """Raise ValueError where a lower corner is above its upper one."""
    lows, highs = rows_together({low_name: lows, high_name: highs})
    wrong = lows > highs
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        index = f"[{row}]" if lows.ndim > 1 else ""
        raise ValueError(
            f"{low_name}{index}={_shown(lows, row)} must not be above "
            f"{high_name}{index}={_shown(highs, row)} on any axis"
        )


def _refuse(name: str, array: Floats, wrong: NDArray[np.bool_], rule: str) -> None:
    """Raise a ValueError that shows the first wrong row."""
    row = int(np.argwhere(wrong)[0][0]) if array.ndim > 1 else 0
    index = f"[{row}]" if array.ndim > 1 else ""
    raise ValueError(f"{name}{index}={_shown(array, row)} {rule}")


def _shown(array: Floats, row: int) -> str:
    return repr(tuple((array[row] if array.ndim > 1 else array).tolist()))


def rows_of_pairs(pairs: ArrayLike, n_bodies: int) -> NDArray[np.int64]:
    """Return pairs as int64 (m, 2), all of them rows of the bodies."""
    try:
        array = np.asarray(pairs)
    except ValueError:  # rows of different lengths
        raise ValueError(f"pairs={pairs!r} must be rows of two integers") from None
    if array.size == 0:
        return np.zeros((0, 2), np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"pairs must be integers of shape (m, 2); got {array.dtype} of shape {array.shape}"
        )
    wrong = (array < 0) | (array >= n_bodies)
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        raise ValueError(
            f"pairs[{row}]={tuple(array[row].tolist())} must be rows of the {n_bodies} bodies, "
            "counted from 0"
        )
    return np.array(array, np.int64, order="C")
