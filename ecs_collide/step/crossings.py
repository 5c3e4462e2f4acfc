"""Pairs whose bodies go through each other: when they enter, when they leave.

So do pairs with a sensor, pairs of which neither body yields, and those that a game lets cross.
"""

from __future__ import annotations

from ecs_collide._kernel import cython, may_raise
from ecs_collide._kernel.constants import BEGAN, ENDED
from ecs_collide.broadphase.pair_table import CROSS, CROSS_UNTIL_APART, SOFT, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.contacts_between_steps import CROSSING, SOLID
from ecs_collide.narrowphase.contacts_in_step import SEPARATED, ContactsInStep
from ecs_collide.narrowphase.event_buffer import WITHIN, EventBuffer
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.narrowphase import Narrowphase
from ecs_collide.narrowphase.sweep_test import IMPACT, OVERLAP, SEPARATE
from ecs_collide.step.impact_log import CROSSED, ImpactLog


@cython.final
class Crossings:
    """The pairs of a step that cross."""

    bodies: Bodies
    pairs: PairTable
    queue: ImpactQueue
    narrowphase: Narrowphase
    contacts: ContactsInStep
    event_buffer: EventBuffer
    log: ImpactLog

    def __init__(self, log: ImpactLog):
        self.bodies = log.bodies
        self.pairs = log.pairs
        self.queue = log.queue
        self.narrowphase = log.narrowphase
        self.contacts = log.contacts
        self.event_buffer = log.event_buffer
        self.log = log

    @may_raise
    def begin(self) -> cython.void:
        """Sweep all pairs that cross over the whole step; queue when they enter or leave."""
        p: cython.Py_ssize_t

        for p in range(self.pairs.n):
            if not CROSS <= self.pairs.at[p].state < SOFT:
                continue
            self.narrowphase.aim(p)
            kind: cython.int = self.narrowphase.sweeper.solve()
            n: cython.Py_ssize_t = self.pairs.contact_of(p)
            self.log.note_image(p)
            if n >= 0 and self._is_parted(p, n, kind):
                self.contacts.end_crossing(p)
                if self.pairs.at[p].state == CROSS_UNTIL_APART:
                    self.close(p)
                    continue
            elif n >= 0 and self.contacts.rows.at[n].kind != SOLID and kind != SEPARATE:
                self.pairs.enter(p)
                self.pairs.impact[p].axis = self.contacts.rows.at[n].axis
                self.pairs.impact[p].sign = self.contacts.rows.at[n].sign
            elif kind == OVERLAP:
                self.pairs.enter(p)
                self.narrowphase.note_side(p, kind)
                self.pairs.impact[p].began = 0.0
                self.event_buffer.add_contact(
                    BEGAN, WITHIN, 0.0, self.queue.at[p].low, self.queue.at[p].high,
                    self.pairs.impact[p].axis, self.pairs.impact[p].sign, CROSSING, -1,
                )  # fmt: skip
            self.narrowphase.sweep_crossing(p, kind)

    def _is_parted(
        self, p: cython.Py_ssize_t, n: cython.Py_ssize_t, kind: cython.int
    ) -> cython.bint:
        """Return whether the bodies of contact n are apart already: the game has moved one.

        If the two do not meet in this step, their contact ends at its end, as all contacts do that
        are not found again.  Only that of a pair that crosses until it separates ends at once.
        """
        if kind == SEPARATE:
            return self.pairs.at[p].state == CROSS_UNTIL_APART
        if kind != IMPACT or self.contacts.rows.at[n].kind == SOLID:
            return False
        return self.narrowphase.is_apart()

    @may_raise
    def cross(self, p: cython.Py_ssize_t, stale: cython.bint) -> cython.void:
        """Let the bodies of a pair enter or leave each other, as queued.

        `stale` tells whether one of them has turned since the pair was swept.
        """
        if stale:
            self.narrowphase.aim(p)
            self.narrowphase.sweeper.solve()
            if self.pairs.has_contact(p):
                if self.narrowphase.sweeper.exit > 0.0:
                    self.narrowphase.sweep_crossing(p, self.narrowphase.sweeper.kind)
                    return
            elif not self.narrowphase.is_due(p):
                return
        self.bodies.note_crossing(self.pairs.at[p].first)
        self.bodies.note_crossing(self.pairs.at[p].second)
        if self.pairs.has_contact(p):
            self.pairs.part(p)
            self.log.note_image(p)
            self.contacts.forget_former(p)
            self.event_buffer.add_contact(
                ENDED, WITHIN, self.narrowphase.now, self.queue.at[p].low, self.queue.at[p].high,
                self.pairs.impact[p].axis, self.pairs.impact[p].sign, CROSSING, SEPARATED,
            )  # fmt: skip
            self.pairs.impact[p].began = -1.0
            if self.pairs.at[p].state == CROSS_UNTIL_APART:
                self.close(p)
            return
        self.log.add(p, CROSSED)
        if not self.pairs.had_contact(
            p
        ):  # pragma: no branch: but for what was about to enter before
            self.log.add_entry(p)
        self.enter(p)

    @may_raise
    def enter(self, p: cython.Py_ssize_t) -> cython.void:
        """Let the bodies of a crossing pair be inside each other, and queue when they leave."""
        self.pairs.enter(p)
        self.pairs.impact[p].began = self.narrowphase.now
        self.narrowphase.aim(p)
        self.narrowphase.sweeper.solve()
        self.narrowphase.sweep_crossing(p, self.narrowphase.sweeper.kind)

    @may_raise
    def close(self, p: cython.Py_ssize_t) -> cython.void:
        """Let a pair whose bodies have separated be what its bodies make it again."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        self.pairs.close(p, self.contacts.broadphase.state_of(i, j))
        self.narrowphase.sweep_again(p)
