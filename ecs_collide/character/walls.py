"""Walls: a character slides down a wall, jumps off it, hangs on its edge and pulls itself up.

It hangs on the edge of a wall that it touches and presses against, if the edge is near its head,
or its head falls past it in this step.  Its head is at the height of the edge then, exactly.  It
moves with the body on which it hangs.
"""

from __future__ import annotations

from math import inf

import esper

from ecs_collide.character.figure import Figure
from ecs_collide.character.memory import NOTHING, Vector3

HAND = 0.25  # relative to its least half size: how much room above an edge its hand needs


def presses(figure: Figure, normal: Vector3) -> bool:
    """Return whether the character wants to go towards a wall with this normal."""
    return any(part * normal[k] < 0.0 for part, k in zip(figure.wish, figure.level, strict=True))


def rise(figure: Figure) -> float:
    """Return how fast the walls rise that it touches and wants to go towards; -inf without any."""
    return max(
        (figure.rise_of(wall, normal) for normal, wall in figure.walls if presses(figure, normal)),
        default=-inf,
    )


def jump_off(figure: Figure) -> None:
    """Give it the speed away from the wall that it has touched."""
    c, memory = figure.character, figure.memory
    wall, first = memory.wall, figure.level[0]
    for k in figure.level:
        if wall[k] != 0.0:
            figure.own[k] = wall[k] * c.wall_jump_speed
    if wall[first] != 0.0:
        c.facing = wall[first]
    memory.since_wall = inf
    memory.locked = c.wall_jump_lock


# -- ledges --


def hangs(figure: Figure) -> bool:
    """Return whether it hangs on an edge, from now on or still, or pulls itself up."""
    memory = figure.memory
    if memory.ledge == NOTHING:
        memory.ledge = _find_ledge(figure)
        memory.pull = 0.0
        if memory.ledge == NOTHING:
            return False
        figure.character.jumping = memory.climbing = False
    elif not _holds(figure):
        figure.let_go()
        figure.own[figure.up] = 0.0  # it stays where it is, then falls
        return False
    elif memory.pull == 0.0 and figure.wants.climb > 0.0 and _has_room(figure):
        _, k = _way_in(figure)
        memory.pull = figure.half[k]
    return True


def hang(figure: Figure) -> None:
    """Keep its head at the height of the edge, or pull itself up and over it."""
    c, memory, own = figure.character, figure.memory, figure.own
    figure.follow(memory.ledge)
    own[:] = [0.0] * figure.dim
    rise = figure.height_above_feet(memory.ledge)
    if memory.pull == 0.0:
        own[figure.up] = figure.sign * (rise - 2.0 * figure.half[figure.up]) / figure.dt
    else:
        sign, k = _way_in(figure)
        speed = (2.0 * figure.half[figure.up] + figure.half[k]) / c.ledge_time
        if rise > 0.0:
            own[figure.up] = figure.sign * min(speed, rise / figure.dt)
        else:
            part = min(speed, memory.pull / figure.dt)
            own[k] = sign * part
            memory.pull -= part * figure.dt
            if not memory.pull > figure.late:  # this step ends on top
                memory.ledge, memory.pull, memory.gone = NOTHING, 0.0, True
    c.air_time, c.jumping = 0.0, False
    memory.gone, memory.n_air_jumps, memory.hovered, memory.air_dt = True, 0.0, 0.0, 0.0


def _find_ledge(figure: Figure) -> int:
    """Return the body on whose edge it starts to hang, or NOTHING."""
    c, memory, wants = figure.character, figure.memory, figure.wants
    rises = figure.own[figure.up] * figure.sign
    if rises > 0.0 or wants.drop or wants.climb < 0.0 or figure.touches or figure.was_on:
        return NOTHING
    if memory.since_ledge < c.ledge_pause - figure.late:
        return NOTHING
    falls = (figure.gravity * figure.dt - rises) * figure.dt
    head = 2.0 * figure.half[figure.up]
    for normal, wall in figure.walls:
        if presses(figure, normal) and esper.entity_exists(wall):
            above = figure.height_above_feet(wall) - head
            if -max(c.ledge_reach, falls) <= above <= c.ledge_reach:
                memory.wall = normal
                if not figure.gives_way(wall) and _is_edge(figure, wall):
                    return wall
    return NOTHING


def _is_edge(figure: Figure, wall: int) -> bool:
    """Return whether there is room for a hand above the upper edge of a wall."""
    sign, k = _way_in(figure)
    size = HAND * min(figure.half)
    hand = list(figure.centre)
    hand[k] += sign * (figure.half[k] - size)
    rise = figure.height_above_feet(wall) - figure.half[figure.up] + size
    hand[figure.up] += figure.sign * rise
    move = [0.0] * figure.dim
    move[k] = sign * 2.0 * size
    half = tuple(size for _ in figure.half)
    return figure.is_free(tuple(hand), tuple(move), half)


def _holds(figure: Figure) -> bool:
    """Return whether it still hangs: the edge is there, and nothing keeps it off."""
    c, memory, wants, space = figure.character, figure.memory, figure.wants, figure.space
    ledge = memory.ledge
    if not esper.entity_exists(ledge) or ledge not in space:
        return False
    if not any(memory.wall[k] for k in figure.level):  # the game has changed `Character.up`
        return False
    touches = ledge in figure.floors or any(wall == ledge for _, wall in figure.walls)
    rise = figure.height_above_feet(ledge)
    rounding = figure.find_rounding()
    if memory.pull > 0.0:  # what is in its way for so long will stay there
        _, k = _way_in(figure)  # it touches nothing while its feet pass the edge
        touches |= abs(rise) <= rounding and memory.pull == figure.half[k]
        return touches and c.state_time <= 2.0 * c.ledge_time + figure.late
    if wants.drop or wants.climb < 0.0:
        return False
    away = abs(rise - 2.0 * figure.half[figure.up])
    return touches and away <= c.ledge_reach + rounding


def _has_room(figure: Figure) -> bool:
    """Return whether it can stand on top."""
    sign, k = _way_in(figure)
    up, over = [0.0] * figure.dim, [0.0] * figure.dim
    up[figure.up] = figure.sign * figure.height_above_feet(figure.memory.ledge)
    over[k] = sign * figure.half[k]
    top = tuple(a + b for a, b in zip(figure.centre, up, strict=True))
    return figure.is_free(figure.centre, tuple(up)) and figure.is_free(top, tuple(over))


def _way_in(figure: Figure) -> tuple[float, int]:
    """Return the direction towards the wall on which it hangs: sign and axis."""
    wall = figure.memory.wall
    k = next(k for k in figure.level if wall[k] != 0.0)
    return -wall[k], k
