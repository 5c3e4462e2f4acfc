"""A dynamic tree of axis-aligned boxes: the boxes of items, found by where they are.

*Items* are small non-negative ints, the rows of whoever owns the tree, and the
arrays that come in have a row for each.  The tree itself is in `broadphase.nodes`; here
is what its owner asks of it.

Each item has *fat bounds* around its box.  While the box moves inside them the
item stays where it hangs and the nodes above follow its box; when it escapes,
it gets fresh ones and is reinserted where it fits best, unless it is still at
home in its node.  So fat bounds tell how far the tree may drift from a good
one, and nothing else: no search looks at them.

Where many items are to be reinserted at once the whole tree is laid out anew,
which costs as much as reinserting one item in sixteen; so it is too after half
as many reinsertions as there are items, since insertions leave a tree worse
than a layout does, and after as many escapes, since items that stay at home
spread it out.  That is counted and not timed: trees that were given the same
calls in the same order are the same.

Callers answer for finite boxes with min <= max and for arrays with enough
rows.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.fat_bounds_c import FatBounds
    from cython.cimports.ecs_collide.broadphase.nodes_c import Nodes
    from cython.cimports.ecs_collide.broadphase.overlaps_c import OverlapFinder
    from cython.cimports.ecs_collide.broadphase.rebuild_c import BulkRebuild
    from cython.cimports.ecs_collide.broadphase.simd_c import PENDING, WIDTH
    from cython.cimports.ecs_collide.broadphase.traversal_c import Traversal
    from cython.cimports.ecs_collide.motion.bodies_c import flat
else:
    from ecs_collide.broadphase.fat_bounds import FatBounds
    from ecs_collide.broadphase.nodes import Nodes
    from ecs_collide.broadphase.overlaps import OverlapFinder
    from ecs_collide.broadphase.rebuild import BulkRebuild
    from ecs_collide.broadphase.simd import PENDING, WIDTH
    from ecs_collide.broadphase.traversal import Traversal
    from ecs_collide.motion.bodies import flat

from ecs_collide.motion.arrays import LONG, grown, zeros

cython.declare(
    MAX_ITEMS=cython.Py_ssize_t,
    ITEMS_PER_INSERTION_OF_BATCH=cython.Py_ssize_t,
    ITEMS_PER_INSERTION=cython.Py_ssize_t,
    CHANGES_TO_SWEEP=cython.Py_ssize_t,
)
MAX_ITEMS = 2**27  # places are numbered by 32 bits
ITEMS_PER_INSERTION_OF_BATCH = 16  # lay out where one in so many is to be hung; that costs the same
ITEMS_PER_INSERTION = 2  # lay out anew after one reinsertion for so many items
CHANGES_TO_SWEEP = 16  # where one in so many boxes has moved, refresh nodes level by level


@cython.final
@cython.cclass
class Tree:
    """A dynamic tree over items and their boxes.

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
        int64: the answer of the last `touching`.
    n_escaped : int
        Times that an item in the tree got fresh fat bounds, because its path left the old ones or
        they were far too big.  The owner may set this and the next two to 0.
    n_reinserted : int
        Times that such an item was moved to another node on its own.
    n_rebuilt : int
        Times that the whole tree was rebuilt along the curve.
    pairing : Pairing
        Holds the answer of the last `pairs`.
    walker : Walker
        Answers questions about a single box or ray.
    """

    def __init__(self, dim: cython.Py_ssize_t, capacity: cython.Py_ssize_t = 0) -> None:
        if dim != 2 and dim != 3:
            raise ValueError(f"dim={dim} must be 2 or 3")
        self.dim = dim
        self.n_insertions = self.n_escapes = self.pending_node = 0
        self.n_escaped = self.n_reinserted = self.n_rebuilt = 0
        self.nodes = Nodes(dim)
        self.bulk_rebuild = BulkRebuild(self.nodes)
        self.traversal = Traversal(self.nodes)
        self.overlap_finder = OverlapFinder()
        self.found = zeros(LONG, 0)
        self.one = zeros(LONG, 1)
        self.fat_bounds = FatBounds(self.nodes)
        self._make_room(max(capacity, 8) - 1)
        self.nodes.make_room_for_nodes(max(capacity, 8) // 4 + 8)

    # Items

    @cython.ccall
    @cython.exceptval(check=False)
    def holds(self, item: cython.Py_ssize_t) -> cython.bint:
        """Return whether an item is in the tree."""
        return self.nodes.holds(item)

    @cython.ccall
    @cython.exceptval(check=False)
    def drop(self, item: cython.Py_ssize_t) -> cython.bint:
        """Take an item out; return whether it was there.  O(log n)."""
        if not self.nodes.holds(item):
            return False
        self.nodes.detach(item)
        self.nodes.is_changed[item] = 1  # whoever keeps pairs drops those of this item
        return True

    def drop_many(self, items: cython.longlong[::1]) -> None:
        """Take items out."""
        i: cython.Py_ssize_t

        for i in range(items.shape[0]):
            self.drop(items[i])

    @cython.ccall
    @cython.exceptval(check=False)
    def bounds_into(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Write an item's fat bounds into box `row` of two arrays; return whether it has any."""
        k: cython.Py_ssize_t

        if not self.nodes.holds(item):
            return False
        for k in range(self.dim):
            mins[row, k] = self.fat_bounds.bounds[item, k]
            maxs[row, k] = self.fat_bounds.bounds[item, self.dim + k]
        return True

    def box_into(
        self, item: cython.Py_ssize_t, low: cython.double[::1], high: cython.double[::1]
    ) -> None:
        """Write both corners of the box of an item, which must be in the tree."""
        k: cython.Py_ssize_t

        if not self.nodes.holds(item):
            raise KeyError(f"item {item} has no box: what was to give it one was cut short")
        at: cython.Py_ssize_t = 2 * self.dim * self.nodes.place_of[item]
        for k in range(self.dim):
            low[k] = self.nodes.box[at + k]
            high[k] = self.nodes.box[at + self.dim + k]

    def fat_into(
        self,
        items: cython.longlong[::1],
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
    ) -> None:
        """Write the fat bounds of item i of many into row i; leave those rows that have none."""
        i: cython.Py_ssize_t

        for i in range(items.shape[0]):
            self.bounds_into(items[i], mins, maxs, i)

    @cython.ccall
    @cython.exceptval(check=False)
    def root_into(self, low: cython.double[::1], high: cython.double[::1]) -> cython.bint:
        """Write both corners of the bounds of all boxes; return whether there are any."""
        k: cython.Py_ssize_t

        if self.nodes.n_items == 0:
            return False
        for k in range(self.dim):  # the root hangs in node 0
            low[k] = self.nodes.box[k]
            high[k] = self.nodes.box[self.dim + k]
        return True

    @cython.ccall
    @cython.exceptval(check=False)
    def covers(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
    ) -> cython.bint:
        """Tell whether the box that the tree has for an item holds that in its row of two arrays."""
        box: cython.p_double = self.nodes.box
        k: cython.Py_ssize_t

        if not self.nodes.holds(item):
            return False
        at: cython.Py_ssize_t = 2 * self.dim * self.nodes.place_of[item]
        for k in range(self.dim):
            if mins[item, k] < box[at + k] or maxs[item, k] > box[at + self.dim + k]:
                return False
        return True

    def renew(
        self,
        items: cython.longlong[::1],
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        motion: cython.double[:, ::1],
        filed: cython.bint,
        margin: cython.double,
        lookahead: cython.double,
    ) -> int:
        """Give items their boxes, and fresh fat bounds to those that are new or need them.

        They do where the box on its way by `motion` escapes the old ones, or
        they have become far too big.  Returns how many got fresh ones.

        Parameters
        ----------
        items : int64 (n,)
        mins, maxs : float64 (rows, dim)
            The boxes, by which the tree is searched.
        motion : float64 (rows, dim)
            In the step to come; no rows: nothing moves.
        filed : bool
            Whether the arrays have a row for each item there may be, and the
            boxes hold their ways already.  Else row i belongs to items[i].
        margin, lookahead : float
            How far fresh bounds reach beyond it; see `FatBounds.fatten`.
        """
        nodes: Nodes = self.nodes
        i: cython.Py_ssize_t
        least: cython.Py_ssize_t = 0
        greatest: cython.Py_ssize_t = -1
        n_new: cython.Py_ssize_t = 0

        for i in range(items.shape[0]):
            least = min(least, items[i])
            greatest = max(greatest, items[i])
        if least < 0:
            raise IndexError(f"item {least} must be a row number, 0 or more")
        self._make_room(max(greatest, items.shape[0] - 1))
        self.fat_bounds.aim(mins, maxs, motion, filed, margin, lookahead)
        n_escaped: cython.Py_ssize_t = self.fat_bounds.update(
            items,
            filed,
            nodes.n_items - self.n_escapes,
            nodes.n_items // ITEMS_PER_INSERTION_OF_BATCH,
        )
        self.n_escapes += n_escaped
        self.n_escaped += n_escaped - self.fat_bounds.n_new
        if (
            self.fat_bounds.n_displaced > nodes.n_items // ITEMS_PER_INSERTION_OF_BATCH
            or self.n_escapes > nodes.n_items
        ):
            for i in range(self.fat_bounds.n_displaced):
                n_new += not nodes.holds(items[self.fat_bounds.displaced[i]])
            # All of it before anything hangs loose: a layout that is cut short leaves no tree.
            nodes.make_room_for_nodes(n_new // WIDTH + 1)
            self.bulk_rebuild.make_room(nodes.n_items + n_new)
            for i in range(self.fat_bounds.n_displaced):
                item: cython.Py_ssize_t = items[self.fat_bounds.displaced[i]]
                self._add_pending(item, item if filed else self.fat_bounds.displaced[i])
            self._rebuild()
            return n_escaped
        if CHANGES_TO_SWEEP * self.fat_bounds.n_moved > nodes.n_items:
            nodes.refresh_above(self.fat_bounds.moved, self.fat_bounds.n_moved)
        else:
            for i in range(self.fat_bounds.n_moved):
                item = self.fat_bounds.moved[i]
                nodes.note_change(item)
                nodes.climb(nodes.place_of[item] >> 3)
        for i in range(self.fat_bounds.n_displaced):
            item = items[self.fat_bounds.displaced[i]]
            self._reinsert(item, item if filed else self.fat_bounds.displaced[i])
        if ITEMS_PER_INSERTION * self.n_insertions > nodes.n_items:
            self._rebuild()
        return n_escaped

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def renew_one(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        motion: cython.double[:, ::1],
        filed: cython.bint,
        margin: cython.double,
        lookahead: cython.double,
    ) -> cython.bint:
        """As `renew` for one item; return whether it got fresh fat bounds.

        O(1) where it stays inside the old ones, else O(log n) on average.
        """
        if item < 0:
            raise IndexError(f"item {item} must be a row number, 0 or more")
        self._make_room(item)
        self.fat_bounds.aim(mins, maxs, motion, filed, margin, lookahead)
        self.one[0] = item
        n_escaped: cython.Py_ssize_t = self.fat_bounds.update(self.one, filed, 1, 1)
        self.n_escaped += n_escaped - self.fat_bounds.n_new
        if self.fat_bounds.n_displaced:
            self._reinsert(item, item if filed else 0)
            if ITEMS_PER_INSERTION * self.n_insertions > self.nodes.n_items:
                self._rebuild()
        elif self.fat_bounds.n_moved:
            self.nodes.note_change(item)
            self.nodes.climb(self.nodes.place_of[item] >> 3)
        return n_escaped > 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _reinsert(self, item: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.int:
        """Hang an item in where its box fits best, wherever it was before."""
        nodes: Nodes = self.nodes

        # Where every node on its way is cut it takes a node for each level.
        nodes.make_room_for_nodes(nodes.level[nodes.root()] + 3)
        if nodes.place_of[item] >= 0:
            nodes.detach(item)
            self.n_reinserted += 1
        self.fat_bounds.write_box(PENDING, row)
        nodes.attach(item)
        nodes.note_change(item)
        self.n_insertions += 1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _add_pending(self, item: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.void:
        """Give a new item a place in a node that hangs nowhere, for a layout to come."""
        nodes: Nodes = self.nodes

        if nodes.place_of[item] >= 0:
            return
        if self.pending_node == 0 or nodes.count[self.pending_node] == WIDTH:
            self.pending_node = nodes.allocate(0)
        place: cython.int = WIDTH * self.pending_node + nodes.count[self.pending_node]
        nodes.count[self.pending_node] += 1
        nodes.n_items += 1
        nodes.child[place] = item
        nodes.place_of[item] = place
        self.fat_bounds.write_box(place, row)

    # Queries

    @cython.ccall
    @cython.exceptval(check=False)
    def touching(
        self,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Find the items whose boxes in the tree share a point with box `row` of two arrays.

        Closed.  Returns their number n; `found[:n]` holds the items in the
        tree's order.
        """
        return self.traversal.find_touching(flat(mins), flat(maxs), row, self.found)

    @cython.cfunc
    @cython.exceptval(check=False)
    def touching_one(self, low: cython.double[::1], high: cython.double[::1]) -> cython.Py_ssize_t:
        """Find the items whose boxes in the tree share a point with one box, as `touching`."""
        if not cython.compiled:
            return self.traversal.find_touching(low, high, 0, self.found)
        return self.traversal.find_touching(
            cython.address(low[0]), cython.address(high[0]), 0, self.found
        )

    @cython.ccall
    @cython.exceptval(check=False)
    def forget_changes(self) -> cython.void:
        """Take away the marks of all items that have changed."""
        nodes: Nodes = self.nodes
        i: cython.Py_ssize_t

        for i in range(nodes.item_room):
            nodes.is_changed[i] = 0
        for i in range(nodes.node_room):
            nodes.changed[i] = 0

    # What the tree says about itself

    @property
    def n_items(self) -> int:
        """The number of items."""
        return self.nodes.n_items

    @property
    def n_nodes(self) -> int:
        """The number of nodes in use."""
        return self.nodes.n_nodes

    @property
    def node_room(self) -> int:
        """The number of nodes that there is room for."""
        return self.nodes.node_room

    @property
    def depth(self) -> int:
        """The number of nodes above an item; 0 for up to one item."""
        return self.nodes.level[self.nodes.root()] + 1 if self.nodes.n_items > 1 else 0

    @property
    def cost(self) -> float:
        """The sum of half the perimeters (2D) or surfaces (3D) of all nodes.  O(n)."""
        total: cython.double = 0.0
        node: cython.int

        for node in range(1, self.nodes.node_room):
            if self.nodes.level[node] >= 0:
                total += self.nodes.cost(node)
        return total

    def branches_into(
        self,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        depths: cython.longlong[::1],
    ) -> None:
        """Write the bounds of all nodes and how deep each hangs, the root's depth being 0.

        The arrays have `n_nodes` rows; they are written in the order in which
        the nodes are kept.  O(n).
        """
        nodes: Nodes = self.nodes
        top: cython.int = nodes.level[nodes.root()]
        node: cython.int
        n: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t

        for node in range(1, nodes.node_room):
            if nodes.level[node] < 0:
                continue
            at: cython.Py_ssize_t = 2 * self.dim * nodes.place[node]
            for k in range(self.dim):
                mins[n, k] = nodes.box[at + k]
                maxs[n, k] = nodes.box[at + self.dim + k]
            depths[n] = top - nodes.level[node]
            n += 1

    def check(self) -> None:
        """Verify every invariant of the tree.  O(n).

        Raises
        ------
        AssertionError
            One does not hold; the message says which, and where.
        """
        self.traversal.verify()

    # Room and layout

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_room(self, greatest: cython.Py_ssize_t) -> cython.int:
        """Make room for items up to `greatest`."""
        if greatest < self.nodes.item_room:
            return 0
        if greatest >= MAX_ITEMS:
            raise IndexError(f"item {greatest} must be less than 2**27")
        room: cython.Py_ssize_t = max(greatest + 1, 2 * self.nodes.item_room)
        self.found = grown(self.found, room)
        self.fat_bounds.make_room(room)
        self.nodes.make_room_for_items(room)  # last: by it it is known how much room there is
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rebuild(self) -> cython.int:
        self.n_insertions = self.n_escapes = 0
        self.n_rebuilt += 1
        self.pending_node = 0
        return self.bulk_rebuild.rebuild()
