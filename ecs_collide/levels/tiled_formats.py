"""Parse the files of Tiled, XML and JSON of all its versions, into one form, and those of LDtk.

The form is the one of Tiled's JSON: dicts and lists, with the names that Tiled documents.  Numbers
and properties of XML get their types.  Only parts that bodies, objects or drawing need are taken
from XML; all others may be missing, new or odd.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from ecs_collide.levels.reading import DamageError

Raw = dict[str, Any]
"""A part of a file, as in Tiled's JSON."""

_NUMBERS = {
    "id", "gid", "firstgid", "tileid", "duration", "x", "y", "width", "height", "tilewidth",
    "tileheight", "tilecount", "columns", "margin", "spacing", "offsetx", "offsety", "parallaxx",
    "parallaxy", "opacity", "visible", "rotation", "infinite", "pixelsize",
}  # fmt: skip
_LAYERS = {"layer": "tilelayer"} | {tag: tag for tag in ("objectgroup", "imagelayer", "group")}
_LISTS = {"tileset": "tilesets", "tile": "tiles", "object": "objects"}

_MAPS = "; load a map that uses it"
_KINDS = {
    "map": "a map of Tiled: load it with ecs_collide.levels.tiled",
    "tileset": f"a tileset of Tiled{_MAPS}",
    "template": f"an object template of Tiled{_MAPS}",
    "objecttypes": "a list of Tiled's object types; load a map",
    "world": "a world of Tiled; load one of its maps with tiled.load(map, world=...)",
    "maps": "a project of Tiled; load one of its maps",
    "project": "a project of LDtk; load it with ecs_collide.levels.ldtk",
    "level": "one level of a project of LDtk; load the project and name the level",
    "export of a level": "a level in LDtk's simplified form; load the project it comes from",
    "picture": "a picture; load the map that shows it",
    "export": "a map exported as a program; export it as .tmx or .tmj instead",
}
# How files begin that are neither XML nor JSON.
_BEGINNINGS = (
    (b"\x89PNG", "picture"), (b"GIF8", "picture"), (b"\xff\xd8\xff", "picture"),
    (b"RIFF", "picture"), (b"BM", "picture"), (b"return {", "export"), (b"(function", "export"),
)  # fmt: skip
# Names at the top of JSON files that do not say their type.
_NAMES = (
    ("layers", "map"), ("maps", "world"), ("patterns", "world"), ("layerInstances", "level"),
    ("defs", "project"), ("__header__", "project"), ("propertyTypes", "maps"),
    ("automappingRulesFile", "maps"), ("object", "template"), ("tilewidth", "tileset"),
    ("uniqueIdentifer", "export of a level"),  # spelt so by LDtk
)  # fmt: skip


def parse(content: bytes, kind: str) -> Raw:
    """Return the content of a file, which must be of a kind of `_KINDS`, such as "map".

    Raises
    ------
    ValueError
        It is another kind of file, which the message names.  XML defines entities.
    Exception
        The file is damaged.
    """
    content = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    for start, other in _BEGINNINGS:
        if content.startswith(start):
            raise ValueError(f"it is {_KINDS[other]}")
    try:
        is_ldtk = kind in ("project", "level")  # whose floats stay as they are
        read = json.loads if is_ldtk else partial(json.loads, parse_float=_fraction)
        raw = _xml(content) if b"<" in content[:4] else read(content)
    except UnicodeDecodeError as error:  # shown, it would show the whole file
        raise DamageError(f"it is no text in UTF-8: {error.reason} at byte {error.start}") from None
    if not isinstance(raw, dict):
        raise DamageError(f"it is a {type(raw).__name__}")
    found = raw.get("type")
    if found not in [*_KINDS]:
        found = next((kind for name, kind in _NAMES if name in raw), None)
    if found is None:
        raise DamageError(f"it has nothing of a {kind}")
    if found != kind:
        raise ValueError(f"it is {_KINDS[found]}")
    return raw


def _fraction(text: str) -> float:
    """Return a number of JSON; a whole one, which some programs write as 1.0, as `int`."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def parts(raw: Raw, name: str) -> list[Raw]:
    """Return the parts of a part that has any number of them, such as its layers."""
    found = raw.get(name) or []
    if not isinstance(found, list) or not all(isinstance(part, dict) for part in found):
        raise DamageError(f"its {name} are {found!r:.100}")
    return found


def tiles_of(tileset: Raw) -> dict[int, Raw]:
    """Return the tiles of a tileset that have an entry, by their ids."""
    found: dict[int, Raw] = {}
    stated = tileset.get("tiles") or []
    if isinstance(stated, dict):  # JSON before 1.2
        stated = [{**tile, "id": int(number)} for number, tile in stated.items()]
    for tile in stated:
        found[int(tile["id"])] = {**found.get(int(tile["id"]), {}), **tile}
    kinds = tileset.get("tilepropertytypes") or {}
    for number, properties in (tileset.get("tileproperties") or {}).items():
        more = {"properties": properties, "propertytypes": kinds.get(number)}
        found[int(number)] = {"id": int(number), **found.get(int(number), {}), **more}
    return found


def text_of(raw: Raw, *names: str) -> str:
    """Return the first of these texts that is not empty; empty if there is none."""
    found = next((raw[name] for name in names if raw.get(name) not in (None, "")), "")
    return found if isinstance(found, str) else str(found)


def number_of(raw: Raw, name: str, default: float = 0) -> Any:
    """Return a number, which the caller checks; the default if it is missing or empty."""
    found = raw.get(name)
    return default if found is None or found == "" else found


def whole_of(raw: Raw, name: str, default: int | None = None) -> int:
    """Return a whole number, 0 or more, or raise a ValueError."""
    if default is None and raw.get(name) in (None, ""):
        raise DamageError(f"it has no {name}")
    found = number_of(raw, name, default or 0)
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    if not is_number or not 0 <= found < 2**63 or found != int(found):
        raise ValueError(f"its {name} is {found!r}; it must be a whole number, 0 or more")
    return int(found)


def listed_properties(raw: Raw) -> list[Raw]:
    """Return the properties of a part as Tiled saves them in JSON since version 1.2."""
    stated = raw.get("properties") or []
    if isinstance(stated, dict):
        kinds = raw.get("propertytypes") or {}
        return [{"name": n, "type": kinds.get(n, ""), "value": v} for n, v in stated.items()]
    return parts(raw, "properties")


def properties_of(raw: Raw) -> dict[str, Any]:
    """Return the properties of a part of `Level.map`, such as a layer, by their names."""
    return {
        str(stated.get("name")): _value(stated.get("type"), stated.get("value"))
        for stated in listed_properties(raw)
    }


def _value(kind: str | None, value: Any) -> Any:
    """Return the value of a property of some type; a value of another type stays as it is."""
    if kind == "list":
        items = value if isinstance(value, list) else []
        return [
            _value(item.get("type"), item["value"])
            if isinstance(item, dict) and "value" in item
            else item
            for item in items
        ]
    if kind == "class":
        return value if isinstance(value, dict) else {}
    if value in (None, ""):
        return {"bool": False, "int": 0, "object": 0, "float": 0.0}.get(kind or "", "")
    try:
        if kind in ("int", "object"):
            return int(value)
        if kind == "float":
            return float(value)
    except (TypeError, ValueError, OverflowError):
        return value
    if kind == "bool" and isinstance(value, str):
        return {"true": True, "1": True, "false": False, "0": False}.get(value, value)
    return value


# -- XML --


def _xml(content: bytes) -> Raw:
    """Return the parsed content of an XML file, with the name of its root as its type."""
    prologue = expat.ParserCreate()
    prologue.EntityDeclHandler = prologue.AttlistDeclHandler = _refuse_definitions
    prologue.StartElementHandler = _stop
    try:
        with suppress(_RootReachedError):
            prologue.Parse(content, True)
        root = ElementTree.fromstring(content)
    except (expat.ExpatError, ElementTree.ParseError) as error:
        raise DamageError(f"its XML is damaged: {error}") from error
    raw = {**_part(root), "type": root.tag}
    if root.tag == "template":  # JSON has one of each
        raw["object"] = raw["objects"][0]
        raw["tileset"] = next(iter(raw.get("tilesets", ())), None)
    return raw


class _RootReachedError(Exception):
    """The end of the definitions of a document, which come before its first element."""


def _stop(*element: object) -> None:
    raise _RootReachedError


def _refuse_definitions(*definition: object) -> None:
    """Refuse XML that defines entities or default attributes, of which few bytes make many."""
    raise DamageError("it defines entities or attributes, which Tiled never saves")


def _part(element: ElementTree.Element) -> Raw:
    """Return an element with its children."""
    raw = _attributes(element)
    for child in element:
        tag = child.tag
        if tag == "properties":
            raw["properties"] = raw.get("properties", []) + _properties(child)
        elif tag in _LAYERS:
            layer = {**_part(child), "type": _LAYERS[tag]}
            if element.tag == "tile":
                raw["objectgroup"] = layer
            else:
                raw.setdefault("layers", []).append(layer)
        elif tag in _LISTS:
            raw.setdefault(_LISTS[tag], []).append(_part(child))
        elif tag == "image":
            picture = _attributes(child)
            raw["image"] = picture.get("source", "")
            for name in ("width", "height"):
                raw[f"image{name}"] = picture.get(name, 0)
        elif tag == "data":
            raw |= _data(child)
        elif tag in ("polygon", "polyline"):
            points = (point.split(",") for point in child.get("points", "").split())
            raw[tag] = [{"x": _number(x), "y": _number(y)} for x, y in points]
        elif tag in ("ellipse", "point", "capsule"):
            raw[tag] = True
        elif tag == "text":
            raw["text"] = {**_attributes(child), "text": child.text or ""}
        elif tag in ("tileoffset", "grid"):
            raw[tag] = _attributes(child)
        elif tag == "animation":
            raw[tag] = [_attributes(frame) for frame in child]
    return raw


def _attributes(element: ElementTree.Element) -> Raw:
    return {name: _number(value) if name in _NUMBERS else value for name, value in element.items()}


def _number(text: str) -> Any:
    """Return the number that a text is, or the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _properties(element: ElementTree.Element) -> list[Raw]:
    return [_property(stated) for stated in element.findall("property")]


def _property(element: ElementTree.Element) -> Raw:
    """Return a property, or one value of a list."""
    raw: Raw = dict(element.attrib)
    inside = element.find("properties")
    text = element.text or ""
    if inside is not None:
        raw["value"] = properties_of({"properties": _properties(inside)})
    elif raw.get("type") == "list":
        raw["value"] = [_property(item) for item in element if item.tag in ("item", "value")]
    elif not raw.get("value"):
        raw["value"] = text if text.strip() else ""
    return raw


def _data(element: ElementTree.Element) -> Raw:
    """Return the tiles of a layer, packed or as a list, or its chunks."""
    raw: Raw = {word: element.get(word, "") for word in ("encoding", "compression")}
    chunks = element.findall("chunk")
    if chunks:
        raw["chunks"] = [{**_attributes(chunk), "data": _cells(chunk)} for chunk in chunks]
    else:
        raw["data"] = _cells(element)
    return raw


def _cells(block: ElementTree.Element) -> Any:
    tiles: Iterable[ElementTree.Element] = block.findall("tile")  # the oldest way
    return [int(tile.get("gid", 0)) for tile in tiles] or block.text or ""
