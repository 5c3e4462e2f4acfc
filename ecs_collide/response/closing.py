"""Find the touching pairs that close because velocities have changed.

`Solver` has changed velocities in this instant, some of them of whole clusters.  Only contacts of a
cluster with bodies outside it can close; the members with such contacts are its *rim*.  The
contacts that close are queued for this instant, and `ImpactLoop` takes them next.

Invariant: a member that touches a body outside its cluster is on the rim of the cluster.
"""

from __future__ import annotations

from ecs_collide._kernel import cython, may_raise
from ecs_collide.broadphase.pair_table import OVERLAPS, PARTS, Pair, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.narrowphase import Narrowphase
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters

ALL_AXES = 14  # as in `Clusters.changed_axes`


@cython.final
class ClosingContacts:
    """The search for contacts that close at an instant."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    narrowphase: Narrowphase
    # (3,): by axis, the root of the cluster of the body that was examined last, or 0
    roots: cython.Py_ssize_t[3]

    def __init__(self, step: Step, clusters: Clusters, narrowphase: Narrowphase):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = clusters
        self.narrowphase = narrowphase
        if not cython.compiled:
            self.roots = [0] * 3

    @may_raise
    def find(self) -> cython.int:
        """Queue the impacts of changed clusters' rims and of bodies that turned alone."""
        c: Clusters = self.clusters
        k: cython.int

        while True:
            i: cython.Py_ssize_t = c.pop_changed()
            if i < 0:
                break
            outside: cython.int = self._find_of(i, c.changed_axes)
            for k in range(self.bodies.dim):
                if (outside >> k) & 2:
                    c.keep_on_rim(c.node_of[i, k], self.roots[k])
        while True:
            i = c.pop_alone()
            if i < 0:
                break
            self._find_of(i, ALL_AXES)
        return 0

    def _find_of(self, i: cython.Py_ssize_t, axes: cython.int) -> cython.int:
        """Queue the closing contacts of a body on some axes, and find its `roots`.

        Returns those axes on which a contact is with a body outside its cluster.  Axes are numbered
        as in `Clusters.changed_axes`.
        """
        c: Clusters = self.clusters
        table: cython.pointer[Pair] = self.pairs.at
        outside: cython.int = 0
        k: cython.int
        p: cython.Py_ssize_t = self.pairs.head_of(i)
        at: cython.Py_ssize_t = p

        for k in range(self.bodies.dim):
            self.roots[k] = c.root(c.node_of[i, k])
        while at >= 0:
            p = at
            at = self.pairs.next_of(p, i)
            face: cython.int = table[p].face
            if not (axes >> abs(face)) & 1:  # also if they do not touch
                continue
            k = abs(face) - 1
            root: cython.Py_ssize_t = self.roots[k]
            touch: cython.int = table[p].touch
            j: cython.Py_ssize_t = table[p].first + table[p].second - i
            node: cython.Py_ssize_t = c.node_of[j, k]
            other: cython.Py_ssize_t = c.root(node) if node else 0
            if other and other == root and not c.nodes[root].resizes:
                continue
            if touch == OVERLAPS or (
                touch == PARTS and self.pairs.impact[p].tick < self.step.instant_tick
            ):
                continue
            if other != root:
                outside |= 2 << k
            if root == 0 and node and not c.nodes[node].is_on_rim:
                c.keep_on_rim(node, other)
            closing: cython.double = (
                c.nodes[other].velocity if other else self.bodies.velocity[j, k]
            )
            closing -= c.nodes[root].velocity if root else c.velocity_of(i, k)
            if (face > 0) != (j == table[p].second):
                closing = -closing
            if self.bodies.any_resize:
                closing = self._closing_speed_of(p, k, 1 if face > 0 else -1)
            if closing > 0.0 and not self.narrowphase.needs_no_sweep(p):
                c.write_body(i)
                c.write_body(j)
                self.narrowphase.sweep_closing(p)
        return outside

    def _closing_speed_of(
        self, p: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return how fast the faces of a pair close, in units per second.

        Velocities may not be written yet.  0 if the faces of a resizing pair close or part
        by no more than rounding.
        """
        c: Clusters = self.clusters
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        closing: cython.double = sign * (c.velocity_of(j, k) - c.velocity_of(i, k)) + (
            self.bodies.growth[i, k] + self.bodies.growth[j, k]
        )

        return 0.0 if abs(closing) <= c.rounding_of_faces(i, j, k) else closing
