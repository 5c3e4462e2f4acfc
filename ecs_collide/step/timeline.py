"""One step of a space: candidate pairs, their impacts in time order, contacts at the end.

`Timeline` holds no body's data; it drives the parts that do: bodies, the two
trees over them, pairs, the queue of next impacts, the solver and the event buffer.

Each candidate pair has at most one entry in the queue.  The earliest is taken,
its two bodies are moved to that time, answered, and every body whose velocity
changed is swept again from there against all that its remaining path may meet.
An entry queued for the very instant at which a velocity changes is kept and
checked when its turn comes: a box that lands on two tiles is answered once,
and both tiles get the event.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, cython, may_raise
from ecs_collide.broadphase.broadphase import Broadphase, PairObserver
from ecs_collide.broadphase.pair_table import BEGUN, PairTable
from ecs_collide.motion.attachments import Attachments
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.contacts_between_steps import Contacts
from ecs_collide.narrowphase.contacts_in_step import ContactsInStep
from ecs_collide.narrowphase.event_buffer import EventBuffer
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.narrowphase import Narrowphase
from ecs_collide.narrowphase.placement import PositionCorrection
from ecs_collide.response.carriers import Carriers
from ecs_collide.response.closing import ClosingContacts
from ecs_collide.response.depenetration import Depenetration
from ecs_collide.response.falling import Falling
from ecs_collide.response.holding import Holding
from ecs_collide.response.separation import Separating
from ecs_collide.response.solver import Solver
from ecs_collide.step.answering import Answering
from ecs_collide.step.crossings import Crossings
from ecs_collide.step.edges import Edges
from ecs_collide.step.handover import Handover
from ecs_collide.step.impact_log import UNANSWERED, ImpactLog
from ecs_collide.step.sleeping import Sleeping

DONE = 2  # all pairs of a body that has turned were swept again
NO_AXIS = 3
MAX_VISITS: cython.longlong = 1 << 56  # a larger pair limit has no effect


@cython.final
class FoundPairs(PairObserver):
    """Gives each pair a place in the queue, and spares bodies that there are too many pairs of."""

    queue: ImpactQueue
    holding: Holding
    separating: Separating

    def __init__(self, queue: ImpactQueue, holding: Holding, separating: Separating):
        self.queue = queue
        self.holding = holding
        self.separating = separating

    @may_raise
    def make_room(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for pairs 0 to `n_pairs` - 1."""
        self.queue.grow(n_pairs)

    def add(
        self,
        p: cython.Py_ssize_t,
        low_id: cython.longlong,
        high_id: cython.longlong,
        image: cython.longlong,
    ) -> cython.void:
        """Prepare for pair `p`, of two entities that meet at an image of the second."""
        self.queue.at[p].low = low_id
        self.queue.at[p].high = high_id
        self.queue.at[p].image = image

    def leave_out(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, offset: cython.double[::1]
    ) -> cython.void:
        """Separate a pair of soft bodies that there is no room for by its direction alone."""
        self.separating.leave_out(i, j, offset)

    def hold(self, i: cython.Py_ssize_t) -> cython.void:
        """Hold a body where it is for the whole step."""
        self.holding.hold_from_start(i)


@cython.final
class Timeline:
    """The steps of one space.

    A step is `begin`, `find_pairs`, `queue_impacts`, any number of `run` (each
    of which may stop to hand an impact over, to be taken up by `Handover.conclude`),
    and `finish`.
    """

    bodies: Public[Bodies]
    holding: Public[Holding]
    pairs: Public[PairTable]
    queue: Public[ImpactQueue]
    solver: Public[Solver]
    correction: Public[PositionCorrection]
    event_buffer: Public[EventBuffer]
    broadphase: Public[Broadphase]
    contacts: Public[Contacts]
    contacts_in_step: Public[ContactsInStep]
    narrowphase: Public[Narrowphase]
    closing: ClosingContacts
    separating: Public[Separating]
    carriers: Public[Carriers]
    depenetration: Public[Depenetration]
    sleeping: Public[Sleeping]
    gravity: Public[Gravity]
    falling: Falling
    log: ImpactLog
    edges: Public[Edges]
    attachments: Public[Attachments]
    crossings: Crossings
    answering: Public[Answering]
    handover: Public[Handover]
    n_rows: cython.Py_ssize_t
    n_held: Public[cython.longlong]  # bodies that were held in this step

    def __init__(self, bodies: Bodies):
        bodies.start_over()
        self.bodies = bodies
        self.attachments = Attachments(self.bodies)
        self.pairs = PairTable()
        self.queue = ImpactQueue()
        self.solver = Solver(self.bodies)
        self.gravity = self.solver.clusters.gravity
        self.correction = PositionCorrection(self.bodies, self.pairs, self.queue)
        self.event_buffer = EventBuffer(bodies.dim)
        self.holding = Holding(self.bodies, self.solver.clusters)
        self.separating = Separating(self.bodies, self.pairs)
        self.broadphase = Broadphase(
            self.bodies, self.pairs, FoundPairs(self.queue, self.holding, self.separating)
        )
        self.contacts = Contacts(self.bodies, self.event_buffer)
        self.contacts_in_step = ContactsInStep(
            self.contacts, self.pairs, self.broadphase, self.correction
        )
        self.carriers = Carriers(self.bodies, self.contacts_in_step, self.solver)
        self.falling = Falling(self.bodies, self.solver, self.carriers)
        self.depenetration = Depenetration(self.bodies, self.broadphase)
        self.narrowphase = Narrowphase(self.bodies, self.pairs, self.queue, self.solver.clusters)
        self.closing = ClosingContacts(
            self.bodies, self.pairs, self.solver.clusters, self.narrowphase
        )
        self.log = ImpactLog(
            self.pairs,
            self.queue,
            self.narrowphase,
            self.solver.clusters,
            self.contacts_in_step,
            self.event_buffer,
        )
        self.edges = Edges(self.bodies, self.attachments, self.broadphase, self.contacts)
        self.sleeping = Sleeping(
            self.bodies,
            self.pairs,
            self.broadphase,
            self.contacts_in_step,
            self.correction,
            self.narrowphase,
            self.gravity,
        )
        self.crossings = Crossings(self.log)
        self.answering = Answering(
            self.log,
            self.crossings,
            self.solver,
            self.holding,
            self.separating,
            self.depenetration,
            self.carriers,
            self.falling,
            self.attachments,
            self.sleeping,
        )
        self.handover = Handover(self.answering)
        self.n_rows = 0
        self.n_held = 0
        if bodies.wraps:
            self.pairs.wrap()

    def make_room(self):
        """Have room in all parts for the rows that the table has.

        Where it raises, it is to be called again before anything else.
        """
        n_rows: cython.Py_ssize_t = self.bodies.capacity

        self.n_rows = 0
        self.pairs.set_rows(n_rows)
        self.solver.clusters.set_rows(n_rows)
        self.gravity.set_rows(n_rows)
        self.holding.set_rows(n_rows)
        self.correction.set_rows(n_rows)
        self.sleeping.set_rows(n_rows)
        self.broadphase.images.set_rows(n_rows)
        self.n_rows = n_rows

    def require(self, n_rows: cython.Py_ssize_t):
        """Raise IndexError unless all parts have room for bodies in `n_rows` rows."""
        if self.n_rows != n_rows or self.bodies.capacity != n_rows:
            raise IndexError(f"there is room for bodies in {self.n_rows} rows, not in {n_rows}")

    def keep(self) -> int:
        """Keep contacts and riders as they are before a step; return how many events wait."""
        self.contacts.save()
        self.carriers.keep()
        return self.event_buffer.n_contacts

    def begin(self):
        """Start a step: forget the pairs, groups and counts of the step before."""
        self.pairs.forget()
        self.narrowphase.begin_step()
        self.solver.clusters.begin_step()
        self.holding.begin_step()
        self.holding.pair_limit = min(self.answering.pair_limit, MAX_VISITS)
        self.sleeping.begin_step()
        self.gravity.begin_step()
        self.broadphase.begin_step()
        self.answering.begin_step()
        self.n_held = 0

    def place_still(self, rows):
        """Put bodies that do not move where they now are, into the tree too."""
        if len(rows) == 0:  # so in most steps, and to look at an array costs more
            return
        self.bodies.place_still(rows)
        self.broadphase.place_still(rows)

    def place_moving(self, rows: cython.longlong[::1], dt: cython.double):
        """Put bodies that move at the start of a step of `dt` seconds, their paths into the tree."""
        self.bodies.dt = dt
        if self.gravity.is_on:
            self.falling.begin(rows)
        self.bodies.begin_step(rows, dt)
        self.attachments.start()
        self.separating.begin(rows)
        self.contacts.find_pressed(rows)
        if self.contacts.n_pressed == 0:
            self.broadphase.place_moving(rows)
        else:
            self.broadphase.place_moving(self.contacts.free[: self.contacts.n_free])
            self.broadphase.place_pressed(self.contacts.pressed[: self.contacts.n_pressed])

    def place_woken(self, rows: cython.longlong[::1]):
        """As `place_moving`, of bodies that have been woken since."""
        if self.gravity.is_on:
            self.falling.begin(rows)
        self.bodies.start(rows)
        self.broadphase.place_moving(rows)

    def restrain(self, rows):
        """Take what is locked, and what is too fast, from the velocities of bodies."""
        if self.bodies.controls.any_lock or self.bodies.controls.any_limit:
            self._restrain(rows)

    @may_raise
    def _restrain(self, rows: cython.longlong[::1]) -> cython.void:
        self.bodies.restrain(rows, not self.carriers.sweeps)

    def place_resized(self, rows: cython.longlong[::1]):
        """Put bodies that move where they were put between two steps, into the tree too."""
        n: cython.Py_ssize_t

        self.bodies.place_still(rows)
        for n in range(rows.shape[0]):
            self.bodies.find_swept_bounds(rows[n])
        self.broadphase.place_moving(rows)

    def push_out(self, rows):
        """Give those of some moving bodies that are inside others the way out for their path."""
        self.depenetration.n = 0
        if self.bodies.rare.any_pusher:
            self.depenetration.spared = self.contacts.until_apart()
            self.depenetration.begin(rows)
            if self.depenetration.n:
                self.bodies.start(self.depenetration.rows[: self.depenetration.n])
                self.broadphase.place_moving(self.depenetration.rows[: self.depenetration.n])

    def find_pairs(self, rows: cython.longlong[::1]) -> bool:
        """Pair the bodies of `rows`, those that move or were touched, with all they may meet.

        False, with nothing done, where there may be a crowd: all are to be awake then.
        """
        if not self.broadphase.find_pairs(rows, self.sleeping.n, self.sleeping.n_resting):
            return False
        self.separating.separate()
        self.contacts_in_step.recall()
        return True

    def queue_impacts(self, new_rows: cython.longlong[::1]):
        """Sweep every pair over the step and queue its first impact; `new_rows` are new bodies."""
        n: cython.Py_ssize_t

        for n in range(self.attachments.n):  # their owners may have been given a way out
            if self.attachments.follow(n):
                self.bodies.find_swept_bounds(self.attachments.rows[n])
                self.broadphase.follow(self.attachments.rows[n])
        self.narrowphase.sweep_solid()
        if new_rows.shape[0] and self.bodies.rare.any_carrier:
            self.bodies.tick += 1
            for n in range(new_rows.shape[0]):  # members of crowds board with their own velocity
                self.separating.suspend(new_rows[n], NO_AXIS, self.solver)
            self.carriers.board(new_rows)
            for n in range(new_rows.shape[0]):
                self.separating.resume(new_rows[n], self.solver)
        self.crossings.begin()

    def run(self, answering: cython.bint) -> int:
        """Take impacts in time order; return a pair that is handed over, or -1 at the end.

        Without `answering` each impact is reported and the bodies go on.
        """
        while True:
            p: cython.Py_ssize_t = self.queue.top()
            is_late: cython.bint = p < 0 or self.queue.at[p].time > self.narrowphase.now
            if (is_late or self.queue.at[p].rank) and self._find_more_impacts():
                continue
            if p < 0:
                return -1
            self.bodies.tick += 1
            if is_late:
                self.contacts_in_step.find_partings()
                self.narrowphase.now = self.queue.at[p].time
                self.narrowphase.instant_tick = self.bodies.tick
                self.solver.clusters.begin_instant(self.narrowphase.now)
            self.queue.drop(p)
            if self.pairs.crosses(p):
                self.crossings.cross(p, self.answering.is_stale(p))
            elif not answering:
                self.log.add(p, UNANSWERED)
            elif self.answering.reach(p):
                self.handover.take(p)
                return p

    @may_raise
    def _find_more_impacts(self) -> cython.bint:
        """Look for further impacts of this instant; return False if there can be none.

        First along the faces that touch: a merge makes others close, and each
        round of them is answered before the next is looked for.  When none
        closes any more, all pairs of the bodies that have turned are swept.
        """
        if self.solver.clusters.has_changed():
            self.bodies.tick += 1
            self.closing.find()
            return True
        if self.bodies.n_turned or self.solver.clusters.n_unwritten:
            self.bodies.tick += 1
            self.solver.clusters.write()
            if not self._follow_turned():
                self._sweep_turned()
            return True
        return False

    @may_raise
    def _follow_turned(self) -> cython.bint:
        """Pair the bodies that have turned with all that their new paths may meet.

        Those that have come to their limit are held instead; return whether there are any.
        """
        b: Bodies = self.bodies
        c: Broadphase = self.broadphase
        n: cython.Py_ssize_t
        any_held: cython.bint = False

        if self.attachments.n:
            self.attachments.lead_turned()
        for n in range(b.n_turned):
            i: cython.Py_ssize_t = b.turned[n]
            if self.answering.hold_if_spent(i):
                any_held = True
            b.find_swept_bounds(i)
            if not c.has_room_to_follow(i) and self.answering.hold(i):
                c.n_waiting += 1
                any_held = True
                b.find_swept_bounds(i)
            c.follow(i)
        return any_held

    @may_raise
    def _sweep_turned(self) -> cython.void:
        """Sweep all pairs of the bodies that have turned, each once, from now on."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t

        for n in range(b.n_turned):
            b.is_turned[b.turned[n]] = DONE
            self._sweep_pairs_of(b.turned[n])
        for n in range(b.n_turned):
            b.is_turned[b.turned[n]] = 0
        b.n_turned = 0

    @may_raise
    def _sweep_pairs_of(self, i: cython.Py_ssize_t) -> cython.void:
        """Sweep the pairs of a body that has turned, but for those with a body that is done."""
        at: cython.Py_ssize_t = self.pairs.head_of(i)
        n_visits: cython.longlong = 0

        while at >= 0:
            p: cython.Py_ssize_t = at
            n_visits += self._may_meet(p)
            # As `PairTable.partner` and `next_of`, which are calls from here.
            is_first: cython.int = self.pairs.at[p].first == i
            j: cython.Py_ssize_t = self.pairs.at[p].first + self.pairs.at[p].second - i
            at = self.pairs.at[p].next_of_second - 1
            at += (self.pairs.at[p].next_of_first - self.pairs.at[p].next_of_second) * is_first
            if self.bodies.is_turned[j] == DONE:
                continue
            if self.pairs.at[p].contact >= BEGUN and not self.pairs.crosses(p):
                self.contacts_in_step.follow(p, self.narrowphase.now)
            # Asked first: the queue would be another cache miss.
            if self.pairs.may_be_queued(p) and self.queue.is_due(p, self.narrowphase.now):
                self.pairs.mark_stale(p)
            else:
                self.narrowphase.sweep_again(p)
        self.holding.count_visits(i, n_visits)
        self.holding.n_pairs[i] = n_visits

    @cython.cfunc
    @cython.inline
    def _may_meet(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bounds of two paths meet: which other pairs exist depends on margins."""
        b: Bodies = self.bodies
        one: cython.Py_ssize_t = b.dim * self.pairs.at[p].first
        two: cython.Py_ssize_t = b.dim * self.pairs.at[p].second
        k: cython.int
        offset: cython.double = 0.0

        for k in range(b.dim):
            if b.wraps:
                offset = self.pairs.offset[p, k]
            if (
                b.flat_min[one + k] > b.flat_max[two + k] + offset
                or b.flat_min[two + k] + offset > b.flat_max[one + k]
            ):
                return False
        return True

    def finish(
        self,
        rows: cython.longlong[::1],
        correcting: cython.bint,
        driven,
        targets,
    ):
        """Move the bodies of `rows` to the end of the step and compare contacts with before.

        Those of `driven` to their targets, a row for each, where nothing has
        turned them away.  With `correcting`, pairs that rounding has left inside each other by less than the slop
        are snapped outward first.
        """
        self.contacts_in_step.find_partings()
        self.bodies.note_pressed()
        self.bodies.finish_step(rows)
        self.bodies.finish_woken()
        self.solver.clusters.end_step()
        if len(driven) > 0:
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
        self.separating.end()
        self.n_held = self.holding.n
        self.holding.release()
        self.depenetration.end()
        self.carriers.end()
        if self.gravity.is_on:
            self.gravity.finish(rows)
            self.gravity.finish_woken()
        self._restrain(rows)
        if self.bodies.n_woken:
            self._restrain(self.bodies.woken[: self.bodies.n_woken])
