"""Errors, checks and boxes of cells, shared by the readers of Tiled and LDtk."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ecs_collide._kernel.constants import LARGEST
from ecs_collide.levels.level import SolidBox, Thing

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


def solid_boxes(
    cells: set[tuple[int, int]],
    merge: bool,
    cell: tuple[float, float],
    corner: tuple[float, float],
    height: float,
    *what: Any,
) -> Iterator[SolidBox]:
    """Yield the boxes of cells, given by column and row, checked; `merge` joins neighbours.

    `cell` is the size of a cell, `corner` the top left corner of the grid with y downwards, and
    `height` the height of the map.  Each box has the type, the properties and the traits of `what`.
    """
    for column, row, n_columns, n_rows in (_rectangles if merge else _singles)(cells):
        half = (n_columns * cell[0] / 2, n_rows * cell[1] / 2)
        across = corner[0] + column * cell[0] + half[0]
        down = corner[1] + row * cell[1] + half[1]
        box = SolidBox((across, height - down), half, *what)
        check_place(box)
        yield box


def _singles(cells: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Yield every cell as a rectangle: column, row, number of columns and rows."""
    for row, column in sorted((row, column) for column, row in cells):
        yield column, row, 1, 1


def _rectangles(cells: set[tuple[int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Yield rectangles that cover all cells once: column, row, number of columns and rows.

    The greedy search goes through the cells row by row from the top; at each cell not yet taken it
    takes the longest run to the right and then as many equal rows below as there are.  The cost is
    linear in the number of cells, except for sorting them.
    """
    left = set(cells)
    for column, row, _, _ in _singles(cells):
        if (column, row) not in left:
            continue
        n_columns = n_rows = 1
        while (column + n_columns, row) in left:
            n_columns += 1
        run = range(column, column + n_columns)
        while all((x, row + n_rows) in left for x in run):
            n_rows += 1
        left.difference_update((x, y) for x in run for y in range(row, row + n_rows))
        yield column, row, n_columns, n_rows
