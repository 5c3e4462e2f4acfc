"""Draw `sprites.png` from the letters of `sprites.txt`: ``python demos/levels/make_sprites.py``.

Every sprite is 12 dots wide and drawn three times as large.  A drawing that is 6 letters wide is
its left half.  White and grey dots take the colour of the body.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

DOTS, SCALE, COLUMNS = 12, 3, 8
SOURCE = Path(__file__).with_name("sprites.txt")
COLOURS = {
    ".": "#00000000",
    "#": "#ffffff",
    "l": "#d2d2d2",
    "m": "#9b9b9b",
    "d": "#5a5a5a",
    "k": "#16141c",
    "s": "#f0bd93",
    "r": "#d8433f",
    "R": "#8f2b32",
    "b": "#3d63c8",
    "B": "#2a4384",
    "y": "#ffd94a",
    "Y": "#c98a1e",
    "n": "#b98a52",
    "N": "#7c5530",
    "u": "#54381f",
    "w": "#f4f0e0",
    "g": "#63b84a",
    "z": "#2b2a3a",
    "Z": "#343349",
    "q": "#565a78",
    "Q": "#43465f",
}


def drawings(source: Path = SOURCE) -> dict[str, list[str]]:
    """Return the rows of each drawing of a file of letters, by its name."""
    blocks = source.read_text("utf-8").strip().split("\n\n")
    return {name: rows for name, *rows in map(str.split, blocks)}


def dots(rows: list[str]) -> NDArray[np.uint8]:
    """Return a drawing, shape (12, 12, 4)."""
    rows = [row if len(row) == DOTS else row + row[::-1] for row in rows]
    return np.array([[list(_colour(dot)) for dot in row] for row in rows], np.uint8)


def sheet() -> Image.Image:
    """Return the picture of all sprites."""
    return joined([dots(rows) for rows in drawings().values()], SCALE, COLUMNS)


def joined(pictures: list[NDArray[np.uint8]], scale: int, columns: int) -> Image.Image:
    """Return a sheet of square pictures, each `scale` times as large, row by row.

    Around each is a border of one pixel that repeats its edge, so that a smoothed picture never
    shows a neighbour: the sheet has a margin of 1 and a spacing of 2.
    """
    side = len(pictures[0]) * scale + 2
    sheet = Image.new("RGBA", (columns * side, -(-len(pictures) // columns) * side))
    for number, picture in enumerate(pictures):
        large = picture.repeat(scale, axis=0).repeat(scale, axis=1)
        bordered = Image.fromarray(np.pad(large, ((1, 1), (1, 1), (0, 0)), mode="edge"))
        row, column = divmod(number, columns)
        sheet.paste(bordered, (column * side, row * side))
    return sheet


def _colour(dot: str) -> bytes:
    return bytes.fromhex(COLOURS[dot][1:].ljust(8, "f"))


if __name__ == "__main__":
    sheet().save(SOURCE.with_suffix(".png"), optimize=True)
