"""Moving bodies out of what they are inside of from the start, never through anything else.

A push is a displacement and no momentum: what a body meets on its way ends it for the
step, and is met at the speed that the body has of itself.

The way out leads along one axis, past the farthest face of all that the body
is inside of: of two tiles of one floor it is up, and never sideways into the
neighbour.  It leads out of each of them on its nearer side, and a way on which
the body would meet something that it is outside of is none.  A step takes it
as far as the first of them that is left behind; the next one looks again.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.broadphase_c import Broadphase
    from cython.cimports.ecs_collide.broadphase.dynamic_tree_c import Tree
    from cython.cimports.ecs_collide.motion.bodies_c import Bodies
else:
    from ecs_collide.broadphase.broadphase import Broadphase
    from ecs_collide.broadphase.dynamic_tree import Tree
    from ecs_collide.motion.bodies import Bodies

from ecs_collide.constants import PUSH_OUT
from ecs_collide.motion.arrays import DOUBLE, LONG, zeros

cython.declare(SLOP=cython.double, INF=cython.double)
from ecs_collide.constants import INF, SLOP


@cython.final
@cython.cclass
class Depenetration:
    """The bodies that are pushed out in a step.

    Attributes
    ----------
    n : int
    rows, axis : int64 (n or more,)
        Who, and along which axis.
    spared : set of (int, int)
        Rows of two bodies that a response lets cross, in both orders: neither is pushed out.
    before, speed : float64 (n or more,)
        What the velocity on that axis was, and what it became.
    """

    def __init__(self, bodies: Bodies, broadphase: Broadphase):
        self.bodies = bodies
        self.broadphase = broadphase
        self.n = 0
        self.spared = set()
        self.rows = zeros(LONG, 1)
        self.axis = zeros(LONG, 1)
        self.before = zeros(DOUBLE, 1)
        self.speed = zeros(DOUBLE, 1)
        self.low = zeros(DOUBLE, bodies.dim)
        self.high = zeros(DOUBLE, bodies.dim)

    def begin(self, rows: cython.longlong[::1]):
        """Give those of some moving bodies that are inside others the way out for their path.

        When all of them are in their trees with the paths that they have of themselves.
        """
        b: Bodies = self.bodies
        n: cython.Py_ssize_t

        self.n = 0
        if b.dt == 0.0:
            return
        if self.rows.shape[0] < rows.shape[0]:
            # Last the rows, by whose length it is known how much room there is.
            self.axis = zeros(LONG, rows.shape[0])
            self.before = zeros(DOUBLE, rows.shape[0])
            self.speed = zeros(DOUBLE, rows.shape[0])
            self.rows = zeros(LONG, rows.shape[0])
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if b.surface_bits[i] & PUSH_OUT and b.yields[i] and not b.sensor[i]:
                self._find_exit(i)
        for n in range(self.n):
            i = self.rows[n]
            b.velocity[i, self.axis[n]] = self.speed[n]
            b.surfaces.translation_side[i] = (self.axis[n] + 1) * (1 if self.speed[n] > 0.0 else -1)

    def end(self):
        """Give the bodies their own velocities back."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t

        for n in range(self.n):
            i: cython.Py_ssize_t = self.rows[n]
            if b.surfaces.translation_side[i] != 0:
                b.surfaces.translation_side[i] = 0
                if b.velocity[i, self.axis[n]] == self.speed[n]:  # the game's own may have set it
                    b.velocity[i, self.axis[n]] = self._own(n)

    @cython.cfunc
    @cython.exceptval(check=False)
    def stop(self, i: cython.Py_ssize_t) -> cython.double:
        """Push a body no further in this step; return its own velocity along the way out."""
        n: cython.Py_ssize_t = 0

        self.bodies.surfaces.translation_side[i] = 0
        while self.rows[n] != i:
            n += 1
        return self._own(n)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _own(self, n: cython.Py_ssize_t) -> cython.double:
        """Return the velocity that a body has of itself, without what led on into others."""
        if (self.before[n] > 0.0) == (self.speed[n] > 0.0):
            return self.before[n]
        return 0.0

    @cython.cfunc
    def _find_exit(self, i: cython.Py_ssize_t) -> cython.void:
        """Find the shortest way out for a body, if it is inside anything; note it."""
        b: Bodies = self.bodies
        k: cython.int
        side: cython.int
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
        speed: cython.double = sign * min(
            b.surfaces.push_out[i], self._nearest_exit(i, k, sign) / b.dt
        )
        self.rows[self.n] = i
        self.axis[self.n] = k
        self.before[self.n] = b.velocity[i, k]
        self.speed[self.n] = speed
        if b.velocity[i, k] * sign > speed * sign:  # it leaves faster by itself
            self.speed[self.n] = b.velocity[i, k]
        self.n += 1

    @cython.cfunc
    def _is_inside_any(self, i: cython.Py_ssize_t) -> cython.bint:
        self._set_region(i, 0, 0.0)
        return self._is_inside_some(self.broadphase.still, i) or self._is_inside_some(
            self.broadphase.moving, i
        )

    @cython.cfunc
    def _is_inside_some(self, tree: Tree, i: cython.Py_ssize_t) -> cython.bint:
        m: cython.Py_ssize_t

        for m in range(tree.touching_one(self.low, self.high)):
            if self._holds_back(i, tree.found[m]) and self._is_within(i, tree.found[m]):
                return True
        return False

    @cython.cfunc
    @cython.exceptval(check=False)
    def _set_region(
        self, i: cython.Py_ssize_t, k: cython.int, displacement: cython.double
    ) -> cython.void:
        """Take the box of a body, lengthened by its way along an axis, for the region to search."""
        b: Bodies = self.bodies
        axis: cython.int

        for axis in range(b.dim):
            self.low[axis] = b.centre_of(i, axis) - b.half_of(i, axis)
            self.high[axis] = b.centre_of(i, axis) + b.half_of(i, axis)
        if displacement > 0.0:
            self.high[k] = self.high[k] + displacement
        else:
            self.low[k] = self.low[k] + displacement

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _holds_back(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body is to be pushed out of another."""
        if i == j or not self.bodies.holds_back(i, j) or not self.broadphase.may_meet(i, j):
            return False
        return not self.spared or (i, j) not in self.spared

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_within(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether the insides of two bodies overlap, by more than the slop."""
        b: Bodies = self.bodies
        k: cython.int

        for k in range(b.dim):
            low: cython.double = max(
                b.centre_of(i, k) - b.half_of(i, k), b.centre_of(j, k) - b.half_of(j, k)
            )
            high: cython.double = min(
                b.centre_of(i, k) + b.half_of(i, k), b.centre_of(j, k) + b.half_of(j, k)
            )
            if not high - low > SLOP * max(abs(low), abs(high)):
                return False
        return True

    @cython.cfunc
    def _exit_distance(
        self, i: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return how far a body has to go in a direction to be out of all it is in; inf: no way."""
        self._set_region(i, 0, 0.0)
        displacement: cython.double = max(
            self._exit(self.broadphase.still, i, k, sign, False),
            self._exit(self.broadphase.moving, i, k, sign, False),
        )
        if displacement == INF:
            return INF
        self._set_region(i, k, sign * displacement)
        if self._is_blocked(self.broadphase.still, i) or self._is_blocked(
            self.broadphase.moving, i
        ):
            return INF
        return displacement

    @cython.cfunc
    def _nearest_exit(self, i: cython.Py_ssize_t, k: cython.int, sign: cython.int) -> cython.double:
        """Return how far it is in a direction out of the first that is left behind."""
        self._set_region(i, 0, 0.0)
        return min(
            self._exit(self.broadphase.still, i, k, sign, True),
            self._exit(self.broadphase.moving, i, k, sign, True),
        )

    @cython.cfunc
    def _exit(
        self,
        tree: Tree,
        i: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        nearest: cython.bint,
    ) -> cython.double:
        """Return how far it is past the nearest or the farthest of what a body is inside of.

        It is inf where one of them would be left on its farther side.
        """
        b: Bodies = self.bodies
        m: cython.Py_ssize_t
        displacement: cython.double = INF if nearest else 0.0

        for m in range(tree.touching_one(self.low, self.high)):
            j: cython.Py_ssize_t = tree.found[m]
            if self._holds_back(i, j) and self._is_within(i, j):
                forth: cython.double = (b.centre_of(j, k) + b.half_of(j, k)) - self.low[k]
                back: cython.double = self.high[k] - (b.centre_of(j, k) - b.half_of(j, k))
                if sign < 0:
                    forth, back = back, forth
                displacement = (
                    min(displacement, forth)
                    if nearest
                    else max(displacement, forth if forth <= back else INF)
                )
        return displacement

    @cython.cfunc
    def _is_blocked(self, tree: Tree, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether something that a body is outside of lies within the region of its way."""
        b: Bodies = self.bodies
        m: cython.Py_ssize_t
        k: cython.int

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
