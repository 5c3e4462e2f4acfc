"""Ways out of overlaps in fractions: what `PushOut` and `Separate` add to the paths of a step.

Written from `docs/crowds.md` and the rules of `ecs_collide/response/ways_out.py`.  The parts of a
separation are rounded as the library's are, to 2**-32 of a member's size; the length of what a
member is moved by is a root, to 128 bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from tests.exact.roots import root

if TYPE_CHECKING:
    from tests.exact.simulator import Body, Simulator

N_RELAXATIONS = 8
RELAXATION = Fraction(1.7)
PARTS = 1 << 32  # of the size of a member
SAME_POINT = Fraction(1, 1 << 30)
MOST = 4  # of the sizes of a member, by one partner
SHALLOW = Fraction(1, 1 << 24), Fraction(1, 1 << 40)  # of the sizes, of the coordinates
GOLDEN = 0.8191725133961645, 0.6710436067037893, 0.5497004779019703

Vector = list[Fraction]


def are_soft(one: Body, other: Body) -> bool:
    """Return whether two bodies are members of soft crowds: they have no impacts."""
    return not (one.separate is None or other.separate is None) and not (one.sensor or other.sensor)


class Drifts:
    """What leads the bodies of a step out of others, in units per second.

    Attributes
    ----------
    of : for each body, the velocity that its path has besides its own
    sides : for each body that is pushed out, axis and sign of its way
    """

    def __init__(self, step: Simulator) -> None:
        self.step = step
        self.of = {i: [Fraction(0)] * step.dim for i in step.bodies}
        self.sides: dict[int, tuple[int, int]] = {}

    def find(self) -> None:
        """Find all of them, when the velocities of the step are known."""
        step = self.step
        ways = {i: self._way_out(i) for i in step.bodies if self._is_pushed(i)}
        for i, way in ways.items():
            if way is not None:
                self._lead_out(i, *way)
        self._separate()

    def end(self, i: int, k: int) -> bool:
        """End what leads a body on an axis; return whether it had any."""
        if i in self.sides and self.sides[i][0] == k:
            del self.sides[i]
        had_any = self.of[i][k] != 0
        self.of[i][k] = Fraction(0)
        return had_any

    # -- PushOut --

    def _is_pushed(self, i: int) -> bool:
        body = self.step.bodies[i]
        return body.push_out is not None and body.is_dynamic and not body.sensor

    def _lead_out(self, i: int, k: int, sign: int, way: Fraction) -> None:
        step = self.step
        speed = min(step.bodies[i].push_out, way / step.dt)
        if step.velocity[i][k] * sign < 0:
            step.velocity[i][k] = Fraction(0)
        self.of[i][k] = sign * max(Fraction(0), speed - sign * step.velocity[i][k])
        self.sides[i] = k, sign

    def _way_out(self, i: int) -> tuple[int, int, Fraction] | None:
        """Return the shortest way out of all bodies that one is in, as far as the first of them."""
        step = self.step
        inside = [j for j in step.bodies if self._is_in(step.faces(i), i, j)]
        ways = []
        for k in range(step.dim if inside else 0):
            for sign in (-1, 1) if k not in step.bodies[i].locked else ():
                way = self._farthest(i, inside, k, sign)
                if way is not None and not self._is_blocked(i, inside, k, sign * way):
                    ways.append((way, k, sign))
        if not ways:
            return None
        _, k, sign = min(ways)
        return k, sign, min(self._way_past(i, j, k, sign) for j in inside)

    def _is_in(self, region: tuple[Vector, Vector], i: int, j: int) -> bool:
        """Return whether a body that pushes another one out is in a region."""
        if i == j or not self.holds_back(i, j):
            return False
        (low1, high1), (low2, high2) = region, self.step.faces(j)
        return all(low1[k] < high2[k] and low2[k] < high1[k] for k in range(self.step.dim))

    def holds_back(self, i: int, j: int) -> bool:
        """Return whether an overlap of two bodies pushes out the first."""
        one, other = self.step.bodies[i], self.step.bodies[j]
        if other.sensor or other.solid_side or are_soft(one, other):
            return False
        if not self.step.may_meet(i, j):
            return False
        if other.push_out is None or not other.is_dynamic:
            return True
        weights = [(body.level, body.mass) for body in (one, other)]
        if one.level == other.level and one.mass == other.mass:
            return other.place < one.place
        return weights[0] < weights[1]

    def _way_past(self, i: int, j: int, k: int, sign: int) -> Fraction:
        (low1, high1), (low2, high2) = self.step.faces(i), self.step.faces(j)
        return high2[k] - low1[k] if sign > 0 else high1[k] - low2[k]

    def _farthest(self, i: int, inside: list[int], k: int, sign: int) -> Fraction | None:
        """Return how far a body must go past all; None if another side of one is nearer."""
        ways = [(self._way_past(i, j, k, sign), self._way_past(i, j, k, -sign)) for j in inside]
        if any(way > back for way, back in ways):
            return None
        return max(way for way, _ in ways)

    def _is_blocked(self, i: int, inside: list[int], k: int, way: Fraction) -> bool:
        low, high = self.step.faces(i)
        low[k] += min(way, 0)
        high[k] += max(way, 0)
        return any(self._is_in((low, high), i, j) for j in self.step.bodies if j not in inside)

    # -- Separate --

    def _separate(self) -> None:
        """Move the members of soft crowds apart, in rounds."""
        step = self.step
        pairs = list(self._soft_pairs())
        self.places = {i: self._end_of(i) for pair in pairs for i in pair}
        self.reach = {
            i: min(step.bodies[i].separate * step.dt, self.size_of(i) / 2)
            for i in self.places
            if step.bodies[i].is_dynamic and i not in self.sides
        }
        self.pushes = {i: [Fraction(0)] * step.dim for i in self.reach}
        for _ in range(N_RELAXATIONS):
            if not self._relax(pairs):
                break
        for i, push in self.pushes.items():
            for k, way in enumerate(push):
                self.of[i][k] += Fraction(round(way / step.dt * 2**90), 2**90)

    def _soft_pairs(self) -> Iterator[tuple[int, int]]:
        bodies = self.step.bodies
        for i, one in bodies.items():
            for j, other in bodies.items():
                if i < j and are_soft(one, other) and self.step.may_meet(i, j):
                    yield i, j

    def _end_of(self, i: int) -> tuple[Vector, Vector]:
        """Return the centre and the half sizes of a body at the end of its path."""
        step, dt = self.step, self.step.dt
        low, high = step.faces(i)
        speed = [step.course(i, k) for k in range(step.dim)]
        centre = [(a + b) / 2 + v * dt for a, b, v in zip(low, high, speed, strict=True)]
        growth = step.growth[i]
        half = [max(Fraction(0), (b - a) / 2 + g * dt)
                for a, b, g in zip(low, high, growth, strict=False)]  # fmt: skip
        return centre, half

    def size_of(self, i: int) -> Fraction:
        return 2 * max(self.places[i][1])

    def _relax(self, pairs: list[tuple[int, int]]) -> bool:
        """Run one round; return whether any members overlapped."""
        totals = {i: [Fraction(0)] * self.step.dim for i in self.reach}
        counts = dict.fromkeys(self.reach, 0)
        found = False
        for i, j in pairs:
            way = self._separation(i, j)
            if way is None:
                continue
            found = True
            share = self._share(i, j)
            for n, part in ((i, share), (j, share - 1)):
                if self.reach.get(n, 0) > 0:
                    counts[n] += 1
                    self._add(totals[n], n, [part * x for x in way])
        for i, n in counts.items():
            if n:
                self._move(i, min(Fraction(1), RELAXATION / n), totals[i])
        return found

    def _add(self, total: Vector, i: int, way: Vector) -> None:
        for k, x in enumerate(way):
            if k not in self.step.bodies[i].locked:
                part = max(-MOST, min(MOST, x / self.size_of(i)))
                total[k] += Fraction(round(part * PARTS), PARTS)

    def _move(self, i: int, part: Fraction, total: Vector) -> None:
        """Add the mean of what its partners want to what moves a member, up to its reach."""
        old = self.pushes[i]
        push = [a + self.size_of(i) * part * b for a, b in zip(old, total, strict=True)]
        length = root(sum(x * x for x in push))
        if length > self.reach[i]:
            push = [x * self.reach[i] / length for x in push]
        push = [Fraction(round(x * 2**90), 2**90) for x in push]
        centre = self.places[i][0]
        for k in range(self.step.dim):
            centre[k] += push[k] - old[k]
        self.pushes[i] = push

    def _share(self, i: int, j: int) -> Fraction:
        """Return the part of a separation that the first of two members goes."""
        one, other = self.step.bodies[i], self.step.bodies[j]
        first, second = (self.reach.get(n, 0) > 0 for n in (i, j))
        if not (first and second):
            return Fraction(first)
        if one.level != other.level:
            return Fraction(one.level < other.level)
        return other.mass / (one.mass + other.mass)

    def _separation(self, i: int, j: int) -> Vector | None:
        """Return the way of one member out of another, or None if they are apart."""
        (centre1, half1), (centre2, half2) = self.places[i], self.places[j]
        apart = [a - b for a, b in zip(centre1, centre2, strict=True)]
        sizes = [a + b for a, b in zip(half1, half2, strict=True)]
        for d, size, a, b in zip(apart, sizes, centre1, centre2, strict=True):
            if size - abs(d) <= max(SHALLOW[0] * size, SHALLOW[1] * (abs(a) + abs(b))):
                return None
        way = [d / size for d, size in zip(apart, sizes, strict=True)]
        if max(map(abs, way)) < SAME_POINT:
            (low1, high1), (low2, high2) = (self.step.faces(n) for n in (i, j))
            before = [
                (a + b - c - d) / 2 for a, b, c, d in zip(low1, high1, low2, high2, strict=True)
            ]
            way = [d / size for d, size in zip(before, sizes, strict=True)]
        if max(map(abs, way)) < SAME_POINT:
            way = self._by_ids(i, j)
        way = [x * min(sizes) / size for x, size in zip(way, sizes, strict=True)]
        times = [
            (size - abs(d)) / abs(x) for x, size, d in zip(way, sizes, apart, strict=True) if x
        ]
        return [x * min(times) for x in way]

    def _by_ids(self, i: int, j: int) -> Vector:
        """Return the direction of two members with one centre: each id has a point in a cube."""
        way = [Fraction(_lean(i, k) - _lean(j, k)) for k in range(self.step.dim)]
        longest = max(map(abs, way))
        return [x / longest for x in way]


def _lean(ident: int, k: int) -> float:
    far = (ident & 0xFFFFF) * GOLDEN[k]
    return far - math.floor(far)
