"""Levels drawn with LDtk: cells become boxes, entities become objects, fields say more."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.levels import ldtk
from tests.levels.ldtk_projects import GRID, VALUES, cells, entity, layer

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Return a function that saves levels, by name, as a project."""

    def save_levels(apart: bool = False, **levels: list[dict[str, Any]]) -> Path:
        raw = []
        for name, layers in levels.items():
            says = [{"__identifier": "music", "__value": "calm"}]
            inside = {"layerInstances": layers, "fieldInstances": says, "pxWid": 40, "pxHei": 30}
            whole = {"identifier": name, "worldX": 100, "worldY": 0, **inside}
            if apart:
                (tmp_path / f"{name}.ldtkl").write_text(json.dumps(whole))
                whole = {**whole, "layerInstances": None, "externalRelPath": f"{name}.ldtkl"}
            raw.append(whole)
        path = tmp_path / "world.ldtk"
        path.write_text(
            json.dumps({"levels": raw, "defs": {"layers": [{**GRID, "intGridValues": VALUES}]}})
        )
        return path

    return save_levels


def boxes(level: ldtk.Level) -> list[tuple[Any, ...]]:
    return [(box.centre, box.half, box.type) for box in level.solids]


@pytest.mark.parametrize(
    ("layers", "options", "found"),
    [
        (
            [cells("1000 1022 1022")], {},
            [((5, 15), (5, 15), "walls"), ((30, 10), (10, 10), "platform")],
        ),
        (
            [cells("1100 0000 0000")], {"merge": False},
            [((5, 25), (5, 5), "walls"), ((15, 25), (5, 5), "walls")],
        ),
        (
            [cells("1000 0000 0000", __pxTotalOffsetX=3, __pxTotalOffsetY=4)], {},
            [((8, 21), (5, 5), "walls")],
        ),
        (
            [cells("0000 0000 0002"), cells("1000 0000 0000")], {},
            [((5, 25), (5, 5), "walls"), ((35, 5), (5, 5), "platform")],
        ),
    ],
    ids=["merged", "without merging", "offset", "from the back to the front"],
)  # fmt: skip
def test_cells_are_boxes_that_count_upwards(
    save: Save, layers: Any, options: dict[str, bool], found: Any
) -> None:
    level = ldtk.load(save(Cellar=layers), **options)

    assert level.size == (40, 30)
    assert level.properties == {"music": "calm"}
    assert boxes(level) == found


def test_table_of_cells_says_what_they_are(save: Save) -> None:
    path = save(Cellar=[cells("1200 3300 0000")])

    says = {"platform": {"one_way": True}, "3": {"solid": False}, "walls": {"mask": "red"}}
    level = ldtk.load(path, cells=says, categories={"red": 4})

    assert [list(box.components()[2:]) for box in level.solids] == [
        [ec.Filter(mask=4)],
        [ec.OneWay((0, 1))],
    ]
    with pytest.raises(ValueError, match=r"'platfrom'; .* Grid: \['walls', 'platform', '3'\]"):
        ldtk.load(path, cells={"platfrom": {}})
    with pytest.raises(ValueError, match="sensor of cell 'walls' in layer 'Grid' is 1"):
        ldtk.load(path, cells={"walls": {"sensor": 1}})


def test_cells_are_slopes_that_do_not_merge(save: Save, world: str) -> None:
    path = save(Cellar=[cells("0000 0220 1111")])
    table = {"platform": {"slope": "right", "slope_high": 0.5}}

    level = ldtk.load(path, cells=table)
    level.create()

    assert boxes(level) == [
        ((15, 15), (5, 5), "platform"),
        ((25, 15), (5, 5), "platform"),
        ((20, 5), (20, 5), "walls"),
    ]
    slopes = [slope for _, slope in esper.get_component(ec.Slope)]
    assert slopes == [ec.Slope("right", low=0.0, high=0.5)] * 2


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"slope": "up"}, "left or right"),
        ({"slope": True}, "left or right"),
        ({"slope": "left", "slope_high": 2.0}, "high"),
        ({"slope": "left", "slope_ceiling": 1}, "bool"),
    ],
)
def test_wrong_slope_is_refused(save: Save, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ldtk.load(save(Cellar=[cells("0000 0220 1111")]), cells={"platform": asked})


def test_points_of_a_field_are_points_of_the_world(save: Save) -> None:
    lift = entity("Lift", (0, 0))
    cells_of_route = [{"cx": 0, "cy": 0}, {"cx": 0, "cy": 2}]
    lift["fieldInstances"] = [
        {"__identifier": "route", "__type": "Array<Point>", "__value": cells_of_route},
        {"__identifier": "home", "__type": "Point", "__value": {"cx": 3, "cy": 1}},
        {"__identifier": "away", "__type": "Point", "__value": None},
        {"__identifier": "stops", "__type": "Array<Point>", "__value": None},
    ]
    level = ldtk.load(save(Cellar=[layer("Things", entityInstances=[lift], __pxTotalOffsetX=2)]))

    assert level.objects[0].properties == {
        "route": ((7, 25), (7, 5)),
        "home": (37, 15),
        "away": None,
        "stops": None,
    }
    lift["fieldInstances"][1]["__value"] = {"cx": "3", "cy": 1}
    with pytest.raises(ValueError, match="field 'home' has cx='3'"):
        ldtk.load(save(Cellar=[layer("Things", entityInstances=[lift])]))


def test_entities_keep_fields_and_lie_where_their_pivot_says(save: Save, world: str) -> None:
    things = layer(
        "Things",
        entityInstances=[
            entity("Door", (10, 0), says={"to": "Attic", "sensor": True, "key": None}),
            entity("Hero", (20, 30), __pivot=[0.5, 1]),
        ],
        __pxTotalOffsetX=3,
        __pxTotalOffsetY=-2,
    )

    level = ldtk.load(save(Cellar=[things]))
    door, hero = level.objects

    assert (door.type, door.name, door.layer) == ("Door", "Door (10, 0)", "Things")
    assert door.properties == {"to": "Attic", "sensor": True, "key": None}
    assert (door.centre, door.half) == ((18, 22), (5, 10))
    assert hero.centre == (23, 12)
    assert level.named("Hero (20, 30)") is hero
    ((_, made),) = level.create({"Door": ec.Slide, "Hero": None})
    assert esper.components_for_entity(made) == (
        ec.Position(18, 22), ec.Extents(5, 10), ec.Sensor(), ec.Slide(),
    )  # fmt: skip


@pytest.mark.parametrize("apart", [False, True], ids=["one file", "a file for each level"])
def test_level_is_found_by_its_name(save: Save, apart: bool) -> None:
    path = save(apart, Cellar=[cells("1000 0000 0000")], Attic=[cells("0001 0000 0000")])

    assert boxes(ldtk.load(path, "Attic")) == [((35, 25), (5, 5), "walls")]
    for name in ("Roof", None):
        with pytest.raises(ValueError, match=rf"no level {name!r}; .* \['Attic', 'Cellar'\]"):
            ldtk.load(path, name)


@pytest.mark.parametrize(
    "text", ["", "hello", "[]", "{}", "<html/>", '{"levels": 3}', '{"levels": [{}]}']
)
def test_file_that_is_no_project_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.ldtk"
    path.write_text(text)

    with pytest.raises(ValueError, match=r"broken\.ldtk is no project that LDtk has saved"):
        ldtk.load(path, "Cellar")
    with pytest.raises(FileNotFoundError):
        ldtk.load(tmp_path / "nowhere.ldtk")


def test_levels_of_several_worlds_are_found(save: Save) -> None:
    path = save(Cellar=[cells("1000 0000 0000")])
    project = json.loads(path.read_text())
    cellar, project["levels"] = project["levels"], []
    attic = [{**cellar[0], "identifier": "Attic"}]
    project["worlds"] = [{"identifier": "W", "levels": cellar}]
    path.write_text(json.dumps(project))

    assert boxes(ldtk.load(path)) == [((5, 25), (5, 5), "walls")]

    project["worlds"].append({"identifier": "V", "levels": attic})
    path.write_text(json.dumps(project))

    assert boxes(ldtk.load(path, "Attic")) == [((5, 25), (5, 5), "walls")]
    with pytest.raises(ValueError, match=r"no level None; it has \['Attic', 'Cellar'\]"):
        ldtk.load(path)

    project["worlds"].append({"identifier": "U", "levels": attic})
    path.write_text(json.dumps(project))

    with pytest.raises(ValueError, match="several levels 'Attic'"):
        ldtk.load(path, "Attic")


def world_of(
    save: Save, layout: str = "GridVania", apart: bool = False, **places: tuple[int, int, int, int]
) -> Path:
    """Save levels with a place and a size, whose lowest row of cells is a floor."""
    path = save(
        apart,
        **{
            name: [
                cells("0" * (wide * (high - 10) // 100) + "1" * (wide // 10),
                      __cWid=wide // 10, __cHei=high // 10)
            ]
            for name, (_, _, wide, high) in places.items()
        },
    )  # fmt: skip
    project = json.loads(path.read_text())
    for level in project["levels"]:
        x, y, wide, high = places[level["identifier"]]
        own = {"worldX": x, "worldY": y, "pxWid": wide, "pxHei": high, "worldDepth": 0}
        level.update(own, iid=f"iid of {level['identifier']}")
        if apart:
            file = path.with_name(level["externalRelPath"])
            file.write_text(json.dumps({**json.loads(file.read_text()), **own}))
    path.write_text(json.dumps({**project, "worldLayout": layout}))
    return path


# Hall has its floor beside that of Shaft, and Attic lies on Hall.
#
#              Attic
#       Shaft  Hall
PLACES = {"Shaft": (-40, -20, 40, 60), "Hall": (0, 10, 70, 30), "Attic": (0, -70, 50, 80)}


@pytest.mark.parametrize("apart", [False, True], ids=["one file", "a file for each level"])
@pytest.mark.parametrize("layout", ["Free", "GridVania"])
def test_levels_of_a_world_lie_where_the_editor_shows_them(
    save: Save, layout: str, apart: bool
) -> None:
    path = world_of(save, layout, apart, **PLACES)
    up, down = (
        {name: ldtk.load(path, name, y_down=y_down) for name in ldtk.level_names(path)}
        for y_down in (False, True)
    )

    assert {name: level.bounds for name, level in up.items()} == {
        "Shaft": ((0, 0), (40, 60)),
        "Hall": ((40, 0), (110, 30)),
        "Attic": ((40, 30), (90, 110)),
    }
    assert [boxes(up[name]) for name in PLACES] == [
        [((20, 5), (20, 5), "walls")], [((75, 5), (35, 5), "walls")],
        [((65, 35), (25, 5), "walls")],
    ]  # fmt: skip
    assert {name: level.bounds for name, level in down.items()} == {
        "Shaft": ((0, 50), (40, 110)),
        "Hall": ((40, 80), (110, 110)),
        "Attic": ((40, 0), (90, 80)),
    }
    assert [down[name].solids[0].centre for name in PLACES] == [(20, 105), (75, 105), (65, 75)]


@pytest.mark.parametrize("layout", ["LinearHorizontal", "LinearVertical", None])
def test_levels_of_a_linear_world_lie_at_the_origin(save: Save, layout: str) -> None:
    path = world_of(save, layout, Cellar=(-1, -1, 40, 30), Attic=(-1, -1, 40, 60))

    assert [ldtk.load(path, name).bounds for name in ldtk.level_names(path)] == [
        ((0, 0), (40, 30)),
        ((0, 0), (40, 60)),
    ]


def test_each_world_has_its_own_origin(save: Save) -> None:
    path = world_of(save, **PLACES)
    project = json.loads(path.read_text())
    levels, project["levels"] = project["levels"], []
    project["worlds"] = [
        {"worldLayout": "GridVania", "levels": levels[:2]},
        {"worldLayout": "Free", "levels": levels[2:]},
    ]
    path.write_text(json.dumps({**project, "worldLayout": None}))

    assert ldtk.load(path, "Hall").bounds == ((40, 0), (110, 30))
    assert ldtk.load(path, "Attic").bounds == ((0, 0), (50, 80))


@pytest.mark.parametrize("y_down", [False, True], ids=["y up", "y down"])
def test_level_lies_at_the_place_that_the_game_gives(save: Save, y_down: bool) -> None:
    level = ldtk.load(world_of(save, **PLACES), "Hall", place=(5, -7), y_down=y_down)

    assert level.bounds == ((5, -7), (75, 23))
    assert level.solids[0].centre == (40, 18 if y_down else -2)


@pytest.mark.parametrize(
    ("place", "error"), [(3, TypeError), ((1, 2, 3), TypeError), ((0, float("nan")), ValueError)]
)
def test_wrong_place_is_refused(save: Save, place: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^place"):
        ldtk.load(world_of(save, **PLACES), "Hall", place=place)


@pytest.mark.parametrize("y_down", [False, True], ids=["y up", "y down"])
def test_all_of_a_level_lies_at_its_place(save: Save, y_down: bool) -> None:
    path = world_of(save, **PLACES)
    project = json.loads(path.read_text())
    lift = entity("Lift", (50, 10))
    home = {"__identifier": "home", "__type": "Point", "__value": {"cx": 6, "cy": 0}}
    lift["fieldInstances"] = [home]
    project["levels"][1]["layerInstances"].append(layer("Things", entityInstances=[lift]))
    path.write_text(json.dumps(project))

    level = ldtk.load(path, "Hall", y_down=y_down)

    (thing,) = level.objects
    floor = (105, 105 if y_down else 5)
    assert thing.centre == (95, 100 if y_down else 10)
    assert thing.properties["home"] == (105, 85 if y_down else 25)
    assert level.to_world(0, 0) == (40, 80 if y_down else 30)
    assert level.to_cell(*floor) == (6, 2)
    tile = level.tile_at(floor)
    assert tile is not None
    assert (tile.column, tile.row, tile.centre) == (6, 2, floor)
    assert level.tile_at((20, 5)) is None


@pytest.mark.parametrize("y_down", [False, True], ids=["y up", "y down"])
def test_cells_of_a_level_change_and_stream_at_its_place(
    save: Save, world: str, y_down: bool
) -> None:
    level = ldtk.load(world_of(save, **PLACES), "Hall", y_down=y_down)
    y = 105 if y_down else 5

    level.create()
    level.set_cell(*level.to_cell(75, y))
    dug = sorted(place.x for entity, place in living(ec.Position))
    esper.clear_database()
    level.stream((70, y - 2), (74, y + 2), chunk=1)

    assert dug == [55, 95]
    assert [place.xy for _, place in living(ec.Position)] == [(75, y)]


def living(component: type[Any]) -> list[tuple[int, Any]]:
    """Return the entities with a component that are not deleted."""
    return [each for each in esper.get_component(component) if esper.entity_exists(each[0])]


def test_slope_rises_on_the_screen_where_y_grows_downwards(save: Save, world: str) -> None:
    path = save(Cellar=[cells("0000 0020 1111")])
    ldtk.load(path, cells={"platform": {"slope": "right"}}, y_down=True).create()
    hero = esper.create_entity(
        ec.Position(25, 2), ec.Extents(1, 1), ec.Velocity(0, 0), ec.Stop()
    )  # fmt: skip
    ec.install(gravity=(0, 90))

    for _ in range(60):
        esper.process(1 / 60)

    # The slope is 6 high below the right side of the hero, at x = 26.
    assert esper.component_for_entity(hero, ec.Position).xy == (25, 13)


def test_level_is_found_by_its_iid(save: Save) -> None:
    path = world_of(save, **PLACES)

    assert ldtk.load(path, "iid of Hall").bounds == ldtk.load(path, "Hall").bounds
    with pytest.raises(ValueError, match="no level ''"):
        ldtk.load(save(Cellar=[]), "")  # an old project has no iid


@pytest.mark.parametrize("apart", [False, True], ids=["one file", "a file for each level"])
def test_two_projects_in_turn_are_parsed_once_for_all_of_their_levels(
    save: Save, apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world_of(save, "GridVania", apart, **PLACES)
    other = path.with_name("other.ldtk")
    for file in (other, path):
        unlike_all_others = {**json.loads(path.read_text()), "iid": str(file)}
        file.write_text(json.dumps(unlike_all_others))
    parsed: list[int] = []
    loads = json.loads
    monkeypatch.setattr(
        json, "loads", lambda data, **more: parsed.append(len(data)) or loads(data, **more)
    )

    for name in ldtk.level_names(path):
        ldtk.load(path, name)
        ldtk.level_names(other)

    assert len(parsed) == (2 + len(PLACES) if apart else 2)


def test_project_that_was_saved_again_is_read_again(save: Save) -> None:
    path = save(Cellar=[cells("1000 0000 0000")])
    time = path.stat().st_mtime_ns
    assert boxes(ldtk.load(path)) == [((5, 25), (5, 5), "walls")]

    save(Cellar=[cells("0001 0000 0000")])
    os.utime(path, ns=(time, time))  # as large, and within one tick of the clock

    assert boxes(ldtk.load(path)) == [((35, 25), (5, 5), "walls")]


def test_game_that_changes_a_level_does_not_change_the_next_load(save: Save) -> None:
    things = layer("Things", entityInstances=[entity("Door", (0, 0), says={"keys": ["red"]})])
    path = save(Cellar=[things])

    level = ldtk.load(path)
    level.objects[0].properties["keys"].append("blue")
    level.map["layerInstances"].clear()

    assert ldtk.load(path).objects[0].properties == {"keys": ["red"]}


# Two levels by the format of each version, with the same content: a floor of the value "walls",
# and a Door of 10 x 20 pixels in the upper left corner.
def of_version(version: str) -> dict[str, Any]:
    number = float(version.rpartition(".")[0])
    grid = {**layer("Grid"), "__type": "IntGrid"}
    door = entity("Door", (5, 20), __pivot=[0.5, 1], defUid=9)
    things = {**layer("Things", entityInstances=[door]), "__type": "Entities", "layerDefUid": 6}
    floor = {"value": 1, "identifier": "walls"}, {"value": 2, "identifier": None}
    level = {
        "identifier": "Cellar", "pxWid": 40, "pxHei": 30, "fieldInstances": [],
        "worldX": 0, "worldY": 0, "layerInstances": [things, grid],
    }  # fmt: skip
    definition = {"uid": 9, "width": 10, "height": 20, "pivotX": 0.5, "pivotY": 1}
    project = {
        "jsonVersion": version, "worldLayout": "Free", "levels": [level],
        "defs": {"layers": [{**GRID, "intGridValues": floor}], "entities": [definition]},
    }  # fmt: skip
    grid["intGridCsv"] = [0] * 8 + [1] * 3 + [2]
    if number < 1.0:
        del door["iid"]
    if number < 0.8:
        del level["fieldInstances"], door["width"], door["height"]
        for part in (grid, things):
            del part["intGridCsv"]
            part["intGrid"] = []
        grid["intGrid"] = [{"coordId": n, "v": v} for n, v in ((8, 0), (9, 0), (10, 0), (11, 1))]
        for value in floor:
            del value["value"]
    if number < 0.7:
        del door["__pivot"]
    if number < 0.6:
        del level["worldX"], level["worldY"], project["worldLayout"]
    if number < 0.5:
        for part in (grid, things):
            del part["__pxTotalOffsetX"], part["__pxTotalOffsetY"]
            part.update(pxOffsetX=0, pxOffsetY=0)
    if number < 0.4:
        del door["px"]
        door.update(x=5, y=20)
    return project


@pytest.mark.parametrize(
    "version", ["0.4.1", "0.5.2", "0.6.2", "0.7.2", "0.8.1", "0.9.3", "1.0.0", "1.5.3"]
)
def test_project_of_any_version_is_read(tmp_path: Path, version: str) -> None:
    path = tmp_path / "old.ldtk"
    path.write_text(json.dumps(of_version(version)))

    level = ldtk.load(path)

    assert boxes(level) == [((15, 5), (15, 5), "walls"), ((35, 5), (5, 5), "2")]
    (door,) = level.objects
    assert (door.type, door.centre, door.half) == ("Door", (5, 20), (5, 10))
    assert door.name == ("Door (5, 20)" if version >= "1" else "")


def test_project_that_is_too_old_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "old.ldtk"
    path.write_text(json.dumps(of_version("0.3.1")))

    with pytest.raises(
        ValueError,
        match=r"old\.ldtk: LDtk 0\.3\.1 .*'px' in level 'Cellar'; open it in LDtk and save",
    ):
        ldtk.load(path)


def test_layer_of_an_old_project_lies_where_both_offsets_say(tmp_path: Path) -> None:
    project = of_version("0.4.1")
    project["levels"][0]["layerInstances"][1]["pxOffsetX"] = 3
    project["defs"]["layers"][0].update(pxOffsetX=1, pxOffsetY=2)
    path = tmp_path / "old.ldtk"
    path.write_text(json.dumps(project))

    assert ldtk.load(path).solids[0].centre == (19, 3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"intGrid": [{"coordId": 12, "v": 0}]}, "layer 'Grid' has no cell 12, only 12 cells"),
        ({"intGrid": [{"coordId": -1, "v": 0}]}, "layer 'Grid' has no cell -1, only 12 cells"),
        ({"__cHei": 10**9}, "layer 'Grid' has 4000000000 cells, more than 1048576"),
    ],
    ids=["after", "before", "large"],
)
def test_damaged_layer_of_an_old_project_is_refused(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    project = of_version("0.7.2")
    project["levels"][0]["layerInstances"][1].update(changes)
    path = tmp_path / "old.ldtk"
    path.write_text(json.dumps(project))

    with pytest.raises(ValueError, match=rf"old\.ldtk: {words}"):
        ldtk.load(path)


def test_parts_that_only_drawing_needs_may_be_missing_or_strange(save: Save) -> None:
    path = save(Cellar=[cells("1000 0000 0000", __tilesetRelPath="../../no.png")])
    project = json.loads(path.read_text())
    (level,) = project["levels"]
    level["bgRelPath"] = "/dev/zero"
    del level["fieldInstances"]
    for name in ("entityInstances", "__pxTotalOffsetX", "__pxTotalOffsetY"):
        del level["layerInstances"][0][name]
    path.write_text(json.dumps({**project, "toc": [], "flags": None}))

    assert boxes(ldtk.load(path)) == [((5, 25), (5, 5), "walls")]


# Two layers: Walls has stone, ice, and a value without a name; Biomes has lava, ice and one
# without a name.  In both ice and the third are "cold".
TWO_LAYERS = [
    {
        "uid": uid, "identifier": name, "__type": "IntGrid",
        "intGridValuesGroups": [{"uid": 1, "identifier": "cold"}, {"uid": 2, "identifier": None}],
        "intGridValues": [
            {"value": 1, "identifier": first, "groupUid": 2},
            {"value": 2, "identifier": "ice", "groupUid": 1},
            {"value": 3, "identifier": None, "groupUid": 1},
        ],
    }
    for uid, name, first in ((1, "Walls", "stone"), (2, "Biomes", "lava"))
]  # fmt: skip


@pytest.fixture
def two_layers(save: Save) -> Path:
    row = "1230 0000 0000"
    path = save(Cellar=[cells(row, layerDefUid=2), cells(row, layerDefUid=1)])
    project = json.loads(path.read_text())
    # LDtk 0.6 gave a value to layers of all kinds.
    things = {"uid": 3, "identifier": "Things", "__type": "Entities", "intGridValues": [{}]}
    project["defs"]["layers"] = [*TWO_LAYERS, things]
    for raw, name in zip(project["levels"][0]["layerInstances"], ("Biomes", "Walls"), strict=True):
        raw["__identifier"] = name
    path.write_text(json.dumps(project))
    return path


def frictions(path: Path, cells: dict[str, dict[str, Any]]) -> list[float]:
    """Return the friction of the values of Walls and of Biomes, 0 without, -1 for no body."""
    level = ldtk.load(path, cells=cells)
    found = []
    for name in ("Walls", "Biomes"):
        for column in range(3):
            tile = level.tile_at((column * 10 + 5, 25), name)
            assert tile is not None
            is_body = tile.properties.get("solid", True)
            found.append(tile.properties.get("friction", 0) if is_body else -1)
    assert len(level.solids) == len([value for value in found if value >= 0])
    return found


@pytest.mark.parametrize(
    ("asked", "right"),
    [
        ({"Biomes": {"solid": False}}, [0, 0, 0, -1, -1, -1]),
        ({"cold": {"friction": 1}}, [0, 1, 1, 0, 1, 1]),
        ({"ice": {"friction": 1}}, [0, 1, 0, 0, 1, 0]),
        ({"3": {"friction": 1}}, [0, 0, 1, 0, 0, 1]),
        ({"Walls.cold": {"friction": 1}}, [0, 1, 1, 0, 0, 0]),
        ({"Walls.ice": {"friction": 1}}, [0, 1, 0, 0, 0, 0]),
        ({"Biomes.3": {"friction": 1}}, [0, 0, 0, 0, 0, 1]),
    ],
    ids=lambda value: next(iter(value), "") if isinstance(value, dict) else "",
)
def test_key_of_cells_names_a_layer_a_group_or_a_value(
    two_layers: Path, asked: dict[str, dict[str, Any]], right: list[float]
) -> None:
    assert frictions(two_layers, asked) == right


def test_most_precise_key_counts_alone(two_layers: Path) -> None:
    asked: dict[str, dict[str, Any]] = {
        "Walls.ice": {"friction": 5},
        "Walls.cold": {"friction": 4},
        "ice": {"friction": 3},
        "cold": {"friction": 2},
        "Biomes": {"solid": False, "friction": 1},
        "Walls": {"friction": 1},
    }

    assert frictions(two_layers, asked) == [1, 5, 4, -1, 3, 2]
    assert frictions(two_layers, dict(reversed(asked.items()))) == [1, 5, 4, -1, 3, 2]


def test_layer_key_holds_for_values_that_the_project_no_longer_defines(save: Save) -> None:
    path = save(Cellar=[cells("1900 0000 0000")])

    assert boxes(ldtk.load(path)) == [((5, 25), (5, 5), "walls"), ((15, 25), (5, 5), "9")]
    assert not ldtk.load(path, cells={"Grid": {"solid": False}}).solids


def test_key_that_may_name_different_values_is_refused(two_layers: Path) -> None:
    project = json.loads(two_layers.read_text())
    walls, *_ = project["defs"]["layers"]
    walls["intGridValues"][0]["identifier"] = "Walls"
    two_layers.write_text(json.dumps(project))

    words = (
        r"'Walls', which is a layer and a value in .*\['Walls\.Walls', 'Walls\.ice', 'Walls\.3'\]"
    )
    with pytest.raises(ValueError, match=words):
        ldtk.load(two_layers, cells={"Walls": {"solid": False}})
    assert frictions(two_layers, {"Walls.Walls": {"friction": 1}}) == [1, 0, 0, 0, 0, 0]

    del walls["intGridValues"][1:]
    two_layers.write_text(json.dumps(project))

    assert frictions(two_layers, {"Walls": {"friction": 1}})[:1] == [1]


def test_values_of_one_name_and_different_properties_are_different_boxes(two_layers: Path) -> None:
    project = json.loads(two_layers.read_text())
    project["defs"]["layers"][0]["intGridValues"][0]["identifier"] = "ice"
    two_layers.write_text(json.dumps(project))

    level = ldtk.load(
        two_layers, cells={"Walls.cold": {"sensor": True}, "Biomes": {"solid": False}}
    )

    found = [(box.type, box.half[0], "sensor" in box.properties) for box in level.solids]
    assert found == [("ice", 5, False), ("ice", 5, True), ("3", 5, True)]


@pytest.mark.parametrize("key", ["Wals", "Things", "Walls.lava", "Walls.", "1", "2", ""])
def test_key_that_names_nothing_is_refused_with_the_names_that_exist(
    two_layers: Path, key: str
) -> None:
    words = (
        rf"cells names '{key}'; .*Walls: \['stone', 'ice', '3'\], Biomes: \['lava', 'ice', '3'\]"
    )
    with pytest.raises(ValueError, match=words):
        ldtk.load(two_layers, cells={key: {}})


@pytest.mark.parametrize("y_down", [False, True], ids=["y up", "y down"])
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"group": "enemies"}, r"entity Bat \(Bat \(0, 0\)\) .* Filter\(group='enemies'"),
        ({"solid": "very"}, r"solid of entity Bat \(Bat \(0, 0\)\) is 'very'"),
        ({"slope": "steep"}, r"slope of entity Bat .* is 'steep'"),
        ({"friction": "rough"}, "entity Bat .* Friction"),
        ({"sensor": True, "mask": "nobody"}, "mask of entity Bat .* is 'nobody'"),
    ],
    ids=lambda value: "" if isinstance(value, str) else "-".join(value),
)
def test_fields_of_an_entity_are_checked_only_where_it_becomes_a_body(
    save: Save, world: str, fields: dict[str, Any], words: str, y_down: bool
) -> None:
    things = layer("Things", entityInstances=[entity("Bat", (0, 0), says=fields)])

    level = ldtk.load(save(Cellar=[things]), y_down=y_down)

    assert level.objects[0].properties == fields
    assert level.create({"Bat": None}) == []
    with pytest.raises(ValueError, match=rf"{words}.*another name"):
        level.create({"Bat": ec.Slide})
    assert not list(esper.get_component(ec.Position))


OTHER_FILES: dict[str, tuple[str, str]] = {
    "map.tmx": ('<?xml version="1.0"?>\n<map version="1.10"></map>', "a map of Tiled: .*tiled"),
    "map.tmj": ('{"type": "map", "layers": [], "tilesets": []}', "a map of Tiled: .*tiled"),
    "all.world": ('{"type": "world", "maps": []}', "a world of Tiled"),
    "b.tsx": ('<tileset name="b"></tileset>', "a tileset of Tiled"),
    "b.tsj": ('{"type": "tileset", "tiles": []}', "a tileset of Tiled"),
    "b.tj": ('{"type": "template", "object": {}}', "an object template of Tiled"),
    "tiles.gif": ("GIF89a", "a picture"),
    "Cellar.ldtkl": ('{"identifier": "Cellar", "layerInstances": []}', "one level of a project"),
    "data.json": ('{"identifier": "A", "uniqueIdentifer": "b"}', "a level in LDtk's simplified"),
}


@pytest.mark.parametrize("name", OTHER_FILES)
def test_file_of_another_kind_is_called_what_it_is(tmp_path: Path, name: str) -> None:
    text, words = OTHER_FILES[name]
    path = tmp_path / name
    path.write_text(text)

    for load in (ldtk.load, ldtk.level_names):
        with pytest.raises(ValueError, match=rf"{name}: it is {words}") as refused:
            load(path)
        assert "save" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"cells": {"walls": True}}, TypeError, r"cells\['walls'\] is True; .* a mapping"),
        ({"cells": {"walls": None}}, TypeError, r"cells\['walls'\] is None; .* a mapping"),
        ({"cells": ["walls"]}, TypeError, r"cells=\['walls'\] must map"),
        (
            {"cells": {"walls": {"oneway": True}}},
            ValueError,
            r"cells\['walls'\] has 'oneway'; .* 'one_way'",
        ),
        ({"categories": {"red": "4"}}, TypeError, "categories=.* must map names to bits"),
    ],
    ids=["bool", "None", "list", "misspelt", "categories"],
)
def test_wrong_argument_is_not_blamed_on_the_file(
    save: Save, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    path = save(Cellar=[cells("1000 0000 0000")])

    with pytest.raises(error, match=rf"^{words}"):
        ldtk.load(path, **options)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is no project that LDtk has saved"),
        (b"\xe4", r"is no project .* \(\S*world\.ldtk names it\): it is no text"),
        (b"[]", "is no project that LDtk has saved"),
    ],
    ids=["json", "latin", "list"],
)
def test_broken_file_of_a_level_is_reported_under_its_own_name(
    save: Save, content: bytes, words: str
) -> None:
    path = save(True, Cellar=[])
    path.with_name("Cellar.ldtkl").write_bytes(content)

    with pytest.raises(ValueError, match=rf"^\S*Cellar\.ldtkl {words}"):
        ldtk.load(path)


@pytest.mark.parametrize("name", ["levels", "layerInstances", "externalRelPath"])
def test_project_with_nonsense_in_it_is_refused(save: Save, name: str) -> None:
    path = save(Cellar=[])
    project = json.loads(path.read_text())
    project["levels"][0][name] = [1]
    path.write_text(json.dumps(project | {"levels": 5} if name == "levels" else project))

    with pytest.raises(ValueError, match=r"world\.ldtk is no project that LDtk has saved"):
        ldtk.load(path)


@pytest.mark.parametrize(
    ("name", "size", "words"),
    [("pxHei", float("nan"), "height=nan"), ("pxWid", -40, "width=-40"), ("pxHei", [1], "height=")],
)
def test_level_without_a_size_is_refused(save: Save, name: str, size: object, words: str) -> None:
    path = save(Cellar=[cells("1000 0000 0000")])
    project = json.loads(path.read_text())
    project["levels"][0][name] = size
    path.write_text(json.dumps(project))

    with pytest.raises(ValueError, match=rf"world\.ldtk: the level has {words}"):
        ldtk.load(path)


def test_text_that_is_not_utf_8_is_refused_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "latin.ldtk"
    path.write_bytes('{"levels": ["Höhle"]}'.encode("latin-1"))

    with pytest.raises(
        ValueError, match=r"latin\.ldtk is no .*: it is no text in UTF-8: .* at byte 14$"
    ):
        ldtk.load(path)


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (cells("1", __cWid=0), "layer 'Grid' is 0 x 3 cells large and has 1"),
        (cells("1000 0000"), "layer 'Grid' is 4 x 3 cells large and has 8"),
        (cells("", __type="IntGrid"), "layer 'Grid' is 4 x 3 cells large and has 0"),
        (cells("1000 0000 0000", layerDefUid=77), "layer 'Grid' is made after a layer 77"),
        (cells("1000 0000 0000", __gridSize=-1), "layer 'Grid' has width=-1"),
        (
            layer("Things", entityInstances=[entity("Door", (1, 2), width=-5)]),
            r"entity Door \(Door \(1, 2\)\) has width=-5; it must be zero or more",
        ),
        (
            layer("Things", entityInstances=[entity("Door", (1, 2)) | {"px": ["a", 2]}]),
            r"entity Door \(Door \(1, 2\)\) has px\[0\]='a'; it must be a finite number",
        ),
        (
            layer("Things", entityInstances=[entity("Door", (1, 2), __pivot=[0, float("inf")])]),
            r"entity Door \(Door \(1, 2\)\) has __pivot\[1\]=inf; it must be a finite number",
        ),
        (
            layer("Things", entityInstances=[entity("Door", (1, 2)) | {"px": [3]}]),
            r"entity Door \(Door \(1, 2\)\) has px=\[3\]; it must be two numbers",
        ),
    ],
    ids=["width", "short", "empty", "layer", "grid", "size", "text", "pivot", "short px"],
)
def test_damaged_layer_is_refused_by_name(save: Save, layer: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=rf"world\.ldtk: {words}"):
        ldtk.load(save(Cellar=[layer]))
