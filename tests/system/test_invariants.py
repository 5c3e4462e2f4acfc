"""What must hold after every step of any scene, judged from the components alone.

Random rooms full of everything, also on a grid of whole numbers, where boxes
touch, meet at corners and arrive at the same instant all the time.
"""

from __future__ import annotations

import random

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import SLOP, columns, mixed_bodies

HAIR = 4e-200  # bodies without thickness are kept apart by at least half of it

pytestmark = pytest.mark.usefixtures("world", "life")


def grid_bodies(seed, dim, unit=1.0):
    """Make a crowd in which every length is a multiple of half a unit."""
    rng = random.Random(seed)
    n = rng.randint(4, 30)
    reach = rng.choice([4, 8, 12])
    kinds = [ec.Stop, ec.Push, ec.Slide, ec.Deflect]
    bodies = []
    for _ in range(n):
        centre = [rng.randint(-reach, reach) / 2 * unit for _ in range(dim)]
        size = [rng.choice([0.5, 0.5, 1, 1, 2, 0]) * unit for _ in range(dim)]
        body = [ec.Position(*centre), ec.Extents(*size)]
        if rng.random() < 0.7:
            speed = [rng.choice([-8, -4, -1, 0, 0, 1, 4, 8]) * unit for _ in range(dim)]
            body.append(ec.Velocity(*speed))
            if rng.random() < 0.85:
                body.append(rng.choice(kinds)())
        if rng.random() < 0.1:
            body.append(ec.Growth(*[rng.choice([-1, 0, 0.5, 1]) * unit for _ in range(dim)]))
        if rng.random() < 0.1:
            body.append(ec.Sensor())
        if rng.random() < 0.3:
            body.append(ec.Mass(rng.choice([0.5, 2, 3, float("inf")])))
        bodies.append(body)
    return bodies


class Judge:
    """Compares the events and contacts of each step with all pairs of boxes."""

    def __init__(self, space, dim):
        self.space = space
        self.dim = dim
        self.before = {}

    def has(self, entities, *kinds):
        return np.array([any(esper.has_component(e, kind) for kind in kinds) for e in entities])

    def look(self):
        """Read all boxes: entities and the gap of each pair on each axis, positive apart."""
        entities = sorted(e for e, _ in esper.get_components(ec.Position, ec.Extents))
        centre = columns(entities, ec.Position, self.dim)
        size = columns(entities, ec.Extents, self.dim)
        low, high = centre - size, centre + size
        gaps = np.maximum(low[:, None] - high[None], low[None] - high[:, None])
        reach = np.maximum(np.abs(low), np.abs(high))
        return entities, gaps, np.maximum(reach[:, None], reach[None])

    def begin(self):
        """Remember the boxes before the step."""
        self.before = self.look()

    def end(self):
        """Judge the step that has been taken."""
        self.judge_events()
        entities, gaps, reach = self.look()
        old_entities, old_gaps, old_reach = self.before
        assert entities == old_entities == self.space.entities
        slop = SLOP * np.maximum(reach, old_reach)
        moves = self.has(entities, ec.Velocity, ec.Growth)
        looked_at = np.triu(moves[:, None] | moves[None], 1)
        yields = np.array([self.yields(entity) for entity in entities])
        sensor = self.has(entities, ec.Sensor)
        solid = (yields[:, None] | yields[None]) & ~sensor[:, None] & ~sensor[None]
        self.judge_depth(entities, gaps, old_gaps, slop, looked_at & solid)
        self.judge_contacts(entities, gaps, SLOP * reach, slop, looked_at, solid)

    def yields(self, entity):
        if not esper.has_component(entity, ec.Velocity):
            return False
        if not self.has([entity], ec.Stop, ec.Push, ec.Slide, ec.Deflect)[0]:
            return False
        mass = esper.try_component(entity, ec.Mass)
        return mass is None or mass.value != float("inf")

    def judge_events(self):
        array = self.space.collision_array
        times = array["time"]
        assert ((times >= 0) & (times < 1)).all()
        assert (np.diff(times) >= 0).all()
        assert (array["first"] < array["second"]).all()
        assert (np.abs(array["normal"]).sum(axis=1) == 1).all()
        assert (array["closing_speed"] >= 0).all()
        assert (np.diff(self.space.contact_array["time"]) >= 0).all()

    def judge_depth(self, entities, gaps, old_gaps, slop, pairs):
        """Solid pairs never get inside one another, except those that are crushed."""
        tolerance = 4 * slop
        deep = (gaps < -tolerance).all(axis=2)
        was_deep = (old_gaps < -tolerance).all(axis=2)
        crushed = {
            (hit.first, hit.second)
            for hit in self.space.collisions
            if hit.answer is ec.Answer.CRUSHED
        }
        for i, j in np.argwhere(pairs & deep & ~was_deep).tolist():
            pair = (entities[i], entities[j])
            assert pair in crushed, f"{pair} got inside by {gaps[i, j]}"

    def judge_contacts(self, entities, gaps, least_slop, slop, looked_at, solid):
        """The contacts are those that the boxes show."""
        clearly_inside = (gaps < -4 * slop).all(axis=2)
        near = (gaps <= least_slop / 4).all(axis=2)
        maybe_near = (gaps <= 4 * slop + HAIR).all(axis=2)
        deep_axes = (gaps < -4 * slop).sum(axis=2)
        maybe_deep_axes = (gaps < -least_slop / 4).sum(axis=2)
        sure = np.where(solid, near & (deep_axes >= self.dim - 1), clearly_inside)
        maybe = np.where(solid, maybe_near & (maybe_deep_axes >= self.dim - 1), maybe_near)
        known = {(contact.first, contact.second): contact for contact in self.space.contacts()}
        for i, j in np.argwhere(looked_at & sure).tolist():
            assert (entities[i], entities[j]) in known, gaps[i, j]
        row = {entity: i for i, entity in enumerate(entities)}
        for (first, second), contact in known.items():
            i, j = row[first], row[second]
            assert maybe[i, j] or not looked_at[i, j], (contact, gaps[i, j])
            assert (contact.kind is ec.ContactKind.SOLID) == solid[i, j]


def run(bodies, dim, steps, dt):
    for body in bodies:
        esper.create_entity(*body)
    space = ec.install(dim=dim)
    judge = Judge(space, dim)
    for _ in range(steps):
        judge.begin()
        esper.process(dt)
        judge.end()
    space.check()


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", [11, 12])
def test_a_room_with_some_of_everything(dim, seed):
    run(mixed_bodies(seed, dim), dim, steps=40, dt=1 / 60)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("unit", [1.0, 0.1])
@pytest.mark.parametrize("seed", range(15))
def test_a_crowd_on_a_grid(dim, unit, seed):
    run(grid_bodies(seed, dim, unit), dim, steps=12, dt=[0.125, 0.25, 1.0][seed % 3])
