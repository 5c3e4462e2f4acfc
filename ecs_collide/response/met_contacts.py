"""The contacts that are met in an instant, and what waits until its normal parts are resolved.

Once no normal part is due any more, the contacts turn their bodies by `Stop` and `Push`
(`response/tangential.py`), then they rub (`response/friction.py`), then riders land on their
carriers (`response/carriers.py`).  What this needs of the two surfaces is read when they meet.
"""

from __future__ import annotations

from ecs_collide._kernel import ReadOnly, cython, struct
from ecs_collide._kernel.arrays import INT, grown, zeros
from ecs_collide._kernel.constants import ResponseCode
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.impact_state import ImpactState

# What a contact waits for.
LANDS = 1  # one of its bodies may become a rider of the other
TURNS = 2  # it turns one of its bodies
RUBS = 3  # it rubs

BOTH = 3  # the bits of both bodies


@cython.inline
@struct
class MetContact:
    """A contact as it is met: that of the pair may have become another one; bit n is for body n."""

    pair: cython.int
    # as in `ImpactState`
    first: cython.int
    second: cython.int
    axis: cython.schar
    sign: cython.schar
    slants: cython.schar
    resizes: cython.schar
    pressed: cython.schar  # bits of the bodies that the normal part may change
    may_turn: cython.schar  # the same, whatever their dominance
    turns: cython.schar  # bits of the bodies that `Stop` or `Push` turns
    stops: cython.schar  # bits of those that `Stop` turns
    slides: cython.schar  # bits of the bodies that friction may change
    rides: cython.schar  # whether one of the bodies may be a rider of the other
    waits: cython.schar  # `RUBS`, `TURNS`, `LANDS` or 0
    friction: cython.double  # 0 or less if it does not rub
    width: cython.double  # see `find_width`
    stretch: cython.double  # by which `Push` multiplies the relative velocity along the surface
    load: cython.double  # the momentum that its normal part passes on; see `MetLoads`


@cython.final
class MetContacts:
    """The contacts of an instant, each once, in the order in which they are met."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    impact: ImpactState
    n: ReadOnly[cython.Py_ssize_t]  # number of contacts
    # how many of them have turned their bodies; and have rubbed, and let riders land
    n_turned: ReadOnly[cython.Py_ssize_t]
    n_rubbed: ReadOnly[cython.Py_ssize_t]
    any_turns: ReadOnly[cython.bint]  # whether one waits to turn its bodies
    any_waits: ReadOnly[cython.bint]  # whether one waits to rub, or for a landing
    contacts: cython.pointer[MetContact]
    memory: StructMemory
    place_of: cython.int[::1]  # (n_pairs or fewer,): place of a pair, if that has this pair

    def __init__(self, step: Step, impact: ImpactState):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.impact = impact
        self.place_of = zeros(INT, 1)
        self.memory = StructMemory()
        self._grow(8)

    def _grow(self, room: cython.Py_ssize_t) -> cython.void:
        """Make room for more contacts."""
        self.contacts = cython.cast(
            cython.pointer(MetContact), self.memory.grow(cython.sizeof(MetContact), room)
        )

    def clear(self) -> cython.void:
        """Forget the contacts, of an instant or of a step that was interrupted."""
        self.n = 0
        self.end_turning()
        self.end_rubbing()

    def end_turning(self) -> cython.void:
        """Note that all contacts have turned their bodies."""
        self.n_turned = self.n
        self.any_turns = False

    def end_rubbing(self) -> cython.void:
        """Note that all contacts have rubbed, and that all riders have landed."""
        self.n_rubbed = self.n
        self.any_waits = False

    def has(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair has met in this instant."""
        return (
            p < self.place_of.shape[0]
            and self.place_of[p] < self.n
            and self.contacts[self.place_of[p]].pair == p
        )

    def add(
        self, p: cython.Py_ssize_t, rides: cython.bint, lands: cython.bint, turns: cython.bint
    ) -> cython.int:
        """Add the contact of the impact of pair `p`, once in an instant; return what it waits for.

        `rides` states that one of the bodies may be a rider of the other, `lands` that it may
        become one, and `turns` that `Stop` or `Push` turns one.  A contact that does not rub bears
        its part of what presses on its side.
        """
        m: ImpactState = self.impact
        c: cython.Py_ssize_t = self.n
        friction: cython.double = self._friction()
        waits: cython.schar = RUBS if friction > 0.0 else TURNS if turns else 0

        if self.has(p):  # rounding, or another friction, has made it meet again
            return waits
        if p >= self.place_of.shape[0]:
            self.place_of = grown(self.place_of, 2 * self.pairs.n)
        if c >= self.memory.room:
            self._grow(2 * c)
        self.place_of[p] = c
        self.n = c + 1
        self.contacts[c].pair = p
        self.contacts[c].first = m.rows[0]
        self.contacts[c].second = m.rows[1]
        self.contacts[c].axis = m.axis
        self.contacts[c].sign = m.sign
        self.contacts[c].slants = m.slants
        self.contacts[c].resizes = m.resizes
        self.contacts[c].pressed = m.is_dynamic[0] + 2 * m.is_dynamic[1]
        self.contacts[c].may_turn = m.may_turn[0] + 2 * m.may_turn[1]
        self.contacts[c].rides = rides
        self.contacts[c].waits = LANDS if lands and not waits else waits
        self.contacts[c].friction = friction
        self.contacts[c].turns = self.contacts[c].stops = self.contacts[c].slides = 0
        for n in range(2):
            if turns and m.turns(n):
                self.contacts[c].turns |= n + 1
                if self.bodies.response[m.rows[n]] == ResponseCode.STOP:
                    self.contacts[c].stops |= n + 1
            if self._slides(n):
                self.contacts[c].slides |= n + 1
        self.any_turns |= turns
        self.any_waits |= self.contacts[c].waits != 0
        return self.contacts[c].waits

    def take(self, c: cython.Py_ssize_t) -> cython.void:
        """Make contact `c` the current impact."""
        m: ImpactState = self.impact

        m.rows[0] = self.contacts[c].first
        m.rows[1] = self.contacts[c].second
        m.axis = self.contacts[c].axis
        m.sign = self.contacts[c].sign
        m.slants = self.contacts[c].slants
        m.resizes = self.contacts[c].resizes
        for n in range(2):
            m.is_dynamic[n] = (self.contacts[c].pressed >> n) & 1

    def find_width(self, c: cython.Py_ssize_t) -> cython.double:
        """Store and return the width of contact `c`, the current impact, at this instant."""
        self.contacts[c].width = self.pairs.width_at(
            self.contacts[c].pair, self.contacts[c].axis, self.step.now, self.bodies
        )
        return self.contacts[c].width

    def _friction(self) -> cython.double:
        """Return the friction of the impact; 0 if it may change a body with `Stop` or `Push`."""
        m: ImpactState = self.impact

        if m.turns(0) or m.turns(1):
            return 0.0
        return self.bodies.rare.friction_between(m.rows[0], m.rows[1])

    def _slides(self, n: cython.int) -> cython.bint:
        """Return whether friction may change a body, whatever its dominance.

        True even if only `LockedAxes` keeps the body from changing along the normal.
        """
        m: ImpactState = self.impact

        return m.is_only_locked(n) or (
            m.may_turn[n] and not self.bodies.controls.locks_all_but(m.rows[n], m.axis)
        )
