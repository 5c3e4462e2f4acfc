"""Zeroed arrays for the kernels, and larger copies of them.

Kernels get memoryviews: read as Python they give Python numbers, and compiled
code takes any buffer.  They are `Any` to mypy, which does not know what a memoryview of
several dimensions can do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

DOUBLE = np.dtype(np.float64)
LONG = np.dtype(np.int64)
BYTE = np.dtype(np.int8)
INT = np.dtype(np.intc)


def zeros(dtype: np.dtype[Any], *shape: int) -> Any:
    """Return a zeroed array of `shape` as a writable memoryview."""
    return np.zeros(shape, dtype).data


def as_longs(numbers: list[int]) -> Any:
    """Return whole numbers as an array."""
    return np.array(numbers, LONG).data


def grown(view: Any, n_rows: int) -> Any:
    """Return a copy of an array with its first axis lengthened to `n_rows` by zeros."""
    old = np.asarray(view)
    new = np.zeros((n_rows, *old.shape[1:]), old.dtype)
    new[: len(old)] = old
    return new.data


def lengthened(block: NDArray[Any], capacity: int) -> NDArray[Any]:
    """Return a copy of columns (n_columns, n_rows, ...) with `capacity` rows; zeros follow."""
    longer: NDArray[Any] = np.zeros((len(block), capacity, *block.shape[2:]), block.dtype)
    if block.size and block.view(np.uint8).any():  # else its pages stay untouched
        longer[:, : block.shape[1]] = block
    return longer


def struct(*fields: str) -> type:
    """Return what pure Python has for a C struct: a class whose objects have these fields, all 0."""
    return type("Struct", (), dict.fromkeys(fields, 0))


def structs(kind: type, n: int) -> list[Any]:
    """Return what pure Python has for an array of structs."""
    return [kind() for _ in range(n)]


def interleaved(view: Any) -> list[Any]:
    """Return the columns of an array (n, m) apart: what is used together lies together."""
    array = np.asarray(view)
    return [array[:, column].data for column in range(array.shape[1])]


def reread(view: Any, dtype: np.dtype[Any]) -> Any:
    """Return the same memory as values of another type."""
    return np.asarray(view).view(dtype).data
