"""The menu of the demos, and the window in which one is chosen after the other.

The menu is a scene like any other: its cards are bodies, and a query finds the one under the mouse.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import esper

import ecs_collide as ec
from demos.app.boxes import WHITE, YELLOW, Boxes, Colour
from demos.app.catalogue import examples, shown
from demos.app.scene import Label, Scene, Sheet
from demos.app.window import Screen

COLUMNS = 4
CARD, PICTURE = (176.0, 118.0), (166.0, 90.0)  # in world units, which are pixels here
GAP, INSET = 8.0, 24.0
HEAD, TITLE, FOOT = 66.0, 42.0, 42.0  # height above, between and below the cards
THUMBNAILS = Sheet(Path(__file__).with_name("thumbnails.png"), side=160)
GREY: Colour = (178, 184, 204)
LIT: Colour = (58, 84, 178)
DARK: Colour = (28, 31, 46)
WORLD = "menu of the demos"


class Menu(Scene):
    """The demos by picture and name, one of them lit.

    Parameters
    ----------
    demos : mapping of str to str
        The summary of each demo, in one line, by its name.
    """

    title = "demos"
    help = "arrows or the mouse: choose   Enter: play   Escape: back here, or leave"
    sheet = THUMBNAILS

    def __init__(self, demos: Mapping[str, str]) -> None:
        self.names = list(demos)
        self.lines = dict(demos)
        self.chosen = 0
        self.trouble = ""
        # "Games to copy" is a section of its own.
        first = next((n for n, name in enumerate(demos) if name in examples()), len(demos))
        self.first = first if first % COLUMNS == 0 else len(demos)
        n_rows = -(-len(demos) // COLUMNS)
        width = 2 * INSET + COLUMNS * CARD[0] + (COLUMNS - 1) * GAP
        title = TITLE if self.first < len(demos) else 0.0
        size = (width, HEAD + n_rows * (CARD[1] + GAP) + title + FOOT)
        super().__init__(ec.install(), size, size)
        self.cards = [
            esper.create_entity(ec.Position(*self.middle(number)), ec.Extents.from_size(*CARD))
            for number in range(len(demos))
        ]
        esper.process(0.0)  # nothing moves, but the space now knows the cards

    def middle(self, number: int) -> tuple[float, float]:
        """Return the middle of a card."""
        row, column = divmod(number, COLUMNS)
        title = TITLE if number >= self.first else 0.0
        x = INSET + CARD[0] / 2 + column * (CARD[0] + GAP)
        return x, self.size[1] - HEAD - title - CARD[1] / 2 - row * (CARD[1] + GAP)

    @property
    def name(self) -> str:
        """The name of the demo that is lit."""
        return self.names[self.chosen]

    def move(self, number: int) -> None:
        """Select the demo that is so many cards further."""
        self.chosen = (self.chosen + number) % len(self.cards)

    def point(self, place: tuple[float, float]) -> bool:
        """Light the demo at a point of the world; return whether there is one."""
        for card in self.space.query_point(place):
            self.chosen = self.cards.index(card)
            return True
        return False

    def boxes(self) -> Boxes:
        """Return the cards, each with its picture."""
        rows, known = [], shown()
        for number, name in enumerate(self.names):
            (left, bottom), (right, top) = self.space.bounds(self.cards[number])
            colour = LIT if number == self.chosen else DARK
            rows.append(((left, bottom, right, top), 0, colour))
            x, edge = (left + right) / 2, (CARD[0] - PICTURE[0]) / 2
            rect = x - PICTURE[0] / 2, top - edge - PICTURE[1], x + PICTURE[0] / 2, top - edge
            if name in known:
                rows.append((rect, 1 + known.index(name), WHITE))
        return Boxes.of(rows)

    def labels(self) -> list[Label]:
        """Return the names, and the summary of the demo that is lit."""
        found = [Label("ecs_collide", INSET, self.size[1] - 46, 30.0)]
        if self.first < len(self.names):
            y = self.size[1] - HEAD - self.first // COLUMNS * (CARD[1] + GAP) - TITLE + 13
            found.append(Label("Games to copy", INSET, y, 24.0))
        for card, name in zip(self.cards, self.names, strict=True):
            (left, bottom), _ = self.space.bounds(card)
            text = name.replace("_", " ")
            found.append(Label(text, left + CARD[0] / 2, bottom + 7, 16.0, anchor="center"))
        text, colour = (self.trouble, YELLOW) if self.trouble else (self.lines[self.name], GREY)
        return [*found, Label(text, INSET, 15, 14.0, colour)]


class Gallery:
    """A window with the menu, or with the demo that was chosen in it.

    Each demo runs in a separate esper world, which is deleted when the menu
    comes back.

    Parameters
    ----------
    demos : mapping of str to str
        The summary of each demo, in one line, by its name.
    build : callable
        Makes the scene of a demo, by name, in the current world; None for a game that has opened
        a window of its own.
    visible : bool
        Whether the window is shown.

    Raises
    ------
    ImportError, NoScreenError
        As from `Screen`.
    """

    def __init__(
        self,
        demos: Mapping[str, str],
        build: Callable[[str], Scene | None],
        visible: bool = True,
    ) -> None:
        esper.switch_world(WORLD)
        self.build = build
        self.menu = Menu(demos)
        self.screen = Screen(self.menu, visible=visible)
        self.world = WORLD
        self.screen.window.push_handlers(
            on_key_press=self.press,
            on_mouse_motion=self.point,
            on_mouse_press=self.click,
        )

    @property
    def is_open(self) -> bool:
        """Whether the menu is shown, and no demo."""
        return self.screen.scene is self.menu

    def open(self) -> None:
        """Show the demo or start the game that is lit, or say why that is not possible."""
        name = self.menu.name
        self.world = f"demo {name}"
        self.menu.trouble = ""
        esper.switch_world(self.world)
        try:
            scene = self.build(name)
            if scene is None:
                self.close()
                return
            self.screen.show(scene)
            self.screen.announce()
        except ImportError as error:
            self.close()
            self.menu.trouble = f"{name}: {error}"
        except Exception as error:  # a mistake in one demo leaves the others to choose from
            traceback.print_exc()
            self.close()
            what = f"{name}: {type(error).__name__}: {error}"
            self.menu.trouble = what.partition("\n")[0]

    def close(self) -> None:
        """Show the menu again, and forget the demo."""
        esper.switch_world(WORLD)
        esper.delete_world(self.world)
        self.world = WORLD
        self.screen.show(self.menu)

    def press(self, symbol: int, modifiers: int) -> bool:
        """Handle a key; return whether it is consumed."""
        from pyglet.window import key

        if not self.is_open:
            if symbol == key.ESCAPE:
                self.close()
                return True
            return False
        ways = {key.LEFT: -1, key.RIGHT: 1, key.UP: -COLUMNS, key.DOWN: COLUMNS}
        if symbol in ways:
            self.menu.move(ways[symbol])
        elif symbol in (key.ENTER, key.RETURN, key.NUM_ENTER, key.SPACE):
            self.open()
            return True
        return False

    def point(self, x: float, y: float, *_: float) -> None:
        """Light the card under the mouse."""
        if self.is_open:
            self.menu.point(self.screen.place(x, y))

    def click(self, x: float, y: float, *_: float) -> None:
        """Open the demo under the mouse."""
        if self.is_open and self.menu.point(self.screen.place(x, y)):
            self.open()

    def run(self, seconds: float | None = None) -> None:
        """Run until the window is closed, or for a number of seconds."""
        self.screen.run(seconds)
