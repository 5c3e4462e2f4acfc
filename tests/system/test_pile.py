"""Two hundred crates fall into a bin and lie: nobody sinks into another."""

from __future__ import annotations

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import (
    SLOP,
    Gravity,
    columns,
    pairs_inside,
    pile,
)

pytestmark = pytest.mark.usefixtures("world")


def test_a_pile_of_two_hundred_crates(volume):
    crates = pile(200)
    space = ec.install()
    esper.add_processor(Gravity(), priority=200)
    everybody = sorted(entity for entity, _ in esper.get_component(ec.Extents))
    halves = columns(everybody, ec.Extents)
    before = columns(everybody, ec.Position)
    steps = volume(600, 1200)

    for step in range(steps):
        esper.process(1 / 60)
        centres = columns(everybody, ec.Position)
        # The slop of crates with crates; the walls of the bin reach further and would allow more.
        reach = np.maximum(np.abs(centres), np.abs(before)) + halves
        slop = SLOP * float(reach[-len(crates) :].max())
        assert len(pairs_inside(centres - halves, centres + halves, slop)) == 0, step
        before = centres

    bottoms = (centres - halves)[-len(crates) :]
    assert bottoms[:, 1].min() >= 0
    assert np.abs(centres[-len(crates) :, 0]).max() <= 15
    if steps >= 600:
        # It has come down, and most of it lies still.
        speeds = np.abs(columns(crates, ec.Velocity)[:, 1])
        assert np.median(speeds) == 0
        assert all(len(space.contacts(crate)) > 0 for crate in crates)
    space.check()
