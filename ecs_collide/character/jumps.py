"""Jumps: a character leaves the ground, rises, falls, swims, and slips past corners.

A corner is passed as a step is, with up and aside exchanged: the character looks ahead two steps,
and goes aside in this one by exactly the missing distance.  Seen from above it is a corner of a
wall, and the character goes aside as fast as it walks.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from typing import Any

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import INF, LENGTH_ROUNDING, SAME, STEPS_AHEAD
from ecs_collide.character.figure import Figure, added, axis_vector, times
from ecs_collide.character.surroundings import Hit
from ecs_collide.character.walls import rise_of_walls

TRIES = 32  # the most bodies on a way past a corner
AT_SURFACE = 0.5  # of its box: with less in the water, it jumps instead of swimming


def jump(figure: Figure) -> cython.void:
    """Leave the ground, or whatever it holds on to, with the speed of a jump."""
    c: Any = figure.character
    memory: Any = figure.memory
    figure.own[figure.up] = figure.sign * (c.jump_speed - figure.gravity * figure.dt / 2.0)
    figure.leave_frame()
    figure.jumps = True
    c.jumping = memory.gone = True
    memory.stepping = False
    memory.since_press = INF
    memory.air_dt = figure.dt


def fall(figure: Figure) -> cython.void:
    """Apply gravity; the speed is taken in the middle of the step, so that paths are exact."""
    c: Any = figure.character
    memory: Any = figure.memory
    gravity: cython.double = figure.gravity
    air_dt: cython.double = memory.air_dt
    figure.leave_frame()
    # The speed at the start of the step.
    rises: cython.double = figure.own[figure.up] * figure.sign - gravity * air_dt / 2.0
    if c.jumping:
        c.jumping = rises > 0.0
        if c.jumping and not c.jump:
            c.jumping = False
            rises = min(rises, c.jump_cut * c.jump_speed)
    slowest: cython.double = c.fall_speed
    wall_speed: cython.double = c.wall_slide_speed
    if wall_speed < INF:
        slowest = min(slowest, wall_speed - rise_of_walls(figure))
    rises -= gravity * figure.dt / 2.0
    if figure.is_in_zone:  # stable for any `dt`
        slowing: cython.double = figure.dt * figure.drag
        rises = figure.sign * rises + slowing * figure.flow[figure.up]
        rises = figure.sign * (rises / (1.0 + slowing))
    if figure.wants.hover and c.hover_speed < slowest and rises < 0.0:
        figure.hovers = memory.hovered < c.hover_time - figure.late
        if figure.hovers:
            slowest = c.hover_speed
            memory.hovered += figure.dt
    figure.own[figure.up] = figure.sign * max(rises, -slowest)
    memory.air_dt = figure.dt


def swims(figure: Figure) -> cython.bint:
    """Return whether it is in water and can swim."""
    return figure.afloat > 0.0 and figure.character.swim_speed > 0.0


def stroke(figure: Figure) -> cython.void:
    """Rise in water, or jump out of it at its surface."""
    memory: Any = figure.memory
    if figure.afloat < AT_SURFACE:
        jump(figure)
        return
    figure.leave_frame()
    speed: cython.double = figure.character.swim_speed - figure.gravity * figure.dt / 2.0
    figure.own[figure.up] = figure.sign * max(speed, figure.own[figure.up] * figure.sign)
    memory.since_press, memory.air_dt, memory.gone = INF, figure.dt, True


def slip_past_corner(figure: Figure, out: list) -> cython.void:
    """Move aside if the corner of a ceiling is in the way, and there is room beside it."""
    up: cython.int = figure.up

    if figure.character.corner == 0.0:
        return
    rise: tuple = figure.upwards(abs(figure.own[up]) * figure.dt)
    if figure.rides:
        rise = added(rise, figure.upwards(figure.frame[up] * figure.sign * figure.dt))
    move: tuple = figure.way(1.0)
    hit: Hit | None = figure.cast(figure.centre, times(added(move, rise), STEPS_AHEAD))
    if hit is None or hit.depth > 0.0 or hit.normal[up] != -figure.sign:
        return
    share: cython.double = min(hit.time * STEPS_AHEAD, 1.0)
    found = _find_way_past(figure, hit, up, times(move, share), rise)
    if found is None:
        return
    for k in range(figure.dim):
        if k != up:
            out[k] = move[k] * share / figure.dt
    axis, aside = found
    out[axis] += aside / figure.dt
    if share < 1.0:  # up to the ceiling, and the rest of the jump later
        out[up] *= share * (1.0 - LENGTH_ROUNDING)
        late: cython.double = (1.0 - share) * figure.dt
        figure.own[up] += figure.sign * figure.gravity * late / 2.0
        figure.memory.air_dt -= late


def slip_round_corner(figure: Figure, out: list) -> cython.void:
    """Move aside, as fast as it would go ahead, if the corner of a wall is in the way.

    This is for games seen from above.
    """
    if figure.character.corner == 0.0 or figure.dashes:
        return
    for ahead in range(figure.dim):
        walks: cython.bint = figure.wish[ahead] * figure.own[ahead] > 0.0
        if ahead != figure.upright and walks and _slips_round(figure, out, ahead):
            return


def _slips_round(figure: Figure, out: list, ahead: cython.int) -> cython.bint:
    """Return whether a corner is in the way on an axis; if so, move aside."""
    dt: cython.double = figure.dt
    forth: tuple = axis_vector(figure.dim, ahead, figure.own[ahead] * dt)
    beside: list = []
    for k in range(figure.dim):
        beside.append(0.0 if k == ahead else figure.own[k] * dt)
    move: tuple = tuple(beside)
    hit: Hit | None = figure.cast(figure.centre, times(added(move, forth), STEPS_AHEAD))
    if hit is None or hit.depth > 0.0 or abs(hit.normal[ahead]) != 1.0:
        return False
    if figure.around.gives_way(hit.id):  # it pushes
        return False
    share: cython.double = min(hit.time * STEPS_AHEAD, 1.0)
    found = _find_way_past(figure, hit, ahead, times(move, share), forth)
    if found is None:
        return False
    for k in range(figure.dim):
        if k != ahead and k != figure.upright:
            out[k] = move[k] * share / dt
    axis, aside = found
    most: cython.double = abs(figure.own[ahead]) * dt
    out[axis] += min(max(aside, -most), most) / dt
    if share < 1.0:
        out[ahead] *= share * (1.0 - LENGTH_ROUNDING)
    return True


@cython.cfunc
def _find_way_past(
    figure: Figure, hit: Hit, ahead: cython.int, before: tuple, forth: tuple
) -> object:
    """Return the axis and the displacement of the shortest way past a corner, or None."""
    best: cython.double = INF
    found = None
    for k in range(figure.dim):
        for n in range(2):
            direction: cython.int = -1 if n else 1
            if k != ahead and k != figure.upright and figure.wish[k] * direction >= 0.0:
                aside: cython.double = _clearance_past(figure, hit, k, direction, before, forth)
                if aside < best:
                    best, found = aside, (k, direction * aside)
    return found


def _clearance_past(
    figure: Figure, hit: Hit, k: cython.int, direction: cython.int, move: tuple, rise: tuple
) -> cython.double:
    """Return the distance aside to the end of a ceiling; inf if it is too far or not free."""
    other = hit.id
    limit: cython.double = figure.character.corner * (1.0 + SAME)
    face: cython.double = hit.centre[k] - direction * figure.half[k]
    for _ in range(TRIES):
        edge: cython.double = figure.around.face_of(other, k, direction)
        aside: cython.double = (edge - face) * direction
        if not 0.0 < aside <= limit:
            return INF
        beside: list = list(move)
        beside[k] += direction * aside
        above: Hit | None = figure.cast(
            added(figure.centre, tuple(beside)), times(rise, STEPS_AHEAD)
        )
        if above is None:
            return aside
        other = above.id
    return INF
