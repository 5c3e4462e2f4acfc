"""How the mass of a pile is shared among the bodies that it rests on.

Each contact carries a load from the upper body to the lower one, and a body passes on its own mass
and all that rests on it.  If a body has one support, that is all there is to say.  If it has more,
many loads are possible, as for a table on four legs.  These are the loads of least squares, each
divided by the width of its contact.  A load is width * (height of the upper body - height of the
lower one), where the *heights* are the multipliers of the balances.  No load is below 0, so a contact
that would have to pull is ignored, and counts again when it would press.
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
    loads = [0.0] * len(rests)
    pressing = [n for n, rest in enumerate(rests) if rest.upper in carried]
    borne = {body: masses[body] for body in carried}
    pressing = _pass_down(rests, pressing, borne, loads)
    if pressing:
        number = {body: n for n, body in enumerate({rests[n].upper for n in pressing})}
        upper = np.array([number[rests[n].upper] for n in pressing], np.intp)
        lower = np.array([number.get(rests[n].lower, len(number)) for n in pressing], np.intp)
        width = np.array([max(rests[n].width, SOFTNESS) for n in pressing])
        shared = _balance(upper, lower, width, np.array([borne[body] for body in number]))
        for n, load in zip(pressing, shared, strict=True):
            loads[n] = load
    return loads


def _pass_down(
    rests: Sequence[Rest], pressing: list[int], borne: dict[int, float], loads: list[float]
) -> list[int]:
    """Set the loads that have no choice, from the top down; return the numbers of the others.

    A body passes on what it has `borne` once all that rests on it is known, if it has one support.
    """
    supports: dict[int, list[int]] = {}
    n_unknown = dict.fromkeys(borne, 0)
    for n in pressing:
        supports.setdefault(rests[n].upper, []).append(n)
        if rests[n].lower in n_unknown:
            n_unknown[rests[n].lower] += 1
    waiting = [body for body, n_above in n_unknown.items() if n_above == 0]
    while waiting:
        body = waiting.pop()
        if len(supports[body]) > 1:
            continue
        (n,) = supports.pop(body)
        loads[n] = borne[body]
        under = rests[n].lower
        if under in n_unknown:
            borne[under] += borne[body]
            n_unknown[under] -= 1
            if n_unknown[under] == 0:
                waiting.append(under)
    return [n for n in pressing if rests[n].upper in supports]


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
