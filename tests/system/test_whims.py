"""Whatever response systems do, events are whole and the same steps give the same results."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from tests import whims
from tests.random_worlds import Draw
from tests.scenes import Ledger, another_world, mixed_run
from tests.system.test_sleep import Yard, twice

DT = 1 / 20
pytestmark = pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")


def room_log(name, n_steps, settings=None, **how):
    """Run the mixed room with whims in a world of its own; return its log."""
    spaces = []
    with another_world(name):
        make = lambda: spaces.append(whims.install(**(settings or {}))) or spaces[0]  # noqa: E731
        run = mixed_run(make_space=make, **how)
        log = next(run)
        ledger = None
        for _ in range(n_steps):
            next(run)
            ledger = ledger or Ledger(spaces[0])
            ledger.record()
        return log.digest()


@pytest.mark.parametrize("seed", range(3))
def test_each_contact_that_begins_has_one_end(seed, volume):
    room_log("whims", volume(60, 120, 300, least=30), seed=seed)


@pytest.mark.parametrize("dim", [2, 3])
def test_compiled_and_pure_python_do_the_same(dim, volume, monkeypatch):
    logs, n_steps = [], volume(15, 30, 120, least=15)
    for compiled in (True, False):
        try:
            monkeypatch.setattr(backend, "kernels", backend.load(compiled=compiled))
        except ImportError:
            pytest.skip("the compiled kernels are not installed")
        logs.append(room_log("whims", n_steps, {"dim": dim}, dim=dim))

    assert logs[0] == logs[1]


@pytest.mark.parametrize(
    ("settings", "how"),
    [({}, {"shuffle": 1}), ({}, {"shuffle": 2}), ({"margin": 0.0, "lookahead": 0.0}, {}),
     ({"margin": 5.0, "lookahead": 30.0}, {})],
)  # fmt: skip
def test_the_order_of_making_and_the_trees_change_nothing(settings, how, volume):
    n_steps = volume(60, 120, 300, least=30)

    assert room_log("whims", n_steps, settings, **how) == room_log("whims", n_steps)


@pytest.mark.parametrize("dim", [2, 3])
def test_sleep_changes_nothing(dim, volume):
    def build(space):
        yard = Yard(space, 300 + dim, dim, 0.5)
        esper.add_processor(whims.Whims(space), priority=115)
        esper.add_processor(whims.Foresight(space), priority=119)
        return yard.play

    asleep = twice(build, volume(80, 150, 400, least=40), dim=dim)

    assert max(asleep) > 3


def shown(space):
    """Return what a step has done, bit for bit."""
    arrays = space.collision_array, space.contact_array, space.positions(), space.velocities()
    return [array.tobytes() for array in arrays], space.contacts()


@pytest.mark.parametrize(
    ("dim", "wrap"), [(2, None), (3, None), (2, (40.0, 40.0)), (2, (40.0, None))]
)
def test_a_restored_world_goes_on_as_one_that_never_was(dim, wrap, volume):
    for seed in range(volume(4, 8, 800)):
        esper.switch_world("whims")
        esper.switch_world("restored")
        try:
            restored = whims.install(ec.Space(dim=dim, wrap=wrap))
            esper.switch_world("whims")
            draw = Draw(random.Random(seed), dim, mixture=0.5, reach=20.0, speed=30.0)
            for _ in range(30):
                draw.body()
            space = whims.install(ec.Space(dim=dim, wrap=wrap))
            for step in range(24):
                draw.change(draw.rng.choice(draw.bodies))
                saved = space.snapshot()
                esper.process(DT)
                expected = shown(space)
                space.check()
                if step % 3 == 2:
                    esper.switch_world("restored")
                    restored.restore(saved)
                    assert restored.snapshot() == saved
                    esper.process(DT)
                    assert shown(restored) == expected
                    esper.switch_world("whims")
        finally:
            esper.switch_world("default")
            esper.delete_world("whims")
            esper.delete_world("restored")
