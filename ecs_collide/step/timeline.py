"""One step of a space: candidate pairs, their first impacts, and contacts at the end.

`Timeline` makes the kernels and drives them, from the start of a step to the first impacts and from
the last impact to the end.  Impacts are resolved in `step/impact_loop.py`.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

import numpy as np

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.arrays import LONG
from ecs_collide.broadphase.broadphase import Broadphase, PairObserver
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.attachments import Attachments
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.contacts_between_steps import Contacts
from ecs_collide.narrowphase.contacts_in_step import ContactsInStep
from ecs_collide.narrowphase.event_buffer import EventBuffer
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.narrowphase import Narrowphase
from ecs_collide.narrowphase.placement import PositionCorrection
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.carriers import Carriers
from ecs_collide.response.falling import Falling
from ecs_collide.response.holding import Holding
from ecs_collide.response.settling import Settling
from ecs_collide.response.solver import Solver
from ecs_collide.response.ways_out import Depenetration, Separating
from ecs_collide.step.edges import Edges
from ecs_collide.step.impact_loop import ImpactLoop
from ecs_collide.step.sleeping import Sleeping

MAX_VISITS: cython.longlong = 1 << 56  # a larger pair limit has no effect


@cython.final
class FoundPairs(PairObserver):
    """Makes room in the queue for new pairs, and acts on pairs and bodies for which there is no room."""

    queue: ImpactQueue
    holding: Holding
    separating: Separating

    def __init__(self, queue: ImpactQueue, holding: Holding, separating: Separating):
        self.queue = queue
        self.holding = holding
        self.separating = separating

    def make_room(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for pairs 0 to `n_pairs` - 1."""
        self.queue.grow(n_pairs)

    def skip(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, offset: cython.double[::1]
    ) -> cython.void:
        """Separate a pair of soft bodies for which there is no room by its direction alone."""
        self.separating.skip(i, j, offset)

    def hold(self, i: cython.Py_ssize_t) -> cython.void:
        """Hold a body where it is for the whole step."""
        self.holding.hold_from_start(i)


@cython.final
class Timeline:
    """The steps of one space.

    A step calls `begin_step`, `find_pairs`, `queue_impacts`, `ImpactLoop.run` and `finish`.  If `run`
    hands an impact over, it is called again after `ImpactLoop.conclude_pending`.
    """

    step: Public[Step]
    bodies: Public[Bodies]  # of the step, like the next five
    attachments: Public[Attachments]
    gravity: Public[Gravity]
    pairs: Public[PairTable]
    queue: Public[ImpactQueue]
    event_buffer: Public[EventBuffer]
    solver: Public[Solver]
    correction: Public[PositionCorrection]
    holding: Public[Holding]
    separating: Public[Separating]
    broadphase: Public[Broadphase]
    contacts: Public[Contacts]
    contacts_in_step: Public[ContactsInStep]
    narrowphase: Public[Narrowphase]
    sleeping: Public[Sleeping]
    loop: Public[ImpactLoop]
    carriers: Public[Carriers]  # of the loop, like the next
    falling: Falling
    settling: Public[Settling]
    depenetration: Public[Depenetration]
    edges: Public[Edges]
    n_rows: cython.Py_ssize_t
    n_held: Public[cython.longlong]  # bodies that were held in this step

    def __init__(self, bodies: Bodies):
        bodies.start_over()
        step: Step = Step(bodies)
        self.step = step
        self.bodies = bodies
        self.attachments = step.attachments
        self.gravity = step.gravity
        self.pairs = step.pairs
        self.queue = step.queue
        self.event_buffer = step.event_buffer
        self.solver = Solver(step)
        self.correction = PositionCorrection(bodies, step.pairs, step.queue)
        self.holding = Holding(step, self.solver.clusters)
        self.separating = Separating(step)
        self.broadphase = Broadphase(
            bodies, step.pairs, FoundPairs(step.queue, self.holding, self.separating)
        )
        self.contacts = Contacts(bodies, step.event_buffer)
        self.contacts_in_step = ContactsInStep(
            self.contacts, step.pairs, self.broadphase, self.correction
        )
        self.narrowphase = Narrowphase(step, self.solver.clusters)
        self.sleeping = Sleeping(
            step, self.broadphase, self.contacts_in_step, self.correction, self.narrowphase
        )
        self.loop = ImpactLoop(
            step,
            self.broadphase,
            self.contacts_in_step,
            self.narrowphase,
            self.sleeping,
            self.solver,
            self.holding,
        )
        self.carriers = self.loop.carriers
        self.falling = self.loop.falling
        self.settling = Settling(step, self.broadphase)
        self.depenetration = Depenetration(step, self.broadphase)
        self.edges = Edges(step, self.broadphase, self.contacts)
        step.pairs.wrap(bodies.wraps)

    def make_room(self):
        """Make room in all parts for the rows of the table; if it raises, call it again first."""
        n_rows: cython.Py_ssize_t = self.bodies.capacity

        self.n_rows = 0
        self.pairs.set_rows(n_rows)
        self.queue.set_rows(n_rows)
        self.solver.clusters.set_rows(n_rows)
        self.gravity.set_rows(n_rows)
        self.holding.set_rows(n_rows)
        self.correction.set_rows(n_rows)
        self.sleeping.set_rows(n_rows)
        self.broadphase.images.set_rows(n_rows)
        self.n_rows = n_rows

    @cython.ccall
    def require(self, n_rows: cython.Py_ssize_t) -> cython.void:
        """Raise IndexError unless all parts have room for bodies in `n_rows` rows."""
        if self.n_rows != n_rows or self.bodies.capacity != n_rows:
            raise IndexError(f"there is room for bodies in {self.n_rows} rows, not in {n_rows}")

    def remove(self, rows: cython.longlong[::1]):
        """Remove deleted bodies from the trees and from the sleeping ones."""
        for n in range(rows.shape[0]):
            self.sleeping.forget(rows[n])
            self.broadphase.remove(rows[n])

    @cython.ccall
    def begin_step(
        self,
        step: cython.longlong,
        time: cython.double,
        rest_speed: cython.double,
        pair_limit: object,
    ) -> cython.void:
        """Start the step after `step` steps, which have taken `time` seconds; see `Pipeline`."""
        self.broadphase.step = step
        self.contacts.clock = time
        self.step.rest_speed = rest_speed
        self.step.pair_limit = min(pair_limit, MAX_VISITS)
        self.reset()

    @cython.ccall
    def reset(self) -> cython.void:
        """Forget the pairs, clusters and counts of the last step."""
        self.step.begin_step()
        self.narrowphase.begin_step()
        self.solver.clusters.begin_step()
        self.solver.projection.end_instant()
        self.holding.begin_step()
        self.sleeping.begin_step()
        self.gravity.begin_step()
        self.step.leaning.begin_step(self.gravity.is_on)
        self.broadphase.begin_step()
        self.loop.begin_step()
        self.n_held = 0

    @cython.ccall
    def place_still(self, rows: cython.longlong[::1]) -> cython.void:
        """Move still bodies to their present places, in the tree too."""
        self.bodies.place_still(rows)
        self.broadphase.place_still(rows)

    @cython.ccall
    def place_moving(self, rows: cython.longlong[::1], dt: cython.double) -> cython.void:
        """Start the paths of moving bodies for a step of `dt` seconds, and update the tree."""
        self.bodies.dt = dt
        self._let_fall(rows)
        self.carriers.follow_paths(rows)
        self.bodies.begin_step(rows, dt)
        self.attachments.start()
        self.separating.find_members(rows)
        self.contacts.find_pressed(rows)
        if self.contacts.n_pressed == 0:
            self.broadphase.place_moving(rows)
        else:
            n_free: cython.Py_ssize_t = self.contacts.n_free
            self.broadphase.place_moving(self.contacts.parted[:n_free])
            self.broadphase.place_pressed(
                self.contacts.parted[n_free : n_free + self.contacts.n_pressed]
            )

    @cython.ccall
    def place_woken(self, rows: cython.longlong[::1]) -> cython.void:
        """Start the paths of bodies that were woken after `place_moving`, and update the tree."""
        self._let_fall(rows)
        self.bodies.start(rows)
        self.broadphase.place_moving(rows)

    def _let_fall(self, rows: cython.longlong[::1]) -> cython.void:
        """Give bodies that fall the velocities of their paths, before these are started."""
        if self.gravity.is_on:
            self.falling.set_paths(rows)

    @cython.ccall
    def restrain(self, rows: cython.longlong[::1]) -> cython.void:
        """Apply the locks and speed limits of bodies to their velocities."""
        self.bodies.restrain(rows, not self.carriers.sweeps)

    def place_resized(self, rows: cython.longlong[::1]):
        """Move bodies that were resized between two steps to their places, in the tree too."""
        self.bodies.place_still(rows)
        for n in range(rows.shape[0]):
            self.bodies.find_swept_bounds(rows[n])
        self.broadphase.place_moving(rows)

    def place_shifted(self, rows: cython.longlong[::1]):
        """Move bodies to their places after a shift, in the tree too."""
        for n in range(rows.shape[0]):
            self.bodies.find_swept_bounds(rows[n])
        self.broadphase.place_moving(rows)

    @cython.ccall
    def settle(self, touched: list, still: cython.longlong[::1]) -> list:
        """Put bodies flush that the game has put into others by no more than a hair.

        Returns the rows of the sleeping bodies that move along; they have to be woken.
        """
        asleep: list = []
        awake: list = []

        for i in self.settling.settle(touched, still):
            (asleep if self.bodies.asleep[i] else awake).append(i)
        rows: cython.longlong[::1] = np.array(awake, LONG).data

        if rows.shape[0]:
            self.bodies.start(rows)
            self.broadphase.place_moving(rows)
        return asleep

    @cython.ccall
    def push_out(self, rows: cython.longlong[::1]) -> cython.void:
        """Add the way out to the paths of moving bodies that are inside others."""
        self.depenetration.n = 0
        if self.bodies.rare.any_pusher:
            self.depenetration.spared = self.contacts.until_apart()
            self.depenetration.set_paths(rows)
            if self.depenetration.n:
                self.broadphase.place_moving(self.depenetration.rows[: self.depenetration.n])

    @cython.ccall
    def find_pairs(self, rows: cython.longlong[::1]) -> cython.bint:
        """Pair the bodies of `rows`, which move or were touched, with all bodies they may meet.

        Return False, with nothing done, if there may be a crowd, in which all must be awake.
        """
        if not self.broadphase.find_pairs(rows, self.sleeping.n, self.sleeping.n_resting):
            return False
        self.separating.separate()
        self.contacts_in_step.recall()
        return True

    @cython.ccall
    def queue_impacts(self, new_rows: cython.longlong[::1]) -> cython.void:
        """Sweep every pair over the step and queue its first impact; `new_rows` are new bodies."""
        for n in range(self.attachments.n):  # their owners may have got a way out
            if self.attachments.follow(n):
                self.bodies.find_swept_bounds(self.attachments.rows[n])
                self.broadphase.follow(self.attachments.rows[n])
        self.narrowphase.sweep_solid()
        self.carriers.board(new_rows)
        self.loop.sweep_crossings()

    @cython.ccall
    def finish(
        self,
        rows: cython.longlong[::1],
        correcting: cython.bint,
        driven: cython.longlong[::1],
        targets: cython.double[:, ::1],
    ) -> cython.void:
        """Move the bodies of `rows` to the end of the step; compare contacts with the last step.

        Bodies of `driven` arrive at their row of `targets`, unless something has turned them away.
        With `correcting`, pairs that rounding has left inside each other by less than the slop are
        snapped apart before the comparison.
        """
        self.contacts_in_step.find_partings()
        self.bodies.note_pressed()
        self.bodies.finish_step(rows)
        self.bodies.finish_woken()
        self.bodies.arrive(driven, targets)
        self.queue.clear()
        if correcting:
            self.sleeping.pair_penetrating()
            self.correction.make_room()
            self.carriers.seat_riders()
            self.correction.correct()
            self.correction.is_current = self.attachments.n == 0
        self.attachments.arrive()
        self.contacts_in_step.compare()
        self.correction.is_current = False
        self.solver.clusters.end_step()
        self.n_held = self.holding.n
        self.holding.release()
        self.bodies.end_drifts(self.separating.rows[: self.separating.n])
        self.bodies.end_drifts(self.depenetration.rows[: self.depenetration.n])
        self.carriers.end()
        self.gravity.finish(rows)
        self.gravity.finish_woken()
        self.restrain(rows)
        if self.bodies.n_woken:
            self.restrain(self.bodies.woken[: self.bodies.n_woken])

    @cython.ccall
    def count(self, step, n_bodies: cython.Py_ssize_t, n_movers: cython.Py_ssize_t) -> list:
        """Return the counts of the step that is about to end, in the order of `Stats`."""
        n_escaped, n_reinserted, n_rebuilt = self.broadphase.count_work()
        return [
            step,
            n_bodies,
            n_movers,
            n_bodies - n_movers,
            n_escaped,
            n_reinserted,
            n_rebuilt,
            self.pairs.n,
            self.broadphase.n_skipped,
            self.narrowphase.n_sweeps,
            self.event_buffer.n_collisions,
            self.loop.n_resolutions,
            self.solver.clusters.n_merges,
            self.loop.n_crushed,
            self.loop.n_forced,
            self.loop.n_pair_limit,
            self.loop.n_sweep_limit,
            self.broadphase.n_waiting,
            self.n_held,
            self.broadphase.moving.depth,
        ]
