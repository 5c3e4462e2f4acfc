"""The resolution of an impact with a slope, which changes velocities on two axes.

`ImpactLoop` has placed the body on the line.  A slope is never dynamic, so only the body changes,
and it leaves its clusters.  Its velocity relative to the slope has a part along the normal, which
the restitution decides, and a part along the line, which the rule of the body decides.  `Stop` and
friction act towards the face, which moves along the line if it is a belt.  If the body
stays on the slope, gravity acts on it only along the line to the end of the step.

A body between a slope and another body that gives no way, such as in a valley, must satisfy both
contacts at once.  Resolved one after the other, the two would take turns forever.  If it rests
there, it is an anchor to the bodies above it.  If the slope meets the body for the third time in an
instant, because bodies that have merged with it bring it back, `SlopeGroups` turns all of them.

The energy of the body rises in the frame of the slope by no more than rounding.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import DOUBLE, zeros
from ecs_collide._kernel.constants import FACE_ROUNDING, INF, ResponseCode
from ecs_collide.broadphase.pair_table import NOT_MET, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.faces import belt_velocity, side_of_normal
from ecs_collide.motion.gravity import ENDS, Gravity
from ecs_collide.narrowphase.placement import PositionCorrection
from ecs_collide.narrowphase.slopes import Slopes
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.slope_groups import SlopeGroups

PARALLEL = 2.0**-20  # least 1 - cosine**2 of two normals that are not parallel
SERIES: cython.longlong = 2  # repetitions after which all slopes of the instant resolve as one
MAX_FACES = 32  # searches for a face that a body between slopes and walls closes with

# Rows of `faces`: rows 0 and 1 are followed.  Columns: the normal out of the face, and its velocity.
PRESSING: cython.int = 2
TRIED: cython.int = 3
SPEED: cython.int = 3


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
    rests: cython.bint  # whether contacts leave the last body no velocity but the slope's
    solid: cython.Py_ssize_t  # the body that keeps the last body from leaving the slope, or -1
    # the part along the normal of the corner's velocity that no response changes: on locked axes,
    # and by growth; relative to the slope
    fixed_speed: cython.double
    # (3,): all relative to the slope, in units per second: the velocity of this instant before
    # and after, and the change of velocity that gravity makes to the end of the step
    before: cython.double[3]
    after: cython.double[3]
    pull: cython.double[3]
    belt: cython.double[3]  # the velocity of the face along the line
    slide: cython.double[3]  # `after` relative to that
    normal: cython.double[3]  # the unit normal out of the slope, 0 on locked axes
    # (4, 6): faces that the body touches beside the slope, relative to the slope
    faces: cython.double[:, ::1]
    n_followed: cython.int  # how many of them its velocity follows
    # (3,): `after` and `pull` before the faces, and one or two faces with the velocity of the first
    free_after: cython.double[3]
    free_pull: cython.double[3]
    face: cython.double[3]
    other_face: cython.double[3]
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
        self.faces = zeros(DOUBLE, 4, 6)

    def resolve(
        self, p: cython.Py_ssize_t, restitution: cython.double, normal_only: cython.bint
    ) -> cython.bint:
        """Resolve the impact of a pair; return False if the body cannot leave the slope."""
        s: Slopes = self.slopes
        b: Bodies = self.bodies
        m: ImpactState = self.impact

        self.solid = -1
        self.rests = False
        m.impulse = 0.0
        if not s.find(m.rows[0], m.rows[1]):
            return False
        i: cython.Py_ssize_t = s.body
        n: cython.int = 0 if m.rows[0] == i else 1
        self.step.leaning.meet_slope(i)
        self.fixed_speed = 0.0
        for k in range(b.dim):
            self.clusters.even_out(i, k)
            self.normal[k] = s.normal_on(k)
            self.before[k] = m.velocity_after(n, k) - b.velocity_met(s.slope, k)
            self.after[k] = self.before[k]
            if b.controls.locks(i, k):
                self.fixed_speed += self.before[k] * self.normal[k]
                self.normal[k] = 0.0
            self.fixed_speed -= b.growth_of(i, k) * abs(s.normal_on(k))
            if self.clusters.is_anchored(i, k):
                self.pull[k] = self.gravity.pull_from(i, k, self.step.now)
            else:
                self.pull[k] = 2.0 * self.clusters.kick_of(i, k)
        free: cython.double = self._dot(self.normal, self.normal)
        if free == 0.0:
            return False
        self._end_damping(i, free)
        closing: cython.double = -(self._dot(self.before, self.normal) + self.fixed_speed)
        press: cython.double = min(0.0, self._dot(self.pull, self.normal))
        apart: cython.double = restitution * max(closing, 0.0)
        fall: cython.double = 0.0
        for k in range(b.dim):
            fall += self.normal[k] * self.gravity.pull_from(i, k, self.step.now)
        stays: cython.bint = apart == 0.0 or apart + 0.5 * fall <= 0.0
        if stays:
            apart = 0.0  # or gravity would bring them together again within the step
        else:
            for k in range(b.dim):
                self.pull[k] = self.gravity.pull_from(i, k, self.step.now)
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

    def _end_damping(self, i: cython.Py_ssize_t, free: cython.double) -> cython.void:
        """End the damping of a body along the normal for this step; along the line it goes on."""
        g: Gravity = self.gravity
        lost: cython.double = 0.0

        if not (self.bodies.rare.any_damping and g.acts_on(i)):
            return
        for k in range(self.bodies.dim):
            lost += self.normal[k] * g.damping_of(i, k)
        for k in range(self.bodies.dim):
            change: cython.double = -self.normal[k] * (lost / free)
            g.own[i, k] += change
            self.pull[k] += change * (1.0 - self.step.now)

    def release_turned(self) -> cython.void:
        """Leave the leaning bodies that turn at this instant, and their partners, to gravity alone.

        They may have shared their weights since they met in this step.
        """
        b: Bodies = self.bodies
        n: cython.Py_ssize_t = 0

        while n < b.n_turned:  # a released body is one more
            i: cython.Py_ssize_t = b.turned[n]
            if self.step.leaning.leans(i):
                self._release_with(i)
            n += 1

    def _release_with(self, i: cython.Py_ssize_t) -> cython.void:
        """Release a body that leans on a slope, and the partners that it has met."""
        q: cython.Py_ssize_t = self.pairs.head_of(i)

        self.groups.expect(i)
        self._release(i)
        while q >= 0:
            if self.pairs.at[q].met != NOT_MET and self.pairs.impact[q].resolutions > 0:
                self._release(self.pairs.partner(q, i))
            q = self.pairs.next_of(q, i)
        self.clusters.write()

    def _release(self, i: cython.Py_ssize_t) -> cython.void:
        """Leave a body, and its lasting clusters, to gravity alone on axes with a shared pull.

        On other axes its clusters keep their paths.  So a release changes `is_shared` only for the
        released cluster, and the order of releases decides nothing.
        """
        for k in range(self.bodies.dim):
            if self.gravity.is_shared(i, k, self.step.now):
                self.clusters.even_out(i, k)
                self.clusters.split_path(i, k, ENDS)

    def _dot(self, one: cython.p_double, other: cython.p_double) -> cython.double:
        """Return the product of two vectors."""
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
        scale: cython.double = 1.0
        weak: cython.double = 1.0

        for k in range(b.dim):
            self.belt[k] = 0.0
        if b.response[i] == ResponseCode.STOP:
            scale = weak = 0.0
            self._find_belt()
        elif b.response[i] == ResponseCode.PUSH:
            length: cython.double = self._length_along(self.after, self.after, 0.0)
            speed: cython.double = sqrt(self._dot(self.before, self.before))
            if normal == 0.0 and length > FACE_ROUNDING * speed:  # or it has no direction
                scale = speed / length
        elif b.rare.is_used:
            friction: cython.double = b.rare.friction_between(self.slopes.slope, i)
            self._find_belt()
            for k in range(b.dim):
                self.slide[k] = self.after[k] - self.belt[k]
            length = self._length_along(self.slide, self.pull, 1.0 if stays else 0.0)
            if friction > 0.0 and length > 0.0:
                scale = weak = max(0.0, 1.0 - friction * press / length)
        if scale == 1.0:
            return
        for k in range(b.dim):
            along: cython.double = self.normal[k] * normal + self.belt[k]
            self.after[k] = along + (self.after[k] - along) * scale
            self.pull[k] *= weak if stays else 1.0

    def _find_belt(self) -> cython.void:
        """Find the velocity of the face of the slope along its line."""
        s: Slopes = self.slopes
        side: cython.int = side_of_normal(s.up, 2 if s.out > 0.0 else -2)

        for k in range(self.bodies.dim):
            self.belt[k] = belt_velocity(self.bodies, s.slope, side, k)

    def _length_along(
        self, one: cython.p_double, other: cython.p_double, part: cython.double
    ) -> cython.double:
        """Return the length of one vector plus a part of another, less its part along the normal."""
        total: cython.double = 0.0
        normal: cython.double = 0.0

        for k in range(self.bodies.dim):
            normal += (one[k] + part * other[k]) * self.normal[k]
        for k in range(self.bodies.dim):
            along: cython.double = one[k] + part * other[k] - normal * self.normal[k]
            total += along * along
        return sqrt(total)

    def _fit_between(self, p: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
        """Find the nearest velocity on the slope that closes with no other touched face.

        Only faces of bodies that give no way count.  Returns False if there is no such velocity.
        """
        self.n_followed = 0
        for k in range(self.bodies.dim):
            self.free_after[k] = self.after[k]
            self.free_pull[k] = self.pull[k]
        for _n in range(MAX_FACES):
            if not self._find_pressing(p, i):
                return True
            if not self._follow_pressing():
                return False
        return False

    def _find_pressing(self, p: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
        """Find the face with which the body closes fastest, as row PRESSING of `faces`.

        Of equally fast ones the first partner in space counts, because the order of a body's pairs
        depends on the tree.  Returns False if the body closes with none.
        """
        q: cython.Py_ssize_t = self.pairs.head_of(i)
        found: cython.Py_ssize_t = -1
        fastest: cython.double = 0.0

        while q >= 0:
            speed: cython.double = self._closing(TRIED) if q != p and self._find_face(q, i) else 0.0
            if speed > fastest or (
                speed == fastest
                and found >= 0
                and self.pairs.precedes(q, i, found, i, self.bodies, False)
            ):
                found = q
                fastest = speed
                for k in range(SPEED + 3):
                    self.faces[PRESSING, k] = self.faces[TRIED, k]
            q = self.pairs.next_of(q, i)
        if found >= 0:
            self.solid = self.pairs.partner(found, i)
        return found >= 0

    def _find_face(self, q: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
        """Find the face that body i touches in a pair, as row TRIED of `faces`.

        Returns False if it touches none, or if the partner gives way.
        """
        b: Bodies = self.bodies
        c: PositionCorrection = self.correction
        j: cython.Py_ssize_t = self.pairs.partner(q, i)

        if not self.pairs.is_solid(q):
            return False
        b.advance(i, self.step.now)
        b.advance(j, self.step.now)
        if not c.is_touching(q) or b.dynamic_along(j, c.axis):
            return False
        out: cython.double = 1.0 if self.pairs.at[q].first == i else -1.0
        c.slopes.find_normal(self.pairs.at[q].first, self.pairs.at[q].second, c.axis, c.sign)
        for k in range(b.dim):
            normal: cython.double = out * c.slopes.unit[k] + 0.0
            speed: cython.double = b.velocity_met(j, k) - b.velocity_met(self.slopes.slope, k)
            if normal != 0.0:
                speed += b.growth_of(i, k) if normal > 0.0 else -b.growth_of(i, k)
            self.faces[TRIED, k] = normal
            self.faces[TRIED, SPEED + k] = speed
        if not c.slopes.slants or not c.slopes.is_at_high_end():
            return True
        # Over the high end of a line it leaves the slope, unless it moves down.
        path: cython.double = self.after[c.axis] + 0.5 * self.pull[c.axis]
        return (path - self.faces[TRIED, SPEED + c.axis]) * self.faces[TRIED, c.axis] < 0.0

    def _closing(self, n: cython.int) -> cython.double:
        """Return the speed at which the path closes with a face, or 0 if it is only rounding."""
        away: cython.double = 0.0
        sizes: cython.double = 0.0

        for k in range(self.bodies.dim):
            speed: cython.double = self.faces[n, SPEED + k]
            away += (self.after[k] + 0.5 * self.pull[k] - speed) * self.faces[n, k]
            sizes += abs(self.free_after[k]) + abs(self.free_pull[k]) + abs(speed)
        return -away if away < -FACE_ROUNDING * sizes else 0.0

    def _follow_pressing(self) -> cython.bint:
        """Follow the pressing face too, by the least change; return False if that is impossible.

        The velocity before was the nearest one for the followed faces.  So the nearest one now
        follows the pressing face, and in 3D maybe another one.
        """
        best: cython.int = -1
        least: cython.double = INF

        if self._follow(PRESSING) and self._fits():
            self.n_followed = 0
        else:
            for n in range(self.n_followed):
                if self._follow_both(PRESSING, n) and self._fits():
                    change: cython.double = 0.0
                    for k in range(3):
                        more: cython.double = self.after[k] - self.free_after[k]
                        change += more * more
                    if change < least:
                        least = change
                        best = n
            if best < 0:
                return False
            self._follow_both(PRESSING, best)
            self.n_followed = 1
            for k in range(SPEED + 3):
                self.faces[0, k] = self.faces[best, k]
        for k in range(SPEED + 3):
            self.faces[self.n_followed, k] = self.faces[PRESSING, k]
        self.n_followed += 1
        return True

    def _fits(self) -> cython.bint:
        """Return whether the path closes with none of the followed faces."""
        fits: cython.bint = True

        for n in range(self.n_followed):
            fits &= self._closing(n) == 0.0
        return fits

    def _follow(self, n: cython.int) -> cython.bint:
        """Find the nearest velocity that follows the slope and a face; return False if none does."""
        self.rests = False  # two faces tried before may have left it at rest
        for k in range(self.bodies.dim):
            self.face[k] = self.faces[n, k]
            self.speed[k] = self.faces[n, SPEED + k]
            self.after[k] = self.free_after[k]
            self.pull[k] = self.free_pull[k]
        across: cython.double = self._dot(self.normal, self.face)
        one: cython.double = self._dot(self.normal, self.normal)
        other: cython.double = self._dot(self.face, self.face)
        det: cython.double = one * other - across * across
        if det <= PARALLEL and across < 0.0:
            return False
        first: cython.double = -(self._dot(self.after, self.normal) + self.fixed_speed)
        second: cython.double = self._dot(self.speed, self.face) - self._dot(self.after, self.face)
        pull: cython.double = min(0.0, self._dot(self.pull, self.face))
        if det <= PARALLEL:  # two parts of one slope, one of which moves faster
            for k in range(self.bodies.dim):
                self.after[k] += self.face[k] * (second / other)
            return True
        for k in range(self.bodies.dim):
            self.after[k] += self.normal[k] * ((first * other - second * across) / det)
            self.after[k] += self.face[k] * ((second * one - first * across) / det)
            self.pull[k] += self.normal[k] * (pull * across / det)
            self.pull[k] -= self.face[k] * (pull * one / det)
        if self.bodies.dim == 2:
            self._rest(self._is_still(n))
        return True

    def _follow_both(self, n: cython.int, m: cython.int) -> cython.bint:
        """Find the velocity that follows the slope and two faces; return False if none does."""
        one: cython.double = -self.fixed_speed
        two: cython.double = 0.0
        three: cython.double = 0.0

        if self.bodies.dim == 2:
            return False
        for k in range(3):
            self.face[k] = self.faces[n, k]
            self.other_face[k] = self.faces[m, k]
            self.after[k] = self.free_after[k]
            one -= self.after[k] * self.normal[k]
            two += (self.faces[n, SPEED + k] - self.after[k]) * self.face[k]
            three += (self.faces[m, SPEED + k] - self.after[k]) * self.other_face[k]
        det: cython.double = 0.0
        for k in range(3):
            det += self.normal[k] * self._cross(self.face, self.other_face, k)
        if abs(det) <= PARALLEL:
            return False
        for k in range(3):
            self.after[k] += (
                one * self._cross(self.face, self.other_face, k)
                + two * self._cross(self.other_face, self.normal, k)
                + three * self._cross(self.normal, self.face, k)
            ) / det
        self._rest(self._is_still(n) and self._is_still(m))
        return True

    def _cross(self, one: cython.p_double, other: cython.p_double, k: cython.int) -> cython.double:
        """Return a component of the cross product of two vectors."""
        i: cython.int = (k + 1) % 3
        j: cython.int = (k + 2) % 3

        return one[i] * other[j] - one[j] * other[i]

    def _is_still(self, n: cython.int) -> cython.bint:
        """Return whether a face moves with the slope."""
        is_still: cython.bint = True

        for k in range(self.bodies.dim):
            is_still &= self.faces[n, SPEED + k] == 0.0
        return is_still

    def _rest(self, is_still: cython.bint) -> cython.void:
        """Note that contacts leave the body one velocity; `is_still` if that is the slope's."""
        for k in range(self.bodies.dim):
            self.pull[k] = 0.0
            if is_still:
                self.after[k] = 0.0
        self.rests = is_still

    def _write(self, i: cython.Py_ssize_t) -> cython.void:
        """Give the body its new path and its new pull."""
        b: Bodies = self.bodies

        for k in range(b.dim):
            if b.controls.locks(i, k):
                continue
            velocity: cython.double = b.velocity_met(self.slopes.slope, k) + (
                self.after[k] + 0.5 * self.pull[k]
            )
            self.clusters.turn_alone(i, k, velocity)
            if self.rests and k == self.slopes.up:
                self.clusters.anchor_velocity = b.velocity_met(self.slopes.slope, k)
                node: cython.Py_ssize_t = self.clusters.ensure(i, k)
                self.clusters.merge(node, node, self.slopes.slope)
            if self.gravity.acts_on(i):
                self.gravity.pull_with(i, k, 0.5 * self.pull[k], self.step.now)
