"""The sides of a body as numbers, and the velocity of a side: of its body, its growth and its belt.

Side k + 1 is the higher face on axis k, and -(k + 1) the lower one.  The line of a slope has `LINE`
added to the number of the face that it cuts off, without its sign: the line of a floor in 2D is 6,
above face 2, and that of a ceiling -6.

Whoever stands on a body, or leans against it, meets a face.  Along its normal, a face moves with
the body and with its growth.  Along itself, it moves with the body and with `Carry.surface`, its
belt.  The belt of a slope keeps its speed and runs along the line, up or down as the surface
velocity does.
"""

from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import Trait
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.rare_columns import RareColumns

LINE = 4  # the bit of a side that is the line of a slope


@cython.inline
def side_of_normal(axis: cython.int, sign: cython.int) -> cython.int:
    """Return the side that has a normal; the sign is 2 or -2 for the normal of a line."""
    side: cython.int = axis + 1 + LINE * (abs(sign) - 1)

    return side if sign > 0 else -side


@cython.inline
def face_of_normal(axis: cython.int, sign: cython.int) -> cython.int:
    """Return the face that has a normal, or 0 for the normal of a line."""
    return (axis + 1) * sign * (2 - abs(sign))


@cython.inline
def is_line(side: cython.int) -> cython.bint:
    """Return whether a side is the line of a slope."""
    return abs(side) > LINE


@cython.inline
def axis_of(side: cython.int) -> cython.int:
    """Return the axis of the face that a side is, or of the one that its line cuts off."""
    return (abs(side) & ~LINE) - 1


@cython.inline
def face_of(side: cython.int) -> cython.int:
    """Return the face that a side is, or that its line cuts off."""
    return axis_of(side) + 1 if side > 0 else -axis_of(side) - 1


@cython.inline
def leads_along(side: cython.int, k: cython.int) -> cython.bint:
    """Return whether a body that moves along a side may move on an axis; True for any of a line."""
    return k != abs(side) - 1


def face_velocity(
    b: Bodies, i: cython.Py_ssize_t, side: cython.int, k: cython.int
) -> cython.double:
    """Return the velocity on an axis of a side of body i."""
    velocity: cython.double = b.velocity_met(i, k) + belt_velocity(b, i, side, k)

    if k == axis_of(side):
        velocity += b.growth_of(i, k) if side > 0 else -b.growth_of(i, k)
    return velocity


def overlap(
    one: cython.double, half: cython.double, other: cython.double, other_half: cython.double
) -> cython.double:
    """Return the width that two boxes share on an axis, by their centres and half sizes, or 0."""
    high: cython.double = min(one + half, other + other_half)

    return max(0.0, high - max(one - half, other - other_half))


def belt_velocity(
    b: Bodies, i: cython.Py_ssize_t, side: cython.int, k: cython.int
) -> cython.double:
    """Return the velocity on an axis of a side along itself; 0 if it does not carry."""
    t: RareColumns = b.rare

    if not (t.bits[i] & Trait.CARRY and t.carries[i] == face_of(side)):
        return 0.0
    return t.surface[i, k] if side == t.carries[i] else _along_line(b, i, k)


def _along_line(b: Bodies, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
    """Return the velocity on an axis of the belt of a slope."""
    t: RareColumns = b.rare
    run: cython.int = abs(t.slope[i]) - 1
    up: cython.int = abs(t.slope_top[i]) - 1
    rise: cython.double = (b.half[i, up] / b.half[i, run]) * (t.slope_high[i] - t.slope_low[i])

    if (t.slope[i] > 0) != (t.slope_top[i] > 0):
        rise = -rise
    if k != run and k != up:
        return t.surface[i, k]
    along: cython.double = t.surface[i, run] / sqrt(1.0 + rise * rise)
    return along if k == run else along * rise
