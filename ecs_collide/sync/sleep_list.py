"""Who sleeps: what falls asleep after a step, and what wakes before anything is computed.

To wake a body never changes a result, only what a step costs.  So whatever
might concern a body that sleeps wakes it: something new about itself, a
contact that is taken from it, something new about a body beside it that does not move.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.constants import PUSH_OUT, SEPARATE
from ecs_collide.motion.columns import Columns

Rows = NDArray[np.int64]

_NO_ROWS: Rows = np.zeros(0, np.int64)

CALM = 8  # steps at rest after which a body may fall asleep
EVERY = 8  # in one of so many steps they do: together, since trees take many at once better


class Sleep:
    """The bodies of a roster that sleep.

    Attributes
    ----------
    wanted : bool
        Whether any may.
    filed : list of int
        Rows of bodies that have other components since the last step.
    disturbed : list of int
        Rows of bodies that are in contact with those who sleep in another way now.
    """

    def __init__(self, columns: Columns, timeline: Any) -> None:
        self._columns = columns
        self._timeline = timeline
        self.wanted = True
        self.filed: list[int] = []
        self.disturbed: list[int] = []

    def use(self, timeline: Any) -> None:
        """Let bodies sleep in another timeline from now on, in which nobody does."""
        self._timeline = timeline
        self.forget()

    def forget(self) -> None:
        """Forget what was to be looked at."""
        self.filed.clear()
        self.disturbed.clear()

    @property
    def n(self) -> int:
        """How many bodies sleep."""
        n: int = self._timeline.sleepers.n
        return n

    def wake(self, rows: Iterable[int]) -> bool:
        """Wake those of `rows` who sleep; tell whether there are any."""
        return len(self.wake_with_islands(rows)) > 0

    def wake_with_islands(self, rows: Iterable[int]) -> Rows:
        """Wake those of `rows` who sleep, each with all of its island; return who has woken."""
        c = self._columns
        if self.n == 0:
            return _NO_ROWS
        found = np.array(sorted({row for row in rows if c.asleep[row]}), np.int64)
        if c.leans[found].any():
            islands = c.island[found[c.leans[found] != 0]]
            found = np.union1d(found, np.flatnonzero((c.leans != 0) & np.isin(c.island, islands)))
        if len(found):
            self._timeline.sleepers.wake(found.data)
        return found

    def wake_all(self, rows: Rows) -> bool:
        """Wake everybody, and forget what was to be looked at; tell whether anybody slept."""
        self._timeline.bodies.take_roused()
        self._timeline.contacts.left.clear()
        self.forget()
        return self.n > 0 and self.wake(rows[self._columns.asleep[rows] != 0].tolist())

    def take_roused(self) -> Rows:
        """Return the rows of those that the step has reached: it is to write them too."""
        rows: list[int] = self._timeline.bodies.take_roused()
        return np.array(sorted(rows), np.int64)

    def wake_roused(self, rows: Rows) -> bool:
        """Wake those that a step has reached; tell whether there are any."""
        self.disturbed += rows[self._columns.yields[rows] == 0].tolist()
        return self.wake(rows.tolist())

    def wake_held(self) -> bool:
        """Wake those who have lost a contact, or whose hold is another now."""
        left = self._timeline.contacts.left
        rows = np.array(self.disturbed + self.filed, np.int64)
        found = left + self._timeline.sleepers.held_by(rows.data)
        left.clear()
        self.disturbed.clear()
        return self.wake(found)

    def wake_near(self, placed: Rows) -> bool:
        """Wake those who sleep where a body that does not move is new, or another."""
        rows = np.array(self.filed, np.int64)
        self.filed.clear()
        rows = np.union1d(placed, rows[self._columns.moves[rows] == 0])
        return self.wake(self._timeline.sleepers.near(rows.data))

    def fall(self, moving: Rows, step: int, driving: bool) -> bool:
        """Let those who have rested for long fall asleep; tell whether there are any.

        After a step that has settled, and had room for all pairs.

        Parameters
        ----------
        moving : int64 (n,)
            The rows of those that moved in the step.
        step : int
            Its number.
        driving : bool
            Whether the game drives bodies, and their velocity is not what moves them.
        """
        if not self.wanted or step % EVERY or self._timeline.candidates.is_crowded:
            return False
        if self._timeline.candidates.judge is not None or self._timeline.bodies.wraps:
            return False
        if self._timeline.gravity.is_on and self._timeline.bodies.dt == 0.0:
            return False  # nobody falls in such a step, so it does not show who is held
        c = self._columns
        rows = moving[c.calm[moving] >= CALM]
        if not len(rows):
            return False
        rests = (c.bad[rows] == 0) & (c.moves[rows] != 0) & (c.driven[rows] == 0)
        # A way out may open anywhere, and another member of a crowd may come.
        rests &= c.traits[rows] & (PUSH_OUT | SEPARATE) == 0
        rests &= (c.growth[rows] == 0.0).all(axis=1)
        if not driving:
            rests &= (c.velocity[rows] == 0.0).all(axis=1)
        rows = np.array(self._timeline.sleepers.choose(rows[rests].data), np.int64)
        if len(rows):
            self._timeline.sleepers.lay_down(rows.data)
        return len(rows) > 0
