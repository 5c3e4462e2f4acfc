"""A yard in which everything that some bodies have happens at once, and a game that meddles."""

from __future__ import annotations

import random
from collections.abc import Callable

import esper
import numpy as np

import ecs_collide as ec
from tests import plain
from tests.oracles import Oracle
from tests.random_worlds import Draw, write
from tests.scenes import Falls, Ledger, Log, box, mover

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
        self.judging = False  # whether `step` asks the oracle, which knows nothing of predicates
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
        self.oracle = Oracle(space, self.dim, rewrites=True)
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
        self.draw = Draw(rng, self.dim, speed=40.0)
        self.bodies = self.draw.bodies
        for _n in range(40):
            tag = [Tag()] if rng.random() < 0.3 else []
            place = self.vector(rng.uniform(-55, 55), rng.uniform(-25, 50))
            half = self.size(rng.choice([1.0, 1.5, 2.0]), rng.choice([1.0, 1.5]))
            speed = self.vector(rng.uniform(-40, 40), rng.uniform(-40, 40))
            parts = ec.Position(*place), ec.Extents(*half), ec.Velocity(*speed), Falls(), *tag
            self.draw.body(*parts)
        for n in range(12):  # crates that rest, on the floor and each other, a lift and the belt
            x = (-52.0, -22.0, 8.0, 24.0, -45.0, 45.0)[n % 6]
            y = (-29.0, -29.0, -29.0, -29.0, -18.0, -22.0)[n % 6] + 2.0 * (n // 6)
            half, still = self.size(1.0, 1.0), (0.0,) * self.dim
            place = ec.Position(*(x, y, 0.0)[: self.dim])
            self.draw.body(place, ec.Extents(*half), ec.Velocity(*still))
        for _ in range(8):
            place = self.vector(rng.uniform(-55, 55), rng.uniform(-25, 50))
            self.draw.body(ec.Position(*place), ec.Extents(*self.size(2.0, 1.0)), moves=False)

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
            if chance < 0.04:
                self.deeds["drops"] += entity in self.space and self.space.drop_through(entity)
            elif chance < 0.05:
                speed = self.vector(rng.uniform(-30, 30), rng.uniform(-10, 60))
                write(entity, ec.Velocity(*speed))
            elif chance < 0.054:
                place = self.vector(rng.uniform(-64, 64), rng.uniform(-34, 40))
                write(entity, ec.Position(*place))
            elif chance < 0.06:
                self._meddle(rng, entity)
        if n % 90 == 0:
            esper.component_for_entity(self.belt, ec.Carry).x *= -1.0

    def _meddle(self, rng: random.Random, entity: int) -> None:
        if rng.random() < 0.2:
            if esper.has_component(entity, Tag):
                esper.remove_component(entity, Tag)
            else:
                esper.add_component(entity, Tag())
            return
        self.draw.reseed(rng)
        self.draw.change(entity)

    def step(self, n: int) -> None:
        """Act and take step n; look at what must always hold."""
        self.act(n)
        if self.judging:
            self.oracle.begin()
        esper.process(1 / 30)
        if self.judging:
            self.oracle.end()
        self.log.record(self.space)
        self.ledger.record()
        self.deeds["asleep"] += self.space.stats.asleep
        self.deeds["carried"] += sum(any(self.space.carried(e)) for e in self.bodies)
        self.deeds["pushed"] += self.space._state.timeline.depenetration.n
        kinds = np.asarray(self.space._state.timeline.contacts.rows.arrays()[0])[:, KIND]
        self.deeds["passed"] += int((kinds == PASSING).sum())
