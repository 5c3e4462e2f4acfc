"""Find all pairs of boxes that touch, in one tree or between two, by walking both at once.

A walk goes down from a pair of nodes to the pairs of their children that
touch.  Where it began with one node twice, to the children of that.  So each
pair of nodes is met once, and no box is sent down from the root.

Who asks again and again may keep the pairs it has been told and ask only for
those with a box that has *changed*: each item and, above it, each place in the
nodes has a mark, and what has none on either side is passed over.

Who cannot hold all pairs at once sets `limit`: a walk stops when it has found
about so many, and goes on when asked.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.nodes_c import Nodes
    from cython.cimports.ecs_collide.broadphase.simd_c import (
        ALL_LANES,
        WIDTH,
        lowest,
        lowest_of_64,
        touch,
        touching,
        touching_pairs,
    )
else:
    from ecs_collide.broadphase.nodes import Nodes
    from ecs_collide.broadphase.simd import (
        ALL_LANES,
        WIDTH,
        lowest,
        lowest_of_64,
        touch,
        touching,
        touching_pairs,
    )

from ecs_collide.motion.arrays import INT, LONG, grown, zeros

cython.declare(EACH_LANE=cython.ulonglong, ABOVE=cython.ulonglong)
EACH_LANE = 0x0101010101010101  # times a mask: that mask for each child of a node
ABOVE = 0x0080C0E0F0F8FCFE  # of a node with itself: each child with those after it


@cython.final
@cython.cclass
class OverlapFinder:
    """A search for pairs, and what it found.

    Attributes
    ----------
    n : int
        The number of pairs found.
    found : memoryview
        int64: the items of pair i at 2 * i and 2 * i + 1, in the order of the
        walk.  Between two trees the first is of the first tree.
    most : int
        A walk that has found so many stops after the node it is in.
    top : int
        Below 0 where the last walk has come to its end.
    """

    def __init__(self) -> None:
        self.n = 0
        self.limit = 1 << 62
        self.top = -2
        self.found = zeros(LONG, 256)
        self.stack = zeros(INT, 4096)

    @cython.ccall
    def within(self, nodes: Nodes, only_changed: cython.bint) -> None:
        """Find all pairs of items of a tree whose boxes touch (closed), each once.

        With `only_changed`, those of which at least one item is marked.
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
        """Go on with a walk that has stopped at `limit`; forget what it had found."""
        box: cython.p_double = nodes.box
        lanes: cython.p_float = nodes.lanes
        origin: cython.p_double = nodes.origin
        children: cython.p_int = nodes.child
        is_changed: cython.p_int = nodes.is_changed
        dim: cython.Py_ssize_t = nodes.dim
        stack: cython.int[::1] = self.stack
        pairs: cython.longlong[::1] = self.found
        n: cython.Py_ssize_t = 0
        changed: cython.uint = ALL_LANES
        still: cython.uint = 0  # children of `one` that have not changed
        limit: cython.longlong = self.limit
        top: cython.Py_ssize_t = self.top

        while top >= 0 and n < limit:
            one: cython.int = stack[top]
            other: cython.int = stack[top + 1]
            top -= 2
            # What has changed in `one` with all of `other`, then what has not with what has there.
            mask: cython.uint = ALL_LANES >> (WIDTH - nodes.count[one])
            mask2: cython.uint = 0
            if only_changed:
                changed = nodes.changed[one] & mask
                still = mask ^ changed
                mask = changed
                if still:
                    mask2 = nodes.changed[other] & ALL_LANES >> (WIDTH - nodes.count[other])
            found2: cython.ulonglong = 0
            if one == other:
                found: cython.ulonglong = touching_pairs(
                    box, one, mask, lanes, origin, box, one, dim
                )
                found &= ABOVE | still * EACH_LANE
            else:
                # Few that have changed are quicker compared than looked up in the bounds of the
                # other node, which stand where that hangs.
                rest: cython.uint = mask & (mask - 1)
                if rest & (rest - 1):
                    mask &= touching(
                        lanes, origin, box, one, box, 2 * dim * nodes.place[other], dim
                    )
                found = touching_pairs(box, one, mask, lanes, origin, box, other, dim)
                if mask2:
                    found2 = touching_pairs(box, other, mask2, lanes, origin, box, one, dim)
                    found2 &= still * EACH_LANE
                    if not found:
                        found, found2 = found2, found
                        one, other = other, one
            if nodes.level[one] == 0:
                if 2 * (n + WIDTH * WIDTH) > pairs.shape[0]:
                    self.found = grown(self.found, 2 * pairs.shape[0])
                    pairs = self.found
                while found:
                    bit: cython.int = lowest_of_64(found)
                    found &= found - 1
                    place: cython.int = WIDTH * one + (bit >> 3)
                    place2: cython.int = WIDTH * other + (bit & 7)
                    child: cython.int = children[place]
                    child2: cython.int = children[place2]
                    hit: cython.bint = touch(box, 2 * dim * place, box, 2 * dim * place2, dim)
                    if only_changed:
                        hit &= is_changed[child] | is_changed[child2]
                    # Written in any case, and overwritten by the next where it is no hit.
                    pairs[2 * n] = child
                    pairs[2 * n + 1] = child2
                    n += hit
                    if not found:
                        found, found2 = found2, found
                        one, other = other, one
                continue
            if top + 4 * WIDTH * WIDTH > self.stack.shape[0]:
                self.stack = grown(self.stack, 2 * self.stack.shape[0])
                stack = self.stack
            if one == other:
                while mask:
                    top += 2
                    stack[top] = stack[top + 1] = children[WIDTH * one + lowest(mask)]
                    mask &= mask - 1
            while found:
                bit = lowest_of_64(found)
                found &= found - 1
                top += 2
                stack[top] = children[WIDTH * one + (bit >> 3)]
                stack[top + 1] = children[WIDTH * other + (bit & 7)]
                if not found:
                    found, found2 = found2, found
                    one, other = other, one
        self.n = n
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
        """Go on with a walk that has stopped at `limit`; forget what it had found."""
        box: cython.p_double = nodes.box
        box2: cython.p_double = nodes2.box
        dim: cython.Py_ssize_t = nodes.dim
        stack: cython.int[::1] = self.stack
        top: cython.Py_ssize_t = self.top

        self.n = 0
        while top >= 0 and self.n < self.limit:
            one: cython.int = stack[top]
            other: cython.int = stack[top + 1]
            top -= 2
            if top + 4 * WIDTH * WIDTH > self.stack.shape[0]:
                self.stack = grown(self.stack, 2 * self.stack.shape[0])
                stack = self.stack
            # The higher of the two is opened, or both; unless all that is in the lower one lies
            # outside it, as walls do that surround a crowd.
            if nodes.level[one] < nodes2.level[other]:
                mask: cython.uint = touching(
                    nodes2.lanes, nodes2.origin, box2, other, box, 2 * dim * nodes.place[one], dim
                )
                while mask:
                    top += 2
                    stack[top] = one
                    stack[top + 1] = nodes2.child[WIDTH * other + lowest(mask)]
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
                    stack[top] = nodes.child[WIDTH * one + lowest(mask)]
                    stack[top + 1] = other
                    mask &= mask - 1
                continue
            self._make_room()
            found: cython.ulonglong = touching_pairs(
                box, one, mask, nodes2.lanes, nodes2.origin, box2, other, dim
            )
            while found:
                bit: cython.int = lowest_of_64(found)
                found &= found - 1
                place: cython.int = WIDTH * one + (bit >> 3)
                place2: cython.int = WIDTH * other + (bit & 7)
                if nodes.level[one] > 0:
                    top += 2
                    stack[top] = nodes.child[place]
                    stack[top + 1] = nodes2.child[place2]
                elif touch(box, 2 * dim * place, box2, 2 * dim * place2, dim):
                    self._add(nodes.child[place], nodes2.child[place2])
        self.top = top

    @cython.cfunc
    @cython.inline
    def _make_room(self) -> cython.void:
        """Make room for as many pairs as two nodes can have."""
        if 2 * (self.n + WIDTH * WIDTH) > self.found.shape[0]:
            self.found = grown(self.found, 2 * self.found.shape[0])

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _add(self, one: cython.int, other: cython.int) -> cython.void:
        self.found[2 * self.n] = one
        self.found[2 * self.n + 1] = other
        self.n += 1
