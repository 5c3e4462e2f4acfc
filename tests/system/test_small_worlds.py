"""Small worlds, crowded from the start, in which any body may have any components."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from tests.random_worlds import Draw
from tests.scenes import Ledger, Log, another_world, of
from tests.system.test_compiled_and_pure import in_both_implementations

DT = 1 / 20

pytestmark = pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")


class Small:
    """A world by its seed: some bodies in a few units of room, and the game that steers them."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        dim = rng.choice((2, 2, 3))
        settings = {"pair_limit": rng.choice((1, 3, 64))}
        if rng.random() < 0.4:
            settings["gravity"] = (0.0, -20.0, 0.0)[:dim]
        self.draw = Draw(
            rng,
            dim,
            mixture=0.5,
            reach=rng.choice((3.0, 6.0)),
            sizes=(0.5, 1.0),
            on_grid=rng.random() < 0.5,
        )
        self.steers = rng.random() < 0.5
        self.changes = rng.random() < 0.5
        self.space = ec.install(dim=dim, **settings)
        for _ in range(rng.randrange(4, 40)):
            self.draw.body()

    def run(self, n_steps: int = 20) -> str:
        """Step, and compare events with contacts; return a digest of all that has happened."""
        log, ledger = Log(), Ledger(self.space)
        for _ in range(n_steps):
            if self.changes:
                self.draw.change(self.draw.rng.choice(self.draw.bodies))
            for body in self.draw.bodies if self.steers else ():
                speed = esper.try_component(body, ec.Velocity)
                if speed is not None:
                    place = of(body, ec.Position)
                    speed.x, speed.y = -2.0 * place.x, -2.0 * place.y
            esper.process(DT)
            ledger.record()
            log.record(self.space)
        self.space.check()
        return log.digest()


def run(seed: int) -> str:
    """Run a small world, and leave it."""
    with another_world("small"):
        return Small(seed).run()


@pytest.mark.parametrize("first", range(0, 100, 10))
@pytest.mark.usefixtures("implementation")
def test_each_contact_has_a_begin_and_an_end(first, volume):
    for seed in range(first, first + volume(4, 6, 10, least=2)):
        run(seed)


def test_both_lives_of_the_kernels_give_the_same_bits(monkeypatch, volume):
    seeds = range(100, 100 + volume(10, 15, 400))
    compiled, plain = in_both_implementations(monkeypatch, lambda: [run(seed) for seed in seeds])

    assert compiled == plain
