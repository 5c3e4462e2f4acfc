"""Optional components of bodies: filters, and the properties of surfaces.

Data only, as in `ecs_collide.components`.  They may be changed at any time, with effect from the
next step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ecs_collide._categories import NAMES
from ecs_collide.combining import CombineRule, code_of, rule_of
from ecs_collide.components import as_float
from ecs_collide.constants import ALL, AXES, MAX_GROUP, MOST_DOMINANCE, MOST_PULL, OF_SPACE


def _as_whole(owner: type, name: str, value: object, minimum: int, maximum: int, rule: str) -> int:
    """Return a whole number within its bounds as an int, or raise."""
    if isinstance(value, (str, bytes, bytearray, float)):
        raise TypeError(f"{owner.__name__}({name}={value!r}) must be a whole number")
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise TypeError(f"{owner.__name__}({name}={value!r}) must be a whole number") from None
    if not minimum <= number <= maximum:
        raise ValueError(f"{owner.__name__}({name}={value!r}) {rule}")
    return int(number)


def _as_vector(owner: type, name: str, value: Iterable[float]) -> tuple[float, float, float]:
    """Return two or three finite numbers as three, or raise."""
    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Iterable):
        raise TypeError(f"{owner.__name__}({name}={value!r}) must be two or three numbers")
    numbers = [as_float(owner, name, part) for part in value]
    if len(numbers) not in (2, 3) or not all(map(math.isfinite, numbers)):
        raise ValueError(
            f"{owner.__name__}({name}={value!r}) must be two numbers, in 3D three, all finite"
        )
    x, y, z = (*numbers, 0.0)[:3]
    return x, y, z


def _as_normal(owner: type, value: Iterable[float] | None) -> tuple[float, float, float]:
    """Return the unit vector of an axis as three numbers, or raise; None is that of the space."""
    if value is None:
        return OF_SPACE, OF_SPACE, OF_SPACE
    numbers = _as_vector(owner, "normal", value)
    if sorted(map(abs, numbers)) != [0.0, 0.0, 1.0]:
        raise ValueError(
            f"{owner.__name__}(normal={value!r}) must point along one axis and have length 1: "
            "(0, 1) is up where y grows upwards, (0, -1) where it grows downwards"
        )
    return numbers


def _shown_normal(x: float, y: float, z: float) -> tuple[float, float, float] | None:
    """Return a normal as it was given."""
    return None if x == y == z == OF_SPACE else (x, y, z)


class _Trait:
    """Compares and shows components by what their constructor was given."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    _SHOWN: Sequence[str] = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._SHOWN)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._SHOWN)
        return f"{type(self).__name__}({shown})"


class Filter(_Trait):
    """Select the bodies that an entity meets; without it, all whose filters allow it.

    Two bodies meet if each has one of its categories in the other's mask.  Groups take precedence:
    bodies of the same positive group always meet, bodies of the same negative group never.  Bodies
    that do not meet pass through each other, without impact, crossing or contact.  A contact that
    a change of a filter ends has the reason ``FILTER_CHANGED``.

    Attributes
    ----------
    categories : int
        The categories of the entity, as 32 bits.  The constructor accepts names too: one string
        with spaces or commas between them, or several strings; see `name_categories`.
    mask : int
        The categories that it meets.  A negative number stands for its 32-bit complement, so
        ``~SHOT`` is everything but SHOT; of names, ``"~shot"`` is.  "default" is the category of
        bodies without a `Filter`, and "all" is all of them.
    group : int
        0 for none.

    Examples
    --------
    Bullets of the player that fly through the player and through each other:

    >>> PLAYER, BULLET, ENEMY = 1, 2, 4
    >>> player = Filter(categories=PLAYER, mask=ENEMY)
    >>> bullet = Filter(categories=BULLET, mask=ENEMY)

    The same with names, and with walls that have no `Filter`:

    >>> bullet = Filter("bullet", mask="enemy default")
    """

    __slots__ = ("categories", "group", "mask")
    __match_args__ = ("categories", "mask", "group")
    _SHOWN = ("categories", "mask", "group")

    def __init__(
        self,
        categories: int | str | Iterable[str] = 1,
        mask: int | str | Iterable[str] = ALL,
        group: int = 0,
    ) -> None:
        self.categories, self.mask, self.group = self._checked(categories, mask, group)

    @classmethod
    def _checked(
        cls, categories: int | str | Iterable[str], mask: int | str | Iterable[str], group: int
    ) -> tuple[int, int, int]:
        """Return the three as numbers, or raise."""
        rule = "must be within 0 ... 2**32 - 1: there are 32 categories, a bit each"
        bits = _as_whole(cls, "categories", NAMES.bits("categories", categories), 0, ALL, rule)
        rule += "; or ~bits, for all but these"
        meets = _as_whole(cls, "mask", NAMES.bits("mask", mask), ~ALL, ALL, rule) & ALL
        rule = "must be within -(2**31 - 1) ... 2**31 - 1"
        return bits, meets, _as_whole(cls, "group", group, -MAX_GROUP, MAX_GROUP, rule)

    def set(
        self,
        categories: int | str | Iterable[str] | None = None,
        mask: int | str | Iterable[str] | None = None,
        group: int | None = None,
    ) -> None:
        """Set some or all of it, by bits or names; what is left out is kept."""
        self.categories, self.mask, self.group = self._checked(
            self.categories if categories is None else categories,
            self.mask if mask is None else mask,
            self.group if group is None else group,
        )

    def __repr__(self) -> str:
        parts = []
        for name in self._SHOWN:
            value = getattr(self, name)
            names = NAMES.shown(value) if type(value) is int and name != "group" else None
            parts.append(f"{name}={value!r}" if names is None else f"{name}={names!r}")
        return f"{type(self).__name__}({', '.join(parts)})"


def filter_numbers(its: Filter | None) -> tuple[int, int, int]:
    """Return categories, mask and group of a filter as a step reads them; those of None too.

    Raises
    ------
    AttributeError, TypeError, ValueError, OverflowError
        One of them is missing or no whole number.
    """
    if its is None:
        return 1, ALL, 0
    return int(its.categories) & ALL, int(its.mask) & ALL, int(its.group)


def filters_allow(one: Iterable[Any], other: Iterable[Any]) -> Any:
    """Return whether two filters allow their bodies to meet.

    Parameters
    ----------
    one, other : categories, mask and group, as `filter_numbers` returns them
        Whole numbers, or arrays of them, which are compared element by element.
    """
    (categories, mask, group), (others, other_mask, other_group) = one, other
    met = ((categories & other_mask) != 0) & ((others & mask) != 0)
    same = (group == other_group) & (group != 0)
    return (same & (group > 0)) | ((same ^ True) & met)


def solid_side(one_way: OneWay, up: tuple[float, ...]) -> tuple[float, ...]:
    """Return the normal of the side on which a body is solid, `up` where it gives none."""
    side = tuple(float(getattr(one_way, axis)) for axis in AXES[: len(up)])
    return up if side == (OF_SPACE,) * len(up) else side


class _Surface(_Trait):
    """A number of a surface, and the rule by which it is combined with that of another."""

    __slots__ = ("code", "value")
    __match_args__ = ("value", "rule")
    _SHOWN = ("value", "rule")

    code: float
    value: float

    @property
    def rule(self) -> CombineRule | None:
        """How two such numbers are combined; None for the default."""
        return rule_of(self.code)

    @rule.setter
    def rule(self, rule: CombineRule | str | None) -> None:
        self.code = code_of(type(self), rule)

    def __repr__(self) -> str:
        shown = f"value={self.value!r}"
        if self.rule is not None:
            shown += f", rule={str(self.rule)!r}"
        return f"{type(self).__name__}({shown})"


class Friction(_Surface):
    """How a surface holds back what slides along it, as Coulomb has it.

    Coulomb friction: an impact changes the velocity along the surface by at most `value` times
    its change along the normal.  A body that slides on a floor under gravity g comes to rest
    after a distance of v**2 / (2 * value * g).  Two values are combined by their geometric mean,
    unless one of them has a `rule`; if only one body has `Friction`, its value is used.

    It acts on `Slide` and `Deflect`, and on responses of a game that select the built-in one.

    Attributes
    ----------
    value : float
        Zero (ice) or more; rubber on stone is about 1.
    rule : CombineRule or None
        How it is combined with that of another surface, such as ``"min"``.
    code : int
        The same as a number, 0 for None.

    Examples
    --------
    >>> crate, ice = Friction(0.6), Friction(0)
    >>> Friction(0.2, rule="min")  # no surface grips better on it
    Friction(value=0.2, rule='min')
    """

    __slots__ = ()

    def __init__(self, value: float, rule: CombineRule | str | None = None) -> None:
        number = as_float(type(self), "value", value)
        if not 0.0 <= number < math.inf:
            raise ValueError(f"Friction(value={value!r}) must be finite, and 0 (ice) or more")
        self.value = number
        self.code = code_of(type(self), rule)


class Restitution(_Surface):
    """How bouncy a surface is: for walls, lifts and trampolines as well as for bodies that yield.

    The part of the closing speed with which two bodies part.  It takes the place of that of a
    `Deflect`, and gives one to the other responses.  Of two surfaces that have one the larger
    counts, unless one of them gives a `rule`; one that has none leaves it to the other.  `Slide`,
    `Push` and `Stop` have none, and a `Deflect` on a body that does not yield counts for none.

    Attributes
    ----------
    value : float
        From 0 (a sandbag) to 1 (no speed is lost).
    rule : CombineRule or None
        How it is combined with that of another surface, such as ``"min"``.
    code : int
        The same as a number, 0 for None.

    Examples
    --------
    >>> trampoline = Restitution(0.9)
    >>> mud = Restitution(0, rule="min")  # stops even a ball with `Deflect`
    """

    __slots__ = ()

    def __init__(self, value: float, rule: CombineRule | str | None = None) -> None:
        number = as_float(type(self), "value", value)
        if not 0.0 <= number <= 1.0:
            raise ValueError(f"Restitution(value={value!r}) must be within 0 ... 1")
        self.value = number
        self.code = code_of(type(self), rule)


class OneWay(_Trait):
    """A platform that is solid only for bodies from the side to which its normal points.

    Only that face stops a body, and only if the body was fully on the free side of it: a body
    jumps through from below, passes through from the sides, lands from above and stands.  While
    it passes through there is neither collision nor contact.  `Space.drop_through` makes it fall
    through.

    Parameters
    ----------
    normal : sequence of float, optional
        A unit vector along an axis, of two numbers or in 3D three; by default the `Space.up`.

    Attributes
    ----------
    x, y, z : float
        The normal; all 2 if it is that of the space.

    Examples
    --------
    >>> OneWay((0, 1)).normal
    (0.0, 1.0, 0.0)
    """

    __slots__ = ("x", "y", "z")
    __match_args__ = ("normal",)
    _SHOWN = ("normal",)

    def __init__(self, normal: Iterable[float] | None = None) -> None:
        self.x, self.y, self.z = _as_normal(type(self), normal)

    @property
    def normal(self) -> tuple[float, float, float] | None:
        """The unit vector that points to the free side; None for the up of the space."""
        return _shown_normal(self.x, self.y, self.z)

    @normal.setter
    def normal(self, value: Iterable[float] | None) -> None:
        self.x, self.y, self.z = _as_normal(type(self), value)


class Carry(_Trait):
    """A lift or a conveyor belt: it carries the bodies that stand on it.

    A body that yields and touches the carrying face, a *rider*, moves with the carrier on all
    axes; its own `Velocity` is relative to the carrier.  Bodies that stand on a rider are carried
    too.  A body that lands on a carrier is carried from that instant, also within a step.  A
    rider that leaves its carrier keeps its speed in the world, and so does one whose carrier is
    deleted, teleported or stops carrying: the next step adds the velocity of the carrier to the
    rider's `Velocity`.

    Parameters
    ----------
    surface : sequence of float
        How fast the face moves along itself, seen from the carrier, in world
        units per second, of two numbers or in 3D three: zero for a lift.
    normal : sequence of float, optional
        Which face carries: a unit vector along an axis that points out of it; by default the
        `Space.up`.

    Attributes
    ----------
    x, y, z : float
        The velocity of the surface.
    normal_x, normal_y, normal_z : float
        The normal; all 2 if it is that of the space.

    Examples
    --------
    >>> lift, belt = Carry(), Carry(surface=(60, 0))
    """

    __slots__ = ("normal_x", "normal_y", "normal_z", "x", "y", "z")
    __match_args__ = ("surface", "normal")
    _SHOWN = ("surface", "normal")

    def __init__(
        self,
        surface: Iterable[float] = (0.0, 0.0),
        normal: Iterable[float] | None = None,
    ) -> None:
        self.x, self.y, self.z = _as_vector(type(self), "surface", surface)
        self.normal_x, self.normal_y, self.normal_z = _as_normal(type(self), normal)

    @property
    def surface(self) -> tuple[float, float, float]:
        """How fast the face moves along itself, in world units per second."""
        return self.x, self.y, self.z

    @surface.setter
    def surface(self, value: Iterable[float]) -> None:
        self.x, self.y, self.z = _as_vector(type(self), "surface", value)

    @property
    def normal(self) -> tuple[float, float, float] | None:
        """The unit vector that points out of the carrying face; None for the up of the space."""
        return _shown_normal(self.normal_x, self.normal_y, self.normal_z)

    @normal.setter
    def normal(self, value: Iterable[float] | None) -> None:
        self.normal_x, self.normal_y, self.normal_z = _as_normal(type(self), value)


def _as_speed(cls: type, speed: float) -> float:
    """Return the speed of a displacement; raise ValueError unless it is above 0."""
    number = as_float(cls, "speed", speed)
    if not number > 0.0:
        raise ValueError(f"{cls.__name__}(speed={speed!r}) must be above 0, or math.inf")
    return number


class Attached(_Trait):
    """A box that moves with another body: a hitbox, feet, a zone around a character.

    The entity has `Extents` and a `Position`, which each step sets to that of its owner plus the
    offset.  In between the box is swept along the path of its owner: it stops, slides and turns
    with it at the same instants.

    Other bodies pass through it, as through a `Sensor`.  It meets neither its owner nor other
    boxes of its owner.  A response or a `Velocity` has no effect on it.

    If the game changes the offset, the next step sweeps the box from the old offset to the new
    one.  `Space.teleport` of the box sets the offset without a sweep.  See :doc:`attached`.

    Parameters
    ----------
    owner : int
        The entity that the box is attached to: a body that is not attached itself.
    offset : sequence of float
        From the centre of the owner to that of the box, in world units, of two numbers or in 3D
        three.

    Attributes
    ----------
    owner : int
    x, y, z : float
        The offset.

    Examples
    --------
    >>> feet = Position(0, 0), Extents(6, 1), Attached(owner=1, offset=(0, -16))
    """

    __slots__ = ("owner", "x", "y", "z")
    __match_args__ = ("owner", "offset")
    _SHOWN = ("owner", "offset")

    def __init__(self, owner: int, offset: Iterable[float] = (0.0, 0.0)) -> None:
        self.owner = _as_whole(
            type(self), "owner", owner, 1, 2**53, "must be the id of an entity, 1 or more"
        )
        self.x, self.y, self.z = _as_vector(type(self), "offset", offset)

    @property
    def offset(self) -> tuple[float, float, float]:
        """From the centre of the owner to that of the box, in world units."""
        return self.x, self.y, self.z

    @offset.setter
    def offset(self, value: Iterable[float]) -> None:
        self.x, self.y, self.z = _as_vector(type(self), "offset", value)


class PushOut(_Trait):
    """Be pushed out of what the entity is inside of, and was from the start.

    Bodies that do not overlap never begin to.  But a game may put one into
    another: a level that changes, a character that stands up under a
    ceiling.  Such a body, if it yields, is moved out the shortest way that
    is free of all solid bodies, never through the seams between them.

    Attributes
    ----------
    speed : float
        The most at which it is moved, in world units per second; with ``math.inf``
        one step takes it out, where it is inside of several at most one for each.

    Examples
    --------
    >>> PushOut(speed=200)
    PushOut(speed=200.0)
    """

    __slots__ = ("speed",)
    __match_args__ = ("speed",)
    _SHOWN = ("speed",)

    def __init__(self, speed: float = math.inf) -> None:
        self.speed = _as_speed(type(self), speed)


class Separate(_Trait):
    """Be a member of a soft crowd: it is moved apart from other members, and not stopped by them.

    Two bodies that both have it pass through each other, and while they overlap a displacement
    moves them apart: along the shortest way for long boxes, along the line between their centres
    for squares.  All others they meet as ever: walls, the player, members without it.

    The displacement is not part of `Velocity`.  It is added to the path of a step and swept with
    it, so it never leads into or through a wall: an impact ends it on that axis.  Of two members,
    the one with less `Mass` is moved more.  A member is moved only if it yields, with `Velocity`,
    a response and finite mass; a member that does not yield only moves others.

    Members that overlap are in contact, of the kind CROSSING.  Their contacts are updated at the
    end of a step, and they have no collisions.

    Attributes
    ----------
    speed : float
        The largest speed at which it is moved, in world units per second.  One step moves it by
        at most half its largest side.  Members that walk to the same place overlap little if
        this is at least their walking speed; if it is less they gather at one point.  Members
        that walk to different places pass through each other if it is about half of that speed.
        With ``math.inf`` two members separate in one step.

    Examples
    --------
    >>> Separate(speed=60)
    Separate(speed=60.0)
    """

    __slots__ = ("speed",)
    __match_args__ = ("speed",)
    _SHOWN = ("speed",)

    def __init__(self, speed: float = math.inf) -> None:
        self.speed = _as_speed(type(self), speed)


class GravityScale(_Trait):
    """How much of the `Space.gravity` acts on a body.

    It has an effect on bodies that yield; all others do not fall anyway.

    Attributes
    ----------
    value : float
        1 is the gravity of the space, 0 none; a balloon rises with a negative one.

    Examples
    --------
    >>> feather, ghost = GravityScale(0.2), GravityScale(0)
    """

    __slots__ = ("value",)
    __match_args__ = ("value",)
    _SHOWN = ("value",)

    def __init__(self, value: float) -> None:
        number = as_float(type(self), "value", value)
        if not abs(number) <= MOST_PULL:
            raise ValueError(f"GravityScale(value={value!r}) must be within -2**100 ... 2**100")
        self.value = number


class Damping(_Trait):
    """Lose a part of the velocity all the time, as in air or water.

    In t seconds the `Velocity` of a body that nothing else acts on is multiplied by
    exp(-value * t), for steps of any length.  Under gravity g it comes to g / value in the end.

    Attributes
    ----------
    value : float
        In 1 / second, zero or more: 0.7 halves the velocity in one second.

    Examples
    --------
    >>> parachute = Damping(3)
    """

    __slots__ = ("value",)
    __match_args__ = ("value",)
    _SHOWN = ("value",)

    def __init__(self, value: float) -> None:
        number = as_float(type(self), "value", value)
        if not 0.0 <= number <= MOST_PULL:
            raise ValueError(f"Damping(value={value!r}) must be within 0 ... 2**100")
        self.value = number


class Dominance(_Trait):
    """A level of pushing: a body of a higher level is not moved by bodies of lower levels.

    It pushes them as if its mass were infinite compared to theirs.  It is stopped if they are
    pressed against a wall, or against a body of a still higher level.  Bodies of the same level
    push each other by their `Mass`.  Bodies without it have level 0; immovable bodies are above
    all levels.

    Attributes
    ----------
    level : int
        From -127 to 127.

    Examples
    --------
    A player that pushes crates, and that crates do not push:

    >>> player = Dominance(1)
    """

    __slots__ = ("level",)
    __match_args__ = ("level",)
    _SHOWN = ("level",)

    def __init__(self, level: int) -> None:
        rule = f"must be within -{MOST_DOMINANCE} ... {MOST_DOMINANCE}"
        self.level = _as_whole(type(self), "level", level, -MOST_DOMINANCE, MOST_DOMINANCE, rule)


class MaxSpeed(_Trait):
    """The most that the velocity of a body may come to.

    The speed is the Euclidean length of `Velocity`.  Where it is above the maximum, the velocity
    keeps its direction and gets the maximum as length: when a step has read it, before anything
    moves, and again when the step ends, before it is written.  Within a step an impact may make a
    body faster, and a carrier's velocity comes on top.

    Attributes
    ----------
    speed : float
        Above 0, in world units per second; ``math.inf`` for no maximum.

    Examples
    --------
    >>> MaxSpeed(600)
    MaxSpeed(speed=600.0)
    """

    __slots__ = ("speed",)
    __match_args__ = ("speed",)
    _SHOWN = ("speed",)

    def __init__(self, speed: float) -> None:
        self.speed = _as_speed(type(self), speed)


class LockedAxes(_Trait):
    """Axes along which a body never moves.

    Its velocity there becomes 0 when a step begins, and nothing gives it another: no impact, no
    friction, no carrier, no `PushOut`, no `Separate`.  To what hits it along such an axis it is
    immovable.  The game may still put it elsewhere by its `Position`.

    Attributes
    ----------
    x, y, z : int
        1 for an axis that is locked, else 0.

    Examples
    --------
    A sliding door, and a mine cart on rails:

    >>> door = LockedAxes(y=True)
    >>> cart = LockedAxes(y=True, z=True)
    """

    __slots__ = ("x", "y", "z")
    __match_args__ = ("x", "y", "z")
    _SHOWN = ("x", "y", "z")

    def __init__(self, x: bool = False, y: bool = False, z: bool = False) -> None:
        self.x, self.y, self.z = (
            _as_whole(type(self), name, value, 0, 1, "must be True or False")
            for name, value in (("x", x), ("y", y), ("z", z))
        )

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}=True" for name in self._SHOWN if getattr(self, name))
        return f"LockedAxes({shown})"
