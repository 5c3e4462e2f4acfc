"""Levels whose tiles change: the boxes follow the cells, and only those that a change touches."""

from __future__ import annotations

import random
import re
import struct
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.levels.cells import Place
from ecs_collide.levels.changes import Cells
from tests.levels.test_tiled_bodies import Load, load, objects, thing, tiles
from tests.scenes import another_world
from tests.volume import Volume

__all__ = ["load"]  # the fixture

EARTH = {1: {"solid": True, "type": "earth"}, 2: {"solid": True, "type": "stone"}, 3: {}}


@pytest.fixture
def space(world: str) -> ec.Space:
    return ec.install(gravity=(0, -500))


def boxes() -> dict[int, tuple[float, ...]]:
    """Return left, bottom, right and top of all bodies by entity."""
    return {
        entity: (*(at - half for at, half in zip(place.xy, size.xy, strict=True)),
                 *(at + half for at, half in zip(place.xy, size.xy, strict=True)))
        for entity, (place, size) in esper.get_components(ec.Position, ec.Extents)
        if esper.entity_exists(entity)
    }  # fmt: skip


def covered() -> list[tuple[float, float]]:
    """Return the lower left corners of all cells of 10 x 10 in boxes, sorted."""
    return sorted(
        (x, y)
        for left, bottom, right, top in boxes().values()
        for x in range(round(left), round(right), 10)
        for y in range(round(bottom), round(top), 10)
    )


def test_tile_that_is_broken_splits_its_box_and_leaves_the_others(load: Load, space: Any) -> None:
    #
    #   #  .  #  #         #  .  #  #
    #   .  .  .  .    ->   .  .  .  .
    #   #  #  #  #         #  .  #  #
    #
    level = load(tiles("1.11 .... 1111"), tile=EARTH)
    first, second, floor = (entity for _, entity in level.create())

    level.set_cell(1, 2)

    assert set(boxes().values()) == {
        (0, 20, 10, 30), (20, 20, 40, 30), (0, 0, 10, 10), (20, 0, 40, 10),
    }  # fmt: skip
    assert {first, second} < boxes().keys()
    assert not esper.entity_exists(floor)


def test_tile_that_is_placed_joins_its_neighbours(load: Load, space: Any) -> None:
    level = load(tiles("1.11 .... 1111"), tile=EARTH)
    (_, floor) = level.create()[-1]

    level.set_cell(1, 0, 1)

    assert set(boxes().values()) == {(0, 20, 40, 30), (0, 0, 40, 10)}
    assert esper.entity_exists(floor)
    ((_, cells),) = esper.get_component(Cells)
    assert cells.changes == {(0, 1, 0): 1}
    level.set_cell(1, 0)
    assert cells.changes == {}  # as in the file


def test_cells_outside_of_a_finite_map_may_only_be_cleared(load: Load, space: Any) -> None:
    level = load(tiles(".... .... 1111"), tile=EARTH)
    level.create()

    level.set_cells([(-1, 2), (0, 2), (9, 9)])
    assert set(boxes().values()) == {(10, 0, 40, 10)}
    for cell in ((4, 0), (-1, 0), (0, 3), (0, -1)):
        message = (
            f"cell {cell} is outside of layer 'tiles', which has columns 0 to 3 and rows 0 to 2; "
            "only an infinite map has others"
        )
        with pytest.raises(ValueError, match=re.escape(message)):
            level.set_cells([(3, 0), cell], 1)
    assert set(boxes().values()) == {(10, 0, 40, 10)}
    level.set_cells([(3, 0), (0, 2)], 1)
    assert len(covered()) == 5


def test_tile_under_a_point_an_entity_or_a_contact(load: Load, space: Any) -> None:
    level = load(tiles(".... .3.. 1122"), tile=EARTH)
    level.create()
    hero = esper.create_entity(ec.Position(25, 15), ec.Extents(2, 2))

    assert level.tile_at((5, 5))[:5] == ("tiles", 0, 2, 1, "earth")
    assert level.tile_at((15, 15)).centre == (15, 15)
    assert level.tile_at(hero) is None
    assert level.tile_at((25, 10)).type == "stone"  # the top of the tile
    assert level.tile_at((40, 5)).type == "stone"  # its right side
    assert level.tile_at((40.1, 5)) is None
    assert level.to_cell(25, 15) == (2, 1)
    assert level.to_cell(-0.1, 35) == (-1, -1)


def test_only_types_of_the_table_that_make_entities_are_boxes(load: Load, space: Any) -> None:
    level = load(tiles("2... .... 1111"), tile=EARTH)
    level.create({"stone": None})

    level.set_cell(0, 0)

    assert set(boxes().values()) == {(0, 0, 40, 10)}


def test_box_that_the_game_has_deleted_is_not_missed(load: Load, space: Any) -> None:
    level = load(tiles("1111 .... 1111"), tile=EARTH)
    (_, ceiling), _ = level.create()
    esper.delete_entity(ceiling)

    level.set_cell(1, 0)
    assert set(boxes().values()) == {(0, 0, 40, 10)}

    level.set_cell(2, 2)
    ((entity, _),) = [(e, b) for e, b in boxes().items() if b == (30, 0, 40, 10)]
    esper.delete_entity(entity)
    level.set_cell(3, 2)
    assert set(boxes().values()) == {(0, 0, 20, 10)}


def test_level_in_two_worlds_changes_in_one(load: Load, world: str) -> None:
    level = load(tiles("1111 .... 1111"), tile=EARTH)
    level.create()
    with another_world("other"):
        level.create()
        level.set_cell(0, 0)
        assert level.tile_at((5, 25)) is None
        assert len(covered()) == 7

    assert level.tile_at((5, 25)) is not None
    assert len(covered()) == 8


def test_level_that_is_created_again_is_as_in_its_file(load: Load, space: Any) -> None:
    level = load(tiles("1111 .... 1111"), tile=EARTH)
    level.create()
    level.set_cell(0, 0)

    esper.clear_database()
    level.create()

    assert level.tile_at((5, 25)).type == "earth"
    assert len(covered()) == 8
    level.set_cell(0, 0)
    assert len(covered()) == 7


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ((), "layer is needed; .* 'front'"),
        (("sky",), r"layer 'sky' names 0 layers; the level has the tile layers \['tiles', 'front'"),
    ],
)
def test_change_without_one_layer_is_refused_and_changes_nothing(
    load: Load, space: Any, layer: Any, message: str
) -> None:
    level = load(tiles("1... .... ...."), {**tiles("1... .... ...."), "name": "front"}, tile=EARTH)
    level.create()

    with pytest.raises(ValueError, match=message):
        level.set_cell(0, 0, 0, *layer)

    assert len(covered()) == 1


def test_change_for_which_the_table_fails_changes_nothing(load: Load, space: Any) -> None:
    def health(box: Any) -> list[object]:
        return [Health(box.properties["hp"])]

    class Health:
        def __init__(self, points: int) -> None:
            self.points = points

    level = load(tiles("1111 .... 1111"), tile=EARTH)
    level.create({"stone": health})
    level.set_cell(0, 0)
    before, bytes_before = boxes(), [cells.to_bytes() for _, cells in esper.get_component(Cells)]

    for cells in ([(1, 0)], [(0, 0), (1, 1), (2, 2)]):
        with pytest.raises(KeyError, match="hp"):
            level.set_cells(cells, 2)

    assert boxes() == before
    assert [cells.to_bytes() for _, cells in esper.get_component(Cells)] == bytes_before
    assert level.tile_at((15, 25)).type == "earth"
    level.set_cell(1, 0)
    assert len(covered()) == 6


def test_chunk_for_which_the_table_fails_is_loaded_whole_later(load: Load, space: Any) -> None:
    level = load(tiles("1111 2222 1111"), tile=EARTH)
    failing = {"stone": lambda box: 1 / 0}
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            level.stream((0, 0), (40, 30), failing)
        assert boxes() == {}

    level.stream((0, 0), (40, 30), {"stone": None})
    assert len(covered()) == 8


# -- snapshots --


def test_snapshot_from_before_a_change_undoes_it_if_the_space_came_after_the_level(
    load: Load, world: str
) -> None:
    level = load(tiles(".... .... 1111"), tile=EARTH)
    level.create()
    space = ec.install()
    esper.process(1 / 60)
    before = space.snapshot()
    level.set_cell(1, 2)
    esper.process(1 / 60)

    space.restore(before)
    level.set_cell(2, 2)
    esper.process(1 / 60)

    assert set(boxes().values()) == {(0, 0, 20, 10), (30, 0, 40, 10)}
    assert not space.doctor()


@pytest.mark.parametrize("data", [b"", b"\0" * 15, b"\1\0\0\0" * 9, b"\xff" * 40])
def test_tiles_of_a_damaged_snapshot_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="the tiles in the snapshot are cut short"):
        Cells.from_bytes(data)


@pytest.mark.parametrize(
    "text",
    [
        b"", b"[]", b"[" * 2000, b'["a", 0.0, 0.0, "b", -2, []]', b'["a", 0.0, 0.0, "b", 0.5, []]',
        b'["a", NaN, 0.0, "b", 0, []]', b'["a", 0.0, 1e999, "b", 0, []]',
        b'["a", "0", 0.0, "b", 0, []]',
        b'[1, 0.0, 0.0, "b", 0, []]', b'["a", 0.0, 0.0, null, 0, []]', b"\xff",
        b'["a", 0.0, 0.0, "b", 0, [1]]', b'["a", 0.0, 0.0, "b", 0, "c"]', b"3",
    ],
)  # fmt: skip
def test_level_of_a_damaged_snapshot_is_refused(text: bytes) -> None:
    data = struct.pack("<8I", len(text), *[0] * 7) + text
    with pytest.raises(ValueError, match="the tiles in the snapshot have"):
        Cells.from_bytes(data)


def test_impossible_boxes_of_a_snapshot_are_refused() -> None:
    text = b'["a", 0.0, 0.0, "b", 0, []]'
    for table, numbers in ((1, [5, 0, 1, 0, 0, 0, 0, 1]), (3, [0, 1, 2**40]), (5, [7, 0])):
        counts = [int(n == table) for n in range(7)]
        data = struct.pack(f"<8I{len(text)}s", len(text), *counts, text)
        with pytest.raises(ValueError, match="have boxes of an impossible size"):
            Cells.from_bytes(data + struct.pack(f"<{len(numbers)}q", *numbers))


@pytest.mark.parametrize("wrong", [(5, 1, 0), (0, 99, 0), (0, 1, 7)])
def test_boxes_of_another_level_in_a_snapshot_are_refused(
    load: Load, space: Any, wrong: tuple[int, int, int]
) -> None:
    level = load(tiles("1111 .... 1111"), tile=EARTH)
    level.create()
    ((_, cells),) = esper.get_component(Cells)
    forged = Cells(level.key, digest=cells.digest)
    forged.side = 0
    forged.add(5, Place(*wrong, 0, 0, 1, 1), ("group", None))
    cells.set_bytes(forged.to_bytes())

    with pytest.raises(ValueError, match=r"of 'map.tmj' in the snapshot are of another level"):
        level.set_cell(2, 0)


# -- chunks --


def test_chunks_come_and_go_with_the_region_and_keep_their_changes(load: Load, space: Any) -> None:
    level = load(tiles("1111 1111 1111"), objects(thing(1, type="coin")), tile=EARTH)
    assert len(level.create({"coin": None}, tiles=False)) == 0

    assert level.stream((1, 1), (9, 9), chunk=2, at_most=9) == 0
    assert covered() == [(0, 0), (10, 0)]  # the third row is in the second row of chunks
    assert level.stream((1, 1), (39, 29), chunk=2, at_most=1) == 2
    assert level.stream((1, 1), (39, 29), chunk=2, at_most=9) == 0
    assert len(covered()) == 12

    level.set_cell(0, 0)
    level.stream((25, 1), (39, 29), chunk=2, at_most=9)
    assert {x for x, _ in covered()} == {20, 30}
    level.set_cell(0, 1)
    level.stream((1, 1), (39, 29), chunk=2, at_most=9)
    assert len(covered()) == 10
    with pytest.raises(ValueError, match="the level has chunks of 2 in this world already"):
        level.stream((1, 1), (9, 9), chunk=4)


def test_boxes_of_chunks_do_not_grow_out_of_them(load: Load, space: Any) -> None:
    level = load(tiles("1111 1111 1111"), tile=EARTH)
    level.stream((1, 1), (39, 29), chunk=2, at_most=9)

    level.set_cells([(1, 0), (2, 0)])
    level.set_cells([(1, 0), (2, 0)], 1)

    assert set(boxes().values()) == {
        (0, 10, 20, 30), (20, 10, 40, 30), (0, 0, 20, 10), (20, 0, 40, 10),
    }  # fmt: skip


def test_level_that_was_created_whole_is_not_streamed(load: Load, space: Any) -> None:
    level = load(tiles("1111 1111 1111"), tile=EARTH)
    level.create()

    with pytest.raises(ValueError, match="the level has all of its tiles in this world already"):
        level.stream((0, 0), (9, 9))
    with pytest.raises(ValueError, match=r"stream\(chunk=0, at_most=1\) must be 1 or more"):
        level.stream((0, 0), (9, 9), chunk=0)


# -- the fuzz --


class Earth: ...


class Stone: ...


class Slab: ...


KINDS = (Earth, Stone, Slab)
TABLE = {kind.__name__.lower(): kind for kind in KINDS}


@pytest.mark.parametrize("chunk", [0, 3])
@pytest.mark.parametrize("merge", [True, False])
def test_boxes_are_those_of_the_cells_after_any_changes(
    load: Load, space: Any, volume: Volume, chunk: int, merge: bool
) -> None:
    rng = random.Random(f"{chunk} {merge}")
    slab = {"shapes": [{**thing(1, (10, 4)), "x": 0, "y": 6}], "type": "slab"}
    level = load(
        tiles("1.21 1111 1122"), {**tiles("3.2. .11. ...."), "name": "front"},
        tile={**EARTH, 4: slab}, merge=merge, infinite=True,
    )  # fmt: skip
    cells = [(x, y) for x in range(-1, 5) for y in range(-1, 4)]
    kinds = {0: None, 1: "earth", 2: "stone", 3: None, 4: "slab"}
    now = {
        (layer["name"], *cell): number for layer in level.map["layers"]
        for cell, number in (((x, y), layer["data"][4 * y + x]) for x in range(4) for y in range(3))
    }  # fmt: skip
    kept: list[tuple[bytes, dict[Any, int]]] = []
    stream = {"chunk": chunk or 16, "at_most": 99}
    if chunk:
        level.stream((-10, -10), (50, 40), TABLE, **stream)
    else:
        level.create(TABLE)

    for _ in range(volume(60, 300)):
        if rng.random() < 0.1:
            esper.process(1 / 60)
            kept.append((space.snapshot(), dict(now)))
        elif kept and rng.random() < 0.1:
            data, now = rng.choice(kept)
            now = dict(now)
            space.restore(data)
        elif chunk and rng.random() < 0.2:
            left = rng.choice([-10, 0, 11, 30])
            level.stream((left, 0), (left + 9, 9), **stream)
            level.stream((-10, -10), (50, 40), **stream)
        else:
            name, number = rng.choice(["tiles", "front"]), rng.randrange(5)
            some = rng.sample(cells, rng.choice([1, 1, 2, 8]))
            level.set_cells(some, number, name)
            now.update({(name, *cell): number for cell in some})
        expected = sorted(
            (type_, 10 * x, 20 - 10 * y)
            for x, y in cells
            for type_ in {kinds[now.get((name, x, y), 0)] for name in ("tiles", "front")} - {None}
        )
        assert tiles_of_bodies() == expected
        for x, y in rng.sample(cells, 3):
            tile = level.tile_at((10 * x + 5, 25 - 10 * y), "front")
            assert (tile.number if tile else 0) == now.get(("front", x, y), 0)
    if not merge:
        assert all(right - left == 10 for left, _, right, _ in boxes().values())


def tiles_of_bodies() -> list[tuple[str, int, int]]:
    """Return type and lower left corner of the cells of all boxes."""
    found = []
    for entity, (left, bottom, right, top) in boxes().items():
        (kind,) = [each for each in KINDS if esper.has_component(entity, each)]
        high = 4 if kind is Slab else 10
        assert (top - bottom) % 10 == high % 10
        for x in range(round(left), round(right), 10):
            for y in range(round(bottom), round(top), 10):
                found.append((kind.__name__.lower(), x, y))
    return sorted(found)
