"""Saving all that the steps to come depend on as bytes, and taking it up again.

What components say is only a part of it.  A step also depends on what was
seen last of each component (a `Position` that says something else is a
teleport), on who lies against whom, on who sleeps, on who is quarantined, and on what has
happened in the world since the last step and no step has looked at yet.  It
does not depend on the rows in which bodies stand, on trees and fat bounds, nor
on the order of anything: these are made anew.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from ecs_collide._categories import NAMES as CATEGORY_NAMES
from ecs_collide.component_map import Components
from ecs_collide.constants import FIXED, NEW, SWITCHED_OFF, TOUCHED_BY_GAME
from ecs_collide.esper_world import World
from ecs_collide.motion.wrapping import Ring
from ecs_collide.snapshot import codec
from ecs_collide.snapshot.capture import (
    NAMES,
    WIDTHS,
    Inventory,
    Load,
    Loaded,
    Own,
    Save,
    Survey,
    Update,
)
from ecs_collide.snapshot.schema import (
    CONTACT,
    PENDING,
    RIDE,
    STRAY,
    Doubles,
    Longs,
    State,
)
from ecs_collide.step.events_of_step import StepEvents, contact_order
from ecs_collide.step.handlers import require_component_type
from ecs_collide.step.lock import Guard
from ecs_collide.step.lookup import WorldLink
from ecs_collide.step.pipeline import Pipeline
from ecs_collide.step.state import StepState
from ecs_collide.step.stats import Stats
from ecs_collide.sync.quarantine import N_KEPT
from ecs_collide.sync.registry import Roster
from ecs_collide.sync.seen import (
    ALTERED,
    CHANGED,
    LEFT_OUT,
    MOVED,
    N_OF_STEPS,
    OFF,
    REPLACED,
    SEEN,
    TOUCHED,
    UNSEEN,
    none_of,
)

_USUAL = Components()
_COUNTS = Stats._fields[:-3]  # without those that are made when asked for
# They come from trees, which are made anew.
_OF_COST = ("escapes", "reinsertions", "rebuilds", "pairs", "sweeps", "depth")
# The format has room for the other four of these, which it stores as 0.
_SAVED = tuple(name for name in _COUNTS if name not in ("reinsertions", "rebuilds"))


class Snapshots:
    """Saves the whole state of a space as bytes, and restores it."""

    def __init__(
        self,
        state: StepState,
        link: WorldLink,
        roster: Roster,
        lock: Guard,
        pipeline: Pipeline,
        ring: Ring | None,
    ) -> None:
        self._state = state
        self._link = link
        self._roster = roster
        self._guard = lock
        self._pipeline = pipeline
        self._ring = ring
        self._inventory = Inventory()
        self._restoring: tuple[World, State, Loaded] | None = None  # where that was cut short
        self._holder_rows: tuple[Survey, Longs, list[Longs]] | None = None

    def snapshot_with(
        self,
        component: type,
        save: Save,
        load: Load,
        update: Update | None = None,
        *,
        name: str | None = None,
    ) -> None:
        """Let snapshots hold the game's own components of a type too."""
        require_component_type("component", component)
        for what, function in (("save", save), ("load", load), ("update", update)):
            if not callable(function) and not (what == "update" and function is None):
                raise TypeError(f"snapshot_with({what}={function!r}) must be a function")
        name = component.__name__ if name is None else name
        self._inventory.add(Own(name, component, save, load, update))

    # -- saving --

    def snapshot(self) -> bytes:
        """Return all that the steps to come depend on, as bytes."""
        with self._guard:
            return self._snapshot()

    def _snapshot(self) -> bytes:
        step, world = self._state, self._link.world
        world.require_current()
        if step.is_stepping or self._guard.is_changing:
            raise RuntimeError(
                "snapshot() was called within a step, or after one that was never finished: "
                "call it between steps, or in a handler of their events"
            )
        self._inventory.require_all(self._roster.components)
        survey = self._inventory.survey(world)
        c, rows = self._roster.columns, self._roster.rows
        numbers = self._inventory.take(survey)
        left_out = LEFT_OUT * (c.quarantined[rows] != 0) + OFF * (
            c.quarantined[rows] == SWITCHED_OFF
        )
        touched = TOUCHED * (c.touched[rows] & TOUCHED_BY_GAME != 0)
        flags = (left_out + touched).astype(np.uint8)
        flags[c.news[rows] & NEW != 0] |= UNSEEN
        flags[np.isin(rows, self._roster.moved_rows())] |= MOVED
        sleepers, stirred = self._roster.sleep.kept(rows)
        rests = (c.quarantined[rows] == 0) & (c.has[rows] & FIXED == 0)  # it may
        state = State(
            dim=step.dim,
            step=step.step,
            time=step.time,
            next_entity=world.next_entity(),
            rest_speed=self._pipeline.rest_speed,
            pair_limit=self._pipeline.pair_limit,
            gravity=(*step.gravity, 0.0, 0.0)[:3],
            counts=self._results_in_numbers(),
            kinds=NAMES,
            own=tuple(own.name for own in self._inventory.own),
            reports=step.reports,
            new_reports=step.new_reports,
            n_reports=step.n_reports,
            ids=survey.ids,
            masks=survey.masks,
            others=survey.others,
            numbers=numbers,
            blobs=self._inventory.save(survey),
            bodies=self._roster.entities,
            flags=flags,
            strays=none_of(STRAY),
            filters=self._roster.seen_filters(),
            calm=np.where(rests, c.calm[rows], 0).astype(np.int8),
            sleepers=sleepers,
            stirred=stirred,
            contacts=self._kept_contacts(),
            rides=self._kept_rides(),
            category_names=tuple(CATEGORY_NAMES.names),
            wrap=None if self._ring is None else self._ring.wrap,
            images=self._kept_images(),
            pending=self._pending_events(),
            collisions=step.events.collision_array,
            contact_events=step.events.contact_array,
        )
        changed, replaced = self._roster.differences(world)
        for entities, flag in ((changed, CHANGED), (replaced, REPLACED)):
            flags[np.searchsorted(state.bodies, np.array(entities, np.int64))] |= flag
        altered = np.isin(rows, self._roster.altered_rows())
        flags[altered & (flags & (UNSEEN | CHANGED | REPLACED) == 0)] |= ALTERED
        if not self._roster.is_up_to_date(world) or not self._sees_all(survey, numbers):
            state.strays = self._find_strays(state)
        return codec.encode(state)

    def _results_in_numbers(self) -> tuple[int, ...]:
        """Return the numbers of the last step, 0 for those that tell what it cost."""
        counts = dict(zip(_COUNTS, self._state.counts or [0] * len(_COUNTS), strict=True))
        return tuple(0 if name in _OF_COST else int(counts[name]) for name in _SAVED)

    def _sees_all(self, survey: Survey, numbers: list[Doubles]) -> bool:
        """Tell whether components say, bit by bit, what was seen of them last."""
        if self._roster.components != _USUAL:  # the game's own may say it in other numbers
            return False
        roster, known = self._roster, self._holder_rows
        if known is None or known[0] is not survey or known[1] is not roster.rows:
            rows = [
                roster.rows_of(survey.holders(NAMES.index(kind)))
                for kind, _, _ in SEEN[:N_OF_STEPS]
            ]
            known = self._holder_rows = survey, roster.rows, rows
        return all(
            len(rows) == 0
            or self._inventory.agrees(n, numbers[n], rows, getattr(roster.views, column))
            for (kind, column, _), rows in zip(SEEN, known[2], strict=False)
            for n in (NAMES.index(kind),)
        )

    def _find_strays(self, state: State) -> NDArray[np.void]:
        """Return what was seen last and is not what components say."""
        found = []
        for n, expected in enumerate(state.find_seen()):
            seen = getattr(self._roster.columns, SEEN[n][1])[self._roster.rows]
            bodies, axes = np.nonzero(expected.view(np.int64) != seen.view(np.int64))
            strays = none_of(STRAY, len(bodies))
            strays["column"], strays["axis"], strays["body"] = n, axes, bodies
            strays["value"] = seen[bodies, axes]
            found.append(strays)
        return np.concatenate(found)

    def _kept_contacts(self) -> NDArray[np.void]:
        kept = self._state.timeline.contacts
        rows = np.asarray(kept.rows)[: kept.n]
        ids = self._roster.columns.ids
        contacts = none_of(CONTACT, len(rows))
        if len(rows):
            contacts["first"], contacts["second"] = ids[rows[:, 0]], ids[rows[:, 1]]
            for n, name in enumerate(("kind", "axis", "sign")):
                contacts[name] = rows[:, 2 + n]
            contacts["since"] = np.asarray(kept.since)[: kept.n]
            # The order in which they are kept comes from the trees, and says nothing.
            contacts = contacts[contact_order(kept, ids, self._ring is not None)]
        return contacts

    def _kept_rides(self) -> NDArray[np.void]:
        dim, timeline = self._state.dim, self._state.timeline
        ride = timeline.carrying.now
        rows = np.sort(np.asarray(ride.riders)[: ride.n])
        # A step that failed knows of some that they were moved, and lose their carrier by that.
        lost = np.isin(rows, timeline.contacts.forgotten)
        rows = rows[(np.asarray(ride.carrier)[rows] != 0) & ~lost]
        rides = none_of(RIDE, len(rows))
        rides["entity"] = self._roster.columns.ids[rows]
        rides["drift"][:, :dim] = np.asarray(ride.drift)[rows]
        rides["taken_off"][:, :dim] = np.asarray(ride.taken_off)[rows]
        return rides[np.argsort(rides["entity"])]

    def _kept_images(self) -> Longs:
        """Return the images of the contacts, in their order."""
        if self._ring is None:
            return np.zeros(0, np.int64)
        kept = self._state.timeline.contacts
        order = contact_order(kept, self._roster.columns.ids, True)
        images: Longs = np.asarray(kept.images)[: kept.n][order]
        return images

    def _pending_events(self) -> NDArray[np.void]:
        log = self._state.timeline.log
        n = log.n_contacts
        pending = none_of(PENDING, n)
        if n:
            bodies = np.asarray(log.contact_bodies)[:n]
            pending["first"], pending["second"] = bodies[:, 0], bodies[:, 1]
            pending["time"] = np.asarray(log.contact_time)[:n]
            pending["codes"] = np.asarray(log.contact_codes)[:n]
            if self._ring is not None:  # of the same two they are told in this order
                pending = pending[np.argsort(np.asarray(log.contact_images)[:n], kind="stable")]
        return pending

    # -- restoring --

    def restore(self, data: bytes) -> None:
        """Make everything what it was when `snapshot` gave these bytes."""
        with self._guard:
            try:
                self._restore(data)
            except BaseException:
                if self._restoring is not None:
                    with suppress(Exception):
                        self._guard.repair()
                raise

    def _restore(self, data: bytes) -> None:
        world = self._link.world
        world.require_current()
        if self._guard.is_changing:
            raise RuntimeError(
                "restore() was called in a response, in the middle of a step: "
                "call it between steps, or in a handler of their events"
            )
        state = codec.decode(data, self._state.dim, WIDTHS)
        wrap = None if self._ring is None else self._ring.wrap
        if state.wrap != wrap:
            raise ValueError(
                f"the snapshot is of a space with wrap={state.wrap!r} and this one has "
                f"wrap={wrap!r}: restore it into Space(wrap={state.wrap!r})"
            )
        if not self._roster.sweeps and state.seen[2][state.sleepers["body"]].any():
            raise ValueError("the snapshot contradicts itself: somebody moves in its sleep")
        world.require_known()
        loaded = self._inventory.load(world, state)
        CATEGORY_NAMES.adopt(state.category_names)
        self._guard.is_changing = True
        if self._state.before is not None:
            self._guard.repair()
            self._guard.is_changing = True
        self._restoring = world, state, loaded
        self._carry_out(world, state, loaded)
        self._guard.is_changing = False
        errors: list[BaseException] = []
        for update, component, blob in loaded.updates:
            try:
                update(component, blob)
            except BaseException as error:  # Ctrl-C too: half of it is not restored
                errors.append(error)
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise BaseExceptionGroup(f"{len(errors)} updates of own components failed", errors)

    def _carry_out(self, world: World, state: State, loaded: Loaded) -> None:
        """Make the world, and what is known of it, that of a state; it can be called again."""
        self._inventory.put_right(world, state, loaded)
        self._resume(world, state)
        self._restoring = None

    def finish_restoring(self) -> None:
        """Restore anew what was cut short, from the beginning."""
        if self._restoring is not None:
            world, state, loaded = self._restoring
            world.require_current()
            timeline = self._state.new_timeline()
            self._roster.start_over(timeline)
            self._pipeline.use(timeline)
            self._carry_out(world, state, loaded)

    def _resume(self, world: World, state: State) -> None:
        """Take up a state whose entities and components the world has already."""
        step, roster = self._state, self._roster
        timeline = step.timeline
        self._pipeline.set_gravity(state.gravity[: step.dim])  # first: it wakes everybody
        roster.recall(world, state.bodies)
        roster.resume(state.flags, state.seen, state.calm)
        position = roster.makers[0].type
        for entity in state.bodies[state.flags & MOVED != 0].tolist():
            roster.note_move(roster.row_of[entity], world.component(entity, position))
        roster.resume_filters(state.filters)
        contacts = np.empty((len(state.contacts), 5), np.int64)
        for n, name in enumerate(("first", "second", "kind", "axis", "sign")):
            contacts[:, n] = state.contacts[name]
        for n in (0, 1):
            contacts[:, n] = roster.rows_of(contacts[:, n])
        timeline.contacts.recover(contacts.data, np.array(state.contacts["since"], np.float64).data)
        timeline.carrying.recover(
            roster.rows_of(state.rides["entity"]).data,
            np.array(state.rides["drift"][:, : step.dim], np.float64).data,
            np.array(state.rides["taken_off"][:, : step.dim], np.float64).data,
        )
        if self._ring is not None:
            timeline.contacts.recover_images(state.images.data)
            timeline.log.image = 0  # what is pending is told in the order in which it stands
        bodies = np.stack([state.pending["first"], state.pending["second"]], axis=1)
        timeline.log.recover(
            np.array(state.pending["time"], np.float64).data,
            bodies.data,
            np.array(state.pending["codes"], np.int8).data,
        )
        step.events = StepEvents.of(state.collisions, state.contact_events)
        step.reports[:] = state.reports[-N_KEPT:]
        step.n_reports = state.n_reports
        saved = dict(zip(_SAVED, state.counts, strict=True))
        counts = [saved.get(name, 0) for name in _COUNTS]
        step.drop_step(state.step, state.time, counts, list(state.new_reports))
        self._pipeline.rest_speed = state.rest_speed
        self._pipeline.pair_limit = state.pair_limit
        step.n_asleep = roster.resume_sleep(state.sleepers, state.stirred)
