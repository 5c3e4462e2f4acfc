# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The nodes of a tree of boxes, and their balance.

*Items* are small non-negative ints, the rows of whoever owns the tree.  Every
item has a leaf with its bounds; a branch has two children, and bounds that
hold theirs.  Nodes are numbers into a few columns; freed ones are reused.

Why this balance
----------------
A leaf goes down to the leaf beside which bounds grow least (by perimeter in
2D, by surface in 3D), and the two become siblings.  Then, on the way up and
as far as anything changes, each branch gets its height and bounds anew, and
is *rotated* where its children differ in height by 2: the taller child takes
its place.  So the children of a branch never differ by more than 1, the AVL
condition, which bounds the height of n leaves by 1.44 * log2(n) for any
input: sorted rows, nested or identical boxes, points.  Balance by area alone
has no such bound; 1,000 boxes in a sorted row get 999 deep with none at all.

The price is that a lone box can never hang high up, beside a tall branch,
where it would fit best.  That is made good from time to time by laying out
the whole tree anew: see `_layout`.  With that, exchanging nodes for area
after each insertion, as other trees do, was found to gain less than it costs.

Notes
-----
Adelson-Velsky and Landis, "An algorithm for the organization of information"
(1962); here one rotation is always enough, because the children of a branch
have no order and the taller grandchild can stay high, whichever it is.
Descent by surface: Goldsmith and Salmon, "Automatic Creation of Object
Hierarchies for Ray Tracing" (1987).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.libc.stdlib import free, realloc

cython.declare(MANY_TURNS=cython.int)
MANY_TURNS = 0xFFFF


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
class Nodes:
    """The nodes of one tree.

    Callers answer for finite boxes with min <= max.
    """

    def __init__(self, dim: cython.Py_ssize_t) -> None:
        if not cython.compiled:
            self.box = []
            self.spare_box = []
            self.child = []
            self.parent = []
            self.height = []
            self.leaf_of = []
            self.turn_of = []
            self.stack = [0] * 256
        self.dim = dim
        self.n_items = 0
        self.node_room = 0
        self.item_room = 0
        self.root = -1
        self.first_free = -1

    def __dealloc__(self) -> None:
        if cython.compiled:
            free(self.box)
            free(self.spare_box)
            free(self.child)
            free(self.parent)
            free(self.height)
            free(self.leaf_of)
            free(self.turn_of)

    @cython.cfunc
    @cython.exceptval(check=False)
    def holds(self, item: cython.Py_ssize_t) -> cython.bint:
        """Tell whether an item has a leaf."""
        return 0 <= item < self.item_room and self.leaf_of[item] >= 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def cost(self, one: cython.int, other: cython.int) -> cython.double:
        """Return half the perimeter (2D) or surface (3D) of the box around two nodes."""
        return _cost(self.box, self.dim, one, other)

    # Room

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make_room(self, n_nodes: cython.Py_ssize_t, n_items: cython.Py_ssize_t) -> cython.int:
        """Grow the columns, at least twofold, to so many nodes and numbers of items."""
        i: cython.Py_ssize_t
        old: cython.Py_ssize_t = self.item_room

        if n_items > old:
            n_items = max(n_items, 2 * old)
            if cython.compiled:
                self.leaf_of = _grown_ints(self.leaf_of, n_items)
                self.turn_of = _grown_ints(self.turn_of, n_items)
            else:
                self.leaf_of += [0] * (n_items - old)
                self.turn_of += [0] * (n_items - old)
            for i in range(old, n_items):
                self.leaf_of[i] = -1
                self.turn_of[i] = 0
            self.item_room = n_items
        old = self.node_room
        if n_nodes > old:
            n_nodes = max(n_nodes, 2 * old)
            if cython.compiled:
                self.box = _grown_doubles(self.box, 2 * self.dim * n_nodes)
                self.spare_box = _grown_doubles(self.spare_box, 2 * self.dim * n_nodes)
                self.child = _grown_ints(self.child, 2 * n_nodes)
                self.parent = _grown_ints(self.parent, n_nodes)
                self.height = _grown_ints(self.height, n_nodes)
            else:
                self.box += [0.0] * (2 * self.dim * (n_nodes - old))
                self.spare_box += [0.0] * (2 * self.dim * (n_nodes - old))
                self.child += [0] * (2 * (n_nodes - old))
                self.parent += [0] * (n_nodes - old)
                self.height += [0] * (n_nodes - old)
            for i in range(n_nodes - 1, old - 1, -1):
                self.release(i)
            self.node_room = n_nodes
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def take(self) -> cython.int:
        """Return a free node; there must be one."""
        node: cython.int = self.first_free

        self.first_free = self.parent[node]
        return node

    @cython.cfunc
    @cython.exceptval(check=False)
    def release(self, node: cython.int) -> cython.void:
        """Make a node free: the next one to be taken."""
        self.height[node] = -1
        self.parent[node] = self.first_free
        self.first_free = node

    # Leaves

    @cython.cfunc
    @cython.exceptval(check=False)
    def store(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.void:
        """Write box `row` of two arrays into an item's leaf, a new one where it has none.

        There must be room for that, and for the branch that will join the
        leaf to its sibling.  The leaf must then be attached, or the tree laid
        out.
        """
        dim: cython.Py_ssize_t = self.dim
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t
        leaf: cython.int

        if not self.holds(item):
            leaf = self.take()
            self.leaf_of[item] = leaf
            self.child[2 * leaf] = -1
            self.child[2 * leaf + 1] = item
            self.height[leaf] = 0
            self.n_items += 1
        self.turn_of[item] = (self.turn_of[item] + 1) & MANY_TURNS
        at = 2 * dim * self.leaf_of[item]
        for k in range(dim):
            self.box[at + k] = mins[row, k]
            self.box[at + dim + k] = maxs[row, k]

    @cython.cfunc
    @cython.exceptval(check=False)
    def forget(self, item: cython.Py_ssize_t) -> cython.void:
        """Free the leaf of an item, which must be detached."""
        self.release(self.leaf_of[item])
        self.leaf_of[item] = -1
        self.n_items -= 1

    # Balance

    @cython.cfunc
    @cython.exceptval(check=False)
    def attach(self, leaf: cython.int) -> cython.void:
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
        branch = self.take()
        self._hang(above, node, branch)
        self._join(branch, node, leaf)
        self._climb(above)

    @cython.cfunc
    @cython.exceptval(check=False)
    def detach(self, leaf: cython.int) -> cython.void:
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
        self.release(branch)
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
        self.refit(branch)

    @cython.cfunc
    @cython.exceptval(check=False)
    def refit(self, node: cython.int) -> cython.bint:
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
            elif not self.refit(node):
                return
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
