"""Two boxes and a wall count the digits of pi.

An elastic box hits one at rest before a wall; with masses 100**n : 1 there are
as many impacts in all as the first n + 1 digits of pi say (G. Galperin,
"Playing pool with pi", 2003).  One impact lost or doubled, or a little energy
won at each, and the number is another.
"""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import faces, pi_boxes, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

DIGITS = [(1, 3), (100, 31), (10_000, 314), (1_000_000, 3141)]


def check_the_end(wall, small, large, ratio):
    v_small, v_large = velocity(small)[0], velocity(large)[0]
    assert 0 <= v_small <= v_large
    energy = v_small * v_small + ratio * v_large * v_large
    assert energy == pytest.approx(ratio, rel=1e-9)
    assert faces(wall)[1][0] <= faces(small)[0][0]
    assert faces(small)[1][0] <= faces(large)[0][0]


@pytest.mark.parametrize(("ratio", "digits"), DIGITS)
def test_all_impacts_in_one_step(ratio, digits):
    boxes = pi_boxes(ratio)
    space = ec.install(ec.Space(pair_limit=4000))

    esper.process(10.0)

    assert len(space.collisions) == digits
    assert {hit.outcome for hit in space.collisions} == {ec.Outcome.RESOLVED}
    assert space.stats.held == 0
    check_the_end(*boxes, ratio)

    esper.process(1.0)
    assert len(space.collisions) == 0


def test_the_default_limits_are_reached_safely_in_one_step():
    # 3141 impacts do not fit: the two are held, and keep their velocities.
    wall, small, large = pi_boxes(1_000_000)
    space = ec.install()

    esper.process(8.0)

    assert space.stats.held == 2
    assert faces(wall)[1][0] <= faces(small)[0][0]
    assert faces(small)[1][0] <= faces(large)[0][0]
