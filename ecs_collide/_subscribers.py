"""Who wants to hear of what, and telling them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ecs_collide.events import COLLISION, CONTACT_BEGAN, CONTACT_ENDED

if TYPE_CHECKING:
    from ecs_collide._world import World

Unsubscribe = Callable[[], None]


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


class Subscribers:
    """Functions by event name, called in the order in which they came."""

    def __init__(self) -> None:
        self._functions: dict[str, dict[object, tuple[Callable[[Any], object], Any, Any]]] = {
            COLLISION: {},
            CONTACT_BEGAN: {},
            CONTACT_ENDED: {},
        }

    def add(
        self,
        name: str,
        function: Callable[[Any], object],
        first_kind: type | None,
        second_kind: type | None,
    ) -> Unsubscribe:
        """Call a function for each event of a name; return what takes it away again."""
        functions = self._functions[name]
        if not callable(function):
            raise TypeError(f"{function!r} must be a function that takes one event")
        for argument, kind in (("first_kind", first_kind), ("second_kind", second_kind)):
            if kind is not None:
                require_component_type(argument, kind)
        key = object()
        functions[key] = (function, first_kind, second_kind)

        def unsubscribe() -> None:
            functions.pop(key, None)

        return unsubscribe

    def deliver(
        self, world: World, named_events: list[tuple[str, Iterable[Any]]]
    ) -> list[Exception]:
        """Hand out events: to the functions in order, then to the world's own handlers.

        An exception stops neither the others nor the other events; all are returned.
        """
        errors: list[Exception] = []

        def call(function: Callable[[Any], object], event: Any) -> None:
            try:
                function(event)
            except Exception as error:
                errors.append(error)

        # Who is to hear of what is settled before anybody can delete a body.
        plan = [
            (functions, key, function, event)
            for name, events in named_events
            if (functions := self._functions[name])
            for event in events
            for key, (function, first_kind, second_kind) in functions.items()
            if matches(world, event, first_kind, second_kind)
        ]
        handlers_of = world.handlers()
        for functions, key, function, event in plan:
            if key in functions:
                call(function, event)
        for name, events in named_events:
            if handlers_of(name):
                for event in events:
                    for handler in handlers_of(name):
                        call(handler, event)
        return errors
