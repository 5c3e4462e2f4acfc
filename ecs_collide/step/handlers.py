"""The handlers of events, and the delivery of events to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import BuiltinMethodType, CodeType, MethodType
from typing import Any, NamedTuple, TypeVar

from ecs_collide.esper_world import World
from ecs_collide.events import COLLISION, CONTACT, CONTACT_BEGAN, CONTACT_ENDED

Unsubscribe = Callable[[], None]
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


def require_component_type(name: str, kind: object) -> None:
    """Raise TypeError unless a component type is given where one is wanted."""
    if not isinstance(kind, type):
        raise TypeError(f"{name}={kind!r} must be a component type, as Velocity or your own class")


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

    def is_same(self, other: Handler) -> bool:
        """Return whether both are one function for the same events."""
        return self.is_for_same(other) and is_same_function(self.function, other.function)

    def is_for_same(self, other: Handler) -> bool:
        """Return whether both are for the same events."""
        return (self.event, self.first_kind, self.second_kind) == (
            other.event,
            other.first_kind,
            other.second_kind,
        )


def is_same_function(one: object, other: object) -> bool:
    """Return whether two callables are one function, or one method of one object."""
    # Each access to a method makes another object; these are equal if the functions and the
    # instances are identical.
    return one is other or (isinstance(one, (MethodType, BuiltinMethodType)) and one == other)


def is_same_definition(one: object, other: object) -> bool:
    """Return whether two functions were made by the same ``def`` or ``lambda``."""
    code = _code_of(one)
    return code is not None and code is _code_of(other)


def _code_of(function: object) -> CodeType | None:
    while isinstance(function, (MethodType, partial)):
        function = function.__func__ if isinstance(function, MethodType) else function.func
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


class Generations:
    """Which functions were registered before the world was last cleared.

    A game that builds a level again makes its nested functions and its bound methods again, and
    these are other objects than those of the level that is gone.
    """

    def __init__(self) -> None:
        self._of: dict[object, object] = {}  # by registration: the generation it is of

    def add(self, registration: object, world: World | None) -> None:
        """Note that a registration is of the world's present generation."""
        self._of[registration] = None if world is None else world.generation()

    def is_replaced(
        self, registration: object, known: object, function: object, world: World | None
    ) -> bool:
        """Return whether a function takes the place of one that an earlier level registered."""
        then = self._of.get(registration)
        return (
            then is not None
            and world is not None
            and then is not world.generation()
            and is_same_definition(known, function)
        )

    def drop(self, registration: object) -> None:
        """Forget a registration."""
        self._of.pop(registration, None)


class Subscribers:
    """The handlers of a space, called in the order in which they were registered."""

    def __init__(self) -> None:
        self._handlers: dict[object, Handler] = {}
        self._generations = Generations()

    @property
    def all(self) -> list[Handler]:
        """The handlers in the order in which they are called."""
        return list(self._handlers.values())

    def clear(self) -> None:
        """Remove all handlers."""
        self._handlers.clear()
        self._generations = Generations()

    def add(
        self,
        world: World | None,
        name: str,
        function: Callable[[Any], object],
        first_kind: type | None,
        second_kind: type | None,
    ) -> Unsubscribe:
        """Call a function for each event of a name; return what removes it.

        A function that is registered for the same events already stays registered once.  One
        that comes from the same definition as functions that were registered for the same events
        before the world was cleared takes their place.
        """
        if not callable(function):
            raise TypeError(f"{function!r} must be a function that takes one event")
        for argument, kind in (("first_kind", first_kind), ("second_kind", second_kind)):
            if kind is not None:
                require_component_type(argument, kind)
        handlers, wanted = self._handlers, Handler(name, function, first_kind, second_kind)
        generations = self._generations
        key = next((key for key, known in handlers.items() if known.is_same(wanted)), None)
        for old, known in list(handlers.items()):
            if (
                old is not key
                and known.is_for_same(wanted)
                and generations.is_replaced(old, known.function, function, world)
            ):
                del handlers[old]
                generations.drop(old)
        if key is None:
            key = object()
            handlers[key] = wanted
        generations.add(key, world)

        def unsubscribe() -> None:
            handlers.pop(key, None)
            generations.drop(key)

        return unsubscribe

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
        wanted = {own.event for own in self._handlers.values()}
        if CONTACT_BEGAN in wanted or CONTACT_ENDED in wanted:
            named += contact_runs()
        if CONTACT in wanted:
            named.append((CONTACT, touching()))
        # The handlers of each event are selected before any of them can delete a body.
        plan = [
            (key, own.function, seen)
            for name, events in named
            if (of_name := [pair for pair in self._handlers.items() if pair[1].event == name])
            for event in events
            for key, own in of_name
            if (seen := oriented(world, event, own.first_kind, own.second_kind)) is not None
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
        if handlers_of(CONTACT):
            dispatch(CONTACT, touching())
        return errors
