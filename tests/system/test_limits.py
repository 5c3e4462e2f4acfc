"""Budgets: how many answers a pair and a step may have, and what happens beyond."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, closed_arena, mover, pairs_inside, position, velocity

pytestmark = pytest.mark.usefixtures("world", "life")


def between_walls(speed=100.0):
    """Build a ball with a unit of room to either side, and the two walls."""
    ball = mover((0, 0), (1, 1), (speed, 0), ec.Deflect())
    right = box((3, 0), (1, 5))
    left = box((-3, 0), (1, 5))
    return ball, right, left


def test_after_pair_limit_answers_a_pair_slides():
    ball, right, left = between_walls()
    space = ec.install(ec.Space(pair_limit=2))

    esper.process(1.0)

    # Two bounces at each wall, then the right one stops it.
    assert [hit.other(ball) for hit in space.collisions] == [right, left, right, left, right]
    assert velocity(ball) == (0, 0)
    assert position(ball) == (1, 0)
    assert space.stats.pair_limit_hits >= 1
    assert space.stats.answer_limit_hits == 0


def test_pair_limit_zero_makes_everything_slide():
    ball, right, _ = between_walls()
    space = ec.install(ec.Space(pair_limit=0))

    esper.process(1.0)

    assert [hit.other(ball) for hit in space.collisions] == [right]
    assert velocity(ball) == (0, 0)


def test_the_default_pair_limit_is_64():
    _, _, _ = between_walls(speed=1e4)
    space = ec.install(ec.Space(answer_limit=100_000))

    esper.process(1.0)

    assert len(space.collisions) == 129
    assert space.stats.pair_limit_hits >= 1


def test_the_limits_count_within_one_step_only():
    ball, _, _ = between_walls(speed=10)
    space = ec.install(ec.Space(pair_limit=2, answer_limit=4))

    for _ in range(50):
        esper.process(0.25)
        assert space.stats.pair_limit_hits == space.stats.answer_limit_hits == 0
    assert abs(velocity(ball)[0]) == 10


def test_after_answer_limit_answers_every_answer_is_a_slide():
    ball, right, left = between_walls()
    space = ec.install(ec.Space(answer_limit=3))

    esper.process(1.0)

    assert [hit.other(ball) for hit in space.collisions] == [right, left, right, left]
    assert velocity(ball) == (0, 0)
    assert position(ball) == (-1, 0)
    assert space.stats.answer_limit_hits >= 1
    assert space.stats.pair_limit_hits == 0


def test_the_default_answer_limit_grows_with_the_movers():
    # 64 + 16 × movers; three balls with 64 answers at each wall would make 387.
    for i in range(3):
        mover((0, 20 * i), (1, 1), (1e4, 0), ec.Deflect())
        box((3, 20 * i), (1, 5))
        box((-3, 20 * i), (1, 5))
    space = ec.install()

    esper.process(1.0)

    assert space.stats.answer_limit_hits >= 1
    assert 112 <= space.stats.answers <= 112 + 3


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

    assert space.stats.answer_limit_hits >= 1
    limit = 64 + 16 * 40
    # after that at most dim × (n - 1) joins and one crush for each pair
    assert space.stats.answers <= limit + 2 * 43 + 40 * 44
    for ball in balls:
        assert all(abs(c - 25) <= 24 + 1e-6 for c in position(ball))


def test_nobody_is_lost_or_let_through_at_a_limit():
    rng = random.Random(10)
    closed_arena([0, 0], [40, 40])
    balls = []
    for i in range(36):
        centre = (4 + 6 * (i % 6), 4 + 6 * (i // 6))
        speed = (rng.uniform(-2000, 2000), rng.uniform(-2000, 2000))
        balls.append(mover(centre, (1, 1), speed, ec.Deflect()))
    space = ec.install(ec.Space(pair_limit=1, answer_limit=20))
    hits = 0

    for _ in range(20):
        for ball in balls:
            esper.component_for_entity(ball, ec.Velocity).set(
                rng.uniform(-2000, 2000), rng.uniform(-2000, 2000)
            )
        esper.process(1 / 20)
        hits += space.stats.answer_limit_hits
        places = space.positions(balls)
        assert places.min() >= 1.0
        assert places.max() <= 39.0
        assert len(pairs_inside(places - 1, places + 1, 2.0**-44 * 4000)) == 0
        assert len(space) == 40
    assert hits > 0


def test_many_boxes_in_one_point_do_not_hang():
    for _ in range(60):
        mover((0, 0), (1, 1), (1, 2), ec.Deflect())
    space = ec.install()

    for _ in range(3):
        esper.process(1 / 60)

    assert len(space) == 60
    assert len(space.collisions) == 0


def test_many_boxes_in_one_point_that_want_apart_and_together():
    rng = random.Random(11)
    crowd = [
        mover((0, 0), (1, 1), (rng.uniform(-5, 5), rng.uniform(-5, 5)), ec.Slide())
        for _ in range(30)
    ]
    space = ec.install()

    for _ in range(5):
        esper.process(1 / 60)

    assert all(abs(c) < 10 for entity in crowd for c in position(entity))
    assert space.stats.bodies == 30
