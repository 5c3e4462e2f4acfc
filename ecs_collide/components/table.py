"""The table of components, with one declaration for each.

The columns of `motion.columns`, the bindings of `sync`, the bounds and messages of reports, the
codes of responses and the fields of snapshots are derived from it.  A new component is added at the
end, as the order determines the bits in a snapshot.
"""

import math
from typing import Any, NamedTuple

from ecs_collide._kernel.constants import (
    ALL,
    INF,
    LARGEST,
    MAX_GROUP,
    MOST_DOMINANCE,
    MOST_PULL,
    OF_SPACE,
    TRAITS_SHIFT,
    Has,
    Mark,
    ResponseCode,
    Trait,
)
from ecs_collide.components import basics, dynamics, filters, immersed, slope, surfaces
from ecs_collide.components.component_map import Components

MOST_ID = 2**53  # the largest id of an entity


class Bounds(NamedTuple):
    """The bounds of a number of a component, and their wording in errors."""

    minimum: float
    maximum: float
    text: str
    is_whole: bool = False
    may_be_infinite: bool = False  # even if `maximum` is finite
    is_part_of_axis: bool = False  # with the other numbers it is a unit vector along an axis
    leads_on: bool = False  # it is a rate, which may lead the body too far

    def allow(self, value: Any) -> bool:
        """Return whether a number is within these bounds."""
        number = float(value)  # as a step reads it; comparing Decimal("NaN") raises
        if self.may_be_infinite and number == math.inf:
            return True
        return self.minimum <= number <= self.maximum and not (self.is_whole and number % 1)


class Part(NamedTuple):
    """Numbers of a component that are read together, at most three."""

    names: tuple[str, ...]
    bounds: tuple[Bounds, ...]  # one for each name
    is_vector: bool  # whether there is one number for each axis of the space
    seen: str = ""  # the seen column, if kernels read it
    written: str = ""  # the column written into the component, if it is not `seen`


class Column(NamedTuple):
    """A column of floats that gets the first number of a component."""

    user: str  # the kernel object that declares it: "rare" or "controls"
    name: str
    default: float  # the value of bodies without the component
    flag: str = ""  # attribute of the kernel object: whether any body ever had one


class Declaration(NamedTuple):
    """The properties of a component type."""

    kind: type
    parts: tuple[Part, ...] = ()
    column: Column | None = None  # `RareReader.check` fills columns that are not plain copies
    mark: int = 0  # its bit in the column `has`, or in the mark of a kind only
    trait: int = 0  # its bit in the column `traits`, if only some bodies have it
    response: int = 0  # its response code
    role: str = ""  # the argument of `Components` that replaces it by another type

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its numbers, in the order of a snapshot."""
        return tuple(name for part in self.parts for name in part.names)

    @property
    def whole(self) -> tuple[str, ...]:
        """The names of the whole numbers."""
        bounds = (each for part in self.parts for each in part.bounds)
        return tuple(name for name, each in zip(self.names, bounds, strict=True) if each.is_whole)

    def seen(self, part: Part) -> str:
        """Return the name of the seen column of a part."""
        return part.seen or f"seen_{self.kind.__name__}_{part.names[0]}".lower()


_PLACE = Bounds(-LARGEST, LARGEST, "must be finite and within -2**500 ... 2**500")
_RATE = _PLACE._replace(leads_on=True)
_SIZE = Bounds(0.0, LARGEST, "must be finite and within 0 ... 2**500")
_MASS = Bounds(
    1.0 / LARGEST, LARGEST, "must be within 2**-500 ... 2**500, or inf (no impact moves it)",
    may_be_infinite=True,
)  # fmt: skip
_SHARE = Bounds(0.0, 1.0, "must be within 0 ... 1")
_OWNER = Bounds(1, MOST_ID, "must be the id of an entity", is_whole=True)
_BITS = "must be whole, within 0 ... 2**32 - 1"
_NAMES = "; Filter.set() takes names"
_CATEGORIES = Bounds(0, ALL, _BITS + _NAMES, is_whole=True)
_MASK = Bounds(~ALL, ALL, f"{_BITS}, or ~bits{_NAMES}", is_whole=True)
_GROUP = Bounds(
    -MAX_GROUP, MAX_GROUP, "must be whole, within -(2**31 - 1) ... 2**31 - 1", is_whole=True
)
_FRICTION = Bounds(0.0, LARGEST, "must be within 0 (ice) ... 2**500")
_CODE = Bounds(0, len(surfaces.CombineRule), "must be that of a CombineRule, or 0", is_whole=True)
_NORMAL = Bounds(
    -1.0, OF_SPACE, "must be part of a unit vector along an axis of the space",
    is_part_of_axis=True,
)  # fmt: skip
_SPEED = Bounds(math.ulp(0.0), LARGEST, "must be above 0, or inf", may_be_infinite=True)
_SCALE = Bounds(-MOST_PULL, MOST_PULL, "must be within -2**100 ... 2**100")
_PULL = Bounds(-MOST_PULL, MOST_PULL, "must be finite and within -2**100 ... 2**100")
_DAMPING = Bounds(0.0, MOST_PULL, "must be within 0 ... 2**100")
_LEVEL = Bounds(
    -MOST_DOMINANCE, MOST_DOMINANCE,
    f"must be whole, within -{MOST_DOMINANCE} ... {MOST_DOMINANCE}", is_whole=True,
)  # fmt: skip
_LOCK = Bounds(0, 1, "must be True or False", is_whole=True)


def _part(names: str, *bounds: Bounds, seen: str = "", written: str = "") -> tuple[Part]:
    """Return a part; three names with one `Bounds` are a vector."""
    each = tuple(names.split())
    is_vector = len(each) > len(bounds)
    return (Part(each, bounds * 3 if is_vector else bounds, is_vector, seen, written),)


TABLE = (
    Declaration(basics.Position, _part("x y z", _PLACE, seen="seen_place", written="place"),
                role="position"),
    Declaration(basics.Extents, _part("x y z", _SIZE, seen="seen_size", written="size"),
                role="extents"),
    Declaration(basics.Velocity, _part("x y z", _RATE, seen="seen_velocity", written="velocity"),
                mark=Has.VELOCITY, role="velocity"),
    Declaration(basics.Growth, _part("x y z", _RATE, seen="seen_growth", written="growth"),
                mark=Has.GROWTH, role="growth"),
    Declaration(basics.Mass, _part("value", _MASS, seen="seen_mass"), mark=Has.MASS, role="mass"),
    Declaration(basics.Deflect, _part("restitution", _SHARE, seen="seen_restitution"),
                mark=Has.DEFLECT, response=ResponseCode.BOUNCE),
    Declaration(basics.Push, response=ResponseCode.PUSH),
    Declaration(basics.Slide, response=ResponseCode.SLIDE),
    Declaration(basics.Stop, response=ResponseCode.STOP),
    Declaration(basics.Sensor, mark=Has.SENSOR),
    Declaration(filters.Filter, _part("categories mask group", _CATEGORIES, _MASK, _GROUP),
                trait=Trait.FILTER),
    Declaration(surfaces.Friction, _part("value code", _FRICTION, _CODE),
                Column("rare", "friction", -1.0), trait=Trait.FRICTION),
    Declaration(surfaces.OneWay, _part("x y z", _NORMAL), trait=Trait.ONE_WAY),
    Declaration(surfaces.Carry, _part("x y z", _PLACE)
                + _part("normal_x normal_y normal_z", _NORMAL), trait=Trait.CARRY),
    Declaration(dynamics.PushOut, _part("speed", _SPEED),
                Column("rare", "push_out", 0.0, "any_pusher"), trait=Trait.PUSH_OUT),
    Declaration(basics.Fixed, mark=Has.FIXED),
    Declaration(dynamics.Separate, _part("speed", _SPEED),
                Column("rare", "separate", 0.0, "any_separator"), trait=Trait.SEPARATE),
    Declaration(dynamics.GravityScale, _part("value", _SCALE),
                Column("rare", "gravity_scale", 1.0), trait=Trait.GRAVITY_SCALE),
    Declaration(dynamics.Damping, _part("value", _DAMPING),
                Column("rare", "damping", 0.0, "any_damping"), trait=Trait.DAMPING),
    Declaration(dynamics.Dominance, _part("level blocks", _LEVEL, _LOCK), trait=Trait.DOMINANCE),
    Declaration(surfaces.Restitution, _part("value code", _SHARE, _CODE),
                Column("controls", "surface_restitution", -1.0), trait=Trait.RESTITUTION),
    Declaration(dynamics.MaxSpeed, _part("speed", _SPEED),
                Column("controls", "limit", INF, "any_limit"), trait=Trait.MAX_SPEED),
    Declaration(dynamics.LockedAxes, _part("x y z", _LOCK), trait=Trait.LOCKED_AXES),
    Declaration(basics.Disabled, mark=Mark.DISABLED),
    Declaration(dynamics.Attached, _part("x y z", _PLACE, seen="seen_offset")
                + _part("owner", _OWNER, seen="seen_owner"), mark=Mark.ATTACHED),
    Declaration(slope.Slope, _part("x y z", _NORMAL)
                + _part("low high ceiling", _SHARE, _SHARE, _LOCK), trait=Trait.OTHER),
    Declaration(basics.Acceleration, _part("x y z", _PULL), trait=Trait.OTHER),
    Declaration(immersed.Immersed, _part("x y z", _PULL) + _part("gravity drag", _SCALE, _DAMPING),
                trait=Trait.OTHER),
)  # fmt: skip
"""All components of the library."""


class Entry(NamedTuple):
    """The arguments of the binding of a part of a component, in a space of `dim` axes."""

    kind: type
    names: tuple[str, ...] = ()  # of its attributes
    mark: int = 0  # the bits of `Has`; 0 for a component that all bodies have
    response: int = 0  # its response code, or 0
    columns: tuple[str, str] = ("seen_mass", "seen_mass")  # the seen column and the written one
    bounds: tuple[Bounds, ...] = ()  # of each number
    column: Column | None = None


def entries(components: Components, dim: int) -> tuple[list[Entry], list[Entry]]:
    """Return the entries of the common components, and of the rare ones."""
    common: list[Entry] = []
    rare: list[Entry] = []
    for d in TABLE:
        found = rare if d.trait else common
        mark = d.mark | d.trait << TRAITS_SHIFT
        if not d.parts:
            found.append(Entry(d.kind, (), mark, d.response))
        for part in d.parts:
            n = dim if part.is_vector else len(part.names)
            kind, names = d.kind, part.names[:n]
            if d.role:
                kind, names = components.vector(d.role, n)
            columns = d.seen(part), part.written or d.seen(part)
            column = d.column if part is d.parts[0] else None
            found.append(Entry(kind, names, mark, d.response, columns, part.bounds[:n], column))
    return common, rare


EXEMPT: list[type] = []
"""The components that exempt bodies from gravity, of the packages that are imported."""


def moves_itself(kind: type) -> bool:
    """Return whether bodies with this component apply gravity and zones to themselves."""
    return getattr(kind, "moves_itself", False)
