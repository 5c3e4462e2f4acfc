"""Which rules of the exact simulator have changed a step: one that never does is not tested.

A rule is switched off by taking from all bodies what it goes by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import ecs_collide as ec
from tests.exact.simulator import Body, Contact, Simulator
from tests.exact.twin import Standing

MOST_EVENTS = 100
ZERO = [Fraction(0)] * 3


def _responds_as(name: str, other: str) -> Callable[[Body], Body]:
    return lambda body: replace(body, response=other) if body.response == name else body


OFF: dict[object, Callable[[Body], Body]] = {
    ec.Velocity: lambda body: replace(body, velocity=ZERO[: len(body.low)]),
    ec.Growth: lambda body: replace(body, growth=ZERO[: len(body.low)]),
    ec.Mass: lambda body: replace(body, mass=body.mass and Fraction(1)),
    ec.Stop: _responds_as("stop", "slide"),
    ec.Push: _responds_as("push", "slide"),
    ec.Slide: _responds_as("slide", "stop"),
    ec.Deflect: _responds_as("deflect", "slide"),
    ec.Sensor: lambda body: replace(body, sensor=False),
    ec.Dominance: lambda body: replace(body, level=0),
    ec.LockedAxes: lambda body: replace(body, locked=frozenset()),
    ec.Restitution: lambda body: replace(body, surface=None, rule=None),
    ec.Friction: lambda body: replace(body, friction=None, friction_rule=None),
    ec.CombineRule: lambda body: replace(body, rule=None, friction_rule=None),
    ec.MaxSpeed: lambda body: replace(body, max_speed=None),
    ec.Filter: lambda body: replace(body, kinds=1, meets=-1, group=0),
    ec.OneWay: lambda body: replace(body, solid_side=None),
    ec.Carry: lambda body: replace(body, carry=None),
    ec.PushOut: lambda body: replace(body, push_out=None),
    ec.Separate: lambda body: replace(body, separate=None),
    ec.Damping: lambda body: replace(body, damping=Fraction(0)),
}
"""What takes from a body what a rule goes by: for each component that the simulator models."""


class Rules:
    """Tries each rule in step after step, until switching it off has changed one.

    Attributes
    ----------
    idle : set
        The rules of `OFF` that have not changed a step yet.
    """

    def __init__(self) -> None:
        self.idle = set(OFF)

    def try_out(self, bodies: list[Body], dt: float, standing: Standing | None = None) -> None:
        """Try the idle rules in a step of `dt` seconds, which begins with bodies that stand."""
        contacts = [] if standing is None else standing.contacts
        end = None
        for rule in [rule for rule in OFF if rule in self.idle]:
            others = [OFF[rule](body) for body in bodies]
            if others == bodies:
                continue
            end = end or end_of(bodies, dt, contacts)
            if end_of(others, dt, contacts) != end:
                self.idle.remove(rule)


def end_of(bodies: list[Body], dt: float, contacts: Sequence[Contact]) -> list[object]:
    """Return where all bodies are, and how fast, at the end of a step or after many events."""
    exact = Simulator(bodies, Fraction(dt), standing=contacts)
    for _ in range(MOST_EVENTS):
        pair = exact.next_pair()
        if pair is None:
            exact.finish()
            break
        exact.take(pair)
    return [(exact.faces(ident), exact.velocity[ident]) for ident in exact.bodies]
