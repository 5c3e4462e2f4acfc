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


@pytest.mark.parametrize("priority", [BEFORE, AFTER])
def test_a_crate_that_rests_from_the_start_never_moves(priority):
    crate = mover((0.1, 0.1 + 0.2), (0.3, 0.2), (0, 0), ec.Slide(), Falls())
    box((0, 0.1 - 7.3), (50, 7.3))
    ec.install()
    esper.add_processor(Gravity(-9.81), priority=priority)
    for _ in range(2):  # whatever rounding left between them is gone then
        esper.process(1 / 60)
    start = position(crate)
    assert start == pytest.approx((0.1, 0.3), rel=1e-14)

    for _ in range(300):
        esper.process(1 / 60)

    assert position(crate) == start


@pytest.mark.parametrize("priority", [BEFORE, AFTER])
def test_steps_of_every_length(priority):
    crate = mover((0, 3), (0.5, 0.5), (0, 0), ec.Slide(), Falls())
    box((0, -1), (50, 1))
    ec.install()
    esper.add_processor(Gravity(), priority=priority)

    for step in range(200):
        esper.process([1 / 60, 1 / 144, 0.0, 1 / 30, 1e-9, 0.4][step % 6])
        assert position(crate)[1] >= 0.5

    assert position(crate) == (0, 0.5)


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


def test_a_stack_rests_on_a_lift_of_its_own_weight_order():
    # Ten crates in a row of ids that does not follow their height.
    box((0, -1), (50, 1))
    heights = [3, 0, 7, 1, 9, 5, 2, 8, 4, 6]
    crates = {h: mover((0, 0.5 + h), (0.5, 0.5), (0, 0), ec.Slide(), Falls()) for h in heights}
    space = ec.install()
    esper.add_processor(Gravity(), priority=BEFORE)

    for _ in range(60):
        esper.process(1 / 60)

    assert [position(crates[h]) for h in range(10)] == [(0, 0.5 + h) for h in range(10)]
    assert len(space.contacts(crates[0])) == 2
    assert all(velocity(crate) == (0, 0) for crate in crates.values())
