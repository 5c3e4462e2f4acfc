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

from ecs_collide.motion.arrays import BYTE, grown, struct, structs, zeros

if not cython.compiled:  # what the declarations have as C structs
    Queued = struct("time", "low", "high", "image", "place", "rank")
    Entry = struct("time", "lowest", "pair")

cython.declare(NO_ID=cython.longlong)
NO_ID = (1 << 63) - 1


@cython.final
@cython.cclass
class ImpactQueue:
    """A binary heap of pairs that knows where each pair is in it.

    Pairs are small ints; each is in the heap once or not at all.

    Attributes
    ----------
    at : array of Queued
        Of each pair `low` and `high`, the entity ids, and `image`, which image of the second it
        is: these are filled by the owner.  `time` and `rank` are those with which it was queued
        last; `place` is explained above.
    heap : array of Entry
        In the order of the heap: the pair, its time, and as `lowest` its lower id, so that nearly
        all comparisons look at nothing else.  An impact of a rank above 0 has `NO_ID` there, which
        is larger than all ids.
    """

    def __init__(self):
        self.size = 0
        self.n_pairs = 0
        if cython.compiled:
            self.pair_bytes = zeros(BYTE, 0)
            self.heap_bytes = zeros(BYTE, 0)
        else:
            self.at = []
            self.heap = []
        self.grow(16)

    def grow(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for pairs 0 to `n_pairs` - 1."""
        if cython.compiled:
            pairs: cython.schar[::1] = grown(self.pair_bytes, n_pairs * cython.sizeof(Queued))
            heap: cython.schar[::1] = grown(self.heap_bytes, n_pairs * cython.sizeof(Entry))
            self.pair_bytes = pairs
            self.heap_bytes = heap
            self.at = cython.cast(cython.pointer(Queued), cython.address(pairs[0]))
            self.heap = cython.cast(cython.pointer(Entry), cython.address(heap[0]))
        else:
            self.at += structs(Queued, n_pairs - self.n_pairs)
            self.heap += structs(Entry, n_pairs - self.n_pairs)
        self.n_pairs = n_pairs

    def clear(self) -> cython.void:
        """Remove all pairs."""
        n: cython.Py_ssize_t

        for n in range(self.size):
            self.at[self.heap[n].pair].place = 0
        self.size = 0

    def holds(self, pair: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair is queued."""
        return self.at[pair].place > 0

    def is_due(self, pair: cython.Py_ssize_t, now: cython.double) -> cython.bint:
        """Return whether a pair is queued for this time."""
        return self.at[pair].place > 0 and self.at[pair].time == now

    def top(self) -> cython.Py_ssize_t:
        """Return the pair with the least key, or -1 if the queue is empty."""
        if self.size == 0:
            return -1
        return self.heap[0].pair

    def put(self, pair: cython.Py_ssize_t, time: cython.double, rank: cython.int) -> cython.void:
        """Queue a pair, or give a queued one a new time.  O(log n)."""
        self.drop(pair)
        self.at[pair].time = time
        self.at[pair].rank = rank
        self.size += 1
        self._rise(self.size - 1, pair, time, self.at[pair].low if rank == 0 else NO_ID)

    def drop(self, pair: cython.Py_ssize_t) -> cython.void:
        """Remove a pair if it is queued.  O(log n)."""
        hole: cython.Py_ssize_t = self.at[pair].place - 1  # places count from 1; 0 is outside

        if hole < 0:
            return
        self.at[pair].place = 0
        self.size -= 1
        if hole != self.size:
            last: cython.Py_ssize_t = self.size
            self._rise(
                self._sink(hole), self.heap[last].pair, self.heap[last].time, self.heap[last].lowest
            )

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _put_at(
        self,
        place: cython.Py_ssize_t,
        pair: cython.Py_ssize_t,
        time: cython.double,
        lowest: cython.longlong,
    ) -> cython.void:
        self.heap[place].pair = pair
        self.heap[place].time = time
        self.heap[place].lowest = lowest
        self.at[pair].place = place + 1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _precedes(
        self,
        time: cython.double,
        lowest: cython.longlong,
        pair: cython.Py_ssize_t,
        place: cython.Py_ssize_t,
    ) -> cython.bint:
        """Return whether a pair with this key comes before the one at a place of the heap."""
        if time != self.heap[place].time:
            return time < self.heap[place].time
        if lowest != self.heap[place].lowest:
            return lowest < self.heap[place].lowest
        return self._breaks_tie(pair, self.heap[place].pair)

    def _breaks_tie(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether the first of two pairs of equal time comes first."""
        if self.at[one].rank != self.at[other].rank:
            return self.at[one].rank < self.at[other].rank
        if self.at[one].low != self.at[other].low:
            return self.at[one].low < self.at[other].low
        if self.at[one].high != self.at[other].high:
            return self.at[one].high < self.at[other].high
        return self.at[one].image < self.at[other].image  # the same two, around the world

    def _rise(
        self,
        place: cython.Py_ssize_t,
        pair: cython.Py_ssize_t,
        time: cython.double,
        lowest: cython.longlong,
    ) -> cython.void:
        """Put a pair into a hole, or further up."""
        while place > 0:
            above: cython.Py_ssize_t = (place - 1) >> 1
            if not self._precedes(time, lowest, pair, above):
                break
            self._put_at(
                place, self.heap[above].pair, self.heap[above].time, self.heap[above].lowest
            )
            place = above
        self._put_at(place, pair, time, lowest)

    def _sink(self, hole: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Move a hole down to the lowest row of the heap; return where it ends.

        The pair that is to fill it comes from there, so it seldom has far to rise.
        """
        below: cython.Py_ssize_t = 2 * hole + 1

        while below < self.size:
            if below + 1 < self.size:
                # No branch: the processor would guess wrongly at every other row.
                below += self._precedes(
                    self.heap[below + 1].time,
                    self.heap[below + 1].lowest,
                    self.heap[below + 1].pair,
                    below,
                )
            self._put_at(
                hole, self.heap[below].pair, self.heap[below].time, self.heap[below].lowest
            )
            hole = below
            below = 2 * hole + 1
        return hole
