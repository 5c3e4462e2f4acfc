"""Boxes that are cut off along a straight line: ramps, and ceilings that rise."""

from __future__ import annotations

from collections.abc import Iterable

from ecs_collide.components.base import Component, as_float, as_vector

_RISES = {"right": (1.0, 0.0, 0.0), "left": (-1.0, 0.0, 0.0)}


class Slope(Component):
    """A ramp instead of a box: a static or kinematic body that is cut off along a straight line.

    A floor is solid below the line, a ceiling above it; below is the side opposite to `Space.up`.
    The line leads from the height `low` at one end of the box to the height `high` at the other
    end.  In 3D a ramp rises along one axis and is level along the third.

    ======================================  =====================================
    ``Slope("right")``                      a floor from the lower left to the upper right corner
    ``Slope("left", ceiling=True)``         a ceiling that rises to the left, open below its line
    ``Slope("right", high=0.5)``, then      two tiles of one ramp that is half as steep
    ``Slope("right", low=0.5)``
    ======================================  =====================================

    It has no effect on a dynamic body, on one that grows, and if it rises along `Space.up`; such a
    body is a box, and so is one that is `Attached`.  All queries and `Space.move` take its solid
    part.  `Space.bounds` and `Space.boxes` take the whole box.

    Parameters
    ----------
    rise : "right", "left" or sequence of float
        The direction in which the line rises: along x, or a unit vector along an axis, of two
        numbers or in 3D three.  Also as `x`, `y` and `z`.
    low, high : float
        The heights of the line at its two ends above the lower side of the box, as parts of the
        height of the box: 0 <= low < high <= 1.
    ceiling : bool
        Whether the solid part is above the line.

    Examples
    --------
    >>> Slope("right").rise
    (1.0, 0.0, 0.0)
    """

    __slots__ = ("ceiling", "high", "low", "x", "y", "z")
    __match_args__ = ("rise", "low", "high", "ceiling")

    def __init__(
        self,
        rise: str | Iterable[float],
        low: float = 0.0,
        high: float = 1.0,
        ceiling: bool = False,
    ) -> None:
        self.rise = rise
        self.low, self.high = as_float(Slope, "low", low), as_float(Slope, "high", high)
        self.ceiling = bool(ceiling)
        if not 0.0 <= self.low < self.high <= 1.0:
            raise ValueError(
                f"Slope(low={low!r}, high={high!r}) must be parts of the height of the box, "
                "0 <= low < high <= 1"
            )

    @property
    def rise(self) -> tuple[float, float, float]:
        """The direction in which the line rises, as a unit vector along an axis."""
        return self.x, self.y, self.z

    @rise.setter
    def rise(self, value: str | Iterable[float]) -> None:
        if isinstance(value, str):
            if value not in _RISES:
                raise ValueError(
                    f"Slope(rise={value!r}) must be 'right', 'left' or a unit vector along an axis"
                )
            self.x, self.y, self.z = _RISES[value]
            return
        numbers = as_vector(Slope, "rise", value)
        if sorted(map(abs, numbers)) != [0.0, 0.0, 1.0]:
            raise ValueError(
                f"Slope(rise={value!r}) must point along one axis and have length 1, such as (1, 0)"
            )
        self.x, self.y, self.z = numbers
