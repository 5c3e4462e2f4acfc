"""Every requirement and every published fault that takes a whole step to show.

N is the gamedev.net article on swept AABB, G is Gomez's, F is studiofreya's.  The faults come with
the numbers with which they were found; those given by their top-left corners are boxes of side 1,
so that the centre is half a unit further on.
"""

from __future__ import annotations

import random

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import box, columns, faces, gaps, mover, position, set_velocity, velocity
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world", "implementation")


# -- one body that meets one box that does not move --

WALL = ((7, 0), (2, 50))  # its face is at 5: a box of half size 1 stands before it at 4
TILE = (0.5, 0.5)

# Each row: centre, half size and velocity of the runner, the box, the response, and what a step of
# one second makes of them: when they meet and the normal, where the runner is, its velocity.
STEPS = {
    "N stop": ((0, 0), (1, 1), (5, 0), WALL, ec.Stop, (0.8, (-1, 0)), (4, 0), (0, 0)),
    "N beyond the middle of the wall at the end": (
        (0, 0), (1, 1), (6.9, 0), ((6, 0), (2, 5)), ec.Stop, (3 / 6.9, (-1, 0)), (3, 0), (0, 0),
    ),
    "N behind the wall at the end": (
        (0, 0), (1, 1), (1e6, 0), ((6, 0), (2, 5)), ec.Stop, (3e-6, (-1, 0)), (3, 0), (0, 0),
    ),
    "N slide: the rest of the step along the wall": (
        (0, 0), (1, 1), (8, 4), WALL, ec.Slide, (0.5, (-1, 0)), (4, 4), (0, 4),
    ),
    "N deflect": ((0, 0), (1, 1), (8, 4), WALL, ec.Deflect, (0.5, (-1, 0)), (0, 4), (-8, 4)),
    "N push: all the speed along the wall": (
        (0, 0), (1, 1), (4, 3), ((4, 0), (1, 50)), ec.Push, (0.5, (-1, 0)), (2, 4), (0, 5),
    ),
    "N push where there is no direction": (
        (0, 0), (1, 1), (10, 0), ((2, 0), (1, 50)), ec.Push, (0.0, (-1, 0)), (0, 0), (0, 0),
    ),
    "N the path is scaled, never the velocity": (
        # the published listing stores v * remaining: a permanent slow-down
        (0, 0), (1, 1), (4, 3), ((5, 0), (1, 500)), ec.Slide, (0.75, (-1, 0)), (3, 3), (0, 3),
    ),
    "N touching and moving into the wall": (
        (1.5, 0.5), TILE, (-1, 0), ((0.5, 0.5), TILE), ec.Stop, (0.0, (1, 0)), (1.5, 0.5), (0, 0),
    ),
    "N both axes at once, the faster is the normal": (
        (0.5, 0.5), TILE, (4, 2), ((3.5, 2.5), TILE), ec.Slide, (0.5, (-1, 0)), (2.5, 2.5), (0, 2),
    ),
    # -- no collision --
    "N apart on x": ((5.5, 0.5), TILE, (0, 6), ((0.5, 3.5), TILE), ec.Stop, None, (5.5, 6.5), None),
    "N falls past, touching the side": (
        (1.5, 0.5), TILE, (0, 6), ((0.5, 3.5), TILE), ec.Stop, None, (1.5, 6.5), None,
    ),
    "N walks on to the next tile": (
        (0.5, 0.5), TILE, (2, 0), ((2, 1.5), TILE), ec.Stop, None, (2.5, 0.5), None,
    ),
    "N graze": ((0.5, 2.5), TILE, (3, -3), ((2.5, 2.5), TILE), ec.Stop, None, (3.5, -0.5), None),
    "far from everything": (
        (1e4, -1e4), (1, 1), (4, -1), WALL, ec.Deflect, None, (10_004, -10_001), None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", STEPS)
def test_step_with_one_body_and_one_box(row):
    centre, half, speed, block, response, met, end, after = STEPS[row]
    runner = mover(centre, half, speed, response())
    wall = box(*block)
    space = ec.install()

    esper.process(1.0)

    found = [(hit.time, hit.normal_for(runner), hit.other(runner)) for hit in space.collisions]
    assert found == ([] if met is None else [(pytest.approx(met[0], rel=1e-15), met[1], wall)])
    assert position(runner) == end
    assert velocity(runner) == (speed if after is None else after)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        pytest.param((9, 0, 0), (9, 0, 0), id="G-b1 apart, no relative motion"),
        pytest.param((9, 5, 0), (9, 0, 0), id="G-b2 apart on x, y closing"),
        pytest.param((3, 0, 0), (6, 0, 0), id="G-b3 moving apart"),
        pytest.param((10, 1.5, 1.5), (7, 1.4, 1.4), id="G-b4 contact after the step"),
        pytest.param((2, 0, 0), (5, 0, 0), id="G-b5 touching, leaving"),
        pytest.param((2, 4, 0), (3, 1, 0), id="G-b5' leaving on x, y closing"),
        pytest.param((1, 0, 0), (2, 0, 0), id="G-b6 inside, leaving"),
        pytest.param((3, 1, 0), (1, 3, 0), id="G-b8 corner graze"),
        pytest.param((4, 2, 0), (1, 2, 0), id="G-b9 sliding towards the next tile"),
    ],
)
def test_no_collision_is_made_up(start, end):
    box((0, 0, 0), (1, 1, 1))
    motion = [e - s for s, e in zip(start, end, strict=True)]
    runner = mover(start, (1, 1, 1), motion, ec.Stop())
    space = ec.install(dim=3)

    esper.process(1.0)

    assert len(space.collisions) == 0
    assert position(runner, 3) == pytest.approx(end, rel=1e-15)
    assert velocity(runner, 3) == tuple(motion)


@pytest.mark.parametrize("response", [ec.Stop, ec.Slide, ec.Push, ec.Deflect])
def test_a_box_that_starts_inside_goes_no_deeper_and_may_leave(response):
    # Box (.5, 0), block (1, 0), v (1, 0), by their top-left corners.
    runner = mover((1.0, 0.5), TILE, (1, 0), response())
    box((1.5, 0.5), TILE)
    space = ec.install()

    esper.process(1.0)

    (hit,) = space.collisions
    assert (hit.kind, hit.time, hit.normal) == (ec.SweepKind.OVERLAP, 0.0, (-1, 0))
    assert position(runner) == (1.0, 0.5)
    assert velocity(runner) == (0, 0)

    set_velocity(runner, -1, 0)
    esper.process(1.0)

    assert len(space.collisions) == 0
    assert position(runner) == (0.0, 0.5)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("side", [-1, 1])
def test_slide_takes_the_normal_part_off_each_axis(axis, side):
    # v - (v·n) n, not an exchange of the normal's components.
    before = [3.0, 5.0, 7.0]
    before[axis] *= side
    centre, size = [0.0, 0.0, 0.0], [50.0, 50.0, 50.0]
    centre[axis], size[axis] = side * 3.0, 1.0
    runner = mover((0, 0, 0), (1, 1, 1), before, ec.Slide())
    box(centre, size)
    ec.install(dim=3)

    esper.process(1.0)

    expected = [3.0, 5.0, 7.0]
    expected[axis] = 0.0
    assert velocity(runner, 3) == tuple(expected)
    assert position(runner, 3)[axis] == side * 1.0


@pytest.mark.parametrize("response", [ec.Slide, ec.Push])
def test_a_box_hugs_the_wall_it_is_pressed_against(response):
    runner = mover((0, 0), (1, 1), (3, 1), response())
    box((4, 0), (2, 500))
    ec.install()
    esper.process(1.0)
    start = position(runner)

    for _ in range(50):
        set_velocity(runner, 3, 1)
        esper.process(1.0)

    assert position(runner)[0] == start[0] == 1
    distance = 1 if response is ec.Slide else np.hypot(3, 1)
    assert position(runner)[1] == pytest.approx(start[1] + 50 * distance, rel=1e-12)


# -- one after the other --


@pytest.mark.parametrize("response", [ec.Stop, ec.Slide, ec.Push, ec.Deflect])
@pytest.mark.parametrize("order", [(3, 6), (6, 3)])
def test_the_earliest_of_two_blocks_counts(response, order):
    # v = 10, blocks at 3 and 6: handled one after the other, the box goes through the first.
    runner = mover((0.5, 0.5), TILE, (10, 0), response())
    blocks = {x: box((x + 0.5, 0.5), TILE) for x in order}
    space = ec.install()

    esper.process(1.0)

    assert [hit.other(runner) for hit in space.collisions] == [blocks[3]]
    end = 2.5 - 8 if response is ec.Deflect else 2.5
    assert position(runner) == (pytest.approx(end, rel=1e-15), 0.5)


def test_first_contact_exactly_at_the_end_belongs_to_the_next_step():
    # Contact exactly at the end of every second step, with a bounce at the start of the next.
    ball = mover((5, 0), (1, 1), (4, 0), ec.Deflect())
    box((-1, 0), (1, 5))
    box((11, 0), (1, 5))
    space = ec.install()

    times = []
    for _ in range(16):
        esper.process(0.5)
        times.append([hit.time for hit in space.collisions])

    # At 7, 9 (touches), 7, 5, 3, 1 (touches), 3, 5 and again.
    assert times == ([[], [], [0.0], [], [], [], [0.0], []] * 2)
    assert position(ball) == (5, 0)
    assert velocity(ball) == (4, 0)


def test_deflect_keeps_the_speed_and_moves_on_in_the_same_step():
    # v = 3 between walls; the published answer is v = 1.5 for ever after one bounce.
    ball = mover((2, 0), TILE, (3, 0), ec.Deflect())
    box((-1, 0), (1, 5))
    box((11, 0), (1, 5))
    ec.install()

    way = 2.0 - 0.5
    for _ in range(200):
        esper.process(1.0)
        way += 3.0
        folded = way % 18.0
        expected = 0.5 + (folded if folded < 9.0 else 18.0 - folded)
        assert abs(velocity(ball)[0]) == 3
        assert position(ball)[0] == pytest.approx(expected, abs=1e-12)


def test_a_bounce_that_leaves_the_fat_bounds_meets_what_is_there():
    #
    #    -21|                    0 ->         |11
    #
    # 10 to the right, then 30 from wall to wall: the first path never comes near the left one.
    ball = mover((0, 0), (1, 1), (90, 0), ec.Deflect())
    right = box((12, 0), (1, 5))
    left = box((-22, 0), (1, 5))
    space = ec.install()

    esper.process(1.0)

    assert [hit.other(ball) for hit in space.collisions] == [right, left, right]
    assert [hit.time for hit in space.collisions] == pytest.approx([1 / 9, 4 / 9, 7 / 9], rel=1e-14)
    assert position(ball)[0] == pytest.approx(-10, rel=1e-14)


def test_more_than_the_article_both_move_sizes_change_and_3d():
    first = mover((0, 0, 0), (1, 1, 1), (0, 0, 6), ec.Slide())
    second = mover((0, 0, 10), (1, 1, 1), (0, 0, -6), ec.Slide(), ec.Growth(0, 0, 4))
    space = ec.install(dim=3)

    esper.process(1.0)

    # A gap of 8 closes at 6 + 6 + 4.
    (hit,) = space.collisions
    assert (hit.time, hit.normal, hit.closing_speed) == (0.5, (0, 0, -1), 16)
    assert hit.position_first == (0, 0, 3)
    assert hit.position_second == (0, 0, 7)
    assert gaps(first, second, 3)[2] >= 0


@pytest.mark.parametrize("drift", [(0, 0), (1e-9, -1e-9)])
def test_still_overlapping_at_the_end(drift):
    # B (3,0,0) -> (1.5,0,0): both exits are 3.33, unclipped.
    box((0, 0, 0), (1, 1, 1))
    mover((3, 0, 0), (1, 1, 1), (-1.5, *drift))
    space = ec.install(dim=3)

    esper.process(1.0)

    (hit,) = space.collisions
    assert hit.time == pytest.approx(2 / 3, rel=1e-15)
    assert hit.exit == pytest.approx(10 / 3, rel=1e-15)
    assert len(space.contacts_ended) == 0


@pytest.mark.parametrize("dim", [2, 3])
def test_of_thousands_of_hits_none_ends_inside(dim, volume):
    # Moving by v·t put 8.1 % inside the wall; pushing on, all of those passed through.
    rng = random.Random(20 + dim)
    u = rng.uniform
    runners, walls = [], []
    n = volume(600, 3000)
    for i in range(n):
        where = [100.0 * (i % 60), 100.0 * (i // 60), 0.0][:dim]
        wall_half = [round(u(0.5, 20), 2) for _ in range(dim)]
        size = [round(u(0.05, 3), 3) for _ in range(dim)]
        wall_centre = [round(w + u(-5, 5), 2) for w in where]
        axis, side = rng.randrange(dim), rng.choice([-1, 1])
        start = [c + u(-h, h) for c, h in zip(wall_centre, wall_half, strict=True)]
        away = wall_half[axis] + size[axis] + u(0.001, 8)
        start[axis] = round(wall_centre[axis] + side * away, 3)
        motion = [u(-0.5, 0.5) for _ in range(dim)]
        motion[axis] = -side * u(500, 3000)
        walls.append(box(wall_centre, wall_half))
        runners.append(mover(start, size, motion, ec.Slide()))
    space = ec.install(dim=dim)

    esper.process(1 / 60)

    hits = np.array(space.collision_array)
    assert len(hits) == n
    axes = np.argmax(np.abs(hits["normal"]), axis=1)
    # wall first, runner second: the normal points from the runner to the wall
    signs = hits["normal"][np.arange(n), axes]
    order = (hits["second"] - 1) // 2
    rows = np.arange(n)

    def gap_to_wall():
        centres, sizes = columns(runners, ec.Position, dim), columns(runners, ec.Extents, dim)
        wall_centres, wall_sizes = columns(walls, ec.Position, dim), columns(walls, ec.Extents, dim)
        below = (wall_centres - wall_sizes) - (centres + sizes)
        above = (centres - sizes) - (wall_centres + wall_sizes)
        gap = np.where(signs[:, None] > 0, below[order], above[order])[rows, axes]
        scale = np.maximum(np.abs(centres) + sizes, np.abs(wall_centres) + wall_sizes)[order]
        return gap, np.spacing(scale[rows, axes])

    gap, ulp = gap_to_wall()
    assert int((gap < 0).sum()) == 0
    assert bool((gap <= ulp).all())

    placed = columns(runners, ec.Position, dim)[order][rows, axes]
    for _ in range(5):
        for row, axis, sign in zip(order, axes, signs, strict=True):
            push = [0.0] * dim
            push[axis] = 1000.0 * float(sign)
            set_velocity(runners[row], *push)
        esper.process(1 / 60)

        gap, _ = gap_to_wall()
        assert int((gap < 0).sum()) == 0
        # and nothing creeps
        assert np.array_equal(columns(runners, ec.Position, dim)[order][rows, axes], placed)


# -- touching, and what is near --


def test_boxes_side_by_side_touch_and_do_not_collide():
    # Queries and contacts are closed, impacts are open.
    left = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    right = box((2, 0), (1, 1))
    point, other = box((9, 9), (0, 0)), mover((9, 9), (0, 0), (0, 0), ec.Slide())
    space = ec.install()

    esper.process(1.0)

    assert len(space.collisions) == 0
    contacts = [(c.first, c.second, c.normal) for c in space.contacts_began]
    assert contacts[0] == (left, right, (-1, 0))
    assert space.query((1, 0), (1, 0)) == [left, right]
    assert space.query_point((9, 9)) == [point, other]


def test_boxes_that_touch_on_paper_in_decimals_are_in_contact(volume):
    # 10,100 of them; |d| <= sum of halves on rounded numbers called a quarter apart.
    pairs = []
    n_centres = volume(20, 100)
    for i in range(n_centres):
        for j in range(1, 102):
            centre, left, right = i / 10, (i % 7 + 1) / 10, j / 10
            # Near 0 on x, where decimals differ in their last bits; apart from the others on y.
            offset = 1000.0 * len(pairs)
            first = mover((centre, offset), (left, 1), (0, 0), ec.Slide())
            second = box((round(centre + left + right, 1), offset), (right, 1))
            pairs.append((first, second))
    space = ec.install()

    esper.process(1 / 60)

    touching = {(c.first, c.second) for c in space.contacts_began}
    apart = sum(pair not in touching for pair in pairs)
    assert len(pairs) == 101 * n_centres
    assert apart == 0
    assert len(space.collisions) == 0


def test_only_boxes_that_come_near_are_swept():
    # A hundred boxes far from each other, two that meet.
    for i in range(100):
        mover((100 * i, 0), (1, 1), (0, 5), ec.Stop())
    mover((0, -50), (1, 1), (4, 0), ec.Stop())
    box((4, -50), (1, 1))
    space = ec.install()

    esper.process(1.0)

    assert 1 <= space.stats.pairs <= 3
    assert 1 <= space.stats.sweeps <= 10
    assert len(space.collisions) == 1


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_axis_that_separates_is_enough(axis):
    # The boxes share their place on the two other axes.
    away = [0.0, 0.0, 0.0]
    away[axis] = 50.0
    lonely = mover((0, 0, 0), (1, 1, 1), (0.25, 0.25, 0.25), ec.Stop())
    box(away, (1, 1, 1))
    space = ec.install(dim=3)

    esper.process(1.0)

    assert space.stats.pairs == 0  # a body never meets itself
    assert len(space.collisions) == len(space.contacts_began) == 0
    assert space.query(*faces(lonely, 3)) == [lonely]


def test_a_slow_body_is_seldom_reinserted_and_one_at_rest_never():
    mover((0, 0), (1, 1), (1, 0), ec.Slide())
    box((0, 50), (1, 1))
    mover((0, 100), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)

    escapes = 0
    for _ in range(240):
        esper.process(1 / 60)
        escapes += space.stats.escapes

    # It goes four units; a margin of a fifth of a unit would last for 20 at most.
    assert 1 <= escapes <= 40


@pytest.mark.parametrize("speed", [0.05, 7.0, *further(0.01, 0.3)])
def test_drifting_across_a_fast_motion_still_meets(speed):
    # Fast along x, slowly towards a rail along it.
    runner = mover((0, 0), (1, 1), (500, speed), ec.Slide())
    rail = box((0, 3.05), (1e6, 1))
    space = ec.install()

    steps = int(1.05 / speed * 60) + 2
    for _ in range(steps):
        esper.process(1 / 60)
        assert gaps(runner, rail)[1] >= 0

    assert velocity(runner) == (500, 0)
    assert [contact.other(runner) for contact in space.contacts(runner)] == [rail]


def test_bounds_shrink_after_a_fast_flight():
    # Crates beside an oblique path: its bounds hold all of them, those of the bullet
    # at rest none.
    for i in range(100):
        box((10 * i, 10 * i - 30), (1, 1))
    bullet = mover((-20, -20), (0.5, 0.5), (1e5, 1e5), ec.Stop())
    box((1000, 1000), (1, 50))
    space = ec.install()
    esper.process(1 / 60)
    assert velocity(bullet) == (0, 0)
    assert space.stats.pairs > 90

    for _ in range(3):
        esper.process(1 / 60)

    assert space.stats.pairs <= 2


# -- numbers that are none --


@pytest.mark.parametrize(
    ("component", "field", "value"),
    [
        pytest.param(ec.Velocity, "x", float("nan"), id="G-b10 N-b10 NaN velocity"),
        pytest.param(ec.Position, "y", float("nan"), id="F-b1 NaN centre"),
        pytest.param(ec.Extents, "x", -1.0, id="F-b3 negative half size"),
        pytest.param(ec.Extents, "y", float("inf"), id="F-b3 infinite half size"),
        pytest.param(ec.Position, "x", 2.0**501, id="F-b3 too far"),
    ],
)
def test_a_space_quarantines_bad_numbers(component, field, value):
    sick = mover((0, 0), (1, 1), (10, 0), ec.Stop())
    healthy = mover((0, 50), (1, 1), (10, 0), ec.Stop())
    box((5, 0), (1, 100))
    space = ec.install()
    setattr(esper.component_for_entity(sick, component), field, value)

    with pytest.warns(RuntimeWarning, match=str(sick)):
        esper.process(1.0)

    assert [(hit.first) for hit in space.collisions] == [healthy]
    assert position(healthy) == (3, 50)
    assert len(space.reports) == 1
    for part in (str(sick), component.__name__, field):
        assert part in str(space.reports[0])

    esper.process(1.0)
    assert len(space.reports) == 1
