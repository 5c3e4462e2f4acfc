"""The menu of the demos, and the window in which one is chosen after the other.

The menu is a scene like any other: its rows are bodies, and a query finds the row under the mouse.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping

import esper

import ecs_collide as ec
from demos.app.boxes import YELLOW, Boxes, Colour
from demos.app.scene import Label, Scene
from demos.app.window import Screen

ROW = 36.0  # height, in world units, which are pixels here
WIDTH = 960.0
HEAD, FOOT = 92.0, 44.0  # height above and below the rows
INSET = 24.0
GREY: Colour = (178, 184, 204)
LIT: Colour = (58, 84, 178)
DARK: Colour = (28, 31, 46)
WORLD = "menu of the demos"


class Menu(Scene):
    """The demos by name, one of them lit.

    Parameters
    ----------
    demos : mapping of str to str
        The summary of each demo, in one line, by its name.
    """

    title = "demos"
    help = "up, down or the mouse: choose   Enter: play   Escape: back here, or leave"

    def __init__(self, demos: Mapping[str, str]) -> None:
        size = (WIDTH, HEAD + FOOT + ROW * len(demos))
        super().__init__(ec.install(), size, size)
        self.names = list(demos)
        self.lines = dict(demos)
        self.chosen = 0
        self.trouble = ""
        self.rows = [
            esper.create_entity(
                ec.Position(WIDTH / 2, size[1] - HEAD - ROW * (number + 0.5)),
                ec.Extents(WIDTH / 2 - INSET, ROW / 2 - 2),
            )
            for number in range(len(demos))
        ]
        esper.process(0.0)  # nothing moves, but the space now knows the rows

    @property
    def name(self) -> str:
        """The name of the demo that is lit."""
        return self.names[self.chosen]

    def move(self, rows: int) -> None:
        """Select the demo that is this number of rows further down."""
        self.chosen = (self.chosen + rows) % len(self.rows)

    def point(self, place: tuple[float, float]) -> bool:
        """Light the demo at a point of the world; return whether there is one."""
        for row in self.space.query_point(place):
            self.chosen = self.rows.index(row)
            return True
        return False

    def boxes(self) -> Boxes:
        """Return the rows."""
        bounds = [self.space.bounds(row) for row in self.rows]
        return Boxes.of(
            [
                ((low[0], low[1], high[0], high[1]), 0, LIT if number == self.chosen else DARK)
                for number, (low, high) in enumerate(bounds)
            ]
        )

    def labels(self) -> list[Label]:
        """Return the names and the summaries of the demos."""
        top = self.size[1]
        found = [Label("ecs_collide", INSET, top - 62, 28.0)]
        if self.trouble:
            found.append(Label(self.trouble, INSET, 14, 13.0, YELLOW))
        for row, name in zip(self.rows, self.names, strict=True):
            (_, low), _ = self.space.bounds(row)
            found.append(Label(name, INSET + 12, low + 10, 15.0))
            found.append(Label(self.lines[name], INSET + 140, low + 10, 12.0, GREY))
        return found


class Gallery:
    """A window with the menu, or with the demo that was chosen in it.

    Each demo runs in a separate esper world, which is deleted when the menu
    comes back.

    Parameters
    ----------
    demos : mapping of str to str
        The summary of each demo, in one line, by its name.
    build : callable
        Makes the scene of a demo, by name, in the current world.
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
        build: Callable[[str], Scene],
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
        """Show the demo that is lit, or the reason why that is not possible."""
        name = self.menu.name
        self.world = f"demo {name}"
        self.menu.trouble = ""
        esper.switch_world(self.world)
        try:
            self.screen.show(self.build(name))
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
        if symbol in (key.UP, key.DOWN):
            self.menu.move(1 if symbol == key.DOWN else -1)
        elif symbol in (key.ENTER, key.RETURN, key.NUM_ENTER, key.SPACE):
            self.open()
            return True
        return False

    def point(self, x: float, y: float, *_: float) -> None:
        """Light the row under the mouse."""
        if self.is_open:
            self.menu.point(self.screen.place(x, y))

    def click(self, x: float, y: float, *_: float) -> None:
        """Open the demo under the mouse."""
        if self.is_open and self.menu.point(self.screen.place(x, y)):
            self.open()

    def run(self, seconds: float | None = None) -> None:
        """Run until the window is closed, or for a number of seconds."""
        self.screen.run(seconds)
