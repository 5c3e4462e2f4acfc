"""What a step overwrites, so that a step that is cut short leaves the components as they were.

The step that follows reads everything anew.  It finds what the game has changed by comparing the
components with the numbers of the last complete step, so these are put back too.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from typing import Any

import numpy as np

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import DOUBLE, LONG, grown, zeros
from ecs_collide._kernel.constants import News
from ecs_collide.sync.body_lists import BodyLists

LARGE: cython.Py_ssize_t = 1024  # rows for which there is always room
KIND = 0
CODE = 1


@cython.final
class Undo:
    """The bodies before the step under way, and the numbers that it has overwritten since."""

    bodies: ReadOnly[tuple]  # `BodyLists.saved`
    put: ReadOnly[tuple]  # as in `BodyLists`, like the next one
    moves: ReadOnly[dict]
    kinds: list  # of `ComponentReader`
    # Of each row of seen numbers that was overwritten, in order: the index of its kind, and its row,
    # or -1 - row if a response may have changed the component.
    rows: cython.longlong[:, ::1]  # (n or more, 2)
    numbers: cython.double[:, ::1]  # (n or more, 3)
    n: cython.Py_ssize_t
    others: ReadOnly[list]  # of other columns: the object and the name of each, rows, numbers
    # The bodies whose components the step writes at its end, and the bindings that have stored all
    # of their numbers before that.
    writing: Public[cython.longlong[::1]]
    stored: ReadOnly[list]

    def __init__(self, kinds: list):
        self.kinds = kinds
        self.rows = zeros(LONG, 8, 2)
        self.numbers = zeros(DOUBLE, 8, 3)
        self.others = []
        self.writing = zeros(LONG, 0)
        self.stored = []

    def begin_step(self, lists: BodyLists) -> cython.void:
        """Forget the last step, and store which bodies there are."""
        if self.rows.shape[0] > LARGE and 8 * self.n < self.rows.shape[0]:
            self.n = 0
            self.rows = zeros(LONG, 8, 2)  # first, as its length tells how much room there is
            self.numbers = zeros(DOUBLE, 8, 3)
        self.n = 0
        self.others.clear()
        self.stored.clear()
        self.bodies = lists.saved()
        if not lists.is_reported:  # after a restore: bodies that no step has read are new again
            is_known = np.asarray(lists.bodies.news)[lists.rows] & News.NEW == 0
            self.bodies = lists.entities[is_known], lists.rows[is_known]
        self.put, self.moves = tuple(lists.put), lists.moves

    def make_room(self) -> cython.void:
        """Make room in `numbers` for the row `n`, which the caller fills before `add`."""
        if self.n == self.rows.shape[0]:
            # The rows last, as their length tells how much room there is.
            self.numbers = grown(self.numbers, 2 * self.n)
            self.rows = grown(self.rows, 2 * self.n)

    def add(self, kind: cython.Py_ssize_t, code: cython.Py_ssize_t) -> cython.void:
        """Add what was seen of a row, as in `rows`."""
        self.rows[self.n, KIND] = kind
        self.rows[self.n, CODE] = code
        self.n += 1

    @cython.ccall
    def keep(self, part: object, name: Any, rows: Any) -> cython.int:
        """Store rows of a column before they are overwritten."""
        column: Any = getattr(part, name)
        self.others.append((part, name, rows, np.array(np.asarray(column)[rows])))
        return 0

    def put_back(self):
        """Put back all numbers; it can be called again if it is interrupted."""
        for kind in self.stored:
            kind.put_back_all(self.writing)
        for n in range(self.n - 1, -1, -1):
            i: cython.Py_ssize_t = self.rows[n, CODE]
            self.kinds[self.rows[n, KIND]].put_back(
                -1 - i if i < 0 else i, self.numbers, n, i < 0, True
            )
        for part, name, rows, before in reversed(self.others):
            np.asarray(getattr(part, name))[rows] = before
