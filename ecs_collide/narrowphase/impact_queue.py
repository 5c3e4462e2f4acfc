"""A priority queue of the next impact of each pair: a binary heap, and a list for time 0.

The key is (time, rank, lower id, higher id, image).  No two pairs share one, so the order of the
pairs has no effect.  At one instant impacts of faces come first, and those that rebound, or that the
game resolves, after all others.  Then come impacts of corners, so that a box aimed at the seam of two
tiles does not catch on it.  Pairs that cross come last, so that a body that is stopped by a solid one
does not enter a sensor flush with its face.

In a crowd nearly all impacts are due at time 0, and are queued before the first is taken.  They go
into a separate list, which a radix sort orders once, so that taking one is O(1).

Invariant: `place` of a queued pair is its index in `heap` or `due`, as `where` says.
"""

from __future__ import annotations

from ecs_collide._kernel import IntEnum, Public, cython, may_raise, struct
from ecs_collide._kernel.arrays import BYTE, LONG, grown, structs, zeros

NO_ID: cython.longlong = (1 << 63) - 1
FEW: cython.Py_ssize_t = 64  # up to this number, insertion sort alone
DIGIT = 11  # bits of an id that a pass of the radix sort uses
N_DIGITS: cython.Py_ssize_t = 1 << DIGIT


# The ranks.
FACE = 0
REBOUND = 1  # a face whose pair is resolved by itself
CORNER = 2
CROSSES = 3  # the pair enters or leaves


class Where(IntEnum):
    """The part of the queue that a pair is in."""

    NOWHERE = 0  # not queued; 0, as in the zeroed memory of a new pair
    HEAP = 1  # in `heap`
    DUE = 2  # in `due`


@struct
class Queued:
    """A pair in the queue: its key and its place."""

    time: cython.double
    low: cython.longlong
    high: cython.longlong
    image: cython.longlong
    place: cython.int
    rank: cython.schar
    where: cython.schar


@struct
class Entry:
    """An element of the heap or of the list `due`."""

    time: cython.double
    lowest: cython.longlong
    pair: cython.longlong


@cython.final
class ImpactQueue:
    """A priority queue of pairs that knows the place of each pair.

    Pairs are small ints; each is queued at most once.
    """

    size: Public[cython.Py_ssize_t]  # number of queued pairs
    n_pairs: cython.Py_ssize_t
    n_heap: cython.Py_ssize_t
    n_due: cython.Py_ssize_t
    front: cython.Py_ssize_t
    is_sorted: cython.bint
    counts: cython.longlong[::1]
    pair_bytes: cython.schar[::1]
    heap_bytes: cython.schar[::1]
    due_bytes: cython.schar[::1]
    spare_bytes: cython.schar[::1]
    # array of Queued: by pair.  The owner fills `low` and `high`, the entity ids, and `image`, the
    # image of the second body.  `time` and `rank` are set by `put`; `where` is a code of `Where`
    at: cython.pointer[Queued]
    # array of Entry: the heap.  `lowest` is the lower id of the pair, so that nearly all
    # comparisons read nothing else.  For a rank above 0 it is `NO_ID`, which exceeds all ids
    heap: cython.pointer[Entry]
    # array of Entry: pairs queued for time 0 at rank 0 before the first `top`, which sorts them.
    # From then on the list starts at `front`, and a dropped entry has a pair below 0
    due: cython.pointer[Entry]
    spare: cython.pointer[Entry]

    def __init__(self):
        self.n_pairs = 0
        self.size = self.n_heap = self.n_due = self.front = 0
        self.is_sorted = False
        self.counts = zeros(LONG, N_DIGITS)
        if cython.compiled:
            self.pair_bytes = zeros(BYTE, 0)
            self.heap_bytes = zeros(BYTE, 0)
            self.due_bytes = zeros(BYTE, 0)
            self.spare_bytes = zeros(BYTE, 0)
        else:
            self.at = []
            self.heap = []
            self.due = []
            self.spare = []
        self.grow(16)

    @may_raise
    def grow(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for pairs 0 to `n_pairs` - 1."""
        if cython.compiled:
            pairs: cython.schar[::1] = grown(self.pair_bytes, n_pairs * cython.sizeof(Queued))
            size: cython.Py_ssize_t = cython.sizeof(Entry)
            heap: cython.schar[::1] = grown(
                self.heap_bytes, n_pairs * size, n_kept=self.n_heap * size
            )
            due: cython.schar[::1] = grown(self.due_bytes, n_pairs * size, n_kept=self.n_due * size)
            spare: cython.schar[::1] = grown(self.spare_bytes, n_pairs * size, n_kept=0)
            self.pair_bytes = pairs
            self.heap_bytes = heap
            self.due_bytes = due
            self.spare_bytes = spare
            self.at = cython.cast(cython.pointer(Queued), cython.address(pairs[0]))
            self.heap = cython.cast(cython.pointer(Entry), cython.address(heap[0]))
            self.due = cython.cast(cython.pointer(Entry), cython.address(due[0]))
            self.spare = cython.cast(cython.pointer(Entry), cython.address(spare[0]))
        else:
            self.at += structs(Queued, n_pairs - self.n_pairs)
            self.heap += structs(Entry, n_pairs - self.n_pairs)
            self.due += structs(Entry, n_pairs - self.n_pairs)
            self.spare += structs(Entry, n_pairs - self.n_pairs)
        self.n_pairs = n_pairs

    def clear(self) -> cython.void:
        """Remove all pairs."""
        n: cython.Py_ssize_t

        for n in range(self.n_heap):
            self.at[self.heap[n].pair].where = Where.NOWHERE
        for n in range(self.front, self.n_due):
            if self.due[n].pair >= 0:
                self.at[self.due[n].pair].where = Where.NOWHERE
        self.size = self.n_heap = self.n_due = self.front = 0
        self.is_sorted = False

    def holds(self, pair: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair is queued."""
        return self.at[pair].where != Where.NOWHERE

    def is_due(self, pair: cython.Py_ssize_t, now: cython.double) -> cython.bint:
        """Return whether a pair is queued for the time `now`."""
        return self.at[pair].where != Where.NOWHERE and self.at[pair].time == now

    def top(self) -> cython.Py_ssize_t:
        """Return the pair with the least key, or -1 if the queue is empty."""
        if not self.is_sorted:
            self._sort()
        if self.front == self.n_due:
            return self.heap[0].pair if self.n_heap else -1
        if self.n_heap and not self._precedes(
            0.0, self.due[self.front].lowest, self.due[self.front].pair, 0
        ):
            return self.heap[0].pair
        return self.due[self.front].pair

    def put(self, pair: cython.Py_ssize_t, time: cython.double, rank: cython.int) -> cython.void:
        """Queue a pair, or give a queued one a new time.  O(log n)."""
        self.drop(pair)
        self.at[pair].time = time
        self.at[pair].rank = rank
        self.size += 1
        if time == 0.0 and rank == 0 and not self.is_sorted:
            self.due[self.n_due].pair = pair
            self.due[self.n_due].lowest = self.at[pair].low
            self.at[pair].place = self.n_due
            self.at[pair].where = Where.DUE
            self.n_due += 1
        else:
            self.at[pair].where = Where.HEAP
            self.n_heap += 1
            self._rise(self.n_heap - 1, pair, time, self.at[pair].low if rank == 0 else NO_ID)

    def drop(self, pair: cython.Py_ssize_t) -> cython.void:
        """Remove a pair if it is queued.  O(log n)."""
        place: cython.int = self.at[pair].place
        where: cython.int = self.at[pair].where

        if where == Where.NOWHERE:
            return
        self.at[pair].where = Where.NOWHERE
        self.size -= 1
        if where == Where.DUE:
            self._drop_due(place)
            return
        self.n_heap -= 1
        last: cython.Py_ssize_t = self.n_heap
        if place != last:
            self._rise(
                self._sink(place),
                self.heap[last].pair,
                self.heap[last].time,
                self.heap[last].lowest,
            )

    def _drop_due(self, n: cython.Py_ssize_t) -> cython.void:
        """Remove an entry of `due`."""
        if self.is_sorted:
            self.due[n].pair = -1
            while self.front < self.n_due and self.due[self.front].pair < 0:
                self.front += 1
            return
        self.n_due -= 1
        if n != self.n_due:
            self.due[n].lowest = self.due[self.n_due].lowest
            self.due[n].pair = self.due[self.n_due].pair
            self.at[self.due[n].pair].place = n

    def _sort(self) -> cython.void:
        """Sort `due`, which gets no more entries from now on.

        A radix sort orders by the higher and then the lower ids, an insertion sort by image.
        """
        n: cython.Py_ssize_t

        self.is_sorted = True
        if self.n_due > FEW:
            self._sort_by_id(False)
            self._sort_by_id(True)
        for n in range(self.n_due):
            self._insert(n)
        for n in range(self.n_due):
            self.at[self.due[n].pair].place = n

    def _sort_by_id(self, by_lower: cython.bint) -> cython.void:
        """Sort `due` by the lower or the higher id; the sort is stable."""
        n: cython.Py_ssize_t
        shift: cython.int = 0
        least: cython.longlong = NO_ID
        most: cython.longlong = 0

        for n in range(self.n_due):
            number: cython.longlong = self._id_of(n, by_lower)
            least = min(least, number)
            most = max(most, number)
        while shift < 63 and (most - least) >> shift:
            self._sort_by_digit(by_lower, least, shift)
            shift += DIGIT

    @cython.cfunc
    @cython.inline
    def _id_of(self, n: cython.Py_ssize_t, lower: cython.bint) -> cython.longlong:
        """Return an id of the pair of an entry of `due`."""
        return self.due[n].lowest if lower else self.at[self.due[n].pair].high

    def _sort_by_digit(
        self, by_lower: cython.bint, least: cython.longlong, shift: cython.int
    ) -> cython.void:
        """Sort `due` by one digit of (id - `least`)."""
        n: cython.Py_ssize_t
        total: cython.longlong = 0

        for n in range(N_DIGITS):
            self.counts[n] = 0
        for n in range(self.n_due):
            digit: cython.Py_ssize_t = (self._id_of(n, by_lower) - least) >> shift
            self.counts[digit & (N_DIGITS - 1)] += 1
        for n in range(N_DIGITS):
            count: cython.longlong = self.counts[n]
            self.counts[n] = total
            total += count
        for n in range(self.n_due):
            digit = (self._id_of(n, by_lower) - least) >> shift
            to: cython.longlong = self.counts[digit & (N_DIGITS - 1)]
            self.counts[digit & (N_DIGITS - 1)] = to + 1
            self.spare[to].lowest = self.due[n].lowest
            self.spare[to].pair = self.due[n].pair
        self.due, self.spare = self.spare, self.due
        if cython.compiled:
            self.due_bytes, self.spare_bytes = self.spare_bytes, self.due_bytes

    def _insert(self, n: cython.Py_ssize_t) -> cython.void:
        """Move entry n of `due` forward to its place among the earlier ones."""
        lowest: cython.longlong = self.due[n].lowest
        pair: cython.Py_ssize_t = self.due[n].pair

        while n > 0 and (
            lowest < self.due[n - 1].lowest
            or (lowest == self.due[n - 1].lowest and self._breaks_tie(pair, self.due[n - 1].pair))
        ):
            self.due[n].lowest = self.due[n - 1].lowest
            self.due[n].pair = self.due[n - 1].pair
            n -= 1
        self.due[n].lowest = lowest
        self.due[n].pair = pair

    @cython.cfunc
    @cython.inline
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
        self.at[pair].place = place

    @cython.cfunc
    @cython.inline
    def _precedes(
        self,
        time: cython.double,
        lowest: cython.longlong,
        pair: cython.Py_ssize_t,
        place: cython.Py_ssize_t,
    ) -> cython.bint:
        """Return whether a pair with this key comes before the pair at a place of the heap."""
        if time != self.heap[place].time:
            return time < self.heap[place].time
        if lowest != self.heap[place].lowest:
            return lowest < self.heap[place].lowest
        return self._breaks_tie(pair, self.heap[place].pair)

    def _breaks_tie(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether `one` comes before `other`; both have the same time."""
        if self.at[one].rank != self.at[other].rank:
            return self.at[one].rank < self.at[other].rank
        if self.at[one].low != self.at[other].low:
            return self.at[one].low < self.at[other].low
        if self.at[one].high != self.at[other].high:
            return self.at[one].high < self.at[other].high
        return self.at[one].image < self.at[other].image  # the same bodies, across an edge

    def _rise(
        self,
        place: cython.Py_ssize_t,
        pair: cython.Py_ssize_t,
        time: cython.double,
        lowest: cython.longlong,
    ) -> cython.void:
        """Put a pair into a hole of the heap, or above it."""
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
        """Move a hole down to the lowest level of the heap; return where it ends.

        The last pair of the heap fills it, and rarely rises far.
        """
        below: cython.Py_ssize_t = 2 * hole + 1

        while below < self.n_heap:
            if below + 1 < self.n_heap:
                # No branch, because the processor would mispredict every other one.
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
