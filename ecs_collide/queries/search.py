"""Ray cast, box cast, k-nearest and region search of one or two trees.

The first three are one algorithm, a branch-and-bound traversal.  Each item has a *key*, the time of
its hit or its distance.  The results are the items with the least keys, and of equal keys the least
ids.  Children are visited in the order of their keys.  A node is skipped if its key is greater than
the key of the worst item found so far.

Invariant: the key of a node is never greater than the keys of the items below it, also in floating
point, because rounding is monotonic.

No code of the game runs during a search, so the trees do not change.
"""

from __future__ import annotations

from math import nextafter, sqrt

from ecs_collide._kernel import cython
from ecs_collide._kernel.arrays import BYTE, DOUBLE, INT, LONG, grown, zeros
from ecs_collide._kernel.constants import (
    INF,
    LARGEST,
    LENGTH_ROUNDING,
    STACK_ROOM,
    TINY,
    QueryKind,
    Trait,
)
from ecs_collide.broadphase.dynamic_tree import Tree
from ecs_collide.broadphase.nodes import Nodes
from ecs_collide.broadphase.simd import WIDTH
from ecs_collide.motion.bodies import Bodies, flat, vector_of
from ecs_collide.narrowphase.slopes import Slopes, is_slanted
from ecs_collide.narrowphase.sweep_test import IMPACT, OVERLAP, Sweeper

NOTICEABLE = 2.0**-400  # the square of a smaller number may be lost
SCALE = 2.0**600
# More items than two trees hold.  An index has 32 bits on wasm32.
UNLIMITED: cython.Py_ssize_t = 2**30
LARGEST_DOUBLE = 2.0**1023 * (2.0 - 2.0**-52)


@cython.final
class KBestHeap:
    """The first few of the offered items, by key, then id.

    It is a heap with the worst item on top, so one comparison shows whether an item is among them.
    """

    # float64 and int64: the first `n` are valid; in order after `sort`
    keys: cython.double[::1]
    items: cython.longlong[::1]
    n: cython.Py_ssize_t  # number of items
    limit: cython.Py_ssize_t
    bound: cython.double  # items with greater keys are not kept; never inf
    ids: cython.p_longlong

    def __init__(self) -> None:
        self.keys = zeros(DOUBLE, 8)
        self.items = zeros(LONG, 8)

    def clear(
        self, limit: cython.Py_ssize_t, bound: cython.double, ids: cython.p_longlong
    ) -> cython.void:
        """Keep the first `limit` items, 0 for all, with keys up to `bound`; `ids` break ties."""
        self.ids = ids
        self.n = 0
        self.limit = UNLIMITED if limit == 0 else limit
        self.bound = min(bound, LARGEST_DOUBLE)

    def offer(self, key: cython.double, item: cython.longlong) -> cython.void:
        """Keep an item if it is among the first."""
        if self.n == self.limit:
            if self._is_before(key, item, 0):
                self._sink(key, item, self.n)
                self.bound = self.keys[0]
            return
        if self.n == self.keys.shape[0]:
            # The keys last: their length is the room there is.
            self.items = grown(self.items, 2 * self.n)
            self.keys = grown(self.keys, 2 * self.n)
        i: cython.Py_ssize_t = self.n
        self.n += 1
        while i > 0:
            parent: cython.Py_ssize_t = (i - 1) >> 1
            if self._is_before(key, item, parent):
                break
            self.keys[i] = self.keys[parent]
            self.items[i] = self.items[parent]
            i = parent
        self.keys[i] = key
        self.items[i] = item
        if self.n == self.limit:
            self.bound = self.keys[0]

    def _is_before(
        self, key: cython.double, item: cython.longlong, i: cython.Py_ssize_t
    ) -> cython.bint:
        """Return whether an item comes before the one at `i`."""
        if key != self.keys[i]:
            return key < self.keys[i]
        return self.ids[item] < self.ids[self.items[i]]

    def _sink(self, key: cython.double, item: cython.longlong, n: cython.Py_ssize_t) -> cython.void:
        """Replace the worst of the first `n` by another item."""
        i: cython.Py_ssize_t = 0
        child: cython.Py_ssize_t = 1

        while child < n:
            if child + 1 < n and self._is_before(self.keys[child], self.items[child], child + 1):
                child += 1
            if not self._is_before(key, item, child):
                break
            self.keys[i] = self.keys[child]
            self.items[i] = self.items[child]
            i = child
            child = 2 * i + 1
        self.keys[i] = key
        self.items[i] = item

    def sort(self) -> cython.void:
        """Sort the items."""
        i: cython.Py_ssize_t = self.n - 1

        while i > 0:
            key: cython.double = self.keys[i]
            item: cython.longlong = self.items[i]
            self.keys[i] = self.keys[0]
            self.items[i] = self.items[0]
            self._sink(key, item, i)
            i -= 1


@cython.final
class Search:
    """Searches one tree, or two as if they were one.

    A `query` is a tuple: its kind; its vectors; the number of results, 0 for all; and their
    greatest key.  The vectors are origin and direction of a RAY; centre, half sizes and motion of a
    CAST; the lower and the upper corner of a REGION and of a NEAR, or a single point.

    `boxes` are three arrays with a row for each item: the corners `min` and `max` of its own box,
    and its id.  If the corners have no rows, for a single tree only, the boxes in the tree are the
    items' own.  `excluded` is a tuple of the items that are not returned, or None.  With `solid`, a
    RAY and a CAST meet one-way bodies as in a step: only on the solid side, and from outside.
    """

    first: Tree
    second: Tree
    has_second: cython.bint
    dim: cython.Py_ssize_t
    sweeper: Sweeper
    slopes: Slopes  # of the items, with `knows_bodies`
    knows_bodies: cython.bint
    by_side: cython.bint  # whether one-way items are met on their solid side only
    given_min: object  # the arrays of the last query, into which the next three point
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
    kind: cython.int
    start: cython.double[3]  # the first vector of the query
    half: cython.double[3]  # the second one of a CAST
    displacement: cython.double[3]  # the last one
    low: cython.double[3]  # the corners of the query's box, which may be a point
    high: cython.double[3]
    hit: cython.double[8]  # written by `describe`
    near: cython.double[3]  # the corners of the box that is described
    far: cython.double[3]
    closest: cython.double[3]  # the point of the item that is nearest to the query's box

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

    def use_bodies(self, bodies: Bodies) -> Slopes:
        """Treat the items as bodies, by row: slopes and one-way ones; return what measures slopes."""
        self.slopes = Slopes(bodies)
        self.knows_bodies = True
        return self.slopes

    def _measure_slope(
        self,
        item: cython.longlong,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
    ) -> cython.bint:
        """Measure the query's box against the line of an item; return False if it is no slope.

        The box of the item is given by its corners from p on.
        """
        if not self.knows_bodies or not self.slopes.bodies.rare.any_slope:
            return False
        return self.slopes.relate(item, self.low, self.high, mins, maxs, p)

    def _solid_side(self, item: cython.longlong) -> cython.int:
        """Return the only side on which an item is met, a code of `RareColumns`; 0 for all sides."""
        if not self.by_side:
            return 0
        b: Bodies = self.slopes.bodies
        return b.rare.one_way[item] if b.traits[item] & Trait.ONE_WAY else 0

    def search(self, query: tuple, excluded, boxes: tuple, solid: cython.bint = False) -> object:
        """Return the first results of a query, by key, then id.

        Each is a tuple.  RAY: id, time, point, normal.  CAST: id, time, centre, normal, depth.
        NEAR: id, distance, closest point.  The results of a REGION are ids.

        Return None if a vector is not a plain tuple of numbers, a lower corner is above the upper
        one, or a half size is negative.
        """
        answers: list = []
        vectors: tuple = query[1]

        self.kind = query[0]
        if not (
            _read_vector(vectors[0], self.start, self.dim)
            and _read_vector(vectors[len(vectors) - 1], self.displacement, self.dim)
            and (self.kind != QueryKind.CAST or _read_vector(vectors[1], self.half, self.dim))
            and self._set_box()
        ):
            return None
        self.by_side = solid and self.knows_bodies
        self._load(excluded, boxes)
        self._search(query[2], query[3])
        self._end(excluded)
        for i in range(self.best.n):
            answers.append(self._answer(i))
        return answers

    def cast(
        self,
        centre: cython.p_double,
        half: cython.p_double,
        motion: cython.p_double,
        item: cython.Py_ssize_t,
        boxes: tuple,
    ) -> cython.void:
        """Find all items but one that a moving box meets, for kernels; `best` then has them.

        The numbers are finite, and half sizes 0 or more.  `boxes` has the items' own boxes.  A short
        way meets few of them, so all whose boxes touch the bounds of the way are tried.
        """
        self.kind = QueryKind.CAST
        self.by_side = False
        for k in range(self.dim):
            self.start[k] = centre[k] + 0.0
            self.half[k] = half[k] + 0.0
            self.displacement[k] = motion[k] + 0.0
        self._set_box()
        self._load(None, boxes)
        self.excluded_each = item
        self.best.clear(0, 1.0, self.ids)
        for k in range(self.dim):
            # Wider than the rounding of the sweep.
            slack: cython.double = TINY + LENGTH_ROUNDING * (
                abs(self.low[k]) + abs(self.high[k]) + abs(self.displacement[k])
            )
            self.near[k] = self.low[k] + min(self.displacement[k], 0.0) - slack
            self.far[k] = self.high[k] + max(self.displacement[k], 0.0) + slack
        self._offer_met(self.first)
        if self.has_second:
            self._offer_met(self.second)
        self.best.sort()

    def _offer_met(self, tree: Tree) -> cython.void:
        """Offer the items of a tree that a CAST meets within the box from `near` to `far`."""
        for i in range(tree.touching(self.near, self.far, 0)):
            item: cython.longlong = tree.found[i]
            if item != self.excluded_each:
                key: cython.double = self._key_of(item)
                if key <= self.best.bound:
                    self.best.offer(key, item)

    def search_many(
        self, query: tuple, excluded, boxes: tuple, rows: tuple, solid: cython.bint = False
    ) -> None:
        """Write the first results of each RAY, CAST or NEAR.

        Parameters
        ----------
        query : tuple
            The vectors are checked arrays with a row for each query.  The limit is at least 1.
        rows : tuple of three arrays
            `excluded_each`, int64 (n,): one more item that each query excludes, or -1.
            `found`, int64 (n, limit), written: the items, -1 where there are no more.
            `hits`, float64 (n * limit, ...), written: row ``limit * i + j`` is about
            ``found[i, j]``, the numbers that `search` returns after the id.
        """
        vectors: tuple = query[1]
        limit: cython.Py_ssize_t = query[2]
        bound: cython.double = query[3]
        self.kind = query[0]
        self.by_side = solid and self.knows_bodies
        starts: cython.double[:, ::1] = vectors[0]
        halves: cython.double[:, ::1] = vectors[1] if self.kind == QueryKind.CAST else starts
        lasts: cython.double[:, ::1] = vectors[len(vectors) - 1]
        excluded_each: cython.longlong[::1] = rows[0]
        found: cython.longlong[:, ::1] = rows[1]
        hits: cython.double[:, ::1] = rows[2]

        self._load(excluded, boxes)
        for i in range(found.shape[0]):
            for k in range(self.dim):
                self.start[k] = starts[i, k] + 0.0
                self.half[k] = halves[i, k]
                self.displacement[k] = lasts[i, k]
            self._set_box()
            self.excluded_each = excluded_each[i]
            self._search(limit, bound)
            for j in range(limit):
                found[i, j] = -1
            for j in range(self.best.n):
                found[i, j] = self.best.items[j]
                self.describe(j)
                for k in range(hits.shape[1]):
                    hits[limit * i + j, k] = self.hit[k]
        self._end(excluded)

    def query_many(
        self, corners: tuple, excluded, boxes: tuple, offsets: cython.longlong[::1]
    ) -> object:
        """Return the items in each REGION, grouped by region, sorted by id.

        The result is an int64 memoryview.  `corners` are two checked arrays with a row for each
        region.  `offsets` is written.  The items of region i are ``offsets[i]`` to ``offsets[i + 1]``.
        """
        mins: cython.double[:, ::1] = corners[0]
        maxs: cython.double[:, ::1] = corners[1]
        room: cython.Py_ssize_t = max(64, 2 * mins.shape[0])
        total: cython.Py_ssize_t = 0
        found: cython.longlong[::1] = zeros(LONG, room)

        offsets[0] = 0
        self.kind = QueryKind.REGION
        self._load(excluded, boxes)
        for i in range(mins.shape[0]):
            for k in range(self.dim):
                self.low[k] = mins[i, k]
                self.high[k] = maxs[i, k]
            self._search(0, 0.0)
            if total + self.best.n > room:
                room = 2 * (total + self.best.n)
                found = grown(found, room)
            for j in range(self.best.n):
                found[total + j] = self.best.items[j]
            total += self.best.n
            offsets[i + 1] = total
        self._end(excluded)
        return found[:total]

    # Parameters of a query

    def _set_box(self) -> cython.bint:
        """Set the corners of the query's box; return whether they are in order."""
        for k in range(self.dim):
            self.low[k] = self.high[k] = self.start[k]
            if self.kind == QueryKind.CAST:
                if self.half[k] < 0.0:
                    return False
                self.low[k] = self.start[k] - self.half[k]
                self.high[k] = self.start[k] + self.half[k]
            elif self.kind != QueryKind.RAY:
                self.high[k] = self.displacement[k]
                if self.low[k] > self.high[k]:
                    return False
        return True

    def _load(self, excluded, boxes: tuple) -> cython.void:
        """Use the boxes and ids of the items, and mark the items that are excluded."""
        if (
            boxes[2] is not self.given_ids
            or boxes[0] is not self.given_min
            or boxes[1] is not self.given_max
        ):
            self._bind(boxes)
        self.n_excluded = 0
        self.excluded_each = -1
        if self.is_cut_short:  # an exception has left marks
            self.excluded = zeros(BYTE, 2 * self.n_items)
        self.is_cut_short = excluded is not None
        if excluded is None:
            return
        if self.excluded.shape[0] < self.n_items:
            self.excluded = zeros(BYTE, 2 * self.n_items)
        for i in range(len(excluded)):
            item: cython.Py_ssize_t = excluded[i]
            self.excluded[item] = 1
            self.n_excluded += 1

    @cython.boundscheck(False)  # of empty arrays too
    @cython.cfunc
    def _bind(self, boxes: tuple) -> None:
        """Store the addresses of arrays, as finding them takes longer than a small query."""
        mins: cython.double[:, ::1] = boxes[0]
        maxs: cython.double[:, ::1] = boxes[1]
        numbers: cython.longlong[::1] = boxes[2]

        self.given_ids = None  # if this is interrupted, the next query binds again
        self.own = mins.shape[0] == 0
        self.lows = flat(mins)
        self.highs = flat(maxs)
        self.ids = cython.address(numbers[0]) if cython.compiled else numbers
        self.n_items = numbers.shape[0]
        self.given_min, self.given_max, self.given_ids = boxes

    def _end(self, excluded) -> cython.void:
        """Remove the marks of the items that were excluded."""
        self.n_excluded = 0
        self.is_cut_short = False
        if excluded is not None:
            for i in range(len(excluded)):
                item: cython.Py_ssize_t = excluded[i]
                self.excluded[item] = 0

    def _search(self, limit: cython.Py_ssize_t, bound: cython.double) -> cython.void:
        """Find the first `limit` items with keys up to `bound`, in order."""
        self.best.clear(limit, bound, self.ids)
        self._search_tree(self.first)
        if self.has_second:
            self._search_tree(self.second)
        self.best.sort()

    def _search_tree(self, tree: Tree) -> cython.void:
        if self.kind == QueryKind.REGION:
            self._add_touching(tree)
        else:
            self._traverse(tree.nodes)

    def _add_touching(self, tree: Tree) -> cython.void:
        """Offer the items of a tree whose own boxes share a point with the region."""
        for i in range(tree.touching(self.low, self.high, 0)):
            item: cython.longlong = tree.found[i]
            if (self.n_excluded == 0 or not self.excluded[item]) and self._touches(item):
                self.best.offer(0.0, item)

    def _touches(self, item: cython.longlong) -> cython.bint:
        """Return whether the own box of an item found in a tree shares a point with the region."""
        i: cython.Py_ssize_t = self.dim * item

        if self.own:
            return True
        for k in range(self.dim):
            if self.lows[i + k] > self.high[k] or self.highs[i + k] < self.low[k]:
                return False
        return not self._measure_slope(item, self.lows, self.highs, i) or self.slopes.touches()

    def _traverse(self, nodes: Nodes) -> cython.void:
        best: KBestHeap = self.best
        stack: cython.int[::1] = self.stack
        entry: cython.double[::1] = self.entry
        dim: cython.Py_ssize_t = self.dim
        lane: cython.int
        top: cython.Py_ssize_t = 0

        if nodes.n_items == 0:
            return
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
                    if self.kind == QueryKind.CAST:
                        self._aim(nodes.box, nodes.box, i, i + dim)
                        key = self._time_of_impact(item)
                else:
                    key = self._key_of(item)
                if key <= best.bound:
                    best.offer(key, item)

    # Keys

    def _key_of(self, item: cython.longlong) -> cython.double:
        """Return the key of an item by its own box, or a greater number than the bound."""
        i: cython.Py_ssize_t = self.dim * item
        key: cython.double = self._least_key(self.lows, self.highs, i, i)

        if key > self.best.bound:
            return key
        if self.kind == QueryKind.CAST:
            self._aim_at(item, self.lows, self.highs, i)
            return self._time_of_impact(item)
        is_slope: cython.bint = self._measure_slope(item, self.lows, self.highs, i)
        if self.kind == QueryKind.RAY:
            if is_slope:
                key = self._time_in_slope(i, key)
            side: cython.int = self._solid_side(item)
            if side != 0 and not self._turns_to(side, item, key, self.lows, self.highs, i):
                return INF
            return key
        if not is_slope:
            return key
        slopes: Slopes = self.slopes
        return max(
            key, slopes.distance(self.low, self.high, self.lows, self.highs, i, self.closest)
        )

    def _time_in_slope(self, i: cython.Py_ssize_t, key: cython.double) -> cython.double:
        """Return when a ray, in the box of a measured slope from time `key`, is in its solid part."""
        leave: cython.double = INF
        for k in range(self.dim):
            way: cython.double = self.displacement[k]
            if way != 0.0:
                face: cython.double = self.highs[i + k] if way > 0.0 else self.lows[i + k]
                leave = min(leave, (face - self.start[k]) / way)
        return self.slopes.clip(self.displacement, key, leave)

    def _turns_to(
        self,
        side: cython.int,
        item: cython.longlong,
        time: cython.double,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
    ) -> cython.bint:
        """Return whether a ray that touches an item at a time enters it by a side, or at its edge.

        The contact of the sweep is then that side, or the line of a slope that is open on it.  The
        box of the item is given by its corners from p on.
        """
        k: cython.int = abs(side) - 1
        sign: cython.int = 1 if side > 0 else -1

        is_slope: cython.bint = self._aim_at(item, mins, maxs, p)
        self.sweeper.enter = time
        self.sweeper.axis = -1
        if is_slope and self.slopes.is_open(k, sign) and self.sweeper.turn_to(k, 2 * sign):
            return True
        return self.sweeper.turn_to(k, sign)

    def _least_key(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
        q: cython.Py_ssize_t,
    ) -> cython.double:
        """Return a lower bound of the keys of all boxes inside the box from mins[p] to maxs[q]."""
        if self.kind == QueryKind.NEAR:
            return self._distance(mins, maxs, p, q)
        return self._time_of_touch(mins, maxs, p, q)

    def _distance(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
        q: cython.Py_ssize_t,
    ) -> cython.double:
        """Return the distance of the query's box from another, 0 if they share a point.

        Lengths whose squares might underflow are scaled by a power of two, which changes no bit
        of the result.
        """
        scale: cython.double = 1.0
        total: cython.double = 0.0
        greatest: cython.double = 0.0

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

    def _time_of_touch(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
        q: cython.Py_ssize_t,
    ) -> cython.double:
        """Return the time, 0 or later, when the ray or the moving box touches a box; inf for never.

        It is never later than for a box inside the given one, as rounding is monotonic, nor later
        than an impact.  A CAST uses the gaps of the sweep, and gaps that the sweep counts as 0 only
        make it leave earlier.
        """
        is_cast: cython.bint = self.kind == QueryKind.CAST
        enter: cython.double = 0.0
        leave: cython.double = INF

        for k in range(self.dim):
            displacement: cython.double = self.displacement[k]
            ahead: cython.double = mins[p + k] - self.high[k]
            behind: cython.double = maxs[q + k] - self.low[k]
            if is_cast:
                ahead, behind = _without_tiny(ahead), _without_tiny(behind)
            if displacement < 0.0:  # mirrored
                ahead, behind, displacement = -behind, -ahead, -displacement
            if behind < 0.0:
                return INF
            if displacement > 0.0:
                if ahead > 0.0:
                    enter = max(enter, ahead / displacement)
                leave = min(leave, behind / displacement)
            elif ahead > 0.0 or (is_cast and (ahead == 0.0 or behind == 0.0)):
                return INF  # a box that only slides along another, as on a floor, does not meet it
        return enter if enter <= leave else INF

    def _aim_at(
        self,
        item: cython.longlong,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
    ) -> cython.bint:
        """Aim the sweep of the moving box at an item; return whether it is a slope.

        The box of the item is given by its corners from p on.
        """
        self._aim(mins, maxs, p, p)
        if not self._measure_slope(item, mins, maxs, p):
            return False
        self.slopes.aim_cast(self.sweeper, self.displacement)
        return True

    def _aim(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        p: cython.Py_ssize_t,
        q: cython.Py_ssize_t,
    ) -> cython.void:
        """Aim the sweep of the moving box at the box from mins[p] to maxs[q]."""
        k: cython.int

        for k in range(self.dim):
            self.sweeper.aim(
                k, self.low[k], self.high[k], mins[p + k], maxs[q + k],
                self.displacement[k], 0.0, 0.0, 0.0, 1.0, 0.0,
            )  # fmt: skip
        self.sweeper.n_sides = 2 * self.sweeper.dim

    def _time_of_impact(self, item: cython.longlong) -> cython.double:
        """Return the time of impact of the sweep aimed at an item, 0 for an overlap, inf for none.

        A box lands on a one-way item over a corner too, as in `Narrowphase`.
        """
        kind: cython.int = self.sweeper.solve()
        side: cython.int = self._solid_side(item)

        if kind == IMPACT:
            if side == 0 or self.sweeper.turn_to(abs(side) - 1, 1 if side > 0 else -1):
                return self.sweeper.enter
            return INF
        return 0.0 if kind == OVERLAP and side == 0 else INF

    # Results

    @cython.cfunc
    def _answer(self, i: cython.Py_ssize_t) -> object:
        """Return the result of `search` for the item found at `i`."""
        id: cython.longlong = self.ids[self.best.items[i]]
        if self.kind == QueryKind.REGION:
            return id
        self.describe(i)
        first: tuple = vector_of(self.hit, 1, self.dim)
        if self.kind == QueryKind.NEAR:
            return id, self.hit[0], first
        second: tuple = vector_of(self.hit, 1 + self.dim, self.dim)
        if self.kind == QueryKind.RAY:
            return id, self.hit[0], first, second
        return id, self.hit[0], first, second, self.hit[1 + 2 * self.dim]

    def describe(self, i: cython.Py_ssize_t) -> cython.void:
        """Write the key and the other results of the item found at `i` into `hit`."""
        item: cython.longlong = self.best.items[i]
        nodes: Nodes = self.first.nodes

        for k in range(self.dim):
            if self.own:
                at: cython.Py_ssize_t = 2 * self.dim * nodes.place_of[item] + k
                self.near[k] = nodes.box[at]
                self.far[k] = nodes.box[at + self.dim]
            else:
                self.near[k] = self.lows[self.dim * item + k]
                self.far[k] = self.highs[self.dim * item + k]
        self.hit[0] = self.best.keys[i]
        if self.kind == QueryKind.RAY:
            self._describe_ray(item, self.hit[0])
        elif self.kind == QueryKind.CAST:
            self._describe_impact(item, self.hit[0])
        else:
            for k in range(self.dim):
                self.closest[k] = max(self.near[k], min(self.low[k], self.far[k])) + 0.0
            if self._measure_slope(item, self.near, self.far, 0):
                self.slopes.distance(self.low, self.high, self.near, self.far, 0, self.closest)
            for k in range(self.dim):
                self.hit[1 + k] = self.closest[k]

    def _describe_ray(self, item: cython.longlong, time: cython.double) -> cython.void:
        """Write the point and the normal of a hit.

        The point is exactly on the face that is hit.  Of several faces hit at once, the solid side
        of a one-way item counts, else the one of the lowest axis.
        """
        dim: cython.Py_ssize_t = self.dim
        side: cython.int = self._solid_side(item)
        is_met: cython.bint = False

        for k in range(dim):
            direction: cython.double = self.displacement[k]
            self.hit[1 + k] = self.start[k] + time * direction
            self.hit[1 + dim + k] = 0.0
            if direction == 0.0 or is_met:
                continue
            face: cython.double = self.near[k] if direction > 0.0 else self.far[k]
            if abs(side) == k + 1 or (side == 0 and (face - self.start[k]) / direction == time):
                is_met = True
                self.hit[1 + k] = face
                self.hit[1 + dim + k] = -1.0 if direction > 0.0 else 1.0
        if side != 0:
            self._turns_to(side, item, time, self.near, self.far, 0)
            if is_slanted(self.sweeper.sign):
                self.slopes.describe_line(self.hit, self.start, self.displacement)
        elif self._measure_slope(item, self.near, self.far, 0):
            self.slopes.describe_ray(self.hit, self.start, self.displacement)

    def _describe_impact(self, item: cython.longlong, time: cython.double) -> cython.void:
        """Write the centre, the normal and the depth where the moving box meets an item.

        At an impact, the box is placed flush against the face that it meets, never beyond it.
        """
        dim: cython.Py_ssize_t = self.dim

        is_slope: cython.bint = self._aim_at(item, self.near, self.far, 0)
        self._time_of_impact(item)
        for k in range(dim):
            self.hit[1 + k] = self.start[k] + time * self.displacement[k] + 0.0
            self.hit[1 + dim + k] = 0.0
        axis: cython.int = self.sweeper.axis
        self.hit[1 + dim + axis] = float(self.sweeper.sign)
        self.hit[1 + 2 * dim] = self.sweeper.depth
        if is_slope and self.slopes.is_open(axis, self.sweeper.sign):
            way: cython.double = time * self.displacement[self.slopes.run]
            self.slopes.describe_cast(self.hit, self.sweeper, way, self.half[axis])
            return
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


def _read_vector(vector: object, into: cython.p_double, dim: cython.Py_ssize_t) -> cython.int:
    """Read a vector; return whether it is a plain tuple of numbers that are not too large."""
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


@cython.inline
def _without_tiny(difference: cython.double) -> cython.double:
    """Return a difference, or 0 if the sweep counts it as 0."""
    if -TINY < difference < TINY:
        return 0.0
    return difference
