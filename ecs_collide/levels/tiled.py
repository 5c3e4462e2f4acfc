"""Load levels drawn with Tiled: tiles become few boxes, objects become entities of the game.

>>> from ecs_collide import tiled                           # doctest: +SKIP
>>> level = tiled.load("level.tmx")                         # doctest: +SKIP
>>> made = level.create({"coin": (ec.Sensor, Coin), "start": None})  # doctest: +SKIP

Tiled counts downwards from the map's top, in pixels.  All results count upwards from the map's
bottom-left corner, one unit a pixel.  The game draws the level; `Level.map` holds the whole
parsed file.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ecs_collide.components.slope import Slope
from ecs_collide.levels.cells import Block, Grid, Kind, Part, TileLayer
from ecs_collide.levels.files import LevelFiles
from ecs_collide.levels.frame import Frame
from ecs_collide.levels.level import Level, Skipped, Tile
from ecs_collide.levels.outlines import Ramp, is_rectangle, ramp_of
from ecs_collide.levels.properties import (
    Factory,
    checked_categories,
    handed_down,
    is_solid,
    ramp_in,
    traits_of,
)
from ecs_collide.levels.reading import check_numbers, check_place, refuse_damage
from ecs_collide.levels.things import LevelObject, SolidBox

try:
    import pytiled_parser
    from pytiled_parser import tiled_object as shapes

    from ecs_collide.levels.tiled_files import FLIPS, n_places, read_map
except ImportError as error:
    raise ImportError(
        'ecs_collide.levels.tiled needs pytiled-parser: pip install "ecs_collide[tiled]"',
        name="pytiled_parser",
    ) from error

__all__ = ["Level", "LevelObject", "Skipped", "SolidBox", "Tile", "load", "tile_number"]

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

_BOXES = "; only rectangles, points, texts and tiles are boxes"

MAX_TILES = 2**20
"""How many tiles the layers of a map may have together, unless a game says otherwise.

The worst map with this number of tiles takes about 5 seconds and 320 MB.
"""

# Characters of the properties of all tiles in all layers: each combination of the properties of a
# layer and of a tile is written out, and a small map can have very many.
_LARGEST_KINDS = 2**26

# The bits of a tile number that say how the tile is flipped: by its diagonal first.
_FLIP_X, _FLIP_Y, _FLIP_DIAGONALLY = 1 << 31, 1 << 30, 1 << 29


def load(
    path: str | Path,
    *,
    merge: bool = True,
    no_box: Literal["refuse", "skip"] = "refuse",
    categories: Mapping[str, int] | None = None,
    root: str | Path | None = None,
    max_tiles: int = MAX_TILES,
) -> Level:
    """Read a Tiled map: TMX or JSON, infinite or not, with embedded or external tilesets.

    The property `solid` (type bool) of a tile layer or group, and of a tile in its tileset,
    decides which tiles are bodies:

    ============  ==========================================
    of the layer  bodies are
    ============  ==========================================
    true          all tiles except tiles with false
    not there     only tiles with true
    false         no tiles
    ============  ==========================================

    A solid tile fills its cell of the map's grid, even if its picture is larger or smaller.
    A tile with shapes from Tiled's tile collision editor has these as bodies instead, and need not
    be `solid`: rectangles, and polygons that are rectangles, flipped with the tile.  Their own
    properties precede the tile's.  Hidden layers and objects count like all others.  An object
    made from a template is read as Tiled shows it: the template, with the object's changes.

    A map may come from a stranger.  `root` and `max_tiles` bound the files that it can open and
    the data that it can unpack and repeat.  Reading takes time and memory in proportion to them
    and to its files.

    Other properties give a tile or an object its components.  The nearest one counts: an object's
    own, its tile's, its layer's, its group's.  A thing with one of the first four need not be
    `solid`.

    ==================  =====================  =================================================
    property            type                   component
    ==================  =====================  =================================================
    `one_way`           bool, or string        `OneWay`; up (as true), down, left, right
    `sensor`            bool                   `Sensor`
    `carry`             bool, or float         `Carry`: a lift; a belt of that speed
    `slope`             string                 `Slope`: left or right, to where the floor rises
    `slope_low`         float                  its height at the low end, 0 to 1 of the box
    `slope_high`        float                  its height at the high end
    `slope_ceiling`     bool                   whether it is a ceiling
    `friction`          float                  `Friction`
    `friction_rule`     string                 its rule: average, geometric, min, multiply, max
    `restitution`       float                  `Restitution`
    `restitution_rule`  string                 its rule
    `categories`        int, or string         `Filter`: bits, or names with commas between
    `mask`              int, or string         the same; `all` is a name too
    `group`             int                    `Filter`
    ==================  =====================  =================================================

    Parameters
    ----------
    path : str or Path
        The map's file.
    merge : bool
        Join tiles of the same type and properties into as few boxes as a greedy search finds;
        if false, each is a box.  In both cases the same points are solid.
    no_box : "refuse" or "skip"
        Whether to raise for an object, or a shape of a tile in a layer of bodies, that is not an
        upright box, or to skip it and report it in `Level.skipped`.  Such are rotated boxes,
        ellipses, capsules, solid lines, and polygons that are no upright rectangles.
    categories : mapping
        The bit, or the bits, of each name that `categories` and `mask` may use.
    root : str or Path
        The folder in or below which every file lies that the map names, even after symbolic
        links: tilesets, templates and pictures.  By default the folder of the map.  Tilesets and
        templates are opened here, and must be regular files.  Pictures are opened by the game, if
        at all, and need not exist.
    max_tiles : int
        How many tiles all layers and chunks may have together, with empty cells, and how many
        shapes all tiles.

    Raises
    ------
    FileNotFoundError
        The map, one of its tilesets or a template is missing.
    ValueError
        The file is not a map, or a part of it is damaged.  A file that it names lies outside of
        `root`, or is not a regular file.  Layers have more tiles than `max_tiles` or than they
        declare.  XML defines entities.  The map is not orthogonal.  It uses a tile that no tileset
        has.  A template is saved as XML and the map as JSON, or the reverse.  A property has an
        invalid value.  An object is not an upright box.  The message names the file, and the
        layer and the object if one of them is at fault.
    TypeError
        `categories` does not map names to numbers, or `max_tiles` is not a number.
    """
    path = Path(path)
    if no_box not in ("refuse", "skip"):
        raise ValueError(f"no_box={no_box!r} must be 'refuse' or 'skip'")
    categories = checked_categories(categories)
    if not isinstance(max_tiles, int) or isinstance(max_tiles, bool):
        raise TypeError(f"max_tiles={max_tiles!r} must be a whole number")
    parsed, capsules = read_map(LevelFiles(path, root), max_tiles)
    if parsed.orientation != "orthogonal":
        raise ValueError(
            f"{path} is {parsed.orientation}; only the cells of an orthogonal map are boxes"
        )
    with refuse_damage(path, "map that Tiled"):  # the parser passes on any value of JSON
        reader = _Reader(parsed, capsules, merge, no_box == "skip", categories)
        return reader.read(path.name, max_tiles)


def tile_number(gid: int) -> int:
    """Return a tile's number in the map, without the bits that say how it is flipped."""
    return gid & ~FLIPS


class _Reader:
    """A reader that turns one parsed map into a level."""

    def __init__(
        self,
        parsed: pytiled_parser.TiledMap,
        capsules: frozenset[str],
        merge: bool,
        skip: bool,
        categories: Mapping[str, int],
    ) -> None:
        self.parsed, self.merge, self.skip, self.categories = parsed, merge, skip, categories
        self.capsules = capsules
        for what, (width, height) in (("map", parsed.map_size), ("grid", parsed.tile_size)):
            check_numbers(f"the {what}", width=width, height=height)
        if 0 in parsed.tile_size:
            raise ValueError("the cells of the grid have no size")
        width, height = parsed.tile_size
        self.cell = (float(width), float(height))
        self.firsts = sorted(parsed.tilesets)
        self.n_places: dict[int, int] = {}
        known: dict[int, int] = {}  # tilesets from one file share their tiles
        for first in self.firsts:
            tileset = parsed.tilesets[first]
            if id(tileset.tiles) not in known or not tileset.tiles:
                known[id(tileset.tiles)] = n_places(tileset)
            self.n_places[first] = known[id(tileset.tiles)]
        self.height = parsed.map_size.height * self.cell[1]
        self.skipped: list[Skipped] = []
        self.n_written = 0  # characters of kinds
        self.kinds: dict[tuple[str, int], Kind] = {}  # by the properties of the layers

    def read(self, key: str, max_tiles: int) -> Level:
        """Return the level of the map."""
        layers: list[TileLayer] = []
        objects: list[LevelObject] = []
        for layer, offset, stated in self.layers(self.parsed.layers):
            if isinstance(layer, pytiled_parser.TileLayer):
                kind = partial(self.kind, stated, _written(stated), layer.name)
                blocks = self.blocks(layer)
                layers.append(TileLayer(layer.name, offset, offset, self.cell, blocks, kind))
            elif isinstance(layer, pytiled_parser.ObjectLayer):
                for thing in layer.tiled_objects:
                    found = self.object(thing, layer.name, offset, stated)
                    if found is not None:
                        objects.append(found)
        grid = Grid(tuple(layers), Frame(self.height), self.merge, bool(self.parsed.infinite))
        solids, places = grid.solids(max_tiles)
        size = (self.parsed.map_size.width * self.cell[0], self.height)
        return Level(
            size,
            solids,
            tuple(objects),
            self.parsed.properties or {},
            self.parsed,
            tuple(self.skipped),
            key,
            grid,
            places,
        )

    def layers(
        self,
        layers: Iterable[Any],
        offset: tuple[float, float] = (0.0, 0.0),
        above: Mapping[str, Any] | None = None,
    ) -> Iterator[tuple[Any, tuple[float, float], dict[str, Any]]]:
        """Yield the layers inside all groups, with their offset and inherited properties."""
        for layer in layers:
            stated = handed_down(above or {}, layer.properties)
            called = f"layer {layer.name!r}"
            is_solid(stated, called)
            check_numbers(called, offsetx=layer.offset.x, offsety=layer.offset.y)
            place = (offset[0] + layer.offset.x, offset[1] + layer.offset.y)
            if isinstance(layer, pytiled_parser.LayerGroup):
                yield from self.layers(layer.layers or (), place, stated)
            else:
                yield layer, place, stated

    def blocks(self, layer: pytiled_parser.TileLayer) -> list[Block]:
        """Return the tiles of a layer, checked."""
        found: list[tuple[Any, Any, list[list[int]]]] = [
            (chunk.coordinates, chunk.size, chunk.data) for chunk in layer.chunks or ()
        ]
        if layer.data is not None or not (layer.chunks or self.parsed.infinite):
            found.append(((0, 0), layer.size or self.parsed.map_size, layer.data or []))
        for _, (width, height), rows in found:
            n_tiles = sum(map(len, rows))
            if n_tiles != width * height:
                raise ValueError(
                    f"layer {layer.name!r} is {width} x {height} tiles large and has {n_tiles}"
                )
            for gid in set().union(*rows) - {0}:
                self.tile(gid, f"layer {layer.name!r}")
        return [Block(int(left), int(top), rows) for (left, top), _, rows in found]

    def kind(self, stated: dict[str, Any], written: str, layer: str, gid: int) -> Kind:
        """Return what a tile is in a layer with some properties, which are also written out."""
        known = self.kinds.get((written, gid))
        if known is None:
            known = self.kinds[written, gid] = self.new_kind(stated, layer, gid)
        return known

    def new_kind(self, stated: dict[str, Any], layer: str, gid: int) -> Kind:
        """Return the kind of a tile in a layer.  In a layer that is not solid it is no body."""
        if not gid:
            return Kind()
        number = tile_number(gid)
        tileset, tile = self.tile(gid, f"layer {layer!r}")
        own = (tile.properties if tile else None) or {}
        type_ = (tile.class_ if tile else "") or ""
        owner = f"tile {number} in layer {layer!r}"
        body = is_solid(own, owner)
        is_off = body is False or stated.get("solid") is False
        boxes = [] if is_off or tile is None else list(self.shapes_of(tile, tileset, gid, owner))
        if is_off or not (boxes or body or is_solid(stated, owner)):
            return Kind(type_, ChainMap(own, stated))
        whole = boxes or [(None, None, type_, {})]
        made: dict[Part, tuple[str, dict[str, Any], Any]] = {}
        for shape, ramp, own_type, more in whole:
            properties = {**stated, **own, **more}
            properties.pop("solid", None)
            if ramp is not None:
                properties.pop("slope", None)  # its outline says it
            key = (own_type or type_, _written(properties))
            self.n_written += len(key[1])
            if self.n_written > _LARGEST_KINDS:
                raise ValueError(
                    f"with {owner} all combinations of tiles and layers have more than "
                    f"{_LARGEST_KINDS} characters of properties; give fewer tiles such "
                    "properties, or more layers the same"
                )
            traits = traits_of(properties, owner, self.categories)
            made[Part(key, shape, ramp or ramp_in(properties, owner))] = (
                key[0],
                properties,
                traits + _slope(ramp),
            )
        return Kind(type_, ChainMap(own, stated), tuple(made), made)

    def shapes_of(
        self, tile: Any, tileset: Any, gid: int, owner: str
    ) -> Iterator[tuple[Any, Ramp | None, str, dict[str, Any]]]:
        """Yield the bodies that the tile collision editor gives a tile.

        Each has a box in its cell, or None if it fills that, a ramp or None, type and properties.
        """
        size = tile.width or tileset.tile_width, tile.height or tileset.tile_height
        up = self.cell[1] - size[1]  # tiles stand on the lower side of their cell
        for thing in getattr(tile.objects, "tiled_objects", None) or ():
            called = f"shape {thing.id} ({thing.name or 'no name'}) of {owner}"
            if is_solid(thing.properties, called) is False:
                continue
            fault = self.fault(thing, called)
            if isinstance(thing, shapes.Polyline):
                fault = "is a polyline" + _BOXES
            elif not any(thing.size) and not fault and not isinstance(thing, shapes.Polygon):
                fault = "is a point" + _BOXES
            if fault:
                self.skip_or_raise(called, fault, _outline(thing))
                continue
            ring = [_flipped(point, size, gid) for point in _outline(thing)]
            ramp = ramp_of(ring)
            xs, ys = zip(*ring, strict=True)
            box = (min(xs), min(ys) + up, max(xs), max(ys) + up)
            is_full = box == (0, 0, *self.cell) and ramp is None
            yield None if is_full else box, ramp, thing.class_, thing.properties

    def fault(self, thing: shapes.TiledObject, called: str) -> str | None:
        """Return why an object is no upright box, or None."""
        check_numbers(
            called,
            x=thing.coordinates.x,
            y=thing.coordinates.y,
            width=thing.size.width,
            height=thing.size.height,
            rotation=thing.rotation,
        )
        return "is a capsule" + _BOXES if str(thing.id) in self.capsules else _no_box(thing)

    def skip_or_raise(self, called: str, fault: str, points: Iterable[Any]) -> None:
        """Report an object that is no box in `skipped`, or raise a ValueError."""
        if not self.skip:
            raise ValueError(f"{called} {fault}; load(..., no_box='skip') skips it")
        outline = tuple((float(x), float(y)) for x, y in points)
        self.skipped.append(Skipped(f"{called} {fault}", outline))

    def tile(self, gid: int, user: str) -> tuple[Any, Any]:
        """Return the tileset that holds a tile, and its entry for the tile or None."""
        if not isinstance(gid, int) or gid < 0:
            raise ValueError(f"{user} has {gid!r} for a tile")
        number = tile_number(gid)
        place = bisect_right(self.firsts, number)
        if place > 0:
            first = self.firsts[place - 1]
            if number < first + self.n_places[first]:
                tileset = self.parsed.tilesets[first]
                return tileset, (tileset.tiles or {}).get(number - first)
        raise ValueError(f"{user} uses tile {number}, which is in none of the map's tilesets")

    def object(
        self,
        thing: shapes.TiledObject,
        layer: str,
        offset: tuple[float, float],
        stated: dict[str, Any],
    ) -> LevelObject | None:
        """Return an object as a box of the world, or None to skip it."""
        called = f"object {thing.id} ({thing.name or 'no name'}) in layer {layer!r}"
        fault = self.fault(thing, called)
        is_line = isinstance(thing, shapes.Polyline)
        if is_line and is_solid({**stated, **thing.properties}, called):
            fault = fault or "is a polyline and solid" + _BOXES
        if fault:
            outline = [(x + offset[0], self.height - (y + offset[1])) for x, y in _outline(thing)]
            self.skip_or_raise(called, fault, outline)
            return None
        x, y, right, bottom = _corners_of(thing)
        width, height = right - x, bottom - y
        ramp = ramp_of(_outline(thing)) if isinstance(thing, shapes.Polygon) else None

        type_, properties, number = thing.class_, thing.properties, 0
        anchor = _ANCHORS["topleft"]
        if isinstance(thing, shapes.Tile):
            tileset, tile = self.tile(thing.gid, called)
            number = tile_number(thing.gid)
            anchor = _ANCHORS.get(tileset.alignment or "", _ANCHORS["bottomleft"])
            if tile is not None:
                type_ = type_ or tile.class_ or ""
                properties = {**(tile.properties or {}), **properties}
            # A tile without a size is as large as its picture.
            width = width or (tile and tile.width) or tileset.tile_width
            height = height or (tile and tile.height) or tileset.tile_height

        x += offset[0] + (0.5 - anchor[0]) * width
        y += offset[1] + (0.5 - anchor[1]) * height
        points = [(x + right, self.height - (y + down)) for right, down in _line_of(thing)]
        if points:
            x, y = points[0][0], self.height - points[0][1]
        asked = {**stated, **properties}
        found = LevelObject(
            thing.id,
            thing.name,
            type_,
            layer,
            (x, self.height - y),
            (width / 2, height / 2),
            properties,
            number,
            traits_of(asked, called, self.categories) + _slope(ramp),
            bool(is_solid(asked, called)),
            tuple(points),
        )
        check_place(found)
        return found


def _line_of(thing: shapes.TiledObject) -> list[tuple[float, float]]:
    """Return the points of a line, relative to its place; none for other objects."""
    points = [(x, y) for x, y in thing.points] if isinstance(thing, shapes.Polyline) else []
    for x, y in points:
        check_numbers(f"object {thing.id}", x=x, y=y)
    return points


def _written(properties: Mapping[str, Any]) -> str:
    """Return a text that is the same for the same properties."""
    return repr(sorted(properties.items(), key=lambda item: item[0]))


def _outline(thing: shapes.TiledObject) -> list[tuple[float, float]]:
    """Return the corners of an object in the map's pixels, or the points of a polygon or line."""
    x, y = thing.coordinates
    wide, high = thing.size
    points = [(0.0, 0.0), (wide, 0.0), (wide, high), (0.0, high)]
    if isinstance(thing, (shapes.Polygon, shapes.Polyline)):
        points = [(float(right), float(down)) for right, down in thing.points]
    for right, down in points:
        check_numbers(f"object {thing.id}", x=right, y=down)
    angle = math.radians(thing.rotation % 360)  # exact for whole turns
    cos, sin = math.cos(angle), math.sin(angle)
    return [(x + cos * dx - sin * dy, y + sin * dx + cos * dy) for dx, dy in points]


def _corners_of(thing: shapes.TiledObject) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of a box, in the map's pixels."""
    x, y = thing.coordinates
    if not isinstance(thing, shapes.Polygon):
        return x, y, x + thing.size.width, y + thing.size.height
    xs, ys = zip(*thing.points, strict=True)
    return x + min(xs), y + min(ys), x + max(xs), y + max(ys)


def _no_box(thing: shapes.TiledObject) -> str | None:
    """Return why an object is no upright box, or None."""
    if isinstance(thing, shapes.Ellipse):
        return "is an ellipse" + _BOXES
    if isinstance(thing, shapes.Polygon):
        points = [(x, y) for x, y in thing.points]
        for x, y in points:
            check_numbers("a polygon", x=x, y=y)
        if not (is_rectangle(points) or ramp_of(points)):
            return "is a polygon, and neither an upright rectangle nor a ramp" + _BOXES
    is_point = not any(thing.size) and not isinstance(
        thing, (shapes.Tile, shapes.Polyline, shapes.Polygon)
    )
    if thing.rotation % 360 != 0 and not is_point:
        return f"is rotated by {thing.rotation:g} degrees; boxes stay parallel to the axes"
    return None


def _slope(ramp: Ramp | None) -> tuple[Factory, ...]:
    """Return functions that create the components of a ramp."""
    return () if ramp is None else (partial(Slope, *ramp),)


def _flipped(
    point: tuple[float, float], size: tuple[float, float], gid: int
) -> tuple[float, float]:
    """Return where a point of a tile lies in a tile that is flipped as its number says."""
    x, y = point
    if gid & _FLIP_DIAGONALLY:
        x, y = y, x
    return (size[0] - x if gid & _FLIP_X else x), (size[1] - y if gid & _FLIP_Y else y)
