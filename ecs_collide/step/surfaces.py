"""The surfaces that one side of a body meets in one instant: they count together.

A box that lands on two floors at once would otherwise take everything from the one that comes first
in space, since the resolution of the first leaves nothing to the second.

- What the game resolves comes before what it does not.
- Of walls of one speed, the body bounces as on the bounciest.
- Friction is the mean of theirs, weighted by contact width, unless one is a belt.

A *wall* is a static or kinematic body, or one that is locked on the axis of the impact.
"""

from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import Custom
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.faces import belt_velocity
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.step import Step
from ecs_collide.narrowphase.sweep_test import IMPACT
from ecs_collide.response.product_sum import ProductSum
from ecs_collide.response.solver import Solver


@cython.final
class MetSurfaces:
    """The other impacts of a body that are due on the same side as one."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    queue: ImpactQueue
    solver: Solver
    sum: ProductSum
    widths: ProductSum

    def __init__(self, step: Step, solver: Solver):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.queue = step.queue
        self.solver = solver
        self.sum = ProductSum()
        self.widths = ProductSum()

    @cython.inline
    def is_offered(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the impacts of a pair are offered to the game."""
        b: Bodies = self.bodies
        custom: cython.int = b.custom[self.pairs.at[p].first] | b.custom[self.pairs.at[p].second]

        return (custom & Custom.OFFERED) != 0

    def first_offered(self, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the impact to take instead of pair p's, which is not offered; p if there is none."""
        b: Bodies = self.bodies
        best: cython.Py_ssize_t = p

        for n in range(2):
            i: cython.Py_ssize_t = self.pairs.at[p].second if n else self.pairs.at[p].first
            q: cython.Py_ssize_t = self.pairs.head_of(i) if b.dynamic[i] else -1
            while q >= 0:
                if self.is_offered(q) and self._is_beside(q, p, i):
                    leader: cython.Py_ssize_t = self.pairs.leader(q, b)
                    if best == p or self.pairs.precedes(
                        q, leader, best, self.pairs.leader(best, b), b, True
                    ):
                        best = q
                q = self.pairs.next_of(q, i)
        return best

    def restitution(self, p: cython.Py_ssize_t) -> cython.double:
        """Return the restitution of an impact, after `Solver.weigh`."""
        most: cython.double = self.solver.restitution()
        i: cython.Py_ssize_t = self._who_meets_walls(p)
        q: cython.Py_ssize_t = self._next_wall(p, i, -1)

        while q >= 0:
            j: cython.Py_ssize_t = self.pairs.partner(q, i)
            most = max(most, self.solver.restitution_between(i, j, True, False))
            q = self._next_wall(p, i, q)
        return most

    def rubs(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bodies of an impact rub."""
        return self._friction_of(p) > 0.0 or self.friction(p) > 0.0

    def friction(self, p: cython.Py_ssize_t) -> cython.double:
        """Return the friction of an impact."""
        friction: cython.double = self._friction_of(p)
        i: cython.Py_ssize_t = self._who_meets_walls(p)

        if not self._mixes(p, i, friction):
            return friction
        self.sum.clear()
        self.widths.clear()
        self._weigh(p, friction)
        q: cython.Py_ssize_t = self._next_wall(p, i, -1)
        while q >= 0:
            self._weigh(q, self._friction_of(q))
            q = self._next_wall(p, i, q)
        return self.sum.over(self.widths) if self.widths.total() > 0.0 else friction

    @cython.cfunc
    @cython.inline
    def _friction_of(self, p: cython.Py_ssize_t) -> cython.double:
        """Return the friction of a pair alone."""
        return self.bodies.rare.friction_between(self.pairs.at[p].first, self.pairs.at[p].second)

    def _mixes(
        self, p: cython.Py_ssize_t, i: cython.Py_ssize_t, friction: cython.double
    ) -> cython.bint:
        """Return whether body i meets walls of several frictions now, and none of them is a belt."""
        q: cython.Py_ssize_t = self._next_wall(p, i, -1)
        differs: cython.bint = False

        while q >= 0:
            if self._is_belt(q, i):
                return False
            differs |= self._friction_of(q) != friction
            q = self._next_wall(p, i, q)
        return differs and not self._is_belt(p, i)

    def _is_belt(self, p: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether the face that body i of a pair meets moves along itself."""
        k: cython.int = self.pairs.impact[p].axis
        sign: cython.int = (
            self.pairs.impact[p].sign
            if self.pairs.at[p].first == i
            else (-self.pairs.impact[p].sign)
        )
        moves: cython.bint = False

        for axis in range(self.bodies.dim):
            moves |= (
                belt_velocity(self.bodies, self.pairs.partner(p, i), sign * (k + 1), False, axis)
                != 0.0
            )
        return moves

    def _next_wall(
        self, p: cython.Py_ssize_t, i: cython.Py_ssize_t, q: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Return the next pair after q, or the first one after -1, of a wall beside that of pair p.

        It is -1 after the last one, and if body i, who meets them, is -1.  Walls of another speed
        do not count.
        """
        b: Bodies = self.bodies
        k: cython.int = self.pairs.impact[p].axis

        if i < 0:
            return -1
        q = self.pairs.head_of(i) if q < 0 else self.pairs.next_of(q, i)
        while q >= 0:
            j: cython.Py_ssize_t = self.pairs.partner(q, i)
            if (
                self._is_beside(q, p, i)
                and not b.dynamic_along(j, k)
                and b.velocity[j, k] == b.velocity[self.pairs.partner(p, i), k]
            ):
                break
            q = self.pairs.next_of(q, i)
        return q

    def _who_meets_walls(self, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the body of an impact for which the other one is a wall, or -1."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        first: cython.bint = b.dynamic_along(i, self.pairs.impact[p].axis)

        if first == b.dynamic_along(j, self.pairs.impact[p].axis):
            return -1
        return i if first else j

    def _is_beside(
        self, q: cython.Py_ssize_t, p: cython.Py_ssize_t, i: cython.Py_ssize_t
    ) -> cython.bint:
        """Return whether pair q, too, is due to meet body i of pair p now, on the same side of it."""
        pairs: PairTable = self.pairs
        sign: cython.int = pairs.impact[p].sign

        if (pairs.at[q].first == i) != (pairs.at[p].first == i):
            sign = -sign
        return (
            self.queue.is_due(q, self.step.now)
            and q != p
            and pairs.is_solid(q)
            and not pairs.at[q].rank
            and pairs.impact[q].kind == IMPACT
            and pairs.impact[q].axis == pairs.impact[p].axis
            and pairs.impact[q].sign == sign
        )

    def _weigh(self, p: cython.Py_ssize_t, friction: cython.double) -> cython.void:
        """Add the friction of a contact to the mean, by the width that its faces share."""
        width: cython.double = 1.0

        for k in range(self.bodies.dim):
            if k != self.pairs.impact[p].axis:
                width *= max(0.0, self._overlap(p, k))
        self.sum.add(width, friction)
        self.widths.add(width, 1.0)

    def _overlap(self, p: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return by how much the boxes of a pair overlap on an axis now; below 0 if not."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        t: cython.double = self.step.now
        one: cython.double = b.centre_at(i, k, t)
        other: cython.double = b.centre_at(j, k, t) + self.pairs.offset_of(p, k)
        half: cython.double = b.half_at(i, k, t)
        other_half: cython.double = b.half_at(j, k, t)

        return min(one + half, other + other_half) - max(one - half, other - other_half)
