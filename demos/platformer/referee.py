"""Check a level by its drawing: its walls, its planks, and the visible places of things.

The referee does not use the space.  Walls are tiles of the map, not the bodies made of them, and
it compares the places of things before and after a step.
"""

from __future__ import annotations

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.scene import Look
from demos.platformer.machines import Bullet
from ecs_collide.character import Character
from ecs_collide.levels.tiled import Level

SLOP = 2.0**-44  # of the largest coordinate: the overlap that the library may leave

Rect = tuple[float, float, float, float]  # left, bottom, right, top
Rects = NDArray[np.float64]  # shape (n, 4)
Flags = NDArray[np.bool_]


class Referee:
    """A referee that counts faults: after a faultless run all numbers are 0.

    Attributes
    ----------
    n_walled : int
        Times that something was in a wall after a step: a player, crate, bullet or lift.
    n_through : int
        Times that a bullet was seen with a wall between it and where it was fired.
    n_mixed : int
        Times that something solid got into something else.
    n_penetrating : int
        Times that something above planks got into them, and was not told to drop.
    """

    def __init__(self, level: Level) -> None:
        self.n_walled = self.n_through = self.n_mixed = self.n_penetrating = 0
        walls, planks = drawn(level)
        width, height = level.map.tile_size
        self._walls = Walls(walls, width, height)
        tiles = [
            (column * width, row * height, (column + 1) * width, (row + 1) * height)
            for row, column in np.argwhere(planks).tolist()
        ]
        single = [_around(thing.centre, thing.half) for thing in level.of_type("platform")]
        self._planks = _rows(tiles + single)
        self._planks.flags.writeable = False
        self._slop = SLOP * max(level.size)
        self._before: dict[int, Rect] = {}

    def look(self) -> None:
        """Store the places of things before a step."""
        self._before = _things()

    def check(self) -> None:
        """Compare the places of things after the step, and count faults."""
        movers = esper.get_components(ec.Position, ec.Extents, ec.Velocity)
        alive = [_box(place, half) for n, (place, half, _) in movers if esper.entity_exists(n)]
        bullets = esper.get_components(Bullet, ec.Position, ec.Extents)
        ways = [rect for _, bullet in bullets for rect in _way(*bullet)]
        self.n_walled += self._count_walled(alive)
        self.n_through += self._count_walled(ways)

        after = _things()
        both = sorted(self._before.keys() & after.keys())
        old, new = (_rows([seen[n] for n in both]) for seen in (self._before, after))
        self.n_mixed += self._count_mixed(old, new)
        may_not = np.array([not _drops(n) for n in both], dtype=np.bool_)
        self.n_penetrating += self._count_penetrating(old[may_not], new[may_not])

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims about every step, and whether they have held."""
        return [
            ("nothing was ever in a wall of the map, or outside of the map", not self.n_walled),
            ("no wall was on the way of a bullet, from where it was fired", not self.n_through),
            ("no player, crate, lift or target got into another", not self.n_mixed),
            ("no one fell through planks without the drop key", not self.n_penetrating),
        ]

    def _count_walled(self, rects: list[Rect]) -> int:
        """Return how many boxes reach into a wall, by more than the slop."""
        inner = np.array((1, 1, -1, -1)) * self._slop
        return int(self._walls.are_in(_rows(rects) + inner).sum())

    def _count_mixed(self, old: Rects, new: Rects) -> int:
        """Return how many things are in another that they were not in before."""
        got_in = self._meet(new, new) & ~self._meet(old, old)
        return int(got_in.any(axis=1).sum())

    def _count_penetrating(self, old: Rects, new: Rects) -> int:
        """Return how many things are in planks that they were above before."""
        planks = self._planks
        were_above = self._overlap(old, planks, 0) & (old[:, None, 1] >= planks[:, 3] - self._slop)
        return int((self._meet(new, planks) & were_above).any(axis=1).sum())

    def _meet(self, first: Rects, second: Rects) -> Flags:
        """Return for all pairs whether their insides overlap, shape (n, m)."""
        return self._overlap(first, second, 0) & self._overlap(first, second, 1)

    def _overlap(self, first: Rects, second: Rects, axis: int) -> Flags:
        """Return whether pairs overlap on an axis by more than the slop, shape (n, m)."""
        low, high = first[:, None, axis] + self._slop, first[:, None, axis + 2]
        return np.asarray((low < second[:, axis + 2]) & (high > second[:, axis] + self._slop))


class Walls:
    """The filled cells of a grid, and everything outside of the grid.

    It stores for each corner the number of filled cells left of it and below, so that the number
    of filled cells in a box is a sum of four numbers for any size of box.

    Parameters
    ----------
    filled : bool array, shape (rows, columns)
        The lowest row first.
    width, height : float
        Of a cell.
    """

    def __init__(self, filled: Flags, width: float, height: float) -> None:
        ringed = np.pad(filled, 1, constant_values=True).astype(np.int64)
        self._below = np.pad(ringed.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
        self._below.flags.writeable = False
        self._cell = width, height
        self._ring = filled.shape[1] + 1, filled.shape[0] + 1  # its last column and row

    def are_in(self, rects: Rects) -> Flags:
        """Return for each box whether a piece of a wall is in it."""
        first = np.floor(rects[:, :2] / self._cell) + 1
        last = np.ceil(rects[:, 2:] / self._cell)
        left, bottom = np.clip(first, 0, self._ring).astype(np.int64).T
        right, top = np.clip(last, 0, self._ring).astype(np.int64).T + 1
        below = self._below
        count = below[top, right] - below[top, left] - below[bottom, right] + below[bottom, left]
        return np.asarray(count > 0)


def drawn(level: Level) -> tuple[Flags, Flags]:
    """Return the cells of a map with walls, and the cells with planks; the lowest row first."""
    walls = np.zeros(level.map.map_size[::-1], dtype=np.bool_)
    planks = walls.copy()
    one_way = [
        first + number
        for first, tileset in level.map.tilesets.items()
        for number, tile in (tileset.tiles or {}).items()
        if (tile.properties or {}).get("one_way")
    ]
    for layer in level.map.layers:
        if (layer.properties or {}).get("solid"):
            cells = np.array(layer.data)[::-1]
            is_plank = np.isin(cells, one_way)
            planks |= is_plank
            walls |= (cells != 0) & ~is_plank
    return walls, planks


def _things() -> dict[int, Rect]:
    """Return the boxes of all solid, drawn things except the level and bullets."""
    found = esper.get_components(Look, ec.Position, ec.Extents)
    return {
        n: _box(place, half)
        for n, (_, place, half) in found
        if esper.entity_exists(n)
        and not esper.has_component(n, ec.Sensor)
        and not esper.has_component(n, ec.OneWay)
    }


def _rows(rects: list[Rect]) -> Rects:
    return np.array(rects, dtype=np.float64).reshape(-1, 4)


def _box(place: ec.Position, half: ec.Extents) -> Rect:
    return _around(place.xy, half.xy)


def _around(centre: tuple[float, float], half: tuple[float, float]) -> Rect:
    return centre[0] - half[0], centre[1] - half[1], centre[0] + half[0], centre[1] + half[1]


def _way(bullet: Bullet, place: ec.Position, half: ec.Extents) -> tuple[Rect, Rect]:
    """Return the way of a bullet: along x from its start, and then across at its end."""
    start, end = _around(bullet.start, half.xy), _box(place, half)
    left, right = min(start[0], end[0]), max(start[2], end[2])
    bottom, top = min(start[1], end[1]), max(start[3], end[3])
    return (left, start[1], right, start[3]), (end[0], bottom, end[2], top)


def _drops(entity: int) -> bool:
    """Return whether an entity lets go of planks."""
    character = esper.try_component(entity, Character)
    return character is not None and character.drop
