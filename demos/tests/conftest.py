"""What the tests of the demos share: how many bodies and steps, and a folder to run in."""

from __future__ import annotations

from pathlib import Path

import pytest

import ecs_collide as ec

SIZED = ("ten_thousand", "survivors")  # demos with an option `n`, how many bodies there are
STEPS = 600 if ec.COMPILED else 120  # of a demo, in its tests


def few(name: str) -> dict[str, int]:
    """Return the options of a demo with few bodies."""
    return {"n": 60} if name in SIZED else {}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run the test in an empty folder, as its working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
