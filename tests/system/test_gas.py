"""A gas of equal elastic boxes: nobody escapes, nobody sinks in, nothing is won or lost."""

from __future__ import annotations

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import columns, gas, pairs_inside

pytestmark = pytest.mark.usefixtures("world")


def test_the_oracle_finds_boxes_inside_one_another():
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


def test_two_thousand_boxes_in_a_closed_arena(volume):
    boxes, side = gas(2000, spacing=7.0, speed=60.0, dim=2)
    space = ec.install()
    steps = volume(100, 320, 2000)

    def speeds():
        return np.sort(np.abs(columns(boxes, ec.Velocity)), axis=0)

    first_speeds = speeds()
    n_impacts = 0
    for step in range(steps):
        esper.process(1 / 60)
        n_impacts += space.stats.impacts
        centres = columns(boxes, ec.Position)
        assert centres.min() >= 1.0
        assert centres.max() <= side - 1.0
        assert len(pairs_inside(centres - 1.0, centres + 1.0)) == 0, step

    assert np.array_equal(speeds(), first_speeds)
    assert space.stats.held == 0
    space.check()
    assert n_impacts > 30 * steps
