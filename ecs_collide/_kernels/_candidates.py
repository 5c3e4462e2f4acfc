# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Which bodies may meet in a step: two trees, and the pairs they yield.

Bodies that do not move live in a tree of their own, which a step leaves alone.
What stands in a tree for a moving body holds all of its path; fat bounds around
it tell when the body is to be reinserted.  Two bodies are a pair where their
paths, or what is left of them, lie in boxes that touch.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide._kernels._bodies_c import Bodies
    from cython.cimports.ecs_collide._kernels._pairing_c import Pairing
    from cython.cimports.ecs_collide._kernels._pairs_c import Pairs
    from cython.cimports.ecs_collide._kernels._queue_c import Queue
    from cython.cimports.ecs_collide._kernels._tree_c import Tree
else:
    from ecs_collide._kernels._bodies import Bodies
    from ecs_collide._kernels._pairing import Pairing
    from ecs_collide._kernels._pairs import Pairs
    from ecs_collide._kernels._queue import Queue
    from ecs_collide._kernels._tree import Tree


@cython.cclass
class Candidates:
    """The trees over the bodies, and the search for pairs.

    Attributes
    ----------
    still, moving : Tree
        Their items are rows.
    margin, lookahead : float
        How far bounds are fattened; see `Tree.renew`.
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

    def place_still(self, rows: cython.longlong[::1]):
        """Put bodies that do not move into their tree, where they now are."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t

        if rows.shape[0] == 0:
            return
        for n in range(rows.shape[0]):
            self.moving.drop(rows[n])
            b.find_swept_bounds(rows[n])
        self.still.renew(rows, b.swept_min, b.swept_max, b.motion, True, 0.0, 0.0)

    def place_moving(self, rows: cython.longlong[::1]):
        """Reinsert the moving bodies whose path of this step escapes their fat bounds."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t

        for n in range(rows.shape[0]):
            self.still.drop(rows[n])
        self.n_reinsertions += self.moving.renew(
            rows, b.swept_min, b.swept_max, b.motion, True, self.margin, self.lookahead
        )

    def remove(self, i: cython.Py_ssize_t):
        """Take a body out of the trees."""
        self.still.drop(i)
        self.moving.drop(i)

    def find_pairs(self, rows: cython.longlong[::1]):
        """Pair the bodies of `rows`, those that move or were touched, with all they may meet."""
        b: Bodies = self.bodies
        pairing: Pairing = self.moving.pairing
        n: cython.Py_ssize_t

        pairing.within(self.moving.nodes, False)
        for n in range(pairing.n):
            self._add_pair(pairing.found[2 * n], pairing.found[2 * n + 1])
        pairing.between(self.moving.nodes, self.still.nodes)
        for n in range(pairing.n):
            self._add_pair(pairing.found[2 * n], pairing.found[2 * n + 1])
        for n in range(rows.shape[0]):
            if not b.moves[rows[n]]:
                self._pair_still(rows[n])

    @cython.cfunc
    def _pair_still(self, i: cython.Py_ssize_t) -> cython.void:
        """Pair a touched body that does not move with others that do not."""
        b: Bodies = self.bodies
        m: cython.Py_ssize_t
        j: cython.Py_ssize_t

        for m in range(self.still.touching(b.swept_min, b.swept_max, i)):
            j = self.still.found[m]
            if j > i or (j < i and not b.touched[j]):
                self._add_pair(i, j)

    @cython.cfunc
    def follow(self, i: cython.Py_ssize_t) -> cython.void:
        """Pair a body whose path has changed within a step with all it may meet now.

        Nothing is to be done where what stands in the tree for it, and what
        others have therefore been paired by, holds the new path.
        """
        b: Bodies = self.bodies

        if b.moves[i]:
            if self.moving.covers(i, b.swept_min, b.swept_max):
                return
            self.n_reinsertions += self.moving.renew_one(
                i, b.swept_min, b.swept_max, b.motion, True, self.margin, self.lookahead
            )
        else:
            self.still.renew_one(i, b.swept_min, b.swept_max, b.motion, True, 0.0, 0.0)
        self.pairs.mark_partners(i)
        self._take_found(self.moving, i)
        self._take_found(self.still, i)

    @cython.cfunc
    def _take_found(self, tree: Tree, i: cython.Py_ssize_t) -> cython.void:
        """Pair a body with those of a tree that it may meet and does not know yet."""
        b: Bodies = self.bodies
        m: cython.Py_ssize_t
        j: cython.Py_ssize_t

        for m in range(tree.touching(b.swept_min, b.swept_max, i)):
            j = tree.found[m]
            if j != i and not b.gone[j] and not self.pairs.is_marked(j):
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
