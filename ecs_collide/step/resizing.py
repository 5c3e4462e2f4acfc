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
from ecs_collide.sync.registry import Roster

KEEPS = {"feet": -1, "head": 1, "centre": 0}


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


def is_as_seen(roster: Roster, row: int, centre: list[float], half: list[float]) -> bool:
    """Return whether a body takes part in steps, moves, and is where the last one left it."""
    c = roster.columns
    return (
        not c.quarantined[row]
        and not c.attached[row]
        and bool(c.moves[row] or c.asleep[row])
        and c.seen_centre[row].tolist() == centre
        and c.seen_half[row].tolist() == half
    )


def take_over(
    roster: Roster, timeline: Any, row: int, position: Any, extents: Any, shift: list[float]
) -> None:
    """Let a body that moves be where its components say, and as large, from the last step on.

    Parameters
    ----------
    roster : Roster
    timeline : Timeline
    row : int
    position, extents : object
        The components of the body, as the game reads them.
    shift : list of float
        How far its centre has moved.  Boxes that are attached to it stay where they are.
    """
    c = roster.columns
    roster.wake([row])
    kinds = roster.makers
    for component, kind, seen in zip(
        (position, extents), kinds, (c.seen_place, c.seen_size), strict=True
    ):
        seen[row] = [float(read_number(component, name)) for name in kind.names]
    if c.is_apart:
        c.seen_centre[row], c.seen_half[row] = roster.box_of(
            c.seen_place[row].tolist(), c.seen_size[row].tolist()
        )
    c.centre[row], c.half[row] = c.seen_centre[row], c.seen_half[row]
    c.calm[row] = -1
    rows = np.array([row], np.int64)
    timeline.place_resized(rows.data)
    boxes = roster.attached.rows
    boxes = boxes[c.seen_owner[boxes, 0] == c.ids[row]]
    c.seen_offset[boxes] -= shift
    roster.note_resized(rows, boxes)
