"""The same step gives the same events: whatever order, history, hash seed, process and life."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import esper
import pytest

from ecs_collide import _backend
from tests.scenes import mixed_bodies, mixed_log

ROOT = Path(__file__).parents[2]
SEEDS = [0, 1, 2, 3, 4]
REQUIRED = os.environ.get("ECS_COLLIDE_REQUIRE_COMPILED", "0") not in ("", "0")


def run_in_this_process(n_steps, **how):
    """Run the mixed room in a world of its own."""
    esper.switch_world("sameness")
    try:
        return mixed_log(n_steps, **how)
    finally:
        esper.switch_world("default")
        esper.delete_world("sameness")


def run_in_a_process(n_steps, hash_seed, plain, **how):
    """Run the mixed room in a fresh Python."""
    code = f"from tests.scenes import mixed_log; print(mixed_log({n_steps}, **{how!r}))"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ECS_COLLIDE")}
    environment["PYTHONHASHSEED"] = str(hash_seed)
    if plain:
        environment["ECS_COLLIDE_PURE_PYTHON"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def has_compiled():
    try:
        _backend.load(compiled=True)
    except ImportError:
        return False
    return True


@pytest.mark.parametrize("dim", [2, 3])
def test_the_room_is_worth_comparing(dim):
    n_collisions, n_contacts, _ = run_in_this_process(60, dim=dim).split()

    assert int(n_collisions) > 200
    assert int(n_contacts) > 60
    assert len(mixed_bodies(dim=dim)) > 100


def test_another_room_gives_another_log():
    assert run_in_this_process(10, seed=1) != run_in_this_process(10, seed=2)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("shuffle", [1, 2])
def test_components_given_in_another_order(dim, shuffle, n_steps):
    steps = n_steps(300)

    shuffled = run_in_this_process(steps, dim=dim, shuffle=shuffle)

    assert shuffled == run_in_this_process(steps, dim=dim)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("shuffle", [None, 3])
def test_after_other_entities_came_and_went(dim, shuffle, n_steps):
    steps = n_steps(300)

    after_churn = run_in_this_process(steps, dim=dim, churn=True, shuffle=shuffle)

    assert after_churn == run_in_this_process(steps, dim=dim)


@pytest.mark.parametrize("hash_seed", SEEDS)
def test_in_another_process_with_another_hash_seed(hash_seed, n_steps):
    steps = n_steps(300)
    plain = not _backend.kernels.compiled

    how = {"shuffle": hash_seed, "churn": hash_seed % 2 == 1}
    elsewhere = run_in_a_process(steps, hash_seed, plain, **how)

    assert elsewhere == run_in_this_process(steps)


@pytest.mark.parametrize("hash_seed", SEEDS)
@pytest.mark.parametrize("dim", [2, 3])
def test_compiled_and_plain_in_processes_of_their_own(hash_seed, dim):
    if not has_compiled() and not REQUIRED:
        pytest.skip("the compiled kernels are not installed")

    plain = run_in_a_process(15, hash_seed, plain=True, dim=dim, shuffle=hash_seed)
    compiled = run_in_a_process(15, 1 + hash_seed, plain=False, dim=dim)

    assert plain == compiled
