"""Water, wind and low gravity: `Zone`."""

from ecs_collide.zone.system import ZoneSteering
from ecs_collide.zone.zone import Zone

__all__ = ["Zone", "ZoneSteering"]
