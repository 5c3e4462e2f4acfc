"""The menu: what it lights, opens and closes, without a window and in a real one."""

from __future__ import annotations

from collections.abc import Iterator

import esper
import numpy as np
import pytest

import ecs_collide as ec
from demos import tunnelling
from demos.app import catalogue
from demos.app.boxes import Boxes
from demos.app.menu import LIT, WORLD, Gallery, Menu
from demos.app.scene import Scene
from demos.app.window import NoScreenError
from demos.ten_thousand import game as ten_thousand
from tests.screens import give_up, need, need_screen, pixels

LINES = {"one": "Shows one thing.", "two": "Shows two.", "three": "Cannot be shown."}


def build(name: str) -> Scene:
    if name == "three":
        raise ImportError("it needs more than there is")
    return tunnelling.build() if name == "one" else ten_thousand.build(n=30)


def test_arrows_go_round(world: str) -> None:
    menu = Menu(LINES)

    lit = []
    for number in (0, 1, 1, 1, -1):
        menu.move(number)
        lit.append(menu.name)

    assert lit == ["one", "two", "three", "one", "three"]


def test_mouse_lights_what_it_is_over(world: str) -> None:
    menu = Menu(LINES)
    low, high = menu.space.bounds(menu.cards[1])

    assert menu.point(((low[0] + high[0]) / 2, (low[1] + high[1]) / 2))
    assert menu.name == "two"
    assert not menu.point((0.0, menu.size[1]))
    assert menu.name == "two"


def test_name_is_written_on_its_card_and_the_line_of_the_one_that_is_lit(world: str) -> None:
    menu = Menu(LINES)
    menu.move(1)

    written = {label.text: label for label in menu.labels()}

    for card, name in zip(menu.cards, LINES, strict=True):
        low, high = menu.space.bounds(card)
        assert low[0] < written[name].x < high[0]
        assert low[1] < written[name].y < high[1]
    assert [line in written for line in LINES.values()] == [False, True, False]
    boxes = menu.boxes()
    assert (boxes.colours == LIT).all(axis=1).tolist() == [False, True, False]


def test_menu_shows_a_picture_of_every_demo_the_best_first(world: str) -> None:
    need("PIL")
    from PIL import Image

    from demos.app.painter import Painter
    from demos.tests.labels import faults

    menu = Menu({name: catalogue.summary(name) for name in catalogue.shown()})

    tiles = menu.boxes().tiles
    assert tiles[tiles > 0].tolist() == list(range(1, len(menu.names) + 1))
    assert menu.names[0] == "survivors"
    assert menu.names[-len(catalogue.examples()) :] == catalogue.examples()
    title = next(label for label in menu.labels() if label.text == "Games to copy")
    first = menu.space.bounds(menu.cards[menu.names.index("bricks")])
    assert first[1][1] < title.y < menu.space.bounds(menu.cards[0])[0][1]
    with Image.open(menu.sheet.path) as sheet:
        seen = np.asarray(sheet.convert("RGB"))
    for tile in range(1, len(menu.names) + 1):
        x, y = menu.sheet.corner(tile)
        part = seen[y : y + menu.sheet.side, x : x + menu.sheet.side]
        assert part.shape == (menu.sheet.side, menu.sheet.side, 3)
        assert part.std() > 8, menu.names[tile - 1]
    for chosen in range(len(menu.names)):
        menu.chosen = chosen
        found = Painter(menu).text_boxes()
        assert faults(found, *menu.view) == []


@pytest.fixture
def gallery() -> Iterator[Gallery]:
    need_screen()
    try:
        gallery = Gallery(LINES, build)
    except NoScreenError as error:
        give_up(error)
    yield gallery
    gallery.screen.window.close()
    esper.switch_world("default")
    for name in (WORLD, gallery.world):
        if name in esper.list_worlds():
            esper.delete_world(name)


def press(gallery: Gallery, symbol: int) -> None:
    send(gallery, "on_key_press", symbol, 0)


def send(gallery: Gallery, *event: object) -> None:
    """Send an event, and take it from the queue where pyglet has put it into one."""
    gallery.screen.window.dispatch_event(*event)
    gallery.screen.window.dispatch_events()


def test_keys_choose_a_demo_and_escape_comes_back(gallery: Gallery) -> None:
    from pyglet.window import key

    screen = gallery.screen
    press(gallery, key.RIGHT)
    press(gallery, key.ENTER)

    assert isinstance(screen.scene, ten_thousand.TenThousand)
    assert esper.current_world == "demo two"
    assert screen.window.caption.startswith("ecs_collide: ten thousand   (")
    assert screen.card > 0
    press(gallery, key.UP)  # the title goes at once
    screen.run(seconds=0.2)
    # The window was closed at the end of the run; what the scene did is still there.
    assert screen.scene.n_steps >= 2


def test_escape_leaves_the_window_open_and_forgets_the_world(gallery: Gallery) -> None:
    from pyglet.window import key

    for _ in range(2):
        press(gallery, key.ENTER)
        assert isinstance(gallery.screen.scene, tunnelling.Tunnelling)
        gallery.screen.scene.step()
        gallery.screen.draw()
        press(gallery, key.ESCAPE)

        assert gallery.screen.scene is gallery.menu
        assert not gallery.screen.window.has_exit
        assert "demo one" not in esper.list_worlds()
        assert esper.current_world == WORLD
    press(gallery, key.ESCAPE)
    assert gallery.screen.window.has_exit


def test_menu_is_seen_and_a_click_opens(gallery: Gallery) -> None:
    screen, menu = gallery.screen, gallery.menu
    screen.draw()
    seen = pixels()
    (x0, y0), (x1, y1) = menu.space.bounds(menu.cards[0])
    assert tuple(seen[int(y0) + 3, int(x1) - 3, :3]) == LIT
    letters = seen[int(y0) : int(y1), int(x0) : int(x1), :3]
    assert (letters.min(axis=2) > 200).sum() > 30  # white

    (left, low), (right, high) = menu.space.bounds(menu.cards[1])
    send(gallery, "on_mouse_press", int((left + right) / 2), int((low + high) / 2), 1, 0)

    assert isinstance(screen.scene, ten_thousand.TenThousand)


@pytest.mark.parametrize("card", [0, 1])
def test_window_takes_the_size_of_the_demo(gallery: Gallery, card: int) -> None:
    gallery.menu.move(card)
    gallery.open()
    screen = gallery.screen

    screen.window.dispatch_events()
    screen.draw()

    view, (left, bottom, zoom) = screen.scene.view, screen.area()
    assert abs(zoom - min(screen.window.width / view[0], screen.window.height / view[1])) < 1e-9
    place = screen.place(left + view[0] * zoom, bottom + view[1] * zoom)
    assert np.allclose(place, np.add(screen.scene.camera(), view))


def test_game_with_a_window_of_its_own_leaves_the_menu_open(gallery: Gallery) -> None:
    gallery.build = lambda name: None

    gallery.open()

    assert gallery.is_open
    assert gallery.menu.trouble == ""
    assert esper.current_world == WORLD
    assert "demo one" not in esper.list_worlds()


def test_demo_that_lacks_a_package_is_named(gallery: Gallery) -> None:
    from pyglet.window import key

    press(gallery, key.LEFT)
    press(gallery, key.ENTER)

    assert gallery.is_open
    assert gallery.menu.trouble == "three: it needs more than there is"
    assert gallery.menu.trouble in [label.text for label in gallery.menu.labels()]
    assert esper.current_world == WORLD
    assert isinstance(gallery.menu.space, ec.Space)


@pytest.mark.parametrize("late", [False, True])
def test_demo_that_fails_is_named_and_the_menu_is_back(
    gallery: Gallery, late: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyglet.window import key

    class Late(ten_thousand.TenThousand):
        def backdrop(self) -> Boxes:
            raise ZeroDivisionError("of nothing\nat all")

    def fail(name: str) -> Scene:
        scene = ten_thousand.build(n=3)
        if not late:
            raise ZeroDivisionError("of nothing\nat all")
        scene.__class__ = Late
        return scene

    gallery.build = fail
    press(gallery, key.ENTER)

    assert gallery.is_open
    assert esper.current_world == WORLD
    assert "demo one" not in esper.list_worlds()
    assert gallery.menu.trouble == "one: ZeroDivisionError: of nothing"
    assert "in fail" in capsys.readouterr().err or late
    gallery.screen.draw()
    gallery.build = build
    press(gallery, key.ENTER)
    assert isinstance(gallery.screen.scene, tunnelling.Tunnelling)
    assert gallery.menu.trouble == ""
