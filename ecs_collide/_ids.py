"""Take ids in at the border: integers of 64 bits, checked once."""

from __future__ import annotations

from operator import index
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers: TypeAlias = NDArray[np.int64]


def checked_id(id: int) -> int:
    """Return an id as an int; TypeError or ValueError if it is not an integer of 64 bits."""
    try:
        number = index(id)
    except TypeError:
        raise TypeError(f"id={id!r} must be an integer") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"id={id!r} must fit into 64 bits")
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
