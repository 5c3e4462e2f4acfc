"""Reports of entities with invalid fields."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import MAX_ROUNDS, NAN, OF_SPACE
from ecs_collide.components.attributes import read_number
from ecs_collide.components.base import shown
from ecs_collide.components.component_map import Components
from ecs_collide.components.table import Bounds, Entry, entries
from ecs_collide.motion.wrapping import Wrap

N_KEPT = 64  # reports that a space keeps
N_NAMED = 20  # entities that a report lists by their ids


def rules(components: Components, dim: int, wrap: Wrap | None = None) -> list[Entry]:
    """Return the bounds of the numbers that collisions depend on."""
    numbered = [entry for some in entries(components, dim) for entry in some if entry.names]
    return [*box_rules(components, dim, wrap), *numbered[2:]]


def box_rules(components: Components, dim: int, wrap: Wrap | None = None) -> list[Entry]:
    """Return the bounds of the position and the extents of a body."""
    position, extents = entries(components, dim)[0][:2]
    maximum = 1.0 if components.whole_sizes else 0.5
    narrow = [
        Entry(extents.kind, (name,), bounds=(Bounds(
            0.0, maximum * width,
            f"must be at most {maximum * width!r}, the world is {width!r} wide on {'xyz'[k]} and a "
            "box may be no wider",
        ),))
        for k, (name, width) in enumerate(zip(extents.names, wrap or (), strict=False))
        if width
    ]  # fmt: skip
    return [position, extents, *narrow]


class Report(NamedTuple):
    """A report for the game: a body that a step skipped or held.

    Attributes
    ----------
    step : int
        The step since which the body is skipped, or in which it was held.
    entity : int
        The entity with the component; of a crowd or of held bodies, the lowest.
    field : str
        Component and attribute, such as ``"Velocity.x"``.  ``"Position"`` for a crowd,
        ``"Velocity"`` for held bodies.
    value : float or int
        Its value, an int only for whole numbers, and NaN for any other type.  For a crowd it is the
        number of pairs, for held bodies their number.
    message : str
        A sentence that states all this and the valid values.
    """

    step: int
    entity: int
    field: str
    value: float
    message: str

    @property
    def entities(self) -> tuple[int]:
        """The entity as a tuple, as in a `Finding`."""
        return (self.entity,)

    def __str__(self) -> str:
        return self.message


def as_reported(value: float) -> float:
    """Return a number for a report; NaN is always the same object, so that reports are equal."""
    return value if value == value else NAN


Lookup = Callable[[type], Any]
Holder = Callable[[type, int], Any]  # by type and row

_MISSING = object()  # stands for an attribute that a component does not have


class Wrong(NamedTuple):
    """A field out of its bounds, such as ``"Velocity.x"``: its value, and the rule."""

    field: str
    value: Any
    text: str


def fields_of(rules: list[Entry], component_of: Lookup) -> Iterator[tuple[Entry, Bounds, Wrong]]:
    """Yield the rule, the bounds and the value of each field of a body that collisions depend on."""
    for rule in rules:
        component = component_of(rule.kind)
        if component is not None:
            for name, bounds in zip(rule.names, rule.bounds, strict=True):
                value = read_number(component, name, _MISSING)
                yield rule, bounds, Wrong(f"{rule.kind.__name__}.{name}", value, bounds.text)


def out_of_bounds(rules: list[Entry], component_of: Lookup) -> Wrong | None:
    """Return the first field of a body that is out of its bounds, or None."""
    normals: dict[Entry, list[Wrong]] = {}
    for rule, bounds, field in fields_of(rules, component_of):
        if not bounds.allow(field.value):
            return field
        if bounds.is_part_of_axis:
            normals.setdefault(rule, []).append(field)
    for parts in normals.values():
        if not _is_axis([float(part.value) for part in parts]):
            return max(parts, key=_size)
    return None


def _size(wrong: Wrong) -> float:
    """Return the absolute value of a field."""
    return abs(float(wrong.value))


def _is_axis(normal: list[float]) -> bool:
    """Return whether numbers are a unit vector along an axis, or stand for the space's normal."""
    sizes = sorted(map(abs, normal))
    return sizes[-2:] == [0.0, 1.0] or normal == [OF_SPACE] * len(normal)


def leads_too_far(
    components: Components, wrap: Wrap, dt: float, component_of: Lookup
) -> Wrong | None:
    """Return the field that moves a body around too often or makes it too wide, or None."""
    dim = len(wrap)

    def numbers(role: str) -> list[tuple[str, float]]:
        """Return the names and values of a role's fields; empty without the component."""
        kind, names = components.vector(role, dim)
        component = component_of(kind)
        if component is None:
            return []
        return [(f"{kind.__name__}.{name}", float(read_number(component, name))) for name in names]

    for (field, value), width in zip(numbers("velocity"), wrap, strict=False):
        if width and abs(value * dt) > MAX_ROUNDS * width:
            text = f"must not lead more than {MAX_ROUNDS} times around the world"
            return Wrong(field, value, f"{text}, {width!r} wide, in a step of {dt!r} seconds")
    halves = 2.0 if components.whole_sizes else 1.0
    for (_, size), (field, value), width in zip(
        numbers("extents"), numbers("growth"), wrap, strict=False
    ):
        if width and 2.0 * (size / halves + value * dt) > width:
            text = "must not make the box wider than the world"
            return Wrong(field, value, f"{text}, {width!r}, in a step of {dt!r} seconds")
    return None


def quarantine_report(
    rules: list[Entry],
    step: int,
    dt: float,
    entity: int,
    component_of: Lookup,
    around: Wrong | None = None,
) -> Report:
    """Return a report of the first field of a body that is out of its bounds.

    If all are within their bounds, report the one that leads too far in this step.
    """
    wrong = out_of_bounds(rules, component_of) or around
    if wrong is None:
        text = f"must not lead beyond -2**500 ... 2**500 in a step of {dt!r} seconds"
        _, _, wrong = max(
            fields_of(rules, component_of), key=lambda found: (found[1].leads_on, _size(found[2]))
        )
        wrong = wrong._replace(text=text)
    field, given, text = wrong
    is_whole = any(
        bounds.is_whole for _, bounds, each in fields_of(rules, component_of) if each.field == field
    )
    # The form that a snapshot holds, so that a repeated step makes the same report.
    try:
        number = NAN if isinstance(given, (str, bytes, bytearray)) else float(given)
    except (TypeError, ValueError, OverflowError, ArithmeticError):  # of a component of an extra
        number = NAN
    value = int(number) if is_whole and number.is_integer() else as_reported(number)
    said = shown(given) if number != number else repr(value)
    return Report(
        step,
        entity,
        field,
        value,
        f"entity {entity} is skipped in all collisions since step {step}: {field} is {said}, "
        f"it {text}; the body is back as soon as that is put right",
    )


class FieldChecks:
    """Finds the invalid field among the cached components of a body."""

    def __init__(self, components: Components, dim: int, holder: Holder, wrap: Wrap | None):
        self.rules = rules(components, dim, wrap)
        self.box_rules = box_rules(components, dim, wrap)
        self._components = components
        self._holder = holder
        self._wrap = wrap

    def report(
        self, row: int, entity: int, step: int, dt: float, wrong: Wrong | None = None
    ) -> Report:
        """Return a report of a quarantined body: its first invalid field, else `wrong`."""
        lookup = self._lookup(row)
        if wrong is None and self._wrap is not None and out_of_bounds(self.rules, lookup) is None:
            wrong = leads_too_far(self._components, self._wrap, dt, lookup)
        return quarantine_report(self.rules, step, dt, entity, lookup, wrong)

    def find_no_number(self, row: int, entity: int) -> Exception | None:
        """Return the error for a field of a body that is not a number, or None."""
        return find_no_number(self.rules, entity, self._lookup(row))

    def first_error(self, entities: NDArray[np.int64], rows: NDArray[np.int64]) -> Exception:
        """Return the error for the first body, by id, with a field that is not a number."""
        errors = map(self.find_no_number, rows.tolist(), entities.tolist())
        found = next(filter(None, errors), None)
        return found or TypeError("a component holds something that is no number")

    def _lookup(self, row: int) -> Lookup:
        return lambda kind: self._holder(kind, row)


def crowd_report(step: int, entities: list[int], n_pairs: int) -> Report:
    """Return a report of a crowd: bodies inside each other, with more pairs than there is room for."""
    return Report(
        step,
        entities[0],
        "Position",
        n_pairs,
        f"entity {entities[0]} and {len(entities) - 1} others lie inside each other since step "
        f"{step}: {n_pairs} pairs of them are skipped in the collisions, there is no room for so "
        "many; each pair is back when it is no longer inside each other, so spread them out",
    )


def held_report(
    step: int, entities: list[int], n_pairs: int, n_spent: int, n_waiting: int
) -> Report:
    """Return a report of bodies that were held to the end of a step, with the count of each cause."""
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
    rules: list[Entry], entity: int, component_of: Lookup
) -> TypeError | AttributeError | None:
    """Return an error that names a field that is missing or not a number, or None."""
    for _, _, (field, value, text) in fields_of(rules, component_of):
        if value is _MISSING:
            return AttributeError(
                f"entity {entity}: {field} is missing, it was deleted or never set; it {text}"
            )
        try:
            if isinstance(value, (str, bytes, bytearray)):
                raise TypeError
            float(value)
        except (TypeError, ValueError, OverflowError):
            return TypeError(
                f"entity {entity}: {field} is {shown(value)}, which is no number that a float can "
                f"hold; it {text}"
            )
    return None


def refusal(rules: list[Entry], entity: int, component_of: Lookup) -> Exception | None:
    """Return an error that names an invalid field, or None."""
    error = find_no_number(rules, entity, component_of)
    wrong = None if error else out_of_bounds(rules, component_of)
    if wrong is None:
        return error
    return ValueError(f"entity {entity}: {wrong.field} is {wrong.value!r}, it {wrong.text}")
