"""Components that control the motion of some bodies, beyond their velocity.

They may be changed at any time, with effect from the next step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ecs_collide._kernel.constants import MOST_DOMINANCE, MOST_PULL
from ecs_collide.components.base import ABOVE_ZERO, Component, as_bounded, as_vector, as_whole

_RULE_OF_SPEED = "must be above 0, or math.inf"


class Attached(Component):
    """A box that moves with another body: a hitbox, feet, a zone around a character.

    The entity has `Extents` and a `Position`, which each step sets to the owner's position plus
    the offset.  Within the step the box is swept along the path of its owner.  It stops, slides and
    turns at the same instants.

    Other bodies pass through it, as through a `Sensor`.  It meets neither its owner nor other
    boxes of its owner.  A response or a `Velocity` has no effect on it.  Custom responses are
    offered what enters it, unless one of the two has a `Sensor`; see `Space.respond_with`.

    If the game changes the offset, the next step sweeps the box from the old offset to the new
    one.  `Space.teleport` of the box sets the offset without a sweep.  See :doc:`attached`.

    Parameters
    ----------
    owner : int
        The entity that the box is attached to, a body that is not attached itself.
    offset : sequence of float
        From the centre of the owner to the centre of the box, in world units, of two numbers or
        in 3D three; also as `x`, `y` and `z`.

    Examples
    --------
    >>> feet = Position(0, 0), Extents(6, 1), Attached(owner=1, offset=(0, -16))
    """

    __slots__ = ("owner", "x", "y", "z")
    __match_args__ = ("owner", "offset")

    def __init__(self, owner: int, offset: Iterable[float] = (0.0, 0.0)) -> None:
        self.owner = as_whole(
            type(self), "owner", owner, 1, 2**53, "must be the id of an entity, 1 or more"
        )
        self.x, self.y, self.z = as_vector(type(self), "offset", offset)

    @property
    def offset(self) -> tuple[float, float, float]:
        """The vector from the centre of the owner to the centre of the box, in world units."""
        return self.x, self.y, self.z

    @offset.setter
    def offset(self, value: Iterable[float]) -> None:
        self.x, self.y, self.z = as_vector(type(self), "offset", value)


class PushOut(Component):
    """A permission to push the entity out of bodies that it is inside of at the start of a step.

    Bodies that do not overlap never begin to.  But a game may put one body into another, when a
    level changes or a character stands up under a ceiling.  Such a dynamic body is moved out along
    the shortest way that is free of all solid bodies, never through the seams between them.

    Attributes
    ----------
    speed : float
        The largest speed at which it is moved, in world units per second.  With ``math.inf`` one
        step moves it out of a body; out of several bodies, at most one step for each.

    Examples
    --------
    >>> PushOut(speed=200)
    PushOut(speed=200.0)
    """

    __slots__ = ("speed",)
    __match_args__ = ("speed",)

    def __init__(self, speed: float = math.inf) -> None:
        self.speed = as_bounded(type(self), "speed", speed, ABOVE_ZERO, math.inf, _RULE_OF_SPEED)


class Separate(Component):
    """A membership in a soft crowd, whose members are moved apart and do not stop each other.

    Two bodies that both have it pass through each other, and while they overlap a displacement
    moves them apart.  It is along the shortest way for long boxes, and along the line between their
    centres for squares.  They meet all other bodies as usual, such as walls and the player.

    The displacement is not part of `Velocity`.  It is added to the path of a step and swept with
    it, so it never leads into or through a wall.  An impact ends it on that axis.  Of two members,
    the one with less `Mass` is moved more.  Only dynamic members are moved, which have `Velocity`,
    a response and finite mass.  The other members only move them.

    Members that overlap are in contact, of the kind CROSSING.  Their contacts are updated at the
    end of a step, and they have no collisions.

    Attributes
    ----------
    speed : float
        The largest speed at which it is moved, in world units per second.  One step moves it by
        at most half its largest side.  Members that walk to the same place overlap little if this
        is at least their walking speed, and gather at one point if it is less.  Members that walk
        to different places pass through each other if it is about half their walking speed.  With
        ``math.inf`` two members separate in one step.

    Examples
    --------
    >>> Separate(speed=60)
    Separate(speed=60.0)
    """

    __slots__ = ("speed",)
    __match_args__ = ("speed",)

    def __init__(self, speed: float = math.inf) -> None:
        self.speed = as_bounded(type(self), "speed", speed, ABOVE_ZERO, math.inf, _RULE_OF_SPEED)


class GravityScale(Component):
    """The factor by which the `Space.gravity` acts on a body.

    It affects dynamic bodies.  All others do not fall.

    Attributes
    ----------
    value : float
        1 for the gravity of the space, 0 for none, negative for a body that rises.

    Examples
    --------
    >>> feather, ghost = GravityScale(0.2), GravityScale(0)
    """

    __slots__ = ("value",)
    __match_args__ = ("value",)

    def __init__(self, value: float) -> None:
        rule = "must be within -2**100 ... 2**100"
        self.value = as_bounded(type(self), "value", value, -MOST_PULL, MOST_PULL, rule)


class Damping(Component):
    """A constant loss of velocity, as in air or water.

    In t seconds the `Velocity` of a body that nothing else acts on is multiplied by
    exp(-value * t), for steps of any length.  Under gravity g it approaches g / value.  Without
    gravity it never becomes 0; a game that waits for a halt compares the speed with a limit.

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

    def __init__(self, value: float) -> None:
        rule = "must be within 0 ... 2**100"
        self.value = as_bounded(type(self), "value", value, 0.0, MOST_PULL, rule)


class Dominance(Component):
    """A level of pushing: bodies of lower levels do not move a body of a higher level.

    It pushes them as if its mass were infinite compared to theirs.  It is stopped if they are
    pressed against a wall, or against a body of a still higher level.  Bodies of the same level
    push each other by their `Mass`, unless they block.  Bodies without it have level 0.  Static and
    kinematic bodies are above all levels.

    Attributes
    ----------
    level : int
        From -127 to 127.
    blocks : int
        1 if bodies of its level that block too neither push it nor are pushed by it: they stop at
        each other.  It outweighs the bodies of its level that do not block.

    Examples
    --------
    A player that pushes crates, and that crates do not push:

    >>> player = Dominance(1)

    People in a village, who push crates and are in each other's way:

    >>> villager = Dominance(1, blocks=True)
    """

    __slots__ = ("blocks", "level")
    __match_args__ = ("level", "blocks")

    def __init__(self, level: int, blocks: bool = False) -> None:
        rule = f"must be within -{MOST_DOMINANCE} ... {MOST_DOMINANCE}"
        self.level = as_whole(type(self), "level", level, -MOST_DOMINANCE, MOST_DOMINANCE, rule)
        self.blocks = as_whole(type(self), "blocks", blocks, 0, 1, "must be True or False")

    def __repr__(self) -> str:
        return f"Dominance(level={self.level}{', blocks=True' if self.blocks else ''})"


class MaxSpeed(Component):
    """The maximum speed of a body.

    The speed is the Euclidean length of `Velocity`.  A higher speed is reduced to the maximum, in
    the same direction, when a step has read it and before anything moves, and again at the end of
    the step.  Within a step an impact may make a body faster, and a carrier's velocity is added.

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

    def __init__(self, speed: float) -> None:
        self.speed = as_bounded(type(self), "speed", speed, ABOVE_ZERO, math.inf, _RULE_OF_SPEED)


class LockedAxes(Component):
    """Axes along which a body never moves.

    Its velocity there becomes 0 when a step begins, and no impact, friction, carrier, `PushOut` or
    `Separate` changes it.  To bodies that hit it along such an axis it is not dynamic.  The game
    may still move it by its `Position`.

    Attributes
    ----------
    x, y, z : int
        1 for a locked axis, else 0.

    Examples
    --------
    A sliding door, and a mine cart on rails:

    >>> door = LockedAxes(y=True)
    >>> cart = LockedAxes(y=True, z=True)
    """

    __slots__ = ("x", "y", "z")
    __match_args__ = ("x", "y", "z")

    def __init__(self, x: bool = False, y: bool = False, z: bool = False) -> None:
        self.x, self.y, self.z = (
            as_whole(type(self), name, value, 0, 1, "must be True or False")
            for name, value in (("x", x), ("y", y), ("z", z))
        )

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}=True" for name in self.__match_args__ if getattr(self, name))
        return f"LockedAxes({shown})"
