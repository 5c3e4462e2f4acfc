"""Functions of the game's own that say of two bodies whether they may meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ecs_collide.constants import PICKY, TRAITS
from ecs_collide.esper_world import World
from ecs_collide.step.handlers import Generations, Unsubscribe, require_component_type
from ecs_collide.sync.registry import Roster

Allows = Callable[[int, int], object]
Judge = tuple[Allows, type | None, type | None]


class Judges:
    """The functions that the pairs of a space are put before, each pair once in a step."""

    def __init__(self, roster: Roster, candidates: Any) -> None:
        self._roster = roster
        self._candidates = candidates
        self._judges: list[Judge] = []
        self._generations = Generations()
        self._verdicts: dict[tuple[int, int], bool] = {}
        self._errors: list[Exception] = []

    def use(self, candidates: Any) -> None:
        """Put the pairs that another kernel finds before the functions from now on."""
        self._candidates = candidates
        self._tell_kernel()

    @property
    def all(self) -> list[Judge]:
        """The functions, and for which components each is asked."""
        return list(self._judges)

    def begin_step(self, errors: list[Exception]) -> None:
        """Forget what was said in the step before; what is raised goes to `errors`."""
        self._verdicts.clear()
        self._errors = errors

    def add(
        self,
        world: World | None,
        allows: Allows,
        first_kind: type | None,
        second_kind: type | None,
    ) -> Unsubscribe:
        """Ask one more function; return what takes it away again.

        A function that is there for the same components is asked once.  It takes the place of
        functions from the same definition that were added before the world was cleared.
        """
        if not callable(allows):
            raise TypeError(f"allows={allows!r} must be a function that takes two entities")
        for argument, kind in (("first_kind", first_kind), ("second_kind", second_kind)):
            if kind is not None:
                require_component_type(argument, kind)
                self._roster.watch(kind, PICKY << TRAITS)
        wanted = (allows, first_kind, second_kind)
        generations = self._generations  # by identity: a function need not have a hash
        for known in self._judges[:]:
            if known[1:] == wanted[1:] and generations.is_replaced(
                id(known), known[0], allows, world
            ):
                self._judges.remove(known)
                generations.drop(id(known))
        judge = next((known for known in self._judges if known == wanted), wanted)
        if judge is wanted:
            self._judges.append(judge)
        generations.add(id(judge), world)
        self._tell_kernel()

        def remove() -> None:
            if any(known is judge for known in self._judges):
                self._judges.remove(judge)
                generations.drop(id(judge))
                self._tell_kernel()

        return remove

    def _tell_kernel(self) -> None:
        self._candidates.judge = self._judge if self._judges else None
        self._candidates.all_picky = any(
            first is None and second is None for _, first, second in self._judges
        )

    def allows(self, first: int, second: int, has: Callable[[int, type | None], bool]) -> bool:
        """Tell whether two entities, the lower id first, may meet as of now; raises what they do.

        `has` tells whether an entity has a component of a type, or of none in particular.
        """
        return all(
            allows(first, second)
            for allows, one, other in self._judges
            if (has(first, one) and has(second, other)) or (has(second, one) and has(first, other))
        )

    def _judge(self, one: int, other: int) -> bool:
        """Tell whether two bodies, given by their rows, may meet; raises what ends the step."""
        ids = self._roster.views.ids
        if ids[one] > ids[other]:
            one, other = other, one
        verdict = self._verdicts.get((one, other))
        if verdict is None:
            verdict = all(
                self._ask(allows, ids[one], ids[other])
                for allows, first_kind, second_kind in self._judges
                if self._is_pair_of(one, other, first_kind, second_kind)
            )
            self._verdicts[one, other] = verdict
        return verdict

    def _is_pair_of(
        self, one: int, other: int, first_kind: type | None, second_kind: type | None
    ) -> bool:
        def has(row: int, kind: type | None) -> bool:
            return kind is None or self._roster.holder(kind, row) is not None

        return (has(one, first_kind) and has(other, second_kind)) or (
            has(other, first_kind) and has(one, second_kind)
        )

    def _ask(self, allows: Allows, first: int, second: int) -> bool:
        try:
            return bool(allows(first, second))
        except MemoryError:
            raise
        except Exception as error:
            self._errors.append(error)
            return True
