"""The bodies of one world: their rows, the values of their components, and which of them move.

Fixed bodies are read when they appear, and again only when the game asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._checks import up_against
from ecs_collide._kernel import backend
from ecs_collide._kernel.arrays import are_among, union
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
from ecs_collide.components.table import entries
from ecs_collide.esper_world import World
from ecs_collide.events import EndReason, Vector
from ecs_collide.motion.body_table import BodyTable, SavedColumns
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.sync.attached import boxes_of, wrong_owner
from ecs_collide.sync.body_lists import BodyLists
from ecs_collide.sync.entity_rows import Changes, EntityRows
from ecs_collide.sync.impact_bodies import ImpactBodies
from ecs_collide.sync.quarantine import FieldChecks, Report, Wrong
from ecs_collide.sync.seen import CHANGED, NO_ROWS, PUT, SKIPPED, UNSEEN, SeenBodies
from ecs_collide.sync.sleep_list import Sleep
from ecs_collide.sync.step_start import StepStart
from ecs_collide.sync.targets import KinematicTargets
from ecs_collide.sync.units import Units

RowArray = NDArray[np.int64]

EXEMPT: list[type] = []
"""The components that exempt bodies from gravity, of the packages that are imported."""


def moves_itself(kind: type) -> bool:
    """Return whether bodies with this component apply gravity and zones to themselves."""
    return getattr(kind, "moves_itself", False)


class _Rows:
    """An array of `BodyLists`, as a numpy array."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name.lstrip("_")

    def __get__(self, registry: BodyRegistry, owner: type) -> RowArray:
        return np.asarray(getattr(registry.lists, self._name))

    def __set__(self, registry: BodyRegistry, rows: RowArray) -> None:
        setattr(registry.lists, self._name, rows.data)


class BodyRegistry:
    """The bodies of one world in rows.

    Attributes
    ----------
    lists : BodyLists
        What a step asks each time; see there.
    """

    _movers = _Rows()
    _stills = _Rows()
    moving = _Rows()
    active = _Rows()
    new = _Rows()
    touched_still = _Rows()

    def __init__(
        self,
        dim: int,
        timeline: Any,
        components: Components,
        sweeps: bool,
        domain: PeriodicDomain | None = None,
    ) -> None:
        self.components = components
        self.sweeps = sweeps
        self.up: Vector = ()  # see `set_up`
        self.up_is_given = False
        self._domain = domain
        self._timeline = timeline
        table = self.table = BodyTable(timeline.bodies)
        kernels = backend.kernels
        make = kernels.bindings.ComponentBinding
        common, rare = ([make(*entry) for entry in some] for some in entries(components, dim))
        self.kinds = [*common, *rare]  # `EntityRows.watch` appends more
        self.makers = common[0], common[1]  # the two that make an entity a body
        self.types = {kind.type: kind for kind in reversed(self.kinds)}  # the first of each type
        reader = self.reader = kernels.reader.ComponentReader(timeline.bodies, self.kinds, rare)
        reader.sweeps = sweeps
        lists: BodyLists = kernels.body_lists.BodyLists(timeline.bodies)
        self.lists = lists
        self.units = Units(components, dim)
        if table.is_apart:
            reader.convert(self.units.leans, self.units.halves)
        self.index = EntityRows(table, lists, self.types, reader, timeline)
        self.row_of = self.index.row_of  # by entity
        wrap = None if domain is None else domain.wrap
        self.checks = FieldChecks(components, dim, self.index.holder, wrap)
        self.kinematic_targets = KinematicTargets(table, lists.put, domain)
        self.attached = kernels.attached_boxes.AttachedBoxes(timeline.bodies, lists, reader.undo)
        self.sleep = Sleep(table, lists, timeline)
        self.seen = SeenBodies(table, reader, (common[3], self.types[Attached]))
        self._stale: list[RowArray] = lists.stale
        self.start = StepStart(table, lists, reader, self.kinematic_targets, self.attached, domain)
        self.impact_bodies = ImpactBodies(
            self.index, reader, self.units, self.kinematic_targets, self.start, self._stale, timeline
        )  # fmt: skip
        # Rows, in the order of the ids of their bodies.
        self._read = NO_ROWS  # all rows that the present step has read
        self._woken = NO_ROWS  # see `count_woken`
        # By system before the step: the wrong field of each entity that it refuses in this step.
        self.refusals: dict[object, Mapping[int, Wrong]] = {}
        self._refused: dict[int, Wrong] = {}  # the same by row, of all systems
        self._refused_before: dict[int, int] = {}  # the column `quarantined` before, by row
        self.index.bind()

    @property
    def entities(self) -> RowArray:
        """The entities that are bodies, by rising id."""
        return self.index.entities

    @property
    def rows(self) -> RowArray:
        """The rows of all bodies, in the order of their ids."""
        return self.index.rows

    def set_up(self, up: Vector, is_given: bool) -> None:
        """Set the default normal, a unit vector along an axis; unless given, it follows gravity."""
        self.up_is_given = is_given
        if self.up == up:
            return
        self.up = up
        axis = next(k for k, part in enumerate(up) if part)
        self.reader.rare_reader.up = axis + 1 if up[axis] > 0.0 else -(axis + 1)
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
            rare.use()
            rare.exempt.append(self.types[kind])

    # -- structure --

    def compare(self, world: World, was_cleared: bool = False, in_step: bool = False) -> None:
        """Update the rows to the entities that the world has now.

        With `was_cleared` none of them is a known body, whatever its id.  In a step, the boxes that
        are attached to deleted bodies are deleted with them.
        """
        index = self.index
        if not self.sleep.wanted and self.sleep.n:
            self.wake_all()
        if index.is_current(world):
            return
        self.table.reuse_freed()
        if was_cleared:
            self.forget_cleared()
        changes = index.compare(world)
        has_boxes = self.types[Attached] in self.reader.used
        if in_step and has_boxes and self._delete_boxes(changes, world):
            changes = index.compare(world)
        gone = index.release_gone(changes.gone, world)
        changed = [index.row_of[entity] for entity in changes.changed]
        if self.sleep.n:
            self.sleep.altered += changed
            self.sleep.wake(self.sleep.altered)
        if changed:
            index.recache(changed, [changes.entities[entity] for entity in changes.changed])
        admitted = index.admit(changes.newcomers, changes.entities) if changes.newcomers else []
        rows = gone + changed + admitted
        if rows:
            for row in changed + admitted:
                self.read_again(row)
            entities = changes.gone + changes.changed + changes.newcomers
            self.lists.update(sorted(zip(entities, rows, strict=True)))
            self._use_lists()
        if self.units.shared_size:
            self._refuse_growth(changed + admitted)
        index.know(changes)

    def forget_cleared(self) -> None:
        """Forget all bodies of a world that was cleared."""
        gone = self.index.entities.tolist()
        rows = self.index.release(gone, EndReason.WORLD_CLEARED)
        self.lists.update(list(zip(gone, rows, strict=True)))
        self._use_lists()

    def _delete_boxes(self, changes: Changes, world: World) -> bool:
        """Delete the boxes whose owners are deleted; return whether any.

        Owners that are no bodies yet are not among the changes, but their boxes are.
        """
        dead = set(changes.gone) - world.living(changes.gone)
        boxes = set(boxes_of(dead, world)) if dead else set()
        for box in (*changes.newcomers, *changes.changed):
            attached = changes.entities[box].get(Attached)
            if attached is not None and world.was_deleted(attached.owner):
                boxes.add(box)
        for box in sorted(boxes):
            world.delete(box)
        return bool(boxes)

    def _refuse_growth(self, rows: list[int]) -> None:
        """Raise ValueError if a body has `Growth` although one attribute is its size on several axes."""
        v = self.table.views
        growing = [v.ids[row] for row in rows if v.has[row] & Has.GROWTH]
        if growing:
            growth = self.components.growth.kind.__name__
            raise ValueError(
                f"entity {min(growing)} has {growth}, and {self.units.shared_size} is its size on several "
                f"axes: remove the {growth} and set the size, or name an attribute for each axis in "
                "Components(extents=...)"
            )

    def _list_all(self) -> None:
        """List all bodies anew by what a step does with them."""
        self.reader.require(self.rows.data)
        self.lists.list_all()
        self._use_lists()

    def _use_lists(self) -> None:
        """Use the new lists of bodies."""
        self._read = self.watched

    @property
    def watched(self) -> RowArray:
        """The rows of the bodies that are neither fixed nor disabled nor attached."""
        return np.asarray(self.lists.watched)

    def _part(self) -> None:
        """Separate the watched bodies that move from the others."""
        self.lists.part(self.lists.watched)

    def pop_ignored(self) -> list[int]:
        """Return the entities that are both fixed and moving since the last call."""
        ignored = sorted(self.reader.contradictory)
        self.reader.contradictory.clear()
        return ignored

    def read_again(self, row: int) -> None:
        """Read the components of a body in the next step, fixed or not."""
        if self.table.views.has[row] & Has.FIXED:
            self.lists.requested.add(row)

    def read_rows_again(self, rows: RowArray) -> None:
        """Read the components of bodies in the next step, fixed or not."""
        if self.reader.any_fixed:
            self.lists.requested.update(rows[self.table.has[rows] & Has.FIXED != 0].tolist())

    def are_held_fixed(self, rows: RowArray) -> NDArray[np.bool_]:
        """Return by row whether the next step does not read the components of a body."""
        held: NDArray[np.bool_] = self.table.has[rows] & Has.FIXED != 0
        if held.any():
            held &= ~are_among(rows, list(self.to_be_read))
        return held

    @property
    def to_be_read(self) -> set[int]:
        """The rows of the fixed bodies that the next step reads."""
        requested: set[int] = self.lists.requested
        return requested.union(self.lists.unread.tolist())

    def _pop_requested(self) -> RowArray:
        """Return the rows of the fixed bodies to read in this step, in the order of their ids."""
        c, lists, unread = self.table, self.lists, self.lists.unread
        if lists.requested:
            unread = union(unread, np.array(list(lists.requested), np.int64))
            lists.unread = unread
            lists.requested.clear()
        if len(unread):
            wanted = (c.has[unread] & Has.FIXED != 0) & (c.disabled[unread] == 0)
            unread = lists.unread = self._in_order(unread[wanted])
        return unread

    def _in_order(self, rows: RowArray) -> RowArray:
        """Return rows in the order of the ids of their bodies."""
        in_order: RowArray = rows[np.argsort(self.table.ids[rows])]
        return in_order

    # -- values --

    def read(self, step: int, dt: float) -> list[Report]:
        """Read all components; return reports of invalid ones.

        Raise TypeError or AttributeError if an attribute is not a number or is missing.
        """
        return self.digest(self._read_components(dt), step, dt)

    def first_error(self) -> Exception:
        """Return the error to raise after the reader has failed."""
        return self.checks.first_error(self.entities, self.rows)

    def digest(self, n_out: int, step: int, dt: float) -> list[Report]:
        """Act on what the reader has found; return reports of invalid components.

        `n_out` is the number of bodies that are invalid.
        """
        c, reader, index = self.table, self.reader, self.index
        if reader.woken:
            self.disturb(reader.woken)
            reader.woken.clear()
        reports = self._quarantine_fallen(step, dt) if reader.fallen else []
        if self._refused:
            reports += self._quarantine_refused(step, dt)
            n_out += len(self._refused)
        if self.sweeps:
            self._start_targets(dt)
        if self._domain is not None:  # the game may have put bodies beyond an edge of the world
            rows = self._read[c.quarantined[self._read] == 0]
            c.centre[rows] = self._domain.into_world(c.centre[rows])
        if self._any_attached() and self.attached.attach(self._timeline.attachments):
            reports += self.report_attached(step, dt)
        c.news[:] = 0
        self.lists.list_new()
        if index.new or index.switched_off:
            reader.find_faces(self.lists.new)
            reader.find_faces(np.array(index.switched_off, np.int64).data)
            index.new.clear()
            index.switched_off.clear()
        if reader.resized:
            resized = {row: c.seen_place[row].tolist() for row in reader.resized}
            self.lists.moves = resized | self.lists.moves
        self._end_teleported(reader.touched_rows)
        if self.sleep.wake_held():
            self._part()
        self.lists.n_out = n_out
        if n_out:
            self._stale.append(self._read[c.quarantined[self._read] != 0])
        self.sleep.altered += reader.altered
        self._list_moving()
        self.touched_still = NO_ROWS
        if reader.to_place:
            self.touched_still = np.array(reader.to_place, np.int64)
            self._stale.append(self.touched_still)
        self._read = self.watched
        return reports

    def _read_components(self, dt: float) -> int:
        """Read the components of the bodies to read in this step; return how many are invalid."""
        reader, stills, unread = self.reader, self._stills, self._pop_requested()
        self._read = self.watched
        if len(unread):
            self._read = self._in_order(np.concatenate([self.watched, unread]))
            stills = self._in_order(np.concatenate([stills, unread]))
        if self.sweeps:
            self.kinematic_targets.remember(self._read)
        self._note_refused()
        try:
            n_out: int = reader.read(self._movers.data, stills.data, dt)
            if self._any_attached():
                self.attached.remember()
                reader.read_attached(self.lists.attached, dt)
            if self.index.switched_off:
                reader.read_switched_off(self.index.switched_off)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise self.first_error() from error
        return n_out

    def _start_targets(self, dt: float) -> None:
        """Sweep the bodies that the game has moved to their targets in this step."""
        c, reader, kinematic_targets = self.table, self.reader, self.kinematic_targets
        before = c.moves[self._read]
        kinematic_targets.find_targets(self._read, dt)
        reader.touched_rows = [
            row for row in reader.touched_rows if c.touched[row] & Touched.BY_GAME
        ]
        if self.sleep.n:
            self.sleep.disturbed += self._read[c.moves[self._read] > before].tolist()
        reader.to_place = [row for row in reader.to_place if not c.moves[row]]
        released = kinematic_targets.released
        reader.to_place += released.tolist()
        # The reader took them for moving bodies.  Their contacts are compared as for still bodies.
        reader.examined.extend(released[c.touched[released] != 0].tolist())
        self._part()

    def _any_attached(self) -> bool:
        """Return whether there are attached boxes, or attachments from the last step or a restore."""
        return len(self.lists.attached) > 0 or self._timeline.attachments.n > 0

    def _quarantine_fallen(self, step: int, dt: float) -> list[Report]:
        """Skip bodies until their numbers are valid; return reports of them."""
        ids = self.table.views.ids
        rows = sorted(self.reader.fallen, key=ids.__getitem__)
        self.index.skip(rows, EndReason.QUARANTINED)
        self.table.quarantined[rows] = Exclusion.INVALID
        return [self.checks.report(row, ids[row], step, dt) for row in rows]

    def _note_refused(self) -> None:
        """Note the bodies that systems before this step have refused, before they are read."""
        self._refused = {}
        for wrong_of in self.refusals.values():
            for entity, wrong in wrong_of.items():
                row = self.row_of.get(entity)
                if row is not None:
                    self._refused.setdefault(row, wrong)
        states = self.table.views.quarantined
        self._refused_before = {row: states[row] for row in self._refused}

    def _quarantine_refused(self, step: int, dt: float) -> list[Report]:
        """Skip the bodies that systems before this step have refused; return reports of new ones."""
        c, reader, ids = self.table, self.reader, self.table.views.ids
        states = c.views.quarantined
        rows = sorted((row for row in self._refused if not states[row]), key=ids.__getitem__)
        new = [row for row in rows if not self._refused_before[row]]
        for row in new:
            reader.undo.keep(c, "quarantined", row)
        self.disturb([row for row in new if c.asleep[row]])
        c.quarantined[rows] = Exclusion.INVALID
        self.index.skip(new, EndReason.QUARANTINED)
        # The reader has taken refused bodies for bodies that are back, so it found too much.
        for found in (reader.touched_rows, reader.examined, reader.to_place):
            found[:] = [row for row in found if row not in self._refused]
        for row in self._refused:  # fixed ones too are compared with their components again
            self.read_again(row)
        self.refusals.clear()
        return [self.checks.report(row, ids[row], step, dt, self._refused[row]) for row in new]

    def report_attached(self, step: int, dt: float) -> list[Report]:
        """Act on the boxes that are not as in the last step; return reports of those without owner."""
        c, boxes = self.table, self.attached
        self._end_jumped(boxes.jumped)
        out = {
            row: EndReason.DISABLED if is_off else EndReason.QUARANTINED
            for row, is_off in boxes.skipped
        }
        out |= {row: EndReason.QUARANTINED for row, _ in boxes.refused}
        if out:
            self.index.skip([*out], [*out.values()])
        if boxes.n_out:
            rows = np.asarray(self.lists.attached)
            self._stale.append(rows[c.quarantined[rows] != 0])
        ids = c.views.ids
        return [
            self.checks.report(row, ids[row], step, dt, self._wrong_owner(row, owner))
            for row, owner in boxes.refused
        ]

    def _wrong_owner(self, row: int, owner: int) -> Wrong:
        """Return the error about the owner of a box, both by row; -1 for no body."""
        entity = int(self.table.seen_owner.item(row))
        # Read the component itself, because a disabled body's columns are not up to date.
        components = self.index.holders(Attached)
        last = None if owner < 0 else getattr(components[owner], "owner", entity)
        return wrong_owner(entity, is_itself=owner == row, last=last)

    def _end_teleported(self, touched: list[int]) -> None:
        """End the contacts of bodies that the game has teleported."""
        before, self.lists.teleports = self.lists.teleports, {}
        for row in self._end_jumped([(row, row) for row in touched]):
            entity = self.table.views.ids[row]
            self.lists.teleports[entity] = before.get(entity, 0) + 1
        self.lists.moves = {}

    def _end_jumped(self, pairs: list[tuple[int, int]]) -> list[int]:
        """End the contacts of bodies that were teleported, and return these.

        Each comes with the row of its owner, or its own.  If `Space.move` has placed that, the
        contacts go on, and the sleeping bodies among the others wake.
        """
        ended = []
        for row, owner in pairs:
            if self._is_moved(owner):
                self._timeline.contacts.wake_partners(row)
            else:
                ended.append(row)
        if ended:
            self.index.end_contacts(np.array(ended, np.int64), EndReason.TELEPORTED)
        return ended

    def _is_moved(self, row: int) -> bool:
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
        if self.sweeps:
            self.kinematic_targets.put.add(row)

    def moved_rows(self, world: World) -> list[int]:
        """Return the rows of the bodies that stand where `Space.move` has put them."""
        if not self.lists.moves:
            return []
        kind, ids, found = self.makers[0].type, self.table.views.ids, []
        find = world.finder((kind,))
        for row, place in self.lists.moves.items():
            position = (find(ids[row]) or {}).get(kind)
            # The next step reports a value that is not a number.
            with suppress(TypeError, ValueError, AttributeError, OverflowError):
                if position is not None and self.units.place_of(position) == place:
                    found.append(row)
        return found

    def _list_moving(self) -> None:
        """List the bodies that take part in the step."""
        c = self.table
        self.moving = self._movers
        if self.lists.n_out:
            self.moving = self._movers[c.quarantined[self._movers] == 0]
        if len(self.attached.taking_part):
            self.moving = np.concatenate([self.moving, self.attached.taking_part])
        self.active = self.moving
        examined = [row for row in self.reader.examined if not c.moves[row]]
        if examined:
            self.active = np.array([*self.moving.tolist(), *examined], np.int64)

    # -- sleep --

    def disturb(self, rows: list[int]) -> None:
        """Wake the sleeping bodies of `rows`; the next step wakes bodies that they support."""
        self.sleep.disturbed += rows
        self.wake(rows)

    def wake(self, rows: list[int]) -> None:
        """Wake the sleeping bodies of `rows`."""
        self._list_woken(self.sleep.wake(rows))

    def _list_woken(self, has_woken: bool) -> None:
        """List the moving bodies again if any body woke."""
        if has_woken:
            self._part()
            self._list_moving()

    def wake_reached(self, reached: list[int]) -> None:
        """Wake the islands that the paths of this step may reach, from the present positions.

        `reached` are the rows of sleeping bodies that the paths of the moving bodies may reach.
        """
        while reached:
            rows = self.sleep.wake_with_islands(reached)
            self._list_woken(has_woken=True)
            self._timeline.place_woken(rows.data)
            reached = self._timeline.sleeping.reached_by(rows.data)
        pressed = np.array(self.reader.pressed, np.int64)
        self.lists.pressed = pressed[self.table.asleep[pressed] != 0]
        self.table.velocity[self.lists.pressed] = 0.0

    def wake_near(self) -> None:
        """Wake bodies beside a still body that is new, has moved or has changed."""
        self._list_woken(self.sleep.wake_near(self.touched_still))

    def wake_all(self) -> None:
        """Wake all bodies."""
        self._list_woken(self.sleep.wake_all(self.index.rows))
        self.reader.woken.clear()

    def bring_in(self) -> None:
        """Move bodies that have left a wrapping world in at the other end."""
        arrived = self.kinematic_targets.arrived()
        self._timeline.edges.bring_in(self.lists.moving)
        self.kinematic_targets.reach_wrapped_targets(arrived)

    def count_woken(self) -> None:
        """Add the sleeping bodies that the step has reached to the moving ones."""
        self._woken = self.sleep.pop_woken()
        if len(self._woken):
            self.moving = np.concatenate([self.moving, self._woken])

    def end_step(self, step: int, has_corrected: bool) -> None:
        """Wake the bodies that the step has reached; put those at rest for long to sleep."""
        changed = len(self._woken) > 0 and self.sleep.wake_reached(self._woken)
        if has_corrected:
            changed |= self.sleep.fall(self.moving, step, self.sweeps)
        self._woken = NO_ROWS
        if changed:
            self._part()

    # -- writing back --

    def write(self) -> None:
        """Write the results of the step into the game's components."""
        c, lists, written = self.table, self.lists, self.moving
        lists.is_reported = False
        if self.sweeps:
            self.kinematic_targets.keep_velocities(written)
        if len(lists.pressed):
            written = self._in_order(union(written, lists.pressed))
        if self._domain is not None:
            stills = np.concatenate([self._stills, lists.unread])
            stills = stills[c.quarantined[stills] == 0]
            was_out = (c.centre[stills] != c.seen_centre[stills]).any(axis=1)
            written = np.concatenate([written, stills[was_out]])
        self.reader.write(written.data)
        for rows in self._stale:
            self.reader.find_faces(rows.data)
        self._stale.clear()
        lists.end_write(written.data)

    def note_resized(self, rows: RowArray, boxes: RowArray) -> None:
        """Record that bodies got new boxes between steps, and their attached `boxes` new offsets."""
        self.reader.find_faces(rows.data)
        self.reader.forget(boxes.data)
        for row in rows.tolist():
            self.start.note_relocated(row)

    def place_shifted(self, rows: RowArray) -> None:
        """Put the bodies of `rows`, which were all shifted by one offset, into the trees again."""
        c, t = self.table, self._timeline
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
        undo = self.reader.undo
        self._use(timeline)
        undo.put_back()
        self._begin_again(*undo.bodies)
        self.lists.put.update(undo.put)
        self.lists.moves = undo.moves

    def start_over(self, timeline: Any) -> None:
        """Remove all bodies, and use a new timeline."""
        self._use(timeline)
        self._begin_again(NO_ROWS, NO_ROWS)

    def _begin_again(self, *bodies: Any) -> None:
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

    def _use(self, timeline: Any) -> None:
        """Use another timeline."""
        self._timeline = timeline
        self.sleep.use(timeline)
        self.impact_bodies.use(timeline)
        self.index.use(timeline)

    def _start_anew(self) -> None:
        """Reset all flags of the step and wake all bodies."""
        c = self.table
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
        self.lists.pressed = self._woken = NO_ROWS
        self._forget_pending()
        self._list_all()

    def _forget_pending(self) -> None:
        """Forget the pending work of the last step."""
        self.kinematic_targets.clear()
        self.attached.clear()
        self._stale.clear()
        self.index.switched_off.clear()
        self.touched_still = NO_ROWS

    def _place_all(self) -> None:
        """Put all bodies into the trees of a new timeline, at their seen places."""
        c, rows = self.table, self.rows
        self.reader.forget(rows.data)
        c.take_seen(rows)
        placed = (c.quarantined[rows] == 0) & (c.news[rows] & News.NEW == 0)
        self._part()
        moves = c.moves[rows] != 0
        self._put_in_trees(rows[placed & moves].data, rows[placed & ~moves])
        self.reader.find_faces(rows.data)

    def _put_in_trees(self, moving: memoryview, stills: RowArray) -> None:
        """Put moving bodies and misplaced still ones into their trees."""
        c, t = self.table, self._timeline
        self.lists.moving = self.lists.active = moving
        t.reset()
        t.bodies.begin_step(moving, 0.0)
        if len(stills):
            c.motion[stills] = 0.0
            t.bodies.place_still(stills.data)
            t.broadphase.place_still(stills.data)
        t.broadphase.place_moving(moving)

    # -- snapshots --

    def is_quiet(self, world: World) -> bool:
        """Return whether the last step knows all of the world but numbers of common components."""
        lists = self.lists
        if lists.newcomers or lists.switched_off or lists.put or lists.moves or lists.n_out:
            return False
        return self.index.is_current(world) and self.reader.is_quiet(self.rows.data)

    def is_as(self, world: World, rows: RowArray, saved: SavedColumns) -> bool:
        """Return whether the world has the same bodies in the same rows as when columns were saved.

        They also have the same components, and the same bodies are disabled.
        """
        return (
            self.index.is_current(world)
            and self.rows is rows
            and not self.lists.switched_off
            and self.table.has_same_exclusions(saved)
        )

    def put_back(self, saved: SavedColumns) -> list[int]:
        """Set the known values of bodies for which `is_as` is true; return still ones to place.

        Some components are written too.  The caller writes all of them and calls `place_again`.
        """
        c, rows = self.table, self.rows
        self.lists.forget_start()
        self.wake_all()
        misplaced: list[int] = c.bodies.find_misplaced(rows.data, saved.vectors[:2].data)
        c.put_back(saved)
        self.reader.forget(rows.data, True)
        return misplaced

    def place_again(self, misplaced: list[int]) -> None:
        """Place the bodies after `put_back`."""
        c, lists, rows = self.table, self.lists, self.rows
        moving = lists.movers
        if len(self.lists.attached):
            moving = rows[(c.moves[rows] != 0) & (c.quarantined[rows] == 0)].data
        self.reader.recognize(rows.data, True)
        self._put_in_trees(moving, np.array(misplaced, np.int64) if misplaced else NO_ROWS)
        self._forget_pending()
        if self.reader.any_fixed:
            lists.unread = rows[c.has[rows] & Has.FIXED != 0]
        lists.requested.clear()
        lists.moves = {}
        lists.is_reported = True
        self.reader.find_faces(rows.data)

    def recall(self, world: World, bodies: RowArray) -> None:
        """Set the bodies, by rising id; the caller sets the contacts afterwards.

        The next comparison removes bodies that the world lacks and adds the ones that are missing.
        """
        self.lists.forget_start()
        self.wake_all()
        for kind in EXEMPT:
            if world.having(kind):  # else its bodies would count as changed in the next step
                self.exempt_from_gravity(kind)
        self.compare(world)
        if self.index.replace(bodies):
            self._list_all()

    def resume(
        self,
        flags: NDArray[np.uint8],
        seen: list[NDArray[np.float64]],
        rest_count: NDArray[np.int8],
    ) -> None:
        """Set the known values of all bodies, as `SeenBodies.resume` does, and place them."""
        c, rows = self.table, self.rows
        out = flags & (SKIPPED | UNSEEN) != 0
        misplaced = (c.news[rows] & (News.NEW | News.UNPLACED) != 0) | (c.quarantined[rows] != 0)
        # A failed step may have found that bodies moved without placing them.
        misplaced |= c.touched[rows] != 0
        misplaced |= (c.seen_centre[rows] != seen[0]).any(axis=1)
        misplaced |= (c.seen_half[rows] != seen[1]).any(axis=1)
        self.seen.resume(rows, flags, seen, rest_count)
        self.index.new.clear()
        self.index.new.update(dict.fromkeys(rows[c.news[rows] & News.NEW != 0].tolist()))
        if (flags & CHANGED != 0).any():
            self.index.seen = None
        for row in rows[out].tolist():
            self._timeline.broadphase.remove(row)
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
        asleep = self.sleep.resume(self.rows, sleeping, may_wake)
        if self.sweeps:
            put = self.rows[may_wake["body"][may_wake["why"] & PUT != 0]]
            self.kinematic_targets.put.update(put.tolist())
        self._lay_down(asleep)
        return len(asleep)

    def _lay_down(self, asleep: RowArray) -> None:
        """Remove bodies that sleep again from the moving ones."""
        if len(asleep):
            self._part()
            self.moving = self.active = self.moving[self.table.moves[self.moving] != 0]
