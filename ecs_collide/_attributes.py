"""The numbers of a game's own components by name: attributes, and parts of vectors in them.

A name is an attribute, as ``"x"``; or an attribute that holds a vector and a part of it, as
``"pos.x"`` or ``"pos[0]"``.
"""

from __future__ import annotations

import re
from typing import Any

from ecs_collide.constants import AXES

_PART = re.compile(r"([^\W\d]\w*)(?:\.([^\W\d]\w*)|\[([012])\])")
_REQUIRED: Any = object()


class _Part:
    """A number of a vector that an attribute holds."""

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
        except (TypeError, AttributeError):  # a vector that cannot change: another one comes
            numbers = list(vector)
            numbers[self.key if isinstance(self.key, int) else AXES.index(self.key)] = number
            kind = type(vector)
            setattr(component, self.attribute, kind(numbers) if kind is tuple else kind(*numbers))
        if float(self.read(component)) != number:  # a float32 equals what it was made of
            raise TypeError(
                f"{type(component).__name__}.{self.name} was set to {number!r} and is "
                f"{self.read(component)!r}: a vector must hold 64-bit floats"
            )


_KNOWN_PARTS: dict[str, _Part] = {}


def is_name(name: object) -> bool:
    """Return whether something names a number; what names a part of a vector is kept for it."""
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
    """Return the attribute and the part of its vector that a name names, None for an attribute."""
    part = _KNOWN_PARTS.get(name)
    return None if part is None else (part.attribute, part.key)


def read_number(component: object, name: str, default: Any = _REQUIRED) -> Any:
    """Return the number of a component by its name, or a default without one."""
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


def write_number(component: object, name: str, number: float) -> None:
    """Set the number of a component by its name."""
    part = _KNOWN_PARTS.get(name)
    if part is None:
        setattr(component, name, number)
    else:
        part.write(component, number)
