"""The walls on which bodies stand that are held against gravity since an earlier instant.

A body that lands on a pile would press it down to the floor, contact by contact, and each would
press, and rub, with its whole weight once more.  But a held body already presses on its support.
Something that lands on it does not move it, and stops as on the wall below.

A *support* of a body touches it on the other side, and is a wall at rest or held at rest itself; so
supports lead to a wall.  Walls that move are left out, because they may press bodies into others.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide._kernel.arrays import INT, LONG, grown, zeros
from ecs_collide.broadphase.pair_table import KEEPS, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import HELD
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters


@cython.final
class Supports:
    """The supports of the held bodies of a step."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    way: cython.longlong[::1]  # (depth or more,): the bodies from the one that is asked about down
    # (n_rows or fewer, dim): the pair of a body and its support, and the instant that has found it
    pair_of: cython.int[:, ::1]
    found_in: cython.longlong[:, ::1]
    lost_in: cython.longlong[:, ::1]  # the last instant in which a body had no wall below

    def __init__(self, step: Step, clusters: Clusters):
        dim: cython.int = step.bodies.dim

        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = clusters
        self.way = zeros(LONG, 1)
        self.pair_of = zeros(INT, 1, dim)
        self.found_in = zeros(LONG, 1, dim)
        self.lost_in = zeros(LONG, 1, dim)

    def wall_below(self, i: cython.Py_ssize_t, k: cython.int, up: cython.int) -> cython.Py_ssize_t:
        """Return the wall that bears a body on an axis, or -1.

        `up` is the sign from the wall to the body.
        """
        b: Bodies = self.bodies
        n: cython.Py_ssize_t = 1

        if not self._is_held(i, k):
            return -1
        if self.way.shape[0] < b.capacity:
            self.pair_of = grown(self.pair_of, b.capacity)
            self.found_in = grown(self.found_in, b.capacity)
            self.lost_in = grown(self.lost_in, b.capacity)
            self.way = grown(self.way, b.capacity)
        self.way[0] = i
        while n:
            j: cython.Py_ssize_t = self.way[n - 1]
            p: cython.Py_ssize_t = self._find_support(j, k, up)
            if p < 0:
                self.lost_in[j, k] = self.clusters.instant
                n -= 1
                continue
            self.pair_of[j, k] = p
            self.found_in[j, k] = self.clusters.instant
            j = self.pairs.partner(p, j)
            if not b.dynamic[j]:
                return j
            if n == self.way.shape[0]:  # a ring, in a world that wraps
                return -1
            self.way[n] = j
            n += 1
        return -1

    def _is_held(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a body is held at rest since an earlier instant, and not by friction."""
        return (
            self.clusters.gravity.is_held(i, k)
            and self.clusters.gravity.held[i, k] == HELD
            and self.clusters.velocity_of(i, k) == 0.0
        )

    def _find_support(
        self, i: cython.Py_ssize_t, k: cython.int, up: cython.int
    ) -> cython.Py_ssize_t:
        """Return the pair of a body and its support, or -1: the known one, or the first in space."""
        b: Bodies = self.bodies
        best: cython.Py_ssize_t = -1
        p: cython.Py_ssize_t = self.pair_of[i, k]

        if self.found_in[i, k] >= self.clusters.first_instant and self._supports(p, i, k, up):
            return p
        p = self.pairs.head_of(i)
        while p >= 0:
            if self._supports(p, i, k, up) and (
                best < 0 or b.precedes(self.pairs.partner(p, i), self.pairs.partner(best, i))
            ):
                best = p
            p = self.pairs.next_of(p, i)
        return best

    def _supports(
        self, p: cython.Py_ssize_t, i: cython.Py_ssize_t, k: cython.int, up: cython.int
    ) -> cython.bint:
        """Return whether the other body of a pair may be a support of body i."""
        b: Bodies = self.bodies
        j: cython.Py_ssize_t = self.pairs.partner(p, i)
        face: cython.int = up * (k + 1) if i == self.pairs.at[p].first else -up * (k + 1)

        return (
            self.pairs.is_solid(p)
            and self.pairs.at[p].touch == KEEPS
            and self.pairs.at[p].face == face
            and (
                (self._is_held(j, k) and self.lost_in[j, k] != self.clusters.instant)
                if b.dynamic[j]
                else b.velocity[j, k] == 0.0
            )
            and self.pairs.width_at(p, k, self.step.now, b) > 0.0
        )
