"""The rows of entities in the body table, and which entities enter and leave it.

The log of a world names the entities whose components may have changed since the last comparison.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import backend
from ecs_collide._kernel.arrays import are_among
from ecs_collide._kernel.constants import Exclusion, Mark, News
from ecs_collide.components.basics import Disabled
from ecs_collide.esper_world import World
from ecs_collide.events import END_REASONS, EndReason
from ecs_collide.motion.body_table import BodyTable

RowArray = NDArray[np.int64]

_CODES = {reason: code for code, reason in enumerate(END_REASONS)}


class Changes(NamedTuple):
    """The differences between the entities of a world and the entities with rows."""

    seen: Any  # of the world, a `Seen`
    entities: Mapping[int, Mapping[type, Any]]  # of the world: components by type
    newcomers: list[int]
    changed: list[int]  # entities with other components, or other objects for them
    gone: list[int]


class EntityRows:
    """The entities that have rows, and the components that are cached for them."""

    def __init__(
        self, table: BodyTable, lists: Any, types: dict[type, Any], reader: Any, timeline: Any
    ) -> None:
        self.table = table
        self.types = types
        self._lists = lists
        self.row_of: Mapping[int, int] = lists.row_of  # by entity
        self.seen: Any = None  # of the world at the last comparison; None if all are to be compared
        self.new: dict[int, None] = lists.newcomers
        self.switched_off: list[int] = lists.switched_off
        self._kernels = backend.kernels
        self._reader = reader
        self._position, self._extents = reader.kinds[:2]
        self._timeline = timeline

    @property
    def entities(self) -> RowArray:
        """The entities that are bodies, by rising id."""
        found: RowArray = self._lists.entities
        return found

    @property
    def rows(self) -> RowArray:
        """The rows of all bodies, in the order of their ids."""
        found: RowArray = self._lists.rows
        return found

    def use(self, timeline: Any) -> None:
        """Use another timeline, with room for all rows in its parts."""
        self._timeline = timeline
        self.table.bind()
        self.bind()

    def bind(self) -> None:
        """Make room in all parts for the rows of the table."""
        self._timeline.make_room()
        self._reader.bind(self.table.views)

    def watch(self, kind: type, mark: int) -> None:
        """Mark the bodies that have a component of a type with a bit, from now on.

        They count as changed in the next comparison, and no others.
        """
        if kind not in self.types:
            self.types[kind] = self._kernels.bindings.ComponentBinding(kind, (), 0, 0)
            self._reader.add_kind(self.types[kind])
        self._set_mark(kind, self.types[kind].mark | mark)

    def unwatch(self, kind: type, mark: int) -> None:
        """Stop marking the bodies that have a component of a watched type."""
        self._set_mark(kind, self.types[kind].mark & ~mark)

    def _set_mark(self, kind: type, mark: int) -> None:
        known = self.types[kind]
        if known.mark != mark:
            known.mark = mark
            holding = [row for row, component in enumerate(known.items) if component is not None]
            self.table.n_cached[holding] = -1
            self.seen = None

    # -- lookups --

    def holder(self, kind: type, row: int) -> Any | None:
        """Return the component of a body at the start of the step."""
        items = self.holders(kind)
        return items[row] if items else None

    def holders(self, kind: type) -> Sequence[Any]:
        """Return the components of a type by row at the start of the step; empty if there are none."""
        known = self.types.get(kind)
        items: Sequence[Any] = () if known is None else known.items
        return items

    def is_current(self, world: World) -> bool:
        """Return whether the world has the same entities and components as at the last comparison."""
        current: bool = world.probe.is_as(self.seen)
        return current

    def find_noted(self, world: World, seen: Any) -> list[int]:
        """Return the entities that may have changed between the last comparison and `seen`."""
        noted: list[int] | None = seen.find_noted(self.seen)
        if noted is None:
            noted = sorted({*self.entities.tolist(), *world.ids()})
        return noted

    def compare(self, world: World) -> Changes:
        """Return the differences between the entities of a world and the entities with rows."""
        seen, entities = world.probe.look(self.types), world.entities(self.types)
        newcomers, changed, gone, unchanged = self._kernels.world_diff.compare_entities(
            self.find_noted(world, seen), entities, seen.dead, self.row_of,
            self._reader.find_used(world), self.table.views.n_cached,
        )  # fmt: skip
        seen.keep(unchanged)
        return Changes(seen, entities, newcomers, changed, gone)

    def know(self, changes: Changes) -> None:
        """Store the moment of a comparison whose changes are all applied."""
        self.seen = changes.seen

    def find_changed(self, world: World) -> tuple[list[int], list[int]]:
        """Return the changed bodies, and those among them whose ids belong to other bodies now.

        A living entity that is no body any more has changed, too, and so has one that was disabled
        before it is deleted.
        """
        if self.is_current(world):
            return [], []
        changes = self.compare(world)
        changed, row_of, now = changes.changed, self.row_of, changes.entities
        replaced = [e for e in changed if self._is_another(row_of[e], now[e])]
        dead = changes.seen.dead
        left = [e for e in changes.gone if e in now and (e not in dead or Disabled in now[e])]
        return changed + left, replaced

    def rows_of(self, entities: NDArray[np.int64]) -> RowArray:
        """Return the rows of entities, -1 for an entity that is not a body."""
        if len(self.entities) == 0:
            return np.full(len(entities), -1, np.int64)
        places = np.searchsorted(self.entities, entities)
        places[places == len(self.entities)] = 0
        rows = self.rows[places]
        rows[self.entities[places] != entities] = -1
        return rows

    def _is_another(self, row: int, components: Mapping[type, Any]) -> bool:
        """Return whether an id was used again, so that `Position` and `Extents` are new."""
        return (
            self._position.items[row] is not components[self._position.type]
            and self._extents.items[row] is not components[self._extents.type]
        )

    def is_same(self, row: int, components: Mapping[type, Any]) -> bool:
        """Return whether components belong to the body in a row: one of position, extents is the same."""
        kinds = self._position.type, self._extents.type
        return all(kind in components for kind in kinds) and not self._is_another(row, components)

    # -- entering and leaving --

    def admit(self, newcomers: list[int], entities: Mapping[int, Mapping[type, Any]]) -> list[int]:
        """Give rows to new bodies; return them."""
        if self.table.reserve(len(newcomers)):
            self.bind()
        found = self.table.allocate(newcomers)
        rows: list[int] = found.tolist()
        self.table.news[found] = News.NEW
        self.new.update(dict.fromkeys(rows))
        if self._reader.cache_all(found.data, newcomers, entities) & Mark.DISABLED:
            self._switch_off(rows)
        return rows

    def recache(self, rows: list[int], components: list[Mapping[type, Any]]) -> None:
        """Cache the components that bodies have now."""
        others = []
        for row, present in zip(rows, components, strict=True):
            if self._reader.switch(row, present):
                continue
            if self._is_another(row, present):
                others.append(row)
            self._reader.cache(row, present)
        if others:
            self.end_contacts(np.array(others, np.int64), EndReason.ENTITY_DELETED)
            self.table.news[others] |= News.NEW
            self.new.update(dict.fromkeys(others))
        self._switch_off(rows)

    def _switch_off(self, rows: list[int]) -> None:
        """Exclude bodies that have become disabled, until they are enabled and read again."""
        disabled, state = self.table.views.disabled, self.table.views.quarantined
        off = [row for row in rows if disabled[row] and state[row] != Exclusion.DISABLED]
        if off:
            for row in off:
                self._reader.undo.keep(self.table, "quarantined", row)
            self.skip(off, EndReason.DISABLED)
            self.table.quarantined[off] = Exclusion.DISABLED
            self.switched_off += off

    def release_gone(self, gone: list[int], world: World) -> list[int]:
        """Free the rows of entities that are no longer bodies; return them."""
        if not gone:
            return []
        reasons: EndReason | list[EndReason] = EndReason.ENTITY_DELETED
        if world.is_empty():
            reasons = EndReason.WORLD_CLEARED
        elif living := world.living(gone):
            deleted, removed = EndReason.ENTITY_DELETED, EndReason.COMPONENT_REMOVED
            reasons = [removed if entity in living else deleted for entity in gone]
        return self.release(gone, reasons)

    def release(self, entities: list[int], reasons: EndReason | list[EndReason]) -> list[int]:
        """Free the rows of entities, in time O(entities + contacts); return them."""
        if not entities:
            return []
        found = self._lists.row_of.rows_of(entities)
        self.end_contacts(found, reasons)
        self._timeline.remove(found.data)
        rows: list[int] = found.tolist()
        for row in rows if self.new else ():
            self.new.pop(row, None)  # another body may get the row before the next step
        self._reader.release(found.data)
        self.table.free(rows)
        return rows

    def end_contacts(self, rows: RowArray, reasons: EndReason | list[EndReason]) -> None:
        """End the contacts of bodies, each body's for its reason, in one pass over the contacts."""
        if isinstance(reasons, EndReason):
            codes = np.full(len(rows), _CODES[reasons], np.int8)
        else:
            codes = np.array([_CODES[reason] for reason in reasons], np.int8)
        self._timeline.contacts.forget(rows.data, codes.data)

    def skip(self, rows: list[int], reasons: EndReason | list[EndReason]) -> None:
        """Remove bodies from contacts and trees."""
        self.end_contacts(np.array(rows, np.int64), reasons)
        for row in rows:
            self._timeline.broadphase.remove(row)

    def start_over(self, *bodies: Any) -> None:
        """Set the bodies, as `BodyLists.saved`; the next comparison caches their components."""
        self._lists.set_bodies(*bodies)
        left = np.ones(self.table.capacity, np.bool_)
        left[self.rows] = False
        self._reader.release(np.flatnonzero(left).data)
        self.table.quarantined[left] = 0
        self.table.free_all_but(self.rows)
        self.new.clear()
        self.table.n_cached[:] = -1
        self.seen = None

    def replace(self, bodies: RowArray) -> bool:
        """Set the bodies, by rising id; return whether that changes anything."""
        if np.array_equal(self.entities, bodies):
            return False
        extra = self.entities[~are_among(self.entities, bodies)].tolist()
        missing = bodies[~are_among(bodies, self.entities)].tolist()
        left = self.release(extra, EndReason.ENTITY_DELETED)
        rows = self.admit(missing, {entity: {} for entity in missing})
        self.table.n_cached[rows] = -1
        pairs = [*zip(extra, left, strict=True), *zip(missing, rows, strict=True)]
        self._lists.update(sorted(pairs))
        self.seen = None
        return True
