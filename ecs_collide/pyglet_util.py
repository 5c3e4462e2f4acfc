"""An overlay for pyglet games that shows how collisions come about.

Two lines, after the window and the space are made::

    overlay = DebugDraw(space)
    overlay.attach(window)

or, where the game draws with a camera and resets it afterwards, a call within
`on_draw` while the camera is set::

    overlay.draw()

F1 shows and hides it, F2 to F9 what it shows, F10 pauses, F11 does a single
step and F12 slows down, where the game steps with `DebugDraw.process` in
place of ``esper.process``.

pyglet is imported when something is drawn, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag
from typing import Any

import esper
import numpy as np
from numpy.typing import NDArray

from ecs_collide._pyglet_lists import BoxList, LineList, load_pyglet
from ecs_collide._stepper import StageTimes
from ecs_collide._views import BodyKind
from ecs_collide.events import ContactKind
from ecs_collide.space import Space

__all__ = ["COLOURS", "KEYS", "DebugDraw", "Show"]

Colour = tuple[int, int, int]


class Show(IntFlag):
    """What an overlay shows, as bits."""

    BOXES = 1
    """The boxes of all bodies, in a colour for each kind."""
    FAT = 2
    """Fat bounds: a body is hung elsewhere in the tree when its path leaves them."""
    TREE = 4
    """The branches of the trees, the darker the deeper."""
    PAIRS = 8
    """A line between the bodies of each candidate pair."""
    SWEPT = 16
    """Bounds around the paths of the bodies that moved in the last step."""
    GHOSTS = 32
    """The boxes of each collision where they met."""
    CONTACTS = 64
    """A cross at each contact, and its normal, which points from the second body to the first."""
    STATS = 128
    """Two lines: what the last step did, and how long each stage took."""


# The codes of the function keys; pyglet.window.key.F1 is the first.  To import that
# module is to open a display.
_F1 = 0xFFBE

KEYS: dict[int, Show | str] = {
    _F1: "visible",
    **{_F1 + 1 + n: show for n, show in enumerate(Show)},
    _F1 + 9: "pause",
    _F1 + 10: "step",
    _F1 + 11: "slow",
}
"""What each key does: F1 to F12.  `DebugDraw.keys` is a copy that a game may change."""

COLOURS: dict[str, Colour] = {
    "static": (148, 160, 184),
    "moving": (84, 222, 112),
    "sensor": (255, 222, 74),
    "one-way": (196, 132, 255),
    "asleep": (70, 120, 196),
    "quarantined": (255, 56, 56),
    "fat": (52, 110, 62),
    "swept": (62, 196, 214),
    "ghost": (255, 255, 255),
    "pair": (120, 104, 60),
    "contact": (255, 128, 48),
    "crossing": (255, 222, 74),
    "branch of still": (128, 108, 200),
    "branch of moving": (232, 104, 176),
}
"""The colour of each thing that is shown.  Of a body that is several, the last of its kinds."""

_KINDS = (
    ("moving", BodyKind.MOVES),
    ("one-way", BodyKind.ONE_WAY),
    ("sensor", BodyKind.SENSOR),
    ("asleep", BodyKind.ASLEEP),
    ("quarantined", BodyKind.QUARANTINED),
)
SLOW = 8  # in slow motion one of so many steps is done
CROSS, NORMAL = 3.0, 12.0  # half the width of a cross and the length of a normal, in pixels
TEXT_EVERY = 15  # draws until the numbers change, so that they can be read


class DebugDraw:
    """Shows the boxes of a space, and what the last step did with them, in a pyglet window.

    It draws in world units, with the projection and view that the window has
    when `draw` is called: under any camera, with y up or down.  Of a 3D space
    it shows the first two axes.  It looks and changes nothing, except that it turns
    `Space.timing` on while it shows times.

    Parameters
    ----------
    space : Space
    show : Show
        What is shown at first.
    visible : bool
        Whether anything is.

    Attributes
    ----------
    show : Show
        What is shown.
    visible, paused : bool
    slow : int
        One of so many calls to `process` does a step; 1: each does.
    keys : dict
        What each key does: a `Show` is switched on or off; ``"visible"``,
        ``"pause"``, ``"step"`` and ``"slow"`` say themselves.  At first as `KEYS`.

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
        if not isinstance(space, Space):
            raise TypeError(f"DebugDraw({space!r}) wants an ecs_collide.Space")
        self.space = space
        self.show = Show(show)
        self.visible = visible
        self.paused = False
        self.slow = 1
        self.keys = dict(KEYS)
        self._is_due = False  # a single step
        self._n_calls = 0
        self._window: Any = None
        self._view: Callable[[], Any] | None = None
        self._handlers: dict[str, Callable[..., Any]] = {}
        self._drawn_in: Any = None
        self._boxes: BoxList | None = None
        self._lines: LineList | None = None
        self._note: _Note | None = None
        self._timed = False  # it is this overlay that has turned the timing on
        self._times: list[StageTimes] = []
        self._seen_step = -1

    # -- the clock --

    def may_step(self) -> bool:
        """Tell whether a step is due now: call it in front of each, and leave it out if not.

        Of a game that does its steps itself; `process` calls it.  The length of steps
        is never changed: slow motion leaves some out, so that all of
        them do what they would have done.
        """
        if self.paused:
            due, self._is_due = self._is_due, False
            return due
        self._n_calls += 1
        return self._n_calls % max(1, self.slow) == 0

    def process(self, dt: float, *args: object, **kwargs: object) -> bool:
        """Call ``esper.process(dt)``, unless paused or slowed down; tell whether it was."""
        if not self.may_step():
            return False
        esper.process(dt, *args, **kwargs)
        return True

    def step_once(self) -> None:
        """Pause, and let the next call to `process` do one step."""
        self.paused = self._is_due = True

    # -- keys --

    def on_key_press(self, symbol: int, modifiers: int = 0) -> bool:
        """Do what a key is for; tell whether it is for anything.

        pyglet's handler: `attach` pushes it, or ``window.push_handlers(overlay.on_key_press)``.
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
        """Draw after each `on_draw` of a window, and take its keys.

        Parameters
        ----------
        window : pyglet.window.Window
        view : callable, optional
            Returns the view matrix of the game's camera.  By default the view is taken that
            is set when `on_draw` ends; of a game that has reset it by then
            that is none.
        draws : bool
            False: take the keys only; the game calls `draw`.

        Raises
        ------
        ImportError
            pyglet is not installed, or older than 2.1.
        """
        load_pyglet()
        self.detach()
        self._window, self._view = window, view
        self._handlers = {"on_key_press": self.on_key_press}
        if draws:
            self._handlers["on_refresh"] = self._on_refresh
        window.push_handlers(**self._handlers)

    def detach(self) -> None:
        """Leave the window alone again."""
        if self._window is not None:
            self._window.remove_handlers(**self._handlers)
        self._window, self._handlers = None, {}

    def _on_refresh(self, dt: float) -> None:
        if self._view is None:
            self.draw()
            return
        before = self._window.view
        self._window.view = self._view()
        try:
            self.draw()
        finally:
            self._window.view = before

    def draw(self, window: Any = None) -> None:
        """Draw what is to be seen, over what there is, with the view that is set.

        Parameters
        ----------
        window : pyglet.window.Window, optional
            Whose context is current; by default that of `attach`, else the
            only one, or the first, that the game has opened.

        Raises
        ------
        ImportError
            pyglet is not installed, or older than 2.1.
        RuntimeError
            There is no window.
        """
        shows_stats = self.visible and Show.STATS in self.show
        if shows_stats != self._timed and (self._timed or not self.space.timing):
            self._timed = self.space.timing = shows_stats
        if not self.visible:
            return
        window = self._find_window(window)
        if self._boxes is None or self._lines is None or self._drawn_in is not window:
            self._boxes, self._lines, self._note = BoxList(), LineList(), None
            self._drawn_in = window  # what is drawn belongs to its context
        self._boxes.begin()
        self._lines.begin()
        self._fill(self._boxes, self._lines, _pixel(window))
        self._boxes.draw()
        self._lines.draw()
        if shows_stats:
            self._write(window)

    def _find_window(self, window: Any) -> Any:
        pyglet = load_pyglet()
        window = window or self._window or next(iter(pyglet.app.windows), None)
        if window is None:
            raise RuntimeError("DebugDraw.draw() found no window: open a pyglet window first")
        return window

    def _fill(self, boxes: BoxList, lines: LineList, pixel: float) -> None:
        """Collect all boxes and lines, from below to above; `pixel` is its size in world units."""
        space, show = self.space, self.show
        if Show.TREE in show:
            branches = space.branches()
            order = np.argsort(-branches.depths, kind="stable")  # the root is seen above the others
            boxes.add(branches.mins[order], branches.maxs[order], _of_branches(branches, order))
        if Show.FAT in show:
            boxes.add(*space.fat_bounds(), COLOURS["fat"])
        if Show.SWEPT in show:
            moving = space.body_kinds() & (BodyKind.MOVES | BodyKind.ASLEEP) == BodyKind.MOVES
            low, high = space.swept_bounds()
            boxes.add(low[moving], high[moving], COLOURS["swept"])
        if Show.BOXES in show:
            boxes.add(*space.boxes(), _PALETTE[space.body_kinds()])
        if Show.GHOSTS in show:
            ghosts = space.impact_boxes()
            dim = space.dim
            boxes.add(ghosts.mins.reshape(-1, dim), ghosts.maxs.reshape(-1, dim), COLOURS["ghost"])
        if Show.PAIRS in show:
            pairs = space.candidate_pairs()
            low, high = space.boxes(pairs.ravel())
            centres = (low / 2 + high / 2).reshape(-1, 2, space.dim)
            lines.add(centres[:, 0], centres[:, 1], COLOURS["pair"])
        if Show.CONTACTS in show:
            contacts = space.contact_points()
            colours = _CONTACTS[contacts.kinds]
            solid = contacts.kinds == ContactKind.SOLID
            for across in ((CROSS * pixel, CROSS * pixel), (CROSS * pixel, -CROSS * pixel)):
                arm = np.array(across)
                lines.add(contacts.points[:, :2] - arm, contacts.points[:, :2] + arm, colours)
            points = contacts.points[solid, :2]
            tips = points + NORMAL * pixel * contacts.normals[solid, :2]
            lines.add(points, tips, colours[solid])

    # -- the numbers --

    def _write(self, window: Any) -> None:
        stats = self.space.stats
        if stats.times is not None and any(stats.times) and stats.step != self._seen_step:
            self._times = [*self._times[1 - TEXT_EVERY :], stats.times]
            self._seen_step = stats.step
        if self._note is None:
            self._note = _Note()
        state = (self.paused, self.slow)
        if self._note.is_due(state, stats.step if self.paused else -1):
            self._note.say(self.lines())
        self._note.draw(window)

    def lines(self) -> list[str]:
        """Return the lines of numbers that are shown."""
        s = self.space.stats
        n_contacts = len(self.space.contact_points().kinds)
        mode = "   PAUSED" if self.paused else f"   1/{self.slow} SPEED" if self.slow > 1 else ""
        found = (
            f"step {s.step}   {s.bodies} bodies: {s.movers} move, {s.asleep} asleep   "
            f"{s.pairs} pairs   {s.sweeps} swept   {s.impacts} impacts   {n_contacts} contacts   "
            f"{s.reinsertions} reinserted   depth {s.depth}{mode}"
        )
        if not self._times:
            return [found, "no times yet"]
        means = np.mean(np.array(self._times), axis=0) * 1000
        stages = "   ".join(
            f"{name} {ms:.2f}" for name, ms in zip(StageTimes._fields, means, strict=True)
        )
        return [found, f"{means.sum():.2f} ms a step: {stages}"]


class _Note:
    """Lines of writing in the window's upper left corner, on something dark."""

    SIZE, MARGIN = 10, 6

    def __init__(self) -> None:
        from pyglet import shapes, text

        self._label = text.Label(
            "", font_size=self.SIZE, color=(236, 240, 248, 255), multiline=True, width=4000,
            anchor_y="top",
        )  # fmt: skip
        self._back = shapes.Rectangle(0, 0, 1, 1, color=(12, 14, 22, 216))
        self._age = TEXT_EVERY
        self._state: object = None

    def is_due(self, *state: object) -> bool:
        """Tell whether the lines are to be written anew: to set them up takes long."""
        self._age += 1
        if self._age < TEXT_EVERY and state == self._state:
            return False
        self._age, self._state = 0, state
        return True

    def say(self, lines: list[str]) -> None:
        self._label.text = "\n".join(lines)
        self._back.width = self._label.content_width + 2 * self.MARGIN
        self._back.height = self._label.content_height + 2 * self.MARGIN

    def draw(self, window: Any) -> None:
        """Draw in pixels from the window's corner, whatever projection and view are set."""
        from pyglet.math import Mat4

        projection, view = window.projection, window.view
        width, height = window.get_size()
        window.projection = Mat4.orthogonal_projection(0, width, 0, height, -255, 255)
        window.view = Mat4()
        try:
            self._back.position = (0, height - self._back.height)
            self._label.position = (self.MARGIN, height - self.MARGIN, 0)
            self._back.draw()
            self._label.draw()
        finally:
            window.projection, window.view = projection, view


def _pixel(window: Any) -> float:
    """Return how many world units a pixel of the window is wide, about."""
    matrix = window.projection @ window.view
    width, height = window.get_size()
    pixels = float(np.hypot(matrix[0] * width / 2, matrix[1] * height / 2))
    return 1.0 / pixels if pixels > 0.0 else 1.0


def _palette() -> NDArray[np.uint8]:
    """Return the colour of each combination of kinds."""
    palette = np.full((64, 4), 255, np.uint8)
    palette[:, :3] = COLOURS["static"]
    for name, kind in _KINDS:
        palette[np.arange(64) & kind != 0, :3] = COLOURS[name]
    return palette


def _of_branches(branches: Any, order: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the colours of branches: those of the root full, a third less with each level."""
    names = ("branch of still", "branch of moving")
    bright = np.array([COLOURS[name] for name in names])[branches.moving[order].astype(np.int64)]
    colours = np.full((len(order), 4), 255, np.uint8)
    colours[:, :3] = bright * (0.7 ** branches.depths[order])[:, None]
    return colours


_PALETTE = _palette()
_CONTACTS = np.array(
    [(*COLOURS[name], 255) for name in ("contact", "crossing")], np.uint8
)  # by ContactKind
