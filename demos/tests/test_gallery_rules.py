"""What single demos show, looked at from outside."""

from __future__ import annotations

import esper
import numpy as np
import pytest

import ecs_collide as ec
from demos.boxes3d import game as boxes3d
from demos.breakout import game as breakout
from demos.tests.conftest import STEPS


def run(scene, n_steps: int) -> None:
    scene.keys.bot = True
    for _ in range(n_steps):
        scene.step()


def test_boosted_ball_breaks_what_is_in_its_way_and_nothing_else(world: str) -> None:
    game = breakout.build(seed=0)
    run(game, 2)
    column = 4
    x = (column + 0.5) * breakout.BRICK[0]
    game.boost = 1.0
    esper.component_for_entity(game.ball, ec.Position).set(x, breakout.LOWEST - 20)
    esper.component_for_entity(game.ball, ec.Velocity).set(0.0, 13_000.0)

    game.step()

    assert game.most == breakout.ROWS
    left = [
        esper.component_for_entity(brick, ec.Position).x
        for brick, _ in esper.get_component(breakout.Brick)
        if esper.entity_exists(brick)
    ]
    assert len(left) == breakout.COLUMNS * breakout.ROWS - breakout.ROWS
    assert x not in left
    assert all(holds for _, holds in game.claims())


def test_ball_that_is_not_boosted_turns_at_the_first_brick(world: str) -> None:
    game = breakout.build(seed=0)
    run(game, 2)
    esper.component_for_entity(game.ball, ec.Position).set(225.0, breakout.LOWEST - 20)
    esper.component_for_entity(game.ball, ec.Velocity).set(0.0, 1_200.0)

    game.step()

    assert game.most == 1
    assert esper.component_for_entity(game.ball, ec.Velocity).xy == (0.0, -1_200.0)


def test_star_makes_the_ball_fast_and_closes_the_field(world: str) -> None:
    game = breakout.build(seed=0)
    slow = np.hypot(*breakout.SERVE)
    fastest = 0.0
    for _ in range(STEPS):
        run(game, 1)
        velocity = esper.component_for_entity(game.ball, ec.Velocity).xy
        fastest = max(fastest, float(np.hypot(*velocity)))
        assert (game.shield is not None and esper.entity_exists(game.shield)) == (game.boost > 0)

    if ec.COMPILED:
        assert game.n_stars >= 1
        assert fastest > 20 * slow
        assert game.most >= 5
    assert game.n_outside == 0


def test_ball_waits_on_the_paddle_for_the_start_key(world: str) -> None:
    game = breakout.build(seed=0)
    game.keys.right = True
    for _ in range(20):
        game.step()

    ball, paddle = (
        esper.component_for_entity(body, ec.Position).x for body in (game.ball, game.paddle)
    )
    assert paddle > breakout.WIDTH / 2 + 100
    assert abs(ball - paddle) <= breakout.SPEED / 60 + 1e-9
    assert "press space" in [label.text for label in game.labels()]

    game.keys.right, game.keys.jump = False, True
    for _ in range(10):
        game.step()

    assert esper.component_for_entity(game.ball, ec.Position).y > breakout.FLOOR + 60
    assert "press space" not in [label.text for label in game.labels()]


def test_paddle_that_moves_gives_the_ball_a_spin(world: str) -> None:
    ways = []
    for right in (False, True):
        esper.switch_world("default")
        esper.delete_world(world)
        esper.switch_world(world)
        game = breakout.build(seed=0)
        run(game, 1)
        game.keys.bot, game.keys.right = False, right
        x = esper.component_for_entity(game.paddle, ec.Position).x
        low = breakout.FLOOR + breakout.HALF[1] + breakout.BALL
        esper.component_for_entity(game.ball, ec.Position).set(x, low + 0.5)
        esper.component_for_entity(game.ball, ec.Velocity).set(0.0, -500.0)
        game.step()
        ways.append(esper.component_for_entity(game.ball, ec.Velocity).x)

    assert ways[1] - ways[0] > 0.9 * breakout.SPIN * breakout.SPEED


def test_lost_ball_is_served_again(world: str) -> None:
    game = breakout.build(seed=0)
    run(game, 1)
    esper.component_for_entity(game.ball, ec.Position).set(100.0, 0.0)
    esper.component_for_entity(game.ball, ec.Velocity).set(0.0, -500.0)
    first = game.ball

    for _ in range(10):
        game.step()

    assert game.n_lost == 1
    assert game.ball != first
    assert esper.entity_exists(game.ball)


# boxes in 3D


def test_boxes_in_3d_are_drawn_from_the_far_to_the_near(world: str) -> None:
    scene = boxes3d.build(n=40)
    run(scene, 30)

    quads = scene.quads()

    eye, centres, halves = scene.eye(), scene.positions(), scene.halves
    assert np.linalg.norm(eye.place) == pytest.approx(boxes3d.AWAY)
    assert eye.project(np.zeros(3)) == pytest.approx([450.0, 280.0 + boxes3d.UP])
    above, aside = eye.project(np.array([[0.0, 9.0, 0.0], eye.place / 2 + (0.0, 9.0, 0.0)]))
    assert above[0] == pytest.approx(450.0)
    assert 280.0 + boxes3d.UP < above[1] < aside[1]  # the nearer the larger
    numbers = np.arange(40.0)[:, None] * (5.0, 5.0, 5.0)
    order = eye.faces(centres, halves, numbers, only=(3,)).colours[:, 0] // 5  # their upper faces
    assert sorted(order.tolist()) == [*range(40)]
    assert (np.diff(((centres - eye.place) ** 2).sum(axis=1)[order]) <= 0).all()
    assert len(eye.faces(centres[:1], halves[:1], numbers[:1]).colours) == 3  # of six
    assert ((quads.corners > 0) & (quads.corners < (900, 560))).all()


def test_white_lines_in_3d_are_the_paths_of_what_crosses_the_room_in_a_step(world: str) -> None:
    scene = boxes3d.build(seed=1, n=1)  # one box, and nothing in its way but walls
    start = scene.positions()[0]

    scene.step()

    assert len(scene.paths) == len(scene.space.collisions) + 1 >= 4
    assert scene.paths[0, 0].tolist() == start.tolist()
    assert scene.paths[-1, 1].tolist() == scene.positions()[0].tolist()
    assert np.array_equal(scene.paths[1:, 0], scene.paths[:-1, 1])
    length = np.linalg.norm(scene.paths[:, 1] - scene.paths[:, 0], axis=1).sum()
    assert length == pytest.approx(np.linalg.norm(scene.velocities()) / 60)


def test_too_many_boxes_for_the_room_are_refused(world: str) -> None:
    with pytest.raises(ValueError, match="n=301 must be from 1 to 300"):
        boxes3d.build(n=301)
