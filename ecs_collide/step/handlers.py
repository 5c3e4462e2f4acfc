"""The handlers of events, and the delivery of events to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from ecs_collide.esper_world import World
from ecs_collide.events import COLLISION, CONTACT, CONTACT_BEGAN, CONTACT_ENDED
from ecs_collide.step.registrations import Registrations, Unsubscribe

_Event = TypeVar("_Event", bound=Any)

_REGISTERED_BY = {
    COLLISION: "on_collision",
    CONTACT_BEGAN: "on_contact_began",
    CONTACT_ENDED: "on_contact_ended",
    CONTACT: "on_contact",
}


def oriented(
    world: World, event: _Event, first_kind: type | None, second_kind: type | None
) -> _Event | None:
    """Return an event whose first body has the first component, and the second the second.

    That is the event itself or the same one with its bodies swapped; the event itself where both
    would do, and None where neither does.
    """

    def has(entity: int, kind: type | None) -> bool:
        return kind is None or world.component(entity, kind) is not None

    if has(event.first, first_kind) and has(event.second, second_kind):
        return event
    if has(event.second, first_kind) and has(event.first, second_kind):
        swapped: _Event = event.swapped()
        return swapped
    return None


class Handler(NamedTuple):
    """A function that a space calls for its events; `str` of it is the call that registered it.

    Attributes
    ----------
    event : str
        Which events: `COLLISION`, `CONTACT_BEGAN`, `CONTACT_ENDED` or `CONTACT`.
    function : callable
        Takes the event.
    first_kind, second_kind : type or None
        Only events between bodies with these components, in this order; None for all.
    """

    event: str
    function: Callable[[Any], object]
    first_kind: type | None
    second_kind: type | None

    def __str__(self) -> str:
        name = getattr(self.function, "__qualname__", None) or repr(self.function)
        kinds = [self.first_kind, self.second_kind]
        while kinds and kinds[-1] is None:
            kinds.pop()
        given = [name, *("None" if kind is None else kind.__name__ for kind in kinds)]
        return f"{_REGISTERED_BY[self.event]}({', '.join(given)})"


class Subscribers:
    """The handlers of a space, called in the order in which they were registered."""

    def __init__(self) -> None:
        self._handlers = Registrations()

    @property
    def all(self) -> list[Handler]:
        """The handlers in the order in which they are called."""
        return [Handler(own.event, own.function, *own.kinds) for own in self._handlers]

    def clear(self) -> None:
        """Remove all handlers."""
        self._handlers.clear()

    def add(
        self,
        world: World | None,
        name: str,
        function: Callable[[Any], object],
        first_kind: type | None,
        second_kind: type | None,
    ) -> Unsubscribe:
        """Call a function for each event of a name; return what removes it."""
        if not callable(function):
            raise TypeError(f"{function!r} must be a function that takes one event")
        registration = self._handlers.add(world, function, (first_kind, second_kind), name)
        return partial(self._handlers.remove, registration)

    def deliver(
        self,
        world: World,
        collisions: Iterable[Any],
        contact_runs: Callable[[], Iterable[tuple[str, Iterable[Any]]]],
        touching: Callable[[], Iterable[Any]],
    ) -> list[Exception]:
        """Hand out events: to the functions in order, then to the world's own handlers.

        An exception stops neither the others nor the other events; all are returned.
        `contact_runs` returns begins and ends under their names, in order, and `touching` the
        contacts of the step.  They are called only if somebody listens: where many bodies
        bounce, there are many runs.
        """
        errors: list[Exception] = []

        def call(function: Callable[[Any], object], event: Any) -> None:
            try:
                function(event)
            except Exception as error:
                errors.append(error)

        named: list[tuple[str, Iterable[Any]]] = [(COLLISION, collisions)]
        wanted = {own.event for own in self._handlers}
        if CONTACT_BEGAN in wanted or CONTACT_ENDED in wanted:
            named += contact_runs()
        if CONTACT in wanted:
            named.append((CONTACT, touching()))
        # The handlers of each event are selected before any of them can delete a body.
        plan = [
            (own, seen)
            for name, events in named
            if (of_name := [own for own in self._handlers if own.event == name])
            for event in events
            for own in of_name
            if (seen := oriented(world, event, *own.kinds)) is not None
        ]
        handlers_of = world.handlers()
        for own, event in plan:
            if own in self._handlers:
                call(own.function, event)

        def dispatch(name: str, events: Iterable[Any]) -> None:
            if handlers_of(name):
                for event in events:
                    for handler in handlers_of(name):
                        call(handler, event)

        dispatch(COLLISION, collisions)
        if handlers_of(CONTACT_BEGAN) or handlers_of(CONTACT_ENDED):
            for name, events in contact_runs():
                dispatch(name, events)
        if handlers_of(CONTACT):
            dispatch(CONTACT, touching())
        return errors
