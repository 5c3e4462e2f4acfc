"""A character on slopes: it walks along them, and stands still on them.

A walk is level.  On a slope, the velocity of the step gets the part along up that keeps the corner
of the character on the line.  Where another slope, a floor or a wall begins within the step, it
goes straight to the point that it reaches along both.  So no impact turns it, and its speed is as
planned.
"""

from __future__ import annotations

import math
from operator import mul

import esper

import ecs_collide as ec
from ecs_collide.character.figure import Figure, Vector, added, times

TOUCH = 2.0**-40  # relative to the coordinates: how far it goes into ground that it must touch
BENDS = 4  # the most surfaces on its way in one step


def walk_along(figure: Figure, normals: list[Vector]) -> Vector:
    """Return the velocity of its walk along the steepest of the surfaces with these normals."""
    up, sign = figure.up, figure.sign
    out = list(figure.own)
    out[up] = 0.0
    level = math.sqrt(sum(part * part for part in out))
    climb = max(-sign * sum(map(mul, normal, out)) / normal[up] for normal in normals)
    out[up] = sign * climb
    if figure.character.floor_constant_speed and level > 0.0:
        length = math.sqrt(level * level + climb * climb)  # hypot differs by platform
        return times(tuple(out), level / length)
    return tuple(out)


def _walk_on(figure: Figure, normals: list[Vector]) -> Vector:
    """Return the velocity of its walk on ground; without `snap_distance` never downwards."""
    if figure.character.snap_distance == 0.0:
        normals = [*normals, figure.upwards(1.0)]
    return walk_along(figure, normals)


def follow(figure: Figure, out: list[float], drop: tuple[int, float] | None) -> bool:
    """Lead the velocity of a step along slopes; return whether there is any.

    `drop` is ground below it and the distance, if it touches none.
    """
    if not esper.get_component(ec.Slope):
        return False
    up, sign, dt = figure.up, figure.sign, figure.dt
    normals = list(figure.floors.values())
    place = figure.centre
    if drop is not None:
        normals = [figure.below[drop[0]]]
        place = added(place, figure.upwards(-drop[1]))
    own, rest = list(figure.own), 1.0
    is_slanted = any(figure.is_slanted(normal) for normal in normals)
    total: Vector = (0.0,) * figure.dim
    way = _walk_on(figure, normals)
    for _ in range(BENDS):
        hit = figure.cast(place, times(way, rest * dt))
        if hit is None or hit.depth > 0.0:
            break
        is_floor = figure.is_floor(hit.normal)
        if not is_floor and figure.gives_way(hit.id):
            break  # it pushes
        total = added(total, times(way, rest * hit.time))
        place, rest = hit.centre, rest * (1.0 - hit.time)
        is_slanted |= figure.is_slanted(hit.normal)
        if is_floor:
            normals = [hit.normal]
            figure.memory.turned = True
        else:  # it stops at a wall, or goes on with it
            for k in figure.level:
                if hit.normal[k] * own[k] < 0.0:
                    figure.own[k] = figure.speed_of(hit.id, k, hit.normal)
        way = _walk_on(figure, normals)
    if not is_slanted:
        figure.own[:] = own
        return False
    out[:] = added(total, times(way, rest))
    if drop is not None:
        figure.memory.turned = True
        # A little more than the gap, which may be below the rounding of the query.
        far = TOUCH * max(map(abs, (*figure.centre, *figure.half)))
        ground, normal = drop[0], figure.below[drop[0]]
        carrying = figure.velocity_on(ground)
        if carrying is not None:
            figure.frame = list(carrying)
        moved = sum(normal[k] * figure.speed_of(ground, k, normal) for k in range(figure.dim))
        out[up] += moved / normal[up] - sign * (drop[1] + far) / dt
    return True


def meet(figure: Figure, out: list[float]) -> None:
    """Change the velocity of a flight that ends at a slope in this step.

    An impact keeps the velocity along a slope.  So a character would slide when it lands, and a
    steep slope would lead it up.  The velocity towards the slope stays, so the impact happens.  The
    velocity along the slope becomes the mean, by time, of the velocities before and after the
    impact.  Afterwards the character walks if it may stand on the slope, and falls if not.
    """
    if not esper.get_component(ec.Slope):
        return
    frame = tuple(figure.frame)
    moved = added(tuple(out), frame)
    hit = figure.cast_in_order(figure.centre, times(moved, figure.dt))
    if hit is None or hit.depth > 0.0:
        return
    up, sign, normal = figure.up, figure.sign, hit.normal
    if not figure.is_slanted(normal) or normal[up] * sign < 0.0:
        return
    face = tuple(figure.speed_of(hit.id, k, normal) + frame[k] for k in range(figure.dim))
    comes = added(moved, times(face, -1.0))
    inwards = sum(map(mul, comes, normal))
    along = added(comes, times(normal, -inwards))
    if figure.is_floor(normal):
        if figure.rides or any(face):
            return
        for k in figure.level:
            figure.own[k], figure.frame[k] = figure.own[k] + frame[k], 0.0
        after = walk_along(figure, [normal])
    elif along[up] * sign > 0.0:
        after = _slide(comes, normal, up)
        for k in range(figure.dim):
            figure.own[k] += after[k] - comes[k]
    else:
        return
    along = added(times(along, hit.time), times(after, 1.0 - hit.time))
    turned = added(face, along)
    figure.expected = added(turned, times(frame, -1.0)) if figure.rides else turned
    out[:] = added(added(turned, times(normal, inwards)), times(tuple(figure.frame), -1.0))


def _slide(comes: Vector, normal: Vector, up: int) -> Vector:
    """Return the velocity along a steep slope: a rise is kept, and a fall projected."""
    k = next(k for k, part in enumerate(normal) if part != 0.0 and k != up)
    left = list(comes)
    left[k] = 0.0
    inwards = left[up] * normal[up]
    if inwards < 0.0:  # it slides down
        return added(tuple(left), times(normal, -inwards))
    left[k] = -inwards / normal[k]
    return tuple(left)
