"""The numbers of custom components by name: attributes, and parts of vectors in them.

A name is an attribute, such as ``"x"``, or a part of a vector that an attribute holds, such as
``"pos.x"`` or ``"pos[0]"``.

Some attributes round the numbers that are written.  A pygame `Rect` holds whole numbers, an `FRect`
and an array of float32 hold 32-bit floats.  So each number is read back after it was written.  If
it was rounded, `ROUNDED` stores the exact number, which is valid as long as the attribute has the
value that was read back.
"""

from __future__ import annotations

import re
import weakref
from types import MemberDescriptorType
from typing import Any

from ecs_collide._kernel.constants import AXES

_PART = re.compile(r"([^\W\d]\w*)(?:\.([^\W\d]\w*)|\[([012])\])")
_REQUIRED: Any = object()


class _Part:
    """A part of a vector that an attribute holds."""

    def __init__(self, name: str, attribute: str, key: str | int) -> None:
        self.name = name
        self.attribute = attribute
        self.key = key

    def read(self, component: object) -> Any:
        vector = getattr(component, self.attribute)
        try:
            return vector[self.key] if isinstance(self.key, int) else getattr(vector, self.key)
        except (IndexError, KeyError, TypeError, AttributeError):
            raise AttributeError(
                f"{type(component).__name__!r} object has no {self.name!r}: its "
                f"{self.attribute!r} is {vector!r}"
            ) from None

    def write(self, component: Any, number: float) -> None:
        vector: Any = getattr(component, self.attribute)
        try:
            if isinstance(self.key, int):
                vector[self.key] = number
            else:
                setattr(vector, self.key, number)
        except (TypeError, AttributeError):  # an immutable vector is replaced
            numbers = list(vector)
            numbers[self.key if isinstance(self.key, int) else AXES.index(self.key)] = number
            kind = type(vector)
            setattr(component, self.attribute, kind(numbers) if kind is tuple else kind(*numbers))


_KNOWN_PARTS: dict[str, _Part] = {}


def is_name(name: object) -> bool:
    """Return whether something names a number; parts of vectors are cached by their name."""
    if not isinstance(name, str):
        return False
    if name.isidentifier():
        return True
    found = _PART.fullmatch(name)
    if found is not None:
        attribute, part, index = found.groups()
        _KNOWN_PARTS[name] = _Part(name, attribute, part if index is None else int(index))
    return found is not None


def part_of(name: str) -> tuple[str, str | int] | None:
    """Return the attribute and the key of a part of a vector; None if the name has no part."""
    part = _KNOWN_PARTS.get(name)
    return None if part is None else (part.attribute, part.key)


def read_number(component: object, name: str, default: Any = _REQUIRED) -> Any:
    """Return the number of a component by its name, or a default if it is missing."""
    value = _read(component, name, default)
    return exact_number(component, name, value) if ROUNDED else value


def _read(component: object, name: str, default: Any = _REQUIRED) -> Any:
    """Return the raw value of an attribute or a part of a vector."""
    part = _KNOWN_PARTS.get(name)
    if part is None:
        return (
            getattr(component, name) if default is _REQUIRED else getattr(component, name, default)
        )
    if default is _REQUIRED:
        return part.read(component)
    try:
        return part.read(component)
    except AttributeError:
        return default


def write_number(component: Any, name: str, number: float) -> None:
    """Set the number of a component by its name; store the exact number if the component rounds it.

    Raises
    ------
    TypeError
        The vector changed the number, or the component rounds and allows no weak reference.
    """
    part = _KNOWN_PARTS.get(name)
    if part is None:
        setattr(component, name, number)
    else:
        part.write(component, number)
    there = float(_read(component, name))
    if there != number and is_rounding(there, number):
        keep_exact(component, name, there, number)
        return
    forget_exact(component, name)
    if part is not None and there != number and number == number:
        raise TypeError(
            f"{type(component).__name__}.{name} was set to {number!r} and is {there!r}: "
            "a vector must hold the written number, exactly or rounded by less than 1"
        )


# -- attributes that round --

ROUNDED: dict[int, tuple[weakref.ref[Any], dict[str, tuple[float, float]]]] = {}
"""By id of a component: a reference, and by name the rounded value and the exact number."""

_ROUNDING = 2.0**-23  # relative; above the rounding error of a float32


def keeps_numbers(kind: Any, name: str) -> bool:
    """Return whether an attribute of exactly this type stores each number unchanged."""
    if (
        name in _KNOWN_PARTS
        or kind.__setattr__ is not object.__setattr__
        or kind.__getattribute__ is not object.__getattribute__
    ):
        return False
    for base in kind.__mro__:
        found = vars(base).get(name)
        if type(found) is MemberDescriptorType:
            slots = vars(base).get("__slots__", ())  # a member of a C struct is not listed
            return name == slots or (not isinstance(slots, str) and name in slots)
        if found is not None:
            return not hasattr(type(found), "__set__")
    return True


def is_rounding(there: float, number: float) -> bool:
    """Return whether `there` may be `number` rounded to a whole number or a float32."""
    return abs(there - number) < max(1.0, _ROUNDING * abs(number))


def exact_number(component: object, name: str, value: Any) -> Any:
    """Return the exact number of an attribute, or its value if no valid one is known."""
    known = ROUNDED.get(id(component))
    if known is None or name not in known[1] or isinstance(value, str):
        return value
    there, number = known[1][name]
    try:
        return number if float(value) == there else value
    except (TypeError, ValueError, OverflowError):  # the caller reports a wrong value
        return value


def taken_number(component: object, name: str, value: Any) -> Any:
    """Return `exact_number`, and forget it if the game has set the attribute since."""
    number = exact_number(component, name, value)
    if number is value:
        forget_exact(component, name)
    return number


def forget_exact(component: object, name: str) -> None:
    """Remove the exact number of an attribute."""
    known = ROUNDED.get(id(component))
    if known is not None:
        known[1].pop(name, None)


def exact_numbers(component: object) -> dict[str, tuple[float, float]]:
    """Return the rounded value and the exact number of each rounded attribute, by name."""
    known = ROUNDED.get(id(component))
    return {} if known is None else known[1]


def keep_exact(component: object, name: str, there: float, number: float) -> None:
    """Store the exact number of a rounded attribute, as long as the component exists."""
    key = id(component)
    known = ROUNDED.get(key)
    if known is None:
        try:
            reference = weakref.ref(component, lambda _: ROUNDED.pop(key, None))
        except TypeError:
            kind = type(component).__name__
            raise TypeError(
                f"{kind}.{name} was set to {number!r} and is {there!r}: to keep the exact number, "
                f'the space needs a weak reference to the {kind}; add "__weakref__" to its '
                "__slots__"
            ) from None
        known = ROUNDED[key] = reference, {}
    known[1][name] = there, number
