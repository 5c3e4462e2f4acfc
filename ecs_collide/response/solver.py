"""The resolution of an impact: the change of its two bodies' velocities along the normal.

`ImpactLoop` has placed the two bodies.  With restitution their faces part (`response/exchange.py`).
If it is 0, their clusters merge, because exchanges by pairs never end in a row of boxes.  Next are
the velocities along the surface (`response/tangential.py`) and friction (`response/friction.py`).

A resolution uses the velocity of a falling body at the instant (`motion/gravity.py`).  A pair does
not rebound if gravity would bring it together again within the step.

If faces grow or shrink, they get one velocity by a merge, and not their centres: one cluster is
shifted first.  If both are one cluster, or both have an anchor, `Projection` lets the faces press.
If one of the two is held, or that fails, the faces part at no speed.

A partner that still closes on the path of a lasting cluster joins it.  Only a static, kinematic or
held partner, an anchored cluster or one of a higher rank takes a member out of it.

Next to a body of a higher dominance, one of a lower dominance is weightless.  It rebounds as from a
wall, or moves with it.  If the lower one is anchored, or in a cluster of an even higher rank, the
higher one gives way instead.

Of two bodies that block, the faster one bounces off the slower one as off a wall, or takes its
velocity before they merge.  If they run into each other, both do so as at a wall at rest.  A lift that
carries both counts as at rest.  What such bodies push blocks with them.  One that a wall drives
pushes the other.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.constants import ResponseCode
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.leaning import Leaning
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.contact_graph import ContactGraph
from ecs_collide.response.exchange import Exchange
from ecs_collide.response.friction import CoulombFriction
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.met_contacts import MetContacts
from ecs_collide.response.met_loads import MetLoads
from ecs_collide.response.projection import Projection
from ecs_collide.response.supports import Supports
from ecs_collide.response.tangential import TangentialResponse

BOTH = 2  # bodies that block have run into each other
CONFLICT = -2  # two clusters cannot merge, because their anchors differ in velocity


@cython.final
class Solver:
    """The solver of impacts, with the state of the current one."""

    bodies: Bodies
    leaning: Leaning
    clusters: Public[Clusters]  # the bodies that inelastic resolutions have merged
    projection: Public[Projection]
    graph: ContactGraph  # of the projection
    impact: ImpactState  # the current or last impact
    exchange: Exchange
    met: Public[MetContacts]
    tangential: Public[TangentialResponse]
    loads: Public[MetLoads]
    friction: Public[CoulombFriction]
    supports: Public[Supports]
    # whether each body joins clusters, even if its dominance keeps the impact from changing it
    first_joins: cython.bint
    second_joins: cython.bint
    # the row of each body, or of the wall on which it stands: what is an anchor to the other body
    first_wall: cython.Py_ssize_t
    second_wall: cython.Py_ssize_t
    # the roots that `_align` has prepared, the same if there is one, and the row of their anchor or -1
    one: cython.Py_ssize_t
    other: cython.Py_ssize_t
    anchor: cython.Py_ssize_t
    # the rows of the two anchors that have kept the last pair from merging
    solid_first: cython.Py_ssize_t
    solid_second: cython.Py_ssize_t
    # the speed at which the next pair meets, if gravity may part it once it has merged: it must meet
    # for the first time in the instant, and not rebound; else 0
    met_at: cython.double
    parting: cython.double  # how fast gravity parts the present pair then, or 0
    blocked: cython.int  # which of two bodies that block gives way to the other, -1 or `BOTH`

    def __init__(self, step: Step):
        self.bodies = step.bodies
        self.leaning = step.leaning
        self.clusters = Clusters(step)
        self.projection = Projection(step, self.clusters)
        self.graph = self.projection.graph
        self.impact = ImpactState(step, self.clusters)
        self.exchange = Exchange(self.impact)
        self.met = MetContacts(step, self.impact)
        self.tangential = TangentialResponse(step, self.impact, self.met)
        self.loads = MetLoads(step, self.impact, self.met)
        self.friction = CoulombFriction(step, self.impact, self.met)
        self.supports = Supports(step, self.clusters)
        self.solid_first = self.solid_second = -1

    def weigh(self) -> cython.void:
        """Find which bodies the impact may change.

        To a dynamic body, a held one is a wall, unless a static or kinematic body drives the former.
        """
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        k: cython.int = m.axis

        self.blocked = -1
        self.first_wall = i
        self.second_wall = j
        self.first_joins = m.is_dynamic[0] = m.may_turn[0] = self._may_turn(i, j, k)
        self.second_joins = m.is_dynamic[1] = m.may_turn[1] = self._may_turn(j, i, k)
        if (
            self.bodies.controls.any_rank
            and m.is_dynamic[0]
            and m.is_dynamic[1]
            and not m.changes_held()
        ):
            self._outweigh(i, j, k)

    def _may_turn(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether an impact with body j may change body i, but for their dominance."""
        b: Bodies = self.bodies

        return b.may_turn(i, k) or (
            b.dynamic_along(i, k) and (not b.may_turn(j, k) or self._is_driven(j, k))
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
        v1: cython.double = self._velocity_now(0) - m.carried
        v2: cython.double = self._velocity_now(1) - m.carried
        fast: cython.int = 0 if abs(v1) > abs(v2) else 1

        if self.clusters.is_anchored(m.rows[fast], k):
            return
        if min(v1, v2) < 0.0 < max(v1, v2) and not self.clusters.is_anchored(m.rows[1 - fast], k):
            self.blocked = BOTH
            return
        m.is_dynamic[1 - fast] = m.may_turn[1 - fast] = False
        self.blocked = fast

    def _velocity_now(self, n: cython.int) -> cython.double:
        """Return the velocity of a body at this instant, along the normal."""
        c: Clusters = self.clusters
        i: cython.Py_ssize_t = self.impact.rows[n]

        return c.at_instant(i, self.impact.axis, c.final_velocity(i, self.impact.axis))

    def leaves_closing(self) -> cython.bint:
        """Return whether faces close with the velocity that a lasting cluster of one of them has."""
        c: Clusters = self.clusters
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]

        return (
            not m.slants
            and c.lasting_root(i, m.axis) != c.lasting_root(j, m.axis)
            and m.closing_at(self._velocity_now(0), self._velocity_now(1))
            > c.rounding_of_faces(i, j, m.axis)
        )

    def _leave_blocked(self, restitution: cython.double) -> cython.void:
        """Let the body that gives way leave the other, or both, as from a wall on what carries both."""
        v1: cython.double = self._velocity_now(0)
        v2: cython.double = self._velocity_now(1)

        if self.blocked == BOTH or self.blocked == 0:
            u: cython.double = v2 if self.blocked == 0 else self.impact.carried
            self.exchange.leave_wall(0, v1, u, restitution * (u - v1), True)
        if self.blocked > 0:
            u = v1 if self.blocked == 1 else self.impact.carried
            self.exchange.leave_wall(1, v2, u, restitution * (u - v2), True)

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

    def resolve(self, restitution: cython.double, normal_only: cython.bint) -> cython.bint:
        """Resolve the impact, after `weigh`; return False if its clusters cannot merge."""
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        may_part: cython.bint = False

        if self.clusters.gravity.is_on:
            may_part = m.closes(self.met_at)
            self.projection.lets_go |= may_part
            # Bodies merge by their velocities at this instant; their paths have others.
            for n in range(2):
                if m.is_dynamic[n]:
                    self.clusters.let_fall(m.rows[n], m.axis)
                if self.leaning.n and not normal_only:
                    self._share_weight(n)
        press: cython.double = self.note_velocities(restitution)
        self.parting = max(0.0, -press) if may_part else 0.0
        if restitution > 0.0 and self.blocked == BOTH and press <= 0.0:
            self._leave_blocked(restitution)
            return True
        if restitution > 0.0 and self.exchange.part(restitution, press, False):
            return True
        if self.blocked >= 0:
            self._leave_blocked(0.0)
        return self._join(i, j, m.axis, press)

    @cython.inline
    def note_velocities(self, restitution: cython.double) -> cython.double:
        """Store the velocities before the normal part; return the press of gravity."""
        press: cython.double = self.impact.note_velocities()

        if self.bodies.rare.any_friction:
            self.loads.note_velocities()
        if self.bodies.controls.any_turn:
            self.tangential.note(restitution)
        return press

    def _stand(self) -> cython.void:
        """Let a body that stands on a wall be one to the other body, which is pressed on it."""
        m: ImpactState = self.impact

        if self.blocked >= 0 or not (self.first_joins and self.second_joins):
            return
        first: cython.Py_ssize_t = self.supports.wall_below(m.rows[0], m.axis, -m.sign)
        second: cython.Py_ssize_t = self.supports.wall_below(m.rows[1], m.axis, m.sign)
        if first >= 0 and second < 0:
            self.first_wall = first
            self.first_joins = False
            self.loads.note_borne(0)
        elif second >= 0 and first < 0:
            self.second_wall = second
            self.second_joins = False
            self.loads.note_borne(1)

    def _share_weight(self, n: cython.int) -> cython.void:
        """Give a body that is pressed against a wall its part of the weight that presses it.

        The weight is that of bodies on slopes, and `Push` would turn it along the wall like a speed.
        """
        m: ImpactState = self.impact
        is_pressed: cython.bint = m.turns(n) and not m.is_dynamic[1 - n]

        if (
            self.leaning.leans(m.rows[n])
            and is_pressed
            and self.clusters.kick_of(m.rows[n], m.axis) == 0.0
        ):
            self.clusters.even_out(m.rows[n], m.axis)

    def _join(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, press: cython.double
    ) -> cython.bint:
        """Merge the clusters of two bodies, which may have resizing members, if possible.

        If faces cannot merge, the bodies leave their clusters, or exchange velocities in one.
        """
        c: Clusters = self.clusters

        one: cython.Py_ssize_t = c.root(c.node_of[i, k]) if self.first_joins else 0
        other: cython.Py_ssize_t = c.root(c.node_of[j, k]) if self.second_joins else 0
        resizes: cython.bint = (one and c.nodes[one].resizes) or (other and c.nodes[other].resizes)
        if not (resizes or self.impact.resizes):
            return self._merge(i, j, k)
        merged: cython.int = self._merge_faces(i, j, k)
        if merged:
            return merged != CONFLICT
        if self.impact.resizes or one == other:
            self.exchange.part(0.0, min(press, 0.0), True)
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

        self._stand()
        first_leaves: cython.bint = self._leave_for(i, j, k, self.second_joins)
        second_leaves: cython.bint = not first_leaves and self._leave_for(j, i, k, self.first_joins)
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
            v1 = m.before[0][k] + m.kick[0]
        if second_leaves:
            v2 = m.before[1][k] + m.kick[1]
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
        if m.closing_at(c.velocity_now(m.rows[0], k), c.velocity_now(m.rows[1], k)) > (
            c.rounding_of_faces(i, j, k)
        ):
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
        return self.bodies.dynamic_along(i, k) and not self.bodies.is_free(i)

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

    def _merge_faces(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.int:
        """Merge the clusters of two bodies so that their faces have one velocity, if possible.

        Returns 1, 0 if that is not possible, or `CONFLICT`.
        """
        c: Clusters = self.clusters

        if self.bodies.on_hold[i] or self.bodies.on_hold[j]:
            return 0
        if not self._leave_for(i, j, k, self.second_joins):
            self._leave_for(j, i, k, self.first_joins)
        if not self._align(i, j, k):
            ended: cython.bint = self.first_joins and c.dissolve(i, k)
            ended |= self.second_joins and c.dissolve(j, k)
            if not ended:
                return self._settle(i, j, k)
            self._align(i, j, k)
        self._link(i, j, k, True)
        v1: cython.double = c.leaving_velocity(self.one)
        self._unite(self.one, self.other, self.anchor, v1, c.leaving_velocity(self.other))
        return 1

    def _align(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Shift the clusters of the bodies that join, so that a merge gives the faces one velocity.

        Returns False if both are in one cluster, or if both have an anchor.
        """
        c: Clusters = self.clusters
        growth: cython.double = self.impact.growth()

        if not self.second_joins:
            return self._align_with(j, i, growth)
        if not self.first_joins:
            return self._align_with(i, j, -growth)
        self.one = c.ensure(i, k)
        self.other = c.ensure(j, k)
        if self.one == self.other or (c.is_anchored(i, k) and c.is_anchored(j, k)):
            return False
        shift: cython.double = c.shift_of(i, k) - growth - c.shift_of(j, k)
        if c.nodes[self.other].size <= c.nodes[self.one].size:
            c.shift_by(self.other, shift)
        else:
            c.shift_by(self.one, -shift)
        anchored: cython.Py_ssize_t = self.one if c.is_anchored(i, k) else self.other
        c.anchor_velocity = c.nodes[anchored].velocity
        self.anchor = c.nodes[anchored].anchor
        return True

    def _align_with(
        self, wall: cython.Py_ssize_t, i: cython.Py_ssize_t, growth: cython.double
    ) -> cython.bint:
        """Prepare a merge that gives body i the velocity of body `wall` plus `growth`.

        Returns False if the cluster of i has an anchor.
        """
        c: Clusters = self.clusters
        k: cython.int = self.impact.axis

        self.one = self.other = c.ensure(i, k)
        if c.is_anchored(i, k):
            return False
        c.shift_by(self.one, 0.0)
        c.anchor_velocity = self.bodies.velocity_met(wall, k) + growth - c.shift_of(i, k)
        self.anchor = wall
        return True
