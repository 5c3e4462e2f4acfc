"""The stages of a step, each of which checks the order, and the end of one that is cut short.

A compiled stage runs no Python unless there is something to do for it: other bodies than in the
last step, custom components, responses, handlers, reports.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.constants import INF
from ecs_collide.events import COLLISION, CONTACT, CONTACT_BEGAN, CONTACT_ENDED, Vector
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.event_buffer import EventBuffer
from ecs_collide.step.events_of_step import StepEvents, no_events
from ecs_collide.step.lock import StepLock
from ecs_collide.step.state import BOUNDED, IDLE, QUEUED, RESOLVED, StepState
from ecs_collide.step.stats import StageTimes, Stats, Stopwatch
from ecs_collide.step.timeline import Timeline
from ecs_collide.sync.attached_boxes import AttachedBoxes
from ecs_collide.sync.body_lists import BodyLists
from ecs_collide.sync.quarantine import crowd_report, held_report
from ecs_collide.sync.reader import ComponentReader
from ecs_collide.sync.registry import BodyRegistry
from ecs_collide.sync.sleep_list import EVERY, STEPS_TO_SLEEP
from ecs_collide.sync.undo import Undo
from ecs_collide.world_probe import WorldProbe

event_names = COLLISION, CONTACT_BEGAN, CONTACT_ENDED, CONTACT

UPDATE_BOUNDS = 0
QUEUE_IMPACTS = 1
RESOLVE_IMPACTS = 2
FINISH_STEP = 3


@cython.final
class Pipeline:
    """The four stages of a step in their order."""

    rest_speed: Public[float]  # slower bounces become slides, in world units per second
    # The bodies of a pair are held to the end of the step after this number of resolutions.
    pair_limit: Public[int]
    errors: ReadOnly[list]  # that callbacks have raised in the step
    lock: StepLock
    state: StepState
    bodies: Bodies
    reader: ComponentReader
    lists: BodyLists
    undo: Undo
    link: Any  # `WorldLink`
    probe: WorldProbe  # of its world, from the first step on
    registry: BodyRegistry
    attached: AttachedBoxes
    pair_filters: Any  # `PairFilters`
    responses: Any  # `Responses`
    subscribers: Any  # `Subscribers`
    registrations: Any  # of the subscribers
    touching: Any  # as for `Subscribers.deliver`
    stopwatch: Any  # `Stopwatch` or None
    handled: Any  # the last argument of `Responses.handle`
    offers: Any  # the last argument of `Responses.offer_to`
    is_offering: cython.bint  # what it returned
    log: EventBuffer  # of the last step that had events
    no_rows: cython.longlong[::1]
    no_targets: cython.double[:, ::1]

    def __init__(
        self,
        state: StepState,
        lock: StepLock,
        link,
        registry: BodyRegistry,
        pair_filters,
        responses,
        subscribers,
        touching,
        errors: list,
    ):
        self.rest_speed = 0.0
        self.pair_limit = 64
        self.state = state
        self.lock = lock
        self.bodies = state.timeline.bodies
        self.link = link
        self.probe = None  # type: ignore[assignment]
        self.registry = registry
        self.reader = registry.reader
        self.lists = registry.lists
        self.undo = registry.reader.undo
        self.attached = registry.attached
        self.pair_filters = pair_filters
        self.responses = responses
        self.subscribers = subscribers
        self.registrations = subscribers.registrations
        self.touching = touching
        self.errors = errors
        self.stopwatch = None
        self.handled = ()
        self.offers = None
        self.log = EventBuffer(state.dim)
        self.no_rows = np.zeros(0, np.int64).data
        self.no_targets = np.zeros((0, state.dim)).data

    def set_gravity(self, gravity: Vector) -> None:
        """Set the gravity from the next step on, in world units per second squared."""
        self.state.gravity = gravity
        self.state.timeline.gravity.set(gravity)
        self.registry.set_gravity(gravity)

    # -- the four stages of a step --

    def update_bounds(self, dt: Any, handled: Collection[type], runner: object) -> None:
        """Begin a step of `dt` seconds: read the components and find the candidate pairs.

        `handled` are the components that response systems handle, and `runner` is the frame that
        runs the step, or None.
        """
        self._run(UPDATE_BOUNDS, dt, handled, runner)

    def queue_impacts(self, dt: Any) -> None:
        """Sweep the candidate pairs and queue the first impact of each."""
        self._run(QUEUE_IMPACTS, dt, None, None)

    def resolve_impacts(self, dt: Any, offers: Sequence[Any], system: object) -> None:
        """Resolve all impacts of the step in time order, when the first response system runs.

        Raises RuntimeError if they are resolved and `system` was not offered them.
        """
        self._run(RESOLVE_IMPACTS, dt, offers, system)

    def finish_step(self, dt: Any) -> None:
        """Move all bodies to the end of the step, write the components, deliver the events."""
        self._run(FINISH_STEP, dt, None, None)

    def _run(self, stage: cython.int, dt: object, some: object, who: object) -> cython.void:
        """Run a stage inside the lock, and repair the space if it raises.

        If the repair fails, the next stage repeats it.
        """
        entry: object = None
        if cython.compiled:
            entry = self.lock.enter(None)
        else:
            self.lock.enter(sys._getframe())
        try:
            if stage == UPDATE_BOUNDS:
                self._update_bounds(dt, some, who)
            elif stage == QUEUE_IMPACTS:
                self._queue_impacts(dt)
            elif stage == RESOLVE_IMPACTS:
                self._resolve_impacts(dt, some, who)
            else:
                self._finish_step(dt)
        except BaseException:
            self.lock.repair_quietly()
            raise
        finally:
            if cython.compiled:
                self.lock.remove(entry)
            else:
                self.lock.leave(sys._getframe())

    def _update_bounds(self, given_dt: object, handled: object, runner: object) -> cython.void:
        state: StepState = self.state
        lists: BodyLists = self.lists

        if self.probe is None:
            self.probe = self.link.world.probe
        if self.lock.is_nested():
            raise RuntimeError(
                "a step was begun inside a handler or response of the same space: "
                "let the step end first"
            )
        self._require_current()
        dt: cython.double = _checked_dt(given_dt)
        if self.stopwatch is not None:
            self.stopwatch.seconds.clear()
            self.stopwatch.start()

        # 1. End a previous step that was never finished.
        if state.before is not None:
            self.lock.is_changing = True
            self.lock.repair()
        timeline: Timeline = state.timeline  # after the repair, which makes another one
        # 2. Mark the types that response systems handle; the reader notes which bodies have them.
        if handled is not self.handled or not isinstance(handled, (tuple, frozenset)):
            self.responses.handle(handled)
            self.handled = handled
        # 3. Save the state; from here on this step can be undone.
        self._save(timeline)
        self.lock.is_changing = True
        state.moment = object()
        self.lock.begin_step(runner)
        # 4. Compare the entities first, because only bodies with rows can be read.
        has_changed: cython.bint = self._compare(timeline)
        self._read(timeline, dt, has_changed)
        self._end_lap("read")
        # 5. Prepare callbacks, once the components are known to be valid.
        state.dt = dt
        if self.errors:
            self.errors.clear()
        state.generation = self.probe.generation()
        if self.registrations:
            self.subscribers.begin_step(self.link.world)
        # 6. Reset the kernels; bodies that wake from here on belong to this step.
        timeline.require(self.bodies.capacity)
        timeline.begin_step(state.step, state.time, self.rest_speed, self.pair_limit)
        # 7. Put the paths into the trees.
        self._place(timeline, dt)
        self._end_lap("bounds")
        # 8. Find the pairs.  If there may be a crowd, wake all, because its pairs are counted.
        if not timeline.find_pairs(lists.active):
            self.registry.wake_all()
            timeline.place_moving(lists.moving, dt)
            timeline.find_pairs(lists.active)
        self._report_crowd(timeline)
        self._end_lap("pairs")

        state.phase = BOUNDED
        self.lock.is_changing = False

    def _place(self, timeline: Timeline, dt: cython.double) -> cython.void:
        """Put all paths of the step into the trees, and wake the bodies that they may reach."""
        lists: BodyLists = self.lists

        # 1. Place still bodies that changed; wake sleepers near them and on deleted bodies.
        if lists.touched_still.shape[0]:
            timeline.place_still(lists.touched_still)
        if timeline.sleeping.n and (lists.touched_still.shape[0] or lists.altered):
            self.registry.wake_near()
        lists.altered.clear()
        # 2. Apply locks and limits before riders get their carriers' velocities; wake these riders.
        timeline.restrain(lists.moving)
        riders: list = timeline.carriers.carry_riders()
        if riders:
            self.registry.wake(riders)
        # 3. With filter_pairs(), wake all: it is not called for pairs of sleeping bodies.
        if timeline.broadphase.pair_filter is not None:
            self.pair_filters.begin_step()
            self.registry.wake_all()
        self.state.n_movers = lists.moving.shape[0] + timeline.sleeping.n
        # 4. Put all paths into the tree before the search for ways out of overlaps.
        timeline.place_moving(lists.moving, dt)
        reached: list = []
        if lists.new.shape[0] or lists.touched_still.shape[0] or self.reader.touched_rows:
            touched: list = np.asarray(lists.new).tolist()
            reached = timeline.settle(touched + self.reader.touched_rows, lists.touched_still)
        timeline.push_out(lists.moving)
        # 5. Wake the islands that these paths, now with the ways out, reach.
        reached += timeline.sleeping.reached_by(lists.moving)
        if reached or self.reader.pressed or len(lists.pressed):
            self.registry.wake_reached(reached)

    def _compare(self, timeline: Timeline) -> cython.bint:
        """Update the rows to the entities that the world has now; return whether any changed."""
        if not self.probe.is_as(self.registry.index.seen) or (
            timeline.sleeping.n > 0 and not self.registry.sleep.wanted
        ):
            was_cleared = self.state.was_cleared(self.probe.generation())
            self.registry.compare(self.link.attached, was_cleared, True)
            return True
        return False

    def _read(self, timeline: Timeline, dt: cython.double, has_changed: cython.bint) -> cython.void:
        """Read the components, and list the bodies that take part in the step."""
        state: StepState = self.state
        lists: BodyLists = self.lists

        self.reader.rest_speed = self.rest_speed
        is_quiet: cython.bint = not has_changed and not self.bodies.wraps and lists.is_quiet()
        reports: list = []
        if self.reader.sweeps or lists.are_to_be_read() or self.registry.refusals:
            reports = self.registry.read(state.step, dt)
        else:
            try:
                n_out: cython.Py_ssize_t = self.reader.read(lists.movers, lists.stills, dt)
                self.attached.remember()
                self.reader.read_attached(lists.attached, dt)
            except (TypeError, ValueError, OverflowError, AttributeError) as error:
                raise self.registry.first_error() from error
            if (
                n_out
                or not is_quiet
                or self.attached.n_out
                or timeline.contacts.left
                or self.reader.has_news()
            ):
                reports = self.registry.digest(n_out, state.step, dt)
            else:
                if self.attached.attach(timeline.attachments):
                    reports = self.registry.report_attached(state.step, dt)
                lists.list_movers(self.attached.rows, self.attached.n)
        if reports:
            state.new_reports = state.new_reports + reports

    def _queue_impacts(self, dt: object) -> cython.void:
        state: StepState = self.state

        self._require_phase("NarrowphaseSystem", "BroadphaseSystem", BOUNDED, BOUNDED, dt)
        self.lock.is_changing = True
        self._start_lap()
        state.timeline.queue_impacts(self.lists.new)
        self._end_lap("sweep")
        state.impacts = None
        state.phase = QUEUED
        self.lock.is_changing = False

    @property
    def impact_array(self) -> NDArray[np.void]:
        """The queued impacts in time order; empty outside of that stage."""
        state: StepState = self.state

        self.lock.refuse_others()
        if state.phase != QUEUED:
            return no_events(state.dim).collision_array
        if state.impacts is None:
            coming = EventBuffer(state.dim)
            state.timeline.loop.impact_log.write_coming(coming)
            state.impacts = StepEvents(state.dim, coming).collision_array
        return state.impacts

    def _resolve_impacts(self, dt: object, offers: object, system: object) -> cython.void:
        state: StepState = self.state

        self._require_phase("ResponseSystem", "NarrowphaseSystem", QUEUED, RESOLVED, dt)
        if state.phase == RESOLVED:
            self.responses.require_offered(system)
            return
        self.lock.is_changing = True
        state.phase = RESOLVED
        self._start_lap()
        if offers is not self.offers:
            self.is_offering = self.responses.offer_to(offers)
            self.offers = offers
        timeline: Timeline = state.timeline
        timeline.loop.surfaces.offers_all = self.is_offering and self.responses.want_all()
        # A response of the game may choose `Stop` or `Push` for any impact that it is offered.
        self.bodies.controls.any_turn |= (
            timeline.loop.surfaces.offers_all or self.bodies.any_offered
        )
        while timeline.loop.run(True) >= 0:
            self.responses.resolve_one()
        self._end_lap("resolve")
        self.lock.is_changing = False

    def _finish_step(self, dt: object) -> cython.void:
        self._require_phase("MotionSystem", "BroadphaseSystem", BOUNDED, RESOLVED, dt)
        state: StepState = self.state
        timeline: Timeline = state.timeline
        lists: BodyLists = self.lists
        is_resolved: cython.bint = state.phase == RESOLVED

        self.lock.is_changing = True
        self._start_lap()
        timeline.loop.run(False)
        if self.reader.sweeps:
            driven: Any = self.registry.kinematic_targets
            timeline.finish(lists.moving, is_resolved, driven.rows.data, driven.targets.data)
        else:  # to take a view of two arrays costs a quiet step 5 % of its instructions
            timeline.finish(lists.moving, is_resolved, self.no_rows, self.no_targets)
        any_woken: cython.bint = self.bodies.n_woken > 0
        if any_woken:
            self.registry.count_woken()
        if self.bodies.wraps:
            self.registry.bring_in()
        self._end_lap("finish")
        has_corrected: cython.bint = self._write() and is_resolved
        if any_woken or (has_corrected and self._may_fall_asleep()):
            self.registry.end_step(state.step + 1, has_corrected)
        self._end_lap("write")
        reports: list = state.new_reports
        self._commit_step(timeline)
        if reports or self.reader.contradictory:
            self._warn_of(reports)
        self._deliver()

    def _write(self) -> cython.bint:
        """Write the components; return False if a custom one has raised."""
        lists: BodyLists = self.lists

        try:
            if self.reader.sweeps or lists.stale or lists.brought_in or len(lists.pressed):
                self.registry.write()
            else:
                lists.is_reported = False
                self.reader.write(lists.moving)
                lists.end_write(lists.moving)
        except MemoryError:
            raise
        except Exception as error:  # of a custom component
            self.errors.append(error)
            return False
        return True

    def _may_fall_asleep(self) -> cython.bint:
        """Return whether this is a step after which bodies fall asleep, and some are at rest."""
        return (self.state.step + 1) % EVERY == 0 and self.bodies.any_at_rest(
            self.lists.moving, STEPS_TO_SLEEP
        )

    def _commit_step(self, timeline: Timeline) -> cython.void:
        """Commit the results of the step in a single operation."""
        state: StepState = self.state
        buffer: EventBuffer = timeline.event_buffer

        reports: list = state.new_reports
        if timeline.n_held and not state.was_holding:
            reports = [*reports, self._report_held(timeline)]
        counts: list = timeline.count(state.step + 1, self.lists.n, state.n_movers)
        log: Any = None
        if buffer.n_collisions or buffer.n_contacts:
            log = self.log if cython.compiled else EventBuffer(state.dim)
        state.commit(
            log, buffer, counts, timeline.sleeping.n, reports, len(self._crowd(timeline)) > 0
        )
        self.lock.runner = None
        self.lock.is_changing = False

    def _deliver(self) -> cython.void:
        """Deliver the events of the step to the handlers, then raise the errors of the step."""
        try:
            if self.registrations or self.probe.has_handlers(event_names):
                self.errors.extend(self.subscribers.deliver(self.link.world, self.touching))
        finally:
            self._end_lap("deliver")
            self.state.stats = None
        if self.errors:
            errors: list = list(self.errors)
            self.errors.clear()
            if len(errors) == 1:
                raise errors[0]
            message = f"{len(errors)} handlers or responses failed in one step"
            raise ExceptionGroup(message, errors)

    def _warn_of(self, reports: list) -> cython.void:
        """Warn of the reports of the step, and of bodies whose `Fixed` is ignored."""
        messages: list = []

        for report in reports:
            messages.append(report.message)
        for entity in self.registry.pop_ignored():
            messages.append(
                f"entity {entity} has Fixed and a component that moves it: Fixed is ignored; "
                "remove one of them"
            )
        for message in messages:
            try:
                # Past the frames of `Space`, the system and, in Python, those of this class.
                warnings.warn(message, RuntimeWarning, stacklevel=3 if cython.compiled else 7)
            except RuntimeWarning as warning:  # if a filter turns warnings into errors
                self.errors.append(warning)

    def _require_current(self) -> cython.void:
        if not self.probe.is_current():
            self.link.world.require_current()

    def _require_phase(
        self, who: object, before: object, least: cython.int, limit: cython.int, dt: object
    ) -> cython.void:
        """Raise RuntimeError or ValueError unless a stage may run now, with this `dt`."""
        state: StepState = self.state

        if self.probe is None:
            self.probe = self.link.world.probe
        self._require_current()
        if not least <= state.phase <= limit or self.lock.is_nested():
            message = f"{who} was run out of order: it needs {before} before it in the same step"
            if state.phase < least and self.link.world.is_skipped(before):
                message += (
                    ", and esper skipped that one, because a processor was removed while "
                    "esper.process() ran, or restore() has discarded the step: do that after "
                    "esper.process()"
                )
            raise RuntimeError(message)
        self.lock.require_own_step(who)
        if dt is not None and _checked_dt(dt) != state.dt:
            raise ValueError(
                f"{who} got dt={dt!r} where BroadphaseSystem got {state.dt!r}: "
                "all four systems of a step must see the same dt"
            )

    # -- a step that is cut short --

    def _save(self, timeline: Timeline) -> cython.void:
        """Store what `undo_step` needs; from here on the step can be undone."""
        pending: Any = None

        timeline.contacts.save()
        if timeline.event_buffer.n_contacts:
            pending = timeline.event_buffer.contact_columns()
        self.lists.forget_start()
        self.undo.begin_step(self.lists)
        self.state.before = (timeline, pending, self.state.dt, self.state.generation)

    def undo_step(self) -> None:
        """End the step under way as if it had not begun; if this is interrupted, call it again.

        Trees and pairs may be half done, so a new timeline is made.  It has the contacts from before
        the step, so that each of them has its end, and all bodies awake.
        """
        state: StepState = self.state

        if state.before is None:
            return
        self.responses.drop_impact()
        before: Timeline = state.before[0]
        timeline: Timeline = state.new_timeline()
        self.registry.undo_step(timeline)
        timeline.contacts.recover(*before.contacts.saved.arrays())
        if state.before[1] is not None:
            timeline.event_buffer.recover(*state.before[1])
        self.use(timeline)
        self.errors.clear()
        state.generation = state.before[3]
        state.set(dt=state.before[2], new_reports=[], phase=IDLE)
        state.before = None

    def use(self, timeline: Any) -> None:
        """Use another timeline from now on."""
        self.state.timeline = timeline
        self.pair_filters.use(timeline.broadphase)

    # -- reports and statistics --

    @cython.cfunc
    def _crowd(self, timeline: Timeline) -> list:
        """Return the rows of a crowd that has more pairs than there is room for."""
        # Members of a soft crowd separate even if there is no room for their pair.
        if timeline.broadphase.n_skipped > timeline.separating.n_skipped:
            return timeline.broadphase.crowd
        return []

    def _report_crowd(self, timeline: Timeline) -> cython.void:
        """Report a crowd in the first step that has one."""
        state: StepState = self.state
        crowd: list = self._crowd(timeline)

        if crowd and not state.is_crowded:
            entities = sorted(self.registry.table.ids[crowd].tolist())
            report = crowd_report(state.step, entities, timeline.broadphase.n_skipped)
            state.new_reports = [*state.new_reports, report]

    @cython.cfunc
    def _report_held(self, timeline: Timeline) -> object:
        """Return a report of the bodies that the step has held."""
        return held_report(
            self.state.step,
            timeline.holding.entities(),
            timeline.loop.n_pair_limit,
            timeline.loop.n_sweep_limit,
            timeline.broadphase.n_waiting,
        )

    @property
    def stats(self) -> Stats:
        """Statistics of the last step, computed on first access."""
        state: StepState = self.state

        if state.stats is None:
            state.stats = Stats(*state.counts)._replace(
                asleep=state.n_asleep,
                tree_cost=state.timeline.broadphase.moving.cost,
                times=None if self.stopwatch is None else StageTimes(**self.stopwatch.seconds),
            )
        return state.stats

    @property
    def timing(self) -> bool:
        """Whether `stats.times` has the duration of each stage of a step; off by default."""
        return self.stopwatch is not None

    @timing.setter
    def timing(self, wanted: bool) -> None:
        if wanted != self.timing:
            self.stopwatch = Stopwatch() if wanted else None

    def _start_lap(self) -> cython.void:
        if self.stopwatch is not None:
            self.stopwatch.start()

    def _end_lap(self, stage: object) -> cython.void:
        if self.stopwatch is not None:
            self.stopwatch.lap(stage)


def _checked_dt(dt: Any) -> cython.double:
    """Return the length of a step in seconds; ValueError if it is not finite and >= 0."""
    seconds: cython.double = 0.0

    if type(dt) is float:
        seconds = dt
        if 0.0 <= seconds < INF:
            return seconds
    try:
        if isinstance(dt, (str, bytes, bytearray)):
            raise TypeError
        seconds = float(dt)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"dt={dt!r} must be a number of seconds, 0 or more; for processors that take no time, "
            "or something else first, install(dt=1 / 60) or install(dt=function) says what it is"
        ) from None
    if not 0.0 <= seconds < INF:
        raise ValueError(f"dt={dt!r} must be finite and 0 or more, in seconds")
    return seconds
