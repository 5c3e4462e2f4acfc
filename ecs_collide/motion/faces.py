"""The velocity of a face: of its body, of its growth, and of its belt.

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


def face_velocity(
    b: Bodies, i: cython.Py_ssize_t, side: cython.int, slants: cython.bint, k: cython.int
) -> cython.double:
    """Return the velocity on an axis of the face on a side of body i.

    `slants` states that the face is the line of a slope.
    """
    velocity: cython.double = b.velocity_met(i, k) + belt_velocity(b, i, side, slants, k)

    if k == abs(side) - 1:
        velocity += b.growth_of(i, k) if side > 0 else -b.growth_of(i, k)
    return velocity


def overlap(
    one: cython.double, half: cython.double, other: cython.double, other_half: cython.double
) -> cython.double:
    """Return the width that two boxes share on an axis, by their centres and half sizes, or 0."""
    high: cython.double = min(one + half, other + other_half)

    return max(0.0, high - max(one - half, other - other_half))


def belt_velocity(
    b: Bodies, i: cython.Py_ssize_t, side: cython.int, slants: cython.bint, k: cython.int
) -> cython.double:
    """Return the velocity on an axis of a face along itself; 0 if it does not carry."""
    t: RareColumns = b.rare

    if not (t.bits[i] & Trait.CARRY and t.carries[i] == side):
        return 0.0
    return _along_line(b, i, k) if slants else t.surface[i, k]


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
