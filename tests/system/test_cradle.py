"""Newton's cradle: as many balls leave as arrive."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

SPEED = 3.7  # no nice number: the velocities are handed on, not computed


def row_of_boxes(n_arriving):
    """Build six boxes of side 1 in a row, the first `n_arriving` of them 2 away and moving."""
    return [
        mover(
            (i - 2 * (i < n_arriving), 0), (0.5, 0.5), (SPEED * (i < n_arriving), 0), ec.Deflect()
        )
        for i in range(6)
    ]


@pytest.mark.parametrize("n_arriving", [1, 2, 3, 4, 5])
def test_as_many_leave_as_arrive(n_arriving):
    boxes = row_of_boxes(n_arriving)
    space = ec.install()

    esper.process(1.0)

    staying = 6 - n_arriving
    assert [velocity(each)[0] for each in boxes] == [0.0] * staying + [SPEED] * n_arriving
    assert len(space.collisions) == n_arriving * staying
    # Those that stay lie where those that arrived pushed in; those that leave are away from them.
    places = [i + (SPEED - 2.0) * (i >= staying) for i in range(6)]
    assert [position(each)[0] for each in boxes] == pytest.approx(places, abs=1e-14)


def test_energy_is_exact_over_a_swing_between_walls():
    boxes = row_of_boxes(2)
    for x in (-12.5, 17.5):
        box((x, 0), (0.5, 5))
    ec.install()

    for _ in range(100):
        esper.process(1.0)
        assert sorted(abs(velocity(each)[0]) for each in boxes) == [0.0] * 4 + [SPEED] * 2
