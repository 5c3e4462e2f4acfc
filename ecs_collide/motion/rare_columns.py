"""The columns that only some bodies need: filters, friction, one-way sides, carrying faces.

They are not read until the first body needs one, and the column `traits` marks which of
them each body uses.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.constants import ALL, OF_SPACE, Trait
from ecs_collide.motion.controls import Controls

# The numbers of a row of `RareColumns.filters`.
CATEGORIES = 0
MASK = 1
GROUP = 2
CATEGORY: cython.longlong = 1  # of bodies without a `Filter`


@cython.final
class RareColumns:
    """The columns of `Bodies` that only some bodies need, and the rules that read them.

    `motion.columns` lists them.  Sides are codes: k + 1 for the positive direction of axis k,
    -(k + 1) for the negative one, 0 for none.
    """

    dim: cython.int
    controls: ReadOnly[Controls]
    # whether any body has ever needed them; the columns are not valid until then
    is_used: ReadOnly[cython.bint]
    any_carrier: Public[cython.bint]  # whether any body has ever carried others
    any_friction: Public[cython.bint]  # whether any body has ever had friction above 0
    any_pusher: Public[cython.bint]  # whether any body has ever had a `PushOut`
    any_separator: Public[cython.bint]  # whether any body was ever a member of a soft crowd
    any_acceleration: Public[cython.bint]  # whether any body has ever had an `Acceleration`
    any_damping: Public[cython.bint]  # whether the motion of any body was ever damped
    # whether any body was ever attached to another; `owner` is not valid until then
    any_owner: Public[cython.bint]
    any_slope: Public[cython.bint]  # whether any body ever had a `Slope`
    # with the bits inverted that a body without a `Filter` has: `CATEGORY`, and `ALL` in its mask
    filters: Public[cython.longlong[:, ::1]]
    surface: Public[cython.double[:, ::1]]
    acceleration: Public[cython.double[:, ::1]]
    # the columns of floats that `components.table` declares
    friction: Public[cython.double[::1]]
    push_out: Public[cython.double[::1]]
    separate: Public[cython.double[::1]]
    gravity_scale: Public[cython.double[::1]]
    damping: Public[cython.double[::1]]
    one_way: Public[cython.schar[::1]]
    carries: Public[cython.schar[::1]]
    translation_side: Public[cython.schar[::1]]
    storey: Public[cython.schar[::1]]
    slope: Public[cython.schar[::1]]
    slope_top: Public[cython.schar[::1]]
    slope_low: Public[cython.double[::1]]
    slope_high: Public[cython.double[::1]]
    owner: Public[cython.longlong[::1]]
    bits: cython.short[::1]  # (capacity,): the column `traits`

    def __init__(self, dim: cython.int):
        self.dim = dim
        self.controls = Controls(dim)

    def use(self):
        """Start to use the columns.

        Rows of bodies without any bit hold zeros and take no memory.
        """
        self.is_used = True

    def clear_owners(self) -> cython.void:
        """Detach all bodies."""
        for i in range(self.owner.shape[0]):
            self.owner[i] = -1

    def clear(self, i: cython.Py_ssize_t) -> cython.void:
        """Make a body a box that is solid on all sides, without carrying face or acceleration."""
        self.one_way[i] = self.carries[i] = self.slope[i] = 0
        for k in range(self.dim):
            self.surface[i, k] = self.acceleration[i, k] = 0.0

    @cython.ccall
    def shape(
        self,
        i: cython.Py_ssize_t,
        rise: cython.double[:, ::1],
        heights: cython.double[:, ::1],
        up: cython.int,
    ) -> cython.int:
        """Give a body the shape of its `Slope`, or of a box if the numbers make no slope.

        Parameters
        ----------
        i : int
            The row, also in `rise` (n, dim) and in `heights` (n, 3): low, high, ceiling.
        rise, heights : float64
        up : int
            The side along which the heights count.
        """
        side: cython.int = side_of(rise, i)
        low: cython.double = heights[i, 0]
        high: cython.double = heights[i, 1]

        if heights[i, 2] == 1.0:  # a ceiling is a floor upside down
            side, up = -side, -up
            low, high = 1.0 - high, 1.0 - low
        if abs(side) == abs(up) or not 0.0 <= low < high <= 1.0:
            side = 0
        self.slope[i] = side
        self.slope_top[i] = up
        self.slope_low[i] = low
        self.slope_high[i] = high
        self.any_slope |= side != 0
        return 0

    @cython.ccall
    def side(
        self, normal: cython.double[:, ::1], i: cython.Py_ssize_t, up: cython.int
    ) -> cython.int:
        """Return the side to which a normal points, `up` for the default one; 0 if it is not valid."""
        for k in range(self.dim):
            if normal[i, k] != OF_SPACE:
                return side_of(normal, i)
        return up

    def may_meet(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether the filters of two bodies let them meet; requires `is_used`."""
        group: cython.longlong = self.filters[i, GROUP]

        if self.any_owner and self._are_of_one(i, j):
            return False
        if group != 0 and group == self.filters[j, GROUP]:
            return group > 0
        return self._accepts(i, j) and self._accepts(j, i)

    def _accepts(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether the mask of a body has a category of another one."""
        f: cython.longlong[:, ::1] = self.filters

        return ((f[i, MASK] ^ ALL) & (f[j, CATEGORIES] ^ CATEGORY)) != 0

    def _are_of_one(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether one body is attached to the other, or both to a third."""
        first: cython.longlong = self.owner[i] if self.owner[i] >= 0 else i
        second: cython.longlong = self.owner[j] if self.owner[j] >= 0 else j

        return first == second

    @cython.inline
    def is_soft(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies are members of soft crowds, which pass through each other."""
        return (self.bits[i] & self.bits[j] & Trait.SEPARATE) != 0

    def friction_between(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.double:
        """Return the friction of a pair of bodies."""
        one: cython.double = self.friction[i] if self.bits[i] else -1.0
        other: cython.double = self.friction[j] if self.bits[j] else -1.0

        return self.controls.friction_between(i, j, one, other)

    def acceleration_by(
        self, gravity: cython.double, i: cython.Py_ssize_t, k: cython.int
    ) -> cython.double:
        """Return the acceleration of a body on an axis, by a gravity and by itself."""
        if not self.is_used:
            return gravity
        scale: cython.double = self.gravity_scale[i] if self.bits[i] else 1.0

        return gravity * scale + self.acceleration[i, k]


def side_of(normal: cython.double[:, ::1], i: cython.Py_ssize_t) -> cython.int:
    """Return the code of a unit vector along an axis, or 0 for any other vector."""
    k: cython.int
    side: cython.int = 0

    for k in range(normal.shape[1]):
        if normal[i, k] == 0.0:
            continue
        if side != 0 or abs(normal[i, k]) != 1.0:
            return 0
        side = k + 1 if normal[i, k] > 0.0 else -(k + 1)
    return side
