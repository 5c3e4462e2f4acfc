"""Place a body flush against another, and correct positions at the end of a step.

By rounding, a centre moved by ``c + v * t`` ends inside the wall in up to 45 % of all impacts.  On
the contact axis the body is therefore snapped to the face of its partner.

Invariant: after `correct`, no pair that must stay apart penetrates, unless bodies are crushed.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from math import nextafter

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.arrays import BYTE, LONG, grown, zeros
from ecs_collide._kernel.constants import APART_AT_LEAST, INF
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.slopes import (
    APART,
    OVERLAPPING,
    PENETRATING,
    TOUCHING,
    Slopes,
)

NO_LEVEL: cython.longlong = (
    1 << 40
)  # the level of a body that is not connected to a static or kinematic one
NOT_NEAR: cython.longlong = 1 << 20  # instead of an axis
SOFT_DEPTH = 2.0**-24  # a soft overlap must be deeper than this times the two half sizes
COORDINATE_ROUNDING = 2.0**-40  # and deeper than this times the coordinates
N_PASSES = 4  # more than one is needed only in crowds

# The values of `is_moved` for a body that was snapped.
MOVED = 1
COMPARED = 2  # snapped, and all of its pairs were compared again


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

    `shift` is the offset of the image of `i`, `shift2` the offset for `j`; one of them is 0.

    Two bodies without thickness are put one ulp apart, because at distance 0 their positions
    would not show on which side each of them is.
    """
    half: cython.double = b.half_of(i, k)
    centre: cython.double = b.centre_at(j, k, b.base[i]) + shift2
    half2: cython.double = b.half_at(j, k, b.base[i])
    face: cython.double = centre - half2 if below else centre + half2
    thin: cython.bint = centre - half2 == centre + half2

    centre = beside(face, half, below, thin)
    if shift != 0.0:
        thin &= centre - half == centre + half
        centre = _unshifted(centre - shift, half, face, below, shift, thin)
    b.snap(i, k, centre)


def _snap_both(
    b: Bodies,
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    k: cython.int,
    below: cython.bint,
) -> cython.void:
    """Put two bodies at one base time face to face, `i` below `j` or above it, each half of the way."""
    sign: cython.double = 1.0 if below else -1.0
    thin: cython.bint = b.half_of(i, k) == 0.0 and b.half_of(j, k) == 0.0
    face: cython.double = b.face_on(i, k, sign)
    face2: cython.double = b.face_on(j, k, -sign)

    if thin or face != face2:
        face = 0.5 * (face + face2)
        b.snap(i, k, beside(face, b.half_of(i, k), below, thin))
        b.snap(j, k, beside(face, b.half_of(j, k), not below, thin))


def beside(
    face: cython.double, half: cython.double, below: cython.bint, thin: cython.bint
) -> cython.double:
    """Return the centre of a box that is flush against a face, on the lower or upper side of it.

    If neither it nor the body with the face has a thickness, it is put an ulp beside the face.
    """
    centre: cython.double = face - half if below else face + half

    if thin and centre - half == centre + half:
        if below:
            return min(nextafter(face, -INF), face - APART_AT_LEAST)
        return max(nextafter(face, INF), face + APART_AT_LEAST)
    if below and centre + half > face:
        return nextafter(centre, -INF)
    if not below and centre - half < face:
        return nextafter(centre, INF)
    return centre


def _unshifted(
    centre: cython.double,
    half: cython.double,
    face: cython.double,
    below: cython.bint,
    shift: cython.double,
    thin: cython.bint,
) -> cython.double:
    """Return a centre that is flush against a face after a shift and its rounding.

    It may keep a distance from the face if floats are coarser than at the shifted position.
    """
    start: cython.double = centre
    nudge: cython.double = 0.0

    while True:
        near: cython.double = centre + shift + half if below else centre + shift - half
        if thin and near == face:
            pass
        elif (near <= face) if below else (near >= face):
            return centre
        nudge = max(2.0 * nudge, abs(shift) * 2.0**-53)
        centre = start - nudge if below else start + nudge


def place(
    b: Bodies,
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    k: cython.int,
    sign: cython.int,
    t: cython.double,
    shift: cython.double,
) -> cython.void:
    """Make the faces of a pair meet on axis `k` at time `t`; `shift` is the offset of `j`.

    Moves a body that is neither anchored nor held; of two such bodies the one, or both, that
    `Bodies.gives_way` says.  A held body is moved if the other one is anchored or held too;
    an anchored body is never moved.
    """
    fixed1: cython.bint = b.is_anchored(i, k, t)
    fixed2: cython.bint = b.is_anchored(j, k, t)

    if not (fixed1 or fixed2) and b.on_hold[i] != b.on_hold[j]:
        fixed1 = b.on_hold[i]
        fixed2 = b.on_hold[j]
    if fixed1 and fixed2:
        return
    first_moves: cython.int = 1 if fixed2 else -1 if fixed1 else b.gives_way(i, j, 0)
    if first_moves == 0:
        b.advance(i, t)
        b.advance(j, t)
        _snap_both(b, i, j, k, sign < 0)
    elif first_moves > 0:
        b.advance(i, t)
        _snap(b, i, j, k, sign < 0, 0.0, shift)
        if fixed2:
            b.anchor(i, j, k, t)
    else:
        b.advance(j, t)
        _snap(b, j, i, k, sign > 0, shift, 0.0)
        if fixed1:
            b.anchor(j, i, k, t)


@cython.inline
def is_deep(apart: cython.double, sizes: cython.double, coordinates: cython.double) -> cython.bint:
    """Return whether two members of a soft crowd overlap on an axis by more than rounding.

    `apart` is the distance of their centres, and `coordinates` the sum of the sizes of these;
    `sizes` is the sum of the half sizes.
    """
    return sizes - abs(apart) > max(SOFT_DEPTH * sizes, COORDINATE_ROUNDING * coordinates)


@cython.final
class PositionCorrection:
    """Corrects, at the end of a step, the positions of bodies that penetrate by rounding."""

    bodies: Bodies
    pairs: PairTable
    queue: ImpactQueue
    slopes: Slopes
    level: cython.longlong[:, ::1]
    # (n_near_pairs or more,): pairs that penetrate; with `any_static` also pairs that touch
    near: cython.longlong[::1]
    # (n_pairs or more,): the relation of each pair at its last comparison: `axis` if it touched,
    # ``-1 - axis`` if it penetrated, else `NOT_NEAR`
    relations: cython.longlong[::1]
    # (n_pairs or more,): `sign` and `n_near` of each pair at that time
    signs: cython.schar[::1]
    near_counts: cython.schar[::1]
    # whether `relations` hold at the end of the step, except for bodies with `is_moved`
    is_current: cython.bint
    # whether a pair that touches or penetrates may have a body that does not give way
    any_static: cython.bint
    # whether a pair was found that may be two bodies without thickness in one plane
    any_plane: cython.bint
    is_moved: cython.schar[::1]  # (n_rows,): `MOVED` or `COMPARED` for bodies in `moved`, else 0
    # (n_moved or more,): the bodies that were snapped since the last call of `_find_near`
    moved: cython.longlong[::1]
    n_moved: cython.Py_ssize_t
    n_near_pairs: cython.Py_ssize_t
    axis: Public[cython.int]
    sign: Public[cython.int]
    n_near: Public[cython.int]
    gap: Public[cython.double]
    gaps: cython.double[3]  # (3,): by axis, the larger gap of both sides

    def __init__(self, bodies: Bodies, pairs: PairTable, queue: ImpactQueue):
        self.bodies = bodies
        self.pairs = pairs
        self.queue = queue
        self.slopes = Slopes(bodies)
        self.level = zeros(LONG, 1, bodies.dim)
        self.near = zeros(LONG, 1)
        self.relations = zeros(LONG, 1)
        self.signs = zeros(BYTE, 1)
        self.near_counts = zeros(BYTE, 1)
        self.is_moved = zeros(BYTE, 1)
        self.moved = zeros(LONG, 1)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        level: cython.longlong[:, ::1] = grown(self.level, n_rows)
        moved: cython.longlong[::1] = grown(self.moved, n_rows)

        self.is_moved = grown(self.is_moved, n_rows)
        self.moved = moved
        self.level = level

    def make_room(self) -> cython.void:
        """Make room for all pairs."""
        if self.near.shape[0] < self.pairs.n:
            self.relations = zeros(LONG, 2 * self.pairs.n)
            self.signs = zeros(BYTE, 2 * self.pairs.n)
            self.near_counts = zeros(BYTE, 2 * self.pairs.n)
            self.near = zeros(LONG, 2 * self.pairs.n)  # last, because its length is the room

    def solid_placement(self, p: cython.Py_ssize_t) -> cython.int:
        """Return the relative placement of a pair; APART if one passes through the other."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        relation: cython.int = self.relative_placement(p)

        if (
            relation != APART
            and self.pairs.is_one_way(p, self.bodies)
            and (
                relation == OVERLAPPING
                or self.bodies.is_passable(i, j, self.axis, 1 if self.sign > 0 else -1)
            )
        ):
            return APART
        return relation

    def is_touching(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bodies of a solid pair touch now, up to rounding."""
        relation: cython.int = self.solid_placement(p)

        return relation == TOUCHING or (relation == PENETRATING and self.n_near == 1)

    def final_placement(self, p: cython.Py_ssize_t) -> cython.int:
        """Return as `solid_placement` the placement of a pair that does not cross, at the end."""
        found: cython.longlong = NOT_NEAR

        if (
            self.is_current
            and self.can_sink(p)
            and not self.is_moved[self.pairs.at[p].first]
            and not self.is_moved[self.pairs.at[p].second]
        ):
            found = self.relations[p]
        if found == NOT_NEAR:
            return self.solid_placement(p)
        self.axis = found if found >= 0 else -1 - found
        self.sign = self.signs[p]
        self.n_near = self.near_counts[p]
        return TOUCHING if found >= 0 else PENETRATING

    def relative_placement(self, p: cython.Py_ssize_t) -> cython.int:
        """Return the present relative placement of a pair; set axis, sign, gap and n_near."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        clear: cython.double = b.clear_gap()
        largest: cython.double = -INF
        lead: cython.double = 0.0  # by how much the gap on the plus side is larger
        n_close: cython.int = 0

        if self.slopes.find(i, j):
            return self._place_at_slope(p)
        for k in range(b.dim):
            centre1: cython.double = b.centre_of(i, k)
            centre2: cython.double = b.centre_of(j, k) + self.pairs.offset_of(p, k)
            half1: cython.double = b.half_of(i, k)
            half2: cython.double = b.half_of(j, k)
            gap: cython.double = (centre2 - half2) - (centre1 + half1)
            plus: cython.double = (centre1 - half1) - (centre2 + half2)
            nearer: cython.double = plus if plus > gap else gap
            self.gaps[k] = nearer
            n_close += abs(nearer) <= clear
            if nearer > largest:
                self.axis = k
                largest = nearer
                lead = plus - gap
        self.sign = 1 if lead > 0.0 else -1
        self.gap = largest
        self.n_near = n_close
        if largest > clear:
            return APART
        if n_close == 0:
            return OVERLAPPING
        if largest == 0.0:
            self.any_plane |= lead == 0.0
            if n_close == 1:
                return TOUCHING
        return self._compare_gaps(i, j)

    def overlaps_softly(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the members of a soft pair overlap at the end; set axis and sign.

        These are of the side with the least depth, of several on the lowest axis.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        least: cython.double = INF

        for k in range(b.dim):
            apart: cython.double = b.centre[i, k] - b.centre[j, k] - self.pairs.offset_of(p, k)
            sizes: cython.double = b.half[i, k] + b.half[j, k]
            if not is_deep(apart, sizes, abs(b.centre[i, k]) + abs(b.centre[j, k])):
                return False
            if sizes - abs(apart) < least:
                least = sizes - abs(apart)
                self.axis = k
                self.sign = 1 if apart > 0.0 else -1
        return True

    def _compare_gaps(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.int:
        """Return the placement of two bodies by `gaps`, which may be within the slop.

        On an axis on which the gap is 0, as after a snap, the slop has no effect.
        """
        self.n_near = 0
        for k in range(self.bodies.dim):
            slop: cython.double = 0.0 if self.gaps[k] == 0.0 else self.bodies.slop_between(i, j, k)
            if self.gaps[k] > slop:
                return APART
            self.n_near += self.gaps[k] >= -slop
        if self.n_near == 0:
            return OVERLAPPING
        if self.gap < 0.0:
            return PENETRATING
        return TOUCHING if self.n_near == 1 else APART

    def _place_at_slope(self, p: cython.Py_ssize_t) -> cython.int:
        """Return as `relative_placement` the placement of a pair whose slope was found."""
        relation: cython.int = self.slopes.place_of(self.pairs, p)

        self.axis = self.slopes.near_axis
        self.sign = self.slopes.near_sign
        self.gap = self.slopes.near_gap
        self.n_near = self.slopes.n_near
        return relation

    def _snap_pair(
        self, p: cython.Py_ssize_t, k: cython.int, first_moves: cython.int
    ) -> cython.void:
        """Put a pair face to face on the side of `axis` and `sign`.

        The first body is moved if `first_moves` is 1, the second if it is -1, both if it is 0.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        shift: cython.double = self.pairs.offset_of(p, k)

        if self.slopes.find(i, j) and self.slopes.is_open(k, self.sign):
            self.slopes.snap(self.pairs, p, self.sign)
        elif first_moves == 0:
            _snap_both(b, i, j, k, self.sign < 0)
        elif first_moves > 0:
            _snap(b, i, j, k, self.sign < 0, 0.0, shift)
        else:
            _snap(b, j, i, k, self.sign > 0, shift, 0.0)

    def seat(self, p: cython.Py_ssize_t, side: cython.int, first_moves: cython.bint) -> cython.bint:
        """Close a gap by rounding between touching bodies; return whether the body has moved."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = abs(side) - 1

        if not self.can_sink(p) or self.solid_placement(p) != TOUCHING:
            return False
        if self.gap <= 0.0 or self.axis != k or (self.sign > 0) != ((side > 0) == first_moves):
            return False
        mover: cython.Py_ssize_t = i if first_moves else j
        before: cython.double = b.centre_of(mover, k)
        self._snap_pair(p, k, 1 if first_moves else -1)
        return b.centre_of(mover, k) != before

    @cython.cfunc
    @cython.inline
    def can_sink(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair must be kept apart and is not known to end apart."""
        return not self.pairs.at[p].is_clear and self.pairs.is_solid(p)

    def correct(self) -> cython.void:
        """Snap penetrating pairs apart, beginning at static and kinematic bodies."""
        b: Bodies = self.bodies

        self.any_static = b.controls.any_lock
        self.is_current = True
        self.any_plane = b.wraps  # the comparison may not notice planes at an image
        if not self.any_plane:
            self._compare_all()
        if self.any_plane:
            self._part_planes()
            self._compare_all()
        for n in range(N_PASSES):
            if n > 0:
                self._compare_moved()
            if not self._find_near():
                return
            self._find_levels()
            while self.queue.size:
                p: cython.Py_ssize_t = self.queue.top()
                self.queue.drop(p)
                if self.final_placement(p) != PENETRATING:
                    continue
                i: cython.Py_ssize_t = self.pairs.at[p].first
                j: cython.Py_ssize_t = self.pairs.at[p].second
                k: cython.int = self.axis
                if self.level[i, k] == 0 and self.level[j, k] == 0:
                    continue  # neither can move on this axis
                if self.level[i, k] != self.level[j, k]:
                    first_moves: cython.int = 1 if self.level[i, k] > self.level[j, k] else -1
                elif (b.half_of(i, k) == 0.0) != (b.half_of(j, k) == 0.0):
                    # A moved plane could change sides.
                    first_moves = 1 if b.half_of(i, k) > 0.0 else -1
                else:
                    first_moves = b.gives_way(i, j, k)
                if first_moves >= 0:
                    self._move_to_end(i)
                if first_moves <= 0:
                    self._move_to_end(j)
                self._snap_pair(p, k, first_moves)

    def _part_planes(self) -> cython.void:
        """Separate bodies without thickness whose paths end in one plane.

        Without a gap, the next step could not tell on which side each of them is.
        """
        b: Bodies = self.bodies

        for p in range(self.pairs.n):
            if not self.can_sink(p):
                continue
            i: cython.Py_ssize_t = self.pairs.at[p].first
            j: cython.Py_ssize_t = self.pairs.at[p].second
            for k in range(b.dim):
                if self.are_planes(p, k):
                    approach: cython.double = b.motion_of(i, k) - b.motion_of(j, k)
                    if approach != 0.0 and self.solid_placement(p) != APART:
                        sign: cython.int = -1 if approach > 0.0 else 1
                        place(b, i, j, k, sign, 1.0, self.pairs.offset_of(p, k))

    def are_planes(self, p: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether the bodies of a pair have no thickness on an axis, and are in one plane."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        return (
            b.centre_of(i, k) == b.centre_of(j, k) + self.pairs.offset_of(p, k)
            and self._is_plane(i, k)
            and self._is_plane(j, k)
        )

    def _is_plane(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a body has no thickness on an axis."""
        return self.bodies.face_on(i, k, -1.0) == self.bodies.face_on(i, k, 1.0)

    def _find_near(self) -> cython.bint:
        """List the pairs for `_find_levels`; return False if none penetrates."""
        n: cython.Py_ssize_t

        for n in range(self.n_moved):
            self.is_moved[self.moved[n]] = 0
        self.n_moved = 0
        if self.n_near_pairs == 0:
            return False
        if self.any_static:  # levels are counted over touching pairs too
            n = 0
            for p in range(self.pairs.n):
                if self.relations[p] != NOT_NEAR:
                    self.near[n] = p
                    n += 1
            self.n_near_pairs = n
        return True

    def _compare_all(self) -> cython.void:
        """Compare all pairs that may penetrate."""
        self.any_plane = False
        self.n_near_pairs = 0
        for p in range(self.pairs.n):
            if self.can_sink(p):
                self._compare(p)
            else:
                self.relations[p] = NOT_NEAR

    def _compare_moved(self) -> cython.void:
        """Compare all pairs of the snapped bodies again, each pair once."""
        self.n_near_pairs = 0
        for n in range(self.n_moved):
            i: cython.Py_ssize_t = self.moved[n]
            p: cython.Py_ssize_t = self.pairs.head_of(i)
            while p >= 0:
                if self.is_moved[self.pairs.partner(p, i)] != COMPARED and self.can_sink(p):
                    self._compare(p)
                p = self.pairs.next_of(p, i)
            self.is_moved[i] = COMPARED

    def _move_to_end(self, i: cython.Py_ssize_t) -> cython.void:
        """Move a body, which may sleep, to its place at the end of the step, to be snapped."""
        self.bodies.advance(i, 1.0)
        if not self.is_moved[i]:
            self.is_moved[i] = MOVED
            self.moved[self.n_moved] = i
            self.n_moved += 1

    def _compare(self, p: cython.Py_ssize_t) -> cython.void:
        """Store the relation of a pair."""
        relation: cython.int = self.solid_placement(p)

        self.signs[p] = self.sign
        self.near_counts[p] = self.n_near
        self.relations[p] = NOT_NEAR
        if relation in (PENETRATING, TOUCHING):
            self.relations[p] = self.axis if relation == TOUCHING else -1 - self.axis
            self.any_static |= not (
                self.bodies.dynamic[self.pairs.at[p].first]
                and self.bodies.dynamic[self.pairs.at[p].second]
            )
        if relation == PENETRATING:
            self.near[self.n_near_pairs] = p
            self.n_near_pairs += 1

    def _find_levels(self) -> cython.void:
        """Queue the pairs to snap by their distance from static or kinematic bodies.

        A body's level on an axis is the number of touching pairs between it and the nearest static
        or kinematic body.  Of equal levels, the pair nearest to the origin is first.
        """
        level: cython.longlong = 0  # if all are dynamic, any order will do

        self.queue.clear()  # it is empty; this makes it accept entries for its sorted list
        # Before the first entry, which `put_at` compares by it.
        self.queue.by_distance = True
        for n in range(self.n_near_pairs):
            self._start_level(self.pairs.at[self.near[n]].first)
            self._start_level(self.pairs.at[self.near[n]].second)
        if self.any_static:
            self._spread_levels()
        for n in range(self.n_near_pairs):
            p: cython.Py_ssize_t = self.near[n]
            if self.relations[p] < 0:
                k: cython.int = -1 - self.relations[p]
                i: cython.Py_ssize_t = self.pairs.at[p].first
                j: cython.Py_ssize_t = self.pairs.at[p].second
                if self.any_static:
                    level = min(self.level[i, k], self.level[j, k])
                if self.bodies.gives_way(i, j, k) > 0:
                    i = j
                self.queue.put_at(p, i, level, 0, abs(self.bodies.place_of(i, k)))

    def _start_level(self, i: cython.Py_ssize_t) -> cython.void:
        """Set the levels of a body: 0 on axes on which it is not dynamic, else `NO_LEVEL`."""
        for k in range(self.bodies.dim):
            self.level[i, k] = NO_LEVEL if self.bodies.dynamic_along(i, k) else 0

    def _spread_levels(self) -> cython.void:
        """Count the levels from static or kinematic bodies on, over touching pairs."""
        changing: cython.bint = True

        while changing:
            changing = False
            for n in range(self.n_near_pairs):
                i: cython.Py_ssize_t = self.pairs.at[self.near[n]].first
                j: cython.Py_ssize_t = self.pairs.at[self.near[n]].second
                k: cython.int = self.relations[self.near[n]]
                if k < 0:
                    k = -1 - k
                if self.level[i, k] > self.level[j, k] + 1:
                    self.level[i, k] = self.level[j, k] + 1
                    changing = True
                elif self.level[j, k] > self.level[i, k] + 1:
                    self.level[j, k] = self.level[i, k] + 1
                    changing = True
