"""Functions of the game's own that say of two bodies whether they may meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ecs_collide.constants import HAS_FILTER, SURFACES_SHIFT
from ecs_collide.esper_world import World
from ecs_collide.step.handlers import Generations, Unsubscribe, require_component_type
from ecs_collide.sync.registry import BodyRegistry

Allows = Callable[[int, int], object]
PairFilter = tuple[Allows, type | None, type | None]


class PairFilters:
    """The functions that the pairs of a space are put before, each pair once in a step."""

    def __init__(self, registry: BodyRegistry, broadphase: Any) -> None:
        self._registry = registry
        self._broadphase = broadphase
        self._filters: list[PairFilter] = []
        self._generations = Generations()
        self._allowed: dict[tuple[int, int], bool] = {}
        self._errors: list[Exception] = []

    def use(self, broadphase: Any) -> None:
        """Put the pairs that another kernel finds before the functions from now on."""
        self._broadphase = broadphase
        self._update_kernel()

    @property
    def all(self) -> list[PairFilter]:
        """The functions, and the components for which each is called."""
        return list(self._filters)

    def begin_step(self, errors: list[Exception]) -> None:
        """Forget what was said in the step before; what is raised goes to `errors`."""
        self._allowed.clear()
        self._errors = errors

    def add(
        self,
        world: World | None,
        allows: Allows,
        first_kind: type | None,
        second_kind: type | None,
    ) -> Unsubscribe:
        """Add a function; return a function that removes it.

        A function that is there for the same components is asked once.  It takes the place of
        functions from the same definition that were added before the world was cleared.
        """
        if not callable(allows):
            raise TypeError(f"allows={allows!r} must be a function that takes two entities")
        for argument, kind in (("first_kind", first_kind), ("second_kind", second_kind)):
            if kind is not None:
                require_component_type(argument, kind)
                self._registry.watch(kind, HAS_FILTER << SURFACES_SHIFT)
        wanted = (allows, first_kind, second_kind)
        generations = self._generations  # by identity: a function need not have a hash
        for known in self._filters[:]:
            if known[1:] == wanted[1:] and generations.is_replaced(
                id(known), known[0], allows, world
            ):
                self._filters.remove(known)
                generations.drop(id(known))
        pair_filter = next((known for known in self._filters if known == wanted), wanted)
        if pair_filter is wanted:
            self._filters.append(pair_filter)
        generations.add(id(pair_filter), world)
        self._update_kernel()

        def remove() -> None:
            if any(known is pair_filter for known in self._filters):
                self._filters.remove(pair_filter)
                generations.drop(id(pair_filter))
                self._update_kernel()

        return remove

    def _update_kernel(self) -> None:
        self._broadphase.pair_filter = self._allows_rows if self._filters else None
        self._broadphase.all_have_filters = any(
            first is None and second is None for _, first, second in self._filters
        )

    def allows(self, first: int, second: int, has: Callable[[int, type | None], bool]) -> bool:
        """Return whether two entities, the lower id first, may meet as of now; raises what they do.

        `has` tells whether an entity has a component of a type, or of none in particular.
        """
        return all(
            allows(first, second)
            for allows, one, other in self._filters
            if (has(first, one) and has(second, other)) or (has(second, one) and has(first, other))
        )

    def _allows_rows(self, one: int, other: int) -> bool:
        """Return whether two bodies, given by their rows, may meet; raises what ends the step."""
        ids = self._registry.table.views.ids
        if ids[one] > ids[other]:
            one, other = other, one
        allowed = self._allowed.get((one, other))
        if allowed is None:
            allowed = all(
                self._call_filter(allows, ids[one], ids[other])
                for allows, first_kind, second_kind in self._filters
                if self._is_pair_of(one, other, first_kind, second_kind)
            )
            self._allowed[one, other] = allowed
        return allowed

    def _is_pair_of(
        self, one: int, other: int, first_kind: type | None, second_kind: type | None
    ) -> bool:
        def has(row: int, kind: type | None) -> bool:
            return kind is None or self._registry.holder(kind, row) is not None

        return (has(one, first_kind) and has(other, second_kind)) or (
            has(other, first_kind) and has(one, second_kind)
        )

    def _call_filter(self, allows: Allows, first: int, second: int) -> bool:
        try:
            return bool(allows(first, second))
        except MemoryError:
            raise
        except Exception as error:
            self._errors.append(error)
            return True
