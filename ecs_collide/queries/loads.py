"""How the mass of a pile is shared among the bodies that it rests on.

Each contact carries a load from the upper body to the lower one, and a body passes on its own mass
and all that rests on it.  If a body has one support, that is all there is to say.  If it has more,
many loads are possible, as for a table on four legs.  These are the loads of least squares, each
divided by the width of its contact.  A load is width * (height of the upper body - height of the
lower one), where the *heights* are the multipliers of the balances.  No load is below 0, so a contact
that would have to pull is ignored, and counts again when it would press.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import backend
from ecs_collide.components.dynamics import GravityScale
from ecs_collide.components.immersed import Immersed
from ecs_collide.events import ContactKind
from ecs_collide.step.events_of_step import SHOWN_KINDS
from ecs_collide.step.shared import SharedParts

Doubles = NDArray[np.float64]
Longs = NDArray[np.intp]

ROUNDS = 100  # of contacts left out and counted again; piles of hundreds take fewer than ten
SOFTNESS = 1e-13  # of a contact: keeps a body whose contacts are all left out for a round in place


COS_45 = 0.5**0.5 - 1e-9  # less rounding


class Rest(NamedTuple):
    """A contact in which one body rests on another; both are any numbers, such as rows."""

    upper: int
    lower: int
    width: float


class Loads:
    """The loads on the bodies of the last step, kept until one begins or a body is deleted.

    A question finds the loads of the whole pile, so that others about it only look them up.
    """

    def __init__(self, shared: SharedParts) -> None:
        self._state = shared.state
        self._link = shared.link
        self._registry = shared.registry
        self._asked: tuple[object, ...] = ()
        self._known: dict[int, float] = {}

    def load_on(self, row: int, gone: tuple[int, ...]) -> float:
        """Return the mass that rests on a body, without the bodies in the rows `gone`."""
        asked = self._state.moment, gone, self._registry.up
        if self._asked != asked:
            self._asked, self._known = asked, {}
        if row not in self._known:
            self._weigh_pile(row, gone)
        return self._known[row]

    def _weigh_pile(self, start: int, gone: tuple[int, ...]) -> None:
        """Find the loads on a body, and on all that are connected with it by dynamic bodies."""
        masses: dict[int, float] = {}
        seen, known = {start}, set()
        rests: dict[Rest, None] = {}
        waiting = [start]
        for row in waiting:  # which grows
            mass = self._mass_of(row)
            if mass is None and row != start:
                continue  # it carries without limit, and may carry other piles
            if mass is not None:
                masses[row] = mass
            known.add(row)
            for rest in self._rests_of(row, known, gone):
                rests[rest] = None
                other = rest.lower if rest.upper == row else rest.upper
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        found = [rest for rest in rests if rest.upper in masses]
        total = dict.fromkeys((start, *masses), 0.0)
        for rest, load in zip(found, find_loads(masses, found), strict=True):
            if rest.lower in total:
                total[rest.lower] += load
        self._known.update((row, float(f"{load:.12g}")) for row, load in total.items())

    def _mass_of(self, row: int) -> float | None:
        """Return the mass with which a body presses down, or None if it is no dynamic body.

        Water that lifts a body takes its part; one that rises has less than 0.
        """
        bodies, registry = self._state.timeline.bodies, self._registry
        axis = next(k for k, part in enumerate(registry.up) if part)
        controls = bodies.controls
        if not bodies.dynamic[row] or (controls.any_lock and controls.lock[row] >> axis & 1):
            return None
        entity, find = int(bodies.ids[row]), self._link.world.component
        scale: Any = find(entity, GravityScale)
        medium: Any = find(entity, Immersed)
        weight = 1.0 if scale is None else max(0.0, scale.value)
        if medium is not None:
            falls = -self._state.gravity[axis] * registry.up[axis]
            lift = (medium.x, medium.y, medium.z)[axis] * registry.up[axis]
            weight = weight * medium.gravity - (lift / falls if falls > 0.0 else 0.0)
        return float(bodies.mass[row]) * weight

    def _rests_of(self, row: int, known: set[int], gone: tuple[int, ...]) -> list[Rest]:
        """Return the contacts in which a body rests on another that is not known, or that on it."""
        up, timeline = self._registry.up, self._state.timeline
        found, rows = [], timeline.contacts.rows
        for first, second, kind, axis, sign, _, _ in rows.tuples_of(rows.find(row)):
            other = second if first == row else first
            if SHOWN_KINDS[kind] is not ContactKind.SOLID or other in known or other in gone:
                continue
            if abs(sign) == 2:
                height = sum(map(mul, timeline.step.slopes.normal(first, second), up))
            else:
                height = sign * up[axis]
            if abs(height) > COS_45:
                upper, lower = (first, second) if height > 0.0 else (second, first)
                found.append(Rest(upper, lower, self._width(upper, lower)))
        return found

    def _width(self, one: int, other: int) -> float:
        """Return the width, or in 3D the area, that two boxes share across `up`."""
        bodies, width = self._state.timeline.bodies, 1.0
        for k, part in enumerate(self._registry.up):
            if not part:
                away = bodies.centre[other, k] - bodies.centre[one, k]
                if bodies.wraps and bodies.width[k] > 0.0:  # to the nearest image
                    away -= bodies.width[k] * round(away / bodies.width[k])
                half, its = bodies.half[one, k], bodies.half[other, k]
                width *= max(0.0, min(half, away + its) - max(-half, away - its))
        return width


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
        number = _numbered([rests[n] for n in pressing])
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
        loads[n] = max(borne[body], 0.0)
        under = rests[n].lower
        if under in n_unknown:
            borne[under] += loads[n]
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
    """Return the loads of least squares; `lower` is len(mass) for what carries without limit.

    Bodies beside each other have near numbers, so the coefficients are near the diagonal.
    """
    n, kernel = len(mass), backend.kernels.envelope
    numbers = np.arange(n, dtype=np.int64)
    inner = lower < n
    high, low = np.maximum(upper, lower)[inner], np.minimum(upper, lower)[inner]
    first = numbers.copy()
    np.minimum.at(first, high, low)
    place = np.cumsum(numbers - first + 1) - 1
    beside = place[high] - high + low
    presses = np.ones(len(width), bool)
    for _ in range(ROUNDS):
        stiff = np.where(presses, width, 0.0)
        values = np.zeros(int(place[-1]) + 1)
        np.add.at(values, place[upper], stiff)
        np.add.at(values, place[lower[inner]], stiff[inner])
        np.add.at(values, beside, -stiff[inner])
        values[place] += SOFTNESS * width.max()
        kernel.factorise(first.data, place.data, values.data)
        above = np.zeros(n + 1)
        for _ in range(2):  # the second time from what is left over
            left = mass.copy()
            load = stiff * (above[upper] - above[lower])
            np.subtract.at(left, upper, load)
            np.add.at(left, lower[inner], load[inner])
            kernel.solve(first.data, place.data, values.data, left.data)
            above[:n] += left
        rise = above[upper] - above[lower]
        if (presses == (rise > 0)).all():
            break
        presses = rise > 0
    loads: list[float] = (width * np.maximum(rise, 0.0)).tolist()
    return loads


def _numbered(pressing: Iterable[Rest]) -> dict[int, int]:
    """Return a number for each upper body, so that bodies beside each other have near ones.

    It is the order of Cuthill and McKee: outwards from a body with few neighbours.
    """
    beside: dict[int, list[int]] = {rest.upper: [] for rest in pressing}
    for rest in pressing:
        if rest.lower in beside:
            beside[rest.upper].append(rest.lower)
            beside[rest.lower].append(rest.upper)
    number: dict[int, int] = {}
    for start in sorted(beside, key=lambda body: (len(beside[body]), body)):
        waiting = [start]
        for body in waiting:
            if body not in number:
                number[body] = len(number)
                waiting += sorted(beside[body], key=lambda other: (len(beside[other]), other))
    return number
