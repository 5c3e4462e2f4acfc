"""Columns of events as bytes, and rows of `events.collision_dtype` without gaps.

Compiled kernels take the functions from `narrowphase/packed.h`.
"""

from __future__ import annotations

from typing import Any


def packed_rows(numbers: Any, codes: Any, n: int, width: int, n_first: int) -> bytes:
    """Return n rows as bytes: `n_first` numbers, a code, the rest of `width` numbers, a code."""
    numbers, codes = numbers.cast("B"), codes.cast("B")
    parts = []
    for row in range(n):
        start, middle, end = (8 * (row * width + k) for k in (0, n_first, width))
        parts += [numbers[start:middle], codes[2 * row : 2 * row + 1]]
        parts += [numbers[middle:end], codes[2 * row + 1 : 2 * row + 2]]
    return b"".join(parts)


def bytes_of(array: Any, n: int) -> bytes:
    """Return the first n bytes of an array."""
    found: bytes = array.cast("B")[:n].tobytes()
    return found
