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
        self._coming: float | None = None  # duration of the coming step, if known
        self._told: list[object] = []  # the systems that know it
        self._last = 0.0

    def before_step(self, system: object, given: Sequence[Any], named: Mapping[str, Any]) -> float:
        """Return the duration of the coming step, for a system that runs before it."""
        if self.source is None:
            return _given(given, named)
        # A system that asks twice is in another step; the first one was cut short.
        if self._coming is None or system in self._told:
            self._coming = self.source(*given, **named) if callable(self.source) else self.source
            self._told.clear()
        self._told.append(system)
        return self._coming

    def begin_step(self, given: Sequence[Any], named: Mapping[str, Any]) -> float:
        """Return the duration of the step that begins; the same as `before_step` returned."""
        if self.source is None and given:  # as below, without a call in each step
            dt: float = given[0]
            return dt
        coming = self._coming
        if coming is None:
            coming = self.before_step(self, given, named)
        self._coming, self._last = None, coming
        return coming

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
    number: Any = math.nan if isinstance(dt, (bool, np.bool_, str, bytes)) else dt
    try:
        seconds = float(number)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0.0 <= seconds < math.inf:
        raise ValueError(
            f"install(dt={dt!r}) must be the seconds of each step, 0 or more, or a function that "
            "returns them; it gets what esper.process() is given"
        )
    return seconds
