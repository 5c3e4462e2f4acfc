"""Properties of the faces of a box: friction and bounciness, one-way platforms, carriers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from ecs_collide._kernel.constants import AXES, OF_SPACE, CombineCode
from ecs_collide.components.base import (
    LARGEST_FLOAT,
    Component,
    NamedText,
    as_bounded,
    as_vector,
    copy_methods,
)


class CombineRule(NamedText):
    """The rule by which the numbers of two touching surfaces become one.

    If both surfaces give a rule, the one further down this list counts.  If neither does, it is
    ``GEOMETRIC`` for `Friction` and ``MAX`` for `Restitution`.
    """

    AVERAGE = "average"
    """(a + b) / 2."""
    GEOMETRIC = "geometric"
    """sqrt(a) · sqrt(b)."""
    MIN = "min"
    """The smaller one."""
    MULTIPLY = "multiply"
    """a · b."""
    MAX = "max"
    """The larger one."""


_CODES: dict[CombineRule, int] = {
    CombineRule.AVERAGE: CombineCode.AVERAGE,
    CombineRule.GEOMETRIC: CombineCode.GEOMETRIC,
    CombineRule.MIN: CombineCode.MIN,
    CombineRule.MULTIPLY: CombineCode.MULTIPLY,
    CombineRule.MAX: CombineCode.MAX,
}
_RULES = {code: rule for rule, code in _CODES.items()}


def code_of(owner: type, rule: CombineRule | str | None) -> int:
    """Return the code of a rule, 0 for None.

    Raises
    ------
    ValueError
        `rule` is not a rule.
    """
    if rule is None:
        return 0
    try:
        return _CODES[CombineRule(rule)]
    except ValueError:
        names = ", ".join(repr(each.value) for each in CombineRule)
        raise ValueError(
            f"{owner.__name__}(rule={rule!r}) must be one of {names}, or None"
        ) from None


def rule_of(code: float) -> CombineRule | None:
    """Return the rule of a code; None for 0 and for unknown codes."""
    return _RULES.get(int(code))


class _Surface(Component):
    """A number of a surface, and the rule that combines it with another surface's number."""

    __slots__ = ("code", "value")
    __match_args__ = ("value", "rule")

    _MOST: ClassVar[float]
    _RULE: ClassVar[str]

    code: float
    value: float

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if _Surface in cls.__bases__:
            copy_methods(cls, _Surface, "__init__")

    def __init__(self, value: float, rule: CombineRule | str | None = None) -> None:
        self.value = as_bounded(type(self), "value", value, 0.0, self._MOST, self._RULE)
        self.code = code_of(type(self), rule)

    @property
    def rule(self) -> CombineRule | None:
        """The rule that combines two such numbers; None for the default."""
        return rule_of(self.code)

    @rule.setter
    def rule(self, rule: CombineRule | str | None) -> None:
        self.code = code_of(type(self), rule)

    def __repr__(self) -> str:
        shown = f"value={self.value!r}"
        if self.rule is not None:
            shown += f", rule={self.rule.value!r}"
        return f"{type(self).__name__}({shown})"


class Friction(_Surface):
    """Coulomb friction, by which a surface slows bodies that slide along it.

    A contact passes on at most `value` times the momentum that presses it, which includes that of
    the bodies on top.  A body that slides on a floor under gravity g stops after a distance of
    v**2 / (2 * value * g).  Two values are combined by their geometric mean, unless one of them
    has a `rule`; if only one body has `Friction`, its value is used.

    It acts on `Slide` and `Deflect`, and on custom responses that select the built-in one.  On the
    entity of a `Character`, it also lets the walk depend on the ground.

    Attributes
    ----------
    value : float
        Zero (ice) or more; rubber on stone is about 1.
    rule : CombineRule or None
        The rule by which it is combined with another surface's, such as ``"min"``.
    code : int
        The same as a number, 0 for None.

    Examples
    --------
    >>> crate, ice = Friction(0.6), Friction(0)
    >>> Friction(0.2, rule="min")  # no surface grips better on it
    Friction(value=0.2, rule='min')
    """

    __slots__ = ()

    _MOST = LARGEST_FLOAT
    _RULE = "must be finite, and 0 (ice) or more"


class Restitution(_Surface):
    """The bounciness of a surface, such as a wall, a lift, a trampoline or a dynamic body.

    It is the part of the closing speed with which two bodies separate.  It replaces the restitution
    of a `Deflect`, and gives one to the other responses.  If both surfaces have one, the larger
    counts, unless one of them gives a `rule`.  If only one has it, that one counts.  Without it,
    `Slide`, `Push` and `Stop` have none, and neither has a `Deflect` on a body that is not dynamic.

    Attributes
    ----------
    value : float
        From 0 (a sandbag) to 1 (no speed is lost).
    rule : CombineRule or None
        The rule by which it is combined with another surface's, such as ``"min"``.
    code : int
        The same as a number, 0 for None.

    Examples
    --------
    >>> trampoline = Restitution(0.9)
    >>> mud = Restitution(0, rule="min")  # stops even a ball with `Deflect`
    """

    __slots__ = ()

    _MOST = 1.0
    _RULE = "must be within 0 ... 1"


def _as_normal(owner: type, value: Iterable[float] | None) -> tuple[float, float, float]:
    """Return the unit vector of an axis as three numbers, or raise; None means the space's up."""
    if value is None:
        return OF_SPACE, OF_SPACE, OF_SPACE
    numbers = as_vector(owner, "normal", value)
    if sorted(map(abs, numbers)) != [0.0, 0.0, 1.0]:
        raise ValueError(
            f"{owner.__name__}(normal={value!r}) must point along one axis and have length 1: "
            "(0, 1) is up where y grows upwards, (0, -1) where it grows downwards"
        )
    return numbers


def _shown_normal(x: float, y: float, z: float) -> tuple[float, float, float] | None:
    """Return a normal as it was given, None for the up of the space."""
    return None if x == y == z == OF_SPACE else (x, y, z)


class OneWay(Component):
    """A platform that is solid only for bodies on the side to which its normal points.

    Only that face stops a body, and only if the body was fully on its free side.  A body jumps
    through from below, passes through from the sides, lands from above and stands.  While it passes
    through there is neither collision nor contact.  `Space.drop_through` makes it fall through.
    It lets only dynamic bodies through: a crate that has it still stands on a floor.

    Parameters
    ----------
    normal : sequence of float, optional
        A unit vector along an axis, of two numbers or in 3D three.  The default is `Space.up`.
        Also as `x`, `y` and `z`, which are all 2 for the default.

    Examples
    --------
    >>> OneWay((0, 1)).normal
    (0.0, 1.0, 0.0)
    """

    __slots__ = ("x", "y", "z")
    __match_args__ = ("normal",)

    def __init__(self, normal: Iterable[float] | None = None) -> None:
        self.x, self.y, self.z = _as_normal(type(self), normal)

    @property
    def normal(self) -> tuple[float, float, float] | None:
        """The unit vector that points to the free side; None for the up of the space."""
        return _shown_normal(self.x, self.y, self.z)

    @normal.setter
    def normal(self, value: Iterable[float] | None) -> None:
        self.x, self.y, self.z = _as_normal(type(self), value)


class Carry(Component):
    """A lift or a conveyor belt: it carries the bodies that stand on it.

    A *rider* is a dynamic body that touches the carrying face.  It moves with the carrier on all
    axes, and its own `Velocity` is relative to the carrier.  Bodies that stand on a rider are also
    carried.  A dynamic carrier adds its own motion along its face only: it feels their weight.
    A body that lands is carried from that instant, also within a step.  A rider that leaves its
    carrier keeps its speed in the world, even if the carrier is deleted, teleported or stops
    carrying.  The next step adds the carrier's velocity to its `Velocity`.

    Parameters
    ----------
    surface : sequence of float
        The velocity of the face along itself, relative to the carrier, in world units per second,
        of two numbers or in 3D three.  Zero for a lift.  On a `Slope` the part along its run is
        the speed along the line.  Also as `x`, `y`, `z`.
    normal : sequence of float, optional
        The unit vector along an axis that points out of the carrying face.  The default is
        `Space.up`.  Also as `normal_x` and so on, which are all 2 for the default.

    Examples
    --------
    >>> lift, belt = Carry(), Carry(surface=(60, 0))
    """

    __slots__ = ("normal_x", "normal_y", "normal_z", "x", "y", "z")
    __match_args__ = ("surface", "normal")

    def __init__(
        self,
        surface: Iterable[float] = (0.0, 0.0),
        normal: Iterable[float] | None = None,
    ) -> None:
        self.x, self.y, self.z = as_vector(type(self), "surface", surface)
        self.normal_x, self.normal_y, self.normal_z = _as_normal(type(self), normal)

    @property
    def surface(self) -> tuple[float, float, float]:
        """The velocity of the face along itself, in world units per second."""
        return self.x, self.y, self.z

    @surface.setter
    def surface(self, value: Iterable[float]) -> None:
        self.x, self.y, self.z = as_vector(type(self), "surface", value)

    @property
    def normal(self) -> tuple[float, float, float] | None:
        """The unit vector that points out of the carrying face; None for the up of the space."""
        return _shown_normal(self.normal_x, self.normal_y, self.normal_z)

    @normal.setter
    def normal(self, value: Iterable[float] | None) -> None:
        self.normal_x, self.normal_y, self.normal_z = _as_normal(type(self), value)


def solid_side(one_way: OneWay, up: tuple[float, ...]) -> tuple[float, ...]:
    """Return the normal of the side on which a body is solid, `up` if it gives none."""
    side = tuple(float(getattr(one_way, axis)) for axis in AXES[: len(up)])
    return up if side == (OF_SPACE,) * len(up) else side
