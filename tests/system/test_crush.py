"""A body squeezed between static or kinematic ones: reported, left alone, and never thrown out."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import SLOP, box, gaps, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Push, ec.Deflect])
def test_squeezed_between_two_walls_that_converge(dim, response):
    #
    #   |wall| -> +1     [ box ]      -1 <- |wall|
    #
    rest = (0,) * (dim - 1)
    left = mover((-4, *rest), (1, *(5,) * (dim - 1)), (1, *rest))
    right = mover((4, *rest), (1, *(5,) * (dim - 1)), (-1, *rest))
    squeezed = mover((0.5, *rest), (1,) * dim, (2, *rest), response())
    space = ec.install(dim=dim)

    esper.process(2.5)  # there is room for 2 seconds

    crushed = [hit for hit in space.collisions if hit.outcome is ec.Outcome.CRUSHED]
    assert len(crushed) == 1
    assert space.stats.crushed == 1
    assert squeezed in (crushed[0].first, crushed[0].second)
    assert crushed[0].time == pytest.approx(0.8, abs=1e-6)
    # The walls arrive where they go, and the body is still between them.
    assert position(left, dim)[0] == -1.5
    assert position(right, dim)[0] == 1.5
    assert -1.5 < position(squeezed, dim)[0] < 1.5
    assert position(squeezed, dim)[1:] == rest


def test_the_walls_go_on_over_the_body_step_by_step():
    # Crushed once a step, no deeper by any answer, free again when the walls leave.
    left = mover((-4, 0), (1, 5), (1, 0))
    right = mover((4, 0), (1, 5), (-1, 0))
    squeezed = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()

    reports = []
    for _ in range(25):
        esper.process(0.1)
        reports.append(space.stats.crushed)
        assert position(left)[0] < position(squeezed)[0] < position(right)[0]

    assert reports[:19] == [0] * 19
    assert all(n >= 1 for n in reports[21:])

    for wall in (left, right):
        speed = esper.component_for_entity(wall, ec.Velocity)
        speed.x = -4 * speed.x
    esper.component_for_entity(squeezed, ec.Velocity).set(0, 0)
    for _ in range(10):
        esper.process(0.1)
    assert space.stats.crushed == 0
    assert max(gaps(squeezed, left)) > 0
    assert max(gaps(squeezed, right)) > 0


def test_a_lift_presses_a_body_against_the_ceiling():
    lift = mover((0, -3), (5, 1), (0, 1))
    ceiling = box((0, 4), (5, 1))
    rider = mover((0, -1), (1, 1), (0, 0), ec.Slide())
    space = ec.install()

    for _ in range(30):
        esper.process(0.1)  # room for 3 seconds
        assert max(gaps(rider, ceiling)) >= -1e-12
        assert max(gaps(rider, lift)) >= -1e-12

    assert position(rider)[1] == pytest.approx(2, abs=1e-12)
    for _ in range(3):
        esper.process(0.1)
    assert space.stats.crushed >= 1
    assert position(lift)[1] == pytest.approx(0.3, abs=1e-12)
    assert position(rider)[1] == pytest.approx(2, abs=0.5)


def test_a_chain_of_crates_is_crushed_as_one():
    left = mover((-6, 0), (1, 5), (2, 0))
    right = mover((6, 0), (1, 5), (-2, 0))
    crates = [mover((2 * i - 2, 0), (1, 1), (0, 0), ec.Slide()) for i in range(3)]
    space = ec.install()

    esper.process(1.25)  # room for 1 second

    assert space.stats.crushed >= 1
    places = [position(crate)[0] for crate in crates]
    assert places == sorted(places)
    assert position(left)[0] < places[0]
    assert places[-1] < position(right)[0]


def test_a_growing_body_between_walls_is_crushed_and_the_step_ends():
    box((-3, 0), (1, 5))
    box((3, 0), (1, 5))
    grower = mover((0.5, 0), (1, 1), (0, 0), ec.Slide(), ec.Growth(1, 0))
    space = ec.install()

    esper.process(3.0)

    assert space.stats.crushed >= 1
    assert -3 < position(grower)[0] < 3
    assert velocity(grower)[1] == 0


def test_a_body_that_leaves_in_time_is_not_crushed():
    mover((-4, 0), (1, 2), (1, 0))
    mover((4, 0), (1, 2), (-1, 0))
    runner = mover((0, 0), (1, 1), (0, 5), ec.Slide())
    space = ec.install()

    for _ in range(25):
        esper.process(0.1)

    assert space.stats.crushed == 0
    assert position(runner)[1] == pytest.approx(12.5)


@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Push, ec.Deflect])
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_piston_presses_no_crate_into_a_wall_although_it_passes_through_them(
    side, axis, n, response
):
    #
    #   |wall|[ ][ ][ ]   <- |piston|
    #
    def at(x):
        return (side * x, 0) if axis == 0 else (0, side * x)

    wall = box(at(-10), (10, 10))
    crates = [mover(at(4 + 9 * k), (4, 4), (0, 0), response()) for k in range(n)]
    piston = mover(at(9 * n + 4), (4, 4), at(-120))
    space = ec.install()
    crushed = []

    for _ in range(9 * n):
        esper.process(1 / 60)
        assert all(gaps(crate, wall)[axis] >= -SLOP * 64 for crate in crates)
        crushed += [hit for hit in space.collisions if hit.outcome is ec.Outcome.CRUSHED]

    assert crushed
    assert {piston} == {hit.first if hit.first not in crates else hit.second for hit in crushed}
    assert {hit.solids for hit in crushed} == {(wall, piston)}


def test_of_two_lifts_that_squeeze_a_crate_the_slower_one_keeps_it():
    slow = mover((0, -2), (5, 1), (0, 3))
    fast = mover((0, 2), (5, 1), (0, -6))
    crate = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()

    for _ in range(5):
        esper.process(1 / 60)
        assert gaps(crate, slow)[1] == pytest.approx(0, abs=1e-12)
        assert [hit.other(crate) for hit in space.collisions_of(crate)
                if hit.outcome is ec.Outcome.CRUSHED] == [fast]  # fmt: skip


@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Deflect])
@pytest.mark.parametrize("n", [1, 3])
def test_a_lift_presses_no_stack_of_crates_into_a_ceiling(n, response):
    lift = mover((0, -4), (12, 4), (0, 60))
    crates = [mover((0, 4 + 8 * k), (4, 4), (0, 0), response()) for k in range(n)]
    ceiling = box((0, 8 * n + 16), (20, 10))
    space = ec.install(gravity=(0, -900))
    crushed = []

    for _ in range(8 * n + 6):
        esper.process(1 / 60)
        assert all(gaps(crate, ceiling)[1] >= -SLOP * 64 for crate in crates)
        crushed += [hit for hit in space.collisions if hit.outcome is ec.Outcome.CRUSHED]

    assert {hit.solids for hit in crushed} == {(lift, ceiling)}
    assert all(lift in (hit.first, hit.second) for hit in crushed)
