"""Coulomb friction of the contacts that are met in one instant, after their normal parts.

The momentum of friction is at most the coefficient times the momentum with which a contact presses.
If that is enough to end the sliding, the faces, which may be conveyor belts, get one velocity.

The contacts rub together, once no normal part is due any more:

- What has pushed a body away from one side is divided among the contacts of that side by their
  widths.  Of the two bodies of a contact the larger part counts.
- A body that rubs on several others is split into parts, by the momentum that each contact may take.
  Each part gets a velocity of its own, and the body gets their mean.  Energy never rises by that,
  and on walls of one velocity the friction of all adds up.
"""

from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython, struct
from ecs_collide._kernel.arrays import INT, grown, zeros
from ecs_collide._kernel.constants import INF
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.met_contacts import MetContacts

KEPT_ROUNDING = 2.0**-50


@cython.inline
@struct
class Rubbed:
    """A body on an axis: what presses it there, or rubs it."""

    row: cython.int
    axis: cython.int
    # the contacts that press it, and their widths together
    n_beside: cython.int
    width: cython.double
    before: cython.double  # the velocity at this instant, before anything has pressed it
    kick: cython.double  # the kick then; see `motion/gravity.py`
    # its parts, one for each contact that rubs it: what these may take, and the sum, the least and
    # the greatest of the velocities, each by its share; the same of the part of the kick that stays
    n_parts: cython.int
    load: cython.double
    velocity: cython.double
    least: cython.double
    greatest: cython.double
    kept: cython.double
    most_kept: cython.double


@cython.final
class CoulombFriction:
    """The friction of the contacts of an instant."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    impact: ImpactState
    met: MetContacts
    n_rubbed: cython.Py_ssize_t
    rubbed: cython.pointer[Rubbed]  # from 1
    memory: StructMemory
    place_of: cython.int[:, ::1]  # (n_rows or fewer, dim): place in `rubbed`, or 0
    # (2,): of the parts of the two bodies on an axis; 0 for one that friction cannot change there
    inverse_mass: cython.double[2]
    share: cython.double[2]
    kept: cython.double  # the part of the kick that friction leaves to the last part

    def __init__(self, step: Step, impact: ImpactState, met: MetContacts):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = impact.clusters
        self.impact = impact
        self.met = met
        self.place_of = zeros(INT, 1, self.bodies.dim)
        self.memory = StructMemory()
        self._grow_rubbed(16)

    def _grow_rubbed(self, room: cython.Py_ssize_t) -> cython.void:
        """Make room for more bodies on an axis."""
        self.rubbed = cython.cast(
            cython.pointer(Rubbed), self.memory.grow(cython.sizeof(Rubbed), room)
        )

    # -- while the normal parts are resolved --

    def clear(self) -> cython.void:
        """Forget the bodies, of an instant or of a step that was interrupted."""
        for n in range(1, self.n_rubbed + 1):
            self.place_of[self.rubbed[n].row, self.rubbed[n].axis] = 0
        self.n_rubbed = 0

    def note_velocities(self) -> cython.void:
        """Store the velocities along the normal before the first resolution of the instant."""
        m: ImpactState = self.impact

        for n in range(2):
            if m.is_dynamic[n] and not self._place(m.rows[n], m.axis):
                at: cython.Py_ssize_t = self._make(m.rows[n], m.axis)
                self.rubbed[at].before = m.before[n][m.axis]
                self.rubbed[at].kick = m.kick[n]

    def _place(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the place of a body on an axis, or 0."""
        return self.place_of[i, k] if i < self.place_of.shape[0] else 0

    def _make(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the place of a body on an axis, which is made if there is none."""
        at: cython.Py_ssize_t = self._place(i, k)

        if at:
            return at
        if i >= self.place_of.shape[0]:
            self.place_of = grown(self.place_of, self.bodies.capacity)
        at = self.n_rubbed + 1
        if at >= self.memory.room:
            self._grow_rubbed(2 * at)
        self.n_rubbed = at
        self.place_of[i, k] = at
        self.rubbed[at].row = i
        self.rubbed[at].axis = k
        self.rubbed[at].n_beside = self.rubbed[at].n_parts = 0
        self.rubbed[at].width = self.rubbed[at].load = 0.0
        self.rubbed[at].before = self.clusters.final_velocity(i, k) - self.clusters.kick_of(i, k)
        self.rubbed[at].kick = 0.0
        return at

    # -- what presses --

    def apply(self) -> cython.void:
        """Apply the friction of all contacts of the instant so far."""
        m: ImpactState = self.impact

        if not self.bodies.rare.any_friction:
            return
        self._find_budgets()
        for c in range(self.met.n_rubbed, self.met.n):
            if self.met.contacts[c].budget > 0.0:
                self._add_load(c)
        for c in range(self.met.n_rubbed, self.met.n):
            if self.met.contacts[c].budget > 0.0:
                self._rub_contact(c)
        for c in range(self.met.n_rubbed, self.met.n):
            self.met.take(c)
            for n in range(2):
                for axis in range(self.bodies.dim):
                    if axis != m.axis:
                        self._join_parts(n, axis)

    def _find_budgets(self) -> cython.void:
        """Find the momentum that each contact may pass on."""
        m: ImpactState = self.impact

        for c in range(self.met.n_rubbed, self.met.n):
            self.met.take(c)
            width: cython.double = self.met.find_width(c)
            for n in range(2):
                at: cython.Py_ssize_t = self._place(m.rows[n], m.axis)
                if at and m.is_dynamic[n] and self._press_of(n, at) > 0.0:
                    self.rubbed[at].n_beside += 1
                    self.rubbed[at].width += width
        for c in range(self.met.n_rubbed, self.met.n):
            self.met.take(c)
            press: cython.double = 0.0
            for n in range(2):
                at = self._place(m.rows[n], m.axis)
                if at and m.is_dynamic[n]:
                    press = max(press, self._press_of(n, at) * self._part_of(c, at))
            self.met.contacts[c].budget = self.met.contacts[c].friction * press

    def _part_of(self, c: cython.Py_ssize_t, at: cython.Py_ssize_t) -> cython.double:
        """Return the part of contact `c` in what presses a body on its side."""
        if self.rubbed[at].width > 0.0:
            return self.met.contacts[c].width / self.rubbed[at].width
        return 1.0 / self.rubbed[at].n_beside if self.rubbed[at].n_beside else 0.0

    def _press_of(self, n: cython.int, at: cython.Py_ssize_t) -> cython.double:
        """Return the momentum by which the instant has pushed a body away from the surface, or 0.

        Friction by it is damped to the end of the step like the velocity that it changes.
        """
        m: ImpactState = self.impact
        g: Gravity = self.clusters.gravity
        mass: cython.double = self.bodies.mass[m.rows[n]]
        change: cython.double = m.velocity_after(n, m.axis) - self.rubbed[at].before
        kick: cython.double = self.rubbed[at].kick
        sign: cython.int = -m.sign if n else m.sign

        if kick != 0.0 and self.clusters.kick_of(m.rows[n], m.axis) != 0.0:
            kick = 0.0
        if sign * (change - 2.0 * kick) <= 0.0:
            return 0.0
        g.find_rest_of_damping(m.rows[n], self.step.now)
        press: cython.double = mass * abs(change) * g.decay
        # What gravity would add to the end of the step, if the instant has ended that, for the first
        # time in the step.
        if not g.is_weighed(m.rows[n], m.axis):
            press += mass * (2.0 * abs(kick)) * g.mean
        return press

    # -- rub --

    def _add_load(self, c: cython.Py_ssize_t) -> cython.void:
        """Add what a contact may take to the load of its bodies."""
        m: ImpactState = self.impact

        self.met.take(c)
        for axis in range(self.bodies.dim):
            for n in range(2):
                if axis != m.axis and self._moves(c, n, axis):
                    at: cython.Py_ssize_t = self._make(m.rows[n], axis)
                    if self.rubbed[at].n_parts == 0:
                        self.rubbed[at].load = self.rubbed[at].velocity = 0.0
                        self.rubbed[at].kept = self.rubbed[at].most_kept = 0.0
                        self.rubbed[at].least = INF
                        self.rubbed[at].greatest = -INF
                    self.rubbed[at].n_parts += 1
                    self.rubbed[at].load += self.met.contacts[c].budget

    def _moves(self, c: cython.Py_ssize_t, n: cython.int, axis: cython.int) -> cython.bint:
        """Return whether friction may change the velocity of a body on an axis of the surface."""
        return ((self.met.contacts[c].slides >> n) & 1) != 0 and not self.bodies.controls.locks(
            self.impact.rows[n], axis
        )

    def _rub_contact(self, c: cython.Py_ssize_t) -> cython.void:
        """Rub the faces of a contact."""
        self.met.take(c)
        speed: cython.double = self._slide_speed(c)

        for axis in range(self.bodies.dim):
            if axis == self.impact.axis:
                continue
            shared: cython.bint = self._split(c, axis)
            both: cython.double = self.inverse_mass[0] + self.inverse_mass[1]
            if both == 0.0:
                continue
            slide: cython.double = self._slide(c, axis)
            part: cython.double = self.met.contacts[c].budget * both / speed if speed > 0.0 else 0.0
            if shared:
                self._add_parts(axis, part, slide)
            elif speed > 0.0:
                self._rub(axis, part, slide)

    def _split(self, c: cython.Py_ssize_t, axis: cython.int) -> cython.bint:
        """Find the parts of the two bodies that a contact rubs; return whether one is not whole."""
        m: ImpactState = self.impact
        shared: cython.bint = False

        for n in range(2):
            self.inverse_mass[n] = 0.0
            if not self._moves(c, n, axis):
                continue
            at: cython.Py_ssize_t = self._place(m.rows[n], axis)
            self.share[n] = 1.0
            if self.rubbed[at].n_parts > 1:
                self.share[n] = self.met.contacts[c].budget / self.rubbed[at].load
                shared = True
            if self.share[n] > 0.0:
                self.inverse_mass[n] = 1.0 / self.bodies.mass[m.rows[n]] / self.share[n]
        return shared

    def _slide_speed(self, c: cython.Py_ssize_t) -> cython.double:
        """Return how fast the touching faces slide over each other."""
        largest: cython.double = 0.0
        speed: cython.double = 0.0

        for axis in range(self.bodies.dim):
            if axis != self.impact.axis:
                largest = max(largest, abs(self._slide(c, axis)))
        if largest == 0.0:
            return 0.0
        for axis in range(self.bodies.dim):
            if axis != self.impact.axis:
                slide: cython.double = self._slide(c, axis) / largest
                speed += slide * slide
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
            if self.inverse_mass[1 - n] == 0.0:
                velocity: cython.double = self._aim_beside_wall(n, axis, part, slide)
            else:
                self.kept = 1.0
                self.clusters.let_rise(i, axis, change)
                change *= self.inverse_mass[n] / both
                velocity = self.clusters.final_velocity(i, axis) + change
            at: cython.Py_ssize_t = self._place(i, axis)
            self.rubbed[at].velocity += self.share[n] * velocity
            self.rubbed[at].least = min(self.rubbed[at].least, velocity)
            self.rubbed[at].greatest = max(self.rubbed[at].greatest, velocity)
            self.rubbed[at].kept += self.share[n] * self.kept
            self.rubbed[at].most_kept = max(self.rubbed[at].most_kept, self.kept)

    def _join_parts(self, n: cython.int, axis: cython.int) -> cython.void:
        """Give a body of the current impact the mean velocity of the parts that were added."""
        at: cython.Py_ssize_t = self._place(self.impact.rows[n], axis)
        rubbed: cython.pointer[Rubbed] = self.rubbed

        if at and rubbed[at].n_parts and rubbed[at].least < INF:
            velocity: cython.double = rubbed[at].velocity
            if rubbed[at].least == rubbed[at].greatest:
                velocity = rubbed[at].least
            self.clusters.change_along(rubbed[at].row, axis, velocity)
            if rubbed[at].most_kept == 0.0:
                self.clusters.gravity.weaken(rubbed[at].row, axis, 0.0)
            elif rubbed[at].kept < 1.0 - KEPT_ROUNDING:
                self.clusters.gravity.weaken(rubbed[at].row, axis, rubbed[at].kept)
        if at:
            rubbed[at].n_parts = 0
