"""Follow every call of `esper.process`, for options and assertions.

`esper.process` is patched only while there are observers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import esper

from ecs_collide.space import Space
from ecs_collide.systems import BroadphaseSystem


class Observer(Protocol):
    """An object that is notified of each step of the worlds that have a space."""

    def before(self, space: Space, dt: float) -> None:
        """Inspect the world before `esper.process`; deleted entities are gone."""

    def after(self, space: Space, dt: float) -> None:
        """Inspect the world after `esper.process`."""


def processors() -> list[Any]:
    """Return all processors of the current world."""
    return list(getattr(esper, "_processors", ()))


def find_space() -> Space | None:
    """Return the space whose systems run in the current world, or None."""
    system: Any = esper.get_processor(BroadphaseSystem)
    if system is None:  # a subclass
        system = next((each for each in processors() if isinstance(each, BroadphaseSystem)), None)
    return None if system is None else system.space


def require_space(space: Space | None = None) -> Space:
    """Return a space, by default the current world's, or raise a RuntimeError."""
    found = find_space() if space is None else space
    if found is None:
        raise RuntimeError(
            f"the world {esper.current_world!r} has no space: build it with ecs_collide.install()"
        )
    return found


class _Watched:
    """The replacement of `esper.process` while there are observers."""

    def __init__(self, process: Callable[..., None]) -> None:
        self.process = process
        self.observers: list[Observer] = []
        self.is_quiet = False  # while an observer steps the world itself

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        space = None if self.is_quiet else find_space()
        if space is None:
            self.process(*args, **kwargs)
            return
        dt = args[0] if args else kwargs.get("dt", 1.0)
        esper.clear_dead_entities()  # as esper.process begins with
        observers = list(self.observers)
        self._notify(observers, "before", space, dt)
        self.process(*args, **kwargs)
        self._notify(observers, "after", space, dt)

    def _notify(self, observers: list[Observer], what: str, space: Space, dt: float) -> None:
        self.is_quiet = True
        try:
            for observer in observers:
                getattr(observer, what)(space, dt)
        finally:
            self.is_quiet = False


def watch(observer: Observer) -> Callable[[], None]:
    """Notify an observer of each step from now on; return a function that ends it."""
    current: Any = esper.process
    if not isinstance(current, _Watched):
        current = _Watched(current)
        vars(esper)["process"] = current
    watched: _Watched = current
    watched.observers.append(observer)

    def end() -> None:
        watched.observers.remove(observer)
        if not watched.observers and esper.process is watched:
            vars(esper)["process"] = watched.process

    return end
