"""The same step gives the same events: whatever order, history, process, interpreter and life.

All runs are compared with the golden logs; `tests.golden` says what those are
and when they may change.
"""

from __future__ import annotations

import glob
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from tests.golden import PREFIX, WHOLE, assert_golden, expected
from tests.scenes import another_world, mixed_bodies, mixed_log, mixed_run
from tests.volume import EVERYTHING, LONG, SHORT, Volume, further

ROOT = Path(__file__).parents[2]
HASH_SEEDS = [*range(4), *further(*range(4, 8))]
REQUIRED = os.environ.get("ECS_COLLIDE_REQUIRE_COMPILED", "0") not in ("", "0")
FATNESS = {
    "none": {"margin": 0.0, "lookahead": 0.0},
    "no margin": {"margin": 0.0, "lookahead": 8.0},
    "no lookahead": {"margin": 0.5, "lookahead": 0.0},
    "large": {"margin": 5.0, "lookahead": 30.0},
    "huge": {"margin": 1e6, "lookahead": 1e6},
}


@pytest.fixture
def n_golden(volume: Volume) -> int:
    """Return how many steps to run: there are logs of two lengths."""
    return PREFIX if volume(PREFIX, WHOLE) < WHOLE else WHOLE


def run_in_this_process(n_steps, **how):
    """Run the mixed room in a world of its own."""
    with another_world("sameness"):
        return mixed_log(n_steps, **how)


def run_in_a_process(python, n_steps, hash_seed, plain, **how):
    """Run the mixed room in a fresh Python."""
    code = f"from tests.scenes import mixed_log; print(mixed_log({n_steps}, **{how!r}))"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ECS_COLLIDE")}
    environment["PYTHONHASHSEED"] = str(hash_seed)
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    if plain:
        environment["ECS_COLLIDE_PURE_PYTHON"] = "1"
    done = subprocess.run(
        [python, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("dim", [2, 3])
def test_the_room_is_worth_comparing(dim):
    n_collisions, n_contacts = map(int, expected(dim, PREFIX).split()[:2])
    n_collisions_at_end, n_contacts_at_end = map(int, expected(dim, WHOLE).split()[:2])

    assert n_collisions > 200
    assert n_contacts > 60
    assert n_collisions_at_end > 10 * n_collisions  # it has not come to rest
    assert n_contacts_at_end > 2 * n_contacts
    assert len(mixed_bodies(dim=dim)) > 100


def test_another_room_gives_another_log():
    assert run_in_this_process(10, seed=1) != run_in_this_process(10, seed=2)


def test_what_differs_is_said_with_what_to_do():
    with pytest.raises(AssertionError, match=r"python -m tests\.golden --write"):
        assert_golden("1 2 abc", 2, PREFIX, "for a test")


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("dim", [2, 3])
def test_in_both_lives(dim, compiled, volume, monkeypatch):
    # Two thousand steps take five seconds in pure Python: once, in two dimensions, in a long run.
    try:
        kernels = backend.load(compiled=compiled)
    except ImportError:
        if REQUIRED:
            raise
        pytest.skip("the compiled kernels are not installed")
    monkeypatch.setattr(backend, "kernels", kernels)
    is_long = volume.level > (SHORT if dim == 2 and not ec.COMPILED else LONG)
    n_steps = WHOLE if compiled or is_long else PREFIX

    log = run_in_this_process(n_steps, dim=dim)

    assert_golden(log, dim, n_steps, "compiled" if compiled else "on plain Python")


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("shuffle", [1, 2])
def test_components_given_in_another_order(dim, shuffle, n_golden):
    shuffled = run_in_this_process(n_golden, dim=dim, shuffle=shuffle)

    assert_golden(shuffled, dim, n_golden, "with components given in another order")


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("shuffle", [None, 3])
def test_after_other_entities_came_and_went(dim, shuffle, n_golden):
    after_churn = run_in_this_process(n_golden, dim=dim, churn=True, shuffle=shuffle)

    assert_golden(after_churn, dim, n_golden, "after others came and went")


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("fatness", FATNESS)
def test_with_other_margins_and_lookaheads(fatness, dim, volume, n_golden):
    # Huge ones make each step slow: everybody is near everybody.
    n_steps = PREFIX if fatness == "huge" and volume.level < EVERYTHING else n_golden
    space = ec.Space(dim=dim, sleep=False, **FATNESS[fatness])  # as the golden room

    log = run_in_this_process(n_steps, dim=dim, make_space=lambda: ec.install(space))

    assert_golden(log, dim, n_steps, f"with {FATNESS[fatness]}")


def test_with_any_margin_and_lookahead(volume):
    rng = random.Random(4)
    for turn in range(volume(6, 12, 200, least=4)):
        how = {
            "margin": rng.choice([0.0, None, 10.0 ** rng.uniform(-20.0, 3.0)]),
            "lookahead": rng.choice([0.0, 10.0 ** rng.uniform(-20.0, 3.0)]),
        }
        dim = 2 + turn % 2
        space = ec.Space(dim=dim, sleep=False, **how)

        log = run_in_this_process(PREFIX, dim=dim, make_space=lambda: ec.install(space))  # noqa: B023

        assert_golden(log, dim, PREFIX, f"with {how}")


def test_with_other_worlds_in_between(n_golden):
    # A flat and a deep room step by step, a third some steps behind, and a room of another seed.
    rooms = {
        "flat": {"dim": 2},
        "deep": {"dim": 3},
        "late": {"dim": 2, "churn": True},
        "other": {"dim": 2, "seed": 2, "make_space": lambda: ec.install(ec.Space(pair_limit=3))},
    }
    steps = dict.fromkeys(rooms, n_golden) | {"late": PREFIX, "other": PREFIX}
    runs, logs = {}, {}
    try:
        for turn in range(n_golden + 8):
            for name, how in rooms.items():
                if name == "late" and turn < 7:
                    continue
                esper.switch_world(name)
                if name not in runs:
                    runs[name] = mixed_run(**how)
                if steps[name] >= 0:
                    logs[name] = next(runs[name])
                    steps[name] -= 1
        assert set(steps.values()) == {-1}
    finally:
        esper.switch_world("default")
        for name in runs:
            esper.delete_world(name)

    why = "with other worlds in between"
    assert_golden(logs["flat"].digest(), 2, n_golden, why)
    assert_golden(logs["deep"].digest(), 3, n_golden, why)
    assert_golden(logs["late"].digest(), 2, PREFIX, why)


@pytest.mark.parametrize("hash_seed", HASH_SEEDS)
def test_in_another_process_with_another_hash_seed(hash_seed, volume):
    plain = not backend.kernels.compiled
    dim = 2 + hash_seed % 2
    how = {"dim": dim, "shuffle": hash_seed, "churn": hash_seed % 4 > 1}

    for n_steps in (PREFIX, WHOLE) if volume.level == EVERYTHING else (PREFIX,):
        elsewhere = run_in_a_process(sys.executable, n_steps, hash_seed, plain, **how)

        assert_golden(elsewhere, dim, n_steps, f"with PYTHONHASHSEED={hash_seed}")


def find_python(version: str) -> str | None:
    """Return an interpreter of a version that has what the plain life needs, or None.

    Looks at what ECS_COLLIDE_PYTHONS names (paths, apart as in PATH), at PATH and at pyenv's.
    """
    named = os.environ.get("ECS_COLLIDE_PYTHONS", "").split(os.pathsep)
    at_pyenv = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}*/bin/python"))
    probe = "import sys, esper, numpy; print('%d.%d' % sys.version_info[:2])"
    for python in (*named, shutil.which(f"python{version}"), *at_pyenv):
        if python and os.path.exists(python):
            done = subprocess.run(
                [python, "-c", probe], capture_output=True, text=True, check=False
            )
            if done.stdout.strip() == version:
                return python
    return None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14", "3.15"])
def test_on_another_python(version, volume):
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        pytest.skip("it is this one")
    python = find_python(version)
    if python is None:
        pytest.skip(f"no Python {version} with esper and numpy is at hand")

    for dim in (2, 3):
        n_steps = WHOLE if volume.level == EVERYTHING else PREFIX
        log = run_in_a_process(python, n_steps, 7, plain=True, dim=dim)

        assert_golden(log, dim, n_steps, f"on Python {version}")
