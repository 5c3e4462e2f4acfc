"""Levels that leave a world: everything that they made goes, and nothing else."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide import levels
from ecs_collide.levels.level import Level
from tests.scenes import another_world

ROOM = ["####", "#c.#", "#@.#", "####"]


class Coin: ...


class Hero: ...


TABLE = {"coin": (ec.Sensor, Coin), "start": None, "water": ec.Sensor}


def room(rows: list[str] = ROOM, **more: Any) -> Level:
    kinds = {"#": {"solid": True}, "~": {"sensor": True}, "c": "coin", "@": "start"}
    return levels.from_grid(rows, 10, kinds, **more)


def hero(x: float, y: float) -> int:
    return esper.create_entity(
        ec.Position(x, y), ec.Extents(2, 2), ec.Velocity(0, 0), ec.Slide(), Hero()
    )


def living() -> set[int]:
    return {entity for entity in esper.get_entities() if esper.entity_exists(entity)}


@pytest.fixture
def space(world: str) -> ec.Space:
    return ec.install()


def test_coin_as_large_as_a_tile_stays_where_a_tile_is_cleared(space: ec.Space) -> None:
    level = room(["...", ".#.", "..."])
    ((box, wall),) = zip(level.solids, level.create_solids(), strict=True)
    twins = [
        esper.create_entity(ec.Position(*box.centre), ec.Extents(*box.half), ec.Sensor(), Coin())
        for _ in range(2)
    ]
    level.set_cell(1, 1)

    assert living() >= set(twins)
    assert not esper.entity_exists(wall)


def test_unload_deletes_what_the_level_made_and_nothing_else(space: ec.Space) -> None:
    mine = hero(20, 20)
    level = room()
    made = level.create(TABLE)
    esper.delete_entity(made[0][1], immediate=True)  # the game has deleted one
    level.set_cell(3, 1)
    level.set_cell(2, 1, "~")
    level.set_cell(3, 3)
    esper.process(1 / 60)

    level.unload()
    esper.process(1 / 60)

    assert living() == {mine}
    assert space.entities == [mine]
    assert level.tile_at((35, 25)).type == "#"


def test_unload_after_a_restore_deletes_what_the_snapshot_brought_back(space: ec.Space) -> None:
    mine = hero(20, 20)
    level = room()
    level.create(TABLE)
    level.set_cell(3, 1)
    esper.process(1 / 60)
    saved = space.snapshot()
    level.unload()
    esper.process(1 / 60)
    space.restore(saved)
    assert len(space) > 1
    assert level.tile_at((35, 25)) is None

    level.unload()
    esper.process(1 / 60)

    assert living() == {mine}


def test_snapshots_hold_whether_the_level_is_there(space: ec.Space) -> None:
    level = room()
    hero(20, 20)
    esper.process(1 / 60)
    before = space.snapshot()
    level.create(TABLE)
    esper.process(1 / 60)
    there = space.snapshot()
    level.unload()
    esper.process(1 / 60)
    after = space.snapshot()

    for data, n_bodies in ((there, 6), (before, 1), (there, 6), (after, 1), (there, 6)):
        space.restore(data)
        assert len(space) == n_bodies
    level.set_cell(0, 0)
    level.unload()
    esper.process(1 / 60)
    assert len(space) == 1


def test_level_is_restored_in_a_world_that_never_created_it(space: ec.Space) -> None:
    level = room(key="cellar")
    level.create(TABLE, offset=(100, 0))
    level.set_cell(0, 0)
    esper.process(1 / 60)
    saved = space.snapshot()

    with another_world("other"):
        again, other = room(key="cellar"), ec.install()
        other.snapshot_with(Coin)
        other.restore(saved)
        again.resume(TABLE)
        assert again.tile_at((105, 35)) is None
        again.set_cell(0, 0, "#")
        assert again.tile_at((105, 35)).type == "#"
        again.unload()
        esper.process(1 / 60)
        assert living() == set()


def test_level_is_resumed_where_the_save_has_it_also_if_it_was_elsewhere(space: ec.Space) -> None:
    level = room(key="cellar")
    level.create(TABLE, offset=(100, 0))
    saved = space.snapshot()

    with another_world("other"):
        level.create(TABLE)
        esper.clear_database()  # before the load, in the same world
        other = ec.install()
        other.snapshot_with(Coin)
        other.restore(saved)
        level.resume(TABLE)
        level.set_cell(0, 0)

        assert level.tile_at((105, 35)) is None
        assert not other.query_point((105, 35))


def test_restored_level_asks_for_the_table_of_its_tiles(space: ec.Space) -> None:
    room(key="cellar").create({**TABLE, "#": Hero})
    esper.process(1 / 60)
    saved = space.snapshot()

    with another_world("other"):
        again, other = room(key="cellar"), ec.install()
        other.snapshot_with(Coin)
        other.snapshot_with(Hero)
        other.restore(saved)
        for call in (lambda: again.set_cell(1, 0), again.resume):
            with pytest.raises(ValueError, match=r"types \['#'\] have components from a table"):
                call()
        again.resume({"#": Hero})
        again.set_cell(1, 0)
        esper.process(1 / 60)
        assert len(other.query((0, 31), (40, 39), filter=Hero)) == 2


def test_unload_without_a_level_does_nothing(space: ec.Space) -> None:
    mine = hero(0, 0)
    level = room()

    level.unload()
    level.create(TABLE)
    level.unload()
    level.unload()

    esper.process(1 / 60)
    assert living() == {mine}


def test_unload_in_a_handler_swaps_rooms_300_times_and_nothing_stays(space: ec.Space) -> None:
    rooms = [room(), room(["####", "#.c#", "####"])]
    now = [0]
    mine = hero(15, 20)
    seen: list[bool] = []
    ended: list[int] = []

    def leave(event: ec.ContactBegan) -> None:  # the coin is the door
        seen.append(esper.entity_exists(event.second))
        rooms[now[0] % 2].unload()
        now[0] += 1
        rooms[now[0] % 2].create(TABLE)

    space.on_contact_began(leave, Hero, Coin)
    space.on_contact_ended(lambda event: ended.append(event.second), Hero, Coin)
    rooms[0].create(TABLE)
    sizes = []
    for n in range(300):
        (coin,) = (each for each, _ in esper.get_component(Coin) if esper.entity_exists(each))
        space.teleport(mine, esper.component_for_entity(coin, ec.Position).xy)
        esper.process(1 / 60)
        sizes.append(len(space.entities) if n % 2 else 0)

    assert now[0] == 300
    assert all(seen)
    assert len(set(sizes[1::2])) == 1
    assert len(living()) == len(rooms[0].solids) + 3  # coin, hero, state
    assert len(ended) >= 299


def test_rooms_that_are_swapped_take_no_more_memory(space: ec.Space) -> None:
    level = room()
    hero(20, 20)

    def swap(times: int) -> None:
        for n in range(times):
            level.create(TABLE, offset=(40 * (n % 2), 0))
            level.set_cell(1, 0)
            esper.process(1 / 60)
            level.unload()
            esper.process(1 / 60)

    def least() -> int:
        """Return the least memory after each of 16 swaps: recent rows wait to be merged."""
        sizes = []
        for _ in range(16):
            swap(1)
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
        return min(sizes)

    gc.collect()
    gc.freeze()  # what is there before takes no time
    tracemalloc.start()
    swap(84)  # these fill tables and caches
    before = least()
    swap(84)
    after = least()  # after 100 swaps more
    tracemalloc.stop()

    assert after - before < 1024


def test_changes_are_kept_for_the_next_visit_if_asked(space: ec.Space) -> None:
    level = room()
    level.create(TABLE)
    level.set_cell(3, 1)
    level.unload(keep_changes=True)
    esper.process(1 / 60)
    assert len(space) == 0
    saved = space.snapshot()

    level.create(TABLE)
    assert level.tile_at((35, 25)) is None
    esper.process(1 / 60)
    assert not space.query_point((35, 25))
    assert space.query_point((35, 5))
    level.unload()
    level.create(TABLE)
    assert level.tile_at((35, 25)) is not None

    space.restore(saved)
    made = level.create(TABLE)
    esper.process(1 / 60)
    assert not space.query_point((35, 25))
    assert {entity for _, entity in made} == set(space.entities)


def test_cell_of_an_unloaded_level_may_change_after_a_new_start(space: ec.Space) -> None:
    table = {"#": Hero, "coin": Coin, "start": None}
    level = room()
    level.create(table)
    level.set_cell(3, 1)
    level.unload(keep_changes=True)
    saved = space.snapshot()

    with another_world("new process"):
        space = ec.install()
        space.snapshot_with(Hero)
        space.snapshot_with(Coin)
        level = room()
        space.restore(saved)
        level.set_cell(3, 2)  # makes no box, so it needs no table
        with pytest.raises(ValueError, match=r"resume\(table\)"):
            level.stream((0, 0), (40, 40))
        level.create(table)

        assert level.tile_at((35, 25)) is level.tile_at((35, 15)) is None
        assert level.tile_at((35, 5)) is not None
        assert len(esper.get_components(Hero, ec.Fixed)) == len(esper.get_component(ec.Fixed)) - 1


def test_cell_that_changes_before_a_restore_does_not_take_the_place_of_the_table(
    space: ec.Space,
) -> None:
    level = room()
    level.create({"#": Hero, "coin": None, "start": None})
    saved = space.snapshot()

    with another_world("new process"):
        space = ec.install()
        space.snapshot_with(Hero)
        level = room()
        level.set_cell(3, 1)
        space.restore(saved)
        with pytest.raises(ValueError, match=r"types \['#'\] .*resume\(table\)"):
            level.set_cell(3, 1)


def test_level_whose_kept_changes_fail_is_not_created(space: ec.Space) -> None:
    level = room()
    level.set_cell(1, 1, "~")
    esper.process(1 / 60)
    with pytest.raises(ZeroDivisionError):
        level.create({**TABLE, "~": lambda box: 1 / 0})
    esper.process(1 / 60)
    assert len(space) == 0

    level.create(TABLE)
    esper.process(1 / 60)
    assert space.query_point((15, 25), filter=ec.Sensor)


def test_kept_changes_give_the_same_boxes_after_a_restore(space: ec.Space) -> None:
    level = room(["....", "####", "####"])
    level.create()
    for cell in ((3, 0), (1, 2), (0, 0), (1, 1), (2, 0)):
        level.set_cell(*cell, "#" if cell[1] == 0 else 0)
    level.unload(keep_changes=True)
    esper.process(1 / 60)
    saved = space.snapshot()

    hashes = []
    for _ in range(2):
        level.create()
        esper.process(1 / 60)
        hashes.append(space.state_hash())
        space.restore(saved)
    assert hashes[0] == hashes[1]


def test_level_created_twice_is_there_twice_and_unloaded_at_once(space: ec.Space) -> None:
    level = room(["#"])
    level.create()
    level.create()
    level.set_cell(0, 0)
    assert len(living() & set(space_bodies())) == 1

    level.unload()

    assert living() == set()


def space_bodies() -> list[int]:
    return [entity for entity, _ in esper.get_component(ec.Position)]


def test_files_of_one_name_are_different_levels(space: ec.Space) -> None:
    cellar, attic = room(["#.#"], key="map.tmx"), room([".#."], key="map.tmx")
    cellar.create()
    attic.create()

    cellar.set_cell(0, 0)
    attic.set_cell(0, 0, "#")
    cellar.unload()
    esper.process(1 / 60)

    assert [len(space.query_point((x, 5))) for x in (5, 15, 25)] == [1, 1, 0]


def test_what_is_unloaded_is_found_by_no_query(space: ec.Space) -> None:
    level = room()
    level.create(TABLE)
    esper.process(1 / 60)
    assert space.query_point((5, 5))

    level.unload()

    assert not space.query_point((5, 5))
    assert not space.query((0, 0), (90, 90))


def test_level_whose_entities_the_game_has_deleted_is_created_as_in_its_file(
    space: ec.Space,
) -> None:
    level = room()
    for _ in range(3):
        made = level.create(TABLE)
        level.set_cell(3, 1)
        for entity in living():
            if esper.has_component(entity, ec.Position):
                esper.delete_entity(entity)
        esper.process(1 / 60)
    level.create(TABLE)

    assert level.tile_at((35, 25)).type == "#"
    level.unload()
    assert made
    assert living() == set()


def test_first_change_calls_as_much_as_later_ones(space: ec.Space) -> None:
    level = room(["#" * 60] * 60, merge=False)
    level.create()
    counts = []

    for column in (10, 20):
        calls = [0]

        def count(*_: Any, calls: list[int] = calls) -> None:
            calls[0] += 1

        sys.setprofile(count)
        level.set_cell(column, 30)
        sys.setprofile(None)
        counts.append(calls[0])

    assert counts[0] <= counts[1] + 40 < 800


def test_snapshot_of_a_level_that_did_not_change_holds_no_boxes_of_it(space: ec.Space) -> None:
    sizes = []
    for n in (10, 60):
        with another_world(f"{n}"):
            here = ec.install()
            level = room(["#" * n] * n, merge=False)
            level.create()
            whole = len(here.snapshot())
            for entity in space_bodies():
                esper.delete_entity(entity, immediate=True)
            sizes.append(len(here.snapshot()))
            assert whole > n * n * 8
    assert abs(sizes[0] - sizes[1]) < 8


# -- another version of the file --


@pytest.mark.parametrize("chunk", [0, 2])
def test_save_goes_on_in_a_level_that_was_changed_since(space: ec.Space, chunk: int) -> None:
    def walls(level: Level, here: ec.Space) -> None:
        esper.process(1 / 60)
        assert level.bounds[1][0] == 40
        for column in range(4):
            for row in range(4):
                at = level.to_world(10 * column + 5, 10 * row + 5)
                is_wall = getattr(level.tile_at(at), "type", "") == "#"
                assert len(here.query_point(at, filter=ec.Fixed)) == is_wall, (column, row)

    def begin(level: Level) -> None:
        if chunk:
            level.stream((-10, -10), (50, 50), TABLE, chunk=chunk, at_most=99)
        else:
            level.create(TABLE)

    old = room(key="cellar")
    begin(old)
    old.set_cell(1, 0)
    old.set_cell(2, 1, "#")
    walls(old, space)
    saved = space.snapshot()

    with another_world("new"):
        new, here = room(["#.##", "#..#", "#@.#", "..##"], key="cellar"), ec.install()
        begin(new)
        here.snapshot_with(Coin)
        here.restore(saved)
        with pytest.raises(ValueError, match=r"another version of the file: level.resume\(table\)"):
            new.set_cell(0, 0)
        new.resume()
        walls(new, here)
        assert new.tile_at((25, 25)).type == "#"  # as it was built
        new.set_cell(0, 0)
        walls(new, here)
        again = here.snapshot()
        new.unload()
        esper.process(1 / 60)
        assert not len(here)
        here.restore(again)
        new.resume()  # has nothing to do
        walls(new, here)


def test_kept_changes_of_an_older_file_are_made_where_the_new_one_has_room(
    space: ec.Space,
) -> None:
    old = room(["####", "####"], key="cellar")
    old.create()
    old.set_cells([(0, 0), (3, 1)])
    old.set_cell(3, 0, "~")
    old.unload(keep_changes=True)
    esper.process(1 / 60)

    new = levels.from_grid(["###", "###"], 10, {"#": {"solid": True}}, key="cellar")
    new.create()
    esper.process(1 / 60)

    assert [bool(space.query_point((x, 15))) for x in (5, 15, 25)] == [False, True, True]
    assert len(space.query((0, 0), (90, 90))) == 2


def test_only_a_level_that_is_there_is_resumed(space: ec.Space) -> None:
    with pytest.raises(ValueError, match=r"nothing of 'cellar' that could be resumed: create\(\)"):
        room(key="cellar").resume()
