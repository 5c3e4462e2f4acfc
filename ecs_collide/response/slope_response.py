"""The resolution of an impact with a slope, which changes velocities on two axes.

`ImpactLoop` has placed the body on the line.  A slope is never dynamic, so only the body changes,
and it leaves its clusters.  Its velocity relative to the slope has a part along the normal, which
the restitution decides, and a part along the line, which the rule of the body decides.  If the body
stays on the slope, gravity acts on it only along the line to the end of the step.

A body between a slope and another body that gives no way, such as in a valley, must satisfy both
contacts at once: resolved one after the other, the two would take turns forever.  If it rests
there, it is an anchor to the bodies above it.  If the slope meets the body for the third time in an
instant, because bodies that have merged with it bring it back, `SlopeGroups` turns all of them.

The energy of the body rises in the frame of the slope by no more than rounding.
"""

from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import ReadOnly, cython, may_raise
from ecs_collide._kernel.constants import FACE_ROUNDING, ResponseCode
from ecs_collide.broadphase.pair_table import NOT_MET, SOLID, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.placement import PositionCorrection
from ecs_collide.narrowphase.slopes import Slopes, is_slanted
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.slope_groups import SlopeGroups

PARALLEL = 2.0**-20  # one less the squared cosine of two normals: below, they cannot be told apart
SERIES: cython.longlong = 2  # repetitions after which all slopes of the instant resolve as one


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
    impact: ImpactState
    groups: ReadOnly[SlopeGroups]
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
        self.impact = impact
        self.groups = SlopeGroups(step, impact.clusters)
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
            if self.clusters.is_anchored(i, k):
                self.pull[k] = self._own_pull(i, k)
            else:
                self.pull[k] = 2.0 * self.clusters.kick_of(i, k)
        free: cython.double = self._dot(self.normal, self.normal)
        if free == 0.0:
            return False
        closing: cython.double = -(self._dot(self.before, self.normal) + self.fixed_speed)
        press: cython.double = min(0.0, self._dot(self.pull, self.normal))
        apart: cython.double = restitution * max(closing, 0.0)
        fall: cython.double = 0.0
        for k in range(b.dim):
            fall += self.normal[k] * self._own_pull(i, k)
        stays: cython.bint = apart == 0.0 or apart + 0.5 * fall <= 0.0
        if stays:
            apart = 0.0  # or gravity would bring them together again within the step
        else:
            for k in range(b.dim):
                self.pull[k] = self._own_pull(i, k)
        contact: cython.Py_ssize_t = self.groups.note(p, i, stays)
        if stays and self.pairs.impact[p].repeats >= SERIES:
            weight: cython.double = self.groups.solve(contact)
            if weight > 0.0:
                m.impulse = (closing - press) / weight * sqrt(free)
                return True
        m.impulse = b.mass[i] * (closing + apart) / sqrt(free)
        for k in range(b.dim):
            self.after[k] += self.normal[k] * ((closing + apart) / free)
        if stays:
            m.impulse -= b.mass[i] * press / sqrt(free)
            self.groups.bear(contact, -0.5 * b.mass[i] * press / free)
            for k in range(b.dim):
                self.pull[k] -= self.normal[k] * (press / free)
        # A body that is locked on an axis of the line cannot choose its velocity along it.
        is_locked: cython.bint = b.controls.locks(i, s.run) or b.controls.locks(i, s.up)
        if not (normal_only or is_locked):
            self._slide(i, apart - self.fixed_speed, m.impulse / b.mass[i], stays)
        fits: cython.bint = not stays or self._fit_between(p, i)
        if self.solid >= 0:
            self.groups.note(p, i, False)
        if not fits:
            return False
        self._write(i)
        return True

    def _own_pull(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the change of velocity that gravity alone makes to the end of the step."""
        if not self.gravity.acts_on(i):
            return 0.0
        return self.gravity.own_pull(i, k) * (1.0 - self.step.now)

    @may_raise
    def release_turned(self) -> cython.void:
        """Let gravity alone pull at the bodies that turn at this instant, and at their partners.

        On a slope they may have shared their weights since they met in this step.
        """
        b: Bodies = self.bodies
        n: cython.Py_ssize_t = 0

        while n < b.n_turned:  # a released body is one more
            i: cython.Py_ssize_t = b.turned[n]
            q: cython.Py_ssize_t = self.pairs.head_of(i)
            self.groups.expect(i)
            self._release(i)
            while q >= 0:
                if self.pairs.at[q].met != NOT_MET and self.pairs.impact[q].resolutions > 0:
                    self._release(self.pairs.partner(q, i))
                q = self.pairs.next_of(q, i)
            self.clusters.write()
            n += 1

    @may_raise
    def _release(self, i: cython.Py_ssize_t) -> cython.void:
        """Let gravity alone pull at a body, and at the lasting clusters that it is in."""
        k: cython.int

        if self.gravity.acts_on(i) and self.gravity.is_shared(i, self.step.now):
            for k in range(self.bodies.dim):
                self.clusters.even_out(i, k)
                self.clusters.split_path(i, k)

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
            speed: cython.double = sqrt(self._dot(self.before, self.before))
            if normal == 0.0 and slide > FACE_ROUNDING * speed:  # or it has no direction
                scale = speed / slide
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
        if not c.is_touching(q) or b.dynamic_along(j, c.axis):
            return False
        sign: cython.int = 1 if self.pairs.at[q].first == i else -1
        for k in range(b.dim):
            self.second[k] = 0.0
            self.speed[k] = b.velocity[j, k] - b.velocity[self.slopes.slope, k]
        if is_slanted(c.sign):
            for k in range(b.dim):
                self.second[k] = c.slopes.normal_on(k)
        else:
            self.second[c.axis] = sign * (1.0 if c.sign > 0 else -1.0)
        for k in range(b.dim):
            if b.growth[i, k] != 0.0 and self.second[k] != 0.0:
                self.speed[k] += b.growth[i, k] if self.second[k] > 0.0 else -b.growth[i, k]
            part: cython.double = (
                self.after[k] + 0.5 * self.pull[k] - self.speed[k]
            ) * self.second[k]
            towards += part
            sizes += abs(part)
            # Over the high end of a line it leaves the slope, unless it moves down.
            if is_slanted(c.sign) and k == c.axis and part >= 0.0 and c.slopes.is_at_high_end():
                return False
        return towards < -FACE_ROUNDING * sizes

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

    def _write(self, i: cython.Py_ssize_t) -> cython.void:
        """Give the body its new path and its new pull."""
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
            if self.gravity.acts_on(i):
                self.gravity.pull_with(i, k, 0.5 * self.pull[k], self.step.now)
