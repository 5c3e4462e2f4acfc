"""The bouncing boxes in pymunk, to show its time beside that of ecs_collide."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from math import inf
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from demos.app.scene import DT


class Peer:
    """The same boxes in pymunk, for its time; nothing is drawn of them.

    Attributes
    ----------
    ms : float
        The mean time of the last steps, in milliseconds.
    """

    def __init__(
        self,
        places: NDArray[Any],
        halves: NDArray[Any],
        speeds: NDArray[Any],
        walls: NDArray[Any],
    ) -> None:
        pymunk: Any = import_module("pymunk")
        self.space = pymunk.Space()
        self.ms = 0.0
        self._n_steps = 0
        for left, bottom, right, top in walls.tolist():
            corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
            wall = pymunk.Poly(self.space.static_body, corners)
            wall.elasticity = 1.0
            self.space.add(wall)
        rows = (each.tolist() for each in (places, halves, speeds))
        for place, (x, y), speed in zip(*rows, strict=True):
            body = pymunk.Body(1.0, inf)  # it never turns
            body.position, body.velocity = place, speed
            shape = pymunk.Poly.create_box(body, (2 * x, 2 * y))
            shape.elasticity = 1.0
            self.space.add(body, shape)

    def step(self) -> None:
        """Take a step, and its time."""
        start = perf_counter()
        self.space.step(DT)
        self._n_steps += 1
        self.ms += (1000 * (perf_counter() - start) - self.ms) / min(self._n_steps, 10)

    def remember(self) -> Callable[[], None]:
        """Return a function that does nothing: its time may go on when the scene goes back."""
        return _nothing


def _nothing() -> None:
    pass
