"""Boxes and lines of an overlay in world units, from the lowest to the topmost."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ecs_collide.events import ContactKind, PrintsItsName
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.queries.inspection import BodyKind, ContactPoints
from ecs_collide.queries.results import Branches
from ecs_collide.space import Space

Doubles = NDArray[np.float64]
Colour = tuple[int, int, int]
Colours = NDArray[np.uint8] | Colour


class Show(PrintsItsName, IntFlag):
    """The parts of an overlay, as bits."""

    BOXES = 1
    """The boxes of all bodies, in a colour for each kind."""
    FAT = 2
    """Fat bounds: a body is reinserted into the tree when its path leaves them."""
    TREE = 4
    """The branches of the trees, the darker the deeper."""
    PAIRS = 8
    """A line between the bodies of each candidate pair."""
    SWEPT = 16
    """Bounds around the paths of the bodies that moved in the last step."""
    GHOSTS = 32
    """The boxes of each collision where they met."""
    CONTACTS = 64
    """A cross at each contact, and its normal: up from the ground to the body that stands on it."""
    STATS = 128
    """Two lines of text: the numbers of the last step, and the time of each stage."""


COLOURS: dict[str, Colour] = {
    "static": (148, 160, 184),
    "moving": (84, 222, 112),
    "sensor": (255, 222, 74),
    "one-way": (196, 132, 255),
    "asleep": (70, 120, 196),
    "quarantined": (255, 56, 56),
    "fat": (52, 110, 62),
    "swept": (62, 196, 214),
    "ghost": (255, 255, 255),
    "pair": (120, 104, 60),
    "contact": (255, 128, 48),
    "crossing": (255, 222, 74),
    "branch of still": (128, 108, 200),
    "branch of moving": (232, 104, 176),
}
"""The colour of each thing that is shown.  A body of several kinds has the last one's colour."""

_DRAWN_KINDS = (
    ("moving", BodyKind.MOVES),
    ("one-way", BodyKind.ONE_WAY),
    ("sensor", BodyKind.SENSOR),
    ("asleep", BodyKind.ASLEEP),
    ("quarantined", BodyKind.QUARANTINED),
)
_CROSS, _NORMAL = 3.0, 12.0  # half the width of a cross and the length of a normal, in pixels


class Shapes(Protocol):
    """A list that takes shapes by two corners, or ends."""

    def add(self, low: Doubles, high: Doubles, colours: Colours) -> None:
        """Add shapes by two corners, float64 (n, 2 or more), in one colour or one (n, 4) each."""


class Camera:
    """The view of a window onto the plane of the first two axes of a space.

    `matrix` has 16 numbers, column by column, from the world to OpenGL's clip coordinates; `size`
    is the size of the window in pixels.  `middle`, float64 (2,), is the world point in the middle
    of the window, or the origin if the matrix has no inverse.
    """

    def __init__(self, matrix: Sequence[float], size: tuple[int, int]) -> None:
        columns = np.array(matrix, np.float64).reshape(4, 4)
        right, up, _, origin = columns  # the images of the axes: x, y, z and the depth w
        across, self._depth = columns[:2, :2].T, np.array([right[3], up[3], origin[3]])
        pixels = np.hypot(*(right[:2] * size / 2))
        self._pixel = 1.0 / pixels if pixels > 0.0 and np.isfinite(pixels) else 1.0
        try:
            middle = np.linalg.solve(across, -origin[:2])
        except np.linalg.LinAlgError:
            middle = np.zeros(2)
        self.middle: Doubles = np.nan_to_num(middle, posinf=0.0, neginf=0.0)

    def pixel(self, points: Doubles) -> Doubles:
        """Return the approximate width of a pixel in world units at each of some points (n, 2)."""
        pixels: Doubles = self._pixel * abs(points @ self._depth[:2] + self._depth[2])
        return pixels


def collect(space: Space, show: Show, camera: Camera, boxes: Shapes, lines: Shapes) -> None:
    """Add the shown parts of a space to boxes and lines."""
    domain = None if space.wrap is None else PeriodicDomain(space.wrap)
    if domain is not None:
        boxes, lines = _WithImages(domain, boxes), _WithImages(domain, lines)
    kinds = space.body_kinds()
    if Show.TREE in show:
        branches = space.branches()
        order = np.argsort(-branches.depths, kind="stable")  # the root is drawn above the others
        boxes.add(branches.mins[order], branches.maxs[order], _of_branches(branches, order))
    if Show.FAT in show:
        boxes.add(*space.fat_bounds(), COLOURS["fat"])
    if Show.SWEPT in show:
        moving = kinds & (BodyKind.MOVES | BodyKind.ASLEEP) == BodyKind.MOVES
        low, high = space.swept_bounds()
        boxes.add(low[moving], high[moving], COLOURS["swept"])
    if Show.BOXES in show:
        on = kinds & BodyKind.DISABLED == 0
        low, high = space.boxes()
        boxes.add(*_visible(low[on], high[on], camera), _PALETTE.take(kinds[on], axis=0))
    if Show.GHOSTS in show:
        ghosts, dim = space.impact_boxes(), space.dim
        corners = ghosts.mins.reshape(-1, dim), ghosts.maxs.reshape(-1, dim)
        boxes.add(*_visible(*corners, camera), COLOURS["ghost"])
    if Show.PAIRS in show:
        _add_pairs(space, domain, lines)
    if Show.CONTACTS in show:
        _add_contacts(space, camera, lines)


def _add_pairs(space: Space, domain: PeriodicDomain | None, lines: Shapes) -> None:
    low, high = space.boxes(space.candidate_pairs().ravel())
    centres = (low / 2 + high / 2).reshape(-1, 2, space.dim)
    first, second = centres.swapaxes(0, 1)
    if domain is not None:
        second = second - domain.shortest(second - first) * domain.widths
    lines.add(first, second, COLOURS["pair"])


def _add_contacts(space: Space, camera: Camera, lines: Shapes) -> None:
    contacts = space.contact_points()
    points, colours = contacts.points[:, :2], _CONTACTS[contacts.kinds]
    pixels = camera.pixel(points)[:, None]
    for across in ((_CROSS, _CROSS), (_CROSS, -_CROSS)):
        arms = pixels * np.array(across)
        lines.add(points - arms, points + arms, colours)
    solid = contacts.kinds == ContactKind.SOLID
    tips = points + _NORMAL * pixels * shown_normals(space, contacts)[:, :2]
    lines.add(points[solid], tips[solid], colours[solid])


def shown_normals(space: Space, contacts: ContactPoints) -> Doubles:
    """Return the normals of contacts, float64 (n, dim), as they are drawn.

    A normal points from a static or kinematic body to the dynamic body, so the ground's points
    upwards.  Between two dynamic bodies it points from the second to the first.
    """
    kinds = space.body_kinds(contacts.pairs.ravel()).reshape(-1, 2)
    first_dynamic, second_dynamic = (kinds & BodyKind.DYNAMIC != 0).T
    is_turned = second_dynamic & ~first_dynamic
    return np.where(is_turned[:, None], -contacts.normals, contacts.normals)


class _WithImages:
    """A list that adds shapes in a world that wraps: on both sides of an edge."""

    def __init__(self, domain: PeriodicDomain, shapes: Shapes) -> None:
        self._domain, self._shapes = domain, shapes

    def add(self, low: Doubles, high: Doubles, colours: Colours) -> None:
        """Add shapes, twice if they reach beyond an edge of the world."""
        self._add(low, high, colours, [k for k in self._domain.axes if k < 2])

    def _add(self, low: Doubles, high: Doubles, colours: Colours, axes: list[int]) -> None:
        if not axes:
            self._shapes.add(low, high, colours)
            return
        k, *others = axes
        width = self._domain.widths[k]
        self._add(low, high, colours, others)
        for beyond, direction in (
            (np.minimum(low[:, k], high[:, k]) < 0.0, width),
            (np.maximum(low[:, k], high[:, k]) > width, -width),
        ):
            if beyond.any():
                move = direction * (np.arange(low.shape[1]) == k)
                tints = colours if isinstance(colours, tuple) else colours[beyond]
                self._add(low[beyond] + move, high[beyond] + move, tints, others)


def _visible(low: Doubles, high: Doubles, camera: Camera) -> tuple[Doubles, Doubles]:
    """Return boxes, each widened to at least a pixel."""
    low, high = low[:, :2], high[:, :2]
    pixel = camera.pixel(camera.middle[None])[0]
    thin = high - low < pixel
    if thin.any():
        middle = low / 2 + high / 2
        low = np.where(thin, middle - pixel / 2, low)
        high = np.where(thin, middle + pixel / 2, high)
    return low, high


def _palette() -> NDArray[np.uint8]:
    """Return the colour of each combination of kinds."""
    palette = np.full((64, 4), 255, np.uint8)
    palette[:, :3] = COLOURS["static"]
    for name, kind in _DRAWN_KINDS:
        palette[np.arange(64) & kind != 0, :3] = COLOURS[name]
    return palette


def _of_branches(branches: Branches, order: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the colours of branches: full for the root, a third less with each level."""
    names = ("branch of still", "branch of moving")
    bright = np.array([COLOURS[name] for name in names])[branches.moving[order].astype(np.int64)]
    colours = np.full((len(order), 4), 255, np.uint8)
    colours[:, :3] = bright * (0.7 ** branches.depths[order])[:, None]
    return colours


_PALETTE = _palette()
_CONTACTS = np.array(
    [(*COLOURS[name], 255) for name in ("contact", "crossing")], np.uint8
)  # by ContactKind
