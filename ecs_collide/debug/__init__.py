"""The overlay for pyglet games: ``from ecs_collide.debug import DebugDraw``."""

from ecs_collide.debug.overlay import COLOURS, KEYS, DebugDraw, Show

__all__ = ["COLOURS", "KEYS", "DebugDraw", "Show"]
