# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The next impact of each pair, the earliest first.

The key is (time, corner, lower id, higher id): no two pairs share one, so the
order is the same whatever order the pairs came in.  Corner impacts come after
all others of their instant; without this a box aimed at the seam of two tiles
would catch on it.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

from ecs_collide._kernels._memory import BYTE, DOUBLE, LONG, grown, zeros


@cython.cclass
class Queue:
    """A binary heap of pairs that knows where each pair is in it.

    Pairs are small ints; each is in the heap once or not at all.  `low` and
    `high` hold the entity ids of a pair and are filled by the owner.
    """

    def __init__(self):
        self.size = 0
        self.time = zeros(DOUBLE, 16)
        self.corner = zeros(BYTE, 16)
        self.low = zeros(LONG, 16)
        self.high = zeros(LONG, 16)
        self.place = zeros(LONG, 16)
        self.heap = zeros(LONG, 16)

    @cython.cfunc
    def grow(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for pairs 0 to `n_pairs` - 1."""
        self.time = grown(self.time, n_pairs)
        self.corner = grown(self.corner, n_pairs)
        self.low = grown(self.low, n_pairs)
        self.high = grown(self.high, n_pairs)
        self.place = grown(self.place, n_pairs)
        self.heap = grown(self.heap, n_pairs)

    @cython.cfunc
    @cython.exceptval(check=False)
    def clear(self) -> cython.void:
        """Take out all pairs."""
        n: cython.Py_ssize_t

        for n in range(self.size):
            self.place[self.heap[n]] = 0
        self.size = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def holds(self, pair: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a pair is queued."""
        return self.place[pair] > 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def top(self) -> cython.Py_ssize_t:
        """Return the pair with the least key, or -1 when none is left."""
        if self.size == 0:
            return -1
        return self.heap[0]

    @cython.cfunc
    @cython.exceptval(check=False)
    def put(self, pair: cython.Py_ssize_t, time: cython.double, corner: cython.int) -> cython.void:
        """Queue a pair, or give a queued one a new time.  O(log n)."""
        self.drop(pair)
        self.time[pair] = time
        self.corner[pair] = corner
        self.heap[self.size] = pair
        self.size += 1
        self.place[pair] = self.size
        self._rise(self.size - 1)

    @cython.cfunc
    @cython.exceptval(check=False)
    def drop(self, pair: cython.Py_ssize_t) -> cython.void:
        """Take a pair out if it is queued.  O(log n)."""
        hole: cython.Py_ssize_t = self.place[pair] - 1  # places count from 1; 0 is outside
        last: cython.Py_ssize_t

        if hole < 0:
            return
        self.place[pair] = 0
        self.size -= 1
        if hole == self.size:
            return
        last = self.heap[self.size]
        self.heap[hole] = last
        self.place[last] = hole + 1
        self._rise(hole)
        self._sink(self.place[last] - 1)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _before(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        if self.time[one] != self.time[other]:
            return self.time[one] < self.time[other]
        if self.corner[one] != self.corner[other]:
            return self.corner[one] < self.corner[other]
        if self.low[one] != self.low[other]:
            return self.low[one] < self.low[other]
        return self.high[one] < self.high[other]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _rise(self, place: cython.Py_ssize_t) -> cython.void:
        pair: cython.Py_ssize_t = self.heap[place]
        above: cython.Py_ssize_t

        while place > 0:
            above = (place - 1) >> 1
            if not self._before(pair, self.heap[above]):
                break
            self.heap[place] = self.heap[above]
            self.place[self.heap[place]] = place + 1
            place = above
        self.heap[place] = pair
        self.place[pair] = place + 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _sink(self, place: cython.Py_ssize_t) -> cython.void:
        pair: cython.Py_ssize_t = self.heap[place]
        below: cython.Py_ssize_t

        while True:
            below = 2 * place + 1
            if below >= self.size:
                break
            if below + 1 < self.size and self._before(self.heap[below + 1], self.heap[below]):
                below += 1
            if not self._before(self.heap[below], pair):
                break
            self.heap[place] = self.heap[below]
            self.place[self.heap[place]] = place + 1
            place = below
        self.heap[place] = pair
        self.place[pair] = place + 1
