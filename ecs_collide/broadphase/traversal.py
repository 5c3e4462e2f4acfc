"""Traverse a tree of boxes to find the items that touch a box, or to verify the tree.

The search keeps the nodes to visit on a stack, at most seven more for each level.
"""

from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide._kernel.arrays import INT, zeros
from ecs_collide._kernel.constants import STACK_ROOM
from ecs_collide.broadphase.nodes import Nodes
from ecs_collide.broadphase.simd import PENDING, WIDTH, lowest, touch, touching


@cython.final
class Traversal:
    """The traversals of one tree."""

    nodes: Nodes
    found: cython.longlong[::1]  # `Tree.found`, with room for all items
    stack: cython.int[::1]

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.stack = zeros(INT, STACK_ROOM)

    def find_touching(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        row: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Find the items whose boxes in the tree share a point with box `row` of two arrays.

        Writes them into `found` in the order of the tree, and returns their number.
        """
        nodes: Nodes = self.nodes
        box: cython.p_double = nodes.box
        # A local memoryview would take two atomic instructions.
        stack: cython.p_int = cython.address(self.stack[0]) if cython.compiled else self.stack
        dim: cython.Py_ssize_t = nodes.dim
        n: cython.Py_ssize_t = 0
        top: cython.Py_ssize_t = 0

        if nodes.n_items == 0:
            return 0
        for k in range(dim):
            box[2 * dim * PENDING + k] = mins[dim * row + k]
            box[2 * dim * PENDING + dim + k] = maxs[dim * row + k]
        stack[0] = nodes.root()
        while top >= 0:
            node: cython.int = stack[top]
            top -= 1
            mask: cython.uint = touching(
                nodes.lanes, nodes.origin, box, node, box, 2 * dim * PENDING, dim
            )
            while mask:
                place: cython.Py_ssize_t = WIDTH * node + lowest(mask)
                mask &= mask - 1
                if nodes.level[node] > 0:
                    top += 1
                    stack[top] = nodes.child[place]
                elif touch(box, 2 * dim * place, box, 2 * dim * PENDING, dim):
                    self.found[n] = nodes.child[place]
                    n += 1
        return n

    @cython.cfunc
    def verify(self) -> None:
        """Verify every invariant of the tree.  O(n).

        Reads only, so that it can run in one thread while another one changes the tree.
        """
        nodes: Nodes = self.nodes
        seen: list = []  # the nodes of the tree
        n_items: cython.Py_ssize_t = 0
        n_free: cython.Py_ssize_t = 0

        if nodes.n_items > 0:
            _hold(nodes.place[nodes.root()] == 0, "node 0 holds the root", nodes.root())
            n_items = self._verify_from(nodes.root(), seen)
        _hold(n_items == nodes.n_items, "all items are in the tree", -1)
        _hold(len(seen) == nodes.n_nodes, "all nodes in use are in the tree", -1)
        node: cython.int = nodes.first_free
        while node >= 0:
            n_free += 1
            _hold(nodes.level[node] == -1, "a free node is not in use", node)
            node = nodes.place[node]
        n_nodes: cython.Py_ssize_t = len(seen)
        _hold(
            n_nodes + n_free == max(nodes.node_room - 1, 0), "every node is in the tree or free", -1
        )
        for k in range(nodes.item_room):
            n_items -= nodes.place_of[k] >= 0
        _hold(n_items == 0, "no other item has a place", -1)

    def _verify_from(self, node: cython.int, seen: list) -> cython.Py_ssize_t:
        """Verify a node and all below it, append these to `seen`; return the number of items."""
        nodes: Nodes = self.nodes
        dim: cython.Py_ssize_t = nodes.dim
        n_items: cython.Py_ssize_t = 0

        seen.append(node)
        _hold(0 < nodes.count[node] <= WIDTH, "one to eight children", node)
        _hold(nodes.level[node] >= 0, "a free node is not in use", node)
        for lane in range(nodes.count[node]):
            place: cython.Py_ssize_t = WIDTH * node + lane
            child: cython.int = nodes.child[place]
            at: cython.Py_ssize_t = 2 * dim * place
            for k in range(at, at + dim):
                _hold(nodes.box[k] <= nodes.box[k + dim], "min <= max", node)
            mask: cython.uint = touching(
                nodes.lanes, nodes.origin, nodes.box, node, nodes.box, at, dim
            )
            _hold(mask >> lane & 1, "the box of each child is found", node)
            if nodes.level[node] == 0:
                n_items += 1
                _hold(nodes.holds(child), "the items of a node are in the tree", node)
                _hold(nodes.place_of[child] == place, "an item knows its place", node)
                if nodes.is_changed[child]:
                    _hold(self._is_change_marked(place), "changes are noted all the way up", node)
            else:
                _hold(nodes.place[child] == place, "a node knows its place", node)
                _hold(nodes.level[child] == nodes.level[node] - 1, "one level down", node)
                n_items += self._verify_from(child, seen)
        _hold(nodes.has_tight_bounds(node), "bounds are those of the children", node)
        return n_items

    def _is_change_marked(self, place: cython.Py_ssize_t) -> cython.bint:
        """Return whether a place and all places above it are marked as changed."""
        while place >= WIDTH:
            if not self.nodes.changed[place >> 3] >> (place & 7) & 1:
                return False
            place = self.nodes.place[place >> 3]
        return True


@cython.cfunc
def _hold(holds: cython.bint, invariant: str, node: cython.int) -> None:
    if not holds:
        where = f" at node {node}" if node >= 0 else ""
        raise AssertionError(f"the tree is broken{where}: {invariant}")
