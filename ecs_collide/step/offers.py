"""Who is offered the impacts of a step, and which components of a game's own matter to that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ecs_collide.constants import HANDED
from ecs_collide.step.handlers import Unsubscribe, require_component_type
from ecs_collide.step.impact import Impact
from ecs_collide.sync.registry import Roster

Respond = Callable[[Impact], object]


class Offer(NamedTuple):
    """A response system as a step sees it.

    Attributes
    ----------
    respond : callable or None
        Takes the impact; returns `DEFAULT` to leave it to the next one.  None leaves all.
    kinds : tuple of type
        It is offered the impacts in which a body has one of these components; empty: all.
    system : object
        Whose it is.
    """

    respond: Respond | None
    kinds: tuple[type, ...]
    system: object


def handled_kinds(name: str, handles: object) -> tuple[type, ...]:
    """Return the component types that a response system handles; none for all impacts.

    Raises
    ------
    TypeError
        `handles` is neither a component type, nor a tuple of them, nor None.
    """
    if handles is None:
        return ()
    kinds = handles if isinstance(handles, tuple) else (handles,)
    if not kinds:
        raise TypeError(f"{name}.handles=() must name a component type; None for all impacts")
    for kind in kinds:
        require_component_type(f"{name}.handles", kind)
    return kinds


class OwnKinds:
    """The component types that a game has given a part in answering, by the marks they have.

    A type may be given the same part several times: it has it until each has been taken back.
    """

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._counts: Counter[tuple[type, int]] = Counter()

    def add(self, kind: type, *marks: int) -> Unsubscribe:
        """Give a type some parts; return what takes them back, and does nothing the second time."""
        for mark in marks:
            self._counts[kind, mark] += 1
            if self._counts[kind, mark] == 1:
                self._roster.watch(kind, mark)
        given = [*marks]

        def remove() -> None:
            while given:
                mark = given.pop()
                self._counts[kind, mark] -= 1
                if self._counts[kind, mark] == 0:
                    self._roster.unwatch(kind, mark)

        return remove

    def hand_over(self, kinds: Iterable[type]) -> None:
        """Hand the impacts of bodies with these components over from the next step on."""
        for kind in kinds:
            if not self._counts[kind, HANDED]:
                self.add(kind, HANDED)

    def are_handed(self, kinds: Iterable[type]) -> bool:
        """Return whether the impacts of bodies with these components are handed over."""
        return all(self._counts[kind, HANDED] for kind in kinds)
