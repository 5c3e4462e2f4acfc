"""Crouching: a character makes its box lower, and stands up again where there is room."""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from typing import Any

from ecs_collide._kernel import cython
from ecs_collide.character.figure import Figure


def crouch_or_stand(figure: Figure) -> cython.void:
    """Change its height by its wish; its feet stay where they are."""
    c: Any = figure.character
    memory: Any = figure.memory
    height: cython.double = 2.0 * figure.half[figure.up]
    if memory.standing_height == 0.0:
        on_ground: cython.bint = figure.touches or figure.was_on
        if figure.wants.crouch and on_ground and 0.0 < c.crouch_height < height:
            _resize(figure, c.crouch_height)
            memory.standing_height = height
            figure.note_changes()
    elif not figure.wants.crouch:
        room: tuple = figure.upwards(memory.standing_height - height)
        if figure.is_free(figure.centre, room, figure.half):
            _resize(figure, memory.standing_height)
            memory.standing_height = 0.0
            figure.note_changes()


def _resize(figure: Figure, height: cython.double) -> cython.void:
    """Give its box another height, and read it again."""
    ups: tuple = figure.space.up
    if ups[figure.up] == 0.0:
        raise ValueError(
            f"entity {figure.entity}: Character.up is {figure.character.up}, and a character can "
            f"crouch along the axis of Space.up only, which is {ups}: set install(up=...)"
        )
    is_usual: cython.bint = ups[figure.up] * figure.sign > 0.0
    figure.space.resize(figure.entity, height=height, keep="feet" if is_usual else "head")
    figure.read_box()
