"""The impact that is being resolved, shared by all parts of its resolution."""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import FACE_ROUNDING, ResponseCode
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.controls import Controls
from ecs_collide.motion.faces import LINE, belt_velocity
from ecs_collide.narrowphase.slopes import is_slanted
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters


@cython.final
class ImpactState:
    """The two bodies of an impact, numbered 0 and 1, and their state before its resolution."""

    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    rows: cython.Py_ssize_t[2]  # (2,)
    # the normal, which points from body 1 to body 0: its axis, and 1 or -1
    axis: cython.int
    sign: cython.int
    slants: cython.bint  # whether the normal is that of a slope
    resizes: cython.bint  # whether one of the two grows or shrinks along the normal
    is_dynamic: cython.bint[2]  # (2,): whether the impact may change each body; see `Solver.weigh`
    may_turn: cython.bint[2]  # (2,): the same, whatever the dominance of the bodies
    before: cython.double[2, 3]  # (2, 3): on `axis`, the velocities before the resolution
    # (2,): the kicks on `axis` before the resolution; see `motion/gravity.py`
    kick: cython.double[2]
    # the velocity on `axis` that both bodies have from their carriers, of two the one nearest to 0
    carried: cython.double
    # the momentum that the normal part of the resolution passes from one body to the other
    impulse: cython.double

    def __init__(self, step: Step, clusters: Clusters):
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = clusters

    @cython.inline
    def take(self, p: cython.Py_ssize_t) -> cython.void:
        """Store the bodies and the normal of the impact of pair `p`.

        The bodies are in the order of `Bodies.precedes`, so no rounding depends on their ids.
        """
        sign: cython.int = self.pairs.impact[p].sign

        self.rows[0] = self.pairs.at[p].first
        self.rows[1] = self.pairs.at[p].second
        self.axis = self.pairs.impact[p].axis
        self.sign = 1 if sign > 0 else -1
        self.slants = is_slanted(sign)
        if self.bodies.precedes(self.rows[1], self.rows[0]):
            self.rows[0], self.rows[1] = self.rows[1], self.rows[0]
            self.sign = -self.sign
        self.resizes = (
            self.bodies.resize_of(self.rows[0], self.axis) != 0.0
            or self.bodies.resize_of(self.rows[1], self.axis) != 0.0
        )

    def note_velocities(self) -> cython.double:
        """Store the velocities along the normal and the kicks; return the press of gravity.

        That is how fast gravity presses the bodies together, below 0 if apart: the mean over the rest
        of the step, or 0 if a cluster lasts and keeps its path.
        """
        c: Clusters = self.clusters
        k: cython.int = self.axis

        self.impulse = 0.0
        for n in range(2):
            self.kick[n] = c.kick_of(self.rows[n], k)
            self.before[n][k] = c.final_velocity(self.rows[n], k) - self.kick[n]
        if c.lasting_root(self.rows[0], k) or c.lasting_root(self.rows[1], k):
            return 0.0
        return self.sign * (self.kick[1] - self.kick[0])

    def closes(self, speed: cython.double) -> cython.bint:
        """Return whether bodies that meet at `speed`, and their paths, close by more than rounding.

        Bodies that have pressed since the last step do not, nor a character that goes with its floor.
        """
        first: cython.double = self.clusters.path_velocity(self.rows[0], self.axis)
        second: cython.double = self.clusters.path_velocity(self.rows[1], self.axis)

        return min(speed, self.closing_at(first, second)) > self.rounding()

    def is_borne(self, n: cython.int) -> cython.bint:
        """Return whether something holds body n, so that it does not fall with others."""
        i: cython.Py_ssize_t = self.rows[n]

        return self.clusters.gravity.is_held(i, self.axis) or self.clusters.is_anchored(
            i, self.axis
        )

    def rounding(self) -> cython.double:
        """Return by how much the velocities of two bodies that go together may differ."""
        c: Clusters = self.clusters
        sizes: cython.double = 0.0

        for n in range(2):
            sizes += abs(c.path_velocity(self.rows[n], self.axis))
            sizes += abs(c.kick_of(self.rows[n], self.axis))
        return FACE_ROUNDING * sizes

    @cython.inline
    def growth(self) -> cython.double:
        """Return by how much body 0 is faster than body 1 if their touching faces go together."""
        b: Bodies = self.bodies

        return self.sign * (
            b.growth_of(self.rows[0], self.axis) + b.growth_of(self.rows[1], self.axis)
        )

    @cython.inline
    def closing_at(self, v1: cython.double, v2: cython.double) -> cython.double:
        """Return how fast the faces close if the bodies have these velocities, below 0 if they part."""
        return self.sign * ((v2 + self.growth()) - v1)

    @cython.inline
    def velocity_after(self, n: cython.int, axis: cython.int) -> cython.double:
        """Return the velocity of a body at this instant, without its kick."""
        return self.clusters.velocity_after(self.rows[n], axis)

    @cython.inline
    def changes_held(self) -> cython.bint:
        """Return whether the impact may change a held body."""
        return (self.is_dynamic[0] and self.bodies.on_hold[self.rows[0]]) or (
            self.is_dynamic[1] and self.bodies.on_hold[self.rows[1]]
        )

    @cython.inline
    def slides(self, n: cython.int) -> cython.bint:
        """Return whether the impact may change the velocity of a body along the surface.

        True even if only `LockedAxes` keeps the body from changing along the normal.
        """
        c: Controls = self.bodies.controls

        return self.is_dynamic[n] != 0 or (
            self.is_only_locked(n) and c.rank_of(self.rows[n]) <= c.rank_of(self.rows[1 - n])
        )

    @cython.inline
    def is_only_locked(self, n: cython.int) -> cython.bint:
        """Return whether a lock alone keeps a body from changing along the normal, on some axes."""
        c: Controls = self.bodies.controls
        i: cython.Py_ssize_t = self.rows[n]

        return (
            self.bodies.is_free(i)
            and c.locks(i, self.axis)
            and not c.locks_all_but(i, self.axis)  # such a body is a wall
        )

    def turns(self, n: cython.int) -> cython.bint:
        """Return whether the impact may change a body that has `Stop` or `Push`."""
        return self.is_dynamic[n] and self.bodies.response[self.rows[n]] >= ResponseCode.PUSH

    def side_of(self, n: cython.int) -> cython.int:
        """Return the side of a body that touches the other one; see `motion/faces.py`."""
        side: cython.int = self.axis + 1 + LINE * self.slants

        return side if (self.sign > 0) == (n == 1) else -side

    def belt_speed(self, n: cython.int, axis: cython.int) -> cython.double:
        """Return the velocity of a body's touching face along itself, on an axis."""
        return belt_velocity(self.bodies, self.rows[n], self.side_of(n), axis)

    def face_velocity(self, n: cython.int, axis: cython.int) -> cython.double:
        """Return the velocity of a body's touching face: the body's plus its belt's."""
        return self.clusters.final_velocity(self.rows[n], axis) + self.belt_speed(n, axis)
