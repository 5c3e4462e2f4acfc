"""The velocities after an inelastic impact of many bodies on one axis, in exact fractions.

From the velocities `before` follow the velocities w that minimise

    sum of m (w - before)²    such that    w_low + offset <= w_high    for each bound.

A bound whose `low` or `high` is None holds the other body: its offset is the least or the largest
velocity of that.  The forces of the bounds are the solution of a linear complementarity problem,
which Lemke's complementary pivoting finds, or finds to have none (Cottle, Pang and Stone, "The
Linear Complementarity Problem", 4.4).  Ties are broken lexicographically, so it cannot cycle.

Bodies of a higher rank outweigh those of a lower one.  The pivoting takes their masses as `HEAVIER`
times as large for each rank: that only decides which bounds carry a force.  From these follow the
velocities in the limit, in which only the highest rank of each tree of bounds counts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

HEAVIER = 2**200  # how many times the mass of a body counts for each rank
ZERO = Fraction(0)


class Free(NamedTuple):
    """A body that the impact turns."""

    mass: Fraction
    rank: int
    before: Fraction


class Bound(NamedTuple):
    """A contact: the body `low` is slower than `high` by `offset` at least."""

    low: int | None
    high: int | None
    offset: Fraction


class Tree(NamedTuple):
    """Bodies that press on each other.

    Attributes
    ----------
    shift : for each member, by how much it is faster than `velocity`
    wall : the number of the bound that holds it, or None
    """

    shift: dict[int, Fraction]
    velocity: Fraction
    wall: int | None


def solve(
    bodies: dict[int, Free], bounds: list[Bound]
) -> tuple[list[Tree], list[Fraction]] | None:
    """Return the trees of bodies and the forces of the bounds, or None if nothing satisfies all."""
    found = _complement(*_problem(bodies, bounds))
    if found is None:
        return None
    pressing = [n for n, force in enumerate(found) if force > 0]
    forces = [ZERO] * len(bounds)
    trees = []
    left = dict.fromkeys(bodies)
    while left:
        tree = _tree_of(next(iter(left)), bodies, bounds, pressing, forces)
        trees.append(tree)
        for i in tree.shift:
            del left[i]
    return trees, forces


def forces_of_all(excess: dict[int, Fraction], bounds: list[Bound]) -> list[Fraction | None]:
    """Return the forces of bounds that give all bodies one velocity, None for those not needed.

    `excess` is what each body has too much of.  A bound is needed if it joins two trees.
    """
    tree = {i: {i} for i in excess}
    needed = []
    for n, bound in enumerate(bounds):
        if tree[bound.low] is not tree[bound.high]:
            needed.append(n)
            tree[bound.low] |= tree[bound.high]
            for i in tree[bound.low]:
                tree[i] = tree[bound.low]
    forces: list[Fraction | None] = [None] * len(bounds)
    for n in needed:
        behind = {bounds[n].low}
        grown = True
        while grown:
            more = {i for m in needed if m != n and behind & set(bounds[m][:2]) for i in bounds[m][:2]}
            grown = not more <= behind
            behind |= more
        forces[n] = sum((excess[i] for i in behind), ZERO)
    return forces


def _problem(
    bodies: dict[int, Free], bounds: list[Bound]
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return M and q: the bounds have the slacks q + M·forces."""
    ranks = sorted({body.rank for body in bodies.values()})
    mass = {i: body.mass * HEAVIER ** ranks.index(body.rank) for i, body in bodies.items()}
    pushed: list[dict[int, int]] = []
    q = []
    for bound in bounds:
        sides = {bound.high: 1, bound.low: -1}
        pushed.append({i: sign for i, sign in sides.items() if i is not None})
        slack = sum(sign * bodies[i].before for i, sign in pushed[-1].items())
        q.append(slack + bound.offset if bound.high is None else slack - bound.offset)
    m = [
        [sum((sign * two[i] / mass[i] for i, sign in one.items() if i in two), ZERO) for two in pushed]
        for one in pushed
    ]
    return m, q


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


def _tree_of(
    start: int,
    bodies: dict[int, Free],
    bounds: list[Bound],
    pressing: list[int],
    forces: list[Fraction],
) -> Tree:
    """Return the tree of a body, and set the forces of its bounds."""
    shift = {start: ZERO}
    up: dict[int, tuple[int, int]] = {}  # for each body but the first: its bound, and the next one
    wall = None
    order = [start]
    for i in order:
        for n in pressing:
            bound = bounds[n]
            if i not in (bound.low, bound.high):
                continue
            other = bound.high if i == bound.low else bound.low
            if other is None:
                wall = n
            elif other not in shift:
                shift[other] = shift[i] + (bound.offset if i == bound.low else -bound.offset)
                up[other] = n, i
                order.append(other)
    top = max(bodies[i].rank for i in order)
    if wall is not None:
        (held,) = {bounds[wall].low, bounds[wall].high} - {None}
        velocity = bounds[wall].offset - shift[held]
        if held != start:
            return _tree_of(held, bodies, bounds, pressing, forces)
    elif bodies[start].rank != top:  # a force is what the lower side has too much
        first = next(i for i in order if bodies[i].rank == top)
        return _tree_of(first, bodies, bounds, pressing, forces)
    else:
        masses = {i: bodies[i].mass for i in order if bodies[i].rank == top}
        momentum = sum(mass * (bodies[i].before - shift[i]) for i, mass in masses.items())
        velocity = momentum / sum(masses.values())
    # Of each body and all behind it: what the highest rank there has too much.
    excess = {i: (bodies[i].rank, bodies[i].mass * (bodies[i].before - shift[i] - velocity))
              for i in order}  # fmt: skip
    for i in reversed(order):
        n, to = up.get(i, (wall, None))
        if n is None:
            continue
        rank, much = excess[i]
        forces[n] = much if bounds[n].low == i else -much
        if to is not None and rank >= excess[to][0]:
            excess[to] = rank, much + (excess[to][1] if rank == excess[to][0] else ZERO)
    return Tree(shift, velocity, wall)
