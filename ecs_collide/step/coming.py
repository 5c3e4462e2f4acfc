"""The queued impacts of a step, before any of them is resolved.

A game's system between `NarrowphaseSystem` and `ResponseSystem` reads them as `Space.impacts`.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ecs_collide.events import SWEEP_KINDS, BodyPair, SweepKind, Vector, collision_dtype
from ecs_collide.step.events_of_step import unit_normals


@cache
def impact_dtype(dim: int) -> np.dtype[np.void]:
    """Return the dtype of an array of coming impacts: the fields of `ComingImpact`, in order.

    Vectors have the shape ``(dim,)``; `kind` is a code of `SweepKind`.
    """
    fields = [
        (name, collision_dtype(dim)[name])
        for name in collision_dtype(dim).names or ()
        if name not in ("contact_min", "contact_max", "impulse", "solids", "outcome")
    ]
    return np.dtype([*fields, ("crosses", np.bool_)])


@dataclass(frozen=True, slots=True)
class ComingImpact(BodyPair):
    """The first impact of two bodies in this step, unless an earlier impact changes it.

    Attributes
    ----------
    time, exit, first, second, normal, kind, closing_speed
        As in `Collision`, with the lower id first.
    position_first, position_second : tuple of float
        The centres at the impact, in world units.
    velocity_first, velocity_second : tuple of float
        In world units per second.
    crosses : bool
        Whether the two pass through each other: neither is dynamic or one is a `Sensor`.
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

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Self:
        """Return the impact in a row of an array with the dtype `impact_dtype`."""
        time, exit_, first, second, normal, kind, *rest = row
        return cls(time, exit_, first, second, normal, SWEEP_KINDS[kind], *rest)


@cache
def no_impacts(dim: int) -> NDArray[np.void]:
    """Return an empty array of impacts, read-only."""
    array = np.zeros(0, impact_dtype(dim))
    array.setflags(write=False)
    return array


def read_impacts(dim: int, narrowphase: Any) -> NDArray[np.void]:
    """Return the queued impacts in the order in which they are due, read-only."""
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
    array["normal"] = unit_normals(axis, sign, dim, narrowphase.normals)
    array["crosses"] = crosses
    array = array[order]
    array.setflags(write=False)
    return array
