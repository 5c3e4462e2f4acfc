"""Hold bodies where they are to the end of a step, because a limit was reached.

The cost of a step is bounded by its bodies and pairs.  A body that reaches a limit stops, and
continues in the next step.  The limit of a body is on its *visits*, which are its resolutions and
its pairs that were swept again because its velocity changed.

    visits of a body <= 8 x (pair_limit + its pairs), and its pairs once or twice more

To dynamic bodies a held body is a wall at rest, so nothing passes through it.  Static and
kinematic bodies, and bodies that they drive, move it.  A lift carries it or crushes it.

Invariant: while `Bodies.on_hold` of a body is 1, `Bodies.course` is the velocity of its path, 0
unless another body drives it, and `velocity` the one with which it leaves the step.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import INT, LONG, grown, zeros
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters

VISITS_PER_PAIR: cython.longlong = 8  # for each pair of a body, and for each of `pair_limit`


@cython.final
class Holding:
    """The bodies that are held in a step, and the visits of all bodies."""

    step: Step
    bodies: Bodies
    clusters: Clusters
    n: ReadOnly[cython.Py_ssize_t]  # number of held bodies
    n_visited: cython.Py_ssize_t
    rows: cython.longlong[::1]  # (n or more,): their rows, in the order in which they were held
    visited: cython.longlong[::1]
    # (n_rows,): the visits of each body in this step, and its pairs when they were last swept
    visits: cython.int[::1]
    n_pairs: cython.int[::1]

    def __init__(self, step: Step, clusters: Clusters):
        self.step = step
        self.bodies = step.bodies
        self.clusters = clusters
        self.rows = zeros(LONG, 1)
        self.visited = zeros(LONG, 1)
        self.visits = zeros(INT, 1)
        self.n_pairs = zeros(INT, 1)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.rows = grown(self.rows, n_rows)
        self.visited = grown(self.visited, n_rows)
        self.visits = grown(self.visits, n_rows)
        self.n_pairs = grown(self.n_pairs, n_rows)

    @cython.ccall
    def begin_step(self) -> cython.void:
        """Release all bodies of the previous step, and reset all visits."""
        for n in range(self.n):
            self.bodies.on_hold[self.rows[n]] = 0
        for n in range(self.n_visited):
            self.visits[self.visited[n]] = 0
        self.n = self.n_visited = 0

    def entities(self) -> list:
        """Return the entities that are or were held in this step, in ascending order."""
        return sorted(self.bodies.ids[i] for i in self.rows[: self.n])

    @cython.inline
    def count_visits(self, i: cython.Py_ssize_t, n_visits: cython.longlong) -> cython.void:
        """Add to the visits of a body."""
        if n_visits == 0:
            return
        if self.visits[i] == 0:
            self.visited[self.n_visited] = i
            self.n_visited += 1
            self.n_pairs[i] = 0
        self.visits[i] += n_visits

    @cython.inline
    def is_spent(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body with visits has exceeded its limit of them."""
        return self.visits[i] > VISITS_PER_PAIR * (self.step.pair_limit + self.n_pairs[i])

    def hold(self, i: cython.Py_ssize_t) -> cython.bint:
        """Hold a body from this instant; return False if it is not dynamic or held already."""
        b: Bodies = self.bodies
        c: Clusters = self.clusters

        if not b.is_free(i):
            return False
        c.write_body(i)
        b.advance(i, self.step.now)
        self._begin(i)
        for k in range(b.dim):
            if c.node_of[i, k]:
                c.leave(i, k)
            c.turn_alone(i, k, 0.0)
        b.note_turn(i)
        return True

    def hold_from_start(self, i: cython.Py_ssize_t) -> cython.void:
        """Hold a body for the whole step."""
        self._begin(i)
        for k in range(self.bodies.dim):
            self.bodies.set_velocity(i, k, 0.0)
        self.bodies.find_swept_bounds(i)

    def _begin(self, i: cython.Py_ssize_t) -> cython.void:
        """Let a body keep the velocity that it has now, whatever its path does."""
        b: Bodies = self.bodies
        c: Clusters = self.clusters

        b.mark(i)
        b.interrupt_rest(i)
        b.forget_drift(i)
        b.hold(i)
        for k in range(b.dim):
            b.leave_with(i, k, c.at_instant(i, k, c.final_velocity(i, k)))
        c.gravity.end(i)
        self.rows[self.n] = i
        self.n += 1

    def lose_speed(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Let the held bodies of the cluster of a body leave the step as it moves now.

        They are crushed, and what they had before would throw them through what crushes them.
        """
        c: Clusters = self.clusters
        root: cython.Py_ssize_t = c.root(c.node_of[i, k])

        for n in range(self.n if root else 0):
            one: cython.Py_ssize_t = self.rows[n]
            if c.root(c.node_of[one, k]) == root:
                self.bodies.leave_with(one, k, c.velocity_of(one, k))

    def release(self) -> cython.void:
        """Let all held bodies go at the end of the step."""
        for n in range(self.n):
            self.bodies.on_hold[self.rows[n]] = 0
