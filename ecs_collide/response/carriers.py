"""Moving platforms: lifts and conveyor belts carry the bodies that stand on them.

A body in contact with the carrying face of another is its *rider*.  A body on the same side of a
rider is a rider too.  Within a step the velocity of a rider includes the velocity of its carrier.
Between steps its `Velocity` is its own:

    start of a step          v = own + carrier         before the paths are computed
    landing within it        v = own + carrier         from that instant
    end of the step          own = v - carrier         after the contacts are found
    before the next step     own = own + subtracted    if the rider has lost its carrier

Invariant between steps: the velocity of a rider in the world is its `Velocity` plus
`RiderTable.subtracted`.  If its carrier is deleted, teleported or stops carrying, this sum becomes
its `Velocity`.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython, may_raise
from ecs_collide._kernel.arrays import BYTE, DOUBLE, LONG, grown, nones, zeros
from ecs_collide._kernel.constants import FACE_ROUNDING
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.rare_columns import RareColumns
from ecs_collide.narrowphase.contacts_between_steps import SOLID, ContactRows
from ecs_collide.narrowphase.contacts_in_step import ContactsInStep
from ecs_collide.narrowphase.placement import PositionCorrection
from ecs_collide.narrowphase.slopes import Slopes
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.solver import Solver

SAME_SPEED = 2.0**-24  # of the speeds of a rider: velocities that differ by less are the same


class RiderTable:
    """The riders, their carriers and the velocities of the carriers."""

    n: ReadOnly[cython.Py_ssize_t]
    riders: ReadOnly[cython.longlong[::1]]  # (n or more,): rows
    carrier: ReadOnly[cython.longlong[::1]]  # (n_rows,): the row of a rider's carrier, or -1
    side: cython.schar[::1]  # (n_rows,): the code of the carrying face
    carrier_velocity: ReadOnly[cython.double[:, ::1]]  # (n_rows, dim): in units per second
    # (n_rows, dim): a rider's velocity in the world at the end of the last step, less its own
    # velocity: `carrier_velocity`, or less if it was held back
    subtracted: ReadOnly[cython.double[:, ::1]]

    def __init__(self, dim: cython.int):
        self.n = 0
        self.riders = zeros(LONG, 1)
        self.carrier = nones(1)
        self.side = zeros(BYTE, 1)
        self.carrier_velocity = zeros(DOUBLE, 1, dim)
        self.subtracted = zeros(DOUBLE, 1, dim)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.riders = grown(self.riders, n_rows)
        self.carrier = grown(self.carrier, n_rows, -1)
        self.side = grown(self.side, n_rows)
        self.carrier_velocity = grown(self.carrier_velocity, n_rows)
        self.subtracted = grown(self.subtracted, n_rows)

    def put(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, side: cython.int) -> cython.void:
        """Make body i a rider of a side of j, whether or not it rides already."""
        if self.carrier[i] < 0:
            self.riders[self.n] = i
            self.n += 1
        self.carrier[i] = j
        self.side[i] = side


@cython.final
class Carriers:
    """The riders of a space, before and after a step."""

    step: Step
    bodies: Bodies
    contacts: ContactsInStep
    solver: Solver
    n_rows: cython.Py_ssize_t
    # whether the game moves the bodies; then the game also sets velocities along a face
    sweeps: Public[cython.bint]
    now: ReadOnly[RiderTable]  # between steps: the riders at the end of the last step
    before: RiderTable
    # within a step: the riders at its start, and bodies that have landed since
    rode: ReadOnly[RiderTable]
    # (n_rows, dim): within a step: the own velocities of riders, without their carriers'
    own: cython.double[:, ::1]

    def __init__(self, step: Step, contacts: ContactsInStep, solver: Solver):
        bodies: Bodies = step.bodies

        self.step = step
        self.bodies = bodies
        self.contacts = contacts
        self.solver = solver
        self.sweeps = False
        self.n_rows = 1
        self.now = RiderTable(bodies.dim)
        self.before = RiderTable(bodies.dim)
        self.rode = RiderTable(bodies.dim)
        self.own = zeros(DOUBLE, 1, bodies.dim)

    def _make_room(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        if n_rows > self.n_rows:
            self.now.set_rows(n_rows)
            self.before.set_rows(n_rows)
            self.rode.set_rows(n_rows)
            self.own = grown(self.own, n_rows)
            self.n_rows = n_rows  # last, because an array may fail to grow

    def find_riders(self, at_rest: cython.bint):
        """Find the riders and their carriers from the contacts.

        `at_rest` states that the velocities of riders do not include their carriers'.
        """
        t: RareColumns = self.bodies.rare
        _n: cython.Py_ssize_t

        if t.any_carrier:
            self._make_room(self.bodies.ids.shape[0])
        self._clear(self.now)
        if not t.any_carrier:
            return
        # Bounded, because bodies that carry each other in a ring never converge.
        for _n in range(self.contacts.rows.n + 1):
            self.now, self.before = self.before, self.now
            if not self._pass(at_rest):
                break

    def _clear(self, ride: RiderTable) -> cython.void:
        n: cython.Py_ssize_t

        for n in range(ride.n):
            ride.carrier[ride.riders[n]] = -1
        ride.n = 0

    @may_raise
    def _pass(self, at_rest: cython.bint) -> cython.bint:
        """Find riders, given the riders of the previous pass; return whether they differ."""
        rows: ContactRows = self.contacts.rows
        new: RiderTable = self.now
        old: RiderTable = self.before
        n: cython.Py_ssize_t
        k: cython.int

        self._clear(new)
        for n in range(self.contacts.rows.n):
            if rows.at[n].kind == SOLID:
                # The normal points from the second body to the first.
                side: cython.int = rows.face(n)
                self._offer(new, old, rows.at[n].first, rows.at[n].second, side, at_rest)
                self._offer(new, old, rows.at[n].second, rows.at[n].first, -side, at_rest)
        if new.n != old.n:
            return True
        for n in range(new.n):
            i: cython.Py_ssize_t = new.riders[n]
            if new.carrier[i] != old.carrier[i] or new.side[i] != old.side[i]:
                return True
            for k in range(self.bodies.dim):
                if new.carrier_velocity[i, k] != old.carrier_velocity[i, k]:
                    return True
        return False

    def _offer(
        self,
        new: RiderTable,
        old: RiderTable,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        side: cython.int,
        at_rest: cython.bint,
    ) -> cython.void:
        """Make body i a rider of j in `new` if this side of j carries best of all so far.

        The best carrier moves fastest towards the rider; of equal ones, it comes first in space.
        `old` has the riders that carry others, and `at_rest` is that of `find_riders`.
        """
        b: Bodies = self.bodies
        rides: cython.bint = old.carrier[j] >= 0
        known: cython.Py_ssize_t = new.carrier[i]
        k: cython.int = abs(side) - 1

        if not b.dynamic[i] or not (b.rare.carries[j] == side or (rides and old.side[j] == side)):
            return
        at_rest = at_rest and rides
        if known >= 0:
            along: cython.double = self._carrier_velocity_of(old, i, j, side, k, at_rest)
            along *= 1 if side > 0 else -1
            best: cython.double = new.carrier_velocity[i, abs(new.side[i]) - 1]
            best *= 1 if new.side[i] > 0 else -1
            if along < best or (along == best and not b.precedes(j, known)):
                return
        new.put(i, j, side)
        for k in range(b.dim):
            new.carrier_velocity[i, k] = self._carrier_velocity_of(old, i, j, side, k, at_rest)

    def _carrier_velocity_of(
        self,
        ride: RiderTable,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        side: cython.int,
        k: cython.int,
        at_rest: cython.bint,
    ) -> cython.double:
        """Return the velocity on an axis with which a side of body j carries i.

        `ride` has the velocity with which j is carried itself.  `at_rest` states that the velocity
        of j does not include it.
        """
        b: Bodies = self.bodies

        if b.controls.locks(i, k):
            return 0.0
        if b.rare.carries[j] != side:
            return ride.carrier_velocity[j, k]
        return (
            b.velocity[j, k]
            + (ride.carrier_velocity[j, k] if at_rest else 0.0)
            + b.rare.speed_of_surface(j, side, k)
        )

    def recover(
        self,
        rows: cython.longlong[::1],
        carrier_velocity: cython.double[:, ::1],
        subtracted: cython.double[:, ::1],
    ):
        """Replace the riders of the last step; see `RiderTable` for the arrays."""
        n: cython.Py_ssize_t
        k: cython.int

        self._clear(self.now)
        self.contacts.contacts.forgotten.clear()
        if rows.shape[0] == 0:
            return
        self._make_room(self.bodies.ids.shape[0])
        for n in range(rows.shape[0]):
            self.now.riders[n] = rows[n]
            self.now.carrier[rows[n]] = rows[n]  # any carrier: it is not read
            for k in range(self.bodies.dim):
                self.now.carrier_velocity[rows[n], k] = carrier_velocity[n, k]
                self.now.subtracted[rows[n], k] = subtracted[n, k]
        self.now.n = rows.shape[0]

    @cython.ccall
    def carry_riders(self) -> list:
        """Add carriers' velocities to their riders'; return the rows of sleepers this moves."""
        woken: list = []
        velocity: cython.double[:, ::1] = self.bodies.velocity
        n: cython.Py_ssize_t
        k: cython.int

        self.rode, self.now = self.now, self.rode
        self.find_riders(True)
        self._release_riders()
        self.rode, self.now = self.now, self.rode
        for n in range(self.rode.n):
            i: cython.Py_ssize_t = self.rode.riders[n]
            for k in range(self.bodies.dim):
                if self.rode.carrier_velocity[i, k] != 0.0 and self.bodies.asleep[i]:
                    woken.append(i)
                self.own[i, k] = velocity[i, k]
                velocity[i, k] = velocity[i, k] + self.rode.carrier_velocity[i, k]
        return woken

    @may_raise
    def _release_riders(self) -> cython.void:
        """Add `subtracted` to the velocities of riders that have lost their carrier."""
        b: Bodies = self.bodies
        last: RiderTable = self.rode
        n: cython.Py_ssize_t
        k: cython.int

        for row in self.contacts.contacts.forgotten:
            i: cython.Py_ssize_t = row
            if i < self.n_rows:
                last.carrier[i] = -1
        self.contacts.contacts.forgotten.clear()
        if self.sweeps:  # the game moves the bodies, so they keep no velocity between steps
            return
        for n in range(last.n):
            i = last.riders[n]
            # Nothing was taken off a sleeping body, because it was at rest.
            if last.carrier[i] >= 0 and self.now.carrier[i] < 0 and b.moves[i]:
                for k in range(b.dim):
                    b.velocity[i, k] = b.velocity[i, k] + last.subtracted[i, k]
                if b.controls.is_used:
                    b.controls.restrain(b.velocity, i, True)

    # -- within a step --

    @may_raise
    def board(self, rows: cython.longlong[::1]) -> cython.void:
        """Make new bodies, whose pairs are known, riders of the carriers on which they stand."""
        n: cython.Py_ssize_t

        self._make_room(self.bodies.ids.shape[0])
        any_new: cython.bint = True
        while any_new:  # repeated for riders that stand on each other
            any_new = False
            for n in range(rows.shape[0]):
                if self.rode.carrier[rows[n]] < 0 and self.bodies.dynamic[rows[n]]:
                    any_new |= self._board_one(rows[n])

    def _board_one(self, i: cython.Py_ssize_t) -> cython.bint:
        """Make a new body a rider of the best carrier that it touches; return whether there is one."""
        b: Bodies = self.bodies
        rode: RiderTable = self.rode
        pairs: PairTable = self.contacts.pairs
        s: PositionCorrection = self.contacts.correction
        p: cython.Py_ssize_t = pairs.head_of(i)
        k: cython.int

        while p >= 0:
            if pairs.is_solid(p) and s.is_touching(p):
                side: cython.int = (s.axis + 1) * (s.sign if pairs.at[p].first == i else -s.sign)
                self._offer(rode, rode, i, pairs.partner(p, i), side, False)
            p = pairs.next_of(p, i)
        if rode.carrier[i] < 0:
            return False
        normal: cython.int = abs(rode.side[i]) - 1
        for k in range(b.dim):
            carrier_velocity: cython.double = rode.carrier_velocity[i, k]
            self.own[i, k] = b.velocity[i, k]
            if k != normal:  # as where it lands
                self.own[i, k] = self._own_of(i, rode.carrier[i], k, carrier_velocity, normal)
            self.solver.clusters.turn_alone(i, k, self.own[i, k] + carrier_velocity)
        return True

    def land(self) -> cython.void:
        """Make a body of the solver's impact a rider if it has landed on the other."""
        m: ImpactState = self.solver.impact
        side: cython.int = (m.axis + 1) * m.sign  # from second to first

        self._land_on(m.rows[0], m.rows[1], side)
        self._land_on(m.rows[1], m.rows[0], -side)

    def _land_on(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, side: cython.int) -> cython.void:
        """Make body i a rider of j from this instant, if this side of j carries.

        A rider of a third body keeps its carrier.  A rider of j is updated if j is carried at
        another velocity than before.
        """
        b: Bodies = self.bodies
        rode: RiderTable = self.rode
        carries: cython.bint = b.rare.carries[j] == side
        rides: cython.bint = rode.carrier[j] >= 0 and rode.side[j] == side
        k: cython.int
        sign: cython.int = 1 if side > 0 else -1
        normal: cython.int = abs(side) - 1

        if not b.dynamic[i] or not (carries or rides):
            return
        if rode.carrier[i] >= 0 and self._is_as_before(i, j, side) and self._follows_line(i, j):
            for k in range(b.dim):  # it goes on sliding, even if it comes from another slope
                self.own[i, k] = b.velocity[i, k] - b.velocity[j, k]
            rode.carrier[i] = j
            return
        riding: cython.bint = self._is_riding(i)
        if riding and (
            rode.carrier[i] != j or rode.side[i] != side or self._is_as_before(i, j, side)
        ):
            return
        if (
            sign * (b.motion_of(i, normal) - b.motion_of(j, normal))
            - (b.resize_of(i, normal) + b.resize_of(j, normal))
            > 0.0
        ):
            return  # it bounces
        rides_on: cython.bint = rode.carrier[i] >= 0
        rode.put(i, j, side)
        for k in range(b.dim):
            carrier_velocity: cython.double = self._carrier_velocity_of(rode, i, j, side, k, False)
            change: cython.double = self._change_of_own(i, k)
            if (riding and change == 0.0) or (
                rides_on and self._rides_on(i, k, change, carrier_velocity)
            ):
                self.own[i, k] += change
            else:
                self.own[i, k] = self._own_of(i, j, k, carrier_velocity, normal)
            rode.carrier_velocity[i, k] = carrier_velocity
        follows_line: cython.bint = self._follows_line(i, j)
        for k in range(b.dim):
            if k != normal or follows_line:
                velocity: cython.double = self.own[i, k] + rode.carrier_velocity[i, k]
                self.solver.clusters.turn_alone(i, k, velocity)

    def _is_as_before(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, side: cython.int
    ) -> cython.bint:
        """Return whether the velocity along the face with which j carries i is unchanged."""
        k: cython.int

        for k in range(self.bodies.dim):
            velocity: cython.double = self._carrier_velocity_of(self.rode, i, j, side, k, False)
            if k != abs(side) - 1 and self.rode.carrier_velocity[i, k] != velocity:
                return False
        return True

    def _is_riding(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body has a carrier that it has not left within the step."""
        pairs: PairTable = self.contacts.pairs

        if self.rode.carrier[i] < 0:
            return False
        p: cython.Py_ssize_t = pairs.find(i, self.rode.carrier[i])
        if p < 0 or not pairs.has_contact(p):
            return False
        return self.contacts.opened[pairs.at[p].number].parts > self.step.now

    # -- at its end --

    def seat_riders(self) -> cython.void:
        """Place riders flush on carriers that move along the normal, at the end of their paths.

        The two paths are rounded separately, so otherwise a gap would appear and grow.
        """
        b: Bodies = self.bodies
        rode: RiderTable = self.rode
        n: cython.Py_ssize_t
        _n: cython.Py_ssize_t

        if self.sweeps:
            return
        for _n in range(rode.n):  # repeated for bodies that stand on a rider that was moved
            any_moved: cython.bint = False
            for n in range(rode.n):
                i: cython.Py_ssize_t = rode.riders[n]
                j: cython.Py_ssize_t = rode.carrier[i]
                side: cython.int = rode.side[i]
                k: cython.int = abs(side) - 1
                if j < 0 or b.velocity[j, k] == 0.0 or b.velocity[i, k] != b.velocity[j, k]:
                    continue
                p: cython.Py_ssize_t = self.contacts.pairs.find(i, j)
                if p >= 0:
                    first_moves: cython.bint = self.contacts.pairs.at[p].first == i
                    any_moved |= self.contacts.correction.seat(p, side, first_moves)
            if not any_moved:
                break

    @cython.ccall
    @may_raise
    def end(self) -> cython.void:
        """Restore the own velocities of riders at the end of a step, when contacts are known."""
        velocity: cython.double[:, ::1] = self.bodies.velocity
        rode: RiderTable = self.rode
        n: cython.Py_ssize_t
        k: cython.int

        self.find_riders(False)
        for n in range(self.now.n):
            i: cython.Py_ssize_t = self.now.riders[n]
            for k in range(self.bodies.dim):
                carrier_velocity: cython.double = self.now.carrier_velocity[i, k]
                subtracted: cython.double = carrier_velocity
                change: cython.double = self._change_of_own(i, k)
                if rode.carrier[i] >= 0 and self._rides_on(i, k, change, carrier_velocity):
                    self.own[i, k] += change
                else:
                    own: cython.double = self._own_of(
                        i, self.now.carrier[i], k, carrier_velocity, abs(self.now.side[i]) - 1
                    )
                    self.own[i, k] = own
                    if own == velocity[i, k]:
                        subtracted = 0.0
                    else:
                        if own != velocity[i, k] - carrier_velocity:
                            subtracted = velocity[i, k] - own
                        if self.bodies.asleep[i]:  # a carrier has reached it just now
                            self.bodies.interrupt_rest(i)
                self.now.subtracted[i, k] = subtracted
            for k in range(self.bodies.dim):
                velocity[i, k] = self.own[i, k]

    def _change_of_own(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the change of the velocity of a rider since its own velocity was found."""
        return self.bodies.velocity[i, k] - (self.own[i, k] + self.rode.carrier_velocity[i, k])

    def _rides_on(
        self,
        i: cython.Py_ssize_t,
        k: cython.int,
        change: cython.double,
        carrier_velocity: cython.double,
    ) -> cython.bint:
        """Return whether nothing but rounding has changed, neither a rider nor its carrier.

        The tiles of one lift are rounded one by one.
        """
        last: cython.double = self.rode.carrier_velocity[i, k]
        slop: cython.double = SAME_SPEED * (abs(last) + abs(self.own[i, k]))

        return abs(change) <= slop and abs(carrier_velocity - last) <= slop

    def _own_of(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        carrier_velocity: cython.double,
        normal: cython.int,
    ) -> cython.double:
        """Return the own velocity of a new rider of j, or of one whose carrier velocity has changed.

        Along the normal it is relative to the carrier.  Along the face, or the line of a slope, it
        is the smallest value between the velocities relative to the carrier and to the world, so
        that it gains no speed.
        """
        b: Bodies = self.bodies
        s: Slopes = self.step.slopes
        v: cython.double = b.velocity[i, k]
        own: cython.double = v - carrier_velocity + 0.0
        part: cython.double = 1.0

        if self._follows_line(i, j) and (k == s.run or k == s.up):
            part = s.line_on(k)
            v = s.speed_along(i)
            own = v - s.speed_along(j)
        elif k == normal:
            return own
        if self.sweeps:
            return v * part
        if min(own, v) <= 0.0 <= max(own, v):
            return 0.0
        return part * (own if abs(own) < abs(v) else v)

    def _follows_line(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether a rider moves along the line of its carrier, which is a slope."""
        b: Bodies = self.bodies
        k: cython.int
        away: cython.double = 0.0
        sizes: cython.double = 0.0

        if not b.rare.any_slope or not self.step.slopes.find(i, j):
            return False
        for k in range(b.dim):
            part: cython.double = (b.velocity[i, k] - b.velocity[j, k]) * (
                self.step.slopes.normal_on(k)
            )
            away += part
            sizes += abs(part)
        return abs(away) <= FACE_ROUNDING * sizes
