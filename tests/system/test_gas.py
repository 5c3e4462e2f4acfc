"""A gas of equal elastic boxes: nobody escapes, nobody sinks in, nothing is won or lost."""

from __future__ import annotations

import math

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import columns, gas, pairs_inside

pytestmark = pytest.mark.usefixtures("world")


def test_the_judge_finds_boxes_inside_one_another():
    # What decides the tests below, against all pairs.
    rng = np.random.default_rng(1)
    mins = rng.uniform(0, 20, (200, 2))
    maxs = mins + rng.uniform(0, 2, (200, 2))

    found = {tuple(sorted(pair)) for pair in pairs_inside(mins, maxs).tolist()}

    expected = set()
    for i in range(200):
        for j in range(i):
            if np.all((mins[i] < maxs[j]) & (mins[j] < maxs[i])):
                expected.add((j, i))
    assert found == expected
    assert expected


def run(dim, n, spacing, speed, steps, **limits):
    """Run the gas and check every step; return the number of impacts."""
    boxes, side = gas(n, spacing=spacing, speed=speed, dim=dim)
    space = ec.install(ec.Space(dim=dim, **limits))
    places = [esper.component_for_entity(entity, ec.Position) for entity in boxes]

    def speeds():
        return np.sort(np.abs(columns(boxes, ec.Velocity, dim)), axis=0)

    def energy():
        return math.fsum((columns(boxes, ec.Velocity, dim) ** 2).ravel().tolist())

    first_speeds, first_energy = speeds(), energy()
    n_impacts = 0
    for step in range(steps):
        esper.process(1 / 60)
        n_impacts += space.stats.impacts
        centres = np.array([(p.x, p.y, p.z)[:dim] for p in places])
        mins, maxs = centres - 1.0, centres + 1.0
        assert mins.min() >= 0.0
        assert maxs.max() <= side
        assert len(pairs_inside(mins, maxs)) == 0, step
        if step % 50 == 0:
            assert energy() == first_energy

    assert np.array_equal(speeds(), first_speeds)
    assert energy() == first_energy
    assert space.stats.answer_limit_hits == space.stats.pair_limit_hits == 0
    space.check()
    return n_impacts


def test_two_thousand_boxes_in_a_closed_arena(n_steps):
    steps = n_steps(2000)

    n_impacts = run(2, n=2000, spacing=7.0, speed=60.0, steps=steps)

    assert n_impacts > 30 * steps


def test_a_gas_in_three_dimensions(n_steps):
    steps = n_steps(400)

    n_impacts = run(3, n=343, spacing=4.0, speed=60.0, steps=steps)

    assert n_impacts > 5 * steps


@pytest.mark.parametrize("dim", [2, 3])
def test_a_dense_and_fast_gas(dim, n_steps):
    # Half the room is box, and each would cross several others in a step: some 20 impacts each.
    steps = n_steps(100)

    n = 12**2 if dim == 2 else 5**3
    limits = {"pair_limit": 1000, "answer_limit": 100_000}
    n_impacts = run(dim, n, spacing=2.8, speed=600.0, steps=steps, **limits)

    assert n_impacts > 100 * steps
