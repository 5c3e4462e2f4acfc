"""Levels of a game's own tool: grids of symbols."""

from __future__ import annotations

import re
from typing import Any

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide import levels

KINDS: dict[Any, Any] = {"#": {"solid": True}, "=": {"one_way": True}, "~": {}, "@": "start"}


@pytest.fixture
def space(world: str) -> ec.Space:
    return ec.install()


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        (["##.", "..#"], {"#": {"solid": True}}),
        (["## ", "  #"], {"#": {"solid": True}}),
        (("##", "  #"), {"#": {"solid": True}}),
        ([["#", "#", ""], [None, " ", "#"]], {"#": {"solid": True}}),
        ([["stone", "stone"], ["", "", "stone"]], {"stone": {"solid": True}}),
        ([[7, 7, 0], [0, 0, 7]], {7: {"solid": True}}),
        ([[0, 0, 1], [1, 1, 0]], {0: {"solid": True}, 1: {}}),
        ([[-1, -1, 0], [0, 0, -1]], {-1: {"solid": True}}),
        (np.array([[7, 7, 0], [0, 0, 7]], np.uint8), {7: {"solid": True}}),
        (np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), {1: {"solid": True}}),
        (np.array([[True, True, False], [False, False, True]]), {True: {"solid": True}}),
        (np.array([["#", "#", "."], [".", ".", "#"]]), {"#": {"solid": True}}),
        ((line for line in ["##.", "..#"]), {"#": {"solid": True}}),
    ],
)
def test_grid_of_any_symbols_is_a_level(space: ec.Space, rows: Any, kinds: Any) -> None:
    #
    #   # # .      the first row is the upper one
    #   . . #
    #
    level = levels.from_grid(rows, 10, kinds)
    (first, *_), (symbol, *_) = level.solids, kinds

    assert [(box.centre, box.half) for box in level.solids] == [
        ((10, 15), (10, 5)), ((25, 5), (5, 5)),
    ]  # fmt: skip
    assert level.size == (30, 20)
    assert level.bounds == ((0, 0), (30, 20))
    assert (
        level.tile_at((5, 15)).type == first.type == str(int(symbol) if symbol is True else symbol)
    )
    level.create()
    level.set_cell(2, 0, symbol)
    assert level.tile_at((25, 15)).number == level.tile_at((5, 15)).number
    esper.process(1 / 60)
    assert space.query_point((25, 15))


def test_cells_have_properties_and_objects_have_types(space: ec.Space) -> None:
    level = levels.from_grid(["@.~", "=##"], (10, 20), KINDS, merge=False)

    (start,) = level.of_type("start")
    assert (start.centre, start.half, start.is_point) == ((5, 30), (5, 10), False)
    made = level.create({"start": (ec.Sensor,), "#": ec.Sensor})
    kinds = {thing.type: esper.components_for_entity(entity) for thing, entity in made}
    assert ec.OneWay((0, 1)) in kinds["="]
    assert any(isinstance(part, ec.Sensor) for part in kinds["#"])
    assert len(made) == 4
    assert level.tile_at((25, 30)).type == "~"
    assert level.tile_at((5, 30)) is None


def test_ramps_of_symbols_do_not_merge(space: ec.Space) -> None:
    level = levels.from_grid([".//"], 10, {"/": {"slope": "right"}})

    pairs = level.create()

    assert [box.centre for box, _ in pairs] == [(15, 5), (25, 5)]
    assert esper.component_for_entity(pairs[0][1], ec.Slope) == ec.Slope("right")


def test_cells_change_by_symbols_and_numbers(space: ec.Space) -> None:
    level = levels.from_grid(["..", "##"], 10, KINDS)
    level.create()

    level.set_cell(0, 0, "=")
    level.set_cell(1, 0, ord("#"))
    level.set_cell(0, 1, ".")

    assert [level.tile_at(at) and level.tile_at(at).type for at in ((5, 15), (15, 15), (5, 5))] == [
        "=", "#", None,
    ]  # fmt: skip
    for wrong in ("?", "@", 99, -1, 0.5):
        with pytest.raises((ValueError, TypeError), match=r"symbol|number"):
            level.set_cell(0, 0, wrong)
    assert level.tile_at((5, 15)).type == "="


def test_grids_that_differ_are_different_levels(space: ec.Space) -> None:
    first, second = levels.from_grid(["#."], 10, KINDS), levels.from_grid([".#"], 10, KINDS)
    first.create()
    second.create()
    second.set_cell(1, 0)

    assert first.tile_at((5, 5))
    assert second.tile_at((15, 5)) is None
    first.unload()
    assert [
        entity for entity, _ in esper.get_component(ec.Position) if esper.entity_exists(entity)
    ] == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            (["#.", ".?"], 10, KINDS), ValueError,
            "row 1, column 1 has the symbol '?'; the known symbols are ['#', '=', '~', '@']",
        ),
        (([[1, 3]], 10, {1: {}}), ValueError, "row 0, column 1 has the symbol 3; the known"),
        (("#.", 10, KINDS), TypeError, "rows is one text; give its lines"),
        (([5], 10, KINDS), TypeError, "row 0 is 5; it must be a text or a list of symbols"),
        (([[b"#"]], 10, KINDS), TypeError, "the symbol b'#' must be a text or a whole number"),
        ((np.zeros((2, 2, 2)), 10, KINDS), ValueError, "rows is an array of 3 dimensions"),
        ((["#"], 0, KINDS), ValueError, "size=0 must be above 0"),
        ((["#"], (10, -1), KINDS), ValueError, "a cell has height=-1"),
        ((["#"], 10, ["#"]), TypeError, "kinds=['#'] must map symbols to properties"),
        ((["#"], 10, {"#": {"sold": True}}), ValueError, "kinds['#'] has 'sold'"),
        ((["#"], 10, {"#": {"solid": 1}}), ValueError, "the property solid of kinds['#'] is 1"),
        ((["#"], 10, {"#": {}, 35: {}}), ValueError, "kinds[35] has the number 35, which another"),
    ],
)  # fmt: skip
def test_wrong_grids_are_refused_with_their_row_and_symbol(
    arguments: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        levels.from_grid(*arguments)


def test_grid_without_cells_is_a_level_without_bodies(space: ec.Space) -> None:
    level = levels.from_grid([], 10, KINDS)

    assert level.create() == []
    assert level.tile_at((0, 0)) is None
