"""A character on slopes: it walks along them, and stands still on them.

A walk is level.  On a slope, the velocity of the step gets the part along up that keeps the corner
of the character on the line.  Where another slope, a floor or a wall begins within the step, it
goes straight to the point that it reaches along both.  So no impact turns it, and its speed is as
planned.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import INF
from ecs_collide.character.figure import Figure, added, times
from ecs_collide.character.surroundings import Hit

TOUCH = 2.0**-40  # relative to the coordinates: how far it goes into ground that it must touch
BENDS = 4  # the most surfaces on its way in one step


@cython.cfunc
def walk_along(figure: Figure, normals: list) -> tuple:
    """Return the velocity of its walk along the steepest of the surfaces with these normals."""
    up: cython.int = figure.up
    out: list = []
    level: cython.double = 0.0
    climb: cython.double = -INF
    for k in range(figure.dim):
        out.append(0.0 if k == up else figure.own[k])
        level += out[k] * out[k]
    level = sqrt(level)
    for normal in normals:
        climb = max(climb, -figure.sign * inner(normal, out) / normal[up])
    out[up] = figure.sign * climb
    if figure.character.floor_constant_speed and level > 0.0:
        length: cython.double = sqrt(level * level + climb * climb)  # hypot differs by platform
        return times(tuple(out), level / length)
    return tuple(out)


def inner(one, other) -> cython.double:
    """Return the inner product of two vectors."""
    total: cython.double = 0.0
    for k in range(len(one)):
        a: cython.double = one[k]
        b: cython.double = other[k]
        total += a * b
    return total


@cython.cfunc
def _walk_on(figure: Figure, normals: list) -> tuple:
    """Return the velocity of its walk on ground; without `snap_distance` never downwards."""
    if figure.character.snap_distance == 0.0:
        normals = [*normals, figure.upwards(1.0)]
    return walk_along(figure, normals)


@cython.cfunc
def follow(figure: Figure, out: list) -> object:
    """Lead the velocity of a step along slopes; return whether there is any.

    `Figure.drop` is ground below it and the distance, if it touches none.
    """
    if not figure.around.any_slope:
        return False
    up: cython.int = figure.up
    sign: cython.int = figure.sign
    dt: cython.double = figure.dt
    drop = figure.drop
    normals: list = list(figure.floors.values())
    place: tuple = figure.centre
    own: list = []
    rest: cython.double = 1.0
    is_slanted: cython.bint = False
    total: tuple = (0.0,) * figure.dim
    if drop is not None:
        normals = [figure.below[drop[0]]]
        place = added(place, figure.upwards(-drop[1]))
    for k in range(figure.dim):
        own.append(figure.own[k])
    for normal in normals:
        is_slanted |= figure.is_slanted(normal)
    way: tuple = _walk_on(figure, normals)
    for _ in range(BENDS):
        hit: Hit | None = figure.cast_firm(place, times(way, rest * dt))
        if hit is None or hit.depth > 0.0:
            break
        is_floor: cython.bint = figure.is_floor(hit.normal)
        if not is_floor and figure.around.gives_way(hit.id):
            break  # it pushes
        total = added(total, times(way, rest * hit.time))
        place, rest = hit.centre, rest * (1.0 - hit.time)
        is_slanted |= figure.is_slanted(hit.normal)
        if is_floor:
            normals = [hit.normal]
            figure.memory.turned = True
        else:  # it stops at a wall, or goes on with it
            for k in range(figure.dim):
                if k != up and hit.normal[k] * own[k] < 0.0:
                    figure.own[k] = figure.speed_of(hit.id, k, hit.normal)
        way = _walk_on(figure, normals)
    if not is_slanted:
        for k in range(figure.dim):
            figure.own[k] = own[k]
        return False
    out[:] = added(total, times(way, rest))
    if drop is not None:
        figure.memory.turned = True
        # A little more than the gap, which may be below the rounding of the query.
        far: cython.double = TOUCH * figure.find_reach(figure.centre)
        ground = drop[0]
        normal = figure.below[ground]
        carrying = figure.velocity_on(ground)
        if carrying is not None:
            figure.set_frame(carrying)
        moved: cython.double = 0.0
        for k in range(figure.dim):
            moved += normal[k] * figure.speed_of(ground, k, normal)
        out[up] += moved / normal[up] - sign * (drop[1] + far) / dt
    return True


def meet(figure: Figure, out: list) -> cython.void:
    """Change the velocity of a flight that ends at a slope in this step.

    An impact keeps the velocity along a slope.  So a character would slide when it lands, and a
    steep slope would lead it up.  The velocity towards the slope stays, so the impact happens.  The
    velocity along the slope becomes the mean, by time, of the velocities before and after the
    impact.  Afterwards the character walks if it may stand on the slope, and falls if not.
    """
    if not figure.around.any_slope:
        return
    up: cython.int = figure.up
    sign: cython.int = figure.sign
    frame: tuple = figure.frame_now()
    moved: tuple = added(tuple(out), frame)
    hit: Hit | None = figure.cast(figure.centre, times(moved, figure.dt))
    if hit is None or hit.depth > 0.0:
        return
    normal: tuple = hit.normal
    if not figure.is_slanted(normal) or normal[up] * sign < 0.0:
        return
    velocity: list = []
    for k in range(figure.dim):
        velocity.append(figure.speed_of(hit.id, k, normal) + frame[k])
    face: tuple = tuple(velocity)
    comes: tuple = added(moved, times(face, -1.0))
    inwards: cython.double = inner(comes, normal)
    along: tuple = added(comes, times(normal, -inwards))
    after: tuple
    if figure.is_floor(normal):
        if figure.rides or any(face):
            return
        for k in range(figure.dim):
            if k != up:
                figure.own[k] = figure.own[k] + frame[k]
                figure.frame[k] = 0.0
        after = walk_along(figure, [normal])
    elif along[up] * sign > 0.0:
        after = _slide(comes, normal, up)
        for k in range(figure.dim):
            figure.own[k] += after[k] - comes[k]
    else:
        return
    along = added(times(along, hit.time), times(after, 1.0 - hit.time))
    turned: tuple = added(face, along)
    figure.expected = added(turned, times(frame, -1.0)) if figure.rides else turned
    turned = added(turned, times(normal, inwards))
    out[:] = added(turned, times(figure.frame_now(), -1.0))


@cython.cfunc
def _slide(comes: tuple, normal: tuple, up: cython.int) -> tuple:
    """Return the velocity along a steep slope: a rise is kept, and a fall projected."""
    axis: cython.int = 0
    while normal[axis] == 0.0 or axis == up:
        axis += 1
    left: list = list(comes)
    left[axis] = 0.0
    inwards: cython.double = left[up] * normal[up]
    if inwards < 0.0:  # it slides down
        return added(tuple(left), times(normal, -inwards))
    left[axis] = -inwards / normal[axis]
    return tuple(left)
