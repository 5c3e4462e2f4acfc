"""A real window, where there is a screen: what is in the vertex list is seen as pixels."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
import pytest

from demos.app.scene import Scene
from demos.app.window import NoScreenError, Screen
from demos.ten_thousand import game as ten_thousand
from demos.tests.conftest import SIZED
from ecs_collide.debug import COLOURS
from tests.scenes import another_world
from tests.screens import give_up, is_seen, n_seen, need, need_screen, pixels, press

F1, F10 = 0xFFBE, 0xFFC7


@pytest.fixture
def screen(world: str) -> Iterator[Screen]:
    need_screen()
    scene = ten_thousand.build(n=60, seed=2)
    scene.step()
    try:
        screen = Screen(scene)
    except NoScreenError as error:
        give_up(error)
    yield screen
    screen.window.close()


def test_boxes_are_seen_where_they_are(screen: Screen) -> None:
    scene = screen.scene
    drawn = scene.boxes()
    left, bottom = scene.camera()

    screen.draw()
    seen = pixels()

    middles = (drawn.rects[:, :2] + drawn.rects[:, 2:]) / 2 - (left, bottom)
    below_status = [
        number for number, (_, y) in enumerate(middles * scene.zoom) if y < seen.shape[0] - 40
    ]
    assert len(below_status) > 40
    for number in below_status:
        x, y = (middles[number] * scene.zoom).astype(int)
        assert tuple(seen[y, x, :3]) == tuple(drawn.colours[number]), number


def test_vertex_list_grows_and_shrinks_with_the_scene(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen.draw()
    before = pixels()
    boxes = screen.scene.boxes()
    moved = [boxes._replace(rects=boxes.rects + 3.0 * n) for n in range(20)]

    with monkeypatch.context() as patch:
        patch.setattr(screen.scene, "boxes", lambda: moved[0].joined(*moved[1:]))
        screen.draw()
        grown = pixels()
    screen.draw()

    assert (grown != before).any(axis=2).mean() > 0.02
    assert (pixels() == before).all()


def test_window_plays_for_so_many_seconds(screen: Screen) -> None:
    before = screen.scene.n_steps

    screen.run(seconds=0.3)

    assert 2 <= screen.scene.n_steps - before <= 40


def test_key_b_hands_over_to_the_bot(screen: Screen) -> None:
    from pyglet.window import key

    screen.window.dispatch_event("on_key_press", key.LEFT, 0)
    screen.window.dispatch_events()  # of a queue, if pyglet keeps one
    screen.read_keys()
    assert screen.scene.keys.left

    screen.window.dispatch_event("on_key_press", key.B, 0)
    screen.window.dispatch_events()
    assert screen.scene.keys.bot


def test_keys_are_in_the_picture_until_the_first_one_is_pressed(screen: Screen) -> None:
    from pyglet.window import key

    def told() -> bool:
        return any("F1: how it works" in label.text for label in screen.labels())

    assert not told()
    screen.announce()
    screen.card = 0.0  # the title is gone
    assert told()
    screen.press(key.LEFT, 0)
    assert not told()

    screen.announce()
    screen.show(screen.scene)
    assert not told()


def test_key_m_switches_sounds_and_the_title_says_what_it_does(screen: Screen) -> None:
    from pyglet.window import key

    assert "M: sounds off" in screen.window.caption

    screen.press(key.M, 0)
    assert not screen.speaker.is_on
    assert "M: sounds on" in screen.window.caption

    screen.press(key.M, 0)
    assert screen.speaker.is_on
    assert "M: sounds off" in screen.window.caption


def show(screen: Screen, scene: Scene) -> None:
    """Show a scene, and wait until the window has its size."""
    screen.show(scene)
    resize(screen, tuple(round(side * scene.zoom) for side in scene.view))


def resize(screen: Screen, size: tuple[int, ...]) -> None:
    """Give the window a size, and wait until it has it."""
    screen.window.set_size(*size)
    end = perf_counter() + 5
    while pixels().shape[1::-1] != size and perf_counter() < end:
        screen.window.dispatch_events()  # the window system takes its time


def test_text_of_every_demo_is_whole_in_the_window(screen: Screen) -> None:
    from demos.tests.labels import faults
    from demos.tests.test_gallery import GALLERY, build

    for name in GALLERY:
        with another_world(f"window {name}"):
            scene = build(name)
            show(screen, scene)
            screen.announce()
            for step in range(90):
                if step % 30 == 0:
                    screen.draw()
                    size = screen.window.width, screen.window.height
                    assert faults(screen.text_boxes(), *size) == [], f"{name}, step {step}"
                    screen.card = 0.0
                scene.step()


def test_every_demo_looks_in_the_window_as_on_paper(screen: Screen) -> None:
    need("PIL")
    from PIL import Image

    from demos.app.painter import Painter
    from demos.tests.test_gallery import GALLERY, build

    for name in GALLERY:
        with another_world(f"window {name}"):
            scene = build(name)
            for _ in range(45):
                scene.step()
            show(screen, scene)
            screen.draw()
            seen = pixels()[::-1, :, :3].astype(int)
            paper = Painter(scene).paint().convert("RGB")
            paper = np.asarray(paper.resize(seen.shape[1::-1], Image.Resampling.NEAREST)).astype(
                int
            )
            for _, box in (*screen.text_boxes(), *Painter(scene).text_boxes()):  # in other letters
                left, top, right, bottom = (max(round(side), 0) for side in box)
                seen[top : bottom + 2, left : right + 2] = paper[
                    top : bottom + 2, left : right + 2
                ] = 0

        far = np.abs(seen - paper).max(axis=2) > 60  # edges that are rounded
        assert far.mean() < (0.09 if name in SIZED else 0.03), name  # thousands have many
        assert (paper.max(axis=2) > 80).mean() > far.mean(), name


def test_text_in_the_world_is_written_and_follows(screen: Screen) -> None:
    from demos.app.scene import Label

    scene = screen.scene
    place = [100.0]
    scene.labels = lambda: [Label("MMMM", place[0], 60.0, 40.0, (255, 0, 255))]  # type: ignore[method-assign]

    columns = []
    for x in (100.0, 40.0):
        place[0] = x
        screen.draw()
        seen = pixels()[:, :, :3]
        pink = (seen[:, :, 0] > 200) & (seen[:, :, 1] < 60) & (seen[:, :, 2] > 200)
        assert pink.sum() > 300
        columns.append(np.flatnonzero(pink.any(axis=0))[0])

    assert columns[0] - columns[1] == pytest.approx(60 * screen.area()[2], abs=2)


def test_scene_is_in_the_middle_of_a_resized_window_and_nothing_is_beside_it(
    screen: Screen,
) -> None:
    view, boxes = screen.scene.view, screen.scene.boxes()
    wide = boxes._replace(rects=boxes.rects + np.array([-999.0, -999.0, 999.0, 999.0]))
    screen.scene.boxes = lambda: wide  # type: ignore[method-assign]
    for size in ((500, 700), (1200, 400)):
        resize(screen, size)
        screen.draw()
        left, bottom, zoom = screen.area()
        width, height = round(view[0] * zoom), round(view[1] * zoom)

        lit = pixels()[:, :, :3].any(axis=2)
        assert np.flatnonzero(lit.any(axis=0))[[0, -1]].tolist() == [left, left + width - 1]
        assert np.flatnonzero(lit.any(axis=1))[[0, -1]].tolist() == [bottom, bottom + height - 1]
        assert abs(size[0] - 2 * left - width) <= 1
        assert abs(size[1] - 2 * bottom - height) <= 1
        assert min(left, bottom) <= 1 < max(left, bottom)


def test_scene_is_below_the_numbers_of_the_overlay(screen: Screen) -> None:
    screen.overlay.visible = True
    screen.draw()  # it writes the numbers
    screen.draw()

    above = screen.overlay.note_height(screen.window)
    assert above > 20
    assert min(box[1] for text, box in screen.text_boxes() if text) >= above
    assert screen.place(0, screen.window.height - above)[1] >= sum(
        (screen.scene.camera()[1], screen.scene.view[1])
    )


def test_text_stays_where_it_is_when_the_camera_shakes(screen: Screen) -> None:
    screen.draw()
    before, middle = screen.text_boxes(), screen.place(100, 100)

    screen.scene.effects.shake(9.0)
    screen.draw()

    assert screen.text_boxes() == before
    assert screen.place(100, 100) == middle
    assert screen.scene.shaken() != screen.scene.camera()


def test_what_is_gone_is_not_drawn_any_more(screen: Screen) -> None:
    scene = screen.scene
    full = scene.boxes()
    screen.draw()

    few = type(full)(*(part[-4:] for part in full))  # the walls
    scene.boxes = lambda: few  # type: ignore[method-assign]
    screen.draw()

    seen = pixels()
    left, bottom = scene.camera()
    middles = (full.rects[:-4, :2] + full.rects[:-4, 2:]) / 2 - (left, bottom)
    for x, y in (middles * scene.zoom).astype(int).tolist():
        assert y >= seen.shape[0] - 40 or seen[y, x, :3].max() < 40


def test_f1_shows_the_overlay_of_a_demo_and_f10_pauses(screen: Screen) -> None:
    def seen() -> np.ndarray:
        screen.window.switch_to()
        screen.scene.labels = list  # type: ignore[method-assign]  # times differ
        screen.draw()
        return pixels().copy()

    scene = screen.scene
    assert n_seen(seen(), COLOURS["moving"]) == 0

    press(screen.window, F1)
    picture = seen()
    lows, highs = scene.space.boxes(scene.ids)  # type: ignore[attr-defined]
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
