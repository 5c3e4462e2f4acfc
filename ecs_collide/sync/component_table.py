"""The components that a space reads: one entry for each, from which all of `sync` follows.

An entry names the numbers of a component, the columns that they are read into, what they must be,
and what follows for a body that has the component.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ecs_collide._kernel.constants import (
    ALL,
    AXES,
    LARGEST,
    MAX_GROUP,
    MOST_DOMINANCE,
    MOST_PULL,
    OF_SPACE,
    TRAITS_SHIFT,
    Has,
    Mark,
    Trait,
)
from ecs_collide.components.basics import Deflect, Disabled, Fixed, Sensor
from ecs_collide.components.component_map import Components
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
from ecs_collide.components.filters import Filter
from ecs_collide.components.surfaces import Carry, CombineRule, Friction, OneWay, Restitution
from ecs_collide.response.rules import RESPONSE_CODES

MOST_ID = 2**53  # of an entity


class Bounds(NamedTuple):
    """What a number of a component must be, and how an error says it."""

    minimum: float
    maximum: float
    text: str
    is_whole: bool = False
    may_be_infinite: bool = False  # although `maximum` is finite
    is_part_of_axis: bool = False  # with the other numbers it is a unit vector along an axis
    leads_on: bool = False  # it says where the body goes

    def allow(self, value: Any) -> bool:
        """Return whether a number, alone, is as it must be."""
        number = float(value)  # as a step reads it: Decimal("NaN") refuses to be compared
        if self.may_be_infinite and number == math.inf:
            return True
        return self.minimum <= number <= self.maximum and not (self.is_whole and number % 1)


class Entry(NamedTuple):
    """A type of component, or some of its numbers, and what follows from it."""

    kind: type
    names: tuple[str, ...] = ()  # of its numbers
    mark: int = 0  # the bit that says that a body has it; 0 for those that all bodies have
    response: int = 0  # its code among the responses, or 0
    columns: tuple[str, str] = ("seen_mass", "seen_mass")  # what was seen, and is to be written
    bounds: tuple[Bounds, ...] = ()  # of each number


_PLACE_BOUNDS = Bounds(-LARGEST, LARGEST, "must be finite and within -2**500 ... 2**500")
_RATE = _PLACE_BOUNDS._replace(leads_on=True)
_SIZE_BOUNDS = Bounds(0.0, LARGEST, "must be finite and >= 0")
_MASS_BOUNDS = Bounds(
    1.0 / LARGEST, LARGEST, "must be within 2**-500 ... 2**500, or inf for an immovable body",
    may_be_infinite=True,
)  # fmt: skip
_SHARE_BOUNDS = Bounds(0.0, 1.0, "must be within 0 ... 1")
_OWNER_BOUNDS = Bounds(1, MOST_ID, "must be the id of an entity", is_whole=True)
_CATEGORIES_BOUNDS = Bounds(0, ALL, "must be whole, within 0 ... 2**32 - 1", is_whole=True)
_MASK_BOUNDS = Bounds(~ALL, ALL, "must be whole, within 0 ... 2**32 - 1, or ~bits", is_whole=True)
_GROUP_BOUNDS = Bounds(
    -MAX_GROUP, MAX_GROUP, "must be whole, within -(2**31 - 1) ... 2**31 - 1", is_whole=True
)
_FRICTION_BOUNDS = Bounds(0.0, LARGEST, "must be finite, and 0 (ice) or more")
_CODE_BOUNDS = Bounds(0, len(CombineRule), "must be that of a CombineRule, or 0", is_whole=True)
_NORMAL_BOUNDS = Bounds(
    -1.0, OF_SPACE, "must be part of a unit vector along an axis of the space",
    is_part_of_axis=True,
)  # fmt: skip
_SPEED_BOUNDS = Bounds(math.ulp(0.0), LARGEST, "must be above 0, or inf", may_be_infinite=True)
_SCALE_BOUNDS = Bounds(-MOST_PULL, MOST_PULL, "must be within -2**100 ... 2**100")
_DAMPING_BOUNDS = Bounds(0.0, MOST_PULL, "must be within 0 ... 2**100")
_LEVEL_BOUNDS = Bounds(
    -MOST_DOMINANCE, MOST_DOMINANCE,
    f"must be whole, within -{MOST_DOMINANCE} ... {MOST_DOMINANCE}", is_whole=True,
)  # fmt: skip
_LOCK_BOUNDS = Bounds(0, 1, "must be True or False", is_whole=True)


def common_entries(components: Components, dim: int) -> list[Entry]:
    """Return the components that any body may have, in the order of `ComponentReader`."""
    axes = AXES[:dim]

    def vector(role: str, mark: int, seen: str, now: str, bounds: Bounds) -> Entry:
        return Entry(*components.vector(role, dim), mark, 0, (seen, now), (bounds,) * dim)

    return [
        vector("position", 0, "seen_place", "place", _PLACE_BOUNDS),
        vector("extents", 0, "seen_size", "size", _SIZE_BOUNDS),
        vector("velocity", Has.VELOCITY, "seen_velocity", "velocity", _RATE),
        vector("growth", Has.GROWTH, "seen_growth", "growth", _RATE),
        Entry(*components.mass, Has.MASS, bounds=(_MASS_BOUNDS,)),
        Entry(Deflect, ("restitution",), Has.DEFLECT, RESPONSE_CODES[Deflect],
              ("seen_restitution", "seen_restitution"), (_SHARE_BOUNDS,)),
        Entry(Sensor, mark=Has.SENSOR),
        *(
            Entry(kind, response=code)
            for kind, code in RESPONSE_CODES.items()
            if kind is not Deflect
        ),
        Entry(Fixed, mark=Has.FIXED),
        Entry(Disabled, mark=Mark.DISABLED),
        Entry(Attached, axes, Mark.ATTACHED, 0, ("seen_offset", "seen_offset"),
              (_PLACE_BOUNDS,) * dim),
        Entry(Attached, ("owner",), Mark.ATTACHED, 0, ("seen_owner", "seen_owner"), (_OWNER_BOUNDS,)),
    ]  # fmt: skip


def rare_entries(dim: int) -> list[Entry]:
    """Return the components that only some bodies have, in the order of `SurfaceReader`."""
    axes = AXES[:dim]
    normal = tuple(f"normal_{axis}" for axis in axes)

    def entry(kind: type, names: tuple[str, ...], trait: int, seen: str, *bounds: Bounds) -> Entry:
        each = bounds if len(bounds) == len(names) else bounds * len(names)
        return Entry(kind, names, trait << TRAITS_SHIFT, 0, (seen, seen), each)

    return [
        entry(Filter, ("categories", "mask", "group"), Trait.FILTER, "seen_filter",
              _CATEGORIES_BOUNDS, _MASK_BOUNDS, _GROUP_BOUNDS),
        entry(Friction, ("value", "code"), Trait.FRICTION, "seen_friction",
              _FRICTION_BOUNDS, _CODE_BOUNDS),
        entry(OneWay, axes, Trait.ONE_WAY, "seen_one_way", _NORMAL_BOUNDS),
        entry(Carry, normal, Trait.CARRY, "seen_normal", _NORMAL_BOUNDS),
        entry(Carry, axes, Trait.CARRY, "seen_surface", _PLACE_BOUNDS),
        entry(PushOut, ("speed",), Trait.PUSH_OUT, "seen_push_out", _SPEED_BOUNDS),
        entry(Separate, ("speed",), Trait.SEPARATE, "seen_separate", _SPEED_BOUNDS),
        entry(GravityScale, ("value",), Trait.GRAVITY_SCALE, "seen_gravity_scale", _SCALE_BOUNDS),
        entry(Damping, ("value",), Trait.DAMPING, "seen_damping", _DAMPING_BOUNDS),
        entry(Dominance, ("level",), Trait.DOMINANCE, "seen_dominance", _LEVEL_BOUNDS),
        entry(Restitution, ("value", "code"), Trait.RESTITUTION, "seen_surface_restitution",
              _SHARE_BOUNDS, _CODE_BOUNDS),
        entry(MaxSpeed, ("speed",), Trait.MAX_SPEED, "seen_max_speed", _SPEED_BOUNDS),
        entry(LockedAxes, axes, Trait.LOCKED_AXES, "seen_locked_axes", _LOCK_BOUNDS),
    ]  # fmt: skip
