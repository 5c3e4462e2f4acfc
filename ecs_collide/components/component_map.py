"""The custom components that a space reads instead of `Position`, `Extents` and the others."""

from typing import Any, NamedTuple

from ecs_collide._kernel.constants import AXES
from ecs_collide.components.attributes import is_name
from ecs_collide.components.basics import Extents, Growth, Mass, Position, Velocity

ROLES = ("position", "extents", "velocity", "growth", "mass")

Given = type | tuple[Any, ...]
"""A component type with numbers in x, y (and z), or a tuple of a type and attribute names."""


class Role(NamedTuple):
    """A type of component, and the names of the attributes that hold its numbers."""

    kind: type
    names: tuple[str, ...]


class Components:
    """The types of components that a space reads and writes, for games with custom ones.

    Each is a type whose numbers are in ``x`` and ``y`` (in 3D also ``z``), or a tuple of a type
    and the names of its attributes.  One type may have several roles, as in
    ``position=(Rect, "x", "y"), extents=(Rect, "w", "h")``.  The default for each role is the type
    of `ecs_collide`.

    Parameters
    ----------
    position, extents, velocity, growth : type or (type, str, str[, str]) or (type, str)
        A name is an attribute, or a part of a vector in an attribute, such as ``"pos.x"`` or
        ``"pos[0]"``.  A single name is an attribute that holds the whole vector, with an index for
        each axis.  Immutable vectors are replaced.  One attribute may be the size on all axes,
        ``extents=(Ball, "radius", "radius")``; such bodies cannot grow.
    mass : type or (type, str)
        The number is in ``value`` if no name is given.
    whole_sizes : bool
        Whether `extents` holds whole sizes, width and height, instead of half sizes.
    anchor : sequence of float, optional
        The place of a body's position in its box, on each axis from 0, the lower side, to 1.  By
        default it is the centre.  ``(0, 0)`` is the corner with the least x and y, which is the top
        left if y grows downwards.

    Raises
    ------
    TypeError, ValueError
        An argument is not a type, a name or a number, or is out of its bounds.

    Notes
    -----
    They are read and written in place, by attribute, and never replaced.  Plain classes with
    ``__slots__`` are read ten times as fast as others.  A corner as anchor causes no rounding, as
    the space keeps the centres between steps and reads a corner again only if the game has set it.

    An attribute may round to whole numbers or 32-bit floats, as in a pygame `Rect` or `FRect`.
    The space then keeps the exact number, as long as the attribute has the value that was read
    back after writing.

    Examples
    --------
    >>> class Place:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> class Speed:
    ...     def __init__(self, dx, dy):
    ...         self.dx, self.dy = dx, dy
    >>> Components(position=Place, velocity=(Speed, "dx", "dy"))
    Components(position=Place, velocity=(Speed, 'dx', 'dy'))

    One component with vectors, such as pygame's, or rows of an array:

    >>> class Body:
    ...     def __init__(self, pos, vel):
    ...         self.pos, self.vel = pos, vel
    >>> vectors = Components(position=(Body, "pos"), velocity=(Body, "vel.x", "vel.y"))
    """

    def __init__(
        self,
        *,
        position: Given = Position,
        extents: Given = Extents,
        velocity: Given = Velocity,
        growth: Given = Growth,
        mass: Given = (Mass, "value"),
        whole_sizes: bool = False,
        anchor: tuple[float, ...] | None = None,
    ) -> None:
        self.position = _role("position", position)
        self.extents = _role("extents", extents)
        self.velocity = _role("velocity", velocity)
        self.growth = _role("growth", growth)
        self.mass = _role("mass", (mass, "value") if isinstance(mass, type) else mass)
        if len(self.mass.names) != 1:
            raise ValueError(f"mass={mass!r} must name one attribute")
        self.whole_sizes = bool(whole_sizes)
        try:
            self.anchor = None if anchor is None else tuple(float(part) for part in anchor)
        except (TypeError, ValueError):
            self.anchor = (-1.0,)  # refused below
        if self.anchor is not None and not all(0.0 <= part <= 1.0 for part in self.anchor):
            raise ValueError(
                f"anchor={anchor!r} must be from 0, the lesser side of a box, to 1 on each axis"
            )
        played: list[Role] = [getattr(self, name) for name in ROLES]
        played[ROLES.index("extents")] = Role(
            self.extents.kind, tuple(dict.fromkeys(self.extents.names))
        )
        fields = [(role.kind, name) for role in played for name in role.names]
        for kind, name in fields:
            if fields.count((kind, name)) > 1:
                raise ValueError(
                    f"{kind.__name__}.{name} plays two roles: "
                    "each number needs a different attribute"
                )

    def __repr__(self) -> str:
        usual = Components()
        given = [
            f"{name}={_shown(role, name)}"
            for name in ROLES
            if (role := getattr(self, name)) != getattr(usual, name)
        ]
        given += ["whole_sizes=True"] * self.whole_sizes
        given += [f"anchor={self.anchor}"] * (self.anchor is not None)
        return f"Components({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Components) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def vector(self, role: str, dim: int) -> Role:
        """Return the type and the names of a role with `dim` numbers.

        Raises
        ------
        ValueError
            The role has too few names.
        """
        kind, names = getattr(self, role)
        if len(names) < dim:
            raise ValueError(
                f"{role}={(kind.__name__, *names)!r} must name {dim} attributes "
                f"in a space of {dim} axes"
            )
        return Role(kind, names[:dim])

    def shared_size(self, dim: int) -> str:
        """Return the attribute that is the size on several axes, as ``"Ball.radius"``, or ""."""
        kind, names = self.vector("extents", dim)
        shared = [name for name in names if names.count(name) > 1]
        return f"{kind.__name__}.{shared[0]}" if shared else ""

    def leans(self, dim: int) -> tuple[float, ...]:
        """Return the offset of a position from the centre of its box, in half sizes, by axis.

        Raises
        ------
        ValueError
            The anchor has another number of axes.
        """
        if self.anchor is None:
            return (0.0,) * dim
        if len(self.anchor) != dim:
            raise ValueError(f"anchor={self.anchor!r} must have {dim} axes in this space")
        return tuple(2.0 * part - 1.0 for part in self.anchor)


def _role(name: str, given: Given) -> Role:
    """Return the type and names given for a role, checked."""
    parts = given if given and isinstance(given, (tuple, list)) else (given, *AXES)
    kind, names = parts[0], tuple(parts[1:])
    if not isinstance(kind, type):
        raise TypeError(
            f"{name}={given!r} must be a type of component, or a tuple that begins with one"
        )
    if not names or not all(map(is_name, names)):
        raise TypeError(f"{name}={given!r} must name the attributes that hold the numbers")
    if len(names) == 1 and name != "mass" and names[0].isidentifier():  # a whole vector
        names = tuple(f"{names[0]}[{k}]" for k in range(3))
        all(map(is_name, names))
    return Role(kind, names)


def _shown(role: Role, name: str) -> str:
    """Return a role in the form of an argument."""
    if role.names == (("value",) if name == "mass" else AXES):
        return role.kind.__name__
    return f"({', '.join([role.kind.__name__, *map(repr, role.names)])})"
