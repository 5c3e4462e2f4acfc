"""The demos' worlds: compiled and pure kernels play the same game, to the bit."""

from __future__ import annotations

import esper
import pytest

from demos.tests.conftest import SIZED
from demos.tests.test_gallery import DEAR, GALLERY, build, track
from ecs_collide._kernel import backend
from tests.volume import Volume


@pytest.mark.parametrize("name", GALLERY)
def test_compiled_and_pure_python_play_the_same_game(
    name: str, world: str, monkeypatch: pytest.MonkeyPatch, volume: Volume
) -> None:
    try:
        implementations = [backend.load(compiled=compiled) for compiled in (True, False)]
    except ImportError:
        pytest.skip("the compiled kernels are not installed")
    n_steps = volume(8, 20, least=8) if name in DEAR else volume(60, 120, least=60)
    options = {"n": volume(500, 2_000, 10_000)} if name in SIZED else {}
    runs = []
    for kernels in implementations:
        monkeypatch.setattr(backend, "kernels", kernels)
        esper.switch_world("default")
        esper.delete_world(world)
        esper.switch_world(world)
        scene = build(name, seed=7, **options)
        bits = track(scene, n_steps)
        runs.append((bits, scene.n_collisions, scene.n_contacts, scene.report()))

    assert runs[0] == runs[1]
    assert len(set(runs[0][0])) > max(2, n_steps // 20)  # in a replay the world waits
