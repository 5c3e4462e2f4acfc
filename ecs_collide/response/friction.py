"""Coulomb friction of the contacts that are met in one instant, after their normal parts.

The momentum of friction is at most the coefficient times the momentum with which a contact presses,
the *load* of the contact (`response/met_loads.py`).  If that is enough to end the sliding, the faces,
which may be conveyor belts, get one velocity.

The contacts rub together, once no normal part is due any more, in rounds:

- A contact that could easily end its slide is thought to *stick*.  Bodies that stick together are a
  *group*, which moves as one, such as a pile on a floor.  One that sticks to a wall is held by it.
- The other contacts rub the groups.  A group that rubs on several others is split into parts, by
  the momentum that each contact may take.  Each part gets a velocity of its own, and the group gets
  their mean.  Energy never rises by that, and on walls of one velocity the friction of all adds up.
- What the contacts in a group must pass on for that is found from the changes of its bodies
  (`response/momentum_balance.py`).  If it is too much for some, the one for which it is most slips,
  and the round begins anew.

The rounds end when nothing slides that could be slowed down.  For a pile, the result is the least
energy that friction can leave.
"""

from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython, struct
from ecs_collide._kernel.arrays import INT, grown, zeros
from ecs_collide._kernel.constants import INF
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.met_contacts import MetContacts
from ecs_collide.response.momentum_balance import NOBODY, MomentumBalance

KEPT_ROUNDING = 2.0**-50
RUB_LIMIT = 12  # rounds, after which what lies on several others may still slide
TRY_LIMIT = 8  # rounds that begin anew for the contacts of the largest strain alone
STICKS = 3.99  # times as fast as it is a contact must be able to end a slide
BEARS = 1.0 + 2.0**-20  # a pile that slides as one needs just what its contacts may pass on
FIRST_TO_SLIP = 1.0 + 2.0**-18


@cython.inline
@struct
class Rubbed:
    """A body that rubs on others on an axis, and the group of which it is the first."""

    row: cython.int
    axis: cython.int
    n_contacts: cython.int  # that rub it
    # of this round
    first: cython.int  # the place of the first body of its group
    pushed: cython.double  # the momentum that contacts with others than its group pass on to it
    number: cython.int  # its number in the balance
    # of the group
    n_bodies: cython.int
    mass: cython.double
    momentum: cython.double
    velocity: cython.double  # the mean
    is_held: cython.schar  # whether it sticks to walls of one velocity, which is then its own
    wall_least: cython.double  # of the velocities of these walls
    wall_greatest: cython.double
    n_parts: cython.int  # one for each contact that rubs it
    budget: cython.double  # the sum of what these may take
    n_parts_rubbed: cython.int
    change: cython.double  # the mean change of velocity of the parts, by shares
    least: cython.double  # of the velocities of the bodies, then of the parts
    greatest: cython.double
    kept: cython.double  # the part of the kick that stays: the mean, and the most
    most_kept: cython.double
    worst: cython.double  # the largest strain of its contacts


@cython.inline
@struct
class Rubbing:
    """A contact that rubs."""

    contact: cython.int  # in `MetContacts`
    budget: cython.double  # the momentum that it may pass on in this instant
    may_stick: cython.schar  # whether nothing but friction moves its bodies along the surface
    sticks: cython.schar  # whether it is thought to, in this round
    strain: cython.double  # how many times as much as it may it would have to pass on, if too much


@cython.inline
@struct
class Edge:
    """A contact on an axis of its surface; body 0 and 1 as in `ImpactState`."""

    axis: cython.int
    row0: cython.int
    row1: cython.int
    body0: cython.int  # the place of body 0 in `rubbed`, or 0 if friction cannot change it
    body1: cython.int
    belt0: cython.double  # the velocities of the faces along themselves
    belt1: cython.double
    slide: cython.double  # the velocity of face 0 less that of face 1
    passed: cython.double  # the momentum that body 0 has passed on to body 1, and in this round
    passes: cython.double
    binds: cython.schar  # whether it sticks, and its bodies are of one group, or held


@cython.final
class CoulombFriction:
    """The friction of the contacts of an instant."""

    bodies: Bodies
    clusters: Clusters
    impact: ImpactState
    met: MetContacts
    balance: MomentumBalance
    n_bodies: cython.Py_ssize_t
    rubbed: cython.pointer[Rubbed]  # from 1
    memory: StructMemory
    place_of: cython.int[:, ::1]  # (n_rows or fewer, dim): place in `rubbed`, or 0
    n_tries: cython.int  # rounds that began anew, in this instant
    n: cython.Py_ssize_t  # number of contacts that rub
    contacts: cython.pointer[Rubbing]
    memory_of_contacts: StructMemory
    edges: cython.pointer[Edge]  # dim - 1 for each contact
    memory_of_edges: StructMemory
    # (2,): of the parts of the groups that an edge rubs
    share: cython.double[2]
    inverse_mass: cython.double[2]  # 0 for one that friction cannot change
    kept: cython.double  # the part of the kick that friction leaves to the last part

    def __init__(self, step: Step, impact: ImpactState, met: MetContacts):
        self.bodies = step.bodies
        self.clusters = impact.clusters
        self.impact = impact
        self.met = met
        self.balance = MomentumBalance()
        self.place_of = zeros(INT, 1, self.bodies.dim)
        self.memory = StructMemory()
        self.memory_of_contacts = StructMemory()
        self.memory_of_edges = StructMemory()
        self._grow(16)
        self._grow_contacts(8)

    def _grow(self, room: cython.Py_ssize_t) -> cython.void:
        """Make room for more bodies on an axis."""
        self.rubbed = cython.cast(
            cython.pointer(Rubbed), self.memory.grow(cython.sizeof(Rubbed), room)
        )

    def _grow_contacts(self, room: cython.Py_ssize_t) -> cython.void:
        """Make room for more contacts."""
        self.edges = cython.cast(
            cython.pointer(Edge),
            self.memory_of_edges.grow(cython.sizeof(Edge), room * (self.bodies.dim - 1)),
        )
        self.contacts = cython.cast(
            cython.pointer(Rubbing),
            self.memory_of_contacts.grow(cython.sizeof(Rubbing), room),
        )

    def clear(self) -> cython.void:
        """Forget the bodies, of an instant or of a step that was interrupted."""
        for at in range(1, self.n_bodies + 1):
            self.place_of[self.rubbed[at].row, self.rubbed[at].axis] = 0
        self.n_bodies = self.n = 0

    # -- what rubs --

    def apply(self) -> cython.void:
        """Apply the friction of the contacts that have not rubbed yet, after `MetLoads.find`."""
        for c in range(self.met.n_rubbed, self.met.n):
            if self.met.contacts[c].friction > 0.0 and self.met.contacts[c].load > 0.0:
                self._add(c)
        self.n_tries = 0
        for _ in range(RUB_LIMIT):
            self._find_sticking()
            self._rub_all()
            while not self._bear_all():
                self.n_tries += 1
                self._rub_all()
            if not self._end_round():
                break
        self.clear()

    def _add(self, c: cython.Py_ssize_t) -> cython.void:
        """Add a contact, and the bodies that it rubs."""
        m: ImpactState = self.impact
        q: cython.Py_ssize_t = self.n
        e: cython.Py_ssize_t = self._first_edge(q)

        if q >= self.memory_of_contacts.room:
            self._grow_contacts(2 * q)
        self.n = q + 1
        self.contacts[q].contact = c
        self.contacts[q].budget = self.met.contacts[c].friction * self.met.contacts[c].load
        self.contacts[q].may_stick = True
        self.met.take(c)
        for axis in range(self.bodies.dim):
            if axis != m.axis:
                self.edges[e].axis = axis
                self.edges[e].row0 = m.rows[0]
                self.edges[e].row1 = m.rows[1]
                self.edges[e].belt0 = m.belt_speed(0, axis)
                self.edges[e].belt1 = m.belt_speed(1, axis)
                self.edges[e].passed = self.edges[e].passes = 0.0
                one: cython.int = self._add_body(c, 0, axis)
                other: cython.int = self._add_body(c, 1, axis)
                self.edges[e].body0 = one
                self.edges[e].body1 = other
                self.contacts[q].may_stick &= self._may_bind(e)
                e += 1

    def _first_edge(self, q: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first edge of a contact."""
        return q * (self.bodies.dim - 1)

    def _add_body(self, c: cython.Py_ssize_t, n: cython.int, axis: cython.int) -> cython.Py_ssize_t:
        """Add a body of a contact on an axis; return its place, or 0 if friction cannot change it."""
        i: cython.Py_ssize_t = self.impact.rows[n]

        if not (self.met.contacts[c].slides >> n) & 1 or self.bodies.controls.locks(i, axis):
            return 0
        at: cython.Py_ssize_t = self._make(i, axis)
        self.rubbed[at].n_contacts += 1
        return at

    def _make(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the place of a body on an axis, which is made if there is none."""
        if i >= self.place_of.shape[0]:
            self.place_of = grown(self.place_of, self.bodies.capacity)
        at: cython.Py_ssize_t = self.place_of[i, k]
        if at:
            return at
        at = self.n_bodies + 1
        if at >= self.memory.room:
            self._grow(2 * at)
        self.n_bodies = at
        self.place_of[i, k] = at
        self.rubbed[at].row = i
        self.rubbed[at].axis = k
        self.rubbed[at].n_contacts = 0
        return at

    def _may_bind(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bodies of an edge may move as one: nothing else moves them along."""
        edges: cython.pointer[Edge] = self.edges

        return (
            self._is_free(edges[e].body0)
            and self._is_free(edges[e].body1)
            and not (edges[e].body0 and edges[e].body1 and edges[e].belt0 != edges[e].belt1)
        )

    def _is_free(self, at: cython.Py_ssize_t) -> cython.bint:
        """Return whether neither gravity nor damping nor a cluster moves a body on an axis."""
        i: cython.Py_ssize_t = self.rubbed[at].row
        k: cython.int = self.rubbed[at].axis

        return at == 0 or not (self._is_pulled(at) or self.clusters.lasting_root(i, k))

    def _is_pulled(self, at: cython.Py_ssize_t) -> cython.bint:
        """Return whether gravity or damping acts on a body on an axis."""
        return (
            at != 0
            and self.clusters.gravity.is_on
            and self.clusters.gravity.pulls(self.rubbed[at].row, self.rubbed[at].axis)
        )

    # -- groups --

    def _find_sticking(self) -> cython.void:
        """Find the contacts that are thought to stick in this round."""
        r: cython.pointer[Rubbed] = self.rubbed

        for at in range(1, self.n_bodies + 1):
            r[at].first = at
            r[at].n_bodies = 1
            r[at].is_held = False
        for q in range(self.n):
            self.contacts[q].sticks = self.contacts[q].may_stick and self._ends_easily(q)

    def _ends_easily(self, q: cython.Py_ssize_t) -> cython.bint:
        """Return whether a contact could easily end its slide."""
        e: cython.Py_ssize_t = self._first_edge(q)
        speed: cython.double = self._find_slide(q)
        both: cython.double = self._ease(self.edges[e].row0, self.contacts[q].contact, 0)

        both += self._ease(self.edges[e].row1, self.contacts[q].contact, 1)
        return speed * STICKS <= self._room(q, speed) * both

    def _ease(self, i: cython.Py_ssize_t, c: cython.Py_ssize_t, n: cython.int) -> cython.double:
        """Return the inverse mass of a body of a contact, 0 if friction cannot change it."""
        return 1.0 / self.bodies.mass[i] if (self.met.contacts[c].slides >> n) & 1 else 0.0

    def _find_slide(self, q: cython.Py_ssize_t) -> cython.double:
        """Find how fast the faces of a contact slide over each other on each axis; return the speed."""
        largest: cython.double = 0.0
        speed: cython.double = 0.0

        for e in range(self._first_edge(q), self._first_edge(q + 1)):
            self.edges[e].slide = self._slide(e)
            largest = max(largest, abs(self.edges[e].slide))
        if largest == 0.0 or self.bodies.dim == 2:
            return largest
        for e in range(self._first_edge(q), self._first_edge(q + 1)):
            part: cython.double = self.edges[e].slide / largest
            speed += part * part
        return sqrt(speed) * largest

    def _slide(self, e: cython.Py_ssize_t) -> cython.double:
        """Return the velocity of face 0 less that of face 1 on the axis of an edge, at this instant.

        If one of them cannot move, the velocity at the end of the step counts instead, because
        friction also acts against the rest of gravity.
        """
        c: Clusters = self.clusters
        edges: cython.pointer[Edge] = self.edges
        axis: cython.int = edges[e].axis
        slide: cython.double = (self._velocity_of(edges[e].row0, axis) + edges[e].belt0) - (
            self._velocity_of(edges[e].row1, axis) + edges[e].belt1
        )

        if not edges[e].body1:
            slide += c.kick_of(edges[e].row0, axis)
        elif not edges[e].body0:
            slide -= c.kick_of(edges[e].row1, axis)
        else:
            slide -= c.kick_of(edges[e].row0, axis) - c.kick_of(edges[e].row1, axis)
        return slide

    def _velocity_of(self, i: cython.Py_ssize_t, axis: cython.int) -> cython.double:
        """Return the velocity of a body, or of its group, at this instant."""
        r: cython.pointer[Rubbed] = self.rubbed
        at: cython.Py_ssize_t = self.place_of[i, axis] if i < self.place_of.shape[0] else 0

        if at and self._moves_as_one(r[at].first):
            return r[r[at].first].velocity
        return self.clusters.final_velocity(i, axis)

    def _moves_as_one(self, at: cython.Py_ssize_t) -> cython.bint:
        """Return whether a group has several bodies, or is held by a wall."""
        return self.rubbed[at].n_bodies > 1 or self.rubbed[at].is_held != 0

    def _room(self, q: cython.Py_ssize_t, speed: cython.double) -> cython.double:
        """Return how much momentum a contact may still pass on against its slide, of this speed."""
        edges: cython.pointer[Edge] = self.edges
        budget: cython.double = self.contacts[q].budget
        along: cython.double = 0.0
        square: cython.double = budget * budget

        for e in range(self._first_edge(q), self._first_edge(q + 1)):
            if speed > 0.0:
                along += edges[e].passed * (edges[e].slide / speed)
            square -= edges[e].passed * edges[e].passed
        if self.bodies.dim == 2:
            return max(0.0, budget - along)
        return max(0.0, sqrt(max(0.0, along * along + square)) - along)

    def _find_groups(self) -> cython.void:
        """Find the groups, what holds them, and their velocities."""
        r: cython.pointer[Rubbed] = self.rubbed
        edges: cython.pointer[Edge] = self.edges

        for at in range(1, self.n_bodies + 1):
            self._begin_group(at)
        for q in range(self.n):
            for e in range(self._first_edge(q), self._first_edge(q + 1)):
                edges[e].binds = False
                if self.contacts[q].sticks and edges[e].body0 and edges[e].body1:
                    one: cython.int = self._first(edges[e].body0)
                    r[self._first(edges[e].body1)].first = one
                    edges[e].binds = True
        for at in range(1, self.n_bodies + 1):
            self._add_to_group(at)
        for at in range(1, self.n_bodies + 1):
            r[at].velocity = r[at].least
            if r[at].least < r[at].greatest:
                r[at].velocity = r[at].momentum / r[at].mass
            r[at].least = INF
            r[at].greatest = -INF
        for q in range(self.n):
            if self.contacts[q].sticks:
                for e in range(self._first_edge(q), self._first_edge(q + 1)):
                    if not edges[e].binds:
                        self._add_wall(e)
        for at in range(1, self.n_bodies + 1):
            if r[at].wall_least == r[at].wall_greatest:
                r[at].is_held = True
                r[at].velocity = r[at].wall_least

    def _begin_group(self, at: cython.Py_ssize_t) -> cython.void:
        """Begin the sums of a body, and of the group that it may begin, anew."""
        r: cython.pointer[Rubbed] = self.rubbed

        r[at].first = at
        r[at].pushed = 0.0
        r[at].n_bodies = r[at].n_parts = r[at].n_parts_rubbed = 0
        r[at].mass = r[at].momentum = r[at].budget = r[at].change = 0.0
        r[at].most_kept = r[at].worst = 0.0
        r[at].kept = 1.0
        r[at].is_held = False
        r[at].least = r[at].wall_least = INF
        r[at].greatest = r[at].wall_greatest = -INF

    def _first(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the place of the first body of a group."""
        r: cython.pointer[Rubbed] = self.rubbed

        while r[at].first != at:
            r[at].first = r[r[at].first].first
            at = r[at].first
        return at

    def _add_to_group(self, at: cython.Py_ssize_t) -> cython.void:
        """Add a body to the sums of its group."""
        r: cython.pointer[Rubbed] = self.rubbed
        first: cython.Py_ssize_t = self._first(at)
        mass: cython.double = self.bodies.mass[r[at].row]
        velocity: cython.double = self.clusters.final_velocity(r[at].row, r[at].axis)

        r[at].first = first
        r[first].n_bodies += 1
        r[first].mass += mass
        r[first].momentum += mass * velocity
        r[first].least = min(r[first].least, velocity)
        r[first].greatest = max(r[first].greatest, velocity)

    def _add_wall(self, e: cython.Py_ssize_t) -> cython.void:
        """Add the velocity of a wall that may hold a group."""
        r: cython.pointer[Rubbed] = self.rubbed
        n: cython.int = 0 if self.edges[e].body0 else 1
        first: cython.Py_ssize_t = self._group(e, n)

        if first:
            surface: cython.double = self._surface_beside(e, n)
            r[first].wall_least = min(r[first].wall_least, surface)
            r[first].wall_greatest = max(r[first].wall_greatest, surface)

    def _group(self, e: cython.Py_ssize_t, n: cython.int) -> cython.Py_ssize_t:
        """Return the group of body n of an edge, 0 if friction cannot change the body."""
        at: cython.Py_ssize_t = self.edges[e].body1 if n else self.edges[e].body0

        return self.rubbed[at].first if at else 0

    def _surface_beside(self, e: cython.Py_ssize_t, n: cython.int) -> cython.double:
        """Return the velocity with which body n of an edge goes along with the other face."""
        edges: cython.pointer[Edge] = self.edges
        axis: cython.int = edges[e].axis

        if n:
            return (self._velocity_of(edges[e].row0, axis) + edges[e].belt0) - edges[e].belt1
        return (self._velocity_of(edges[e].row1, axis) + edges[e].belt1) - edges[e].belt0

    # -- rub --

    def _rub_all(self) -> cython.void:
        """Rub the contacts between groups, and beside walls."""
        self._find_groups()
        for q in range(self.n):
            if self.contacts[q].budget > 0.0:
                for e in range(self._first_edge(q), self._first_edge(q + 1)):
                    self._find_edge(q, e)
        for q in range(self.n):
            if self.contacts[q].budget > 0.0:
                self._rub(q)

    def _find_edge(self, q: cython.Py_ssize_t, e: cython.Py_ssize_t) -> cython.void:
        """Find whether an edge binds; if it does not, add it to the budgets of its groups."""
        r: cython.pointer[Rubbed] = self.rubbed
        edges: cython.pointer[Edge] = self.edges

        edges[e].passes = 0.0
        if self.contacts[q].sticks and not edges[e].binds:
            edges[e].binds = r[self._group(e, 0 if edges[e].body0 else 1)].is_held
        if self._rubs(e):
            for n in range(2):
                at: cython.Py_ssize_t = self._group(e, n)
                if at:
                    r[at].n_parts += 1
                    r[at].budget += self.contacts[q].budget

    def _rubs(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether an edge is one between groups, or beside a wall."""
        return not self.edges[e].binds and self._group(e, 0) != self._group(e, 1)

    def _rub(self, q: cython.Py_ssize_t) -> cython.void:
        """Rub the faces of a contact."""
        speed: cython.double = self._find_slide(q)
        room: cython.double = self._room(q, speed)

        for e in range(self._first_edge(q), self._first_edge(q + 1)):
            if speed > 0.0 and self._rubs(e):
                self._split(q, e)
                both: cython.double = self.inverse_mass[0] + self.inverse_mass[1]
                part: cython.double = room * both / speed
                self.edges[e].passes = self.edges[e].slide * (room / speed)
                if part > 1.0:
                    self.edges[e].passes = self.edges[e].slide / both
                for n in range(2):
                    self._push(e, n, part)

    def _split(self, q: cython.Py_ssize_t, e: cython.Py_ssize_t) -> cython.void:
        """Find the parts of the two groups that an edge rubs."""
        r: cython.pointer[Rubbed] = self.rubbed

        for n in range(2):
            at: cython.Py_ssize_t = self._group(e, n)
            self.inverse_mass[n] = self.share[n] = 0.0
            if at and not r[at].is_held:
                self.share[n] = 1.0
                if r[at].n_parts > 1:
                    self.share[n] = self.contacts[q].budget / r[at].budget
                if self.share[n] > 0.0:
                    self.inverse_mass[n] = 1.0 / r[at].mass / self.share[n]

    def _push(self, e: cython.Py_ssize_t, n: cython.int, part: cython.double) -> cython.void:
        """Add the velocity of the part of a group that an edge rubs.

        It removes a part of the slide, all of it if `part` is 1 or more.
        """
        r: cython.pointer[Rubbed] = self.rubbed
        at: cython.Py_ssize_t = self._group(e, n)
        place: cython.Py_ssize_t = self.edges[e].body1 if n else self.edges[e].body0
        passes: cython.double = self.edges[e].passes if n else -self.edges[e].passes

        if not at:
            return
        r[place].pushed += passes
        if self.inverse_mass[n] == 0.0:
            return
        i: cython.Py_ssize_t = r[place].row
        axis: cython.int = r[place].axis
        self.kept = 1.0
        if not self._group(e, 1 - n):
            velocity: cython.double = self._aim_beside_wall(e, n, part)
        else:
            self.clusters.let_rise(i, axis, passes)
            velocity = self._velocity_of(i, axis) + passes * self.inverse_mass[n]
        r[at].n_parts_rubbed += 1
        r[at].change += self.share[n] * (velocity - self._velocity_of(i, axis))
        r[at].least = min(r[at].least, velocity)
        r[at].greatest = max(r[at].greatest, velocity)
        r[at].kept += self.share[n] * (self.kept - 1.0)
        r[at].most_kept = max(r[at].most_kept, self.kept)

    def _aim_beside_wall(
        self, e: cython.Py_ssize_t, n: cython.int, part: cython.double
    ) -> cython.double:
        """Return the velocity of body n after it has rubbed on a body that friction cannot change.

        `kept` is the part of its kick that stays.  Friction takes a part of the velocity at the end
        of the step, so it takes the same part of the chord and of the kick.  If that is all, the
        body is held.
        """
        edges: cython.pointer[Edge] = self.edges
        i: cython.Py_ssize_t = edges[e].row1 if n else edges[e].row0
        velocity: cython.double = self._velocity_of(i, edges[e].axis)
        surface: cython.double = self._surface_beside(e, n)

        if self.clusters.kick_of(i, edges[e].axis) != 0.0:
            self.kept = max(0.0, 1.0 - part)
            return surface + (velocity - surface) * self.kept
        if part >= 1.0:
            return surface
        return velocity + (edges[e].slide if n else -edges[e].slide) * part

    # -- the end of a round --

    def _bear_all(self) -> cython.bint:
        """Find what the contacts that stick pass on; return False if it is too much for one."""
        r: cython.pointer[Rubbed] = self.rubbed
        n: cython.Py_ssize_t = 0
        all_bear: cython.bint = True

        self.balance.clear()
        for at in range(1, self.n_bodies + 1):
            r[at].number = NOBODY
            if self._moves_as_one(r[at].first):
                change: cython.double = self._velocity_after(r[at].first)
                change -= self.clusters.final_velocity(r[at].row, r[at].axis)
                change *= self.bodies.mass[r[at].row]
                r[at].number = self.balance.add_body(change - r[at].pushed)
        for e in range(self._first_edge(self.n)):
            if self.edges[e].binds:
                self.balance.add(
                    self._number(self.edges[e].body0),
                    self._number(self.edges[e].body1),
                    self.contacts[e // (self.bodies.dim - 1)].budget,
                )
        self.balance.solve(True)
        for e in range(self._first_edge(self.n)):
            if self.edges[e].binds:
                self.edges[e].passes = self.balance.contacts[n].impulse
                n += 1
        for q in range(self.n):
            if self.contacts[q].sticks:
                self._strain(q)
        for q in range(self.n):
            if self.contacts[q].sticks and self._slips(q):
                self.contacts[q].sticks = all_bear = False
                self.contacts[q].may_stick &= self.n_tries < TRY_LIMIT
        return all_bear

    def _number(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the number of a body in the balance."""
        return self.rubbed[at].number if at else NOBODY

    def _strain(self, q: cython.Py_ssize_t) -> cython.void:
        """Find how many times as much as it may a contact would have to pass on.

        Of equal ones those beside walls slip first.
        """
        edges: cython.pointer[Edge] = self.edges
        square: cython.double = 0.0
        strain: cython.double = 0.0
        is_beside_wall: cython.bint = False

        for e in range(self._first_edge(q), self._first_edge(q + 1)):
            passed: cython.double = (edges[e].passed + edges[e].passes) / self.contacts[q].budget
            square += passed * passed
            is_beside_wall |= not (edges[e].body0 and edges[e].body1)
        if square > BEARS:
            strain = sqrt(square)
            if is_beside_wall:
                strain *= FIRST_TO_SLIP
        self.contacts[q].strain = strain
        for e in range(self._first_edge(q), self._first_edge(q + 1)):
            for n in range(2):
                at: cython.Py_ssize_t = self._group(e, n)
                if at:
                    self.rubbed[at].worst = max(self.rubbed[at].worst, strain)

    def _slips(self, q: cython.Py_ssize_t) -> cython.bint:
        """Return whether a contact has the largest strain in a group, above what it bears.

        If many contacts cannot bear their part, all of them slip at last, to have done.
        """
        if self.n_tries >= TRY_LIMIT:
            return self.contacts[q].strain > 0.0
        for e in range(self._first_edge(q), self._first_edge(q + 1)):
            for n in range(2):
                at: cython.Py_ssize_t = self._group(e, n)
                if at and self.contacts[q].strain * BEARS >= self.rubbed[at].worst > 0.0:
                    return True
        return False

    def _velocity_after(self, at: cython.Py_ssize_t) -> cython.double:
        """Return the velocity of a group after this round: that of its wall, or the mean of its parts."""
        r: cython.pointer[Rubbed] = self.rubbed

        if self._has_one_velocity(at):
            return r[at].least
        return self._velocity_of(r[at].row, r[at].axis) + r[at].change

    def _has_one_velocity(self, at: cython.Py_ssize_t) -> cython.bint:
        """Return whether all contacts bring a group to one velocity, and no other rubs it too.

        What rubs a member of a lasting cluster changes the velocities of all its members.
        """
        r: cython.pointer[Rubbed] = self.rubbed

        return (
            r[at].n_parts_rubbed == r[at].n_parts
            and r[at].least == r[at].greatest
            and self.clusters.lasting_root(r[at].row, r[at].axis) == 0
        )

    def _end_round(self) -> cython.bint:
        """Turn the bodies; return whether some that several contacts rub may slide on."""
        goes_on: cython.bint = False

        for e in range(self._first_edge(self.n)):
            goes_on |= self._pass_on(e)
        for at in range(1, self.n_bodies + 1):
            self._turn(at)
        return goes_on

    def _pass_on(self, e: cython.Py_ssize_t) -> cython.bint:
        """Add up what an edge has passed on; return whether its bodies may slide on.

        What gravity or damping pulls along the surface rubs once: a second round would take again
        what is left of the pull.
        """
        edges: cython.pointer[Edge] = self.edges
        q: cython.Py_ssize_t = e // (self.bodies.dim - 1)

        edges[e].passed += edges[e].passes
        if self._is_pulled(edges[e].body0) or self._is_pulled(edges[e].body1):
            self.contacts[q].budget = 0.0
        return edges[e].passes != 0.0 and (
            self._is_shared(edges[e].body0) or self._is_shared(edges[e].body1)
        )

    def _is_shared(self, at: cython.Py_ssize_t) -> cython.bint:
        """Return whether several contacts rub a body."""
        return at != 0 and self.rubbed[at].n_contacts > 1

    def _turn(self, at: cython.Py_ssize_t) -> cython.void:
        """Give a body the velocity of its group, and what that keeps of its kick."""
        r: cython.pointer[Rubbed] = self.rubbed
        first: cython.Py_ssize_t = r[at].first
        i: cython.Py_ssize_t = r[at].row
        axis: cython.int = r[at].axis

        if r[first].n_parts_rubbed or self._moves_as_one(first):
            before: cython.double = self.clusters.final_velocity(i, axis)
            self.clusters.change_along(i, axis, before, self._velocity_after(first))
        if r[first].n_parts_rubbed:
            if r[first].n_parts_rubbed == r[first].n_parts and r[first].most_kept == 0.0:
                self.clusters.gravity.weaken(i, axis, 0.0)
            elif r[first].kept < 1.0 - KEPT_ROUNDING:
                self.clusters.gravity.weaken(i, axis, r[first].kept)
