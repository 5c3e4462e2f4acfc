"""Load levels drawn with Tiled: solid tiles become boxes, objects keep their names.

>>> from ecs_collide import tiled                           # doctest: +SKIP
>>> level = tiled.load("level.tmx")                         # doctest: +SKIP
>>> ground = level.create_solids()                          # doctest: +SKIP
>>> for coin in level.of_type("coin"):                      # doctest: +SKIP
...     esper.create_entity(*coin.components(), ec.Sensor())

Tiled counts downwards from the map's top, in pixels.  Everything that comes out
of here counts upwards from the map's bottom-left corner, one unit a pixel.
Drawing is left to the game; `Level.map` holds all that the file says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import esper

from ecs_collide.components import Extents, Position, Sensor
from ecs_collide.traits import Carry, OneWay

try:
    import pytiled_parser
    from pytiled_parser import tiled_object as shapes
except ImportError as error:
    raise ImportError(
        'ecs_collide.tiled needs pytiled-parser: pip install "ecs_collide[tiled]"',
        name="pytiled_parser",
    ) from error

__all__ = ["Level", "LevelObject", "SolidBox", "load", "tile_number"]

# The four highest bits of a tile number say how the tile is flipped.
_FLIPS = 0xF0000000

# Where a tile object's coordinates lie in its box, as shares of its width and height from the
# top-left corner.
_ANCHORS = {
    "topleft": (0.0, 0.0),
    "top": (0.5, 0.0),
    "topright": (1.0, 0.0),
    "left": (0.0, 0.5),
    "center": (0.5, 0.5),
    "right": (1.0, 0.5),
    "bottomleft": (0.0, 1.0),
    "bottom": (0.5, 1.0),
    "bottomright": (1.0, 1.0),
}

_NO_BOX = {
    shapes.Ellipse: "an ellipse",
    shapes.Polygon: "a polygon",
    shapes.Polyline: "a polyline",
}


@dataclass(frozen=True, slots=True)
class SolidBox:
    """One box of solid tiles.

    Attributes
    ----------
    centre, half : tuple of 2 floats
        In world units (pixels, upwards).
    """

    centre: tuple[float, float]
    half: tuple[float, float]

    def components(self) -> tuple[Position, Extents]:
        """Return new components for an entity that fills the box."""
        return Position(*self.centre), Extents(*self.half)


@dataclass(frozen=True, slots=True)
class LevelObject:
    """One object of an object layer: a rectangle, a point, a text or a tile.

    Attributes
    ----------
    id : int
        Tiled's number for the object; never used twice in a map.
    name, type : str
        As written in Tiled; empty if nothing is written there.  A tile object
        without a type has the type of its tile.  (Tiled 1.9 calls it *class*.)
    layer : str
        The name of its layer.
    centre, half : tuple of 2 floats
        In world units (pixels, upwards).  A point has half sizes of zero.
    properties : mapping
        Custom properties by name; those of its tile where it has none itself.
    tile : int
        The tile's number in the map (see `tile_number`), 0 if it is no tile.

    Notes
    -----
    Three properties of the type bool, where they are true, have a component each:
    ``one_way`` a `OneWay` that is solid from above, ``carry`` a `Carry` for what stands on it,
    ``sensor`` a `Sensor`.
    """

    id: int
    name: str
    type: str
    layer: str
    centre: tuple[float, float]
    half: tuple[float, float]
    properties: Mapping[str, Any]
    tile: int = 0

    def components(self) -> tuple[Any, ...]:
        """Return new components for an entity that fills the object.

        `Position` and `Extents`, and those that its properties ask for.

        Raises
        ------
        ValueError
            Such a property has another type than bool.
        """
        traits = (("one_way", lambda: OneWay((0, 1))), ("carry", Carry), ("sensor", Sensor))
        asked = [
            make
            for name, make in traits
            if _flag(self.properties, name, f"object {self.id} ({self.name or 'no name'})")
        ]
        return Position(*self.centre), Extents(*self.half), *(make() for make in asked)


@dataclass(frozen=True, slots=True)
class Level:
    """What a game needs to know of a map.

    Attributes
    ----------
    size : tuple of 2 floats
        Width and height in world units.
    solids : tuple of SolidBox
        The boxes of all solid tiles; no two overlap.
    objects : tuple of LevelObject
        All objects, in the order of the file.
    properties : mapping
        The map's own custom properties.
    map : pytiled_parser.TiledMap
        The parsed file: layers, pictures, colours.
    """

    size: tuple[float, float]
    solids: tuple[SolidBox, ...]
    objects: tuple[LevelObject, ...]
    properties: Mapping[str, Any]
    map: pytiled_parser.TiledMap

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
        return _to_world(self.map, x, y)

    def create_solids(self) -> list[int]:
        """Create an entity with Position and Extents for each box of `solids`.

        They go into the current esper world and never move by themselves:
        walls.  Give them more components by the ids that are returned.
        """
        return [esper.create_entity(*box.components()) for box in self.solids]


def load(path: str | Path, *, merge: bool = True) -> Level:
    """Read a Tiled map: TMX or JSON, with embedded or external tilesets.

    Which tiles are solid is said by the property `solid` (type bool) of a tile
    layer or group, and of a tile in its tileset:

    ============  ==========================================
    of the layer  solid is
    ============  ==========================================
    true          every tile but those that say false
    not there     only tiles that say true
    false         nothing
    ============  ==========================================

    A solid tile fills its cell of the map's grid, however large its picture.

    Parameters
    ----------
    path : str or Path
        The map's file.
    merge : bool
        Join solid tiles into as few boxes as a greedy search finds; if false,
        each solid tile is a box.  In both cases the same points are solid.

    Raises
    ------
    FileNotFoundError
        The map or one of its tilesets is missing.
    ValueError
        The file is no map, the map is not orthogonal, or it holds an object that
        is no upright box (rotated, an ellipse, a polygon or a line).

    Notes
    -----
    The greedy search goes through the cells row by row from the top; at each
    cell not yet taken it takes the longest run to the right and then as many
    equal rows below as there are.  A rectangle of tiles becomes one box; cost
    is linear in the number of cells.
    """
    path = Path(path)
    try:
        parsed = pytiled_parser.parse_map(path)
    except OSError:
        raise
    except (ParseError, pytiled_parser.UnknownFormat, LookupError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is no map that Tiled has saved: {error!r}") from error
    if parsed.orientation != "orthogonal":
        raise ValueError(
            f"{path} is {parsed.orientation}; only the cells of an orthogonal map are boxes"
        )

    tile_width, tile_height = map(float, parsed.tile_size)
    cells: dict[tuple[float, float], set[tuple[int, int]]] = {}
    objects: list[LevelObject] = []
    for layer, offset, solid in _layers(parsed.layers):
        if isinstance(layer, pytiled_parser.TileLayer):
            cells.setdefault(offset, set()).update(_solid_cells(layer, solid, parsed))
        elif isinstance(layer, pytiled_parser.ObjectLayer):
            objects += [_object(thing, layer.name, offset, parsed) for thing in layer.tiled_objects]

    solids = []
    for (x, y), taken in cells.items():
        for column, row, n_columns, n_rows in _rectangles(taken) if merge else _singles(taken):
            half = (n_columns * tile_width / 2, n_rows * tile_height / 2)
            across = x + column * tile_width + half[0]
            down = y + row * tile_height + half[1]
            solids.append(SolidBox(_to_world(parsed, across, down), half))
    size = (parsed.map_size.width * tile_width, parsed.map_size.height * tile_height)
    return Level(size, tuple(solids), tuple(objects), parsed.properties or {}, parsed)


def tile_number(gid: int) -> int:
    """Return a tile's number in the map, without the bits that say how it is flipped."""
    return gid & ~_FLIPS


def _to_world(parsed: pytiled_parser.TiledMap, x: float, y: float) -> tuple[float, float]:
    """Turn a point of the map upside down: the only place where down becomes up."""
    return x, parsed.map_size.height * parsed.tile_size.height - y


def _layers(
    layers: Iterable[Any], offset: tuple[float, float] = (0.0, 0.0), solid: bool | None = None
) -> Iterator[tuple[Any, tuple[float, float], bool | None]]:
    """Yield the layers inside all groups with their offset and whether they are solid."""
    for layer in layers:
        own = _flag(layer.properties, "solid", f"layer {layer.name!r}")
        says = solid if own is None else own
        place = (offset[0] + layer.offset.x, offset[1] + layer.offset.y)
        if isinstance(layer, pytiled_parser.LayerGroup):
            yield from _layers(layer.layers or (), place, says)
        else:
            yield layer, place, says


def _flag(properties: Mapping[str, Any] | None, name: str, owner: str) -> bool | None:
    value = (properties or {}).get(name)
    if value is None or isinstance(value, bool):
        return value
    raise ValueError(
        f"the property {name} of {owner} is {value!r} ({type(value).__name__}); "
        "give it the type bool in Tiled"
    )


def _tile(gid: int, parsed: pytiled_parser.TiledMap) -> tuple[Any, Any]:
    """Return the tileset that holds a tile, and what it says about it: maybe None."""
    for first in sorted(parsed.tilesets, reverse=True):
        tileset = parsed.tilesets[first]
        if first <= gid:
            return tileset, (tileset.tiles or {}).get(gid - first)
    raise ValueError(f"{parsed.map_file} uses tile {gid}, which is in none of its tilesets")


def _solid_cells(
    layer: pytiled_parser.TileLayer, solid: bool | None, parsed: pytiled_parser.TiledMap
) -> Iterator[tuple[int, int]]:
    """Yield column and row of each solid tile of a layer."""
    if solid is False:
        return
    blocks: list[tuple[Any, list[list[int]]]] = [((0, 0), layer.data or [])]
    blocks += [(chunk.coordinates, chunk.data) for chunk in layer.chunks or ()]
    is_solid: dict[int, bool] = {0: False}
    for (left, top), rows in blocks:
        for row, numbers in enumerate(rows, int(top)):
            for column, gid in enumerate(numbers, int(left)):
                number = tile_number(gid)
                if number not in is_solid:
                    _, tile = _tile(number, parsed)
                    own = _flag(tile and tile.properties, "solid", f"tile {number}")
                    is_solid[number] = bool(solid) if own is None else own
                if is_solid[number]:
                    yield column, row


def _singles(cells: set[tuple[int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Yield every cell as a rectangle: column, row, number of columns and rows."""
    for row, column in sorted((row, column) for column, row in cells):
        yield column, row, 1, 1


def _rectangles(cells: set[tuple[int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Yield rectangles that cover all cells once: column, row, number of columns and rows."""
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


def _object(
    thing: shapes.TiledObject,
    layer: str,
    offset: tuple[float, float],
    parsed: pytiled_parser.TiledMap,
) -> LevelObject:
    """Return an object as a box of the world."""
    called = f"object {thing.id} ({thing.name or 'no name'}) in layer {layer!r}"
    for shape, word in _NO_BOX.items():
        if isinstance(thing, shape):
            raise ValueError(
                f"{called} is {word}; only rectangles, points, texts and tiles are boxes"
            )
    if thing.rotation % 360 != 0:
        raise ValueError(
            f"{called} is rotated by {thing.rotation:g} degrees; boxes stay parallel to the axes"
        )

    type_, properties, number = thing.class_, thing.properties, 0
    anchor = _ANCHORS["topleft"]
    if isinstance(thing, shapes.Tile):
        number = tile_number(thing.gid)
        tileset, tile = _tile(number, parsed)
        anchor = _ANCHORS.get(tileset.alignment or "", _ANCHORS["bottomleft"])
        if tile is not None:
            type_ = type_ or tile.class_ or ""
            properties = {**(tile.properties or {}), **properties}

    width, height = thing.size
    x = offset[0] + thing.coordinates.x + (0.5 - anchor[0]) * width
    y = offset[1] + thing.coordinates.y + (0.5 - anchor[1]) * height
    half = (width / 2, height / 2)
    return LevelObject(
        thing.id, thing.name, type_, layer, _to_world(parsed, x, y), half, properties, number
    )
