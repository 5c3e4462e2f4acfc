"""Take arguments in at the border: arrays, ids and settings checked once, so that no loop needs to.

All that is refused is refused with a ValueError that names the argument, the
row and the value, and says what would be valid.
"""

from __future__ import annotations

from contextlib import suppress
from operator import index
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._kernel.constants import INF, LARGEST, MOST_PULL
from ecs_collide.components.base import shown
from ecs_collide.events import Vector, VectorLike

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


def vectors(name: str, value: ArrayLike) -> Floats:
    """Return a copy of vectors as float64; raise an error that names one that is not valid."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO":
            raise TypeError
        with np.errstate(over="ignore"):  # becomes inf, and is refused below
            numbers = np.array(array, np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}={shown(value)} must be numbers, as many in each row") from None
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
        raise ValueError(f"pairs={shown(pairs)} must be rows of two integers") from None
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


def checked_id(id: int) -> int:
    """Return an id as an int; TypeError or ValueError if it is not an integer of 64 bits."""
    try:
        number = index(id)
    except TypeError:
        raise TypeError(f"id={shown(id)} must be an integer") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"id={shown(id)} must fit into 64 bits")
    return number


def checked_ids(ids: ArrayLike) -> Integers:
    """Return ids as an int64 array; ValueError if they cannot be."""
    array = np.asarray(ids)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1 or (array.max() > 2**63 - 1):
        raise ValueError(
            f"ids must be integers of 64 bits, shape (n,); got {array.dtype}, shape {array.shape}"
        )
    return np.ascontiguousarray(array, np.int64)


def checked_number(name: str, value: float, most: float = INF) -> float:
    """Return a number from 0 to `most`, which is inf or LARGEST, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value <= most:
        rule = "within 0 ... 2**500" if most == LARGEST else "0 or more"
        raise ValueError(f"Space({name}={shown(value)}) must be a number, {rule}")
    return float(value)


def checked_count(name: str, value: int) -> int:
    """Return a whole number that is 1 or more, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**62:
        raise ValueError(f"Space({name}={shown(value)}) must be a whole number from 1 to 2**62 - 1")
    return value


def checked_switch(name: str, value: bool) -> bool:
    """Return True or False, or raise ValueError."""
    if not isinstance(value, bool):
        raise ValueError(f"Space({name}={shown(value)}) must be True or False")
    return value


def checked_gravity(gravity: VectorLike | None, dim: int) -> Vector:
    """Return an acceleration as a tuple, zeros for None; raise for an invalid one.

    Raises
    ------
    ValueError
        It is not as many finite numbers as there are axes.
    """
    if gravity is None:
        return (0.0,) * dim
    try:
        vector = tuple(float(part) + 0.0 for part in gravity)  # never -0.0
        if isinstance(gravity, str) or len(vector) != dim:
            raise ValueError
        if not all(abs(part) <= MOST_PULL for part in vector):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"Space(dim={dim}, gravity={shown(gravity)}): gravity must be {dim} numbers within "
            "-2**100 ... 2**100, in world units per second squared"
        ) from None
    return vector


def up_against(gravity: Vector, otherwise: Vector | None = None) -> Vector:
    """Return the unit vector opposite to a gravity along an axis; `otherwise` or (0, 1) if not."""
    up = tuple(-1.0 if part > 0.0 else 1.0 if part < 0.0 else 0.0 for part in gravity)
    return up if sum(map(abs, up)) == 1.0 else otherwise or (0.0, 1.0, 0.0)[: len(gravity)]
