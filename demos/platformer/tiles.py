"""The look of a level drawn with Tiled: tile layers, light of torches, coins that turn, bullets."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from math import dist
from typing import Any

import esper

import ecs_collide as ec
from demos.app.boxes import WHITE, Boxes, Colour, Quads, plain
from demos.app.scene import Palette, Scene, looks
from demos.platformer.bats import Bat
from demos.platformer.lights import REACH, Torch, lit
from demos.platformer.referee import Referee
from ecs_collide.levels.tiled import Level, properties_of, tile_number

FENCE = 64.0  # thickness of the walls around a level
DARK, COIN, COIN_TURNED, LANTERN = 10, 13, 14, 33  # tiles
WAY: Colour = (214, 120, 190)  # of the cells through which a bat will fly
LOOKS = 60  # steps from one check of the light to the next
MIRRORED = 1 << 31  # the bit of a tile that Tiled mirrors
FLASH = (255, 244, 170)  # the colour of a bullet's way
ZOOM = 1.5  # pixels for each world unit
SHAKEN = 80.0  # world units: the view may be so far from the player
FLASH_STEPS = 5  # steps for which it is shown

Point = tuple[float, float]
Rect = tuple[float, float, float, float]
Cell = tuple[str, Point, Rect, int]  # layer, middle, picture and number of a tile


def cells(level: Level, front: bool) -> list[Cell]:
    """Return the tiles of all visible layers, those with the property `front` or the others.

    The lowest layer comes first.  The left and the right of a mirrored picture are exchanged.
    The level has one tileset, the sheet of the demos.
    """
    width, height = level.map["tilewidth"], level.map["tileheight"]
    first = min(tileset["firstgid"] for tileset in level.map["tilesets"])
    found = []
    for layer in level.map["layers"]:
        if layer.get("visible", True) and properties_of(layer).get("front", False) is front:
            for column, row, gid in _tiles(layer):
                left, top = level.to_world(column * width, row * height)
                ends = (left, left + width)[:: -1 if gid & MIRRORED else 1]
                rect = (ends[0], top - height, ends[1], top)
                middle = (left + width / 2, top - height / 2)
                found.append((layer["name"], middle, rect, tile_number(gid) - first))
    return found


def torch_in(dark: set[Point], place: Point, cell: tuple[float, float]) -> Torch:
    """Return the torch at a place, with the room of dark cells around it."""
    ends = []
    for axis, side in enumerate(cell):
        for step in (-side, side):
            at = list(place)
            while (at[0], at[1]) in dark:
                at[axis] += step
            ends.append(at[axis] - step / 2)
    left, right, bottom, top = ends
    return Torch(place, (left, bottom), (right, top))


def create_fence(level: Level) -> None:
    """Close a level with four walls around it."""
    (width, height), thick = level.size, FENCE / 2
    for x in (-thick, width + thick):
        esper.create_entity(ec.Position(x, height / 2), ec.Extents(thick, height))
    for y in (-thick, height + thick):
        esper.create_entity(ec.Position(width / 2, y), ec.Extents(width, thick))


def _tiles(layer: Any) -> Iterable[tuple[int, int, int]]:
    """Yield column, row and number of each tile of a layer."""
    for n, gid in enumerate(layer.get("data", ())):
        if gid:
            yield n % layer["width"], n // layer["width"], gid


class LevelScene(Scene):
    """A scene in a level: the camera follows a point, coins turn, bullets leave a ray."""

    palette = Palette((104, 174, 236), (216, 240, 250))

    def __init__(self, space: ec.Space, level: Level) -> None:
        super().__init__(space, level.size, (960.0 / ZOOM, 544.0 / ZOOM), ZOOM)
        self.level = level
        self.look_at = level.named("player").centre
        self._backdrop = Boxes.of([(*cell[2:], WHITE) for cell in cells(level, front=False)])
        self._front = cells(level, front=True)
        dark = {cell[1] for cell in cells(level, front=False) if cell[3] == DARK}
        lanterns = [cell[1] for cell in self._front if cell[3] == LANTERN]
        cell = level.map["tilewidth"], level.map["tileheight"]
        self._torches = [torch_in(dark, place, cell) for place in lanterns]
        self.referee = Referee(level)
        self._flashes: list[tuple[int, tuple[float, float, float]]] = []

    def step(self) -> None:
        """Advance the world under the eyes of a referee."""
        self.referee.look()
        super().step()
        self.referee.check()
        if self.n_steps % LOOKS == 0:
            near = min((torch.place for torch in self._torches), key=partial(dist, self.look_at))
            self.referee.check_light(near, self.space.visible_region(near, REACH))

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of the referee."""
        return self.referee.claims()

    def flash(self, start: float, end: float, y: float) -> None:
        """Show the way of something very fast for a few steps."""
        self._flashes.append((self.n_steps + FLASH_STEPS, (start, end, y)))

    def focus(self) -> tuple[float, float]:
        """Return a point above the middle of interest: there is more to see above."""
        return self.look_at[0], self.look_at[1] + 60

    def backdrop(self) -> Boxes:
        """Return the tile layers."""
        return self._backdrop

    def glow(self) -> Quads | None:
        """Return the light of the torches that are near enough to be seen."""
        (x, y), (width, height) = self.focus(), self.view
        near = [
            torch
            for torch in self._torches
            if abs(torch.place[0] - x) < width / 2 + REACH
            and abs(torch.place[1] - y) < height / 2 + REACH + SHAKEN
        ]
        return lit(self.space, near)

    def boxes(self) -> Boxes:
        """Return the tiles that are in front and still there, the entities, and what flies."""
        front = Boxes.of(
            [
                (rect, tile, WHITE)
                for layer, middle, rect, tile in self._front
                if self.level.tile_at(middle, layer)
            ]
        )
        ways = [point for _, bat in esper.get_component(Bat) for point in bat.way[1:]]
        dots = plain([(x - 2, y - 2, x + 2, y + 2) for x, y in ways], WAY)
        self._flashes = [flash for flash in self._flashes if flash[0] > self.n_steps]
        rays = Boxes.of(
            [
                ((min(x0, x1), y - 1.5, max(x0, x1), y + 1.5), 0, FLASH)
                for _, (x0, x1, y) in self._flashes
            ]
        )
        things = looks()
        turns = (self.n_steps + things.rects[:, 0]) % 60 < 20
        things.tiles[(things.tiles == COIN) & turns] = COIN_TURNED
        return front.joined(dots, things, rays)
