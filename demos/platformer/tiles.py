"""The look of a level drawn with Tiled: its tile layers, coins that turn, flying bullets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import esper

import ecs_collide as ec
from demos.app.boxes import WHITE, Boxes
from demos.app.scene import Palette, Scene, looks
from demos.platformer.referee import Referee
from ecs_collide.levels.tiled import Level, tile_number

FENCE = 64.0  # thickness of the walls around a level
COIN, COIN_TURNED = 13, 14  # tiles
FLASH = (255, 244, 170)  # the colour of a bullet's way
FLASH_STEPS = 5  # steps for which it is shown


def backdrop(level: Level) -> Boxes:
    """Return the pictures of all visible tile layers, the lowest layer first.

    The level has one tileset, the sheet of the demos.
    """
    width, height = level.map.tile_size
    rows = []
    for column, row, gid in _tiles(level.map.layers):
        left, top = level.to_world(column * width, row * height)
        rect = (left, top - height, left + width, top)
        rows.append((rect, tile_number(gid) - min(level.map.tilesets), WHITE))
    return Boxes.of(rows)


def create_fence(level: Level) -> None:
    """Close a level with four walls around it."""
    (width, height), thick = level.size, FENCE / 2
    for x in (-thick, width + thick):
        esper.create_entity(ec.Position(x, height / 2), ec.Extents(thick, height))
    for y in (-thick, height + thick):
        esper.create_entity(ec.Position(width / 2, y), ec.Extents(width, thick))


def _tiles(layers: Iterable[Any]) -> Iterable[tuple[int, int, int]]:
    """Yield column, row and number of each visible tile."""
    for layer in layers:
        for row, numbers in enumerate(getattr(layer, "data", None) or []):
            for column, gid in enumerate(numbers):
                if gid and layer.visible:
                    yield column, row, gid


class LevelScene(Scene):
    """A scene in a level: the camera follows a point, coins turn, bullets leave a ray."""

    palette = Palette((104, 174, 236), (216, 240, 250))

    def __init__(self, space: ec.Space, level: Level) -> None:
        super().__init__(space, level.size, (960.0, 544.0))
        self.level = level
        self.look_at = level.named("player").centre
        self._backdrop = backdrop(level)
        self._referee = Referee(level)
        self._flashes: list[tuple[int, tuple[float, float, float]]] = []

    def step(self) -> None:
        """Advance the world under the eyes of a referee."""
        self._referee.look()
        super().step()
        self._referee.check()

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of the referee."""
        return self._referee.claims()

    def flash(self, start: float, end: float, y: float) -> None:
        """Show the way of something very fast for a few steps."""
        self._flashes.append((self.n_steps + FLASH_STEPS, (start, end, y)))

    def focus(self) -> tuple[float, float]:
        """Return a point above the middle of interest: there is more to see above."""
        return self.look_at[0], self.look_at[1] + 60

    def backdrop(self) -> Boxes:
        """Return the tile layers."""
        return self._backdrop

    def boxes(self) -> Boxes:
        """Return the entities and the rays."""
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
        return things.joined(rays)
