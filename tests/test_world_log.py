"""What esper's own sets note of a world, and what the step makes of it."""

from __future__ import annotations

import copy
import random
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from ecs_collide.esper_world import World
from tests.scenes import another_world, box, mover, of, position


class Tag:
    """A component of the game."""


class Fast(ec.Velocity):
    """A subclass of a component."""


KINDS = ec.Position, ec.Extents, ec.Velocity


class Reader:
    """What one reader of a world knows: the components of each entity that has the first two."""

    def __init__(self, kinds: tuple[type, ...] = KINDS) -> None:
        self.world = World(())
        self.kinds = kinds
        self.seen: Any = None
        self.known: dict[int, dict[type, Any]] = {}
        self.n_looked = self.n_full = 0

    def look(self) -> None:
        if self.world.probe.is_as(self.seen):
            return
        seen = self.world.probe.look(self.kinds)
        noted, unchanged = seen.find_noted(self.seen), []
        self.n_full += noted is None
        for entity in sorted({*self.known, *self.world.ids()}) if noted is None else noted:
            self.n_looked += 1
            before = self.known.pop(entity, None)
            its = esper._entities.get(entity, {})
            if entity not in esper._dead_entities and self.kinds[0] in its and self.kinds[1] in its:
                self.known[entity] = {kind: its[kind] for kind in self.kinds if kind in its}
            if agree({entity: before or {}}, {entity: self.known.get(entity, {})}):
                unchanged.append(entity)
        seen.keep(unchanged)
        self.seen = seen


def everything() -> dict[int, dict[type, Any]]:
    """Return what a reader must know, by a pass over all entities."""
    return {
        entity: {kind: its[kind] for kind in KINDS if kind in its}
        for entity, its in esper._entities.items()
        if entity not in esper._dead_entities and ec.Position in its and ec.Extents in its
    }


def agree(one: dict[int, dict[type, Any]], other: dict[int, dict[type, Any]]) -> bool:
    """Return whether two readers know the same objects."""
    return {e: [*map(id, its.values())] for e, its in sorted(one.items())} == {
        e: [*map(id, its.values())] for e, its in sorted(other.items())
    }


def make(kind: type) -> object:
    return kind() if kind is Tag else kind(1, 1)


def do_anything(rng: random.Random, n: int) -> None:
    """Call a random function of esper, also with what it refuses."""
    act, kinds, entities = rng.random(), (*KINDS, Tag), list(esper._entities)
    one = rng.choice(entities) if entities else 0
    try:
        if act < 0.25:
            esper.create_entity(*(make(kind) for kind in kinds if rng.random() < 0.7))
        elif act < 0.45:
            esper.add_component(one, make(rng.choice(kinds)))
        elif act < 0.5:
            esper.add_component(one, Fast(1, 1), rng.choice([ec.Velocity, None]))
        elif act < 0.65:
            esper.remove_component(one, rng.choice(kinds))
        elif act < 0.7:
            esper.try_remove_component(one, rng.choice(kinds))
        elif act < 0.8:
            esper.delete_entity(one, immediate=rng.random() < 0.5)
        elif act < 0.82:
            esper.add_component(10**9 + n, make(ec.Position))
        elif act < 0.9:
            esper.clear_dead_entities()
        elif act < 0.902:
            esper.clear_database()
        elif act < 0.93:
            esper.clear_cache()
        else:
            list(esper.get_components(ec.Position, ec.Velocity))
    except KeyError:
        pass
    esper._dead_entities.intersection_update(esper._entities)  # else esper fails later


@pytest.mark.parametrize("seed", range(4))
def test_readers_of_a_log_know_what_a_pass_over_all_entities_finds(kernels, world, volume, seed):
    rng = random.Random(seed)
    readers = [Reader(), Reader()]
    esper.switch_world(f"{world} beside")
    beside = Reader()
    n_compared, n_calls = 0, volume(2000, 10_000, 40_000)

    for n in range(n_calls):
        if rng.random() < 0.05:
            esper.switch_world(rng.choice([world, f"{world} beside"]))
        do_anything(rng, n)
        if rng.random() < 0.3:
            here = [beside] if esper.current_world != world else rng.choices(readers)
            for reader in here:
                reader.look()
                assert agree(reader.known, everything())
                n_compared += 1

    assert n_compared > n_calls / 5
    assert sum(reader.n_full for reader in readers) < 4 + n_calls / 100
    esper.switch_world(world)
    esper.delete_world(f"{world} beside")


# -- what closes the holes --


@pytest.fixture
def reader(kernels, world) -> Reader:
    box((0, 0), (1, 1))
    found = Reader()
    found.look()
    return found


def test_types_that_nobody_asked_for_are_not_noted(reader):
    esper.add_component(1, Tag())
    esper.create_entity(Tag())

    assert reader.world.probe.is_as(reader.seen)
    assert type(esper._components[Tag]) is set


def test_a_change_is_one_entity_to_look_at(reader):
    entity = mover((5, 0), (1, 1), (1, 0))
    esper.add_component(entity, ec.Velocity(2, 0))

    before = reader.n_looked
    reader.look()

    assert reader.n_looked == before + 1
    assert agree(reader.known, everything())


def test_the_sets_that_esper_makes_anew_note_too(reader):
    esper.delete_entity(1, immediate=True)  # the last of its types: esper drops their sets
    reader.look()
    assert reader.known == {}

    box((0, 0), (1, 1))
    reader.look()

    assert agree(reader.known, everything())
    assert reader.n_full == 1


def test_a_type_that_is_asked_for_later_is_noted_from_then_on(reader):
    esper.add_component(1, Tag())
    other = Reader((ec.Position, Tag))
    other.look()
    assert other.known.keys() == {1}

    esper.remove_component(1, Tag)
    other.look()

    assert other.known == {}
    assert other.n_full == reader.n_full == 1


def test_another_dict_in_the_place_of_the_noted_one_is_looked_at_in_full(reader, monkeypatch):
    monkeypatch.setattr(esper, "_components", dict(esper._components))
    esper._entities[1][ec.Position] = ec.Position(9, 9)

    reader.look()
    assert agree(reader.known, everything())
    esper.remove_component(1, ec.Extents)
    reader.look()

    assert reader.known == {}
    assert reader.n_full == 2


def test_a_world_that_is_made_again_is_looked_at_in_full(reader, world):
    with another_world(f"{world} meanwhile"):
        esper.delete_world(world)
        esper.switch_world(world)
        box((0, 0), (1, 1))

        reader.look()

        assert agree(reader.known, everything())
        assert reader.n_full == 2


def test_a_cleared_world_is_looked_at_in_full(reader):
    esper.clear_database()
    box((0, 0), (1, 1))

    reader.look()

    assert agree(reader.known, everything())
    assert reader.n_full == 2


def test_what_is_noted_before_esper_has_stored_it_is_looked_at_once_more(reader):
    esper._components[ec.Velocity] = set()
    esper._components[ec.Velocity].add(1)  # as another thread within add_component()
    esper._components[ec.Position].add(77)  # and one within create_entity()
    reader.look()
    esper._entities[1][ec.Velocity] = ec.Velocity(1, 0)
    esper._entities[77] = {ec.Position: ec.Position(0, 0), ec.Extents: ec.Extents(1, 1)}

    reader.look()
    assert agree(reader.known, everything())
    reader.look()

    assert reader.world.probe.is_as(reader.seen)
    assert reader.n_full == 1


@pytest.mark.parametrize("key", [1.0, True])
def test_an_id_of_another_number_type_is_noted_as_that_entity(reader, key):
    esper.add_component(key, ec.Velocity(1, 0))

    reader.look()

    assert agree(reader.known, everything())


@pytest.mark.parametrize("key", [None, "crate", 1.5, float("nan"), 2**70])
def test_what_is_no_id_is_not_looked_at(reader, key):
    with pytest.raises(KeyError):
        esper.add_component(key, ec.Velocity(1, 0))

    reader.look()

    assert agree(reader.known, everything())


def test_entities_that_esper_deletes_next_are_gone_at_once(reader):
    spark, other = esper.create_entity(Tag()), box((5, 0), (1, 1))
    esper.delete_entity(spark)
    reader.look()
    esper.clear_dead_entities()
    esper.delete_entity(other)  # as many as before are dead, and nothing was noted

    reader.look()
    assert agree(reader.known, everything())
    esper._dead_entities.discard(other)
    reader.look()

    assert reader.known.keys() == {1, other}


def test_a_log_that_nobody_reads_stays_short(reader):
    log, longest = reader.seen.log, 4096
    n = longest // 2 - 1
    for _ in range(n):
        box((0, 0), (1, 1))
    reader.look()
    assert reader.n_looked == 1 + n
    assert reader.n_full == 1

    for _ in range(2 * longest):
        box((0, 0), (1, 1))
    assert len(log.entities) < longest
    reader.look()

    assert agree(reader.known, everything())
    assert reader.n_full == 2


def test_what_all_readers_have_read_is_dropped(reader):
    log, other = reader.seen.log, Reader()
    other.look()
    for n in range(10):
        box((0, 0), (1, 1))
        reader.look()
        assert len(log.entities) == n + 1

    other.look()
    box((0, 0), (1, 1))
    reader.look()

    assert len(log.entities) == 1  # which a reader drops at its next look
    del other
    for _ in range(10):
        box((0, 0), (1, 1))
        reader.look()
    assert len(log.entities) == 1


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, dict, dict.copy])
def test_copies_of_the_sets_note_nothing(reader, duplicate):
    copied = duplicate(esper._components)
    if duplicate in (copy.copy, copy.deepcopy):
        assert type(copied) is dict
    another = duplicate(esper._components[ec.Position]) if duplicate is copy.copy else set()

    copied[Tag] = set()
    copied[Tag].add(1)
    another.add(5)

    assert reader.world.probe.is_as(reader.seen)
    assert type(another) is set


# -- an esper that works in another way --


def add_in_a_new_set(entity: int, component: Any, type_alias: type | None = None) -> None:
    kind = type_alias or type(component)
    dict.__setitem__(esper._components, kind, {*esper._components.get(kind, ()), entity})
    esper._entities[entity][kind] = component
    esper.clear_cache()


def add_only_new(entity: int, component: Any, type_alias: type | None = None) -> None:
    kind = type_alias or type(component)
    if kind not in esper._entities[entity]:
        esper._components.setdefault(kind, set()).add(entity)
    esper._entities[entity][kind] = component
    esper.clear_cache()


def remove_by_minus(entity: int, kind: type) -> Any:
    esper._components[kind] -= {entity}
    esper.clear_cache()
    return esper._entities[entity].pop(kind)


def delete_by_remove(entity: int, immediate: bool = False) -> None:
    if not immediate:
        esper._dead_entities.add(entity)
        return
    for kind in esper._entities.pop(entity):
        set.discard(esper._components[kind], entity)
    esper.clear_cache()


def clear_by_new_dicts() -> None:
    vars(esper).update(_components={}, _entities={}, _dead_entities=set())
    esper.clear_cache()


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("add_component", add_in_a_new_set),
        ("add_component", add_only_new),
        ("remove_component", remove_by_minus),
        ("delete_entity", delete_by_remove),
        ("clear_database", clear_by_new_dicts),
    ],
)
def test_an_esper_whose_sets_do_not_tell_all_is_found_out(kernels, world, monkeypatch, name, how):
    probe = backend.kernels.world_probe
    assert probe.notes_all()

    monkeypatch.setattr(esper, name, how)

    assert not probe.notes_all()
    assert esper.current_world == world
    assert len(esper.list_worlds()) == len(set(esper.list_worlds()))


@pytest.mark.parametrize("notes_all", [True, False])
def test_structure_is_followed_by_the_log_or_without_it(kernels, world, monkeypatch, notes_all):
    monkeypatch.setattr(backend.kernels.world_probe, "NOTES_ALL", notes_all)
    rng, space = random.Random(3), ec.install()
    heard: list[int] = []
    space.on_contact(lambda contact: heard.append(contact.first), Tag, None)

    for n in range(120):
        for _ in range(rng.randrange(6)):
            do_anything(rng, n)
        esper.clear_dead_entities()
        assert set(space.query((-9, -9), (9, 9))) <= esper._entities.keys()
        esper.process(0.01)
        assert space.entities == sorted(everything())
        for entity in space.entities:
            assert space._registry.index.holder(ec.Position, space._registry.row_of[entity]) is of(
                entity, ec.Position
            )
    assert (type(esper._components) is dict) == (not notes_all)
    assert [each.cause for each in space.doctor()].count("unknown_esper") == (not notes_all)


def test_a_step_after_one_that_was_cut_short_sees_the_same_changes(kernels, world, monkeypatch):
    space = ec.install()
    wall, first = box((50, 0), (1, 1)), mover((0, 0), (1, 1), (1, 0))
    esper.process(1.0)
    esper.delete_entity(wall)
    esper.add_component(first, ec.Velocity(2, 0))
    second = mover((0, 9), (1, 1), (1, 0))

    class Failing(tuple):
        def index(self, *_: object) -> int:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:  # while the row of the wall is being freed
        patch.setattr(backend.kernels.entity_rows, "END_REASONS", Failing())
        with pytest.raises(KeyboardInterrupt):
            esper.process(1.0)
    esper.process(1.0)

    assert space.entities == [first, second]
    assert [position(entity) for entity in (first, second)] == [(3, 0), (1, 9)]
