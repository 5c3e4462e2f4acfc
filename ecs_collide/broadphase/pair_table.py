"""The candidate pairs of a step, their states, and a list of its pairs for each body.

Each field of `Pair` that changes within a step is one enumeration.  Only the methods of `PairTable`
write them; `PairTable.check` verifies their combinations.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from ecs_collide._kernel import Public, cython, struct
from ecs_collide._kernel.arrays import DOUBLE, INT, LONG, grown, zeros
from ecs_collide._kernel.constants import LOW_31_BITS
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.faces import overlap

# The columns of an array of pairs.
FIRST = 0
SECOND = 1

NEAR: cython.Py_ssize_t = 4  # the next pairs among which `find_after` looks first

# `Pair.state`: how the two bodies treat each other.  Bodies pass through each other from CROSS on.
#
#          add                                         add (a sensor, or neither is dynamic)
#           |                                           |
#           v        cross                              v
#         SOLID ----------------> CROSS_ONCE          CROSS
#         | | ^                                         ^
#   crush | | |  cross, restore_until_apart             |  restore_until_apart
#     +---+ | +-------------------------------+         +-------------------+
#     v     |  close                          |            close            |
#   STUCK   | restore_passing                 +----> CROSS_UNTIL_APART <----+
#           v
#      FALL_THROUGH                                    SOFT (add)
SOLID = 0
STUCK = 1  # solid, but could not be kept apart: no more impacts in this step
FALL_THROUGH = 2  # one falls through the other until they separate: no impacts in this step
CROSS = 3  # one is a sensor, or neither is dynamic
CROSS_ONCE = 4  # the game makes two solid bodies cross until the end of the step
CROSS_UNTIL_APART = 5  # the game makes them cross until they separate
SOFT = 6  # may overlap, and is separated by displacement: no impacts

# `Pair.contact`: whether the two are in contact, and whether they were so at the step's start.
#
#                   enter                              enter
#     NO_CONTACT <----------> BEGUN      FORMER <----------------> LASTING
#         |         part        ^          ^           part           |
#         +---------------------|----------+                          |
#                restore        +-------------------------------------+
#                                          forget_former
#
# `forget_former` also leads from FORMER to NO_CONTACT.
NO_CONTACT = 0
FORMER = 1  # in contact at the step's start, but not now
BEGUN = 2  # in contact now, but not at the step's start
LASTING = 3  # FORMER | BEGUN: in contact at the step's start and now

# `Pair.met`: the content of `PairImpact`.
#
#                  meet             mark_stale
#     NOT_MET -------------> MET <-------------> STALE
#        |                      mark_fresh, meet   ^
#        +-----------------------------------------+
#                        mark_stale
NOT_MET = 0  # only `tick`
MET = 1  # the next impact, or the last one
STALE = 2  # a queued impact, but a body of the pair has turned since the sweep

# `Pair.touch`: how long the pair is known to touch on the side `Pair.face`.  `note_touch` and
# `forget_touch` set it from any state.
NO_TOUCH = 0  # it does not touch, or that is unknown
KEEPS = 1  # until a body of the pair turns
OVERLAPS = 2  # at this instant it overlaps, and this is its only shallowest side
PARTS = 3  # at this instant, when it parts


@struct
class Pair:
    """The fields that are read for all pairs."""

    # the rows of its bodies; `first` has the lower entity id
    first: cython.int
    second: cython.int
    # the next pair of either body, from 1; 0 ends a list
    next_of_first: cython.int
    next_of_second: cython.int
    number: cython.int  # of its contact; undefined with NO_CONTACT
    state: cython.schar  # SOLID to SOFT
    contact: cython.schar  # NO_CONTACT to LASTING
    met: cython.schar  # NOT_MET to STALE
    touch: cython.schar  # NO_TOUCH to PARTS
    face: cython.schar  # (axis + 1) * sign of the normal; 0 with NO_TOUCH
    is_clear: cython.schar  # 1 if the paths end farther apart than rounding can bring them together
    is_withdrawn: cython.schar  # 1 once a response has deleted one of the bodies
    where: cython.schar  # the part of `ImpactQueue` that it is in, a code of its `Where`
    tier: cython.schar  # its tier in the queue, once it was queued


@struct
class PairImpact:
    """The fields that are read only for pairs that meet."""

    # of the queued impact, as are `kind` to `sign`: undefined with NOT_MET
    exit: cython.double
    resolved_at: cython.double  # time of the last resolution
    began: cython.double  # time of the first impact of the step, or -1
    resolutions: cython.int  # resolutions in this step
    repeats: cython.int  # further resolutions in the same instant
    tick: cython.int  # tick of the last sweep; see `Bodies`
    kind: cython.schar
    axis: cython.schar
    sign: cython.schar


@cython.final
class PairTable:
    """The pairs of a step, numbered from 0, and a list of its pairs for each body.

    Pairs are visited in random order, so each further table would cost a cache miss.
    """

    n: Public[cython.Py_ssize_t]
    capacity: cython.Py_ssize_t
    pair_memory: StructMemory
    impact_memory: StructMemory
    at: cython.pointer[Pair]
    impact: cython.pointer[PairImpact]
    head: cython.int[::1]
    seen: cython.int[::1]
    stamp: cython.longlong
    wraps: cython.bint
    # (n or more,): in a world that wraps, the image of the second body that the first may meet; see
    # `broadphase.images`
    image: cython.longlong[::1]
    # (n or more, 3): the displacement of that image on each axis
    offset: cython.double[:, ::1]

    def __init__(self):
        self.pair_memory = StructMemory()
        self.impact_memory = StructMemory()
        self.head = zeros(INT, 1)
        self.seen = zeros(INT, 1)
        self.image = zeros(LONG, 1)
        self.offset = zeros(DOUBLE, 1, 3)
        self._make_room(16)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        head: cython.int[::1] = grown(self.head, n_rows)
        seen: cython.int[::1] = grown(self.seen, n_rows)

        self.head = head
        self.seen = seen

    @cython.inline
    def is_full(self) -> cython.bint:
        """Return whether `grow` must be called before the next `add`."""
        return self.n == self.capacity

    def grow(self) -> cython.void:
        """Double the room for pairs."""
        self._make_room(2 * self.capacity)

    def wrap(self, wraps: cython.bint):
        """Set whether the world wraps; only then there is room for the images of pairs."""
        self.wraps = wraps
        self._make_room(self.capacity)

    def _make_room(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for more pairs."""
        if self.wraps:
            image: cython.longlong[::1] = grown(self.image, n_pairs)
            self.offset = grown(self.offset, n_pairs)
            self.image = image
        self.at = cython.cast(
            cython.pointer(Pair), self.pair_memory.grow(cython.sizeof(Pair), n_pairs)
        )
        self.impact = cython.cast(
            cython.pointer(PairImpact), self.impact_memory.grow(cython.sizeof(PairImpact), n_pairs)
        )
        self.capacity = n_pairs  # last, after everything that may raise

    def forget(self) -> cython.void:
        """Remove all pairs."""
        if self.n > self.head.shape[0] >> 2:  # to clear all reads less
            for i in range(self.head.shape[0]):
                self.head[i] = 0
        else:
            for p in range(self.n):
                self.head[self.at[p].first] = 0
                self.head[self.at[p].second] = 0
        self.n = 0

    @cython.inline
    def add(
        self, first: cython.Py_ssize_t, second: cython.Py_ssize_t, state: cython.int
    ) -> cython.Py_ssize_t:
        """Add a new pair with the state SOLID, CROSS or SOFT; return its number."""
        p: cython.Py_ssize_t = self.n

        self.n += 1
        self.at[p].first = first
        self.at[p].second = second
        self.at[p].next_of_first = self.head[first]  # numbers count from 1; 0 ends a list
        self.at[p].next_of_second = self.head[second]
        self.at[p].state = state
        self.at[p].contact = NO_CONTACT
        self.at[p].met = NOT_MET
        self.at[p].touch = NO_TOUCH
        self.at[p].face = self.at[p].is_clear = self.at[p].is_withdrawn = self.at[p].where = 0
        self.head[first] = p + 1
        self.head[second] = p + 1
        return p

    def rows_into(self, rows: cython.longlong[:, ::1]) -> None:
        """Write the rows of both bodies of each pair into a row of an array."""
        for p in range(self.n):
            rows[p, FIRST] = self.at[p].first
            rows[p, SECOND] = self.at[p].second

    @cython.inline
    def head_of(self, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first pair in the list of a body, or -1."""
        return self.head[row] - 1

    @cython.inline
    def next_of(self, pair: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the pair after `pair` in the list of a body, or -1.

        The order of the list depends on the trees, so no result may depend on it.  A loop may find
        an extreme, queue by a key, or do things that do not affect each other.
        """
        # No branch, because the processor would mispredict every other one.
        is_first: cython.int = self.at[pair].first == row
        second: cython.int = self.at[pair].next_of_second

        return second + (self.at[pair].next_of_first - second) * is_first - 1

    @cython.inline
    def partner(self, pair: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the other body of a pair."""
        return self.at[pair].first + self.at[pair].second - row

    def find(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the pair of two bodies, or -1.  O(pairs of the body that has fewer)."""
        p: cython.Py_ssize_t = self.head_of(one)
        q: cython.Py_ssize_t = self.head_of(other)

        while p >= 0 and q >= 0:  # a pair is in both lists, so stop at the end of the shorter one
            if self.partner(p, one) == other:
                return p
            if self.partner(q, other) == one:
                return q
            p = self.next_of(p, one)
            q = self.next_of(q, other)
        return -1

    @cython.inline
    def find_after(
        self,
        p: cython.Py_ssize_t,
        first: cython.Py_ssize_t,
        second: cython.Py_ssize_t,
        image: cython.longlong,
    ) -> cython.Py_ssize_t:
        """Return what `find_image` does; O(1) if the pair is among the next `NEAR` after `p`."""
        for q in range(p + 1, min(p + 1 + NEAR, self.n)):
            if self._is(q, first, second, image):
                return q
        return self.find_image(first, second, image)

    def find_image(
        self, first: cython.Py_ssize_t, second: cython.Py_ssize_t, image: cython.longlong
    ) -> cython.Py_ssize_t:
        """Return the pair of two bodies at an image of the second, or -1.  Cost as `find`."""
        p: cython.Py_ssize_t = self.head_of(first)
        q: cython.Py_ssize_t = self.head_of(second)

        while p >= 0 and q >= 0:
            if self._is(p, first, second, image):
                return p
            if self._is(q, first, second, image):
                return q
            p = self.next_of(p, first)
            q = self.next_of(q, second)
        return -1

    def _is(
        self,
        p: cython.Py_ssize_t,
        first: cython.Py_ssize_t,
        second: cython.Py_ssize_t,
        image: cython.longlong,
    ) -> cython.bint:
        """Return whether a pair is that of two bodies at an image of the second."""
        return (
            self.at[p].first == first and self.at[p].second == second and self.image_of(p) == image
        )

    @cython.inline
    def image_of(self, p: cython.Py_ssize_t) -> cython.longlong:
        """Return the image of the second body, 0 for the body itself."""
        return self.image[p] if self.wraps else 0

    @cython.inline
    def offset_of(self, p: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the displacement of the second body's image on an axis."""
        return self.offset[p, k] if self.wraps else 0.0

    def width_at(
        self, p: cython.Py_ssize_t, axis: cython.int, t: cython.double, b: Bodies
    ) -> cython.double:
        """Return the width at time `t` of the faces with a normal along `axis`, in 3D the area."""
        i: cython.Py_ssize_t = self.at[p].first
        j: cython.Py_ssize_t = self.at[p].second
        width: cython.double = 1.0

        for k in range(b.dim):
            if k != axis:
                width *= overlap(
                    b.centre_at(i, k, t),
                    b.half_at(i, k, t),
                    b.centre_at(j, k, t) + self.offset_of(p, k),
                    b.half_at(j, k, t),
                )
        return width

    def mark_partners(self, row: cython.Py_ssize_t) -> cython.void:
        """Mark all bodies that have a pair with `row`, and unmark all others."""
        p: cython.Py_ssize_t = self.head_of(row)

        if self.stamp == LOW_31_BITS:  # no int beyond
            for i in range(self.seen.shape[0]):
                self.seen[i] = 0
            self.stamp = 0
        self.stamp += 1
        while p >= 0:
            self.seen[self.partner(p, row)] = self.stamp
            p = self.next_of(p, row)

    @cython.inline
    def is_marked(self, row: cython.Py_ssize_t) -> cython.bint:
        """Return whether `mark_partners` marked the body."""
        return self.seen[row] == self.stamp

    @cython.inline
    def leader(self, p: cython.Py_ssize_t, bodies: Bodies) -> cython.Py_ssize_t:
        """Return the body by which a pair is ordered: the dynamic one, or the first in space."""
        i: cython.Py_ssize_t = self.at[p].first
        j: cython.Py_ssize_t = self.at[p].second

        if (bodies.dynamic[i] != 0) != (bodies.dynamic[j] != 0):
            return i if bodies.dynamic[i] else j
        return j if bodies.precedes(j, i) else i

    @cython.inline
    def meets_wall(self, p: cython.Py_ssize_t, bodies: Bodies) -> cython.bint:
        """Return whether an impact of a pair changes only one of its bodies along the normal."""
        axis: cython.int = self.impact[p].axis

        return bodies.dynamic_along(self.at[p].first, axis) != bodies.dynamic_along(
            self.at[p].second, axis
        )

    def who_meets_wall(self, p: cython.Py_ssize_t, bodies: Bodies) -> cython.Py_ssize_t:
        """Return the body that alone an impact of a pair changes along the normal, or -1."""
        if not self.meets_wall(p, bodies):
            return -1
        i: cython.Py_ssize_t = self.at[p].first
        return i if bodies.dynamic_along(i, self.impact[p].axis) else self.at[p].second

    @cython.inline
    def is_outweighed(self, p: cython.Py_ssize_t, bodies: Bodies) -> cython.bint:
        """Return whether one body of a pair gives way to the other by its `Dominance`."""
        return bodies.controls.any_rank and bodies.controls.rank_of(
            self.at[p].first
        ) != bodies.controls.rank_of(self.at[p].second)

    @cython.inline
    def storey(self, p: cython.Py_ssize_t, bodies: Bodies) -> cython.int:
        """Return the higher storey of the bodies of a pair, 0 if none rides; requires carriers."""
        return max(bodies.rare.storey[self.at[p].first], bodies.rare.storey[self.at[p].second])

    def precedes(
        self,
        one: cython.Py_ssize_t,
        i: cython.Py_ssize_t,
        other: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        bodies: Bodies,
        by_side: cython.bint,
    ) -> cython.bint:
        """Return whether a pair comes before another, in the order of their bodies in space.

        `i` and `j` are their leaders.

        With `by_side`, the impacts of one body are ordered by the side that they hit before they are
        ordered by the partner, so that a floor of tiles counts as one.
        """
        if i != j:
            return bodies.precedes(i, j)
        if by_side:
            side: cython.int = self._side(one, i)
            other_side: cython.int = self._side(other, j)
            if side != other_side:
                return side < other_side
        i = self.partner(one, i)
        j = self.partner(other, j)
        if i != j:
            return bodies.precedes(i, j)
        return self.image_of(one) < self.image_of(other)

    def _side(self, p: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.int:
        """Return a number for the side on which the impact of a pair hits body i."""
        axis: cython.int = self.impact[p].axis
        sign: cython.int = self.impact[p].sign

        if abs(sign) == 2:  # a slope, after the faces: a mirror image has others first
            axis = 3
        return 8 * axis + (-sign if self.at[p].first == i else sign)

    # -- the states of a pair, written only here --

    @cython.inline
    def is_solid(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bodies of a pair are kept apart, which ends if one is deleted."""
        return self.at[p].state == SOLID and not self.at[p].is_withdrawn

    @cython.inline
    def is_one_way(self, p: cython.Py_ssize_t, bodies: Bodies) -> cython.bint:
        """Return whether a pair does not cross, but is solid on some sides only."""
        return self.at[p].state < CROSS and bodies.is_one_way(self.at[p].first, self.at[p].second)

    @cython.inline
    def crosses(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bodies of a pair pass through each other."""
        return self.at[p].state >= CROSS

    @cython.inline
    def crosses_on_path(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a sweep finds when the bodies of a pair enter and leave each other.

        That ends if one is deleted.
        """
        return CROSS <= self.at[p].state < SOFT and not self.at[p].is_withdrawn

    def cross(self, p: cython.Py_ssize_t, state: cython.int) -> cython.void:
        """Set a solid pair to CROSS_ONCE or CROSS_UNTIL_APART."""
        self.at[p].state = state
        self.at[p].is_clear = 0
        self.forget_touch(p)
        self.mark_fresh(p)

    def close(self, p: cython.Py_ssize_t, state: cython.int) -> cython.void:
        """End CROSS_UNTIL_APART with the state SOLID or CROSS that the components give."""
        self.at[p].state = state

    def crush(self, p: cython.Py_ssize_t) -> cython.void:
        """Set a solid pair that cannot be kept apart to STUCK."""
        self.at[p].state = STUCK

    def withdraw(self, p: cython.Py_ssize_t) -> cython.void:
        """Mark a pair as withdrawn, after a response has deleted one of its bodies."""
        self.at[p].is_withdrawn = 1
        self.mark_fresh(p)

    @cython.inline
    def has_contact(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bodies of a pair are in contact, or overlap if they cross."""
        return self.at[p].contact >= BEGUN

    @cython.inline
    def had_contact(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair was in contact at the step's start and that is not forgotten."""
        return self.at[p].contact & FORMER

    @cython.inline
    def contact_of(self, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the number of the contact that the pair had at the step's start, or -1."""
        return self.at[p].number if self.at[p].contact & FORMER else -1

    @cython.inline
    def restore(self, p: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.void:
        """Set the contact that a pair had at the step's start; it is not in contact yet."""
        self.at[p].contact = FORMER
        self.at[p].number = n

    def restore_until_apart(self, p: cython.Py_ssize_t) -> cython.void:
        """Set a pair to CROSS_UNTIL_APART as in the last step; a soft pair stays soft."""
        if self.at[p].state != SOFT:
            self.at[p].state = CROSS_UNTIL_APART
        self.forget_touch(p)

    def restore_passing(self, p: cython.Py_ssize_t) -> cython.void:
        """Set a solid pair to FALL_THROUGH as in the last step."""
        if self.at[p].state == SOLID:
            self.at[p].state = FALL_THROUGH

    @cython.inline
    def note_number(self, p: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.void:
        """Note the number of the contact that a pair is about to begin."""
        self.at[p].number = n

    @cython.inline
    def enter(self, p: cython.Py_ssize_t) -> cython.void:
        """Begin or resume the contact of a pair."""
        self.at[p].contact |= BEGUN

    def part(self, p: cython.Py_ssize_t) -> cython.void:
        """End the contact of a pair."""
        self.at[p].contact &= FORMER

    def forget_former(self, p: cython.Py_ssize_t) -> cython.void:
        """Forget that a pair was in contact at the step's start."""
        self.at[p].contact &= BEGUN

    @cython.inline
    def meet(self, p: cython.Py_ssize_t) -> cython.void:
        """Note that a pair was swept and has an impact; reset its counts at the first one."""
        if self.at[p].met == NOT_MET:
            self.impact[p].resolutions = self.impact[p].repeats = 0
            self.impact[p].resolved_at = self.impact[p].began = -1.0
        self.at[p].met = MET

    @cython.inline
    def may_be_queued(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the queue may hold a pair, which has had an impact or crosses."""
        return self.at[p].met != NOT_MET or self.at[p].state >= CROSS

    @cython.inline
    def mark_stale(self, p: cython.Py_ssize_t) -> cython.void:
        """Mark a queued pair, so that it is swept again at its turn."""
        self.meet(p)
        self.at[p].met = STALE
        self.at[p].is_clear = 0

    @cython.inline
    def mark_fresh(self, p: cython.Py_ssize_t) -> cython.void:
        """Note that a pair was swept again, or is no longer queued."""
        if self.at[p].met == STALE:
            self.at[p].met = MET

    @cython.inline
    def mark_clear(self, p: cython.Py_ssize_t) -> cython.void:
        """Note that the paths of a pair end farther apart than rounding can bring them together.

        The end of the step does not compare such pairs, which saves 1 to 5 % of the instructions
        of a step with many pairs.
        """
        self.at[p].is_clear = 1

    def forget_clear(self, p: cython.Py_ssize_t) -> cython.void:
        """Clear the mark of `mark_clear`."""
        self.at[p].is_clear = 0

    @cython.inline
    def note_place(self, p: cython.Py_ssize_t, where: cython.int) -> cython.void:
        """Note in which part of the queue a pair is."""
        self.at[p].where = where

    @cython.inline
    def note_tier(self, p: cython.Py_ssize_t, tier: cython.int) -> cython.void:
        """Note the tier of a pair in the queue."""
        self.at[p].tier = tier

    @cython.inline
    def note_touch(self, p: cython.Py_ssize_t, touch: cython.int, face: cython.int) -> cython.void:
        """Note that a pair touches on a face, and how long that holds; forget it for face 0."""
        self.at[p].touch = touch if face else NO_TOUCH
        self.at[p].face = face

    def forget_touch(self, p: cython.Py_ssize_t) -> cython.void:
        """Forget on which side a pair touches."""
        self.at[p].touch = NO_TOUCH
        self.at[p].face = 0

    def check(self, dim: cython.int) -> None:
        """Verify the states and the lists; raise AssertionError if one is invalid."""
        seen: set = set()
        rows: set = set()
        listed: set = set()  # of row and pair

        for p in range(self.n):
            state: cython.int = self.at[p].state
            contact: cython.int = self.at[p].contact
            met: cython.int = self.at[p].met
            touch: cython.int = self.at[p].touch
            face: cython.int = self.at[p].face
            is_valid: cython.bint = (
                SOLID <= state <= SOFT
                and NO_CONTACT <= contact <= LASTING
                and NOT_MET <= met <= STALE
                and NO_TOUCH <= touch <= PARTS
                and (touch == NO_TOUCH) == (face == 0)
                and abs(face) <= dim
                and (state != FALL_THROUGH or (contact == FORMER and met == NOT_MET))
                and (state != SOFT or met == NOT_MET)
                and (state != STUCK or met != NOT_MET)
                and (state != CROSS_ONCE or met != NOT_MET)
                and (state < CROSS or (touch == NO_TOUCH and not self.at[p].is_clear))
            )
            assert is_valid, f"pair {p}: {state=} {contact=} {met=} {touch=} {face=}"
            key = (self.at[p].first, self.at[p].second, self.image_of(p))
            assert key not in seen, f"pair {p} is there twice: {key}"
            seen.add(key)
            rows.update(key[:2])
        for row in rows:
            self._add_listed(listed, row)
        for p in range(self.n):
            for row in (self.at[p].first, self.at[p].second):
                assert (row, p) in listed, f"pair {p} is not in the list of row {row}"

    def _add_listed(self, listed: set, row: cython.Py_ssize_t) -> cython.void:
        """Add the pairs in the list of a body, which must be in descending order."""
        last: cython.Py_ssize_t = self.n
        p: cython.Py_ssize_t = self.head_of(row)

        while p >= 0:
            assert p < last, f"the list of row {row} goes from pair {last} to {p}"
            assert row in (self.at[p].first, self.at[p].second), f"pair {p} is not of row {row}"
            last = p
            listed.add((row, p))
            p = self.next_of(p, row)
