"""The first few of many items, by a key and of equal keys by id.

A heap with the worst item on top: one comparison shows whether an item is among the best.
"""

from __future__ import annotations

from ecs_collide._kernel import cython, may_raise
from ecs_collide._kernel.arrays import DOUBLE, LONG, grown, zeros

UNLIMITED: cython.Py_ssize_t = (
    2**30
)  # more items than two trees hold; an index has 32 bits on wasm32
LARGEST_DOUBLE = 2.0**1023 * (2.0 - 2.0**-52)


@cython.final
class KBestHeap:
    """The first few of the items that are offered."""

    # float64 and int64: the first `n` are valid; in order after `sort`
    keys: cython.double[::1]
    items: cython.longlong[::1]
    n: cython.Py_ssize_t  # number of items
    limit: cython.Py_ssize_t
    bound: cython.double  # items with greater keys are not kept; never inf
    ids: cython.p_longlong

    def __init__(self) -> None:
        self.keys = zeros(DOUBLE, 8)
        self.items = zeros(LONG, 8)
        self.n = self.limit = 0
        self.bound = 0.0

    def begin(
        self, limit: cython.Py_ssize_t, bound: cython.double, ids: cython.p_longlong
    ) -> cython.void:
        """Keep the first `limit` items, 0 for all, with keys up to `bound`; `ids` break ties."""
        self.ids = ids
        self.n = 0
        self.limit = UNLIMITED if limit == 0 else limit
        self.bound = min(bound, LARGEST_DOUBLE)

    @may_raise
    def offer(self, key: cython.double, item: cython.longlong) -> cython.int:
        """Keep an item if it is among the first."""
        if self.n == self.limit:
            if self._is_before(key, item, 0):
                self._sink(key, item, self.n)
                self.bound = self.keys[0]
            return 0
        if self.n == self.keys.shape[0]:
            # The keys last: their length is the room there is.
            self.items = grown(self.items, 2 * self.n)
            self.keys = grown(self.keys, 2 * self.n)
        i: cython.Py_ssize_t = self.n
        self.n += 1
        while i > 0:
            parent: cython.Py_ssize_t = (i - 1) >> 1
            if self._is_before(key, item, parent):
                break
            self.keys[i] = self.keys[parent]
            self.items[i] = self.items[parent]
            i = parent
        self.keys[i] = key
        self.items[i] = item
        if self.n == self.limit:
            self.bound = self.keys[0]
        return 0

    def _is_before(
        self, key: cython.double, item: cython.longlong, i: cython.Py_ssize_t
    ) -> cython.bint:
        """Return whether an item comes before that at `i`."""
        if key != self.keys[i]:
            return key < self.keys[i]
        return self.ids[item] < self.ids[self.items[i]]

    def _sink(self, key: cython.double, item: cython.longlong, n: cython.Py_ssize_t) -> cython.void:
        """Replace the worst of the first `n` by another item."""
        i: cython.Py_ssize_t = 0
        child: cython.Py_ssize_t = 1

        while child < n:
            if child + 1 < n and self._is_before(self.keys[child], self.items[child], child + 1):
                child += 1
            if not self._is_before(key, item, child):
                break
            self.keys[i] = self.keys[child]
            self.items[i] = self.items[child]
            i = child
            child = 2 * i + 1
        self.keys[i] = key
        self.items[i] = item

    def sort(self) -> cython.void:
        """Sort the items that are kept."""
        i: cython.Py_ssize_t = self.n - 1

        while i > 0:
            key: cython.double = self.keys[i]
            item: cython.longlong = self.items[i]
            self.keys[i] = self.keys[0]
            self.items[i] = self.items[0]
            self._sink(key, item, i)
            i -= 1
