"""The nodes of a wide tree of boxes, and how it grows and shrinks.

*Items* are small non-negative ints, the rows of whoever owns the tree.  A node
has up to eight children: items on level 0, nodes of the level below on all
others.  All ways down are equally long.

A node is eight *places* in a row for its children: the box of each, and which
it is.  The bounds of a node are not in the node but where it hangs, in a place
of its parent.  Node 0 is no part of the tree: in its first place hangs the
root, in its second what waits to be hung elsewhere.

Why this shape
--------------
What a tree costs is where it sends the memory bus and the branch predictor.
Eight boxes that stand side by side are compared with one in a few
instructions that need no prediction (see `broadphase/simd.h`), and the tree over n
items has but n / 7 nodes.  `docs/design.md` tells what was measured.

A node on level 0 has a *home*, the bounds it had when it was made.  An item
that moves stays in its node while its middle is in the home of that; so nodes
drift apart by half a box at most, and few of the items that move about have to
be hung elsewhere.

An item goes down to the node whose bounds grow least.  A full node is cut in
two on the axis on which its children's middles lie furthest apart; the new
half goes to its parent, which may be cut in turn, up to the root.  So all
items stay on one level.  An empty node is taken out; a root with a single
child is replaced by it.

Notes
-----
Guttman, "R-trees: a dynamic index structure for spatial searching" (1984);
Garanzha, Pantaleoni and McAllister, "Simpler and faster HLBVH with work
queues" (2011) for layouts along a Morton curve, see `broadphase.rebuild`.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.simd_c import ALL_LANES, PENDING, WIDTH, fill
    from cython.cimports.libc.stdlib import free, realloc
else:
    from ecs_collide.broadphase.simd import ALL_LANES, PENDING, WIDTH, fill


@cython.final
@cython.cclass
class Nodes:
    """The nodes of one tree.  Callers answer for finite boxes with min <= max."""

    def __init__(self, dim: cython.Py_ssize_t) -> None:
        if not cython.compiled:
            self.box = []
            self.spare_box = []
            self.build_box = []
            self.lanes = self.origin = None
            self.child = []
            self.count = []
            self.level = []
            self.place = []
            self.stale = []
            self.changed = []
            self.place_of = []
            self.is_changed = []
            self.spread = [0.0] * 9
            self.order = [0] * 9
            self.cut_child = [0] * 9
            self.cut_box = [0.0] * 54
        self.dim = dim
        self.n_items = 0
        self.n_nodes = 0
        self.node_room = 0
        self.item_room = 0
        self.first_free = -1

    def __dealloc__(self) -> None:
        if cython.compiled:
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

    @cython.cfunc
    @cython.exceptval(check=False)
    def holds(self, item: cython.Py_ssize_t) -> cython.bint:
        """Return whether an item is in the tree."""
        return 0 <= item < self.item_room and self.place_of[item] >= 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def root(self) -> cython.int:
        """Return the root; 0 for an empty tree."""
        return self.child[0]

    @cython.cfunc
    @cython.exceptval(check=False)
    def cost(self, node: cython.int) -> cython.double:
        """Return half the perimeter (2D) or surface (3D) of a node."""
        at: cython.Py_ssize_t = 2 * self.dim * self.place[node]

        return _cost(self.box, self.dim, at, at)

    # Room

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make_room_for_items(self, n_items: cython.Py_ssize_t) -> cython.int:
        """Grow, at least twofold, to items 0 to `n_items` - 1, more than there are now."""
        old: cython.Py_ssize_t = self.item_room
        i: cython.Py_ssize_t

        n_items = max(n_items, 2 * old)
        if cython.compiled:
            self.place_of = _grown_ints(self.place_of, n_items)
            self.is_changed = _grown_ints(self.is_changed, n_items)
        else:
            self.place_of += [0] * (n_items - old)
            self.is_changed += [0] * (n_items - old)
        for i in range(old, n_items):
            self.place_of[i] = -1
            self.is_changed[i] = 0
        self.item_room = n_items
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make_room_for_nodes(self, n_nodes: cython.Py_ssize_t) -> cython.int:
        """Grow, at least twofold, until so many nodes are free, and node 0 is there."""
        old: cython.Py_ssize_t = self.node_room
        room: cython.Py_ssize_t = self.n_nodes + n_nodes + 1
        dim: cython.Py_ssize_t = self.dim
        k: cython.Py_ssize_t

        if room <= old:
            return 0
        room = max(room, 2 * old)
        if cython.compiled:
            self.box = _grown_doubles(self.box, 16 * dim * room)
            self.spare_box = _grown_doubles(self.spare_box, 16 * dim * room)
            self.build_box = _grown_doubles(self.build_box, 2 * dim * room)
            self.lanes = _grown_floats(self.lanes, 16 * dim * room)
            self.origin = _grown_doubles(self.origin, dim * room)
            self.child = _grown_ints(self.child, WIDTH * room)
            self.count = _grown_ints(self.count, room)
            self.level = _grown_ints(self.level, room)
            self.place = _grown_ints(self.place, room)
            self.stale = _grown_ints(self.stale, room)
            self.changed = _grown_ints(self.changed, room)
        else:
            more: cython.Py_ssize_t = room - old
            self.box += [0.0] * (16 * dim * more)
            self.spare_box += [0.0] * (16 * dim * more)
            self.build_box += [0.0] * (2 * dim * more)
            self.child += [0] * (WIDTH * more)
            self.count += [0] * more
            self.level += [0] * more
            self.place += [0] * more
            self.stale += [0] * more
            self.changed += [0] * more
        self.node_room = room
        if old == 0:
            self.child[0] = self.count[0] = self.stale[0] = self.changed[0] = self.place[0] = 0
            self.level[0] = -1
            old = 1
        for k in range(room - 1, old - 1, -1):
            self.free_node(k)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def allocate(self, level: cython.int) -> cython.int:
        """Return a free node, with no children, for a level.  Room must have been made."""
        node: cython.int = self.first_free

        self.first_free = self.place[node]
        self.n_nodes += 1
        self.count[node] = 0
        self.level[node] = level
        self.stale[node] = 0
        self.changed[node] = ALL_LANES
        return node

    @cython.cfunc
    @cython.exceptval(check=False)
    def release(self, node: cython.int) -> cython.void:
        """Give a node back."""
        self.n_nodes -= 1
        self.free_node(node)

    @cython.cfunc
    @cython.exceptval(check=False)
    def free_node(self, node: cython.int) -> cython.void:
        """Put a node into the list of those that are not in use."""
        self.level[node] = -1
        self.count[node] = self.stale[node] = 0
        self.place[node] = self.first_free
        self.first_free = node

    # Bounds

    @cython.cfunc
    @cython.exceptval(check=False)
    def refresh(self, node: cython.int) -> cython.bint:
        """Set the bounds of a node from its children; return whether they changed."""
        self.stale[node] = 0
        return fill(
            self.lanes, self.origin, self.box, node, self.count[node],
            2 * self.dim * self.place[node], self.dim,
        )  # fmt: skip

    @cython.cfunc
    @cython.exceptval(check=False)
    def climb(self, node: cython.int) -> cython.void:
        """Refresh nodes from `node` upwards, as far as bounds change."""
        while node != 0:
            if not self.refresh(node):
                return
            node = self.place[node] >> 3

    @cython.cfunc
    @cython.exceptval(check=False)
    def refresh_above(self, items: cython.longlong[::1], n_items: cython.Py_ssize_t) -> cython.void:
        """Refresh all nodes above many items that have changed, level by level, and note it."""
        level: cython.int
        node: cython.int
        i: cython.Py_ssize_t

        for i in range(n_items):
            self._mark_stale(self.place_of[items[i]])
        for level in range(self.level[self.root()] + 1):
            for node in range(1, self.node_room):
                if self.stale[node] and self.level[node] == level:
                    self.refresh(node)
                    self._mark_stale(self.place[node])
        self.stale[0] = self.changed[0] = 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _mark_stale(self, place: cython.int) -> cython.void:
        """Note that what stands at a place has changed, and that its node is to be refreshed."""
        self.changed[place >> 3] |= 1 << (place & 7)
        self.stale[place >> 3] = 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def note_change(self, item: cython.Py_ssize_t) -> cython.void:
        """Note of an item, and all the way up, that it has changed."""
        place: cython.int = self.place_of[item]
        node: cython.int = place >> 3

        self.is_changed[item] = 1
        while node != 0 and not self.changed[node] >> (place & 7) & 1:
            self.changed[node] |= 1 << (place & 7)
            place = self.place[node]
            node = place >> 3

    @cython.cfunc
    @cython.exceptval(check=False)
    def _mark_all_changed(self, node: cython.int) -> cython.void:
        """Note all the way up that any child of a node may have changed: they changed places."""
        place: cython.int = self.place[node]

        self.changed[node] = ALL_LANES
        while place >= WIDTH:
            self.changed[place >> 3] |= 1 << (place & 7)
            place = self.place[place >> 3]

    @cython.cfunc
    @cython.exceptval(check=False)
    def set_build_box(self, node: cython.int) -> cython.void:
        """Let the home of a node be the bounds it has now."""
        k: cython.Py_ssize_t
        width: cython.Py_ssize_t = 2 * self.dim

        for k in range(width):
            self.build_box[width * node + k] = self.box[width * self.place[node] + k]

    # Growing and shrinking

    @cython.cfunc
    @cython.exceptval(check=False)
    def attach(self, item: cython.Py_ssize_t) -> cython.void:
        """Hang an item in, whose box waits; room for a node on each level must have been made."""
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

    @cython.cfunc
    @cython.exceptval(check=False)
    def detach(self, item: cython.Py_ssize_t) -> cython.void:
        """Take an item out."""
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
        self.climb(node)
        node = self.root()
        while self.level[node] > 0 and self.count[node] == 1:
            last = self.child[WIDTH * node]
            self.release(node)
            node = last
            self._make_root(node)
            self.refresh(node)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _make_root(self, node: cython.int) -> cython.void:
        self.child[0] = node
        self.place[node] = 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _copy_box(self, source: cython.Py_ssize_t, target: cython.Py_ssize_t) -> cython.void:
        """Copy the box at a place to another place."""
        k: cython.Py_ssize_t
        width: cython.Py_ssize_t = 2 * self.dim

        for k in range(width):
            self.box[width * target + k] = self.box[width * source + k]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _place_child(self, place: cython.int, child: cython.int) -> cython.void:
        """Let a child stand at a place, where its box is already."""
        self.child[place] = child
        if self.level[place >> 3] == 0:
            self.place_of[child] = place
        else:
            self.place[child] = place

    @cython.cfunc
    @cython.exceptval(check=False)
    def _best_lane(self, node: cython.int) -> cython.int:
        """Return the child of a branch whose bounds grow least by what waits; of many the first.

        Bounds are measured by perimeter in 2D, by surface in 3D.
        """
        box: cython.p_double = self.box
        dim: cython.Py_ssize_t = self.dim
        p: cython.Py_ssize_t = 2 * dim * PENDING
        lane: cython.int
        best: cython.int = 0
        minimum: cython.double = 0.0

        for lane in range(self.count[node]):
            q: cython.Py_ssize_t = 2 * dim * (WIDTH * node + lane)
            growth: cython.double = _cost(box, dim, p, q) - _cost(box, dim, q, q)
            if lane == 0 or growth < minimum:
                minimum = growth
                best = lane
        return best

    @cython.cfunc
    @cython.exceptval(check=False)
    def _insert(self, node: cython.int, child: cython.int) -> cython.void:
        """Hang what waits into a node; a full one is cut in two, and so on upwards."""
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
            self.refresh(node)
            self.place[other] = PENDING
            self.refresh(other)
            if self.level[other] == 0:
                self.set_build_box(node)
                self.set_build_box(other)
            child = other
            node = self.place[node] >> 3
        self._copy_box(PENDING, WIDTH * node + self.count[node])
        self._place_child(WIDTH * node + self.count[node], child)
        self.count[node] += 1
        self._mark_all_changed(node)
        self.climb(node)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _cut(self, node: cython.int, other: cython.int, child: cython.int) -> cython.void:
        """Share the children of a full node, and one more that waits, with an empty node."""
        dim: cython.Py_ssize_t = self.dim
        axis: cython.Py_ssize_t = self._find_longest_axis(node)
        i: cython.int
        k: cython.Py_ssize_t

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

    @cython.cfunc
    @cython.exceptval(check=False)
    def _find_longest_axis(self, node: cython.int) -> cython.Py_ssize_t:
        """Return the axis on which the middles of a full node and of what waits spread most."""
        dim: cython.Py_ssize_t = self.dim
        k: cython.Py_ssize_t
        axis: cython.Py_ssize_t = 0
        lane: cython.int
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


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _cost(
    box: cython.p_double, dim: cython.Py_ssize_t, p: cython.Py_ssize_t, q: cython.Py_ssize_t
) -> cython.double:
    """Return half the perimeter (2D) or surface (3D) of the box around those at `p` and `q`."""
    x: cython.double = max(box[p + dim], box[q + dim]) - min(box[p], box[q])
    y: cython.double = max(box[p + dim + 1], box[q + dim + 1]) - min(box[p + 1], box[q + 1])

    if dim == 2:
        return x + y
    z: cython.double = max(box[p + 5], box[q + 5]) - min(box[p + 2], box[q + 2])
    return x * y + y * z + z * x


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

    @cython.cfunc
    def _grown_floats(old: cython.p_float, n: cython.size_t) -> cython.p_float:
        new: cython.p_float = cython.cast(
            cython.p_float, realloc(old, n * cython.sizeof(cython.float))
        )
        if new is cython.NULL:
            raise MemoryError(f"no room for {n} floats of a tree")
        return new
