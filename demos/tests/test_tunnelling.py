"""What tests in each frame lose and sweeps find."""

from __future__ import annotations

import numpy as np
import pytest

import ecs_collide as ec
from demos import tunnelling
from demos.tests.conftest import STEPS


def test_sampled_bullets_go_through_and_swept_ones_do_not(world: str) -> None:
    scene = tunnelling.build(seed=2)

    for _ in range(STEPS):
        scene.step()

    assert scene.n_through > 0
    assert scene.n_beyond == 0
    assert scene.n_stopped >= scene.n_shots - 1
    assert all(holds for _, holds in scene.claims())


def test_bullet_goes_through_only_if_it_was_tested_before_and_behind_the_shield(world: str) -> None:
    scene = tunnelling.build(seed=3)
    low, high = tunnelling.SHIELD
    seen = {True: 0, False: 0}

    for _ in range(STEPS):
        was_flying = scene.flies
        scene.step()
        if was_flying and not scene.flies:
            before, now = scene.tested[-2:]
            jumped = before + tunnelling.SIZE[0] < low and now - tunnelling.SIZE[0] > high
            assert jumped == scene.crossed
            seen[jumped] += 1

    assert min(seen.values()) > 0 or not ec.COMPILED


def test_slow_bullet_is_seen_in_every_frame(world: str) -> None:
    scene = tunnelling.build()
    scene.speed = 9.0  # less than the bullet is long
    scene.tested = [tunnelling.MUZZLE]

    for _ in range(60):
        scene.step()

    assert scene.n_through == 0
    assert not scene.crossed
    assert not scene.flies


def test_replay_shows_the_swept_bullet_on_this_side_of_the_shield(world: str) -> None:
    scene = tunnelling.build()
    while not scene.replay:
        scene.step()
    stop = tunnelling.HALF + tunnelling.SHIELD[0]

    for left in range(tunnelling.REPLAY, 0, -1):
        assert scene.replay == left
        right = scene.bullets()[-1].rects
        assert (right[:, 2] <= stop).all()
        time = scene.space.time
        scene.step()
        assert scene.space.time == time  # the world waits

    assert np.isclose(right[0, 2], stop)
    assert scene.swept() == pytest.approx(tunnelling.SHIELD[0] - tunnelling.SIZE[0])
