"""Files of Tiled: templates, what Tiled leaves out, and damage that is named."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ecs_collide as ec
from ecs_collide.levels import tiled
from tests.levels.tiled_maps import corners

Load = Callable[..., tiled.Level]
HEAD = {
    "version": "1.10", "tiledversion": "1.11.0", "orientation": "orthogonal", "width": 4,
    "renderorder": "right-down", "height": 3, "tilewidth": 10, "tileheight": 10,
    "nextlayerid": 9, "nextobjectid": 9,
}  # fmt: skip
# Its first tile is a `brick` and `solid`, or whatever else is said.
TILESET = """<tileset {} name="{}" tilewidth="10" tileheight="10" tilecount="4" columns="4">
  <image source="t.png" width="40" height="10"/>
  <tile id="0" type="{}">
   <properties><property name="{}" type="bool" value="true"/></properties>
  </tile>
 </tileset>"""
BRICKS = TILESET.format('firstgid="1"', "bricks", "brick", "solid")
CRATES = '<tileset firstgid="5" source="crates.tsx"/>'
GIDS = [0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1]
RAW = struct.pack("<12I", *GIDS)


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def tiles(data: str, **attributes: str) -> str:
    """Return a tile layer of 4 x 3, in XML."""
    words = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return f'<layer id="1" name="tiles" width="4" height="3"><data {words}>{data}</data></layer>'


def things(*objects: str) -> str:
    return f'<objectgroup id="2" name="things">{"".join(objects)}</objectgroup>'


def json_tiles(**more: Any) -> dict[str, Any]:
    """Return a tile layer of 4 x 3, for JSON."""
    own = {"type": "tilelayer", "name": "tiles", "id": 1, "width": 4, "height": 3}
    return {**own, "opacity": 1, "visible": True, "x": 0, "y": 0, **more}


def json_things(*objects: Any) -> dict[str, Any]:
    own = {"type": "objectgroup", "name": "things", "id": 2, "draworder": "topdown"}
    return {**own, "opacity": 1, "visible": True, "x": 0, "y": 0, "objects": list(objects)}


def json_thing(**more: Any) -> dict[str, Any]:
    own = {"id": 7, "name": "n", "type": "", "x": 10, "y": 10, "width": 8, "height": 4}
    return {**own, "rotation": 0, "visible": True, **more}


@pytest.fixture
def tmx(tmp_path: Path) -> Load:
    """Return a function that saves layers as an XML map of 4 x 3 tiles of 10, and loads it."""

    def load(*layers: str, tilesets: str = BRICKS, infinite: int = 0, **options: Any) -> Any:
        head = " ".join(f'{name}="{value}"' for name, value in HEAD.items())
        path = tmp_path / "map.tmx"
        path.write_text(f'<map {head} infinite="{infinite}">{tilesets}{"".join(layers)}</map>')
        return tiled.load(path, **options)

    return load


@pytest.fixture
def tmj(tmp_path: Path) -> Load:
    """Return a function that saves layers as a JSON map of 4 x 3 tiles of 10, and loads it."""

    def load(
        *layers: Any, tilesets: str = "bricks", infinite: bool = False, **options: Any
    ) -> tiled.Level:
        (tmp_path / "bricks.tsx").write_text(TILESET.format("", "bricks", "brick", "solid"))
        named = [
            {"firstgid": 1 + 4 * n, "source": f"{name}.tsx"}
            for n, name in enumerate(tilesets.split())
        ]
        whole = {**HEAD, "infinite": infinite, "layers": list(layers), "tilesets": named}
        path = tmp_path / "map.tmj"
        path.write_text(json.dumps(whole))
        return tiled.load(path, **options)

    return load


#  . . . .
#  . # # .
#  # # # #
PICTURE = {(10, 0, 30, 20), (0, 0, 10, 10), (30, 0, 40, 10)}


@pytest.fixture(params=["XML", "JSON"])
def instances(request: pytest.FixtureRequest, tmp_path: Path) -> Load:
    """Return a function that loads instances of a template, each given by what it changes.

    The template is a box R of 20 x 10 that is solid and worth 1.
    """
    said = [
        {"name": "solid", "type": "bool", "value": True},
        {"name": "worth", "type": "int", "value": 1},
    ]
    own = {"name": "R", "type": "box", "width": 20, "height": 10}

    def as_xml(words: dict[str, Any]) -> str:
        shapes = "".join(f"<{words.pop(shape)}/>" for shape in ("shape",) if shape in words)
        inside = "".join(
            f'<property name="{p["name"]}" type="{p["type"]}" value="{str(p["value"]).lower()}"/>'
            for p in words.pop("properties", ())
        )
        attributes = " ".join(f'{name}="{value}"' for name, value in words.items())
        return f"<object {attributes}><properties>{inside}</properties>{shapes}</object>"

    def load(*changes: dict[str, Any], **options: Any) -> tiled.Level:
        made = [{"id": n, "x": 10, "y": 10, **change} for n, change in enumerate(changes, 1)]
        if request.param == "XML":
            pattern = as_xml({**own, "properties": said})
            (tmp_path / "box.tx").write_text(f"<template>{pattern}</template>")
            objects = [as_xml({"template": "box.tx", **words}) for words in made]
            return request.getfixturevalue("tmx")(things(*objects), **options)
        pattern = {**own, "rotation": 0, "visible": True, "properties": said}
        (tmp_path / "box.tj").write_text(json.dumps({"type": "template", "object": pattern}))
        for words in made:
            words["template"] = "box.tj"
            if "shape" in words:
                words[words.pop("shape")] = True
        return request.getfixturevalue("tmj")(json_things(*made), **options)

    return load


def test_instance_of_a_template_keeps_what_was_changed_in_it(instances: Load) -> None:
    worth = {"name": "worth", "type": "int", "value": 9}

    plain, resized, other, named, rich = instances(
        {},
        {"width": 40, "height": 40},
        {"type": "other"},
        {"name": "mine"},
        {"properties": [worth]},
    ).objects

    assert (plain.name, plain.type, plain.half) == ("R", "box", (10, 5))
    assert (resized.centre, resized.half) == ((30, 0), (20, 20))
    assert (other.type, named.name) == ("other", "mine")
    assert [thing.properties["worth"] for thing in (plain, rich)] == [1, 9]
    assert rich.solid


@pytest.mark.parametrize(
    ("change", "shape", "fault"),
    [
        ({"rotation": 45}, "rectangle", "is rotated by 45 degrees"),
        ({"shape": "ellipse"}, "ellipse", "is an ellipse"),
        ({"shape": "capsule"}, "capsule", "is a capsule"),
    ],
)
def test_instance_may_be_turned_or_reshaped(
    instances: Load, change: dict[str, Any], shape: str, fault: str
) -> None:
    plain, changed = instances({}, change).objects

    assert (plain.shape, plain.fault) == ("rectangle", "")
    assert (changed.shape, changed.fault) == (shape, fault)


def test_empty_words_of_an_instance_are_those_of_its_template_as_in_tiled(instances: Load) -> None:
    (thing,) = instances({"name": "", "type": "", "width": 40, "height": 0}).objects

    assert (thing.name, thing.type, thing.half) == ("R", "box", (10, 5))


def test_instance_may_be_called_0(instances: Load) -> None:
    named, typed = instances({"name": "0"}, {"type": "0"}).objects

    assert (named.name, named.type) == ("0", "box")
    assert (typed.name, typed.type) == ("R", "0")


@pytest.fixture(params=["XML", "JSON"])
def crate(request: pytest.FixtureRequest, tmp_path: Path) -> Load:
    """Return a function that loads an instance of a template with a crate, flipped."""
    (tmp_path / "crates.tsx").write_text(TILESET.format("", "crates", "crate", "sensor"))
    gid = 1 + 0x80000000

    def load(tilesets: str, grouped: bool) -> tiled.Level:
        if request.param == "XML":
            (tmp_path / "crate.tx").write_text(
                '<template><tileset firstgid="1" source="crates.tsx"/>'
                f'<object name="C" gid="{gid}" width="10" height="10"/></template>'
            )
            layer = things('<object id="1" template="crate.tx" x="10" y="30"/>')
            layer = f'<group id="8" name="g">{layer}</group>' if grouped else layer
            named = {"bricks": BRICKS, "crates": CRATES}
            words = "".join(named[name] for name in tilesets.split())
            return request.getfixturevalue("tmx")(layer, tilesets=words)
        pattern = {"name": "C", "gid": gid, "width": 10, "height": 10}
        tileset = {"firstgid": 1, "source": "crates.tsx"}
        (tmp_path / "crate.tj").write_text(json.dumps({"object": pattern, "tileset": tileset}))
        inside = json_things({"id": 1, "template": "crate.tj", "x": 10, "y": 30})
        group = {**json_things(), "type": "group", "layers": [inside]}
        return request.getfixturevalue("tmj")(group if grouped else inside, tilesets=tilesets)

    return load


@pytest.mark.parametrize("grouped", [False, True], ids=["at the top", "in a group"])
@pytest.mark.parametrize(
    ("tilesets", "first"),
    [("", 1), ("bricks", 5), ("bricks crates", 5)],
    ids=["no tileset", "another tileset", "this tileset"],
)
def test_tile_of_a_template_is_that_tile_wherever_it_stands(
    crate: Load, tilesets: str, first: int, grouped: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    level = crate(tilesets, grouped)

    (thing,) = level.objects
    assert (thing.name, thing.type, thing.tile, thing.centre) == ("C", "crate", first, (15, 5))
    assert list(thing.components()[2:]) == [ec.Sensor()]
    assert [sheet["name"] for sheet in level.map["tilesets"] if sheet["firstgid"] == first] == [
        "crates"
    ]
    assert len(level.map["tilesets"]) == (1 if first == 1 else 2)
    assert capfd.readouterr().out == ""


def test_tileset_of_a_template_gets_numbers_that_no_tile_has(tmx: Load, tmp_path: Path) -> None:
    (tmp_path / "crates.tsx").write_text(TILESET.format("", "crates", "crate", "sensor"))
    (tmp_path / "crate.tx").write_text(
        '<template><tileset firstgid="1" source="crates.tsx"/><object gid="1"/></template>'
    )
    instance = things('<object id="1" template="crate.tx" x="10" y="30"/>')

    level = tmx(tiles("50" + ",0" * 11, encoding="csv"), instance)

    assert (level.objects[0].tile, level.objects[0].type) == (51, "crate")
    assert level.tile_at((5, 25)).type == ""  # of the bricks


def test_templates_and_tilesets_may_have_the_other_format(
    tmx: Load, tmj: Load, tmp_path: Path
) -> None:
    crates = TILESET.format("", "crates", "crate", "sensor")
    (tmp_path / "crates.tsx").write_text(crates)
    (tmp_path / "box.tx").write_text(
        '<template><tileset firstgid="1" source="crates.tsx"/>'
        '<object name="box" gid="1" width="6" height="4"/></template>'
    )
    tile = {"id": 0, "type": "crate", "properties": {"sensor": True}}
    sheet = {"name": "crates", "tilewidth": 10, "tileheight": 10, "tiles": [tile]}
    (tmp_path / "crates.tsj").write_text(json.dumps(sheet))
    pattern = {"name": "box", "gid": 1, "width": 6, "height": 4}
    named = {"firstgid": 1, "source": "crates.tsj"}
    (tmp_path / "box.tj").write_text(json.dumps({"object": pattern, "tileset": named}))
    plain = tmx(things('<object id="1" template="box.tx" x="0" y="8"/>'))

    for level in (
        tmx(things('<object id="1" template="box.tj" x="0" y="8"/>')),
        tmj(json_things({"id": 1, "template": "box.tx", "x": 0, "y": 8})),
        tmj(json_things({"id": 1, "template": "box.tj", "x": 0, "y": 8})),
    ):
        assert level.objects[0].components() == plain.objects[0].components()
        assert level.objects[0].type == "crate"
    with pytest.raises(FileNotFoundError, match=r"nowhere\.tx"):
        tmx(things('<object id="1" template="nowhere.tx" x="0" y="0"/>'))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (coded(RAW), {"encoding": "base64"}),
        (",\n".join(map(str, GIDS)) + ",\n", {"encoding": "csv"}),
    ],
    ids=["base64", "csv with a comma at its end"],
)
def test_tiles_are_read_in_unusual_encodings(tmx: Load, data: str, words: dict[str, str]) -> None:
    # `test_tiled_formats` has those that Tiled writes by itself.
    assert corners(tmx(tiles(data, **words))) == PICTURE


def test_layers_may_be_empty(tmx: Load, tmj: Load) -> None:
    for infinite in (False, True):
        assert tmx(tiles("", encoding="csv"), infinite=int(infinite)).solids == ()
    assert tmx(tiles("", encoding="base64", compression="zlib")).solids == ()
    assert tmj(json_tiles(data=[])).solids == ()
    assert tmj(json_tiles(chunks=[]), infinite=True).solids == ()


@pytest.mark.parametrize(
    ("said", "centre", "half"),
    [
        ('x="10" y="10" width="20"', (20, 20), (10, 0)),
        ('x="10" y="10" height="20"', (10, 10), (0, 10)),
        ('x="20" y="20" width="-8" height="-4"', (16, 12), (4, 2)),
        ('gid="1" x="10" y="30"', (15, 5), (5, 5)),
        ('gid="1" x="10" y="30" width="8" height="6"', (14, 3), (4, 3)),
    ],
    ids=["flat", "thin", "to the other side", "of its picture", "another than its picture"],
)
def test_object_has_the_size_that_it_states(tmx: Load, said: str, centre: Any, half: Any) -> None:
    (found,) = tmx(things(f'<object id="1" {said}/>')).objects

    assert (found.centre, found.half) == (centre, half)
    assert ec.Extents(*half) in found.components()


def test_map_with_chunks_is_infinite_whatever_it_says(tmx: Load, world: str) -> None:
    chunk = '<chunk x="-4" y="9" width="2" height="1">1,0</chunk>'

    level = tmx(tiles(chunk, encoding="csv"))
    level.set_cell(-3, 9, 1)

    assert corners(level) == {(-40, -70, -30, -60)}


def test_image_layer_needs_no_picture(tmx: Load) -> None:
    level = tmx('<imagelayer id="3" name="sky"/>', tiles(",".join(map(str, GIDS))))

    assert [layer["name"] for layer in level.map["layers"]] == ["sky", "tiles"]
    assert corners(level) == PICTURE


def test_flat_shape_of_a_tile_is_a_flat_box(tmx: Load) -> None:
    shape = '<objectgroup><object id="1" x="0" y="0" width="10"/></objectgroup>'
    bricks = BRICKS.replace("</tile>", f"{shape}</tile>")

    level = tmx(tiles("1,1,0,0,0,0,0,0,0,0,0,0"), tilesets=bricks)

    assert corners(level) == {(0, 30, 20, 30)}


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (
            tiles(coded(b"no"), encoding="base64", compression="zlib"),
            "layer 'tiles' .*zlib data are damaged: .*header",
        ),
        (
            tiles(coded(b"no"), encoding="base64", compression="gzip"),
            "layer 'tiles' .*gzip data are damaged: .*header",
        ),
        (
            tiles(coded(gzip.compress(RAW)[:-9]), encoding="base64", compression="gzip"),
            "layer 'tiles' .*gzip data are cut short",
        ),
        (tiles("1,1,1", encoding="csv"), "layer 'tiles' is 4 x 3 tiles large and has 3"),
        (tiles("a" + ",0" * 11, encoding="csv"), "layer 'tiles' cannot be read: .*'a'"),
        (tiles("-1" + ",0" * 11, encoding="csv"), "layer 'tiles' has -1 for a tile"),
        (
            things('<object id="7" name="n" gid="9999999999" x="0" y="0"/>'),
            r"object 7 \(n\) in layer 'things' has 9999999999 for a tile",
        ),
        (
            things('<object id="3" x="0" y="0"/>', '<object id="7" name="n" x="a" y="0"/>'),
            r"object 7 \(n\) in layer 'things' has x='a'; it must be a finite number",
        ),
        (
            things('<object id="7" name="n" x="nan" y="0"><point/></object>'),
            r"object 7 \(n\) in layer 'things' has x=nan; it must be a finite",
        ),
        (
            things('<object id="7" name="n" x="0" y="0"><polygon points="0,0 a,5"/></object>'),
            r"object 7 \(n\) in layer 'things' has x='a'; it must be a finite",
        ),
    ],
    ids=[
        "zlib", "gzip", "cut gzip", "short csv", "csv", "negative gid", "gid of an object",
        "no number", "nan", "polygon",
    ],
)  # fmt: skip
def test_damage_is_refused_by_file_layer_and_object(tmx: Load, layer: str, words: str) -> None:
    inside = f'<group id="8" name="g">{layer}</group>'

    for whole in (layer, inside):
        with pytest.raises(ValueError, match=rf"map\.tmx:? {words}"):
            tmx(tiles(",".join(map(str, GIDS))).replace('"tiles"', '"sound"'), whole)


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (json_tiles(data=["a"] * 12), "layer 'tiles' has 'a' for a tile"),
        (json_tiles(data=[-1] * 12), "layer 'tiles' has -1 for a tile"),
        (json_things(json_thing(x="a")), r"object 7 \(n\) in layer 'things' has x='a'"),
        (json_things(json_thing(gid="a")), r"object 7 \(n\) in layer 'things' has 'a' for a tile"),
        (json_tiles(data=GIDS, offsetx="a", offsety=0), "layer 'tiles' has offsetx='a'"),
        (json_things(None), "object None in layer 'things' cannot be read"),
    ],
    ids=["gid", "negative gid", "number", "gid of an object", "offset", "null"],
)
def test_damage_of_json_is_refused_by_file_layer_and_object(
    tmj: Load, layer: Any, words: str
) -> None:
    with pytest.raises(ValueError, match=rf"map\.tmj: {words}"):
        tmj(json_tiles(data=GIDS, name="sound"), layer)


@pytest.mark.parametrize(
    "layer", [json_tiles(data=[[]] * 12), json_things(json_thing(type=["a"], gid=[]), 5)]
)
def test_map_with_nonsense_in_it_is_refused(tmj: Load, layer: Any) -> None:
    with pytest.raises(ValueError, match=r"map\.tmj"):
        tmj(layer)


@pytest.mark.parametrize("text", ["", "<tileset", "{", "[1]", "\xff"])
def test_broken_tileset_is_reported_as_its_own_fault(tmx: Load, tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.tsx").write_text(text, "latin-1")

    with pytest.raises(ValueError, match=r"^\S*bad\.tsx is no tileset that Tiled has saved"):
        tmx(tilesets='<tileset firstgid="1" source="bad.tsx"/>')


def test_names_of_files_may_have_backslashes(tmx: Load, tmp_path: Path) -> None:
    (tmp_path / "sheets").mkdir()
    (tmp_path / "sheets" / "a.tsx").write_text(TILESET.format("", "a", "brick", "solid"))

    level = tmx(tilesets=r'<tileset firstgid="1" source="sheets\a.tsx"/>')

    assert level.map["tilesets"][0]["name"] == "a"


def test_tiles_beyond_all_tilesets_are_those_of_the_last(tmx: Load) -> None:
    two = BRICKS + TILESET.format('firstgid="101"', "more", "brick", "solid")

    level = tmx(
        tiles(f"50,101,{(1 << 31) + 200},0" + ",0" * 8, encoding="csv").replace(
            "><data",
            "><properties><property name='solid' type='bool' value='true'/></properties><data",
        ),
        tilesets=two,
    )

    assert corners(level) == {(0, 20, 10, 30), (10, 20, 20, 30), (20, 20, 30, 30)}
    assert [level.tile_at((x, 25)).number for x in (5, 15, 25)] == [50, 101, 200]


@pytest.mark.parametrize("size", [0, -10, '"10"'])
def test_grid_without_a_size_is_refused(tmj: Load, tmp_path: Path, size: object) -> None:
    tmj()
    path = tmp_path / "map.tmj"
    path.write_text(path.read_text().replace('"tilewidth": 10', f'"tilewidth": {size}'))

    with pytest.raises(
        ValueError, match=r"map\.tmj: (the cells of the grid have|its tilewidth is)"
    ):
        tiled.load(path)


@pytest.mark.parametrize("categories", [["player"], [], 0, {"player": "1"}])
def test_categories_that_are_no_bits_are_refused(tmx: Load, categories: object) -> None:
    with pytest.raises(TypeError, match=r"categories=.* must map names to bits"):
        tmx(categories=categories)
