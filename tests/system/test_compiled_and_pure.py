"""The compiled kernels and the same files as Python: the same bits in a whole simulation."""

from __future__ import annotations

import os

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from tests.scenes import Gravity, Log, another_world, gas, mixed_log, pi_boxes, pile
from tests.volume import further

REQUIRED = os.environ.get("ECS_COLLIDE_REQUIRE_COMPILED", "0") not in ("", "0")


def in_both_implementations(monkeypatch, run):
    """Call `run` in a fresh world in each life; return what it gave."""
    found = []
    for compiled in (True, False):
        try:
            kernels = backend.load(compiled=compiled)
        except ImportError:
            if REQUIRED:
                raise
            pytest.skip("the compiled kernels are not installed")
        with monkeypatch.context() as patch:
            patch.setattr(backend, "kernels", kernels)
            with another_world("both versions"):
                found.append(run())
    return found


def log_of_steps(space, n_steps, dt):
    log = Log()
    for _ in range(n_steps):
        esper.process(dt)
        log.record(space)
    return log.digest()


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", [1, *further(2, 3)])
def test_a_room_with_some_of_everything(dim, seed, monkeypatch):
    compiled, plain = in_both_implementations(
        monkeypatch, lambda: mixed_log(60, dim=dim, seed=seed)
    )

    assert compiled == plain


@pytest.mark.parametrize("dim", [2, 3])
def test_a_gas(dim, monkeypatch, volume):
    n_boxes = volume(50, 100)

    def run():
        gas(n_boxes, spacing=3.5, speed=200.0, dim=dim)
        return log_of_steps(ec.install(dim=dim), 15, 1 / 60)

    compiled, plain = in_both_implementations(monkeypatch, run)

    assert compiled == plain


def test_a_pile(monkeypatch, volume):
    n_crates = volume(30, 60)

    def run():
        pile(n_crates, width=16.0)
        space = ec.install()
        esper.add_processor(Gravity(), priority=200)
        return log_of_steps(space, 80, 1 / 60)

    compiled, plain = in_both_implementations(monkeypatch, run)

    assert compiled == plain


def test_pi_and_its_limits(monkeypatch):
    def run():
        pi_boxes(10_000.0)
        return log_of_steps(ec.install(), 10, 0.5)

    compiled, plain = in_both_implementations(monkeypatch, run)

    assert compiled == plain
