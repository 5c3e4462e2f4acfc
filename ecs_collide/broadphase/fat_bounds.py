"""Fat bounds: how far a box may move before its item is reinserted.

Also what else becomes of boxes that are given to a tree: all that is done for
every box in every frame is here, and `broadphase/bounds.h` has it again in C.
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
    are_in_order = fetch = is_centred_in = classify = widen = None  # in C; here the same as Python

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
    """The fat bounds of all items, and the boxes that are given to some.

    Attributes
    ----------
    bounds : memoryview
        float64 (items, 2 * dim): dim minima, then dim maxima.
    moved : memoryview
        int64 (n_moved,): the items that `update` saw move, and that stay.
    away : memoryview
        int64 (n_displaced,): which of the items given to it are new or away.
    n_new : int
        How many of the items given to it were not in the tree before.
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
        """Look at these arrays until the next time."""
        self.mins = flat(mins)
        self.maxs = flat(maxs)
        self.motion = flat(motion)
        self.fat_row = flat(self.bounds)
        self.still = motion.shape[0] == 0
        self.swept = swept
        self.margin = margin
        self.lookahead = lookahead

    # What becomes of items

    @cython.cfunc
    @cython.exceptval(check=False)
    def update(
        self,
        items: cython.longlong[::1],
        filed: cython.bint,
        escaped_limit: cython.Py_ssize_t,
        displaced_limit: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Write the boxes of items to their places; return how many got fresh fat bounds.

        Those that have moved and stay in their nodes are in `moved`, and
        where those stand that are new, or out of the home of their node, in
        `displaced`.  Where more than `escaped_limit` or `displaced_limit` come together
        the tree is to be laid out anew, and whoever has a place may keep it.
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
                        mins + dim * row,
                        maxs + dim * row,
                        cython.NULL if still else motion + dim * row,
                        swept,
                        fat + 2 * dim * item,
                        margin,
                        TOO_BIG,
                        box + 2 * dim * place_of[item],
                        dim,
                    )
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
            # Written to both, and overwritten by the next where it is not of them.
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
        """Write the box in a row to a place; return whether it fits, and whether it was there."""
        same: cython.bint = self._is_at(place, row)
        self.write_box(place, row)
        return self._fits(item, row) | same << 1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _is_within_build_box(self, item: cython.Py_ssize_t) -> cython.bint:
        """Return whether the middle of an item's box is in the home of its node."""
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
        """Return whether the box in a row stands at a place already."""
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
        """Write the box in a row to a place; -0.0 becomes 0.0."""
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
        """Return how long a body is on an axis: its box without its way."""
        side: cython.double = self.maxs[p] - self.mins[p]

        return side - abs(self._displacement(p)) if self.swept else side

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _fat_side(self, q: cython.Py_ssize_t) -> cython.double:
        """Return how long fat bounds are on an axis."""
        return self.fat_row[q + self.dim] - self.fat_row[q]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _covers_path(self, q: cython.Py_ssize_t, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether fat bounds hold a box on its way, on an axis."""
        displacement: cython.double = 0.0 if self.swept else self._displacement(p)

        # min(way, 0) and max(way, 0) without a branch that would be guessed wrong half of the time.
        return (self.mins[p] + 0.5 * (displacement - abs(displacement)) >= self.fat_row[q]) & (
            self.maxs[p] + 0.5 * (displacement + abs(displacement)) <= self.fat_row[q + self.dim]
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _fits(self, item: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.bint:
        """Return whether the fat bounds of an item hold its way, and not far more than that."""
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
        """Give an item fresh fat bounds.

        They are its box on its way in the step, the margin more on all sides
        (a tenth of the body's longest side where it is negative), and in the
        direction of the motion what the body will cross in the next
        `lookahead` steps, but at most half its side on each axis.

        The growth is any part of that, up to all of it or twice the way, by
        what the item is and how often it got some: else bodies of one speed
        would all escape in the same step.
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
    """Tell whether all boxes are finite, not too large, and no lower corner is above the upper."""
    low: cython.p_double = flat(lowers)
    high: cython.p_double = flat(uppers)
    n: cython.Py_ssize_t = lowers.shape[0] * lowers.shape[1]

    if cython.compiled:
        return bool(are_in_order(low, high, n, LARGEST))
    i: cython.Py_ssize_t = 0
    while i < n and -LARGEST <= low[i] <= high[i] <= LARGEST:
        i += 1
    return i == n
