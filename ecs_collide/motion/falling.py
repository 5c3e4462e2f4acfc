"""Gravity as a setting of a space: what is accepted, and which way is up against it."""

from __future__ import annotations

from ecs_collide.constants import MOST_PULL
from ecs_collide.events import Vector, VectorLike


def checked_gravity(gravity: VectorLike | None, dim: int) -> Vector:
    """Return an acceleration as a tuple, zeros for None, or say what is wrong with it.

    Raises
    ------
    ValueError
        It is not as many finite numbers as there are axes.
    """
    if gravity is None:
        return (0.0,) * dim
    try:
        vector = tuple(float(part) + 0.0 for part in gravity)  # never -0.0
        if isinstance(gravity, str) or len(vector) != dim:
            raise ValueError
        if not all(abs(part) <= MOST_PULL for part in vector):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"Space(gravity={gravity!r}) must be {dim} numbers within -2**100 ... 2**100, "
            "in world units per second squared"
        ) from None
    return vector


def up_against(gravity: Vector) -> Vector:
    """Return the unit vector opposite to a gravity along an axis, (0, 1) for any other."""
    up = tuple(-1.0 if part > 0.0 else 1.0 if part < 0.0 else 0.0 for part in gravity)
    return up if sum(map(abs, up)) == 1.0 else (0.0, 1.0, 0.0)[: len(gravity)]
