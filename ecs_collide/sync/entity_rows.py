"""The rows of entities in the body table, and which entities enter and leave it.

The log of a world names the entities whose components may have changed since the last comparison.
Components are compared by identity: an added, removed or replaced one differs from the cached one.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import BYTE, LONG, are_among
from ecs_collide._kernel.constants import Exclusion, Mark, News
from ecs_collide.components.basics import Disabled
from ecs_collide.events import END_REASONS, EndReason
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.body_table import BodyTable
from ecs_collide.sync.bindings import ComponentBinding
from ecs_collide.sync.body_lists import BodyLists, RowOf
from ecs_collide.sync.reader import ComponentReader
from ecs_collide.sync.slots import matches_cache
from ecs_collide.world_log import Seen
from ecs_collide.world_probe import WorldProbe


@cython.final
class Changes:
    """The differences between the entities of a world and the entities with rows, by rising id."""

    seen: ReadOnly[Seen]  # of the world
    entities: ReadOnly[Any]  # of the world: for each entity its components by type
    newcomers: ReadOnly[list]
    changed: ReadOnly[list]  # entities with other components, or other objects for them
    gone: ReadOnly[list]

    def __init__(self, seen: Seen, entities: Any, found: tuple):
        self.seen = seen
        self.entities = entities
        self.newcomers, self.changed, self.gone = found


@cython.final
class EntityRows:
    """The entities that have rows, and the components that are cached for them."""

    table: ReadOnly[BodyTable]
    types: ReadOnly[dict]  # the `ComponentBinding` of each type
    row_of: ReadOnly[RowOf]
    seen: Public[Seen]  # of the world at the last comparison; None if all are to be compared
    bodies: Bodies
    lists: BodyLists
    reader: ComponentReader
    position: ComponentBinding
    extents: ComponentBinding
    timeline: Any

    def __init__(
        self,
        table: BodyTable,
        lists: BodyLists,
        types: dict,
        reader: ComponentReader,
        timeline: Any,
    ):
        self.table = table
        self.types = types
        self.row_of = lists.row_of
        self.seen = None  # type: ignore[assignment]
        self.bodies = reader.bodies
        self.lists = lists
        self.reader = reader
        self.position, self.extents = reader.kinds[0], reader.kinds[1]
        self.timeline = timeline

    def use(self, timeline: Any) -> None:
        """Use another timeline, with room for all rows in its parts."""
        self.timeline = timeline
        self.bind()

    @cython.ccall
    def bind(self) -> cython.int:
        """Use the arrays of the bodies, which may have been replaced, and make room in all parts."""
        self.table.bind()
        self.timeline.make_room()
        self.reader.bind(self.table.views)
        return 0

    def watch(self, kind: type, mark: int) -> None:
        """Mark the bodies that have a component of a type with a bit, from now on.

        They count as changed in the next comparison, and no others.
        """
        if kind not in self.types:
            self.types[kind] = ComponentBinding(kind, (), 0, 0)
            if self.seen is not None:
                self.seen.more.append(kind)
            self.reader.add_kind(self.types[kind])
        self._set_mark(self.types[kind], self.types[kind].mark | mark)

    def unwatch(self, kind: type, mark: int) -> None:
        """Stop marking the bodies that have a component of a watched type."""
        self._set_mark(self.types[kind], self.types[kind].mark & ~mark)

    def _set_mark(self, known: ComponentBinding, mark: cython.int) -> cython.void:
        if known.mark != mark:
            known.mark = mark
            for row, component in enumerate(known.items):
                if component is not None:
                    self.bodies.n_cached[row] = -1
                    if self.seen is not None:
                        self.seen.again.add(self.bodies.ids[row])

    # -- lookups --

    def holder(self, kind: type, row: int) -> Any | None:
        """Return the component of a body at the start of the step."""
        items = self.holders(kind)
        return items[row] if items else None

    def holders(self, kind: type) -> Sequence[Any]:
        """Return the components of a type by row at the start of the step; empty if there are none."""
        known = self.types.get(kind)
        return () if known is None else known.items

    @cython.ccall
    def is_current(self, world: Any) -> cython.bint:
        """Return whether the world has the same entities and components as at the last comparison."""
        probe: WorldProbe = world.probe
        return probe.is_as(self.seen)

    def find_noted(self, world: Any, seen: Seen) -> list:
        """Return the entities that may have changed between the last comparison and `seen`."""
        noted: Any = seen.find_noted(self.seen)
        if noted is None:
            noted = sorted({*self.lists.entities.tolist(), *world.ids()})
        elif self.seen.more:
            noted = sorted({*noted, *world.ids_having(self.seen.more)})
        return noted

    @cython.ccall
    def compare(self, world: Any) -> Changes:
        """Return the differences between the entities of a world and the entities with rows."""
        probe: WorldProbe = world.probe
        seen: Seen = probe.look(self.types)
        entities: Any = probe.database()
        if entities is None:
            entities = world.entities(self.types)
        used: list = self.reader.find_used(probe.sets_by_type() or world.kinds())
        newcomers, changed, gone, unchanged = compare_entities(
            self.find_noted(world, seen),
            entities,
            seen.dead,
            self.row_of,
            used,
            self.bodies.n_cached,
        )
        seen.keep(unchanged)
        return Changes(seen, entities, (newcomers, changed, gone))

    def find_changed(self, world: Any) -> tuple:
        """Return the changed bodies, and those among them whose ids belong to other bodies now.

        A living entity that is no body any more has changed, too, and so has one that was disabled
        before it is deleted.
        """
        replaced: list = []

        if self.is_current(world):
            return [], []
        changes: Changes = self.compare(world)
        changed: list = list(changes.changed)
        for entity in changes.changed:
            if self._is_another(self.row_of.row(entity), changes.entities[entity]):
                replaced.append(entity)
        for entity in changes.gone:
            now = changes.entities.get(entity)
            if now is not None and (entity not in changes.seen.dead or Disabled in now):
                changed.append(entity)
        return changed, replaced

    def rows_of(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of entities, -1 for an entity that is not a body."""
        ids, rows = self.lists.entities, self.lists.rows
        if len(ids) == 0:
            return np.full(len(entities), -1, np.int64)
        places = np.searchsorted(ids, entities)
        places[places == len(ids)] = 0
        found = rows[places]
        found[ids[places] != entities] = -1
        return found

    def _is_another(self, row: cython.Py_ssize_t, components: Any) -> cython.bint:
        """Return whether an id was used again, so that `Position` and `Extents` are new."""
        return (
            self.position.items[row] is not components[self.position.type]
            and self.extents.items[row] is not components[self.extents.type]
        )

    def is_same(self, row: int, components: Mapping[type, Any]) -> bool:
        """Return whether components belong to the body in a row: one of position, extents is the same."""
        if self.position.type not in components or self.extents.type not in components:
            return False
        return not self._is_another(row, components)

    # -- entering and leaving --

    @cython.ccall
    def admit(self, newcomers: list, entities: Any) -> list:
        """Give rows to new bodies, and cache their components; return the rows."""
        b: Bodies = self.bodies
        marks: cython.int = 0

        if b.make_room(len(newcomers)):
            self.bind()
        rows: list = b.allocate(newcomers).tolist()
        for n in range(len(rows)):
            b.news[rows[n]] = News.NEW
            self.lists.newcomers[rows[n]] = None
            marks |= self.reader.cache(rows[n], entities[newcomers[n]])
        if marks & Mark.DISABLED:
            self._switch_off(rows)
        return rows

    @cython.ccall
    def recache(self, rows: list, changes: Changes) -> cython.int:
        """Cache the components that the changed bodies, in `rows`, have now."""
        others: list = []

        for n in range(len(rows)):
            row: cython.Py_ssize_t = rows[n]
            components: dict = changes.entities[changes.changed[n]]
            if self.reader.switch(row, components):
                continue
            if self._is_another(row, components):
                others.append(row)
            self.reader.cache(row, components)
        if others:
            self.end_contacts(others, EndReason.ENTITY_DELETED)
            for row in others:
                self.bodies.news[row] |= News.NEW
                self.lists.newcomers[row] = None
        self._switch_off(rows)
        return 0

    def _switch_off(self, rows: list) -> cython.void:
        """Exclude bodies that have become disabled, until they are enabled and read again."""
        b: Bodies = self.bodies
        off: list = []

        for row in rows:
            i: cython.Py_ssize_t = row
            if b.disabled[i] and b.quarantined[i] != Exclusion.DISABLED:
                self.reader.undo.keep(b, "quarantined", i)
                off.append(i)
        if off:
            self.skip(off, EndReason.DISABLED)
            for row in off:
                b.quarantined[row] = Exclusion.DISABLED
            self.lists.switched_off += off

    @cython.ccall
    def release_gone(self, world: Any, changes: Changes) -> list:
        """Free the rows of entities that are no longer bodies; return them."""
        reasons: list = []

        if changes.gone and len(changes.entities) == 0 and world.is_empty():
            return self.release(changes.gone, EndReason.WORLD_CLEARED)
        for entity in changes.gone:
            is_alive: cython.bint = world.probe.is_alive(entity)
            reasons.append(EndReason.COMPONENT_REMOVED if is_alive else EndReason.ENTITY_DELETED)
        return self.release(changes.gone, reasons)

    @cython.ccall
    def release(self, entities: list, reasons: Any) -> list:
        """Free the rows of entities, in time O(entities + contacts); return them."""
        if not entities:
            return []
        found = self.row_of.rows_of(entities)
        rows: list = found.tolist()
        self.end_contacts(rows, reasons)
        self.timeline.remove(found.data)
        for row in rows:
            self.lists.newcomers.pop(row, None)  # another body may get it before the next step
        self.reader.release(found.data)
        self.bodies.freed += rows
        return rows

    @cython.ccall
    def end_contacts(self, rows: list, reasons: Any) -> cython.int:
        """End the contacts of bodies for a reason, or each body's for its own, in one pass."""
        codes = np.empty(len(rows), BYTE)
        for n in range(len(rows)):
            codes[n] = END_REASONS.index(reasons[n] if isinstance(reasons, list) else reasons)
        self.timeline.contacts.forget(np.array(rows, LONG).data, codes.data)
        return 0

    @cython.ccall
    def skip(self, rows: list, reasons: Any) -> cython.int:
        """Remove bodies from contacts and trees."""
        self.end_contacts(rows, reasons)
        for row in rows:
            self.timeline.broadphase.remove(row)
        return 0

    def start_over(self, *bodies: Any) -> None:
        """Set the bodies, as `BodyLists.saved`; the next comparison caches their components."""
        self.lists.set_bodies(*bodies)
        rows = self.lists.rows
        left = np.ones(self.table.capacity, np.bool_)
        left[rows] = False
        self.reader.release(np.flatnonzero(left).data)
        self.table.quarantined[left] = 0
        self.bodies.free_all_but(rows.data)
        self.lists.newcomers.clear()
        self.table.n_cached[:] = -1
        self.seen = None  # type: ignore[assignment]

    def replace(self, bodies: NDArray[np.int64]) -> bool:
        """Set the bodies, by rising id; return whether that changes anything."""
        known = self.lists.entities
        if np.array_equal(known, bodies):
            return False
        extra: list = known[~are_among(known, bodies)].tolist()
        missing: list = bodies[~are_among(bodies, known)].tolist()
        left: list = self.release(extra, EndReason.ENTITY_DELETED)
        empty: dict = {}
        rows: list = self.admit(missing, dict.fromkeys(missing, empty))
        self.table.n_cached[rows] = -1
        pairs: list = [*zip(extra, left, strict=True), *zip(missing, rows, strict=True)]
        self.lists.update(sorted(pairs))
        self.seen = None  # type: ignore[assignment]
        return True


def compare_entities(
    noted: list, entities: dict, dead, row_of: Any, kinds: list, n_cached: cython.short[::1]
):
    """Return four lists of entities: new bodies, changed bodies, bodies that are gone, and others.

    The second are bodies with other components; the last are unchanged.  All are in the order of
    `noted`.

    Parameters
    ----------
    noted : list of int
        The entities to compare.
    entities : dict
        The components by type, a dict, for each entity.
    dead : frozenset of int
        Entities that esper deletes next; they count as gone.
    row_of : mapping
        The row of each known body.
    kinds : list of ComponentBinding
        The kinds to compare; the first two make an entity a body.
    n_cached
        By row: the number of cached components.
    """
    kind: ComponentBinding
    components: Any
    types: list = []
    items: list = []
    newcomers: list = []
    changed: list = []
    gone: list = []
    unchanged: list = []

    for kind in kinds:
        types.append(kind.type)
        items.append(kind.items)
    position, extents, *_ = types
    for entity in noted:
        i: cython.Py_ssize_t = row_of.get(entity, -1)
        components = entities.get(entity)
        if components is None or entity in dead:
            (unchanged if i < 0 else gone).append(entity)
        elif i >= 0 and matches_cache(components, types, items, i, n_cached[i]):
            unchanged.append(entity)
        elif position not in components or extents not in components:
            (unchanged if i < 0 else gone).append(entity)
        else:
            (newcomers if i < 0 else changed).append(entity)
    return newcomers, changed, gone, unchanged
