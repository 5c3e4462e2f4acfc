"""Walking: a character goes towards its wish, up and down steps, and stays on the ground.

A path within a step is straight, but the way up a stair is not: up, then on.  Setting a position
would do both, but that is a teleport.  So a character looks ahead two steps.  If it would be
stopped in the next one, it rises in this one by exactly the missing height, and then continues as
on a plane.
"""

from __future__ import annotations

from math import copysign, nextafter, sqrt
from typing import Any

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import INF, LENGTH_ROUNDING, SAME, STEPS_AHEAD
from ecs_collide.character.figure import Figure, added, any_of, times
from ecs_collide.character.surroundings import Hit
from ecs_collide.components.immersed import Immersed
from ecs_collide.components.surfaces import Friction

TREAD = 0.25  # relative to the height of a step: its least depth
HOVER = 2.0**-38  # relative to a length: of no contact, and more than `LENGTH_ROUNDING`
TRIES = 32  # the most bodies on a way up


def walk(figure: Figure) -> cython.void:
    """Accelerate its speed along the ground towards the wish."""
    c: Any = figure.character
    wants: Any = figure.wants
    up: cython.int = figure.up
    first: cython.int = 1 if up == 0 else 0
    length: cython.double = 0.0
    far: cython.double = 0.0

    figure.wish[first] = wants.walk
    if figure.dim == 3:
        figure.wish[3 - up - first] = wants.across
    elif figure.is_flat:
        figure.wish[up] = wants.across
    for k in range(figure.dim):
        length += figure.wish[k] * figure.wish[k]
    length = sqrt(length)
    for k in range(figure.dim):
        if length > 1.0:
            figure.wish[k] = figure.wish[k] / length
    in_air: cython.bint = not (figure.touches or figure.was_on or figure.is_flat)
    if (in_air and figure.memory.locked > figure.late) or (
        wants is not c and (in_air or figure.is_flat)  # thrown: its soles hold it nowhere
    ):
        return
    if figure.wish[first] != 0.0:
        c.facing = copysign(1.0, figure.wish[first])
    rate: cython.double = c.acceleration if length > 0.0 else c.deceleration
    if in_air:
        control: cython.double = c.air_control
        rate = rate * control if control > 0.0 else 0.0
    elif not figure.is_flat and figure.around.has(figure.entity, Friction):
        grip: cython.double = _grip(figure)
        rate = rate * grip if grip > 0.0 else 0.0
    stands: cython.bint = figure.memory.standing_height == 0.0
    speed: cython.double = c.walk_speed if stands else c.crouch_speed
    if figure.is_in_zone:
        speed *= figure.footing
    # No wind blows it off a ladder.
    flows: cython.bint = figure.is_in_zone and not figure.memory.climbing
    for k in range(figure.dim):
        if k != figure.upright:
            gap: cython.double = _wanted(figure, k, speed, flows) - figure.own[k]
            far += gap * gap
    far = sqrt(far)
    change: cython.double = rate * figure.dt
    for k in range(figure.dim):
        if k == figure.upright:
            continue
        wanted: cython.double = _wanted(figure, k, speed, flows)
        gap = wanted - figure.own[k]
        if not figure.touches and _is_held(figure, k, gap):
            continue  # a push against a steep slope does not slow it down
        if far <= change:
            figure.own[k] = wanted
        else:
            figure.own[k] += gap / far * change


def _wanted(
    figure: Figure, k: cython.int, speed: cython.double, flows: cython.bint
) -> cython.double:
    """Return the speed on an axis that it accelerates to."""
    wanted: cython.double = figure.wish[k] * speed
    if flows:
        wanted = wanted + figure.flow[k]
    return wanted


def _grip(figure: Figure) -> cython.double:
    """Return the friction with its ground: of several bodies the largest."""
    grip: cython.double = 0.0
    grounds: list = figure.grounds or [figure.character.ground]  # it may snap to ground below
    for ground in grounds:
        grip = max(grip, figure.around.friction_between(figure.entity, ground))
    return grip


def _is_held(figure: Figure, k: cython.int, gap: cython.double) -> cython.bint:
    """Return whether it would push against a steep slope on an axis."""
    for normal, _ in figure.steep:  # noqa: SIM110  (a C function has no generators)
        if gap * normal[k] < 0.0:
            return True
    return False


# -- down --


@cython.cfunc
def find_drop(figure: Figure) -> object:
    """Return the ground that it walks on to without a contact, and its distance below.

    It is the highest one under its present place, its next place, and the step onto which it
    is rising.
    """
    snap: cython.double = figure.character.snap_distance * (1.0 + SAME)
    stepping: cython.bint = figure.memory.stepping
    best = look_down(figure, figure.centre, snap)
    if not stepping and (best is None or best[1] == 0.0):
        return None  # no ground, or ground that does not hold it
    move: tuple = figure.way(1.0)
    if not any_of(move):
        return best
    hit: Hit | None = figure.cast(figure.centre, times(move, STEPS_AHEAD))
    free: cython.double = STEPS_AHEAD if hit is None else hit.time * STEPS_AHEAD
    for n in range(2 if stepping else 1):
        part: cython.double = free if n else min(free, 1.0)
        drop = look_down(figure, added(figure.centre, times(move, part)), snap)
        if drop is None or figure.is_slanted(figure.below[drop[0]]):
            continue
        if best is None or drop[1] < best[1]:
            best = drop
    return best


@cython.cfunc
def find_fallen_ground(figure: Figure) -> object:
    """Return the crate that held it up and then fell on within the step, and its distance.

    Gravity acts on a crate within the step, and on a character between steps.
    """
    last_dt: cython.double = figure.memory.last_dt
    pull: cython.double = figure.around.state.gravity[figure.up]
    gained: cython.double = abs(pull) * last_dt * (1.0 + SAME)
    drop = look_down(figure, figure.centre, gained * last_dt / 2.0)
    if drop is None or drop[1] == 0.0 or figure.is_hit or not figure.around.gives_way(drop[0]):
        return None
    rises: cython.double = figure.own[figure.up] * figure.sign
    falls: cython.double = figure.speed_of(drop[0], figure.up, None) * figure.sign
    if rises > max(0.0, falls + gained) or (rises > 0.0 and figure.character.jumping):
        return None  # it was thrown
    return None if figure.is_slanted(figure.below[drop[0]]) else drop


@cython.cfunc
def look_down(figure: Figure, centre: tuple, far: cython.double) -> object:
    """Return the ground below a place, and its distance, 0 if it is within rounding."""
    if far == 0.0:
        return None
    hit: Hit | None = figure.cast(centre, figure.upwards(-far))
    if hit is None or hit.depth > 0.0 or not figure.is_floor(hit.normal):
        return None
    figure.below[hit.id] = hit.normal
    down: cython.double = centre[figure.up] - hit.centre[figure.up]
    down = abs(down)
    return hit.id, down if down > LENGTH_ROUNDING * figure.find_reach(centre) else 0.0


def keep_to_ground(figure: Figure, out: list, was_stepping: cython.bint) -> cython.void:
    """Close the gap to its ground within the step."""
    up: cython.int = figure.up
    c: Any = figure.character
    gap: cython.double

    if figure.drop is not None:
        ground, far = figure.drop
        c.ground = ground
        gap = far
        figure.memory.stepping = was_stepping and gap == 0.0
        out[up] = figure.speed_in_step(ground, up)
        gap = gap * (1.0 + LENGTH_ROUNDING) - _height_over(figure, ground)
        out[up] -= figure.sign * gap / figure.dt
    elif figure.touches and c.ground is not None:
        if figure.around.has(c.ground, Immersed):
            out[up] = figure.speed_in_step(c.ground, up)
            out[up] += figure.sign * _height_over(figure, c.ground) / figure.dt
        elif not figure.rides:
            out[up] -= figure.sign * _gap_to(figure, c.ground) / figure.dt * 2.0


def _height_over(figure: Figure, ground) -> cython.double:
    """Return the gap to keep to the ground: 0 but over a body that floats.

    That one falls within the step and a character does not, so in contact one would push the
    other.
    """
    if figure.rides or not figure.around.has(ground, Immersed):
        return 0.0
    return HOVER * (abs(figure.centre[figure.up]) + figure.half[figure.up])


def _gap_to(figure: Figure, ground) -> cython.double:
    """Return the gap to the ground that rounding left, or 0 if no float is nearer."""
    gap: cython.double = -figure.height_above_feet(ground)
    centre: cython.double = figure.centre[figure.up]
    half: cython.double = figure.half[figure.up]
    sign: cython.double = figure.sign
    # A larger gap is none of rounding: the game has put one of the two elsewhere.
    if not 0.0 < gap <= LENGTH_ROUNDING * (abs(centre) + half):
        return 0.0
    nearer: cython.double = nextafter(centre, -sign * INF)
    feet: cython.double = centre - sign * half
    return gap if (nearer - sign * half - feet) * sign + gap >= 0.0 else 0.0


# -- up --


def step_up(figure: Figure, out: list, limit: cython.double) -> cython.bint:
    """Rise by the missing height if steps are in the way; return whether there are any.

    All steps in reach count.  Each must be at most `limit` high, and at least a quarter as
    deep as it is high, or it counts to the next one.  A wall of narrow ledges is no stair.
    """
    move: tuple = figure.way(STEPS_AHEAD)
    if limit == 0.0 or not any_of(move):
        return False
    first: Hit | None = figure.cast(figure.centre, move)
    if first is None or first.depth > 0.0 or first.normal[figure.up] != 0.0:
        return False
    hit: Hit | None = first
    height: cython.double = 0.0  # above its feet, of this step
    tread: cython.double = 0.0  # and of the previous one
    rise: cython.double = 0.0
    target: cython.double = 0.0
    reach: cython.double = 0.0
    for k in range(figure.dim):
        reach += move[k] * move[k]
    reach = sqrt(reach)
    away: cython.double = first.time * reach
    for _ in range(TRIES):
        assert hit is not None
        height = figure.height_above_feet(hit.id)
        if not 0.0 < height - tread <= limit * (1.0 + SAME):
            break
        lifts: cython.double = figure.speed_of(hit.id, figure.up, None) * figure.sign
        target = max(target, height + lifts * figure.dt)
        needed: cython.double = away + TREAD * (height - tread)
        look: cython.double = max(reach, needed)
        above: tuple = added(figure.centre, figure.upwards(height))
        hit = figure.cast(above, times(move, look / reach))
        if hit is None or (hit.time * look > reach and reach >= needed):
            rise = target
            break
        if hit.time * look >= needed * (1.0 - SAME):  # it is deep enough: one more step
            tread, rise, away = height, target, hit.time * look
    if rise <= 0.0:
        return False
    out[figure.up] = figure.sign * rise / figure.dt
    part: cython.double = first.time * STEPS_AHEAD * (1.0 - LENGTH_ROUNDING)
    if part < 1.0:  # not into it before it is up
        for k in range(figure.dim):
            if k != figure.up:
                out[k] *= part
    figure.memory.stepping = True
    figure.character.ground = first.id
    return True
