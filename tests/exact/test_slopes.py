"""The sweep of boxes and slopes against exact numbers.

Two convex shapes overlap if no line along an edge of either is between them.  So the *gap* of a
pair is the largest distance, over all these directions, from the last vertex of the slope to the
first vertex of the box.  Vertices move in straight lines, so this is a convex function of time, and
fractions give it without rounding.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import esper
import pytest

import ecs_collide as ec

pytestmark = pytest.mark.usefixtures("implementation", "world")

SLOPS = 2  # an answer may be wrong by so many slops
HAIRS = 2**22


class Pair:
    """A box and a slope, moved to a new place for each step of one second."""

    def __init__(self, dim=2, up=(0, 1)):
        self.dim, self.up = dim, up
        self.slope_at = ec.Position(0, 0, 0)
        self.slope_size, self.size = ec.Extents(1, 1, 1), ec.Extents(1, 1, 1)
        self.slope_speed, self.speed = ec.Velocity(0, 0, 0), ec.Velocity(0, 0, 0)
        self.shape, self.at = ec.Slope("right"), ec.Position(5, 5, 5)
        self.growth = ec.Growth(0, 0, 0)
        self.slope = esper.create_entity(
            self.slope_at, self.slope_size, self.slope_speed, self.shape
        )
        self.box = esper.create_entity(self.at, self.size, self.speed, self.growth, ec.Slide())
        self.space = ec.install(ec.Space(dim, up=up), dim=dim)

    def draw(self, rng, number):
        """Draw all numbers."""
        d = self.dim
        self.slope_at.set(*(number(8) for _ in range(d)))
        self.slope_size.set(*(abs(number(3)) + 0.25 for _ in range(d)))
        self.slope_speed.set(*(rng.choice([0.0, number(4)]) for _ in range(d)))
        self.size.set(*(rng.choice([0.0, abs(number(2))]) for _ in range(d)))
        rise = [0.0, 0.0, 0.0]
        rise[rng.choice([k for k in range(d) if not self.up[k]])] = rng.choice([1.0, -1.0])
        self.shape.rise = rise
        self.shape.low, self.shape.high = rng.choice([(0, 1), (0, 0.5), (0.5, 1), (0.25, 0.75)])
        self.shape.ceiling = rng.random() < 0.3
        place = [number(10) for _ in range(d)]
        target = [number(3) + self.slope_at.xyz[k] for k in range(d)]
        share = rng.choice([0.5, 1.0, 2.0, 16.0])
        self.at.set(*place)
        self.speed.set(*((target[k] - place[k]) * share for k in range(d)))
        self.growth.set(*(rng.choice([0.0, 0.5, -0.5]) for _ in range(d)))
        for k, name in enumerate("xyz"[:d]):
            setattr(self.growth, name, max(self.growth.xyz[k], -self.size.xyz[k]))

    def draw_close(self, rng, number):
        """Draw all numbers so that the corner is within a few slops of the line at some time.

        Half of the corners are at an end of the line.
        """
        self.draw(rng, number)
        vertices, normal = self.vertices()
        highest = max(dot(normal, vertex) for vertex in vertices)
        one, *_, other = [each for each in vertices if dot(normal, each) == highest]
        part = rng.choice([0.0, 1.0, rng.random(), rng.random()])
        time = rng.choice([0.0, 0.25, 0.5, rng.random()])
        away = rng.choice([-4, -1, -0.5, 0, 0, 0.5, 1, 4]) * 2.0**-44
        place = []
        for k in range(self.dim):
            side = (normal[k] > 0) - (normal[k] < 0)
            target = float(one[k]) + part * float(other[k] - one[k])
            target += side * away * abs(target)
            speed = self.speed.xyz[k] - self.slope_speed.xyz[k]
            size = self.size.xyz[k] + self.growth.xyz[k] * time
            place.append(target + side * size - speed * time)
        self.at.set(*place)

    def vertices(self):
        """Return the exact corners of the solid part of the slope."""
        low, high = faces(self.slope_at, self.slope_size, self.dim)
        up = next(k for k in range(self.dim) if self.up[k])
        run = next(k for k in range(self.dim) if self.shape.rise[k])
        upwards = self.up[up] * (-1 if self.shape.ceiling else 1) > 0
        solid, base = (low[up], low[up]) if self.up[up] > 0 else (high[up], high[up])
        height = 2 * Fraction(self.slope_size.xyz[up]) * self.up[up]
        if self.shape.ceiling:
            solid += height
        first = low[run] if self.shape.rise[run] > 0 else high[run]
        length = 2 * Fraction(self.slope_size.xyz[run]) * int(self.shape.rise[run])
        outline = [
            (first, solid),
            (first, base + height * Fraction(self.shape.low)),
            (first + length, base + height * Fraction(self.shape.high)),
            (first + length, solid),
        ]
        ends = [(low[k], high[k]) for k in range(self.dim) if k not in (run, up)]
        found = []
        for (along, above), *rest in itertools.product(outline, *ends):
            vertex = [rest[0] if rest else None] * self.dim
            vertex[run], vertex[up] = along, above
            found.append(vertex)
        normal = [Fraction(0)] * self.dim
        normal[up] = length if upwards else -length
        normal[run] = -(outline[2][1] - outline[1][1]) * (1 if upwards else -1)
        if normal[up] * (1 if upwards else -1) < 0:
            normal = [-part for part in normal]
        return found, normal

    def gaps(self):
        """Return gap, rate and slop in each direction, for the normals out of the slope."""
        low, high = faces(self.at, self.size, self.dim)
        corners = list(itertools.product(*zip(low, high, strict=True)))
        vertices, slanted = self.vertices()
        axes = range(self.dim)
        speeds = [[Fraction(part) for part in each.xyz] for each in (self.speed, self.slope_speed)]
        growth = [Fraction(part) for part in self.growth.xyz[: self.dim]]
        moves = [speeds[0][k] - speeds[1][k] for k in axes]
        reach = [
            max(abs(vertex[k]) for vertex in corners + vertices)
            + abs(speeds[0][k]) + abs(speeds[1][k]) + abs(growth[k])
            for k in axes
        ]  # fmt: skip
        units = [[Fraction(s * (n == k)) for n in range(self.dim)] for k in range(self.dim)
                 for s in (-1, 1)]  # fmt: skip
        for normal in [*units, slanted]:
            first = min(dot(normal, corner) for corner in corners)
            last = max(dot(normal, vertex) for vertex in vertices)
            sizes = [abs(part) for part in normal]
            slop = dot(sizes, reach) / 2**44
            yield normal, first - last, dot(normal, moves) - dot(sizes, growth), slop


def faces(place, size, dim):
    """Return the stored faces, which are rounded once, as exact numbers."""
    both = list(zip(place.xyz, size.xyz, strict=True))[:dim]
    return [Fraction(c - h) for c, h in both], [Fraction(c + h) for c, h in both]


def dot(one, other):
    return sum((a * b for a, b in zip(one, other, strict=True) if a), Fraction(0))


def depth(gaps, t):
    """Return the largest gap at a time, in slops of its direction: below 0 inside."""
    return max((gap + rate * t) / slop for _, gap, rate, slop in gaps)


def least(gaps):
    """Return the least of `depth` within the step: it is convex, with corners."""
    times = {Fraction(0), Fraction(1)}
    for (_, a, b, s), (_, c, d, r) in itertools.combinations(gaps, 2):
        if b / s != d / r:
            times.add((c / r - a / s) / (b / s - d / r))
    return min(depth(gaps, t) for t in times if 0 <= t <= 1)


def verdict(pair, gaps, rows):
    """Return what is wrong with the collisions of a step, or None."""
    if -HAIRS <= depth(gaps, 0) < -SLOPS:  # it is put flush before the step
        return None
    if not len(rows):
        # What overlaps from the start, and parts, is no impact; neither is what meets at the end.
        # A body that is within the tolerance at the start may be put on the nearest side.
        start = depth(gaps, 0)
        is_missed = least(gaps) < (-SLOPS if start >= SLOPS else -2 * SLOPS) and start >= -SLOPS
        return "missed" if is_missed else None
    row = rows[0]
    time = Fraction(float(row["time"]))
    if row["kind"] == ec.SweepKind.OVERLAP:
        return None if depth(gaps, 0) < SLOPS else "no overlap"
    if not -SLOPS <= depth(gaps, time) <= SLOPS:
        return f"at {float(time)} they are {float(depth(gaps, time))} slops apart"
    sign = -1 if row["first"] == pair.slope else 1
    seen = [sign * part for part in row["normal"].tolist()]
    for normal, gap, rate, slop in gaps:
        length = float(dot(normal, normal)) ** 0.5
        if all(abs(float(n) / length - s) < 1e-12 for n, s in zip(normal, seen, strict=True)):
            if rate >= 0:
                return "the side does not close"
            return None if abs(gap + rate * time) <= SLOPS * slop else "the side is not near"
    return f"{seen} is no side"


def whole(rng):
    """Return numbers that are multiples of a quarter, so that many corners meet."""
    return lambda most: rng.randint(-4 * most, 4 * most) / 4


def any_float(rng):
    return lambda most: rng.uniform(-most, most)


def far(rng):
    return lambda most: rng.uniform(-most, most) + (1e6 if most >= 8 else 0.0)


@pytest.mark.parametrize("draw", [Pair.draw, Pair.draw_close])
@pytest.mark.parametrize("numbers", [whole, any_float, far])
@pytest.mark.parametrize("dim", [2, 3])
def test_no_impact_with_a_slope_is_wrong(dim, numbers, draw, volume):
    rng = random.Random(f"{dim} {numbers.__name__}")
    pair = Pair(dim, rng.choice([(0, 1, 0), (0, -1, 0)])[:dim])
    number = numbers(rng)
    n_impacts = n_slanted = 0

    for _ in range(volume(60, 200, 500_000, least=60)):
        draw(pair, rng, number)
        gaps = list(pair.gaps())
        shown = [repr(esper.components_for_entity(e)) for e in (pair.slope, pair.box)]
        esper.process(1.0)
        rows = pair.space.collision_array

        wrong = verdict(pair, gaps, rows)
        assert wrong is None, f"{wrong}: {shown}, up {pair.up}"
        n_impacts += len(rows) > 0 and rows["kind"][0] == ec.SweepKind.IMPACT
        n_slanted += len(rows) > 0 and 0 < abs(rows["normal"][0][1]) < 1
        if len(rows) and depth(gaps, 0) > SLOPS:
            after = depth(list(pair.gaps()), 0)
            assert after > -SLOPS or len(rows) > 1, f"inside by {float(after)} slops: {shown}"

    assert n_impacts > 0
    assert n_slanted > 0


def falsified(rows, gaps):
    """Yield the collisions of a step with one thing in them that is false."""
    yield "none", rows[:0]
    yield "kind", changed(rows, "kind", ec.SweepKind.OVERLAP)
    yield "side", changed(rows, "normal", -rows["normal"][0])
    tilted = rows["normal"][0].copy()
    tilted[1] *= 1 + 2.0**-30
    yield "normal", changed(rows, "normal", tilted)
    fastest = max(abs(rate) / slop for _, _, rate, slop in gaps)
    for slops in (-100, 100):
        yield "time", changed(rows, "time", rows["time"][0] + float(slops / fastest) * 2.0**8)


def changed(rows, field, value):
    other = rows.copy()
    other[field][0] = value
    return other


def test_the_judge_of_slopes_refuses_what_is_false():
    rng = random.Random(8)
    pair = Pair()
    refused = set()

    while len(refused) < 5:
        pair.draw(rng, any_float(rng))
        gaps = list(pair.gaps())
        esper.process(1.0)
        rows = pair.space.collision_array
        if len(rows) != 1 or rows["kind"][0] != ec.SweepKind.IMPACT or least(gaps) > -1000 * SLOPS:
            continue
        for name, other in falsified(rows, gaps):
            assert verdict(pair, gaps, other) is not None, name
            refused.add(name)


#             +----+      A box passes the high end of a line, at (16, 16), or its corner goes
#     __..    |    |      along the line.  Within the slop it touches; a box that is lower by
#   ''    :   +----+      eight slops meets the face at the end.
@pytest.mark.parametrize(
    ("corner", "motion", "slops", "meets"),
    [
        *[((36, 16), (-8, 0), slops, slops == -8) for slops in (-8, -0.25, 0, 0.25, 8)],
        *[((6, 11), (4, 2), slops, False) for slops in (-0.25, 0, 0.25, 8)],
        *[((6, 11), (4, 1.75), slops, True) for slops in (-0.25, 0, 0.25, 8)],
    ],
)
def test_what_passes_a_slope_within_the_slop_does_not_meet_it(corner, motion, slops, meets):
    esper.create_entity(
        ec.Position(8, 12), ec.Extents(8, 4), ec.Velocity(0, 0), ec.Slope("right")
    )  # the line goes from (0, 8) to (16, 16)
    place = (corner[0] - 8, corner[1] + 8 + slops * 2.0**-44 * 24)
    body = esper.create_entity(
        ec.Position(*place), ec.Extents(8, 8), ec.Velocity(*motion), ec.Slide()
    )
    space = ec.install()

    esper.process(1.0)

    after = esper.component_for_entity(body, ec.Position).xy
    expected = [ec.SweepKind.IMPACT] if meets else []
    assert [hit.kind for hit in space.collisions] == expected
    if not meets:
        assert after == pytest.approx((place[0] + motion[0], place[1] + motion[1]), abs=2.0**-39)
