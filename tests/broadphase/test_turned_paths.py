"""Paths that turn within a step, in the tree and in the list of pairs."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, gas, mover

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Rubber:
    """A custom response component."""


def test_a_body_that_turns_meets_the_path_of_one_that_has_turned_before():
    #
    #       <-- D | wall     D turns at 0.125, back to the left;
    #     A                  A is hit at 0.25, and goes up into the new path of D
    #     ^
    #     B
    #
    box((15.25, 14), (2, 2))
    still = mover((8.75, 0), (1, 6), (0, 0), ec.Deflect())  # large, so its fat bounds reach far
    mover((8.75, -10), (1, 1), (0, 12), ec.Deflect())
    turning = mover((12, 14), (1, 1), (2, 0), ec.Deflect())
    for x in (-30, 30):
        mover((x, 40), (1, 1), (1, 1), ec.Deflect())  # the leaf reaches far around all
    space = ec.install()

    esper.process(1.0)

    last = space.collisions[2]
    assert [c.time for c in space.collisions] == [0.125, 0.25, 0.875]
    assert (last.first, last.second, last.normal) == (still, turning, (-1, 0))


def test_the_trees_hold_all_boxes_whenever_a_body_has_turned(volume):
    for body in gas(36, spacing=4.0, speed=40.0)[0]:
        esper.add_component(body, Rubber())
    space = ec.install()
    seen = []

    def respond(impact):
        space.check()
        seen.append(impact.time)
        return ec.DEFAULT

    space.respond_with(Rubber, respond)
    for _ in range(volume(20, 200)):
        esper.process(1 / 30)

    assert seen
