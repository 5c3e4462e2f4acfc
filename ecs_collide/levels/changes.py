"""The state of a level in a world, and its tiles that change while the game runs.

The state is one component, `Cells`, of a separate entity, so snapshots hold it.  It has the
entities that were made for the level, and the tiles that differ from its file.  The boxes of the
file are known by their numbers, so a level that does not change takes a hundred bytes.  A change
rebuilds only the boxes that it touches.
"""

from __future__ import annotations

import json
import struct
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from math import isfinite
from typing import Any

import esper

from ecs_collide.components.basics import Fixed
from ecs_collide.extend import SHIFTED
from ecs_collide.levels.cells import (
    SQUARE,
    Cell,
    Chunk,
    Grid,
    Part,
    Place,
    Rectangle,
    Sheet,
    Squares,
    TileLayer,
    Tiling,
    cut,
    rectangles,
    require_near,
)
from ecs_collide.levels.frame import Point
from ecs_collide.levels.things import Entry, made_for_tiles

_HEAD = struct.Struct("<8I")  # the lengths of the text and of the tables that follow
_WIDTHS = (4, 8, 3, 3, 1, 2, 1)  # numbers in a row of each table

NONE, WHOLE = -1, 0  # sides of chunks: the level has no tiles yet, or all of them

Tables = Mapping[str, Entry]

Facts = tuple[float, float, float, float, float, float]
"""Position, half size and velocity of a body that may have to wait."""


class Cells:
    """The state of a level in one world, as a component.

    Attributes
    ----------
    level : str
        The key of the level.
    offset : tuple of 2 floats
        How far it lies from the place that its file gives.
    home : tuple of 2 or 3 floats
        The offset with which it was created, before any `Space.shift`: `Level` knows it by this.
        If a copy that was shifted away has the same, a number follows.
    digest : str
        Of the file with whose boxes it was created.
    types : list of str
        The types of tiles for which the table has components.
    side : int
        Of a chunk, in cells; `WHOLE` if all tiles were created, `NONE` if none were.
    changes : dict
        The number of each changed tile, by layer, column and row.
    chunks : set
        The loaded chunks.
    made : list of (int, int)
        The entities of objects: the first of a run, and how many.
    waiting : set
        The entities that are switched off until their chunks are loaded.
    """

    # Recordings and comparisons skip names with two underscores: the boxes, which are entities, and
    # all that follows from other attributes.
    __slots__ = (
        "__boxes", "__changed", "__data", "__gone", "__judged", "__near", "__runs", "changes",
        "chunks", "digest", "home", "level", "made", "offset", "side", "types", "waiting",
    )  # fmt: skip

    needs_no_body = True  # for `Space.doctor`

    def __init__(self, level: str, offset: Point = (0.0, 0.0), digest: str = "") -> None:
        self.level, self.offset, self.digest, self.side = level, offset, digest, NONE
        self.home: tuple[float, ...] = offset
        self.types: list[str] = []
        self.changes: dict[tuple[int, int, int], int] = {}
        self.chunks: set[Chunk] = set()
        self.made: list[tuple[int, int]] = []
        self.waiting: set[int] = set()
        self.forget_boxes()

    def forget_boxes(self) -> None:
        """Forget all boxes and chunks."""
        self.side, self.chunks = NONE, set()
        # The boxes of the file: the number and the entity of the first of a run, and how many.
        self.__runs: list[tuple[int, int, int]] = []
        self.__gone: set[int] = set()  # the numbers of deleted boxes
        self.__boxes: dict[int, Place] = {}  # the other boxes, by entity
        # These in their squares, by sheet; None after a restore.
        self.__near: dict[Sheet, Squares] | None = {}
        # The changed cells in each chunk of each layer; None until they are needed.
        self.__changed: dict[Chunk, set[Cell]] | None = None
        self.__judged: tuple[Set[Chunk], dict[int, tuple[Facts, bool]]] = set(), {}
        self.change()

    def change(self) -> None:
        """Forget the bytes; to be called after a change from outside."""
        self.__data: bytes | None = None

    # -- boxes of the file --

    def add_run(self, number: int, entity: int) -> None:
        """Add a box of the file, by rising numbers and entities."""
        if self.__runs:
            first, of_first, count = self.__runs[-1]
            if (number, entity) == (first + count, of_first + count):
                self.__runs[-1] = first, of_first, count + 1
                return
        self.__runs.append((number, entity, 1))

    def entity_of(self, number: int) -> int | None:
        """Return the entity of a box of the file, or None."""
        place = bisect_right(self.__runs, number, key=lambda run: run[0]) - 1
        if place < 0 or number in self.__gone:
            return None
        first, entity, count = self.__runs[place]
        return entity + number - first if number < first + count else None

    def number_of(self, entity: int) -> int:
        """Return the number in the file of a box that is not one of `boxes`."""
        first, of_first, _ = self.__runs[
            bisect_right(self.__runs, entity, key=lambda run: run[1]) - 1
        ]
        return first + entity - of_first

    # -- other boxes --

    @property
    def boxes(self) -> Mapping[int, Place]:
        """The `Place` of each box that is not one of the file, by its entity."""
        return self.__boxes

    def add(self, entity: int, place: Place, sheet: Sheet) -> None:
        """Add a box."""
        self.__boxes[entity] = place
        self.change()
        if self.__near is not None:
            self._file(entity, place, sheet)

    def remove(self, entity: int, sheet: Sheet) -> None:
        """Remove a box."""
        self.change()
        if entity not in self.__boxes:
            self.__gone.add(self.number_of(entity))
            return
        place = self.__boxes.pop(entity)
        if self.__near is not None:
            self.__near[sheet].remove(entity, place)

    def near(self, grid: Grid) -> dict[Sheet, Squares]:
        """Return the boxes that are not of the file, in the squares of each sheet."""
        if self.__near is None:
            self.__near = {}
            for entity, place in self.boxes.items():
                try:
                    sheet = grid.sheet(place)
                except (LookupError, ValueError):
                    raise ValueError(
                        f"the tiles of {self.level!r} in the snapshot are of another level"
                    ) from None
                self._file(entity, place, sheet)
        return self.__near

    def _file(self, entity: int, place: Place, sheet: Sheet) -> None:
        assert self.__near is not None
        if sheet not in self.__near:
            self.__near[sheet] = Squares(self.side if self.side > 0 else SQUARE)
        self.__near[sheet].add(entity, place)

    # -- entities --

    def __iter__(self) -> Iterator[int]:
        """Yield the entities that were made for the level."""
        yield from self.tiles()
        for first, count in self.made:
            yield from range(first, first + count)

    def add_object(self, entity: int) -> None:
        """Add the entity of an object, by rising entities."""
        first, count = self.made[-1] if self.made else (entity, 0)
        if first + count == entity:
            self.made[-1:] = [(first, count + 1)]
        else:
            self.made.append((entity, 1))
        self.change()

    def forget_entities(self) -> None:
        """Forget all boxes, chunks, objects and bodies that wait."""
        self.forget_boxes()
        self.made, self.waiting = [], set()

    def tiles(self) -> Iterator[int]:
        """Yield the entities of all boxes."""
        for number, entity, count in self.__runs:
            for n in range(count):
                if number + n not in self.__gone:
                    yield entity + n
        yield from self.__boxes

    # -- cells --

    def set_number(self, cell: tuple[int, int, int], number: int | None) -> None:
        """Set the number of a tile, or None for the one in the file."""
        self.change()
        if number is None:
            self.changes.pop(cell, None)
        else:
            self.changes[cell] = number
        if self.__changed is not None:
            layer, column, row = cell
            chunk = layer, column // self.side, row // self.side
            some = self.__changed.setdefault(chunk, set())
            (some.discard if number is None else some.add)((column, row))

    def cut_in_chunks(self, side: int) -> None:
        """Set the side of chunks, before the first is loaded."""
        self.side, self.__changed = side, None
        self.change()

    def changed(self) -> Mapping[Chunk, set[Cell]]:
        """Return the changed cells in each chunk, maybe none; with the layer for the group."""
        if self.__changed is None:
            self.__changed = {}
            for layer, column, row in self.changes:
                chunk = layer, column // self.side, row // self.side
                self.__changed.setdefault(chunk, set()).add((column, row))
        return self.__changed

    def judged(self, missing: Set[Chunk]) -> dict[int, tuple[Facts, bool]]:
        """Return which bodies had to wait for these chunks in the last call, to be updated.

        It saves time for bodies that rest, and follows from the rest of the state.
        """
        if self.__judged[0] != missing:
            self.__judged = missing, {}
        return self.__judged[1]

    # -- bytes --

    def to_bytes(self) -> bytes:
        """Return the whole component as bytes, for snapshots."""
        if self.__data is None:
            shifted = self.home if self.home != self.offset else ()
            head = self.level, *self.offset, self.digest, self.side, self.types, *shifted
            text = json.dumps(head).encode()
            tables: list[list[Any]] = [
                sorted((*cell, number) for cell, number in self.changes.items()),
                sorted((entity, *place) for entity, place in self.boxes.items()),
                sorted(self.chunks),
                self.__runs,
                sorted((number,) for number in self.__gone),
                self.made,
                sorted((entity,) for entity in self.waiting),
            ]
            parts = [_HEAD.pack(len(text), *map(len, tables)), text]
            for table, width in zip(tables, _WIDTHS, strict=True):
                numbers = chain.from_iterable(table)
                parts.append(struct.pack(f"<{len(table) * width}q", *numbers))
            self.__data = b"".join(parts)
        return self.__data

    def set_bytes(self, data: bytes) -> None:
        """Set the whole state from the bytes of `to_bytes`.

        Raises
        ------
        ValueError
            The bytes are damaged; nothing is changed.
        """
        if len(data) < _HEAD.size:
            raise ValueError("the tiles in the snapshot are cut short")
        length, *counts = _HEAD.unpack_from(data)
        sizes = [8 * count * width for count, width in zip(counts, _WIDTHS, strict=True)]
        if len(data) != _HEAD.size + length + sum(sizes):
            raise ValueError("the tiles in the snapshot are cut short")
        level, offset, digest, side, types, home = _checked_text(
            data[_HEAD.size : _HEAD.size + length]
        )
        tables: list[list[tuple[int, ...]]] = []
        start = _HEAD.size + length
        for size, width in zip(sizes, _WIDTHS, strict=True):
            tables.append([*struct.iter_unpack(f"<{width}q", data[start : start + size])])
            start += size
        changes, boxes, chunks, runs, gone, made, waiting = tables
        if any(min(box[6:]) < 1 for box in boxes) or not all(
            1 <= run[-1] <= _LONGEST_RUN for run in (*runs, *made)
        ):
            raise ValueError("the tiles in the snapshot have boxes of an impossible size")
        self.level, self.offset, self.digest, self.side = level, offset, digest, side
        self.types, self.home = types, home
        self.changes = {(layer, x, y): number for layer, x, y, number in changes}
        self.__boxes = {entity: Place(*place) for entity, *place in boxes}
        self.chunks = {(group, x, y) for group, x, y in chunks}
        self.__runs = [(number, entity, count) for number, entity, count in runs]
        self.__gone = {number for (number,) in gone}
        self.made = [(first, count) for first, count in made]
        self.waiting = {entity for (entity,) in waiting}
        self.__data, self.__near, self.__changed = data, None, None

    @classmethod
    def from_bytes(cls, data: bytes) -> Cells:
        """Return a component from the bytes of `to_bytes`."""
        cells = cls("")
        cells.set_bytes(data)
        return cells


_LONGEST_RUN = 2**24  # entities, in a snapshot: they are gone through


def _checked_text(text: bytes) -> tuple[str, Point, str, int, list[str], tuple[float, ...]]:
    """Return key, offset, digest, side, types and home of a snapshot, or raise a ValueError.

    The home is there only if it is not the offset.
    """
    try:
        level, x, y, digest, side, types, *shifted = json.loads(text)
        home = tuple(shifted) or (x, y)
        is_good = all(type(value) is float and isfinite(value) for value in (x, y, *home))
        is_good &= 2 <= len(home) <= 3
        is_good &= all(type(value) is str for value in (level, digest, *types))
        is_good &= type(side) is int and side >= NONE and type(types) is list
    except (ValueError, TypeError, RecursionError):
        is_good = False
    if not is_good:
        raise ValueError(f"the tiles in the snapshot have no readable level: {text[:200]!r}")
    return level, (x, y), digest, side, types, home


def _shift(cells: Cells, by: Sequence[float]) -> None:
    """Move a level with the world."""
    cells.offset = cells.offset[0] + by[0], cells.offset[1] + by[1]
    cells.change()


SHIFTED[Cells] = _shift


def find_cells(key: str) -> list[Cells]:
    """Return the states of a level's copies in the current world, the oldest first."""
    found = sorted(esper.get_component(Cells), key=lambda pair: pair[0])
    return [cells for entity, cells in found if cells.level == key and esper.entity_exists(entity)]


def new_cells(key: str, offset: Point, digest: str) -> Cells:
    """Return the state of a copy that is created at an offset in the current world."""
    cells, others = Cells(key, offset, digest), find_cells(key)
    homes = {other.home: other.offset for other in others}
    number = 0.0
    while homes.get(cells.home, offset) != offset:  # one that was shifted away
        number += 1.0
        cells.home = *offset, number
    return cells


def delete_cells(cells: Cells) -> None:
    """Delete the entity of a state in the current world."""
    for entity, other in esper.get_component(Cells):
        if other is cells and esper.entity_exists(entity):
            esper.delete_entity(entity)


def put_in_world(cells: Cells) -> None:
    """Create the entity of a state in the current world."""
    # Snapshots include every entity with a component of the library.  So one from before this
    # removes the entity, also if it was taken without `Cells`.
    esper.create_entity(cells, Fixed())


class Changes:
    """The changes of a level in the current world.

    Parameters
    ----------
    tiling : Tiling
        The boxes of its file.
    grid : Grid
        Its tiles where they lie in this world.
    table : mapping
        As in `Level.create`, for new boxes.
    cells : Cells
        Its state in this world.
    """

    def __init__(self, tiling: Tiling, grid: Grid, table: Tables, cells: Cells) -> None:
        self.tiling, self.grid, self.table, self.cells = tiling, grid, table, cells
        self._doomed: dict[int, Sheet] = {}  # boxes that a change will delete

    def number(self, layer: int, column: int, row: int) -> int:
        """Return the present number of a tile."""
        found = self.cells.changes.get((layer, column, row))
        return self.grid.layers[layer].number(column, row) if found is None else found

    def create_all(self, planned: Iterable[tuple[int, Iterable[object]]]) -> list[int]:
        """Create boxes of the file, each by its number and with components; return the entities.

        Cells that have been changed before get the boxes of the change.
        """
        cells = self.cells
        cells.side = WHOLE
        self.tiling.prepare()
        made: list[int] = []
        for number, parts in planned:
            entity = esper.create_entity(*parts)
            cells.add_run(number, entity)
            made.append(entity)
        cells.change()
        changes, cells.changes = cells.changes, {}
        try:
            for (layer, column, row), number in sorted(changes.items()):  # as after a restore
                self.put(layer, [(column, row)], number)
        except BaseException:
            self.delete_all()
            cells.changes = changes
            raise
        return made

    def delete_all(self) -> None:
        """Delete all boxes."""
        for entity in filter(esper.entity_exists, self.cells.tiles()):
            esper.delete_entity(entity)
        self.cells.forget_boxes()

    def change_file(self) -> None:
        """Forget all boxes, which are from another file, and the changes that this one forbids."""
        cells = self.cells
        cells.forget_boxes()
        cells.digest = self.tiling.digest
        before, cells.changes = cells.changes, {}
        for (layer, *cell), number in before.items():
            try:
                self.put(layer, [(cell[0], cell[1])], number)
            except (LookupError, ValueError):
                continue

    def put(self, layer: int, places: Iterable[Cell], number: int) -> None:
        """Set the tiles of some cells, and make the boxes again that the change touches.

        If a function of the table raises, nothing is changed.
        """
        grid, cells = self.grid, self.cells
        ours = grid.layers[layer]
        ours.kind(number)  # raises for a number that no tileset has
        if not 0 <= number < 2**32:
            raise ValueError(f"number={number!r} must be of a tile, or 0 to clear the cell")
        places = list(dict.fromkeys(places))
        for cell in places:
            require_near(cell, "there is no")
        if number and not grid.is_infinite:
            _require_inside(ours, places)
        if cells.side > 0:
            cells.chunks.update(self._empty_chunks(ours.group, places))
        numbers = [cells.changes.get((layer, *cell)) for cell in places]
        gone: dict[Part, set[Cell]] = {}
        new: dict[Part, set[Cell]] = {}
        for column, row in places:
            before = self.parts(ours.group, column, row)
            in_file = number == ours.number(column, row)
            cells.set_number((layer, column, row), None if in_file else number)
            after = self.parts(ours.group, column, row)
            for part in before:
                if part not in after:
                    gone.setdefault(part, set()).add((column, row))
            for part in after:
                if part not in before:
                    new.setdefault(part, set()).add((column, row))
        try:
            boxes: list[tuple[Place, Sheet]] = []
            for part in dict.fromkeys((*gone, *new)):  # in the order in which they were found
                sheet = ours.group, part
                some = gone.get(part, set()), new.get(part, set())
                boxes += ((place, sheet) for place in self._plan(layer, number, sheet, *some))
            self.create(boxes)
        except BaseException:
            for cell, before_it in zip(places, numbers, strict=True):
                cells.set_number((layer, *cell), before_it)
            raise
        finally:
            self._doomed = {}

    def _empty_chunks(self, group: Hashable, places: Iterable[Cell]) -> Iterator[Chunk]:
        """Yield the chunks of some cells that have no tiles, and need not be loaded."""
        side, changed = self.cells.side, self.cells.changed()
        layers = [n for n, layer in enumerate(self.grid.layers) if layer.group == group]
        n_group = self.grid.groups.index(group)
        for x, y in {(column // side, row // side) for column, row in places}:
            chunk = n_group, x, y
            if chunk not in self.tiling.chunks(side) and not any(
                changed.get((n, x, y)) for n in layers
            ):
                yield chunk

    def at(self, column: int, row: int, sheet: Sheet) -> int | None:
        """Return the entity of the box that covers a cell of a sheet, or None.

        A box whose entity the game has deleted is forgotten.
        """
        cells = self.cells
        squares = cells.near(self.grid).get(sheet)
        near = () if squares is None else squares.near(column, row)
        entity = next((each for each in near if cells.boxes[each].covers(column, row)), None)
        if entity is None and cells.side == WHOLE:
            for number in self.tiling.near(sheet, column, row):
                if self.tiling.places[number].covers(column, row):
                    entity = cells.entity_of(number)
        if entity is not None and not esper.entity_exists(entity):
            cells.remove(entity, sheet)
            return None
        return None if entity in self._doomed else entity

    def place(self, entity: int) -> Place:
        """Return the place of a box."""
        found = self.cells.boxes.get(entity)
        return self.tiling.places[self.cells.number_of(entity)] if found is None else found

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

    def _plan(
        self, layer: int, number: int, sheet: Sheet, gone: set[Cell], new: set[Cell]
    ) -> Iterator[Place]:
        """Cut cells out of the boxes of a sheet, add others, join neighbours; yield new boxes.

        The old ones are doomed.
        """
        grid, (group, part) = self.grid, sheet
        right, down = grid.joins(part, grid.layers[layer].cell)
        touched: dict[int, set[Cell]] = {}
        for cell in sorted(gone):
            entity = self.at(*cell, sheet)
            if entity is not None:
                touched.setdefault(entity, set()).add(cell)
        example: tuple[int, int] | None = None  # a layer and a number with this part
        pieces: list[Rectangle] = []
        for entity, some in touched.items():
            place = self.place(entity)
            example = place.layer, place.number
            pieces += cut(place.where, some, right, down)
            self._doomed[entity] = sheet
        for some in self._loaded(grid.groups.index(group), new):
            example = layer, number
            pieces += rectangles(some, right, down)
        whole: list[Rectangle] = []
        while pieces:
            where = pieces.pop()
            while joined := self._joined(where, sheet, (pieces, whole), right, down):
                where = joined
            whole.append(where)
        for where in whole:
            assert example is not None
            n = grid.layers[example[0]].kind(example[1]).parts.index(part)
            yield Place(*example, n, *where)

    def _loaded(self, group: int, cells: Iterable[Cell]) -> Iterable[set[Cell]]:
        """Return the cells that are loaded, by their chunks, whose boxes do not merge."""
        side = self.cells.side
        if side <= 0:
            return [set(cells)] if side == WHOLE and cells else []
        found: dict[Chunk, set[Cell]] = defaultdict(set)
        for column, row in sorted(cells):
            chunk = group, column // side, row // side
            if chunk in self.cells.chunks:
                found[chunk].add((column, row))
        return found.values()

    def _joined(
        self,
        where: Rectangle,
        sheet: Sheet,
        pieces: tuple[list[Rectangle], ...],
        right: bool,
        down: bool,
    ) -> Rectangle | None:
        """Return a rectangle joined with one neighbour of the same width or height, or None.

        The neighbour is removed from `pieces`, or is a box and doomed.
        """
        column, row, n_columns, n_rows = where
        side = self.cells.side
        beside = [(column + n_columns, row, True), (column - 1, row, True)] if right else []
        below = [(column, row + n_rows, False), (column, row - 1, False)] if down else []
        for x, y, is_beside in (*beside, *below):
            if side != WHOLE and (x // side, y // side) != (column // side, row // side):
                continue
            for some in pieces:
                for n, other in enumerate(some):
                    if _fits(where, other, (x, y), is_beside):
                        del some[n]
                        return _hull(where, other)
            entity = self.at(x, y, sheet)
            if entity is not None:
                other = self.place(entity).where
                if _fits(where, other, (x, y), is_beside):
                    self._doomed[entity] = sheet
                    return _hull(where, other)
        return None

    def create(self, boxes: Iterable[tuple[Place, Sheet]]) -> None:
        """Delete the doomed boxes, and create others whose types make entities."""
        made: list[tuple[Place, Sheet, list[object]]] = []
        for place, sheet in boxes:
            box = self.grid.box(place)
            more = made_for_tiles(self.table, box)
            if more is not None:
                made.append((place, sheet, [*box.components(), *more]))
        for entity, sheet in self._doomed.items():
            self.delete(entity, sheet)
        for place, sheet, parts in made:
            self.cells.add(esper.create_entity(*parts), place, sheet)

    def delete(self, entity: int, sheet: Sheet) -> None:
        """Delete a box."""
        self.cells.remove(entity, sheet)
        if esper.entity_exists(entity):
            esper.delete_entity(entity)


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
