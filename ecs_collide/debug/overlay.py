"""An overlay for pyglet, arcade and pygame that shows how collisions come about.

With pyglet or arcade, two lines after the window and the space are created::

    overlay = DebugDraw(space)
    overlay.attach(window)

or, if the game draws with a camera and resets it afterwards, a call within
`on_draw` while the camera is set::

    overlay.draw()

With pygame, a line for the keys and a line at the end of a frame::

    overlay.on_key_press(event.key)
    overlay.draw(canvas)  # canvas = PygameCanvas(screen), of ecs_collide.debug.with_pygame

A class with the four methods of `Canvas` draws with any other library.

F1 shows and hides the overlay, F2 to F9 its parts.  F10 pauses, F11 does a single step and F12
slows down, if the game steps with `DebugDraw.process` instead of ``esper.process``.

The graphics library is imported when something is drawn, not before.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from itertools import takewhile
from typing import Any

import esper
import numpy as np

from ecs_collide.debug.pyglet_lists import load_pyglet
from ecs_collide.debug.shapes import COLOURS, Canvas, Show, collect
from ecs_collide.debug.with_pyglet import Hook, PygletCanvas
from ecs_collide.space import Space
from ecs_collide.step.stats import StageTimes

__all__ = ["COLOURS", "KEYS", "DebugDraw", "Show"]

# The codes of the function keys begin with pyglet.window.key.F1 (arcade.key.F1) and pygame.K_F1.
# Importing pyglet's module opens a display.
_F1_OF_PYGLET, _F1_OF_PYGAME = 0xFFBE, 0x4000003A

KEYS: dict[int, Show | str] = {
    f1 + n: action
    for f1 in (_F1_OF_PYGLET, _F1_OF_PYGAME)
    for n, action in enumerate(("visible", *Show, "pause", "step", "slow"))
}
"""The actions of the keys F1 to F12.  `DebugDraw.keys` is a copy that a game may change."""

SLOW = 8  # in slow motion one step in 8 is done
TEXT_EVERY = 15  # draws until the numbers change, so that they can be read


class DebugDraw:
    """An overlay on a window: the boxes of a space and the work of the last step.

    It draws in world units, with the camera of a canvas or the projection and view that a window
    of pyglet or arcade has when `draw` is called.  Any zoom will do, and y up or down.  It shows
    the first two axes of a 3D space.  In a space that wraps, boxes across an edge are shown on both
    sides.  It changes nothing, except that it turns `Space.timing` on while it shows times.

    Parameters
    ----------
    space : Space
    show : Show
        The parts that are shown at first.
    visible : bool
        Whether anything is shown.

    Attributes
    ----------
    visible, paused : bool
    keys : dict
        The action of each key: a `Show` to switch on or off, or ``"visible"``, ``"pause"``,
        ``"step"`` or ``"slow"``.  At first as `KEYS`.

    Raises
    ------
    TypeError, ValueError
        `space` is not a space, `show` not a `Show`, or `slow` not a whole number from 1 on.

    Examples
    --------
    >>> overlay = DebugDraw(space)                      # doctest: +SKIP
    >>> overlay.attach(window)                          # doctest: +SKIP
    >>> pyglet.clock.schedule_interval(overlay.process, 1 / 60)  # doctest: +SKIP
    """

    def __init__(
        self,
        space: Space,
        show: Show = Show.BOXES | Show.CONTACTS | Show.STATS,
        *,
        visible: bool = True,
    ) -> None:
        self.space = space
        self.show = show
        self.visible = visible
        self.paused = False
        self.slow = 1
        self.keys = dict(KEYS)
        self._is_due = False  # a single step
        self._n_calls = 0
        self._text: tuple[object, list[str]] = (None, [])
        self._text_age = 0
        self._hook: Hook | None = None
        self._window: Callable[[], Any] = lambda: None  # the window of `attach`, if it still exists
        self._view: Callable[[], Any] | None = None
        self._draws = False
        self._canvases: weakref.WeakKeyDictionary[Any, PygletCanvas] = weakref.WeakKeyDictionary()
        self._timed: Space | None = None  # the space whose timing this overlay has turned on

    @property
    def space(self) -> Space:
        """The space whose boxes are shown; another one may be set."""
        return self._space

    @space.setter
    def space(self, space: Space) -> None:
        if not isinstance(space, Space):
            raise TypeError(f"DebugDraw({space!r}) wants an ecs_collide.Space")
        self._space = space
        self._times: deque[StageTimes] = deque(maxlen=TEXT_EVERY)
        self._seen_step = -1

    @property
    def show(self) -> Show:
        """The parts that are shown."""
        return self._show

    @show.setter
    def show(self, show: Show) -> None:
        if isinstance(show, bool) or not isinstance(show, int) or not 0 <= show <= ~Show(0):
            raise TypeError(
                f"DebugDraw.show={show!r} must be a Show, as Show.BOXES | Show.CONTACTS"
            )
        self._show = Show(show)

    @property
    def slow(self) -> int:
        """The number of calls to `process` for one step; 1 does a step in each call."""
        return self._slow

    @slow.setter
    def slow(self, slow: int) -> None:
        if isinstance(slow, bool) or not isinstance(slow, int) or slow < 1:
            raise ValueError(
                f"DebugDraw.slow={slow!r} must be a whole number from 1 on: "
                "calls to process() for each step"
            )
        self._slow = slow

    # -- the clock --

    def may_step(self) -> bool:
        """Return whether a step is due now.  Call it before each step, and skip the step if not.

        It is for games that do their steps themselves; `process` calls it.  The length of steps
        never changes.  Slow motion delays steps, so each gives the same result.
        """
        if self.paused:
            due, self._is_due = self._is_due, False
            return due
        self._n_calls += 1
        return self._n_calls % self.slow == 0

    def process(self, dt: float, *args: object, **kwargs: object) -> bool:
        """Call ``esper.process(dt)``, unless paused or slowed down; return whether it did."""
        if not self.may_step():
            return False
        esper.process(dt, *args, **kwargs)
        return True

    def step_once(self) -> None:
        """Pause, but do one step in the next call to `process`."""
        self.paused = self._is_due = True

    # -- keys --

    def on_key_press(self, symbol: int, modifiers: int = 0) -> bool:
        """Do the action of a key; return whether it has one.

        `symbol` is a key of pyglet, arcade or pygame.  `attach` pushes this handler.
        """
        action = self.keys.get(symbol)
        if action is None:
            return False
        if isinstance(action, Show):
            self.show ^= action
        elif action == "visible":
            self.visible = not self.visible
        elif action == "pause":
            self.paused, self._is_due = not self.paused, False
        elif action == "step":
            self.step_once()
        elif action == "slow":
            self.slow = 1 if self.slow > 1 else SLOW
        else:
            raise ValueError(
                f"DebugDraw.keys[{symbol}]={action!r} must be a Show, "
                '"visible", "pause", "step" or "slow"'
            )
        return True

    # -- drawing --

    def attach(
        self, window: Any, *, view: Callable[[], Any] | None = None, draws: bool = True
    ) -> None:
        """Draw after each `on_draw` of a window of pyglet or arcade, and handle its keys.

        With pyglet's loop this is automatic; a game with another loop calls `draw` after it has
        drawn.  The window keeps the overlay until `detach`.  If several overlays are attached to
        one window, each handles all keys.

        Parameters
        ----------
        window : pyglet.window.Window
        view : callable, optional
            Returns the view matrix of the game's camera.  The default is the view that is set
            when `on_draw` ends; a game that resets its view within `on_draw` needs `view`.
        draws : bool
            If False, only the keys are handled, and the game calls `draw`.

        Raises
        ------
        ImportError
            pyglet is not installed, or is older than 2.1, or 3 or newer.
        TypeError
            `window` is not a window, or `view` is not a function.
        """
        load_pyglet()
        if not hasattr(window, "push_handlers"):
            raise TypeError(f"attach({window!r}) wants a pyglet window")
        if view is not None and not callable(view):
            raise TypeError(
                f"attach(view={view!r}) wants a function that returns a matrix, or None"
            )
        self.detach()
        self._window, self._view, self._draws = weakref.ref(window), view, draws
        self._hook = Hook.of(window)
        self._hook.overlays[self] = self._draw_after_game

    def detach(self) -> None:
        """Stop drawing on the window and handling its keys."""
        if self._hook is not None:
            del self._hook.overlays[self]
        self._hook, self._window = None, lambda: None
        self._time(None)

    def _draw_after_game(self) -> None:
        window = self._window()
        if not self._draws or window is None:
            return
        before = window.view
        try:
            if self._view is not None:
                window.view = self._view()
            self.draw(window)
        finally:
            window.view = before

    def draw(self, canvas: Canvas | Any = None) -> None:
        """Draw the shown parts over the content of a window.

        Parameters
        ----------
        canvas : Canvas or window of pyglet or arcade, optional
            A window's context must be current; its projection and view are the camera.  By
            default the window of `attach`, else the first open window of the game.

        Raises
        ------
        ImportError
            No canvas is given, and pyglet is not installed, or is older than 2.1, or 3 or newer.
        RuntimeError
            There is no window.
        TypeError
            `canvas` is neither a canvas nor a window.
        """
        self._time(self.space if self._writes() else None)
        if not self.visible:
            return
        if not hasattr(canvas, "draw_boxes"):
            canvas = self._canvas_of(self._find_window(canvas))
        boxes, lines = collect(self.space, self.show, canvas.start())
        canvas.draw_boxes(boxes)
        canvas.draw_lines(lines)
        if self._writes():
            canvas.draw_text(self._readable_lines())

    def _canvas_of(self, window: Any) -> PygletCanvas:
        if not hasattr(window, "projection"):
            raise TypeError(
                f"DebugDraw.draw({window!r}) wants a window of pyglet or arcade, or a canvas: "
                "PygameCanvas(surface) of ecs_collide.debug.with_pygame"
            )
        canvas = self._canvases.get(window)
        if canvas is None:
            canvas = self._canvases[window] = PygletCanvas(window)
        canvas.above = self._above(window)
        return canvas

    def _writes(self) -> bool:
        return self.visible and Show.STATS in self.show

    def _time(self, space: Space | None) -> None:
        """Turn on the timing of a space, and off for a space where it was turned on here."""
        if self._timed is not None and self._timed is not space:
            self._timed.timing, self._timed = False, None
        if space is not None and not space.timing:
            space.timing, self._timed = True, space

    def _find_window(self, window: Any) -> Any:
        windows = load_pyglet().app.windows
        if window is None:
            attached = self._window()
            window = attached if attached in windows else next(iter(windows), None)
        if window is None:
            raise RuntimeError("DebugDraw.draw() found no window: open a pyglet window first")
        return window

    # -- the numbers --

    def _readable_lines(self) -> list[str]:
        """Return the lines of numbers, which change only now and then."""
        stats = self.space.stats
        if stats.times is not None and any(stats.times) and stats.step != self._seen_step:
            self._times.append(stats.times)
            self._seen_step = stats.step
        state = self.paused, self.slow, stats.step if self.paused else -1
        self._text_age += 1
        if self._text_age >= TEXT_EVERY or self._text[0] != state:
            self._text, self._text_age = (state, self.lines()), 0
        return self._text[1]

    def _above(self, window: Any) -> int:
        """Return the height in pixels of the lines of overlays that were attached earlier."""
        if self._hook is None or window is not self._window():
            return 0
        earlier = takewhile(lambda other: other is not self, self._hook.overlays)
        return sum(other.note_height(window) for other in earlier)

    def note_height(self, window: Any = None) -> int:
        """Return the height in pixels of the lines of numbers at the upper edge of a window.

        A game may write its own lines below them.  `window` as in `draw`.
        """
        canvas = self._canvases.get(self._find_window(window))
        return canvas.text_height if canvas is not None and self._writes() else 0

    def lines(self) -> list[str]:
        """Return the lines of numbers that are shown."""
        s = self.space.stats
        n_contacts = len(self.space.contact_points().kinds)
        mode = "PAUSED   " if self.paused else f"1/{self.slow} SPEED   " if self.slow > 1 else ""
        found = (
            f"{mode}step {s.step}   {s.bodies} bodies: {s.movers} move, {s.asleep} asleep   "
            f"{s.pairs} pairs   {s.sweeps} swept   {s.impacts} impacts   {n_contacts} contacts   "
            f"{s.escapes} escapes   {s.reinsertions} reinserted   {s.rebuilds} rebuilds   "
            f"depth {s.depth}"
        )
        if not self._times:
            return [found, "no times yet"]
        means = np.mean(np.array(self._times), axis=0) * 1000
        stages = "   ".join(
            f"{name} {ms:.2f}" for name, ms in zip(StageTimes._fields, means, strict=True)
        )
        return [found, f"{means.sum():.2f} ms a step: {stages}"]
