"""The two formats of Tiled, XML and JSON, behind one interface to the parts of a file.

Elements and dicts have the same `get`, so only these methods differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

Raw = Any
"""A part of a map as its file has it: an XML element, or a dict."""

# Most characters of the tag of an element, and most bytes before the first element.  Older
# versions of expat that read in pieces, as the parser does, take time quadratic in it.
_MAX_TAG = 2**20

_LEAVES = ("layer", "objectgroup", "imagelayer")
_SHAPES = ("ellipse", "point", "polygon", "polyline", "text", "capsule")
# If one of these is empty or zero in an object, Tiled takes it from the object's template.
_WEAK = {"name", "type", "class", "gid", "width", "height"}


class Xml:
    """A reader and writer of the parts of TMX, TSX and TX files."""

    name = "XML"
    suffix = ".tmx"

    def read(self, content: bytes, kind: str) -> Raw:
        """Return the parsed content of a file of this kind."""
        _require_no_definitions(content)
        root = ElementTree.fromstring(content)
        if root.tag != kind:
            raise ValueError(f"it is a {root.tag:.100}")
        for element in root.iter():
            words = element.attrib
            if len(element.tag) + sum(map(len, words)) + sum(map(len, words.values())) > _MAX_TAG:
                raise ValueError(
                    f"an element {element.tag:.100} has more than {_MAX_TAG} characters of "
                    "attributes; longer texts are its content"
                )
        return root

    def write(self, root: Raw, path: Path) -> None:
        """Save a map in memory to a file."""
        ElementTree.ElementTree(root).write(path, encoding="utf-8")

    def tilesets(self, root: Raw) -> list[Raw]:
        """Return the tilesets, each with its content or the name of its file."""
        return list(root.findall("tileset"))

    def drop_tilesets(self, root: Raw, dropped: Sequence[Raw]) -> None:
        """Take tilesets out of a map."""
        gone = set(map(id, dropped))
        root[:] = [child for child in root if id(child) not in gone]

    def tiles(self, tileset: Raw) -> Iterable[Raw]:
        """Return the tiles that have an entry in a tileset."""
        return list(tileset.findall("tile"))

    def picture(self, owner: Raw) -> Any:
        """Return the name of the picture of a tileset, a tile or an image layer, or None."""
        image = owner.find("image")
        return None if image is None else image.get("source")

    def set_picture(self, owner: Raw, name: str) -> None:
        """Give a tileset, a tile or an image layer another picture."""
        image = owner.find("image")
        if image is None:
            image = ElementTree.SubElement(owner, "image")
        image.set("source", name)

    def shapes(self, tile: Raw) -> list[Raw]:
        """Return the layers that the tile collision editor has made for a tile."""
        return list(tile.findall("objectgroup"))

    def layers(self, root: Raw) -> Iterator[Raw]:
        """Yield the layers inside all groups."""
        for child in root:
            if child.tag == "group":
                yield from self.layers(child)
            elif child.tag in _LEAVES:
                yield child

    def kind(self, layer: Raw) -> str:
        """Return the kind of a layer: "tiles", "picture" or something else."""
        return {"layer": "tiles", "imagelayer": "picture"}.get(layer.tag, "")

    def blocks(self, layer: Raw) -> list[tuple[Raw, Raw]]:
        """Return the parts that hold the tiles of a layer, each with the part of its size."""
        data = layer.find("data")
        if data is None:
            return []
        chunks = data.findall("chunk")
        for block in (data, *chunks):
            tiles = block.findall("tile")
            if tiles:  # the oldest format, an element for each tile
                block.text = ",".join(tile.get("gid", "0") for tile in tiles)
                block[:] = [child for child in block if child.tag != "tile"]
                data.attrib.pop("encoding", None)
        if chunks:
            return [(chunk, chunk) for chunk in chunks]
        if not (data.text or "").strip():
            layer.remove(data)
            return []
        return [(data, layer)]

    def packing(self, layer: Raw) -> tuple[str, str]:
        """Return the encoding and the compression of a layer's tiles."""
        data = layer.find("data")
        if data is None:
            return "csv", ""
        return data.get("encoding") or "csv", data.get("compression") or ""

    def n_plain(self, block: Raw) -> int:
        """Return how many tiles an unpacked block has."""
        text = block.text or ""
        return text.count(",") + 1 if text.strip() else 0

    def packed(self, block: Raw) -> str:
        """Return the text of a packed block."""
        return block.text or ""

    def set_plain(self, layer: Raw, block: Raw, numbers: list[int]) -> None:
        """Set the tiles of a block, unpacked."""
        block.text = ",".join(map(str, numbers))
        layer.find("data").attrib = {"encoding": "csv"}

    def things(self, layer: Raw) -> list[Raw]:
        """Return the objects of a layer."""
        return list(layer.findall("object"))

    def set_things(self, layer: Raw, things: Sequence[Raw]) -> None:
        """Replace the objects of a layer."""
        layer[:] = [child for child in layer if child.tag != "object"] + list(things)

    def pattern(self, root: Raw) -> Raw:
        """Return the one object of a template."""
        found = root.find("object")
        if found is None:
            raise ValueError("it has no object")
        return found

    def is_capsule(self, thing: Raw) -> bool:
        """Return whether an object is a capsule."""
        return thing.find("capsule") is not None

    def merged(self, pattern: Raw, thing: Raw, own: set[str]) -> Raw:
        """Return an object with the attributes of its template, except those in `own`."""
        whole = ElementTree.Element("object", _over(pattern.attrib, thing.attrib, own))
        shapes = [part for part in thing if part.tag in _SHAPES]
        whole.extend(shapes or [part for part in pattern if part.tag in _SHAPES])
        stated = {part.get("name"): part for part in pattern.iterfind("properties/property")}
        stated |= {part.get("name"): part for part in thing.iterfind("properties/property")}
        ElementTree.SubElement(whole, "properties").extend(stated.values())
        return whole

    def with_sizes(self, thing: Raw) -> Raw:
        """Return an object with all attributes that the parser requires."""
        for word in ("width", "height"):
            thing.set(word, thing.get(word, "0"))  # Tiled omits zeros
        return thing

    def without_layers(self, root: Raw) -> Raw:
        """Return a copy of a map that has its tilesets and no layers."""
        part = copy(root)
        part[:] = root.findall("tileset")
        return part


class Json:
    """A reader and writer like `Xml`, for TMJ, TSJ and TJ files."""

    name = "JSON"
    suffix = ".tmj"

    def read(self, content: bytes, kind: str) -> Raw:
        raw = json.loads(content)
        if not isinstance(raw, dict):
            raise TypeError(f"it is a {type(raw).__name__}")
        return raw

    def write(self, root: Raw, path: Path) -> None:
        path.write_text(json.dumps(root), "utf-8")

    def tilesets(self, root: Raw) -> list[Raw]:
        single = [root["tileset"]] if "tileset" in root else []  # in a template
        return list(root.get("tilesets", single))

    def drop_tilesets(self, root: Raw, dropped: Sequence[Raw]) -> None:
        gone = set(map(id, dropped))
        root["tilesets"] = [tileset for tileset in root["tilesets"] if id(tileset) not in gone]

    def tiles(self, tileset: Raw) -> Iterable[Raw]:
        tiles = tileset.get("tiles") or ()
        return list(tiles.values()) if isinstance(tiles, dict) else list(tiles)

    def picture(self, owner: Raw) -> Any:
        return owner.get("image")

    def set_picture(self, owner: Raw, name: str) -> None:
        owner["image"] = name

    def shapes(self, tile: Raw) -> list[Raw]:
        layer = tile.get("objectgroup")
        if layer is None:
            return []
        if layer.get("type") != "objectgroup":  # the parser would take layers of tiles as well
            raise ValueError(
                f"the shapes of tile {tile.get('id')} are of the type {layer.get('type')!r}; "
                "it must be 'objectgroup'"
            )
        return [layer]

    def layers(self, root: Raw) -> Iterator[Raw]:
        layers = root["layers"]
        if not isinstance(layers, list):
            raise TypeError(f"its layers are {layers!r}")
        for layer in layers:
            if layer.get("type") == "group":
                yield from self.layers(layer)
            else:
                yield layer

    def kind(self, layer: Raw) -> str:
        return {"tilelayer": "tiles", "imagelayer": "picture"}.get(layer.get("type"), "")

    def blocks(self, layer: Raw) -> list[tuple[Raw, Raw]]:
        blocks = [(chunk, chunk) for chunk in layer.get("chunks") or ()]
        if layer.get("data") is not None:
            blocks.append((layer, layer))
        if layer.get("encoding") == "csv":
            del layer["encoding"]  # the parser takes any encoding for base64
        return blocks

    def packing(self, layer: Raw) -> tuple[str, str]:
        return layer.get("encoding") or "csv", layer.get("compression") or ""

    def n_plain(self, block: Raw) -> int:
        data = block["data"]
        if not isinstance(data, list):
            raise TypeError(
                f"its data are a {type(data).__name__}, which must be a list of tiles, "
                "or text if the encoding is base64"
            )
        return len(data)

    def packed(self, block: Raw) -> str:
        data = block["data"]
        if not isinstance(data, str):
            raise TypeError(f"its data are a {type(data).__name__}, which must be text in base64")
        return data

    def set_plain(self, layer: Raw, block: Raw, numbers: list[int]) -> None:
        block["data"] = numbers
        layer.pop("encoding", None)

    def things(self, layer: Raw) -> list[Raw]:
        return list(layer.get("objects", ()))

    def set_things(self, layer: Raw, things: Sequence[Raw]) -> None:
        if "objects" in layer:
            layer["objects"] = list(things)

    def pattern(self, root: Raw) -> Raw:
        return root["object"]

    def is_capsule(self, thing: Raw) -> bool:
        return bool(thing.get("capsule"))

    def merged(self, pattern: Raw, thing: Raw, own: set[str]) -> Raw:
        whole = _over(pattern, thing, own)
        stated = {part["name"]: part for part in pattern.get("properties") or ()}
        stated |= {part["name"]: part for part in thing.get("properties") or ()}
        whole["properties"] = list(stated.values())
        return whole

    def with_sizes(self, thing: Raw) -> Raw:
        nothing = {"name": "", "width": 0, "height": 0, "rotation": 0, "visible": True}
        return {**nothing, **thing}

    def without_layers(self, root: Raw) -> Raw:
        return {**root, "layers": []}


Format = Xml | Json

XML, JSON = Xml(), Json()


def format_of(content: bytes) -> Format:
    """Return the format of a file."""
    is_xml = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
    return XML if is_xml else JSON


class _RootReachedError(Exception):
    """The end of the definitions of a document, which come before its first element."""


def _require_no_definitions(content: bytes) -> None:
    """Raise ValueError for XML that defines entities or default attributes: few bytes make many.

    Tiled writes none.  A document type without them, as in Tiled's first versions, is only a name.
    """

    def refuse(name: str, system: str | None, public: str | None, has_definitions: int) -> None:
        if has_definitions:
            raise ValueError("it defines entities or attributes, which Tiled never saves")

    def stop(name: str, attributes: object) -> None:
        raise _RootReachedError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = stop
    try:
        parser.Parse(content[:_MAX_TAG], len(content) <= _MAX_TAG)
    except _RootReachedError:
        return
    raise ValueError(f"it has no element within its first {_MAX_TAG} bytes")


def _over(pattern: dict[str, Any], thing: dict[str, Any], own: set[str]) -> dict[str, Any]:
    """Return the attributes of an object and its template; of the weak ones, those in `own`."""
    skipped = {"template", *_WEAK} - own
    whole = {word: value for word, value in pattern.items() if word not in own}
    return whole | {word: value for word, value in thing.items() if word not in skipped}
