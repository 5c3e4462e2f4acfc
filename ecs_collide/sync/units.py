"""Conversion between the numbers of a game's components and boxes and velocities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import backend
from ecs_collide.components.attributes import ROUNDED, read_number, write_number
from ecs_collide.components.component_map import Components
from ecs_collide.events import Vector

Doubles = NDArray[np.float64]


class Units:
    """Converts positions and sizes of a game's components to centres and half sizes, and back."""

    def __init__(self, components: Components, dim: int) -> None:
        self.leans = components.leans(dim)  # offset of a position from the centre, in half sizes
        self.halves = 2.0 if components.whole_sizes else 1.0  # half sizes in a size
        roles = (components.vector(role, dim) for role in ("position", "extents", "velocity"))
        self._position, self._extents, self._velocity = (role.names for role in roles)
        self.shared_size = components.shared_size(dim)  # one attribute for several axes, or ""
        make = backend.kernels.records.ComponentRecords
        self._velocities = make(components.velocity.kind, tuple(self._velocity), ())
        self._places = make(components.position.kind, tuple(self._position), ())
        self._are_centres = not any(self.leans)  # whether positions are centres

    def box_of(self, place: list[float], size: list[float]) -> tuple[list[float], list[float]]:
        """Return the centre and the half sizes of a body from its position and size."""
        half = [whole / self.halves for whole in size]
        centre = [at - lean * h for at, lean, h in zip(place, self.leans, half, strict=True)]
        return centre, half

    def place_of(self, position: Any) -> list[float]:
        """Return the numbers of a position component."""
        return [float(read_number(position, name)) for name in self._position]

    def set_centre(self, position: Any, extents: Any, centre: Iterable[float]) -> None:
        """Set a body's position so that its centre is at `centre`."""
        for k, value in enumerate(centre):
            place = value
            if self.leans[k] != 0.0:
                half = float(read_number(extents, self._extents[k])) / self.halves
                place += self.leans[k] * half
            write_number(position, self._position[k], place)

    def refuse_unequal(self, entity: int, half: Sequence[float]) -> None:
        """Raise ValueError if half sizes differ on axes that share one attribute."""
        if self.shared_size and len({*zip(self._extents, half, strict=True)}) > len(
            {*self._extents}
        ):
            raise ValueError(
                f"entity {entity}: {self.shared_size} is its size on several axes, and cannot hold "
                f"the half sizes {tuple(half)!r}: give equal ones, or name an attribute for each "
                "axis in Components(extents=...)"
            )

    def set_half(self, extents: Any, half: Iterable[float]) -> None:
        """Set the half sizes of a body."""
        for name, value in zip(self._extents, half, strict=True):
            write_number(extents, name, value * self.halves)

    def velocity_of(self, component: Any) -> Vector:
        """Return the numbers of a velocity component; NaN for a missing attribute."""
        return tuple(read_number(component, name, math.nan) for name in self._velocity)

    def set_velocity(self, component: Any, velocity: Iterable[float]) -> None:
        """Set the numbers of a velocity component."""
        for name, value in zip(self._velocity, velocity, strict=True):
            write_number(component, name, value)

    def set_velocities(self, components: Sequence[Any], velocities: Doubles) -> None:
        """Set the numbers of many velocity components from `velocities`, (n, dim)."""
        self._velocities.put(list(components), np.ravel(velocities).data, 0)

    def read_velocities(
        self, items: Sequence[Any], rows: NDArray[np.int64], vectors: Doubles
    ) -> None:
        """Write the numbers of velocity components, given by row, to `vectors`, (n, dim)."""
        if items:
            self._velocities.read_rows(list(items), rows.data, vectors.data)

    def set_by_row(
        self, items: Sequence[Any], rows: NDArray[np.int64], vectors: Doubles, are_centres: bool
    ) -> bool:
        """Set the numbers of many components, given by row, from `vectors`, (n, dim).

        The vectors are the centres of bodies, or velocities.  Return False, with nothing set, if a
        component is missing, or if centres have to be converted one by one.
        """
        if not items or (are_centres and (ROUNDED or not self._are_centres)):
            return False
        records = self._places if are_centres else self._velocities
        missing: int = records.put_rows(items, rows.data, np.ravel(vectors).data)
        return missing < 0
