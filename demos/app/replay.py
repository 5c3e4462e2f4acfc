"""Record a run of a demo, and play it back: keys, options, and a fingerprint of every step.

A run is a function of its options and of the keys that are down in each step.
So a recording holds these, and `Space.state_hash` after each step: a replay is right if its
hashes are the same.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import count
from pathlib import Path
from typing import Any

import esper
import numpy as np
from numpy.typing import NDArray

from demos.app import catalogue
from demos.app.scene import Keys, Scene
from ecs_collide.testing.memory import Memory as GameMemory

FORMAT = 1
EVERY = 60  # steps from one that a player remembers to the next


_numbers = count(1)


class RecordingError(ValueError):
    """An error for a file that is not a recording, or has another version."""


@dataclass(slots=True)
class Recording:
    """A run of n steps.

    Attributes
    ----------
    name : str
        The name of the demo.
    options : dict
        The options of its world, including the seed.
    names : tuple of str
        The fields of `Keys`.
    inputs : float64 (n, len(names))
        Their values before each step.
    hashes : uint8 (n + 1, 16)
        `Space.state_hash` at first, and after each step.
    """

    name: str
    options: dict[str, Any]
    names: tuple[str, ...]
    inputs: NDArray[np.float64]
    hashes: NDArray[np.uint8]

    @property
    def n_steps(self) -> int:
        """The number of steps."""
        return len(self.inputs)

    def save(self, path: Path) -> None:
        """Write a file that `load` reads; create its folder if needed."""
        says = {"format": FORMAT, "name": self.name, "options": self.options, "names": self.names}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                about=np.frombuffer(json.dumps(says).encode(), np.uint8),
                inputs=self.inputs,
                hashes=self.hashes,
            )

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read a file; it holds no code.

        Raises
        ------
        RecordingError
            The file is not a recording, or is damaged.
        OSError
            The file cannot be read.
        """
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
                says = json.loads(parts["about"].tobytes())
                if says["format"] != FORMAT:
                    raise RecordingError(f"{path} has format {says['format']}, not {FORMAT}")
                names = tuple(says["names"])
                found = cls(says["name"], says["options"], names, parts["inputs"], parts["hashes"])
        except (RecordingError, OSError):
            raise
        except Exception as error:  # numpy, zipfile, zlib and json raise many types
            raise RecordingError(f"{path} is no recording of a demo") from error
        trouble = found.trouble()
        if trouble:
            raise RecordingError(f"{path} is cut short, or damaged: {trouble}")
        return found

    def trouble(self) -> str:
        """Return the fault of the parts as a text, or nothing."""
        if not isinstance(self.options, dict):
            return "there are no options"
        if not all(isinstance(text, str) for text in (self.name, *self.names)):
            return "a name is no text"
        if len(set(self.names)) < len(self.names):
            return "a key is there twice"
        n = len(self.inputs) if self.inputs.ndim else 0
        parts: list[tuple[str, NDArray[Any], NDArray[Any]]] = [
            ("inputs", self.inputs, np.zeros((n, len(self.names)))),
            ("hashes", self.hashes, np.zeros((n + 1, 16), np.uint8)),
        ]
        for name, array, like in parts:
            kind = array.dtype.newbyteorder("=")
            if (kind, array.shape) != (like.dtype, like.shape):
                return f"{name} are {kind} {array.shape}, not {like.dtype} {like.shape}"
        if not np.isin(self.inputs, (0.0, 1.0)).all():
            return "a key is neither up nor down"
        return ""


class Memory(GameMemory):
    """The saved states of a scene; none if it `counts_work`, which differs after a snapshot."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene.space, [scene], {"demos"})
        self._scene = scene

    def take(self, step: int) -> None:
        """Save everything as it is now; if that is not possible, set `obstacle`."""
        if not self._scene.counts_work:
            super().take(step)


class Tape:
    """A recorder of a scene while it is played.

    Parameters
    ----------
    scene : Scene
        A scene that has not been stepped yet.
    name, options : str and dict
        The name of the demo, and the options of its world.
    """

    def __init__(self, scene: Scene, name: str, options: dict[str, Any]) -> None:
        self._scene = scene
        self._name = name
        self._options = json.loads(json.dumps(options))  # raises for options that cannot be saved
        self._names = tuple(field.name for field in fields(Keys))
        self._inputs: list[list[float]] = []
        self._hashes = [scene.space.state_hash()]

    def step(self) -> None:
        """Step the scene, and record the inputs and the fingerprint."""
        keys = self._scene.keys
        self._inputs.append([float(getattr(keys, name)) for name in self._names])
        self._scene.step()
        self._hashes.append(self._scene.space.state_hash())

    def recording(self) -> Recording:
        """Return the recording so far, without a failed step."""
        n = len(self._hashes) - 1
        return Recording(
            self._name,
            self._options,
            self._names,
            np.array(self._inputs[:n], np.float64).reshape(n, len(self._names)),
            np.frombuffer(b"".join(self._hashes), np.uint8).reshape(n + 1, 16),
        )


class Player:
    """A player of a recording, forwards and backwards.

    Attributes
    ----------
    scene : Scene
        The scene after `position` steps.  `seek` may create another one.
    position : int
    first_difference : int or None
        The first of the steps played so far after which the scene differed from the recording;
        0: the world began differently.
    """

    def __init__(self, recording: Recording) -> None:
        if recording.name not in catalogue.names():
            raise RecordingError(
                f"the recording is of the demo {recording.name!r}, which does not exist"
            )
        known = {field.name for field in fields(Keys)}
        if not set(recording.names) <= known:
            strangers = ", ".join(sorted(set(recording.names) - known))
            raise RecordingError(f"the recording has keys that no demo knows: {strangers}")
        self.recording = recording
        self.first_difference: int | None = None
        self._demo = catalogue.load(recording.name)
        self._world = f"replay {next(_numbers)} of {recording.name}"
        self._before = esper.current_world
        self._kinds: set[type] = set()
        self._furthest = 0  # step that was compared with the recording
        self._check_options()
        try:
            self.rebuild()
        except (TypeError, ValueError) as error:
            self.close()
            raise RecordingError(f"the recording's options make no world: {error}") from error

    def _check_options(self) -> None:
        """Raise RecordingError for options that the command line would refuse."""
        known = inspect.signature(self._demo.build).parameters
        for option, value in self.recording.options.items():
            if option not in known:
                raise RecordingError(f"the recording has an option that no demo knows: {option}")
            kind = type(known[option].default)
            if type(value) is not kind or (option == "seed" and value < 0):
                least = ", 0 or more" if option == "seed" else ""
                raise RecordingError(
                    f"the recording's {option} is {value!r}, and must be {kind.__name__}{least}"
                )

    @property
    def n_steps(self) -> int:
        """The number of steps of the recording."""
        return self.recording.n_steps

    def rebuild(self) -> None:
        """Build the world again, as it was at first."""
        self.close()
        esper.switch_world(self._world)
        self.scene: Scene = self._demo.build(**self.recording.options)
        self.position = 0
        self._memory = Memory(self.scene)
        self._memory.register(self._kinds)
        self._compare()

    def close(self) -> None:
        """Delete the world, and switch back to the previous one."""
        if self._world in esper.list_worlds():
            esper.switch_world(self._before)
            esper.delete_world(self._world)

    def step(self) -> None:
        """Do the next step, with the recorded keys; do nothing at the end."""
        if self.position == self.n_steps:
            return
        if self.position % EVERY == 0 and self.position not in self._memory.steps:
            self._memory.take(self.position)
        self._do_step()
        self._compare()

    def _do_step(self) -> None:
        keys = self.scene.keys
        for name, value in zip(
            self.recording.names, self.recording.inputs[self.position].tolist(), strict=True
        ):
            setattr(keys, name, type(getattr(keys, name))(value))
        self.scene.step()
        self.position += 1

    def is_as_recorded(self) -> bool:
        """Return whether the scene is as in the recorded run after this step."""
        expected: bytes = self.recording.hashes[self.position].tobytes()
        return self.scene.space.state_hash() == expected

    def _compare(self) -> None:
        self._furthest = max(self._furthest, self.position)
        late = self.first_difference is None or self.position < self.first_difference
        if late and not self.is_as_recorded():
            self.first_difference = self.position

    def seek(self, position: int) -> None:
        """Go to the end of a step.

        Forwards it goes step by step; backwards it restores the last saved step before it, and
        plays on from there.  If there is none, or the saved state leads to another result than the
        recording, the run is played again from its beginning.
        """
        position = min(max(position, 0), self.n_steps)
        known = max((step for step in self._memory.steps if step <= position), default=-1)
        elsewhere = position < self.position or known > self.position
        if elsewhere and (known < 0 or not self._recall(known, position)):
            self.rebuild()
            while self.position < min(position, self._furthest):
                self._do_step()  # it was compared before
            self._compare()
        while self.position < position:
            self.step()

    def _recall(self, known: int, position: int) -> bool:
        """Go to a step from a saved one; return whether the result was as recorded."""
        before = self.first_difference, self._furthest
        try:
            self._memory.bring_back(known)
            self.position = known
            self._compare()
            while self.position < position:
                self.step()
        except Exception:  # from a demo that was not restored in full
            is_well = False
        else:
            is_well = self.first_difference == before[0]
        if not is_well:  # the comparisons do not count either
            self.first_difference, self._furthest = before
        return is_well

    def verify(self, progress: Callable[[range], Any] = iter) -> int | None:
        """Play the whole run from the start; return the first step that differs, or None.

        It continues to the end, to know all types of components, and leaves the scene at its
        beginning.
        """
        self.rebuild()
        for _ in progress(range(self.n_steps)):
            self.step()
            if self.first_difference is not None:
                break
        self._kinds = self._memory.kinds
        self.rebuild()
        return self.first_difference

    def verdict(self) -> str:
        """Return in a sentence whether the steps played so far are as recorded."""
        if self.first_difference is None:
            return "as recorded"
        if self.first_difference == 0:
            return "differs from its beginning: the world was built in another way"
        return f"differs first in step {self.first_difference} of {self.n_steps}"
