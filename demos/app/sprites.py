"""The sprites of the small demos, by name; `demos/levels/make_sprites.py` draws them."""

from __future__ import annotations

from enum import IntEnum, auto

from demos.app.scene import SHEET, Sheet

SPRITES = Sheet(SHEET.path.with_name("sprites.png"), side=36)


class Sprite(IntEnum):
    """Numbers of tiles in `SPRITES`; some have two pictures, to walk or to fly."""

    PLAIN = 0
    HERO = auto()
    HERO_STEP = auto()
    BAT = auto()
    BAT_FLAP = auto()
    SLIME = auto()
    SLIME_SQUASH = auto()
    GHOST = auto()
    GEM = auto()
    ORB = auto()
    HEART = auto()
    CRATE = auto()
    DOOR = auto()
    DOOR_OPEN = auto()
    KEY = auto()
    ARROW = auto()
    TRAP = auto()
    WALL = auto()
    FLOOR = auto()
    STAR = auto()
    BRICK = auto()
    SHIP = auto()
    PACKET = auto()
    CHEST = auto()
