"""Find bodies by their entities, in the rows of the last step or by their components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._kernel.arrays import are_among
from ecs_collide._kernel.constants import News
from ecs_collide.components.base import shown
from ecs_collide.esper_world import World
from ecs_collide.step.lock import StepLock
from ecs_collide.sync.presence import NewBody, Presence
from ecs_collide.sync.registry import BodyRegistry

_FEW = 16  # below this number it is faster to look bodies up one by one


class WorldLink:
    """The world that a space belongs to; `attached` is None until it belongs to one."""

    def __init__(self) -> None:
        self.attached: World | None = None

    @property
    def world(self) -> World:
        """The world; RuntimeError if the space does not belong to one yet."""
        if self.attached is None:
            raise RuntimeError(
                "this Space belongs to no world yet: call ecs_collide.install(space), "
                "or make the four systems with it, where the world is current"
            )
        return self.attached

    def attach(self, world: World) -> None:
        """Set the world; RuntimeError if the space belongs to another one."""
        if self.attached not in (None, world):
            raise RuntimeError(f"this Space belongs to {self.attached}, not to {world}")
        self.attached = world


class BodyLookup:
    """Finds the rows of bodies, and reads the components of bodies that no step has read yet."""

    def __init__(
        self, dim: int, link: WorldLink, registry: BodyRegistry, presence: Presence, lock: StepLock
    ) -> None:
        self.dim = dim
        self._link = link
        self._registry = registry
        self._presence = presence
        self._lock = lock

    @property
    def world(self) -> World:
        """The world of the space; RuntimeError if it does not belong to one yet."""
        return self._link.world

    def row(self, entity: int) -> int:
        """Return the row of a body, -1 before its first step; KeyError if it is not a body."""
        self._lock.refuse_others()
        if self._link.attached is None:
            raise self._presence.no_body(entity, None)
        return self._presence.row(self._link.attached, entity)

    def rows(self, entities: ArrayLike | None) -> tuple[NDArray[np.int64], list[tuple[int, int]]]:
        """Return the rows of bodies, and (index, id) of each that no step has read yet.

        None stands for all bodies of the last step.  The row of a body that no step has read yet
        is arbitrary.
        """
        self._lock.refuse_others()
        if entities is None:
            return self._registry.rows, []
        ids = np.asarray(entities)
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise ValueError(
                f"entities={shown(entities)} must be a list or array of entity ids, or None"
            )
        if ids.size < _FEW:
            few = self._rows_of_few(ids.tolist())
            new = [(n, ids[n].item()) for n, row in enumerate(few) if row < 0] if -1 in few else []
            return np.array([max(row, 0) for row in few] if new else few, np.int64), new
        rows = self._registry.index.rows_of(ids.astype(np.int64))
        unread = (rows < 0) | (self._registry.table.news[rows] & News.NEW != 0)
        if self._link.attached is not None:
            unread |= are_among(rows, self._presence.replaced_rows(self._link.attached))
        if not unread.any():
            return rows, []
        new = [(n, ids[n].item()) for n in np.flatnonzero(unread).tolist()]
        new = [(n, entity) for n, entity in new if self.row(entity) < 0]  # raises for no body
        rows[[n for n, _ in new]] = 0
        return rows, new

    def vectors_of_few(self, entities: object, velocities: bool) -> NDArray[np.float64] | None:
        """Return the seen centres or velocities of bodies that are given by a list of ids.

        None if that takes more than a look at their rows.
        """
        world, registry = self._link.attached, self._registry
        if type(entities) is not list or world is None:
            return None
        self._lock.refuse_others()
        if not registry.index.is_current(world):
            return None
        found: Any = registry.lists.vectors_of(entities, velocities)
        return cast("NDArray[np.float64] | None", found)

    def _rows_of_few(self, entities: list[int]) -> list[int]:
        """Return the row of each body, as `row` does."""
        world, registry = self._link.attached, self._registry
        if world is not None and registry.index.is_current(world):  # asked once for all
            news, row_of = registry.table.views.news, registry.row_of
            rows = [row_of.get(entity, -1) for entity in entities]
            if not any(row < 0 or news[row] & News.NEW for row in rows):
                return rows
        return [self.row(entity) for entity in entities]

    def new_body(self, entity: int) -> NewBody:
        """Return the body that the components of an entity describe now."""
        return self._presence.read(self._link.world, entity)

    def moved_body(self, entity: int) -> NewBody | None:
        """Return a body whose box is not as the last step left it, also if it is new; None for others."""
        row = self.row(entity)
        if row < 0:
            return self.new_body(entity)
        return self._presence.read_moved(self.world, entity, row)

    def owner(self, entity: int, owner: int) -> NewBody:
        """Return the owner of an attached box as `new_body`; KeyError if it is not a valid box."""
        error = self._presence.no_owner(self._link.world, entity, owner)
        if error is not None:
            raise error
        return self.new_body(owner)

    def makers(self, entities: Sequence[int]) -> tuple[list[Any], list[Any]]:
        """Return the components of bodies in the roles of position and extents.

        Raises KeyError for a body that has lost one since the last step.
        """
        places, sizes = (self.components(entities, kind.type) for kind in self._registry.makers)
        for entity, place, size in zip(entities, places, sizes, strict=True):
            if place is None or size is None:
                raise self.no_body(entity)
        return places, sizes

    def no_body(self, entity: int) -> KeyError:
        """Return the error to raise for an entity that is not a body."""
        return self._presence.no_body(entity, self._presence.finder(self._link.world)(entity))

    def components(self, entities: Sequence[int], kind: type) -> list[Any | None]:
        """Return the component of a type of each entity, None for an entity without it."""
        return self._presence.components(self._link.world, entities, kind)

    def component(self, entity: int, kind: type) -> Any | None:
        """Return the component of a type of an entity, None if it has none."""
        return self._presence.component(self._link.world, entity, kind)
