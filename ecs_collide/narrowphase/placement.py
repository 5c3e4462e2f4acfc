"""Where a body is put when it meets another, and how pairs stand at the end of a step.

A centre moved by ``c + v * t`` ends inside the wall in up to 45 % of all hits,
by rounding.  So the contact axis is never computed that way: the body is
snapped to its partner's face.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.pair_table_c import PairTable
    from cython.cimports.ecs_collide.motion.bodies_c import CENTRE, HALF, Bodies
    from cython.cimports.ecs_collide.narrowphase.impact_queue_c import ImpactQueue
    from cython.cimports.ecs_collide.narrowphase.sweep_test_c import SLOP
    from cython.cimports.libc.math import nextafter
else:
    from math import nextafter

    from ecs_collide.broadphase.pair_table import PairTable
    from ecs_collide.motion.bodies import CENTRE, HALF, Bodies
    from ecs_collide.narrowphase.impact_queue import ImpactQueue
    from ecs_collide.narrowphase.sweep_test import SLOP

from ecs_collide.motion.arrays import BYTE, LONG, grown, zeros

cython.declare(
    INF=cython.double,
    NO_LEVEL=cython.longlong,
    NOT_NEAR=cython.longlong,
    APART_AT_LEAST=cython.double,
    N_PASSES=cython.int,
    APART=cython.int,
    TOUCHING=cython.int,
    PENETRATING=cython.int,
    OVERLAPPING=cython.int,
)
INF = float("inf")
APART_AT_LEAST = 2e-200  # smaller gaps count as none in the sweep
NO_LEVEL = 1 << 40  # the level of a body that no immovable one holds
NOT_NEAR = 1 << 20  # in place of an axis
N_PASSES = 4  # rounding seldom needs a second

# How a pair stands, as `PositionCorrection.solid_placement` tells it.
APART = 0
TOUCHING = 1  # on one axis, deep on all others
PENETRATING = 2  # inside each other by less than the slop
OVERLAPPING = 3


@cython.cfunc
@cython.exceptval(check=False)
def _snap(
    b: Bodies,
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    k: cython.int,
    below: cython.bint,
    shift: cython.double,
    shift2: cython.double,
) -> cython.void:
    """Put body `i`, at its base time, flush against the face of `j` at that time.

    Of the two, the second of the pair is so far off where they meet: `shift` or `shift2`.

    Two bodies without thickness are put one ulp apart: with no gap between
    them it would be forgotten on which side each is.
    """
    half: cython.double = b.half_of(i, k)
    centre: cython.double = b.centre_at(j, k, b.base[i]) + shift2
    half2: cython.double = b.half_at(j, k, b.base[i])
    face: cython.double = centre - half2 if below else centre + half2
    thin: cython.bint = centre - half2 == centre + half2

    if below:
        centre = face - half
        if centre + half > face:
            centre = nextafter(centre, -INF)
        if thin and centre - half == centre + half:
            centre = min(nextafter(face, -INF), face - APART_AT_LEAST)
    else:
        centre = face + half
        if centre - half < face:
            centre = nextafter(centre, INF)
        if thin and centre - half == centre + half:
            centre = max(nextafter(face, INF), face + APART_AT_LEAST)
    b.interrupt_rest(i)
    if shift != 0.0:
        thin &= centre - half == centre + half
        centre = _unshifted(centre - shift, half, face, below, shift, thin)
    b.put(i, k, centre)


@cython.cfunc
@cython.exceptval(check=False)
def _unshifted(
    centre: cython.double,
    half: cython.double,
    face: cython.double,
    below: cython.bint,
    shift: cython.double,
    thin: cython.bint,
) -> cython.double:
    """Return a centre that lies flush against a face once it is shifted, and rounded.

    Where numbers are coarser at home than where the bodies meet, it may lie beyond it.
    """
    start: cython.double = centre
    nudge: cython.double = 0.0
    near: cython.double

    while True:
        near = centre + shift + half if below else centre + shift - half
        if thin and near == face:
            pass
        elif (near <= face) if below else (near >= face):
            return centre
        nudge = max(2.0 * nudge, abs(shift) * 2.0**-53)
        centre = start - nudge if below else start + nudge


@cython.cfunc
@cython.exceptval(check=False)
def place(
    b: Bodies,
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    k: cython.int,
    sign: cython.int,
    t: cython.double,
    shift: cython.double,
) -> cython.void:
    """Make the faces of a pair meet on axis `k` at time `t`, `j` being `shift` off.

    Never moves an anchored body, nor one that is held if the other is neither;
    else the lighter of the two, then the one with the higher id.
    """
    fixed1: cython.bint = b.is_anchored(i, k, t)
    fixed2: cython.bint = b.is_anchored(j, k, t)

    if not (fixed1 or fixed2) and b.on_hold[i] != b.on_hold[j]:
        fixed1 = b.on_hold[i]
        fixed2 = b.on_hold[j]
    if fixed1 and fixed2:
        return
    if fixed2 or (not fixed1 and b.is_lighter(i, j)):
        b.advance(i, t)
        _snap(b, i, j, k, sign < 0, 0.0, shift)
        if fixed2:
            b.anchor(i, j, k, t)
    else:
        b.advance(j, t)
        _snap(b, j, i, k, sign > 0, shift, 0.0)
        if fixed1:
            b.anchor(j, i, k, t)


@cython.final
@cython.cclass
class PositionCorrection:
    """Puts right at the end of a step what rounding has moved inside something else.

    Attributes
    ----------
    near : int64 (n_pairs or more, 2)
        Pairs that touch or are inside each other, and their axes; the latter axes negative, from -1.
    relations : int64 (n_pairs or more,)
        Of each pair, what `_find_near` has found: `NOT_NEAR` for those that neither touch nor
        penetrate, else as the second column of `near`.
    is_moved : int8 (n_rows,)
        Whether a body was snapped since `_find_near` looked last.
    axis, sign, gap : of the pair last related: its shallowest side
    n_near : the number of axes on which that pair is not deep
    """

    def __init__(self, bodies: Bodies, pairs: PairTable, queue: ImpactQueue):
        self.bodies = bodies
        self.pairs = pairs
        self.queue = queue
        self.level = zeros(LONG, 1, bodies.dim)
        self.near = zeros(LONG, 1, 2)
        self.relations = zeros(LONG, 1)
        self.is_moved = zeros(BYTE, 1)
        self.n_near_pairs = 0
        self.axis = self.sign = self.n_near = 0
        self.gap = 0.0

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        level: cython.longlong[:, ::1] = grown(self.level, n_rows)

        self.is_moved = grown(self.is_moved, n_rows)
        self.level = level

    @cython.cfunc
    def make_room(self) -> cython.int:
        """Make room for all pairs."""
        if self.near.shape[0] < self.pairs.n:
            self.relations = zeros(LONG, 2 * self.pairs.n)
            self.near = zeros(LONG, 2 * self.pairs.n, 2)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def solid_placement(self, p: cython.Py_ssize_t) -> cython.int:
        """Tell how a pair stands as `relative_placement` does; those that let each other through are apart."""
        i: cython.Py_ssize_t = self.pairs.first[p]
        j: cython.Py_ssize_t = self.pairs.second[p]
        relation: cython.int = self.relative_placement(p)

        if relation == APART or self.pairs.crossing[p] or not self.bodies.surfaces.is_one_way(i, j):
            return relation
        if relation == OVERLAPPING or self.bodies.surfaces.is_passable(i, j, self.axis, self.sign):
            return APART
        return relation

    @cython.cfunc
    @cython.exceptval(check=False)
    def relative_placement(self, p: cython.Py_ssize_t) -> cython.int:
        """Tell how a pair stands, its bodies at rest where they are; set axis, sign and gap."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.first[p]
        j: cython.Py_ssize_t = self.pairs.second[p]
        one: cython.Py_ssize_t = b.start_of(i)
        two: cython.Py_ssize_t = b.start_of(j)
        k: cython.int
        centre1: cython.double
        centre2: cython.double
        half1: cython.double
        half2: cython.double
        gap: cython.double
        plus: cython.double
        slop: cython.double
        inside: cython.bint = True
        wraps: cython.bint = b.wraps
        shift: cython.double = 0.0
        least: cython.double = APART_AT_LEAST

        self.gap = -INF
        self.n_near = 0
        for k in range(b.dim):
            centre1 = b.path[one + CENTRE]
            if wraps:
                shift = self.pairs.offset[p, k]
                least = max(APART_AT_LEAST, SLOP * b.width[k])
            centre2 = b.path[two + CENTRE] + shift
            half1 = b.path[one + HALF]
            half2 = b.path[two + HALF]
            one += 4
            two += 4
            gap = (centre2 - half2) - (centre1 + half1)
            plus = (centre1 - half1) - (centre2 + half2)
            slop = SLOP * max(
                abs(b.swept_min[i, k]),
                abs(b.swept_max[i, k]),
                abs(b.swept_min[j, k]),
                abs(b.swept_max[j, k]),
            )
            slop = max(slop, least)
            if gap > slop or plus > slop:
                return APART
            if gap >= 0.0 or plus >= 0.0:
                inside = False
            if gap >= -slop or plus >= -slop:
                self.n_near += 1
            if max(gap, plus) > self.gap:
                self.axis = k
                self.sign = 1 if plus > gap else -1
                self.gap = max(gap, plus)
        if self.n_near == 0:
            return OVERLAPPING
        if inside:
            return PENETRATING
        return TOUCHING if self.n_near == 1 else APART

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def can_sink(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair must be kept apart, and does not end clear of each other anyway."""
        return not (
            self.pairs.clear[p]
            or self.pairs.crossing[p]
            or self.pairs.left_alone[p]
            or self.pairs.gone[p]
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def correct(self) -> cython.void:
        """Snap pairs that are inside by less than the slop outward, from immovable bodies on."""
        b: Bodies = self.bodies
        p: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.int
        _n: cython.int
        first_moves: cython.bint

        self._part_planes()
        for _n in range(N_PASSES):
            if not self._find_near(_n == 0):
                return
            self._find_levels()
            while self.queue.size:
                p = self.queue.top()
                self.queue.drop(p)
                if self.solid_placement(p) != PENETRATING:
                    continue
                i = self.pairs.first[p]
                j = self.pairs.second[p]
                k = self.axis
                if self.level[i, k] == 0 and self.level[j, k] == 0:
                    continue  # neither gives way
                if self.level[i, k] != self.level[j, k]:
                    first_moves = self.level[i, k] > self.level[j, k]
                elif (b.half_of(i, k) == 0.0) != (b.half_of(j, k) == 0.0):
                    first_moves = b.half_of(i, k) > 0.0  # a plane would forget its side
                else:
                    first_moves = b.is_lighter(i, j)
                self.is_moved[i if first_moves else j] = 1
                if first_moves:
                    b.advance(i, 1.0)  # one that sleeps is at the step's start still
                    _snap(b, i, j, k, self.sign < 0, 0.0, self.pairs.offset_of(p, k))
                else:
                    b.advance(j, 1.0)
                    _snap(b, j, i, k, self.sign > 0, self.pairs.offset_of(p, k), 0.0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _part_planes(self) -> cython.void:
        """Part bodies without thickness whose paths end in one plane.

        With no gap it would be forgotten in the next step from which side they came.
        """
        b: Bodies = self.bodies
        p: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        one: cython.Py_ssize_t
        two: cython.Py_ssize_t
        k: cython.int
        sign: cython.int
        approach: cython.double

        for p in range(self.pairs.n):
            if not self.can_sink(p):
                continue
            i = self.pairs.first[p]
            j = self.pairs.second[p]
            one = b.start_of(i) + CENTRE
            two = b.start_of(j) + CENTRE
            for k in range(b.dim):
                if not b.wraps and b.path[one + 4 * k] != b.path[two + 4 * k]:
                    continue
                if (
                    b.centre_of(i, k) == b.centre_of(j, k) + self.pairs.offset_of(p, k)
                    and self.is_plane(i, k)
                    and self.is_plane(j, k)
                ):
                    approach = b.motion_of(i, k) - b.motion_of(j, k)
                    if approach != 0.0 and self.solid_placement(p) != APART:
                        sign = -1 if approach > 0.0 else 1
                        place(b, i, j, k, sign, 1.0, self.pairs.offset_of(p, k))

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_plane(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether both faces of a body are the same on an axis."""
        centre: cython.double = self.bodies.centre_of(i, k)
        half: cython.double = self.bodies.half_of(i, k)

        return centre - half == centre + half

    @cython.cfunc
    @cython.exceptval(check=False)
    def _find_near(self, is_first: cython.bint) -> cython.bint:
        """Find the pairs that touch or are inside each other; False if none are inside.

        After the first pass, only pairs with a body that was snapped are compared again.
        """
        p: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        found: cython.longlong
        any_penetrating: cython.bint = False

        for p in range(self.pairs.n):
            if not self.can_sink(p):
                continue
            if (
                is_first
                or self.is_moved[self.pairs.first[p]]
                or self.is_moved[self.pairs.second[p]]
            ):
                self.relations[p] = self._relation_of(p)
            found = self.relations[p]
            if found == NOT_NEAR:
                continue
            any_penetrating |= found < 0
            self.near[n, 0] = p
            self.near[n, 1] = found
            n += 1
        self.n_near_pairs = n
        for n in range(self.n_near_pairs):
            self.is_moved[self.pairs.first[self.near[n, 0]]] = 0
            self.is_moved[self.pairs.second[self.near[n, 0]]] = 0
        return any_penetrating

    @cython.cfunc
    @cython.exceptval(check=False)
    def _relation_of(self, p: cython.Py_ssize_t) -> cython.longlong:
        """Return how a pair stands: as the second column of `near`, or `NOT_NEAR`."""
        relation: cython.int = self.solid_placement(p)

        if relation == PENETRATING:
            return -1 - self.axis
        return self.axis if relation == TOUCHING else NOT_NEAR

    @cython.cfunc
    @cython.exceptval(check=False)
    def _find_levels(self) -> cython.void:
        """Queue the pairs to snap by their distance from immovable bodies.

        A body's level on an axis is the number of bodies between it and the
        nearest immovable one, counted over touching pairs.
        """
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        p: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.int
        any_lock: cython.bint = b.controls.any_lock
        changing: cython.bint = False  # without an immovable body, no level does

        for n in range(self.n_near_pairs):
            i = self.pairs.first[self.near[n, 0]]
            j = self.pairs.second[self.near[n, 0]]
            for k in range(b.dim):
                self.level[i, k] = NO_LEVEL if b.yields[i] else 0
                self.level[j, k] = NO_LEVEL if b.yields[j] else 0
                changing |= not (b.yields[i] and b.yields[j])
                if any_lock:
                    self.level[i, k] *= b.gives_way(i, k)
                    self.level[j, k] *= b.gives_way(j, k)
                    changing = True
        while changing:
            changing = False
            for n in range(self.n_near_pairs):
                i = self.pairs.first[self.near[n, 0]]
                j = self.pairs.second[self.near[n, 0]]
                k = self.near[n, 1] if self.near[n, 1] >= 0 else -1 - self.near[n, 1]
                if self.level[i, k] > self.level[j, k] + 1:
                    self.level[i, k] = self.level[j, k] + 1
                    changing = True
                elif self.level[j, k] > self.level[i, k] + 1:
                    self.level[j, k] = self.level[i, k] + 1
                    changing = True
        for n in range(self.n_near_pairs):
            if self.near[n, 1] < 0:
                p = self.near[n, 0]
                k = -1 - self.near[n, 1]
                self.queue.put(
                    p,
                    min(self.level[self.pairs.first[p], k], self.level[self.pairs.second[p], k]),
                    0,
                )
