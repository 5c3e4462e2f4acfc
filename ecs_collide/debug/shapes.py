"""Boxes and lines of an overlay in world units, and the interface of what draws them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ecs_collide.events import ContactKind
from ecs_collide.extend import PeriodicDomain, PrintsItsName
from ecs_collide.queries.inspection import BodyKind, ContactPoints
from ecs_collide.queries.results import Branches
from ecs_collide.space import Space

Doubles = NDArray[np.float64]
Colour = tuple[int, int, int]
Colours = NDArray[np.uint8] | Colour

FARTHEST = 1e30  # single precision holds it, and it is never seen


class Show(PrintsItsName, IntFlag):
    """The parts of an overlay, as bits."""

    BOXES = 1
    """The boxes of all bodies and the solid parts of slopes, in a colour for each kind."""
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
    "fat": (84, 156, 98),
    "swept": (62, 196, 214),
    "ghost": (255, 255, 255),
    "pair": (204, 176, 96),
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


class Shapes(NamedTuple):
    """Boxes by their min and max corners, or lines by their ends."""

    low: Doubles  # float64 (n, 2), finite
    high: Doubles
    colours: NDArray[np.uint8]  # (n, 4): red, green, blue and 255


class Canvas(Protocol):
    """The interface through which an overlay draws with any graphics library.

    For each picture the overlay calls these methods once, in this order; the last one only if it
    shows text.
    """

    def start(self) -> Camera:
        """Begin a picture, and return its view."""

    def draw_boxes(self, boxes: Shapes) -> None:
        """Draw the outlines of boxes, one pixel wide; later boxes lie over earlier ones."""

    def draw_lines(self, lines: Shapes) -> None:
        """Draw lines, one pixel wide, over the boxes."""

    def draw_text(self, lines: list[str]) -> None:
        """Draw lines of text at the upper edge, broken where they do not fit."""


class _List:
    """A list of shapes that grows part by part; in a world that wraps, on both sides of an edge."""

    def __init__(self, domain: PeriodicDomain) -> None:
        self._domain = domain
        self._parts: list[tuple[Doubles, Doubles, NDArray[np.uint8]]] = []

    def add(self, low: Doubles, high: Doubles, colours: Colours) -> None:
        """Add shapes by two corners, float64 (n, 2 or more), in one colour or one (n, 4) each."""
        if isinstance(colours, tuple):
            colours = np.full((len(low), 4), (*colours, 255), np.uint8)
        axes = [k for k in self._domain.axes if k < 2]
        self._add(low[:, :2], high[:, :2], colours, axes)

    def _add(
        self, low: Doubles, high: Doubles, colours: NDArray[np.uint8], axes: list[int]
    ) -> None:
        """Add shapes, and those that reach beyond an edge on one of the axes once more."""
        if not axes:
            self._parts.append((low, high, colours))
            return
        k, *others = axes
        width = self._domain.widths[k]
        self._add(low, high, colours, others)
        for beyond, direction in (
            (np.minimum(low[:, k], high[:, k]) < 0.0, width),
            (np.maximum(low[:, k], high[:, k]) > width, -width),
        ):
            if beyond.any():
                move = direction * (np.arange(2) == k)
                self._add(low[beyond] + move, high[beyond] + move, colours[beyond], others)

    def joined(self) -> Shapes:
        """Return all shapes; those with NaN are skipped, and infinite numbers become large."""
        if not self._parts:
            return Shapes(np.empty((0, 2)), np.empty((0, 2)), np.empty((0, 4), np.uint8))
        low, high, colours = (np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        widest = max(np.abs(end).max(initial=0.0) for end in (low, high))
        if not widest <= FARTHEST:  # rarely: some are too far away, or have no place
            seen = ~np.isnan(low).any(axis=1) & ~np.isnan(high).any(axis=1)
            low, high = (end[seen].clip(-FARTHEST, FARTHEST) for end in (low, high))
            colours = colours[seen]
        return Shapes(low, high, colours)


def collect(space: Space, show: Show, camera: Camera) -> tuple[Shapes, Shapes]:
    """Return the boxes and the lines of the shown parts of a space, the topmost last."""
    domain = PeriodicDomain(space.wrap or (None,) * space.dim)
    boxes, lines = _List(domain), _List(domain)
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
        is_box = kinds & BodyKind.DISABLED == 0
        places, corners = space.slope_outlines()
        seen = is_box[places]
        _add_outlines(lines, corners[seen], PALETTE[kinds[places[seen]]])
        is_box[places] = False
        low, high = space.boxes()
        boxes.add(
            *_visible(low[is_box], high[is_box], camera),
            PALETTE[kinds[is_box]],
        )
    if Show.GHOSTS in show:
        _add_ghosts(space, camera, boxes, lines)
    if Show.PAIRS in show:
        _add_pairs(space, domain, lines)
    if Show.CONTACTS in show:
        _add_contacts(space, camera, lines)
    return boxes.joined(), lines.joined()


def _add_outlines(lines: _List, corners: Doubles, colours: Colours) -> None:
    """Add polygons (n, m, 2) as lines."""
    for first, second in pairwise([*range(corners.shape[1]), 0]):
        lines.add(corners[:, first], corners[:, second], colours)


def _add_ghosts(space: Space, camera: Camera, boxes: _List, lines: _List) -> None:
    ghosts, dim = space.impact_boxes(), space.dim
    low, high = ghosts.mins.reshape(-1, dim), ghosts.maxs.reshape(-1, dim)
    entities = ghosts.pairs.ravel()
    places, corners = space.slope_outlines(entities)
    moved = low[places] - space.boxes(entities[places])[0]
    _add_outlines(lines, corners + moved[:, None, :2], COLOURS["ghost"])
    is_box = np.ones(len(low), np.bool_)
    is_box[places] = False
    boxes.add(*_visible(low[is_box], high[is_box], camera), COLOURS["ghost"])


def _add_pairs(space: Space, domain: PeriodicDomain, lines: _List) -> None:
    low, high = space.boxes(space.candidate_pairs().ravel())
    centres = (low / 2 + high / 2).reshape(-1, 2, space.dim)
    first, second = centres.swapaxes(0, 1)
    second = second - domain.shortest(second - first) * domain.widths
    lines.add(first, second, COLOURS["pair"])


def _add_contacts(space: Space, camera: Camera, lines: _List) -> None:
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


PALETTE = _palette()  # by BodyKind: red, green, blue, 255
_CONTACTS = np.array(
    [(*COLOURS[name], 255) for name in ("contact", "crossing")], np.uint8
)  # by ContactKind
