"""An eye in space, and the faces of boxes and the lines that it sees, as four-cornered faces."""

from __future__ import annotations

from itertools import product
from math import cos, sin

import numpy as np
from numpy.typing import NDArray

from demos.app.boxes import Colour, Quads

Floats = NDArray[np.float64]

LIGHT = (0.75, 1.0, 0.55)  # of a face, by its axis
FACES = np.array(  # corners of a box's six faces, going around; corner 4 x + 2 y + z
    [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
)
CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))
NORMALS = np.array([[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]], float)


class Eye:
    """An eye that looks at the origin.

    Parameters
    ----------
    angle, tilt : float
        Its direction around the y axis and its height, in radians.
    away : float
        Its distance from the origin.
    focus : float
        Pixels for a unit at a distance of 1.
    middle : tuple of 2 floats
        The place of the origin in the picture.
    """

    def __init__(
        self, angle: float, tilt: float, away: float, focus: float, middle: tuple[float, float]
    ) -> None:
        ahead = np.array([-sin(angle) * cos(tilt), -sin(tilt), -cos(angle) * cos(tilt)])
        right = np.array([cos(angle), 0.0, -sin(angle)])
        self.place = -away * ahead
        self._axes = np.stack([right, np.cross(right, ahead), ahead])
        self._focus, self._middle = focus, middle

    def project(self, points: Floats) -> Floats:
        """Return the places of points, shape (..., 3), in the picture, shape (..., 2)."""
        seen = (points - self.place) @ self._axes.T
        places: Floats = seen[..., :2] * (self._focus / seen[..., 2:])
        return places + self._middle

    def faces(
        self,
        centres: Floats,
        halves: Floats,
        colours: Floats,
        *,
        inside: bool = False,
        only: tuple[int, ...] = (0, 1, 2, 3, 4, 5),
    ) -> Quads:
        """Return the faces towards the eye, or those of a room's inside, far ones first."""
        corners = centres[:, None] + halves[:, None] * CORNERS
        faces = corners[:, FACES[[*only]]]  # (n, faces, 4, 3)
        ways = ((self.place - faces.mean(axis=2)) * NORMALS[[*only]]).sum(axis=2)
        looks = ways < 0 if inside else ways > 0
        shades = colours[:, None] * np.array(LIGHT)[np.array(only) // 2][:, None]
        # A box that a plane parts from another is nearer if it is on the eye's side of it;
        # the distance of the middles is near enough to that for boxes of about one size.
        away = np.broadcast_to(((centres - self.place) ** 2).sum(axis=1)[:, None], looks.shape)
        order = np.argsort(-away[looks], kind="stable")
        return Quads(self.project(faces[looks][order]), shades[looks][order].astype(np.uint8))

    def lines(self, ends: Floats, colour: Colour, thick: float) -> Quads:
        """Return lines by their ends, shape (n, 2, 3), `thick` pixels wide."""
        first, second = self.project(ends).swapaxes(0, 1)
        along = second - first
        aside = along[:, ::-1] * (-1.0, 1.0) / np.maximum(np.hypot(*along.T), 1e-9)[:, None]
        aside *= thick / 2
        corners = np.stack([first - aside, second - aside, second + aside, first + aside], axis=1)
        return Quads(corners, np.full((len(ends), 3), colour, np.uint8))
