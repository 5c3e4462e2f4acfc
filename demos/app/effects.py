"""What a hit looks and sounds like: particles, rings, flashes, shake, slow motion and sounds.

Effects never touch a body; slow motion alone makes the steps of the world shorter.  Nothing is
random: the directions of particles go around by the golden angle, so that a recording of a game
shows the same effects when it is played again.
"""

from __future__ import annotations

from math import cos, sin
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from demos.app.boxes import Boxes, Colour, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

GOLDEN = 2.399963229728653  # radians
SPREADS = (1.0, 0.45, 0.75, 0.6, 0.9)  # speeds of particles, compared with the fastest
MOST = 2000  # particles; the oldest go first
RINGS = 100
CALM = 6.0  # how fast a shake fades, in one second
DRAG = 3.0  # of particles
_ANGLES = np.linspace(0.0, 2 * np.pi, 72, endpoint=False)
CIRCLE = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)

PARTICLE = np.dtype(
    [
        ("place", np.float64, 2),
        ("half", np.float64, 2),
        ("velocity", np.float64, 2),
        ("pull", np.float64),
        ("age", np.float64),
        ("life", np.float64),
        ("shrinks", np.bool_),
        ("colour", np.uint8, 3),
    ]
)
RING = np.dtype(
    [
        ("place", np.float64, 2),
        ("radius", np.float64),
        ("age", np.float64),
        ("life", np.float64),
        ("colour", np.uint8, 3),
    ]
)


class Effects:
    """The effects of one scene, in its world units.

    Attributes
    ----------
    rate : float
        How fast the world goes: 1, or less in slow motion.
    sounds : set of str
        Names of the sounds that have begun and were not taken; see `demos.app.sounds`.
    """

    def __init__(self) -> None:
        self.rate = 1.0
        self.sounds: set[str] = set()
        self._slow = 0.0  # seconds of slow motion that are left
        self._shake = 0.0  # world units
        self._n = 0  # particles so far
        self._particles = np.zeros(0, PARTICLE)
        self._rings = np.zeros(0, RING)

    def burst(
        self,
        point: ArrayLike,
        colour: Colour,
        n: int = 10,
        speed: float = 200.0,
        *,
        size: float = 8.0,
        life: float = 0.5,
        towards: ArrayLike = (0.0, 0.0),
        pull: float = 0.0,
    ) -> None:
        """Throw particles from a point, around a direction, such as the normal of a collision."""
        new = np.zeros(n, PARTICLE)
        number = self._n + np.arange(n)
        self._n += n
        angle, spread = number * GOLDEN, np.array(SPREADS)[number % len(SPREADS)]
        ways = np.stack([np.cos(angle), np.sin(angle)], axis=1) + np.asarray(towards)[:2]
        new["place"], new["colour"] = np.asarray(point)[:2], colour
        new["pull"], new["shrinks"] = pull, True
        new["velocity"] = ways * speed * spread[:, None]
        new["half"] = size / 2 * spread[:, None]
        new["life"] = life * spread
        self._particles = np.concatenate([self._particles, new])[-MOST:]

    def flash(
        self,
        rect: Sequence[float],
        colour: Colour,
        life: float = 0.1,
        *,
        shrinks: bool = False,
    ) -> None:
        """Show a box (left, bottom, right, top) for a moment; one that shrinks leaves a trail."""
        new = np.zeros(1, PARTICLE)
        left, bottom, right, top = rect
        new["place"] = (left + right) / 2, (bottom + top) / 2
        new["half"] = (right - left) / 2, (top - bottom) / 2
        new["colour"], new["life"], new["shrinks"] = colour, life, shrinks
        self._particles = np.concatenate([self._particles, new])[-MOST:]

    def ring(self, point: ArrayLike, colour: Colour, radius: float, life: float = 0.35) -> None:
        """Let a circle grow around a point."""
        new = np.zeros(1, RING)
        new["place"], new["colour"] = np.asarray(point)[:2], colour
        new["radius"], new["life"] = radius, life
        self._rings = np.concatenate([self._rings, new])[-RINGS:]

    def shake(self, strength: float) -> None:
        """Shake the camera by so many world units, and calm down."""
        self._shake = max(self._shake, strength)

    def slow(self, rate: float, seconds: float) -> None:
        """Let the world go slower for a while."""
        self.rate, self._slow = rate, seconds

    def play(self, sound: str) -> None:
        """Play a sound, by its name."""
        self.sounds.add(sound)

    def take_sounds(self) -> set[str]:
        """Return the sounds that have begun since the last call."""
        taken, self.sounds = self.sounds, set()
        return taken

    def step(self, dt: float) -> None:
        """Advance by `dt` seconds of the player's time."""
        self._slow -= dt
        if self._slow <= 0:
            self.rate = 1.0
        self._shake *= max(1.0 - CALM * dt, 0.0)
        dt *= self.rate
        moving = self._particles
        moving["age"] += dt
        moving["velocity"][:, 1] -= moving["pull"] * dt
        moving["velocity"] *= 1.0 - DRAG * dt
        moving["place"] += moving["velocity"] * dt
        self._particles = moving[moving["age"] < moving["life"]]
        self._rings["age"] += dt
        self._rings = self._rings[self._rings["age"] < self._rings["life"]]

    def offset(self) -> tuple[float, float]:
        """Return how far the camera is shaken, in world units."""
        angle = self._n * GOLDEN + self._shake * 9.0
        return self._shake * cos(angle), self._shake * sin(angle)

    def boxes(self) -> Boxes:
        """Return the particles, flashes and rings."""
        dots, rings = self._particles, self._rings
        left = 1.0 - dots["age"] / dots["life"]
        half = dots["half"] * np.where(dots["shrinks"], left, 1.0)[:, None]
        rects = np.concatenate([dots["place"] - half, dots["place"] + half], axis=1)
        gone = (rings["age"] / rings["life"])[:, None, None]
        reach = rings["radius"][:, None, None]
        middles = (rings["place"][:, None] + reach * np.sqrt(gone) * CIRCLE).reshape(-1, 2)
        thick = np.repeat(reach * 0.06 * (1.0 - gone), len(CIRCLE), axis=1).reshape(-1, 1)
        around = np.concatenate([middles - thick, middles + thick], axis=1)
        colours = np.repeat(rings["colour"], len(CIRCLE), axis=0)
        return plain(rects, dots["colour"]).joined(plain(around, colours))
