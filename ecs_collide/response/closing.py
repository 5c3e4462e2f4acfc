"""Find the touching pairs that close because velocities have changed.

`Clusters` has changed velocities in this instant, some of them of whole clusters.  The contacts that
close now are queued for this instant, and `ImpactLoop` takes them next.

The nodes that have just joined are examined first, and the other members of their clusters only when
no more nodes join.  Thus a push runs through a row of n boxes in O(n) examinations.
"""

from __future__ import annotations

from ecs_collide._kernel import cython, may_raise
from ecs_collide.broadphase.pair_table import NO_TOUCH, OVERLAPS, PARTS, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.narrowphase import Narrowphase, rounding_of_faces
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.forest import Node


@cython.final
class ClosingContacts:
    """The search for contacts that close at an instant."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    narrowphase: Narrowphase

    def __init__(self, step: Step, clusters: Clusters, narrowphase: Narrowphase):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = clusters
        self.narrowphase = narrowphase

    @may_raise
    def find(self) -> cython.void:
        """Queue the contacts that close of the bodies whose velocities have changed."""
        c: Clusters = self.clusters
        found: cython.bint = False
        node: cython.Py_ssize_t

        while True:
            i: cython.Py_ssize_t = c.pop_alone()
            if i < 0:
                break
            self._find_of(i, -1)
        while True:
            node = c.pop_fresh()
            if node == 0:
                break
            found = True
            self._examine(node)
        while not found:
            node = c.pop_changed()
            if node == 0:
                break
            while node:
                self._examine(node)
                node = c.forest.nodes[node].next

    @may_raise
    def _examine(self, node: cython.Py_ssize_t) -> cython.void:
        """Queue the closing contacts of a node, if its velocity has changed since the last time."""
        c: Clusters = self.clusters
        nodes: cython.pointer[Node] = c.forest.nodes
        i: cython.Py_ssize_t = nodes[node].body
        k: cython.int = nodes[node].axis
        velocity: cython.double = c.forest.velocity_of(node)

        if nodes[node].seen != velocity and c.node_of[i, k] == node:
            nodes[node].seen = velocity
            self._find_of(i, k)

    @may_raise
    def _find_of(self, i: cython.Py_ssize_t, axis: cython.int) -> cython.void:
        """Queue the closing contacts of a body on an axis, or on all for -1."""
        c: Clusters = self.clusters
        pairs: PairTable = self.pairs
        at: cython.Py_ssize_t = pairs.head_of(i)

        while at >= 0:
            p: cython.Py_ssize_t = at
            # Inlined `PairTable.partner` and `next_of`.
            is_first: cython.int = pairs.at[p].first == i
            j: cython.Py_ssize_t = pairs.at[p].first + pairs.at[p].second - i
            at = pairs.at[p].next_of_second - 1
            at += (pairs.at[p].next_of_first - pairs.at[p].next_of_second) * is_first
            touch: cython.int = pairs.at[p].touch
            if touch == NO_TOUCH:
                continue
            face: cython.int = pairs.at[p].face
            k: cython.int = abs(face) - 1
            if axis >= 0 and k != axis:
                continue
            if touch == OVERLAPS or (
                touch == PARTS and pairs.impact[p].tick < self.step.instant_tick
            ):
                continue
            closing: cython.double = c.velocity_of(j, k) - c.velocity_of(i, k)
            if (face > 0) != (j == pairs.at[p].second):
                closing = -closing
            if self.bodies.any_resize:
                closing = self._closing_speed_of(p, k, 1 if face > 0 else -1)
            if closing > 0.0 and c.is_collected(p):
                c.wait_again(p)
            elif closing > 0.0 and not self.narrowphase.needs_no_sweep(p):
                c.write_body(i)
                c.write_body(j)
                self.narrowphase.sweep_closing(p)

    def _closing_speed_of(
        self, p: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return how fast the faces of a pair close, in units per second.

        Velocities may not be written yet.  0 if the faces of a resizing pair close or part
        by no more than rounding.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        one: cython.double = self.clusters.velocity_of(i, k)
        other: cython.double = self.clusters.velocity_of(j, k)
        closing: cython.double = sign * (other - one) + (b.growth[i, k] + b.growth[j, k])
        bound: cython.double = rounding_of_faces(
            abs(one) + abs(other),
            abs(b.growth[i, k]) + abs(b.growth[j, k]),
            self.clusters.rounding(i, j, k),
        )

        return 0.0 if abs(closing) <= bound else closing
