"""The dungeon as a drawing, and the bodies that are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import esper

import ecs_collide as ec
from demos.app.boxes import WHITE, Boxes, Colour
from demos.app.scene import Look
from demos.app.sprites import Sprite

TILE = 40.0
DRAWING = """
########################
#.......#.......#......#
#..y....#...C..<#......#
#.......#.......#..s...#
#..C....#.......#......#
#.......Y.......B...s$.#
#.h.....#.......#......#
#.......#.......#......#
#..C.C..#>..C...#..s...#
#.......#.....b.#......#
#.......#.......#......#
########################
"""
ROWS = DRAWING.split()
WIDTH, HEIGHT = len(ROWS[0]) * TILE, len(ROWS) * TILE
GOLD, AZURE = (255, 214, 84), (110, 190, 255)
COLOURS: dict[str, Colour] = {"y": GOLD, "b": AZURE}  # of keys, and of doors with capital letters


class Hero:
    """The hero."""


class Crate:
    """A crate, which can be pushed, and which arrows knock away."""


class Slime:
    """A slime, which walks to the hero when it is near."""


class Chest:
    """The chest, which ends the round."""


@dataclass(slots=True)
class Key:
    """A key."""

    opens: str


@dataclass(slots=True)
class Door:
    """A closed door."""

    needs: str


@dataclass(slots=True)
class Trap:
    """A trap, which shoots arrows along a row every few seconds."""

    way: int
    wait: float


@dataclass(slots=True)
class Arrow:
    """An arrow in flight from a place, to the left (-1) or the right (1)."""

    start: float
    way: int


def place(column: float, row: float) -> tuple[float, float]:
    """Return the middle of a tile."""
    return (column + 0.5) * TILE, HEIGHT - (row + 0.5) * TILE


def is_wall(x: float, y: float) -> bool:
    """Return whether a wall is drawn at a point."""
    column, row = int(x // TILE), int((HEIGHT - y) // TILE)
    return ROWS[min(max(row, 0), len(ROWS) - 1)][min(max(column, 0), len(ROWS[0]) - 1)] in "#<>"


def backdrop() -> Boxes:
    """Return the floor and the walls."""
    rows = []
    for row, line in enumerate(ROWS):
        for column, tile in enumerate(line):
            left, top = column * TILE, HEIGHT - row * TILE
            rect = (left, top - TILE, left + TILE, top)
            rows.append((rect, int(Sprite.WALL if tile == "#" else Sprite.FLOOR), WHITE))
    return Boxes.of(rows)


def create_walls() -> None:
    """Create a body for each row of walls that touch."""
    for row, line in enumerate(ROWS):
        for is_solid, group in groupby(enumerate(line), lambda item: item[1] == "#"):
            columns = [column for column, _ in group]
            if is_solid:
                middle = (columns[0] + columns[-1]) / 2
                size = ec.Extents.from_size(len(columns) * TILE, TILE)
                esper.create_entity(ec.Position(*place(middle, row)), size, ec.Fixed())


def create_things() -> int:
    """Create what the drawing shows besides walls; return the hero."""
    hero = 0
    for row, line in enumerate(ROWS):
        for column, tile in enumerate(line):
            if tile in "#.":
                continue
            at = ec.Position(*place(column, row))
            thing = esper.create_entity(at, *components(tile))
            hero = thing if tile == "h" else hero
    return hero


def components(tile: str) -> tuple[object, ...]:
    """Return the components of a thing, by its letter."""
    square, still = ec.Extents.from_size(TILE, TILE), ec.Velocity(0, 0)
    if tile == "h":
        look = Look(Sprite.HERO, 40, 40, layer=3)
        return ec.Extents(13, 13), still, ec.Slide(), Hero(), look
    if tile == "s":
        look = Look(Sprite.SLIME, 36, 36, layer=2, colour=(126, 220, 110))
        return ec.Extents(13, 13), still, ec.Slide(), Slime(), look
    if tile == "C":
        look = Look(Sprite.CRATE, 38, 38, layer=1)
        return ec.Extents(17, 17), still, ec.Slide(), ec.Damping(5.0), Crate(), look
    if tile == "$":
        return ec.Extents(15, 15), ec.Sensor(), Chest(), Look(Sprite.CHEST, 40, 40)
    if tile in "<>":
        return square, Trap(-1 if tile == "<" else 1, 0.6), Look(Sprite.TRAP, 40, 40)
    if tile in COLOURS:
        return (
            ec.Extents(14, 14),
            ec.Sensor(),
            Key(tile),
            Look(Sprite.KEY, 40, 40, colour=COLOURS[tile]),
        )
    look = Look(Sprite.DOOR, 40, 40, colour=COLOURS[tile.lower()])
    return square, Door(tile.lower()), look
