"""Selectors for the bodies of an assertion: an entity, all with a component, or any."""

from __future__ import annotations

from typing import Any

import esper

from ecs_collide.space import Space

Selector = int | type | None
"""An entity id, a component type that the entity has, or None for any entity."""


def having(selector: Selector) -> set[int]:
    """Return the entities that have the selector's component; no entities for other selectors."""
    if not isinstance(selector, type):
        return set()
    found: list[tuple[int, Any]] = esper.get_component(selector)
    return {entity for entity, _ in found}


def bodies_named(space: Space, *selectors: Selector) -> tuple[int, ...]:
    """Return the entity of each selector that stands for one body, and skip the others."""
    found: list[int] = []
    for selector in selectors:
        if isinstance(selector, type):
            bodies = [entity for entity in having(selector) if entity in space]
            found += bodies if len(bodies) == 1 else []
        elif selector is not None:
            found.append(selector)
    return tuple(found)


def selects(selector: Selector, entity: int) -> bool:
    """Return whether a selector stands for an entity."""
    if isinstance(selector, type):
        there = esper.entity_exists(entity)
        return there and esper.has_component(entity, selector)
    return selector is None or selector == entity


def name_of(selector: Selector) -> str:
    """Return a selector as text."""
    if isinstance(selector, type):
        return selector.__name__
    return "any body" if selector is None else f"entity {selector}"
