"""The overlay of boxes, contacts and numbers: ``from ecs_collide.debug import DebugDraw``."""

from ecs_collide.debug.overlay import COLOURS, KEYS, DebugDraw, Show
from ecs_collide.debug.shapes import Camera, Canvas, Shapes

__all__ = ["COLOURS", "KEYS", "Camera", "Canvas", "DebugDraw", "Shapes", "Show"]
