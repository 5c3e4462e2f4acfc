"""The bounces of dynamic bodies that meet at one instant: they are resolved together.

A box that hits two others at once would otherwise bounce off the one that comes first in space, and
meet the second with what that has left.  So all bounces that are due on one axis, and that are
connected by their bodies, get the velocities

    v' = w + e (w - v),

where w are the velocities after the plastic impact of these contacts alone, as `Projection` finds
them, and e is the largest restitution among them.  So the momentum is kept, the energy does not
rise, and none of them closes.

Only bodies that are free take part: equal in dominance, in no cluster, not held, with no growth on
the axis.
"""

from __future__ import annotations

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import DOUBLE, INT, LONG, grown, zeros
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.contacts_in_step import ContactsInStep
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.narrowphase import Narrowphase
from ecs_collide.narrowphase.step import Step
from ecs_collide.narrowphase.sweep_test import IMPACT, Sweeper
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.momentum_balance import MomentumBalance
from ecs_collide.response.solver import Solver
from ecs_collide.step.surfaces import MetSurfaces


@cython.final
class MetBounces:
    """The bounces that are due at an instant and are resolved together."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    queue: ImpactQueue
    contacts: ContactsInStep
    solver: Solver
    clusters: Clusters
    narrowphase: Narrowphase
    surfaces: MetSurfaces
    axis: cython.int
    restitution: cython.double  # the largest one of the pairs
    n_rows: cython.Py_ssize_t
    n: ReadOnly[cython.Py_ssize_t]
    rows: cython.int[::1]  # (n_rows or more,): the bodies
    met: ReadOnly[cython.int[::1]]  # (n or more,): the pairs, in the order in which they are found
    number_of: cython.int[::1]  # by row: the number of the body in the balance
    balance: MomentumBalance
    # by pair: what its last bounce with others has passed on, and the instant of it
    impulse_of: cython.double[::1]
    bounced_in: cython.longlong[::1]
    search: cython.longlong  # the number of the present search, which is even
    # by row: the last search that has found a body, and 1 more once all its pairs are known
    found_in: cython.longlong[::1]

    def __init__(
        self,
        step: Step,
        contacts: ContactsInStep,
        narrowphase: Narrowphase,
        solver: Solver,
        surfaces: MetSurfaces,
    ):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.queue = step.queue
        self.contacts = contacts
        self.narrowphase = narrowphase
        self.solver = solver
        self.clusters = solver.clusters
        self.surfaces = surfaces
        self.balance = MomentumBalance()
        self.rows = self.met = self.number_of = zeros(INT, 0)
        self.impulse_of = zeros(DOUBLE, 0)
        self.found_in = self.bounced_in = zeros(LONG, 0)

    # -- search --

    def first_of(self, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return pair p, or the bounce that is taken before it."""
        if not self._is_of_equals(p) or self._restitution_of(p) > 0.0 or not self.gather(p):
            return p
        best: cython.Py_ssize_t = self.met[0]
        for n in range(1, self.n):
            if self.surfaces.precedes(self.met[n], best):
                best = self.met[n]
        return best

    @cython.inline
    def any_due(self) -> cython.bint:
        """Return whether another impact is due now; mostly none is, so it is asked first."""
        return self.queue.size > 0 and self.queue.at[self.queue.top()].time <= self.step.now

    def gather(self, p: cython.Py_ssize_t) -> cython.bint:
        """Find the other bounces of this instant that a pair is connected with; return if any."""
        at: cython.Py_ssize_t = 0

        self.axis = self.pairs.impact[p].axis
        self.n = self.n_rows = 0
        self.restitution = 0.0
        if self.rows.shape[0] < self.bodies.capacity:
            self.found_in = zeros(LONG, self.bodies.capacity)
            self.number_of = zeros(INT, self.bodies.capacity)
            self.rows = zeros(INT, self.bodies.capacity)
        if self.met.shape[0] < self.pairs.n:
            self.impulse_of = grown(self.impulse_of, 2 * self.pairs.n)
            self.bounced_in = grown(self.bounced_in, 2 * self.pairs.n)
            self.met = zeros(INT, 2 * self.pairs.n)
        self.search += 2
        self._find(self.pairs.at[p].first)
        self._find(self.pairs.at[p].second)
        while at < self.n_rows:
            self._search(self.rows[at])
            at += 1
        return self.n > 0

    def _find(self, i: cython.Py_ssize_t) -> cython.void:
        """Add a body if it is new, and free: only the pairs of free bodies bounce."""
        if self.found_in[i] < self.search and self._is_free(i, self.axis):
            self.found_in[i] = self.search
            self.rows[self.n_rows] = i
            self.n_rows += 1

    def _search(self, i: cython.Py_ssize_t) -> cython.void:
        """Add the bounces of a body, and their bodies."""
        q: cython.Py_ssize_t = self.pairs.head_of(i)

        self.found_in[i] = self.search + 1
        while q >= 0:
            if (
                self.queue.is_due(q, self.step.now)
                and self.found_in[self.pairs.partner(q, i)] <= self.search
                and self.pairs.impact[q].axis == self.axis
                and self.pairs.is_solid(q)
                and not self.surfaces.is_offered(q)
            ):
                restitution: cython.double = self._restitution_of(q)
                if restitution > 0.0 and self._meets_at_faces(q):
                    self.add(q, restitution)
                    self._find(self.pairs.partner(q, i))
            q = self.pairs.next_of(q, i)

    def add(self, p: cython.Py_ssize_t, restitution: cython.double) -> cython.void:
        """Add a pair with its restitution."""
        self.met[self.n] = p
        self.n += 1
        self.restitution = max(self.restitution, restitution)

    def _meets_at_faces(self, q: cython.Py_ssize_t) -> cython.bint:
        """Sweep a pair again; return whether it meets now, on the axis and at no corner."""
        s: Sweeper = self.narrowphase.sweeper

        self.clusters.write_body(self.pairs.at[q].first)
        self.clusters.write_body(self.pairs.at[q].second)
        self.narrowphase.solve(q)
        return s.axis == self.axis and not s.corner and self.narrowphase.is_impact_now()

    def _is_of_equals(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether nothing but the masses of two bodies decides how they give way."""
        return not (
            self.pairs.meets_wall(p, self.bodies)
            or self._are_ranked(p)
            or self.surfaces.is_offered(p)
        )

    def is_free(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair that is due closes, fast enough, and both its bodies are free."""
        k: cython.int = self.pairs.impact[p].axis
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        sign: cython.int = self.pairs.impact[p].sign

        if (
            self.pairs.impact[p].kind != IMPACT
            or abs(sign) != 1
            or not self._is_free(i, k)
            or not self._is_free(j, k)
            or self._are_ranked(p)
        ):
            return False
        closing: cython.double = self.clusters.velocity_now(j, k) - self.clusters.velocity_now(i, k)
        closing *= sign
        return closing > 0.0 and closing >= self.step.rest_speed

    def _are_ranked(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the dominance of a pair decides how it bounces: they differ, or block."""
        return (
            self.pairs.is_outweighed(p, self.bodies)
            or (self.bodies.controls.rank_of(self.pairs.at[p].first) & 1) != 0
        )

    def _is_free(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether nothing but its mass and dominance decides how a body bounces on an axis."""
        b: Bodies = self.bodies

        return (
            b.may_turn(i, k)
            and b.resize_of(i, k) == 0.0
            and self.clusters.node_of[i, k] == 0
            and not self.clusters.is_calm(i)
        )

    def _restitution_of(self, p: cython.Py_ssize_t) -> cython.double:
        """Return the restitution of a pair that is due, or 0 if it is not free."""
        found: cython.double = self.solver.restitution_between(
            self.pairs.at[p].first, self.pairs.at[p].second, True, True
        )
        if found < 1.0 and (
            self.pairs.impact[p].resolved_at == self.step.now or self.contacts.leans(p)
        ):
            return 0.0
        return found if found > 0.0 and self.is_free(p) else 0.0

    # -- resolve --

    def resolve(self) -> cython.void:
        """Give all bodies that were found the velocities of the bounce."""
        c: Clusters = self.clusters
        k: cython.int = self.axis
        first_link: cython.Py_ssize_t = self.solver.graph.n_links + 1
        any_uneven: cython.bint = c.any_uneven

        for n in range(self.n_rows):
            i: cython.Py_ssize_t = self.rows[n]
            c.enter_alone(i, k, c.velocity_of(i, k) - c.kick_of(i, k))
        for n in range(self.n):
            self._join(self.met[n])
        self.solver.projection.settle_from(first_link, 2)
        c.any_uneven = False  # the velocities of these clusters contain no kicks
        self.balance.clear()
        for n in range(self.n_rows):
            i = self.rows[n]
            before: cython.double = c.nodes[c.node_of[i, k]].before
            after: cython.double = c.velocity_of(i, k)
            c.leave(i, k)
            if after != before:
                after += self.restitution * (after - before)
                c.turn_freely(i, k, after + c.kick_of(i, k))
            self.number_of[i] = self.balance.add_body(self.bodies.mass[i] * (after - before))
        c.any_uneven = any_uneven
        self._find_impulses()

    def _join(self, p: cython.Py_ssize_t) -> cython.void:
        """Note the contact of a pair, and merge its two bodies if they close."""
        c: Clusters = self.clusters
        low: cython.Py_ssize_t = self.pairs.at[p].first
        high: cython.Py_ssize_t = self.pairs.at[p].second

        if self.pairs.impact[p].sign > 0:
            low, high = high, low
        closes: cython.bint = c.velocity_of(low, self.axis) > c.velocity_of(high, self.axis)
        one: cython.Py_ssize_t = c.node_of[low, self.axis]
        other: cython.Py_ssize_t = c.node_of[high, self.axis]
        self.solver.graph.add(one, other, -1, closes)
        if closes:
            c.merge(c.root(one), c.root(other), -1)

    # -- what each contact passes on --

    def take_impulse(self, p: cython.Py_ssize_t) -> cython.double:
        """Return once what a bounce of this instant, together with others, has passed on in a pair."""
        if p >= self.bounced_in.shape[0] or self.bounced_in[p] != self.clusters.instant:
            return 0.0
        self.bounced_in[p] = -1
        return self.impulse_of[p]

    def _find_impulses(self) -> cython.void:
        """Find what each pair has passed on."""
        for n in range(self.n):
            p: cython.Py_ssize_t = self.met[n]
            low: cython.Py_ssize_t = self.number_of[self.pairs.at[p].first]
            high: cython.Py_ssize_t = self.number_of[self.pairs.at[p].second]
            if self.pairs.impact[p].sign > 0:
                low, high = high, low
            width: cython.double = self.pairs.width_at(p, self.axis, self.step.now, self.bodies)
            self.balance.add(low, high, width)
        self.balance.solve(False)
        for n in range(self.n):
            self.bounced_in[self.met[n]] = self.clusters.instant
            self.impulse_of[self.met[n]] = self.balance.contacts[n].impulse
