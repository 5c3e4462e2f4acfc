"""Sleeping bodies: which fall asleep after a step, and which wake before one.

Waking a body never changes a result, only the cost of a step.  So a sleeping body wakes for every
change that might concern it: to itself, to its contacts, or to a still body beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.arrays import are_among, first_of_each, union
from ecs_collide._kernel.constants import News, Trait
from ecs_collide.motion.body_table import BodyTable
from ecs_collide.sync.seen import (
    DISTURBED,
    LOST,
    MAY_WAKE,
    NO_ROWS,
    PUT,
    SLEEPER,
    none_of,
    read_leans,
    saved_leans,
)

RowArray = NDArray[np.int64]


_NO_SLEEPERS, _NONE_MAY_WAKE = none_of(SLEEPER), none_of(MAY_WAKE)

STEPS_TO_SLEEP = 8  # steps at rest after which a body may fall asleep
EVERY = 8  # bodies fall asleep in every 8th step: inserting many boxes at once is faster


class Sleep:
    """The sleeping bodies of a registry."""

    def __init__(self, table: BodyTable, lists: Any, timeline: Any) -> None:
        self._table = table
        self._timeline = timeline
        self.wanted = True  # whether any body may sleep
        self.altered: list[int] = lists.altered
        self.disturbed: list[int] = lists.disturbed

    def use(self, timeline: Any) -> None:
        """Use another timeline, in which all bodies are awake."""
        self._timeline = timeline
        self.forget()

    def forget(self) -> None:
        """Clear the lists of bodies to examine."""
        self.altered.clear()
        self.disturbed.clear()

    @property
    def n(self) -> int:
        """The number of sleeping bodies."""
        n: int = self._timeline.sleeping.n
        return n

    def wake(self, rows: Iterable[int]) -> bool:
        """Wake the sleeping bodies of `rows`; return whether any woke."""
        return len(self.wake_with_islands(rows)) > 0

    def wake_with_islands(self, rows: Iterable[int]) -> RowArray:
        """Wake the sleeping bodies of `rows`, each with its island; return the rows that woke."""
        c = self._table
        if self.n == 0:
            return NO_ROWS
        found = np.array(sorted({row for row in rows if c.asleep[row]}), np.int64)
        if c.leans[found].any():
            islands = c.island[found[c.leans[found] != 0]]
            leaning = np.flatnonzero((c.leans != 0) & are_among(c.island, islands))
            found = union(found, leaning)
        if len(found):
            self._timeline.sleeping.wake(found.data)
        return found

    def wake_all(self, rows: RowArray) -> bool:
        """Wake all bodies and clear the lists of bodies to examine; return whether any slept."""
        self._timeline.bodies.pop_woken()
        self._timeline.contacts.left.clear()
        self.forget()
        return self.n > 0 and self.wake(rows[self._table.asleep[rows] != 0].tolist())

    def pop_woken(self) -> RowArray:
        """Return the rows of sleeping bodies that the step has reached; it writes them too."""
        rows: list[int] = self._timeline.bodies.pop_woken()
        return np.array(sorted(rows), np.int64) if rows else NO_ROWS

    def wake_reached(self, rows: RowArray) -> bool:
        """Wake the bodies that a step has reached; return whether any woke."""
        self.disturbed += rows[self._table.dynamic[rows] == 0].tolist()
        return self.wake(rows.tolist())

    def wake_held(self) -> bool:
        """Wake bodies that have lost a contact or whose support has changed."""
        left = self._timeline.contacts.left
        if self.n == 0:
            left.clear()
            self.disturbed.clear()
            return False
        rows = np.array(self.disturbed + self.altered, np.int64)
        found = left + self._timeline.sleeping.held_by(rows.data)
        left.clear()
        self.disturbed.clear()
        return self.wake(found)

    def wake_near(self, placed: RowArray) -> bool:
        """Wake bodies beside a still body that is new or has changed."""
        rows = np.array(self.altered, np.int64)
        rows = union(placed, rows[self._table.moves[rows] == 0])
        return self.wake(self._timeline.sleeping.near(rows.data))

    def fall(self, moving: RowArray, step: int, driving: bool) -> bool:
        """Put the bodies of `moving` to sleep that have rested for long; return whether any fell asleep.

        `step` is the number of a step that was resolved and written.  With `driving`, bodies do not
        move by their velocities, so a velocity does not prevent sleep.
        """
        if not self.wanted or step % EVERY or self._timeline.broadphase.is_crowded:
            return False
        if self._timeline.broadphase.pair_filter is not None or self._timeline.bodies.wraps:
            return False
        if self._timeline.gravity.is_on and self._timeline.bodies.dt == 0.0:
            return False  # no body falls in such a step, so it does not show which have support
        c = self._table
        rows = moving[(c.rest_count[moving] >= STEPS_TO_SLEEP) & (c.interrupted[moving] == 0)]
        if not len(rows):
            return False
        rests = (c.bad[rows] == 0) & (c.moves[rows] != 0) & (c.driven[rows] == 0)
        # `PushOut` and `Separate` may move a body although nothing near it has changed.
        rests &= c.traits[rows] & (Trait.PUSH_OUT | Trait.SEPARATE) == 0
        rests &= (c.growth[rows] == 0.0).all(axis=1)
        if not driving:
            rests &= (c.velocity[rows] == 0.0).all(axis=1)
        rows = np.array(self._timeline.sleeping.choose(rows[rests].data), np.int64)
        if len(rows):
            self._timeline.sleeping.put_to_sleep(rows.data)
        return len(rows) > 0

    # -- snapshots --

    def sleeping_rows(
        self, rows: RowArray, put: Collection[int]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the sleeping bodies among `rows`, and the bodies that the next step must examine.

        `put` are rows of bodies that `Space.teleport` or `Space.move` has placed.
        """
        if self.n == 0 and not put:
            return _NO_SLEEPERS, _NONE_MAY_WAKE
        c = self._table
        places = np.flatnonzero(c.asleep[rows])
        sleeping, why = none_of(SLEEPER, len(places)), np.zeros(len(rows), np.uint8)
        if len(places):
            some = rows[places]
            sleeping["body"] = places
            sleeping["leans"], sleeping["held"] = saved_leans(c.leans[some]), c.held[some]
            leans = c.leans[some] != 0
            sleeping["island"][leans] = places[leans][first_of_each(c.island[some[leans]])]
        left = self._timeline.contacts.left
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
        self, rows: RowArray, sleeping: NDArray[np.void], may_wake: NDArray[np.void]
    ) -> RowArray:
        """Put bodies of `rows` to sleep again, as `sleeping_rows` described them; return their rows.

        No body may sleep before the call, and all must be at their seen places.
        """
        c = self._table
        some: RowArray = rows[sleeping["body"]]
        # Only moving bodies can sleep.  A body that is not cached yet may have changed.
        able = (c.moves[some] != 0) & (c.disabled[some] == 0) & (c.attached[some] == 0)
        able |= c.n_cached[some] < 0
        # Bodies known to have invalid numbers do not sleep either.
        able &= (c.bad[some] == 0) | (c.news[some] & News.UNCHECKED != 0)
        some, sleeping = some[able], sleeping[able]
        c.leans[some], c.held[some] = read_leans(sleeping["leans"]), sleeping["held"]
        c.island[some] = sleeping["island"].astype(np.int64) + 1
        if len(some):
            self._timeline.sleeping.recover(some.data)
        self.forget()
        left = self._timeline.contacts.left
        left.clear()
        left += rows[may_wake["body"][may_wake["why"] & LOST != 0]].tolist()
        self.disturbed += rows[may_wake["body"][may_wake["why"] & DISTURBED != 0]].tolist()
        return some
