"""The boxes of some owners, and the errors about owners."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from ecs_collide.components.dynamics import Attached
from ecs_collide.sync.quarantine import Wrong


def boxes_of(owners: Set[int], world: Any) -> list[int]:
    """Return the boxes that are attached to some entities, by rising id."""
    boxes, components = [], world.entities((Attached,))
    for box in world.having(Attached):  # a game may have thousands: no calls
        if box in components:
            owner = components[box][Attached].owner
            if type(owner) is int and owner in owners:
                boxes.append(box)
    return sorted(filter(world.exists, boxes))


OWNER = "Attached.owner"


def wrong_owner(owner: int, *, is_itself: bool, last: int | None) -> Wrong:
    """Return the error about an owner; `last` is the owner's owner, None if it is not a body."""
    if last is None:
        text = "must be an entity with Position and Extents"
    elif is_itself:
        text = "must be another entity"
    else:
        text = f"must not be attached itself: attach both boxes to entity {last}"
    return Wrong(OWNER, owner, text)
