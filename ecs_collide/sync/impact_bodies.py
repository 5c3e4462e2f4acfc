"""The components of the two bodies of an impact that the game resolves during a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import LARGEST, Has
from ecs_collide.components.attributes import read_number
from ecs_collide.components.basics import Disabled
from ecs_collide.events import Vector
from ecs_collide.sync.entity_rows import EntityRows
from ecs_collide.sync.step_start import StepStart
from ecs_collide.sync.targets import KinematicTargets
from ecs_collide.sync.units import Units


class ImpactBodies:
    """Writes a body's components before a custom response runs, and reads them after it.

    Rows of still bodies whose place or velocity the response has changed are added to `stale`.
    """

    def __init__(
        self,
        index: EntityRows,
        reader: Any,
        units: Units,
        targets: KinematicTargets,
        start: StepStart,
        stale: list[NDArray[np.int64]],
        timeline: Any,
    ) -> None:
        self._index = index
        self._table = index.table
        self._reader = reader
        self._position, _, self._velocity = reader.kinds[:3]
        self._leans = units.leans
        self._targets = targets
        self._start = start
        self._stale = stale
        self._loop = timeline.loop

    def use(self, timeline: Any) -> None:
        """Use another timeline."""
        self._loop = timeline.loop

    def are_same(self, world: Any) -> bool:
        """Return whether nothing came or went in the world since the step began."""
        same: bool = world.probe.is_as(self._index.seen)
        return same

    def is_body(self, entity: int, world: Any) -> bool:
        """Return whether a known entity is still that body, and not disabled."""
        now = world.components(entity, self._index.types)
        return Disabled not in now and self._index.is_same(self._index.row_of[entity], now)

    def write(self, rows: tuple[int, int]) -> None:
        """Write the positions and velocities of two bodies at the time reached into components."""
        loop, note = self._loop, self._start.note_overwritten
        show_place, show_velocity = self._position.show, self._velocity.show
        is_plain = not (self._table.is_apart or self._reader.sweeps)
        for row in rows:
            place, velocity = loop.place_now(row), loop.velocity_now(row)
            note(row)
            if not is_plain:
                place = self._lean(row, place) if self._table.is_apart else place
                velocity = self._kept(row, velocity) if self._reader.sweeps else velocity
            show_place(row, place)
            show_velocity(row, velocity)

    def _lean(self, row: int, centre: Vector) -> Vector:
        """Store where a body is now; return its place as its component has it."""
        v, place = self._table.views, []
        self._reader.keep_boxes(row)
        for k, x in enumerate(centre):
            if x == v.seen_centre[row, k]:
                place.append(v.seen_place[row, k])
            else:
                v.seen_centre[row, k] = x
                place.append(x + self._leans[k] * self._loop.half_now(row, k))
        return tuple(place)

    def _kept(self, row: int, velocity: Vector) -> Vector:
        """Return a velocity, with what the game has set where that still holds."""
        seen, speed_of = self._table.views.seen_velocity, self._targets.speed_of
        return tuple(
            seen[row, k] if speed == speed_of(row, k) else speed for k, speed in enumerate(velocity)
        )

    def are_unchanged(self, rows: tuple[int, int]) -> bool:
        """Return whether the components of two bodies, if they are read, hold what was seen last.

        Asked once: if not, `read` both.  What was found to differ holds as seen from then on.
        """
        place_differs, velocity_differs = self._position.differs, self._velocity.differs
        has = self._table.views.has
        for row in rows:
            if not has[row] & Has.FIXED and (place_differs(row) or velocity_differs(row)):
                return False
        return True

    def read(self, row: int, world: Any) -> bool:
        """Read the components of a body after a response; return whether it is an enabled body.

        A component that has replaced a position or a velocity is used from now on.  A velocity
        that was removed counts as 0.
        """
        v = self._table.views
        now = world.components(v.ids[row], self._index.types)
        if not self._index.is_same(row, now):
            return False
        if v.has[row] & Has.FIXED:
            return Disabled not in now
        places = self._accept_changes(self._position, row, v.seen_place, now)
        if places:
            self._start.note_relocated(row)
        for k, place in places:
            centre = place - self._leans[k] * self._loop.half_now(row, k)
            v.seen_centre[row, k] = centre
            self._loop.relocate(row, k, centre)
            self._targets.release(row)
        speeds = self._accept_changes(self._velocity, row, v.seen_velocity, now)
        for k, speed in speeds:
            self._loop.set_velocity(row, k, speed)
        if (places or speeds) and not v.moves[row]:
            self._stale.append(np.array([row], np.int64))
        return Disabled not in now

    def _accept_changes(
        self, kind: Any, row: int, seen: memoryview, now: Mapping[type, Any]
    ) -> list[tuple[int, float]]:
        """Record the numbers of a component that a response has set; return them by axis."""
        if not _holds(kind, row):
            return []
        component = now.get(kind.type)
        if component is not None and component is not kind.items[row]:
            kind.cache(row, component)
        news = []
        for k, name in enumerate(kind.names):
            value = 0.0 if component is None else float(read_number(component, name))
            if value != seen[row, k] and abs(value) <= LARGEST:
                kind.note(row, k, value)
                news.append((k, value))
        return news


def _holds(kind: Any, row: int) -> bool:
    """Return whether the body in a row has a component of a kind."""
    return bool(kind.items) and kind.items[row] is not None
