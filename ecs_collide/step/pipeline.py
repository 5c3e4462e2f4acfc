"""The stages of a step, each of which checks the order, and the rollback of a step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide.esper_world import is_skipped
from ecs_collide.events import Vector
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.step.coming import no_impacts, read_impacts
from ecs_collide.step.events_of_step import events_of
from ecs_collide.step.handlers import Subscribers, Touching
from ecs_collide.step.lock import StepLock
from ecs_collide.step.lookup import WorldLink
from ecs_collide.step.pair_filters import PairFilters
from ecs_collide.step.responses import Offer, Responses
from ecs_collide.step.state import BOUNDED, IDLE, QUEUED, RESOLVED, StepState
from ecs_collide.step.stats import StageTimes, Stats, Stopwatch
from ecs_collide.sync.quarantine import N_KEPT, Report, crowd_report, held_report
from ecs_collide.sync.registry import BodyRegistry, SavedRegistry

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")


class _SavedStep(NamedTuple):
    """The state of a space before a step, restored when the step is rolled back."""

    timeline: Any  # has saved the contacts and riders
    registry: SavedRegistry
    pending: list[NDArray[Any]]  # the columns of contact events that are not delivered yet
    reports: tuple[Report, ...]
    fields: tuple[Any, ...]  # as `StepState.set_by_stages` returned them


def _stage(
    method: Callable[[Pipeline, *_Arguments], _Result],
) -> Callable[[Pipeline, *_Arguments], _Result]:
    """Run a method of the pipeline inside the lock, and repair the space if it raises.

    If the repair fails, the next stage repeats it.
    """

    def run(pipeline: Pipeline, /, *arguments: *_Arguments) -> _Result:
        lock = pipeline.lock
        with lock:
            try:
                return method(pipeline, *arguments)
            except BaseException:
                if lock.is_changing and not lock.is_nested:
                    with suppress(Exception):
                        lock.repair()
                raise

    return run


class Pipeline:
    """The four stages of a step in their order, and the rollback of a step.

    Attributes
    ----------
    rest_speed : float
        Bounces slower than this, in world units per second, become slides; 0 is off.
    pair_limit : int
        The bodies of a pair are held to the end of the step after this number of resolutions.
    lock : StepLock
    """

    def __init__(
        self,
        state: StepState,
        link: WorldLink,
        registry: BodyRegistry,
        lock: StepLock,
        pair_filters: PairFilters,
        responses: Responses,
        subscribers: Subscribers,
        touching: Touching,
        domain: PeriodicDomain | None,
    ) -> None:
        self.rest_speed = 0.0
        self.pair_limit = 64
        self._state = state
        self._link = link
        self._registry = registry
        self.lock = lock
        self._pair_filters = pair_filters
        self._responses = responses
        self._subscribers = subscribers
        self._touching = touching
        self._domain = domain
        self._errors: list[Exception] = []
        self._stopwatch: Stopwatch | None = None

    # -- the four stages of a step --

    def set_gravity(self, gravity: Vector) -> None:
        """Set the gravity from the next step on, in world units per second squared."""
        self._state.gravity = gravity
        self._state.timeline.gravity.set(gravity)
        self._registry.set_gravity(gravity)

    @_stage
    def update_bounds(self, dt: float, handled: Iterable[type]) -> None:
        """Begin a step of `dt` seconds: read the components and find the candidate pairs."""
        state, world, registry = self._state, self._link.world, self._registry
        if self.lock.is_nested:
            raise RuntimeError(
                "a step was begun inside a handler or response of the same space: "
                "let the step end first"
            )
        world.require_current()
        dt = _checked_dt(dt)
        if self._stopwatch is not None:
            self._stopwatch.seconds.clear()
        self._start_lap()

        # 1. Roll back a previous step that was never finished.
        if state.before is not None:
            self.lock.is_changing = True
            self.lock.repair()
        timeline = state.timeline  # after the rollback, which makes another one
        # 2. Mark the types that response systems handle; the reader notes which bodies have them.
        self._responses.handle(handled)
        # 3. Save the state; from here on this step can be rolled back.
        self._save(timeline)
        self.lock.is_changing = True
        state.moment = object()
        self.lock.begin_step()
        # 4. Compare the entities first, because only bodies with rows can be read.
        registry.compare(world)
        state.new_reports = state.new_reports + registry.read(state.step, dt, self.rest_speed)
        self._end_lap("read")
        # 5. Prepare callbacks, once the components are known to be valid.
        state.dt = dt
        self._errors = []
        self._responses.begin_step(self._errors)
        self._subscribers.begin_step(world)
        self._pair_filters.begin_step(self._errors)
        # 6. Reset the kernels; bodies that wake from here on belong to this step.
        timeline.require(registry.table.capacity)
        timeline.step.rest_speed = self.rest_speed
        timeline.step.pair_limit = self.pair_limit
        timeline.contacts.clock = state.time
        timeline.broadphase.step = state.step
        timeline.begin_step()
        # 7. Place still bodies that changed; wake sleepers near them and on deleted bodies.
        timeline.place_still(registry.touched_still.data)
        registry.wake_near()
        # 8. Apply locks and limits before riders get their carriers' velocities; wake these riders.
        timeline.restrain(registry.moving.data)
        registry.wake(timeline.carriers.carry_riders())
        # 9. With filter_pairs(), wake all: it is not called for pairs of sleeping bodies.
        if timeline.broadphase.pair_filter is not None:
            registry.wake_all()
        state.n_movers = len(registry.moving) + registry.sleep.n
        # 10. Put all paths into the tree before the search for ways out of overlaps.
        timeline.place_moving(registry.moving.data, dt)
        timeline.push_out(registry.moving.data)
        # 11. Wake the islands that these paths, now with the ways out, reach.
        registry.wake_reached()
        self._end_lap("bounds")
        # 12. Find the pairs.  If there may be a crowd, wake all, because its pairs are counted.
        if not timeline.find_pairs(registry.active.data):
            registry.wake_all()
            timeline.place_moving(registry.moving.data, dt)
            timeline.find_pairs(registry.active.data)
        self._note_crowd()
        self._end_lap("pairs")

        state.phase = BOUNDED
        self.lock.is_changing = False

    @_stage
    def queue_impacts(self, dt: float | None) -> None:
        """Sweep the candidate pairs and queue the first impact of each."""
        self._require_phase("NarrowphaseSystem", "BroadphaseSystem", BOUNDED, BOUNDED, dt)
        self.lock.is_changing = True
        self._start_lap()
        self._state.timeline.queue_impacts(self._registry.new.data)
        self._end_lap("sweep")
        self._state.impacts = None
        self._state.phase = QUEUED
        self.lock.is_changing = False

    @property
    def impact_array(self) -> NDArray[np.void]:
        """The queued impacts in time order; empty outside of that stage."""
        state = self._state
        self.lock.refuse_others()
        if state.phase != QUEUED:
            return no_impacts(state.dim)
        if state.impacts is None:
            state.impacts = read_impacts(state.dim, state.timeline.narrowphase)
        return state.impacts

    @_stage
    def resolve_impacts(self, dt: float | None, offers: Sequence[Offer], system: object) -> None:
        """Resolve all impacts of the step in time order, when the first response system runs.

        Raises RuntimeError if they are resolved and `system` was not offered them.
        """
        state = self._state
        self._require_phase("ResponseSystem", "NarrowphaseSystem", QUEUED, RESOLVED, dt)
        if state.phase == RESOLVED:
            self._responses.require_offered(system)
            return
        self.lock.is_changing = True
        state.phase = RESOLVED
        self._start_lap()
        self._responses.resolve_all(offers)
        self._end_lap("resolve")
        self.lock.is_changing = False

    @_stage
    def finish_step(self, dt: float | None) -> None:
        """Move all bodies to the end of the step, write the components, deliver the events."""
        self._require_phase("MotionSystem", "BroadphaseSystem", BOUNDED, RESOLVED, dt)
        state = self._state
        timeline, registry = state.timeline, self._registry
        is_resolved = state.phase == RESOLVED
        self.lock.is_changing = True
        self._start_lap()
        timeline.loop.run(False)
        kinematic = registry.kinematic_targets
        timeline.finish(
            registry.moving.data, is_resolved, kinematic.rows.data, kinematic.targets.data
        )
        registry.count_woken()
        if self._domain is not None:
            arrived = kinematic.arrived()
            timeline.edges.bring_in(registry.moving.data)
            kinematic.reach_wrapped_targets(arrived)
        self._end_lap("finish")
        has_corrected = is_resolved
        try:
            registry.write()
        except MemoryError:
            raise
        except Exception as error:  # of a custom component
            self._errors.append(error)
            has_corrected = False
        registry.end_step(state.step + 1, has_corrected)
        self._end_lap("write")
        reports = state.new_reports
        self._commit_step()
        self._warn_of(reports)
        self._deliver()

    def _commit_step(self) -> None:
        """Commit the results of the step in a single assignment."""
        state, timeline = self._state, self._state.timeline
        events = events_of(state.dim, timeline.event_buffer)
        all_reports = [*state.new_reports, *self._report_held()]
        counts = self._count(len(events.collisions))
        timeline.event_buffer.clear()
        if all_reports:
            state.reports[:] = [*state.reports, *all_reports][-N_KEPT:]
        state.commit(
            events=events,
            step=state.step + 1,
            time=state.time + state.dt,
            counts=counts,
            n_asleep=self._registry.sleep.n,
            stats=None,
            new_reports=[],
            n_reports=state.n_reports + len(all_reports),
            phase=IDLE,
            before=None,  # the step can no longer be rolled back
        )
        self.lock.is_changing = False

    def _deliver(self) -> None:
        """Deliver the events of the step to the handlers, then raise the errors of the step."""
        state = self._state
        try:
            self._errors += self._subscribers.deliver(self._link.world, self._touching)
        finally:
            self._end_lap("deliver")
            state.stats = None
        errors, self._errors = self._errors, []
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise ExceptionGroup(f"{len(errors)} handlers or responses failed in one step", errors)

    def _warn_of(self, reports: list[Report]) -> None:
        """Warn of the reports of the step, and of bodies whose `Fixed` is ignored."""
        messages = [report.message for report in reports]
        messages += [
            f"entity {entity} has Fixed and a component that moves it: Fixed is ignored; "
            "remove one of them"
            for entity in self._registry.pop_ignored()
        ]
        for message in messages:
            try:
                warnings.warn(message, RuntimeWarning, stacklevel=6)
            except RuntimeWarning as warning:  # if a filter turns warnings into errors
                self._errors.append(warning)

    def _require_phase(
        self, who: str, before: str, least: int, limit: int, dt: float | None
    ) -> None:
        self._link.world.require_current()
        if not least <= self._state.phase <= limit or self.lock.is_nested:
            message = f"{who} was run out of order: it needs {before} before it in the same step"
            if self._state.phase < least and is_skipped(before):
                message += (
                    ", and esper skipped that one, because a processor was removed while "
                    "esper.process() ran: remove it after esper.process()"
                )
            raise RuntimeError(message)
        self.lock.require_own_step(who)
        if dt is not None and _checked_dt(dt) != self._state.dt:
            raise ValueError(
                f"{who} got dt={dt!r} where BroadphaseSystem got {self._state.dt!r}: "
                "all four systems of a step must see the same dt"
            )

    # -- rollback --

    def _save(self, timeline: Any) -> None:
        """Save the state before a step; from here on the step can be rolled back."""
        state, pending = self._state, []
        if n := timeline.save():
            buffer = timeline.event_buffer
            columns = buffer.contact_time, buffer.contact_bodies, buffer.contact_codes
            pending = [np.array(column)[:n] for column in columns]
        state.before = _SavedStep(
            timeline, self._registry.save(), pending, tuple(state.reports), state.set_by_stages()
        )

    def roll_back_step(self) -> None:
        """Restore the state before the step under way; if this is interrupted, call it again.

        An exception may have left trees and pairs half done, so a new timeline is made.
        """
        saved: _SavedStep | None = self._state.before
        if saved is None:
            return
        self._responses.drop_impact()
        before, registry, state = saved.timeline, self._registry, self._state
        contacts, rides = before.contacts.saved_arrays(), before.carriers.previous_rides()
        timeline = state.new_timeline()
        registry.roll_back(saved.registry, timeline)
        timeline.contacts.recover(*contacts)
        timeline.carriers.recover(*rides)
        if saved.pending:
            timeline.event_buffer.recover(*(column.data for column in saved.pending))
        self.use(timeline)
        state.reports[:] = saved.reports
        self._errors = []
        state.set_back(saved.fields)
        state.before = None

    def use(self, timeline: Any) -> None:
        """Use another timeline from now on."""
        self._state.timeline = timeline
        self._pair_filters.use(timeline.broadphase)

    # -- reports and statistics --

    def _note_crowd(self) -> None:
        """Report a crowd with more pairs than there is room for, in the first step that has one."""
        state = self._state
        broadphase = state.timeline.broadphase
        # Members of a soft crowd separate even if there is no room for their pair.
        is_hard = broadphase.n_skipped > state.timeline.separating.n_skipped
        crowd = broadphase.crowd if is_hard else []
        if crowd and not state.is_crowded:
            entities = sorted(self._registry.table.ids[crowd].tolist())
            report = crowd_report(state.step, entities, broadphase.n_skipped)
            state.new_reports = [*state.new_reports, report]
        state.is_crowded = bool(crowd)

    def _report_held(self) -> list[Report]:
        """Return a report of the bodies that the step has held, if the last one held none."""
        state = self._state
        timeline = state.timeline
        entities = timeline.holding.entities()
        if not entities or state.was_holding:
            return []
        counts = (
            timeline.loop.n_pair_limit,
            timeline.loop.n_sweep_limit,
            timeline.broadphase.n_waiting,
        )
        return [held_report(state.step, entities, *counts)]

    @property
    def stats(self) -> Stats:
        """Statistics of the last step, computed on first access."""
        state, watch = self._state, self._stopwatch
        if state.stats is None:
            state.stats = Stats(*state.counts)._replace(
                asleep=state.n_asleep,
                tree_cost=state.timeline.broadphase.moving.cost,
                times=None if watch is None else StageTimes(**watch.seconds),
            )
        return state.stats

    @property
    def timing(self) -> bool:
        """Whether `stats.times` has the duration of each stage of a step; off by default."""
        return self._stopwatch is not None

    @timing.setter
    def timing(self, wanted: bool) -> None:
        if wanted != self.timing:
            self._stopwatch = Stopwatch() if wanted else None

    def _start_lap(self) -> None:
        if self._stopwatch is not None:
            self._stopwatch.start()

    def _end_lap(self, stage: str) -> None:
        if self._stopwatch is not None:
            self._stopwatch.lap(stage)

    def _count(self, n_collisions: int) -> list[Any]:
        """Return the counts of the step that is about to end, in the order of `Stats`."""
        t, r = self._state.timeline, self._registry
        n_bodies, n_movers = len(r.rows), self._state.n_movers
        return [
            self._state.step + 1, n_bodies, n_movers, n_bodies - n_movers,
            *t.broadphase.count_work(),
            t.pairs.n, t.broadphase.n_skipped, t.narrowphase.n_sweeps,
            n_collisions, t.loop.n_resolutions, t.solver.clusters.n_merges,
            t.loop.n_crushed, t.loop.n_forced, t.loop.n_pair_limit, t.loop.n_sweep_limit, t.broadphase.n_waiting,
            t.n_held, t.broadphase.moving.depth,
        ]  # fmt: skip


def _checked_dt(dt: float) -> float:
    """Return the length of a step in seconds; ValueError if it is not finite and >= 0."""
    try:
        if isinstance(dt, (str, bytes, bytearray)):
            raise TypeError
        seconds = float(dt)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"dt={dt!r} must be a number of seconds, 0 or more; for processors that take no time, "
            "or something else first, install(dt=1 / 60) or install(dt=function) says what it is"
        ) from None
    if not 0.0 <= seconds < math.inf:
        raise ValueError(f"dt={dt!r} must be finite and 0 or more, in seconds")
    return seconds
