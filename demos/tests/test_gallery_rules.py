"""What single demos show, looked at from outside."""

from __future__ import annotations

from math import floor, pi

import esper
import numpy as np
import pytest

import ecs_collide as ec
from demos import boxes3d, responses
from demos import pi as blocks
from demos.breakout import game as breakout
from demos.tests.conftest import STEPS
from demos.tree import game as tree


def run(scene, n_steps: int) -> None:
    scene.keys.bot = True
    for _ in range(n_steps):
        scene.step()


# pi


@pytest.mark.parametrize("digits", [1, 2, 3, 4, 5] if ec.COMPILED else [1, 2, 3])
def test_blocks_count_pi(world: str, digits: int) -> None:
    scene = blocks.build(digits=digits)

    steps = 0
    while not scene.is_over and steps < 3000:
        scene.step()
        steps += 1
    run(scene, 30)

    assert scene.n_clacks == floor(pi * 10 ** (digits - 1)) == [0, 3, 31, 314, 3141, 31415][digits]
    assert all(holds for _, holds in scene.claims())
    assert len(scene.claims()) == 5  # the last: that it is over


def test_blocks_that_bounce_no_more_than_64_times_a_step_count_pi_too(world: str) -> None:
    if not ec.COMPILED:
        pytest.skip("the same as compiled, and slow as pure Python")
    scene = blocks.build(digits=5)
    scene.space.pair_limit = 64
    run(scene, 600)

    assert scene.n_clacks == 31415  # held, and not stopped for good


@pytest.mark.parametrize("digits", [0, 7])
def test_digits_that_cannot_be_are_refused(world: str, digits: int) -> None:
    with pytest.raises(ValueError, match=f"digits={digits} must be from 1 to 6"):
        blocks.build(digits=digits)


# breakout


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


# responses, tree, boxes in 3D


def test_all_responses_are_seen_in_one_round(world: str) -> None:
    scene = responses.build()

    run(scene, responses.ROUND - 1)

    assert scene.after == {number: way[2] for number, way in enumerate(responses.WAYS)}
    balls = list(scene.balls)
    run(scene, 2)
    assert not set(balls) & set(scene.balls)  # dropped again


def test_arrows_point_where_the_balls_fly(world: str) -> None:
    scene = responses.build()
    run(scene, responses.ROUND - 1)

    corners = scene.quads().corners

    moving = [way[2] for way in responses.WAYS if way[2] != (0.0, 0.0)]
    assert len(corners) == 2 * len(moving)  # a shaft and a head each
    for shaft, head, way in zip(corners[::2], corners[1::2], moving, strict=True):
        arrow = head[2] - shaft[:2].mean(axis=0)
        beside = np.hypot(*arrow) - responses.HALF
        assert beside == pytest.approx(responses.ARROW * np.hypot(*way))
        assert arrow[0] * way[1] - arrow[1] * way[0] == pytest.approx(0.0, abs=1e-9)


def test_tree_is_drawn_with_its_branches(world: str) -> None:
    scene = tree.build(seed=1)
    scene.told = tree.STORY[-1].end  # at full speed
    run(scene, 250)

    rects = set(map(tuple, scene.boxes().rects.tolist()))

    mins, maxs, depths, _ = scene.tree.branches()
    assert len(depths) > 15
    for (left, bottom), (right, _) in zip(mins.tolist(), maxs.tolist(), strict=True):
        assert (left, bottom, right, bottom + 2.0) in rects
    for box in scene.boxes_in:
        (left, bottom), (right, _) = scene.tree.fat_bounds(box)
        assert (left, bottom, right, bottom + 2.0) in rects
        assert scene.tree.bounds(box) == scene.space.bounds(box)
    assert scene.n_pairs > 50
    assert len(set(map(tuple, scene.shades(depths).tolist()))) == scene.tree.depth


def test_tree_is_explained_layer_by_layer_and_then_at_full_speed(world: str) -> None:
    scene = tree.build(seed=1)
    told: list[str] = []
    n_rects = []
    n_escapes: list[int] = []
    while scene.chapter is not None:
        if scene.chapter is tree.STORY[1]:  # "nothing changes"
            n_escapes.append(scene.tree.n_escapes)
        run(scene, 1)
        caption = scene.labels()[0].text
        if caption not in told:
            told.append(caption)
            n_rects.append(len(scene.boxes().rects))
            assert scene.dt < 1 / 60 or scene.chapter is None
    run(scene, 1)

    assert told[:4] == [chapter.caption for chapter in tree.STORY]
    assert n_rects[0] < n_rects[1] < n_rects[3]
    assert len(n_escapes) == 120
    assert n_escapes[0] == n_escapes[-1]
    words = {label.text for label in scene.legend()[1]}
    assert words == {"box", "fat bounds", "escape", "root", "branches"}
    assert "full speed" in scene.labels()[0].text
    assert scene.dt == 1 / 60
    assert scene.tree.n_escapes > 0


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
