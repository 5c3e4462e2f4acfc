"""Small worlds, crowded from the start, in which any body may have any components."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Ledger, Log
from tests.system.test_compiled_and_pure import in_both_implementations

DT = 1 / 20
RESPONSES = (ec.Slide, ec.Stop, ec.Push, ec.Deflect, lambda: ec.Deflect(0.5))

pytestmark = pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")


class Small:
    """A world by its seed: some bodies in a few units of room, and the game that steers them."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.dim = rng.choice((2, 2, 3))
        self.span = rng.choice((3.0, 6.0))
        self.on_grid = rng.random() < 0.5  # so that faces meet at one instant
        self.steers = rng.random() < 0.5
        self.response = rng.choice((None, *RESPONSES))
        self.some_grow, self.some_rub, self.some_obey = (rng.random() < 0.5 for _ in range(3))
        settings = {"pair_limit": rng.choice((1, 3, 64))}
        if rng.random() < 0.4:
            settings["gravity"] = self.vector(lambda k: -20.0 if k == 1 else 0.0)
        self.space = ec.install(dim=self.dim, **settings)
        self.bodies = [self.create() for _ in range(rng.randrange(4, 40))]

    def vector(self, of_axis):
        """Return what a function gives for each axis."""
        return tuple(of_axis(k) for k in range(self.dim))

    def create(self) -> int:
        """Create a body; some have boxes of their own."""
        rng, some = self.rng, self.rng.random
        size = self.vector(lambda _: rng.choice((0.5, 1.0)))
        if self.on_grid:
            place = self.vector(lambda _: rng.randrange(-int(self.span), int(self.span) + 1))
            speed = self.vector(lambda _: rng.choice((-5.0, 0.0, 5.0)))
        else:
            place = self.vector(lambda _: rng.uniform(-self.span, self.span))
            speed = self.vector(lambda _: rng.uniform(-20.0, 20.0))
        body = esper.create_entity(ec.Position(*place), ec.Extents(*size))
        chances = {
            ec.Mass: (0.4, lambda: ec.Mass(rng.choice((0.1, 1.0, 5.0, 100.0)))),
            ec.PushOut: (0.1, lambda: ec.PushOut(5.0)),
            ec.Sensor: (0.08, ec.Sensor),
            ec.Growth: (
                0.5 * self.some_grow,
                lambda: ec.Growth(*self.vector(lambda _: rng.choice((-0.5, 0.0, 0.5, 1.0)))),
            ),
            ec.Friction: (0.7 * self.some_rub, lambda: ec.Friction(rng.choice((0.1, 0.5, 3.0)))),
            ec.Carry: (
                0.2 * self.some_rub,
                lambda: ec.Carry(self.vector(lambda _: rng.uniform(-3.0, 3.0))),
            ),
            ec.Dominance: (0.3 * self.some_obey, lambda: ec.Dominance(rng.choice((-1, 1, 2)))),
            ec.LockedAxes: (
                0.2 * self.some_obey,
                lambda: ec.LockedAxes(*self.vector(lambda _: some() < 0.4)),
            ),
            ec.MaxSpeed: (0.2 * self.some_obey, lambda: ec.MaxSpeed(rng.uniform(1.0, 10.0))),
        }
        if some() < 0.85:
            esper.add_component(body, ec.Velocity(*speed))
            esper.add_component(body, (self.response or rng.choice(RESPONSES))())
            if some() < 0.2:
                beside = self.vector(lambda k: 2.0 * (k == 1))
                esper.create_entity(
                    ec.Position(*place), ec.Extents(*size), ec.Attached(body, beside)
                )
        for chance, make in chances.values():
            if some() < chance:
                esper.add_component(body, make())
        return body

    def run(self, n_steps: int = 20) -> str:
        """Step, and compare events with contacts; return a digest of all that has happened."""
        log, ledger = Log(), Ledger(self.space)
        for _ in range(n_steps):
            for body in self.bodies if self.steers else ():
                speed = esper.try_component(body, ec.Velocity)
                if speed is not None:
                    place = esper.component_for_entity(body, ec.Position)
                    speed.x, speed.y = -2.0 * place.x, -2.0 * place.y
            esper.process(DT)
            ledger.record()
            log.record(self.space)
        self.space.check()
        return log.digest()


def run(seed: int) -> str:
    """Run a small world, and leave it."""
    esper.switch_world("small")
    try:
        return Small(seed).run()
    finally:
        esper.switch_world("default")
        esper.delete_world("small")


@pytest.mark.parametrize("first", range(0, 100, 10))
@pytest.mark.usefixtures("implementation")
def test_each_contact_has_a_begin_and_an_end(first):
    for seed in range(first, first + 10):
        run(seed)


def test_both_lives_of_the_kernels_give_the_same_bits(monkeypatch, volume):
    seeds = range(100, 100 + volume(20, 60, 400))
    compiled, plain = in_both_implementations(monkeypatch, lambda: [run(seed) for seed in seeds])

    assert compiled == plain
