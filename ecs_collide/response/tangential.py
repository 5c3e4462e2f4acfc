"""The velocities along the surface by `Stop` and `Push`, as far as the energy allows.

`Solver` runs this after the normal part and before friction.  `Stop` takes the velocity of the
partner's face.  `Push` turns the whole relative speed along the surface.  Both go as far towards
their rule as the kinetic energy of the pair before the impact allows.  Velocities here are at the
instant; the paths of falling bodies get the kick in addition.
"""

from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import ResponseCode
from ecs_collide.motion.bodies import Bodies
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.product_sum import ProductSum

EPSILON = 2.0**-52
ENERGY_ROUNDING = 2.0**-46  # part of an energy, more than its rounding error


@cython.final
class TangentialResponse:
    """The part of a resolution along the surface, by `Stop` and `Push`."""

    bodies: Bodies
    clusters: Clusters
    impact: ImpactState
    sum: ProductSum
    face: cython.double[2, 3]  # (2, 3): the velocities of the touching faces before the resolution
    # (2, 3): the velocities after the normal part and by the rules, and their difference
    after: cython.double[2, 3]
    wanted: cython.double[2, 3]
    change: cython.double[2, 3]
    # (3,): the velocity of the frame of energies: of a partner that is not dynamic, or 0
    frame: cython.double[3]
    # (2,): the weight of each energy: relative mass, 1 if only that body can change, else 0
    weight: cython.double[2]

    def __init__(self, impact: ImpactState):
        self.bodies = impact.bodies
        self.clusters = impact.clusters
        self.impact = impact
        self.sum = ProductSum()

    def store_velocities(self) -> cython.void:
        """Store the velocities along the surface before the resolution, of bodies and faces."""
        m: ImpactState = self.impact

        for n in range(2):
            for axis in range(self.bodies.dim):
                if axis == m.axis:
                    continue
                m.before[n][axis] = m.velocity_after(n, axis)
                self.face[n][axis] = m.before[n][axis] + m.belt_speed(n, axis)

    def turn(self, restitution: cython.double) -> cython.void:
        """Apply the rule of each body that the impact may change."""
        m: ImpactState = self.impact
        turns: cython.bint = False

        if m.is_dynamic[0] and m.is_dynamic[1] and self._stops(0) and self._stops(1):
            self._stop_each_other()
            return
        for n in range(2):
            for axis in range(self.bodies.dim):
                self.after[n][axis] = self.wanted[n][axis] = m.velocity_after(n, axis)
        for n in range(2):
            turns |= self._aim(n, restitution) and m.is_dynamic[n]
        if turns:
            self._turn_as_far()
        if self.clusters.gravity.is_on and m.slides(0) != m.slides(1):
            self._stop_falling(0 if m.is_dynamic[0] else 1)

    def _stops(self, n: cython.int) -> cython.bint:
        """Return whether the response of a body is `Stop`."""
        return self.bodies.response[self.impact.rows[n]] == ResponseCode.STOP

    def _stop_each_other(self) -> cython.void:
        """Give two bodies with `Stop` their mean velocity instead of each other's."""
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]

        for axis in range(b.dim):
            first: cython.double = m.before[0][axis]
            second: cython.double = m.before[1][axis]
            if axis == m.axis or first == second:
                continue
            mean: cython.double = (b.mass[i] * first + b.mass[j] * second) / (b.mass[i] + b.mass[j])
            if b.controls.locks(i, axis):
                mean = first
            elif b.controls.locks(j, axis):
                mean = second
            self._change(0, axis, mean)
            self._change(1, axis, mean)

    def _change(self, n: cython.int, axis: cython.int, velocity: cython.double) -> cython.void:
        """Give a body a velocity along the surface at this instant."""
        m: ImpactState = self.impact

        self.clusters.let_rise(m.rows[n], axis, velocity - m.velocity_after(n, axis))
        m.change_along(n, axis, velocity + self.clusters.kick_of(m.rows[n], axis))

    def _aim(self, n: cython.int, restitution: cython.double) -> cython.bint:
        """Find the velocity by the rule of a body; return False if it has no rule here."""
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        stops: cython.bint = self._stops(n)
        stretch: cython.double = 0.0

        if not stops:
            if b.response[m.rows[n]] == ResponseCode.PUSH and restitution == 0.0:
                stretch = self._stretch()
            if stretch == 0.0:
                return False
        for axis in range(b.dim):
            if axis == m.axis or b.controls.locks(m.rows[n], axis):
                continue
            if stops:
                self.wanted[n][axis] = self.face[1 - n][axis]
            else:
                partner: cython.double = m.before[1 - n][axis]
                self.wanted[n][axis] = partner + (m.before[n][axis] - partner) * stretch
        return True

    def _stretch(self) -> cython.double:
        """Return the relative speed divided by its part along the surface, or 0 if that is 0."""
        m: ImpactState = self.impact
        largest: cython.double = 0.0
        speed: cython.double = 0.0
        along: cython.double = 0.0

        for axis in range(self.bodies.dim):
            largest = max(largest, abs(m.before[0][axis] - m.before[1][axis]))
        if largest == 0.0:
            return 0.0
        for axis in range(self.bodies.dim):
            part: cython.double = (m.before[0][axis] - m.before[1][axis]) / largest
            speed += part * part
            if axis != m.axis:
                along += part * part
        return sqrt(speed) / sqrt(along) if along != 0.0 else 0.0

    def _turn_as_far(self) -> cython.void:
        """Change velocities towards the rules as far as the kinetic energy does not rise."""
        m: ImpactState = self.impact
        unit: cython.double = self._find_frame()
        less: cython.double = EPSILON

        if unit == 0.0:
            return
        part: cython.double = self._part_to_turn(unit)
        while True:
            if part != 1.0:
                for n in range(2):
                    for axis in range(self.bodies.dim):
                        self.wanted[n][axis] = self.after[n][axis] + part * self.change[n][axis]
            if part == 0.0 or not self._gains_energy():
                break
            part = part * (1.0 - less) if less < 1.0 else 0.0  # rounding has added energy
            less *= 4.0
        for axis in range(self.bodies.dim):
            for n in range(2):
                if axis != m.axis and self.change[n][axis] != 0.0 and m.is_dynamic[n]:
                    self._change(n, axis, self.wanted[n][axis])

    def _find_frame(self) -> cython.double:
        """Find the frame in which energies count; return the largest velocity in it.

        It is the frame of a partner that is not dynamic, also along the surface, or the world.
        """
        m: ImpactState = self.impact
        unit: cython.double = 0.0

        for axis in range(self.bodies.dim):
            self.frame[axis] = 0.0
            if not m.slides(1):
                self.frame[axis] = m.before[1][axis]
            elif not m.slides(0):
                self.frame[axis] = m.before[0][axis]
            for n in range(2):
                unit = max(unit, abs(m.before[n][axis] - self.frame[axis]))
                unit = max(unit, abs(self.after[n][axis] - self.frame[axis]))
                unit = max(unit, abs(self.wanted[n][axis] - self.frame[axis]))
        return unit

    def _part_to_turn(self, unit: cython.double) -> cython.double:
        """Return the part, 0 to 1, of the change by the rules that the energy allows.

        After a part s the energy exceeds its value before the impact by a s² + 2 b s + c, c <= 0.
        The result is the larger root.  Velocities are divided by `unit`, masses by the larger one.
        """
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        heavier: cython.double = 0.0  # of the bodies that give way: the other mass may be infinite
        energy: cython.double = 0.0
        gain: cython.double = 0.0
        square: cython.double = 0.0
        drift: cython.double = 0.0

        for n in range(2):
            if m.is_dynamic[n]:
                heavier = max(heavier, b.mass[m.rows[n]])
        for n in range(2):
            self.weight[n] = 0.0
            if m.is_dynamic[n]:
                self.weight[n] = b.mass[m.rows[n]] / heavier if m.is_dynamic[1 - n] else 1.0
        for axis in range(b.dim):
            for n in range(2):
                speed: cython.double = (m.before[n][axis] - self.frame[axis]) / unit
                energy += self.weight[n] * (speed * speed)
                speed = (self.after[n][axis] - self.frame[axis]) / unit
                gain += self.weight[n] * (speed * speed)
        gain -= energy
        for axis in range(b.dim):
            for n in range(2):
                if gain > 0.0:  # growing faces or its cluster have driven the pair
                    m.before[n][axis] = self.after[n][axis]
                self.change[n][axis] = self.wanted[n][axis] - self.after[n][axis]
                change: cython.double = self.change[n][axis] / unit
                speed = (self.after[n][axis] - self.frame[axis]) / unit
                square += self.weight[n] * change * change
                drift += self.weight[n] * speed * change
        # Other members of a cluster may have taken energy that the pair has lost.
        gain = min(max(gain, -m.loss / heavier / unit / unit), 0.0)
        if gain > -ENERGY_ROUNDING * energy:
            gain = 0.0  # its root would be far more than rounding
        if square + 2.0 * drift + gain > ENERGY_ROUNDING * energy:
            return max(0.0, (sqrt(max(0.0, drift * drift - square * gain)) - drift) / square)
        return 1.0

    def _gains_energy(self) -> cython.bint:
        """Return whether the kinetic energy would rise, in twice the precision if that is close."""
        m: ImpactState = self.impact
        lost: cython.double = 0.0
        size: cython.double = 0.0

        for n in range(2):
            for axis in range(self.bodies.dim):
                before: cython.double = m.before[n][axis] - self.frame[axis]
                wanted: cython.double = self.wanted[n][axis] - self.frame[axis]
                lost += self.weight[n] * ((before - wanted) * (before + wanted))
                size += self.weight[n] * (before * before + wanted * wanted)
        if abs(lost) > ENERGY_ROUNDING * size:
            return lost < 0.0
        self.sum.clear()  # of mass · ((before - frame)² - (wanted - frame)²)
        for n in range(2):
            if not m.is_dynamic[n]:
                continue
            mass: cython.double = self.bodies.mass[m.rows[n]] if m.is_dynamic[1 - n] else 1.0
            for axis in range(self.bodies.dim):
                before = m.before[n][axis]
                wanted = self.wanted[n][axis]
                self.sum.add(mass * before, before)
                self.sum.add(-mass * wanted, wanted)
                if self.frame[axis] != 0.0:
                    self.sum.add(-2.0 * mass * self.frame[axis], before)
                    self.sum.add(2.0 * mass * self.frame[axis], wanted)
        return self.sum.total() < 0.0

    def _stop_falling(self, n: cython.int) -> cython.void:
        """Hold a body with `Stop` against gravity if it has the velocity of its partner's face."""
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[n]

        if not self._stops(n):
            return
        for axis in range(self.bodies.dim):
            if (
                axis != m.axis
                and self.wanted[n][axis] == self.face[1 - n][axis]
                and self.clusters.kick_of(i, axis) != 0.0
            ):
                m.change_along(n, axis, self.wanted[n][axis])
                self.clusters.gravity.weaken(i, axis, 0.0)
