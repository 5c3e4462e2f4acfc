"""A writer of small maps in the ways in which versions of Tiled have saved them.

A map, layer, tileset and so on is a dict as in Tiled's JSON of today, with `properties` by name.
"""

from __future__ import annotations

import base64
import gzip
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ecs_collide.levels.level import Level

Part = dict[str, Any]
KINDS = {bool: "bool", int: "int", float: "float", str: "string"}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, "zlib": zlib.compress, "gzip": gzip.compress,
}  # fmt: skip
TAGS = {"tilelayer": "layer", "objectgroup": "objectgroup", "group": "group"}
# Attributes in XML that are not elements.
ATTRIBUTES = (
    "id", "name", "type", "class", "gid", "x", "y", "width", "height", "rotation", "offsetx",
    "offsety", "firstgid", "source", "tilewidth", "tileheight", "tilecount", "columns", "template",
    "objectalignment", "tilerendersize", "fillmode", "orientation", "infinite", "version",
)  # fmt: skip


def new_xml(root: Part, tag: str = "map") -> str:
    """Write a map as Tiled does today: csv in chunks or not, properties with types."""
    return _xml(tag, root, "csv")


def packed_xml(root: Part, compression: str = "zlib") -> str:
    """Write a map with packed tiles, properties as the content of their elements."""
    return _xml("map", root, f"base64 {compression}")


def old_xml(root: Part) -> str:
    """Write a map as the first versions did: an element for each tile."""
    head = '<?xml version="1.0"?>\n<!DOCTYPE map SYSTEM "http://mapeditor.org/dtd/1.0/map.dtd">\n'
    return head + _xml("map", root, "elements")


def new_json(root: Part) -> str:
    """Write a map as JSON of today."""
    return json.dumps(_json(root, is_old=False))


def packed_json(root: Part, compression: str = "gzip") -> str:
    """Write a map as JSON with packed tiles."""
    return json.dumps(_json(root, is_old=False, compression=compression))


def old_json(root: Part) -> str:
    """Write a map as JSON of Tiled 1.0: properties, types of properties and tiles by name."""
    return json.dumps(_json(root, is_old=True))


WRITERS: dict[str, Callable[[Part], str]] = {
    "map.tmx": new_xml, "packed.tmx": packed_xml, "old.tmx": old_xml,
    "map.tmj": new_json, "packed.tmj": packed_json, "old.json": old_json,
}  # fmt: skip


def corners(level: Level) -> set[tuple[float, ...]]:
    """Return left, bottom, right and top of the solid boxes of a level."""
    return {
        (x - wide, y - high, x + wide, y + high)
        for (x, y), (wide, high) in ((box.centre, box.half) for box in level.solids)
    }


def save_all(root: Part, folder: Path) -> list[Path]:
    """Save a map in every way."""
    paths = [folder / name for name in WRITERS]
    for path in paths:
        path.write_text(WRITERS[path.name](root), "utf-8")
    return paths


def _coded(data: list[int], compression: str) -> str:
    packed = PACKED[compression](struct.pack(f"<{len(data)}I", *data))
    return base64.b64encode(packed).decode()


def _xml(tag: str, part: Part, data: str) -> str:
    """Write an element with all in it."""
    said = {name: part[name] for name in ATTRIBUTES if name in part}
    if tag in TAGS.values():
        said.pop("type", None)
    words = " ".join(f"{name}={quoteattr(_text(value))}" for name, value in said.items())
    inside = "".join(_property(*one, data) for one in part.get("properties", {}).items())
    inside = f"<properties>{inside}</properties>" if inside else ""
    if "tileoffset" in part:
        inside += f'<tileoffset x="{part["tileoffset"]["x"]}" y="{part["tileoffset"]["y"]}"/>'
    if "grid" in part:
        inside += f'<grid orientation="{part["grid"]["orientation"]}"/>'
    if "image" in part:
        size = f'width="{part["imagewidth"]}" height="{part["imageheight"]}"'
        inside += f"<image source={quoteattr(part['image'])} {size}/>"
    for shape in ("ellipse", "point", "capsule"):
        inside += f"<{shape}/>" if part.get(shape) else ""
    for shape in ("polygon", "polyline"):
        if shape in part:
            points = " ".join(f"{point['x']},{point['y']}" for point in part[shape])
            inside += f'<{shape} points="{points}"/>'
    if "text" in part:
        inside += f"<text>{part['text']['text']}</text>"
    inside += "".join(_xml("tileset", one, data) for one in part.get("tilesets", ()))
    inside += "".join(_xml("tile", one, data) for one in part.get("tiles", ()))
    if "objectgroup" in part:
        inside += _xml("objectgroup", part["objectgroup"], data)
    inside += "".join(_xml("object", one, data) for one in part.get("objects", ()))
    inside += "".join(_xml(TAGS[one["type"]], one, data) for one in part.get("layers", ()))
    if "chunks" in part:
        chunks = [
            f'<chunk x="{one["x"]}" y="{one["y"]}" width="{one["width"]}" '
            f'height="{one["height"]}">{_cells(one["data"], data)}</chunk>'
            for one in part["chunks"]
        ]
        inside += f"<data{_packing(data)}>{''.join(chunks)}</data>"
    elif "data" in part:
        inside += f"<data{_packing(data)}>{_cells(part['data'], data)}</data>"
    return f"<{tag} {words}>{inside}</{tag}>"


def _packing(data: str) -> str:
    encoding, _, compression = data.partition(" ")
    if encoding == "elements":
        return ""
    return f' encoding="{encoding}"' + (f' compression="{compression}"' if compression else "")


def _cells(numbers: list[int], data: str) -> str:
    encoding, _, compression = data.partition(" ")
    if encoding == "csv":
        return "\n" + ",\n".join(map(str, numbers)) + "\n"
    if encoding == "base64":
        return f"\n   {_coded(numbers, compression)}\n  "
    return "".join(f'<tile gid="{gid}"/>' if gid else "<tile/>" for gid in numbers)


def _property(name: str, value: Any, data: str) -> str:
    kind = "" if type(value) is str else f' type="{KINDS[type(value)]}"'
    if data.startswith("base64") and type(value) is str:
        return f"<property name={quoteattr(name)}{kind}>{escape(value)}</property>"
    return f"<property name={quoteattr(name)}{kind} value={quoteattr(_text(value))}/>"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(part: Part, is_old: bool, compression: str | None = None) -> Part:
    made: Part = {}
    for name, value in part.items():
        if name == "properties" and is_old:
            made[name] = value
            made["propertytypes"] = {one: KINDS[type(two)] for one, two in value.items()}
        elif name == "properties":
            made[name] = [
                {"name": one, "type": KINDS[type(two)], "value": two} for one, two in value.items()
            ]
        elif name == "data" and compression is not None:
            made[name] = _coded(value, compression)
        elif name in ("layers", "objects", "tilesets", "chunks", "tiles"):
            made[name] = [_json(one, is_old, compression) for one in value]
        elif name == "objectgroup":
            made[name] = _json(value, is_old, compression)
        else:
            made[name] = value
    if compression is not None and ("data" in part or "chunks" in part):
        made |= {"encoding": "base64", "compression": compression}
    if is_old and "tiles" in made:
        tiles = {str(tile["id"]): tile for tile in made.pop("tiles")}
        made["tileproperties"] = {n: tile.pop("properties", {}) for n, tile in tiles.items()}
        kinds = {n: tile.pop("propertytypes", {}) for n, tile in tiles.items()}
        made["tilepropertytypes"] = kinds
        made["tiles"] = tiles
    return made
