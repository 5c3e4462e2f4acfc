"""The border of the core: what a system that sets velocities before each step is written with.

`Path`, `Zone`, `Character`, levels, recordings and the test kit use these names and the public
ones.  A game can write a component and its system in the same way.

- A system that runs *before* the step is a subclass of `Steering`, given to `add_steering`.
- A system that runs *after* the step is a processor of esper.  Give it a lower priority than
  `MotionSystem`.
- A component with places of the world has a function in `SHIFTED` for `Space.shift`.
- A component that is a dataclass of numbers is saved after ``space.snapshot_with(kind)``.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from ecs_collide._kernel.constants import LARGEST
from ecs_collide.components.base import as_float, as_vector, shown
from ecs_collide.components.filters import NAMES
from ecs_collide.components.table import Bounds
from ecs_collide.events import Contact, PrintsItsName, Vector
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.space import Space, parts_of
from ecs_collide.steering import Holders, Steering, add_steering
from ecs_collide.step.shifting import SHIFTED
from ecs_collide.sync.fields import AMOUNT, LIMIT, SIGNED, NumberFields, sound_vector, write_vector
from ecs_collide.sync.quarantine import Wrong, find_no_number, out_of_bounds

if TYPE_CHECKING:
    from ecs_collide.diagnostics.findings import Examination, finding_about
    from ecs_collide.snapshot.capture import FIELDS
    from ecs_collide.snapshot.codec import require_whole
    from ecs_collide.snapshot.plain import stand_in
    from ecs_collide.snapshot.saved_state import SavedState

__all__ = [
    "AMOUNT", "FIELDS", "LARGEST", "LIMIT", "NAMES", "SHIFTED", "SIGNED", "Bounds",
    "Examination", "Holders", "NumberFields", "PeriodicDomain", "PrintsItsName",
    "Steering", "Wrong", "add_steering", "as_float", "as_vector", "contacts_of_step",
    "finding_about", "is_wrong_now", "last_bounds", "last_velocity", "own_types", "require_whole",
    "shown", "sound_vector", "stand_in", "take_snapshot", "take_state", "write_vector",
]  # fmt: skip
_HOMES = {
    "Examination": "diagnostics.findings", "finding_about": "diagnostics.findings",
    "FIELDS": "snapshot.capture", "require_whole": "snapshot.codec", "stand_in": "snapshot.plain",
}  # fmt: skip


def __getattr__(name: str) -> object:
    """Import what most systems do not use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"ecs_collide.{_HOMES[name]}"), name)


def contacts_of_step(space: Space) -> list[Contact]:
    """Return the contacts at the end of the last step, also of entities deleted since."""
    return parts_of(space).contacts.of_step()


def is_wrong_now(space: Space, entity: int) -> bool:
    """Return whether the coming step will skip or refuse a body for a number of its components."""
    rules = parts_of(space).registry.checks.rules
    find = partial(space.world.component, entity)
    return find_no_number(rules, entity, find) is not None or out_of_bounds(rules, find) is not None


def last_bounds(space: Space, entity: int) -> tuple[Vector, Vector]:
    """Return the min and the max corner of a body at the end of the last step, in world units."""
    return parts_of(space).inspection.last_bounds(entity)


def last_velocity(space: Space, entity: int) -> Vector:
    """Return the velocity of a body after the last step, in world units per second."""
    return tuple(parts_of(space).inspection.last_velocities([entity])[0].tolist())


def own_types(space: Space, snapshot: bytes) -> dict[str, tuple[str, ...] | None]:
    """Return the names of the game's types in a snapshot, each with its fields.

    A type that the game saves by functions of its own has None.
    """
    from ecs_collide.snapshot.capture import WIDTHS
    from ecs_collide.snapshot.codec import decode

    state = decode(snapshot, space.dim, WIDTHS)
    types: dict[str, tuple[str, ...] | None] = dict.fromkeys(state.own)
    tables = zip(state.plain, state.tables, strict=True)
    return types | {name: tuple(table.fields) for name, table in tables}


def take_snapshot(space: Space) -> bytes:
    """Return a snapshot without a warning about components that it does not hold."""
    return parts_of(space).snapshots().snapshot()


def take_state(space: Space) -> SavedState:
    """Return the result of `save_state`, without a warning about components that it lacks."""
    return parts_of(space).snapshots().save_state()
