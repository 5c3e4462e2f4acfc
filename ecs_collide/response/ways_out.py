"""Ways out: bodies that are inside others leave them, by a drift of their paths.

A drift has no momentum, and it is swept like any motion, so a way out never leads through a third
body.  A body with `PushOut` leaves all bodies that it is in, and moves the whole way alone.  The
members of a soft crowd, with `Separate`, share the way of each pair by their masses.

`Separating.find_members` extends the bounds before the paths are placed in the trees.
`Depenetration.set_paths` searches in the trees, and moves on paths there.  When the pairs are known,
`Separating.separate` finds the ways of its members; the sweeps are next.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from math import floor, sqrt

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import DOUBLE, LONG, grown, zeros
from ecs_collide._kernel.constants import INF, SLOP, Trait
from ecs_collide.broadphase.broadphase import Broadphase
from ecs_collide.broadphase.dynamic_tree import Tree
from ecs_collide.broadphase.pair_table import SOFT, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.placement import is_deep
from ecs_collide.narrowphase.step import Step

N_RELAXATIONS = 8  # rounds in a step; with 4, a crowd of 400 is half as wide
RELAXATION = 1.7  # part of the mean displacement; with 2 or more, a crowd begins to swing
SAME_POINT = 2.0**-30  # part of two half sizes; closer centres have no direction
BINADE = 1.5 * 2.0**20  # adjacent floats differ by 2**-32 here
MAX_PUSH = 4.0  # limit of one partner's part in sizes, so that sums stay exact
# The powers of the root of x**4 + x**3 = 1: multiples of them spread evenly in a cube.
GOLDEN_X = 0.8191725133961645
GOLDEN_Y = 0.6710436067037893
GOLDEN_Z = 0.5497004779019703


@cython.final
class Region:
    """The box of a body, extended by a way along an axis."""

    bodies: Bodies
    low: Public[cython.double[::1]]  # (dim,): its corners
    high: Public[cython.double[::1]]

    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.low = zeros(DOUBLE, bodies.dim)
        self.high = zeros(DOUBLE, bodies.dim)

    def set(self, i: cython.Py_ssize_t, k: cython.int, way: cython.double) -> cython.void:
        """Set the region to the box of a body, extended by a way along an axis."""
        b: Bodies = self.bodies

        for axis in range(b.dim):
            self.low[axis] = b.face_on(i, axis, -1.0)
            self.high[axis] = b.face_on(i, axis, 1.0)
        self.low[k] += min(way, 0.0)
        self.high[k] += max(way, 0.0)

    def overlaps(self, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether the region and body j overlap by more than the slop."""
        b: Bodies = self.bodies

        for k in range(b.dim):
            low: cython.double = max(self.low[k], b.face_on(j, k, -1.0))
            high: cython.double = min(self.high[k], b.face_on(j, k, 1.0))
            if not high - low > SLOP * max(abs(low), abs(high)):
                return False
        return True


@cython.final
class Depenetration:
    """Finds the ways out of the bodies with a `PushOut`.

        +-------+              The way is along one axis, past the farthest face of all bodies
        |   A   |              that A is inside of: out of two tiles of a floor A moves up, never
        |  +----+--+-------+   sideways into the next tile.  A must leave each tile on its nearer
        +--| 1  |  |   2   |   side, and must not enter a body that it is not inside of.
           +----+--+-------+

    A step moves a body at most out of the first of these bodies; the next step searches again.
    """

    step: Step
    bodies: Bodies
    broadphase: Broadphase
    n: Public[cython.Py_ssize_t]
    # pairs of rows, in both orders, of bodies that cross by a response: neither is pushed out
    spared: Public[set]
    rows: Public[cython.longlong[::1]]  # (n or more,): the bodies with a way out
    n_inside: cython.Py_ssize_t
    inside: cython.longlong[::1]  # (n_inside or more,): what a body is inside of
    region: Region

    def __init__(self, step: Step, broadphase: Broadphase):
        self.step = step
        self.bodies = step.bodies
        self.broadphase = broadphase
        self.spared = set()
        self.rows = zeros(LONG, 1)
        self.inside = zeros(LONG, 1)
        self.region = Region(step.bodies)

    @cython.ccall
    def set_paths(self, rows: cython.longlong[::1]) -> cython.void:
        """Set the paths of the bodies of `rows` to lead out of the bodies that they are inside.

        All bodies must be in their trees with their own paths.
        """
        b: Bodies = self.bodies

        self.n = 0
        if b.dt == 0.0:
            return
        if self.rows.shape[0] < rows.shape[0]:
            self.rows = zeros(LONG, rows.shape[0])
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if b.traits[i] & Trait.PUSH_OUT and b.dynamic[i] and not b.sensor[i]:
                self._find_way(i)
        if self.n:
            b.start_drifting(self.rows[: self.n])

    def _find_way(self, i: cython.Py_ssize_t) -> cython.void:
        """Find the shortest way out of all bodies that body i is inside of, and let it drift there."""
        b: Bodies = self.bodies
        shortest: cython.double = INF
        best: cython.int = 0

        self._find_inside(i)
        for k in range(b.dim if self.n_inside else 0):
            for side in range(0 if b.controls.locks(i, k) else 2):
                sign: cython.int = 1 if side else -1
                way: cython.double = self._farthest(i, k, sign)
                if way < shortest and not self._is_blocked(i, k, sign * way):
                    shortest = way
                    best = sign * (k + 1)
        if best == 0:
            return
        axis: cython.int = abs(best) - 1
        sign = 1 if best > 0 else -1
        for n in range(self.n_inside):
            shortest = min(shortest, self._way_out_of(self.inside[n], i, axis, sign))
        b.lead_out(i, axis, sign * min(b.rare.push_out[i], shortest / b.dt))
        self.rows[self.n] = i
        self.n += 1

    def _find_inside(self, i: cython.Py_ssize_t) -> cython.void:
        """List the bodies that push body i out: it is inside of them."""
        tree: Tree

        self.n_inside = 0
        self.region.set(i, 0, 0.0)
        for tree in (self.broadphase.still, self.broadphase.moving):
            for m in range(tree.touching_one(self.region.low, self.region.high)):
                if self._is_inside(i, tree.found[m]):
                    if self.n_inside == self.inside.shape[0]:
                        self.inside = grown(self.inside, 2 * self.n_inside)
                    self.inside[self.n_inside] = tree.found[m]
                    self.n_inside += 1

    def _is_inside(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether body i, whose box is the region, is inside of a body that pushes it out."""
        return self._is_in_the_way(i, j) and self.step.slopes.depth(i, j, self.step.pairs) > 0.0

    def _is_in_the_way(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether body j, which holds back i, overlaps the region by more than the slop."""
        b: Bodies = self.bodies

        if i == j or not b.holds_back(i, j) or not self.broadphase.may_meet(i, j):
            return False
        return self.region.overlaps(j) and (not self.spared or (i, j) not in self.spared)

    def _way_out_of(
        self, j: cython.Py_ssize_t, i: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return how far body i must move in a direction to be past body j."""
        b: Bodies = self.bodies
        way: cython.double = sign * (b.face_on(j, k, sign) - b.face_on(i, k, -sign))
        depth: cython.double = self.step.slopes.depth(i, j, self.step.pairs)

        if self.step.slopes.up != k or self.step.slopes.out != sign:
            return way
        return min(way, depth)

    def _farthest(self, i: cython.Py_ssize_t, k: cython.int, sign: cython.int) -> cython.double:
        """Return how far body i must move to be past all; inf if another side of one is nearer."""
        farthest: cython.double = 0.0

        for n in range(self.n_inside):
            way: cython.double = self._way_out_of(self.inside[n], i, k, sign)
            if way > self._way_out_of(self.inside[n], i, k, -sign):
                return INF
            farthest = max(farthest, way)
        return farthest

    def _is_blocked(self, i: cython.Py_ssize_t, k: cython.int, way: cython.double) -> cython.bint:
        """Return whether a body that body i is not inside of is in the way along an axis."""
        tree: Tree

        self.region.set(i, k, way)
        for tree in (self.broadphase.still, self.broadphase.moving):
            for m in range(tree.touching_one(self.region.low, self.region.high)):
                if not self._is_listed(tree.found[m]) and self._is_in_the_way(i, tree.found[m]):
                    return True
        return False

    def _is_listed(self, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether the body whose way out is searched is inside of body j."""
        for n in range(self.n_inside):  # noqa: SIM110  (a generator costs more)
            if self.inside[n] == j:
                return True
        return False


@cython.final
class Separating:
    """Finds the ways out of the members of soft crowds, which move apart from each other.

    Position-based relaxation (Müller, Heidelberger, Hennix and Ratcliff, "Position Based Dynamics",
    2007), in Jacobi's form.  Each round finds where all members would be at the end of the step, and
    adds to each way the mean of the displacements out of the members that it overlaps.

        +-------+                      +-------+
        |   A   |---+    A and B       |   A   |        the direction is d / (h1 + h2)**2, with d
        |     +-|-+ |    overlap      -+-------+-+      from centre to centre: along d for squares,
        +-----|-+ B |                    |   B   |      and mostly the short way out for long
              +-----+                    +-------+      boxes

    Invariant: no result depends on the order in which pairs are found.  Displacements are rounded to
    multiples of 2**-32 of the member's size before they are added, so that each sum is exact.
    """

    bodies: Bodies
    pairs: PairTable
    n_rows: cython.Py_ssize_t
    n_pairs: cython.Py_ssize_t
    n: ReadOnly[cython.Py_ssize_t]
    # number of soft pairs of this step without room in the pair table, see `skip`
    n_skipped: ReadOnly[cython.longlong]
    rows: ReadOnly[cython.longlong[::1]]  # (n or more,): the dynamic members
    soft: cython.longlong[::1]
    reach: cython.double[::1]  # (n_rows,): largest displacement of a member in the step, else 0
    size: cython.double[::1]  # (n_rows,): the largest side of a member
    # (n_rows, dim): the displaced centre of a member at the end of its path, and its half sizes
    place: cython.double[:, ::1]
    half: cython.double[:, ::1]
    push: ReadOnly[cython.double[:, ::1]]  # (n_rows, dim): the displacement of a member
    total: cython.double[:, ::1]  # (n_rows, dim): the sum of the displacements by its pairs
    count: cython.longlong[::1]  # (n_rows,): the number of displacements in `total`
    total_skipped: cython.double[:, ::1]  # (n_rows, dim): `total` of the skipped pairs
    count_skipped: cython.longlong[::1]  # (n_rows,): `count` of the skipped pairs
    offset: cython.double[3]
    displacement: cython.double[3]

    def __init__(self, step: Step):
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.soft = zeros(LONG, 1)
        self._make_room(1)

    def _make_room(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1, none of which is a member yet."""
        self.rows = zeros(LONG, n_rows)
        self.reach = zeros(DOUBLE, n_rows)
        self.size = zeros(DOUBLE, n_rows)
        self.place = zeros(DOUBLE, n_rows, self.bodies.dim)
        self.half = zeros(DOUBLE, n_rows, self.bodies.dim)
        self.push = zeros(DOUBLE, n_rows, self.bodies.dim)
        self.total = zeros(DOUBLE, n_rows, self.bodies.dim)
        self.count = zeros(LONG, n_rows)
        self.total_skipped = zeros(DOUBLE, n_rows, self.bodies.dim)
        self.count_skipped = zeros(LONG, n_rows)
        self.n_rows = n_rows  # last, because an array may fail to be allocated

    @cython.ccall
    def find_members(self, rows: cython.longlong[::1]):
        """Find the members among the bodies of `rows`, and extend their bounds by their reach.

        They must have their own paths and must not be in the trees yet.
        """
        b: Bodies = self.bodies

        self.forget()
        if not b.rare.any_separator or b.dt == 0.0:
            return
        if self.n_rows < b.centre.shape[0]:
            self._make_room(b.centre.shape[0])
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if not (b.traits[i] & Trait.SEPARATE and b.dynamic[i]) or b.sensor[i]:
                continue
            self.rows[self.n] = i
            self.n += 1
            self._locate(i)
            self.size[i] = 0.0
            for k in range(b.dim):
                self.size[i] = max(self.size[i], self.half[i, k])
            self.size[i] *= 2.0
            self.reach[i] = min(b.rare.separate[i] * b.dt, 0.5 * self.size[i])
            self.count_skipped[i] = 0
            for k in range(b.dim):
                b.swept_min[i, k] -= self.reach[i]
                b.swept_max[i, k] += self.reach[i]
                self.push[i, k] = self.total_skipped[i, k] = 0.0

    def forget(self) -> cython.void:
        """Remove all members, even of an interrupted step."""
        for n in range(self.n):
            self.reach[self.rows[n]] = 0.0
        self.n = self.n_pairs = self.n_skipped = 0

    def _locate(self, i: cython.Py_ssize_t) -> cython.void:
        """Find the centre and half sizes of a body at the end of its own path."""
        b: Bodies = self.bodies

        for k in range(b.dim):
            self.place[i, k] = b.centre_at(i, k, 1.0)
            self.half[i, k] = b.half_at(i, k, 1.0)

    def skip(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, offset: cython.double[::1]
    ) -> cython.void:
        """Add the displacements of a pair of members without room in the pair table."""
        sign: cython.double = 1.0

        self.n_skipped += 1
        if self.bodies.ids[j] < self.bodies.ids[i]:
            swap: cython.Py_ssize_t = i
            i = j
            j = swap
            sign = -1.0
        self._locate(i)
        self._locate(j)
        for k in range(self.bodies.dim):
            self.offset[k] = sign * offset[k] + 0.0
        if self._find_separation(i, j):
            self._add(i, j, self.total_skipped, self.count_skipped)

    @cython.ccall
    def separate(self) -> cython.void:
        """Add the displacements of all members to their paths, when all pairs are known."""
        b: Bodies = self.bodies

        if self.n == 0:
            return
        self._find_soft()
        for n in range(self.n):
            i: cython.Py_ssize_t = self.rows[n]
            self._locate(i)
            if not b.is_free(i) or b.rare.translation_side[i] != 0:
                self.reach[i] = 0.0  # held bodies stay, and one displacement at a time is enough
        for _turn in range(N_RELAXATIONS if self.n_pairs or self.n_skipped else 0):
            if not self._relax():
                break
        for n in range(self.n):
            i = self.rows[n]
            for k in range(b.dim):
                if self.push[i, k] != 0.0:
                    b.start_drift(i, k, self.push[i, k] / b.dt)
        b.start_drifting(
            self.rows[: self.n]
        )  # of all, as their bounds were extended by their reach

    def _find_soft(self) -> cython.void:
        """List the soft pairs, and locate their bodies that are not moved."""
        pairs: PairTable = self.pairs

        if self.soft.shape[0] < pairs.n:
            self.soft = zeros(LONG, 2 * pairs.n)
        self.n_pairs = 0
        for p in range(pairs.n):
            if pairs.at[p].state == SOFT:
                self.soft[self.n_pairs] = p
                self.n_pairs += 1
                if self.reach[pairs.at[p].first] == 0.0:
                    self._locate(pairs.at[p].first)
                if self.reach[pairs.at[p].second] == 0.0:
                    self._locate(pairs.at[p].second)

    def _relax(self) -> cython.bint:
        """Run one round; return whether any members overlapped."""
        b: Bodies = self.bodies
        pairs: PairTable = self.pairs
        found: cython.bint = False

        for n in range(self.n):
            i: cython.Py_ssize_t = self.rows[n]
            self.count[i] = self.count_skipped[i]
            found |= self.count[i] > 0
            for k in range(b.dim):
                self.total[i, k] = self.total_skipped[i, k]
        for n in range(self.n_pairs):
            p: cython.Py_ssize_t = self.soft[n]
            for k in range(b.dim):
                self.offset[k] = pairs.offset_of(p, k)
            if self._find_separation(pairs.at[p].first, pairs.at[p].second):
                self._add(pairs.at[p].first, pairs.at[p].second, self.total, self.count)
                found = True
        for n in range(self.n if found else 0):
            i = self.rows[n]
            if self.count[i] == 0:
                continue
            weight: cython.double = self.size[i] * min(1.0, RELAXATION / self.count[i])
            length: cython.double = 0.0
            for k in range(b.dim):
                self.place[i, k] -= self.push[i, k]
                self.push[i, k] += weight * self.total[i, k]
                length += (self.push[i, k] / self.size[i]) * (self.push[i, k] / self.size[i])
            length = sqrt(length) * self.size[i]
            for k in range(b.dim):
                if length > self.reach[i]:
                    self.push[i, k] = self.push[i, k] * (self.reach[i] / length)
                self.place[i, k] += self.push[i, k]
        return found

    def _find_separation(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Find the displacement of body i out of j, which has the higher id; False if apart.

        The direction is the gradient of an ellipse whose semi-axes are the sums of half sizes.
        """
        b: Bodies = self.bodies
        nearest: cython.double = 0.0
        smallest: cython.double = INF
        time: cython.double = INF

        for k in range(b.dim):
            apart: cython.double = self.place[i, k] - self.place[j, k]
            apart -= self.offset[k]
            sizes: cython.double = self.half[i, k] + self.half[j, k]
            if not is_deep(apart, sizes, abs(self.place[i, k]) + abs(self.place[j, k])):
                return False
            self.displacement[k] = apart / sizes
            nearest = max(nearest, abs(self.displacement[k]))
            smallest = min(smallest, sizes)
        if nearest < SAME_POINT:
            self._part_same(i, j)
        for k in range(b.dim):
            sizes = self.half[i, k] + self.half[j, k]
            apart = self.place[i, k] - self.place[j, k]
            apart -= self.offset[k]
            self.displacement[k] = self.displacement[k] * (smallest / sizes)
            if self.displacement[k] != 0.0:
                time = min(time, (sizes - abs(apart)) / abs(self.displacement[k]))
        if not time < INF:
            return False
        for k in range(b.dim):
            self.displacement[k] = self.displacement[k] * time
        return True

    def _part_same(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Find a direction for two bodies with the same centre: where they come from, or by ids.

        Each id has another point of a square or cube, so many bodies separate in all directions.
        """
        b: Bodies = self.bodies
        longest: cython.double = 0.0

        for k in range(b.dim):
            self.displacement[k] = (b.centre[i, k] - b.centre[j, k]) - self.offset[k]
            self.displacement[k] /= self.half[i, k] + self.half[j, k]
            longest = max(longest, abs(self.displacement[k]))
        if longest < SAME_POINT:
            longest = 0.0
            for k in range(b.dim):
                self.displacement[k] = _lean(b.ids[i], k) - _lean(b.ids[j], k)
                longest = max(longest, abs(self.displacement[k]))
        if longest == 0.0:
            self.displacement[0] = longest = 1.0
        for k in range(self.bodies.dim):
            self.displacement[k] = self.displacement[k] / longest

    def _add(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        total: cython.double[:, ::1],
        count: cython.longlong[::1],
    ) -> cython.void:
        """Add the displacement to the totals of two bodies, shared by inverse mass."""
        b: Bodies = self.bodies
        share: cython.double = 1.0 if self.reach[i] > 0.0 else 0.0

        if share > 0.0 and self.reach[j] > 0.0:
            share = b.mass[j] / (b.mass[i] + b.mass[j])
            if b.controls.rank_of(i) != b.controls.rank_of(j):
                share = 1.0 if b.is_lighter(i, j) else 0.0
        self._displace(i, share, total, count)
        self._displace(j, share - 1.0, total, count)

    def _displace(
        self,
        i: cython.Py_ssize_t,
        share: cython.double,
        total: cython.double[:, ::1],
        count: cython.longlong[::1],
    ) -> cython.void:
        """Add a body's share of the displacement to its total, if it can move."""
        if not self.reach[i] > 0.0:
            return
        count[i] += 1
        for k in range(self.bodies.dim):
            if not self.bodies.controls.locks(i, k):
                total[i, k] += _rounded(self.displacement[k] * share / self.size[i])


@cython.inline
def _rounded(part: cython.double) -> cython.double:
    """Return a part of a size, clamped and rounded so that sums are exact in any order."""
    return (max(-MAX_PUSH, min(MAX_PUSH, part)) + BINADE) - BINADE


def _lean(id: cython.longlong, k: cython.int) -> cython.double:
    """Return the coordinate on axis `k` of an id's point in the unit cube."""
    low: cython.longlong = id & 0xFFFFF
    far: cython.double = low * (GOLDEN_X if k == 0 else GOLDEN_Y if k == 1 else GOLDEN_Z)

    return far - floor(far)
