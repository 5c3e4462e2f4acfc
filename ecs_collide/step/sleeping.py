"""Put resting bodies to sleep, so that they cost nothing until something reaches them.

Sleep changes no result.  A sleeping body is in the tree of still bodies, so a moving body meets it
as it meets a wall.  Two bodies that sleep or never move are not a pair, and their contact stays as
it is.  Before anything happens to a sleeping body within a step, its pairs with other bodies at
rest are created, so from then on the step treats it like an awake one.

Bodies that are pressed against each other, by gravity or by a velocity that the game sets in each
step, sleep in *islands* of dynamic bodies connected by contacts.  Awake members would be resolved
at the start of each step and stay where they are.  A body that comes near one member wakes the
whole island before the step, so all bodies that meet at its start are awake.  A member that is
reached later is in the state in which these resolutions would have left it.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import BYTE, LONG, grown, zeros
from ecs_collide._kernel.constants import SLOP, Leans, SleepState
from ecs_collide.broadphase.broadphase import Broadphase
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import ANCHOR_VELOCITY, ANCHORED, EARLIER, Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.contacts_between_steps import (
    CROSSING,
    SOLID,
    UNTIL_APART,
    ContactRows,
)
from ecs_collide.narrowphase.contacts_in_step import ContactsInStep
from ecs_collide.narrowphase.narrowphase import Narrowphase
from ecs_collide.narrowphase.placement import PositionCorrection
from ecs_collide.narrowphase.slopes import PENETRATING, is_slanted
from ecs_collide.narrowphase.step import Step


@cython.final
class Sleeping:
    """The bodies of a space that sleep."""

    bodies: Bodies
    pairs: PairTable
    broadphase: Broadphase
    contacts: ContactsInStep
    correction: PositionCorrection
    narrowphase: Narrowphase
    gravity: Gravity
    # sleeping bodies, including bodies to which something has happened in this step
    n: ReadOnly[cython.Py_ssize_t]
    n_leaning: ReadOnly[cython.Py_ssize_t]  # number of them that sleep in islands
    n_islands: cython.longlong
    # upper bound of the pairs that they would have, if awake, with each other and with bodies that
    # never move
    n_resting: ReadOnly[cython.Py_ssize_t]
    n_steps: cython.longlong
    beside: cython.longlong[::1]
    paired_in: cython.longlong[::1]
    reached: cython.longlong[::1]
    is_reached: cython.schar[::1]
    is_waiting: cython.schar[::1]
    parent: cython.longlong[::1]
    is_pressed: cython.schar[::1]

    def __init__(
        self,
        step: Step,
        broadphase: Broadphase,
        contacts: ContactsInStep,
        correction: PositionCorrection,
        narrowphase: Narrowphase,
    ):
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.gravity = step.gravity
        self.broadphase = broadphase
        self.contacts = contacts
        self.correction = correction
        self.narrowphase = narrowphase
        self.n_steps = 1  # a row that was never paired has 0
        self.beside = zeros(LONG, 1)
        self.paired_in = zeros(LONG, 1)
        self.reached = zeros(LONG, 1)
        self.is_reached = zeros(BYTE, 1)
        self.parent = zeros(LONG, 1)
        self.is_waiting = zeros(BYTE, 1)
        self.is_pressed = zeros(BYTE, 1)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.beside = grown(self.beside, n_rows)
        self.paired_in = grown(self.paired_in, n_rows)
        self.reached = grown(self.reached, n_rows)
        self.is_reached = grown(self.is_reached, n_rows)
        self.is_waiting = grown(self.is_waiting, n_rows)
        self.parent = grown(self.parent, n_rows)
        self.is_pressed = grown(self.is_pressed, n_rows)

    @cython.ccall
    def begin_step(self) -> cython.void:
        """Forget which bodies got pairs in the last step."""
        self.n_steps += 1

    # -- between steps --

    def put_to_sleep(self, rows: cython.longlong[::1]):
        """Put the bodies of `rows`, which were at rest in the last step, to sleep.

        A pair of that step is skipped from now on while neither of its bodies is awake.
        """
        b: Bodies = self.bodies

        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            b.held[i] = self._anchored_axes(i) if b.leans[i] else 0
            self.is_reached[i] = 1
            self._stop(i)
        for p in range(self.pairs.n):
            i = self.pairs.at[p].first
            j: cython.Py_ssize_t = self.pairs.at[p].second
            if b.moves[i] or b.moves[j]:
                continue
            if not self.is_reached[i]:
                i = j
            if self.is_reached[i]:
                self.beside[i] += 1
                self.n_resting += 1
        for n in range(rows.shape[0]):
            self.is_reached[rows[n]] = 0
        self.n += rows.shape[0]
        self._hold()
        b.place_still(rows)
        self.broadphase.place_still(rows)

    def _stop(self, i: cython.Py_ssize_t) -> cython.void:
        """Put one body to sleep; reset its motion and its count of pairs at rest."""
        b: Bodies = self.bodies

        b.asleep[i] = SleepState.ASLEEP
        b.moves[i] = 0
        self.n_leaning += b.leans[i] != 0
        self.beside[i] = 0
        for k in range(b.dim):
            b.motion[i, k] = 0.0

    def recover(self, rows: cython.longlong[::1]):
        """Put the bodies of `rows` to sleep, which slept in a snapshot; all others are awake.

        The columns `leans`, `island` and `held` already have the values of the snapshot.
        """
        b: Bodies = self.bodies

        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            self.n_islands = max(self.n_islands, b.island[i])
            self._stop(i)
        self.n += rows.shape[0]
        b.place_still(rows)
        self.broadphase.place_still(rows)
        for n in range(rows.shape[0]):  # an upper bound of the pairs they had
            i = rows[n]
            for m in range(self.broadphase.still.touching(b.flat_min, b.flat_max, i)):
                j: cython.Py_ssize_t = self.broadphase.still.found[m]
                if j != i and not (b.asleep[j] and j < i):
                    self.beside[i] += 1
            self.n_resting += self.beside[i]

    def _anchored_axes(self, i: cython.Py_ssize_t) -> cython.int:
        """Return the bits 1 << axis of the axes on which the last step has anchored a body."""
        b: Bodies = self.bodies
        axes: cython.int = 0

        if b.is_marked[i]:
            for k in range(b.dim):
                if b.turn_of(i, k, ANCHORED) >= 0.0 and b.turn_of(i, k, ANCHOR_VELOCITY) == 0.0:
                    axes |= 1 << k
        return axes

    def choose(self, rows: cython.longlong[::1]) -> list:
        """Return the bodies of `rows` that may fall asleep; all have rested for long enough.

        An island falls asleep as a whole.  The columns `leans` and `island` mark its members.
        """
        b: Bodies = self.bodies
        any_pressed: cython.bint = self.n_leaning > 0
        chosen: list = []

        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            self.is_reached[i] = 1
            any_pressed |= b.turned_now(i, 0.0)
        if any_pressed:
            self._find_islands(rows)
        for n in range(rows.shape[0]):
            i = rows[n]
            if not any_pressed or self.is_pressed[self._root(i)] >= 0:
                chosen.append(i)
        if any_pressed:
            self._lean(chosen)
            if not self.gravity.is_on:
                chosen = self._held_among(chosen)
        for n in range(rows.shape[0]):
            self.is_reached[rows[n]] = 0
        return chosen

    @cython.cfunc
    def _held_among(self, chosen: list) -> list:
        """Return the bodies of `chosen` in islands that would stay asleep.

        In a crowd that presses from all sides, nothing may hold a member on the side to which it
        was pressed in the last step.  The same velocity would wake the island in the next one.
        """
        b: Bodies = self.bodies
        loose: set = set()
        held: list = []

        for row in chosen:
            i: cython.Py_ssize_t = row
            if not b.turned_now(i, 0.0):
                continue
            for k in range(b.dim):
                velocity: cython.double = b.turn_of(i, k, EARLIER)
                side: cython.int = 1 << (2 * k + (velocity > 0.0))
                if velocity != 0.0 and not b.leans[i] & side:
                    loose.add(self._root(i))
        for row in chosen:
            if self._root(row) in loose:
                b.leans[row] = 0
            else:
                held.append(row)
        return held

    def _root(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the row that stands for the island of a body."""
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def _hangs(self, n: cython.Py_ssize_t) -> cython.bint:
        """Return whether a contact connects an island: solid, between two dynamic bodies."""
        b: Bodies = self.bodies

        return (
            self.contacts.rows.at[n].kind == SOLID
            and b.dynamic[self.contacts.rows.at[n].first] != 0
            and b.dynamic[self.contacts.rows.at[n].second] != 0
        )

    @cython.cfunc
    def _find_islands(self, rows: cython.longlong[::1]):
        """Find the islands, and set `is_pressed` of each root.

        1 if a member of the island is pressed; -1 if, in addition, a member must stay awake, so
        that none may sleep; 0 if no member is pressed.
        """
        b: Bodies = self.bodies
        contacts: ContactRows = self.contacts.rows

        for n in range(rows.shape[0]):
            self.parent[rows[n]] = rows[n]
            self.is_pressed[rows[n]] = 0
        for n in range(self.contacts.rows.n):
            for m in range(2):
                self.parent[contacts.body(n, m)] = contacts.body(n, m)
                self.is_pressed[contacts.body(n, m)] = 0
        for n in range(self.contacts.rows.n):
            if self._hangs(n):
                one: cython.Py_ssize_t = self._root(contacts.at[n].first)
                other: cython.Py_ssize_t = self._root(contacts.at[n].second)
                self.parent[max(one, other)] = min(one, other)
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if b.turned_now(i, 0.0):
                self.is_pressed[self._root(i)] = 1
        for n in range(self.contacts.rows.n):
            for m in range(2):
                i = contacts.body(n, m)
                if b.leans[i]:
                    self.is_pressed[self._root(i)] = 1
        for n in range(self.contacts.rows.n):
            for m in range(2):
                i = contacts.body(n, m)
                if b.dynamic[i] and not self.is_reached[i] and not b.asleep[i]:
                    root: cython.Py_ssize_t = self._root(i)
                    if self.is_pressed[root] > 0:
                        self.is_pressed[root] = -1

    @cython.cfunc
    def _lean(self, chosen: list):
        """Set `leans` of bodies in new islands to the sides on which something holds them."""
        b: Bodies = self.bodies
        contacts: ContactRows = self.contacts.rows
        first_island: cython.longlong = self.n_islands + 1
        bounces: dict = {}
        members: list = []

        for row in chosen:
            if self.is_pressed[self._root(row)] > 0:
                members.append(row)
        for n in range(self.contacts.rows.n):
            for m in range(2):  # a body that sleeps already joins the island
                i: cython.Py_ssize_t = contacts.body(n, m)
                if b.asleep[i] and b.dynamic[i] and self.is_pressed[self._root(i)] > 0:
                    if not b.leans[i]:
                        self.n_leaning += 1
                    b.leans[i] = Leans.IN_ISLAND
                    members.append(i)
        for row in members:
            i = row
            root: cython.Py_ssize_t = self._root(i)
            b.leans[i] = Leans.IN_ISLAND
            b.island[i] = first_island + root
            self.n_islands = max(self.n_islands, first_island + root)
            if b.custom[i]:
                bounces[root] = 2
            elif b.restitution[i] > 0.0 or b.controls.has_restitution(i):
                bounces[root] = max(bounces.get(root, 0), 1)
        for n in range(self.contacts.rows.n if b.controls.is_used else 0):
            for m in range(2):  # a support may have a `Restitution`, too
                i = contacts.body(n, m)
                if b.leans[i] and b.controls.has_restitution(contacts.body(n, 1 - m)):
                    bounces[self._root(i)] = max(bounces.get(self._root(i), 0), 1)
        self._spread_sides(first_island)
        for row in members:
            i = row
            if b.island[i] >= first_island:
                if bounces.get(self._root(i), 0) == 1:
                    b.leans[i] |= Leans.BOUNCES
                elif bounces.get(self._root(i), 0) == 2:
                    b.leans[i] = Leans.IN_ISLAND

    def _spread_sides(self, first_island: cython.longlong) -> cython.void:
        """Find the held sides of members of new islands, starting at static and kinematic bodies.

        O(contacts), because a body is visited again only after it has gained a side.
        """
        b: Bodies = self.bodies
        contacts: ContactRows = self.contacts.rows
        inside: set = self._overlapping()
        m: cython.Py_ssize_t
        n_waiting: cython.Py_ssize_t = 0

        contacts.link()
        for m in range(2 * self.contacts.rows.n):
            if not b.dynamic[contacts.body(m >> 1, 1 - (m & 1))]:
                n_waiting = self._hold_on(m, first_island, inside, n_waiting)
        while n_waiting:
            n_waiting -= 1
            i: cython.Py_ssize_t = self.reached[n_waiting]
            self.is_waiting[i] = 0
            m = contacts.end_of(i)
            while m >= 0:
                n_waiting = self._hold_on(m ^ 1, first_island, inside, n_waiting)
                m = contacts.next_end[m]

    def _hold_on(
        self,
        m: cython.Py_ssize_t,
        first_island: cython.longlong,
        inside: set,
        n_waiting: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Hold the body at end `m` of a contact on the side of the other body.

        If that side is new, adds the body to the first `n_waiting` of `reached`.  Returns the new
        `n_waiting`.
        """
        b: Bodies = self.bodies
        n: cython.Py_ssize_t = m >> 1
        i: cython.Py_ssize_t = self.contacts.rows.body(n, m & 1)
        j: cython.Py_ssize_t = self.contacts.rows.body(n, 1 - (m & 1))

        if self.contacts.rows.at[n].kind != SOLID or b.leans[i] == 0 or b.island[i] < first_island:
            return n_waiting
        # The normal points from the second to the first, so the first is pressed back.
        side: cython.int = 1 << (
            2 * self.contacts.rows.at[n].axis + ((self.contacts.rows.at[n].sign > 0) == (m & 1))
        )
        if (b.dynamic[j] and not b.leans[j] & side) or b.leans[i] & side:
            return n_waiting
        if i in inside:
            return n_waiting  # the way out may be on any side
        b.leans[i] |= side
        if not self.is_waiting[i]:
            self.is_waiting[i] = 1
            self.reached[n_waiting] = i
            n_waiting += 1
        return n_waiting

    @cython.cfunc
    def _overlapping(self) -> set:
        """Return the rows of the bodies that overlap a solid body that they touch."""
        contacts: ContactRows = self.contacts.rows
        found: set = set()

        for n in range(self.contacts.rows.n):
            if contacts.at[n].kind == SOLID and self._overlap(n):
                found.update((contacts.at[n].first, contacts.at[n].second))
        return found

    def _overlap(self, n: cython.Py_ssize_t) -> cython.bint:
        """Return whether the bodies of a contact are inside each other on its axis."""
        if is_slanted(self.contacts.rows.at[n].sign):
            return False  # on the line of a slope, the boxes overlap
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.contacts.rows.at[n].first
        j: cython.Py_ssize_t = self.contacts.rows.at[n].second
        k: cython.int = self.contacts.rows.at[n].axis
        apart: cython.double = abs(b.centre_of(i, k) - b.centre_of(j, k))
        size: cython.double = b.half_of(i, k) + b.half_of(j, k)

        return size - apart > SLOP * max(size, abs(b.centre_of(i, k)), abs(b.centre_of(j, k)))

    def reached_by(self, rows: cython.longlong[::1]) -> list:
        """Return the rows of island members that the paths of `rows` reach and may disturb."""
        b: Bodies = self.bodies
        found: list = []

        for n in range(rows.shape[0] if self.n_leaning else 0):
            i: cython.Py_ssize_t = rows[n]
            moves: cython.bint = (
                b.dynamic[i] != 0 or b.interrupted[i] or b.rest_count[i] < 1
            )  # or it is new or has changed
            for k in range(b.dim):
                moves |= b.motion_of(i, k) != 0.0 or b.resize_of(i, k) != 0.0
            if not moves or b.sensor[i]:
                continue
            for m in range(self.broadphase.still.touching(b.flat_min, b.flat_max, i)):
                j: cython.Py_ssize_t = self.broadphase.still.found[m]
                if b.leans[j]:
                    found.append(j)
        return found

    def _hold(self) -> cython.void:
        """Set `held` of sleeping bodies that touch a resting static or kinematic body."""
        b: Bodies = self.bodies

        for n in range(self.contacts.rows.n):
            i: cython.Py_ssize_t = self.contacts.rows.at[n].first
            j: cython.Py_ssize_t = self.contacts.rows.at[n].second
            k: cython.int = self.contacts.rows.at[n].axis
            if self.contacts.rows.at[n].kind != SOLID or b.moves[i] or b.moves[j]:
                continue
            if (b.leans[i] or b.leans[j]) and self._overlap(n):
                continue  # a body that overlaps another is stopped, but not anchored
            self._hold_by(i, j, k)
            self._hold_by(j, i, k)

    def _hold_by(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Set `held` of body i on an axis if it sleeps and body j holds it."""
        if self.bodies.asleep[i] and not self.bodies.dynamic[j]:
            self.bodies.held[i] |= 1 << k

    def wake(self, rows: cython.longlong[::1]):
        """Wake the sleeping bodies of `rows`."""
        for n in range(rows.shape[0]):
            self.forget(rows[n])
            self.bodies.moves[rows[n]] = 1
        self.broadphase.place_moving(rows)

    @cython.ccall
    def forget(self, i: cython.Py_ssize_t) -> cython.void:
        """Clear the sleep state of a body that wakes or is deleted."""
        if self.bodies.asleep[i] == SleepState.AWAKE:
            return
        self.bodies.asleep[i] = SleepState.AWAKE
        self.bodies.rest_count[i] = self.bodies.interrupted[i] = 0
        self.bodies.held[i] = 0
        if self.bodies.leans[i]:
            self.bodies.leans[i] = 0
            self.n_leaning -= 1
        self.n -= 1
        self.n_resting -= self.beside[i]
        self.beside[i] = 0

    def held_by(self, rows: cython.longlong[::1]) -> list:
        """Return the rows of held sleeping bodies that touch a body of `rows`."""
        b: Bodies = self.bodies
        found: list = []

        for n in range(rows.shape[0]):
            self.is_reached[rows[n]] = 1
        for n in range(self.contacts.rows.n if rows.shape[0] else 0):
            i: cython.Py_ssize_t = self.contacts.rows.at[n].first
            j: cython.Py_ssize_t = self.contacts.rows.at[n].second
            if self.is_reached[i] and b.is_held(j):
                found.append(j)
            if self.is_reached[j] and b.is_held(i):
                found.append(i)
        for n in range(rows.shape[0]):
            self.is_reached[rows[n]] = 0
        return found

    def near(self, rows: cython.longlong[::1]) -> list:
        """Return the rows of still bodies, asleep or not, that touch the still ones of `rows`."""
        b: Bodies = self.bodies
        found: list = []

        for n in range(rows.shape[0]):
            for m in range(self.broadphase.still.touching(b.flat_min, b.flat_max, rows[n])):
                found.append(self.broadphase.still.found[m])
        return found

    # -- within a step --

    @cython.inline
    def wake_met(self, i: cython.Py_ssize_t) -> cython.void:
        """Prepare a dynamic body that may be asleep for an impact."""
        if self.bodies.dynamic[i]:
            self.wake_in_step(i)

    @cython.inline
    def wake_in_step(self, i: cython.Py_ssize_t) -> cython.void:
        """Prepare a body that may be asleep for an event of this step."""
        if self.bodies.asleep[i] == SleepState.ASLEEP:
            self._add_pairs(i)
            self.bodies.interrupt_rest(i)
            self.gravity.start_at_rest(i)

    @cython.inline
    def rouse(self, i: cython.Py_ssize_t) -> cython.void:
        """Prepare a body, which may be at rest, for a new place or velocity within this step."""
        if not self.bodies.moves[i]:
            self._add_pairs(i)
        self.wake_in_step(i)

    def _add_pairs(self, i: cython.Py_ssize_t) -> cython.void:
        """Create the pairs of a body at rest with others at rest, and recall their contacts."""
        contacts: ContactsInStep = self.contacts
        p: cython.Py_ssize_t
        first_new: cython.Py_ssize_t = self.pairs.n

        if self.paired_in[i] == self.n_steps:
            return
        self.paired_in[i] = self.n_steps
        self.pairs.mark_partners(i)
        self.broadphase.add_pairs_with_found(self.broadphase.still, i)
        if self.pairs.n == first_new:
            return
        for p in range(first_new, self.pairs.n):
            self.narrowphase.sweep_at_rest(p)
        contacts.rows.link()
        m: cython.Py_ssize_t = contacts.rows.end_of(i)
        while m >= 0:
            n: cython.Py_ssize_t = m >> 1
            j: cython.Py_ssize_t = contacts.rows.body(n, 1 - (m & 1))
            p = self.pairs.find(i, j)
            if p >= first_new:
                contacts.restore(p, n)
                if self.pairs.crosses(p) and contacts.rows.at[n].kind in (CROSSING, UNTIL_APART):
                    self.pairs.enter(p)
                    self.pairs.impact[p].axis = contacts.rows.at[n].axis
                    self.pairs.impact[p].sign = contacts.rows.at[n].sign
            m = contacts.rows.next_end[m]

    def pair_penetrating(self) -> cython.void:
        """Create the pairs of sleeping bodies that are connected with a pair to correct.

        The number of pairs between a body and a static or kinematic one decides how it is snapped.
        """
        b: Bodies = self.bodies
        p: cython.Py_ssize_t
        at: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = 0

        if self.n == 0:
            return
        for p in range(self.pairs.n):
            if self.correction.can_sink(p) and self._needs_correction(p):
                n = self._reach(self.pairs.at[p].first, n)
                n = self._reach(self.pairs.at[p].second, n)
        while at < n:
            i: cython.Py_ssize_t = self.reached[at]
            at += 1
            if b.asleep[i]:
                self._add_pairs(i)
            p = self.pairs.head_of(i)
            while p >= 0:
                if self.correction.can_sink(p):
                    n = self._reach(self.pairs.partner(p, i), n)
                p = self.pairs.next_of(p, i)
        for at in range(n):
            self.is_reached[self.reached[at]] = 0

    def _reach(self, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Add a dynamic body to the first `n` of `reached`, once; return the new `n`."""
        if self.is_reached[i] or not self.bodies.dynamic[i]:
            return n
        self.is_reached[i] = 1
        self.reached[n] = i
        return n + 1

    def _needs_correction(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the two bodies of a pair may be snapped at the end of the step."""
        if self.correction.solid_placement(p) == PENETRATING:
            return True
        for k in range(self.bodies.dim):  # noqa: SIM110  (a generator costs more)
            if self.correction.are_planes(p, k):
                return True
        return False
