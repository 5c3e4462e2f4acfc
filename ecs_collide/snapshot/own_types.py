"""The types of custom components that snapshots hold, by name.

A name in a snapshot is searched only among these, so bytes from a stranger import nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from ecs_collide.random_numbers import Random
from ecs_collide.snapshot.plain import Plain, is_plain

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

    @property
    def is_frozen(self) -> bool:
        """Whether components cannot be set, so that new ones replace them."""
        return self.update is None

    def holds(self, component: Any, blob: bytes) -> bool:
        """Return whether a component is kept unchanged."""
        return self.save(component) == blob

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
        self.own: list[Own] = []
        # The dataclasses of numbers and empty classes that the world has had, sorted by name.
        self.plain: list[Plain] = []
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
                "as int, float or bool, or an empty class, or be given save and load"
            )
        self._forget(kind, name)
        self.hashed.pop(kind, None)
        self._use(Plain(kind, name))

    def skip(self, kind: type) -> None:
        """Exclude custom components of a type, and ignore them in older snapshots."""
        names = {own.kind: own.name for own in self.own}
        names |= {plain.kind: plain.name for plain in self.plain}
        self._forget(kind, None)
        self.hashed.pop(kind, None)
        self.skipped[kind] = names.get(kind, kind.__name__)
        self.n_changes += 1

    def _forget(self, kind: type, name: str | None) -> None:
        """Remove a type, so that it can be added in another way."""
        if kind in self._library:
            raise ValueError(f"snapshots hold {kind.__name__} components without being told")
        own = [known for known in self.own if known.kind is not kind]
        plain = [known for known in self.plain if known.kind is not kind]
        taken = {kind.__name__ for kind in self._library}
        taken |= {known.name for known in own} | {known.name for known in plain}
        if name in taken:
            raise ValueError(
                f"snapshot_with(name={name!r}) is the name of another type already: "
                "give each its own"
            )
        self.own, self.plain = own, plain
        self.skipped.pop(kind, None)

    def _use(self, plain: Plain) -> None:
        self.plain.append(plain)
        self.plain.sort(key=lambda plain: (plain.name, plain.kind.__module__))
        self.hashed.setdefault(plain.kind, plain)
        self.n_changes += 1

    def discover(self, kinds: Iterable[type]) -> None:
        """Add the dataclasses of numbers and empty classes that were not declared otherwise."""
        new = [kind for kind in dict.fromkeys(kinds) if kind not in self._seen]  # each once
        self._seen.update(new)
        known = {*self._library, *self.skipped, *self.kinds()}
        for kind in new:
            if kind not in known and is_plain(kind):
                self._use(Plain(kind, kind.__name__))

    def kinds(self) -> list[type]:
        """Return all types that are held."""
        return [*(own.kind for own in self.own), *(plain.kind for plain in self.plain)]

    def by_name(self) -> dict[str, Own]:
        """Return the types that the game saves by functions, by name."""
        return {own.name: own for own in self.own}

    def readable(self, names: Collection[str]) -> dict[str, Plain]:
        """Return the dataclasses of numbers with some names of a snapshot, without an import.

        They include types that the game now saves by functions.
        """
        taken = {*self.by_name(), *(plain.name for plain in self.plain)}
        if Random.__name__ in names and Random.__name__ not in taken:
            self.discover([Random])
        kinds = (own.kind for own in self.own if own.kind.__name__ in names)
        found = {kind.__name__: Plain(kind, kind.__name__) for kind in kinds if is_plain(kind)}
        found.update((plain.name, plain) for plain in self.plain)
        return {name: plain for name, plain in found.items() if name in names}
