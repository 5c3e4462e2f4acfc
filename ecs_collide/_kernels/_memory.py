"""Zeroed arrays for the kernels, and larger copies of them.

Kernels get memoryviews: read as Python they give Python numbers, and compiled
code takes any buffer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

DOUBLE = np.dtype(np.float64)
LONG = np.dtype(np.int64)
BYTE = np.dtype(np.int8)
INT = np.dtype(np.intc)


def zeros(dtype: np.dtype[Any], *shape: int) -> memoryview:
    """Return a zeroed array of `shape` as a writable memoryview."""
    return np.zeros(shape, dtype).data


def grown(view: Any, n_rows: int) -> memoryview:
    """Return a copy of an array with its first axis lengthened to `n_rows` by zeros."""
    old = np.asarray(view)
    new = np.zeros((n_rows, *old.shape[1:]), old.dtype)
    new[: len(old)] = old
    return new.data
