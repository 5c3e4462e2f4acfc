"""A Hilbert curve through a square or a cube, as a table of turns.

The curve visits all cells of a grid and never jumps.  It is the one rule of
Hamilton and Rau-Chaplin, "Compact Hilbert indices" (2008), for any number of axes.

A *state* is how the curve goes through a cube: the corner at which it enters,
a bit for each axis, times the number of axes, and the axis along which it goes on.
"""

from __future__ import annotations

import numpy as np

from ecs_collide._kernel.arrays import INT

STATE_BITS = 8  # of an entry: how the curve goes on


def make_curve_table(dim: int) -> memoryview:
    """Return the table: where on the curve a cell is, and how it goes on in there.

    An entry stands for a state, and below it for some bits of the cell's
    number on each axis: 4 in 2D, 2 in 3D.  It holds the place of the cell along
    the curve, and below that the state in which the curve goes through it.

    Returns
    -------
    memoryview
        intc, a row.
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
    """Return the Gray code of a number; the codes of neighbours differ by one bit."""
    return number ^ number >> 1


def _rotated(bits: int, by: int, dim: int) -> int:
    """Return `dim` bits, turned to the left."""
    by %= dim
    return (bits << by | bits >> (dim - by)) & ((1 << dim) - 1)


def _rank(dim: int, state: int, corner: int) -> int:
    """Return as which of the corners of a cube the curve visits one, a bit for each axis."""
    gray = _rotated(corner ^ state // dim, dim - (state % dim + 1), dim)
    return [_gray(rank) for rank in range(1 << dim)].index(gray)


def _next_state(dim: int, state: int, rank: int) -> int:
    """Return how the curve goes through the corner that it visits as the rank-th."""
    axis = state % dim
    entry = _gray((rank - 1) // 2 * 2) if rank > 0 else 0
    ones = 0
    # The axis on which it leaves: by how many ones the rank ends, or the one before it does.
    while rank > 0 and (rank - 1 + rank % 2) >> ones & 1:
        ones += 1
    entry = state // dim ^ _rotated(entry, axis + 1, dim)
    return dim * entry + (axis + ones + 1) % dim
