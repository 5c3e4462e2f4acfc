"""Dashes: a short time at a high speed, in which a character does not fall.

If a dash ends inside an enemy, the character passes through it until it is out.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from math import sqrt
from typing import Any

from ecs_collide._kernel import cython
from ecs_collide.character.figure import Figure
from ecs_collide.character.memory import CharacterState
from ecs_collide.components.filters import Filter


def dashes(figure: Figure) -> cython.bint:
    """Return whether a dash begins or goes on."""
    c: Any = figure.character
    memory: Any = figure.memory
    if (
        figure.wants.dash
        and not memory.dash_held
        and memory.since_dash >= c.dash_time + c.dash_pause
    ):
        _begin(figure)
    figure.dashes = c.dash_time - memory.since_dash > figure.late
    if c.state is CharacterState.DASHING and not figure.dashes:
        fast: cython.double = 0.0
        for k in range(figure.dim):
            if k != figure.upright:
                fast += figure.own[k] * figure.own[k]
        fast = sqrt(fast)
        share: cython.double = min(1.0, c.walk_speed / fast) if fast > 0.0 else 1.0
        for k in range(figure.dim):
            if k != figure.upright:
                figure.own[k] *= share
    if memory.let_through and not figure.dashes:
        if _is_inside(figure):
            _go_on(figure)
        else:
            end_passage(figure)
    return figure.dashes


def _begin(figure: Figure) -> cython.void:
    """Choose the direction of a dash, and let it through what it goes through."""
    c: Any = figure.character
    memory: Any = figure.memory
    way: list = [0.0, 0.0, 0.0]
    length: cython.double = 0.0
    for k in range(figure.dim):
        way[k] = figure.wish[k]
        length += figure.wish[k] * figure.wish[k]
    length = sqrt(length)
    if length == 0.0:
        way[1 if figure.up == 0 else 0] = c.facing
        length = 1.0
    memory.dash_way = (way[0] / length, way[1] / length, way[2] / length)
    memory.since_dash = 0.0
    if c.dash_through:
        its: Any = figure.around.component(figure.entity, Filter)
        if its is None:
            its = Filter()
            figure.extras.add_component(figure.entity, its)
        memory.let_through |= its.mask & c.dash_through
        its.mask &= ~c.dash_through
        figure.note_changes()


def _is_inside(figure: Figure) -> cython.bint:
    """Return whether the character is still inside a body that its dash went through."""
    rounding: cython.double = figure.find_rounding()
    low: list = []
    high: list = []
    for k in range(figure.dim):
        low.append(figure.centre[k] - (figure.half[k] - rounding))
        high.append(figure.centre[k] + (figure.half[k] - rounding))
    for other in figure.space.query(low, high, exclude=figure.entity, solid=True):
        its: Any = figure.around.component(other, Filter)
        if its is not None and its.categories & figure.memory.let_through != 0:
            return True
    return False


def _go_on(figure: Figure) -> cython.void:
    """Go on in the direction of the dash at walking speed, unless the character wishes to walk."""
    if figure.wants is figure.character and not figure.wishes_to_walk():
        for k in range(figure.dim):
            if k != figure.upright:
                figure.own[k] = figure.memory.dash_way[k] * figure.character.walk_speed


def end_passage(figure: Figure) -> cython.void:
    """Let the character meet again what its dash went through."""
    memory: Any = figure.memory
    if memory.let_through:
        its: Any = figure.around.component(figure.entity, Filter)
        if its is not None:
            its.mask |= memory.let_through
        memory.let_through = 0
        figure.note_changes()


def dash(figure: Figure) -> cython.void:
    """Go on with a dash; in its last step only as far as it goes."""
    c: Any = figure.character
    memory: Any = figure.memory
    share: cython.double = min(1.0, (c.dash_time - memory.since_dash) / figure.dt)
    for k in range(figure.dim):
        figure.own[k] = memory.dash_way[k] * c.dash_speed * share
    if figure.upright >= 0:
        figure.own[figure.up] = 0.0
    c.jumping = memory.climbing = False
    memory.air_dt = 0.0
