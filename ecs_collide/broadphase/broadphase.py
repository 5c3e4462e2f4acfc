"""Find the pairs of bodies that may meet in a step, with two dynamic trees.

One tree holds the bodies that move, the other the still ones; a step leaves the second unchanged.
The box of a moving body in its tree covers its whole path in the step.  Two bodies become a pair if
the boxes of their paths touch.  The narrowphase sweeps the pairs next.

Ten thousand bodies at one point are fifty million pairs.  If there is no room for all pairs, the
pairs inside a crowd are skipped for the step.  The two overlapped at its start, and each overlaps
many bodies that also overlap many.  A step could only keep such a pair from getting deeper.  A pair
that does not overlap is never skipped, so no body enters another one unnoticed.  Pairs of soft
crowds, whose bodies pass through each other, are skipped too.

If there is still no room, bodies take turns.  Most bodies with many pairs are held for the step
(see `response.holding`), and the exceptions change from step to step.  Two held bodies cannot meet,
so they are not a pair.

Invariant: two bodies whose paths may meet are a pair, or are skipped, or are both held.  Therefore
two bodies whose boxes in the tree of the moving ones touch are a pair: when a body turns, its box
is replaced by that of its new path, and all of the new box is searched.  `check` verifies it.
"""

from __future__ import annotations

from typing import Any

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import DOUBLE, LONG, as_longs, zeros
from ecs_collide._kernel.constants import Touched, Trait
from ecs_collide.broadphase.dense_nodes import INSIDE, DenseNodes
from ecs_collide.broadphase.dynamic_tree import Tree
from ecs_collide.broadphase.images import PeriodicImages
from ecs_collide.broadphase.overlaps import OverlapFinder
from ecs_collide.broadphase.pair_table import CROSS, SOFT, SOLID, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.rare_columns import RareColumns

# A body is in a crowd if it overlaps more than this many bodies that do the same.
CROWD: cython.longlong = 32
# The pairs that a step has room for, and CROWD more for each body.
PAIR_ROOM: cython.Py_ssize_t = 1 << 14
# A body with more pairs than this may have to wait for its turn.
MANY: cython.longlong = 2 * CROWD
# The pairs for which there is room before bodies take turns: more for each still body.
STILL: cython.Py_ssize_t = 8

# The purposes of a traversal.
PAIR = 0  # add the pairs
COUNT = 1  # count in `n_inside` how many bodies each body overlaps
COUNT_AMONG = 2  # count in `n_among` how many of them overlap more than CROWD bodies
COUNT_PAIRS = 3  # count the pairs of each body


class PairObserver:
    """The callbacks of the broadphase to later stages; the base class does nothing."""

    def make_room(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for pairs 0 to `n_pairs` - 1."""

    def skip(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, offset: cython.double[::1]
    ) -> cython.void:
        """Note a pair of soft bodies for which there is no room."""

    def hold(self, i: cython.Py_ssize_t) -> cython.void:
        """Hold a body where it is for the whole step."""


@cython.final
class Broadphase:
    """The two trees over the bodies, and the search for pairs."""

    bodies: Bodies
    pairs: PairTable
    observer: PairObserver
    images: PeriodicImages
    # their items are rows
    still: Public[Tree]
    moving: Public[Tree]
    dense_nodes: DenseNodes
    # the size of fat bounds; see `Tree.renew`
    margin: Public[cython.double]
    lookahead: Public[cython.double]
    # callable: returns whether two rows may meet.  Called for pairs in which a body has a filter of
    # the game, or for all pairs if `all_have_filters`
    pair_filter: Public[Any]
    all_have_filters: Public[cython.bint]
    n_skipped: Public[cython.longlong]  # number of pairs of this step for which there was no room
    # list of int: rows of the bodies in a crowd, between which pairs are skipped in this step
    crowd: Public[list]
    is_crowded: ReadOnly[cython.bint]
    takes_turns: cython.bint
    step: Public[cython.longlong]  # number of the step; it decides whose turn it is
    # number of bodies that are held in this step because there was no room for their pairs
    n_waiting: Public[cython.longlong]
    n_followed: cython.longlong
    room: cython.longlong
    low: cython.double[:, ::1]
    high: cython.double[:, ::1]
    wide_min: cython.double[:, ::1]
    wide_max: cython.double[:, ::1]
    n_inside: cython.longlong[::1]
    n_among: cython.longlong[::1]
    n_each: cython.longlong[::1]
    n_counted: cython.longlong  # pairs that there would be if no body had to wait

    def __init__(self, bodies: Bodies, pairs: PairTable, observer: PairObserver):
        self.bodies = bodies
        self.observer = observer
        self.pairs = pairs
        self.images = PeriodicImages(bodies)
        self.still = Tree(bodies.dim)
        self.moving = Tree(bodies.dim)
        self.margin = -1.0
        self.lookahead = 12.0
        self.pair_filter = None
        self.crowd = []
        self.low = zeros(DOUBLE, 1, bodies.dim)
        self.high = zeros(DOUBLE, 1, bodies.dim)
        self.wide_min = zeros(DOUBLE, 1, bodies.dim)
        self.wide_max = zeros(DOUBLE, 1, bodies.dim)
        self.n_inside = zeros(LONG, 1)
        self.n_among = zeros(LONG, 1)
        self.n_each = zeros(LONG, 1)
        self.dense_nodes = DenseNodes(bodies, self.moving.nodes, self.still.nodes)
        self.moving.overlap_finder.limit = PAIR_ROOM
        self.moving.overlap_finder.node_pairs = self.dense_nodes

    @cython.ccall
    def begin_step(self) -> cython.void:
        """Reset the counts of work of both trees."""
        tree: Tree

        for tree in (self.still, self.moving):
            tree.n_escaped = tree.n_reinserted = tree.n_rebuilt = 0

    @cython.ccall
    def count_work(self) -> tuple:
        """Return the escapes, single reinsertions and bulk rebuilds of both trees in this step."""
        still: Tree = self.still
        moving: Tree = self.moving

        return (
            still.n_escaped + moving.n_escaped,
            still.n_reinserted + moving.n_reinserted,
            still.n_rebuilt + moving.n_rebuilt,
        )

    @cython.ccall
    def place_still(self, rows: cython.longlong[::1]) -> cython.void:
        """Put still bodies into their tree at their present positions."""
        b: Bodies = self.bodies

        if rows.shape[0] == 0:
            return
        for n in range(rows.shape[0]):
            self.moving.drop(rows[n])
            b.find_swept_bounds(rows[n])
        self.still.renew(rows, b.swept_min, b.swept_max, b.motion, True, 0.0, 0.0)

    @cython.ccall
    def place_moving(self, rows: cython.longlong[::1]) -> cython.void:
        """Reinsert the moving bodies whose path of this step escapes their fat bounds."""
        b: Bodies = self.bodies

        if self.still.nodes.n_items:
            for n in range(rows.shape[0]):
                if self.still.nodes.holds(rows[n]):
                    self.still.drop(rows[n])
        self.moving.renew(
            rows, b.swept_min, b.swept_max, b.motion, True, self.margin, self.lookahead
        )

    def place_pressed(self, rows: cython.longlong[::1]):
        """Reinsert bodies that press against moving bodies as `place_moving`, with wider boxes.

        Such a body changes its path many times within the step.  Its box is widened on each side
        by its motion on the fastest axis, so that new paths stay inside and need no new search.
        """
        b: Bodies = self.bodies

        if self.wide_min.shape[0] < b.centre.shape[0]:
            self.wide_max = zeros(DOUBLE, b.centre.shape[0], b.dim)
            self.wide_min = zeros(DOUBLE, b.centre.shape[0], b.dim)  # last, as its size is the room
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            self.still.drop(i)
            room: cython.double = 0.0
            for k in range(b.dim):
                room = max(room, abs(b.motion[i, k]))
            for k in range(b.dim):
                self.wide_min[i, k] = b.swept_min[i, k] - room
                self.wide_max[i, k] = b.swept_max[i, k] + room
        self.moving.renew(
            rows, self.wide_min, self.wide_max, b.motion, True, self.margin, self.lookahead
        )

    @cython.ccall
    def remove(self, i: cython.Py_ssize_t) -> cython.void:
        """Remove a body from the trees."""
        self.still.drop(i)
        self.moving.drop(i)

    def find_pairs(
        self,
        rows: cython.longlong[::1],
        n_asleep: cython.Py_ssize_t,
        n_resting: cython.Py_ssize_t,
    ) -> cython.bint:
        """Pair the bodies of `rows`, which move or were touched, with all bodies they may meet.

        If there are more pairs than there is room for, pairs inside a crowd are dropped and
        `crowd` lists the bodies.  If there are still too many, bodies take turns.

        Parameters
        ----------
        n_asleep : int
            Number of sleeping bodies.
        n_resting : int
            Upper bound of the pairs between sleeping bodies, which are not searched.

        Returns
        -------
        bool
            False, with no pairs, if sleeping bodies may have too many pairs; wake all bodies first.
        """
        room: cython.Py_ssize_t = PAIR_ROOM + CROWD * (rows.shape[0] + n_asleep)

        self.n_skipped = 0
        self.crowd = []
        self.is_crowded = self.takes_turns = False
        self.n_waiting = self.n_followed = 0
        self.room = room
        self.moving.overlap_finder.asks = False
        if n_resting <= room and self._traverse(rows, PAIR, room - n_resting):
            return True
        self.pairs.forget()
        if n_asleep:
            return False
        self._find_crowd(rows)
        self.n_each = zeros(LONG, self.bodies.centre.shape[0])
        self.n_counted = 0
        self._traverse_crowd(rows, COUNT_PAIRS)
        if self.n_counted > 2 * room + STILL * self.still.nodes.n_items:
            self._take_turns(rows)
        self.n_skipped = 0
        self._traverse_crowd(rows, PAIR)
        return True

    def _take_turns(self, rows: cython.longlong[::1]) -> cython.void:
        """Hold the bodies with many pairs, except for some for whose pairs there is room.

        The exceptions are consecutive in entity id.  Each step begins where the last one ended or
        earlier, so that no body waits forever.
        """
        b: Bodies = self.bodies
        most_pairs: cython.longlong = 1
        many: list = []
        waiting: list = []
        n_taken: cython.longlong = 0

        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if self.n_each[i] > MANY and b.moves[i] and b.dynamic[i] and not b.sensor[i]:
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
            self.observer.hold(i)
        self.takes_turns = True
        self.n_waiting = len(waiting)
        if waiting:
            self.place_moving(as_longs(waiting))

    def waits(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies are both held, in a step in which bodies take turns."""
        return self.takes_turns and self.bodies.on_hold[i] and self.bodies.on_hold[j]

    @cython.inline
    def has_room_to_follow(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether there is room for the pairs of a body's new path within a step."""
        return self.n_followed <= self.room or (
            self.bodies.moves[i]
            and self.moving.covers(i, self.bodies.flat_min, self.bodies.flat_max)
        )

    def _traverse(
        self, rows: cython.longlong[::1], purpose: cython.int, room: cython.Py_ssize_t
    ) -> cython.bint:
        """Process all pairs for a purpose; stop and return False at more than `room` pairs."""
        b: Bodies = self.bodies
        overlap_finder: OverlapFinder = self.moving.overlap_finder

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

    def _traverse_crowd(self, rows: cython.longlong[::1], purpose: cython.int) -> cython.void:
        """Process all pairs for a purpose; take the pairs of two nodes at once if possible."""
        counts_inside: cython.bint = purpose in (COUNT, COUNT_AMONG)
        members: cython.longlong[::1] = self.n_inside if counts_inside else self.n_among
        least: cython.longlong = -1 if purpose == COUNT else CROWD
        asks_game: cython.int = 0

        if self.pair_filter is not None:
            asks_game = -1 if self.all_have_filters else Trait.GAME_FILTER
        self.dense_nodes.load(self.low, self.high, members, least, asks_game, counts_inside)
        self._traverse(rows, purpose, -1)
        if counts_inside:
            self.dense_nodes.give_out(
                self.n_inside if purpose == COUNT else self.n_among, members, least
            )
        elif purpose == PAIR:
            self.n_skipped += self.dense_nodes.n_skipped

    def _traverse_images(
        self, rows: cython.longlong[::1], purpose: cython.int, room: cython.Py_ssize_t
    ) -> cython.bint:
        """Process all pairs that may meet across an edge of the world; returns as `_traverse`."""
        b: Bodies = self.bodies
        images: PeriodicImages = self.images

        images.clear()
        self.still.root_into(images.low, images.high)
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

    def _process_images(self, tree: Tree, i: cython.Py_ssize_t, purpose: cython.int) -> cython.void:
        """Process the pairs of a body with the bodies of a tree at the selected image.

        A pair that both bodies would find is processed from the one with a long path, or else from
        the one with the lower id.
        """
        b: Bodies = self.bodies
        images: PeriodicImages = self.images

        for m in range(tree.touching_one(images.low, images.high)):
            j: cython.Py_ssize_t = tree.found[m]
            if j == i or images.has_long_path[j]:
                continue
            finds: cython.bint = b.moves[j] or b.touched[j]
            if finds and not images.has_long_path[i] and b.ids[j] < b.ids[i]:
                continue
            if b.moves[i] or b.moves[j] or self._is_either_touched(i, j):
                self._process_pair(i, j, purpose)

    def _process_pairs(
        self, overlap_finder: OverlapFinder, purpose: cython.int, room: cython.Py_ssize_t
    ) -> cython.bint:
        """Process the pairs that a traversal found; return False at more than `room` pairs."""
        found: cython.longlong[::1] = overlap_finder.found
        adds_all: cython.bint = (
            purpose == PAIR
            and not (self.bodies.rare.is_used or self.is_crowded)
            and self.pair_filter is None
        )

        for n in range(overlap_finder.n):
            if adds_all:
                self._add_pair(found[2 * n], found[2 * n + 1])
            else:
                self._process_pair(found[2 * n], found[2 * n + 1], purpose)
        return not 0 <= room < self.pairs.n

    def _pair_still(self, i: cython.Py_ssize_t, purpose: cython.int) -> cython.void:
        """Process the pairs of a touched still body with still bodies."""
        b: Bodies = self.bodies

        for m in range(self.still.touching(b.flat_min, b.flat_max, i)):
            j: cython.Py_ssize_t = self.still.found[m]
            if (j > i or (j < i and not b.touched[j])) and self._is_either_touched(i, j):
                self._process_pair(i, j, purpose)

    def _is_either_touched(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two still bodies, one of them touched, may be a pair."""
        b: Bodies = self.bodies

        moved: cython.bint = ((b.touched[i] | b.touched[j]) & Touched.BY_GAME) != 0

        return moved or b.sensor[i] or b.sensor[j]

    def _process_pair(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, purpose: cython.int
    ) -> cython.void:
        """Process a pair that was found, for the purpose of the traversal."""
        if not self.may_meet(i, j):
            return
        if purpose == PAIR:
            if self.skips(i, j):
                self.n_skipped += 1
                if self._is_soft(i, j):
                    self.observer.skip(i, j, self.images.offset)
            elif not self.waits(i, j):
                self._add_pair(i, j)
        elif purpose == COUNT_PAIRS:
            if not self.skips(i, j):
                self.n_counted += 1
                self.n_each[i] += 1
                self.n_each[j] += 1
        elif purpose == COUNT:
            if self._is_inside(i, j):
                self.n_inside[i] += 1
                self.n_inside[j] += 1
        elif self.n_inside[i] > CROWD and self.n_inside[j] > CROWD and self._is_inside(i, j):
            self.n_among[i] += 1
            self.n_among[j] += 1

    def may_meet(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies may meet, by their filters and the filters of the game.

        A body that a response has deleted meets no more.
        """
        b: Bodies = self.bodies
        t: RareColumns = b.rare

        if b.gone[i] or b.gone[j]:
            return False
        if t.is_used and not t.may_meet(i, j):
            return False
        if self.pair_filter is None or not (
            self.all_have_filters or (t.bits[i] | t.bits[j]) & Trait.GAME_FILTER
        ):
            return True
        return self.pair_filter(i, j)

    def _find_crowd(self, rows: cython.longlong[::1]) -> cython.void:
        """Find the bodies of crowds, which overlap many bodies that overlap many bodies.

        A large zone overlaps many bodies that overlap few, so its pairs remain.  At most
        2 * CROWD overlapping pairs remain for each body.
        """
        b: Bodies = self.bodies
        n_rows: cython.Py_ssize_t = b.centre.shape[0]

        self.low = zeros(DOUBLE, n_rows, b.dim)
        self.high = zeros(DOUBLE, n_rows, b.dim)
        self.n_inside = zeros(LONG, n_rows)
        self.n_among = zeros(LONG, n_rows)
        for i in range(n_rows):
            for k in range(b.dim):
                self.low[i, k] = b.centre[i, k] - b.half[i, k]
                self.high[i, k] = b.centre[i, k] + b.half[i, k]
        self.moving.overlap_finder.asks = True
        self._traverse_crowd(rows, COUNT)
        self._traverse_crowd(rows, COUNT_AMONG)
        for i in range(n_rows):
            if self.n_among[i] > CROWD:
                self.crowd.append(i)
        self.is_crowded = True

    def _is_inside(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies overlapped at the start of the step by more than rounding.

        On an axis on which both have no thickness, bodies in one plane count as overlapping,
        because they cannot have an impact while they stay in it.
        """
        for k in range(self.bodies.dim):
            offset: cython.double = self.images.offset[k]
            low: cython.double = max(self.low[i, k], self.low[j, k] + offset)
            high: cython.double = min(self.high[i, k], self.high[j, k] + offset)
            if high - low > INSIDE * max(abs(low), abs(high)):
                continue
            if (
                high != low
                or self.low[i, k] != self.high[i, k]
                or self.low[j, k] != self.high[j, k]
            ):
                return False
        return True

    def skips(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether the pair of two bodies is skipped in this step, inside a crowd."""
        return (
            self.is_crowded
            and self.n_among[i] > CROWD
            and self.n_among[j] > CROWD
            and (self._is_soft(i, j) or self._is_inside(i, j))
        )

    def _is_soft(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies pass through each other and are separated softly."""
        return self.state_of(i, j) == SOFT

    def follow(self, i: cython.Py_ssize_t) -> cython.void:
        """Pair a body whose path has changed within a step with all bodies that it may meet now.

        If the box of the body in the tree covers the new path, the pairs exist already.
        """
        b: Bodies = self.bodies
        n_before: cython.Py_ssize_t = self.pairs.n

        if b.moves[i]:
            if self.moving.covers(i, b.flat_min, b.flat_max):
                if self.images.n_long_paths > 0:
                    self._follow_images(i)  # pairs of long paths do not come from boxes in the tree
                return
            self.moving.renew_path(
                i, b.flat_min, b.flat_max, b.flat_motion, self.margin, self.lookahead
            )
        else:
            self.still.renew_path(i, b.flat_min, b.flat_max, b.flat_motion, 0.0, 0.0)
        self.pairs.mark_partners(i)
        self.add_pairs_with_found(self.moving, i)
        self.add_pairs_with_found(self.still, i)
        if b.wraps:
            self._follow_images(i)
        self.n_followed += self.pairs.n - n_before

    def _follow_images(self, i: cython.Py_ssize_t) -> cython.void:
        """Pair a body whose path has changed with all bodies that it may meet across an edge."""
        images: PeriodicImages = self.images

        images.add_path(i)
        images.find_short_paths(i)
        while images.advance():
            self._add_pairs_at_image(self.moving, i)
            self._add_pairs_at_image(self.still, i)
        for m in range(images.n_long_paths):
            j: cython.Py_ssize_t = images.long_paths[m]
            if j == i:
                continue
            images.find_images_of(i, j)
            while images.advance():
                self._add_pair_at_image(i, j)

    def _add_pairs_at_image(self, tree: Tree, i: cython.Py_ssize_t) -> cython.void:
        """Pair a body with the bodies of a tree that it may meet at the selected image."""
        images: PeriodicImages = self.images

        for m in range(tree.touching_one(images.low, images.high)):
            j: cython.Py_ssize_t = tree.found[m]
            if not (j == i or images.has_long_path[j]):
                self._add_pair_at_image(i, j)

    def _add_pair_at_image(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Pair two bodies if they may meet at the selected image, unless the pair exists."""
        if not self._has_pair_at_image(i, j):
            self._add_new_pair(i, j)

    def _add_new_pair(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Pair two bodies within a step if they may meet, unless both are inside a crowd."""
        if not self.skips(i, j) and self.may_meet(i, j):
            self._add_pair(i, j)

    def _has_pair_at_image(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether two bodies are a pair at the selected image."""
        if self.bodies.ids[j] < self.bodies.ids[i]:
            return self.pairs.find_image(j, i, -self.images.image) >= 0
        return self.pairs.find_image(i, j, self.images.image) >= 0

    def add_pairs_with_found(self, tree: Tree, i: cython.Py_ssize_t) -> cython.void:
        """Pair a body with the bodies of a tree that it may meet, unless the pair exists."""
        b: Bodies = self.bodies

        for m in range(tree.touching(b.flat_min, b.flat_max, i)):
            j: cython.Py_ssize_t = tree.found[m]
            if j == i:
                continue
            if self.pairs.is_marked(j) and (not b.wraps or self._has_pair_at_image(i, j)):
                continue
            self._add_new_pair(i, j)

    def _add_pair(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Add a pair of two rows, the lower entity id first."""
        if self.pairs.is_full():
            self.observer.make_room(2 * self.pairs.n)  # first, because it may raise
            self.pairs.grow()
        # No branch, because the processor would mispredict every other one.
        is_swapped: cython.int = self.bodies.ids[j] < self.bodies.ids[i]
        first: cython.Py_ssize_t = i + (j - i) * is_swapped
        p: cython.Py_ssize_t = self.pairs.add(first, i + j - first, self.state_of(i, j))
        if self.bodies.wraps:
            sign: cython.int = 1 - 2 * is_swapped
            self.pairs.image[p] = sign * self.images.image
            for k in range(self.bodies.dim):
                self.pairs.offset[p, k] = sign * self.images.offset[k]
        return p

    @cython.cfunc
    @cython.inline
    def state_of(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.int:
        """Return the `Pair.state` that follows from the components of two bodies."""
        if self.bodies.sensor[i] or self.bodies.sensor[j]:
            return CROSS
        if not (self.bodies.dynamic[i] or self.bodies.dynamic[j]):
            return CROSS
        if self.bodies.rare.is_soft(i, j):
            return SOFT
        return SOLID

    def check(self) -> None:
        """Verify after a step that moving bodies whose boxes in the tree touch are pairs.

        Raises
        ------
        AssertionError
            Two such bodies are no pair and are not skipped.
        """
        b: Bodies = self.bodies
        finder: OverlapFinder = OverlapFinder()

        # Held bodies are free again after the step, and long paths that wrap have other pairs.
        if b.wraps or self.takes_turns or self.pair_filter is not None:
            return
        finder.within(self.moving.nodes, False)
        for n in range(finder.n):
            i: cython.Py_ssize_t = finder.found[2 * n]
            j: cython.Py_ssize_t = finder.found[2 * n + 1]
            if self._has_just_woken(i) and self._has_just_woken(j):
                continue
            assert self.pairs.find(i, j) >= 0 or self.skips(i, j) or not self.may_meet(i, j), (
                f"rows {i} and {j} are no pair"
            )

    def _has_just_woken(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body was woken when the step had ended: it gets pairs in the next one."""
        b: Bodies = self.bodies
        moved: cython.bint = b.is_marked[i] != 0 or b.interrupted[i] != 0

        for k in range(b.dim):
            moved |= b.motion_of(i, k) != 0.0
        return not moved and b.rest_count[i] == 0
