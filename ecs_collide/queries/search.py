"""Ray cast, box cast and k-nearest search of one or two trees: a branch-and-bound traversal.

The three searches are one algorithm.  Each item has a *key*, the time of its hit or its distance.
The result are the items with the least keys, and of equal keys those with the least ids.  Children
are visited in the order of their keys.  A node is skipped if its key is greater than that of the
worst item found so far.

Invariant: the key of a node is never greater than the keys of the items below it, also in floating
point, because rounding is monotonic.

No code of the game runs during a search, so the trees do not change.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.dynamic_tree_c import Tree
    from cython.cimports.ecs_collide.broadphase.nodes_c import Nodes
    from cython.cimports.ecs_collide.broadphase.simd_c import WIDTH
    from cython.cimports.ecs_collide.motion.bodies_c import flat
    from cython.cimports.ecs_collide.narrowphase.sweep_test_c import IMPACT, OVERLAP, Sweeper
    from cython.cimports.ecs_collide.queries.k_best_c import KBestHeap
    from cython.cimports.libc.math import nextafter, sqrt
else:
    from math import nextafter, sqrt

    from ecs_collide.broadphase.dynamic_tree import Tree
    from ecs_collide.broadphase.nodes import Nodes
    from ecs_collide.broadphase.simd import WIDTH
    from ecs_collide.motion.bodies import flat
    from ecs_collide.narrowphase.sweep_test import IMPACT, OVERLAP, Sweeper
    from ecs_collide.queries.k_best import KBestHeap

from ecs_collide.motion.arrays import BYTE, DOUBLE, INT, LONG, grown, zeros

cython.declare(
    RAY=cython.int,
    CAST=cython.int,
    NEAR=cython.int,
    INF=cython.double,
    TINY=cython.double,
    NOTICEABLE=cython.double,
    SCALE=cython.double,
    LARGEST=cython.double,
    STACK_ROOM=cython.Py_ssize_t,
)
from ecs_collide.constants import INF, LARGEST, STACK_ROOM, TINY

RAY = 0  # the key is when a ray enters the box, closed
CAST = 1  # the key is when a moving box meets it, by the rules of the sweep
NEAR = 2  # the key is the distance from a box, which may be a point
NOTICEABLE = 2.0**-400  # the square of a smaller number may be lost
SCALE = 2.0**600


@cython.final
@cython.cclass
class Search:
    """Searches one tree, or two as if they were one.

    Row `item` of two arrays, `tight_min` and `tight_max`, is the item's own box.  If they have no
    rows, for a single tree only, the boxes in the tree are the items' own.  `ids` has the id of
    each item.
    """

    first: Tree
    second: Tree
    has_second: cython.bint
    dim: cython.Py_ssize_t
    sweeper: Sweeper
    given_min: object  # the arrays of the last query, which hold what the next three point to
    given_max: object
    given_ids: object
    n_items: cython.Py_ssize_t
    own: cython.bint  # whether the boxes in the tree are the items' own
    lows: cython.p_double  # otherwise their corners, `dim` numbers for each item
    highs: cython.p_double
    ids: cython.p_longlong  # of each item
    stack: cython.int[::1]
    entry: cython.double[::1]  # of each node on the stack: its key
    best: KBestHeap
    excluded: cython.schar[::1]  # of each item: 1 if it is excluded
    n_excluded: cython.Py_ssize_t
    is_cut_short: cython.bint  # whether a query has marked items and not unmarked them
    excluded_each: cython.Py_ssize_t  # one more item that is excluded; -1: none
    kind_of_query: cython.int
    centre: cython.double[3]
    low: cython.double[3]  # of the box that moves; or the point, or the ray's origin
    high: cython.double[3]
    half: cython.double[3]
    displacement: cython.double[3]
    hit: cython.double[8]
    near: cython.double[3]  # the corners of the box that is described
    far: cython.double[3]

    def __init__(self, first: Tree, second: Tree | None = None) -> None:
        self.first = first
        self.second = first if second is None else second
        self.has_second = second is not None
        self.given_min = self.given_max = self.given_ids = None
        self.dim = first.dim
        self.sweeper = Sweeper(first.dim)
        self.stack = zeros(INT, STACK_ROOM)
        self.entry = zeros(DOUBLE, STACK_ROOM)
        self.best = KBestHeap()
        self.excluded = zeros(BYTE, 0)
        self.n_excluded = 0
        self.is_cut_short = False
        self.excluded_each = -1
        self.kind_of_query = RAY
        if not cython.compiled:
            self.centre = [0.0] * 3
            self.low = [0.0] * 3
            self.high = [0.0] * 3
            self.displacement = [0.0] * 3
            self.half = [0.0] * 3
            self.hit = [0.0] * 8
            self.near = [0.0] * 3
            self.far = [0.0] * 3

    # Single queries

    def query(
        self,
        lower: object,
        upper: object,
        tight_min: object,
        tight_max: object,
        ids: object,
    ) -> object:
        """Return the ids of the items whose own boxes share a point with a box, sorted.

        None if the two corners are not plain tuples of numbers with min <= max.
        """
        answer: list = []
        k: cython.Py_ssize_t

        if not (
            _read_vector(lower, self.low, self.dim) and _read_vector(upper, self.high, self.dim)
        ):
            return None
        for k in range(self.dim):
            if self.low[k] > self.high[k]:
                return None
        self._begin(None, tight_min, tight_max, ids)
        self._add_touching(answer, self.first)
        if self.has_second:
            self._add_touching(answer, self.second)
        answer.sort()
        return answer

    @cython.cfunc
    def _add_touching(self, answer: list, tree: Tree) -> None:
        """Add the ids of the items of a tree whose own boxes share a point with the box."""
        i: cython.Py_ssize_t

        for i in range(tree.traversal.find_touching(self.low, self.high, 0, tree.found)):
            item: cython.longlong = tree.found[i]
            if self._touches(item):
                answer.append(self.ids[item])

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _touches(self, item: cython.longlong) -> cython.bint:
        """Return whether the own box of an item found in a tree shares a point with the box."""
        k: cython.Py_ssize_t

        if self.own:
            return True
        for k in range(self.dim):
            if self.lows[self.dim * item + k] > self.high[k]:
                return False
            if self.highs[self.dim * item + k] < self.low[k]:
                return False
        return True

    def cast_ray(
        self,
        origin: object,
        direction: object,
        limit: cython.Py_ssize_t,
        excluded,
        tight_min: object,
        tight_max: object,
        ids: object,
    ) -> object:
        """Return time, id, point and normal of the first `limit` hits of a ray; 0: of all.

        None if the two vectors are not plain tuples of numbers.  `excluded` is a tuple of the
        items that are not returned, or None.
        """
        answers: list = []
        i: cython.Py_ssize_t

        if not (
            _read_vector(origin, self.low, self.dim)
            and _read_vector(direction, self.displacement, self.dim)
        ):
            return None
        self.kind_of_query = RAY
        self._begin(excluded, tight_min, tight_max, ids)
        self._search(limit, 1.0)
        self._end(excluded)
        for i in range(self.best.n):
            self._describe_ray(i)
            answers.append(
                (
                    self.hit[0],
                    self.ids[self.best.items[i]],
                    self._vector(1),
                    self._vector(1 + self.dim),
                )
            )
        return answers

    def cast_box(
        self,
        centre: object,
        half: object,
        motion: object,
        limit: cython.Py_ssize_t,
        excluded,
        tight_min: object,
        tight_max: object,
        ids: object,
    ) -> object:
        """Return time, id, centre, normal and depth of the first `limit` hits of a box; 0: of all.

        None if the three vectors are not plain tuples of numbers, or a half size is negative.
        """
        answers: list = []
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t

        if not (
            _read_vector(centre, self.centre, self.dim)
            and _read_vector(half, self.half, self.dim)
            and _read_vector(motion, self.displacement, self.dim)
        ):
            return None
        for k in range(self.dim):
            if self.half[k] < 0.0:
                return None
        self._set_box()
        self._begin(excluded, tight_min, tight_max, ids)
        self._search(limit, 1.0)
        self._end(excluded)
        for i in range(self.best.n):
            self._describe_box(i)
            answers.append(
                (
                    self.hit[0],
                    self.ids[self.best.items[i]],
                    self._vector(1),
                    self._vector(1 + self.dim),
                    self.hit[1 + 2 * self.dim],
                )
            )
        return answers

    def nearest(
        self,
        lower: object,
        upper: object,
        limit: cython.Py_ssize_t,
        within: cython.double,
        excluded,
        tight_min: object,
        tight_max: object,
        ids: object,
    ) -> object:
        """Return distance, id and closest point of the items nearest to a box; 0: of all.

        The box may be a point.  None if its corners are not plain tuples of numbers with
        min <= max.
        """
        answers: list = []
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t

        if not (
            _read_vector(lower, self.low, self.dim) and _read_vector(upper, self.high, self.dim)
        ):
            return None
        for k in range(self.dim):
            if self.low[k] > self.high[k]:
                return None
        self.kind_of_query = NEAR
        self._begin(excluded, tight_min, tight_max, ids)
        self._search(limit, within)
        self._end(excluded)
        for i in range(self.best.n):
            self._describe_near(i)
            answers.append((self.hit[0], self.ids[self.best.items[i]], self._vector(1)))
        return answers

    # Queries in bulk

    def cast_rays(
        self,
        origins: cython.double[:, ::1],
        directions: cython.double[:, ::1],
        excluded_each: cython.longlong[::1],
        excluded,
        tight_min: object,
        tight_max: object,
        ids: object,
        found: cython.longlong[::1],
        hits: cython.double[:, ::1],
    ) -> None:
        """Write the item that each ray hits first, and the hit; -1 for none.

        Row i excludes item ``excluded_each[i]`` too.  Row i of `hits` has 1 + 2 * dim numbers:
        time, point and normal.
        """
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t

        self._begin(excluded, tight_min, tight_max, ids)
        for i in range(found.shape[0]):
            for k in range(self.dim):
                self.low[k] = origins[i, k] + 0.0
                self.displacement[k] = directions[i, k]
            self.kind_of_query = RAY
            self.excluded_each = excluded_each[i]
            self._search(1, 1.0)
            found[i] = -1
            if self.best.n == 0:
                continue
            found[i] = self.best.items[0]
            self._describe_ray(0)
            for k in range(1 + 2 * self.dim):
                hits[i, k] = self.hit[k]
        self._end(excluded)
        self.excluded_each = -1

    def cast_boxes(
        self,
        centres: cython.double[:, ::1],
        halves: cython.double[:, ::1],
        motions: cython.double[:, ::1],
        excluded_each: cython.longlong[::1],
        excluded,
        tight_min: object,
        tight_max: object,
        ids: object,
        found: cython.longlong[::1],
        hits: cython.double[:, ::1],
    ) -> None:
        """Write the item that each moving box meets first, and the hit; -1 for none.

        Row i excludes item ``excluded_each[i]`` too.  Row i of `hits` has 2 + 2 * dim numbers:
        time, centre, normal and depth.
        """
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t

        self._begin(excluded, tight_min, tight_max, ids)
        for i in range(found.shape[0]):
            for k in range(self.dim):
                self.centre[k] = centres[i, k] + 0.0
                self.half[k] = halves[i, k]
                self.displacement[k] = motions[i, k]
            self._set_box()
            self.excluded_each = excluded_each[i]
            self._search(1, 1.0)
            found[i] = -1
            if self.best.n == 0:
                continue
            found[i] = self.best.items[0]
            self._describe_box(0)
            for k in range(2 + 2 * self.dim):
                hits[i, k] = self.hit[k]
        self._end(excluded)
        self.excluded_each = -1

    def nearest_many(
        self,
        points: cython.double[:, ::1],
        limit: cython.Py_ssize_t,
        within: cython.double,
        excluded_each: cython.longlong[::1],
        excluded,
        tight_min: object,
        tight_max: object,
        ids: object,
        found: cython.longlong[:, ::1],
        hits: cython.double[:, ::1],
    ) -> None:
        """Write for each point the `limit` nearest items; -1 where there are no more.

        Row i excludes item ``excluded_each[i]`` too.  Row ``limit * i + j`` of `hits` has 1 + dim
        numbers: distance and closest point of the item in column j of row i.
        """
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t

        self._begin(excluded, tight_min, tight_max, ids)
        for i in range(points.shape[0]):
            for k in range(self.dim):
                self.low[k] = self.high[k] = points[i, k] + 0.0
            self.kind_of_query = NEAR
            self.excluded_each = excluded_each[i]
            self._search(limit, within)
            for j in range(limit):
                found[i, j] = -1
            for j in range(self.best.n):
                found[i, j] = self.best.items[j]
                self._describe_near(j)
                for k in range(1 + self.dim):
                    hits[limit * i + j, k] = self.hit[k]
        self._end(excluded)
        self.excluded_each = -1

    def query_many(
        self,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        excluded,
        tight_min: object,
        tight_max: object,
        ids: object,
        offsets: cython.longlong[::1],
    ) -> object:
        """Return the items that share a point with each box, grouped by box, sorted by id.

        An int64 memoryview.  The items of box i are ``offsets[i]`` to ``offsets[i + 1]``; `offsets`
        is written.
        """
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        room: cython.Py_ssize_t = max(64, 2 * mins.shape[0])
        total: cython.Py_ssize_t = 0
        found: cython.longlong[::1] = zeros(LONG, room)

        offsets[0] = 0
        self._begin(excluded, tight_min, tight_max, ids)
        for i in range(mins.shape[0]):
            self.best.begin(0, 0.0, self.ids)
            for k in range(self.dim):
                self.low[k] = mins[i, k]
                self.high[k] = maxs[i, k]
            self._touch(self.first)
            if self.has_second:
                self._touch(self.second)
            self.best.sort()
            if total + self.best.n > room:
                room = 2 * (total + self.best.n)
                found = grown(found, room)
            for j in range(self.best.n):
                found[total + j] = self.best.items[j]
            total += self.best.n
            offsets[i + 1] = total
        self._end(excluded)
        return found[:total]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _touch(self, tree: Tree) -> cython.int:
        """Offer the items of a tree whose own boxes share a point with the box."""
        i: cython.Py_ssize_t

        for i in range(tree.traversal.find_touching(self.low, self.high, 0, tree.found)):
            item: cython.longlong = tree.found[i]
            if self.n_excluded > 0 and self.excluded[item]:
                continue
            if self._touches(item):
                self.best.offer(0.0, item)
        return 0

    # Parameters of a query

    @cython.cfunc
    @cython.exceptval(check=False)
    def _set_box(self) -> cython.void:
        """Set the parameters of a cast of the box around `centre` with its `half` sizes."""
        k: cython.Py_ssize_t

        self.kind_of_query = CAST
        for k in range(self.dim):
            self.low[k] = self.centre[k] - self.half[k]
            self.high[k] = self.centre[k] + self.half[k]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin(self, excluded, tight_min: object, tight_max: object, ids: object) -> cython.int:
        """Use the boxes and ids of the items, and mark the items that are excluded."""
        i: cython.Py_ssize_t

        if (
            ids is not self.given_ids
            or tight_min is not self.given_min
            or tight_max is not self.given_max
        ):
            self._bind(tight_min, tight_max, ids)
        self.n_excluded = 0
        if self.is_cut_short:  # an exception has left marks
            self.excluded = zeros(BYTE, 2 * self.n_items)
        self.is_cut_short = excluded is not None
        if excluded is None:
            return 0
        if self.excluded.shape[0] < self.n_items:
            self.excluded = zeros(BYTE, 2 * self.n_items)
        for i in range(len(excluded)):
            item: cython.Py_ssize_t = excluded[i]
            self.excluded[item] = 1
            self.n_excluded += 1
        return 0

    @cython.cfunc
    @cython.boundscheck(False)  # of empty arrays too
    def _bind(self, tight_min: object, tight_max: object, ids: object) -> None:
        """Keep the addresses of arrays: to find them takes longer than a small query."""
        mins: cython.double[:, ::1] = tight_min
        maxs: cython.double[:, ::1] = tight_max
        numbers: cython.longlong[::1] = ids

        self.given_ids = None  # if this is interrupted, the next query binds again
        self.own = mins.shape[0] == 0
        self.lows = flat(mins)
        self.highs = flat(maxs)
        self.ids = cython.address(numbers[0]) if cython.compiled else numbers
        self.n_items = numbers.shape[0]
        self.given_min = tight_min
        self.given_max = tight_max
        self.given_ids = ids

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _end(self, excluded) -> cython.int:
        """Remove the marks of the items that were excluded."""
        i: cython.Py_ssize_t

        self.n_excluded = 0
        self.is_cut_short = False
        if excluded is not None:
            for i in range(len(excluded)):
                item: cython.Py_ssize_t = excluded[i]
                self.excluded[item] = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _search(self, limit: cython.Py_ssize_t, bound: cython.double) -> cython.int:
        """Find the first `limit` items with keys up to `bound`, in order."""
        self.best.begin(limit, bound, self.ids)
        self._traverse(self.first.nodes)
        if self.has_second:
            self._traverse(self.second.nodes)
        self.best.sort()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _traverse(self, nodes: Nodes) -> cython.int:
        best: KBestHeap = self.best
        stack: cython.int[::1] = self.stack
        entry: cython.double[::1] = self.entry
        dim: cython.Py_ssize_t = self.dim
        lane: cython.int
        top: cython.Py_ssize_t = 0

        if nodes.n_items == 0:
            return 0
        stack[0] = nodes.root()
        entry[0] = 0.0
        while top >= 0:
            node: cython.int = stack[top]
            key: cython.double = entry[top]
            top -= 1
            if key > best.bound:
                continue
            first: cython.Py_ssize_t = top + 1
            for lane in range(nodes.count[node]):
                item: cython.Py_ssize_t = nodes.child[WIDTH * node + lane]
                i: cython.Py_ssize_t = 2 * dim * (WIDTH * node + lane)
                key = self._least_key(nodes.box, nodes.box, i, i + dim)
                if key > best.bound:
                    continue
                if nodes.level[node] > 0:
                    # Inserted in order, the least key on top.
                    top += 1
                    i = top
                    while i > first and entry[i - 1] < key:
                        entry[i] = entry[i - 1]
                        stack[i] = stack[i - 1]
                        i -= 1
                    entry[i] = key
                    stack[i] = item
                    continue
                if item == self.excluded_each or (self.n_excluded > 0 and self.excluded[item]):
                    continue
                if self.own:
                    if self.kind_of_query == CAST:
                        key = self._time_of_impact(nodes.box, nodes.box, i, i + dim)
                else:
                    i = dim * item
                    key = self._least_key(self.lows, self.highs, i, i)
                    if self.kind_of_query == CAST and key <= best.bound:
                        key = self._time_of_impact(self.lows, self.highs, i, i)
                if key <= best.bound:
                    best.offer(key, item)
        return 0

    # Keys

    @cython.cfunc
    @cython.exceptval(check=False)
    def _least_key(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
        q: cython.Py_ssize_t,
    ) -> cython.double:
        """Return a lower bound of the keys of all boxes inside that from mins[p] to maxs[q]."""
        if self.kind_of_query == NEAR:
            return self._distance(mins, maxs, p, q)
        if self.kind_of_query == RAY:
            return _time_of_entry(mins, maxs, p, q, self.dim, self.low, self.displacement)
        return self._time_of_touch(mins, maxs, p, q)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _distance(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
        q: cython.Py_ssize_t,
    ) -> cython.double:
        """Return the distance of the query's box from another; 0 if they share a point.

        Lengths whose squares might underflow are scaled by a power of two, which changes no bit
        of the result.
        """
        scale: cython.double = 1.0
        total: cython.double = 0.0
        greatest: cython.double = 0.0
        k: cython.Py_ssize_t

        for k in range(self.dim):
            gap: cython.double = max(mins[p + k] - self.high[k], self.low[k] - maxs[q + k])
            greatest = max(greatest, gap)
        if greatest == 0.0:
            return 0.0
        if greatest < NOTICEABLE:
            scale = SCALE
        for k in range(self.dim):
            gap = max(mins[p + k] - self.high[k], self.low[k] - maxs[q + k])
            if gap > 0.0:
                gap = gap * scale
                total = total + gap * gap
        return sqrt(total) / scale

    @cython.cfunc
    @cython.exceptval(check=False)
    def _time_of_touch(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
        q: cython.Py_ssize_t,
    ) -> cython.double:
        """Return when the moving box first touches a box, at 0 or later; inf for never.

        Never later than the impact with a box inside it: the gaps are those of the sweep, and
        gaps that the sweep counts as 0 only make it leave earlier.
        """
        enter: cython.double = 0.0
        leave: cython.double = INF
        k: cython.Py_ssize_t

        for k in range(self.dim):
            ahead: cython.double = _without_tiny(mins[p + k] - self.high[k])
            behind: cython.double = _without_tiny(maxs[q + k] - self.low[k])
            displacement: cython.double = self.displacement[k]
            if displacement > 0.0:
                enter = max(enter, ahead / displacement)
                leave = min(leave, behind / displacement)
            elif displacement < 0.0:
                enter = max(enter, behind / displacement)
                leave = min(leave, ahead / displacement)
            elif ahead > 0.0 or behind < 0.0:
                return INF
        return enter if enter <= leave else INF

    @cython.cfunc
    @cython.exceptval(check=False)
    def _time_of_impact(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
        q: cython.Py_ssize_t,
    ) -> cython.double:
        """Return when the moving box meets a box: an impact, or 0 for an overlap; inf for never."""
        k: cython.int

        for k in range(self.dim):
            self.sweeper.aim(
                k, self.low[k], self.high[k], mins[p + k], maxs[q + k],
                self.displacement[k], 0.0, 0.0, 0.0, 1.0,
            )  # fmt: skip
        kind: cython.int = self.sweeper.solve()
        if kind == IMPACT:
            return self.sweeper.enter
        return 0.0 if kind == OVERLAP else INF

    # Results

    @cython.cfunc
    def _vector(self, at: cython.Py_ssize_t) -> tuple:
        """Return the vector that begins at a place of `hit`."""
        if self.dim == 2:
            return self.hit[at], self.hit[at + 1]
        return self.hit[at], self.hit[at + 1], self.hit[at + 2]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _box_of(self, i: cython.Py_ssize_t) -> cython.void:
        """Write the own box of the item found at `i`: its corners into `near` and `far`."""
        item: cython.longlong = self.best.items[i]
        nodes: Nodes = self.first.nodes
        k: cython.Py_ssize_t

        if not self.own:
            for k in range(self.dim):
                self.near[k] = self.lows[self.dim * item + k]
                self.far[k] = self.highs[self.dim * item + k]
            return
        at: cython.Py_ssize_t = 2 * self.dim * nodes.place_of[item]
        for k in range(self.dim):
            self.near[k] = nodes.box[at + k]
            self.far[k] = nodes.box[at + self.dim + k]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _describe_ray(self, i: cython.Py_ssize_t) -> cython.void:
        """Write time, point and normal of the item found at `i`."""
        self._box_of(i)
        _describe_hit(
            self.near,
            self.far,
            0,
            0,
            self.dim,
            self.best.keys[i],
            self.low,
            self.displacement,
            self.hit,
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _describe_box(self, i: cython.Py_ssize_t) -> cython.void:
        """Write time, centre, normal and depth of the item found at `i`.

        At an impact, the box is placed flush against the face that it meets, never beyond it.
        """
        dim: cython.Py_ssize_t = self.dim
        time: cython.double = self.best.keys[i]
        k: cython.Py_ssize_t

        self._box_of(i)
        self._time_of_impact(self.near, self.far, 0, 0)
        self.hit[0] = time
        for k in range(dim):
            self.hit[1 + k] = self.centre[k] + time * self.displacement[k] + 0.0
            self.hit[1 + dim + k] = 0.0
        axis: cython.int = self.sweeper.axis
        self.hit[1 + dim + axis] = float(self.sweeper.sign)
        self.hit[1 + 2 * dim] = self.sweeper.depth
        if self.sweeper.kind == OVERLAP:
            return
        if self.sweeper.sign < 0:
            centre: cython.double = self.near[axis] - self.half[axis]
            if centre + self.half[axis] > self.near[axis]:
                centre = nextafter(centre, -INF)
        else:
            centre = self.far[axis] + self.half[axis]
            if centre - self.half[axis] < self.far[axis]:
                centre = nextafter(centre, INF)
        self.hit[1 + axis] = centre + 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _describe_near(self, i: cython.Py_ssize_t) -> cython.void:
        """Write distance and closest point of the item found at `i`."""
        k: cython.Py_ssize_t

        self._box_of(i)
        self.hit[0] = self.best.keys[i]
        for k in range(self.dim):
            self.hit[1 + k] = max(self.near[k], min(self.low[k], self.far[k])) + 0.0


@cython.cfunc
@cython.exceptval(-1, check=False)
def _read_vector(vector: object, into: cython.p_double, dim: cython.Py_ssize_t) -> cython.int:
    """Read a vector; return whether it is a plain tuple of numbers that are not too large."""
    k: cython.Py_ssize_t

    if type(vector) is not tuple or len(vector) != dim:
        return False
    for k in range(dim):
        number: object = vector[k]
        if type(number) is not float and type(number) is not int:
            return False
        if not -LARGEST <= number <= LARGEST:
            return False
        into[k] = float(number) + 0.0
    return True


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _time_of_entry(
    mins: cython.p_double,
    maxs: cython.p_double,
    p: cython.Py_ssize_t,
    q: cython.Py_ssize_t,
    dim: cython.Py_ssize_t,
    origin: cython.p_double,
    direction: cython.p_double,
) -> cython.double:
    """Return when a ray is first in the box from mins[p] to maxs[q], at 0 or later; inf for never.

    Never later than for a box inside it, because rounding is monotonic.
    """
    k: cython.Py_ssize_t
    enter: cython.double = 0.0
    leave: cython.double = INF

    for k in range(dim):
        first: cython.double = mins[p + k] - origin[k]
        last: cython.double = maxs[q + k] - origin[k]
        if direction[k] > 0.0:
            enter = max(enter, first / direction[k])
            leave = min(leave, last / direction[k])
        elif direction[k] < 0.0:
            enter = max(enter, last / direction[k])
            leave = min(leave, first / direction[k])
        elif first > 0.0 or last < 0.0:
            return INF
    return enter if enter <= leave else INF


@cython.cfunc
@cython.exceptval(check=False)
def _describe_hit(
    mins: cython.p_double,
    maxs: cython.p_double,
    p: cython.Py_ssize_t,
    q: cython.Py_ssize_t,
    dim: cython.Py_ssize_t,
    time: cython.double,
    origin: cython.p_double,
    direction: cython.p_double,
    hit: cython.p_double,
) -> cython.void:
    """Write the time, the point and the normal of a hit.

    The point is exactly on the face that is hit.  Of several faces hit at once, the one of the
    lowest axis.
    """
    k: cython.Py_ssize_t
    is_met: cython.bint = False

    hit[0] = time
    for k in range(dim):
        hit[1 + k] = origin[k] + time * direction[k]
        hit[1 + dim + k] = 0.0
        if direction[k] == 0.0 or is_met:
            continue
        face: cython.double = mins[p + k] if direction[k] > 0.0 else maxs[q + k]
        if (face - origin[k]) / direction[k] == time:
            is_met = True
            hit[1 + k] = face
            hit[1 + dim + k] = -1.0 if direction[k] > 0.0 else 1.0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _without_tiny(difference: cython.double) -> cython.double:
    """Return a difference, or 0 if the sweep counts it as 0."""
    if -TINY < difference < TINY:
        return 0.0
    return difference
