"""The impulses of contacts that are met together, from what they have done to their bodies.

On one axis a contact pushes its high body up and its low body down, by one impulse of 0 or more, so
the change of momentum of a body is the sum of the impulses below it less the sum of those above it.
Three rules find the impulses, in rounds; a rule is used only if those before it find nothing, so the
order of bodies does not count:

1. A body with one unknown contact gives that contact the rest of its change.
2. A body with unknown contacts on one side only divides the rest among them by width.
3. If none is left, every body takes all of its rest from the side that pushes it: between two walls
   the impulses are not unique.

If both bodies of a contact tell its impulse, the larger one counts.

The same rules find the impulses of friction along a surface, which may be of either sign: there
rule 2 is left out, and rule 3 divides the rest of a body among all its contacts.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import ReadOnly, cython, struct
from ecs_collide._kernel.arrays import INT, grown, zeros
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.response.product_sum import error_of_sum

BALANCE_ROUNDING = 2.0**-48  # of the largest momentum that a body has had
NOBODY = 0  # the body of a wall, whose momentum is unknown
# sides of a body
BELOW = 1
ABOVE = 2


@cython.inline
@struct
class BalanceBody:
    """A body on an axis."""

    # its change of momentum that is not explained yet, a sum with the sum of its rounding errors,
    # and the largest size that it has had
    momentum: cython.double
    momentum_low: cython.double
    largest: cython.double
    first: cython.int  # the first of its contacts: 2 * number, and 1 more if it is the high body
    walls: cython.schar  # `BELOW` and `ABOVE`, where it is pressed on a wall; both for `NOBODY`
    # of the contacts that are not known yet: those above, and those below
    n_above: cython.int
    n_below: cython.int


@cython.inline
@struct
class BalanceContact:
    """A contact between two bodies."""

    low: cython.int
    high: cython.int
    next_of_low: cython.int  # the next contact of its low body, as in `first`, or -1
    next_of_high: cython.int
    is_known: cython.schar
    is_told: cython.schar  # whether one of its bodies has told its impulse in this round
    width: cython.double
    impulse: cython.double


@cython.final
class MomentumBalance:
    """The changes of momentum of bodies, and the impulses of their contacts."""

    n_bodies: cython.Py_ssize_t
    n: ReadOnly[cython.Py_ssize_t]  # number of contacts
    n_known: cython.Py_ssize_t
    is_friction: cython.bint  # whether impulses may be of either sign
    bodies: cython.pointer[BalanceBody]  # from 1
    contacts: cython.pointer[BalanceContact]
    memory_of_bodies: StructMemory
    memory_of_contacts: StructMemory
    # the bodies that tell impulses in this round, and the contacts that they have told
    telling: cython.int[::1]
    n_telling: cython.Py_ssize_t
    told: cython.int[::1]
    n_told: cython.Py_ssize_t

    def __init__(self):
        self.memory_of_bodies = StructMemory()
        self.memory_of_contacts = StructMemory()
        self.telling = self.told = zeros(INT, 0)
        self._grow_bodies(16)
        self._grow_contacts(16)
        self.bodies[NOBODY].walls = BELOW | ABOVE

    def _grow_bodies(self, room: cython.Py_ssize_t) -> cython.void:
        """Make room for more bodies."""
        self.bodies = cython.cast(
            cython.pointer(BalanceBody),
            self.memory_of_bodies.grow(cython.sizeof(BalanceBody), room),
        )

    def _grow_contacts(self, room: cython.Py_ssize_t) -> cython.void:
        """Make room for more contacts."""
        self.contacts = cython.cast(
            cython.pointer(BalanceContact),
            self.memory_of_contacts.grow(cython.sizeof(BalanceContact), room),
        )

    @cython.inline
    def clear(self) -> cython.void:
        """Forget all bodies and contacts."""
        self.n_bodies = self.n = self.n_known = 0

    def add_body(self, momentum: cython.double) -> cython.Py_ssize_t:
        """Add a body with its change of momentum; return its number."""
        at: cython.Py_ssize_t = self.n_bodies + 1

        if at >= self.memory_of_bodies.room:
            self._grow_bodies(2 * at)
        self.n_bodies = at
        self.bodies[at].momentum = momentum
        self.bodies[at].momentum_low = 0.0
        self.bodies[at].largest = abs(momentum)
        self.bodies[at].first = -1
        self.bodies[at].n_above = self.bodies[at].n_below = 0
        self.bodies[at].walls = 0
        return at

    def add(
        self, low: cython.Py_ssize_t, high: cython.Py_ssize_t, width: cython.double
    ) -> cython.void:
        """Add a contact between two bodies, or a body and `NOBODY`."""
        n: cython.Py_ssize_t = self.n

        if n >= self.memory_of_contacts.room:
            self._grow_contacts(2 * n)
        self.n = n + 1
        contacts: cython.pointer[BalanceContact] = self.contacts
        contacts[n].low = low
        contacts[n].high = high
        contacts[n].next_of_low = self.bodies[low].first
        contacts[n].is_known = contacts[n].is_told = False
        contacts[n].width = width
        contacts[n].impulse = 0.0
        if low:
            self.bodies[low].first = 2 * n
            self.bodies[low].n_above += 1
        contacts[n].next_of_high = self.bodies[high].first
        if high:
            self.bodies[high].first = 2 * n + 1
            self.bodies[high].n_below += 1

    def find_walls(self) -> cython.void:
        """Find the sides on which bodies are pressed on a wall, maybe through other bodies."""
        goes_on: cython.bint = True

        while goes_on:
            goes_on = False
            for n in range(self.n):
                if self.has_wall_below(n):
                    goes_on |= self._add_wall(self.contacts[n].high, BELOW)
                if self.has_wall_above(n):
                    goes_on |= self._add_wall(self.contacts[n].low, ABOVE)

    def has_wall_below(self, n: cython.Py_ssize_t) -> cython.bint:
        """Return whether the low body of a contact is a wall, or has one below it."""
        return (self.bodies[self.contacts[n].low].walls & BELOW) != 0

    def has_wall_above(self, n: cython.Py_ssize_t) -> cython.bint:
        """Return whether the high body of a contact is a wall, or has one above it."""
        return (self.bodies[self.contacts[n].high].walls & ABOVE) != 0

    def _add_wall(self, at: cython.Py_ssize_t, side: cython.schar) -> cython.bint:
        """Note that a body has a wall on a side; return whether that is new."""
        is_new: cython.bint = (self.bodies[at].walls & side) == 0

        self.bodies[at].walls |= side
        return is_new

    def solve(self, is_friction: cython.bint) -> cython.void:
        """Find the impulses of all contacts."""
        self.is_friction = is_friction
        if self.telling.shape[0] <= self.n_bodies:
            self.telling = grown(self.telling, 2 * self.n_bodies + 1)
        if self.told.shape[0] < self.n:
            self.told = grown(self.told, 2 * self.n)
        for n in range(self.n):
            if not (self.contacts[n].low or self.contacts[n].high):
                self.n_known += 1
        self.n_telling = 0
        for at in range(1, self.n_bodies + 1):
            self._list_if_last(at)
        while self.n_known < self.n:
            if self.n_telling == 0 and not self.is_friction:
                self._list_all(True)
            if self.n_telling == 0:
                self._list_all(False)
            self.n_told = 0
            for n in range(self.n_telling):
                self._tell(self.telling[n])
            self.n_telling = 0
            for n in range(self.n_told):
                self._settle(self.told[n])

    def _list_if_last(self, at: cython.Py_ssize_t) -> cython.void:
        """List a body if one of its contacts is not known yet."""
        if self.bodies[at].n_above + self.bodies[at].n_below == 1:
            self.telling[self.n_telling] = at
            self.n_telling += 1

    def _list_all(self, one_sided: cython.bint) -> cython.void:
        """List all bodies with contacts that are not known yet, or those on one side only."""
        for at in range(1, self.n_bodies + 1):
            above: cython.bint = self.bodies[at].n_above > 0
            below: cython.bint = self.bodies[at].n_below > 0
            if (above or below) and not (one_sided and above and below):
                self.telling[self.n_telling] = at
                self.n_telling += 1

    def _tell(self, at: cython.Py_ssize_t) -> cython.void:
        """Divide the change of a body among the contacts on the side that has pushed it."""
        c: cython.pointer[BalanceContact] = self.contacts
        change: cython.double = self.bodies[at].momentum + self.bodies[at].momentum_low
        width: cython.double = 0.0
        n_beside: cython.int = 0
        entry: cython.int = self.bodies[at].first

        if abs(change) <= BALANCE_ROUNDING * self.bodies[at].largest:
            change = 0.0
        is_pushed_up: cython.int = change >= 0.0
        while entry >= 0:
            if not c[entry >> 1].is_known and self._pushes(entry, is_pushed_up):
                n_beside += 1
                width += c[entry >> 1].width
            entry = self._next(entry)
        entry = self.bodies[at].first
        while entry >= 0:
            n: cython.Py_ssize_t = entry >> 1
            if not c[n].is_known:
                impulse: cython.double = 0.0
                if self._pushes(entry, is_pushed_up):
                    impulse = change if entry & 1 else -change
                    if n_beside > 1:
                        impulse *= c[n].width / width if width > 0.0 else 1.0 / n_beside
                if not c[n].is_told:
                    c[n].is_told = True
                    self.told[self.n_told] = n
                    self.n_told += 1
                if abs(impulse) > abs(c[n].impulse) or impulse == -c[n].impulse > 0.0:
                    c[n].impulse = impulse
            entry = self._next(entry)

    def _pushes(self, entry: cython.int, up: cython.int) -> cython.bint:
        """Return whether a contact of a body may push it up, or down."""
        return self.is_friction or (entry & 1) == up

    def _next(self, entry: cython.int) -> cython.int:
        """Return the next contact of a body, as in `BalanceBody.first`."""
        n: cython.Py_ssize_t = entry >> 1

        return self.contacts[n].next_of_high if entry & 1 else self.contacts[n].next_of_low

    def _settle(self, n: cython.Py_ssize_t) -> cython.void:
        """Note that a contact is known, and take its impulse from the changes of its bodies."""
        c: cython.pointer[BalanceContact] = self.contacts

        c[n].is_known = True
        self.n_known += 1
        if c[n].low:
            self._explain(c[n].low, c[n].impulse)
            self.bodies[c[n].low].n_above -= 1
            self._list_if_last(c[n].low)
        if c[n].high:
            self._explain(c[n].high, -c[n].impulse)
            self.bodies[c[n].high].n_below -= 1
            self._list_if_last(c[n].high)

    def _explain(self, at: cython.Py_ssize_t, momentum: cython.double) -> cython.void:
        """Add to the momentum that is left of a body, in twice the precision: in no order."""
        left: cython.double = self.bodies[at].momentum
        total: cython.double = left + momentum

        self.bodies[at].momentum_low += error_of_sum(left, momentum, total)
        self.bodies[at].momentum = total
        self.bodies[at].largest = max(self.bodies[at].largest, abs(momentum))
