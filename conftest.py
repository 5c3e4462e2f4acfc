"""Fixtures of all tests: a separate esper world, and the kernels compiled and as pure Python."""

from __future__ import annotations

import gc
import importlib.util
import itertools
import os
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from ecs_collide.components.filters import NAMES
from tests import build
from tests.volume import Volume, choose_examples

_numbers = itertools.count()
_PACKAGE = Path(backend.__file__).parents[1]
EXAMPLES = 3  # tests of each file in ``-m quick``, a case of each
DEAR = {"exact", "testing", "_kernel", "test_architecture.py"}  # without examples: half the time
SHARE_COMPILED, SHARE_PURE = 20, 10  # every such case in pure Python: beside compiled ones, alone
_REQUIRED = os.environ.get("ECS_COLLIDE_REQUIRE_COMPILED", "0") not in ("", "0")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer more than the short run: see `tests.volume`."""
    parser.addoption(
        "--long",
        action="count",
        default=0,
        help="more steps, worlds and cases: what CI runs; twice (--long --long) for all there are, "
        "which takes hours",
    )
    parser.addoption(
        "--passed",
        type=Path,
        metavar="FILE",
        help="leave out the tests that FILE lists, and add those that pass",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples Hypothesis tries."""
    choose_examples(config.getoption("--long"))
    config.addinivalue_line("markers", "volume: does more with --long, set by conftest.py")
    if sys.platform == "emscripten":

        def skip(*_: object, **__: object) -> None:
            pytest.skip("a browser has no processes and starts no threads")

        for owner, name in (
            (subprocess, "run"),
            (subprocess, "Popen"),
            (threading.Thread, "start"),
        ):
            setattr(owner, name, skip)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the cases that are marked ``long`` to the long run; mark those that are quick.

    With ``--passed`` the tests that have passed in an earlier run are left out too.
    """
    for item in items:
        if does_more(item):
            item.add_marker(pytest.mark.volume)
    chosen = items if config.getoption("--long") else for_short_run(items)
    for item in examples(chosen):
        item.add_marker(pytest.mark.quick)
    passed: Path | None = config.getoption("--passed")
    if passed is not None and passed.exists():
        known = set(passed.read_text("utf-8").splitlines())
        chosen = [item for item in chosen if item.nodeid not in known]
    if len(chosen) < len(items):
        left = {id(item) for item in chosen}
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in left])
        items[:] = chosen


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Add the tests that have passed to the list that ``--passed`` names."""
    passed: Path | None = config.getoption("--passed")
    if passed is not None and not hasattr(config, "workerinput"):  # which its controller adds
        reports = terminalreporter.getreports("passed")
        with passed.open("a", encoding="utf-8") as file:
            file.writelines(f"{report.nodeid}\n" for report in reports)


def does_more(item: pytest.Item) -> bool:
    """Return whether a case does more in the long run than in the short one, or is only in it."""
    return (
        "volume" in getattr(item, "fixturenames", ())
        or item.get_closest_marker("long") is not None
        or hasattr(getattr(item, "function", None), "hypothesis")
    )


def examples(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return some cases of each file: the first one of each of its first tests.

    Tests that repeat something are no examples.  Beside compiled kernels the first test of a file
    runs in pure Python, too.
    """
    tests: defaultdict[Path, list[str]] = defaultdict(list)
    seen = set()
    chosen = []
    for item in items:
        if does_more(item) or not DEAR.isdisjoint(item.nodeid.partition("::")[0].split("/")):
            continue
        test, life = item.nodeid.partition("[")[0], kernels_of(item)
        of_file = tests[item.path]
        if test not in of_file:
            of_file.append(test)
        n_tests = 1 if ec.COMPILED and life == "plain" else EXAMPLES
        if of_file.index(test) < n_tests and (test, life) not in seen:
            seen.add((test, life))
            chosen.append(item)
    return chosen


def kernels_of(item: pytest.Item) -> str | None:
    """Return which kernels a case runs with: compiled, plain, or None for those at hand."""
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get("kernels")


def for_short_run(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the cases of the short run.

    Of a test with many cases all run on the compiled kernels, and every twentieth in
    pure Python too, beginning with the first: that both give the same bits is
    what `tests/system/test_compiled_and_pure.py` and others show.  Where there is only pure Python,
    every tenth case runs, and none that is marked ``slow_in_python``.
    """
    counts: Counter[str] = Counter()
    chosen = []
    for item in items:
        is_slow = item.get_closest_marker("slow_in_python") is not None
        if item.get_closest_marker("long") or (is_slow and not ec.COMPILED):
            continue
        life = kernels_of(item)
        test = item.nodeid.partition("[")[0]
        if ec.COMPILED:
            if life == "plain":
                counts[test] += 1
                if counts[test] % SHARE_COMPILED != 1 or is_slow:
                    continue
        elif life == "compiled":
            continue
        else:
            counts[test] += 1
            if counts[test] % SHARE_PURE != 1:
                continue
        chosen.append(item)
    return chosen


def pytest_collection_finish() -> None:
    """Keep the garbage collector from walking through thousands of tests each time it runs."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Keep it from walking through what a file has cached, such as the syntax trees of kernels."""
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()  # garbage is not frozen
        gc.freeze()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse to skip in CI for want of a package, and to test a kernel older than its source."""
    if hasattr(session.config, "workerinput"):
        return  # the controller of this worker has checked both
    missing = [
        name
        for name in ("hypothesis", "syrupy", "tqdm", "PIL", "pyglet")
        if os.environ.get("CI") and importlib.util.find_spec(name) is None
    ]
    if missing:
        pytest.exit(f"not installed, and required where CI is set: {missing}", returncode=3)
    try:
        stale = backend.changed_sources()
        if stale and not ec.COMPILED and backend.missing_kernel is None:
            return  # pure Python was asked for; no test runs the compiled kernels beside it
        compiled = backend.load_all(compiled=True)
        if not stale and build.is_generator_newer(compiled):  # else checksums suffice
            stale = build.find_stale(build.generated(), compiled)
    except ImportError:
        stale = []
    if stale:
        message = "not made of the present sources; run python setup.py build_ext --inplace"
        pytest.exit(f"{message}: {', '.join(stale)}", returncode=3)


@pytest.fixture
def world() -> Iterator[str]:
    """Switch to a fresh esper world; delete it afterwards."""
    name = f"test world {next(_numbers)}"
    esper.switch_world(name)
    yield name
    esper.switch_world("default")
    esper.delete_world(name)
    NAMES.clear()


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


def _implementations() -> list[str]:
    return ["compiled", "plain"]


@pytest.fixture(params=_implementations(), scope="session")
def kernels(request: pytest.FixtureRequest) -> backend.Kernels:
    """Return the kernels compiled and as pure Python."""
    try:
        return backend.load(compiled=request.param == "compiled")
    except ImportError:
        if _REQUIRED:
            raise
        pytest.skip("the compiled kernels are not installed")


@pytest.fixture
def implementation(kernels: backend.Kernels, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test on each life of the kernels."""
    monkeypatch.setattr(backend, "kernels", kernels)
    return "compiled" if kernels.compiled else "plain"


@pytest.fixture(scope="session")
def volume(request: pytest.FixtureRequest) -> Volume:
    """Return a function that chooses how many steps, worlds or cases to run."""
    return Volume(request.config.getoption("--long"))
