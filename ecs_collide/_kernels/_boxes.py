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
    mins: cython.double[:, ::1],
    maxs: cython.double[:, ::1],
) -> None:
    """Copy box i into row rows[i] of two other arrays; -0.0 becomes 0.0."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t

    for i in range(rows.shape[0]):
        for k in range(lowers.shape[1]):
            mins[rows[i], k] = lowers[i, k] + 0.0
            maxs[rows[i], k] = uppers[i, k] + 0.0


def file_motions(
    rows: cython.longlong[::1],
    motions: cython.double[:, ::1],
    mins: cython.double[:, ::1],
    maxs: cython.double[:, ::1],
    motion: cython.double[:, ::1],
    swept_min: cython.double[:, ::1],
    swept_max: cython.double[:, ::1],
) -> None:
    """Write motion i, and the box of row rows[i] swept by it, into that row of three arrays."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.Py_ssize_t
    way: cython.double

    for i in range(rows.shape[0]):
        row = rows[i]
        for k in range(motions.shape[1]):
            way = motions[i, k]
            motion[row, k] = way
            swept_min[row, k] = mins[row, k] + min(way, 0.0)
            swept_max[row, k] = maxs[row, k] + max(way, 0.0)
