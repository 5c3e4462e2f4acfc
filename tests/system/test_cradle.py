"""Newton's cradle: as many balls leave as arrive."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from tests.scenes import mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

SPEED = 3.7  # no nice number: the velocities are handed on, not computed


def row_of_boxes(n_arriving, axis, dim, turned):
    """Build six boxes of side 1 in a row, the first `n_arriving` of them 2 away and moving."""
    where = []
    for i in range(6):
        along = float(i) if i >= n_arriving else i - 2.0
        where.append((along, SPEED if i < n_arriving else 0.0))
    boxes = [0] * 6
    for i in reversed(range(6)) if turned else range(6):
        centre, speed = [0.0] * dim, [0.0] * dim
        centre[axis], speed[axis] = where[i]
        boxes[i] = mover(centre, [0.5] * dim, speed, ec.Deflect())
    return boxes


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("dim", "axis"), [(2, 0), (2, 1), (3, 2)])
@pytest.mark.parametrize("n_arriving", [1, 2, 3, 4, 5])
def test_as_many_leave_as_arrive(n_arriving, dim, axis, turned):
    boxes = row_of_boxes(n_arriving, axis, dim, turned)
    space = ec.install(dim=dim)

    esper.process(1.0)

    speeds = [velocity(entity, dim)[axis] for entity in boxes]
    assert speeds == [0.0] * (6 - n_arriving) + [SPEED] * n_arriving
    resolved = [hit for hit in space.collisions if hit.outcome is ec.Outcome.RESOLVED]
    assert len(resolved) == n_arriving * (6 - n_arriving)
    assert [hit.time for hit in resolved] == pytest.approx([2.0 / SPEED] * len(resolved), rel=1e-14)
    assert space.stats.forced == space.stats.crushed == 0

    # Those that stay lie where those that arrived pushed in; those that leave are away from them.
    along = [position(entity, dim)[axis] for entity in boxes]
    staying = 6 - n_arriving
    assert along[:staying] == pytest.approx(list(range(staying)), abs=1e-14)
    way = SPEED * (1 - 2.0 / SPEED)
    assert along[staying:] == pytest.approx([i + way for i in range(staying, 6)], abs=1e-14)


def test_energy_is_exact_over_a_swing_between_walls():
    boxes = row_of_boxes(2, 0, 2, turned=False)
    for x in (-12.5, 17.5):
        esper.create_entity(ec.Position(x, 0), ec.Extents(0.5, 5))
    ec.install()

    for _ in range(100):
        esper.process(1.0)
        speeds = sorted(abs(velocity(entity)[0]) for entity in boxes)
        assert speeds == [0.0] * 4 + [SPEED] * 2
        assert math.fsum(v * v for v in speeds) == 2 * SPEED * SPEED


def test_the_soft_cradle_moves_on_as_one():
    # e = 0 joins: each step of the chain shares the momentum with one more.
    boxes = [mover((0, 0), (0.5, 0.5), (6, 0), ec.Slide())]
    boxes += [mover((i + 2, 0), (0.5, 0.5), (0, 0), ec.Slide()) for i in range(1, 6)]
    ec.install()

    esper.process(1.0)

    assert [velocity(entity)[0] for entity in boxes] == pytest.approx([1.0] * 6, rel=1e-15)
    assert len({velocity(entity)[0] for entity in boxes}) == 1
