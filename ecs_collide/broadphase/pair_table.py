"""The candidate pairs of a step, and a list of its pairs for each body."""

from __future__ import annotations

from ecs_collide._kernel import Public, cython, may_raise, struct
from ecs_collide._kernel.arrays import BYTE, DOUBLE, LONG, grown, structs, zeros

# The columns of an array of pairs.
FIRST = 0
SECOND = 1
# What `Pair.left_alone` has of two members of soft crowds.
SOFT = 3


@struct
class Pair:
    """Of each pair: its bodies and what is asked of all pairs."""

    # the rows of its bodies; `first` has the lower entity id
    first: cython.int
    second: cython.int
    # the next pair of either body, from 1; 0 ends a list
    next_of_first: cython.int
    next_of_second: cython.int
    # 1 where neither body yields to the other, or one is a sensor; where the game lets them cross
    # besides, 2 more to the end of the step, or 4 more until they separate
    crossing: cython.schar
    inside: cython.schar  # 1 while the insides of the two overlap
    # no impacts in this step: 1 once crushed, 2 where one falls through the other, 3 where both
    # are members of soft crowds
    left_alone: cython.schar
    gone: cython.schar  # 1 once a response has deleted one of the bodies
    # 0, or the side on which the pair touches: 1 + axis, with the sign of the normal, and a code
    # of `narrowphase.narrowphase` for how long that holds
    touch: cython.schar
    # 1 where the paths end so far apart that no rounding brings the bodies together
    clear: cython.schar
    known: cython.schar  # 1 where the pair was in contact at the step's start
    met: cython.schar  # 1 once the pair has had an impact queued


@struct
class PairImpact:
    """Of each pair that has met: its next impact."""

    # of the queued impact, as are `kind`, `axis` and `sign`: undefined before the pair has `met`
    exit: cython.double
    speed: cython.double
    answered_at: cython.double  # when it was answered last
    began: cython.double  # time of the first impact of the step, or -1
    # when the bodies of a solid contact part on their present paths: a fraction of the step, 1 or
    # more where that is after its end
    parts: cython.double
    contact: cython.int  # the one at the step's start; undefined where the pair is not `known`
    answers: cython.int  # how often it was answered in this step
    repeats: cython.int  # how often in this instant, beside the first time
    tick: cython.int  # when it was swept last; see `Bodies`
    kind: cython.schar
    axis: cython.schar
    sign: cython.schar
    stale: cython.schar  # 1 where it was put back into the queue without a sweep


@cython.final
class PairTable:
    """The pairs of a step, numbered from 0, and a list of its pairs for each body.

    Of a pair, `at` has who it is and what is asked of all pairs; `impact` has what is asked only of
    those that meet.  Pairs are met in no order, and each further table would be a further cache miss.
    """

    n: Public[cython.Py_ssize_t]
    capacity: cython.Py_ssize_t
    pair_bytes: cython.schar[::1]
    impact_bytes: cython.schar[::1]
    at: cython.pointer[Pair]
    impact: cython.pointer[PairImpact]
    head: cython.longlong[::1]
    seen: cython.longlong[::1]
    stamp: cython.longlong
    wraps: cython.bint
    # (n or more,): in a world that wraps, which image of the second body the first may meet; see
    # `broadphase.images`
    image: cython.longlong[::1]
    # (n or more, 3): how far off that image is on each axis
    offset: cython.double[:, ::1]

    def __init__(self):
        self.n = 0
        self.capacity = 0
        self.stamp = 0
        if cython.compiled:
            self.pair_bytes = zeros(BYTE, 0)
            self.impact_bytes = zeros(BYTE, 0)
        else:
            self.at = []
            self.impact = []
        self.head = zeros(LONG, 1)
        self.seen = zeros(LONG, 1)
        self.wraps = False
        self.image = zeros(LONG, 1)
        self.offset = zeros(DOUBLE, 1, 3)
        self._make_room(16)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        head: cython.longlong[::1] = grown(self.head, n_rows)
        seen: cython.longlong[::1] = grown(self.seen, n_rows)

        self.head = head
        self.seen = seen

    def is_full(self) -> cython.bint:
        """Return whether `grow` must come before the next `add`."""
        return self.n == self.capacity

    @may_raise
    def grow(self) -> cython.void:
        """Double the room for pairs."""
        if self.wraps:
            self._make_room_for_images(2 * self.capacity)
        self._make_room(2 * self.capacity)

    def wrap(self):
        """Make room for the images of pairs."""
        self._make_room_for_images(self.capacity)
        self.wraps = True

    @may_raise
    def _make_room_for_images(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        image: cython.longlong[::1] = grown(self.image, n_pairs)
        offset: cython.double[:, ::1] = grown(self.offset, n_pairs)

        self.image = image
        self.offset = offset

    @may_raise
    def _make_room(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for more pairs."""
        if cython.compiled:
            pairs: cython.schar[::1] = grown(self.pair_bytes, n_pairs * cython.sizeof(Pair))
            impacts: cython.schar[::1] = grown(
                self.impact_bytes, n_pairs * cython.sizeof(PairImpact)
            )
            self.pair_bytes = pairs
            self.impact_bytes = impacts
            self.at = cython.cast(cython.pointer(Pair), cython.address(pairs[0]))
            self.impact = cython.cast(cython.pointer(PairImpact), cython.address(impacts[0]))
        else:
            self.at += structs(Pair, n_pairs - self.capacity)
            self.impact += structs(PairImpact, n_pairs - self.capacity)
        self.capacity = n_pairs  # last: by it it is known how much room there is

    def forget(self) -> cython.void:
        """Forget all pairs.

        What is left to do for a pair is to set it up when it is met: most never are.
        """
        p: cython.Py_ssize_t

        for p in range(self.n):
            self.head[self.at[p].first] = 0
            self.head[self.at[p].second] = 0
        self.n = 0

    def meet(self, p: cython.Py_ssize_t) -> cython.void:
        """Set a pair up for its first impact of the step, unless it has had it."""
        if not self.at[p].met:
            self.at[p].met = 1
            self.impact[p].stale = 0
            self.impact[p].answers = self.impact[p].repeats = 0
            self.impact[p].answered_at = self.impact[p].began = -1.0

    def may_be_queued(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the queue may hold a pair: it has had an impact queued, or crosses."""
        return (self.at[p].met | self.at[p].crossing) != 0

    def contact_of(self, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the contact that the pair had at the step's start, or -1."""
        return self.impact[p].contact if self.at[p].known else -1

    def add(self, first: cython.Py_ssize_t, second: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Add a pair that is not there yet; return its number."""
        p: cython.Py_ssize_t = self.n

        self.n += 1
        self.at[p].first = first
        self.at[p].second = second
        self.at[p].next_of_first = self.head[first]  # numbers count from 1; 0 ends a list
        self.at[p].next_of_second = self.head[second]
        self.at[p].crossing = self.at[p].inside = self.at[p].left_alone = self.at[p].gone = 0
        self.at[p].touch = self.at[p].clear = self.at[p].known = self.at[p].met = 0
        self.head[first] = p + 1
        self.head[second] = p + 1
        return p

    def rows_into(self, rows: cython.longlong[:, ::1]) -> None:
        """Write the rows of both bodies of each pair into a row of an array."""
        p: cython.Py_ssize_t

        for p in range(self.n):
            rows[p, FIRST] = self.at[p].first
            rows[p, SECOND] = self.at[p].second

    def head_of(self, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first pair in the list of a body, or -1."""
        return self.head[row] - 1

    def next_of(self, pair: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the pair after `pair` in the list of a body, or -1."""
        # No branch: the processor would guess wrongly at every other pair.
        is_first: cython.int = self.at[pair].first == row
        second: cython.int = self.at[pair].next_of_second

        return second + (self.at[pair].next_of_first - second) * is_first - 1

    def partner(self, pair: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the other body of a pair."""
        return self.at[pair].first + self.at[pair].second - row

    def find(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the pair of two bodies, or -1.  O(pairs of the body that has fewer)."""
        p: cython.Py_ssize_t = self.head_of(one)
        q: cython.Py_ssize_t = self.head_of(other)

        while p >= 0 and q >= 0:  # it is in both lists: the shorter one decides
            if self.partner(p, one) == other:
                return p
            if self.partner(q, other) == one:
                return q
            p = self.next_of(p, one)
            q = self.next_of(q, other)
        return -1

    def find_image(
        self, first: cython.Py_ssize_t, second: cython.Py_ssize_t, image: cython.longlong
    ) -> cython.Py_ssize_t:
        """Return the pair of two bodies at an image of the second, or -1; as `find`."""
        p: cython.Py_ssize_t = self.head_of(first)
        q: cython.Py_ssize_t = self.head_of(second)

        while p >= 0 and q >= 0:
            if self.at[p].second == second and self.at[p].first == first and self.image[p] == image:
                return p
            if self.at[q].first == first and self.at[q].second == second and self.image[q] == image:
                return q
            p = self.next_of(p, first)
            q = self.next_of(q, second)
        return -1

    def offset_of(self, p: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return how far off the second body of a pair is met on an axis."""
        return self.offset[p, k] if self.wraps else 0.0

    def mark_partners(self, row: cython.Py_ssize_t) -> cython.void:
        """Mark all bodies that have a pair with `row`, in place of those marked before."""
        p: cython.Py_ssize_t = self.head_of(row)

        self.stamp += 1
        while p >= 0:
            self.seen[self.partner(p, row)] = self.stamp
            p = self.next_of(p, row)

    def is_marked(self, row: cython.Py_ssize_t) -> cython.bint:
        """Return whether `mark_partners` marked the body."""
        return self.seen[row] == self.stamp
