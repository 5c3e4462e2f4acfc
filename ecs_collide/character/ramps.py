"""A character on slopes: it walks along them, and stands still on them.

A walk is level.  On a slope, the velocity of the step gets the part along up that keeps the corner
of the character on the line.  If another slope or a floor begins within the step, it goes straight
to the point that it will reach on that.  So no impact turns it, and its speed is as planned.
"""

from __future__ import annotations

import math

import esper

import ecs_collide as ec
from ecs_collide.character.figure import Figure, Vector

TOUCH = 2.0**-40  # relative to the coordinates: how far it goes into ground that it must touch


def climb_along(figure: Figure, normal: Vector) -> float:
    """Return the speed along up that keeps its walk on a surface, positive upwards."""
    level = sum(normal[k] * figure.own[k] for k in figure.level)
    return -level / normal[figure.up] * figure.sign


def follow(figure: Figure, out: list[float], drop: tuple[int, float] | None) -> bool:
    """Add the climb of a slope to the velocity of a step; return whether there is any slope.

    `drop` is ground below it that it does not touch, and the distance.
    """
    if not esper.get_component(ec.Slope):
        return False
    up, sign, dt = figure.up, figure.sign, figure.dt
    normals = list(figure.floors.values())
    if not figure.touches and drop is not None:
        normals = [figure.below[drop[0]]]
    if not normals:
        return False
    climb = max(climb_along(figure, normal) for normal in normals)
    move = list(figure.way(1.0))
    move[up] = sign * climb * dt
    hit = figure.cast(figure.centre, tuple(move)) if any(move) else None
    if hit is not None and hit.depth == 0.0 and figure.is_floor(hit.normal):
        normals.append(hit.normal)
        climb += (climb_along(figure, hit.normal) - climb) * (1.0 - hit.time)
    if not any(figure.is_slanted(normal) for normal in normals):
        return False
    level = math.sqrt(sum(out[k] * out[k] for k in figure.level))
    if figure.character.floor_constant_speed and level > 0.0:
        part = level / math.sqrt(level * level + climb * climb)  # hypot differs by platform
        climb *= part
        for k in figure.level:
            out[k] *= part
    out[up] += sign * climb
    if not figure.touches and drop is not None:
        figure.memory.snapped = True
        # A little more than the gap, which may be below the rounding of the query.
        far = TOUCH * max(map(abs, (*figure.centre, *figure.half)))
        out[up] -= sign * (drop[1] + far) / dt
    return True
