"""The loop of a step: its impacts in time order, from the queue to the velocities.

A pair has at most one entry in the queue.  `ImpactLoop.run` takes them one by one, and this file
goes through the life of an impact from top to bottom:

- *take*: the earliest impact; if it is later than the last, a new instant begins;
- *sweep again*: before that, sweep the bodies that have turned in the last instant;
- *place*: put the two bodies face to face, if the impact is still due;
- *hold*: stop bodies that have reached a limit to the end of the step;
- *cross*: note that the bodies of a pair that is not solid enter or leave each other;
- *hand over*: show the two bodies to the game, which may change them;
- *resolve*: change the velocities by the responses of the two;
- *log*: write the impact into the event buffer, before it is resolved.

An entry that is due at the instant at which a velocity changes stays queued and is checked at its
turn.  A box that lands on two tiles is resolved once, and both tiles get the event.

`Timeline` fills the queue before the loop, and ends the step after it.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.constants import BEGAN, ENDED, INF, OutcomeCode
from ecs_collide.broadphase.broadphase import Broadphase
from ecs_collide.broadphase.pair_table import (
    BEGUN,
    CROSS,
    CROSS_ONCE,
    CROSS_UNTIL_APART,
    KEEPS,
    NO_TOUCH,
    NOT_MET,
    STALE,
    PairTable,
)
from ecs_collide.motion.attachments import Attachments
from ecs_collide.motion.bodies import Bodies, vector_of
from ecs_collide.motion.faces import face_of_normal
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.contacts_between_steps import CROSSING, SOLID
from ecs_collide.narrowphase.contacts_in_step import SEPARATED, ContactsInStep
from ecs_collide.narrowphase.event_buffer import (
    CONTACT_KIND,
    NORMAL,
    OUTCOME,
    WITHIN,
    EventBuffer,
)
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.narrowphase import Narrowphase
from ecs_collide.narrowphase.placement import place
from ecs_collide.narrowphase.slopes import Slopes
from ecs_collide.narrowphase.step import Step
from ecs_collide.narrowphase.sweep_test import IMPACT, OVERLAP, SEPARATE
from ecs_collide.response.along_surfaces import AlongSurfaces
from ecs_collide.response.carriers import Carriers
from ecs_collide.response.closing import ClosingContacts
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.falling import Falling
from ecs_collide.response.holding import Holding
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.met_contacts import TURNS
from ecs_collide.response.projection import Projection
from ecs_collide.response.slope_response import SlopeResponse
from ecs_collide.response.solver import Solver
from ecs_collide.response.tangential import TangentialResponse
from ecs_collide.step.bounces import MetBounces
from ecs_collide.step.impact_log import ImpactLog
from ecs_collide.step.shared_impulses import SharedImpulses
from ecs_collide.step.sleeping import Sleeping
from ecs_collide.step.surfaces import MetSurfaces

DONE = 2  # all pairs of a body that has turned were swept again
# With fewer pairs than this for each body that has turned, one pass over all pairs is faster than
# the list of each body.
PAIRS_IN_CROWD = 8

# Resolutions in one instant, after which a pair only loses its closing velocity.
INSTANT_LIMIT: cython.longlong = 1
RESIZING_LIMIT: cython.longlong = 4  # if one of the bodies resizes
# Resolutions in one instant, after which resizing bodies count as crushed.
REPEAT_LIMIT: cython.longlong = 32


@cython.final
class ImpactLoop:
    """Takes the impacts of a step in time order, and resolves them or hands them over."""

    step: Step
    bodies: Bodies  # of the step, like the next five
    pairs: PairTable
    queue: ImpactQueue
    event_buffer: EventBuffer
    attachments: Attachments
    gravity: Gravity
    broadphase: Broadphase
    contacts: ContactsInStep
    narrowphase: Narrowphase
    sleeping: Sleeping
    solver: Solver
    clusters: Clusters  # of the solver, like the next
    projection: Projection
    holding: Holding
    closing: ClosingContacts
    carriers: ReadOnly[Carriers]
    falling: ReadOnly[Falling]
    slopes: SlopeResponse
    tangential: TangentialResponse
    along: ReadOnly[AlongSurfaces]
    surfaces: ReadOnly[MetSurfaces]
    impact_log: ReadOnly[ImpactLog]
    bounces: MetBounces
    shared: SharedImpulses
    # of the last impact: row in the log, and row of the contact that it began, or -1
    event: ReadOnly[cython.Py_ssize_t]
    began_at: cython.Py_ssize_t
    pending: cython.Py_ssize_t  # the pair that is handed over to the game, or -1
    is_chosen: cython.bint  # whether the game has chosen the response of the impact
    is_set: cython.bint  # whether the game has set a velocity since it was handed over
    # whether the game has changed anything since then, or since it called `Impact.resolve`
    is_changed: cython.bint
    # resolutions of this step; crushed and forced ones among them
    n_resolutions: ReadOnly[cython.longlong]
    n_crushed: ReadOnly[cython.longlong]
    n_forced: ReadOnly[cython.longlong]
    # pairs and bodies that reached their limits in this step
    n_pair_limit: ReadOnly[cython.longlong]
    n_sweep_limit: ReadOnly[cython.longlong]
    vector: cython.double[3]  # scratch

    def __init__(
        self,
        step: Step,
        broadphase: Broadphase,
        contacts: ContactsInStep,
        narrowphase: Narrowphase,
        sleeping: Sleeping,
        solver: Solver,
        holding: Holding,
    ):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.queue = step.queue
        self.event_buffer = step.event_buffer
        self.attachments = step.attachments
        self.gravity = step.gravity
        self.broadphase = broadphase
        self.contacts = contacts
        self.narrowphase = narrowphase
        self.sleeping = sleeping
        self.solver = solver
        self.clusters = solver.clusters
        self.projection = solver.projection
        self.holding = holding
        self.closing = ClosingContacts(step, self.clusters, narrowphase)
        self.carriers = Carriers(step, contacts, solver)
        self.falling = Falling(step, solver.impact, self.carriers, solver.supports)
        self.slopes = SlopeResponse(step, solver.impact, contacts.correction)
        self.tangential = solver.tangential
        self.along = AlongSurfaces(solver, self.carriers)
        self.surfaces = MetSurfaces(step, solver)
        self.impact_log = ImpactLog(step, self.clusters)
        self.bounces = MetBounces(step, contacts, narrowphase, solver, self.surfaces)
        self.shared = SharedImpulses(step)
        self.began_at = self.pending = -1
        self.begin_step()

    @cython.ccall
    def begin_step(self) -> cython.void:
        """Reset the counts of the step."""
        self.event = -1
        self.is_chosen = False
        self.n_resolutions = self.n_crushed = self.n_forced = 0
        self.n_pair_limit = self.n_sweep_limit = 0
        self.falling.n_splits = 0
        self.along.clear()
        self.shared.clear()

    # -- take --

    @cython.ccall
    def run(self, resolving: cython.bint) -> cython.Py_ssize_t:
        """Take impacts in time order; return a pair that is handed over, or -1 at the end.

        Without `resolving`, impacts are logged as unresolved and no velocity changes.
        """
        while True:
            p: cython.Py_ssize_t = self.queue.top()
            is_late: cython.bint = p < 0 or self.queue.at[p].time > self.step.now
            # This instant may have more impacts, to be taken before a corner or a later one.
            if (is_late or self.pairs.at[p].tier) and self._sweep_again():
                continue
            if p < 0:
                self.shared.end_instant()
                return -1
            self.bodies.tick += 1
            if is_late:
                self._begin_instant(self.queue.at[p].time)
            self.queue.drop(p)
            if self.pairs.crosses(p):
                if self._cross(p, self._is_stale(p), resolving):
                    self._hand_over(p)
                    return p
            elif not resolving:
                self._log(p, OutcomeCode.UNRESOLVED)
            else:
                p = self._first_of_side(p)
                if self._place_and_resolve(p):
                    self._hand_over(p)
                    return p

    def _begin_instant(self, time: cython.double) -> cython.void:
        """Advance the time within the step."""
        self.contacts.find_partings()
        self.shared.end_instant()
        self.clusters.end_instant()
        self.projection.end_instant()
        self.along.clear()
        self.step.now = time
        self.step.instant_tick = self.bodies.tick

    def _first_of_side(self, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return pair p, or the one whose impact must be taken first; p is then queued again."""
        if not self.bounces.any_due():
            return p  # it is alone at this instant
        q: cython.Py_ssize_t = self.surfaces.first_of_side(p)
        if q == p and self.bodies.controls.any_bounce:
            q = self.bounces.first_of(p)
        if q != p:
            self.queue.drop(q)
            self.queue.put(p, self.step.now, self.pairs.at[p].tier)
        return q

    def _place_and_resolve(self, p: cython.Py_ssize_t) -> cython.bint:
        """Resolve the taken impact if it is still due; return whether it must be handed over."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        # It is still due if neither body has turned away and no face impact precedes a corner.
        if self._is_stale(p) and not self._is_still_due(p):
            return False
        if self.pairs.at[p].tier and self.narrowphase.waits(p):
            return False
        # Wake both now, because from here on all their pairs count.
        self.sleeping.wake_met(i)
        self.sleeping.wake_met(j)
        # If a body is held at a limit, the pair may no longer close.
        met: cython.bint = self._place(p)
        if met and self._hold_at_limit(p) and not self.narrowphase.meets(p):
            return False
        # The log has the velocities before the resolution.
        self.began_at = -1 if self.pairs.has_contact(p) else self.event_buffer.n_contacts
        self.event = self._log(p, OutcomeCode.RESOLVED)
        if not met:
            self.event_buffer.impulse[self.event] = self._join_late(p)
            return False
        self.n_resolutions += 1
        self.holding.count_visits(i, 1)
        self.holding.count_visits(j, 1)
        if self._is_handed_over(p):
            return True
        self._resolve(p, self.event_buffer.numbers[self.event, NORMAL + self.bodies.dim], False)
        return False

    def _is_handed_over(self, p: cython.Py_ssize_t) -> cython.bint:
        """Count an impact of a pair; return whether the game gets it."""
        self.pairs.impact[p].resolutions += 1
        self.step.leaning.connect(self.pairs.at[p].first, self.pairs.at[p].second)
        return self.surfaces.is_offered(p) and (
            self.pairs.impact[p].resolutions <= self.step.pair_limit
        )

    # -- sweep again --

    def _sweep_again(self) -> cython.bint:
        """Search further impacts of this instant; return False if there can be none.

        A merge may make other touching faces close.  Those impacts are queued first and
        resolved before the next search; then all pairs of turned bodies are swept.
        """
        if self._settle() or self.along.apply():
            return True
        if self.bodies.n_turned or self.clusters.n_unwritten:
            self.bodies.tick += 1
            self.clusters.write()
            if self.step.leaning.n:
                self.slopes.release_turned()
            if self.bodies.rare.any_carrier:
                self._lead_riders()
            if not self._follow_turned():
                self._sweep_turned()
            return True
        return self.slopes.groups.n_due > 0 and self.slopes.groups.settle(self.n_resolutions)

    def _settle(self) -> cython.bint:
        """Find what closes because of merges, or let contacts press; return False if none is left."""
        if self.clusters.n_to_examine > 0 or self.projection.settle() or self.projection.let_go():
            self.bodies.tick += 1
            self.closing.find()
            return True
        return False

    def _lead_riders(self) -> cython.void:
        """Let the riders of bodies that have turned follow them from this instant."""
        n: cython.Py_ssize_t = 0

        self.carriers.settle_turned()
        while n < self.bodies.n_turned:  # who is led turns too
            top: cython.Py_ssize_t = self.bodies.turned[n]
            i: cython.Py_ssize_t = self.carriers.next_led(top, top)
            while i >= 0:
                self.sleeping.wake_in_step(i)
                self.carriers.lead(i)
                i = self.carriers.next_led(top, i)
            n += 1
        self.clusters.write()

    def _follow_turned(self) -> cython.bint:
        """Pair the bodies that have turned with all bodies that their new paths may meet.

        A body that has reached its limit is held instead; return whether any was held.
        """
        b: Bodies = self.bodies
        c: Broadphase = self.broadphase
        any_held: cython.bint = False

        self.attachments.lead_turned()
        for n in range(b.n_turned):
            i: cython.Py_ssize_t = b.turned[n]
            if self._hold_if_spent(i):
                any_held = True
            b.find_swept_bounds(i)
            if not c.has_room_to_follow(i) and self._hold(i):
                c.n_waiting += 1
                any_held = True
                b.find_swept_bounds(i)
            c.follow(i)
        return any_held

    def _sweep_turned(self) -> cython.void:
        """Sweep all pairs of the bodies that have turned from now on, each pair once."""
        b: Bodies = self.bodies
        clear: cython.double = b.clear_gap()

        for n in range(b.n_turned):
            self.holding.n_pairs[b.turned[n]] = 0
        if self.pairs.n < PAIRS_IN_CROWD * b.n_turned:
            for p in range(self.pairs.n):
                if b.is_turned[self.pairs.at[p].first] | b.is_turned[self.pairs.at[p].second]:
                    self._sweep_turned_pair(p, clear)
        else:
            for n in range(b.n_turned):
                b.is_turned[b.turned[n]] = DONE
                self._sweep_pairs_of(b.turned[n], clear)
        for n in range(b.n_turned):
            i: cython.Py_ssize_t = b.turned[n]
            n_visits: cython.int = self.holding.n_pairs[i]
            self.holding.count_visits(i, n_visits)
            self.holding.n_pairs[i] = n_visits
            b.is_turned[i] = 0
        b.n_turned = 0

    def _sweep_pairs_of(self, i: cython.Py_ssize_t, clear: cython.double) -> cython.void:
        """Sweep the pairs of a body that has turned, except with bodies that are done."""
        p: cython.Py_ssize_t
        at: cython.Py_ssize_t = self.pairs.head_of(i)

        while at >= 0:
            p = at
            at = self.pairs.next_of(p, i)
            if self.bodies.is_turned[self.pairs.partner(p, i)] != DONE:
                self._sweep_turned_pair(p, clear)

    def _sweep_turned_pair(self, p: cython.Py_ssize_t, clear: cython.double) -> cython.void:
        """Sweep a pair of which at least one body has turned."""
        b: Bodies = self.bodies
        gap: cython.double = self._gap_of_paths(p, clear)

        # Count only paths whose bounds meet: other pairs depend on the margin of the tree.
        if gap <= 0.0:
            self.holding.n_pairs[self.pairs.at[p].first] += b.is_turned[self.pairs.at[p].first] != 0
            self.holding.n_pairs[self.pairs.at[p].second] += (
                b.is_turned[self.pairs.at[p].second] != 0
            )
        if gap > clear and self._is_idle(p):
            self.pairs.mark_clear(p)
            return
        if self.pairs.at[p].contact >= BEGUN and self.pairs.at[p].state < CROSS:
            self.contacts.follow(p, self.step.now)
        # Most pairs are not queued, and the queue would be another cache miss.
        if self.pairs.may_be_queued(p) and self.queue.is_due(p, self.step.now):
            self.pairs.mark_stale(p)
        else:
            self.narrowphase.sweep_again(p)

    def _is_idle(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair that stays apart has no contact, impact or touch to update."""
        pairs: PairTable = self.pairs

        return (
            pairs.is_solid(p)
            and pairs.at[p].contact < BEGUN
            and pairs.at[p].met == NOT_MET
            and pairs.at[p].touch == NO_TOUCH
        )

    def _gap_of_paths(self, p: cython.Py_ssize_t, enough: cython.double) -> cython.double:
        """Return the largest gap on an axis between the bounds of two paths; above 0 if apart.

        A gap above `enough` may be returned early.
        """
        b: Bodies = self.bodies
        low: cython.p_double = b.flat_min
        high: cython.p_double = b.flat_max
        one: cython.Py_ssize_t = b.dim * self.pairs.at[p].first
        two: cython.Py_ssize_t = b.dim * self.pairs.at[p].second
        gap: cython.double = -INF

        for k in range(b.dim):
            offset: cython.double = self.pairs.offset_of(p, k)
            minus: cython.double = low[one] - (high[two] + offset)
            plus: cython.double = (low[two] + offset) - high[one]
            gap = minus if minus > gap else gap
            gap = plus if plus > gap else gap
            if gap > enough:
                break
            one += 1
            two += 1
        return gap

    # -- place --

    def _is_stale(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body of a pair has turned since the pair was swept.

        Writes the pending velocities of both into their paths and marks the pair fresh.
        """
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        stale: cython.bint = self.pairs.at[p].met == STALE

        if self.clusters.n_unwritten:
            self.clusters.write_body(i)
            self.clusters.write_body(j)
        self.attachments.follow_turned(i)
        self.attachments.follow_turned(j)
        self.pairs.mark_fresh(p)
        return (
            stale
            or self.bodies.has_turned_since(i, self.pairs.impact[p].tick)
            or self.bodies.has_turned_since(j, self.pairs.impact[p].tick)
        )

    def _is_still_due(self, p: cython.Py_ssize_t) -> cython.bint:
        """Sweep a pair again after a body has turned; return whether its impact is due now.

        An impact that is gone is logged, except at a corner or if the pair was queued again.
        """
        if not self.narrowphase.is_due(p):
            # If it is queued again, rounding has delayed it, and it is logged then.
            if not self.pairs.at[p].tier and not self.queue.holds(p):
                n: cython.Py_ssize_t = self._log(p, OutcomeCode.STOPPED_ALREADY)
                self.event_buffer.impulse[n] = self.bounces.take_impulse(p)
                if self.pairs.impact[p].kind == IMPACT:
                    self._touch(p)
                self.event_buffer.impulse[n] += self._join_late(p)
                if self.along.is_used():
                    self._rub_beside(p)
            return False
        if self.narrowphase.sweeper.corner and not self.pairs.at[p].tier:
            self.queue.put(p, self.step.now, 1)
            return False
        return True

    def _join_late(self, p: cython.Py_ssize_t) -> cython.double:
        """Merge a pair whose paths no longer close if its bodies would leave the step closing.

        Another impact of the instant has turned one of the two to the path of a lasting cluster.
        Returns the impulse.
        """
        m: ImpactState = self.solver.impact

        m.take(p)
        if self.pairs.impact[p].kind != IMPACT or not self.solver.leaves_closing():
            return 0.0
        self.solver.weigh()
        if m.changes_held():
            return 0.0
        self.sleeping.wake_met(m.rows[0])
        self.sleeping.wake_met(m.rows[1])
        self.solver.met_at = 0.0
        self.solver.resolve(0.0, True)
        return m.impulse

    def _rub_beside(self, p: cython.Py_ssize_t) -> cython.void:
        """Let a pair turn, rub and land whose impact another one of this instant has resolved."""
        m: ImpactState = self.solver.impact
        is_whole: cython.bint = False

        self.sleeping.wake_met(m.rows[0])
        self.sleeping.wake_met(m.rows[1])
        self.carriers.catch_up()
        if self.pairs.impact[p].kind == IMPACT and not m.slants:
            self.solver.weigh()
            is_whole = not m.changes_held()
            if is_whole and self.bodies.controls.any_turn:
                self.tangential.join_groups()
            if self.bodies.rare.any_friction:
                self.solver.loads.note_beside()
        if self.along.wait(p, is_whole, self.contacts.leans(p)) >= TURNS:
            self.falling.split(True)
        self._turn_if_last()

    def _turn_if_last(self) -> cython.void:
        """Turn bodies at once if nothing else is due at this instant; else `_sweep_again` does it."""
        while self.along.met.any_turns and not self.bounces.any_due():
            if not self._settle():
                self.along.turn()

    def _place(self, p: cython.Py_ssize_t) -> cython.bint:
        """Put the bodies of a pair where they meet; return whether their own velocities close.

        They may meet only by a displacement out of other bodies or a soft crowd, or by gravity.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis
        met: cython.bint = True

        if self.pairs.impact[p].kind == IMPACT:
            self._touch(p)
            sign: cython.int = self.pairs.impact[p].sign
            if not self.step.slopes.place(self.step.now, self.pairs, p, k, sign):
                place(b, i, j, k, sign, self.step.now, self.pairs.offset_of(p, k))
        if b.any_drift and self._end_drifts(p):
            met = self.narrowphase.meets(p)
        return self._meet_as_they_fall(p, met) if self.gravity.is_on else met

    def _touch(self, p: cython.Py_ssize_t) -> cython.void:
        """Note that the faces of a pair touch at this instant, on the side of its impact."""
        face: cython.int = face_of_normal(self.pairs.impact[p].axis, self.pairs.impact[p].sign)

        self.pairs.note_touch(p, KEEPS, face)

    def _end_drifts(self, p: cython.Py_ssize_t) -> cython.bint:
        """End what leads a pair's bodies out of others where they meet; return whether any did."""
        any_ended: cython.bint = False
        s: Slopes = self.step.slopes
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        s.find_normal(i, j, self.pairs.impact[p].axis, self.pairs.impact[p].sign)
        for k in range(self.bodies.dim):
            if s.unit[k] != 0.0:
                any_ended |= self.clusters.end_drift(i, k)
                any_ended |= self.clusters.end_drift(j, k)
        return any_ended

    def _meet_as_they_fall(self, p: cython.Py_ssize_t, met: cython.bint) -> cython.bint:
        """Begin the chords of a pair anew, after it has `met`; return whether it still meets."""
        self.solver.impact.take(p)
        if self.falling.align() and not self.narrowphase.meets(p):
            return False
        if self._split_paths(p):
            met = met and (self.narrowphase.meets(p) or self._closing_speed(p) > 0.0)
        return met

    def _split_paths(self, p: cython.Py_ssize_t) -> cython.bint:
        """Take the impact of a pair; return whether a path of a falling body bends at this instant."""
        m: ImpactState = self.solver.impact

        m.take(p)
        rubs: cython.bint = (
            self.bodies.rare.any_friction
            and self.bodies.rare.friction_between(m.rows[0], m.rows[1]) > 0.0
        )
        return self.falling.split(rubs)

    def _closing_speed(self, p: cython.Py_ssize_t) -> cython.double:
        """Return how fast a pair closes at this instant."""
        return self.impact_log.closing_speed(p, OutcomeCode.RESOLVED)

    # -- hold --

    def _hold_at_limit(self, p: cython.Py_ssize_t) -> cython.bint:
        """Hold the bodies of a due pair that have reached a limit; return whether any was held."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        if self._keeps_growing(p) or (
            self.pairs.impact[p].resolutions >= self.step.pair_limit and not self._calm(p)
        ):
            first: cython.bint = self._hold(i)
            second: cython.bint = self._hold(j)
            self.n_pair_limit += first or second
        else:
            first = self._hold_if_spent(i)
            second = self._hold_if_spent(j)
        return first or second

    def _calm(self, p: cython.Py_ssize_t) -> cython.bint:
        """Let the free bodies of a pair at its limit rebound no more in this instant.

        Returns False if that does not help, or a body that may not turn is in the way.
        """
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        if (
            self.pairs.impact[p].resolved_at != self.step.now
            or self.pairs.impact[p].resolutions >= self.step.pair_limit + REPEAT_LIMIT
            or not self._is_free(i, self.pairs.impact[p].axis)
            or not self._is_free(j, self.pairs.impact[p].axis)
        ):
            return False
        self.clusters.calm(i)
        self.clusters.calm(j)
        return True

    def _is_free(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a body may turn on an axis, and its cluster has no anchor there."""
        return self.bodies.may_turn(i, k) and not self.clusters.is_anchored(i, k)

    def _keeps_growing(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a resizing pair is about to be crushed although one body is held."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis

        return (
            (self.bodies.on_hold[i] or self.bodies.on_hold[j])
            and self.pairs.impact[p].repeats >= REPEAT_LIMIT - 1
            and self.pairs.impact[p].resolved_at == self.step.now
            and (self.bodies.resize_of(i, k) != 0.0 or self.bodies.resize_of(j, k) != 0.0)
        )

    def _hold_if_spent(self, i: cython.Py_ssize_t) -> cython.bint:
        """Hold a body that has reached its limit of visits; return whether that has held it."""
        was_held: cython.bint = self.holding.is_spent(i) and self._hold(i)

        self.n_sweep_limit += was_held
        return was_held

    def _hold(self, i: cython.Py_ssize_t) -> cython.bint:
        """Hold a body from now on, without what leads it out of others."""
        self._end_all_drifts(i)
        return self.holding.hold(i)

    def _end_all_drifts(self, i: cython.Py_ssize_t) -> cython.void:
        """End what leads a body out of others."""
        for k in range(self.bodies.dim):
            self.clusters.end_drift(i, k)

    # -- cross --

    def sweep_crossings(self) -> cython.void:
        """Sweep all pairs that cross over the whole step; queue when they enter or leave."""
        for p in range(self.pairs.n):
            if not self.pairs.crosses_on_path(p):
                continue
            self.narrowphase.aim(p)
            kind: cython.int = self.narrowphase.sweeper.solve()
            n: cython.Py_ssize_t = self.pairs.contact_of(p)
            if n >= 0 and self._is_parted(p, n, kind):
                self.contacts.end_crossing(p)
                if self._close(p):
                    continue
            elif n >= 0 and self.contacts.rows.at[n].kind != SOLID and kind != SEPARATE:
                self.pairs.enter(p)
                self.pairs.impact[p].axis = self.contacts.rows.at[n].axis
                self.pairs.impact[p].sign = self.contacts.rows.at[n].sign
            elif kind == OVERLAP:
                self.pairs.enter(p)
                self.narrowphase.note_side(p, kind)
                self.pairs.impact[p].began = 0.0
                self._log_crossing(p, BEGAN, 0.0, -1)
            self.narrowphase.sweep_crossing(p, kind)

    def _is_parted(
        self, p: cython.Py_ssize_t, n: cython.Py_ssize_t, kind: cython.int
    ) -> cython.bint:
        """Return whether the bodies of contact n are apart already, because the game moved one.

        If the two do not meet in this step, their contact ends at its end like all contacts that
        are not found again.  With CROSS_UNTIL_APART it ends at once.
        """
        if kind == SEPARATE:
            return self.pairs.at[p].state == CROSS_UNTIL_APART
        return self.contacts.rows.at[n].kind != SOLID and self.narrowphase.has_left()

    def _cross(
        self, p: cython.Py_ssize_t, stale: cython.bint, resolving: cython.bint
    ) -> cython.bint:
        """Note that the bodies of a pair enter or leave each other.

        If the pair is `stale`, a body has turned since it was swept, and it is swept again first.
        Returns whether the impact must be handed over first, as one of the two is attached.
        """
        if stale:
            self.narrowphase.aim(p)
            self.narrowphase.sweeper.solve()
            if self.pairs.has_contact(p):
                if self.narrowphase.sweeper.exit > 0.0 and not self.narrowphase.has_left():
                    self.narrowphase.sweep_crossing(p, self.narrowphase.sweeper.kind)
                    return False
            elif self.narrowphase.sweeper.kind == OVERLAP:  # a response put one into the other
                self.narrowphase.note_side(p, OVERLAP)
            elif not self.narrowphase.is_due(p):
                return False
        self.bodies.note_crossing(self.pairs.at[p].first)
        self.bodies.note_crossing(self.pairs.at[p].second)
        if self.pairs.has_contact(p):
            self.pairs.part(p)
            self.contacts.forget_former(p)
            self._log_crossing(p, ENDED, self.step.now, SEPARATED)
            self.pairs.impact[p].began = -1.0
            if not self._close(p):
                self.narrowphase.aim(p)
                self.narrowphase.sweeper.solve()
                if self.narrowphase.has_left():  # by a jump, so it may enter again in this step
                    self.narrowphase.sweep_crossing(p, IMPACT)
            return False
        self.event = self._log(p, OutcomeCode.CROSSED)
        if resolving and self.surfaces.may_offer_crossing(p) and self._is_handed_over(p):
            return True
        self._begin_crossing(p)
        return False

    def _begin_crossing(self, p: cython.Py_ssize_t) -> cython.void:
        """Begin the contact of a pair whose bodies enter each other."""
        # Otherwise a contact of the last step goes on: the game has made one of the two smaller.
        if not self.pairs.had_contact(p):
            self._log_crossing(p, BEGAN, self.step.now, -1)
        self._enter(p)

    def _enter(self, p: cython.Py_ssize_t) -> cython.void:
        """Note that the bodies of a crossing pair are in contact, and queue when they leave."""
        self.pairs.enter(p)
        self.pairs.impact[p].began = self.step.now
        self.narrowphase.aim(p)
        self.narrowphase.sweeper.solve()
        self.narrowphase.sweep_crossing(p, self.narrowphase.sweeper.kind)

    def _close(self, p: cython.Py_ssize_t) -> cython.bint:
        """End CROSS_UNTIL_APART of a pair whose bodies have separated, and sweep it again.

        Returns whether it had that state.
        """
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        if self.pairs.at[p].state != CROSS_UNTIL_APART:
            return False
        self.pairs.close(p, self.broadphase.state_of(i, j))
        self.narrowphase.sweep_again(p)
        return True

    # -- hand over --

    def _hand_over(self, p: cython.Py_ssize_t) -> cython.void:
        """Prepare the bodies of the impact just logged for the game."""
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second

        self.sleeping.wake_met(i)
        self.sleeping.wake_met(j)
        self.clusters.write()
        self.bodies.end_rest(i)
        self.bodies.end_rest(j)
        self.pending = p
        self.is_set = False
        self.is_changed = False

    def _end_pending(self) -> cython.bint:
        """End the pending impact; return False if its bodies cross anyway, as one is attached."""
        p: cython.Py_ssize_t = self.pending

        self.pending = -1
        if not self.surfaces.may_offer_crossing(p):
            return True
        self.clusters.write()
        if not self.pairs.at[p].is_withdrawn:
            self._begin_crossing(p)
        return False

    def cross_pending(self, until_apart: cython.bint):
        """Finish the impact that was handed over; its bodies cross on their paths."""
        p: cython.Py_ssize_t = self.pending

        if not self._end_pending():
            return
        self.falling.join()
        if not self.pairs.at[p].is_withdrawn:
            self.event_buffer.codes[self.event, OUTCOME] = OutcomeCode.CROSSED
            self.n_resolutions -= 1
            if self.began_at >= 0:  # the contact that this impact began is not solid
                self.event_buffer.contact_codes[self.began_at, CONTACT_KIND] = CROSSING
                self.contacts.forget_former(p)
            else:
                self.contacts.open(p, self.step.now)
                self._log_crossing(p, BEGAN, self.step.now, -1)
            self.pairs.cross(p, CROSS_UNTIL_APART if until_apart else CROSS_ONCE)
            self._enter(p)

    def conclude_pending(self, default: cython.bint, is_resolved: cython.bint):
        """Finish the impact that was handed over; with `default`, by the built-in response.

        A pair that the game has left closing is slid, unless it `is_resolved` already and the
        game has changed nothing since.
        """
        p: cython.Py_ssize_t = self.pending

        if not self._end_pending():
            return
        if not self.pairs.is_solid(p):
            self.falling.join()
        elif default:
            if self._still_closes(p):
                self._resolve(p, self._closing_speed(p), False)
        elif (self.is_changed or not is_resolved) and self.narrowphase.meets(p):
            speed: cython.double = self._closing_speed(p)
            self._resolve(p, speed, True)
            # Without a speed only gravity closes it, so the game has resolved it.
            if speed > 0.0 and self.event_buffer.codes[self.event, OUTCOME] == OutcomeCode.RESOLVED:
                self.event_buffer.codes[self.event, OUTCOME] = OutcomeCode.FORCED
                self.n_forced += 1
        if self.is_set and self.event_buffer.codes[self.event, OUTCOME] != OutcomeCode.CRUSHED:
            self.event_buffer.impulse[self.event] = max(
                self._change_of(p, self.pairs.at[p].first, 0),
                self._change_of(p, self.pairs.at[p].second, 1),
            )

    def resolve_pending(self, response: cython.int, restitution: cython.double):
        """Resolve the pair that was handed over, and keep it pending.

        `response` is a code of `Bodies.response`; 0 is the built-in response.
        """
        p: cython.Py_ssize_t = self.pending

        if self.pairs.is_solid(p):
            if self._still_closes(p):
                self._resolve_as(p, response, restitution)
                self.falling.n_splits = 0
            self.clusters.write()
            self.is_changed = False

    def _still_closes(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the pair that was handed over closes after the changes of the game."""
        return not self.is_changed or self.narrowphase.meets(p)

    def _change_of(
        self, p: cython.Py_ssize_t, i: cython.Py_ssize_t, place: cython.int
    ) -> cython.double:
        """Return how much the momentum of a body of the pending pair has changed on its axis.

        `place` is 0 for the first body, 1 for the second.
        """
        b: Bodies = self.bodies
        k: cython.int = self.pairs.impact[p].axis

        if not b.dynamic[i]:
            return 0.0
        return b.mass[i] * abs(
            self.impact_log.event_velocity(i, k)
            - self.event_buffer.numbers[self.event, NORMAL + 1 + (3 + place) * b.dim + k]
        )

    # -- resolve --

    def _resolve_as(
        self, p: cython.Py_ssize_t, response: cython.int, restitution: cython.double
    ) -> cython.void:
        """Resolve with a response for both bodies of a pair; 0: with their own responses."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        one: cython.int = b.response[i]
        other: cython.int = b.response[j]
        bounce: cython.double = b.restitution[i]
        other_bounce: cython.double = b.restitution[j]

        if response != 0:
            self.is_chosen = True
            b.response[i] = b.response[j] = response
            b.restitution[i] = b.restitution[j] = restitution
        self._resolve(p, self._closing_speed(p), False)
        self.is_chosen = False
        b.response[i] = one
        b.response[j] = other
        b.restitution[i] = bounce
        b.restitution[j] = other_bounce

    def _resolve(
        self, p: cython.Py_ssize_t, speed: cython.double, normal_only: cython.bint
    ) -> cython.void:
        """Resolve the impact just logged, which closes at `speed`, by the responses of its bodies.

        With `normal_only` they do not rebound, and nothing acts along the surface.
        """
        m: ImpactState = self.solver.impact
        restitution: cython.double = 0.0

        m.take(p)
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]
        self.carriers.catch_up()
        self.solver.weigh()
        normal_only |= m.changes_held()
        if self.pairs.impact[p].resolved_at == self.step.now:
            self.pairs.impact[p].repeats += 1
        else:
            self.pairs.impact[p].repeats = 0
        if self._crush_if_stuck(p):
            return
        self.pairs.impact[p].resolved_at = self.step.now
        leans: cython.bint = not self.is_chosen and self.contacts.leans(p)
        if not (
            normal_only
            or self.pairs.impact[p].kind == OVERLAP
            or speed < self.step.rest_speed
            or self.clusters.is_calm(i)
            or self.clusters.is_calm(j)
            or self.solver.is_squeezed()
        ):
            restitution = (
                self.solver.restitution() if self.is_chosen else self.surfaces.restitution(p)
            )
            if restitution < 1.0 and leans:
                restitution = 0.0
        limit: cython.longlong = RESIZING_LIMIT if m.resizes else INSTANT_LIMIT
        if self.pairs.impact[p].repeats >= limit:
            # A bouncing pile, or a body with Stop between two others, would reach the limits.  One
            # that grows in a narrow shaft would gain speed at each bounce.
            normal_only = True
            if restitution < 1.0 or limit > INSTANT_LIMIT:
                restitution = 0.0
        if restitution > 0.0 and speed > m.rounding():
            self.falling.spend_damping()
        is_first: cython.bint = restitution == 0.0 and self.pairs.impact[p].repeats == 0
        self.solver.met_at = speed if is_first else 0.0
        slants: cython.bint = m.slants
        if (
            restitution > 0.0
            and not self.is_chosen
            and self.bounces.any_due()
            and self.bounces.is_free(p)
            and self.bounces.gather(p)
        ):
            self.bounces.add(p, restitution)
            self._bounce_together(p)
        elif slants:
            if self.bodies.controls.any_turn:
                self.tangential.note_slope()
            if not self.slopes.resolve(p, restitution, normal_only):
                self._crush(p, self.slopes.slopes.slope, self.slopes.solid)
                return
        elif not self.solver.resolve(restitution, normal_only):
            self._crush(p, self.solver.solid_first, self.solver.solid_second)
            return
        self.event_buffer.impulse[self.event] += m.impulse
        if self.along.is_used():
            self.along.wait(p, not (normal_only or slants), leans)
            self._turn_if_last()

    def _bounce_together(self, p: cython.Py_ssize_t) -> cython.void:
        """Resolve the bounce of a pair together with the others that `bounces` has found."""
        m: ImpactState = self.solver.impact

        for n in range(self.bounces.n):
            q: cython.Py_ssize_t = self.bounces.met[n]
            i: cython.Py_ssize_t = self.pairs.at[q].first
            j: cython.Py_ssize_t = self.pairs.at[q].second
            self.sleeping.wake_met(i)
            self.sleeping.wake_met(j)
            if q != p:
                self.pairs.impact[q].resolved_at = self.step.now
                self.pairs.impact[q].repeats = 0
            self._end_drifts(q)
            self._split_paths(q)
            self.falling.spend_damping()
            self.carriers.catch_up()
            self.solver.weigh()
            self.solver.note_velocities(self.bounces.restitution)
        self.bounces.resolve()
        m.impulse = self.bounces.take_impulse(p)

    def _crush_if_stuck(self, p: cython.Py_ssize_t) -> cython.bint:
        """Crush a pair that no change of velocity keeps apart; return whether it is one."""
        b: Bodies = self.bodies
        m: ImpactState = self.solver.impact
        i: cython.Py_ssize_t = m.rows[0]
        j: cython.Py_ssize_t = m.rows[1]

        if self.pairs.impact[p].resolutions > self.step.pair_limit + REPEAT_LIMIT or (
            self.pairs.impact[p].repeats >= REPEAT_LIMIT and m.resizes
        ):
            self._crush(p, -1 if b.dynamic[i] else i, -1 if b.dynamic[j] else j)
            return True
        rival: cython.Py_ssize_t = (
            self.projection.rival_between(i, j) if self.projection.any_lost else -1
        )
        if rival >= 0:
            if b.dynamic[i] and b.dynamic[j]:
                self._crush(
                    p, self.clusters.anchor_of(i, m.axis), self.clusters.anchor_of(j, m.axis)
                )
            else:
                self._crush(p, j if b.dynamic[i] else i, rival)
            return True
        if m.is_dynamic[0] or m.is_dynamic[1] or m.slants:
            return False
        self._crush(p, i, j)  # one of them is locked on this axis
        return True

    def _crush(
        self, p: cython.Py_ssize_t, one: cython.Py_ssize_t, other: cython.Py_ssize_t
    ) -> cython.void:
        """Report that a pair cannot be kept apart, and ignore it to the end of the step.

        `one` and `other` are the rows of the bodies that cannot give way, or -1 if not known.
        """
        if other >= 0 and (one < 0 or self.bodies.ids[other] < self.bodies.ids[one]):
            swap: cython.Py_ssize_t = one
            one = other
            other = swap
        self.pairs.crush(p)
        self.holding.lose_speed(self.pairs.at[p].first, self.pairs.impact[p].axis)
        self.holding.lose_speed(self.pairs.at[p].second, self.pairs.impact[p].axis)
        self.event_buffer.codes[self.event, OUTCOME] = OutcomeCode.CRUSHED
        if one >= 0:
            self.event_buffer.solid_first[self.event] = self.bodies.ids[one]
        if other >= 0:
            self.event_buffer.solid_second[self.event] = self.bodies.ids[other]
        self.n_crushed += 1

    # -- log --

    def _log(self, p: cython.Py_ssize_t, outcome: cython.int) -> cython.Py_ssize_t:
        """Log the impact that was taken; return its row."""
        n: cython.Py_ssize_t = self.impact_log.write(self.event_buffer, p, outcome)

        if outcome != OutcomeCode.CROSSED:
            self.contacts.meet(p, self.step.now)
            self.shared.add(p, n)
        return n

    def _log_crossing(
        self, p: cython.Py_ssize_t, event: cython.int, time: cython.double, reason: cython.int
    ) -> cython.void:
        """Log that the bodies of a crossing pair have entered each other, or ended their contact."""
        self.contacts.log(
            p, event, WITHIN, time,
            self.pairs.impact[p].axis, self.pairs.impact[p].sign, CROSSING, reason,
        )  # fmt: skip

    # -- the bodies of the pending impact --

    @cython.ccall
    def place_now(self, i: cython.Py_ssize_t) -> tuple:
        """Return a body's centre at the present time of the step."""
        for k in range(self.bodies.dim):
            self.vector[k] = self.bodies.into_world(k, self.bodies.centre_at(i, k, self.step.now))
        return vector_of(self.vector, 0, self.bodies.dim)

    def half_now(self, i: cython.Py_ssize_t, k: cython.int) -> float:
        """Return a body's half size at the present time of the step."""
        return self.bodies.half_at(i, k, self.step.now)

    @cython.ccall
    def velocity_now(self, i: cython.Py_ssize_t) -> tuple:
        """Return the velocity with which a body goes on now; see `ImpactLog.event_velocity`."""
        for k in range(self.bodies.dim):
            self.vector[k] = self.impact_log.event_velocity(i, k)
        return vector_of(self.vector, 0, self.bodies.dim)

    def final_velocity(self, i: cython.Py_ssize_t, k: cython.int) -> float:
        """Return the velocity of a body at the end of the step if nothing more happens to it."""
        return self.clusters.final_velocity(i, k)

    def set_velocity(self, i: cython.Py_ssize_t, k: cython.int, value: cython.double):
        """Give a body a new velocity at the instant of the pending impact."""
        self.is_changed = True
        self.sleeping.rouse(i)
        if not self.bodies.controls.locks(i, k):
            self.is_set = True
            self.tangential.leave(i)
            self.clusters.end_drift(i, k)
            self.falling.set_velocity(i, k, value)

    def relocate(self, i: cython.Py_ssize_t, k: cython.int, value: cython.double):
        """Move a body elsewhere at the instant of the pending impact."""
        self.is_changed = True
        self.sleeping.rouse(i)
        self._end_all_drifts(i)
        self.bodies.advance(i, self.step.now)
        self.bodies.put(i, k, self.bodies.into_world(k, value))
        self.bodies.note_turn(i)
        self._forget_touch(i)

    def _forget_touch(self, i: cython.Py_ssize_t) -> cython.void:
        """Forget which faces of a relocated body touch."""
        p: cython.Py_ssize_t = self.pairs.head_of(i)

        while p >= 0:
            self.pairs.forget_touch(p)
            p = self.pairs.next_of(p, i)

    def withdraw(self, i: cython.Py_ssize_t):
        """Take a body that a response has deleted out of the step."""
        self.sleeping.wake_in_step(i)
        p: cython.Py_ssize_t = self.pairs.head_of(i)
        self.bodies.withdraw(i)
        while p >= 0:
            self.contacts.end_withdrawn(p, self.step.now)
            self.pairs.withdraw(p)
            self.queue.drop(p)
            p = self.pairs.next_of(p, i)

    def stop(self, i: cython.Py_ssize_t):
        """Stop a withdrawn body at its present place to the end of the step."""
        self.bodies.advance(i, self.step.now)
        self.bodies.end_path(i)
        self.attachments.lead(i)
