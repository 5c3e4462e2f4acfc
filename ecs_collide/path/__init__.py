"""Paths for lifts, patrols and saws: ``from ecs_collide.path import Path, install_paths``."""

from ecs_collide.path.path import Path
from ecs_collide.path.system import PathSystem, install_paths

__all__ = ["Path", "PathSystem", "install_paths"]
