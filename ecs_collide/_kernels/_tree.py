# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A dynamic tree of axis-aligned boxes: the bounds of items, found by where they are.

*Items* are small non-negative ints, the rows of whoever owns the tree.  The
tree itself is in `_nodes`, where the reason for its balance is given; here is
what its owner asks of it.

Insertions alone would leave the tree five times slower to search than a
layout of the whole does, and far slower still where a dense crowd of boxes
disperses.  So after half as many insertions as it has items the tree is laid
out anew: a quarter more work per insertion, counted and not timed, so that
trees that were given the same calls in the same order are the same.

Callers answer for finite boxes with min <= max and for arrays with enough
rows.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide._kernels._layout_c import Layout
    from cython.cimports.ecs_collide._kernels._nodes_c import Nodes
    from cython.cimports.ecs_collide._kernels._walks_c import (
        find_on_ray,
        find_pairs,
        verify,
    )
else:
    from ecs_collide._kernels._layout import Layout
    from ecs_collide._kernels._nodes import Nodes
    from ecs_collide._kernels._walks import find_on_ray, find_pairs, verify

from ecs_collide._kernels._memory import LONG, grown, zeros

cython.declare(
    MOST_ITEMS=cython.Py_ssize_t,
    TOO_BIG=cython.double,
    RENEWALS_TO_LAY_OUT=cython.Py_ssize_t,
    PUTS_TO_LAY_OUT=cython.Py_ssize_t,
    HASH=cython.longlong,
    TURN=cython.Py_ssize_t,
    LOW_31_BITS=cython.longlong,
    LOW_32_BITS=cython.longlong,
)
MOST_ITEMS = 2**30  # nodes are numbered by 32 bits
TOO_BIG = 4.0  # bounds with more than this times the perimeter or surface they need are renewed
RENEWALS_TO_LAY_OUT = 8  # lay out at once where one in so many items is put; that costs the same
PUTS_TO_LAY_OUT = 2  # lay out anew after one put for so many items
HASH = 2654435769  # 2**32 / golden ratio: spreads neighbouring items evenly
TURN = 1000003  # far from items that are neighbours
LOW_31_BITS = 0x7FFFFFFF
LOW_32_BITS = 0xFFFFFFFF


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
    dim : int
    found : memoryview
        int64: the answer of the last `touching`, `overlapping` or `pairs`.
    """

    def __init__(self, dim: cython.Py_ssize_t, capacity: cython.Py_ssize_t = 0) -> None:
        if dim != 2 and dim != 3:
            raise ValueError(f"dim={dim} must be 2 or 3")
        self.dim = dim
        self.n_puts = 0
        self.nodes = Nodes(dim)
        self.layout = Layout(self.nodes)
        self.found = zeros(LONG, 0)
        self._make_room(max(capacity, 8), 0, max(capacity, 8) - 1)

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
        """Make box `row` of two arrays the bounds of an item; tell whether it is new.

        O(log n) on average; O(n log n) for one in n / 2, which lays out the
        tree.
        """
        nodes: Nodes = self.nodes
        is_new: cython.bint = not nodes.holds(item)

        if is_new:
            self._make_room(1, item, item)
        else:
            nodes.detach(nodes.leaf_of[item])
        nodes.store(item, mins, maxs, row)
        nodes.attach(nodes.leaf_of[item])
        self.n_puts += 1
        if PUTS_TO_LAY_OUT * self.n_puts > nodes.n_items:
            self._lay_out()
        return is_new

    @cython.ccall
    @cython.exceptval(check=False)
    def drop(self, item: cython.Py_ssize_t) -> cython.bint:
        """Take an item out; tell whether it was there.  O(log n)."""
        if not self.nodes.holds(item):
            return False
        self.nodes.detach(self.nodes.leaf_of[item])
        self.nodes.forget(item)
        return True

    @cython.ccall
    @cython.exceptval(check=False)
    def holds(self, item: cython.Py_ssize_t) -> cython.bint:
        """Tell whether an item is in the tree."""
        return self.nodes.holds(item)

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
        nodes: Nodes = self.nodes
        dim: cython.Py_ssize_t = self.dim
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t

        if not nodes.holds(item):
            return False
        at = 2 * dim * nodes.leaf_of[item]
        for k in range(dim):
            if mins[row, k] < nodes.box[at + k] or maxs[row, k] > nodes.box[at + dim + k]:
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
        nodes: Nodes = self.nodes
        leaf: cython.int
        x: cython.double = maxs[row, 0] - mins[row, 0]
        y: cython.double = maxs[row, 1] - mins[row, 1]
        z: cython.double
        cost: cython.double = x + y

        if not nodes.holds(item):
            return False
        leaf = nodes.leaf_of[item]
        if self.dim == 3:
            z = maxs[row, 2] - mins[row, 2]
            cost = x * y + y * z + z * x
        return nodes.cost(leaf, leaf) > times * cost

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
        nodes: Nodes = self.nodes
        dim: cython.Py_ssize_t = self.dim
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t

        if not nodes.holds(item):
            return False
        at = 2 * dim * nodes.leaf_of[item]
        for k in range(dim):
            mins[row, k] = nodes.box[at + k]
            maxs[row, k] = nodes.box[at + dim + k]
        return True

    @cython.ccall
    @cython.exceptval(check=False)
    def phase(self, item: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return what `fatten` takes to stagger the escapes: another number after each `put`."""
        if not self.nodes.holds(item):
            return item
        return item + TURN * self.nodes.turn_of[item]

    def build(
        self,
        items: cython.longlong[::1],
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
    ) -> None:
        """Make box i of two arrays the bounds of items[i], and lay out the whole tree anew.

        O(n log n) for the n items that the tree then has.
        """
        i: cython.Py_ssize_t

        self._make_room_for(items)
        for i in range(items.shape[0]):
            self.nodes.store(items[i], mins, maxs, i)
        self._lay_out()

    def put_rows(
        self,
        items: cython.longlong[::1],
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
    ) -> None:
        """Make box `item` of two arrays the bounds of each item.

        As `put`, one by one; where they are many, the tree is laid out anew
        instead, which is cheaper.
        """
        i: cython.Py_ssize_t

        if RENEWALS_TO_LAY_OUT * items.shape[0] > self.nodes.n_items:
            self._make_room_for(items)
            for i in range(items.shape[0]):
                self.nodes.store(items[i], mins, maxs, items[i])
            self._lay_out()
        else:
            for i in range(items.shape[0]):
                self.put(items[i], mins, maxs, items[i])

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
        where these are fresh, else 0.  Returns the number of fresh ones.
        """
        nodes: Nodes = self.nodes
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        item: cython.Py_ssize_t

        self._make_room_for(items)
        for i in range(items.shape[0]):
            item = items[i]
            fatten(
                self.phase(item),
                swept_min,
                swept_max,
                motions,
                i,
                margin,
                lookahead,
                fat_min,
                fat_max,
            )
            if not self.covers(item, swept_min, swept_max, i) or self.exceeds(
                item, fat_min, fat_max, i, TOO_BIG
            ):
                renewed[i] = 1
                n += 1
            else:
                renewed[i] = 0
                self.bounds_into(item, fat_min, fat_max, i)
        if RENEWALS_TO_LAY_OUT * n > nodes.n_items:
            for i in range(items.shape[0]):
                if renewed[i]:
                    nodes.store(items[i], fat_min, fat_max, i)
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
        box: cython.p_double = self.nodes.box
        child: cython.p_int = self.nodes.child
        stack: cython.p_int = self.nodes.stack
        found: cython.longlong[::1] = self.found
        dim: cython.Py_ssize_t = self.dim
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        node: cython.int
        top: cython.int = 0

        if self.nodes.n_items == 0:
            return 0
        stack[0] = self.nodes.root
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
        the number of pairs n; `found[:2 * n]` holds their items, in the
        tree's order.
        """
        n, self.found = find_pairs(self.nodes, tight_min, tight_max, self.found)
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

        The ray goes from `origin` to `origin + direction`, and its time is
        the fraction of that way.  Of several items met at once, the one with
        the least id, in row `item` of `ids`, is returned.  `hit`, float64,
        shape (1 + 2 * dim,), is written with the time, the point, and the
        normal of the face that is met: 0 where the ray begins inside.
        """
        return find_on_ray(self.nodes, origin, direction, tight_min, tight_max, ids, hit)

    # What the tree says about itself

    @property
    def n_items(self) -> int:
        """The number of items."""
        return self.nodes.n_items

    @property
    def n_nodes(self) -> int:
        """The number of leaves and branches."""
        return max(2 * self.nodes.n_items - 1, 0)

    @property
    def node_room(self) -> int:
        """The number of nodes that there is room for."""
        return self.nodes.node_room

    @property
    def depth(self) -> int:
        """The number of branches above the deepest leaf."""
        return self.nodes.height[self.nodes.root] if self.nodes.n_items > 0 else 0

    @property
    def cost(self) -> float:
        """The sum of half the perimeters (2D) or surfaces (3D) of all branches.  O(n)."""
        total: cython.double = 0.0
        node: cython.int

        for node in range(self.nodes.node_room):
            if self.nodes.height[node] > 0:
                total += self.nodes.cost(node, node)
        return total

    def check(self) -> None:
        """Verify every invariant of the tree.  O(n).

        Raises
        ------
        AssertionError
            One does not hold; the message says which, and where.
        """
        verify(self.nodes)

    # Room and layout

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_room(
        self,
        n_new: cython.Py_ssize_t,
        least: cython.Py_ssize_t,
        greatest: cython.Py_ssize_t,
    ) -> cython.int:
        """Make room for so many more items from `least` to `greatest`; `found` is kept."""
        n_nodes: cython.Py_ssize_t = 2 * (self.nodes.n_items + n_new)

        if least < 0 or greatest >= MOST_ITEMS or n_nodes >= 2 * MOST_ITEMS:
            raise IndexError(f"items {least} to {greatest} must be row numbers, 0 to 2**30 - 1")
        self.nodes.make_room(n_nodes, greatest + 1)
        self.layout.make_room()
        if self.found.shape[0] < self.nodes.node_room:
            self.found = grown(self.found, self.nodes.node_room)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_room_for(self, items: cython.longlong[::1]) -> cython.int:
        """Make room for items that may all be new."""
        i: cython.Py_ssize_t
        least: cython.Py_ssize_t = 0
        greatest: cython.Py_ssize_t = -1
        n_new: cython.Py_ssize_t = 0

        for i in range(items.shape[0]):
            least = min(least, items[i])
            greatest = max(greatest, items[i])
            n_new += not self.nodes.holds(items[i])
        return self._make_room(n_new, least, greatest)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _lay_out(self) -> cython.void:
        self.n_puts = 0
        self.layout.lay_out()


@cython.ccall
@cython.exceptval(check=False)
def fatten(
    phase: cython.Py_ssize_t,
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
    half its side on each axis: with more, fast bodies would meet hundreds of
    false pairs.

    The growth is any part of that, up to all of it or twice the way, by
    `phase`: else bodies of one speed would all escape in the same step.
    """
    dim: cython.Py_ssize_t = fat_min.shape[1]
    k: cython.Py_ssize_t
    motion: cython.double
    side: cython.double
    growth: cython.double
    share: cython.double = (((phase & LOW_31_BITS) * HASH) & LOW_32_BITS) / 4294967296.0

    if margin < 0.0:
        margin = 0.0
        for k in range(dim):
            side = swept_max[row, k] - swept_min[row, k] - abs(motions[row, k])
            margin = max(margin, 0.1 * side)
    for k in range(dim):
        motion = motions[row, k]
        side = swept_max[row, k] - swept_min[row, k] - abs(motion)
        growth = share * min(2.0 * lookahead * abs(motion), 0.5 * max(side, 0.0))
        fat_min[row, k] = swept_min[row, k] - margin - (growth if motion < 0.0 else 0.0)
        fat_max[row, k] = swept_max[row, k] + margin + (growth if motion > 0.0 else 0.0)
