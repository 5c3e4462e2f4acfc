"""Levels drawn with Tiled: what is solid, where it lies, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.components.basics import Extents, Fixed, Position
from ecs_collide.levels import tiled
from tests.levels.test_tiled_bodies import Load, custom, load, objects, thing, tiles
from tests.levels.tiled_maps import corners

__all__ = ["load"]  # the fixture

WALL = {1: {"solid": True}}


def test_solid_tiles_become_few_boxes_counted_upwards(load: Load) -> None:
    #
    #   # . . .
    #   # . # #
    #   # . # #
    #
    layer = tiles("1... 1.11 1.11")

    level, single = load(layer, tile=WALL), load(layer, tile=WALL, merge=False)

    assert level.size == (40.0, 30.0)
    assert corners(level) == {(0, 0, 10, 30), (20, 0, 40, 20)}
    assert len(single.solids) == 7
    assert (20, 10, 30, 20) in corners(single)
    assert all(box.half == (5.0, 5.0) for box in single.solids)


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
    whole = load(tiles(picture), tile=WALL)
    single = load(tiles(picture), tile=WALL, merge=False)

    cells = [
        (x, y)
        for left, bottom, right, top in corners(whole)
        for x in range(int(left), int(right), 10)
        for y in range(int(bottom), int(top), 10)
    ]

    assert len(cells) == len(set(cells))
    assert set(cells) == {(left, bottom) for left, bottom, _, _ in corners(single)}


@pytest.mark.parametrize(
    ("layer", "solid"),
    [({"solid": True}, {0, 20}), ({}, {0}), ({"solid": False}, set())],
    ids=["layer true", "layer says nothing", "layer false"],
)
def test_layer_and_tile_say_together_what_is_solid(
    load: Load, layer: dict[str, bool], solid: set[float]
) -> None:
    says = {1: {"solid": True}, 2: {"solid": False}}  # and tile 3 says nothing

    level = load(tiles("123.", **layer), tile=says, merge=False)

    assert {left for left, *_ in corners(level)} == solid


def test_groups_hand_down_offset_and_solidity(load: Load) -> None:
    inner = {**tiles("3..."), "offsetx": 1, "offsety": 2}
    group = {
        "type": "group", "name": "g", "id": 5, "offsetx": 100, "offsety": -7, "layers": [inner],
        "properties": custom(solid=True),
    }  # fmt: skip

    assert corners(load(group)) == {(101, 25, 111, 35)}


def test_solid_tiles_of_two_layers_are_merged_and_never_doubled(load: Load) -> None:
    level = load(tiles("11.."), tiles(".11."), tile=WALL)

    assert corners(level) == {(0, 20, 30, 30)}


def test_objects_keep_names_types_and_properties(load: Load) -> None:
    layer = objects(
        thing(3, (20, 10), name="door", type="exit", x=10, y=5, properties=custom(to="cellar")),
        thing(4, (0, 0), name="start", x=7.5, y=12.25, point=True),
    )
    door, start = load({**layer, "offsetx": 1, "offsety": 3}).objects

    assert (door.id, door.name, door.type, door.layer) == (3, "door", "exit", "things")
    assert door.properties == {"to": "cellar"}
    assert (door.centre, door.half) == ((21.0, 17.0), (10.0, 5.0))
    assert (start.centre, start.half) == ((8.5, 14.75), (0.0, 0.0))


def test_tile_object_stands_on_its_point_and_inherits_from_its_tile(load: Load) -> None:
    coin = {4: {"type": "coin", "worth": 5, "kind": "gold"}}
    standing = thing(1, (10, 20), gid=4, x=10, y=30, properties=custom(worth=9))

    (found,) = load(objects(standing), tile=coin).of_type("coin")

    assert (found.centre, found.half) == ((15.0, 10.0), (5.0, 10.0))
    assert found.properties == {"worth": 9, "kind": "gold"}
    assert found.tile == 4


def test_objects_and_solids_become_entities(load: Load, world: str) -> None:
    level = load(tiles("11.. .... ...."), objects(thing(1, (4, 6), name="box")), tile=WALL)

    (wall,) = level.create_solids()
    box = esper.create_entity(*level.named("box").components())

    assert esper.components_for_entity(wall) == (Position(10, 25), Extents(10, 5), Fixed())
    assert esper.components_for_entity(box) == (Position(2, 27), Extents(2, 3))
    assert level.solids[0].components()[0] is not level.solids[0].components()[0]


@pytest.mark.parametrize(
    ("shape", "word"),
    [
        ({"ellipse": True}, "ellipse"),
        ({"capsule": True}, "capsule"),
        ({"polygon": [{"x": 0, "y": 0}, {"x": 1, "y": 1}, {"x": 2, "y": 0}]}, "polygon"),
        ({"polyline": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]}, "polyline"),
        ({"rotation": 45}, "45 degrees"),
        ({"width": 0, "height": 0}, "point"),
    ],
)
def test_solid_object_that_is_no_upright_box_is_refused_when_it_is_made(
    load: Load, world: str, shape: dict[str, Any], word: str
) -> None:
    layer = objects(thing(7, (4, 4), name="o", properties=custom(solid=True), **shape))
    level = load(layer)

    for _ in range(2):
        with pytest.raises(ValueError, match=rf"7 \(o\) in layer 'things' .*{word}.*='skip'"):
            level.create()
    assert list(esper.get_component(Position)) == []
    with pytest.raises(ValueError, match=rf"map\.tmj: object 7 \(o\) in layer 'things' .*{word}"):
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
    wide, high = (6, 2) if turn % 180 == 0 else (2, 6)
    left, top = {0: (4, 5), 90: (2, 5), 270: (4, -1), 180: (-2, 3)}[turn % 360]

    (box,) = load(objects(thing(1, (6, 2), x=4, y=5, rotation=turn))).objects

    assert (box.shape, box.fault) == ("rectangle", "")
    assert box.half == (wide / 2, high / 2)
    assert box.centre == (left + wide / 2, 30 - top - high / 2)
    assert set(box.points) == {
        (x, y) for x in (left, left + wide) for y in (30 - top, 30 - top - high)
    }


def test_line_has_its_points_upwards(load: Load) -> None:
    line = [{"x": 0, "y": 0}, {"x": 10, "y": -2}, {"x": 3, "y": 8}]
    layer = objects(thing(7, (0, 0), name="route", x=4, y=5, polyline=line))

    level = load({**layer, "offsetx": 100, "offsety": 0})

    route = level.named("route")
    assert route.points == ((104, 25), (114, 27), (107, 17))
    assert route.centre == (104, 25)
    assert route.is_point
    assert route.shape == "polyline"
    assert level.create() == []  # a line is no body
    assert level.bounds[1][0] == 114
    with pytest.raises(KeyError, match=r"0 objects are named 'rout'; the map has \['route'\]"):
        level.named("rout")


@pytest.mark.parametrize("true", ["true", "1"])
def test_values_are_texts_in_maps_of_tiled_before_it_had_types(load: Load, true: str) -> None:
    (box,) = load(tiles("3", solid=true, friction="0.5")).solids

    assert box.components()[2:] == (ec.Friction(0.5),)


def test_solid_written_as_another_text_is_refused(load: Load) -> None:
    with pytest.raises(ValueError, match=r"solid of layer 'tiles' is 'yes' .*type bool"):
        load(tiles("1", solid="yes"))


@pytest.mark.parametrize(
    "text", ["", "hello", "<map/>", "<map", "<html/>", "{}", "[]", '{"layers": []}', "\0" * 99]
)
def test_file_that_is_no_map_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.tmx"
    path.write_text(text)

    with pytest.raises(ValueError, match=r"broken\.tmx is no map that Tiled has saved"):
        tiled.load(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        *(
            ("orthogonal", other, rf"map\.tmj: it is {other}; only .* orthogonal map")
            for other in ("isometric", "staggered", "hexagonal", "oblique")
        ),
        ('"firstgid": 1', '"firstgid": 100', "'tiles' uses tile 3, which is in none of the"),
    ],
    ids=["isometric", "staggered", "hexagonal", "oblique", "a tile of no tileset"],
)
def test_map_that_is_none_of_ours_is_refused(
    load: Load, tmp_path: Path, old: str, new: str, words: str
) -> None:
    load(tiles("3"))
    path = tmp_path / "map.tmj"
    path.write_text(path.read_text().replace(old, new))

    with pytest.raises(ValueError, match=words):
        tiled.load(path)
