"""Fixtures that every test may use: an esper world of its own, both lives of the kernels."""

from __future__ import annotations

import importlib.util
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from ecs_collide import _backend
from tests import build

_numbers = itertools.count()
_KERNELS = Path(_backend.__file__).parent / "_kernels"
_REQUIRED = os.environ.get("ECS_COLLIDE_REQUIRE_COMPILED", "0") not in ("", "0")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer to run the long simulations in full where the kernels run as Python."""
    parser.addoption(
        "--long",
        action="store_true",
        help="all steps of the long simulations on plain Python too (without it a tenth of them), "
        "and 10,000,000 sweeps against exact arithmetic instead of 100,000",
    )


def pytest_sessionstart() -> None:
    """Refuse to skip in CI for want of a package, and to test a kernel older than its source."""
    missing = [
        name
        for name in ("hypothesis", "tqdm", "PIL", "pytiled_parser", "pyglet")
        if os.environ.get("CI") and importlib.util.find_spec(name) is None
    ]
    if missing:
        pytest.exit(f"not installed, and required where CI is set: {missing}", returncode=3)
    stale = build.find_stale(_KERNELS)
    if stale:
        pytest.exit(f"older than what they are compiled from: {stale}; install again", returncode=3)


@pytest.fixture
def world() -> Iterator[str]:
    """Switch to a fresh esper world; delete it afterwards."""
    name = f"test world {next(_numbers)}"
    esper.switch_world(name)
    yield name
    esper.switch_world("default")
    esper.delete_world(name)


@pytest.fixture
def elsewhere(world: str) -> Iterator[Callable[..., ec.Space]]:
    """Return a function that switches to a second, empty world and gives its space."""
    name = f"{world}, elsewhere"

    def switch(dim: int = 2) -> ec.Space:
        esper.switch_world(name)
        return ec.install(dim=dim)

    yield switch
    esper.switch_world(world)
    if name in esper.list_worlds():
        esper.delete_world(name)


def _lives() -> list[str]:
    return ["compiled", "plain"]


@pytest.fixture(params=_lives(), scope="session")
def kernels(request: pytest.FixtureRequest) -> _backend.Kernels:
    """Return the kernels in each of their two lives."""
    try:
        return _backend.load(compiled=request.param == "compiled")
    except ImportError:
        if _REQUIRED:
            raise
        pytest.skip("the compiled kernels are not installed")


@pytest.fixture
def life(kernels: _backend.Kernels, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test on each life of the kernels."""
    monkeypatch.setattr(_backend, "kernels", kernels)
    return "compiled" if kernels.compiled else "plain"


@pytest.fixture
def n_steps(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """Return a function that says how many steps of a long simulation to run.

    All of them on the compiled kernels or with ``--long``, otherwise a tenth.
    """
    every = request.config.getoption("--long")

    def choose(wanted: int) -> int:
        if every or _backend.kernels.compiled:
            return wanted
        return max(1, wanted // 10)

    return choose
