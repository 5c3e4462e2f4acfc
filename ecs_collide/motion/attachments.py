"""Boxes that move with other bodies: hitboxes, feet, zones around a character.

An attached box takes no velocity from its components.  Its path in a step is its owner's path plus
an offset, so both bend at the same instants.  The offset changes linearly from its value before the
step to the value that the game has set since:

    x of the owner   o--------.                  a resolution turns the owner at 0.4,
                               `----------o      and the box in the same instant
    x of the box     x--------.
                               `----------x      the distance is the offset
    time             0       0.4          1

Owners' paths are computed before `start`; pairs are found after it.  A box never changes the path
of its owner.  Invariant: when a pair of a box is swept, the box follows its owner's current path.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from math import floor

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import DOUBLE, LONG, nones, zeros
from ecs_collide.motion.bodies import CENTRE, MOTION, Bodies


@cython.final
class Attachments:
    """The attached boxes that take part in a step."""

    bodies: Bodies
    n: ReadOnly[cython.Py_ssize_t]
    # (n,): the rows of the boxes, and of their owners
    rows: ReadOnly[cython.longlong[::1]]
    owners: ReadOnly[cython.longlong[::1]]
    # (n, dim): the offset from the owner's centre at the start and at the end of the step
    offset: ReadOnly[cython.double[:, ::1]]
    target: ReadOnly[cython.double[:, ::1]]
    # (n, dim): how much the offset changes within the step
    displacement: ReadOnly[cython.double[:, ::1]]
    # (n, dim): the whole widths, in world units, to subtract from owner's centre plus offset in a
    # world that wraps
    beyond: cython.double[:, ::1]
    head: cython.longlong[::1]  # (n_rows,): the last box of an owner, or -1
    next: cython.longlong[::1]  # (n,): the previous box of the same owner, or -1

    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.rows = zeros(LONG, 1)
        self.owners = zeros(LONG, 1)
        self.offset = zeros(DOUBLE, 1, bodies.dim)
        self.target = zeros(DOUBLE, 1, bodies.dim)
        self.displacement = zeros(DOUBLE, 1, bodies.dim)
        self.beyond = zeros(DOUBLE, 1, bodies.dim)
        self.head = nones(1)
        self.next = zeros(LONG, 1)

    def clear(self) -> cython.void:
        """Detach all boxes."""
        for n in range(self.n):
            self.head[self.owners[n]] = self.bodies.rare.owner[self.rows[n]] = -1
        self.n = 0

    def set(
        self,
        rows: cython.longlong[::1],
        owners: cython.longlong[::1],
        offset: cython.double[:, ::1],
        target: cython.double[:, ::1],
        n_boxes: cython.Py_ssize_t,
    ) -> cython.void:
        """Attach the first `n_boxes` of `rows` for the next step, after `clear`; see the fields."""
        if n_boxes == 0:
            return
        if self.head.shape[0] < self.bodies.centre.shape[0]:
            self.head = nones(self.bodies.centre.shape[0])
        self.rows = rows
        self.owners = owners
        self.offset = offset
        self.target = target
        if self.next.shape[0] < n_boxes:
            self.displacement = zeros(DOUBLE, 2 * n_boxes, self.bodies.dim)
            self.beyond = zeros(DOUBLE, 2 * n_boxes, self.bodies.dim)
            self.next = zeros(LONG, 2 * n_boxes)
        self.n = n_boxes
        if not self.bodies.rare.any_owner:
            self.bodies.rare.clear_owners()
            self.bodies.rare.any_owner = True
        for n in range(self.n):
            i: cython.Py_ssize_t = owners[n]
            self.next[n] = self.head[i]
            self.head[i] = n
            self.bodies.rare.owner[rows[n]] = i
            for k in range(self.bodies.dim):
                self.displacement[n, k] = target[n, k] - offset[n, k]

    @cython.ccall
    def start(self) -> cython.void:
        """Place all boxes at the start of a step, and find their paths from their owners'."""
        b: Bodies = self.bodies

        for n in range(self.n):
            i: cython.Py_ssize_t = self.rows[n]
            j: cython.Py_ssize_t = self.owners[n]
            of: cython.Py_ssize_t = b.n_path * j
            moves: cython.bint = b.moves[j] != 0
            b.base[i] = 0.0
            b.end_rest(i)  # it never sleeps, because its owner may be woken within a step
            for k in range(b.dim):
                displacement: cython.double = self.displacement[n, k]
                place: cython.double = b.path[of + 4 * k + CENTRE] + self.offset[n, k] + 0.0
                self.beyond[n, k] = b.widths_beyond(k, place) * b.width[k]
                b.put(i, k, b.into_world(k, place))
                b.velocity[i, k] = b.velocity_met(j, k) if moves else 0.0
                if displacement != 0.0 and b.dt > 0.0:
                    b.velocity[i, k] = b.velocity[i, k] + displacement / b.dt
                displacement += b.path[of + 4 * k + MOTION] if moves else 0.0
                b.set_motion(i, k, displacement)
            b.find_swept_bounds(i)

    def follow(self, n: cython.Py_ssize_t) -> cython.bint:
        """Update the path of a box from its owner's path; return whether it has changed."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.rows[n]
        j: cython.Py_ssize_t = self.owners[n]
        at: cython.Py_ssize_t = b.n_path * i
        of: cython.Py_ssize_t = b.n_path * j
        t: cython.double = b.base[j]
        changed: cython.bint = False

        for k in range(b.dim):
            changed |= b.path[at + 4 * k + MOTION] != (
                b.path[of + 4 * k + MOTION] + self.displacement[n, k] + 0.0
            )
            changed |= b.centre_at(i, k, t) != self.place(n, k, b.path[of + 4 * k + CENTRE], t)
        if not changed:
            return False
        b.advance(i, t)
        for k in range(b.dim):
            b.start_path_at(i, k, self.place(n, k, b.path[of + 4 * k + CENTRE], t))
            b.set_motion(i, k, b.path[of + 4 * k + MOTION] + self.displacement[n, k])
            b.velocity[i, k] = b.velocity_met(j, k)
            if self.displacement[n, k] != 0.0 and b.dt > 0.0:
                b.velocity[i, k] = b.velocity[i, k] + self.displacement[n, k] / b.dt
        b.note_turn(i)
        return True

    def place(
        self, n: cython.Py_ssize_t, k: cython.int, owner: cython.double, t: cython.double
    ) -> cython.double:
        """Return a box's centre on an axis at time `t` if `owner` is the centre of its owner."""
        offset: cython.double = self.offset[n, k]

        if self.displacement[n, k] != 0.0:
            offset += self.displacement[n, k] * t
        return owner + offset - self.beyond[n, k] + 0.0

    def follow_turned(self, i: cython.Py_ssize_t) -> cython.void:
        """Update the path of row i if it is an attached box and its owner has turned."""
        b: Bodies = self.bodies
        j: cython.Py_ssize_t = b.rare.owner[i] if self.n else -1

        if j < 0 or not b.is_marked[j]:
            return
        n: cython.Py_ssize_t = self.head[j]
        while self.rows[n] != i:
            n = self.next[n]
        self.follow(n)

    def lead(self, j: cython.Py_ssize_t) -> cython.void:
        """Update the paths of all boxes of the body in row j."""
        n: cython.Py_ssize_t = self.head[j] if self.n else -1

        while n >= 0:
            self.follow(n)
            n = self.next[n]

    def lead_turned(self) -> cython.void:
        """Update the paths of the boxes of all bodies that have turned."""
        n_turned: cython.Py_ssize_t = self.bodies.n_turned if self.n else 0

        for n in range(n_turned):
            self.lead(self.bodies.turned[n])

    def arrive(self) -> cython.void:
        """Place all boxes at the end of the step, when their owners have been placed."""
        b: Bodies = self.bodies

        for n in range(self.n):
            for k in range(b.dim):
                b.put(self.rows[n], k, self._end(n, k) - self.beyond[n, k])

    def _end(self, n: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the centre of a box's owner plus the offset at the end of the step."""
        return self.bodies.centre[self.owners[n], k] + self.target[n, k] + 0.0

    def bring_in(self, n: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Bring a box into the world on an axis; return how many whole widths it was outside."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.rows[n]
        before: cython.double = b.centre[i, k]

        b.put(i, k, b.into_world(k, self._end(n, k)))
        return floor((before - b.centre[i, k]) / b.width[k] + 0.5)
