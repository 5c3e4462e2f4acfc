"""Saying which field of which entity cannot be computed with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ecs_collide._numbers import LARGEST
from ecs_collide.components import Deflect, Extents, Growth, Mass, Position, Velocity

_WITHIN = "must be finite and within -2**500 ... 2**500"


class _Rule(NamedTuple):
    kind: type
    names: tuple[str, ...]
    least: float
    most: float
    text: str


_RULES = (
    _Rule(Position, ("x", "y", "z"), -LARGEST, LARGEST, _WITHIN),
    _Rule(Extents, ("x", "y", "z"), 0.0, LARGEST, "must be finite and >= 0"),
    _Rule(Velocity, ("x", "y", "z"), -LARGEST, LARGEST, _WITHIN),
    _Rule(Growth, ("x", "y", "z"), -LARGEST, LARGEST, _WITHIN),
    _Rule(
        Mass,
        ("value",),
        1.0 / LARGEST,
        LARGEST,
        "must be within 2**-500 ... 2**500, or inf for an immovable body",
    ),
    _Rule(Deflect, ("restitution",), 0.0, 1.0, "must be within 0 ... 1"),
)


class Report(NamedTuple):
    """Something the game should know: a body was left out of the collisions.

    Attributes
    ----------
    step : int
        Since which step.
    entity : int
        Whose component it is.
    field : str
        Component and attribute, as ``"Velocity.x"``.
    value : object
        What it says.
    message : str
        The same in a sentence, with what would have been right.
    """

    step: int
    entity: int
    field: str
    value: object
    message: str

    def __str__(self) -> str:
        return self.message


Lookup = Callable[[type], Any]


def _fields(component_of: Lookup, dim: int) -> Iterator[tuple[_Rule, str, Any]]:
    """Yield the fields of a body that collisions depend on."""
    for rule in _RULES:
        component = component_of(rule.kind)
        if component is not None:
            for name in rule.names[:dim]:
                yield rule, name, getattr(component, name)


def quarantine_report(step: int, dt: float, entity: int, component_of: Lookup, dim: int) -> Report:
    """Return a report of the first field of a body that is out of its bounds.

    Where all are within them, the body would leave them in this step.
    """
    fields = list(_fields(component_of, dim))
    bad = [
        (rule, name, value)
        for rule, name, value in fields
        if not (rule.least <= value <= rule.most or (rule.kind is Mass and value == math.inf))
    ]
    if bad:
        rule, name, value = bad[0]
        text = rule.text
    else:
        rule, name, value = max(
            [field for field in fields if field[0].kind in (Velocity, Growth)] or fields,
            key=lambda field: abs(field[2]),
        )
        text = f"must not lead beyond -2**500 ... 2**500 in a step of {dt!r} seconds"
    field = f"{rule.kind.__name__}.{name}"
    return Report(
        step,
        entity,
        field,
        value,
        f"entity {entity} is left out of all collisions since step {step}: {field} is {value!r}, "
        f"it {text}; the body is back as soon as that is put right",
    )


def find_no_number(entity: int, component_of: Lookup, dim: int) -> TypeError | None:
    """Return an error naming a field that holds no number, or None."""
    for rule, name, value in _fields(component_of, dim):
        try:
            if isinstance(value, (str, bytes, bytearray)):
                raise TypeError
            float(value)
        except (TypeError, ValueError, OverflowError):
            return TypeError(
                f"entity {entity}: {rule.kind.__name__}.{name} is {value!r}, which is no number "
                f"that a float can hold; it {rule.text}"
            )
    return None
