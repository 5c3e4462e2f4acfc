"""Steps of one length, however long the frames are."""

from __future__ import annotations

import math
from collections.abc import Iterator


class FixedStep:
    """Cuts the time that frames take into steps of one length.

    A game whose steps all have one length does the same on every machine, and its
    replays are exact. The time that is left over waits for the next frame; `fraction`
    says how much of a step it is, for drawing between the last two.

    Parameters
    ----------
    dt : float
        Length of a step in seconds, more than 0.
    most : int
        Steps for one frame at most, 1 or more: what a frame takes beyond them is
        forgotten, else a hitch would be followed by a longer one.

    Attributes
    ----------
    dt : float
    most : int
    fraction : float
        Of a step, from 0 to less than 1: the time that has passed since the last one.
    dropped : float
        Seconds forgotten in all.

    Examples
    --------
    >>> clock = FixedStep(0.25)
    >>> [len(list(clock.steps(seconds))) for seconds in (0.1, 0.2, 0.7)]
    [0, 1, 3]
    >>> clock.fraction
    0.0

    In a game::

        clock = ec.FixedStep(1 / 60)

        def on_frame(seconds):
            for dt in clock.steps(seconds):
                before = space.positions()
                esper.process(dt)
            draw(before + (space.positions() - before) * clock.fraction)
    """

    def __init__(self, dt: float = 1 / 60, most: int = 5) -> None:
        if not (isinstance(dt, (int, float)) and 0.0 < dt < math.inf):
            raise ValueError(f"FixedStep(dt={dt!r}) must be a number of seconds, more than 0")
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise ValueError(f"FixedStep(most={most!r}) must be a whole number, 1 or more")
        self.dt = float(dt)
        self.most = most
        self.dropped = 0.0
        self._left = 0.0

    @property
    def fraction(self) -> float:
        """How much of a step has passed since the last one, from 0 to less than 1."""
        return min(self._left / self.dt, math.nextafter(1.0, 0.0))

    def steps(self, seconds: float) -> Iterator[float]:
        """Add the time of a frame; yield `dt` for each step that is due.

        Parameters
        ----------
        seconds : float
            Since the last frame, 0 or more.

        Raises
        ------
        ValueError
            `seconds` is negative or no finite number. Nothing has changed then.

        Notes
        -----
        The time is taken up at once; a step counts as done when it is asked for, so a
        game may leave the loop early and go on with the rest in the next frame.
        """
        if not (isinstance(seconds, (int, float)) and 0.0 <= seconds < math.inf):
            raise ValueError(f"seconds={seconds!r} must be a finite number, 0 or more")
        self._left += seconds
        # Within rounding of a whole step it is one: three times 0.1 s are 0.3 s.
        near = self.dt * (1.0 - 2.0**-40)
        room = self.dt * self.most + near
        if self._left > room:
            late = self._left - self.dt * self.most
            late -= late % self.dt
            self._left -= late
            self.dropped += late
        return self._run(near)

    def _run(self, near: float) -> Iterator[float]:
        while self._left >= near:
            self._left = max(self._left - self.dt, 0.0)
            yield self.dt

    def __repr__(self) -> str:
        return f"FixedStep(dt={self.dt!r}, most={self.most!r})"
