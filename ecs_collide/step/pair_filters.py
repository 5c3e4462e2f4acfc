"""The callbacks of the game that decide whether two bodies may meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ecs_collide._kernel.constants import TRAITS_SHIFT, Trait
from ecs_collide.esper_world import World
from ecs_collide.step.registrations import Registrations, Unsubscribe
from ecs_collide.sync.registry import BodyRegistry

Allows = Callable[[int, int], object]
PairFilter = tuple[Allows, type | None, type | None]


class PairFilters:
    """The callbacks that filter the pairs of a space; each is called once per pair and step."""

    def __init__(self, registry: BodyRegistry, broadphase: Any, errors: list[Exception]) -> None:
        self._registry = registry
        self._broadphase = broadphase
        self._filters = Registrations()
        self._allowed: dict[tuple[int, int], bool] = {}
        self._errors = errors  # of the step

    def use(self, broadphase: Any) -> None:
        """Filter the pairs of another `Broadphase` from now on."""
        self._broadphase = broadphase
        self._update_kernel()

    @property
    def all(self) -> list[PairFilter]:
        """The functions, and the components for which each is called."""
        return [(known.function, *known.kinds) for known in self._filters]

    def begin_step(self) -> None:
        """Clear the results of the step before."""
        self._allowed.clear()

    def add(
        self,
        world: World | None,
        allows: Allows,
        first_kind: type | None,
        second_kind: type | None,
    ) -> Unsubscribe:
        """Add a function; return a function that removes it."""
        if not callable(allows):
            raise TypeError(f"allows={allows!r} must be a function that takes two entities")
        registration = self._filters.add(world, allows, (first_kind, second_kind))
        for kind in (first_kind, second_kind):
            if kind is not None:
                self._registry.index.watch(kind, Trait.GAME_FILTER << TRAITS_SHIFT)
        self._update_kernel()

        def remove() -> None:
            self._filters.remove(registration)
            self._update_kernel()

        return remove

    def _update_kernel(self) -> None:
        self._broadphase.pair_filter = self._allows_rows if self._filters else None
        self._broadphase.all_have_filters = any(
            known.kinds == (None, None) for known in self._filters
        )

    def _functions_for(
        self, one: int, other: int, has: Callable[[int, type | None], bool]
    ) -> Iterator[Allows]:
        """Yield the functions whose component types the two bodies have, in either order."""
        for known in self._filters:
            first, second = known.kinds
            if (has(one, first) and has(other, second)) or (has(other, first) and has(one, second)):
                yield known.function

    def allows(self, first: int, second: int, has: Callable[[int, type | None], bool]) -> bool:
        """Return whether two entities, the lower id first, may meet; callback exceptions propagate.

        `has` returns whether an entity has a component of a type; True for None.
        """
        return all(allows(first, second) for allows in self._functions_for(first, second, has))

    def _allows_rows(self, one: int, other: int) -> bool:
        """Return whether two bodies, given by their rows, may meet; compute it once per step."""
        ids = self._registry.table.views.ids
        if ids[one] > ids[other]:
            one, other = other, one
        allowed = self._allowed.get((one, other))
        if allowed is None:
            allowed = all(
                self._call_filter(allows, ids[one], ids[other])
                for allows in self._functions_for(one, other, self._has)
            )
            self._allowed[one, other] = allowed
        return allowed

    def _has(self, row: int, kind: type | None) -> bool:
        return kind is None or self._registry.index.holder(kind, row) is not None

    def _call_filter(self, allows: Allows, first: int, second: int) -> bool:
        try:
            return bool(allows(first, second))
        except MemoryError:
            raise
        except Exception as error:
            self._errors.append(error)
            return True
