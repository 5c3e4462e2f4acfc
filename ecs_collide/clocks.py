"""Steps of one length for frames of any length."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator

# A fraction of a step that counts as a whole one: three frames of 0.1 s make 0.3 s.
NEARLY_ONE = 1.0 - 2.0**-40


class FixedStep:
    """A clock that divides the time of frames into steps of one length.

    A game whose steps all have the same length gives the same result on every machine, and
    its replays are exact. Time that is left over waits for the next frame.

    Parameters
    ----------
    dt : float
        Length of a step in seconds, more than 0.
    max_steps : int
        Largest number of steps for one frame, 1 or more. Whole steps beyond it are dropped.
        Otherwise a slow frame would cause a slower one.

    Attributes
    ----------
    dt : float
    max_steps : int
    fraction : float
        Time since the last step, as a fraction of a step: from 0 to less than 1.
    dropped : float
        Seconds dropped in all frames.

    Examples
    --------
    >>> clock = FixedStep(0.25)
    >>> [len(list(clock.steps(seconds))) for seconds in (0.1, 0.2, 0.7)]
    [0, 1, 3]
    >>> clock.fraction
    0.0

    A game draws its bodies between their last two positions, so that they move smoothly
    when frames and steps have different lengths (`Space.interpolated`). Some frames have no step:

    >>> import esper
    >>> space = install()
    >>> box = esper.create_entity(Position(0, 0), Extents(1, 1), Velocity(8, 0))
    >>> def on_frame(seconds):
    ...     for dt in clock.steps(seconds):
    ...         esper.process(dt)
    ...     print(space.interpolated(clock.fraction).tolist())
    >>> for seconds in (0.375, 0.25, 0.0625):
    ...     on_frame(seconds)
    [[1.0, 0.0]]
    [[3.0, 0.0]]
    [[3.5, 0.0]]
    """

    def __init__(self, dt: float = 1 / 60, max_steps: int = 5) -> None:
        if not (isinstance(dt, (int, float)) and 0.0 < dt < math.inf):
            raise ValueError(f"FixedStep(dt={dt!r}) must be a number of seconds, more than 0")
        if dt > 1.0:
            warnings.warn(
                f"FixedStep(dt={dt!r}) makes steps of {dt:.6g} seconds: 60 steps a second take "
                "FixedStep(1 / 60)",
                RuntimeWarning,
                stacklevel=2,
            )
        if not isinstance(max_steps, int) or isinstance(max_steps, bool) or max_steps < 1:
            raise ValueError(
                f"FixedStep(max_steps={max_steps!r}) must be a whole number, 1 or more"
            )
        self.dt = float(dt)
        self.max_steps = max_steps
        self.dropped = 0.0
        self._n_due = 0
        self._rest = 0.0  # seconds beyond the steps that are due, less than one step

    @property
    def fraction(self) -> float:
        """Time since the last step, as a fraction of a step: from 0 to less than 1."""
        below_one = math.nextafter(1.0, 0.0)
        return below_one if self._n_due else min(self._rest / self.dt, below_one)

    def steps(self, seconds: float) -> Iterator[float]:
        """Add the time of a frame; yield `dt` for each step that is due.

        The time is added when this method is called. A step counts as done when it is
        yielded. A game may leave the loop early, and the next frame continues with the
        remaining steps.

        Parameters
        ----------
        seconds : float
            Time since the last frame, 0 or more.

        Raises
        ------
        ValueError
            `seconds` is negative or not finite. Nothing has changed then.
        """
        if not (isinstance(seconds, (int, float)) and 0.0 <= seconds < math.inf):
            raise ValueError(f"seconds={seconds!r} must be a finite number, 0 or more")
        time = min(self._rest + seconds, sys.float_info.max)
        self._rest = math.fmod(time, self.dt)
        n_new = (time - self._rest) / self.dt
        if self._rest >= self.dt * NEARLY_ONE:
            self._rest = 0.0
            n_new += 1.0
        room = self.max_steps - self._n_due
        if n_new >= room + 0.5:
            self.dropped += time - self._rest - room * self.dt
            n_new = room
        self._n_due += round(n_new)
        return self._run()

    def _run(self) -> Iterator[float]:
        while self._n_due:
            self._n_due -= 1
            yield self.dt

    def __repr__(self) -> str:
        return f"FixedStep(dt={self.dt!r}, max_steps={self.max_steps!r})"
