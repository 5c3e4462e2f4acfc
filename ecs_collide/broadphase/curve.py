"""A Hilbert curve through a square or a cube, as a table of turns.

The curve visits all cells of a grid without jumps.  It follows the rule of
Hamilton and Rau-Chaplin, "Compact Hilbert indices" (2008), for any number of axes.

A *state* is the way of the curve through a cube: dim * (the corner at which it enters,
a bit for each axis) + the axis along which it continues.
"""

from __future__ import annotations

import numpy as np

from ecs_collide._kernel.arrays import INT

STATE_BITS = 8  # the low bits of an entry: the next state


def make_curve_table(dim: int) -> memoryview:
    """Return the table of the place of a cell on the curve, and of the curve's state in it.

    The index is a state, and in lower bits some bits of the cell's number on
    each axis: 4 in 2D, 2 in 3D.  An entry is the place of the cell along the
    curve, and in the low `STATE_BITS` the state of the curve in the cell.

    Returns
    -------
    memoryview
        intc, one-dimensional.
    """
    n_bits = 4 if dim == 2 else 2
    corners = 1 << dim
    states = range(dim << dim)
    rank_of = np.array(
        [[_rank(dim, state, corner) for corner in range(corners)] for state in states]
    )
    next_of = np.array(
        [[_next_state(dim, state, rank) for rank in range(corners)] for state in states]
    )
    entries = np.arange(len(states) << (n_bits * dim))
    state = entries >> (n_bits * dim)
    place = np.zeros_like(entries)
    for level in reversed(range(n_bits)):
        corner = sum((entries >> (n_bits * (dim - 1 - k) + level) & 1) << k for k in range(dim))
        rank = rank_of[state, corner]
        place = place << dim | rank
        state = next_of[state, rank]
    return (place << STATE_BITS | state).astype(INT).data


def _gray(number: int) -> int:
    """Return the Gray code of a number; consecutive codes differ in one bit."""
    return number ^ number >> 1


def _rotated(bits: int, by: int, dim: int) -> int:
    """Return `dim` bits, rotated to the left."""
    by %= dim
    return (bits << by | bits >> (dim - by)) & ((1 << dim) - 1)


def _rank(dim: int, state: int, corner: int) -> int:
    """Return the rank, from 0, at which the curve visits a corner, a bit for each axis."""
    gray = _rotated(corner ^ state // dim, dim - (state % dim + 1), dim)
    return [_gray(rank) for rank in range(1 << dim)].index(gray)


def _next_state(dim: int, state: int, rank: int) -> int:
    """Return the state of the curve in the corner that it visits at a rank."""
    axis = state % dim
    entry = _gray((rank - 1) // 2 * 2) if rank > 0 else 0
    ones = 0
    # The axis on which it leaves follows from the trailing ones of the rank or of rank - 1.
    while rank > 0 and (rank - 1 + rank % 2) >> ones & 1:
        ones += 1
    entry = state // dim ^ _rotated(entry, axis + 1, dim)
    return dim * entry + (axis + ones + 1) % dim
