"""Levels away from the origin, copies beside each other, and worlds whose y grows downwards."""

from __future__ import annotations

from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide import levels
from ecs_collide.character import Character
from ecs_collide.levels.frame import WorldPoint
from ecs_collide.levels.level import Level
from ecs_collide.levels.things import LevelObject, moved
from tests.scenes import another_world

ROOM = ["####", "#c.#", "####"]
KINDS: dict[Any, Any] = {
    "#": {"solid": True}, "-": {"one_way": True}, "/": {"slope": "right"}, "c": "coin",
}  # fmt: skip
TABLE = {"coin": ec.Sensor}


def room(rows: list[str] = ROOM, **more: Any) -> Level:
    return levels.from_grid(rows, 10, KINDS, **more)


@pytest.fixture
def space(world: str) -> ec.Space:
    return ec.install()


def test_level_counts_from_its_offset(space: ec.Space) -> None:
    level = room()
    made = level.create(TABLE, offset=(100, 50))

    for thing, entity in made:
        assert esper.component_for_entity(entity, ec.Position).xy == thing.centre
    assert level.bounds == ((100, 50), (140, 80))
    assert level.of_type("coin")[0].centre == (115, 65)
    assert [box.centre for box in level.solids] == [thing.centre for thing, _ in made[:-1]]
    assert level.to_world(0, 0) == (100, 80)
    assert level.to_cell(115, 65) == (1, 1)
    assert level.tile_at((105, 55)).centre == (105, 55)
    assert level.tile_at((5, 5)) is None
    level.set_cell(0, 2)
    esper.process(1 / 60)
    assert not space.query_point((105, 55))
    assert space.query_point((115, 55))


@pytest.mark.parametrize("how", ["files", "at", "one level"])
def test_copies_lie_beside_each_other_and_change_each_for_itself(space: ec.Space, how: str) -> None:
    left = room()
    if how == "at":
        right = left.at((40, 0))
        right.create(TABLE)
        left.create(TABLE)
    else:
        left.create(TABLE)
        right = left if how == "one level" else room()
        right.create(TABLE, offset=(40, 0))
    left = left.at((0, 0))

    right.set_cell(0, 0)
    left.set_cell(3, 2)
    esper.process(1 / 60)

    assert (right.tile_at((45, 25)), left.tile_at((35, 5))) == (None, None)
    assert [bool(space.query_point(at)) for at in ((5, 25), (45, 25), (35, 5), (75, 5))] == [
        True, False, False, True,
    ]  # fmt: skip
    right.unload()
    esper.process(1 / 60)
    assert not space.query((41, 0), (90, 30))
    assert space.query_point((5, 25))
    left.unload()
    esper.process(1 / 60)
    assert not len(space)


def test_offsets_of_placed_levels_add_up(space: ec.Space) -> None:
    level = room().at((100, 0)).at((0, 50))
    level.create(TABLE, offset=(1, 2))

    assert level.bounds == ((101, 52), (141, 82))
    level.unload()
    assert level.bounds == ((100, 50), (140, 80))


def test_level_lies_elsewhere_in_another_world(space: ec.Space) -> None:
    level = room()
    level.create(TABLE)
    with another_world("other"):
        level.create(TABLE, offset=(100, 0))
        assert level.bounds[0] == (100, 0)
    assert level.bounds[0] == (0, 0)


def test_rollback_over_a_move_of_the_level_brings_its_place_back(space: ec.Space) -> None:
    level = room()
    level.create(TABLE)
    level.set_cell(0, 2)
    esper.process(1 / 60)
    state = space.save_state()
    level.unload()
    level.create(TABLE, offset=(100, 0))
    esper.process(1 / 60)
    moved_away = space.save_state()

    space.restore(state)
    assert level.bounds[0] == (0, 0)
    assert level.tile_at((5, 5)) is None
    space.restore(moved_away)
    assert level.tile_at((105, 5)).type == "#"
    level.unload()
    esper.process(1 / 60)
    assert not len(space)


def test_restored_copies_must_be_named_in_a_new_process(space: ec.Space) -> None:
    for x in (10, 60):
        room(key="cellar").create(TABLE, offset=(x, 0))
    esper.process(1 / 60)
    saved = space.snapshot()

    with another_world("other"):
        other = ec.install()
        other.restore(saved)
        level = room(key="cellar")
        message = r"this world has 'cellar' at \[\(10.0, 0.0\), \(60.0, 0.0\)\]: level.at\(offset\)"
        with pytest.raises(ValueError, match=message):
            level.tile_at((15, 5))
        assert level.at((60, 0)).tile_at((65, 5)).type == "#"


@pytest.mark.parametrize("offset", [(1,), (1, 2, 3), 5, ("a", 1), (float("nan"), 0), (0, 1e999)])
def test_offset_is_2_finite_numbers(space: ec.Space, offset: Any) -> None:
    for call in (room().create, room().create_solids):
        with pytest.raises(ValueError, match=r"offset=.* must be 2 finite numbers, as \(160, 0\)"):
            call(offset=offset)
    with pytest.raises(ValueError, match="must be 2 finite numbers"):
        room().at(offset)


def test_points_of_objects_and_among_their_properties_move_with_the_level() -> None:
    there = WorldPoint((1, 2))
    thing = LevelObject(
        1, "", "lift", "things", (0, 0), (1, 1),
        {"to": there, "size": (3, 4), "stops": [there, {"at": there}]},
        points=((0, 0), (5, 5)),
    )  # fmt: skip

    found = moved(thing, (10, 20))

    assert (found.centre, found.half, found.points) == ((10, 20), (1, 1), ((10, 20), (15, 25)))
    assert found.properties == {
        "to": (11, 22), "size": (3, 4), "stops": [(11, 22), {"at": (11, 22)}],
    }  # fmt: skip


# -- worlds whose y grows downwards --


def mirrored(place: Any) -> tuple[float, float]:
    return place[0], 40 - place[1]


SLOPES = ["..........", "......./##", "..-.../###", "##########"]


def test_world_that_counts_downwards_is_the_mirror_image(world: str) -> None:
    up, down = room(SLOPES), room(SLOPES, y_down=True)

    assert [box.centre for box in down.solids] == [mirrored(box.centre) for box in up.solids]
    assert down.bounds == ((0, 0), (100, 40))
    assert down.to_world(3, 4) == (3, 4)
    assert down.to_cell(25, 25) == (2, 2)
    assert down.tile_at((25, 25)) == up.tile_at((25, 15))._replace(centre=(25, 25))
    ec.install(up=(0, -1))
    down.create(offset=(0, 100))
    assert down.tile_at((25, 125)).type == "-"
    down.set_cell(2, 2)
    assert down.tile_at((25, 125)) is None
    assert down.to_cell(25, 125) == (2, 2)


@pytest.mark.parametrize("streamed", [False, True])
def test_character_walks_up_a_ramp_and_lands_on_a_platform_in_both_worlds(
    world: str, streamed: bool
) -> None:
    def run(y_down: bool) -> list[tuple[float, float]]:
        level = room(SLOPES, y_down=y_down)
        sign = -1 if y_down else 1
        with another_world(f"{y_down} {streamed}"):
            ec.install(gravity=(0, -900 * sign))
            if streamed:
                level.stream((-20, -20), (120, 60), chunk=2, at_most=99)
            else:
                level.create()
            level.set_cell(0, 2, "#")
            keys = Character(walk_speed=60, jump_height=25)
            x, y = (25.0, 14.0)
            hero = esper.create_entity(
                ec.Position(x, 40 - y if y_down else y), ec.Extents(2, 4), ec.Velocity(0, 0),
                ec.Slide(), keys,
            )  # fmt: skip
            places = []
            for step in range(150):
                keys.jump = 10 <= step < 20
                keys.walk = float(60 < step < 125)
                esper.process(1 / 60)
                at = esper.component_for_entity(hero, ec.Position).xy
                places.append(mirrored(at) if y_down else at)
            return places

    up, down = run(False), run(True)

    assert [(round(x, 9), round(y, 9)) for x, y in up] == [
        (round(x, 9), round(y, 9)) for x, y in down
    ]
    assert up[59][1] == 24  # it stands on the platform
    assert up[-1][1] == 34  # on top of the ramp


def test_one_way_properties_name_sides_of_the_screen(world: str) -> None:
    kinds = {side[0]: {"one_way": side} for side in ("up", "down", "left", "right")}
    level = levels.from_grid(["udlr"], 10, kinds, y_down=True)

    normals = {box.type: box.components()[2] for box in level.solids}

    assert normals == {
        "u": ec.OneWay((0, -1)), "d": ec.OneWay((0, 1)),
        "l": ec.OneWay((-1, 0)), "r": ec.OneWay((1, 0)),
    }  # fmt: skip
