"""Many bodies that press on each other: the work of a step stays near the number of its pairs."""

from __future__ import annotations

import math
import warnings

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests import packed
from tests.pressing import HALF, SCENES, Crowd, one_against_many, rows, swarm
from tests.scenes import SLOP, pairs_inside

pytestmark = pytest.mark.usefixtures("world", "life")

SWEEPS_FOR_A_PAIR = 10  # in a step, on average over many steps
# More than that as yet, in the full scenes.
BEYOND = {
    "one against many": "about as many as there are boxes",
    "growing lattice": "54 for each pair",
    "Stop and Deflect": "11 for each pair",
    "Stop": "14 for each pair",
}


def count(crowd, space, n_steps):
    """Take steps; return how many pairs and sweeps they had."""
    n_pairs = n_sweeps = 0
    for _ in range(n_steps):
        crowd.walk()
        n_pairs += space.stats.pairs
        n_sweeps += space.stats.sweeps
    return n_pairs, n_sweeps


def kinetic_energy(crowd):
    return sum(v.x * v.x + v.y * v.y for v in crowd.velocities)


def named(scenes):
    """Return the names of scenes as parameters, and mark those that are beyond the limit."""
    return [
        pytest.param(name, marks=pytest.mark.xfail(reason=BEYOND[name]) if name in BEYOND else ())
        for name in scenes
    ]


@pytest.mark.parametrize("name", named(SCENES))
def test_sweeps_of_a_crowd_are_a_small_multiple_of_its_pairs(name, life):
    crowd = Crowd(SCENES[name](200 if life == "compiled" else 36))
    space = ec.install()
    count(crowd, space, 80 if life == "compiled" else 40)

    n_pairs, n_sweeps = count(crowd, space, 40 if life == "compiled" else 10)

    assert 0 < n_sweeps <= SWEEPS_FOR_A_PAIR * n_pairs


@pytest.mark.parametrize("name", named(packed.SCENES))
def test_sweeps_of_a_mixed_crowd_are_a_small_multiple_of_its_pairs(name, life, request):
    build, n = packed.SCENES[name]
    n_steps = 160
    if not request.config.getoption("--long"):
        n = n // 8 if life == "compiled" else 16
        n_steps = 120 if life == "compiled" else 40
    space, step = build(n)
    n_pairs = n_sweeps = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a crowd that begins in one heap
        for _ in range(n_steps):
            step()
            n_pairs += space.stats.pairs
            n_sweeps += space.stats.sweeps

    assert n_sweeps <= SWEEPS_FOR_A_PAIR * n_pairs
    assert n_pairs > 0


@pytest.mark.xfail(reason=BEYOND["one against many"])
@pytest.mark.parametrize("n", [1000, 2000])
def test_sweeps_of_a_thousand_that_press_on_one_body_are_a_small_multiple_of_their_pairs(
    n, life, request
):
    n = n if life == "compiled" and request.config.getoption("--long") else n // 50
    crowd = Crowd(one_against_many(n))
    space = ec.install()

    n_pairs, n_sweeps = count(crowd, space, 60)

    assert 0 < n_sweeps <= SWEEPS_FOR_A_PAIR * n_pairs


def test_sweeps_of_two_rows_do_not_depend_on_their_length(life):
    ratios = []
    for n in (20, 80) if life == "plain" else (100, 400):
        esper.switch_world(f"rows of {n}")
        n_pairs, n_sweeps = count(Crowd(rows(n)), ec.install(), 10)
        ratios.append(n_sweeps / n_pairs)

    assert ratios[1] == pytest.approx(ratios[0], rel=0.1)


@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Push, lambda: ec.Deflect(0.3)])
def test_members_of_a_crowd_stay_outside_each_other(response, life):
    crowd = Crowd(swarm(120 if life == "compiled" else 20), response)
    ec.install()

    for _ in range(120 if life == "compiled" else 30):
        crowd.walk()
        centres = np.array([(place.x, place.y) for place in crowd.places])
        # Less than the slop: a row that nothing holds may keep a few roundings.
        slop = SLOP * np.abs(centres).max()
        assert len(pairs_inside(centres - HALF, centres + HALF, slop)) == 0


@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Push, lambda: ec.Deflect(0.3)])
def test_a_crowd_that_is_left_alone_wins_no_energy(response, life):
    crowd = Crowd(swarm(60 if life == "compiled" else 16), response)
    ec.install()
    for _ in range(60):
        crowd.walk()
    before = kinetic_energy(crowd)

    for _ in range(60):
        esper.process(1 / 60)
        energy = kinetic_energy(crowd)
        assert energy <= before * (1 + 1e-12)
        before = energy


def test_a_crowd_keeps_its_momentum(life):
    crowd = Crowd(swarm(60 if life == "compiled" else 16))
    ec.install()
    for _ in range(60):
        crowd.walk()
    before = [math.fsum(getattr(v, axis) for v in crowd.velocities) for axis in "xy"]

    for _ in range(20):
        esper.process(1 / 60)

    after = [math.fsum(getattr(v, axis) for v in crowd.velocities) for axis in "xy"]
    assert after == pytest.approx(before, abs=1e-10)
