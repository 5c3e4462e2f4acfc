"""Record a world while it runs.  `record` adds two processors that only read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import esper

from ecs_collide.extend import take_snapshot
from ecs_collide.recording.frames import (
    Frame,
    plain_fields,
    read_fields,
    read_frame,
    tree_bounds,
)
from ecs_collide.recording.recording import Recording
from ecs_collide.space import Space

FIRST, LAST = 2**31, -(2**31)  # priorities: before and after all systems of a game


class Recorder:
    """A recorder of a world, step by step.

    `ecs_collide.record` creates one that follows `esper.process`.  For a recorder that is created
    directly, call `begin_step` before each step and `take` after it.

    Parameters
    ----------
    space : Space
    inputs : object, mapping or callable, optional
        The player's inputs: a dict, an object with attributes, or a function that returns one of
        these.  They are read before each step.
    limit : int, optional
        Number of the last steps to keep; by default all.
    snapshots : bool
        Keep `Space.snapshot` too, for the viewer.  If the space cannot be saved, the recording
        has none.
    trees : bool
        Keep fat bounds and branches too, for the page.

    Attributes
    ----------
    frames : deque of Frame
    n_steps : int
        Steps so far, including steps that are no longer kept.
    """

    def __init__(
        self,
        space: Space,
        inputs: Any = None,
        *,
        limit: int | None = None,
        snapshots: bool = True,
        trees: bool = False,
    ) -> None:
        self.space = space
        self.inputs = inputs
        self.n_steps = 0
        self._snapshots = snapshots
        self._trees = trees
        self._pressed: dict[str, Any] = {}
        self._stops: list[Callable[[], None]] = []
        self.frames: deque[Frame] = deque(maxlen=None if limit is None else limit + 1)
        self._append(0.0)

    def begin_step(self) -> None:
        """Read the inputs for the coming step."""
        self._pressed = read_inputs(self.inputs)

    def take(self, dt: float) -> Frame:
        """Record the world after a step of `dt` seconds."""
        self.n_steps += 1
        return self._append(dt)

    def _append(self, dt: float) -> Frame:
        before = self.frames[-1] if self.frames else None
        frame = read_frame(self.space, self.n_steps, float(dt), self._pressed, before)
        if self._snapshots:
            try:
                frame = replace(frame, snapshot=take_snapshot(self.space))
            except (ValueError, TypeError):  # a component that was not given to snapshot_with
                self._snapshots = False
        if self._trees:
            frame = replace(frame, trees=tree_bounds(self.space))
        self.frames.append(frame)
        return frame

    def follow(self) -> None:
        """Record each `esper.process` of the current world from now on."""
        # esper removes a processor by its type, so each recorder has different types.
        before: Any = type("RecordInputs", (_Processor,), {})(self, False)
        after: Any = type("RecordState", (_Processor,), {})(self, True)
        esper.add_processor(before, priority=FIRST)
        esper.add_processor(after, priority=LAST)
        self._stops += [partial(esper.remove_processor, type(each)) for each in (before, after)]

    def stop(self) -> None:
        """Stop recording.  The world of the space must be current."""
        while self._stops:
            self._stops.pop()()

    @property
    def recording(self) -> Recording:
        """The recording so far."""
        space = self.space
        roles = ("position", "extents", "velocity", "growth")
        about = {
            "dim": space.dim,
            "wrap": space.wrap,
            "up": space.up,
            "written": [getattr(space.components, role).kind.__name__ for role in roles],
        }
        return Recording(list(self.frames), about)

    def save(self, path: Path | str) -> Path:
        """Write the recording to a file for ``python -m ecs_collide.recording``."""
        return self.recording.save(path)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *details: object) -> None:
        self.stop()


class _Processor(esper.Processor):
    def __init__(self, recorder: Recorder, is_after: bool) -> None:
        self._recorder = recorder
        self._is_after = is_after

    def process(self, *args: Any, **kwargs: Any) -> None:
        if self._is_after:
            self._recorder.take(self._recorder.space.step_time.after_step(args, kwargs))
        else:
            self._recorder.begin_step()


def read_inputs(inputs: Any) -> dict[str, Any]:
    """Return the inputs that are plain values, by name."""
    if callable(inputs) and not isinstance(inputs, Mapping):
        inputs = inputs()
    if inputs is None:
        return {}
    if isinstance(inputs, Mapping):
        return plain_fields((str(name), value) for name, value in inputs.items())
    return read_fields(inputs)


def record(
    space: Space,
    inputs: Any = None,
    *,
    limit: int | None = None,
    snapshots: bool = True,
    trees: bool = False,
) -> Recorder:
    """Record every step of the current world, until `Recorder.stop`.

    Two processors are added.  One before all others reads the inputs, and one after all others
    reads the world.  Each step takes about 12 microseconds longer for each entity.

    Parameters
    ----------
    space : Space
        The space of the current world.
    inputs : object, mapping or callable, optional
        The player's inputs: a dict, an object with attributes, or a function that returns one of
        these.
    limit : int, optional
        Number of the last steps to keep; by default all.
    snapshots : bool
        Keep `Space.snapshot` too, for the viewer.
    trees : bool
        Keep fat bounds and branches too, for the page that ``--html`` writes.

    Returns
    -------
    Recorder
        ``recorder.save("run.rec")`` writes a file for ``python -m ecs_collide.recording run.rec``.

    Raises
    ------
    TypeError
        `space` is not a Space.
    RuntimeError
        Another world is current.

    Examples
    --------
    >>> space = install()
    >>> recorder = record(space, inputs={"right": True})
    >>> recorder.n_steps
    0
    """
    if not isinstance(space, Space):
        raise TypeError(f"record(space={space!r}) must be given a Space")
    recorder = Recorder(space, inputs, limit=limit, snapshots=snapshots, trees=trees)
    recorder.follow()
    return recorder
