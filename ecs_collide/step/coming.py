"""The impacts that the narrowphase has found, before any of them is answered.

A game's system between `NarrowphaseSystem` and `ResponseSystem` reads them as
`Space.impacts`, and may decide about each: its pair crosses, or is answered by another response.
A decision is about two bodies and holds until the step ends.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.events import EventSequence, SweepKind, collision_dtype
from ecs_collide.step.events_of_step import unit_normals
from ecs_collide.step.impact import ComingImpact, Decisions

_KINDS = tuple(SweepKind)


@cache
def impact_dtype(dim: int) -> np.dtype[np.void]:
    """Return the dtype of an array of coming impacts: the fields of `ComingImpact`, in order.

    Vectors have the shape ``(dim,)``; `kind` is a code of `SweepKind`.
    """
    fields = [
        (name, collision_dtype(dim)[name])
        for name in collision_dtype(dim).names or ()
        if name not in ("solids", "answer")
    ]
    return np.dtype([*fields, ("crosses", np.bool_)])


@cache
def no_impacts(dim: int) -> NDArray[np.void]:
    """Return an array of no impacts, read-only."""
    array = np.zeros(0, impact_dtype(dim))
    array.setflags(write=False)
    return array


def coming_impacts(dim: int, meetings: Any) -> NDArray[np.void]:
    """Return the impacts that are queued, in the order in which they are due, read-only."""
    n = meetings.queue.size
    numbers, codes = np.empty((n, 3 + 4 * dim)), np.empty((n, 8), np.int64)
    n = meetings.impacts_into(numbers.data, codes.data)
    numbers, codes = numbers[:n], codes[:n]
    first, second, corner, image, kind, axis, sign, crosses = codes.T
    order = np.lexsort((image, second, first, corner, numbers[:, 0]))
    array = np.empty(n, impact_dtype(dim))
    for k, name in enumerate(("time", "exit", "closing_speed")):
        array[name] = numbers[:, k]
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


def impacts_of(array: NDArray[np.void], decisions: Decisions) -> EventSequence[ComingImpact]:
    """Return the impacts of an array as objects that are made when they are looked at."""

    def make(row: tuple[Any, ...]) -> ComingImpact:
        time, exit_, first, second, normal, kind, speed, at_first, at_second, v1, v2, crosses = row
        return ComingImpact(
            time,
            exit_,
            first,
            second,
            normal,
            _KINDS[kind],
            speed,
            at_first,
            at_second,
            v1,
            v2,
            crosses,
            decisions,
            array,
        )

    return EventSequence(array, make)
