"""Make levels of grids: texts, or the cells of a game's own editor or generator."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ecs_collide.levels.cells import Block, Grid, Kind, TileLayer, Tiling, kind_of_body
from ecs_collide.levels.frame import Frame
from ecs_collide.levels.level import Level
from ecs_collide.levels.properties import check_names, checked_categories, is_solid
from ecs_collide.levels.reading import check_numbers
from ecs_collide.levels.things import LevelObject

_LAYER = "grid"
_EMPTY: tuple[Hashable, ...] = (" ", ".", "", 0, None)
_PAST_CHARACTERS = 0x110000  # numbers of symbols that are no characters and no numbers above 0
_PAST_NUMBERS = 2**28


def from_grid(
    rows: Iterable[Any],
    size: float | Sequence[float],
    kinds: Mapping[Any, Mapping[str, Any] | str],
    *,
    merge: bool = True,
    y_down: bool = False,
    categories: Mapping[str, int] | None = None,
    key: str = "",
) -> Level:
    """Return the level of a grid of symbols.

    Parameters
    ----------
    rows : iterable
        The rows from the top: texts, lists of symbols, or a 2D array of numpy.  A symbol is a
        character, a text or a whole number.  Short rows end with empty cells.
    size : float, or sequence of 2 floats
        The side of a square cell, or the width and height of a cell, in world units.
    kinds : mapping
        For each symbol the properties of its cells, as in ``{"#": {"solid": True}, "=": {"one_way":
        True}, "~": {}}``, or a text: the type of an object that fills the cell.  The properties
        are the ones of `ecs_collide.levels.tiled.load`.  The type of a box is its symbol.  Unless
        they are named, `" "`, `"."`, `""`, 0 and None are empty cells.
    merge : bool
        Join cells of the same symbol into few boxes; if false, each is a box.
    y_down : bool
        Whether y grows downwards in the world, from the top of the grid.
    categories : mapping
        The bit, or the bits, of each name that `categories` and `mask` may use.
    key : str
        The name by which snapshots recognise the level.  By default it follows from the cells and
        their properties.  Give one if saves must work with later versions of the grid.

    Returns
    -------
    Level
        Its `set_cell` takes symbols too.  A symbol that is a number above 0 is the number of its
        tile.  A character has its code point, and other symbols have numbers past all code points.

    Raises
    ------
    ValueError
        A cell has a symbol that `kinds` does not have; a property does not exist or has an invalid
        value; `size` is not above 0; or an array does not have 2 dimensions.
    TypeError
        `rows` is one text, or a row, a symbol, `kinds` or `categories` has a wrong type.

    Examples
    --------
    >>> level = from_grid(["..@..", "#####"], 16, {"#": {"solid": True}, "@": "start"})
    >>> [(box.centre, box.half) for box in level.solids]
    [((40.0, 8.0), (40.0, 8.0))]
    >>> [(start.type, start.centre) for start in level.objects]
    [('start', (40.0, 24.0))]
    """
    wide, high = (size, size) if isinstance(size, (int, float)) else size
    check_numbers("a cell", width=wide, height=high)
    if not (wide and high):
        raise ValueError(f"size={size!r} must be above 0")
    cell = (float(wide), float(high))
    numbers, by_number, types = _read_kinds(kinds, checked_categories(categories))
    cells: list[list[int]] = []
    found: list[tuple[str, int, int]] = []  # type, column and row of each object
    drawn = _lists(rows)
    for row, line in enumerate(drawn):
        cells.append([])
        for column, symbol in enumerate(line):
            number = numbers.get(symbol)
            if symbol in types:
                found.append((types[symbol], column, row))
            elif number is None:
                raise ValueError(
                    f"row {row}, column {column} has the symbol {symbol!r}; the known symbols are "
                    f"{[*kinds]}, and {{}} is for cells that make no body"
                )
            cells[row].append(number or 0)
    n_columns = max(map(len, cells), default=0)
    for filled in cells:
        filled += [0] * (n_columns - len(filled))

    def kind(number: int) -> Kind:
        if number not in by_number:
            raise ValueError(f"no symbol has the number {number}; there are {sorted(by_number)}")
        return by_number[number]

    layer = TileLayer(_LAYER, 0, (0.0, 0.0), cell, [Block(0, 0, cells)], kind, numbers)
    grid = Grid((layer,), Frame(len(cells) * cell[1], (0.0, 0.0), y_down), merge)
    tiling = Tiling(grid)
    objects = [
        LevelObject(
            n, "", type_, _LAYER,
            grid.frame.to_world((column + 0.5) * cell[0], (row + 0.5) * cell[1]),
            (cell[0] / 2, cell[1] / 2), {},
        )
        for n, (type_, column, row) in enumerate(found, 1)
    ]  # fmt: skip
    return Level(
        (n_columns * cell[0], grid.frame.height), tiling, tuple(objects), {}, drawn,
        key=key or f"grid {tiling.digest}",
    )  # fmt: skip


def _lists(rows: Iterable[Any]) -> list[list[Hashable]]:
    """Return the symbols of each row, or raise an error."""
    if isinstance(rows, str):
        raise TypeError("rows is one text; give its lines, as text.split() or text.splitlines()")
    if isinstance(rows, np.ndarray):
        if rows.ndim != 2:
            raise ValueError(f"rows is an array of {rows.ndim} dimensions; it must have 2")
        rows = rows.tolist()
    found = []
    for number, row in enumerate(rows):
        if not isinstance(row, Iterable):
            raise TypeError(f"row {number} is {row!r}; it must be a text or a list of symbols")
        found.append([_symbol(each) for each in row])
    return found


def _symbol(value: Any) -> Hashable:
    """Return a symbol without the types of numpy."""
    if value is None:
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    raise TypeError(f"the symbol {value!r} must be a text or a whole number")


def _read_kinds(
    kinds: Mapping[Any, Mapping[str, Any] | str], categories: Mapping[str, int]
) -> tuple[dict[Hashable, int], dict[int, Kind], dict[Hashable, str]]:
    """Return the number of each symbol, the kind of each number, and the types of objects."""
    if not isinstance(kinds, Mapping):
        raise TypeError(f"kinds={kinds!r} must map symbols to properties")
    numbers: dict[Hashable, int] = dict.fromkeys(_EMPTY, 0)
    by_number: dict[int, Kind] = {0: Kind()}
    types: dict[Hashable, str] = {}
    for position, (key, properties) in enumerate(kinds.items()):
        symbol = _symbol(key)
        if isinstance(properties, str):
            types[symbol] = properties
            continue
        owner = f"kinds[{symbol!r}]"
        check_names(properties, owner)
        number = _PAST_CHARACTERS + position
        if isinstance(symbol, int) and 0 < symbol < _PAST_NUMBERS:
            number = symbol
        elif isinstance(symbol, str) and len(symbol) == 1:
            number = ord(symbol)
        if number in by_number:
            raise ValueError(f"{owner} has the number {number}, which another symbol has")
        kind = kind_of_body(str(symbol), dict(properties), owner, categories)
        is_body = is_solid(properties, owner)
        numbers[symbol] = number
        by_number[number] = kind if is_body else Kind(kind.type, kind.properties)
    return numbers, by_number, types
