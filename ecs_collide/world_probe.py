"""What each step asks of its esper world, in a kernel, because a call of Python would cost more."""

from __future__ import annotations

from typing import Any

import esper

from ecs_collide._kernel import Public, ReadOnly, cython


@cython.final
class Nobody:
    """A component that no entity ever has."""


@cython.final
class WorldProbe:
    """Whether an esper world is current, and whether it has changed."""

    name: ReadOnly[object]
    counter: Public[object]  # esper's counter, which gives new entities their ids
    known: object  # the generation of this counter

    def __init__(self, name):
        self.name = name
        self.counter = None
        self.known = None

    @cython.ccall
    def is_current(self) -> cython.bint:
        """Return whether this world is current."""
        return esper.current_world == self.name

    @cython.ccall
    def mark(self) -> object:
        """Return an object: the same one until a component or entity is added or removed.

        None while another world is current.
        """
        # esper keeps the result of a query, even an empty one, until anything is added or removed.
        return esper.get_component(Nobody) if self.is_current() else None

    @cython.ccall
    def is_as(self, mark: object, n_dead: cython.Py_ssize_t) -> cython.bint:
        """Return whether this world is current, with this mark and this number of dead entities."""
        # Between two marks the number of the dead only grows.
        return (
            self.is_current()
            and esper.get_component(Nobody) is mark
            and len(getattr(esper, "_dead_entities", ())) == n_dead
        )

    @cython.ccall
    def any_dead(self) -> cython.bint:
        """Return whether entities of the current world are deleted but not gone yet."""
        return len(getattr(esper, "_dead_entities", ())) > 0

    @cython.ccall
    def generation(self) -> object:
        """Return an object: the same one until the current world is cleared; None if unknown."""
        return self.generation_of(getattr(esper, "_entity_count", None))

    @cython.ccall
    def generation_of(self, counter) -> object:
        """Return the generation of this world, given esper's counter of its entities."""
        # To clear the database restarts the count of entities, with another counter.
        if counter is not self.counter:
            self.counter = counter
            self.known = None if counter is None else object()
        return self.known

    @cython.ccall
    def is_as_before(self, generation) -> cython.bint:
        """Return whether this world is current, and has not been cleared since a generation."""
        return self.is_current() and self.generation() is generation

    @cython.ccall
    def has_handlers(self, names: tuple) -> cython.bint:
        """Return whether the current world has a handler of some events, or has had one."""
        registry: Any = esper.event_registry

        if registry:
            for name in names:
                if name in registry:
                    return True
        return False
