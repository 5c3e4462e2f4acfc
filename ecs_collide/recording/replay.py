"""Play a recording, and compare two: ``python -m ecs_collide.recording FILE``.

A window shows the bodies and the work of the step, with the overlay of `ecs_collide.debug`.  Space
plays and pauses, the arrows go a step or a second back and forth, F1 to F9 control the overlay.
It needs pyglet; ``--text`` and ``--step`` need no window.  ``--html`` writes a page for a browser.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecs_collide.debug.pictures import draw_text
from ecs_collide.recording.frames import describe, printable, show
from ecs_collide.recording.page import write_page
from ecs_collide.recording.player import Player, pressed
from ecs_collide.recording.recording import Recording, RecordingError, first_difference

SECOND = 60  # steps for shift and an arrow
SIZE = (960, 540)  # pixels of the window
KEYS_HELP = "space: play   left, right: a step   up, down: a second   home, end   F1-F9: overlay"


def draw_frame(recording: Recording, step: int, around: Sequence[int] = ()) -> str:
    """Return a picture of one step as text, like `draw_text`; empty without a snapshot."""
    frame = recording.frame(step)
    if not frame.snapshot:
        return ""
    player = Player(Recording([frame], recording.about))
    try:
        return draw_text(player.space, around)
    finally:
        player.close()


def format_step(recording: Recording, step: int) -> list[str]:
    """Return one step as text: events, entities and their fields, and a picture."""
    frame = recording.frame(step)
    lines = [f"step {frame.step}, {show(frame.time)} s, inputs {frame.inputs}"]
    lines += [describe(event, frame) for event in frame.events]
    for entity, components in frame.entities.items():
        lines.append(f"entity {frame.label(entity)}")
        for name, fields in components.items():
            numbers = " ".join(f"{key}={show(value)}" for key, value in fields.items())
            lines.append(f"  {name} {numbers}".rstrip())
    return [*lines, draw_frame(recording, step)]


def format_recording(recording: Recording) -> list[str]:
    """Return the inputs and the events of all steps as text."""
    lines = [f"steps {recording.span()}"]
    for frame in recording.frames:
        keys = pressed(frame)
        if frame.events or keys:
            lines.append(f"step {frame.step}" + (f", inputs {keys}" if keys else ""))
            lines += [f"  {describe(event, frame)}" for event in frame.events]
    return lines


def compare(first: Recording, second: Recording) -> tuple[str, bool]:
    """Return a report of the first difference between two runs, and whether they are the same."""
    divergence = first_difference(first, second)
    if divergence is not None:
        return str(divergence), False
    return f"the same in steps {first.span()}", True


class Viewer:
    """A window that shows a player.

    Attributes
    ----------
    player : Player
    window : pyglet window
    """

    def __init__(self, player: Player, *, visible: bool = True) -> None:
        import pyglet

        from ecs_collide.debug import DebugDraw

        self.player = player
        self.window: Any = pyglet.window.Window(
            *SIZE, caption="ecs_collide replay", resizable=True, visible=visible
        )
        self.overlay = DebugDraw(player.space)
        self._label = pyglet.text.Label("", x=8, y=8, font_size=10)
        self._help = pyglet.text.Label(KEYS_HELP, x=8, y=26, font_size=8)
        self.window.push_handlers(self.on_key_press, self.on_draw)

    def on_key_press(self, symbol: int, modifiers: int) -> bool:
        """Handle a key; return whether it has a meaning."""
        from pyglet.window import key

        player = self.player
        far = SECOND if modifiers & key.MOD_SHIFT else 1
        ways = {key.LEFT: -far, key.RIGHT: far, key.DOWN: -SECOND, key.UP: SECOND}
        if symbol in ways:
            player.is_playing = False
            player.seek(player.step + ways[symbol])
        elif symbol in (key.HOME, key.END):
            player.is_playing = False
            player.seek(player.first if symbol == key.HOME else player.last)
        elif symbol == key.SPACE:
            player.toggle()
        else:
            return self.overlay.on_key_press(symbol, modifiers)
        return True

    def on_draw(self) -> None:
        """Draw the bodies, fitted into the window, and the line of text."""
        from pyglet.math import Mat4, Vec3

        window, space = self.window, self.player.space
        window.clear()
        mins, maxs = space.boxes()
        fine = abs(mins).max(axis=1) + abs(maxs).max(axis=1) < 1e12  # no NaN either
        if fine.any():
            low, high = mins[fine, :2].min(axis=0), maxs[fine, :2].max(axis=0)
            scale = 0.9 * min(
                window.width / max(high[0] - low[0], 1e-9),
                window.height / max(high[1] - low[1], 1e-9),
            )
            flip = 1.0 if space.up[1] >= 0 else -1.0
            x, y = (low + high) / 2
            middle = Vec3(window.width / 2 - x * scale, window.height / 2 - flip * y * scale, 0)
            window.view = Mat4.from_translation(middle) @ Mat4.from_scale(
                Vec3(scale, flip * scale, 1)
            )
            self.overlay.draw()
            window.view = Mat4()
        self._label.text = self.player.status()
        self._label.draw()
        self._help.draw()

    def run(self, seconds: float | None = None) -> None:
        """Show the recording until the window is closed, or for some seconds."""
        import pyglet

        pyglet.clock.schedule_interval(lambda dt: self.player.advance(), 1 / 60)
        if seconds is not None:
            pyglet.clock.schedule_once(lambda dt: self.window.close(), seconds)
        self.player.is_playing = True
        pyglet.app.run()


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = ArgumentParser(
        "python -m ecs_collide.recording",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, help="a recording")
    parser.add_argument(
        "--compare", type=Path, metavar="OTHER", help="print where another recording differs"
    )
    parser.add_argument("--text", action="store_true", help="print inputs and events of all steps")
    parser.add_argument("--step", type=int, metavar="N", help="print one step with all fields")
    parser.add_argument(
        "--html",
        type=Path,
        nargs="?",
        const=Path(),
        metavar="PAGE",
        help="write a page that plays it in a browser; by default beside the recording",
    )
    parser.add_argument(
        "--follow", type=int, metavar="ENTITY", help="with --html: keep it in the middle"
    )
    parser.add_argument("--seconds", type=float, help="close the window after this time")
    options = parser.parse_args(arguments)
    try:
        recording = Recording.load(options.file)
        if options.compare is not None:
            words, is_same = compare(recording, Recording.load(options.compare))
            print(words)
            return 0 if is_same else 1
        if options.step is not None:
            print(printable("\n".join(format_step(recording, options.step))))
            return 0
        if options.text:
            print(printable("\n".join(format_recording(recording))))
            return 0
        if options.html is not None:
            path = options.html if options.html.name else options.file.with_suffix(".html")
            print(write_page(recording, path, follow=options.follow))
            return 0
        return _watch(Player(recording), options.seconds)
    except (RecordingError, OSError, KeyError) as error:
        words = str(error.args[0] if isinstance(error, KeyError) else error)
        print(printable(words), file=sys.stderr)
        return 2


def _watch(player: Player, seconds: float | None) -> int:
    try:
        try:
            viewer = Viewer(player)
        except Exception as error:  # of a different class on every platform
            print(f"there is no window ({error}): use --text or --step", file=sys.stderr)
            return 2
        viewer.run(seconds)
        return 0
    finally:
        player.close()
