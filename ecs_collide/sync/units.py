"""What the numbers of a game's components mean: a place and a size as a box, and velocities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._attributes import part_of, read_number, write_number
from ecs_collide.component_map import Components
from ecs_collide.events import Vector

Doubles = NDArray[np.float64]


class Units:
    """Converts the numbers of components of a game to centres and half sizes, and back."""

    def __init__(self, components: Components, dim: int) -> None:
        self.leans = components.leans(dim)  # of a position from the centre, in half sizes
        self.halves = 2.0 if components.whole_sizes else 1.0  # in a size
        roles = (components.vector(role, dim) for role in ("position", "extents", "velocity"))
        self._position, self._extents, self._velocity = (role.names for role in roles)

    def box_of(self, place: list[float], size: list[float]) -> tuple[list[float], list[float]]:
        """Return the centre and the half sizes that the numbers of a body mean."""
        half = [whole / self.halves for whole in size]
        centre = [at - lean * h for at, lean, h in zip(place, self.leans, half, strict=True)]
        return centre, half

    def boxes_of(self, places: Doubles, sizes: Doubles) -> tuple[Doubles, Doubles]:
        """Return the centres and half sizes (n, dim) that the numbers of bodies mean."""
        halves = sizes / self.halves
        return places - np.array(self.leans) * halves, halves

    def place_of(self, position: Any) -> list[float]:
        """Return the numbers of a component that plays the role of a position."""
        return [float(read_number(position, name)) for name in self._position]

    def set_centre(self, position: Any, extents: Any, centre: Iterable[float]) -> None:
        """Set a body's position such that its centre comes to lie there."""
        for k, value in enumerate(centre):
            place = value
            if self.leans[k] != 0.0:
                half = float(read_number(extents, self._extents[k])) / self.halves
                place += self.leans[k] * half
            write_number(position, self._position[k], place)

    def set_half(self, extents: Any, half: Iterable[float]) -> None:
        """Set the half sizes of a body."""
        for name, value in zip(self._extents, half, strict=True):
            write_number(extents, name, value * self.halves)

    def velocity_of(self, component: Any) -> Vector:
        """Return the numbers of a component that plays the role of a velocity; NaN for none."""
        return tuple(read_number(component, name, math.nan) for name in self._velocity)

    def set_velocity(self, component: Any, velocity: Iterable[float]) -> None:
        """Set the numbers of a component that plays the role of a velocity."""
        for name, value in zip(self._velocity, velocity, strict=True):
            write_number(component, name, value)

    def set_velocities(self, components: Sequence[Any], velocities: Doubles) -> None:
        """Set the numbers of many components that play the role of a velocity, (n, dim)."""
        for name, numbers in zip(self._velocity, velocities.T.tolist(), strict=True):
            write: Any = setattr if part_of(name) is None else write_number
            for component, number in zip(components, numbers, strict=True):
                write(component, name, number)
