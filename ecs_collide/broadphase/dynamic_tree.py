"""A dynamic tree of axis-aligned boxes, which finds items by position.

*Items* are small ints >= 0, the rows of the owner of the tree; the arrays that are passed in
have a row for each.  The nodes are in `broadphase.nodes`; this module is the interface.

Each item has *fat bounds* around its box.  While the box stays inside them, the item stays in its
leaf, and the nodes above it are refitted.  When the box escapes, the item gets new fat bounds and
is reinserted where it fits best.  If many escape at once, only the first few are reinserted, and
further ones whose centre has left the *build box* of their leaf: the bounds that the leaf had when
it was built.  Fat bounds only limit how far the tree may degrade.  No search uses them.

The whole tree is rebuilt if that costs less than the reinsertions of one call.  It is also rebuilt
after 256 escapes and insertions, plus one for every four items.  Insertions make a worse tree than
a rebuild, and items that stay in their leaves enlarge the leaves.  The decisions use counts and no
clock, so the same calls in the same order give the same tree.

Invariant: the bounds of each node contain the boxes of all items below it; `check` verifies it.

Callers ensure that boxes are finite with min <= max and that arrays have enough rows.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import LONG, grown, zeros
from ecs_collide.broadphase.fat_bounds import FatBounds
from ecs_collide.broadphase.nodes import Nodes
from ecs_collide.broadphase.overlaps import OverlapFinder
from ecs_collide.broadphase.rebuild import BulkRebuild
from ecs_collide.broadphase.simd import PENDING, WIDTH
from ecs_collide.broadphase.traversal import Traversal
from ecs_collide.motion.bodies import flat

MAX_ITEMS: cython.Py_ssize_t = 2**27  # places are numbered by 32 bits
FEW: cython.Py_ssize_t = (
    16  # reinsertions that cost less than a rebuild and hardly degrade a tree of any size
)
ITEMS_PER_SINGLE: cython.Py_ssize_t = (
    256  # reinsert the first FEW escapes of a batch, and one for every 256 items
)
ITEMS_PER_INSERTION: cython.Py_ssize_t = (
    16  # rebuild if more than FEW + 1/16 of the items need reinsertion: same cost
)
ITEMS_PER_ESCAPE: cython.Py_ssize_t = (
    4  # rebuild after MIN_ESCAPES and one escape or insertion for every 4 items
)
MIN_ESCAPES: cython.Py_ssize_t = 256  # this many hardly degrade a tree of any size
CHANGES_TO_SWEEP: cython.Py_ssize_t = 16  # refit level by level if one box in 16 has moved


@cython.final
class Tree:
    """A dynamic tree over items and their boxes.

    Parameters
    ----------
    dim : int
        2 or 3.
    capacity : int
        Number of items to reserve room for; the tree grows beyond it.
    """

    dim: ReadOnly[cython.Py_ssize_t]
    found: Public[cython.longlong[::1]]  # int64: the result of the last `touching`
    overlap_finder: ReadOnly[OverlapFinder]  # finds pairs of items, and holds the last result
    one: cython.longlong[::1]  # the item of `renew_one`
    nodes: Nodes
    fat_bounds: FatBounds
    bulk_rebuild: BulkRebuild
    traversal: ReadOnly[Traversal]  # finds the items that touch a box
    n_renewed: cython.Py_ssize_t  # items that got fat bounds since the last rebuild
    # how often an item in the tree got new fat bounds, because its path left the old ones or they
    # were far too large.  The owner may set this and the next two to 0
    n_escaped: Public[cython.longlong]
    # how often such an item alone was removed and inserted again
    n_reinserted: Public[cython.longlong]
    n_rebuilt: Public[cython.longlong]  # how often the whole tree was rebuilt along the curve
    pending_node: cython.int  # the leaf of new items before a rebuild; 0: none

    def __init__(self, dim: cython.Py_ssize_t, capacity: cython.Py_ssize_t = 0) -> None:
        if dim != 2 and dim != 3:
            raise ValueError(f"dim={dim} must be 2 or 3")
        self.dim = dim
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
    def holds(self, item: cython.Py_ssize_t) -> cython.bint:
        """Return whether an item is in the tree."""
        return self.nodes.holds(item)

    @cython.ccall
    def drop(self, item: cython.Py_ssize_t) -> cython.bint:
        """Remove an item; return whether it was in the tree.  O(log n)."""
        if not self.nodes.holds(item):
            return False
        self.nodes.detach(item)
        self.nodes.is_changed[item] = 1  # so that a pair cache drops its pairs
        return True

    def drop_many(self, items: cython.longlong[::1]) -> None:
        """Remove items."""
        for i in range(items.shape[0]):
            self.drop(items[i])

    @cython.ccall
    def bounds_into(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Write an item's fat bounds into box `row` of two arrays; return whether it has any."""
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
        """Write the fat bounds of items[i] into row i; skip items that are not in the tree."""
        for i in range(items.shape[0]):
            self.bounds_into(items[i], mins, maxs, i)

    @cython.ccall
    def root_into(self, low: cython.double[::1], high: cython.double[::1]) -> cython.bint:
        """Write both corners of the bounds of all boxes; return whether there are any."""
        if self.nodes.n_items == 0:
            return False
        for k in range(self.dim):  # node 0 holds the bounds of the root
            low[k] = self.nodes.box[k]
            high[k] = self.nodes.box[self.dim + k]
        return True

    @cython.inline
    def covers(
        self, item: cython.Py_ssize_t, mins: cython.p_double, maxs: cython.p_double
    ) -> cython.bint:
        """Return whether the box of an item in the tree contains its box in two arrays."""
        box: cython.p_double = self.nodes.box
        own: cython.Py_ssize_t = self.dim * item

        if not self.nodes.holds(item):
            return False
        at: cython.Py_ssize_t = 2 * self.dim * self.nodes.place_of[item]
        for k in range(self.dim):
            if mins[own + k] < box[at + k] or maxs[own + k] > box[at + self.dim + k]:
                return False
        return True

    @cython.ccall
    def renew(
        self,
        items: cython.longlong[::1],
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        motion: cython.double[:, ::1],
        by_item: cython.bint,
        margin: cython.double,
        lookahead: cython.double,
    ) -> cython.Py_ssize_t:
        """Update the boxes of items; insert new items, reinsert items that escape.

        An item gets new fat bounds if it is new, if its box swept by `motion` escapes the old
        ones, or if they are far too large.

        Parameters
        ----------
        items : int64 (n,)
        mins, maxs : float64 (rows, dim)
            The boxes that searches compare.
        motion : float64 (rows, dim)
            Displacements in the coming step; no rows if nothing moves.
        by_item : bool
            Whether the row of an item is the item itself, and the boxes contain the paths
            already.  Otherwise row i belongs to items[i].
        margin, lookahead : float
            How far new fat bounds reach beyond the box; see `FatBounds`.

        Returns
        -------
        int
            Number of items that got new fat bounds.
        """
        nodes: Nodes = self.nodes

        self._make_room_for(items)
        self.fat_bounds.use_boxes(
            flat(mins), flat(maxs), flat(motion), motion.shape[0] == 0, by_item, margin, lookahead
        )
        escaped_limit: cython.Py_ssize_t = self._escapes_to_rebuild() - self.n_renewed
        displaced_limit: cython.Py_ssize_t = FEW + nodes.n_items // ITEMS_PER_INSERTION
        n_escaped: cython.Py_ssize_t = self.fat_bounds.update(
            items, by_item, FEW + nodes.n_items // ITEMS_PER_SINGLE, escaped_limit, displaced_limit
        )
        self.n_renewed += n_escaped
        self.n_escaped += n_escaped - self.fat_bounds.n_new
        if self.fat_bounds.n_displaced > displaced_limit or n_escaped > escaped_limit:
            self._rebuild_with_displaced(items, by_item)
            return n_escaped
        if CHANGES_TO_SWEEP * self.fat_bounds.n_moved > nodes.n_items:
            nodes.refit_all_above(self.fat_bounds.moved, self.fat_bounds.n_moved)
        else:
            for i in range(self.fat_bounds.n_moved):
                item: cython.Py_ssize_t = self.fat_bounds.moved[i]
                nodes.note_change(item)
                nodes.refit_upwards(nodes.place_of[item] >> 3)
        for i in range(self.fat_bounds.n_displaced):
            item = items[self.fat_bounds.displaced[i]]
            self._reinsert(item, item if by_item else self.fat_bounds.displaced[i])
        return n_escaped

    def _make_room_for(self, items: cython.longlong[::1]) -> cython.void:
        """Make room for all items."""
        least: cython.Py_ssize_t = 0
        greatest: cython.Py_ssize_t = -1

        for i in range(items.shape[0]):
            least = min(least, items[i])
            greatest = max(greatest, items[i])
        if least < 0:
            raise IndexError(f"item {least} must be a row number, 0 or more")
        self._make_room(max(greatest, items.shape[0] - 1))

    def _rebuild_with_displaced(
        self, items: cython.longlong[::1], by_item: cython.bint
    ) -> cython.void:
        """Rebuild the whole tree, with the displaced items that are new."""
        nodes: Nodes = self.nodes
        n_new: cython.Py_ssize_t = 0

        for i in range(self.fat_bounds.n_displaced):
            n_new += not nodes.holds(items[self.fat_bounds.displaced[i]])
        # Allocate first, because a MemoryError within the rebuild would destroy the tree.
        nodes.make_room_for_nodes(n_new // WIDTH + 1)
        self.bulk_rebuild.make_room(nodes.n_items + n_new)
        for i in range(self.fat_bounds.n_displaced):
            item: cython.Py_ssize_t = items[self.fat_bounds.displaced[i]]
            self._add_pending(item, item if by_item else self.fat_bounds.displaced[i])
        self._rebuild()

    @cython.ccall
    def renew_one(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        motion: cython.double[:, ::1],
        by_item: cython.bint,
        margin: cython.double,
        lookahead: cython.double,
    ) -> cython.bint:
        """Update one item as `renew`; return whether it got new fat bounds.

        O(1) if it stays inside the old ones, otherwise O(log n) on average.
        """
        if item < 0:
            raise IndexError(f"item {item} must be a row number, 0 or more")
        self.fat_bounds.use_boxes(
            flat(mins), flat(maxs), flat(motion), motion.shape[0] == 0, by_item, margin, lookahead
        )
        return self._renew_aimed(item, by_item)

    def renew_path(
        self,
        item: cython.Py_ssize_t,
        mins: cython.p_double,
        maxs: cython.p_double,
        motion: cython.p_double,
        margin: cython.double,
        lookahead: cython.double,
    ) -> cython.bint:
        """Update an item that is a row of the memory of three arrays, whose boxes contain the paths.

        Inside its fat bounds only its box is replaced; the leaf is refitted at a later `renew`.
        """
        if self.nodes.holds(item) and self.fat_bounds.hold(item, mins, maxs):
            self.nodes.replace_box(item, mins, maxs)
            return False
        self.fat_bounds.use_boxes(mins, maxs, motion, False, True, margin, lookahead)
        return self._renew_aimed(item, True)

    def _renew_aimed(self, item: cython.Py_ssize_t, by_item: cython.bint) -> cython.bint:
        self._make_room(item)
        self.one[0] = item
        n_escaped: cython.Py_ssize_t = self.fat_bounds.update(self.one, by_item, 1, 1, 1)
        self.n_renewed += n_escaped
        self.n_escaped += n_escaped - self.fat_bounds.n_new
        if self.fat_bounds.n_displaced:
            self._reinsert(item, item if by_item else 0)
            if self.n_renewed > self._escapes_to_rebuild():
                self._rebuild()
        elif self.fat_bounds.n_moved:
            self.nodes.note_change(item)
            self.nodes.refit_upwards(self.nodes.place_of[item] >> 3)
        return n_escaped > 0

    def _reinsert(self, item: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.void:
        """Move an item to the leaf where its box fits best."""
        nodes: Nodes = self.nodes

        # A split takes a node on each level.
        nodes.make_room_for_nodes(nodes.level[nodes.root()] + 3)
        if nodes.place_of[item] >= 0:
            nodes.detach(item)
            self.n_reinserted += 1
        self.fat_bounds.write_box(PENDING, row)
        nodes.attach(item)
        nodes.note_change(item)

    def _add_pending(self, item: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.void:
        """Put a new item into a leaf outside the tree, for the rebuild that follows."""
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

    def touching(
        self, mins: cython.p_double, maxs: cython.p_double, row: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Find the items whose boxes in the tree share a point with box `row` of two arrays.

        Returns their number n; `found[:n]` holds the items in the tree's order.
        """
        return self.traversal.find_touching(mins, maxs, row)

    @cython.ccall
    def touching_one(self, low: cython.double[::1], high: cython.double[::1]) -> cython.Py_ssize_t:
        """Find the items whose boxes in the tree share a point with one box; see `touching`."""
        if not cython.compiled:
            return self.traversal.find_touching(low, high, 0)
        return self.traversal.find_touching(cython.address(low[0]), cython.address(high[0]), 0)

    @cython.ccall
    def forget_changes(self) -> cython.void:
        """Clear the marks of all items that have changed."""
        nodes: Nodes = self.nodes

        for i in range(nodes.item_room):
            nodes.is_changed[i] = 0
        for i in range(nodes.node_room):
            nodes.changed[i] = 0

    # Statistics and invariants

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
        """The number of nodes that memory is reserved for."""
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
        """Write the bounds and the depth of all nodes; the root has depth 0.

        The arrays have `n_nodes` rows, written in the order in which the nodes are stored.  O(n).
        """
        nodes: Nodes = self.nodes
        top: cython.int = nodes.level[nodes.root()]
        node: cython.int
        n: cython.Py_ssize_t = 0

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
            An invariant does not hold; the message names it and the node.
        """
        self.traversal.verify()

    # Memory and rebuilding

    def _escapes_to_rebuild(self) -> cython.Py_ssize_t:
        """Return the number of escapes and insertions after which the tree is rebuilt."""
        return MIN_ESCAPES + self.nodes.n_items // ITEMS_PER_ESCAPE

    def _make_room(self, greatest: cython.Py_ssize_t) -> cython.void:
        """Make room for items up to `greatest`."""
        if greatest < self.nodes.item_room:
            return
        if greatest >= MAX_ITEMS:
            raise IndexError(f"item {greatest} must be less than 2**27")
        # Some room is left, or the first item after a large build would copy everything.
        room: cython.Py_ssize_t = max((greatest + 1) * 5 // 4, 2 * self.nodes.item_room)
        self.found = self.traversal.found = grown(self.found, room)
        self.fat_bounds.make_room(room)
        self.nodes.make_room_for_items(room)  # last, because it sets the room

    def _rebuild(self) -> cython.void:
        self.n_renewed = 0
        self.n_rebuilt += 1
        self.pending_node = 0
        self.bulk_rebuild.rebuild()
