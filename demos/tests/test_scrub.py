"""Recorded runs in a window: real keys go back and forth, and the pixels are those of the step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from demos import ten_thousand
from demos.app.replay import Player
from demos.app.scrub import ReplayScreen
from demos.app.window import NoScreenError, Screen
from demos.tests.test_replay import record_boxes
from ecs_collide.debug import COLOURS
from tests.screens import give_up, is_seen, n_seen, need_screen, pixels, press

F1, F10 = 0xFFBE, 0xFFC7


@pytest.fixture
def player(world: str) -> Iterator[Player]:
    need_screen()
    player = Player(record_boxes(150, n=60, seed=2))
    yield player
    player.close()


@pytest.fixture
def screen(player: Player) -> Iterator[ReplayScreen]:
    screen = opened(player)
    yield screen
    screen.window.close()


def opened(player: Player) -> ReplayScreen:
    try:
        return ReplayScreen(player)
    except NoScreenError as error:
        give_up(error)


def seen(screen: Screen) -> np.ndarray:
    screen.window.switch_to()
    screen.scene.labels = list  # type: ignore[method-assign]  # times differ
    screen.draw()
    return pixels().copy()


def test_arrows_go_to_and_fro(screen: ReplayScreen, player: Player) -> None:
    from pyglet.window import key

    at_first = seen(screen)
    assert player.scene.n_steps == 0

    press(screen.window, key.RIGHT, key.RIGHT, key.RIGHT)
    assert player.position == 3
    at_third = seen(screen)
    assert (at_third != at_first).any()
    press(screen.window, key.UP)
    assert player.position == 63
    press(screen.window, key.END)
    assert player.position == 150
    press(screen.window, key.DOWN, key.LEFT)
    assert player.position == 89
    press(screen.window, key.HOME, key.RIGHT, key.RIGHT, key.RIGHT)

    assert player.position == 3
    assert np.array_equal(seen(screen), at_third)


def test_boxes_of_the_step_are_seen(screen: ReplayScreen, player: Player) -> None:
    from pyglet.window import key

    press(screen.window, key.UP, key.LEFT)
    picture = seen(screen)

    scene = player.scene
    found = scene.boxes()
    middles = ((found.rects[:, :2] + found.rects[:, 2:]) / 2 - scene.camera()) * scene.zoom
    below = middles[:, 1] < picture.shape[0] - 40
    assert below.sum() > 40
    for (x, y), colour in zip(middles[below].astype(int), found.colours[below], strict=True):
        assert tuple(picture[y, x, :3]) == tuple(colour)


def test_it_plays_by_itself_to_the_end(screen: ReplayScreen, player: Player) -> None:
    player.seek(140)

    screen.run(seconds=0.8)

    assert player.position == 150
    assert not screen.is_playing


def test_space_plays_and_stops(screen: ReplayScreen, player: Player) -> None:
    from pyglet.window import key

    press(screen.window, key.SPACE)
    assert screen.is_playing
    screen.advance()
    screen.advance()
    assert player.position == 2
    press(screen.window, key.LEFT)
    assert not screen.is_playing
    screen.advance()
    assert player.position == 1
    press(screen.window, key.END, key.SPACE)
    assert (player.position, screen.is_playing) == (0, True)


def test_difference_is_shown(player: Player) -> None:
    from pyglet.window import key

    hashes = player.recording.hashes.copy()
    hashes[60] ^= 1
    other = Player(replace(player.recording, hashes=hashes))
    screen = opened(other)
    try:
        assert "as recorded" in screen.text()
        press(screen.window, key.UP)
        assert "step 60 of 150   PAUSED: differs first in step 60 of 150" in screen.text()
    finally:
        screen.window.close()
        other.close()


def test_replay_shows_the_scene_that_was_made_anew(screen: ReplayScreen, player: Player) -> None:
    screen.seek(10)
    at_tenth = seen(screen)
    screen.seek(70)
    player._memory._moments.clear()
    press(screen.window, F1)
    seen(screen)
    before = player.scene
    assert before.space.timing

    screen.seek(10)
    seen(screen)

    assert player.scene is not before
    assert (player.scene.space.timing, before.space.timing) == (True, False)
    press(screen.window, F1)
    assert np.array_equal(seen(screen), at_tenth)
    assert screen.scene is player.scene
    assert screen.overlay.space is player.scene.space
    assert player.scene.n_steps == 10


def test_f1_shows_the_overlay_of_a_demo_and_f10_pauses(world: str) -> None:
    need_screen()
    scene = ten_thousand.build(n=60, seed=2)
    try:
        screen = Screen(scene)
    except NoScreenError as error:
        give_up(error)
    try:
        scene.step()
        assert n_seen(seen(screen), COLOURS["moving"]) == 0

        press(screen.window, F1)
        picture = seen(screen)
        lows, highs = scene.space.boxes(scene.ids)
        n_found = 0
        for low, high in zip(lows, highs, strict=True):
            left, bottom = (low - scene.camera()) * scene.zoom
            top = (high[1] - scene.camera()[1]) * scene.zoom
            if top < picture.shape[0] - 70:
                n_found += 1
                assert is_seen(picture, (left, 0.6 * bottom + 0.4 * top), COLOURS["moving"])
        assert n_found > 40

        press(screen.window, F10)
        before = scene.n_steps
        screen.run(seconds=0.2)
        assert scene.n_steps == before
    finally:
        screen.window.close()
