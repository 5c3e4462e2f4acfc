"""A map gives the same level in whichever way a version of Tiled has saved it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ecs_collide.levels import tiled
from tests.levels.tiled_maps import save_all
from tests.volume import Volume

FLIPS = [0, 1 << 31, 1 << 30, 1 << 29, (1 << 31) + (1 << 29), 7 << 29]


def random_properties(rng: random.Random, *names: str) -> dict[str, Any]:
    """Return properties of some names, and others of the game, of every old type."""
    values: dict[str, list[Any]] = {
        "solid": [True, False], "one_way": [True, "left"], "sensor": [True], "friction": [0.5, 1.0],
        "worth": [3, -1, 2.5, "gold", "two\nlines", "", "<&>\"'", True],
    }  # fmt: skip
    return {name: rng.choice(values[name]) for name in (*names, "worth") if rng.random() < 0.3}


def random_thing(rng: random.Random, n: int, largest: int) -> dict[str, Any]:
    quarter = lambda low, high: rng.randrange(4 * low, 4 * high) / 4  # noqa: E731
    thing = {
        "id": n, "name": rng.choice(["", "a", "b"]), "type": rng.choice(["", "coin"]),
        "x": quarter(-20, 80), "y": quarter(0, 60), "width": quarter(0, 20),
        "height": quarter(1, 20), "rotation": rng.choice([0, 0, 90, -90, 30]),
        "properties": random_properties(rng, "solid", "sensor", "friction"),
    }  # fmt: skip
    points = [{"x": quarter(-9, 9), "y": quarter(-9, 9)} for _ in range(rng.randrange(2, 5))]
    box = [{"x": x, "y": y} for x, y in ((0, 0), (8, 0), (8, 4), (0, 4))]
    shapes: list[dict[str, Any]] = [
        {}, {"ellipse": True}, {"point": True}, {"polygon": points}, {"polyline": points},
        {"polygon": box}, {"text": {"text": "hello"}}, {"capsule": True},
        {"gid": rng.randrange(1, largest) + rng.choice(FLIPS)},
    ]  # fmt: skip
    return {**thing, **rng.choice(shapes)}


def random_map(rng: random.Random) -> dict[str, Any]:
    columns, rows = rng.randrange(1, 7), rng.randrange(1, 7)
    tilesets, first = [], 1
    for n in range(rng.randrange(1, 4)):
        tiles: list[dict[str, Any]] = []
        for number in rng.sample(range(6), rng.randrange(4)):
            tile: dict[str, Any] = {
                "id": number, "type": rng.choice(["", "stone", "ice"]),
                "properties": random_properties(rng, "solid", "one_way", "friction"),
            }  # fmt: skip
            if rng.random() < 0.5:
                shapes = [random_thing(rng, k, 2) for k in range(rng.randrange(1, 3))]
                for shape in shapes:
                    shape.pop("gid", None)
                tile["objectgroup"] = {"type": "objectgroup", "objects": shapes}
            tiles.append(tile)
        tilesets.append(
            {
                "firstgid": first, "name": f"t{n}", "tilewidth": rng.choice([10, 16]),
                "tileheight": rng.choice([10, 24]), "tiles": tiles,
                "objectalignment": rng.choice(["unspecified", "center", "topright"]),
                "tilerendersize": rng.choice(["tile", "grid"]),
                "fillmode": rng.choice(["stretch", "preserve-aspect-fit"]),
                "tileoffset": {"x": rng.choice([0, 3]), "y": rng.choice([0, -2])},
            }
        )  # fmt: skip
        first += 6
    infinite = rng.random() < 0.3

    def data(n: int) -> list[int]:
        numbers = [0, 0, *range(1, first + 2)]
        return [number + rng.choice(FLIPS) if number else 0 for number in rng.choices(numbers, k=n)]

    def layer(n: int, depth: int = 0) -> dict[str, Any]:
        made: dict[str, Any] = {
            "id": n, "name": f"layer {n}", "offsetx": rng.choice([0, 1.5]), "offsety": 0,
            "properties": random_properties(rng, "solid", "sensor", "friction"),
        }  # fmt: skip
        kind = rng.choice(["tilelayer", "tilelayer", "objectgroup", "group"][: 3 + (depth < 2)])
        if kind == "group":
            inside = [layer(10 * n + k, depth + 1) for k in range(rng.randrange(3))]
            return {**made, "type": kind, "layers": inside}
        if kind == "objectgroup":
            things = [random_thing(rng, 100 * n + k, first) for k in range(rng.randrange(4))]
            return {**made, "type": kind, "objects": things}
        made |= {"type": kind, "width": columns, "height": rows}
        if not infinite:
            return {**made, "data": data(columns * rows)}
        chunks = [
            {"x": x, "y": y, "width": 2, "height": 3, "data": data(6)}
            for x, y in rng.sample([(-2, -3), (0, 0), (2, 0), (4, 9)], 2)
        ]
        return {**made, "chunks": chunks}

    return {
        "width": columns, "height": rows, "tilewidth": 10, "tileheight": 12,
        "orientation": "orthogonal", "infinite": int(infinite), "tilesets": tilesets,
        "layers": [layer(n) for n in range(1, rng.randrange(2, 5))],
        "properties": random_properties(rng),
    }  # fmt: skip


def content(level: tiled.Level) -> tuple[Any, ...]:
    """Return all that a level says, with components in place of functions."""

    def made(thing: tiled.SolidBox | tiled.LevelObject) -> Any:
        try:
            return repr(thing.components())
        except ValueError as error:
            return str(error)

    solids = [(box.centre, box.half, box.type, box.properties, made(box)) for box in level.solids]
    objects = [
        (one.id, one.name, one.type, one.layer, one.centre, one.half, one.properties, one.tile,
         one.solid, one.points, one.shape, one.fault, made(one))
        for one in level.objects
    ]  # fmt: skip
    return level.size, solids, objects, level.properties, level.skipped, level.bounds


def test_every_way_of_saving_a_map_gives_the_same_level(tmp_path: Path, volume: Volume) -> None:
    n_boxes = n_things = 0
    for seed in range(volume(25, 120, 5000, least=25)):
        root = random_map(random.Random(seed))
        first, *others = [tiled.load(path, no_box="skip") for path in save_all(root, tmp_path)]
        n_boxes, n_things = n_boxes + len(first.solids), n_things + len(first.objects)
        for other in others:
            assert content(other) == content(first), (seed, other.key)
    assert n_boxes > 30
    assert n_things > 10


PLAIN = {
    "width": 4, "height": 4, "tilewidth": 16, "tileheight": 16, "orientation": "orthogonal",
    "layers": [], "tilesets": [],
}  # fmt: skip
VALUES: list[tuple[str, Any, Any]] = [
    ('type="string" value="a"', {"type": "string", "value": "a"}, "a"),
    ('value="a"', {"value": "a"}, "a"),
    (">two\nlines", {"type": "string", "value": "two\nlines"}, "two\nlines"),
    ('type="string" value=""', {"type": "string", "value": ""}, ""),
    ('type="int" value="7"', {"type": "int", "value": 7}, 7),
    ('type="int" value=""', {"type": "int", "value": ""}, 0),
    ('type="int" value="many"', {"type": "int", "value": "many"}, "many"),
    ('type="float" value="2"', {"type": "float", "value": 2}, 2.0),
    ('type="bool" value="true"', {"type": "bool", "value": True}, True),
    ('type="bool" value="false"', {"type": "bool", "value": False}, False),
    ('type="color" value="#ff112233"', {"type": "color", "value": "#ff112233"}, "#ff112233"),
    ('type="color" value=""', {"type": "color", "value": ""}, ""),
    ('type="file" value="../a.png"', {"type": "file", "value": "../a.png"}, "../a.png"),
    ('type="object" value="7"', {"type": "object", "value": 7}, 7),
    ('type="object" value="0"', {"type": "object", "value": 0}, 0),
    (
        'type="int" propertytype="Side" value="3"',
        {"type": "int", "propertytype": "Side", "value": 3},
        3,
    ),
    ('type="class" propertytype="P"', {"type": "class", "propertytype": "P", "value": {}}, {}),
    (
        'type="class" propertytype="P">\n <properties>\n <property name="hp" type="int" value="3"/>'
        '<property name="at" type="class"><properties><property name="x" type="float" value="1"/>'
        "</properties></property></properties>\n",
        {"type": "class", "value": {"hp": 3, "at": {"x": 1}}},
        {"hp": 3, "at": {"x": 1.0}},
    ),
    (
        'type="list">\n <item type="int" value="1"/>\n <item value="b"/>'
        '<item type="list"><item type="bool" value="true"/></item>',
        {
            "type": "list",
            "value": [
                {"type": "int", "value": 1},
                {"type": "string", "value": "b"},
                {"type": "list", "value": [{"type": "bool", "value": True}]},
            ],
        },
        [1, "b", [True]],
    ),
]


def test_whole_numbers_may_be_written_as_fractions(tmp_path: Path) -> None:
    #   some programs know one type of number, and write 1 as 1.0
    tileset = {"firstgid": 1, "name": "a", "tilewidth": 8, "tileheight": 8, "tilecount": 2}
    tile = {"id": 3, "gid": 2, "x": 8, "y": 8, "width": 8, "height": 8}
    layers = [
        {"type": "tilelayer", "name": "walls", "width": 2, "height": 1, "data": [2**31 + 1, 0]},
        {"type": "objectgroup", "name": "things", "objects": [tile]},
    ]
    text = json.dumps(
        {"width": 2, "height": 1, "tilewidth": 8, "tileheight": 8, "layers": layers,
         "tilesets": [tileset]}
    )  # fmt: skip
    (tmp_path / "whole.tmj").write_text(text)
    (tmp_path / "fraction.tmj").write_text(json.dumps(json.loads(text, parse_int=float)))
    walls = {"walls": {"solid": True}}

    whole, fraction = (
        tiled.load(tmp_path / name, layers=walls) for name in ("whole.tmj", "fraction.tmj")
    )

    assert fraction.solids == whole.solids != ()
    assert fraction.objects == whole.objects
    assert fraction.map == whole.map


@pytest.mark.parametrize(("xml", "value", "right"), VALUES, ids=[case[0] for case in VALUES])
def test_property_has_the_same_value_in_xml_and_json(
    tmp_path: Path, xml: str, value: Any, right: Any
) -> None:
    said = xml if ">" in xml else f"{xml}>"
    head = 'orientation="orthogonal" width="4" height="4" tilewidth="16" tileheight="16"'
    (tmp_path / "map.tmx").write_text(
        f'<map {head}><properties><property name="p" {said}</property></properties></map>'
    )
    stated = {**PLAIN, "properties": [{"name": "p", **value}]}
    (tmp_path / "map.tmj").write_text(json.dumps(stated))

    for name in ("map.tmx", "map.tmj"):
        (found,) = tiled.load(tmp_path / name).properties.values()
        assert (found, type(found)) == (right, type(right)), name


@pytest.mark.parametrize("word", ["type", "class"])
def test_class_of_a_tile_and_an_object_is_its_type_in_every_version(
    tmp_path: Path, word: str
) -> None:
    tile = {"id": 0, word: "stone", "properties": {"solid": True}}
    thing = {"id": 1, word: "coin", "x": 0, "y": 0, "width": 4, "height": 4}
    root = {
        **PLAIN,
        "tilesets": [{"firstgid": 1, "tilewidth": 16, "tileheight": 16, "tiles": [tile]}],
        "layers": [
            {"type": "tilelayer", "name": "l", "width": 4, "height": 4, "data": [1] + [0] * 15},
            {"type": "objectgroup", "name": "o", "class": "Things", "objects": [thing]},
        ],
    }

    for path in save_all(root, tmp_path):
        level = tiled.load(path)
        assert [box.type for box in level.solids] == ["stone"]
        assert [one.type for one in level.objects] == ["coin"]


OTHERS = {
    "all.world": ({"maps": [{"fileName": "one.tmx", "x": 0, "y": 0}], "type": "world"}, "a world"),
    "old.world": ({"maps": [], "onlyShowAdjacentMaps": False}, "a world"),
    "game.tiled-project": ({"folders": ["."], "propertyTypes": []}, "a project of Tiled"),
    "game.ldtk": ({"jsonVersion": "1.5.3", "defs": {}, "levels": []}, "a project of LDtk"),
    "sheet.tsj": ({"type": "tileset", "tilewidth": 9, "tileheight": 9}, "a tileset"),
    "sheet.tsx": ('<?xml version="1.0"?><tileset name="a"/>', "a tileset"),
    "box.tx": ("<template><object/></template>", "an object template"),
    "box.tj": ({"object": {}, "type": "template"}, "an object template"),
    "types.xml": ("<objecttypes/>", "a list of Tiled's object types"),
    "a.png": ("\x89PNG\r\n", "a picture"),
    "a.lua": ("return {\n  version = '1.10'", "a map exported as a program"),
    "a.js": ("(function(name,data){", "a map exported as a program"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_file_of_another_kind_is_called_what_it_is(tmp_path: Path, name: str) -> None:
    text, kind = OTHERS[name]
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text), "latin-1")

    with pytest.raises(ValueError, match=rf"{name}: it is {kind}.*; ") as caught:
        tiled.load(path)
    assert "save it" not in str(caught.value)


UNNEEDED = {
    "tilesets": {"tilecount": "x", "columns": -1, "margin": None, "image": 5, "grid": 0,
                 "transparentcolor": "?", "wangsets": [{"a": []}], "terrains": 3},
    "layers": {"id": "x", "opacity": "full", "visible": "no", "tintcolor": "", "parallaxx": "a",
               "draworder": 7, "compression": None, "locked": {}},
    "": {"version": [], "tiledversion": 0, "infinite": "0", "nextlayerid": "", "renderorder": 1,
         "backgroundcolor": "none", "compressionlevel": "", "editorsettings": 3},
}  # fmt: skip


@pytest.mark.parametrize(
    ("where", "word"), [(where, word) for where, words in UNNEEDED.items() for word in words]
)
def test_odd_attribute_that_no_body_needs_is_not_read(
    tmp_path: Path, where: str, word: str
) -> None:
    tile = {"id": 0, "properties": {"solid": True}}
    sheet = {"firstgid": 1, "name": "t", "tilewidth": 16, "tileheight": 16, "tiles": [tile]}
    layer = {"type": "tilelayer", "name": "l", "data": [1] + [0] * 15}
    odd = {word: UNNEEDED[where][word]}
    root = {**PLAIN, "tilesets": [sheet], "layers": [layer], **({} if where else odd)}
    for part in root[where] if where else ():
        part |= odd
    sheet["tiles"] = [{"id": 0, "properties": [{"name": "solid", "type": "bool", "value": True}]}]
    (tmp_path / "map.json").write_text(json.dumps(root))

    (box,) = tiled.load(tmp_path / "map.json").solids

    assert (box.centre, box.half) == ((8, 56), (8, 8))
