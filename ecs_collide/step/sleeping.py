"""Bodies that sleep: they cost nothing until something reaches them, and nothing shows of it.

A body that sleeps stands in the tree of still bodies, so it is met as they are.
Two bodies of which neither is awake are no pair: whatever they are to each
other they stay.  A step that comes to one of them, though, goes by all of its
pairs: so it is *joined* before anything happens to it, which gives it the pairs that
it would have if it were awake.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.broadphase_c import Candidates
    from cython.cimports.ecs_collide.broadphase.pair_table_c import Pairs
    from cython.cimports.ecs_collide.motion.bodies_c import ASLEEP, AWAKE, Bodies
    from cython.cimports.ecs_collide.narrowphase.contacts_c import (
        CROSSING,
        SOLID,
        UNTIL_APART,
        Contacts,
    )
    from cython.cimports.ecs_collide.narrowphase.narrowphase_c import Meetings
    from cython.cimports.ecs_collide.narrowphase.placement_c import SUNK, Settler
else:
    from ecs_collide.broadphase.broadphase import Candidates
    from ecs_collide.broadphase.pair_table import Pairs
    from ecs_collide.motion.bodies import ASLEEP, AWAKE, Bodies
    from ecs_collide.narrowphase.contacts import CROSSING, SOLID, UNTIL_APART, Contacts
    from ecs_collide.narrowphase.narrowphase import Meetings
    from ecs_collide.narrowphase.placement import SUNK, Settler

from ecs_collide.motion.arrays import BYTE, LONG, grown, zeros


@cython.final
@cython.cclass
class Sleepers:
    """The bodies of a space that sleep.

    Attributes
    ----------
    n : int
        How many there are, with those that something has happened to in this step.
    n_resting : int
        No fewer than the pairs that they would have, if they were awake, with
        each other and with bodies that never move.
    """

    def __init__(
        self,
        bodies: Bodies,
        pairs: Pairs,
        candidates: Candidates,
        contacts: Contacts,
        settler: Settler,
        meetings: Meetings,
    ):
        self.bodies = bodies
        self.pairs = pairs
        self.candidates = candidates
        self.contacts = contacts
        self.settler = settler
        self.meetings = meetings
        self.n = 0
        self.n_resting = 0
        self.n_joined = 0
        self.is_indexed = False
        self.beside = zeros(LONG, 1)
        self.joined = zeros(LONG, 1)
        self.is_joined = zeros(BYTE, 1)
        self.reached = zeros(LONG, 1)
        self.is_reached = zeros(BYTE, 1)
        self.head = zeros(LONG, 1)
        self.next = zeros(LONG, 1, 2)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        beside: cython.longlong[::1] = grown(self.beside, n_rows)
        joined: cython.longlong[::1] = grown(self.joined, n_rows)
        is_joined: cython.schar[::1] = grown(self.is_joined, n_rows)
        reached: cython.longlong[::1] = grown(self.reached, n_rows)
        is_reached: cython.schar[::1] = grown(self.is_reached, n_rows)
        head: cython.longlong[::1] = grown(self.head, n_rows)

        self.beside = beside
        self.joined = joined
        self.is_joined = is_joined
        self.reached = reached
        self.is_reached = is_reached
        self.head = head

    def begin_step(self):
        """Forget whom the step before has joined."""
        n: cython.Py_ssize_t

        for n in range(self.n_joined):
            self.is_joined[self.joined[n]] = 0
        self.n_joined = 0
        self.is_indexed = False

    # -- between steps --

    def lay_down(self, rows: cython.longlong[::1]):
        """Let the bodies of `rows` sleep from now on: all were at rest in the step just done.

        Their pairs of that step are looked at no more while neither body is awake.
        """
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        p: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.int

        for n in range(rows.shape[0]):
            i = rows[n]
            b.asleep[i] = ASLEEP
            b.moves[i] = 0
            b.held[i] = 0
            self.beside[i] = 0
            self.is_reached[i] = 1
            for k in range(b.dim):
                b.motion[i, k] = 0.0
        for p in range(self.pairs.n):
            i = self.pairs.first[p]
            j = self.pairs.second[p]
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
        self.candidates.place_still(rows)

    @cython.cfunc
    def _hold(self) -> cython.void:
        """Note who lies against an immovable body, now that neither is awake."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.int

        for n in range(self.contacts.n):
            i = self.contacts.rows[n, 0]
            j = self.contacts.rows[n, 1]
            k = self.contacts.rows[n, 3]
            if self.contacts.rows[n, 2] != SOLID or b.moves[i] or b.moves[j]:
                continue
            if b.asleep[i] and not b.yields[j]:
                b.held[i] |= 1 << k
            elif b.asleep[j] and not b.yields[i]:
                b.held[j] |= 1 << k

    def wake(self, rows: cython.longlong[::1]):
        """Let the bodies of `rows`, which sleep, move again from now on."""
        n: cython.Py_ssize_t

        for n in range(rows.shape[0]):
            self.forget(rows[n])
            self.bodies.moves[rows[n]] = 1
        self.candidates.place_moving(rows)

    @cython.ccall
    def forget(self, i: cython.Py_ssize_t):
        """Let a body be awake, or gone."""
        if self.bodies.asleep[i] == AWAKE:
            return
        self.bodies.asleep[i] = AWAKE
        self.bodies.calm[i] = 0
        self.bodies.held[i] = 0
        self.n -= 1
        self.n_resting -= self.beside[i]
        self.beside[i] = 0

    def held_by(self, rows: cython.longlong[::1]) -> list:
        """Return the rows of those who sleep, held by something, in contact with one of `rows`."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        found: list = []

        for n in range(rows.shape[0]):
            self.is_reached[rows[n]] = 1
        for n in range(self.contacts.n if rows.shape[0] else 0):
            i = self.contacts.rows[n, 0]
            j = self.contacts.rows[n, 1]
            if self.is_reached[i] and b.held[j]:
                found.append(j)
            if self.is_reached[j] and b.held[i]:
                found.append(i)
        for n in range(rows.shape[0]):
            self.is_reached[rows[n]] = 0
        return found

    def near(self, rows: cython.longlong[::1]) -> list:
        """Return the rows of those who sleep where the bodies of `rows`, which do not move, are."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        m: cython.Py_ssize_t
        j: cython.Py_ssize_t
        found: list = []

        for n in range(rows.shape[0]):
            for m in range(self.candidates.still.touching(b.swept_min, b.swept_max, rows[n])):
                j = self.candidates.still.found[m]
                if b.asleep[j]:
                    found.append(j)
        return found

    # -- within a step --

    @cython.cfunc
    def rouse(self, i: cython.Py_ssize_t) -> cython.void:
        """Let something happen to a body that may be asleep."""
        if self.bodies.asleep[i] == ASLEEP:
            self._join(i)
            self.bodies.stir(i)

    @cython.cfunc
    def _join(self, i: cython.Py_ssize_t) -> cython.void:
        """Give a body that sleeps, and is at rest still, the pairs that it has with others at rest."""
        contacts: Contacts = self.contacts
        m: cython.Py_ssize_t
        j: cython.Py_ssize_t
        n: cython.Py_ssize_t
        p: cython.Py_ssize_t
        first_new: cython.Py_ssize_t = self.pairs.n

        if self.is_joined[i]:
            return
        self.is_joined[i] = 1
        self.joined[self.n_joined] = i
        self.n_joined += 1
        self.pairs.mark_partners(i)
        self.candidates.take_found(self.candidates.still, i)
        if self.pairs.n == first_new:
            return
        for p in range(first_new, self.pairs.n):
            self.meetings.sweep_at_rest(p)
        self._index()
        m = self.head[i] - 1
        while m >= 0:
            n = m >> 1
            j = contacts.rows[n, 1 - (m & 1)]
            p = self.pairs.find(i, j)
            if p >= first_new:
                contacts.know(p, n)
                if self.pairs.crossing[p] and contacts.rows[n, 2] in (CROSSING, UNTIL_APART):
                    self.pairs.inside[p] = 1
                    self.pairs.axis[p] = contacts.rows[n, 3]
                    self.pairs.sign[p] = contacts.rows[n, 4]
            m = self.next[n, m & 1] - 1

    @cython.cfunc
    def _index(self) -> cython.void:
        """List the contacts of each body, once in a step in which that is asked for.

        Links count from 1; twice a contact's number, and 1 more where the body is its second.
        """
        rows: cython.longlong[:, ::1] = self.contacts.rows
        m: cython.Py_ssize_t

        if self.is_indexed:
            return
        if self.contacts.n > self.next.shape[0]:
            self.next = grown(self.next, 2 * self.contacts.n)
        self.head = zeros(LONG, self.head.shape[0])
        for m in range(2 * self.contacts.n):
            self.next[m >> 1, m & 1] = self.head[rows[m >> 1, m & 1]]
            self.head[rows[m >> 1, m & 1]] = m + 1
        self.is_indexed = True

    @cython.cfunc
    def join_sunk(self) -> cython.void:
        """Join all who sleep where a pair is to be settled, and who hang together with it.

        Who is snapped, and to where, depends on how far each is from an
        immovable body over all pairs between them.
        """
        b: Bodies = self.bodies
        p: cython.Py_ssize_t
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = 0

        if self.n == 0:
            return
        for p in range(self.pairs.n):
            if self.settler.can_sink(p) and self._is_to_settle(p):
                n = self._reach(self.pairs.first[p], n)
                n = self._reach(self.pairs.second[p], n)
        while at < n:
            i = self.reached[at]
            at += 1
            if b.asleep[i]:
                self._join(i)
            p = self.pairs.head_of(i)
            while p >= 0:
                if self.settler.can_sink(p):
                    n = self._reach(self.pairs.partner(p, i), n)
                p = self.pairs.next_of(p, i)
        for at in range(n):
            self.is_reached[self.reached[at]] = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _reach(self, i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Add a body that yields to the first `n` that were reached; return how many there are."""
        if self.is_reached[i] or not self.bodies.yields[i]:
            return n
        self.is_reached[i] = 1
        self.reached[n] = i
        return n + 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_to_settle(self, p: cython.Py_ssize_t) -> cython.bint:
        """Tell whether the two bodies of a pair may be snapped at the end of the step."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.first[p]
        j: cython.Py_ssize_t = self.pairs.second[p]
        k: cython.int

        if self.settler.relate(p) == SUNK:
            return True
        for k in range(b.dim):  # planes that are to be parted
            if (
                b.centre_of(i, k) == b.centre_of(j, k)
                and self.settler.is_plane(i, k)
                and self.settler.is_plane(j, k)
            ):
                return True
        return False
