"""The resolution of an impact: the change of its two bodies' velocities along the normal.

`ImpactLoop` has placed the two bodies.  With restitution they exchange velocities by inverse mass.
If it is 0, their clusters merge, because exchanges by pairs never end in a row of boxes.  Next are
the velocities along the surface (`response/tangential.py`) and friction (`response/friction.py`).

A resolution uses the velocity of a falling body at the instant (`motion/gravity.py`).  A pair does
not rebound if gravity would bring it together again within the step.

A lasting cluster resolves as one body with its mass and its shared velocity.  Impulses change its
momentum, not its path; a partner that still closes on the path joins it.  Only a static, kinematic
or held partner, an anchored cluster or one of a higher rank takes a member out of it.

Next to a body of a higher dominance, one of a lower dominance is weightless: it rebounds as from a
wall, or moves with it.  If the lower one is anchored, or in a cluster of an even higher rank, the
higher one gives way instead.
"""

from __future__ import annotations

from math import nextafter

from ecs_collide._kernel import Public, cython, may_raise
from ecs_collide._kernel.constants import INF, ResponseCode
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.forest import Edge
from ecs_collide.response.friction import CoulombFriction
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.product_sum import ProductSum
from ecs_collide.response.resizing import ResizingFaces
from ecs_collide.response.tangential import TangentialResponse


@cython.inline
def _is_further(one: cython.double, u: cython.double, other: cython.double) -> cython.bint:
    """Return whether `one` is further from `u` than `other`, on its other side; not rounded."""
    total: cython.double = one + other
    part: cython.double = total - one
    rest: cython.double = (one - (total - part)) + (other - part)  # total + rest is exact

    if other <= u:
        return total > 2.0 * u or (total == 2.0 * u and rest > 0.0)
    return total < 2.0 * u or (total == 2.0 * u and rest < 0.0)


@cython.final
class Solver:
    """The solver of impacts, with the state of the current one."""

    bodies: Bodies
    clusters: Public[Clusters]  # the bodies that inelastic resolutions have merged
    impact: ImpactState  # the current or last impact
    faces: ResizingFaces
    tangential: TangentialResponse
    friction: CoulombFriction
    sum: ProductSum
    # whether each body joins clusters, even if its dominance keeps the impact from changing it
    first_joins: cython.bint
    second_joins: cython.bint
    # whether gravity may part the next pair if restitution is 0: at its first resolution only
    may_part: cython.bint
    # whether `impact.loss` is needed, because `Stop` and `Push` must not gain energy
    counts_loss: cython.bint

    def __init__(self, step: Step):
        self.bodies = step.bodies
        self.clusters = Clusters(step)
        self.impact = ImpactState(step, self.clusters)
        self.faces = ResizingFaces(self.impact)
        self.tangential = TangentialResponse(self.impact)
        self.friction = CoulombFriction(self.impact)
        self.sum = ProductSum()
        self.first_joins = self.second_joins = False
        self.may_part = True
        self.counts_loss = False

    def weigh(self) -> cython.bint:
        """Find which bodies the impact may change; return whether it may change a held body.

        To a dynamic body, a held one is a wall, unless a static or kinematic body drives the former.
        """
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        k: cython.int = m.axis

        self.first_joins = m.yields[0] = b.dynamic_along(i, k)
        self.second_joins = m.yields[1] = b.dynamic_along(j, k)
        if not (b.on_hold[i] or b.on_hold[j]):
            if b.controls.any_rank and m.yields[0] and m.yields[1]:
                self._outweigh(i, j, k)
            return False
        if b.on_hold[i] != b.on_hold[j] and m.yields[0] and m.yields[1]:
            if b.on_hold[i]:
                self.first_joins = m.yields[0] = self.clusters.is_driven(j, k)
            else:
                self.second_joins = m.yields[1] = self.clusters.is_driven(i, k)
        return (m.yields[0] and b.on_hold[i]) or (m.yields[1] and b.on_hold[j])

    def _outweigh(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Choose the body that gives way if the dominance of two dynamic bodies differs.

        It is the lower one, unless its cluster has an anchor or a higher rank than both.
        """
        m: ImpactState = self.impact
        rank: cython.longlong[::1] = self.bodies.controls.rank
        lower: cython.Py_ssize_t = i if rank[i] < rank[j] else j

        if rank[i] == rank[j]:
            return
        is_held: cython.bint = self.clusters.is_anchored(lower, k)
        is_held |= self.clusters.rank_with(lower, k) > max(rank[i], rank[j])
        m.yields[0] = (lower == i) != is_held
        m.yields[1] = not m.yields[0]

    def restitution(self) -> cython.double:
        """Return the restitution of the impact, after `weigh`."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.impact.rows[0]
        j: cython.Py_ssize_t = self.impact.rows[1]
        one: cython.double = -1.0
        other: cython.double = -1.0

        if self.first_joins and (not b.controls.is_used or b.response[i] == ResponseCode.BOUNCE):
            one = b.restitution[i]
        if self.second_joins and (not b.controls.is_used or b.response[j] == ResponseCode.BOUNCE):
            other = b.restitution[j]
        if b.controls.is_used:
            return b.controls.restitution_between(i, j, one, other)
        return max(one, other, 0.0)

    def closing_speed(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return how fast the faces of a pair close at this instant, without kicks."""
        c: Clusters = self.clusters

        return sign * (
            ((c.velocity_of(j, k) - c.kick_of(j, k)) + sign * self.bodies.growth[j, k])
            - ((c.velocity_of(i, k) - c.kick_of(i, k)) - sign * self.bodies.growth[i, k])
        )

    def rebounds(self, restitution: cython.double) -> cython.bint:
        """Return whether the pair is resolved by itself, after `weigh`.

        Otherwise its bodies, and all that press on them in this instant, get one velocity.
        """
        m: ImpactState = self.impact

        if m.resizes:
            return restitution > 0.0 or self.faces.ignore_clusters()
        if self.clusters.gravity.is_on:
            m.note_velocities()
            press: cython.double = m.find_press()
            if press != 0.0:
                return self._speed_apart(restitution, press) > 0.0
        return restitution > 0.0

    @may_raise
    def rebound(self, restitution: cython.double, normal_only: cython.bint) -> cython.bint:
        """Resolve the impact by itself, after `weigh`; return False if its bodies must join."""
        press: cython.double = 0.0
        m: ImpactState = self.impact

        m.note_velocities()
        self._begin_turning(normal_only)
        if self.clusters.gravity.is_on:
            press = m.find_press()
        if m.resizes:
            if restitution == 0.0 and not self.faces.ignore_clusters():
                return False
            self.faces.exchange(restitution, press)
        elif press != 0.0:
            if not self._part(restitution, press):
                return False
        elif not (restitution > 0.0 and self._rebound(restitution)):
            return False
        self._turn(restitution, normal_only)
        return True

    def finish(self, e: cython.Py_ssize_t) -> cython.void:
        """Apply the rules along the surface to the impact of an edge that has pushed."""
        m: ImpactState = self.impact
        edge: cython.pointer[Edge] = self.clusters.forest.edges

        m.take(edge[e].pair)
        self.weigh()
        m.note_velocities()
        m.before[0][m.axis] = edge[e].before - edge[e].kick
        m.before[1][m.axis] = edge[e].before2 - edge[e].kick2
        m.kick[0] = edge[e].kick
        m.kick[1] = edge[e].kick2
        self._begin_turning(edge[e].is_plain)
        m.impulse = edge[e].impulse
        if m.yields[0] and m.yields[1] and not self.clusters.is_anchored(m.rows[0], m.axis):
            m.loss = edge[e].force * edge[e].speed
        self._turn(0.0, edge[e].is_plain)

    def _begin_turning(self, normal_only: cython.bint) -> cython.void:
        """Store the velocities along the surface, if a rule may change them."""
        b: Bodies = self.bodies
        m: ImpactState = self.impact

        self.counts_loss = not normal_only and (
            b.response[m.rows[0]] in (ResponseCode.STOP, ResponseCode.PUSH)
            or b.response[m.rows[1]] in (ResponseCode.STOP, ResponseCode.PUSH)
        )
        if self.counts_loss:
            self.tangential.store_velocities()

    def _turn(self, restitution: cython.double, normal_only: cython.bint) -> cython.void:
        """Apply `Stop`, `Push` and friction."""
        if self.counts_loss:
            self.tangential.turn(restitution)
        if self.bodies.rare.is_used and not normal_only:
            self.friction.apply()

    def _speed_apart(
        self, restitution: cython.double, press: cython.double
    ) -> cython.double:
        """Return how fast a pair that gravity acts on parts, as the mean over the rest of the step.

        0 or below: it would meet again.
        """
        m: ImpactState = self.impact
        v1: cython.double = self.clusters.velocity_of(m.rows[0], m.axis)
        v2: cython.double = self.clusters.velocity_of(m.rows[1], m.axis)

        if restitution == 0.0 and not self.may_part:
            return 0.0
        return restitution * max(m.sign * (v2 - v1) - press, 0.0) - press

    def _part(self, restitution: cython.double, press: cython.double) -> cython.bint:
        """Rebound a pair that gravity acts on; return False if it would meet again in the step."""
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        v1: cython.double = self.clusters.velocity_of(i, m.axis)
        v2: cython.double = self.clusters.velocity_of(j, m.axis)
        closing: cython.double = m.sign * (v2 - v1)
        apart: cython.double = self._speed_apart(restitution, press)

        if apart <= 0.0:
            return False
        if not m.yields[1]:
            m.impulse = b.mass[i] * (closing + apart)
            self.clusters.turn_freely(i, m.axis, v2 + m.sign * apart)
        elif not m.yields[0]:
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
        other: cython.double = self.bodies.velocity[j, m.axis]
        mass: cython.double = self.bodies.mass[j]

        if (velocity - other) * sign >= 0.0:
            return False  # only their paths close, not their final velocities
        if not m.yields[1 - n]:
            self._bounce(n, velocity, other, restitution)
            return True
        if c.forest.nodes[root].rank > self.bodies.controls.rank_of(j):
            after: cython.double = self._bounce(1 - n, other, velocity, restitution)
        else:
            total: cython.double = c.forest.nodes[root].mass
            after = other + (1.0 + restitution) * (velocity - other) * (total / (total + mass))
            m.loss = total / (total + mass) * (velocity - other) * mass * (velocity - other)
            m.loss *= 1.0 - restitution * restitution
            c.forest.push(root, mass, other)
            c.forest.push(root, -mass, after)
            m.impulse = mass * abs(after - other)
            c.turn_freely(j, m.axis, after)
        return (self.bodies.velocity[i, m.axis] - after) * sign >= 0.0

    def _exchange(self, restitution: cython.double) -> cython.void:
        """Exchange the velocities of a pair by inverse mass."""
        m: ImpactState = self.impact
        v1: cython.double = self.bodies.velocity[m.rows[0], m.axis]
        v2: cython.double = self.bodies.velocity[m.rows[1], m.axis]
        mass1: cython.double = self.bodies.mass[m.rows[0]]
        mass2: cython.double = self.bodies.mass[m.rows[1]]
        after1: cython.double = v2
        after2: cython.double = v1

        if not m.yields[1]:
            self._bounce(0, v1, v2, restitution)
            return
        if not m.yields[0]:
            self._bounce(1, v2, v1, restitution)
            return
        m.impulse = (1.0 + restitution) * abs(v1 - v2) * (mass1 * (mass2 / (mass1 + mass2)))
        if mass1 != mass2 or restitution != 1.0:
            shared: cython.double = (1.0 + restitution) * (v1 - v2)
            after1 = v1 - shared * (mass2 / (mass1 + mass2))
            after2 = v2 + shared * (mass1 / (mass1 + mass2))
            # The rounding error goes to the heavier body, whose velocity it changes less.
            is_second: cython.bint = mass1 < mass2 or (
                mass1 == mass2 and self.bodies.precedes(m.rows[1], m.rows[0])
            )
            self._find_lost_momentum(is_second, after1, after2)
            if is_second:
                after2 += self.sum.total() / mass2
                if (after1 - after2) * m.sign < 0.0:  # still closing, by rounding
                    after1 = after2
            else:
                after1 += self.sum.total() / mass1
                if (after1 - after2) * m.sign < 0.0:
                    after2 = after1
        self.clusters.turn_freely(m.rows[0], m.axis, after1)
        self.clusters.turn_freely(m.rows[1], m.axis, after2)

    def _find_lost_momentum(
        self, is_second: cython.bint, after1: cython.double, after2: cython.double
    ) -> cython.void:
        """Find the momentum of a pair before less the one after, in the same order for any ids."""
        m: ImpactState = self.impact
        turn: cython.int

        self.sum.clear()
        for turn in range(2):
            n: cython.int = 1 - turn if is_second else turn
            mass: cython.double = self.bodies.mass[m.rows[n]]
            self.sum.add(mass, self.bodies.velocity[m.rows[n], m.axis])
            self.sum.add(-mass, after2 if n else after1)

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
