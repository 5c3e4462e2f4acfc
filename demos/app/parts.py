"""Parts that several demos are made of: bodies drawn as they are, walls, outlines, ghosts."""

from __future__ import annotations

from dataclasses import dataclass

import esper

import ecs_collide as ec
from demos.app.boxes import BLUE, GREEN, GREY, ORANGE, PALE, RED, YELLOW, Boxes, Colour
from demos.app.scene import Scene

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


def painted() -> Boxes:
    """Return the boxes of all bodies of the current world that have `Paint`."""
    found = esper.get_components(Paint, ec.Position, ec.Extents)
    rows = [
        ((place.x - half.x, place.y - half.y, place.x + half.x, place.y + half.y), 0, paint.colour)
        for _, (paint, place, half) in sorted(found, key=lambda item: (item[1][0].layer, item[0]))
    ]
    return Boxes.of(rows)


class PaintedScene(Scene):
    """A scene that draws its bodies as they are."""

    def boxes(self) -> Boxes:
        """Return all bodies that have `Paint`."""
        return painted()
