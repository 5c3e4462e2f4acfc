"""The state of the steps of a space, which its parts share."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import backend
from ecs_collide.events import Vector
from ecs_collide.step.events_of_step import no_events
from ecs_collide.step.stats import Stats
from ecs_collide.sync.quarantine import Report

# Phases of a step.
IDLE = 0
BOUNDED = 1
QUEUED = 2
RESOLVED = 3  # or being resolved

# Attributes that stages set before the step is committed.
_SET_BY_STAGES = ("dt", "new_reports", "is_crowded", "n_movers")
_HELD = Stats._fields.index("held")
_read_set_by_stages = attrgetter(*_SET_BY_STAGES)


class StepState:
    """The timeline of a space, the results of its last step and the state of the current one.

    Only `Pipeline` and `Snapshots` write to it; all other parts read it.
    """

    def __init__(self, bodies: Any, margin: float | None, lookahead: float, sweeps: bool) -> None:
        self._bodies = bodies
        self.dim: int = bodies.dim
        self._margin = -1.0 if margin is None else margin
        self._lookahead = lookahead
        self._sweeps = sweeps
        self.gravity: Vector = (0.0,) * self.dim  # in world units per second squared
        # The kernel that runs the steps.  It is replaced when a step is rolled back or a snapshot
        # is restored, so no part keeps a reference to it.
        self.timeline = self.new_timeline()
        self.moment = object()  # replaced when a step begins or a snapshot is restored

        # Completed steps, and the last one of them.
        self.step = 0  # number of completed steps
        self.time = 0.0  # the sum of all dt, in seconds
        self.events = no_events(self.dim)
        self.reports: list[Report] = []  # the last 64, the newest at the end
        self.n_reports = 0  # of all steps
        self.counts: list[Any] = []  # numbers, in the order of the fields of `Stats`
        self.stats: Stats | None = Stats()  # `counts` as a tuple; None until it is read
        self.n_asleep = 0  # bodies
        self.is_crowded = False  # whether it dropped pairs of a crowd

        # The step under way, or else the last one.
        self.phase = IDLE  # `IDLE`, `BOUNDED`, `QUEUED` or `RESOLVED`
        self.before: Any = None  # the state to roll back to; None between steps
        self.dt = 0.0  # in seconds
        self.new_reports: list[Report] = []
        self.n_movers = 0  # bodies that may move, sleeping ones included
        self.impacts: NDArray[np.void] | None = None  # the queued impacts, once they were read

    def new_timeline(self) -> Any:
        """Return a timeline without bodies, with the settings of this space."""
        timeline = backend.kernels.timeline.Timeline(self._bodies)
        timeline.broadphase.margin = self._margin
        timeline.broadphase.lookahead = self._lookahead
        timeline.carriers.sweeps = self._sweeps
        timeline.gravity.set(self.gravity)
        return timeline

    @property
    def is_stepping(self) -> bool:
        """Whether a step has begun and is not finished; False while handlers run."""
        return self.phase != IDLE

    @property
    def was_holding(self) -> bool:
        """Whether the last step held bodies."""
        return bool(self.counts) and self.counts[_HELD] > 0

    @property
    def trees(self) -> tuple[Any, Any]:
        """The tree of still bodies and the tree of moving bodies."""
        broadphase = self.timeline.broadphase
        return broadphase.still, broadphase.moving

    def set_by_stages(self) -> tuple[Any, ...]:
        """Return the attributes that stages set, as `set_back` takes them."""
        fields: tuple[Any, ...] = _read_set_by_stages(self)
        return fields

    def set_back(self, fields: tuple[Any, ...]) -> None:
        """Restore the attributes that stages of the step under way have set."""
        self.__dict__.update(zip(_SET_BY_STAGES, fields, strict=True))
        self.phase = IDLE

    def commit(self, **fields: Any) -> None:
        """Set attributes in one operation, which an exception cannot split."""
        self.__dict__.update(fields)

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
