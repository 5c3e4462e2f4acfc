"""Save the state that the next steps depend on as bytes, restore it, and hash it.

Components are only a part of it.  A step also depends on the numbers last read of each component,
as a `Position` that differs is a teleport.  It depends on contacts, on sleeping and quarantined
bodies, and on changes in the world that no step has read yet.  It does not depend on the rows of
bodies, on trees, on fat bounds or on any order, which are built again.
"""

from __future__ import annotations

import hashlib
import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.arrays import are_among
from ecs_collide._kernel.constants import Exclusion, News, Touched
from ecs_collide.components.attributes import ROUNDED
from ecs_collide.components.component_map import Components
from ecs_collide.components.filters import NAMES as CATEGORY_NAMES
from ecs_collide.esper_world import World
from ecs_collide.snapshot import codec
from ecs_collide.snapshot.capture import (
    KIND_NAMES,
    WIDTHS,
    Before,
    SnapshotSchema,
    WorldContents,
)
from ecs_collide.snapshot.own_types import Load, Own, Save, Update
from ecs_collide.snapshot.rounding import ROUNDED_NUMBER, RoundedNumbers
from ecs_collide.snapshot.saved_state import (
    CONTACT_CODES,
    SavedState,
    contacts_of,
    filters_of,
    flags_of,
    rests_of,
    seen_of,
)
from ecs_collide.snapshot.schema import (
    MISMATCH_RECORD,
    PENDING_RECORD,
    RIDE_RECORD,
    Longs,
    SnapshotData,
    find_seen,
)
from ecs_collide.step.events_of_step import StepEvents, no_events
from ecs_collide.step.handlers import Subscribers
from ecs_collide.step.pipeline import Pipeline
from ecs_collide.step.registrations import require_component_type
from ecs_collide.step.shared import SharedParts
from ecs_collide.step.stats import Stats
from ecs_collide.sync.quarantine import N_KEPT
from ecs_collide.sync.seen import (
    ALTERED,
    CHANGED,
    MOVED,
    N_OF_STEPS,
    NO_ROWS,
    OFF,
    REPLACED,
    SEEN,
    SKIPPED,
    TOUCHED,
    UNSEEN,
    none_of,
)

_USUAL = Components()
_COUNTS = Stats._fields[:-3]  # without the ones computed on access
# Counts that depend on trees, which are built again.
_OF_COST = ("escapes", "reinsertions", "rebuilds", "pairs", "sweeps", "depth")
# The format has room for the other four of these, which it stores as 0.
_SAVED = tuple(name for name in _COUNTS if name not in ("reinsertions", "rebuilds"))
# The place of each count in another form, -1 for one that is 0.
_WITHOUT_COST = [-1 if name in _OF_COST else n for n, name in enumerate(_COUNTS)]
_TO_SAVED = [-1 if name in _OF_COST else _COUNTS.index(name) for name in _SAVED]
_FROM_SAVED = [_SAVED.index(name) if name in _SAVED else -1 for name in _COUNTS]
_NO_CONTENTS: dict[str, Any] = {
    "next_entity": 0, "kinds": (), "own": (), "plain": (), "ids": NO_ROWS, "others": NO_ROWS,
    "masks": np.zeros((0, 1), np.uint64), "numbers": [], "blobs": [], "tables": [],
    "mismatches": none_of(MISMATCH_RECORD),
}  # fmt: skip
_NO_VECTORS = np.zeros((0, 3)).data
_NO_CONTACTS = np.zeros((0, 5), np.int64).data, np.zeros(0).data, NO_ROWS.data
_NONE_PENDING, _NO_RIDES, _NONE_ROUNDED = map(
    none_of, (PENDING_RECORD, RIDE_RECORD, ROUNDED_NUMBER)
)


class _Target(NamedTuple):
    """The state of a world and a space that `take_back` sets: before a restore, or after it."""

    world: World
    components: Before
    state: SavedState | None  # None if it could not be read
    category_names: list[str]
    is_begun: bool = True  # whether the restore may have changed the space, not only components


class Snapshots:
    """Saves the whole state of a space as bytes, restores it, and hashes it."""

    def __init__(
        self,
        shared: SharedParts,
        pipeline: Pipeline,
        subscribers: Subscribers,
    ) -> None:
        self._state = shared.state
        self._link = shared.link
        self._registry = shared.registry
        self._lock = shared.lock
        self._wrap = shared.domain.wrap
        self._is_usual = shared.registry.components == _USUAL
        self._pipeline = pipeline
        self._schema = SnapshotSchema()
        self._subscribers = subscribers
        self._rounded = RoundedNumbers(self._registry.components, self._state.dim)
        # How the current restore ends if it is interrupted, or one that was.
        self._target: _Target | None = None
        self._decoded: tuple[object, SnapshotData] | None = None  # the last snapshot restored
        self.is_used = False  # whether the game has asked for a snapshot
        self._compared: WorldContents | None = None  # the contents at the last warning
        self._warned_of: set[type] = set()
        self._holder_rows: tuple[WorldContents, Longs, list[Longs]] | None = None
        self._n_rows: tuple[Longs, int] = NO_ROWS, 0  # rows, and how many the columns need

    def snapshot_with(
        self,
        component: type,
        functions: tuple[Save | None, Load | None, Update | None],
        name: str | None,
        hashed: bool,
    ) -> None:
        """Add custom components of a type to snapshots."""
        require_component_type("component", component)
        save, load, update = functions
        name = component.__name__ if name is None else name
        if save is None and load is None and update is None:
            self._schema.types.add_plain(component, name)
            return
        for what, function in (("save", save), ("load", load), ("update", update)):
            if not callable(function) and not (what == "update" and function is None):
                raise TypeError(f"snapshot_with({what}={function!r}) must be a function")
        if save is not None and load is not None:
            self._schema.types.add(Own(name, component, save, load, update, hashed))

    def snapshot_without(self, component: type) -> None:
        """Exclude custom components of a type from snapshots."""
        require_component_type("component", component)
        self._schema.types.skip(component)

    def state_hash(self) -> bytes:
        """Return a hash of the state after the last step, 16 bytes."""
        rows, c = self._registry.rows, self._registry.table
        digest = hashlib.blake2b(digest_size=16)
        n_events = [len(self._state.events.collision_array), len(self._state.events.contact_array)]
        digest.update(np.array([self._state.dim, len(rows), *n_events], "<i8").data)
        for column in (c.ids, c.seen_centre, c.seen_half, c.seen_velocity):
            _add(digest, column[rows])
        for array in (self._state.events.collision_array, self._state.events.contact_array):
            for name in array.dtype.names or ():
                _add(digest, array[name])
        if self._link.attached is not None:
            self._link.attached.require_current()
            for piece in self._schema.hashed(self._link.attached):
                digest.update(piece)
        return digest.digest()

    # -- saving --

    def snapshot(self) -> bytes:
        """Return the state that the next steps depend on, as bytes."""
        with self._lock:
            saved = self._save("snapshot")
            if self._is_usual and saved.is_plain and self._agrees_with_table(saved):
                saved.mismatches = none_of(MISMATCH_RECORD)
            return self.encode(saved)

    def save_state(self) -> SavedState:
        """Return the state that the next steps depend on, in memory."""
        with self._lock:
            return self._save("save_state")

    def warn_of_not_held(self, contents: WorldContents | None = None) -> None:
        """Warn once about each component type of entities that snapshots do not hold.

        `contents` are those of the world, if they are known.
        """
        self.is_used = True
        if contents is None:
            contents = self._schema.inspect(self._link.world)
        if self._compared is contents:  # no entity and no component was added since
            return
        self._compared = contents
        for kind, entities in self.not_held().items():
            if kind not in self._warned_of:
                self._warned_of.add(kind)
                warnings.warn(not_held_message(kind, entities), UserWarning, stacklevel=3)

    def not_held(self) -> dict[type, list[int]]:
        """Return the entities with components that snapshots do not hold, by type."""
        world = self._link.world
        filled = self._schema.filled_marks(world)
        kinds, dead = self._schema.not_held(world), world.dead()
        if not kinds:
            return filled
        there = world.entities(kinds).items()
        holders = {
            kind: sorted(entity for entity, its in there if kind in its and entity not in dead)
            for kind in kinds
        }
        return filled | {kind: entities for kind, entities in holders.items() if entities}

    def _save(self, caller: str) -> SavedState:
        world = self._link.world
        world.require_current()
        if self._state.is_stepping or self._lock.is_changing:
            raise RuntimeError(
                f"{caller}() was called within a step, or after one that was never finished: "
                "call it between steps, or in a handler of their events"
            )
        if not self._is_usual:
            self._schema.require_all(self._registry.components)
        if self._state.was_cleared(world.generation()):
            self._registry.forget_cleared()
            self._state.generation = world.generation()
        saved = self._state_of_space(world)
        self._add_numbers(saved, world)
        saved.blobs = self._schema.save(saved.contents)
        saved.tables = self._schema.tables(saved.contents)
        return saved

    def _add_numbers(self, saved: SavedState, world: World) -> None:
        """Add the components of the library to a saved state."""
        saved.contents = self._schema.inspect(world)
        saved.next_entity = world.next_entity()
        saved.numbers = self._schema.read(saved.contents)

    def _state_of_space(self, world: World) -> SavedState:
        """Return the state except for the contents of the world."""
        step, registry, saved = self._state, self._registry, SavedState()
        lists, timeline = registry.lists, step.timeline
        rows = lists.rows
        saved.owner = self
        saved.step, saved.time = step.step, step.time
        saved.rest_speed, saved.pair_limit = self._pipeline.rest_speed, self._pipeline.pair_limit
        saved.gravity, saved.up = step.gravity, (registry.up, registry.up_is_given)
        saved.counts = step.counts or [0] * len(_COUNTS)
        saved.reports, saved.new_reports = tuple(step.reports), step.new_reports
        saved.n_reports, saved.was_crowded = step.n_reports, step.is_crowded
        saved.category_names = tuple(CATEGORY_NAMES.names)
        saved.altered = self._subscribers.altered(world)
        saved.events = step.events.copy() if step.log is not None else step.known_events
        if self._n_rows[0] is not rows:
            self._n_rows = rows, int(rows.max(initial=-1)) + 1
        saved.entities, saved.rows = lists.entities, rows
        saved.columns = registry.seen.save(self._n_rows[1])
        is_quiet = registry.is_quiet(world)
        saved.flags = None if is_quiet else self._flags(world)
        saved.filters = registry.seen.filters(self._n_rows[1])
        saved.mismatches = None
        saved.sleepers, saved.may_wake = registry.sleep.sleeping_rows(rows, lists.put)
        contacts = timeline.contacts.rows
        saved.contacts = contacts.arrays() if contacts.n else None
        saved.rides = self._ride_rows() if timeline.carriers.now.n else _NO_RIDES
        n_pending = timeline.event_buffer.n_contacts
        saved.pending = self._pending_events(n_pending) if n_pending else _NONE_PENDING
        saved.rounded = self._rounded.rows(world) if ROUNDED else _NONE_ROUNDED
        saved.is_plain = is_quiet and not len(saved.pending) and not ROUNDED
        return saved

    def encode(self, saved: SavedState) -> bytes:
        """Return a saved state as bytes."""
        if saved.mismatches is None:
            saved.mismatches = self._find_mismatches(saved)
        return codec.encode(self._describe(saved, saved.mismatches))

    def _describe(self, saved: SavedState, mismatches: NDArray[np.void]) -> SnapshotData:
        """Return a saved state in the form of a snapshot."""
        contents = saved.contents
        return SnapshotData(
            **self._describe_space(saved),
            next_entity=saved.next_entity,
            kinds=KIND_NAMES,
            own=tuple(own.name for own in contents.own),
            plain=tuple(plain.name for plain in contents.plain),
            ids=contents.ids,
            masks=contents.saved_masks,
            others=contents.others,
            numbers=contents.split(saved.numbers),
            blobs=saved.blobs,
            tables=saved.tables,
            mismatches=mismatches,
        )

    def _describe_space(self, saved: SavedState) -> dict[str, Any]:
        """Return the fields of `SnapshotData` except for the contents of the world."""
        dim, flags = self._state.dim, flags_of(saved)
        contacts, images = contacts_of(saved)
        events = saved.events or no_events(dim)
        return {
            "dim": dim,
            "step": saved.step,
            "time": saved.time,
            "rest_speed": saved.rest_speed,
            "pair_limit": saved.pair_limit,
            "gravity": (*saved.gravity, 0.0, 0.0)[:3],
            "up": _code_of_up(*saved.up),
            "counts": tuple(map([*saved.counts, 0].__getitem__, _TO_SAVED)),
            "reports": list(saved.reports),
            "new_reports": saved.new_reports,
            "n_reports": saved.n_reports,
            "bodies": saved.entities,
            "flags": flags,
            "filters": filters_of(saved),
            "rest_count": rests_of(saved, flags),
            "sleepers": saved.sleepers,
            "may_wake": saved.may_wake,
            "contacts": contacts,
            "rides": saved.rides,
            "category_names": saved.category_names,
            "was_crowded": saved.was_crowded,
            "altered": saved.altered,
            "wrap": self._wrap,
            "images": images,
            "rounded": saved.rounded,
            "pending": saved.pending,
            "collisions": events.collision_array,
            "contact_events": events.contact_array,
        }

    def _flags(self, world: World) -> NDArray[np.uint8]:
        """Return the changes to each body since the last step, as flags."""
        registry = self._registry
        c, rows = registry.table, registry.rows
        flags = np.zeros(len(rows), np.uint8)
        flags[c.quarantined[rows] != 0] |= SKIPPED
        flags[c.quarantined[rows] == Exclusion.DISABLED] |= OFF
        flags[c.touched[rows] & Touched.BY_GAME != 0] |= TOUCHED
        flags[c.news[rows] & News.NEW != 0] |= UNSEEN
        moved = registry.moved_rows(world)
        if moved:
            flags[are_among(rows, moved)] |= MOVED
        changed, replaced = registry.index.find_changed(world)
        for entities, flag in ((changed, CHANGED), (replaced, REPLACED)):
            if entities:
                flags[np.searchsorted(registry.entities, np.array(entities, np.int64))] |= flag
        altered = registry.seen.altered(rows)
        if len(altered):
            # A disabled body is read again when it is switched on.
            is_known = flags & (UNSEEN | CHANGED | REPLACED | OFF) == 0
            flags[are_among(rows, altered) & is_known] |= ALTERED
        return flags

    def _agrees_with_table(self, saved: SavedState) -> bool:
        """Return whether components still have the numbers last read of them, bit by bit."""
        registry, known, contents = self._registry, self._holder_rows, saved.contents
        if known is None or known[0] is not contents or known[1] is not registry.rows:
            rows = [
                registry.index.rows_of(contents.holders(KIND_NAMES.index(kind)))
                for kind, _, _ in SEEN[:N_OF_STEPS]
            ]
            known = self._holder_rows = contents, registry.rows, rows
        numbers = contents.split(saved.numbers)
        return all(
            len(rows) == 0
            or self._schema.agrees(n, numbers[n], rows, getattr(registry.table.views, column))
            for (kind, column, _), rows in zip(SEEN, known[2], strict=False)
            for n in (KIND_NAMES.index(kind),)
        )

    def _find_mismatches(self, saved: SavedState) -> NDArray[np.void]:
        """Return the numbers last read that components no longer have."""
        contents, found = saved.contents, []
        expected_columns = find_seen(
            self._state.dim, KIND_NAMES, contents.split(saved.numbers), contents.holders,
            saved.entities,
        )  # fmt: skip
        for n, (expected, seen) in enumerate(zip(expected_columns, seen_of(saved), strict=True)):
            bodies, axes = np.nonzero(expected.view(np.int64) != seen.view(np.int64))
            mismatches = none_of(MISMATCH_RECORD, len(bodies))
            mismatches["column"], mismatches["axis"], mismatches["body"] = n, axes, bodies
            mismatches["value"] = seen[bodies, axes]
            found.append(mismatches)
        return np.concatenate(found)

    def _ride_rows(self) -> NDArray[np.void]:
        dim, timeline = self._state.dim, self._state.timeline
        ride = timeline.carriers.now
        rows = np.sort(np.asarray(ride.riders)[: ride.n])
        # A failed step has recorded that some were moved and lose their carrier.
        lost = are_among(rows, timeline.contacts.forgotten)
        rows = rows[(np.asarray(ride.carrier)[rows] >= 0) & ~lost]
        rides = none_of(RIDE_RECORD, len(rows))
        rides["entity"] = self._registry.table.ids[rows]
        rides["carrier_velocity"][:, :dim] = np.asarray(ride.carrier_velocity)[rows]
        rides["subtracted"][:, :dim] = np.asarray(ride.subtracted)[rows]
        return rides[np.argsort(rides["entity"])]

    def _pending_events(self, n: int) -> NDArray[np.void]:
        buffer, pending = self._state.timeline.event_buffer, none_of(PENDING_RECORD, n)
        pending["first"], pending["second"] = np.asarray(buffer.contact_bodies)[:n].T
        pending["time"] = np.asarray(buffer.contact_time)[:n]
        pending["normal"][:, : self._state.dim] = np.asarray(buffer.contact_normals)[:n]
        pending["codes"] = np.asarray(buffer.contact_codes)[:n]
        if self._wrap is not None:  # the order of their reports
            pending = pending[np.argsort(np.asarray(buffer.contact_images)[:n], kind="stable")]
        return pending

    # -- restoring --

    def restore(self, data: object) -> None:
        """Restore the state that `snapshot` or `save_state` returned, or change nothing."""
        with self._lock:
            try:
                self._restore(data)
            except BaseException:
                if self._target is not None:
                    with suppress(Exception):
                        self._lock.repair()
                raise

    def _restore(self, data: object) -> None:
        world = self._link.world
        world.require_current()
        if self._lock.is_changing:
            raise RuntimeError(
                "restore() was called in a response, in the middle of a step: "
                "call it between steps, or in a handler of their events"
            )
        if isinstance(data, SavedState):
            if data.owner is not self:
                raise ValueError(
                    f"restore({data!r}) got the state of another space: give it to the space whose "
                    "save_state() returned it, or restore(bytes(state)) into this one"
                )
            if self._restore_numbers(world, data):
                return
        state = self._decode(data)
        world.require_known()
        loaded = self._schema.load(world, state)
        if self._state.before is not None:  # a step was never finished
            self._lock.is_changing = True
            self._lock.repair()
        components, space = self._schema.save_state(world), None
        with suppress(Exception):  # raised by a component, which the restore may replace
            space = self._state_of_space(world)
        self._lock.is_changing = True
        before = self._target = _Target(world, components, space, list(CATEGORY_NAMES.names))
        CATEGORY_NAMES.adopt(state.category_names)
        self._schema.apply(world, state, loaded, before.components)
        self._rounded.resume(world, state.rounded)
        self._resume(world, state)
        self._target = None  # the restore is complete
        self._lock.is_changing = False

    def _restore_numbers(self, world: World, saved: SavedState) -> bool:
        """Restore a state from which only numbers differ; return False, unchanged, if more does."""
        registry, step, timeline = self._registry, self._state, self._state.timeline
        if (
            not saved.is_plain
            or step.before is not None
            or self._schema.inspect(world) is not saved.contents
            or not registry.is_as(world, saved.rows, saved.columns)
        ):
            return False
        contents = saved.contents
        try:
            changes = self._schema.changes_in_place(contents, saved.blobs, saved.tables)
            there = None if contents.is_exact else self._schema.read(contents)
        except Exception:  # raised by a component
            return False
        if changes is None:
            return False
        CATEGORY_NAMES.adopt(saved.category_names)
        names, next_entity = list(CATEGORY_NAMES.names), world.next_entity()
        self._lock.is_changing = True
        if changes or there is not None:  # code of the game may raise; then nothing has changed
            before = Before(next_entity, () if there is None else contents.split(there))
            self._target = _Target(world, before, None, names, is_begun=False)
            if there is not None:
                self._schema.put(saved.numbers)
            self._schema.update(changes, before)
        # Nothing can fail from here on, so an interrupted restore is completed.
        self._target = _Target(world, Before(saved.next_entity, ()), saved, names)
        if next_entity != saved.next_entity:
            self._schema.begin_entities(world, contents, saved.next_entity)
        if step.gravity != saved.gravity:
            self._pipeline.set_gravity(saved.gravity)
        registry.set_up(*saved.up)
        misplaced = registry.put_back(saved.columns)
        self._schema.put(saved.numbers)
        registry.place_again(misplaced)
        timeline.contacts.recover(*(saved.contacts or _NO_CONTACTS))
        self._recover_rides(saved.rides)
        timeline.event_buffer.clear()
        counts = [*map([*saved.counts, 0].__getitem__, _WITHOUT_COST)]
        self._resume_step(saved, saved.events, counts)
        if len(saved.sleepers) or len(saved.may_wake):
            step.n_asleep = registry.resume_sleep(saved.sleepers, saved.may_wake)
        self._subscribers.resume(world, saved.altered)
        self._target = None  # the restore is complete
        self._lock.is_changing = False
        return True

    def _decode(self, data: object) -> SnapshotData:
        """Return the state that bytes hold; a search restores the same ones again and again."""
        known = self._decoded
        if known is None or known[0] is not data or type(data) not in (bytes, SavedState):
            self._decoded = None  # one state of a large world is enough
            if isinstance(data, SavedState):
                state = self._describe(data, none_of(MISMATCH_RECORD))
                state.seen = seen_of(data)
            else:
                state = codec.decode(data, self._state.dim, WIDTHS)
                self._require_fitting(state)
            self._decoded = known = data, state
        return known[1]

    def _require_fitting(self, state: SnapshotData) -> None:
        """Raise ValueError for the state of a space with other settings."""
        if state.wrap != self._wrap:
            raise ValueError(
                f"the snapshot is of a space with wrap={state.wrap!r} and this one has "
                f"wrap={self._wrap!r}: restore it into Space(wrap={state.wrap!r})"
            )
        if not self._registry.sweeps and state.seen[2][state.sleepers["body"]].any():
            raise ValueError("the snapshot contradicts itself: somebody moves in its sleep")

    def take_back(self) -> None:
        """Undo or complete an interrupted restore; if this is interrupted, call it again."""
        if self._target is None:
            return
        world, components, saved, category_names, is_begun = self._target
        world.require_current()
        CATEGORY_NAMES.names[:] = category_names
        state = None
        if saved is not None:
            state = SnapshotData(**self._describe_space(saved), **_NO_CONTENTS)
            state.seen = seen_of(saved)
            if not components.numbers:
                components.numbers = saved.contents.split(saved.numbers)
        self._schema.put_back(world, components)
        if is_begun:
            self._start_over()
        if state is not None:
            try:
                self._rounded.resume(world, state.rounded)
                self._resume(world, state)
            except MemoryError:
                raise
            except Exception:  # raised by a custom component; the next step reads all as new
                self._start_over()
        self._target = None

    def _start_over(self) -> None:
        """Forget all bodies, so that the next step reads each of them as new."""
        timeline = self._state.new_timeline()
        self._registry.start_over(timeline)
        self._pipeline.use(timeline)

    def _resume(self, world: World, state: SnapshotData) -> None:
        """Restore a state whose entities and components the world already has."""
        step, registry = self._state, self._registry
        timeline = step.timeline
        self._pipeline.set_gravity(state.gravity[: step.dim])  # first, as it wakes all bodies
        registry.set_up(*_up_of_code(state.up, step.dim))
        registry.recall(world, state.bodies)
        registry.resume(state.flags, state.seen, state.rest_count)
        position = registry.makers[0].type
        for entity in state.bodies[state.flags & MOVED != 0].tolist():
            place = world.component(entity, position)
            if place is None:  # not a body, so the flag has no meaning
                continue
            try:
                registry.note_move(registry.row_of[entity], place)
            except (TypeError, ValueError, AttributeError, OverflowError) as error:
                raise ValueError(
                    f"the snapshot contradicts itself: entity {entity} was moved by Space.move, "
                    f"and its {position.__name__} has no numbers"
                ) from error
        registry.seen.resume_filters(registry.rows, state.filters)
        first, second, *codes = (state.contacts[name] for name in CONTACT_CODES)
        rows = registry.index.rows_of(first), registry.index.rows_of(second)
        timeline.contacts.recover(
            np.stack([*rows, *codes], axis=1).data,
            np.array(state.contacts["since"], np.float64).data,
            state.images.data,
        )
        self._recover_rides(state.rides)
        timeline.event_buffer.image = 0  # pending events keep their order
        bodies = np.stack([state.pending["first"], state.pending["second"]], axis=1)
        timeline.event_buffer.recover(
            np.array(state.pending["time"], np.float64).data,
            bodies.data,
            np.array(state.pending["codes"], np.int8).data,
            np.array(state.pending["normal"][:, : state.dim], np.float64).data,
        )
        events = StepEvents.of_arrays(state.collisions, state.contact_events)
        counts = [*map([*state.counts, 0].__getitem__, _FROM_SAVED)]
        self._resume_step(state, events, counts)
        step.n_asleep = registry.resume_sleep(state.sleepers, state.may_wake)
        known = {*zip(first.tolist(), second.tolist(), strict=True), *map(tuple, bodies.tolist())}
        altered = [each for each in state.altered if each[2:4] in known]  # the others never end
        self._subscribers.resume(world, altered)

    def _recover_rides(self, rides: NDArray[np.void]) -> None:
        dim, carriers = self._state.dim, self._state.timeline.carriers
        if not len(rides):
            carriers.recover(NO_ROWS.data, _NO_VECTORS, _NO_VECTORS)
            return
        carriers.recover(
            self._registry.index.rows_of(rides["entity"]).data,
            np.array(rides["carrier_velocity"][:, :dim], np.float64).data,
            np.array(rides["subtracted"][:, :dim], np.float64).data,
        )

    def _resume_step(
        self, state: SnapshotData | SavedState, events: StepEvents | None, counts: list[Any]
    ) -> None:
        """Restore the results of the last step, and the settings."""
        step = self._state
        step.log = None
        step.known_events = events
        step.reports = [*state.reports[-N_KEPT:]]
        step.n_reports = state.n_reports
        step.drop_step(state.step, state.time, counts, [*state.new_reports])
        self._pipeline.rest_speed = state.rest_speed
        self._pipeline.pair_limit = state.pair_limit
        step.is_crowded = state.was_crowded


def not_held_message(kind: type, entities: list[int]) -> str:
    """Return the warning about a component type that snapshots do not hold."""
    name, n_more = kind.__name__, len(entities) - 1
    more = f" and {n_more} more" if n_more else ""
    return (
        f"snapshots do not save {name}, a component of entity {entities[0]}{more}: "
        "make it a dataclass whose fields are int, float or bool, tell Space.snapshot_with how to "
        f"save it, or call space.snapshot_without({name}) if restore() need not bring it back"
    )


def _code_of_up(up: tuple[float, ...], is_given: bool) -> int:
    """Return `SnapshotData.up`."""
    side = sum((k + 1) * int(part) for k, part in enumerate(up))
    return 10 * side if is_given else side


def _up_of_code(code: int, dim: int) -> tuple[tuple[float, ...], bool]:
    """Return the direction up and whether the game has given it, from `SnapshotData.up`."""
    is_given = abs(code) >= 10
    side = code // 10 if is_given else code
    return tuple(
        float((abs(side) == k + 1) * (1 if side > 0 else -1)) + 0.0 for k in range(dim)
    ), is_given


def _add(digest: hashlib.blake2b, numbers: NDArray[np.generic]) -> None:
    """Add numbers to a hash, the least significant byte of each first."""
    array = np.array(numbers, numbers.dtype.newbyteorder("<"), order="C")
    if array.dtype.kind == "f" and np.isnan(array.sum()):  # platforms have different NaNs
        array[np.isnan(array)] = np.nan
    if array.size:
        digest.update(array.view(np.uint8).data)
