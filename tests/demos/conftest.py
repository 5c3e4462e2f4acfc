"""What the tests of the demos need: packages that may be missing, and a folder to run in."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

import ecs_collide as ec

SIZED = ("ten_thousand", "survivors")  # demos with an option `n`, how many bodies there are
STEPS = 600 if ec.COMPILED else 120  # of a demo, in its tests


def few(name: str) -> dict[str, int]:
    """Return the options of a demo with few bodies."""
    return {"n": 60} if name in SIZED else {}


def need(*packages: str) -> None:
    """Skip a test on a machine that lacks a package; in CI that is an error."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"not installed, but required in CI: {', '.join(missing)}")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}", allow_module_level=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run the test in an empty folder, as its working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
