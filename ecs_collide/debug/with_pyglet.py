"""An overlay in pyglet's windows, and in arcade's, which are pyglet's."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ecs_collide.debug.pyglet_lists import BoxList, LineList, Note, ShapeList
from ecs_collide.debug.shapes import Camera, Shapes


class PygletCanvas:
    """A window on which one overlay draws, with the window's projection and view.

    Its vertex lists belong to the window's OpenGL context.
    """

    def __init__(self, window: Any) -> None:
        self._window = weakref.ref(window)  # the overlay's canvases are kept by window
        self._boxes, self._lines, self._note = BoxList(), LineList(), Note()
        self.above = 0  # pixels at the upper edge that other overlays have written on

    @property
    def text_height(self) -> int:
        """The height of the text in pixels."""
        return self._note.height

    def start(self) -> Camera:
        """Return the projection and view of the window."""
        window: Any = self._window()
        self._projection, self._view = window.projection, window.view
        camera = Camera(self._projection @ self._view, window.get_size())
        self._middle = camera.middle
        return camera

    def draw_boxes(self, boxes: Shapes) -> None:
        """Draw the outlines of boxes by one call of OpenGL."""
        self._draw(self._boxes, boxes)

    def draw_lines(self, lines: Shapes) -> None:
        """Draw lines by one call of OpenGL."""
        self._draw(self._lines, lines)

    def _draw(self, vertices: ShapeList, shapes: Shapes) -> None:
        from pyglet.math import Mat4, Vec3

        window: Any = self._window()
        vertices.fill(shapes, self._middle)
        to_middle = Mat4.from_translation(Vec3(self._middle[0], self._middle[1], 0.0))
        try:  # one matrix: the product here has more digits than in OpenGL
            window.projection, window.view = self._projection @ self._view @ to_middle, Mat4()
            vertices.draw()
        finally:
            window.projection, window.view = self._projection, self._view

    def draw_text(self, lines: list[str]) -> None:
        """Write lines below those of other overlays."""
        window: Any = self._window()
        self._note.set_lines(lines, window.get_size()[0])
        self._note.draw(window, self.above)


class Hook:
    """A hook that passes the events of a window on to the overlays that are attached to it.

    Its handlers are in a separate frame of the event stack, below an empty one, so handlers that
    the game sets later do not replace them.  They are functions, because the window holds methods
    only weakly.
    """

    def __init__(self, window: Any) -> None:
        overlays: dict[Any, Callable[[], None]] = {}  # how each of them draws after the game
        self.overlays = overlays

        def on_key_press(symbol: int, modifiers: int) -> bool:
            is_taken = False
            for overlay in [*overlays]:
                is_taken |= overlay.on_key_press(symbol, modifiers)
            return is_taken

        def on_refresh(dt: float) -> None:
            for draw in [*overlays.values()]:
                draw()

        self._on_refresh = on_refresh
        window.push_handlers(on_key_press=on_key_press, on_refresh=on_refresh)
        window.push_handlers()

    @classmethod
    def of(cls, window: Any) -> Hook:
        """Return the hook of a window; it stays until the game pops its handlers."""
        hook = _HOOKS.get(window)
        if hook is None or not hook._is_in(window):
            hook = _HOOKS[window] = cls(window)
        return hook

    def _is_in(self, window: Any) -> bool:
        return any(frame.get("on_refresh") is self._on_refresh for frame in window._event_stack)


_HOOKS: weakref.WeakKeyDictionary[Any, Hook] = weakref.WeakKeyDictionary()
