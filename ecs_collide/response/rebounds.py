"""Rebounds of one instant that share bodies: which of them come first, and which are one.

A rebound comes before all slower ones on the same axis of one of its bodies.  Rebounds of two dynamic
bodies that are equally fast and share a body are one: with the mean u of the velocities of all
their bodies by mass, each velocity v becomes u + e (u - v), e being their least restitution.

      v:  1      0                u = 1/3, e = 1:   -1/3   2/3
        +---+  +---+                                       2/3
        |   |->|   |
        |   |  +---+              Two exchanges would give   0   1   or   0   0
        |   |->|   |                                             0            1
        +---+  +---+
"""

from __future__ import annotations

from ecs_collide._kernel import cython, may_raise
from ecs_collide._kernel.arrays import INT, grown, zeros
from ecs_collide._kernel.constants import Custom
from ecs_collide.broadphase.pair_order import PairOrder
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters


@cython.final
class Rebounds:
    """The choice among the rebounds of an instant."""

    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    n: cython.Py_ssize_t
    order: PairOrder  # the rebounds, the fastest first
    # (n_rows * dim,): by row and axis the number, from 1, of the first rebound of a dynamic body
    claims: cython.int[::1]
    # (order.n + 1,): of each rebound, from 1, another one of its group, itself if it is the first of
    # it, or 0 if it comes later; and the size of the group
    group: cython.int[::1]
    size: cython.int[::1]

    def __init__(self, step: Step, clusters: Clusters):
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = clusters
        self.n = 0
        self.order = PairOrder(step.bodies, step.pairs)
        self.claims = zeros(INT, 1)
        self.group = zeros(INT, 1)
        self.size = zeros(INT, 1)

    @may_raise
    def choose(self, order: PairOrder) -> cython.void:
        """Choose among rebounds, sorted from the fastest to the slowest."""
        n: cython.Py_ssize_t
        turn: cython.int

        self.order = order
        self.n = order.n
        if self.claims.shape[0] < self.bodies.capacity * self.bodies.dim:
            self.claims = zeros(INT, self.bodies.capacity * self.bodies.dim)
        if self.group.shape[0] < order.n + 1:
            self.size = grown(self.size, 2 * order.n + 1)
            self.group = grown(self.group, 2 * order.n + 1)
        for n in range(1, order.n + 1):
            self.group[n] = n
            self.size[n] = 1
            for turn in range(2):
                self._claim(n, self._place_of(n, turn))
        for n in range(1, order.n + 1):
            for turn in range(2):
                place: cython.Py_ssize_t = self._place_of(n, turn)
                if place >= 0:
                    self.claims[place] = 0

    def _place_of(self, n: cython.Py_ssize_t, turn: cython.int) -> cython.Py_ssize_t:
        """Return the place in `claims` of a body of a rebound, or -1 if it is not dynamic."""
        p: cython.Py_ssize_t = self.order.pairs[n - 1]
        i: cython.Py_ssize_t = self.pairs.at[p].second if turn else self.pairs.at[p].first
        k: cython.int = self.pairs.impact[p].axis

        return self.bodies.dim * i + k if self.bodies.dynamic_along(i, k) else -1

    def _claim(self, n: cython.Py_ssize_t, place: cython.Py_ssize_t) -> cython.void:
        """Claim a body for a rebound; join the group of an equally fast one, or come later."""
        if place < 0:
            return
        other: cython.Py_ssize_t = self.claims[place]
        if other == 0:
            self.claims[place] = n
        elif self.group[n] == 0:
            pass
        elif (
            self.group[other] == 0
            or self.order.keys[other - 1] != self.order.keys[n - 1]
            or not (self._may_join(n) and self._may_join(other))
        ):
            self.size[self.first_of(n)] -= 1
            self.group[n] = 0
        else:
            one: cython.Py_ssize_t = min(self.first_of(n), self.first_of(other))
            other = max(self.first_of(n), self.first_of(other))
            if one != other:
                self.group[other] = one
                self.size[one] += self.size[other]

    def _may_join(self, n: cython.Py_ssize_t) -> cython.bint:
        """Return whether a rebound can be one with others: both bodies move freely."""
        b: Bodies = self.bodies
        p: cython.Py_ssize_t = self.order.pairs[n - 1]
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis

        return (
            not (b.custom[i] | b.custom[j]) & Custom.OFFERED
            and b.dynamic_along(i, k)
            and b.dynamic_along(j, k)
            and not (b.on_hold[i] or b.on_hold[j])
            and b.controls.rank_of(i) == b.controls.rank_of(j)
            and b.resize_of(i, k) == 0.0
            and b.resize_of(j, k) == 0.0
            and not self.clusters.gravity.is_on
            and self.clusters.lasting_root(i, k) == 0
            and self.clusters.lasting_root(j, k) == 0
        )

    def first_of(self, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first rebound of the group of a rebound that does not come later."""
        while self.group[n] != n:
            n = self.group[n]
        return n

    def is_later(self, n: cython.Py_ssize_t) -> cython.bint:
        """Return whether rebound n comes later."""
        return self.group[n] == 0

    def is_single(self, n: cython.Py_ssize_t) -> cython.bint:
        """Return whether rebound n, which does not come later, is alone in its group."""
        return self.size[self.first_of(n)] == 1
