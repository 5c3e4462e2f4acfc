"""Read a map of Tiled with the tilesets and templates that it names, and its place in a world.

Tiles are unpacked here, at most as many as their layer declares, and objects made from templates
are written out.  Pictures are never opened.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ecs_collide.levels.files import LevelFiles
from ecs_collide.levels.frame import Point
from ecs_collide.levels.outlines import FLIPS, Drawing
from ecs_collide.levels.reading import check_count, check_numbers, refuse_damage, refuse_part
from ecs_collide.levels.tile_data import numbers_of
from ecs_collide.levels.tiled_formats import (
    Raw,
    listed_properties,
    number_of,
    parse,
    parts,
    text_of,
    tiles_of,
    whole_of,
)

# Bytes of the templates of all instances together: each instance copies its whole template, and a
# small map could name a large template very often.
_LARGEST_COPIES = 2**26

# The names by which an object has another shape than a rectangle.
SHAPES = ("polygon", "polyline", "ellipse", "capsule", "point", "text")
# If one of these is empty or zero in an object, Tiled takes it from the object's template.
_WEAK = ("name", "type", "class", "gid", "width", "height")


def place_picture(owner: Raw, folder: Path) -> None:
    """Make the path of a picture absolute, which is only text here."""
    name = owner.get("image")
    if name and isinstance(name, str):
        owner["image"] = os.path.normpath(os.path.join(folder, name))


@dataclass(slots=True)
class Tileset:
    """A tileset: its content, the entries of its tiles by id, and the folder of its file."""

    raw: Raw
    tiles: dict[int, Raw]
    folder: Path

    @classmethod
    def of(cls, raw: Raw, folder: Path) -> Tileset:
        """Return the tileset of some content, with absolute paths of pictures."""
        tiles = tiles_of(raw)
        raw["tiles"] = [*tiles.values()]
        for owner in (raw, *raw["tiles"]):
            place_picture(owner, folder)
        return cls(raw, tiles, folder)

    @property
    def n_places(self) -> int:
        """How many tile numbers it takes; there are gaps if it has single pictures."""
        stated = self.raw.get("tilecount")
        return max(stated if isinstance(stated, int) else 0, max(self.tiles, default=-1) + 1)


class MapTile(NamedTuple):
    """A tile by its number in the map, with its id and its entry in its tileset, maybe empty."""

    number: int
    tileset: Tileset
    id: int
    raw: Raw

    @property
    def size(self) -> Point:
        """The size of its picture, in pixels."""
        raw, of_all = self.raw, self.tileset.raw
        wide = raw.get("width") or raw.get("imagewidth") or of_all.get("tilewidth") or 1
        high = raw.get("height") or raw.get("imageheight") or of_all.get("tileheight") or 1
        check_numbers("the picture of a tile", width=wide, height=high)
        return wide, high

    def drawing(self, drawn: Point, gid: int) -> Drawing:
        """Return how it is drawn with a size, and flipped by the bits of a number."""
        sheet = self.tileset.raw
        stated = sheet.get("tileoffset") or {}
        offset = number_of(stated, "x"), number_of(stated, "y")
        check_numbers("the drawing offset of a tileset", x=offset[0], y=offset[1])
        keeps_aspect = text_of(sheet, "fillmode") == "preserve-aspect-fit"
        return Drawing(self.size, drawn, keeps_aspect, offset, gid)


@dataclass(slots=True)
class Map:
    """A map, whose layers are complete, with its tilesets by their first tile numbers.

    `size` is in tiles, and `tile_size` in pixels.
    """

    raw: Raw
    files: LevelFiles
    size: tuple[int, int]
    tile_size: tuple[int, int]
    is_infinite: bool
    tilesets: dict[int, Tileset] = field(default_factory=dict)
    firsts: list[int] = field(default_factory=list)
    largest: int = 0  # tile number used
    _templates: dict[Path, tuple[Raw, int]] = field(default_factory=dict)
    _sheets: dict[Path, Tileset] = field(default_factory=dict)  # external tilesets
    _n_copied: int = 0  # bytes of templates

    def tile(self, gid: Any, user: str) -> MapTile:
        """Return a tile by its number with the bits for flips; `user` is for errors."""
        if type(gid) is not int or not 0 <= gid < 2**32:
            raise ValueError(f"{user} has {gid!r} for a tile")
        number = gid & ~FLIPS
        place = bisect_right(self.firsts, number)
        if place == 0:
            raise ValueError(f"{user} uses tile {number}, which is in none of the map's tilesets")
        first = self.firsts[place - 1]
        tileset = self.tilesets[first]
        id_ = number - first
        return MapTile(number, tileset, id_, tileset.tiles.get(id_, {}))

    def open(self, path: Path, kind: str) -> tuple[Raw, int]:
        """Return the content of a tileset or a template that was found, and its size in bytes."""
        with refuse_damage(path, f"{kind} that Tiled", f" ({self.files.level} names it)"):
            content = self.files.read(path)
            return parse(content, kind), len(content)

    def add_tileset(self, stated: Raw, folder: Path, first: int) -> None:
        """Add a tileset that the map or a template contains or names."""
        if first not in self.tilesets:
            insort(self.firsts, first)
        if stated.get("source"):
            path = self.files.find(stated["source"], folder, "the file of a tileset")
            if path not in self._sheets:
                raw, _ = self.open(path, "tileset")
                self._sheets[path] = Tileset.of(raw, path.parent)
            self.tilesets[first] = self._sheets[path]
        else:
            self.tilesets[first] = Tileset.of(stated, folder)

    def whole(self, thing: Raw, folder: Path) -> Raw:
        """Return an object or a shape, completed from its template."""
        if not thing.get("template"):
            return thing
        path = self.files.find(thing["template"], folder, "its template")
        if path not in self._templates:
            self._templates[path] = self.open(path, "template")
        template, n_bytes = self._templates[path]
        self._n_copied += n_bytes
        if self._n_copied > _LARGEST_COPIES:
            raise ValueError(
                f"with its template {path} the instances of templates copy more than "
                f"{_LARGEST_COPIES} bytes; make the template smaller, or detach instances from it"
            )
        with refuse_damage(path, "template that Tiled", f" ({self.files.level} names it)"):
            pattern = template["object"]
            own = {name for name in _WEAK if thing.get(name) not in (None, "", 0)}
            own |= {"type", "class"} if own & {"type", "class"} else set()
            own -= set() if own >= {"width", "height"} else {"width", "height"}
            reshaped = {*SHAPES} if any(map(thing.get, SHAPES)) else set()
            base = {n: value for n, value in pattern.items() if n not in own | reshaped}
            not_own = {"template", *_WEAK} - own
            whole = base | {n: value for n, value in thing.items() if n not in not_own}
            both = [*listed_properties(pattern), *listed_properties(thing)]
            whole["properties"] = [*{stated["name"]: stated for stated in both}.values()]
            if "gid" not in own and pattern.get("gid"):
                whole["gid"] = pattern["gid"] + self._shift(template, path)
        return whole

    def _shift(self, template: Raw, path: Path) -> int:
        """Return the offset of a template's tile numbers; add its tileset to the map if needed."""
        stated = template.get("tileset")
        if not stated or not stated.get("source"):
            raise ValueError("it has a tile, and names no file of a tileset")
        source = self.files.find(stated["source"], path.parent, "the file of a tileset")
        sheet = self._sheets.get(source)
        first = next((n for n, tileset in self.tilesets.items() if tileset is sheet), 0)
        if not first:
            ends = (first + tileset.n_places for first, tileset in self.tilesets.items())
            first = max([1, self.largest + 1, *ends])
            self.add_tileset(stated, path.parent, first)
        return first - whole_of(stated, "firstgid")


def read_map(files: LevelFiles, max_tiles: int) -> Map:
    """Read a map; all its layers together may have at most `max_tiles` tiles.

    Raises
    ------
    FileNotFoundError
        The map, a tileset or a template is missing.
    ValueError
        The file is not an orthogonal map.  A tileset, layer or object cannot be read; the message
        names it.
    Exception
        The map is damaged.
    """
    raw = parse(files.read_level(), "map")
    orientation = text_of(raw, "orientation") or "orthogonal"
    if orientation != "orthogonal":
        raise ValueError(f"it is {orientation:.100}; only the cells of an orthogonal map are boxes")
    size = whole_of(raw, "width"), whole_of(raw, "height")
    tile_size = whole_of(raw, "tilewidth"), whole_of(raw, "tileheight")
    if 0 in tile_size:
        raise ValueError("the cells of the grid have no size")
    found = Map(raw, files, size, tile_size, raw.get("infinite") in (True, 1, "true"))
    for tileset in parts(raw, "tilesets"):
        found.add_tileset(tileset, files.folder, whole_of(tileset, "firstgid"))
    leaves = list(_leaves(raw))
    n_tiles = 0
    for layer in leaves:
        if layer.get("type") == "tilelayer":
            n_tiles = _unpack(found, layer, n_tiles, max_tiles)
        elif layer.get("type") == "imagelayer":
            place_picture(layer, files.folder)
    for layer in leaves:
        if layer.get("type") != "objectgroup":
            continue
        called = f"in layer {text_of(layer, 'name')!r}"
        things = layer.get("objects") or []
        for n, thing in enumerate(things):
            with refuse_part(f"{called_object(thing)} {called}"):
                things[n] = found.whole(thing, files.folder)
    sheets = found.tilesets.items()
    raw["tilesets"] = [{**tileset.raw, "firstgid": first} for first, tileset in sorted(sheets)]
    return found


def called_object(thing: Any) -> str:
    """Return the name of an object or a shape for errors."""
    if not isinstance(thing, dict):
        return f"object {thing!r:.100}"
    return f"object {thing.get('id')} ({text_of(thing, 'name') or 'no name'})"


def _leaves(raw: Raw) -> Iterator[Raw]:
    """Yield the layers inside all groups."""
    for layer in parts(raw, "layers"):
        if layer.get("type") == "group":
            yield from _leaves(layer)
        else:
            yield layer


def _unpack(map: Map, layer: Raw, n_tiles: int, max_tiles: int) -> int:
    """Unpack the tiles of a layer or its chunks; return the tiles of all layers so far."""
    called = f"layer {text_of(layer, 'name')!r}"
    with refuse_part(called):
        blocks = parts(layer, "chunks")
        map.is_infinite = map.is_infinite or bool(blocks)
        encoding, compression = text_of(layer, "encoding"), text_of(layer, "compression")
        if not blocks and not (map.is_infinite and not layer.get("data")):
            blocks = [layer]
            for name, side in zip(("width", "height"), map.size, strict=True):
                layer[name] = whole_of(layer, name, side)
        for part in (layer, *blocks):
            x, y = number_of(part, "x"), number_of(part, "y")
            check_numbers(called, x=x, y=y)
            part |= {"x": int(x), "y": int(y)}
        for block in blocks:
            width, height = whole_of(block, "width"), whole_of(block, "height")
            n_tiles += width * height
            check_count(n_tiles, max_tiles, f"{called}: with it the map has {n_tiles} tiles")
            data = numbers_of(block.get("data") or [], encoding, compression, width * height)
            if data and len(data) != width * height:
                found = "more" if len(data) > width * height else len(data)
                raise ValueError(f"{called} is {width} x {height} tiles large and has {found}")
            data = data or [0] * (width * height)
            block |= {"width": width, "height": height, "data": data}
            for gid in set(data) - {0}:
                map.tile(gid, called)
                map.largest = max(map.largest, gid & ~FLIPS)
    layer |= {"encoding": "csv", "compression": ""}
    return n_tiles


def place_in_world(world: Path, map: Map, y_down: bool) -> tuple[float, float]:
    """Return the place of a map in a world of Tiled, for its `Frame`.

    It counts from the left side of the leftmost map of the world, and from the lower side of its
    lowest map, or with `y_down` from the upper side of its highest map.

    Raises
    ------
    FileNotFoundError
        The world, or a map whose size it does not say, is missing.
    ValueError
        The world is damaged, or has no such map.
    """
    files = LevelFiles(world, map.files.root)
    own = Path(os.path.realpath(map.files.level))
    with refuse_damage(world, "world that Tiled"):
        places = {}
        for path, raw in _maps_of(parse(files.read_level(), "world"), files):
            if path in places:
                continue
            x, y = number_of(raw, "x"), number_of(raw, "y")
            width, height = number_of(raw, "width"), number_of(raw, "height")
            if not (width and height):
                other = parse(files.read(path), "map")
                width = whole_of(other, "width") * whole_of(other, "tilewidth")
                height = whole_of(other, "height") * whole_of(other, "tileheight")
            check_numbers(f"its map {path.name}", x=x, y=y, width=width, height=height)
            places[path] = x, y, y + height
        if own not in places:
            names = sorted(path.name for path in places)
            raise ValueError(f"it has no map {own.name}; it has {names}")
        lefts, tops, bottoms = zip(*places.values(), strict=True)
        left, top, _ = places[own]
        right = left - min(lefts)
        up = top - min(tops) if y_down else max(bottoms) - top - map.size[1] * map.tile_size[1]
        check_numbers(f"the place of {own.name}", x=right, y=up)
    return right, up


def _maps_of(world: Raw, files: LevelFiles) -> Iterator[tuple[Path, Raw]]:
    """Yield the maps of a world, also those whose place is in their name, with their places."""
    for stated in parts(world, "maps"):
        yield files.find(stated.get("fileName"), files.folder, "a map"), stated
    for pattern in parts(world, "patterns"):
        try:
            search = re.compile(text_of(pattern, "regexp")).search
        except re.error as error:
            raise ValueError(f"its pattern {pattern['regexp']!r} is wrong: {error}") from error
        steps = [number_of(pattern, f"multiplier{axis}", 1) for axis in "XY"]
        for name in sorted(os.listdir(files.folder)):
            found = search(name)
            if found:
                yield (
                    files.find(name, files.folder, "a map"),
                    {
                        "x": int(found[1]) * steps[0] + number_of(pattern, "offsetX"),
                        "y": int(found[2]) * steps[1] + number_of(pattern, "offsetY"),
                        "width": number_of(pattern, "mapWidth", abs(steps[0])),
                        "height": number_of(pattern, "mapHeight", abs(steps[1])),
                    },
                )
