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

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.broadphase_c import Broadphase
    from cython.cimports.ecs_collide.broadphase.pair_table_c import PairTable
    from cython.cimports.ecs_collide.motion.attachments_c import Attachments
    from cython.cimports.ecs_collide.motion.bodies_c import MOTION, RESIZE, Bodies
    from cython.cimports.ecs_collide.motion.gravity_c import Gravity  # noqa: F401  # declared below
    from cython.cimports.ecs_collide.narrowphase.contacts_c import (
        AXIS,
        CROSSING,
        KIND,
        SEPARATED,
        SIGN,
        SOLID,
        UNTIL_APART,
        Contacts,
    )
    from cython.cimports.ecs_collide.narrowphase.event_buffer_c import (
        ANSWER,
        CONTACT_KIND,
        WITHIN,
        EventBuffer,
    )
    from cython.cimports.ecs_collide.narrowphase.impact_queue_c import ImpactQueue
    from cython.cimports.ecs_collide.narrowphase.narrowphase_c import Narrowphase
    from cython.cimports.ecs_collide.narrowphase.placement_c import PositionCorrection, place
    from cython.cimports.ecs_collide.narrowphase.sweep_test_c import IMPACT, OVERLAP, SEPARATE
    from cython.cimports.ecs_collide.response.carriers_c import Carriers
    from cython.cimports.ecs_collide.response.closing_c import ClosingContacts
    from cython.cimports.ecs_collide.response.depenetration_c import Depenetration
    from cython.cimports.ecs_collide.response.falling_c import Falling
    from cython.cimports.ecs_collide.response.holding_c import Holding
    from cython.cimports.ecs_collide.response.separation_c import Separating
    from cython.cimports.ecs_collide.response.solver_c import Solver
    from cython.cimports.ecs_collide.step.edges_c import Edges
    from cython.cimports.ecs_collide.step.found_pairs_c import FoundPairs
    from cython.cimports.ecs_collide.step.impact_log_c import (
        ANSWERED,
        CROSSED,
        CRUSHED,
        FORCED,
        STOPPED_ALREADY,
        UNANSWERED,
        ImpactLog,
    )
    from cython.cimports.ecs_collide.step.sleeping_c import Sleeping
else:
    from ecs_collide.broadphase.broadphase import Broadphase
    from ecs_collide.broadphase.pair_table import PairTable
    from ecs_collide.motion.attachments import Attachments
    from ecs_collide.motion.bodies import MOTION, RESIZE, Bodies
    from ecs_collide.narrowphase.contacts import (
        AXIS,
        CROSSING,
        KIND,
        SEPARATED,
        SIGN,
        SOLID,
        UNTIL_APART,
        Contacts,
    )
    from ecs_collide.narrowphase.event_buffer import (
        ANSWER,
        CONTACT_KIND,
        WITHIN,
        EventBuffer,
    )
    from ecs_collide.narrowphase.impact_queue import ImpactQueue
    from ecs_collide.narrowphase.narrowphase import Narrowphase
    from ecs_collide.narrowphase.placement import PositionCorrection, place
    from ecs_collide.narrowphase.sweep_test import IMPACT, OVERLAP, SEPARATE
    from ecs_collide.response.carriers import Carriers
    from ecs_collide.response.closing import ClosingContacts
    from ecs_collide.response.depenetration import Depenetration
    from ecs_collide.response.falling import Falling
    from ecs_collide.response.holding import Holding
    from ecs_collide.response.separation import Separating
    from ecs_collide.response.solver import Solver
    from ecs_collide.step.edges import Edges
    from ecs_collide.step.found_pairs import FoundPairs
    from ecs_collide.step.impact_log import (
        ANSWERED,
        CROSSED,
        CRUSHED,
        FORCED,
        STOPPED_ALREADY,
        UNANSWERED,
        ImpactLog,
    )
    from ecs_collide.step.sleeping import Sleeping

cython.declare(
    ENDED=cython.int,
    BEGAN=cython.int,
    DONE=cython.int,
    OFFERED=cython.int,
    ONCE=cython.int,
    INSTANT_LIMIT=cython.longlong,
    MAX_VISITS=cython.longlong,
    REPEAT_LIMIT=cython.longlong,
)
from ecs_collide.constants import BEGAN, ENDED, OFFERED

DONE = 2  # all pairs of a body that has turned were swept again
# What a game may have decided about a pair, beside the codes of `Bodies.response` and `UNTIL_APART`;
# both are kinds of `PairTable.crossing` too.
ONCE = 2  # the pair crosses, to the end of the step

INSTANT_LIMIT = 4  # answers of one instant after which a pair only loses what closes it
MAX_VISITS = 1 << 56  # a larger pair limit has no effect
REPEAT_LIMIT = 32  # answers of one instant after which resizing bodies count as crushed


@cython.final
@cython.cclass
class Timeline:
    """The steps of one space.

    A step is `begin`, `find_pairs`, `queue_impacts`, any number of `run` (each
    of which may stop to hand an impact over, to be taken up by `conclude`),
    and `finish`.

    Attributes
    ----------
    pending, event : int
        The pair handed over, or -1, and its row in the log.
    is_set : bool
        Whether the game has set a velocity since a pair was handed over.
    hand_over : bool
        Hand every impact over, not only those that the columns of a body ask for.
    decisions : dict
        What the game has decided for the rest of the step, by the ids of two bodies: a code of
        `PairTable.crossing` or 0, and for that a code of `Bodies.response` and its restitution.
    n_decisions : int
        How many there are.
    n_pair_limit, n_sweep_limit, n_held : int
        Pairs and bodies that came to their limits in this step, and the bodies held.
    """

    bodies = cython.declare("Bodies", visibility="public")
    holding = cython.declare("Holding", visibility="public")
    pairs = cython.declare("PairTable", visibility="public")
    queue = cython.declare("ImpactQueue", visibility="public")
    solver = cython.declare("Solver", visibility="public")
    correction = cython.declare("PositionCorrection", visibility="public")
    event_buffer = cython.declare("EventBuffer", visibility="public")
    broadphase = cython.declare("Broadphase", visibility="public")
    contacts = cython.declare("Contacts", visibility="public")
    narrowphase = cython.declare("Narrowphase", visibility="public")
    closing: ClosingContacts
    separating = cython.declare("Separating", visibility="public")
    carriers = cython.declare("Carriers", visibility="public")
    depenetration = cython.declare("Depenetration", visibility="public")
    sleeping = cython.declare("Sleeping", visibility="public")
    gravity = cython.declare("Gravity", visibility="public")
    falling: Falling
    log: ImpactLog
    edges = cython.declare("Edges", visibility="public")
    attachments = cython.declare("Attachments", visibility="public")
    n_rows: cython.Py_ssize_t
    rest_speed = cython.declare(cython.double, visibility="public")
    pair_limit = cython.declare(cython.longlong, visibility="public")
    n_answers = cython.declare(cython.longlong, visibility="public")
    n_crushed = cython.declare(cython.longlong, visibility="public")
    n_forced = cython.declare(cython.longlong, visibility="public")
    n_pair_limit = cython.declare(cython.longlong, visibility="public")
    n_sweep_limit = cython.declare(cython.longlong, visibility="public")
    n_held = cython.declare(cython.longlong, visibility="public")
    pending = cython.declare(cython.Py_ssize_t, visibility="public")
    event = cython.declare(cython.Py_ssize_t, visibility="public")
    hand_over = cython.declare(cython.bint, visibility="public")
    is_set: cython.bint
    decisions = cython.declare(dict, visibility="readonly")
    n_decisions: cython.Py_ssize_t
    began_at: cython.Py_ssize_t  # of the pair handed over: the row in the log of its contact, or -1
    is_changed: cython.bint  # since it was handed over, or was given the built-in answer

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
        self.contacts = Contacts(
            self.bodies, self.pairs, self.broadphase, self.correction, self.event_buffer
        )
        self.carriers = Carriers(self.bodies, self.contacts, self.solver)
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
            self.contacts,
            self.event_buffer,
        )
        self.edges = Edges(self.bodies, self.attachments, self.broadphase, self.contacts)
        self.sleeping = Sleeping(
            self.bodies,
            self.pairs,
            self.broadphase,
            self.contacts,
            self.correction,
            self.narrowphase,
            self.gravity,
        )
        self.n_rows = 0
        self.rest_speed = 0.0
        self.pair_limit = 0
        self.n_answers = self.n_held = 0
        self.n_crushed = self.n_forced = self.n_pair_limit = self.n_sweep_limit = 0
        self.pending = self.event = -1
        self.hand_over = False
        self.is_set = False
        self.decisions = {}
        self.n_decisions = 0
        self.began_at = -1
        self.is_changed = False
        if bodies.wraps:
            self.pairs.wrap()

    def make_room(self):
        """Have room in all parts for the rows that the table has.

        Where it raises, it is to be called again before anything else.
        """
        n_rows: cython.Py_ssize_t = self.bodies.capacity

        self.n_rows = 0
        self.pairs.set_rows(n_rows)
        self.solver.set_rows(n_rows)
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
        self.contacts.keep()
        self.carriers.keep()
        return self.event_buffer.n_contacts

    def begin(self):
        """Start a step: forget the pairs, groups and counts of the step before."""
        self.pairs.forget()
        self.narrowphase.begin_step()
        self.solver.begin_step()
        self.holding.begin_step()
        self.holding.pair_limit = min(self.pair_limit, MAX_VISITS)
        self.sleeping.begin_step()
        self.pending = self.event = -1
        self.gravity.begin_step()
        self.decisions.clear()
        self.n_decisions = 0
        self.broadphase.begin_step()
        self.n_answers = 0
        self.n_crushed = self.n_forced = self.n_pair_limit = self.n_sweep_limit = self.n_held = 0

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

    @cython.cfunc
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
        if self.bodies.surfaces.any_pusher:
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
        self.contacts.recall()
        return True

    def queue_impacts(self):
        """Sweep every pair over the step and queue its first impact."""
        p: cython.Py_ssize_t
        n: cython.Py_ssize_t
        kind: cython.int

        for n in range(self.attachments.n):  # their owners may have been given a way out
            if self.attachments.follow(n):
                self.bodies.find_swept_bounds(self.attachments.rows[n])
                self.broadphase.follow(self.attachments.rows[n])
        self.narrowphase.sweep_solid()
        for p in range(self.pairs.n):
            if not self.pairs.at[p].crossing or self.pairs.at[p].left_alone:
                continue
            self.narrowphase.aim(p)
            kind = self.narrowphase.sweeper.solve()
            n = self.pairs.contact_of(p)
            self.log.note_image(p)
            if n >= 0 and kind == SEPARATE and self.pairs.at[p].crossing & UNTIL_APART:
                self.contacts.end_crossing(p)
                self._close(p)
                continue
            if n >= 0 and self.contacts.rows[n, KIND] != SOLID and kind != SEPARATE:
                self.pairs.at[p].inside = 1
                self.pairs.impact[p].axis = self.contacts.rows[n, AXIS]
                self.pairs.impact[p].sign = self.contacts.rows[n, SIGN]
            elif kind == OVERLAP:
                self.pairs.at[p].inside = 1
                self.narrowphase.note_side(p, kind)
                self.pairs.impact[p].began = 0.0
                self.event_buffer.add_contact(
                    BEGAN, WITHIN, 0.0, self.queue.at[p].low, self.queue.at[p].high,
                    self.pairs.impact[p].axis, self.pairs.impact[p].sign, CROSSING, -1,
                )  # fmt: skip
            self.narrowphase.sweep_crossing(p, kind)

    def run(self, answering: cython.bint) -> cython.Py_ssize_t:
        """Take impacts in time order; return a pair that is handed over, or -1 at the end.

        Without `answering` each impact is reported and the bodies go on.
        """
        p: cython.Py_ssize_t
        is_late: cython.bint

        while True:
            p = self.queue.top()
            is_late = p < 0 or self.queue.at[p].time > self.narrowphase.now
            if (is_late or self.queue.at[p].rank) and self._find_more_impacts():
                continue
            if p < 0:
                return -1
            self.bodies.tick += 1
            if is_late:
                self.narrowphase.now = self.queue.at[p].time
                self.narrowphase.instant_tick = self.bodies.tick
                self.solver.begin_instant(self.narrowphase.now)
            self.queue.drop(p)
            if self.pairs.at[p].crossing:
                self._cross(p)
            elif not answering:
                self.log.add(p, UNANSWERED)
            elif self._reach_answer(p):
                return p

    @cython.cfunc
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

    @cython.cfunc
    def _reach_answer(self, p: cython.Py_ssize_t) -> cython.bint:
        """Answer the impact whose turn it is; True if it is handed over instead."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        met: cython.bint

        if self._is_stale(p) and not self._is_still_due(p):
            return False
        if self.queue.at[p].rank and self.narrowphase.waits(p):
            return False
        if b.asleep[i] and b.yields[i]:
            self.sleeping.wake_in_step(i)
        if b.asleep[j] and b.yields[j]:
            self.sleeping.wake_in_step(j)
        if self.n_decisions and self._cross_as_decided(p):
            return False
        met = self._bring_together(p)
        if met and self._come_to_limit(p) and not self.narrowphase.meets(p):
            self._resume(p)
            return False
        self.began_at = -1 if self.pairs.at[p].inside else self.event_buffer.n_contacts
        self.event = self.log.add(p, ANSWERED)
        if not met:
            self._resume(p)
            return False
        self.n_answers += 1
        self.pairs.impact[p].answers += 1
        self.holding.count_visits(i, 1)
        self.holding.count_visits(j, 1)
        if self.n_decisions and self._answer_as_decided(p):
            self._resume(p)
            return False
        if (self.hand_over or (b.custom[i] | b.custom[j]) & OFFERED) and (
            self.pairs.impact[p].answers <= self.pair_limit
        ):
            self.solver.clusters.write()
            b.rest_count[i] = b.rest_count[j] = -1  # whatever the game does, they do not rest
            self.pending = p
            self.is_set = False
            self.is_changed = False
            self._show(p)
            return True
        self._answer(p, False, False)
        self._resume(p)
        return False

    @cython.cfunc
    def _is_still_due(self, p: cython.Py_ssize_t) -> cython.bint:
        """Sweep a pair again of which a body has turned; return whether its turn is now.

        If not, report it, unless it was queued again, or was a corner.
        """
        if not self.narrowphase.is_due(p):
            # Queued again: it comes an instant later, by rounding, and is reported then.
            if not self.queue.at[p].rank and not self.queue.holds(p):
                self.log.add(p, STOPPED_ALREADY)
                if self.pairs.impact[p].kind == IMPACT:
                    self._touch(p)
                if self.bodies.surfaces.any_carrier:
                    self._suspend(p)
                    self.carriers.land(p)
                    self._resume(p)
            return False
        if self.narrowphase.sweeper.corner and not self.queue.at[p].rank:
            self.queue.put(p, self.narrowphase.now, 1)
            return False
        return True

    @cython.cfunc
    def _bring_together(self, p: cython.Py_ssize_t) -> cython.bint:
        """Put the bodies of a pair where they meet; return whether their own velocities close.

        What moves them out of others or out of a soft crowd, or their fall, may have made them meet.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis
        met: cython.bint = True

        if self.pairs.impact[p].kind == IMPACT:
            self._touch(p)
            place(
                b,
                i,
                j,
                k,
                self.pairs.impact[p].sign,
                self.narrowphase.now,
                self.pairs.offset_of(p, k),
            )
        if b.surfaces.any_pusher:
            met = not self._end_pushes(p)
        if b.surfaces.any_separator and self._suspend(p):
            met = met and self.narrowphase.meets(p)
        if self.gravity.is_on and self._split_paths(p):
            met = met and (self.narrowphase.meets(p) or self.pairs.impact[p].speed > 0.0)
            self._find_closing_speed(p)
        return met

    @cython.cfunc
    @cython.exceptval(check=False)
    def _split_paths(self, p: cython.Py_ssize_t) -> cython.bint:
        """Let the paths of two bodies that fall begin anew; return whether that bends one of them.

        The closing speed of the pair is that of this instant from now on.
        """
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        bends: cython.bint = self.falling.split(i, j, self.pairs.impact[p].axis)

        self._find_closing_speed(p)
        return bends

    @cython.cfunc
    @cython.exceptval(check=False)
    def _find_closing_speed(self, p: cython.Py_ssize_t) -> cython.void:
        """Find how fast a pair that falls closes at this instant."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        speed: cython.double = self.solver.closing_speed(
            i, j, self.pairs.impact[p].axis, self.pairs.impact[p].sign
        )

        self.pairs.impact[p].speed = max(speed, 0.0) + 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _show(self, p: cython.Py_ssize_t) -> cython.void:
        """Let the game see the velocities that the bodies of a pair have at this instant."""
        self.holding.show(self.pairs.at[p].first)
        self.holding.show(self.pairs.at[p].second)
        if self.gravity.is_on:
            self.falling.show(self.pairs.at[p].first, 0)
            self.falling.show(self.pairs.at[p].second, 1)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _hide(self, p: cython.Py_ssize_t) -> cython.void:
        """Let the bodies of a pair have the velocities of their paths again."""
        if self.gravity.is_on:
            self.falling.hide(0)
            self.falling.hide(1)
        self.holding.hide(self.pairs.at[p].first)
        self.holding.hide(self.pairs.at[p].second)

    @cython.cfunc
    def _suspend(self, p: cython.Py_ssize_t) -> cython.bint:
        """Give both members of soft crowds their own velocities; return whether that changes the impact."""
        s: Separating = self.separating
        k: cython.int = self.pairs.impact[p].axis
        first: cython.bint = s.suspend(self.pairs.at[p].first, k, self.solver)
        second: cython.bint = s.suspend(self.pairs.at[p].second, k, self.solver)

        if first or second:
            self.pairs.impact[p].speed = self.narrowphase.closing_speed(p)
        return first or second

    @cython.cfunc
    def _resume(self, p: cython.Py_ssize_t) -> cython.void:
        """Go on moving the members of soft crowds in a pair along what they have met."""
        if self.bodies.surfaces.any_separator:
            self.solver.clusters.write_body(self.pairs.at[p].first)
            self.solver.clusters.write_body(self.pairs.at[p].second)
            self.separating.resume(self.pairs.at[p].first, self.solver)
            self.separating.resume(self.pairs.at[p].second, self.solver)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _come_to_limit(self, p: cython.Py_ssize_t) -> cython.bint:
        """Hold the bodies of a pair that is due, as far as limits want it; return whether any is."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        first: cython.bint
        second: cython.bint

        if self.pairs.impact[p].answers >= self.pair_limit or self._keeps_growing(p):
            first = self._hold(i)
            second = self._hold(j)
            self.n_pair_limit += first or second
        else:
            first = self._hold_if_spent(i)
            second = self._hold_if_spent(j)
        return first or second

    @cython.cfunc
    @cython.exceptval(check=False)
    def _hold_if_spent(self, i: cython.Py_ssize_t) -> cython.bint:
        """Hold a body that has had all of its looks; return whether it is held now and was not."""
        if not self.holding.is_spent(i):
            return False
        self.n_sweep_limit += 1
        return self._hold(i)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _hold(self, i: cython.Py_ssize_t) -> cython.bint:
        """Hold a body from now on, without what moves it out of a soft crowd."""
        k: cython.int

        if self.bodies.surfaces.any_separator and not self.bodies.on_hold[i]:
            for k in range(self.bodies.dim):
                self.separating.suspend(i, k, self.solver)
        return self.holding.hold(i, self.narrowphase.now)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _keeps_growing(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair that resizes would be crushed though one of its bodies is held."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis

        return (
            (self.bodies.on_hold[i] or self.bodies.on_hold[j])
            and self.pairs.impact[p].repeats >= REPEAT_LIMIT - 1
            and self.pairs.impact[p].answered_at == self.narrowphase.now
            and (self.bodies.resize_of(i, k) != 0.0 or self.bodies.resize_of(j, k) != 0.0)
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_stale(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body of a pair has turned since the pair was swept; write both."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        stale: cython.bint = self.pairs.impact[p].stale

        if self.solver.clusters.n_unwritten:
            self.solver.clusters.write_body(i)
            self.solver.clusters.write_body(j)
        if self.attachments.n:
            self._follow_owner(i)
            self._follow_owner(j)
        self.pairs.impact[p].stale = 0
        return (
            stale
            or self.bodies.has_turned_since(i, self.pairs.impact[p].tick)
            or self.bodies.has_turned_since(j, self.pairs.impact[p].tick)
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _follow_owner(self, i: cython.Py_ssize_t) -> cython.void:
        """Let a body, if it is attached, go where the path of its owner leads by now."""
        j: cython.Py_ssize_t = self.bodies.surfaces.owner[i] - 1

        if j >= 0:
            if self.solver.clusters.n_unwritten:
                self.solver.clusters.write_body(j)
            self.attachments.follow_turned(i)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _touch(self, p: cython.Py_ssize_t) -> cython.void:
        """Note that the faces of a pair touch at this instant, on the side of its impact."""
        self.pairs.at[p].touch = self.pairs.impact[p].sign * (self.pairs.impact[p].axis + 1)

    @cython.cfunc
    def _end_pushes(self, p: cython.Py_ssize_t) -> cython.bint:
        """End what pushes the bodies of a pair into each other; return whether nothing else does."""
        n: cython.int
        i: cython.Py_ssize_t
        k: cython.int = self.pairs.impact[p].axis
        ended: cython.bint = False

        for n in range(2):
            i = self.pairs.at[p].second if n else self.pairs.at[p].first
            if abs(self.bodies.surfaces.translation_side[i]) == k + 1:
                ended = True
                if self.bodies.on_hold[i]:
                    self.bodies.kept[i, k] = self.depenetration.stop(i)
                else:
                    self.solver.change(i, k, self.depenetration.stop(i))
        return ended and not self.narrowphase.meets(p)

    def decide_to_cross(
        self, first: cython.longlong, second: cython.longlong, until_apart: cython.bint
    ):
        """Let two bodies, by their ids, cross from their next impact on, until the step ends."""
        self.decisions[first, second] = (UNTIL_APART if until_apart else ONCE, 0, 0.0)
        self.n_decisions = len(self.decisions)

    def decide_to_answer(
        self,
        first: cython.longlong,
        second: cython.longlong,
        response: cython.int,
        restitution: cython.double,
    ):
        """Answer all impacts of two bodies, by their ids, by a response until the step ends."""
        self.decisions[first, second] = (0, response, restitution)
        self.n_decisions = len(self.decisions)

    @cython.cfunc
    def _cross_as_decided(self, p: cython.Py_ssize_t) -> cython.bint:
        """Let a pair whose impact is due cross, if the game has decided that; return whether."""
        decision = self.decisions.get((self.queue.at[p].low, self.queue.at[p].high))

        if decision is None or decision[0] == 0:
            return False
        self.contacts.open(p, self.narrowphase.now)
        self._open(p, decision[0])
        self.log.add(p, CROSSED)
        self.log.add_entry(p)
        self._enter(p)
        return True

    @cython.cfunc
    def _answer_as_decided(self, p: cython.Py_ssize_t) -> cython.bint:
        """Answer an impact just recorded as the game has decided; return whether it has."""
        decision = self.decisions.get((self.queue.at[p].low, self.queue.at[p].high))

        if decision is None:
            return False
        self._answer_as(p, decision[1], decision[2])
        return True

    @cython.cfunc
    def _answer_as(
        self, p: cython.Py_ssize_t, response: cython.int, restitution: cython.double
    ) -> cython.void:
        """Answer as if both bodies of a pair had a response in place of their own; 0: their own."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        one: cython.int = b.response[i]
        other: cython.int = b.response[j]
        bounce: cython.double = b.restitution[i]
        other_bounce: cython.double = b.restitution[j]

        if response != 0:
            b.response[i] = b.response[j] = response
            b.restitution[i] = b.restitution[j] = restitution
        self._answer(p, False, False)
        b.response[i] = one
        b.response[j] = other
        b.restitution[i] = bounce
        b.restitution[j] = other_bounce

    @cython.cfunc
    @cython.exceptval(check=False)
    def _open(self, p: cython.Py_ssize_t, code: cython.int) -> cython.void:
        """Let a solid pair cross from now on."""
        self.pairs.at[p].crossing |= code
        self.pairs.at[p].touch = self.pairs.at[p].clear = self.pairs.impact[p].stale = 0

    @cython.cfunc
    def _close(self, p: cython.Py_ssize_t) -> cython.void:
        """Let a pair whose bodies have separated be what its bodies make it again."""
        self.pairs.at[p].crossing &= ~UNTIL_APART
        self.pairs.at[p].touch = 0
        self.narrowphase.sweep_again(p)

    def cross(self, until_apart: cython.bint):
        """Take up the pair that was handed over, and let its bodies cross."""
        p: cython.Py_ssize_t = self.pending

        self.pending = -1
        self.holding.hide(self.pairs.at[p].first)
        self.holding.hide(self.pairs.at[p].second)
        if not self.pairs.at[p].gone:
            self.event_buffer.codes[self.event, ANSWER] = CROSSED
            self.n_answers -= 1
            if self.began_at >= 0:  # with this impact: it was no solid contact after all
                self.event_buffer.contact_codes[self.began_at, CONTACT_KIND] = CROSSING
                self.contacts.forget_known(p)
            else:
                self.contacts.open(p, self.narrowphase.now)
                self.log.add_entry(p)
            self._open(p, UNTIL_APART if until_apart else ONCE)
            self._enter(p)
        self._resume(p)

    def conclude(self, default: cython.bint, is_answered: cython.bint):
        """Take up the pair that was handed over; with `default`, give the built-in answer.

        A pair that the game has left closing is slid, unless it `is_answered` already and the
        game has changed nothing since.
        """
        p: cython.Py_ssize_t = self.pending

        self.pending = -1
        self._hide(p)
        if self.pairs.at[p].gone or self.pairs.at[p].left_alone:
            pass
        elif default:
            if self._still_closes(p):
                self._answer(p, False, False)
        elif (self.is_changed or not is_answered) and self.narrowphase.meets(p):
            if self.gravity.is_on:
                self._find_closing_speed(p)
            self._answer(p, True, True)
            if self.gravity.is_on and self.pairs.impact[p].speed == 0.0:
                pass  # only gravity closes it: the game has answered
            elif self.event_buffer.codes[self.event, ANSWER] == ANSWERED:
                self.event_buffer.codes[self.event, ANSWER] = FORCED
                self.n_forced += 1
        if self.is_set and self.event_buffer.codes[self.event, ANSWER] != CRUSHED:
            self.event_buffer.impulse[self.event] = max(
                self._change_of(p, self.pairs.at[p].first, 0),
                self._change_of(p, self.pairs.at[p].second, 1),
            )
        self._resume(p)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _change_of(
        self, p: cython.Py_ssize_t, i: cython.Py_ssize_t, place: cython.int
    ) -> cython.double:
        """Return how much the momentum of a body of the pending pair has changed on its axis.

        `place` is 0 for the first body, 1 for the second.
        """
        b: Bodies = self.bodies
        k: cython.int = self.pairs.impact[p].axis
        velocity: cython.double = self.solver.clusters.final_velocity(i, k)

        if not b.yields[i]:
            return 0.0
        if b.on_hold[i]:
            velocity = b.kept[i, k]
        return b.mass[i] * abs(
            velocity - self.event_buffer.numbers[self.event, 5 + (3 + place) * b.dim + k]
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _still_closes(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the pair that was handed over closes after what the game has changed."""
        if self.is_changed and not self.narrowphase.meets(p):
            return False
        if self.gravity.is_on:
            self._find_closing_speed(p)
        return True

    def answer_pending(self, response: cython.int, restitution: cython.double):
        """Answer the pair that was handed over, and keep it pending.

        By a code of `Bodies.response`; 0 for the built-in answer.
        """
        if not self.pairs.at[self.pending].gone:
            self._hide(self.pending)
            if self._still_closes(self.pending):
                self._answer_as(self.pending, response, restitution)
            self.solver.clusters.write()
            self.is_changed = False
            self._show(self.pending)

    def withdraw(self, i: cython.Py_ssize_t):
        """Let a body that a response has deleted have no more impacts in this step."""
        p: cython.Py_ssize_t

        self.sleeping.wake_in_step(i)
        p = self.pairs.head_of(i)
        self.bodies.withdraw(i)
        while p >= 0:
            self.contacts.end_withdrawn(p, self.narrowphase.now)
            self.pairs.at[p].gone = 1
            self.queue.drop(p)
            p = self.pairs.next_of(p, i)

    def stop(self, i: cython.Py_ssize_t):
        """Let a body that is taken out stay where it is now, to the end of the step."""
        k: cython.int
        at: cython.Py_ssize_t = self.bodies.n_path * i

        if self.bodies.moves[i] or self.bodies.asleep[i]:
            self.bodies.advance(i, self.narrowphase.now)
            for k in range(self.bodies.dim):
                self.bodies.path[at + 4 * k + MOTION] = self.bodies.path[at + 4 * k + RESIZE] = 0.0
            if self.attachments.n:
                self.attachments.lead(i)

    def set_velocity(self, i: cython.Py_ssize_t, k: cython.int, value: cython.double):
        """Give a body a new velocity at the instant of the pending impact."""
        self.is_changed = True
        self.sleeping.wake_in_step(i)
        if self.bodies.controls.locks(i, k):
            return
        self.is_set = True
        if self.bodies.on_hold[i]:  # it is shown what it keeps
            self.bodies.velocity[i, k] = value + 0.0
        elif self.gravity.acts_on(i):
            self.falling.set_velocity(i, k, value)
        else:
            self.solver.change(i, k, value)

    def relocate(self, i: cython.Py_ssize_t, k: cython.int, value: cython.double):
        """Put a body somewhere else at the instant of the pending impact."""
        self.is_changed = True
        self.sleeping.wake_in_step(i)
        if self.bodies.moves[i] or self.bodies.asleep[i]:
            self.bodies.advance(i, self.narrowphase.now)
        self.bodies.put(i, k, self.bodies.into_world(k, value))
        self.bodies.note_turn(i)
        self._forget_touch(i)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _forget_touch(self, i: cython.Py_ssize_t) -> cython.void:
        """Forget which faces of a body touch: it is somewhere else."""
        p: cython.Py_ssize_t = self.pairs.head_of(i)

        while p >= 0:
            self.pairs.at[p].touch = 0
            p = self.pairs.next_of(p, i)

    def centre_now(self, i: cython.Py_ssize_t, k: cython.int) -> float:
        """Return where a body is at the time reached."""
        return self.bodies.into_world(k, self.bodies.centre_at(i, k, self.narrowphase.now))

    def half_now(self, i: cython.Py_ssize_t, k: cython.int) -> float:
        """Return a body's half size at the time reached."""
        return self.bodies.half_at(i, k, self.narrowphase.now)

    def final_velocity(self, i: cython.Py_ssize_t, k: cython.int) -> float:
        """Return the velocity with which a body leaves the step if nothing more happens to it."""
        return self.solver.clusters.final_velocity(i, k)

    @cython.cfunc
    def _cross(self, p: cython.Py_ssize_t) -> cython.void:
        """Let the bodies of a pair enter or leave each other, as queued."""
        if self._is_stale(p):
            self.narrowphase.aim(p)
            self.narrowphase.sweeper.solve()
            if self.pairs.at[p].inside:
                if self.narrowphase.sweeper.exit > 0.0:
                    self.narrowphase.sweep_crossing(p, self.narrowphase.sweeper.kind)
                    return
            elif not self.narrowphase.is_due(p):
                return
        self.bodies.note_crossing(self.pairs.at[p].first)
        self.bodies.note_crossing(self.pairs.at[p].second)
        if self.pairs.at[p].inside:
            self.pairs.at[p].inside = 0
            self.log.note_image(p)
            self.contacts.forget_known(p)
            self.event_buffer.add_contact(
                ENDED, WITHIN, self.narrowphase.now, self.queue.at[p].low, self.queue.at[p].high,
                self.pairs.impact[p].axis, self.pairs.impact[p].sign, CROSSING, SEPARATED,
            )  # fmt: skip
            self.pairs.impact[p].began = -1.0
            if self.pairs.at[p].crossing & UNTIL_APART:
                self._close(p)
            return
        self.log.add(p, CROSSED)
        if not self.pairs.at[p].known:  # pragma: no branch: but for what was about to enter before
            self.log.add_entry(p)
        self._enter(p)

    @cython.cfunc
    def _enter(self, p: cython.Py_ssize_t) -> cython.void:
        """Let the bodies of a crossing pair be inside each other, and queue when they leave."""
        self.pairs.at[p].inside = 1
        self.pairs.impact[p].began = self.narrowphase.now
        self.narrowphase.aim(p)
        self.narrowphase.sweeper.solve()
        self.narrowphase.sweep_crossing(p, self.narrowphase.sweeper.kind)

    @cython.cfunc
    def _answer(
        self, p: cython.Py_ssize_t, normal_only: cython.bint, inelastic: cython.bint
    ) -> cython.void:
        """Give the built-in answer to the impact just recorded."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis
        restitution: cython.double = 0.0
        gives_way: cython.bint = self.solver.weigh(i, j, k)

        if self.pairs.impact[p].answered_at == self.narrowphase.now:
            self.pairs.impact[p].repeats += 1
        else:
            self.pairs.impact[p].repeats = 0
        if self.pairs.impact[p].answers > self.pair_limit + REPEAT_LIMIT or (
            self.pairs.impact[p].repeats >= REPEAT_LIMIT
            and (b.resize_of(i, k) != 0.0 or b.resize_of(j, k) != 0.0)
        ):
            self._crush(p, -1 if b.yields[i] else i, -1 if b.yields[j] else j)
            return
        if not (self.solver.first_yields or self.solver.second_yields):
            self._crush(p, i, j)  # an immovable body, and one on an axis that is locked
            return
        self.pairs.impact[p].answered_at = self.narrowphase.now
        if not (
            inelastic
            or gives_way
            or self.pairs.impact[p].kind == OVERLAP
            or self.pairs.impact[p].speed < self.rest_speed
        ):
            restitution = self.solver.restitution_of(i, j)
        if self.pairs.impact[p].repeats >= INSTANT_LIMIT:
            # A pile that bounces would go on to the limits, a stop between two partners too.
            normal_only = True
            if restitution < 1.0:
                restitution = 0.0
        normal_only |= gives_way
        self.solver.may_part = self.pairs.impact[p].repeats == 0
        if b.surfaces.any_pusher:  # the velocity along the surface may be that of a pusher
            normal_only |= (
                b.surfaces.translation_side[i] != 0 or b.surfaces.translation_side[j] != 0
            )
        if not self.solver.answer(i, j, k, self.pairs.impact[p].sign, restitution, normal_only):
            self._crush(p, self.solver.solid_first, self.solver.solid_second)
            return
        self.event_buffer.impulse[self.event] += self.solver.impulse
        if b.surfaces.any_carrier and not (b.on_hold[i] or b.on_hold[j]):
            self.carriers.land(p)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _crush(
        self, p: cython.Py_ssize_t, one: cython.Py_ssize_t, other: cython.Py_ssize_t
    ) -> cython.void:
        """Report that a pair cannot be kept apart, and leave it alone to the end of the step.

        It is between two immovable bodies; -1 for one that is not known.
        """
        swap: cython.Py_ssize_t

        if other >= 0 and (one < 0 or self.bodies.ids[other] < self.bodies.ids[one]):
            swap = one
            one = other
            other = swap
        self.pairs.at[p].left_alone = 1
        self.event_buffer.codes[self.event, ANSWER] = CRUSHED
        if one >= 0:
            self.event_buffer.solid_first[self.event] = self.bodies.ids[one]
        if other >= 0:
            self.event_buffer.solid_second[self.event] = self.bodies.ids[other]
        self.n_crushed += 1

    @cython.cfunc
    def _follow_turned(self) -> cython.bint:
        """Pair the bodies that have turned with all that their new paths may meet.

        Those that have come to their limit are held instead; return whether there are any.
        """
        b: Bodies = self.bodies
        c: Broadphase = self.broadphase
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        any_held: cython.bint = False

        if self.attachments.n:
            self.attachments.lead_turned()
        for n in range(b.n_turned):
            i = b.turned[n]
            if self._hold_if_spent(i):
                any_held = True
            b.find_swept_bounds(i)
            if not c.has_room_to_follow(i) and self._hold(i):
                c.n_waiting += 1
                any_held = True
                b.find_swept_bounds(i)
            c.follow(i)
        return any_held

    @cython.cfunc
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

    @cython.cfunc
    def _sweep_pairs_of(self, i: cython.Py_ssize_t) -> cython.void:
        """Sweep the pairs of a body that has turned, but for those with a body that is done."""
        at: cython.Py_ssize_t = self.pairs.head_of(i)
        p: cython.Py_ssize_t
        j: cython.Py_ssize_t
        n_visits: cython.longlong = 0

        while at >= 0:
            p = at
            n_visits += self._may_meet(p)
            if self.pairs.at[p].first == i:
                j = self.pairs.at[p].second
                at = self.pairs.at[p].next_of_first - 1
            else:
                j = self.pairs.at[p].first
                at = self.pairs.at[p].next_of_second - 1
            if self.bodies.is_turned[j] == DONE:
                continue
            if self.pairs.at[p].inside and not self.pairs.at[p].crossing:
                self.contacts.follow(p, self.narrowphase.now)
            if self.queue.is_due(p, self.narrowphase.now):
                self.pairs.impact[p].stale = 1
                self.pairs.at[p].clear = 0
            else:
                self.narrowphase.sweep_again(p)
        self.holding.count_visits(i, n_visits)
        self.holding.n_pairs[i] = n_visits

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _may_meet(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bounds of two paths meet: which other pairs exist depends on margins."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int
        offset: cython.double = 0.0

        for k in range(b.dim):
            if b.wraps:
                offset = self.pairs.offset[p, k]
            if (
                b.swept_min[i, k] > b.swept_max[j, k] + offset
                or b.swept_min[j, k] + offset > b.swept_max[i, k]
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
            self.correction.correct()
            self.correction.is_current = self.attachments.n == 0
        self.attachments.arrive()
        self.contacts.compare()
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
