"""The compiled stages that zones and characters run before a step.

Their kernels read the tables of the core, so they are part of it.  The packages `zone` and
`character` give them components.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ecs_collide._kernel import backend
from ecs_collide.components.immersed import Immersed
from ecs_collide.events import Vector
from ecs_collide.extend import is_wrong_now, last_bounds, last_velocity
from ecs_collide.queries.queried_bodies import FindLeft, Immerse
from ecs_collide.space import Space, parts_of
from ecs_collide.sync.quarantine import Wrong

__all__ = ["Immersed", "begin_strides", "immersion_of", "strides_of"]


def immersion_of(space: Space) -> tuple[Immerse, FindLeft]:
    """Return the functions that let the zones of a space act: `Immersion.immerse`, `find_left`."""
    parts = parts_of(space)
    return parts.queried.immersion(parts.contacts.may_meet)


def strides_of(space: Space, extras: object) -> Any:
    """Return the `Strides` of the characters of a space."""
    functions = (
        last_bounds, _last_position, _is_put, is_wrong_now, _mean_velocity, _is_dynamic,
        last_velocity,
    )  # fmt: skip
    parts = parts_of(space)
    strides = backend.kernels.stride.Strides
    bound = tuple(partial(each, space) for each in functions)
    return strides(space, bound, parts.state, parts.registry.lists, extras)


def begin_strides(
    space: Space, strides: Any, kinds: tuple[type, ...], wrong: Mapping[int, Wrong], slopes: bool
) -> None:
    """Prepare strides for the coming step: see `Surroundings.begin`."""
    parts_of(space).queried.begin_strides(strides, kinds, wrong, slopes)


def _last_position(space: Space, entity: int) -> Vector:
    """Return the centre of a body as the last step left it, which the contacts are of."""
    return parts_of(space).inspection.last_position(entity)


def _is_dynamic(space: Space, entity: int) -> bool:
    """Return whether impacts change the velocity of a body."""
    return parts_of(space).contacts.is_dynamic(entity)


def _is_put(space: Space, entity: int, position: object) -> bool:
    """Return whether the game has put a body with a `Position` elsewhere since the last step."""
    registry = parts_of(space).registry
    row = registry.row_of.get(entity)
    return row is not None and registry.is_put(row, position)


def _mean_velocity(
    space: Space, dt: float, velocity: float, acceleration: float, damping: float
) -> float:
    """Return the mean velocity on an axis with which a step of `dt` seconds moves a body."""
    gravity = parts_of(space).state.timeline.gravity
    mean: float = gravity.mean_over(dt, velocity, acceleration, damping)
    return mean
