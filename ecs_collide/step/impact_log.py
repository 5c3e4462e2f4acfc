"""Log impacts: when and where two bodies meet, how fast, on which side, and what they share.

Each impact is a row of the event buffer, written when its turn comes, before it is answered.
"""

from __future__ import annotations

from ecs_collide._kernel import cython, may_raise
from ecs_collide._kernel.constants import BEGAN
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import EARLIER, HALF, MOTION, RESIZE, Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.contacts_between_steps import CROSSING
from ecs_collide.narrowphase.contacts_in_step import ContactsInStep
from ecs_collide.narrowphase.event_buffer import (
    ANSWER,
    EVENT_AXIS,
    EVENT_KIND,
    EVENT_SIGN,
    WITHIN,
    EventBuffer,
)
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.narrowphase import Narrowphase
from ecs_collide.narrowphase.sweep_test import IMPACT
from ecs_collide.response.clusters import Clusters

# Codes of events.Answer.
ANSWERED = 0
STOPPED_ALREADY = 1
CROSSED = 2
CRUSHED = 3
FORCED = 4
UNANSWERED = 5


@cython.final
class ImpactLog:
    """Writes the impacts of a step, at the time that it has reached, into its event buffer."""

    bodies: Bodies
    pairs: PairTable
    queue: ImpactQueue
    narrowphase: Narrowphase
    clusters: Clusters
    gravity: Gravity
    contacts: ContactsInStep
    event_buffer: EventBuffer

    def __init__(
        self,
        pairs: PairTable,
        queue: ImpactQueue,
        narrowphase: Narrowphase,
        clusters: Clusters,
        contacts: ContactsInStep,
        event_buffer: EventBuffer,
    ):
        self.bodies = narrowphase.bodies
        self.pairs = pairs
        self.queue = queue
        self.narrowphase = narrowphase
        self.clusters = clusters
        self.gravity = clusters.gravity
        self.contacts = contacts
        self.event_buffer = event_buffer

    @may_raise
    def add(self, p: cython.Py_ssize_t, answer: cython.int) -> cython.Py_ssize_t:
        """Log the impact whose turn it is; return its row."""
        event_buffer: EventBuffer = self.event_buffer
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int
        now: cython.double = self.narrowphase.now
        n: cython.Py_ssize_t = event_buffer.add_collision()
        at: cython.int = 5 + b.dim
        is_plain: cython.bint = not (
            answer == STOPPED_ALREADY or self.gravity.is_on or b.on_hold[i] or b.on_hold[j]
        )

        event_buffer.time[n] = now
        event_buffer.exit[n] = self.pairs.impact[p].exit
        event_buffer.first[n] = self.queue.at[p].low
        event_buffer.second[n] = self.queue.at[p].high
        event_buffer.codes[n, EVENT_KIND] = self.pairs.impact[p].kind
        event_buffer.codes[n, ANSWER] = answer
        event_buffer.codes[n, EVENT_AXIS] = self.pairs.impact[p].axis
        event_buffer.codes[n, EVENT_SIGN] = self.pairs.impact[p].sign
        event_buffer.solid_first[n] = event_buffer.solid_second[n] = -1
        event_buffer.numbers[n, at - 1] = self.pairs.impact[p].speed
        event_buffer.impulse[n] = 0.0
        for k in range(b.dim):
            event_buffer.numbers[n, 4 + k] = (
                self.pairs.impact[p].sign if k == self.pairs.impact[p].axis else 0.0
            )
            self._record_places(n, p, k)
            if is_plain:
                event_buffer.numbers[n, at + k + 2 * b.dim] = b.velocity[i, k]
                event_buffer.numbers[n, at + k + 3 * b.dim] = b.velocity[j, k]
            else:
                event_buffer.numbers[n, at + k + 2 * b.dim] = self._velocity_met(i, k, answer)
                event_buffer.numbers[n, at + k + 3 * b.dim] = self._velocity_met(j, k, answer)
        if answer != CROSSED:
            self.contacts.meet(p, now)
        return n

    @cython.cfunc
    @cython.inline
    def _record_places(
        self, n: cython.Py_ssize_t, p: cython.Py_ssize_t, k: cython.int
    ) -> cython.void:
        """Log where the two boxes of an impact are on an axis, and what they share.

        What they share is where the first one is, with the second at the image that is met.
        """
        b: Bodies = self.bodies
        path: cython.p_double = b.flat_path
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        one: cython.Py_ssize_t = 4 * (b.dim * i + k)
        two: cython.Py_ssize_t = 4 * (b.dim * j + k)
        way1: cython.double = self.narrowphase.now - b.base[i]
        way2: cython.double = self.narrowphase.now - b.base[j]
        centre: cython.double = path[one] + path[one + MOTION] * way1
        other: cython.double = path[two] + path[two + MOTION] * way2
        half: cython.double = path[one + HALF]
        half2: cython.double = path[two + HALF]
        at: cython.Py_ssize_t = 5 + b.dim + k
        image: cython.double = other

        if b.any_resize:
            half = max(0.0, half + path[one + RESIZE] * way1)
            half2 = max(0.0, half2 + path[two + RESIZE] * way2)
        if b.wraps:
            image += self.pairs.offset_of(p, k)
        low: cython.double = max(centre - half, image - half2)
        high: cython.double = min(centre + half, image + half2)
        if k == self.pairs.impact[p].axis and self.pairs.impact[p].kind == IMPACT:
            low = high = centre + half if self.pairs.impact[p].sign < 0 else centre - half
        elif low > high:  # a corner, by rounding
            low, high = high, low
        if b.wraps:
            shift: cython.double = b.into_world(k, centre) - centre
            low += shift
            high += shift
            centre = b.into_world(k, centre)
            other = b.into_world(k, other)
        self.event_buffer.numbers[n, at] = centre + 0.0
        self.event_buffer.numbers[n, at + b.dim] = other + 0.0
        self.event_buffer.numbers[n, at + 4 * b.dim] = low + 0.0
        self.event_buffer.numbers[n, at + 5 * b.dim] = high + 0.0

    @cython.cfunc
    @cython.inline
    def _velocity_met(
        self, i: cython.Py_ssize_t, k: cython.int, answer: cython.int
    ) -> cython.double:
        """Return the velocity with which a body meets another now, as an event reports it."""
        b: Bodies = self.bodies
        gravity: Gravity = self.gravity

        if answer == STOPPED_ALREADY and b.turned_now(i, self.narrowphase.now):
            # What it met with, not what stopped it.
            return gravity.earlier_at(i, k, b.turn[i, k, EARLIER], self.narrowphase.now)
        if b.on_hold[i]:
            return b.kept[i, k]
        if not gravity.is_on or self.clusters.is_anchored(i, k):
            return b.velocity[i, k]
        return gravity.velocity_at(i, k, b.velocity[i, k], self.narrowphase.now)

    @may_raise
    def add_entry(self, p: cython.Py_ssize_t) -> cython.void:
        """Log that the bodies of a crossing pair have entered each other."""
        self.note_image(p)
        self.event_buffer.add_contact(
            BEGAN, WITHIN, self.narrowphase.now, self.queue.at[p].low, self.queue.at[p].high,
            self.pairs.impact[p].axis, self.pairs.impact[p].sign, CROSSING, -1,
        )  # fmt: skip

    def note_image(self, p: cython.Py_ssize_t) -> cython.void:
        """Let contact events that are logged be those of the image of a pair."""
        if self.bodies.wraps:
            self.event_buffer.image = self.pairs.image[p]
