"""Bodies that press on slopes in one instant, which get the velocities and kicks of one impact.

`SlopeResponse` resolves one contact after the other, and each resolution takes its part of a body's
weight.  If bodies on slopes also press on each other, these series end late, and a contact that
opens meanwhile has taken weight that it no longer bears: with it, the bodies would gain energy.
So when nothing else is due, `settle` solves all contacts in which bodies stay on slopes at once.
Bodies that have merged are one body on that axis.

Each contact gives back the weight that it bears.  The contacts that press are those with which the
paths, mean velocities under gravity, then change least while no contact closes.  These take away
the parts of the kicks along their normals again.  A force does no work on a path along the slope,
and the velocities at the instant change by a projection too.  So the energy never rises, whatever
the instant has done before.  The projections are by Gauss and Seidel; see Erleben, "Numerical
methods for linear complementarity problems in physics-based animation" (2013).
"""

from __future__ import annotations

from ecs_collide._kernel import cython, may_raise
from ecs_collide._kernel.arrays import DOUBLE, LONG, grown, zeros
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.slopes import Slopes
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters

PASSES = 256  # at most
CONVERGED = 2.0**-50  # of the velocities of a contact: a pass that changes less is the last
SETTLED = 2.0**-48  # of the velocities: a change that is not written, and one that counts as 0

# Columns of `rows`: the pair, the body, whether it stays, and the root for each axis, 0 for none
PAIR = 0
BODY = 1
STAYS = 2
ROOTS = 3
# Columns of `numbers`: the velocity of the slope along the normal, the change of velocity along it
# by a unit of force, or 0 if the contact does not press, the force, the speeds, and the normal
GOAL = 0
WEIGHT = 1
FORCE = 2
SIZE = 3
NORMAL = 4
# Columns of `states`, beside SIZE: the velocity of the path of a cluster, its kick, the kick before,
# 1 / mass, or 0 if it gives no way, and the number of the last search that has found it
PATH = 0
KICK = 1
OLD_KICK = 2
MOBILITY = 4
SEARCH = 5


@cython.final
class SlopeGroups:
    """The contacts of an instant in which bodies stay on slopes."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    slopes: Slopes
    n: cython.Py_ssize_t  # number of contacts
    last: cython.Py_ssize_t  # the contact noted last
    instant: cython.longlong  # the instant of `Clusters` to which they belong
    n_resolutions: cython.longlong  # in this step, at the last `settle`
    search: cython.double  # the number of searches for clusters
    rows: cython.longlong[:, ::1]
    numbers: cython.double[:, ::1]
    states: cython.double[:, ::1]  # by the roots of clusters; node 0 stays 0

    def __init__(self, step: Step, clusters: Clusters):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = clusters
        self.slopes = Slopes(step.bodies)
        self.n = self.last = self.instant = self.n_resolutions = 0
        self.search = 0.0
        self.rows = zeros(LONG, 8, ROOTS + 3)
        self.numbers = zeros(DOUBLE, 8, NORMAL + 3)
        self.states = zeros(DOUBLE, 1, SEARCH + 1)

    def note(self, p: cython.Py_ssize_t, i: cython.Py_ssize_t, stays: cython.bint) -> cython.void:
        """Note whether a body stays on the slope of a pair; if not, no slope bears it."""
        c: cython.Py_ssize_t

        if self.instant != self.clusters.instant:
            self.instant = self.clusters.instant
            self.n = 0
            self.n_resolutions = -1
        self.last = self.n
        for c in range(self.n):
            if self.rows[c, PAIR] == p:
                self.last = c
            if self.rows[c, BODY] == i and not stays:
                self.numbers[c, FORCE] = 0.0
        if self.last == self.n:
            if self.n == self.rows.shape[0]:
                self.rows = grown(self.rows, 2 * self.n)
                self.numbers = grown(self.numbers, 2 * self.n)
            self.rows[self.n, PAIR] = p
            self.rows[self.n, BODY] = i
            self.numbers[self.n, FORCE] = 0.0
            self.n += 1
        self.rows[self.last, STAYS] = stays

    def bear(self, force: cython.double) -> cython.void:
        """Add to the force by which the contact noted last bears its body."""
        self.numbers[self.last, FORCE] += force

    @may_raise
    def settle(self, n_resolutions: cython.longlong) -> cython.bint:
        """Solve the contacts of this instant after new resolutions; return whether a body turns."""
        if self.n_resolutions == n_resolutions or self.instant != self.clusters.instant:
            return False
        self.n_resolutions = n_resolutions
        self.solve()
        return self.clusters.has_changed()

    @may_raise
    def solve(self) -> cython.double:
        """Solve the contacts of this instant; return the weight of the one noted last, 0 if it is none."""
        c: cython.Py_ssize_t
        k: cython.int

        self.search += 1.0
        for c in range(self.n):
            self._find(c)
        self._project(PATH)
        weight: cython.double = self.numbers[self.last, WEIGHT]
        for c in range(self.n):
            if self.numbers[c, FORCE] == 0.0:
                self.numbers[c, WEIGHT] = 0.0
            self.numbers[c, FORCE] = 0.0
        self._project(KICK)
        for c in range(self.n):
            for k in range(self.bodies.dim):
                root: cython.Py_ssize_t = self.rows[c, ROOTS + k]
                if self.states[root, SEARCH] == self.search:
                    self.states[root, SEARCH] = 0.0
                    self._turn(root)
        return weight

    @may_raise
    def _find(self, c: cython.Py_ssize_t) -> cython.void:
        """Find the clusters of a contact's body, and its numbers; give back the weight it bears."""
        b: Bodies = self.bodies
        p: cython.Py_ssize_t = self.rows[c, PAIR]
        i: cython.Py_ssize_t = self.rows[c, BODY]
        k: cython.int
        presses: cython.bint = (
            self.slopes.find(self.pairs.at[p].first, self.pairs.at[p].second)
            and self.rows[c, STAYS]
            and self.pairs.is_solid(p)
            and not self.pairs.at[p].is_withdrawn
            and not b.on_hold[i]
        )

        self.numbers[c, GOAL] = self.numbers[c, WEIGHT] = self.numbers[c, SIZE] = 0.0
        for k in range(b.dim):
            part: cython.double = self.slopes.normal_on(k)
            root: cython.Py_ssize_t = 0
            fixed: cython.double = b.velocity[i, k]
            if presses and part != 0.0 and not b.controls.locks(i, k):
                root = self._find_cluster(i, k)
                fixed = self.clusters.shift_of(i, k)
            borne: cython.double = self.numbers[c, FORCE] * part * self.states[root, MOBILITY]
            self.rows[c, ROOTS + k] = root
            self.numbers[c, NORMAL + k] = part
            self.numbers[c, GOAL] += (b.velocity[self.slopes.slope, k] - fixed) * part
            self.numbers[c, GOAL] += b.growth[i, k] * abs(part)
            self.numbers[c, WEIGHT] += part * part * self.states[root, MOBILITY]
            self.states[root, PATH] -= borne
            self.states[root, KICK] -= borne
            self.states[root, SIZE] += abs(borne)
            self.numbers[c, SIZE] += self.states[root, SIZE]
        self.numbers[c, FORCE] = 0.0

    @may_raise
    def _find_cluster(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the root of the cluster of a body, and find its state if that is not known."""
        c: Clusters = self.clusters
        root: cython.Py_ssize_t = c.ensure(i, k)

        if self.states.shape[0] < c.capacity:
            self.states = grown(self.states, c.capacity)
        if self.states[root, SEARCH] == self.search:
            return root
        c.even_out(i, k)
        gives_way: cython.bint = c.nodes[root].anchor < 0 and (
            c.nodes[root].rank == self.bodies.controls.rank_of(i)
        )
        self.states[root, PATH] = c.nodes[root].velocity
        self.states[root, KICK] = self.states[root, OLD_KICK] = c.kick_of(i, k)
        self.states[root, MOBILITY] = 1.0 / c.nodes[root].mass if gives_way else 0.0
        self.states[root, SIZE] = abs(c.nodes[root].velocity) + abs(c.kick_of(i, k))
        self.states[root, SEARCH] = self.search
        return root

    def _project(self, column: cython.int) -> cython.void:
        """Change the paths until no contact closes, or the kicks until none closes or opens.

        No force on the paths is below 0.
        """
        c: cython.Py_ssize_t
        k: cython.int
        _n: cython.int

        for _n in range(PASSES):
            changes: cython.bint = False
            for c in range(self.n):
                weight: cython.double = self.numbers[c, WEIGHT]
                if weight == 0.0:
                    continue
                away: cython.double = -self.numbers[c, GOAL] if column == PATH else 0.0
                for k in range(self.bodies.dim):
                    root: cython.Py_ssize_t = self.rows[c, ROOTS + k]
                    away += self.numbers[c, NORMAL + k] * self.states[root, column]
                force: cython.double = -away / weight
                if column == PATH:
                    force = max(force, -self.numbers[c, FORCE])
                self.numbers[c, FORCE] += force
                changes |= abs(force * weight) > CONVERGED * self.numbers[c, SIZE]
                for k in range(self.bodies.dim):
                    root = self.rows[c, ROOTS + k]
                    change: cython.double = force * self.numbers[c, NORMAL + k]
                    self.states[root, column] += change * self.states[root, MOBILITY]
            if not changes:
                return

    def _turn(self, root: cython.Py_ssize_t) -> cython.void:
        """Give a cluster the velocity and the kick that were found, unless only rounding differs."""
        c: Clusters = self.clusters
        i: cython.Py_ssize_t = c.nodes[root].body
        k: cython.int = c.nodes[root].axis
        old_kick: cython.double = self.states[root, OLD_KICK]
        least: cython.double = SETTLED * self.states[root, SIZE]
        kick: cython.double = self.states[root, KICK]
        velocity: cython.double = self.states[root, PATH]

        kick = (kick if abs(kick) > least else 0.0) - old_kick
        velocity = (velocity if abs(velocity) > least else 0.0) - c.nodes[root].velocity
        if abs(velocity) <= least and abs(kick) <= least:
            velocity = kick = 0.0
        if c.nodes[root].size > 1 or c.nodes[root].anchor >= 0 or c.node_of[i, k] != root:
            c.turn_all(root, velocity, kick)
            return
        velocity += c.velocity_of(i, k)
        c.leave(i, k)  # it has merged with no other body
        c.turn_alone(i, k, velocity)
        if kick != 0.0:
            c.gravity.pull_with(i, k, old_kick + kick, self.step.now)
