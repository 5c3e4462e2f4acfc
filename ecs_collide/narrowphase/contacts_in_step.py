"""The contacts of a step: their begins and ends in it, and the contacts at its end.

A solid contact begins with an impact of two bodies that are not in contact.
Between two changes of a velocity each gap of a pair is linear in time, so a
change of a velocity gives the time at which the first gap opens and the contact
ends.  The contact lasts if the velocities change again before that time, or if
no gap exceeds the slop by then:

    gap ^                                  gap ^             /
        |                                      |           /
        |      it stays in contact             |         /   parts
      0 +______________________> time        0 +_______/______________> time
        ^        ^ velocities change           ^       ^ a resolution

Contacts of a step have numbers.  At its start these are the indices of the rows in `Contacts`;
solid contacts that begin within the step get the following numbers.

Invariant: for a solid pair in contact (`PairTable.has_contact`), `Pair.number` is the number of its
contact, and `opened` has the time and the side of its begin, and the time of its end.
"""

from __future__ import annotations

from ecs_collide._kernel import cython, struct
from ecs_collide._kernel.constants import BEGAN, ENDED, INF, Touched
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.broadphase.broadphase import Broadphase
from ecs_collide.broadphase.pair_table import (
    BEGUN,
    CROSS,
    CROSS_UNTIL_APART,
    FALL_THROUGH,
    LASTING,
    NO_CONTACT,
    NOT_MET,
    SOFT,
    PairTable,
)
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.contacts_between_steps import (
    CROSSING,
    LEAVING,
    PASSING,
    SOLID,
    UNTIL_APART,
    ContactRows,
    Contacts,
)
from ecs_collide.narrowphase.event_buffer import AT_END, AT_START, WITHIN, EventBuffer
from ecs_collide.narrowphase.placement import PositionCorrection
from ecs_collide.narrowphase.slopes import APART, OVERLAPPING, PENETRATING, Slopes

# Codes of events.END_REASONS.
SEPARATED = 0
FILTER_CHANGED = 3
DROPPED = 7

NOT_FOUND = 1e300  # in `OpenContact.parts`: not known yet, and treated as after the step


@struct
class OpenContact:
    """The begin of a solid contact that has not ended, and when it will."""

    time: cython.double  # the begin, as a fraction of this step; -1 if it is older
    # time at which the bodies part on their present paths; 1 or more after the step's end
    parts: cython.double
    axis: cython.schar  # of the normal at its begin
    sign: cython.schar
    had_impact: cython.schar  # 1 if its bodies have met in this step


@cython.final
class ContactsInStep:
    """The contacts of the pairs of a step."""

    bodies: Bodies
    pairs: PairTable
    broadphase: Broadphase
    correction: PositionCorrection
    event_buffer: EventBuffer
    contacts: Contacts
    rows: ContactRows  # of `contacts`
    next_rows: ContactRows  # the contacts at the end of the step, filled by `compare`
    # number of contacts at the step's start, and of solid ones begun since
    n_open: cython.Py_ssize_t
    opened: cython.pointer[OpenContact]  # by the number of a contact
    memory: StructMemory
    # at most so many contacts have `NOT_FOUND` in `OpenContact.parts`: recalled ones, and `latest`
    n_unknown: cython.Py_ssize_t
    # the last pair whose contact began in this instant: its `parts` may be `NOT_FOUND`; or -1
    latest: cython.Py_ssize_t

    def __init__(
        self,
        contacts: Contacts,
        pairs: PairTable,
        broadphase: Broadphase,
        correction: PositionCorrection,
    ):
        self.bodies = contacts.bodies
        self.pairs = pairs
        self.broadphase = broadphase
        self.correction = correction
        self.event_buffer = contacts.event_buffer
        self.contacts = contacts
        self.rows = contacts.rows
        self.next_rows = ContactRows()
        self.memory = StructMemory()
        self.latest = -1
        self._make_room(8)

    # -- at the start of a step --

    def recall(self) -> cython.void:
        """Mark the pairs that are in contact since an earlier step."""
        n_left: cython.Py_ssize_t = 0
        p: cython.Py_ssize_t = -1
        rows: ContactRows = self.rows

        self.n_unknown = 0
        self._make_room(rows.n)
        for n in range(rows.n):
            i: cython.Py_ssize_t = rows.at[n].first
            j: cython.Py_ssize_t = rows.at[n].second
            if rows.at[n].kind == LEAVING:
                self.contacts.report_end(n, AT_START, 0.0, DROPPED)
                rows.at[n].kind = PASSING
            p = self.pairs.find_after(p, i, j, rows.at[n].image)
            if p >= 0:
                is_over: cython.bint = self._is_outdated(n, p)
            else:
                is_over = not self.broadphase.may_meet(i, j)
            if is_over:
                self.contacts.report_end(n, AT_START, 0.0, FILTER_CHANGED)
                continue
            rows.move(n, n_left)
            if p >= 0:
                self.restore(p, n_left)
                self._anchor(p, rows.at[n_left].axis)
                if rows.at[n_left].kind == SOLID:
                    self.opened[n_left].parts = NOT_FOUND
                    self.n_unknown += 1
            n_left += 1
        rows.cut(n_left)
        self.n_open = n_left
        self.latest = -1

    def find_partings(self) -> cython.void:
        """Find when contacts part, unless a change of a path has found it already.

        It waits for the end of the instant, because nearly all paths change at an impact, and in a
        crowd at time 0.
        """
        self._find_latest()
        for p in range(self.pairs.n if self.n_unknown else 0):
            n: cython.Py_ssize_t = self.pairs.at[p].number
            if self.pairs.at[p].contact == LASTING and self.opened[n].parts == NOT_FOUND:
                self.opened[n].parts = max(self._time_to_parting(p, 0.0), 0.0)
        self.n_unknown = 0

    def _find_latest(self) -> cython.void:
        """Find when the contact of the pair `latest` parts, unless that is known."""
        p: cython.Py_ssize_t = self.latest

        self.latest = -1
        if p < 0 or self.pairs.at[p].contact < BEGUN:
            return
        n: cython.Py_ssize_t = self.pairs.at[p].number
        if self.opened[n].parts == NOT_FOUND:
            now: cython.double = self.opened[n].time
            self.opened[n].parts = now + max(self._time_to_parting(p, now), 0.0)
            self.n_unknown -= 1

    def restore(self, p: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.void:
        """Put a pair into a contact that existed at the start of the step, both bodies at rest."""
        self.pairs.restore(p, n)
        if self.rows.at[n].kind == UNTIL_APART:
            self.pairs.restore_until_apart(p)
        elif self.rows.at[n].kind == PASSING:
            self.pairs.restore_passing(p)
        elif self.rows.at[n].kind == SOLID:
            self.pairs.enter(p)
            self.opened[n].parts = INF
            self.opened[n].time = -1.0
            self.opened[n].had_impact = 0
            self.opened[n].axis = self.rows.at[n].axis
            self.opened[n].sign = self.rows.at[n].sign

    def _make_room(self, n: cython.Py_ssize_t) -> cython.void:
        """Make room for `n` contacts within a step."""
        if n > self.memory.room:
            self.opened = cython.cast(
                cython.pointer(OpenContact), self.memory.grow(cython.sizeof(OpenContact), 2 * n)
            )

    # -- within a step --

    @cython.inline
    def leans(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether dynamic bodies touch since the last step, and met in it."""
        return (
            self.pairs.at[p].contact == LASTING
            and self.opened[self.pairs.at[p].number].time < 0.0
            and self.rows.at[self.pairs.at[p].number].had_impact
            and self.bodies.dynamic[self.pairs.at[p].first]
            and self.bodies.dynamic[self.pairs.at[p].second]
        )

    def meet(self, p: cython.Py_ssize_t, now: cython.double) -> cython.void:
        """Note that a solid pair has an impact; begin its contact, unless it is in contact."""
        n: cython.Py_ssize_t = self.pairs.at[p].number

        if self.pairs.at[p].contact >= BEGUN:
            self.opened[n].had_impact = 1
            return
        n = self.pairs.contact_of(p)
        if n < 0:
            n = self.n_open
            self._make_room(n + 1)
            self.n_open = n + 1
            self.pairs.note_number(p, n)
        self._find_latest()
        self.latest = p
        self.pairs.enter(p)
        self.opened[n].parts = NOT_FOUND
        self.n_unknown += 1
        self.opened[n].time = now
        self.opened[n].had_impact = 1
        self.opened[n].axis = self.pairs.impact[p].axis
        self.opened[n].sign = self.pairs.impact[p].sign
        self.log(p, BEGAN, WITHIN, now, self.opened[n].axis, self.opened[n].sign, SOLID, -1)

    def follow(self, p: cython.Py_ssize_t, now: cython.double) -> cython.void:
        """Find when a solid pair in contact parts after a change of path; end it if it has."""
        n: cython.Py_ssize_t = self.pairs.at[p].number
        rest: cython.double = self._time_to_parting(p, now)

        if rest < 0.0:
            self.part(p, now)
        else:
            self.n_unknown -= self.opened[n].parts == NOT_FOUND
            self.opened[n].parts = now + rest

    def part(self, p: cython.Py_ssize_t, now: cython.double) -> cython.void:
        """End the contact of a solid pair at `now`, or earlier if its bodies parted earlier."""
        n: cython.Py_ssize_t = self.pairs.at[p].number

        self.pairs.part(p)
        self._log_end(p, n, WITHIN, min(self.opened[n].parts, now))

    def open(self, p: cython.Py_ssize_t, now: cython.double) -> cython.void:
        """End the contact of a solid pair that crosses from `now` on, if it is in contact."""
        n: cython.Py_ssize_t = self.pairs.at[p].number

        if self.pairs.at[p].contact >= BEGUN:
            self.pairs.part(p)
            self.log(
                p, ENDED, WITHIN, now, self.opened[n].axis, self.opened[n].sign,
                SOLID, FILTER_CHANGED,
            )  # fmt: skip
            if self.pairs.had_contact(p):
                self._leave(self.pairs.at[p].first, self.pairs.at[p].second)
        self.forget_former(p)

    def forget_former(self, p: cython.Py_ssize_t) -> cython.void:
        """Mark the contact that a pair had at the step's start as handled."""
        if self.pairs.had_contact(p):
            self.rows.at[self.pairs.at[p].number].is_handled = 1
            self.pairs.forget_former(p)

    def end_crossing(self, p: cython.Py_ssize_t) -> cython.void:
        """End the contact of a crossing pair that does not overlap at the step's start."""
        self.contacts.report_end(self.pairs.at[p].number, AT_START, 0.0, SEPARATED)
        self._leave(self.pairs.at[p].first, self.pairs.at[p].second)
        self.forget_former(p)

    def end_withdrawn(self, p: cython.Py_ssize_t, now: cython.double) -> cython.void:
        """End the contact of a solid pair that has parted before one of its bodies is withdrawn."""
        if (
            self.pairs.at[p].contact >= BEGUN
            and self.pairs.at[p].state < CROSS
            and self.opened[self.pairs.at[p].number].parts < now
        ):
            self.part(p, now)

    def _time_to_parting(self, p: cython.Py_ssize_t, now: cython.double) -> cython.double:
        """Return the time from `now` until the first gap of a pair opens; below 0 if one is.

        A time of 1 or more may be inf.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        clear: cython.double = b.clear_gap()
        rest: cython.double = INF

        if self.correction.slopes.find(i, j):
            return self.correction.slopes.time_to_parting(now, self.pairs, p)
        for k in range(b.dim):
            centre1: cython.double = b.centre_at(i, k, now)
            centre2: cython.double = b.centre_at(j, k, now) + self.pairs.offset_of(p, k)
            half1: cython.double = b.half_at(i, k, now)
            half2: cython.double = b.half_at(j, k, now)
            growth: cython.double = b.resize_of(i, k) + b.resize_of(j, k)
            gap: cython.double = (centre2 - half2) - (centre1 + half1)
            plus: cython.double = (centre1 - half1) - (centre2 + half2)
            nearer: cython.double = plus if plus > gap else gap
            if nearer > clear or (nearer > 0.0 and nearer > b.slop_between(i, j, k)):
                return -1.0
            rate: cython.double = b.motion_of(i, k) - b.motion_of(j, k)
            opening: cython.double = -rate - growth
            # Few gaps open within a step, so the first comparison is well predicted.
            if opening > -gap and opening > 0.0:
                rest = min(rest, max(0.0, -gap) / opening)
            opening = rate - growth
            if opening > -plus and opening > 0.0:
                rest = min(rest, max(0.0, -plus) / opening)
        return rest

    def log(
        self,
        p: cython.Py_ssize_t,
        event: cython.int,
        phase: cython.int,
        time: cython.double,
        axis: cython.int,
        sign: cython.int,
        kind: cython.int,
        reason: cython.int,
    ) -> cython.void:
        """Log that the contact of a pair began, or ended for `reason`."""
        b: Bodies = self.bodies
        s: Slopes = self.correction.slopes
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        self.event_buffer.image = self.pairs.image_of(p)
        s.find_normal(i, j, axis, sign)
        self.event_buffer.add_contact(event, phase, time, b.ids[i], b.ids[j], s.unit, kind, reason)

    def _log_end(
        self,
        p: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        phase: cython.int,
        time: cython.double,
    ) -> cython.void:
        """Log that the bodies of a solid pair have parted.

        Neither body counts as at rest in this step, because it may have lost its support.
        """
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        self.log(p, ENDED, phase, time, self.opened[n].axis, self.opened[n].sign, SOLID, SEPARATED)
        if self.pairs.had_contact(p):
            self._leave(i, j)
        self._count_anew(i)
        self._count_anew(j)

    def _count_anew(self, i: cython.Py_ssize_t) -> cython.void:
        """Restart the count of a body's steps at rest, unless it sleeps."""
        if not self.bodies.asleep[i]:
            self.bodies.rest_count[i] = self.bodies.interrupted[i] = 0

    # -- at the end of a step --

    def _is_outdated(self, n: cython.Py_ssize_t, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bodies of a contact treat each other in another way now."""
        kind: cython.int = self.rows.at[n].kind

        if kind == PASSING:
            return not self.pairs.is_one_way(p, self.bodies)
        return kind != UNTIL_APART and (kind == CROSSING) != self.pairs.crosses(p)

    def _anchor(self, p: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Anchor a dynamic body to a static or kinematic one that it touches and moves with."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        if not self.pairs.is_solid(p) or b.path_velocity(i, k) != b.path_velocity(j, k):
            return
        if not b.dynamic[j]:
            b.anchor(i, j, k, 0.0)
        elif not b.dynamic[i]:
            b.anchor(j, i, k, 0.0)

    def _touches(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a solid pair touches at the step's end; set the side in `correction`."""
        if self.pairs.at[p].is_clear:
            return False
        relation: cython.int = self.correction.final_placement(p)
        return relation != APART and (relation != PENETRATING or self.correction.n_near == 1)

    def _overlaps(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a crossing pair overlaps at the step's end; set the side in `correction`."""
        if self.pairs.at[p].state == SOFT:
            return self.correction.overlaps_softly(p)
        if self.pairs.at[p].contact < BEGUN:
            return False
        relation: cython.int = self.correction.relative_placement(p)
        k: cython.int = self.correction.axis
        if relation == OVERLAPPING or self.correction.gap < 0.0:
            return True
        # The faces touch: the bodies have just entered each other if they close, else they leave.
        closing: cython.double = self.bodies.motion_of(self.pairs.at[p].second, k)
        closing = (
            closing - self.bodies.motion_of(self.pairs.at[p].first, k)
        ) * self.correction.sign
        return closing > 0.0

    def compare(self) -> cython.void:
        """Log the begins and ends that are found at the end of the step, and store the contacts."""
        b: Bodies = self.bodies
        rows: ContactRows = self.rows

        self.next_rows.clear()
        for p in range(self.pairs.n):
            if self.pairs.at[p].state >= CROSS:
                self._compare_crossing(p)
            elif self.pairs.at[p].contact != NO_CONTACT or not self.pairs.at[p].is_clear:
                self._compare_solid(p)
        for n in range(rows.n):
            if rows.at[n].is_handled:
                continue
            i: cython.Py_ssize_t = rows.at[n].first
            j: cython.Py_ssize_t = rows.at[n].second
            self.event_buffer.image = rows.at[n].image
            if (
                b.moves[i] or b.moves[j] or (b.touched[i] | b.touched[j]) & Touched.BY_GAME
            ) and not self._is_skipped(n):
                self.contacts.report_end(n, AT_END, 1.0, SEPARATED)
                self._leave(i, j)
            else:
                self._keep_as(n, rows.at[n].kind)
        rows.swap(self.next_rows)
        self.broadphase.images.rest()

    def _is_skipped(self, n: cython.Py_ssize_t) -> cython.bint:
        """Return whether there was no room for the pair of a contact."""
        i: cython.Py_ssize_t = self.rows.at[n].first
        j: cython.Py_ssize_t = self.rows.at[n].second

        self.broadphase.images.select(self.rows.at[n].image)
        return self.broadphase.skips(i, j) or (
            self.broadphase.waits(i, j) and self.pairs.find(i, j) < 0
        )

    def _keep(
        self,
        p: cython.Py_ssize_t,
        kind: cython.int,
        axis: cython.int,
        sign: cython.int,
        since: cython.double,
    ) -> cython.void:
        """Store the contact of a pair for the next step."""
        had_impact: cython.bint = (
            kind == SOLID
            and self.pairs.at[p].contact >= BEGUN
            and self.opened[self.pairs.at[p].number].had_impact
        )
        self.next_rows.add(
            self.pairs.at[p].first, self.pairs.at[p].second, kind, axis, sign,
            had_impact, self.event_buffer.image, since,
        )  # fmt: skip

    def _keep_as(self, n: cython.Py_ssize_t, kind: cython.int) -> cython.void:
        """Store a contact of the step's start, with a kind, for the next step."""
        rows: ContactRows = self.rows

        self.next_rows.add(
            rows.at[n].first, rows.at[n].second, kind, rows.at[n].axis, rows.at[n].sign,
            rows.at[n].had_impact, self.event_buffer.image, rows.at[n].since,
        )  # fmt: skip

    def _handle(self, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Mark the contact of a pair at the step's start as handled; return its number, or -1."""
        n: cython.Py_ssize_t = self.pairs.contact_of(p)

        self.event_buffer.image = self.pairs.image_of(p)
        if n >= 0:
            self.rows.at[n].is_handled = 1
        return n

    def _compare_solid(self, p: cython.Py_ssize_t) -> cython.void:
        """Update the contact of a solid pair at the end of the step."""
        b: Bodies = self.bodies
        s: PositionCorrection = self.correction
        n: cython.Py_ssize_t = self._handle(p)
        is_open: cython.bint = self.pairs.at[p].contact >= BEGUN

        if self.pairs.at[p].state == FALL_THROUGH:
            if self.pairs.at[p].is_withdrawn or s.relative_placement(p) != APART:
                self._keep_as(n, PASSING)
            return
        since: cython.double = self.contacts.clock + b.dt
        if is_open:
            n = self.pairs.at[p].number
            if self.opened[n].time >= 0.0:
                since = self.contacts.clock + self.opened[n].time * b.dt
            else:
                since = self.rows.at[n].since
        if self.pairs.at[p].is_withdrawn:
            if is_open:
                self._keep(p, SOLID, self.opened[n].axis, self.opened[n].sign, since)
        elif self._touches(p):
            if not is_open:
                self.log(p, BEGAN, AT_END, 1.0, s.axis, s.sign, SOLID, -1)
            self._keep(p, SOLID, s.axis, s.sign, since)
        elif is_open:
            if self.opened[n].parts < 1.0:
                self._log_end(p, n, WITHIN, self.opened[n].parts)
            else:
                self._log_end(p, n, AT_END, 1.0)

    def _compare_crossing(self, p: cython.Py_ssize_t) -> cython.void:
        """Update the contact of a crossing pair at the end of the step.

        If members of a soft crowd begin or cease to overlap, it is reported at time 1, because
        the time within the step is unknown.
        """
        b: Bodies = self.bodies
        s: PositionCorrection = self.correction
        n: cython.Py_ssize_t = self._handle(p)
        is_open: cython.bint = self.pairs.at[p].contact >= BEGUN
        axis: cython.int = self.pairs.impact[p].axis
        sign: cython.int = self.pairs.impact[p].sign
        kind: cython.int = CROSSING
        began: cython.double = 1.0

        if self.pairs.at[p].state == CROSS_UNTIL_APART:
            kind = UNTIL_APART
        if self.pairs.at[p].met != NOT_MET and self.pairs.impact[p].began >= 0.0:
            began = self.pairs.impact[p].began
        if self.pairs.at[p].is_withdrawn:
            exists: cython.bint = n >= 0 or is_open
        else:
            exists = self._overlaps(p)
        if exists and n >= 0:
            self._keep_as(n, kind)
        elif exists:
            if not is_open:
                axis, sign = s.axis, s.sign
                self.log(p, BEGAN, AT_END, 1.0, axis, sign, CROSSING, -1)
            self._keep(p, kind, axis, sign, self.contacts.clock + began * b.dt)
        elif n >= 0:
            self.contacts.report_end(n, AT_END, 1.0, SEPARATED)
            self._leave(self.pairs.at[p].first, self.pairs.at[p].second)
        elif is_open:
            self.log(p, ENDED, AT_END, 1.0, axis, sign, CROSSING, SEPARATED)

    def _leave(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Note the sleeping bodies that lose their support by the end of a contact."""
        if self.bodies.is_held(i) and not self.bodies.dynamic[j]:
            self.contacts.left.append(i)
        if self.bodies.is_held(j) and not self.bodies.dynamic[i]:
            self.contacts.left.append(j)

    def check(self) -> None:
        """Verify the contacts of the pairs; raise AssertionError if a number is wrong."""
        seen: set = set()

        for p in range(self.pairs.n):
            if self.pairs.at[p].state >= CROSS and not self.pairs.had_contact(p):
                continue  # its contact has no number
            if self.pairs.at[p].contact != NO_CONTACT:
                n: cython.Py_ssize_t = self.pairs.at[p].number
                assert 0 <= n < self.n_open, f"pair {p}: there is no contact {n}"
                assert n not in seen, f"contact {n} is that of pair {p} and of another"
                seen.add(n)
