"""Remember a whole game, and make it so again: the bodies, and what the demo keeps in Python.

`Space.snapshot` holds all that is the library's.  What is a demo's own, such as the
score, the wait of a gun or the dice of the bot, is found by going through everything
that can be reached from the scene, the processors and the components.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from typing import Any

import esper
import numpy as np

import ecs_collide as ec
from demos._scene import Scene


class Memory:
    """Remembers a scene at some steps, within one process.

    Objects are put right in place: whoever holds one still holds the same.
    Closures and generators are beyond it, and what other packages keep.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._packages = {"demos", type(scene).__module__.partition(".")[0]}
        self._components: list[Any] = []  # as snapshots number them
        self._numbers: dict[int, int] = {}
        self._kinds: set[type] = set()
        self._moments: dict[int, tuple[bytes, list[tuple[Any, Any]]]] = {}

    @property
    def steps(self) -> list[int]:
        """The steps that are remembered, in order."""
        return sorted(self._moments)

    @property
    def kinds(self) -> set[type]:
        """The types of the demo's own components so far."""
        return self._kinds

    def know(self, kinds: Iterable[type]) -> None:
        """Let snapshots hold components of these types from now on."""
        # Those of the library, characters too, are held without being told.
        new = {kind for kind in kinds if not kind.__module__.startswith("ecs_collide.")}
        for kind in sorted(
            new - self._kinds, key=lambda kind: (kind.__module__, kind.__qualname__)
        ):
            name = f"{kind.__module__}.{kind.__qualname__}"
            self._scene.space.snapshot_with(kind, self._number, self._numbered, name=name)
            self._kinds.add(kind)

    def take(self, step: int) -> None:
        """Remember how everything is now."""
        components: list[Any] = []
        for entity in esper.get_entities():
            components += esper.components_for_entity(entity)
        self.know({type(component) for component in components})
        found = [component for component in components if type(component) in self._kinds]
        data = self._scene.space.snapshot()
        processors = list(getattr(esper, "_processors", []))
        self._moments[step] = data, self._survey([self._scene, *processors, *found])

    def bring_back(self, step: int) -> None:
        """Make everything what it was when a step was remembered."""
        data, contents = self._moments[step]
        self._scene.space.restore(data)
        for thing, content in contents:
            _put_back(thing, content)

    def forget(self) -> None:
        """Forget all steps."""
        self._moments.clear()

    def _number(self, component: Any) -> bytes:
        number = self._numbers.setdefault(id(component), len(self._components))
        if number == len(self._components):
            self._components.append(component)
        return number.to_bytes(8, "little")

    def _numbered(self, data: bytes) -> Any:
        return self._components[int.from_bytes(data, "little")]

    def _survey(self, roots: list[Any]) -> list[tuple[Any, Any]]:
        """Return everything that may change and can be reached, with what is in it now."""
        found: list[tuple[Any, Any]] = []
        seen: set[int] = set()
        waiting = list(roots)
        while waiting:
            thing = waiting.pop()
            if id(thing) in seen or isinstance(thing, (type, str, bytes, int, float)):
                continue
            seen.add(id(thing))
            content = self._content(thing)
            if content is not None:
                found.append((thing, content))
            if isinstance(thing, dict) or isinstance(content, dict):
                held = thing if isinstance(thing, dict) else content
                waiting += [*held.keys(), *held.values()]
            elif isinstance(thing, (list, tuple, set, frozenset, deque)):
                waiting += thing
            elif hasattr(thing, "__self__"):
                waiting.append(thing.__self__)
        return found

    def _content(self, thing: Any) -> Any:
        """Return what is in a thing, as a copy; None where that never changes."""
        if isinstance(thing, (dict, list, set, deque)):
            return thing.copy()
        if isinstance(thing, np.ndarray):
            return thing.copy() if thing.flags.writeable else None
        if isinstance(thing, random.Random):
            return thing.getstate()
        if isinstance(thing, np.random.Generator):
            return (thing.bit_generator.state,)
        if isinstance(thing, ec.FixedStep) or self._is_own(thing):
            return _fields(thing)
        return None

    def _is_own(self, thing: Any) -> bool:
        """Tell whether a thing is an object of the demo's, or a component that it made."""
        kind = type(thing)
        if isinstance(thing, tuple):
            return False
        return kind in self._kinds or kind.__module__.partition(".")[0] in self._packages


def _fields(thing: Any) -> dict[str, Any]:
    """Return the attributes of an object, wherever they are kept."""
    fields = dict(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                fields[name] = getattr(thing, name)
    return fields


def _put_back(thing: Any, content: Any) -> None:
    """Let a thing have what was in it, without becoming another."""
    if isinstance(thing, (dict, set)):
        thing.clear()
        thing.update(content)
    elif isinstance(thing, (list, deque)):
        thing.clear()
        thing.extend(content)
    elif isinstance(thing, np.ndarray):
        thing[...] = content
    elif isinstance(thing, random.Random):
        thing.setstate(content)
    elif isinstance(thing, np.random.Generator):
        (thing.bit_generator.state,) = content
    else:
        for name in set(_fields(thing)) - set(content):
            delattr(thing, name)
        for name, value in content.items():
            object.__setattr__(thing, name, value)
