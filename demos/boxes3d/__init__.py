"""Boxes in 3D: the room, and the eye that sees it."""
