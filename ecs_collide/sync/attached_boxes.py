"""The attached boxes of a step: their owners, and where they start.

A box takes part in a step if its owner does.  It starts at the centre of its owner plus the offset
of the last step.  If it was left somewhere else, it was teleported or its owner has moved it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import BYTE, DOUBLE, LONG, zeros
from ecs_collide._kernel.constants import SAME_FRAME, Exclusion, News
from ecs_collide.motion.attachments import Attachments
from ecs_collide.motion.bodies import Bodies
from ecs_collide.sync.body_lists import BodyLists
from ecs_collide.sync.plain_numbers import nearest_widths
from ecs_collide.sync.undo import Undo


@cython.final
class AttachedBoxes:
    """The attached boxes of a world."""

    bodies: Bodies
    lists: BodyLists
    undo: Undo
    n_out: ReadOnly[cython.Py_ssize_t]  # how many boxes the step skips
    # The boxes of `lists.attached` before their components are read: centres and offsets (n, dim),
    # and whether the last step skipped them.
    left: cython.double[:, ::1]
    offsets: cython.double[:, ::1]
    was_out: cython.schar[::1]
    # The boxes that the present step moves: rows of the boxes and of their owners (n,); their
    # centres at its start, in world units, and their offsets at its start and its end (n, dim)
    n: cython.Py_ssize_t
    rows: cython.longlong[::1]
    owners: cython.longlong[::1]
    starts: cython.double[:, ::1]
    offset: cython.double[:, ::1]
    target: cython.double[:, ::1]
    # What `attach` has found for the registry to act on.
    refused: ReadOnly[list]  # (box, owner or -1): without a valid owner since this step
    skipped: ReadOnly[list]  # (box, is_disabled): since this step, like the owner
    jumped: ReadOnly[list]  # (box, owner): not where the last step left them

    def __init__(self, bodies: Bodies, lists: BodyLists, undo: Undo):
        self.bodies = bodies
        self.lists = lists
        self.undo = undo
        self.refused = []
        self.skipped = []
        self.jumped = []
        self._make_room(1)

    def _make_room(self, n: cython.Py_ssize_t):
        self.left = zeros(DOUBLE, n, self.bodies.dim)
        self.offsets = zeros(DOUBLE, n, self.bodies.dim)
        self.was_out = zeros(BYTE, n)
        self.rows, self.owners = zeros(LONG, n), zeros(LONG, n)
        self.starts = zeros(DOUBLE, n, self.bodies.dim)
        self.offset = zeros(DOUBLE, n, self.bodies.dim)
        self.target = zeros(DOUBLE, n, self.bodies.dim)

    @property
    def taking_part(self) -> NDArray[np.int64]:
        """The rows of the boxes that the present step moves, int64 (n,)."""
        return np.asarray(self.rows)[: self.n]

    @property
    def starting(self) -> NDArray[np.float64]:
        """The centres of these boxes at its start, in world units, float64 (n, dim)."""
        return np.asarray(self.starts)[: self.n]

    @cython.ccall
    def clear(self) -> cython.void:
        """Remove all boxes from the step."""
        self.n = self.n_out = 0

    @cython.ccall
    def remember(self) -> cython.void:
        """Store the centres and offsets of the boxes, before their components are read."""
        b: Bodies = self.bodies
        boxes: cython.longlong[::1] = self.lists.attached

        if self.left.shape[0] < boxes.shape[0]:
            self.n = 0
            self._make_room(2 * boxes.shape[0])
        for m in range(boxes.shape[0]):
            self.was_out[m] = b.quarantined[boxes[m]]
            for k in range(b.dim):
                self.left[m, k] = b.seen_centre[boxes[m], k]
                self.offsets[m, k] = b.seen_offset[boxes[m], k]

    @cython.ccall
    def attach(self, attachments: Attachments) -> cython.bint:
        """Attach the boxes to their owners for this step, if there are any; detach the last ones.

        Return whether there is anything for the registry to act on.
        """
        b: Bodies = self.bodies
        boxes: cython.longlong[::1] = self.lists.attached

        attachments.clear()
        self.clear()
        self.refused.clear()
        self.skipped.clear()
        self.jumped.clear()
        for m in range(boxes.shape[0]):
            i: cython.Py_ssize_t = boxes[m]
            if b.quarantined[i]:  # because of the box's own numbers
                self.n_out += 1
                continue
            j: cython.Py_ssize_t = self.lists.row_of.find(int(b.seen_owner[i, 0]))
            if j < 0 or b.attached[j]:
                self._leave_out(i, Exclusion.INVALID)
                if self.was_out[m] != Exclusion.INVALID:
                    self.refused.append((i, j))
            elif b.quarantined[j]:
                self._leave_out(i, Exclusion.DISABLED)
                if self.was_out[m] == 0:
                    self.skipped.append((i, b.quarantined[j] == Exclusion.DISABLED))
            elif self._start(m, i, j):
                self.jumped.append((i, j))
        attachments.set(self.rows, self.owners, self.offset, self.target, self.n)
        return self.n_out > 0 or len(self.jumped) > 0

    def _leave_out(self, i: cython.Py_ssize_t, why: cython.int) -> cython.void:
        """Leave a box out of the step."""
        self.undo.keep(self.bodies, "quarantined", i)
        self.bodies.quarantined[i] = why
        self.bodies.news[i] = 0  # it counts as new when its owner is back
        self.n_out += 1

    def _start(
        self, m: cython.Py_ssize_t, i: cython.Py_ssize_t, j: cython.Py_ssize_t
    ) -> cython.bint:
        """Start box `m`, in row i, at its owner in row j; return whether the last step left it elsewhere."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t = self.n
        is_new: cython.bint = b.news[i] & News.NEW != 0
        jumped: cython.bint = False

        for k in range(b.dim):
            offset: cython.double = b.seen_offset[i, k] if is_new else self.offsets[m, k]
            start: cython.double = b.centre[j, k] + offset
            start = b.into_world(k, start)
            size: cython.double = max(abs(b.centre[j, k]), abs(offset), b.width[k])
            displacement: cython.double = start - self.left[m, k]
            displacement -= nearest_widths(displacement, b.width[k])
            jumped |= abs(displacement) > SAME_FRAME * size
            self.starts[n, k] = start
            self.offset[n, k] = offset
            self.target[n, k] = b.seen_offset[i, k]
        self.rows[n] = i
        self.owners[n] = j
        self.n = n + 1
        return jumped and not is_new
