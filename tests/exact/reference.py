"""The sweep of two boxes as its definition has it, in exact numbers.

Written from the words of `docs/exactness.md` and not from the kernels: it asks
when gaps are positive, zero or negative, and nothing else.  Numbers are
`fractions.Fraction` or int; no float is computed with.  Times may be -inf and
inf where there is no such instant.

With a slop of 0 it is pure mathematics.  With another, one number for each
axis, it is the rule that the kernels follow in floats, still in exact numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

SEPARATE, TOUCH, IMPACT, OVERLAP = range(4)
INF = math.inf


class Box(NamedTuple):
    """The stored faces of a box on each axis, and what a step changes.

    Attributes
    ----------
    low, high : sequence of exact numbers (dim,)
        Faces at the start of the step.
    move, grow : sequence of exact numbers (dim,)
        Displacement of the centre and change of the half size over the step.
    """

    low: Sequence[Fraction]
    high: Sequence[Fraction]
    move: Sequence[Fraction]
    grow: Sequence[Fraction]


class Side(NamedTuple):
    """One side of a pair on one axis: a gap that changes at a steady rate."""

    axis: int
    sign: int
    gap: Fraction
    rate: Fraction


class Answer(NamedTuple):
    """What a sweep finds; the fields of `ecs_collide.Sweep`, with -1 and 0 for no side."""

    kind: int
    enter: Fraction | float
    exit: Fraction | float
    axis: int = -1
    sign: int = 0
    corner: bool = False
    depth: Fraction | int = 0


def exactly(low, high, move, grow=None) -> Box:
    """Return a box of floats as one of fractions that are exactly those floats."""
    return Box(
        *([Fraction(number) for number in row] for row in (low, high, move, grow or [0] * len(low)))
    )


def sides_of(first: Box, second: Box) -> list[Side]:
    """Return the sides of a pair, minus before plus on each axis."""
    sides = []
    for axis, (low1, high1, move1, grow1, low2, high2, move2, grow2) in enumerate(
        zip(*first, *second, strict=True)
    ):
        sides.append(Side(axis, -1, low2 - high1, (move2 - grow2) - (move1 + grow1)))
        sides.append(Side(axis, +1, low1 - high2, (move1 - grow1) - (move2 + grow2)))
    return sides


def slops_of(first: Box, second: Box) -> list[Fraction]:
    """Return the stated slop on each axis: 2**-44 of the largest face at either end of the step."""
    slops = []
    for parts in zip(*first, *second, strict=True):
        faces = []
        for low, high, move, grow in (parts[:4], parts[4:]):
            faces += [low, high, low + move - grow, high + move + grow]
        slops.append(max(map(abs, faces)) / Fraction(2) ** 44)
    return slops


def meet(sides: Sequence[Side], slop: Sequence[Fraction] = (0, 0, 0)) -> Answer:
    """Say when and on which side the boxes of a pair meet.

    Parameters
    ----------
    sides : the sides of the pair, minus before plus on each axis
    slop : how small a gap below 0 counts as none, for each axis
    """
    sides = _without_rounding(sides, slop)
    closing = [side for side in sides if side.rate < 0]
    opening = [side for side in sides if side.rate > 0]
    steady = [side for side in sides if side.rate == 0]
    if any(side.gap > 0 for side in steady):
        return Answer(SEPARATE, INF, -INF)

    # Closed boxes share a point from the last arrival to the first departure.
    enter = max((_instant(side, 0) for side in closing), default=-INF)
    exit_ = min((_instant(side, 0) for side in opening), default=INF)

    if all(side.gap < 0 for side in sides):
        shallowest = min(sides, key=lambda side: (-side.gap, side.rate, side.axis, side.sign))
        return Answer(
            OVERLAP, enter, exit_, shallowest.axis, shallowest.sign, False, -shallowest.gap
        )

    if 0 <= enter < 1 and all(side.gap < 0 for side in steady):
        front = [side for side in closing if _is_front(side, enter, slop)]
        ready = [side for side in front if _opens(side, sides, enter, slop)]
        if ready:
            contact = min(ready, key=lambda side: (side.rate, side.axis, side.sign))
            corner = any(side.axis != contact.axis for side in front)
            return Answer(IMPACT, enter, exit_, contact.axis, contact.sign, corner)

    if max(enter, 0) <= exit_ and enter < 1:
        return Answer(TOUCH, enter, exit_)
    return Answer(SEPARATE, enter, exit_)


def _without_rounding(sides, slop):
    """Return the sides, the nearer one of an axis at 0 where it is inside by the slop or less."""
    if not any(slop):
        return sides
    counted = []
    for minus, plus in zip(sides[::2], sides[1::2], strict=True):
        nearer = max(minus.gap, plus.gap)
        for side in (minus, plus):
            is_rounding = side.gap == nearer and -slop[side.axis] <= nearer < 0
            counted.append(side._replace(gap=0) if is_rounding else side)
    return counted


def _instant(side, gap):
    """Return when a changing side has this gap."""
    return Fraction(gap - side.gap, side.rate)


def _is_front(side, enter, slop):
    """Return whether a closing side has just arrived at `enter`, or is not yet deep by then."""
    limit = slop[side.axis]
    return _instant(side, 0) == enter or (limit > 0 and _instant(side, -limit) > enter)


def _opens(contact, sides, enter, slop):
    """Tell whether, some time after `enter`, the insides overlap on the other axes.

    On the contact's own axis they must not have parted by then.  Without
    thickness they part there at once: a point that was outside of a plate has
    come to its other side, and meets it all the same.
    """
    begin, end = enter, INF
    for side in sides:
        if side.axis != contact.axis:
            limit = -slop[side.axis]
            if side.rate == 0 and side.gap >= limit:
                return False
            if side.rate < 0:
                begin = max(begin, _instant(side, limit))
            elif side.rate > 0:
                end = min(end, _instant(side, limit))
        elif side.rate > 0:
            parted = _instant(side, 0)
            if parted != enter or contact.gap <= 0:
                end = min(end, parted)
    return begin < end
