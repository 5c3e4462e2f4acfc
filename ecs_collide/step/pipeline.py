"""The stages of a step, and handing impacts to the game in the middle of it.

Each stage does its part and checks that it comes in its turn; what they leave
behind is looked at through `ecs_collide.space.Space`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ecs_collide import _backend, _checks
from ecs_collide.component_map import Components
from ecs_collide.constants import CUSTOM
from ecs_collide.esper_world import World
from ecs_collide.events import Contact, SweepKind, Vector, VectorLike
from ecs_collide.motion.wrapping import Ring, Wrap
from ecs_collide.response.rules import DEFAULT
from ecs_collide.step.events_of_step import StepEvents, axis_normal
from ecs_collide.step.handlers import (
    Generations,
    Subscribers,
    Unsubscribe,
    is_same_function,
    require_component_type,
)
from ecs_collide.step.impact import Impact
from ecs_collide.step.lock import Guard
from ecs_collide.step.pair_filters import Judges
from ecs_collide.sync.presence import NewBody, Presence
from ecs_collide.sync.quarantine import N_KEPT, Report, crowd_report, held_report
from ecs_collide.sync.registry import Kept, Roster

Respond = Callable[[Impact], object]


class _Kept(NamedTuple):
    """What a space was before a step: all that it is again should the step not happen.

    Attributes
    ----------
    timeline : with the contacts and riders that it keeps
    roster : as `Roster.begin` returned it
    pending : copies of contact events that no step has told yet, or None
    reports : those that there were
    fields : the stepper's own, as `_FIELDS` names them
    """

    timeline: Any
    roster: Kept
    pending: tuple[Any, Any, Any] | None
    reports: tuple[Report, ...]
    fields: tuple[Any, ...]


# What a stage sets before the instant at which the step has happened.
_FIELDS = (
    "_dt", "_new_reports", "_is_crowded", "_is_holding", "_n_movers", "_settling", "_is_answered",
)  # fmt: skip
_fields = attrgetter(*_FIELDS)

# What has been done of the step under way.
_IDLE = 0
_BOUNDED = 1
_QUEUED = 2
_ANSWERING = 3


class StageTimes(NamedTuple):
    """How long the stages of a step took, in seconds.

    Attributes
    ----------
    read : comparing the world with the bodies, and reading the components
    bounds : keeping the trees
    pairs : finding the candidate pairs
    sweep : sweeping them
    answer : answering the impacts, the game's own responses included
    finish : moving the bodies to the end of the step; contacts
    write : writing the components
    deliver : making the events, and calling the handlers
    """

    read: float = 0.0
    bounds: float = 0.0
    pairs: float = 0.0
    sweep: float = 0.0
    answer: float = 0.0
    finish: float = 0.0
    write: float = 0.0
    deliver: float = 0.0


class _Stopwatch:
    """Seconds by stage of the step under way."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = perf_counter()

    def start(self) -> None:
        """Leave out the time until now."""
        self._since = perf_counter()

    def lap(self, stage: str) -> None:
        """Count the time since the last call to a stage."""
        now = perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


class Stats(NamedTuple):
    """What the last step did, in numbers.

    Attributes
    ----------
    step : steps done
    bodies, movers, static : how many there are; movers have Velocity or Growth
    escapes : times that the path of a body left its fat bounds, or the bounds had become too big
    reinsertions : of these, bodies that were moved to another node of their tree one at a time
    rebuilds : times that one of the two trees was rebuilt in bulk
    pairs : candidate pairs from the tree
    left_out : pairs within a crowd for which there was no room; see `Space.reports`
    sweeps : swept tests
    impacts : collisions reported
    answers : impacts answered
    joins : inelastic answers that made bodies move as one
    crushed, forced : answers of these kinds
    pair_limit_hits : pairs that came to the pair limit
    sweep_limit_hits : bodies that came to the limit of their sweeps; see `Space.pair_limit`
    waiting : bodies that were held because there was no room for their pairs
    held : all bodies that were held where they were, to the end of the step
    depth : of the tree of moving bodies
    asleep : movers that sleep after it; see `Space.sleep`
    tree_cost : half the sum of the perimeters (in 3D: surfaces) of its inner bounds, in world units
    times : a `StageTimes` where `Space.timing` is on, else None
    """

    step: int = 0
    bodies: int = 0
    movers: int = 0
    static: int = 0
    escapes: int = 0
    reinsertions: int = 0
    rebuilds: int = 0
    pairs: int = 0
    left_out: int = 0
    sweeps: int = 0
    impacts: int = 0
    answers: int = 0
    joins: int = 0
    crushed: int = 0
    forced: int = 0
    pair_limit_hits: int = 0
    sweep_limit_hits: int = 0
    waiting: int = 0
    held: int = 0
    depth: int = 0
    asleep: int = 0
    tree_cost: float = 0.0
    times: StageTimes | None = None


class _Responder:
    """One registration of a game's own response, whose identity tells it from a later one."""

    def __init__(self, function: Respond) -> None:
        self.function = function


class Stepper:
    """What a space does in a step, stage by stage.

    Attributes
    ----------
    reports : list of Report
        The last 64 reports, the newest at the end; a game may clear it.
    n_reports : int
        How many reports there have been.
    """

    def __init__(
        self,
        dim: int,
        margin: float | None,
        lookahead: float,
        components: Components,
        sweeps: bool,
        wrap: Wrap | None = None,
    ) -> None:
        self.dim = dim
        self._ring = None if wrap is None else Ring(wrap)
        self._gravity: Vector = (0.0,) * dim
        self.reports: list[Report] = []
        self.n_reports = 0
        self._stats: Stats | None = Stats()
        self._counts: list[Any] = []
        self._stopwatch: _Stopwatch | None = None
        self._margin = -1.0 if margin is None else margin
        self._lookahead = lookahead
        self._timeline = self._make_timeline(sweeps)
        self._roster = Roster(dim, self._timeline, components, sweeps, self._ring)
        self._presence = Presence(self._roster, self._ring)
        self._judges = Judges(self._roster, self._timeline.candidates)
        self._events = StepEvents(dim)
        self._subscribers = Subscribers()
        self._responders: dict[type, _Responder] = {}
        self._generations = Generations()  # of the responders
        self._world: World | None = None
        self._guard = Guard(self._put_right)
        self._phase = _IDLE
        self._kept: _Kept | None = None  # of a step that is under way
        self._dt = 0.0
        self._step = 0
        self._time = 0.0
        self._n_movers = self._n_asleep = 0
        self._rest_speed = 0.0
        self._pair_limit = 0
        self._impact: Impact | None = None
        self._settling = False
        self._is_answered = False  # by a ResponseSystem, all impacts of the step
        self._errors: list[Exception] = []
        self._new_reports: list[Report] = []
        self._is_crowded = self._is_holding = False

    def _make_timeline(self, sweeps: bool) -> Any:
        timeline = _backend.kernels.timeline.Timeline(self.dim)
        timeline.candidates.margin = self._margin
        timeline.candidates.lookahead = self._lookahead
        timeline.carrying.sweeps = sweeps
        timeline.gravity.set(self._gravity)
        return timeline

    def _set_gravity(self, gravity: Vector) -> None:
        """Let bodies fall otherwise from the next step on."""
        self._gravity = gravity
        self._timeline.gravity.set(gravity)
        self._roster.set_gravity(gravity)

    # -- the world --

    @property
    def components(self) -> Components:
        """Which types of components this space reads and writes."""
        return self._roster.components

    @property
    def world(self) -> World:
        """The world this space belongs to.

        Raises
        ------
        RuntimeError
            It does not belong to one yet.
        """
        if self._world is None:
            raise RuntimeError(
                "this Space belongs to no world yet: call ecs_collide.install(space), "
                "or make the four systems with it, where the world is current"
            )
        return self._world

    def attach(self, world: World) -> None:
        """Belong to a world from now on; once and for all.

        Raises
        ------
        RuntimeError
            The space belongs to another world.
        """
        if self._world is None:
            self._world = world
        elif self._world != world:
            raise RuntimeError(f"this Space belongs to {self._world}, not to {world}")

    @property
    def wrap(self) -> Wrap | None:
        """How wide the world is on each axis, None on those that do not wrap; None if none does."""
        return None if self._ring is None else self._ring.wrap

    # -- the four stages of a step --

    def update_bounds(self, dt: float) -> None:
        """Begin a step of `dt` seconds: read the components and find the candidate pairs.

        Raises
        ------
        RuntimeError
            A step is under way in a handler or another thread, or another
            world is current.
        TypeError, ValueError, AttributeError
            `dt` is negative or no finite number, or a component holds something that is no
            number, or lacks an attribute.  Nothing has changed then.
        """
        with self._guard:
            try:
                self._begin_step(dt)
            except BaseException:
                self._give_up()
                raise

    def _begin_step(self, dt: float) -> None:
        world = self.world
        if self._guard.is_nested:
            raise RuntimeError(
                "a step was begun inside a handler or response of the same space: "
                "let the step end first"
            )
        world.require_current()
        dt = _checked_dt(dt)
        watch = self._stopwatch
        if watch is not None:
            watch.seconds.clear()
            watch.start()
        if self._kept is not None:  # the step before was never finished: it did not happen
            self._guard.is_changing = True
            self._put_right()
        roster, timeline = self._roster, self._timeline
        self._keep(timeline)
        self._guard.is_changing = True
        self._guard.begin_step()
        roster.compare(world)
        self._new_reports = self._new_reports + roster.read(self._step, dt, self._rest_speed)
        if watch is not None:
            watch.lap("read")
        self._dt = dt
        timeline.contacts.clock = self._time
        self._impact = None
        self._settling = self._is_answered = False
        self._errors = []
        self._judges.begin_step(self._errors)
        timeline.rest_speed = self._rest_speed
        timeline.pair_limit = self._pair_limit
        timeline.require(roster.columns.capacity)
        timeline.begin()
        timeline.place_still(roster.touched_still.data)
        roster.wake_near()
        roster.wake(timeline.carrying.begin())
        if timeline.candidates.judge is not None:  # of those who sleep nobody would be asked
            roster.wake_all()
        self._n_movers = len(roster.moving) + roster.sleep.n
        timeline.candidates.step = self._step
        timeline.place_moving(roster.moving.data, dt)
        timeline.push_out(roster.moving.data)
        roster.wake_reached()
        if watch is not None:
            watch.lap("bounds")
        if not timeline.find_pairs(roster.active.data):  # there may be a crowd
            roster.wake_all()
            timeline.place_moving(roster.moving.data, dt)
            timeline.find_pairs(roster.active.data)
        self._note_crowd()
        if watch is not None:
            watch.lap("pairs")
        self._phase = _BOUNDED
        self._guard.is_changing = False

    # -- a step that does not happen --

    def _keep(self, timeline: Any) -> None:
        """Keep what the space is before a step; from here on the step can be taken back."""
        pending = None
        if n := timeline.keep():
            log = timeline.log
            times, bodies = np.array(log.contact_time)[:n], np.array(log.contact_bodies)[:n]
            pending = times, bodies, np.array(log.contact_codes)[:n]
        self._kept = _Kept(
            timeline, self._roster.begin(), pending, tuple(self.reports), _fields(self)
        )

    def _give_up(self) -> None:
        """Put right what a stage has left that raises; if that cannot be, then before the next."""
        if self._guard.is_changing and not self._guard.is_nested:
            with suppress(Exception):
                self._put_right()

    def _put_right(self) -> None:
        """Let what was cut short not have happened; where that is cut short too, call it again."""
        if self._kept is not None:
            self._take_back(self._kept)
            self._kept = None
        self._guard.is_changing = False

    def _take_back(self, kept: _Kept) -> None:
        """Be what the space was before the step under way: nothing of what it did is left.

        Whatever an exception may have left half done, trees and pairs and all that a step works
        with, is thrown away and made anew.
        """
        impact, self._impact = self._impact, None
        if impact is not None:
            impact.end()
        before, roster = kept.timeline, self._roster
        contacts, rides = before.contacts.kept(), before.carrying.kept()
        timeline = self._make_timeline(roster.sweeps)
        roster.take_back(kept.roster, before.bodies.traits, timeline)
        timeline.contacts.recover(contacts[0], contacts[1])
        if self._ring is not None:
            timeline.contacts.recover_images(contacts[2])
        timeline.carrying.recover(*rides)
        if kept.pending is not None:
            timeline.log.recover(*(column.data for column in kept.pending))
        self._use(timeline)
        self.reports[:] = kept.reports
        self.__dict__.update(zip(_FIELDS, kept.fields, strict=True))
        self._errors = []
        self._phase = _IDLE

    def _use(self, timeline: Any) -> None:
        """Do all steps with another timeline from now on."""
        self._timeline = timeline
        self._judges.use(timeline.candidates)

    def _note_crowd(self) -> None:
        """Report a crowd in which there are more pairs than there is room for, when it begins."""
        candidates = self._timeline.candidates
        # The members of a soft crowd part, with or without being pairs.
        is_hard = candidates.n_left_out > candidates.separating.n_left_out
        crowd = candidates.crowd if is_hard else []
        if crowd and not self._is_crowded:
            entities = sorted(self._roster.columns.ids[crowd].tolist())
            n = candidates.n_left_out
            report = crowd_report(self._step, entities, n)
            self._new_reports = [*self._new_reports, report]
        self._is_crowded = bool(crowd)

    def _report_held(self) -> list[Report]:
        """Return a report of the bodies that the step has held, if the one before held none."""
        timeline = self._timeline
        entities = timeline.holding.entities()
        is_new = entities and not self._is_holding
        self._is_holding = bool(entities)
        if not is_new:
            return []
        counts = timeline.n_pair_limit, timeline.n_sweep_limit, timeline.candidates.n_waiting
        return [held_report(self._step, entities, *counts)]

    def queue_impacts(self, dt: float | None = None) -> None:
        """Sweep the candidate pairs and queue the first impact of each."""
        with self._guard:
            try:
                self._queue_impacts(dt)
            except BaseException:
                self._give_up()
                raise

    def _queue_impacts(self, dt: float | None) -> None:
        self._require_phase("NarrowphaseSystem", "BroadphaseSystem", _BOUNDED, _BOUNDED, dt)
        self._guard.is_changing = True
        self._start_lap()
        self._timeline.queue_impacts()
        self._end_lap("sweep")
        self._phase = _QUEUED
        self._guard.is_changing = False

    def answer_impacts(self, dt: float | None = None, respond: Respond | None = None) -> None:
        """Answer all impacts of the step in time order, each through `respond` if it is given."""
        with self._guard:
            try:
                self._answer_impacts(dt, respond)
            except BaseException:
                self._give_up()
                raise

    def _answer_impacts(self, dt: float | None, respond: Respond | None) -> None:
        self._require_phase("ResponseSystem", "NarrowphaseSystem", _QUEUED, _ANSWERING, dt)
        if self._is_answered:
            raise RuntimeError(
                "a second ResponseSystem was run in one step of this Space: the first one has "
                "answered all impacts, so keep one of them"
            )
        self._guard.is_changing = True
        self._phase = _ANSWERING
        self._settling = True
        self._conclude(default=False)
        self._timeline.hand_over = respond is not None
        self._start_lap()
        while self._timeline.run(True) >= 0:
            impact = self._take_impact()
            default = self._are_alive(impact)
            if default and respond is not None:
                default = self._call(respond, impact) is DEFAULT
            self._conclude(default and self._ask(impact))
        self._is_answered = True
        self._end_lap("answer")
        self._guard.is_changing = False

    def next_impact(self) -> Impact | None:
        """Return the next impact of the step that wants an answer, or None.

        For a game's own response system, between `NarrowphaseSystem` and
        `MotionSystem`: the bodies are where they meet; set their velocities,
        or call `Impact.answer`.  Taking the next impact ends the one before:
        a pair that is still closing then is slid along its surface.
        """
        with self._guard:
            try:
                return self._next_impact()
            except BaseException:
                self._give_up()
                raise

    def _next_impact(self) -> Impact | None:
        self._require_phase("next_impact()", "NarrowphaseSystem", _QUEUED, _ANSWERING, None)
        self._guard.is_changing = True
        self._phase = _ANSWERING
        self._settling = True
        self._conclude(default=False)
        self._timeline.hand_over = True
        while self._timeline.run(True) >= 0:
            impact = self._take_impact()
            if self._are_alive(impact):
                self._guard.is_changing = False
                return impact
            self._conclude(default=False)
        self._guard.is_changing = False
        return None

    def finish_step(self, dt: float | None = None) -> None:
        """Move all bodies to the end of the step, write the components, deliver the events.

        Raises
        ------
        Exception
            Whatever a handler or a response raised, once everything is done;
            several together as an ExceptionGroup.
        """
        with self._guard:
            try:
                self._finish_step(dt)
            except BaseException:
                self._give_up()
                raise

    def _finish_step(self, dt: float | None) -> None:
        self._require_phase("MotionSystem", "BroadphaseSystem", _BOUNDED, _ANSWERING, dt)
        timeline, roster = self._timeline, self._roster
        self._guard.is_changing = True
        self._start_lap()
        self._conclude(default=False)
        timeline.run(False)
        drives = roster.drives
        timeline.finish(
            roster.moving.data,
            self._settling,
            drives.rows.data,
            drives.targets.data,
        )
        roster.take_in_roused()
        if self._ring is not None:
            arrived = drives.arrived()
            timeline.bring_in(roster.moving.data)
            drives.reach_goals(arrived)
        self._end_lap("finish")
        settled = self._settling
        try:
            roster.write()
        except MemoryError:
            raise
        except Exception as error:  # of a component of the game's own
            self._errors.append(error)
            settled = False
        roster.end_step(self._step + 1, settled)
        self._end_lap("write")
        events, reports = StepEvents.in_log(self.dim, timeline.log), self._new_reports
        all_reports = [*reports, *self._report_held()]
        counts = self._count(len(events.collisions))
        timeline.log.clear()
        if all_reports:
            self.reports[:] = [*self.reports, *all_reports][-N_KEPT:]
        self.__dict__.update(  # one call, in which nothing can come between
            _events=events,
            _step=self._step + 1,
            _time=self._time + self._dt,
            _counts=counts,
            _n_asleep=roster.sleep.n,
            _stats=None,
            _new_reports=[],
            n_reports=self.n_reports + len(all_reports),
            _phase=_IDLE,
            _kept=None,  # from here on the step has happened, and before it had not
        )
        self._guard.is_changing = False
        self._warn_of(reports)
        try:
            self._errors += self._subscribers.deliver(
                self.world,
                self._events.collisions,
                self._events.contact_runs,
                self._touching,
            )
        finally:
            self._end_lap("deliver")
            self._stats = None
        errors, self._errors = self._errors, []
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise ExceptionGroup(f"{len(errors)} handlers or responses failed in one step", errors)

    @property
    def up(self) -> Vector:
        """Which way is up: a unit vector along an axis."""
        raise NotImplementedError

    def _touching(self) -> list[Contact]:
        """Return a contact for each two bodies that touched in the step that is done."""
        raise NotImplementedError

    def _warn_of(self, reports: list[Report]) -> None:
        """Warn of the bodies that were quarantined in the step that is done, or are not fixed."""
        messages = [report.message for report in reports]
        messages += [_ignored_fixed(entity) for entity in self._roster.take_ignored()]
        for message in messages:
            try:
                warnings.warn(message, RuntimeWarning, stacklevel=5)
            except RuntimeWarning as warning:  # where the game has made warnings errors
                self._errors.append(warning)

    def _require_phase(
        self, who: str, before: str, least: int, most: int, dt: float | None
    ) -> None:
        self.world.require_current()
        if not least <= self._phase <= most or self._guard.is_nested:
            raise RuntimeError(
                f"{who} was run out of order: it needs {before} before it in the same step"
            )
        self._guard.require_own_step(who)
        if dt is not None and _checked_dt(dt) != self._dt:
            raise ValueError(
                f"{who} got dt={dt!r} where BroadphaseSystem got {self._dt!r}: "
                "all four systems of a step must see the same dt"
            )

    @property
    def is_stepping(self) -> bool:
        """Whether a step has been begun and is not finished; handlers run when it is."""
        return self._phase != _IDLE

    def _drop_step(
        self, step: int, time: float, counts: list[Any], new_reports: list[Report]
    ) -> None:
        """Forget a step that may be under way, and be where so many have been done."""
        self._step, self._time = step, time
        self._counts, self._new_reports = counts, new_reports
        self._stats = None
        self._n_asleep = 0
        self._phase = _IDLE
        self._settling = False

    # -- what a step did --

    @property
    def stats(self) -> Stats:
        """What the last step did, in numbers; made when first asked for after a step."""
        if self._stats is None:
            watch = self._stopwatch
            self._stats = Stats(*self._counts)._replace(
                asleep=self._n_asleep,
                tree_cost=self._timeline.candidates.moving.cost,
                times=None if watch is None else StageTimes(**watch.seconds),
            )
        return self._stats

    @property
    def timing(self) -> bool:
        """Whether `stats.times` says how long each stage of a step takes; off by default."""
        return self._stopwatch is not None

    @timing.setter
    def timing(self, wanted: bool) -> None:
        if wanted != self.timing:
            self._stopwatch = _Stopwatch() if wanted else None

    def _start_lap(self) -> None:
        if self._stopwatch is not None:
            self._stopwatch.start()

    def _end_lap(self, stage: str) -> None:
        if self._stopwatch is not None:
            self._stopwatch.lap(stage)

    def _count(self, n_collisions: int) -> list[Any]:
        """Return the numbers of the step that is about to be done, as the fields of `Stats`."""
        t, r = self._timeline, self._roster
        n_bodies, n_movers = len(r.rows), self._n_movers
        return [
            self._step + 1, n_bodies, n_movers, n_bodies - n_movers,
            *t.candidates.count_work(),
            t.pairs.n, t.candidates.n_left_out, t.meetings.n_sweeps,
            n_collisions, t.n_answers, t.responder.clusters.n_merges,
            t.n_crushed, t.n_forced, t.n_pair_limit, t.n_sweep_limit, t.candidates.n_waiting,
            t.n_held, t.candidates.moving.depth,
        ]  # fmt: skip

    # -- impacts that Python answers --

    def _take_impact(self) -> Impact:
        """Make the object for the impact that the timeline has handed over."""
        log, event = self._timeline.log, self._timeline.event
        first, second = log.first[event], log.second[event]
        for entity in (first, second):
            self._roster.write_one(self._roster.row_of[entity])
        self._impact = Impact(
            self,
            log.time[event],
            log.exit[event],
            first,
            second,
            axis_normal(self.dim, log.codes[event, 2], log.codes[event, 3]),
            SweepKind(log.codes[event, 0]),
            log.numbers[event, 4 + self.dim],
        )
        return self._impact

    def _call(self, respond: Respond, impact: Impact) -> object:
        """Call a game's own response; if it fails, the built-in answer is given."""
        try:
            answer = respond(impact)
        except MemoryError:
            raise
        except Exception as error:
            self._errors.append(error)
            answer = DEFAULT
        if self.world.come_back():
            self._errors.append(
                RuntimeError(
                    f"a response left {self.world} in the middle of a step, and was brought back: "
                    "switch worlds in a handler or between steps"
                )
            )
        return answer

    def _are_alive(self, impact: Impact) -> bool:
        world, roster = self.world, self._roster
        return all(
            world.exists(entity) and roster.is_body_of(entity, world)
            for entity in (impact.first, impact.second)
        )

    def _ask(self, impact: Impact) -> bool:
        """Let the game's own responses answer; tell whether the built-in one is wanted."""
        functions: dict[Respond, None] = {}
        for entity in (impact.first, impact.second):
            for kind, responder in self._responders.items():
                if self._roster.holder(kind, self._roster.row_of[entity]) is not None:
                    functions[responder.function] = None
        default = True
        for function in functions:
            if not self._are_alive(impact):
                break
            default = self._call(function, impact) is DEFAULT and default
        return default

    def _conclude(self, default: bool) -> None:
        """End the impact that is open, if one is; with `default`, by the built-in answer."""
        impact, self._impact = self._impact, None
        if impact is None:
            return
        impact.end()
        self._take_over(impact)
        self._timeline.conclude(default and not impact.is_answered)

    def _take_over(self, impact: Impact) -> None:
        """Take over what the game has done to the two bodies of an impact."""
        for entity in (impact.first, impact.second):
            row = self._roster.row_of[entity]
            if not self.world.exists(entity):
                self._timeline.take_out(row)
                continue
            try:
                if not self._roster.read_one(row, self.world):
                    self._timeline.take_out(row)
            except (TypeError, ValueError, OverflowError, AttributeError) as error:
                self._errors.append(self._roster.error_of(entity, error))

    def answer_pending(self, impact: Impact) -> None:
        """Give the built-in answer to the impact that is open."""
        self._take_over(impact)
        self._timeline.answer_pending()
        for entity in (impact.first, impact.second):
            self._roster.write_one(self._roster.row_of[entity])

    def position_of(self, entity: int) -> Vector:
        """Return where a body is at the time the step has reached."""
        row = self._row_in_step(entity)
        if row < 0:
            return tuple(self._new_body(entity).centre)
        return tuple(self._timeline.centre_now(row, k) for k in range(self.dim))

    def velocity_of(self, entity: int) -> Vector:
        """Return a body's velocity at the time the step has reached; zeros where it has none."""
        row = self._row_in_step(entity)
        if self._roster.sweeps and row >= 0:
            return tuple(self._roster.columns.velocity[row].tolist())
        component = self.world.component(entity, self.components.velocity.kind)
        return (0.0,) * self.dim if component is None else self._roster.velocity_of(component)

    def _row_in_step(self, entity: int) -> int:
        """Return the row of a body of the step under way, otherwise as `_row`."""
        row = self._roster.row_of.get(entity) if self.is_stepping else None
        return self._row(entity) if row is None else row

    def give_velocity(self, entity: int, velocity: VectorLike) -> None:
        """Write a body's velocity into its component."""
        kind = self.components.velocity.kind
        component = self.world.component(entity, kind)
        row = self._row_in_step(entity) if self._roster.sweeps else -1
        if component is None and row < 0:
            raise ValueError(f"entity {entity} has no {kind.__name__} to set")
        numbers = _checks.vectors("velocity", velocity)
        if numbers.shape != (self.dim,):
            raise ValueError(f"velocity={velocity!r} must be {self.dim} numbers")
        if row < 0:
            self._roster.set_velocity(component, numbers.tolist())
            return
        for k, value in enumerate(numbers.tolist()):
            self._timeline.set_velocity(row, k, value)

    def respond_with(self, component: type, respond: Respond) -> Unsubscribe:
        """Let a function answer the impacts of all bodies that have a component.

        Parameters
        ----------
        component : type
            Makes its bodies yield, as `Slide` does.
        respond : callable
            Called in time order with the `Impact`; may set velocities, delete
            either entity, or return `DEFAULT` to get the built-in answer.  Of
            a pair whose bodies have different functions both are called.

        Returns
        -------
        callable
            Call it to take the function away.

        Raises
        ------
        ValueError
            Another function answers for that component type, and was not taken away.  One from
            the same definition that was given before `esper.clear_database` is replaced instead.
        """
        require_component_type("component", component)
        if not callable(respond):
            raise TypeError(f"respond={respond!r} must be a function that takes an Impact")
        known = self._responders.get(component)
        if known is None:
            known = self._responders[component] = _Responder(respond)
            self._roster.watch(component, CUSTOM)
        elif self._generations.is_replaced(known, known.function, respond, self._world):
            self._generations.drop(known)
            known = self._responders[component] = _Responder(respond)
        elif not is_same_function(known.function, respond):
            name = component.__name__
            raise ValueError(
                f"respond_with({name}, {respond!r}): {known.function!r} answers for {name} "
                "already; call what respond_with() returned for it first"
            )
        self._generations.add(known, self._world)

        def remove() -> None:
            if self._responders.get(component) is known:
                del self._responders[component]
                self._generations.drop(known)
                self._roster.unwatch(component, CUSTOM)

        return remove

    def _row(self, entity: int) -> int:
        """Return the row of a body, -1 if no step has read it yet; KeyError if it is none."""
        self._guard.refuse_others()
        if self._world is None:
            raise self._presence.no_body(entity, None)
        return self._presence.row(self._world, entity)

    def _new_body(self, entity: int) -> NewBody:
        """Return what the components of a body say that no step has read yet."""
        return self._presence.read(self.world, entity)


def _ignored_fixed(entity: int) -> str:
    """Return what to say of a body that is declared fixed and moves."""
    return (
        f"entity {entity} has Fixed and a component that moves it: Fixed is ignored; "
        "remove one of them"
    )


def _checked_dt(dt: float) -> float:
    """Return the length of a step as a float, or say what is wrong with it."""
    try:
        if isinstance(dt, (str, bytes, bytearray)):
            raise TypeError
        seconds = float(dt)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"dt={dt!r} must be a number of seconds, 0 or more") from None
    if not 0.0 <= seconds < math.inf:
        raise ValueError(f"dt={dt!r} must be finite and 0 or more, in seconds")
    return seconds
