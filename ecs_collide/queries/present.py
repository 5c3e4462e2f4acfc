"""The bodies of a space as they are now, for queries after `Space.update`.

The game has changed the world since the last step: bodies came and went, were moved and resized.
Here all of them are read once and put into a tree of their own.  What a step works on is not
touched, so the steps to come are the same as without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide import _backend
from ecs_collide.components import Disabled, Sensor
from ecs_collide.constants import LARGEST
from ecs_collide.dynamics import Attached
from ecs_collide.esper_world import World
from ecs_collide.events import Vector
from ecs_collide.filters import Filter, filter_numbers
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.queries.queries import Boxes
from ecs_collide.queries.wrapped import search_of
from ecs_collide.sync.quarantine import find_no_number
from ecs_collide.sync.registry import BodyRegistry

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]

_BODY = 3  # the bits of an entity that has the two components of a body, and is not disabled
_ON = 7  # the bits of these, and of `Disabled`


class PresentBodies:
    """All bodies of a world at one moment between two steps, in a separate tree.  O(n log n).

    Bodies that are disabled, or whose numbers no step could work with, are left out, as a step
    does.  Attached boxes are where their owners are now.

    Attributes
    ----------
    ids : int64 (n,)
        The entities, by rising id; a body's row is its place among them.
    mins, maxs : float64 (n, dim)
        Their boxes.
    search : what searches them
    boxes : the boxes by row and the entities, for `search`
    """

    def __init__(
        self, world: World, registry: BodyRegistry, dim: int, domain: PeriodicDomain | None
    ) -> None:
        self._world = world
        ids, places, sizes, boxes = _read_boxes(world, registry, dim)
        sound = _are_sound(places, sizes, domain, registry)
        if boxes:
            sound &= _attached_soundly(ids, sound, boxes)
        ids, places, sizes = ids[sound], places[sound], sizes[sound]
        self.ids: Longs = ids
        self._centres, self._halves = registry.units.boxes_of(places, sizes)
        if domain is not None:
            self._centres = domain.into_world(self._centres)
        self.mins: Doubles = self._centres - self._halves
        self.maxs: Doubles = self._centres + self._halves
        self._read_unchanged(registry, places, sizes)
        if boxes:
            self._put_to_owners(boxes, domain)
        tree = self._tree = _backend.kernels.tree.Tree(dim, len(self.ids))
        if len(self.ids):
            rows, still = np.arange(len(self.ids)), np.zeros((0, dim))
            tree.renew(rows.data, self.mins.data, self.maxs.data, still.data, False, 0.0, 0.0)
        self.search = search_of(domain, tree)
        self.boxes: Boxes = self.mins.data, self.maxs.data, self.ids.data
        if not len(self.ids):  # without rows the boxes in the tree would count as their own
            nowhere = np.full((1, dim), np.nan)
            self.boxes = nowhere.data, nowhere.data, np.zeros(1, np.int64).data

    def _read_unchanged(self, registry: BodyRegistry, places: Doubles, sizes: Doubles) -> None:
        """Have the boxes that the last step left, of bodies that have not changed since."""
        c, rows = registry.table, registry.index.rows_of(self.ids)
        known = np.flatnonzero((rows >= 0) & (c.news[rows] == 0) & (c.quarantined[rows] == 0))
        same = np.asarray((c.seen_place[rows[known]] == places[known]).all(axis=1))
        same &= (c.seen_size[rows[known]] == sizes[known]).all(axis=1)
        same |= registry.are_held_fixed(rows[known])
        kept = known[same]
        self.mins[kept], self.maxs[kept] = c.tight_min[rows[kept]], c.tight_max[rows[kept]]
        self._centres[kept] = c.seen_centre[rows[kept]]
        self._halves[kept] = c.seen_half[rows[kept]]

    def _put_to_owners(self, boxes: dict[int, Attached], domain: PeriodicDomain | None) -> None:
        """Have attached boxes where their owners are."""
        ids = np.array([entity for entity in boxes if self.row(entity) >= 0], np.int64)
        if not len(ids):
            return
        rows = np.searchsorted(self.ids, ids)
        owners = np.searchsorted(self.ids, [boxes[entity].owner for entity in ids.tolist()])
        offsets = np.array([boxes[entity].offset for entity in ids.tolist()])
        centres = self._centres[owners] + offsets[:, : self._centres.shape[1]]
        self._centres[rows] = centres if domain is None else domain.into_world(centres)
        self._set_corners(rows)

    def _set_corners(self, rows: Any) -> None:
        self.mins[rows] = self._centres[rows] - self._halves[rows]
        self.maxs[rows] = self._centres[rows] + self._halves[rows]

    def centre_and_half(self, entity: int) -> tuple[Vector, Vector]:
        """Return the centre and the half sizes of a body."""
        row = self.row(entity)
        return tuple(self._centres[row].tolist()), tuple(self._halves[row].tolist())

    def put(self, entity: int, centre: Vector) -> None:
        """Have a body somewhere else."""
        row = self.row(entity)
        self._centres[row] = centre
        self._set_corners(row)
        still = np.zeros((0, self.mins.shape[1]))
        self._tree.renew_one(row, self.mins.data, self.maxs.data, still.data, True, 0.0, 0.0)

    def row(self, id: int) -> int:
        """Return the row of an entity, -1 if it has none."""
        place = int(np.searchsorted(self.ids, id))
        return place if place < len(self.ids) and self.ids[place] == id else -1

    def bounds(self, entity: int) -> tuple[Vector, Vector] | None:
        """Return the min and the max corner of a body; None if the entity is not a body."""
        row = self.row(entity)
        if row < 0:
            return None
        return tuple(self.mins[row].tolist()), tuple(self.maxs[row].tolist())

    def filters(self) -> Longs:
        """Return categories, mask and group of each body, int64 (n, 3)."""
        numbers = np.tile(np.array(filter_numbers(None), np.int64), (len(self.ids), 1))
        for row, its in self._components_of(Filter):
            numbers[row] = filter_numbers(its)
        return numbers

    def sensors(self) -> NDArray[np.bool_]:
        """Return which bodies are sensors, bool (n,)."""
        found = np.zeros(len(self.ids), np.bool_)
        for kind in (Sensor, Attached):
            found[[row for row, _ in self._components_of(kind)]] = True
        return found

    def _components_of(self, kind: type) -> list[tuple[int, Any]]:
        """Return row and component of each body that has one of a type."""
        entities = self._world.entities([kind])
        having = ((entity, its[kind]) for entity, its in entities.items() if kind in its)
        found = ((self.row(entity), component) for entity, component in having)
        return [(row, component) for row, component in found if row >= 0]


def _attached_soundly(
    ids: Longs, sound: NDArray[np.bool_], boxes: dict[int, Attached]
) -> NDArray[np.bool_]:
    """Return which bodies are not attached, or to a body that is sound and not attached."""
    bodies = set(ids[sound].tolist()).difference(boxes)
    return np.array([e not in boxes or boxes[e].owner in bodies for e in ids.tolist()], np.bool_)


def _read_boxes(
    world: World, registry: BodyRegistry, dim: int
) -> tuple[Longs, Doubles, Doubles, dict[int, Attached]]:
    """Return the entities that are bodies, their centres and half sizes, and the attached ones.

    The last is a dict: the `Attached` of all entities that have one.

    Raises
    ------
    TypeError
        A component holds something that is no number.
    """
    records = _backend.kernels.records
    makers = [records.ComponentRecords(kind.type, kind.names, ()) for kind in registry.makers]
    types = [kind.type for kind in registry.makers]
    others = [records.ComponentRecords(kind, (), ()) for kind in (Disabled, Attached)]
    entities = world.entities([*types, Disabled, Attached])
    found, masks, _ = records.file_components(entities, frozenset(world.dead()), [*makers, *others])
    ids, has = np.array(found, np.int64), np.array(masks, np.uint64)
    is_body = has & np.uint64(_ON) == _BODY
    numbers = []
    for n, maker in enumerate(makers):
        values = np.zeros((len(maker.items), dim))
        holders = ids[has >> np.uint64(n) & np.uint64(1) != 0]
        wrong = maker.read(values.data) if len(values) else -1
        if wrong >= 0:
            component_of = {types[n]: maker.items[wrong]}.get
            error = find_no_number(registry.checks.rules, int(holders[wrong]), component_of)
            raise error or TypeError(f"entity {holders[wrong]}: {types[n].__name__} has no numbers")
        numbers.append(values[is_body[has >> np.uint64(n) & np.uint64(1) != 0]])
    attached = ids[has >> np.uint64(3) & np.uint64(1) != 0].tolist()
    boxes = dict(zip(attached, others[1].items, strict=True))
    return ids[is_body], numbers[0], numbers[1], boxes


def _are_sound(
    places: Doubles, sizes: Doubles, domain: PeriodicDomain | None, registry: BodyRegistry
) -> NDArray[np.bool_]:
    """Return which boxes a step could work with, bool (n,)."""
    sound = np.asarray((np.abs(places) <= LARGEST).all(axis=1))
    sound &= ((sizes >= 0.0) & (sizes <= LARGEST)).all(axis=1)
    if domain is not None:
        _, halves = registry.units.boxes_of(places, sizes)
        for k in domain.axes:
            sound &= halves[:, k] <= domain.widths[k] / 2.0
    return sound
