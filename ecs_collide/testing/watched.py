"""The values that a trace reads after each step: a component's field or a function's result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import esper

Watched = str | tuple[int, type, str] | Callable[[], Any]


def name_of_watched(watched: Watched) -> str:
    """Return the name of the column of a watched value."""
    if isinstance(watched, str):
        return watched
    if isinstance(watched, tuple):
        return f"{watched[0]}.{watched[1].__name__}.{watched[2]}"
    return watched.__name__


def reader(watched: Watched) -> Callable[[], Any]:
    """Return a function that reads a watched value; it returns None while the entity is missing."""
    if callable(watched):
        return watched
    if isinstance(watched, tuple):
        return partial(_read_field, *watched)
    if watched.count(".") != 2:
        raise ValueError(f"trace({watched!r}) must be as 'Player.Velocity.x', or '7.Velocity.x'")
    return partial(_read_named, *watched.split("."))


def _read_field(entity: int, kind: type, name: str) -> Any:
    component: Any = esper.try_component(entity, kind) if esper.entity_exists(entity) else None
    return None if component is None else getattr(component, name)


def _read_named(who: str, kind_name: str, name: str) -> Any:
    if who.isdigit():
        entities = [int(who)]
    else:
        entities = [entity for entity in esper.get_entities() if _find_kind(entity, who)]
    if len(entities) > 1:
        watched = f"{who}.{kind_name}.{name}"
        raise ValueError(f"trace({watched!r}) names {len(entities)} entities: {set(entities)}")
    kind = _find_kind(entities[0], kind_name) if entities else None
    return None if kind is None else _read_field(entities[0], kind, name)


def _find_kind(entity: int, name: str) -> type | None:
    """Return the type of this name of a component that an entity has, or None."""
    components: tuple[Any, ...] = ()
    if esper.entity_exists(entity):
        components = esper.components_for_entity(entity)
    return next((kind for kind in map(type, components) if kind.__name__ == name), None)
