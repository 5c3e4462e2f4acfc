# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Take many boxes in at once: checked, and filed by row."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

cython.declare(LARGEST=cython.double)
LARGEST = 2.0**500  # as in _numbers


def are_fine(lowers: cython.double[:, ::1], uppers: cython.double[:, ::1]) -> bool:
    """Tell whether all boxes are finite, not too large, and no lower corner is above the upper."""
    n: cython.Py_ssize_t = lowers.shape[0]
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    fine: cython.bint = True

    for i in range(n):
        for k in range(lowers.shape[1]):
            fine &= (
                (lowers[i, k] >= -LARGEST)
                & (lowers[i, k] <= uppers[i, k])
                & (uppers[i, k] <= LARGEST)
            )
    return bool(fine)


def file_boxes(
    rows: cython.longlong[::1],
    lowers: cython.double[:, ::1],
    uppers: cython.double[:, ::1],
    motions: cython.double[:, ::1],
    mins: cython.double[:, ::1],
    maxs: cython.double[:, ::1],
    motion: cython.double[:, ::1],
    changed: cython.longlong[::1],
) -> int:
    """Copy box and motion i into row rows[i] of the columns; -0.0 becomes 0.0.

    Without any row in `motions` nothing moves.  Writes into `changed` the rows
    in which that makes a difference, and returns their number.
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    n: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t
    way: cython.double = 0.0
    same: cython.bint

    for i in range(rows.shape[0]):
        row = rows[i]
        same = True
        for k in range(lowers.shape[1]):
            if motions.shape[0] > 0:
                way = motions[i, k]
            same &= (
                (mins[row, k] == lowers[i, k])
                & (maxs[row, k] == uppers[i, k])
                & (motion[row, k] == way)
            )
            mins[row, k] = lowers[i, k] + 0.0
            maxs[row, k] = uppers[i, k] + 0.0
            motion[row, k] = way
        changed[n] = row
        n += not same
    return n
