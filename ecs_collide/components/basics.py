"""The components of bodies: position, size, motion and response.

They hold data only.  The systems read them, and write `Position`, `Velocity` and `Extents` in
place.  Setting an attribute is not checked; the constructor, `set`, `xy` and `xyz` refuse values
that are not numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self, TypeAlias

from ecs_collide._kernel.constants import MOST_PULL
from ecs_collide.components.base import (
    ABOVE_ZERO,
    LARGEST_FLOAT,
    Component,
    as_bounded,
    as_float,
    copy_methods,
    shown,
)

_NO_SECOND: Any = ...  # the second number, if one vector is given


def _parts(owner: type, call: str, value: object, z: float) -> tuple[float, float, float]:
    """Return the numbers of a vector given instead of x and y, with `z` if it has only two."""
    if isinstance(value, _Vector):
        return value.x, value.y, value.z
    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Iterable):
        raise TypeError(
            f"{owner.__name__}.{call}() got {value!r} and takes two numbers, in 3D three, or one "
            "vector of them"
        )
    numbers = list(value)
    if len(numbers) not in (2, 3):
        raise ValueError(
            f"{owner.__name__}.{call}({value!r}) must be a vector of two numbers, in 3D three"
        )
    x, y, z = (*numbers, z)[:3]
    return x, y, z


class _Vector(Component):
    """Three numbers, the base of `Position`, `Extents`, `Velocity`, `Growth` and `Acceleration`."""

    __slots__ = ("x", "y", "z")
    __match_args__ = ("x", "y", "z")

    __array_ufunc__ = None  # so that an array of numpy leaves the arithmetic to the component

    _LEAST: ClassVar[float] = -LARGEST_FLOAT
    _MOST: ClassVar[float] = LARGEST_FLOAT
    _RULE: ClassVar[str] = "must be finite"

    x: float
    y: float
    z: float

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if _Vector in cls.__bases__:
            copy_methods(cls, _Vector, "__init__", "set")

    def __init__(self, x: float | _VectorLike, y: float = _NO_SECOND, z: float = 0.0) -> None:
        if y is _NO_SECOND:
            x, y, z = _parts(type(self), "__init__", x, z)
        self.x, self.y, self.z = self._checked(x, y, z)

    @classmethod
    def _checked(cls, x: Any, y: Any, z: Any) -> tuple[float, float, float]:
        """Return the three as floats, or raise ValueError; one comparison also catches NaN."""
        fx = x if type(x) is float else as_float(cls, "x", x)
        fy = y if type(y) is float else as_float(cls, "y", y)
        fz = z if type(z) is float else as_float(cls, "z", z)
        least, most = cls._LEAST, cls._MOST
        if not (least <= fx <= most and least <= fy <= most and least <= fz <= most):
            vector = f"x={shown(x)}, y={shown(y)}" + (f", z={shown(z)}" if fz != 0 else "")
            raise ValueError(f"{cls.__name__}({vector}) {cls._RULE}")
        return fx, fy, fz

    def set(self, x: float | _VectorLike, y: float = _NO_SECOND, z: float | None = None) -> None:
        """Set all axes, by numbers or one vector; `z` stays unchanged if it is not given."""
        if y is _NO_SECOND:
            x, y, z = _parts(type(self), "set", x, self.z if z is None else z)
        self.x, self.y, self.z = self._checked(x, y, self.z if z is None else z)

    @property
    def xy(self) -> tuple[float, float]:
        """The first two axes; setting them keeps `z`."""
        return self.x, self.y

    @xy.setter
    def xy(self, values: Iterable[float]) -> None:
        x, y = values
        self.set(x, y)

    @property
    def xyz(self) -> tuple[float, float, float]:
        """All three axes."""
        return self.x, self.y, self.z

    @xyz.setter
    def xyz(self, values: Iterable[float]) -> None:
        x, y, z = values
        self.set(x, y, z)

    def __add__(self, vector: _VectorLike) -> Self:
        """Return the sum with a vector of two numbers, or three, of this type."""
        x, y, z = _parts(type(self), "__add__", vector, 0.0)
        return type(self)(self.x + x, self.y + y, self.z + z)

    __radd__ = __add__

    def __sub__(self, vector: _VectorLike) -> Self:
        """Return the difference to a vector of two numbers, or three, of this type."""
        x, y, z = _parts(type(self), "__sub__", vector, 0.0)
        return type(self)(self.x - x, self.y - y, self.z - z)

    def __rsub__(self, vector: _VectorLike) -> Self:
        x, y, z = _parts(type(self), "__rsub__", vector, 0.0)
        return type(self)(x - self.x, y - self.y, z - self.z)

    def __mul__(self, factor: float | _VectorLike) -> Self:
        """Return the product of all axes with a number, or of each with its part of a vector."""
        x, y, z = _factors(type(self), "__mul__", factor)
        return type(self)(self.x * x, self.y * y, self.z * z)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float | _VectorLike) -> Self:
        """Return all axes divided by a number, or each by its part of a vector."""
        x, y, z = _factors(type(self), "__truediv__", divisor)
        return type(self)(self.x / x, self.y / y, self.z / z)

    def __neg__(self) -> Self:
        """Return the opposite vector."""
        return type(self)(-self.x, -self.y, -self.z)

    def __abs__(self) -> float:
        """Return the length."""
        return math.sqrt(self.x * self.x + self.y * self.y + self.z * self.z)

    def __iadd__(self, vector: _VectorLike) -> Self:
        """Add a vector of two numbers, or three, in place."""
        x, y, z = _parts(type(self), "__iadd__", vector, 0.0)
        self.x, self.y, self.z = self._checked(self.x + x, self.y + y, self.z + z)
        return self

    def __isub__(self, vector: _VectorLike) -> Self:
        """Subtract a vector of two numbers, or three, in place."""
        x, y, z = _parts(type(self), "__isub__", vector, 0.0)
        self.x, self.y, self.z = self._checked(self.x - x, self.y - y, self.z - z)
        return self

    def __imul__(self, factor: float | _VectorLike) -> Self:
        """Multiply all axes by a number, or each by its part of a vector, in place."""
        x, y, z = _factors(type(self), "__imul__", factor)
        self.x, self.y, self.z = self._checked(self.x * x, self.y * y, self.z * z)
        return self

    def __itruediv__(self, divisor: float | _VectorLike) -> Self:
        """Divide all axes by a number, or each by its part of a vector, in place."""
        x, y, z = _factors(type(self), "__itruediv__", divisor)
        self.x, self.y, self.z = self._checked(self.x / x, self.y / y, self.z / z)
        return self

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, _Vector)
        return self.x == other.x and self.y == other.y and self.z == other.z

    def __repr__(self) -> str:
        depth = f", {self.z!r}" if self.z != 0 else ""
        return f"{type(self).__name__}({self.x!r}, {self.y!r}{depth})"


_VectorLike: TypeAlias = Iterable[float] | _Vector
"""Two numbers, in 3D three, or a component that holds them."""


def _factors(owner: type, call: str, value: float | _VectorLike) -> tuple[float, float, float]:
    """Return the factor or divisor of each axis: 1 on z if a vector has only two numbers."""
    if isinstance(value, (Iterable, _Vector)):
        return _parts(owner, call, value, 1.0)
    factor = as_float(owner, call, value)
    return factor, factor, factor


class Position(_Vector):
    """The centre of an entity's box.

    `MotionSystem` writes it at the end of each step.  If the game writes it, the entity is
    teleported.  It is not swept from the old place to the new one.

    Attributes
    ----------
    x, y, z : float
        In world units.  `z` stays 0 in a 2D space.

    Examples
    --------
    >>> place = Position(3, 4)
    >>> place.xy = (5, 6)
    >>> place
    Position(5.0, 6.0)

    It also takes one vector, and vectors are added and scaled, in place or not.  The result has
    the type of the component, and `abs` gives its length:

    >>> place = Position((3, 4))
    >>> place += (1, 0)
    >>> place *= 0.5
    >>> place
    Position(2.0, 2.0)
    >>> abs(Position(5, 6) - place), place + Velocity(60, 0) / 60
    (5.0, Position(3.0, 2.0))
    """

    __slots__ = ()


class Extents(_Vector):
    """Half the size of an entity's box on each axis.

    The centre of the box is the entity's `Position`, and its sides are parallel to the axes.

    Attributes
    ----------
    x, y, z : float
        In world units, zero or more.  `z` stays 0 in a 2D space.

    Examples
    --------
    A box 16 wide and 32 high:

    >>> Extents(8, 16) == Extents.from_size(16, 32)
    True
    """

    __slots__ = ()

    _LEAST = 0.0
    _RULE = (
        "must be finite and >= 0; a box of width w and height h has Extents(w / 2, h / 2), "
        "or Extents.from_size(w, h)"
    )

    @classmethod
    def from_size(cls, w: float | _VectorLike, h: float = _NO_SECOND, d: float = 0.0) -> Self:
        """Return the extents of a box from its whole width, height and depth.

        Parameters
        ----------
        w, h, d : float
            The full size on each axis, in world units, zero or more; or one vector of these.

        Raises
        ------
        TypeError
            A size is not a number.
        ValueError
            A size is negative or not finite.
        """
        if h is _NO_SECOND:
            w, h, d = _parts(cls, "from_size", w, d)
        sizes = [as_float(cls, name, value) for name, value in (("w", w), ("h", h), ("d", d))]
        if not all(0.0 <= size <= LARGEST_FLOAT for size in sizes):
            given = f"w={shown(w)}, h={shown(h)}" + (f", d={shown(d)}" if sizes[2] != 0 else "")
            raise ValueError(f"{cls.__name__}.from_size({given}) must be finite and >= 0")
        return cls(sizes[0] / 2, sizes[1] / 2, sizes[2] / 2)


class Velocity(_Vector):
    """The velocity of an entity's box.

    An entity without it does not move by itself and costs less.  Responses change it, and never
    scale it by the rest of a step.

    Attributes
    ----------
    x, y, z : float
        In world units per second.  `z` stays 0 in a 2D space.

    Examples
    --------
    >>> Velocity(120, -900).y
    -900.0
    """

    __slots__ = ()


class Growth(_Vector):
    """The rate at which an entity's box grows around its centre.

    `MotionSystem` adds it to `Extents`, whose half sizes never go below 0.  If a step would make
    one negative, that size and its growth become 0.

    Attributes
    ----------
    x, y, z : float
        The rate of the *half* sizes, in world units per second; a negative rate shrinks the box.
        `z` stays 0 in a 2D space.

    Examples
    --------
    A box that becomes 4 wider and 2 higher in a second:

    >>> Growth(2, 1)
    Growth(2.0, 1.0)
    """

    __slots__ = ()


class Acceleration(_Vector):
    """The acceleration of a body besides the gravity of the space: a thrust, a wind, a magnet.

    A force is an acceleration of force / mass.  The path is exact as under gravity: v * t +
    a * t**2 / 2, for steps of any length.  A body that it presses onto another one rests there,
    sleeps, and has the friction of that press.  It affects dynamic bodies: no sensors, no
    characters, and none in a space with ``motion="swept"``.

    Attributes
    ----------
    x, y, z : float
        In world units per second squared, added to the gravity.  `z` stays 0 in a 2D space.

    Examples
    --------
    A rocket whose engine pushes it up with a force of 5000:

    >>> rocket = Mass(4), Acceleration(0, 5000 / 4)
    """

    __slots__ = ()
    _LEAST = -MOST_PULL
    _MOST = MOST_PULL
    _RULE = "must be finite and within -2**100 ... 2**100"


class Mass(Component):
    """The mass of an entity: how much it resists being pushed by others.

    An entity without it weighs 1.

    Attributes
    ----------
    value : float
        Above zero, in any unit if it is the same for all.  With ``math.inf`` no impact changes
        its velocity, so floors and walls do not stop it either.  For a body that they stop and
        that crates do not push, use `Dominance`.

    Examples
    --------
    >>> import math
    >>> crate, anvil = Mass(20), Mass(math.inf)
    """

    __slots__ = ("value",)
    __match_args__ = ("value",)

    def __init__(self, value: float = 1.0) -> None:
        rule = "must be above 0; with math.inf no impact moves the entity"
        self.value = as_bounded(type(self), "value", value, ABOVE_ZERO, math.inf, rule)

    def __repr__(self) -> str:
        # inf and nan are not Python names, and a repr should be valid Python.
        value = repr(self.value) if math.isfinite(self.value) else f"float('{self.value!r}')"
        return f"{type(self).__name__}({value})"


class Deflect(Component):
    """A response that bounces off the body that is hit.

    Attributes
    ----------
    restitution : float
        The part of the closing speed that is returned, from 0 (none, so it slides) to 1 (all).  If
        both bodies have one, the larger counts.  If two dynamic bodies hit each other in the last
        step and still touch, a value below 1 counts as 0.

    Examples
    --------
    >>> ball = Deflect(restitution=0.9)
    """

    __slots__ = ("restitution",)
    __match_args__ = ("restitution",)

    def __init__(self, restitution: float = 1.0) -> None:
        rule = "must be from 0 (slides) to 1 (bounces back at full speed)"
        self.restitution = as_bounded(type(self), "restitution", restitution, 0.0, 1.0, rule)


class Push(Component):
    """A response that redirects the whole speed along the face that is hit.

    The speed relative to the partner is kept, and its direction turns along the face.  `Slide`
    keeps only the part that already was along the face; most games need `Slide`.  A body that goes
    on to push a dynamic one slides, as with `Slide`, from the next step on.
    """

    __slots__ = ()


class Slide(Component):
    """A response that removes the velocity into the body that is hit, and keeps the rest."""

    __slots__ = ()


class Stop(Component):
    """A response that stops the body relative to the body that is hit, so that it moves with it.

    A body that goes on to push a dynamic one slides along it from the next step on.
    """

    __slots__ = ()


class Fixed(Component):
    """A promise that the game changes no component of the entity, such as a wall or a zone.

    The components of a fixed body are read once, when it appears.  Steps in which nothing
    happens to it cost nothing, whether there are 10 or 1,000,000 of them.  They are read again
    in the step after

    - `Space.teleport` or `Space.set_positions` of the entity,
    - a component was added to the entity, removed from it or replaced,
    - `Space.restore`.

    To change a fixed body in another way, remove `Fixed` first.  A change that breaks the promise
    has no effect until the components are read again; `Space.doctor` finds it.

    An entity with `Velocity` or `Growth` is not fixed.  The step warns of such an entity, and
    ignores its `Fixed`.

    Examples
    --------
    >>> wall = Position(0, -100), Extents(400, 10), Fixed()
    """

    __slots__ = ()


class Disabled(Component):
    """A switch that turns the entity off: steps, contacts and queries ignore its body.

    From the next step on, nothing meets the body, no query finds it, and it does not move.  Its
    contacts end with the reason ``"disabled"``, and bodies that rode on it keep the velocity that
    they had.  The components stay, and the game may change them.

    After it is removed, the next step reads the components again and puts the body at its
    `Position`, without a sweep from its old place.

    Switching a body off and on costs less than deleting an entity and creating another one.  While
    it is off, it costs a step nothing; see :doc:`performance`.

    Examples
    --------
    >>> bullet = Position(0, 0), Extents(2, 2), Velocity(0, 0), Slide(), Disabled()
    """

    __slots__ = ()


class Sensor(Component):
    """A zone that reports other bodies, which pass through it.

    It overrides every response.  A contact never moves, pushes or stops the entity, and the entity
    stops no other body.  When a body enters, there is a `Collision` with ``Outcome.CROSSED``.
    Contacts begin and end as for solid bodies.
    """

    __slots__ = ()
