"""Coulomb friction of the contacts that are met in one instant, after their normal parts.

The momentum of friction is at most the coefficient times the momentum with which a contact presses,
the *load* of the contact (`response/met_loads.py`).  If that is enough to end the sliding, the faces,
which may be conveyor belts, get one velocity.

The contacts rub together, once no normal part is due any more.  A body that rubs on several others
is split into parts, by the momentum that each contact may take.  Each part gets a velocity of its
own, and the body gets their mean.  Energy never rises by that, and on walls of one velocity the
friction of all adds up.  Contacts that have not used up their momentum then rub once more, and so
on, so that a pile on a floor slows down as one.
"""

from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython, struct
from ecs_collide._kernel.arrays import INT, grown, zeros
from ecs_collide._kernel.constants import INF
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.met_contacts import MetContacts

KEPT_ROUNDING = 2.0**-50
RUB_LIMIT = 12  # rounds, after which a pile may still slide in itself
# If a contact could stop a slide so many times as fast, the slide ends, so that a pile comes to rest.
# Beside a wall a body takes the velocity of the wall, and of two bodies the slower one's counts.
STUCK = 2.0**40


@cython.inline
@struct
class Rubbed:
    """A body that rubs on others on an axis."""

    row: cython.int
    axis: cython.int
    n_parts: cython.int  # one for each contact that rubs it
    budget: cython.double  # the sum of what these may take
    # of this round
    n_parts_rubbed: cython.int
    change: cython.double  # the mean change of velocity of the parts, by shares
    least: cython.double  # of the velocities of the parts
    greatest: cython.double
    nearest: cython.double  # of these the one nearest to 0, of parts beside walls if there are any
    is_beside_wall: cython.schar
    kept: cython.double  # the part of the kick that stays: the mean, and the most
    most_kept: cython.double


@cython.final
class CoulombFriction:
    """The friction of the contacts of an instant."""

    bodies: Bodies
    clusters: Clusters
    impact: ImpactState
    met: MetContacts
    n_bodies: cython.Py_ssize_t
    rubbed: cython.pointer[Rubbed]  # from 1
    memory: StructMemory
    place_of: cython.int[:, ::1]  # (n_rows or fewer, dim): place in `rubbed`, or 0
    # (2,): of the parts of the two bodies on an axis; 0 for one that friction cannot change there
    inverse_mass: cython.double[2]
    share: cython.double[2]
    kept: cython.double  # the part of the kick that friction leaves to the last part
    slide: cython.double[3]  # (3,): how fast the faces of the last contact slide on each axis

    def __init__(self, step: Step, impact: ImpactState, met: MetContacts):
        self.bodies = step.bodies
        self.clusters = impact.clusters
        self.impact = impact
        self.met = met
        self.place_of = zeros(INT, 1, self.bodies.dim)
        self.memory = StructMemory()
        self._grow(16)

    def _grow(self, room: cython.Py_ssize_t) -> cython.void:
        """Make room for more bodies on an axis."""
        self.rubbed = cython.cast(
            cython.pointer(Rubbed), self.memory.grow(cython.sizeof(Rubbed), room)
        )

    def clear(self) -> cython.void:
        """Forget the bodies, of an instant or of a step that was interrupted."""
        for at in range(1, self.n_bodies + 1):
            self.place_of[self.rubbed[at].row, self.rubbed[at].axis] = 0
        self.n_bodies = 0

    # -- rub --

    def apply(self) -> cython.void:
        """Apply the friction of the contacts that have not rubbed yet, after `MetLoads.find`."""
        for c in range(self.met.n_rubbed, self.met.n):
            self.met.contacts[c].budget = self.met.contacts[c].friction * self.met.contacts[c].load
            self.met.contacts[c].left = self.met.contacts[c].budget
            if self.met.contacts[c].budget > 0.0:
                self._add_budget(c)
        for _ in range(RUB_LIMIT):
            if not self._rub_all():
                break
        self.clear()

    def _add_budget(self, c: cython.Py_ssize_t) -> cython.void:
        """Add the budget of a contact to the budgets of its bodies."""
        m: ImpactState = self.impact

        self.met.take(c)
        for axis in range(self.bodies.dim):
            for n in range(2):
                if axis != m.axis and self._moves(c, n, axis):
                    at: cython.Py_ssize_t = self._make(m.rows[n], axis)
                    self.rubbed[at].n_parts += 1
                    self.rubbed[at].budget += self.met.contacts[c].budget

    def _make(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the place of a body on an axis, which is made if there is none."""
        if i >= self.place_of.shape[0]:
            self.place_of = grown(self.place_of, self.bodies.capacity)
        at: cython.Py_ssize_t = self.place_of[i, k]
        if at:
            return at
        at = self.n_bodies + 1
        if at >= self.memory.room:
            self._grow(2 * at)
        self.n_bodies = at
        self.place_of[i, k] = at
        self.rubbed[at].row = i
        self.rubbed[at].axis = k
        self.rubbed[at].n_parts = 0
        self.rubbed[at].budget = 0.0
        self._begin_round(at)
        return at

    def _begin_round(self, at: cython.Py_ssize_t) -> cython.void:
        """Forget what the parts of a body have done."""
        self.rubbed[at].n_parts_rubbed = 0
        self.rubbed[at].change = self.rubbed[at].most_kept = 0.0
        self.rubbed[at].kept = 1.0
        self.rubbed[at].is_beside_wall = False
        self.rubbed[at].least = self.rubbed[at].nearest = INF
        self.rubbed[at].greatest = -INF

    def _rub_all(self) -> cython.bint:
        """Rub all contacts once; return whether bodies that several of them rub may slide on."""
        goes_on: cython.bint = False

        for c in range(self.met.n_rubbed, self.met.n):
            if self.met.contacts[c].left > 0.0:
                goes_on |= self._rub_contact(c)
        for at in range(1, self.n_bodies + 1):
            if self.rubbed[at].n_parts_rubbed:
                self._join_parts(at)
                self._begin_round(at)
        return goes_on

    def _moves(self, c: cython.Py_ssize_t, n: cython.int, axis: cython.int) -> cython.bint:
        """Return whether friction may change the velocity of a body on an axis of the surface."""
        return ((self.met.contacts[c].slides >> n) & 1) != 0 and not self.bodies.controls.locks(
            self.impact.rows[n], axis
        )

    def _rub_contact(self, c: cython.Py_ssize_t) -> cython.bint:
        """Rub the faces of a contact; return whether they slide and one of the bodies has parts."""
        self.met.take(c)
        speed: cython.double = self._slide_speed(c)
        left: cython.double = self.met.contacts[c].left
        used: cython.double = 0.0
        any_shared: cython.bint = False

        for axis in range(self.bodies.dim):
            if axis == self.impact.axis:
                continue
            shared: cython.bint = self._split(c, axis)
            both: cython.double = self.inverse_mass[0] + self.inverse_mass[1]
            if both == 0.0:
                continue
            part: cython.double = 0.0
            if speed > 0.0:
                part = left * both / speed
                used = max(used, left / max(part, 1.0))
            if shared:
                self._add_parts(axis, part, self.slide[axis])
            elif speed > 0.0:
                self._rub(axis, part, self.slide[axis])
            any_shared |= shared
        self.met.contacts[c].left = left - used
        if self.clusters.gravity.is_on and (self._is_pulled(c, 0) or self._is_pulled(c, 1)):
            self.met.contacts[c].left = 0.0
        return any_shared and used > 0.0

    def _is_pulled(self, c: cython.Py_ssize_t, n: cython.int) -> cython.bint:
        """Return whether gravity or damping acts along the surface on a body that may slide.

        It rubs once then: a second round would take again what is left of its pull.
        """
        m: ImpactState = self.impact

        for axis in range(self.bodies.dim):
            if (
                axis != m.axis
                and self._moves(c, n, axis)
                and self.clusters.gravity.pulls(m.rows[n], axis)
            ):
                return True
        return False

    def _split(self, c: cython.Py_ssize_t, axis: cython.int) -> cython.bint:
        """Find the parts of the two bodies that a contact rubs; return whether one is not whole."""
        m: ImpactState = self.impact
        shared: cython.bint = False

        for n in range(2):
            self.inverse_mass[n] = 0.0
            if not self._moves(c, n, axis):
                continue
            at: cython.Py_ssize_t = self.place_of[m.rows[n], axis]
            self.share[n] = 1.0
            if self.rubbed[at].n_parts > 1:
                self.share[n] = self.met.contacts[c].budget / self.rubbed[at].budget
                shared = True
            if self.share[n] > 0.0:
                self.inverse_mass[n] = 1.0 / self.bodies.mass[m.rows[n]] / self.share[n]
        return shared

    def _slide_speed(self, c: cython.Py_ssize_t) -> cython.double:
        """Find how fast the touching faces slide over each other on each axis; return the speed."""
        largest: cython.double = 0.0
        speed: cython.double = 0.0

        for axis in range(self.bodies.dim):
            if axis != self.impact.axis:
                self.slide[axis] = self._slide(c, axis)
                largest = max(largest, abs(self.slide[axis]))
        if largest == 0.0 or self.bodies.dim == 2:
            return largest
        for axis in range(self.bodies.dim):
            if axis != self.impact.axis:
                part: cython.double = self.slide[axis] / largest
                speed += part * part
        return sqrt(speed) * largest

    def _slide(self, c: cython.Py_ssize_t, axis: cython.int) -> cython.double:
        """Return the velocity of body 0's face less body 1's on an axis, at this instant.

        If one of them cannot move, the velocity at the end of the step counts instead, because
        friction also acts against the rest of gravity.
        """
        m: ImpactState = self.impact
        slide: cython.double = m.face_velocity(0, axis) - m.face_velocity(1, axis)

        if not self._moves(c, 1, axis):
            slide += self.clusters.kick_of(m.rows[0], axis)
        elif not self._moves(c, 0, axis):
            slide -= self.clusters.kick_of(m.rows[1], axis)
        else:
            slide -= self._kick_apart(axis)
        return slide

    def _kick_apart(self, axis: cython.int) -> cython.double:
        """Return the kick of body 0 less the kick of body 1."""
        c: Clusters = self.clusters

        return c.kick_of(self.impact.rows[0], axis) - c.kick_of(self.impact.rows[1], axis)

    def _rub(self, axis: cython.int, part: cython.double, slide: cython.double) -> cython.void:
        """Remove a part of the sliding of two whole bodies; all of it if `part` is 1 or more."""
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        first_moves: cython.bint = self.inverse_mass[0] > 0.0
        second_moves: cython.bint = self.inverse_mass[1] > 0.0

        if first_moves != second_moves:
            n: cython.int = 0 if first_moves else 1
            self.clusters.change_along(m.rows[n], axis, self._aim_beside_wall(n, axis, part, slide))
            if self.kept < 1.0:
                self.clusters.gravity.weaken(m.rows[n], axis, self.kept)
            return
        self.clusters.let_rise(i, axis, -slide)
        self.clusters.let_rise(j, axis, slide)
        first: cython.double = self._velocity_after(0, axis, part, -slide)
        second: cython.double = self._velocity_after(1, axis, part, slide)
        if part >= 1.0 and not (
            self.clusters.lasting_root(i, axis) or self.clusters.lasting_root(j, axis)
        ):
            # One velocity for both faces, so that rounding leaves no difference.
            belt: cython.double = m.belt_speed(0, axis)
            if belt == m.belt_speed(1, axis) and self._kick_apart(axis) == 0.0:
                first = second = self._common_velocity(axis) - belt
            else:
                second = first + belt - m.belt_speed(1, axis) - self._kick_apart(axis)
        self.clusters.change_along(i, axis, first)
        self.clusters.change_along(j, axis, second)

    def _velocity_after(
        self, n: cython.int, axis: cython.int, part: cython.double, slide: cython.double
    ) -> cython.double:
        """Return the velocity of body n after its share of a part of the sliding is removed."""
        share: cython.double = self.inverse_mass[n] / (self.inverse_mass[0] + self.inverse_mass[1])

        return (
            self.clusters.final_velocity(self.impact.rows[n], axis) + slide * min(part, 1.0) * share
        )

    def _common_velocity(self, axis: cython.int) -> cython.double:
        """Return the mean velocity of both faces by mass."""
        m: ImpactState = self.impact
        both: cython.double = self.inverse_mass[0] + self.inverse_mass[1]

        return m.face_velocity(0, axis) * (self.inverse_mass[1] / both) + m.face_velocity(
            1, axis
        ) * (self.inverse_mass[0] / both)

    def _aim_beside_wall(
        self, n: cython.int, axis: cython.int, part: cython.double, slide: cython.double
    ) -> cython.double:
        """Return the velocity of body n after it has rubbed on a body that friction cannot change.

        `kept` is the part of its kick that stays.  Friction takes a part of the velocity at the end
        of the step, so it takes the same part of the chord and of the kick.  If that is all, the
        body is held.
        """
        m: ImpactState = self.impact
        velocity: cython.double = self.clusters.final_velocity(m.rows[n], axis)
        surface: cython.double = m.face_velocity(1 - n, axis) - m.belt_speed(n, axis)

        self.kept = 1.0
        if self.clusters.kick_of(m.rows[n], axis) != 0.0:
            self.kept = max(0.0, 1.0 - part)
            return surface + (velocity - surface) * self.kept
        if part >= 1.0:
            return surface
        return velocity + slide * part if n else velocity - slide * part

    # -- bodies that several contacts rub --

    def _add_parts(
        self, axis: cython.int, part: cython.double, slide: cython.double
    ) -> cython.void:
        """Add the velocities of the parts that a contact rubs to those of their bodies."""
        m: ImpactState = self.impact
        both: cython.double = self.inverse_mass[0] + self.inverse_mass[1]

        for n in range(2):
            i: cython.Py_ssize_t = m.rows[n]
            change: cython.double = (slide if n else -slide) * min(part, 1.0)
            if self.inverse_mass[n] == 0.0:
                continue
            is_beside_wall: cython.bint = self.inverse_mass[1 - n] == 0.0
            if is_beside_wall:
                velocity: cython.double = self._aim_beside_wall(n, axis, part, slide)
            else:
                self.kept = 1.0
                self.clusters.let_rise(i, axis, change)
                velocity = self.clusters.final_velocity(i, axis)
                if part < STUCK:
                    velocity += change * (self.inverse_mass[n] / both)
                elif abs(velocity + change) < abs(velocity):
                    velocity += change
            at: cython.Py_ssize_t = self.place_of[i, axis]
            r: cython.pointer[Rubbed] = self.rubbed
            r[at].n_parts_rubbed += 1
            r[at].change += self.share[n] * (velocity - self.clusters.final_velocity(i, axis))
            if is_beside_wall > r[at].is_beside_wall or (
                is_beside_wall == r[at].is_beside_wall and abs(velocity) < abs(r[at].nearest)
            ):
                r[at].nearest = velocity
                r[at].is_beside_wall = is_beside_wall
            r[at].least = min(r[at].least, velocity)
            r[at].greatest = max(r[at].greatest, velocity)
            r[at].kept += self.share[n] * (self.kept - 1.0)
            r[at].most_kept = max(r[at].most_kept, self.kept)

    def _join_parts(self, at: cython.Py_ssize_t) -> cython.void:
        """Give a body the mean velocity of its parts on an axis."""
        r: cython.pointer[Rubbed] = self.rubbed
        i: cython.Py_ssize_t = r[at].row
        axis: cython.int = r[at].axis
        all_rubbed: cython.bint = r[at].n_parts_rubbed == r[at].n_parts

        if (
            all_rubbed
            and r[at].greatest - r[at].least <= r[at].budget / self.bodies.mass[i] / STUCK
        ):
            self.clusters.change_along(i, axis, r[at].nearest)
        else:
            self.clusters.change_along(
                i, axis, self.clusters.final_velocity(i, axis) + r[at].change
            )
        if all_rubbed and r[at].most_kept == 0.0:
            self.clusters.gravity.weaken(i, axis, 0.0)
        elif r[at].kept < 1.0 - KEPT_ROUNDING:
            self.clusters.gravity.weaken(i, axis, r[at].kept)
