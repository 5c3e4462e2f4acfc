"""The checks that options of the pytest plugin run in every step of a test."""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import esper

from ecs_collide.extend import take_snapshot
from ecs_collide.recording.frames import ABSENT, Difference, Frame, compare_frames, read_frame
from ecs_collide.recording.recorder import Recorder, read_inputs
from ecs_collide.space import Space
from ecs_collide.testing.failures import RECORDERS, divergence_from, failure, output_path
from ecs_collide.testing.sim import KEPT, current_sim
from ecs_collide.testing.watch import find_space


class _Moment(NamedTuple):
    """A world between two steps."""

    data: bytes
    frame: Frame
    generation: object


def _structure(frame: Frame) -> dict[int, tuple[str, ...]]:
    """Return the names of the components of each entity."""
    return {entity: tuple(sorted(parts)) for entity, parts in frame.entities.items()}


def _moment(space: Space, step: int, option: str) -> _Moment:
    try:
        data = take_snapshot(space)
    except (ValueError, TypeError) as error:
        raise AssertionError(f"{option}: step {step}: {error}") from error
    return _Moment(data, read_frame(space, step), space.world.generation())


def _require(space: Space, expected: Frame, words: str) -> None:
    """Raise AssertionError unless the world equals a frame; show the first difference."""
    __tracebackhide__ = True
    divergence = divergence_from(expected, space)
    if divergence is not None:
        entities = [each.entity for each in divergence.differences if each.entity is not None]
        raise failure(f"{words}: {divergence}", space, entities[:1])


class HeavyCheck:
    """The check of ``--physics-heavy``: save, restore and compare the world after each step.

    It also goes back to the step before, which reveals state that a snapshot does not hold.  It
    does not if entities or components came or went between the two.  They would come back as
    other objects.
    """

    option = "--physics-heavy"

    def __init__(self) -> None:
        self.n_checks = 0
        self._steps: WeakKeyDictionary[Space, int] = WeakKeyDictionary()
        self._last: WeakKeyDictionary[Space, _Moment] = WeakKeyDictionary()

    def before(self, space: Space, dt: float) -> None:
        """Check the world after the previous step, and after the game's changes to it."""
        __tracebackhide__ = True
        if space.is_stepping:  # the game called esper.process in a step
            return
        step = self._steps.setdefault(space, 0)
        now, last = _moment(space, step, self.option), self._last.get(space)
        hint = "tell Space.snapshot_with how to save what did not come back"
        if (
            last is not None
            and last.generation is now.generation
            and _structure(last.frame) == _structure(now.frame)
        ):
            space.restore(last.data)
            words = f"{self.option}: restored from step {step} to step {last.frame.step}; {hint}"
            try:
                _require(space, last.frame, words)
            finally:
                space.restore(now.data)
        else:
            space.restore(now.data)
        _require(space, now.frame, f"{self.option}: restored to step {step}; {hint}")
        self._last[space] = now
        self.n_checks += 1

    def after(self, space: Space, dt: float) -> None:
        """Count a step."""
        self._steps[space] = self._steps.get(space, 0) + 1

    def finish(self) -> None:
        """Check the world after the last step."""
        __tracebackhide__ = True
        space = find_space()
        if space is not None and self._steps.get(space):
            esper.clear_dead_entities()
            self.before(space, 0.0)


class _Step(NamedTuple):
    """A step that may be repeated."""

    before: _Moment
    dt: float
    inputs: dict[str, Any]
    after: Frame


class RollbackCheck:
    """The check of ``--physics-rollback``: go back `distance` steps after each, and repeat them.

    The test's changes to components between the steps are repeated too, and the pressed inputs of
    a `Sim`.  It does not go back over steps in which entities or components came or went.
    """

    def __init__(self, distance: int) -> None:
        self.n_checks = 0
        self.option = f"--physics-rollback={distance}"
        self._distance = distance
        self._numbers: WeakKeyDictionary[Space, int] = WeakKeyDictionary()
        self._recent: WeakKeyDictionary[Space, deque[_Step]] = WeakKeyDictionary()
        self._begun: tuple[Space, _Moment, dict[str, Any]] | None = None

    def before(self, space: Space, dt: float) -> None:
        """Remember the world before a step."""
        number = self._numbers.setdefault(space, 0)
        if space.is_stepping:  # the game called esper.process in a step
            self._begun = None
            return
        moment = _moment(space, number, self.option)
        recent = self._recent.setdefault(space, deque(maxlen=self._distance))
        if recent and (
            recent[-1].before.generation is not moment.generation
            or _structure(recent[-1].after) != _structure(moment.frame)
        ):
            recent.clear()
        sim = current_sim()
        inputs = {} if sim is None else read_inputs(sim.inputs)
        self._begun = space, moment, inputs

    def after(self, space: Space, dt: float) -> None:
        """Go back, and repeat the last steps."""
        __tracebackhide__ = True
        if self._begun is None or self._begun[0] is not space or space.is_stepping:
            return
        _, moment, inputs = self._begun
        number = self._numbers[space] = self._numbers[space] + 1
        recent, frame = self._recent[space], read_frame(space, number, dt)
        if _structure(frame) != _structure(moment.frame):
            recent.clear()
            return
        recent.append(_Step(moment, dt, inputs, frame))
        if len(recent) == self._distance:
            self._repeat(space, list(recent))
            self.n_checks += 1

    def _repeat(self, space: Space, steps: list[_Step]) -> None:
        __tracebackhide__ = True
        sim = current_sim()
        pressed = {} if sim is None else read_inputs(sim.inputs)
        begin = steps[0].before.frame.step
        words = f"{self.option}: restored from step {steps[-1].after.step} to step {begin}"
        space.restore(steps[0].before.data)
        _require(space, steps[0].before.frame, words)
        for n, step in enumerate(steps):
            if n:
                _put(space, compare_frames(steps[n - 1].after, step.before.frame))
            _press(sim, step.inputs)
            esper.process(step.dt)  # observers are not notified: this is within one
            if n + 1 < len(steps):
                esper.clear_dead_entities()
            _require(space, step.after, f"{words}, and played on")
        _press(sim, pressed)

    def finish(self) -> None:
        """Check nothing: each step was checked when it was done."""


def _press(sim: Any, inputs: dict[str, Any]) -> None:
    for name, value in inputs.items():
        if isinstance(sim.inputs, dict):
            sim.inputs[name] = value
        else:
            setattr(sim.inputs, name, value)


def _put(space: Space, differences: list[Difference]) -> None:
    """Repeat the changes to the fields of components between two steps."""
    world = space.world
    for difference in differences:
        if difference.entity is None or difference.second is ABSENT:
            continue
        name, _, field = difference.name.rpartition(".")
        for kind, component in world.components(difference.entity, ()).items():
            if name in (kind.__name__, f"{kind.__module__}.{kind.__qualname__}"):
                old, value = getattr(component, field, None), difference.second
                if isinstance(old, Enum):
                    value = type(old)[value]
                elif isinstance(old, (tuple, set, frozenset)):
                    value = type(old)(value)
                setattr(component, field, value)


class Recordings:
    """The recorder of ``--physics-record``: the last `limit` steps of every world of a test."""

    option = "--physics-record"

    def __init__(self, limit: int = KEPT) -> None:
        self.n_checks = 0
        self._limit = limit
        self._own: dict[Space, Recorder] = {}

    def before(self, space: Space, dt: float) -> None:
        """Start recording a world that is not recorded yet, and read the inputs."""
        if space not in RECORDERS:
            self._own[space] = RECORDERS[space] = Recorder(space, limit=self._limit)
        if space in self._own:
            self._own[space].begin_step()

    def after(self, space: Space, dt: float) -> None:
        """Record a step."""
        self.n_checks += 1
        if space in self._own:
            self._own[space].take(dt)

    def save(self) -> list[str]:
        """Write the recordings of all worlds; return the commands that show them."""
        return [
            f"python -m ecs_collide.recording {recorder.save(output_path('.rec'))}"
            for recorder in list(RECORDERS.values())
            if recorder.n_steps
        ]

    def finish(self) -> None:
        """Record nothing more."""
        for space in self._own:
            RECORDERS.pop(space, None)
