"""The state of the steps of a space, which its parts share."""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide.events import Vector
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.event_buffer import EventBuffer
from ecs_collide.step.events_of_step import StepEvents, no_events
from ecs_collide.step.stats import Stats
from ecs_collide.step.timeline import Timeline
from ecs_collide.sync.quarantine import N_KEPT, Report

# Phases of a step.
IDLE = 0
BOUNDED = 1
QUEUED = 2
RESOLVED = 3  # or being resolved

held = Stats._fields.index("held")


@cython.final
class StepState:
    """The timeline of a space, the results of its last step and the state of the current one.

    Only `Pipeline` and `Snapshots` write to it; all other parts read it.
    """

    bodies: Bodies
    dim: ReadOnly[int]
    margin: cython.double
    lookahead: cython.double
    sweeps: cython.bint
    gravity: Public[Vector]  # in world units per second squared
    # The kernel that runs the steps.  It is replaced when a step is cut short or a snapshot is
    # restored, so no part keeps a reference to it.
    timeline: Public[Timeline]
    moment: Public[object]  # replaced when a step begins or a snapshot is restored
    generation: Public[object]  # `World.generation` when the last step began

    # Completed steps, and the last one of them.
    step: Public[int]  # number of completed steps
    time: Public[float]  # the sum of all dt, in seconds
    log: Public[object]  # the `EventBuffer` with its events; None if there were none
    known_events: Public[StepEvents | None]  # what `events` returned; None until it is read
    reports: Public[list[Report]]  # the last 64, the newest at the end
    n_reports: Public[int]  # of all steps
    counts: Public[list[Any]]  # numbers, in the order of the fields of `Stats`
    stats: Public[Stats | None]  # `counts` as `Stats`; None until it is read
    n_asleep: Public[int]  # bodies
    is_crowded: Public[cython.bint]  # whether it dropped pairs of a crowd

    # The step under way, or else the last one.
    phase: Public[cython.int]  # `IDLE`, `BOUNDED`, `QUEUED` or `RESOLVED`
    # what `Pipeline.undo_step` needs: the timeline, pending events, `dt`, generation; else None
    before: Public[Any]
    dt: Public[float]  # in seconds
    new_reports: Public[list[Report]]
    n_movers: Public[cython.Py_ssize_t]  # bodies that may move, sleeping ones included
    impacts: Public[NDArray[np.void] | None]  # the queued impacts, once they were read

    def __init__(self, bodies: Bodies, margin, lookahead: cython.double, sweeps: cython.bint):
        self.bodies = bodies
        self.dim = bodies.dim
        self.margin = -1.0 if margin is None else margin
        self.lookahead = lookahead
        self.sweeps = sweeps
        self.gravity = (0.0,) * self.dim
        self.timeline = self.new_timeline()
        self.moment = object()
        self.generation = None
        self.step = 0
        self.time = 0.0
        self.log = None
        self.known_events = None
        self.reports = []
        self.n_reports = 0
        self.counts = []
        self.stats = Stats()
        self.n_asleep = 0
        self.is_crowded = False
        self.phase = IDLE
        self.before = None
        self.dt = 0.0
        self.new_reports = []
        self.n_movers = 0
        self.impacts = None

    @cython.ccall
    def new_timeline(self) -> Any:
        """Return a timeline without bodies, with the settings of this space."""
        timeline = Timeline(self.bodies)
        timeline.broadphase.margin = self.margin
        timeline.broadphase.lookahead = self.lookahead
        timeline.carriers.sweeps = timeline.gravity.sweeps = self.sweeps
        timeline.gravity.set(self.gravity)
        return timeline

    @property
    def events(self) -> StepEvents:
        """The events of the last step."""
        if self.known_events is None:
            has_none = self.log is None
            self.known_events = no_events(self.dim) if has_none else StepEvents(self.dim, self.log)
        return self.known_events

    @property
    def is_stepping(self) -> bool:
        """Whether a step has begun and is not finished; False while handlers run."""
        return self.phase != IDLE

    @cython.ccall
    def was_cleared(self, generation: object) -> cython.bint:
        """Return whether the world, now of a generation, was cleared since the last step."""
        return self.generation is not None and self.generation is not generation

    @property
    def was_holding(self) -> bool:
        """Whether the last step held bodies."""
        return bool(self.counts) and self.counts[held] > 0

    @property
    def trees(self) -> tuple[Any, Any]:
        """The tree of still bodies and the tree of moving bodies."""
        return self.timeline.broadphase.still, self.timeline.broadphase.moving

    @cython.ccall
    def commit(
        self,
        log: EventBuffer,
        buffer: EventBuffer,
        counts: list,
        n_asleep: cython.Py_ssize_t,
        reports: list,
        is_crowded: cython.bint,
    ) -> cython.void:
        """End the step under way in one operation, which an exception cannot split.

        `log`, unless it is None, takes the events of `buffer`; in pure Python it is a new one, as an
        interrupt must leave the events of the last step alone.  From here on the step can no longer
        be undone.
        """
        step: Any = self.step + 1
        time: cython.double = self.time + self.dt
        n_reports: Any = self.n_reports + len(reports)
        kept: list = [*self.reports, *reports][-N_KEPT:] if reports else self.reports
        no_reports: list = []

        if log is not None:
            log.take(buffer)
        if not cython.compiled:
            self.set(
                log=log, known_events=None, step=step, time=time, counts=counts,
                n_asleep=n_asleep, stats=None, reports=kept, new_reports=no_reports,
                n_reports=n_reports, is_crowded=is_crowded, phase=IDLE, before=None,
            )  # fmt: skip
            return
        self.log = log
        self.known_events = None
        self.step = step
        self.time = time
        self.counts = counts
        self.n_asleep = n_asleep
        self.stats = None
        self.reports = kept
        self.new_reports = no_reports
        self.n_reports = n_reports
        self.is_crowded = is_crowded
        self.phase = IDLE
        self.before = None

    def set(self, **fields: Any) -> None:
        """Set attributes in one operation, which an exception cannot split."""
        list(map(setattr, repeat(self), fields, fields.values()))  # runs no bytecode

    def drop_step(
        self, step: int, time: float, counts: list[Any], new_reports: list[Report]
    ) -> None:
        """Drop the step under way, if any, and continue after `step` steps."""
        self.step, self.time = step, time
        self.counts, self.new_reports = counts, new_reports
        self.stats = None
        self.n_asleep = 0
        self.phase = IDLE
        self.moment = object()
