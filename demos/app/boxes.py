"""Boxes and faces to draw, and the colours that they have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Colour = tuple[int, int, int]
WHITE: Colour = (255, 255, 255)
SHADOW: Colour = (20, 22, 32)  # of text
GREY: Colour = (92, 99, 122)
BLUE: Colour = (74, 148, 214)
GREEN: Colour = (126, 214, 150)
YELLOW: Colour = (250, 214, 96)
ORANGE: Colour = (248, 128, 60)
RED: Colour = (226, 58, 72)
PALE: Colour = (206, 212, 230)
PAINTS = (WHITE, SHADOW, GREY, BLUE, GREEN, YELLOW, ORANGE, RED, PALE)


class Boxes(NamedTuple):
    """Boxes to draw, the first below the others.

    Attributes
    ----------
    rects : float64 array, shape (n, 4)
        Left, bottom, right, top in world units; a picture whose left and
        right are exchanged is mirrored.
    tiles : int64 array, shape (n,)
        Numbers of tiles in the sheet.
    colours : uint8 array, shape (n, 3)
        Factors of the tile's colours.
    """

    rects: NDArray[np.float64]
    tiles: NDArray[np.int64]
    colours: NDArray[np.uint8]

    @classmethod
    def of(cls, rows: list[tuple[tuple[float, float, float, float], int, Colour]]) -> Boxes:
        """Return the boxes given as (rect, tile, colour)."""
        return cls(
            np.array([row[0] for row in rows], dtype=np.float64).reshape(-1, 4),
            np.array([row[1] for row in rows], dtype=np.int64),
            np.array([row[2] for row in rows], dtype=np.uint8).reshape(-1, 3),
        )

    def joined(self, *others: Boxes) -> Boxes:
        """Return these boxes and others above them."""
        parts = (self, *others)
        return Boxes(
            np.concatenate([part.rects for part in parts]),
            np.concatenate([part.tiles for part in parts]),
            np.concatenate([part.colours for part in parts]),
        )


class Quads(NamedTuple):
    """Plain four-cornered faces, such as those of boxes in 3D, the first below the others.

    Attributes
    ----------
    corners : float64 array, shape (n, 4, 2)
        In world units, going around.
    colours : uint8 array, shape (n, 3)
    """

    corners: NDArray[np.float64]
    colours: NDArray[np.uint8]


NO_QUADS = Quads(np.zeros((0, 4, 2)), np.zeros((0, 3), np.uint8))


def plain(rects: ArrayLike, colours: ArrayLike) -> Boxes:
    """Return boxes of one colour, or of one for each, shape (3,) or (n, 3)."""
    corners = np.asarray(rects, dtype=np.float64).reshape(-1, 4)
    shades = np.broadcast_to(np.asarray(colours, dtype=np.uint8), (len(corners), 3))
    return Boxes(corners, np.zeros(len(corners), np.int64), shades)


def outlines(rects: NDArray[np.float64], colours: ArrayLike, thick: ArrayLike) -> Boxes:
    """Return the four sides of boxes, inside of them, as boxes `thick` units thick, or (n,)."""
    thick = np.asarray(thick, dtype=np.float64)
    left, bottom, right, top = np.asarray(rects, dtype=np.float64).reshape(-1, 4).T
    sides = np.stack(
        [
            np.stack([left, bottom, right, bottom + thick], axis=1),
            np.stack([left, top - thick, right, top], axis=1),
            np.stack([left, bottom, left + thick, top], axis=1),
            np.stack([right - thick, bottom, right, top], axis=1),
        ],
        axis=1,
    )
    shades = np.broadcast_to(np.asarray(colours, dtype=np.uint8), (len(left), 3))
    return plain(sides.reshape(-1, 4), np.repeat(shades, 4, axis=0))
