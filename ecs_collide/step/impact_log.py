"""The record of an impact: a row of an `EventBuffer`, written before anything is resolved.

`Collision`, an `Impact` that is handed over, and the coming ones of `Space.impacts` are views of
such rows.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from math import copysign

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import OutcomeCode
from ecs_collide.broadphase.pair_table import BEGUN, CROSS, PairTable
from ecs_collide.motion.bodies import EARLIER, Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.event_buffer import (
    EVENT_KIND,
    NORMAL,
    OUTCOME,
    EventBuffer,
)
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.slopes import Slopes
from ecs_collide.narrowphase.step import Step
from ecs_collide.narrowphase.sweep_test import IMPACT
from ecs_collide.response.clusters import Clusters

# Of coming impacts, by `Pair.tier`.
OUTCOME_OF_TIER = (OutcomeCode.UNRESOLVED, OutcomeCode.UNRESOLVED, OutcomeCode.CROSSED)


@cython.final
class ImpactLog:
    """Writes the impacts of a step as they are at the present time of the step."""

    step: Step
    bodies: Bodies  # of the step, like the next four
    pairs: PairTable
    queue: ImpactQueue
    gravity: Gravity
    slopes: Slopes
    clusters: Clusters

    def __init__(self, step: Step, clusters: Clusters):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.queue = step.queue
        self.gravity = step.gravity
        self.slopes = step.slopes
        self.clusters = clusters

    def write_coming(self, buffer: EventBuffer):
        """Write the next impact of each queued pair, in the order of their times.

        At one time impacts of faces come first, then those of corners, then crossings; then ids
        decide.  That a crossing pair leaves is queued too, but it is no impact.
        """
        due: list = []
        now: cython.double = self.step.now
        p: cython.Py_ssize_t

        for p in range(self.pairs.n):
            if not self.queue.holds(p) or (
                self.pairs.at[p].state >= CROSS and self.pairs.at[p].contact >= BEGUN
            ):
                continue
            first: cython.longlong = self.bodies.ids[self.pairs.at[p].first]
            second: cython.longlong = self.bodies.ids[self.pairs.at[p].second]
            due.append(
                (
                    self.queue.at[p].time, self.pairs.at[p].tier, first, second,
                    self.pairs.image_of(p), p,
                )
            )  # fmt: skip
        due.sort()
        try:
            for each in due:
                self.step.now = each[0]
                self.write(buffer, each[5], OUTCOME_OF_TIER[each[1]])
        finally:
            self.step.now = now

    def write(
        self, buffer: EventBuffer, p: cython.Py_ssize_t, outcome: cython.int
    ) -> cython.Py_ssize_t:
        """Write the impact of pair `p`, which is now; return its row."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        dim: cython.int = b.dim
        n: cython.Py_ssize_t = buffer.add_collision()
        numbers: cython.p_double = buffer.flat_numbers
        at: cython.Py_ssize_t = buffer.width * n + NORMAL

        buffer.time[n] = self.step.now
        buffer.exit[n] = self.pairs.impact[p].exit
        buffer.first[n] = b.ids[i]
        buffer.second[n] = b.ids[j]
        buffer.codes[n, EVENT_KIND] = self.pairs.impact[p].kind
        buffer.codes[n, OUTCOME] = outcome
        buffer.solid_first[n] = buffer.solid_second[n] = -1
        buffer.impulse[n] = 0.0
        numbers[at + dim] = self.closing_speed(p, outcome)  # which finds the normal, too
        for k in range(dim):
            numbers[at + k] = self.slopes.unit[k]
        self._write_places(numbers, p, at + dim + 1)
        at += 1 + 3 * dim
        for k in range(dim):
            numbers[at + k] = self._before(i, k, outcome, self.event_velocity(i, k))
            numbers[at + dim + k] = self._before(j, k, outcome, self.event_velocity(j, k))
        return n

    def _write_places(
        self, numbers: cython.p_double, p: cython.Py_ssize_t, at: cython.Py_ssize_t
    ) -> cython.void:
        """Write the centres of the two boxes of an impact, and the region they share.

        `at` is the place of the first centre in the numbers.  The region is at the first box, with
        the second at the image that is met.  On the line of a slope, whose normal was found, it is
        the corner of the box.
        """
        b: Bodies = self.bodies
        now: cython.double = self.step.now
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        dim: cython.int = b.dim
        axis: cython.int = self.pairs.impact[p].axis
        sign: cython.int = self.pairs.impact[p].sign
        meets: cython.bint = self.pairs.impact[p].kind == IMPACT

        for k in range(dim):
            centre: cython.double = b.centre_at(i, k, now)
            other: cython.double = b.centre_at(j, k, now)
            half: cython.double = b.half_at(i, k, now)
            half2: cython.double = b.half_at(j, k, now)
            image: cython.double = other + self.pairs.offset_of(p, k)
            low: cython.double = max(centre - half, image - half2)
            high: cython.double = min(centre + half, image + half2)
            if low > high:  # a corner, by rounding
                low, high = high, low
            if meets and self.slopes.slants:
                normal: cython.double = self.slopes.normal_on(k)
                low = high if normal < 0.0 else low
                high = low if normal > 0.0 else high
            elif meets and k == axis:
                low = high = centre + half if sign < 0 else centre - half
            inside: cython.double = b.into_world(k, centre)
            shift: cython.double = inside - centre
            numbers[at] = inside + 0.0
            numbers[at + dim] = b.into_world(k, other) + 0.0
            numbers[at + 4 * dim] = low + shift + 0.0
            numbers[at + 5 * dim] = high + shift + 0.0
            at += 1

    def closing_speed(self, p: cython.Py_ssize_t, outcome: cython.int) -> cython.double:
        """Return how fast the faces of a pair close at this instant, at least 0.

        It is the speed along the normal of the pair's impact, which is left in `slopes.unit`.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        speed: cython.double = 0.0

        self.slopes.find_normal(i, j, self.pairs.impact[p].axis, self.pairs.impact[p].sign)
        for k in range(b.dim):
            normal: cython.double = self.slopes.unit[k]
            if normal != 0.0:
                out: cython.double = copysign(1.0, normal)
                one: cython.double = self._before(i, k, outcome, self.clusters.velocity_now(i, k))
                two: cython.double = self._before(j, k, outcome, self.clusters.velocity_now(j, k))
                one -= out * b.growth_of(i, k)
                two += out * b.growth_of(j, k)
                speed += normal * (two - one)
        return max(speed, 0.0) + 0.0  # below 0 if only gravity closes them

    def _before(
        self, i: cython.Py_ssize_t, k: cython.int, outcome: cython.int, now: cython.double
    ) -> cython.double:
        """Return the velocity of a body before the impact that has stopped it, else `now`."""
        b: Bodies = self.bodies

        if outcome == OutcomeCode.STOPPED_ALREADY and b.turned_now(i, self.step.now):
            return self.gravity.earlier_at(i, k, b.turn_of(i, k, EARLIER), self.step.now)
        return now

    def event_velocity(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity with which a body goes on now, as events tell it: without a drift.

        A member of a cluster that lasts goes at the velocity of its path, not at the shared one.
        """
        return self.clusters.at_instant(i, k, self.bodies.velocity[i, k])
