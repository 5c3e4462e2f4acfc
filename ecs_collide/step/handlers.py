"""Who wants to hear of what, and telling them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import BuiltinMethodType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from ecs_collide.events import COLLISION, CONTACT_BEGAN, CONTACT_ENDED

if TYPE_CHECKING:
    from ecs_collide.esper_world import World

Unsubscribe = Callable[[], None]

_REGISTERED_BY = {
    COLLISION: "on_collision",
    CONTACT_BEGAN: "on_contact_began",
    CONTACT_ENDED: "on_contact_ended",
}


def matches(world: World, event: Any, first_kind: type | None, second_kind: type | None) -> bool:
    """Tell whether one body of an event has the one component and the other the other."""

    def has(entity: int, kind: type | None) -> bool:
        return kind is None or world.component(entity, kind) is not None

    return (has(event.first, first_kind) and has(event.second, second_kind)) or (
        has(event.second, first_kind) and has(event.first, second_kind)
    )


def require_component_type(name: str, kind: object) -> None:
    """Raise TypeError unless a component type is given where one is wanted."""
    if not isinstance(kind, type):
        raise TypeError(f"{name}={kind!r} must be a component type, as Velocity or your own class")


class Handler(NamedTuple):
    """A function that a space calls for its events; `str` of it is the call that registered it.

    Attributes
    ----------
    event : str
        Which events: `COLLISION`, `CONTACT_BEGAN` or `CONTACT_ENDED`.
    function : callable
        Takes the event.
    first_kind, second_kind : type or None
        Only events between bodies with these components; None for all.
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

    def is_same(self, other: Handler) -> bool:
        """Return whether both are one function for the same events; the kinds have no order."""
        return (
            self.event == other.event
            and is_same_function(self.function, other.function)
            and {self.first_kind, self.second_kind} == {other.first_kind, other.second_kind}
        )


def is_same_function(one: object, other: object) -> bool:
    """Return whether two callables are one function, or one method of one object."""
    # Each access to a method makes another object; these are equal if the functions and the
    # instances are identical.
    return one is other or (isinstance(one, (MethodType, BuiltinMethodType)) and one == other)


class Subscribers:
    """The handlers of a space, called in the order in which they were registered."""

    def __init__(self) -> None:
        self._handlers: dict[object, Handler] = {}

    @property
    def all(self) -> list[Handler]:
        """The handlers in the order in which they are called."""
        return list(self._handlers.values())

    def clear(self) -> None:
        """Remove all handlers."""
        self._handlers.clear()

    def add(
        self,
        name: str,
        function: Callable[[Any], object],
        first_kind: type | None,
        second_kind: type | None,
    ) -> Unsubscribe:
        """Call a function for each event of a name; return what removes it.

        A function that is registered for the same events already stays registered once.
        """
        if not callable(function):
            raise TypeError(f"{function!r} must be a function that takes one event")
        for argument, kind in (("first_kind", first_kind), ("second_kind", second_kind)):
            if kind is not None:
                require_component_type(argument, kind)
        handlers, wanted = self._handlers, Handler(name, function, first_kind, second_kind)
        key = next((key for key, known in handlers.items() if known.is_same(wanted)), object())
        handlers.setdefault(key, wanted)

        def unsubscribe() -> None:
            handlers.pop(key, None)

        return unsubscribe

    def deliver(
        self,
        world: World,
        collisions: Iterable[Any],
        contact_runs: Callable[[], Iterable[tuple[str, Iterable[Any]]]],
    ) -> list[Exception]:
        """Hand out events: to the functions in order, then to the world's own handlers.

        An exception stops neither the others nor the other events; all are returned.
        `contact_runs` returns begins and ends under their names, in order.  It is called
        only if somebody listens to them: where many bodies bounce, there are many runs.
        """
        errors: list[Exception] = []

        def call(function: Callable[[Any], object], event: Any) -> None:
            try:
                function(event)
            except Exception as error:
                errors.append(error)

        named: list[tuple[str, Iterable[Any]]] = [(COLLISION, collisions)]
        if any(own.event != COLLISION for own in self._handlers.values()):
            named += contact_runs()
        # Who is to hear of what is settled before anybody can delete a body.
        plan = [
            (key, own.function, event)
            for name, events in named
            if (of_name := [pair for pair in self._handlers.items() if pair[1].event == name])
            for event in events
            for key, own in of_name
            if matches(world, event, own.first_kind, own.second_kind)
        ]
        handlers_of = world.handlers()
        for key, function, event in plan:
            if key in self._handlers:
                call(function, event)

        def dispatch(name: str, events: Iterable[Any]) -> None:
            if handlers_of(name):
                for event in events:
                    for handler in handlers_of(name):
                        call(handler, event)

        dispatch(COLLISION, collisions)
        if handlers_of(CONTACT_BEGAN) or handlers_of(CONTACT_ENDED):
            for name, events in contact_runs():
                dispatch(name, events)
        return errors
