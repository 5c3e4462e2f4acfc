"""What `python -m ecs_collide` shows and checks."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide import __main__ as program
from ecs_collide._kernel import backend


@pytest.fixture
def fast(monkeypatch):
    """Measure a few steps of a few bodies only."""
    monkeypatch.setattr(program, "SECONDS", 0.0)
    monkeypatch.setattr(program, "N_BODIES", 20)


@pytest.fixture
def kernels_in(tmp_path, monkeypatch):
    """Return a function that puts files into the package, of which a kernel cannot be imported."""

    def pretend(*names: str) -> None:
        for name in names:
            (tmp_path / name).touch()
        monkeypatch.setattr(ec, "__file__", str(tmp_path / "__init__.py"))
        monkeypatch.setattr(
            backend, "why_pure", "a compiled kernel is missing (broadphase.nodes is not compiled)"
        )
        monkeypatch.setattr(
            backend, "missing_kernel", ImportError("broadphase.nodes is not compiled")
        )

    return pretend


@pytest.mark.quick
def test_versions_and_kernels_are_shown_and_everything_holds(fast, capsys):
    assert program.main([]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith(f"ecs_collide {ec.__version__} in ")
    assert f"numpy    {np.__version__}" in shown
    assert re.search(r"esper    3\.\d", shown)
    assert ("kernels  compiled" in shown) is ec.COMPILED
    assert shown.count("  ok  ") == (6 if ec.COMPILED else 4)
    assert "a step of 20 moving bodies takes" in shown
    assert " ms" not in shown
    assert shown.endswith("everything holds\n")


def test_a_step_is_measured_by_its_least_time_against_numpy(fast, monkeypatch):
    """Of each five times the least counts, however long the others are."""
    lasting = [9.0, 1.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 0.25, 9.0]  # five sorts, then five steps
    clock = iter([time for n, last in enumerate(lasting) for time in (100.0 * n, 100.0 * n + last)])
    monkeypatch.setattr(program, "perf_counter", lambda: next(clock, 1e9))

    assert program.measure(until=0.0) == (
        "a step of 20 moving bodies takes 0.25 times as long as numpy takes to sort 10,000 numbers"
    )


def test_a_result_with_other_bits_fails(fast, capsys, monkeypatch):
    monkeypatch.setattr(program, "EXPECTED", program.EXPECTED[::-1])

    assert program.main([]) == 1

    assert "FAILED   60 steps have the bits" in capsys.readouterr().out


def test_the_worlds_of_a_game_are_left_alone(fast, world):
    entity = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1))
    kernels = backend.kernels

    program.main([])

    assert esper.current_world == world
    assert esper.entity_exists(entity)
    assert "ecs_collide self-check" not in esper.list_worlds()
    assert backend.kernels is kernels


def test_pure_python_that_was_asked_for_says_so(monkeypatch):
    monkeypatch.setattr(backend, "why_pure", "ECS_COLLIDE_PURE_PYTHON is set")
    monkeypatch.setattr(backend, "missing_kernel", None)

    assert program.describe_kernels() == "pure Python, because ECS_COLLIDE_PURE_PYTHON is set"


def test_kernels_that_were_never_compiled_ask_for_a_compiler(kernels_in):
    kernels_in("_kernel", "events.py")

    assert "no compiled kernels are installed" in program.describe_kernels()
    assert "--no-binary ecs_collide" in program.describe_kernels()


def test_kernels_of_another_python_are_named(kernels_in):
    kernels_in("_kernels.cpython-27-game-console.so")

    told = program.describe_kernels()

    assert "compiled for another Python: _kernels.cpython-27-game-console.so" in told
    assert EXTENSION_SUFFIXES[0] in told


def test_one_missing_kernel_is_named(kernels_in):
    kernels_in(f"_kernels{EXTENSION_SUFFIXES[0]}")

    assert program.describe_kernels().endswith(
        "a compiled kernel is missing (broadphase.nodes is not compiled)"
    )


def test_the_program_runs_for_two_seconds_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "ecs_collide"], capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1,000 moving bodies" in done.stdout
