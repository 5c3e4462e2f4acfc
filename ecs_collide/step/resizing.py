"""Resizing a body between two steps so that one of its faces stays where it is.

A game that sets `Extents` and `Position` itself teleports the body: its contacts end.  Here the
space takes over both at once, as if the last step had ended so.  No step sees a difference, and
contacts go on that still hold.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ecs_collide._attributes import read_number
from ecs_collide.constants import LARGEST
from ecs_collide.dynamics import Attached
from ecs_collide.events import Vector
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.step.lookup import BodyLookup
from ecs_collide.step.state import StepState
from ecs_collide.sync.registry import BodyRegistry

_SIDES = {"feet": -1, "head": 1, "centre": 0}


def centre_beside(face: float, half: float, side: int) -> float:
    """Return the centre of a box one of whose faces is to be in a place.

    Parameters
    ----------
    face : float
        Where the face is to be.
    half : float
        Half the size of the box.
    side : int
        1 if it is the upper face of the box on the axis, -1 if it is the lower one.

    Returns
    -------
    float
        The face computed from the centre is at `face`, or the least bit inside of it.
    """
    centre = face - side * half
    outwards = side * math.inf
    while side * (centre + side * half - face) > 0.0:
        centre = math.nextafter(centre, -outwards)
    while side * (math.nextafter(centre, outwards) + side * half - face) <= 0.0:
        if centre + side * half == face:
            break
        centre = math.nextafter(centre, outwards)
    return centre + 0.0


class BodyResizer:
    """Resizes bodies between two steps, with one of their faces in place."""

    def __init__(
        self,
        state: StepState,
        registry: BodyRegistry,
        lookup: BodyLookup,
        up: Vector,
        domain: PeriodicDomain | None,
    ) -> None:
        self._state = state
        self._registry = registry
        self._lookup = lookup
        self._axis = next(k for k, part in enumerate(up) if part)
        self._up = int(up[self._axis])
        self._domain = domain

    def resize(self, entity: int, height: float, keep: str) -> None:
        """Give a body another height along the axis of up; see `Space.resize`."""
        if keep not in _SIDES:
            raise ValueError(f"keep={keep!r} must be 'feet', 'head' or 'centre'")
        if isinstance(height, bool) or not isinstance(height, (int, float, np.number)):
            raise ValueError(f"height={height!r} must be a number, 0 or more")
        if not 0.0 <= height <= LARGEST:
            raise ValueError(f"height={height!r} must be finite and 0 or more")
        if self._state.is_stepping:
            raise RuntimeError(
                "resize() was called within a step: call it between steps, "
                "or in a handler of their events"
            )
        row, body, registry = (
            self._lookup.row(entity),
            self._lookup.new_body(entity),
            self._registry,
        )
        axis, side = self._axis, self._up * _SIDES[keep]
        centre, half = list(body.centre), list(body.half)
        half[axis] = float(height) / 2.0
        if side:
            face = body.centre[axis] + side * body.half[axis]
            centre[axis] = centre_beside(face, half[axis], side)
        shift = [new - old for new, old in zip(centre, body.centre, strict=True)]
        in_place = row >= 0 and self._is_as_seen(row, body.centre, body.half)
        if self._domain is not None:
            in_place &= self._domain.into_world(np.array(centre)).tolist() == centre
        place, size = (self._lookup.component(entity, kind.type) for kind in registry.makers)
        registry.set_half(size, half)
        attached = self._lookup.component(entity, Attached)
        if attached is not None:
            old = attached.offset[: len(shift)]
            attached.offset = [at + by for at, by in zip(old, shift, strict=True)]
            return
        registry.set_centre(place, size, centre)
        if row >= 0:
            registry.read_again(row)
        if in_place:
            self._read_changes(row, place, size, shift)

    def _is_as_seen(self, row: int, centre: list[float], half: list[float]) -> bool:
        """Return whether a body takes part in steps, moves, and is where the last one left it."""
        c = self._registry.table
        return (
            not c.quarantined[row]
            and not c.attached[row]
            and bool(c.moves[row] or c.asleep[row])
            and c.seen_centre[row].tolist() == centre
            and c.seen_half[row].tolist() == half
        )

    def _read_changes(self, row: int, place: Any, size: Any, shift: list[float]) -> None:
        """Let a body be where its components say, and as large, from the last step on.

        Boxes that are attached to it stay where they are.
        """
        registry, c = self._registry, self._registry.table
        registry.wake([row])
        table = c.seen_place, c.seen_size
        for item, kind, seen in zip((place, size), registry.makers, table, strict=True):
            seen[row] = [float(read_number(item, name)) for name in kind.names]
        if c.is_apart:
            c.seen_centre[row], c.seen_half[row] = registry.box_of(
                c.seen_place[row].tolist(), c.seen_size[row].tolist()
            )
        c.centre[row], c.half[row] = c.seen_centre[row], c.seen_half[row]
        c.rest_count[row] = -1
        rows = np.array([row], np.int64)
        self._state.timeline.place_resized(rows.data)
        boxes = registry.attached.rows
        boxes = boxes[c.seen_owner[boxes].ravel() == c.ids[row]]
        c.seen_offset[boxes] -= shift
        registry.note_resized(rows, boxes)
