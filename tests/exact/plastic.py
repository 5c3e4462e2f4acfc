"""The velocities after an inelastic impact of many bodies on one axis, in exact fractions.

From the velocities `before` follow the velocities w that minimise

    sum of m (w - before)²    such that    w_low + apart <= w_high    for each contact.

The forces of the contacts solve a linear complementarity problem.  Lemke's complementary pivoting
finds them, or finds that there are none (Cottle, Pang and Stone, "The Linear Complementarity
Problem", 4.4).  Ties are broken lexicographically, so it cannot cycle.  The library does not use
this algorithm.

Bodies of a higher rank outweigh all of a lower one.  So the highest rank is solved first.  Lower
bodies then weigh nothing and only pass forces on, from each body to all that they lead to.  The
velocities found are fixed for the next rank.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

ZERO = Fraction(0)


class Press(NamedTuple):
    """A contact: `high` is faster than `low` by `apart` at least, by which their faces grow.

    None stands for a body of a fixed velocity.
    """

    low: int | None
    high: int | None
    fixed: Fraction = ZERO
    apart: Fraction = ZERO


def project(
    mass: dict[int, Fraction],
    before: dict[int, Fraction],
    contacts: list[Press],
    rank: dict[int, int] | None = None,
) -> dict[int, Fraction] | None:
    """Return the velocities after the impact, or None if none satisfy all contacts."""
    rank = rank or dict.fromkeys(mass, 0)
    after: dict[int, Fraction] = {}
    for level in sorted(set(rank.values()), reverse=True):
        lower = {i for i in mass if rank[i] < level}
        found = _project_rank(
            {i: mass[i] for i in mass if rank[i] == level},
            before,
            _fix(_through(lower, contacts), after),
        )
        if found is None:
            return None
        after |= found
    return after


def _through(weightless: set[int], contacts: list[Press]) -> list[Press]:
    """Return the contacts that remain if weightless bodies pass on what presses on them."""
    found = set(contacts)
    for body in weightless:
        behind = [contact for contact in found if contact.high == body]
        ahead = [contact for contact in found if contact.low == body]
        found.difference_update(behind, ahead)
        for one in behind:
            for two in ahead:
                if one.low is None and two.high is None:
                    continue  # two walls
                fixed = one.fixed if one.low is None else two.fixed
                found.add(Press(one.low, two.high, fixed, one.apart + two.apart))
    return sorted(found, key=str)


def _fix(contacts: list[Press], after: dict[int, Fraction]) -> list[Press]:
    """Return the contacts with walls in place of the bodies whose velocities are known."""
    found = []
    for low, high, fixed, apart in contacts:
        if low in after and (high is None or high in after):
            continue
        if high in after and low is None:
            continue
        if low in after:
            found.append(Press(None, high, after[low], apart))
        elif high in after:
            found.append(Press(low, None, after[high], apart))
        else:
            found.append(Press(low, high, fixed, apart))
    return found


def _project_rank(
    mass: dict[int, Fraction], before: dict[int, Fraction], contacts: list[Press]
) -> dict[int, Fraction] | None:
    pushed = []
    slack = []
    for low, high, fixed, apart in contacts:
        sides = {i: sign for i, sign in ((high, 1), (low, -1)) if i is not None}
        pushed.append(sides)
        gap = sum((sign * before[i] for i, sign in sides.items()), -apart)
        slack.append(gap + fixed if high is None else gap - fixed if low is None else gap)
    matrix = [
        [
            sum((sign * two[i] / mass[i] for i, sign in one.items() if i in two), ZERO)
            for two in pushed
        ]
        for one in pushed
    ]
    forces = _complement(matrix, slack)
    if forces is None:
        return None
    after = {i: before[i] for i in mass}
    for sides, force in zip(pushed, forces, strict=True):
        for i, sign in sides.items():
            after[i] += sign * force / mass[i]
    return after


def _complement(m: list[list[Fraction]], q: list[Fraction]) -> list[Fraction] | None:
    """Return z >= 0 such that q + m·z >= 0 and one of the two is 0 in each place, or None."""
    n = len(q)
    if all(x >= 0 for x in q):
        return [ZERO] * n
    # Columns: the slacks, z, the artificial variable, and the values.
    rows = [
        [Fraction(i == j) for j in range(n)] + [-x for x in m[i]] + [Fraction(-1), q[i]]
        for i in range(n)
    ]
    basis = list(range(n))
    entering = 2 * n
    leaving = min(range(n), key=lambda i: [q[i], *rows[i][:n]])
    while True:
        out = basis[leaving]
        basis[leaving] = entering
        _pivot(rows, leaving, entering)
        if out == 2 * n:
            values = {column: row[-1] for column, row in zip(basis, rows, strict=True)}
            return [values.get(n + i, ZERO) for i in range(n)]
        entering = out + n if out < n else out - n
        able = [i for i in range(n) if rows[i][entering] > 0]
        if not able:
            return None
        leaving = min(able, key=lambda i: _ratio(rows[i], rows[i][entering], basis[i] == 2 * n, n))


def _ratio(row: list[Fraction], by: Fraction, is_artificial: bool, n: int) -> list[Fraction]:
    """Return what decides which row is left first; of equals the artificial one."""
    return [row[-1] / by, Fraction(not is_artificial), *(x / by for x in row[:n])]


def _pivot(rows: list[list[Fraction]], at: int, column: int) -> None:
    by = rows[at][column]
    rows[at] = [x / by for x in rows[at]]
    for i, row in enumerate(rows):
        if i != at and row[column] != 0:
            factor = row[column]
            rows[i] = [x - factor * y for x, y in zip(row, rows[at], strict=True)]
