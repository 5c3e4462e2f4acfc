"""The pictures of the demos, 440 pixels wide, that the pages and the menu show."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ecs_collide as ec
from demos.app import catalogue
from tests.screens import need
from tests.volume import further

ROOT = Path(__file__).parents[2]
SLOW = ("platformer", "survivors", "ten_thousand")  # more than a third of a second
DIFFERENCE = 0.7  # of 255, on average
# Rows at the top that show measured times, and the difference that the palette makes below them.
TIMES = {"ten_thousand": (52, 2.0), "survivors": (20, DIFFERENCE)}


def drawing() -> Any:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "make_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name", [*(name for name in catalogue.names() if name not in SLOW), *further(*SLOW)]
)
def test_picture_of_a_demo_is_what_it_shows_now(
    name: str, world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("PIL")
    from PIL import Image

    if not ec.COMPILED:
        pytest.skip("the same as compiled, and slow as pure Python")
    script = drawing()
    kept = script.FOLDER / f"demo_{name}.png"
    monkeypatch.setattr(script, "FOLDER", tmp_path)

    script.draw_demo(name)

    with Image.open(kept) as old, Image.open(tmp_path / kept.name) as new:
        assert new.width == 440
        pair = [np.asarray(picture.convert("RGB")).astype(float) for picture in (old, new)]
    assert pair[0].shape == pair[1].shape
    top, most = TIMES.get(name, (0, DIFFERENCE))
    assert np.abs(pair[0] - pair[1])[top:].mean() < most, "python docs/make_pictures.py demos"


def test_sprites_are_as_they_are_drawn_and_named() -> None:
    need("PIL")
    from PIL import Image

    from demos.app.sprites import SPRITES, Sprite
    from demos.levels import make_sprites

    drawn = make_sprites.sheet()

    assert [sprite.name.lower() for sprite in Sprite] == list(make_sprites.drawings())
    with Image.open(SPRITES.path) as picture:
        kept = np.asarray(picture.convert("RGBA")).astype(int)
    now = np.asarray(drawn).astype(int)
    assert (kept[..., 3] == now[..., 3]).all()
    seen = now[..., 3] > 0
    assert (kept[seen] == now[seen]).all(), "python demos/levels/make_sprites.py"
