"""Levels drawn with LDtk: cells become boxes, entities become objects, fields say more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.levels import ldtk

VALUES = [
    {"value": 1, "identifier": "walls"},
    {"value": 2, "identifier": "platform"},
    {"value": 3, "identifier": None},
]
Save = Callable[..., Path]


def layer(kind: str, **more: Any) -> dict[str, Any]:
    """Return a layer of 4 x 3 cells of 10 pixels."""
    empty = {"intGridCsv": [], "entityInstances": [], "__cWid": 4, "__cHei": 3, "__gridSize": 10}
    offset = {"__pxTotalOffsetX": 0, "__pxTotalOffsetY": 0}
    return {"__identifier": kind, "layerDefUid": 5, **empty, **offset, **more}


def cells(picture: str, **more: Any) -> dict[str, Any]:
    return layer("Grid", intGridCsv=[int(mark) for mark in "".join(picture.split())], **more)


def entity(kind: str, px: tuple[int, int], **more: Any) -> dict[str, Any]:
    fields = [{"__identifier": name, "__value": v} for name, v in more.pop("says", {}).items()]
    own = {"__identifier": kind, "iid": f"{kind} {px}", "px": list(px), "width": 10, "height": 20}
    return {**own, "__pivot": [0, 0], "fieldInstances": fields, **more}


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
            json.dumps({"levels": raw, "defs": {"layers": [{"uid": 5, "intGridValues": VALUES}]}})
        )
        return path

    return save_levels


def boxes(level: ldtk.Level) -> list[tuple[Any, ...]]:
    return [(box.centre, box.half, box.type) for box in level.solids]


def test_cells_of_one_value_merge_and_count_upwards(save: Save) -> None:
    level = ldtk.load(save(Cellar=[cells("1000 1022 1022")]))

    assert level.size == (40, 30)
    assert level.properties == {"music": "calm"}
    assert boxes(level) == [
        ((5, 15), (5, 15), "walls"),
        ((30, 10), (10, 10), "platform"),
    ]


def test_layer_of_cells_lies_where_its_offset_says(save: Save) -> None:
    layer = cells("1000 0000 0000", __pxTotalOffsetX=3, __pxTotalOffsetY=4)

    assert boxes(ldtk.load(save(Cellar=[layer]))) == [((8, 21), (5, 5), "walls")]


def test_without_merging_each_cell_is_a_box(save: Save) -> None:
    level = ldtk.load(save(Cellar=[cells("1100 1100 0000")]), merge=False)

    assert [box.centre for box in level.solids] == [(5, 25), (15, 25), (5, 15), (15, 15)]


def test_table_of_cells_says_what_they_are(save: Save) -> None:
    path = save(Cellar=[cells("1200 3300 0000")])

    says = {"platform": {"one_way": True}, "3": {"solid": False}, "walls": {"mask": "red"}}
    level = ldtk.load(path, cells=says, categories={"red": 4})

    assert [list(box.components()[2:]) for box in level.solids] == [
        [ec.Filter(mask=4)],
        [ec.OneWay((0, 1))],
    ]
    with pytest.raises(ValueError, match=r"'platfrom'; .* \['3', 'platform', 'walls'\]"):
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
    ]
    level = ldtk.load(save(Cellar=[layer("Things", entityInstances=[lift], __pxTotalOffsetX=2)]))

    assert level.objects[0].properties == {
        "route": ((7, 25), (7, 5)),
        "home": (37, 15),
        "away": None,
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


def test_layers_come_from_the_back_to_the_front(save: Save) -> None:
    level = ldtk.load(save(Cellar=[cells("0000 0000 0002"), cells("1000 0000 0000")]))

    assert [box.type for box in level.solids] == ["walls", "platform"]


@pytest.mark.parametrize("apart", [False, True], ids=["one file", "a file for each level"])
def test_level_is_found_by_its_name(save: Save, apart: bool) -> None:
    path = save(apart, Cellar=[cells("1000 0000 0000")], Attic=[cells("0001 0000 0000")])

    assert boxes(ldtk.load(path, "Attic")) == [((35, 25), (5, 5), "walls")]
    for name in ("Roof", None):
        with pytest.raises(ValueError, match=rf"no level {name!r}; .* \['Attic', 'Cellar'\]"):
            ldtk.load(path, name)


@pytest.mark.parametrize("text", ["", "hello", "[]", "{}", '{"levels": 3}', '{"levels": [{}]}'])
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


@pytest.mark.parametrize("content", [b"{", b"\xe4", b"[]"], ids=["json", "latin", "list"])
def test_broken_file_of_a_level_is_reported_under_its_own_name(save: Save, content: bytes) -> None:
    path = save(True, Cellar=[])
    path.with_name("Cellar.ldtkl").write_bytes(content)

    with pytest.raises(ValueError, match=r"^\S*Cellar\.ldtkl is no project that LDtk has saved"):
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

    with pytest.raises(ValueError, match=r"latin\.ldtk is no project .*Unicode"):
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
            r"entity Door \(Door \(1, 2\)\) has x='a'; it must be a finite number",
        ),
        (
            layer("Things", entityInstances=[entity("Door", (1, 2), __pivot=[0, float("inf")])]),
            r"entity Door \(Door \(1, 2\)\) has pivot_y=inf; it must be a finite number",
        ),
    ],
    ids=["width", "short", "empty", "layer", "grid", "size", "text", "pivot"],
)
def test_damaged_layer_is_refused_by_name(save: Save, layer: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=rf"world\.ldtk: {words}"):
        ldtk.load(save(Cellar=[layer]))
