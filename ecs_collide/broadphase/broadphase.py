"""Which bodies may meet in a step: two trees, and the pairs they yield.

Bodies that do not move live in a tree of their own, which a step leaves alone.
What stands in a tree for a moving body holds all of its path; fat bounds around
it tell when the body is to be reinserted.  Two bodies are a pair where their
paths, or what is left of them, lie in boxes that touch.

Ten thousand bodies in one point are fifty million pairs.  All that can happen
to a pair that lies inside each other at the start of a step is that it gets no
deeper; so where there is no room for all pairs, it is such pairs that are left
out for the step, between bodies that each lie inside many others that do.
Pairs that are not inside each other are never left out: nothing gets into what
it was outside of.  Members of soft crowds let each other through anyway.
Where these alone are too many, bodies take turns: those with
the most pairs are held for the step (see `response.holding`) but for some, which are
others in the next step.  Two bodies that are held meet nobody in each other.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.dynamic_tree_c import Tree
    from cython.cimports.ecs_collide.broadphase.images_c import PeriodicImages
    from cython.cimports.ecs_collide.broadphase.overlaps_c import OverlapFinder
    from cython.cimports.ecs_collide.broadphase.pair_table_c import PairTable
    from cython.cimports.ecs_collide.motion.bodies_c import Bodies
    from cython.cimports.ecs_collide.motion.surfaces_c import Surfaces
    from cython.cimports.ecs_collide.narrowphase.impact_queue_c import ImpactQueue
    from cython.cimports.ecs_collide.response.holding_c import Holding
    from cython.cimports.ecs_collide.response.separation_c import SOFT, Separating
else:
    from ecs_collide.broadphase.dynamic_tree import Tree
    from ecs_collide.broadphase.images import PeriodicImages
    from ecs_collide.broadphase.overlaps import OverlapFinder
    from ecs_collide.broadphase.pair_table import PairTable
    from ecs_collide.motion.bodies import Bodies
    from ecs_collide.motion.surfaces import Surfaces
    from ecs_collide.narrowphase.impact_queue import ImpactQueue
    from ecs_collide.response.holding import Holding
    from ecs_collide.response.separation import SOFT, Separating

from ecs_collide.constants import HAS_FILTER, TOUCHED_BY_GAME
from ecs_collide.motion.arrays import DOUBLE, LONG, as_longs, zeros

cython.declare(
    CROWD=cython.longlong,
    PAIR_ROOM=cython.Py_ssize_t,
    INSIDE=cython.double,
    PAIR=cython.int,
    COUNT=cython.int,
    COUNT_AMONG=cython.int,
    COUNT_PAIRS=cython.int,
    MANY=cython.longlong,
    STILL=cython.Py_ssize_t,
)
CROWD = 32  # a body inside more others than this, which are so too, is one of a crowd
PAIR_ROOM = 1 << 14  # pairs that a step has room for, and CROWD more for each body
MANY = 2 * CROWD  # a body with more pairs than this may have to wait for its turn
STILL = 8  # pairs that a step has room for, for each body that does not move
INSIDE = 2.0**-40  # of the largest face: two boxes deeper than this in each other are not touching


# What is done with each pair that is found.
PAIR = 0  # make it a pair
COUNT = 1  # count how many others each body is inside of
COUNT_AMONG = 2  # count how many of them are so themselves
COUNT_PAIRS = 3  # count the pairs of each body


@cython.cclass
class Broadphase:
    """The trees over the bodies, and the search for pairs.

    Attributes
    ----------
    still, moving : Tree
        Their items are rows.
    margin, lookahead : float
        How far bounds are fattened; see `Tree.renew`.
    judge : callable or None
        Asked whether two bodies, as rows, meet, where one of them is picky, or all are.
    all_picky : bool
    n_left_out : int
        The pairs of this step for which there was no room.
    crowd : list of int
        The bodies, as rows, between which pairs are left out in this step.
    step : int
        The number of the step, by which bodies take turns.
    n_waiting : int
        The bodies that are held in this step because there was no room for their pairs.
    """

    def __init__(self, bodies: Bodies, pairs: PairTable, queue: ImpactQueue, holding: Holding):
        self.bodies = bodies
        self.holding = holding
        self.pairs = pairs
        self.queue = queue
        self.images = PeriodicImages(bodies)
        self.separating = Separating(bodies, pairs)
        self.still = Tree(bodies.dim)
        self.moving = Tree(bodies.dim)
        self.margin = -1.0
        self.lookahead = 2.0
        self.pair_filter = None
        self.all_have_filters = False
        self.n_left_out = 0
        self.crowd = []
        self.is_crowded = self.takes_turns = False
        self.step = self.n_waiting = 0
        self.n_followed = self.room = 0
        self.low = zeros(DOUBLE, 1, bodies.dim)
        self.high = zeros(DOUBLE, 1, bodies.dim)
        self.wide_min = zeros(DOUBLE, 1, bodies.dim)
        self.wide_max = zeros(DOUBLE, 1, bodies.dim)
        self.n_inside = zeros(LONG, 1)
        self.n_among = zeros(LONG, 1)
        self.n_each = zeros(LONG, 1)
        self.moving.overlap_finder.limit = PAIR_ROOM

    def begin_step(self):
        """Count the work of both trees from 0."""
        tree: Tree

        for tree in (self.still, self.moving):
            tree.n_escaped = tree.n_reinserted = tree.n_rebuilt = 0

    def count_work(self):
        """Return the escapes, single reinsertions and bulk rebuilds of both trees in this step."""
        still: Tree = self.still
        moving: Tree = self.moving

        return (
            still.n_escaped + moving.n_escaped,
            still.n_reinserted + moving.n_reinserted,
            still.n_rebuilt + moving.n_rebuilt,
        )

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
        self.moving.renew(
            rows, b.swept_min, b.swept_max, b.motion, True, self.margin, self.lookahead
        )

    def widen(self, pressed: cython.longlong[::1]):
        """Let the tree hold room around moving bodies that lie against others that move.

        Such a body is turned again and again within the step.  With as much
        room on each side as it moves on its fastest axis, its new paths stay
        inside what the tree holds, and it need not look for new pairs.  Not in
        a world that wraps: pairs across an edge are found by the paths alone.
        """
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        k: cython.int

        if b.wraps:
            return
        if pressed.shape[0] and self.wide_min.shape[0] < b.centre.shape[0]:
            self.wide_max = zeros(DOUBLE, b.centre.shape[0], b.dim)
            self.wide_min = zeros(DOUBLE, b.centre.shape[0], b.dim)  # last: by it the room is known
        for n in range(pressed.shape[0]):
            i: cython.Py_ssize_t = pressed[n]
            if not b.moves[i]:
                continue
            room: cython.double = 0.0
            for k in range(b.dim):
                room = max(room, abs(b.motion[i, k]))
            for k in range(b.dim):
                self.wide_min[i, k] = b.swept_min[i, k] - room
                self.wide_max[i, k] = b.swept_max[i, k] + room
            self.moving.renew_one(
                i, self.wide_min, self.wide_max, b.motion, True, self.margin, self.lookahead
            )

    def remove(self, i: cython.Py_ssize_t):
        """Take a body out of the trees."""
        self.still.drop(i)
        self.moving.drop(i)

    @cython.cfunc
    def find_pairs(
        self,
        rows: cython.longlong[::1],
        n_asleep: cython.Py_ssize_t,
        n_resting: cython.Py_ssize_t,
    ) -> cython.bint:
        """Pair the bodies of `rows`, those that move or were touched, with all they may meet.

        Where that gives more pairs than there is room for, those within crowds
        are left out, and `crowd` says so; where it still gives more than `_most`,
        bodies take turns.  Besides, so many bodies sleep, and have
        no more than `n_resting` pairs at rest: where there may be too many with
        these nothing is done and False returned, as all are to be awake then.
        """
        room: cython.Py_ssize_t = PAIR_ROOM + CROWD * (rows.shape[0] + n_asleep)

        self.n_left_out = 0
        self.crowd = []
        self.is_crowded = self.takes_turns = False
        self.n_waiting = self.n_followed = 0
        self.room = room
        if n_resting <= room and self._traverse(rows, PAIR, room - n_resting):
            return True
        self.pairs.forget()
        if n_asleep:
            return False
        self._find_crowd(rows)
        if not self._traverse(rows, PAIR, 2 * room + STILL * self.still.nodes.n_items):
            self._take_turns(rows)
            self.pairs.forget()
            self.n_left_out = 0
            self._traverse(rows, PAIR, -1)
        return True

    @cython.cfunc
    def _take_turns(self, rows: cython.longlong[::1]) -> cython.void:
        """Hold the bodies with many pairs, but for some that have no more than there is room for.

        These are the next ones by entity id: each step goes on where the step
        before ended, or earlier, so that none waits for ever.
        """
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        most_pairs: cython.longlong = 1
        many: list = []
        waiting: list = []
        n_taken: cython.longlong = 0

        self.n_each = zeros(LONG, b.centre.shape[0])
        self._traverse(rows, COUNT_PAIRS, -1)
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if self.n_each[i] > MANY and b.moves[i] and b.yields[i] and not b.sensor[i]:
                many.append((b.ids[i], i))
                most_pairs = max(most_pairs, self.n_each[i])
        many.sort()
        first: cython.Py_ssize_t = (self.step % max(len(many), 1)) * max(self.room // most_pairs, 1)
        for n in range(len(many)):
            i = many[(first + n) % len(many)][1]
            n_taken += self.n_each[i]
            if n == 0 or n_taken <= self.room:
                continue
            waiting.append(i)
            self.holding.hold_from_start(i)
        self.takes_turns = True
        self.n_waiting = len(waiting)
        if waiting:
            held: cython.longlong[::1] = as_longs(waiting)
            b.start(held)
            self.place_moving(held)

    @cython.cfunc
    @cython.exceptval(check=False)
    def waits(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies are both held, in a step in which bodies take turns."""
        return self.takes_turns and self.bodies.on_hold[i] and self.bodies.on_hold[j]

    @cython.cfunc
    @cython.exceptval(check=False)
    def has_room_to_follow(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether there is room for the pairs that a new path within a step may bring."""
        return self.n_followed <= self.room or (
            self.bodies.moves[i]
            and self.moving.covers(i, self.bodies.swept_min, self.bodies.swept_max)
        )

    @cython.cfunc
    def _traverse(
        self, rows: cython.longlong[::1], purpose: cython.int, room: cython.Py_ssize_t
    ) -> cython.bint:
        """Take all pairs for a purpose; stop and return False where there are more than `room`."""
        b: Bodies = self.bodies
        overlap_finder: OverlapFinder = self.moving.overlap_finder
        n: cython.Py_ssize_t

        overlap_finder.within(self.moving.nodes, False)
        while self._process_pairs(overlap_finder, purpose, room):
            if overlap_finder.top < 0:
                break
            overlap_finder.more_within(self.moving.nodes, False)
        else:
            return False
        overlap_finder.between(self.moving.nodes, self.still.nodes)
        while self._process_pairs(overlap_finder, purpose, room):
            if overlap_finder.top < 0:
                break
            overlap_finder.more_between(self.moving.nodes, self.still.nodes)
        else:
            return False
        for n in range(rows.shape[0]):
            if not b.moves[rows[n]]:
                self._pair_still(rows[n], purpose)
                if 0 <= room < self.pairs.n:
                    return False
        return not b.wraps or self._traverse_images(rows, purpose, room)

    @cython.cfunc
    def _traverse_images(
        self, rows: cython.longlong[::1], purpose: cython.int, room: cython.Py_ssize_t
    ) -> cython.bint:
        """Take all pairs that meet across an edge of the world, as `_traverse`."""
        b: Bodies = self.bodies
        images: PeriodicImages = self.images
        n: cython.Py_ssize_t
        m: cython.Py_ssize_t
        k: cython.int

        images.begin()
        if self.still.root_into(images.low, images.high):
            for k in range(b.dim):
                images.widen(k, images.low[k], images.high[k])
        for n in range(rows.shape[0]):
            images.add_path(rows[n])
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            images.find_short_paths(i)
            while images.advance():
                self._process_images(self.moving, i, purpose)
                self._process_images(self.still, i, purpose)
            if images.has_long_path[i]:
                for m in range(images.n_long_paths):
                    if b.ids[i] < b.ids[images.long_paths[m]]:
                        images.find_images_of(i, images.long_paths[m])
                        while images.advance():
                            self._process_pair(i, images.long_paths[m], purpose)
            if 0 <= room < self.pairs.n:
                images.rest()
                return False
        return True

    @cython.cfunc
    def _process_images(self, tree: Tree, i: cython.Py_ssize_t, purpose: cython.int) -> cython.void:
        """Take the pairs of a body with those of a tree at the image that `images` has found.

        What both would find is found by the one whose path is longer than the world, else by
        the one with the lower id.
        """
        b: Bodies = self.bodies
        images: PeriodicImages = self.images
        m: cython.Py_ssize_t

        for m in range(tree.touching_one(images.low, images.high)):
            j: cython.Py_ssize_t = tree.found[m]
            if j == i or images.has_long_path[j]:
                continue
            finds: cython.bint = b.moves[j] or b.touched[j]
            if finds and not images.has_long_path[i] and b.ids[j] < b.ids[i]:
                continue
            if b.moves[i] or b.moves[j] or self._is_either_touched(i, j):
                self._process_pair(i, j, purpose)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _process_pairs(
        self, overlap_finder: OverlapFinder, purpose: cython.int, room: cython.Py_ssize_t
    ) -> cython.bint:
        """Take the pairs that a walk has found; False where there are more than `room`."""
        n: cython.Py_ssize_t

        for n in range(overlap_finder.n):
            self._process_pair(
                overlap_finder.found[2 * n], overlap_finder.found[2 * n + 1], purpose
            )
        return not 0 <= room < self.pairs.n

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _pair_still(self, i: cython.Py_ssize_t, purpose: cython.int) -> cython.int:
        """Pair a touched body that does not move with others that do not."""
        b: Bodies = self.bodies
        m: cython.Py_ssize_t

        for m in range(self.still.touching(b.swept_min, b.swept_max, i)):
            j: cython.Py_ssize_t = self.still.found[m]
            if (j > i or (j < i and not b.touched[j])) and self._is_either_touched(i, j):
                self._process_pair(i, j, purpose)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_either_touched(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies that do not move are looked at; one of them was touched."""
        b: Bodies = self.bodies

        moved: cython.bint = ((b.touched[i] | b.touched[j]) & TOUCHED_BY_GAME) != 0

        return moved or b.sensor[i] or b.sensor[j]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _process_pair(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, purpose: cython.int
    ) -> cython.int:
        """Do with a pair that was found what it was looked for."""
        if not self.may_meet(i, j):
            return 0
        if purpose == PAIR:
            if self.leaves_out(i, j):
                self.n_left_out += 1
                if self._is_soft(i, j):
                    self.separating.leave_out(i, j, self.images.offset)
            elif not self.waits(i, j):
                self._add_pair(i, j)
        elif purpose == COUNT_PAIRS:
            if not self.leaves_out(i, j):
                self.n_each[i] += 1
                self.n_each[j] += 1
        elif purpose == COUNT:
            if self._is_inside(i, j):
                self.n_inside[i] += 1
                self.n_inside[j] += 1
        elif self.n_inside[i] > CROWD and self.n_inside[j] > CROWD and self._is_inside(i, j):
            self.n_among[i] += 1
            self.n_among[j] += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def may_meet(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies are anything to each other, by what the game says."""
        t: Surfaces = self.bodies.surfaces

        if t.is_used and not t.may_meet(i, j):
            return False
        if self.pair_filter is None or not (
            self.all_have_filters or (t.bits[i] | t.bits[j]) & HAS_FILTER
        ):
            return True
        return self.pair_filter(i, j)

    @cython.cfunc
    def _find_crowd(self, rows: cython.longlong[::1]) -> cython.void:
        """Find the bodies that lie inside many others that lie inside many others.

        One zone with many bodies in it is inside many, which are not; so its
        pairs are kept.  What is kept of pairs that are inside each other is
        at most twice CROWD for each body.
        """
        b: Bodies = self.bodies
        n_rows: cython.Py_ssize_t = b.centre.shape[0]
        i: cython.Py_ssize_t
        k: cython.int

        self.low = zeros(DOUBLE, n_rows, b.dim)
        self.high = zeros(DOUBLE, n_rows, b.dim)
        self.n_inside = zeros(LONG, n_rows)
        self.n_among = zeros(LONG, n_rows)
        for i in range(n_rows):
            for k in range(b.dim):
                self.low[i, k] = b.centre[i, k] - b.half[i, k]
                self.high[i, k] = b.centre[i, k] + b.half[i, k]
        self._traverse(rows, COUNT, -1)
        self._traverse(rows, COUNT_AMONG, -1)
        for i in range(n_rows):
            if self.n_among[i] > CROWD:
                self.crowd.append(i)
        self.is_crowded = True

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_inside(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies were inside each other at the start, beyond all rounding.

        Where both have no thickness on an axis and lie in one plane they count
        as inside on it: as long as they do, no impact of theirs can begin.
        """
        k: cython.int

        for k in range(self.bodies.dim):
            low: cython.double = max(self.low[i, k], self.low[j, k])
            high: cython.double = min(self.high[i, k], self.high[j, k])
            if self.bodies.wraps:
                low = max(self.low[i, k], self.low[j, k] + self.images.offset[k])
                high = min(self.high[i, k], self.high[j, k] + self.images.offset[k])
            if high - low > INSIDE * max(abs(low), abs(high)):
                continue
            if (
                high != low
                or self.low[i, k] != self.high[i, k]
                or self.low[j, k] != self.high[j, k]
            ):
                return False
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def leaves_out(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies are no pair in this step because they lie in a crowd."""
        return (
            self.is_crowded
            and self.n_among[i] > CROWD
            and self.n_among[j] > CROWD
            and (self._is_soft(i, j) or self._is_inside(i, j))
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_soft(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies let each other through and are moved apart."""
        b: Bodies = self.bodies

        if b.sensor[i] or b.sensor[j] or not (b.yields[i] or b.yields[j]):
            return False
        return b.surfaces.is_soft(i, j)

    @cython.cfunc
    def follow(self, i: cython.Py_ssize_t) -> cython.void:
        """Pair a body whose path has changed within a step with all it may meet now.

        Nothing is to be done where what stands in the tree for it, and what
        others have therefore been paired by, holds the new path.
        """
        b: Bodies = self.bodies
        n_before: cython.Py_ssize_t = self.pairs.n

        if b.moves[i]:
            if self.moving.covers(i, b.swept_min, b.swept_max):
                if b.wraps and self.images.n_long_paths > 0:
                    self._follow_images(i)  # long paths are paired as they are
                return
            self.moving.renew_one(
                i, b.swept_min, b.swept_max, b.motion, True, self.margin, self.lookahead
            )
        else:
            self.still.renew_one(i, b.swept_min, b.swept_max, b.motion, True, 0.0, 0.0)
        self.pairs.mark_partners(i)
        self.add_pairs_with_found(self.moving, i)
        self.add_pairs_with_found(self.still, i)
        if b.wraps:
            self._follow_images(i)
        self.n_followed += self.pairs.n - n_before

    @cython.cfunc
    def _follow_images(self, i: cython.Py_ssize_t) -> cython.void:
        """Pair a body whose path has changed with all it may meet now across an edge."""
        images: PeriodicImages = self.images
        m: cython.Py_ssize_t

        images.add_path(i)
        images.find_short_paths(i)
        while images.advance():
            self._add_pairs_at_image(self.moving, i)
            self._add_pairs_at_image(self.still, i)
        for m in range(images.n_long_paths):
            j: cython.Py_ssize_t = images.long_paths[m]
            if j == i or self.bodies.gone[j]:
                continue
            images.find_images_of(i, j)
            while images.advance():
                if not self._has_pair_at_image(i, j) and not self.leaves_out(i, j):
                    self._add_pair(i, j)

    @cython.cfunc
    def _add_pairs_at_image(self, tree: Tree, i: cython.Py_ssize_t) -> cython.void:
        """Pair a body with those of a tree at the image found, where they are no pair yet."""
        images: PeriodicImages = self.images
        m: cython.Py_ssize_t

        for m in range(tree.touching_one(images.low, images.high)):
            j: cython.Py_ssize_t = tree.found[m]
            if (
                j == i
                or images.has_long_path[j]
                or self.bodies.gone[j]
                or self._has_pair_at_image(i, j)
            ):
                continue
            if not self.leaves_out(i, j):
                self._add_pair(i, j)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _has_pair_at_image(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies are a pair at the image that `images` is at."""
        if self.bodies.ids[j] < self.bodies.ids[i]:
            return self.pairs.find_image(j, i, -self.images.image) >= 0
        return self.pairs.find_image(i, j, self.images.image) >= 0

    @cython.cfunc
    def add_pairs_with_found(self, tree: Tree, i: cython.Py_ssize_t) -> cython.void:
        """Pair a body with those of a tree that it may meet and does not know yet."""
        b: Bodies = self.bodies
        m: cython.Py_ssize_t

        for m in range(tree.touching(b.swept_min, b.swept_max, i)):
            j: cython.Py_ssize_t = tree.found[m]
            if j == i or b.gone[j]:
                continue
            if self.pairs.is_marked(j) and (not b.wraps or self._has_pair_at_image(i, j)):
                continue
            if self.leaves_out(i, j):
                continue
            if not self.may_meet(i, j):
                continue
            self._add_pair(i, j)

    @cython.cfunc
    def _add_pair(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Add a pair of two rows, the lower entity id first."""
        b: Bodies = self.bodies
        k: cython.int
        sign: cython.int = 1

        if b.ids[j] < b.ids[i]:
            swap: cython.Py_ssize_t = i
            i = j
            j = swap
            sign = -1
        if self.pairs.is_full():
            self.queue.grow(2 * self.pairs.n)  # first: the pairs know how many there may be
            self.pairs.grow()
        p: cython.Py_ssize_t = self.pairs.add(i, j)
        self.queue.low[p] = b.ids[i]
        self.queue.high[p] = b.ids[j]
        if b.wraps:
            self.pairs.image[p] = self.queue.image[p] = sign * self.images.image
            for k in range(b.dim):
                self.pairs.offset[p, k] = sign * self.images.offset[k]
        if b.sensor[i] or b.sensor[j] or not (b.yields[i] or b.yields[j]):
            self.pairs.crossing[p] = 1
        elif b.surfaces.is_soft(i, j):
            self.pairs.crossing[p] = 1
            self.pairs.left_alone[p] = SOFT
        return p
