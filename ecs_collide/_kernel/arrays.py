"""Zeroed arrays for the kernels, copies of arrays, and sets of whole numbers.

The set functions of numpy 2 import `numpy.ma` at their first call, which takes longer than a
frame.  Some do so only for numbers that lie far apart.  No step calls them.

Kernels get memoryviews.  In pure Python their elements are Python numbers, and compiled code takes
any buffer.  They are `Any` to mypy, which does not know memoryviews of several dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

DOUBLE = np.dtype(np.float64)
LONG = np.dtype(np.int64)
BYTE = np.dtype(np.int8)
SHORT = np.dtype(np.int16)
INT = np.dtype(np.intc)
INDEX = np.dtype(np.intp)


def zeros(dtype: np.dtype[Any], *shape: int) -> Any:
    """Return a zeroed array of `shape` as a writable memoryview."""
    return np.zeros(shape, dtype).data


def as_longs(numbers: list[int]) -> Any:
    """Return whole numbers as an array."""
    return np.array(numbers, LONG).data


def nones(n: int) -> Any:
    """Return an int64 array of -1, which stands for no row and no place, as a memoryview."""
    return np.full(n, -1, LONG).data


def grown(view: Any, n_rows: int, fill: int = 0, n_kept: int | None = None) -> Any:
    """Return a copy of an array with its first axis lengthened to `n_rows` by zeros, or `fill`.

    With `n_kept` only the first rows are copied.  The pages of the others stay untouched.
    """
    old = np.asarray(view)[:n_kept]
    shape = (n_rows, *old.shape[1:])
    new = np.full(shape, fill, old.dtype) if fill else np.zeros(shape, old.dtype)
    new[: len(old)] = old
    return new.data


def lengthened(block: NDArray[Any], capacity: int, fill: int = 0) -> NDArray[Any]:
    """Return a copy of columns (n_columns, n_rows, ...) with `capacity` rows.

    The other rows hold `fill`, or zeros while all columns do.
    """
    longer: NDArray[Any] = np.zeros((len(block), capacity, *block.shape[2:]), block.dtype)
    if block.size and block.view(np.uint8).any():  # else its pages stay untouched
        if fill:
            longer[...] = fill
        longer[:, : block.shape[1]] = block
    return longer


def structs(kind: type, n: int) -> list[Any]:
    """Return a list of structs, the pure Python form of an array of structs."""
    return [kind() for _ in range(n)]


def interleaved(view: Any) -> list[Any]:
    """Return the columns of an array (n, m) as separate views of interleaved memory."""
    array = np.asarray(view)
    return [array[:, column].data for column in range(array.shape[1])]


def reread(view: Any, dtype: np.dtype[Any]) -> Any:
    """Return the same memory as values of another type."""
    return np.asarray(view).view(dtype).data


def take_rows(values: NDArray[Any], rows: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """Return a copy of some rows of an array, as ``values[rows]`` but up to 12 times faster.

    In a 32-bit Python, `ndarray.take` of numpy before 2.2 refuses indices of 64 bits.
    """
    return values.take(rows if rows.dtype is INDEX else rows.astype(INDEX), axis=0)


def union(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of two arrays in ascending order, each once."""
    numbers = np.sort(np.concatenate([first, second]))
    return numbers[_is_first(numbers)]


def are_among(numbers: NDArray[np.int64], members: Sequence[int] | NDArray[np.int64]) -> Any:
    """Return for each number whether it is one of `members`: bool, shape (n,)."""
    if len(members) == 0:
        return np.zeros(len(numbers), np.bool_)
    known = np.sort(np.asarray(members, np.int64))
    return known[np.minimum(np.searchsorted(known, numbers), len(known) - 1)] == numbers


def first_of_each(numbers: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return for each number the least index with the same number: shape (n,)."""
    order = np.argsort(numbers, kind="stable")
    is_first = _is_first(numbers[order])
    found = np.empty(len(numbers), np.intp)
    found[order] = order[is_first][np.cumsum(is_first) - 1]
    return found


def _is_first(ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each number whether it differs from the one before it."""
    is_first = np.ones(len(ordered), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return is_first
