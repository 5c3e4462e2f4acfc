"""Virial coefficients of parallel hard lines, squares and cubes, as exact fractions.

The compressibility factor of a fluid of N boxes in a volume V is a series in the packing fraction:
Z = PV / NkT = 1 + B2 eta + B3 eta**2 + ...  Mayer and Mayer (Statistical Mechanics, 1940) write
B_n as a sum over all biconnected graphs of n labelled vertices,

    B_n = -(n - 1) / n! * sum over graphs of (-1)**edges * I(graph)

where I is the volume of all places of n boxes, the first one at the origin, at which each edge
joins two boxes that overlap.  Boxes overlap if their centres are less than one side apart on every
axis, so I is the volume for lines, to the power of the dimension (Zwanzig 1956).

I for lines is counted.  Let the centres be sorted, x1 < x2 < ..., each gap below 1.  Then the
fractional parts of x2 - x1, x3 - x1, ... are independent and uniform, and their order alone
decides which centres are less than 1 apart.  Each of the (n - 1)! orders therefore
has the volume 1 / (n - 1)!, and each permutation of the labels is one way to sort the centres.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

LARGEST = 7  # n of the last coefficient: there are 2**21 graphs of 7 vertices, and 2**28 of 8


@cache
def coefficients(dim: int, n_max: int = LARGEST) -> tuple[Fraction, ...]:
    """Return B_1 to B_n_max in units of the volume of a box.

    Parameters
    ----------
    dim : int
        1 for lines, 2 for squares, 3 for cubes; any other positive number works too.
    n_max : int
        From 1 to 7.  7 takes about a second, 6 a hundredth of that.
    """
    if not 1 <= n_max <= LARGEST:
        raise ValueError(f"n_max={n_max} must be from 1 to {LARGEST}")
    return (Fraction(1), *(_coefficient(n, dim) for n in range(2, n_max + 1)))


def series(packing: float, terms: Sequence[Fraction]) -> float:
    """Return the compressibility factor of a series that ends after the given coefficients."""
    return float(sum(float(term) * packing**power for power, term in enumerate(terms)))


def free_volume(packing: float, dim: int) -> float:
    """Return the compressibility factor of the cell model; for lines it is exact (Tonks 1936)."""
    return float(1.0 / (1.0 - packing ** (1.0 / dim)))


def _coefficient(n: int, dim: int) -> Fraction:
    total = sum(
        signs * Fraction(volume, factorial(n - 1)) ** dim for volume, signs in _graphs(n).items()
    )
    return Fraction(-(n - 1), factorial(n)) * total


@cache
def _graphs(n: int) -> dict[int, int]:
    """Return the sum of (-1)**edges over all biconnected graphs of each volume for lines.

    The volumes are in units of 1 / (n - 1)!.
    """
    volumes = _volumes(n)
    graphs = np.arange(len(volumes))
    graphs = graphs[_is_biconnected(graphs, n)]
    signs = np.ones(len(graphs), np.int64)
    for edge in range(n * (n - 1) // 2):
        signs *= 1 - 2 * ((graphs >> edge) & 1)
    values, which = np.unique(volumes[graphs], return_inverse=True)
    signs = np.bincount(which.ravel(), weights=signs)
    return {int(volume): round(sign) for volume, sign in zip(values, signs, strict=True)}


def _volumes(n: int) -> NDArray[np.int64]:
    """Return I of each graph for lines; bit k of a graph is the k-th pair of its vertices."""
    edges = _edges(n)
    labels = np.array(list(permutations(range(n))))
    volumes = np.zeros(2 ** (n * (n - 1) // 2), np.int64)
    for pairs, weight in _orders(n).items():
        graphs = np.zeros(len(labels), np.int64)
        for i, j in pairs:
            graphs += 1 << edges[labels[:, i], labels[:, j]]
        np.add.at(volumes, graphs, weight)
    for edge in range(n * (n - 1) // 2):  # each graph gets the sum over all graphs that contain it
        halves = volumes.reshape(-1, 2, 1 << edge)
        halves[:, 0] += halves[:, 1]
    return volumes


def _orders(n: int) -> Counter[tuple[tuple[int, int], ...]]:
    """Return how many orders of the fractional parts make each set of sorted lines overlap."""
    found: Counter[tuple[tuple[int, int], ...]] = Counter()
    for order in permutations(range(1, n)):
        ranks = (0, *order)
        wholes = [0]
        for earlier, later in pairwise(ranks):
            wholes.append(wholes[-1] + (later < earlier))
        found[
            tuple(
                (i, j)
                for i, j in combinations(range(n), 2)
                if wholes[j] == wholes[i] or (wholes[j] == wholes[i] + 1 and ranks[j] < ranks[i])
            )
        ] += 1
    return found


def _edges(n: int) -> NDArray[np.int64]:
    """Return the number of each pair of vertices, shape (n, n)."""
    numbers = np.zeros((n, n), np.int64)
    for number, (i, j) in enumerate(combinations(range(n), 2)):
        numbers[i, j] = numbers[j, i] = number
    return numbers


def _is_biconnected(graphs: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Return whether each graph is connected, and stays so without any one of its vertices."""
    edges = _edges(n)
    neighbours = np.zeros((n, len(graphs)), np.uint8)
    for i, j in combinations(range(n), 2):
        joined = ((graphs >> edges[i, j]) & 1).astype(np.uint8)
        neighbours[i] |= joined << j
        neighbours[j] |= joined << i
    everything = (1 << n) - 1
    whole = np.ones(len(graphs), np.bool_)
    for skipped in (None, *range(n)) if n > 2 else (None,):
        wanted = everything if skipped is None else everything & ~(1 << skipped)
        start = 1 if skipped == 0 else 0
        reached = np.full(len(graphs), 1 << start, np.uint8)
        for _ in range(n - 1):
            for vertex in range(n):
                reached |= np.where((reached >> vertex) & 1, neighbours[vertex], 0).astype(
                    np.uint8
                ) & np.uint8(wanted)
        whole &= reached == wanted
    return whole
