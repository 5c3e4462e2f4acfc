"""Damaged and hostile levels: each is read or refused, soon, and opens nothing of others.

The files are sound ones with a few changes: bits and pieces of their text, values that an
attacker would choose, parts that are repeated or missing, tiles that unpack to something else.
"""

from __future__ import annotations

import base64
import copy
import gzip
import json
import math
import random
import sys
import sysconfig
import tempfile
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import esper
import pytest

import ecs_collide as ec
from ecs_collide.levels import ldtk, tiled
from tests.scenes import another_world
from tests.volume import Volume

# Most take milliseconds.  Tracing makes them slower, and the machine may be busy.
SECONDS, MEGABYTES = 5.0, 60.0

NUMBERS = [0, -1, 1, 2, 4, 3.5, 65_536, 2**31, 2**32 - 1, 2**63, 10**30, 1e308, -1e308, 5e-324]
WORDS = [
    "", "0", "-1", "a", "nan", "inf", "1e999", "9" * 5000, "true", "false", "csv", "base64",
    "zlib", "gzip", "zstd", "one_way", "solid", "tilelayer", "objectgroup", "group", "isometric",
    "../out.tsx", "../out.tx", "../out.png", "../out.ldtkl", "link/out.tsx", "link/out.tx",
    "link/out.png", "link/out.ldtkl", "in.tsx", "in.tx", "in.tsj", "in.tj", "in.ldtkl", ".", "..",
    "map.tmx", "map.tmj", "world.ldtk", "/dev/zero", "/dev/stdin", "/proc/self/environ",
    "/proc/kcore", "/etc/passwd", "//server/share", "pipe", "a\0b", "\ud800", "x" * 10_000,
    "../" * 30 + "dev/zero", "a/" * 3000, "all", "red", "1,2,3", "💥",
]  # fmt: skip
VALUES: list[Any] = [*NUMBERS, *WORDS, None, True, False, [], {}, [1], [[]], math.nan, math.inf]
TILES = bytes([1, 0, 0, 0]) * 12
BOMB = bytes(8_000_000)
PACKED = [
    base64.b64encode(data).decode()
    for data in (
        TILES, TILES[:-1], TILES * 2, b"", zlib.compress(TILES), zlib.compress(TILES)[:-3],
        zlib.compress(BOMB), gzip.compress(TILES), gzip.compress(BOMB),
        gzip.compress(TILES) + gzip.compress(BOMB), zlib.compress(zlib.compress(BOMB)),
        b"\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x40\x03\x00\x00\x00", bytes([0x80] * 48),
    )
]  # fmt: skip

HEAD = (
    'version="1.10" tiledversion="1.11" orientation="orthogonal" renderorder="right-down" '
    'width="4" height="3" tilewidth="10" tileheight="10" nextlayerid="9" nextobjectid="9"'
)
SHAPES = '<objectgroup id="1" name=""><object id="1" template="in.tx" x="0" y="0"/></objectgroup>'
SOLID = '<properties><property name="solid" type="bool" value="true"/></properties>'
BRICKS = (
    ' name="b" tilewidth="10" tileheight="10" tilecount="4" columns="4">'
    '<image source="in.png" width="40" height="10"/>'
    f'<tile id="0" type="brick">{SOLID}</tile><tile id="1">{SHAPES}</tile></tileset>'
)
IN_TX = (
    '<template><tileset firstgid="1" source="in.tsx"/><object name="t" gid="1" width="9" '
    f'height="9">{SOLID}</object></template>'
)
DATA = f'<data encoding="base64" compression="zlib">{PACKED[4]}</data>'
CHUNK = f'<chunk x="-4" y="0" width="4" height="3">{PACKED[4]}</chunk>'
TMX = (
    f'<?xml version="1.0"?><map {HEAD} infinite="0"><tileset firstgid="1" {BRICKS}'
    f'<tileset firstgid="5" source="in.tsx"/><layer id="1" name="l" width="4" height="3">{DATA}'
    '</layer><group id="5" name="g" offsetx="1" offsety="2"><layer id="2" name="m" width="4" '
    'height="3"><data encoding="csv">1,1,1,1,0,0,0,0,5,5,5,5</data></layer></group>'
    '<imagelayer id="3" name="sky"><image source="in.png"/></imagelayer>'
    '<objectgroup id="4" name="things"><object id="1" name="n" type="coin" x="1" y="2" width="3" '
    f'height="4">{SOLID}</object><object id="2" gid="1" x="1" y="2"/><object id="3" '
    'template="in.tx" x="5" y="6"/><object id="4" x="1" y="2"><point/></object>'
    '<object id="5" x="1" y="2" width="3" height="3"><ellipse/></object></objectgroup></map>'
)
CHUNKS = TMX.replace('infinite="0"', 'infinite="1"').replace(
    DATA, f'<data encoding="base64" compression="zlib">{CHUNK * 3}</data>'
)
IN_TSJ = {
    "name": "j", "tilewidth": 10, "tileheight": 10, "tilecount": 4, "columns": 4, "spacing": 0,
    "margin": 0, "image": "in.png", "imagewidth": 40, "imageheight": 10,
    "tiles": [{"id": 0, "properties": [{"name": "solid", "type": "bool", "value": True}]}],
}  # fmt: skip
LAYER = {"opacity": 1, "visible": True, "x": 0, "y": 0}
THING = {"id": 1, "name": "n", "type": "coin", "x": 1, "y": 2, "width": 3, "height": 4,
         "rotation": 0, "visible": True}  # fmt: skip
TMJ = {
    "version": "1.10", "tiledversion": "1.11", "orientation": "orthogonal", "width": 4,
    "renderorder": "right-down", "height": 3, "tilewidth": 10, "tileheight": 10, "nextlayerid": 9,
    "nextobjectid": 9, "infinite": False,
    "tilesets": [{"firstgid": 1, **IN_TSJ}, {"firstgid": 5, "source": "in.tsj"}],
    "layers": [
        {**LAYER, "type": "tilelayer", "name": "l", "id": 1, "width": 4, "height": 3,
         "encoding": "base64", "compression": "zlib", "data": PACKED[4]},
        {**LAYER, "type": "group", "name": "g", "id": 2, "layers": [
            {**LAYER, "type": "tilelayer", "name": "m", "id": 1, "width": 4, "height": 3,
             "chunks": [{"x": 0, "y": 0, "width": 4, "height": 3, "data": [1] * 12}]}]},
        {**LAYER, "type": "imagelayer", "name": "sky", "id": 3, "image": "in.png"},
        {**LAYER, "type": "objectgroup", "name": "things", "id": 4, "draworder": "topdown",
         "objects": [THING, {"id": 2, "template": "in.tj", "x": 0, "y": 0},
                     {**THING, "gid": 1}, {**THING, "ellipse": True}]},
    ],
}  # fmt: skip
IN_TJ = {"object": {**THING, "gid": 1}, "tileset": {"firstgid": 1, "source": "in.tsj"}}
FIELD = {"__identifier": "sensor", "__value": True}
LEVEL = {
    "identifier": "Cellar", "pxWid": 40, "pxHei": 30, "fieldInstances": [FIELD],
    "bgRelPath": "in.png", "layerInstances": [
        {"__identifier": "L", "__type": "IntGrid", "__tilesetRelPath": "in.png",
         "__pxTotalOffsetX": 0, "__pxTotalOffsetY": 0, "__gridSize": 10, "intGridCsv": [1, 2] * 6,
         "__cWid": 4, "__cHei": 3, "layerDefUid": 5, "entityInstances": [
            {"__identifier": "Door", "iid": "d", "px": [1, 2], "width": 3, "height": 4,
             "__pivot": [0, 0.5], "fieldInstances": [FIELD]}]}],
}  # fmt: skip
VALUE = [{"value": 1, "identifier": "wall"}, {"value": 2, "identifier": None}]
WORLD = {
    "levels": [{**LEVEL, "worldX": -8, "worldY": 16}], "worldLayout": "Free", "worlds": [],
    "defs": {"layers": [{"uid": 5, "identifier": "L", "intGridValues": VALUE}]},
}  # fmt: skip
OLD_LEVEL = {
    "identifier": "Cellar", "pxWid": 40, "pxHei": 30, "layerInstances": [
        {"__identifier": "L", "__type": "IntGrid", "__gridSize": 10, "__cWid": 4, "__cHei": 3,
         "layerDefUid": 5, "intGrid": [{"coordId": 0, "v": 0}, {"coordId": 11, "v": 1}],
         "entityInstances": [{"__identifier": "Door", "px": [1, 2], "defUid": 6}]}],
}  # fmt: skip
OLD = {
    "jsonVersion": "0.6.2", "levels": [OLD_LEVEL], "defs": {
        "layers": [{"uid": 5, "identifier": "L", "intGridValues": [{"identifier": "wall"}]}],
        "entities": [{"uid": 6, "width": 3, "height": 4, "pivotX": 0, "pivotY": 0.5}]},
}  # fmt: skip
APART = {**WORLD, "levels": [{**LEVEL, "layerInstances": None, "externalRelPath": "in.ldtkl"}]}

ALL = {
    "type": "world",
    "maps": [{"fileName": "map.tmj", "x": -9, "y": 5, "width": 40, "height": 30},
             {"fileName": "map.tmx", "x": 0, "y": 0}],
    "patterns": [{"regexp": "r(\\d)(\\d)", "multiplierX": 9, "multiplierY": 9, "offsetX": 1}],
}  # fmt: skip

# Which file is changed, and which level is then loaded.
FILES: dict[str, str] = {
    "map.tmx": TMX, "chunks.tmx": CHUNKS, "map.tmj": json.dumps(TMJ), "in.tsx": "<tileset" + BRICKS,
    "in.tx": IN_TX, "in.tsj": json.dumps(IN_TSJ), "in.tj": json.dumps(IN_TJ),
    "world.ldtk": json.dumps(WORLD), "apart.ldtk": json.dumps(APART), "in.ldtkl": json.dumps(LEVEL),
    "all.world": json.dumps(ALL),
    "old.ldtk": json.dumps(OLD),
}  # fmt: skip
LEVELS = {"in.tsx": "map.tmx", "in.tx": "map.tmx", "in.tsj": "map.tmj", "in.tj": "map.tmj",
          "in.ldtkl": "apart.ldtk", "all.world": "map.tmj"}  # fmt: skip

Watch = Callable[[], list[str]]


def flipped(text: str, rng: random.Random) -> bytes:
    """Return a text with a few bytes changed, cut out, doubled or exchanged."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(data))
        stop = at + rng.choice([1, 1, 2, 20, 200])
        change = rng.randrange(5)
        if change == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del data[at:stop]
        elif change == 2:
            data[at:at] = data[at:stop] * rng.choice([1, 2, 50])
        elif change == 3:
            data[at:stop] = rng.choice([*WORDS, *PACKED]).encode("utf-8", "surrogatepass")
        else:
            data[at:stop] = bytes(rng.randrange(256) for _ in range(stop - at))
        if not data:
            break
    return bytes(data)


def changed_json(text: str, rng: random.Random) -> bytes:
    """Return JSON with a few values replaced, removed, nested or repeated."""
    root = copy.deepcopy(json.loads(text))
    for n in range(rng.randrange(1, 4)):
        holders = [root]
        for holder in holders:
            inside = holder.values() if isinstance(holder, dict) else holder
            holders += [value for value in inside if isinstance(value, (dict, list)) and value]
        holder = rng.choice(holders)
        if not holder:
            break
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        change = rng.randrange(8)
        if change == 0:
            del holder[key]
        elif change == 1 and isinstance(holder, list) and n == 0:
            holder += [copy.deepcopy(holder[key]) for _ in range(rng.choice([1, 500]))]
        elif change == 2 and n == 0:  # json writes some 900 in each other
            for _ in range(rng.choice([1, 100, 250])):
                holder[key] = {"layers": [holder[key]]} if rng.random() < 0.1 else [holder[key]]
        elif change == 3:
            holder[key] = rng.choice(PACKED)
        elif change == 4:
            holder[key] = copy.deepcopy(rng.choice(holders))
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
    return json.dumps(root).encode()


def changed_xml(text: str, rng: random.Random) -> bytes:
    """Return XML with a few attributes, texts and elements changed."""
    root = ElementTree.fromstring(text)
    for n in range(rng.randrange(1, 4)):
        element = rng.choice(list(root.iter()))
        change = rng.randrange(8)
        words = [word for word in WORDS if "\0" not in word and "\ud800" not in word]
        if change == 0 and len(element):
            element.remove(rng.choice(list(element)))
        elif change == 1 and len(element) and n == 0:
            child = rng.choice(list(element))
            element.extend([copy.deepcopy(child) for _ in range(rng.choice([1, 500]))])
        elif change == 2:
            element.text = rng.choice([*words, *PACKED])
        elif change == 3:
            element.tag = rng.choice([other.tag for other in root.iter()])
        elif change == 4:
            element.append(copy.deepcopy(rng.choice(list(root.iter()))))
        elif element.attrib:
            word = rng.choice(list(element.attrib))
            if rng.random() < 0.15:
                del element.attrib[word]
            else:
                element.set(word, str(rng.choice([*words, *NUMBERS])))
        else:
            element.set(rng.choice(["source", "template", "gid", "width"]), rng.choice(words))
    head = rng.choice(
        [b"", b"", b"", b'<!DOCTYPE map [<!ENTITY a "' + b"x" * 9999 + b'">]>', b"<!DOCTYPE map>"]
    )
    return head + ElementTree.tostring(root)


def changed(name: str, text: str, rng: random.Random) -> bytes:
    is_xml = text.startswith("<")
    return rng.choice([flipped, changed_xml if is_xml else changed_json])(text, rng)


_watched: list[str] | None = None


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _watched is not None and isinstance(arguments[0], str):
        _watched.append(arguments[0])


@pytest.fixture(scope="module")
def hook() -> None:
    """See which files are opened; a hook stays as long as the interpreter."""
    sys.addaudithook(_note)


@pytest.fixture
def folder(tmp_path: Path, hook: None) -> Iterator[Path]:
    """Return a folder of levels; beside it lie others that are none of theirs."""
    global _watched
    inside = tmp_path / "levels"
    inside.mkdir()
    for name, text in FILES.items():
        (inside / name).write_text(text)
        (tmp_path / name.replace("in.", "out.")).write_text(text)
    (tmp_path / "out.png").write_bytes(b"")
    try:
        (inside / "link").symlink_to(tmp_path, target_is_directory=True)
    except OSError:
        (inside / "link").mkdir()
    _watched = []
    yield inside
    _watched = None


def own(path: str, folder: Path) -> bool:
    """Return whether a level may open a file: its own, a copy for the parser, or Python's."""
    real = Path(path).resolve()
    if real.is_relative_to(folder):
        return True
    if real.is_relative_to(folder.parent):
        return False
    temporary = Path(tempfile.gettempdir()).resolve()
    pythons = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()]
    return any(real.is_relative_to(Path(home).resolve()) for home in (temporary, *pythons))


def require_sound(level: tiled.Level) -> None:
    """Require that bodies can be made of all that was read."""
    for thing in (*level.solids, *level.objects):
        assert all(math.isfinite(number) for number in (*thing.centre, *thing.half))
        with suppress(ValueError):  # of an object whose properties are wrong
            assert thing.components()
    assert all(math.isfinite(number) for corner in level.bounds for number in corner)


def require_changes(level: tiled.Level, rng: random.Random) -> None:
    """Require that tiles can be cleared and put back, and that the boxes are the same then."""
    with another_world("changed level"):
        level.create_solids()
        boxes = area_of_boxes()
        names = [layer.name for layer in level._tiling.grid.layers]
        for layer in {box.layer for box in level._tiling.places}:
            (cell, number), *_ = level._tiling.grid.layers[layer].tiles()
            if names.count(names[layer]) == 1:
                level.set_cell(*cell, layer=names[layer])
                level.set_cell(*cell, number, names[layer])
        assert math.isclose(area_of_boxes(), boxes)
        level.tile_at((rng.uniform(-9, 99), rng.uniform(-9, 99)))


def area_of_boxes() -> float:
    return math.fsum(
        extents.x * extents.y
        for entity, extents in esper.get_component(ec.Extents)
        if esper.entity_exists(entity)
    )


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")  # in a changed pattern
@pytest.mark.parametrize("changed_name", FILES)
def test_changed_level_is_read_or_refused_soon_and_opens_nothing_else(
    folder: Path, changed_name: str, volume: Volume
) -> None:
    rng = random.Random(changed_name)
    n_read = n_refused = 0
    path = folder / LEVELS.get(changed_name, changed_name)
    load = ldtk.load if path.suffix == ".ldtk" else tiled.load
    options: dict[str, Any] = {"categories": {"red": 2}, "root": folder}

    for _ in range(volume(30, 60, 2000, least=30)):
        data = changed(changed_name, FILES[changed_name], rng)
        (folder / changed_name).write_bytes(data)
        tracemalloc.start()
        start = time.process_time()
        try:
            if load is tiled.load:
                options["world"] = folder / "all.world" if changed_name == "all.world" else None
                options["no_box"] = rng.choice(["refuse"] + ["skip"] * 9)
                options["y_down"] = rng.random() < 0.1
                options["objects"] = rng.choice([None, {"coin": {"solid": True}}])
            else:
                options["cells"] = rng.choice([None, None, {"wall": {"friction": 0.5}}])
            level = load(path, **options)
        except (ValueError, FileNotFoundError) as error:
            n_refused += 1
            said = str(error)
        else:
            n_read += 1
            said = path.name
            require_sound(level)
            if len(level.solids) < 100:
                require_changes(level, rng)
        taken, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert path.name in said or changed_name in said, data
        assert taken < SECONDS, data
        assert peak < MEGABYTES * 1e6, data
        assert _watched is not None
        strangers = [opened for opened in _watched if not own(opened, folder)]
        assert not strangers, data
        _watched.clear()

    assert n_refused > 5
    assert n_read > 0


def test_levels_that_are_changed_are_sound_before(folder: Path) -> None:
    for name in FILES:
        path = folder / LEVELS.get(name, name)
        is_ldtk = path.suffix == ".ldtk"
        level = ldtk.load(path) if is_ldtk else tiled.load(path, no_box="skip")
        assert level.solids
        assert level.objects
        require_sound(level)
    assert _watched
    assert all(own(opened, folder) for opened in _watched)
