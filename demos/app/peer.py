"""A scene of bouncing boxes in pymunk, to show its time beside that of ecs_collide."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from math import inf
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from demos.app.scene import DT


class Peer:
    """The same boxes in pymunk.  Nothing is drawn of them.

    Parameters
    ----------
    pymunk : module
    places, halves, speeds : float64 (n, 2)
        Centres, half sizes and velocities of the boxes.
    walls : float64 (m, 4)
        Left, bottom, right, top.

    Attributes
    ----------
    ms : float
        The mean time of the last steps, in milliseconds.
    """

    def __init__(
        self,
        pymunk: Any,
        places: NDArray[Any],
        halves: NDArray[Any],
        speeds: NDArray[Any],
        walls: NDArray[Any],
    ) -> None:
        self.space = pymunk.Space()
        self.ms = 0.0
        self._n_steps = 0
        for left, bottom, right, top in walls.tolist():
            corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
            wall = pymunk.Poly(self.space.static_body, corners)
            wall.elasticity = 1.0
            self.space.add(wall)
        for place, (x, y), speed in zip(
            places.tolist(), halves.tolist(), speeds.tolist(), strict=True
        ):
            body = pymunk.Body(1.0, inf)  # it never turns
            body.position, body.velocity = place, speed
            shape = pymunk.Poly.create_box(body, (2 * x, 2 * y))
            shape.elasticity = 1.0
            self.space.add(body, shape)

    @classmethod
    def of(cls, *boxes: NDArray[Any]) -> Peer | None:
        """Return the peer of a scene; None where pymunk is not installed."""
        try:
            return cls(import_module("pymunk"), *boxes)
        except ImportError:
            return None

    def step(self) -> None:
        """Take a step, and its time."""
        start = perf_counter()
        self.space.step(DT)
        self._n_steps += 1
        self.ms += (1000 * (perf_counter() - start) - self.ms) / min(self._n_steps, 10)

    def remember(self) -> Callable[[], None]:
        """Return a function that does nothing: a replay does not go back here."""
        return _nothing


def _nothing() -> None:
    pass
