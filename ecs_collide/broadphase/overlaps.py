"""Find all pairs of boxes that touch, in one tree or between two: a dual-tree traversal.

The traversal descends from a pair of nodes to the pairs of their children that touch.  Within one
tree it begins with the root paired with itself.  Each pair of nodes is visited once, and no box
descends from the root on its own.

A caller that stores the pairs can search only for pairs with a *changed* item.  Each changed item
and each place above it has a mark, and pairs of places without a mark are skipped.

A caller that cannot hold all pairs at once sets `limit`.  The traversal stops after about that many
pairs, and `more_within` or `more_between` continues it.

A caller that can decide pairs of nodes as a whole sets `asks`.  `node_pairs` is then called for
each pair of nodes, and can keep the traversal from descending into it.

Invariant: the stack holds the pairs of nodes that touch and have not been visited.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.arrays import INT, LONG, grown, zeros
from ecs_collide.broadphase.nodes import Nodes
from ecs_collide.broadphase.simd import (
    ALL_LANES,
    WIDTH,
    lowest,
    lowest_of_64,
    touch,
    touching,
    touching_above,
    touching_pairs,
)

EACH_LANE: cython.ulonglong = 0x0101010101010101  # times a mask: that mask for each child of a node
ABOVE: cython.ulonglong = (
    0x0080C0E0F0F8FCFE  # of a node with itself: each child with the later ones
)


class NodePairs:
    """The decisions of a caller about pairs of nodes; the base class decides none."""

    def answers(self, one: cython.int, other: cython.int, is_within: cython.bint) -> cython.bint:
        """Return whether the search skips the pairs of items of two nodes.

        With `is_within` both are nodes of one tree, otherwise the second is of the second tree.
        """
        return False


@cython.final
class OverlapFinder:
    """A search for pairs, and its result."""

    node_pairs: Public[NodePairs]  # asked about each pair of nodes while `asks`
    asks: Public[cython.bint]
    n: Public[cython.Py_ssize_t]  # the number of pairs found
    # the traversal stops after the node in which it has found this many pairs
    limit: Public[cython.longlong]
    top: Public[cython.Py_ssize_t]  # below 0 if the last traversal is complete
    # int64: the items of pair i at 2 * i and 2 * i + 1, in the order of the traversal.  Between
    # two trees the first item is in the first tree
    found: Public[cython.longlong[::1]]
    stack: cython.int[::1]

    def __init__(self) -> None:
        self.limit = 1 << 62
        self.top = -2
        self.node_pairs = NodePairs()
        self.found = zeros(LONG, 256)
        self.stack = zeros(INT, 4096)

    @cython.ccall
    def within(self, nodes: Nodes, only_changed: cython.bint) -> None:
        """Find all pairs of items of a tree whose boxes share a point, each once.

        With `only_changed`, find only pairs with at least one marked item.
        """
        self.n = 0
        self.top = -2
        if nodes.n_items == 0:
            return
        self.stack[0] = self.stack[1] = nodes.root()
        self.top = 0
        self.more_within(nodes, only_changed)

    @cython.ccall
    def more_within(self, nodes: Nodes, only_changed: cython.bint) -> None:
        """Continue a traversal that stopped at `limit`, with an empty result."""
        box: cython.p_double = nodes.box
        lanes: cython.p_float = nodes.lanes
        origin: cython.p_double = nodes.origin
        dim: cython.Py_ssize_t = nodes.dim
        still: cython.uint = 0  # children of `one` that have not changed
        top: cython.Py_ssize_t = self.top

        self.n = 0
        while top >= 0 and self.n < self.limit:
            one: cython.int = self.stack[top]
            other: cython.int = self.stack[top + 1]
            top -= 2
            if self.asks and self.node_pairs.answers(one, other, True):
                continue
            # Changed children of `one` with all of `other`, then unchanged with changed ones.
            mask: cython.uint = ALL_LANES >> (WIDTH - nodes.count[one])
            mask2: cython.uint = 0
            if only_changed:
                still = mask & ~nodes.changed[one]
                mask &= nodes.changed[one]
                if still:
                    mask2 = nodes.changed[other] & ALL_LANES >> (WIDTH - nodes.count[other])
            found2: cython.ulonglong = 0
            if one == other and not only_changed:
                found: cython.ulonglong = touching_above(box, one, mask, lanes, dim)
            elif one == other:
                found = touching_pairs(box, one, mask, lanes, origin, box, one, dim)
                found &= ABOVE | still * EACH_LANE
            else:
                # With one or two changed children, comparing them at once is faster than first
                # comparing them with the bounds of the other node.
                rest: cython.uint = mask & (mask - 1)
                if rest & (rest - 1):
                    mask &= touching(
                        lanes, origin, box, one, box, 2 * dim * nodes.place[other], dim
                    )
                found = touching_pairs(box, one, mask, lanes, origin, box, other, dim)
                if mask2:
                    found2 = touching_pairs(box, other, mask2, lanes, origin, box, one, dim)
                    found2 &= still * EACH_LANE
            if nodes.level[one] == 0:
                if found:
                    self._add_items(nodes, one, nodes, other, found, only_changed)
                if found2:
                    self._add_items(nodes, other, nodes, one, found2, only_changed)
                continue
            self._make_room_to_push(top)
            if one == other:
                while mask:
                    top += 2
                    self.stack[top] = nodes.child[WIDTH * one + lowest(mask)]
                    self.stack[top + 1] = self.stack[top]
                    mask &= mask - 1
            top = self._push(nodes, one, nodes, other, found, top)
            if found2:
                top = self._push(nodes, other, nodes, one, found2, top)
        self.top = top

    @cython.ccall
    def between(self, nodes: Nodes, nodes2: Nodes) -> None:
        """Find all pairs of an item of one tree and an item of another whose boxes touch."""
        self.n = 0
        self.top = -2
        if nodes.n_items == 0 or nodes2.n_items == 0:
            return
        self.stack[0] = nodes.root()
        self.stack[1] = nodes2.root()
        self.top = 0
        self.more_between(nodes, nodes2)

    @cython.ccall
    def more_between(self, nodes: Nodes, nodes2: Nodes) -> None:
        """Continue a traversal that stopped at `limit`, with an empty result."""
        box: cython.p_double = nodes.box
        box2: cython.p_double = nodes2.box
        dim: cython.Py_ssize_t = nodes.dim
        top: cython.Py_ssize_t = self.top

        self.n = 0
        while top >= 0 and self.n < self.limit:
            one: cython.int = self.stack[top]
            other: cython.int = self.stack[top + 1]
            top -= 2
            if self.asks and self.node_pairs.answers(one, other, False):
                continue
            self._make_room_to_push(top)
            # Descend into the higher node, or into both on one level, unless no child of the
            # lower one touches the higher one, as with walls that surround a crowd.
            if nodes.level[one] < nodes2.level[other]:
                mask: cython.uint = touching(
                    nodes2.lanes, nodes2.origin, box2, other, box, 2 * dim * nodes.place[one], dim
                )
                while mask:
                    top += 2
                    self.stack[top] = one
                    self.stack[top + 1] = nodes2.child[WIDTH * other + lowest(mask)]
                    mask &= mask - 1
                continue
            mask = touching(
                nodes.lanes, nodes.origin, box, one, box2, 2 * dim * nodes2.place[other], dim
            )
            if nodes.level[one] > nodes2.level[other]:
                if not touching(
                    nodes2.lanes, nodes2.origin, box2, other, box, 2 * dim * nodes.place[one], dim
                ):
                    continue
                while mask:
                    top += 2
                    self.stack[top] = nodes.child[WIDTH * one + lowest(mask)]
                    self.stack[top + 1] = other
                    mask &= mask - 1
                continue
            found: cython.ulonglong = touching_pairs(
                box, one, mask, nodes2.lanes, nodes2.origin, box2, other, dim
            )
            if nodes.level[one] > 0:
                top = self._push(nodes, one, nodes2, other, found, top)
            else:
                self._add_items(nodes, one, nodes2, other, found, False)
        self.top = top

    def _make_room_to_push(self, top: cython.Py_ssize_t) -> cython.void:
        """Make room on the stack for all pairs of children of two nodes."""
        if top + 4 * WIDTH * WIDTH > self.stack.shape[0]:
            self.stack = grown(self.stack, 2 * self.stack.shape[0])

    def _push(
        self,
        nodes: Nodes,
        one: cython.int,
        nodes2: Nodes,
        other: cython.int,
        found: cython.ulonglong,
        top: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Push the pairs of children of two branches whose bits are in `found`; return the top."""
        while found:
            bit: cython.int = lowest_of_64(found)
            found &= found - 1
            top += 2
            self.stack[top] = nodes.child[WIDTH * one + (bit >> 3)]
            self.stack[top + 1] = nodes2.child[WIDTH * other + (bit & 7)]
        return top

    def _add_items(
        self,
        nodes: Nodes,
        one: cython.int,
        nodes2: Nodes,
        other: cython.int,
        found: cython.ulonglong,
        only_changed: cython.bint,
    ) -> cython.void:
        """Add the touching pairs of items of two leaves among the pairs with a bit in `found`."""
        dim: cython.Py_ssize_t = nodes.dim
        n: cython.Py_ssize_t = self.n

        if 2 * (n + WIDTH * WIDTH) > self.found.shape[0]:
            self.found = grown(self.found, 2 * self.found.shape[0])
        while found:
            bit: cython.int = lowest_of_64(found)
            found &= found - 1
            place: cython.int = WIDTH * one + (bit >> 3)
            place2: cython.int = WIDTH * other + (bit & 7)
            child: cython.int = nodes.child[place]
            child2: cython.int = nodes2.child[place2]
            hit: cython.bint = touch(nodes.box, 2 * dim * place, nodes2.box, 2 * dim * place2, dim)
            if only_changed:
                hit &= nodes.is_changed[child] | nodes2.is_changed[child2]
            # Written without a branch; the next pair overwrites a pair that is no hit.
            self.found[2 * n] = child
            self.found[2 * n + 1] = child2
            n += hit
        self.n = n
