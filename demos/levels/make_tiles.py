"""Draw `tiles.png`, the picture of the platformer's tileset, from `tiles.txt` and by chance.

Run ``python -m demos.levels.make_tiles`` from the top of a checkout after a change of a drawing.
Every tile is 16 dots wide and shown twice as large.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from PIL import Image

from demos.levels.make_sprites import drawings, joined

DOTS = 16  # of a tile's side
SCALE = 2  # pixels a dot
COLUMNS = 8
SOURCE = Path(__file__).with_name("tiles.txt")

COLOURS = """
    .:00000000 #:ffffff k:1d1a24 o:3b2a2f h:6b3b2a H:8a5136 s:f0bd93 S:d69a72 r:d8433f R:a82f36
    b:3d59a8 B:2c3f7c y:ffd94a Y:e0a020 w:fff6c0 g:63b84a G:3f8f3d l:8fd85f d:8a5d3b D:6f4830
    e:a57449 m:c9d2dc M:8c98a8 n:5b6675 N:3c4552 t:b98a52 T:8f6538 u:6b4726 c:f4f8ff C:d5e4f5
    p:e870a0 v:7d6ad0 x:ff9c3c q:7fb6b4 Q:6ca6a6 z:3a3547 Z:453f55 i:2f2b3b
    a:3f86d8 A:4a93e2 j:6fb4f0
"""
CODES = dict(pair.split(":") for pair in COLOURS.split())


def drawn(rows: list[str]) -> np.ndarray:
    """Return a drawing as dots, uint8, shape (16, 16, 4)."""
    if len(rows) != DOTS or any(len(row) != DOTS for row in rows):
        raise ValueError(f"a tile is {DOTS} rows of {DOTS} dots, got {[len(row) for row in rows]}")
    return np.array([[dot(letter) for letter in row] for row in rows], dtype=np.uint8)


def dot(letter: str) -> tuple[int, int, int, int]:
    """Return the colour of one dot."""
    red, green, blue, alpha = bytes.fromhex(CODES[letter].ljust(8, "f"))
    return red, green, blue, alpha


def speckled(letters: str, shares: tuple[float, ...], seed: int) -> np.ndarray:
    """Return a field of dots in random colours."""
    chance = random.Random(seed)
    return np.array(
        [[dot(c) for c in chance.choices(letters, shares, k=DOTS)] for _ in range(DOTS)],
        dtype=np.uint8,
    )


def earth(seed: int) -> np.ndarray:
    """Return dirt with a few stones."""
    dots = speckled("dDe", (10, 1.2, 1), seed)
    chance = random.Random(seed)
    for _ in range(2):
        x, y = chance.randrange(1, 12), chance.randrange(5, 13)
        dots[y : y + 2, x : x + 3] = dot("e")
        dots[y + 2, x : x + 3] = dot("D")
    return dots


def grass(dots: np.ndarray, seed: int) -> np.ndarray:
    """Return a tile of earth with grass on it."""
    chance = random.Random(seed)
    for x in range(DOTS):
        depth = chance.choice((3, 4, 4, 5, 6))
        dots[:depth, x] = dot("g")
        dots[depth - 1, x] = dot("G")
        dots[0, x] = dot("l")
        if chance.random() < 0.4:
            dots[1, x] = dot("l")
    return dots


def shaded(dots: np.ndarray, left: bool = False, right: bool = False) -> np.ndarray:
    """Return a tile with dark edges."""
    for x, wanted in ((0, left), (DOTS - 1, right)):
        if wanted:
            dots[:, x, :3] = dots[:, x, :3] * 0.55
    return dots


def bricks(face: str, light: str, joint: str, seed: int) -> np.ndarray:
    """Return four courses of bricks."""
    dots = speckled(face + light, (6, 1), seed)
    for y in range(0, DOTS, 4):
        dots[y + 3] = dot(joint)
        dots[y, :] = dot(light)
        for x in range(0 if y % 8 else 4, DOTS, 8):
            dots[y : y + 4, (x + 3) % DOTS] = dot(joint)
    return dots


def planks() -> np.ndarray:
    """Return a wooden platform, thick in the upper half."""
    dots = np.zeros((DOTS, DOTS, 4), dtype=np.uint8)
    dots[0:1], dots[1:4], dots[4:5], dots[5:7], dots[7:8] = map(dot, "etTtu")
    dots[1:7, 7::8] = dot("u")
    dots[8:10, 2:4] = dots[8:10, 12:14] = dot("u")
    return dots


def hill(left: bool = False, right: bool = False) -> np.ndarray:
    """Return a piece of the far hills: all of it, or half below a slope."""
    dots = speckled("qQ", (9, 1), 5)
    y, x = np.mgrid[:DOTS, :DOTS]
    if left:
        dots[x + y < DOTS - 1] = 0
    if right:
        dots[y < x] = 0
    return dots


def water(has_surface: bool) -> np.ndarray:
    """Return water, with light waves on it at its surface."""
    dots = speckled("aA", (12, 1), 6)
    if has_surface:
        dots[:2] = 0
        dots[2:4] = dot("c")
        dots[1, 1:6] = dots[1, 9:13] = dot("c")
        dots[3, 3:8] = dots[3, 11:15] = dot("j")
        dots[4] = dot("j")
    return dots


def tiles() -> list[np.ndarray]:
    """Return all tiles in the order of their ids."""
    known = {name: drawn(rows) for name, rows in drawings(SOURCE).items()}

    def named(names: str) -> list[np.ndarray]:
        return [known[name] for name in names.split()]

    return [
        np.full((DOTS, DOTS, 4), 255, np.uint8),
        grass(earth(1), 1),
        grass(shaded(earth(2), left=True), 2),
        grass(shaded(earth(3), right=True), 3),
        earth(4),
        shaded(earth(5), left=True),
        shaded(earth(6), right=True),
        earth(7),
        bricks("M", "m", "n", 8),
        bricks("n", "M", "N", 9),
        bricks("z", "Z", "i", 10),
        planks(),
        *named("crate coin coin_turned spikes lift gun player player_run player_jump flag"),
        *named("bush flowers tall_grass cloud_left cloud"),
        known["cloud_left"][:, ::-1],
        *named("target"),
        hill(),
        hill(left=True),
        hill(right=True),
        *named("sign lantern"),
        grass(shaded(earth(11), left=True, right=True), 11),
        shaded(earth(12), left=True, right=True),
        *named("slope slope_low slope_high ladder"),
        water(has_surface=True),
        water(has_surface=False),
        *named("brick bat bat_flap climber"),
    ]


def sheet() -> Image.Image:
    """Return the picture of all tiles."""
    return joined(tiles(), SCALE, COLUMNS)


if __name__ == "__main__":
    sheet().save(SOURCE.with_suffix(".png"), optimize=True)
