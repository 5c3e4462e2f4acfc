"""The interface between runners and demos: a `Scene` that steps, and returns its drawing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import ClassVar, NamedTuple

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec

DT = 1 / 60  # seconds a step

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


@dataclass(slots=True)
class Keys:
    """The keys that are down; the window or a bot sets them."""

    left: bool = False
    right: bool = False
    up: bool = False
    down: bool = False
    jump: bool = False
    shoot: bool = False
    bot: bool = False  # a bot presses the others


class Sheet(NamedTuple):
    """A picture that holds tiles of one size, row by row; tile 0 is plain white."""

    path: Path
    side: int = 32  # pixels
    columns: int = 8
    margin: int = 1  # pixels around all tiles
    spacing: int = 2  # pixels between two tiles

    def corner(self, tile: int) -> tuple[int, int]:
        """Return the pixel at a tile's top-left corner, downwards."""
        row, column = divmod(tile, self.columns)
        step = self.side + self.spacing
        return self.margin + column * step, self.margin + row * step


SHEET = Sheet(Path(__file__).parent.with_name("levels") / "tiles.png")


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

    def around(self, width: float, height: float) -> Boxes:
        """Return these boxes as in a world that is a ring on both axes."""
        moves = [(x * width, y * height) for x in (0, -1, 1) for y in (0, -1, 1)]
        rects = np.concatenate([self.rects + np.array(move * 2) for move in moves])
        seen = ((rects[:, 2:] > 0) & (rects[:, :2] < (width, height))).all(axis=1)
        return Boxes(rects[seen], np.tile(self.tiles, 9)[seen], np.tile(self.colours, (9, 1))[seen])


class Quads(NamedTuple):
    """Plain four-cornered faces of boxes in 3D, the first below the others.

    Attributes
    ----------
    corners : float64 array, shape (n, 4, 2)
        In world units, going around.
    colours : uint8 array, shape (n, 3)
    """

    corners: NDArray[np.float64]
    colours: NDArray[np.uint8]


class Label(NamedTuple):
    """A line of text in the world; `x` and `y` are its left and its bottom."""

    text: str
    x: float
    y: float
    size: float = 13.0  # pixels in the window
    colour: Colour = WHITE


@dataclass(slots=True)
class Look:
    """The look of an entity: a component of the demos.

    Attributes
    ----------
    tile : int
        A tile of the sheet.
    width, height : float
        The size of the picture, in world units; it may be larger than the body.
    shift : float
        The height of the picture's middle above the body's.
    across : int
        The number of tiles side by side.
    mirrored : bool
        Whether left and right are exchanged.
    layer : int
        Higher layers are drawn later.
    """

    tile: int
    width: float = 32.0
    height: float = 32.0
    shift: float = 0.0
    across: int = 1
    mirrored: bool = False
    layer: int = 0
    colour: Colour = WHITE


def looks() -> Boxes:
    """Return all entities of the current world that have a `Look` and a position."""
    found = esper.get_components(Look, ec.Position)
    rows = []
    for _, (look, centre) in sorted(found, key=lambda item: (item[1][0].layer, item[0])):
        bottom = centre.y + look.shift - look.height / 2
        for number in range(look.across):
            left = centre.x + (number - look.across / 2) * look.width
            ends = (left, left + look.width)
            left, right = ends[::-1] if look.mirrored else ends
            rows.append(((left, bottom, right, bottom + look.height), look.tile, look.colour))
    return Boxes.of(rows)


class Scene:
    """The world of one demo, which can be stepped, drawn and reported.

    It belongs to the esper world that was current at its creation.

    Attributes
    ----------
    space : ecs_collide.Space
        The bodies.
    size, view : tuple of 2 floats
        The size of the world and of the part that the camera shows, in world units.
    zoom : float
        Pixels for each world unit.
    keys : Keys
        The keys of the player.
    dt : float
        Seconds of the world in a step; less than `DT` is slow motion.
    n_steps, n_collisions, n_contacts : int
        Steps, collisions and begun contacts so far.
    ms : float
        Milliseconds that the world took for the last step.
    """

    title = ""
    seconds: ClassVar[float] = 10.0  # that a run without a window lasts
    help: ClassVar[str] = ""  # the keys, in one line
    sky: ClassVar[tuple[Colour, Colour]] = ((18, 20, 30), (10, 11, 18))  # top, bottom
    sheet: ClassVar[Sheet] = SHEET
    # Whether it adds up `Space.stats`.  A restored space does the same with other work, so that a
    # replay of such a scene goes back by playing from the beginning.
    counts_work: ClassVar[bool] = False
    corner: ClassVar[tuple[float, float] | None] = None  # of a view that stays where it is

    def __init__(
        self,
        space: ec.Space,
        size: tuple[float, float],
        view: tuple[float, float],
        zoom: float = 1.0,
    ) -> None:
        self.space = space
        self.size = size
        self.view = view
        self.zoom = zoom
        self.keys = Keys()
        self.dt = DT
        self.n_steps = self.n_collisions = self.n_contacts = 0
        self.ms = 0.0

    def step(self) -> None:
        """Advance the world by one step of `dt` seconds."""
        start = perf_counter()
        esper.process(self.dt)
        self.ms = 1000 * (perf_counter() - start)
        self.n_steps += 1
        self.n_collisions += len(self.space.collisions)
        self.n_contacts += len(self.space.contacts_began)

    def focus(self) -> tuple[float, float]:
        """Return the point in the middle of the view."""
        return self.size[0] / 2, self.size[1] / 2

    def camera(self) -> tuple[float, float]:
        """Return the view's bottom-left corner: `corner`, or whole units inside the world."""
        if self.corner is not None:
            return self.corner
        x, y = (
            min(max(middle - shown / 2, 0.0), whole - shown)
            for middle, shown, whole in zip(self.focus(), self.view, self.size, strict=True)
        )
        return float(round(x)), float(round(y))

    def backdrop(self) -> Boxes:
        """Return the boxes below everything, which never change."""
        return Boxes.of([])

    def boxes(self) -> Boxes:
        """Return the boxes to draw now."""
        return looks()

    def quads(self) -> Quads | None:
        """Return the faces that are drawn above the boxes, if there are any."""
        return None

    def labels(self) -> list[Label]:
        """Return the labels above everything."""
        return []

    def status(self) -> str:
        """Return the line shown in the picture's corner."""
        return ""

    def report(self) -> list[str]:
        """Return the results so far, line by line."""
        return []

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo, and whether each has held so far."""
        return []
