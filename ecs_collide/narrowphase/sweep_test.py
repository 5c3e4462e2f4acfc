"""Sweep two boxes that both may move and change their size.

The faces of a box travel in straight lines during a step.  So on each axis the
gap on either *side* of a pair is a straight line in time, ``gap + rate * t``::

    minus side   second beyond the max face of first   normal -1
    plus side    second beyond the min face of first   normal +1

Closed boxes share a point while no gap is positive; their interiors overlap
while all gaps are negative.  An *impact* is the instant from which the interiors
begin to overlap.  Touching at rest, sliding along a face or along the seam of
two faces, grazing a corner and moving apart are never impacts.

Sides are numbered 2 * axis for minus and 2 * axis + 1 for plus.  Times are
fractions of the step; `rest` is the remaining part of the step.

A slope has one more side, its line.  Its gap is the distance of one corner of the box from the
line, which is a straight line in time as well.  `narrowphase/slopes.py` aims it; its number is
2 * dim, and its slop and `near` have the index dim.

Notes
-----
The slab test by first and last time per axis is Gomez, "Simple Intersection
Tests for Games" (1999).  This version tests sides instead of axes, so that
sizes may change.  Its impacts are open, so that seams do not catch.  Its
tolerance is relative, the rounding of the faces.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.constants import INF, NAN, SLOP, TINY
from ecs_collide.broadphase.pair_table import FIRST, SECOND, PairTable
from ecs_collide.motion.bodies import Bodies

SEPARATE = 0
TOUCH = 1
IMPACT = 2
OVERLAP = 3


@cython.inline
def _without_tiny(difference: cython.double) -> cython.double:
    """Return a difference, or 0 if its size is below `TINY`."""
    return difference if abs(difference) >= TINY else 0.0


@cython.inline
def _time_of_zero(gap: cython.double, rate: cython.double) -> cython.double:
    """Return the time at which a changing gap is zero, as a fraction of the step."""
    return -gap / rate + 0.0  # + 0.0: never -0.0


@cython.final
class Sweeper:
    """A test of a pair of boxes: aimed axis by axis, then solved."""

    dim: Public[cython.int]
    n_sides: cython.int  # 2 * dim, and one more for a slope
    gap: cython.double[7]
    rate: cython.double[7]
    slop: cython.double[4]
    near: cython.double[4]
    slope_axis: cython.int  # of a slope: the axis and the sign of its contacts
    slope_sign: cython.int
    kind: Public[cython.int]  # 0 separate, 1 touch, 2 impact, 3 overlap
    # contact axis and direction of the normal, which points from second to first; -1 and 0 if
    # there is neither impact nor overlap; 2 and -2 are signs of a slope's normal
    axis: Public[cython.int]
    sign: Public[cython.int]
    corner: Public[cython.int]  # 1 if another axis closes at the same instant
    # first and last instant at which the closed boxes share a point, in fractions of the step
    # from its start, unclipped; inf and -inf if they never do
    enter: Public[cython.double]
    exit: Public[cython.double]
    # depth of an overlap at the start on the shallowest side, else 0
    depth: Public[cython.double]

    def __init__(self, dim: cython.int):
        self.dim = dim
        self.n_sides = 2 * dim
        self.axis = -1

    def aim_pair(
        self, b: Bodies, pairs: PairTable, p: cython.Py_ssize_t, now: cython.double
    ) -> cython.void:
        """Set the faces of the boxes of a pair, and their motion from `now` to the step's end."""
        i: cython.Py_ssize_t = pairs.at[p].first
        j: cython.Py_ssize_t = pairs.at[p].second

        self.n_sides = 2 * self.dim
        for k in range(self.dim):
            centre: cython.double = b.centre_at(i, k, now)
            other: cython.double = b.centre_at(j, k, now) + pairs.offset_of(p, k)
            half: cython.double = b.half_at(i, k, now)
            half2: cython.double = b.half_at(j, k, now)
            self.aim(
                k, centre - half, centre + half, other - half2, other + half2,
                b.motion_of(i, k), b.resize_of(i, k), b.motion_of(j, k), b.resize_of(j, k),
                1.0 - now, b.width[k],
            )  # fmt: skip

    def aim(
        self,
        k: cython.int,
        min1: cython.double,
        max1: cython.double,
        min2: cython.double,
        max2: cython.double,
        move1: cython.double,
        grow1: cython.double,
        move2: cython.double,
        grow2: cython.double,
        rest: cython.double,
        width: cython.double,
    ) -> cython.void:
        """Set the faces of one axis and their motion.

        `move` is the displacement of a centre over a whole step and `grow`
        the change of a half size; `rest` is the remaining part of the step.
        `width` is that of a world that wraps, else 0: the faces are as coarse
        as a number of that size.
        """
        low1: cython.double = move1 - grow1
        high1: cython.double = move1 + grow1
        low2: cython.double = move2 - grow2
        high2: cython.double = move2 + grow2
        largest: cython.double = max(abs(min1), abs(max1), abs(min2), abs(max2), width)

        self.near[k] = SLOP * largest
        largest = max(
            largest,
            abs(min1 + low1 * rest),
            abs(max1 + high1 * rest),
            abs(min2 + low2 * rest),
            abs(max2 + high2 * rest),
        )
        slop: cython.double = SLOP * largest
        minus: cython.double = _without_tiny(min2 - max1)
        plus: cython.double = _without_tiny(min1 - max2)

        # Only the nearer side, because a box thinner than the slop has a far side within it.
        nearer: cython.double = plus if plus > minus else minus
        if -slop <= nearer < 0.0:
            minus = 0.0 if minus == nearer else minus
            plus = 0.0 if plus == nearer else plus
        self.gap[2 * k] = minus
        self.rate[2 * k] = _without_tiny(low2 - high1)
        self.gap[2 * k + 1] = plus
        self.rate[2 * k + 1] = _without_tiny(low1 - high2)
        self.slop[k] = slop

    def settle(self, k: cython.int, bound: cython.double) -> cython.void:
        """Set rates of an aimed axis that are at most `bound` in a whole step to 0."""
        for side in range(2 * k, 2 * k + 2):
            if -bound <= self.rate[side] <= bound:
                self.rate[side] = 0.0

    def solve(self) -> cython.int:
        """Find kind, times and contact side of the aimed pair; return the kind."""
        enter: cython.double = -INF
        exit_: cython.double = INF
        deepest_out: cython.double = -INF  # the largest gap
        flush: cython.bint = False

        self.axis = -1
        self.sign = 0
        self.corner = 0
        self.depth = 0.0
        for side in range(self.n_sides):
            gap: cython.double = self.gap[side]
            rate: cython.double = self.rate[side]
            deepest_out = gap if gap > deepest_out else deepest_out
            if rate < 0.0:
                enter = max(enter, _time_of_zero(gap, rate))
            elif rate > 0.0:
                exit_ = min(exit_, _time_of_zero(gap, rate))
            elif gap > 0.0:
                self.enter = INF
                self.exit = -INF
                self.kind = SEPARATE
                return SEPARATE
            elif gap == 0.0:
                flush = True
        self.enter = enter
        self.exit = exit_

        if deepest_out < 0.0:
            self._find_shallowest()
            self.kind = OVERLAP
        elif not flush and 0.0 <= enter < 1.0 and self._find_front() >= 0:
            self.kind = IMPACT
        elif enter < 1.0 and enter <= exit_ and exit_ >= 0.0:
            self.kind = TOUCH
        else:
            self.kind = SEPARATE
        return self.kind

    @cython.inline
    def closing_rate(self, axis: cython.int, sign: cython.int) -> cython.double:
        """Return the closing rate of a side, given by its axis and the sign of its normal."""
        return -self.rate[self.side_of(axis, sign)]

    @cython.cfunc
    @cython.inline
    def side_of(self, axis: cython.int, sign: cython.int) -> cython.int:
        """Return the number of a side, given by its axis and the sign of its normal."""
        if abs(sign) == 2:
            return 2 * self.dim
        return 2 * axis + (1 if sign > 0 else 0)

    def _choose(self, side: cython.int) -> cython.void:
        """Make a side the contact."""
        if side == 2 * self.dim:
            self.axis = self.slope_axis
            self.sign = self.slope_sign
        else:
            self.axis = side >> 1
            self.sign = 1 if side & 1 else -1

    def _find_front(self) -> cython.int:
        """Find the contact side of an impact at `enter`; return it, or -1 for none.

        A front side is a closing one whose gap is not yet deep at `enter`.
        It can be the contact if the interiors overlap on all other axes right
        after; of several the fastest closing wins, then the lowest axis.
        """
        best: cython.int = -1
        axes: cython.int = 0  # one bit for each axis with a front side

        for side in range(self.n_sides):
            if self.rate[side] >= 0.0:
                continue
            k: cython.int = side >> 1
            if self.gap[side] + self.rate[side] * self.enter <= -self.slop[k]:
                continue
            axes |= 1 << k
            if best >= 0 and self.rate[side] >= self.rate[best]:
                continue
            if self._opens(side):
                best = side
        if best >= 0:
            if axes >> self.dim and self._opens(2 * self.dim):
                best = 2 * self.dim  # at the ends of a line the faces beside it do not count
                axes = 1 << self.dim
            self._choose(best)
            self.corner = 1 if axes != 1 << (best >> 1) else 0
        return best

    def turn_to(self, k: cython.int, sign: cython.int) -> cython.bint:
        """Make a side the contact of the impact found; return False if it is not a front side.

        A front side closes, and its gap is not deep at `enter`.
        """
        side: cython.int = self.side_of(k, sign)

        if self.axis == k and (self.sign > 0) == (sign > 0):
            return True
        if self.rate[side] >= 0.0:
            return False
        if self.gap[side] + self.rate[side] * self.enter <= -self.slop[side >> 1]:
            return False
        self.axis = k
        self.sign = sign
        return True

    def _opens(self, side: cython.int) -> cython.bint:
        """Return whether the interiors overlap on all other axes right after `enter`."""
        k: cython.int = side >> 1
        after: cython.double = self.enter
        before: cython.double = INF
        other: cython.int = side ^ 1

        if other < self.n_sides and self.rate[other] > 0.0:
            before = _time_of_zero(self.gap[other], self.rate[other])
            if before <= after:
                # A point that meets a plate leaves it at the same instant.
                if before < after or self.gap[side] <= 0.0:
                    return False
                before = INF
        for other in range(self.n_sides):
            if other >> 1 == k:
                continue
            gap: cython.double = self.gap[other]
            rate: cython.double = self.rate[other]
            if rate == 0.0:
                if gap >= -self.slop[other >> 1]:
                    return False
                continue
            bound: cython.double = (-self.slop[other >> 1] - gap) / rate
            if rate < 0.0:
                after = max(after, bound)
            else:
                before = min(before, bound)
        return after < before

    def _find_shallowest(self) -> cython.void:
        """Find the side on which overlapping boxes have the least depth."""
        best: cython.int = 0

        for side in range(1, self.n_sides):
            if self.gap[side] > self.gap[best] or (
                self.gap[side] == self.gap[best] and self.rate[side] < self.rate[best]
            ):
                best = side
        self._choose(best)
        self.depth = -self.gap[best]

    def is_shallowest_alone(self) -> cython.bint:
        """Return whether overlapping boxes have the least depth on one side only."""
        n: cython.int = 0

        for side in range(self.n_sides):
            n += self.gap[side] == -self.depth
        return n == 1

    def finds_way_out(self) -> cython.bint:
        """Return whether overlapping boxes move out of each other by one of their shallowest sides.

        Boxes with one centre are equally deep on opposite sides, and any motion opens one.
        """
        for side in range(self.n_sides):
            if self.gap[side] == -self.depth and self.rate[side] > 0.0:
                return True
        return False


def sweep_pairs(
    centres: cython.double[:, ::1],
    halves: cython.double[:, ::1],
    motions: cython.double[:, ::1],
    growths: cython.double[:, ::1],
    pairs: cython.longlong[:, ::1],
    kind: cython.schar[::1],
    axis: cython.schar[::1],
    sign: cython.schar[::1],
    corner: cython.schar[::1],
    time: cython.double[::1],
    enter: cython.double[::1],
    exit: cython.double[::1],
    depth: cython.double[::1],
):
    """Sweep many pairs of boxes over one whole step.

    Parameters
    ----------
    centres, halves, motions, growths : float64 (n, dim)
        The bodies; motions and growths are displacements over the step.
    pairs : int64 (m, 2)
        Rows of the bodies.
    kind, axis, sign, corner : int8 (m,)
        Written.  axis -1 and sign 0 if there is neither impact nor overlap.
    time, enter, exit, depth : float64 (m,)
        Written.  time is nan if there is neither impact nor overlap.

    Notes
    -----
    Numbers must be finite, and rows must be within the bodies.
    """
    dim: cython.int = centres.shape[1]
    sweeper: Sweeper = Sweeper(dim)

    for p in range(pairs.shape[0]):
        i: cython.Py_ssize_t = pairs[p, FIRST]
        j: cython.Py_ssize_t = pairs[p, SECOND]
        for k in range(dim):
            sweeper.aim(
                k,
                centres[i, k] - halves[i, k],
                centres[i, k] + halves[i, k],
                centres[j, k] - halves[j, k],
                centres[j, k] + halves[j, k],
                motions[i, k],
                growths[i, k],
                motions[j, k],
                growths[j, k],
                1.0,
                0.0,
            )
        kind[p] = sweeper.solve()
        axis[p] = sweeper.axis
        sign[p] = sweeper.sign
        corner[p] = sweeper.corner
        enter[p] = sweeper.enter
        exit[p] = sweeper.exit
        depth[p] = sweeper.depth
        if sweeper.kind == IMPACT:
            time[p] = sweeper.enter
        elif sweeper.kind == OVERLAP:
            time[p] = 0.0
        else:
            time[p] = NAN
