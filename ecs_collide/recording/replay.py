"""Play a recording, and compare two: ``python -m ecs_collide.recording FILE``.

A window shows the bodies and the work of the step, with the overlay of `ecs_collide.debug`.  Space
plays and pauses, the arrows go a step or a second back and forth, F1 to F9 control the overlay.
It needs pyglet; ``--text`` and ``--step`` need no window.
"""

from __future__ import annotations

import itertools
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import esper

from ecs_collide.debug.pictures import draw_text
from ecs_collide.recording.frames import Frame, describe, printable, show
from ecs_collide.recording.recording import Recording, RecordingError, first_difference
from ecs_collide.snapshot.capture import WIDTHS
from ecs_collide.snapshot.codec import decode
from ecs_collide.snapshot.plain import stand_in
from ecs_collide.space import Space
from ecs_collide.systems import install

SECOND = 60  # steps for shift and an arrow
SIZE = (960, 540)  # pixels of the window
KEYS_HELP = "space: play   left, right: a step   up, down: a second   home, end   F1-F9: overlay"

_numbers = itertools.count(1)


class _Saved:
    """A component of the game, as the bytes of the snapshot."""

    def __init__(self, data: bytes) -> None:
        self.data = data


class Player:
    """A player that shows the frames of a recording in a separate world, forwards and backwards.

    The world has the bodies and the library's components.  Custom components are only named, and
    code of the game is not run.

    Parameters
    ----------
    recording : Recording

    Attributes
    ----------
    space : Space
        The space of the game as it was after `step`.
    step : int
    is_playing : bool

    Raises
    ------
    RecordingError
        The recording has no steps, or no snapshots to show.
    """

    def __init__(self, recording: Recording) -> None:
        if not recording.frames:
            raise RecordingError("the recording has no steps")
        if not all(frame.snapshot for frame in recording.frames):
            raise RecordingError(
                "the recording has no snapshots to show: --text and --step need none; "
                "Space.snapshot_with lets the space save custom components"
            )
        self.recording = recording
        self.is_playing = False
        self._known: set[tuple[str, tuple[str, ...] | None]] = set()  # types with their fields
        self._before = esper.current_world
        self.world = f"replay {next(_numbers)}"
        esper.switch_world(self.world)
        self.first, self.last = recording.frames[0].step, recording.frames[-1].step
        about = recording.about
        try:
            self.space: Space = install(
                dim=about.get("dim", 2), wrap=about.get("wrap"), up=about.get("up")
            )
            self.seek(self.first)
        except BaseException:
            self.close()
            raise

    def seek(self, step: int) -> None:
        """Show the world after a step, or after the nearest recorded one.

        Raises
        ------
        RecordingError
            The snapshot of the step is forged or damaged.
        """
        self.step = min(max(step, self.first), self.last)
        try:
            self._restore(self.frame.snapshot)
        except Exception as error:  # a forged one may fail in making types or setting fields
            raise RecordingError(f"step {self.step} cannot be shown: {error}") from error

    def _restore(self, data: bytes) -> None:
        state = decode(data, self.space.dim, WIDTHS)
        types: dict[str, tuple[str, ...] | None] = dict.fromkeys(state.own)
        types |= {name: table.fields for name, table in zip(state.plain, state.tables, strict=True)}
        for name, fields in types.items():
            if (name, fields) in self._known:
                continue
            self._known.add((name, fields))
            if fields is None:
                kind = type(name, (_Saved,), {})
                self.space.snapshot_with(kind, attrgetter("data"), kind, name=name)
            else:
                self.space.snapshot_with(stand_in(name, fields), name=name)
        self.space.restore(data)

    @property
    def frame(self) -> Frame:
        """The recorded frame of the step."""
        return self.recording.frame(self.step)

    def advance(self) -> None:
        """Show the next step if it plays; stop at the end."""
        if self.is_playing:
            self.seek(self.step + 1)
            self.is_playing = self.step < self.last

    def toggle(self) -> None:
        """Play or pause; at the end start again."""
        if not self.is_playing and self.step == self.last:
            self.seek(self.first)
        self.is_playing = not self.is_playing

    def status(self) -> str:
        """Return a line with the step, the time and the pressed inputs."""
        frame = self.frame
        pressed = _pressed(frame)
        words = [f"step {self.step} of {self.last}", f"{frame.time:.3f} s"]
        words += [f"inputs {pressed}"] if pressed else []
        words.append(f"{len(frame.events)} events")
        return "   ".join(words)

    def close(self) -> None:
        """Delete the world, and switch back to the previous one."""
        if self.world in esper.list_worlds():
            there = self._before if self._before in esper.list_worlds() else "default"
            esper.switch_world(there)
            esper.delete_world(self.world)


def _pressed(frame: Frame) -> str:
    """Return the names of the inputs that were pressed for a step."""
    return " ".join(name for name, value in frame.inputs.items() if value)


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
        pressed = _pressed(frame)
        if frame.events or pressed:
            lines.append(f"step {frame.step}" + (f", inputs {pressed}" if pressed else ""))
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
