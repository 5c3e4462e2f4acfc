"""How the mass of a pile is shared among the bodies that it rests on.

Each contact carries a load from the upper body to the lower one, and a body passes on its own mass
and all that rests on it.  If a body has one support, that is all there is to say.  If it has more,
many loads are possible, as for a table on four legs.  These are the loads of least squares, each
divided by the width of its contact: load = width * (height of the upper body - height of the lower
one), where the *heights* are the multipliers of the balances.  No load is below 0, so a contact
that would have to pull is left out, and counts again when it would press.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Longs = NDArray[np.intp]

ROUNDS = 100  # of contacts left out and counted again; piles of hundreds take fewer than ten
SOFTNESS = 1e-13  # of a contact: keeps a body whose contacts are all left out for a round in place


class Rest(NamedTuple):
    """A contact in which one body rests on another."""

    upper: int
    lower: int
    width: float


def find_loads(masses: Mapping[int, float], rests: Sequence[Rest]) -> list[float]:
    """Return the load of each contact, in the unit of the masses.

    Parameters
    ----------
    masses : mapping of int to float
        The mass of each body that must be carried; all other bodies carry without limit.
    rests : sequence of Rest
        Every upper body has a mass.  Bodies that nothing carries in the end press on nothing.
    """
    carried = _carried(masses, rests)
    number = {body: n for n, body in enumerate(sorted(carried))}
    pressing = [rest for rest in rests if rest.upper in carried]
    upper = np.array([number[rest.upper] for rest in pressing], np.intp)
    lower = np.array([number.get(rest.lower, len(number)) for rest in pressing], np.intp)
    width = np.array([max(rest.width, SOFTNESS) for rest in pressing])
    mass = np.array([masses[body] for body in number])
    loads = iter(_balance(upper, lower, width, mass) if pressing else ())
    return [next(loads) if rest.upper in carried else 0.0 for rest in rests]


def _carried(masses: Mapping[int, float], rests: Sequence[Rest]) -> set[int]:
    """Return the bodies that rest on something that carries without limit, however indirectly."""
    above: dict[int, list[int]] = {}
    for rest in rests:
        above.setdefault(rest.lower, []).append(rest.upper)
    waiting = [body for body in above if body not in masses]
    carried: set[int] = set()
    while waiting:
        for body in above.get(waiting.pop(), ()):
            if body not in carried:
                carried.add(body)
                waiting.append(body)
    return carried


def _balance(upper: Longs, lower: Longs, width: Doubles, mass: Doubles) -> list[float]:
    """Return the loads of least squares; `lower` is len(mass) for what carries without limit."""
    n = len(mass)
    presses = np.ones(len(width), bool)
    for _ in range(ROUNDS):
        stiffness = np.zeros((n + 1, n + 1))
        ends = (upper, upper, 1), (lower, lower, 1), (upper, lower, -1), (lower, upper, -1)
        for one, other, sign in ends:
            np.add.at(stiffness, (one[presses], other[presses]), sign * width[presses])
        stiffness = stiffness[:n, :n]
        soft = stiffness + np.diag(np.full(n, SOFTNESS * width.max()))
        height = np.linalg.solve(soft, mass)
        height += np.linalg.solve(soft, mass - stiffness @ height)
        above = np.append(height, 0.0)
        rise = above[upper] - above[lower]
        if (presses == (rise > 0)).all():
            break
        presses = rise > 0
    loads: list[float] = (width * np.maximum(rise, 0.0)).tolist()
    return loads
