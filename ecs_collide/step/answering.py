"""Answer one impact: whether it is still due, where its bodies are, who holds, who yields.

`Timeline` takes impacts in time order, and each goes through `Answering.reach`.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython, may_raise
from ecs_collide._kernel.constants import Custom
from ecs_collide.broadphase.pair_table import (
    KEEPS,
    STALE,
    PairTable,
)
from ecs_collide.motion.attachments import Attachments
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.contacts_in_step import ContactsInStep
from ecs_collide.narrowphase.event_buffer import ANSWER, EventBuffer
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.narrowphase import Narrowphase
from ecs_collide.narrowphase.placement import place
from ecs_collide.narrowphase.sweep_test import IMPACT, OVERLAP
from ecs_collide.response.carriers import Carriers
from ecs_collide.response.depenetration import Depenetration
from ecs_collide.response.falling import Falling
from ecs_collide.response.holding import Holding
from ecs_collide.response.separation import Separating
from ecs_collide.response.solver import Solver
from ecs_collide.step.crossings import Crossings
from ecs_collide.step.impact_log import ANSWERED, CRUSHED, STOPPED_ALREADY, ImpactLog
from ecs_collide.step.sleeping import Sleeping

# Resolutions in one instant, after which a pair only loses its closing velocity.
INSTANT_LIMIT: cython.longlong = 1
RESIZING_LIMIT: cython.longlong = 4  # if one of the bodies resizes
REPEAT_LIMIT: cython.longlong = (
    32  # answers of one instant after which resizing bodies count as crushed
)


@cython.final
class Answering:
    """Gives the built-in answers, and finds which impacts the game is to have."""

    bodies: Bodies
    pairs: PairTable
    queue: ImpactQueue
    narrowphase: Narrowphase
    contacts: ContactsInStep
    event_buffer: EventBuffer
    log: ImpactLog
    gravity: Gravity
    crossings: Crossings
    solver: Solver
    holding: Holding
    separating: Separating
    depenetration: Depenetration
    carriers: Carriers
    falling: Falling
    attachments: Attachments
    sleeping: Sleeping
    # impacts that close more slowly than this, in units per second, do not bounce
    rest_speed: Public[cython.double]
    pair_limit: Public[cython.longlong]  # so many answers of a pair in one step hold its bodies
    # hand every impact over, not only those that the columns of a body ask for
    hand_over: Public[cython.bint]
    # of the last impact: its row in the log, and that of the contact that it began, or -1
    event: ReadOnly[cython.Py_ssize_t]
    began_at: cython.Py_ssize_t
    # answers of this step, and those of these kinds
    n_answers: ReadOnly[cython.longlong]
    n_crushed: ReadOnly[cython.longlong]
    n_forced: ReadOnly[cython.longlong]
    # pairs and bodies that came to their limits in this step
    n_pair_limit: ReadOnly[cython.longlong]
    n_sweep_limit: ReadOnly[cython.longlong]

    def __init__(
        self,
        log: ImpactLog,
        crossings: Crossings,
        solver: Solver,
        holding: Holding,
        separating: Separating,
        depenetration: Depenetration,
        carriers: Carriers,
        falling: Falling,
        attachments: Attachments,
        sleeping: Sleeping,
    ):
        self.bodies = log.bodies
        self.pairs = log.pairs
        self.queue = log.queue
        self.narrowphase = log.narrowphase
        self.gravity = log.gravity
        self.contacts = log.contacts
        self.event_buffer = log.event_buffer
        self.log = log
        self.crossings = crossings
        self.solver = solver
        self.holding = holding
        self.separating = separating
        self.depenetration = depenetration
        self.carriers = carriers
        self.falling = falling
        self.attachments = attachments
        self.sleeping = sleeping
        self.rest_speed = 0.0
        self.pair_limit = 0
        self.hand_over = False
        self.event = self.began_at = -1
        self.n_answers = self.n_crushed = self.n_forced = 0
        self.n_pair_limit = self.n_sweep_limit = 0

    def begin_step(self):
        """Reset the counts of the step."""
        self.event = -1
        self.n_answers = self.n_crushed = self.n_forced = 0
        self.n_pair_limit = self.n_sweep_limit = 0

    @may_raise
    def reach(self, p: cython.Py_ssize_t) -> cython.bint:
        """Answer the impact whose turn it is; True if it is to be handed over instead."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        if self.is_stale(p) and not self._is_still_due(p):
            return False
        if self.queue.at[p].rank and self.narrowphase.waits(p):
            return False
        if b.asleep[i] and b.yields[i]:
            self.sleeping.wake_in_step(i)
        if b.asleep[j] and b.yields[j]:
            self.sleeping.wake_in_step(j)
        met: cython.bint = self._bring_together(p)
        if met and self._come_to_limit(p) and not self.narrowphase.meets(p):
            self.resume(p)
            return False
        self.began_at = -1 if self.pairs.has_contact(p) else self.event_buffer.n_contacts
        self.event = self.log.add(p, ANSWERED)
        if not met:
            self.resume(p)
            return False
        self.n_answers += 1
        self.pairs.impact[p].answers += 1
        self.holding.count_visits(i, 1)
        self.holding.count_visits(j, 1)
        if (self.hand_over or (b.custom[i] | b.custom[j]) & Custom.OFFERED) and (
            self.pairs.impact[p].answers <= self.pair_limit
        ):
            return True
        self.answer(p, False, False)
        self.resume(p)
        return False

    def is_stale(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body of a pair has turned since the pair was swept; write both."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        stale: cython.bint = self.pairs.at[p].met == STALE

        if self.solver.clusters.n_unwritten:
            self.solver.clusters.write_body(i)
            self.solver.clusters.write_body(j)
        if self.attachments.n:
            self.attachments.follow_turned(i)
            self.attachments.follow_turned(j)
        self.pairs.mark_fresh(p)
        return (
            stale
            or self.bodies.has_turned_since(i, self.pairs.impact[p].tick)
            or self.bodies.has_turned_since(j, self.pairs.impact[p].tick)
        )

    @may_raise
    def _is_still_due(self, p: cython.Py_ssize_t) -> cython.bint:
        """Sweep a pair again of which a body has turned; return whether its turn is now.

        If not, report it, unless it was queued again, or was a corner.
        """
        if not self.narrowphase.is_due(p):
            # Queued again: it comes an instant later, by rounding, and is reported then.
            if not self.queue.at[p].rank and not self.queue.holds(p):
                self.log.add(p, STOPPED_ALREADY)
                if self.pairs.impact[p].kind == IMPACT:
                    self._touch(p)
                if self.bodies.rare.any_carrier:
                    self._suspend(p)
                    self.carriers.land(p)
                    self.resume(p)
            return False
        if self.narrowphase.sweeper.corner and not self.queue.at[p].rank:
            self.queue.put(p, self.narrowphase.now, 1)
            return False
        return True

    @may_raise
    def _bring_together(self, p: cython.Py_ssize_t) -> cython.bint:
        """Put the bodies of a pair where they meet; return whether their own velocities close.

        What moves them out of others or out of a soft crowd, or their fall, may have made them meet.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis
        met: cython.bint = True

        if self.pairs.impact[p].kind == IMPACT:
            self._touch(p)
            place(
                b,
                i,
                j,
                k,
                self.pairs.impact[p].sign,
                self.narrowphase.now,
                self.pairs.offset_of(p, k),
            )
        if b.rare.any_pusher:
            met = not self._end_pushes(p)
        if b.rare.any_separator and self._suspend(p):
            met = met and self.narrowphase.meets(p)
        if self.gravity.is_on and self._split_paths(p):
            met = met and (self.narrowphase.meets(p) or self.pairs.impact[p].speed > 0.0)
            self.find_closing_speed(p)
        return met

    def _touch(self, p: cython.Py_ssize_t) -> cython.void:
        """Note that the faces of a pair touch at this instant, on the side of its impact."""
        self.pairs.note_touch(p, KEEPS, self.pairs.impact[p].sign * (self.pairs.impact[p].axis + 1))

    @may_raise
    def _end_pushes(self, p: cython.Py_ssize_t) -> cython.bint:
        """End what pushes the bodies of a pair into each other; return whether nothing else does."""
        n: cython.int
        k: cython.int = self.pairs.impact[p].axis
        ended: cython.bint = False

        for n in range(2):
            i: cython.Py_ssize_t = self.pairs.at[p].second if n else self.pairs.at[p].first
            if abs(self.bodies.rare.translation_side[i]) == k + 1:
                ended = True
                if self.bodies.on_hold[i]:
                    self.bodies.kept[i, k] = self.depenetration.stop(i)
                else:
                    self.solver.clusters.turn_alone(i, k, self.depenetration.stop(i))
        return ended and not self.narrowphase.meets(p)

    @may_raise
    def _suspend(self, p: cython.Py_ssize_t) -> cython.bint:
        """Give both members of soft crowds their own velocities; return whether that changes the impact."""
        s: Separating = self.separating
        k: cython.int = self.pairs.impact[p].axis
        first: cython.bint = s.suspend(self.pairs.at[p].first, k, self.solver)
        second: cython.bint = s.suspend(self.pairs.at[p].second, k, self.solver)

        if first or second:
            self.pairs.impact[p].speed = self.narrowphase.closing_speed(p)
        return first or second

    @may_raise
    def resume(self, p: cython.Py_ssize_t) -> cython.int:
        """Go on moving the members of soft crowds in a pair along what they have met."""
        if self.bodies.rare.any_separator:
            self.solver.clusters.write_body(self.pairs.at[p].first)
            self.solver.clusters.write_body(self.pairs.at[p].second)
            self.separating.resume(self.pairs.at[p].first, self.solver)
            self.separating.resume(self.pairs.at[p].second, self.solver)
        return 0

    def _split_paths(self, p: cython.Py_ssize_t) -> cython.bint:
        """Let the paths of two bodies that fall begin anew; return whether that bends one of them.

        The closing speed of the pair is that of this instant from now on.
        """
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        bends: cython.bint = self.falling.split(i, j, self.pairs.impact[p].axis)

        self.find_closing_speed(p)
        return bends

    def find_closing_speed(self, p: cython.Py_ssize_t) -> cython.void:
        """Find how fast a pair that falls closes at this instant."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        speed: cython.double = self.solver.closing_speed(
            i, j, self.pairs.impact[p].axis, self.pairs.impact[p].sign
        )

        self.pairs.impact[p].speed = max(speed, 0.0) + 0.0

    def _come_to_limit(self, p: cython.Py_ssize_t) -> cython.bint:
        """Hold the bodies of a pair that is due, as far as limits want it; return whether any is."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        if self.pairs.impact[p].answers >= self.pair_limit or self._keeps_growing(p):
            first: cython.bint = self.hold(i)
            second: cython.bint = self.hold(j)
            self.n_pair_limit += first or second
        else:
            first = self.hold_if_spent(i)
            second = self.hold_if_spent(j)
        return first or second

    def hold_if_spent(self, i: cython.Py_ssize_t) -> cython.bint:
        """Hold a body that has had all of its looks; return whether it is held now and was not."""
        if not self.holding.is_spent(i):
            return False
        self.n_sweep_limit += 1
        return self.hold(i)

    def hold(self, i: cython.Py_ssize_t) -> cython.bint:
        """Hold a body from now on, without what moves it out of a soft crowd."""
        k: cython.int

        if self.bodies.rare.any_separator and not self.bodies.on_hold[i]:
            for k in range(self.bodies.dim):
                self.separating.suspend(i, k, self.solver)
        return self.holding.hold(i, self.narrowphase.now)

    def _keeps_growing(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair that resizes would be crushed though one of its bodies is held."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis

        return (
            (self.bodies.on_hold[i] or self.bodies.on_hold[j])
            and self.pairs.impact[p].repeats >= REPEAT_LIMIT - 1
            and self.pairs.impact[p].answered_at == self.narrowphase.now
            and (self.bodies.resize_of(i, k) != 0.0 or self.bodies.resize_of(j, k) != 0.0)
        )

    @may_raise
    def answer_as(
        self, p: cython.Py_ssize_t, response: cython.int, restitution: cython.double
    ) -> cython.void:
        """Answer as if both bodies of a pair had a response in place of their own; 0: their own."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        one: cython.int = b.response[i]
        other: cython.int = b.response[j]
        bounce: cython.double = b.restitution[i]
        other_bounce: cython.double = b.restitution[j]

        if response != 0:
            b.response[i] = b.response[j] = response
            b.restitution[i] = b.restitution[j] = restitution
        self.answer(p, False, False)
        b.response[i] = one
        b.response[j] = other
        b.restitution[i] = bounce
        b.restitution[j] = other_bounce

    @may_raise
    def answer(
        self, p: cython.Py_ssize_t, normal_only: cython.bint, inelastic: cython.bint
    ) -> cython.int:
        """Give the built-in answer to the impact just recorded."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis
        restitution: cython.double = 0.0
        gives_way: cython.bint = self.solver.weigh(i, j, k)

        if self.pairs.impact[p].answered_at == self.narrowphase.now:
            self.pairs.impact[p].repeats += 1
        else:
            self.pairs.impact[p].repeats = 0
        if self.pairs.impact[p].answers > self.pair_limit + REPEAT_LIMIT or (
            self.pairs.impact[p].repeats >= REPEAT_LIMIT
            and (b.resize_of(i, k) != 0.0 or b.resize_of(j, k) != 0.0)
        ):
            self._crush(p, -1 if b.yields[i] else i, -1 if b.yields[j] else j)
            return 0
        if not (self.solver.impact.yields[0] or self.solver.impact.yields[1]):
            self._crush(p, i, j)  # an immovable body, and one on an axis that is locked
            return 0
        self.pairs.impact[p].answered_at = self.narrowphase.now
        if not (
            inelastic
            or gives_way
            or self.pairs.impact[p].kind == OVERLAP
            or self.pairs.impact[p].speed < self.rest_speed
        ):
            restitution = self.solver.restitution_of(i, j)
        resizes: cython.bint = b.resize_of(i, k) != 0.0 or b.resize_of(j, k) != 0.0
        if self.pairs.impact[p].repeats >= (RESIZING_LIMIT if resizes else INSTANT_LIMIT):
            # A pile that bounces would go on to the limits, a stop between two partners too.
            normal_only = True
            if restitution < 1.0:
                restitution = 0.0
        normal_only |= gives_way
        self.solver.may_part = self.pairs.impact[p].repeats == 0
        if b.rare.any_pusher:  # the velocity along the surface may be that of a pusher
            normal_only |= b.rare.translation_side[i] != 0 or b.rare.translation_side[j] != 0
        if not self.solver.answer(i, j, k, self.pairs.impact[p].sign, restitution, normal_only):
            self._crush(p, self.solver.solid_first, self.solver.solid_second)
            return 0
        self.event_buffer.impulse[self.event] += self.solver.impact.impulse
        if b.rare.any_carrier and not (b.on_hold[i] or b.on_hold[j]):
            self.carriers.land(p)
        return 0

    def _crush(
        self, p: cython.Py_ssize_t, one: cython.Py_ssize_t, other: cython.Py_ssize_t
    ) -> cython.void:
        """Report that a pair cannot be kept apart, and leave it alone to the end of the step.

        It is between two immovable bodies; -1 for one that is not known.
        """
        if other >= 0 and (one < 0 or self.bodies.ids[other] < self.bodies.ids[one]):
            swap: cython.Py_ssize_t = one
            one = other
            other = swap
        self.pairs.crush(p)
        self.event_buffer.codes[self.event, ANSWER] = CRUSHED
        if one >= 0:
            self.event_buffer.solid_first[self.event] = self.bodies.ids[one]
        if other >= 0:
            self.event_buffer.solid_second[self.event] = self.bodies.ids[other]
        self.n_crushed += 1
