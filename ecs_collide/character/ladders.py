"""Ladders and ropes: a character holds on to them, moves with them, and goes up and down."""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from typing import Any

from ecs_collide._kernel import cython
from ecs_collide.character.figure import Figure, added
from ecs_collide.components.surfaces import OneWay

HOLD = 2.0**-38  # relative to a length: how far it stays below the end, more than a slop


def climbs(figure: Figure) -> cython.bint:
    """Return whether the character holds on to a ladder, from now on or still."""
    wants: Any = figure.wants
    memory: Any = figure.memory
    held: cython.bint = memory.climbing
    found: list = []
    if not held and (wants.climb == 0.0 or figure.character.jumping):
        return False
    memory.climbing = False
    if figure.is_known:
        for contact in figure.space.contacts(figure.entity, filter=figure.extras.ladder):
            found.append(contact.other(figure.entity))
    if wants.climb < 0.0 and figure.touches:  # down through a platform, or to stand on the ground
        found = found or _find_below(figure)
        memory.climbing = _leads_through(figure, found) and figure.space.drop_through(figure.entity)
    elif not found:
        if held:  # at its upper end, or beside it
            figure.own[figure.up] = 0.0
    elif wants.climb > 0.0 and not held:  # not where only its feet are still on it
        middle: cython.double = figure.sign * figure.centre[figure.up]
        for ladder in found:
            top: cython.double = figure.around.face_of(ladder, figure.up, figure.sign)
            if figure.sign * top > middle:
                memory.climbing = True
    elif not figure.touches or wants.climb > 0.0:
        memory.climbing = True
    if memory.climbing:
        figure.ladders = found
    return memory.climbing


@cython.cfunc
def _find_below(figure: Figure) -> list:
    """Return the ladders whose upper ends its feet touch."""
    rounding: cython.double = figure.find_rounding()
    low: list = list(figure.centre)
    high: list = list(figure.centre)
    for k in range(figure.dim):
        low[k] -= figure.half[k] - rounding
        high[k] += figure.half[k] - rounding
    feet: cython.double = figure.centre[figure.up] - figure.sign * figure.half[figure.up]
    low[figure.up], high[figure.up] = feet - rounding, feet + rounding
    return figure.space.query(low, high, exclude=figure.entity, filter=figure.extras.ladder)


def _leads_through(figure: Figure, ladders: list) -> cython.bint:
    """Return whether one of some ladders goes on below the platforms on which it stands."""
    for ground in figure.grounds:
        if not figure.around.has(ground, OneWay):
            return False
        goes_on: cython.bint = False
        end: cython.double = figure.around.face_of(ground, figure.up, -figure.sign)
        for ladder in ladders:
            lower: cython.double = figure.around.face_of(ladder, figure.up, -figure.sign)
            goes_on |= lower * figure.sign < end * figure.sign
        if not goes_on:
            return False
    return True


def climb(figure: Figure) -> cython.void:
    """Go up or down, or hold on."""
    c: Any = figure.character
    memory: Any = figure.memory
    if not figure.rides:
        figure.follow(figure.ladders[0])
    part: cython.double = min(max(figure.wants.climb, -1.0), 1.0)
    speed: cython.double = part * c.climb_speed
    if part > 0.0:
        speed = _to_end(figure, speed)
    figure.own[figure.up] = figure.sign * speed
    c.air_time, c.jumping = 0.0, False
    memory.gone, memory.n_air_jumps, memory.hovered, memory.air_dt = True, 0.0, 0.0, 0.0


def _to_end(figure: Figure, speed: cython.double) -> cython.double:
    """Return how fast it climbs up: to the end of the ladder, or past it to stand on a floor."""
    up: cython.int = figure.up
    top: cython.double = figure.height_above_feet(figure.ladders[0])
    for ladder in figure.ladders:
        top = max(top, figure.height_above_feet(ladder))
    # It keeps the contact.
    hold: cython.double = HOLD * (abs(figure.centre[up]) + figure.half[up])
    left: cython.double = max(0.0, top - hold)
    if speed * figure.dt <= left:
        return speed
    above: tuple = added(figure.centre, figure.upwards(max(0.0, top)))
    floor = figure.cast(above, figure.upwards(-2.0 * figure.half[up]))
    return left / figure.dt if floor is None else speed
