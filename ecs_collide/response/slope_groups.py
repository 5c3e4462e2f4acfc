"""Bodies that press on slopes in one instant, which get the velocities and kicks of one impact.

`SlopeResponse` resolves one contact after the other, and each resolution takes its part of a body's
weight.  If bodies on slopes also press on each other, these series end late, and a contact that
opens meanwhile has taken weight that it no longer bears: with it, the bodies would gain energy.
So a contact is solved together with all connected ones, at its third meeting in an instant and when
nothing else is due.  Two contacts are connected if they have one body, or bodies that have merged,
which are one body on that axis.  A solution ends at bodies that give no way, so bodies far
away add nothing to its cost.

Each contact gives back the weight that it bears.  The contacts that press are those with which the
paths, mean velocities under gravity, then change least while no contact closes.  These take away
the parts of the kicks along their normals again.  A force does no work on a path along the slope,
and the velocities at the instant change by a projection too.  So the energy never rises, whatever
the instant has done before.  The projections are by Gauss and Seidel; see Erleben, "Numerical
methods for linear complementarity problems in physics-based animation" (2013).
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import DOUBLE, LONG, grown, zeros
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.slopes import Slopes
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters

PASSES = 256  # at most
CONVERGED = 2.0**-50  # of the velocities of a contact: a pass that changes less is the last
SETTLED = 2.0**-48  # of the velocities: a change that is not written, and one that counts as 0

# Columns of `rows`: the pair, the body, its next contact or -1, whether it stays, the number of the
# last solution with this contact, and the root for each axis, 0 for none
PAIR = 0
BODY = 1
NEXT = 2
STAYS = 3
SOLUTION = 4
ROOTS = 5
# Columns of `numbers`: the velocity of the slope along the normal, the change of velocity along it
# by a unit of force, or 0 if the contact does not press, the force, the speeds, and the normal
GOAL = 0
WEIGHT = 1
FORCE = 2
SIZE = 3
NORMAL = 4
# Columns of `states`, beside SIZE: the velocity of the path of a cluster, its kick, the kick before,
# 1 / mass, or 0 if it gives no way, and the number of the last solution, 0 once it is written
PATH = 0
KICK = 1
OLD_KICK = 2
MOBILITY = 4
SOLVED = 5


@cython.final
class SlopeGroups:
    """The contacts of an instant in which bodies stay on slopes."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    slopes: Slopes
    n: cython.Py_ssize_t  # number of contacts
    instant: cython.longlong  # the instant of `Clusters` to which they belong
    n_resolutions: cython.longlong  # in this step, at the last `settle`
    solution: cython.longlong  # the number of solutions
    n_found: cython.Py_ssize_t
    n_due: ReadOnly[cython.Py_ssize_t]
    # by rows of bodies: a contact of the body, if that contact is one of the `n` and has this body
    first: cython.longlong[::1]
    found: cython.longlong[::1]  # the `n_found` contacts of the current solution
    due: cython.longlong[::1]  # `n_due` contacts of bodies that have turned since the last `settle`
    rows: cython.longlong[:, ::1]
    numbers: cython.double[:, ::1]
    states: cython.double[:, ::1]  # by the roots of clusters; node 0 stays 0

    def __init__(self, step: Step, clusters: Clusters):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = clusters
        self.slopes = Slopes(step.bodies)
        self.first = zeros(LONG, 1)
        self.found = zeros(LONG, 8)
        self.due = zeros(LONG, 8)
        self.rows = zeros(LONG, 8, ROOTS + 3)
        self.numbers = zeros(DOUBLE, 8, NORMAL + 3)
        self.states = zeros(DOUBLE, 1, SOLVED + 1)

    def note(
        self, p: cython.Py_ssize_t, i: cython.Py_ssize_t, stays: cython.bint
    ) -> cython.Py_ssize_t:
        """Note whether a body stays on the slope of a pair, and return the contact.

        If it does not stay, no slope bears it.
        """
        if self.instant != self.clusters.instant:
            self.instant = self.clusters.instant
            self.n = self.n_due = 0
            self.n_resolutions = -1
            if self.first.shape[0] < self.clusters.node_of.shape[0]:
                self.first = grown(self.first, self.clusters.node_of.shape[0])
        first: cython.Py_ssize_t = self._first_of(i)
        c: cython.Py_ssize_t = first
        found: cython.Py_ssize_t = -1
        while c >= 0:
            if self.rows[c, PAIR] == p:
                found = c
            if not stays:
                self.numbers[c, FORCE] = 0.0
            c = self.rows[c, NEXT]
        if found < 0:
            found = self.n
            if found == self.found.shape[0]:
                self.rows = grown(self.rows, 2 * found)
                self.numbers = grown(self.numbers, 2 * found)
                self.found = grown(self.found, 2 * found)
            self.rows[found, PAIR] = p
            self.rows[found, BODY] = i
            self.rows[found, NEXT] = first
            self.rows[found, SOLUTION] = 0
            self.numbers[found, FORCE] = 0.0
            self.first[i] = found
            self.n += 1
        self.rows[found, STAYS] = stays
        return found

    def _first_of(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first contact of a body in this instant, or -1.

        The array is never cleared; see Briggs and Torczon, "An Efficient Representation for Sparse
        Sets" (1993).
        """
        if self.instant != self.clusters.instant or i >= self.first.shape[0]:
            return -1
        c: cython.Py_ssize_t = self.first[i]
        return c if c < self.n and self.rows[c, BODY] == i else -1

    def bear(self, c: cython.Py_ssize_t, force: cython.double) -> cython.void:
        """Add to the force by which a contact bears its body."""
        self.numbers[c, FORCE] += force

    def expect(self, i: cython.Py_ssize_t) -> cython.void:
        """List the contact of a body that has turned for the next `settle`.

        The list is in the order of the contacts, because the one with which a solution begins
        decides its last bits.  Bodies may turn in the order of a list of pairs.
        """
        c: cython.Py_ssize_t = self._first_of(i)
        n: cython.Py_ssize_t = self.n_due

        if c >= 0:
            if n == self.due.shape[0]:
                self.due = grown(self.due, 2 * n)
            while n > 0 and self.due[n - 1] > c:
                self.due[n] = self.due[n - 1]
                n -= 1
            self.due[n] = c
            self.n_due += 1

    def settle(self, n_resolutions: cython.longlong) -> cython.bint:
        """Solve the listed contacts after new resolutions; return whether a body turns."""
        last: cython.longlong = self.solution

        if self.instant == self.clusters.instant and self.n_resolutions != n_resolutions:
            self.n_resolutions = n_resolutions
            for n in range(self.n_due):
                if self.rows[self.due[n], SOLUTION] <= last:
                    self.solve(self.due[n])
        self.n_due = 0
        return self.clusters.n_to_examine > 0

    def solve(self, c: cython.Py_ssize_t) -> cython.double:
        """Solve a contact with all that it is connected to; return its weight, 0 if it is none.

        Contacts are connected if their bodies are one, or are in one cluster that gives way.
        """
        n: cython.Py_ssize_t = 0

        self.solution += 1
        self.n_found = 0
        self.numbers[c, WEIGHT] = 0.0
        self._gather(self.rows[c, BODY])
        while n < self.n_found:
            self._find(self.found[n])
            n += 1
        self._project(PATH)
        weight: cython.double = self.numbers[c, WEIGHT]
        for n in range(self.n_found):
            at: cython.Py_ssize_t = self.found[n]
            if self.numbers[at, FORCE] == 0.0:
                self.numbers[at, WEIGHT] = 0.0
            self.numbers[at, FORCE] = 0.0
        self._project(KICK)
        for n in range(self.n_found):
            for k in range(self.bodies.dim):
                root: cython.Py_ssize_t = self.rows[self.found[n], ROOTS + k]
                if self.states[root, SOLVED] == self.solution:
                    self.states[root, SOLVED] = 0.0
                    self._turn(root)
        return weight

    def _gather(self, i: cython.Py_ssize_t) -> cython.void:
        """Add the contacts in which a body presses to the current solution."""
        c: cython.Py_ssize_t = self._first_of(i)

        while c >= 0:
            p: cython.Py_ssize_t = self.rows[c, PAIR]
            if self.rows[c, SOLUTION] != self.solution:
                self.rows[c, SOLUTION] = self.solution
                if self.rows[c, STAYS] and self.pairs.is_solid(p) and not self.bodies.on_hold[i]:
                    self.found[self.n_found] = c
                    self.n_found += 1
                else:
                    self.numbers[c, FORCE] = 0.0
            c = self.rows[c, NEXT]

    def _find(self, c: cython.Py_ssize_t) -> cython.void:
        """Find the clusters of a contact's body, and its numbers; give back the weight it bears."""
        b: Bodies = self.bodies
        p: cython.Py_ssize_t = self.rows[c, PAIR]
        i: cython.Py_ssize_t = self.rows[c, BODY]
        is_slope: cython.bint = self.slopes.find(self.pairs.at[p].first, self.pairs.at[p].second)

        self.numbers[c, GOAL] = self.numbers[c, WEIGHT] = self.numbers[c, SIZE] = 0.0
        for k in range(b.dim):
            part: cython.double = self.slopes.normal_on(k)
            root: cython.Py_ssize_t = 0
            fixed: cython.double = b.velocity_met(i, k)
            if is_slope and part != 0.0 and not b.controls.locks(i, k):
                root = self._find_cluster(i, k)
                fixed = self.clusters.shift_of(i, k)
            borne: cython.double = self.numbers[c, FORCE] * part * self.states[root, MOBILITY]
            self.rows[c, ROOTS + k] = root
            self.numbers[c, NORMAL + k] = part
            self.numbers[c, GOAL] += (b.velocity_met(self.slopes.slope, k) - fixed) * part
            self.numbers[c, GOAL] += b.growth_of(i, k) * abs(part)
            self.numbers[c, WEIGHT] += part * part * self.states[root, MOBILITY]
            self.states[root, PATH] -= borne
            self.states[root, KICK] -= borne
            self.states[root, SIZE] += abs(borne)
            self.numbers[c, SIZE] += self.states[root, SIZE]
        self.numbers[c, FORCE] = 0.0

    def _find_cluster(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the root of the cluster of a body, and find its state if that is not known."""
        c: Clusters = self.clusters
        root: cython.Py_ssize_t = c.ensure(i, k)

        if self.states.shape[0] < c.capacity:
            self.states = grown(self.states, c.capacity)
        if self.states[root, SOLVED] == self.solution:
            return root
        c.even_out(i, k)
        self.states[root, PATH] = c.nodes[root].velocity
        self.states[root, KICK] = self.states[root, OLD_KICK] = c.kick_of(i, k)
        self.states[root, MOBILITY] = 0.0
        self.states[root, SIZE] = abs(c.nodes[root].velocity) + abs(c.kick_of(i, k))
        self.states[root, SOLVED] = self.solution
        if c.is_anchored(i, k) or c.nodes[root].rank != self.bodies.controls.rank_of(i):
            return root  # it does not give way
        self.states[root, MOBILITY] = 1.0 / c.nodes[root].mass
        node: cython.Py_ssize_t = root
        while node:
            if c.node_of[c.nodes[node].body, k] == node:
                self._gather(c.nodes[node].body)
            node = c.nodes[node].next
        return root

    def _project(self, column: cython.int) -> cython.void:
        """Change the paths until no contact closes, or the kicks until none closes or opens.

        No force on the paths is below 0.
        """
        for _n in range(PASSES):
            changes: cython.bint = False
            for n in range(self.n_found):
                c: cython.Py_ssize_t = self.found[n]
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

        kick = _beyond(least, kick) - old_kick
        velocity = _beyond(least, velocity) - c.nodes[root].velocity
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


@cython.inline
def _beyond(least: cython.double, number: cython.double) -> cython.double:
    """Return a number, or 0 if it is at most `least` from it."""
    return number if abs(number) > least else 0.0
