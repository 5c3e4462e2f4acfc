# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Fat bounds: how far a box may move before its item is reinserted.

Also what else becomes of boxes that are given to a tree.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide._kernels._lanes_c import are_in_order, fits_2
else:
    are_in_order = fits_2 = None  # the same operations as here, by vector instructions

from ecs_collide._kernels._memory import DOUBLE, INT, grown, zeros

cython.declare(
    TOO_BIG=cython.double,
    LARGEST=cython.double,
    HASH=cython.longlong,
    TURN=cython.longlong,
    LOW_31_BITS=cython.longlong,
    LOW_32_BITS=cython.longlong,
)
TOO_BIG = 4.0  # bounds with more than this times the perimeter or surface they need are renewed
LARGEST = 2.0**500  # as in _numbers
HASH = 2654435769  # 2**32 / golden ratio: spreads neighbouring items evenly
TURN = 1000003  # far from items that are neighbours
LOW_31_BITS = 0x7FFFFFFF
LOW_32_BITS = 0xFFFFFFFF


@cython.final
@cython.cclass
class FatBounds:
    """The fat bounds of all items, and the boxes that are given to some.

    Attributes
    ----------
    bounds : memoryview
        float64 (items, 2 * dim): dim minima, then dim maxima.
    """

    def __init__(self, dim: cython.Py_ssize_t) -> None:
        self.dim = dim
        self.bounds = zeros(DOUBLE, 0, 2 * dim)
        self.turn_of = zeros(INT, 0)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make_room(self, n_items: cython.Py_ssize_t) -> cython.int:
        """Grow to items 0 to `n_items` - 1."""
        self.bounds = grown(self.bounds, n_items)
        self.turn_of = grown(self.turn_of, n_items)
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

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_same(
        self, box: cython.p_double, place: cython.Py_ssize_t, row: cython.Py_ssize_t
    ) -> cython.bint:
        """Tell whether the box in a row stands at a place of the boxes of a tree already."""
        p: cython.Py_ssize_t = self.dim * row
        q: cython.Py_ssize_t = 2 * self.dim * place
        same: cython.bint

        if self.dim == 2:
            return (
                (box[q] == self.mins[p])
                & (box[q + 1] == self.mins[p + 1])
                & (box[q + 2] == self.maxs[p])
                & (box[q + 3] == self.maxs[p + 1])
            )
        same = (box[q] == self.mins[p]) & (box[q + 1] == self.mins[p + 1])
        same &= (box[q + 2] == self.mins[p + 2]) & (box[q + 3] == self.maxs[p])
        return same & (box[q + 4] == self.maxs[p + 1]) & (box[q + 5] == self.maxs[p + 2])

    @cython.cfunc
    @cython.exceptval(check=False)
    def write_box(
        self, box: cython.p_double, place: cython.Py_ssize_t, row: cython.Py_ssize_t
    ) -> cython.void:
        """Write the box in a row to a place of the boxes of a tree; -0.0 becomes 0.0."""
        p: cython.Py_ssize_t = self.dim * row
        q: cython.Py_ssize_t = 2 * self.dim * place

        box[q] = self.mins[p] + 0.0
        box[q + 1] = self.mins[p + 1] + 0.0
        q += 2
        if self.dim == 3:
            box[q] = self.mins[p + 2] + 0.0
            q += 1
        box[q] = self.maxs[p] + 0.0
        box[q + 1] = self.maxs[p + 1] + 0.0
        if self.dim == 3:
            box[q + 2] = self.maxs[p + 2] + 0.0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _way(self, p: cython.Py_ssize_t) -> cython.double:
        """Return how far a box moves on an axis."""
        return 0.0 if self.still else self.motion[p]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _side(self, p: cython.Py_ssize_t) -> cython.double:
        """Return how long a body is on an axis: its box without its way."""
        side: cython.double = self.maxs[p] - self.mins[p]

        return side - abs(self._way(p)) if self.swept else side

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _fat_side(self, q: cython.Py_ssize_t) -> cython.double:
        """Return how long fat bounds are on an axis."""
        return self.fat_row[q + self.dim] - self.fat_row[q]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _holds_way(self, q: cython.Py_ssize_t, p: cython.Py_ssize_t) -> cython.bint:
        """Tell whether fat bounds hold a box on its way, on an axis."""
        way: cython.double = 0.0 if self.swept else self._way(p)

        # min(way, 0) and max(way, 0) without a branch that would be guessed wrong half of the time.
        return (self.mins[p] + 0.5 * (way - abs(way)) >= self.fat_row[q]) & (
            self.maxs[p] + 0.5 * (way + abs(way)) <= self.fat_row[q + self.dim]
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def fits(self, item: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.bint:
        """Tell whether the fat bounds of an item hold its way, and not far more than that."""
        p: cython.Py_ssize_t = self.dim * row
        q: cython.Py_ssize_t = 2 * self.dim * item
        around: cython.double = self.margin
        fits: cython.bint
        x: cython.double
        y: cython.double
        z: cython.double = 0.0

        if cython.compiled and self.dim == 2:
            return fits_2(
                self.mins + p,
                self.maxs + p,
                cython.NULL if self.still else self.motion + p,
                self.swept,
                self.fat_row + q,
                self.margin,
                TOO_BIG,
            )
        x = self._side(p)
        y = self._side(p + 1)
        fits = self._holds_way(q, p) & self._holds_way(q + 1, p + 1)
        if self.dim == 3:
            z = self._side(p + 2)
            fits &= self._holds_way(q + 2, p + 2)
        around = 2.0 * (around if around >= 0.0 else 0.1 * max(x, y, z))
        x += abs(self._way(p)) + around
        y += abs(self._way(p + 1)) + around
        if self.dim == 2:
            return fits & (self._fat_side(q) + self._fat_side(q + 1) <= TOO_BIG * (x + y))
        z += abs(self._way(p + 2)) + around
        return fits & (
            _surface(self._fat_side(q), self._fat_side(q + 1), self._fat_side(q + 2))
            <= TOO_BIG * _surface(x, y, z)
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def fatten(self, item: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.void:
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
        way: cython.double
        growth: cython.double
        ahead: cython.double
        margin: cython.double = self.margin
        phase: cython.longlong
        share: cython.double

        self.turn_of[item] += 1
        phase = (item + TURN * self.turn_of[item]) & LOW_31_BITS
        share = ((phase * HASH) & LOW_32_BITS) / 4294967296.0
        if margin < 0.0:
            margin = 0.0
            for k in range(p, p + dim):
                margin = max(margin, 0.1 * self._side(k))
        for k in range(dim):
            way = self._way(p + k)
            growth = share * min(2.0 * self.lookahead * abs(way), 0.5 * max(self._side(p + k), 0.0))
            fat[q + k] = self.mins[p + k] - margin
            fat[q + dim + k] = self.maxs[p + k] + margin
            if not self.swept:
                fat[q + k] += 0.5 * (way - abs(way))
                fat[q + dim + k] += 0.5 * (way + abs(way))
            ahead = way > 0.0
            fat[q + k] -= growth * (1.0 - ahead)
            fat[q + dim + k] += growth * ahead


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _surface(x: cython.double, y: cython.double, z: cython.double) -> cython.double:
    """Return half the surface of a box."""
    return x * y + y * z + z * x


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def flat(view: cython.double[:, ::1]) -> cython.p_double:
    """Return the numbers of an array in one row, for loops that are called once for each item."""
    if cython.compiled:
        return cython.address(view[0, 0])
    return view.cast("B").cast("d") if view.shape[0] > 0 else view


def are_fine(lowers: cython.double[:, ::1], uppers: cython.double[:, ::1]) -> bool:
    """Tell whether all boxes are finite, not too large, and no lower corner is above the upper."""
    low: cython.p_double = flat(lowers)
    high: cython.p_double = flat(uppers)
    n: cython.Py_ssize_t = lowers.shape[0] * lowers.shape[1]
    i: cython.Py_ssize_t

    if cython.compiled:
        return bool(are_in_order(low, high, n, LARGEST))
    i = 0
    while i < n and -LARGEST <= low[i] <= high[i] <= LARGEST:
        i += 1
    return i == n
