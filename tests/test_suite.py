"""The options of this test suite: see `conftest.py`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import conftest


def test_tests_that_have_passed_are_listed_and_left_out_of_the_next_run(tmp_path):
    options = {"--long": 0, "--passed": tmp_path / "passed"}
    deselected = []
    config = SimpleNamespace(
        getoption=options.get,
        hook=SimpleNamespace(pytest_deselected=lambda items: deselected.extend(items)),
    )
    tests = [item("tests/test_a.py::test[x y]"), item("tests/test_a.py::test[\u00e9]")]
    reporter = SimpleNamespace(getreports={"passed": tests[:1], "skipped": tests[1:]}.get)

    first = list(tests)
    conftest.pytest_collection_modifyitems(config, first)
    conftest.pytest_terminal_summary(reporter, config)
    again = list(tests)
    conftest.pytest_collection_modifyitems(config, again)

    assert first == tests
    assert again == tests[1:]
    assert deselected == tests[:1]

    passing_too = SimpleNamespace(getreports=lambda category: tests[1:])
    conftest.pytest_terminal_summary(passing_too, SimpleNamespace(workerinput={}, **vars(config)))
    conftest.pytest_terminal_summary(passing_too, config)
    listed = options["--passed"].read_text("utf-8").splitlines()
    assert listed == [test.nodeid for test in tests]


def item(nodeid: str) -> SimpleNamespace:
    """Return a test of pytest, as far as `conftest` reads it."""
    return SimpleNamespace(
        nodeid=nodeid,
        path=Path(nodeid.partition("::")[0]),
        add_marker=lambda mark: None,
        get_closest_marker=lambda name: None,
    )
