"""The rules of the response components for two bodies that meet.

A body is *dynamic* if it has `Velocity`, a response component (or a type that the
game gave to `Space.respond_with`) and finite `Mass`.  All others are static or
kinematic: walls, lifts, paddles.  If neither body of a pair is dynamic, they cross
and the `Collision` has the outcome ``CROSSED``; a `Sensor` crosses everything.

A resolution has two parts, both relative to the partner's velocity u.

The normal part is one rule for the pair.  Restitution e is the larger one of the
two bodies: the value of `Deflect`, and 0 for all other bodies.  A `Restitution`
replaces a body's value, and may name the rule that combines the two.

=========================  ====================================================
partner is not dynamic     v becomes u - e (v - u)
both are dynamic, e > 0    shared by inverse mass; equal masses with e = 1 swap
both are dynamic, e = 0    the two, and all bodies joined with them in this
                           instant, get one velocity: their mean by mass
=========================  ====================================================

The velocity along the surface follows the rule of each dynamic body:

=========================  ====================================================
`Deflect`, `Slide`         keep the velocity along the surface
`Push`                     if e = 0, all speed goes along the surface, in the
                           direction the body already had there
`Stop`                     takes the partner's velocity along the surface (bodies
                           that all stop take their mean by mass)
=========================  ====================================================

`Friction` follows, for bodies that deflect or slide.  Its momentum along the
surface is at most its value times the momentum of the normal part.

A body with several response components follows the first of Stop, Push, Slide,
Deflect.  With `Growth` the velocities are those of the touching faces.
Velocities are never scaled by the remaining time of a step; paths are.
"""

from __future__ import annotations

from typing import Final

from ecs_collide.components.basics import Deflect
from ecs_collide.components.table import TABLE


class _Default:
    """The type of `DEFAULT`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ecs_collide.DEFAULT"


DEFAULT: Final = _Default()
"""Returned by a custom response to ask for the built-in one."""


def response_numbers(response: object) -> tuple[int, float]:
    """Return the code of a response component in the kernels, and its restitution.

    Raises
    ------
    TypeError
        If it is not a response component.
    ValueError
        If its restitution is not from 0 to 1.
    """
    code = next((RESPONSE_CODES[t] for t in type(response).__mro__ if t in RESPONSE_CODES), 0)
    if code == 0:
        raise TypeError(
            f"response={response!r} must be a Deflect, Slide, Push or Stop, such as Deflect(0.5)"
        )
    restitution = float(response.restitution) if isinstance(response, Deflect) else 0.0
    if not 0.0 <= restitution <= 1.0:
        raise ValueError(f"response={response!r} must have a restitution from 0 to 1")
    return code, restitution


RESPONSE_CODES: dict[type, int] = {d.kind: d.response for d in TABLE if d.response}
"""The response components and their codes in the kernels, in ascending precedence."""
