"""Which bodies of a step lean on slopes, themselves or by others.

A slope turns a weight, so only bodies that lean on one share weights along two axes at once.  What no
slope bears goes on as in a world without slopes, whatever slopes there are, or have ever been.
"""

from __future__ import annotations

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import BYTE, LONG, grown, nones, zeros
from ecs_collide.motion.bodies import Bodies


@cython.final
class Leaning:
    """The bodies of a step that lean on slopes: by an impact with one, or with a body that leans.

    Bodies that impacts have connected in this step are a tree, and its root knows whether one of
    them has met the line of a slope.
    """

    bodies: Bodies
    is_on: cython.bint  # whether the step has weights and slopes; else no body leans
    n: ReadOnly[cython.Py_ssize_t]
    rows: cython.longlong[::1]  # (n or more,): the bodies in trees
    # by rows of bodies: the parent in the tree, of a root itself, or -1; of a root, whether its
    # tree leans
    parent: cython.longlong[::1]
    is_led: cython.schar[::1]

    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.rows = zeros(LONG, 1)
        self.parent = nones(1)
        self.is_led = zeros(BYTE, 1)

    def begin_step(self, any_weight: cython.bint) -> cython.void:
        """Forget all bodies, at the start of a step in which bodies may have weights."""
        for n in range(self.n):
            self.parent[self.rows[n]] = -1
        self.n = 0
        self.is_on = any_weight and self.bodies.rare.any_slope

    def meet_slope(self, i: cython.Py_ssize_t) -> cython.void:
        """Note that a body has met the line of a slope."""
        if self.is_on:
            root: cython.Py_ssize_t = self._root_of(i)  # first, as it may replace the arrays
            self.is_led[root] = 1

    def connect(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Note an impact of two bodies; one that is not dynamic passes nothing on."""
        if not (self.is_on and self.bodies.dynamic[i] and self.bodies.dynamic[j]):
            return
        root: cython.Py_ssize_t = self._root_of(i)
        other: cython.Py_ssize_t = self._root_of(j)

        self.parent[other] = root
        self.is_led[root] |= self.is_led[other]

    def leans(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body leans on a slope."""
        if i >= self.parent.shape[0] or self.parent[i] < 0:
            return False
        return self.is_led[self._root_of(i)] != 0

    def _root_of(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the root of the tree of a body, which may be new."""
        if i >= self.parent.shape[0]:
            self.rows = grown(self.rows, self.bodies.capacity)
            self.parent = grown(self.parent, self.bodies.capacity, -1)
            self.is_led = grown(self.is_led, self.bodies.capacity)
        if self.parent[i] < 0:
            self.parent[i] = i
            self.is_led[i] = 0
            self.rows[self.n] = i
            self.n += 1
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]  # half as far the next time
            i = self.parent[i]
        return i
