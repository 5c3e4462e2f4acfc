"""Walls: a character slides down a wall, jumps off it, hangs on its edge and pulls itself up.

It hangs on the edge of a wall that it touches and presses against, if the edge is near its head,
or its head falls past it in this step.  Its head is at the height of the edge then, exactly.  It
moves with the body on which it hangs.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from typing import Any

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import INF
from ecs_collide.character.figure import Figure, added
from ecs_collide.character.memory import NOTHING

HAND = 0.25  # relative to its least half size: how much room above an edge its hand needs


def presses(figure: Figure, normal: tuple) -> cython.bint:
    """Return whether the character wants to go towards a wall with this normal."""
    for k in range(figure.dim):  # noqa: SIM110  (a C function has no generators)
        if figure.wish[k] * normal[k] < 0.0:
            return True
    return False


def rise_of_walls(figure: Figure) -> cython.double:
    """Return how fast the walls rise that it touches and wants to go towards; -inf without any."""
    rise: cython.double = -INF
    for normal, wall in figure.walls:
        if presses(figure, normal):
            rise = max(rise, figure.rise_of(wall, normal))
    return rise


def jump_off(figure: Figure) -> cython.void:
    """Give it the speed away from the wall that it has touched."""
    c: Any = figure.character
    memory: Any = figure.memory
    wall: tuple = memory.wall
    first: cython.int = 1 if figure.up == 0 else 0
    for k in range(figure.dim):
        if k != figure.up and wall[k] != 0.0:
            figure.own[k] = wall[k] * c.wall_jump_speed
    if wall[first] != 0.0:
        c.facing = wall[first]
    memory.since_wall = INF
    memory.locked = c.wall_jump_lock


# -- ledges --


def hangs(figure: Figure) -> cython.bint:
    """Return whether it hangs on an edge, from now on or still, or pulls itself up."""
    memory: Any = figure.memory
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
        memory.pull = figure.half[_axis_in(figure)]
    return True


def hang(figure: Figure) -> cython.void:
    """Keep its head at the height of the edge, or pull itself up and over it."""
    c: Any = figure.character
    memory: Any = figure.memory
    up: cython.int = figure.up
    head: cython.double = 2.0 * figure.half[up]

    figure.follow(memory.ledge)
    for k in range(figure.dim):
        figure.own[k] = 0.0
    rise: cython.double = figure.height_above_feet(memory.ledge)
    if memory.pull == 0.0:
        figure.own[up] = figure.sign * (rise - head) / figure.dt
    else:
        axis: cython.int = _axis_in(figure)
        speed: cython.double = (head + figure.half[axis]) / c.ledge_time
        if rise > 0.0:
            figure.own[up] = figure.sign * min(speed, rise / figure.dt)
        else:
            part: cython.double = min(speed, memory.pull / figure.dt)
            figure.own[axis] = -memory.wall[axis] * part
            memory.pull -= part * figure.dt
            if not memory.pull > figure.late:  # this step ends on top
                memory.ledge, memory.pull, memory.gone = NOTHING, 0.0, True
    c.air_time, c.jumping = 0.0, False
    memory.gone, memory.n_air_jumps, memory.hovered, memory.air_dt = True, 0.0, 0.0, 0.0


@cython.cfunc
def _find_ledge(figure: Figure) -> object:
    """Return the body on whose edge it starts to hang, or NOTHING."""
    c: Any = figure.character
    memory: Any = figure.memory
    wants: Any = figure.wants
    rises: cython.double = figure.own[figure.up] * figure.sign
    if rises > 0.0 or wants.drop or wants.climb < 0.0 or figure.touches or figure.was_on:
        return NOTHING
    if memory.since_ledge < c.ledge_pause - figure.late:
        return NOTHING
    falls: cython.double = (figure.gravity * figure.dt - rises) * figure.dt
    head: cython.double = 2.0 * figure.half[figure.up]
    reach: cython.double = c.ledge_reach
    for normal, wall in figure.walls:
        if presses(figure, normal) and figure.around.components_of(wall) is not None:
            above: cython.double = figure.height_above_feet(wall) - head
            if -max(reach, falls) <= above <= reach:
                memory.wall = normal
                if not figure.around.gives_way(wall) and _is_edge(figure, wall):
                    return wall
    return NOTHING


def _is_edge(figure: Figure, wall) -> cython.bint:
    """Return whether there is room for a hand above the upper edge of a wall."""
    k: cython.int = _axis_in(figure)
    up: cython.int = figure.up
    sign: cython.double = -figure.memory.wall[k]
    size: cython.double = HAND * min(figure.half)
    hand: list = list(figure.centre)
    hand[k] += sign * (figure.half[k] - size)
    rise: cython.double = figure.height_above_feet(wall) - figure.half[up] + size
    hand[up] += figure.sign * rise
    move: list = [0.0] * figure.dim
    move[k] = sign * 2.0 * size
    return figure.is_free(tuple(hand), tuple(move), (size,) * figure.dim)


def _holds(figure: Figure) -> cython.bint:
    """Return whether it still hangs: the edge is there, and nothing keeps it off."""
    c: Any = figure.character
    memory: Any = figure.memory
    wants: Any = figure.wants
    ledge = memory.ledge
    if figure.around.components_of(ledge) is None or figure.around.row_of.row(ledge) < 0:
        return False
    if _axis_in(figure) < 0:  # the game has changed `Character.up`
        return False
    touches: cython.bint = ledge in figure.floors
    for _, wall in figure.walls:
        touches |= wall == ledge
    rise: cython.double = figure.height_above_feet(ledge)
    rounding: cython.double = figure.find_rounding()
    if memory.pull > 0.0:  # what is in its way for so long will stay there
        # It touches nothing while its feet pass the edge.
        touches |= abs(rise) <= rounding and memory.pull == figure.half[_axis_in(figure)]
        return touches and c.state_time <= 2.0 * c.ledge_time + figure.late
    if wants.drop or wants.climb < 0.0:
        return False
    away: cython.double = abs(rise - 2.0 * figure.half[figure.up])
    return touches and away <= c.ledge_reach + rounding


def _has_room(figure: Figure) -> cython.bint:
    """Return whether it can stand on top."""
    k: cython.int = _axis_in(figure)
    up: tuple = figure.upwards(figure.height_above_feet(figure.memory.ledge))
    over: list = [0.0] * figure.dim
    over[k] = -figure.memory.wall[k] * figure.half[k]
    return figure.is_free(figure.centre, up, figure.half) and figure.is_free(
        added(figure.centre, up), tuple(over), figure.half
    )


def _axis_in(figure: Figure) -> cython.int:
    """Return the axis of the normal of the wall on which it hangs, -1 if that is not level."""
    for k in range(figure.dim):
        if k != figure.up and figure.memory.wall[k] != 0.0:
            return k
    return -1
