"""Parts that several demos are made of: bodies drawn as they are, walls, outlines, ghosts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.boxes import BLUE, GREEN, GREY, ORANGE, PALE, RED, YELLOW, Boxes, Colour

COLOURS = (RED, ORANGE, YELLOW, GREEN, BLUE)


@dataclass(slots=True)
class Paint:
    """The colour in which a body is drawn as its box; higher layers are drawn later."""

    colour: Colour = PALE
    layer: int = 0


def create_wall(
    low: tuple[float, float], high: tuple[float, float], *others: object, colour: Colour = GREY
) -> int:
    """Create a body without response by its corners, with other components; return its id."""
    (left, bottom), (right, top) = low, high
    return esper.create_entity(
        ec.Position((left + right) / 2, (bottom + top) / 2),
        ec.Extents.from_size(right - left, top - bottom),
        Paint(colour),
        *others,
    )


def create_frame(width: float, height: float, thick: float, sides: str = "lrbt") -> list[int]:
    """Create walls around the box from (0, 0) to (width, height): left, right, bottom, top."""
    places = {
        "l": ((-thick, -thick), (0.0, height + thick)),
        "r": ((width, -thick), (width + thick, height + thick)),
        "b": ((0.0, -thick), (width, 0.0)),
        "t": ((0.0, height), (width, height + thick)),
    }
    return [create_wall(*places[side]) for side in sides]


class Energy:
    """The energy of boxes of equal mass: the exactly rounded sum of their squared speeds.

    `velocities` returns their velocities, shape (n, dim).
    """

    def __init__(self, velocities: Callable[[], NDArray[np.float64]]) -> None:
        self._velocities = velocities
        self.at_start = self.now()

    def now(self) -> float:
        """Return the energy after the last step."""
        return fsum((self._velocities() ** 2).ravel().tolist())

    @property
    def is_same(self) -> bool:
        """Whether it is the same number as at the start."""
        return self.now() == self.at_start

    def caption(self, n: int) -> str:
        """Return a line about n boxes."""
        return f"{n:,} boxes, energy {'as at the start' if self.is_same else 'has changed'}"

    def report(self) -> str:
        """Return both numbers."""
        return f"energy      {self.at_start!r} at the start, {self.now()!r} now"

    def claim(self) -> tuple[str, bool]:
        """Return the claim, and whether it holds."""
        return "the energy is the same number", self.is_same


def painted() -> Boxes:
    """Return the boxes of all bodies of the current world that have `Paint`."""
    found = esper.get_components(Paint, ec.Position, ec.Extents)
    rows = [
        ((place.x - half.x, place.y - half.y, place.x + half.x, place.y + half.y), 0, paint.colour)
        for _, (paint, place, half) in sorted(found, key=lambda item: (item[1][0].layer, item[0]))
    ]
    return Boxes.of(rows)
