"""Worlds for controllers of any library: boxes, what moves them, and a player with two inputs.

Units are pixels and seconds, y grows upwards, and a box is left, bottom, width and height.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

GRAVITY, JUMP = 900.0, 360.0  # a jump is 72 pixels high, and takes 0.8 seconds
PLAYER = (12.0, 20.0)


class Box(NamedTuple):
    x: float
    y: float
    wide: float
    high: float

    @property
    def right(self) -> float:
        return self.x + self.wide

    @property
    def top(self) -> float:
        return self.y + self.high

    def moved(self, x: float, y: float) -> Box:
        return Box(self.x + x, self.y + y, self.wide, self.high)

    def depth(self, other: Box) -> float:
        """Return how deep two boxes overlap, 0 if they do not."""
        across = min(self.right, other.right) - max(self.x, other.x)
        up = min(self.top, other.top) - max(self.y, other.y)
        return max(0.0, min(across, up))


def player(x: float, feet: float) -> Box:
    """Return a player's box by the middle of its feet."""
    return Box(x - PLAYER[0] / 2, feet, *PLAYER)


Speed = Callable[[float], tuple[float, float]]
Inputs = Callable[[float], tuple[float, bool]]


@dataclass
class World:
    """What a controller has to move in: the first player gets the inputs, by the time."""

    players: Sequence[Box]
    walls: Sequence[Box] = ()
    one_ways: Sequence[Box] = ()
    movers: Sequence[tuple[Box, Speed]] = ()
    crates: Sequence[Box] = ()
    ramps: Sequence[Box] = ()  # solid below the line from the lower left to the upper right corner
    inputs: Inputs = lambda time: (0.0, False)
    walk_speed: float = 120.0
    falling: float = 0.0  # the speed at which the player begins
    seconds: float = 2.0
    hz: int = 60
    needs: frozenset[str] = field(default_factory=frozenset)


class Controller(Protocol):
    """A library's controller in a world; `offers` are the needs that it can satisfy."""

    offers: frozenset[str]

    def __init__(self, world: World) -> None: ...

    def step(self, time: float, dt: float, walk: float, jump: bool) -> None: ...

    def boxes(self) -> tuple[list[Box], list[Box], list[Box]]:
        """Return the players, the movers and the crates."""
        ...

    def stands(self) -> bool:
        """Return whether the first player stands on something, as the library says."""
        ...


class Frame(NamedTuple):
    players: list[Box]
    movers: list[Box]
    crates: list[Box]
    stands: bool


def play(kind: type[Controller], world: World) -> list[Frame]:
    """Return the frames of a world, from its beginning."""
    controller = kind(world)
    dt = 1 / world.hz
    frames = [Frame(*controller.boxes(), True)]
    for n in range(round(world.seconds * world.hz)):
        controller.step(n * dt, dt, *world.inputs(n * dt))
        frames.append(Frame(*controller.boxes(), controller.stands()))
    return frames
