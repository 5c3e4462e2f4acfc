"""A world after one step, as plain numbers and names, and the differences between two of them.

A frame holds the fields of components, not the internal state of the library.  So a difference
between two frames has a name: the entity, the component and the field.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from math import copysign
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from ecs_collide.extend import FIELDS, contacts_of_step
from ecs_collide.space import Space

Fields = dict[str, Any]  # the values of a component's, a contact's or an event's fields by name
Components = dict[str, Fields]  # by the name of their type
_Equal = Callable[[Any, Any], bool]

ABSENT = "absent"
"""The value in a difference for an entity, a component or a field that one side lacks."""

LIBRARY = "ecs_collide."
_PLAIN = (bool, int, float, str, type(None))
_LONGEST_LIST = 64  # values of a list; longer ones are data rather than state
_LARGEST_EXACT = 2**53  # a float holds every whole number up to this one
_NOTHING: Any = object()


@dataclass(frozen=True, slots=True)
class Frame:
    """A world after a step."""

    step: int  # steps since the recording began; 0 for the frame before the first of them
    dt: float  # length of the step, in seconds; 0.0 in frame 0
    time: float  # `Space.time`, in seconds
    inputs: Fields  # the inputs of the step
    # Only fields with numbers, text, enums and short lists of these.
    entities: dict[int, Components]
    contacts: tuple[Fields, ...]  # at the end of the step, with the fields of `Contact`
    events: tuple[Fields, ...]  # the collisions, begun and ended contacts of the step
    digest: str  # `Space.state_hash`, as 32 hexadecimal digits
    snapshot: bytes = b""  # `Space.snapshot`, or empty if none was taken
    # As `tree_bounds` returns them, or empty.
    trees: Mapping[str, list[list[float]]] = field(default_factory=dict)

    def label(self, entity: int) -> str:
        """Return an entity as "7 (Player)", with its custom components."""
        own = [name for name in self.entities.get(entity, ()) if name not in _OF_LIBRARY]
        return f"{entity} ({', '.join(sorted(own)[:3])})" if own else str(entity)


class Difference(NamedTuple):
    """A value that differs between two frames."""

    entity: int | None  # None if it belongs to no entity
    label: str  # its subject: "entity 7 (Player)", "contacts", "events", "inputs"
    name: str  # the component and the field, as "Velocity.x"; empty for a whole entity
    first: Any  # the value on either side, or `ABSENT`
    second: Any

    def __str__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"{self.label}:{name} {show(self.first)} against {show(self.second)}"


def show(value: Any) -> str:
    """Return a value as text: numbers so that they read back exactly, text without quotes."""
    return value if isinstance(value, str) else repr(value)


def printable(text: str) -> str:
    """Return a text whose control characters cannot command a terminal; line ends stay."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


# -- reading a world --


def read_frame(
    space: Space,
    step: int = 0,
    dt: float = 0.0,
    inputs: Mapping[str, Any] | None = None,
    before: Frame | None = None,
) -> Frame:
    """Return a frame of the present world; unchanged parts are shared with the frame `before`."""
    world = space.world
    world.require_current()
    events = [*space.collisions, *space.contacts_began, *space.contacts_ended]
    known = {} if before is None else before.entities
    return Frame(
        step,
        dt,
        space.time,
        dict(inputs or {}),
        _read_entities(world.entities(FIELDS), world.dead(), space.dim, known),
        tuple(read_fields(contact) for contact in contacts_of_step(space)),
        tuple({"event": type(event).__name__, **read_fields(event)} for event in events),
        space.state_hash().hex(),
    )


def tree_bounds(space: Space) -> dict[str, list[list[float]]]:
    """Return the bounds in the trees of a space, on the first two axes, as plain lists.

    `fat` has the min and the max corner of each body's fat bounds.  `branches` has those of each
    branch, its depth, and 1 in the tree of the bodies that move or else 0; the deepest come first.
    """
    low, high = space.fat_bounds()
    branches = space.branches()
    about = np.column_stack((branches.depths, branches.moving))
    order = np.argsort(-branches.depths, kind="stable")
    fat = np.hstack((low[:, :2], high[:, :2]))
    rows = np.hstack((branches.mins[:, :2], branches.maxs[:, :2], about))[order]
    return {
        name: part[np.isfinite(part).all(axis=1)].tolist()
        for name, part in (("fat", fat), ("branches", rows))
    }


def _read_entities(
    entities: Mapping[int, Mapping[type, Any]],
    dead: Collection[int],
    dim: int,
    known: Mapping[int, Components],
) -> dict[int, Components]:
    """Return the fields of all components of the living entities, sorted by id."""
    found = {}
    for entity in sorted(entities):
        if entity in dead:
            continue
        before = known.get(entity, {})
        now: Components = {}
        components = entities[entity]
        is_new = len(components) != len(before)
        for name, component in zip(_keys(tuple(components)), components.values(), strict=True):
            there = before.get(name)
            now[name] = fields = read_fields(component, dim, there)
            is_new |= fields is not there
        found[entity] = now if is_new else before
    return found


def read_fields(component: Any, dim: int = 3, before: Fields | None = None) -> Fields:
    """Return the fields of an object that hold plain values; `before` itself if it is equal.

    In 2 dimensions the z of the library's vectors is skipped.  A field that holds the same object
    as before has not changed, because numbers and texts are immutable.
    """
    kind: Any = type(component)
    names = _names(kind, dim)
    if names is None:
        names = (*getattr(component, "__dict__", {}), *_slots(kind))
    values = [getattr(component, name, _NOTHING) for name in names]
    if before is not None and tuple(before) == names and all(map(is_, before.values(), values)):
        return before
    return plain_fields(zip(names, values, strict=True))


def plain_fields(pairs: Iterable[tuple[str, Any]]) -> Fields:
    """Return the values that JSON can hold, by name."""
    found = [(name, value if type(value) in _PLAIN else plain(value)) for name, value in pairs]
    return {name: value for name, value in found if value is not _NOTHING}


_VECTORS = frozenset(kind for kind, names in FIELDS.items() if names == ("x", "y", "z"))
_OF_LIBRARY = frozenset(
    {*(kind.__name__ for kind in FIELDS), "Cells", "Character", "Path", "Random"}
)


@cache
def _names(kind: type, dim: int) -> tuple[str, ...] | None:
    """Return the names of the fields of a type; None if they may differ between its objects."""
    if kind in FIELDS:
        return FIELDS[kind][:dim] if kind in _VECTORS else FIELDS[kind]
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    return None


@cache
def _slots(kind: type) -> tuple[str, ...]:
    """Return the names of the slots of a type and of its bases."""
    names: list[str] = []
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        names += (slots,) if isinstance(slots, str) else slots
    return tuple(name for name in names if not name.startswith("__"))


@cache
def _keys(kinds: tuple[type, ...]) -> tuple[str, ...]:
    """Return the names of types, with their modules if several have the same name."""
    names = [kind.__name__ for kind in kinds]
    return tuple(
        name if names.count(name) == 1 else f"{kind.__module__}.{kind.__qualname__}"
        for name, kind in zip(names, kinds, strict=True)
    )


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value that JSON can hold, or a marker if it cannot."""
    if type(value) in _PLAIN:
        return value
    if type(value) is tuple and all(type(part) is float for part in value):
        return list(value)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, (bool, int, float, str)):
        return next(base(value) for base in (int, float, str) if isinstance(value, base))
    if depth == 3:
        return _NOTHING
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=repr)
    if isinstance(value, (tuple, list)) and len(value) <= _LONGEST_LIST:
        parts = [plain(part, depth + 1) for part in value]
        return _NOTHING if any(part is _NOTHING for part in parts) else parts
    if isinstance(value, dict) and len(value) <= _LONGEST_LIST:
        found = {str(key): plain(part, depth + 1) for key, part in value.items()}
        return _NOTHING if any(part is _NOTHING for part in found.values()) else found
    return _NOTHING


def same(first: Any, second: Any) -> bool:
    """Return whether two plain values are the same, numbers in every bit; a NaN equals none."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, float):
        if first != second:
            return first != first and bool(second != second)
        return first != 0.0 or copysign(1.0, first) == copysign(1.0, second)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(
            map(same, first.values(), map(second.get, first))
        )
    return bool(first == second)


def as_floats(value: Any) -> Any:
    """Return a plain value, with each number as a float if a float holds it exactly.

    Functions that save components may return 1.0 for 1 or True, which are equal numbers.
    """
    if type(value) is int or type(value) is bool:
        return float(value) if abs(value) <= _LARGEST_EXACT else value
    if isinstance(value, (list, tuple)):
        return [as_floats(part) for part in value]
    if isinstance(value, dict):
        return {name: as_floats(part) for name, part in value.items()}
    return value


def _same_numbers(first: Any, second: Any) -> bool:
    return same(first, second) or same(as_floats(first), as_floats(second))


# -- comparing --


def compare_frames(
    first: Frame,
    second: Frame,
    components: Iterable[str] | None = None,
    *,
    types: bool = True,
) -> list[Difference]:
    """Return the differences of two frames, entities first, by rising id.

    Parameters
    ----------
    first, second : Frame
    components : names of component types, optional
        Compare these only; by default all.
    types : bool
        Whether 1, 1.0 and True differ in components.  Pass False if components were restored
        by functions that store each number as a float.
    """
    chosen = None if components is None else frozenset(components)
    equal = same if types else _same_numbers
    found = list(_entity_differences(first, second, chosen, equal))
    found += _field_differences((None, "inputs", ""), first.inputs, second.inputs)
    for what in ("contacts", "events"):
        ours, theirs = getattr(first, what), getattr(second, what)
        for n in range(max(len(ours), len(theirs))):
            one, other = (side[n] if n < len(side) else None for side in (ours, theirs))
            if one is not None and other is not None and _who(one) == _who(other):
                label = "{} of {} and {}".format(*_who(one))
                found += _field_differences((None, label, ""), one, other)
            elif one != other:
                texts = (ABSENT if one is None else describe(one) for one in (one, other))
                found.append(Difference(None, what, "", *texts))
                break  # the events after it have moved to other places
    if not found and chosen is None and first.digest != second.digest:
        found.append(Difference(None, "the space", "state_hash", first.digest, second.digest))
    return found


def _who(event: Fields) -> tuple[Any, ...]:
    return event.get("event", "Contact"), event["first"], event["second"]


def _entity_differences(
    first: Frame, second: Frame, chosen: frozenset[str] | None, equal: _Equal
) -> Iterator[Difference]:
    for entity in sorted(first.entities.keys() | second.entities.keys()):
        ours, theirs = first.entities.get(entity), second.entities.get(entity)
        if ours is theirs:
            continue
        frame = second if ours is None else first
        label = f"entity {frame.label(entity)}"
        if ours is None or theirs is None:
            there = ", ".join(sorted((theirs if ours is None else ours) or {}))
            first_side, second_side = (ABSENT, there) if ours is None else (there, ABSENT)
            yield Difference(entity, label, "", first_side, second_side)
            continue
        for name in sorted(ours.keys() | theirs.keys()):
            if chosen is not None and name not in chosen:
                continue
            mine, other = ours.get(name), theirs.get(name)
            if mine is None or other is None:
                missing = [ABSENT if side is None else "there" for side in (mine, other)]
                yield Difference(entity, label, name, *missing)
            elif mine is not other:
                yield from _field_differences((entity, label, f"{name}."), mine, other, equal)


def _field_differences(
    where: tuple[int | None, str, str], first: Fields, second: Fields, equal: _Equal = same
) -> Iterator[Difference]:
    entity, label, prefix = where
    for name in [*first, *(name for name in second if name not in first)]:
        ours, theirs = first.get(name, ABSENT), second.get(name, ABSENT)
        if not equal(ours, theirs):
            yield Difference(entity, label, prefix + name, ours, theirs)


def describe(event: Fields, frame: Frame | None = None) -> str:
    """Return an event or a contact in one line."""
    who = [
        str(event[side]) if frame is None else frame.label(event[side])
        for side in ("first", "second")
    ]
    words = [f"{event.get('event', 'Contact')} of {who[0]} and {who[1]}"]
    for name in ("time", "normal", "kind", "reason", "closing_speed", "outcome", "since"):
        if name in event:
            words.append(f"{name.replace('_', ' ')} {show(event[name])}")
    return ", ".join(words)
