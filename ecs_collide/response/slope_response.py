"""The resolution of an impact with a slope, which changes velocities on two axes.

`ImpactLoop` has placed the body on the line.  A slope is never dynamic, so only the body changes,
and it leaves its clusters.  Its velocity relative to the slope has a part along the normal, which
the restitution decides, and a part along the line, which the rule of the body decides.  If the body
stays on the slope, gravity acts on it only along the line to the end of the step.

A body between a slope and another body that gives no way, such as in a valley, must satisfy both
contacts at once: resolved one after the other, the two would take turns forever.  If it rests
there, it is an anchor to the bodies above it.

The energy of the body never rises in the frame of the slope.
"""

from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython, may_raise
from ecs_collide._kernel.arrays import DOUBLE, grown, zeros
from ecs_collide._kernel.constants import FACE_ROUNDING, ResponseCode
from ecs_collide.broadphase.pair_table import NOT_MET, SOLID, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.placement import PositionCorrection
from ecs_collide.narrowphase.slopes import Slopes, is_slanted
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.product_sum import ProductSum

PARALLEL = 2.0**-20  # one less the squared cosine of two normals: below, they cannot be told apart
SHRINK = 1.0 - 2.0**-52
N_SHRINKS = 8
SAME_FACTOR = 1e-6  # by how much two ratios of closing speeds may differ by rounding


@cython.final
class SlopeResponse:
    """The resolution of the impact in `ImpactState`, if its normal is that of a slope."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    gravity: Gravity
    correction: PositionCorrection
    slopes: Slopes  # finds the line of the impact
    others: Slopes  # finds the lines of other contacts
    impact: ImpactState
    sum: ProductSum
    # (n_pairs or less, 2): the closing speed at the last resolution of each pair in this instant,
    # and its ratio to the one before
    closings: cython.double[:, ::1]
    rests: cython.bint  # whether two contacts leave the last body no velocity but the slope's
    solid: cython.Py_ssize_t  # the body that keeps the last body from leaving the slope, or -1
    # the part along the normal of the corner's velocity that no response changes: on locked axes,
    # and by growth; relative to the slope
    fixed_speed: cython.double
    # (3,): all relative to the slope, in units per second: the velocity of this instant before
    # and after, and the change of velocity that gravity makes to the end of the step
    before: cython.double[3]
    after: cython.double[3]
    pull: cython.double[3]
    # (3,): the unit normals, out of the slope and out of the other body; how fast the latter moves
    normal: cython.double[3]
    second: cython.double[3]
    speed: cython.double[3]

    def __init__(self, step: Step, impact: ImpactState, correction: PositionCorrection):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = impact.clusters
        self.gravity = step.gravity
        self.correction = correction
        self.slopes = Slopes(step.bodies)
        self.others = Slopes(step.bodies)
        self.impact = impact
        self.sum = ProductSum()
        self.closings = zeros(DOUBLE, 1, 2)
        self.solid = -1
        self.fixed_speed = 0.0
        self.rests = False
        if not cython.compiled:
            for name in ("before", "after", "pull", "normal", "second", "speed"):
                setattr(self, name, [0.0] * 3)

    def closing_speed(self, p: cython.Py_ssize_t) -> cython.double:
        """Return how fast a pair closes along the normal of its slope at this instant."""
        s: Slopes = self.slopes
        k: cython.int
        speed: cython.double = 0.0

        if not s.find(self.pairs.at[p].first, self.pairs.at[p].second):
            return 0.0
        for k in range(self.bodies.dim):
            velocity: cython.double = self.clusters.final_velocity(s.body, k)
            velocity -= self.clusters.kick_of(s.body, k)
            speed += (self.bodies.velocity[s.slope, k] - velocity) * s.normal_on(k)
            speed += self.bodies.growth[s.body, k] * abs(s.normal_on(k))
        return speed

    @may_raise
    def resolve(
        self, p: cython.Py_ssize_t, restitution: cython.double, normal_only: cython.bint
    ) -> cython.bint:
        """Resolve the impact of a pair; return False if the body cannot leave the slope."""
        s: Slopes = self.slopes
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        k: cython.int

        self.solid = -1
        self.rests = False
        m.impulse = 0.0
        if not s.find(m.rows[0], m.rows[1]):
            return False
        i: cython.Py_ssize_t = s.body
        n: cython.int = 0 if m.rows[0] == i else 1
        grows: cython.bint = False
        self.fixed_speed = 0.0
        for k in range(b.dim):
            self.clusters.even_out(i, k)
            self.normal[k] = 0.0 if b.controls.locks(i, k) else s.normal_on(k)
            self.before[k] = m.velocity_after(n, k) - b.velocity[s.slope, k]
            self.after[k] = self.before[k]
            if b.controls.locks(i, k):
                self.fixed_speed += self.before[k] * s.normal_on(k)
            if b.growth[i, k] != 0.0:
                self.fixed_speed -= b.growth[i, k] * abs(s.normal_on(k))
                grows = True
            self.pull[k] = 2.0 * self.clusters.kick_of(i, k)
        free: cython.double = self._dot(self.normal, self.normal)
        if free == 0.0:
            return False
        closing: cython.double = -(self._dot(self.before, self.normal) + self.fixed_speed)
        press: cython.double = self._dot(self.pull, self.normal)
        apart: cython.double = restitution * max(closing, 0.0)
        if apart + 0.5 * press <= 0.0:
            apart = 0.0  # gravity would bring them together again within the step
        stays: cython.bint = apart == 0.0
        more: cython.double = self._rest_of_series(p, closing - 0.5 * press) if stays else 0.0
        apart += more * closing
        m.impulse = b.mass[i] * (closing + apart) / sqrt(free)
        for k in range(b.dim):
            self.after[k] += self.normal[k] * ((closing + apart) / free)
        if stays and press < 0.0:
            press += more * press
            m.impulse -= b.mass[i] * press / sqrt(free)
            for k in range(b.dim):
                self.pull[k] -= self.normal[k] * (press / free)
        # A body that is locked on an axis of the line cannot choose its velocity along it.
        is_locked: cython.bint = b.controls.locks(i, s.run) or b.controls.locks(i, s.up)
        if not (normal_only or is_locked):
            self._slide(i, apart - self.fixed_speed, m.impulse / b.mass[i], stays)
        if stays and more == 0.0:
            if not (is_locked or grows):
                self._straighten()
            if not self._fit_between(p, i):
                return False
        self._write(i, stays)
        return True

    @may_raise
    def release_turned(self) -> cython.void:
        """Let gravity alone pull at the bodies that have met one that turns at this instant.

        On a slope they may have shared its weight since then.
        """
        b: Bodies = self.bodies
        k: cython.int
        n: cython.Py_ssize_t = 0

        while n < b.n_turned:  # a released body is one more
            i: cython.Py_ssize_t = b.turned[n]
            q: cython.Py_ssize_t = self.pairs.head_of(i)
            while q >= 0:
                j: cython.Py_ssize_t = self.pairs.partner(q, i)
                if (
                    self.pairs.at[q].met != NOT_MET
                    and self.pairs.impact[q].resolutions > 0
                    and self.gravity.acts_on(j)
                    and self.gravity.is_shared(j, self.step.now)
                ):
                    for k in range(b.dim):
                        self.clusters.split_path(j, k)
                q = self.pairs.next_of(q, i)
            n += 1

    def _rest_of_series(self, p: cython.Py_ssize_t, closing: cython.double) -> cython.double:
        """Return the rest of a series of resolutions, as a multiple of this one.

        A third body that presses a body onto the slope brings it back, each time slower by the
        same factor.  Once the factor repeats, one resolution adds the sum of all that would follow.
        """
        before: cython.double = self.closings[p, 0]
        factor: cython.double = self.closings[p, 1]

        self.closings[p, 0] = closing
        self.closings[p, 1] = -1.0
        if not 0.0 < closing < before:
            return 0.0
        self.closings[p, 1] = closing / before
        if abs(closing / before - factor) > SAME_FACTOR:
            return 0.0
        self.closings[p, 0] = 0.0
        return closing / (before - closing)

    def begin_instant(self, p: cython.Py_ssize_t) -> cython.void:
        """Forget the series of a pair that is resolved for the first time in an instant."""
        if self.closings.shape[0] <= p:
            self.closings = grown(self.closings, 2 * p + 1)
        self.closings[p, 0] = 0.0

    def _dot(self, one: cython.p_double, other: cython.p_double) -> cython.double:
        """Return the product of two vectors."""
        k: cython.int
        total: cython.double = 0.0

        for k in range(self.bodies.dim):
            total += one[k] * other[k]
        return total

    def _slide(
        self,
        i: cython.Py_ssize_t,
        normal: cython.double,
        press: cython.double,
        stays: cython.bint,
    ) -> cython.void:
        """Apply the rule of the body along the line, and keep its speed along the normal.

        `press` is the change of the latter.  If the body `stays`, the rule also holds for its pull.
        """
        b: Bodies = self.bodies
        k: cython.int
        scale: cython.double = 1.0
        weak: cython.double = 1.0

        if b.response[i] == ResponseCode.STOP:
            scale = weak = 0.0
        elif b.response[i] == ResponseCode.PUSH:
            slide: cython.double = self._length_along(self.after, self.after, 0.0)
            if normal == 0.0 and slide > 0.0:
                scale = sqrt(self._dot(self.before, self.before)) / slide
        elif b.rare.is_used:
            friction: cython.double = b.rare.friction_between(self.slopes.slope, i)
            slide = self._length_along(self.after, self.pull, 1.0 if stays else 0.0)
            if friction > 0.0 and slide > 0.0:
                scale = weak = max(0.0, 1.0 - friction * press / slide)
        if scale == 1.0:
            return
        for k in range(b.dim):
            along: cython.double = self.normal[k] * normal
            self.after[k] = along + (self.after[k] - along) * scale
            self.pull[k] *= weak if stays else 1.0

    def _length_along(
        self, one: cython.p_double, other: cython.p_double, part: cython.double
    ) -> cython.double:
        """Return the length of one vector plus a part of another, less its part along the normal."""
        k: cython.int
        total: cython.double = 0.0
        normal: cython.double = 0.0

        for k in range(self.bodies.dim):
            normal += (one[k] + part * other[k]) * self.normal[k]
        for k in range(self.bodies.dim):
            along: cython.double = one[k] + part * other[k] - normal * self.normal[k]
            total += along * along
        return sqrt(total)

    def _straighten(self) -> cython.void:
        """Give velocity and pull of a body that stays on the slope the direction of the line.

        Otherwise the rounding of two numbers that cancel would leave a part along the normal.
        """
        s: Slopes = self.slopes
        _n: cython.int

        along: cython.double = self.after[s.run] * s.normal_up - self.after[s.up] * s.normal_run
        pull: cython.double = self.pull[s.run] * s.normal_up - self.pull[s.up] * s.normal_run
        self.after[s.run] = along * s.normal_up
        self.after[s.up] = -along * s.normal_run
        self.pull[s.run] = pull * s.normal_up
        self.pull[s.up] = -pull * s.normal_run
        for _n in range(N_SHRINKS):
            if not self._gains_energy():
                return
            self.after[s.run] *= SHRINK
            self.after[s.up] *= SHRINK

    def _gains_energy(self) -> cython.bint:
        """Return whether the energy in the frame of the slope rises, in twice the precision."""
        k: cython.int

        self.sum.clear()
        for k in range(self.bodies.dim):
            self.sum.add(self.before[k], self.before[k])
            self.sum.add(-self.after[k], self.after[k])
        return self.sum.total() < 0.0

    @may_raise
    def _fit_between(self, p: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
        """Satisfy also the other contacts of the body with bodies that give no way.

        Returns False if there is no velocity that satisfies them.
        """
        q: cython.Py_ssize_t = self.pairs.head_of(i)

        while q >= 0:
            if q != p and self._presses(q, i) and not self._satisfy_both(q, i):
                return False
            q = self.pairs.next_of(q, i)
        return True

    @may_raise
    def _presses(self, q: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether the body closes in a touching pair with a body that gives no way."""
        b: Bodies = self.bodies
        c: PositionCorrection = self.correction
        j: cython.Py_ssize_t = self.pairs.partner(q, i)
        k: cython.int
        towards: cython.double = 0.0
        sizes: cython.double = 0.0

        if self.pairs.at[q].state != SOLID or self.pairs.at[q].is_withdrawn:
            return False
        b.advance(i, self.step.now)
        b.advance(j, self.step.now)
        if not c.is_touching(q) or not self._gives_no_way(j, c.axis):
            return False
        sign: cython.int = 1 if self.pairs.at[q].first == i else -1
        for k in range(b.dim):
            self.second[k] = 0.0
            self.speed[k] = b.velocity[j, k] - b.velocity[self.slopes.slope, k]
        if is_slanted(c.sign):
            self.others.find(i, j)
            for k in range(b.dim):
                self.second[k] = self.others.normal_on(k)
        else:
            self.second[c.axis] = sign * (1.0 if c.sign > 0 else -1.0)
        for k in range(b.dim):
            if b.growth[i, k] != 0.0 and self.second[k] != 0.0:
                self.speed[k] += b.growth[i, k] if self.second[k] > 0.0 else -b.growth[i, k]
            if b.controls.locks(i, k):
                self.second[k] = 0.0
            part: cython.double = (
                self.after[k] + 0.5 * self.pull[k] - self.speed[k]
            ) * self.second[k]
            towards += part
            sizes += abs(part)
        return towards < -FACE_ROUNDING * sizes

    def _gives_no_way(self, j: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a body keeps its velocity on an axis: if dynamic, because of an anchor."""
        b: Bodies = self.bodies

        self.clusters.write_body(j)
        return not b.dynamic_along(j, k) or self.clusters.is_anchored(j, k)

    def _satisfy_both(self, q: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
        """Find the velocity that follows the slope and the body of pair `q`, nearest to the one before."""
        b: Bodies = self.bodies
        k: cython.int
        across: cython.double = self._dot(self.normal, self.second)
        one: cython.double = self._dot(self.normal, self.normal)
        other: cython.double = self._dot(self.second, self.second)
        det: cython.double = one * other - across * across
        is_still: cython.bint = True

        self.solid = self.pairs.partner(q, i)
        if det <= PARALLEL and across < 0.0:
            return False
        for k in range(b.dim):
            is_still &= self.speed[k] == 0.0
        first: cython.double = -(self._dot(self.after, self.normal) + self.fixed_speed)
        second: cython.double = self._dot(self.speed, self.second) - self._dot(
            self.after, self.second
        )
        pull: cython.double = min(0.0, self._dot(self.pull, self.second))
        if det <= PARALLEL:  # two parts of one slope, one of which moves faster
            for k in range(b.dim):
                self.after[k] += self.second[k] * (second / other)
                self.pull[k] -= self.second[k] * (pull / other)
            return True
        for k in range(b.dim):
            self.after[k] += self.normal[k] * ((first * other - second * across) / det)
            self.after[k] += self.second[k] * ((second * one - first * across) / det)
            self.pull[k] += self.normal[k] * (pull * across / det)
            self.pull[k] -= self.second[k] * (pull * one / det)
        if b.dim == 2:
            for k in range(b.dim):
                self.pull[k] = 0.0
                if is_still:
                    self.after[k] = 0.0
            self.rests = is_still
        return True

    def _write(self, i: cython.Py_ssize_t, stays: cython.bint) -> cython.void:
        """Give the body its new path and, if it stays on the slope, its new pull."""
        b: Bodies = self.bodies
        k: cython.int

        for k in range(b.dim):
            if b.controls.locks(i, k):
                continue
            velocity: cython.double = b.velocity[self.slopes.slope, k] + (
                self.after[k] + 0.5 * self.pull[k]
            )
            self.clusters.turn_alone(i, k, velocity)
            if self.rests and k == self.slopes.up:
                self.clusters.anchor_velocity = b.velocity[self.slopes.slope, k]
                node: cython.Py_ssize_t = self.clusters.ensure(i, k)
                self.clusters.merge(node, node, self.slopes.slope)
            if stays and self.gravity.acts_on(i):
                if self.pull[k] == 0.0:
                    self.gravity.hold(i, k)
                else:
                    self.gravity.pull_with(i, k, 0.5 * self.pull[k], self.step.now)
