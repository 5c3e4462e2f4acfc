"""The bodies of one world: their rows, the values of their components, and which of them move.

Fixed bodies are read when they appear, and again only when the game asks for it.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._checks import up_against
from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import LONG, are_among, union
from ecs_collide._kernel.constants import (
    TRAITS_SHIFT,
    Custom,
    Exclusion,
    Has,
    News,
    Touched,
    Trait,
)
from ecs_collide.components.component_map import Components
from ecs_collide.components.dynamics import Attached
from ecs_collide.components.table import EXEMPT, entries
from ecs_collide.events import EndReason, Vector
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.body_table import BodyTable
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.sync.attached import boxes_of, wrong_owner
from ecs_collide.sync.attached_boxes import AttachedBoxes
from ecs_collide.sync.bindings import ComponentBinding
from ecs_collide.sync.body_lists import BodyLists, RowOf
from ecs_collide.sync.entity_rows import Changes, EntityRows
from ecs_collide.sync.impact_bodies import ImpactBodies
from ecs_collide.sync.quarantine import FieldChecks
from ecs_collide.sync.reader import ComponentReader
from ecs_collide.sync.seen import CHANGED, NO_ROWS, PUT, SKIPPED, UNSEEN, SeenBodies
from ecs_collide.sync.sleep_list import Sleep
from ecs_collide.sync.step_start import StepStart
from ecs_collide.sync.targets import KinematicTargets
from ecs_collide.sync.undo import Undo
from ecs_collide.sync.units import Units


@cython.final
class BodyRegistry:
    """The bodies of one world in rows."""

    components: ReadOnly[Components]
    sweeps: ReadOnly[cython.bint]
    up: ReadOnly[Vector]  # see `set_up`
    up_is_given: ReadOnly[cython.bint]
    table: ReadOnly[BodyTable]
    kinds: ReadOnly[list]  # of `ComponentBinding`; `EntityRows.watch` appends more
    makers: ReadOnly[tuple]  # the two that make an entity a body
    types: ReadOnly[dict]  # the first of each type
    reader: ReadOnly[ComponentReader]
    lists: ReadOnly[BodyLists]  # what a step asks each time
    units: ReadOnly[Units]
    index: ReadOnly[EntityRows]
    row_of: ReadOnly[RowOf]  # by entity
    checks: ReadOnly[FieldChecks]
    kinematic_targets: ReadOnly[KinematicTargets]
    attached: ReadOnly[AttachedBoxes]
    sleep: ReadOnly[Sleep]
    seen: ReadOnly[SeenBodies]
    start: ReadOnly[StepStart]
    impact_bodies: ReadOnly[ImpactBodies]
    # By system before the step: the wrong field of each entity that it refuses in this step.
    refusals: ReadOnly[dict]
    refused: dict  # the same by row, of all systems
    refused_before: dict  # the column `quarantined` before, by row
    bodies: Bodies
    timeline: Any
    # In the order of the ids of their bodies.
    read_rows: ReadOnly[Any]  # all rows that the present step has read, int64 (n,)
    woken: list  # see `count_woken`

    def __init__(
        self,
        dim: cython.int,
        timeline: Any,
        components: Components,
        sweeps: cython.bint,
        domain: PeriodicDomain,
    ):
        self.components = components
        self.sweeps = sweeps
        self.up = ()
        self.timeline = timeline
        self.bodies = timeline.bodies
        table = self.table = BodyTable(timeline.bodies)
        common: list = []
        rare: list = []
        for kinds, declared in zip((common, rare), entries(components, dim), strict=True):
            for entry in declared:
                kinds.append(ComponentBinding(*entry))
        self.kinds = [*common, *rare]
        self.makers = common[0], common[1]
        self.types = {}
        for kind in self.kinds:
            self.types.setdefault(kind.type, kind)
        self.reader = ComponentReader(timeline.bodies, self.kinds, rare)
        self.reader.sweeps = sweeps
        self.lists = BodyLists(timeline.bodies)
        self.units = Units(components, dim)
        if table.is_apart:
            self.reader.convert(self.units.leans, self.units.halves)
        self.index = EntityRows(table, self.lists, self.types, self.reader, timeline)
        self.row_of = self.index.row_of
        self.checks = FieldChecks(components, dim, self.index.holder, domain.wrap)
        targets = self.kinematic_targets = KinematicTargets(table, self.lists.put, domain)
        self.attached = AttachedBoxes(timeline.bodies, self.lists, self.reader.undo)
        self.sleep = Sleep(table, self.lists, timeline)
        self.seen = SeenBodies(table, self.reader, (common[3], self.types[Attached]))
        self.start = StepStart(table, self.lists, self.reader, targets, self.attached, domain)
        self.impact_bodies = ImpactBodies(self.index, self.reader, self.lists, targets, timeline)
        self.read_rows = NO_ROWS
        self.woken = []
        self.refusals = {}
        self.refused = {}
        self.refused_before = {}
        self.index.bind()

    @property
    def entities(self) -> NDArray[np.int64]:
        """The entities that are bodies, by rising id."""
        return self.lists.entities

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows of all bodies, in the order of their ids."""
        return self.lists.rows

    def set_up(self, up: Vector, is_given: bool) -> None:
        """Set the default normal, a unit vector along an axis; unless given, it follows gravity."""
        self.up_is_given = is_given
        if self.up == up:
            return
        self.up = up
        for k, part in enumerate(up):
            if part:
                self.reader.rare_reader.up = k + 1 if part > 0.0 else -(k + 1)
        c, rows = self.table, self.rows
        rows = rows[c.traits[rows] != 0]
        c.news[rows] |= News.UNCHECKED  # their sides are computed again
        self.lists.requested.update(rows[c.has[rows] & Has.FIXED != 0].tolist())
        self.wake_all()

    def set_gravity(self, gravity: Vector) -> None:
        """Set the gravity from the next step on, also for sleeping bodies."""
        self.reader.set_gravity(gravity)
        self.wake_all()
        if not self.up_is_given:
            self.set_up(up_against(gravity, self.up), False)

    def exempt_from_gravity(self, kind: type) -> None:
        """Exempt bodies that have a component of this type from gravity."""
        rare = self.reader.rare_reader
        self.index.watch(kind, Trait.NO_GRAVITY << TRAITS_SHIFT)
        if self.types[kind] not in rare.exempt:
            self.bodies.rare.use()
            rare.exempt.append(self.types[kind])

    # -- structure --

    @cython.ccall
    def compare(self, world: Any, was_cleared: cython.bint, in_step: cython.bint) -> cython.int:
        """Update the rows to the entities that the world has now.

        With `was_cleared` none of them is a known body, whatever its id.  In a step, the boxes that
        are attached to deleted bodies are deleted with them.
        """
        index: EntityRows = self.index
        changed: list = []
        listed: list = []

        if not self.sleep.wanted and self.sleep.n():
            self.wake_all()
        if index.is_current(world):
            return 0
        self.bodies.reuse_freed()
        if was_cleared:
            self.forget_cleared()
        changes: Changes = index.compare(world)
        has_boxes: cython.bint = self.types[Attached] in self.reader.used
        if in_step and has_boxes and self._delete_boxes(changes, world):
            changes = index.compare(world)
        gone: list = index.release_gone(world, changes)
        for entity in changes.changed:
            changed.append(self.row_of.row(entity))
        if self.sleep.n():
            self.sleep.altered += changed
            self.sleep.wake(self.sleep.altered)
        if changed:
            index.recache(changed, changes)
        changed += index.admit(changes.newcomers, changes.entities) if changes.newcomers else []
        for row in changed:
            self.read_again(row)
        if gone or changed:
            listed += zip(changes.gone, gone, strict=True)
            listed += zip(changes.changed + changes.newcomers, changed, strict=True)
            self.lists.update(sorted(listed))
            self.read_rows = self.watched
        if self.units.shared_size:
            self._refuse_growth(changed)
        index.seen = changes.seen
        return 0

    @cython.ccall
    def forget_cleared(self) -> cython.int:
        """Forget all bodies of a world that was cleared."""
        gone: list = self.lists.entities.tolist()
        rows: list = self.index.release(gone, EndReason.WORLD_CLEARED)
        self.lists.update(list(zip(gone, rows, strict=True)))
        self.read_rows = self.watched
        return 0

    def _delete_boxes(self, changes: Changes, world: Any) -> cython.bint:
        """Delete the boxes whose owners are deleted; return whether any.

        Owners that are no bodies yet are not among the changes, but their boxes are.
        """
        dead: set = set(changes.gone) - world.living(changes.gone)
        boxes: set = set(boxes_of(dead, world)) if dead else set()

        for box in (*changes.newcomers, *changes.changed):
            attached = changes.entities[box].get(Attached)
            if attached is not None and world.was_deleted(attached.owner):
                boxes.add(box)
        for box in sorted(boxes):
            world.delete(box)
        return len(boxes) > 0

    def _refuse_growth(self, rows: list) -> cython.void:
        """Raise ValueError if a body has `Growth` although one attribute is its size on several axes."""
        growing: list = []

        for row in rows:
            if self.bodies.has[row] & Has.GROWTH:
                growing.append(self.bodies.ids[row])
        if growing:
            growth = self.components.growth.kind.__name__
            raise ValueError(
                f"entity {min(growing)} has {growth}, and {self.units.shared_size} is its size on several "
                f"axes: remove the {growth} and set the size, or name an attribute for each axis in "
                "Components(extents=...)"
            )

    def _list_all(self) -> cython.void:
        """List all bodies anew by what a step does with them."""
        self.reader.require(self.lists.rows.data)
        self.lists.list_all()
        self.read_rows = self.watched

    @property
    def watched(self) -> NDArray[np.int64]:
        """The rows of the bodies that are neither fixed nor disabled nor attached."""
        return np.asarray(self.lists.watched)

    def _part(self) -> cython.void:
        """Separate the watched bodies that move from the others."""
        self.lists.part(self.lists.watched)

    def pop_ignored(self) -> list:
        """Return the entities that are both fixed and moving since the last call."""
        ignored: list = sorted(self.reader.contradictory)
        self.reader.contradictory.clear()
        return ignored

    @cython.ccall
    def read_again(self, row: cython.Py_ssize_t) -> cython.void:
        """Read the components of a body in the next step, fixed or not."""
        if self.bodies.has[row] & Has.FIXED:
            self.lists.requested.add(row)

    def read_rows_again(self, rows: NDArray[np.int64]) -> None:
        """Read the components of bodies in the next step, fixed or not."""
        if self.reader.any_fixed:
            self.lists.requested.update(rows[self.table.has[rows] & Has.FIXED != 0].tolist())

    def are_held_fixed(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return by row whether the next step does not read the components of a body."""
        held: NDArray[np.bool_] = self.table.has[rows] & Has.FIXED != 0
        if held.any():
            held &= ~are_among(rows, list(self.to_be_read))
        return held

    @property
    def to_be_read(self) -> set[int]:
        """The rows of the fixed bodies that the next step reads."""
        return self.lists.requested.union(self.lists.unread.tolist())

    def _pop_requested(self) -> cython.void:
        """List the fixed bodies to read in this step, in the order of their ids, as `unread`."""
        c: Any = self.table
        lists: BodyLists = self.lists
        rows: Any = lists.unread

        if lists.requested:
            lists.requested.update(rows.tolist())
            rows = lists.unread = np.array(list(lists.requested), LONG)
            lists.requested.clear()
        if len(rows):
            wanted = (c.has[rows] & Has.FIXED != 0) & (c.disabled[rows] == 0)
            lists.unread = self._in_order(rows[wanted])

    @cython.cfunc
    def _in_order(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return rows in the order of the ids of their bodies."""
        return rows[self.table.ids[rows].argsort()]

    # -- values --

    def read(self, step: int, dt: float) -> list:
        """Read all components; return reports of invalid ones.

        Raise TypeError or AttributeError if an attribute is not a number or is missing.
        """
        return self.digest(self._read_components(dt), step, dt)

    def first_error(self) -> Exception:
        """Return the error to raise after the reader has failed."""
        return self.checks.first_error(self.lists.entities, self.lists.rows)

    def digest(self, n_out: cython.Py_ssize_t, step: int, dt: float) -> list:
        """Act on what the reader has found; return reports of invalid components.

        `n_out` is the number of bodies that are invalid.
        """
        c: Any = self.table
        reader: ComponentReader = self.reader
        lists: BodyLists = self.lists
        reports: list = []

        if reader.woken:
            self.disturb(reader.woken)
            reader.woken.clear()
        if reader.fallen:
            reports += self._quarantine_fallen(step, dt)
        if self.refused:
            reports += self._quarantine_refused(step, dt)
            n_out += len(self.refused)
        if self.sweeps:
            self._start_targets(dt)
        # The game may have put them beyond an edge.
        lists.brought_in = self.bodies.bring_in(self.read_rows)
        if self.attached.attach(self.timeline.attachments):
            reports += self.report_attached(step, dt)
        c.news[:] = 0
        lists.list_new()
        if lists.newcomers or lists.switched_off:
            reader.find_faces(lists.new)
            reader.find_faces(np.array(lists.switched_off, LONG).data)
            lists.newcomers.clear()
            lists.switched_off.clear()
        if reader.resized:
            lists.moves = dict(lists.moves)  # a copy: `Undo` holds the old one
        for row in reader.resized:
            lists.moves.setdefault(row, c.seen_place[row].tolist())
        self._end_teleported(reader.touched_rows)
        if self.sleep.wake_held():
            self._part()
        lists.n_out = n_out
        if n_out:
            lists.stale.append(self.read_rows[c.quarantined[self.read_rows] != 0])
        self.sleep.altered += reader.altered
        self._list_moving()
        lists.touched_still = np.array(reader.to_place, LONG).data
        if reader.to_place:
            lists.stale.append(np.asarray(lists.touched_still))
        self.read_rows = self.watched
        return reports

    def _read_components(self, dt: cython.double) -> cython.Py_ssize_t:
        """Read the components of the bodies to read in this step; return how many are invalid."""
        reader: ComponentReader = self.reader
        lists: BodyLists = self.lists
        stills: Any = lists.stills

        self._pop_requested()
        self.read_rows = self.watched
        if len(lists.unread):
            self.read_rows = self._in_order(np.concatenate([self.watched, lists.unread]))
            stills = self._in_order(np.concatenate([np.asarray(stills), lists.unread])).data
        if self.sweeps:
            self.kinematic_targets.remember(self.read_rows)
        self._note_refused()
        try:
            n_out: cython.Py_ssize_t = reader.read(lists.movers, stills, dt)
            self.attached.remember()
            reader.read_attached(lists.attached, dt)
            if lists.switched_off:
                reader.read_switched_off(lists.switched_off)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise self.first_error() from error
        return n_out

    def _start_targets(self, dt: cython.double) -> cython.void:
        """Sweep the bodies that the game has moved to their targets in this step."""
        c: Any = self.table
        reader: ComponentReader = self.reader
        targets: Any = self.kinematic_targets
        touched: list = []
        to_place: list = []

        before = c.moves[self.read_rows]
        targets.find_targets(self.read_rows, dt)
        for row in reader.touched_rows:
            if self.bodies.touched[row] & Touched.BY_GAME:
                touched.append(row)
        reader.touched_rows = touched
        if self.sleep.n():
            self.sleep.disturbed += self.read_rows[c.moves[self.read_rows] > before].tolist()
        for row in reader.to_place:
            if not self.bodies.moves[row]:
                to_place.append(row)
        reader.to_place = to_place + targets.released.tolist()
        # The reader took them for moving bodies.  Their contacts are compared as for still bodies.
        reader.examined.extend(targets.released[c.touched[targets.released] != 0].tolist())
        self._part()

    @cython.cfunc
    def _quarantine_fallen(self, step: Any, dt: Any) -> list:
        """Skip bodies until their numbers are valid; return reports of them."""
        ids: Any = self.table.views.ids
        rows: list = sorted(self.reader.fallen, key=ids.__getitem__)
        reports: list = []

        self.index.skip(rows, EndReason.QUARANTINED)
        for row in rows:
            self.bodies.quarantined[row] = Exclusion.INVALID
            reports.append(self.checks.report(row, ids[row], step, dt))
        return reports

    def _note_refused(self) -> cython.void:
        """Note the bodies that systems before this step have refused, before they are read."""
        self.refused = {}
        self.refused_before = {}
        for wrong_of in self.refusals.values():
            for entity, wrong in wrong_of.items():
                row = self.row_of.get(entity)
                if row is not None:
                    self.refused.setdefault(row, wrong)
                    self.refused_before[row] = self.bodies.quarantined[row]

    @cython.cfunc
    def _quarantine_refused(self, step: Any, dt: Any) -> list:
        """Skip the bodies that systems before this step have refused; return reports of new ones."""
        b: Bodies = self.bodies
        reader: ComponentReader = self.reader
        ids: Any = self.table.views.ids
        new: list = []
        asleep: list = []
        reports: list = []

        for row in sorted(self.refused, key=ids.__getitem__):
            if b.quarantined[row] == 0 and not self.refused_before[row]:
                new.append(row)
                reader.undo.keep(b, "quarantined", row)
                if b.asleep[row]:
                    asleep.append(row)
        self.disturb(asleep)
        for row in self.refused:
            b.quarantined[row] = b.quarantined[row] or Exclusion.INVALID
        self.index.skip(new, EndReason.QUARANTINED)
        # The reader has taken refused bodies for bodies that are back, so it found too much.
        for found in (reader.touched_rows, reader.examined, reader.to_place):
            for row in found[::-1]:
                if row in self.refused:
                    found.remove(row)
        for row in self.refused:  # fixed ones too are compared with their components again
            self.read_again(row)
        self.refusals.clear()
        for row in new:
            reports.append(self.checks.report(row, ids[row], step, dt, self.refused[row]))
        return reports

    def report_attached(self, step: int, dt: float) -> list:
        """Act on the boxes that are not as in the last step; return reports of those without owner."""
        c: Any = self.table
        boxes: AttachedBoxes = self.attached
        out: dict = {}
        reports: list = []

        self._end_jumped(boxes.jumped)
        for row, is_off in boxes.skipped:
            out[row] = EndReason.DISABLED if is_off else EndReason.QUARANTINED
        for row, _ in boxes.refused:
            out[row] = EndReason.QUARANTINED
        if out:
            self.index.skip([*out], [*out.values()])
        if boxes.n_out:
            rows = np.asarray(self.lists.attached)
            self.lists.stale.append(rows[c.quarantined[rows] != 0])
        for row, owner in boxes.refused:
            wrong = self._wrong_owner(row, owner)
            reports.append(self.checks.report(row, c.views.ids[row], step, dt, wrong))
        return reports

    @cython.cfunc
    def _wrong_owner(self, row: Any, owner: Any) -> object:
        """Return the error about the owner of a box, both by row; -1 for no body."""
        entity = int(self.bodies.seen_owner[row, 0])
        # Read the component itself, because a disabled body's columns are not up to date.
        components = self.index.holders(Attached)
        last = None if owner < 0 else getattr(components[owner], "owner", entity)
        return wrong_owner(entity, is_itself=owner == row, last=last)

    def _end_teleported(self, touched: list) -> cython.void:
        """End the contacts of bodies that the game has teleported."""
        before: dict = self.lists.teleports
        pairs: list = list(zip(touched, touched, strict=True))

        self.lists.teleports = {}
        for row in self._end_jumped(pairs):
            entity = self.bodies.ids[row]
            self.lists.teleports[entity] = before.get(entity, 0) + 1
        self.lists.moves = {}

    @cython.cfunc
    def _end_jumped(self, pairs: list) -> list:
        """End the contacts of bodies that were teleported, and return these.

        Each comes with the row of its owner, or its own.  If `Space.move` has placed that, the
        contacts go on, and the sleeping bodies among the others wake.
        """
        ended: list = []

        for row, owner in pairs:
            if self._is_moved(owner):
                self.timeline.contacts.wake_partners(row)
            else:
                ended.append(row)
        if ended:
            self.index.end_contacts(ended, EndReason.TELEPORTED)
        return ended

    def _is_moved(self, row: Any) -> cython.bint:
        """Return whether a body is still where `Space.move` placed it since the last step."""
        moved_to = self.lists.moves.get(row) if self.lists.moves else None
        return moved_to is not None and moved_to == self.table.seen_place[row].tolist()

    def is_put(self, row: int, position: Any) -> bool:
        """Return whether the game has placed a body elsewhere since the last step or move."""
        place = self.units.place_of(position)
        before = self.lists.moves.get(row)
        return place != (self.table.seen_place[row].tolist() if before is None else before)

    def note_move(self, row: int, position: Any, was_put: bool = False) -> None:
        """Prevent the next step from treating a move as a teleport.

        This holds while the position is unchanged.  A body that the game had placed elsewhere
        before the move still counts as teleported.
        """
        if was_put:
            self.lists.moves.pop(row, None)
        else:
            self.lists.moves[row] = self.units.place_of(position)
        self.put([row])

    def put(self, rows: list) -> None:
        """Teleport bodies to where the game has set them, where the next step would sweep them."""
        if self.sweeps:
            self.kinematic_targets.put.update(rows)

    def moved_rows(self, world: Any) -> list:
        """Return the rows of the bodies that stand where `Space.move` has put them."""
        found: list = []

        if not self.lists.moves:
            return found
        kind = self.makers[0].type
        find = world.finder((kind,))
        for row, place in self.lists.moves.items():
            position = (find(self.bodies.ids[row]) or {}).get(kind)
            # The next step reports a value that is not a number.
            with suppress(TypeError, ValueError, AttributeError, OverflowError):
                if position is not None and self.units.place_of(position) == place:
                    found.append(row)
        return found

    def _list_moving(self) -> cython.void:
        """List the bodies that take part in the step."""
        b: Bodies = self.bodies
        lists: BodyLists = self.lists
        moving = np.asarray(lists.movers)
        examined: list = []

        if lists.n_out:
            moving = moving[self.table.quarantined[moving] == 0]
        if self.attached.n:
            moving = np.concatenate([moving, self.attached.taking_part])
        lists.moving = lists.active = moving.data
        for row in self.reader.examined:
            if not b.moves[row]:
                examined.append(row)
        if examined:
            lists.active = np.concatenate([moving, np.array(examined, LONG)]).data

    # -- sleep --

    @cython.ccall
    def disturb(self, rows: list) -> cython.int:
        """Wake the sleeping bodies of `rows`; the next step wakes bodies that they support."""
        self.sleep.disturbed += rows
        self.wake(rows)
        return 0

    @cython.ccall
    def wake(self, rows: list) -> cython.int:
        """Wake the sleeping bodies of `rows`."""
        self._list_woken(self.sleep.wake(rows))
        return 0

    def _list_woken(self, woken: list) -> cython.void:
        """List the moving bodies again if any body woke."""
        if woken:
            self._part()
            self._list_moving()

    def wake_reached(self, reached: list) -> None:
        """Wake the islands that the paths of this step may reach, from the present positions.

        `reached` are the rows of sleeping bodies that the paths of the moving bodies may reach.
        """
        while reached:
            woken: list = self.sleep.wake(reached)
            rows = np.array(woken, LONG)
            self._list_woken(woken)
            self.timeline.place_woken(rows.data)
            reached = self.timeline.sleeping.reached_by(rows.data)
        pressed = np.array(self.reader.pressed, LONG)
        self.lists.pressed = pressed[self.table.asleep[pressed] != 0]
        self.table.velocity[self.lists.pressed] = 0.0

    def wake_near(self) -> None:
        """Wake bodies beside a still body that is new, has moved or has changed."""
        self._list_woken(self.sleep.wake_near(self.lists.touched_still))

    @cython.ccall
    def wake_all(self) -> cython.int:
        """Wake all bodies."""
        self._list_woken(self.sleep.wake_all(self.lists.rows))
        self.reader.woken.clear()
        return 0

    def bring_in(self) -> None:
        """Move bodies that have left a wrapping world in at the other end."""
        arrived = self.kinematic_targets.arrived()
        self.timeline.edges.bring_in(self.lists.moving)
        self.kinematic_targets.reach_wrapped_targets(arrived)

    def count_woken(self) -> None:
        """Add the sleeping bodies that the step has reached to the moving ones, which it writes."""
        self.woken = sorted(self.bodies.pop_woken())
        if self.woken:
            moving = np.asarray(self.lists.moving)
            self.lists.moving = np.concatenate([moving, np.array(self.woken, LONG)]).data

    def end_step(self, step: int, has_corrected: bool) -> None:
        """Wake the bodies that the step has reached; put those at rest for long to sleep."""
        changed: cython.bint = len(self.sleep.wake_reached(self.woken)) > 0
        if has_corrected:
            changed |= self.sleep.fall(np.asarray(self.lists.moving), step, self.sweeps)
        self.woken = []
        if changed:
            self._part()

    # -- writing back --

    def write(self) -> None:
        """Write the results of the step into the game's components."""
        lists: BodyLists = self.lists
        written: Any = np.asarray(lists.moving)

        lists.is_reported = False
        if self.sweeps:
            self.kinematic_targets.keep_velocities(written)
        more = np.concatenate([lists.pressed, np.array(lists.brought_in, LONG)])
        if len(more):
            written = self._in_order(union(written, more))
        self.reader.write(written.data)
        for rows in lists.stale:
            self.reader.find_faces(rows.data)
        lists.stale.clear()
        lists.end_write(written.data)

    def note_resized(self, rows: NDArray[np.int64], boxes: NDArray[np.int64]) -> None:
        """Record that bodies got new boxes between steps, and their attached `boxes` new offsets."""
        self.reader.find_faces(rows.data)
        self.reader.forget(boxes.data)
        self.lists.relocated.extend(rows.tolist())

    def place_shifted(self, rows: NDArray[np.int64]) -> None:
        """Put the bodies of `rows`, which were all shifted by one offset, into the trees again."""
        c: Any = self.table
        t: Any = self.timeline

        self.reader.find_faces(rows.data)
        placed = rows[c.quarantined[rows] == 0]
        moves = c.moves[placed] != 0
        t.broadphase.place_still(placed[~moves].data)
        t.place_shifted(placed[moves].data)

    def error_of(self, entity: int, error: Exception) -> Exception:
        """Return the error to raise for a component that could not be read."""
        return self.checks.find_no_number(self.row_of[entity], entity) or error

    # -- a step that is cut short --

    def undo_step(self, timeline: Any) -> None:
        """Put back the bodies and the components from before the step; the next one reads all anew.

        It can be called again, each time with a new timeline.
        """
        undo: Undo = self.reader.undo

        self._use(timeline)
        undo.put_back()
        self._begin_again(undo.bodies)
        self.lists.put.update(undo.put)
        self.lists.moves = undo.moves

    def start_over(self, timeline: Any) -> None:
        """Remove all bodies, and use a new timeline."""
        self._use(timeline)
        self._begin_again((NO_ROWS, NO_ROWS))

    def _begin_again(self, bodies: tuple) -> cython.void:
        """Set the bodies, as `BodyLists.saved`, all awake, at their seen places in new trees."""
        self.index.start_over(*bodies)
        self._start_anew()
        self.reader.check(self.rows.data)
        self.lists.unread = NO_ROWS
        self.lists.requested.clear()
        self.lists.teleports = {}
        self.lists.moves = {}
        self.reader.woken.clear()
        self.reader.contradictory.clear()
        self._place_all()

    def _use(self, timeline: Any) -> cython.void:
        """Use another timeline."""
        self.timeline = timeline
        self.sleep.use(timeline)
        self.impact_bodies.use(timeline)
        self.index.use(timeline)

    def _start_anew(self) -> cython.void:
        """Reset all flags of the step and wake all bodies."""
        c: Any = self.table

        self.lists.forget_start()
        for flags in (
            c.asleep, c.held, c.leans, c.rest_count, c.interrupted, c.gone, c.driven, c.touched,
            c.news,
        ):  # fmt: skip
            flags[:] = 0
        moves = (c.has & (Has.VELOCITY | Has.GROWTH) != 0) | (c.attached != 0)
        if self.sweeps:
            moves |= (c.response != 0) | (c.custom & Custom.DYNAMIC != 0)
        c.moves[:] = moves
        self.sleep.forget()
        self.lists.pressed = NO_ROWS
        self.lists.brought_in = []
        self.woken = []
        self._forget_pending()
        self._list_all()

    def _forget_pending(self) -> cython.void:
        """Forget the pending work of the last step."""
        self.kinematic_targets.clear()
        self.attached.clear()
        self.lists.stale.clear()
        self.lists.switched_off.clear()
        self.lists.touched_still = NO_ROWS.data

    def _place_all(self) -> cython.void:
        """Put all bodies into the trees of a new timeline, at their seen places."""
        c: Any = self.table
        rows: Any = self.lists.rows

        self.reader.forget(rows.data)
        self.bodies.take_seen(rows.data)
        placed = (c.quarantined[rows] == 0) & (c.news[rows] & News.NEW == 0)
        self._part()
        moves = c.moves[rows] != 0
        self._put_in_trees(rows[placed & moves].data, rows[placed & ~moves])
        self.reader.find_faces(rows.data)

    def _put_in_trees(self, moving: cython.longlong[::1], stills: NDArray[np.int64]) -> cython.void:
        """Put moving bodies and misplaced still ones into their trees."""
        t: Any = self.timeline

        self.lists.moving = self.lists.active = moving
        t.reset()
        t.bodies.begin_step(moving, 0.0)
        if len(stills):
            self.table.motion[stills] = 0.0
            t.bodies.place_still(stills.data)
            t.broadphase.place_still(stills.data)
        t.broadphase.place_moving(moving)

    # -- snapshots --

    def is_quiet(self, world: Any) -> bool:
        """Return whether the last step knows all of the world but numbers of common components."""
        lists: BodyLists = self.lists

        if lists.newcomers or lists.switched_off or lists.put or lists.moves or lists.n_out:
            return False
        return self.index.is_current(world) and self.reader.is_quiet(lists.rows.data)

    def is_as(self, world: Any, rows: NDArray[np.int64], saved: Any) -> bool:
        """Return whether the world has the same bodies in the same rows as when columns were saved.

        They also have the same components, and the same bodies are disabled.
        """
        return (
            self.index.is_current(world)
            and self.lists.rows is rows
            and not self.lists.switched_off
            and self.table.has_same_exclusions(saved)
        )

    def put_back(self, saved: Any) -> list:
        """Set the known values of bodies for which `is_as` is true; return still ones to place.

        Some components are written too.  The caller writes all of them and calls `place_again`.
        """
        rows: Any = self.lists.rows

        self.lists.forget_start()
        self.wake_all()
        misplaced: list = self.bodies.find_misplaced(rows.data, saved.vectors[:2].data)
        self.table.put_back(saved)
        self.reader.forget(rows.data, True)
        return misplaced

    def place_again(self, misplaced: list) -> None:
        """Place the bodies after `put_back`."""
        c: Any = self.table
        lists: BodyLists = self.lists
        rows: Any = lists.rows
        moving: Any = lists.movers

        if len(lists.attached):
            moving = rows[(c.moves[rows] != 0) & (c.quarantined[rows] == 0)].data
        self.reader.recognize(rows.data, True)
        self._put_in_trees(moving, np.array(misplaced, LONG))
        self._forget_pending()
        if self.reader.any_fixed:
            lists.unread = rows[c.has[rows] & Has.FIXED != 0]
        lists.requested.clear()
        lists.moves = {}
        lists.is_reported = True
        self.reader.find_faces(rows.data)

    def recall(self, world: Any, bodies: NDArray[np.int64]) -> None:
        """Set the bodies, by rising id; the caller sets the contacts afterwards.

        The next comparison removes bodies that the world lacks and adds the ones that are missing.
        """
        self.lists.forget_start()
        self.wake_all()
        for kind in EXEMPT:
            if world.having(kind):  # else its bodies would count as changed in the next step
                self.exempt_from_gravity(kind)
        self.compare(world, False, False)
        if self.index.replace(bodies):
            self._list_all()

    def resume(
        self,
        flags: NDArray[np.uint8],
        seen: list,
        rest_count: NDArray[np.int8],
    ) -> None:
        """Set the known values of all bodies, as `SeenBodies.resume` does, and place them."""
        c: Any = self.table
        rows: Any = self.lists.rows

        out = flags & (SKIPPED | UNSEEN) != 0
        misplaced = (c.news[rows] & (News.NEW | News.UNPLACED) != 0) | (c.quarantined[rows] != 0)
        # A failed step may have found that bodies moved without placing them.
        misplaced |= c.touched[rows] != 0
        misplaced |= (c.seen_centre[rows] != seen[0]).any(axis=1)
        misplaced |= (c.seen_half[rows] != seen[1]).any(axis=1)
        self.seen.resume(rows, flags, seen, rest_count)
        self.lists.newcomers.clear()
        self.lists.newcomers.update(dict.fromkeys(rows[c.news[rows] & News.NEW != 0].tolist()))
        if (flags & CHANGED != 0).any():
            self.index.seen = None  # type: ignore[assignment]
        for row in rows[out].tolist():
            self.timeline.broadphase.remove(row)
        moves = c.moves[rows] != 0
        self._put_in_trees(rows[~out & moves].data, rows[~out & misplaced & ~moves])
        self._forget_pending()
        self.lists.unread = rows[c.has[rows] & Has.FIXED != 0]
        self.lists.requested.clear()
        self.lists.moves = {}
        self.lists.is_reported = False
        self.reader.find_faces(rows.data)

    def resume_sleep(self, sleeping: NDArray[np.void], may_wake: NDArray[np.void]) -> int:
        """Put the bodies that slept in the snapshot to sleep, after `resume`; return their number."""
        asleep = self.sleep.resume(self.lists.rows, sleeping, may_wake)
        self.put(self.lists.rows[may_wake["body"][may_wake["why"] & PUT != 0]].tolist())
        self._part()  # sleeping bodies no longer move
        return len(asleep)
