"""The steering of bodies along their paths."""

from __future__ import annotations

import ecs_collide as ec
from ecs_collide._kernel import backend
from ecs_collide.extend import Holders, Steering, add_steering
from ecs_collide.path.path import FIELDS, Path


@add_steering
class PathSteering(Steering):
    """Set the velocities of all bodies with a `Path`.

    A body that is elsewhere, because it was held up or is new there, first goes to its path,
    straight and at the path's speed.  Zones and characters, which run after it, see its velocity.
    """

    kinds = (Path,)
    needs = (ec.Position, ec.Velocity)
    rank = 0
    reads = ("position", "velocity")

    def __init__(self, space: ec.Space) -> None:
        super().__init__(space)
        self.led = Holders(space.world, (Path, ec.Position, ec.Velocity), ec.Disabled)

    def steer(self, dt: float) -> None:
        """Set the velocities that lead each body along its path in the step that follows.

        The step skips and reports a body whose path has a `speed` or a `pause` that is no finite
        number, 0 or more.
        """
        wrong = backend.kernels.courses.lead_all(
            self.led.find(), FIELDS.find_wrong, self.space.dim, self.space.wrap or (), dt
        )
        if wrong or self.has_refused:
            self.refuse(wrong)
