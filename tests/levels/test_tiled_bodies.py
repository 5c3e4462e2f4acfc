"""What the properties and types of a Tiled map make of its tiles and objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Sized
from pathlib import Path
from typing import Any, NamedTuple

import esper
import pytest

import ecs_collide as ec
from ecs_collide.levels import tiled
from ecs_collide.path import Path as Route

Load = Callable[..., tiled.Level]
PLAYER, ENEMY = 1, 2
NOT_CUSTOM = ("type", "shapes")  # of a tile: its class, and what its collision editor has


def custom(**properties: Any) -> list[dict[str, Any]]:
    """Return custom properties as Tiled saves them."""
    kinds = {bool: "bool", int: "int", float: "float", str: "string"}
    return [
        {"name": name, "type": kinds[type(value)], "value": value}
        for name, value in properties.items()
    ]


def tiles(picture: str, **properties: Any) -> dict[str, Any]:
    """Return a tile layer drawn with digits and dots."""
    rows = picture.split()
    data = [int(mark.replace(".", "0")) for row in rows for mark in row]
    return {
        "type": "tilelayer", "name": "tiles", "id": 1, "x": 0, "y": 0, "opacity": 1,
        "visible": True, "width": len(rows[0]), "height": len(rows), "data": data,
        "properties": custom(**properties),
    }  # fmt: skip


def thing(number: int = 7, size: tuple[float, float] = (10, 10), **more: Any) -> dict[str, Any]:
    """Return a rectangle at the map's top left."""
    own = {"id": number, "x": 0, "y": 0, "width": size[0], "height": size[1], "rotation": 0}
    return {**own, "name": "", "type": "", "visible": True, **more}


def objects(*things: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {
        "type": "objectgroup", "name": "things", "id": 2, "x": 0, "y": 0, "opacity": 1,
        "visible": True, "draworder": "topdown", "objects": list(things),
        "properties": custom(**properties),
    }  # fmt: skip


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that saves layers as a JSON map of 10 x 10 pixels a tile, and loads it."""

    def load_layers(
        *layers: dict[str, Any], tile: dict[int, dict[str, Any]] | None = None, **options: Any
    ) -> tiled.Level:
        ours = [
            {
                "id": number - 1,
                "type": says.get("type", ""),
                "properties": custom(**{k: v for k, v in says.items() if k not in NOT_CUSTOM}),
                **({"objectgroup": objects(*says["shapes"])} if "shapes" in says else {}),
            }
            for number, says in (tile or {}).items()
        ]
        tileset = {
            "firstgid": 1, "name": "t", "tilewidth": 10, "tileheight": 10, "tilecount": 9,
            "columns": 9, "margin": 0, "spacing": 0, "image": "t.png", "imagewidth": 90,
            "imageheight": 10, "tiles": ours,
        }  # fmt: skip
        infinite = options.pop("infinite", False)
        drawn = [layer for layer in layers if "width" in layer] or [{"width": 4, "height": 3}]
        level = {
            "type": "map", "version": "1.10", "tiledversion": "1.10.2",
            "width": max(4, drawn[0]["width"]), "height": max(3, drawn[0]["height"]),
            "tilewidth": 10, "tileheight": 10, "orientation": "orthogonal", "infinite": infinite,
            "renderorder": "right-down", "nextlayerid": 9, "nextobjectid": 9,
            "layers": list(layers), "tilesets": [tileset],
        }  # fmt: skip
        path = tmp_path / "map.tmj"
        path.write_text(json.dumps(level))
        return tiled.load(path, **options)

    return load_layers


def traits(made: tiled.SolidBox | tiled.LevelObject) -> list[object]:
    """Return the components beside place and size."""
    return list(made.components()[2:])


@pytest.mark.parametrize(
    ("properties", "component"),
    [
        ({"one_way": True}, ec.OneWay((0, 1))),
        ({"one_way": "up"}, ec.OneWay((0, 1))),
        ({"one_way": "down"}, ec.OneWay((0, -1))),
        ({"one_way": "left"}, ec.OneWay((-1, 0))),
        ({"one_way": "right"}, ec.OneWay((1, 0))),
        ({"sensor": True}, ec.Sensor()),
        ({"carry": True}, ec.Carry()),
        ({"carry": -60.0}, ec.Carry((-60, 0))),
        ({"solid": True, "friction": 0.25}, ec.Friction(0.25)),
        ({"solid": True, "friction": 0.25, "friction_rule": "min"}, ec.Friction(0.25, "min")),
        ({"solid": True, "restitution": 0.5}, ec.Restitution(0.5)),
        (
            {"solid": True, "restitution": 0.5, "restitution_rule": "average"},
            ec.Restitution(0.5, "average"),
        ),
        ({"solid": True, "categories": 6}, ec.Filter(6)),
        ({"solid": True, "categories": "enemy", "mask": "player, enemy"}, ec.Filter(2, 3)),
        ({"solid": True, "mask": "all", "group": -4}, ec.Filter(group=-4)),
    ],
)
def test_tiles_layers_and_objects_say_what_kind_of_body_they_are(
    load: Load, properties: dict[str, Any], component: object
) -> None:
    names = {"player": PLAYER, "enemy": ENEMY}

    of_tile = load(tiles("1..."), tile={1: dict(properties)}, categories=names)
    of_layer = load(tiles("1...", **properties), categories=names)
    of_object = load(objects(thing(properties=custom(**properties))), categories=names)
    of_objects = load(objects(thing(), **properties), categories=names)

    for level in (of_tile, of_layer):
        assert [traits(box) for box in level.solids] == [[component]]
    for level in (of_object, of_objects):
        assert level.objects[0].solid
        assert traits(level.objects[0]) == [component]


def test_properties_that_say_no_say_nothing(load: Load) -> None:
    level = load(tiles("1..."), tile={1: {"one_way": False, "sensor": False, "carry": False}})

    assert level.solids == ()


def test_nearest_says_what_a_tile_is(load: Load) -> None:
    group = {
        "type": "group", "name": "g", "id": 5, "opacity": 1, "visible": True, "x": 0, "y": 0,
        "layers": [tiles("12..", sensor=False)], "properties": custom(sensor=True, friction=0.5),
    }  # fmt: skip

    level = load(group, tile={1: {"solid": True, "friction": 1.0}, 2: {"sensor": True}})

    assert [traits(box) for box in level.solids] == [
        [ec.Friction(1.0)],
        [ec.Sensor(), ec.Friction(0.5)],
    ]


def test_only_tiles_of_the_same_properties_and_type_merge(load: Load) -> None:
    #  1: plain   2: one-way   3: one-way too, of the same type   4: plain, of a type of its own
    level = load(
        tiles("1122 1123 4411"),
        tile={
            1: {"solid": True},
            2: {"one_way": True},
            3: {"one_way": True},
            4: {"solid": True, "type": "ice"},
        },
    )

    found = {(box.centre, box.half, box.type, len(box.traits)) for box in level.solids}
    assert found == {
        ((10.0, 20.0), (10.0, 10.0), "", 0),
        ((30.0, 20.0), (10.0, 10.0), "", 1),
        ((10.0, 5.0), (10.0, 5.0), "ice", 0),
        ((30.0, 5.0), (10.0, 5.0), "", 0),
    }


def test_hidden_layers_and_objects_count(load: Load) -> None:
    level = load(
        {**tiles("1...", solid=True), "visible": False},
        {**objects(thing(3, visible=False)), "visible": False},
    )

    assert (len(level.solids), len(level.objects)) == (1, 1)


def test_layer_of_platforms_over_a_layer_of_walls_keeps_both(load: Load) -> None:
    level = load(tiles("11..", solid=True), tiles(".11.", one_way=True))

    assert sorted((box.centre[0], len(box.traits)) for box in level.solids) == [(10, 0), (20, 1)]


def test_components_are_new_for_each_entity(load: Load) -> None:
    (box,) = load(tiles("1...", sensor=True, mask=2)).solids

    first, second = box.components(), box.components()

    assert len(first) == 4
    assert all(one is not other for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({"one_way": "north"}, r"one_way of .* is 'north' \(str\); .*bool, or one of up, down"),
        ({"one_way": 1}, r"one_way of .* is 1 \(int\)"),
        ({"sensor": "yes"}, r"sensor of .* is 'yes' \(str\); give it the type bool"),
        ({"carry": "fast"}, r"carry of .* is 'fast' \(str\); .*bool, or float"),
        ({"solid": "yes"}, r"solid of .* is 'yes' \(str\); give it the type bool"),
        ({"friction": -1.0}, r"properties of .* are wrong: Friction\(value=-1.0\)"),
        ({"restitution": 1.5}, r"properties of .* are wrong: Restitution\(value=1.5\)"),
        (
            {"friction": 1.0, "friction_rule": "worst"},
            r"properties of .* are wrong: Friction\(rule='worst'\) must be one of 'average'",
        ),
        ({"categories": -1}, r"properties of .* are wrong: Filter\(categories=-1\)"),
        ({"group": "red"}, r"properties of .* are wrong: Filter\(group='red'\)"),
        ({"mask": "player ghost"}, r"mask of .* is .*'ghost' is no category; .*\['player'\]"),
    ],
)
def test_property_that_says_nothing_is_refused_by_name(
    load: Load, properties: dict[str, Any], words: str
) -> None:
    properties = {"solid": True, **properties}
    names = {"player": PLAYER}

    with pytest.raises(ValueError, match=words.replace("of .*", "of tile 1 in layer 'tiles'", 1)):
        load(tiles("1..."), tile={1: dict(properties)}, categories=names)
    level = load(objects(thing(properties=custom(**properties))), categories=names)
    with pytest.raises(ValueError, match=words.replace("of .*", r"of object 7 \(no name\).*", 1)):
        level.create()


@pytest.mark.parametrize(
    "properties",
    [
        {"friction": "1.00"}, {"group": "enemies"}, {"mask": "iron"}, {"solid": "wood"},
        {"sensor": "motion"}, {"slope": 0.3}, {"restitution_rule": "strict"},
    ],
)  # fmt: skip
def test_words_of_ours_mean_nothing_in_an_object_that_is_no_body(
    load: Load, world: str, properties: dict[str, Any]
) -> None:
    level = load(
        objects(
            thing(1, type="npc", properties=custom(**properties)),
            thing(2, (0, 0), type="npc", point=True, properties=custom(**properties)),
            **properties,
        )
    )

    assert [dict(one.properties) for one in level.objects] == [properties] * 2
    assert level.create({"npc": None}) == []


@pytest.mark.parametrize(
    "properties", [{"slope": 45}, {"sensor": "door"}, {"carry": "rope"}, {"one_way": "north"}]
)
def test_words_of_ours_with_another_meaning_make_no_body_and_are_reported(
    load: Load, properties: dict[str, Any]
) -> None:
    layer, tile = tiles("1.2."), {1: properties, 2: {"solid": True}}
    (word,) = properties

    with pytest.warns(UserWarning, match=rf"tile 1 in layer 'tiles' .* the property {word} of"):
        level = load(layer, tile=tile)

    assert [box.centre for box in level.solids] == [(25, 25)]
    assert level.tile_at((5, 25)).properties == properties
    with pytest.raises(ValueError, match=rf"map\.tmj: tile 1 in layer 'tiles' .*property {word}"):
        load(layer, tile=tile, no_box="refuse")


def test_named_category_without_names_says_how_to_give_them(load: Load) -> None:
    with pytest.raises(ValueError, match=r"load\(categories=\{name: bit"):
        load(tiles("1...", solid=True, mask="player"))


class Coin:
    """Is collected."""


class Worth:
    """Says how much."""

    def __init__(self, points: int) -> None:
        self.points = points


class Place(NamedTuple):
    """A component that is a tuple too."""

    row: int
    column: int


@pytest.mark.parametrize(
    ("entry", "types"),
    [
        (Coin, {Coin}),
        ((ec.Sensor, Coin), {ec.Sensor, Coin}),
        (lambda coin: Worth(coin.properties["worth"]), {Worth}),
        (lambda coin: [Coin(), ec.Sensor()], {Coin, ec.Sensor}),
        ([Coin, lambda coin: (ec.Velocity(0, 0), ec.Stop())], {Coin, ec.Velocity, ec.Stop}),
        (lambda coin: (part() for part in (Coin, ec.Stop)), {Coin, ec.Stop}),
        (lambda coin: Place(1, 2), {Place}),
    ],
    ids=[
        "class", "classes", "function", "function of several", "mixed", "generator", "named tuple",
    ],
)  # fmt: skip
def test_table_gives_each_type_its_components(
    load: Load, world: str, entry: Any, types: set[type]
) -> None:
    level = load(objects(thing(type="coin", properties=custom(worth=5))))

    ((source, entity),) = level.create({"coin": entry})

    assert source is level.objects[0]
    found = {type(part): part for part in esper.components_for_entity(entity)}
    assert set(found) == {ec.Position, ec.Extents, *types}
    assert Worth not in found or found[Worth].points == 5


@pytest.mark.parametrize("entry", [None, lambda coin: None], ids=["None", "function"])
def test_table_leaves_a_type_out(load: Load, world: str, entry: Any) -> None:
    level = load(objects(thing(type="coin")))

    assert level.create({"coin": entry}) == []
    assert list(esper.get_component(ec.Position)) == []


@pytest.mark.parametrize("entry", [Coin(), (Coin, ec.Velocity(1, 0))], ids=["one", "among others"])
def test_component_in_the_table_is_refused(load: Load, world: str, entry: Any) -> None:
    level = load(objects(thing(type="coin")))

    with pytest.raises(TypeError, match=r"the table has .* for 'coin'; .* lambda thing: Component"):
        level.create({"coin": entry})


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (lambda coin: (ec.Sensor, Coin()), "Sensor'>, which is no component"),
        (lambda coin: [Sized], "Sized'>, which is no component"),
        (lambda coin: 5, "5, which is no component"),
        (lambda coin: [None], "None, which is no component"),
        (lambda coin: {"worth": 5}, "'worth': 5}, which is no component"),
        (lambda coin: lambda: Coin(), "<lambda> .*, which is no component"),
    ],
    ids=["class", "abstract", "number", "None", "dict", "function"],
)
def test_what_is_no_component_is_refused_with_type_and_object(
    load: Load, world: str, entry: Any, words: str
) -> None:
    level = load(tiles("1...", solid=True), objects(thing(type="coin")))

    with pytest.raises(TypeError, match=rf"'coin', for object 7 .* in layer 'things', .*{words}"):
        level.create({"coin": entry})
    assert list(esper.get_component(ec.Position)) == []


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        (lambda coin: Worth(coin.properties["worth"]), KeyError),
        (ec.Position, TypeError),
        ((Coin, lambda: Coin()), TypeError),
        (lambda coin: (part for part in 5), TypeError),
    ],
    ids=["function", "constructor", "no argument", "generator"],
)
def test_errors_of_the_table_keep_their_class_and_name_type_and_object(
    load: Load, world: str, entry: Any, error: type[Exception]
) -> None:
    walls = tiles("1...", solid=True)
    level = load(walls, objects(thing(type="coin")), tile={1: {"type": "w"}})

    with pytest.raises(error) as info:
        level.create({"coin": entry, "w": ()})
    (note,) = info.value.__notes__
    assert note.startswith("the component of the table for 'coin', for object 7 ")
    with pytest.raises(ZeroDivisionError) as info:
        level.create({"coin": None, "w": lambda wall: Worth(1 // 0)})
    (note,) = info.value.__notes__
    assert note.startswith(
        "the component of the table for 'w', for the box of tiles around (5.0, 25.0)"
    )
    assert list(esper.get_component(ec.Position)) == []


def test_table_that_is_no_mapping_is_refused(load: Load) -> None:
    with pytest.raises(TypeError, match=r"table=.* must map types"):
        load().create([("coin", Coin)])  # type: ignore[arg-type]


def test_component_of_the_table_comes_before_that_of_the_properties(load: Load, world: str) -> None:
    level = load(objects(thing(type="belt", properties=custom(carry=10.0))))

    ((_, belt),) = level.create({"belt": lambda belt: ec.Carry((20, 0))})

    assert esper.component_for_entity(belt, ec.Carry).surface == (20, 0, 0)


def test_unknown_type_is_refused_before_anything_is_made(load: Load, world: str) -> None:
    level = load(
        tiles("1...", solid=True), objects(thing(type="coin"), thing(8, type="coyn"), solid=True)
    )

    with pytest.raises(ValueError, match=r"object 8 .* 'coyn', which .* has \['coin'\]"):
        level.create({"coin": Coin})

    assert list(esper.get_component(ec.Position)) == []
    assert len(level.create({"coin": Coin}, unknown="skip")) == 2
    with pytest.raises(ValueError, match="unknown='perhaps'"):
        level.create({}, unknown="perhaps")  # type: ignore[arg-type]


def test_objects_without_type_are_bodies_where_they_say_so(load: Load, world: str) -> None:
    level = load(objects(thing(1), thing(2, properties=custom(solid=True))), objects(thing(3)))

    assert [source.id for source, _ in level.create()] == [2]
    assert [source.id for source, _ in level.create({"": Coin})] == [1, 2, 3]
    assert [source.id for source, _ in load(objects(thing(4), solid=True)).create()] == [4]


def test_tiles_need_no_place_in_the_table_and_may_have_one(load: Load, world: str) -> None:
    level = load(tiles("11.2", solid=True), tile={2: {"type": "spikes"}})

    made = level.create({"spikes": Coin})

    assert [(box.type, esper.has_component(entity, Coin)) for box, entity in made] == [
        ("", False),
        ("spikes", True),
    ]
    assert len(level.create()) == 2


@pytest.mark.parametrize(
    ("entry", "is_fixed"),
    [
        (Coin, True),
        (lambda box: (Coin(), ec.Friction(0.5)), True),
        ((Coin, ec.Fixed), True),
        ((Coin, lambda box: ec.Velocity(1, 0)), False),
        (lambda box: ec.Growth(1, 0), False),
        (lambda box: ec.Attached(1), False),
        (ec.Deflect, False),
        (ec.Push, False),
        (ec.Slide, False),
        (ec.Stop, False),
    ],
)
def test_tiles_of_the_table_are_fixed_unless_it_moves_them(
    load: Load, world: str, entry: Any, is_fixed: bool
) -> None:
    level = load(tiles("11", solid=True), tile={1: {"type": "stone"}})

    ((_, created),) = level.create({"stone": entry})
    assert esper.has_component(created, ec.Fixed) is is_fixed

    level.set_cell(1, 0)
    (rebuilt,) = (entity for entity, _ in esper.get_component(ec.Extents) if entity != created)
    assert esper.has_component(rebuilt, ec.Fixed) is is_fixed


def test_point_becomes_a_body_with_extents_of_the_table_only(load: Load, world: str) -> None:
    level = load(objects(thing(4, (0, 0), name="a", type="start", x=5, y=10, point=True)))

    with pytest.raises(ValueError, match=r"4 \(a\) .* because it is a point: .*'start' Extents$"):
        level.create({"start": Coin})
    ((_, hero),) = level.create({"start": lambda start: (ec.Extents(8, 16), ec.Slide())})

    parts = esper.components_for_entity(hero)
    assert parts == (ec.Position(5, 20), ec.Extents(8, 16), ec.Slide())


def test_lift_follows_the_line_that_its_property_names(load: Load, world: str) -> None:
    line = [{"x": 0, "y": 0}, {"x": 0, "y": -10}, {"x": 20, "y": -10}]
    level = load(
        objects(
            thing(1, (8, 2), x=6, y=19, type="lift", properties=custom(route="shaft", speed=60.0)),
            thing(2, (0, 0), x=10, y=20, name="shaft", polyline=line),
        )
    )
    assert level.named("shaft").points == ((10, 10), (10, 20), (30, 20))
    ((_, lift),) = level.create(
        {
            "lift": lambda lift: (
                *(ec.Velocity(0, 0), ec.Carry()),
                Route(level.named(lift.properties["route"]).points, lift.properties["speed"]),
            )
        }
    )
    ec.install()

    for _ in range(25):
        esper.process(1 / 60)

    assert esper.component_for_entity(lift, ec.Position).xy == pytest.approx((25, 20))


@pytest.mark.parametrize(
    ("shape", "word"),
    [
        ({"ellipse": True}, "is an ellipse"),
        ({"polygon": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]}, "is a polygon"),
        ({"polyline": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]}, "is a polyline"),
        ({"rotation": 30}, "is rotated by 30 degrees"),
    ],
)
def test_object_that_is_no_box_becomes_a_body_with_extents_of_the_table_only(
    load: Load, world: str, shape: dict[str, Any], word: str
) -> None:
    level = load(objects(thing(4, name="a", type="rock", **shape)))

    (rock,) = level.objects
    assert rock.fault.startswith(word)
    assert rock.points[0] == (0, 30)
    assert len(rock.points) == (2 if "poly" in word else 4)
    assert ec.Extents not in map(type, rock.components())
    with pytest.raises(ValueError, match=rf"object 4 \(a\) .* because it {word}.*'rock' Extents$"):
        level.create({"rock": Coin})
    assert list(esper.get_component(ec.Position)) == []
    assert len(level.create({"rock": lambda rock: ec.Extents(3, 4)})) == 1


def test_word_for_objects_that_are_no_boxes_is_one_of_three(load: Load) -> None:
    with pytest.raises(ValueError, match="no_box='ignore' must be 'warn', 'skip' or 'refuse'"):
        load(no_box="ignore")


def test_chunks_of_an_infinite_map_merge_over_their_seams_and_below_zero(load: Load) -> None:
    layer = {**tiles("....", solid=True), "startx": -2, "starty": -2}
    del layer["data"]
    layer["chunks"] = [
        {"x": x, "y": y, "width": 2, "height": 2, "data": [1, 1, 1, 1]}
        for x, y in ((-2, -2), (0, -2), (2, 4))
    ]

    level = load(layer, infinite=True)

    assert [(box.centre, box.half) for box in level.solids] == [
        ((0.0, 40.0), (20.0, 10.0)),
        ((30.0, -20.0), (10.0, 10.0)),
    ]
    assert level.bounds == ((-20.0, -30.0), (40.0, 50.0))


def test_hero_plays_a_level_of_all_kinds(load: Load, world: str) -> None:
    level = load(
        #   the hero falls on the belt, which takes it over the coin and off to the right
        tiles("5... .... 1122"),
        objects(
            thing(1, (0, 0), type="start", x=5, y=11, point=True),
            thing(2, (2, 4), type="coin", x=24, y=15),
            thing(3, (4, 30), x=36, y=0, properties=custom(solid=True)),
        ),
        tile={1: {"carry": 30.0}, 2: {"solid": True, "friction": 0.0}},
    )
    coins: list[int] = []
    made = level.create(
        {
            "start": lambda start: (ec.Extents(2, 4), ec.Velocity(0, 0), ec.Slide()),
            "coin": (ec.Sensor, Coin),
        }
    )
    hero = next(entity for source, entity in made if source.type == "start")
    space = ec.install()
    space.on_collision(lambda event: coins.append(event.other(hero)), Coin)

    for _ in range(180):
        esper.component_for_entity(hero, ec.Velocity).y -= 200 / 60
        esper.process(1 / 60)

    assert esper.component_for_entity(hero, ec.Position).xy == (34.0, 14.0)
    assert [entity for source, entity in made if source.type == "coin"] == coins
