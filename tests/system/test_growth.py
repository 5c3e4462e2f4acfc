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


def test_a_growing_wall_pushes_what_it_reaches():
    #
    #   [ grower ] 2 a second ->    (3 units)    [ crate ]
    #
    grower = box((0, 0), (1, 1), ec.Growth(2, 0))
    crate = mover((5, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()

    esper.process(2.0)

    (hit,) = space.collisions
    assert hit.time == 0.75
    assert hit.closing_speed == 2
    assert hit.normal_for(crate) == (1, 0)
    assert velocity(crate) == (2, 0)
    assert half(grower) == (5, 1)
    assert position(crate) == (6, 0)
    assert gaps(grower, crate)[0] == 0


def test_a_ball_bounces_off_the_face_of_a_growing_box():
    # In the frame of the face that moves at 2: -4 - 2 = -6 becomes 6, so 8.
    box((0, 0), (1, 1), ec.Growth(2, 0))
    ball = mover((5, 0), (1, 1), (-4, 0), ec.Deflect())
    ec.install()

    esper.process(1.0)

    assert velocity(ball) == (8, 0)
    assert position(ball) == (3 + 4, 0)


def test_a_growing_box_pushes_itself_off_a_wall():
    box((0, 0), (1, 5))
    grower = mover((3, 0), (1, 1), (0, 0), ec.Slide(), ec.Growth(2, 0))
    ec.install()

    esper.process(1.0)

    # Its face arrives at half the step; then the box must go away at 2.
    assert velocity(grower) == (2, 0)
    assert position(grower) == (4, 0)
    assert half(grower) == (3, 1)


@pytest.mark.parametrize("dim", [2, 3])
def test_two_growing_boxes_push_each_other_apart(dim):
    rest = (0,) * (dim - 1)
    size = (1,) * dim
    first = mover((-2, *rest), size, (0,) * dim, ec.Slide(), ec.Growth(2, *rest))
    second = mover((2, *rest), size, (0,) * dim, ec.Slide(), ec.Growth(2, *rest))
    space = ec.install(dim=dim)

    esper.process(1.0)

    assert [hit.time for hit in space.collisions] == [0.5]
    assert velocity(first, dim) == (-2, *rest)
    assert velocity(second, dim) == (2, *rest)
    assert gaps(first, second, dim)[0] == 0


def test_a_shrinking_box_does_not_collide_and_lets_go():
    floor = box((0, -1), (5, 1))
    shrinking = mover((0, 1), (1, 1), (0, 0), ec.Slide(), ec.Growth(0, -1))
    space = ec.install()
    esper.process(0)
    assert [contact.other(shrinking) for contact in space.contacts(shrinking)] == [floor]

    esper.process(0.5)

    assert len(space.collisions) == 0
    assert [event.reason for event in space.contacts_ended] == [ec.EndReason.SEPARATED]
    assert half(shrinking) == (1, 0.5)


def test_a_point_that_explodes_pushes_everything_away():
    blast = box((0, 0), (0, 0), ec.Growth(10, 10))
    crates = [
        mover((3 * x, 3 * y), (1, 1), (0, 0), ec.Slide())
        for x in (-1, 0, 1)
        for y in (-1, 0, 1)
        if x or y
    ]
    ec.install()

    for _ in range(60):
        esper.process(1 / 60)

    assert half(blast) == pytest.approx((10, 10))
    for crate in crates:
        assert max(gaps(crate, blast)) >= -1e-12
        assert max(abs(v) for v in velocity(crate)) == 10


def test_growth_and_motion_of_one_body_are_one_path():
    # The right face of the runner moves at 3 + 1, its left face at 3 - 1.
    runner = mover((0, 0), (1, 1), (3, 0), ec.Slide(), ec.Growth(1, 0))
    wall = box((6, 0), (1, 5))
    space = ec.install()

    esper.process(2.0)

    (hit,) = space.collisions
    assert hit.time == 0.5
    assert hit.closing_speed == 4
    # The face stands still from then on: the centre goes back as fast as the box grows.
    assert velocity(runner) == (-1, 0)
    assert half(runner) == (3, 1)
    assert gaps(runner, wall)[0] == 0


def test_boxes_that_grow_in_a_row_push_each_other_apart_in_one_instant():
    #
    #   +--+--+--+--+
    #   |  |  |  |  |   each grows by 1 a second on either side
    #   +--+--+--+--+
    #
    row = [mover((2 * n, 0), (1, 1), (0, 0), ec.Slide(), ec.Growth(1, 0)) for n in range(4)]
    space = ec.install()

    esper.process(1.0)

    assert [velocity(entity) for entity in row] == [(-3, 0), (-1, 0), (1, 0), (3, 0)]
    assert [position(entity) for entity in row] == [(-3, 0), (1, 0), (5, 0), (9, 0)]
    assert [(hit.time, hit.first, hit.second) for hit in space.collisions] == [
        (0, one, other) for one, other in itertools.pairwise(row)
    ]


def test_boxes_that_grow_in_a_row_at_a_wall_move_away_from_it():
    box((-2, 0), (1, 1))
    row = [mover((2 * n, 0), (1, 1), (0, 0), ec.Slide(), ec.Growth(1, 0)) for n in range(3)]
    space = ec.install()

    esper.process(1.0)

    assert [velocity(entity) for entity in row] == [(1, 0), (3, 0), (5, 0)]
    assert len(space.collisions) == 3


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


def test_a_wall_that_grows_pushes_a_row():
    wall = box((-2, 0), (1, 1))
    esper.add_component(wall, ec.Growth(2, 0))
    row = [mover((2 * n, 0), (1, 1), (0, 0), ec.Slide()) for n in range(3)]
    space = ec.install()

    esper.process(1.0)

    assert [velocity(entity) for entity in row] == [(2, 0)] * 3
    assert len(space.collisions) == 3


def test_a_box_that_grows_faster_opens_the_contact_of_a_slower_one_beside_it():
    #
    #   +--+-----+--+
    #   |  | fast|  |
    #   |  +-----+  |   both touch the two at their sides
    #   |  | slow|  |
    #   +--+-----+--+
    #
    left = mover((-2, 0), (1, 2), (0, 0), ec.Slide())
    right = mover((2, 0), (1, 2), (0, 0), ec.Slide())
    slow = mover((0, -1), (1, 1), (0, 0), ec.Slide(), ec.Growth(1, 0))
    fast = mover((0, 1), (1, 1), (0, 0), ec.Slide(), ec.Growth(2, 0))
    ec.install()

    esper.process(1 / 4)

    assert velocity(right)[0] - velocity(left)[0] == pytest.approx(4, rel=1e-14)
    open_by = [
        position(right)[0] - 1 - position(slow)[0] - 1.25,
        position(slow)[0] - 1.25 - position(left)[0] - 1,
    ]
    assert sum(open_by) == pytest.approx(0.5, rel=1e-14)
    assert min(open_by) >= 0
    speeds = [velocity(entity)[0] for entity in (left, right, slow, fast)]
    assert sum(speeds) == pytest.approx(0, abs=1e-14)


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
