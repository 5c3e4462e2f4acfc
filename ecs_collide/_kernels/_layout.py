# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Lay out a whole tree of boxes anew, along a Morton curve.

The middles of all boxes are sorted along a curve that fills space, cell by
cell; eight that follow each other share a node, eight such nodes the next, and
so on up.  Nodes stand in memory in the order of the curve, so that what is
near in space is near in memory.

The cells of one grid are too coarse where most boxes crowd in one corner of
the world.  So boxes that fall into one cell, if they are many, are sorted
again by a grid of their own, and so on: no scene is too uneven.

Notes
-----
Morton, "A computer oriented geodetic data base and a new technique in file
sequencing" (1966).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide._kernels._nodes_c import WIDTH, Nodes
else:
    from ecs_collide._kernels._nodes import WIDTH, Nodes

from ecs_collide._kernels._memory import LONG, zeros

cython.declare(
    DIGIT=cython.int,
    N_DIGITS=cython.int,
    PLACE_BITS=cython.int,
    PLACE=cython.longlong,
    CROWD=cython.Py_ssize_t,
    FEW=cython.Py_ssize_t,
    LEAST_LENGTH=cython.double,
)
DIGIT = 11  # bits of a key that are sorted at once
N_DIGITS = 2048
PLACE_BITS = 32  # of a key: what it belongs to, below two digits of where that is
PLACE = 0xFFFFFFFF
CROWD = 2 * WIDTH  # more than so many boxes in a cell are sorted again
FEW = 96  # so many are quicker sorted by insertion
LEAST_LENGTH = 1e-290  # of a grid; middles that are closer than that count as one


@cython.final
@cython.cclass
class Layout:
    """What it takes to lay out some nodes: the line in which their items stand."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.keys = zeros(LONG, 0)
        self.spare = zeros(LONG, 0)
        self.old_child = zeros(LONG, 0)
        self.runs = zeros(LONG, 64)
        self.counts = zeros(LONG, 2 * N_DIGITS)
        if not cython.compiled:
            self.least = [0.0] * 3
            self.cell = [0] * 3

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def lay_out(self) -> cython.int:
        """Make all nodes of the tree anew.

        Items that have a place in a node which hangs nowhere come in too.
        """
        nodes: Nodes = self.nodes
        n: cython.Py_ssize_t = nodes.n_items
        n_level: cython.Py_ssize_t
        n_nodes: cython.Py_ssize_t = 0

        if n == 0:
            return 0
        n_level = n
        while n_level > 1 or n_nodes == 0:
            n_level = (n_level + WIDTH - 1) // WIDTH
            n_nodes += n_level
        nodes.make_room_for_nodes(n_nodes - nodes.n_nodes)
        if self.keys.shape[0] < n:
            self.keys = zeros(LONG, max(n, 2 * self.keys.shape[0]))
            self.spare = zeros(LONG, self.keys.shape[0])
            self.old_child = zeros(LONG, self.keys.shape[0])
        self._line_up()
        self._sort()
        self._build()
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _line_up(self) -> cython.void:
        """Write the places of all items into the line, node by node."""
        nodes: Nodes = self.nodes
        keys: cython.longlong[::1] = self.keys
        node: cython.int
        place: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0

        for node in range(1, nodes.node_room):
            if nodes.level[node] == 0:
                for place in range(WIDTH * node, WIDTH * node + nodes.count[node]):
                    keys[n] = place
                    n += 1

    # Order

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _sort(self) -> cython.int:
        """Sort the line along the curve; cells with too many boxes by grids of their own."""
        keys: cython.longlong[::1] = self.keys
        start: cython.Py_ssize_t
        end: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        top: cython.Py_ssize_t = 0
        cell: cython.longlong

        self.runs[0] = 0
        self.runs[1] = self.nodes.n_items
        while top >= 0:
            start = self.runs[top]
            end = self.runs[top + 1]
            top -= 2
            if not self._find_keys(start, end):
                continue
            if end - start <= FEW:
                self._insert(start, end)
            else:
                self._distribute(start, end)
            i = start
            while i < end:
                cell = keys[i] >> PLACE_BITS
                j = i + 1
                while j < end and keys[j] >> PLACE_BITS == cell:
                    j += 1
                if j - i > CROWD:
                    if top + 4 > self.runs.shape[0]:
                        self.runs = _doubled(self.runs)
                    top += 2
                    self.runs[top] = i
                    self.runs[top + 1] = j
                i = j
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _find_keys(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Write the keys of a part of the line; False if all its middles are in one place.

        The cells are cubes, 2048 of them along the longest axis in 2D and 128
        in 3D.
        """
        nodes: Nodes = self.nodes
        box: cython.p_double = nodes.box
        keys: cython.longlong[::1] = self.keys
        dim: cython.Py_ssize_t = nodes.dim
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        place: cython.longlong
        middle: cython.double
        low: cython.double
        high: cython.double
        length: cython.double = 0.0
        scale: cython.double
        n_cells: cython.int = 2048 if dim == 2 else 128

        for k in range(dim):
            at = 2 * dim * (keys[start] & PLACE) + k
            low = high = box[at] + box[at + dim]
            for i in range(start + 1, end):
                at = 2 * dim * (keys[i] & PLACE) + k
                middle = box[at] + box[at + dim]
                low = middle if middle < low else low
                high = middle if middle > high else high
            self.least[k] = low
            length = max(length, high - low)
        if not length > LEAST_LENGTH:
            return False
        scale = n_cells / length
        for i in range(start, end):
            place = keys[i] & PLACE
            at = 2 * dim * place
            for k in range(dim):
                middle = box[at + k] + box[at + dim + k]
                self.cell[k] = min(_whole((middle - self.least[k]) * scale), n_cells - 1)
            if dim == 2:
                keys[i] = _interleave_2(self.cell[0], self.cell[1]) << PLACE_BITS | place
            else:
                keys[i] = (
                    _interleave_3(self.cell[0], self.cell[1], self.cell[2]) << PLACE_BITS | place
                )
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def _insert(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.void:
        """Sort a short part of the line."""
        keys: cython.longlong[::1] = self.keys
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        key: cython.longlong

        for i in range(start + 1, end):
            key = keys[i]
            j = i
            while j > start and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key

    @cython.cfunc
    @cython.exceptval(check=False)
    def _distribute(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.void:
        """Sort a long part of the line by cell: two passes of a radix sort, which keep order."""
        keys: cython.longlong[::1] = self.keys
        spare: cython.longlong[::1] = self.spare
        counts: cython.longlong[::1] = self.counts
        i: cython.Py_ssize_t
        digit: cython.Py_ssize_t
        low: cython.longlong = start
        high: cython.longlong = start
        n: cython.longlong

        for i in range(2 * N_DIGITS):
            counts[i] = 0
        for i in range(start, end):
            counts[keys[i] >> PLACE_BITS & (N_DIGITS - 1)] += 1
            counts[N_DIGITS + (keys[i] >> (PLACE_BITS + DIGIT))] += 1
        for i in range(N_DIGITS):
            n = counts[i]
            counts[i] = low
            low += n
            n = counts[N_DIGITS + i]
            counts[N_DIGITS + i] = high
            high += n
        for i in range(start, end):
            digit = keys[i] >> PLACE_BITS & (N_DIGITS - 1)
            spare[counts[digit]] = keys[i]
            counts[digit] += 1
        for i in range(start, end):
            digit = N_DIGITS + (spare[i] >> (PLACE_BITS + DIGIT))
            keys[counts[digit]] = spare[i]
            counts[digit] += 1

    # Nodes

    @cython.cfunc
    @cython.exceptval(check=False)
    def _build(self) -> cython.void:
        """Make nodes 1, 2, ... from the line, level by level, and hang them into each other."""
        nodes: Nodes = self.nodes
        old_box: cython.p_double = nodes.box
        box: cython.p_double = nodes.spare_box
        keys: cython.longlong[::1] = self.keys
        width: cython.Py_ssize_t = 2 * nodes.dim
        n: cython.Py_ssize_t = nodes.n_items
        n_nodes: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        place: cython.Py_ssize_t
        old: cython.Py_ssize_t
        first: cython.int = 0  # what is to be hung: items, then nodes of a level
        node: cython.int = 1
        lane: cython.int
        level: cython.int = 0

        for i in range(n):
            self.old_child[i] = nodes.child[keys[i] & PLACE]
        nodes.box = box
        nodes.spare_box = old_box
        while True:
            n_nodes = (n + WIDTH - 1) // WIDTH
            i = 0
            for k in range(n_nodes):
                nodes.level[node] = level
                nodes.stale[node] = 0
                nodes.changed[node] = 0
                # As evenly as can be: the last node of a level may not be all but empty.
                nodes.count[node] = (n * (k + 1)) // n_nodes - i
                for lane in range(nodes.count[node]):
                    place = WIDTH * node + lane
                    if level > 0:
                        nodes.child[place] = first + i
                        nodes.place[first + i] = place
                        if nodes.changed[first + i]:
                            nodes.changed[node] |= 1 << lane
                    else:
                        old = keys[i] & PLACE
                        _copy(old_box, width * old, box, width * place, width)
                        nodes.child[place] = self.old_child[i]
                        nodes.place_of[self.old_child[i]] = place
                        if nodes.is_changed[self.old_child[i]]:
                            nodes.changed[node] |= 1 << lane
                    i += 1
                node += 1
            if level > 0:
                for i in range(first, first + n):
                    nodes.refresh(i)
            first = node - n_nodes
            n = n_nodes
            level += 1
            if n == 1:
                break
        nodes.child[0] = first
        nodes.place[first] = 0
        nodes.refresh(first)
        nodes.n_nodes = node - 1
        nodes.first_free = -1
        for i in range(nodes.node_room - 1, node - 1, -1):
            nodes._free(i)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _copy(
    source: cython.p_double,
    p: cython.Py_ssize_t,
    target: cython.p_double,
    q: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
) -> cython.void:
    """Copy n numbers."""
    k: cython.Py_ssize_t

    for k in range(n):
        target[q + k] = source[p + k]


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _whole(x: cython.double) -> cython.int:
    """Return a number >= 0 without its fraction."""
    if cython.compiled:
        return cython.cast(cython.int, x)
    return int(x)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _interleave_2(x: cython.longlong, y: cython.longlong) -> cython.longlong:
    """Return 22 bits: those of two numbers of 11 in turn, the second's first."""
    return _spread_2(x) | _spread_2(y) << 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _spread_2(x: cython.longlong) -> cython.longlong:
    """Return a number of 11 bits with a zero between any two of them."""
    x = (x | x << 8) & 0x00FF00FF
    x = (x | x << 4) & 0x0F0F0F0F
    x = (x | x << 2) & 0x33333333
    return (x | x << 1) & 0x55555555


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _interleave_3(x: cython.longlong, y: cython.longlong, z: cython.longlong) -> cython.longlong:
    """Return 21 bits: those of three numbers of 7 in turn, the third's first."""
    return _spread_3(x) | _spread_3(y) << 1 | _spread_3(z) << 2


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _spread_3(x: cython.longlong) -> cython.longlong:
    """Return a number of 7 bits with two zeros between any two of them."""
    x = (x | x << 8) & 0x0000F00F
    x = (x | x << 4) & 0x000C30C3
    return (x | x << 2) & 0x00049249


@cython.cfunc
def _doubled(view: cython.longlong[::1]) -> object:
    """Return a copy of an array with twice its length."""
    i: cython.Py_ssize_t
    new: cython.longlong[::1] = zeros(LONG, 2 * view.shape[0])

    for i in range(view.shape[0]):
        new[i] = view[i]
    return new
