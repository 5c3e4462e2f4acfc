"""Saved games of an older version of the game: fields that came, went or changed their type."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from enum import IntEnum
from typing import Any

import esper
import pytest

import ecs_collide as ec
from tests.snapshot.test_snapshots import everything

pytestmark = pytest.mark.usefixtures("world", "implementation")

Elsewhere = Callable[..., ec.Space]


@dataclass
class OldGun:
    """The component of the first version."""

    shots: int = 3
    wait: float = 0.5


def saved_by(old: Any, name: str = "Gun") -> tuple[int, bytes]:
    """Return an entity with a component, and a snapshot that names its type."""
    entity = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), old)
    space = ec.install()
    space.snapshot_with(type(old), name=name)
    return entity, space.snapshot()


def restored(space: ec.Space, kind: type, data: bytes, entity: int) -> Any:
    """Return the component of the new type, in an empty world and again in place."""
    space.snapshot_with(kind, name="Gun")
    space.restore(data)
    first = copy(esper.component_for_entity(entity, kind))
    space.restore(data)
    assert esper.component_for_entity(entity, kind) == first
    return first


@dataclass
class Longer:
    """A class that got a field in front of the others."""

    range: float = 9.0
    shots: int = 3
    wait: float = 0.0


@dataclass(slots=True)
class Slotted:
    """A class with slots."""

    shots: int
    wait: float
    range: float = 9.0


@dataclass(frozen=True)
class Frozen:
    """A class whose objects are replaced."""

    shots: int
    wait: float
    range: float = 9.0


@dataclass
class KeywordOnly:
    """A class that takes the new field by keyword."""

    shots: int
    _: KW_ONLY
    wait: float
    range: float = 9.0


@dataclass
class WithFactory:
    """A class whose new field has a default factory."""

    shots: int
    wait: float
    range: float = field(default_factory=lambda: 9.0)


@dataclass
class Weapon:
    """A base that came later."""

    range: float = 9.0


@dataclass
class Derived(Weapon):
    """A class that inherits the new field."""

    shots: int = 3
    wait: float = 0.0


@dataclass
class Computed:
    """A class that computes the new field."""

    shots: int
    wait: float
    range: float = field(init=False)

    def __post_init__(self) -> None:
        self.range = 3.0 * self.shots - 3.0


@pytest.mark.parametrize(
    "kind", [Longer, Slotted, Frozen, KeywordOnly, WithFactory, Derived, Computed]
)
def test_new_field_takes_its_default(kind: type, elsewhere: Elsewhere) -> None:
    entity, data = saved_by(OldGun(4, 0.25))

    gun = restored(elsewhere(), kind, data, entity)

    assert (gun.shots, gun.wait, gun.range) == (4, 0.25, 9.0)
    assert type(gun.shots) is int


def test_field_that_the_class_has_no_longer_is_dropped(elsewhere: Elsewhere) -> None:
    @dataclass
    class Shorter:
        wait: float

    entity, data = saved_by(OldGun(4, 0.25))

    assert restored(elsewhere(), Shorter, data, entity) == Shorter(0.25)


def test_field_that_changed_its_type_keeps_the_saved_value(elsewhere: Elsewhere) -> None:
    @dataclass
    class Turned:
        shots: float
        wait: int | None

    entity, data = saved_by(OldGun(4, 0.25))

    gun = restored(elsewhere(), Turned, data, entity)

    assert gun == Turned(4, 0.25)  # type: ignore[arg-type]
    assert type(gun.shots) is int


def test_existing_component_gets_the_default_and_keeps_its_identity() -> None:
    entity, data = saved_by(OldGun(4, 0.25))
    esper.remove_component(entity, OldGun)
    gun = Longer(1.0, 2, 3.0)
    esper.add_component(entity, gun)
    space = ec.install()
    space.snapshot_without(OldGun)
    space.snapshot_with(Longer, name="Gun")

    space.restore(data)

    assert esper.component_for_entity(entity, Longer) is gun
    assert gun == Longer(9.0, 4, 0.25)


def test_each_component_gets_a_default_of_its_factory(elsewhere: Elsewhere) -> None:
    made = []

    @dataclass
    class Counted:
        shots: int
        wait: float
        number: int = field(default_factory=lambda: made.append(1) or len(made))

    first, _ = saved_by(OldGun())
    second = esper.create_entity(OldGun())
    space = esper.get_processor(ec.BroadphaseSystem).space
    other = elsewhere()
    esper.switch_world(space.world.name)
    data = space.snapshot()
    esper.switch_world(other.world.name)
    other.snapshot_with(Counted, name="Gun")

    other.restore(data)

    numbers = [esper.component_for_entity(each, Counted).number for each in (first, second)]
    assert numbers == [1, 2]


@dataclass
class Needed:
    """A class with a new field that must be given."""

    shots: int
    wait: float
    range: float


@dataclass
class NotSet:
    """A class that does not compute its new field."""

    shots: int
    range: float = field(init=False)

    def __post_init__(self) -> None:
        pass


@pytest.mark.parametrize("kind", [Needed, NotSet])
def test_new_field_without_a_default_is_refused_by_class_and_field(
    kind: type, elsewhere: Elsewhere
) -> None:
    _, data = saved_by(OldGun())
    other = elsewhere()
    other.snapshot_with(kind, name="Gun")

    with pytest.raises(ValueError, match=r"holds Gun without range, .* give it a default, as in"):
        other.restore(data)
    assert everything() == {}


def test_post_init_that_refuses_the_old_values_names_the_entity(elsewhere: Elsewhere) -> None:
    @dataclass
    class Strict:
        shots: int
        wait: float
        range: float = 1.0

        def __post_init__(self) -> None:
            if self.shots > 3:
                raise ValueError("too many shots")

    entity, data = saved_by(OldGun(4))
    other = elsewhere()
    other.snapshot_with(Strict, name="Gun")

    with pytest.raises(ValueError, match="too many shots") as raised:
        other.restore(data)

    assert f"Gun of entity {entity}; nothing has been changed" in raised.value.__notes__[0]
    assert everything() == {}


def test_empty_class_that_became_a_dataclass_has_its_defaults(elsewhere: Elsewhere) -> None:
    Mark = type("Mark", (), {})  # noqa: N806
    entity, data = saved_by(Mark())

    assert restored(elsewhere(), Longer, data, entity) == Longer()


def test_dataclass_that_became_an_empty_class_is_a_mark(elsewhere: Elsewhere) -> None:
    class Mark: ...

    entity, data = saved_by(OldGun())
    other = elsewhere()
    other.snapshot_with(Mark, name="Gun")

    other.restore(data)

    assert esper.has_component(entity, Mark)


class Mood(IntEnum):
    """A field that no snapshot saves by itself."""

    CALM = 0
    ANGRY = 1


def test_dataclass_that_needs_functions_since_reads_its_old_numbers(elsewhere: Elsewhere) -> None:
    @dataclass
    class Gun:
        shots: int
        name: str = "pistol"
        mood: Mood = Mood.ANGRY

    entity, data = saved_by(OldGun(4, 0.25))
    other = elsewhere()
    other.snapshot_with(Gun, lambda gun: b"", lambda data: Gun(0))

    other.restore(data)

    assert esper.component_for_entity(entity, Gun) == Gun(4)


def test_renamed_class_is_found_by_its_old_name(elsewhere: Elsewhere) -> None:
    entity, data = saved_by(OldGun(4, 0.25), name="OldGun")
    other = elsewhere()
    esper.create_entity(Longer())  # the world knows it by its own name already
    esper.process(0.0)
    other.snapshot()

    other.snapshot_with(Longer, name="OldGun")
    other.restore(data)

    assert esper.component_for_entity(entity, Longer) == Longer(9.0, 4, 0.25)
