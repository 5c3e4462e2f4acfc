"""Validate frames from strangers, in a file or a packet, before they are used.

JSON gives plain values, but of any type, size and depth.  Each function here raises ValueError
for data that no recorder writes, and takes linear time.
"""

from __future__ import annotations

import zlib
from itertools import chain
from typing import Any

from ecs_collide.recording.frames import Components, Fields

MOST_COMPONENTS = 256
"""The maximum number of components of an entity."""

_LEVELS = 7  # depth of a line: part, entity, component, field, and three levels of its value
_LONGEST_ID = 19  # digits
_ENDLESS = float("inf")
_BOUNDS = {"fat": 4, "branches": 6}  # numbers in a row


def require(holds: object, what: str) -> None:
    """Raise ValueError unless something holds."""
    if not holds:
        raise ValueError(f"it contradicts itself: {what}")


def unpack(data: bytes, limit: int) -> bytes:
    """Return unpacked zlib data, and never unpack more than `limit` bytes."""
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, limit + 1)
    except zlib.error as error:
        raise ValueError(f"it is damaged: {error}") from None
    if len(found) > limit:
        raise ValueError(f"it unpacks to more than {limit} bytes")
    require(stream.eof and not stream.unused_data, "the end of its packed data")
    return found


def read_id(text: object) -> int:
    """Return the entity that a key of JSON names."""
    fine = isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= _LONGEST_ID
    require(fine, "an entity")
    return int(text)  # type: ignore[call-overload, no-any-return]


def read_number(value: object, what: str) -> float:
    """Return a finite number as a float."""
    fine = type(value) in (int, float) and -_ENDLESS < value < _ENDLESS  # type: ignore[operator]
    require(fine, what)
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise ValueError(f"it contradicts itself: {what}") from None


def read_text(value: object, what: str) -> str:
    """Return a text."""
    require(isinstance(value, str), what)
    return value  # type: ignore[return-value]


def read_components(content: object, before: Components | None = None) -> Components:
    """Return the components of an entity, from its previous components and the changes.

    The components in `before` stay as they are; None instead of fields removes a component.
    """
    require(isinstance(content, dict), "the components of an entity")
    found = {} if before is None else dict(before)
    for name, fields in content.items():  # type: ignore[attr-defined]
        if fields is None:
            found.pop(name, None)
        else:
            found[name] = read_fields(fields)
    require(len(found) <= MOST_COMPONENTS, f"more than {MOST_COMPONENTS} components of an entity")
    return found


def read_fields(content: object) -> Fields:
    """Return the fields of a component, or the pressed inputs."""
    require(type(content) is dict, "the fields of a component")
    return content  # type: ignore[return-value]


def read_events(content: object) -> tuple[Fields, ...]:
    """Return contacts or events, each of two bodies."""
    require(type(content) is list and {dict}.issuperset(map(type, content)), "its events")
    events: list[Fields] = content  # type: ignore[assignment]
    for name in ("first", "second"):
        require({int}.issuperset([type(event.get(name)) for event in events]), "its events")
    require({str}.issuperset([type(event.get("event", "")) for event in events]), "its events")
    return tuple(events)


def read_trees(content: object) -> dict[str, list[list[float]]]:
    """Return the bounds of fat bounds and branches; a branch has two more numbers."""
    require(type(content) is dict and content.keys() == _BOUNDS.keys(), "its trees")
    for name, rows in content.items():  # type: ignore[attr-defined]
        require(type(rows) is list and {list}.issuperset(map(type, rows)), "its trees")
        require({_BOUNDS[name]}.issuperset(map(len, rows)), "its trees")
        for number in chain.from_iterable(rows):
            read_number(number, "its trees")
    return content  # type: ignore[return-value]


def require_shallow(value: object, levels: int = _LEVELS) -> None:
    """Raise ValueError if lists and dicts are nested deeper than `levels`."""
    layer: list[Any] = [value]
    for _ in range(levels + 1):
        nested = [part for part in layer if type(part) is dict or type(part) is list]
        if not nested:
            return
        parts = [part.values() if type(part) is dict else part for part in nested]
        layer = [*chain.from_iterable(parts)]
    raise ValueError(f"it contradicts itself: lists on more than {levels} levels")
