"""The paths of falling bodies, and their velocities at an instant for the solver.

The velocity of a path is the mean velocity over the rest of a step; see `motion/gravity.py`.
`set_paths` runs before paths are computed.  Before a pair is resolved, the paths of its bodies are
split at that instant; if the pair crosses instead, they are joined again.
"""

from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide._kernel.arrays import DOUBLE, LONG, zeros
from ecs_collide._kernel.constants import ResponseCode
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import ACTS, ENDS, GOES_ON, Gravity
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.carriers import Carriers
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.supports import Supports


@cython.final
class Falling:
    """The split paths of falling bodies."""

    step: Step
    bodies: Bodies
    impact: ImpactState
    clusters: Clusters
    gravity: Gravity
    carriers: Carriers
    supports: Supports
    n_splits: cython.Py_ssize_t  # number of splits by the last `split`, each on one axis
    # (n_splits or more, 3): the row, or -1 if the game has set a velocity since; the axis; the old
    # `Gravity.held`
    split_of: cython.longlong[:, ::1]
    # (n_splits or more, 5): the velocity of the path before, and `pull`, `kick`, `since` and `own`
    # of `Gravity`
    joined: cython.double[:, ::1]

    def __init__(self, step: Step, impact: ImpactState, carriers: Carriers, supports: Supports):
        bodies: Bodies = step.bodies

        self.step = step
        self.bodies = bodies
        self.gravity = step.gravity
        self.impact = impact
        self.clusters = impact.clusters
        self.carriers = carriers
        self.supports = supports
        self.split_of = zeros(LONG, 2 * bodies.dim, 3)
        self.joined = zeros(DOUBLE, 2 * bodies.dim, 5)

    @cython.ccall
    def set_paths(self, rows: cython.longlong[::1]) -> cython.void:
        """Give the bodies of `rows` that fall or are damped the velocities of their paths.

        Gravity and damping act on a rider's own velocity, not on its carrier's.
        """
        b: Bodies = self.bodies
        c: Carriers = self.carriers

        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if not self.gravity.start(i):
                continue
            for k in range(b.dim):
                if c.rides(i):
                    c.note_fall(i, k)
                else:
                    self.gravity.start_path(i, k)

    def split(self, rubs: cython.bint) -> cython.bint:
        """Split the paths of the two bodies of the impact now; return whether one bends.

        One that stands on a wall on the other side stays held.

        Includes the other axes at a slope, if the bodies rub, if a resolution may change velocities
        along the surface, and of a body that leans on a slope.  What is held on one of them stays held
        until something turns it there, see `Clusters.turn_freely`; else its support would bear it,
        and rub, again.
        """
        m: ImpactState = self.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        bends: cython.bint = False
        turns: cython.bint = m.slants or rubs or self._turns(i) or self._turns(j)
        leans: cython.bint = self.step.leaning.leans(i) or self.step.leaning.leans(j)

        self.n_splits = 0
        for axis in range(self.bodies.dim if turns or leans else 0):
            if axis != m.axis:
                bends |= self._split_along(i, axis, turns)
                bends |= self._split_along(j, axis, turns)
        merges: cython.bint = m.slants or (
            self.bodies.dynamic_along(i, m.axis) and self.bodies.dynamic_along(j, m.axis)
        )
        damping: cython.int = GOES_ON if merges else ENDS
        bends |= self._split_across(i, -m.sign, damping)
        bends |= self._split_across(j, m.sign, damping)
        return bends

    def align(self) -> cython.bint:
        """Let the two bodies of the impact fall together if only their chords close.

        Of two chords of one fall, the later goes further.  If such a meeting split both, a body on
        two others would meet them in turn, without an end.  So only the older chord changes, as if
        it had been split when the younger was.  Returns whether it has changed.
        """
        m: ImpactState = self.impact
        c: Clusters = self.clusters
        g: Gravity = self.gravity
        k: cython.int = m.axis
        older: cython.Py_ssize_t = m.rows[0]
        younger: cython.Py_ssize_t = m.rows[1]

        if g.since[older, k] > g.since[younger, k]:
            older, younger = younger, older
        if (
            g.since[older, k] == g.since[younger, k]
            or g.pull[older, k] != g.pull[younger, k]
            or not (self._falls_alone(older, k) and self._falls_alone(younger, k))
            or m.closing_at(c.velocity_now(m.rows[0], k), c.velocity_now(m.rows[1], k))
            > m.rounding()
        ):
            return False
        velocity: cython.double = c.velocity_of(older, k)
        t: cython.double = g.since[younger, k]
        velocity = g.split(older, k, g.velocity_at(older, k, velocity, t), t, GOES_ON)
        c.turn_alone(older, k, velocity)
        g.note_split(older, k, velocity)
        return True

    def _falls_alone(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a body falls on an axis without damping, and no contact has a part in it."""
        g: Gravity = self.gravity

        return (
            g.pulls(i, k)
            and g.held[i, k] == 0
            and g.pull[i, k] == g.own_pull(i, k)
            and not self.clusters.is_merged(i, k)
        )

    def _split_across(
        self, i: cython.Py_ssize_t, up: cython.int, damping: cython.int
    ) -> cython.bint:
        """Split a path along the normal unless a wall bears the body; return whether it bends.

        `up` is the sign from the wall to the body.  At a slope it is a path along the surface too.
        A wall that it has met in this instant bears it too.
        """
        m: ImpactState = self.impact

        if not m.slants and self.supports.wall_below(i, m.axis, up) >= 0:
            return False
        if self.clusters.is_anchored(i, m.axis):
            return False
        return self._split_path(i, m.axis, damping)

    def _split_along(self, i: cython.Py_ssize_t, k: cython.int, turns: cython.bint) -> cython.bint:
        """Split a path along the surface unless it is held there; return whether it bends.

        Only a resolution that `turns` bodies there ends the damped path of the whole step.
        """
        g: Gravity = self.gravity

        if g.is_held(i, k) or not (turns or g.is_shared(i, k, self.step.now)):
            return False
        return self._split_path(i, k, GOES_ON)

    def _split_path(self, i: cython.Py_ssize_t, k: cython.int, damping: cython.int) -> cython.bint:
        """Split the path of a body and save its old values; return whether it bends."""
        g: Gravity = self.gravity
        n: cython.Py_ssize_t = self.n_splits

        if g.is_split(i, k, self.step.now, damping) or (
            damping == GOES_ON and g.has_whole_path(i, k, self.step.now)
        ):
            return False
        self.split_of[n, 0] = i
        self.split_of[n, 1] = k
        self.split_of[n, 2] = g.held[i, k]
        self.joined[n, 0] = self.clusters.velocity_of(i, k)
        self.joined[n, 1] = g.pull[i, k]
        self.joined[n, 2] = g.kick[i, k]
        self.joined[n, 3] = g.since[i, k]
        self.joined[n, 4] = g.own[i, k]
        bends: cython.bint = self.clusters.split_path(i, k, damping)
        if g.since[i, k] == self.step.now:
            self.n_splits += 1
        return bends

    def spend_damping(self) -> cython.void:
        """Let the damping of the rest of the step act on both bodies, before they rebound."""
        m: ImpactState = self.impact

        for n in range(2):
            if not m.is_borne(n):
                self.clusters.split_path(m.rows[n], m.axis, ACTS)

    def join(self) -> cython.void:
        """Undo the last `split` after a crossing, except where the game has set a velocity."""
        g: Gravity = self.gravity

        for n in range(self.n_splits):
            i: cython.Py_ssize_t = self.split_of[n, 0]
            k: cython.int = self.split_of[n, 1]
            if i < 0:
                continue
            g.held[i, k] = self.split_of[n, 2]
            g.pull[i, k] = self.joined[n, 1]
            g.kick[i, k] = self.joined[n, 2]
            g.since[i, k] = self.joined[n, 3]
            g.own[i, k] = self.joined[n, 4]
            self.clusters.turn_alone(i, k, self.joined[n, 0])
            g.note_split(i, k, self.joined[n, 0])
        self.n_splits = 0

    def _turns(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a resolution may change the velocity of a body along a surface."""
        return self.bodies.dynamic[i] != 0 and self.bodies.response[i] >= ResponseCode.PUSH

    def set_velocity(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.void:
        """Give a body a velocity at this instant, to which its kick is added; one on hold keeps it."""
        if self.bodies.on_hold[i]:
            self.bodies.leave_with(i, k, velocity)
            return
        for n in range(self.n_splits):
            if self.split_of[n, 0] == i and self.split_of[n, 1] == k:
                self.split_of[n, 0] = -1
        self.clusters.split_path(i, k, ENDS)
        self.gravity.free(i, k, self.step.now)
        self.clusters.turn_alone(i, k, velocity + self.gravity.kick_of(i, k))
