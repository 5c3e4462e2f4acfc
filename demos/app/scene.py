"""The interface between runners and demos: a `Scene` that steps, and returns its drawing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import ClassVar, Literal, NamedTuple

import esper

import ecs_collide as ec
from demos.app.boxes import (
    BLUE,
    GREEN,
    GREY,
    PALE,
    RED,
    WHITE,
    YELLOW,
    Boxes,
    Colour,
    Quads,
)
from demos.app.effects import Effects

DT = 1 / 60  # seconds a step
STATUS, STATUS_SIZE = 40.0, 27.0  # pixels: the height of the line in the corner, and of its letters


@dataclass(slots=True)
class Keys:
    """The keys that are down; the window or a bot sets them."""

    left: bool = False
    right: bool = False
    up: bool = False
    down: bool = False
    jump: bool = False
    shoot: bool = False
    dash: bool = False
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


class Palette(NamedTuple):
    """The colours of one demo."""

    top: Colour = (18, 20, 30)  # of the sky
    bottom: Colour = (10, 11, 18)
    wall: Colour = GREY
    ink: Colour = WHITE  # of captions
    dim: Colour = PALE  # of captions that matter less
    first: Colour = BLUE  # of the player
    second: Colour = YELLOW
    good: Colour = GREEN
    bad: Colour = RED


TextBox = tuple[str, tuple[float, float, float, float]]  # text; left, top, right, bottom in pixels


class Label(NamedTuple):
    """A line of text in the world; `y` is its base line, `x` its left, centre or right."""

    text: str
    x: float
    y: float
    size: float = 22.0  # pixels in a window that was not resized
    colour: Colour = WHITE
    anchor: Literal["left", "center", "right"] = "left"


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
    effects : Effects
        What hits look and sound like.
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
    palette: ClassVar[Palette] = Palette()
    sheet: ClassVar[Sheet] = SHEET
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
        self.effects = Effects()
        self.dt = DT
        self.n_steps = self.n_collisions = self.n_contacts = 0
        self.ms = 0.0

    def step(self) -> None:
        """Advance the world by one step of `dt` seconds, or less in slow motion."""
        self.effects.step(DT)
        start = perf_counter()
        esper.process(self.dt * self.effects.rate)
        self.ms = 1000 * (perf_counter() - start)
        self.n_steps += 1
        self.n_collisions += len(self.space.collisions)
        self.n_contacts += len(self.space.contacts_began)

    def focus(self) -> tuple[float, float]:
        """Return the point in the middle of the view."""
        return self.size[0] / 2, self.size[1] / 2

    def camera(self) -> tuple[float, float]:
        """Return the view's bottom-left corner: `corner`, or whole units inside the world."""
        x, y = self.corner or (
            min(max(middle - shown / 2, 0.0), whole - shown)
            for middle, shown, whole in zip(self.focus(), self.view, self.size, strict=True)
        )
        return float(round(x)), float(round(y))

    def shaken(self) -> tuple[float, float]:
        """Return the view's bottom-left corner while it shakes; text does not."""
        (x, y), (right, up) = self.camera(), self.effects.offset()
        return x + round(right), y + round(up)

    def backdrop(self) -> Boxes:
        """Return the boxes below everything, which never change."""
        return Boxes.of([])

    def boxes(self) -> Boxes:
        """Return the boxes to draw now."""
        return looks()

    def drawn(self) -> Boxes:
        """Return the boxes to draw now, and the effects above them."""
        return self.boxes().joined(self.effects.boxes())

    def glow(self) -> Quads | None:
        """Return the faces between the backdrop and the boxes, if there are any."""
        return None

    def quads(self) -> Quads | None:
        """Return the faces that are drawn above the boxes, if there are any."""
        return None

    def labels(self) -> list[Label]:
        """Return the labels above everything."""
        return []

    def status(self) -> str:
        """Return the line shown in the picture's corner."""
        return ""

    def status_label(self, text: str) -> Label:
        """Return a line of text, in the top left corner of the view."""
        left, bottom = self.camera()
        down, size = STATUS / self.zoom, self.view
        place = (left + 0.4 * down, bottom + size[1] - 0.78 * down)
        return Label(text, *place, STATUS_SIZE, self.palette.ink)

    def report(self) -> list[str]:
        """Return the results so far, line by line."""
        return []

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo, and whether each has held so far."""
        return []
