"""Zones and bodies that begin a step elsewhere than the last one left them, or that are new.

The last step has no contacts of these.  So their boxes are read from their components, and compared
with those of all others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import backend
from ecs_collide._kernel.constants import LARGEST, News
from ecs_collide.components.basics import Disabled, Sensor, Velocity
from ecs_collide.components.dynamics import Attached
from ecs_collide.components.immersed import Immersed
from ecs_collide.components.slope import Slope
from ecs_collide.esper_world import World
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.sync.presence import NewBody, Presence
from ecs_collide.sync.registry import BodyRegistry

Doubles = NDArray[np.float64]
ZoneBox = tuple[int, Any, Any, Any]  # entity, zone, min and max corner


class _Reader:
    """Reads entities that may have changed since the last step."""

    def __init__(
        self, registry: BodyRegistry, presence: Presence, world: World, changed: Collection[int]
    ) -> None:
        self.changed = changed
        self._registry, self._presence, self._world = registry, presence, world
        self._find, self._is_there = presence.finder(world), presence.is_there(world)

    def components(self, entity: int) -> Any:
        """Return the components of a body by type; none for another entity."""
        its = self._find(entity)
        return its if its is not None and self._presence.is_body(its) else {}

    def known_row(self, entity: int) -> int:
        """Return the row of a body that took part in the last step, else -1."""
        table = self._registry.table
        row = self._registry.row_of.row(entity)
        if row < 0 or table.news[row] & News.NEW or table.quarantined[row]:
            return -1
        return row if entity not in self.changed or self._is_there(entity) else -1

    def moved(self, entity: int, row: int, was_one: object) -> NewBody | None:
        """Return a body that was no such body where it is now, None for another one."""
        try:
            if was_one:
                return self._presence.read_moved(self._world, entity, row)
            return self._presence.read(self._world, entity)
        except (TypeError, ValueError, AttributeError, ArithmeticError):
            return None  # the step says which number is wrong


class Arrivals:
    """Finds them before a step, and lets zones act on these bodies.

    A zone that is a `Slope`, or a new one that is `Attached`, acts from the step after.

    Attributes
    ----------
    bodies : dict of int to NewBody
    zones : dict of int to (min, max, rows)
        Their boxes, and the rows of the other bodies that they touch.
    immersed : set of int
        The bodies that are in zones.
    """

    def __init__(
        self, registry: BodyRegistry, presence: Presence, domain: PeriodicDomain,
        may_meet: Callable[[int, int], bool],
    ) -> None:  # fmt: skip
        self._registry, self._presence = registry, presence
        self._widths = np.asarray(domain.widths, np.float64)
        self._may_meet = may_meet
        self._table = backend.kernels.immersion.ZoneTable(registry.table.dim, domain.wrap)
        self.bodies: dict[int, NewBody] = {}
        self.zones: dict[int, tuple[Any, Any, list[int]]] = {}
        self.immersed: set[int] = set()
        self._boxes: list[ZoneBox] = []

    def find(
        self, world: World, zones: list[Any], changed: Collection[int], others: tuple[type, ...]
    ) -> None:
        """Find them among the entities that may have changed, or are known to have moved.

        Parameters
        ----------
        zones : list of (entity, (Zone,))
        changed : collection of int
        others : tuple of type
            The components of bodies on which no zone acts.
        """
        self.bodies, self.zones, self._boxes, self.immersed = {}, {}, [], set()
        if changed:
            read = _Reader(self._registry, self._presence, world, changed)
            self._find_bodies(read, others)
            self._find_zones(read, zones)

    def _find_bodies(self, read: _Reader, others: tuple[type, ...]) -> None:
        """Find the dynamic bodies, but for those with one of the components `others`."""
        table = self._registry.table
        for entity in read.changed:
            its = read.components(entity)
            if Velocity in its and not any(kind in its for kind in others):
                row = read.known_row(entity)
                was_one = row >= 0 and table.dynamic[row] and not table.sensor[row]
                body = read.moved(entity, row, was_one)
                if body is not None and body.dynamic:
                    self.bodies[entity] = body

    def _find_zones(self, read: _Reader, zones: list[Any]) -> None:
        """Find the zones, and the boxes of all zones."""
        table = self._registry.table
        for entity, (zone,) in zones:
            its = read.components(entity)
            owner = its[Attached].owner if Attached in its else None
            if Disabled in its or Slope in its or not (owner is not None or Sensor in its):
                continue
            if owner in self.bodies:
                continue
            row = read.known_row(entity)
            moved = None
            if entity in read.changed and owner is None:
                moved = read.moved(entity, row, row >= 0 and table.sensor[row])
            if moved is not None:
                box = entity, zone, *map(np.array, moved.corners)
                self.zones[entity] = box[2].tolist(), box[3].tolist(), self._touched(box)
            elif row >= 0:
                box = entity, zone, table.tight_min[row].copy(), table.tight_max[row].copy()
            else:
                continue
            self._boxes.append(box)

    def _touched(self, box: ZoneBox) -> list[int]:
        """Return the rows of the bodies that touch a zone and are where the last step left them."""
        table, rows = self._registry.table, self._registry.rows
        there = self._overlap(table.tight_min[rows], table.tight_max[rows], *box[2:])
        there &= (table.dynamic[rows] != 0) & (table.sensor[rows] == 0)
        entities = table.ids[rows].tolist()
        return [
            int(rows[n])
            for n in np.flatnonzero(there).tolist()
            if entities[n] not in self.bodies and self._meets(box[0], entities[n])
        ]

    def immerse(self, world: World, dt: float) -> list[Any]:
        """Write the `Immersed` of these bodies; return those without one, and its numbers."""
        new: list[Any] = []
        entities = list(self.bodies)
        corners = np.array([body.corners for body in self.bodies.values()])
        around: dict[int, list[Any]] = {}
        for zone_entity, zone, start, end in self._boxes if entities else ():
            owner: Any = world.component(zone_entity, Attached)
            there = self._overlap(corners[:, 0], corners[:, 1], start, end)
            for n in np.flatnonzero(there).tolist():
                is_own = owner is not None and owner.owner == entities[n]
                if not is_own and self._meets(zone_entity, entities[n]):
                    around.setdefault(n, []).append((zone, (start.tolist(), end.tolist())))
        for n, zones in around.items():
            entity = entities[n]
            velocity = np.array(self.bodies[entity].velocity)
            if not (np.abs(velocity) <= LARGEST).all():
                continue  # the step skips it
            ahead = velocity * dt / 2.0
            box = (corners[n] + ahead).tolist()
            gravity, _, drag, _, x, y, z = self._table.effect_of(tuple(box), zones)
            self.immersed.add(entity)
            known: Any = world.component(entity, Immersed)
            if known is None:
                new.append((entity, (x * drag, y * drag, z * drag, gravity, drag)))
            else:
                known.x, known.y, known.z = x * drag, y * drag, z * drag
                known.gravity, known.drag = gravity, drag
        return new

    def _meets(self, zone: int, other: int) -> bool:
        """Return whether a zone may act on a body; not if the step skips one of them."""
        try:
            return self._may_meet(zone, other)
        except (KeyError, TypeError, ValueError, AttributeError):
            return False

    def _overlap(self, low: Doubles, high: Doubles, start: Doubles, end: Doubles) -> Any:
        """Return which boxes share a point with one, at its nearest image if the world wraps."""
        shift: Any = 0.0
        if self._widths.any():
            widths = np.where(self._widths > 0.0, self._widths, 1.0)
            away = ((low + high) - (start + end)) / 2.0
            shift = np.where(self._widths > 0.0, np.rint(away / widths) * widths, 0.0)
        return (np.minimum(high, end + shift) >= np.maximum(low, start + shift)).all(axis=-1)
