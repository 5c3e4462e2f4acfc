"""Coulomb friction between two faces that slide over each other, the last part of a resolution.

The momentum of friction is at most the coefficient times the momentum of the normal part.  If that
is enough to end the sliding, the faces, which may be conveyor belts, get one velocity.
"""

from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import ResponseCode
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState


@cython.final
class CoulombFriction:
    """Friction between the two bodies of an impact, after the normal part of its resolution."""

    bodies: Bodies
    clusters: Clusters
    impact: ImpactState
    # (2,): 0 for a body that is not dynamic, or that cannot move along the surface
    inverse_mass: cython.double[2]

    def __init__(self, impact: ImpactState):
        self.bodies = impact.bodies
        self.clusters = impact.clusters
        self.impact = impact

    def apply(self) -> cython.void:
        """Apply friction, unless `Stop` or `Push` decide about the velocities along the surface.

        The normal momentum is the larger of the two bodies'.  If one is held from behind, only the
        momentum of the other shows how they press against each other.
        """
        m: ImpactState = self.impact
        friction: cython.double = m.friction
        press: cython.double = 0.0

        if friction == 0.0:
            return
        for n in range(2):
            self.inverse_mass[n] = 0.0
            if m.is_dynamic[n]:
                if self.bodies.response[m.rows[n]] in (ResponseCode.STOP, ResponseCode.PUSH):
                    return
                press = max(press, self._press_of(n))
            if self._slides(n) and not self.bodies.controls.locks_all_but(m.rows[n], m.axis):
                self.inverse_mass[n] = 1.0 / self.bodies.mass[m.rows[n]]
        both: cython.double = self.inverse_mass[0] + self.inverse_mass[1]
        if both == 0.0:
            return
        speed: cython.double = self._slide_speed()
        if speed == 0.0:
            return
        for axis in range(self.bodies.dim):
            if axis != m.axis:
                self._rub(axis, friction * press * both / speed)

    def _slides(self, n: cython.int) -> cython.bint:
        """Return whether friction may change a body.

        Of two that slide, the one of lower dominance slides alone, if it can move at all.
        """
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[n]
        j: cython.Py_ssize_t = m.rows[1 - n]
        above: cython.longlong = self.bodies.controls.rank_of(i) - self.bodies.controls.rank_of(j)

        if above == 0 or not (m.slides(0) and m.slides(1)):
            return m.slides(n)
        lower: cython.Py_ssize_t = i if above < 0 else j
        return (lower == i) != self.bodies.controls.locks_all_but(lower, m.axis)

    def _press_of(self, n: cython.int) -> cython.double:
        """Return the momentum with which the normal part has pressed a body against the surface.

        Friction by it is damped to the end of the step like the velocity that it changes.
        """
        m: ImpactState = self.impact
        g: Gravity = self.clusters.gravity
        mass: cython.double = self.bodies.mass[m.rows[n]]
        press: cython.double = mass * abs(m.velocity_after(n, m.axis) - m.before[n][m.axis])

        g.find_rest_of_damping(m.rows[n], self.clusters.step.now)
        press *= g.decay
        if m.kick[n] != 0.0 and self.clusters.kick_of(m.rows[n], m.axis) == 0.0:
            # Held against gravity to the end of the step.
            press += mass * (2.0 * abs(m.kick[n])) * g.mean
        return press

    def _slide_speed(self) -> cython.double:
        """Return how fast the touching faces slide over each other."""
        largest: cython.double = 0.0
        speed: cython.double = 0.0

        for axis in range(self.bodies.dim):
            if axis != self.impact.axis:
                largest = max(largest, abs(self._slide(axis)))
        if largest == 0.0:
            return 0.0
        for axis in range(self.bodies.dim):
            if axis != self.impact.axis:
                slide: cython.double = self._slide(axis) / largest
                speed += slide * slide
        return sqrt(speed) * largest

    def _slide(self, axis: cython.int) -> cython.double:
        """Return the velocity of body 0's face less body 1's on an axis, at this instant.

        If one of them cannot move, the velocity at the end of the step counts instead, because
        friction also acts against the rest of gravity.
        """
        m: ImpactState = self.impact
        slide: cython.double = m.face_velocity(0, axis) - m.face_velocity(1, axis)

        if not self._moves(1, axis):
            slide += self.clusters.kick_of(m.rows[0], axis)
        elif not self._moves(0, axis):
            slide -= self.clusters.kick_of(m.rows[1], axis)
        else:
            slide -= self._kick_apart(axis)
        return slide

    def _moves(self, n: cython.int, axis: cython.int) -> cython.bint:
        """Return whether the impact may change the velocity of a body on an axis of the surface."""
        return self._slides(n) and not self.bodies.controls.locks(self.impact.rows[n], axis)

    def _kick_apart(self, axis: cython.int) -> cython.double:
        """Return the kick of body 0 less the kick of body 1."""
        c: Clusters = self.clusters

        return c.kick_of(self.impact.rows[0], axis) - c.kick_of(self.impact.rows[1], axis)

    def _rub(self, axis: cython.int, part: cython.double) -> cython.void:
        """Remove a part of the sliding on an axis; all of it if `part` is 1 or more."""
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        first_moves: cython.bint = self._moves(0, axis)
        second_moves: cython.bint = self._moves(1, axis)

        if not (first_moves or second_moves):
            return
        if (
            self.clusters.gravity.is_on
            and first_moves != second_moves
            and self._hold_back(0 if first_moves else 1, axis, part)
        ):
            return
        slide: cython.double = self._slide(axis)
        if first_moves and second_moves:
            self.clusters.let_rise(i, axis, -slide)
            self.clusters.let_rise(j, axis, slide)
        if part < 1.0:
            slide *= part
        elif not second_moves:
            m.change_along(0, axis, m.face_velocity(1, axis))
            return
        elif not first_moves:
            m.change_along(1, axis, m.face_velocity(0, axis))
            return
        share: cython.double = self.inverse_mass[0] / (self.inverse_mass[0] + self.inverse_mass[1])
        if first_moves != second_moves:
            share = 1.0 if first_moves else 0.0
        if first_moves:
            m.change_along(0, axis, self.clusters.final_velocity(i, axis) - slide * share)
        if part >= 1.0 and not (
            self.clusters.lasting_root(i, axis) or self.clusters.lasting_root(j, axis)
        ):
            # From the velocity of the first face, so that rounding leaves no difference.
            velocity: cython.double = m.face_velocity(0, axis) - m.belt_speed(1, axis)
            m.change_along(1, axis, velocity - self._kick_apart(axis))
        elif second_moves:
            m.change_along(1, axis, self.clusters.final_velocity(j, axis) + slide * (1.0 - share))

    def _hold_back(self, n: cython.int, axis: cython.int, part: cython.double) -> cython.bint:
        """Apply friction to body n if it has a kick along the surface; return False if it has none.

        Friction takes a part of the velocity at the end of the step, so it takes the same part of
        the chord and of the kick.  If that is all, the body is held.
        """
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[n]

        if self.clusters.kick_of(i, axis) == 0.0:
            return False
        surface: cython.double = m.face_velocity(1 - n, axis) - m.belt_speed(n, axis)
        part = max(0.0, 1.0 - part)
        velocity: cython.double = self.clusters.final_velocity(i, axis)
        m.change_along(n, axis, surface + (velocity - surface) * part)
        self.clusters.gravity.weaken(i, axis, part)
        return True
