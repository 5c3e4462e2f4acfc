"""The loads of the contacts that are met in one instant: the momenta that they pass on.

A load is found from what the normal parts have done to the bodies (`response/momentum_balance.py`),
so a crate at the bottom of a pile bears the momenta of all above.
"""

from __future__ import annotations

from ecs_collide._kernel import cython, struct
from ecs_collide._kernel.arrays import INT, grown, zeros
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.met_contacts import BOTH, MetContacts
from ecs_collide.response.momentum_balance import NOBODY, MomentumBalance


@cython.inline
@struct
class Pressed:
    """A body that a normal part has changed on an axis in this instant."""

    row: cython.int
    axis: cython.int
    is_borne: cython.schar  # whether a wall bears it, so that nothing changes it
    momentum: cython.double  # from the normal parts of the instant, up to the last `keep_momenta`
    before: cython.double  # velocity and kick at the first impact, or at the last `note_anew`
    kick: cython.double
    number: cython.int  # its number in the balance


@cython.final
class MetLoads:
    """The bodies that the normal parts of an instant have changed."""

    step: Step
    bodies: Bodies
    clusters: Clusters
    impact: ImpactState
    met: MetContacts
    balance: MomentumBalance
    n_pressed: cython.Py_ssize_t
    pressed: cython.pointer[Pressed]  # from 1
    memory: StructMemory
    place_of: cython.int[:, ::1]  # (n_rows or fewer, dim): place in `pressed`, or 0

    def __init__(self, step: Step, impact: ImpactState, met: MetContacts):
        self.step = step
        self.bodies = step.bodies
        self.clusters = impact.clusters
        self.impact = impact
        self.met = met
        self.balance = MomentumBalance()
        self.place_of = zeros(INT, 1, self.bodies.dim)
        self.memory = StructMemory()
        self._grow(16)

    def _grow(self, room: cython.Py_ssize_t) -> cython.void:
        """Make room for more bodies on an axis."""
        self.pressed = cython.cast(
            cython.pointer(Pressed), self.memory.grow(cython.sizeof(Pressed), room)
        )

    def clear(self) -> cython.void:
        """Forget the bodies, of an instant or of a step that was interrupted."""
        for at in range(1, self.n_pressed + 1):
            self.place_of[self.pressed[at].row, self.pressed[at].axis] = 0
        self.n_pressed = 0

    # -- while the normal parts are resolved --

    def note_velocities(self) -> cython.void:
        """Store the velocities along the normal before the first resolution of the instant."""
        m: ImpactState = self.impact

        for n in range(2):
            if m.may_turn[n]:
                at: cython.Py_ssize_t = self._place(n)
                if not at:
                    at = self._add(n)
                self.pressed[at].is_borne = False

    def note_beside(self) -> cython.void:
        """Note bodies that nothing holds, of an impact that another has resolved, so they bear nothing."""
        for n in range(2):
            if self.impact.may_turn[n] and not self._place(n) and not self.impact.is_borne(n):
                self._add(n)

    def note_borne(self, n: cython.int) -> cython.void:
        """Note that body n of the impact bears the other one on a wall."""
        at: cython.Py_ssize_t = self._place(n)

        if at:
            self.pressed[at].is_borne = True

    def _place(self, n: cython.int) -> cython.Py_ssize_t:
        """Return the place of body n of the impact, or 0."""
        i: cython.Py_ssize_t = self.impact.rows[n]

        return self.place_of[i, self.impact.axis] if i < self.place_of.shape[0] else 0

    def _add(self, n: cython.int) -> cython.Py_ssize_t:
        """Add body n of the impact; return its place."""
        m: ImpactState = self.impact
        at: cython.Py_ssize_t = self.n_pressed + 1

        if m.rows[n] >= self.place_of.shape[0]:
            self.place_of = grown(self.place_of, self.bodies.capacity)
        if at >= self.memory.room:
            self._grow(2 * at)
        self.n_pressed = at
        self.place_of[m.rows[n], m.axis] = at
        self.pressed[at].row = m.rows[n]
        self.pressed[at].axis = m.axis
        self.pressed[at].momentum = 0.0
        self.pressed[at].is_borne = False
        self.pressed[at].before = self.clusters.velocity_after(m.rows[n], m.axis)
        self.pressed[at].kick = self.clusters.fall_of(m.rows[n], m.axis)
        return at

    # -- once no normal part is due any more --

    def keep_momenta(self) -> cython.void:
        """Add up what the normal parts have passed on, before the contacts act along surfaces."""
        for at in range(1, self.n_pressed + 1):
            self.pressed[at].momentum += self._momentum_of(at)

    def note_anew(self) -> cython.void:
        """Note the velocities again, after the contacts have acted along surfaces."""
        c: Clusters = self.clusters

        for at in range(1, self.n_pressed + 1):
            i: cython.Py_ssize_t = self.pressed[at].row
            k: cython.int = self.pressed[at].axis
            self.pressed[at].before = c.velocity_after(i, k)
            self.pressed[at].kick = c.fall_of(i, k)

    def _momentum_of(self, at: cython.Py_ssize_t) -> cython.double:
        """Return the momentum that normal parts have passed on to a body since it was noted.

        Friction by it is damped to the end of the step like the velocity that it changes.
        """
        g: Gravity = self.clusters.gravity
        i: cython.Py_ssize_t = self.pressed[at].row
        k: cython.int = self.pressed[at].axis
        change: cython.double = self.clusters.velocity_after(i, k) - self.pressed[at].before

        g.find_rest_of_damping(i, self.step.now)
        change *= g.decay
        # What the change of its kick adds by the end of the step, unless that has pressed already.
        if not g.is_weighed(i, k):
            change += 2.0 * (self.clusters.fall_of(i, k) - self.pressed[at].kick) * g.mean
        return self.bodies.mass[i] * change

    def find(self) -> cython.void:
        """Find the loads of the contacts that have not rubbed yet.

        All contacts of the instant take part, because momentum has passed through them, too.
        """
        if self.bodies.controls.any_rank:
            self._choose_walls()
        for c in range(self.met.n_rubbed, self.met.n):
            self.met.take(c)
            self.met.find_width(c)
        self._fill_balance()
        self.balance.solve(False)
        for c in range(self.met.n_rubbed, self.met.n):
            self.met.contacts[c].load = self.balance.contacts[c].impulse

    def _fill_balance(self) -> cython.void:
        """Put the bodies and the contacts into the balance."""
        high: cython.int

        self.balance.clear()
        for at in range(1, self.n_pressed + 1):
            self.pressed[at].number = NOBODY
            if not self.pressed[at].is_borne:
                self.pressed[at].number = self.balance.add_body(self.pressed[at].momentum)
        for c in range(self.met.n):
            self.met.take(c)
            high = 0 if self.impact.sign > 0 else 1
            self.balance.add(self._number(1 - high), self._number(high), self.met.contacts[c].width)

    def _number(self, n: cython.int) -> cython.Py_ssize_t:
        """Return the number of a body of the contact in the balance."""
        at: cython.Py_ssize_t = self._place(n)

        return self.pressed[at].number if at and self.impact.is_dynamic[n] else NOBODY

    def _choose_walls(self) -> cython.void:
        """Let one of two bodies of different dominance be a wall to the other one, which slides.

        It is the one behind which there is a wall, or the higher one if that is both or neither.
        """
        b: Bodies = self.bodies
        m: ImpactState = self.impact

        for c in range(self.met.n):
            self.met.contacts[c].pressed = self.met.contacts[c].may_turn
        self._fill_balance()
        self.balance.find_walls()
        for c in range(self.met.n):
            self.met.take(c)
            above: cython.longlong = b.controls.rank_of(m.rows[0]) - b.controls.rank_of(m.rows[1])
            if above == 0:
                continue
            slider: cython.int = 1 if above > 0 else 0
            if self.met.contacts[c].pressed == BOTH:
                below: cython.bint = self.balance.has_wall_below(c)
                if below != self.balance.has_wall_above(c):
                    slider = 0 if (m.sign > 0) == below else 1
                self.met.contacts[c].pressed = slider + 1
            if self.met.contacts[c].slides == BOTH:
                self.met.contacts[c].slides = slider + 1
