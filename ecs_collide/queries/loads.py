"""How the mass of a pile is shared among the bodies that it rests on.

Each contact carries a load from the upper body to the lower one, and a body passes on its own mass
and all that rests on it.  If a body has one support, that is all there is to say.  If it has more,
many loads are possible, as for a table on four legs.  These are the loads of least squares, each
divided by the width of its contact.  A load is width * (height of the upper body - height of the
lower one), where the *heights* are the multipliers of the balances.  No load is below 0, so a contact
that would have to pull is ignored, and counts again when it would press.

The balances are symmetric linear equations, whose coefficients are near the diagonal if bodies
beside each other have near numbers (Cuthill and McKee, 1969).  Each row of the matrix is stored from
its first coefficient that is not 0 to the diagonal: its *envelope*.  The factor of Cholesky fills no
place outside of it (George and Liu, "Computer Solution of Large Sparse Positive Definite Systems",
1981, chapter 4).
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import COS_45
from ecs_collide.components.dynamics import GravityScale
from ecs_collide.components.immersed import Immersed
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.contacts_between_steps import LEAVING, SOLID, ContactRows
from ecs_collide.narrowphase.slopes import Slopes
from ecs_collide.step.state import StepState
from ecs_collide.sync.plain_numbers import nearest
from ecs_collide.sync.registry import BodyRegistry

ROUNDS = 100  # of contacts left out and counted again; piles of hundreds take fewer than ten
SOFTNESS = 1e-13  # of a contact: keeps a body whose contacts are all left out for a round in place


@cython.final
class Loads:
    """The loads on the bodies of the last step, kept until one begins or a body is deleted.

    A question finds the loads of the whole pile, so that others about it only look them up.
    """

    state: StepState
    link: Any  # `WorldLink`
    registry: BodyRegistry
    asked: tuple
    known: dict

    def __init__(self, shared: Any):
        self.state = shared.state
        self.link = shared.link
        self.registry = shared.registry
        self.asked = ()
        self.known = {}

    def load_on(self, row: int, gone: tuple) -> float:
        """Return the mass that rests on a body, without the bodies in the rows `gone`."""
        asked: tuple = self.state.moment, gone, self.registry.up
        if self.asked != asked:
            self.asked = asked
            self.known = {}
        if row not in self.known:
            self._weigh_pile(row, gone)
        return self.known[row]

    def _weigh_pile(self, start: Any, gone: tuple) -> cython.void:
        """Find the loads on a body, and on all that are connected with it by dynamic bodies."""
        world: Any = self.link.world
        scaled: Any = world.having(GravityScale)
        wet: Any = world.having(Immersed)
        contacts: ContactRows = self.state.timeline.contacts.rows
        up: Any = self.registry.up
        axis: cython.int = 0
        masses: dict = {}
        known: set = set(gone)
        seen: set = {start}
        rests: dict = {}
        waiting: list = [start]

        while up[axis] == 0.0:
            axis += 1
        for row in waiting:  # which grows
            mass = self._mass_of(row, axis, scaled, wet)
            if mass is None and row != start:
                continue  # it carries without limit, and may carry other piles
            if mass is not None:
                masses[row] = mass
            known.add(row)
            for number in contacts.find(row):
                n: cython.Py_ssize_t = number
                other = contacts.partner(n, row)
                kind: cython.int = contacts.at[n].kind
                if other in known or kind not in (SOLID, LEAVING):
                    continue
                height: cython.double = self._height(contacts, n, axis)
                if abs(height) <= COS_45:
                    continue
                upper, lower = contacts.at[n].first, contacts.at[n].second
                if height < 0.0:
                    upper, lower = lower, upper
                rests[upper, lower, self._width(upper, lower, axis)] = None
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        found: list = []
        for rest in rests:
            if rest[0] in masses:
                found.append(rest)
        total: dict = dict.fromkeys((start, *masses), 0.0)
        for rest, load in zip(found, find_loads(masses, found), strict=True):
            if rest[1] in total:
                total[rest[1]] += load
        for row, load in total.items():
            self.known[row] = float(f"{load:.12g}")

    @cython.cfunc
    def _mass_of(self, row: cython.Py_ssize_t, axis: cython.int, scaled: Any, wet: Any) -> Any:
        """Return the mass with which a body presses down, or None if it is no dynamic body.

        Water that lifts a body takes its part; one that rises has less than 0.
        """
        b: Bodies = self.registry.bodies
        up: cython.double = self.registry.up[axis]
        weight: cython.double = 1.0

        if not b.dynamic[row] or (b.controls.any_lock and b.controls.lock[row] >> axis & 1):
            return None
        entity = b.ids[row]
        if entity in scaled:
            scale: Any = self.link.world.component(entity, GravityScale)
            weight = max(0.0, scale.value)
        if entity in wet:
            medium: Any = self.link.world.component(entity, Immersed)
            falls: cython.double = -self.state.gravity[axis] * up
            lift: cython.double = (medium.x, medium.y, medium.z)[axis] * up
            weight = weight * medium.gravity - (lift / falls if falls > 0.0 else 0.0)
        return b.mass[row] * weight

    def _height(
        self, contacts: ContactRows, n: cython.Py_ssize_t, axis: cython.int
    ) -> cython.double:
        """Return the part of a contact's normal along `up`."""
        up: cython.double = self.registry.up[axis]
        slopes: Slopes = self.state.timeline.step.slopes

        slopes.find_normal(
            contacts.at[n].first, contacts.at[n].second, contacts.at[n].axis, contacts.at[n].sign
        )
        return slopes.unit[axis] * up + 0.0

    def _width(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, axis: cython.int) -> cython.double:
        """Return the width, or in 3D the area, that two boxes share across an axis."""
        b: Bodies = self.registry.bodies
        width: cython.double = 1.0

        for k in range(b.dim):
            if k == axis:
                continue
            away: cython.double = b.centre[j, k] - b.centre[i, k]
            if b.wraps and b.width[k] > 0.0:  # to the nearest image
                away -= b.width[k] * nearest(away / b.width[k])
            least: cython.double = max(-b.half[i, k], away - b.half[j, k])
            width *= max(0.0, min(b.half[i, k], away + b.half[j, k]) - least)
        return width


def find_loads(masses: dict, rests: list) -> list:
    """Return the load of each contact, in the unit of the masses.

    Parameters
    ----------
    masses : dict of int to float
        The mass of each body that must be carried; all other bodies carry without limit.
    rests : list of (upper, lower, width)
        Every upper body has a mass.  Bodies that nothing carries in the end press on nothing.
    """
    loads: list = [0.0] * len(rests)
    borne: dict = _carried(masses, rests)
    pressing: list = _pass_down(rests, borne, loads)
    if pressing:
        number: dict = _numbered(pressing)
        n: cython.Py_ssize_t = len(number)
        upper = np.empty(len(pressing), np.intp)
        lower = np.empty(len(pressing), np.intp)
        width = np.empty(len(pressing))
        for m in range(len(pressing)):
            above, under, share, _ = pressing[m]
            upper[m], lower[m] = number[above], number.get(under, n)
            width[m] = max(share, SOFTNESS)
        mass = np.empty(n)
        for body, m in number.items():
            mass[m] = borne[body]
        shared: list = _balance(upper, lower, width, mass)
        for rest, load in zip(pressing, shared, strict=True):
            loads[rest[3]] = load
    return loads


@cython.cfunc
def _carried(masses: dict, rests: list) -> dict:
    """Return the masses of bodies that rest on what carries without limit, however indirectly."""
    above: dict = {}
    waiting: list = []
    carried: dict = {}

    for upper, lower, _ in rests:
        above.setdefault(lower, []).append(upper)
    for body in above:
        if body not in masses:
            waiting.append(body)
    while waiting:
        for body in above.get(waiting.pop(), ()):
            if body not in carried:
                carried[body] = masses[body]
                waiting.append(body)
    return carried


@cython.cfunc
def _pass_down(rests: list, borne: dict, loads: list) -> list:
    """Set the loads that have no choice, from the top down; return the others, with their numbers.

    A body passes on what it has `borne` once all that rests on it is known, if it has one support.
    """
    supports: dict = {}
    n_unknown: dict = dict.fromkeys(borne, 0)
    waiting: list = []
    left: list = []

    for n in range(len(rests)):
        upper, under, _ = rests[n]
        if upper in borne:
            supports.setdefault(upper, []).append(n)
            if under in n_unknown:
                n_unknown[under] += 1
    for body, n_above in n_unknown.items():
        if n_above == 0:
            waiting.append(body)
    while waiting:
        body = waiting.pop()
        if len(supports[body]) > 1:
            continue
        (number,) = supports.pop(body)
        under = rests[number][1]
        loads[number] = max(borne[body], 0.0)
        if under in n_unknown:
            borne[under] += loads[number]
            n_unknown[under] -= 1
            if n_unknown[under] == 0:
                waiting.append(under)
    for n in range(len(rests)):
        upper, under, width = rests[n]
        if upper in supports:
            left.append((upper, under, width, n))
    return left


@cython.cfunc
def _numbered(pressing: list) -> dict:
    """Return a number for each upper body, so that bodies beside each other have near ones.

    It is the order of Cuthill and McKee: outwards from a body with few neighbours.
    """
    beside: dict = {}
    starts: list = []
    number: dict = {}

    for upper, _, _, _ in pressing:
        beside[upper] = []
    for upper, lower, _, _ in pressing:
        if lower in beside:
            beside[upper].append(lower)
            beside[lower].append(upper)
    for body, some in beside.items():
        starts.append((len(some), body))
    starts.sort()
    for start in starts:
        waiting: list = [start]
        for _, body in waiting:  # which grows
            if body in number:
                continue
            number[body] = len(number)
            near: list = []
            for other in beside[body]:
                near.append((len(beside[other]), other))
            near.sort()
            waiting += near
    return number


@cython.cfunc
def _balance(upper: Any, lower: Any, width: Any, mass: Any) -> list:
    """Return the loads of least squares; `lower` is len(mass) for what carries without limit.

    Bodies beside each other have near numbers, so the coefficients are near the diagonal.
    """
    n: cython.Py_ssize_t = len(mass)
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
        values = np.zeros(int(place[n - 1]) + 1)
        np.add.at(values, place[upper], stiff)
        np.add.at(values, place[lower[inner]], stiff[inner])
        np.add.at(values, beside, -stiff[inner])
        values[place] += SOFTNESS * width.max()
        _factorise(first.data, place.data, values.data)
        above = np.zeros(n + 1)
        for _ in range(2):  # the second time from what is left over
            left = mass.copy()
            load = stiff * (above[upper] - above[lower])
            np.subtract.at(left, upper, load)
            np.add.at(left, lower[inner], load[inner])
            _solve(first.data, place.data, values.data, left.data)
            above[:n] += left
        rise = above[upper] - above[lower]
        if (presses == (rise > 0)).all():
            break
        presses = rise > 0
    return (width * np.maximum(rise, 0.0)).tolist()


def _factorise(
    first: cython.longlong[::1], place: cython.longlong[::1], values: cython.double[::1]
) -> cython.void:
    """Replace a positive definite matrix by its factor.  O(n * width²).

    Parameters
    ----------
    first : int64 (n,)
        The first column of each row.
    place : int64 (n,)
        The index in `values` of each diagonal coefficient; those before it in the row are before it.
    values : float64, written
    """
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t

    for i in range(first.shape[0]):
        row: cython.Py_ssize_t = place[i] - i
        rest: cython.double = values[place[i]]
        for j in range(first[i], i):
            other: cython.Py_ssize_t = place[j] - j
            total: cython.double = values[row + j]
            for k in range(max(first[i], first[j]), j):
                total -= values[row + k] * values[other + k]
            total = total / values[place[j]]
            values[row + j] = total
            rest -= total * total
        values[place[i]] = sqrt(rest)


def _solve(
    first: cython.longlong[::1],
    place: cython.longlong[::1],
    values: cython.double[::1],
    right: cython.double[::1],
) -> cython.void:
    """Replace the right sides of equations by their solution, after `_factorise`."""
    j: cython.Py_ssize_t
    n: cython.Py_ssize_t = first.shape[0]

    for i in range(n):
        row: cython.Py_ssize_t = place[i] - i
        total: cython.double = right[i]
        for j in range(first[i], i):
            total -= values[row + j] * right[j]
        right[i] = total / values[place[i]]
    for m in range(n):
        i = n - 1 - m
        row = place[i] - i
        right[i] = right[i] / values[place[i]]
        for j in range(first[i], i):
            right[j] -= values[row + j] * right[i]
