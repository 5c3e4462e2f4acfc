"""What only some bodies have, as columns: filters, friction, one-way sides, carrying faces.

Most worlds have none of it, and most bodies of the others.  The columns are
not there until the first body wants one, and a flag of each body says which
of them are of any interest.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide.motion.controls_c import Controls
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from ecs_collide.motion.controls import Controls

from ecs_collide.constants import CARRY, ONE_WAY, SEPARATES
from ecs_collide.motion.arrays import BYTE, DOUBLE, LONG, grown, zeros

cython.declare(ALL=cython.longlong)
ALL = 2**32 - 1  # as traits.ALL


@cython.final
@cython.cclass
class Surfaces:
    """The columns of one space.

    Sides are codes: k + 1 for the positive direction of axis k, -(k + 1) for the negative one,
    0 for none.

    Attributes
    ----------
    controls : Controls
        Who pushes whom.
    is_used : bool
        Whether any body has ever had any; the columns are empty until then.
    any_carrier : bool
        Whether any body has ever carried others.
    any_pusher : bool
        Whether any body was ever to be pushed out.
    any_separator : bool
        Whether any body was ever a member of a soft crowd.
    any_damping : bool
        Whether the motion of any body was ever damped.
    any_owner : bool
        Whether any body was ever attached to another.
    filters : int64 (n_rows, 3): categories, mask, group
    friction : float64 (n_rows,): -1 for none
    one_way, carries : int8 (n_rows,): sides
    surface : float64 (n_rows, dim): how fast the carrying face moves along itself
    push_out : float64 (n_rows,): how fast it may be pushed out; 0 for not at all
    gravity_scale, damping : float64 (n_rows,): 1 and 0 for none
    separate : float64 (n_rows,): how fast it may be moved out of other members; 0 for not at all
    owner : int64 (n_rows,): in a step, the row of the body it is attached to, counting from 1, or 0
    translation_side : int8 (n_rows,): within a step, the side to which it is pushed out
    """

    def __init__(self, dim: cython.int):
        self.dim = dim
        self.controls = Controls(dim)
        self.n_rows = 1
        self.is_used = False
        self.any_carrier = False
        self.any_pusher = False
        self.any_separator = False
        self.any_damping = False
        self.any_owner = False
        self.filters = zeros(LONG, 1, 3)
        self.friction = zeros(DOUBLE, 1)
        self.one_way = zeros(BYTE, 1)
        self.carries = zeros(BYTE, 1)
        self.surface = zeros(DOUBLE, 1, dim)
        self.push_out = zeros(DOUBLE, 1)
        self.separate = zeros(DOUBLE, 1)
        self.gravity_scale = zeros(DOUBLE, 1)
        self.damping = zeros(DOUBLE, 1)
        self.owner = zeros(LONG, 1)
        self.translation_side = zeros(BYTE, 1)
        self.has = zeros(BYTE, 1)

    def bind(self, table, n_rows: cython.Py_ssize_t):
        """Use the flags of `table`, which have so many rows."""
        has: cython.schar[::1] = table.surfaces

        self.controls.bind(n_rows)
        if self.is_used:
            self._make_room(n_rows)
        self.has = has
        self.n_rows = n_rows

    def use(self):
        """Have columns from now on, in which nobody has anything yet."""
        i: cython.Py_ssize_t

        self._make_room(self.n_rows)
        for i in range(self.n_rows):
            self.clear(i)
        self.is_used = True

    @cython.cfunc
    def _make_room(self, n_rows: cython.Py_ssize_t) -> cython.void:
        filters: cython.longlong[:, ::1] = grown(self.filters, n_rows)
        friction: cython.double[::1] = grown(self.friction, n_rows)
        one_way: cython.schar[::1] = grown(self.one_way, n_rows)
        carries: cython.schar[::1] = grown(self.carries, n_rows)
        surface: cython.double[:, ::1] = grown(self.surface, n_rows)
        push_out: cython.double[::1] = grown(self.push_out, n_rows)
        separate: cython.double[::1] = grown(self.separate, n_rows)
        gravity_scale: cython.double[::1] = grown(self.gravity_scale, n_rows)
        damping: cython.double[::1] = grown(self.damping, n_rows)
        owner: cython.longlong[::1] = grown(self.owner, n_rows)
        translation_side: cython.schar[::1] = grown(self.translation_side, n_rows)

        self.filters = filters
        self.friction = friction
        self.one_way = one_way
        self.carries = carries
        self.surface = surface
        self.push_out = push_out
        self.separate = separate
        self.gravity_scale = gravity_scale
        self.damping = damping
        self.owner = owner
        self.translation_side = translation_side

    @cython.cfunc
    @cython.exceptval(check=False)
    def clear(self, i: cython.Py_ssize_t) -> cython.void:
        """Let a body have none of all this."""
        k: cython.int

        self.filters[i, 0] = 1
        self.filters[i, 1] = ALL
        self.filters[i, 2] = 0
        self.friction[i] = -1.0
        self.one_way[i] = self.carries[i] = 0
        self.push_out[i] = self.separate[i] = self.damping[i] = 0.0
        self.gravity_scale[i] = 1.0
        for k in range(self.dim):
            self.surface[i, k] = 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def may_meet(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether the filters of two bodies let them meet; where the columns are used."""
        f: cython.longlong[:, ::1] = self.filters

        if self.any_owner and self._are_of_one(i, j):
            return False
        if f[i, 2] != 0 and f[i, 2] == f[j, 2]:
            return f[i, 2] > 0
        return (f[i, 0] & f[j, 1]) != 0 and (f[j, 0] & f[i, 1]) != 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _are_of_one(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether one of two bodies is attached to the other, or both to a third."""
        first: cython.longlong = self.owner[i] if self.owner[i] else i + 1
        second: cython.longlong = self.owner[j] if self.owner[j] else j + 1

        return first == second

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_soft(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies are members of soft crowds, and let each other through."""
        return (self.has[i] & self.has[j] & SEPARATES) != 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_one_way(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether one of two bodies is solid on one side only."""
        return ((self.has[i] | self.has[j]) & ONE_WAY) != 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_passable(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.bint:
        """Return whether one of two bodies is not solid on a side of the pair.

        The side is given by the axis and the sign of the normal, which points from j to i.
        """
        if self.has[i] & ONE_WAY and self.one_way[i] != -sign * (k + 1):
            return True
        return (self.has[j] & ONE_WAY) != 0 and self.one_way[j] != sign * (k + 1)

    @cython.cfunc
    @cython.exceptval(check=False)
    def friction_between(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.double:
        """Return the friction of a pair: by its rule, or that of the one that has any."""
        one: cython.double = self.friction[i]
        two: cython.double = self.friction[j]

        if self.controls.is_used:
            return self.controls.friction_between(i, j, one, two)
        if one < 0.0:
            return max(two, 0.0)
        if two < 0.0:
            return one
        return sqrt(one) * sqrt(two)

    @cython.cfunc
    @cython.exceptval(check=False)
    def speed_of_surface(
        self, i: cython.Py_ssize_t, side: cython.int, k: cython.int
    ) -> cython.double:
        """Return how fast the face of a body on a side moves along itself, on an axis."""
        if self.has[i] & CARRY and self.carries[i] == side:
            return self.surface[i, k]
        return 0.0


@cython.cfunc
@cython.exceptval(check=False)
def side_of(normal: cython.double[:, ::1], i: cython.Py_ssize_t) -> cython.int:
    """Return the code of a unit vector along an axis, or 0 if it is none."""
    k: cython.int
    side: cython.int = 0

    for k in range(normal.shape[1]):
        if normal[i, k] == 0.0:
            continue
        if side != 0 or abs(normal[i, k]) != 1.0:
            return 0
        side = k + 1 if normal[i, k] > 0.0 else -(k + 1)
    return side
