"""Fat bounds: how far a box may move before its item is reinserted.

All work that is done for every box in every step is in this module.  `broadphase/bounds.h` is the
same in C.

    +- - - - - - - - - - - - - - -+      the box, its path in this step, the margin on all sides,
    :  margin +------+----------+ :      and up to `lookahead` more steps in the direction of
    :         | box  | path --> | : ...  motion
    +- - - - -+------+----------+-+
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.nodes_c import Nodes
    from cython.cimports.ecs_collide.broadphase.simd_c import (
        FITS,
        SAME,
        are_in_order,
        classify,
        fetch,
        is_centred_in,
        widen,
    )
    from cython.cimports.ecs_collide.motion.bodies_c import flat
else:
    from ecs_collide.broadphase.nodes import Nodes
    from ecs_collide.motion.bodies import flat

    FITS, SAME = 1, 2  # as in _bounds.h
    are_in_order = fetch = is_centred_in = classify = widen = None  # in C only

from ecs_collide.motion.arrays import DOUBLE, INT, LONG, grown, zeros

cython.declare(
    TOO_BIG=cython.double,
    PREFETCHED_ITEMS=cython.Py_ssize_t,
    LARGEST=cython.double,
    HASH=cython.longlong,
    TURN=cython.longlong,
    LOW_31_BITS=cython.longlong,
    LOW_32_BITS=cython.longlong,
)
from ecs_collide.constants import HASH, LARGEST, LOW_31_BITS, LOW_32_BITS

PREFETCHED_ITEMS = 12  # how far ahead a box is prefetched
TOO_BIG = 4.0  # bounds with more than this times the perimeter or surface they need are renewed
TURN = 1000003  # far from items that are neighbours


@cython.final
@cython.cclass
class FatBounds:
    """The fat bounds of all items, and the update of their boxes.

    Attributes
    ----------
    bounds : memoryview
        float64 (items, 2 * dim): dim minima, then dim maxima.
    moved : memoryview
        int64 (n_moved,): the items that have moved in the last `update` and stay in their leaves.
    displaced : memoryview
        int64 (n_displaced,): indices, into the items of that `update`, of those that are new or
        have left the build box of their leaf.
    n_new : int
        Number of items of that `update` that were not in the tree before.
    """

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.dim = nodes.dim
        self.bounds = zeros(DOUBLE, 0, 2 * nodes.dim)
        self.turn_of = zeros(INT, 0)
        self.moved = zeros(LONG, 0)
        self.displaced = zeros(LONG, 0)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make_room(self, n_items: cython.Py_ssize_t) -> cython.int:
        """Grow to items 0 to `n_items` - 1."""
        bounds: cython.double[:, ::1] = grown(self.bounds, n_items)
        turn_of: cython.int[::1] = grown(self.turn_of, n_items)
        moved: cython.longlong[::1] = grown(self.moved, n_items)
        displaced: cython.longlong[::1] = grown(self.displaced, n_items)

        self.bounds = bounds
        self.turn_of = turn_of
        self.moved = moved
        self.displaced = displaced
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def aim(
        self,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        motion: cython.double[:, ::1],
        swept: cython.bint,
        margin: cython.double,
        lookahead: cython.double,
    ) -> cython.void:
        """Read boxes from these arrays until the next call."""
        self.mins = flat(mins)
        self.maxs = flat(maxs)
        self.motion = flat(motion)
        self.fat_row = flat(self.bounds)
        self.still = motion.shape[0] == 0
        self.swept = swept
        self.margin = margin
        self.lookahead = lookahead

    # Update

    @cython.cfunc
    @cython.exceptval(check=False)
    def update(
        self,
        items: cython.longlong[::1],
        filed: cython.bint,
        escaped_limit: cython.Py_ssize_t,
        displaced_limit: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Write the boxes of items into the tree; return how many got new fat bounds.

        Fills `moved` and `displaced`.  If more than `escaped_limit` items escape or more than
        `displaced_limit` are displaced, the tree will be rebuilt, so all further items that are
        in the tree count as moved.
        """
        place_of: cython.p_int = self.nodes.place_of
        is_changed: cython.p_int = self.nodes.is_changed
        mins: cython.p_double = self.mins
        maxs: cython.p_double = self.maxs
        motion: cython.p_double = self.motion
        fat: cython.p_double = self.fat_row
        box: cython.p_double = self.nodes.box
        still: cython.bint = self.still
        swept: cython.bint = self.swept
        margin: cython.double = self.margin
        dim: cython.Py_ssize_t = self.dim
        n_escaped: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t

        self.n_moved = self.n_displaced = self.n_new = 0
        for i in range(items.shape[0]):
            item: cython.Py_ssize_t = items[i]
            row: cython.Py_ssize_t = item if filed else i
            if cython.compiled and i + PREFETCHED_ITEMS < items.shape[0]:
                fetch(box + 2 * dim * place_of[items[i + PREFETCHED_ITEMS]])
            if place_of[item] >= 0:
                if cython.compiled:
                    seen: cython.int = classify(
                        mins + dim * row, maxs + dim * row,
                        cython.NULL if still else motion + dim * row, swept,
                        fat + 2 * dim * item, margin, TOO_BIG, box + 2 * dim * place_of[item], dim,
                    )  # fmt: skip
                else:
                    seen = self._classify(item, row, place_of[item])
                if seen == FITS | SAME:
                    continue
                if seen & FITS:
                    is_changed[item] = 1
                    self.moved[self.n_moved] = item
                    self.n_moved += 1
                    continue
            is_changed[item] = 1
            n_escaped += 1
            self._fatten(item, row)
            stays: cython.bint = place_of[item] >= 0 and (
                n_escaped > escaped_limit
                or self.n_displaced > displaced_limit
                or self._is_within_build_box(item)
            )
            # Written to both lists without a branch; the next item overwrites the wrong entry.
            self.moved[self.n_moved] = item
            self.displaced[self.n_displaced] = i
            self.n_moved += stays
            self.n_displaced += not stays
            self.n_new += place_of[item] < 0
        return n_escaped

    @cython.cfunc
    @cython.exceptval(check=False)
    def _classify(
        self, item: cython.Py_ssize_t, row: cython.Py_ssize_t, place: cython.Py_ssize_t
    ) -> cython.int:
        """Write the box of a row to a place; return FITS and SAME as bits."""
        same: cython.bint = self._is_at(place, row)
        self.write_box(place, row)
        return self._fits(item, row) | same << 1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _is_within_build_box(self, item: cython.Py_ssize_t) -> cython.bint:
        """Return whether the centre of an item's box is in the build box of its leaf."""
        place: cython.Py_ssize_t = self.nodes.place_of[item]
        at: cython.Py_ssize_t = 2 * self.dim * place
        build_box: cython.Py_ssize_t = 2 * self.dim * (place >> 3)
        k: cython.Py_ssize_t
        inside: cython.bint = True

        if cython.compiled:
            return is_centred_in(self.nodes.box + at, self.nodes.build_box + build_box, self.dim)
        for k in range(self.dim):
            middle: cython.double = 0.5 * (
                self.nodes.box[at + k] + self.nodes.box[at + self.dim + k]
            )
            inside &= (middle >= self.nodes.build_box[build_box + k]) & (
                middle <= self.nodes.build_box[build_box + self.dim + k]
            )
        return inside

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_at(self, place: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.bint:
        """Return whether the box of a row equals the one at a place."""
        box: cython.p_double = self.nodes.box
        p: cython.Py_ssize_t = self.dim * row
        q: cython.Py_ssize_t = 2 * self.dim * place
        k: cython.Py_ssize_t
        same: cython.bint = True

        for k in range(self.dim):
            same &= (box[q + k] == self.mins[p + k]) & (box[q + self.dim + k] == self.maxs[p + k])
        return same

    @cython.cfunc
    @cython.exceptval(check=False)
    def write_box(self, place: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.void:
        """Write the box of a row to a place; -0.0 becomes 0.0."""
        box: cython.p_double = self.nodes.box
        p: cython.Py_ssize_t = self.dim * row
        q: cython.Py_ssize_t = 2 * self.dim * place
        k: cython.Py_ssize_t

        for k in range(self.dim):
            box[q + k] = self.mins[p + k] + 0.0
            box[q + self.dim + k] = self.maxs[p + k] + 0.0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _displacement(self, p: cython.Py_ssize_t) -> cython.double:
        """Return how far a box moves on an axis."""
        return 0.0 if self.still else self.motion[p]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _side(self, p: cython.Py_ssize_t) -> cython.double:
        """Return the size of a body on an axis: that of its box without its path."""
        side: cython.double = self.maxs[p] - self.mins[p]

        return side - abs(self._displacement(p)) if self.swept else side

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _fat_side(self, q: cython.Py_ssize_t) -> cython.double:
        """Return the size of fat bounds on an axis."""
        return self.fat_row[q + self.dim] - self.fat_row[q]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _covers_path(self, q: cython.Py_ssize_t, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether fat bounds contain the path of a box on an axis."""
        displacement: cython.double = 0.0 if self.swept else self._displacement(p)

        # min(d, 0) and max(d, 0) without a branch that would be mispredicted half of the time.
        return (self.mins[p] + 0.5 * (displacement - abs(displacement)) >= self.fat_row[q]) & (
            self.maxs[p] + 0.5 * (displacement + abs(displacement)) <= self.fat_row[q + self.dim]
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _fits(self, item: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.bint:
        """Return whether the fat bounds of an item contain its path and are not far too big."""
        p: cython.Py_ssize_t = self.dim * row
        q: cython.Py_ssize_t = 2 * self.dim * item
        around: cython.double = self.margin
        z: cython.double = 0.0

        x: cython.double = self._side(p)
        y: cython.double = self._side(p + 1)
        fits: cython.bint = self._covers_path(q, p) & self._covers_path(q + 1, p + 1)
        if self.dim == 3:
            z = self._side(p + 2)
            fits &= self._covers_path(q + 2, p + 2)
        around = 2.0 * (around if around >= 0.0 else 0.1 * max(x, y, z))
        x += abs(self._displacement(p)) + around
        y += abs(self._displacement(p + 1)) + around
        if self.dim == 2:
            return fits & (self._fat_side(q) + self._fat_side(q + 1) <= TOO_BIG * (x + y))
        z += abs(self._displacement(p + 2)) + around
        return fits & (
            _surface(self._fat_side(q), self._fat_side(q + 1), self._fat_side(q + 2))
            <= TOO_BIG * _surface(x, y, z)
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _fatten(self, item: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.void:
        """Compute new fat bounds of an item.

        They contain the path of its box in the step and the margin on all sides; a negative
        margin stands for a tenth of the body's longest side.  In the direction of motion they
        contain a share of what the body will cross in the next 2 * `lookahead` steps, at most
        half its side on each axis.

        The share is pseudo-random, a hash of the item and of how often it has got new bounds:
        otherwise bodies of one speed would all escape in the same step.
        """
        fat: cython.p_double = self.fat_row
        dim: cython.Py_ssize_t = self.dim
        p: cython.Py_ssize_t = dim * row
        q: cython.Py_ssize_t = 2 * dim * item
        k: cython.Py_ssize_t
        margin: cython.double = self.margin

        self.turn_of[item] += 1
        phase: cython.longlong = (item + TURN * self.turn_of[item]) & LOW_31_BITS
        share: cython.double = ((phase * HASH) & LOW_32_BITS) / 4294967296.0
        if cython.compiled:
            widen(
                self.mins + p,
                self.maxs + p,
                cython.NULL if self.still else self.motion + p,
                self.swept,
                margin,
                self.lookahead,
                share,
                fat + q,
                dim,
            )
            return
        if margin < 0.0:
            margin = 0.0
            for k in range(p, p + dim):
                margin = max(margin, 0.1 * self._side(k))
        for k in range(dim):
            displacement: cython.double = self._displacement(p + k)
            growth: cython.double = share * min(
                2.0 * self.lookahead * abs(displacement), 0.5 * max(self._side(p + k), 0.0)
            )
            fat[q + k] = self.mins[p + k] - margin
            fat[q + dim + k] = self.maxs[p + k] + margin
            if not self.swept:
                fat[q + k] += 0.5 * (displacement - abs(displacement))
                fat[q + dim + k] += 0.5 * (displacement + abs(displacement))
            ahead: cython.double = displacement > 0.0
            fat[q + k] -= growth * (1.0 - ahead)
            fat[q + dim + k] += growth * ahead


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _surface(x: cython.double, y: cython.double, z: cython.double) -> cython.double:
    """Return half the surface of a box."""
    return x * y + y * z + z * x


def are_fine(lowers: cython.double[:, ::1], uppers: cython.double[:, ::1]) -> bool:
    """Return whether all boxes are finite, not too large, and have no lower corner above the upper."""
    low: cython.p_double = flat(lowers)
    high: cython.p_double = flat(uppers)
    n: cython.Py_ssize_t = lowers.shape[0] * lowers.shape[1]

    if cython.compiled:
        return bool(are_in_order(low, high, n, LARGEST))
    i: cython.Py_ssize_t = 0
    while i < n and -LARGEST <= low[i] <= high[i] <= LARGEST:
        i += 1
    return i == n
