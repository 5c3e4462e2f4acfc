"""Extra: levels from Tiled, from LDtk, or from a grid of a game's own; see `docs/levels.md`."""

from ecs_collide.levels.grids import from_grid

__all__ = ["from_grid"]
