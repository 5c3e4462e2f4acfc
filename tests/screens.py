"""A real window for tests: opened if there is a screen, with real keys and real pixels."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import time
from typing import Any, NoReturn

import numpy as np
import pytest


def need(*packages: str) -> None:
    """Skip a test on a machine that lacks a package; in CI that is an error."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"not installed, but required in CI: {', '.join(missing)}")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}", allow_module_level=True)


def need_screen() -> None:
    """Skip a test where there is no screen."""
    need("pyglet")
    if sys.platform == "linux" and not os.environ.get("DISPLAY"):
        pytest.skip("no display")


def open_window(width: int, height: int) -> Any:
    """Return a window of so many pixels, or skip the test."""
    need_screen()
    import pyglet

    try:
        return pyglet.window.Window(width, height, vsync=False)
    except Exception as error:  # of a different class on every platform
        give_up(error)


def give_up(error: Exception) -> NoReturn:
    """Skip a test for which no window could be opened; in CI that is an error."""
    if os.environ.get("CI"):
        raise error
    pytest.skip(f"no window: {error}")


def pixels() -> np.ndarray:
    """Return the pixels of the current window from the bottom up, shape (height, width, 4)."""
    import pyglet

    image = pyglet.image.get_buffer_manager().get_color_buffer().get_image_data()
    data = image.get_data("RGBA", image.width * 4)
    return np.frombuffer(data, dtype=np.uint8).reshape(image.height, image.width, 4)


def is_seen(seen: np.ndarray, point: tuple[float, float], colour: tuple[int, int, int]) -> bool:
    """Tell whether a colour is at a point or right beside it: renderers round lines differently."""
    x, y = (int(np.floor(part)) for part in point)
    near = seen[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2, :3].reshape(-1, 3).astype(int)
    return bool((abs(near - colour) <= 3).all(axis=1).any())


def n_seen(seen: np.ndarray, colour: tuple[int, int, int]) -> int:
    """Return how many pixels have a colour."""
    return int((abs(seen[:, :, :3].astype(int) - colour) <= 3).all(axis=2).sum())


def press(window: Any, *symbols: int) -> None:
    """Press and release keys, by way of the screen's server, and let the window take them."""
    taken: list[int] = []

    def on_key_release(symbol: int, modifiers: int) -> None:
        taken.append(symbol)

    window.dispatch_events()
    window.push_handlers(on_key_release=on_key_release)
    try:
        for symbol in symbols:
            _strike(window, symbol)
            end = time.monotonic() + 10.0
            while symbol not in taken and time.monotonic() < end:
                window.dispatch_events()
                time.sleep(0.001)
            assert taken == [symbol], "the key never came to the window"
            taken.clear()
    finally:
        window.remove_handlers(on_key_release=on_key_release)


def _strike(window: Any, symbol: int) -> None:
    """Let an X server tell a window of a key that is struck; elsewhere dispatch the events.

    Not through the keyboard that all windows of a screen share: tests may run side by side.
    """
    if sys.platform != "linux":
        window.dispatch_event("on_key_press", symbol, 0)
        window.dispatch_event("on_key_release", symbol, 0)
        return
    from pyglet.libs.x11 import xlib

    display = xlib.XOpenDisplay(None)
    screen_root = xlib.XDefaultRootWindow(display)
    kinds = ((xlib.KeyPress, xlib.KeyPressMask), (xlib.KeyRelease, xlib.KeyReleaseMask))
    for kind, mask in kinds:
        event = xlib.XEvent()
        event.xkey.type = kind
        event.xkey.display = display
        event.xkey.window = window._window
        event.xkey.root = screen_root
        event.xkey.keycode = xlib.XKeysymToKeycode(display, symbol)
        event.xkey.same_screen = 1
        xlib.XSendEvent(display, window._window, 1, mask, ctypes.byref(event))
    xlib.XSync(display, 0)
    xlib.XCloseDisplay(display)
