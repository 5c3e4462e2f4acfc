"""The shapes of slopes as they are now, for `queries.present`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import backend
from ecs_collide.components.dynamics import Attached
from ecs_collide.components.slope import Slope
from ecs_collide.esper_world import World
from ecs_collide.motion.body_table import BodyTable
from ecs_collide.sync.presence import Presence
from ecs_collide.sync.registry import BodyRegistry

Doubles = NDArray[np.float64]


class PresentSlopes:
    """The slopes among the present bodies, in a small table that only they have rows in.

    Attributes
    ----------
    rows : int64 (room,)
        By row of a body: its row in the table, -1 for a box.
    kernel : Slopes
        Measures boxes against them.
    """

    rows: NDArray[np.int64]
    kernel: Any

    def __init__(self, registry: BodyRegistry, presence: Presence, dim: int) -> None:
        self._registry = registry
        self._presence = presence
        self._dim = dim
        self.up = registry.up  # their heights count along it
        self._table = BodyTable(backend.kernels.bodies.Bodies(dim, False))
        self._table.bodies.rare.use()
        self.rows = np.zeros(0, np.int64)

    def use_in(self, search: Any, room: int) -> None:
        """Make a search of `room` bodies treat the slopes as such."""
        grown = np.full(room, -1, np.int64)
        grown[: len(self.rows)] = self.rows
        self.rows = grown
        self.kernel = search.use_slopes(self._table.bodies, grown.data)

    def forget(self, rows: Iterable[int]) -> None:
        """Make bodies boxes."""
        found = [row for row in rows if self.rows[row] >= 0]
        if found:
            self._table.bodies.spare += self.rows[found].tolist()
            self.rows[found] = -1

    def shape(
        self, world: World, rows: list[int], ids: list[int], halves: Doubles, are_plain: list[bool]
    ) -> None:
        """Read the shapes of bodies; those that the step would take for boxes are boxes.

        The plain ones are certainly not dynamic, attached or growing.
        """
        self.forget(rows)
        found = {}
        for row, entity, half, is_plain in zip(rows, ids, halves, are_plain, strict=True):
            slope: Any = world.component(entity, Slope)
            if slope is None or not half.all() or not (is_plain or not self._is_box(world, entity)):
                continue
            if shape := self._shape_of(slope):
                found[row] = entity, half, *shape
        if not found:
            return
        table = self._table
        if table.bodies.make_room(len(found)):
            table.bind()
        entities, half_sizes, sides, tops, lows, highs = zip(*found.values(), strict=True)
        at = table.bodies.allocate(list(entities))
        table.half[at] = np.array(half_sizes)
        table.slope[at], table.slope_top[at] = sides, tops
        table.slope_low[at], table.slope_high[at] = lows, highs
        table.bodies.rare.any_slope = True
        self.rows[list(found)] = at

    def _shape_of(self, slope: Any) -> tuple[int, int, float, float] | None:
        """Return the sides to which a slope rises and is open, and its heights; None for a box."""
        parts = (slope.x, slope.y, slope.z)[: self._dim]
        sides = [k + 1 if part > 0.0 else -k - 1 for k, part in enumerate(parts) if part]
        up, low, high = self._registry.reader.rare_reader.up, slope.low, slope.high
        side = sides[0] if len(sides) == 1 else 0
        if slope.ceiling:  # a floor upside down
            side, up, low, high = -side, -up, 1.0 - high, 1.0 - low
        if side == 0 or abs(side) == abs(up) or not 0.0 <= low < high <= 1.0:
            return None
        return side, up, low, high

    def _is_box(self, world: World, entity: int) -> bool:
        """Return whether a body with a `Slope` is dynamic, attached, or grows."""
        if world.component(entity, Attached) is not None:
            return True
        kind = self._registry.components.vector("growth", self._dim)
        growth: Any = world.component(entity, kind.kind)
        if growth is not None and any(getattr(growth, name) for name in kind.names):
            return True
        return self._presence.read(world, entity).dynamic
