"""The source of the time of a step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

TimeSource = float | Callable[..., float]


class StepTime:
    """The duration of the steps of a space, in seconds.

    It is the first argument of `esper.process`, unless `install` was given ``dt``.

    Attributes
    ----------
    source : float, callable or None
        The argument ``dt`` of `install`.  A function is called once in each step.
    """

    def __init__(self) -> None:
        self.source: TimeSource | None = None
        self._last = 0.0

    def begin_step(self, given: Sequence[Any], named: Mapping[str, Any]) -> float:
        """Return the duration of the step that begins."""
        if self.source is None:
            if given:  # as below, without a call in each step
                dt: float = given[0]
                return dt
            return _given(given, named)
        self._last = self.source(*given, **named) if callable(self.source) else self.source
        return self._last

    def within_step(self, given: Sequence[Any], named: Mapping[str, Any]) -> float | None:
        """Return the duration that a system in the step receives; None if `install` has ``dt``."""
        if self.source is not None:
            return None
        dt: float = given[0] if given else _given(given, named)  # a call less in each step
        return dt

    def after_step(self, given: Sequence[Any], named: Mapping[str, Any]) -> float:
        """Return the duration of the last step, for a system that runs after it."""
        return _given(given, named) if self.source is None else self._last


def _given(given: Sequence[Any], named: Mapping[str, Any]) -> float:
    """Return the time argument of `esper.process`, 1 second by default."""
    dt: float = given[0] if given else named.get("dt", 1.0)
    return dt


def checked_source(dt: object) -> TimeSource | None:
    """Return a valid argument `dt` of `install`, or raise ValueError."""
    if dt is None or callable(dt):
        return dt
    seconds = seconds_of(dt)
    if not 0.0 <= seconds < math.inf:
        raise ValueError(
            f"install(dt={dt!r}) must be the seconds of each step, 0 or more, or a function that "
            "returns them; it gets what esper.process() is given"
        )
    return seconds


def seconds_of(dt: Any) -> float:
    """Return a time as a float, NaN for anything that is no number."""
    if type(dt) is float:
        seconds: float = dt
        return seconds
    try:
        return math.nan if isinstance(dt, (bool, np.bool_, str, bytes)) else float(dt)
    except (TypeError, ValueError, OverflowError):
        return math.nan
