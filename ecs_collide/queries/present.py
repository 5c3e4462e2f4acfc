"""The bodies of a space as they are now, for queries after `Space.update` and for `Space.move`.

Since the last step bodies may have come and gone, and may have been moved and resized.
Here all bodies are read into a separate tree once, and afterwards only changes are applied.  The
data of the step is not changed, so queries do not affect later steps.

The log of the world names the entities that came, went or changed.  There is no notice of an
attribute that the game sets, so the numbers of all bodies that are
not `Fixed` are compared, by pointers if they are in slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import backend
from ecs_collide._kernel.arrays import are_among
from ecs_collide._kernel.constants import LARGEST, Has, Mark, Trait
from ecs_collide.components.basics import Disabled, Fixed, Sensor
from ecs_collide.components.dynamics import Attached
from ecs_collide.components.filters import Filter, filter_numbers
from ecs_collide.components.slope import Slope
from ecs_collide.components.surfaces import OneWay
from ecs_collide.esper_world import World
from ecs_collide.motion.body_table import BodyTable
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.queries.wrapped import Boxes, search_of
from ecs_collide.sync.presence import Presence
from ecs_collide.sync.quarantine import find_no_number
from ecs_collide.sync.registry import BodyRegistry

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]

_ROLES = ("position", "extents", "velocity", "growth")
_NO_ROWS: Longs = np.zeros(0, np.int64)
_FEW = 16  # up to this number, it is faster to look bodies up one by one


class PresentBodies:
    """All bodies of a world at one moment between two steps, in a separate tree.

    Each body has a row.  As in a step, disabled bodies and bodies with invalid numbers are not in
    the tree.  Attached boxes are at the current places of their owners.

    Attributes
    ----------
    table : BodyTable
        Their columns, with boxes as `tight_min`, `tight_max`, `centre` and `half`.
    search : the searches in the tree
    slopes : Slopes
        Measures boxes against the slopes among the bodies, by row.
    up : tuple of float
        The direction along which their heights count.
    """

    def __init__(
        self,
        world: World,
        registry: BodyRegistry,
        presence: Presence,
        dim: int,
        domain: PeriodicDomain,
    ) -> None:
        self._world = world
        self._registry = registry
        self._presence = presence
        self.up = registry.up
        self._domain = domain
        self._kernels = backend.kernels.present_boxes
        self._seen: Any = None  # of the world at the last comparison
        self._row_of: dict[int, int] = {}
        self.table = BodyTable(backend.kernels.bodies.Bodies(dim, registry.table.is_apart))
        bodies = self.table.bodies
        bodies.rare.use()
        components = registry.components
        wanted = [components.vector(role, dim).kind for role in _ROLES]
        wanted += [Attached, Disabled, Fixed, Slope, OneWay]
        make = backend.kernels.bindings.ComponentBinding
        self._kinds = [
            make(kind.type, kind.names, kind.mark, 0, kind.columns)
            for kind in registry.kinds
            if kind.type in wanted
        ]
        types: list[type] = []
        for kind in self._kinds:
            kind.counts = kind.type not in types
            types.append(kind.type)
        by_name = {(kind.type, kind.names[:1]): kind for kind in self._kinds}
        self._position, self._extents = self._kinds[:2]
        self._offset, self._owner = by_name[Attached, ("x",)], by_name[Attached, ("owner",)]
        self._rise, self._heights = by_name[Slope, ("x",)], by_name[Slope, ("low",)]
        self._side = by_name[OneWay, ("x",)]
        makers = self._position, self._extents
        self._finder = self._kernels.BoxFinder(
            bodies, registry.table.bodies, registry.units, makers, registry.makers
        )
        self._tree = backend.kernels.tree.Tree(dim, 0)
        self.search = search_of(domain, self._tree)
        self.slopes = self.search.use_bodies(bodies)
        self._rows = self._watched = self._attached = self._owner_rows = _NO_ROWS
        self._has = np.zeros(0, np.int64)  # by row: the marks of its kinds
        self._is_in = np.zeros(0, np.bool_)  # whether it is in the tree
        self._bind()

    def _bind(self) -> None:
        """Use the columns of the table, which may have been replaced by longer ones."""
        table, old = self.table, len(self._has)
        table.bind()
        for kind in self._kinds:
            seen, now = kind.columns
            kind.bind(table.capacity, getattr(table.views, seen), getattr(table.views, now))
        more = table.capacity - old
        self._has, self._is_in = np.pad(self._has, (0, more)), np.pad(self._is_in, (0, more))

    @property
    def boxes(self) -> Boxes:
        """The boxes by row and the entities, as `search` takes them."""
        views = self.table.views
        return views.tight_min, views.tight_max, views.ids

    # -- comparison with the world --

    def refresh(self, has_stepped: bool) -> None:
        """Apply the changes since the last call.

        Parameters
        ----------
        has_stepped : bool
            Whether a step has been done since; then `Fixed` bodies are read too.

        Raises
        ------
        TypeError, AttributeError
            A value is not a number.  The object must then be discarded.
        """
        rows = [] if self.is_current() else self._compare()
        rows += self._read_all(self._enabled(self._rows) if has_stepped else self._watched)
        if has_stepped:
            self._place(self._rows)
        elif rows:
            self._place(np.array(list(dict.fromkeys(rows)), np.int64))
        self._shape(rows)

    def read_again(self, entities: Sequence[int]) -> None:
        """Apply the changes of some bodies, `Fixed` or not, and of no others."""
        known = [self._row_of[entity] for entity in entities if entity in self._row_of]
        rows = np.array(known, np.int64)
        changed = self._read_all(self._enabled(rows))
        self._place(np.array([*known, *changed], np.int64))
        self._shape([*known, *changed])

    def is_current(self) -> bool:
        """Return whether entities and components are the same as at the last comparison."""
        current: bool = self._world.probe.is_as(self._seen)
        return current

    def _enabled(self, rows: Longs) -> Longs:
        """Return the rows whose bodies are not disabled."""
        enabled: Longs = rows[self._has[rows] & Mark.DISABLED == 0]
        return enabled

    def _compare(self) -> list[int]:
        """Register new bodies, drop old ones; return the rows of bodies that may have moved."""
        types = [kind.type for kind in self._kinds]
        seen, entities = self._world.probe.look(types), self._world.entities(types)
        noted = seen.find_noted(self._seen)
        if noted is None:
            noted = sorted({*self._row_of, *self._world.ids()})
        newcomers, changed, gone, unchanged = backend.kernels.entity_rows.compare_entities(
            noted, entities, seen.dead, self._row_of, self._kinds, self.table.views.n_cached
        )
        seen.keep(unchanged)
        self._release(gone)
        if self.table.bodies.make_room(len(newcomers)):
            self._bind()
        rows: list[int] = self.table.bodies.allocate(newcomers).tolist()
        self.table.slope[rows] = 0
        self._row_of.update(zip(newcomers, rows, strict=True))
        rows += [self._row_of[entity] for entity in changed]
        found = [entities[entity] for entity in (*newcomers, *changed)]
        self._file(rows, found)
        self._rows = np.flatnonzero(self.table.n_cached != 0)
        has = self._has[self._rows]
        is_fixed = (has & Has.FIXED != 0) & (has & (Has.VELOCITY | Has.GROWTH | Mark.ATTACHED) == 0)
        self._watched = self._enabled(self._rows[~is_fixed])
        self._attached = self._rows[has & Mark.ATTACHED != 0]
        self._read_all(self._enabled(np.array(rows, np.int64)))
        self._find_owners()
        self._seen = seen
        boxes: list[int] = self._attached.tolist()
        others = [self._row_of.get(entity, -1) for entity in noted]  # a slope may have become a box
        return rows + boxes + self._slopes_among([row for row in others if row >= 0])

    def _slopes_among(self, rows: list[int]) -> list[int]:
        """Return the rows of bodies that are slopes, or were at the last update."""
        among = np.array(rows, np.int64)
        slopes = among[(self._has[among] & self._rise.mark != 0) | (self.table.slope[among] != 0)]
        found: list[int] = slopes.tolist()
        return found

    def _shape(self, rows: list[int]) -> None:
        """Read the sides and the shapes of some bodies, which have been placed."""
        self._turn(np.array(rows, np.int64))
        sloped = list(dict.fromkeys(self._slopes_among(rows)))
        if sloped:
            odd = Has.VELOCITY | Has.GROWTH | Mark.ATTACHED
            are_plain = (self._has[sloped] & odd == 0) & (not self._registry.sweeps)
            for row, is_plain in zip(sloped, are_plain.tolist(), strict=True):
                self._shape_one(row, is_plain)

    def _turn(self, rows: Longs) -> None:
        """Read the sides on which the one-way ones among some bodies are solid."""
        is_one_way = self._has[rows] & self._side.mark != 0
        self.table.traits[rows] = np.where(is_one_way, Trait.ONE_WAY, 0)
        normals = getattr(self.table.views, self._side.columns[0])
        rare, up = self.table.bodies.rare, self._registry.reader.rare_reader.up
        for row in rows[is_one_way].tolist():
            self.table.one_way[row] = rare.side(normals, row, up)

    def _shape_one(self, row: int, is_plain: bool) -> None:
        """Read the shape of a slope; one that the step would take for a box is a box.

        A plain one is certainly not dynamic, attached or growing.
        """
        table, entity = self.table, int(self.table.ids[row])
        has_slope = bool(self._has[row] & self._rise.mark) and table.half[row].all()
        if not has_slope or (not is_plain and self._is_box(entity)):
            table.slope[row] = 0
            return
        rise, heights = (
            getattr(table.views, kind.columns[0]) for kind in (self._rise, self._heights)
        )
        table.bodies.rare.shape(row, rise, heights, self._registry.reader.rare_reader.up)

    def _is_box(self, entity: int) -> bool:
        """Return whether a body with a `Slope` is dynamic, attached, or grows."""
        if self._world.component(entity, Attached) is not None:
            return True
        kind = self._registry.components.vector("growth", self.table.dim)
        growth: Any = self._world.component(entity, kind.kind)
        if growth is not None and any(getattr(growth, name) for name in kind.names):
            return True
        return self._presence.read(self._world, entity).dynamic

    def _file(self, rows: list[int], found: list[Any]) -> None:
        """Register components of bodies, a dict by type for each row."""
        n_cached = self.table.views.n_cached
        self._kernels.cache_bodies(self._kinds, rows, found, n_cached, self._has.data)

    def _release(self, gone: list[int]) -> None:
        """Free the rows of entities that are no longer bodies."""
        rows = [self._row_of.pop(entity) for entity in gone]
        self._file(rows, [{}] * len(rows))
        self._is_in[rows] = False
        self._tree.drop_many(np.array(rows, np.int64).data)
        self.table.bodies.spare += rows

    def _read_all(self, rows: Longs) -> list[int]:
        """Read some bodies and all attached boxes; return the rows of the changed ones."""
        changed = self._read(self._position, self._extents, rows)
        slopes = rows[self._has[rows] & self._rise.mark != 0]
        if len(slopes):
            changed += self._read(self._rise, self._heights, slopes)
        one_ways = rows[self._has[rows] & self._side.mark != 0]
        if len(one_ways):
            changed += self._read(self._side, self._side, one_ways)
        if len(self._attached):
            boxes = self._read(self._offset, self._owner, self._attached)
            if boxes:
                self._find_owners()
            changed += boxes
        return changed

    def _find_owners(self) -> None:
        """Look up the rows of the owners of attached boxes, -1 for none."""
        owners = self.table.seen_owner[self._attached, 0].tolist()
        self._owner_rows = np.array([self._row_of.get(owner, -1) for owner in owners], np.int64)

    def _read(self, first: Any, second: Any, rows: Longs) -> list[int]:
        """Read two components of some bodies; return the rows in which a number has changed."""
        try:
            changed: list[int] = self._kernels.find_changed(first, second, rows.data)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            rules = self._registry.checks.rules
            for entity, row in sorted(
                zip(self.table.ids[rows].tolist(), rows.tolist(), strict=True)
            ):
                held = {kind.type: kind.items[row] for kind in (first, second)}
                if wrong := find_no_number(rules, entity, held.get):
                    raise wrong from error
            raise
        return changed

    # -- where the bodies are --

    def _place(self, rows: Longs) -> None:
        """Place bodies and their attached boxes, by their components or by the last step."""
        if not len(self._attached):
            self._put_in_tree(rows, self._find_boxes(rows))
            return
        boxes = self._attached
        moved = are_among(self._owner_rows, rows) | are_among(boxes, rows)
        rows = rows[~are_among(rows, boxes)]
        self._put_in_tree(rows, self._find_boxes(rows))
        owners, boxes = self._owner_rows[moved], boxes[moved]
        sound = self._find_boxes(boxes)
        sound &= (owners >= 0) & self._is_in[owners] & (self._has[owners] & Mark.ATTACHED == 0)
        offsets = self.table.seen_offset
        sound &= (np.abs(offsets[boxes]) <= LARGEST).all(axis=1)  # not so for nan
        found = boxes[sound]
        centres = self.table.centre[owners[sound]] + offsets[found]
        self.table.centre[found] = self._domain.into_world(centres)
        self.table.tight_min[found] = self.table.centre[found] - self.table.half[found]
        self.table.tight_max[found] = self.table.centre[found] + self.table.half[found]
        self._put_in_tree(boxes, sound)

    def _find_boxes(self, rows: Longs) -> NDArray[np.bool_]:
        """Compute the boxes of bodies; return which of them have valid numbers."""
        registry, sound = self._registry, np.ones(len(rows), np.int8)
        ids = self.table.ids[rows]
        if len(rows) < _FEW:
            seen = np.array([registry.row_of.get(entity, -1) for entity in ids.tolist()], np.int64)
        else:
            seen = registry.index.rows_of(ids)
        self._finder.find(rows.data, seen.data, registry.to_be_read, sound.data)
        is_sound: NDArray[np.bool_] = (sound != 0) & (self._has[rows] & Mark.DISABLED == 0)
        return is_sound

    def _put_in_tree(self, rows: Longs, sound: NDArray[np.bool_]) -> None:
        """Put the valid bodies into the tree, and remove the others."""
        self._is_in[rows] = sound
        if not sound.all():
            self._tree.drop_many(rows[~sound].data)
            rows = rows[sound]
        if len(rows):
            still, (mins, maxs, _) = np.zeros((0, self.table.dim)), self.boxes
            self._tree.renew(rows.data, mins, maxs, still.data, True, 0.0, 0.0)

    # -- which bodies there are --

    def row(self, id: int) -> int:
        """Return the row of a body in the tree, -1 for other entities."""
        row = self._row_of.get(id, -1)
        return row if row >= 0 and self._is_in[row] else -1

    def makers(self, row: int) -> tuple[Any, Any]:
        """Return the components of a body that play the roles of position and extents."""
        return self._position.items[row], self._extents.items[row]

    def attached_to(self, rows: Sequence[int]) -> list[int]:
        """Return the rows of the boxes that are attached to the bodies in some rows."""
        if not len(self._attached):
            return []
        mine: list[int] = self._attached[are_among(self._owner_rows, [*rows])].tolist()
        return mine

    def attached_with(self, row: int) -> list[int]:
        """Return the entities that a body ignores: its boxes, or its owner and the owner's boxes."""
        if not len(self._attached):
            return []
        mine = self._owner_rows[self._attached == row]
        owner = int(mine[0]) if len(mine) else row
        together = [owner, *self._attached[self._owner_rows == owner].tolist()]
        return [int(self.table.ids[other]) for other in together if other not in (row, -1)]

    @property
    def rows(self) -> Longs:
        """The rows of the bodies in the tree."""
        return np.flatnonzero(self._is_in)

    def rows_of(self, entities: Longs) -> tuple[Longs, Longs]:
        """Return the indices of the entities that are in the tree, and their rows."""
        rows = np.array([self.row(entity) for entity in entities.tolist()], np.int64)
        places = np.flatnonzero(rows >= 0)
        return places, rows[places]

    def filters(self) -> Longs:
        """Return categories, mask and group by row, int64 (room, 3)."""
        numbers = np.tile(np.array(filter_numbers(None), np.int64), (len(self._is_in), 1))
        for row, its in self._components_of(Filter):
            numbers[row] = filter_numbers(its)
        return numbers

    def sensors(self) -> NDArray[np.bool_]:
        """Return by row which bodies are sensors, bool (room,)."""
        found = np.zeros(len(self._is_in), np.bool_)
        for kind in (Sensor, Attached):
            found[[row for row, _ in self._components_of(kind)]] = True
        return found

    def _components_of(self, kind: type) -> list[tuple[int, Any]]:
        """Return row and component of each body that has one of a type."""
        entities = self._world.entities([kind])
        having = ((entity, its[kind]) for entity, its in entities.items() if kind in its)
        found = ((self.row(entity), component) for entity, component in having)
        return [(row, component) for row, component in found if row >= 0]
