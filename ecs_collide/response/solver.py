"""The resolution of an impact: the change of its two bodies' velocities along the normal.

`ImpactLoop` has placed the two bodies.  With restitution they exchange velocities by inverse mass.
If it is 0, their clusters merge, because exchanges by pairs never end in a row of boxes.  Next are
the velocities along the surface (`response/tangential.py`) and friction (`response/friction.py`).

A resolution uses the velocity of a falling body at the instant (`motion/gravity.py`).  A pair does
not rebound if gravity would bring it together again within the step.

A lasting cluster resolves as one body with its mass and its shared velocity.  Impulses change its
momentum, not its path; a partner that still closes on the path joins it.  Only a static, kinematic
or held partner, an anchored cluster or one of a higher rank takes a member out of it.

Next to a body of a higher dominance, one of a lower dominance is weightless.  It rebounds as from a
wall, or moves with it.  If the lower one is anchored, or in a cluster of an even higher rank, the
higher one gives way instead.

Of two bodies that block, the faster one bounces off the slower one as off a wall, or takes its
velocity before they merge.  If they run into each other, both do so as at a wall at rest.  What such
bodies push blocks with them.  One that a wall drives pushes the other.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from math import nextafter

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.constants import ResponseCode
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.leaning import Leaning
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.contact_graph import ContactGraph
from ecs_collide.response.friction import CoulombFriction
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.met_contacts import MetContacts
from ecs_collide.response.product_sum import ProductSum, error_of_sum
from ecs_collide.response.projection import Projection
from ecs_collide.response.resizing import ResizingFaces
from ecs_collide.response.supports import Supports
from ecs_collide.response.tangential import TangentialResponse

SHARED_ROUNDING = 2.0**-44  # of the velocities: by how much a shared velocity may be off
BOTH = 2  # bodies that block have run into each other
CONFLICT = -2  # two clusters cannot merge, because their anchors differ in velocity


@cython.inline
def _is_further(one: cython.double, u: cython.double, other: cython.double) -> cython.bint:
    """Return whether `one` is further from `u` than `other`, on its other side; not rounded."""
    total: cython.double = one + other
    rest: cython.double = error_of_sum(one, other, total)

    if other <= u:
        return total > 2.0 * u or (total == 2.0 * u and rest > 0.0)
    return total < 2.0 * u or (total == 2.0 * u and rest < 0.0)


@cython.final
class Solver:
    """The solver of impacts, with the state of the current one."""

    bodies: Bodies
    leaning: Leaning
    clusters: Public[Clusters]  # the bodies that inelastic resolutions have merged
    projection: Public[Projection]
    graph: ContactGraph  # of the projection
    impact: ImpactState  # the current or last impact
    faces: ResizingFaces
    met: Public[MetContacts]
    tangential: Public[TangentialResponse]
    friction: Public[CoulombFriction]
    supports: Public[Supports]
    sum: ProductSum
    # whether each body joins clusters, even if its dominance keeps the impact from changing it
    first_joins: cython.bint
    second_joins: cython.bint
    # the row of each body, or of the wall on which it stands: what is an anchor to the other body
    first_wall: cython.Py_ssize_t
    second_wall: cython.Py_ssize_t
    # the rows of the two anchors that have kept the last pair from merging
    solid_first: cython.Py_ssize_t
    solid_second: cython.Py_ssize_t
    # whether gravity may part the next pair once restitution 0 has merged it: it must meet at a
    # speed, and for the first time in the instant
    may_part: cython.bint
    parting: cython.double  # how fast gravity parts the present pair then, or 0
    blocked: cython.int  # which of two bodies that block gives way to the other, -1 or `BOTH`

    def __init__(self, step: Step):
        self.bodies = step.bodies
        self.leaning = step.leaning
        self.clusters = Clusters(step)
        self.projection = Projection(step, self.clusters)
        self.graph = self.projection.graph
        self.impact = ImpactState(step, self.clusters)
        self.faces = ResizingFaces(self.impact)
        self.met = MetContacts(step, self.impact)
        self.tangential = TangentialResponse(step, self.impact, self.met)
        self.friction = CoulombFriction(step, self.impact, self.met)
        self.supports = Supports(step, self.clusters)
        self.sum = ProductSum()
        self.solid_first = self.solid_second = -1

    def weigh(self) -> cython.bint:
        """Find which bodies the impact may change; return whether it may change a held body.

        To a dynamic body, a held one is a wall, unless a static or kinematic body drives the former.
        """
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        k: cython.int = m.axis

        self.blocked = -1
        self.first_wall = i
        self.second_wall = j
        self.first_joins = m.is_dynamic[0] = self._may_turn(i, j, k)
        self.second_joins = m.is_dynamic[1] = self._may_turn(j, i, k)
        gives_way: cython.bint = (m.is_dynamic[0] and b.on_hold[i]) or (
            m.is_dynamic[1] and b.on_hold[j]
        )
        if b.controls.any_rank and m.is_dynamic[0] and m.is_dynamic[1] and not gives_way:
            self._outweigh(i, j, k)
        return gives_way

    @cython.cfunc
    @cython.inline
    def _may_turn(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether an impact with body j may change body i, but for their dominance."""
        b: Bodies = self.bodies

        return b.dynamic_along(i, k) and (
            not b.on_hold[i] or b.on_hold[j] or not b.dynamic_along(j, k) or self._is_driven(j, k)
        )

    def _outweigh(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Choose the body that gives way if the dominance of two dynamic bodies differs.

        It is the lower one, unless its cluster has an anchor or a higher rank than both.
        """
        m: ImpactState = self.impact
        rank: cython.longlong[::1] = self.bodies.controls.rank
        lower: cython.Py_ssize_t = i if rank[i] < rank[j] else j
        common: cython.longlong = self.clusters.rank_with(i, k)

        # An odd rank blocks.  A face that grows pushes all the same.
        if common & 1 and common == self.clusters.rank_with(j, k) and not m.resizes:
            self._block(k)
            return
        if rank[i] == rank[j]:
            return
        is_held: cython.bint = self.clusters.is_anchored(lower, k)
        is_held |= self.clusters.rank_with(lower, k) > max(rank[i], rank[j])
        m.is_dynamic[0] = (lower == i) != is_held
        m.is_dynamic[1] = not m.is_dynamic[0]

    def _block(self, k: cython.int) -> cython.void:
        """Find which of two bodies that block gives way: the faster one, unless a wall drives it."""
        m: ImpactState = self.impact
        v1: cython.double = self._velocity_now(0)
        v2: cython.double = self._velocity_now(1)
        fast: cython.int = 0 if abs(v1) > abs(v2) else 1

        if self._is_driven_by_wall(m.rows[fast], k):
            return
        if min(v1, v2) < 0.0 < max(v1, v2) and not self._is_driven_by_wall(m.rows[1 - fast], k):
            self.blocked = BOTH
            return
        m.is_dynamic[1 - fast] = False
        self.blocked = fast

    def _velocity_now(self, n: cython.int) -> cython.double:
        """Return the velocity of a body at this instant, along the normal."""
        c: Clusters = self.clusters
        i: cython.Py_ssize_t = self.impact.rows[n]

        return c.at_instant(i, self.impact.axis, c.final_velocity(i, self.impact.axis))

    def _stop_at_rest(self, restitution: cython.double) -> cython.void:
        """Let two bodies that run into each other rebound, each as from a wall at rest."""
        m: ImpactState = self.impact
        v1: cython.double = self._velocity_now(0)
        v2: cython.double = self._velocity_now(1)

        for n in range(2):
            v: cython.double = v2 if n else v1
            m.impulse = max(m.impulse, self.bodies.mass[m.rows[n]] * (1.0 + restitution) * abs(v))
            self.clusters.turn_freely(m.rows[n], m.axis, 0.0 - restitution * v)

    def _take_velocity(self, n: cython.int) -> cython.void:
        """Give body n the velocity of its partner at this instant."""
        m: ImpactState = self.impact
        velocity: cython.double = self._velocity_now(1 - n)

        m.impulse += self.bodies.mass[m.rows[n]] * abs(velocity - self._velocity_now(n))
        self.clusters.turn_freely(m.rows[n], m.axis, velocity)

    def _is_driven_by_wall(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether the cluster of a body has an anchor that is static, kinematic or held."""
        anchor: cython.Py_ssize_t = self.clusters.anchor_of(i, k)

        return anchor >= 0 and (not self.bodies.dynamic[anchor] or self.bodies.on_hold[anchor])

    def _is_driven(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether the cluster of a body has an anchor that is not held, or is driven."""
        c: Clusters = self.clusters
        anchor: cython.Py_ssize_t = c.nodes[c.root(c.node_of[i, k])].anchor

        # A held body moves only if it is driven.
        return anchor >= 0 and (
            not self.bodies.on_hold[anchor] or self.bodies.course[anchor, k] != 0.0
        )

    def is_squeezed(self) -> cython.bint:
        """Return whether a body meets a wall while another one drives it: a bounce cannot part both."""
        m: ImpactState = self.impact

        return m.is_dynamic[0] != m.is_dynamic[1] and self.clusters.is_anchored(
            m.rows[0 if m.is_dynamic[0] else 1], m.axis
        )

    def restitution(self) -> cython.double:
        """Return the restitution of the impact, after `weigh`."""
        return self.restitution_between(
            self.impact.rows[0], self.impact.rows[1], self.first_joins, self.second_joins
        )

    def restitution_between(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        first_joins: cython.bint,
        second_joins: cython.bint,
    ) -> cython.double:
        """Return the restitution of two bodies; the response of one that does not join is not read."""
        b: Bodies = self.bodies
        one: cython.double = -1.0
        other: cython.double = -1.0

        if first_joins and (not b.controls.is_used or b.response[i] == ResponseCode.BOUNCE):
            one = b.restitution[i]
        if second_joins and (not b.controls.is_used or b.response[j] == ResponseCode.BOUNCE):
            other = b.restitution[j]
        if b.controls.is_used:
            return b.controls.restitution_between(i, j, one, other)
        return max(one, other, 0.0)

    def _closing_speed(self) -> cython.double:
        """Return how fast the faces of the impact close at this instant."""
        c: Clusters = self.clusters
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        one: cython.double = c.velocity_now(m.rows[0], m.axis)
        two: cython.double = c.velocity_now(m.rows[1], m.axis)

        one -= m.sign * b.growth_of(m.rows[0], m.axis)
        two += m.sign * b.growth_of(m.rows[1], m.axis)
        return m.sign * (two - one)

    def resolve(self, restitution: cython.double, normal_only: cython.bint) -> cython.bint:
        """Resolve the impact, after `weigh`; return False if its clusters cannot merge."""
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]

        if self.clusters.gravity.is_on:
            # Bodies merge by their velocities at this instant; their paths have others.
            for n in range(2):
                if m.is_dynamic[n]:
                    self.clusters.let_fall(m.rows[n], m.axis)
            if self.leaning.n and not normal_only:
                self._share_weights()
        press: cython.double = self.note_velocities(restitution)
        self.parting = 0.0
        if self.may_part and restitution == 0.0:
            self.projection.lets_go = True
            self.parting = max(0.0, -press)
        if m.resizes:
            if not self._resolve_faces(restitution, press):
                return False
        elif restitution > 0.0 and self.blocked == BOTH and press <= 0.0:
            self._stop_at_rest(restitution)
        elif restitution > 0.0 and (
            self._rebound(restitution) if press == 0.0 else self._part(restitution, press)
        ):
            pass
        else:
            if self.blocked == BOTH:
                self._stop_at_rest(0.0)
            elif self.blocked >= 0:
                self._take_velocity(self.blocked)
            if not self._join(i, j, m.axis):
                return False
        return True

    @cython.inline
    def note_velocities(self, restitution: cython.double) -> cython.double:
        """Store the velocities before the normal part; return the press of gravity."""
        press: cython.double = self.impact.note_velocities()

        if self.bodies.rare.any_friction:
            self.friction.note_velocities()
        if self.bodies.controls.any_turn:
            self.tangential.note(restitution)
        return press

    def _stand(self) -> cython.void:
        """Let a body that stands on a wall be one to the other body, which is pressed on it."""
        m: ImpactState = self.impact

        if self.blocked >= 0 or not (m.is_dynamic[0] and m.is_dynamic[1]):
            return
        first: cython.Py_ssize_t = self.supports.wall_below(m.rows[0], m.axis, -m.sign)
        second: cython.Py_ssize_t = self.supports.wall_below(m.rows[1], m.axis, m.sign)
        if first >= 0 and second < 0:
            self.first_wall = first
            self.first_joins = False
        elif second >= 0 and first < 0:
            self.second_wall = second
            self.second_joins = False

    def _share_weights(self) -> cython.void:
        """Give a body that is pressed against a wall its part of the weight that presses it.

        The weight is that of bodies on slopes, and `Push` would turn it along the wall like a speed.
        """
        m: ImpactState = self.impact

        for n in range(2):
            if (
                self.leaning.leans(m.rows[n])
                and m.turns(n)
                and not m.is_dynamic[1 - n]
                and self.clusters.kick_of(m.rows[n], m.axis) == 0.0
            ):
                self.clusters.even_out(m.rows[n], m.axis)

    def _part(self, restitution: cython.double, press: cython.double) -> cython.bint:
        """Rebound a pair that gravity acts on; return False if it would meet again in the step."""
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        v1: cython.double = self.clusters.velocity_of(i, m.axis)
        v2: cython.double = self.clusters.velocity_of(j, m.axis)
        closing: cython.double = m.sign * (v2 - v1)
        apart: cython.double = restitution * max(closing - press, 0.0) - press

        if apart <= 0.0:
            return False
        if not m.is_dynamic[1]:
            m.impulse = b.mass[i] * (closing + apart)
            self.clusters.turn_freely(i, m.axis, v2 + m.sign * apart)
        elif not m.is_dynamic[0]:
            m.impulse = b.mass[j] * (closing + apart)
            self.clusters.turn_freely(j, m.axis, v1 - m.sign * apart)
        else:
            both: cython.double = m.sign * (closing + apart) / (b.mass[i] + b.mass[j])
            m.impulse = b.mass[i] * (abs(both) * b.mass[j])
            self.clusters.turn_freely(i, m.axis, v1 + both * b.mass[j])
            self.clusters.turn_freely(j, m.axis, v2 - both * b.mass[i])
        return True

    def _rebound(self, restitution: cython.double) -> cython.bint:
        """Rebound a pair; return False if it must be merged, as it still closes or both last."""
        m: ImpactState = self.impact
        first: cython.Py_ssize_t = self.clusters.lasting_root(m.rows[0], m.axis)
        second: cython.Py_ssize_t = self.clusters.lasting_root(m.rows[1], m.axis)

        if first and second:
            return False
        if first or second:
            return self._rebound_from(first or second, 0 if first else 1, restitution)
        self._exchange(restitution)
        return True

    def _rebound_from(
        self, root: cython.Py_ssize_t, n: cython.int, restitution: cython.double
    ) -> cython.bint:
        """Rebound a pair whose body n is in a lasting cluster; return False if it still closes."""
        c: Clusters = self.clusters
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[n]
        j: cython.Py_ssize_t = m.rows[1 - n]
        sign: cython.int = -m.sign if n else m.sign
        velocity: cython.double = c.final_velocity(i, m.axis)
        other: cython.double = self.bodies.velocity_met(j, m.axis)
        mass: cython.double = self.bodies.mass[j]

        bound: cython.double = abs(velocity) + abs(other) + abs(self.bodies.velocity_met(i, m.axis))
        if (velocity - other) * sign >= -SHARED_ROUNDING * bound:
            return False  # only their paths close, not their final velocities
        if not m.is_dynamic[1 - n]:
            self._bounce(n, velocity, other, restitution)
            return True
        if c.nodes[root].rank > self.bodies.controls.rank_of(j):
            after: cython.double = self._bounce(1 - n, other, velocity, restitution)
        else:
            after = other + (1.0 + restitution) * (velocity - other) * (
                c.nodes[root].mass / (c.nodes[root].mass + mass)
            )
            c.push(root, mass, other)
            c.push(root, -mass, after)
            m.impulse = mass * abs(after - other)
            c.turn_freely(j, m.axis, after)
        return (self.bodies.velocity_met(i, m.axis) - after) * sign >= 0.0

    def _exchange(self, restitution: cython.double) -> cython.void:
        """Exchange the velocities of a pair by inverse mass."""
        m: ImpactState = self.impact
        v1: cython.double = self.bodies.velocity_met(m.rows[0], m.axis)
        v2: cython.double = self.bodies.velocity_met(m.rows[1], m.axis)
        mass1: cython.double = self.bodies.mass[m.rows[0]]
        mass2: cython.double = self.bodies.mass[m.rows[1]]
        after1: cython.double = v2
        after2: cython.double = v1

        if not m.is_dynamic[1]:
            self._bounce(0, v1, v2, restitution)
            return
        if not m.is_dynamic[0]:
            self._bounce(1, v2, v1, restitution)
            return
        m.impulse = (1.0 + restitution) * abs(v1 - v2) * (mass1 * (mass2 / (mass1 + mass2)))
        if mass1 != mass2 or restitution != 1.0:
            shared: cython.double = (1.0 + restitution) * (v1 - v2)
            after1 = v1 - shared * (mass2 / (mass1 + mass2))
            after2 = v2 + shared * (mass1 / (mass1 + mass2))
            self.sum.clear()
            self.sum.add(mass1, v1)
            self.sum.add(mass2, v2)
            self.sum.add(-mass1, after1)
            self.sum.add(-mass2, after2)
            # The rounding error goes to the heavier body, whose velocity it changes less.
            if mass1 < mass2:
                after2 += self.sum.total() / mass2
                if (after1 - after2) * m.sign < 0.0:  # still closing, by rounding
                    after1 = after2
            else:
                after1 += self.sum.total() / mass1
                if (after1 - after2) * m.sign < 0.0:
                    after2 = after1
        self.clusters.turn_freely(m.rows[0], m.axis, after1)
        self.clusters.turn_freely(m.rows[1], m.axis, after2)

    def _bounce(
        self, n: cython.int, v: cython.double, u: cython.double, restitution: cython.double
    ) -> cython.double:
        """Rebound body n with velocity `v` from a partner that keeps `u`; return the new `v`."""
        m: ImpactState = self.impact
        after: cython.double = u - restitution * (v - u)

        if _is_further(after, u, v):
            after = nextafter(after, u)
        m.impulse = self.bodies.mass[m.rows[n]] * abs(after - v)
        self.clusters.turn_freely(m.rows[n], m.axis, after)
        return after

    def _join(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Merge the clusters of two bodies, which may have resizing members, if possible.

        If faces cannot merge, the bodies leave their clusters, or exchange velocities in one.
        """
        c: Clusters = self.clusters

        one: cython.Py_ssize_t = c.root(c.node_of[i, k]) if self.first_joins else 0
        other: cython.Py_ssize_t = c.root(c.node_of[j, k]) if self.second_joins else 0
        if not ((one and c.nodes[one].resizes) or (other and c.nodes[other].resizes)):
            return self._merge(i, j, k)
        merged: cython.int = self._merge_faces(i, j, k)
        if merged:
            return merged != CONFLICT
        if one == other:
            self._exchange(0.0)
            return True
        if self.first_joins and c.node_of[i, k]:
            c.leave(i, k)
        if self.second_joins and c.node_of[j, k]:
            c.leave(j, k)
        return self._merge(i, j, k)

    def _merge(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Merge the clusters of two bodies and their anchors; return False if these conflict."""
        c: Clusters = self.clusters
        m: ImpactState = self.impact
        first_leaves: cython.bint = False
        second_leaves: cython.bint = False

        self._stand()
        if c.n_lasting:
            first_leaves = self._leave_for(i, j, k, self.second_joins)
            second_leaves = not first_leaves and self._leave_for(j, i, k, self.first_joins)
        one: cython.Py_ssize_t = c.ensure(i, k) if self.first_joins else 0
        other: cython.Py_ssize_t = c.ensure(j, k) if self.second_joins else one
        anchor: cython.Py_ssize_t = self._find_anchor(one or other, other)
        if anchor == CONFLICT:
            if self._settle(i, j, k) == 1:
                return True
            one = c.root(c.node_of[i, k]) if self.first_joins else 0
            other = c.root(c.node_of[j, k]) if self.second_joins else one
            anchor = self._find_anchor(one or other, other)
            if anchor == CONFLICT:
                anchor = self._slower_anchor(k)
            if anchor == CONFLICT:
                return False
        one = one or other
        v1: cython.double = c.leaving_velocity(one)
        v2: cython.double = c.leaving_velocity(other)
        # A body that has left a lasting cluster counts with its share of the momentum.
        if first_leaves:
            v1 = m.before[0][k]
        if second_leaves:
            v2 = m.before[1][k]
        if one == other:
            v1 = v2 = v2 if second_leaves else v1
        if anchor >= 0:
            c.anchor_velocity = self.bodies.velocity_met(anchor, k)
        if one != other or not (self.first_joins and self.second_joins):
            self._link(i, j, k, True)
        self._unite(one, other, anchor, v1, v2)
        return True

    def _settle(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.int:
        """Let a contact in a cluster, or between two anchors, press; return as `_merge_faces`."""
        c: Clusters = self.clusters
        m: ImpactState = self.impact

        self._link(i, j, k, False)
        self.projection.settle()
        c.write_axis(i, k)
        c.write_axis(j, k)
        if self._closing_speed() > c.rounding_of_faces(i, j, k):
            one: cython.Py_ssize_t = c.root(c.node_of[i, k])
            other: cython.Py_ssize_t = c.root(c.node_of[j, k])
            self.solid_first = self._anchor_of(i, one) if self.first_joins else self.first_wall
            self.solid_second = self._anchor_of(j, other) if self.second_joins else self.second_wall
            return CONFLICT if self.projection.is_stuck else 0
        m.impulse = max(
            self.bodies.mass[i] * abs(c.velocity_of(i, k) - m.before[0][k]),
            self.bodies.mass[j] * abs(c.velocity_of(j, k) - m.before[1][k]),
        )
        return 1

    def _slower_anchor(self, k: cython.int) -> cython.Py_ssize_t:
        """Return the one of two anchors that conflict whose face is slower: the cluster keeps it.

        `CONFLICT` if both are equally fast, or the other one is a body of the pair.
        """
        b: Bodies = self.bodies
        sign: cython.int = self.impact.sign
        first: cython.Py_ssize_t = self.solid_first
        second: cython.Py_ssize_t = self.solid_second
        v1: cython.double = abs(b.velocity_met(first, k) - sign * b.growth_of(first, k))
        v2: cython.double = abs(b.velocity_met(second, k) + sign * b.growth_of(second, k))

        if self.first_joins and v1 > v2:
            return self.solid_second
        if self.second_joins and v2 > v1:
            return self.solid_first
        return CONFLICT

    def _link(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, presses: cython.bint
    ) -> cython.void:
        """Note by which contact the clusters of two bodies merge, or may press."""
        one: cython.Py_ssize_t = self.clusters.node_of[i, k] if self.first_joins else 0
        other: cython.Py_ssize_t = self.clusters.node_of[j, k] if self.second_joins else 0
        anchor: cython.Py_ssize_t = (
            -1 if one and other else (self.second_wall if one else self.first_wall)
        )

        if self.impact.sign < 0:
            self.graph.add(one, other, anchor, presses)
        else:
            self.graph.add(other, one, anchor, presses)

    def _leave_for(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, joins: cython.bint
    ) -> cython.bint:
        """Remove body i from a lasting cluster if j demands it; `joins` is whether j joins one."""
        c: Clusters = self.clusters
        root: cython.Py_ssize_t = c.lasting_root(i, k)

        if root == 0:
            return False
        if not joins or c.is_anchored(j, k) or c.rank_with(j, k) > c.nodes[root].rank:
            c.leave(i, k)
            return True
        return False

    def _find_anchor(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the anchor of two clusters after they merge, -1 for none, or `CONFLICT`."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.impact.rows[0]
        j: cython.Py_ssize_t = self.impact.rows[1]
        k: cython.int = self.impact.axis
        first: cython.Py_ssize_t = self._anchor_of(i, one) if self.first_joins else self.first_wall
        second: cython.Py_ssize_t = (
            self._anchor_of(j, other) if self.second_joins else self.second_wall
        )

        if first < 0 or self._gives_way_to(first, second, k):
            return second
        if self._gives_way_to(second, first, k):
            return first
        if second >= 0 and b.velocity_met(first, k) != b.velocity_met(second, k):
            return CONFLICT
        return first

    def _anchor_of(self, i: cython.Py_ssize_t, root: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the anchor of the cluster of a body, or else the body if it is held, or -1."""
        anchor: cython.Py_ssize_t = self.clusters.nodes[root].anchor

        return i if anchor < 0 and self.bodies.on_hold[i] else anchor

    def _gives_way_to(
        self, anchor: cython.Py_ssize_t, other: cython.Py_ssize_t, k: cython.int
    ) -> cython.bint:
        """Return whether an anchor is held, and the other anchor is not, or is at least as fast."""
        b: Bodies = self.bodies

        if anchor < 0 or other < 0 or not self._is_held(anchor, k):
            return False
        if not self._is_held(other, k):
            return True
        self.clusters.write_body(anchor)
        self.clusters.write_body(other)
        return abs(b.velocity_met(other, k)) >= abs(b.velocity_met(anchor, k))

    def _is_held(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a body is held, and not locked on an axis."""
        return self.bodies.on_hold[i] and not self.bodies.controls.locks(i, k)

    def _unite(
        self,
        one: cython.Py_ssize_t,
        other: cython.Py_ssize_t,
        anchor: cython.Py_ssize_t,
        v1: cython.double,
        v2: cython.double,
    ) -> cython.void:
        """Merge the clusters of the two bodies and add the momentum that passes to the impulse.

        An anchor also stops gravity for the rest of the step.  Half of that momentum is in the
        chord, the other half is the kick.
        """
        c: Clusters = self.clusters
        m: ImpactState = self.impact
        mass1: cython.double = c.nodes[one].mass
        mass2: cython.double = c.nodes[other].mass

        if anchor >= 0:
            m.impulse += max(
                mass1 * (abs(c.anchor_velocity - v1) + abs(m.kick[0])),
                mass2 * (abs(c.anchor_velocity - v2) + abs(m.kick[1])),
            )
        elif c.nodes[one].rank > c.nodes[other].rank:
            m.impulse += mass2 * abs(v1 - v2)
        elif c.nodes[one].rank < c.nodes[other].rank:
            m.impulse += mass1 * abs(v1 - v2)
        else:
            m.impulse += mass1 * (mass2 / (mass1 + mass2)) * (abs(v1 - v2) + self.parting)
        c.merge(one, other, anchor)
        c.write_axis(m.rows[0], m.axis)
        c.write_axis(m.rows[1], m.axis)

    def _resolve_faces(self, restitution: cython.double, press: cython.double) -> cython.bint:
        """Merge the clusters of a pair that resizes, or exchange the velocities of the faces.

        Returns False if its anchors conflict.
        """
        m: ImpactState = self.impact
        merged: cython.int = 0

        if restitution == 0.0:
            merged = self._merge_faces(m.rows[0], m.rows[1], m.axis)
        if merged == 0:
            self.faces.exchange(restitution, press)
        return merged != CONFLICT

    def _merge_faces(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.int:
        """Merge the clusters of two bodies so that their faces have one velocity, if possible.

        Returns 1, 0 if that is not possible, or `CONFLICT`.
        """
        c: Clusters = self.clusters
        f: ResizingFaces = self.faces

        if self.bodies.on_hold[i] or self.bodies.on_hold[j]:
            return 0
        if c.n_lasting and not self._leave_for(i, j, k, self.second_joins):
            self._leave_for(j, i, k, self.first_joins)
        if not f.align(self.first_joins, self.second_joins):
            ended: cython.bint = self.first_joins and c.dissolve(i, k)
            ended |= self.second_joins and c.dissolve(j, k)
            if not ended:
                return self._settle(i, j, k)
            f.align(self.first_joins, self.second_joins)
        self._link(i, j, k, True)
        v1: cython.double = c.leaving_velocity(f.one)
        self._unite(f.one, f.other, f.anchor, v1, c.leaving_velocity(f.other))
        return True
