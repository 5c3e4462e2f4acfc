"""A real window, where there is a screen: what is in the vertex list is seen as pixels."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from demos import arena
from demos._window import NoScreenError, Screen
from tests.demos.conftest import need


@pytest.fixture
def screen(world: str) -> Iterator[Screen]:
    need("pyglet")
    if sys.platform == "linux" and not os.environ.get("DISPLAY"):
        pytest.skip("no display")
    scene = arena.build(n=60, seed=2)
    scene.step()
    try:
        screen = Screen(scene)
    except NoScreenError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no window: {error}")
    yield screen
    screen.window.close()


def pixels(window: Any) -> np.ndarray:
    """Return the window's pixels from the bottom up, shape (height, width, 4)."""
    import pyglet

    image = pyglet.image.get_buffer_manager().get_color_buffer().get_image_data()
    data = image.get_data("RGBA", image.width * 4)
    return np.frombuffer(data, dtype=np.uint8).reshape(image.height, image.width, 4)


def test_boxes_are_seen_where_they_are(screen: Screen) -> None:
    scene = screen.scene
    drawn = scene.boxes()
    left, bottom = scene.camera()

    screen.draw()
    seen = pixels(screen.window)

    middles = (drawn.rects[:, :2] + drawn.rects[:, 2:]) / 2 - (left, bottom)
    below_status = [
        number for number, (_, y) in enumerate(middles * scene.zoom) if y < seen.shape[0] - 40
    ]
    assert len(below_status) > 40
    for number in below_status:
        x, y = (middles[number] * scene.zoom).astype(int)
        assert tuple(seen[y, x, :3]) == tuple(drawn.colours[number]), number


def test_vertex_list_grows_with_the_scene(screen: Screen) -> None:
    screen.draw()
    boxes = screen.scene.boxes()
    many = boxes.joined(*[boxes] * 20)

    screen._boxes.draw(many, screen._sky)
    screen.draw()

    assert pixels(screen.window)[:, :, :3].max() > 60


def test_window_plays_for_so_many_seconds(screen: Screen) -> None:
    before = screen.scene.n_steps

    screen.run(seconds=0.3)

    assert 2 <= screen.scene.n_steps - before <= 40


def test_key_b_hands_over_to_the_bot(screen: Screen) -> None:
    from pyglet.window import key

    screen.window.dispatch_event("on_key_press", key.LEFT, 0)
    screen.read_keys()
    assert screen.scene.keys.left

    screen.window.dispatch_event("on_key_press", key.B, 0)
    assert screen.scene.keys.bot
