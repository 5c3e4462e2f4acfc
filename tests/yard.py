"""A yard in which everything that some bodies have happens at once, and a game that meddles."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import esper
import numpy as np

import ecs_collide as ec
from tests import plain
from tests.scenes import Falls, Ledger, Log, box, mover, pairs_inside

KIND, PASSING = plain.names("narrowphase.contacts_between_steps", "KIND PASSING")


class Tag:
    """A component of the game's own that a predicate asks for."""


class Yard:
    """The yard and its game: the same seed gives the same yard, and `act` the same deeds.

    Parameters
    ----------
    dim : int
    seed : int
    make_space
        Installs the systems; `ec.install` if None.
    judged : bool
        Whether a predicate is asked about some pairs; nobody sleeps then.
    """

    def __init__(
        self,
        dim: int = 2,
        seed: int = 1,
        make_space: Callable[[], ec.Space] | None = None,
        *,
        judged: bool = True,
    ) -> None:
        self.dim = dim
        self.seed = seed
        self.judged = judged
        self.judging = False  # whether `step` looks for what has got deeper into something
        rng = random.Random(seed)
        self._furnish(rng)
        self.adopt(ec.install(dim=dim) if make_space is None else make_space())

    def adopt(self, space: ec.Space) -> None:
        """Play in a space, the entities being there already, or to be restored."""
        self.space = space
        for kind in (Tag, Falls):
            space.snapshot_with(kind, save=lambda tag: b"", load=lambda data, kind=kind: kind())
        if self.judged:
            space.filter_pairs(self._allows, Tag)
        self.log = Log()
        self.ledger = Ledger(space)
        self.deeds = {"drops": 0, "carried": 0, "pushed": 0, "passed": 0, "asleep": 0}

    def vector(self, x: float, y: float) -> tuple[float, ...]:
        """Return a vector, in 3D with a part of its own on the third axis."""
        return (x, y) if self.dim == 2 else (x, y, (x * 7 + y * 3) % 5 - 2.5)

    def size(self, x: float, y: float) -> tuple[float, ...]:
        return (x, y) if self.dim == 2 else (x, y, 3.0)

    def _furnish(self, rng: random.Random) -> None:
        up = (0.0, 1.0, 0.0)[: self.dim]
        wide = (60.0,) * (self.dim - 2)
        for x in range(-60, 60, 10):  # a floor of tiles
            box((x + 5, -32, 0)[: self.dim], (5, 2, *wide))
        box((-62, 0, 0)[: self.dim], (2, 60, *wide))
        box((62, 0, 0)[: self.dim], (2, 60, *wide), ec.Friction(0.3))
        box((0, 62, 0)[: self.dim], (62, 2, *wide))
        if self.dim == 3:
            for z in (-12, 12):
                box((0, 0, z), (62, 62, 2))
        for x, y in ((-30, -14), (0, -8), (30, -14)):
            box((x, y, 0)[: self.dim], (8, 1, *wide), ec.OneWay(up))
        self.lifts = [
            mover((-45, -20, 0)[: self.dim], (6, 1, *wide), (0,) * self.dim, ec.Carry(normal=up)),
            mover(
                (15, -20, 0)[: self.dim], (6, 1, *wide), (0,) * self.dim,
                ec.Carry(normal=up), ec.OneWay(up),
            ),
        ]  # fmt: skip
        self.belt = box(
            (45, -24, 0)[: self.dim], (10, 1, *wide), ec.Carry((8, 0), up), ec.Friction(0.8)
        )
        box((-20, 20, 0)[: self.dim], (6, 6, *wide), ec.Sensor(), ec.Filter(4, 1 | 2))
        self.bodies = []
        for _n in range(26):
            response = rng.choice(
                [ec.Slide(), ec.Slide(), ec.Deflect(0.5), ec.Deflect(1), ec.Stop(), ec.Push()]
            )
            more: list[object] = [response, Falls()]
            if rng.random() < 0.4:
                more.append(ec.Friction(rng.choice([0.0, 0.2, 1.0])))
            if rng.random() < 0.4:
                more.append(
                    ec.Filter(
                        rng.choice([1, 2, 3]), rng.choice([ec.ALL, 7]), rng.choice([0, 0, -1])
                    )
                )
            if rng.random() < 0.5:
                more.append(ec.PushOut(rng.choice([20.0, math.inf])))
            if rng.random() < 0.3:
                more.append(Tag())
            if rng.random() < 0.3:
                more.append(ec.Mass(rng.choice([0.5, 4.0])))
            if rng.random() < 0.2:
                more.append(ec.Carry(normal=up))
            place = self.vector(rng.uniform(-55, 55), rng.uniform(-25, 50))
            half = self.size(rng.choice([1.0, 1.5, 2.0]), rng.choice([1.0, 1.5]))
            speed = self.vector(rng.uniform(-40, 40), rng.uniform(-40, 40))
            self.bodies.append(mover(place, half, speed, *more))
        for n in range(12):  # crates that rest, on the floor and each other, a lift and the belt
            x = (-52.0, -22.0, 8.0, 24.0, -45.0, 45.0)[n % 6]
            y = (-29.0, -29.0, -29.0, -29.0, -18.0, -22.0)[n % 6] + 2.0 * (n // 6)
            more = [rng.choice([ec.Slide(), ec.Deflect(0.5), ec.Stop()])]
            if n % 3 == 0:
                more.append(ec.Friction(0.5))
            if n % 4 == 1:
                more.append(ec.Filter(1, ec.ALL))
            still = (0.0,) * self.dim
            self.bodies.append(mover((x, y, 0.0)[: self.dim], self.size(1.0, 1.0), still, *more))

    def _allows(self, first: int, second: int) -> bool:
        return (first + second + self.space.stats.step // 40) % 3 != 0

    def act(self, n: int) -> None:
        """Do what the game does before step n."""
        rng = random.Random(self.seed * 100_003 + n)
        for _, (speed, _) in esper.get_components(ec.Velocity, Falls):
            speed.y -= 1.0
        for place, lift in enumerate(self.lifts):
            speed = esper.component_for_entity(lift, ec.Velocity)
            speed.y = 10.0 if (n // 50 + place) % 2 else -10.0
            speed.x = 6.0 if (n // 35) % 2 else -6.0
            if n % 50 == 0:
                esper.component_for_entity(lift, ec.Position).y = -20.0
            if n % 70 == 0:
                esper.component_for_entity(lift, ec.Position).x = (-45.0, 15.0)[place]
        for entity in self.bodies:
            chance = rng.random()
            if chance < 0.02:
                self.deeds["drops"] += entity in self.space and self.space.drop_through(entity)
            elif chance < 0.03:
                esper.component_for_entity(entity, ec.Velocity).xy = (
                    rng.uniform(-30, 30), rng.uniform(-10, 60),
                )  # fmt: skip
            elif chance < 0.034:
                esper.component_for_entity(entity, ec.Position).xy = (
                    rng.uniform(-64, 64), rng.uniform(-34, 40),
                )  # fmt: skip
            elif chance < 0.04:
                self._meddle(rng, entity)
        if n % 90 == 0:
            esper.component_for_entity(self.belt, ec.Carry).x *= -1.0

    def _boxes(self) -> dict[int, list[tuple[float, float]]]:
        """Return all boxes as they are now, by entity: min and max on each axis."""
        found = {}
        for entity, (at, half) in esper.get_components(ec.Position, ec.Extents):
            sides = zip(at.xyz[: self.dim], half.xyz[: self.dim], strict=True)
            found[entity] = [(c - h, c + h) for c, h in sides]
        return found

    def _depths(self) -> dict[tuple[int, int], float]:
        """Return how deep all that are inside each other are, by the lower and the higher id."""
        boxes = self._boxes()
        ids = sorted(boxes)
        low = np.array([[side[0] for side in boxes[entity]] for entity in ids])
        high = np.array([[side[1] for side in boxes[entity]] for entity in ids])
        depths = {}
        for i, j in pairs_inside(low, high).tolist():
            gaps = np.maximum(low[i] - high[j], low[j] - high[i])
            depths[min(ids[i], ids[j]), max(ids[i], ids[j])] = -float(gaps.max())
        return depths

    def _solids(self) -> set[int]:
        """Return the entities that nobody may get into: solid from all sides."""
        return {
            entity
            for entity, _ in esper.get_component(ec.Position)
            if not any(esper.has_component(entity, kind) for kind in (ec.Sensor, ec.OneWay, Tag))
        }

    def _require_no_deeper(self, before: dict[tuple[int, int], float], solid: set[int]) -> None:
        """Nothing gets into what it was outside of, nor deeper where it was inside."""
        crushed = {
            entity
            for event in self.space.collisions
            if event.answer is ec.Answer.CRUSHED
            for entity in (event.first, event.second)
        }
        movers = set(self.bodies)
        for pair, depth in self._depths().items():
            if not solid.issuperset(pair) or not movers.intersection(pair):
                continue
            if crushed.intersection(pair) or not self._meet(*pair):
                continue
            assert depth <= before.get(pair, 0.0) + 1e-9, f"{pair} got {depth} deep"

    @staticmethod
    def _meet(first: int, second: int) -> bool:
        one, two = (
            esper.try_component(entity, ec.Filter) or ec.Filter() for entity in (first, second)
        )
        if one.group and one.group == two.group:
            return bool(one.group > 0)
        return bool(one.categories & two.mask and two.categories & one.mask)

    def _meddle(self, rng: random.Random, entity: int) -> None:
        kind = rng.choice([ec.Filter, ec.Friction, ec.PushOut, ec.Carry, ec.OneWay, ec.Sensor, Tag])
        if esper.has_component(entity, kind):
            esper.remove_component(entity, kind)
            return
        up = (0.0, 1.0, 0.0)[: self.dim]
        esper.add_component(
            entity,
            {
                ec.Filter: lambda: ec.Filter(rng.choice([1, 2]), rng.choice([1, 3, ec.ALL])),
                ec.Friction: lambda: ec.Friction(rng.choice([0.5, 2.0])),
                ec.PushOut: lambda: ec.PushOut(50),
                ec.Carry: lambda: ec.Carry((rng.choice([0, 5]), 0), up),
                ec.OneWay: lambda: ec.OneWay(rng.choice([up, tuple(-x for x in up)])),
                ec.Sensor: ec.Sensor,
                Tag: Tag,
            }[kind](),
        )

    def step(self, n: int) -> None:
        """Act and take step n; look at what must always hold."""
        self.act(n)
        if self.judging:
            before, solid = self._depths(), self._solids()
        esper.process(1 / 30)
        if self.judging:
            self._require_no_deeper(before, solid)
        self.log.record(self.space)
        self.ledger.record()
        self.deeds["asleep"] += self.space.stats.asleep
        self.deeds["carried"] += sum(any(self.space.carried(e)) for e in self.bodies)
        self.deeds["pushed"] += self.space._state.timeline.depenetration.n
        kinds = np.asarray(self.space._state.timeline.contacts.rows.arrays()[0])[:, KIND]
        self.deeds["passed"] += int((kinds == PASSING).sum())
