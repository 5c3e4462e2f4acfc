"""Save a whole game and bring it back: its bodies, and what the game keeps in Python.

`Space.snapshot` holds what is the library's.  What is the game's own, such as the score, the
wait of a gun or the dice of a bot, is found by following every reference from the game, its
processors and its components.  If that leads to an object that cannot be brought back, nothing
is saved.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from dataclasses import is_dataclass
from enum import Enum
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import esper
import numpy as np

from ecs_collide.clocks import FixedStep
from ecs_collide.recording.frames import LIBRARY
from ecs_collide.space import Space, take_snapshot
from ecs_collide.testing.watch import processors

# What is what it is, or holds only what is looked at by itself.
PLAIN_TYPES: tuple[type, ...] = (
    *(type, str, bytes, int, float, complex, type(None), Enum, PurePath, range, tuple, frozenset),
    *(np.generic, np.dtype, ModuleType, BuiltinFunctionType, MethodType),
)
# What is all in what it is, unless a class of the demo's is made from it and adds attributes.
VALUES = (str, bytes, int, float, complex, tuple, frozenset, dict, list, set, deque, np.ndarray)


class Memory:
    """Saves a game at some steps, within one process.

    Objects are changed back in place: references to them stay good.  An object of the game
    may have a method `remember` that says how: it returns a function that brings the object
    back, or None if there is no way.

    Closures, generators and objects of other packages cannot be saved: `take` then sets
    `obstacle`.  What a step changes in a class, a function or an array of objects is not seen.
    Snapshots of the space hold the game's own components as numbers from then on, which have a
    meaning only for this memory.

    `roots` are the objects where the game keeps its state, and `packages` the top packages of the
    game's own objects.
    """

    def __init__(
        self, space: Space, roots: Iterable[Any] = (), packages: Iterable[str] = ()
    ) -> None:
        self.obstacle: type | None = None  # of the object for which `take` saved nothing
        self._space = space
        self._roots = list(roots)
        of_roots = {type(root).__module__.partition(".")[0] for root in self._roots}
        self._packages = (of_roots - {"builtins", "ecs_collide"}) | set(packages)
        self._components: list[Any] = []  # as snapshots number them
        self._numbers: dict[int, int] = {}
        self.kinds: set[type] = set()  # of the game's own components so far
        self._moments: dict[int, tuple[bytes, list[tuple[Any, Any]]]] = {}

    @property
    def steps(self) -> list[int]:
        """The steps that were saved, in order."""
        return sorted(self._moments)

    def register(self, kinds: Iterable[type]) -> None:
        """Let snapshots hold components of these types from now on."""
        # Snapshots include those of the library, and characters, already.
        new = {kind for kind in kinds if not kind.__module__.startswith(LIBRARY)} - self.kinds
        for kind in sorted(new, key=lambda kind: (kind.__module__, kind.__qualname__)):
            name = f"{kind.__module__}.{kind.__qualname__}"
            self._space.snapshot_with(kind, self._number, self._numbered, name=name, hashed=False)
            self.kinds.add(kind)

    def take(self, step: int) -> None:
        """Save everything as it is now; if that is not possible, set `obstacle`."""
        self.obstacle = None
        components: list[Any] = []
        for entity in esper.get_entities():
            components += esper.components_for_entity(entity)
        self.register({type(component) for component in components})
        found = [component for component in components if type(component) in self.kinds]
        held = {id(component) for component in components} - set(map(id, found))
        try:
            contents = self._collect([*self._roots, *processors(), *found], held)
        except _StrangeError as strange:
            self.obstacle = strange.kind
            return
        self._moments[step] = take_snapshot(self._space), contents

    def bring_back(self, step: int) -> None:
        """Make everything what it was when a step was saved."""
        data, contents = self._moments[step]
        self._space.restore(data)
        for thing, content in contents:
            _put_back(thing, content)

    def _number(self, component: Any) -> bytes:
        number = self._numbers.setdefault(id(component), len(self._components))
        if number == len(self._components):
            self._components.append(component)
        return number.to_bytes(8, "little")

    def _numbered(self, data: bytes) -> Any:
        return self._components[int.from_bytes(data, "little")]

    def _collect(self, roots: list[Any], held: Iterable[int]) -> list[tuple[Any, Any]]:
        """Return everything that may change and can be reached, with what is in it now.

        It leaves out what the snapshot holds: `held` has the ids of those objects.
        """
        found: list[tuple[Any, Any]] = []
        seen = set(held)
        waiting = list(roots)
        while waiting:
            thing = waiting.pop()
            if id(thing) in seen:
                continue
            seen.add(id(thing))
            content = self._content(thing)
            if content is not None:
                found.append((thing, content))
            if isinstance(thing, dict) or isinstance(content, dict):
                inside = thing if isinstance(thing, dict) else content
                waiting += [*inside.keys(), *inside.values()]
            elif isinstance(thing, (list, tuple, set, frozenset, deque)):
                waiting += thing
            elif isinstance(thing, (MethodType, BuiltinFunctionType)):
                waiting.append(thing.__self__)
            elif _is_frozen(thing) and not _is_of_library(thing):  # of which levels are
                waiting += _fields(thing).values()
        return found

    def _content(self, thing: Any) -> Any:
        """Return what is in a thing, as a copy; None where that never changes."""
        has_more = getattr(thing, "__dict__", None) and not isinstance(thing, Enum)
        if isinstance(thing, VALUES) and has_more:
            raise _StrangeError(type(thing))  # of what it holds besides nothing would be remembered
        if isinstance(thing, PLAIN_TYPES) or _is_frozen(thing):
            return None
        if isinstance(thing, (dict, list, set, deque)):
            return thing.copy()
        if isinstance(thing, np.ndarray):
            return thing.copy() if thing.flags.writeable else None
        if isinstance(thing, random.Random):
            return thing.getstate()
        if isinstance(thing, np.random.Generator):
            return (thing.bit_generator.state,)
        if callable(getattr(thing, "remember", None)):
            content = thing.remember()
            if content is None:
                raise _StrangeError(type(thing))
            return content
        if isinstance(thing, FixedStep) or self._is_own(thing):
            return _fields(thing)
        if not _is_held(thing):
            raise _StrangeError(type(thing))
        return None

    def _is_own(self, thing: Any) -> bool:
        """Return whether a thing is an object of the game, or one of its components."""
        kind = type(thing)
        return kind in self.kinds or kind.__module__.partition(".")[0] in self._packages


class _StrangeError(Exception):
    """A thing of this type cannot be brought back."""

    def __init__(self, kind: type) -> None:
        super().__init__(kind)
        self.kind = kind


def _is_held(thing: Any) -> bool:
    """Return whether the snapshot has all of a thing, or it never changes."""
    if isinstance(thing, FunctionType):
        return thing.__closure__ is None
    return _is_of_library(thing) and isinstance(thing, (Space, esper.Processor))


def _is_of_library(thing: Any) -> bool:
    return type(thing).__module__.startswith(LIBRARY)


def _is_frozen(thing: Any) -> bool:
    """Return whether a thing is of a dataclass whose fields cannot be set."""
    kind = type(thing)
    return is_dataclass(kind) and bool(kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]


def _fields(thing: Any) -> dict[str, Any]:
    """Return the attributes of an object, wherever they are kept."""
    fields = dict(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):  # as Python keeps it
                name = f"_{kind.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                fields[name] = getattr(thing, name)
    return fields


def _put_back(thing: Any, content: Any) -> None:
    """Let a thing have what was in it, without becoming another."""
    if callable(content):
        content()
    elif isinstance(thing, (dict, set)):
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
