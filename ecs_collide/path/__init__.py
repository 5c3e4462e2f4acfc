"""Paths for lifts, patrols and saws: `Path`."""

from ecs_collide.path.path import Path
from ecs_collide.path.system import PathSteering

__all__ = ["Path", "PathSteering"]
