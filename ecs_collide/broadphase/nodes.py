"""The nodes of a wide tree of boxes, and how it grows and shrinks.

*Items* are small ints >= 0, the rows of the owner of the tree.  A node has up to eight children.
A leaf (level 0) has items, a branch has nodes of the level below.  All leaves are equally deep.

A node has eight *places* in a row, one for each child: its box and its number.  The bounds of a
node are stored in the place that it has in its parent.  Node 0 is not part of the tree.  Its first
place holds the root, its second place (`PENDING`) the box of a child that is being inserted.

Why this shape
--------------
The cost of a tree is cache misses and mispredicted branches.  Eight boxes side by side are
compared with one in a few instructions without branches (see `broadphase/simd.h`), and the tree
over n items has only n / 7 nodes.  `docs/design.md` has the measurements.

A leaf has a *build box*, the bounds that it had when it was built.  An item that moves stays in
its leaf while its centre is inside the build box.  Leaves therefore spread by half a box at most,
and few moving items have to be reinserted.

An insertion descends to the child whose bounds grow least.  A full node is split in two on the
axis on which the centres of its children spread most.  The new node is inserted into the parent,
which may be split in turn, up to the root.  So all items stay on one level.  An empty node is
removed, and a root with a single child is replaced by that child.

Notes
-----
Guttman, "R-trees: a dynamic index structure for spatial searching" (1984);
Garanzha, Pantaleoni and McAllister, "Simpler and faster HLBVH with work
queues" (2011) for layouts along a Morton curve, see `broadphase.rebuild`.
"""

# Compiled with -O3: its long loops take 5 to 13 % fewer instructions than with -O2.
from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide.broadphase.simd import ALL_LANES, PENDING, WIDTH, fill

if cython.compiled:
    from cython.cimports.libc.stdlib import free, realloc


@cython.final
class Nodes:
    """The nodes of one tree.  Callers ensure that boxes are finite with min <= max."""

    dim: cython.Py_ssize_t
    n_items: cython.Py_ssize_t
    n_nodes: cython.Py_ssize_t  # in the tree, without node 0
    node_room: cython.Py_ssize_t
    item_room: cython.Py_ssize_t
    first_free: cython.int  # -1: none
    box: cython.p_double  # at each place: dim minima, then dim maxima
    spare_box: cython.p_double  # the array to which a rebuild writes the boxes; empty between them
    spare_room: cython.Py_ssize_t  # the number of nodes with room in it
    build_box: cython.p_double  # of each leaf: its bounds when it was built
    # of each node: the boxes of its children side by side, see broadphase/simd.h
    lanes: cython.p_float
    origin: cython.p_double  # of each node: the origin of its lanes
    child: cython.p_int  # at each place: its item or node
    count: cython.p_int  # of each node: the number of its children
    level: cython.p_int  # of each node: 0 above items; -1 for a free one
    place: cython.p_int  # of each node: its place; of a free one: the next free one
    # of each node: 1 until it is refitted to its children, while its bounds may be too large
    stale: cython.p_int
    # of each node: a bit for each child that may have changed, see broadphase.overlaps
    changed: cython.p_int
    place_of: cython.p_int  # of each item: its place, or -1
    is_changed: cython.p_int  # of each item: 1 if it has changed since the last search for pairs
    spread: cython.double[9]  # of a node that is split: the middles of its children
    order: cython.int[9]
    cut_child: cython.int[9]
    cut_box: cython.double[54]

    def __init__(self, dim: cython.Py_ssize_t) -> None:
        self.dim = dim
        self.first_free = -1

    def __dealloc__(self) -> None:
        free(self.box)
        free(self.spare_box)
        free(self.build_box)
        free(self.lanes)
        free(self.origin)
        free(self.child)
        free(self.count)
        free(self.level)
        free(self.place)
        free(self.stale)
        free(self.changed)
        free(self.place_of)
        free(self.is_changed)

    @cython.inline
    def holds(self, item: cython.Py_ssize_t) -> cython.bint:
        """Return whether an item is in the tree."""
        return 0 <= item < self.item_room and self.place_of[item] >= 0

    @cython.inline
    def root(self) -> cython.int:
        """Return the root; 0 for an empty tree."""
        return self.child[0]

    def cost(self, node: cython.int) -> cython.double:
        """Return half the perimeter (2D) or surface (3D) of a node."""
        return _cost(self.box, self.dim, 2 * self.dim * self.place[node])

    # Room

    def make_room_for_items(self, n_items: cython.Py_ssize_t) -> cython.void:
        """Make room for items 0 to `n_items` - 1, at least twice as many as now."""
        old: cython.Py_ssize_t = self.item_room

        n_items = max(n_items, 2 * old)
        self.place_of = _grown_ints(self.place_of, n_items)
        self.is_changed = _grown_ints(self.is_changed, n_items)
        for i in range(old, n_items):
            self.place_of[i] = -1
            self.is_changed[i] = 0
        self.item_room = n_items

    def make_room_for_nodes(self, n_nodes: cython.Py_ssize_t) -> cython.void:
        """Make room for `n_nodes` more nodes and node 0, at least twice as many as now."""
        old: cython.Py_ssize_t = self.node_room
        room: cython.Py_ssize_t = self.n_nodes + n_nodes + 1
        dim: cython.Py_ssize_t = self.dim

        if room <= old:
            return
        room = max(room * 5 // 4, 2 * old)
        self.box = _grown_doubles(self.box, 16 * dim * room)
        self.build_box = _grown_doubles(self.build_box, 2 * dim * room)
        self.lanes = cython.cast(
            cython.p_float, _resized(self.lanes, 16 * dim * room, cython.sizeof(cython.float))
        )
        self.origin = _grown_doubles(self.origin, dim * room)
        self.child = _grown_ints(self.child, WIDTH * room)
        self.count = _grown_ints(self.count, room)
        self.level = _grown_ints(self.level, room)
        self.place = _grown_ints(self.place, room)
        self.stale = _grown_ints(self.stale, room)
        self.changed = _grown_ints(self.changed, room)
        self.node_room = room
        if old == 0:
            self.child[0] = self.count[0] = self.stale[0] = self.changed[0] = self.place[0] = 0
            self.level[0] = -1
            old = 1
        for k in range(room - 1, old - 1, -1):
            self.free_node(k)

    def make_spare_room(self) -> cython.void:
        """Make room in `spare_box` for all boxes."""
        if self.spare_room < self.node_room:
            self.spare_box = _grown_doubles(self.spare_box, 16 * self.dim * self.node_room)
            self.spare_room = self.node_room

    def free_spare(self) -> cython.void:
        """Free `spare_box`."""
        self.spare_room = 0
        self.spare_box = cython.cast(cython.p_double, _resized(self.spare_box, 0, 0))

    def allocate(self, level: cython.int) -> cython.int:
        """Allocate a node without children on a level.  There must be room for it."""
        node: cython.int = self.first_free

        self.first_free = self.place[node]
        self.n_nodes += 1
        self.count[node] = 0
        self.level[node] = level
        self.stale[node] = 0
        self.changed[node] = ALL_LANES
        return node

    def release(self, node: cython.int) -> cython.void:
        """Free a node that is in use."""
        self.n_nodes -= 1
        self.free_node(node)

    def free_node(self, node: cython.int) -> cython.void:
        """Add a node to the list of free nodes."""
        self.level[node] = -1
        self.count[node] = self.stale[node] = 0
        self.place[node] = self.first_free
        self.first_free = node

    # Bounds

    def refit(self, node: cython.int) -> cython.bint:
        """Fit the bounds of a node to its children; return whether they changed."""
        self.stale[node] = 0
        return fill(
            self.lanes, self.origin, self.box, node, self.count[node],
            2 * self.dim * self.place[node], self.dim,
        )  # fmt: skip

    def has_tight_bounds(self, node: cython.int) -> cython.bint:
        """Return whether a node's bounds hold its children and, unless stale, no more."""
        width: cython.Py_ssize_t = 2 * self.dim
        own: cython.Py_ssize_t = width * self.place[node]
        first: cython.Py_ssize_t = width * WIDTH * node

        for k in range(width):
            bound: cython.double = self.box[first + k]
            for at in range(first + k, first + width * self.count[node], width):
                if self.box[at] < bound if k < self.dim else self.box[at] > bound:
                    bound = self.box[at]
            if self.box[own + k] == bound:
                continue
            if not self.stale[node] or (self.box[own + k] > bound) == (k < self.dim):
                return False
        return True

    def refit_upwards(self, node: cython.int) -> cython.void:
        """Refit nodes from `node` upwards until bounds no longer change."""
        while node != 0:
            if not self.refit(node):
                return
            node = self.place[node] >> 3

    def replace_box(
        self, item: cython.Py_ssize_t, low: cython.p_double, high: cython.p_double
    ) -> cython.void:
        """Replace the box of an item by its row of two arrays of corners; widen the nodes above.

        The leaf is not refitted, so its bounds may stay too large.
        """
        box: cython.p_double = self.box
        dim: cython.Py_ssize_t = self.dim
        place: cython.Py_ssize_t = self.place_of[item]
        at: cython.Py_ssize_t = 2 * dim * place
        node: cython.Py_ssize_t = place >> 3
        fits: cython.bint = False

        for k in range(dim):
            box[at + k] = low[dim * item + k] + 0.0
            box[at + dim + k] = high[dim * item + k] + 0.0
        self.stale[node] = 1
        while node != 0:
            own: cython.Py_ssize_t = 2 * dim * self.place[node]
            fits = True
            for k in range(dim):
                lane: cython.Py_ssize_t = 16 * (dim * node + k) + (place & 7)
                self.lanes[lane] = box[at + k] - self.origin[dim * node + k]
                self.lanes[lane + 8] = box[at + dim + k] - self.origin[dim * node + k]
                if box[at + k] < box[own + k]:
                    box[own + k] = box[at + k]
                    fits = False
                if box[at + dim + k] > box[own + dim + k]:
                    box[own + dim + k] = box[at + dim + k]
                    fits = False
            if fits:
                break
            place = self.place[node]
            at = own
            node = place >> 3
        self.note_change(item)

    def refit_all_above(self, items: cython.int[::1], n_items: cython.Py_ssize_t) -> cython.void:
        """Refit all nodes above many items that have changed, from the leaves up, and mark them."""
        node: cython.int
        place: cython.int

        if 2 * n_items > self.n_items:  # nearly all nodes are above one of them
            for node in range(1, self.node_room):
                if self.level[node] >= 0:
                    self.stale[node] = 1
                    self.changed[node] = ALL_LANES
        else:
            for i in range(n_items):
                place = self.place_of[items[i]]
                while place >= WIDTH:
                    node = place >> 3
                    self.changed[node] |= 1 << (place & 7)
                    self.stale[node] = 1
                    place = self.place[node]
        self._refit_stale(self.root())

    def _refit_stale(self, node: cython.int) -> cython.void:
        """Refit a node after all stale nodes below it whose ancestors are stale too."""
        first: cython.Py_ssize_t = WIDTH * node

        if self.level[node] > 0:
            for place in range(first, first + self.count[node]):
                if self.stale[self.child[place]]:
                    self._refit_stale(self.child[place])
        self.refit(node)

    def note_change(self, item: cython.Py_ssize_t) -> cython.void:
        """Mark an item, and all places above it, as changed."""
        place: cython.int = self.place_of[item]
        node: cython.int = place >> 3

        self.is_changed[item] = 1
        while node != 0 and not self.changed[node] >> (place & 7) & 1:
            self.changed[node] |= 1 << (place & 7)
            place = self.place[node]
            node = place >> 3

    def _mark_all_changed(self, node: cython.int) -> cython.void:
        """Mark all children of a node, which have new places, and all places above as changed."""
        place: cython.int = self.place[node]

        self.changed[node] = ALL_LANES
        while place >= WIDTH:
            self.changed[place >> 3] |= 1 << (place & 7)
            place = self.place[place >> 3]

    def set_build_box(self, node: cython.int) -> cython.void:
        """Set the build box of a leaf to its current bounds."""
        width: cython.Py_ssize_t = 2 * self.dim

        for k in range(width):
            self.build_box[width * node + k] = self.box[width * self.place[node] + k]

    # Growing and shrinking

    def attach(self, item: cython.Py_ssize_t) -> cython.void:
        """Insert an item whose box is at `PENDING`.  Each level must have room for a node."""
        node: cython.int = self.root()

        self.n_items += 1
        if node == 0:
            node = self.allocate(0)
            self._make_root(node)
            self._copy_box(PENDING, 0)
            self.set_build_box(node)
        while self.level[node] > 0:
            node = self.child[WIDTH * node + self._best_lane(node)]
        self._insert(node, item)

    def detach(self, item: cython.Py_ssize_t) -> cython.void:
        """Remove an item."""
        place: cython.int = self.place_of[item]
        node: cython.int = place >> 3

        self.n_items -= 1
        self.place_of[item] = -1
        while True:
            self.count[node] -= 1
            last: cython.int = WIDTH * node + self.count[node]
            if last != place:
                self._copy_box(last, place)
                self._place_child(place, self.child[last])
            if self.count[node] > 0:
                break
            place = self.place[node]
            self.release(node)
            node = place >> 3
            if node == 0:
                self.child[0] = 0
                return
        self._mark_all_changed(node)
        self.refit_upwards(node)
        node = self.root()
        while self.level[node] > 0 and self.count[node] == 1:
            last = self.child[WIDTH * node]
            self.release(node)
            node = last
            self._make_root(node)
            self.refit(node)

    def _make_root(self, node: cython.int) -> cython.void:
        self.child[0] = node
        self.place[node] = 0

    def _copy_box(self, source: cython.Py_ssize_t, target: cython.Py_ssize_t) -> cython.void:
        """Copy the box at a place to another place."""
        width: cython.Py_ssize_t = 2 * self.dim

        for k in range(width):
            self.box[width * target + k] = self.box[width * source + k]

    def _place_child(self, place: cython.int, child: cython.int) -> cython.void:
        """Write a child to a place that already has its box."""
        self.child[place] = child
        if self.level[place >> 3] == 0:
            self.place_of[child] = place
        else:
            self.place[child] = place

    def _best_lane(self, node: cython.int) -> cython.int:
        """Return the lane of the first child whose bounds grow least by the pending box.

        Growth is measured by perimeter in 2D, by surface in 3D.
        """
        box: cython.p_double = self.box
        dim: cython.Py_ssize_t = self.dim
        p: cython.Py_ssize_t = 2 * dim * PENDING
        best: cython.int = 0
        minimum: cython.double = 0.0

        for lane in range(self.count[node]):
            q: cython.Py_ssize_t = 2 * dim * (WIDTH * node + lane)
            growth: cython.double = _cost_of_both(box, dim, p, q) - _cost(box, dim, q)
            if lane == 0 or growth < minimum:
                minimum = growth
                best = lane
        return best

    def _insert(self, node: cython.int, child: cython.int) -> cython.void:
        """Insert the pending child into a node; split a full node, and so on upwards."""
        while self.count[node] == WIDTH:
            other: cython.int = self.allocate(self.level[node])
            self._cut(node, other, child)
            if self.place[node] == 0:
                level: cython.int = self.level[node] + 1
                above: cython.int = self.allocate(level)
                self._make_root(above)
                self.count[above] = 1
                self._place_child(WIDTH * above, node)
            self.changed[node] = ALL_LANES
            self.refit(node)
            self.place[other] = PENDING
            self.refit(other)
            if self.level[other] == 0:
                self.set_build_box(node)
                self.set_build_box(other)
            child = other
            node = self.place[node] >> 3
        self._copy_box(PENDING, WIDTH * node + self.count[node])
        self._place_child(WIDTH * node + self.count[node], child)
        self.count[node] += 1
        self._mark_all_changed(node)
        self.refit_upwards(node)

    def _cut(self, node: cython.int, other: cython.int, child: cython.int) -> cython.void:
        """Distribute the children of a full node and the pending one over it and an empty node."""
        dim: cython.Py_ssize_t = self.dim
        axis: cython.Py_ssize_t = self._find_longest_axis(node)

        for i in range(WIDTH + 1):
            place: cython.Py_ssize_t = WIDTH * node + i if i < WIDTH else PENDING
            for k in range(2 * dim):
                self.cut_box[2 * dim * i + k] = self.box[2 * dim * place + k]
            self.cut_child[i] = self.child[place] if i < WIDTH else child
            middle: cython.double = (
                self.cut_box[2 * dim * i + axis] + self.cut_box[2 * dim * i + dim + axis]
            )
            j: cython.int = i
            while j > 0 and self.spread[j - 1] > middle:
                self.spread[j] = self.spread[j - 1]
                self.order[j] = self.order[j - 1]
                j -= 1
            self.spread[j] = middle
            self.order[j] = i
        self.count[node] = self.count[other] = 0
        for i in range(WIDTH + 1):
            j = self.order[i]
            if i > WIDTH // 2:
                node = other
            place = WIDTH * node + self.count[node]
            for k in range(2 * dim):
                self.box[2 * dim * place + k] = self.cut_box[2 * dim * j + k]
            self._place_child(place, self.cut_child[j])
            self.count[node] += 1

    def _find_longest_axis(self, node: cython.int) -> cython.Py_ssize_t:
        """Return the axis on which the centres of the children and the pending box spread most."""
        dim: cython.Py_ssize_t = self.dim
        axis: cython.Py_ssize_t = 0
        minimum: cython.double
        maximum: cython.double
        longest: cython.double = -1.0

        for k in range(dim):
            at: cython.Py_ssize_t = 2 * dim * PENDING
            minimum = maximum = self.box[at + k] + self.box[at + dim + k]
            for lane in range(WIDTH):
                at = 2 * dim * (WIDTH * node + lane)
                middle: cython.double = self.box[at + k] + self.box[at + dim + k]
                minimum = min(minimum, middle)
                maximum = max(maximum, middle)
            if maximum - minimum > longest:
                longest = maximum - minimum
                axis = k
        return axis


@cython.inline
def _cost(box: cython.p_double, dim: cython.Py_ssize_t, p: cython.Py_ssize_t) -> cython.double:
    """Return half the perimeter (2D) or surface (3D) of the box at `p`."""
    x: cython.double = box[p + dim] - box[p]
    y: cython.double = box[p + dim + 1] - box[p + 1]
    if dim == 2:
        return x + y
    z: cython.double = box[p + 5] - box[p + 2]
    return x * y + y * z + z * x


@cython.inline
def _cost_of_both(
    box: cython.p_double, dim: cython.Py_ssize_t, p: cython.Py_ssize_t, q: cython.Py_ssize_t
) -> cython.double:
    """Return half the perimeter (2D) or surface (3D) of the hull of the boxes at `p` and `q`."""
    x: cython.double = max(box[p + dim], box[q + dim]) - min(box[p], box[q])
    y: cython.double = max(box[p + dim + 1], box[q + dim + 1]) - min(box[p + 1], box[q + 1])
    if dim == 2:
        return x + y
    z: cython.double = max(box[p + 5], box[q + 5]) - min(box[p + 2], box[q + 2])
    return x * y + y * z + z * x


def _grown_ints(old: cython.p_int, n: cython.size_t) -> cython.p_int:
    """Return an array extended to `n` ints; the new ones are undefined."""
    return cython.cast(cython.p_int, _resized(old, n, cython.sizeof(cython.int)))


def _grown_doubles(old: cython.p_double, n: cython.size_t) -> cython.p_double:
    """Return an array lengthened to `n` doubles, which are not set yet."""
    return cython.cast(cython.p_double, _resized(old, n, cython.sizeof(cython.double)))


def _resized(old: cython.p_void, n: cython.size_t, size: cython.size_t) -> cython.p_void:
    """Return an array with room for `n` numbers of `size` bytes; NULL for none."""
    if not cython.compiled:
        return [*(old or [])[:n], *[0] * (n - len(old or []))]
    if n == 0:
        free(old)
        return cython.NULL
    new: cython.p_void = realloc(old, n * size)
    if new is cython.NULL:
        raise MemoryError(f"no room for {n} numbers of a tree")
    return new
