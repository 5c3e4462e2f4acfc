"""A world for a test: built, stepped with the player's inputs, watched, and cleaned up."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import esper

from ecs_collide.events import Collision, ContactBegan, ContactEnded
from ecs_collide.extend import NAMES
from ecs_collide.recording.recorder import Recorder
from ecs_collide.recording.recording import Recording
from ecs_collide.space import Space
from ecs_collide.testing.failures import RECORDERS, failure
from ecs_collide.testing.selectors import Selector, having, name_of, selects
from ecs_collide.testing.watch import find_space, require_space
from ecs_collide.testing.watched import Watched, name_of_watched, reader

Game = TypeVar("Game")
Event = TypeVar("Event", Collision, ContactBegan, ContactEnded)
Script = int | Sequence[tuple[str, int]]
"""Inputs to press: ``[("right", 30), ("right jump", 5), ("", 60)]``; a number is steps without."""

DT = 1 / 60  # seconds
KEPT = 3600  # steps that a recording keeps
AT_MOST = 600  # steps that a test waits for something

_numbers = itertools.count(1)
_running: list[Sim] = []  # the last one is the innermost


class Inputs:
    """Inputs by name, for a game that has no object for them; unknown inputs are False."""

    def __getattr__(self, name: str) -> bool:
        if name.startswith("_"):
            raise AttributeError(name)
        return False

    def remember(self) -> Callable[[], None]:
        """Return a function that presses and releases them as they are now."""
        pressed = dict(vars(self))

        def bring_back() -> None:
            vars(self).clear()
            vars(self).update(pressed)

        return bring_back


class Sim:
    """A fresh world, the game in it, and the player's hands.

    The fixture `sim` gives each test one; elsewhere it is a context manager.  It switches to
    a new esper world, and `close` deletes that with its systems and handlers.

    Parameters
    ----------
    dt : float
        Length of a step, in seconds.
    keep : int or None
        How many steps the recording keeps; None for all.

    Attributes
    ----------
    dt, keep
        As the parameters.  `keep` may be set until the first step.
    game : object
        The game that `build` made, or None.
    inputs : object
        The player's inputs, by default the attribute `inputs` or `keys` of `game`: a dict like
        ``{"right": False}``, or an object with an attribute for each.
    n_steps : int
        Steps so far.
    """

    def __init__(self, dt: float = DT, *, keep: int | None = KEPT) -> None:
        self.dt = dt
        self.game: Any = None
        self.inputs: Any = Inputs()
        self._added: set[str] = set()  # names of inputs that a dict did not have
        self.n_steps = 0
        self.keep = keep
        self._traces: list[Trace] = []
        self._recorder: Recorder | None = None
        self._names = list(NAMES.names), NAMES.is_closed
        self._before = esper.current_world
        self.world = f"sim {next(_numbers)}"
        esper.switch_world(self.world)
        _running.append(self)

    def __enter__(self) -> Sim:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Delete the world, and switch back to the previous one."""
        if self.world not in esper.list_worlds():
            return
        if esper.current_world == self.world or self in _running:
            self.leave()
        esper.delete_world(self.world)
        NAMES.names[:], NAMES.is_closed = self._names

    def resume(self) -> None:
        """Make this world current again, and continue to count, record and trace."""
        if self not in _running:
            _running.append(self)
        if esper.current_world != self.world:
            self._before = esper.current_world
            esper.switch_world(self.world)
        self.n_steps = 0
        self._traces = []
        self._stop_recording()

    def leave(self) -> None:
        """Switch back to the previous world, and keep this one."""
        self._stop_recording()
        if self in _running:
            _running.remove(self)
        esper.switch_world(self._before if self._before in esper.list_worlds() else "default")

    @property
    def space(self) -> Space:
        """The space of the current world.

        Raises
        ------
        RuntimeError
            The game has not called `ecs_collide.install` yet.
        """
        return require_space()

    @property
    def recording(self) -> Recording:
        """The recording of the last steps, to save or to compare."""
        return self._recorder_now().recording

    def build(self, build: Callable[..., Game], *args: Any, **kwargs: Any) -> Game:
        """Build a game in this world to play; return the result of `build`.

        If the result has an attribute `inputs`, or else `keys`, the player presses these.  If it
        has a method `step`, that is called for each step instead of `esper.process`.
        """
        game = build(*args, **kwargs)
        self.game = game
        for name in ("inputs", "keys"):
            if getattr(game, name, None) is not None:
                self.inputs = getattr(game, name)
                break
        return game

    # -- stepping --

    def step(self, n: int = 1) -> None:
        """Do `n` steps."""
        for _ in range(n):
            if find_space() is not None:
                self._recorder_now().begin_step()
            self.advance()
            self.n_steps += 1
            self._recorder_now().take(self.dt)
            for trace in self._traces:
                trace.take()

    def advance(self) -> None:
        """Do a step that is neither counted, recorded nor traced."""
        step = None if isinstance(self.game, Space) else getattr(self.game, "step", None)
        if step is None:
            esper.process(self.dt)
        else:
            step()

    def _recorder_now(self) -> Recorder:
        space = self.space
        if self._recorder is None or self._recorder.space is not space:
            self._stop_recording()
            self._recorder = Recorder(space, lambda: self.inputs, limit=self.keep)
            RECORDERS[space] = self._recorder
        return self._recorder

    def _stop_recording(self) -> None:
        if self._recorder is not None:
            RECORDERS.pop(self._recorder.space, None)
            self._recorder = None

    def press(self, names: str) -> None:
        """Press inputs, by their names with spaces between, until `release`."""
        for name in names.split():
            self._set(name, True)

    def release(self, names: str) -> None:
        """Release inputs, by their names with spaces between."""
        for name in names.split():
            self._set(name, False)

    def hold(self, names: str, n: int) -> None:
        """Do `n` steps with some inputs pressed, and release them."""
        self.press(names)
        try:
            self.step(n)
        finally:
            self.release(names)

    def play(self, script: Script) -> None:
        """Do the steps of a script: pairs of inputs and of the steps for which they are held."""
        for names, n in steps_of(script):
            self.hold(names, n)

    def _set(self, name: str, is_down: bool) -> None:
        inputs = self.inputs
        if not isinstance(inputs, MutableMapping):
            if hasattr(inputs, name):
                setattr(inputs, name, type(getattr(inputs, name))(is_down))
                return
        elif name in inputs:
            inputs[name] = type(inputs[name])(is_down)
            return
        elif hasattr(inputs, "__missing__") or self._added.issuperset(inputs):
            self._added.add(name)  # a dict that began without names takes all
            inputs[name] = is_down
            return
        raise AttributeError(
            f"{name!r} is no input of {type(inputs).__name__}: {inputs!r}; the inputs of a "
            f"game must be a dict like {{{name!r}: False}} or an object with an attribute "
            f"{name!r}"
        )

    # -- waiting --

    def until(self, condition: Callable[[], object], at_most: int = AT_MOST) -> int:
        """Do steps until a function returns a true value; return how many it took.

        Raises
        ------
        AssertionError
            The function returned no true value within `at_most` steps.
        """
        __tracebackhide__ = True
        for n in range(at_most + 1):
            if condition():
                return n
            if n < at_most:
                self.step()
        name = getattr(condition, "__name__", "the condition")
        raise failure(f"{name} does not hold within {at_most} steps", self.space)

    def wait_for(
        self,
        event: type[Event],
        first: Selector = None,
        second: Selector = None,
        at_most: int = AT_MOST,
    ) -> Event:
        """Do steps until an event happens; return it, with the bodies in the given order.

        Parameters
        ----------
        event : type
            `Collision`, `ContactBegan` or `ContactEnded`.
        first, second : int, type or None
            The bodies of the event: an entity, or a component that it has.
        at_most : int
            Steps.

        Raises
        ------
        AssertionError
            It did not happen within `at_most` steps.
        """
        __tracebackhide__ = True
        for _ in range(at_most):
            had = having(first), having(second)
            self.step()
            # A body may have been deleted in the step, even if it was created in it.
            firsts, seconds = had[0] | having(first), had[1] | having(second)
            for found in _events_of(self.space, event):
                for each in (found, found.swapped()):
                    if (each.first in firsts or selects(first, each.first)) and (
                        each.second in seconds or selects(second, each.second)
                    ):
                        return each
        wanted = " and ".join(name_of(each) for each in (first, second))
        raise failure(f"no {event.__name__} of {wanted} within {at_most} steps", self.space)

    # -- watching --

    def trace(self, watched: Iterable[Watched] | Mapping[str, Watched]) -> Trace:
        """Record some values after each step from now on.

        Parameters
        ----------
        watched : list, or dict by name
            Each is a function without arguments; a text "Player.Velocity.x", of which the first
            part is a component of exactly one entity, or an entity id; or a tuple
            ``(entity, Velocity, "x")``.

        Returns
        -------
        Trace
            A table whose first row is the present world.
        """
        trace = Trace(self, watched)
        self._traces.append(trace)
        return trace


class Trace:
    """A table of watched values, one row for each step.

    Attributes
    ----------
    names : list of str
        The names of the columns: "step" and the watched values.
    rows : list of dict
    """

    def __init__(self, sim: Sim, watched: Iterable[Watched] | Mapping[str, Watched]) -> None:
        self._sim = sim
        if isinstance(watched, str):
            raise TypeError(f"trace({watched!r}) must be given a list: trace([{watched!r}])")
        pairs = (
            watched.items()
            if isinstance(watched, Mapping)
            else ((name_of_watched(each), each) for each in watched)
        )
        self._readers = {name: reader(each) for name, each in pairs}
        self.names = ["step", *self._readers]
        self.rows: list[dict[str, Any]] = []
        self.take()

    def take(self) -> None:
        """Add a row for the present world."""
        row = {name: read() for name, read in self._readers.items()}
        self.rows.append({"step": self._sim.n_steps, **row})

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def column(self, name: str) -> list[Any]:
        """Return the values of one column."""
        return [row[name] for row in self.rows]

    def to_csv(self, path: Path | str | None = None) -> str:
        """Return the table as CSV, and write it to a file if one is named."""
        file = io.StringIO()
        writer = csv.DictWriter(file, self.names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return _written(file.getvalue(), path)

    def to_json(self, path: Path | str | None = None) -> str:
        """Return the table as JSON, a list of objects, and write it to a file if one is named."""
        return _written(json.dumps(self.rows, indent=1) + "\n", path)

    def _cells(self) -> list[list[str]]:
        return [self.names, *([str(row[name]) for name in self.names] for row in self.rows)]

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in cells
        )

    def _repr_html_(self) -> str:
        rows = ("".join(f"<td>{cell}</td>" for cell in row) for row in self._cells())
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _written(text: str, path: Path | str | None) -> str:
    if path is not None:
        Path(path).write_text(text, "utf-8")
    return text


def _events_of(space: Space, event: type[Event]) -> list[Event]:
    """Return the events of a type that the last step reported."""
    sequences: dict[type, Any] = {
        Collision: space.collisions,
        ContactBegan: space.contacts_began,
        ContactEnded: space.contacts_ended,
    }
    if event not in sequences:
        raise TypeError(f"{event!r} must be Collision, ContactBegan or ContactEnded")
    return list(sequences[event])


def steps_of(script: Script) -> list[tuple[str, int]]:
    """Return a script as a list of inputs and steps, or raise a TypeError or ValueError."""
    if isinstance(script, int):
        return [("", script)]
    steps = [(names, n) for names, n in script]
    for names, n in steps:
        if not isinstance(names, str) or not isinstance(n, int) or n < 0:
            raise ValueError(f"({names!r}, {n!r}) in a script must be as ('right jump', 30)")
    return steps


def current_sim() -> Sim | None:
    """Return the sim whose world is current, or None."""
    return next((sim for sim in reversed(_running) if sim.world == esper.current_world), None)
