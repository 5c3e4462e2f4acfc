"""Crowds for the exact simulator alone: small whole numbers, so that ties are the rule.

A crowd is a list of `Body`; no entity is created.
"""

from __future__ import annotations

import random
from fractions import Fraction

import ecs_collide as ec
from tests.exact.simulator import Body
from tests.exact.twin import body_of
from tests.random_worlds import TABLE, Draw

# What the oracle of steps knows, or what changes nothing without gravity.
KNOWN = {
    ec.Position, ec.Extents, ec.Velocity, ec.Growth, ec.Stop, ec.Push, ec.Slide, ec.Deflect,
    ec.Mass, ec.Sensor, ec.GravityScale,
}  # fmt: skip
WITHOUT = {kind: "oracle" for kind in TABLE if kind not in KNOWN}


def body(ident, centre, half, velocity=None, response=None, mass=1, **more) -> Body:
    """Make a body from its centre and half sizes; without a velocity it does not move."""
    moves = velocity is not None
    restitution = more.pop("restitution", 1 if response == "deflect" else 0)
    growth = more.pop("growth", [0] * len(centre))
    moves = moves or any(growth)
    return Body(
        ident,
        [Fraction(c) - Fraction(h) for c, h in zip(centre, half, strict=True)],
        [Fraction(c) + Fraction(h) for c, h in zip(centre, half, strict=True)],
        [Fraction(v) for v in (velocity or [0] * len(centre))],
        [Fraction(g) for g in growth],
        Fraction(mass) if velocity is not None and mass is not None else None,
        Fraction(restitution),
        response,
        moves=moves,
        **more,
    )


def crowd(seed: int) -> list[Body]:
    """Make 4 to 7 bodies in a room whose floor is of tiles."""
    rng = random.Random(f"crowd {seed}")
    dim = 3 if seed % 5 == 4 else 2
    numbers = list(range(40))
    rng.shuffle(numbers)  # a body with a lower id is not built first
    draw = draw_of(rng, dim)
    bodies = []
    for axis in range(dim):
        for sign in (-1, 1):
            centre, half = [6] * dim, [10] * dim
            centre[axis] += sign * 8
            half[axis] = 2
            if axis == 1 and sign < 0 and dim == 2:
                for tile in range(-1, 4):
                    bodies.append(body(numbers.pop(), (2 + 4 * tile, -2), (2, 2)))
            else:
                bodies.append(body(numbers.pop(), centre, half))
    for cell in rng.sample(range(3**dim), rng.randint(4, 7)):
        centre = [2 + 4 * (cell // 3**k % 3) + rng.choice([0, 0, 0.5, -1]) for k in range(dim)]
        half = [rng.choice([0.5, 1, 1])] * dim
        speed = [rng.choice([-12, -6, -2, 0, 0, 2, 6, 12]) for _ in range(dim)]
        bodies.append(drawn(draw, numbers.pop(), centre, half, speed))
    return bodies


def pressing_crowd(seed: int) -> list[Body]:
    """Make 7 to 11 bodies that all move towards one place: some of the clusters last."""
    rng = random.Random(f"pressing crowd {seed}")
    numbers = list(range(40))
    rng.shuffle(numbers)
    draw = draw_of(rng, 2, ec.Growth)
    bodies = []
    if seed % 3 == 0:
        bodies.append(body(numbers.pop(), (8, 8), (1, 1)))  # a post in the middle
    if seed % 4 == 3:
        bodies.append(body(numbers.pop(), (-4, 8), (1, 9), (2, 0)))  # a wall that follows
    for cell in rng.sample(range(25), rng.randint(7, 11)):
        place = [4 * (cell % 5) + rng.choice([-1, 0, 0, 1]), 4 * (cell // 5) + rng.choice([0, 1])]
        if seed % 3 == 0 and abs(place[0] - 8) < 2 and abs(place[1] - 8) < 2:
            continue
        speed = [rng.choice([2, 3, 4]) * (8 - c) + rng.choice([-3, 0, 0, 3]) for c in place]
        bodies.append(drawn(draw, numbers.pop(), place, (1, 1), speed))
    return bodies


def growing_crowd(seed: int) -> list[Body]:
    """Make 6 to 10 bodies side by side, most of which grow: their faces meet at one instant."""
    rng = random.Random(f"growing crowd {seed}")
    numbers = list(range(40))
    rng.shuffle(numbers)
    draw = draw_of(rng, 2, ec.Sensor)
    bodies = []
    if seed % 3 == 0:
        bodies.append(body(numbers.pop(), (-4, 4), (1, 9)))
    if seed % 6 == 3:
        bodies.append(body(numbers.pop(), (20, 4), (1, 9), (-1, 0)))
    for cell in rng.sample(range(20), rng.randint(6, 10)):
        place = [4 * (cell % 5) + rng.choice([0, 0, 0, 1]), 4 * (cell // 5) + rng.choice([0, 0, 1])]
        speed = [rng.choice([-2, 0, 0, 0, 2]) for _ in place]
        growth = ec.Growth(*[rng.choice([0, 1, 1, 1, 2])] * 2)
        slides = [ec.Slide()] * rng.choice([0, 1, 1])
        bodies.append(drawn(draw, numbers.pop(), place, (1, 1), speed, growth, *slides))
    return bodies


def draw_of(rng: random.Random, dim: int, *unknown: type) -> Draw:
    """Return the components of a crowd: about half of those that the oracle knows."""
    without = WITHOUT | dict.fromkeys(unknown, "oracle")
    return Draw(rng, dim, without=without, mixture=0.5, on_grid=True)


def drawn(draw: Draw, ident: int, centre, half, speed, *given: object) -> Body:
    """Make a body with further components from the table of random worlds."""
    box = ec.Position(*centre), ec.Extents(*half), ec.Velocity(*speed)
    return body_of(ident, draw.parts(*box, *given), draw.dim)
