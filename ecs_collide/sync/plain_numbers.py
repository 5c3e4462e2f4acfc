"""Numbers of components as kernels read them, and whole numbers of widths.

`sync.fields` has what needs more than plain floats and ints, such as messages and Decimals.
"""

from __future__ import annotations

from math import floor, fmod
from typing import Any

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import LARGEST, MOST_PULL
from ecs_collide.sync.fields import sound_vector


def read_vector(component: Any, dim: cython.int, numbers: cython.p_double) -> cython.bint:
    """Read the numbers of a `Position` or a `Velocity`; return whether they are sound."""
    x: Any = getattr(component, "x", None)
    y: Any = getattr(component, "y", None)
    z: Any = getattr(component, "z", None) if dim == 3 else 0.0
    fine: cython.bint = True

    if not (type(x) is float and type(y) is float and type(z) is float):
        sound: Any = sound_vector(component, dim)
        if sound is None:
            return False
        x, y, z = sound
    numbers[0] = x
    numbers[1] = y
    numbers[2] = z
    for k in range(3):
        fine &= -LARGEST <= numbers[k] <= LARGEST
    return fine


def is_amount(value: Any) -> cython.bint:
    """Return whether a value is a plain number, 0 or more, at most 2**100."""
    return (type(value) is float or type(value) is int) and 0.0 <= value <= MOST_PULL


def is_signed(value: Any) -> cython.bint:
    """Return whether a value is a plain number within -2**100 and 2**100."""
    return (type(value) is float or type(value) is int) and -MOST_PULL <= value <= MOST_PULL


def nearest(number: cython.double) -> cython.double:
    """Return the nearest whole number, of two the even one."""
    below: cython.double = floor(number)
    more: cython.double = number - below

    if more > 0.5 or (more == 0.5 and fmod(below, 2.0) != 0.0):
        below += 1.0
    return below + 0.0  # never -0.0


def nearest_widths(distance: cython.double, width: cython.double) -> cython.double:
    """Return the whole widths of a ring nearest to a distance along it; 0 if `width` is 0."""
    return width * nearest(distance / width) if width > 0.0 else 0.0
