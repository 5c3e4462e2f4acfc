"""Solve symmetric linear equations whose coefficients are near the diagonal.

Each row of the matrix is stored from its first coefficient that is not 0 to the diagonal: its
*envelope*.  The factor of Cholesky fills no place outside of it (George and Liu, "Computer Solution
of Large Sparse Positive Definite Systems", 1981, chapter 4).
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython


def factorise(
    first: cython.longlong[::1], place: cython.longlong[::1], values: cython.double[::1]
) -> None:
    """Replace a positive definite matrix by its factor.  O(n * width²).

    Parameters
    ----------
    first : int64 (n,)
        The first column of each row.
    place : int64 (n,)
        The index in `values` of each diagonal coefficient; those before it in the row are before it.
    values : float64, written
    """
    for i in range(first.shape[0]):
        row: cython.Py_ssize_t = place[i] - i
        rest: cython.double = values[place[i]]
        for j in range(first[i], i):
            other: cython.Py_ssize_t = place[j] - j
            total: cython.double = values[row + j]
            for k in range(max(first[i], first[j]), j):
                total -= values[row + k] * values[other + k]
            total = total / values[place[j]]
            values[row + j] = total
            rest -= total * total
        values[place[i]] = sqrt(rest)


def solve(
    first: cython.longlong[::1],
    place: cython.longlong[::1],
    values: cython.double[::1],
    right: cython.double[::1],
) -> None:
    """Replace the right sides of equations by their solution, after `factorise`."""
    n: cython.Py_ssize_t = first.shape[0]

    for i in range(n):
        row: cython.Py_ssize_t = place[i] - i
        total: cython.double = right[i]
        for j in range(first[i], i):
            total -= values[row + j] * right[j]
        right[i] = total / values[place[i]]
    for m in range(n):
        i = n - 1 - m
        row = place[i] - i
        right[i] = right[i] / values[place[i]]
        for j in range(first[i], i):
            right[j] -= values[row + j] * right[i]
