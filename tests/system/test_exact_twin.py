"""The same steps in exact fractions, by trying all pairs: every impact must agree.

The twin knows no tree, no queue, no slop and no rounding.  It finds the
earliest impact of all by brute force, moves everybody there, answers it, and
begins again.  Places are random, so no two impacts fall into one instant.
"""

from __future__ import annotations

import random
from fractions import Fraction

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import closed_arena, columns, mover

pytestmark = pytest.mark.usefixtures("world", "life")


class Twin:
    """Bodies of a closed room, exactly."""

    def __init__(self, dim):
        self.dim = dim
        self.entities = []
        self.centre, self.half, self.velocity = [], [], []
        self.mass, self.restitution = [], []  # mass None: immovable

    def add(self, entity, restitution=None):
        self.entities.append(entity)
        for store, kind in ((self.centre, ec.Position), (self.half, ec.Extents)):
            found = esper.component_for_entity(entity, kind)
            store.append([Fraction(v) for v in (found.x, found.y, found.z)[: self.dim]])
        found = esper.try_component(entity, ec.Velocity) or ec.Velocity(0, 0)
        self.velocity.append([Fraction(v) for v in (found.x, found.y, found.z)[: self.dim]])
        mass = esper.try_component(entity, ec.Mass)
        self.mass.append(Fraction(mass.value) if mass else None)
        self.restitution.append(Fraction(restitution or 0))

    def sides(self, i, j):
        """Yield axis, normal, gap and rate of the six (four) sides of a pair."""
        for axis in range(self.dim):
            reach = self.half[i][axis] + self.half[j][axis]
            apart = self.centre[j][axis] - self.centre[i][axis]
            rate = self.velocity[j][axis] - self.velocity[i][axis]
            yield axis, -1, apart - reach, rate
            yield axis, 1, -apart - reach, -rate

    def meet(self, i, j):
        """Return when and on which side two bodies meet, or None."""
        enter, exit_, where = None, None, None
        for axis, sign, gap, rate in self.sides(i, j):
            if rate == 0:
                if gap >= 0:
                    return None
            elif rate < 0:
                if enter is None or -gap / rate > enter:
                    enter, where = -gap / rate, (axis, sign)
            elif exit_ is None or -gap / rate < exit_:
                exit_ = -gap / rate
        if enter is None or enter < 0 or (exit_ is not None and enter >= exit_):
            return None
        return enter, where

    def answer(self, i, j, axis):
        v1, v2 = self.velocity[i][axis], self.velocity[j][axis]
        e = max(self.restitution[i], self.restitution[j])
        share1 = share2 = Fraction(1)
        if self.mass[i] is None:
            share1 = Fraction(0)
        elif self.mass[j] is None:
            share2 = Fraction(0)
        else:
            share1 = self.mass[j] / (self.mass[i] + self.mass[j])
            share2 = 1 - share1
        self.velocity[i][axis] = v1 - (1 + e) * share1 * (v1 - v2)
        self.velocity[j][axis] = v2 + (1 + e) * share2 * (v1 - v2)

    def step(self):
        """Take a step of a second; return the impacts as (time, first, second, normal)."""
        now, events = Fraction(0), []
        n = len(self.entities)
        while True:
            best = None
            for i in range(n):
                for j in range(i + 1, n):
                    if self.mass[i] is None and self.mass[j] is None:
                        continue
                    found = self.meet(i, j)
                    if found and now + found[0] < 1 and (best is None or found[0] < best[0]):
                        best = (*found, i, j)
            ahead = 1 - now if best is None else best[0]
            for centre, velocity in zip(self.centre, self.velocity, strict=True):
                for axis in range(self.dim):
                    centre[axis] += velocity[axis] * ahead
            if best is None:
                return events
            now += ahead
            _, (axis, sign), i, j = best
            self.answer(i, j, axis)
            normal = [0.0] * self.dim
            normal[axis] = float(sign)
            events.append((float(now), self.entities[i], self.entities[j], tuple(normal)))


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_every_impact_of_a_step_agrees(dim, seed):
    rng = random.Random(100 * dim + seed)
    elastic = seed % 2 == 0
    twin = Twin(dim)
    for wall in closed_arena([0.0] * dim, [16.0] * dim):
        twin.add(wall)
    for i in range(9 if dim == 2 else 12):
        cell = [i % 3, i // 3 % 3, i // 9 % 3][:dim]
        centre = [3.0 + 5.0 * c + rng.uniform(-1, 1) for c in cell]
        size = [rng.uniform(0.3, 1.2) for _ in range(dim)]
        speed = [rng.uniform(-30, 30) for _ in range(dim)]
        restitution = 1.0 if elastic else rng.choice([1.0, 0.5, 0.75])
        mass = 1.0 if elastic else rng.choice([1.0, 3.0, 0.5])
        twin.add(mover(centre, size, speed, ec.Deflect(restitution), ec.Mass(mass)), restitution)
    space = ec.install(dim=dim)

    esper.process(1.0)

    expected = twin.step()
    assert [(hit.first, hit.second, hit.normal) for hit in space.collisions] == [
        event[1:] for event in expected
    ]
    times = [event[0] for event in expected]
    assert space.collision_array["time"].tolist() == pytest.approx(times, rel=1e-11)
    movers = twin.entities[2 * dim :]
    places = np.array([[float(c) for c in centre] for centre in twin.centre[2 * dim :]])
    speeds = np.array([[float(v) for v in velocity] for velocity in twin.velocity[2 * dim :]])
    assert columns(movers, ec.Position, dim) == pytest.approx(places, abs=1e-9)
    assert columns(movers, ec.Velocity, dim) == pytest.approx(speeds, abs=1e-9)
    assert len(expected) > 15
