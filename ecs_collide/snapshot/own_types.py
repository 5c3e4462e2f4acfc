"""The types of components that snapshots hold beside those of the core, by name.

They are the types of the game, and those of the library's extras.  A name in a snapshot is searched
only among these, so bytes from a stranger import only modules of `EXTRAS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from typing import Any, TypeVar

from ecs_collide.snapshot.plain import Plain, is_plain

EXTRAS = {
    "Random": "ecs_collide.random_numbers",
    "ecs_collide.Cells": "ecs_collide.levels.changes",
    "ecs_collide.Changes": "ecs_collide.character.changes",
    "ecs_collide.Character": "ecs_collide.character.character",
    "ecs_collide.Ladder": "ecs_collide.character.character",
    "ecs_collide.Path": "ecs_collide.path.path",
    "ecs_collide.Zone": "ecs_collide.zone.zone",
}
"""The modules of the library's component types that the core does not import, by name in snapshots.

The names differ from the bare names of classes, because a game may have a `Zone` too.  A module is
imported when a snapshot names its type.  There are three forms of types: empty classes; dataclasses
of numbers, where `require_possible` refuses numbers that no run gives; and classes with `to_bytes`,
`from_bytes` and `set_bytes`.  If a class has `restored` and `restore` too, snapshots use these,
which also take wrong numbers that a game has set, for the next step to report.
"""

T = TypeVar("T", "Own", Plain)

Save = Callable[[Any], bytes]
Load = Callable[[bytes], Any]
Update = Callable[[Any, bytes], object]


@dataclass(slots=True)
class Own:
    """The functions with which a game saves its components of one type."""

    name: str
    kind: type
    save: Save
    load: Load
    update: Update | None
    hashed: bool = True  # whether `Space.state_hash` includes what `save` returns

    is_mark = False  # it is no empty class

    @property
    def is_frozen(self) -> bool:
        """Whether components cannot be set, so that new ones replace them."""
        return self.update is None

    def keeps(self, now: bytes, blob: bytes) -> bool:
        """Return whether a component with these bytes is left alone."""
        return now == blob

    def make(self, blob: bytes) -> Any:
        """Return a new component."""
        component = self.load(blob)
        if not isinstance(component, self.kind):
            raise TypeError(f"snapshot_with: load gave {component!r}, and must give a {self.name}")
        return component

    def now(self, component: Any) -> bytes:
        """Return a component as bytes, for `put_back`."""
        return self.save(component)

    def write(self, component: Any, blob: bytes) -> None:
        """Set a component that is not frozen."""
        assert self.update is not None
        self.update(component, blob)

    put_back = write


class OwnTypes:
    """The custom components that snapshots and the fingerprint hold."""

    def __init__(self, library: Collection[type]) -> None:
        self.own: list[Own] = []  # the types that the game saves by functions
        # The types that the world has had and that need no functions of the game: the library's
        # with methods, then dataclasses of numbers and empty classes, each sorted by name.
        self.found: list[Own | Plain] = []
        self.hashed: dict[type, Own | Plain] = {}  # the types in the fingerprint
        # The types that are not held, with the names under which older snapshots may hold them.
        self.skipped: dict[type, str] = {}
        self.n_changes = 0  # the number of changes to any of these
        self._library = library  # the library's types, which are held anyway
        self._seen: set[type] = set()

    def add(self, own: Own) -> None:
        """Add a type of components to hold, or replace the functions of a known one."""
        self._forget(own.kind, own.name)
        self.own.append(own)
        if own.hashed:
            self.hashed[own.kind] = own
        elif own.kind not in self.hashed and is_plain(own.kind):
            self.hashed[own.kind] = Plain(own.kind, own.kind.__name__)
        self.n_changes += 1

    def add_plain(self, kind: type, name: str) -> None:
        """Add a dataclass of numbers or an empty class by name, before the world has any."""
        if not is_plain(kind):
            raise TypeError(
                f"snapshot_with({kind.__name__}) must be a dataclass whose fields are declared "
                "as int, float, bool or an enum of these, or an empty class, or be given save and load"
            )
        self._forget(kind, name)
        self.hashed.pop(kind, None)
        self._use(Plain(kind, name))

    def skip(self, kind: type) -> None:
        """Exclude custom components of a type, and ignore them in older snapshots."""
        names = {how.kind: how.name for how in (*self.own, *self.found)}
        self._forget(kind, None)
        self.hashed.pop(kind, None)
        self.skipped[kind] = names.get(kind) or _name_of_extra(kind) or kind.__name__
        self.n_changes += 1

    def _forget(self, kind: type, name: str | None) -> None:
        """Remove a type, so that it can be added in another way."""
        if kind in self._library:
            raise ValueError(f"snapshots hold {kind.__name__} components without being told")
        own = [known for known in self.own if known.kind is not kind]
        found = [known for known in self.found if known.kind is not kind]
        taken = {kind.__name__ for kind in self._library}
        taken |= {known.name for known in (*own, *found)}
        if name in taken:
            raise ValueError(
                f"snapshot_with(name={name!r}) is the name of another type already: "
                "give each its own"
            )
        self.own, self.found = own, found
        self.skipped.pop(kind, None)

    def _use(self, how: Own | Plain) -> None:
        self.found.append(how)
        self.found.sort(key=lambda how: (isinstance(how, Plain), how.name, how.kind.__module__))
        self.hashed.setdefault(how.kind, how)
        self.n_changes += 1

    def discover(self, kinds: Iterable[type]) -> None:
        """Add the types that need no functions of the game and were not declared otherwise."""
        new = [kind for kind in dict.fromkeys(kinds) if kind not in self._seen]  # each once
        self._seen.update(new)
        known = {*self._library, *self.skipped, *self.kinds()}
        for kind in new:
            if kind in known:
                continue
            name = _name_of_extra(kind)
            if name is not None:
                self._use(_extra(kind, name))
            elif is_plain(kind):
                self._use(Plain(kind, kind.__name__))

    def discover_extras(self, names: Iterable[str]) -> None:
        """Add the library's types with some names of a snapshot; this imports their modules."""
        for name in set(names).difference(how.name for how in (*self.own, *self.found)):
            full = name if name in EXTRAS else f"ecs_collide.{name}"
            if full in EXTRAS:
                self.discover([getattr(import_module(EXTRAS[full]), _bare(full))])

    def kinds(self) -> list[type]:
        """Return all types that are held."""
        return [how.kind for how in (*self.own, *self.found)]

    def by_name(self) -> dict[str, Own]:
        """Return the types that are saved by functions or methods, by name."""
        found = [how for how in (*self.found, *self.own) if isinstance(how, Own)]
        return _other_names(found) | {how.name: how for how in found}

    def readable(self, names: Collection[str]) -> dict[str, Plain]:
        """Return the dataclasses and empty classes with some names of a snapshot.

        They include dataclasses that the game now saves by functions.
        """
        kinds = (own.kind for own in self.own if is_dataclass(own.kind) or is_plain(own.kind))
        plain = {kind.__name__: Plain(kind, kind.__name__) for kind in kinds}
        found = [how for how in self.found if isinstance(how, Plain)]
        plain |= _other_names(found) | {how.name: how for how in found}
        return {name: how for name, how in plain.items() if name in names}


def _other_names(some: Iterable[T]) -> dict[str, T]:
    """Return types of the library by the names that other programs give them in snapshots.

    Older snapshots have bare names, as do those of a game that has called `snapshot_with`.  An
    empty class has no field by which it differs from one of a game, so it needs its full name.
    """
    extras = [(name, how) for how in some if (name := _name_of_extra(how.kind)) is not None]
    return {_bare(name): how for name, how in extras if not how.is_mark} | dict(extras)


def _name_of_extra(kind: type) -> str | None:
    """Return the name in snapshots of a type of `EXTRAS`, None for any other type."""
    of_module = (name for name, module in EXTRAS.items() if module == kind.__module__)
    return next((name for name in of_module if _bare(name) == kind.__name__), None)


def _bare(name: str) -> str:
    return name.rpartition(".")[2]


def _extra(kind: Any, name: str) -> Own | Plain:
    """Return how a type of `EXTRAS` is saved."""
    if is_plain(kind):
        return Plain(kind, name)
    load, update = (
        getattr(kind, "restored", kind.from_bytes),
        getattr(kind, "restore", kind.set_bytes),
    )
    return Own(name, kind, kind.to_bytes, load, update)
