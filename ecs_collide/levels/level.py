"""Levels, whichever editor has saved them: boxes of tiles, objects, and entities made of them.

A level counts upwards from its bottom-left corner, one unit a pixel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import esper

from ecs_collide.components.basics import Extents, Fixed, Position
from ecs_collide.levels.cells import Grid, Place
from ecs_collide.levels.changes import (
    Changes,
    corner_of,
    find_cells,
    forget_cells,
    layer_named,
    register_here,
)
from ecs_collide.levels.things import (
    Entry,
    LevelObject,
    SolidBox,
    Thing,
    made_by,
    made_for_tiles,
)

_FLIPS = 0xF0000000  # the four highest bits of a number say how Tiled flips the tile
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
        Its own, and those that its layer hands down.
    centre : tuple of 2 floats
        Of its cell, in world units.
    """

    layer: str
    column: int
    row: int
    number: int
    type: str
    properties: Mapping[str, Any]
    centre: tuple[float, float]


class Skipped(NamedTuple):
    """A body that was left out, mostly as no box: a sentence, and the points of its outline.

    The points of an object are in world units.  Those of a tile's shape are in pixels from the top
    left corner of the tile, downwards.  An ellipse has the corners of the rectangle around it.
    """

    reason: str
    points: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class Level:
    """A map as a game needs it: size, solid boxes, objects and properties.

    Attributes
    ----------
    size : tuple of 2 floats
        Width and height in world units; an infinite map may reach beyond it on all sides.
    solids : tuple of SolidBox
        The boxes of all tiles that are bodies; no two of the same type and properties
        overlap.
    objects : tuple of LevelObject
        All objects, in the order of the file.
    properties : mapping
        The map's own custom properties.
    map : object
        The file as Tiled or LDtk saves it in JSON: layers, pictures, colours.
    skipped : tuple of Skipped
        The shapes of tiles, and the solid objects, that make no body because they are no boxes.
    key : str
        Its file, and its name in an LDtk project: tells levels of one world apart.
    """

    size: tuple[float, float]
    solids: tuple[SolidBox, ...]
    objects: tuple[LevelObject, ...]
    properties: Mapping[str, Any]
    map: Any
    skipped: tuple[Skipped, ...] = ()
    key: str = ""
    _grid: Grid = field(default_factory=Grid, repr=False, compare=False)
    _places: tuple[Place, ...] = field(default=(), repr=False, compare=False)
    _tables: dict[str, Mapping[str, Entry]] = field(default_factory=dict, repr=False, compare=False)

    def _things(self) -> Iterator[Thing]:
        yield from self.solids
        yield from self.objects

    @property
    def bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The lower and the upper corner of the map and all that is in it, as a camera needs it."""
        corners = [(0.0, 0.0), self.size]
        for thing in self._things():
            (x, y), (wide, high) = thing.centre, thing.half
            corners += [(x - wide, y - high), (x + wide, y + high)]
            corners += getattr(thing, "points", ())
        xs, ys = zip(*corners, strict=True)
        return (min(xs), min(ys)), (max(xs), max(ys))

    def of_type(self, type: str) -> list[LevelObject]:
        """Return the objects of a type, in the order of the file; maybe none."""
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
        """Return the world point of a point given in the map's pixels, downwards."""
        return self._grid.frame.to_world(x, y)

    def to_cell(self, x: float, y: float, layer: str | None = None) -> tuple[int, int]:
        """Return the column and the row of the cell at a point of the world.

        Columns count to the right, and rows downwards, as the editor counts them.  `layer` is
        needed if the level has several tile layers.
        """
        ours = self._grid.layers[layer_named(self._grid, layer)]
        column, row = corner_of(self._grid, ours, x, y)
        return int(column // 1), int(row // 1)

    def tile_at(self, where: int | Sequence[float], layer: str | None = None) -> Tile | None:
        """Return the tile at a point of the world, or at the `Position` of an entity, or None.

        The topmost layer with a tile there counts, with bodies or without.  A point on the border
        of a cell, such as the contact point of a collision, is in the tile on either side, if only
        one is there.

        Parameters
        ----------
        where : int, or sequence of 2 floats
            An entity, or a point.
        layer : str, optional
            The only layer to search.
        """
        x, y = esper.component_for_entity(where, Position).xy if isinstance(where, int) else where
        grid = self._grid
        found = find_cells(self.key)
        changed = {} if found is None else found.changes
        one = None if layer is None else layer_named(grid, layer)
        numbers = range(len(grid.layers))[::-1] if one is None else (one,)
        for dx, dy in _AROUND:
            for n in numbers:
                ours = grid.layers[n]
                column, row = corner_of(grid, ours, x, y)
                at = int((column + dx) // 1), int((row + dy) // 1)
                number = changed.get((n, *at))
                number = ours.number(*at) if number is None else number
                if number:
                    kind = ours.kind(number)
                    centre = self.to_world(
                        ours.corner[0] + (at[0] + 0.5) * ours.cell[0],
                        ours.corner[1] + (at[1] + 0.5) * ours.cell[1],
                    )
                    plain = number & ~_FLIPS
                    return Tile(ours.name, *at, plain, kind.type, kind.properties, centre)
        return None

    def set_cell(self, column: int, row: int, number: int = 0, layer: str | None = None) -> None:
        """Put a tile into a cell, or clear it; see `set_cells`."""
        self.set_cells([(column, row)], number, layer)

    def set_cells(
        self, cells: Iterable[tuple[int, int]], number: int = 0, layer: str | None = None
    ) -> None:
        """Put the same tile into some cells, or clear them, in the current world.

        Only the boxes that have these cells, and their neighbours, are made again, with new
        entities; bodies beside the others keep their contacts.  The new entities get what the table
        of `create` has for the type.  The old ones are deleted, with what the game added to them.
        Nothing is done about bodies in the way of a new tile.  `Space.query` finds them.

        Snapshots hold the change, if the space was installed before it, and `tile_at` knows it.
        `solids` and `map` stay as the file has them.

        Parameters
        ----------
        cells : iterable of (int, int)
            Columns and rows, as from `to_cell` and in `Tile`.  Cells outside of the map may be
            cleared, and get tiles only if the map is infinite.
        number : int
            Of the tile, as in `Tile`; 0 clears the cells.
        layer : str
            The name of a tile layer; optional if there is only one.

        Raises
        ------
        ValueError
            There is no such layer, no such tile, or no such cell.  Nothing is changed.
        """
        n = layer_named(self._grid, layer)
        cells = [(int(column), int(row)) for column, row in cells]
        self._changes().put(n, cells, int(number))

    def stream(
        self,
        min: tuple[float, float],
        max: tuple[float, float],
        table: Mapping[str, Entry] | None = None,
        *,
        chunk: int = 16,
        at_most: int = 1,
    ) -> int:
        """Have bodies for the tiles in a region, and for no others: call it in each frame.

        Tiles are created and deleted in chunks, nearest first, instead of `create_solids`.
        Changed tiles stay as they are.  ``create(table, tiles=False)`` creates the objects.

        Parameters
        ----------
        min, max : tuple of 2 floats
            The corners of the region, such as the camera's with some margin.
        table : mapping, optional
            As in `create`, for the types of tiles.
        chunk : int
            The sides of a chunk, in cells.
        at_most : int
            How many chunks one call creates and deletes.

        Returns
        -------
        int
            How many chunks wait for the next call.

        Raises
        ------
        ValueError
            The world has all tiles of the level already, or chunks of another size; or `chunk` or
            `at_most` is below 1.
        """
        if chunk < 1 or at_most < 1:
            raise ValueError(f"stream(chunk={chunk!r}, at_most={at_most!r}) must be 1 or more")
        self._tables[esper.current_world] = {} if table is None else table
        return self._changes().stream(min, max, chunk, at_most)

    def _changes(self) -> Changes:
        table = self._tables.get(esper.current_world, {})
        return Changes(self.key, self._grid, zip(self.solids, self._places, strict=True), table)

    def create_solids(self) -> list[int]:
        """Create an entity for each box of `solids`, with the components for its properties.

        They are created in the current esper world and are `Fixed`: walls, whose components are
        read once.  Use the returned ids to add components.  Remove `Fixed` from boxes that the
        game moves or changes.
        """
        self._begin({})
        return [esper.create_entity(*box.components(), Fixed()) for box in self.solids]

    def _begin(self, table: Mapping[str, Entry]) -> None:
        """Prepare to create the tiles as the file has them."""
        self._tables[esper.current_world] = table
        forget_cells(self.key)
        register_here()

    def create(
        self,
        table: Mapping[str, Entry] | None = None,
        *,
        unknown: Literal["refuse", "skip"] = "refuse",
        tiles: bool = True,
    ) -> list[tuple[SolidBox | LevelObject, int]]:
        """Create the entities of the whole level: its tiles, and its objects by their types.

        Parameters
        ----------
        table : mapping
            The components of each type's entities, in addition to a body, as one of

            - a class, called without arguments: ``"coin": Coin``,
            - a function, called with the `LevelObject` or `SolidBox`, that returns a
              component, several of them in a tuple or list, or None to make no entity,
            - several classes and functions in a tuple or list,
            - None: no entity is made for this type.

            An entity gets the components of `LevelObject.components` too; the table's component
            replaces one of the same type.
        unknown : "refuse" or "skip"
            Whether to raise or to skip an object whose type is not in the table.  An object
            without a type, unless the table has `""`, is a plain body if its properties or its
            layer's include `solid`, `one_way`, `sensor` or `carry`; otherwise it is ignored.
            Tiles need no entry in the table.  They are `Fixed`, unless the table gives them
            `Velocity`, `Growth`, `Attached` or a response.
        tiles : bool
            Whether to create the tiles too, or only the objects.

        Returns
        -------
        list of (SolidBox or LevelObject, int)
            Each box or object with the id of its entity: tiles first, then the objects in the
            order of the file.

        Raises
        ------
        ValueError
            A type is not in the table, or a point should be a body and the table gives it no
            `Extents`.
        TypeError
            An entry of the table is something else, such as a component; or a function of the
            table returns something other than components, such as a class.
        Exception
            Any exception of the table's classes and functions, with a note that names the type
            and the thing.  In all these cases no entity has been created.
        """
        if unknown not in ("refuse", "skip"):
            raise ValueError(f"unknown={unknown!r} must be 'refuse' or 'skip'")
        table = {} if table is None else table
        if not isinstance(table, Mapping):
            raise TypeError(f"table={table!r} must map types to classes and functions")
        plan: list[tuple[Thing, list[object]]] = []
        for thing in self._things() if tiles else self.objects:
            more: list[object] | None
            if isinstance(thing, SolidBox):
                more = made_for_tiles(table, thing)
            elif thing.type in table:
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
            parts = [*thing.components(), *more]
            if not any(isinstance(part, Extents) for part in parts):
                fault = getattr(thing, "fault", "") or "is a point"
                skip = getattr(thing, "solid", False) and "; load(no_box='skip') leaves it out"
                raise ValueError(
                    f"{thing} cannot be a body, because it {fault}: draw an upright rectangle, or "
                    f"let the table give {thing.type!r} Extents{skip or ''}"
                )
            plan.append((thing, parts))
        if tiles:
            self._begin(table)
        return [(thing, esper.create_entity(*parts)) for thing, parts in plan]
