"""The impulses of walls that a body meets at one instant on one side: they share them by width.

The body is resolved once, with the first of them, and the others find it stopped already.  A *wall*
here is what the impact does not change: a static, kinematic or locked body.
"""

from __future__ import annotations

from ecs_collide._kernel import ReadOnly, cython, struct
from ecs_collide._kernel.arrays import INT, grown, zeros
from ecs_collide._kernel.constants import OutcomeCode
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.faces import axis_of, face_of_normal
from ecs_collide.narrowphase.event_buffer import OUTCOME, EventBuffer
from ecs_collide.narrowphase.step import Step
from ecs_collide.narrowphase.sweep_test import IMPACT


@cython.inline
@struct
class WallImpact:
    """An impact of a body with a wall."""

    event: cython.int  # its row in the log
    pair: cython.int
    row: cython.int  # of the body
    face: cython.int  # that the wall meets, as the normal of the impact; see `motion/faces.py`
    previous: cython.int  # another impact of the body, or -1


@cython.final
class SharedImpulses:
    """The impacts with walls of an instant."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    buffer: EventBuffer
    n: ReadOnly[cython.Py_ssize_t]
    any_stopped: cython.bint  # whether one was stopped already by another impact
    impacts: cython.pointer[WallImpact]
    memory: StructMemory
    last_of: cython.int[::1]  # (n_rows or fewer,): the last impact of a body, plus 1, or 0

    def __init__(self, step: Step):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.buffer = step.event_buffer
        self.last_of = zeros(INT, 1)
        self.memory = StructMemory()
        self._grow(8)

    def _grow(self, room: cython.Py_ssize_t) -> cython.void:
        """Make room for more impacts."""
        self.impacts = cython.cast(
            cython.pointer(WallImpact), self.memory.grow(cython.sizeof(WallImpact), room)
        )

    def clear(self) -> cython.void:
        """Forget the impacts, of an instant or of a step that was interrupted."""
        for n in range(self.n):
            self.last_of[self.impacts[n].row] = 0
        self.n = 0
        self.any_stopped = False

    def add(self, p: cython.Py_ssize_t, event: cython.Py_ssize_t) -> cython.void:
        """Add the impact of a pair, if it is one of a body and a wall that meet at their faces."""
        n: cython.Py_ssize_t = self.n
        i: cython.Py_ssize_t = self.pairs.who_meets_wall(p, self.bodies)
        face: cython.int = face_of_normal(self.pairs.impact[p].axis, self.pairs.impact[p].sign)

        if i < 0 or face == 0 or self.pairs.impact[p].kind != IMPACT:
            return
        if i != self.pairs.at[p].first:
            face = -face
        if i >= self.last_of.shape[0]:
            self.last_of = grown(self.last_of, self.bodies.capacity)
        if n >= self.memory.room:
            self._grow(2 * n)
        self.n = n + 1
        self.impacts[n].event = event
        self.impacts[n].pair = p
        self.impacts[n].row = i
        self.impacts[n].face = face
        self.impacts[n].previous = self.last_of[i] - 1
        self.last_of[i] = n + 1
        self.any_stopped |= self.buffer.codes[event, OUTCOME] == OutcomeCode.STOPPED_ALREADY

    @cython.inline
    def end_instant(self) -> cython.void:
        """Let the impacts of the instant share their impulses."""
        if self.any_stopped:
            for n in range(self.n):
                if self.buffer.codes[self.impacts[n].event, OUTCOME] != OutcomeCode.STOPPED_ALREADY:
                    self._share(n)
        if self.n:
            self.clear()

    def _share(self, n: cython.Py_ssize_t) -> cython.void:
        """Let the impacts that one has stopped have their parts of its impulse."""
        own: cython.double = self._width(n)
        whole: cython.double = own
        impulse: cython.double = self.buffer.impulse[self.impacts[n].event]
        other: cython.Py_ssize_t = self.last_of[self.impacts[n].row] - 1

        if impulse == 0.0:
            return
        while other >= 0:
            if self._is_stopped_by(other, n):
                whole += self._width(other)
            other = self.impacts[other].previous
        if whole == own:
            return
        other = self.last_of[self.impacts[n].row] - 1
        while other >= 0:
            if self._is_stopped_by(other, n):
                self.buffer.impulse[self.impacts[other].event] += (
                    impulse * self._width(other) / whole
                )
            other = self.impacts[other].previous
        self.buffer.impulse[self.impacts[n].event] = impulse * own / whole

    def _width(self, n: cython.Py_ssize_t) -> cython.double:
        """Return the width of the faces that meet, in 3D the area."""
        return self.pairs.width_at(
            self.impacts[n].pair, axis_of(self.impacts[n].face), self.step.now, self.bodies
        )

    def _is_stopped_by(self, other: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.bint:
        """Return whether impact `other` of a body was stopped by impact `n`, on the same side."""
        return (
            self.impacts[other].face == self.impacts[n].face
            and self.buffer.codes[self.impacts[other].event, OUTCOME] == OutcomeCode.STOPPED_ALREADY
        )
