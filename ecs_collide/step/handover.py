"""The impact that the game has in hand: what it sees and changes, and how the step goes on.

`Timeline.run` stops at such an impact.  The game reads and sets the velocities and places of its
bodies at that instant, answers it, lets it cross, or deletes a body; `conclude` or `cross` ends that.
"""

from __future__ import annotations

from ecs_collide._kernel import cython, may_raise
from ecs_collide.broadphase.pair_table import (
    CROSS_ONCE,
    CROSS_UNTIL_APART,
    STUCK,
    PairTable,
)
from ecs_collide.motion.attachments import Attachments
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.contacts_between_steps import CROSSING
from ecs_collide.narrowphase.contacts_in_step import ContactsInStep
from ecs_collide.narrowphase.event_buffer import ANSWER, CONTACT_KIND, EventBuffer
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.narrowphase import Narrowphase
from ecs_collide.response.falling import Falling
from ecs_collide.response.holding import Holding
from ecs_collide.response.solver import Solver
from ecs_collide.step.answering import Answering
from ecs_collide.step.crossings import Crossings
from ecs_collide.step.impact_log import ANSWERED, CROSSED, CRUSHED, FORCED, ImpactLog
from ecs_collide.step.sleeping import Sleeping


@cython.final
class Handover:
    """The impact that is handed over to the game."""

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
    falling: Falling
    attachments: Attachments
    sleeping: Sleeping
    answering: Answering
    pending: cython.Py_ssize_t  # the pair, or -1
    is_set: cython.bint  # whether the game has set a velocity since it was handed over
    # whether it has changed anything since, or since the pair was given the built-in answer
    is_changed: cython.bint

    def __init__(self, answering: Answering):
        self.bodies = answering.bodies
        self.pairs = answering.pairs
        self.queue = answering.queue
        self.narrowphase = answering.narrowphase
        self.contacts = answering.contacts
        self.event_buffer = answering.event_buffer
        self.log = answering.log
        self.crossings = answering.crossings
        self.solver = answering.solver
        self.holding = answering.holding
        self.falling = answering.falling
        self.gravity = answering.gravity
        self.attachments = answering.attachments
        self.sleeping = answering.sleeping
        self.answering = answering
        self.pending = -1
        self.is_set = False
        self.is_changed = False

    @may_raise
    def take(self, p: cython.Py_ssize_t) -> cython.void:
        """Hand the impact over that was just recorded."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        self.solver.clusters.write()
        # Whatever the game does, they do not rest.
        self.bodies.end_rest(i)
        self.bodies.end_rest(j)
        self.pending = p
        self.is_set = False
        self.is_changed = False
        self._show(p)

    def cross(self, until_apart: cython.bint):
        """Take up the pair that was handed over, and let its bodies cross on their paths."""
        p: cython.Py_ssize_t = self.pending

        self.pending = -1
        self._hide(p)
        self._join()
        if not self.pairs.at[p].is_withdrawn:
            self.event_buffer.codes[self.answering.event, ANSWER] = CROSSED
            self.answering.n_answers -= 1
            if self.answering.began_at >= 0:  # with this impact: it was no solid contact after all
                self.event_buffer.contact_codes[self.answering.began_at, CONTACT_KIND] = CROSSING
                self.contacts.forget_former(p)
            else:
                self.contacts.open(p, self.narrowphase.now)
                self.log.add_entry(p)
            self.pairs.cross(p, CROSS_UNTIL_APART if until_apart else CROSS_ONCE)
            self.crossings.enter(p)
        self.answering.resume(p)

    def conclude(self, default: cython.bint, is_answered: cython.bint):
        """Take up the pair that was handed over; with `default`, give the built-in answer.

        A pair that the game has left closing is slid, unless it `is_answered` already and the
        game has changed nothing since.
        """
        p: cython.Py_ssize_t = self.pending

        self.pending = -1
        self._hide(p)
        if self.pairs.at[p].is_withdrawn or self.pairs.at[p].state == STUCK:
            self._join()
        elif default:
            if self._still_closes(p):
                self.answering.answer(p, False, False)
        elif (self.is_changed or not is_answered) and self.narrowphase.meets(p):
            if self.gravity.is_on:
                self.answering.find_closing_speed(p)
            self.answering.answer(p, True, True)
            if self.gravity.is_on and self.pairs.impact[p].speed == 0.0:
                pass  # only gravity closes it: the game has answered
            elif self.event_buffer.codes[self.answering.event, ANSWER] == ANSWERED:
                self.event_buffer.codes[self.answering.event, ANSWER] = FORCED
                self.answering.n_forced += 1
        if self.is_set and self.event_buffer.codes[self.answering.event, ANSWER] != CRUSHED:
            self.event_buffer.impulse[self.answering.event] = max(
                self._change_of(p, self.pairs.at[p].first, 0),
                self._change_of(p, self.pairs.at[p].second, 1),
            )
        self.answering.resume(p)

    def answer_pending(self, response: cython.int, restitution: cython.double):
        """Answer the pair that was handed over, and keep it pending.

        By a code of `Bodies.response`; 0 for the built-in answer.
        """
        if not self.pairs.at[self.pending].is_withdrawn:
            self._hide(self.pending)
            if self._still_closes(self.pending):
                self.answering.answer_as(self.pending, response, restitution)
                self.falling.n_splits = 0
            self.solver.clusters.write()
            self.is_changed = False
            self._show(self.pending)

    def _change_of(
        self, p: cython.Py_ssize_t, i: cython.Py_ssize_t, place: cython.int
    ) -> cython.double:
        """Return how much the momentum of a body of the pending pair has changed on its axis.

        `place` is 0 for the first body, 1 for the second.
        """
        b: Bodies = self.bodies
        k: cython.int = self.pairs.impact[p].axis
        velocity: cython.double = self.solver.clusters.final_velocity(i, k)

        if not b.yields[i]:
            return 0.0
        if b.on_hold[i]:
            velocity = b.kept[i, k]
        return b.mass[i] * abs(
            velocity - self.event_buffer.numbers[self.answering.event, 5 + (3 + place) * b.dim + k]
        )

    def _still_closes(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the pair that was handed over closes after what the game has changed."""
        if self.is_changed and not self.narrowphase.meets(p):
            return False
        if self.gravity.is_on:
            self.answering.find_closing_speed(p)
        return True

    def _show(self, p: cython.Py_ssize_t) -> cython.void:
        """Let the game see the velocities that the bodies of a pair have at this instant."""
        self.holding.show(self.pairs.at[p].first)
        self.holding.show(self.pairs.at[p].second)
        if self.gravity.is_on:
            self.falling.show(self.pairs.at[p].first, 0)
            self.falling.show(self.pairs.at[p].second, 1)

    def _hide(self, p: cython.Py_ssize_t) -> cython.void:
        """Let the bodies of a pair have the velocities of their paths again."""
        if self.gravity.is_on:
            self.falling.hide(0)
            self.falling.hide(1)
        self.holding.hide(self.pairs.at[p].first)
        self.holding.hide(self.pairs.at[p].second)

    def _join(self) -> cython.void:
        """Restore the paths of a pair that was not resolved."""
        if self.gravity.is_on:
            self.falling.join()

    def withdraw(self, i: cython.Py_ssize_t):
        """Let a body that a response has deleted have no more impacts in this step."""
        self.sleeping.wake_in_step(i)
        p: cython.Py_ssize_t = self.pairs.head_of(i)
        self.bodies.withdraw(i)
        while p >= 0:
            self.contacts.end_withdrawn(p, self.narrowphase.now)
            self.pairs.withdraw(p)
            self.queue.drop(p)
            p = self.pairs.next_of(p, i)

    def stop(self, i: cython.Py_ssize_t):
        """Let a body that is taken out stay where it is now, to the end of the step."""
        if self.bodies.moves[i] or self.bodies.asleep[i]:
            self.bodies.advance(i, self.narrowphase.now)
            self.bodies.end_path(i)
            if self.attachments.n:
                self.attachments.lead(i)

    def set_velocity(self, i: cython.Py_ssize_t, k: cython.int, value: cython.double):
        """Give a body a new velocity at the instant of the pending impact."""
        self.is_changed = True
        self.sleeping.wake_in_step(i)
        if self.bodies.controls.locks(i, k):
            return
        self.is_set = True
        if self.bodies.on_hold[i]:  # it is shown what it keeps
            self.bodies.velocity[i, k] = value + 0.0
        elif self.gravity.acts_on(i):
            self.falling.set_velocity(i, k, value)
        else:
            self.solver.clusters.turn_alone(i, k, value)

    def relocate(self, i: cython.Py_ssize_t, k: cython.int, value: cython.double):
        """Put a body somewhere else at the instant of the pending impact."""
        self.is_changed = True
        self.sleeping.wake_in_step(i)
        if self.bodies.moves[i] or self.bodies.asleep[i]:
            self.bodies.advance(i, self.narrowphase.now)
        self.bodies.put(i, k, self.bodies.into_world(k, value))
        self.bodies.note_turn(i)
        self._forget_touch(i)

    def _forget_touch(self, i: cython.Py_ssize_t) -> cython.void:
        """Forget which faces of a body touch: it is somewhere else."""
        p: cython.Py_ssize_t = self.pairs.head_of(i)

        while p >= 0:
            self.pairs.forget_touch(p)
            p = self.pairs.next_of(p, i)

    def centre_now(self, i: cython.Py_ssize_t, k: cython.int) -> float:
        """Return where a body is at the time reached."""
        return self.bodies.into_world(k, self.bodies.centre_at(i, k, self.narrowphase.now))

    def half_now(self, i: cython.Py_ssize_t, k: cython.int) -> float:
        """Return a body's half size at the time reached."""
        return self.bodies.half_at(i, k, self.narrowphase.now)

    def final_velocity(self, i: cython.Py_ssize_t, k: cython.int) -> float:
        """Return the velocity with which a body leaves the step if nothing more happens to it."""
        return self.solver.clusters.final_velocity(i, k)
