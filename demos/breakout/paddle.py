"""Move paddles: bodies with Velocity and no response, along one axis between two ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import esper

import ecs_collide as ec

FAR = 1e6  # a place that is never reached: where a pressed key wants to go


class Steer(esper.Processor):
    """The system that sets the paddles' speeds for the coming step.

    Parameters
    ----------
    paddles : sequence of int
        The entities.
    axis : str
        "x" or "y".
    speed : float
        The largest speed, in world units per second.
    ends : tuple of 2 floats
        The range of their middles.
    wanted : callable
        Takes the number of a paddle and its place; returns its target.
    """

    def __init__(
        self,
        paddles: Sequence[int],
        axis: str,
        speed: float,
        ends: tuple[float, float],
        wanted: Callable[[int, float], float],
    ) -> None:
        self.paddles = paddles
        self.axis = axis
        self.speed = speed
        self.ends = ends
        self.wanted = wanted

    def process(self, dt: float) -> None:
        """Set the speeds; a step never moves a paddle beyond its ends."""
        for number, paddle in enumerate(self.paddles):
            place = getattr(esper.component_for_entity(paddle, ec.Position), self.axis)
            way = self.speed * dt
            goal = min(max(self.wanted(number, place), place - way), place + way)
            goal = min(max(goal, self.ends[0]), self.ends[1])
            velocity = esper.component_for_entity(paddle, ec.Velocity)
            setattr(velocity, self.axis, (goal - place) / dt)
