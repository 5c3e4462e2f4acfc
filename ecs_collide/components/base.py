"""The base class of components, checks of their numbers, and enums of text."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from enum import StrEnum
from types import FunctionType
from typing import ClassVar

LARGEST_FLOAT = sys.float_info.max
ABOVE_ZERO = math.ulp(0.0)  # the least float above 0
MOST_SHOWN = 80  # letters of a value that an error shows


class Component:
    """The base class of components, with equality and repr by the constructor's arguments."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({shown})"


def copy_methods(cls: type, base: type, *names: str) -> None:
    """Copy functions of a private base into a class, under the class's name.

    Python's errors then name the class: "Position.__init__() missing 1 required positional
    argument: 'y'".
    """
    for name in names:
        function = vars(base)[name]
        own = FunctionType(function.__code__, function.__globals__, name, function.__defaults__)
        own.__annotations__, own.__doc__ = function.__annotations__, function.__doc__
        own.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, own)


def shown(value: object) -> str:
    """Return the repr of a value for an error; Python refuses that of ints of many digits."""
    try:
        text = repr(value)
    except ValueError:
        return f"{type(value).__name__} of too many digits"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def as_float(owner: type, name: str, value: object) -> float:
    """Return a number as a float; raise TypeError for text and anything without a float value."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"{owner.__name__}({name}={shown(value)}) must be a number, not text")
    try:
        return float(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{owner.__name__}({name}={shown(value)}) must be a number") from None
    except OverflowError:
        return math.inf  # the caller refuses it, like other numbers that are not finite


def as_bounded(
    owner: type, name: str, value: object, minimum: float, maximum: float, rule: str
) -> float:
    """Return a number within its bounds as a float, or raise an error."""
    number = as_float(owner, name, value)
    if not minimum <= number <= maximum:  # NaN is refused too
        raise ValueError(f"{owner.__name__}({name}={shown(value)}) {rule}")
    return number


def as_whole(owner: type, name: str, value: object, minimum: int, maximum: int, rule: str) -> int:
    """Return a whole number within its bounds as an int, or raise an error."""
    if isinstance(value, (str, bytes, bytearray, float)):
        raise TypeError(f"{owner.__name__}({name}={shown(value)}) must be a whole number")
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise TypeError(f"{owner.__name__}({name}={shown(value)}) must be a whole number") from None
    if not minimum <= number <= maximum:
        raise ValueError(f"{owner.__name__}({name}={shown(value)}) {rule}")
    return int(number)


def as_vector(owner: type, name: str, value: Iterable[float]) -> tuple[float, float, float]:
    """Return two or three finite numbers as three, or raise an error."""
    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Iterable):
        raise TypeError(
            f"{owner.__name__}({name}={shown(value)}) must be a vector of two or three numbers, "
            f"such as {name}=(1, 0)"
        )
    numbers = [as_float(owner, name, part) for part in value]
    if len(numbers) not in (2, 3) or not all(map(math.isfinite, numbers)):
        raise ValueError(
            f"{owner.__name__}({name}={shown(value)}) must be two numbers, in 3D three, all finite"
        )
    x, y, z = (*numbers, 0.0)[:3]
    return x, y, z


class NamedText(StrEnum):
    """An enum of text whose members print as their names, in `print`, `str`, ``%s`` and f-strings.

    They remain strings that equal their values.
    """

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)
