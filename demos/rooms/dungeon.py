"""The dungeon as a drawing, and the bodies that are made from it."""

from __future__ import annotations

from dataclasses import dataclass

import ecs_collide as ec
from demos.app.boxes import WHITE, Boxes, Colour
from demos.app.scene import Look
from demos.app.sprites import Sprite
from ecs_collide import levels

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
THINGS = "hsC$<>ybYB"
LEVEL = levels.from_grid(
    ROWS, TILE, {"#": {"solid": True}} | {letter: letter for letter in THINGS}, key="dungeon"
)
WIDTH, HEIGHT = LEVEL.size
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


def create() -> int:
    """Create the walls and everything else that the drawing shows; return the hero."""
    made = LEVEL.create(dict.fromkeys(THINGS, lambda thing: components(thing.type)))
    return next(entity for thing, entity in made if thing.type == "h")


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
