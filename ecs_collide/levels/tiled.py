"""Load levels drawn with Tiled: tiles become few boxes, objects become entities of the game.

>>> from ecs_collide.levels import tiled                    # doctest: +SKIP
>>> level = tiled.load("level.tmx", layers={"Walls": {"solid": True}})   # doctest: +SKIP
>>> made = level.create({"coin": (ec.Sensor, Coin), "start": None})      # doctest: +SKIP

Tiled counts downwards from the map's top, in pixels.  All results count upwards from the map's
bottom-left corner, one unit a pixel.  The game draws the level; `Level.map` holds the whole
file, in the form of Tiled's JSON.
"""

from __future__ import annotations

import warnings
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ecs_collide.components.slope import Slope
from ecs_collide.levels.cells import Block, Grid, Kind, Part, TileLayer, Tiling
from ecs_collide.levels.files import LevelFiles
from ecs_collide.levels.frame import Frame, Point
from ecs_collide.levels.level import Level, Skipped, Tile
from ecs_collide.levels.outlines import (
    FLIPS,
    Ramp,
    box_around,
    corners_of,
    is_rectangle,
    ramp_of,
    turned,
)
from ecs_collide.levels.properties import (
    ByName,
    Factory,
    body_of,
    checked_categories,
    handed_down,
    is_solid,
    ramp_in,
    traits_of,
)
from ecs_collide.levels.reading import (
    check_count,
    check_numbers,
    check_place,
    refuse_damage,
    refuse_part,
)
from ecs_collide.levels.things import LevelObject, SolidBox
from ecs_collide.levels.tiled_files import (
    SHAPES,
    Map,
    MapTile,
    called_object,
    place_in_world,
    read_map,
)
from ecs_collide.levels.tiled_formats import Raw, number_of, parts, properties_of, text_of

__all__ = [
    "Level", "LevelObject", "Skipped", "SolidBox", "Tile", "load", "properties_of", "tile_number",
]  # fmt: skip

MAX_TILES = 2**20
"""How many tiles the layers of a map may have together, unless a game says otherwise.

The worst map with this number of tiles, a chessboard, takes about 5 seconds and 410 MB.
"""

# Characters of the properties of all tiles in all layers: each combination of the properties of a
# layer and of a tile is written out, and a small map can have very many.
_LARGEST_KINDS = 2**26

Properties = Mapping[str, Any]


def load(
    path: str | Path,
    *,
    merge: bool = True,
    no_box: Literal["warn", "skip", "refuse"] = "warn",
    categories: Mapping[str, int] | None = None,
    layers: Mapping[Any, Properties] | None = None,
    tiles: Mapping[Any, Properties] | None = None,
    objects: Mapping[Any, Properties] | None = None,
    world: str | Path | None = None,
    y_down: bool = False,
    root: str | Path | None = None,
    max_tiles: int = MAX_TILES,
) -> Level:
    """Read a Tiled map: TMX or JSON of any version, infinite or not.

    Properties decide which tiles and objects are bodies, and give them components.  The nearest one
    counts: an object's own, its tile's, its layer's, its group's.  In a layer with `solid` all
    tiles are bodies, except tiles with false; in one with false there are none.  A thing with
    `one_way`, `sensor`, `carry` or `slope` need not be `solid`.

    ==================  =====================  =================================================
    property            type                   component
    ==================  =====================  =================================================
    `solid`             bool                   none: whether it is a body
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

    A solid tile fills its cell, even if its picture is larger or smaller.  A tile with shapes from
    Tiled's tile collision editor has these as bodies instead, and need not be `solid`.  Their own
    properties precede the tile's.  Hidden layers and objects count like all others, and offsets of
    layers do, but not their parallax.

    A map may come from a stranger.  `root` and `max_tiles` bound the files that it can open and
    the data that it can unpack and repeat.

    Parameters
    ----------
    path : str or Path
        The map's file.
    merge : bool
        Join tiles of the same type and properties into few boxes; if false, each is a box.
    no_box : "warn", "skip" or "refuse"
        For shapes of tiles that are neither upright rectangles nor ramps.  They get no
        body and are listed in `Level.skipped`, with a warning or without one; or a ValueError is
        raised.  With "skip" and "refuse" this applies to objects that are `solid` too.  Otherwise
        `Level.create` raises for these.
    categories : mapping
        The bit, or the bits, of each name that `categories` and `mask` may use.
    layers, tiles, objects : mapping
        Properties of the table above by name.  They override the properties in the file:
        ``layers={"Walls": {"solid": True}}``.  The names are those of layers and groups; types of
        tiles, names of tilesets, "tileset:id" as Tiled shows the id, or numbers as in `Tile`; and
        types or names of objects.  A pair ``("kind", "stone")`` stands for everything whose
        property `kind` is `stone`.
        All maps of a game can share one mapping.  Names that a map does not have are ignored,
        unless it has none of them.
    world : str or Path
        A `.world` file of Tiled that has the map.  The level then lies at its place in the world,
        counted from the world's lower left corner.
    y_down : bool
        Count y downwards from the map's top left corner, for a game whose screen does so.
    root : str or Path
        The folder in or below which every file lies that is opened, even after symbolic links:
        tilesets and templates, which must be regular files.  By default the working folder if the
        map lies in it.  Otherwise it is the nearest folder with the mark of a project, such as
        `.git`, or the folder four above the map's.  Pictures are not opened.
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
        has.  A property of a body has an invalid value.  The map has layers, tiles or objects, and
        the argument for them names none of these.  The message names the file, and the layer and
        the object if one of them is at fault.
    TypeError
        An argument has the wrong type.
    """
    path = Path(path)
    if no_box not in ("warn", "skip", "refuse"):
        raise ValueError(f"no_box={no_box!r} must be 'warn', 'skip' or 'refuse'")
    categories = checked_categories(categories)
    if not isinstance(max_tiles, int) or isinstance(max_tiles, bool):
        raise TypeError(f"max_tiles={max_tiles!r} must be a whole number")
    by_name = ByName("layers", layers), ByName("tiles", tiles), ByName("objects", objects)
    files = LevelFiles(path, root)
    with refuse_damage(path, "map that Tiled"):
        parsed = read_map(files, max_tiles)
        place = (0.0, 0.0) if world is None else place_in_world(Path(world), parsed, y_down)
        frame = Frame(float(parsed.size[1] * parsed.tile_size[1]), place, y_down)
        reader = _Reader(parsed, frame, merge, no_box, categories, *by_name, max_tiles)
        level = reader.read(path.name)
    if level.skipped and no_box == "warn":
        warnings.warn(
            f"{path}: bodies left out, because only upright rectangles and ramps are boxes: "
            f"{len(level.skipped)}, the first: {level.skipped[0]}.  Level.skipped has them "
            "all; load(..., no_box='skip') leaves them out without a warning",
            stacklevel=2,
        )
    return level


def tile_number(gid: int) -> int:
    """Return a tile's number in the map, without the bits that say how it is flipped."""
    return gid & ~FLIPS


class _Shape(NamedTuple):
    """A shape of a tile: its outline in the picture, type, properties, and why it is no box."""

    points: list[Point]
    type: str
    properties: Properties
    called: str
    fault: str

    @property
    def reason(self) -> str:
        """Why an object of its tile is no box, or an empty text."""
        return self.fault and f"has {self.called}, which {self.fault}"


@dataclass
class _Reader:
    """A reader that turns one parsed map into a level."""

    parsed: Map
    frame: Frame
    merge: bool
    no_box: str
    categories: Mapping[str, int]
    layers_by: ByName
    tiles_by: ByName
    objects_by: ByName
    max_tiles: int
    skipped: dict[Skipped, None] = field(default_factory=dict)
    n_written: int = 0  # characters of kinds
    # By the properties of layers.
    kinds: dict[str, Callable[[int], Kind]] = field(default_factory=dict)
    n_shapes: int = 0  # of tile objects

    @property
    def cell(self) -> Point:
        """The size of a cell."""
        width, height = self.parsed.tile_size
        return float(width), float(height)

    def read(self, key: str) -> Level:
        """Return the level of the map."""
        self.find_named_tiles()
        layers: list[TileLayer] = []
        objects: list[LevelObject] = []
        for layer, name, offset, stated in self.layers(self.parsed.raw):
            if layer.get("type") == "tilelayer":
                is_solid(stated, f"layer {name!r}")
                # Layers with the same properties share their kinds.
                text = repr(sorted(stated.items()))
                kind = self.kinds.setdefault(text, cache(partial(self.kind, stated, name)))
                # In the first versions of Tiled a layer can begin at another cell.
                (x, y), (wide, high) = offset, self.cell
                corner = x + layer["x"] * wide, y + layer["y"] * high
                layers.append(TileLayer(name, corner, corner, self.cell, _blocks(layer), kind))
            elif layer.get("type") == "objectgroup":
                for thing in layer.get("objects") or ():
                    with refuse_part(f"{called_object(thing)} in layer {name!r}"):
                        objects += self.objects(thing, name, offset, stated)
        self.layers_by.refuse_unknown()
        self.objects_by.refuse_unknown()
        grid = Grid(tuple(layers), self.frame, self.merge, self.parsed.is_infinite)
        tiling = Tiling(grid, self.max_tiles)
        columns, _ = self.parsed.size
        size, raw = (columns * self.cell[0], self.frame.height), self.parsed.raw
        skipped, stated = tuple(self.skipped), properties_of(raw)
        return Level(size, tiling, tuple(objects), stated, raw, skipped, key)

    def layers(
        self, parent: Raw, offset: Point = (0.0, 0.0), above: Properties | None = None
    ) -> Iterator[tuple[Raw, str, Point, dict[str, Any]]]:
        """Yield the layers inside all groups, with name, offset and inherited properties."""
        for layer in parts(parent, "layers"):
            if layer.get("type") not in ("tilelayer", "objectgroup", "group"):
                continue
            name = text_of(layer, "name")
            with refuse_part(f"layer {name!r}"):
                own = properties_of(layer)
                stated = handed_down(above or {}, {**own, **self.layers_by.of([name], own)})
                right, down = number_of(layer, "offsetx"), number_of(layer, "offsety")
                check_numbers(f"layer {name!r}", offsetx=right, offsety=down)
            place = (offset[0] + right, offset[1] + down)
            if layer["type"] == "group":
                yield from self.layers(layer, place, stated)
            else:
                yield layer, name, place, stated

    # -- tiles --

    def find_named_tiles(self) -> None:
        """Refuse names of tiles that the game gives if no tileset has any of them."""
        by_name, tilesets = self.tiles_by, self.parsed.tilesets
        sheets = {text_of(tileset.raw, "name") for tileset in tilesets.values()}
        if tilesets:
            by_name.of({*sheets, ""}, {})  # a tile without an entry has no type
        for first, tileset in tilesets.items() if by_name.given else ():
            for number, tile in tileset.tiles.items():
                self.own_properties(MapTile(first + number, tileset, number, tile))
        for key in by_name.given:
            sheet, _, place = str(key).rpartition(":")
            is_number = isinstance(key, int) and key >= min(tilesets, default=key + 1)
            if is_number or (sheet in sheets and place.isdecimal()):
                by_name.of([key], {})
        by_name.refuse_unknown()

    def own_properties(self, tile: MapTile) -> dict[str, Any]:
        """Return the properties of a tile by its file and by the game."""
        # Versions before 1.1 could give them to the layer of its shapes.
        own = {**properties_of(tile.raw.get("objectgroup") or {}), **properties_of(tile.raw)}
        sheet = text_of(tile.tileset.raw, "name")
        exact = (tile.number, f"{sheet}:{tile.id}")
        names = [_type_of(tile.raw), *(name for name in exact if name in self.tiles_by.given)]
        names += [sheet] if sheet else []
        return {**own, **self.tiles_by.of(names, own)}

    def kind(self, stated: dict[str, Any], layer: str, gid: int) -> Kind:
        """Return the kind of a tile in a layer.  In a layer that is not solid it is no body."""
        if not gid:
            return Kind()
        tile = self.parsed.tile(gid, f"layer {layer!r}")
        owner = f"tile {tile.number} in layer {layer!r}"
        own, type_ = self.own_properties(tile), _type_of(tile.raw)
        body = is_solid(own, owner)
        is_off = body is False or stated.get("solid") is False
        boxes = [] if is_off else list(self.boxes_of(tile, gid, owner))
        nothing = Kind(type_, ChainMap(own, stated))
        if is_off or not (boxes or body or is_solid(stated, owner)):
            return nothing
        made: dict[Part, tuple[dict[str, Any], Any]] = {}
        try:
            for shape, ramp, own_type, more in boxes or [(None, None, type_, {})]:
                properties = {**stated, **own, **more}
                properties.pop("solid", None)
                if ramp is not None:
                    properties.pop("slope", None)  # its outline says it
                key = own_type or type_, self.written(properties, owner)
                part = Part(key, shape, ramp or ramp_in(properties, owner))
                traits = traits_of(properties, owner, self.categories)
                made[part] = properties, traits + _slope(ramp)
        except ValueError as error:
            if boxes or own.get("solid") or stated.get("solid"):
                raise
            # A word such as `slope` may mean something else in another game.
            self.leave_out(f"{owner} is no body, because {error}", ())
            return nothing
        return Kind(type_, nothing.properties, tuple(made), made)

    def written(self, properties: Properties, owner: str) -> str:
        """Return a text that is the same for the same properties, and count its characters."""
        text = repr(sorted(properties.items()))
        self.n_written += len(text)
        if self.n_written > _LARGEST_KINDS:
            raise ValueError(
                f"with {owner} all combinations of tiles and layers have more than "
                f"{_LARGEST_KINDS} characters of properties; give fewer tiles such properties, or "
                "more layers the same"
            )
        return text

    def boxes_of(
        self, tile: MapTile, gid: int, owner: str
    ) -> Iterator[tuple[Any, Ramp | None, str, Properties]]:
        """Yield the bodies that the tile collision editor gives a tile.

        Each has a box in its cell, or None if it fills that, a ramp or None, type and properties.
        """
        shapes = list(self.shapes_of(tile, owner))
        if not shapes:
            return
        wide, high = self.cell
        is_scaled = text_of(tile.tileset.raw, "tilerendersize") == "grid"
        drawing = tile.drawing(self.cell if is_scaled else tile.size, gid)
        up = high - drawing.drawn[1]  # tiles stand on the lower side of their cell
        for shape in shapes:
            if shape.fault:
                self.leave_out(f"{shape.called} {shape.fault}", shape.points)
                continue
            ring = [(x, y + up) for x, y in drawing.place(shape.points)]
            box, ramp = box_around(ring), ramp_of(ring)
            is_full = box == (0, 0, wide, high) and ramp is None
            yield None if is_full else box, ramp, shape.type, shape.properties

    def shapes_of(self, tile: MapTile, owner: str) -> Iterator[_Shape]:
        """Yield the shapes that the tile collision editor gives a tile, if they may be bodies."""
        sheet = tile.tileset
        for stated in (tile.raw.get("objectgroup") or {}).get("objects") or ():
            thing = {**self.parsed.whole(stated, sheet.folder), "gid": 0}  # it has no picture
            called = f"shape {called_object(thing).removeprefix('object ')} of {owner}"
            properties = properties_of(thing)
            if is_solid(properties, called) is not False:
                shape, points = _outline(thing, called)
                fault = _fault(shape, points, thing)
                if text_of(sheet.raw.get("grid") or {}, "orientation") == "isometric":
                    fault = "is drawn in the isometric grid of its tileset"
                yield _Shape(points, _type_of(thing), properties, called, fault)

    def leave_out(self, reason: str, points: Iterable[Point]) -> None:
        """Report a body that cannot be made in `skipped`, or raise a ValueError."""
        if self.no_box == "refuse":
            raise ValueError(f"{reason}; load(..., no_box='skip') leaves it out")
        outline = tuple((float(x), float(y)) for x, y in points)
        self.skipped[Skipped(reason, outline)] = None

    # -- objects --

    def objects(
        self, thing: Raw, layer: str, offset: Point, stated: dict[str, Any]
    ) -> Iterator[LevelObject]:
        """Yield an object of the world.

        Without a type, a tile with several shapes is an object for each, the first with its name.
        """
        called = f"{called_object(thing)} in layer {layer!r}"
        name, type_, own = text_of(thing, "name"), _type_of(thing), properties_of(thing)
        shape, points = _outline(thing, called)
        fault, number, shapes = _fault(shape, points, thing), 0, list[_Shape]()
        of_tile: dict[str, Any] = {}
        bodies: list[tuple[list[Point], str, Properties]] = []
        if shape == "tile":
            tile = self.parsed.tile(thing["gid"], called)
            number, of_tile = tile.number, self.own_properties(tile)
            type_ = type_ or _type_of(tile.raw)
            shapes = list(self.shapes_of(tile, f"its tile {number}"))
            points, *rings = _tile_outlines(thing, tile, shapes, called)
            self.n_shapes += len(shapes)
            so_far = f"{called}: with its tile the objects have {self.n_shapes} shapes"
            check_count(self.n_shapes, self.max_tiles, so_far)
            pairs = zip(rings, shapes, strict=True)
            bodies = [(ring, fault or one.reason, one.properties) for ring, one in pairs]
            if type_ and len(shapes) > 1:
                fault = f"has a tile with {len(shapes)} shapes, and a body is one box"
                bodies = [([*chain(*rings)], fault, {})]
        outline = tuple(self.at(offset, point) for point in points)
        id_ = thing.get("id")
        bodies = bodies or [(points, fault, {})]
        for body, why, of_shape in bodies:
            all_ = {**of_tile, **of_shape, **own}
            all_ |= self.objects_by.of([type_, name] if name else [type_], all_)
            ramp = ramp_of(body)
            asked = {**stated, **all_, **({} if ramp is None else {"slope": False})}
            solid, traits = body_of(asked, called, self.categories)
            traits += _slope(ramp)
            by_shapes = solid is None and bool(shapes) and not type_
            if why and (by_shapes or (solid and self.no_box != "warn")):
                self.leave_out(f"{called} {why}", outline)
                solid = False
            left, top, right, bottom = box_around(body[:1] if shape == "polyline" else body)
            half = ((right - left) / 2, (bottom - top) / 2)
            found = LevelObject(
                id_ if isinstance(id_, int) else 0, name, type_, layer,
                self.at(offset, (left + half[0], top + half[1])), half, all_, number, traits,
                bool(solid or (by_shapes and not why)), () if shape == "point" else outline,
                shape, why,
            )  # fmt: skip
            check_place(found)
            yield found
            name = ""

    def at(self, offset: Point, point: Point) -> Point:
        """Return the point of the world at a point of a layer."""
        return self.frame.to_world(offset[0] + point[0], offset[1] + point[1])


def _blocks(layer: Raw) -> list[Block]:
    """Return the tiles of a layer."""
    found = []
    for block in layer.get("chunks") or [layer]:
        data, width = block.get("data") or [], block.get("width") or 1
        rows = [data[start : start + width] for start in range(0, len(data), width)]
        left, top = (block["x"], block["y"]) if block is not layer else (0, 0)
        found.append(Block(left, top, rows))
    return found


def _type_of(thing: Raw) -> str:
    """Return the type of an object or a tile, which Tiled 1.9 calls its class."""
    return text_of(thing, "type", "class")


def _place(thing: Raw, called: str) -> tuple[float, float, float, float, float]:
    """Return x, y, width, height and rotation of an object."""
    x, y, wide, high, degrees = found = tuple(
        number_of(thing, name) for name in ("x", "y", "width", "height", "rotation")
    )
    check_numbers(called, x=x, y=y, rotation=degrees)
    check_numbers(f"{called} with its size", wide=wide, high=high)  # which may be negative
    return found


def _tile_outlines(
    thing: Raw, tile: MapTile, shapes: Iterable[_Shape], called: str
) -> list[list[Point]]:
    """Return the outlines of the picture of a tile object, and of the shapes of its tile."""
    x, y, wide, high, degrees = _place(thing, called)
    size = tile.size
    wide, high = wide or size[0], high or size[1]  # without a size it is as large as its picture
    held = text_of(tile.tileset.raw, "objectalignment")
    held = held if held not in ("", "unspecified") else "bottomleft"
    left = x - wide * (0.0 if "left" in held else 1.0 if "right" in held else 0.5)
    top = y - high * (0.0 if "top" in held else 1.0 if "bottom" in held else 0.5)
    drawing = tile.drawing((wide, high), thing["gid"])
    outlines = [corners_of(0.0, 0.0, *size), *(shape.points for shape in shapes)]
    return [
        turned([(left + dx, top + dy) for dx, dy in drawing.place(points)], (x, y), degrees)
        for points in outlines
    ]


def _outline(thing: Raw, called: str) -> tuple[str, list[Point]]:
    """Return the shape of an object, and its corners or points in the pixels of its layer."""
    x, y, wide, high, degrees = _place(thing, called)
    shape = next((word for word in ("gid", *SHAPES) if thing.get(word)), "rectangle")
    if shape == "gid":
        return "tile", [(x, y)]
    if shape in ("polygon", "polyline"):
        points = [(number_of(point, "x"), number_of(point, "y")) for point in thing[shape]]
        for right, down in points:
            check_numbers(called, x=right, y=down)
        return shape, turned([(x + right, y + down) for right, down in points], (x, y), degrees)
    if shape == "point" or (shape == "rectangle" and not (wide or high)):
        return "point", [(x, y)]
    return shape, turned(corners_of(x, y, wide, high), (x, y), degrees)


def _fault(shape: str, points: list[Point], thing: Raw) -> str:
    """Return why an object is no box, or an empty text."""
    degrees = number_of(thing, "rotation")
    if shape in ("rectangle", "text", "tile"):
        if degrees % 90 == 0:
            return ""
        return f"is rotated by {degrees:g} degrees"
    if shape == "polygon" and (is_rectangle(points) or ramp_of(points)):
        return ""
    if shape == "polygon":
        shape = "polygon, and neither an upright rectangle nor a ramp"
    return f"is {'an' if shape == 'ellipse' else 'a'} {shape}"


def _slope(ramp: Ramp | None) -> tuple[Factory, ...]:
    """Return functions that create the components of a ramp."""
    return () if ramp is None else (partial(Slope, *ramp),)
