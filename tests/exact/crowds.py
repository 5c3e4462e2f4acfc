"""Crowds for the exact simulator alone: small whole numbers, so that ties are the rule.

A crowd is a list of `Body`; nothing here knows esper.
"""

from __future__ import annotations

import random
from fractions import Fraction

from tests.exact.simulator import Body

RESPONSES = ("deflect", "deflect", "slide", "push", "stop")


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
    """Make 4 to 7 bodies in a room whose floor is of tiles; seeds of all kinds in turn."""
    rng = random.Random(f"crowd {seed}")
    dim = 3 if seed % 5 == 4 else 2
    numbers = list(range(40))
    rng.shuffle(numbers)  # who has the lower id is not who is built first
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
    cells = rng.sample(range(3**dim), rng.randint(4, 7))
    for cell in cells:
        centre = [
            2 + 4 * (cell // 3**k % 3) + rng.choice([0, 0, Fraction(1, 2), -1]) for k in range(dim)
        ]
        half = [rng.choice([Fraction(1, 2), 1, 1])] * dim
        speed = [rng.choice([-12, -6, -2, 0, 0, 2, 6, 12]) for _ in range(dim)]
        more = {}
        response = RESPONSES[rng.randrange(5)] if seed % 3 else "deflect"
        if response == "deflect" and seed % 2:
            more["restitution"] = rng.choice([1, Fraction(1, 2), Fraction(1, 4)])
        if seed % 4 == 1:
            more["mass"] = rng.choice([1, 2, 3])
        if seed % 7 == 6 and rng.random() < 0.4:
            more["growth"] = [rng.choice([Fraction(-1, 4), Fraction(1, 4), Fraction(1, 8)])] * dim
        if seed % 6 == 5 and rng.random() < 0.3:
            more["sensor"] = True
        if seed % 8 == 7 and rng.random() < 0.3:
            response = None  # a lift: it yields to nobody
            speed = [s / 6 for s in speed]
        bodies.append(body(numbers.pop(), centre, half, speed, response, **more))
    return bodies


def pressing_crowd(seed: int) -> list[Body]:
    """Make 7 to 11 bodies that all move towards one place: some of what they join lasts."""
    rng = random.Random(f"pressing crowd {seed}")
    numbers = list(range(40))
    rng.shuffle(numbers)
    bodies = []
    if seed % 3 == 0:
        bodies.append(body(numbers.pop(), (8, 8), (1, 1)))  # a post in the middle
    if seed % 4 == 3:
        bodies.append(body(numbers.pop(), (-4, 8), (1, 9), (2, 0)))  # a wall that comes along
    for cell in rng.sample(range(25), rng.randint(7, 11)):
        place = [4 * (cell % 5) + rng.choice([-1, 0, 0, 1]), 4 * (cell // 5) + rng.choice([0, 1])]
        if seed % 3 == 0 and abs(place[0] - 8) < 2 and abs(place[1] - 8) < 2:
            continue
        speed = [rng.choice([2, 3, 4]) * (8 - c) + rng.choice([-3, 0, 0, 3]) for c in place]
        response, more = "slide", {}
        if seed % 2:
            response = rng.choice(["slide", "slide", "stop", "deflect"])
        if response == "deflect":
            more["restitution"] = rng.choice([Fraction(1, 4), 1])
        if seed % 5 > 2:
            more["mass"] = rng.choice([1, 2, 5])
        bodies.append(body(numbers.pop(), place, (1, 1), speed, response, **more))
    return bodies


def growing_crowd(seed: int) -> list[Body]:
    """Make 6 to 10 bodies side by side, most of which grow: their faces meet at one instant."""
    rng = random.Random(f"growing crowd {seed}")
    numbers = list(range(40))
    rng.shuffle(numbers)
    bodies = []
    if seed % 3 == 0:
        bodies.append(body(numbers.pop(), (-4, 4), (1, 9)))
    if seed % 6 == 3:
        bodies.append(body(numbers.pop(), (20, 4), (1, 9), (-1, 0)))
    for cell in rng.sample(range(20), rng.randint(6, 10)):
        place = [4 * (cell % 5) + rng.choice([0, 0, 0, 1]), 4 * (cell // 5) + rng.choice([0, 0, 1])]
        speed = [rng.choice([-2, 0, 0, 0, 2]) for _ in place]
        more = {"growth": [rng.choice([0, 1, 1, 1, 2])] * 2}
        if seed % 4 == 2:
            more["mass"] = rng.choice([1, 3])
        if seed % 5 == 4:
            more["level"] = rng.choice([0, 0, 1])
        response = rng.choice(["slide", "slide", "slide", "deflect"]) if seed % 2 else "slide"
        if response == "deflect":
            more["restitution"] = rng.choice([Fraction(1, 2), 1])
        bodies.append(body(numbers.pop(), place, (1, 1), speed, response, **more))
    return bodies
