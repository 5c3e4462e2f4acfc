"""Gravity is a game system: before or after the four, the floor holds."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, box, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

BEFORE, AFTER = 200, 0


@pytest.mark.parametrize("priority", [BEFORE, AFTER])
@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Push])
def test_a_crate_falls_lands_and_rests(priority, response):
    crate = mover((0, 3), (0.5, 0.5), (0, 0), response(), Falls())
    floor = box((0, -1), (50, 1))
    space = ec.install(sleep=False)  # a body that sleeps repeats no collision
    esper.add_processor(Gravity(), priority=priority)
    began = ended = 0
    landed = None

    for step in range(120):
        esper.process(1 / 60)
        began += len(space.contacts_began)
        ended += len(space.contacts_ended)
        if landed is None and began:
            landed = step
        if landed is not None:
            assert position(crate) == (0, 0.5)
            assert [contact.other(crate) for contact in space.contacts(crate)] == [floor]
        if landed is not None and step > landed:
            # Resting is a Collision at the start of every step.
            assert [hit.time for hit in space.collisions] == [0.0]

    # sqrt(2 * 2.5 / 10) seconds
    assert landed == pytest.approx(0.7071 * 60, abs=2)
    assert (began, ended) == (1, 0)
    assert velocity(crate)[1] == (0 if priority == BEFORE else pytest.approx(-10 / 60))


def test_without_dt_the_step_is_one_second_for_everybody():
    crate = mover((0, 50), (0.5, 0.5), (0, 0), ec.Slide(), Falls())
    box((0, -1), (50, 1))
    space = ec.install()
    esper.add_processor(Gravity(), priority=BEFORE)

    heights = []
    for _ in range(4):
        esper.process()
        heights.append(position(crate)[1])

    assert heights == [40, 20, 0.5, 0.5]
    assert len(space.collisions) == 1
