"""Check a level by its drawing: its walls, hills and planks, and the visible places of things.

The referee does not use the space.  Walls are tiles of the map, not the bodies made of them, and
it compares the places of things before and after a step.
"""

from __future__ import annotations

from typing import Any

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.scene import Look
from demos.platformer.bats import Bat
from demos.platformer.machines import DASH, SLIDE, Brick, Bullet
from ecs_collide.levels.tiled import Level, properties_of, tile_number

MIRRORED = 1 << 31  # the bit of a tile that Tiled mirrors
SAMPLES = np.linspace(0.02, 0.98, 40)[:, None, None]  # of the way of light
SLOP = 2.0**-44  # of the largest coordinate: the overlap that the library may leave

Rect = tuple[float, float, float, float]  # left, bottom, right, top
Rects = NDArray[np.float64]  # shape (n, 4)
Flags = NDArray[np.bool_]


class Referee:
    """A referee that counts faults: after a faultless run all numbers are 0.

    Attributes
    ----------
    n_walled : int
        Times that something was in a wall or a hill after a step: a player, crate, bullet or lift.
    n_through : int
        Times that a bullet was seen with a wall between it and where it was fired.
    n_mixed : int
        Times that something solid got into something else.
    n_penetrating : int
        Times that something above planks got into them, and was not told to drop.
    n_odd : int
        Times that a player climbed without a ladder, swam without water, slid down a wall that is
        not there, or slid or dashed too fast.
    n_bricks : int
        Steps after which the bricks were not those of the map without the broken ones.
    n_lost : int
        Times that a wall was on the way that a bat had found.
    n_leaks : int
        Times that light was seen behind a wall.
    """

    def __init__(self, level: Level) -> None:
        self.n_walled = self.n_through = self.n_mixed = self.n_penetrating = 0
        self.n_odd = self.n_bricks = self.n_lost = self.n_leaks = 0
        walls, planks = drawn(level)
        self._filled, self._cell = walls, (level.map["tilewidth"], level.map["tileheight"])
        width, height = self._cell
        self._walls = Walls(walls, width, height)
        self._hills = hills(level)
        self._ladders, self._water = (
            Walls(typed(level, kind), width, height) for kind in ("ladder", "water")
        )
        self._bricks = {(x, y) for y, x in np.argwhere(typed(level, "brick")).tolist()}
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
        self.n_odd += self._count_odd(_rows(list(self._before.values())))
        self.n_bricks += self._seen_bricks() != self._bricks
        cells = [_around(at, (1.0, 1.0)) for _, bat in esper.get_component(Bat) for at in bat.way]
        self.n_lost += int(self._walls.are_in(_rows(cells)).sum())

    def check_light(self, torch: tuple[float, float], region: NDArray[np.float64]) -> None:
        """Count the places of a region between which and the torch there is a wall."""
        middles = (region + np.roll(region, -1, axis=0) + np.array(torch)) / 3
        points = np.array(torch) + (middles - np.array(torch)) * SAMPLES
        corners = np.tile(points.reshape(-1, 2), 2)
        self.n_leaks += int(self._walls.are_in(corners + np.array((-1, -1, 1, 1)) * 1e-3).sum())

    def broke(self, column: int, row: int) -> None:
        """Remember that a brick is gone; rows count upwards."""
        self._bricks.discard((column, row))
        self._filled[row, column] = False
        self._walls = Walls(self._filled, *self._cell)

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims about every step, and whether they have held."""
        return [
            ("nothing was ever in a wall or a hill, or outside of the map", not self.n_walled),
            ("no wall was on the way of a bullet, from where it was fired", not self.n_through),
            ("no player, crate, lift, bat or target got into another", not self.n_mixed),
            ("no one fell through planks without the drop key", not self.n_penetrating),
            (
                "the player climbed only on ladders, swam only in water, slid only down walls",
                not self.n_odd,
            ),
            ("no brick is gone that was not hit, and none that was is left", not self.n_bricks),
            ("no way that a bat found led through a wall", not self.n_lost),
            ("the torches' light ended at the walls", not self.n_leaks),
        ]

    def _count_walled(self, rects: list[Rect]) -> int:
        """Return how many boxes reach into a wall or below the line of a hill, over the slop."""
        boxes = _rows(rects) + np.array((1, 1, -1, -1)) * self._slop
        return int((self._walls.are_in(boxes) | self._are_in_hills(boxes)).sum())

    def _are_in_hills(self, boxes: Rects) -> Flags:
        """Return for each box whether its lower corner is below the line of a hill."""
        left, bottom, right, top, start, end = self._hills.T
        low, high = np.maximum(boxes[:, None, 0], left), np.minimum(boxes[:, None, 2], right)
        upper = np.where(end > start, high, low)  # where the part above the hill meets its line
        line = start + (end - start) * (upper - left) / (right - left)
        meets = (low < high) & (boxes[:, None, 1] < top) & (boxes[:, None, 3] > bottom)
        return np.asarray((meets & (boxes[:, None, 1] < line)).any(axis=1))

    def _count_odd(self, things: Rects) -> int:
        """Return how many players do what the map gives them no chance to do.

        The state of a character is that of the beginning of a step, so the places of before count.
        """
        n_odd = 0
        for entity, (character, velocity) in esper.get_components(ec.Character, ec.Velocity):
            box = _rows([self._before[entity]] if entity in self._before else [])
            around = box + np.array((-1, -1, 1, 1)) * self._slop
            beside = box + np.array((-1, 0, 1, 0))
            if not len(box):
                continue
            if character.state is ec.CharacterState.CLIMBING:
                n_odd += not self._ladders.are_in(around).any()
            elif character.state is ec.CharacterState.SWIMMING:
                n_odd += not self._water.are_in(around).any()
            elif character.state is ec.CharacterState.DASHING:
                n_odd += abs(velocity.x) > DASH + 1e-9
            elif character.state is ec.CharacterState.WALL_SLIDING:
                near = self._meet(beside, things).sum() - 1  # itself
                n_odd += not (near or self._walls.are_in(beside).any())
                n_odd += velocity.y < -SLIDE - 1e-9
        return int(n_odd)

    def _seen_bricks(self) -> set[tuple[int, int]]:
        """Return the cells in which there are bodies of bricks."""
        width, height = self._cell
        seen: set[tuple[int, int]] = set()
        for entity, (_, place, half) in esper.get_components(Brick, ec.Position, ec.Extents):
            if esper.entity_exists(entity):
                left, bottom, right, top = _box(place, half)
                columns = range(round(left / width), round(right / width))
                rows = range(round(bottom / height), round(top / height))
                seen |= {(column, row) for column in columns for row in rows}
        return seen

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
    """Return the cells of a map with walls, and the cells with planks; the lowest row first.

    Hills fill their cells in part, and are in `hills`.
    """
    tiles = _known_tiles(level)
    one_way = [n for n, tile in tiles.items() if properties_of(tile).get("one_way")]
    hilly = [n for n, tile in tiles.items() if "objectgroup" in tile]
    walls = np.zeros((level.map["height"], level.map["width"]), dtype=np.bool_)
    planks = walls.copy()
    for layer, gids in _layers(level):
        cells = gids % MIRRORED
        if properties_of(layer).get("solid"):
            is_plank = np.isin(cells, one_way)
            planks |= is_plank
            walls |= (cells != 0) & ~is_plank & ~np.isin(cells, hilly)
    return walls, planks


def typed(level: Level, kind: str) -> Flags:
    """Return the cells of a map with tiles of a type; the lowest row first."""
    numbers = [n for n, tile in _known_tiles(level).items() if tile.get("type") == kind]
    return np.asarray(
        np.any([np.isin(gids % MIRRORED, numbers) for _, gids in _layers(level)], axis=0)
    )


def hills(level: Level) -> NDArray[np.float64]:
    """Return the hills as their tiles are drawn, shape (n, 6).

    Left, bottom, right and top of the cell, and the heights of the line at its left and right.
    """
    width, height = level.map["tilewidth"], level.map["tileheight"]
    ends = {}  # of the line of each tile: pixels above its bottom
    for n, tile in _known_tiles(level).items():
        for shape in tile["objectgroup"]["objects"] if "objectgroup" in tile else ():
            points = [
                (shape["x"] + at["x"], height - shape["y"] - at["y"]) for at in shape["polygon"]
            ]
            ends[n] = tuple(max(y for x, y in points if x == side) for side in (0, width))
    found = []
    for _, gids in _layers(level):
        for row, column in np.argwhere(gids).tolist():
            gid = int(gids[row, column])
            if tile_number(gid) in ends:
                sides = ends[tile_number(gid)][:: -1 if gid & MIRRORED else 1]
                x, y = column * width, row * height
                found.append((x, y, x + width, y + height, y + sides[0], y + sides[1]))
    return np.array(found, dtype=np.float64).reshape(-1, 6)


def _known_tiles(level: Level) -> dict[int, Any]:
    """Return what the tilesets say of single tiles, by the tiles' numbers in the map."""
    return {
        tileset["firstgid"] + tile["id"]: tile
        for tileset in level.map["tilesets"]
        for tile in tileset["tiles"]
    }


def _layers(level: Level) -> list[tuple[Any, NDArray[np.int64]]]:
    """Return the tile layers, and the numbers of their tiles; the lowest row first."""
    shape = level.map["height"], level.map["width"]
    layers = [layer for layer in level.map["layers"] if layer["type"] == "tilelayer"]
    return [(layer, np.array(layer["data"]).reshape(shape)[::-1]) for layer in layers]


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
    character = esper.try_component(entity, ec.Character)
    return character is not None and character.drop
