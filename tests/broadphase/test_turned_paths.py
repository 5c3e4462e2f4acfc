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


@pytest.mark.parametrize(("speed", "lasts"), [(1e-13, True), (1e-6, False)])
def test_a_contact_that_opens_by_less_than_the_slop_lasts(speed, lasts):
    floor = box((0, 100), (50, 1))
    ball = mover((0, 110), (1, 1), (0, -16), ec.Deflect(speed / 16))
    space = ec.install(rest_speed=0.0)

    esper.process(1.0)

    assert [c.second for c in space.contacts(floor)] == ([ball] if lasts else [])
    assert bool(space.contacts_ended) != lasts
