# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Which bodies may meet in a step: two trees, and the pairs they yield.

Bodies that do not move live in a tree of their own, which a step leaves alone.
The bounds of a moving body hold all of its path; they are fattened, so that a
body is reinserted only when its path escapes them.  Each body is paired with
all whose bounds touch its own, so how fat bounds are decides how many pairs
are swept in vain, and nothing else.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide._kernels._bodies_c import Bodies
    from cython.cimports.ecs_collide._kernels._pairs_c import Pairs
    from cython.cimports.ecs_collide._kernels._queue_c import Queue
    from cython.cimports.ecs_collide._kernels._tree_c import Tree, fatten
else:
    from ecs_collide._kernels._bodies import Bodies
    from ecs_collide._kernels._pairs import Pairs
    from ecs_collide._kernels._queue import Queue
    from ecs_collide._kernels._tree import Tree, fatten

from ecs_collide._kernels._memory import DOUBLE, LONG, grown, zeros

cython.declare(TOO_BIG=cython.double)
TOO_BIG = 4.0  # fat bounds this many times larger than fresh ones are renewed


@cython.cclass
class Candidates:
    """The trees over the bodies, and the search for pairs.

    Attributes
    ----------
    still, moving : Tree
        Their items are rows.
    margin, lookahead : float
        How far bounds are fattened; see `fatten`.
    n_reinsertions : int
        In this step.
    """

    def __init__(self, bodies: Bodies, pairs: Pairs, queue: Queue):
        self.bodies = bodies
        self.pairs = pairs
        self.queue = queue
        self.still = Tree(bodies.dim)
        self.moving = Tree(bodies.dim)
        self.margin = -1.0
        self.lookahead = 2.0
        self.n_reinsertions = 0
        self.fat_min = zeros(DOUBLE, 1, bodies.dim)
        self.fat_max = zeros(DOUBLE, 1, bodies.dim)
        self.escaped = zeros(LONG, 1)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.fat_min = grown(self.fat_min, n_rows)
        self.fat_max = grown(self.fat_max, n_rows)
        self.escaped = grown(self.escaped, n_rows)

    def place_still(self, rows: cython.longlong[::1]):
        """Put bodies that do not move into their tree, where they now are."""
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t

        if rows.shape[0] == 0:
            return
        for n in range(rows.shape[0]):
            i = rows[n]
            self.moving.drop(i)
            self.bodies.find_swept_bounds(i)
        self.still.put_rows(rows, self.bodies.swept_min, self.bodies.swept_max)

    def place_moving(self, rows: cython.longlong[::1]):
        """Reinsert the moving bodies whose path of this step escapes their fat bounds."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        n_escaped: cython.Py_ssize_t = 0

        for n in range(rows.shape[0]):
            i = rows[n]
            self.still.drop(i)
            self._fatten(i)
            if not self.moving.covers(i, b.swept_min, b.swept_max, i) or self.moving.exceeds(
                i, self.fat_min, self.fat_max, i, TOO_BIG
            ):
                self.escaped[n_escaped] = i
                n_escaped += 1
        if n_escaped:
            self.moving.put_rows(self.escaped[:n_escaped], self.fat_min, self.fat_max)
        self.n_reinsertions += n_escaped

    @cython.cfunc
    @cython.exceptval(check=False)
    def _fatten(self, i: cython.Py_ssize_t) -> cython.void:
        b: Bodies = self.bodies

        fatten(
            self.moving.phase(i), b.swept_min, b.swept_max, b.motion, i, self.margin, self.lookahead,
            self.fat_min, self.fat_max,
        )  # fmt: skip

    @cython.cfunc
    def keep_in_tree(self, i: cython.Py_ssize_t) -> cython.bint:
        """Make the tree hold all of a body's path within a step; tell whether it was reinserted."""
        b: Bodies = self.bodies

        if not b.moves[i]:
            self.still.put(i, b.swept_min, b.swept_max, i)
            return True
        if self.moving.covers(i, b.swept_min, b.swept_max, i):
            return False
        self._fatten(i)
        self.moving.put(i, self.fat_min, self.fat_max, i)
        self.n_reinsertions += 1
        return True

    def remove(self, i: cython.Py_ssize_t):
        """Take a body out of the trees."""
        self.still.drop(i)
        self.moving.drop(i)

    def find_pairs(self, rows: cython.longlong[::1]):
        """Pair the bodies of `rows`, those that move or were touched, with all they may meet."""
        n: cython.Py_ssize_t

        for n in range(rows.shape[0]):
            self.find_partners(rows[n], True)

    @cython.cfunc
    def find_partners(self, i: cython.Py_ssize_t, only_later: cython.bint) -> cython.void:
        """Pair a body with all whose bounds touch its own, and which it does not know yet.

        With `only_later`, a partner that asks for itself is left to the one in
        the earlier row.
        """
        if not self.moving.bounds_into(i, self.fat_min, self.fat_max, i):
            self.still.bounds_into(i, self.fat_min, self.fat_max, i)
        self.pairs.mark_partners(i)
        self._take_found(
            self.moving, self.moving.touching(self.fat_min, self.fat_max, i), i, only_later
        )
        self._take_found(
            self.still, self.still.touching(self.fat_min, self.fat_max, i), i, only_later
        )

    @cython.cfunc
    def _take_found(
        self, tree: Tree, n: cython.Py_ssize_t, i: cython.Py_ssize_t, only_later: cython.bint
    ) -> cython.void:
        b: Bodies = self.bodies
        m: cython.Py_ssize_t
        j: cython.Py_ssize_t

        for m in range(n):
            j = tree.found[m]
            if j == i or b.gone[j] or self.pairs.is_marked(j):
                continue
            if only_later and j < i and (b.moves[j] or b.touched[j]):
                continue
            self._add_pair(i, j)

    @cython.cfunc
    def _add_pair(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Add a pair of two rows, the lower entity id first."""
        b: Bodies = self.bodies
        p: cython.Py_ssize_t
        swap: cython.Py_ssize_t

        if b.ids[j] < b.ids[i]:
            swap = i
            i = j
            j = swap
        if self.pairs.is_full():
            self.pairs.grow()
            self.queue.grow(2 * self.pairs.n)
        p = self.pairs.add(i, j)
        self.queue.low[p] = b.ids[i]
        self.queue.high[p] = b.ids[j]
        if b.sensor[i] or b.sensor[j] or not (b.yields[i] or b.yields[j]):
            self.pairs.crossing[p] = 1
        return p
