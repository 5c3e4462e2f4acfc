"""One step of a falling box between a floor and a ceiling, in exact fractions.

Written from the rules of `docs/gravity.md`, not from the kernels.  Floor and ceiling may move, as
lifts do.  Only the axis along gravity is looked at: the others are swept as without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from tests.exact.damping import left_after

HALF = Fraction(1, 2)
MOST_RESOLUTIONS = 64


class Met(NamedTuple):
    """An impact: when, with which velocity, and whether it was with the floor."""

    time: Fraction
    velocity: Fraction
    is_floor: bool


@dataclass
class Falling:
    """A box at the start of a step.

    Attributes
    ----------
    low, high : its faces
    velocity : per second
    acceleration : of gravity
    restitution : 0 to 1
    floor, ceiling : the faces that it may meet
    floor_velocity, ceiling_velocity : per second
    damping : until the first impact
    """

    low: Fraction
    high: Fraction
    velocity: Fraction
    acceleration: Fraction
    restitution: Fraction
    floor: Fraction
    floor_velocity: Fraction
    ceiling: Fraction
    ceiling_velocity: Fraction
    damping: Fraction = Fraction(0)

    def step(self, dt: Fraction) -> list[Met]:
        """Take a step of `dt` seconds; return what was met."""
        now = Fraction(0)
        met: list[Met] = []
        velocity, is_held = self.velocity, False
        pull = self.acceleration
        for _ in range(MOST_RESOLUTIONS):
            rest = (1 - now) * dt
            kick = Fraction(0) if is_held else self.acceleration * rest * HALF
            chord = velocity + kick
            if self.damping and now == 0 and not met:
                last, chord = self._damped(dt)
                pull, kick = (last - velocity) / dt, last - chord
            below, above = self.low - self.floor, self.ceiling - self.high
            down, up = self.floor_velocity - chord, chord - self.ceiling_velocity
            times = []
            if down > 0 and below < down * rest:
                times.append((below / down, True))
            if up > 0 and above < up * rest:
                times.append((above / up, False))
            if not times:
                self._travel(chord, rest)
                self.velocity = chord + kick
                return met
            wait, is_floor = min(times)
            self._travel(chord, wait)
            now += wait / dt
            if not is_held:
                velocity += pull * wait
            pull = self.acceleration
            velocity, is_held = self._resolve(velocity, (1 - now) * dt, is_floor, met, now)
        raise AssertionError("too many impacts in one step")

    def _damped(self, dt: Fraction) -> tuple[Fraction, Fraction]:
        """Return the velocity at the end of a step, and the mean, of v' = a - damping · v."""
        terminal = self.acceleration / self.damping
        off = self.velocity - terminal
        left = left_after(self.damping * dt)
        return terminal + off * left, terminal + off * (1 - left) / (self.damping * dt)

    def _travel(self, chord: Fraction, seconds: Fraction) -> None:
        self.low += chord * seconds
        self.high += chord * seconds
        self.floor += self.floor_velocity * seconds
        self.ceiling += self.ceiling_velocity * seconds

    def _resolve(
        self, velocity: Fraction, rest: Fraction, is_floor: bool, met: list[Met], now: Fraction
    ) -> tuple[Fraction, bool]:
        """Return the velocity of the instant after an impact, and whether the box is held then."""
        met.append(Met(now, velocity, is_floor))
        partner = self.floor_velocity if is_floor else self.ceiling_velocity
        away = 1 if is_floor else -1
        closing = (partner - velocity) * away
        # The chord leads into a ceiling even when the parabola has turned back before it.
        after = partner + away * self.restitution * closing if closing > 0 else velocity
        chord = after + self.acceleration * rest * HALF
        if (chord - partner) * away > 0:
            return after, False
        return partner, True
