"""Settling: a body that the game puts a hair into another one begins the step flush with it.

32-bit vectors, and sums in another order, round by up to a `HAIR`.  A body that begins inside a
floor of tiles would be stopped at the side of the next tile.

    +-----+              Each face counts by itself: a body in a corner is put out of both.  Where
    |     |  hair        a wall is in the way, or two faces are too near to each other, there is no
  --+--+--+--+----       room, and the body stays where it is.
    |  |  |  |
"""

from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide._kernel.arrays import DOUBLE, zeros
from ecs_collide._kernel.constants import HAIR, INF, SLOP
from ecs_collide.broadphase.broadphase import Broadphase
from ecs_collide.broadphase.dynamic_tree import Tree
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.placement import beside
from ecs_collide.narrowphase.step import Step


@cython.final
class Settling:
    """Puts bodies flush with static and kinematic bodies.

    Each begins the step at most a hair inside the other.
    """

    step: Step
    bodies: Bodies
    broadphase: Broadphase
    low: cython.double[::1]  # (dim,): the corners of a region
    high: cython.double[::1]
    # Of the body that is settled: its depth on each side, as `sweep_test` numbers them, and the face
    depth: cython.double[6]
    face: cython.double[6]

    def __init__(self, step: Step, broadphase: Broadphase):
        self.step = step
        self.bodies = step.bodies
        self.broadphase = broadphase
        self.low = zeros(DOUBLE, step.bodies.dim)
        self.high = zeros(DOUBLE, step.bodies.dim)

    @cython.ccall
    def settle(self, touched: list, still: cython.longlong[::1]) -> list:
        """Put bodies flush; all must be in their trees.

        Parameters
        ----------
        touched : list of int
            The rows of bodies that are new, or that the game has put or resized.
        still : int64 (n,)
            The rows of bodies that do not move, and are new or at another place.

        Returns
        -------
        list of int
            The rows of the bodies that have another centre now.
        """
        b: Bodies = self.bodies
        tree: Tree = self.broadphase.moving
        found: list = []
        placed: list = []
        rows: set = set(touched)

        for n in range(still.shape[0]):
            self._set_region(still[n], 0, 0.0)
            for m in range(tree.touching_one(self.low, self.high)):
                rows.add(tree.found[m])
        for i in rows:
            if b.dynamic[i] and not b.sensor[i] and not b.asleep[i]:
                self._find_flush(i, found)
        for i, k, centre in found:
            b.put(i, k, centre)
            placed.append(i)
        return placed

    def _find_flush(self, i: cython.Py_ssize_t, found: list) -> cython.void:
        """Append the row, the axis and the new centre for each axis on which a body is put flush."""
        b: Bodies = self.bodies
        tree: Tree

        for side in range(2 * b.dim):
            self.depth[side] = 0.0
        self._set_region(i, 0, 0.0)
        for tree in (self.broadphase.still, self.broadphase.moving):
            for m in range(tree.touching_one(self.low, self.high)):
                if self._holds(tree.found[m], i):
                    self._measure(i, tree.found[m])
        for side in range(2 * b.dim):
            k: cython.int = side >> 1
            if self.depth[side] == 0.0 or self.depth[side ^ 1] != 0.0 or b.controls.locks(i, k):
                continue
            below: cython.bint = (side & 1) == 0
            if not self._is_blocked(i, k, -self.depth[side] if below else self.depth[side]):
                found.append((i, k, beside(self.face[side], b.half_of(i, k), below, False)))

    def _holds(self, j: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether body j may hold body i."""
        b: Bodies = self.bodies

        return not (b.dynamic[j] or b.sensor[j]) and self.broadphase.may_meet(i, j)

    def _set_region(self, i: cython.Py_ssize_t, k: cython.int, way: cython.double) -> cython.void:
        """Set the region to the box of a body, extended by a way along an axis."""
        b: Bodies = self.bodies

        for axis in range(b.dim):
            self.low[axis] = b.centre_of(i, axis) - b.half_of(i, axis)
            self.high[axis] = b.centre_of(i, axis) + b.half_of(i, axis)
        self.low[k] += min(way, 0.0)
        self.high[k] += max(way, 0.0)

    def _measure(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Note the nearest face of body j if body i, whose box is the region, is a hair behind it."""
        b: Bodies = self.bodies
        best: cython.int = -1
        depth: cython.double = INF
        face: cython.double = 0.0

        for k in range(b.dim):
            low: cython.double = b.centre_of(j, k) - b.half_of(j, k)
            high: cython.double = b.centre_of(j, k) + b.half_of(j, k)
            largest: cython.double = max(
                max(abs(low), abs(high)), max(abs(self.low[k]), abs(self.high[k]))
            )
            least: cython.double = min(self.high[k] - low, high - self.low[k])
            if least <= SLOP * largest:
                return
            if least < depth and least <= HAIR * largest:
                depth = least
                best = 2 * k if self.high[k] - low == least else 2 * k + 1
                face = low if best == 2 * k else high
        if b.rare.any_slope and self.step.slopes.find(i, j):
            least = self.step.slopes.depth(self.step.pairs)
            k = self.step.slopes.up
            if least == 0.0:
                return
            if least < depth and least <= HAIR * (abs(self.low[k]) + abs(self.high[k])):
                depth = least
                best = 2 * k + (self.step.slopes.out > 0.0)
                face = self.high[k] - least if best == 2 * k else self.low[k] + least
        if best < 0 or b.is_passable(i, j, best >> 1, 1 if best & 1 else -1):
            return
        if depth > self.depth[best]:
            self.depth[best], self.face[best] = depth, face

    def _is_blocked(self, i: cython.Py_ssize_t, k: cython.int, way: cython.double) -> cython.bint:
        """Return whether a body that body i does not overlap is in its way along an axis."""
        b: Bodies = self.bodies
        tree: Tree

        for tree in (self.broadphase.still, self.broadphase.moving):
            self._set_region(i, k, way)
            for m in range(tree.touching_one(self.low, self.high)):
                j: cython.Py_ssize_t = tree.found[m]
                if not self._holds(j, i) or b.is_passable(i, j, k, -1 if way > 0.0 else 1):
                    continue
                self._set_region(i, k, way)
                if self._is_inside(j):
                    self._set_region(i, 0, 0.0)
                    if not self._is_inside(j):
                        return True
        return False

    def _is_inside(self, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether the region and body j overlap by more than the slop."""
        b: Bodies = self.bodies

        for k in range(b.dim):
            low: cython.double = max(self.low[k], b.centre_of(j, k) - b.half_of(j, k))
            high: cython.double = min(self.high[k], b.centre_of(j, k) + b.half_of(j, k))
            if not high - low > SLOP * max(abs(low), abs(high)):
                return False
        return True
