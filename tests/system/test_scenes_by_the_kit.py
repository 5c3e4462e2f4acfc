"""The scenes of the other tests, played by the kit that the library offers to games."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import esper
import pytest

import ecs_collide as ec
from ecs_collide import testing
from tests import scenes
from tests.volume import Volume, further

DT = 1 / 60


def mixed(dim: int) -> ec.Space:
    """Furnish the mixed room."""
    for components in scenes.mixed_bodies(dim=dim):
        esper.create_entity(*components)
    return ec.install(dim=dim)


def pile(n: int) -> ec.Space:
    """Let boxes fall on each other."""
    scenes.pile(n, width=16.0)
    esper.add_processor(scenes.Gravity(), priority=200)
    space = ec.install()
    space.snapshot_with(scenes.Falls, lambda falls: b"", lambda data: scenes.Falls())
    return space


def gas() -> ec.Space:
    """Let boxes fly about in a closed arena."""
    scenes.gas(40, spacing=3.5, speed=200.0)
    return ec.install()


BUILDS = {
    "mixed room": partial(mixed, 2),
    "mixed room in 3D": partial(mixed, 3),
    "pile": partial(pile, 30),
    "gas": gas,
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("ignore:assert_repeats.. skips 'kernels'")
@pytest.mark.parametrize("name", BUILDS)
def test_scene_repeats_in_every_variant(name: str, volume: Volume) -> None:
    done = testing.assert_repeats(BUILDS[name], volume(10, 20, 200, least=8))

    expected = [each for each in testing.VARIANTS if each != "kernels" or ec.COMPILED]
    assert [each for each in done if each in expected] == expected


@pytest.mark.parametrize("name", ["mixed room in 3D", "pile", *further("mixed room", "gas")])
def test_scene_comes_through_rollbacks(name: str, volume: Volume) -> None:
    testing.assert_rollback_safe(BUILDS[name], volume(12, 48, 200, least=10), distance=4)


@pytest.mark.parametrize("name", ["pile", "gas"])
def test_nobody_is_inside_anybody_and_contacts_are_balanced(name: str, volume: Volume) -> None:
    with testing.Sim() as sim:
        sim.build(BUILDS[name])
        with testing.assert_never_inside(), testing.assert_contacts_balanced():
            sim.step(volume(60, 160, 400, least=10))


@pytest.mark.skipif(find_spec("syrupy") is None, reason="golden logs need syrupy")
def test_pile_falls_as_it_always_did(sim, golden_log) -> None:
    sim.build(pile, 4)
    sim.step(30)

    golden_log(sim)
