"""Dashes: a short time at a high speed, in which a character does not fall.

If a dash ends inside an enemy, the character passes through it until it is out.
"""

from __future__ import annotations

import math

import esper

import ecs_collide as ec
from ecs_collide.character.changes import note_changes
from ecs_collide.character.figure import Figure
from ecs_collide.character.memory import CharacterState


def dashes(figure: Figure) -> bool:
    """Return whether a dash begins or goes on."""
    c, memory, own, level = figure.character, figure.memory, figure.own, figure.level
    is_new = figure.wants.dash and not memory.dash_held
    if is_new and memory.since_dash >= c.dash_time + c.dash_pause:
        _begin(figure)
    figure.dashes = c.dash_time - memory.since_dash > figure.late
    if c.state is CharacterState.DASHING and not figure.dashes:
        fast = math.sqrt(sum(own[k] * own[k] for k in level))
        for k in level:
            own[k] *= min(1.0, c.walk_speed / fast) if fast > 0.0 else 1.0
    if memory.let_through and not figure.dashes:
        if _is_inside(figure):
            _go_on(figure)
        else:
            end_passage(figure)
    return figure.dashes


def _begin(figure: Figure) -> None:
    """Choose the direction of a dash, and let it through what it goes through."""
    c, memory = figure.character, figure.memory
    way = [0.0, 0.0, 0.0]
    for part, k in zip(figure.wish, figure.level, strict=True):
        way[k] = part
    length = math.sqrt(sum(part * part for part in way))
    if length == 0.0:
        way[figure.level[0]] = length = c.facing
        length = 1.0
    memory.dash_way = (way[0] / length, way[1] / length, way[2] / length)
    memory.since_dash = 0.0
    if c.dash_through:
        its = esper.try_component(figure.entity, ec.Filter)
        if its is None:
            its = ec.Filter()
            esper.add_component(figure.entity, its)
        memory.let_through |= its.mask & c.dash_through
        its.mask &= ~c.dash_through
        note_changes(figure)


def _is_inside(figure: Figure) -> bool:
    """Return whether the character is still inside a body that its dash went through."""
    rounding = figure.find_rounding()
    inner = [size - rounding for size in figure.half]
    low = [centre - size for centre, size in zip(figure.centre, inner, strict=True)]
    high = [centre + size for centre, size in zip(figure.centre, inner, strict=True)]
    found = figure.space.query(
        low, high, exclude=figure.entity, solid=True,
        filter=lambda other: _categories_of(other) & figure.memory.let_through != 0,
    )  # fmt: skip
    return bool(found)


def _categories_of(other: int) -> int:
    """Return the categories of an entity, as bits."""
    its = esper.try_component(other, ec.Filter) if esper.entity_exists(other) else None
    return its.categories if its is not None else 0


def _go_on(figure: Figure) -> None:
    """Go on in the direction of the dash at walking speed, unless the character wishes to walk."""
    if figure.wants is figure.character and not any(figure.wish):
        for k in figure.level:
            figure.own[k] = figure.memory.dash_way[k] * figure.character.walk_speed


def end_passage(figure: Figure) -> None:
    """Let the character meet again what its dash went through."""
    memory = figure.memory
    if memory.let_through:
        its = esper.try_component(figure.entity, ec.Filter)
        if its is not None:
            its.mask |= memory.let_through
        memory.let_through = 0
        note_changes(figure)


def dash(figure: Figure) -> None:
    """Go on with a dash; in its last step only as far as it goes."""
    c, memory = figure.character, figure.memory
    share = min(1.0, (c.dash_time - memory.since_dash) / figure.dt)
    for k in figure.level:
        figure.own[k] = memory.dash_way[k] * c.dash_speed * share
    figure.own[figure.up] = 0.0
    c.jumping = memory.climbing = False
    memory.air_dt = 0.0
