"""The surfaces that one side of a body meets in one instant: they count together.

A box that lands on two floors at once would otherwise take everything from the one that comes first
in space, since the resolution of the first leaves nothing to the second.

- What the game resolves comes first, then the wall whose face is fastest, then the other bodies.
- A body bounces off a wall as on the bounciest of all that it meets there.
- Friction is divided among them by width; see `response/met_loads.py`.

A *wall* is a static or kinematic body, or one that is locked on the axis of the impact.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.constants import INF, Custom, Sensing
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.step import Step
from ecs_collide.narrowphase.sweep_test import IMPACT
from ecs_collide.response.solver import Solver


@cython.final
class MetSurfaces:
    """The other impacts of a body that are due on the same side as one."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    queue: ImpactQueue
    solver: Solver
    offers_all: Public[cython.bint]  # every impact to the game, whatever the columns of its bodies

    def __init__(self, step: Step, solver: Solver):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.queue = step.queue
        self.solver = solver

    @cython.inline
    def is_offered(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the impacts of a pair are offered to the game."""
        b: Bodies = self.bodies
        custom: cython.int = b.custom[self.pairs.at[p].first] | b.custom[self.pairs.at[p].second]

        return self.offers_all or (custom & Custom.OFFERED) != 0

    def may_offer_crossing(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether custom responses are told of a pair that crosses, as one is attached."""
        b: Bodies = self.bodies
        sensing: cython.int = b.sensor[self.pairs.at[p].first] | b.sensor[self.pairs.at[p].second]

        return sensing == Sensing.IS_OFFERED

    def first_of_side(self, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the impact to take now, of those beside pair p's; p if that one comes first."""
        b: Bodies = self.bodies
        best: cython.Py_ssize_t = p
        is_offered: cython.bint = self.offers_all or (b.any_offered and self.is_offered(p))

        # The queue has walls first, so nothing comes before two other bodies but what the game does.
        if (
            is_offered
            or self.pairs.at[p].tier
            or not (b.any_offered or self.pairs.meets_wall(p, b))
        ):
            return p
        for n in range(2):
            i: cython.Py_ssize_t = self.pairs.at[p].second if n else self.pairs.at[p].first
            q: cython.Py_ssize_t = self.pairs.head_of(i) if b.dynamic[i] else -1
            while q >= 0:
                if self._is_beside(q, p, i) and self._comes_before(q, best, p):
                    best = q
                q = self.pairs.next_of(q, i)
        return best

    def _comes_before(
        self, q: cython.Py_ssize_t, best: cython.Py_ssize_t, p: cython.Py_ssize_t
    ) -> cython.bint:
        """Return whether pair q, beside pair p, comes before pair `best`, p or another beside it."""
        b: Bodies = self.bodies
        offered: cython.int = b.any_offered and self.is_offered(q)
        other: cython.int = b.any_offered and best != p and self.is_offered(best)

        if offered != other:
            return offered > other
        if not offered:
            push: cython.double = self._push_of(q)
            most: cython.double = self._push_of(best)
            if push <= most:
                return push == most and push > -INF and best != p and self.precedes(q, best)
            return True
        return self.precedes(q, best)

    def precedes(self, q: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether pair q comes before another in space."""
        b: Bodies = self.bodies

        return self.pairs.precedes(
            q, self.pairs.leader(q, b), other, self.pairs.leader(other, b), b, True
        )

    def _push_of(self, p: cython.Py_ssize_t) -> cython.double:
        """Return how fast the face of a wall moves towards the other body, or -inf if none is one."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.who_meets_wall(p, self.bodies)
        k: cython.int = self.pairs.impact[p].axis
        sign: cython.int = self.pairs.impact[p].sign

        if i < 0:
            return -INF
        j: cython.Py_ssize_t = self.pairs.partner(p, i)
        if i == self.pairs.at[p].second:
            sign = -sign
        return sign * b.velocity_met(j, k) + b.growth_of(j, k)

    def restitution(self, p: cython.Py_ssize_t) -> cython.double:
        """Return the restitution of an impact, after `Solver.weigh`."""
        most: cython.double = self.solver.restitution()
        i: cython.Py_ssize_t = self.pairs.who_meets_wall(p, self.bodies)
        q: cython.Py_ssize_t = self.pairs.head_of(i) if i >= 0 else -1

        while q >= 0:
            if self._is_beside(q, p, i):
                j: cython.Py_ssize_t = self.pairs.partner(q, i)
                joins: cython.bint = self.bodies.dynamic_along(j, self.pairs.impact[p].axis)
                most = max(most, self.solver.restitution_between(i, j, True, joins))
            q = self.pairs.next_of(q, i)
        return most

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
            and not pairs.at[q].tier
            and pairs.impact[q].kind == IMPACT
            and pairs.impact[q].axis == pairs.impact[p].axis
            and pairs.impact[q].sign == sign
        )
