"""Which entities of an esper world have changed: a log that esper's own sets fill.

esper keeps a set of entities for each component type.  Every change of a component passes through
`add` or `discard` of one of these sets, also when a component is replaced by another one of its
type.  The sets of the types in `kinds` note the entity.  Nothing else in esper changes, so its
queries cost the same.

A world has two logs: one for steps and questions, and one for snapshots, which ask for all types.
The readers of a log share it, and each remembers in a `Seen` how far it has read.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any
from weakref import ref

from ecs_collide._kernel import ReadOnly, cython

LONGEST: cython.Py_ssize_t = 4096  # entries; a reader that is further behind looks at all entities


@cython.final
class WorldLog:
    """The entities that have got, lost or replaced a component of some types, in order."""

    entities: ReadOnly[list]
    start: cython.Py_ssize_t  # the number of entries that were dropped
    last: object  # the last entry, if no reader has asked since
    kinds: ReadOnly[set]  # the types whose sets note their changes
    readers: list  # weak references to the moments from which readers read on

    def __init__(self) -> None:
        self.entities = []
        self.last = None
        self.kinds = set()
        self.readers = []

    @cython.ccall
    def end(self) -> cython.Py_ssize_t:
        """Return the number of entries so far.  It grows when one of the types changes."""
        self.last = None  # a reader has asked, so that the same entity counts again
        return self.start + len(self.entities)

    @cython.ccall
    def note(self, entity: object) -> object:
        """Add an entity; the older half of a long log is dropped."""
        if entity is not self.last:  # esper names a new one once for each component
            self.last = entity
            self.entities.append(entity)
            if len(self.entities) >= LONGEST:
                del self.entities[: LONGEST // 2]
                self.start += LONGEST // 2
        return None

    @cython.ccall
    def forget(self) -> object:
        """Make all readers look at all entities."""
        self.start += len(self.entities) + 1
        self.entities = []
        self.last = None
        return None

    def since(self, end: cython.Py_ssize_t) -> object:
        """Return the entities noted since an `end`, each once; None if that is no longer known."""
        if end < self.start:
            return None
        return set(ids_among(self.entities[end - self.start :]))

    def add_reader(self, seen: Seen) -> None:
        """Keep the entries since a moment, as long as it is kept; drop those that all have read."""
        first: cython.Py_ssize_t = seen.end
        left: list = [ref(seen)]

        for reader in self.readers:
            other: Any = reader()
            if other is not None and other.end >= self.start:
                first = min(first, other.end)
                left.append(reader)
        self.readers = left
        if first > self.start:
            del self.entities[: first - self.start]
            self.start = first


@cython.final
class Seen:
    """What a reader has seen of a world."""

    log: ReadOnly[WorldLog | None]  # None if the world could not be asked
    end: ReadOnly[cython.Py_ssize_t]  # of the log
    dead: ReadOnly[frozenset]  # the entities that esper deletes next
    # Entities that were noted and found unchanged.  A set notes a change before esper makes it, so
    # they are looked at once more, in case another thread was between the two.
    again: ReadOnly[set]
    noted: set
    more: ReadOnly[list]  # the types that the reader asks for, too, at its next look
    __weakref__: object

    def __init__(self, log: WorldLog | None, dead: frozenset) -> None:
        self.log = log
        self.end = -1 if log is None else log.end()
        self.dead = dead
        self.again = set()
        self.noted = set()
        self.more = []

    def find_noted(self, before: Seen | None) -> list | None:
        """Return the entities to compare since another moment, by rising id; None for all."""
        if before is None or self.log is None or before.log is not self.log:
            return None
        noted: Any = self.log.since(before.end)
        if noted is None:
            return None
        self.noted = noted
        return sorted({*noted, *before.again, *ids_among(self.dead), *ids_among(before.dead)})

    def keep(self, unchanged: list) -> None:
        """Read on from this moment; look once more at the unchanged entities that were noted."""
        if self.log is not None:
            self.log.add_reader(self)
        self.again = self.noted.intersection(unchanged)
        self.noted = set()


def ids_among(entities: Iterable[Any]) -> list:
    """Return the keys that can be ids of entities, as plain numbers."""
    ids: list = []

    for entity in entities:
        if type(entity) is int:
            ids.append(entity)
            continue
        try:  # esper takes any key that equals an id
            id: Any = int(entity)
        except (TypeError, ValueError, OverflowError):
            continue
        if id == entity:
            ids.append(id)
    return ids


class NotedSet(set):
    """The entities that have a component of one type."""

    note: Any

    def add(self, entity):
        """Add an entity and note it."""
        set.add(self, entity)
        self.note(entity)

    def discard(self, entity):
        """Remove an entity and note it."""
        set.discard(self, entity)
        self.note(entity)

    def __reduce__(self):
        return set, (list(self),)  # a copy is a plain set


class NotedSets(dict):
    """esper's sets of entities by type, which note their changes.

    `log` is for steps and questions, `full_log` for snapshots, which ask for all types: what a
    game changes besides its bodies is then no news to a step.
    """

    log: Any
    full_log: Any

    def __setitem__(self, kind, entities):
        logs: list = []
        for log in (self.log, self.full_log):
            if kind in log.kinds:
                logs.append(log)
        if logs:
            entities = NotedSet(entities)
            entities.note = logs[0].note if len(logs) == 1 else partial(_note_in, logs)
        dict.__setitem__(self, kind, entities)

    def clear(self):
        """Remove all sets: each entity may have changed."""
        dict.clear(self)
        self.log.forget()
        self.full_log.forget()

    def __reduce__(self):
        return dict, (list(self.items()),)

    def follow(self, kinds: Iterable[type], log: WorldLog) -> None:
        """Note the changes of these types in a log too, from now on."""
        for kind in set(kinds) - log.kinds:
            log.kinds.add(kind)
            if kind in self:
                self[kind] = self[kind]


def _note_in(logs: list, entity: object) -> None:
    for log in logs:
        log.note(entity)


def noted(sets: dict) -> NotedSets:
    """Return the sets of a world as sets that note their changes."""
    found = NotedSets()
    found.log, found.full_log = WorldLog(), WorldLog()
    found.update(sets)  # as they are: nobody has asked for a type yet
    return found
