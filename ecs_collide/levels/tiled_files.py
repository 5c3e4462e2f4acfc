"""Read the files of Tiled with pytiled_parser, and correct the data that it would misread.

A map is opened here as XML or JSON, mended as raw data, and passed to the parser as a copy.
Objects made from templates are written out, with the tilesets of the templates.  Sizes of zero,
empty tile layers and image layers without a picture are written as Tiled means them.

The parser opens every file that a map names, and unpacks all its data.  So it gets no file names
and no packed data.  External tilesets are opened here and parsed one by one, also from copies.
Tiles are unpacked here, at most as many as their layer declares.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytiled_parser

from ecs_collide.levels.files import LevelFiles
from ecs_collide.levels.tile_data import unpack
from ecs_collide.levels.tiled_faults import (
    PartError,
    called,
    called_in,
    parse,
    refused,
)
from ecs_collide.levels.tiled_formats import Format, Raw, format_of

# The four highest bits of a tile number say how the tile is flipped.
FLIPS = 0xF0000000

# Bytes of the templates of all instances together: each instance copies its whole template, and a
# small map could name a large template very often.
_LARGEST_COPIES = 2**26

_TEXTS = {"name", "type", "class"}


def read_map(files: LevelFiles, max_tiles: int) -> tuple[pytiled_parser.TiledMap, frozenset[str]]:
    """Read a map, and the ids of its capsules, which the parser turns into rectangles.

    All layers together may have at most `max_tiles` tiles.

    Raises
    ------
    FileNotFoundError
        The map, a tileset or a template is missing.
    ValueError
        The file is not a map, or a part of it cannot be read.  The message names the tileset, or
        the layer and the object.
    """
    try:
        with refused(f"{files.level} cannot be opened"):
            content = files.read_level()
        file = _file_of(content, files.level, files.folder, "map")
        mender = _Mender(files, max_tiles, file)
        capsules = mender.mend()
        return mender.parsed(), capsules
    except PartError as error:
        raise ValueError(str(error)) from error.__cause__


def n_places(tileset: pytiled_parser.Tileset) -> int:
    """Return how many tile numbers a tileset takes; there are gaps if it has single pictures."""
    return max(tileset.tile_count, max(tileset.tiles or (), default=-1) + 1)


@dataclass
class _File:
    """A map, a tileset or a template as it is saved.

    Its names are relative to `folder`, `size` is in bytes, and `fault` is the error text if it
    cannot be read.
    """

    path: Path
    folder: Path
    kind: str
    format: Format
    root: Raw
    size: int
    fault: str


def _file_of(content: bytes, path: Path, folder: Path, kind: str, named: str = "") -> _File:
    """Return a map, a tileset or a template in the format that it is in."""
    form, fault = format_of(content), f"{path} is no {kind} that Tiled has saved{named}"
    with refused(fault):
        return _File(path, folder, kind, form, form.read(content, kind), len(content), fault)


class _Mender:
    """The mender of one map, with its tilesets and counts so far."""

    def __init__(self, files: LevelFiles, max_tiles: int, map: _File) -> None:
        self.files, self.max_tiles, self.map, self.form = files, max_tiles, map, map.format
        self.n_tiles = self.n_copied = 0  # tiles so far, and bytes of templates
        self.templates: dict[Path, _File] = {}
        self.tilesets: dict[Path, pytiled_parser.Tileset] = {}
        self.external: dict[int, Path] = {}  # tilesets by their first tile
        self.shifts: dict[Path, int] = {}  # of the tiles of templates

    def open(self, path: Path, kind: str) -> _File:
        """Return a template or a tileset that was found."""
        named = f" ({self.files.level} names it)"
        with refused(f"{path} is no {kind} that Tiled has saved{named}"):
            content = self.files.read(path)
        return _file_of(content, path, path.parent, kind, named)

    def mend(self) -> frozenset[str]:
        """Add the values that a map omits, as Tiled does; return the ids of capsules."""
        form, path = self.form, self.map.path
        with refused(self.map.fault):
            layers = list(form.layers(self.map.root))
            tilesets = form.tilesets(self.map.root)
        external = []
        for tileset in tilesets:
            with refused(f"{path}: a tileset cannot be read"):
                if tileset.get("source") is None:
                    self.mend_tileset(self.map, tileset)
                else:
                    first = _whole_number(tileset, "firstgid")
                    self.external[first] = self.find_tileset(self.map, tileset)
                    external.append(tileset)
        if external:
            form.drop_tilesets(self.map.root, external)
        capsules = set()
        for layer in layers:
            with refused(f"{path}: {called(layer)} cannot be read"):
                if form.kind(layer) == "tiles":
                    self.unpack(layer)
                elif form.kind(layer) == "picture":
                    self.mend_picture(layer)
                things = form.things(layer)
            for place, thing in enumerate(things):
                with refused(f"{path}: {called_in(layer, thing)} cannot be read"):
                    things[place] = whole = self.whole(self.map, thing)
                    if form.is_capsule(whole):
                        capsules.add(str(whole.get("id")))
            form.set_things(layer, things)
        return frozenset(capsules)

    def parsed(self) -> pytiled_parser.TiledMap:
        """Return the parsed map."""
        external = self.parsed_external()
        with refused(self.map.fault):
            parsed = parse(self.form, self.map.root, pytiled_parser.parse_map)
            parsed.map_file = self.map.path
            tilesets = {**parsed.tilesets, **external}
            parsed.tilesets = {first: tilesets[first] for first in sorted(tilesets)}
        return parsed

    # -- tilesets --

    def find_tileset(self, file: _File, tileset: Raw) -> Path:
        """Return the file of an external tileset that a map or a template names."""
        return self.files.find(tileset.get("source"), file.folder, "the file of a tileset")

    def mend_tileset(self, file: _File, tileset: Raw) -> None:
        """Check the pictures of a tileset, and complete its shapes.

        The paths of an external tileset's pictures become absolute; an embedded tileset keeps its.
        """
        form = file.format
        tiles = form.tiles(tileset)
        for owner in (tileset, *tiles):
            name = form.picture(owner)
            if name is not None:
                path = self.files.check_picture(name, file.folder, "its picture")
                if file is not self.map:
                    form.set_picture(owner, str(path))
        for tile in tiles:
            for layer in form.shapes(tile):
                things = [self.whole(file, thing, is_shape=True) for thing in form.things(layer)]
                form.set_things(layer, things)

    def tileset(self, path: Path, first: int) -> pytiled_parser.Tileset:
        """Return an external tileset, parsed once, with the number of its first tile."""
        if path not in self.tilesets:
            file = self.open(path, "tileset")
            with refused(file.fault):
                self.mend_tileset(file, file.root)
                self.tilesets[path] = parse(file.format, file.root, pytiled_parser.parse_tileset)
        tileset = copy(self.tilesets[path])
        tileset.firstgid = first
        return tileset

    def parsed_external(self) -> dict[int, pytiled_parser.Tileset]:
        """Return the external tilesets by their first tile."""
        return {first: self.tileset(path, first) for first, path in self.external.items()}

    # -- layers --

    def mend_picture(self, layer: Raw) -> None:
        """Check the picture of an image layer, which may have none."""
        picture = self.form.picture(layer)
        if picture:
            self.files.check_picture(picture, self.files.folder, "its picture")
        elif picture is None:
            self.form.set_picture(layer, "")  # as in JSON if none is chosen

    def unpack(self, layer: Raw) -> None:
        """Unpack the tiles of a layer, no more of them than it declares."""
        name = called(layer)
        blocks = self.form.blocks(layer)
        encoding, compression = self.form.packing(layer)
        if encoding not in ("csv", "base64"):
            raise ValueError(f"its encoding {encoding!r} must be csv or base64")
        for block, owner in blocks:
            width, height = (_whole_number(owner, word) for word in ("width", "height"))
            if owner is layer and not self.is_infinite():
                self.require_within_map(name, width, height)
            n_tiles = width * height
            self.n_tiles += n_tiles
            if self.n_tiles > self.max_tiles:
                raise PartError(
                    f"{self.map.path}: with {name} the map has {self.n_tiles} tiles, more than "
                    f"max_tiles={self.max_tiles}; load(..., max_tiles=) allows another number"
                )
            if encoding == "base64":
                numbers = unpack(self.form.packed(block), compression, n_tiles)
                self.form.set_plain(layer, block, numbers)
                n_found = len(numbers)
            else:
                n_found = self.form.n_plain(block)
            if n_found != n_tiles:
                found = "more" if encoding == "base64" and n_found > n_tiles else n_found
                raise PartError(
                    f"{self.map.path}: {name} is {width} x {height} tiles large and has {found}"
                )

    def is_infinite(self) -> bool:
        """Return whether the layers of a map may reach beyond its size."""
        return self.map.root.get("infinite") not in (None, "0", 0, False)

    def require_within_map(self, name: str, width: int, height: int) -> None:
        """Refuse a layer that is larger than its map."""
        most = tuple(_whole_number(self.map.root, word) for word in ("width", "height"))
        if width > most[0] or height > most[1]:
            raise PartError(
                f"{self.map.path}: {name} is {width} x {height} tiles large and the map "
                f"{most[0]} x {most[1]}; unless the map is infinite, they are the same"
            )

    # -- templates --

    def whole(self, file: _File, thing: Raw, is_shape: bool = False) -> Raw:
        """Return an object, completed from its template; a shape of a tile has no picture."""
        template, form = self.template(file, thing), file.format
        if template is None:
            return form.with_sizes(thing)
        with refused(template.fault):
            pattern = form.pattern(template.root)
        own = {word for word in ("name", "gid") if _has_value(thing, word)}
        if _has_value(thing, "type") or _has_value(thing, "class"):
            own |= {"type", "class"}
        if _has_value(thing, "width") and _has_value(thing, "height"):
            own |= {"width", "height"}
        whole = form.merged(pattern, thing, own)
        words = whole if isinstance(whole, dict) else whole.attrib
        if is_shape:
            words.pop("gid", None)
        elif "gid" not in own and _has_value(pattern, "gid"):
            gid = pattern.get("gid")
            words["gid"] = type(gid)(int(gid) + self.shift(template))
        return form.with_sizes(whole)

    def template(self, file: _File, thing: Raw) -> _File | None:
        """Return the template from which an object is made, or None."""
        name = thing.get("template")
        if not name:
            return None
        path = self.files.find(name, file.folder, "its template")
        if path not in self.templates:
            self.templates[path] = self.open(path, "template")
        template = self.templates[path]
        if template.format is not file.format:
            raise ValueError(
                f"its template {template.path} is {template.format.name} and the {file.kind} "
                f"{file.format.name}; save both in the same format"
            )
        self.n_copied += template.size
        if self.n_copied > _LARGEST_COPIES:
            raise ValueError(
                f"with its template {template.path} the instances of templates copy more than "
                f"{_LARGEST_COPIES} bytes; make the template smaller, or detach instances from it"
            )
        return template

    def shift(self, template: _File) -> int:
        """Return the offset of a template's tile numbers; add its tileset to the map if needed."""
        if template.path in self.shifts:
            return self.shifts[template.path]
        with refused(template.fault):
            for theirs in template.format.tilesets(template.root):
                if theirs.get("source") is not None:
                    break
            else:
                raise ValueError("it has a tile, and names no file of a tileset")
            source = self.find_tileset(template, theirs)
            theirs_first = _whole_number(theirs, "firstgid")
        first = next((first for first, path in self.external.items() if path == source), None)
        if first is None:
            first = self.free
            self.external[first] = source
            self.free = first + n_places(self.tileset(source, first))
        self.shifts[template.path] = first - theirs_first
        return self.shifts[template.path]

    @cached_property
    def free(self) -> int:
        """The first tile number after all tilesets."""
        part = self.form.without_layers(self.map.root)
        embedded = parse(self.form, part, pytiled_parser.parse_map).tilesets
        known = {**embedded, **self.parsed_external()}
        return max((first + n_places(known[first]) for first in known), default=1)


def _whole_number(raw: Raw, word: str) -> int:
    """Return a number of tiles that a part of a map gives, or raise a ValueError."""
    stated = raw.get(word)
    number = -1
    if isinstance(stated, str) and len(stated) < 20 and stated.strip().isdecimal():
        number = int(stated)
    elif isinstance(stated, (int, float)) and not isinstance(stated, bool) and 0 <= stated < 2**63:
        number = int(stated) if stated == int(stated) else -1
    if number < 0:
        raise ValueError(f"its {word} is {stated!r}; it must be a whole number, 0 or more")
    return number


def _has_value(thing: Raw, word: str) -> bool:
    """Return whether an object has a value: not empty, and not a size or tile of zero."""
    stated = thing.get(word)
    return stated not in (None, "") and (word in _TEXTS or stated not in ("0", 0))
