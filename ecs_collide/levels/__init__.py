"""Levels of Tiled and LDtk: `from ecs_collide.levels import tiled, ldtk`."""
