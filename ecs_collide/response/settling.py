"""Settling: a body that the game puts a hair into another one begins the step flush with it.

32-bit vectors, and sums in another order, round by up to a `HAIR`.  A body that begins inside a
floor of tiles would be stopped at the side of the next tile.

    +-----+              Each face counts by itself: a body in a corner is put out of both.  What
    |     |  hair        stands on the body moves along.  Where a wall is in the way, or two faces
  --+--+--+--+----       are too near to each other, there is no room, and all stay where they are.
    |  |  |  |

`Space.shift` rounds all centres anew, so it seats the bodies that touched, by the same faces.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import HAIR, INF, SLOP
from ecs_collide.broadphase.broadphase import Broadphase
from ecs_collide.broadphase.dynamic_tree import Tree
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.placement import beside
from ecs_collide.narrowphase.slopes import Slopes
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.ways_out import Region


@cython.final
class Settling:
    """Puts bodies flush with static and kinematic bodies.

    Each begins the step at most a hair inside the other.
    """

    step: Step
    bodies: Bodies
    broadphase: Broadphase
    region: Region
    placed: set  # the rows of the bodies that have another centre now
    # Of the body that is settled: its depth on each side, as `sweep_test` numbers them, and the face
    depth: cython.double[6]
    face: cython.double[6]

    def __init__(self, step: Step, broadphase: Broadphase):
        self.step = step
        self.bodies = step.bodies
        self.broadphase = broadphase
        self.region = Region(step.bodies)
        self.placed = set()

    @cython.ccall
    def settle(self, touched: list, still: cython.longlong[::1]) -> list:
        """Put bodies flush; all that are not skipped must be in their trees.

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
        rows: set = set(touched)

        for n in range(still.shape[0]):
            self.region.set(still[n], 0, 0.0)
            for m in range(tree.touching_one(self.region.low, self.region.high)):
                rows.add(tree.found[m])
        for i in rows:
            if b.dynamic[i] and not (b.sensor[i] or b.asleep[i] or b.quarantined[i]):
                self._find_flush(i, found)
        self.placed.clear()
        for _order, k, i, centre in sorted(found):
            self._move(i, k, centre)
        return list(self.placed)

    def _find_flush(self, i: cython.Py_ssize_t, found: list) -> cython.void:
        """Append an order, axis, row and new centre for each axis on which a body would be flush.

        The body that is moved least comes first, then the one nearest to the origin, so that neither
        ids nor mirroring the scene decide.
        """
        b: Bodies = self.bodies
        tree: Tree

        for side in range(2 * b.dim):
            self.depth[side] = 0.0
        self.region.set(i, 0, 0.0)
        for tree in (self.broadphase.still, self.broadphase.moving):
            for m in range(tree.touching_one(self.region.low, self.region.high)):
                if not b.dynamic[tree.found[m]] and self._may_hold(tree.found[m], i):
                    self._measure(i, tree.found[m])
        for side in range(2 * b.dim):
            k: cython.int = side >> 1
            if self.depth[side] == 0.0 or self.depth[side ^ 1] != 0.0 or b.controls.locks(i, k):
                continue
            centre: cython.double = beside(self.face[side], b.half_of(i, k), (side & 1) == 0, False)
            order: tuple = (
                abs(centre - b.centre_of(i, k)), abs(b.centre_of(i, 0)), abs(b.centre_of(i, 1)),
                abs(b.centre_of(i, b.dim - 1)), b.centre_of(i, 0), b.centre_of(i, 1), b.ids[i],
            )  # fmt: skip
            found.append((order, k, i, centre))

    def _may_hold(self, j: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether body j may hold body i."""
        b: Bodies = self.bodies

        return not (b.sensor[j] or b.rare.is_soft(i, j)) and self.broadphase.may_meet(i, j)

    def _measure(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Note the nearest face of body j if body i, whose box is the region, is a hair behind it."""
        b: Bodies = self.bodies
        best: cython.int = -1
        depth: cython.double = INF
        face: cython.double = 0.0

        for k in range(b.dim):
            low: cython.double = b.face_on(j, k, -1.0)
            high: cython.double = b.face_on(j, k, 1.0)
            largest: cython.double = max(
                max(abs(low), abs(high)), max(abs(self.region.low[k]), abs(self.region.high[k]))
            )
            least: cython.double = min(self.region.high[k] - low, high - self.region.low[k])
            if least <= SLOP * largest:
                return
            if least < depth and least <= HAIR * largest:
                depth = least
                best = 2 * k if self.region.high[k] - low == least else 2 * k + 1
                face = low if best == 2 * k else high
        least = self.step.slopes.depth(i, j, self.step.pairs)
        k = self.step.slopes.up
        if least == 0.0:
            return
        if least < depth and least <= HAIR * (abs(self.region.low[k]) + abs(self.region.high[k])):
            depth = least
            best = 2 * k + (self.step.slopes.out > 0.0)
            face = self.region.high[k] - least if best == 2 * k else self.region.low[k] + least
        if best < 0 or b.is_passable(i, j, best >> 1, 1 if best & 1 else -1):
            return
        if depth > self.depth[best]:
            self.depth[best], self.face[best] = depth, face

    def _move(self, i: cython.Py_ssize_t, k: cython.int, centre: cython.double) -> cython.void:
        """Put a body at a centre on an axis, and what it would get into beside it, if all can move."""
        b: Bodies = self.bodies
        way: cython.double = centre - b.centre_of(i, k)
        sign: cython.double = 1.0 if way > 0.0 else -1.0
        moved: set = {i}
        todo: list = [i]
        pushes: list = []  # (place, j, o): body j pushes body o
        tree: Tree

        while todo:
            j: cython.Py_ssize_t = todo.pop()
            for tree in (self.broadphase.still, self.broadphase.moving):
                self.region.set(j, k, way)
                for m in range(tree.touching_one(self.region.low, self.region.high)):
                    o: cython.Py_ssize_t = tree.found[m]
                    if not self._is_in_the_way(j, o, k, way):
                        continue
                    if not b.dynamic_along(o, k):
                        return
                    pushes.append((sign * b.centre_of(j, k) - b.half_of(j, k), j, o))
                    if o not in moved:
                        moved.add(o)
                        todo.append(o)
        self._put(i, k, centre)
        for _place, j, o in sorted(pushes):  # so that each body is put before it pushes others
            centre = beside(b.face_on(j, k, sign), b.half_of(o, k), sign < 0.0, False)
            if sign * (centre - b.centre_of(o, k)) > 0.0:
                self._put(o, k, centre)

    def _is_in_the_way(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, way: cython.double
    ) -> cython.bint:
        """Return whether body i would get into body j on its way along an axis."""
        if not self._may_hold(j, i) or self.bodies.is_passable(i, j, k, -1 if way > 0.0 else 1):
            return False
        self.region.set(i, k, way)
        if not self.region.overlaps(j):
            return False
        self.region.set(i, 0, 0.0)
        return not self.region.overlaps(j)

    # -- touching bodies whose centres were rounded anew --

    def touch(
        self, contacts: cython.longlong[:, ::1], tolerance: cython.double
    ) -> NDArray[np.bool_]:
        """Return which contacts have no gap, bool (n,).

        Each has two rows, and the axis and sign of its normal.  A gap of `tolerance` times the
        largest coordinate is none.
        """
        found = np.zeros(contacts.shape[0], np.bool_)
        flush: cython.schar[::1] = found.view(np.int8).data

        for n in range(contacts.shape[0]):
            flush[n] = self._is_flush(
                contacts[n, 0], contacts[n, 1], contacts[n, 2], contacts[n, 3], tolerance
            )
        return found

    def seat(self, contacts: cython.longlong[:, ::1], tolerance: cython.double) -> list:
        """Put the first body of each contact that has a gap flush; return the rows of those.

        The contacts are as in `touch`.  On each axis a body is put flush with the first that it can.
        """
        b: Bodies = self.bodies
        slopes: Slopes = self.step.slopes
        seated: set = set()

        self.placed.clear()
        for n in range(contacts.shape[0]):
            i: cython.Py_ssize_t = contacts[n, 0]
            j: cython.Py_ssize_t = contacts[n, 1]
            k: cython.int = contacts[n, 2]
            sign: cython.int = contacts[n, 3]
            if self._is_flush(i, j, k, sign, tolerance):
                seated.add((i, k))
            if (i, k) in seated:
                continue
            seated.add((i, k))
            if self._is_on_slope(i, j, k, sign):
                self._put(i, slopes.up, slopes.seat_of(b.half_of(i, slopes.up), sign))
                continue
            face: cython.double = b.face_on(j, k, 1.0 if sign > 0 else -1.0)
            self._put(i, k, beside(face, b.half_of(i, k), sign < 0, False))
        return list(self.placed)

    def _is_flush(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        tolerance: cython.double,
    ) -> cython.bint:
        """Return whether two bodies have no gap on the side of a normal from j to i."""
        b: Bodies = self.bodies
        side: cython.double = 1.0 if sign > 0 else -1.0

        if self._is_on_slope(i, j, k, sign):
            return self.step.slopes.is_level(sign, tolerance)
        own: cython.double = b.face_on(i, k, -side)
        face: cython.double = b.face_on(j, k, side)
        return abs(own - face) <= tolerance * max(abs(own), abs(face))

    def _is_on_slope(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.bint:
        """Return whether body i is on the line, or the open face, of the slope j; measure it."""
        slopes: Slopes = self.step.slopes

        if slopes.depth(i, j, self.step.pairs) == INF or slopes.slope != j:
            return False
        return slopes.is_open(k, sign)

    def _put(self, i: cython.Py_ssize_t, k: cython.int, centre: cython.double) -> cython.void:
        self.bodies.put(i, k, centre)
        self.placed.add(i)
