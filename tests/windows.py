"""Run a program that opens a window, without a person: keys are pressed by a script."""

from __future__ import annotations

import os
import sys
import types
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import pytest

DT = 1 / 60


def play(
    program: str,
    name: str,
    keys: Mapping[int, tuple[str, ...]] | None = None,
    frames: int = 120,
    watch: Callable[[dict[str, Any], int], None] | None = None,
) -> dict[str, Any]:
    """Run a program in a real window for some frames; return its names.

    Parameters
    ----------
    program, name : str
        The source, and what tracebacks call it.
    keys : mapping
        From a frame on, the names of the keys that are down.
    frames : int
        How many frames of 1/60 s.
    watch : callable, optional
        Called after each frame with the names of the program and the number of the frame.
    """
    pyglet = pytest.importorskip("pyglet")
    if sys.platform == "linux" and not os.environ.get("DISPLAY"):
        pytest.skip("no display")
    try:
        pyglet.window.Window(1, 1, visible=False).close()
    except Exception as error:  # of a different class on every platform
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no window: {error}")

    names: dict[str, Any] = {"__name__": "__main__"}
    scheduled: list[Callable[[float], object]] = []
    windows: list[Any] = []
    others = {*pyglet.app.windows}
    send = pyglet.event.EventDispatcher.dispatch_event  # a window's own one queues the events

    def run(*_args: Any) -> None:
        windows.extend({*pyglet.app.windows} - others)
        down: tuple[str, ...] = ()
        for frame in range(frames):
            wanted = (keys or {}).get(frame, down)
            for window in windows:
                for key in sorted(set(down) - set(wanted)):
                    send(window, "on_key_release", getattr(pyglet.window.key, key), 0)
                for key in sorted(set(wanted) - set(down)):
                    send(window, "on_key_press", getattr(pyglet.window.key, key), 0)
            down = wanted
            for function in scheduled:
                function(DT)
            for window in windows:
                window.switch_to()
                send(window, "on_draw")
                send(window, "on_refresh", DT)
            if watch is not None:
                watch(names, frame)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pyglet.app, "run", run)
        patch.setattr(pyglet.window.BaseWindow, "_enable_event_queue", False)  # as its loop does
        patch.setattr(
            pyglet.clock, "schedule_interval", lambda function, _: scheduled.append(function)
        )
        try:
            exec(compile(program, name, "exec"), names)
        finally:
            for window in {*pyglet.app.windows} - others:
                window.close()
    assert windows, "the program opened no window"
    assert scheduled, "the program runs no steps"
    return names


def play_pygame(
    program: str,
    name: str,
    pressed: Mapping[int, str] | None = None,
    keys: Mapping[int, tuple[str, ...]] | None = None,
    frames: int = 120,
) -> Any:
    """Run a program of pygame for some frames; return its last picture, a surface.

    `pressed` has the name of a key that is pressed after a frame, and `keys`, from a frame on,
    those that are down.
    """
    pygame = pytest.importorskip("pygame")
    pictures: list[Any] = []

    def flip() -> None:
        pictures.append(pygame.display.get_surface().copy())
        key = (pressed or {}).get(len(pictures))
        if key is not None:
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=getattr(pygame, key)))
        if len(pictures) == frames:
            pygame.event.post(pygame.event.Event(pygame.QUIT))

    def held() -> dict[int, bool]:
        now = max((frame for frame in keys or {} if frame <= len(pictures)), default=0)
        down = {getattr(pygame, f"K_{key}") for key in (keys or {}).get(now, ())}
        return defaultdict(bool, dict.fromkeys(down, True))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDL_VIDEODRIVER", "dummy")
        patch.setattr(pygame.display, "flip", flip)
        if keys is not None:
            patch.setattr(pygame.key, "get_pressed", held)
        patch.setattr(pygame.time, "Clock", lambda: types.SimpleNamespace(tick=lambda fps: None))
        try:
            exec(compile(program, name, "exec"), {"__name__": "__main__"})
        finally:
            pygame.quit()
    return pictures[-1]


def play_raylib(
    program: str,
    name: str,
    keys: Mapping[int, tuple[str, ...]],
    frames: int,
    picture: str = "",
) -> None:
    """Run a program of raylib for some frames; write its last picture.

    `keys` has, from a frame on, the names of the keys that are down.
    """
    rl = pytest.importorskip("pyray")
    if sys.platform == "linux" and not os.environ.get("DISPLAY"):
        pytest.skip("no display")
    down: list[tuple[str, ...]] = []

    def is_over() -> bool:
        down.append(keys.get(len(down), down[-1] if down else ()))
        return len(down) > frames

    def end() -> None:
        finish()
        if picture and len(down) == frames:
            image = rl.load_image_from_screen()
            rl.export_image(image, picture)

    finish = rl.end_drawing
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rl, "set_target_fps", lambda fps: None)
        patch.setattr(rl, "window_should_close", is_over)
        patch.setattr(rl, "end_drawing", end)
        patch.setattr(
            rl, "is_key_down", lambda key: any(key == getattr(rl, f"KEY_{one}") for one in down[-1])
        )
        exec(compile(program, name, "exec"), {"__name__": "__main__"})
    assert len(down) > frames
