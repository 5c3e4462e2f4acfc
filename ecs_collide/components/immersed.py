"""The component by which zones act on a body; the library adds it."""

from __future__ import annotations

from ecs_collide.components.base import Component


class Immersed(Component):
    """The sum of the zones around a body, written before each step.

    A game never adds it.  The step does by it what it does by `GravityScale`, `Acceleration` and
    `Damping`.

    Attributes
    ----------
    x, y, z : float
        An acceleration, in world units per second squared.
    gravity : float
        A factor of the gravity of the body.
    drag : float
        A damping, in 1 / second.
    """

    __slots__ = ("drag", "gravity", "x", "y", "z")
    __match_args__ = ("x", "y", "z", "gravity", "drag")

    def __init__(self, x: float, y: float, z: float, gravity: float, drag: float) -> None:
        self.x, self.y, self.z, self.gravity, self.drag = x, y, z, gravity, drag
