"""A fuzz that plays a level whose tiles it digs out and builds, with snapshots between."""

from __future__ import annotations

import json
import tempfile
from math import inf
from pathlib import Path
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character

pytest.importorskip("hypothesis")

from hypothesis import settings

from ecs_collide import testing
from ecs_collide.levels import tiled
from ecs_collide.testing.sim import Inputs
from tests.levels.test_tiled_bodies import custom, tiles

PICTURE = """
22222222222222
2............2
2............2
2...11111....2
2.......1....2
2111....1.1112
21111111111112
22222222222222
"""
WAYS = ["left", "right", "jump", "dig", "build", "save", "load"]


class Digger:
    """A player who may dig out earth and build it, beside, above and below."""


class Game:
    def __init__(self, level: tiled.Level) -> None:
        self.level, self.inputs = level, Inputs()
        level.create()
        self.character = Character(walk_speed=100, acceleration=inf, deceleration=inf)
        body = ec.Position(25, 45), ec.Extents(3, 7), ec.Velocity(0, 0), ec.Slide()
        self.hero = esper.create_entity(*body, self.character, Digger(), ec.PushOut())
        self.crates = [
            esper.create_entity(
                ec.Position(x, 65), ec.Extents(4, 4), ec.Velocity(0, 0), ec.Slide(), ec.PushOut()
            )
            for x in (55, 75)
        ]
        self.space = ec.install(gravity=(0, -900))
        self.saved: bytes | None = None
        self.n_changes = 0

    def step(self) -> None:
        keys = self.inputs
        self.character.walk = float(keys.right) - float(keys.left)
        self.character.jump = keys.jump
        if keys.load and self.saved is not None:
            self.space.restore(self.saved)
        if keys.dig or keys.build:
            self.change()
        esper.process(1 / 60)
        if keys.save:
            self.saved = self.space.snapshot()

    def change(self) -> None:
        x, y = esper.component_for_entity(self.hero, ec.Position).xy
        for way in ((0, -8), (8, 0), (-8, 0), (0, 8)):
            column, row = self.level.to_cell(x + way[0], y + way[1])
            left, top = self.level.to_world(10 * column, 10 * row)
            tile = self.level.tile_at((left + 5, top - 5))
            if tile and tile.type == "earth" and self.inputs.dig:
                self.level.set_cell(column, row)
            elif tile is None and self.inputs.build:
                inside = (left + 0.01, top - 9.99), (left + 9.99, top - 0.01)
                if not self.space.query(*inside, solid=True):
                    self.level.set_cell(column, row, 1)


def build() -> Game:
    layer = tiles(PICTURE)
    earth = [("earth", 0), ("rock", 1)]
    tileset: dict[str, Any] = {
        "firstgid": 1, "name": "t", "tilewidth": 10, "tileheight": 10, "tilecount": 2,
        "columns": 2, "margin": 0, "spacing": 0, "image": "t.png", "imagewidth": 20,
        "imageheight": 10,
        "tiles": [{"id": n, "type": type_, "properties": custom(solid=True)} for type_, n in earth],
    }  # fmt: skip
    whole = {
        "version": "1.10", "tiledversion": "1.11", "width": 14, "height": 8, "tilewidth": 10,
        "tileheight": 10, "orientation": "orthogonal", "infinite": False, "nextlayerid": 9,
        "renderorder": "right-down", "nextobjectid": 9, "layers": [layer], "tilesets": [tileset],
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mine.tmj")
        path.write_text(json.dumps(whole))
        return Game(tiled.load(path))


class CellsAgree(testing.level_machine(build, WAYS, bounds=((0, 0), (140, 80)))):  # type: ignore[misc]
    """Also requires that the space has a solid body exactly where the level has a tile."""

    def teardown(self) -> None:
        try:
            game = self.sim.game
            self.sim.release(" ".join(WAYS))
            self.sim.step()
            skipped = [game.hero, *game.crates]
            full = game.space.occupancy(((0, 0), (140, 80)), 10, half=(1, 1), exclude=skipped)
            for column in range(14):
                for row in range(8):
                    tile = game.level.tile_at((10 * column + 5, 10 * row + 5))
                    assert full[column, row] == (tile is not None), (column, row)
        finally:
            super().teardown()


class TestDigger(CellsAgree.TestCase):  # type: ignore[misc]
    settings = settings(max_examples=4, stateful_step_count=15, deadline=None)


@pytest.mark.long
class TestDiggerForLong(CellsAgree.TestCase):  # type: ignore[misc]
    settings = settings(max_examples=settings.default.max_examples // 16, deadline=None)
