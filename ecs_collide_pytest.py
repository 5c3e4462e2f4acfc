"""The pytest plugin of ecs_collide: fixtures and options for tests of games.

It stands beside the package, because importing a module of a package imports the package.
pytest imports its plugins in every run.  This one imports only pytest until a test uses it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ecs_collide.testing.golden import GoldenLog
    from ecs_collide.testing.places import Places
    from ecs_collide.testing.sim import Sim

_CHECKS = pytest.StashKey[list[Any]]()  # for an item: the checks that run in it
_COUNTS = pytest.StashKey[dict[str, int]]()  # for the session: how often each option checked


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for checks that need no code."""
    group = parser.getgroup("ecs_collide", "tests of games")
    group.addoption(
        "--physics-heavy",
        action="store_true",
        help="save, restore and compare the world after each step",
    )
    group.addoption(
        "--physics-rollback",
        type=int,
        default=0,
        metavar="STEPS",
        help="after each step, go back this number of steps and repeat them",
    )
    group.addoption(
        "--physics-record",
        choices=("none", "failed", "all"),
        default="none",
        help="record the worlds of tests, and keep the recordings of failed tests, or of all",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Raise UsageError for a negative number of steps."""
    if config.getoption("--physics-rollback") < 0:
        raise pytest.UsageError("--physics-rollback=STEPS must be 1 or more")
    config.stash[_COUNTS] = {}


def _checks(config: pytest.Config) -> list[Any]:
    """Return the checks of the given options."""
    heavy = config.getoption("--physics-heavy")
    distance = config.getoption("--physics-rollback")
    records = config.getoption("--physics-record") != "none"
    if not (heavy or distance or records):
        return []
    from ecs_collide.testing import checks

    found: list[Any] = [checks.Recordings()] if records else []
    found += [checks.HeavyCheck()] if heavy else []
    found += [checks.RollbackCheck(distance)] if distance else []
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run the checks in each step of a test."""
    __tracebackhide__ = True
    found = _checks(item.config)
    if not found:
        return (yield)
    from ecs_collide.testing.watch import watch

    item.stash[_CHECKS] = found
    with ExitStack() as stack:
        for check in found:
            stack.callback(watch(check))
        result = yield
        for check in found:
            if check.option != "--physics-record":
                check.finish()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the recordings of a test, and count its checks."""
    report = yield
    if call.when != "call":
        return report
    for check in item.stash.get(_CHECKS, []):
        counts = item.config.stash[_COUNTS]
        counts[check.option] = counts.get(check.option, 0) + check.n_checks
        if check.option == "--physics-record":
            if report.failed or item.config.getoption("--physics-record") == "all":
                for line in check.save():
                    report.sections.append(("recording", line))
            check.finish()
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add up the counts of the workers of xdist."""
    theirs = getattr(node, "workeroutput", {}).get("ecs_collide", {})
    counts = node.config.stash[_COUNTS]
    for option, n in theirs.items():
        counts[option] = counts.get(option, 0) + n


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Pass the counts to the controller of xdist."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["ecs_collide"] = session.config.stash[_COUNTS]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print how often the options checked: never, if no test stepped a world."""
    names = {
        "--physics-heavy": config.getoption("--physics-heavy"),
        f"--physics-rollback={config.getoption('--physics-rollback')}": config.getoption(
            "--physics-rollback"
        ),
    }
    for option, is_on in names.items():
        if is_on:
            n = config.stash[_COUNTS].get(option, 0)
            terminalreporter.write_line(f"{option}: the world was checked {n} times")


# -- fixtures --


@pytest.fixture
def sim() -> Iterator[Sim]:
    """Give a test a fresh world and the player's hands; delete the world afterwards."""
    from ecs_collide.testing.sim import Sim

    with Sim() as found:
        yield found


@pytest.fixture
def golden_log(request: pytest.FixtureRequest) -> GoldenLog:
    """Compare a run with the log that is stored for this test: ``golden_log(sim)``."""
    if importlib.util.find_spec("syrupy") is None:
        pytest.fail(
            "the fixture golden_log needs syrupy: pip install 'ecs_collide[testing]'",
            pytrace=False,
        )
    from ecs_collide.testing.golden import GoldenLog

    return GoldenLog(request.getfixturevalue("snapshot"))


@pytest.fixture(scope="session")
def _places() -> Iterator[Places]:
    from ecs_collide.testing.places import Places

    places = Places()
    yield places
    places.close()


@pytest.fixture
def world_at(_places: Places) -> Iterator[Callable[[str], Sim]]:
    """Return a function: ``world_at("boss_door")`` returns a sim there; see `testing.leads_to`."""
    yield _places.at
    _places.leave()
