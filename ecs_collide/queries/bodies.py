"""The bodies of a space, as its queries search them."""

from __future__ import annotations

from collections.abc import Callable

from ecs_collide.motion.wrapping import Ring
from ecs_collide.queries.queries import Allowed, Filter
from ecs_collide.queries.searcher import Boxes, Searcher
from ecs_collide.queries.wrapped import WrappedSearcher
from ecs_collide.step.lock import Guard
from ecs_collide.step.lookup import WorldLink
from ecs_collide.step.state import StepState
from ecs_collide.sync.presence import Presence
from ecs_collide.sync.registry import Roster


class QueriedBodies:
    """Bodies as of the end of the last step, without those that were deleted since."""

    def __init__(
        self,
        state: StepState,
        link: WorldLink,
        roster: Roster,
        presence: Presence,
        lock: Guard,
        ring: Ring | None,
    ) -> None:
        self._state = state
        self._link = link
        self._roster = roster
        self._presence = presence
        self._lock = lock
        self._ring = ring
        self._timeline: object = None  # whose trees the searcher searches
        self._searcher: Searcher

    @property
    def searcher(self) -> Searcher:
        """What searches both trees, at all images of the world where it wraps."""
        self._lock.refuse_others()
        state = self._state
        if self._timeline is not state.timeline:
            self._searcher = (
                Searcher(state.dim, "space", *state.trees)
                if self._ring is None
                else WrappedSearcher(self._ring, state.dim, "space", *state.trees)
            )
            self._timeline = state.timeline
        return self._searcher

    @property
    def boxes(self) -> Boxes:
        """The tight bounds by row, and the entities."""
        views = self._roster.views
        return views.tight_min, views.tight_max, views.ids

    def row(self, id: int) -> int:
        """Return the row of an entity, -1 if it has none."""
        return self._roster.row_of.get(id, -1)

    def gone_rows(self) -> tuple[int, ...]:
        """Return the rows of the bodies that were deleted since the last step."""
        world = self._link.attached
        return () if world is None else self._presence.gone_rows(world)

    def allowed(self, filter: Filter, n_hits: int = 1) -> Allowed:
        """Return a function that tells whether an entity counts, None if all do."""
        if filter is None:
            attached = self._link.attached
            return None if attached is None else self._presence.still_there(attached, n_hits)
        kinds = (filter,) if isinstance(filter, type) else filter
        if isinstance(kinds, tuple) and kinds and all(isinstance(kind, type) for kind in kinds):
            return self._having(kinds, n_hits)
        if callable(filter):
            if self._link.attached is None:
                return filter
            exists = self._presence.is_there(self._link.attached)
            return lambda entity: exists(entity) and filter(entity)
        raise TypeError(
            f"filter={filter!r} must be a component type, a tuple of component types of which "
            "an entity must have all, or a function that takes an entity"
        )

    def _having(self, kinds: tuple[type, ...], n_hits: int) -> Callable[[int], object]:
        """Return a function that tells whether an entity has all of some components."""
        world = self._link.world
        world.require_current()
        is_there = self._presence.still_there(world, n_hits)  # no code of the game runs here

        def has_all(entity: int) -> bool:
            return (is_there is None or is_there(entity)) and all(
                world.component(entity, kind) is not None for kind in kinds
            )

        return has_all
