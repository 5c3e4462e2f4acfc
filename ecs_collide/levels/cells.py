"""The tiles of a level as its file has them, the bodies that they make, and boxes of equal cells.

Cells are counted as the editors count them: columns to the right, rows downwards, from the top left
corner of their layer.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

from ecs_collide.levels.frame import Frame
from ecs_collide.levels.outlines import Ramp
from ecs_collide.levels.properties import Factory, ramp_in, traits_of
from ecs_collide.levels.reading import check_count, check_place
from ecs_collide.levels.things import SolidBox, turned

FURTHEST = 2**40
"""Columns and rows lie within -FURTHEST ... FURTHEST, where cells next to each other differ."""

REACH = 64
"""Blocks are found by squares of this many cells on a side."""

SQUARE = 8
"""Boxes are found by squares of this many cells on a side."""

Cell = tuple[int, int]
"""Column and row."""

Rectangle = tuple[int, int, int, int]
"""Column and row of its top left cell, number of columns and rows."""

Chunk = tuple[int, int, int]
"""The number of its group, and its column and row, in chunks."""


class Part(NamedTuple):
    """A body that a tile makes in its cell.

    Cells whose parts are equal merge, except ramps.  `key` has the type, and a text that stands for
    the properties.  `shape` is the part of the cell that the body takes, as left, top, right and
    bottom in pixels from the cell's top left corner; None for all of it.
    """

    key: tuple[str, str]
    shape: tuple[float, float, float, float] | None = None
    ramp: Ramp | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of tile in a layer: its type, its properties, and the bodies that it makes.

    `traits` has the properties of each body, and functions that make the components for them.
    """

    type: str = ""
    properties: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    traits: Mapping[Part, tuple[Mapping[str, Any], tuple[Factory, ...]]] = field(
        default_factory=dict
    )


def kind_of_body(
    type: str, properties: Mapping[str, Any], owner: str, categories: Mapping[str, int]
) -> Kind:
    """Return the kind of cells that are filled by a body, or raise a ValueError."""
    key = type, repr(sorted(properties.items()))
    part = Part(key, None, ramp_in(properties, owner))
    traits = traits_of(properties, owner, categories)
    return Kind(type, properties, (part,), {part: (properties, traits)})


class Place(NamedTuple):
    """Where a box lies: one of its tiles, by layer and number, its part of the tile, its cells."""

    layer: int
    number: int
    part: int
    column: int
    row: int
    n_columns: int
    n_rows: int

    @property
    def where(self) -> Rectangle:
        """The cells of the box."""
        return self[3:]

    def covers(self, column: int, row: int) -> bool:
        """Return whether a cell is one of the box."""
        _, _, _, left, top, n_columns, n_rows = self
        return left <= column < left + n_columns and top <= row < top + n_rows


Sheet = tuple[Hashable, Part]
"""The group and the part that boxes must share to merge."""


class Squares:
    """Boxes by the squares of cells in which they lie.

    A box is in squares that are at least as large as it is, so in four at most.  Their sides are
    `size`, and twice, four times, ... as much.  A search near a cell reads one square for each side
    in use.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._by_side: dict[int, dict[Cell, list[int]]] = {}

    def add(self, box: int, place: Place) -> None:
        """Add a box."""
        side = self._side(place)
        squares = self._by_side.setdefault(side, {})
        for square in squares_of(place.where, side):
            squares.setdefault(square, []).append(box)

    def remove(self, box: int, place: Place) -> None:
        """Remove a box, unless its square was popped."""
        side = self._side(place)
        for square in squares_of(place.where, side):
            if square in self._by_side[side]:
                self._by_side[side][square].remove(box)

    def near(self, column: int, row: int) -> Iterator[int]:
        """Yield the boxes that may cover a cell."""
        for side, squares in self._by_side.items():
            yield from squares.get((column // side, row // side), ())

    def pop(self, square: Cell) -> list[int]:
        """Remove the boxes in a square of `size` cells, and return them."""
        return self._by_side.get(self.size, {}).pop(square, [])

    def _side(self, place: Place) -> int:
        side = self.size
        while side < max(place.n_columns, place.n_rows):
            side *= 2
        return side


def squares_of(where: Rectangle, side: int) -> Iterator[Cell]:
    """Yield the squares of `side` cells in which a rectangle lies."""
    left, top, n_columns, n_rows = where
    for x in range(left // side, (left + n_columns - 1) // side + 1):
        for y in range(top // side, (top + n_rows - 1) // side + 1):
            yield x, y


@dataclass(frozen=True, slots=True)
class Block:
    """A rectangle of tiles: a layer, or a chunk of one that is infinite."""

    column: int
    row: int
    rows: list[list[int]]


@dataclass(frozen=True, slots=True)
class TileLayer:
    """A layer of tiles as its file has it.

    Attributes
    ----------
    name : str
    group : hashable
        Equal cells of layers with the same group are in the same boxes.
    corner : tuple of 2 floats
        The top left corner of cell (0, 0), in the map's pixels, downwards.
    cell : tuple of 2 floats
        The size of a cell.
    blocks : list of Block
        Its tiles, by the numbers that the file gives them; 0 for none.
    kind : callable
        Return the `Kind` of a tile by its number, or raise a ValueError.
    symbols : mapping
        The numbers of tiles that have a symbol too.
    """

    name: str
    group: Hashable
    corner: tuple[float, float]
    cell: tuple[float, float]
    blocks: list[Block]
    kind: Callable[[int], Kind]
    symbols: Mapping[Hashable, int] = field(default_factory=dict)
    # The blocks in each square of `REACH` cells, made when they are needed.
    _near: dict[Cell, list[Block]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of columns and rows in a map that is not infinite."""
        rows = self.blocks[0].rows
        return len(rows[0]) if rows else 0, len(rows)

    def blocks_at(self, column: int, row: int) -> Sequence[Block]:
        """Return the blocks near a cell; an infinite map has very many blocks."""
        if not self._near:
            for block in self.blocks:
                n_columns = max(map(len, block.rows), default=0)
                where = block.column, block.row, n_columns, len(block.rows)
                for square in squares_of(where, REACH):
                    self._near.setdefault(square, []).append(block)
        return self._near.get((column // REACH, row // REACH), ())

    def number(self, column: int, row: int) -> int:
        """Return the number of a tile in the file, 0 if there is none."""
        for block in self.blocks_at(column, row):
            y = row - block.row
            if 0 <= y < len(block.rows):
                x = column - block.column
                if 0 <= x < len(block.rows[y]):
                    return block.rows[y][x]
        return 0

    def tiles(self) -> Iterator[tuple[Cell, int]]:
        """Yield all tiles: column and row, and number."""
        for block in self.blocks:
            for row, numbers in enumerate(block.rows, block.row):
                for column, number in enumerate(numbers, block.column):
                    if number:
                        yield (column, row), number

    def tiles_in(self, left: int, top: int, right: int, bottom: int) -> Iterator[tuple[Cell, int]]:
        """Yield the tiles of the columns and rows from the first two to before the last two."""
        squares = squares_of((left, top, right - left, bottom - top), REACH)
        near = (block for x, y in squares for block in self.blocks_at(x * REACH, y * REACH))
        for block in {id(block): block for block in near}.values():
            rows = block.rows[max(top - block.row, 0) : max(bottom - block.row, 0)]
            for row, numbers in enumerate(rows, max(top, block.row)):
                first = max(left - block.column, 0)
                some = numbers[first : max(right - block.column, 0)]
                for column, number in enumerate(some, block.column + first):
                    if number:
                        yield (column, row), number


@dataclass(frozen=True, slots=True)
class Grid:
    """The tile layers of a level, the lowest first, and where its map lies in the world.

    Tiles may be put outside of the layers of a map that is infinite.
    """

    layers: tuple[TileLayer, ...] = ()
    frame: Frame = field(default_factory=Frame)
    merge: bool = True
    is_infinite: bool = False

    @property
    def groups(self) -> list[Hashable]:
        """The groups of the layers, the lowest first."""
        return list(dict.fromkeys(layer.group for layer in self.layers))

    def sheet(self, place: Place) -> Sheet:
        """Return the sheet of a box."""
        layer = self.layers[place.layer]
        return layer.group, layer.kind(place.number).parts[place.part]

    def to_cells(self, layer: TileLayer, x: float, y: float) -> tuple[float, float]:
        """Return how many columns and rows of a layer a point lies from its cell (0, 0)."""
        wide, high = layer.cell
        x, y = self.frame.to_map(x, y)
        return (x - layer.corner[0]) / wide, (y - layer.corner[1]) / high

    def box(self, place: Place) -> SolidBox:
        """Return the box of a place."""
        layer = self.layers[place.layer]
        kind = layer.kind(place.number)
        part = kind.parts[place.part]
        wide, high = layer.cell
        shape = part.shape or (0.0, 0.0, wide, high)
        left = place.column * wide + shape[0]
        right = (place.column + place.n_columns - 1) * wide + shape[2]
        top = place.row * high + shape[1]
        bottom = (place.row + place.n_rows - 1) * high + shape[3]
        half = ((right - left) / 2, (bottom - top) / 2)
        x, y = layer.corner
        centre = self.frame.to_world(x + left + half[0], y + top + half[1])
        properties, traits = kind.traits[part]
        traits = turned(traits) if self.frame.y_down else traits
        box = SolidBox(centre, half, part.key[0], properties, traits)
        check_place(box)
        return box

    def places(
        self, tiles: Iterable[tuple[int, Iterable[tuple[Cell, int]]]], at_most: float = inf
    ) -> Iterator[tuple[Place, Sheet]]:
        """Yield the boxes that tiles make, each with its sheet.

        `tiles` has numbers of layers, each with cells and their numbers.

        Raises
        ------
        ValueError
            The tiles have more than `at_most` bodies before they merge.
        """
        n_parts = 0
        sheets: dict[Sheet, tuple[int, int, int, set[Cell]]] = {}
        for n, some in tiles:
            layer = self.layers[n]
            cells_of: dict[int, list[Cell]] = defaultdict(list)
            for cell, number in some:
                cells_of[number].append(cell)
            for number, cells in cells_of.items():
                parts = layer.kind(number).parts
                n_parts += len(parts) * len(cells)
                so_far = f"with layer {layer.name!r} its tiles have {n_parts} shapes"
                check_count(n_parts, at_most, so_far)
                for n_part, part in enumerate(parts):
                    sheet = layer.group, part
                    sheets.setdefault(sheet, (n, number, n_part, set()))[3].update(cells)
        for sheet, (n, number, n_part, all_cells) in sheets.items():
            for where in rectangles(all_cells, *self.joins(sheet[1], self.layers[n].cell)):
                yield Place(n, number, n_part, *where), sheet

    def joins(self, part: Part, size: tuple[float, float]) -> tuple[bool, bool]:
        """Return whether neighbours in a row, and in a column, form one box."""
        if part.ramp or not self.merge:
            return False, False
        if part.shape is None:
            return True, True
        left, top, right, bottom = part.shape
        return left == 0 and right == size[0], top == 0 and bottom == size[1]


class Tiling:
    """The boxes of a level as its file has them, found by their cells.

    They are numbered, in the same order for the same file.

    Raises
    ------
    ValueError
        The tiles have more than `at_most` bodies before they merge, or lie too far out.
    """

    def __init__(self, grid: Grid, at_most: float = inf) -> None:
        tiles = ((n, layer.tiles()) for n, layer in enumerate(grid.layers))
        self.grid = grid
        self.places = tuple(place for place, _ in grid.places(tiles, at_most))
        self.solids = tuple(map(grid.box, self.places))
        for layer in grid.layers:
            for block in layer.blocks:
                require_near((block.column, block.row), f"layer {layer.name!r} has a tile in")
        self._chunks: dict[int, frozenset[Chunk]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tiling) and self.solids == other.solids

    def near(self, sheet: Sheet, column: int, row: int) -> Iterator[int]:
        """Yield the numbers of the boxes of a sheet that may cover a cell."""
        if sheet in self.squares:
            yield from self.squares[sheet].near(column, row)

    def prepare(self) -> None:
        """Build the indices of tiles and boxes now, and not in the first change of a game."""
        assert self.squares is not None
        for layer in self.grid.layers:
            layer.blocks_at(0, 0)

    @cached_property
    def squares(self) -> dict[Sheet, Squares]:
        """The numbers of the boxes in the squares of each sheet."""
        found: dict[Sheet, Squares] = {}
        known: dict[tuple[int, int, int], Squares] = {}
        for n, place in enumerate(self.places):
            squares = known.get(place[:3])
            if squares is None:
                squares = found.setdefault(self.grid.sheet(place), Squares(SQUARE))
                known[place[:3]] = squares
            squares.add(n, place)
        return found

    @cached_property
    def types(self) -> list[str]:
        """The types of the boxes."""
        return sorted({box.type for box in self.solids})

    @cached_property
    def digest(self) -> str:
        """A text that differs for maps whose boxes may differ in number, order, place or kind."""
        digest = hashlib.blake2b(digest_size=12)
        digest.update(repr((self.grid.frame, self.grid.merge)).encode())
        for layer in self.grid.layers:
            used: set[int] = set()
            digest.update(repr((layer.name, layer.corner, layer.cell)).encode())
            for block in layer.blocks:
                digest.update(repr(block).encode())
                used.update(*block.rows)
            for number in sorted(used - {0}):
                digest.update(repr((number, layer.kind(number).parts)).encode())
        return digest.hexdigest()

    def chunks(self, side: int) -> frozenset[Chunk]:
        """Return the chunks of `side` cells that have tiles."""
        if side not in self._chunks:
            found: set[Chunk] = set()
            groups = self.grid.groups
            for layer in self.grid.layers:
                group = groups.index(layer.group)
                for block in layer.blocks:
                    for row, numbers in enumerate(block.rows, block.row):
                        for x in range(
                            block.column // side, (block.column + len(numbers) - 1) // side + 1
                        ):
                            first = max(x * side - block.column, 0)
                            if any(numbers[first : (x + 1) * side - block.column]):
                                found.add((group, x, row // side))
            self._chunks[side] = frozenset(found)
        return self._chunks[side]


def require_near(cell: Cell, owner: str) -> None:
    """Raise ValueError for a cell that lies too far out."""
    if not all(abs(n) <= FURTHEST for n in cell):
        raise ValueError(f"{owner} cell {cell}; columns and rows must lie within -2**40 ... 2**40")


def rectangles(cells: Iterable[Cell], right: bool = True, down: bool = True) -> Iterator[Rectangle]:
    """Yield rectangles that cover all cells once; `right` and `down` allow them to grow.

    The greedy search goes through the cells row by row from the top.  At each cell not yet taken it
    takes the longest run to the right, and then all equal rows below.  The cost is linear in the
    number of cells, except for sorting them.
    """
    left = set(cells)
    in_order = sorted(left, key=lambda cell: (cell[1], cell[0]))
    if not (right or down):
        yield from ((column, row, 1, 1) for column, row in in_order)
        return
    for column, row in in_order:
        if (column, row) not in left:
            continue
        n_columns = n_rows = 1
        while right and (column + n_columns, row) in left:
            n_columns += 1
        run = range(column, column + n_columns)
        while down and all((x, row + n_rows) in left for x in run):
            n_rows += 1
        left.difference_update((x, y) for x in run for y in range(row, row + n_rows))
        yield column, row, n_columns, n_rows


def cut(where: Rectangle, gone: Iterable[Cell], right: bool, down: bool) -> Iterator[Rectangle]:
    """Yield rectangles for a rectangle without some of its cells.

    Whole rows above and below these cells stay together, then whole columns beside them, so that
    the cost is linear in the area between these cells, not in the area of the rectangle.
    """
    column, row, n_columns, n_rows = where
    gone = set(gone)
    left, top = min(x for x, _ in gone), min(y for _, y in gone)
    past, below = max(x for x, _ in gone) + 1, max(y for _, y in gone) + 1
    bands = (
        (column, row, n_columns, top - row),
        (column, below, n_columns, row + n_rows - below),
        (column, top, left - column, below - top),
        (past, top, column + n_columns - past, below - top),
    )
    yield from (band for band in bands if band[2] > 0 and band[3] > 0)
    inner = {(x, y) for x in range(left, past) for y in range(top, below)} - gone
    yield from rectangles(inner, right, down)
