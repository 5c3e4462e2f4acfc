"""Which entity of the game is which row, and what its components say.

Each step begins here: what the world has is compared with what the space has.
The world's lists are the same objects as long as nothing was added or removed,
so a quiet world is recognised for the price of one ``is`` per component type.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ecs_collide import _backend
from ecs_collide._columns import Columns
from ecs_collide._numbers import LARGEST
from ecs_collide._reports import Report, find_no_number, quarantine_report
from ecs_collide.components import Deflect, Extents, Growth, Mass, Position, Sensor, Velocity
from ecs_collide.events import END_REASONS, EndReason
from ecs_collide.responses import RESPONSE_CODES

_KINDS: tuple[type, ...] = (
    Position, Extents, Velocity, Growth, Mass, Sensor, *RESPONSE_CODES,
)  # fmt: skip

Rows = NDArray[np.int64]


class World(Protocol):
    """The game as the space sees it."""

    def components(self, kind: type) -> list[tuple[int, Any]]:
        """Return all (entity, component) of a type: the same list until one is added or removed."""

    def component(self, entity: int, kind: type) -> Any | None:
        """Return an entity's component, or None."""

    def exists(self, entity: int) -> bool:
        """Tell whether an entity is alive."""

    def is_empty(self) -> bool:
        """Tell whether the world has no entities at all."""

    def require_current(self) -> None:
        """Raise RuntimeError if another world is current."""

    def come_back(self) -> bool:
        """Make this world current again; tell whether it was not."""

    def dead(self) -> Collection[int]:
        """Return the entities that are deleted but not gone yet."""

    def handlers(self) -> Callable[[str], list[Callable[[Any], object]]]:
        """Return what tells this world's own handlers of an event, whatever world is current."""


class Roster:
    """The bodies of one world in rows.

    Attributes
    ----------
    columns : Columns
    row_of : dict
        Row by entity.
    entities, rows : int64 arrays
        All bodies in the order of their ids.
    moving, active : int64 arrays
        Rows of the bodies that move, and of those that move or were moved or
        resized by the game since the last step.
    touched_still : int64 array
        Rows of the bodies that do not move but have a new place in the tree.
    """

    def __init__(self, dim: int, timeline: Any) -> None:
        self.columns = Columns(dim)
        self.row_of: dict[int, int] = {}
        self.entities: Rows = np.zeros(0, np.int64)
        self.rows: Rows = np.zeros(0, np.int64)
        self.moving = self.active = self.touched_still = self.rows
        self._watched: list[type] = []
        self._dead: frozenset[int] = frozenset()
        self._lists: dict[type, list[tuple[int, Any]]] = {}
        self._holders: dict[type, list[Any]] = {}
        self._rows_with: dict[type, Rows] = {}
        self._timeline = timeline
        self._new: set[int] = set()  # rows of bodies that were not there in the last step
        self._unplaced: set[int] = set()  # rows of bodies that are in the wrong tree
        self._bind()

    def _bind(self) -> None:
        self.views = self.columns.views()
        self._timeline.bind(self.views, self.columns.capacity)

    def watch(self, kind: type) -> None:
        """Note from now on which bodies have a component of the game's own."""
        if kind not in self._watched:
            self._watched.append(kind)
            self._lists.clear()

    def holder(self, kind: type, row: int) -> Any | None:
        """Return the component of a body as of the beginning of the step."""
        holders = self._holders.get(kind)
        return None if holders is None else holders[row]

    # -- structure --

    def compare(self, world: World) -> None:
        """Bring the rows in line with the entities that the world has now."""
        kinds = (*_KINDS, *self._watched)
        lists = {kind: world.components(kind) for kind in kinds}
        dead = frozenset(world.dead())
        if (
            self._lists
            and all(lists[kind] is self._lists[kind] for kind in kinds)
            and dead == self._dead
        ):
            return
        self._dead = dead
        positions = dict(lists[Position])
        extents = dict(lists[Extents])
        present = (positions.keys() & extents.keys()) - dead
        for entity in sorted(self.row_of.keys() - present):
            self._release(entity, self._reason_gone(world, entity))
        for entity, row in self.row_of.items():
            if (
                self._holders[Position][row] is not positions[entity]
                and self._holders[Extents][row] is not extents[entity]
            ):  # an id that was used again: another body
                self._forget(row, EndReason.ENTITY_DELETED)
                self._new.add(row)
        newcomers = sorted(present - self.row_of.keys())
        if self.columns.reserve(len(newcomers)):
            self._bind()
        for entity in newcomers:
            row = self.columns.take(entity)
            self.row_of[entity] = row
            self._new.add(row)
        self.entities = np.array(sorted(present), np.int64)
        self.rows = np.array([self.row_of[entity] for entity in self.entities.tolist()], np.int64)
        self._hold(lists)
        self._lists = lists

    def _hold(self, lists: dict[type, list[tuple[int, Any]]]) -> None:
        """Keep the components of all bodies by row, and what follows from having them."""
        c = self.columns
        for kind, pairs in lists.items():
            holder: list[Any] = [None] * c.capacity
            rows = np.empty(len(pairs), np.int64)
            n = _backend.kernels.gather.hold(pairs, self.row_of, holder, rows.data)
            self._holders[kind] = holder
            self._rows_with[kind] = np.sort(rows[:n])
        with_ = self._rows_with
        for flag in (c.sensor, c.response, c.custom):
            flag[:] = 0
        moved_before = c.moves.copy()
        c.moves[:] = 0
        c.moves[with_[Velocity]] = c.moves[with_[Growth]] = 1
        self._unplaced.update(np.flatnonzero(moved_before != c.moves).tolist())
        for rows_without, seen, bad in (
            (self._without(Velocity), c.seen_velocity, c.bad_velocity),
            (self._without(Growth), c.seen_growth, c.bad_growth),
        ):
            seen[rows_without] = 0.0
            bad[rows_without] = 0
        c.mass[self._without(Mass)] = 1.0
        c.restitution[:] = 0.0
        c.sensor[with_[Sensor]] = 1
        for kind, code in RESPONSE_CODES.items():
            c.response[with_[kind]] = code
        for kind in self._watched:
            c.custom[with_[kind]] = 1
        c.can_yield[:] = 0
        c.can_yield[with_[Velocity]] = 1
        c.can_yield[(c.response == 0) & (c.custom == 0)] = 0

    def _without(self, kind: type) -> Rows:
        return np.setdiff1d(self.rows, self._rows_with[kind], assume_unique=True)

    @staticmethod
    def _reason_gone(world: World, entity: int) -> EndReason:
        if world.is_empty():
            return EndReason.WORLD_CLEARED
        if world.exists(entity):
            return EndReason.COMPONENT_REMOVED
        return EndReason.ENTITY_DELETED

    def _forget(self, row: int, reason: EndReason) -> None:
        self._timeline.contacts.forget(row, END_REASONS.index(reason))

    def _release(self, entity: int, reason: EndReason) -> None:
        row = self.row_of.pop(entity)
        self._forget(row, reason)
        self._timeline.candidates.remove(row)
        self._new.discard(row)
        self._unplaced.discard(row)
        self.columns.give_back(row)

    # -- values --

    def read(self, step: int, dt: float) -> list[Report]:
        """Take over what the components say; return reports of what cannot be used.

        Raises
        ------
        TypeError
            A component holds something that is no number.
        """
        c, v = self.columns, self.views
        all_rows = self.rows.data
        ignored = np.zeros(c.capacity, np.int8).data
        n_bad = 0
        try:
            n_bad += self._gather(Position, all_rows, v.seen_centre, v.touched, v.bad_centre)
            n_bad += self._gather(Extents, all_rows, v.seen_half, v.touched, v.bad_half, 0.0)
            n_bad += self._gather(
                Velocity, self._rows_with[Velocity].data, v.seen_velocity, ignored, v.bad_velocity
            )
            n_bad += self._gather(
                Growth, self._rows_with[Growth].data, v.seen_growth, ignored, v.bad_growth
            )
            self._gather_scalar(Mass, "value", v.mass)
            self._gather_scalar(Deflect, "restitution", v.restitution)
        except (TypeError, ValueError, OverflowError) as error:
            raise self._not_a_number() from error
        fits = (c.mass >= 1.0 / LARGEST) & ((c.mass <= LARGEST) | (c.mass == np.inf))
        fine = fits & (c.restitution >= 0.0) & (c.restitution <= 1.0)
        np.logical_not(fine, out=c.bad_material, casting="unsafe")
        with np.errstate(over="ignore", invalid="ignore"):
            way = np.abs(c.seen_centre) + np.abs(c.seen_velocity * dt)
            way += c.seen_half + np.abs(c.seen_growth * dt)
        too_far = np.flatnonzero(~(way <= LARGEST).all(axis=1))
        c.bad_motion[:] = 0
        c.bad_motion[too_far] = 1
        reports = self._sort_out(step, dt, n_bad + len(too_far))
        c.restitution[c.response != RESPONSE_CODES[Deflect]] = 0.0
        np.logical_and(c.can_yield, np.isfinite(c.mass), out=c.yields, casting="unsafe")
        for kind_now, kind_seen in (
            (c.centre, c.seen_centre),
            (c.half, c.seen_half),
            (c.velocity, c.seen_velocity),
            (c.growth, c.seen_growth),
        ):
            kind_now[:] = kind_seen
        return reports

    def _gather(
        self,
        kind: type,
        rows: memoryview,
        seen: memoryview,
        changed: memoryview,
        bad: memoryview,
        lowest: float = -LARGEST,
    ) -> int:
        n_bad: int = _backend.kernels.gather.gather(
            self._holders[kind], rows, seen, changed, bad, lowest
        )
        return n_bad

    def _gather_scalar(self, kind: type, name: str, column: memoryview) -> None:
        _backend.kernels.gather.gather_scalar(
            self._holders[kind], self._rows_with[kind].data, name, column
        )

    def _sort_out(self, step: int, dt: float, n_bad: int) -> list[Report]:
        """Find who moves and who was moved, and quarantine what cannot be computed with."""
        c = self.columns
        reports: list[Report] = []
        rows = self.rows
        was = c.quarantined[rows] != 0
        if n_bad or was.any() or c.bad_material[rows].any():
            is_bad = (
                c.bad_centre[rows] | c.bad_half[rows] | c.bad_velocity[rows]
                | c.bad_growth[rows] | c.bad_material[rows] | c.bad_motion[rows]
            ) != 0  # fmt: skip
            for row in rows[is_bad & ~was].tolist():
                self._forget(row, EndReason.QUARANTINED)
                self._timeline.candidates.remove(row)
                entity = int(c.ids[row])
                reports.append(quarantine_report(step, dt, entity, self._lookup(row), c.dim))
            self._new.update(rows[was & ~is_bad].tolist())
            c.quarantined[rows] = is_bad
            rows = rows[~is_bad]
        c.touched[list(self._new)] = 0  # not moved: it was nowhere before
        unplaced = np.zeros(c.capacity, bool)
        unplaced[list(self._new | self._unplaced)] = True
        self._new.clear()
        self._unplaced.clear()
        touched = rows[c.touched[rows] != 0]
        for row in touched.tolist():
            self._forget(row, EndReason.TELEPORTED)
        moves = c.moves[rows] != 0
        self.moving = rows[moves]
        self.touched_still = rows[~moves & ((c.touched[rows] != 0) | unplaced[rows])]
        self.active = np.concatenate((self.moving, touched[c.moves[touched] == 0]))
        c.motion[self.touched_still] = 0.0
        return reports

    def _lookup(self, row: int) -> Callable[[type], Any]:
        return lambda kind: self._holders[kind][row]

    def _not_a_number(self) -> TypeError:
        """Return the error to raise where a component holds something that is no number."""
        for entity, row in sorted(self.row_of.items()):
            error = find_no_number(entity, self._lookup(row), self.columns.dim)
            if error is not None:
                return error
        return TypeError("a component holds something that is no number")

    # -- writing back --

    def write(self) -> None:
        """Write where the step has taken the bodies into the game's components."""
        c, v = self.columns, self.views
        scatter = _backend.kernels.gather.scatter
        scatter(self._holders[Position], self.moving.data, v.centre, v.seen_centre)
        with_velocity = self._alive_with(Velocity)
        scatter(self._holders[Velocity], with_velocity, v.velocity, v.seen_velocity)
        if len(self._rows_with[Growth]):
            growing = self._alive_with(Growth)
            rows = np.asarray(growing)
            ended = (c.seen_growth[rows] < 0.0) & (c.half[rows] == 0.0)
            c.growth[rows] = np.where(ended, 0.0, c.seen_growth[rows])
            scatter(self._holders[Extents], growing, v.half, v.seen_half)
            scatter(self._holders[Growth], growing, v.growth, v.seen_growth)
        with np.errstate(invalid="ignore"):
            np.subtract(c.centre, c.half, out=c.tight_min)
            np.add(c.centre, c.half, out=c.tight_max)
        c.touched[:] = 0

    def write_one(self, row: int) -> None:
        """Write a body's position and velocity at the time reached into its components."""
        c = self.columns
        for k, name in enumerate(("x", "y", "z")[: c.dim]):
            for kind, seen, value in (
                (Position, c.seen_centre, self._timeline.centre_now(row, k)),
                (Velocity, c.seen_velocity, float(c.velocity[row, k])),
            ):
                component = self._holders[kind][row]
                if component is not None and value != seen[row, k]:
                    setattr(component, name, value)
                    seen[row, k] = value

    def read_one(self, row: int) -> None:
        """Take over what a response has set in a body's components."""
        c = self.columns
        for k, name in enumerate(("x", "y", "z")[: c.dim]):
            for kind, seen, take_over in (
                (Position, c.seen_centre, self._timeline.relocate),
                (Velocity, c.seen_velocity, self._timeline.set_velocity),
            ):
                component = self._holders[kind][row]
                if component is None:
                    continue
                value = float(getattr(component, name))
                if value != seen[row, k] and abs(value) <= LARGEST:
                    seen[row, k] = value
                    take_over(row, k, value)

    def _alive_with(self, kind: type) -> memoryview:
        rows = self._rows_with[kind]
        if self.columns.quarantined[rows].any():
            rows = rows[self.columns.quarantined[rows] == 0]
        return rows.data
