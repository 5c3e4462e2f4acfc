"""Save the state that the next steps depend on as bytes, and restore it.

Components are only a part of it.  A step also depends on the numbers last read of each component,
as a `Position` that differs is a teleport.  It depends on contacts, on sleeping and quarantined
bodies, and on changes in the world that no step has read yet.  It does not depend on the rows of
bodies, on trees, on fat bounds or on any order, which are built again.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.arrays import are_among
from ecs_collide._kernel.constants import Exclusion, Has, News, Touched
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
from ecs_collide.snapshot.rounding import RoundedNumbers
from ecs_collide.snapshot.schema import (
    CONTACT_RECORD,
    MISMATCH_RECORD,
    PENDING_RECORD,
    RIDE_RECORD,
    Doubles,
    Longs,
    SnapshotData,
)
from ecs_collide.step.events_of_step import StepEvents, contact_order
from ecs_collide.step.handlers import Subscribers
from ecs_collide.step.pipeline import Pipeline
from ecs_collide.step.registrations import require_component_type
from ecs_collide.step.shared import SharedParts
from ecs_collide.step.stats import Stats
from ecs_collide.sync.quarantine import N_KEPT
from ecs_collide.sync.seen import (
    ALTERED,
    CHANGED,
    LEFT_OUT,
    MOVED,
    N_OF_STEPS,
    NO_ROWS,
    OFF,
    REPLACED,
    SEEN,
    TOUCHED,
    UNSEEN,
    none_of,
    saved_rests,
)

_USUAL = Components()
_NO_CONTENTS: dict[str, Any] = {
    "next_entity": 0, "kinds": (), "own": (), "plain": (), "ids": NO_ROWS, "others": NO_ROWS,
    "masks": np.zeros((0, 1), np.uint64), "numbers": [], "blobs": [], "tables": [],
}  # fmt: skip
_CONTACT_CODES = ("first", "second", "kind", "axis", "sign")  # the columns of a contact's row
_COUNTS = Stats._fields[:-3]  # without the ones computed on access
# Counts that depend on trees, which are built again.
_OF_COST = ("escapes", "reinsertions", "rebuilds", "pairs", "sweeps", "depth")
# The format has room for the other four of these, which it stores as 0.
_SAVED = tuple(name for name in _COUNTS if name not in ("reinsertions", "rebuilds"))


class _Before(NamedTuple):
    """The state of a world and a space before a restore."""

    world: World
    components: Before
    state: SnapshotData | None  # the space; None if it could not be read
    category_names: list[str]


class Snapshots:
    """Saves the whole state of a space as bytes, and restores it."""

    def __init__(
        self,
        shared: SharedParts,
        pipeline: Pipeline,
        schema: SnapshotSchema,
        subscribers: Subscribers,
    ) -> None:
        self._state = shared.state
        self._link = shared.link
        self._registry = shared.registry
        self._lock = shared.lock
        self._domain = shared.domain
        self._wrap = None if shared.domain is None else shared.domain.wrap
        self._pipeline = pipeline
        self._schema = schema
        self._subscribers = subscribers
        self._rounded = RoundedNumbers(self._registry.components, self._state.dim)
        # The state before the current restore, or before one that was interrupted.
        self._before: _Before | None = None
        self._decoded: tuple[bytes, SnapshotData] | None = None  # the last snapshot restored
        self.is_used = False  # whether the game has asked for a snapshot
        self._compared: WorldContents | None = None  # the contents at the last warning
        self._warned_of: set[type] = set()
        self._holder_rows: tuple[WorldContents, Longs, list[Longs]] | None = None

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

    # -- saving --

    def snapshot(self) -> bytes:
        """Return the state that the next steps depend on, as bytes."""
        with self._lock:
            return self._snapshot()

    def warn_of_not_held(self) -> None:
        """Warn once about each component type of entities that snapshots do not hold."""
        self.is_used = True
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

    def _snapshot(self) -> bytes:
        step, world = self._state, self._link.world
        world.require_current()
        if step.is_stepping or self._lock.is_changing:
            raise RuntimeError(
                "snapshot() was called within a step, or after one that was never finished: "
                "call it between steps, or in a handler of their events"
            )
        self._schema.require_all(self._registry.components)
        contents = self._schema.inspect(world)
        numbers = self._schema.read(contents)
        state = SnapshotData(
            **self._state_of_space(world),
            next_entity=world.next_entity(),
            kinds=KIND_NAMES,
            own=tuple(own.name for own in self._schema.types.own),
            plain=tuple(plain.name for plain in contents.plain),
            ids=contents.ids,
            masks=contents.saved_masks,
            others=contents.others,
            numbers=numbers,
            blobs=self._schema.save(contents),
            tables=self._schema.tables(contents),
            mismatches=none_of(MISMATCH_RECORD),
        )
        is_up_to_date = self._registry.index.is_up_to_date(world)
        if not is_up_to_date or not self._agrees_with_table(contents, numbers):
            state.mismatches = self._find_mismatches(state)
        return codec.encode(state)

    def _state_of_space(self, world: World) -> dict[str, Any]:
        """Return the fields of `SnapshotData` except for the contents of the world."""
        step = self._state
        c, rows = self._registry.table, self._registry.rows
        sleepers, stirred = self._registry.sleep.sleeping_rows(
            rows, self._registry.kinematic_targets.put
        )
        contacts, images = self._contact_rows()
        flags = self._flags(world)
        # The next step restarts the count of a body with other components.  A restored space has
        # already read those components.
        rests = (flags & (UNSEEN | CHANGED | REPLACED) == 0) & (c.quarantined[rows] == 0)
        rests &= c.has[rows] & Has.FIXED == 0
        return {
            "dim": step.dim,
            "step": step.step,
            "time": step.time,
            "rest_speed": self._pipeline.rest_speed,
            "pair_limit": self._pipeline.pair_limit,
            "gravity": (*step.gravity, 0.0, 0.0)[:3],
            "counts": self._results_in_numbers(),
            "reports": list(step.reports),
            "new_reports": step.new_reports,
            "n_reports": step.n_reports,
            "bodies": self._registry.entities,
            "flags": flags,
            "filters": self._registry.seen.filters(rows),
            "rest_count": np.where(rests, saved_rests(c.rest_count[rows], c.interrupted[rows]), 0),
            "sleepers": sleepers,
            "stirred": stirred,
            "contacts": contacts,
            "rides": self._ride_rows(),
            "category_names": tuple(CATEGORY_NAMES.names),
            "was_crowded": step.is_crowded,
            "altered": self._subscribers.altered(world),
            "wrap": self._wrap,
            "images": images,
            "rounded": self._rounded.rows(world),
            "pending": self._pending_events(),
            "collisions": step.events.collision_array,
            "contact_events": step.events.contact_array,
        }

    def _flags(self, world: World) -> NDArray[np.uint8]:
        """Return the changes to each body since the last step, as flags."""
        registry = self._registry
        c, rows = registry.table, registry.rows
        flags = np.zeros(len(rows), np.uint8)
        flags[c.quarantined[rows] != 0] |= LEFT_OUT
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

    def _results_in_numbers(self) -> tuple[int, ...]:
        """Return the numbers of the last step, 0 for its costs."""
        counts = dict(zip(_COUNTS, self._state.counts or [0] * len(_COUNTS), strict=True))
        return tuple(0 if name in _OF_COST else int(counts[name]) for name in _SAVED)

    def _agrees_with_table(self, contents: WorldContents, numbers: list[Doubles]) -> bool:
        """Return whether components still have the numbers last read of them, bit by bit."""
        if self._registry.components != _USUAL:  # custom ones may store other numbers
            return False
        registry, known = self._registry, self._holder_rows
        if known is None or known[0] is not contents or known[1] is not registry.rows:
            rows = [
                registry.index.rows_of(contents.holders(KIND_NAMES.index(kind)))
                for kind, _, _ in SEEN[:N_OF_STEPS]
            ]
            known = self._holder_rows = contents, registry.rows, rows
        return all(
            len(rows) == 0
            or self._schema.agrees(n, numbers[n], rows, getattr(registry.table.views, column))
            for (kind, column, _), rows in zip(SEEN, known[2], strict=False)
            for n in (KIND_NAMES.index(kind),)
        )

    def _find_mismatches(self, state: SnapshotData) -> NDArray[np.void]:
        """Return the numbers last read that components no longer have."""
        found = []
        for n, expected in enumerate(state.find_seen()):
            seen = getattr(self._registry.table, SEEN[n][1])[self._registry.rows]
            bodies, axes = np.nonzero(expected.view(np.int64) != seen.view(np.int64))
            mismatches = none_of(MISMATCH_RECORD, len(bodies))
            mismatches["column"], mismatches["axis"], mismatches["body"] = n, axes, bodies
            mismatches["value"] = seen[bodies, axes]
            found.append(mismatches)
        return np.concatenate(found)

    def _contact_rows(self) -> tuple[NDArray[np.void], Longs]:
        """Return the contacts, and in a world that wraps the image of each."""
        ids = self._registry.table.ids
        rows, since, image = map(np.asarray, self._state.timeline.contacts.rows.arrays())
        contacts, images = none_of(CONTACT_RECORD, len(rows)), np.zeros(0, np.int64)
        if len(rows):
            first, second, *codes = rows.T
            for name, column in zip(_CONTACT_CODES, (ids[first], ids[second], *codes), strict=True):
                contacts[name] = column
            contacts["since"] = since
            # Their present order depends on the trees.
            order = contact_order(rows, image, ids)
            contacts = contacts[order]
            if self._domain is not None:
                images = image[order]
        return contacts, images

    def _ride_rows(self) -> NDArray[np.void]:
        dim, timeline = self._state.dim, self._state.timeline
        ride = timeline.carriers.now
        if not ride.n:
            return none_of(RIDE_RECORD)
        rows = np.sort(np.asarray(ride.riders)[: ride.n])
        # A failed step has recorded that some were moved and lose their carrier.
        lost = are_among(rows, timeline.contacts.forgotten)
        rows = rows[(np.asarray(ride.carrier)[rows] >= 0) & ~lost]
        rides = none_of(RIDE_RECORD, len(rows))
        rides["entity"] = self._registry.table.ids[rows]
        rides["carrier_velocity"][:, :dim] = np.asarray(ride.carrier_velocity)[rows]
        rides["taken_off"][:, :dim] = np.asarray(ride.taken_off)[rows]
        return rides[np.argsort(rides["entity"])]

    def _pending_events(self) -> NDArray[np.void]:
        buffer = self._state.timeline.event_buffer
        n = buffer.n_contacts
        pending = none_of(PENDING_RECORD, n)
        if n:
            pending["first"], pending["second"] = np.asarray(buffer.contact_bodies)[:n].T
            pending["time"] = np.asarray(buffer.contact_time)[:n]
            pending["codes"] = np.asarray(buffer.contact_codes)[:n]
            if self._domain is not None:  # the order of their reports
                pending = pending[np.argsort(np.asarray(buffer.contact_images)[:n], kind="stable")]
        return pending

    # -- restoring --

    def restore(self, data: bytes) -> None:
        """Restore the state that `snapshot` saved, or change nothing."""
        with self._lock:
            try:
                self._restore(data)
            except BaseException:
                if self._before is not None:
                    with suppress(Exception):
                        self._lock.repair()
                raise

    def _restore(self, data: bytes) -> None:
        world = self._link.world
        world.require_current()
        if self._lock.is_changing:
            raise RuntimeError(
                "restore() was called in a response, in the middle of a step: "
                "call it between steps, or in a handler of their events"
            )
        state = self._decode(data)
        if state.wrap != self._wrap:
            raise ValueError(
                f"the snapshot is of a space with wrap={state.wrap!r} and this one has "
                f"wrap={self._wrap!r}: restore it into Space(wrap={state.wrap!r})"
            )
        if not self._registry.sweeps and state.seen[2][state.sleepers["body"]].any():
            raise ValueError("the snapshot contradicts itself: somebody moves in its sleep")
        world.require_known()
        loaded = self._schema.load(world, state)
        if self._state.before is not None:  # a step was never finished
            self._lock.is_changing = True
            self._lock.repair()
        before = self._save(world)
        self._lock.is_changing = True
        self._before = before
        CATEGORY_NAMES.adopt(state.category_names)
        self._schema.apply(world, state, loaded, before.components)
        self._rounded.resume(world, state.rounded)
        self._resume(world, state)
        self._before = None  # the restore is complete
        self._lock.is_changing = False

    def _decode(self, data: bytes) -> SnapshotData:
        """Return the state that bytes hold; a search restores the same ones again and again."""
        if self._decoded is None or self._decoded[0] is not data or type(data) is not bytes:
            self._decoded = None  # one state of a large world is enough
            self._decoded = data, codec.decode(data, self._state.dim, WIDTHS)
        return self._decoded[1]

    def _save(self, world: World) -> _Before:
        """Return the state from which `take_back` undoes a restore."""
        components = self._schema.save_state(world)
        state = None
        with suppress(Exception):  # raised by a component, which the restore may replace
            state = SnapshotData(
                **self._state_of_space(world), **_NO_CONTENTS, mismatches=none_of(MISMATCH_RECORD)
            )
            used = SEEN if self._registry.table.is_apart else SEEN[:N_OF_STEPS]
            rows = self._registry.rows
            columns = (getattr(self._registry.table, name) for _, name, _ in used)
            state.seen = [column.take(rows, axis=0) for column in columns]
        return _Before(world, components, state, list(CATEGORY_NAMES.names))

    def take_back(self) -> None:
        """Undo a restore that failed or was interrupted; if this is interrupted, call it again."""
        if self._before is None:
            return
        world, components, state, category_names = self._before
        world.require_current()
        CATEGORY_NAMES.names[:] = category_names
        self._schema.put_back(world, components)
        self._start_over()
        if state is not None:
            try:
                self._rounded.resume(world, state.rounded)
                self._resume(world, state)
            except MemoryError:
                raise
            except Exception:  # raised by a custom component; the next step reads all as new
                self._start_over()
        self._before = None

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
        first, second, *codes = (state.contacts[name] for name in _CONTACT_CODES)
        rows = registry.index.rows_of(first), registry.index.rows_of(second)
        timeline.contacts.recover(
            np.stack([*rows, *codes], axis=1).data,
            np.array(state.contacts["since"], np.float64).data,
            state.images.data,
        )
        timeline.carriers.recover(
            registry.index.rows_of(state.rides["entity"]).data,
            np.array(state.rides["carrier_velocity"][:, : step.dim], np.float64).data,
            np.array(state.rides["taken_off"][:, : step.dim], np.float64).data,
        )
        if self._domain is not None:
            timeline.event_buffer.image = 0  # pending events keep their order
        bodies = np.stack([state.pending["first"], state.pending["second"]], axis=1)
        timeline.event_buffer.recover(
            np.array(state.pending["time"], np.float64).data,
            bodies.data,
            np.array(state.pending["codes"], np.int8).data,
        )
        step.log = None
        step.known_events = StepEvents.of_arrays(state.collisions, state.contact_events)
        step.reports[:] = state.reports[-N_KEPT:]
        step.n_reports = state.n_reports
        saved = dict(zip(_SAVED, state.counts, strict=True))
        counts = [saved.get(name, 0) for name in _COUNTS]
        step.drop_step(state.step, state.time, counts, list(state.new_reports))
        self._pipeline.rest_speed = state.rest_speed
        self._pipeline.pair_limit = state.pair_limit
        step.is_crowded = state.was_crowded
        step.n_asleep = registry.resume_sleep(state.sleepers, state.stirred)
        known = {*zip(first.tolist(), second.tolist(), strict=True), *map(tuple, bodies.tolist())}
        altered = [each for each in state.altered if each[2:4] in known]  # the others never end
        self._subscribers.resume(world, altered)


def not_held_message(kind: type, entities: list[int]) -> str:
    """Return the warning about a component type that snapshots do not hold."""
    name, n_more = kind.__name__, len(entities) - 1
    more = f" and {n_more} more" if n_more else ""
    return (
        f"snapshots do not save {name}, a component of entity {entities[0]}{more}: "
        "make it a dataclass whose fields are int, float or bool, tell Space.snapshot_with how to "
        f"save it, or call space.snapshot_without({name}) if restore() need not bring it back"
    )
