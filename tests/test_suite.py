"""The options of this test suite: see `conftest.py`."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import conftest


def test_tests_that_have_passed_are_listed_and_left_out_of_the_next_run(tmp_path):
    options = {"--long": 1, "--passed": tmp_path / "passed"}
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


@pytest.mark.parametrize(
    ("compiled", "short", "quick"),
    [
        (True, ["compiled-0", "compiled-1", "compiled-2", "plain-0"], ["compiled-0", "plain-0"]),
        (False, ["plain-0"], ["plain-0"]),
    ],
)
def test_runs_take_some_cases_in_pure_python_and_the_quick_one_a_case_of_each_life(
    monkeypatch, compiled, short, quick
):
    monkeypatch.setattr(conftest.ec, "COMPILED", compiled)
    cases = [f"{life}-{n}" for life in ("compiled", "plain") for n in range(3)]
    tests = [item(f"tests/test_a.py::test_{k}[{case}]") for k in range(5) for case in cases]

    chosen = conftest.for_short_run(tests)
    examples = conftest.examples(chosen)

    def cases_of(found, k):
        return [each.nodeid[:-1].partition("[")[2] for each in found if f"_{k}[" in each.nodeid]

    assert [cases_of(chosen, k) for k in range(5)] == [short] * 5
    assert cases_of(examples, 0) == quick
    assert cases_of(examples, 2) == quick[:1]  # in pure Python only the first test of a file
    assert cases_of(examples, conftest.EXAMPLES) == []


def test_tests_that_need_a_process_or_a_thread_are_skipped_in_a_browser(monkeypatch):
    config = SimpleNamespace(getoption=lambda _: 0, addinivalue_line=lambda *_: None)
    for owner, name in ((subprocess, "run"), (subprocess, "Popen"), (threading.Thread, "start")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(conftest, "choose_examples", lambda _: None)

    conftest.pytest_configure(config)

    for needs in (lambda: subprocess.run(["true"]), threading.Thread(target=print).start):
        with pytest.raises(pytest.skip.Exception, match="a browser has no processes"):
            needs()


def item(nodeid: str) -> SimpleNamespace:
    """Return a test of pytest, as far as `conftest` reads it."""
    kernels = nodeid.partition("[")[2].partition("-")[0]
    return SimpleNamespace(
        nodeid=nodeid,
        path=Path(nodeid.partition("::")[0]),
        callspec=SimpleNamespace(params={"kernels": kernels}),
        add_marker=lambda mark: None,
        get_closest_marker=lambda name: None,
    )
