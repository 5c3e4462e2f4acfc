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
    """A file is no recording, or one of another version."""


@dataclass(slots=True)
class Recording:
    """A run of n steps.

    Attributes
    ----------
    name : str
        Of the demo.
    options : dict
        What its world was built with, the seed among them.
    names : tuple of str
        The fields of `Keys`.
    inputs : float64 (n, len(names))
        What they were before each step.
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
        """Write a file that `load` reads; its folder is made if need be."""
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
            It is not one of these files, or it is damaged.
        OSError
            It cannot be read.
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
        except Exception as error:  # numpy, zipfile, zlib and json have many words for damage
            raise RecordingError(f"{path} is no recording of a demo") from error
        trouble = found.trouble()
        if trouble:
            raise RecordingError(f"{path} is cut short, or damaged: {trouble}")
        return found

    def trouble(self) -> str:
        """Return what is wrong with the parts, or nothing."""
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
    """Saves a scene; never one that `counts_work`, which differs after a snapshot."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene.space, [scene], {"demos"})
        self._scene = scene

    def take(self, step: int) -> None:
        """Save everything as it is now; if that is not possible, set `obstacle`."""
        if not self._scene.counts_work:
            super().take(step)


class Tape:
    """Records a scene while it is played.

    Parameters
    ----------
    scene : Scene
        Which has not been stepped yet.
    name, options : str and dict
        Of the demo, and what it was built with.
    """

    def __init__(self, scene: Scene, name: str, options: dict[str, Any]) -> None:
        self._scene = scene
        self._name = name
        self._options = json.loads(json.dumps(options))  # what cannot be saved is refused now
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
        """Return what was recorded so far; a step that failed is no part of it."""
        n = len(self._hashes) - 1
        return Recording(
            self._name,
            self._options,
            self._names,
            np.array(self._inputs[:n], np.float64).reshape(n, len(self._names)),
            np.frombuffer(b"".join(self._hashes), np.uint8).reshape(n + 1, 16),
        )


class Player:
    """Plays a recording back, forwards and backwards.

    Attributes
    ----------
    scene : Scene
        As it was after `position` steps.  `seek` may make another one.
    position : int
    first_difference : int or None
        The first step after which the scene was not what was recorded, of
        those played so far; 0: the world began differently.
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
        """Refuse what the command line would not give to the demo."""
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
        """Make the world anew, as it was at first."""
        self.close()
        esper.switch_world(self._world)
        self.scene: Scene = self._demo.build(**self.recording.options)
        self.position = 0
        self._memory = Memory(self.scene)
        self._memory.register(self._kinds)
        self._compare()

    def close(self) -> None:
        """Delete the world, and go back to the one that was current."""
        if self._world in esper.list_worlds():
            esper.switch_world(self._before)
            esper.delete_world(self._world)

    def step(self) -> None:
        """Do the next step, with the keys that were down in it; nothing at the end."""
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
        """Return whether the scene is what it was in the run after this step."""
        expected: bytes = self.recording.hashes[self.position].tobytes()
        return self.scene.space.state_hash() == expected

    def _compare(self) -> None:
        self._furthest = max(self._furthest, self.position)
        late = self.first_difference is None or self.position < self.first_difference
        if late and not self.is_as_recorded():
            self.first_difference = self.position

    def seek(self, position: int) -> None:
        """Go to the end of a step.

        Forwards step by step; else to the last one before it that is remembered, and on
        from there.  Where none is, or what was remembered leads to anything but what
        was recorded, the run is played anew from its beginning.
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
        """Go to a step by way of one that is remembered; return whether that went well."""
        before = self.first_difference, self._furthest
        try:
            self._memory.bring_back(known)
            self.position = known
            self._compare()
            while self.position < position:
                self.step()
        except Exception:  # of a demo of which not all was brought back
            is_well = False
        else:
            is_well = self.first_difference == before[0]
        if not is_well:  # nor does what was compared count
            self.first_difference, self._furthest = before
        return is_well

    def verify(self, progress: Callable[[range], Any] = iter) -> int | None:
        """Play all of it from the start; return the first step that differs, or None.

        Goes on to the end, to know all types of components that there will be, and
        leaves the scene at its beginning.
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
        """Return in a sentence whether what was played so far is what was recorded."""
        if self.first_difference is None:
            return "as recorded"
        if self.first_difference == 0:
            return "differs from its beginning: the world was built in another way"
        return f"differs first in step {self.first_difference} of {self.n_steps}"
