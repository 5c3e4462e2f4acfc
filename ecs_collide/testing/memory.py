"""Save a whole game and restore it: its bodies, and its state in Python objects.

`Space.save_state` holds the state of the library.  The state of the game, such as the score, the
wait of a gun or the dice of a bot, is found by following every reference from the game, its
processors and its components.  If that leads to an object that cannot be restored, nothing is
saved.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from enum import Enum
from functools import cache
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import esper
import numpy as np

from ecs_collide.clocks import FixedStep
from ecs_collide.extend import take_state
from ecs_collide.recording.frames import LIBRARY
from ecs_collide.snapshot.saved_state import SavedState
from ecs_collide.space import Space
from ecs_collide.testing.watch import processors

# Types whose objects never change, or whose contents are visited separately.
PLAIN_TYPES: tuple[type, ...] = (
    *(type, str, bytes, int, float, complex, type(None), Enum, PurePath, range, tuple, frozenset),
    *(np.generic, np.dtype, ModuleType, BuiltinFunctionType, MethodType),
)
# Types whose objects have no state but their content, unless a subclass of the game adds some.
VALUES = (str, bytes, int, float, complex, tuple, frozenset, dict, list, set, deque, np.ndarray)

_NOT_SET: Any = object()


class Memory:
    """The saved states of a game at some steps, within one process.

    Objects are restored in place, so references to them stay valid.  An object of the game may
    have a method `remember` that returns a function which restores the object, or None if that
    is not possible.

    Closures, generators and objects of other packages cannot be saved.  `take` then sets
    `obstacle`.  Changes of a step to a class, a function or an array of objects are not noticed.
    Snapshots of the space then hold the custom components as numbers, which have a meaning only
    for this memory.

    `roots` are the objects where the game keeps its state, and `packages` the top packages of its
    classes.
    """

    def __init__(
        self, space: Space, roots: Iterable[Any] = (), packages: Iterable[str] = ()
    ) -> None:
        self.obstacle: type | None = None  # the type of the object for which `take` saved nothing
        self._space = space
        self._roots = list(roots)
        of_roots = {type(root).__module__.partition(".")[0] for root in self._roots}
        self._packages = (of_roots - {"builtins", "ecs_collide"}) | set(packages)
        self._components: list[Any] = []  # as snapshots number them
        self._numbers: dict[int, int] = {}
        self.kinds: set[type] = set()  # of custom components so far
        self._moments: dict[int, tuple[SavedState, list[tuple[Any, Any]]]] = {}

    @property
    def steps(self) -> list[int]:
        """The steps that were saved, in order."""
        return sorted(self._moments)

    def register(self, kinds: Iterable[type]) -> None:
        """Add types of components to the snapshots from now on."""
        # Snapshots include the library's components, and characters, already.
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
        self._moments[step] = take_state(self._space), contents

    def require(self, step: int, caller: str) -> None:
        """Save everything as it is now; raise AssertionError, for a caller, if that fails."""
        __tracebackhide__ = True
        self.take(step)
        if self.obstacle is not None:
            raise AssertionError(
                f"{caller} cannot keep a {self.obstacle.__qualname__} of "
                f"{self.obstacle.__module__}: give its owner a method remember() that "
                "returns a function which brings it back"
            )

    def forget(self, step: int) -> None:
        """Forget what was saved at a step."""
        del self._moments[step]

    def bring_back(self, step: int) -> None:
        """Restore the game to a saved step."""
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
        """Return every mutable object that can be reached, with its present content.

        Objects that the snapshot holds are skipped.  `held` has their ids.
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
        """Return a copy of the content of an object; None if it never changes."""
        has_more = getattr(thing, "__dict__", None) and not isinstance(thing, Enum)
        if isinstance(thing, VALUES) and has_more:
            raise _StrangeError(type(thing))  # its other attributes would be lost
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
        """Return whether an object belongs to the game, or is one of its components."""
        kind = type(thing)
        return kind in self.kinds or kind.__module__.partition(".")[0] in self._packages


class _StrangeError(Exception):
    """An error for an object whose type cannot be restored."""

    def __init__(self, kind: type) -> None:
        super().__init__(kind)
        self.kind = kind


def _is_held(thing: Any) -> bool:
    """Return whether the snapshot holds all of an object, or the object never changes."""
    if isinstance(thing, FunctionType):
        return thing.__closure__ is None
    return _is_of_library(thing) and isinstance(thing, (Space, esper.Processor))


def _is_of_library(thing: Any) -> bool:
    return type(thing).__module__.startswith(LIBRARY)


def _is_frozen(thing: Any) -> bool:
    """Return whether an object is of a frozen dataclass."""
    kind: Any = type(thing)
    return _is_frozen_kind(kind)


@cache
def _is_frozen_kind(kind: Any) -> bool:
    """Return whether a class is a frozen dataclass."""
    parameters = getattr(kind, "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def _fields(thing: Any) -> dict[str, Any]:
    """Return the attributes of an object, from its dict and its slots."""
    fields = dict(getattr(thing, "__dict__", ()))
    kind: Any = type(thing)
    for name in _slots_of(kind):
        value = getattr(thing, name, _NOT_SET)
        if value is not _NOT_SET:
            fields[name] = value
    return fields


@cache
def _slots_of(kind: Any) -> tuple[str, ...]:
    """Return the names of the slots of a class and its bases, as `getattr` takes them."""
    found = []
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):  # as Python keeps it
                name = f"_{base.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__"):
                found.append(name)
    return tuple(found)


def _put_back(thing: Any, content: Any) -> None:
    """Restore the content of an object in place."""
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
        present = _fields(thing)
        for name in present.keys() - content.keys():
            delattr(thing, name)
        for name, value in content.items():
            if present.get(name, _NOT_SET) is not value:  # most are as they were
                object.__setattr__(thing, name, value)
