"""Errors and checks, shared by the readers of Tiled and LDtk."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ecs_collide._kernel.constants import LARGEST
from ecs_collide.levels.things import Thing

NESTED = "its parts are nested too deep; some hundred levels can be read"
"""The error text for a file that leads to a RecursionError."""


@contextmanager
def refuse_damage(path: Path, kind: str, named: str = "") -> Iterator[None]:
    """Turn any error that a damaged file leads to into a ValueError that names the file.

    `kind` is "map that Tiled", for example; `named` says which level names the file.
    """
    try:
        yield
    except (
        LookupError, TypeError, AttributeError, ArithmeticError, ValueError, RecursionError
    ) as error:  # fmt: skip
        if type(error) is ValueError:  # not one of JSON or of UTF-8
            raise ValueError(f"{path}{named}: {error}") from error
        what = NESTED if isinstance(error, RecursionError) else repr(error)
        raise ValueError(f"{path} is no {kind} has saved{named}: {what}") from error


def check_numbers(owner: str, **numbers: object) -> None:
    """Raise ValueError for positions, angles and sizes that are not finite, or sizes below 0."""
    for name, value in numbers.items():
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ValueError(f"{owner} has {name}={value!r}; it must be a finite number")
        if value < 0 and name in ("width", "height"):
            raise ValueError(f"{owner} has {name}={value!r}; it must be zero or more")


def check_place(thing: Thing) -> None:
    """Raise ValueError for a box that lies too far out for a body."""
    for name, numbers in (("centre", thing.centre), ("half size", thing.half)):
        for number in numbers:
            if not abs(number) <= LARGEST:  # not so for nan
                raise ValueError(
                    f"{thing} has the {name} {numbers}; it must be finite and within "
                    "-2**500 ... 2**500"
                )
