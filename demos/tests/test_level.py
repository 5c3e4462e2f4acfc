"""The level's files belong together."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import demos
from tests.screens import need

LEVELS = Path(demos.__file__).parent / "levels"


def test_picture_of_the_tiles_is_what_its_script_draws() -> None:
    need("PIL")
    from PIL import Image

    from demos.levels.make_tiles import sheet

    with Image.open(LEVELS / "tiles.png") as saved:
        assert np.array_equal(np.asarray(saved.convert("RGBA")), np.asarray(sheet()))


def test_bodies_of_a_level_are_few_and_cover_all_its_tiles() -> None:
    from ecs_collide.levels import tiled

    merged = tiled.load(LEVELS / "meadow.tmx")
    tiles = tiled.load(LEVELS / "meadow.tmx", merge=False)

    assert len(tiles.solids) > 1500
    assert len(merged.solids) < 100
    area = [sum(4 * b.half[0] * b.half[1] for b in level.solids) for level in (merged, tiles)]
    assert area[0] == area[1]
