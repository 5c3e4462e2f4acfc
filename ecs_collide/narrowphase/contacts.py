"""Contacts between bodies, kept from step to step.

A solid contact begins with an impact of two bodies that are not in contact.
Between two changes of a velocity each gap of a pair is linear in time, so when
a velocity changes, the time at which the first gap opens is known: there the
contact ends.  It goes on if the velocities change again before that time, or
if no gap exceeds the slop by then:

    gap ^                                  gap ^             /
        |                                      |           /
        |      it stays in contact             |         /   parts
      0 +______________________> time        0 +_______/______________> time
        ^        ^ velocities change           ^       ^ an answer

Invariant: of a solid pair `Pair.inside` is 1 while it is in contact, and
`PairImpact.contact` then is the place of the contact in `opened` and
`side`, and `PairImpact.parts` is when the two part.
"""

from __future__ import annotations

import numpy as np

from ecs_collide._kernel import Public, ReadOnly, cython, may_raise
from ecs_collide._kernel.arrays import BYTE, DOUBLE, LONG, grown, zeros
from ecs_collide._kernel.constants import BEGAN, ENDED, INF, Touched
from ecs_collide.broadphase.broadphase import Broadphase
from ecs_collide.broadphase.images import widths_of
from ecs_collide.broadphase.pair_table import (
    CROSS,
    CROSS_UNTIL_APART,
    FALL_THROUGH,
    FIRST,
    LASTING,
    NO_CONTACT,
    NOT_MET,
    SECOND,
    SOFT,
    PairTable,
)
from ecs_collide.motion.bodies import CENTRE, HALF, MOTION, RESIZE, Bodies
from ecs_collide.narrowphase.event_buffer import AT_END, AT_START, REASON, WITHIN, EventBuffer
from ecs_collide.narrowphase.placement import (
    APART,
    OVERLAPPING,
    PENETRATING,
    PositionCorrection,
    soft_overlap,
)

# Codes of events.ContactKind and events.END_REASONS.
SOLID = 0
CROSSING = 1
PASSING = 2  # one falls through the other; no event reports it
LEAVING = 3  # solid until the next step, in which one begins to fall through the other
UNTIL_APART = 4  # crossing until they separate, as a response has decided
SEPARATED = 0
FILTER_CHANGED = 3
DROPPED = 7

NOT_FOUND = 1e300  # in `PairImpact.parts`: not known yet; until then, after the end of the step

# The columns of `Contacts.rows`, beside FIRST and SECOND.
KIND = 2
AXIS = 3
SIGN = 4
HANDLED = 5
N_COLUMNS = 6


@cython.final
class Contacts:
    """The contacts of a space."""

    bodies: Bodies
    pairs: PairTable
    broadphase: Broadphase
    correction: PositionCorrection
    event_buffer: EventBuffer
    # list of int: rows of sleeping bodies that have lost a contact; the caller clears it
    left: ReadOnly[list]
    n_pressed: cython.Py_ssize_t
    n_free: cython.Py_ssize_t
    # (n_pressed or more,) and (n_free or more,): rows of the moving bodies that lay against
    # others at the step's start, where both yield; and of all other moving ones
    pressed: cython.longlong[::1]
    free: cython.longlong[::1]
    is_pressed: cython.schar[::1]
    # list of int: rows of bodies all of whose contacts were ended before a step; the caller
    # clears it
    forgotten: ReadOnly[list]
    n: Public[cython.Py_ssize_t]
    # (n or more, 5): first, second (rows), kind, axis, sign, and during a step 1 once the contact
    # has been handled
    rows: Public[cython.longlong[:, ::1]]
    next_rows: cython.longlong[:, ::1]
    # (n or more,): when each began, in seconds of the space's time
    since: Public[cython.double[::1]]
    next_since: cython.double[::1]
    clock: Public[cython.double]  # the space's time at the start of the step, in seconds
    # (n or more,): in a world that wraps, by which image of the second body they touch; see
    # `broadphase.images`
    images: Public[cython.longlong[::1]]
    next_images: cython.longlong[::1]
    # within a step: number of contacts at its start, and of solid ones that have begun since
    n_open: cython.Py_ssize_t
    is_recalled: cython.bint  # whether `PairImpact.parts` may be `NOT_FOUND` yet
    # (n_open or more,): when in this step it began; -1 where it is older
    opened: cython.double[::1]
    side: cython.schar[::1]  # (n_open or more,): the normal of a solid contact: (axis + 1) * sign
    n_kept: cython.Py_ssize_t
    kept_rows: cython.longlong[:, ::1]
    kept_since: cython.double[::1]
    kept_images: cython.longlong[::1]

    def __init__(
        self,
        bodies: Bodies,
        pairs: PairTable,
        broadphase: Broadphase,
        correction: PositionCorrection,
        event_buffer: EventBuffer,
    ):
        self.bodies = bodies
        self.pairs = pairs
        self.broadphase = broadphase
        self.correction = correction
        self.event_buffer = event_buffer
        self.left = []
        self.forgotten = []
        self.n = self.n_pressed = self.n_free = 0
        self.pressed = zeros(LONG, 1)
        self.free = zeros(LONG, 1)
        self.is_pressed = zeros(BYTE, 1)
        self.clock = 0.0
        self.rows = zeros(LONG, 16, N_COLUMNS)
        self.next_rows = zeros(LONG, 16, N_COLUMNS)
        self.since = zeros(DOUBLE, 16)
        self.next_since = zeros(DOUBLE, 16)
        self.images = zeros(LONG, 16)
        self.next_images = zeros(LONG, 16)
        self.n_open = 0
        self.is_recalled = False
        self.opened = zeros(DOUBLE, 16)
        self.side = zeros(BYTE, 16)
        self.n_kept = 0
        self.kept_rows = zeros(LONG, 16, N_COLUMNS)
        self.kept_since = zeros(DOUBLE, 16)
        self.kept_images = zeros(LONG, 16)

    @cython.ccall
    @may_raise
    def keep(self) -> cython.void:
        """Copy the contacts before a step, for `kept`."""
        n: cython.Py_ssize_t
        k: cython.int

        if self.kept_rows.shape[0] < self.rows.shape[0]:
            self.kept_since = zeros(DOUBLE, self.rows.shape[0])
            self.kept_images = zeros(LONG, self.rows.shape[0])
            self.kept_rows = zeros(LONG, self.rows.shape[0], N_COLUMNS)
        if cython.compiled:
            for n in range(self.n):
                self.kept_since[n] = self.since[n]
                for k in range(N_COLUMNS):
                    self.kept_rows[n, k] = self.rows[n, k]
            for n in range(self.n if self.bodies.wraps else 0):
                self.kept_images[n] = self.images[n]
            self.n_kept = self.n
        else:
            _keep_at_once(self)

    def kept(self) -> tuple:
        """Return the contacts copied by `keep`: arguments of `recover` and `recover_images`."""
        n: cython.Py_ssize_t = self.n_kept

        return self.kept_rows[:n], self.kept_since[:n], self.kept_images[:n]

    @cython.ccall
    @may_raise
    def find_pressed(self, moving: cython.longlong[::1]) -> cython.void:
        """Find which of some moving bodies are in contact with others where both yield.

        Sets `pressed`, and `free` if there are any.  In a world that wraps none is pressed: there,
        pairs across an edge are found by the paths alone.
        """
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        side: cython.int

        if self.free.shape[0] < b.centre.shape[0]:
            self.is_pressed = zeros(BYTE, b.centre.shape[0])
            self.pressed = zeros(LONG, b.centre.shape[0])
            self.free = zeros(LONG, b.centre.shape[0])  # last: by it the room is known
        self.n_pressed = self.n_free = 0
        for n in range(0 if b.wraps else self.n):
            if self.rows[n, KIND] != SOLID or not b.yields[self.rows[n, FIRST]]:
                continue
            if not b.yields[self.rows[n, SECOND]]:
                continue
            for side in range(2):
                self.is_pressed[self.rows[n, side]] = 1
        for n in range(moving.shape[0] if self.n and not b.wraps else 0):
            i: cython.Py_ssize_t = moving[n]
            if self.is_pressed[i]:
                self.pressed[self.n_pressed] = i
                self.n_pressed += 1
            else:
                self.free[self.n_free] = i
                self.n_free += 1
        for n in range(0 if b.wraps else self.n):
            self.is_pressed[self.rows[n, FIRST]] = self.is_pressed[self.rows[n, SECOND]] = 0

    @may_raise
    def recall(self) -> cython.void:
        """Mark the pairs that have been in contact since the step before."""
        n: cython.Py_ssize_t
        kept: cython.Py_ssize_t = 0
        p: cython.Py_ssize_t = -1

        self._make_room(self.n)
        for n in range(self.n):
            if self.rows[n, KIND] == LEAVING:
                self._report_end(n, AT_START, 0.0, DROPPED)
                self.rows[n, KIND] = PASSING
            if self.bodies.wraps:
                p = self.pairs.find_image(self.rows[n, FIRST], self.rows[n, SECOND], self.images[n])
            elif self._is_of(n, p + 1):  # mostly pairs come in the order of the step before
                p += 1
            else:
                p = self.pairs.find(self.rows[n, FIRST], self.rows[n, SECOND])
            if p < 0 and not self.broadphase.may_meet(self.rows[n, FIRST], self.rows[n, SECOND]):
                self._report_end(n, AT_START, 0.0, FILTER_CHANGED)
                continue
            if p >= 0 and self._is_outdated(n, p):
                self._report_end(n, AT_START, 0.0, FILTER_CHANGED)
                continue
            self._move(n, kept)
            if p >= 0:
                self.restore(p, kept)
                if self.rows[kept, KIND] != PASSING:
                    self._anchor(p, self.rows[kept, AXIS])
                if self.rows[kept, KIND] == SOLID:
                    self.pairs.impact[p].parts = NOT_FOUND
            kept += 1
        self.n = self.n_open = kept
        self.is_recalled = True
        if self.bodies.rare.any_carrier:  # these ask for it at time 0
            self.find_partings()

    @cython.cfunc
    @cython.inline
    def _is_of(self, n: cython.Py_ssize_t, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a contact is that of a pair, if there is such a pair."""
        return (
            p < self.pairs.n
            and self.pairs.at[p].first == self.rows[n, FIRST]
            and self.pairs.at[p].second == self.rows[n, SECOND]
        )

    def find_partings(self) -> cython.void:
        """Find when the recalled contacts part, where no change of a path has asked for that.

        In a crowd nearly all paths change at time 0, so this waits until the step goes on.
        """
        p: cython.Py_ssize_t

        for p in range(self.pairs.n if self.is_recalled else 0):
            if self.pairs.at[p].contact == LASTING and self.pairs.impact[p].parts == NOT_FOUND:
                self.pairs.impact[p].parts = max(self._time_to_parting(p, 0.0), 0.0)
        self.is_recalled = False

    def restore(self, p: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.void:
        """Put a pair into a contact that existed at the start of the step, both bodies at rest."""
        self.pairs.restore(p, n)
        if self.rows[n, KIND] == UNTIL_APART:
            self.pairs.restore_until_apart(p)
        elif self.rows[n, KIND] == PASSING:
            self.pairs.restore_passing(p)
        elif self.rows[n, KIND] == SOLID:
            self.pairs.enter(p)
            self.pairs.impact[p].parts = INF
            self.opened[n] = -1.0
            self.side[n] = (self.rows[n, AXIS] + 1) * self.rows[n, SIGN]

    @may_raise
    def _make_room(self, n: cython.Py_ssize_t) -> cython.void:
        """Make room for `n` contacts within a step."""
        if n > self.opened.shape[0]:
            self.side = grown(self.side, 2 * n)
            self.opened = grown(self.opened, 2 * n)  # last: by it the room is known

    # -- within a step --

    @may_raise
    def meet(self, p: cython.Py_ssize_t, now: cython.double) -> cython.int:
        """Begin the contact of a solid pair that has an impact, unless it is in contact."""
        if self.pairs.has_contact(p):
            return 0
        n: cython.Py_ssize_t = self.pairs.contact_of(p)
        if n < 0:
            n = self.n_open
            self._make_room(n + 1)
            self.n_open = n + 1
            self.pairs.impact[p].contact = n
        self.pairs.enter(p)
        self.pairs.impact[p].parts = now + max(self._time_to_parting(p, now), 0.0)
        self.opened[n] = now
        self.side[n] = (self.pairs.impact[p].axis + 1) * self.pairs.impact[p].sign
        self._log(p, BEGAN, WITHIN, now, self.pairs.impact[p].axis, self.pairs.impact[p].sign)
        return 0

    @may_raise
    def follow(self, p: cython.Py_ssize_t, now: cython.double) -> cython.int:
        """Find when a solid pair in contact parts, now that a path has changed; end it if it has."""
        rest: cython.double = self._time_to_parting(p, now)

        if rest < 0.0:
            self.part(p, now)
        else:
            self.pairs.impact[p].parts = now + rest
        return 0

    @may_raise
    def part(self, p: cython.Py_ssize_t, now: cython.double) -> cython.void:
        """End the contact of a solid pair, at `now` or when its bodies parted before that."""
        n: cython.Py_ssize_t = self.pairs.impact[p].contact

        self.pairs.part(p)
        self._log_end(p, n, WITHIN, min(self.pairs.impact[p].parts, now))

    @may_raise
    def open(self, p: cython.Py_ssize_t, now: cython.double) -> cython.void:
        """Make a solid pair cross: end its contact at `now`, if it is in one."""
        n: cython.Py_ssize_t = self.pairs.impact[p].contact

        if self.pairs.has_contact(p):
            self.pairs.part(p)
            self._log(p, ENDED, WITHIN, now, abs(self.side[n]) - 1, 1 if self.side[n] > 0 else -1)
            self.event_buffer.contact_codes[self.event_buffer.n_contacts - 1, REASON] = (
                FILTER_CHANGED
            )
            if self.pairs.had_contact(p):
                self._leave(self.pairs.at[p].first, self.pairs.at[p].second)
        self.forget_known(p)

    def forget_known(self, p: cython.Py_ssize_t) -> cython.void:
        """Mark the contact that a pair had at the step's start as handled."""
        if self.pairs.had_contact(p):
            self.rows[self.pairs.impact[p].contact, HANDLED] = 1
            self.pairs.forget_former(p)

    @may_raise
    def end_crossing(self, p: cython.Py_ssize_t) -> cython.void:
        """End the contact of a crossing pair that does not overlap at the step's start."""
        self._report_end(self.pairs.impact[p].contact, AT_START, 0.0, SEPARATED)
        self._leave(self.pairs.at[p].first, self.pairs.at[p].second)
        self.forget_known(p)

    def until_apart(self) -> set:
        """Return the rows of the bodies that cross until they separate, each two in both orders."""
        n: cython.Py_ssize_t
        found: set = set()

        for n in range(self.n):
            if self.rows[n, KIND] == UNTIL_APART:
                found.add((self.rows[n, FIRST], self.rows[n, SECOND]))
                found.add((self.rows[n, SECOND], self.rows[n, FIRST]))
        return found

    @may_raise
    def end_withdrawn(self, p: cython.Py_ssize_t, now: cython.double) -> cython.void:
        """End the contact of a solid pair whose bodies have parted before one of them is taken out."""
        if (
            self.pairs.has_contact(p)
            and not self.pairs.crosses(p)
            and self.pairs.impact[p].parts < now
        ):
            self.part(p, now)

    def _time_to_parting(self, p: cython.Py_ssize_t, now: cython.double) -> cython.double:
        """Return how long after `now` the first gap of a pair opens; below 0 if one is open."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        path: cython.p_double = b.flat_path
        one: cython.Py_ssize_t = b.n_path * i
        two: cython.Py_ssize_t = b.n_path * j
        way1: cython.double = now - b.base[i]
        way2: cython.double = now - b.base[j]
        k: cython.int
        wraps: cython.bint = b.wraps
        resizes: cython.bint = b.any_resize
        clear: cython.double = b.clear_gap()
        rest: cython.double = INF

        for k in range(b.dim):
            centre1: cython.double = path[one + CENTRE] + path[one + MOTION] * way1
            centre2: cython.double = path[two + CENTRE] + path[two + MOTION] * way2
            if wraps:
                centre2 += self.pairs.offset[p, k]
            half1: cython.double = path[one + HALF]
            half2: cython.double = path[two + HALF]
            growth: cython.double = 0.0
            if resizes:
                half1 = max(0.0, half1 + path[one + RESIZE] * way1)
                half2 = max(0.0, half2 + path[two + RESIZE] * way2)
                growth = path[one + RESIZE] + path[two + RESIZE]
            gap: cython.double = (centre2 - half2) - (centre1 + half1)
            plus: cython.double = (centre1 - half1) - (centre2 + half2)
            nearer: cython.double = max(gap, plus)
            if nearer > clear or (nearer > 0.0 and nearer > b.slop_between(i, j, k)):
                return -1.0
            rate: cython.double = path[one + MOTION] - path[two + MOTION]
            if -rate - growth > 0.0:
                rest = min(rest, max(0.0, -gap) / (-rate - growth))
            if rate - growth > 0.0:
                rest = min(rest, max(0.0, -plus) / (rate - growth))
            one += 4
            two += 4
        return rest

    @may_raise
    def _log(
        self,
        p: cython.Py_ssize_t,
        event: cython.int,
        phase: cython.int,
        time: cython.double,
        axis: cython.int,
        sign: cython.int,
    ) -> cython.void:
        """Log that the contact of a solid pair began, or that it ended because they parted."""
        if self.bodies.wraps:
            self.event_buffer.image = self.pairs.image[p]
        self.event_buffer.add_contact(
            event, phase, time,
            self.bodies.ids[self.pairs.at[p].first], self.bodies.ids[self.pairs.at[p].second],
            axis, sign, SOLID, -1 if event == BEGAN else SEPARATED,
        )  # fmt: skip

    @may_raise
    def _log_end(
        self,
        p: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        phase: cython.int,
        time: cython.double,
    ) -> cython.void:
        """Log that the bodies of a solid pair have parted.

        Neither rests in this step: what has held one until now may have been the other.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        side: cython.int = self.side[n]

        self._log(p, ENDED, phase, time, abs(side) - 1, 1 if side > 0 else -1)
        if self.pairs.had_contact(p):
            self._leave(i, j)
        if not b.asleep[i]:
            b.rest_count[i] = b.interrupted[i] = 0
        if not b.asleep[j]:
            b.rest_count[j] = b.interrupted[j] = 0

    # -- at its end --

    def _is_outdated(self, n: cython.Py_ssize_t, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bodies of a contact now treat each other in another way."""
        if self.rows[n, KIND] == PASSING:
            return self.pairs.crosses(p) or not self.bodies.rare.is_one_way(
                self.pairs.at[p].first, self.pairs.at[p].second
            )
        return self.rows[n, KIND] != UNTIL_APART and self.rows[n, KIND] != self.pairs.crosses(p)

    @may_raise
    def _report_end(
        self,
        n: cython.Py_ssize_t,
        phase: cython.int,
        time: cython.double,
        reason: cython.int,
    ) -> cython.void:
        """Report that a contact ended, unless its begin was not reported."""
        if self.bodies.wraps:
            self.event_buffer.image = self.images[n]
        if self.rows[n, KIND] != PASSING:
            self.event_buffer.add_contact(
                ENDED, phase, time,
                self.bodies.ids[self.rows[n, FIRST]], self.bodies.ids[self.rows[n, SECOND]],
                self.rows[n, AXIS], self.rows[n, SIGN], self._kind_reported(n), reason,
            )  # fmt: skip

    def _kind_reported(self, n: cython.Py_ssize_t) -> cython.int:
        """Return the kind of a contact as events have it."""
        if self.rows[n, KIND] == LEAVING:
            return SOLID
        return CROSSING if self.rows[n, KIND] == UNTIL_APART else self.rows[n, KIND]

    def _move(self, n: cython.Py_ssize_t, to: cython.Py_ssize_t) -> cython.void:
        """Move a contact to an earlier place in the table."""
        k: cython.int

        if n != to:
            for k in range(N_COLUMNS):
                self.rows[to, k] = self.rows[n, k]
            self.since[to] = self.since[n]
            if self.bodies.wraps:
                self.images[to] = self.images[n]

    def _anchor(self, p: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Anchor what goes along with an immovable body that it lies against."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        if self.pairs.crosses(p) or b.velocity[i, k] != b.velocity[j, k]:
            return
        if not b.yields[j]:
            b.anchor(i, j, k, 0.0)
        elif not b.yields[i]:
            b.anchor(j, i, k, 0.0)

    def _is_contact(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair is in contact at the end of the step; set the side in `correction`."""
        if not self.pairs.crosses(p):
            if self.pairs.at[p].is_clear:
                return False
            relation: cython.int = self.correction.final_placement(p)
            return relation != APART and (relation != PENETRATING or self.correction.n_near == 1)
        if not self.pairs.has_contact(p):
            return False
        relation = self.correction.solid_placement(p)
        k: cython.int = self.correction.axis
        if relation == OVERLAPPING or self.correction.gap < 0.0:
            return True
        # Entered in the last instant, or about to leave?
        closing: cython.double = self.bodies.motion_of(self.pairs.at[p].second, k)
        closing = (
            closing - self.bodies.motion_of(self.pairs.at[p].first, k)
        ) * self.correction.sign
        return closing > 0.0

    @may_raise
    def compare(self) -> cython.void:
        """Find the contacts that began and ended in the step, and keep those that exist."""
        b: Bodies = self.bodies
        p: cython.Py_ssize_t
        n: cython.Py_ssize_t
        n_before: cython.Py_ssize_t = self.n

        self.n = 0
        for p in range(self.pairs.n):
            if self.pairs.at[p].state == SOFT:
                self._compare_soft(p)
            elif self.pairs.at[p].state >= CROSS:
                self._compare_crossing(p)
            elif self.pairs.at[p].contact != NO_CONTACT or not self.pairs.at[p].is_clear:
                self._compare_solid(p)
        for n in range(n_before):
            if self.rows[n, HANDLED]:
                continue
            i: cython.Py_ssize_t = self.rows[n, FIRST]
            j: cython.Py_ssize_t = self.rows[n, SECOND]
            if b.wraps:
                self.event_buffer.image = self.images[n]
                self.broadphase.images.select(self.images[n])
            if (
                b.moves[i] or b.moves[j] or (b.touched[i] | b.touched[j]) & Touched.BY_GAME
            ) and not self._is_left_out(n):
                self._report_end(n, AT_END, 1.0, SEPARATED)
                self._leave(i, j)
            else:
                self._keep(
                    i, j, self.rows[n, KIND], self.rows[n, AXIS], self.rows[n, SIGN], self.since[n]
                )  # fmt: skip
        self.rows, self.next_rows = self.next_rows, self.rows
        self.since, self.next_since = self.next_since, self.since
        if b.wraps:
            self.images, self.next_images = self.next_images, self.images
            self.broadphase.images.rest()

    def _is_left_out(self, n: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bodies of a contact are not a pair because there was no room."""
        i: cython.Py_ssize_t = self.rows[n, FIRST]
        j: cython.Py_ssize_t = self.rows[n, SECOND]

        return self.broadphase.leaves_out(i, j) or (
            self.broadphase.waits(i, j) and self.pairs.find(i, j) < 0
        )

    @may_raise
    def _compare_solid(self, p: cython.Py_ssize_t) -> cython.int:
        """Update the contact of a solid pair at the end of the step."""
        b: Bodies = self.bodies
        s: PositionCorrection = self.correction
        n: cython.Py_ssize_t = self.pairs.contact_of(p)
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        is_open: cython.bint = self.pairs.has_contact(p)

        if b.wraps:
            self.event_buffer.image = self.pairs.image[p]
        if n >= 0:
            self.rows[n, HANDLED] = 1
        if self.pairs.at[p].state == FALL_THROUGH:
            if self.pairs.at[p].is_withdrawn or s.relative_placement(p) != APART:
                self._keep(i, j, PASSING, self.rows[n, AXIS], self.rows[n, SIGN], self.since[n])
            return 0
        if not is_open:
            since: cython.double = self.clock + b.dt
        else:
            n = self.pairs.impact[p].contact
            since = self.clock + self.opened[n] * b.dt if self.opened[n] >= 0.0 else self.since[n]
        if self.pairs.at[p].is_withdrawn:
            if is_open:
                k: cython.int = abs(self.side[n]) - 1
                self._keep(i, j, SOLID, k, 1 if self.side[n] > 0 else -1, since)
        elif self._is_contact(p):
            if not is_open:
                self._log(p, BEGAN, AT_END, 1.0, s.axis, s.sign)
            self._keep(i, j, SOLID, s.axis, s.sign, since)
        elif is_open:
            if self.pairs.impact[p].parts < 1.0:
                self._log_end(p, n, WITHIN, self.pairs.impact[p].parts)
            else:
                self._log_end(p, n, AT_END, 1.0)
        return 0

    @may_raise
    def _compare_crossing(self, p: cython.Py_ssize_t) -> cython.void:
        """Update the contact of a crossing pair at the end of the step."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t = self.pairs.contact_of(p)
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        axis: cython.int = self.pairs.impact[p].axis
        sign: cython.int = self.pairs.impact[p].sign
        began: cython.double = (
            self.pairs.impact[p].began if self.pairs.at[p].met != NOT_MET else -1.0
        )
        kind: cython.int = UNTIL_APART if self.pairs.at[p].state == CROSS_UNTIL_APART else CROSSING

        if b.wraps:
            self.event_buffer.image = self.pairs.image[p]
        if n >= 0:
            axis = self.rows[n, AXIS]
            sign = self.rows[n, SIGN]
            self.rows[n, HANDLED] = 1
        if began < 0.0:
            began = 1.0
        since: cython.double = self.since[n] if n >= 0 else self.clock + began * b.dt
        if self.pairs.at[p].is_withdrawn:
            if n >= 0 or self.pairs.has_contact(p):
                self._keep(i, j, kind, axis, sign, since)
        elif self._is_contact(p):
            self._keep(i, j, kind, axis, sign, since)
        elif n >= 0:
            self._report_end(n, AT_END, 1.0, SEPARATED)
            self._leave(i, j)
        elif self.pairs.has_contact(p):
            self.event_buffer.add_contact(
                ENDED, AT_END, 1.0, b.ids[i], b.ids[j], axis, sign, CROSSING, SEPARATED,
            )  # fmt: skip

    @may_raise
    def _compare_soft(self, p: cython.Py_ssize_t) -> cython.void:
        """Update the contact of two members of soft crowds at the end of the step.

        A begin or an end is reported at time 1: it is not known when in the step it happened.
        """
        n: cython.Py_ssize_t = self.pairs.contact_of(p)
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        side: cython.int = soft_overlap(self.bodies, i, j, self.pairs.offset, p)

        if self.bodies.wraps:
            self.event_buffer.image = self.pairs.image[p]
        if n >= 0:
            self.rows[n, HANDLED] = 1
            if side != 0 or self.pairs.at[p].is_withdrawn:
                self._keep(i, j, CROSSING, self.rows[n, AXIS], self.rows[n, SIGN], self.since[n])
            else:
                self._report_end(n, AT_END, 1.0, SEPARATED)
                self._leave(i, j)
        elif side != 0 and not self.pairs.at[p].is_withdrawn:
            self.event_buffer.add_contact(
                BEGAN, AT_END, 1.0, self.bodies.ids[i], self.bodies.ids[j],
                abs(side) - 1, 1 if side > 0 else -1, CROSSING, -1,
            )  # fmt: skip
            self._keep(
                i, j, CROSSING, abs(side) - 1, 1 if side > 0 else -1, self.clock + self.bodies.dt
            )

    @may_raise
    def _leave(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Note the sleeping bodies whose support is gone when the contact of two bodies has ended."""
        if self.bodies.is_held(i) and not self.bodies.yields[j]:
            self.left.append(i)
        if self.bodies.is_held(j) and not self.bodies.yields[i]:
            self.left.append(j)

    @may_raise
    def _keep(
        self,
        first: cython.Py_ssize_t,
        second: cython.Py_ssize_t,
        crossing: cython.int,
        axis: cython.int,
        sign: cython.int,
        since: cython.double,
    ) -> cython.int:
        n: cython.Py_ssize_t = self.n

        if n == self.next_rows.shape[0]:
            # The rows last: their length is the room there is.
            self.next_since = grown(self.next_since, 2 * n)
            self.next_rows = grown(self.next_rows, 2 * n)
        self.next_since[n] = since
        self.next_rows[n, FIRST] = first
        self.next_rows[n, SECOND] = second
        self.next_rows[n, KIND] = crossing
        self.next_rows[n, AXIS] = axis
        self.next_rows[n, SIGN] = sign
        self.next_rows[n, HANDLED] = 0
        if self.bodies.wraps:
            if n == self.next_images.shape[0]:
                self.next_images = grown(self.next_images, 2 * n)
            self.next_images[n] = self.event_buffer.image
        self.n = n + 1
        return 0

    def shift_images(self, shifts: cython.longlong[::1]):
        """Update the images after bodies were moved back into the world.

        Parameters
        ----------
        shifts : int64 (n_rows,)
            The image by which each body was moved.
        """
        n: cython.Py_ssize_t

        for n in range(self.n):
            self.images[n] += shifts[self.rows[n, SECOND]] - shifts[self.rows[n, FIRST]]

    def offsets_into(self, offsets: cython.double[:, ::1]):
        """Write the offset of the image of each contact's second body, float64 (n, dim)."""
        n: cython.Py_ssize_t
        k: cython.int

        if self.bodies.wraps:
            for n in range(self.n):
                for k in range(self.bodies.dim):
                    offsets[n, k] = widths_of(self.images[n], k) * self.bodies.width[k]

    def forget(self, row: cython.Py_ssize_t, reason: cython.int):
        """End all contacts of a body before a step, for `reason`."""
        n: cython.Py_ssize_t
        kept: cython.Py_ssize_t = 0

        self.forgotten.append(row)
        for n in range(self.n):
            if self.rows[n, FIRST] == row or self.rows[n, SECOND] == row:
                self._report_end(n, AT_START, 0.0, reason)
                partner: cython.Py_ssize_t = self.rows[n, FIRST] + self.rows[n, SECOND] - row
                if self.bodies.asleep[partner]:
                    self.left.append(partner)
            else:
                self._move(n, kept)
                kept += 1
        self.n = kept

    def wake_partners(self, row: cython.Py_ssize_t):
        """Note the sleeping bodies in contact with a body that the game has moved, to be woken."""
        n: cython.Py_ssize_t

        for n in range(self.n):
            if self.rows[n, FIRST] == row or self.rows[n, SECOND] == row:
                partner: cython.Py_ssize_t = self.rows[n, FIRST] + self.rows[n, SECOND] - row
                if self.bodies.asleep[partner]:
                    self.left.append(partner)

    def drop(self, row: cython.Py_ssize_t, platform: cython.Py_ssize_t) -> int:
        """Make a body fall through one-way bodies that it stands on, from the next step on.

        Parameters
        ----------
        row, platform : int
            Rows; a platform of -1 stands for all of them.

        Returns
        -------
        int
            Number of one-way bodies that the body begins to fall through.
        """
        n: cython.Py_ssize_t
        dropped: cython.Py_ssize_t = 0

        for n in range(self.n):
            if row not in (self.rows[n, FIRST], self.rows[n, SECOND]):
                continue
            if self.rows[n, KIND] != SOLID and self.rows[n, KIND] != LEAVING:
                continue
            other: cython.Py_ssize_t = self.rows[n, FIRST] + self.rows[n, SECOND] - row
            if platform >= 0 and other != platform:
                continue
            # Of the second body; the first has the opposite one.
            side: cython.int = (self.rows[n, AXIS] + 1) * self.rows[n, SIGN]
            if self.bodies.rare.one_way[other] != (
                side if self.rows[n, SECOND] == other else -side
            ):
                continue
            self.rows[n, KIND] = LEAVING
            dropped += 1
            if self.bodies.asleep[row]:  # pressed to the platform
                self.left.append(row)
        return dropped

    def recover_images(self, images: cython.longlong[::1]):
        """Set the images of all contacts, int64 (n,)."""
        n: cython.Py_ssize_t

        self.images = grown(self.images, max(self.n, self.images.shape[0]))
        for n in range(self.n):
            self.images[n] = images[n]

    def recover(self, rows: cython.longlong[:, ::1], since: cython.double[::1]):
        """Replace all contacts.

        Parameters
        ----------
        rows : int64 (n, 5)
            first, second (rows), kind, axis, sign.
        since : float64 (n,)
            When each began.
        """
        n: cython.Py_ssize_t
        k: cython.int

        self.n = 0
        if rows.shape[0] > self.rows.shape[0]:
            self.since = grown(self.since, rows.shape[0])
            self.rows = grown(self.rows, rows.shape[0])
        self.n = rows.shape[0]
        for n in range(self.n):
            self.since[n] = since[n]
            for k in range(HANDLED):
                self.rows[n, k] = rows[n, k]
            self.rows[n, HANDLED] = 0


def _keep_at_once(contacts):
    """Do what `Contacts.keep` does on whole arrays, which is faster in pure Python."""
    n = contacts.n
    for kept, now in (
        (contacts.kept_since, contacts.since),
        (contacts.kept_rows, contacts.rows),
        (contacts.kept_images, contacts.images),
    ):
        if len(now) >= n:
            np.asarray(kept)[:n] = np.asarray(now)[:n]
    contacts.n_kept = n
