"""Sleeping bodies: which fall asleep after a step, and which wake before one.

Waking a body never changes a result, only the cost of a step.  So a sleeping body wakes for every
change that might concern it: to itself, to its contacts, or to a still body beside it.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import LONG, are_among, first_of_each
from ecs_collide._kernel.constants import News, Trait
from ecs_collide.motion.bodies import Bodies
from ecs_collide.sync.body_lists import BodyLists
from ecs_collide.sync.seen import (
    DISTURBED,
    LOST,
    MAY_WAKE,
    PUT,
    SLEEPER,
    none_of,
    read_leans,
    saved_leans,
)

no_sleepers, none_may_wake = none_of(SLEEPER), none_of(MAY_WAKE)

STEPS_TO_SLEEP = 8  # steps at rest after which a body may fall asleep
EVERY = 8  # bodies fall asleep in every 8th step: inserting many boxes at once is faster


@cython.final
class Sleep:
    """The sleeping bodies of a registry."""

    wanted: Public[cython.bint]  # whether any body may sleep
    altered: ReadOnly[list]
    disturbed: ReadOnly[list]
    bodies: Bodies
    table: Any  # `BodyTable`
    timeline: Any

    def __init__(self, table: Any, lists: BodyLists, timeline: Any):
        self.table = table
        self.bodies = table.bodies
        self.timeline = timeline
        self.wanted = True
        self.altered = lists.altered
        self.disturbed = lists.disturbed

    def use(self, timeline: Any) -> None:
        """Use another timeline, in which all bodies are awake."""
        self.timeline = timeline
        self.forget()

    @cython.ccall
    def forget(self) -> cython.void:
        """Clear the lists of bodies to examine."""
        self.altered.clear()
        self.disturbed.clear()

    @cython.ccall
    def n(self) -> cython.Py_ssize_t:
        """Return the number of sleeping bodies."""
        return self.timeline.sleeping.n

    @cython.ccall
    def wake(self, rows: list) -> list:
        """Wake the sleeping bodies of `rows` with their islands; return the rows that woke."""
        b: Bodies = self.bodies
        found: set = set()
        islands: set = set()

        if self.n() == 0:
            return []
        for row in rows:
            i: cython.Py_ssize_t = row
            if b.asleep[i]:
                found.add(i)
                if b.leans[i]:
                    islands.add(b.island[i])
        if islands:
            for row in np.flatnonzero(np.asarray(b.leans)).tolist():
                if b.island[row] in islands:
                    found.add(row)
        woken: list = sorted(found)
        if woken:
            self.timeline.sleeping.wake(np.array(woken, LONG).data)
        return woken

    @cython.ccall
    def wake_all(self, rows: NDArray[np.int64]) -> list:
        """Wake all bodies and clear the lists of bodies to examine; return the rows that woke."""
        self.timeline.bodies.pop_woken()
        self.timeline.contacts.left.clear()
        self.forget()
        return self.wake(rows[self.table.asleep[rows] != 0].tolist()) if self.n() else []

    @cython.ccall
    def wake_reached(self, rows: list) -> list:
        """Wake the bodies that a step has reached; return the rows that woke."""
        for row in rows:
            if not self.bodies.dynamic[row]:
                self.disturbed.append(row)
        return self.wake(rows)

    @cython.ccall
    def wake_held(self) -> list:
        """Wake bodies that have lost a contact or whose support has changed; return them."""
        left: list = self.timeline.contacts.left
        found: list = []

        if self.n():
            rows = np.array(self.disturbed + self.altered, LONG)
            found = left + self.timeline.sleeping.held_by(rows.data)
        left.clear()
        self.disturbed.clear()
        return self.wake(found)

    @cython.ccall
    def wake_near(self, placed: cython.longlong[::1]) -> list:
        """Wake bodies beside a still body that is new, or in `placed`, or has changed; return them."""
        stills: set = set(placed)

        for row in self.altered:
            if not self.bodies.moves[row]:
                stills.add(row)
        rows = np.array(sorted(stills), LONG)
        return self.wake(self.timeline.sleeping.near(rows.data))

    @cython.ccall
    def fall(
        self, moving: NDArray[np.int64], step: cython.longlong, driving: cython.bint
    ) -> cython.bint:
        """Put the bodies of `moving` to sleep that have rested for long; return whether any fell asleep.

        `step` is the number of a step that was resolved and written.  With `driving`, bodies do not
        move by their velocities, so a velocity does not prevent sleep.
        """
        timeline: Any = self.timeline
        c: Any = self.table

        if not self.wanted or step % EVERY or timeline.broadphase.is_crowded:
            return False
        if timeline.broadphase.pair_filter is not None or self.bodies.wraps:
            return False
        if self.bodies.dt == 0.0:
            return False  # no body falls in such a step, so it does not show which have support
        rows = moving[(c.rest_count[moving] >= STEPS_TO_SLEEP) & (c.interrupted[moving] == 0)]
        if not len(rows):
            return False
        rests = (c.bad[rows] == 0) & (c.moves[rows] != 0) & (c.driven[rows] == 0)
        # `PushOut` and `Separate` may move a body although nothing near it has changed.
        rests &= c.traits[rows] & (Trait.PUSH_OUT | Trait.SEPARATE) == 0
        rests &= (c.growth[rows] == 0.0).all(axis=1)
        if not driving:
            rests &= (c.velocity[rows] == 0.0).all(axis=1)
        rows = np.array(timeline.sleeping.choose(rows[rests].data), LONG)
        if len(rows):
            timeline.sleeping.put_to_sleep(rows.data)
        return len(rows) > 0

    # -- snapshots --

    def sleeping_rows(
        self, rows: NDArray[np.int64], put: Collection[int]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the sleeping bodies among `rows`, and the bodies that the next step must examine.

        `put` are rows of bodies that `Space.teleport` or `Space.move` has placed.
        """
        if self.n() == 0 and not put:
            return no_sleepers, none_may_wake
        c = self.table
        places = np.flatnonzero(c.asleep[rows])
        sleeping, why = none_of(SLEEPER, len(places)), np.zeros(len(rows), np.uint8)
        if len(places):
            some = rows[places]
            sleeping["body"] = places
            sleeping["leans"], sleeping["held"] = saved_leans(c.leans[some]), c.held[some]
            leans = c.leans[some] != 0
            sleeping["island"][leans] = places[leans][first_of_each(c.island[some[leans]])]
        left = self.timeline.contacts.left
        if len(places) and (left or self.disturbed):
            why[are_among(rows, left) & (c.asleep[rows] != 0)] |= LOST
            why[are_among(rows, self.disturbed)] |= DISTURBED
        if put:
            why[are_among(rows, list(put))] |= PUT
        found = np.flatnonzero(why)
        may_wake = none_of(MAY_WAKE, len(found))
        may_wake["body"], may_wake["why"] = found, why[found]
        return sleeping, may_wake

    def resume(
        self, rows: NDArray[np.int64], sleeping: NDArray[np.void], may_wake: NDArray[np.void]
    ) -> NDArray[np.int64]:
        """Put bodies of `rows` to sleep again, as `sleeping_rows` described them; return their rows.

        No body may sleep before the call, and all must be at their seen places.
        """
        c = self.table
        some: NDArray[np.int64] = rows[sleeping["body"]]
        # Only moving bodies can sleep.  A body that is not cached yet may have changed.
        able = (c.moves[some] != 0) & (c.disabled[some] == 0) & (c.attached[some] == 0)
        able |= c.n_cached[some] < 0
        # Bodies known to have invalid numbers do not sleep either.
        able &= (c.bad[some] == 0) | (c.news[some] & News.UNCHECKED != 0)
        some, sleeping = some[able], sleeping[able]
        c.leans[some], c.held[some] = read_leans(sleeping["leans"]), sleeping["held"]
        c.island[some] = sleeping["island"].astype(np.int64) + 1
        if len(some):
            self.timeline.sleeping.recover(some.data)
        self.forget()
        left = self.timeline.contacts.left
        left.clear()
        left += rows[may_wake["body"][may_wake["why"] & LOST != 0]].tolist()
        self.disturbed += rows[may_wake["body"][may_wake["why"] & DISTURBED != 0]].tolist()
        return some
