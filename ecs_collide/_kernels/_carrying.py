# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Lifts and conveyor belts: what stands on them goes along.

A body that lies against the carrying face of another *rides* on it, and what
stands on a rider, on the same side, rides with it.  Within a step a rider has
the velocity of what carries it beside its own; between steps its `Velocity`
says its own alone.  So nothing of all this is to be remembered: who rides is
seen from the contacts.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide._kernels._bodies_c import Bodies
    from cython.cimports.ecs_collide._kernels._contacts_c import SOLID, Contacts
    from cython.cimports.ecs_collide._kernels._traits_c import Traits
else:
    from ecs_collide._kernels._bodies import Bodies
    from ecs_collide._kernels._contacts import SOLID, Contacts
    from ecs_collide._kernels._traits import Traits

from ecs_collide._kernels._memory import BYTE, DOUBLE, LONG, zeros


@cython.cclass
class Ride:
    """Who is carried by whom, and how fast.

    Attributes
    ----------
    n : int
    riders : int64 (n or more,): rows
    carrier : int64 (n_rows,): the row of what a body rides on, counting from 1; 0 for none
    side : int8 (n_rows,): the code of the carrying face
    drift : float64 (n_rows, dim): how fast it is carried
    """

    def __init__(self, n_rows: cython.Py_ssize_t, dim: cython.int):
        self.n = 0
        self.riders = zeros(LONG, n_rows)
        self.carrier = zeros(LONG, n_rows)
        self.side = zeros(BYTE, n_rows)
        self.drift = zeros(DOUBLE, n_rows, dim)


@cython.final
@cython.cclass
class Carrying:
    """The riders of a space, before and after a step.

    Attributes
    ----------
    now : Ride
        Between steps: as of the end of the last one.
    rode : Ride
        Within a step: as of its start.
    sweeps : bool
        Whether it is the game that moves the bodies: what they are to do along
        a face is what it says then.
    own : float64 (n_rows, dim)
        Within a step: the velocities of riders without what carries them.
    """

    def __init__(self, bodies: Bodies, contacts: Contacts):
        self.bodies = bodies
        self.contacts = contacts
        self.sweeps = False
        self.n_rows = 0
        self._make_room(1)

    def _make_room(self, n_rows: cython.Py_ssize_t):
        """Have a place for so many bodies, none of which rides."""
        if n_rows != self.n_rows:
            self.n_rows = n_rows
            self.now = Ride(n_rows, self.bodies.dim)
            self.before = Ride(n_rows, self.bodies.dim)
            self.rode = Ride(n_rows, self.bodies.dim)
            self.own = zeros(DOUBLE, n_rows, self.bodies.dim)

    def look(self, at_rest: cython.bint):
        """Find who rides on whom by the contacts that there are.

        With `at_rest` the velocities of bodies are their own alone, else those
        of riders hold already what carries them.
        """
        t: Traits = self.bodies.traits
        _n: cython.Py_ssize_t

        if t.any_carrier:
            self._make_room(self.bodies.ids.shape[0])
        self._clear(self.now)
        if not t.any_carrier:
            return
        for _n in range(self.contacts.n + 1):  # who carries each other in a ring would never end
            self.now, self.before = self.before, self.now
            if not self._pass(at_rest):
                break

    @cython.cfunc
    @cython.exceptval(check=False)
    def _clear(self, ride: Ride) -> cython.void:
        n: cython.Py_ssize_t

        for n in range(ride.n):
            ride.carrier[ride.riders[n]] = 0
        ride.n = 0

    @cython.cfunc
    def _pass(self, at_rest: cython.bint) -> cython.bint:
        """Find riders, those on top of others by what was found before; tell whether it differs."""
        rows: cython.longlong[:, ::1] = self.contacts.rows
        new: Ride = self.now
        old: Ride = self.before
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.int
        side: cython.int

        self._clear(new)
        for n in range(self.contacts.n):
            if rows[n, 2] == SOLID:
                side = (rows[n, 3] + 1) * rows[n, 4]  # the normal points from second to first
                self._offer(rows[n, 0], rows[n, 1], side, at_rest)
                self._offer(rows[n, 1], rows[n, 0], -side, at_rest)
        if new.n != old.n:
            return True
        for n in range(new.n):
            i = new.riders[n]
            if new.carrier[i] != old.carrier[i] or new.side[i] != old.side[i]:
                return True
            for k in range(self.bodies.dim):
                if new.drift[i, k] != old.drift[i, k]:
                    return True
        return False

    @cython.cfunc
    @cython.exceptval(check=False)
    def _offer(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, side: cython.int, at_rest: cython.bint
    ) -> cython.void:
        """Let body i ride on j, on a side of j, if that carries, and better than what it rides on.

        Of several the one counts that moves most towards the rider, then the lower id.
        """
        b: Bodies = self.bodies
        new: Ride = self.now
        old: Ride = self.before
        carries: cython.bint = b.traits.carries[j] == side
        rides: cython.bint = old.carrier[j] != 0
        k: cython.int = abs(side) - 1
        along: cython.double
        known: cython.double

        if not b.yields[i] or not (carries or (rides and old.side[j] == side)):
            return
        if new.carrier[i] != 0:
            known = new.drift[i, abs(new.side[i]) - 1] * (1 if new.side[i] > 0 else -1)
            along = self._speed_of(j, side, k, carries, rides and at_rest) * (1 if side > 0 else -1)
            if along < known or (along == known and b.ids[new.carrier[i] - 1] <= b.ids[j]):
                return
        else:
            new.riders[new.n] = i
            new.n += 1
        new.carrier[i] = j + 1
        new.side[i] = side
        for k in range(b.dim):
            new.drift[i, k] = self._speed_of(j, side, k, carries, rides and at_rest)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _speed_of(
        self,
        j: cython.Py_ssize_t,
        side: cython.int,
        k: cython.int,
        carries: cython.bint,
        adds: cython.bint,
    ) -> cython.double:
        """Return how fast what stands on a side of a body is carried, on an axis."""
        if not carries:
            return self.before.drift[j, k]
        return (
            self.bodies.velocity[j, k]
            + (self.before.drift[j, k] if adds else 0.0)
            + self.bodies.traits.speed_of_surface(j, side, k)
        )

    def recover(self, rows: cython.longlong[::1], drift: cython.double[:, ::1]):
        """Take bodies, by their rows, for riders until the next step looks: so fast."""
        n: cython.Py_ssize_t
        k: cython.int

        self._clear(self.now)
        if rows.shape[0] == 0:
            return
        self._make_room(self.bodies.ids.shape[0])
        self._clear(self.now)
        for n in range(rows.shape[0]):
            self.now.riders[n] = rows[n]
            self.now.carrier[rows[n]] = rows[n] + 1  # any: nobody asks
            for k in range(self.bodies.dim):
                self.now.drift[rows[n], k] = drift[n, k]
        self.now.n = rows.shape[0]

    def begin(self) -> list:
        """Take the riders along: at the start of a step, when velocities are read.

        Returns the rows of those who sleep and are carried somewhere.
        """
        woken: list = []
        velocity: cython.double[:, ::1] = self.bodies.velocity
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.int

        self.look(True)
        self.rode, self.now = self.now, self.rode
        for n in range(self.rode.n):
            i = self.rode.riders[n]
            for k in range(self.bodies.dim):
                if self.rode.drift[i, k] != 0.0 and self.bodies.asleep[i]:
                    woken.append(i)
                self.own[i, k] = velocity[i, k]
                velocity[i, k] = velocity[i, k] + self.rode.drift[i, k]
        return woken

    def end(self):
        """Give riders their own velocities back: at the end of a step, when contacts are known."""
        velocity: cython.double[:, ::1] = self.bodies.velocity
        rode: Ride = self.rode
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.int

        if not self.bodies.traits.any_carrier:
            return
        self.look(False)
        for n in range(self.now.n):
            i = self.now.riders[n]
            for k in range(self.bodies.dim):
                if (
                    rode.carrier[i] != 0
                    and velocity[i, k] == self.own[i, k] + rode.drift[i, k]
                    and rode.drift[i, k] == self.now.drift[i, k]
                ):
                    velocity[i, k] = self.own[i, k]
                else:
                    velocity[i, k] = self._gripped(i, k)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _gripped(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the own velocity of a body that has come to ride, or rides on otherwise than before.

        Along the normal it is what it is as the carrier sees it.  Along the
        face it is taken along at once: its own is the least between what it is
        as the carrier sees it and as the world does, and it gains no speed.
        """
        v: cython.double = self.bodies.velocity[i, k]
        own: cython.double = v - self.now.drift[i, k] + 0.0

        if abs(self.now.side[i]) == k + 1:
            return own
        if self.sweeps:
            return v
        if min(own, v) <= 0.0 <= max(own, v):
            return 0.0
        return own if abs(own) < abs(v) else v
