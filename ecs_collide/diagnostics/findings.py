"""Examine the entities of a world and report faults and oddities of each.

It reads the components as they are now and the results of the last step, and changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import LARGEST, NAN, Exclusion, Has
from ecs_collide.components.attributes import read_number
from ecs_collide.components.basics import Acceleration, Disabled, Fixed, Sensor
from ecs_collide.components.dynamics import (
    Attached,
    Damping,
    Dominance,
    GravityScale,
    LockedAxes,
    MaxSpeed,
    PushOut,
    Separate,
)
from ecs_collide.components.filters import Filter, filter_numbers
from ecs_collide.components.slope import Slope
from ecs_collide.components.surfaces import Carry, Friction, OneWay, Restitution
from ecs_collide.components.table import moves_itself
from ecs_collide.diagnostics import EXAMINERS
from ecs_collide.esper_world import World
from ecs_collide.events import Vector
from ecs_collide.motion.wrapping import Wrap
from ecs_collide.step.pair_filters import PairFilters
from ecs_collide.step.responses import Responses
from ecs_collide.step.state import StepState
from ecs_collide.step.stats import Stats
from ecs_collide.sync.attached import OWNER, wrong_owner
from ecs_collide.sync.quarantine import (
    Report,
    Wrong,
    as_reported,
    find_no_number,
    out_of_bounds,
)
from ecs_collide.sync.registry import BodyRegistry

N_TELEPORTS = 3  # consecutive steps in which the game sets a position
_N_SHOWN = 5  # entities in a repr
_N_LINES = 20  # findings that are printed


class Finding(NamedTuple):
    """A fault or an oddity that would puzzle the maker of a game.

    Attributes
    ----------
    cause : str
        A short name for it, the same in every version: ``"no_extents"``.
    entities : tuple of int
        The entities that it is about, by rising id; empty if it is about the world.
    message : str
        A sentence about the fault and its correction.
    """

    cause: str
    entities: tuple[int, ...]
    message: str

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        ids = ", ".join(map(str, self.entities[:_N_SHOWN]))
        if len(self.entities) > _N_SHOWN:
            ids += f", ... {len(self.entities) - _N_SHOWN} more"
        elif len(self.entities) == 1:
            ids += ","
        return f"Finding(cause={self.cause!r}, entities=({ids}), message={self.message!r})"


def finding_about(entity: int, cause: str, text: str) -> Finding:
    """Return a finding about one entity, whose message begins with its id."""
    return Finding(cause, (entity,), f"entity {entity} {text}")


class Findings(list[Finding]):
    """A list of findings; prints as one line for each, 20 at most."""

    def __repr__(self) -> str:
        if not self:
            return "no findings"
        lines = [f"{finding.cause}: {finding.message}" for finding in self[:_N_LINES]]
        if len(self) > _N_LINES:
            lines.append(f"... {len(self) - _N_LINES} more")
        return "\n".join(lines)


class Box(NamedTuple):
    """A body by its components, on each axis, in world units and units per second."""

    centre: list[float]
    half: list[float]
    velocity: list[float]
    growth: list[float]


Corner = Sequence[float] | NDArray[np.float64]
Corners = tuple[Corner, Corner]  # the lower and the upper one


class Examined(NamedTuple):
    """The parts of a world and a space that an examination reads.

    Attributes
    ----------
    space : the space itself, by which the systems that run it are recognised
    world, state, registry, filters, responses, stats, up, wrap : parts and settings of the space
    not_held : entities with components that snapshots do not save, by type; empty in a game
        that takes no snapshots
    """

    space: object
    world: World
    state: StepState
    registry: BodyRegistry
    pair_filters: PairFilters
    responses: Responses
    stats: Stats
    up: Vector
    wrap: Wrap | None
    not_held: Mapping[type, Sequence[int]]


class Examination:
    """One examination of a world and its space."""

    def __init__(self, examined: Examined) -> None:
        self.space, self.world, self.state, self.registry, self.pair_filters = examined[:5]
        self.own_responses, self.stats, self.up, self.wrap, self.not_held = examined[5:]
        self.world.require_current()
        self.dim = examined.state.dim
        self.sweeps = examined.registry.sweeps
        self.kinds = examined.registry.kinds
        self.position, self.extents, self.velocity, self.growth, self.mass = self.kinds[:5]
        self.sensor = examined.registry.types[Sensor]
        self.responses = sorted(
            (kind for kind in self.kinds if kind.response), key=lambda kind: -kind.response
        )
        self.custom = [kind for kind in self.kinds if kind.mark & Has.CUSTOM]
        types = [kind.type for kind in self.kinds]
        self.components = self.world.entities([*types, *EXAMINERS])
        self.dead = frozenset(self.world.dead())

    def of(self, entity: int) -> Mapping[type, Any]:
        """Return the components of an entity by type."""
        return self.components.get(entity, {})

    def has(self, entity: int, kind: Any) -> bool:
        """Return whether an entity has a component that the space would find."""
        kind_type: type = kind.type
        return kind_type in self.of(entity)

    def is_body(self, entity: int) -> bool:
        """Return whether an entity has the components of a body."""
        return self.has(entity, self.position) and self.has(entity, self.extents)

    def is_sound(self, entity: int) -> bool:
        """Return whether a step can compute with an entity."""
        return (
            entity not in self.dead
            and self.is_body(entity)
            and Disabled not in self.of(entity)
            and not any(finding.cause in _UNSOUND for finding in _odd_numbers(self, entity))
        )

    def responses_of(self, entity: int) -> list[str]:
        """Return the names of an entity's responses, the one that wins first."""
        all_responses = [
            *self.custom,
            *(kind for kind in self.responses if kind not in self.custom),
        ]
        return [kind.type.__name__ for kind in all_responses if self.has(entity, kind)]

    def is_crossing_allowed(self, first: int, second: int) -> bool:
        """Return whether a response has made two bodies cross until they separate."""
        rows = self.row(first), self.row(second)
        return rows in self.state.timeline.contacts.until_apart()

    def depth_in_slope(self, first: int, one: Corners, second: int, two: Corners) -> float:
        """Return how deep one of two bodies is beyond the line of the other; inf for two boxes."""
        slopes, row_of = self.state.timeline.step.slopes, self.registry.row_of
        return min(
            slopes.depth_in(row_of.get(first, -1), one, two),
            slopes.depth_in(row_of.get(second, -1), two, one),
        )

    def way_out(self, first: int, second: int) -> str:
        """Return how two solid bodies that are inside each other may get apart."""
        text = "they may part but get no deeper, and "
        if any(PushOut in self.of(body) and self.is_dynamic(body) for body in (first, second)):
            return text + "PushOut moves one of them out when nothing is in its way"
        return text + "nothing pushes them out: that takes PushOut on one that is dynamic"

    def has_infinite_mass(self, entity: int) -> bool:
        """Return whether an entity has infinite mass."""
        mass = self.of(entity).get(self.mass.type)
        return mass is not None and abs(_number(mass, self.mass.names[0])) > LARGEST

    def is_dynamic(self, entity: int) -> bool:
        """Return whether an entity is moved by impacts."""
        return (
            Attached not in self.of(entity)
            and (self.sweeps or self.has(entity, self.velocity))
            and bool(self.responses_of(entity))
            and not self.has_infinite_mass(entity)
        )

    def acceleration(self, entity: int) -> list[float]:
        """Return the acceleration of a body by axis, with gravity, in units per second squared."""
        of = self.of(entity)
        if not self.is_dynamic(entity) or self.has(entity, self.sensor) or self.is_left(entity):
            return [0.0] * self.dim
        scale = _number(of[GravityScale], "value") if GravityScale in of else 1.0
        locked = [
            LockedAxes in of and bool(getattr(of[LockedAxes], axis)) for axis in "xyz"[: self.dim]
        ]
        own = of.get(Acceleration, Acceleration(0.0, 0.0))
        return [
            0.0 if fixed else part * scale + _number(own, axis)
            for part, axis, fixed in zip(self.state.gravity, "xyz", locked, strict=False)
        ]

    def is_left(self, entity: int) -> bool:
        """Return whether the game or one of its systems moves a body, and nothing pulls it."""
        return self.sweeps or any(map(moves_itself, self.of(entity)))

    def is_moving(self, entity: int) -> bool:
        """Return whether a step searches for bodies that an entity may meet."""
        moves = self.has(entity, self.velocity) or self.has(entity, self.growth)
        moves = moves or Attached in self.of(entity)
        return moves or (self.sweeps and bool(self.responses_of(entity)))

    def row(self, entity: int) -> int | None:
        """Return the row of an entity that the last step knew, or None."""
        row: int | None = self.registry.row_of.get(entity)
        return row

    def box(self, entity: int) -> Box:
        """Return the box and the motion of a body that has all of its numbers."""
        if self.is_held_fixed(entity):
            zeros = [0.0] * self.dim
            return Box(*self.registry.units.box_of(*self._seen(entity)), zeros, zeros)
        place, size, velocity, growth = self._numbers_of(entity)
        attached = self.of(entity).get(Attached)
        owner = None if attached is None else self.owner_of(attached)
        if attached is not None and owner is not None:
            _, half = self.registry.units.box_of(place, size)
            at = self.box(owner)
            centre = [a + b for a, b in zip(at.centre, attached.offset, strict=False)]
            return Box(centre, half, at.velocity, growth)
        if self.sweeps:  # the game moves it by its position
            velocity = [0.0] * self.dim
        return Box(*self.registry.units.box_of(place, size), velocity, growth)

    def owner_of(self, attached: Attached) -> int | None:
        """Return the owner of an attached box; None if it is not a body, or is attached itself."""
        owner = attached.owner
        if not self.is_body(owner) or Attached in self.of(owner):
            return None
        return owner

    def _numbers_of(self, entity: int) -> list[list[float]]:
        """Return the numbers of position, extents, velocity and growth; NaN for anything else."""
        found: list[list[float]] = []
        for kind in (self.position, self.extents, self.velocity, self.growth):
            item = self.of(entity).get(kind.type)
            names: Sequence[str] = kind.names
            found.append([0.0 if item is None else _number(item, name) for name in names])
        return found

    def has_set_velocity(self) -> bool:
        """Return whether the game has set a velocity since the last step."""
        seen, kind = self.registry.table.seen_velocity, self.velocity
        entities, rows = self.registry.entities.tolist(), self.registry.rows.tolist()
        for entity, row in zip(entities, rows, strict=True):
            velocity = self.of(entity).get(kind.type)
            now = [] if velocity is None else [_number(velocity, name) for name in kind.names]
            if any(a != b for a, b in zip(now, seen[row].tolist(), strict=False)):
                return True
        return False

    def is_changed(self, entity: int) -> bool:
        """Return whether the components of a body have changed since the last step."""
        row = self.row(entity)
        assert row is not None
        holder, of = self.registry.index.holder, self.of(entity)
        return any(holder(kind.type, row) is not of.get(kind.type) for kind in self.kinds)

    def is_moved_by_the_game(self, entity: int) -> bool:
        """Return whether the game has moved or resized a sound body since the last step."""
        if self.row(entity) is None or self.is_held_fixed(entity):
            return False
        if Attached in self.of(entity):
            return False
        return [*self._seen(entity)] != self._numbers_of(entity)[:2]

    def _seen(self, entity: int) -> tuple[list[float], list[float]]:
        """Return the numbers of position and extents that were seen of a body last."""
        row, table = self.row(entity), self.registry.table
        return table.seen_place[row].tolist(), table.seen_size[row].tolist()

    def is_held_fixed(self, entity: int) -> bool:
        """Return whether the next step does not read the components of a body."""
        row = self.row(entity)
        if row is None or not self.registry.are_held_fixed(np.array([row]))[0]:
            return False
        return Fixed in self.of(entity) and not self.is_changed(entity)


def _number(component: object, name: str) -> float:
    """Return the number that a component holds, or NaN."""
    value = read_number(component, name, None)
    if isinstance(value, (str, bytes, bytearray)):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


_UNSOUND = ("no_number", "quarantined", "wrong_number")


def odd_about(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield the findings about one entity."""
    found = partial(finding_about, entity)
    known = [kind.type for kind in e.kinds]
    for own, component in e.of(entity).items():
        if isinstance(component, type) and (own is type(component) or own in known):
            name = component.__name__
            yield found(
                "class_as_component",
                f"has the class {name} as a component, where an instance is meant: {name}(...)",
            )
    for kind, alias in _hidden(e, entity):
        yield found(
            "no_type_alias",
            f"has a {alias.__name__}, a subclass of {kind.__name__} under which esper does not "
            f"find it: esper.add_component({entity}, ..., type_alias={kind.__name__})",
        )
    names = [kind.type.__name__ for kind in (e.position, e.extents)]
    has = [e.has(entity, kind) for kind in (e.position, e.extents)]
    if has[0] != has[1]:
        yield found(
            f"no_{names[has.index(False)].lower()}",
            f"has {names[has.index(True)]} but no {names[has.index(False)]}: a body has both",
        )
    others = [kind for kind in e.kinds[2:] if e.has(entity, kind)]
    # `Cells` of a level, for example, has a library component so that snapshots know its entity.
    is_state = any(getattr(kind, "needs_no_body", False) for kind in e.of(entity))
    if not any(has) and others and not is_state:
        yield found(
            "no_body",
            f"has {others[0].type.__name__} but neither {names[0]} nor {names[1]}: it is not a "
            "body, and nothing moves it",
        )
    for kind, examine in EXAMINERS.items():
        if kind in e.of(entity):
            yield from examine(e, entity)
    if all(has):
        yield from _odd_numbers(e, entity)
        yield from _odd_responses(e, entity)
        yield from _odd_traits(e, entity)
        yield from _odd_moves(e, entity)
        yield from _odd_fixed(e, entity)


def _hidden(e: Examination, entity: int) -> Iterator[tuple[type, type]]:
    """Yield component types, and for each the subclass that an entity has instead."""
    known = [kind.type for kind in e.kinds]
    of = e.of(entity)
    for own in of:
        if own not in known and isinstance(own, type):
            for base in own.__mro__[1:]:
                if base in known and base not in of:
                    yield base, own
                    break


def _odd_numbers(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield the numbers of a body's components that cannot be computed with."""
    if e.is_held_fixed(entity):
        yield from _quarantined(e, entity, "; Space.teleport lets the next step read it again")
        return
    refused = find_no_number(e.registry.checks.rules, entity, e.of(entity).get)
    if refused is not None:
        name = type(refused).__name__
        yield Finding("no_number", (entity,), f"{refused}: every step raises this {name}")
        return
    wrong = out_of_bounds(e.registry.checks.rules, e.of(entity).get) or _wrong_owner(e, entity)
    quarantined = list(_quarantined(e, entity, "", wrong))
    yield from quarantined
    if wrong is not None and not quarantined:
        yield finding_about(
            entity,
            "wrong_number",
            f"is skipped by the next step: {wrong.field} is {wrong.value!r}, it {wrong.text}",
        )
    if e.dim == 2:
        for kind in (e.position, e.velocity, e.growth):
            component = e.of(entity).get(kind.type)
            z = getattr(component, "z", 0.0)
            if hasattr(component, "z") and _number(component, "z") != 0.0:
                yield finding_about(
                    entity,
                    "z_in_2d",
                    f"has {kind.type.__name__}.z = {z!r}, which a space of 2 "
                    "axes does not read: Space(dim=3)",
                )


def _quarantined(
    e: Examination, entity: int, more: str, wrong: Wrong | None = None
) -> Iterator[Finding]:
    """Yield a finding if the last step skipped a body, with the reason."""
    row = e.row(entity)
    if row is None or e.registry.table.quarantined[row] != Exclusion.INVALID:
        return
    text = "quarantined"
    if wrong is not None:
        text = f"quarantined: {wrong.field} is {wrong.value!r}, it {wrong.text}"
    # The game may have cleared the list.
    reports = [r for r in (*e.state.reports, *e.state.new_reports) if r.entity == entity]
    for report in reports[-1:]:
        text = f"quarantined: {report.field} is {report.value!r} since step {report.step}"
        if wrong is not None and report.field == wrong.field == OWNER:
            text += f", it {wrong.text}"
    if not more and wrong is None and reports and not _says(e, entity, reports[-1]):
        more = ", and was put right since; the next step takes it back"
    yield finding_about(entity, "quarantined", f"is {text}{more}")


def _says(e: Examination, entity: int, report: Report) -> bool:
    """Return whether a field still has the value that another part has refused, with a report.

    Either the path of the body leads too far, or an extra refuses a number, such as `Path.speed`.
    """
    if report.field == OWNER:
        return False
    name, _, field = report.field.partition(".")
    values = (
        as_reported(_number(component, field))
        for kind, component in e.of(entity).items()
        if kind.__name__ == name
    )
    return any(value in (report.value, NAN) for value in values)


def _wrong_owner(e: Examination, entity: int) -> Wrong | None:
    """Return the error about the owner of an attached box, or None."""
    attached = e.of(entity).get(Attached)
    if attached is None or e.owner_of(attached) is not None:
        return None
    owner = attached.owner
    last = e.of(owner)[Attached].owner if e.is_body(owner) else None
    return wrong_owner(owner, is_itself=owner == entity, last=last)


def _odd_responses(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield the components of a body that have no effect, or not the one they seem to have."""
    found = partial(finding_about, entity)
    responses = e.responses_of(entity)
    builtin = [kind.type.__name__ for kind in e.responses if e.has(entity, kind)]
    if len(builtin) > 1:
        yield found("several_responses", f"has {' and '.join(builtin)}: {builtin[0]} wins")
    if Attached in e.of(entity):
        idle = [*builtin, *(kind.type.__name__ for kind in (e.velocity,) if e.has(entity, kind))]
        if idle:
            text = "Attached: Attached wins, it goes where its owner goes"
            yield found("attached_wins", f"has {' and '.join(idle)} and {text}")
        return
    if not responses:
        return
    for name in [kind.__name__ for kind in e.own_responses.empty() if kind in e.of(entity)]:
        yield found(
            "empty_response",
            f"has {name}, whose function of respond_with() does nothing: a body that hits it "
            "slides (Outcome.FORCED); return ec.DEFAULT, or call impact.resolve()",
        )
    if e.has(entity, e.sensor):
        yield found(
            "sensor_wins", f"has {responses[0]} and Sensor: Sensor wins, it is crossed freely"
        )
    elif not builtin:
        return  # its function is called, even if it is a wall
    elif not e.sweeps and not e.has(entity, e.velocity):
        yield found(
            "no_velocity", f"has {builtin[0]} but no {e.velocity.type.__name__}: it is static"
        )
    elif e.has_infinite_mass(entity):
        yield found(
            "infinite_mass",
            f"has {builtin[0]} and an infinite Mass: nothing pushes it, and no floor or wall stops "
            "it; with Dominance(1) and a finite Mass they do",
        )


def _odd_traits(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield the traits of a body that have no effect."""
    of, found = e.of(entity), partial(finding_about, entity)
    its = of.get(Filter)
    try:
        categories, mask, group = filter_numbers(its)
    except (AttributeError, TypeError, ValueError, OverflowError):
        categories = mask = group = 1  # already reported
    if group <= 0 and not (categories and mask):
        yield found("meets_nobody", f"has {its!r}: it meets no other body")
    if PushOut in of and not e.is_dynamic(entity):
        yield found("push_out_idle", "has PushOut and is not dynamic: nothing pushes it out")
    # A still body with Separate is a tower among the members.
    if Separate in of and e.is_moving(entity) and not e.is_dynamic(entity):
        yield found("separate_idle", "has Separate and is not dynamic: other members never move it")
    if Slope in of and (e.is_dynamic(entity) or e.has(entity, e.growth) or Attached in of):
        why = "is dynamic" if e.is_dynamic(entity) else "grows or is Attached"
        yield found(
            "slope_idle", f"has Slope and {why}: it is a box; a slope is static or kinematic"
        )
    if GravityScale in of and not e.is_dynamic(entity):
        yield found("gravity_idle", "has GravityScale and is not dynamic: it does not fall anyway")
    if Acceleration in of and not e.is_dynamic(entity):
        yield found("acceleration_idle", "has Acceleration and is not dynamic: nothing pulls it")
    for name in [each.__name__ for each in (Acceleration, Damping) if each in of and e.sweeps]:
        yield found("swept_idle", f"has {name}, and the game moves it")
    if e.has(entity, e.sensor):
        idle = (
            OneWay, Carry, Friction, Restitution, Dominance, PushOut, Separate, GravityScale,
            Acceleration,
        )  # fmt: skip
        for kind in idle:
            if kind in of:
                yield found("sensor_idle", f"has {kind.__name__} and Sensor: Sensor wins")
    elif Dominance in of and e.is_moving(entity) and not e.is_dynamic(entity):
        yield found("dominance_idle", "has Dominance and is not dynamic: nothing pushes it anyway")
    if MaxSpeed in of and (e.sweeps or not e.has(entity, e.velocity)):
        why = "the game moves it" if e.sweeps else f"no {e.velocity.type.__name__}"
        yield found("max_speed_idle", f"has MaxSpeed, and {why}: nothing limits how fast it is")
    if LockedAxes in of and not e.is_moving(entity):
        yield found("locked_idle", "has LockedAxes and nothing that moves it")
    ruled = [name for name in e.responses_of(entity)[:1] if name in ("Stop", "Push")]
    if Friction in of and ruled and e.is_dynamic(entity):
        yield found(
            "friction_idle", f"has Friction and {ruled[0]}, which has its own rule for the surface"
        )


def _odd_moves(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield a finding if the game moves a body that the library moves already."""
    n = e.registry.lists.teleports.get(entity, 0)
    if n >= N_TELEPORTS and e.has(entity, e.velocity):
        position, velocity = e.position.type.__name__, e.velocity.type.__name__
        yield finding_about(
            entity,
            "teleports",
            f"has {velocity}, and the game has set its {position} before each of "
            f"the last {n} steps: each is a teleport, and nothing is swept in between; the "
            f"library moves bodies with {velocity}, do not add it to the {position} yourself",
        )


def _odd_fixed(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield why a body that is declared fixed is not, or that the game has changed it."""
    if Fixed not in e.of(entity):
        return
    if e.is_moving(entity):
        kinds = e.velocity.type, e.growth.type, Attached
        movers = [kind.__name__ for kind in kinds if kind in e.of(entity)]
        moves = movers or e.responses_of(entity)
        yield finding_about(
            entity,
            "fixed_moves",
            f"has Fixed and {moves[0]}: Fixed is ignored; remove one of them",
        )
    elif e.is_held_fixed(entity):
        row = e.row(entity)
        assert row is not None
        others = [kind.type.__name__ for kind in e.registry.seen.changed_kinds(row)]
        if others:
            yield finding_about(
                entity,
                "fixed_changed",
                f"has Fixed, and its {' and '.join(others)} changed after the "
                "space read it: no step takes that over; move it with Space.teleport, or remove "
                "Fixed",
            )
