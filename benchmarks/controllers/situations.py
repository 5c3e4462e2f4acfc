"""Situations, each with a world and a number that says what a controller makes of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from benchmarks.controllers.worlds import Box, Controller, Frame, Speed, World, play, player

FLOOR = Box(-400, -20, 2000, 20)
ONE_WAY, CRATES, PLAYERS, RAMPS = (
    frozenset({word}) for word in ("one-way", "crates", "players", "ramps")
)
SETTLED = 10  # frames that every controller may take to come to rest


class Situation(NamedTuple):
    name: str
    unit: str
    measure: Callable[[type[Controller]], float]
    needs: frozenset[str] = frozenset()


def riding(speed: Speed, feet: float = 0.0, seconds: float = 2.0) -> World:
    lift = Box(-60, feet - 10, 120, 10)
    return World([player(0, feet)], movers=[(lift, speed)], seconds=seconds)


def gap(frames: list[Frame]) -> float:
    return max(abs(frame.players[0].y - frame.movers[0].top) for frame in frames[SETTLED:])


def slip(frames: list[Frame]) -> float:
    ways = [frame.players[0].x - frame.movers[0].x for frame in frames]
    return max(abs(way - ways[0]) for way in ways)


def slip_of_feet(frames: list[Frame]) -> float:
    return max(abs(frame.players[0].x - frames[0].players[0].x) for frame in frames)


def lost(frames: list[Frame]) -> float:
    return sum(not frame.stands for frame in frames[SETTLED:])


def of(world: World, number: Callable[[list[Frame]], float]) -> Callable[[type[Controller]], float]:
    return lambda kind: number(play(kind, world))


def circle(time: float) -> tuple[float, float]:
    """Return the speed on a circle of radius 40, with 80 pixels per second."""
    return 80 * math.cos(2 * time), 80 * math.sin(2 * time)


def jump_height(kind: type[Controller], hz: int) -> float:
    world = World(
        [player(0, 0)], [FLOOR], inputs=lambda time: (0, 0.25 <= time < 0.75), hz=hz, seconds=1
    )
    return max(frame.players[0].y for frame in play(kind, world))


def crushed(frames: list[Frame]) -> float:
    """Return how deep the player is in the ceiling, or how far from the lift."""
    hero, lift = frames[-1].players[0], frames[-1].movers[0]
    return max(hero.depth(CEILING), abs(lift.top - hero.y))


def walking(*walls: Box, **more: object) -> World:
    world = World([player(0, 0)], walls, inputs=lambda time: (1, False), seconds=1)
    return replace(world, **more)


TILES = [Box(20 * n - 60, -20, 20, 20) for n in range(12)]
PRESSED = World(
    [player(0, 0)], [Box(6, -20 * n - 20, 20, 20) for n in range(-3, 30)],
    inputs=lambda time: (1, False), seconds=1,
)  # fmt: skip
RAMP = Box(0, 0, 240, 120)
CEILING = Box(-60, 60, 120, 20)
PUSHED_CRATE = Box(10, 0, 16, 16)

SITUATIONS = [
    Situation("Lift up, 60/s", "gap", of(riding(lambda time: (0, 60)), gap)),
    Situation("Lift up, 300/s", "gap", of(riding(lambda time: (0, 300)), gap)),
    Situation("Lift down, 60/s", "gap", of(riding(lambda time: (0, -60), 600), gap)),
    Situation("Lift down, 300/s", "gap", of(riding(lambda time: (0, -300), 700), gap)),
    Situation("Lift down, 300/s", "lost", of(riding(lambda time: (0, -300), 700), lost)),
    Situation("Lift sideways, 120/s", "slip", of(riding(lambda time: (120, 0)), slip)),
    Situation("Lift on a circle, 80/s", "gap", of(riding(circle, 200), gap)),
    Situation(
        "Lift turns from up to down, 200/s", "lost",
        of(riding(lambda time: (0, 200 if time < 1 else -200), 300), lost),
    ),
    Situation(
        "Jump off a lift sideways, 120/s", "speed kept, %",
        of(
            replace(riding(lambda time: (120, 0), 300, 0.75),
                    inputs=lambda time: (0, 0.4 < time < 0.6)),
            lambda frames: (frames[-1].players[0].x - frames[-2].players[0].x) / 0.02,
        ),
    ),
    Situation(
        "Walk over the seams of 12 tiles", "way, %",
        of(walking(*TILES), lambda frames: (frames[-1].players[0].x + 6) / 1.2),
    ),
    Situation(
        "Fall along the seams of a wall, pressed to it", "way, %",
        of(PRESSED, lambda frames: -frames[-1].players[0].y / 4.5),
    ),
    Situation(
        "Walk onto a step of 4", "way, %",
        of(walking(FLOOR, Box(40, 0, 200, 4)), lambda frames: (frames[-1].players[0].x + 6) / 1.2),
    ),
    Situation(
        "Jump through a one-way platform from below", "gap",
        of(
            World([player(0, 0)], [FLOOR], [Box(-40, 45, 80, 5)],
                  inputs=lambda time: (0, 0.2 < time < 0.7), seconds=1.5),
            lambda frames: abs(frames[-1].players[0].y - 50),
        ), ONE_WAY,
    ),
    Situation(
        "Fall at 3,000/s onto a floor of 4", "depth",
        of(World([player(0, 300)], [Box(-60, -4, 120, 4)], falling=3000, seconds=1),
           lambda frames: max(0.0, -min(frame.players[0].y for frame in frames))),
    ),
    Situation(
        "Dash at 6,000/s into a wall of 4", "depth",
        of(walking(FLOOR, Box(206, 0, 4, 100), walk_speed=6000, seconds=0.2),
           lambda frames: max(0.0, max(frame.players[0].x for frame in frames) - 194)),
    ),
    Situation(
        "Push a crate off a ledge", "way, %",
        of(walking(Box(-60, -20, 120, 20), crates=[PUSHED_CRATE], seconds=0.5),
           lambda frames: (frames[-1].players[0].x + 6) / 0.6), CRATES,
    ),
    Situation(
        "Lift crushes against a ceiling, 60/s", "depth",
        of(replace(riding(lambda time: (0, 60), 0, 0.75), walls=[CEILING]), crushed),
    ),
    Situation(
        "Wall pushes sideways, 120/s", "gap",
        of(World([player(0, 0)], [FLOOR], movers=[(Box(-60, 1, 40, 40), lambda time: (120, 0))],
                 seconds=0.5),
           lambda frames: abs(frames[-1].players[0].x - frames[-1].movers[0].right)),
    ),
    Situation(
        "Stand on a player who walks", "slip",
        of(World([player(0, 0), player(0, 20)], [FLOOR], inputs=lambda time: (1, False), seconds=1),
           lambda frames: max(abs(f.players[0].x - f.players[1].x) for f in frames)), PLAYERS,
    ),
    Situation(
        "Jump at 30 and at 120 steps a second", "difference",
        lambda kind: abs(jump_height(kind, 30) - jump_height(kind, 120)),
    ),
    Situation(
        "Stand on a slope of 1 in 2", "slip",
        of(World([player(120, 63)], ramps=[RAMP]), lambda frames: slip_of_feet(frames[SETTLED:])),
        RAMPS,
    ),
    Situation(
        "Walk up a slope of 1 in 2", "way, %",
        of(World([player(20, 13)], ramps=[RAMP], inputs=lambda time: (1, False), seconds=1.5),
           lambda frames: (frames[-1].players[0].x - 14) / 1.8), RAMPS,
    ),
    Situation(
        "Walk down a slope of 1 in 2", "lost",
        of(World([player(220, 113)], ramps=[RAMP], inputs=lambda time: (-1, False), seconds=1.5),
           lost), RAMPS,
    ),
]  # fmt: skip


def measure(kind: type[Controller]) -> list[str]:
    """Return the number of each situation as the page writes it; a dash for what is not offered."""
    return [
        written(situation.measure(kind)) if situation.needs <= kind.offers else "-"
        for situation in SITUATIONS
    ]


def written(number: float) -> str:
    return f"{float(f'{number:.2g}'):,g}" if number >= 0.005 else "0"
