"""The impacts that the narrowphase has found, before any of them is answered.

A game's system between `NarrowphaseSystem` and `ResponseSystem` reads them as
`Space.impacts`, and may decide about each: its pair crosses, or is answered by another response.
A decision is about two bodies and holds until the step ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.events import (
    SWEEP_KINDS,
    BodyPair,
    EventSequence,
    SweepKind,
    Vector,
    collision_dtype,
)
from ecs_collide.response.rules import response_numbers
from ecs_collide.step.events_of_step import unit_normals
from ecs_collide.step.lock import StepLock
from ecs_collide.step.lookup import WorldLink
from ecs_collide.step.state import QUEUED, StepState


@cache
def impact_dtype(dim: int) -> np.dtype[np.void]:
    """Return the dtype of an array of coming impacts: the fields of `ComingImpact`, in order.

    Vectors have the shape ``(dim,)``; `kind` is a code of `SweepKind`.
    """
    fields = [
        (name, collision_dtype(dim)[name])
        for name in collision_dtype(dim).names or ()
        if name not in ("contact_min", "contact_max", "impulse", "solids", "answer")
    ]
    return np.dtype([*fields, ("crosses", np.bool_)])


@dataclass(frozen=True, slots=True)
class ComingImpact(BodyPair):
    """The first impact of two bodies in this step, if nothing happens to either before it.

    Between `NarrowphaseSystem` and `ResponseSystem` it can be decided how the pair is answered.

    Attributes
    ----------
    time, exit, first, second, normal, kind, closing_speed
        As in `Collision`, with the lower id first.
    position_first, position_second : tuple of float
        Where the centres will be, in world units.
    velocity_first, velocity_second : tuple of float
        In world units per second.
    crosses : bool
        Whether the two cross freely, because neither yields or one is a `Sensor`.
    """

    time: float
    exit: float
    first: int
    second: int
    normal: Vector
    kind: SweepKind
    closing_speed: float
    position_first: Vector
    position_second: Vector
    velocity_first: Vector
    velocity_second: Vector
    crosses: bool
    _decisions: ComingImpacts = field(repr=False, compare=False)
    _impacts: NDArray[np.void] = field(repr=False, compare=False)

    def cross(self, until_separate: bool = False) -> None:
        """Veto the answer: the two pass through each other from their next impact on.

        To the end of the step; with `until_separate`, until they have separated, in whichever
        step that is.  The `Collision` says ``CROSSED``.  No response is offered the impact.

        Raises
        ------
        RuntimeError
            Impacts of the step are being answered, or it is over.
        """
        self._decisions.decide_to_cross(self._impacts, self.first, self.second, until_separate)

    def answer(self, response: object) -> None:
        """Answer all impacts of the two in this step by a response.

        No response system or function is offered them.

        Parameters
        ----------
        response : Deflect, Slide, Push or Stop
            Counts for each of the two that yields, in place of what it has.

        Raises
        ------
        RuntimeError
            Impacts of the step are being answered, or it is over.
        ValueError
            The two cross freely: there is nothing to answer.
        """
        if self.crosses:
            raise ValueError(
                f"{self.first} and {self.second} cross freely: neither yields, or one is a "
                "Sensor, and no response is answered"
            )
        self._decisions.decide_to_answer(self._impacts, self.first, self.second, response)


class ComingImpacts:
    """The impacts of the step under way until they are being answered, and decisions about them."""

    def __init__(self, state: StepState, link: WorldLink, lock: StepLock) -> None:
        self._state = state
        self._link = link
        self._lock = lock
        self._none = np.zeros(0, impact_dtype(state.dim))
        self._none.setflags(write=False)

    @property
    def array(self) -> NDArray[np.void]:
        """The impacts in the order in which they are due, read-only; empty at other times."""
        state = self._state
        self._lock.refuse_others()
        if state.phase != QUEUED:
            return self._none
        if state.impacts is None:
            state.impacts = _read(state.dim, state.timeline.narrowphase)
        return state.impacts

    @property
    def impacts(self) -> EventSequence[ComingImpact]:
        """The same as objects that are made when they are looked at."""
        array = self.array

        def make(row: tuple[Any, ...]) -> ComingImpact:
            time, exit_, first, second, normal, kind, *rest = row
            values = time, exit_, first, second, normal, SWEEP_KINDS[kind], *rest, self, array
            return ComingImpact(*values)

        return EventSequence(array, make)

    def decide_to_cross(
        self, impacts: NDArray[np.void], first: int, second: int, until_separate: bool
    ) -> None:
        """Let two bodies cross whose impact is coming; see `ComingImpact.cross`."""
        self._require_coming(impacts)
        self._state.timeline.answering.decide_to_cross(first, second, until_separate)

    def decide_to_answer(
        self, impacts: NDArray[np.void], first: int, second: int, response: object
    ) -> None:
        """Answer two bodies whose impact is coming; see `ComingImpact.answer`."""
        self._require_coming(impacts)
        self._state.timeline.answering.decide_to_answer(first, second, *response_numbers(response))

    def _require_coming(self, impacts: NDArray[np.void]) -> None:
        self._lock.refuse_others()
        self._link.world.require_current()
        if self._state.phase != QUEUED or impacts is not self._state.impacts:
            raise RuntimeError(
                "the impacts of this step are being answered, or it is over: decide about a "
                "coming impact in a system between NarrowphaseSystem and ResponseSystem"
            )


def _read(dim: int, narrowphase: Any) -> NDArray[np.void]:
    """Return the impacts that are queued, in the order in which they are due, read-only."""
    n = narrowphase.queue.size
    numbers, codes = np.empty((n, 3 + 4 * dim)), np.empty((n, 8), np.int64)
    n = narrowphase.impacts_into(numbers.data, codes.data)
    numbers, codes = numbers[:n], codes[:n]
    first, second, rank, image, kind, axis, sign, crosses = codes.T
    times, exits, speeds, *_ = numbers.T
    order = np.lexsort((image, second, first, rank, times))
    array = np.empty(n, impact_dtype(dim))
    array["time"], array["exit"], array["closing_speed"] = times, exits, speeds
    for k, name in enumerate(
        ("position_first", "position_second", "velocity_first", "velocity_second")
    ):
        array[name] = numbers[:, 3 + k * dim : 3 + (k + 1) * dim]
    array["first"], array["second"], array["kind"] = first, second, kind
    array["normal"] = unit_normals(axis, sign, dim)
    array["crosses"] = crosses
    array = array[order]
    array.setflags(write=False)
    return array
