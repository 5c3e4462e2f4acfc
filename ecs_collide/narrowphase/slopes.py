"""The geometry of slopes: boxes that are cut off along a straight line.

Only one corner of a box can meet the line of a slope first: on a floor that rises to the right, its
lower right corner.  The gap is the distance of that corner from the line::

          +-----+                  rise = foot + steepness * along
          | box |     __..         gap  = (height of the corner - rise) * cos(angle)
          +-----+__.''
            __.''^ corner          The corner and the line move in straight lines in time, so the
      __..''                       gap does too: the sweep has one more side.
    +'''--------------+

A ceiling is a floor upside down.  Heights count from its solid side, so the line of any slope rises
to the thicker end.  The open face of the box is as high as that end, so the solid part is convex.
All numbers are computed in the coordinates of the other body; in a world that wraps the slope is
shifted.

`Narrowphase` aims the sweep at a pair with `aim`; `PositionCorrection` and `ImpactLoop` place
bodies with `snap` and `place`; `ContactsInStep` and the queries ask for the rest.

Invariant: after `snap` the corner is not below the line, as `_measure` computes it, and a
second `snap` changes nothing.
"""

from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import APART_AT_LEAST, INF, SLOP
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies, vector_of
from ecs_collide.narrowphase.sweep_test import OVERLAP, Sweeper

LEVEL_RATE = 2.0**-48  # of the speeds of a pair: a gap that changes more slowly is constant

# The relative placement of a pair, of boxes too.
APART = 0
TOUCHING = 1  # on one axis, and overlapping on all others
PENETRATING = 2  # by less than the slop
OVERLAPPING = 3  # by more than the slop


@cython.inline
def is_slanted(sign: cython.int) -> cython.bint:
    """Return whether the sign of a contact's side is that of a slope's normal."""
    return abs(sign) == 2


@cython.inline
def _gap(
    low: cython.double, high: cython.double, one: cython.double, other: cython.double
) -> cython.double:
    """Return the distance of two intervals; the ends of the second are in any order."""
    return max(0.0, max(min(one, other) - high, low - max(one, other)))


@cython.inline
def _nearest(place: cython.double, one: cython.double, other: cython.double) -> cython.double:
    """Return the place within an interval, whose ends are in any order, that is nearest to another."""
    return max(min(one, other), min(place, max(one, other))) + 0.0


@cython.final
class Slopes:
    """The line of one pair's slope, found by `find`, and its relation to the pair's box."""

    bodies: Bodies
    sides: Sweeper
    slope: cython.Py_ssize_t  # the rows of the slope and of the other body
    body: cython.Py_ssize_t
    sign: cython.int  # 1 if the slope is the second body, so its normal is the pair's; else -1
    run: cython.int  # the axis along which it rises, and the direction
    forth: cython.double
    up: cython.int  # the axis of heights, and the direction in which the slope is open
    out: cython.double
    steepness: cython.double  # rise for each unit along `run`
    normal_run: cython.double  # the unit normal out of the slope
    normal_up: cython.double
    height: cython.double  # of its box
    foot: cython.double  # the height of the line at its low end
    drop: cython.double  # the height of the box above the high end
    # the results of `_measure`
    along: cython.double  # the distance of the corner from the low end
    above: cython.double  # the height of the corner above the line
    corner_height: cython.double  # the height of the corner
    base: cython.double  # the place of height 0
    reach: cython.double  # the largest coordinate, as a height: the slop is a part of it
    # the results of `place_of`: the side on which the two are nearest, and how many are near
    near_axis: cython.int
    near_sign: cython.int
    n_near: cython.int
    near_gap: cython.double
    # the results of `find_normal`: whether it is the normal of a line
    unit: cython.double[3]
    slants: cython.bint

    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.sides = Sweeper(bodies.dim)
        self.slope = self.body = -1
        self.sign = 1
        self.forth = self.out = 1.0

    def is_slope(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body is a slope in this step, not a box."""
        b: Bodies = self.bodies

        if b.rare.slope[i] == 0 or b.dynamic[i]:
            return False
        for k in range(b.dim):  # noqa: SIM110  (a generator costs more)
            if b.growth_of(i, k) != 0.0 or b.half[i, k] == 0.0:
                return False
        return True

    @cython.inline
    def find(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Find the line of two bodies; return False if they meet as boxes: none or both slope."""
        return self.bodies.rare.any_slope and self.find_line(i, j)

    def find_line(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Do the same in a world with slopes."""
        first: cython.bint = self.is_slope(i)

        if first == self.is_slope(j):
            return False
        if first:
            self.slope, self.body, self.sign = i, j, -1
        else:
            self.slope, self.body, self.sign = j, i, 1
        self._shape()
        return True

    def _shape(self) -> cython.void:
        """Find the line of `slope`."""
        b: Bodies = self.bodies
        s: cython.Py_ssize_t = self.slope
        side: cython.int = b.rare.slope[s]
        top: cython.int = b.rare.slope_top[s]

        self.run = abs(side) - 1
        self.forth = 1.0 if side > 0 else -1.0
        self.up = abs(top) - 1
        self.out = 1.0 if top > 0 else -1.0
        self.height = 2.0 * b.half[s, self.up]
        self.steepness = (b.half[s, self.up] / b.half[s, self.run]) * (
            b.rare.slope_high[s] - b.rare.slope_low[s]
        )
        length: cython.double = sqrt(1.0 + self.steepness * self.steepness)
        self.normal_up = self.out / length
        self.normal_run = -self.forth * self.steepness / length
        self.foot = self.height * b.rare.slope_low[s]
        self.drop = self.height * (1.0 - b.rare.slope_high[s])

    def normal_on(self, k: cython.int) -> cython.double:
        """Return the unit normal out of the slope on an axis."""
        if k == self.run:
            return self.normal_run
        return self.normal_up if k == self.up else 0.0

    def line_on(self, k: cython.int) -> cython.double:
        """Return the unit vector along the line on an axis."""
        if k == self.run:
            return self.normal_up
        return -self.normal_run if k == self.up else 0.0

    def speed_along(self, i: cython.Py_ssize_t) -> cython.double:
        """Return how fast a body moves along the line."""
        b: Bodies = self.bodies

        return (
            b.velocity_met(i, self.run) * self.normal_up
            - b.velocity_met(i, self.up) * self.normal_run
        )

    def find_normal(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, axis: cython.int, sign: cython.int
    ) -> cython.void:
        """Find the unit normal of a contact of two bodies, from j to i, as `unit`; set `slants`."""
        self.slants = is_slanted(sign) and self.find(i, j)
        for k in range(self.bodies.dim):
            if self.slants:
                self.unit[k] = self.sign * self.normal_on(k) + 0.0
            elif k != axis:
                self.unit[k] = 0.0
            else:
                self.unit[k] = 1.0 if sign > 0 else -1.0

    def _measure(self, t: cython.double, pairs: PairTable, p: cython.Py_ssize_t) -> cython.void:
        """Find where the corner is relative to the line, at time `t`; each at its base for -1."""
        b: Bodies = self.bodies
        run: cython.int = self.run
        up: cython.int = self.up
        time: cython.double = b.base[self.slope] if t < 0.0 else t
        end: cython.double = b.centre_at(self.slope, run, time)
        base: cython.double = b.centre_at(self.slope, up, time)

        if p >= 0:
            end += self.sign * pairs.offset_of(p, run)
            base += self.sign * pairs.offset_of(p, up)
        time = b.base[self.body] if t < 0.0 else t
        front: cython.double = b.centre_at(self.body, run, time)
        corner: cython.double = b.centre_at(self.body, up, time)
        self._relate(
            end - self.forth * b.half[self.slope, run],
            base - self.out * b.half[self.slope, up],
            front + self.forth * b.half_at(self.body, run, time),
            corner - self.out * b.half_at(self.body, up, time),
        )

    def _relate(
        self, end: cython.double, base: cython.double, front: cython.double, corner: cython.double
    ) -> cython.void:
        """Find where a corner is relative to the line from two faces of each box."""
        self.base = base
        self.along = self.forth * (front - end)
        self.corner_height = self.out * (corner - base)
        self.above = self.corner_height - self.rise()
        self.reach = max(abs(corner), abs(base)) + self.steepness * max(abs(front), abs(end))

    def depth(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, pairs: PairTable) -> cython.double:
        """Return the height of a slope's line above the other's corner; inf if they meet as boxes.

        It is that at their base times, and 0 if it is within the slop.  The images of a world that
        wraps do not count.
        """
        if not self.find(i, j):
            return INF
        self._measure(-1.0, pairs, -1)
        return -self.above if -self.above > SLOP * self.reach else 0.0

    @cython.cfunc
    @cython.inline
    def rise(self) -> cython.double:
        """Return the height of the line at the corner."""
        return self.foot + self.steepness * self.along

    def over(self) -> cython.double:
        """Return the height of the measured corner above the open face of the box."""
        return self.corner_height - (self.height - self.drop)

    def _choose(self, sign: cython.int) -> cython.void:
        """Let the open face of the box be the line, unless the sign is that of the line's normal."""
        if not is_slanted(sign):
            self.foot = self.height - self.drop
            self.steepness = self.normal_run = 0.0
            self.normal_up = self.out

    def is_level(self, sign: cython.int, tolerance: cython.double) -> cython.bint:
        """Return whether the measured corner is on the line, or on the open face, by the sign.

        The gap may be `tolerance` times the largest coordinate.
        """
        self._choose(sign)
        return abs(self.corner_height - self.rise()) <= tolerance * self.reach

    def is_at_high_end(self) -> cython.bint:
        """Return whether the measured corner is at the high end of the line, within the slop."""
        return self.rise() >= self.height - self.drop - SLOP * self.reach

    @cython.inline
    def aim(
        self,
        sweeper: Sweeper,
        now: cython.double,
        pairs: PairTable,
        p: cython.Py_ssize_t,
    ) -> cython.void:
        """Add the line to a sweep from `now` to the end of the step, aimed at the boxes of a pair."""
        if self.find(pairs.at[p].first, pairs.at[p].second):
            self.aim_line(sweeper, now, pairs, p)

    def aim_line(
        self,
        sweeper: Sweeper,
        now: cython.double,
        pairs: PairTable,
        p: cython.Py_ssize_t,
    ) -> cython.void:
        """Do the same for a pair whose line was found."""
        b: Bodies = self.bodies

        self._measure(now, pairs, p)
        rise: cython.double = (
            b.motion_of(self.body, self.up) - self.out * b.resize_of(self.body, self.up)
        ) - b.motion_of(self.slope, self.up)
        way: cython.double = (
            b.motion_of(self.body, self.run) + self.forth * b.resize_of(self.body, self.run)
        ) - b.motion_of(self.slope, self.run)
        speeds: cython.double = self._speeds_on(self.up)
        speeds += self.steepness * self._speeds_on(self.run)
        self.add_side(sweeper, self.out * rise - self.steepness * (self.forth * way), speeds)

    def _speeds_on(self, k: cython.int) -> cython.double:
        """Return the sum of the displacements and the growth of the pair found, in a whole step."""
        b: Bodies = self.bodies
        moves: cython.double = abs(b.motion_of(self.body, k)) + abs(b.motion_of(self.slope, k))

        return moves + abs(b.resize_of(self.body, k))

    def add_side(self, sweeper: Sweeper, rate: cython.double, speeds: cython.double) -> cython.void:
        """Add the measured line to an aimed sweep.

        `rate` is the change of `above` over a whole step, and `speeds` the sum of all terms in it.
        """
        dim: cython.int = sweeper.dim
        cos: cython.double = abs(self.normal_up)
        top: cython.int = 2 * self.up + (1 if self.sign * self.out > 0.0 else 0)
        slop: cython.double = SLOP * (self.reach + speeds) * cos
        gap: cython.double = self.above * cos

        if abs(rate) <= LEVEL_RATE * speeds:
            rate = 0.0
        if -slop <= gap < 0.0:
            gap = 0.0
        sweeper.n_sides = 2 * dim + 1
        sweeper.gap[2 * dim] = gap
        sweeper.rate[2 * dim] = rate * cos
        sweeper.near[dim] = SLOP * self.reach * cos
        sweeper.slop[dim] = slop
        sweeper.slope_axis = self.up
        sweeper.slope_sign = 2 if self.sign * self.out > 0.0 else -2
        if self.drop != 0.0:
            gap = sweeper.gap[top] + self.drop
            sweeper.gap[top] = 0.0 if -sweeper.slop[self.up] <= gap < 0.0 else gap

    def time_to_parting(
        self, now: cython.double, pairs: PairTable, p: cython.Py_ssize_t
    ) -> cython.double:
        """Return the time from `now` until a gap of the pair found opens; below 0 if one is."""
        s: Sweeper = self.sides
        rest: cython.double = INF

        s.aim_pair(self.bodies, pairs, p, now)
        self.aim(s, now, pairs, p)
        for side in range(s.n_sides):
            if s.gap[side] > s.slop[side >> 1]:
                return -1.0
            if s.rate[side] > 0.0:
                rest = min(rest, max(0.0, -s.gap[side]) / s.rate[side])
        return rest

    def place_of(self, pairs: PairTable, p: cython.Py_ssize_t) -> cython.int:
        """Return the present relative placement of the pair found; set `near_axis` and the rest.

        At the high end of the line the open face of the box counts as the line, because the slope
        may go on behind it.  At the low end the body is beside the slope.
        """
        b: Bodies = self.bodies
        largest: cython.double = -INF
        cos: cython.double = abs(self.normal_up)

        self._measure(-1.0, pairs, p)
        slop: cython.double = SLOP * self.reach * cos
        line: cython.double = self.above * cos
        on_line: cython.bint = abs(line) <= slop
        inside: cython.bint = line < 0.0
        self.n_near = 1 if on_line else 0
        if line > slop:
            return APART
        for k in range(b.dim):
            apart: cython.double = b.centre_of(self.body, k) - b.centre_of(self.slope, k)
            apart -= self.sign * pairs.offset_of(p, k)
            if k == self.up:  # the centre of the solid part
                apart += self.out * (0.5 * self.drop)
            gap: cython.double = abs(apart) - (b.half_of(self.body, k) + b.half_of(self.slope, k))
            is_top: cython.bint = False
            if k == self.up:
                gap += 0.5 * self.drop
                is_top = (apart > 0.0) == (self.out > 0.0)
            slop = b.slop_between(self.body, self.slope, k)
            if gap > slop:
                return APART
            inside &= gap < 0.0
            if gap >= -slop and not (is_top and on_line):
                self.n_near += 1
            if gap > largest:
                largest = gap
                self.near_axis = k
                self.near_sign = self.sign if apart > 0.0 else -self.sign
        self.near_gap = largest
        if on_line or line > largest:
            self.near_axis = self.up
            self.near_sign = 2 if self.sign * self.out > 0.0 else -2
            self.near_gap = line
        if self.n_near == 0:
            return OVERLAPPING
        if inside:
            return PENETRATING
        return TOUCHING if self.n_near == 1 else APART

    def is_open(self, k: cython.int, sign: cython.int) -> cython.bint:
        """Return whether a side of the pair found is its line, or the open face above the line."""
        return k == self.up and (sign > 0) == (self.sign * self.out > 0.0)

    def snap(self, pairs: PairTable, p: cython.Py_ssize_t, sign: cython.int) -> cython.void:
        """Put the body found, at its base time, on the slope's line, or open face, by the sign."""
        b: Bodies = self.bodies
        up: cython.int = self.up
        i: cython.Py_ssize_t = self.body

        self._measure(b.base[i], pairs, p)
        centre: cython.double = self.seat_of(b.half_of(i, up), sign)
        b.snap(i, up, centre)

    def place(
        self,
        t: cython.double,
        pairs: PairTable,
        p: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
    ) -> cython.bint:
        """Put the body of a pair on its slope at time `t`, unless it is anchored on that axis.

        Returns False if the side of axis `k` and `sign` is not the open one of a slope.
        """
        b: Bodies = self.bodies

        if not self.find(pairs.at[p].first, pairs.at[p].second) or not self.is_open(k, sign):
            return False
        if not b.is_anchored(self.body, self.up, t):
            b.advance(self.body, t)
            self.snap(pairs, p, sign)
        return True

    # -- for code in Python --

    def normal(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, axis: cython.int, sign: cython.int
    ) -> tuple:
        """Return the unit normal of a contact of two bodies, from j to i."""
        self.find_normal(i, j, axis, sign)
        return vector_of(self.unit, 0, self.bodies.dim)

    def depth_in(self, i: cython.Py_ssize_t, whole: tuple, box: tuple) -> float:
        """Return how deep a box is beyond the line of the body in row i, along up; inf for a box.

        Each of the two has its lower and its upper corner.
        """
        if not self._shape_of(i):
            return INF
        end: cython.int = 0 if self.forth > 0.0 else 1
        base: cython.int = 0 if self.out > 0.0 else 1
        self._relate(
            whole[end][self.run], whole[base][self.up], box[1 - end][self.run], box[base][self.up]
        )
        return min(-self.above, -self.over())

    def shape_of(self, i: cython.Py_ssize_t) -> tuple:
        """Return the line of the body in row i: two axes with directions, then low and high.

        The first axis is that of the rise, the second that of the heights, which count from the
        solid side.  The tuple is empty for a box.
        """
        if not self._shape_of(i):
            return ()
        b: Bodies = self.bodies
        line: tuple = (self.run, self.forth, self.up, self.out)
        return (*line, b.rare.slope_low[i], b.rare.slope_high[i])

    # -- for queries: rows of two boxes, from `p` in the arrays of their lower and upper corners --

    def _shape_of(self, i: cython.Py_ssize_t) -> cython.bint:
        """Find the line of the body in a row; return False if it is a box."""
        if i < 0 or not self.is_slope(i):
            return False
        self.slope, self.sign = i, 1
        self._shape()
        return True

    def relate(
        self,
        i: cython.Py_ssize_t,
        low: cython.p_double,
        high: cython.p_double,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
    ) -> cython.bint:
        """Measure a box and the line of the body in row i; return False if that is no slope.

        The box of the slope is given by its corners from p on.
        """
        if not self._shape_of(i):
            return False
        self._relate(
            mins[p + self.run] if self.forth > 0.0 else maxs[p + self.run],
            mins[p + self.up] if self.out > 0.0 else maxs[p + self.up],
            high[self.run] if self.forth > 0.0 else low[self.run],
            low[self.up] if self.out > 0.0 else high[self.up],
        )
        return True

    def touches(self) -> cython.bint:
        """Return whether the measured corner, inside the box, touches the solid part."""
        return self.above <= 0.0 and self.over() <= 0.0

    def distance(
        self,
        low: cython.p_double,
        high: cython.p_double,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
        closest: cython.p_double,
    ) -> cython.double:
        """Return the distance of a measured box from the solid part; write the closest point of that.

        The solid part has the faces of two boxes, one as high as the low end of the line and one
        at its high end.  Between these only the corner can be nearest to the line.
        """
        run: cython.int = self.run
        up: cython.int = self.up
        front: cython.double = high[run] if self.forth > 0.0 else low[run]
        corner: cython.double = low[up] if self.out > 0.0 else high[up]
        start: cython.double = mins[p + run] if self.forth > 0.0 else maxs[p + run]
        end: cython.double = maxs[p + run] if self.forth > 0.0 else mins[p + run]
        foot: cython.double = self.base + self.out * self.foot
        top: cython.double = self.base + self.out * (self.height - self.drop)
        beyond: cython.double = self.above * abs(self.normal_up)
        total: cython.double = 0.0

        for k in range(self.bodies.dim):
            closest[k] = max(mins[p + k], min(low[k], maxs[p + k])) + 0.0
            if k != run and k != up:
                aside: cython.double = max(0.0, max(mins[p + k] - high[k], low[k] - maxs[p + k]))
                total += aside * aside
        is_beside: cython.bint = low[run] <= maxs[p + run] and mins[p + run] <= high[run]
        is_beside &= low[up] <= max(self.base, top) and min(self.base, top) <= high[up]
        if is_beside and self.touches():
            closest[run] = max(mins[p + run], min(front, maxs[p + run])) + 0.0
            closest[up] = max(min(self.base, top), min(corner, max(self.base, top))) + 0.0
            return sqrt(total)
        across: cython.double = _gap(low[run], high[run], start, end)
        upright: cython.double = _gap(low[up], high[up], self.base, foot)
        flat: cython.double = across * across + upright * upright
        closest[up] = _nearest(low[up], self.base, foot)
        across = _gap(low[run], high[run], end, end)
        upright = _gap(low[up], high[up], self.base, top)
        if across * across + upright * upright < flat:
            flat = across * across + upright * upright
            closest[run] = end + 0.0
            closest[up] = _nearest(low[up], self.base, top)
        if beyond > 0.0 and beyond * beyond < flat:
            foot_at: cython.double = front - beyond * self.normal_run
            if (foot_at - start) * (end - foot_at) >= 0.0:
                flat = beyond * beyond
                closest[run] = foot_at + 0.0
                closest[up] = corner - beyond * self.normal_up + 0.0
        return sqrt(total + flat)

    def rate_of(self, displacement: cython.p_double) -> cython.double:
        """Return the change of `above` over a displacement of the box."""
        return self.out * displacement[self.up] - self.steepness * (
            self.forth * displacement[self.run]
        )

    def aim_cast(self, sweeper: Sweeper, displacement: cython.p_double) -> cython.void:
        """Add the measured line to a sweep of a cast box, the first, aimed at the slope's box."""
        speeds: cython.double = abs(displacement[self.up])

        speeds += self.steepness * abs(displacement[self.run])
        self.add_side(sweeper, self.rate_of(displacement), speeds)

    def clip(
        self, displacement: cython.p_double, enter: cython.double, leave: cython.double
    ) -> cython.double:
        """Return when a measured point that is in the box from `enter` to `leave` is in the slope."""
        rate: cython.double = self.rate_of(displacement)

        if rate < 0.0:
            enter = max(enter, -self.above / rate)
        elif rate > 0.0:
            leave = min(leave, -self.above / rate + 0.0)
        elif self.above > 0.0:
            return INF
        return enter if enter <= leave else INF

    def describe_ray(
        self, hit: cython.p_double, start: cython.p_double, displacement: cython.p_double
    ) -> cython.void:
        """Correct the point and the normal of a measured ray's hit if it is on the line."""
        rate: cython.double = self.rate_of(displacement)

        if rate < 0.0 and -self.above / rate == hit[0]:
            self.describe_line(hit, start, displacement)

    def describe_line(
        self, hit: cython.p_double, start: cython.p_double, displacement: cython.p_double
    ) -> cython.void:
        """Write the point and the normal of a ray's hit on the line."""
        dim: cython.int = self.bodies.dim

        for k in range(dim):
            hit[1 + k] = start[k] + hit[0] * displacement[k] + 0.0
            hit[1 + dim + k] = self.normal_on(k)

    def describe_cast(
        self, hit: cython.p_double, sweeper: Sweeper, way: cython.double, half: cython.double
    ) -> cython.void:
        """Correct the normal and the centre of a cast box, swept to the open side of the slope.

        `way` is its displacement along the rise to that time.
        """
        dim: cython.int = self.bodies.dim

        self._choose(sweeper.sign)
        for k in range(dim):
            hit[1 + dim + k] = self.normal_on(k) + 0.0
        if sweeper.kind != OVERLAP:
            self.along += self.forth * way
            hit[1 + self.up] = self.seat_of(half, sweeper.sign) + 0.0

    def seat_of(self, half: cython.double, sign: cython.int) -> cython.double:
        """Return the centre of a measured box on the line, or on the open face, by the sign."""
        self._choose(sign)
        height: cython.double = self.rise()
        nudge: cython.double = 0.0
        start: cython.double = self.base + self.out * height + self.out * half
        centre: cython.double = start
        while self.out * ((centre - self.out * half) - self.base) - height < 0.0:
            nudge = max(2.0 * nudge, self.reach * 2.0**-53, APART_AT_LEAST)
            centre = start + self.out * nudge
        return centre
