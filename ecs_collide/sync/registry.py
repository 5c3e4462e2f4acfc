"""Which entity of the game is which row, and what its components say.

Each step begins here: what the world has is compared with what the space has.
A world says for nothing whether anything was added or removed; where it was,
one pass over its entities finds what, and only that is dealt with.

Bodies that the game has declared fixed are read when they appear, and again
when they are asked for: no step goes through them otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide import _backend
from ecs_collide._attributes import part_of, read_number, write_number
from ecs_collide.component_map import Components
from ecs_collide.components import Disabled
from ecs_collide.constants import (
    ALL,
    CONTROL,
    FALL,
    FIXED,
    GROWTH,
    LARGEST,
    NEW,
    QUARANTINED,
    SURFACES_SHIFT,
    SWITCHED_OFF,
    TOUCHED_BY_GAME,
    UNCHECKED,
    UNPLACED,
    VELOCITY,
    YIELDS,
)
from ecs_collide.esper_world import World
from ecs_collide.events import END_REASONS, EndReason, Vector
from ecs_collide.motion.body_table import BodyTable
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.sync.attached import AttachedBoxes
from ecs_collide.sync.component_table import common_entries, rare_entries
from ecs_collide.sync.quarantine import (
    Report,
    Wrong,
    find_no_number,
    leads_too_far,
    out_of_bounds,
    quarantine_report,
    rules,
)
from ecs_collide.sync.seen import (
    ALTERED,
    CHANGED,
    FILTERED,
    LEFT_OUT,
    N_OF_STEPS,
    NO_ROWS,
    OFF,
    REPLACED,
    SEEN,
    TOUCHED,
    UNSEEN,
    none_of,
)
from ecs_collide.sync.sleep_list import KeptSleep, Sleep
from ecs_collide.sync.targets import KinematicTargets

RowArray = NDArray[np.int64]

_NOBODY: frozenset[int] = frozenset()
_NO_FILTER = np.array([1, ALL, 0])  # what stands for none
_CONTROL_BIT = CONTROL << SURFACES_SHIFT


class Kept(NamedTuple):
    """The state of the registry before a step."""

    entities: RowArray
    rows: RowArray
    teleports: dict[int, int]
    n_out: int  # bodies that the step before has read and left out
    reported: tuple[NDArray[np.int8], NDArray[np.int8]] | None  # `touched`, `news`; None: all 0
    put: frozenset[int]  # as in `KinematicTargets`
    unread: RowArray  # fixed bodies that the step was to read, besides those of `requested`
    requested: frozenset[int]  # rows of fixed bodies that the game has asked to be read
    ignored: tuple[int, ...]  # entities, fixed and moving, of which no warning has told yet
    moves: dict[int, list[float]]  # by row: where `Space.move` has put it since the last step
    sleep: KeptSleep


class BodyRegistry:
    """The bodies of one world in rows.

    Attributes
    ----------
    table : BodyTable
    row_of : dict
        Row by entity.
    entities, rows : int64 arrays
        All bodies in the order of their ids.
    moving, active : int64 arrays
        Rows of the bodies that move, and of those that move or were moved or
        resized by the game since the last step.
    watched : int64 array
        Rows of all bodies that are neither fixed, disabled nor attached, in the order of their
        ids.
    touched_still : int64 array
        Rows of the bodies that do not move but have a new place in the tree.
    teleports : dict
        By entity: in how many consecutive steps up to the last one the game has set its place or
        size.  Entities with 0 are left out.
    kinds : list of ComponentBinding
        In the order of `sync.component_table`, and then what was added by `watch`.
    makers : two ComponentBindings
        The two that make an entity a body.
    types : dict
        The first binding by type of component, for all that are looked at.
    """

    def __init__(
        self,
        dim: int,
        timeline: Any,
        components: Components,
        sweeps: bool,
        domain: PeriodicDomain | None = None,
    ) -> None:
        self.components = components
        self._domain = domain
        self._leans = components.leans(dim)
        self._halves = 2.0 if components.whole_sizes else 1.0  # in a size
        self.table = BodyTable(timeline.bodies)
        self.kinematic_targets = KinematicTargets(self.table, domain)
        self.attached = AttachedBoxes(self.table, domain)
        self.sleep = Sleep(self.table, timeline)
        self.sweeps = sweeps
        self.row_of: dict[int, int] = {}
        self.entities = self.rows = NO_ROWS
        self.moving = self.active = self.touched_still = NO_ROWS
        self.watched = self._unfixed = NO_ROWS
        self._movers = self._stills = NO_ROWS  # of those watched, quarantined ones too
        self._unread = NO_ROWS  # fixed bodies that the step under way reads
        self._requested: set[int] = set()  # fixed bodies that the next step is to read
        self._ignored: list[int] = []  # see `pop_ignored`
        self._read = NO_ROWS  # all that the step under way has read
        self.teleports: dict[int, int] = {}
        self.exempt: list[type] = []  # see `exempt_from_gravity`
        self._falls = False  # whether anybody does
        self._pressed = NO_ROWS  # who sleeps on though the game has set a velocity
        self._woken = NO_ROWS  # see `count_woken`
        self._n_out = 0  # how many the step leaves out
        self._is_reported = True  # whether nothing has become of bodies that no step has looked at
        self._switched_off: list[int] = []  # rows that are disabled, and to be read once
        self._allocated: list[int] = []  # rows that were given out in this step
        self._filed: list[tuple[int, int, list[Any]]] = []  # see `_keep_filed`
        self._new: list[int] = []  # rows that queries must not see as they were left
        self._stale: list[RowArray] = []  # whose boxes the queries have not seen yet
        self.mark: object = object()  # that of the world when `compare` saw it, or of none
        self._dead: frozenset[int] = frozenset()
        self._has_begun = False  # whether it is known where the last step began
        self._written = NO_ROWS, np.zeros((0, dim))  # in the last step: rows, centres before that
        self._overwritten: dict[int, list[float]] = {}  # the same, of what responses have written
        self._begun: NDArray[np.float64] | None = None  # see `begun`
        self._moves: dict[int, list[float]] = {}  # see `note_move`
        self._relocated: list[int] = []  # rows that a response has put somewhere else
        self._timeline = timeline
        self.rules = rules(components, dim, None if domain is None else domain.wrap)
        self._kernels = _backend.kernels
        make = self._kernels.bindings.ComponentBinding
        kinds = [make(*entry) for entry in common_entries(components, dim)]
        surfaces = [make(*entry) for entry in rare_entries(dim)]
        self._position, self._extents, self._velocity = kinds[:3]
        self.makers = self._position, self._extents
        self.kinds = [*kinds, *surfaces]
        self.types = {kind.type: kind for kind in reversed(self.kinds)}
        self._reader = self._kernels.reader.ComponentReader(timeline.bodies, self.kinds, surfaces)
        self._reader.sweeps = sweeps
        if self.table.is_apart:
            self._reader.convert(self._leans, self._halves)
        self._bind()

    def set_up(self, up: Vector) -> None:
        """Let normals that are not given be this unit vector along an axis."""
        axis = next(k for k, part in enumerate(up) if part)
        self._reader.surface_reader.up = axis + 1 if up[axis] > 0.0 else -(axis + 1)

    def set_gravity(self, gravity: Vector) -> None:
        """Let bodies fall otherwise from the next step on, those that sleep too."""
        self._reader.set_gravity(gravity)
        self._falls = any(gravity)
        for kind in self.exempt if self._falls else ():
            self._exempt_now(kind)
        self.wake_all()

    def exempt_from_gravity(self, kind: type) -> None:
        """Let bodies that have components of some type not fall by themselves."""
        self.exempt.append(kind)
        if self._falls:
            self._exempt_now(kind)

    def _exempt_now(self, kind: type) -> None:
        """Exempt a type once there is gravity: it costs the columns of `Surfaces`."""
        surfaces = self._reader.surface_reader
        if self.types.get(kind) not in surfaces.exempt:
            self.watch(kind, FALL << SURFACES_SHIFT)
            surfaces.use()
            surfaces.exempt.append(self.types[kind])

    def use(self, timeline: Any) -> None:
        """Keep the bodies in the parts of another timeline, all of them new, from now on."""
        self._timeline = timeline
        self.sleep.use(timeline)
        self.table.bind()
        self._bind()

    def _bind(self) -> None:
        """Have room in all parts for the rows that the table has."""
        self._timeline.make_room()
        self._reader.bind(self.table.views)

    def watch(self, kind: type, mark: int) -> None:
        """Note from now on, with a bit, which bodies have components of some type."""
        known = self.types.get(kind)
        if known is None:
            self.types[kind] = self._kernels.bindings.ComponentBinding(kind, (), mark, 0)
            self._reader.add_kind(self.types[kind])
        else:
            known.mark |= mark
        self._file_all_again()

    def unwatch(self, kind: type, mark: int) -> None:
        """Do not note any more, with a bit, which bodies have components of a watched type."""
        self.types[kind].mark &= ~mark
        self._file_all_again()

    def _file_all_again(self) -> None:
        self.table.n_filed[:] = -1
        self.mark = object()
        self._is_reported = False

    def holder(self, kind: type, row: int) -> Any | None:
        """Return the component of a body as of the beginning of the step."""
        items = self.holders(kind)
        return items[row] if items else None

    def holders(self, kind: type) -> Sequence[Any]:
        """Return by row the components of a type as of the beginning of the step, or nothing."""
        known = self.types.get(kind)
        items: Sequence[Any] = () if known is None else known.items
        return items

    # -- structure --

    def compare(self, world: World) -> None:
        """Bring the rows in line with the entities that the world has now."""
        if not self.sleep.wanted and self.sleep.n:
            self.wake_all()
        mark = world.mark()
        dead = frozenset(world.dead())
        if mark is self.mark and dead == self._dead:
            return
        entities, newcomers, changed, gone = self._compare(world, dead)
        is_empty = bool(gone) and world.is_empty()
        for entity in gone:
            if is_empty:
                reason = EndReason.WORLD_CLEARED
            elif world.exists(entity):
                reason = EndReason.COMPONENT_REMOVED
            else:
                reason = EndReason.ENTITY_DELETED
            self._release(entity, reason)
        if self.sleep.n:
            self.sleep.filed += [self.row_of[entity] for entity in changed]
            self.sleep.wake(self.sleep.filed)
        for entity in changed:
            self._refile(entity, entities[entity])
        newcomers.sort()
        if newcomers:
            self._admit(newcomers, entities)
        if newcomers or gone:
            self._update_order(newcomers, gone)
        if newcomers or gone or changed:
            self._find_watched()
            self._part()
        self.mark, self._dead = mark, dead

    def _compare(
        self, world: World, dead: frozenset[int]
    ) -> tuple[Mapping[int, Mapping[type, Any]], list[int], list[int], list[int]]:
        """Return the components of all entities, and which came, changed and went."""
        entities, v = world.entities(self.types), self.table.views
        found = self._kernels.world_diff.compare_world(
            entities, dead, self.row_of, self.kinds, self.rows.data, v.ids, v.n_filed, v.present
        )
        return (entities, *found)

    def _find_watched(self) -> None:
        """Separate the bodies that each step reads from the fixed ones."""
        self._reader.require(self.rows.data)
        c = self.table
        is_on, is_attached = c.disabled[self.rows] == 0, c.attached[self.rows] != 0
        is_fixed = c.has[self.rows] & FIXED != 0
        self.watched = self.rows[~is_fixed & is_on & ~is_attached]
        self._unfixed = self.rows[~is_fixed]
        self.attached.rows = self.rows[is_on & is_attached]
        contradictory = self._reader.contradictory
        if contradictory:
            self._ignored += self.table.ids[contradictory].tolist()
            contradictory.clear()

    def _part(self) -> None:
        """Separate the watched bodies that move from the others."""
        moves = self.table.moves[self.watched] != 0
        self._movers, self._stills = self.watched[moves], self.watched[~moves]

    def read_again(self, row: int) -> None:
        """Read the components of a body in the next step, fixed or not."""
        if self.is_fixed(row):
            self._requested.add(row)

    def is_fixed(self, row: int) -> bool:
        """Return whether the components of a body are read only when they are asked for."""
        return bool(self.table.views.has[row] & FIXED)

    def is_awaited(self, row: int) -> bool:
        """Return whether the next step reads the components of a fixed body."""
        return row in self._requested or row in self._unread

    def changed_kinds(self, row: int) -> list[Any]:
        """Return the kinds whose component of a body says something else than was seen last."""
        changed = (kind for kind in self.kinds if kind.names and kind.is_other(row))
        return list({kind.type: kind for kind in changed}.values())

    def pop_ignored(self) -> list[int]:
        """Return the entities that were found to be fixed and moving, and forget them."""
        ignored, self._ignored = sorted(self._ignored), []
        return ignored

    def _pop_requested(self) -> RowArray:
        """Return the rows of the fixed bodies to read in this step, in the order of their ids."""
        if self._requested:
            requested = np.array(list(self._requested), np.int64)
            self._unread = np.union1d(self._unread, requested)
            self._requested.clear()
        if len(self._unread):
            c = self.table
            wanted = (c.has[self._unread] & FIXED != 0) & (c.disabled[self._unread] == 0)
            self._unread = self._unread[wanted]
            self._unread = self._unread[np.argsort(c.ids[self._unread])]
        return self._unread

    def _refile(self, entity: int, components: Mapping[type, Any]) -> None:
        """Take note of the components that a body has now."""
        row = self.row_of[entity]
        self._keep_filed(row)
        if not self._reader.switch(row, components):
            if self._is_another(row, components):
                self._forget(row, EndReason.ENTITY_DELETED)
                self.table.news[row] |= NEW
            self._reader.file(row, components)
        self.read_again(row)
        self._switch(row)

    def _switch(self, row: int) -> None:
        """Leave a body out of the steps to come, if it has become disabled.

        One that is not any more is taken in when it is read.
        """
        v = self.table.views
        if not v.disabled[row] or v.quarantined[row] == SWITCHED_OFF:
            return
        self._reader.keep_out(row, v.quarantined[row])
        self._leave_out(row, EndReason.DISABLED)
        v.quarantined[row] = SWITCHED_OFF
        self._switched_off.append(row)

    def _is_another(self, row: int, components: Mapping[type, Any]) -> bool:
        """Return whether an id was used again: what makes it a body is all new."""
        return (
            self._position.items[row] is not components[self._position.type]
            and self._extents.items[row] is not components[self._extents.type]
        )

    def _admit(self, newcomers: list[int], entities: Mapping[int, Mapping[type, Any]]) -> None:
        """Give rows to new bodies."""
        if self.table.reserve(len(newcomers)):
            self._bind()
        rows = self.table.allocate(newcomers)
        self._allocated += rows
        self.table.news[rows] = NEW
        self._new += rows
        self.row_of.update(zip(newcomers, rows, strict=True))
        for entity, row in zip(newcomers, rows, strict=True):
            self._reader.file(row, entities[entity])
            self._switch(row)
        admitted = np.array(rows, np.int64)
        admitted = admitted[self.table.has[admitted] & FIXED != 0]
        if len(admitted):
            self._unread = np.union1d(self._unread, admitted)

    def _update_order(self, newcomers: list[int], gone: list[int]) -> None:
        """Keep `entities` and `rows` in the order of the ids."""
        if gone:
            places = np.searchsorted(self.entities, gone)
            self.entities = np.delete(self.entities, places)
            self.rows = np.delete(self.rows, places)
        if newcomers:
            places = np.searchsorted(self.entities, newcomers)
            new_rows = [self.row_of[entity] for entity in newcomers]
            self.entities = np.insert(self.entities, places, newcomers)
            self.rows = np.insert(self.rows, places, new_rows)

    def _forget(self, row: int, reason: EndReason) -> None:
        self._timeline.contacts.forget(row, END_REASONS.index(reason))

    def _leave_out(self, row: int, reason: EndReason) -> None:
        """Take a body out of contacts and trees."""
        self._forget(row, reason)
        self._timeline.broadphase.remove(row)

    def _release(self, entity: int, reason: EndReason) -> None:
        row = self.row_of[entity]
        self._keep_filed(row)
        self._moves = {known: place for known, place in self._moves.items() if known != row}
        del self.row_of[entity]
        self._forget(row, reason)
        self._timeline.sleeping.forget(row)
        self._timeline.broadphase.remove(row)
        self._reader.clear(row)
        self.table.has[row] = self.table.attached[row] = 0
        self.table.free(row)

    # -- values --

    def read(self, step: int, dt: float, rest_speed: float = 0.0) -> list[Report]:
        """Take over what the components say; return reports of what cannot be used.

        Raises
        ------
        TypeError, AttributeError
            A component holds something that is no number, or lacks an attribute.
        """
        c, reader = self.table, self._reader
        reader.rest_speed = rest_speed
        stills, unread = self._stills, self._pop_requested()
        self._read = self.watched
        if len(unread):
            self._read = self._in_order(np.concatenate([self.watched, unread]))
            stills = self._in_order(np.concatenate([stills, unread]))
        if self.sweeps:
            self.kinematic_targets.begin(self._read)
        try:
            n_out = reader.read(self._movers.data, stills.data, dt)
            if len(self.attached.rows):
                self.attached.begin()
                reader.read_attached(self.attached.rows.data, dt)
            if self._switched_off:
                reader.read_switched_off(self._switched_off)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise self._not_a_number() from error
        if reader.woken:
            self._wake_changed()
        reports = [
            self._quarantine(row, step, dt)
            for row in sorted(reader.fallen, key=self.table.views.ids.__getitem__)
        ]
        if self.sweeps:
            self._start_targets(dt)
        if self._domain is not None:  # bodies that the game has put beyond an edge of the world
            rows = self._read[c.quarantined[self._read] == 0]
            c.centre[rows] = self._domain.into_world(c.centre[rows])
        if len(self.attached.rows) or len(self.attached.taking_part):
            reports += self._attach(step, dt)
        c.news[:] = 0
        self._new += self._switched_off
        self._switched_off.clear()
        if self._new:
            reader.find_faces(np.array(self._new, np.int64).data)
            self._new.clear()
        touched, moves = reader.touched_rows, self._moves
        self._moves = {}
        before, self.teleports = self.teleports, {}
        for row in touched:
            if moves and moves.get(row) == c.seen_place[row].tolist():
                self._timeline.contacts.wake_partners(row)
                continue
            self._forget(row, EndReason.TELEPORTED)
            entity = self.table.views.ids[row]
            self.teleports[entity] = before.get(entity, 0) + 1
        if self.sleep.wake_held():
            self._part()
        self._n_out = n_out
        if n_out:
            self._stale.append(self._read[c.quarantined[self._read] != 0])
        self.sleep.filed += reader.altered
        self._list_moving()
        self.touched_still = NO_ROWS
        if reader.to_place:
            self.touched_still = np.array(reader.to_place, np.int64)
            self._stale.append(self.touched_still)
        return reports

    def _attach(self, step: int, dt: float) -> list[Report]:
        """Attach boxes to their owners for this step; return reports of those that have none."""
        c, boxes, rows = self.table, self.attached, self.attached.rows
        with np.errstate(invalid="ignore"):  # of boxes that are in quarantine
            owners = self.rows_of(c.seen_owner[rows].ravel().astype(np.int64))
        taken = boxes.find_targets(self._timeline.attachments, owners)
        for row in taken.jumped:
            self._forget(row, EndReason.TELEPORTED)
        for row, is_disabled in taken.left_out:
            self._reader.keep_out(row, 0)
            self._leave_out(row, EndReason.DISABLED if is_disabled else EndReason.QUARANTINED)
        for row, _ in taken.refused:
            self._reader.keep_out(row, 0)
            self._leave_out(row, EndReason.QUARANTINED)
        if boxes.n_out:
            self._stale.append(rows[c.quarantined[rows] != 0])
        return [self._report(row, step, dt, wrong) for row, wrong in taken.refused]

    def _in_order(self, rows: RowArray) -> RowArray:
        """Return rows in the order of the ids of their bodies."""
        in_order: RowArray = rows[np.argsort(self.table.ids[rows])]
        return in_order

    def _list_moving(self) -> None:
        """List what takes part in the step."""
        c = self.table
        self.moving = self._movers
        if self._n_out:
            self.moving = self._movers[c.quarantined[self._movers] == 0]
        if len(self.attached.taking_part):
            self.moving = np.concatenate([self.moving, self.attached.taking_part])
        self.active = self.moving
        examined = [row for row in self._reader.examined if not c.moves[row]]
        if examined:
            self.active = np.array([*self.moving.tolist(), *examined], np.int64)

    # -- sleep --

    def _wake_changed(self) -> None:
        """Wake those about whom there is something new."""
        rows = self._reader.woken
        self.sleep.disturbed += rows
        if self.sleep.wake(rows):
            self._part()
        rows.clear()

    def wake(self, rows: list[int]) -> None:
        """Wake the sleeping bodies among some bodies."""
        self._list_woken(self.sleep.wake(rows))

    def _list_woken(self, has_woken: bool) -> None:
        """Count bodies that woke, if there are any, among those that move."""
        if has_woken:
            self._part()
            self._list_moving()

    def wake_reached(self) -> None:
        """Wake the islands to which the paths of the step may come, from where they stand."""
        rows, sleeping = self.moving, self._timeline.sleeping
        if not (sleeping.n_leaning or self._reader.pressed or len(self._pressed)):
            return
        while sleeping.n_leaning and len(rows):
            rows = self.sleep.wake_with_islands(sleeping.reached_by(rows.data))
            if len(rows):
                self._list_woken(has_woken=True)
                self._timeline.place_woken(rows.data)
        pressed = np.array(self._reader.pressed, np.int64)
        self._pressed = pressed[self.table.asleep[pressed] != 0]
        self.table.velocity[self._pressed] = 0.0

    def wake_near(self) -> None:
        """Wake those who sleep where a body that does not move has come to be, or is another."""
        self._list_woken(self.sleep.wake_near(self.touched_still))

    def wake_all(self) -> None:
        """Wake everybody."""
        self._list_woken(self.sleep.wake_all(self.rows))
        self._reader.woken.clear()

    def count_woken(self) -> None:
        """Count those that the step has reached in their sleep among those that it moves."""
        self._woken = self.sleep.pop_woken()
        if len(self._woken):
            self.moving = np.concatenate([self.moving, self._woken])

    def end_step(self, step: int, has_corrected: bool) -> None:
        """Wake those that the step has reached, and let those who have rested for long sleep."""
        changed = len(self._woken) > 0 and self.sleep.wake_reached(self._woken)
        if has_corrected:
            changed |= self.sleep.fall(self.moving, step, self.sweeps)
        if changed:
            self._part()

    def _start_targets(self, dt: float) -> None:
        """Let bodies that the game has moved go there in this step."""
        c, reader, kinematic_targets = self.table, self._reader, self.kinematic_targets
        before = c.moves[self._read]
        kinematic_targets.find_targets(self._read, dt)
        reader.touched_rows = [
            row for row in reader.touched_rows if c.touched[row] & TOUCHED_BY_GAME
        ]
        if self.sleep.n:
            self.sleep.disturbed += self._read[c.moves[self._read] > before].tolist()
        reader.to_place = [row for row in reader.to_place if not c.moves[row]]
        reader.to_place += kinematic_targets.released.tolist()
        self._part()

    def _quarantine(self, row: int, step: int, dt: float) -> Report:
        """Leave a body out until it can be computed with again."""
        self._leave_out(row, EndReason.QUARANTINED)
        self.table.quarantined[row] = QUARANTINED
        lookup, around = self._lookup(row), None
        if self._domain is not None and out_of_bounds(self.rules, lookup) is None:
            around = leads_too_far(self.components, self._domain.wrap, dt, lookup)
        return self._report(row, step, dt, around)

    def _report(self, row: int, step: int, dt: float, wrong: Wrong | None) -> Report:
        """Return a report of a body in quarantine: of its first wrong field, else of `wrong`."""
        entity = int(self.table.ids[row])
        return quarantine_report(self.rules, step, dt, entity, self._lookup(row), wrong)

    def _lookup(self, row: int) -> Callable[[type], Any]:
        return lambda kind: self.holder(kind, row)

    def error_of(self, entity: int, error: Exception) -> Exception:
        """Return what to raise where a component of an entity could not be read."""
        return find_no_number(self.rules, entity, self._lookup(self.row_of[entity])) or error

    def _not_a_number(self) -> Exception:
        """Return the error to raise where a component holds something that is no number."""
        for entity, row in sorted(self.row_of.items()):
            error = find_no_number(self.rules, entity, self._lookup(row))
            if error is not None:
                return error
        return TypeError("a component holds something that is no number")

    # -- writing back --

    def write(self) -> None:
        """Write where the step has taken the bodies into the game's components."""
        self._is_reported = False
        if self.sweeps:
            self.kinematic_targets.keep_velocities(self.moving)
        written = self.moving
        if len(self._pressed):
            written = np.union1d(written, self._pressed)
            written = self._in_order(written)
        if self._domain is not None:
            c, stills = self.table, np.concatenate([self._stills, self._unread])
            stills = stills[c.quarantined[stills] == 0]
            was_out = (c.centre[stills] != c.seen_centre[stills]).any(axis=1)
            written = np.concatenate([written, stills[was_out]])
        self._written = written, self.table.seen_centre.take(written, axis=0)
        self._reader.write(written.data)
        for rows in self._stale:
            self._reader.find_faces(rows.data)
        self._stale.clear()
        self.table.touched[:] = 0
        self._unread = NO_ROWS
        self._is_reported = True
        self._has_begun = True

    def begun(self) -> NDArray[np.float64]:
        """Return where bodies were when the last step began, float64 (capacity, dim) by row.

        Teleports before the step are done then.  Of bodies that the step did not move, of those
        that a response has put somewhere else, and of all after `restore` or a step that was cut
        short: where they are now.
        """
        if self._begun is None:
            c, kinematic_targets = self.table, self.kinematic_targets
            begun = c.seen_centre.copy()
            if self._has_begun:
                rows, centres = self._written
                begun[rows] = centres
                for row, centre in self._overwritten.items():
                    begun[row] = centre
                if self.sweeps:
                    begun[kinematic_targets.rows] = kinematic_targets.before()
                if self._domain is not None:
                    begun = self._domain.into_world(begun)
                begun[self.attached.taking_part] = self.attached.starts
                put = self._relocated
                begun[put] = c.seen_centre[put]
            self._begun = begun
        return self._begun

    def note_resized(self, rows: RowArray, boxes: RowArray) -> None:
        """Take note of bodies that were given another place and size between two steps.

        And of boxes that are attached to them: what their components say is another offset now.
        """
        self._reader.find_faces(rows.data)
        self._reader.forget(boxes.data)
        self._relocated += rows.tolist()
        self._begun = None

    def _forget_begun(self) -> None:
        """Forget where the last step began."""
        self._has_begun = False
        self._begun = None
        self._relocated.clear()
        self._overwritten.clear()

    def write_one(self, row: int) -> None:
        """Write a body's position and velocity at the time reached into its components."""
        v = self.table.views
        self._keep_box(row)
        for k in range(self.table.dim):
            centre = self._timeline.handover.centre_now(row, k)
            if centre != v.seen_centre[row, k]:
                place = centre + self._leans[k] * self._timeline.handover.half_now(row, k)
                self._position.put(row, k, place)
                v.seen_centre[row, k] = centre
            speed = v.velocity[row, k]
            if self.sweeps and speed == self.kinematic_targets.speed_of(row, k):
                continue  # the component goes on saying what the game wants
            if speed != v.seen_velocity[row, k] and self._holds(self._velocity, row):
                self._velocity.put(row, k, speed)

    def _keep_box(self, row: int) -> None:
        """Keep where a body was seen last, before a response overwrites it."""
        self._reader.keep_box(row)
        self._overwritten.setdefault(row, self.table.seen_centre[row].tolist())

    def is_body_of(self, entity: int, world: World) -> bool:
        """Return whether a known entity is still that body, and not disabled."""
        now = world.components(entity, self.types)
        return Disabled not in now and self._is_same(self.row_of[entity], now)

    def _is_same(self, row: int, now: Mapping[type, Any]) -> bool:
        """Return whether components are those of the body in a row, one of the two at least."""
        position, extents = now.get(self._position.type), now.get(self._extents.type)
        if position is None or extents is None:
            return False
        return position is self._position.items[row] or extents is self._extents.items[row]

    def read_one(self, row: int, world: World) -> bool:
        """Read what a response has set in the components of a body.

        A component that has replaced a position or a velocity is used from now on.  A velocity
        that was removed counts as 0.

        Returns
        -------
        bool
            Whether the entity is still a body, and not disabled.
        """
        v, entity = self.table.views, self.table.views.ids[row]
        now = world.components(entity, self.types)
        if not self._is_same(row, now):
            return False
        if self.is_fixed(row):
            return Disabled not in now
        self._keep_box(row)
        places = self._accept_changes(self._position, row, v.seen_place, now)
        if places:
            self._relocated.append(row)
        for k, place in places:
            centre = place - self._leans[k] * self._timeline.handover.half_now(row, k)
            v.seen_centre[row, k] = centre
            self._timeline.handover.relocate(row, k, centre)
            self.kinematic_targets.release(row)
        speeds = self._accept_changes(self._velocity, row, v.seen_velocity, now)
        for k, speed in speeds:
            self._timeline.handover.set_velocity(row, k, speed)
        if (places or speeds) and not v.moves[row]:
            self._stale.append(np.array([row], np.int64))
        return Disabled not in now

    def _accept_changes(
        self, kind: Any, row: int, seen: memoryview, now: Mapping[type, Any]
    ) -> list[tuple[int, float]]:
        """Take note of the numbers of a component that a response has set; return them by axis."""
        if not self._holds(kind, row):
            return []
        component = now.get(kind.type)
        if component is not None and component is not kind.items[row]:
            self._keep_filed(row)
            kind.file(row, component)
        news = []
        for k, name in enumerate(kind.names):
            value = 0.0 if component is None else float(read_number(component, name))
            if value != seen[row, k] and abs(value) <= LARGEST:
                kind.note(row, k, value)
                news.append((k, value))
        return news

    # -- single components --

    def _holds(self, kind: Any, row: int) -> bool:
        return bool(kind.items) and kind.items[row] is not None

    def velocity_of(self, component: Any) -> Vector:
        """Return the numbers of a component that plays the role of a velocity; NaN for none."""
        return tuple(read_number(component, name, math.nan) for name in self._velocity.names)

    def set_velocity(self, component: Any, velocity: Iterable[float]) -> None:
        """Set the numbers of a component that plays the role of a velocity."""
        for name, value in zip(self._velocity.names, velocity, strict=True):
            write_number(component, name, value)

    def set_velocities(self, components: Sequence[Any], velocities: NDArray[np.float64]) -> None:
        """Set the numbers of many components that play the role of a velocity, (n, dim)."""
        for name, numbers in zip(self._velocity.names, velocities.T.tolist(), strict=True):
            if part_of(name) is not None:
                for component, number in zip(components, numbers, strict=True):
                    write_number(component, name, number)
                continue
            for component, number in zip(components, numbers, strict=True):
                setattr(component, name, number)

    def box_of(self, place: list[float], size: list[float]) -> tuple[list[float], list[float]]:
        """Return the centre and the half sizes that the numbers of a game's components mean."""
        half = [whole / self._halves for whole in size]
        centre = [at - lean * h for at, lean, h in zip(place, self._leans, half, strict=True)]
        return centre, half

    def boxes_of(
        self, places: NDArray[np.float64], sizes: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return centres and half sizes (n, dim) that numbers of a game's components mean."""
        halves = sizes / self._halves
        return places - np.array(self._leans) * halves, halves

    def are_held_fixed(self, rows: RowArray) -> NDArray[np.bool_]:
        """Return by row whether the next step does not read the components of a body."""
        held: NDArray[np.bool_] = self.table.has[rows] & FIXED != 0
        if held.any():
            held &= ~np.isin(rows, [*self._requested, *self._unread.tolist()])
        return held

    def note_move(self, row: int, position: Any) -> None:
        """Have the next step see no teleport where the position still says what it says now."""
        self._moves[row] = self._place_of(position)
        if self.sweeps:
            self.kinematic_targets.put.add(row)

    def moved_rows(self) -> list[int]:
        """Return the rows of the bodies that stand where `Space.move` has put them."""
        return [
            row
            for row, place in self._moves.items()
            if (position := self.holder(self._position.type, row)) is not None
            and self._place_of(position) == place
        ]

    def _place_of(self, position: Any) -> list[float]:
        return [float(read_number(position, name)) for name in self._position.names]

    def find_error(self, entity: int, get: Callable[[type], Any]) -> Exception | None:
        """Return the error to raise where a component of an entity holds no number, else None."""
        return find_no_number(self.rules, entity, get)

    def set_centre(self, position: Any, extents: Any, centre: Iterable[float]) -> None:
        """Set a body's position such that its centre comes to lie there."""
        for k, value in enumerate(centre):
            place = value
            if self._leans[k] != 0.0:
                half = float(read_number(extents, self._extents.names[k])) / self._halves
                place += self._leans[k] * half
            write_number(position, self._position.names[k], place)

    def set_half(self, extents: Any, half: Iterable[float]) -> None:
        """Set the half sizes of a body."""
        for name, value in zip(self._extents.names, half, strict=True):
            write_number(extents, name, value * self._halves)

    # -- a step that does not happen --

    def begin(self) -> Kept:
        """Begin a step: return what `roll_back` needs should it not happen, besides what is kept.

        From here on the old is kept wherever something new comes in its place.
        """
        c = self.table
        self._forget_begun()
        self._reader.forget_kept()
        if self._allocated or self._filed:
            self._allocated, self._filed = [], []
            c.reuse_freed()
        return Kept(
            self.entities,
            self.rows,
            self.teleports,
            self._n_out,
            None if self._is_reported else (c.touched.copy(), c.news.copy()),
            frozenset(self.kinematic_targets.put) if self.sweeps else _NOBODY,
            self._unread,
            frozenset(self._requested) if self._requested else _NOBODY,
            tuple(self._ignored),
            self._moves,
            self.sleep.keep(self._unfixed),
        )

    def _keep_filed(self, row: int) -> None:
        """Keep which components are filed for a body, before others are."""
        items = [kind.items[row] if kind.items else None for kind in self.kinds]
        self._filed.append((row, self.table.views.n_filed[row], items))

    def roll_back(self, kept: Kept, timeline: Any) -> None:
        """Have the bodies, and know of them, what there was and was known before the step.

        What was written into components is taken back too; what the game has
        set in them since stays.  It can be called again.

        Parameters
        ----------
        kept : Kept
            What `begin` returned.
        timeline : Timeline
            A new one: what the step has left of the old one is of no use.
        """
        c, reader = self.table, self._reader
        self.use(timeline)
        reader.roll_back()
        for row, n_filed, items in reversed(self._filed):
            there = zip(self.kinds, items, strict=False)
            reader.file(row, {kind.type: item for kind, item in there if item is not None})
            c.n_filed[row] = n_filed
        for row in self._allocated:
            reader.clear(row)
            c.has[row] = c.attached[row] = 0
        self._set_bodies(kept.entities, kept.rows)
        if kept.reported is not None:  # the step may have lengthened the columns
            n_rows = len(kept.reported[0])
            c.touched[:n_rows], c.news[:n_rows] = kept.reported
        reader.check(self.rows[c.news[self.rows] == 0].data)
        self._unread = kept.unread
        self._requested = {*kept.requested, *self._requested}.intersection(self.row_of.values())
        self._ignored = list(kept.ignored)
        self.teleports = kept.teleports
        self.kinematic_targets.put.update(kept.put)
        self._n_out = kept.n_out
        self._moves = kept.moves
        self._is_reported = kept.reported is None
        reader.woken.clear()
        self._place_all()
        self._lay_down(self.sleep.roll_back(kept.sleep))

    def start_over(self, timeline: Any) -> None:
        """Know of no bodies, in a new timeline."""
        self.use(timeline)
        for row in range(self.table.capacity):
            self._reader.clear(row)
        self.table.has[:] = self.table.attached[:] = 0
        self.table.quarantined[:] = 0
        self._set_bodies(NO_ROWS, NO_ROWS)
        self._unread = NO_ROWS
        self._requested.clear()
        self.teleports = {}
        self._place_all()

    def _set_bodies(self, entities: RowArray, rows: RowArray) -> None:
        """Have exactly these bodies, by rising id, in these rows, and all of them awake."""
        c = self.table
        self._forget_begun()
        self.entities, self.rows = entities, rows
        self.row_of = dict(zip(entities.tolist(), rows.tolist(), strict=True))
        c.free_all_but(rows)
        for flags in (c.asleep, c.held, c.leans, c.rest_count, c.gone, c.driven, c.touched, c.news):
            flags[:] = 0
        moves = (c.has & (VELOCITY | GROWTH) != 0) | (c.attached != 0)
        if self.sweeps:
            moves |= (c.response != 0) | (c.custom & YIELDS != 0)
        c.moves[:] = moves
        self.sleep.forget()
        self.mark = object()
        self._new.clear()
        self._pressed = self._woken = NO_ROWS
        self._forget_pending()
        self._find_watched()
        self._read = self.watched

    def _forget_pending(self) -> None:
        """Forget what the last step has found, and has not done yet."""
        self.kinematic_targets.clear()
        self.attached.clear()
        self._stale.clear()
        self._switched_off.clear()
        self.touched_still = NO_ROWS

    def _place_all(self) -> None:
        """Put all bodies into the trees of a new timeline, where they were seen last."""
        c, rows = self.table, self.rows
        self._reader.forget(rows.data)
        c.centre[rows], c.half[rows] = c.seen_centre[rows], c.seen_half[rows]
        c.velocity[rows], c.growth[rows] = c.seen_velocity[rows], c.seen_growth[rows]
        placed = (c.quarantined[rows] == 0) & (c.news[rows] & NEW == 0)
        self._part()
        self._put_in_trees(rows[placed], rows[placed])
        self._reader.find_faces(rows.data)

    def _put_in_trees(self, rows: RowArray, misplaced: RowArray) -> None:
        """Put bodies into the tree of those that move, and misplaced ones into the other tree."""
        c, t = self.table, self._timeline
        self.moving = self.active = rows[c.moves[rows] != 0]
        stills = misplaced[c.moves[misplaced] == 0]
        c.motion[stills] = 0.0
        t.begin()
        t.bodies.begin_step(self.moving.data, 0.0)
        t.bodies.place_still(stills.data)
        t.broadphase.place_still(stills.data)
        t.broadphase.place_moving(self.moving.data)

    # -- snapshots --

    def is_current(self, world: World) -> bool:
        """Return whether nothing came or went in the world since `compare`; in a moment."""
        return world.is_as(self.mark, len(self._dead))

    def is_up_to_date(self, world: World) -> bool:
        """Return whether `compare` has seen the world as it is."""
        return world.mark() is self.mark and frozenset(world.dead()) == self._dead

    def differences(self, world: World) -> tuple[list[int], list[int]]:
        """Return the bodies that `compare` would file anew, and which of them are others now."""
        if self.is_up_to_date(world):
            return [], []
        entities, _, changed, _ = self._compare(world, frozenset(world.dead()))
        return changed, [e for e in changed if self._is_another(self.row_of[e], entities[e])]

    def rows_of(self, entities: NDArray[np.int64]) -> RowArray:
        """Return the rows of entities, -1 for those that are no bodies."""
        if len(self.entities) == 0:
            return np.full(len(entities), -1, np.int64)
        places = np.searchsorted(self.entities, entities)
        places[places == len(self.entities)] = 0
        rows = self.rows[places]
        rows[self.entities[places] != entities] = -1
        return rows

    def recall(self, world: World, bodies: NDArray[np.int64]) -> None:
        """Have exactly these bodies, by rising id; contacts are to be set anew after it.

        Those that the world has not got are gone as soon as it is compared
        again, and those that it has besides are new then.
        """
        self._forget_begun()
        self.wake_all()
        self.compare(world)
        if np.array_equal(self.entities, bodies):
            return
        extra = np.setdiff1d(self.entities, bodies).tolist()
        missing = np.setdiff1d(bodies, self.entities).tolist()
        for entity in extra:
            self._release(entity, EndReason.ENTITY_DELETED)
        self._admit(missing, {entity: {} for entity in missing})
        self._update_order(missing, extra)
        self.table.n_filed[[self.row_of[entity] for entity in missing]] = -1
        self._find_watched()
        self._part()
        self.mark = object()

    def seen_filters(self) -> NDArray[np.void]:
        """Return the filters that were seen last, of the bodies that had one of any effect."""
        if not self.table.bodies.surfaces.is_used:
            return none_of(FILTERED)
        numbers = self.table.filters[self.rows]
        places = np.flatnonzero((numbers != _NO_FILTER).any(axis=1))
        filters = none_of(FILTERED, len(places))
        filters["body"] = places
        filters["numbers"] = numbers[places]
        return filters

    def resume_filters(self, filters: NDArray[np.void]) -> None:
        """Take filters for what was seen last, as `seen_filters` gives them."""
        if len(filters):
            self._reader.surface_reader.use()
        if self.table.bodies.surfaces.is_used:
            numbers = self.table.filters
            numbers[self.rows] = _NO_FILTER
            numbers[self.rows[filters["body"]]] = filters["numbers"]

    def altered_rows(self) -> RowArray:
        """Return the rows of bodies that the next step looks at anew, but for those new or changed."""
        c = self.table
        is_unchecked = c.news[self.rows] & UNCHECKED != 0
        found: RowArray = self.rows[is_unchecked]
        some = self.rows[(c.surface_bits[self.rows] != 0) | (c.attached[self.rows] != 0)]
        if len(some):
            altered = self._reader.altered_among(some.data)
            found = np.union1d(found, np.array(altered, np.int64))
        return found

    def resume_sleep(self, sleeping: NDArray[np.void], stirred: NDArray[np.void]) -> int:
        """Let those sleep that slept when a snapshot was taken, after `resume`; return how many."""
        asleep = self.sleep.resume(self.rows, sleeping, stirred)
        self._lay_down(asleep)
        return len(asleep)

    def _lay_down(self, asleep: RowArray) -> None:
        """Count those that sleep again among those that do not move."""
        if len(asleep):
            self._part()
            self.moving = self.active = self.moving[self.table.moves[self.moving] != 0]

    def resume(
        self,
        flags: NDArray[np.uint8],
        seen: list[NDArray[np.float64]],
        rest_count: NDArray[np.int8],
    ) -> None:
        """Take up what was known of all bodies, in the order of `entities`.

        Parameters
        ----------
        flags : uint8 (n,)
            What has become of them since, as in a snapshot.
        seen : list of float64 (n, width)
            What was seen of them last: the columns of a snapshot.
        rest_count : int8 (n,)
            For how long they have rested: that column.
        """
        c, rows, t = self.table, self.rows, self._timeline
        out = flags & (LEFT_OUT | UNSEEN) != 0
        misplaced = (c.news[rows] & (NEW | UNPLACED) != 0) | (c.quarantined[rows] != 0)
        # A step that failed knows of some that they are elsewhere, and has not placed them.
        misplaced |= c.touched[rows] != 0
        misplaced |= (c.seen_centre[rows] != seen[0]).any(axis=1)
        misplaced |= (c.seen_half[rows] != seen[1]).any(axis=1)
        used = SEEN if c.is_apart else SEEN[:N_OF_STEPS]
        for (_, name, _), numbers in zip(used, seen, strict=False):
            getattr(c, name)[rows] = numbers
        self._reader.forget(rows.data)
        c.centre[rows], c.half[rows], c.velocity[rows], c.growth[rows] = seen[:4]
        c.quarantined[rows] = np.where(flags & OFF != 0, SWITCHED_OFF, flags & LEFT_OUT)
        is_known = flags & (UNSEEN | CHANGED | REPLACED | ALTERED) == 0
        c.news[rows] = np.where(flags & UNSEEN != 0, NEW, 0) | np.where(is_known, 0, UNCHECKED)
        self._reader.recognize(rows[is_known].data)
        self._reader.mistrust(rows[flags & ALTERED != 0].data)
        c.rest_count[rows] = rest_count
        c.touched[rows] = flags & TOUCHED != 0
        for row in rows[flags & REPLACED != 0].tolist():
            self._reader.clear(row)
        changed = flags & CHANGED != 0
        if changed.any():
            c.n_filed[rows[changed]] = -1
            self.mark = object()

        for row in rows[out].tolist():
            t.broadphase.remove(row)
        self._put_in_trees(rows[~out], rows[~out & misplaced])
        self._forget_pending()
        self._unread = rows[c.has[rows] & FIXED != 0]
        self._requested.clear()
        self._moves = {}
        self._is_reported = False
        self._reader.find_faces(rows.data)
