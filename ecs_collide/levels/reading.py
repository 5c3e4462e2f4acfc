"""Errors and checks, shared by the readers of Tiled and LDtk."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ecs_collide.extend import LARGEST
from ecs_collide.levels.things import Thing


class DamageError(ValueError):
    """An error in a file that its program cannot have saved."""


DAMAGE = (
    LookupError, TypeError, AttributeError, ArithmeticError, ValueError, RecursionError
)  # fmt: skip
"""The errors that a damaged file can lead to."""


@contextmanager
def refuse_damage(path: Path, kind: str, named: str = "") -> Iterator[None]:
    """Turn any error that a damaged file leads to into a ValueError that names the file.

    `kind` is "map that Tiled", for example; `named` says which level names the file.
    """
    try:
        yield
    except DAMAGE as error:
        if type(error) is ValueError and str(path) in str(error) and named in str(error):
            raise  # it comes from a file that this one names
        if type(error) is ValueError:  # not one of JSON or of UTF-8
            raise ValueError(f"{path}{named}: {error}") from error
        raise ValueError(f"{path} is no {kind} has saved{named}: {_stated(error)}") from error


@contextmanager
def refuse_part(called: str) -> Iterator[None]:
    """Turn any error that a damaged part leads to into a ValueError that names the part."""
    try:
        yield
    except DAMAGE as error:
        if type(error) is ValueError and str(error).startswith(called):
            raise
        raise ValueError(f"{called} cannot be read: {_stated(error)}") from error


def _stated(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "its parts are nested too deep; some hundred levels can be read"
    return str(error) if type(error) in (ValueError, DamageError) else repr(error)


def check_numbers(owner: str, **numbers: object) -> None:
    """Raise ValueError for positions, angles and sizes that are not finite, or sizes below 0."""
    for name, value in numbers.items():
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ValueError(f"{owner} has {name}={value!r}; it must be a finite number")
        if value < 0 and name in ("width", "height"):
            raise ValueError(f"{owner} has {name}={value!r}; it must be zero or more")


def check_count(n: int, max_tiles: float, so_far: str) -> None:
    """Raise ValueError for more tiles or shapes than a map may have."""
    if n > max_tiles:
        raise ValueError(
            f"{so_far}, more than max_tiles={max_tiles}; load(..., max_tiles=) allows another "
            "number"
        )


def check_place(thing: Thing) -> None:
    """Raise ValueError for a box that lies too far out for a body."""
    for name, numbers in (("centre", thing.centre), ("half size", thing.half)):
        for number in numbers:
            if not abs(number) <= LARGEST:  # not so for nan
                raise ValueError(
                    f"{thing} has the {name} {numbers}; it must be finite and within "
                    "-2**500 ... 2**500"
                )
