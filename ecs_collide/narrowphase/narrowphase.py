"""Find the time of impact of pairs and queue it.

The broadphase has found the pairs.  A pair is swept from the current time to the end of the step.
The queue holds the next event of each pair: its impact, or for a crossing pair the time at which it
enters or leaves.  `ImpactLoop` takes these events next.

Invariant: at the time that the step has reached, the queue has the next impact of each pair whose
paths have not changed since it was swept.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from math import copysign

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.constants import CLEAR, FACE_ROUNDING, INF
from ecs_collide.broadphase.pair_table import (
    BEGUN,
    CROSS,
    KEEPS,
    OVERLAPS,
    PARTS,
    SOLID,
    STALE,
    PairTable,
)
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.faces import face_of_normal
from ecs_collide.narrowphase.impact_queue import CROSSES, ImpactQueue
from ecs_collide.narrowphase.step import Step
from ecs_collide.narrowphase.sweep_test import IMPACT, OVERLAP, SEPARATE, Sweeper

LEAST_MOVE: cython.double = 1e-100  # times the least relevant gap it is not denormal


def rounding_of_faces(
    speed: cython.double, growth: cython.double, shared: cython.double
) -> cython.double:
    """Return the largest rate at which rounding alone may make two faces close or part.

    Parameters
    ----------
    speed, growth : float
        The sum of the speeds of both centres, and of the rates of both half sizes.
    shared : float
        The rate for two bodies that move as one, in the same unit; see `SharedMotion.rounding`.
    """
    return shared + FACE_ROUNDING * (speed + growth) if growth != 0.0 else shared


class SharedMotion:
    """The bodies that move as one, for the narrowphase; in the base class there are none."""

    def rounding(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the rounding difference between the velocities of two bodies that move as one.

        0 if they do not move as one, or have equal velocities.
        """
        return 0.0


@cython.final
class Narrowphase:
    """Sweeps the pairs of a step."""

    step: Step
    shared: SharedMotion
    bodies: Bodies
    pairs: PairTable
    queue: ReadOnly[ImpactQueue]
    sweeper: Public[Sweeper]
    # number of sweeps in this step; pairs that pass far from each other need none
    n_sweeps: Public[cython.longlong]
    # (3,): of the pair of `_sweep_near`, by axis, from its first body to the second: the distance of
    # the centres, the sum of the half sizes, and the relative motion in a whole step
    apart: cython.double[3]
    sizes: cython.double[3]
    move: cython.double[3]

    def __init__(self, step: Step, shared: SharedMotion):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.queue = step.queue
        self.shared = shared
        self.sweeper = Sweeper(step.bodies.dim)

    @cython.ccall
    def begin_step(self) -> cython.void:
        """Reset the count of sweeps."""
        self.n_sweeps = 0

    def _sweep_near(self, p: cython.Py_ssize_t) -> cython.void:
        """Sweep a pair unless a cheap test shows that it has no impact; mark it if it ends clear.

        The test covers most pairs.  It compares one of the two sides of each axis, without a
        branch.  There is no impact if its gap exceeds all rounding now and after a whole step at
        its rate.  Pairs that pass diagonally are tested by `_passes_by`.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        now: cython.double = self.step.now
        margin: cython.double = CLEAR * b.farthest
        widest: cython.double = -INF
        least: cython.double = -INF
        end: cython.double = -INF

        for k in range(b.dim):
            apart: cython.double = b.centre_at(j, k, now) - b.centre_at(i, k, now)
            apart += self.pairs.offset_of(p, k)
            sizes: cython.double = b.half_at(j, k, now) + b.half_at(i, k, now)
            move: cython.double = b.motion_of(j, k) - b.motion_of(i, k)
            side: cython.double = copysign(1.0, apart)
            gap: cython.double = side * apart - sizes
            rate: cython.double = side * move - (b.resize_of(j, k) + b.resize_of(i, k))
            self.apart[k], self.sizes[k], self.move[k] = apart, sizes, move
            widest = gap if gap > widest else widest
            after: cython.double = gap + rate
            after = after if after < gap else gap
            least = after if after > least else least
            after = gap + rate * (1.0 - now)
            end = after if after > end else end
        if end > margin:
            self.pairs.mark_clear(p)
        is_apart: cython.bint = widest > margin  # and so does not touch
        if least <= margin and not (is_apart and self._passes_by(p)):
            self._sweep(p)

    def _passes_by(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a diagonal relative path passes at a distance, whatever its length.

            +-----+    /         Relative to the first box the centre of the second one is at d
            |  h  |   / m        and moves by m.  They never meet if its line passes beside the
            +-----+  d           sum of both boxes, which has the half size h:

                                 | d x m | > h.x * | m.y | + h.y * | m.x |

        The distance must exceed all rounding.  A pair that passes does not touch.  `_sweep_near` has
        found d, h and m.

        Such pairs are not swept.  That saves less than 1 % of most steps, 3 % if bodies fly 12
        lengths in a step, and 12 % if sizes and speeds are of any scale.
        """
        distance: cython.double = self.bodies.clear_gap()
        last_apart: cython.double = 0.0
        last_size: cython.double = 0.0
        last_move: cython.double = 0.0
        passes: cython.bint = False

        if self.bodies.any_resize:
            return False
        for k in range(self.bodies.dim):
            apart: cython.double = self.apart[k]
            size: cython.double = self.sizes[k] + distance
            move: cython.double = self.move[k]
            if abs(move) < LEAST_MOVE:
                return False
            passes |= abs(last_apart * move - apart * last_move) > (
                last_size * abs(move) + size * abs(last_move)
            )
            last_apart, last_size, last_move = apart, size, move
        if passes:
            self.pairs.forget_touch(p)
        return passes

    def aim(self, p: cython.Py_ssize_t) -> cython.void:
        """Aim the sweeper at a pair, from now to the end of the step."""
        self.n_sweeps += 1
        self.sweeper.aim_pair(self.bodies, self.pairs, p, self.step.now)
        if self.bodies.any_resize:
            self._settle(p)
        self.step.slopes.aim(self.sweeper, self.step.now, self.pairs, p)

    def _settle(self, p: cython.Py_ssize_t) -> cython.void:
        """Set the rates of a pair that are due to rounding alone to 0; one of the two may resize."""
        for k in range(self.bodies.dim):
            bound: cython.double = self._rounding(p, k)
            if bound != 0.0:
                self.sweeper.settle(k, bound)

    def _rounding(self, p: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return how much rounding alone may make the faces of a pair close or part in a step."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        return rounding_of_faces(
            abs(b.motion_of(i, k)) + abs(b.motion_of(j, k)),
            abs(b.resize_of(i, k)) + abs(b.resize_of(j, k)),
            b.dt * self.shared.rounding(i, j, k),
        )

    def solve(self, p: cython.Py_ssize_t) -> cython.int:
        """Sweep a pair from now on; return the kind that the sweeper found."""
        self.aim(p)
        self.sweeper.solve()
        if self.pairs.is_one_way(p, self.bodies):
            self._drop_passable(p)
        if self.sweeper.kind == OVERLAP:
            side: cython.int = self.bodies.translation_side(
                self.pairs.at[p].first, self.pairs.at[p].second
            )
            if (
                abs(side) == self.sweeper.axis + 1
            ):  # the displacement leads out on this side, even if the other is as shallow
                self.sweeper.sign = 1 if side > 0 else -1
        return self.sweeper.kind

    def _drop_passable(self, p: cython.Py_ssize_t) -> cython.void:
        """Set the result to SEPARATE unless it is an impact with the solid side of a one-way body.

        The other body must be fully on the free side now.  Over a corner it lands.
        """
        s: Sweeper = self.sweeper
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        if s.kind == IMPACT:
            for n in range(2):
                side: cython.int = self.bodies.open_side(j if n else i, i if n else j)
                if side == 0:
                    continue
                k: cython.int = abs(side) - 1
                sign: cython.int = (
                    1 if (side > 0) == (n == 1) else -1
                )  # the normal points from second to first
                if not s.turn_to(k, sign):
                    s.kind = SEPARATE
            if self.bodies.is_passable(i, j, s.axis, 1 if s.sign > 0 else -1):
                s.kind = SEPARATE  # both are one-way, and their solid faces are not opposite
        elif s.kind == OVERLAP:
            s.kind = SEPARATE

    def note_side(self, p: cython.Py_ssize_t, kind: cython.int) -> cython.void:
        """Store the contact side that the sweeper found as the impact of the pair."""
        self.pairs.meet(p)
        self.pairs.impact[p].kind = kind
        self.pairs.impact[p].axis = self.sweeper.axis
        self.pairs.impact[p].sign = self.sweeper.sign
        self.pairs.impact[p].exit = self.step.now + self.sweeper.exit

    def sweep_solid(self) -> cython.void:
        """Sweep all solid pairs over the whole step, before any pair is queued."""
        for p in range(self.pairs.n):
            # A pair in contact never passes the test of `_sweep_near`.
            if self.pairs.at[p].state == SOLID:
                if self.pairs.at[p].contact >= BEGUN:
                    self._sweep(p)
                else:
                    self._sweep_near(p)

    def sweep_again(self, p: cython.Py_ssize_t) -> cython.void:
        """Sweep a pair from now on and queue its next impact, if it has one."""
        if self.pairs.may_be_queued(p):
            self.queue.drop(p)
            if self.pairs.at[p].met == STALE:
                self.pairs.mark_fresh(p)
        if self.pairs.at[p].is_clear:
            self.pairs.forget_clear(p)
        if self.pairs.is_solid(p):
            if not (self.pairs.at[p].touch and self._keeps_clear(p)):
                self._sweep_near(p)
        elif self.pairs.crosses_on_path(p):
            self.aim(p)
            self.sweep_crossing(p, self.sweeper.solve())

    def _keeps_clear(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair is known to touch now, on a side that does not close.

        Such a pair has no impact while both velocities stay.
        """
        b: Bodies = self.bodies
        touch: cython.int = self.pairs.at[p].touch
        face: cython.int = self.pairs.at[p].face

        if touch != KEEPS and self.pairs.impact[p].tick < self.step.instant_tick:
            return False
        closing: cython.double = self._closing_of(p, face)
        if closing > 0.0:
            return False
        if closing < 0.0 and touch != OVERLAPS:
            if touch == KEEPS:
                self.pairs.note_touch(p, PARTS, face)
                self.pairs.impact[p].tick = self.bodies.tick
            # Twice, because the gap is 0 up to rounding.
            if -closing * (1.0 - self.step.now) > 2.0 * b.clear_gap():
                self.pairs.mark_clear(p)
        return True

    def _closing_of(self, p: cython.Py_ssize_t, face: cython.int) -> cython.double:
        """Return how much a pair closes in a step, on a face of its second body; 0 if by rounding."""
        b: Bodies = self.bodies
        closing: cython.double = b.closing_of(self.pairs.at[p].first, self.pairs.at[p].second, face)

        if b.any_resize and abs(closing) <= self._rounding(p, abs(face) - 1):
            return 0.0
        return closing

    def _note_touch(self, p: cython.Py_ssize_t) -> cython.void:
        """Note the side on which the pair just swept touches without an impact."""
        s: Sweeper = self.sweeper
        b: Bodies = self.bodies
        parting: cython.int = 0  # the face on which it parts
        is_apart: cython.bint = False

        if s.kind == OVERLAP:
            k: cython.int = s.axis
            if (
                not b.rare.any_pusher
                and b.resize_of(self.pairs.at[p].first, k) == 0.0
                and b.resize_of(self.pairs.at[p].second, k) == 0.0
                and s.is_shallowest_alone()
            ):
                self.pairs.note_touch(p, OVERLAPS, face_of_normal(k, s.sign))
            return
        for side in range(2 * b.dim):
            k = side >> 1
            if s.gap[side] < 0.0:
                continue
            if s.gap[side] > s.near[k]:
                is_apart = True
            elif s.rate[side] == 0.0:
                self.pairs.note_touch(p, KEEPS, k + 1 if side & 1 else -k - 1)
                return
            elif s.rate[side] > 0.0:
                parting = k + 1 if side & 1 else -k - 1
        if parting and not is_apart:
            self.pairs.note_touch(p, PARTS, parting)

    def _sweep(self, p: cython.Py_ssize_t) -> cython.void:
        """Queue the next impact of a pair that may have one."""
        kind: cython.int = self.solve(p)

        self.pairs.impact[p].tick = self.bodies.tick
        if self.pairs.at[p].touch:
            self.pairs.forget_touch(p)
        if self.is_impact_now():
            self.note_side(p, kind)
            self.queue.put(p, self.step.now, self.sweeper.corner)
        elif kind == IMPACT:
            self._queue_impact(p)
        else:
            self._note_touch(p)

    @cython.inline
    def needs_no_sweep(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair is due already or cannot have impacts, so needs no sweep."""
        return not self.pairs.is_solid(p) or self.queue.is_due(p, self.step.now)

    def sweep_closing(self, p: cython.Py_ssize_t) -> cython.void:
        """Sweep a pair whose touching faces close; queue its impact if it is due at once.

        If the two pass each other on another axis instead, the pair is swept again
        when the instant is over.
        """
        kind: cython.int = self.solve(p)

        self.queue.drop(p)
        self.pairs.impact[p].tick = self.bodies.tick
        if self.is_impact_now():
            self.note_side(p, kind)
            self.queue.put(p, self.step.now, self.sweeper.corner)
        else:
            self.pairs.mark_fresh(p)
            self.pairs.forget_touch(p)

    def sweep_at_rest(self, p: cython.Py_ssize_t) -> cython.void:
        """Sweep a new pair whose bodies were at rest in this step, to note whether it touches."""
        if self.pairs.at[p].state < CROSS:
            self.solve(p)
            self.pairs.impact[p].tick = self.bodies.tick
            self._note_touch(p)

    def _queue_impact(self, p: cython.Py_ssize_t) -> cython.void:
        """Queue the impact that the sweeper found, unless it belongs to the next step."""
        t: cython.double = self.step.now + self.sweeper.enter

        if t < 1.0:
            self.note_side(p, IMPACT)
            self.queue.put(
                p, t, CROSSES if self.pairs.at[p].state >= CROSS else self.sweeper.corner
            )

    def sweep_crossing(self, p: cython.Py_ssize_t, kind: cython.int) -> cython.void:
        """Queue when the swept bodies of a pair will enter or leave each other."""
        self.pairs.impact[p].tick = self.bodies.tick
        if self.pairs.at[p].contact >= BEGUN:
            t: cython.double = self.step.now
            if not self.has_left():
                t += max(self.sweeper.exit, 0.0)
            if t < 1.0:
                self.queue.put(p, t, CROSSES)
        elif kind == IMPACT:
            self._queue_impact(p)
        elif kind == OVERLAP:
            self.note_side(p, kind)
            self.queue.put(p, self.step.now, CROSSES)

    def is_impact_now(self) -> cython.bint:
        """Return whether the pair just swept meets at this instant.

        A gap within the slop of the current positions counts as 0.  If placement has left a gap
        of one ulp, the impact belongs to this instant, not to a later one without the clusters of
        this instant.  No axis may have a larger gap, because the time of impact on a side that
        closes by less than the slop has no meaning.
        """
        kind: cython.int = self.sweeper.kind

        if kind != IMPACT and kind != OVERLAP:
            return False
        closing: cython.double = self.sweeper.closing_rate(self.sweeper.axis, self.sweeper.sign)
        if kind == OVERLAP:
            return closing > 0.0 and not self.sweeper.finds_way_out()
        side: cython.int = self.sweeper.side_of(self.sweeper.axis, self.sweeper.sign)
        if self.sweeper.enter * closing > self.sweeper.near[side >> 1]:
            return False
        return not self.is_apart()

    def has_left(self) -> cython.bint:
        """Return whether a swept pair that was in contact is apart already, but meets again.

        That is so only if the game, or a response, has put one of the two elsewhere.
        """
        return self.sweeper.kind == IMPACT and self.is_apart()

    def is_apart(self) -> cython.bint:
        """Return whether the aimed boxes are farther apart now than by rounding."""
        for side in range(self.sweeper.n_sides):
            if self.sweeper.gap[side] > self.sweeper.near[side >> 1]:
                return True
        return False

    def meets(self, p: cython.Py_ssize_t) -> cython.bint:
        """Sweep a pair from now; return whether it meets at this instant, and store its side."""
        self.solve(p)
        if not self.is_impact_now():
            return False
        self.note_side(p, self.sweeper.kind)
        return True

    def _may_close(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the faces of a pair's impact still close, or that is unknown.

        If they do not, the two stay apart on their axis, and a sweep would find nothing.
        """
        face: cython.int = face_of_normal(self.pairs.impact[p].axis, self.pairs.impact[p].sign)

        if self.pairs.impact[p].kind != IMPACT or face == 0:
            return True
        return self._closing_of(p, face) > 0.0

    def is_due(self, p: cython.Py_ssize_t) -> cython.bint:
        """Sweep a pair again from now; return whether its impact is still due at once.

        A later impact is queued.
        """
        self.pairs.impact[p].tick = self.bodies.tick
        if not (self.pairs.crosses(p) or self._may_close(p)):
            return False
        if self.meets(p):
            return True
        if self.sweeper.kind == IMPACT:
            self._queue_impact(p)
        return False

    def waits(self, p: cython.Py_ssize_t) -> cython.bint:
        """Requeue a corner impact behind a face impact of either body that is due within the slop.

        The two times differ by rounding alone, and the face must come first.
        Returns whether the impact was requeued, at the time of the face impact.
        """
        earliest: cython.double = INF

        self.aim(p)
        closing: cython.double = self.sweeper.closing_rate(
            self.pairs.impact[p].axis, self.pairs.impact[p].sign
        )
        side: cython.int = self.sweeper.side_of(
            self.pairs.impact[p].axis, self.pairs.impact[p].sign
        )
        # Not 0: only a closing side is queued, and a pair with a turned body was swept again.
        until: cython.double = self.step.now + self.sweeper.slop[side >> 1] / closing
        for n in range(2):
            row: cython.Py_ssize_t = self.pairs.at[p].second if n else self.pairs.at[p].first
            if not self.bodies.dynamic[row]:
                continue  # no impact changes its path, and a floor may have many pairs
            q: cython.Py_ssize_t = self.pairs.head_of(row)
            while q >= 0:
                if (
                    self.queue.holds(q)
                    and not self.pairs.at[q].tier  # nor crosses
                    and self.step.now < self.queue.at[q].time <= until
                ):
                    earliest = min(earliest, self.queue.at[q].time)
                q = self.pairs.next_of(q, row)
        if earliest == INF:
            return False
        self.queue.put(p, earliest, 1)
        self.pairs.mark_stale(p)
        return True
