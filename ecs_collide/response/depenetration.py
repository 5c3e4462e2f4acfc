"""Depenetration: move bodies out of bodies that they overlap at the start of a step.

When all paths are in the trees, `set_paths` lets the path of a body drift on one axis; then pairs are
found and swept.

    +-------+              The minimum translation is along one axis, past the farthest face of
    |   A   |              all bodies that A overlaps: out of two tiles of a floor A moves up,
    |  +----+--+-------+   never sideways into the next tile.  A must leave each tile on its
    +--| 1  |  |   2   |   nearer side, and must not enter a body that it does not overlap.
       +----+--+-------+

One step moves a body at most out of the first of these bodies; the next step searches again.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.arrays import DOUBLE, LONG, zeros
from ecs_collide._kernel.constants import INF, SLOP, Trait
from ecs_collide.broadphase.broadphase import Broadphase
from ecs_collide.broadphase.dynamic_tree import Tree
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step


@cython.final
class Depenetration:
    """The bodies that a step pushes out of others."""

    step: Step
    bodies: Bodies
    broadphase: Broadphase
    n: Public[cython.Py_ssize_t]
    # pairs of rows, in both orders, of bodies that cross by a response: neither is pushed out
    spared: Public[set]
    # (n or more,): rows of the bodies, and their axes
    rows: Public[cython.longlong[::1]]
    axis: cython.longlong[::1]
    speed: cython.double[::1]  # (n or more,): the velocity out of the others on that axis
    low: cython.double[::1]
    high: cython.double[::1]

    def __init__(self, step: Step, broadphase: Broadphase):
        bodies: Bodies = step.bodies

        self.step = step
        self.bodies = bodies
        self.broadphase = broadphase
        self.n = 0
        self.spared = set()
        self.rows = zeros(LONG, 1)
        self.axis = zeros(LONG, 1)
        self.speed = zeros(DOUBLE, 1)
        self.low = zeros(DOUBLE, bodies.dim)
        self.high = zeros(DOUBLE, bodies.dim)

    @cython.ccall
    def set_paths(self, rows: cython.longlong[::1]) -> cython.void:
        """Let the paths of the bodies of `rows` lead out of others that they overlap.

        All bodies must be in their trees with their own paths.
        """
        b: Bodies = self.bodies

        self.n = 0
        if b.dt == 0.0:
            return
        if self.rows.shape[0] < rows.shape[0]:
            # `rows` last, because an array may fail to grow.
            self.axis = zeros(LONG, rows.shape[0])
            self.speed = zeros(DOUBLE, rows.shape[0])
            self.rows = zeros(LONG, rows.shape[0])
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if b.traits[i] & Trait.PUSH_OUT and b.dynamic[i] and not b.sensor[i]:
                self._find_exit(i)
        for n in range(self.n):
            b.lead_out(self.rows[n], self.axis[n], self.speed[n])
        if self.n:
            b.start_drifting(self.rows[: self.n])

    @cython.ccall
    def end(self) -> cython.void:
        """Forget the ways out."""
        self.bodies.end_drifts(self.rows[: self.n])

    def _find_exit(self, i: cython.Py_ssize_t) -> cython.void:
        """Find the minimum translation of a body that overlaps others, and add it."""
        b: Bodies = self.bodies
        k: cython.int
        shortest: cython.double = INF
        best: cython.int = 0

        if not self._is_inside_any(i):
            return
        for k in range(b.dim):
            if b.controls.locks(i, k):
                continue
            for side in range(2):
                sign: cython.int = 1 if side else -1
                displacement: cython.double = self._exit_distance(i, k, sign)
                if displacement < shortest:
                    shortest = displacement
                    best = sign * (k + 1)
        if best == 0:
            return
        k = abs(best) - 1
        sign = 1 if best > 0 else -1
        speed: cython.double = sign * min(b.rare.push_out[i], self._exit(i, k, sign, True) / b.dt)
        self.rows[self.n] = i
        self.axis[self.n] = k
        self.speed[self.n] = speed
        self.n += 1

    def _is_inside_any(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body overlaps any body that must push it out."""
        tree: Tree

        self._set_region(i, 0, 0.0)
        for tree in (self.broadphase.still, self.broadphase.moving):
            for m in range(tree.touching_one(self.low, self.high)):
                if self._holds_back(i, tree.found[m]) and self._is_within(i, tree.found[m]):
                    return True
        return False

    def _set_region(
        self, i: cython.Py_ssize_t, k: cython.int, displacement: cython.double
    ) -> cython.void:
        """Set the region to the box of a body, extended by a displacement on an axis."""
        b: Bodies = self.bodies

        for axis in range(b.dim):
            self.low[axis] = b.centre_of(i, axis) - b.half_of(i, axis)
            self.high[axis] = b.centre_of(i, axis) + b.half_of(i, axis)
        if displacement > 0.0:
            self.high[k] = self.high[k] + displacement
        else:
            self.low[k] = self.low[k] + displacement

    def _holds_back(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether an overlap with body j pushes i out."""
        if i == j or not self.bodies.holds_back(i, j) or not self.broadphase.may_meet(i, j):
            return False
        return not self.spared or (i, j) not in self.spared

    def _is_within(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies overlap by more than the slop."""
        b: Bodies = self.bodies

        for k in range(b.dim):
            low: cython.double = max(
                b.centre_of(i, k) - b.half_of(i, k), b.centre_of(j, k) - b.half_of(j, k)
            )
            high: cython.double = min(
                b.centre_of(i, k) + b.half_of(i, k), b.centre_of(j, k) + b.half_of(j, k)
            )
            if not high - low > SLOP * max(abs(low), abs(high)):
                return False
        if b.rare.any_slope and self.step.slopes.find(i, j):
            return self.step.slopes.depth(self.step.pairs) > 0.0
        return True

    def _exit_distance(
        self, i: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return the distance in a direction out of all overlapping bodies; inf if blocked."""
        displacement: cython.double = self._exit(i, k, sign, False)
        if displacement == INF:
            return INF
        self._set_region(i, k, sign * displacement)
        return INF if self._is_blocked(i) else displacement

    def _exit(
        self, i: cython.Py_ssize_t, k: cython.int, sign: cython.int, nearest: cython.bint
    ) -> cython.double:
        """Return the distance past the nearest or the farthest of the bodies that body i overlaps.

        The farthest is inf if body i would leave one of them on its farther side.
        """
        b: Bodies = self.bodies
        tree: Tree
        displacement: cython.double = INF if nearest else 0.0

        self._set_region(i, 0, 0.0)
        for tree in (self.broadphase.still, self.broadphase.moving):
            for m in range(tree.touching_one(self.low, self.high)):
                j: cython.Py_ssize_t = tree.found[m]
                if not self._holds_back(i, j) or not self._is_within(i, j):
                    continue
                forth: cython.double = (b.centre_of(j, k) + b.half_of(j, k)) - self.low[k]
                back: cython.double = self.high[k] - (b.centre_of(j, k) - b.half_of(j, k))
                if b.rare.any_slope and self.step.slopes.find(i, j) and self.step.slopes.up == k:
                    depth: cython.double = self.step.slopes.depth(self.step.pairs)
                    if self.step.slopes.out > 0.0:
                        forth = min(forth, depth)
                    else:
                        back = min(back, depth)
                if sign < 0:
                    forth, back = back, forth
                if nearest:
                    displacement = min(displacement, forth)
                else:
                    displacement = max(displacement, forth if forth <= back else INF)
        return displacement

    def _is_blocked(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether the region overlaps a body that body i does not overlap."""
        b: Bodies = self.bodies
        tree: Tree

        for tree in (self.broadphase.still, self.broadphase.moving):
            for m in range(tree.touching_one(self.low, self.high)):
                j: cython.Py_ssize_t = tree.found[m]
                if not self._holds_back(i, j) or self._is_within(i, j):
                    continue
                clear: cython.bint = False
                for k in range(b.dim):
                    low: cython.double = max(self.low[k], b.centre_of(j, k) - b.half_of(j, k))
                    high: cython.double = min(self.high[k], b.centre_of(j, k) + b.half_of(j, k))
                    if not high - low > SLOP * max(abs(low), abs(high)):
                        clear = True
                if not clear:
                    return True
        return False
