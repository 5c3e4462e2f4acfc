"""The bodies that the queries of a space search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._kernel import backend
from ecs_collide._kernel.arrays import are_among
from ecs_collide.components.basics import Disabled, Sensor, Velocity
from ecs_collide.components.dynamics import Attached
from ecs_collide.components.filters import Filter as CategoryFilter
from ecs_collide.components.filters import filter_numbers, filters_allow
from ecs_collide.components.immersed import Immersed
from ecs_collide.components.table import EXEMPT
from ecs_collide.esper_world import World
from ecs_collide.queries.arrivals import Arrivals
from ecs_collide.queries.present import PresentBodies
from ecs_collide.queries.queries import Allowed, Filter
from ecs_collide.queries.wrapped import Boxes, search_of
from ecs_collide.step.shared import SharedParts

Immerse: TypeAlias = Callable[[list[Any], float], list[Any]]
FindLeft: TypeAlias = Callable[[list[Any]], list[int]]


def refuse_within_step(name: str, is_stepping: bool) -> None:
    """Raise RuntimeError if a function that may not run within a step is called there."""
    if is_stepping:
        raise RuntimeError(
            f"{name}() was called within a step: call it between steps, "
            "or in a handler of their events"
        )


class QueriedBodies:
    """Bodies as of the end of the last step, or as of `update`, without those deleted since."""

    place = "space"

    def __init__(self, shared: SharedParts) -> None:
        self.dim = shared.state.dim
        self._state = shared.state
        self._link = shared.link
        self._registry = shared.registry
        self._presence = shared.presence
        self._lock = shared.lock
        self._domain = shared.domain
        self._search: Any = None
        self._searched: object = None  # the timeline whose trees it searches
        self._updated: PresentBodies | None = None
        self._moment: object = None  # of the last update

    # -- now, or as of the last step --

    def update(self, caller: str = "update") -> PresentBodies:
        """Apply the changes of the game since the last step or the last update."""
        self._lock.refuse_others()
        world, state = self._link.world, self._state
        world.require_current()
        refuse_within_step(caller, state.is_stepping)
        updated, self._updated = self._updated, None  # discarded if the update is cut short
        if updated is None or updated.up != self._registry.up:
            updated = PresentBodies(world, self._registry, self._presence, state.dim, self._domain)
        updated.refresh(self._moment is not state.moment)
        self._updated, self._moment = updated, state.moment
        return updated

    def follow(self, entities: ArrayLike | None) -> None:
        """Apply changes of the space if queries are up to date; None stands for all bodies."""
        if (updated := self.present) is not None:
            changed = self._registry.entities if entities is None else np.asarray(entities)
            self._updated = None
            updated.read_again(changed.tolist())
            self._updated = updated

    def read_all_again(self) -> None:
        """Update queries again if they were up to date, after all bodies have been shifted."""
        was_updated = self.present is not None
        self._updated = None
        if was_updated:
            self.update()

    @property
    def present(self) -> PresentBodies | None:
        """The bodies that `update` has read, None if a step has begun since."""
        return self._updated if self._moment is self._state.moment else None

    # -- characters --

    def begin_strides(self, strides: Any, kinds: tuple[type, ...], *known: object) -> None:
        """Let strides use the bodies of the last step, and the components as they are now.

        An `update` since then ends here, as no step may depend on it.
        """
        self._lock.refuse_others()
        self._moment = None
        world = self._link.world
        world.require_current()
        boxes = None if self._domain.axes else self.boxes
        entities = world.entities(kinds), world.dead(), self._presence.still_there(world)
        strides.around.begin(boxes, entities, *known)

    # -- zones --

    def immersion(self, may_meet: Callable[[int, int], bool]) -> tuple[Immerse, FindLeft]:
        """Return functions that let zones act on bodies; see `Immersion` and `Arrivals`."""
        registry, domain = self._registry, self._domain
        makers = tuple(kind.type for kind in registry.makers)
        immersion = backend.kernels.immersion.Immersion(
            self._state, registry.row_of, domain.wrap, makers, Velocity, Immersed
        )
        arrivals = Arrivals(registry, self._presence, domain, may_meet)
        others = Disabled, Sensor, Attached, *EXEMPT

        def immerse(zones: list[Any], dt: float) -> list[Any]:
            self._lock.refuse_others()
            world, index = self._link.world, registry.index
            noted: set[int] = set()
            if not index.is_current(world):
                noted.update(index.find_noted(world, world.probe.look(registry.types)))
            for kind in EXEMPT:
                if kind not in registry.types:  # no step has read one, so none is noted
                    noted.update(world.having(kind))
            changed = set(noted) if zones else set()
            if zones:
                lists = registry.lists
                changed.update(
                    immersion.find_moved(zones, registry.makers, lists.movers, lists.stills)
                )
            arrivals.find(world, zones, changed, others)
            new: list[Any] = immersion.immerse(
                zones, dt, world.entities(registry.types), world.dead(), noted,
                noted and self._presence.is_there(world), others, arrivals.zones, arrivals.bodies,
            )  # fmt: skip
            return sorted(new + arrivals.immerse(world, dt))

        def find_left(holders: list[Any]) -> list[int]:
            left: list[int] = immersion.find_left(holders)
            return [entity for entity in left if entity not in arrivals.immersed]

        return immerse, find_left

    # -- bodies and trees --

    @property
    def search(self) -> Any:
        """The search in the trees, at all images if the world wraps."""
        self._lock.refuse_others()
        if self.present is not None:
            return self.present.search
        if self._searched is not self._state.timeline:
            self._search = search_of(self._domain, *self._state.trees)
            self._search.use_bodies(self._registry.table.bodies)
            self._searched = self._state.timeline
        return self._search

    @property
    def slopes(self) -> tuple[Any, Callable[[int], int]]:
        """The kernel that measures slopes, and a function that returns the row of an entity in it."""
        if self.present is not None:
            return self.present.slopes, self.present.row
        return self._state.timeline.step.slopes, lambda id: self._registry.row_of.get(id, -1)

    @property
    def boxes(self) -> Boxes:
        """The tight bounds by row, and the entities."""
        if self.present is not None:
            return self.present.boxes
        views = self._registry.table.views
        return views.tight_min, views.tight_max, views.ids

    def row(self, id: int) -> int:
        """Return the row of an entity, -1 if it has none."""
        if self.present is not None:
            return self.present.row(id)
        row: int = self._registry.row_of.row(id)
        return row

    def attached_to(self, rows: Sequence[int]) -> Sequence[int]:
        """Return the rows of the boxes that are attached to the bodies in some rows."""
        if self.present is not None:
            return self.present.attached_to(rows)
        table, boxes = self._registry.table, np.asarray(self._registry.lists.attached)
        if not len(boxes) or not len(rows):
            return ()
        owners = table.seen_owner[boxes, 0]
        mine: list[int] = boxes[are_among(owners, table.ids[[*rows]])].tolist()
        return mine

    # -- which hits count --

    def allowed(self, filter: Filter, solid: bool = False) -> Allowed:
        """Return a function that returns whether an entity may be returned; None if all may."""
        self._lock.refuse_others()
        tests = [self._still_there()]
        if solid:
            tests.append(self._solid_test())
        if filter is not None:
            tests.append(self._passes(filter))
        wanted = [test for test in tests if test is not None]
        if len(wanted) < 2:
            return wanted[0] if wanted else None
        return lambda entity: all(test(entity) for test in wanted)

    def skipped(self, filter: Filter, solid: bool) -> Sequence[int]:
        """Return the rows that no query finds: deleted bodies, and filtered ones."""
        gone = self._gone_rows()
        if filter is None and not solid:
            return gone
        rows, ids = self._all_rows()
        counts = np.ones(len(rows), np.bool_)
        if solid:
            counts &= self._are_solid()[rows]
        if isinstance(filter, CategoryFilter):
            counts &= filters_allow(filter_numbers(filter), self._filters(rows).T)
        elif filter is not None:
            passes = self._passes(filter)
            there = np.flatnonzero(counts & ~are_among(rows, gone))
            counts[there] = [bool(passes(entity)) for entity in ids[there].tolist()]
        return [*gone, *rows[~counts].tolist()]

    def _passes(self, filter: Filter) -> Callable[[int], object]:
        """Return a function that returns whether an entity passes a filter."""
        if isinstance(filter, CategoryFilter):
            mine = filter_numbers(filter)
            if self.present is not None:
                find = self._link.world.component
                return lambda entity: filters_allow(
                    mine, filter_numbers(find(entity, CategoryFilter))
                )
            return lambda entity: filters_allow(mine, self._filters(self.row(entity)).tolist())
        kinds = (filter,) if isinstance(filter, type) else filter
        if isinstance(kinds, tuple) and kinds and all(isinstance(kind, type) for kind in kinds):
            types: tuple[type, ...] = kinds
            world = self._link.world
            world.require_current()
            return lambda entity: any(world.component(entity, kind) is not None for kind in types)
        if callable(filter):
            return filter
        raise TypeError(
            f"filter={filter!r} must be a component type, a tuple of component types of which "
            "an entity must have one, a Filter that must let it meet the entity, or a function "
            "that takes an entity"
        )

    def _solid_test(self) -> Callable[[int], object]:
        """Return a function that returns whether an entity is solid, also after further steps."""
        if self.present is not None:
            find = self._link.world.component
            return lambda entity: find(entity, Sensor) is None and find(entity, Attached) is None
        return lambda entity: self._registry.table.sensor[self.row(entity)] == 0

    def _are_solid(self) -> NDArray[np.bool_]:
        """Return which bodies are solid, by row."""
        if self.present is not None:
            return ~self.present.sensors()
        solid: NDArray[np.bool_] = self._registry.table.sensor == 0
        return solid

    def _filters(self, rows: int | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return categories, mask and group of the body in a row, or in each of several rows."""
        if self.present is not None:
            return self.present.filters()[rows]
        return self._registry.seen.filters_of(rows)

    def _all_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of all bodies, and their entities."""
        if self.present is not None:
            rows = self.present.rows
            return rows, self.present.table.ids[rows]
        return self._registry.rows, self._registry.entities

    # -- existence --

    def _still_there(self) -> Allowed:
        """Return a function that returns whether an entity still exists; None if all do."""
        world = self._link.attached
        if world is None:
            return None
        if self.present is None:
            return self._presence.still_there(world)
        return None if self.present.is_current() else self._is_body_now(world)

    def _gone_rows(self) -> tuple[int, ...]:
        """Return the rows of the bodies that were deleted since then."""
        world = self._link.attached
        if world is None:
            return ()
        if self.present is None:
            return self._presence.gone_rows(world)
        if self.present.is_current():
            return ()
        is_there, ids = self._is_body_now(world), self.present.table.ids
        return tuple(row for row in self.present.rows.tolist() if not is_there(int(ids[row])))

    def no_body(self, entity: int) -> KeyError:
        """Return the error to raise for an entity that `update` has not found."""
        return self._presence.skipped(self._link.world, entity)

    def _is_body_now(self, world: World) -> Callable[[int], bool]:
        find, is_body = self._presence.finder(world), self._presence.is_body
        return lambda entity: is_body(find(entity))
