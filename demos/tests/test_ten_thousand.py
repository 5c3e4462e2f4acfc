"""The ten thousand boxes: the arena keeps every box inside and every bit of its energy."""

from __future__ import annotations

import numpy as np
import pytest

from demos.ten_thousand import game as ten_thousand
from demos.tests.conftest import STEPS


def test_no_box_leaves_and_no_energy_is_lost(world: str) -> None:
    scene = ten_thousand.build(seed=1, n=300)

    for _ in range(STEPS):
        scene.step()

    assert scene.n_collisions > 300
    assert scene.n_outside == 0
    assert scene.energy.is_same
    assert np.array_equal(scene.speeds(), scene.speeds_at_start)


def test_check_of_the_walls_can_fail(world: str) -> None:
    scene = ten_thousand.build(n=2)
    scene.space.set_positions(scene.ids[:1], [(-1.0, 5.0)])

    scene.step()

    assert scene.n_outside == 1


def test_energy_that_changes_breaks_the_claims(world: str) -> None:
    scene = ten_thousand.build(n=20)
    assert all(holds for _, holds in scene.claims())

    scene.space.set_velocities(scene.ids[:1], [(1.0, 2.0)])
    scene.step()

    assert [holds for _, holds in scene.claims()] == [True, False, False]


def test_same_seed_gives_the_same_run(world: str) -> None:
    runs = []
    for _ in range(2):
        scene = new_scene(world, seed=5)
        for _ in range(60):
            scene.step()
        runs.append((scene.n_collisions, scene.space.positions(scene.ids).tobytes()))

    assert runs[0] == runs[1]
    other = new_scene(world, seed=6)
    assert other.space.positions(other.ids).tobytes() != runs[0][1]


def new_scene(world: str, seed: int) -> ten_thousand.TenThousand:
    import esper

    esper.switch_world("default")
    esper.delete_world(world)
    esper.switch_world(world)
    return ten_thousand.build(seed=seed, n=80)


def test_boxes_are_drawn_where_they_are(world: str) -> None:
    scene = ten_thousand.build(n=50)
    scene.step()

    drawn = scene.boxes()

    low, high = scene.space.bounds(scene.ids[0])
    assert (*low, *high) in set(map(tuple, drawn.rects.tolist()))


def test_arena_without_boxes_is_refused(world: str) -> None:
    with pytest.raises(ValueError, match="n=0 must be at least 1"):
        ten_thousand.build(n=0)
