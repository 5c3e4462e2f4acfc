"""Dataclasses of numbers are in snapshots and in the fingerprint without any code for it."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import InitVar, dataclass, field
from typing import Any, NewType

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.snapshot import capture, codec
from ecs_collide.snapshot.plain import is_plain, stand_in
from tests.scenes import box
from tests.snapshot.test_snapshots import Score, Tag, everything, resting

pytestmark = pytest.mark.usefixtures("world", "implementation")

Seconds = float
Entity = NewType("Entity", int)


@dataclass
class Gun:
    """A custom component."""

    wait: Seconds = 0.0
    shots: int = 0
    is_hot: bool = False
    target: Entity | None = None


@dataclass(frozen=True, slots=True)
class Team:
    number: int


class Note:
    """A custom component that is no dataclass."""

    text = b""


@dataclass
class Marked:
    """An empty dataclass: that it is there is all there is."""


def test_dataclass_of_numbers_comes_back_in_another_world(elsewhere):
    crate, floor, space = resting()
    gun = Gun(-0.0, 2**80, True, 7)
    esper.add_component(crate, gun)
    esper.add_component(floor, Team(3))
    lone = esper.create_entity(Score(5), Marked())
    data, before = space.snapshot(), everything()

    other = elsewhere()
    for kind in (Gun, Team, Score, Marked):
        other.snapshot_with(kind)
    for _ in range(2):  # the second time they are all there
        other.restore(data)
        assert everything() == before
        assert other.snapshot() == data

    assert math.copysign(1.0, esper.component_for_entity(crate, Gun).wait) == -1.0
    assert esper.component_for_entity(lone, Score).rival is None


def test_components_that_the_world_uses_need_no_word():
    crate, _, space = resting()
    gun = Gun(1.5)
    esper.add_component(crate, gun)
    data = space.snapshot()
    esper.remove_component(crate, Gun)
    assert esper.get_component(Gun) == []

    space.restore(data)

    assert esper.component_for_entity(crate, Gun) == gun


def test_dataclass_is_changed_in_place_and_a_frozen_one_is_replaced():
    crate, floor, space = resting()
    gun, team, shared = Gun(1.0), Team(1), Team(2)
    esper.add_component(crate, gun)
    esper.add_component(crate, team)
    esper.add_component(floor, shared)
    data = space.snapshot()
    gun.wait = 9.0
    esper.add_component(crate, shared)

    space.restore(data)

    assert esper.component_for_entity(crate, Gun) is gun
    assert gun.wait == 1.0
    assert esper.component_for_entity(crate, Team) == Team(1)
    assert esper.component_for_entity(floor, Team) is shared
    assert shared.number == 2


def test_dataclass_that_came_since_goes_again():
    crate, _, space = resting()
    data = space.snapshot()
    esper.add_component(crate, Gun())
    lone = esper.create_entity(Score(1))

    space.restore(data)

    assert not esper.has_component(crate, Gun)
    assert not esper.entity_exists(lone)


@pytest.mark.parametrize(
    "values",
    [
        [0.0, -0.0, 5e-324, math.inf, -math.inf, math.nan, 1 / 3],
        [0, -(2**63), 2**63 - 1],
        [0, 2**64 - 1],
        [0, 10**30, -(10**30)],
        [True, False],
        [1, 1.0, True, None, -0.0, math.nan, math.inf],
    ],
    ids=str,
)
def test_each_number_comes_back_with_its_type_and_every_bit(values):
    guns = [Gun(value) for value in values]
    for gun in guns:
        esper.create_entity(gun)
    space = ec.install()
    data = space.snapshot()
    for gun in guns:
        gun.wait = 77.0

    space.restore(data)

    back = [gun.wait for gun in guns]
    assert [*map(type, back)] == [*map(type, values)]
    assert [*map(repr, back)] == [*map(repr, values)]


def test_numbers_of_numpy_are_numbers_too():
    gun = Gun(np.float64(1.5), np.int64(3), np.bool_(True))
    esper.create_entity(gun)
    space = ec.install()
    data = space.snapshot()

    space.restore(data)

    assert gun == Gun(1.5, 3, True)
    assert [*map(type, vars(gun).values())] == [float, int, bool, type(None)]


def test_field_that_holds_no_number_is_refused_by_name():
    esper.create_entity(Gun())
    bad = esper.create_entity(Gun(shots="many"))
    space = ec.install()

    message = rf"entity {bad}: Gun.shots is 'many', and must be a number: tell snapshot_with"
    with pytest.raises(TypeError, match=message):
        space.snapshot()
    with pytest.raises(TypeError, match=message):
        space.state_hash()
    bare = object.__new__(Team)
    esper.add_component(bad, bare)
    esper.remove_component(bad, Gun)
    with pytest.raises(TypeError, match=rf"entity {bad}: Team.number is not there"):
        space.snapshot()


def test_only_dataclasses_that_declare_nothing_but_numbers_are_saved_so():
    @dataclass
    class Named:
        name: str

    @dataclass
    class WithList:
        numbers: list[int]

    @dataclass
    class Given:
        number: int
        seed: InitVar[int] = 0

    class Derived(Gun):
        pass

    @dataclass
    class OfSomethingElse(dict):
        number: int = 0

    @dataclass
    class Child(Gun):
        more: float = 0.0

    @dataclass
    class Unknown:
        number: NoSuchName = 0  # noqa: F821

    assert all(map(is_plain, (Gun, Team, Marked, Child, Score, Tag, ec.Random)))
    for kind in (Named, WithList, Given, Derived, OfSomethingElse, Unknown, Note, ec.Space, int):
        assert not is_plain(kind), kind


def test_post_init_makes_what_is_no_field():
    @dataclass
    class Timer:
        seconds: float
        left: float = field(init=False, default=0.0)

        def __post_init__(self) -> None:
            self.left = self.seconds
            self.listeners: list[Any] = []

    entity = esper.create_entity(Timer(5.0))
    space = ec.install()
    esper.component_for_entity(entity, Timer).left = 2.0
    data = space.snapshot()
    esper.delete_entity(entity, immediate=True)

    space.restore(data)

    back = esper.component_for_entity(entity, Timer)
    assert (back.seconds, back.left, back.listeners) == (5.0, 2.0, [])


def test_own_way_of_saving_goes_before():
    crate, _, space = resting()
    space.snapshot_with(Gun, lambda gun: b"%d" % gun.shots, lambda data: Gun(shots=int(data)))
    esper.add_component(crate, Gun(5.0, 3))
    data = space.snapshot()
    esper.remove_component(crate, Gun)

    space.restore(data)

    assert esper.component_for_entity(crate, Gun) == Gun(shots=3)


def test_components_that_play_a_role_may_be_dataclasses():
    @dataclass
    class Place:
        x: float
        y: float

    entity = esper.create_entity(Place(1, 2), ec.Extents(1, 1), ec.Velocity(3, 0))
    space = ec.install(components=ec.Components(position=Place))
    esper.process(1.0)
    data = space.snapshot()
    esper.process(1.0)

    space.restore(data)

    assert esper.component_for_entity(entity, Place) == Place(4, 2)
    assert space.positions().tolist() == [[4, 2]]


def test_two_dataclasses_of_one_name_are_refused_until_one_is_named():
    Other = dataclass(type("Gun", (), {"__annotations__": {"x": int}}))  # noqa: N806
    entity = esper.create_entity(Gun(1.0), Other(2))
    space = ec.install()
    with pytest.raises(ValueError, match="several types of components named Gun: name one"):
        space.snapshot()

    space.snapshot_with(Other, name="the other gun")
    data = space.snapshot()
    esper.component_for_entity(entity, Other).x = 3
    space.restore(data)

    assert esper.component_for_entity(entity, Other).x == 2


# -- what comes from a file --


def test_unknown_dataclass_is_refused_by_name_and_nothing_is_imported(elsewhere):
    crate, _, space = resting()
    Odd = stand_in("antigravity", ["x"])  # noqa: N806
    odd = Odd()
    odd.x = 1.0
    esper.add_component(crate, odd)
    data = space.snapshot()
    other = elsewhere()
    modules = set(sys.modules)

    with pytest.raises(ValueError, match="holds antigravity components of the game"):
        other.restore(data)

    assert set(sys.modules) == modules
    assert everything() == {}


FORGED = {
    "no list": {"Gun": []},
    "no name": [[3, []]],
    "twice": [["Gun", []], ["Gun", []]],
    "a name of the library": [["Position", []]],
    "field twice": [["Gun", [["wait", "d"], ["wait", "d"]]]],
    "no such code": [["Gun", [["wait", "x"], ["shots", "q"]]]],
    "an object": [["Gun", [["wait", {"d": 1}], ["shots", "q"]]]],
    "too many": [["Gun", [["wait", "d"], ["shots", "q"], ["is_hot", "q"], ["target", "q"]]]],
    "too few": [["Gun", [["wait", "d"]]]],
    "text as number": [["Gun", [["wait", ["import os"]], ["shots", "q"]]]],
    "list as number": [["Gun", [["wait", [[]]], ["shots", "q"]]]],
    "number of JSON": [["Gun", [["wait", [1.5]], ["shots", "q"]]]],
    "wrong count": [["Gun", [["wait", [1, 2]], ["shots", "q"]]]],
    "bool": [["Gun", [["wait", "d"], ["shots", "?"], ["is_hot", "?"], ["target", [None]]]]],
}


def test_generator_of_the_game_is_not_taken_for_that_of_the_library(elsewhere):
    Random = dataclass(type("Random", (), {"__annotations__": {"seed": int}}))  # noqa: N806
    entity = esper.create_entity(Random(3))
    space = ec.install()
    data = space.snapshot()
    esper.component_for_entity(entity, Random).seed = 4

    space.restore(data)
    assert esper.component_for_entity(entity, Random).seed == 3
    other = elsewhere()
    other.snapshot_with(Random)
    other.restore(data)

    assert esper.component_for_entity(entity, Random).seed == 3


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_descriptions_of_dataclasses_that_were_made_up_are_refused(forged, monkeypatch):
    esper.create_entity(Gun(1.0, 2))
    box((0, 0), (1, 1))
    space = ec.install()
    now = space.snapshot()
    state = codec.decode(now, 2, capture.WIDTHS)
    _, columns = codec.pack_tables(state.plain, state.tables)
    monkeypatch.setattr(codec, "pack_tables", lambda *_: (json.dumps(forged).encode(), columns))
    data = codec.encode(state)
    monkeypatch.undo()

    with pytest.raises(ValueError, match=r"contradicts itself|with the fields"):
        space.restore(data)
    assert space.snapshot() == now


# -- skipped --


def test_components_that_are_skipped_stay_as_they_are():
    crate, _, space = resting()
    gun = Gun(1.0)
    esper.add_component(crate, gun)
    lone = esper.create_entity(Score(1))
    old = space.snapshot()
    for kind in (Gun, Score):
        space.snapshot_without(kind)
    new, before = space.snapshot(), space.state_hash()
    gun.wait = 2.0
    esper.component_for_entity(lone, Score).points = 9
    assert space.state_hash() == before

    for data in (old, new):
        space.restore(data)
        assert gun.wait == 2.0
        assert esper.component_for_entity(lone, Score).points == 9
    space.snapshot_with(Gun)
    space.restore(space.snapshot())
    assert b'"Gun"' in space.snapshot()
    assert space.state_hash() != before


# -- the fingerprint --


def hashes_of_changes(space, *changes):
    found = [space.state_hash()]
    for change in changes:
        change()
        found.append(space.state_hash())
    return found


def test_fingerprint_holds_the_fields_of_dataclasses():
    crate, floor, space = resting()
    gun = Gun()
    nothing = space.state_hash()
    esper.add_component(crate, gun)

    found = hashes_of_changes(
        space,
        lambda: setattr(gun, "wait", -0.0),
        lambda: setattr(gun, "shots", 1),
        lambda: setattr(gun, "target", 5),
        lambda: setattr(gun, "is_hot", True),
        lambda: esper.add_component(crate, Marked()),
        lambda: (esper.remove_component(crate, Marked), esper.add_component(floor, Marked())),
        lambda: esper.remove_component(floor, Marked),
    )

    assert len({nothing, *found}) == len(found)
    assert found[7] == found[4]  # the mark has gone again
    esper.remove_component(crate, Gun)
    assert space.state_hash() == nothing


def test_fingerprint_holds_what_the_game_saves_by_functions():
    crate, floor, space = resting()
    nothing = space.state_hash()
    tags = Note(), Note()
    for entity, tag in zip((crate, floor), tags, strict=True):
        tag.text = b""
        esper.add_component(entity, tag)
    assert space.state_hash() == nothing  # no snapshot knows them

    space.snapshot_with(Note, lambda tag: tag.text, lambda data: Note())
    found = hashes_of_changes(
        space,
        lambda: setattr(tags[0], "text", b"a"),
        lambda: (setattr(tags[0], "text", b""), setattr(tags[1], "text", b"a")),
    )

    assert len({nothing, *found}) == 4


def test_bytes_that_differ_between_runs_can_stay_out_of_the_fingerprint():
    crate, _, space = resting()
    gun, tag = Gun(1.0), Note()
    esper.add_component(crate, gun)
    before = space.state_hash()
    esper.add_component(crate, tag)

    for kind in (Gun, Note):
        space.snapshot_with(kind, lambda it: b"%d" % id(it), lambda data: None, hashed=False)

    assert space.state_hash() == before
    gun.wait = 2.0
    assert space.state_hash() != before


def test_fingerprint_is_the_same_in_whatever_order_types_came(elsewhere):
    entity = esper.create_entity(Gun(math.nan), Team(1), ec.Random(5))
    first = ec.install().state_hash()

    elsewhere()
    esper.add_component(esper.create_entity(ec.Random(5)), Team(1))
    esper.add_component(entity, Gun(-math.nan))
    space = ec.install()

    assert space.state_hash() == first
    assert first.hex() == "ed758034e9575ea61ac115b21fad18f3"  # on every platform


def test_fingerprint_needs_its_world_to_be_current(elsewhere):
    esper.create_entity(Gun())
    space = ec.install()
    elsewhere()

    with pytest.raises(RuntimeError, match="install one space"):
        space.state_hash()


# -- empty classes --


class Barrel:
    pass


class Big(Barrel):
    """Another mark."""


def test_an_empty_class_comes_back_with_the_entity_that_it_marks():
    crate, floor, space = resting()
    esper.add_component(crate, Barrel())
    esper.add_component(floor, Big())
    mark, data, before = (
        esper.component_for_entity(floor, Big),
        space.snapshot(),
        space.state_hash(),
    )

    esper.delete_entity(crate, immediate=True)
    esper.add_component(floor, Barrel())
    space.restore(data)

    assert type(esper.component_for_entity(crate, Barrel)) is Barrel
    assert esper.component_for_entity(floor, Big) is mark
    assert not esper.has_component(floor, Barrel)
    assert space.state_hash() == before
    esper.remove_component(crate, Barrel)
    assert space.state_hash() != before


def test_an_empty_class_is_found_by_its_name_once_the_space_was_told(elsewhere):
    crate, _, space = resting()
    esper.add_component(crate, Barrel())
    data = space.snapshot()
    other = elsewhere()

    with pytest.raises(ValueError, match="holds Barrel components of the game"):
        other.restore(data)
    other.snapshot_with(Barrel)
    other.restore(data)

    assert esper.has_component(crate, Barrel)


def test_an_entity_that_has_nothing_but_marks_is_left_alone():
    crate, floor, space = resting()
    esper.add_component(crate, Barrel())
    data = space.snapshot()
    menu = esper.create_entity(Big())
    for kind in esper.components_for_entity(floor):
        esper.remove_component(floor, type(kind))
    esper.add_component(floor, Big())

    space.restore(data)

    assert esper.has_component(menu, Big)
    assert not esper.has_component(floor, Big)
    assert esper.has_components(floor, ec.Position, ec.Extents)
    space.check()


def test_a_class_that_declares_anything_is_no_mark():
    class Counts:
        n = 0

    class Acts:
        def act(self):
            self.done = True

    class Declares:
        n: int

    class Slotted:
        __slots__ = ("n",)

    class Derived(Counts):
        pass

    crate, _, space = resting()
    kinds = (Counts, Acts, Declares, Slotted, Derived)
    for kind in kinds:
        esper.add_component(crate, kind())
    with pytest.warns(UserWarning, match="snapshots do not save") as warned:
        data = space.snapshot()
    for kind in kinds:
        esper.remove_component(crate, kind)

    space.restore(data)

    assert not any(esper.has_component(crate, kind) for kind in kinds)
    assert [str(w.message).split()[4] for w in warned] == [
        "Acts,", "Counts,", "Declares,", "Derived,", "Slotted,"
    ]  # fmt: skip


@dataclass
class Rect:
    x: float
    y: float
    w: float
    h: float


def test_a_dataclass_that_plays_two_roles_is_held_by_the_first_snapshot(world):
    roles = ec.Components(position=(Rect, "x", "y"), extents=(Rect, "w", "h"))
    space = ec.install(components=roles)
    entity = esper.create_entity(Rect(0, 0, 2, 2), ec.Velocity(60, 0), ec.Slide())
    esper.process(1 / 60)

    space.restore(space.snapshot())

    assert esper.component_for_entity(entity, Rect) == Rect(1, 0, 2, 2)
