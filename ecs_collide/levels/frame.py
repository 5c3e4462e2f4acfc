"""Where the pixels of a map lie in the world."""

from __future__ import annotations

from dataclasses import dataclass, replace

Point = tuple[float, float]


class WorldPoint(tuple[float, float]):
    """A point of the world that moves with its level: a tuple of 2 floats."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """The world's coordinates of a map, whose pixels an editor counts downwards from its top left.

    Attributes
    ----------
    height : float
        Of the map, in pixels.
    place : tuple of 2 floats
        The lower left corner of the map in a world whose y grows upwards; its top left corner if
        `y_down`.
    y_down : bool
        Whether y grows downwards in the world too, as on a screen.
    """

    height: float = 0.0
    place: Point = (0.0, 0.0)
    y_down: bool = False

    def to_world(self, x: float, y: float) -> WorldPoint:
        """Return the point of the world at a pixel of the map."""
        up = y if self.y_down else self.height - y
        return WorldPoint((self.place[0] + x, self.place[1] + up))

    def to_map(self, x: float, y: float) -> Point:
        """Return the pixel of the map at a point of the world."""
        y -= self.place[1]
        return x - self.place[0], y if self.y_down else self.height - y

    def moved(self, offset: Point) -> Frame:
        """Return the frame of the same map at another place."""
        return replace(self, place=(self.place[0] + offset[0], self.place[1] + offset[1]))
