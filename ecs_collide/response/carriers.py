"""Moving platforms: lifts and conveyor belts carry the bodies that stand on them.

A body in contact with the carrying face of another is its *rider*.  A body on the same side of a
rider is a rider too.  Within a step the velocity of a rider in the world includes the velocity of
its carrier, and its *own* velocity is kept beside it.  Between steps its `Velocity` is its own:

    start of a step          v = own + carrier         before the paths are computed, and again
                                                       with their mean velocities
    landing within it        v = own + carrier         from that instant
    a turn of the rider      own by the rule below     v is what the instant has made of it
    a turn of the carrier    v = own + carrier         at that instant: riders are *led*
    end of the step          v = own                   after the contacts are found
    before the next step     own = own + subtracted    if the rider has lost its carrier

An impact gives a rider the velocity v, and its carrier goes at c.  If the impact is with the
carrier, and always along the normal, its own velocity becomes v - c.  Otherwise a third body is in
the way.  What that *lacks* of c is all of c if it stands still or is in free motion, and nothing if
it rides along, too.  It blocks this part of the carrier's first, as far as it must, and own stays if
it lies between v - c and v - c + lack.  If not, own becomes the number of that interval nearest to 0.
So nobody gains speed, a rider without own speed has none afterwards, and two riders of a lift meet as
on the ground.  The next step adds the whole of c again.  If the carrier has turned in the same
instant, c is its new velocity.

A body on several carriers that are equally fast along the normal, such as two belts, moves along
them at the mean of their velocities by the widths of the contacts.  The widths count when a step
begins, or when the body lands; within a step it follows the widest one.

A dynamic carrier carries along its face.  Along the normal it passes on only what its own carrier
adds to it, so that it feels the weight of its riders.

Invariant between steps: the velocity of a rider in the world is its `Velocity` plus
`RiderTable.subtracted`.  If its carrier is deleted, teleported or stops carrying, this sum becomes
its `Velocity`.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import BYTE, DOUBLE, LONG, grown, nones, zeros
from ecs_collide._kernel.constants import FACE_ROUNDING
from ecs_collide.broadphase.images import widths_of
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.faces import (
    LINE,
    axis_of,
    face_of,
    face_velocity,
    is_line,
    leads_along,
    overlap,
    side_of_normal,
)
from ecs_collide.motion.rare_columns import RareColumns
from ecs_collide.narrowphase.contacts_between_steps import SOLID, ContactRows
from ecs_collide.narrowphase.contacts_in_step import ContactsInStep
from ecs_collide.narrowphase.placement import PositionCorrection
from ecs_collide.narrowphase.slopes import Slopes
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.met_contacts import MetContacts
from ecs_collide.response.product_sum import error_of_product, error_of_sum
from ecs_collide.response.solver import Solver

SAME_SPEED = 2.0**-24  # of the speeds of a rider: velocities that differ by less are the same


class RiderTable:
    """The riders, their carriers and the velocities of the carriers."""

    n: ReadOnly[cython.Py_ssize_t]
    riders: ReadOnly[cython.longlong[::1]]  # (n or more,): rows
    carrier: ReadOnly[cython.longlong[::1]]  # (n_rows,): the row of a rider's carrier, or -1
    side: cython.schar[::1]  # (n_rows,): the carrying side; see `motion/faces.py`
    storey: cython.schar[::1]  # (n_rows,): 1, or 2 on a rider, and so on, up to 127; or 0
    carrier_velocity: ReadOnly[cython.double[:, ::1]]  # (n_rows, dim): in units per second
    # of a rider's widest carrier:
    alone: cython.double[:, ::1]  # (n_rows, dim): the velocity by which it alone would carry
    contact: cython.longlong[::1]  # (n_rows,): the contact, as in `Carriers._offer`
    width: cython.double[::1]  # (n_rows,): its width, if others count
    # (n_rows,): 1 if other carriers count, and 2 << k if their velocities differ on axis k
    shared_axes: cython.schar[::1]
    # (n_rows, 2 * dim + 2): then the sums of all widths times velocities, and of the widths, each
    # with the sum of its rounding errors behind it
    sums: cython.double[:, ::1]
    # (n_rows, dim): a rider's velocity in the world at the end of the last step, less its own
    # velocity: `carrier_velocity`, or less if it was held back
    subtracted: ReadOnly[cython.double[:, ::1]]

    def __init__(self, dim: cython.int):
        self.n = 0
        self.riders = zeros(LONG, 1)
        self.carrier = nones(1)
        self.side = zeros(BYTE, 1)
        self.storey = zeros(BYTE, 1)
        self.carrier_velocity = zeros(DOUBLE, 1, dim)
        self.alone = zeros(DOUBLE, 1, dim)
        self.contact = zeros(LONG, 1)
        self.width = zeros(DOUBLE, 1)
        self.shared_axes = zeros(BYTE, 1)
        self.sums = zeros(DOUBLE, 1, 2 * dim + 2)
        self.subtracted = zeros(DOUBLE, 1, dim)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.riders = grown(self.riders, n_rows)
        self.carrier = grown(self.carrier, n_rows, -1)
        self.side = grown(self.side, n_rows)
        self.storey = grown(self.storey, n_rows)
        self.carrier_velocity = grown(self.carrier_velocity, n_rows)
        self.alone = grown(self.alone, n_rows)
        self.contact = grown(self.contact, n_rows)
        self.width = grown(self.width, n_rows)
        self.shared_axes = grown(self.shared_axes, n_rows)
        self.sums = grown(self.sums, n_rows)
        self.subtracted = grown(self.subtracted, n_rows)

    def put(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, side: cython.int) -> cython.void:
        """Make body i a rider of a side of j, whether or not it rides already."""
        if self.carrier[i] < 0:
            self.riders[self.n] = i
            self.n += 1
        self.carrier[i] = j
        self.side[i] = side

    def add_product(
        self, i: cython.Py_ssize_t, k: cython.int, a: cython.double, b: cython.double
    ) -> cython.void:
        """Add a * b to a sum of a rider, in twice the precision, so that the mean has no order."""
        product: cython.double = a * b
        total: cython.double = self.sums[i, 2 * k] + product

        self.sums[i, 2 * k + 1] += error_of_sum(self.sums[i, 2 * k], product, total)
        self.sums[i, 2 * k + 1] += error_of_product(a, b, product)
        self.sums[i, 2 * k] = total

    def find_means(self) -> cython.void:
        """Find the velocities with which several carriers carry their riders."""
        dim: cython.Py_ssize_t = self.alone.shape[1]

        for n in range(self.n):
            i: cython.Py_ssize_t = self.riders[n]
            width: cython.double = 0.0
            if self.shared_axes[i] > 1:
                width = self.sums[i, 2 * dim] + self.sums[i, 2 * dim + 1]
            for k in range(dim):
                if width > 0.0 and self.shared_axes[i] & (2 << k):
                    total: cython.double = self.sums[i, 2 * k] + self.sums[i, 2 * k + 1]
                    self.carrier_velocity[i, k] = total / width

    def normal_of(self, i: cython.Py_ssize_t) -> cython.int:
        """Return the axis of the normal of the face that carries a rider."""
        return axis_of(self.side[i])


@cython.final
class Carriers:
    """The riders of a space, before and after a step."""

    step: Step
    bodies: Bodies
    contacts: ContactsInStep
    clusters: Clusters
    impact: ImpactState
    met: MetContacts
    n_rows: cython.Py_ssize_t
    # whether the game moves the bodies; then the game also sets velocities along a face
    sweeps: Public[cython.bint]
    now: ReadOnly[RiderTable]  # between steps: the riders at the end of the last step
    before: RiderTable
    # within a step: the riders at its start, and bodies that have landed since
    rode: ReadOnly[RiderTable]
    # (n_rows, dim), of riders within a step, when their own velocities were last found: these, of
    # their paths; what others block of the carriers'; the kicks (see `motion/gravity.py`)
    own: cython.double[:, ::1]
    blocked: cython.double[:, ::1]
    kick: cython.double[:, ::1]
    # these three before the turns of an instant, so that the order of the turns does not count
    first_own: cython.double[:, ::1]
    first_blocked: cython.double[:, ::1]
    first_kick: cython.double[:, ::1]
    first_in: cython.longlong[::1]  # (n_rows,): the number of that instant
    # (n_rows, dim): the velocity with which a third body that a rider has met goes along, of several
    # the one that lacks most of the carrier's; and the number of the instant
    others: cython.double[:, ::1]
    others_in: cython.longlong[:, ::1]
    # (n_rows,): the riders of a body are a list: the last one, the one before and after in the
    # list, or -1.  The first is valid if `listed_in` is `ride`, the number of this step
    head: cython.longlong[::1]
    before_in_list: cython.longlong[::1]
    next_in_list: cython.longlong[::1]
    listed_in: cython.longlong[::1]
    seated: cython.longlong[::1]  # (n_rows,): the `n_seated` bodies that have a storey
    n_seated: cython.Py_ssize_t
    ride: cython.longlong
    # whether the velocities of riders do not include their carriers': only before a step
    at_rest: cython.bint

    def __init__(self, step: Step, contacts: ContactsInStep, solver: Solver):
        bodies: Bodies = step.bodies

        self.step = step
        self.bodies = bodies
        self.contacts = contacts
        self.clusters = solver.clusters
        self.impact = solver.impact
        self.met = solver.met
        self.n_rows = 1
        self.now = RiderTable(bodies.dim)
        self.before = RiderTable(bodies.dim)
        self.rode = RiderTable(bodies.dim)
        self.own = zeros(DOUBLE, 1, bodies.dim)
        self.blocked = zeros(DOUBLE, 1, bodies.dim)
        self.kick = zeros(DOUBLE, 1, bodies.dim)
        self.first_own = zeros(DOUBLE, 1, bodies.dim)
        self.first_blocked = zeros(DOUBLE, 1, bodies.dim)
        self.first_kick = zeros(DOUBLE, 1, bodies.dim)
        self.first_in = zeros(LONG, 1)
        self.others = zeros(DOUBLE, 1, bodies.dim)
        self.others_in = zeros(LONG, 1, bodies.dim)
        self.head = nones(1)
        self.before_in_list = nones(1)
        self.next_in_list = nones(1)
        self.listed_in = zeros(LONG, 1)
        self.seated = zeros(LONG, 1)

    def _make_room(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        if n_rows > self.n_rows:
            self.now.set_rows(n_rows)
            self.before.set_rows(n_rows)
            self.rode.set_rows(n_rows)
            self.own = grown(self.own, n_rows)
            self.blocked = grown(self.blocked, n_rows)
            self.kick = grown(self.kick, n_rows)
            self.first_own = grown(self.first_own, n_rows)
            self.first_blocked = grown(self.first_blocked, n_rows)
            self.first_kick = grown(self.first_kick, n_rows)
            self.first_in = grown(self.first_in, n_rows)
            self.others = grown(self.others, n_rows)
            self.others_in = grown(self.others_in, n_rows)
            self.head = grown(self.head, n_rows)
            self.before_in_list = grown(self.before_in_list, n_rows)
            self.next_in_list = grown(self.next_in_list, n_rows)
            self.listed_in = grown(self.listed_in, n_rows)
            self.seated = grown(self.seated, n_rows)
            self.n_rows = n_rows  # last, because an array may fail to grow

    def _find_riders(self) -> cython.void:
        """Find the riders and their carriers from the contacts."""
        t: RareColumns = self.bodies.rare

        self._clear(self.now)
        if not t.any_carrier:
            return
        self._make_room(self.bodies.ids.shape[0])
        # Bounded, because bodies that carry each other in a ring never converge.
        for _n in range(self.contacts.rows.n + 1):
            self.now, self.before = self.before, self.now
            if not self._pass():
                break

    def _clear(self, ride: RiderTable) -> cython.void:
        n: cython.Py_ssize_t

        for n in range(ride.n):
            ride.carrier[ride.riders[n]] = -1
            ride.storey[ride.riders[n]] = 0
        ride.n = 0

    def _pass(self) -> cython.bint:
        """Find riders, given the riders of the previous pass; return whether they differ."""
        rows: ContactRows = self.contacts.rows
        new: RiderTable = self.now
        old: RiderTable = self.before

        self._clear(new)
        for n in range(rows.n):
            if rows.at[n].kind == SOLID:
                # The normal points from the second body to the first.
                side: cython.int = side_of_normal(rows.at[n].axis, rows.at[n].sign)
                self._offer(new, old, rows.at[n].first, rows.at[n].second, side, n)
                self._offer(new, old, rows.at[n].second, rows.at[n].first, -side, n)
        new.find_means()
        if new.n != old.n:
            return True
        for n in range(new.n):
            i: cython.Py_ssize_t = new.riders[n]
            if new.carrier[i] != old.carrier[i] or new.side[i] != old.side[i]:
                return True
            if new.storey[i] != old.storey[i]:
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
        contact: cython.Py_ssize_t,
    ) -> cython.void:
        """Make body i a rider of j in `new` if this side of j carries best of all so far.

        The best carrier moves fastest towards the rider.  If several sides of the rider have one,
        a face comes before a slope, then the highest axis.  Of one side the widest is the best, and
        its equals count in the mean.  `old` has the riders that carry others.  `contact` is the row
        of a contact between steps, or -1 - p for pair p of this step.
        """
        if not self.bodies.dynamic[i] or not self._carries(old, j, side):
            return
        lead: cython.double = 1.0

        if new.carrier[i] >= 0:
            lead = self._find_velocity(old, i, j, side, axis_of(side))
            lead = (lead if side > 0 else -lead) - self._speed_of_carrier(new, i)
            if lead == 0.0:  # the bit makes the numbers of faces higher than those of lines
                lead = (abs(side) ^ LINE) - (abs(new.side[i]) ^ LINE)
            if lead == 0.0:
                lead = side - new.side[i]
        if lead > 0.0:
            new.shared_axes[i] = 0
        elif lead < 0.0 or not self._share(new, old, i, j, contact):
            return
        new.put(i, j, side)
        new.storey[i] = _storey_above(old.storey[j])
        new.contact[i] = contact
        for k in range(self.bodies.dim):
            new.alone[i, k] = self._find_velocity(old, i, j, side, k)
            new.carrier_velocity[i, k] = new.alone[i, k]

    def _speed_of_carrier(self, ride: RiderTable, i: cython.Py_ssize_t) -> cython.double:
        """Return how fast the carrier of a rider moves towards it."""
        speed: cython.double = ride.alone[i, ride.normal_of(i)]

        return speed if ride.side[i] > 0 else -speed

    def _share(
        self,
        new: RiderTable,
        old: RiderTable,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        contact: cython.Py_ssize_t,
    ) -> cython.bint:
        """Add another carrier of this side to the means of a rider; return whether it is the widest.

        Of equal ones it is the first in space.
        """
        dim: cython.int = self.bodies.dim
        known: cython.Py_ssize_t = new.carrier[i]
        axis: cython.int = new.normal_of(i)
        width: cython.double = self._width_of(contact, i, axis)

        if new.shared_axes[i] == 0:
            new.shared_axes[i] = 1
            new.width[i] = self._width_of(new.contact[i], i, axis)
            for n in range(2 * dim + 2):
                new.sums[i, n] = 0.0
            for k in range(dim):
                new.add_product(i, k, new.width[i], new.alone[i, k])
            new.add_product(i, dim, new.width[i], 1.0)
        new.add_product(i, dim, width, 1.0)
        for k in range(dim):
            speed: cython.double = self._find_velocity(old, i, j, new.side[i], k)
            new.add_product(i, k, width, speed)
            if speed != new.alone[i, k]:
                new.shared_axes[i] |= 2 << k
        if width < new.width[i] or (width == new.width[i] and not self.bodies.precedes(j, known)):
            return False
        new.width[i] = width
        return True

    def _width_of(
        self, contact: cython.Py_ssize_t, i: cython.Py_ssize_t, axis: cython.int
    ) -> cython.double:
        """Return the width of a contact, as in `_offer`, of body i with a normal along `axis`."""
        b: Bodies = self.bodies
        rows: ContactRows = self.contacts.rows
        width: cython.double = 1.0

        if contact < 0:
            return self.contacts.pairs.width_at(-1 - contact, axis, self.step.now, b)
        j: cython.Py_ssize_t = rows.partner(contact, i)
        for k in range(b.dim):
            if k != axis:
                offset: cython.double = widths_of(rows.at[contact].image, k) * b.width[k]
                offset = offset if i == rows.at[contact].first else -offset
                width *= overlap(
                    b.centre[i, k], b.half[i, k], b.centre[j, k] + offset, b.half[j, k]
                )
        return width

    def _offer_pair(
        self,
        new: RiderTable,
        i: cython.Py_ssize_t,
        p: cython.Py_ssize_t,
        axis: cython.int,
        sign: cython.int,
    ) -> cython.void:
        """Offer the partner of body i in a pair to it as a carrier, at this instant.

        `axis` and `sign` are those of the normal of the pair.
        """
        side: cython.int = side_of_normal(axis, sign)

        if self.contacts.pairs.at[p].first != i:
            side = -side
        self._offer(new, self.rode, i, self.contacts.pairs.partner(p, i), side, -1 - p)

    def _carries(self, ride: RiderTable, j: cython.Py_ssize_t, side: cython.int) -> cython.bint:
        """Return whether a side of body j carries: its own, or that of a rider in `ride`."""
        face: cython.int = face_of(side)

        return self.bodies.rare.carries[j] == face or (
            ride.carrier[j] >= 0 and face_of(ride.side[j]) == face
        )

    def _find_velocity(
        self,
        ride: RiderTable,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        side: cython.int,
        k: cython.int,
    ) -> cython.double:
        """Return the velocity on an axis with which a side of body j carries i.

        `ride` has the velocity with which j is carried itself.
        """
        b: Bodies = self.bodies
        part: cython.double = 0.0

        if b.controls.locks(i, k):
            return 0.0
        if ride.carrier[j] >= 0:
            part = ride.carrier_velocity[j, k]
        if b.rare.carries[j] == face_of(side) and not (b.dynamic[j] and k == axis_of(side)):
            return face_velocity(b, j, side, k) + (part if self.at_rest else 0.0)
        if not self.at_rest and self.rode.carrier[j] >= 0:
            part = self._part_of(j, k)
        return part

    def _part_of(self, j: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the part of a rider's velocity within a step that it has from its carrier."""
        velocity: cython.double = self.bodies.velocity_met(j, k)

        if velocity == self.own[j, k] + self.rode.carrier_velocity[j, k]:
            return self.rode.carrier_velocity[j, k]
        return velocity - self.own[j, k]

    def recover(
        self,
        rows: cython.longlong[::1],
        carrier_velocity: cython.double[:, ::1],
        subtracted: cython.double[:, ::1],
    ):
        """Replace the riders of the last step; see `RiderTable` for the arrays."""
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
        """Add carriers' velocities to their riders'; return the rows of riders that this moves."""
        moved: list = []
        velocity: cython.double[:, ::1] = self.bodies.velocity

        self.rode, self.now = self.now, self.rode
        self.at_rest = True
        self._find_riders()
        self.at_rest = False
        self._release_riders()
        self.rode, self.now = self.now, self.rode
        self.ride += 1
        self._find_storeys()
        for n in range(self.rode.n):
            i: cython.Py_ssize_t = self.rode.riders[n]
            for k in range(self.bodies.dim):
                if self.rode.carrier_velocity[i, k] != 0.0:
                    moved.append(i)
                self.own[i, k] = velocity[i, k]
                self.blocked[i, k] = self.kick[i, k] = 0.0
                velocity[i, k] = velocity[i, k] + self.rode.carrier_velocity[i, k]
            self._list(i)
        return moved

    def _find_storeys(self) -> cython.void:
        """Note how many carriers are below each rider; at one instant these come first."""
        for n in range(self.n_seated):
            self.bodies.rare.storey[self.seated[n]] = 0
        self.n_seated = 0
        for n in range(self.rode.n):
            self._seat(self.rode.riders[n], self.rode.storey[self.rode.riders[n]])

    def _seat(self, i: cython.Py_ssize_t, storey: cython.int) -> cython.void:
        """Give a rider its storey to the end of the step."""
        if self.bodies.rare.storey[i] == 0:
            self.seated[self.n_seated] = i
            self.n_seated += 1
        self.bodies.rare.storey[i] = storey

    def _release_riders(self) -> cython.void:
        """Add `subtracted` to the velocities of riders that have lost their carrier."""
        b: Bodies = self.bodies
        last: RiderTable = self.rode

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

    def _list(self, i: cython.Py_ssize_t) -> cython.void:
        """Add a rider to the list of its carrier."""
        j: cython.Py_ssize_t = self.rode.carrier[i]
        first: cython.Py_ssize_t = self._first_rider(j)

        self.next_in_list[i] = first
        self.before_in_list[i] = -1
        if first >= 0:
            self.before_in_list[first] = i
        self.head[j] = i
        self.listed_in[j] = self.ride

    def _first_rider(self, j: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first rider in the list of a body, or -1."""
        return self.head[j] if j < self.n_rows and self.listed_in[j] == self.ride else -1

    def _ride(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, side: cython.int) -> cython.void:
        """Make body i a rider of a side of j from now on."""
        if self.rode.carrier[i] >= 0:
            after: cython.Py_ssize_t = self.next_in_list[i]
            before: cython.Py_ssize_t = self.before_in_list[i]
            if after >= 0:
                self.before_in_list[after] = before
            if before >= 0:
                self.next_in_list[before] = after
            else:
                self.head[self.rode.carrier[i]] = after
        self.rode.put(i, j, side)
        self._seat(i, _storey_above(self.bodies.rare.storey[j]))
        self._list(i)

    def _turn(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Give a rider its own velocity plus its carrier's on an axis."""
        self.first_in[i] = -1
        self.blocked[i, k] = 0.0
        self.kick[i, k] = self.clusters.kick_of(i, k)
        self.clusters.turn_alone(i, k, self.own[i, k] + self.rode.carrier_velocity[i, k])

    def note_fall(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Start the path of a rider that falls on an axis: gravity acts on its own velocity."""
        self.first_in[i] = -1
        b: Bodies = self.bodies

        self.own[i, k] = self.clusters.gravity.chord_of(i, k, self.own[i, k])
        self.kick[i, k] = self.clusters.kick_of(i, k)
        b.velocity[i, k] = self.own[i, k] + self.rode.carrier_velocity[i, k]

    def follow_paths(self, rows: cython.longlong[::1]) -> cython.void:
        """Carry the riders of falling or damped bodies, and theirs, as fast as their paths go."""
        for n in range(rows.shape[0] if self.rode.n else 0):
            top: cython.Py_ssize_t = rows[n]
            carrier: cython.Py_ssize_t = self._carrier_of(top)
            i: cython.Py_ssize_t = -1
            if self.clusters.gravity.acts_on(top) and not (
                carrier >= 0
                and self.clusters.gravity.acts_on(carrier)  # its riders, and theirs, include these
                and self._carrier_of(carrier) != top
            ):
                i = self._next_rider(top, top, False)
            while i >= 0:
                for k in range(self.bodies.dim):
                    self._find_carrier_velocity(i, k)
                    self.bodies.velocity[i, k] = self.own[i, k] + self.rode.carrier_velocity[i, k]
                i = self._next_rider(top, i, False)

    @cython.inline
    def rides(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body rides, since the start of the step or later, and is not held."""
        return self._carrier_of(i) >= 0 and self.bodies.is_free(i)

    def _carrier_of(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the carrier of a body within the step, or -1."""
        return self.rode.carrier[i] if i < self.n_rows else -1

    def settle(self, i: cython.Py_ssize_t) -> cython.void:
        """Find the own velocity of a body, if it rides, after a third body has turned it."""
        if self.rides(i):
            for k in range(self.bodies.dim):
                if self.first_in[i] == self.clusters.instant:
                    self.own[i, k] = self.first_own[i, k]
                    self.blocked[i, k] = self.first_blocked[i, k]
                    self.kick[i, k] = self.first_kick[i, k]
                else:
                    self.first_own[i, k] = self.own[i, k]
                    self.first_blocked[i, k] = self.blocked[i, k]
                    self.first_kick[i, k] = self.kick[i, k]
            self.first_in[i] = self.clusters.instant
            self._settle(i, False)

    def catch_up(self) -> cython.void:
        """Find the own velocities of the bodies of an impact; let them follow their carriers.

        A rider comes after its carrier.
        """
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]

        m.carried = 0.0
        if self.rode.n == 0:
            return
        if self._carrier_of(i) == j:
            self._catch_up(j, i)
            self._catch_up(i, j)
        else:
            self._catch_up(i, j)
            self._catch_up(j, i)
        m.carried = _nearest_to_zero(
            self._along_with(i, m.axis, True), self._along_with(j, m.axis, True)
        )

    def _catch_up(self, i: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.void:
        """Find the own velocity of a body that meets another; let it follow its carrier.

        If the carrier has turned in this instant too, its own velocity is found first.
        """
        j: cython.Py_ssize_t = self._carrier_of(i)

        if j >= 0:
            self.settle(j)
            self.clusters.write_body(j)  # a merge in this instant may have turned it
            self._note_partner(
                i, self.impact.axis, self._along_with(other, self.impact.axis, False)
            )
        self.settle(i)
        if self._must_follow(i):
            self.lead(i)

    def _settle(self, i: cython.Py_ssize_t, by_carrier: cython.bint) -> cython.void:
        """Find the own velocity of a rider after a turn, `by_carrier` or by another body."""
        rode: RiderTable = self.rode
        s: Slopes = self.step.slopes
        held: cython.double = 0.0

        if by_carrier:
            self.first_in[i] = -1
        slants: cython.bint = is_line(rode.side[i]) and s.find(i, rode.carrier[i])
        if slants:
            held = self._held_along(i, by_carrier)
        for k in range(self.bodies.dim):
            v: cython.double = self.clusters.final_velocity(i, k)
            c: cython.double = rode.carrier_velocity[i, k]
            kick: cython.double = self.clusters.kick_of(i, k)
            own: cython.double = self.own[i, k] + (self.kick[i, k] - kick)
            if v == own + c:
                self.blocked[i, k] = 0.0
            else:
                if slants and s.line_on(k) != 0.0:
                    own = _difference(v, c) + held * s.line_on(k)
                elif k == rode.normal_of(i):
                    own = _difference(v, c)
                elif by_carrier:
                    own = _own_on_carrier(own, self.blocked[i, k], v, c)
                else:
                    own = _own_after(own, v, c, self._lack(i, k, c))
                self.blocked[i, k] = _without_rounding(own + c - v, own, c)
            self.own[i, k] = own + 0.0
            self.kick[i, k] = kick

    def _note_partner(
        self, i: cython.Py_ssize_t, k: cython.int, along: cython.double
    ) -> cython.void:
        """Note with which velocity a body goes along that a rider meets."""
        c: cython.double = self.rode.carrier_velocity[i, k]

        if self.others_in[i, k] != self.clusters.instant or along * c < self.others[i, k] * c:
            self.others_in[i, k] = self.clusters.instant
            self.others[i, k] = along

    def note_surfaces(self) -> cython.void:
        """Note for riders in the solver's impact, which may turn them along the surface, the others.

        One that carries goes along with the velocity of its face.
        """
        m: ImpactState = self.impact

        for n in range(2):
            i: cython.Py_ssize_t = m.rows[n]
            j: cython.Py_ssize_t = m.rows[1 - n]
            is_carrier: cython.bint = self._may_ride(n)
            for k in range(self.bodies.dim if self._carrier_of(i) >= 0 else 0):
                along: cython.double = self._along_with(j, k, False)
                if is_carrier:
                    along = self._find_velocity(self.rode, i, j, m.side_of(1 - n), k)
                if k != m.axis:
                    self._note_partner(i, k, along)

    def _along_with(self, j: cython.Py_ssize_t, k: cython.int, now: cython.bint) -> cython.double:
        """Return how much of its velocity a body has from its carrier; all of it if it is not dynamic.

        The turns of this instant only count `now`: what stops one rider is a wall to the next one.
        """
        if not self.bodies.dynamic[j]:
            return self.bodies.velocity_met(j, k)
        if not self.rides(j):
            return 0.0
        is_turned: cython.bint = not now and self.first_in[j] == self.clusters.instant
        return self.rode.carrier_velocity[j, k] - (
            self.first_blocked[j, k] if is_turned else self.blocked[j, k]
        )

    def _lack(self, i: cython.Py_ssize_t, k: cython.int, c: cython.double) -> cython.double:
        """Return what those that have turned a rider lack of the velocity c of its carrier."""
        anchor: cython.Py_ssize_t = self.clusters.anchor_of(i, k)
        along: cython.double = 0.0

        if anchor >= 0:
            self._note_partner(i, k, self._along_with(anchor, k, False))
        if self.others_in[i, k] == self.clusters.instant:
            along = self.others[i, k]
        return min(max(c - along, min(c, 0.0)), max(c, 0.0))

    def _own_now(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the own velocity of a rider's path, which gravity may have bent since."""
        return self.own[i, k] + (self.kick[i, k] - self.clusters.kick_of(i, k))

    def _held_along(self, i: cython.Py_ssize_t, by_carrier: cython.bint) -> cython.double:
        """Return how much of a carrier's velocity along the line found is kept from its rider."""
        s: Slopes = self.step.slopes
        own: cython.double = 0.0
        blocked: cython.double = 0.0
        v: cython.double = 0.0
        c: cython.double = 0.0

        for k in range(self.bodies.dim):
            own += self._own_now(i, k) * s.line_on(k)
            blocked += self.blocked[i, k] * s.line_on(k)
            v += self.clusters.final_velocity(i, k) * s.line_on(k)
            c += self.rode.carrier_velocity[i, k] * s.line_on(k)
        own = _own_on_carrier(own, blocked, v, c) if by_carrier else _own_after(own, v, c, c)
        return _without_rounding(own - (v - c), v, c)

    def settle_turned(self) -> cython.void:
        """Find the own velocities of all riders that have turned."""
        for n in range(self.bodies.n_turned):
            self.settle(self.bodies.turned[n])

    def next_led(self, top: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the next body that must follow the turn of body `top`, or -1.

        These are its riders, and the riders of all that are led.  `i` is the last result, or `top`.
        """
        return self._next_rider(top, i, True)

    def _next_rider(
        self, top: cython.Py_ssize_t, i: cython.Py_ssize_t, is_led: cython.bint
    ) -> cython.Py_ssize_t:
        """Return the rider after `i` of `top` and of all riders returned, or -1.

        With `is_led` those that need not follow are left out; see `next_led`.
        """
        n: cython.Py_ssize_t = self._first_rider(i)

        while True:
            while n < 0:
                if i == top:
                    return -1
                n = self.next_in_list[i]
                i = self.rode.carrier[i]
            if n != top and (not is_led or self._must_follow(n)):  # two may carry each other
                return n
            n = self.next_in_list[n]

    def _must_follow(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether the carrier of a rider has got another velocity along its face."""
        rode: RiderTable = self.rode

        return (
            self.bodies.is_free(i)
            and self._is_riding(i)
            and not self._is_as_fast_as(i, rode.carrier[i], rode.side[i], rode.alone)
        )

    def lead(self, i: cython.Py_ssize_t) -> cython.void:
        """Let a rider follow its carrier along the face, or the line, from this instant.

        If a third body has turned the rider in this instant, too, its own velocity is found with
        the new velocity of the carrier: a wall that pushes both leaves the rider at rest on it.
        """
        side: cython.int = self.rode.side[i]

        self.settle(i)
        for k in range(self.bodies.dim):
            last: cython.double = self.rode.carrier_velocity[i, k]
            self._find_carrier_velocity(i, k)
            if leads_along(side, k):
                if not is_line(side):
                    self._find_own_if_pushed(i, k, last)
                self._turn(i, k)

    def _find_own_if_pushed(
        self, i: cython.Py_ssize_t, k: cython.int, last: cython.double
    ) -> cython.void:
        """Find the own velocity of a rider if a third body has turned it in this instant.

        `last` is the velocity with which it was carried before its carrier turned.
        """
        v: cython.double = self.clusters.final_velocity(i, k)
        blocked: cython.double = self.first_blocked[i, k]
        own: cython.double = self.first_own[i, k] + (
            self.first_kick[i, k] - self.clusters.kick_of(i, k)
        )

        if _without_rounding(v - (own + last - blocked), v, last) != 0.0:
            c: cython.double = self.rode.carrier_velocity[i, k]
            self.own[i, k] = _own_after(own, v, c, self._lack(i, k, c))

    def _find_carrier_velocity(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Find the velocity on an axis, at this instant, with which a rider is carried."""
        rode: RiderTable = self.rode
        alone: cython.double = self._find_velocity(rode, i, rode.carrier[i], rode.side[i], k)

        if rode.carrier_velocity[i, k] == rode.alone[i, k]:
            rode.carrier_velocity[i, k] = alone
        else:
            rode.carrier_velocity[i, k] += alone - rode.alone[i, k]
        rode.alone[i, k] = alone

    def board(self, rows: cython.longlong[::1]) -> cython.void:
        """Make new bodies, whose pairs are known, riders of the carriers on which they stand."""
        b: Bodies = self.bodies

        if rows.shape[0] == 0 or not b.rare.any_carrier:
            return
        b.tick += 1
        before: cython.double[:, ::1] = zeros(DOUBLE, rows.shape[0], b.dim)
        self._make_room(b.ids.shape[0])
        for n in range(rows.shape[0]):
            for k in range(b.dim):
                before[n, k] = b.velocity_met(rows[n], k)
        for _n in range(rows.shape[0] + 1):  # repeated for those that stand on each other
            any_changed: cython.bint = False
            for n in range(rows.shape[0]):
                if b.dynamic[rows[n]] and self._find_best(rows[n]):
                    any_changed = True
                    self._board_one(rows[n], before, n)
            if not any_changed:
                break

    def _find_best(self, i: cython.Py_ssize_t) -> cython.bint:
        """Find the best carrier that a body touches, in `before`; return whether it is news."""
        found: RiderTable = self.before
        pairs: PairTable = self.contacts.pairs
        s: PositionCorrection = self.contacts.correction
        p: cython.Py_ssize_t = pairs.head_of(i)

        self._clear(found)
        while p >= 0:
            if pairs.is_solid(p) and s.is_touching(p):
                self._offer_pair(found, i, p, s.axis, s.sign)
            p = pairs.next_of(p, i)
        if found.n == 0:
            return False
        found.find_means()
        is_new: cython.bint = self.rode.carrier[i] != found.carrier[i]
        for k in range(self.bodies.dim):
            is_new |= self.rode.carrier_velocity[i, k] != found.carrier_velocity[i, k]
        return is_new

    def _board_one(
        self, i: cython.Py_ssize_t, before: cython.double[:, ::1], n: cython.Py_ssize_t
    ) -> cython.void:
        """Make a new body ride on the carrier found; it came with the velocity in row `n`."""
        found: RiderTable = self.before

        self._ride(i, found.carrier[i], found.side[i])
        for k in range(self.bodies.dim):
            self.rode.carrier_velocity[i, k] = found.carrier_velocity[i, k]
            self.rode.alone[i, k] = found.alone[i, k]
            self.clusters.turn_alone(i, k, before[n, k])
        for k in range(self.bodies.dim):
            self.own[i, k] = before[n, k]
            if k != self.rode.normal_of(i):  # as where it lands
                self.own[i, k] = self._own_of(self.rode, i, k)
        for k in range(self.bodies.dim):
            self._turn(i, k)

    def press(self) -> cython.void:
        """Find the own velocity of a rider that the solver's impact has pressed on its carrier."""
        m: ImpactState = self.impact

        for n in range(2):
            self.clusters.write_body(m.rows[n])
        for n in range(2):
            if self._may_ride(n):
                self._press_on(m.rows[n], m.rows[1 - n], m.side_of(1 - n))

    def land(self) -> cython.void:
        """Make a body of the solver's impact a rider of the other, if that carries."""
        m: ImpactState = self.impact

        for n in range(2):
            if self._may_ride(n):
                self._land_on(m.rows[n], m.rows[1 - n], m.side_of(1 - n))

    def _may_ride(self, n: cython.int) -> cython.bint:
        """Return whether a body of the solver's impact is dynamic, and the other one carries."""
        m: ImpactState = self.impact

        return self.bodies.dynamic[m.rows[n]] != 0 and self._carries(
            self.rode, m.rows[1 - n], m.side_of(1 - n)
        )

    def may_land(self) -> cython.bint:
        """Return whether a body of the solver's impact may become a rider of the other."""
        b: Bodies = self.bodies
        m: ImpactState = self.impact

        for n in range(2):
            i: cython.Py_ssize_t = m.rows[n]
            # A dynamic partner may carry it from this instant.
            rides: cython.bint = (b.dynamic[i] and b.dynamic[m.rows[1 - n]]) or self._may_ride(n)
            if rides and not self._is_riding(i):
                return True
        return False

    def _is_known(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, side: cython.int
    ) -> cython.bint:
        """Return whether body i has ridden on this side of j."""
        return self.rode.carrier[i] == j and self.rode.side[i] == side

    def _press_on(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, side: cython.int
    ) -> cython.void:
        """Find the own velocity of body i if it rides on j, or on another that is as fast."""
        if not self._is_riding(i):
            return
        self.settle(j)  # a merge may have turned it, and what is its own carries nobody
        if self._is_known(i, j, side):
            for k in range(self.bodies.dim):
                self._find_carrier_velocity(i, k)  # it may have turned, too
        elif not self._is_as_fast_as(i, j, side, self.rode.carrier_velocity):
            return
        self._settle(i, True)

    def _land_on(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, side: cython.int) -> cython.void:
        """Make body i a rider of j from this instant.

        A rider of a third body keeps its carrier.  Of several that it meets, the best one counts.
        """
        b: Bodies = self.bodies
        rode: RiderTable = self.rode
        normal: cython.int = axis_of(side)
        follows_line: cython.bint = is_line(side) and self._follows_line(i, j)

        if self._is_riding(i) and (self._is_known(i, j, side) or not follows_line):
            return
        rounding: cython.double = b.dt * self.clusters.rounding_of_faces(i, j, normal)
        if b.closing_of(i, j, face_of(side)) < -rounding:
            return  # it bounces
        shares: cython.bint = self._find_best_met(i)
        if shares and not (self.before.carrier[i] == j and self.before.side[i] == side):
            return
        rides_on: cython.bint = rode.carrier[i] >= 0
        self._ride(i, j, side)
        self._change_carrier(i, rides_on, shares)
        for k in range(b.dim):
            if k != normal or follows_line:
                self._turn(i, k)

    def _find_best_met(self, i: cython.Py_ssize_t) -> cython.bint:
        """Find the best carrier of those that a body meets now; return whether it has several."""
        pairs: PairTable = self.contacts.pairs
        p: cython.Py_ssize_t = pairs.head_of(i)

        self._clear(self.before)
        while p >= 0:
            if self.met.has(p) and pairs.is_solid(p):
                self._offer_pair(self.before, i, p, pairs.impact[p].axis, pairs.impact[p].sign)
            p = pairs.next_of(p, i)
        self.before.find_means()
        return self.before.carrier[i] >= 0 and self.before.shared_axes[i] != 0

    def _change_carrier(
        self, i: cython.Py_ssize_t, rides_on: cython.bint, shares: cython.bint
    ) -> cython.void:
        """Find the velocity of a rider's new carrier, and its own beside it.

        With `shares` it is the mean that `_find_best_met` has found.  With `rides_on` it has had
        another carrier in this step.  Nothing changes on an axis if that one was as fast, and if
        nothing has turned the rider since.
        """
        v: cython.double[:, ::1] = self.bodies.velocity
        stays: cython.int = 0

        for k in range(self.bodies.dim if rides_on else 0):
            self.own[i, k] = self._own_now(i, k)
            last: cython.double = self.own[i, k] + self.rode.carrier_velocity[i, k]
            if _without_rounding(v[i, k] - last, v[i, k], last) == 0.0:
                stays |= 1 << k
        for k in range(self.bodies.dim):
            self.rode.carrier_velocity[i, k] = self.rode.alone[i, k] = 0.0
            self._find_carrier_velocity(i, k)
            if shares:
                self.rode.carrier_velocity[i, k] = self.before.carrier_velocity[i, k]
        for k in range(self.bodies.dim):
            last = self.own[i, k] + self.rode.carrier_velocity[i, k]
            if not stays & (1 << k) or _without_rounding(v[i, k] - last, v[i, k], last) != 0.0:
                self.own[i, k] = self._own_of(self.rode, i, k)

    def _is_as_fast_as(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        side: cython.int,
        last: cython.double[:, ::1],
    ) -> cython.bint:
        """Return whether j carries i along its face, or its line, as fast as `last`."""
        for k in range(self.bodies.dim):
            if leads_along(side, k) and not self._is_as_fast(
                i, last[i, k], self._find_velocity(self.rode, i, j, side, k), k
            ):
                return False
        return True

    def _is_riding(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body has a carrier that it has not left within the step."""
        pairs: PairTable = self.contacts.pairs
        j: cython.Py_ssize_t = self._carrier_of(i)

        if j < 0:
            return False
        p: cython.Py_ssize_t = pairs.find(i, j)
        if p < 0 or not pairs.has_contact(p):
            return False
        # One that parts now may have been pressed at the same instant.
        return self.contacts.opened[pairs.at[p].number].parts >= self.step.now

    # -- at its end --

    def seat_riders(self) -> cython.void:
        """Place riders flush on carriers that move along the normal, at the end of their paths.

        The two paths are rounded separately, so otherwise a gap would appear and grow.
        """
        b: Bodies = self.bodies
        rode: RiderTable = self.rode

        if self.sweeps:
            return
        for _n in range(rode.n):  # repeated for bodies that stand on a rider that was moved
            any_moved: cython.bint = False
            for n in range(rode.n):
                i: cython.Py_ssize_t = rode.riders[n]
                j: cython.Py_ssize_t = rode.carrier[i]
                side: cython.int = face_of(rode.side[i])
                k: cython.int = axis_of(side)
                if j < 0:
                    continue
                speed: cython.double = face_velocity(b, j, side, k)
                if speed == 0.0 or b.velocity_met(i, k) != speed:
                    continue
                p: cython.Py_ssize_t = self.contacts.pairs.find(i, j)
                if p >= 0:
                    first_moves: cython.bint = self.contacts.pairs.at[p].first == i
                    any_moved |= self.contacts.correction.seat(p, side, first_moves)
            if not any_moved:
                break

    @cython.ccall
    def end(self) -> cython.void:
        """Restore the own velocities of riders at the end of a step, when contacts are known."""
        velocity: cython.double[:, ::1] = self.bodies.velocity
        rode: RiderTable = self.rode

        for n in range(rode.n):
            i: cython.Py_ssize_t = rode.riders[n]
            if self.first_in[i] >= self.clusters.first_instant:
                # Its last turn: later instants are of others, but its kick may be shared since.
                for k in range(self.bodies.dim):
                    if self.others_in[i, k] == self.first_in[i]:
                        self.others_in[i, k] = self.clusters.instant
                self.first_in[i] = self.clusters.instant
            self.settle(i)
        self._find_riders()
        for n in range(self.now.n):
            i = self.now.riders[n]
            # Of several that carry it, another one may have become the widest.
            stays: cython.bint = rode.carrier[i] == self.now.carrier[i] or (
                self.now.shared_axes[i] != 0
                and rode.side[i] == self.now.side[i]
                and self._is_riding(i)
            )
            # If they differ, the mean also changes with the widths.
            differ: cython.int = rode.shared_axes[i] | self.now.shared_axes[i]
            for k in range(self.bodies.dim):
                c: cython.double = self.now.carrier_velocity[i, k]
                own: cython.double = self.own[i, k]
                along: cython.bint = stays and k != self.now.normal_of(i)
                if along and differ & (2 << k):
                    own = _own_by_mean(own, rode.carrier_velocity[i, k], c)
                elif rode.carrier[i] < 0 or not (
                    along or self._is_as_fast(i, rode.carrier_velocity[i, k], c, k)
                ):
                    own = self._own_of(self.now, i, k)
                self.own[i, k] = own
                self.now.subtracted[i, k] = velocity[i, k] - own
                if own + c == velocity[i, k]:
                    self.now.subtracted[i, k] = c
                if own != velocity[i, k] and self.bodies.asleep[i]:
                    self.bodies.interrupt_rest(i)  # a carrier has reached it just now
            for k in range(self.bodies.dim):
                velocity[i, k] = self.own[i, k]

    def _is_as_fast(
        self, i: cython.Py_ssize_t, last: cython.double, velocity: cython.double, k: cython.int
    ) -> cython.bint:
        """Return whether a carrier's velocity is that of a rider's last one, but for rounding.

        The tiles of one lift are rounded one by one.
        """
        return abs(velocity - last) <= SAME_SPEED * (abs(last) + abs(self.own[i, k]))

    def _own_of(self, ride: RiderTable, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the own velocity of a body that gets the carrier that it has in a table.

        Along the normal it is relative to the carrier.  Along the face, or the line of a slope, it
        is the smallest value between the velocities relative to the carrier and to the world, so
        that it gains no speed.
        """
        s: Slopes = self.step.slopes
        v: cython.double = self.bodies.velocity_met(i, k)
        c: cython.double = ride.carrier_velocity[i, k]
        part: cython.double = 1.0

        if self._follows_line(i, ride.carrier[i]) and (k == s.run or k == s.up):
            part = s.line_on(k)
            v = s.speed_along(i)
            c = 0.0
            for axis in range(self.bodies.dim):
                c += ride.carrier_velocity[i, axis] * s.line_on(axis)
        elif k == ride.normal_of(i):
            return v - c + 0.0
        return part * (v if self.sweeps else _nearest_to_zero(v - c + 0.0, v))

    def _follows_line(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether a rider moves along the line of its carrier, which is a slope."""
        b: Bodies = self.bodies
        away: cython.double = 0.0
        sizes: cython.double = 0.0

        if not self.step.slopes.find(i, j):
            return False
        for k in range(b.dim):
            part: cython.double = (b.velocity_met(i, k) - b.velocity_met(j, k)) * (
                self.step.slopes.normal_on(k)
            )
            away += part
            sizes += abs(part)
        return abs(away) <= FACE_ROUNDING * sizes


def _own_after(
    own: cython.double, v: cython.double, c: cython.double, lack: cython.double
) -> cython.double:
    """Return the own velocity of a rider that a third body has turned; see the module.

    It has now the velocity v, and its carrier c, of which the third body lacks a part.
    """
    relative: cython.double = _difference(v, c)
    most: cython.double = v if lack == c else relative + lack
    slop: cython.double = FACE_ROUNDING * (abs(v) + abs(c))

    if min(most, relative) - slop <= own <= max(most, relative) + slop:
        return own
    return _nearest_to_zero(most, relative)


def _own_on_carrier(
    own: cython.double, blocked: cython.double, v: cython.double, c: cython.double
) -> cython.double:
    """Return the own velocity of a rider that its carrier has turned along a line.

    It has now the velocity v, and its carrier c, of which others have kept `blocked` from it.
    """
    relative: cython.double = _difference(v, c)

    if blocked == 0.0:
        return relative
    change: cython.double = relative - (own - blocked)  # if it takes the rider along, own stays
    if own * change >= 0.0:
        return own
    return own + change if abs(change) < abs(own) else 0.0


def _own_by_mean(own: cython.double, last: cython.double, c: cython.double) -> cython.double:
    """Return the own velocity of a rider whose carriers have the mean `c` where it was `last`.

    What they lose stays with the rider, and what they gain does not make it faster.
    """
    kept: cython.double = 0.0

    if last * c > 0.0:
        kept = c if abs(c) < abs(last) else last
    own += last - kept
    return _nearest_to_zero(own - (c - kept) + 0.0, own)


@cython.inline
def _storey_above(storey: cython.int) -> cython.int:
    """Return the storey of a body that rides on one of another storey."""
    return min(1 + storey, 127)


@cython.inline
def _nearest_to_zero(one: cython.double, other: cython.double) -> cython.double:
    """Return the number between two numbers that is nearest to 0."""
    if min(one, other) <= 0.0 <= max(one, other):
        return 0.0
    return one if abs(one) < abs(other) else other


@cython.inline
def _difference(v: cython.double, c: cython.double) -> cython.double:
    """Return v - c, or 0 if the two are equal but for the rounding of a resolution."""
    return v - c if abs(v - c) > FACE_ROUNDING * (abs(v) + abs(c)) else 0.0


@cython.inline
def _without_rounding(
    difference: cython.double, one: cython.double, other: cython.double
) -> cython.double:
    """Return a difference between two velocities, or 0 if it is only rounding."""
    return difference if abs(difference) > SAME_SPEED * (abs(one) + abs(other)) else 0.0
