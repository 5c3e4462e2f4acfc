"""Impacts of growing or shrinking boxes: their faces get one velocity, not their centres.

If restitution is 0, `Solver` merges the clusters of the two bodies after `ResizingFaces.align` has
shifted one.  If they are one cluster, or both have an anchor, `Projection` lets the faces press.
If they rebound, gravity parts them, one is held, or that fails, they exchange these velocities.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide.motion.bodies import Bodies
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState

EPSILON = 2.0**-52


@cython.final
class ResizingFaces:
    """The touching faces of an impact, at least one of which grows or shrinks."""

    bodies: Bodies
    clusters: Clusters
    impact: ImpactState
    # the roots of the clusters that `align` has prepared; the same if there is only one
    one: cython.Py_ssize_t
    other: cython.Py_ssize_t
    anchor: cython.Py_ssize_t  # the row of their static or kinematic anchor, or -1

    def __init__(self, impact: ImpactState):
        self.bodies = impact.bodies
        self.clusters = impact.clusters
        self.impact = impact
        self.anchor = -1

    def align(self, first_joins: cython.bint, second_joins: cython.bint) -> cython.bint:
        """Shift the clusters of the bodies that join, so that a merge gives the faces one velocity.

        Returns False if both are in one cluster, or if both have an anchor.
        """
        c: Clusters = self.clusters
        i: cython.Py_ssize_t = self.impact.rows[0]
        j: cython.Py_ssize_t = self.impact.rows[1]
        k: cython.int = self.impact.axis
        apart: cython.double = self.bodies.growth_of(i, k) + self.bodies.growth_of(j, k)

        apart *= self.impact.sign
        if not second_joins:
            return self._align_with(j, i, apart)
        if not first_joins:
            return self._align_with(i, j, -apart)
        one: cython.Py_ssize_t = c.ensure(i, k)
        other: cython.Py_ssize_t = c.ensure(j, k)
        if one == other or (c.nodes[one].anchor >= 0 and c.nodes[other].anchor >= 0):
            return False
        shift: cython.double = c.shift_of(i, k) - apart - c.shift_of(j, k)
        if c.nodes[other].size <= c.nodes[one].size:
            c.shift_by(other, shift)
        else:
            c.shift_by(one, -shift)
        anchored: cython.Py_ssize_t = one if c.nodes[one].anchor >= 0 else other
        c.anchor_velocity = c.nodes[anchored].velocity
        self.one = one
        self.other = other
        self.anchor = c.nodes[anchored].anchor
        return True

    def _align_with(
        self, wall: cython.Py_ssize_t, i: cython.Py_ssize_t, apart: cython.double
    ) -> cython.bint:
        """Prepare a merge that gives body i the velocity of body `wall` plus `apart`.

        Returns False if the cluster of i has an anchor.
        """
        c: Clusters = self.clusters
        k: cython.int = self.impact.axis
        root: cython.Py_ssize_t = c.ensure(i, k)

        if c.nodes[root].anchor >= 0:
            return False
        c.shift_by(root, 0.0)
        c.anchor_velocity = self.bodies.velocity_met(wall, k) + apart - c.shift_of(i, k)
        self.one = self.other = root
        self.anchor = wall
        return True

    def exchange(self, restitution: cython.double, press: cython.double) -> cython.void:
        """Exchange the faces' velocities by inverse mass; `press` is that of gravity."""
        b: Bodies = self.bodies
        c: Clusters = self.clusters
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        k: cython.int = m.axis
        grow1: cython.double = -m.sign * b.growth_of(i, k)
        grow2: cython.double = m.sign * b.growth_of(j, k)
        v1: cython.double = c.final_velocity(i, k)
        v2: cython.double = c.final_velocity(j, k)
        shared: cython.double = (1.0 + restitution) * ((v1 + grow1) - (v2 + grow2))
        held: cython.double = 0.0  # as in `Solver`

        if press != 0.0:
            shared = (v1 + grow1) - (v2 + grow2)
            apart: cython.double = restitution * max(-m.sign * shared - press, 0.0) - press
            if apart > 0.0:
                shared -= m.sign * apart
            elif m.is_dynamic[0] != m.is_dynamic[1]:
                n: cython.int = 0 if m.is_dynamic[0] else 1
                held = abs(m.kick[n])
                c.gravity.hold(m.rows[n], k)
        if c.n_lasting and shared * m.sign > 0.0:
            shared = 0.0  # only their paths close, not their final velocities
        share1: cython.double = 1.0
        share2: cython.double = 1.0
        if m.is_dynamic[0] and m.is_dynamic[1]:
            share1 = b.mass[j] / (b.mass[i] + b.mass[j])
            share2 = b.mass[i] / (b.mass[i] + b.mass[j])
        if m.is_dynamic[0]:
            m.impulse = b.mass[i] * (share1 * abs(shared) + held)
            c.turn_alone(i, k, v1 - shared * share1)
        if m.is_dynamic[1]:
            m.impulse = b.mass[j] * (share2 * abs(shared) + held)
            c.turn_alone(j, k, v2 + shared * share2)
        # Rounding may leave the faces closing, so the nudge grows until they do not.
        nudge: cython.double = EPSILON * max(abs(v1), abs(v2), abs(grow1), abs(grow2))
        while self._parting_rate() < 0.0:
            if m.is_dynamic[0]:
                c.turn_alone(i, k, b.velocity_met(i, k) + m.sign * nudge)
            else:
                c.turn_alone(j, k, b.velocity_met(j, k) - m.sign * nudge)
            nudge *= 2.0

    def _parting_rate(self) -> cython.double:
        """Return how far the faces part in a whole step; below 0 they close."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.impact.rows[0]
        j: cython.Py_ssize_t = self.impact.rows[1]
        k: cython.int = self.impact.axis
        sign: cython.int = self.impact.sign

        return sign * (
            (b.motion_of(i, k) - sign * b.resize_of(i, k))
            - (b.motion_of(j, k) + sign * b.resize_of(j, k))
        )
