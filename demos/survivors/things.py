"""What there is in the game: the hero, the horde, and pools of bullets, sparks and gems."""

from __future__ import annotations

from math import cos, inf, sin

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec

HERO, HORDE, SHOT, SPARK, GEM = (1 << bit for bit in range(5))  # categories
HALF = {HERO: 13.0, HORDE: 9.0, SHOT: 5.0, SPARK: 5.0, GEM: 7.0}
WALK = 70.0  # units per second, of the horde


class Hero:
    """The hero."""


class Chaser:
    """A member of the horde."""


class Shot:
    """A bullet of the hero."""


class Spark:
    """A bullet of the eye, in the bullet-hell mode."""


class Gem:
    """A gem, which flies to the hero when it is near."""


def create(category: int, mask: int, *components: object) -> int:
    """Create a body; return its id."""
    half = HALF[category]
    size = ec.Extents(half, half), ec.Filter(categories=category, mask=mask)
    return esper.create_entity(ec.Position(0, 0), ec.Velocity(0, 0), *size, *components)


def create_hero() -> int:
    """Create the hero: nothing moves it but its keys."""
    return create(HERO, HORDE | SPARK | GEM, Hero(), ec.Mass(inf))


def create_horde(n: int, far: tuple[float, float], seed: int) -> list[int]:
    """Create a soft crowd around the hero, at distances from `far[0]` to `far[1]`."""
    chance = np.random.default_rng(seed)
    horde = [
        create(HORDE, HERO | HORDE | SHOT, ec.Slide(), ec.Separate(WALK), Chaser())
        for _ in range(n)
    ]
    for chaser, angle, way in zip(
        horde, chance.uniform(0, 7, n), np.sqrt(chance.uniform(0, 1, n)), strict=True
    ):
        reach = far[0] + (far[1] - far[0]) * way
        esper.component_for_entity(chaser, ec.Position).set(reach * cos(angle), reach * sin(angle))
    return horde


class Pool:
    """Bodies of one kind that are created once; those that are not used are switched off.

    Attributes
    ----------
    ids : int64 (n,)
    idle : list of int
    n_used : int
        How often one was taken out.
    """

    def __init__(self, n: int, category: int, mask: int, kind: type, *others: type) -> None:
        parts = [[kind(), *(other() for other in others)] for _ in range(n)]
        self.idle = [create(category, mask, *own, ec.Disabled()) for own in parts]
        self.ids = np.array(self.idle)
        self.n_used = 0

    def take(self, place: tuple[float, float], velocity: tuple[float, float] = (0.0, 0.0)) -> None:
        """Switch one on, if there is one."""
        if not self.idle:
            return
        entity = self.idle.pop()
        self.n_used += 1
        esper.component_for_entity(entity, ec.Position).set(*place)
        esper.component_for_entity(entity, ec.Velocity).set(*velocity)
        esper.remove_component(entity, ec.Disabled)

    def put_back(self, entity: int) -> None:
        """Switch one off."""
        if not esper.has_component(entity, ec.Disabled):
            esper.add_component(entity, ec.Disabled())
            self.idle.append(entity)

    def used(self) -> NDArray[np.int64]:
        """Return the ids of those that are switched on."""
        return np.setdiff1d(self.ids, self.idle)
