"""Read the files of Tiled with pytiled_parser, and put right what it would lose or stumble over.

A map is opened here as XML or JSON, mended as raw data, and handed to the parser as a copy.
What is mended: objects made from templates are written out, with the tilesets these bring;
sizes of zero, empty tile layers and image layers without a picture are as Tiled means them.
If the parser fails all the same, the smallest part that fails by itself is named.

The parser opens every file that a map names, and unpacks all that it holds.  So it gets no names
of files and no packed data.  External tilesets are opened here and parsed one by one, from copies
too; and tiles are unpacked here, never more of them than their layer declares.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytiled_parser

from ecs_collide.levels.files import LevelFiles
from ecs_collide.levels.level import NESTED
from ecs_collide.levels.tile_data import unpack
from ecs_collide.levels.tiled_formats import Format, Raw, format_of

# The four highest bits of a tile number say how the tile is flipped.
FLIPS = 0xF0000000

# Bytes of the templates of all instances together: each instance copies all that its template
# says, so that a small map could name a large template very often.
_LARGEST_COPIES = 2**26

_TEXTS = {"name", "type", "class"}

_Parsed = TypeVar("_Parsed")


def read_map(files: LevelFiles, max_tiles: int) -> tuple[pytiled_parser.TiledMap, frozenset[str]]:
    """Read a map, and the ids of its capsules, of which the parser makes rectangles.

    All layers together may have `max_tiles` tiles.

    Raises
    ------
    FileNotFoundError
        The map, a tileset or a template is missing.
    ValueError
        The file is no map, or a part of it cannot be read: it names the tileset, or the layer
        and the object.
    """
    try:
        with _refused(f"{files.level} cannot be opened"):
            content = files.read_level()
        file = _open(content, files.level, "map", _Reading(files, max_tiles))
        capsules = file.mend()
        return file.parsed(), capsules
    except _PartError as error:
        raise ValueError(str(error)) from error.__cause__


def n_places(tileset: pytiled_parser.Tileset) -> int:
    """Return how many tile numbers a tileset takes: one of single pictures may have gaps."""
    return max(tileset.tile_count, max(tileset.tiles or (), default=-1) + 1)


@dataclass
class _Reading:
    """What one call of `read_map` has come across so far."""

    files: LevelFiles
    max_tiles: int
    n_tiles: int = 0
    n_copied: int = 0  # bytes of templates
    templates: dict[Path, _File] = field(default_factory=dict)
    tilesets: dict[Path, pytiled_parser.Tileset] = field(default_factory=dict)

    def open(self, path: Path, kind: str) -> _File:
        """Return a template or a tileset that was found."""
        with _refused(f"{path} is no {kind} that Tiled has saved ({self.files.level} names it)"):
            content = self.files.read(path)
        return _open(content, path, kind, self)

    def template(self, path: Path) -> _File:
        """Return a template, opened once."""
        if path not in self.templates:
            self.templates[path] = self.open(path, "template")
        return self.templates[path]

    def tileset(self, path: Path, first: int) -> pytiled_parser.Tileset:
        """Return an external tileset, parsed once, with the number of its first tile."""
        if path not in self.tilesets:
            file = self.open(path, "tileset")
            with file.refused():
                file.mend_tileset(file.root, is_embedded=False)
                self.tilesets[path] = _parse(file.format, file.root, pytiled_parser.parse_tileset)
        tileset = copy(self.tilesets[path])
        tileset.firstgid = first
        return tileset


@dataclass
class _File:
    """A map, a tileset or a template as it is saved."""

    path: Path
    kind: str
    format: Format
    root: Raw
    size: int  # in bytes
    reading: _Reading
    external: dict[int, Path] = field(default_factory=dict)  # tilesets by their first tile
    shifts: dict[Path, int] = field(default_factory=dict)  # of the tiles of templates

    @property
    def files(self) -> LevelFiles:
        """The files of the level."""
        return self.reading.files

    @property
    def folder(self) -> Path:
        """Where the names in it begin."""
        return self.files.folder if self.kind == "map" else self.path.parent

    @contextmanager
    def refused(self) -> Iterator[None]:
        """Raise whatever goes wrong as a fault of the file."""
        named = "" if self.kind == "map" else f" ({self.files.level} names it)"
        with _refused(f"{self.path} is no {self.kind} that Tiled has saved{named}"):
            yield

    # -- mending --

    def mend(self) -> frozenset[str]:
        """Say in full what a map leaves to Tiled to know; return the ids of capsules."""
        with self.refused():
            layers = list(self.format.layers(self.root))
            tilesets = self.format.tilesets(self.root)
        external = []
        for tileset in tilesets:
            with _refused(f"{self.path}: a tileset cannot be read"):
                if tileset.get("source") is None:
                    self.mend_tileset(tileset, is_embedded=True)
                else:
                    first = _whole_number(tileset, "firstgid")
                    self.external[first] = self.find_tileset(tileset)
                    external.append(tileset)
        if external:
            self.format.drop_tilesets(self.root, external)
        capsules = set()
        for layer in layers:
            with _refused(f"{self.path}: {_called(layer)} cannot be read"):
                if self.format.kind(layer) == "tiles":
                    self.unpack(layer)
                elif self.format.kind(layer) == "picture":
                    self.mend_picture(layer)
                things = self.format.things(layer)
            for place, thing in enumerate(things):
                with _refused(f"{self.path}: {_called_in(layer, thing)} cannot be read"):
                    things[place] = whole = self.whole(thing)
                    if self.format.is_capsule(whole):
                        capsules.add(str(whole.get("id")))
            self.format.set_things(layer, things)
        return frozenset(capsules)

    def find_tileset(self, tileset: Raw) -> Path:
        """Return the file of an external tileset."""
        return self.files.find(tileset.get("source"), self.folder, "the file of a tileset")

    def mend_tileset(self, tileset: Raw, is_embedded: bool) -> None:
        """Check the pictures of a tileset, and say its shapes in full.

        The pictures of an external tileset become absolute paths, those of an embedded one stay.
        """
        tiles = self.format.tiles(tileset)
        for owner in (tileset, *tiles):
            name = self.format.picture(owner)
            if name is not None:
                path = self.files.check_picture(name, self.folder, "its picture")
                if not is_embedded:
                    self.format.set_picture(owner, str(path))
        for tile in tiles:
            for layer in self.format.shapes(tile):
                things = [self.whole(thing, is_shape=True) for thing in self.format.things(layer)]
                self.format.set_things(layer, things)

    def mend_picture(self, layer: Raw) -> None:
        """Check the picture of an image layer, which may have none."""
        name = self.format.picture(layer)
        if name:
            self.files.check_picture(name, self.folder, "its picture")
        elif name is None:
            self.format.set_picture(layer, "")  # what JSON has where none is chosen

    def unpack(self, layer: Raw) -> None:
        """Unpack the tiles of a layer, no more of them than it declares."""
        called, reading = _called(layer), self.reading
        blocks = self.format.blocks(layer)
        encoding, compression = self.format.packing(layer)
        if encoding not in ("csv", "base64"):
            raise ValueError(f"its encoding {encoding!r} must be csv or base64")
        for block, owner in blocks:
            width, height = (_whole_number(owner, word) for word in ("width", "height"))
            if owner is layer and not self.is_infinite():
                self.require_within_map(called, width, height)
            n_tiles = width * height
            reading.n_tiles += n_tiles
            if reading.n_tiles > reading.max_tiles:
                raise _PartError(
                    f"{self.path}: with {called} the map has {reading.n_tiles} tiles, more than "
                    f"max_tiles={reading.max_tiles}; load(..., max_tiles=) allows another number"
                )
            if encoding == "base64":
                numbers = unpack(self.format.packed(block), compression, n_tiles)
                self.format.set_plain(layer, block, numbers)
                n_found, word = len(numbers), "more"
            else:
                n_found = self.format.n_plain(block)
                word = str(n_found)
            if n_found != n_tiles:
                raise _PartError(
                    f"{self.path}: {called} is {width} x {height} tiles large and has "
                    f"{word if n_found > n_tiles else n_found}"
                )

    def is_infinite(self) -> bool:
        """Return whether the layers of a map may reach beyond its size."""
        return self.root.get("infinite") not in (None, "0", 0, False)

    def require_within_map(self, called: str, width: int, height: int) -> None:
        """Refuse a layer that is larger than its map."""
        most = tuple(_whole_number(self.root, word) for word in ("width", "height"))
        if width > most[0] or height > most[1]:
            raise _PartError(
                f"{self.path}: {called} is {width} x {height} tiles large and the map "
                f"{most[0]} x {most[1]}; unless the map is infinite, they are the same"
            )

    # -- templates --

    def whole(self, thing: Raw, is_shape: bool = False) -> Raw:
        """Return an object with all that its template says; a shape of a tile has no picture."""
        template = self.template(thing)
        if template is None:
            return self.format.with_sizes(thing)
        with template.refused():
            pattern = template.format.pattern(template.root)
        own = {word for word in ("name", "gid") if _has_value(thing, word)}
        if _has_value(thing, "type") or _has_value(thing, "class"):
            own |= {"type", "class"}
        if _has_value(thing, "width") and _has_value(thing, "height"):
            own |= {"width", "height"}
        whole = self.format.merged(pattern, thing, own)
        words = whole if isinstance(whole, dict) else whole.attrib
        if is_shape:
            words.pop("gid", None)
        elif "gid" not in own and _has_value(pattern, "gid"):
            gid = pattern.get("gid")
            words["gid"] = type(gid)(int(gid) + self.shift(template))
        return self.format.with_sizes(whole)

    def template(self, thing: Raw) -> _File | None:
        """Return the template from which an object is made, or None."""
        name, reading = thing.get("template"), self.reading
        if not name:
            return None
        template = reading.template(self.files.find(name, self.folder, "its template"))
        if template.format is not self.format:
            raise ValueError(
                f"its template {template.path} is {template.format.name} and the {self.kind} "
                f"{self.format.name}; save both in the same format"
            )
        reading.n_copied += template.size
        if reading.n_copied > _LARGEST_COPIES:
            raise ValueError(
                f"with its template {template.path} the instances of templates copy more than "
                f"{_LARGEST_COPIES} bytes; make the template smaller, or detach instances from it"
            )
        return template

    def shift(self, template: _File) -> int:
        """Return what to add to a template's tile number; bring in its tileset if need be."""
        if template.path in self.shifts:
            return self.shifts[template.path]
        with template.refused():
            for theirs in template.format.tilesets(template.root):
                if theirs.get("source") is not None:
                    break
            else:
                raise ValueError("it has a tile, and names no file of a tileset")
            source = template.find_tileset(theirs)
            theirs_first = _whole_number(theirs, "firstgid")
        known = [first for first, path in self.external.items() if path == source]
        if known:
            first = known[0]
        else:
            first = self.free
            self.external[first] = source
            self.free = first + n_places(self.reading.tileset(source, first))
        self.shifts[template.path] = first - theirs_first
        return self.shifts[template.path]

    @cached_property
    def free(self) -> int:
        """The first tile number behind those of all tilesets."""
        embedded = self.parse_part(self.format.without_layers(self.root)).tilesets
        known = {**embedded, **self.parsed_external()}
        return max((first + n_places(known[first]) for first in known), default=1)

    def parsed_external(self) -> dict[int, pytiled_parser.Tileset]:
        """Return the external tilesets by their first tile."""
        return {first: self.reading.tileset(path, first) for first, path in self.external.items()}

    # -- parsing --

    def parsed(self) -> pytiled_parser.TiledMap:
        """Return the map as the parser reads it, or raise for the smallest part that it cannot."""
        external = self.parsed_external()
        with self.refused():
            try:
                parsed = self.parse_part(self.root)
            except Exception:
                self.find_fault()
                raise
            parsed.map_file = self.path
            tilesets = {**parsed.tilesets, **external}
            parsed.tilesets = {first: tilesets[first] for first in sorted(tilesets)}
        return parsed

    def parse_part(self, root: Raw) -> pytiled_parser.TiledMap:
        """Return what the parser makes of the map, or of a part of it."""
        return _parse(self.format, root, pytiled_parser.parse_map)

    def find_fault(self) -> None:
        """Raise a `_PartError` for the first part that the parser cannot read by itself, if any.

        Takes about as long as to parse the map a few times.
        """
        form, root = self.format, self.root
        self.parse_part(form.without_layers(root))  # if the map is wrong, no layer is to blame

        def parse_layers(layers: Sequence[Raw]) -> None:
            self.parse_part(form.with_layers(root, layers))

        def parse_things(things: Sequence[Raw]) -> None:
            parse_layers([form.with_things(layer, things)])

        layer = _first_fault(list(form.layers(root)), parse_layers, form.weight)
        if layer is None:
            return
        with _refused(f"{self.path}: {_called(layer)} cannot be read"):
            parse_things(())
        thing = _first_fault(form.things(layer), parse_things, form.weight)
        if thing is not None:
            with _refused(f"{self.path}: {_called_in(layer, thing)} cannot be read"):
                parse_things([thing])


def _parse(form: Format, root: Raw, parser: Callable[[Path], _Parsed]) -> _Parsed:
    """Return what a parser makes of a copy of what is in memory."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"copy{form.suffix}")
        form.write(root, path)
        return parser(path)


def _first_fault(
    parts: list[Raw], parse: Callable[[Sequence[Raw]], object], weight: Callable[[Raw], int]
) -> Any:
    """Return the first part without which parsing might do, or None if none is at fault.

    It halves what is left by weight, so all that is parsed weighs a few times all parts at most.
    """

    def fails(some: Sequence[Raw]) -> bool:
        try:
            parse(some)
        except Exception:
            return True
        return False

    if not parts or not fails(parts):
        return None
    sums = list(accumulate(map(weight, parts), initial=0))
    start, stop = 0, len(parts)
    while stop - start > 1:
        half = (sums[start] + sums[stop]) / 2
        middle = bisect_right(sums, half, start + 2, stop) - 1
        if fails(parts[start:middle]):
            stop = middle
        else:
            start = middle
    return parts[start]


class _PartError(ValueError):
    """Says already which part of a file cannot be read."""


@contextmanager
def _refused(what: str) -> Iterator[None]:
    """Raise whatever goes wrong as a `_PartError`; only that a file is missing stays as it is."""
    try:
        yield
    except (_PartError, FileNotFoundError):
        raise
    except Exception as error:  # the parser raises much, and asserts
        if isinstance(error, OSError):  # of the copies, which is no fault of the map
            raise
        cause: BaseException = error
        if isinstance(error, pytiled_parser.UnknownFormat):
            cause = error.__context__ or error  # which it hides behind a guess
        stated = str(cause) if isinstance(cause, ValueError) else repr(cause)
        if isinstance(cause, RecursionError):
            stated = NESTED
        raise _PartError(f"{what}: {stated}") from error


def _open(content: bytes, path: Path, kind: str, reading: _Reading) -> _File:
    """Return a map, a tileset or a template in the format that it is in."""
    file = _File(path, kind, format_of(content), None, len(content), reading)
    with file.refused():
        file.root = file.format.read(content, kind)
    return file


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


def _called(layer: Raw) -> str:
    """Return what errors call a layer."""
    return f"layer {layer.get('name') or ''!r}"


def _called_in(layer: Raw, thing: Raw) -> str:
    """Return what errors call an object in a layer."""
    named = repr(thing)
    if hasattr(thing, "get"):
        named = f"{thing.get('id')} ({thing.get('name') or 'no name'})"
    return f"object {named} in {_called(layer)}"


def _has_value(thing: Raw, word: str) -> bool:
    """Return whether an object says something that is not empty, and no size or tile of zero."""
    stated = thing.get(word)
    return stated not in (None, "") and (word in _TEXTS or stated not in ("0", 0))
