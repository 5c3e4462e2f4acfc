"""The events of one step, frozen: structured arrays made from the kernels' log."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.events import (
    BEGAN,
    CONTACT_BEGAN,
    CONTACT_ENDED,
    ENDED,
    Collision,
    ContactBegan,
    ContactEnded,
    EventSequence,
    Vector,
    collision_dtype,
    contact_dtype,
)


class StepEvents:
    """The collisions, begins and ends of a step; empty without a log."""

    def __init__(self, dim: int, log: Any = None) -> None:
        self.collision_array = _collisions(dim, log)
        self.contact_array = _contacts(dim, log)
        self.collision_array.flags.writeable = False
        self.contact_array.flags.writeable = False
        self.collisions = EventSequence(self.collision_array, Collision.from_row)
        events = self.contact_array["event"]
        self.contacts_began = EventSequence(
            self.contact_array[events == BEGAN], ContactBegan.from_row
        )
        self.contacts_ended = EventSequence(
            self.contact_array[events == ENDED], ContactEnded.from_row
        )

    def contact_runs(self) -> list[tuple[str, EventSequence[Any]]]:
        """Return begins and ends under their names, in the order in which they came."""
        runs: list[tuple[str, EventSequence[Any]]] = []
        start = 0
        for event, group in groupby(self.contact_array["event"].tolist()):
            stop = start + len(list(group))
            part = self.contact_array[start:stop]
            if event == BEGAN:
                runs.append((CONTACT_BEGAN, EventSequence(part, ContactBegan.from_row)))
            else:
                runs.append((CONTACT_ENDED, EventSequence(part, ContactEnded.from_row)))
            start = stop
        return runs


def axis_normal(dim: int, axis: int, sign: int) -> Vector:
    """Return the unit vector of an axis and a direction."""
    return tuple(float(sign) if k == axis else 0.0 for k in range(dim))


def _normals(dim: int, axis: NDArray[np.int8], sign: NDArray[np.int8]) -> NDArray[np.float64]:
    normals = np.zeros((len(axis), dim))
    normals[np.arange(len(axis)), axis] = sign
    return normals


def _collisions(dim: int, log: Any) -> NDArray[np.void]:
    n = log.n_collisions if log is not None else 0
    array = np.zeros(n, collision_dtype(dim))
    if n == 0:
        return array
    bodies, codes = np.asarray(log.bodies)[:n], np.asarray(log.codes)[:n]
    vectors = np.asarray(log.vectors)[:n].reshape(n, 4, dim)
    array["time"] = np.asarray(log.time)[:n]
    array["exit"] = np.asarray(log.exit)[:n]
    array["first"], array["second"] = bodies[:, 0], bodies[:, 1]
    array["normal"] = _normals(dim, codes[:, 2], codes[:, 3])
    array["kind"], array["answer"] = codes[:, 0], codes[:, 1]
    array["closing_speed"] = np.asarray(log.speed)[:n]
    array["position_first"], array["position_second"] = vectors[:, 0], vectors[:, 1]
    array["velocity_first"], array["velocity_second"] = vectors[:, 2], vectors[:, 3]
    return array


def _contacts(dim: int, log: Any) -> NDArray[np.void]:
    n = log.n_contacts if log is not None else 0
    array = np.zeros(n, contact_dtype(dim))
    if n == 0:
        return array
    bodies, codes = np.asarray(log.contact_bodies)[:n], np.asarray(log.contact_codes)[:n]
    time = np.asarray(log.contact_time)[:n]
    # In time order; found at the start, within, at the end of the step; by ids.
    order = np.lexsort((bodies[:, 1], bodies[:, 0], codes[:, 1], time))
    bodies, codes = bodies[order], codes[order]
    array["event"] = codes[:, 0]
    array["first"], array["second"] = bodies[:, 0], bodies[:, 1]
    array["normal"] = _normals(dim, codes[:, 2], codes[:, 3])
    array["time"] = time[order]
    array["kind"], array["reason"] = codes[:, 4], codes[:, 5]
    return array
