"""Ladders and ropes: a character holds on to them, moves with them, and goes up and down."""

from __future__ import annotations

import esper

import ecs_collide as ec
from ecs_collide.character.character import Ladder
from ecs_collide.character.figure import Figure, added
from ecs_collide.space import last_bounds

HOLD = 2.0**-38  # relative to a length: how far it stays below the end, more than a slop


def climbs(figure: Figure) -> bool:
    """Return whether the character holds on to a ladder, from now on or still."""
    wants, memory, space = figure.wants, figure.memory, figure.space
    if not memory.climbing and (wants.climb == 0.0 or figure.character.jumping):
        return False
    held, memory.climbing = memory.climbing, False
    contacts = space.contacts(figure.entity, filter=Ladder) if figure.is_known else []
    found = [each.other(figure.entity) for each in contacts]
    if wants.climb < 0.0 and figure.touches:  # down through a platform, or to stand on the ground
        found = found or _find_below(figure)
        memory.climbing = _leads_through(figure, found) and space.drop_through(figure.entity)
    elif not found:
        if held:  # at its upper end, or beside it
            figure.own[figure.up] = 0.0
    elif wants.climb > 0.0 and not held:  # not where only its feet are still on it
        side = 1 if figure.sign > 0 else 0
        tops = [last_bounds(space, ladder)[side][figure.up] for ladder in found]
        middle = figure.sign * figure.centre[figure.up]
        memory.climbing = any(figure.sign * top > middle for top in tops)
    elif not figure.touches or wants.climb > 0.0:
        memory.climbing = True
    if memory.climbing:
        figure.ladders = found
    return memory.climbing


def _find_below(figure: Figure) -> list[int]:
    """Return the ladders whose upper ends its feet touch."""
    rounding = figure.find_rounding()
    low, high = list(figure.centre), list(figure.centre)
    for k in figure.level:
        low[k] -= figure.half[k] - rounding
        high[k] += figure.half[k] - rounding
    feet = figure.centre[figure.up] - figure.sign * figure.half[figure.up]
    low[figure.up], high[figure.up] = feet - rounding, feet + rounding
    return figure.space.query(low, high, exclude=figure.entity, filter=Ladder)


def _leads_through(figure: Figure, ladders: list[int]) -> bool:
    """Return whether one of some ladders goes on below the platforms on which it stands."""
    side, up, sign = 0 if figure.sign > 0 else 1, figure.up, figure.sign
    ends = [last_bounds(figure.space, ladder)[side][up] * sign for ladder in ladders]
    return all(
        esper.has_component(ground, ec.OneWay)
        and any(end < last_bounds(figure.space, ground)[side][up] * sign for end in ends)
        for ground in figure.grounds
    )


def climb(figure: Figure) -> None:
    """Go up or down, or hold on."""
    c, memory = figure.character, figure.memory
    if not figure.rides:
        figure.follow(figure.ladders[0])
    part = min(max(figure.wants.climb, -1.0), 1.0)
    speed = part * c.climb_speed
    if part > 0.0:
        speed = _to_end(figure, speed)
    figure.own[figure.up] = figure.sign * speed
    c.air_time, c.jumping = 0.0, False
    memory.gone, memory.n_air_jumps, memory.hovered, memory.air_dt = True, 0.0, 0.0, 0.0


def _to_end(figure: Figure, speed: float) -> float:
    """Return how fast it climbs up: to the end of the ladder, or past it to stand on a floor."""
    top = max(figure.height_above_feet(ladder) for ladder in figure.ladders)
    hold = HOLD * (abs(figure.centre[figure.up]) + figure.half[figure.up])  # it keeps the contact
    left = max(0.0, top - hold)
    if speed * figure.dt <= left:
        return speed
    above = added(figure.centre, figure.upwards(max(0.0, top)))
    floor = figure.cast(above, figure.upwards(-2.0 * figure.half[figure.up]))
    return left / figure.dt if floor is None else speed
