"""Saying which field of which entity cannot be computed with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ecs_collide._attributes import read_number
from ecs_collide.component_map import Components, Role
from ecs_collide.components import Deflect
from ecs_collide.constants import (
    ALL,
    AXES,
    LARGEST,
    MAX_ROUNDS,
    MOST_DOMINANCE,
    MOST_PULL,
    OF_SPACE,
)
from ecs_collide.dynamics import (
    Attached,
    Damping,
    Dominance,
    GravityScale,
    LockedAxes,
    MaxSpeed,
    PushOut,
    Separate,
)
from ecs_collide.filters import Filter
from ecs_collide.motion.wrapping import Wrap
from ecs_collide.surfaces import Carry, CombineRule, Friction, OneWay, Restitution

_WITHIN_RANGE = "must be finite and within -2**500 ... 2**500"
_UNIT = "must be part of a unit vector along an axis of the space"

N_KEPT = 64  # reports that a space keeps
N_NAMED = 20  # entities that a report lists by their ids


class Rule(NamedTuple):
    """What the numbers of a component must be."""

    kind: type
    names: tuple[str, ...]
    minimum: float
    maximum: float
    text: str
    leads_on: bool = False  # it says where the body goes
    may_be_infinite: bool = False
    is_whole: bool = False
    is_axis: bool = False  # together they are a unit vector along an axis

    def allows(self, value: Any) -> bool:
        """Return whether a number, alone, is as it must be."""
        number = float(value)  # as a step reads it: Decimal("NaN") refuses to be compared
        if self.may_be_infinite and number == math.inf:
            return True
        return self.minimum <= number <= self.maximum and not (self.is_whole and number % 1)


def rules(components: Components, dim: int, wrap: Wrap | None = None) -> list[Rule]:
    """Return what must hold for the numbers that collisions depend on."""
    position, extents, velocity, growth = (
        components.vector(role, dim) for role in ("position", "extents", "velocity", "growth")
    )
    heavy = "must be within 2**-500 ... 2**500, or inf for an immovable body"
    maximum = 1.0 if components.whole_sizes else 0.5
    narrow = [
        Rule(
            extents.kind, (name,), 0.0, maximum * width,
            f"must be at most {maximum * width!r}, the world is {width!r} wide on {'xyz'[k]} and a "
            "box may be no wider",
        )
        for k, (name, width) in enumerate(zip(extents.names, wrap or (), strict=False))
        if width
    ]  # fmt: skip
    return [
        Rule(*position, -LARGEST, LARGEST, _WITHIN_RANGE),
        Rule(*extents, 0.0, LARGEST, "must be finite and >= 0"),
        *narrow,
        Rule(*velocity, -LARGEST, LARGEST, _WITHIN_RANGE, leads_on=True),
        Rule(*growth, -LARGEST, LARGEST, _WITHIN_RANGE, leads_on=True),
        Rule(*components.mass, 1.0 / LARGEST, LARGEST, heavy, may_be_infinite=True),
        Rule(*Role(Deflect, ("restitution",)), 0.0, 1.0, "must be within 0 ... 1"),
        Rule(Filter, ("categories",), 0, ALL, "must be whole, within 0 ... 2**32 - 1",
             is_whole=True),
        Rule(Filter, ("mask",), ~ALL, ALL, "must be whole, within 0 ... 2**32 - 1, or ~bits",
             is_whole=True),
        Rule(Filter, ("group",), 1 - 2**31, 2**31 - 1,
             "must be whole, within -(2**31 - 1) ... 2**31 - 1", is_whole=True),
        Rule(Friction, ("value",), 0.0, LARGEST, "must be finite, and 0 (ice) or more"),
        Rule(OneWay, AXES[:dim], -1.0, OF_SPACE, _UNIT, is_axis=True),
        Rule(Carry, tuple(f"normal_{axis}" for axis in AXES[:dim]), -1.0, OF_SPACE, _UNIT,
             is_axis=True),
        Rule(Carry, AXES[:dim], -LARGEST, LARGEST, _WITHIN_RANGE),
        Rule(Attached, AXES[:dim], -LARGEST, LARGEST, _WITHIN_RANGE),
        Rule(Attached, ("owner",), 1, 2**53, "must be the id of an entity", is_whole=True),
        *(
            Rule(kind, ("speed",), math.ulp(0.0), LARGEST, "must be above 0, or inf",
                 may_be_infinite=True)
            for kind in (PushOut, Separate, MaxSpeed)
        ),
        Rule(GravityScale, ("value",), -MOST_PULL, MOST_PULL, "must be within -2**100 ... 2**100"),
        Rule(Damping, ("value",), 0.0, MOST_PULL, "must be within 0 ... 2**100"),
        *(
            Rule(kind, ("code",), 0, len(CombineRule), "must be that of a CombineRule, or 0",
                 is_whole=True)
            for kind in (Friction, Restitution)
        ),
        Rule(Restitution, ("value",), 0.0, 1.0, "must be within 0 ... 1"),
        Rule(Dominance, ("level",), -MOST_DOMINANCE, MOST_DOMINANCE,
             f"must be whole, within -{MOST_DOMINANCE} ... {MOST_DOMINANCE}", is_whole=True),
        Rule(LockedAxes, AXES[:dim], 0, 1, "must be True or False", is_whole=True),
    ]  # fmt: skip


class Report(NamedTuple):
    """Something the game should know: what was left out of collisions, or held in a step.

    Attributes
    ----------
    step : int
        Since which step.
    entity : int
        Whose component it is; of a crowd, or of bodies that were held, the lowest.
    field : str
        Component and attribute, as ``"Velocity.x"``; of a crowd ``"Position"``, of bodies that
        were held ``"Velocity"``.
    value : object
        What it says; of a crowd the number of pairs, of bodies that were held their number.
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

_MISSING = object()  # stands for an attribute that a component does not have


def _fields(rules: list[Rule], component_of: Lookup) -> Iterator[tuple[Rule, str, Any]]:
    """Yield the fields of a body that collisions depend on."""
    for rule in rules:
        component = component_of(rule.kind)
        if component is not None:
            for name in rule.names:
                yield rule, name, read_number(component, name, _MISSING)


def _size(field: tuple[Any, ...]) -> float:
    """Return the absolute value of what a field, whose last part is its value, holds."""
    return abs(float(field[-1]))


class Wrong(NamedTuple):
    """A field that is out of its bounds: as ``"Velocity.x"``, its value, what it must be."""

    field: str
    value: Any
    text: str


def out_of_bounds(rules: list[Rule], component_of: Lookup) -> Wrong | None:
    """Return the first field of a body that is out of its bounds, or None."""
    fields = list(_fields(rules, component_of))
    for rule, name, value in fields:
        if not rule.allows(value):
            return Wrong(f"{rule.kind.__name__}.{name}", value, rule.text)
    for rule in rules:
        parts = [(name, value) for of, name, value in fields if of is rule]
        if rule.is_axis and parts and not _is_axis([float(value) for _, value in parts]):
            name, value = max(parts, key=_size)
            return Wrong(f"{rule.kind.__name__}.{name}", value, rule.text)
    return None


def _is_axis(normal: list[float]) -> bool:
    """Return whether numbers are a unit vector along an axis, or stand for that of the space."""
    sizes = sorted(map(abs, normal))
    return sizes[-2:] == [0.0, 1.0] or normal == [OF_SPACE] * len(normal)


def leads_too_far(
    components: Components, wrap: Wrap, dt: float, component_of: Lookup
) -> Wrong | None:
    """Return what makes a body go around too often in a step, or grow too wide, or None."""
    dim = len(wrap)
    size = components.vector("extents", dim)
    sizes = {name: float(read_number(component_of(size.kind), name)) for name in size.names}
    halves = 2.0 if components.whole_sizes else 1.0

    def numbers(role: str) -> Iterator[tuple[int, str, float, float]]:
        """Yield axis, field, value and width on the axes that wrap."""
        kind, names = components.vector(role, dim)
        component = component_of(kind)
        for k, width in enumerate(wrap):
            if component is not None and width:
                yield (
                    k,
                    f"{kind.__name__}.{names[k]}",
                    float(read_number(component, names[k])),
                    width,
                )

    for _, field, value, width in numbers("velocity"):
        if abs(value * dt) > MAX_ROUNDS * width:
            text = f"must not lead more than {MAX_ROUNDS} times around the world"
            return Wrong(field, value, f"{text}, {width!r} wide, in a step of {dt!r} seconds")
    for k, field, value, width in numbers("growth"):
        if 2.0 * (sizes[size.names[k]] / halves + value * dt) > width:
            text = "must not make the box wider than the world"
            return Wrong(field, value, f"{text}, {width!r}, in a step of {dt!r} seconds")
    return None


def quarantine_report(
    rules: list[Rule],
    step: int,
    dt: float,
    entity: int,
    component_of: Lookup,
    around: Wrong | None = None,
) -> Report:
    """Return a report of the first field of a body that is out of its bounds.

    Where all are within them, the body would leave them in this step.
    """
    wrong = out_of_bounds(rules, component_of) or around
    if wrong is None:
        fields = list(_fields(rules, component_of))
        rule, name, value = max(
            [field for field in fields if field[0].leads_on] or fields,
            key=_size,
        )
        wrong = Wrong(
            f"{rule.kind.__name__}.{name}",
            value,
            f"must not lead beyond -2**500 ... 2**500 in a step of {dt!r} seconds",
        )
    field, value, text = wrong
    return Report(
        step,
        entity,
        field,
        value,
        f"entity {entity} is left out of all collisions since step {step}: {field} is {value!r}, "
        f"it {text}; the body is back as soon as that is put right",
    )


def crowd_report(step: int, entities: list[int], n_pairs: int) -> Report:
    """Return a report of bodies that lie inside each other by the thousand."""
    return Report(
        step,
        entities[0],
        "Position",
        n_pairs,
        f"entity {entities[0]} and {len(entities) - 1} others lie inside each other since step "
        f"{step}: {n_pairs} pairs of them are left out of the collisions, there is no room for so "
        "many; each pair is back when it is no longer inside each other, so spread them out",
    )


def held_report(
    step: int, entities: list[int], n_pairs: int, n_spent: int, n_waiting: int
) -> Report:
    """Return a report of bodies that were held to the end of a step, because of these limits."""
    named = ", ".join(map(str, entities[:N_NAMED]))
    if len(entities) > N_NAMED:
        named += f" and {len(entities) - N_NAMED} more"
    noun = "entity" if len(entities) == 1 else "entities"
    causes = []
    if n_pairs:
        causes.append(f"{n_pairs} pair(s) came to Space.pair_limit")
    if n_spent:
        causes.append(f"{n_spent} of them turned too often for the pairs that they have")
    if n_waiting:
        causes.append(f"{n_waiting} of them take turns, as there is no room for their pairs")
    return Report(
        step,
        entities[0],
        "Velocity",
        len(entities),
        f"step {step} held {noun} {named} to its end: {'; '.join(causes)}; velocities are kept, "
        "and the next step goes on",
    )


def find_no_number(
    rules: list[Rule], entity: int, component_of: Lookup
) -> TypeError | AttributeError | None:
    """Return an error naming a field that is missing or holds no number, or None."""
    for rule, name, value in _fields(rules, component_of):
        if value is _MISSING:
            return AttributeError(
                f"entity {entity}: {rule.kind.__name__}.{name} is missing, it was deleted or never "
                f"set; it {rule.text}"
            )
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


def refusal(rules: list[Rule], entity: int, component_of: Lookup) -> Exception | None:
    """Return an error naming a field that cannot be computed with, or None."""
    error = find_no_number(rules, entity, component_of)
    if error is not None:
        return error
    wrong = out_of_bounds(rules, component_of)
    if wrong is None:
        return None
    return ValueError(f"entity {entity}: {wrong.field} is {wrong.value!r}, it {wrong.text}")
