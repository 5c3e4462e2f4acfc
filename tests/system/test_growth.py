"""Bodies that change their size while they move."""

from __future__ import annotations

import itertools
import random

import esper
import pytest

import ecs_collide as ec
from tests.packed import make, spread, walk_to
from tests.scenes import box, gaps, half, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


def growth(entity):
    found = esper.component_for_entity(entity, ec.Growth)
    return found.x, found.y


def test_growth_is_the_rate_of_the_half_sizes():
    body = box((0, 0), (1, 2), ec.Growth(4, -2))
    ec.install()

    esper.process(0.25)

    assert half(body) == (2, 1.5)
    assert growth(body) == (4, -2)


def test_a_half_size_never_goes_below_zero():
    body = box((0, 0), (1, 2), ec.Growth(-4, -2))
    ec.install()

    esper.process(0.5)

    assert half(body) == (0, 1)
    assert growth(body) == (0, -2)

    esper.process(0.5)
    assert half(body) == (0, 0)
    assert growth(body) == (0, 0)


def test_boxes_that_grow_on_a_floor_under_gravity_lift_those_above():
    floor = box((0, -1), (5, 1))
    stack = [mover((0, 1 + 2 * n), (1, 1), (0, 0), ec.Slide(), ec.Growth(0, 1)) for n in range(4)]
    crate = mover((0, 9), (1, 1), (0, 0), ec.Slide())
    space = ec.install(gravity=(0, -100))

    for _ in range(8):
        esper.process(1 / 64)

        assert [velocity(entity) for entity in stack] == [(0, 1), (0, 3), (0, 5), (0, 7)]
        assert velocity(crate) == (0, 8)
        assert space.stats.crushed == 0
        assert space.stats.resolutions <= 10
    assert [position(entity) for entity in stack] == [(0, 1.125 * (1 + 2 * n)) for n in range(4)]
    assert gaps(stack[0], floor)[1] == gaps(crate, stack[3])[1] == 0


def test_boxes_that_grow_by_decimals_report_nothing_once_they_go_together():
    row = [mover((0.2 * n, 0), (0.1, 1), (0, 0), ec.Slide(), ec.Growth(0.1, 0)) for n in range(6)]
    space = ec.install()
    esper.process(1 / 60)
    assert len(space.collisions) >= 5

    for _ in range(30):
        esper.process(1 / 60)

        assert len(space.collisions) == 0
    apart = [position(b)[0] - position(a)[0] for a, b in itertools.pairwise(row)]
    assert apart == pytest.approx([0.2 * (1 + 31 / 60)] * 5, rel=1e-12)


def test_a_row_of_thousands_of_boxes_that_grow_is_resolved_once_for_each_pair(implementation):
    n = 2000 if implementation == "compiled" else 300
    row = [mover((0.2 * i, 0), (0.1, 1), (0, 0), ec.Slide(), ec.Growth(0.03, 0)) for i in range(n)]
    space = ec.install()

    for _ in range(3):
        esper.process(1 / 60)

        assert space.stats.crushed == space.stats.held == 0
        assert space.stats.sweeps <= 3 * n
    assert space.stats.resolutions <= 10
    width = 0.2 + 2 * 0.03 * 3 / 60
    apart = [position(b)[0] - position(a)[0] for a, b in itertools.pairwise(row)]
    assert apart == pytest.approx([width] * (n - 1), rel=1e-9)


def test_rounding_parts_no_faces_that_go_together_in_a_long_row(implementation):
    # Without a bound for the rounding of their velocities, twice as many pairs are swept.
    if implementation == "plain":
        pytest.skip("it takes minutes in pure Python")
    rng = random.Random(1)
    for n in range(3000):
        speed, growth = rng.uniform(-1, 1), rng.uniform(0.1, 0.9)
        mover((2.1 * n, 0), (1, 1), (speed, 0), ec.Slide(), ec.Growth(growth, 0.1))
    space = ec.install()
    sweeps = 0

    for _ in range(20):
        esper.process(1 / 10)
        sweeps += space.stats.sweeps

    assert sweeps < 700_000


@pytest.mark.slow_in_python
@pytest.mark.parametrize("gravity", [None, (0, -100)])
@pytest.mark.parametrize("dim", [2, 3])
def test_no_box_of_a_crowd_that_grows_is_held_or_crushed(implementation, volume, gravity, dim):
    # Their masses differ by up to 10^6, and nothing but the crowd itself is in their way.
    if dim == 3 and gravity:
        gravity = (*gravity, 0)
    n = volume(300, 400, 600) if implementation == "compiled" else 40
    rng = random.Random(2)
    bodies = [
        make(
            place,
            (6,) * dim,
            rng.choice([ec.Slide, ec.Stop])(),
            ec.Mass(10 ** rng.uniform(0, 6)),
            ec.Growth(*(rng.choice([0, 1]) * rng.uniform(-3, 3) for _ in range(dim))),
        )
        for place in spread(n, dim, 16, 1.5)
    ]
    space = ec.install(gravity=gravity, dim=dim)

    for _ in range(160):
        walk_to((0,) * dim, bodies)
        esper.process(1 / 60)

        assert space.stats.held == space.stats.crushed == 0
        assert space.stats.sweeps <= 8 * space.stats.pairs


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_ball_that_falls_on_a_box_that_grows_on_a_floor_is_never_crushed(dim, side):
    #      +---+
    #      | A |        A falls on B, which stands on the floor
    #      +---+
    #     +-----+
    #     |  B  |       and grows towards A
    #   ===========
    deep = (8.0,) * (dim - 2)
    still = (0.0,) * dim
    box((0, -8 * side, *still[2:]), (96, 8, *deep))
    grows = mover((0, 8 * side, *still[2:]), (8, 8, *deep), still, ec.Slide(), ec.Growth(0, 4))
    ball = mover((0, 60 * side, *still[2:]), (8, 4, *deep), still, ec.Deflect(1))
    space = ec.install(gravity=(0, -900 * side, *still[2:]), dim=dim)

    for _ in range(60):
        esper.process(1 / 64)

        assert space.stats.crushed == space.stats.held == 0
        assert len(space.collisions) <= 4
        assert gaps(ball, grows, dim)[1] >= 0


@pytest.mark.parametrize("order", [1, -1])
def test_two_that_grow_and_hardly_bounce_meet_once(order):
    # Rounding would leave some of their faces closing.
    rng = random.Random(1)
    for n in range(40):
        for at, speed in [(-1, rng.uniform(1, 20)), (1, -rng.uniform(1, 20))]:
            parts = [ec.Deflect(1e-17), ec.Mass(rng.uniform(1, 3)), ec.Growth(3, 0)]
            mover((order * at, 8 * n), (1, 1), (order * speed, 0), *parts)
    space = ec.install()

    esper.process(1 / 8)

    assert len(space.collisions) == 40


@pytest.mark.parametrize("axis", [0, 1])
def test_a_box_goes_on_with_two_that_grow_and_press_as_its_mirror_image_does(axis):
    def along(value):
        return (value, 0.0) if axis == 0 else (0.0, value)

    groups = []
    for side in (1, -1):
        first = mover(along(side * 79.5), (6, 6), along(side * -20.0), ec.Slide())
        second = mover(along(side * 92), (6, 6), along(side * -80.0), ec.Slide(), ec.Growth(3, 3))
        more = ec.Slide(), ec.Acceleration(*along(side * -60.0))
        third = mover(along(side * 104), (6, 6), along(side * -80.0), *more)
        groups.append((first, second, third))
    ec.install()

    esper.process(1 / 60)  # in the middle of it the first meets the second

    for one, other in zip(*groups, strict=True):
        assert position(one)[axis] == pytest.approx(-position(other)[axis])
        assert velocity(one)[axis] == pytest.approx(-velocity(other)[axis])
    first, second, third = (velocity(entity)[axis] for entity in groups[0])
    assert first + second + third == pytest.approx(-20.0 - 80.0 - 80.0 - 1.0)
    assert (first + 3.0, third - 3.0) == pytest.approx((second, second))
