"""The exchange of velocities: two faces that close part again, along the normal.

They close at a speed c and part at a speed a, mostly a = e c.  Two dynamic bodies share the change
by inverse mass,

    v1' = v1 + (c + a) m2 / (m1 + m2),    v2' = v2 - (c + a) m1 / (m1 + m2),

where the normal points to body 1.  A partner that the impact does not change is a *wall*: a body
leaves one that moves at u with v' = u + a.  Velocities are those of the touching faces, so the
growth of both adds to u.

Rounding leaves no faces closing, and no body bounces off faster than it came.  The momentum of two
bodies is kept to an ulp of the heavier one.

A lasting cluster takes part as one body with its mass and its shared velocity.  An impulse changes
its momentum, not its path.  Only a wall takes a member out of it.  Bounces that are due together
follow the same rule in `step/bounces.py`.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from math import nextafter

from ecs_collide._kernel import cython
from ecs_collide.motion.bodies import Bodies
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.product_sum import ProductSum, error_of_sum

SHARED_ROUNDING = 2.0**-44  # of the velocities: by how much a shared velocity may be off


@cython.inline
def _is_further(one: cython.double, u: cython.double, other: cython.double) -> cython.bint:
    """Return whether `one` is further from `u` than `other`, on its other side; not rounded."""
    total: cython.double = one + other
    rest: cython.double = error_of_sum(one, other, total)

    if other <= u:
        return total > 2.0 * u or (total == 2.0 * u and rest > 0.0)
    return total < 2.0 * u or (total == 2.0 * u and rest < 0.0)


@cython.final
class Exchange:
    """The exchange of velocities of the current impact."""

    bodies: Bodies
    clusters: Clusters
    impact: ImpactState
    root: cython.Py_ssize_t[2]  # (2,): of the cluster of each body if that lasts, else 0
    v: cython.double[2]  # (2,): the velocities before
    after: cython.double[2]  # (2,): and after
    sum: ProductSum

    def __init__(self, impact: ImpactState):
        self.bodies = impact.bodies
        self.clusters = impact.clusters
        self.impact = impact
        self.sum = ProductSum()

    def part(
        self, restitution: cython.double, press: cython.double, always: cython.bint
    ) -> cython.bint:
        """Let the two faces part, with the press of `ImpactState.note_velocities`.

        Returns False if the bodies must merge instead: if gravity would bring them together again
        in the step, if both clusters last, or if one does and only its path closes, before or after.
        With `always`, and a press of at most 0, they part in any case.
        """
        c: Clusters = self.clusters
        m: ImpactState = self.impact

        for n in range(2):
            self.root[n] = c.lasting_root(m.rows[n], m.axis)
            self.v[n] = c.final_velocity(m.rows[n], m.axis)
        lasts: cython.bint = self.root[0] != self.root[1]
        closing: cython.double = m.closing_at(self.v[0], self.v[1])
        if closing < 0.0 and not (always or self.root[0] or self.root[1]):
            return True  # the rest of their damping has parted them
        hit: cython.double = max(closing - press, 0.0)
        apart: cython.double = restitution * hit - press
        if always:
            apart = max(apart, -closing)  # if they close on their paths alone
        elif apart <= 0.0 or (self.root[0] and self.root[1]) or (lasts and self._is_tiny(closing)):
            return False
        if not m.is_dynamic[1] or (m.is_dynamic[0] and self._is_wall(1)):
            self.leave_wall(0, self.v[0], self.v[1] + m.growth(), m.sign * apart, press == 0.0)
        elif not m.is_dynamic[0] or self._is_wall(0):
            self.leave_wall(1, self.v[1], self.v[0] - m.growth(), -m.sign * apart, press == 0.0)
        else:
            self._share(m.sign * ((1.0 + restitution) * hit))
        v1: cython.double = c.velocity_of(m.rows[0], m.axis)
        parts: cython.bint = not lasts or m.closing_at(v1, c.velocity_of(m.rows[1], m.axis)) <= 0.0
        if not parts:
            # The merge takes this part of the impulse back, but adds it.
            m.impulse *= (1.0 - restitution) / (1.0 + restitution)
        return parts

    def _is_tiny(self, closing: cython.double) -> cython.bint:
        """Return whether a speed is due to the rounding of shared velocities."""
        total: cython.double = 0.0

        for n in range(2):
            path: cython.double = self.clusters.velocity_of(self.impact.rows[n], self.impact.axis)
            total += abs(self.v[n]) + abs(path)
        return closing <= SHARED_ROUNDING * total

    def _is_wall(self, n: cython.int) -> cython.bint:
        """Return whether a body is in a lasting cluster that outranks the other body."""
        rank: cython.longlong = self.bodies.controls.rank_of(self.impact.rows[1 - n])

        return self.root[n] and self.clusters.nodes[self.root[n]].rank > rank

    def leave_wall(
        self,
        n: cython.int,
        v: cython.double,
        u: cython.double,
        away: cython.double,
        is_bounce: cython.bint,
    ) -> cython.void:
        """Give body n, which comes at `v`, the velocity `u` of a wall and a part away from it.

        In a bounce, it does not recede faster than it came; gravity may part the two faster.
        """
        m: ImpactState = self.impact
        after: cython.double = u + away

        if is_bounce and _is_further(after, u, v):
            after = nextafter(after, u)
        m.impulse = max(m.impulse, self.bodies.mass[m.rows[n]] * abs(after - v))
        self.clusters.turn_freely(m.rows[n], m.axis, after)

    def _share(self, change: cython.double) -> cython.void:
        """Change the relative velocity of two dynamic bodies, one of which may be in a cluster."""
        c: Clusters = self.clusters
        m: ImpactState = self.impact
        mass1: cython.double = self._mass_of(0)
        mass2: cython.double = self._mass_of(1)

        self.after[0] = self.v[0] + change * (mass2 / (mass1 + mass2))
        self.after[1] = self.v[1] - change * (mass1 / (mass1 + mass2))
        m.impulse = abs(change) * (mass1 * (mass2 / (mass1 + mass2)))
        if not (self.root[0] or self.root[1]):
            self._keep_momentum(mass1, mass2, change)
        for n in range(2):
            if self.root[n]:
                mass: cython.double = self.bodies.mass[m.rows[1 - n]]
                c.push(self.root[n], mass, self.v[1 - n])
                c.push(self.root[n], -mass, self.after[1 - n])
            else:
                c.turn_freely(m.rows[n], m.axis, self.after[n])

    def _mass_of(self, n: cython.int) -> cython.double:
        """Return the mass of a body, or of its cluster if that lasts."""
        if self.root[n]:
            return self.clusters.nodes[self.root[n]].mass
        return self.bodies.mass[self.impact.rows[n]]

    def _keep_momentum(
        self, mass1: cython.double, mass2: cython.double, change: cython.double
    ) -> cython.void:
        """Remove the rounding from the momentum of two bodies, and from faces that close by it.

        It goes to the heavier body, whose velocity it changes less.
        """
        m: ImpactState = self.impact
        heavy: cython.int = 1 if mass1 < mass2 else 0

        if mass1 == mass2 and abs(change) == 2.0 * m.closing_at(self.v[0], self.v[1]):
            self.after[0] = self.v[1] + m.growth()
            self.after[1] = self.v[0] - m.growth()
            return
        self.sum.clear()
        self.sum.add(mass1, self.v[0])
        self.sum.add(mass2, self.v[1])
        self.sum.add(-mass1, self.after[0])
        self.sum.add(-mass2, self.after[1])
        self.after[heavy] += self.sum.total() / max(mass1, mass2)
        if m.closing_at(self.after[0], self.after[1]) > 0.0:
            self.after[1 - heavy] = self.after[heavy] + (m.growth() if heavy else -m.growth())
