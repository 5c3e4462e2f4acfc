"""What a character remembers from step to step."""

from __future__ import annotations

import math

_UNKNOWN_VECTOR = (math.nan, math.nan, math.nan)
_ZERO = (0.0, 0.0, 0.0)


class Memory:
    """What a stride leaves for the next one; `Character.to_bytes` saves it.

    Attributes
    ----------
    own, frame : tuple of float
        Its velocity as its ground sees it, and the velocity of its ground.
    written : tuple of float
        The `Velocity` that was written last; NaN before the first stride.
    since_press : float
        Seconds since the button was pressed, while a jump is still due; inf if none is.
    last_dt, air_dt : float
        The length of the last step, and of the one in which it left the ground, in seconds.
    held : bool
        Whether the button was down in the last step.
    gone : bool
        Whether it left the ground by itself, so that it has no coyote time.
    stepping : bool
        Whether it rises, or has risen, onto a step.
    rode : bool
        Whether the space took it along with its ground.
    """

    __slots__ = (
        "air_dt", "frame", "gone", "held", "last_dt", "own", "rode", "since_press", "stepping",
        "written",
    )  # fmt: skip

    def __init__(self) -> None:
        self.own = self.frame = _ZERO
        self.written = _UNKNOWN_VECTOR
        self.since_press = math.inf
        self.last_dt = self.air_dt = 0.0
        self.held = self.stepping = self.rode = False
        self.gone = True
