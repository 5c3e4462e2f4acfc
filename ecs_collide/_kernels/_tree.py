# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A dynamic tree of axis-aligned boxes: the bounds of items, found by where they are.

*Items* are small non-negative ints, the rows of whoever owns the tree.  Every
item has a leaf with its bounds; a branch has two children and bounds that
hold theirs.  Nothing here recurses: all walks use one explicit stack.

Why this balance
----------------
A leaf goes down to the leaf beside which the bounds grow least (perimeter in
2D, surface in 3D), and they become siblings.  Then, on the way up, three
things are done to each branch, as far up as anything changes:

- A branch whose children differ in height by 2 is *rotated*: the taller child
  takes its place.  The children of a branch thus never differ by more than 1,
  which is the AVL condition, and bounds the height of n leaves by
  1.44 * log2(n) for any input: sorted rows, identical boxes, points.  Balance
  by area alone has no such bound.
- Its bounds and height are set anew.
- Its grandchildren are *regrouped* where that makes its children smaller and
  no height illegal.  The AVL condition alone leaves a tree whose queries cost
  three to six times as much; this costs 0.1 microseconds an insertion.

Two trees that were given the same calls in the same order are the same.

Notes
-----
The AVL condition: Adelson-Velsky and Landis (1962).  One rotation is always
enough here, because the children of a branch have no order: the taller
grandchild stays high, whichever it is.  Descent by surface: Goldsmith and
Salmon, "Automatic Creation of Object Hierarchies for Ray Tracing" (1987).
Regrouping: Kopta et al., "Fast, Effective BVH Updates for Animated Scenes"
(2012), here only where AVL allows it.

Callers answer for finite boxes with min <= max and arrays with enough rows.
"""

from __future__ import annotations

import numpy as np

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.libc.stdlib import free, realloc

cython.declare(
    MOST_ITEMS=cython.Py_ssize_t,
    TOO_BIG=cython.double,
    BUILD_SHARE=cython.Py_ssize_t,
    PUTS_SHARE=cython.Py_ssize_t,
    HASH=cython.longlong,
    LOW_32_BITS=cython.longlong,
    INF=cython.double,
)

MOST_ITEMS = 2**30  # nodes are numbered by 32 bits
TOO_BIG = 4.0  # bounds with more than this times the perimeter or surface they need are renewed
BUILD_SHARE = 8  # laying out the whole tree costs as much as reinserting one in so many
PUTS_SHARE = 2  # laid out anew after putting one in so many
HASH = 2654435769  # 2**32 / golden ratio: spreads neighbouring items evenly
LOW_32_BITS = 0xFFFFFFFF
INF = float("inf")


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _cost(
    box: cython.p_double, dim: cython.Py_ssize_t, one: cython.int, other: cython.int
) -> cython.double:
    """Return half the perimeter (2D) or surface (3D) of the box around two nodes."""
    p: cython.Py_ssize_t = 2 * dim * one
    q: cython.Py_ssize_t = 2 * dim * other
    x: cython.double = max(box[p + dim], box[q + dim]) - min(box[p], box[q])
    y: cython.double = max(box[p + dim + 1], box[q + dim + 1]) - min(box[p + 1], box[q + 1])
    z: cython.double

    if dim == 2:
        return x + y
    z = max(box[p + 5], box[q + 5]) - min(box[p + 2], box[q + 2])
    return x * y + y * z + z * x


@cython.final
@cython.cclass
class Tree:
    """A dynamic tree over items and their bounds.

    Parameters
    ----------
    dim : int
        2 or 3.
    capacity : int
        Number of items to reserve room for; the tree grows beyond it.

    Attributes
    ----------
    dim, n_items : int
    found : memoryview
        int64, shape (room,): the answer of the last `touching`, `overlapping`
        or `pairs`.  Overwritten by the next one and by `build` and `renew`.
    """

    def __init__(self, dim: cython.Py_ssize_t, capacity: cython.Py_ssize_t = 0) -> None:
        if not cython.compiled:
            self.box = []
            self.child = []
            self.parent = []
            self.height = []
            self.leaf_of = []
            self.stack = [0] * 256
            self.start = [0.0] * 3
            self.path = [0.0] * 3
            self.tight = [0.0] * 6
            self.line = []
            self.twice_middle = []
            self.node_room = 0
            self.item_room = 0
        if dim != 2 and dim != 3:
            raise ValueError(f"dim={dim} must be 2 or 3")
        if self.node_room > 0:
            raise TypeError("a tree is made once")
        self.dim = dim
        self.n_items = 0
        self.n_puts = 0
        self.root = -1
        self.first_free = -1
        self.found = memoryview(np.zeros(0, np.int64))
        self._make_room(2 * max(capacity, 8), max(capacity, 8))

    def __dealloc__(self) -> None:
        if cython.compiled:
            free(self.box)
            free(self.child)
            free(self.parent)
            free(self.height)
            free(self.leaf_of)
            free(self.line)
            free(self.twice_middle)

    # Items

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def put(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Make box `row` of two arrays the bounds of an item; tell whether it is new.  O(log n)."""
        is_new: cython.bint = not self.holds(item)

        if not is_new:
            self._detach(self.leaf_of[item])
        self._store(item, mins, maxs, row)
        self._attach(self.leaf_of[item])
        self.n_puts += 1
        if PUTS_SHARE * self.n_puts > self.n_items:
            self._lay_out()
        return is_new

    @cython.ccall
    @cython.exceptval(check=False)
    def drop(self, item: cython.Py_ssize_t) -> cython.bint:
        """Take an item out; tell whether it was there.  O(log n)."""
        leaf: cython.int

        if not self.holds(item):
            return False
        leaf = self.leaf_of[item]
        self._detach(leaf)
        self._free_node(leaf)
        self.leaf_of[item] = -1
        self.n_items -= 1
        return True

    @cython.ccall
    @cython.exceptval(check=False)
    def holds(self, item: cython.Py_ssize_t) -> cython.bint:
        """Tell whether an item is in the tree."""
        return 0 <= item < self.item_room and self.leaf_of[item] >= 0

    @cython.ccall
    @cython.exceptval(check=False)
    def covers(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Tell whether an item's bounds contain box `row` of two arrays (closed)."""
        dim: cython.Py_ssize_t = self.dim
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t

        if not self.holds(item):
            return False
        at = 2 * dim * self.leaf_of[item]
        for k in range(dim):
            if mins[row, k] < self.box[at + k] or maxs[row, k] > self.box[at + dim + k]:
                return False
        return True

    @cython.ccall
    @cython.exceptval(check=False)
    def exceeds(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
        times: cython.double,
    ) -> cython.bint:
        """Tell whether an item's bounds have more than so many times the perimeter of a box.

        In 3D the surface counts.
        """
        leaf: cython.int
        x: cython.double = maxs[row, 0] - mins[row, 0]
        y: cython.double = maxs[row, 1] - mins[row, 1]
        z: cython.double
        cost: cython.double = x + y

        if not self.holds(item):
            return False
        leaf = self.leaf_of[item]
        if self.dim == 3:
            z = maxs[row, 2] - mins[row, 2]
            cost = x * y + y * z + z * x
        return _cost(self.box, self.dim, leaf, leaf) > times * cost

    @cython.ccall
    @cython.exceptval(check=False)
    def bounds_into(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Write an item's bounds into box `row` of two arrays; tell whether it has any."""
        dim: cython.Py_ssize_t = self.dim
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t

        if not self.holds(item):
            return False
        at = 2 * dim * self.leaf_of[item]
        for k in range(dim):
            mins[row, k] = self.box[at + k]
            maxs[row, k] = self.box[at + dim + k]
        return True

    def build(
        self,
        items: cython.longlong[::1],
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
    ) -> None:
        """Make box i of two arrays the bounds of items[i], and lay out the whole tree anew.

        The tree becomes as flat as a binary tree can be, and quick to walk.
        O(n log n) for the n items then in the tree.
        """
        i: cython.Py_ssize_t

        for i in range(items.shape[0]):
            self._store(items[i], mins, maxs, i)
        self._lay_out()

    def renew(
        self,
        items: cython.longlong[::1],
        swept_min: cython.double[:, ::1],
        swept_max: cython.double[:, ::1],
        motions: cython.double[:, ::1],
        margin: cython.double,
        lookahead: cython.double,
        fat_min: cython.double[:, ::1],
        fat_max: cython.double[:, ::1],
        renewed: cython.schar[::1],
    ) -> int:
        """Give fresh fat bounds to the items that escape theirs or need far smaller ones.

        Row i of all arrays belongs to items[i].  `fat_min` and `fat_max` are
        written with the bounds that the items then have, `renewed` with 1
        where they are fresh; returns the number of those.
        """
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        item: cython.Py_ssize_t

        for i in range(items.shape[0]):
            item = items[i]
            fatten(item, swept_min, swept_max, motions, i, margin, lookahead, fat_min, fat_max)
            renewed[i] = not self.covers(item, swept_min, swept_max, i) or self.exceeds(
                item, fat_min, fat_max, i, TOO_BIG
            )
            if renewed[i]:
                n += 1
            else:
                self.bounds_into(item, fat_min, fat_max, i)
        if BUILD_SHARE * n > self.n_items:
            for i in range(items.shape[0]):
                if renewed[i]:
                    self._store(items[i], fat_min, fat_max, i)
            self._lay_out()
        else:
            for i in range(items.shape[0]):
                if renewed[i]:
                    self.put(items[i], fat_min, fat_max, i)
        return n

    # Queries

    @cython.ccall
    @cython.exceptval(check=False)
    def touching(
        self,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Find the items whose bounds share a point with box `row` of two arrays (closed).

        Returns their number n; `found[:n]` holds them in the tree's order.
        O(log n) and the number found.
        """
        box: cython.p_double = self.box
        child: cython.p_int = self.child
        stack: cython.p_int = self.stack
        found: cython.longlong[::1] = self.found
        dim: cython.Py_ssize_t = self.dim
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        node: cython.int
        top: cython.int = 0

        if self.n_items == 0:
            return 0
        stack[0] = self.root
        while top >= 0:
            node = stack[top]
            top -= 1
            at = 2 * dim * node
            for k in range(dim):
                if box[at + k] > maxs[row, k] or box[at + dim + k] < mins[row, k]:
                    break
            else:
                if child[2 * node] < 0:
                    found[n] = child[2 * node + 1]
                    n += 1
                else:
                    stack[top + 1] = child[2 * node + 1]
                    stack[top + 2] = child[2 * node]
                    top += 2
        return n

    @cython.ccall
    @cython.exceptval(check=False)
    def overlapping(
        self,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
        tight_min: cython.double[:, ::1],
        tight_max: cython.double[:, ::1],
    ) -> cython.Py_ssize_t:
        """Find the items whose own boxes share a point with box `row` of two arrays (closed).

        As `touching`, but by the boxes in row `item` of `tight_min` and
        `tight_max`, which lie inside the bounds.
        """
        found: cython.longlong[::1] = self.found
        dim: cython.Py_ssize_t = self.dim
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        item: cython.longlong

        for i in range(self.touching(mins, maxs, row)):
            item = found[i]
            for k in range(dim):
                if tight_min[item, k] > maxs[row, k] or tight_max[item, k] < mins[row, k]:
                    break
            else:
                found[n] = item
                n += 1
        return n

    def pairs(self, tight_min: cython.double[:, ::1], tight_max: cython.double[:, ::1]) -> int:
        """Find all pairs of items whose own boxes share a point (closed), each once.

        The boxes are in row `item` of `tight_min` and `tight_max`.  Returns
        the number of pairs n; `found[:2 * n]` holds them one after another,
        in the tree's order.
        """
        box: cython.p_double = self.box
        child: cython.p_int = self.child
        height: cython.p_int = self.height
        stack: cython.p_int = self.stack
        found: cython.longlong[::1] = self.found
        dim: cython.Py_ssize_t = self.dim
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        first: cython.int
        second: cython.int
        top: cython.int = 0

        if self.n_items == 0:
            return 0
        stack[0] = stack[1] = self.root
        while top >= 0:
            first = stack[top]
            second = stack[top + 1]
            top -= 2
            if first == second:
                if child[2 * first] >= 0:
                    stack[top + 2] = stack[top + 3] = child[2 * first]
                    stack[top + 4] = stack[top + 5] = child[2 * first + 1]
                    stack[top + 6] = child[2 * first]
                    stack[top + 7] = child[2 * first + 1]
                    top += 6
                continue
            p = 2 * dim * first
            q = 2 * dim * second
            for k in range(dim):
                if box[p + k] > box[q + dim + k] or box[p + dim + k] < box[q + k]:
                    break
            else:
                if height[first] < height[second]:
                    first, second = second, first
                if height[first] > 0:
                    stack[top + 2] = child[2 * first]
                    stack[top + 3] = stack[top + 5] = second
                    stack[top + 4] = child[2 * first + 1]
                    top += 4
                    continue
                p = child[2 * first + 1]
                q = child[2 * second + 1]
                for k in range(dim):
                    if tight_min[p, k] > tight_max[q, k] or tight_max[p, k] < tight_min[q, k]:
                        break
                else:
                    if 2 * n + 2 > found.shape[0]:
                        grown = np.zeros(2 * len(found) + 2, np.int64)
                        grown[: len(found)] = found
                        found = self.found = memoryview(grown)
                    found[2 * n] = p
                    found[2 * n + 1] = q
                    n += 1
        return n

    def ray(
        self,
        origin: cython.double[::1],
        direction: cython.double[::1],
        tight_min: cython.double[:, ::1],
        tight_max: cython.double[:, ::1],
        ids: cython.longlong[::1],
        hit: cython.double[::1],
    ) -> int:
        """Find the item whose own box (closed) a ray meets first; -1 if there is none.

        The ray goes from `origin` to `origin + direction`, and `time` is the
        fraction of that way.  Where several are met at once, the least id in
        row `item` of `ids` wins.  `hit`, shape (1 + 2 * dim,), is written with
        the time, the point, and the normal of the face that is met; the
        normal is 0 where the ray begins inside the box or leaves it at once.
        """
        box: cython.p_double = self.box
        child: cython.p_int = self.child
        stack: cython.p_int = self.stack
        dim: cython.Py_ssize_t = self.dim
        k: cython.Py_ssize_t
        item: cython.Py_ssize_t
        nearest: cython.Py_ssize_t = -1
        left: cython.Py_ssize_t
        right: cython.Py_ssize_t
        node: cython.int
        top: cython.int = 0
        time: cython.double
        least: cython.double = 1.0
        ahead: cython.double
        face: cython.double

        if self.n_items == 0:
            return -1
        for k in range(dim):
            self.start[k] = origin[k]
            self.path[k] = direction[k]
        stack[0] = self.root
        while top >= 0:
            node = stack[top]
            top -= 1
            if self._entry(box, 2 * dim * node) > least:
                continue
            if child[2 * node] < 0:
                item = child[2 * node + 1]
                for k in range(dim):
                    self.tight[k] = tight_min[item, k]
                    self.tight[dim + k] = tight_max[item, k]
                time = self._entry(self.tight, 0)
                if time < least or (
                    time == least and (nearest < 0 or ids[item] < ids[nearest])
                ):
                    least = time
                    nearest = item
                continue
            # The child that lies further back along the ray goes on top: it is looked at first.
            left = 2 * dim * child[2 * node]
            right = 2 * dim * child[2 * node + 1]
            ahead = 0.0
            for k in range(dim):
                ahead += self.path[k] * (box[left + k] - box[right + k])
                ahead += self.path[k] * (box[left + dim + k] - box[right + dim + k])
            stack[top + 1] = child[2 * node] if ahead > 0.0 else child[2 * node + 1]
            stack[top + 2] = child[2 * node + 1] if ahead > 0.0 else child[2 * node]
            top += 2
        if nearest < 0:
            return -1
        hit[0] = least
        item = -1
        for k in range(dim):
            hit[1 + k] = origin[k] + least * direction[k]
            hit[1 + dim + k] = 0.0
            if direction[k] != 0.0:
                face = tight_min[nearest, k] if direction[k] > 0.0 else tight_max[nearest, k]
                time = (face - origin[k]) / direction[k]
                if time == least and item < 0:
                    item = k
        if item >= 0:
            hit[1 + item] = (
                tight_min[nearest, item] if direction[item] > 0.0 else tight_max[nearest, item]
            )
            hit[1 + dim + item] = -1.0 if direction[item] > 0.0 else 1.0
        return nearest

    @cython.cfunc
    @cython.exceptval(check=False)
    def _entry(self, box: cython.p_double, at: cython.Py_ssize_t) -> cython.double:
        """Return when the ray is first in a closed box, at 0 or later; inf for never.

        Rounding keeps order in each operation, so a box that holds another is
        never entered later than that one.
        """
        dim: cython.Py_ssize_t = self.dim
        k: cython.Py_ssize_t
        first: cython.double
        last: cython.double
        enter: cython.double = 0.0
        leave: cython.double = INF

        for k in range(dim):
            if self.path[k] == 0.0:
                if self.start[k] < box[at + k] or self.start[k] > box[at + dim + k]:
                    return INF
                continue
            first = (box[at + k] - self.start[k]) / self.path[k]
            last = (box[at + dim + k] - self.start[k]) / self.path[k]
            if self.path[k] < 0.0:
                first, last = last, first
            enter = max(enter, first)
            leave = min(leave, last)
        return enter if enter <= leave else INF

    # What the tree says about itself

    @property
    def depth(self) -> int:
        """The number of branches above the deepest leaf."""
        return self.height[self.root] if self.n_items > 0 else 0

    @property
    def n_nodes(self) -> int:
        """The number of leaves and branches."""
        return max(2 * self.n_items - 1, 0)

    def cost(self) -> float:
        """Return the sum of half the perimeters (2D) or surfaces (3D) of all branches."""
        total: cython.double = 0.0
        node: cython.Py_ssize_t

        for node in range(self.node_room):
            if self.height[node] > 0:
                total += _cost(self.box, self.dim, node, node)
        return total

    def check(self) -> None:
        """Verify every invariant of the tree.  O(n).

        Raises
        ------
        AssertionError
            One does not hold; the message says which and where.
        """
        dim: cython.Py_ssize_t = self.dim
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n_nodes: cython.Py_ssize_t = 0
        n_items: cython.Py_ssize_t = 0
        node: cython.int
        left: cython.int
        right: cython.int
        top: cython.int = -1

        if self.n_items > 0:
            _hold(self.parent[self.root] == -1, "the root has no parent", self.root)
            top = 0
            self.stack[0] = self.root
        while top >= 0:
            node = self.stack[top]
            top -= 1
            n_nodes += 1
            at = 2 * dim * node
            for k in range(dim):
                _hold(self.box[at + k] <= self.box[at + dim + k], "min <= max", node)
            left = self.child[2 * node]
            right = self.child[2 * node + 1]
            if left < 0:
                n_items += 1
                _hold(self.height[node] == 0, "a leaf has height 0", node)
                _hold(self.holds(right), "a leaf's item is in the tree", node)
                _hold(self.leaf_of[right] == node, "an item knows its leaf", node)
                continue
            _hold(left != right, "children are two", node)
            _hold(self.parent[left] == node, "the left child knows its parent", node)
            _hold(self.parent[right] == node, "the right child knows its parent", node)
            _hold(-1 <= self.height[left] - self.height[right] <= 1, "balance", node)
            _hold(not self._refit(node), "height and bounds follow from the children", node)
            self.stack[top + 1] = right
            self.stack[top + 2] = left
            top += 2
        _hold(n_items == self.n_items, "all items hang in the tree", -1)
        node = self.first_free
        while node >= 0:
            n_nodes += 1
            _hold(self.height[node] == -1, "a free node is not in use", node)
            node = self.parent[node]
        _hold(n_nodes == self.node_room, "every node is in the tree or free", -1)
        for k in range(self.item_room):
            n_items -= self.leaf_of[k] >= 0
        _hold(n_items == 0, "no other item has a leaf", -1)

    # Room

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_room(self, n_nodes: cython.Py_ssize_t, n_items: cython.Py_ssize_t) -> cython.int:
        """Grow the columns, at least twofold, to so many nodes and numbers of items."""
        i: cython.Py_ssize_t
        old: cython.Py_ssize_t = self.item_room

        if n_items > old:
            n_items = max(n_items, 2 * old)
            if cython.compiled:
                self.leaf_of = _grown_ints(self.leaf_of, n_items)
            else:
                self.leaf_of += [0] * (n_items - old)
            for i in range(old, n_items):
                self.leaf_of[i] = -1
            self.item_room = n_items
        old = self.node_room
        if n_nodes > old:
            n_nodes = max(n_nodes, 2 * old)
            found = np.zeros(max(len(self.found), n_nodes), np.int64)
            found[: len(self.found)] = self.found
            if cython.compiled:
                self.box = _grown_doubles(self.box, 2 * self.dim * n_nodes)
                self.child = _grown_ints(self.child, 2 * n_nodes)
                self.parent = _grown_ints(self.parent, n_nodes)
                self.height = _grown_ints(self.height, n_nodes)
            else:
                self.box += [0.0] * (2 * self.dim * (n_nodes - old))
                self.child += [0] * (2 * (n_nodes - old))
                self.parent += [0] * (n_nodes - old)
                self.height += [0] * (n_nodes - old)
            self.found = memoryview(found)
            for i in range(n_nodes - 1, old - 1, -1):
                self._free_node(i)
            self.node_room = n_nodes
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _take_node(self) -> cython.int:
        node: cython.int = self.first_free

        self.first_free = self.parent[node]
        return node

    @cython.cfunc
    @cython.exceptval(check=False)
    def _free_node(self, node: cython.int) -> cython.void:
        self.height[node] = -1
        self.parent[node] = self.first_free
        self.first_free = node

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _store(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Write box `row` into an item's leaf, a new one where it has none."""
        dim: cython.Py_ssize_t = self.dim
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t
        leaf: cython.int

        if not self.holds(item):
            if item < 0 or item >= MOST_ITEMS:
                raise IndexError(f"item {item} must be a row number, 0 to 2**30 - 1")
            # A leaf and the branch that will join it to its sibling.
            self._make_room(2 * self.n_items + 2, item + 1)
            leaf = self._take_node()
            self.leaf_of[item] = leaf
            self.child[2 * leaf] = -1
            self.child[2 * leaf + 1] = item
            self.height[leaf] = 0
            self.n_items += 1
        at = 2 * dim * self.leaf_of[item]
        for k in range(dim):
            self.box[at + k] = mins[row, k]
            self.box[at + dim + k] = maxs[row, k]
        return True

    # Shape

    @cython.cfunc
    @cython.exceptval(check=False)
    def _attach(self, leaf: cython.int) -> cython.void:
        """Hang a leaf into the tree beside the leaf where the bounds grow least."""
        box: cython.p_double = self.box
        child: cython.p_int = self.child
        dim: cython.Py_ssize_t = self.dim
        node: cython.int = self.root
        above: cython.int
        branch: cython.int
        left: cython.int
        right: cython.int

        if node < 0:
            self.root = leaf
            self.parent[leaf] = -1
            return
        while child[2 * node] >= 0:
            left = child[2 * node]
            right = child[2 * node + 1]
            if _cost(box, dim, left, leaf) - _cost(box, dim, left, left) <= (
                _cost(box, dim, right, leaf) - _cost(box, dim, right, right)
            ):
                node = left
            else:
                node = right
        above = self.parent[node]
        branch = self._take_node()
        self._hang(above, node, branch)
        self._join(branch, node, leaf)
        self._climb(above)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _detach(self, leaf: cython.int) -> cython.void:
        """Take a leaf out of the tree; its sibling takes the place of their branch."""
        branch: cython.int = self.parent[leaf]
        above: cython.int
        sibling: cython.int

        if branch < 0:
            self.root = -1
            return
        sibling = self.child[2 * branch]
        if sibling == leaf:
            sibling = self.child[2 * branch + 1]
        above = self.parent[branch]
        self._hang(above, branch, sibling)
        self._free_node(branch)
        self._climb(above)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _hang(self, node: cython.int, old: cython.int, new: cython.int) -> cython.void:
        """Put `new` in the place of `old`, a child of `node` or the root if that is -1."""
        self.parent[new] = node
        if node < 0:
            self.root = new
        elif self.child[2 * node] == old:
            self.child[2 * node] = new
        else:
            self.child[2 * node + 1] = new

    @cython.cfunc
    @cython.exceptval(check=False)
    def _join(self, branch: cython.int, left: cython.int, right: cython.int) -> cython.void:
        """Give a branch two children."""
        self.child[2 * branch] = left
        self.child[2 * branch + 1] = right
        self.parent[left] = branch
        self.parent[right] = branch
        self._refit(branch)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _refit(self, node: cython.int) -> cython.bint:
        """Set height and bounds of a branch from its children; tell whether they changed."""
        box: cython.p_double = self.box
        dim: cython.Py_ssize_t = self.dim
        left: cython.int = self.child[2 * node]
        right: cython.int = self.child[2 * node + 1]
        tallest: cython.int = 1 + max(self.height[left], self.height[right])
        changed: cython.bint = tallest != self.height[node]
        at: cython.Py_ssize_t = 2 * dim * node
        p: cython.Py_ssize_t = 2 * dim * left
        q: cython.Py_ssize_t = 2 * dim * right
        k: cython.Py_ssize_t
        face: cython.double

        self.height[node] = tallest
        for k in range(dim):
            face = min(box[p + k], box[q + k])
            if face != box[at + k]:
                box[at + k] = face
                changed = True
        for k in range(dim, 2 * dim):
            face = max(box[p + k], box[q + k])
            if face != box[at + k]:
                box[at + k] = face
                changed = True
        return changed

    @cython.cfunc
    @cython.exceptval(check=False)
    def _climb(self, node: cython.int) -> cython.void:
        """Put branches right from `node` upwards, as far as anything changes."""
        height: cython.p_int = self.height
        left: cython.int
        right: cython.int

        while node >= 0:
            left = self.child[2 * node]
            right = self.child[2 * node + 1]
            if height[left] > height[right] + 1:
                node = self._rotate(node, left)
            elif height[right] > height[left] + 1:
                node = self._rotate(node, right)
            elif not self._refit(node):
                return
            self._regroup(node)
            node = self.parent[node]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _rotate(self, node: cython.int, tall: cython.int) -> cython.int:
        """Lift the too tall child of a branch into its place; return that child.

        The taller grandchild stays with it, the other goes down with `node`;
        of two equally tall ones the one that fits better there.
        """
        height: cython.p_int = self.height
        dim: cython.Py_ssize_t = self.dim
        low: cython.int = self.child[2 * node]
        stays: cython.int = self.child[2 * tall]
        goes: cython.int = self.child[2 * tall + 1]

        if low == tall:
            low = self.child[2 * node + 1]
        if height[goes] > height[stays] or (
            height[goes] == height[stays]
            and _cost(self.box, dim, stays, low) < _cost(self.box, dim, goes, low)
        ):
            stays, goes = goes, stays
        self._hang(self.parent[node], node, tall)
        self._join(node, low, goes)
        self._join(tall, node, stays)
        return tall

    @cython.cfunc
    @cython.exceptval(check=False)
    def _regroup(self, node: cython.int) -> cython.void:
        """Regroup the grandchildren of a branch so that its children become least.

        Either the lower child changes places with a child of the higher one,
        or two children of both do.  `node` keeps its height and its bounds.
        """
        box: cython.p_double = self.box
        child: cython.p_int = self.child
        height: cython.p_int = self.height
        dim: cython.Py_ssize_t = self.dim
        low: cython.int = child[2 * node]
        high: cython.int = child[2 * node + 1]
        one: cython.int
        two: cython.int
        three: cython.int
        four: cython.int
        choice: cython.int = 0
        cost: cython.double
        least: cython.double

        if height[low] > height[high]:
            low, high = high, low
        if height[high] == 0:
            return
        three = child[2 * high]
        four = child[2 * high + 1]
        least = _cost(box, dim, high, high)
        if height[low] == height[three] and height[low] < height[high]:
            cost = _cost(box, dim, low, four)
            if cost < least:
                least = cost
                choice = 1
        if height[low] == height[four] and height[low] < height[high]:
            cost = _cost(box, dim, low, three)
            if cost < least:
                least = cost
                choice = 2
        one = two = -1
        if height[low] > 0:
            one = child[2 * low]
            two = child[2 * low + 1]
            least += _cost(box, dim, low, low)
            if self._fit(one, three, two, four, height[high]):
                cost = _cost(box, dim, one, three) + _cost(box, dim, two, four)
                if cost < least:
                    least = cost
                    choice = 3
            if self._fit(one, four, two, three, height[high]):
                cost = _cost(box, dim, one, four) + _cost(box, dim, two, three)
                if cost < least:
                    choice = 4
        if choice == 1:
            self._join(high, low, four)
            self._join(node, three, high)
        elif choice == 2:
            self._join(high, three, low)
            self._join(node, four, high)
        elif choice == 3:
            self._join(low, one, three)
            self._join(high, two, four)
        elif choice == 4:
            self._join(low, one, four)
            self._join(high, two, three)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _fit(
        self,
        one: cython.int,
        two: cython.int,
        three: cython.int,
        four: cython.int,
        tallest: cython.int,
    ) -> cython.bint:
        """Tell whether nodes may be siblings in twos: balanced, the taller of height `tallest`."""
        height: cython.p_int = self.height
        low: cython.int = 1 + max(height[one], height[two])
        high: cython.int = 1 + max(height[three], height[four])

        return (
            -1 <= height[one] - height[two] <= 1
            and -1 <= height[three] - height[four] <= 1
            and -1 <= low - high <= 1
            and max(low, high) == tallest
        )

    # Layout

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _lay_out(self) -> cython.int:
        """Make all branches anew: halves by the middles of the boxes, on the longest axis.

        Nodes are numbered in the order of a walk, so that walks are quick.
        """
        box: cython.p_double = self.box
        stack: cython.p_int = self.stack
        dim: cython.Py_ssize_t = self.dim
        n: cython.Py_ssize_t = self.n_items
        item: cython.Py_ssize_t
        start: cython.Py_ssize_t
        low: cython.Py_ssize_t
        middle: cython.Py_ssize_t
        end: cython.Py_ssize_t = 0
        room: cython.Py_ssize_t = 1
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t
        above: cython.int
        node: cython.int = 0
        top: cython.int = 0

        self.n_puts = 0
        if n == 0:
            return 0
        if cython.compiled:
            self.line = _grown_ints(self.line, n)
            self.twice_middle = _grown_doubles(self.twice_middle, dim * n)
            self.box = _grown_doubles(cython.NULL, 2 * dim * self.node_room)
        else:
            self.line = [0] * n
            self.twice_middle = [0.0] * (dim * n)
            self.box = [0.0] * (2 * dim * self.node_room)
        for item in range(self.item_room):
            if self.leaf_of[item] >= 0:
                at = 2 * dim * self.leaf_of[item]
                for k in range(dim):
                    self.twice_middle[dim * end + k] = box[at + k] + box[at + dim + k]
                self.line[end] = item
                end += 1
        while room < n:
            room *= 2
        self.root = 0
        stack[0] = 0
        stack[1] = n
        stack[2] = room
        stack[3] = -1
        while top >= 0:
            start = stack[top]
            end = stack[top + 1]
            room = stack[top + 2]
            above = stack[top + 3]
            top -= 4
            self.parent[node] = above
            if above >= 0:
                self.child[2 * above + (above + 1 != node)] = node
            if end - start == 1:
                item = self.line[start]
                at = 2 * dim * self.leaf_of[item]
                for k in range(2 * dim):
                    self.box[2 * dim * node + k] = box[at + k]
                self.leaf_of[item] = node
                self.child[2 * node] = -1
                self.child[2 * node + 1] = item
                self.height[node] = 0
            else:
                # A part with more than room / 2 items, and no more than room, gets log2(room)
                # high, whatever is done below: so its own parts may differ by a factor of two
                # in room, and the middle may lie anywhere between these two.
                while room >= 2 * (end - start):
                    room //= 2
                low = max(end - start - room // 2, room // 8 + 1)
                middle = self._split(start, start + low, end - low, end)
                stack[top + 4] = middle
                stack[top + 5] = end
                stack[top + 6] = room
                stack[top + 7] = node
                stack[top + 8] = start
                stack[top + 9] = middle
                stack[top + 10] = room
                stack[top + 11] = node
                top += 8
                self.height[node] = 1
            node += 1
        self.first_free = -1
        for k in range(self.node_room - 1, node - 1, -1):
            self._free_node(k)
        for k in range(node - 1, -1, -1):
            if self.height[k] > 0:
                self._refit(k)
        if cython.compiled:
            free(box)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _split(
        self,
        start: cython.Py_ssize_t,
        low: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Order a part of the line in two; return where the second begins, `low` to `high`.

        Nothing in the first part lies beyond anything in the second, on the
        axis on which the middles of the boxes are furthest apart.  As near to
        the middle of that way as `low` and `high` allow.

        Hoare's selection; the later pivots look random, so that no ordered
        input is slow, and are the same every time.
        """
        key: cython.p_double = self.twice_middle
        line: cython.p_int = self.line
        dim: cython.Py_ssize_t = self.dim
        axis: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        item: cython.int
        noise: cython.longlong = 1
        least: cython.double
        most: cython.double
        longest: cython.double = -1.0
        pivot: cython.double = 0.0
        swap: cython.double

        for k in range(dim):
            least = most = key[dim * start + k]
            for i in range(start + 1, end):
                least = min(least, key[dim * i + k])
                most = max(most, key[dim * i + k])
            if most - least > longest:
                longest = most - least
                pivot = 0.5 * (least + most)
                axis = k
        if longest == 0.0 or end - start == 2:
            return (start + end) // 2
        end -= 1
        while start < end:
            i = start
            j = end
            while i <= j:
                while key[dim * i + axis] < pivot:
                    i += 1
                while key[dim * j + axis] > pivot:
                    j -= 1
                if i <= j:
                    item = line[i]
                    line[i] = line[j]
                    line[j] = item
                    for k in range(dim):
                        swap = key[dim * i + k]
                        key[dim * i + k] = key[dim * j + k]
                        key[dim * j + k] = swap
                    i += 1
                    j -= 1
            # Before i nothing is beyond the pivot, after j nothing before it.
            if low <= i <= high:
                return i
            if low <= j + 1 <= high:
                return j + 1
            if j + 1 < low < i:
                return low
            if i < low:
                start = i
            else:
                end = j
            noise = (noise * HASH) & LOW_32_BITS
            pivot = key[dim * (start + noise % (end - start + 1)) + axis]
        return low


@cython.ccall
@cython.exceptval(check=False)
def fatten(
    item: cython.Py_ssize_t,
    swept_min: cython.double[:, ::1],
    swept_max: cython.double[:, ::1],
    motions: cython.double[:, ::1],
    row: cython.Py_ssize_t,
    margin: cython.double,
    lookahead: cython.double,
    fat_min: cython.double[:, ::1],
    fat_max: cython.double[:, ::1],
) -> cython.void:
    """Write the fat bounds of one swept box into row `row` of `fat_min` and `fat_max`.

    They are the swept box of the step, `margin` more on all sides (a tenth of
    the body's longest side where it is negative), and in the direction of the
    motion what the body will cross in the next `lookahead` steps, but at most
    half its side on each axis: fast bodies would meet hundreds of false pairs.

    The growth differs from item to item, by up to three times, so that bodies
    of one speed do not all escape in the same step.
    """
    dim: cython.Py_ssize_t = fat_min.shape[1]
    k: cython.Py_ssize_t
    motion: cython.double
    side: cython.double
    growth: cython.double
    share: cython.double = (1.0 + ((item * HASH) & LOW_32_BITS) / 2147483648.0) / 3.0

    if margin < 0.0:
        margin = 0.0
        for k in range(dim):
            side = swept_max[row, k] - swept_min[row, k] - abs(motions[row, k])
            margin = max(margin, 0.1 * side)
    for k in range(dim):
        motion = motions[row, k]
        side = swept_max[row, k] - swept_min[row, k] - abs(motion)
        growth = share * min(1.5 * lookahead * abs(motion), 0.5 * max(side, 0.0))
        fat_min[row, k] = swept_min[row, k] - margin - (growth if motion < 0.0 else 0.0)
        fat_max[row, k] = swept_max[row, k] + margin + (growth if motion > 0.0 else 0.0)


def _hold(condition: cython.bint, invariant: str, node: cython.int) -> None:
    if not condition:
        where = f" at node {node}" if node >= 0 else ""
        raise AssertionError(f"the tree is broken{where}: {invariant}")


if cython.compiled:

    @cython.cfunc
    def _grown_ints(old: cython.p_int, n: cython.size_t) -> cython.p_int:
        new: cython.p_int = cython.cast(cython.p_int, realloc(old, n * cython.sizeof(cython.int)))
        if new is cython.NULL:
            raise MemoryError(f"no room for {n} ints of a tree")
        return new

    @cython.cfunc
    def _grown_doubles(old: cython.p_double, n: cython.size_t) -> cython.p_double:
        new: cython.p_double = cython.cast(
            cython.p_double, realloc(old, n * cython.sizeof(cython.double))
        )
        if new is cython.NULL:
            raise MemoryError(f"no room for {n} doubles of a tree")
        return new
