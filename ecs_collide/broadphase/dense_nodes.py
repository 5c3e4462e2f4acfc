"""Count pairs inside a crowd node by node instead of pair by pair.

Ten thousand boxes in one place are fifty million pairs, but their tree has only some 1,500 nodes.
Each node gets two boxes for its bodies at the start of the step: the *core*, which is inside each
body, and the *hull*, which contains all of them.  If the cores of two nodes overlap, every body of
one node overlaps every body of the other.  If their hulls are apart, no two bodies overlap.
Otherwise the traversal descends to the children.

The count of a node applies to each of its bodies.  It is added to the bodies at the end.

Invariant: the number of pairs and all counts equal the results of a test of each pair.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide._kernel.arrays import DOUBLE, LONG, zeros
from ecs_collide._kernel.constants import INF
from ecs_collide.broadphase.nodes import Nodes
from ecs_collide.broadphase.overlaps import NodePairs
from ecs_collide.broadphase.simd import WIDTH
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.rare_columns import CATEGORIES, GROUP, MASK, RareColumns

INSIDE = 2.0**-40  # times the largest coordinate; boxes that overlap by more do not only touch


@cython.final
class NodeSums:
    """The nodes of one tree, with the boxes and the counts of their bodies."""

    bodies: Bodies
    nodes: Nodes
    # (n_nodes, dim)
    core_low: cython.double[:, ::1]
    core_high: cython.double[:, ::1]
    hull_low: cython.double[:, ::1]
    hull_high: cython.double[:, ::1]
    # (n_nodes,): the bodies below a node, and how many of them are members
    size: cython.longlong[::1]
    n_members: cython.longlong[::1]
    # (n_nodes,): a body with the filter that all bodies below a node have, or -1 if the filters
    # differ or each pair must be tested
    alike: cython.longlong[::1]
    # (n_nodes,): the number to add to the count of each member below a node
    pending: cython.longlong[::1]

    def __init__(self, bodies: Bodies, nodes: Nodes):
        self.bodies = bodies
        self.nodes = nodes
        self._make_room(1)

    @cython.cfunc
    def _make_room(self, n_nodes: cython.Py_ssize_t):
        dim: cython.int = self.bodies.dim

        self.core_low = zeros(DOUBLE, n_nodes, dim)
        self.core_high = zeros(DOUBLE, n_nodes, dim)
        self.hull_low = zeros(DOUBLE, n_nodes, dim)
        self.hull_high = zeros(DOUBLE, n_nodes, dim)
        self.size = zeros(LONG, n_nodes)
        self.n_members = zeros(LONG, n_nodes)
        self.alike = zeros(LONG, n_nodes)
        self.pending = zeros(LONG, n_nodes)

    @cython.cfunc
    def measure(
        self,
        low: cython.double[:, ::1],
        high: cython.double[:, ::1],
        counts: cython.longlong[::1],
        least: cython.longlong,
        asks_game: cython.int,
    ):
        """Measure all nodes; the members are the bodies with `counts` above `least`.

        `asks_game` is the trait bits of bodies whose pairs the game filters, or -1 for all.
        """
        if self.size.shape[0] < self.nodes.node_room:
            self._make_room(self.nodes.node_room)
        if self.nodes.n_items:
            self._measure(self.nodes.root(), low, high, counts, least, asks_game)

    def _measure(
        self,
        node: cython.int,
        low: cython.double[:, ::1],
        high: cython.double[:, ::1],
        counts: cython.longlong[::1],
        least: cython.longlong,
        asks_game: cython.int,
    ) -> cython.void:
        """Measure a node and all nodes below it."""
        for k in range(self.bodies.dim):
            self.core_low[node, k] = self.hull_high[node, k] = -INF
            self.core_high[node, k] = self.hull_low[node, k] = INF
        self.size[node] = self.n_members[node] = self.pending[node] = 0
        for lane in range(self.nodes.count[node]):
            child: cython.int = self.nodes.child[WIDTH * node + lane]
            if self.nodes.level[node] == 0:
                for k in range(self.bodies.dim):
                    self._enclose(
                        node, k, low[child, k], high[child, k], low[child, k], high[child, k]
                    )
                self.size[node] += 1
                self.n_members[node] += counts[child] > least
                alike: cython.longlong = child if self._may_be_alike(child, asks_game) else -1
            else:
                self._measure(child, low, high, counts, least, asks_game)
                for k in range(self.bodies.dim):
                    self._enclose(
                        node, k,
                        self.core_low[child, k], self.core_high[child, k],
                        self.hull_low[child, k], self.hull_high[child, k],
                    )  # fmt: skip
                self.size[node] += self.size[child]
                self.n_members[node] += self.n_members[child]
                alike = self.alike[child]
            if lane == 0 or (
                self.alike[node] >= 0 and not self._are_alike(self.alike[node], alike)
            ):
                self.alike[node] = alike if lane == 0 else -1

    def _enclose(
        self,
        node: cython.int,
        k: cython.int,
        core_low: cython.double,
        core_high: cython.double,
        hull_low: cython.double,
        hull_high: cython.double,
    ) -> cython.void:
        """Merge the core and hull of a child into its node, on an axis."""
        self.core_low[node, k] = max(self.core_low[node, k], core_low)
        self.core_high[node, k] = min(self.core_high[node, k], core_high)
        self.hull_low[node, k] = min(self.hull_low[node, k], hull_low)
        self.hull_high[node, k] = max(self.hull_high[node, k], hull_high)

    def _may_be_alike(self, i: cython.Py_ssize_t, asks_game: cython.int) -> cython.bint:
        """Return whether only the filter of a body decides which bodies it may meet."""
        t: RareColumns = self.bodies.rare

        if asks_game and (asks_game < 0 or asks_game & t.bits[i]):
            return False
        has_owner: cython.bint = t.any_owner and t.owner[i] >= 0
        return not t.is_used or not (has_owner or t.is_soft(i, i))

    def _are_alike(self, i: cython.longlong, j: cython.longlong) -> cython.bint:
        """Return whether two bodies, -1 for none, have the same filter."""
        t: RareColumns = self.bodies.rare

        if i < 0 or j < 0:
            return False
        return not t.is_used or (
            t.filters[i, CATEGORIES] == t.filters[j, CATEGORIES]
            and t.filters[i, MASK] == t.filters[j, MASK]
            and t.filters[i, GROUP] == t.filters[j, GROUP]
        )

    @cython.cfunc
    def give_out(
        self,
        counts: cython.longlong[::1],
        members: cython.longlong[::1],
        least: cython.longlong,
    ):
        """Add the pending numbers to `counts` of all bodies with `members` above `least`."""
        if self.nodes.n_items:
            self._give_out(self.nodes.root(), 0, counts, members, least)

    def _give_out(
        self,
        node: cython.int,
        pending: cython.longlong,
        counts: cython.longlong[::1],
        members: cython.longlong[::1],
        least: cython.longlong,
    ) -> cython.void:
        lane: cython.int

        pending += self.pending[node]
        for lane in range(self.nodes.count[node]):
            child: cython.int = self.nodes.child[WIDTH * node + lane]
            if self.nodes.level[node]:
                self._give_out(child, pending, counts, members, least)
            elif members[child] > least:
                counts[child] += pending


@cython.final
class DenseNodes(NodePairs):
    """Decides pairs of nodes as a whole in a traversal of moving or of moving and still bodies."""

    bodies: Bodies
    moving: NodeSums
    still: NodeSums
    # whether the traversal counts overlaps of members.  Otherwise it skips the pairs inside a
    # crowd, whose bodies are the members
    counts_inside: cython.bint
    n_skipped: cython.longlong  # number of skipped pairs

    def __init__(self, bodies: Bodies, moving: Nodes, still: Nodes):
        self.bodies = bodies
        self.moving = NodeSums(bodies, moving)
        self.still = NodeSums(bodies, still)

    @cython.cfunc
    def load(
        self,
        low: cython.double[:, ::1],
        high: cython.double[:, ::1],
        members: cython.longlong[::1],
        least: cython.longlong,
        asks_game: cython.int,
        counts_inside: cython.bint,
    ):
        """Begin a traversal; arguments as in `NodeSums.measure`, and `counts_inside`."""
        self.moving.measure(low, high, members, least, asks_game)
        self.still.measure(low, high, members, least, asks_game)
        self.counts_inside = counts_inside
        self.n_skipped = 0

    @cython.cfunc
    def give_out(
        self,
        counts: cython.longlong[::1],
        members: cython.longlong[::1],
        least: cython.longlong,
    ):
        """Add the overlaps that were counted for whole nodes to the counts of the bodies."""
        self.moving.give_out(counts, members, least)
        self.still.give_out(counts, members, least)

    def answers(self, one: cython.int, other: cython.int, is_within: cython.bint) -> bool:
        """Count the pairs of bodies of two nodes if possible; return whether all are decided."""
        t: RareColumns = self.bodies.rare
        first: NodeSums = self.moving
        second: NodeSums = self.moving if is_within else self.still
        n: cython.longlong = first.n_members[one]
        n_other: cython.longlong = second.n_members[other]

        if self.counts_inside:
            if n == 0 or n_other == 0 or self._are_apart(first, one, second, other):
                return True
        elif n < first.size[one] or n_other < second.size[other]:
            return False
        i: cython.longlong = first.alike[one]
        j: cython.longlong = second.alike[other]
        if i < 0 or j < 0:
            return False
        if t.is_used and not t.may_meet(i, j):
            return True
        if not self._are_inside(first, one, second, other):
            return False
        is_same: cython.bint = is_within and one == other
        if self.counts_inside:
            first.pending[one] += n_other - is_same
            if not is_same:
                second.pending[other] += n
        else:
            self.n_skipped += n * (n - 1) // 2 if is_same else n * n_other
        return True

    def _are_apart(
        self, first: NodeSums, one: cython.int, second: NodeSums, other: cython.int
    ) -> cython.bint:
        """Return whether no body of a node shares a point with a body of another node."""
        for k in range(self.bodies.dim):
            if (
                first.hull_low[one, k] > second.hull_high[other, k]
                or second.hull_low[other, k] > first.hull_high[one, k]
            ):
                return True
        return False

    def _are_inside(
        self, first: NodeSums, one: cython.int, second: NodeSums, other: cython.int
    ) -> cython.bint:
        """Return whether each body of a node overlaps each body of another, as in `Broadphase`.

        No coordinate of a body exceeds the hulls, so rounding cannot make it true for nodes and
        false for a pair.
        """
        for k in range(self.bodies.dim):
            lowest: cython.double = min(first.hull_low[one, k], second.hull_low[other, k])
            highest: cython.double = max(first.hull_high[one, k], second.hull_high[other, k])
            overlap: cython.double = min(first.core_high[one, k], second.core_high[other, k])
            overlap -= max(first.core_low[one, k], second.core_low[other, k])
            if overlap <= INSIDE * max(abs(lowest), abs(highest)) and lowest != highest:
                return False
        return True
