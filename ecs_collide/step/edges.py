"""Bring bodies back into a world that wraps, between `Timeline.finish` and the write-back."""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide.broadphase.broadphase import Broadphase
from ecs_collide.broadphase.images import one_width, whole
from ecs_collide.motion.attachments import Attachments
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.contacts_between_steps import Contacts
from ecs_collide.narrowphase.step import Step


@cython.final
class Edges:
    """The edges of a world that wraps; no body stays beyond them."""

    bodies: Bodies
    attachments: Attachments
    broadphase: Broadphase
    contacts: Contacts

    def __init__(self, step: Step, broadphase: Broadphase, contacts: Contacts):
        self.bodies = step.bodies
        self.attachments = step.attachments
        self.broadphase = broadphase
        self.contacts = contacts

    def bring_in(self, rows: cython.longlong[::1]):
        """Bring the bodies of `rows` that have left the world back into it.

        The images of present contacts are adjusted to the new positions.
        """
        shifts: cython.longlong[::1] = self.broadphase.images.shifts
        n_out: cython.Py_ssize_t = 0

        for n in range(rows.shape[0]):
            if not (self.bodies.rare.any_owner and self.bodies.rare.owner[rows[n]] >= 0):
                n_out += self._bring_body_in(rows[n], shifts)
        for n in range(self.attachments.n):
            n_out += self._bring_attached_in(n, shifts)
        if n_out == 0:
            return
        self.contacts.shift_images(shifts)
        for n in range(rows.shape[0]):
            shifts[rows[n]] = 0

    def _bring_body_in(self, i: cython.Py_ssize_t, shifts: cython.longlong[::1]) -> cython.bint:
        """Bring a body back into the world; return whether it had left it.

        The number of world widths by which it was moved is added to `shifts`.
        """
        b: Bodies = self.bodies
        is_out: cython.bint = False

        for k in range(b.dim):
            before: cython.double = b.centre[i, k]
            if b.width[k] > 0.0 and not 0.0 <= before < b.width[k]:
                is_out = True
                shifts[i] += whole(b.widths_beyond(k, before)) * one_width(k)
                b.put(i, k, b.into_world(k, before))
                self._move_swept(i, k, b.centre[i, k] - before)
        if is_out:
            self._renew(i)
        return is_out

    def _bring_attached_in(self, n: cython.Py_ssize_t, shifts: cython.longlong[::1]) -> cython.bint:
        """Bring the nth attached box into the world after its owner; return whether it moved."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.attachments.rows[n]
        is_out: cython.bint = False

        for k in range(b.dim):
            if b.width[k] == 0.0:
                continue
            before: cython.double = b.centre[i, k]
            number: cython.double = self.attachments.bring_in(n, k)
            if b.centre[i, k] != before:
                is_out = True
                shifts[i] += whole(number) * one_width(k)
                self._move_swept(i, k, b.centre[i, k] - before)
        if is_out:
            self._renew(i)
        return is_out

    def _move_swept(
        self, i: cython.Py_ssize_t, k: cython.int, distance: cython.double
    ) -> cython.void:
        """Move the swept bounds of a body on an axis."""
        self.bodies.swept_min[i, k] += distance
        self.bodies.swept_max[i, k] += distance

    def _renew(self, i: cython.Py_ssize_t) -> cython.void:
        """Write the swept bounds of a moved body into the tree."""
        c: Broadphase = self.broadphase

        b: Bodies = self.bodies
        c.moving.renew_path(i, b.flat_min, b.flat_max, b.flat_motion, c.margin, c.lookahead)
