"""Random worlds under gravity: nothing sinks, whatever responses do, and no resolution adds energy.

Each world has floors 0.1 thick, one-way platforms, lifts, stacks of every response, and ghosts
whose impacts a response lets cross, turns, answers or ends by deleting the ghost.  A world is a
seed, which a failure names.
"""

from __future__ import annotations

import random

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.oracles import WITHIN, Oracle, gaps_of, reach_of
from tests.random_worlds import Draw
from tests.scenes import SLOP, another_world, box

pytestmark = [
    pytest.mark.usefixtures("implementation"),
    pytest.mark.filterwarnings("ignore:entity:RuntimeWarning"),
]

N_STEPS = 40
RESPONSES = (ec.Slide, ec.Slide, ec.Slide, ec.Stop, ec.Push, lambda: ec.Deflect(0.4), ec.Deflect)


class Ghost:
    """A custom component: `Chaos` resolves its impacts."""


class Chaos(ec.ResponseSystem):
    """Does to each impact of a ghost one of the things that a response may do."""

    handles = Ghost
    ways = (
        "cross", "until separate", "set and cross", "set", "answer and set", "outcome",
        "delete", "set and delete", "nothing", "default",
    )  # fmt: skip

    def __init__(self, space: ec.Space, rng: random.Random) -> None:
        super().__init__(space)
        self.rng = rng
        self.n_crossed = 0

    def respond(self, impact):
        way = self.rng.choice(self.ways)
        pair = (impact.first, impact.second)
        ghost = next(entity for entity in pair if esper.has_component(entity, Ghost))
        movers = [entity for entity in pair if esper.has_component(entity, ec.Velocity)]
        if way.startswith("outcome"):
            impact.resolve()
        if "set" in way:
            for entity in self.rng.sample(movers, self.rng.randint(1, len(movers))):
                self.turn(impact, entity)
        if "cross" in way or way == "until separate":
            impact.cross(until_separate=way == "until separate")
            self.n_crossed += 1
        if "delete" in way:
            esper.delete_entity(ghost, immediate=True)
        return ec.DEFAULT if way == "default" else None

    def turn(self, impact, entity):
        """Keep, reverse, stop or replace the velocity of a body on each axis."""
        speeds = [
            self.rng.choice([speed, -speed, 0.0, self.rng.uniform(-300.0, 300.0)])
            for speed in impact.velocity(entity)
        ]
        impact.set_velocity(entity, speeds)


class House:
    """A room with platforms, lifts and stacks, into which ghosts fall."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.dt = rng.choice([1 / 144, 1 / 60, 1 / 30, 0.1])
        self.space = ec.install(gravity=(0.0, rng.choice([-300.0, -900.0, -2000.0])))
        self.chaos = Chaos(self.space, rng)
        esper.add_processor(self.chaos, priority=115)
        self.draw = Draw(rng, mixture=0.5, speed=900.0)
        for x in (-60.0, 60.0):
            box((x, 50.0), (0.05, 60.0))
        box((0.0, 110.0), (60.0, 0.05))
        box((0.0, -0.05), (60.0, 0.05))
        self.stack(0.0, 0.0)
        self.lifts: list[int] = []
        self.ghosts: list[int] = []
        for y in rng.sample([20.0, 40.0, 60.0, 80.0], rng.randint(1, 4)):
            self.lay_platform(rng.uniform(-40.0, 40.0), y + rng.uniform(-3.0, 3.0))

    def lay_platform(self, x, y):
        kind = self.rng.choice(["still", "one-way", "lift", "carrying lift"])
        parts = [ec.OneWay((0, 1))] if kind == "one-way" else []
        if "lift" in kind:
            speed = (self.rng.choice([0.0, 20.0]), self.rng.choice([-30.0, 5.0, 30.0]))
            parts = [ec.Velocity(*speed)]
        if kind == "carrying lift":
            parts.append(ec.Carry((0, 1)))
        body = ec.Position(x, y - 0.05), ec.Extents(self.rng.uniform(6.0, 14.0), 0.05), *parts
        entity = self.draw.body(*body, moves=False)
        if "lift" in kind:
            self.lifts.append(entity)
        self.stack(x + self.rng.uniform(-3.0, 3.0), y)

    def stack(self, x, y):
        for _ in range(self.rng.randint(1, 4)):
            half = (self.rng.uniform(1.0, 3.0), self.rng.uniform(0.5, 2.5))
            place = ec.Position(x, y + half[1])
            self.draw.body(place, ec.Extents(*half), ec.Velocity(0.0, 0.0))
            y += 2 * half[1]

    def act(self):
        """Let a ghost fall in, and lifts turn round, before a step."""
        rng = self.rng
        if rng.random() < 0.5:
            at = (rng.uniform(-50.0, 50.0), rng.uniform(2.0, 100.0))
            half = (rng.uniform(0.3, 2.0), rng.uniform(0.3, 2.0))
            low, high = zip(*((c - h, c + h) for c, h in zip(at, half, strict=True)), strict=True)
            if not self.space.query(low, high):
                speed = ec.Velocity(rng.uniform(-900.0, 900.0), rng.uniform(-1500.0, 300.0))
                body = ec.Position(*at), ec.Extents(*half), speed, Ghost()
                self.ghosts.append(self.draw.body(*body))
        self.ghosts = [entity for entity in self.ghosts if esper.entity_exists(entity)]
        if len(self.ghosts) > 8:
            esper.delete_entity(self.ghosts.pop(0), immediate=True)
        for lift in self.lifts:
            speed = esper.component_for_entity(lift, ec.Velocity)
            x, y = esper.component_for_entity(lift, ec.Position).xy
            speed.x = -abs(speed.x) if x > 45.0 else abs(speed.x) if x < -45.0 else speed.x
            speed.y = -abs(speed.y) if y > 95.0 else abs(speed.y) if y < 12.0 else speed.y


class Judge(Oracle):
    """Finds solid pairs that have got inside each other in the last step."""

    def __init__(self, space: ec.Space) -> None:
        super().__init__(space, 2)
        self.inside: set[tuple[int, int]] = set()  # after the step before, or free to be
        self.sunk()

    def sunk(self) -> dict[tuple[int, int], float]:
        """Return the depth of each pair that is inside now, was not, and must not be."""
        crossing = {
            (contact.first, contact.second)
            for contact in self.space.contacts()
            if contact.kind is ec.ContactKind.CROSSING
        }
        array = self.space.collision_array
        array = array[np.isin(array["outcome"], (ec.Outcome.CROSSED, ec.Outcome.CRUSHED))]
        excused = set(zip(array["first"].tolist(), array["second"].tolist(), strict=True))
        inside = self._find_inside()
        # What lies on a slope is inside its box.
        sloping = {entity for entity, _ in esper.get_component(ec.Slope)}
        found = {
            pair: inside[pair]
            for pair in inside.keys() - self.inside - excused
            if sloping.isdisjoint(pair)
        }
        self.inside = inside.keys() | crossing
        return found

    def _find_inside(self) -> dict[tuple[int, int], float]:
        low, high = self.look()
        i, j = self.find_pairs(low, high)
        gaps = gaps_of(low, high, i, j)
        solid, one_way = self.solid_pairs(i, j)
        deep = solid & ~one_way
        deep &= (gaps < -WITHIN * SLOP * reach_of(low, high, i, j)).all(axis=1)
        depths = (-gaps[deep].max(axis=1)).tolist() if deep.any() else []
        return dict(zip(self._ids(i[deep], j[deep]), depths, strict=True))


@pytest.mark.slow_in_python
def test_nothing_sinks_whatever_a_response_does_under_gravity(world, volume):
    n_worlds = volume(5, 30, 3000)
    n_crossed = 0

    for seed in range(n_worlds):
        with another_world(f"{world}, {seed}"):
            house = House(seed)
            esper.process(0.0)  # queries resolve for what a step has read
            judge = Judge(house.space)
            for step in range(N_STEPS):
                house.act()
                esper.process(house.dt)
                assert judge.sunk() == {}, f"seed {seed}, step {step}"
            house.space.check()
            n_crossed += house.chaos.n_crossed

    assert n_crossed > n_worlds


# What does work on bodies, or takes them where it does not count.  `test_slopes.py` has crates that
# press on slopes.
WITHOUT = dict.fromkeys(
    (
        *(ec.Growth, ec.Carry, ec.Dominance, ec.PushOut, ec.Separate),
        *(ec.GravityScale, ec.Acceleration, ec.Slope),
    ),
    "energy",
)


class Chamber:
    """A closed room without anything that moves by itself, in which bodies fall and collide."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.dt = rng.choice([1 / 60, 1 / 30, 0.1])
        self.gravity = rng.choice([(0.0, -900.0), (0.0, -300.0), (-500.0, -500.0)])
        self.space = ec.install(gravity=self.gravity)
        self.draw = Draw(rng, without=WITHOUT, mixture=0.5)
        for k in range(2):
            for side in (-31.0, 31.0):
                half = (32.0, 1.0) if k else (1.0, 32.0)
                box((0.0, side) if k else (side, 0.0), half)
        for y in (-10.0, 10.0):
            self.draw.body(ec.Position(0.0, y), ec.Extents(0.5, 0.5), moves=False)
        self.bodies = [self.drop(x, y) for x in (-20, -7, 7, 20) for y in (-20, 0, 20)]

    def drop(self, x, y):
        rng = self.rng
        half = (rng.uniform(0.5, 6.0), rng.uniform(0.5, 6.0))
        speed = (rng.uniform(-300.0, 300.0), rng.uniform(-300.0, 300.0))
        mass = [ec.Mass(rng.choice([0.5, 2.0, 10.0]))] if rng.random() < 0.3 else [ec.Mass()]
        body = ec.Position(x, y), ec.Extents(*half), ec.Velocity(*speed), rng.choice(RESPONSES)()
        return self.draw.body(*body, *mass)

    def energy(self) -> tuple[float, float]:
        """Return the energy of all bodies, and how much of it is kinetic."""
        kinetic = potential = 0.0
        for entity in self.bodies:
            if any(esper.has_component(entity, kind) for kind in (ec.Attached, ec.Sensor)):
                continue  # they do not fall, and push nobody
            mass = getattr(esper.try_component(entity, ec.Mass), "value", 1.0)
            speed = esper.component_for_entity(entity, ec.Velocity).xy
            place = esper.component_for_entity(entity, ec.Position).xy
            locked = esper.try_component(entity, ec.LockedAxes) or ec.LockedAxes()
            for k in range(2):
                kinetic += mass * speed[k] ** 2 / 2
                if not (locked.x, locked.y)[k]:
                    potential -= mass * self.gravity[k] * place[k]
        return kinetic + potential, kinetic


@pytest.mark.slow_in_python
def test_no_step_adds_to_kinetic_and_potential_energy(world, volume):
    n_judged = 0

    for seed in range(volume(12, 60, 3000)):
        with another_world(f"{world}, {seed}"):
            chamber = Chamber(seed)
            esper.process(0.0)  # what is locked is taken from the velocities
            before, most = chamber.energy()
            for step in range(N_STEPS):
                esper.process(chamber.dt)
                after, kinetic = chamber.energy()
                most = max(most, kinetic, 1e5)
                timeline = chamber.space._state.timeline
                # A path that a crowd shares, and a body on hold, are where they would not be alone.
                if not (chamber.space.stats.held or timeline.solver.clusters.n_lasting):
                    assert after - before <= 1e-10 * most, f"seed {seed}, step {step}"
                    n_judged += 1
                before = after

    assert n_judged > 0
