"""The shapes of Tiled's tile collision editor become bodies."""

from __future__ import annotations

from math import inf
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from tests.levels.test_tiled_bodies import Load, custom, load, objects, thing, tiles, traits
from tests.levels.tiled_maps import corners

__all__ = ["load"]  # the fixture


def shape(x: float, y: float, width: float, height: float, **more: Any) -> dict[str, Any]:
    return {**thing(1, (width, height), **more), "x": x, "y": y}


SLAB = {"shapes": [shape(0, 6, 10, 4)]}


def test_tile_with_a_shape_is_that_box_and_slabs_in_a_row_merge(load: Load) -> None:
    #
    #   .  .  .  .
    #   .  _  _  .      a slab is 4 of 10 high
    #   _  .  .  .
    #
    level = load(tiles(".... .11. 1..."), tile={1: SLAB})

    assert corners(level) == {(10, 10, 30, 14), (0, 0, 10, 4)}


def test_slabs_above_each_other_do_not_merge_and_posts_do(load: Load) -> None:
    post = {"shapes": [shape(3, 0, 4, 10)]}

    level = load(tiles("1... 1... 2222"), tile={1: post, 2: post})

    assert corners(level) == {(3, 0, 7, 30), (13, 0, 17, 10), (23, 0, 27, 10), (33, 0, 37, 10)}


def test_shape_that_fills_the_tile_merges_with_solid_tiles(load: Load) -> None:
    full = {"shapes": [shape(0, 0, 10, 10)]}

    level = load(tiles(".... .... 1212"), tile={1: full, 2: {"solid": True}})

    assert corners(level) == {(0, 0, 40, 10)}


def test_shape_has_properties_of_its_own_and_of_its_tile(load: Load) -> None:
    plank = shape(0, 0, 10, 2, properties=custom(one_way=True), type="plank")
    tile = {"friction": 0.5, "type": "crate", "shapes": [plank, shape(0, 2, 10, 8)]}

    level = load(tiles(".... .... 1..."), tile={1: tile})

    made = {box.type: traits(box) for box in level.solids}
    assert made == {
        "plank": [ec.OneWay((0, 1)), ec.Friction(0.5)],
        "crate": [ec.Friction(0.5)],
    }


def test_tile_that_is_not_solid_has_no_bodies_of_shapes_either(load: Load) -> None:
    assert not load(tiles(".... .... 11.."), tile={1: {**SLAB, "solid": False}}).solids
    assert not load(tiles(".... .... 11..", solid=False), tile={1: SLAB}).solids


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"polygon": [{"x": 0, "y": 10}, {"x": 5, "y": 0}, {"x": 10, "y": 10}]}, "is a polygon"),
        ({"ellipse": True}, "is an ellipse"),
        ({"rotation": 45}, "is rotated by 45 degrees"),
        ({"polyline": [{"x": 0, "y": 0}, {"x": 10, "y": 10}]}, "is a polyline"),
        ({"width": 0, "height": 0, "point": True}, "is a point"),
    ],
)
def test_shape_that_is_no_box_is_reported_by_name_where_its_tile_is_used(
    load: Load, wrong: dict[str, Any], word: str
) -> None:
    tile = {1: {"solid": True, "shapes": [{**shape(0, 0, 6, 6, name="edge"), **wrong}]}}

    with pytest.raises(ValueError, match=rf"shape 1 \(edge\) of tile 1 in layer 'tiles' {word}"):
        load(tiles(".... .... 1..."), tile=tile, no_box="refuse")
    with pytest.warns(UserWarning, match=rf"map\.tmj: .* 1, the first: shape 1 .*edge.* {word}"):
        assert load(tiles(".... .... 1..."), tile=tile).skipped
    level = load(tiles(".... .... 1..."), tile=tile, no_box="skip")

    assert corners(level) == {(0, 0, 10, 10)}  # as without shapes
    (skipped,) = level.skipped
    assert str(skipped).startswith(f"shape 1 (edge) of tile 1 in layer 'tiles' {word}")
    assert load(tiles(".... .... 2..."), tile=tile).skipped == ()


def test_points_of_a_skipped_shape_are_those_of_its_tile(load: Load) -> None:
    ring = [{"x": 0, "y": 10}, {"x": 5, "y": 0}, {"x": 10, "y": 10}]
    tile = {1: {"shapes": [shape(0, 0, 0, 0, polygon=ring)]}}

    level = load(tiles(".... .... 1..."), tile=tile, no_box="skip")

    assert level.skipped[0].points == ((0, 10), (5, 0), (10, 10))


def polygon(*points: tuple[float, float]) -> dict[str, Any]:
    return shape(0, 0, 0, 0, polygon=[{"x": x, "y": y} for x, y in points])


@pytest.mark.parametrize(
    ("points", "slope", "box"),
    [
        ([(0, 10), (10, 0), (10, 10)], ec.Slope("right"), (0, 0, 10, 10)),
        ([(0, 0), (10, 10), (0, 10)], ec.Slope("left"), (0, 0, 10, 10)),
        ([(0, 0), (10, 0), (0, 10)], ec.Slope("right", ceiling=True), (0, 0, 10, 10)),
        ([(0, 0), (10, 0), (10, 10)], ec.Slope("left", ceiling=True), (0, 0, 10, 10)),
        ([(0, 10), (10, 5), (10, 10)], ec.Slope("right"), (0, 0, 10, 5)),
        ([(0, 5), (10, 0), (10, 10), (0, 10)], ec.Slope("right", low=0.5), (0, 0, 10, 10)),
        ([(2, 0), (8, 0), (8, 3), (2, 9)], ec.Slope("right", 0, 2 / 3, True), (2, 1, 8, 10)),
    ],
)
def test_right_triangle_and_the_tiles_of_a_longer_ramp_are_slopes(
    load: Load, points: Any, slope: ec.Slope, box: tuple[float, ...]
) -> None:
    for ring in (points, points[1:] + points[:1], points[::-1]):
        level = load(
            tiles(".... .... 1..."), objects(polygon(*ring)), tile={1: {"shapes": [polygon(*ring)]}}
        )

        assert corners(level) == {box}
        assert traits(level.solids[0]) == [slope]
        assert traits(level.objects[0]) == [slope]


@pytest.mark.parametrize(
    ("flips", "slope"),
    [
        (1 << 31, ec.Slope("left")),
        (1 << 30, ec.Slope("left", ceiling=True)),
        ((1 << 31) + (1 << 30), ec.Slope("right", ceiling=True)),
    ],
)
def test_slope_is_flipped_with_its_tile(load: Load, flips: int, slope: ec.Slope) -> None:
    layer = tiles(".... .... 1...")
    layer["data"][8] += flips
    shape = polygon((0, 10), (10, 0), (10, 10))

    (box,) = load(layer, tile={1: {"shapes": [shape]}}).solids

    assert traits(box) == [slope]


def test_character_walks_over_a_hill_of_tiles_that_then_loses_its_ramp(
    load: Load, world: str
) -> None:
    #
    #   . . / # # # . .
    #   # # # # # # # #
    #
    ramp = {"shapes": [polygon((0, 10), (10, 0), (10, 10))], "type": "ramp"}
    level = load(tiles("........ ..1222.. 22222222"), tile={1: ramp, 2: {"solid": True}})
    level.create({"ramp": ec.Fixed})
    character = Character(walk_speed=60, acceleration=inf, deceleration=inf, step_height=0)
    body = ec.Position(5, 15), ec.Extents(2, 5), ec.Velocity(0, 0), ec.Slide(), character
    hero = esper.create_entity(*body)
    ec.install(gravity=(0, -900))
    place = esper.component_for_entity(hero, ec.Position)
    character.walk = 1
    for _ in range(50):
        esper.process(1 / 60)
    assert place.x > 40
    assert place.y == 25

    character.walk = -1
    level.set_cell(2, 1)  # there is a cliff now
    for _ in range(35):
        esper.process(1 / 60)
    assert place.y == 15
    assert level.tile_at((25, 15)) is None


@pytest.mark.parametrize("at", range(6))
def test_polygon_that_is_a_rectangle_is_a_box(load: Load, at: int) -> None:
    ring = [(2, 1), (8, 1), (8, 4), (8, 9), (2, 9), (2, 5)]
    turned = [*ring[at:], *ring[:at]][:: -1 if at % 2 else 1]
    polygon = [{"x": x, "y": y} for x, y in turned]

    level = load(
        tiles(".... .... 1..."),
        objects(shape(10, 10, 0, 0, polygon=polygon)),
        tile={1: {"shapes": [shape(0, 0, 0, 0, polygon=polygon)]}},
    )

    assert corners(level) == {(2, 1, 8, 9)}
    (box,) = level.objects
    assert (box.centre, box.half) == ((15, 15), (3, 4))


@pytest.mark.parametrize(
    "ring",
    [
        [(0, 0), (4, 0), (4, 4), (2, 2), (0, 4)],
        [(0, 0), (4, 4), (4, 0), (0, 4)],
        [(0, 0), (4, 0), (4, 0), (0, 0)],
        [(0, 0), (4, 1), (4, 4), (0, 3)],
    ],
)
def test_polygon_that_is_no_rectangle_is_no_box(load: Load, ring: list[tuple[int, int]]) -> None:
    polygon = [{"x": x, "y": y} for x, y in ring]

    (found,) = load(objects(shape(10, 10, 0, 0, polygon=polygon))).objects

    assert found.fault.startswith("is a polygon")
    assert found.points == tuple((10 + x, 20 - y) for x, y in ring)
