"""What discrete tests lose and sweeps find."""

from __future__ import annotations

import numpy as np
import pytest

import ecs_collide as ec
from demos import tunnelling
from tests.demos.conftest import STEPS


def test_discrete_bullets_go_through_and_swept_ones_do_not(world: str) -> None:
    scene = tunnelling.build(seed=2)

    for _ in range(STEPS):
        scene.step()

    once, often = scene.sampled
    assert once.n_misses > often.n_misses > 0
    assert scene.n_missed == 0
    # All but those in the air have hit.
    assert scene.n_hits + int((~scene.hit).sum()) == scene.n_bullets


def test_sampled_bullet_is_lost_only_between_two_looks() -> None:
    slow, fast = tunnelling.Sampled(1), tunnelling.Sampled(16)
    start = np.full(tunnelling.N, 0.0)
    for sampled in (slow, fast):
        sampled.load(start, np.full(tunnelling.N, 9.0))  # less than wall and bullet together
        for _ in range(120):
            sampled.step()

    assert slow.n_misses == fast.n_misses == 0
    assert slow.n_hits == fast.n_hits == tunnelling.N
    assert fast.n_tests > 15 * slow.n_tests


def test_bullet_stops_in_the_picture_where_it_met_the_wall(world: str) -> None:
    scene = tunnelling.build(seed=0)
    face = tunnelling.WALL[0]
    for _ in range(10 * tunnelling.SLOW):
        scene.step()

        swept = scene.boxes().rects[-tunnelling.N :]
        assert (swept[:, 2] <= face).all()
        share = (scene.n_steps - 1) % tunnelling.SLOW / tunnelling.SLOW
        flies = ~scene.hit
        way = swept[flies, 0] + tunnelling.HALF - scene.before[flies]
        assert way == pytest.approx(scene.speed[flies] * share)
    assert (swept[:, 2] == face).any()
    assert len(scene.space) == tunnelling.N + 1
    assert all(event.outcome is ec.Outcome.RESOLVED for event in scene.space.collisions)
