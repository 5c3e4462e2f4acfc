"""Read the files of Tiled with pytiled_parser, and put right what it would lose or stumble over.

A map is opened here as XML or JSON, mended as raw data, and handed to the parser as a copy.
What is mended: objects made from templates are written out, with the tilesets these bring;
sizes of zero, empty tile layers and image layers without a picture are as Tiled means them.
If the parser fails all the same, the smallest part that fails by itself is named.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import pytiled_parser

# The four highest bits of a tile number say how the tile is flipped.
FLIPS = 0xF0000000

_LEAVES = ("layer", "objectgroup", "imagelayer")
_SHAPES = ("ellipse", "point", "polygon", "polyline", "text", "capsule")
# Where these are empty or zero in an object, Tiled takes those of its template.
_TEXTS = {"name", "type", "class"}
_WEAK = _TEXTS | {"gid", "width", "height"}

Raw = Any
"""A part of a map as its file has it: an XML element, or a dict."""


def read_map(path: Path) -> tuple[pytiled_parser.TiledMap, frozenset[str]]:
    """Read a map, and the ids of its capsules, of which the parser makes rectangles.

    Raises
    ------
    FileNotFoundError
        The map, a tileset or a template is missing.
    ValueError
        The file is no map, or a part of it cannot be read: it names the tileset, or the layer
        and the object.
    """
    try:
        file = _open(path, "map")
        capsules = file.mend()
        return file.parsed(), capsules
    except _PartError as error:
        raise ValueError(str(error)) from error.__cause__


def n_places(tileset: pytiled_parser.Tileset) -> int:
    """Return how many tile numbers a tileset takes: one of single pictures may have gaps."""
    return max(tileset.tile_count, max(tileset.tiles or (), default=-1) + 1)


class _File(ABC):
    """A map or a template as it is saved, in one of the two formats.

    Elements and dicts have the same `get`, which is why most is said once.
    """

    format: str
    suffix: str

    def __init__(self, path: Path, root: Raw) -> None:
        self.path, self.root = path, root
        self.templates: dict[Path, _File] = {}
        for tileset in self.tilesets():  # the copy that the parser gets lies elsewhere
            if tileset.get("source") is not None:
                _set(tileset, "source", str((path.parent / tileset.get("source")).absolute()))

    @abstractmethod
    def tilesets(self) -> list[Raw]:
        """Return the tilesets, each with its content or the name of its file."""

    @abstractmethod
    def add_tileset(self, first: int, source: str) -> None:
        """Name one more tileset."""

    @abstractmethod
    def layers(self) -> Iterator[Raw]:
        """Yield the layers inside all groups."""

    @abstractmethod
    def mend_layer(self, layer: Raw) -> None:
        """Write out what a layer leaves to Tiled to know, except in its objects."""

    @abstractmethod
    def things(self, layer: Raw) -> list[Raw]:
        """Return the objects of a layer."""

    @abstractmethod
    def set_things(self, layer: Raw, things: list[Raw]) -> None:
        """Let a layer have these objects."""

    @abstractmethod
    def pattern(self) -> Raw:
        """Return the one object of a template."""

    @abstractmethod
    def has(self, thing: Raw, shape: str) -> bool:
        """Return whether an object says that it has this shape."""

    @abstractmethod
    def merged(self, pattern: Raw, thing: Raw, own: set[str]) -> Raw:
        """Return an object with all that its template says, but for what is its own."""

    @abstractmethod
    def with_sizes(self, thing: Raw) -> Raw:
        """Return an object that says all that the parser asks for."""

    @abstractmethod
    def alone(self, layer: Raw = None, thing: Raw = None) -> _File:
        """Return the map with one layer and one or none of its objects; or with tilesets only."""

    @abstractmethod
    def write(self, path: Path) -> None:
        """Save what is in memory."""

    def mend(self) -> frozenset[str]:
        """Say in full what the layers leave to Tiled to know; return the ids of capsules."""
        with _refused(f"{self.path} is no map that Tiled has saved"):
            layers = list(self.layers())
        capsules = set()
        for layer in layers:
            with _refused(f"{self.path}: {_called(layer)} cannot be read"):
                self.mend_layer(layer)
                things = self.things(layer)
            for place, thing in enumerate(things):
                with _refused(f"{self.path}: {_called(layer, thing)} cannot be read"):
                    things[place] = whole = self.whole(thing)
                    if self.has(whole, "capsule"):
                        capsules.add(str(whole.get("id")))
            self.set_things(layer, things)
        return frozenset(capsules)

    def whole(self, thing: Raw) -> Raw:
        """Return an object on its own: with all that its template says and it does not."""
        name = thing.get("template")
        if not name:
            return self.with_sizes(thing)
        path = (self.path.parent / name).resolve()
        if path not in self.templates:
            self.templates[path] = _open(path, "template")
        template = self.templates[path]
        if type(template) is not type(self):
            raise ValueError(
                f"its template {path} is {template.format} and the map {self.format}; "
                "save both in the same format"
            )
        pattern = template.pattern()
        own = {word for word in ("name", "gid") if _says(thing, word)}
        if _says(thing, "type") or _says(thing, "class"):
            own |= {"type", "class"}
        if _says(thing, "width") and _says(thing, "height"):
            own |= {"width", "height"}
        whole = self.merged(pattern, thing, own)
        if "gid" not in own and _says(pattern, "gid"):
            gid = pattern.get("gid")
            _set(whole, "gid", type(gid)(int(gid) + self.shift(template)))
        return self.with_sizes(whole)

    def shift(self, template: _File) -> int:
        """Return what to add to a template's tile number; bring in its tileset if need be."""
        for theirs in template.tilesets():
            source = theirs.get("source")
            if source is not None:
                break
        else:
            raise ValueError(f"its template {template.path} names no file of a tileset")
        for ours in self.tilesets():
            if ours.get("source") and Path(ours.get("source")).resolve() == Path(source).resolve():
                first = int(ours.get("firstgid"))
                break
        else:
            known = self.alone().parsed().tilesets
            first = max((first + n_places(known[first]) for first in known), default=1)
            self.add_tileset(first, source)
        return first - int(theirs.get("firstgid"))

    def parsed(self) -> pytiled_parser.TiledMap:
        """Return the map as the parser reads it.

        Raises
        ------
        FileNotFoundError
            A tileset is missing.
        ValueError
            The parser fails.  The message names the smallest part with which it does.
        """
        with _refused(f"{self.path} is no map that Tiled has saved"):
            try:
                return self.parse()
            except Exception:
                self.find_fault()
                raise

    def parse(self) -> pytiled_parser.TiledMap:
        """Return what the parser makes of the map as it is in memory."""
        with TemporaryDirectory() as folder:
            copy = Path(folder, f"map{self.suffix}")
            self.write(copy)
            parsed = pytiled_parser.parse_map(copy)
        parsed.map_file = self.path
        return parsed

    def find_fault(self) -> None:
        """Raise a `_PartError` for the first part that the parser cannot read by itself, if any.

        Where it cannot read the map without any, what it raises of that.
        """
        for tileset in self.tilesets():
            source = tileset.get("source")
            if source is not None:
                with _refused(f"{source} is no tileset that Tiled has saved"):
                    pytiled_parser.parse_tileset(Path(source))
        self.alone().parse()  # where the map itself is wrong, no layer is to blame
        for layer in self.layers():
            with _refused(f"{self.path}: {_called(layer)} cannot be read"):
                self.alone(layer).parse()
            for thing in self.things(layer):
                with _refused(f"{self.path}: {_called(layer, thing)} cannot be read"):
                    self.alone(layer, thing).parse()


class _Tmx(_File):
    """A map saved as XML."""

    format = "XML"
    suffix = ".tmx"

    def __init__(self, path: Path, root: Raw) -> None:
        super().__init__(path, root)
        for thing in root.iterfind("tileset/tile/objectgroup/object"):
            self.with_sizes(thing)

    def tilesets(self) -> list[Raw]:
        return list(self.root.findall("tileset"))

    def add_tileset(self, first: int, source: str) -> None:
        words = {"firstgid": str(first), "source": source}
        self.root.insert(0, ElementTree.Element("tileset", words))

    def layers(self) -> Iterator[Raw]:
        return self.leaves(self.root)

    def leaves(self, parent: Raw) -> Iterator[Raw]:
        for child in parent:
            if child.tag == "group":
                yield from self.leaves(child)
            elif child.tag in _LEAVES:
                yield child

    def mend_layer(self, layer: Raw) -> None:
        if layer.tag == "imagelayer" and layer.find("image") is None:
            ElementTree.SubElement(layer, "image", source="")  # what JSON has where none is chosen
        data = layer.find("data")
        if data is None:
            return
        for block in (data, *data.findall("chunk")):
            tiles = block.findall("tile")
            if tiles:  # the oldest format, an element for each tile
                block.text = ",".join(tile.get("gid", "0") for tile in tiles)
                del block[:]
        if len(data) == 0 and not (data.text or "").strip():
            layer.remove(data)

    def things(self, layer: Raw) -> list[Raw]:
        return list(layer.findall("object"))

    def set_things(self, layer: Raw, things: list[Raw]) -> None:
        layer[:] = [child for child in layer if child.tag != "object"] + things

    def pattern(self) -> Raw:
        found = self.root.find("object")
        if found is None:
            raise ValueError(f"its template {self.path} has no object")
        return found

    def has(self, thing: Raw, shape: str) -> bool:
        return thing.find(shape) is not None

    def merged(self, pattern: Raw, thing: Raw, own: set[str]) -> Raw:
        whole = ElementTree.Element("object", _over(pattern.attrib, thing.attrib, own))
        shapes = [part for part in thing if part.tag in _SHAPES]
        whole.extend(shapes or [part for part in pattern if part.tag in _SHAPES])
        said = {part.get("name"): part for part in pattern.iterfind("properties/property")}
        said |= {part.get("name"): part for part in thing.iterfind("properties/property")}
        ElementTree.SubElement(whole, "properties").extend(said.values())
        return whole

    def with_sizes(self, thing: Raw) -> Raw:
        for word in ("width", "height"):
            thing.set(word, thing.get(word, "0"))  # Tiled leaves out what is zero
        return thing

    def alone(self, layer: Raw = None, thing: Raw = None) -> _File:
        root = ElementTree.Element("map", self.root.attrib)
        if layer is None:
            root.extend(self.root.findall("tileset"))
        else:
            part = ElementTree.SubElement(root, layer.tag, layer.attrib)
            part.extend(child for child in layer if child.tag != "object")
            part.extend([] if thing is None else [thing])
        return _Tmx(self.path, root)

    def write(self, path: Path) -> None:
        ElementTree.ElementTree(self.root).write(path, encoding="utf-8")


class _Json(_File):
    """A map saved as JSON."""

    format = "JSON"
    suffix = ".tmj"

    def tilesets(self) -> list[Raw]:
        single = [self.root["tileset"]] if "tileset" in self.root else []  # that of a template
        return list(self.root.get("tilesets", single))

    def add_tileset(self, first: int, source: str) -> None:
        self.root["tilesets"].append({"firstgid": first, "source": source})

    def layers(self) -> Iterator[Raw]:
        return self.leaves(self.root["layers"])

    def leaves(self, layers: list[Raw]) -> Iterator[Raw]:
        if not isinstance(layers, list):
            raise TypeError(f"its layers are {layers!r}")
        for layer in layers:
            if layer.get("type") == "group":
                yield from self.leaves(layer["layers"])
            else:
                yield layer

    def mend_layer(self, layer: Raw) -> None:
        if layer.get("encoding") == "csv":
            del layer["encoding"]  # the parser takes every one that is named for base64
        layer.setdefault("compression", "")

    def things(self, layer: Raw) -> list[Raw]:
        return list(layer.get("objects", ()))

    def set_things(self, layer: Raw, things: list[Raw]) -> None:
        if "objects" in layer:
            layer["objects"] = things

    def pattern(self) -> Raw:
        return self.root["object"]

    def has(self, thing: Raw, shape: str) -> bool:
        return bool(thing.get(shape))

    def merged(self, pattern: Raw, thing: Raw, own: set[str]) -> Raw:
        whole = _over(pattern, thing, own)
        said = {part["name"]: part for part in pattern.get("properties") or ()}
        said |= {part["name"]: part for part in thing.get("properties") or ()}
        whole["properties"] = list(said.values())
        return whole

    def with_sizes(self, thing: Raw) -> Raw:
        nothing = {"name": "", "width": 0, "height": 0, "rotation": 0, "visible": True}
        return {**nothing, **thing}

    def alone(self, layer: Raw = None, thing: Raw = None) -> _File:
        if layer is None:
            return _Json(self.path, {**self.root, "layers": []})
        part = dict(layer)
        self.set_things(part, [] if thing is None else [thing])
        return _Json(self.path, {**self.root, "layers": [part], "tilesets": []})

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.root), "utf-8")


class _PartError(ValueError):
    """Says already which part of a file cannot be read."""


@contextmanager
def _refused(what: str) -> Iterator[None]:
    """Raise whatever goes wrong as a `_PartError`; only that a file is missing stays as it is."""
    try:
        yield
    except _PartError:
        raise
    except Exception as error:  # the parser raises much, and asserts
        if isinstance(error, OSError) and not isinstance(error, BadGzipFile):
            raise
        cause: BaseException = error
        if isinstance(error, pytiled_parser.UnknownFormat):
            cause = error.__context__ or error  # which it hides behind a guess
        said = str(cause) if isinstance(cause, ValueError) else repr(cause)
        raise _PartError(f"{what}: {said}") from error


def _open(path: Path, kind: str) -> _File:
    """Return a map, or a template, opened in the format that it is in."""
    text = path.read_bytes()
    with _refused(f"{path} is no {kind} that Tiled has saved"):
        if text.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
            root = ElementTree.fromstring(text)
            if root.tag != kind:
                raise ValueError(f"it is a {root.tag}")
            return _Tmx(path, root)
        raw = json.loads(text)
        if not isinstance(raw, dict):
            raise TypeError(f"it is a {type(raw).__name__}")
        return _Json(path, raw)


def _called(layer: Raw, *things: Raw) -> str:
    """Return what errors call a layer, or an object in it."""
    where = f"layer {layer.get('name') or ''!r}"
    for thing in things:
        if not hasattr(thing, "get"):
            return f"object {thing!r} in {where}"
        return f"object {thing.get('id')} ({thing.get('name') or 'no name'}) in {where}"
    return where


def _says(thing: Raw, word: str) -> bool:
    """Return whether an object says something that is not empty, and no size or tile of zero."""
    said = thing.get(word)
    return said not in (None, "") and (word in _TEXTS or said not in ("0", 0))


def _over(pattern: dict[str, Any], thing: dict[str, Any], own: set[str]) -> dict[str, Any]:
    """Return what an object and its template say, of the weak words only what is its own."""
    left_out = {"template", *_WEAK} - own
    whole = {word: value for word, value in pattern.items() if word not in own}
    return whole | {word: value for word, value in thing.items() if word not in left_out}


def _set(thing: Raw, word: str, value: object) -> None:
    """Let an object say something else, in either format."""
    if isinstance(thing, dict):
        thing[word] = value
    else:
        thing.set(word, value)
