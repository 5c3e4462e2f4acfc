"""A priority queue of the next impact of each pair: a binary heap.

The key is (time, rank, lower id, higher id, image): no two pairs share one, so the
order is the same whatever order the pairs came in.  Of one instant the impacts of faces come
first (rank 0), then those of corners (1): without this a box aimed at the seam of two tiles
would catch on it.  Pairs that cross come last (2): a body that is stopped by a solid one does not
enter a sensor whose face is flush with the solid one.

Invariant: `place` of a queued pair, minus 1, is its index in `heap`; it is 0 for all others.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

from ecs_collide.motion.arrays import BYTE, DOUBLE, LONG, grown, interleaved, zeros

cython.declare(NO_ID=cython.longlong)
NO_ID = (1 << 63) - 1


@cython.final
@cython.cclass
class ImpactQueue:
    """A binary heap of pairs that knows where each pair is in it.

    Pairs are small ints; each is in the heap once or not at all.  `low` and
    `high` hold the entity ids of a pair and `image` which image of the second it is; they
    are filled by the owner.  `due` and `lowest` hold the times and the lower ids in the order of
    the heap, so that nearly all comparisons look at nothing else; an impact of a rank above 0 has
    `NO_ID` there, which is larger than all ids.
    """

    def __init__(self):
        self.size = 0
        self.time = zeros(DOUBLE, 16)
        self.rank = zeros(BYTE, 16)
        self.keys = zeros(LONG, 16, 3)
        self.heap = zeros(LONG, 16)
        self.due = zeros(DOUBLE, 16)
        self.lowest = zeros(LONG, 16)
        self.image = zeros(LONG, 16)
        self.low, self.high, self.place = interleaved(self.keys)

    def grow(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for pairs 0 to `n_pairs` - 1."""
        time: cython.double[::1] = grown(self.time, n_pairs)
        rank: cython.schar[::1] = grown(self.rank, n_pairs)
        keys: cython.longlong[:, ::1] = grown(self.keys, n_pairs)
        heap: cython.longlong[::1] = grown(self.heap, n_pairs)
        due: cython.double[::1] = grown(self.due, n_pairs)
        lowest: cython.longlong[::1] = grown(self.lowest, n_pairs)
        image: cython.longlong[::1] = grown(self.image, n_pairs)
        low, high, place = interleaved(keys)

        self.time = time
        self.rank = rank
        self.heap = heap
        self.due = due
        self.lowest = lowest
        self.image = image
        self.keys = keys
        self.low, self.high, self.place = low, high, place

    def clear(self) -> cython.void:
        """Remove all pairs."""
        n: cython.Py_ssize_t

        for n in range(self.size):
            self.place[self.heap[n]] = 0
        self.size = 0

    def holds(self, pair: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair is queued."""
        return self.place[pair] > 0

    def top(self) -> cython.Py_ssize_t:
        """Return the pair with the least key, or -1 if the queue is empty."""
        if self.size == 0:
            return -1
        return self.heap[0]

    def put(self, pair: cython.Py_ssize_t, time: cython.double, rank: cython.int) -> cython.void:
        """Queue a pair, or give a queued one a new time.  O(log n)."""
        self.drop(pair)
        self.time[pair] = time
        self.rank[pair] = rank
        self.size += 1
        self._rise(self.size - 1, pair, time, self.low[pair] if rank == 0 else NO_ID)

    def drop(self, pair: cython.Py_ssize_t) -> cython.void:
        """Remove a pair if it is queued.  O(log n)."""
        hole: cython.Py_ssize_t = self.place[pair] - 1  # places count from 1; 0 is outside

        if hole < 0:
            return
        self.place[pair] = 0
        self.size -= 1
        if hole != self.size:
            last: cython.Py_ssize_t = self.size
            self._rise(self._sink(hole), self.heap[last], self.due[last], self.lowest[last])

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _put_at(
        self,
        place: cython.Py_ssize_t,
        pair: cython.Py_ssize_t,
        due: cython.double,
        lowest: cython.longlong,
    ) -> cython.void:
        self.heap[place] = pair
        self.due[place] = due
        self.lowest[place] = lowest
        self.place[pair] = place + 1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _precedes(
        self,
        due: cython.double,
        lowest: cython.longlong,
        pair: cython.Py_ssize_t,
        place: cython.Py_ssize_t,
    ) -> cython.bint:
        """Return whether a pair with this key comes before the one at a place of the heap."""
        if due != self.due[place]:
            return due < self.due[place]
        if lowest != self.lowest[place]:
            return lowest < self.lowest[place]
        return self._breaks_tie(pair, self.heap[place])

    def _breaks_tie(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether the first of two pairs of equal time comes first."""
        if self.rank[one] != self.rank[other]:
            return self.rank[one] < self.rank[other]
        if self.low[one] != self.low[other]:
            return self.low[one] < self.low[other]
        if self.high[one] != self.high[other]:
            return self.high[one] < self.high[other]
        return self.image[one] < self.image[other]  # the same two, around the world

    def _rise(
        self,
        place: cython.Py_ssize_t,
        pair: cython.Py_ssize_t,
        due: cython.double,
        lowest: cython.longlong,
    ) -> cython.void:
        """Put a pair into a hole, or further up."""
        while place > 0:
            above: cython.Py_ssize_t = (place - 1) >> 1
            if not self._precedes(due, lowest, pair, above):
                break
            self._put_at(place, self.heap[above], self.due[above], self.lowest[above])
            place = above
        self._put_at(place, pair, due, lowest)

    def _sink(self, hole: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Move a hole down to the lowest row of the heap; return where it ends.

        The pair that is to fill it comes from there, so it seldom has far to rise.
        """
        below: cython.Py_ssize_t = 2 * hole + 1

        while below < self.size:
            other: cython.Py_ssize_t = below + 1
            if other < self.size and self._precedes(
                self.due[other], self.lowest[other], self.heap[other], below
            ):
                below = other
            self._put_at(hole, self.heap[below], self.due[below], self.lowest[below])
            hole = below
            below = 2 * hole + 1
        return hole
