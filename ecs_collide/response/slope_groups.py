"""Bodies that press on slopes in one instant, which get the velocities and pulls of one impact.

`SlopeResponse` resolves one contact after the other, and each resolution takes its part of a body's
weight.  If bodies on slopes also press on each other, these series end late, and a contact that
opens meanwhile has taken weight that it no longer carries: with it, the bodies would gain energy.
When nothing else is due, `settle` solves all contacts of the instant in which bodies stay on
slopes at once.  Bodies that have merged are one body on that axis.

The contacts that press are those with which the paths, mean velocities under gravity, change
least while no contact closes.  Velocities w and pulls a are then projected onto the same contacts,
by forces along the normals.  If P is that projection, the energy changes by no more than that of
P w less that of w, because a force does no work where nothing moves along its normal.  So it never
rises, whatever the instant has done before.  The projections are by Gauss and Seidel; see Erleben,
"Numerical methods for linear complementarity problems in physics-based animation" (2013).

Pulls begin with gravity alone.  Only if `Stop` or friction acts in a group, its pulls so far stay.
"""

from __future__ import annotations

from ecs_collide._kernel import cython, may_raise
from ecs_collide._kernel.arrays import DOUBLE, LONG, grown, zeros
from ecs_collide._kernel.constants import ResponseCode
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.slopes import Slopes
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters

PASSES = 256  # at most
CONVERGED = 2.0**-50  # of the velocities of a group: a pass that changes less is the last
SETTLED = 2.0**-48  # of these: a change that is not written, and a velocity that counts as 0

# Columns of `rows`: the pair, and whether it presses; behind them the root for each axis, 0 for none
PAIR = 0
PRESSES = 1
ROOTS = 2
# Columns of `numbers`: the velocity of the slope along the normal, the change of velocity along it
# by a unit of force, and the force; behind them the normal
GOAL = 0
WEIGHT = 1
FORCE = 2
NORMAL = 3
# Columns of `states`: the velocity of a cluster without its kick, the kick, the velocity of its
# path, the kick before, and 1 / mass, or 0 if it gives no way; of its group: the largest velocity,
# and whether the kicks so far stay
SPEED = 0
KICK = 1
PATH = 2
OLD_KICK = 3
MOBILITY = 4
SIZE = 5
KEEPS = 6


@cython.final
class SlopeGroups:
    """The contacts of an instant in which bodies stay on slopes."""

    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    gravity: Gravity
    step: Step
    slopes: Slopes
    n: cython.Py_ssize_t  # number of contacts
    instant: cython.longlong  # the instant of `Clusters` to which they belong
    n_resolutions: cython.longlong  # in this step, at the last `settle`
    rows: cython.longlong[:, ::1]
    numbers: cython.double[:, ::1]
    states: cython.double[:, ::1]  # by the roots of clusters; node 0 stays 0
    search: cython.longlong  # the number of this walk over the roots
    found_in: cython.longlong[::1]  # the last walk that has found each root

    def __init__(self, step: Step, clusters: Clusters):
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = clusters
        self.gravity = step.gravity
        self.step = step
        self.slopes = Slopes(step.bodies)
        self.n = self.instant = self.n_resolutions = self.search = 0
        self.rows = zeros(LONG, 8, ROOTS + 3)
        self.numbers = zeros(DOUBLE, 8, NORMAL + 3)
        self.states = zeros(DOUBLE, 1, KEEPS + 1)
        self.found_in = zeros(LONG, 1)

    def note(self, p: cython.Py_ssize_t, stays: cython.bint) -> cython.void:
        """Note whether the body of a pair stays on its slope from this instant on."""
        c: cython.Py_ssize_t

        if self.instant != self.clusters.instant:
            self.instant = self.clusters.instant
            self.n = 0
            self.n_resolutions = -1
        for c in range(self.n):
            if self.rows[c, PAIR] == p:
                self.n -= 1
                self.rows[c, PAIR] = self.rows[self.n, PAIR]
                break
        if stays:
            if self.n == self.rows.shape[0]:
                self.rows = grown(self.rows, 2 * self.n)
                self.numbers = grown(self.numbers, 2 * self.n)
            self.rows[self.n, PAIR] = p
            self.n += 1

    @may_raise
    def settle(self, n_resolutions: cython.longlong) -> cython.bint:
        """Solve the contacts of this instant after new resolutions; return whether a body turns."""
        if self.n_resolutions == n_resolutions or self.instant != self.clusters.instant:
            return False
        self.n_resolutions = n_resolutions
        self.solve()
        return self.clusters.has_changed()

    @may_raise
    def solve(self) -> cython.bint:
        """Solve the contacts of this instant; return whether a force changes the one noted last."""
        c: cython.Py_ssize_t
        k: cython.int

        self.search += 1
        for c in range(self.n):
            self._find(c)
        self._spread(SIZE)
        self._spread(KEEPS)
        for c in range(self.n):
            for k in range(self.bodies.dim):
                root: cython.Py_ssize_t = self.rows[c, ROOTS + k]
                if self.states[root, KEEPS] != 0.0:
                    self.states[root, KICK] = self.states[root, OLD_KICK]
                self.states[root, PATH] = self.states[root, SPEED] + self.states[root, KICK]
        self._project(PATH, True)
        for c in range(self.n):
            self.rows[c, PRESSES] = self.numbers[c, FORCE] > 0.0
            self.numbers[c, FORCE] = 0.0
        self._project(KICK, True)
        self._project(SPEED, False)
        self.search += 1
        for c in range(self.n):
            for k in range(self.bodies.dim):
                root = self.rows[c, ROOTS + k]
                if self.found_in[root] != self.search:
                    self.found_in[root] = self.search
                    self._turn(root)
        return self.n > 0 and self.numbers[self.n - 1, WEIGHT] > 0.0

    @may_raise
    def _find(self, c: cython.Py_ssize_t) -> cython.void:
        """Find the numbers of a contact and the clusters of its body."""
        b: Bodies = self.bodies
        s: Slopes = self.slopes
        p: cython.Py_ssize_t = self.rows[c, PAIR]
        k: cython.int

        self.rows[c, PRESSES] = (
            s.find(self.pairs.at[p].first, self.pairs.at[p].second)
            and self.pairs.is_solid(p)
            and not self.pairs.at[p].is_withdrawn
            and not b.on_hold[s.body]
        )
        i: cython.Py_ssize_t = s.body
        has_friction: cython.bint = b.rare.friction_between(s.slope, i) > 0.0
        self.numbers[c, GOAL] = self.numbers[c, WEIGHT] = self.numbers[c, FORCE] = 0.0
        for k in range(b.dim):
            part: cython.double = s.normal_on(k)
            root: cython.Py_ssize_t = 0
            fixed: cython.double = b.velocity[i, k]
            if part != 0.0 and not b.controls.locks(i, k):
                root = self._find_cluster(i, k)
                fixed = self.clusters.shift_of(i, k)
                self.states[root, KEEPS] = max(self.states[root, KEEPS], has_friction)
            self.rows[c, ROOTS + k] = root
            self.numbers[c, NORMAL + k] = part
            self.numbers[c, GOAL] += (b.velocity[s.slope, k] - fixed) * part
            self.numbers[c, GOAL] += b.growth[i, k] * abs(part)
            self.numbers[c, WEIGHT] += part * part * self.states[root, MOBILITY]

    @may_raise
    def _find_cluster(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the root of the cluster of a body, and find its state if that is not known."""
        c: Clusters = self.clusters
        root: cython.Py_ssize_t = c.ensure(i, k)

        if self.found_in.shape[0] < c.capacity:
            self.found_in = grown(self.found_in, c.capacity)
            self.states = grown(self.states, c.capacity)
        if self.found_in[root] == self.search:
            return root
        self.found_in[root] = self.search
        c.even_out(i, k)
        gives_way: cython.bint = c.nodes[root].anchor < 0 and c.nodes[
            root
        ].rank == self.bodies.controls.rank_of(i)
        self.states[root, MOBILITY] = 1.0 / c.nodes[root].mass if gives_way else 0.0
        self.states[root, KEEPS] = 0.0
        self.states[root, OLD_KICK] = c.kick_of(i, k)
        self.states[root, SPEED] = c.nodes[root].velocity - self.states[root, OLD_KICK]
        self.states[root, KICK] = 0.0
        if c.nodes[root].anchor < 0:
            self._find_kick(root)
        self.states[root, SIZE] = abs(self.states[root, SPEED])
        self.states[root, SIZE] += abs(self.states[root, OLD_KICK]) + abs(self.states[root, KICK])
        return root

    def _find_kick(self, root: cython.Py_ssize_t) -> cython.void:
        """Find the kick of a cluster by gravity alone, and whether a rule may have changed it."""
        b: Bodies = self.bodies
        c: Clusters = self.clusters
        k: cython.int = c.nodes[root].axis
        node: cython.Py_ssize_t = root
        momentum: cython.double = 0.0
        mass: cython.double = 0.0

        while node:
            i: cython.Py_ssize_t = c.nodes[node].body
            if c.node_of[i, k] == node and b.controls.rank_of(i) == c.nodes[root].rank:
                if b.response[i] == ResponseCode.STOP or b.rare.friction[i] > 0.0:
                    self.states[root, KEEPS] = 1.0
                if self.gravity.acts_on(i):
                    momentum += b.mass[i] * self.gravity.own_pull(i, k)
                mass += b.mass[i]
            node = c.nodes[node].next
        self.states[root, KICK] = 0.5 * (1.0 - self.step.now) * (momentum / mass)

    def _spread(self, column: cython.int) -> cython.void:
        """Give all clusters of a group the largest value that one of them has."""
        c: cython.Py_ssize_t
        k: cython.int
        spreads: cython.bint = True

        while spreads:
            spreads = False
            for c in range(self.n):
                largest: cython.double = 0.0
                for k in range(self.bodies.dim):
                    largest = max(largest, self.states[self.rows[c, ROOTS + k], column])
                for k in range(self.bodies.dim):
                    root: cython.Py_ssize_t = self.rows[c, ROOTS + k]
                    if root and self.states[root, column] < largest:
                        self.states[root, column] = largest
                        spreads = True

    def _project(self, column: cython.int, pushes: cython.bint) -> cython.void:
        """Change a column of the states by forces until no contact that presses closes in it.

        If it `pushes`, no force is below 0.  Otherwise no contact that presses opens, either.
        """
        c: cython.Py_ssize_t
        k: cython.int
        _n: cython.int

        for _n in range(PASSES):
            changes: cython.bint = False
            for c in range(self.n):
                weight: cython.double = self.numbers[c, WEIGHT]
                if not self.rows[c, PRESSES] or weight == 0.0:
                    continue
                away: cython.double = 0.0 if column == KICK else -self.numbers[c, GOAL]
                size: cython.double = 0.0
                for k in range(self.bodies.dim):
                    root: cython.Py_ssize_t = self.rows[c, ROOTS + k]
                    away += self.numbers[c, NORMAL + k] * self.states[root, column]
                    size = max(size, self.states[root, SIZE])
                force: cython.double = -away / weight
                if pushes:
                    force = max(force, -self.numbers[c, FORCE])
                self.numbers[c, FORCE] += force
                changes |= abs(force * weight) > CONVERGED * size
                for k in range(self.bodies.dim):
                    root = self.rows[c, ROOTS + k]
                    change: cython.double = force * self.numbers[c, NORMAL + k]
                    self.states[root, column] += change * self.states[root, MOBILITY]
            if not changes:
                return

    def _turn(self, root: cython.Py_ssize_t) -> cython.void:
        """Give a cluster the velocity and the kick that were found, unless only rounding differs."""
        least: cython.double = SETTLED * self.states[root, SIZE]
        kick: cython.double = self.states[root, KICK]
        velocity: cython.double = self.states[root, SPEED] + kick

        if abs(kick) <= least:
            kick = 0.0
        if abs(velocity) <= least:
            velocity = 0.0
        kick -= self.states[root, OLD_KICK]
        velocity -= self.clusters.nodes[root].velocity
        if abs(velocity) > least or abs(kick) > least:
            self.clusters.turn_all(root, velocity, kick)
