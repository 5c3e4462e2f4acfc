"""A world that shows the frames of a recording, forwards and backwards, without the game's code."""

from __future__ import annotations

import itertools
from operator import attrgetter

import esper

from ecs_collide.extend import own_types, stand_in
from ecs_collide.recording.frames import Frame
from ecs_collide.recording.recording import Recording, RecordingError
from ecs_collide.space import Space
from ecs_collide.systems import install

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
        for name, fields in own_types(self.space, data).items():
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
        keys = pressed(frame)
        words = [f"step {self.step} of {self.last}", f"{frame.time:.3f} s"]
        words += [f"inputs {keys}"] if keys else []
        words.append(f"{len(frame.events)} events")
        return "   ".join(words)

    def close(self) -> None:
        """Delete the world, and switch back to the previous one."""
        if self.world in esper.list_worlds():
            there = self._before if self._before in esper.list_worlds() else "default"
            esper.switch_world(there)
            esper.delete_world(self.world)


def pressed(frame: Frame) -> str:
    """Return the names of the inputs that were pressed for a step."""
    return " ".join(name for name, value in frame.inputs.items() if value)
