"""Limits: bodies are held to the end of a step, keep their velocities and go on in the next one."""

from __future__ import annotations

import itertools
import math
import random

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from tests import plain
from tests.scenes import box, closed_arena, mover, pairs_inside, position, set_velocity, velocity

pytestmark = [pytest.mark.usefixtures("world", "implementation"), pytest.mark.slow_in_python]


def between_walls(speed=100.0, y=0.0):
    """Build a ball with a unit of room to either side, and the two walls."""
    ball = mover((0, y), (1, 1), (speed, 0), ec.Deflect())
    right = box((3, y), (1, 5))
    left = box((-3, y), (1, 5))
    return ball, right, left


def most_sweeps(space):
    """Return how many sweeps the docs allow a step."""
    stats = space.stats
    return stats.pairs + 9 * space.pair_limit * stats.movers + 40 * stats.pairs


def most_pairs(space, room=16_384, crowd=32):
    """Return how many pairs the docs allow a step of bodies that all yield."""
    stats = space.stats
    return 3 * (room + crowd * stats.movers) + 2 * crowd * stats.movers + 8 * stats.static


@pytest.fixture
def room(implementation, monkeypatch):
    """Return the room for pairs, and for each body; little in plain Python, so that few suffice."""
    if implementation == "compiled":
        return 16_384, 32
    for name, limit in {"PAIR_ROOM": 256, "CROWD": 4, "MANY": 8}.items():
        monkeypatch.setattr(plain.kernel("broadphase.broadphase"), name, limit)
    return 256, 4


# The pair limit ------------------------------------------------------------------------


def test_a_ball_that_bounces_too_often_goes_on_with_its_speed_in_the_next_step():
    ball, right, left = between_walls(speed=1e4)
    space = ec.install()

    for _ in range(5):
        esper.process(1.0)
        assert space.stats.held == 1
        assert 100 < len(space.collisions) <= 128
        assert abs(velocity(ball)[0]) == 1e4
    esper.delete_entity(right)
    esper.delete_entity(left)
    esper.process(1.0)

    assert space.stats.held == 0
    assert abs(position(ball)[0]) > 9_000


def test_a_pair_limit_of_zero_is_refused():
    with pytest.raises(ValueError, match=r"pair_limit=0\) must be a whole number from 1"):
        ec.Space(pair_limit=0)


def test_a_report_names_the_bodies_that_are_held_once_while_it_goes_on():
    ball, _, _ = between_walls(speed=1e4)
    space = ec.install()

    for _ in range(3):
        esper.process(1.0)

    (report,) = space.reports
    assert (report.step, report.entity, report.field, report.value) == (0, ball, "Velocity", 1)
    assert f"step 0 held entity {ball} to its end" in report.message
    assert "Space.pair_limit" in report.message
    assert [finding.cause for finding in space.doctor()] == ["pair_limit"]


def test_the_limits_count_within_one_step_only():
    ball, _, _ = between_walls(speed=10)
    space = ec.install(ec.Space(pair_limit=2))

    for _ in range(50):
        esper.process(0.25)
        assert space.stats.held == 0
    assert abs(velocity(ball)[0]) == 10


def test_events_tell_the_velocity_that_a_held_body_keeps():
    ball, _, _ = between_walls()
    other = mover((1, -11), (1, 1), (0, 10), ec.Deflect(0.5))
    space = ec.install(ec.Space(pair_limit=2))

    esper.process(1.0)

    hit = space.collisions[-1]
    assert (hit.first, hit.second) == (ball, other)
    assert hit.time == pytest.approx(0.9)
    assert hit.velocity_first == (100, 0)
    assert hit.closing_speed == 10  # as fast as the faces close
    assert velocity(other) == (0, -5)  # as off a wall
    assert velocity(ball) == (100, 0)


@pytest.mark.parametrize("gravity", [0, -8])
def test_a_response_sees_and_sets_the_velocity_that_a_held_body_keeps(gravity):
    class Shot:
        pass

    ball, _, _ = between_walls()
    shot = mover((1, -11), (1, 1), (0, 10), ec.Deflect(), Shot(), ec.GravityScale(0))
    space = ec.install(ec.Space(pair_limit=2, gravity=(0, gravity)))
    seen = []

    def hit(impact):
        speed = esper.component_for_entity(ball, ec.Velocity)
        seen.append((speed.x, speed.y))
        speed.y = 7.0
        esper.delete_entity(shot)

    space.respond_with(Shot, hit)
    esper.process(1.0)

    assert seen == [(100.0, pytest.approx(gravity * 0.09))]  # it was held at that time
    assert velocity(ball) == (100.0, 7.0)
    assert position(ball) == (1, pytest.approx(gravity / 2 * 0.09))
    assert space.collisions[-1].impulse == pytest.approx(7 - gravity * 0.09)


# Held bodies and those that move -------------------------------------------------------


def test_a_lift_crushes_a_held_body_against_a_ceiling():
    ball, _, _ = between_walls()
    ceiling = box((0, 3), (2, 1))
    lift = mover((0, -4), (2, 1), (0, 4))
    space = ec.install(ec.Space(pair_limit=2))

    esper.process(1.0)

    (crushed,) = (hit for hit in space.collisions if hit.outcome is ec.Outcome.CRUSHED)
    assert {crushed.first, crushed.second} & {ball}
    assert set(crushed.solids) == {ceiling, lift}
    assert velocity(ball) == (100, 0)


@pytest.mark.parametrize("lift_is_first", [True, False])
def test_a_held_ball_that_a_lift_meets_rides_on_it_and_does_not_rebound(lift_is_first):
    lift = mover((0, -11), (2, 1), (0, 10)) if lift_is_first else None
    ball, _, _ = between_walls()
    lift = lift or mover((0, -11), (2, 1), (0, 10))
    space = ec.install(ec.Space(pair_limit=2))

    esper.process(1.0)

    assert {space.collisions[-1].first, space.collisions[-1].second} == {ball, lift}
    assert space.collisions[-1].impulse == 10
    assert position(ball) == (1, pytest.approx(1))
    assert velocity(ball) == (100, 0)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("order", list(itertools.permutations(["lift", "crate", "ball"])))
def test_a_lift_moves_a_held_ball_by_the_crate_before_it(order, sign):
    #   +----+   +---+    |      The ball bounces between floor and ceiling, and is soon held.
    #   |lift| =>| c |    o
    #   +----+   +---+    |
    parts = {
        "lift": lambda: mover((-8 * sign, 0), (1, 1), (10 * sign, 0)),
        "crate": lambda: mover((-3 * sign, 0), (1, 1), (0, 0), ec.Slide()),
        "ball": lambda: mover((0, 0), (1, 1), (0, 100), ec.Deflect()),
    }
    made = {name: parts[name]() for name in order}
    for y in (3, -3):
        box((0, y), (9, 1))
    space = ec.install(ec.Space(pair_limit=2))

    esper.process(1.0)

    assert {hit.outcome for hit in space.collisions} == {ec.Outcome.RESOLVED}
    assert position(made["lift"]) == (2 * sign, 0)
    assert position(made["crate"]) == (pytest.approx(4 * sign), 0)
    assert position(made["ball"]) == (pytest.approx(6 * sign), pytest.approx(1))
    assert velocity(made["ball"]) == (0, 100)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("cart", "own"), [(-30, 100), (30, 100), (30, -100)])
def test_a_held_ball_on_a_cart_keeps_its_own_speed_whatever_falls_on_it(cart, own, order):
    # The ball bounces across the cart, between two walls, until it is held. Then a plate meets it
    # twice, with a ceiling between.
    parts = {
        "cart": lambda: mover((0, 0, 0), (60, 1, 10), (cart, 0, 0), ec.Carry()),
        "left": lambda: box((0, 3, -3), (60, 1.5, 1)),
        "right": lambda: box((0, 3, 3), (60, 1.5, 1)),
        "ceiling": lambda: box((0, 10, 0), (60, 1, 1)),
        "ball": lambda: mover((0, 2, 0), (1, 1, 1), (0, 0, 0), ec.Deflect()),
        "plate": lambda: mover((0, 8, 0), (40, 1, 1), (0, -16, 0), ec.Deflect()),
    }
    made = {name: parts[name]() for name in list(parts)[::order]}
    space = ec.install(ec.Space(dim=3, pair_limit=2))
    esper.process(0.0)
    set_velocity(made["ball"], own, 0, 100)
    esper.process(1.0)

    # It meets a wall after 1/100 s, and then every 2/100 s: each of them twice.
    assert position(made["ball"], 3) == pytest.approx((0.09 * (own + cart), 2, 1))
    pair = {made["plate"], made["ball"]}
    assert [h.time for h in space.collisions if {h.first, h.second} == pair] == [0.25, 0.75]
    assert velocity(made["ball"], 3) == (own, 0, 100)
    assert space.carried(made["ball"]) == (cart, 0, 0)


@pytest.mark.parametrize("pair_limit", [1, 2, 5])
@pytest.mark.parametrize("response", [ec.Deflect, ec.Slide, ec.Push, ec.Stop])
def test_nothing_passes_through_anything_where_bodies_are_held(pair_limit, response, volume):
    rng = random.Random(pair_limit)
    closed_arena([0, 0], [40, 40])
    lift = mover((8, 20), (3, 0.01), (0, 0))
    paddle = mover((30, 20), (0.01, 3), (0, 0))
    balls = [
        mover(
            (4 + 5 * (i % 7), 3 + 5 * (i // 7)),
            (1, 1),
            (0, 0),
            response() if i % 2 else ec.Deflect(),
        )
        for i in range(35)
    ]
    space = ec.install(ec.Space(pair_limit=pair_limit))
    n_held = 0
    crushed = set()  # they end inside what has crushed them

    for step in range(volume(20, 60, least=15)):
        for ball in balls:
            if step % 4 == 0:
                speed = rng.uniform(-900, 900), rng.uniform(-900, 900)
                esper.component_for_entity(ball, ec.Velocity).set(*speed)
        esper.component_for_entity(lift, ec.Velocity).y = 60 if position(lift)[1] < 20 else -60
        esper.component_for_entity(paddle, ec.Velocity).x = 60 if position(paddle)[0] < 20 else -60
        before = space.positions(balls) if step else None
        esper.process(1 / 20)
        n_held += space.stats.held
        for hit in space.collisions:
            if hit.outcome is ec.Outcome.CRUSHED:
                crushed |= {hit.first, hit.second}
        places = space.positions(balls)
        for first, second in pairs_inside(places - 1, places + 1, 1e-9):
            if {balls[first], balls[second]} & crushed or before is None:
                continue
            gap = abs(before[first] - before[second]).max()
            assert gap < 2 + 1e-9, "they were outside each other"
        for ball, place in zip(balls, places, strict=True):
            if ball not in crushed:
                assert place.min() - 1 >= -1e-9
                assert place.max() + 1 <= 40 + 1e-9

    assert n_held > 0


def test_what_holds_bodies_is_over_when_a_step_is_taken_back():
    ball, _, _ = between_walls(speed=1e4)
    space = ec.install()

    def break_off(impact):
        if len(breaks) < 1 and impact.time > 0.011:
            breaks.append(impact.time)
            raise KeyboardInterrupt
        return ec.DEFAULT

    breaks = []
    kind = type("Fuse", (), {})
    esper.add_component(mover((0, -5), (0.5, 0.5), (0, 90), ec.Slide()), kind())
    space.respond_with(kind, break_off)
    with pytest.raises(KeyboardInterrupt):
        esper.process(1.0)
    assert velocity(ball) == (1e4, 0)
    assert position(ball) == (0, 0)

    esper.process(1.0)

    assert abs(velocity(ball)[0]) == 1e4
    assert space.stats.held >= 1


def test_snapshots_between_held_steps_go_on_as_the_world_does():
    between_walls(speed=1e4)
    space = ec.install()
    esper.process(1.0)
    saved = space.snapshot()

    esper.process(1.0)
    there = space.state_hash()
    space.restore(saved)
    esper.process(1.0)

    assert space.state_hash() == there


# The sweeps of a step ------------------------------------------------------------------


def n_of(compiled, plain):
    return compiled if backend.kernels.compiled else plain


@pytest.mark.parametrize("more", [(), (ec.Separate(60),)], ids=["alone", "in a soft crowd"])
def test_a_dynamic_boss_under_thousands_of_bullets_is_held_and_the_step_is_short(more):
    rng = random.Random(1)
    n = n_of(4000, 300)
    boss = mover((0, 0), (50, 50), (1, 0), ec.Slide(), ec.Mass(1000), *more)
    for i in range(n):
        mover((rng.uniform(60, 200), -49 + 98 * i / n), (0.001, 0.001), (-12_000, 0), ec.Deflect())
    space = ec.install(ec.Space(pair_limit=1))

    esper.process(1 / 60)

    assert space.stats.sweep_limit_hits == 1
    assert space.stats.pairs >= n
    assert space.stats.sweeps < 40 * n
    assert str(boss) in space.reports[-1].message
    assert velocity(boss)[0] < 1  # of the bullets that came first it has the momentum


def test_a_dynamic_boss_that_thousands_of_bullets_stick_to_is_not_held():
    rng = random.Random(1)
    n = n_of(4000, 300)
    boss = mover((0, 0), (50, 50), (1, 0), ec.Slide(), ec.Mass(1000))
    for i in range(n):
        mover((rng.uniform(60, 200), -49 + 98 * i / n), (0.001, 0.001), (-12_000, 0), ec.Stop())
    space = ec.install()

    esper.process(1 / 60)

    assert space.stats.held == 0
    assert n <= space.stats.pairs < space.stats.sweeps < 8 * space.stats.pairs
    assert velocity(boss)[0] < -12_000 * n / (1000 + n) * 0.9


def test_paths_that_all_cross_in_one_point_take_turns(room):
    n = n_of(500, 60)
    for i in range(n):
        x, y = math.cos(2 * math.pi * i / n), math.sin(2 * math.pi * i / n)
        mover((1000 * x, 1000 * y), (1, 1), (-2000 * x, -2000 * y), ec.Deflect())
    bystander = mover((5000, 0), (1, 1), (-10, 0), ec.Deflect())
    space = ec.install()

    esper.process(1.0)

    assert space.stats.waiting > 0
    assert "take turns" in space.reports[0].message
    assert "waiting" in [finding.cause for finding in space.doctor()]
    assert space.stats.pairs <= most_pairs(space, *room)
    assert space.stats.sweeps <= most_sweeps(space)
    assert space.stats.held >= space.stats.waiting
    assert position(bystander) == (4990, 0)  # who has no pairs does not wait


def test_a_body_waits_whose_new_path_there_is_no_room_for_and_goes_on_in_the_next_step(room):
    #
    #     ------ ceiling      from the wall the path leads beside thousands of specks to the
    #    /   \ |             ceiling, and from there to where no path has been in this step
    #   /  .. / | wall
    #
    ball = mover((0, 0), (1, 1), (2000, 2000), ec.Deflect())
    box((12, 10), (1, 5))
    ceiling = box((-480, 502), (50, 1))
    pairs, pairs_each = room
    rng = random.Random(2)
    for _ in range(pairs + 2 * pairs_each):
        box((rng.uniform(-900, -800), rng.uniform(20, 100)), (0.1, 0.1))
    space = ec.install()

    esper.process(1.0)

    assert space.stats.waiting == 1
    assert "take turns" in space.reports[0].message
    assert [hit.other(ball) for hit in space.collisions][-1] == ceiling
    assert position(ball)[1] == pytest.approx(500.0)
    assert velocity(ball) == (-2000, -2000)
    esper.process(0.1)
    assert space.stats.waiting == 0
    assert position(ball)[1] == pytest.approx(300.0)


def test_bodies_of_mixed_scale_take_no_more_sweeps_than_their_pairs_allow():
    rng = random.Random(1)
    for _ in range(n_of(1000, 150)):
        size = 10 ** rng.uniform(-2, 1.5)
        speed = [rng.uniform(-1, 1) * 60 * 10 ** rng.uniform(0, 3.5) for _ in range(2)]
        response = rng.choice([ec.Deflect, ec.Slide, ec.Push, ec.Stop])()
        mover((rng.uniform(-500, 500), rng.uniform(-500, 500)), (size, size), speed, response)
    space = ec.install()

    for _ in range(3):
        esper.process(1 / 60)
        assert space.stats.pairs <= most_pairs(space)
        assert space.stats.sweeps <= most_sweeps(space)
        # The bounds of diagonal paths meet, and the paths pass each other.
        assert space.stats.sweeps < space.stats.pairs / 2


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("beside", [1.99, 2.01])
def test_boxes_whose_diagonal_paths_pass_each_other_are_not_swept(dim, beside):
    #
    #        / /
    #       / / B      both go along a diagonal, `beside` above one another at the sum of
    #    A / /         half sizes 2; the bounds of their paths meet
    #
    flat = [0.0] * (dim - 2)
    slow = [0.5] * (dim - 2)
    half = [1.0] * dim
    first = mover((0, 0, *flat), half, (40, 40, *slow), ec.Slide())
    mover((40, 40 + 2 * beside, *flat), half, (-40, -40, *(-part for part in slow)), ec.Slide())
    space = ec.install(dim=dim)

    esper.process(1.0)

    assert space.stats.pairs == 1
    assert (space.stats.sweeps == 0) == (beside > 2.0)
    assert bool(space.collisions_of(first)) == (beside < 2.0)


# The pairs of a step -------------------------------------------------------------------


def nearly_in_one_point(n, speed=1.0):
    """Put planes an ulp apart in a row, so that none is inside another; each meets all."""
    x, points = 1.0, []
    for i in range(n):
        points.append(mover((x, 0), (0, 1), (speed * (-1) ** i, 0), ec.Deflect()))
        x = math.nextafter(x, 2.0)
    return points


def test_planes_beside_each_other_do_not_escape_the_bound_of_the_pairs(room):
    points = nearly_in_one_point(n_of(600, 60))
    space = ec.install()

    esper.process(1.0)

    stats = space.stats
    assert stats.pairs <= most_pairs(space, *room)
    assert stats.waiting > len(points) // 6
    assert stats.sweeps <= most_sweeps(space)
    xs = [position(point)[0] for point in points]
    assert xs == sorted(xs)  # none has passed through another


def test_bodies_that_take_turns_all_come_to_move(room):
    points = nearly_in_one_point(n_of(600, 60), speed=0.0)
    space = ec.install()
    for point in points:
        esper.component_for_entity(point, ec.Velocity).y = 1.0
    starts = dict.fromkeys(points, 0.0)

    for _ in range(12):
        esper.process(1e-3)
        if not space.stats.waiting:
            break

    assert all(position(point)[1] > start for point, start in starts.items())
    assert {velocity(point) for point in points} == {(0.0, 1.0)}


@pytest.mark.filterwarnings("ignore:entity 1 and")  # half of them are a crowd each
def test_contacts_of_bodies_that_take_turns_stay(room):
    for _ in range(n_of(500, 60)):
        mover((-1, 0), (1, 1), (0, 0), ec.Slide())
        mover((1, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    ended = []
    space.on_contact_ended(ended.append)

    esper.process(1 / 60)
    began = len(space.contacts())
    for _ in range(3):
        esper.process(1 / 60)
    assert ended == []

    assert began > 0
    assert space.stats.waiting > 0


# Steps that are done again ----------------------------------------------------------------


def reports_of(space):
    return [(*report, repr(report.value)) for report in space.reports], space.n_reports


@pytest.mark.filterwarnings("ignore:step")
@pytest.mark.parametrize("held_before", [False, True])
def test_a_step_done_again_after_a_restore_reports_the_same_held_bodies(held_before):
    ball, *_ = between_walls(speed=100.0 if held_before else 1.0)
    space = ec.install(ec.Space(pair_limit=2))
    esper.process(1.0)
    data = space.snapshot()
    esper.component_for_entity(ball, ec.Velocity).x = 100.0
    esper.process(1.0)
    expected = reports_of(space)

    for speed in (100.0, 1.0):  # the predicted input, which may be wrong
        space.restore(data)
        esper.component_for_entity(ball, ec.Velocity).x = speed
        esper.process(1.0)
        space.restore(data)
        esper.component_for_entity(ball, ec.Velocity).x = 100.0
        esper.process(1.0)
        assert reports_of(space) == expected
    assert len(expected[0]) == 1


@pytest.mark.filterwarnings("ignore:entity")
@pytest.mark.parametrize("crowded_before", [False, True])
def test_a_step_done_again_after_a_restore_reports_the_same_crowd(crowded_before, room):
    n = n_of(500, 60)
    bodies = [mover((3 * i, 0), (1, 1), (0, 0), ec.Slide()) for i in range(n)]
    space = ec.install()

    def step(width):
        for i, body in enumerate(bodies):
            esper.component_for_entity(body, ec.Position).x = width * i
        esper.process(1e-9)

    step(1e-3 if crowded_before else 3.0)
    data = space.snapshot()
    step(1e-3)
    expected = reports_of(space)
    for width in (1e-3, 3.0):
        space.restore(data)
        step(width)
        space.restore(data)
        step(1e-3)
        assert reports_of(space) == expected
    assert len(expected[0]) == 1


# Long steps ----------------------------------------------------------------------------


def test_a_step_of_a_year_comes_to_an_end():
    rng = random.Random(9)
    closed_arena([0, 0], [50, 50])
    balls = []
    for i in range(40):
        centre = (4 + 6 * (i % 7), 4 + 6 * (i // 7))
        speed = (rng.uniform(-99, 99), rng.uniform(-99, 99))
        balls.append(mover(centre, (1, 1), speed, ec.Deflect(rng.choice([1, 0.9]))))
    space = ec.install()

    esper.process(3e7)

    assert space.stats.held == 40
    assert space.stats.resolutions <= 8 * (64 * 40 + 2 * space.stats.pairs)
    assert space.stats.sweeps <= most_sweeps(space)
    for ball in balls:
        assert all(abs(c - 25) <= 24 + 1e-6 for c in position(ball))
        assert velocity(ball) != (0, 0)


def test_many_boxes_in_one_point_do_not_hang():
    for _ in range(60):
        mover((0, 0), (1, 1), (1, 2), ec.Deflect())
    space = ec.install()

    for _ in range(3):
        esper.process(1 / 60)

    assert len(space) == 60
    assert len(space.collisions) == 0
