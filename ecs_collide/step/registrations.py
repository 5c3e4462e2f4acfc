"""The functions that a game registers: handlers, pair filters and responses.

A game that builds a level again makes new objects of its nested functions and bound methods.  The
new objects replace the old ones, because they come from the same definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import BuiltinMethodType, CodeType, MethodType
from typing import Any, TypeVar, overload

from ecs_collide.esper_world import World

Unsubscribe = Callable[[], None]
Kinds = tuple[type | None, type | None]
F = TypeVar("F", bound=Callable[..., object])


ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()
"""The argument in place of a function that comes later, as the decorated one."""


class Subscription:
    """Some registered functions.  Called without an argument, it removes them.

    Called with a function, as a decorator, it registers that too and returns it.
    """

    def __init__(self, add: Callable[[Any], Unsubscribe]) -> None:
        self._add = add
        self._removers: list[Unsubscribe] = []

    @overload
    def __call__(self) -> None: ...
    @overload
    def __call__(self, function: F) -> F: ...
    def __call__(self, function: Any = ABSENT) -> Any:
        """Register and return a function, or remove those that are registered."""
        if function is not ABSENT:
            self._removers.append(self._add(function))
            return function
        while self._removers:
            self._removers.pop()()
        return None


def subscribe(
    add: Callable[[Any, type | None, type | None], Unsubscribe],
    function: Any,
    first: type | None,
    second: type | None,
) -> Subscription:
    """Return the subscription of a function, or a decorator if a type or `ABSENT` is in its place."""
    if function is not ABSENT and not isinstance(function, type):
        made = Subscription(lambda each: add(each, first, second))
        made(function)
        return made
    if second is not None:
        names = ", ".join(getattr(kind, "__name__", "None") for kind in (function, first, second))
        raise TypeError(
            f"({names}) are three component types: give a function and at most two types, or as a "
            "decorator the types alone"
        )
    kind = None if function is ABSENT else function
    return Subscription(lambda each: add(each, kind, first))


def require_component_type(name: str, kind: object) -> None:
    """Raise TypeError, which names the argument, unless `kind` is a type."""
    if not isinstance(kind, type):
        raise TypeError(
            f"{name}={kind!r} must be a component type, as Velocity or your own class: "
            "to name a single entity, give it a component of a class of its own"
        )


class Registration:
    """A registered function with its component types, its event and the world's generation.

    Attributes
    ----------
    kinds : tuple of type or None
        The components of the first and the second body; None for any.
    event : str
        The name of the events; empty for pair filters and responses.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        world: World | None,
        kinds: Kinds = (None, None),
        event: str = "",
    ) -> None:
        self.function = function
        self.kinds = kinds
        self.event = event
        self.renew(world)

    def renew(self, world: World | None) -> None:
        """Record the present generation of the world."""
        self._generation = None if world is None else world.generation()

    def is_of(self, function: object) -> bool:
        """Return whether this is the same function, or the same method of the same object."""
        # Each access to a method makes another object; they are equal for the same instance.
        own = self.function
        return own is function or (
            isinstance(own, (MethodType, BuiltinMethodType)) and own == function
        )

    def is_replaced_by(self, function: object, world: World | None) -> bool:
        """Return whether a function has the same definition, and the world was cleared since."""
        if self._generation is None or world is None or self._generation is world.generation():
            return False
        code = code_of(self.function)
        return code is not None and code is code_of(function)


def code_of(function: object) -> CodeType | None:
    """Return the code of a function, a method or a partial; None for other callables."""
    while isinstance(function, (MethodType, partial)):
        function = function.__func__ if isinstance(function, MethodType) else function.func
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


class Registrations(dict[Registration, None]):
    """The functions of one kind, in the order in which they were registered."""

    def add(
        self, world: World | None, function: Callable[..., Any], kinds: Kinds, event: str = ""
    ) -> Registration:
        """Register a function, once for the same types and event; return its registration."""
        for name, kind in zip(("first_kind", "second_kind"), kinds, strict=True):
            if kind is not None:
                require_component_type(name, kind)
        same = [known for known in self if (known.kinds, known.event) == (kinds, event)]
        found = next((known for known in same if known.is_of(function)), None)
        for known in same:
            if known is not found and known.is_replaced_by(function, world):
                self.remove(known)
        if found is None:
            found = Registration(function, world, kinds, event)
            self[found] = None
        found.renew(world)
        return found

    def remove(self, registration: Registration) -> None:
        """Remove a registration, if it is still there."""
        self.pop(registration, None)
