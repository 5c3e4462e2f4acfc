"""Tiles that change while the game runs.

A change rebuilds only the boxes that it touches.  The state is one component, `Cells`, of a
separate entity, so snapshots hold it.  It has the tiles that differ from the level's file, and
where each box of tiles lies.  It appears with the first change, or with the first chunk that is
loaded.  A level that never changes has none.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import esper

from ecs_collide.components.basics import Extents, Fixed, Position
from ecs_collide.levels.cells import Cell, Grid, Part, Place, Rectangle, TileLayer, cut, rectangles
from ecs_collide.levels.things import Entry, SolidBox, made_for_tiles

_HEAD = struct.Struct("<iiii")  # numbers of changes, boxes and chunks, and the side of a chunk
_CHANGE = struct.Struct("<iiiI")  # layer, column, row, number
_BOX = struct.Struct("<qiIiiiii")  # entity, and a `Place`
_CHUNK = struct.Struct("<iii")
_SQUARE = 8  # cells: boxes are found by squares of this size, or by chunks

Chunk = tuple[int, int, int]
"""The number of its group, and its column and row, in chunks."""

Sheet = tuple[Hashable, Part]
"""The group and the part that boxes must share to merge."""

Tables = Mapping[str, Entry]


class Cells:
    """The changed tiles and the boxes of a level in one world, as a component.

    Attributes
    ----------
    level : str
        The key of the level.
    changes : dict
        The number of each changed tile, by layer, column and row.
    side : int
        Of a chunk, in cells; 0 if the whole level was created.
    chunks : set
        The loaded chunks.
    """

    # Recordings and comparisons skip names with two underscores: what follows from the others, and
    # the boxes, which are entities.
    __slots__ = ("__boxes", "__data", "__near", "changes", "chunks", "level", "side")

    needs_no_body = True  # for `Space.doctor`

    def __init__(self, level: str) -> None:
        self.level, self.side = level, 0
        self.changes: dict[tuple[int, int, int], int] = {}
        self.__boxes: dict[int, Place] = {}
        self.chunks: set[Chunk] = set()
        self.__data: bytes | None = None
        # The boxes in each square, by sheet, column and row of the square; None after a restore.
        self.__near: dict[Sheet, dict[Cell, set[int]]] | None = {}

    @property
    def boxes(self) -> dict[int, Place]:
        """The `Place` of each box by its entity."""
        return self.__boxes

    def add(self, entity: int, place: Place, sheet: Sheet) -> None:
        """Add a box."""
        self.boxes[entity], self.__data = place, None
        if self.__near is not None:
            self._file(entity, place, sheet)

    def remove(self, entity: int, sheet: Sheet) -> None:
        """Remove a box."""
        place, self.__data = self.boxes.pop(entity), None
        if self.__near is not None:
            for square in self._squares(place):
                self.__near[sheet].get(square, set()).discard(entity)

    def set_number(self, cell: tuple[int, int, int], number: int | None) -> None:
        """Set the number of a tile, or None for the one in the file."""
        self.__data = None
        if number is None:
            self.changes.pop(cell, None)
        else:
            self.changes[cell] = number

    def load(self, chunk: Chunk) -> None:
        """Count a chunk among the loaded ones."""
        self.chunks.add(chunk)
        self.__data = None

    def unload(self, chunk: Chunk) -> None:
        """Count a chunk no more among the loaded ones."""
        self.chunks.discard(chunk)
        self.__data = None

    def at(self, column: int, row: int, sheet: Sheet, grid: Grid) -> int | None:
        """Return the entity of the box that covers a cell of a sheet, or None."""
        size = self.side or _SQUARE
        squares = self.near(grid).get(sheet, {})
        for entity in squares.get((column // size, row // size), ()):
            left, top, n_columns, n_rows = self.boxes[entity].where
            if left <= column < left + n_columns and top <= row < top + n_rows:
                return entity
        return None

    def near(self, grid: Grid) -> dict[Sheet, dict[Cell, set[int]]]:
        """Return the boxes in each square of each sheet."""
        if self.__near is None:
            self.__near = {}
            for entity, place in self.boxes.items():
                self._file(entity, place, sheet_of(grid, place))
        return self.__near

    def _file(self, entity: int, place: Place, sheet: Sheet) -> None:
        assert self.__near is not None
        squares = self.__near.setdefault(sheet, {})
        for square in self._squares(place):
            squares.setdefault(square, set()).add(entity)

    def _squares(self, place: Place) -> Iterator[Cell]:
        size = self.side or _SQUARE
        left, top, n_columns, n_rows = place.where
        for x in range(left // size, (left + n_columns - 1) // size + 1):
            for y in range(top // size, (top + n_rows - 1) // size + 1):
                yield x, y

    def to_bytes(self) -> bytes:
        """Return the whole component as bytes, for `Space.snapshot_with`."""
        if self.__data is None:
            counts = len(self.changes), len(self.boxes), len(self.chunks)
            parts = [_HEAD.pack(*counts, self.side)]
            parts += [_CHANGE.pack(*cell, number) for cell, number in sorted(self.changes.items())]
            parts += [_BOX.pack(entity, *place) for entity, place in sorted(self.boxes.items())]
            parts += [_CHUNK.pack(*chunk) for chunk in sorted(self.chunks)]
            self.__data = b"".join((*parts, self.level.encode()))
        return self.__data

    def set_bytes(self, data: bytes) -> None:
        """Become as another component was when it was turned to bytes."""
        if len(data) < _HEAD.size:
            raise ValueError("the tiles in the snapshot are cut short")
        *counts, side = _HEAD.unpack_from(data)
        found: list[list[Any]] = []
        start = _HEAD.size
        for count, form in zip(counts, (_CHANGE, _BOX, _CHUNK), strict=True):
            stop = start + count * form.size
            if count < 0 or stop > len(data):
                raise ValueError("the tiles in the snapshot are cut short")
            found.append(list(form.iter_unpack(data[start:stop])))
            start = stop
        level = data[start:].decode()
        self.level, self.side, self.__data, self.__near = level, side, data, None
        self.changes = {(layer, x, y): number for layer, x, y, number in found[0]}
        self.__boxes = {entity: Place(*place) for entity, *place in found[1]}
        self.chunks = {(group, x, y) for group, x, y in found[2]}

    @classmethod
    def from_bytes(cls, data: bytes) -> Cells:
        """Return a component that was turned to bytes."""
        cells = cls("")
        cells.set_bytes(data)
        return cells


def sheet_of(grid: Grid, place: Place) -> Sheet:
    """Return the group and the part of a box, which boxes share that may merge."""
    layer = grid.layers[place.layer]
    return layer.group, layer.kind(place.number).parts[place.part]


def find_cells(key: str) -> Cells | None:
    """Return the cells of a level in the current world, if any has changed."""
    for entity, cells in esper.get_component(Cells):
        if cells.level == key and esper.entity_exists(entity):
            return cells
    return None


def forget_cells(key: str) -> None:
    """Delete the cells of a level in the current world."""
    for entity, cells in esper.get_component(Cells):
        if cells.level == key and esper.entity_exists(entity):
            esper.delete_entity(entity)


class Changes:
    """The changes of a level in the current world, from its cells there."""

    def __init__(
        self, key: str, grid: Grid, places: Iterable[tuple[SolidBox, Place]], table: Tables
    ) -> None:
        self.grid, self.table = grid, table
        found = find_cells(key)
        if found is None:
            found = Cells(key)
            _find_boxes(found, places, grid)
            # Snapshots include every entity with a component of the library.  So one from before
            # the first change removes this entity, also if it was taken without `Cells`.
            esper.create_entity(found, Fixed())
        self.cells = found

    def number(self, layer: int, column: int, row: int) -> int:
        """Return the present number of a tile."""
        found = self.cells.changes.get((layer, column, row))
        return self.grid.layers[layer].number(column, row) if found is None else found

    def put(self, layer: int, places: Iterable[Cell], number: int) -> None:
        """Set the tiles of some cells, and make the boxes that this touches again."""
        grid, cells = self.grid, self.cells
        ours = grid.layers[layer]
        ours.kind(number)  # raises for a number that no tileset has
        if number and not grid.is_infinite:
            places = list(places)
            _require_inside(ours, places)
        gone: dict[Part, set[Cell]] = {}
        new: dict[Part, set[Cell]] = {}
        for column, row in dict.fromkeys(places):
            before = self.parts(ours.group, column, row)
            in_file = number == ours.number(column, row)
            cells.set_number((layer, column, row), None if in_file else number)
            after = self.parts(ours.group, column, row)
            for part in before.keys() - after.keys():
                gone.setdefault(part, set()).add((column, row))
            for part in after.keys() - before.keys():
                new.setdefault(part, set()).add((column, row))
        for part in dict.fromkeys((*gone, *new)):  # in the order in which they were found
            self._make_again(layer, number, part, gone.get(part, set()), new.get(part, set()))

    def parts(self, group: Hashable, column: int, row: int) -> dict[Part, tuple[int, int]]:
        """Return the bodies in a cell of a group, each with the layer and number of its tile."""
        found: dict[Part, tuple[int, int]] = {}
        for n, layer in enumerate(self.grid.layers):
            if layer.group == group:
                number = self.number(n, column, row)
                if number:
                    for part in layer.kind(number).parts:
                        found.setdefault(part, (n, number))
        return found

    def _make_again(
        self, layer: int, number: int, part: Part, gone: set[Cell], new: set[Cell]
    ) -> None:
        """Cut cells out of the boxes of a sheet, add others, and join what fits."""
        grid, cells = self.grid, self.cells
        group, size = grid.layers[layer].group, grid.layers[layer].cell
        sheet = group, part
        right, down = grid.joins(part, size)
        touched: dict[int, set[Cell]] = {}
        for cell in sorted(gone):
            entity = cells.at(*cell, sheet, grid)
            if entity is not None:
                touched.setdefault(entity, set()).add(cell)
        example: tuple[int, int] | None = None  # a layer and a number with this part
        pieces: list[Rectangle] = []
        for entity, some in touched.items():
            place = cells.boxes[entity]
            example = place.layer, place.number
            pieces += cut(place.where, some, right, down)
            self._delete(entity, sheet)
        n_group = grid.groups.index(group)
        is_here = [cell for cell in sorted(new) if self._is_loaded(n_group, cell)]
        if is_here:
            example = layer, number
            for some_new in self._by_chunk(is_here):
                pieces += rectangles(some_new, right, down)
        while pieces:
            where = pieces.pop()
            joined = self._joined(where, sheet, pieces, right, down)
            while joined is not None:
                where = joined
                joined = self._joined(where, sheet, pieces, right, down)
            assert example is not None
            n = grid.layers[example[0]].kind(example[1]).parts.index(part)
            self._create(Place(*example, n, *where), sheet)

    def _is_loaded(self, group: int, cell: Cell) -> bool:
        side = self.cells.side
        return not side or (group, cell[0] // side, cell[1] // side) in self.cells.chunks

    def _by_chunk(self, some: list[Cell]) -> Iterator[list[Cell]]:
        """Yield cells, those of each chunk together: boxes of chunks do not merge."""
        side = self.cells.side
        if not side:
            yield some
            return
        by_chunk: dict[Cell, list[Cell]] = {}
        for column, row in some:
            by_chunk.setdefault((column // side, row // side), []).append((column, row))
        yield from by_chunk.values()

    def _joined(
        self,
        where: Rectangle,
        sheet: Sheet,
        pieces: list[Rectangle],
        right: bool,
        down: bool,
    ) -> Rectangle | None:
        """Return a rectangle joined with one neighbour of the same width or height, or None.

        The neighbour, one of `pieces` or a box, is removed.
        """
        column, row, n_columns, n_rows = where
        side = self.cells.side
        beside = [(column + n_columns, row, True), (column - 1, row, True)] if right else []
        below = [(column, row + n_rows, False), (column, row - 1, False)] if down else []
        for x, y, is_beside in (*beside, *below):
            if side and (x // side, y // side) != (column // side, row // side):
                continue
            for n, other in enumerate(pieces):
                if _fits(where, other, (x, y), is_beside):
                    del pieces[n]
                    return _hull(where, other)
            entity = self.cells.at(x, y, sheet, self.grid)
            if entity is not None:
                other = self.cells.boxes[entity].where
                if _fits(where, other, (x, y), is_beside):
                    self._delete(entity, sheet)
                    return _hull(where, other)
        return None

    def _create(self, place: Place, sheet: Sheet) -> None:
        layer = self.grid.layers[place.layer]
        box = self.grid.box(layer, place.number, sheet[1], place.where)
        made = made_for_tiles(self.table, box)
        if made is not None:
            self.cells.add(esper.create_entity(*box.components(), *made), place, sheet)

    def _delete(self, entity: int, sheet: Sheet) -> None:
        self.cells.remove(entity, sheet)
        if esper.entity_exists(entity):
            esper.delete_entity(entity)

    # -- chunks --

    def stream(self, low: Any, high: Any, side: int, at_most: int) -> int:
        """Load the chunks of a region, nearest first, and unload others; return how many wait."""
        cells = self.cells
        if cells.side != side:
            if cells.side or cells.boxes:
                have = f"chunks of {cells.side}" if cells.side else "all of its tiles"
                raise ValueError(
                    f"the level has {have} in this world already, and cannot have chunks of {side}"
                )
            cells.side = side  # of squares too: there are no boxes yet
        wanted: dict[Chunk, float] = {}
        groups = self.grid.groups
        for layer in self.grid.layers:
            corners = [corner_of(self.grid, layer, float(x), float(y)) for x, y in (low, high)]
            left, right = (column / side for column, _ in corners)
            top, bottom = sorted(row / side for _, row in corners)
            for x in range(int(left // 1), int(right // 1) + 1):
                for y in range(int(top // 1), int(bottom // 1) + 1):
                    away = max(abs(x + 0.5 - (left + right) / 2), abs(y + 0.5 - (top + bottom) / 2))
                    wanted[groups.index(layer.group), x, y] = away
        old = sorted(cells.chunks - wanted.keys())
        new = sorted(wanted.keys() - cells.chunks, key=lambda chunk: (wanted[chunk], chunk))
        for chunk in new[:at_most]:
            self._load(chunk, groups[chunk[0]])
        self._unload(old[: max(at_most - len(new), 0)], groups)
        return max(len(new) + len(old) - at_most, 0)

    def _load(self, chunk: Chunk, group: Hashable) -> None:
        """Create the boxes of a chunk."""
        side = self.cells.side
        left, top = chunk[1] * side, chunk[2] * side
        sheets: dict[Part, tuple[int, int, set[Cell]]] = {}
        for n, layer in enumerate(self.grid.layers):
            if layer.group != group:
                continue
            tiles = dict(layer.tiles_in(left, top, left + side, top + side))
            for (at, x, y), number in self.cells.changes.items():
                if at == n and left <= x < left + side and top <= y < top + side:
                    tiles[x, y] = number
            for cell, number in tiles.items():
                for part in layer.kind(number).parts:
                    if part not in sheets:
                        sheets[part] = n, number, set()
                    sheets[part][2].add(cell)
        for part, (n, number, some) in sheets.items():
            for place in self.grid.places(n, number, part, some):
                self._create(place, (group, part))
        self.cells.load(chunk)

    def _unload(self, chunks: list[Chunk], groups: list[Hashable]) -> None:
        """Delete the boxes of chunks."""
        for group, x, y in chunks:
            for sheet, squares in self.cells.near(self.grid).items():
                if sheet[0] == groups[group]:
                    for entity in list(squares.pop((x, y), ())):
                        self._delete(entity, sheet)
            self.cells.unload((group, x, y))


def _find_boxes(cells: Cells, places: Iterable[tuple[SolidBox, Place]], grid: Grid) -> None:
    """Find the entities of the boxes with which a level was created, by where they are."""
    bodies: dict[Any, list[int]] = {}
    for entity, (position, extents) in esper.get_components(Position, Extents):
        if esper.entity_exists(entity):
            bodies.setdefault((position.xy, extents.xy), []).append(entity)
    for found in bodies.values():
        found.sort(reverse=True)
    for box, place in places:
        found = bodies.get((box.centre, box.half), [])
        if found:
            cells.add(found.pop(), place, sheet_of(grid, place))


def _fits(where: Rectangle, other: Rectangle, at: Cell, is_beside: bool) -> bool:
    """Return whether a rectangle lies at a cell, and is as high, or as wide, as its neighbour."""
    column, row, n_columns, n_rows = where
    x, y, wide, high = other
    if not (x <= at[0] < x + wide and y <= at[1] < y + high):
        return False
    return (y, high) == (row, n_rows) if is_beside else (x, wide) == (column, n_columns)


def _hull(where: Rectangle, other: Rectangle) -> Rectangle:
    left, top = min(where[0], other[0]), min(where[1], other[1])
    right = max(where[0] + where[2], other[0] + other[2])
    bottom = max(where[1] + where[3], other[1] + other[3])
    return left, top, right - left, bottom - top


def _require_inside(layer: TileLayer, places: Iterable[Cell]) -> None:
    n_columns, n_rows = layer.size
    for column, row in places:
        if not (0 <= column < n_columns and 0 <= row < n_rows):
            raise ValueError(
                f"cell ({column}, {row}) is outside of layer {layer.name!r}, which has columns 0 "
                f"to {n_columns - 1} and rows 0 to {n_rows - 1}; only an infinite map has others"
            )


def layer_named(grid: Grid, name: str | None) -> int:
    """Return the number of a layer by its name; None for the only one.

    Raises
    ------
    ValueError
        No layer has the name, several have, or there is not exactly one without a name.
    """
    names = [layer.name for layer in grid.layers]
    found = [n for n, known in enumerate(names) if name is None or known == name]
    if len(found) != 1:
        asked = "is needed" if name is None else f"{name!r} names {len(found)} layers"
        raise ValueError(f"layer {asked}; the level has the tile layers {names}")
    return found[0]


def corner_of(grid: Grid, layer: TileLayer, x: float, y: float) -> tuple[float, float]:
    """Return how many columns and rows of a layer a point lies from cell (0, 0)."""
    wide, high = layer.cell
    x, y = grid.frame.to_map(x, y)
    return (x - layer.corner[0]) / wide, (y - layer.corner[1]) / high
