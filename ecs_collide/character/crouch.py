"""Crouching: a character makes its box lower, and stands up again where there is room."""

from __future__ import annotations

from ecs_collide.character.changes import note_changes
from ecs_collide.character.figure import Figure


def crouch_or_stand(figure: Figure) -> None:
    """Change its height by its wish; its feet stay where they are."""
    c, memory = figure.character, figure.memory
    height = 2.0 * figure.half[figure.up]
    if memory.standing_height == 0.0:
        on_ground = figure.touches or figure.was_on
        if figure.wants.crouch and on_ground and 0.0 < c.crouch_height < height:
            _resize(figure, c.crouch_height)
            memory.standing_height = height
            note_changes(figure)
    elif not figure.wants.crouch:
        room = [0.0] * figure.dim
        room[figure.up] = figure.sign * (memory.standing_height - height)
        if figure.is_free(figure.centre, tuple(room)):
            _resize(figure, memory.standing_height)
            memory.standing_height = 0.0
            note_changes(figure)


def _resize(figure: Figure, height: float) -> None:
    """Give its box another height, and read it again."""
    ups = figure.space.up
    if not ups[figure.up]:
        raise ValueError(
            f"entity {figure.entity}: Character.up is {figure.character.up}, and a character can "
            f"crouch along the axis of Space.up only, which is {ups}: set install(up=...)"
        )
    is_usual = ups[figure.up] * figure.sign > 0.0
    figure.space.resize(figure.entity, height=height, keep="feet" if is_usual else "head")
    figure.read_box()
