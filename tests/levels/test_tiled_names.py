"""Properties that a game gives in code to layers, tiles and objects, and places in a world."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ecs_collide as ec
from ecs_collide.levels import tiled
from tests.levels.tiled_maps import new_json

Load = Callable[..., tiled.Level]
SOLID = {"solid": True}


def layer(name: str, data: list[int], **more: Any) -> dict[str, Any]:
    return {"type": "tilelayer", "name": name, "width": 3, "height": 1, "data": data, **more}


def thing(number: int, **more: Any) -> dict[str, Any]:
    return {"id": number, "x": 10 * number, "y": 0, "width": 4, "height": 4, **more}


MAP = {
    "width": 3, "height": 1, "tilewidth": 10, "tileheight": 10, "orientation": "orthogonal",
    "tilesets": [
        {"firstgid": 1, "name": "ground", "tilewidth": 10, "tileheight": 10, "tiles": [
            {"id": 0, "type": "crate", "properties": {"kind": "wood", "friction": 0.5}},
            {"id": 1, "properties": {"kind": "stone", "solid": False}},
        ]},
        {"firstgid": 5, "name": "roofs", "tilewidth": 10, "tileheight": 10, "tiles": []},
    ],
    "layers": [
        layer("grass", [1, 2, 3]),
        {"type": "group", "name": "front", "layers": [
            layer("Walls", [0, 5, 1], properties={"is_wall": True}), layer("Deco", [4, 0, 0]),
        ]},
        {"type": "objectgroup", "name": "Rooms", "objects": [
            thing(0, name="a", type="room"), thing(1, name="b", properties={"kind": "stone"}),
        ]},
    ],
}  # fmt: skip


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that loads the map above."""
    path = tmp_path / "map.tmj"
    path.write_text(new_json(MAP))
    return lambda **options: tiled.load(path, **options)


def cells(level: tiled.Level) -> list[int]:
    """Return the columns of the boxes."""
    return sorted(
        int(x // 10)
        for box in level.solids
        for x in range(int(box.centre[0] - box.half[0]), int(box.centre[0] + box.half[0]), 10)
    )


def test_map_without_our_properties_has_no_bodies_by_itself(load: Load) -> None:
    level = load()

    assert level.solids == ()
    assert not any(one.solid for one in level.objects)


@pytest.mark.parametrize(
    ("layers", "columns"),
    [
        ({"Walls": SOLID}, [1, 2]),
        ({"front": SOLID}, [0, 1, 2]),
        ({"front": SOLID, "Deco": {"solid": False}}, [1, 2]),
        ({("is_wall", True): SOLID}, [1, 2]),
        ({"grass": SOLID}, [0, 2]),  # its tile in the middle says no
    ],
    ids=str,
)
def test_layers_and_groups_are_walls_by_name(load: Load, layers: Any, columns: list[int]) -> None:
    assert cells(load(layers=layers)) == columns


@pytest.mark.parametrize(
    ("tiles", "columns"),
    [
        ({"crate": SOLID}, [0, 2]),
        ({"roofs": SOLID}, [1]),
        ({"roofs:0": SOLID}, [1]),
        ({"ground:2": SOLID}, [2]),
        ({3: SOLID}, [2]),
        ({2: SOLID}, [1]),
        ({("kind", "stone"): SOLID}, [1]),
        ({"": SOLID, 4: {"solid": False}}, [1, 1, 2]),
    ],
    ids=str,
)
def test_tiles_are_walls_by_type_tileset_number_or_another_property(
    load: Load, tiles: Any, columns: list[int]
) -> None:
    assert cells(load(tiles=tiles, merge=False)) == columns


@pytest.mark.parametrize(
    ("objects", "solid"),
    [
        ({"room": SOLID}, [0]), ({"b": SOLID}, [1]), ({"": SOLID}, [1]),
        ({("kind", "stone"): SOLID}, [1]),
    ],
    ids=str,
)  # fmt: skip
def test_objects_are_bodies_by_type_name_or_another_property(
    load: Load, objects: Any, solid: list[int]
) -> None:
    level = load(objects=objects)

    assert [one.id for one in level.objects if one.solid] == solid
    assert load(layers={"Rooms": SOLID}).objects[1].solid


def test_code_precedes_the_file_and_later_names_precede_earlier_ones(load: Load) -> None:
    stated = {
        "crate": {"solid": True, "friction": 1.0, "restitution": 0.1},
        ("kind", "wood"): {"restitution": 0.9},
    }

    level = load(tiles=stated)

    assert level.solids[0].components()[2:] == (ec.Friction(1.0), ec.Restitution(0.9))
    assert level.tile_at((5, 5), "grass").properties["friction"] == 1.0
    assert load(objects={"a": {"one_way": "left"}}).objects[0].properties == {"one_way": "left"}


@pytest.mark.parametrize(
    ("argument", "key", "known"),
    [
        ("layers", "walls", r"'Deco'.*'Walls'.*'front'"),
        ("layers", ("is_wal", True), "'Walls'"),
        ("layers", ("is_wall", 1.5), r"\('is_wall', True\)"),
        ("tiles", "crates", r"'crate'.*'ground'.*'roofs'"),
        ("tiles", "roof:0", "'roofs'"),
        ("tiles", "roofs:a", "'roofs'"),
        ("tiles", 0, "'crate'"),
        ("tiles", ("kind", "iron"), r"'stone'.*'wood'"),
        ("objects", "Room", r"'a'.*'b'.*'room'"),
    ],
)
def test_unknown_name_is_answered_with_the_names_there_are(
    load: Load, argument: str, key: Any, known: str
) -> None:
    with pytest.raises(ValueError, match=rf"map\.tmj: {argument} names .*; the map has .*{known}"):
        load(**{argument: {key: SOLID, "of another map": SOLID}})


@pytest.mark.parametrize(
    "shared",
    [
        {"layers": {"Walls": SOLID, "Cliffs": SOLID}},
        {"layers": {"Cliffs": SOLID, ("is_wall", True): SOLID}},
        {"tiles": {"roofs:0": SOLID, "cliffs:0": SOLID, 99: SOLID, ("kind", "iron"): SOLID}},
    ],
    ids=str,
)
def test_one_mapping_serves_maps_that_lack_some_of_its_names(load: Load, shared: Any) -> None:
    assert 1 in cells(load(**shared))


def test_names_of_things_of_which_a_map_has_none_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "empty.tmj"
    path.write_text(new_json({**MAP, "tilesets": [], "layers": []}))
    shared = {"coin": SOLID, ("kind", "stone"): SOLID}

    level = tiled.load(path, layers=shared, tiles=shared, objects=shared)

    assert level.solids == level.objects == ()


@pytest.mark.parametrize("argument", ["layers", "tiles", "objects"])
@pytest.mark.parametrize(
    ("given", "error"),
    [(["Walls"], TypeError), ({"a": True}, TypeError), ({"a": {"colour": 1}}, ValueError),
     ({("a", "b", "c"): SOLID}, ValueError)],
)  # fmt: skip
def test_wrong_arguments_are_refused(load: Load, argument: str, given: Any, error: Any) -> None:
    with pytest.raises(error, match=argument):
        load(**{argument: given})


# -- worlds --


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Return the file of a world of three maps, of which one is the map above.

    ::

        0     40    70
        . . .        top: one, 40 x 20
        one   map    lower: map, 30 x 10, and deep below it
              deep
    """
    (tmp_path / "map.tmj").write_text(new_json(MAP))
    (tmp_path / "deep.tmj").write_text(new_json(MAP))
    maps = [
        {"fileName": "one.tmx", "x": -40, "y": -20, "width": 40, "height": 20},
        {"fileName": "map.tmj", "x": 0, "y": 0, "width": 30, "height": 10},
        {"fileName": "deep.tmj", "x": 0, "y": 10},
    ]
    path = tmp_path / "all.world"
    path.write_text(json.dumps({"maps": maps, "type": "world"}))
    return path


@pytest.mark.parametrize(
    ("name", "y_down", "place"),
    [
        ("map.tmj", False, (40, 10)),
        ("deep.tmj", False, (40, 0)),
        ("map.tmj", True, (40, 20)),
        ("deep.tmj", True, (40, 30)),
    ],
)
def test_level_lies_at_its_place_in_the_world(
    world: Path, name: str, y_down: bool, place: tuple[float, float]
) -> None:
    path = world.parent / name
    options: dict[str, Any] = {"layers": {"Walls": SOLID}, "y_down": y_down}
    plain = tiled.load(path, **options)

    level = tiled.load(path, world=world, **options)

    def moved(point: tuple[float, float]) -> tuple[float, float]:
        return point[0] + place[0], point[1] + place[1]

    assert [box.centre for box in level.solids] == [moved(box.centre) for box in plain.solids]
    assert [one.centre for one in level.objects] == [moved(one.centre) for one in plain.objects]
    assert level.objects[0].points == tuple(map(moved, plain.objects[0].points))


def test_place_may_be_in_the_names_of_the_files(tmp_path: Path) -> None:
    for name in ("room_2_0.tmj", "room_3_1.tmj", "other.tmj"):
        (tmp_path / name).write_text(new_json(MAP))
    pattern = {"regexp": r"room_(\d+)_(\d+)\.tmj", "multiplierX": 30, "multiplierY": 10}
    world = tmp_path / "all.world"
    world.write_text(json.dumps({"patterns": [pattern]}))

    level = tiled.load(tmp_path / "room_3_1.tmj", world=str(world))

    assert level.objects[0].centre == (30 + 2, 8)
    assert tiled.load(tmp_path / "room_2_0.tmj", world=world).objects[0].centre == (2, 18)
    with pytest.raises(ValueError, match=r"all\.world: it has no map other\.tmj; it has \['room_2"):
        tiled.load(tmp_path / "other.tmj", world=world)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", r"all\.world is no world that Tiled has saved"),
        ('{"maps": [{"fileName": "map.tmj", "x": "a"}]}', r"its map map\.tmj has x='a'"),
        ('{"patterns": [{"regexp": "("}]}', r"all\.world: its pattern '\(' is wrong"),
        ('{"maps": [{"fileName": "/dev/zero"}]}', r"all\.world: a map '/dev/zero' is outside of"),
        ('{"type": "map", "layers": []}', "it is a map of Tiled"),
    ],
)
def test_damaged_world_is_refused_by_name(world: Path, text: str, words: str) -> None:
    world.write_text(text)

    with pytest.raises(ValueError, match=words):
        tiled.load(world.parent / "map.tmj", world=world)


def test_game_whose_y_grows_downwards_counts_from_the_upper_left_corner(load: Load) -> None:
    level = load(y_down=True, layers={"Walls": SOLID})

    assert [box.centre for box in level.solids] == [(15, 5), (25, 5)]
    assert level.objects[0].points == ((0, 0), (4, 0), (4, 4), (0, 4))
    assert level.to_world(25, 3) == (25, 3)
