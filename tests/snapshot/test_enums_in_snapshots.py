"""Fields that are declared as enums of numbers: members come back as members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag, StrEnum, auto
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.snapshot.plain import is_plain
from tests.snapshot.test_snapshots import everything

pytestmark = pytest.mark.usefixtures("world", "implementation")

Elsewhere = Callable[..., ec.Space]


class Mood(Enum):
    CALM = auto()
    ANGRY = auto()


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Keys(IntFlag):
    RED = 1
    BLUE = 2


class Half(Enum):
    NONE = 0.0
    ALL = 0.5


@dataclass
class Guard:
    """A component with an enum in each of its forms."""

    mood: Mood = Mood.CALM
    level: Level | None = None
    keys: Keys = Keys.RED
    half: Half = Half.NONE
    lives: int = 3


FULL = Guard(Mood.ANGRY, Level.HIGH, Keys.RED | Keys.BLUE, Half.ALL, 9)


def test_members_come_back_in_place_and_in_a_new_world(elsewhere: Elsewhere) -> None:
    guard, plain = Guard(*vars(FULL).values()), Guard()
    entity, other = esper.create_entity(guard), esper.create_entity(plain)
    space = ec.install()
    data, state = space.snapshot(), space.save_state()

    for saved in (data, state):
        guard.mood, guard.level, guard.keys = Mood.CALM, None, Keys.RED
        space.restore(saved)
        assert guard == FULL
        assert [*map(type, vars(guard).values())] == [Mood, Level, Keys, Half, int]
    there = elsewhere()
    there.snapshot_with(Guard)
    there.restore(data)

    assert esper.component_for_entity(entity, Guard) == FULL
    assert esper.component_for_entity(other, Guard) == Guard()
    assert there.snapshot() == data


def test_frozen_component_with_the_saved_member_is_kept() -> None:
    @dataclass(frozen=True)
    class Frozen:
        mood: Mood

    frozen = Frozen(Mood.ANGRY)
    Frozen.__annotations__["mood"] = Mood  # as outside of a function
    entity = esper.create_entity(frozen)
    space = ec.install()

    space.restore(space.snapshot())

    assert esper.component_for_entity(entity, Frozen) is frozen


def test_fingerprint_holds_members() -> None:
    guard = Guard()
    esper.create_entity(guard)
    space = ec.install()
    before = space.state_hash()

    guard.mood = Mood.ANGRY
    assert space.state_hash() != before
    guard.mood = Mood.CALM
    assert space.state_hash() == before


def test_number_without_a_member_is_refused_and_nothing_changes(elsewhere: Elsewhere) -> None:
    @dataclass
    class Old:
        mood: int = 7

    esper.create_entity(Old())
    space = ec.install()
    space.snapshot_with(Old, name="Guard")
    data = space.snapshot()
    other = elsewhere()
    other.snapshot_with(Guard)

    with pytest.raises(
        ValueError, match=r"holds a Guard\.mood that is gone: 7 is not a valid Mood"
    ):
        other.restore(data)
    assert everything() == {}


def test_number_of_an_older_version_becomes_its_member(elsewhere: Elsewhere) -> None:
    @dataclass
    class Old:
        mood: int = 2

    entity = esper.create_entity(Old())
    space = ec.install()
    space.snapshot_with(Old, name="Guard")
    data = space.snapshot()
    other = elsewhere()
    other.snapshot_with(Guard)

    other.restore(data)

    assert esper.component_for_entity(entity, Guard) == Guard(Mood.ANGRY)


class Word(StrEnum):
    ONE = "one"


class Nan(Enum):
    NONE = float("nan")


@pytest.mark.parametrize("declared", [Word, Nan, list[Mood], Mood | str])
def test_enum_that_has_no_numbers_needs_functions(declared: Any) -> None:
    assert not is_plain(dataclass(type("Own", (), {"__annotations__": {"word": declared}})))
