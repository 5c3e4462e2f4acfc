"""Levels drawn with Tiled: what is solid, where it lies, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from ecs_collide.components.basics import Extents, Fixed, Position
from ecs_collide.levels import tiled
from tests.levels.tiled_maps import corners

TILESET = """
 <tileset firstgid="1" name="t" tilewidth="10" tileheight="10" tilecount="4" columns="4">
  <image source="t.png" width="40" height="10"/>
  <tile id="0"><properties><property name="solid" type="bool" value="true"/></properties></tile>
  <tile id="1"><properties><property name="solid" type="bool" value="false"/></properties></tile>
  <tile id="3" type="coin">
   <properties>
    <property name="worth" type="int" value="5"/>
    <property name="kind" value="gold"/>
   </properties>
  </tile>
 </tileset>
"""
SOLID = '<properties><property name="solid" type="bool" value="true"/></properties>'
NOT_SOLID = '<properties><property name="solid" type="bool" value="false"/></properties>'

Load = Callable[..., tiled.Level]


def tile_layer(picture: str, extra: str = "", attributes: str = "") -> str:
    """Return a layer drawn with digits and dots."""
    rows = picture.split()
    data = ",\n".join(",".join(row.replace(".", "0")) for row in rows)
    return (
        f'<layer id="1" name="tiles" width="{len(rows[0])}" height="{len(rows)}" {attributes}>'
        f'{extra}<data encoding="csv">{data}</data></layer>'
    )


def object_layer(*objects: str, attributes: str = "") -> str:
    return f'<objectgroup id="2" name="things" {attributes}>{"".join(objects)}</objectgroup>'


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that saves layers as a map of 10 x 10 pixels a tile, and loads it."""

    def load_layers(
        *layers: str, width: int = 4, height: int = 3, head: str = "", **options: bool
    ) -> tiled.Level:
        path = tmp_path / "map.tmx"
        path.write_text(
            '<map version="1.8" tiledversion="1.8.2" orientation="orthogonal" '
            f'renderorder="right-down" width="{width}" height="{height}" tilewidth="10" '
            f'tileheight="10" infinite="0" nextlayerid="9" nextobjectid="9" {head}>'
            f"{TILESET}{''.join(layers)}</map>"
        )
        return tiled.load(path, **options)

    return load_layers


def test_solid_tiles_become_few_boxes_counted_upwards(load: Load) -> None:
    level = load(
        tile_layer("""
            1...
            1.11
            1.11
        """)
    )

    assert level.size == (40.0, 30.0)
    assert corners(level) == {(0, 0, 10, 30), (20, 0, 40, 20)}


def test_without_merging_each_tile_is_a_box(load: Load) -> None:
    level = load(tile_layer("1... 1.11 1.11"), merge=False)

    assert len(level.solids) == 7
    assert (20, 10, 30, 20) in corners(level)
    assert all(box.half == (5.0, 5.0) for box in level.solids)


@pytest.mark.parametrize(
    "picture",
    [
        "1111 1111 1111",
        ".... .... ....",
        "1.1. .1.1 1.1.",
        "111. 1.11 1111",
        ".11. 1111 .11.",
        "1..1 1111 1..1",
    ],
)
def test_merged_boxes_cover_the_same_points_once(load: Load, picture: str) -> None:
    whole = load(tile_layer(picture))
    tiles = load(tile_layer(picture), merge=False)

    cells = [
        (x, y)
        for left, bottom, right, top in corners(whole)
        for x in range(int(left), int(right), 10)
        for y in range(int(bottom), int(top), 10)
    ]

    assert len(cells) == len(set(cells))
    assert set(cells) == {(left, bottom) for left, bottom, _, _ in corners(tiles)}


@pytest.mark.parametrize(
    ("layer", "solid"),
    [(SOLID, {0, 20}), ("", {0}), (NOT_SOLID, set())],
    ids=["layer true", "layer says nothing", "layer false"],
)
def test_layer_and_tile_say_together_what_is_solid(
    load: Load, layer: str, solid: set[float]
) -> None:
    # Tile 1 says true, tile 2 says false, tile 3 says nothing.
    level = load(tile_layer("123.", extra=layer), height=1, merge=False)

    assert {left for left, _, _, _ in corners(level)} == solid


def test_groups_hand_down_offset_and_solidity(load: Load) -> None:
    inner = tile_layer("3...", attributes='offsetx="1" offsety="2"')

    level = load(
        f'<group id="5" name="g" offsetx="100" offsety="-7">{SOLID}{inner}</group>', height=1
    )

    assert corners(level) == {(101, 5, 111, 15)}


def test_solid_tiles_of_two_layers_are_merged_and_never_doubled(load: Load) -> None:
    level = load(tile_layer("11.."), tile_layer(".11."), height=1)

    assert corners(level) == {(0, 0, 30, 10)}


def test_objects_keep_names_types_and_properties(load: Load) -> None:
    level = load(
        object_layer(
            '<object id="3" name="door" type="exit" x="10" y="5" width="20" height="10">'
            '<properties><property name="to" value="cellar"/></properties></object>',
            '<object id="4" name="start" x="7.5" y="12.25"><point/></object>',
            attributes='offsetx="1" offsety="3"',
        )
    )
    door, start = level.objects

    assert (door.id, door.name, door.type, door.layer) == (3, "door", "exit", "things")
    assert door.properties == {"to": "cellar"}
    assert (door.centre, door.half) == ((21.0, 17.0), (10.0, 5.0))
    assert (start.centre, start.half) == ((8.5, 14.75), (0.0, 0.0))


def test_tile_object_stands_on_its_point_and_inherits_from_its_tile(load: Load) -> None:
    level = load(
        object_layer(
            '<object id="1" gid="4" x="10" y="30" width="10" height="20">'
            '<properties><property name="worth" type="int" value="9"/></properties></object>'
        )
    )
    (coin,) = level.of_type("coin")

    assert (coin.centre, coin.half) == ((15.0, 10.0), (5.0, 10.0))
    assert coin.properties == {"worth": 9, "kind": "gold"}
    assert coin.tile == 4


def test_objects_and_solids_become_entities(load: Load, world: str) -> None:
    level = load(
        tile_layer("11.. .... ...."),
        object_layer('<object id="1" name="box" x="0" y="0" width="4" height="6"/>'),
    )

    (wall,) = level.create_solids()
    box = esper.create_entity(*level.named("box").components())

    assert esper.components_for_entity(wall) == (Position(10, 25), Extents(10, 5), Fixed())
    assert esper.components_for_entity(box) == (Position(2, 27), Extents(2, 3))
    assert level.solids[0].components()[0] is not level.solids[0].components()[0]


@pytest.mark.parametrize(
    ("thing", "word"),
    [
        ('width="4" height="4"><ellipse/>', "ellipse"),
        ('width="4" height="4"><capsule/>', "capsule"),
        ('><polygon points="0,0 1,1 2,0"/>', "polygon"),
        ('><polyline points="0,0 1,1"/>', "polyline"),
        ('width="4" height="4" rotation="45">', "45 degrees"),
        (">", "point"),
    ],
)
def test_solid_object_that_is_no_upright_box_is_refused_when_it_is_made(
    load: Load, world: str, thing: str, word: str
) -> None:
    layer = object_layer(f'<object id="7" name="o" x="0" y="0" {thing}{SOLID}</object>')
    level = load(layer)

    for _ in range(2):
        with pytest.raises(ValueError, match=rf"7 \(o\) in layer 'things' .*{word}.*='skip'"):
            level.create()
    assert list(esper.get_component(Position)) == []
    with pytest.raises(ValueError, match=rf"map\.tmx: object 7 \(o\) in layer 'things' .*{word}"):
        load(layer, no_box="refuse")

    level = load(layer, no_box="skip")

    assert level.create() == []
    assert [thing.name for thing in level.objects] == ["o"]
    assert [word in skipped.reason for skipped in level.skipped] == [True]


@pytest.mark.parametrize("turn", [0, 90, -90, 180, 450, -360])
def test_object_turned_by_a_right_angle_is_an_upright_box(load: Load, turn: int) -> None:
    #
    #   A box of 6 x 2 whose upper left corner is at (4, 5), and is turned around it.
    #
    thing = f'<object id="1" x="4" y="5" width="6" height="2" rotation="{turn}"/>'
    wide, high = (6, 2) if turn % 180 == 0 else (2, 6)
    left, top = {0: (4, 5), 90: (2, 5), 270: (4, -1), 180: (-2, 3)}[turn % 360]

    (box,) = load(object_layer(thing)).objects

    assert (box.shape, box.fault) == ("rectangle", "")
    assert box.half == (wide / 2, high / 2)
    assert box.centre == (left + wide / 2, 30 - top - high / 2)
    assert set(box.points) == {
        (x, y) for x in (left, left + wide) for y in (30 - top, 30 - top - high)
    }


def test_line_has_its_points_upwards(load: Load) -> None:
    line = '<object id="7" name="route" x="4" y="5"><polyline points="0,0 10,-2 3,8"/></object>'

    level = load(object_layer(line, attributes='offsetx="100" offsety="0"'))

    route = level.named("route")
    assert route.points == ((104, 25), (114, 27), (107, 17))
    assert route.centre == (104, 25)
    assert route.is_point
    assert route.shape == "polyline"
    assert level.create() == []  # a line is no body
    assert level.bounds[1][0] == 114


@pytest.mark.parametrize("true", ["true", "1"])
def test_values_are_texts_in_maps_of_tiled_before_it_had_types(load: Load, true: str) -> None:
    written = f'<property name="solid" value="{true}"/><property name="friction" value="0.5"/>'

    (box,) = load(tile_layer("3", extra=f"<properties>{written}</properties>")).solids

    (friction,) = (part for part in box.components() if isinstance(part, ec.Friction))
    assert friction.value == 0.5


def test_solid_written_as_another_text_is_refused(load: Load) -> None:
    written = '<properties><property name="solid" value="yes"/></properties>'

    with pytest.raises(ValueError, match=r"solid of layer 'tiles' is 'yes' .*type bool"):
        load(tile_layer("1", extra=written))


def test_tile_of_no_tileset_is_refused(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    later = TILESET.replace('firstgid="1"', 'firstgid="100"')
    monkeypatch.setattr(sys.modules[__name__], "TILESET", later)

    with pytest.raises(ValueError, match="'tiles' uses tile 3, which is in none of the"):
        load(tile_layer("3"))


@pytest.mark.parametrize(
    "text", ["", "hello", "<map/>", "<map", "<html/>", "{}", "[]", '{"layers": []}', "\0" * 99]
)
def test_file_that_is_no_map_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.tmx"
    path.write_text(text)

    with pytest.raises(ValueError, match=r"broken\.tmx is no map that Tiled has saved"):
        tiled.load(path)


@pytest.mark.parametrize("orientation", ["isometric", "staggered", "hexagonal", "oblique"])
def test_map_that_is_not_orthogonal_is_refused_by_its_orientation(
    load: Load, tmp_path: Path, orientation: str
) -> None:
    load()
    path = tmp_path / "map.tmx"
    path.write_text(path.read_text().replace("orthogonal", orientation))

    with pytest.raises(ValueError, match=rf"map\.tmx: it is {orientation}; only .* orthogonal map"):
        tiled.load(path)


def test_unknown_name_is_answered_with_the_names_there_are(load: Load) -> None:
    level = load(object_layer('<object id="1" name="door" x="0" y="0" width="1" height="1"/>'))

    with pytest.raises(KeyError, match=r"0 objects are named 'dor'; the map has \['door'\]"):
        level.named("dor")
