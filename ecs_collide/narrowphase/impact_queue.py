"""A priority queue of the next impact of each pair: a binary heap, and a list for time 0.

The key is the time, then the tier, then whether a wall is met, then the order of the bodies in space
(`PairTable.precedes`), so neither the ids of the bodies nor the order of the pairs has an effect.  At
one instant impacts of faces come first (tier 0), then impacts of corners (1), so that a box aimed at
the seam of two tiles does not catch on it.  Pairs that cross come last (2), so that a body that is
stopped by a solid one does not enter a sensor flush with its face.

Impacts with walls come first, then those with bodies of another dominance, which are like walls, so
that what happens to a pile does not depend on which of its bodies is first in space: in its mirror
image another one is.  Impacts of riders come after those of their carriers, which may turn them.

In a crowd nearly all impacts are due at time 0, and are queued before the first is taken.  They go
into a separate list, which is sorted once, so that taking one is O(1).  As their order hardly
changes from step to step, it begins with that of the last one.

Invariant: `place` of a queued pair is its index in `heap` or `due`, as `Pair.where` says.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from ecs_collide._kernel import IntEnum, Public, cython, struct
from ecs_collide._kernel.arrays import INT, grown, zeros
from ecs_collide._kernel.constants import INF
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies

CROSSES = 2  # the tier of a pair that enters or leaves
AFTER_WALLS = -(2.0**1023)  # before all places, after -inf
AFTER_PLACES = 2.0**1000  # times the storey: after all places, before inf
FEW = 12  # the entries that are sorted by insertion


class Where(IntEnum):
    """The part of the queue that a pair is in."""

    NOWHERE = 0  # not queued; 0, as in the zeroed memory of a new pair
    HEAP = 1  # in `heap`
    DUE = 2  # in `due`


@struct
class Queued:
    """A pair in the queue: its key, besides `Pair.tier`, and its place."""

    time: cython.double
    place: cython.int
    leader: cython.int


@struct
class Entry:
    """An element of the heap."""

    time: cython.double
    place: cython.double
    pair: cython.int


@struct
class Due:
    """An element of the list `due`."""

    place: cython.double
    pair: cython.int
    leader: cython.int


@cython.inline
def copy_due(
    entries: cython.pointer[Due],
    n: cython.Py_ssize_t,
    source: cython.pointer[Due],
    at: cython.Py_ssize_t,
) -> cython.void:
    """Copy an entry of `source` over entry n."""
    entries[n].place = source[at].place
    entries[n].pair = source[at].pair
    entries[n].leader = source[at].leader


@cython.final
class ImpactQueue:
    """A priority queue of pairs that knows the place of each pair.

    Pairs are small ints; each is queued at most once.
    """

    bodies: Bodies
    pairs: PairTable
    # whether the pairs have no impacts, but are corrected in the order of `_is_nearer`
    by_distance: Public[cython.bint]
    size: Public[cython.Py_ssize_t]  # number of queued pairs
    n_pairs: cython.Py_ssize_t
    n_heap: cython.Py_ssize_t
    n_due: cython.Py_ssize_t
    front: cython.Py_ssize_t
    is_sorted: cython.bint
    pair_memory: StructMemory
    heap_memory: StructMemory
    due_memory: StructMemory
    spare_memory: StructMemory
    # array of Queued: by pair; `leader` is `PairTable.leader`
    at: cython.pointer[Queued]
    # array of Entry: the heap.  `place` is the coordinate on the first axis of the body by
    # which the pair is ordered, so that nearly all comparisons read nothing else.  It is 0 in a
    # world that wraps, where no place is the first, -inf where a wall is met, `AFTER_WALLS` where
    # `Dominance` decides who gives way, `AFTER_PLACES` times the storey of riders, and inf for a
    # tier above 0
    heap: cython.pointer[Entry]
    # array of Due: pairs queued for time 0 at tier 0 before the first `top`, which sorts them.
    # From then on the list starts at `front`, and a dropped entry has a pair below 0
    due: cython.pointer[Due]
    spare: cython.pointer[Due]
    start: cython.int[::1]  # the first entry of each body, by its last order, while `due` is sorted
    # (2 · n_rows,): the places in `due` of the last pairs that a body has led, with a wall and not
    order: cython.int[::1]

    def __init__(self, bodies: Bodies, pairs: PairTable):
        self.bodies = bodies
        self.pairs = pairs
        self.order = zeros(INT, 2)
        self.pair_memory = StructMemory()
        self.heap_memory = StructMemory()
        self.due_memory = StructMemory()
        self.spare_memory = StructMemory()
        self.grow(16)

    def grow(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for pairs 0 to `n_pairs` - 1."""
        self.at = cython.cast(
            cython.pointer(Queued), self.pair_memory.grow(cython.sizeof(Queued), n_pairs)
        )
        self.heap = cython.cast(
            cython.pointer(Entry),
            self.heap_memory.grow_and_keep(cython.sizeof(Entry), n_pairs, self.n_heap),
        )
        self.due = cython.cast(
            cython.pointer(Due),
            self.due_memory.grow_and_keep(cython.sizeof(Due), n_pairs, self.n_due),
        )
        self.spare = cython.cast(
            cython.pointer(Due), self.spare_memory.grow_and_keep(cython.sizeof(Due), n_pairs, 0)
        )
        self.start = zeros(INT, n_pairs + 1)
        self.n_pairs = n_pairs

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.order = grown(self.order, 2 * n_rows)

    def clear(self) -> cython.void:
        """Begin with an empty queue; no pair may say that it is queued."""
        self.size = self.n_heap = self.n_due = self.front = 0
        self.is_sorted = False

    @cython.inline
    def holds(self, pair: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair is queued."""
        return self.pairs.at[pair].where != Where.NOWHERE

    @cython.inline
    def is_due(self, pair: cython.Py_ssize_t, now: cython.double) -> cython.bint:
        """Return whether a pair is queued for the time `now`."""
        return self.pairs.at[pair].where != Where.NOWHERE and self.at[pair].time == now

    @cython.inline
    def top(self) -> cython.Py_ssize_t:
        """Return the pair with the least key, or -1 if the queue is empty."""
        if not self.is_sorted:
            self._sort()
        if self.front == self.n_due:
            return self.heap[0].pair if self.n_heap else -1
        if self.n_heap and not self._precedes(
            0.0, self.due[self.front].place, self.due[self.front].pair, 0
        ):
            return self.heap[0].pair
        return self.due[self.front].pair

    def put(self, pair: cython.Py_ssize_t, time: cython.double, tier: cython.int) -> cython.void:
        """Queue a pair that is not queued yet.  O(log n)."""
        leader: cython.Py_ssize_t = self.pairs.leader(pair, self.bodies)
        at: cython.double = self.bodies.place_of(leader, 0)

        if self.pairs.meets_wall(pair, self.bodies):
            at = -INF
        elif self.pairs.is_outweighed(pair, self.bodies):
            at = AFTER_WALLS
        elif self.bodies.rare.any_carrier:
            at += AFTER_PLACES * self.pairs.storey(pair, self.bodies)
        self.put_at(pair, leader, time, tier, at)

    def put_at(
        self,
        pair: cython.Py_ssize_t,
        leader: cython.Py_ssize_t,
        time: cython.double,
        tier: cython.int,
        at: cython.double,
    ) -> cython.void:
        """Queue a pair by its leader; `at` orders the pairs of one time whose tier is 0."""
        self.at[pair].time = time
        self.pairs.note_tier(pair, tier)
        self.at[pair].leader = leader
        self.size += 1
        if time == 0.0 and tier == 0 and not self.is_sorted:
            self._put_due(self.n_due, at, pair, leader)
            self.at[pair].place = self.n_due
            self.pairs.note_place(pair, Where.DUE)
            self.n_due += 1
        else:
            self.pairs.note_place(pair, Where.HEAP)
            self.n_heap += 1
            self._rise(self.n_heap - 1, pair, time, INF if tier else at)

    def drop(self, pair: cython.Py_ssize_t) -> cython.void:
        """Remove a pair if it is queued, after the first `top`.  O(log n)."""
        where: cython.int = self.pairs.at[pair].where

        if where == Where.NOWHERE:
            return
        place: cython.int = self.at[pair].place
        self.pairs.note_place(pair, Where.NOWHERE)
        self.size -= 1
        if where == Where.DUE:
            self.due[place].pair = -1
            while self.front < self.n_due and self.due[self.front].pair < 0:
                self.front += 1
            return
        self.n_heap -= 1
        last: cython.Py_ssize_t = self.n_heap
        if place != last:
            self._rise(
                self._sink(place),
                self.heap[last].pair,
                self.heap[last].time,
                self.heap[last].place,
            )

    def _sort(self) -> cython.void:
        """Sort `due`, which gets no more entries from now on.

        The bodies are in the order of the last time at first, which a step changes little.
        """
        start: cython.int[::1] = self.start
        k: cython.int
        last: cython.int = 0

        self.is_sorted = True
        if not self.by_distance:
            for n in range(self.n_due):
                last = max(last, self._last_of(n))
            for k in range(last + 1):
                start[k] = 0
            for n in range(self.n_due):
                start[self._last_of(n)] += 1
            for k in range(1, last + 1):
                start[k] += start[k - 1]
            for n in range(self.n_due):
                k = self._last_of(n)
                start[k] -= 1
                copy_due(self.spare, start[k], self.due, n)
            self.due, self.spare = self.spare, self.due
            self.due_memory, self.spare_memory = self.spare_memory, self.due_memory
        self._sort_run(0, self.n_due)
        for n in range(self.n_due):
            self.at[self.due[n].pair].place = n
            if not self.by_distance:
                self.order[self._kind_of(n)] = n

    def _kind_of(self, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the place in `order` of the leader of entry n of `due`."""
        return 2 * self.due[n].leader + (self.due[n].place > -INF)

    def _last_of(self, n: cython.Py_ssize_t) -> cython.int:
        """Return where in `due` the last pair was that the leader of entry n has led."""
        return self.order[self._kind_of(n)]

    def _sort_run(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.void:
        """Sort entries of `due`: few by insertion, others by merging both halves."""
        one: cython.Py_ssize_t
        other: cython.Py_ssize_t
        n: cython.Py_ssize_t

        if end - start <= FEW:
            for other in range(start + 1, end):
                place: cython.double = self.due[other].place
                pair: cython.int = self.due[other].pair
                leader: cython.int = self.due[other].leader
                n = other
                while n > start and self._is_before(
                    place, pair, leader,
                    self.due[n - 1].place, self.due[n - 1].pair, self.due[n - 1].leader,
                ):  # fmt: skip
                    copy_due(self.due, n, self.due, n - 1)
                    n -= 1
                self._put_due(n, place, pair, leader)
            return
        middle: cython.Py_ssize_t = (start + end) >> 1
        self._sort_run(start, middle)
        self._sort_run(middle, end)
        one = other = middle
        # Those before the first entry of the second half are in their places.
        while one > start and self._is_before(
            self.due[middle].place, self.due[middle].pair, self.due[middle].leader,
            self.due[one - 1].place, self.due[one - 1].pair, self.due[one - 1].leader,
        ):  # fmt: skip
            one -= 1
            copy_due(self.spare, one, self.due, one)
        for n in range(one, end):
            if one == middle:
                break  # the others are in their places
            if other < end and self._is_before(
                self.due[other].place, self.due[other].pair, self.due[other].leader,
                self.spare[one].place, self.spare[one].pair, self.spare[one].leader,
            ):  # fmt: skip
                copy_due(self.due, n, self.due, other)
                other += 1
            else:
                copy_due(self.due, n, self.spare, one)
                one += 1

    def _put_due(
        self, n: cython.Py_ssize_t, place: cython.double, pair: cython.int, leader: cython.int
    ) -> cython.void:
        self.due[n].place = place
        self.due[n].pair = pair
        self.due[n].leader = leader

    def _is_before(
        self,
        place: cython.double,
        pair: cython.int,
        leader: cython.int,
        other_place: cython.double,
        other_pair: cython.int,
        other_leader: cython.int,
    ) -> cython.bint:
        """Return whether an entry of `due` comes before another one."""
        if place != other_place:
            return place < other_place
        if self.by_distance:
            return self._is_nearer(pair, other_pair)
        return self.pairs.precedes(pair, leader, other_pair, other_leader, self.bodies, True)

    def _put_at(
        self,
        place: cython.Py_ssize_t,
        pair: cython.Py_ssize_t,
        time: cython.double,
        at: cython.double,
    ) -> cython.void:
        self.heap[place].pair = pair
        self.heap[place].time = time
        self.heap[place].place = at
        self.at[pair].place = place

    def _precedes(
        self,
        time: cython.double,
        at: cython.double,
        pair: cython.Py_ssize_t,
        place: cython.Py_ssize_t,
    ) -> cython.bint:
        """Return whether a pair with this key comes before the pair at a place of the heap."""
        if time != self.heap[place].time:
            return time < self.heap[place].time
        if at != self.heap[place].place:
            return at < self.heap[place].place
        return self._breaks_tie(pair, self.heap[place].pair)

    def _breaks_tie(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether `one` comes before `other`; both have the same time."""
        tier: cython.int = self.pairs.at[one].tier
        if tier != self.pairs.at[other].tier:
            return tier < self.pairs.at[other].tier
        if self.by_distance:
            return self._is_nearer(one, other)
        return self.pairs.precedes(
            one,
            self.at[one].leader,
            other,
            self.at[other].leader,
            self.bodies,
            not self.by_distance and tier != CROSSES,
        )

    def _is_nearer(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair is corrected before another: the one whose bodies give way less."""
        leader: cython.Py_ssize_t = self.at[one].leader
        second: cython.Py_ssize_t = self.at[other].leader
        i: cython.Py_ssize_t = leader
        j: cython.Py_ssize_t = second

        if i == j:
            i = self.pairs.partner(one, i)
            j = self.pairs.partner(other, j)
        way: cython.int = self.bodies.gives_way(i, j, 0)
        if way != 0:
            return way < 0
        return self.pairs.precedes(one, leader, other, second, self.bodies, False)

    def _rise(
        self,
        place: cython.Py_ssize_t,
        pair: cython.Py_ssize_t,
        time: cython.double,
        at: cython.double,
    ) -> cython.void:
        """Put a pair into a hole of the heap, or above it."""
        while place > 0:
            above: cython.Py_ssize_t = (place - 1) >> 1
            if not self._precedes(time, at, pair, above):
                break
            self._put_at(
                place, self.heap[above].pair, self.heap[above].time, self.heap[above].place
            )
            place = above
        self._put_at(place, pair, time, at)

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
                    self.heap[below + 1].place,
                    self.heap[below + 1].pair,
                    below,
                )
            self._put_at(hole, self.heap[below].pair, self.heap[below].time, self.heap[below].place)
            hole = below
            below = 2 * hole + 1
        return hole
