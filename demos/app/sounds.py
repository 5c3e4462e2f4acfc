"""Sounds that numpy makes: short tones and bursts of noise, for pyglet's player."""

from __future__ import annotations

import io
import wave
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RATE = 22_050  # samples a second
LOUDEST = 0.25  # of the range: several sounds may play at once
EDGE = 0.004  # seconds in which a sound fades in


class Sound(NamedTuple):
    """A tone that slides from one pitch to another, mixed with noise, and fades out."""

    start: float  # Hz
    end: float
    seconds: float
    noise: float = 0.0  # its share, 0 to 1
    square: bool = False


SOUNDS = {
    "bounce": Sound(320, 260, 0.06, square=True),
    "boom": Sound(120, 40, 0.45, noise=0.8),
    "break": Sound(700, 300, 0.10, noise=0.4),
    "coin": Sound(900, 1500, 0.12),
    "door": Sound(140, 220, 0.30, square=True),
    "hit": Sound(200, 90, 0.12, noise=0.6),
    "jump": Sound(240, 520, 0.12, square=True),
    "land": Sound(110, 70, 0.08, noise=0.3),
    "lose": Sound(400, 80, 0.50, square=True),
    "shoot": Sound(1100, 200, 0.08, noise=0.2, square=True),
    "splash": Sound(500, 120, 0.20, noise=0.9),
    "win": Sound(500, 1000, 0.40),
}


def samples(sound: Sound) -> NDArray[np.int16]:
    """Return the samples of a sound, the same in every run."""
    n = round(sound.seconds * RATE)
    share = np.arange(n) / n
    pitch = sound.start * (sound.end / sound.start) ** share
    tone = np.sin(2 * np.pi * np.cumsum(pitch) / RATE)
    if sound.square:
        tone = 0.6 * np.sign(tone)
    noise = np.random.default_rng(0).uniform(-1.0, 1.0, n)
    fades = np.minimum(np.arange(n) / (EDGE * RATE), 1.0) * (1.0 - share) ** 2
    mixed = (1.0 - sound.noise) * tone + sound.noise * noise
    return np.rint(32_767 * LOUDEST * fades * mixed).astype(np.int16)


def wav(name: str) -> bytes:
    """Return a sound as the content of a file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(samples(SOUNDS[name]).astype("<i2").tobytes())
    return file.getvalue()


class Speaker:
    """A player of sounds.  Where nothing can be heard it switches itself off.

    Attributes
    ----------
    is_on : bool
    """

    def __init__(self, is_on: bool = True) -> None:
        self.is_on = is_on
        self._sources: dict[str, Any] = {}

    def play(self, names: set[str]) -> None:
        """Begin sounds, each once."""
        if not self.is_on:
            return
        try:
            for name in sorted(names):
                self._source(name).play()
        except Exception:  # of a different class on every platform: no device, no driver
            self.is_on = False

    def _source(self, name: str) -> Any:
        if name not in self._sources:
            from pyglet import media

            file = io.BytesIO(wav(name))
            self._sources[name] = media.load(f"{name}.wav", file=file, streaming=False)
        return self._sources[name]
