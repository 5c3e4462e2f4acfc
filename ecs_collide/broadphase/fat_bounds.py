"""Fat bounds, which limit how far a box may move before its item is reinserted.

All work for every box in every step is in this module and in `broadphase/bounds.py`, which compiled
kernels take from `broadphase/bounds.h`.

    +- - - - - - - - - - - - - - -+      the box, its path in this step, the margin on all sides,
    :  margin +------+----------+ :      and about `lookahead` more steps in the direction of
    :         | box  | path --> | : ...  motion
    +- - - - -+------+----------+-+
"""

from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide._kernel.arrays import DOUBLE, INT, grown, zeros
from ecs_collide._kernel.constants import HASH, LARGEST, LOW_31_BITS, LOW_32_BITS
from ecs_collide.broadphase.bounds import FITS, SAME, classify, classify_run, widen
from ecs_collide.broadphase.nodes import Nodes
from ecs_collide.motion.bodies import flat

TOO_BIG = 4.0  # bounds with more than this times the necessary perimeter or surface are renewed
TURN: cython.longlong = 1000003  # far above the difference of neighbouring items


@cython.final
class FatBounds:
    """The fat bounds of all items, and the update of their boxes."""

    nodes: Nodes
    # float64 (items, 2 * dim): dim minima, then dim maxima
    bounds: cython.double[:, ::1]
    # int32 (n_moved,): the items that moved in the last `update` and stay in their leaves
    moved: cython.int[::1]
    n_moved: cython.Py_ssize_t
    # int32 (n_displaced,): indices, into the items of that `update`, of items that need
    # another place in the tree, because they are new or have escaped
    displaced: cython.int[::1]
    n_displaced: cython.Py_ssize_t
    # number of items of that `update` that were not in the tree before
    n_new: cython.Py_ssize_t
    dim: cython.Py_ssize_t
    turn_of: cython.int[::1]  # of each item: how often it got fresh fat bounds
    # the arguments of the last `use_boxes`
    mins: cython.p_double
    maxs: cython.p_double
    motion: cython.p_double
    fat_row: cython.p_double
    still: cython.bint
    swept: cython.bint
    margin: cython.double
    lookahead: cython.double

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.dim = nodes.dim
        self.bounds = zeros(DOUBLE, 0, 2 * nodes.dim)
        self.turn_of = zeros(INT, 0)
        self.moved = zeros(INT, 0)
        self.displaced = zeros(INT, 0)

    def make_room(self, n_items: cython.Py_ssize_t) -> cython.void:
        """Make room for items 0 to `n_items` - 1."""
        self.bounds = grown(self.bounds, n_items)
        self.turn_of = grown(self.turn_of, n_items)
        self.moved = grown(self.moved, n_items)
        self.displaced = grown(self.displaced, n_items)

    @cython.inline
    def use_boxes(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        motion: cython.p_double,
        still: cython.bint,
        swept: cython.bint,
        margin: cython.double,
        lookahead: cython.double,
    ) -> cython.void:
        """Read boxes from this memory until the next call; the arguments are those of `bounds`."""
        self.mins = mins
        self.maxs = maxs
        self.motion = motion
        self.still = still
        self.swept = swept
        self.margin = margin
        self.lookahead = lookahead

    # Update

    def update(
        self,
        items: cython.longlong[::1],
        by_item: cython.bint,
        n_single: cython.Py_ssize_t,
        escaped_limit: cython.Py_ssize_t,
        displaced_limit: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Write the boxes of items into the tree; return how many got new fat bounds.

        Fills `moved` and `displaced`.  The first `n_single` items that escape are displaced, the
        others only if they have left the build box of their leaf.  If more than `escaped_limit`
        items escape or more than `displaced_limit` are displaced, the tree will be rebuilt, so
        all further items that are in the tree count as moved.
        """
        place_of: cython.p_int = self.nodes.place_of
        n_items: cython.Py_ssize_t = items.shape[0]
        n_escaped: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t = -1

        self.fat_row = flat(self.bounds)
        self.n_moved = self.n_displaced = self.n_new = 0
        if n_items == 0:
            return 0
        first: cython.p_longlong = cython.address(items[0]) if cython.compiled else items
        while True:
            i = self._next_escaped(first, n_items, i + 1, by_item)
            if i == n_items:
                return n_escaped
            item: cython.Py_ssize_t = items[i]
            self.nodes.is_changed[item] = 1
            n_escaped += 1
            self._fatten(item, item if by_item else i)
            stays: cython.bint = place_of[item] >= 0 and (
                n_escaped > escaped_limit
                or self.n_displaced > displaced_limit
                or (n_escaped > n_single and self._is_within_build_box(item))
            )
            # Written to both lists without a branch; the next item overwrites the wrong entry.
            self.moved[self.n_moved] = item
            self.displaced[self.n_displaced] = i
            self.n_moved += stays
            self.n_displaced += not stays
            self.n_new += place_of[item] < 0

    def _next_escaped(
        self,
        items: cython.p_longlong,
        n_items: cython.Py_ssize_t,
        i: cython.Py_ssize_t,
        by_item: cython.bint,
    ) -> cython.Py_ssize_t:
        """Return the first place in `items`, from `i` on, of an item that is new or escapes.

        Returns `n_items` if there is none.  The items before it have not escaped: their boxes are
        written, and those that have moved are noted.
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
        lookahead: cython.double = self.lookahead
        dim: cython.Py_ssize_t = self.dim

        if cython.compiled and dim == 2 and by_item and swept and not still:
            return classify_run(
                items, i, n_items, mins, maxs, motion, fat, margin,
                lookahead, TOO_BIG, box, place_of, is_changed, cython.address(self.moved[0]),
                cython.address(self.n_moved),
            )  # fmt: skip
        while i < n_items:
            item: cython.Py_ssize_t = items[i]
            if place_of[item] < 0:
                break
            seen: cython.int = classify(
                mins, maxs, motion, dim * (item if by_item else i), still, swept, fat,
                2 * dim * item, margin, lookahead, TOO_BIG, box, 2 * dim * place_of[item], dim,
            )  # fmt: skip
            if not seen & FITS:
                break
            if not seen & SAME:
                is_changed[item] = 1
                self.moved[self.n_moved] = item
                self.n_moved += 1
            i += 1
        return i

    def _is_within_build_box(self, item: cython.Py_ssize_t) -> cython.bint:
        """Return whether the centre of an item's box is in the build box of its leaf."""
        box: cython.p_double = self.nodes.box
        build_box: cython.p_double = self.nodes.build_box
        place: cython.Py_ssize_t = self.nodes.place_of[item]
        p: cython.Py_ssize_t = 2 * self.dim * place
        q: cython.Py_ssize_t = 2 * self.dim * (place >> 3)
        inside: cython.bint = True

        for k in range(self.dim):
            middle: cython.double = 0.5 * (box[p + k] + box[p + self.dim + k])
            inside &= (middle >= build_box[q + k]) & (middle <= build_box[q + self.dim + k])
        return inside

    def hold(
        self, item: cython.Py_ssize_t, low: cython.p_double, high: cython.p_double
    ) -> cython.bint:
        """Return whether the fat bounds of an item contain its row of two arrays of corners."""
        inside: cython.bint = True

        for k in range(self.dim):
            inside &= low[self.dim * item + k] >= self.bounds[item, k]
            inside &= high[self.dim * item + k] <= self.bounds[item, self.dim + k]
        return inside

    def write_box(self, place: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.void:
        """Write the box of a row to a place; -0.0 becomes 0.0."""
        box: cython.p_double = self.nodes.box
        p: cython.Py_ssize_t = self.dim * row
        q: cython.Py_ssize_t = 2 * self.dim * place

        for k in range(self.dim):
            box[q + k] = self.mins[p + k] + 0.0
            box[q + self.dim + k] = self.maxs[p + k] + 0.0

    def _fatten(self, item: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.void:
        """Compute new fat bounds of an item.

        The share of the growth is a hash of the item and its number of new bounds, so that bodies
        of one speed do not all escape in the same step.
        """
        self.turn_of[item] += 1
        phase: cython.longlong = (item + TURN * self.turn_of[item]) & LOW_31_BITS
        share: cython.double = ((phase * HASH) & LOW_32_BITS) / 4294967296.0
        widen(
            self.mins, self.maxs, self.motion, self.dim * row, self.still, self.swept,
            self.margin, self.lookahead, share, self.fat_row, 2 * self.dim * item, self.dim,
        )  # fmt: skip


def are_fine(lowers: cython.double[:, ::1], uppers: cython.double[:, ::1]) -> bool:
    """Return whether all boxes have min <= max and coordinates within LARGEST."""
    low: cython.p_double = flat(lowers)
    high: cython.p_double = flat(uppers)

    for i in range(lowers.shape[0] * lowers.shape[1]):
        if not -LARGEST <= low[i] <= high[i] <= LARGEST:
            return False
    return True
