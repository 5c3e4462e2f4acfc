"""An overlay on a pygame surface: ``overlay.draw(PygameCanvas(screen))``."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.debug.shapes import Camera, Doubles, Shapes

FONT_SIZE, MARGIN, NARROWEST = 18, 6, 20  # pixels, pixels, characters


class PygameCanvas:
    """A surface of pygame or pygame-ce on which an overlay draws.

    A game with a camera sets `origin` and `zoom` before it draws the overlay.

    Parameters
    ----------
    surface : pygame.Surface
    origin : (x, y)
        The point of the world at the upper left corner of the surface.
    zoom : (x, y)
        Pixels for a world unit on each axis.  With a negative y the world's y grows upwards.

    Examples
    --------
    >>> canvas = PygameCanvas(screen)                       # doctest: +SKIP
    >>> canvas = PygameCanvas(screen, (0, 480), (1, -1))    # doctest: +SKIP
    """

    def __init__(
        self,
        surface: Any,
        origin: tuple[float, float] = (0.0, 0.0),
        zoom: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        self.surface = surface
        self.origin = origin
        self.zoom = zoom
        self._text: tuple[object, Any] = (None, None)

    def start(self) -> Camera:
        """Return the view that `origin` and `zoom` describe."""
        (x, y), (wide, high) = self.origin, self.zoom
        across, down = (2.0 / pixels for pixels in self.surface.get_size())
        # fmt: off
        return Camera(
            (across * wide, 0, 0, 0,
             0, -down * high, 0, 0,
             0, 0, 1, 0,
             -across * wide * x - 1, down * high * y + 1, 0, 1),
            self.surface.get_size(),
        )
        # fmt: on

    def draw_boxes(self, boxes: Shapes) -> None:
        """Draw the outlines of the boxes that are in sight."""
        from pygame import draw

        ends = self._pixels(boxes.low), self._pixels(boxes.high)
        low, high = np.minimum(*ends), np.maximum(*ends)
        size = self.surface.get_size()
        in_sight = (high >= 0).all(axis=1) & (low < size).all(axis=1)
        # Edges out of sight are moved near: pygame's numbers are 32 bits wide.
        corners = np.floor(np.hstack((low, high))[in_sight].clip(-2, max(size) + 2)).astype(int)
        corners[:, 2:] += 1 - corners[:, :2]
        for colour, rect in zip(_tuples(boxes.colours[in_sight]), corners.tolist(), strict=True):
            draw.rect(self.surface, colour, rect, 1)

    def draw_lines(self, lines: Shapes) -> None:
        """Draw the parts of the lines that are in sight."""
        from pygame import draw

        first, second = self._pixels(lines.low), self._pixels(lines.high)
        along = second - first
        with np.errstate(divide="ignore", invalid="ignore"):
            to_edges = -first / along, (np.array(self.surface.get_size()) - first) / along
        # Liang and Barsky, "A new concept and method for line clipping", 1984.
        enter = np.minimum(*to_edges).max(axis=1, initial=0.0, where=along != 0.0)[:, None]
        leave = np.maximum(*to_edges).min(axis=1, initial=1.0, where=along != 0.0)[:, None]
        ends = np.floor(np.hstack((first + enter * along, first + leave * along)))
        size = np.array(self.surface.get_size() * 2)
        in_sight = (enter <= leave)[:, 0] & ((ends >= -1) & (ends <= size)).all(axis=1)
        for colour, (x, y, to_x, to_y) in zip(
            _tuples(lines.colours[in_sight]), ends[in_sight].tolist(), strict=True
        ):
            draw.line(self.surface, colour, (x, y), (to_x, to_y))

    def draw_text(self, lines: list[str]) -> None:
        """Write lines at the upper edge, on a dark ground."""
        width = self.surface.get_width()
        if self._text[0] != (lines, width):
            self._text = (lines, width), _written(lines, width)
        self.surface.blit(self._text[1], (0, 0))

    def _pixels(self, points: Doubles) -> Doubles:
        pixels: Doubles = (points - self.origin) * self.zoom
        return pixels


def _tuples(colours: NDArray[np.uint8]) -> list[Any]:
    found: list[Any] = colours[:, :3].tolist()
    return found


def _written(lines: list[str], width: int) -> Any:
    """Return a surface with lines of text on a dark ground."""
    from pygame import SRCALPHA, Surface, font

    font.init()
    letters = font.Font(None, FONT_SIZE)
    columns = max((width - 2 * MARGIN) // letters.size("0")[0], NARROWEST)
    rows = [row for line in lines for row in textwrap.wrap(line, columns)]
    pictures = [letters.render(row, True, (236, 240, 248)) for row in rows]
    high = letters.get_linesize()
    widest = max((picture.get_width() for picture in pictures), default=0)
    ground = Surface((widest + 2 * MARGIN, len(rows) * high + 2 * MARGIN), SRCALPHA)
    ground.fill((12, 14, 22, 216))
    for n, picture in enumerate(pictures):
        ground.blit(picture, (MARGIN, MARGIN + n * high))
    return ground
