"""Ladders and ropes: a character holds on to them, moves with them, and goes up and down."""

from __future__ import annotations

from ecs_collide.character.character import Ladder
from ecs_collide.character.figure import Figure
from ecs_collide.space import last_bounds


def climbs(figure: Figure) -> bool:
    """Return whether the character holds on to a ladder, from now on or still."""
    wants, memory, space = figure.wants, figure.memory, figure.space
    if not memory.climbing and (wants.climb == 0.0 or figure.character.jumping):
        return False
    held, memory.climbing = memory.climbing, False
    found = space.contacts(figure.entity, filter=Ladder) if figure.is_known else []
    if not found:
        if held:  # at its upper end, or beside it
            figure.own[figure.up] = 0.0
    elif wants.climb > 0.0 and not held:  # not where only its feet are still on it
        side = 1 if figure.sign > 0 else 0
        tops = [last_bounds(space, each.other(figure.entity))[side][figure.up] for each in found]
        middle = figure.sign * figure.centre[figure.up]
        memory.climbing = any(figure.sign * top > middle for top in tops)
    elif not figure.touches or wants.climb > 0.0:
        memory.climbing = True
    elif wants.climb < 0.0:  # down through a platform, or to stand on the ground
        memory.climbing = bool(space.drop_through(figure.entity))
    if memory.climbing:
        figure.ladder = found[0].other(figure.entity)
    return memory.climbing


def climb(figure: Figure) -> None:
    """Go up or down, or hold on."""
    c, memory = figure.character, figure.memory
    if not figure.rides:
        figure.follow(figure.ladder)
    part = min(max(figure.wants.climb, -1.0), 1.0)
    figure.own[figure.up] = figure.sign * part * c.climb_speed
    c.air_time, c.jumping = 0.0, False
    memory.gone, memory.n_air_jumps, memory.hovered, memory.air_dt = True, 0.0, 0.0, 0.0
