"""More scenes in which many bodies press on each other, built for this library.

Those of `tests.pressing` are plain boxes that any engine could hold.  Here are sizes and masses,
other responses, growth, three dimensions, walls that move and worlds that wrap.  Each function
builds a scene of `n` bodies in the current esper world, installs a space, and returns it with a
function that takes a step.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable

import esper

import ecs_collide as ec
from tests.pressing import DT, GRAVITY, HALF, SPEED
from tests.random_worlds import Draw

Built = tuple[ec.Space, Callable[[], None]]
Places = list[tuple[ec.Position, ec.Velocity]]


def make(
    centre: Iterable[float], half: Iterable[float], *parts: object
) -> tuple[ec.Position, ec.Velocity]:
    """Create a body that moves, and return its place and its velocity."""
    centre = tuple(centre)
    place, velocity = ec.Position(*centre), ec.Velocity(*(0.0,) * len(centre))
    esper.create_entity(place, velocity, ec.Extents(*half), *parts)
    return place, velocity


def wall(centre: Iterable[float], half: Iterable[float], *parts: object) -> None:
    """Create a body without a response."""
    esper.create_entity(ec.Position(*centre), ec.Extents(*half), *parts)


def spread(n: int, dim: int, pitch: float, wobble: float, seed: int = 1) -> list[list[float]]:
    """Return places in a square or a cube around the origin, each off by at most `wobble`."""
    rng = random.Random(seed)
    side = math.ceil(n ** (1 / dim) - 1e-9)
    return [
        [
            (i // side**k % side - (side - 1) / 2) * pitch + rng.uniform(-wobble, wobble)
            for k in range(dim)
        ]
        for i in range(n)
    ]


def walk_to(target: Iterable[float], bodies: Places) -> None:
    """Let bodies walk to a point."""
    target = tuple(target)
    for place, velocity in bodies:
        way = [goal - at for goal, at in zip(target, place.xyz, strict=False)]
        far = math.sqrt(sum(part * part for part in way)) or 1.0
        velocity.set(*(part / far * SPEED for part in way))


def stepping(space: ec.Space, steer: Callable[[], None]) -> Built:
    """Return a space, and a function that steers and takes a step."""

    def step() -> None:
        steer()
        esper.process(DT)

    return space, step


def swarm_in_3d(n: int) -> Built:
    """All walk to one point."""
    bodies = [make(at, (HALF,) * 3, ec.Slide()) for at in spread(n, 3, 16.0, 1.5)]
    return stepping(ec.install(dim=3), lambda: walk_to((0, 0, 0), bodies))


def robots(n: int) -> Built:
    """Boxes on a floor in 3D walk to goals of their own across the middle, and block each other."""
    wall((0, -1, 0), (4000, 1, 4000))
    side = math.ceil(math.sqrt(n)) * 16.0
    rng = random.Random(2)
    bodies, goals = [], []
    for x, z in spread(n, 2, 16.0, 1.5):
        bodies.append(make((x, HALF, z), (HALF,) * 3, ec.Slide()))
        goals.append((rng.uniform(-side, side) / 2, HALF, rng.uniform(-side, side) / 2))

    def steer() -> None:
        for body, goal in zip(bodies, goals, strict=True):
            walk_to(goal, [body])
            body[1].y = -GRAVITY * DT

    return stepping(ec.install(dim=3), steer)


def explosion(n: int) -> Built:
    """Pieces that bounce are created inside each other, and fly apart."""
    rng = random.Random(3)
    for i in range(n):
        angle, speed = i * 2.4, rng.uniform(20, 200)
        far = math.sqrt(i) * 0.6
        _, velocity = make((far * math.cos(angle), far * math.sin(angle)), (2, 2), ec.Deflect(0.6))
        velocity.set(speed * math.cos(angle), speed * math.sin(angle))
    return stepping(ec.install(), lambda: None)


def train(n: int) -> Built:
    """A heavy body pushes a row of light ones."""
    pusher = make((-40, 0), (HALF, HALF), ec.Slide(), ec.Mass(1000))
    for i in range(n):
        make((i * 12.5, 0), (HALF, HALF), ec.Slide())
    return stepping(ec.install(), lambda: pusher[1].set(SPEED, 0))


def roof(n: int) -> Built:
    """Crates land on the two sides of a stepped roof and slide off."""
    width = math.ceil(math.sqrt(n)) * 7.0
    for k in range(12):
        wall((0, -k * 12.0), (width * (k + 1) / 16, HALF))
    bodies = [
        make((x, y + width + 20), (HALF, HALF), ec.Slide(), ec.Friction(0.1))
        for x, y in spread(n, 2, 14.0, 0.9)
    ]

    def steer() -> None:
        for place, velocity in bodies:
            velocity.set(velocity.x + math.copysign(120 * DT, place.x), velocity.y - GRAVITY * DT)

    return stepping(ec.install(), steer)


def growing_lattice(n: int) -> Built:
    """Boxes in rows grow until they touch, and go on."""
    for at in spread(n, 2, 14.0, 0.3):
        make(at, (4, 4), ec.Slide(), ec.Growth(3, 3))
    return stepping(ec.install(), lambda: None)


def mixed(n: int) -> Built:
    """Boxes of many sizes, with all components that there are, walk to one point."""
    draw = Draw(random.Random(6), without={ec.Growth: "room", ec.Fixed: "walkers"}, speed=SPEED)
    bodies = []
    for at in spread(n, 2, 20.0, 1.0):
        place, velocity = ec.Position(*at), ec.Velocity(0.0, 0.0)
        size = ec.Extents(draw.rng.uniform(2, 9), draw.rng.uniform(2, 9))
        draw.body(place, size, velocity)
        bodies.append((place, velocity))
    return stepping(ec.install(), lambda: walk_to((0, 0), bodies))


def mixed_responses(n: int) -> Built:
    """Boxes that stop and boxes that bounce a little walk to one point."""
    bodies = [
        make(at, (HALF, HALF), ec.Stop() if i % 2 else ec.Deflect(0.3))
        for i, at in enumerate(spread(n, 2, 16.0, 1.5))
    ]
    return stepping(ec.install(), lambda: walk_to((0, 0), bodies))


def stopping(n: int) -> Built:
    """Boxes that stop walk to one point."""
    bodies = [make(at, (HALF, HALF), ec.Stop()) for at in spread(n, 2, 19.0, 3.0)]
    return stepping(ec.install(), lambda: walk_to((0, 0), bodies))


def swept_together(n: int) -> Built:
    """A wall moves through a crowd that stands, towards another wall."""
    side = math.ceil(math.sqrt(n)) * 16.0
    wall((side, 0), (10, side))
    wall((-side, 0), (10, side), ec.Velocity(4 * SPEED, 0))
    for at in spread(n, 2, 15.0, 1.0):
        make(at, (HALF, HALF), ec.Slide())
    return stepping(ec.install(), lambda: None)


def lift(n: int) -> Built:
    """A lift carries a heap of crates up under gravity."""
    width = math.ceil(math.sqrt(n)) * 7.0 + 4.0
    wall((0, -20), (width, 10), ec.Velocity(0, 40), ec.Carry())
    for x in (-width - 10, width + 10):
        wall((x, 400), (10, 2000))
    side = math.ceil(math.sqrt(n))
    bodies = [
        make((x, y + side * 7.0), (HALF, HALF), ec.Slide()) for x, y in spread(n, 2, 14.0, 0.9)
    ]

    def steer() -> None:
        for _, velocity in bodies:
            velocity.y -= GRAVITY * DT

    return stepping(ec.install(), steer)


def door(n: int) -> Built:
    """A crowd walks to a point behind a door three boxes wide."""
    side = math.ceil(math.sqrt(n)) * 16.0
    wall((0, -side - 18.5), (5, side))
    wall((0, side + 18.5), (5, side))
    bodies = [
        make((x - side / 2 - 20, y), (HALF, HALF), ec.Slide()) for x, y in spread(n, 2, 14.0, 0.9)
    ]
    return stepping(ec.install(), lambda: walk_to((60, 0), bodies))


def two_crowds(n: int) -> Built:
    """Two crowds walk through each other."""
    side = math.ceil(math.sqrt(n / 2)) * 14.0
    bodies = []
    for way in (-1, 1):
        for x, y in spread(n // 2, 2, 14.0, 0.9, way):
            body = make((x - way * (side / 2 + 10), y), (HALF, HALF), ec.Slide())
            bodies.append((body, way))

    def steer() -> None:
        for (_, velocity), way in bodies:
            velocity.set(way * SPEED, 0)

    return stepping(ec.install(), steer)


def wrapped(n: int) -> Built:
    """All walk to one corner of a world that wraps, from all sides of it."""
    side = math.ceil(math.sqrt(n)) * 16.0
    bodies = [
        make((x % side, y % side), (HALF, HALF), ec.Slide()) for x, y in spread(n, 2, 16.0, 1.5)
    ]

    def steer() -> None:
        for place, velocity in bodies:
            x, y = ((at + side / 2) % side - side / 2 for at in place.xy)
            far = math.hypot(x, y) or 1.0
            velocity.set(-x / far * SPEED, -y / far * SPEED)

    return stepping(ec.install(wrap=(side, side)), steer)


def asleep(n: int) -> Built:
    """A heap that has come to rest is hit by one crate after the other, with sleep on."""
    width = math.ceil(math.sqrt(n)) * 7.0 + 4.0
    wall((0, -20), (width + 20, 20))
    for x in (-width - 10, width + 10):
        wall((x, 400), (10, 2000))
    side = math.ceil(math.sqrt(n))
    bodies = [
        make((x, y + side * 7.0), (HALF, HALF), ec.Slide()) for x, y in spread(n, 2, 14.0, 0.9)
    ]
    space = ec.install(ec.Space(sleep=True))
    n_steps = 0

    def steer() -> None:
        nonlocal n_steps
        n_steps += 1
        if n_steps > 100 and n_steps % 10 == 0:
            bodies.append(make((n_steps % width, side * 14.0), (HALF, HALF), ec.Slide()))
        held = set()  # what stands is not pulled: see the guide on sleep
        for contact in space.contacts():
            for entity in (contact.first, contact.second):
                if contact.normal_for(entity)[1] > 0:
                    held.add(id(esper.component_for_entity(entity, ec.Position)))
        for place, velocity in bodies:
            if velocity.y != 0.0 or id(place) not in held:
                velocity.y -= GRAVITY * DT

    return stepping(space, steer)


SCENES: dict[str, tuple[Callable[[int], Built], int]] = {
    "swarm in 3D": (swarm_in_3d, 300),
    "robots": (robots, 500),
    "explosion": (explosion, 600),
    "train": (train, 200),
    "roof": (roof, 1500),
    "growing lattice": (growing_lattice, 800),
    "all components": (mixed, 400),
    "Stop and Deflect": (mixed_responses, 300),
    "Stop": (stopping, 300),
    "swept together": (swept_together, 400),
    "lift": (lift, 400),
    "door": (door, 400),
    "two crowds": (two_crowds, 400),
    "wrapped": (wrapped, 300),
    "asleep": (asleep, 400),
}
"""By name, with how many bodies the full scene has."""
