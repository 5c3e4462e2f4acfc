"""Many bodies that press on each other: the work of a step stays near the number of its pairs."""

from __future__ import annotations

import itertools
import math
import random
import warnings

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests import packed, plain
from tests.pressing import HALF, SCENES, Crowd, one_against_many, rows, swarm
from tests.scenes import SLOP, mover, pairs_inside

pytestmark = pytest.mark.usefixtures("world", "implementation")

SWEEPS_FOR_A_PAIR = 9  # in a step, on average over many steps
ELASTIC_SWEEPS_FOR_A_PAIR = 15  # where members bounce off each other, which merges nothing
ELASTIC = ("Deflect", "all components")  # scenes of such crowds


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


@pytest.mark.slow_in_python
@pytest.mark.parametrize("name", SCENES)
def test_sweeps_of_a_crowd_are_a_small_multiple_of_its_pairs(name, implementation):
    crowd = Crowd(SCENES[name](200 if implementation == "compiled" else 36))
    space = ec.install(sleep=False)
    count(crowd, space, 80 if implementation == "compiled" else 60)

    n_pairs, n_sweeps = count(crowd, space, 40 if implementation == "compiled" else 10)

    assert 0 < n_sweeps <= SWEEPS_FOR_A_PAIR * n_pairs


def test_a_pair_of_a_row_that_presses_is_swept_again_only_if_it_has_turned():
    #   5>  4>  3>  2>  1>  0     all faces touch
    for i in range(6):
        mover((2 * i, 0), (1, 1), (5 - i, 0), ec.Slide())
    space = ec.install()

    esper.process(0.25)

    assert space.stats.resolutions == 5
    assert space.stats.sweeps == 5 + 4  # all but the pair that is resolved first


@pytest.mark.parametrize("kernels", ["plain"], indirect=True)
def test_a_pair_of_two_bodies_that_turn_is_a_visit_of_both(monkeypatch):
    #   3>  1>  0     all faces touch, and all three turn
    holding = plain.kernel("response.holding").Holding
    visits = [0, 0, 0]

    def count_visits(self, i, n_visits):
        visits[i] += n_visits

    monkeypatch.setattr(holding, "count_visits", count_visits)
    for i in range(3):
        mover((2 * i, 0), (1, 1), ((3, 1, 0)[i], 0), ec.Slide())
    ec.install()

    esper.process(0.25)

    assert visits == [2, 4, 2]  # a resolution and a sweep for each pair


def deflect():
    return ec.Deflect(0.3)


@pytest.mark.slow_in_python
@pytest.mark.parametrize(
    "responses",
    [[ec.Stop], [deflect], [ec.Slide, ec.Stop, deflect, ec.Push]],
    ids=["stop", "deflect", "all"],
)
def test_bodies_that_press_in_an_instant_obey_each_partner_once(responses, implementation):
    # To obey all partners in turn, four times each, took 6 to 10 sweeps for each pair.
    turns = itertools.cycle(responses)
    crowd = Crowd(swarm(200 if implementation == "compiled" else 49), lambda: next(turns)())
    space = ec.install(sleep=False)
    count(crowd, space, 80)

    n_pairs, n_sweeps = count(crowd, space, 20)

    assert n_pairs > 2 * len(crowd.places)
    assert n_sweeps <= 5 * n_pairs


@pytest.mark.parametrize("name", packed.SCENES)
def test_sweeps_of_a_mixed_crowd_are_a_small_multiple_of_its_pairs(name, implementation, volume):
    build, n = packed.SCENES[name]
    n_steps = 160
    if not volume.level:
        n = n // 8 if implementation == "compiled" else 16
        n_steps = 120 if implementation == "compiled" else 70 if name == "growing lattice" else 40
    space, step = build(n)
    n_pairs = n_sweeps = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a crowd that begins in one heap
        for _ in range(n_steps):
            step()
            n_pairs += space.stats.pairs
            n_sweeps += space.stats.sweeps

    is_elastic = any(word in name for word in ELASTIC)
    limit = ELASTIC_SWEEPS_FOR_A_PAIR if is_elastic else SWEEPS_FOR_A_PAIR
    assert n_sweeps <= limit * n_pairs
    assert n_pairs > 0


@pytest.mark.parametrize("n", [1000, 2000])
def test_sweeps_of_a_thousand_that_press_on_one_body_are_a_small_multiple_of_their_pairs(
    n, implementation, volume
):
    n = n if implementation == "compiled" and volume.level else n // 50
    crowd = Crowd(one_against_many(n))
    space = ec.install(sleep=False)

    n_pairs, n_sweeps = count(crowd, space, 60)

    assert 0 < n_sweeps <= SWEEPS_FOR_A_PAIR * n_pairs


def test_sweeps_of_two_rows_do_not_depend_on_their_length(implementation):
    ratios = []
    for n in (20, 80) if implementation == "plain" else (100, 400):
        esper.switch_world(f"rows of {n}")
        n_pairs, n_sweeps = count(Crowd(rows(n)), ec.install(), 10)
        ratios.append(n_sweeps / n_pairs)

    assert ratios[1] == pytest.approx(ratios[0], rel=0.1)


@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Push, lambda: ec.Deflect(0.3)])
def test_members_of_a_crowd_stay_outside_each_other(response, implementation, volume):
    crowd = Crowd(swarm(120 if implementation == "compiled" else 20), response)
    ec.install()

    for _ in range(volume(40, 80, 120, least=15)):
        crowd.walk()
        centres = np.array([(place.x, place.y) for place in crowd.places])
        # Less than the slop: a row that nothing holds may keep a few roundings.
        slop = SLOP * np.abs(centres).max()
        assert len(pairs_inside(centres - HALF, centres + HALF, slop)) == 0


@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Push, lambda: ec.Deflect(0.3)])
def test_a_crowd_that_is_left_alone_wins_no_energy(response, implementation, volume):
    crowd = Crowd(swarm(60 if implementation == "compiled" else 10), response)
    ec.install()
    n_steps = volume(60, 60, least=30)
    for _ in range(n_steps):
        crowd.walk()
    before = kinetic_energy(crowd)

    for _ in range(n_steps):
        esper.process(1 / 60)
        energy = kinetic_energy(crowd)
        assert energy <= before * (1 + 1e-12)
        before = energy


@pytest.mark.slow_in_python
def test_a_crowd_keeps_its_momentum(implementation):
    crowd = Crowd(swarm(60 if implementation == "compiled" else 16))
    ec.install()
    for _ in range(60):
        crowd.walk()
    before = [math.fsum(getattr(v, axis) for v in crowd.velocities) for axis in "xy"]

    for _ in range(20):
        esper.process(1 / 60)

    after = [math.fsum(getattr(v, axis) for v in crowd.velocities) for axis in "xy"]
    assert after == pytest.approx(before, abs=1e-10)


@pytest.mark.slow_in_python
@pytest.mark.parametrize("kinds", ["that keep momentum", "all"])
def test_a_mixed_crowd_wins_no_energy(kinds, implementation):
    responses = [ec.Slide, ec.Slide, lambda: ec.Deflect(0.3), ec.Deflect]
    if kinds == "all":
        responses += [ec.Stop, ec.Push]
    rng = random.Random(5)
    space = ec.install(sleep=False)
    crowd = [mixed_member(rng, cell, rng.choice(responses)()) for cell in range(49)]
    n_lasting = 0

    for step in range(240 if implementation == "compiled" else 24):
        if step % 20 < 8:
            for place, velocity, _ in crowd:
                velocity.set((45 - place.x) * 3, (45 - place.y) * 3)
        energy, momentum = sums(crowd)
        esper.process(1 / 30)
        n_lasting += space._state.timeline.solver.clusters.n_lasting > 0
        later, momentum_later = sums(crowd)
        assert later <= energy * (1 + 1e-14)
        if kinds != "all" and not space.stats.held:  # what is held is a wall for that step
            size = math.sqrt(energy * sum(mass for *_, mass in crowd))
            assert momentum_later == pytest.approx(momentum, rel=0, abs=1e-14 * size)

    assert n_lasting > 5


def mixed_member(rng, cell, response):
    """Create a box of some size and mass in a cell; return place, velocity and mass."""
    place = ec.Position(cell % 7 * 15 + rng.uniform(-1, 1), cell // 7 * 15 + rng.uniform(-1, 1))
    velocity, mass = ec.Velocity(0, 0), rng.choice([0.2, 1.0, 1.0, 5.0])
    extents = ec.Extents(rng.uniform(3, 7), rng.uniform(3, 7))
    esper.create_entity(place, velocity, extents, response, ec.Mass(mass))
    return place, velocity, mass


def sums(crowd):
    """Return twice the kinetic energy of a crowd, and its momentum."""
    energy = math.fsum(mass * (v.x * v.x + v.y * v.y) for _, v, mass in crowd)
    momentum = [math.fsum(mass * getattr(v, axis) for _, v, mass in crowd) for axis in "xy"]
    return energy, momentum


@pytest.mark.parametrize("kernels", ["plain"], indirect=True)
@pytest.mark.filterwarnings("ignore:entity 1 and")
def test_pairs_of_bodies_in_one_place_are_looked_at_once_and_not_four_times(monkeypatch):
    n = 240  # one pair each is more than there is room for
    for _ in range(n):
        mover((0, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    n_looks = 0
    broadphase = plain.kernel("broadphase.broadphase").Broadphase
    process_pair = broadphase._process_pair

    def count(self, i, j, purpose):
        nonlocal n_looks
        n_looks += 1
        return process_pair(self, i, j, purpose)

    monkeypatch.setattr(broadphase, "_process_pair", count)
    esper.process(1 / 60)

    assert space.stats.skipped == n * (n - 1) // 2
    assert n_looks <= space.stats.skipped  # those that show that there is no room
