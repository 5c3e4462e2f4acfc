"""Water, wind and low gravity: ``from ecs_collide.zone import Zone, install_zones``."""

from ecs_collide.zone.system import ZoneSystem, install_zones
from ecs_collide.zone.zone import Medium, Zone, medium_of

__all__ = ["Medium", "Zone", "ZoneSystem", "install_zones", "medium_of"]
