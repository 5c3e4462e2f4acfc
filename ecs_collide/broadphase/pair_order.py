"""A list of pairs, sorted by a number and then by the places of their bodies.

The order does not depend on the ids of the bodies, nor on the order in which the tree finds pairs.
"""

from __future__ import annotations

from ecs_collide._kernel import ReadOnly, cython, may_raise
from ecs_collide._kernel.arrays import DOUBLE, INT, grown, zeros
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies


@cython.final
class PairOrder:
    """Pairs with a key each, in ascending order of the keys after `sort`."""

    bodies: Bodies
    table: PairTable
    n: ReadOnly[cython.Py_ssize_t]
    pairs: ReadOnly[cython.int[::1]]
    keys: cython.double[::1]
    spare_pairs: cython.int[::1]
    spare_keys: cython.double[::1]

    def __init__(self, bodies: Bodies, table: PairTable):
        self.bodies = bodies
        self.table = table
        self.n = 0
        self.pairs = zeros(INT, 16)
        self.keys = zeros(DOUBLE, 16)
        self.spare_pairs = zeros(INT, 16)
        self.spare_keys = zeros(DOUBLE, 16)

    def clear(self) -> cython.void:
        """Remove all pairs."""
        self.n = 0

    @may_raise
    def add(self, p: cython.Py_ssize_t, key: cython.double) -> cython.void:
        """Add a pair."""
        if self.n == self.spare_pairs.shape[0]:
            self.pairs = grown(self.pairs, 2 * self.n)
            self.keys = grown(self.keys, 2 * self.n)
            self.spare_keys = grown(self.spare_keys, 2 * self.n)
            self.spare_pairs = grown(self.spare_pairs, 2 * self.n)  # last: its length is the room
        self.pairs[self.n] = p
        self.keys[self.n] = key
        self.n += 1

    def sort(self) -> cython.void:
        """Sort the pairs by merging sorted runs; a run that is sorted already is only copied."""
        size: cython.Py_ssize_t = 1
        start: cython.Py_ssize_t

        while size < self.n:
            start = 0
            while start < self.n:
                self._merge(start, min(start + size, self.n), min(start + 2 * size, self.n))
                start += 2 * size
            self.pairs, self.spare_pairs = self.spare_pairs, self.pairs
            self.keys, self.spare_keys = self.spare_keys, self.keys
            size *= 2

    def _merge(
        self, start: cython.Py_ssize_t, middle: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.void:
        """Merge two sorted runs into the spare lists."""
        one: cython.Py_ssize_t = start
        other: cython.Py_ssize_t = middle
        to: cython.Py_ssize_t
        is_sorted: cython.bint = middle == end or not self._precedes(middle, middle - 1)

        for to in range(start, end):
            if one < middle and (
                is_sorted or other == end or not self._precedes(other, one)
            ):
                self.spare_pairs[to] = self.pairs[one]
                self.spare_keys[to] = self.keys[one]
                one += 1
            else:
                self.spare_pairs[to] = self.pairs[other]
                self.spare_keys[to] = self.keys[other]
                other += 1

    @cython.cfunc
    @cython.inline
    def _precedes(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether the pair at a place comes before the pair at another one."""
        if self.keys[one] != self.keys[other]:
            return self.keys[one] < self.keys[other]
        return self.table.precedes(self.pairs[one], self.pairs[other], self.bodies)
