"""Shapes of tiles lie where Tiled draws the tile: flipped, scaled, moved and turned."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.levels import tiled
from tests.levels.tiled_maps import new_xml

CELL = 16
SHAPE = (1.0, 2.0, 4.0, 10.0)  # left, top, width and height in the picture
X, Y, DIAGONAL = 1 << 31, 1 << 30, 1 << 29
EIGHT = [x | y | diagonal for x in (0, X) for y in (0, Y) for diagonal in (0, DIAGONAL)]
SIZES = [(16, 16), (32, 16), (12, 40), (8, 8)]
Load = Callable[..., tiled.Level]
Rect = tuple[float, float, float, float]


def drawn(
    rect: Rect,
    size: tuple[float, float],
    gid: int,
    scaled: tuple[float, float],
    offset: tuple[float, float] = (0, 0),
    fits: bool = False,
) -> Rect:
    """Return left, bottom, right and top of a part of a picture, upwards from its lower left.

    The steps are those of Tiled's manual: the picture is scaled, flipped along its diagonal, then
    across and along, and stands with its lower left corner at the place, moved by the offset.
    """
    (left, top, wide, high), (width, height) = rect, scaled
    by_x, by_y = width / size[0], height / size[1]
    if fits:
        by_x = by_y = min(by_x, by_y)
    x0 = left * by_x + (width - size[0] * by_x) / 2  # in the middle of the scaled picture
    y0 = top * by_y + (height - size[1] * by_y) / 2
    xs, ys = [x0, x0 + wide * by_x], [y0, y0 + high * by_y]
    if gid & DIAGONAL:
        xs, ys, width, height = ys, xs, height, width
    if gid & X:
        xs = [width - x for x in xs]
    if gid & Y:
        ys = [height - y for y in ys]
    ups = [height - y for y in ys]
    right, down = offset[0] * by_x, offset[1] * by_y
    return min(xs) + right, min(ups) - down, max(xs) + right, max(ups) - down


def sheet(size: tuple[int, int], **more: Any) -> dict[str, Any]:
    """Return a tileset of one tile with a shape."""
    x, y, wide, high = SHAPE
    shape = {"id": 1, "x": x, "y": y, "width": wide, "height": high}
    tile = {"id": 0, "objectgroup": {"type": "objectgroup", "objects": [shape]}}
    stated = {"firstgid": 1, "name": "t", "tilewidth": size[0], "tileheight": size[1]}
    return {**stated, "tiles": [tile], **more}


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that loads a map of 4 x 4 cells with a tileset and layers."""

    def load_map(tileset: dict[str, Any], *layers: dict[str, Any], **options: Any) -> tiled.Level:
        root = {
            "width": 4, "height": 4, "tilewidth": CELL, "tileheight": CELL,
            "orientation": "orthogonal", "tilesets": [tileset], "layers": list(layers),
        }  # fmt: skip
        path = tmp_path / "map.tmx"
        path.write_text(new_xml(root))
        return tiled.load(path, **options)

    return load_map


def tile_layer(gid: int, column: int = 1, row: int = 2, **more: Any) -> dict[str, Any]:
    data = [gid if n == 4 * row + column else 0 for n in range(16)]
    return {"type": "tilelayer", "name": "l", "width": 4, "height": 4, "data": data, **more}


def object_layer(**thing: Any) -> dict[str, Any]:
    return {"type": "objectgroup", "name": "o", "objects": [{"id": 1, **thing}]}


def corners(box: tiled.SolidBox | tiled.LevelObject) -> Rect:
    (x, y), (wide, high) = box.centre, box.half
    return x - wide, y - high, x + wide, y + high


def moved(rect: Rect, x: float, y: float) -> Rect:
    return rect[0] + x, rect[1] + y, rect[2] + x, rect[3] + y


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("flips", EIGHT)
def test_shape_turns_with_its_tile_from_the_lower_left_corner_of_the_cell(
    load: Load, size: tuple[int, int], flips: int
) -> None:
    (box,) = load(sheet(size), tile_layer(1 + flips)).solids

    assert corners(box) == moved(drawn(SHAPE, size, flips, size), 16, 16)


@pytest.mark.parametrize("fits", [False, True])
@pytest.mark.parametrize("flips", EIGHT)
def test_shape_is_scaled_and_moved_with_the_drawing(load: Load, flips: int, fits: bool) -> None:
    words = {"fillmode": "preserve-aspect-fit"} if fits else {}
    words |= {"tilerendersize": "grid"}
    for size in SIZES:
        tileset = sheet(size, tileoffset={"x": 4, "y": -8}, **words)
        layer = tile_layer(1 + flips, offsetx=100, offsety=0.5)

        (box,) = load(tileset, layer).solids

        right = drawn(SHAPE, size, flips, (CELL, CELL), (4, -8), fits)
        assert corners(box) == pytest.approx(moved(right, 116, 15.5), abs=1e-12)


def test_single_picture_has_its_own_size_and_may_show_a_part_of_it(load: Load) -> None:
    tall = {"image": "a.png", "imagewidth": 20, "imageheight": 40}
    for more, size in ((tall, (20, 40)), ({**tall, "x": 2, "width": 10, "height": 30}, (10, 30))):
        tileset = sheet((64, 64))
        tileset["tiles"][0] |= more

        (box,) = load(tileset, tile_layer(1)).solids

        assert corners(box) == moved(drawn(SHAPE, size, 0, size), 16, 16)


def test_first_versions_of_tiled_began_a_layer_at_any_cell(load: Load) -> None:
    (box,) = load(sheet((16, 16)), tile_layer(1, 0, 0, x=2, y=1)).solids

    assert corners(box) == moved(drawn(SHAPE, (16, 16), 0, (16, 16)), 32, 32)


@pytest.mark.parametrize(
    ("alignment", "x", "y"),
    [("unspecified", 0, 1), ("topleft", 0, 0), ("center", 0.5, 0.5), ("bottomright", 1, 1)],
)
@pytest.mark.parametrize("flips", EIGHT)
def test_tile_object_has_the_shape_of_its_tile_scaled_to_its_size(
    load: Load, alignment: str, x: float, y: float, flips: int
) -> None:
    size, scaled = (32, 16), (48, 8)
    tileset = sheet(size, objectalignment=alignment, tileoffset={"x": 2, "y": 4})
    layer = object_layer(gid=1 + flips, x=10, y=20, width=scaled[0], height=scaled[1])

    (found,) = load(tileset, layer).objects

    left, bottom = 10 - x * scaled[0], 64 - (20 - y * scaled[1] + scaled[1])
    assert corners(found) == moved(drawn(SHAPE, size, flips, scaled, (2, 4)), left, bottom)
    assert (found.shape, found.fault, found.solid) == ("tile", "", True)
    left, bottom, right, top = moved(
        drawn((0, 0, *size), size, flips, scaled, (2, 4)), left, bottom
    )
    assert set(found.points) == {(a, b) for a in (left, right) for b in (bottom, top)}


@pytest.mark.parametrize("turn", [90, 180, 270, -90])
def test_tile_object_is_turned_around_its_place(load: Load, turn: int) -> None:
    layer = object_layer(gid=1, x=30, y=40, width=16, height=16, rotation=turn)

    (found,) = load(sheet((16, 16)), layer).objects

    left, bottom, right, top = drawn(SHAPE, (16, 16), 0, (16, 16))
    cos, sin = round(math.cos(math.radians(turn))), round(math.sin(math.radians(turn)))
    ends = [(cos * x + sin * y, cos * y - sin * x) for x, y in ((left, bottom), (right, top))]
    (x0, y0), (x1, y1) = ends
    right_box = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    assert corners(found) == moved(right_box, 30, 64 - 40)


def test_tile_object_turned_by_another_angle_is_no_box_and_keeps_its_outline(load: Load) -> None:
    plain = sheet((16, 16), tiles=[])
    layer = object_layer(gid=1, x=16, y=32, width=16, height=16, rotation=45)

    (found,) = load(plain, layer).objects

    assert found.fault == "is rotated by 45 degrees"
    side = 16 / math.sqrt(2)
    right = [(16, 32), (16 + side, 32 - side), (16 + side, 32 + side), (16 + 2 * side, 32)]
    for point, other in zip(sorted(found.points), right, strict=True):
        assert point == pytest.approx(other)


def test_tile_object_without_shapes_is_the_box_of_its_picture(load: Load) -> None:
    layer = object_layer(gid=1 + DIAGONAL, x=16, y=64, width=32, height=16)

    (found,) = load(sheet((32, 16), tiles=[]), layer).objects

    assert corners(found) == (16, 0, 32, 32)
    assert not found.solid


def test_shape_in_an_isometric_grid_is_no_box(load: Load) -> None:
    tileset = sheet((16, 16), grid={"orientation": "isometric", "width": 16, "height": 8})

    with pytest.warns(UserWarning, match="in the isometric grid of its tileset"):
        assert load(tileset, tile_layer(1)).solids == ()


def two_shapes() -> dict[str, Any]:
    """Return a tileset of a tile with two boxes, of which the right one is a sensor."""
    tileset = sheet((16, 16))
    shapes = tileset["tiles"][0]["objectgroup"]["objects"]
    shapes.append({**shapes[0], "id": 2, "x": 9, "properties": {"sensor": True}})
    return tileset


def test_tile_object_without_type_is_a_body_for_each_shape_of_its_tile(
    load: Load, world: str
) -> None:
    left, right = drawn(SHAPE, (16, 16), 0, (16, 16)), drawn((9, *SHAPE[1:]), (16, 16), 0, (16, 16))
    layer = object_layer(gid=1, x=16, y=64, name="house")

    level = load(two_shapes(), layer)

    assert [corners(one) for one in level.objects] == [moved(box, 16, 0) for box in (left, right)]
    assert level.named("house") is level.objects[0]
    assert [ec.Sensor() in one.components() for one in level.objects] == [False, True]
    assert len(level.create()) == 2


def test_tile_object_with_a_type_and_several_shapes_is_one_object_and_no_box(
    load: Load, world: str
) -> None:
    level = load(two_shapes(), object_layer(gid=1, x=16, y=64, type="house"))

    (house,) = level.objects
    assert house.fault == "has a tile with 2 shapes, and a body is one box"
    assert corners(house) == (17, 4, 29, 14)
    with pytest.raises(ValueError, match=r"it has a tile with 2 shapes, .* give 'house' Extents"):
        level.create({"house": ec.Fixed})


def test_shape_of_a_tile_object_that_is_no_box_is_left_out(load: Load) -> None:
    tileset = sheet((16, 16))
    tileset["tiles"][0]["objectgroup"]["objects"][0]["ellipse"] = True

    with pytest.warns(UserWarning, match="is an ellipse"):
        level = load(tileset, object_layer(gid=1, x=0, y=16))
    assert "is an ellipse" in level.objects[0].fault
    assert not level.objects[0].solid
    assert load(tileset, object_layer(gid=1, x=0, y=16, type="tree")).objects[0].fault


def test_tile_object_has_the_properties_of_the_shape_before_those_of_the_tile(load: Load) -> None:
    tileset = sheet((16, 16))
    tile = tileset["tiles"][0]
    tile["properties"] = {"friction": 0.5, "restitution": 0.5, "kind": "a"}
    tile["objectgroup"]["objects"][0]["properties"] = {"friction": 0.25, "restitution": 0.25}
    layer = object_layer(gid=1, x=0, y=16, properties={"restitution": 1.0})

    (found,) = load(tileset, layer).objects

    assert found.components()[2:] == (ec.Friction(0.25), ec.Restitution(1.0))
    assert found.properties["kind"] == "a"


def test_objects_without_type_whose_tiles_have_a_shape_are_bodies(load: Load, world: str) -> None:
    layer = object_layer(gid=1, x=0, y=16)
    off = object_layer(gid=1, x=0, y=16, properties={"solid": False})

    assert len(load(sheet((16, 16)), layer).create()) == 1
    assert load(sheet((16, 16)), off).create() == []


@pytest.mark.parametrize("y_down", [False, True])
def test_ramp_is_the_same_on_the_screen_whichever_way_y_grows(
    load: Load, world: str, y_down: bool
) -> None:
    #
    #     o          o falls onto the middle of the ramp
    #    . . /
    #    . / #
    #
    ramp = sheet((16, 16))
    (shape,) = ramp["tiles"][0]["objectgroup"]["objects"]
    points = [{"x": x, "y": y} for x, y in ((0, 16), (16, 0), (16, 16))]
    shape |= {"x": 0, "y": 0, "polygon": points}
    level = load(ramp, tile_layer(1, 1, 3), y_down=y_down)
    level.create()
    body = ec.Extents(2, 2), ec.Velocity(0, 0), ec.Stop()
    entity = esper.create_entity(ec.Position(*level.to_world(24, 20)), *body)
    ec.install(gravity=(0, 900 if y_down else -900))

    for _ in range(60):
        esper.process(1 / 60)

    place = esper.component_for_entity(entity, ec.Position).xy
    # Its lower right corner rests on the line, which is 6 below the top at x = 26.
    x, y = level.to_world(24, 48 + 6 - 2)
    assert place == pytest.approx((x, y), abs=1e-6)
