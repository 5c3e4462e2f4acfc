"""The velocities along the surface by `Stop` and `Push`, as far as the energy allows.

`Stop` takes the velocity of the partner's face.  `Push` turns the whole relative speed along the
surface.  The contacts of an instant turn their bodies together, once no normal part is due any more,
and before friction:

- A body that meets several others takes the mean of what they ask for, by the widths of the
  contacts.
- Bodies with `Stop` that meet each other are one along the surface.  If they meet nothing else, they
  keep their momentum.
- Bodies that have met each other at the instant form a *group*.  It goes as far towards these
  velocities as its kinetic energy before the instant allows.

A body does not turn along an axis on which an impact of the instant has changed it, and a contact
whose bodies part turns nobody, unless they bounce.
Velocities here are at the instant; the paths of falling bodies get in addition what gravity does
to the end of the step, the kick.
"""

from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython, struct
from ecs_collide._kernel.arrays import DOUBLE, INT, grown, zeros
from ecs_collide._kernel.constants import INF
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.met_contacts import MetContacts
from ecs_collide.response.product_sum import ProductSum

EPSILON = 2.0**-52
ENERGY_ROUNDING = 2.0**-46  # part of an energy, more than its rounding error
CHANGE_ROUNDING = 2.0**-44  # part of a velocity, more than its rounding error

# Kinds of velocities along a surface, of which only the highest counts: those of the bodies
# themselves, those that contacts ask for, those of bodies that cannot turn.
OWN = 0
ASKED = 1
FIXED = 2


@cython.inline
@struct
class Turned:
    """A body that a resolution has changed at the instant, or that a contact turns."""

    row: cython.int
    # its group, as a forest; and the list of its members, if it is the root
    parent: cython.int
    next: cython.int
    last: cython.int
    glue: cython.int  # another one of the bodies with `Stop` that are one, or itself
    # bits of the axes on which an impact of the instant has changed it, on which it has bounced, and
    # on which `before` is known
    hit: cython.schar
    bounced: cython.schar
    noted: cython.schar
    # at the root of a group: whether it meets a wall, and the widths of all walls
    has_wall: cython.schar
    wall: cython.double
    # whether it was in a cluster before, whose other bodies may have got what it has lost
    was_pushed: cython.schar
    is_asked: cython.schar  # whether a contact turns it
    # at the root of a group: whether a member is to get another velocity, and the part of the way
    # that the energy allows, or -1
    turns: cython.schar
    part: cython.double
    is_beside_wall: cython.schar  # whether it has `Stop`, and meets what does not give way
    # for the bodies that are one, on one axis: the highest kind of velocity so far, and of these
    # velocities the sum by weight, the sum of the weights, the least and the greatest
    order: cython.schar
    sum: cython.double
    weight: cython.double
    least: cython.double
    greatest: cython.double


@cython.final
class TangentialResponse:
    """The part of the resolutions of an instant along the surface, by `Stop` and `Push`."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    impact: ImpactState
    sum: ProductSum
    met: MetContacts
    n_turned: cython.Py_ssize_t
    n_asked: cython.Py_ssize_t
    turned: cython.pointer[Turned]  # from 1
    memory: StructMemory
    place_of: cython.int[::1]  # (n_rows or fewer,): place in `turned`, or 0
    asked: cython.int[::1]  # (n_asked or more,): the places of the bodies that contacts turn
    # (n_turned + 1 or more, dim): the velocities before and after the normal parts, and by the rules
    before: cython.double[:, ::1]
    after: cython.double[:, ::1]
    wanted: cython.double[:, ::1]
    earlier: cython.double[:, ::1]  # `before`, or `after` if losses do not count
    # (n_turned + 1 or more, dim): at the root of a group, the frame in which its energy counts: the
    # mean velocity of the walls that it meets, by width, or that of the world
    frame: cython.double[:, ::1]

    def __init__(self, step: Step, impact: ImpactState, met: MetContacts):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = impact.clusters
        self.impact = impact
        self.sum = ProductSum()
        self.place_of = self.asked = zeros(INT, 1)
        self.before = self.after = self.wanted = self.earlier = self.frame = zeros(
            DOUBLE, 1, self.bodies.dim
        )
        self.met = met
        self.memory = StructMemory()
        self._grow_turned(16)

    def _grow_turned(self, room: cython.Py_ssize_t) -> cython.void:
        """Make room for more bodies."""
        self.asked = grown(self.asked, room)
        self.before = grown(self.before, room)
        self.after = grown(self.after, room)
        self.wanted = grown(self.wanted, room)
        self.frame = grown(self.frame, room)
        self.turned = cython.cast(
            cython.pointer(Turned), self.memory.grow(cython.sizeof(Turned), room)
        )

    # -- while the normal parts are resolved --

    def clear(self) -> cython.void:
        """Forget the bodies, of an instant or of a step that was interrupted."""
        for at in range(1, self.n_turned + 1):
            self.place_of[self.turned[at].row] = 0
        self.n_turned = 0

    def note(self, restitution: cython.double) -> cython.void:
        """Note the velocities along the normal of the bodies that an impact is about to change."""
        m: ImpactState = self.impact

        for n in range(2):
            if m.is_dynamic[n]:
                at: cython.Py_ssize_t = self._make(m.rows[n])
                self._note(at, m.axis, m.before[n][m.axis])
                if restitution > 0.0:
                    self.turned[at].bounced |= 1 << m.axis
        self.join_groups()

    def note_slope(self) -> cython.void:
        """Note the velocities of the bodies that an impact at a slope is about to change."""
        m: ImpactState = self.impact

        for n in range(2):
            if m.is_dynamic[n]:
                at: cython.Py_ssize_t = self._make(m.rows[n])
                for axis in range(self.bodies.dim):
                    self._note(at, axis, m.velocity_after(n, axis))
        self.join_groups()

    def _note(
        self, at: cython.Py_ssize_t, axis: cython.int, velocity: cython.double
    ) -> cython.void:
        """Note the velocity of a body on an axis on which it is about to change, unless it is known."""
        if not (self.turned[at].noted >> axis) & 1:
            self.turned[at].noted |= 1 << axis
            self.before[at, axis] = velocity
            self.turned[at].was_pushed |= self.clusters.is_merged(self.turned[at].row, axis)

    def join_groups(self) -> cython.void:
        """Unite the groups of the two bodies of the impact, if it may change both."""
        m: ImpactState = self.impact

        if m.is_dynamic[0] and m.is_dynamic[1]:
            self._unite(self._make(m.rows[0]), self._make(m.rows[1]))

    def _place(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the place of a body, or 0."""
        return self.place_of[i] if i < self.place_of.shape[0] else 0

    def _make(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the place of a body, which is made if there is none."""
        at: cython.Py_ssize_t = self._place(i)

        if at:
            return at
        if i >= self.place_of.shape[0]:
            self.place_of = grown(self.place_of, self.bodies.capacity)
        at = self.n_turned + 1
        if at >= self.memory.room:
            self._grow_turned(2 * at)
        self.n_turned = at
        self.place_of[i] = at
        self.turned[at].row = i
        self.turned[at].hit = self.turned[at].bounced = 0
        self.turned[at].is_asked = self.turned[at].turns = False
        self._isolate(at)
        return at

    def _isolate(self, at: cython.Py_ssize_t) -> cython.void:
        """Make a body a group of its own, which has lost nothing yet."""
        self.turned[at].parent = self.turned[at].last = at
        self.turned[at].next = 0
        self.turned[at].noted = 0
        self.turned[at].was_pushed = False

    def _root(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the root of the group of a body."""
        while self.turned[at].parent != at:
            self.turned[at].parent = self.turned[self.turned[at].parent].parent
            at = self.turned[at].parent
        return at

    def _unite(self, at: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.void:
        """Unite the groups of two bodies."""
        at = self._root(at)
        other = self._root(other)
        if at != other:
            self.turned[other].parent = at
            self.turned[self.turned[at].last].next = other
            self.turned[at].last = self.turned[other].last

    def _one(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the body that stands for all with `Stop` that are one with a body."""
        while self.turned[at].glue != at:
            self.turned[at].glue = self.turned[self.turned[at].glue].glue
            at = self.turned[at].glue
        return at

    def leave(self, i: cython.Py_ssize_t) -> cython.void:
        """Let a body keep a velocity that the game has given it, to the end of the instant."""
        at: cython.Py_ssize_t = self._place(i)

        if at:
            self.turned[at].hit = (1 << self.bodies.dim) - 1
            self.turned[at].was_pushed = True

    # -- what the contacts ask for --

    def apply(self) -> cython.void:
        """Turn the bodies of all contacts that wait for it."""
        for c in range(self.met.n_turned, self.met.n):
            if self.met.contacts[c].turns:
                self.met.take(c)
                self._drop_if_parted(c)
                for n in range(2):
                    if self._turns(c, n):
                        self._list(self._make(self.impact.rows[n]))
        for c in range(self.met.n_turned, self.met.n):
            if self.met.contacts[c].turns:
                self._meet(c)
        for axis in range(self.bodies.dim):
            self._ask(axis)
        # First all parts: to turn one body of a lasting cluster changes the velocity of the others.
        for n in range(self.n_asked):
            root: cython.Py_ssize_t = self._root(self.asked[n])
            if self.turned[root].turns and self.turned[root].part < 0.0:
                self.turned[root].part = self._find_part(root)
        for n in range(self.n_asked):
            root = self._root(self.asked[n])
            if self.turned[root].turns:
                self._turn(root)
        for n in range(self.n_asked):
            self._hold(self.asked[n])
            self.turned[self.asked[n]].is_asked = False
        self.n_asked = 0
        self.met.end_turning()

    def _drop_if_parted(self, c: cython.Py_ssize_t) -> cython.void:
        """Drop a contact whose bodies part without a bounce: another one has pushed them apart."""
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        apart: cython.double = m.velocity_after(0, m.axis) - m.velocity_after(1, m.axis)

        apart *= m.sign
        apart -= self.bodies.growth_of(i, m.axis) + self.bodies.growth_of(j, m.axis)
        if (
            apart > self.clusters.rounding_of_faces(i, j, m.axis) + m.rounding()
            and not self.clusters.are_one(i, j, m.axis)  # if so, their kicks are not shared yet
            and not self._bounces(i, m.axis)
            and not self._bounces(j, m.axis)
        ):
            self.met.contacts[c].turns = self.met.contacts[c].stops = 0

    def _bounces(self, i: cython.Py_ssize_t, axis: cython.int) -> cython.bint:
        """Return whether a body has bounced on an axis at this instant."""
        at: cython.Py_ssize_t = self._place(i)

        return at != 0 and ((self.turned[at].bounced >> axis) & 1) != 0

    def _list(self, at: cython.Py_ssize_t) -> cython.void:
        """List a body that a contact turns, once."""
        root: cython.Py_ssize_t = self._root(at)

        if not self.turned[at].is_asked:
            self.turned[at].is_asked = True
            self.turned[at].is_beside_wall = False
            self.asked[self.n_asked] = at
            self.n_asked += 1
            self._note_after(at)
        self.turned[root].part = -1.0
        self.turned[root].has_wall = False
        self.turned[root].wall = 0.0
        for axis in range(self.bodies.dim):
            self.frame[root, axis] = 0.0

    def _note_after(self, at: cython.Py_ssize_t) -> cython.void:
        """Store the velocities of a body after the normal parts."""
        i: cython.Py_ssize_t = self.turned[at].row

        for axis in range(self.bodies.dim):
            velocity: cython.double = self.clusters.velocity_after(i, axis)
            self.after[at, axis] = self.wanted[at, axis] = velocity
            if not (self.turned[at].noted >> axis) & 1:
                self.before[at, axis] = velocity
            change: cython.double = abs(velocity - self.before[at, axis])
            if change > CHANGE_ROUNDING * (abs(velocity) + abs(self.before[at, axis])):
                self.turned[at].hit |= 1 << axis

    def _turns(self, c: cython.Py_ssize_t, n: cython.int) -> cython.bint:
        """Return whether a contact turns body n."""
        return ((self.met.contacts[c].turns >> n) & 1) != 0

    def _stops(self, c: cython.Py_ssize_t, n: cython.int) -> cython.bint:
        """Return whether a contact turns body n, which has `Stop`."""
        return ((self.met.contacts[c].stops >> n) & 1) != 0

    def _meet(self, c: cython.Py_ssize_t) -> cython.void:
        """Find the width of a contact and what its bodies are to each other."""
        m: ImpactState = self.impact

        self.met.take(c)
        self.met.contacts[c].stretch = self._stretch()
        width: cython.double = self.met.find_width(c)
        if m.slides(0) != m.slides(1):
            n: cython.int = 0 if m.slides(0) else 1
            at: cython.Py_ssize_t = self.place_of[m.rows[n]]
            self.turned[at].is_beside_wall |= self._stops(c, n)
            self._count_wall(self._root(at), c, 1 - n, width)

    def _count_wall(
        self, root: cython.Py_ssize_t, c: cython.Py_ssize_t, n: cython.int, width: cython.double
    ) -> cython.void:
        """Count body n of contact c, a wall, for the frame of the energy of a group.

        `Stop` takes the velocity of its face, a belt too, but `Push` turns relative to the body.
        """
        share: cython.double = 1.0
        stops: cython.double = self._stops(c, 1 - n)

        self.turned[root].wall += width
        if self.turned[root].has_wall:
            share = width / self.turned[root].wall if width > 0.0 else 0.0
        self.turned[root].has_wall = True
        for axis in range(self.bodies.dim):
            velocity: cython.double = self._coming(n, axis)
            velocity += stops * self.impact.belt_speed(n, axis)
            self.frame[root, axis] += share * (velocity - self.frame[root, axis])

    def _are_one(self, c: cython.Py_ssize_t) -> cython.bint:
        """Return whether both bodies of a contact follow `Stop`."""
        return self._stops(c, 0) and self._stops(c, 1)

    def _coming(self, n: cython.int, axis: cython.int) -> cython.double:
        """Return the velocity with which a body of the current impact has come.

        On the axis of the contact it is that before the normal parts, along the surface that after
        those of other contacts.
        """
        at: cython.Py_ssize_t = self._place(self.impact.rows[n])

        if at and axis == self.impact.axis and (self.turned[at].noted >> axis) & 1:
            return self.before[at, axis]
        return self.impact.velocity_after(n, axis)

    def _stretch(self) -> cython.double:
        """Return the relative speed divided by its part along the surface, or 0 if that is 0."""
        largest: cython.double = 0.0
        speed: cython.double = 0.0
        along: cython.double = 0.0

        for axis in range(self.bodies.dim):
            largest = max(largest, abs(self._coming(0, axis) - self._coming(1, axis)))
        if largest == 0.0:
            return 0.0
        for axis in range(self.bodies.dim):
            part: cython.double = (self._coming(0, axis) - self._coming(1, axis)) / largest
            speed += part * part
            if axis != self.impact.axis:
                along += part * part
        return sqrt(speed) / sqrt(along) if along != 0.0 else 0.0

    def _ask(self, axis: cython.int) -> cython.void:
        """Find the velocities by the rules on an axis."""
        m: ImpactState = self.impact

        for n in range(self.n_asked):
            self.turned[self.asked[n]].order = -1
            self.turned[self.asked[n]].glue = self.asked[n]
        for c in range(self.met.n_turned, self.met.n):
            if self.met.contacts[c].axis != axis and self._are_one(c):
                self.met.take(c)
                one: cython.Py_ssize_t = self._one(self.place_of[m.rows[0]])
                self.turned[self._one(self.place_of[m.rows[1]])].glue = one
        for c in range(self.met.n_turned, self.met.n):
            if self.met.contacts[c].axis != axis:
                self.met.take(c)
                for n in range(2):
                    if self._turns(c, n):
                        self._ask_for(c, n, axis)
        for n in range(self.n_asked):
            at: cython.Py_ssize_t = self.asked[n]
            if self._is_fixed(at, axis):
                self._count(at, FIXED, 1.0, self.after[at, axis])
            else:
                self._count(at, OWN, self.bodies.mass[self.turned[at].row], self.after[at, axis])
        for n in range(self.n_asked):
            at = self.asked[n]
            if not self._is_fixed(at, axis):
                self.wanted[at, axis] = self._mean_of(self._one(at))
                self.turned[self._root(at)].turns |= self.wanted[at, axis] != self.after[at, axis]

    def _ask_for(self, c: cython.Py_ssize_t, n: cython.int, axis: cython.int) -> cython.void:
        """Count the velocity that a contact asks for."""
        m: ImpactState = self.impact
        at: cython.Py_ssize_t = self.place_of[m.rows[n]]
        velocity: cython.double = self._coming(1 - n, axis)

        if self._stops(c, n):
            if self._are_one(c):
                return
            velocity += m.belt_speed(1 - n, axis)
        elif self.met.contacts[c].stretch == 0.0 or (self.turned[at].bounced >> m.axis) & 1:
            return
        else:
            velocity += (self._coming(n, axis) - velocity) * self.met.contacts[c].stretch
        self._count(at, ASKED, self.met.contacts[c].width, velocity)

    def _count(
        self,
        at: cython.Py_ssize_t,
        order: cython.int,
        weight: cython.double,
        velocity: cython.double,
    ) -> cython.void:
        """Count a velocity for a body, and all that are one with it, unless a higher one counts."""
        one: cython.Py_ssize_t = self._one(at)

        if order < self.turned[one].order:
            return
        if order > self.turned[one].order:
            self.turned[one].order = order
            self.turned[one].sum = self.turned[one].weight = 0.0
            self.turned[one].least = INF
            self.turned[one].greatest = -INF
        self.turned[one].sum += weight * velocity
        self.turned[one].weight += weight
        self.turned[one].least = min(self.turned[one].least, velocity)
        self.turned[one].greatest = max(self.turned[one].greatest, velocity)

    def _is_fixed(self, at: cython.Py_ssize_t, axis: cython.int) -> cython.bint:
        """Return whether a body does not turn on an axis."""
        return ((self.turned[at].hit >> axis) & 1) != 0 or not self.bodies.may_turn(
            self.turned[at].row, axis
        )

    def _mean_of(self, one: cython.Py_ssize_t) -> cython.double:
        """Return the mean of the velocities that count; without any weight the middle of them."""
        least: cython.double = self.turned[one].least
        greatest: cython.double = self.turned[one].greatest

        if least == greatest or self.turned[one].weight == 0.0:
            return 0.5 * (least + greatest)
        return self.turned[one].sum / self.turned[one].weight

    # -- as far as the energy allows --

    def _find_part(self, root: cython.Py_ssize_t) -> cython.double:
        """Return the part of the turn of a group by which its kinetic energy does not rise."""
        part: cython.double = self._part_to_turn(root)
        less: cython.double = EPSILON

        while part > 0.0 and self._gains_energy(root, part):
            part = part * (1.0 - less) if less < 1.0 else 0.0  # rounding has added energy
            less *= 4.0
        return part

    def _turn(self, root: cython.Py_ssize_t) -> cython.void:
        """Turn the bodies of a group."""
        at: cython.Py_ssize_t = root
        part: cython.double = self.turned[root].part

        self.turned[root].turns = False
        while at:
            for axis in range(self.bodies.dim):
                if self.wanted[at, axis] != self.after[at, axis]:
                    self._change(at, axis, self._turn_by(at, axis, part))
            if part < 1.0:
                self.turned[at].is_beside_wall = False
            other: cython.Py_ssize_t = self.turned[at].next
            self._isolate(at)  # what the group has lost is spent
            at = other

    def _turn_by(
        self, at: cython.Py_ssize_t, axis: cython.int, part: cython.double
    ) -> cython.double:
        """Return the velocity of a body after a part of its turn."""
        after: cython.double = self.after[at, axis]

        return (
            self.wanted[at, axis] if part == 1.0 else after + part * (self.wanted[at, axis] - after)
        )

    def _change(
        self, at: cython.Py_ssize_t, axis: cython.int, velocity: cython.double
    ) -> cython.void:
        """Give a body a velocity at this instant."""
        c: Clusters = self.clusters
        i: cython.Py_ssize_t = self.turned[at].row
        before: cython.double = self.after[at, axis]

        c.let_rise(i, axis, velocity - before)
        kick: cython.double = c.kick_of(i, axis)
        c.change_along(i, axis, before + kick, velocity + kick)

    def _hold(self, at: cython.Py_ssize_t) -> cython.void:
        """Keep gravity from a body that has taken the velocity of a wall beside it."""
        i: cython.Py_ssize_t = self.turned[at].row

        if not self.turned[at].is_beside_wall:
            return
        for axis in range(self.bodies.dim):
            if not self._is_fixed(at, axis) and self.clusters.kick_of(i, axis) != 0.0:
                wanted: cython.double = self.wanted[at, axis]
                before: cython.double = wanted + self.clusters.kick_of(i, axis)
                self.clusters.change_along(i, axis, before, wanted)
                self.clusters.gravity.weaken(i, axis, 0.0)

    def _part_to_turn(self, root: cython.Py_ssize_t) -> cython.double:
        """Return the part, 0 to 1, of the turn of a group that its energy allows.

        After a part s the energy exceeds its value before the instant by a s² + 2 b s + c, c <= 0.
        The result is the larger root.  Velocities are divided by the largest, masses too.
        """
        unit: cython.double = 0.0
        heaviest: cython.double = 0.0
        energy: cython.double = 0.0
        gain: cython.double = 0.0
        square: cython.double = 0.0
        drift: cython.double = 0.0
        was_pushed: cython.bint = False
        at: cython.Py_ssize_t = root

        while at:
            if not self.turned[at].is_asked:
                self._note_after(at)
            heaviest = max(heaviest, self.bodies.mass[self.turned[at].row])
            was_pushed |= self.turned[at].was_pushed
            for axis in range(self.bodies.dim):
                frame: cython.double = self.frame[root, axis]
                unit = max(unit, abs(self.before[at, axis] - frame))
                unit = max(unit, abs(self.after[at, axis] - frame))
                unit = max(unit, abs(self.wanted[at, axis] - frame))
            at = self.turned[at].next
        at = root
        while at:
            mass: cython.double = self.bodies.mass[self.turned[at].row] / heaviest
            for axis in range(self.bodies.dim):
                speed: cython.double = (self.before[at, axis] - self.frame[root, axis]) / unit
                energy += mass * (speed * speed)
                speed = (self.after[at, axis] - self.frame[root, axis]) / unit
                gain += mass * (speed * speed)
                change: cython.double = (self.wanted[at, axis] - self.after[at, axis]) / unit
                square += mass * change * change
                drift += mass * speed * change
            at = self.turned[at].next
        gain -= energy
        self.earlier = self.before
        if gain > 0.0 or was_pushed:
            # Growing faces have driven them, or others have got energy that they have lost.
            gain = 0.0
            self.earlier = self.after
        elif gain > -ENERGY_ROUNDING * energy:
            gain = 0.0  # its root would be far more than rounding
        if square + 2.0 * drift + gain > ENERGY_ROUNDING * energy:
            return max(0.0, (sqrt(max(0.0, drift * drift - square * gain)) - drift) / square)
        return 1.0

    def _gains_energy(self, root: cython.Py_ssize_t, part: cython.double) -> cython.bint:
        """Return whether the energy of a group would rise, in twice the precision if that is close."""
        lost: cython.double = 0.0
        size: cython.double = 0.0
        at: cython.Py_ssize_t = root

        while at:
            mass: cython.double = self.bodies.mass[self.turned[at].row]
            for axis in range(self.bodies.dim):
                before: cython.double = self.earlier[at, axis] - self.frame[root, axis]
                later: cython.double = self._turn_by(at, axis, part) - self.frame[root, axis]
                lost += mass * ((before - later) * (before + later))
                size += mass * (before * before + later * later)
            at = self.turned[at].next
        if abs(lost) > ENERGY_ROUNDING * size:
            return lost < 0.0
        self.sum.clear()  # of mass · ((before - frame)² - (later - frame)²)
        at = root
        while at:
            mass = self.bodies.mass[self.turned[at].row]
            for axis in range(self.bodies.dim):
                twice: cython.double = 2.0 * mass * self.frame[root, axis]
                before = self.earlier[at, axis]
                later = self._turn_by(at, axis, part)
                self.sum.add(mass * before, before)
                self.sum.add(-mass * later, later)
                self.sum.add(-twice, before)
                self.sum.add(twice, later)
            at = self.turned[at].next
        return self.sum.total() < 0.0
