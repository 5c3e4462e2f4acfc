"""A world played in many ways has the same fingerprint after each step of all of them."""

from __future__ import annotations

from collections.abc import Callable

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.debug import DebugDraw
from ecs_collide.debug.shapes import Camera, Show, collect
from tests.scenes import another_world, box

DT = 1 / 64


def play(n_steps: int, look: Callable[[ec.Space], object] | None = None, **how: object) -> list:
    """Let crates fall on a lift, through a sensor; return a fingerprint for each step."""
    esper.switch_world("default")
    if "fingerprints" in esper.list_worlds():
        esper.delete_world("fingerprints")
    with another_world("fingerprints"):
        # With this seed no crate sleeps while the game still pulls it down: that would tell of no
        # impacts.
        chance = np.random.default_rng(12)
        box((0, -1), (60, 1))
        box((20, 4), (9, 1), ec.OneWay((0, 1)))
        box((-20, 8), (8, 4), ec.Sensor())
        lift = ec.Velocity(0, 6)
        box((0, 1), (8, 0.5), lift)
        speeds = []
        for number in range(40):
            speeds.append(ec.Velocity(*chance.uniform(-20, 20, 2)))
            answer = (ec.Slide(), ec.Push(), ec.Deflect(0.5))[number % 3]
            place = ec.Position(-38 + 2.0 * number, 10 + 3 * (number % 4))
            esper.create_entity(place, ec.Extents(0.8, 0.8), speeds[-1], answer)
        space = ec.install(ec.Space(**how))
        hashes = []
        for number in range(n_steps):
            lift.y = 6 if number // 50 % 2 == 0 else -6
            for speed in speeds if number < 90 else ():
                speed.y -= 20 * DT
            esper.process(DT)
            if look is not None:
                look(space)
            hashes.append(space.state_hash())
    return hashes


def read_everything(space: ec.Space) -> None:
    """Do all that an overlay does, but for handing it to a window."""
    camera = Camera(np.eye(4).ravel().tolist(), (400, 300))
    collect(space, ~Show(0), camera)
    DebugDraw(space).lines()


@pytest.mark.parametrize(
    "how", [{"sleep": False}, {"margin": 0.0, "lookahead": 0.0}, {"margin": 50.0}], ids=str
)
def test_same_fingerprints_whatever_the_tree_is_like(how, volume):
    n = volume(80, 240, least=24)

    assert play(n, **how) == play(n)


def test_looking_at_everything_changes_no_fingerprint(volume):
    n = volume(80, 240, least=24)
    usual = play(n)

    assert play(n, read_everything) == usual
    assert len(set(usual)) > n // 2


def test_a_snapshot_brings_the_fingerprint_back():
    saved: list[tuple[bytes, bytes]] = []

    def save(space: ec.Space) -> None:
        saved.append((space.snapshot(), space.state_hash()))
        if len(saved) == 20:
            for data, known in saved[::-3]:
                space.restore(data)
                assert space.state_hash() == known

    play(20, save)
