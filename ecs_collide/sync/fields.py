"""Check the numbers that a system reads before the step, of bodies and of its own components.

The step checks the numbers that it reads.  A system that runs before the step must check the
numbers that it computes with.  A component of an extra, such as `Path`, declares its numbers as
`NumberFields`.  If a number of a body is wrong, the system refuses the body and the step skips it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from ecs_collide._kernel.constants import LARGEST, MOST_PULL
from ecs_collide.components.table import Bounds
from ecs_collide.sync.quarantine import Wrong

Vector3 = tuple[float, float, float]

AMOUNT = Bounds(0.0, MOST_PULL, "must be a finite number, 0 or more, at most 2**100")
LIMIT = AMOUNT._replace(
    text="must be a number, 0 or more, at most 2**100, or inf", may_be_infinite=True
)
SIGNED = Bounds(-MOST_PULL, MOST_PULL, "must be a finite number within -2**100 ... 2**100")

_MISSING = object()


class NumberFields:
    """The numbers of a component of an extra, and their bounds.

    Parameters
    ----------
    component : str
        The name of the component in reports.
    bounds : dict of Bounds
        By name of an attribute.
    """

    def __init__(self, component: str, bounds: Mapping[str, Bounds]) -> None:
        self._component = component
        self.bounds = dict(bounds)
        # With one name, attrgetter would return a number instead of a tuple.
        self._values = attrgetter(*bounds) if len(bounds) > 1 else self._list_values
        self._ranges = [_range_of(each) for each in bounds.values()]

    def find_wrong(self, component: object, *, converts: bool = True) -> Wrong | None:
        """Return the first number out of its bounds, or None.

        Unless `converts` is false, numbers of other types, such as a Decimal, become floats.
        """
        try:
            values = self._values(component)
        except AttributeError:
            return self._find_wrong(component, converts)
        for value, (least, most, limit) in zip(values, self._ranges, strict=True):
            kind = type(value)
            if (kind is not float and kind is not int) or not (
                least <= value <= most or value == limit
            ):
                return self._find_wrong(component, converts)
        return None

    def _list_values(self, component: object) -> list[Any]:
        """Return the numbers of a component."""
        return [getattr(component, name) for name in self.bounds]

    def _find_wrong(self, component: Any, converts: bool) -> Wrong | None:
        """Do the same for values of any type."""
        for name, bounds in self.bounds.items():
            value = getattr(component, name, _MISSING)
            field = f"{self._component}.{name}"
            if value is _MISSING:
                return Wrong(field, None, bounds.text)
            number = as_number(value)
            if number is None or not bounds.allow(number):
                return Wrong(field, value, bounds.text)
            if converts and not isinstance(value, (float, int)):
                setattr(component, name, number)
        return None


def _range_of(bounds: Bounds) -> tuple[float, float, float]:
    """Return a minimum, a maximum and one more number that is surely allowed."""
    if bounds.is_whole:
        return math.inf, -math.inf, math.nan  # `Bounds.allow` is asked about each number
    limit = math.inf if bounds.may_be_infinite else bounds.maximum
    return bounds.minimum, bounds.maximum, limit


def as_number(value: object) -> float | None:
    """Return a value as a float, as a step reads it; None if it is no number."""
    if isinstance(value, (str, bytes, bytearray)):
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return None


def sound_vector(component: Any, dim: int) -> Vector3 | None:
    """Return x, y and z of a `Position`, an `Extents` or a `Velocity`, or None.

    None stands for numbers that the step will report or refuse.  In 2D z is not read, and is 0.
    """
    try:
        x, y, z = component.x, component.y, component.z if dim == 3 else 0.0
    except AttributeError:
        return None
    if not type(x) is type(y) is type(z) is float:
        x, y, z = as_number(x), as_number(y), as_number(z)
        if x is None or y is None or z is None:
            return None
    if -LARGEST <= x <= LARGEST and -LARGEST <= y <= LARGEST and -LARGEST <= z <= LARGEST:
        return x, y, z
    return None


def write_vector(component: Any, now: Sequence[float], dim: int) -> None:
    """Write x, y and in 3D z if they differ, unless one is not finite, as in a far too long step."""
    x, y, z = now
    if not x - x == y - y == z - z == 0.0:
        return
    if x != component.x or y != component.y or (dim == 3 and z != component.z):
        component.x, component.y = x, y
        if dim == 3:
            component.z = z
