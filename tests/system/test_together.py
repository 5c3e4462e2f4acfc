"""All optional components at once: the same compiled and pure, in any tree, asleep, and saved."""

from __future__ import annotations

import itertools
from unittest import mock

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from tests.scenes import Log, another_world
from tests.volume import further
from tests.yard import Yard

_worlds = itertools.count()

pytestmark = pytest.mark.filterwarnings("ignore:entity:RuntimeWarning")


def logs(
    n_steps, dim, seed, *, kernels=None, make_space=None, judged=True, judging=False,
    with_collisions=True,
):  # fmt: skip
    """Run the yard in a world of its own; return its log after each step, and what happened."""
    with (
        another_world(f"yard {next(_worlds)}"),
        mock.patch.object(backend, "kernels", kernels or backend.kernels),
    ):
        yard = Yard(dim, seed, make_space, judged=judged)
        yard.judging = judging
        yard.log = Log(with_collisions=with_collisions)
        found = []
        for n in range(n_steps):
            yard.step(n)
            found.append(yard.log.digest())
        yard.space.check()
    return found, yard.deeds


def first_difference(one, other):
    """Return the first step after which two logs differ, or None."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), None)


@pytest.fixture(params=[(2, 1), (3, 6), *further((2, 3), (3, 2))], ids=str)
def yard(request):
    return request.param


@pytest.fixture
def length(implementation, volume):
    return volume(120, 240, least=24)


def test_a_lot_happens_and_nobody_gets_into_another(yard, length):
    _, deeds = logs(length, *yard, judged=False, judging=True)
    if length > 100:
        assert deeds["carried"] > 20
        assert min(deeds["drops"], deeds["passed"], deeds["pushed"]) > 0


@pytest.mark.parametrize("how", [{"margin": 40.0, "lookahead": 9.0}, {"margin": 0.0}])
def test_whatever_the_trees_look_like(yard, length, how):
    dim, _ = yard
    usual, _ = logs(length, *yard)
    other, _ = logs(length, *yard, make_space=lambda: ec.install(ec.Space(dim, **how), dim=dim))
    assert first_difference(usual, other) is None


def test_with_sleep_and_without(yard, length):
    dim, _ = yard
    usual, deeds = logs(length, *yard, judged=False, with_collisions=False)
    other, awake = logs(
        length, *yard, judged=False, with_collisions=False,
        make_space=lambda: ec.install(ec.Space(dim, sleep=False), dim=dim),
    )  # fmt: skip
    assert first_difference(usual, other) is None
    assert awake["asleep"] == 0
    if length > 100:
        assert deeds["asleep"] > 0


@pytest.mark.parametrize("dim", [2, 3])
def test_in_both_lives(dim):
    plain, _ = logs(25, dim, 5, kernels=backend.load(compiled=False))
    try:
        compiled, _ = logs(25, dim, 5, kernels=backend.load(compiled=True))
    except ImportError:
        pytest.skip("the compiled kernels are not installed")
    assert first_difference(plain, compiled) is None


def test_saved_at_some_step_and_gone_on_from_in_an_empty_world(yard, length):
    dim, seed = yard
    middle = length // 2
    name = f"yard {next(_worlds)}"
    esper.switch_world(name)
    yard = Yard(dim, seed)
    for n in range(middle):
        yard.step(n)
    data = yard.space.snapshot()
    wanted = _go_on(yard, middle, length)

    esper.switch_world(name + ", elsewhere")
    space = ec.install(dim=dim)
    yard.adopt(space)
    space.restore(data)
    yard.ledger.open = {(c.first, c.second) for c in space.contacts()}
    assert _go_on(yard, middle, length) == wanted
    for world in (name, name + ", elsewhere"):
        esper.switch_world("default")
        esper.delete_world(world)


def _go_on(yard, start, stop):
    """Play on with a new log; return the logs after each step."""
    yard.log = Log()
    found = []
    for n in range(start, stop):
        yard.step(n)
        found.append(yard.log.digest())
    return found
