"""What the contacts of an instant do along their surfaces, once no normal part is due any more.

First they turn their bodies by `Stop` and `Push`, then they rub, then riders land on carriers.  Each
may make other faces close, whose normal parts come before the rest.
"""

from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.response.carriers import Carriers
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.friction import CoulombFriction
from ecs_collide.response.impact_state import ImpactState
from ecs_collide.response.met_contacts import BOTH, RUBS, MetContacts
from ecs_collide.response.met_loads import MetLoads
from ecs_collide.response.solver import Solver
from ecs_collide.response.tangential import TangentialResponse


@cython.final
class AlongSurfaces:
    """The turns, the friction and the landings of an instant."""

    bodies: Bodies
    gravity: Gravity
    clusters: Clusters
    carriers: Carriers
    impact: ImpactState
    met: MetContacts
    tangential: TangentialResponse
    loads: MetLoads
    friction: CoulombFriction

    def __init__(self, solver: Solver, carriers: Carriers):
        self.bodies = solver.bodies
        self.gravity = solver.clusters.gravity
        self.clusters = solver.clusters
        self.carriers = carriers
        self.impact = solver.impact
        self.met = solver.met
        self.tangential = solver.tangential
        self.loads = solver.loads
        self.friction = solver.friction

    def clear(self) -> cython.void:
        """Forget the contacts, of an instant or of a step that was interrupted."""
        self.met.clear()
        self.tangential.clear()
        self.loads.clear()
        self.friction.clear()

    @cython.inline
    def is_used(self) -> cython.bint:
        """Return whether a body has a component that acts along a surface."""
        b: Bodies = self.bodies

        return b.rare.any_friction or b.rare.any_carrier or b.controls.any_turn

    def wait(self, p: cython.Py_ssize_t, is_whole: cython.bint, leans: cython.bint) -> cython.int:
        """Let the contact of the impact of pair `p` wait for its turn; return for what it waits.

        Without `is_whole` it waits for nothing.  Two dynamic bodies that lean on each other turn
        only if a weight presses one on a held one: `Stop` and `Push` are for hits.  The result is
        that of `MetContacts.add`; with 0 a rider lands at once.
        """
        b: Bodies = self.bodies
        m: ImpactState = self.impact
        rides: cython.bint = b.rare.any_carrier and not (
            b.on_hold[m.rows[0]] or b.on_hold[m.rows[1]]
        )
        lands: cython.bint = rides and is_whole and self.carriers.may_land()
        turns: cython.bint = (
            is_whole
            and (m.turns(0) or m.turns(1))
            and not (leans and m.is_dynamic[0] and m.is_dynamic[1] and not self._is_pressed())
        )
        waits: cython.int = 0

        if lands or turns or (is_whole and b.rare.any_friction):
            waits = self.met.add(p, rides, lands, turns)
        if rides and waits != RUBS:
            self.carriers.press()
            if waits == 0:
                self.carriers.land()
        return waits

    def _is_pressed(self) -> cython.bint:
        """Return whether gravity or an acceleration presses a body of the impact on a held one."""
        g: Gravity = self.gravity
        m: ImpactState = self.impact

        return g.is_on and (
            (m.sign * g.own_pull(m.rows[0], m.axis) < 0.0 and m.is_borne(1))
            or (m.sign * g.own_pull(m.rows[1], m.axis) > 0.0 and m.is_borne(0))
        )

    @cython.inline
    def apply(self) -> cython.bint:
        """Let the contacts turn their bodies, or rub and land; return False if none waits."""
        if not (self.met.any_turns or self.met.any_waits):
            return False
        self.bodies.tick += 1
        if self.met.any_turns:
            self.turn()
        else:
            self._rub_and_land()
        return True

    def turn(self) -> cython.void:
        """Let the contacts turn their bodies by `Stop` and `Push`, once riders know who turns them."""
        for c in range(self.met.n_turned, self.met.n):
            if self.met.contacts[c].turns and self.met.contacts[c].rides:
                self.met.take(c)
                self.carriers.note_surfaces()
        self.loads.keep_momenta()
        self.clusters.share_kicks()
        self.tangential.apply()
        self.loads.note_anew()

    def _rub_and_land(self) -> cython.void:
        """Let the contacts rub, then the riders land."""
        self.clusters.write()
        for c in range(self.met.n_rubbed, self.met.n):
            if self.met.contacts[c].rides:
                self.met.take(c)
                self.carriers.catch_up()
        self.loads.keep_momenta()
        self.clusters.share_kicks()
        if self.bodies.rare.any_friction:
            self.loads.find()
            self.friction.apply()
        for c in range(self.met.n_rubbed, self.met.n):
            if self.met.contacts[c].rides and self.met.contacts[c].waits == RUBS:
                self.met.take(c)
                self.carriers.press()
        # Walls first: a body that lands on a rider needs the velocity of that.
        for on_rider in range(2):
            for c in range(self.met.n_rubbed, self.met.n):
                if (
                    self.met.contacts[c].rides
                    and (self.met.contacts[c].pressed == BOTH) == on_rider
                ):
                    self.met.take(c)
                    self.carriers.land()
        self.met.end_rubbing()
        self.loads.note_anew()
