"""Scenes in which many bodies press on each other, described without an engine.

Each scene is boxes, walls, and a function that says which velocity each box
wants, so that a test, a benchmark or another engine can build it.  Boxes are 12
units wide, if the scene does not say more, and walk at 60 units a second, as
enemies in a top-down game do.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import esper

import ecs_collide as ec

DT = 1 / 60  # seconds
SPEED = 60.0  # units a second
HALF = 6.0  # units
GRAVITY = 900.0  # units a second, each second

Point = tuple[float, float]
Steer = Callable[[float, int, Point], Point]


class Kind(NamedTuple):
    """What a box is: its half sizes, its mass, and the name of its response in `RESPONSES`."""

    width: float = HALF
    height: float = HALF
    mass: float = 1.0
    response: str = "Slide"


BOUNCE = 0.5  # the restitution of `Deflect`
RESPONSES: dict[str, Callable[[], object]] = {
    "Slide": ec.Slide,
    "Deflect": lambda: ec.Deflect(BOUNCE),
    "Stop": ec.Stop,
    "Push": ec.Push,
}


@dataclass
class Pressing:
    """A scene.

    Attributes
    ----------
    boxes : list of (x, y)
        The centres of the boxes.
    steer : function or None
        From the time in seconds, the number of a box and its centre to the
        velocity that it wants; with None the boxes fall.
    walls : list of (x, y, half width, half height)
    aloof : int
        So many of the boxes, the first ones, ignore each other.
    kinds : list of Kind
        What each box is; empty if all are `Kind()`.
    sleeps : bool
        Whether a benchmark lets boxes sleep, in all engines.
    """

    boxes: list[Point]
    steer: Steer | None
    walls: list[tuple[float, float, float, float]] = field(default_factory=list)
    aloof: int = 0
    kinds: list[Kind] = field(default_factory=list)
    sleeps: bool = False

    def kind(self, i: int) -> Kind:
        """Return what a box is."""
        return self.kinds[i] if self.kinds else Kind()


def towards(target: Point, place: Point) -> Point:
    """Return the velocity of a box that walks from its place to a target."""
    way = (target[0] - place[0], target[1] - place[1])
    far = math.hypot(*way)
    return (way[0] / far * SPEED, way[1] / far * SPEED) if far > 1e-9 else (0.0, 0.0)


def _spread(n: int, pitch: float, wobble: float, up: float = 0.0) -> list[Point]:
    rng = random.Random(1)
    side = math.ceil(math.sqrt(n))
    return [
        (
            (i % side - (side - 1) / 2) * pitch + rng.uniform(-wobble, wobble),
            (i // side) * pitch + up + rng.uniform(-wobble, wobble),
        )
        for i in range(n)
    ]


def swarm(n: int) -> Pressing:
    """All walk to one point."""
    middle = (0.0, math.ceil(math.sqrt(n)) * 9.0)
    return Pressing(_spread(n, 19.0, 3.0), lambda _, __, place: towards(middle, place))


def chase(n: int) -> Pressing:
    """All walk to a point that goes round in a circle."""

    def steer(t: float, _: int, place: Point) -> Point:
        return towards((80 * math.cos(t), 80 * math.sin(t)), place)

    return Pressing(_spread(n, 19.0, 3.0), steer)


def rows(n: int) -> Pressing:
    """Two rows press against each other."""
    left = n // 2
    boxes = [(2 * HALF * (k - left), 0.0) for k in range(n)]
    return Pressing(boxes, lambda _, i, __: (SPEED if i < left else -SPEED, 0.0))


def flows(n: int) -> Pressing:
    """Two halves of a crowd walk against each other along a corridor."""
    side = math.ceil(math.sqrt(n))
    rng = random.Random(1)
    boxes = []
    for i in range(n):
        rank, file = divmod(i // 2, side)
        x, y = rank * 19.0 + 60.0, (file - (side - 1) / 2) * 19.0
        boxes.append(((x if i % 2 else -x) + rng.uniform(-3, 3), y + rng.uniform(-3, 3)))
    walls = [(0.0, sign * (side * 9.5 + 30.0), 4000.0, 20.0) for sign in (-1, 1)]
    return Pressing(boxes, lambda _, i, __: (-SPEED if i % 2 else SPEED, 0.0), walls)


def mixed(n: int) -> Pressing:
    """Boxes of several sizes, masses and responses walk to one point."""
    rng = random.Random(1)
    kinds = [
        Kind(
            rng.choice([3.0, 6.0, 10.0]),
            rng.choice([3.0, 6.0, 10.0]),
            rng.choice([1.0, 2.0, 5.0, 20.0]),
            rng.choice(list(RESPONSES)),
        )
        for _ in range(n)
    ]
    middle = (0.0, math.ceil(math.sqrt(n)) * 13.0)
    return Pressing(_spread(n, 27.0, 3.0), lambda _, __, place: towards(middle, place), kinds=kinds)


def jam(n: int) -> Pressing:
    """All walk down a corridor that narrows to a third."""
    width = math.ceil(math.sqrt(n)) * 7.0 + 10.0
    walls = [(-width - 20, 400.0, 20.0, 1000.0), (width + 20, 400.0, 20.0, 1000.0)]
    for k in range(12):
        ledge = width * (k + 1) / 18
        for side in (-1, 1):
            walls.append((side * (width - ledge), -12.0 * k - HALF, ledge, HALF))
    return Pressing(_spread(n, 14.0, 0.9, up=20.0), lambda _, __, ___: (0.0, -SPEED), walls)


def heap(n: int) -> Pressing:
    """Crates fall into a pit."""
    width = math.ceil(math.sqrt(n)) * 7.0 + 4.0
    walls = [
        (-width - 20, 400.0, 20.0, 2000.0),
        (width + 20, 400.0, 20.0, 2000.0),
        (0.0, -20.0, width + 40, 20.0),
    ]
    return Pressing(_spread(n, 14.0, 0.9, up=10.0), None, walls)


def one_against_many(n: int) -> Pressing:
    """All but one ignore each other, walk to that one from a ring, and press on it."""
    boxes = [
        ((24 + 0.05 * i) * math.cos(i * 2.4), (24 + 0.05 * i) * math.sin(i * 2.4))
        for i in range(n - 1)
    ]

    def steer(_: float, i: int, place: Point) -> Point:
        return (0.0, 0.0) if i == n - 1 else towards((0.0, 0.0), place)

    return Pressing([*boxes, (0.0, 0.0)], steer, aloof=n - 1)


SCENES = {
    "swarm": swarm,
    "chase": chase,
    "mixed": mixed,
    "rows": rows,
    "flows": flows,
    "jam": jam,
    "heap": heap,
    "one against many": one_against_many,
}


class Crowd:
    """A scene in the current esper world.  A `response` replaces that of each box."""

    def __init__(self, scene: Pressing, response: Callable[[], object] | None = None) -> None:
        self.scene = scene
        self.time = 0.0
        self.places = [ec.Position(x, y) for x, y in scene.boxes]
        self.velocities = [ec.Velocity(0, 0) for _ in scene.boxes]
        for i, place in enumerate(self.places):
            kind = scene.kind(i)
            own = [ec.Extents(kind.width, kind.height), (response or RESPONSES[kind.response])()]
            if scene.kinds:
                own.append(ec.Mass(kind.mass))
            if i < scene.aloof:
                own.append(ec.Filter(group=-1))
            esper.create_entity(place, self.velocities[i], *own)
        for x, y, width, height in scene.walls:
            esper.create_entity(ec.Position(x, y), ec.Extents(width, height))

    def walk(self) -> None:
        """Set the velocities of the next step, and take it."""
        self.steer()
        esper.process(DT)

    def steer(self) -> None:
        """Set the velocities of the next step."""
        for i, (place, velocity) in enumerate(zip(self.places, self.velocities, strict=True)):
            if self.scene.steer is None:
                velocity.y -= GRAVITY * DT
            else:
                velocity.set(*self.scene.steer(self.time, i, (place.x, place.y)))
        self.time += DT
