"""Levels of any editor: boxes of tiles, objects, and the entities that are made of them.

Points count upwards from the bottom-left corner of a level, one unit a pixel.  In a level that was
loaded with `y_down` they count downwards from its top-left corner.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite, nan
from numbers import Integral
from typing import Any, Literal, NamedTuple

import esper

from ecs_collide.components.basics import Extents, Position
from ecs_collide.levels.cells import Tiling
from ecs_collide.levels.changes import (
    NONE,
    WHOLE,
    Cells,
    Changes,
    delete_cells,
    find_cells,
    layer_named,
    new_cells,
    put_in_world,
)
from ecs_collide.levels.frame import Point
from ecs_collide.levels.outlines import FLIPS
from ecs_collide.levels.streaming import Streaming, checked_region, let_go
from ecs_collide.levels.things import (
    Entry,
    LevelObject,
    SolidBox,
    Thing,
    made_by,
    made_for_tiles,
    moved,
    turned,
)

# How far a point may lie beside the border of a tile, in cells: nothing is tried first.
_AROUND = ((0.0, 0.0), *((x, y) for x in (-1e-6, 1e-6) for y in (-1e-6, 1e-6)))


class Tile(NamedTuple):
    """A tile of a level, as it is now.

    Attributes
    ----------
    layer : str
        The name of its layer.
    column, row : int
        Its cell, as the editor counts: to the right and downwards.
    number : int
        Its number in the map, without the bits for flips; in LDtk the value of the cell.
    type : str
    properties : mapping
        The tile's own properties, and those that its layer hands down.
    centre : tuple of 2 floats
        The centre of its cell, in world units.
    """

    layer: str
    column: int
    row: int
    number: int
    type: str
    properties: Mapping[str, Any]
    centre: tuple[float, float]


class Skipped(NamedTuple):
    """A shape without a body, mostly because it is no box: the reason, and its outline.

    The points of an object are in world units.  Those of a tile's shape are in pixels from the top
    left corner of the tile, downwards.  An ellipse has the corners of the rectangle around it.
    """

    reason: str
    points: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        return self.reason


class _Copy:
    """A level at an offset: its grid, boxes and objects, moved when they are first needed."""

    def __init__(self, offset: Point, tiling: Tiling, objects: tuple[LevelObject, ...]) -> None:
        self.offset, self._tiling, self._objects = offset, tiling, objects
        self.grid = replace(tiling.grid, frame=tiling.grid.frame.moved(offset))

    @cached_property
    def solids(self) -> tuple[SolidBox, ...]:
        """The boxes of tiles."""
        tiling = self._tiling
        return tuple(map(self.grid.box, tiling.places)) if any(self.offset) else tiling.solids

    @cached_property
    def objects(self) -> tuple[LevelObject, ...]:
        """The objects, with the components of a world whose y grows as that of the grid."""
        things = self._objects
        if self.grid.frame.y_down:
            things = tuple(replace(thing, traits=turned(thing.traits)) for thing in things)
        return tuple(moved(thing, self.offset) for thing in things) if any(self.offset) else things


@dataclass(frozen=True, slots=True)
class Level:
    """A map as a game needs it: size, solid boxes, objects and properties.

    Attributes
    ----------
    size : tuple of 2 floats
        Width and height in world units; an infinite map may reach beyond it on all sides.
    properties : mapping
        The map's own custom properties.
    map : object
        The file as Tiled or LDtk saves it in JSON: layers, pictures, colours.
    skipped : tuple of Skipped
        The shapes of tiles, and the solid objects, that make no body because they are no boxes.
    key : str
        The name by which snapshots recognise the level: the name of its file, in LDtk followed by
        the name of the level, or the `key` of `from_grid`.

    Notes
    -----
    All points of a level count from its place in the current world.  That is the place in its file
    plus the `offset` of `create`.  The points of `skipped` and `map` do not.
    """

    size: tuple[float, float]
    _tiling: Tiling = field(repr=False)
    _objects: tuple[LevelObject, ...] = field(repr=False)
    properties: Mapping[str, Any]
    map: Any
    skipped: tuple[Skipped, ...] = ()
    key: str = ""
    _home: Point | None = field(default=None, repr=False)  # where `at` has put it
    # By world: the tables by `Cells.home`, in the order of creation, and the copy used last.
    # A table is None if only the numbers of tiles were changed so far.
    _tables: dict[str, dict[tuple[float, ...], Mapping[str, Entry] | None]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _copies: dict[str, _Copy] = field(default_factory=dict, repr=False, compare=False)

    # -- where it lies --

    def at(self, offset: Sequence[float]) -> Level:
        """Return the same level at another place: each of its points is moved by `offset`.

        Copies at different offsets exist in a world beside each other.  Each has its own changes.
        If `at` has returned this level, `offset` counts from the place of this level.

        Raises
        ------
        ValueError
            `offset` is not 2 finite numbers.
        """
        home = self._from_home(_checked_offset(offset))
        return replace(self, _home=home, _tables={}, _copies={})

    def _from_home(self, offset: Point) -> Point:
        x, y = self._home or (0.0, 0.0)
        return x + offset[0], y + offset[1]

    def _states(self) -> list[Cells]:
        """Return the states in the current world, of this version of the file if there are any."""
        found = find_cells(self.key)
        return [cells for cells in found if cells.digest == self._tiling.digest] or found

    def _find(self, *, resumes: bool = False) -> tuple[Point, Cells | None]:
        """Return the offset in the current world, and the state there, if any.

        A level that `resumes` may lie where this object has not created it in this world.
        """
        states = self._states()
        there = {cells.offset: cells for cells in states}
        by_home = {cells.home: cells for cells in states}
        known = self._tables.get(esper.current_world, {})
        home = self._from_home((0.0, 0.0))
        mine = [by_home[created] for created in reversed(known) if created in by_home]
        mine += [found[home] for found in (there, by_home) if home in found]
        if mine:
            return mine[0].offset, mine[0]
        if there and self._home is None and (resumes or not known):  # such as after a restore
            if len(there) > 1:
                raise ValueError(
                    f"this world has {self.key!r} at {sorted(there)}: level.at(offset) is one of "
                    "these"
                )
            return there.popitem()
        return home, None

    def _copy_at(self, offset: Point) -> _Copy:
        found = self._copies.get(esper.current_world)
        if found is None or found.offset != offset:
            found = _Copy(offset, self._tiling, self._objects)
            self._copies[esper.current_world] = found
        return found

    @property
    def _here(self) -> _Copy:
        return self._copy_at(self._find()[0])

    @property
    def solids(self) -> tuple[SolidBox, ...]:
        """The boxes of all tiles that are bodies in the file.

        No two of the same type and properties overlap.
        """
        return self._here.solids

    @property
    def objects(self) -> tuple[LevelObject, ...]:
        """All objects, in the order of the file."""
        return self._here.objects

    @property
    def bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The lower and the upper corner of the map with all of its contents, for a camera."""
        here = self._here
        corners: list[Point] = [here.grid.frame.to_world(0.0, 0.0)]
        corners.append(here.grid.frame.to_world(*self.size))
        things: tuple[Thing, ...] = (*here.solids, *here.objects)
        for thing in things:
            (x, y), (wide, high) = thing.centre, thing.half
            corners += [(x - wide, y - high), (x + wide, y + high)]
            corners += getattr(thing, "points", ())
        xs, ys = zip(*corners, strict=True)
        return (min(xs), min(ys)), (max(xs), max(ys))

    def of_type(self, type: str) -> list[LevelObject]:
        """Return the objects of a type, in the order of the file."""
        return [thing for thing in self.objects if thing.type == type]

    def named(self, name: str) -> LevelObject:
        """Return the one object of that name.

        Raises
        ------
        KeyError
            No object has that name, or several have.
        """
        found = [thing for thing in self.objects if thing.name == name]
        if len(found) != 1:
            names = sorted({thing.name for thing in self.objects if thing.name})
            raise KeyError(f"{len(found)} objects are named {name!r}; the map has {names}")
        return found[0]

    def to_world(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the world at a pixel of the map, counted downwards."""
        return self._here.grid.frame.to_world(x, y)

    def to_cell(self, x: float, y: float, layer: str | None = None) -> tuple[int, int]:
        """Return the column and the row of the cell at a point of the world.

        Columns count to the right, and rows downwards, as the editor counts them.  `layer` is
        needed if the level has several tile layers.
        """
        grid = self._here.grid
        column, row = grid.to_cells(grid.layers[layer_named(grid, layer)], x, y)
        return int(column // 1), int(row // 1)

    # -- its tiles --

    def tile_at(self, where: int | Sequence[float], layer: str | None = None) -> Tile | None:
        """Return the tile at a point of the world, or at the `Position` of an entity, or None.

        The topmost layer with a tile there counts, with bodies or without.  On the border between
        a tile and an empty cell, such as at the contact point of a collision, it is the tile.

        Parameters
        ----------
        where : int, or sequence of 2 floats
            An entity, or a point.
        layer : str, optional
            The only layer to search.
        """
        x, y = esper.component_for_entity(where, Position).xy if isinstance(where, int) else where
        offset, cells = self._find()
        grid = self._copy_at(offset).grid
        changed = {} if cells is None else cells.changes
        one = None if layer is None else layer_named(grid, layer)
        numbers = range(len(grid.layers))[::-1] if one is None else (one,)
        for dx, dy in _AROUND:
            for n in numbers:
                ours = grid.layers[n]
                column, row = grid.to_cells(ours, x, y)
                at = int((column + dx) // 1), int((row + dy) // 1)
                number = changed.get((n, *at))
                number = ours.number(*at) if number is None else number
                if number:
                    kind = ours.kind(number)
                    centre = grid.frame.to_world(
                        ours.corner[0] + (at[0] + 0.5) * ours.cell[0],
                        ours.corner[1] + (at[1] + 0.5) * ours.cell[1],
                    )
                    plain = number & ~FLIPS
                    return Tile(ours.name, *at, plain, kind.type, kind.properties, centre)
        return None

    def set_cell(
        self, column: int, row: int, number: int | str = 0, layer: str | None = None
    ) -> None:
        """Put a tile into a cell, or clear it; see `set_cells`."""
        self.set_cells([(column, row)], number, layer)

    def set_cells(
        self, cells: Iterable[tuple[int, int]], number: int | str = 0, layer: str | None = None
    ) -> None:
        """Put the same tile into some cells, or clear them, in the current world.

        Only the boxes that have these cells, and their neighbours, are made again, with new
        entities and the components of the table of `create`.  The old ones are deleted, with all
        that the game added to them.  Nothing is done about bodies in the way of a new tile.

        Before `create` or the first `stream` it changes what these make.  Snapshots hold the
        change.  `solids` and `map` stay as the file has them.

        Parameters
        ----------
        cells : iterable of (int, int)
            Columns and rows, as from `to_cell` and in `Tile`.  Cells outside of the map may be
            cleared, and get tiles only if the map is infinite.
        number : int or str
            The number of the tile, as in `Tile`, or its symbol in a level of `from_grid`; 0 clears
            the cells.
        layer : str
            The name of a tile layer; optional if there is only one.

        Raises
        ------
        ValueError
            There is no such layer, tile or cell.  Or the boxes in the world are from another
            version of the file (see `resume`).
        Exception
            From the table's classes and functions.  In all these cases nothing is changed.
        """
        grid = self._tiling.grid
        n = layer_named(grid, layer)
        cells = [(int(column), int(row)) for column, row in cells]
        self._changes().put(n, cells, _number_of(grid.layers[n].symbols, number))

    def stream(
        self,
        min: Sequence[float] | None = None,
        max: Sequence[float] | None = None,
        table: Mapping[str, Entry] | None = None,
        *,
        regions: Iterable[tuple[Sequence[float], Sequence[float]]] = (),
        chunk: int = 16,
        at_most: int = 1,
    ) -> int:
        """Create the tiles in a region and delete all others, some in each frame.

        Call it in each frame, instead of `create_solids`.  Tiles come and go in chunks, nearest
        first.  Changed tiles stay changed.  ``create(table, tiles=False)`` creates the objects.

        Bodies with a `Velocity` get `Disabled` within a cell, or 1/30 s by their velocity, of a
        chunk that has tiles and is not loaded.  When it is loaded, they go on.

        Parameters
        ----------
        min, max : sequence of 2 floats
            The corners of the region, such as the camera's with some margin.  They may be infinite.
        table : mapping, optional
            As in `create`, for the types of tiles; by default the last one that was given.
        regions : iterable of (min, max)
            Instead of `min` and `max`, the corners of several regions, such as for a split screen.
        chunk : int
            The side of a chunk, in cells.
        at_most : int
            How many chunks one call creates and deletes.

        Returns
        -------
        int
            How many chunks wait for the next call.

        Raises
        ------
        ValueError
            The world has all tiles already, chunks of another size, or boxes from another version
            of the file (see `resume`).  `chunk` or `at_most` is below 1.  A corner is not 2
            numbers, or `min` is above `max`.
        """
        if chunk < 1 or at_most < 1:
            raise ValueError(f"stream(chunk={chunk!r}, at_most={at_most!r}) must be 1 or more")
        corners = [*regions] if min is None and max is None else [(min, max)]
        if not corners or (min is not None and [*regions]):
            raise ValueError("stream() takes either min and max, or regions=[(min, max), ...]")
        wanted = [checked_region(*region) for region in corners]
        changes = self._changes(table, streams=True)
        cells = changes.cells
        if cells.side == NONE:
            cells.cut_in_chunks(chunk)
        elif cells.side != chunk:
            have = f"chunks of {cells.side}" if cells.side else "all of its tiles"
            raise ValueError(
                f"the level has {have} in this world already, and cannot have chunks of {chunk}"
            )
        return Streaming(changes, chunk).update(wanted, at_most)

    def _changes(
        self, table: Mapping[str, Entry] | None = None, *, streams: bool = False
    ) -> Changes:
        """Return the changes in the current world; their state is created if there is none."""
        offset, cells = self._find()
        if cells is None:
            cells = new_cells(self.key, offset, self._tiling.digest)
            put_in_world(cells)
        if cells.side != NONE and cells.digest != self._tiling.digest:
            raise ValueError(
                f"the boxes of {self.key!r} in this world are from another version of the file: "
                "level.resume(table) makes them again"
            )
        return self._changes_of(cells, table, streams)

    def _changes_of(
        self, cells: Cells, table: Mapping[str, Entry] | None, streams: bool = False
    ) -> Changes:
        """Return the changes of a state, with the table that was given last if `table` is None.

        A level without tiles needs no table before it `streams`.
        """
        tables = self._tables.setdefault(esper.current_world, {})
        if table is None:
            table = tables.get(cells.home)
        if table is None and cells.types and (streams or cells.side != NONE):
            raise ValueError(
                f"{self.key!r} was restored, and its tiles of the types {cells.types} have "
                "components from a table: give level.resume(table) the table of create"
            )
        tables[cells.home] = table
        if table is not None:
            types = [name for name in self._tiling.types if name in table]
            if types != cells.types:
                cells.types = types
                cells.change()
        changes = Changes(self._tiling, self._copy_at(cells.offset).grid, table or {}, cells)
        if cells.side == NONE and cells.digest != self._tiling.digest:
            changes.change_file()  # there are no boxes, only changed cells
        return changes

    # -- its entities --

    def create_solids(self, *, offset: Sequence[float] = (0.0, 0.0)) -> list[int]:
        """Create an entity for each box of `solids`, with the components for its properties.

        They are `Fixed`.  Remove it from boxes that the game moves or changes.  `offset` is as in
        `create`.
        """
        copy = self._copy_at(self._from_home(_checked_offset(offset)))
        return [entity for _, entity in self._create(copy, {}, [*_planned(copy, {})], [])]

    def create(
        self,
        table: Mapping[str, Entry] | None = None,
        *,
        unknown: Literal["refuse", "skip"] = "refuse",
        tiles: bool = True,
        offset: Sequence[float] = (0.0, 0.0),
    ) -> list[tuple[SolidBox | LevelObject, int]]:
        """Create the entities of the whole level: its tiles, and its objects by their types.

        Parameters
        ----------
        table : mapping
            The components of each type's entities, in addition to a body, as one of

            - a class, called without arguments: ``"coin": Coin``,
            - a function, called with the `LevelObject` or `SolidBox`, that returns a
              component, several of them in a tuple or list, or None to make no entity; an
              empty tuple adds no component to the body of a tile or of a solid object,
            - several classes and functions in a tuple or list,
            - None: no entity is made for this type.

            An entity gets the components of `LevelObject.components` too; the table's component
            replaces one of the same type.  Tiles need no entry.  They are `Fixed`, unless the table
            gives them `Velocity`, `Growth`, `Attached` or a response.
        unknown : "refuse" or "skip"
            Whether to raise or to skip an object whose type is not in the table.  An object
            without a type, unless the table has `""`, is a plain body if it is `solid`, and is
            ignored otherwise.
        tiles : bool
            Whether to create the tiles too, or only the objects.
        offset : sequence of 2 floats
            How far the level lies from the place that its file gives.  In this world its other
            methods count from the new place too, until it is created elsewhere.  See `at`.

        Returns
        -------
        list of (SolidBox or LevelObject, int)
            Each box or object with the id of its entity: tiles first, then the objects in the
            order of the file.

        Raises
        ------
        ValueError
            A type is not in the table.  The table gives no `Extents` to an object that is no box,
            or no component to one that is not solid, which would be an invisible wall.
        TypeError
            An entry of the table, or the result of its function, is something else.
        Exception
            From the table's classes and functions, with a note that names the type and the thing.
            In all these cases no entity has been created.
        """
        if unknown not in ("refuse", "skip"):
            raise ValueError(f"unknown={unknown!r} must be 'refuse' or 'skip'")
        table = {} if table is None else table
        if not isinstance(table, Mapping):
            raise TypeError(f"table={table!r} must map types to classes and functions")
        copy = self._copy_at(self._from_home(_checked_offset(offset)))
        plan: list[tuple[Thing, list[object]]] = []
        for thing in copy.objects:
            more: list[object] | None
            if thing.type in table:
                more = made_by(table[thing.type], thing)
            elif thing.type and unknown == "refuse":
                raise ValueError(
                    f"{thing} has the type {thing.type!r}, which the table does not have: it has "
                    f"{sorted(table)}; None skips a type, unknown='skip' skips all unknown ones"
                )
            else:
                more = [] if thing.solid and not thing.type else None
            if more is None:
                continue
            if not more and not thing.solid:
                raise ValueError(
                    f"{thing} would be an invisible wall, because the table makes no component "
                    f"for {thing.type!r}: return None to make no entity"
                )
            parts = [*thing.components(), *more]
            if not any(isinstance(part, Extents) for part in parts):
                fault = thing.fault or "is a point"
                skip = "; load(no_box='skip') leaves it out" if thing.solid else ""
                raise ValueError(
                    f"{thing} cannot be a body, because it {fault}: draw an upright rectangle, or "
                    f"let the table give {thing.type!r} Extents{skip}"
                )
            plan.append((thing, parts))
        return self._create(copy, table, [*_planned(copy, table)] if tiles else None, plan)

    def _create(
        self,
        copy: _Copy,
        table: Mapping[str, Entry],
        tiles: list[tuple[int, list[object]]] | None,
        objects: list[tuple[Thing, list[object]]],
    ) -> list[tuple[SolidBox | LevelObject, int]]:
        """Create the planned tiles, by their numbers, and the planned objects."""
        digest = self._tiling.digest
        found = [
            cells
            for cells in find_cells(self.key)
            if cells.offset == copy.offset and (cells.side == NONE or cells.digest == digest)
        ]
        is_new = not found or (tiles is not None and found[-1].side != NONE)
        if is_new:
            if found and not any(map(esper.entity_exists, found[-1])):
                delete_cells(found[-1])  # the game has deleted all of it by hand
            cells = new_cells(self.key, copy.offset, digest)
        else:
            cells = found[-1]
        tables = self._tables.setdefault(esper.current_world, {})
        tables.pop(cells.home, None)  # the last one created is the last one in the dict
        changes = self._changes_of(cells, table)
        pairs: list[tuple[SolidBox | LevelObject, int]] = []
        if tiles is not None:
            made = changes.create_all(tiles)
            pairs = [(copy.solids[n], each) for (n, _), each in zip(tiles, made, strict=True)]
            if cells.changes:
                pairs = [pair for pair in pairs if esper.entity_exists(pair[1])]
                pairs += [(copy.grid.box(place), each) for each, place in cells.boxes.items()]
        for thing, parts in objects:
            pairs.append((thing, esper.create_entity(*parts)))
            cells.add_object(pairs[-1][1])
        if is_new:
            put_in_world(cells)
        return pairs

    def unload(self, *, keep_changes: bool = False) -> None:
        """Delete the entities of the level in the current world: tiles and objects.

        This works after any changes, in handlers too, and deletes as `esper.delete_entity` does.
        Entities that the game has created stay, and bodies that wait for a chunk move again.  If
        the world has nothing of the level, nothing happens.

        Parameters
        ----------
        keep_changes : bool
            Whether the next `create` or `stream` in this world makes the tiles as they are now,
            instead of as in the file.
        """
        offset, last = self._find()
        for cells in self._states():
            if cells.offset == offset:
                for entity in filter(esper.entity_exists, cells):
                    esper.delete_entity(entity)
                let_go(cells)
                cells.forget_entities()
                if cells is not last or not (keep_changes and cells.changes):
                    delete_cells(cells)

    def resume(self, table: Mapping[str, Entry] | None = None) -> None:
        """Continue with a level that a restored snapshot has brought into the current world.

        A snapshot holds no functions, so the table is given here, for boxes that changes make.  If
        the file has changed since, its tiles are made again from the new file, with the changed
        cells that it still has.  Objects stay as they were saved.

        Raises
        ------
        ValueError
            The world has none of the level.
        TypeError, Exception
            As from `create`.  In these cases nothing is changed.
        """
        _, cells = self._find(resumes=True)
        if cells is None:
            raise ValueError(
                f"this world has nothing of {self.key!r} that could be resumed: create() makes it"
            )
        before, old = cells.to_bytes(), [*cells.tiles()]
        changes = self._changes_of(cells, table)
        if cells.digest != self._tiling.digest:
            side, chunks = cells.side, sorted(cells.chunks)
            try:
                changes.change_file()
                if side == WHOLE:
                    changes.create_all([*_planned(self._here, changes.table)])
                elif side != NONE:
                    cells.cut_in_chunks(side)
                    Streaming(changes, side).load(chunks)
            except BaseException:
                cells.set_bytes(before)
                raise
            for entity in filter(esper.entity_exists, old):
                esper.delete_entity(entity)
        elif cells.side == WHOLE:
            self._tiling.prepare()


def _planned(copy: _Copy, table: Mapping[str, Entry]) -> Iterator[tuple[int, list[object]]]:
    """Yield the number of each box of tiles that gets an entity, and its components."""
    for n, box in enumerate(copy.solids):
        more = made_for_tiles(table, box)
        if more is not None:
            yield n, [*box.components(), *more]


def _checked_offset(offset: Sequence[float]) -> Point:
    try:
        x, y = map(float, offset)
    except (TypeError, ValueError):
        x = y = nan
    if not (isfinite(x) and isfinite(y)):
        raise ValueError(f"offset={offset!r} must be 2 finite numbers, as (160, 0)")
    return x, y


def _number_of(symbols: Mapping[Hashable, int], number: Hashable) -> int:
    """Return the number of a tile that is given by it or by its symbol."""
    if number in symbols:
        return symbols[number]
    if not isinstance(number, Integral):
        known = sorted(map(repr, symbols)) or "none, only numbers"
        raise ValueError(f"no tile has the symbol {number!r}; there are {known}")
    return int(number)
