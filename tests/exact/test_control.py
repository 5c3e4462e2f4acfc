"""Steps with all components that the simulator models, against exact fractions.

The worlds are those of `tests/exact/worlds.py`, furnished.  8 worlds of 3 seconds run, with
``--long`` 96 on the compiled kernels and 9 in pure Python,
and with ``--long --long`` 480.
"""

from __future__ import annotations

import itertools
import random

import esper
import pytest

import ecs_collide as ec
from tests.exact.rules import OFF, Rules
from tests.exact.test_whole_steps import choose_worlds, member  # noqa: F401  (a fixture)
from tests.exact.twin import Standing, Tally, compare_step, read_bodies, standing_in
from tests.exact.worlds import MODELLED, WITHOUT, RandomWorld
from tests.random_worlds import Draw
from tests.scenes import another_world, box, mover, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


def compare_world(number, seconds, rules):
    """Run a random world, and compare each of its steps with the exact one."""
    tally = Tally()
    random_world = RandomWorld(number, furnished=True)
    space = ec.install(dim=random_world.dim)
    standing = Standing()
    for step, dt in enumerate(random_world.dts):
        if random_world.clock > seconds:
            break
        random_world.shake(dt)
        bodies = read_bodies(random_world.dim)
        standing = standing.at_start(space.dim)
        rules.try_out(bodies, dt, standing)
        tally += take_step(bodies, dt, space, standing, f"world {number}, step {step} of {dt} s")
        standing = standing_in(space)
    return tally


def take_step(bodies, dt, space, standing, which):
    """Take a step and compare it; an error says which one it was."""
    esper.process(dt)
    try:
        return compare_step(bodies, dt, space, standing)
    except AssertionError as wrong:
        raise AssertionError(which) from wrong


@pytest.mark.slow_in_python
def test_every_step_with_dominance_and_locked_axes_is_the_exact_one(choose_worlds):  # noqa: F811
    tally, rules = Tally(), Rules()

    for number in choose_worlds(8, 40, 480, least=8):
        tally += compare_world(number, 3.0, rules)

    print(tally)
    assert not rules.idle, "switched off in the simulator, they change no step"
    assert tally.impacts > tally.steps
    assert tally.exact_impacts > tally.impacts / 100  # bit for bit
    assert tally.cut_short < tally.steps / 8


# A rider that a wall and another body push at one instant, as what it stands on turns; one that
# lands as it shrinks; bodies that cross as others rub, or far from the origin.
@pytest.mark.parametrize("number", [52, 76, 107, 136, 160, 170, 231, 262, 279])
def test_every_step_in_which_riders_turn_land_or_rub_with_others_is_the_exact_one(number):
    rules = Rules()
    rules.idle.clear()  # none is tried out

    compare_world(number, 3.0, rules)


def test_every_component_that_the_simulator_models_can_be_switched_off():
    # There is no gravity, and a body that is switched off is in no step.
    without_effect = {ec.Position, ec.Extents, ec.GravityScale, ec.Disabled}

    assert MODELLED - without_effect == OFF.keys() - {ec.CombineRule}


def test_a_rule_that_changes_nothing_is_noticed():
    rules = Rules()
    mover((0, 0), (1, 1), (4, 0), ec.Slide(), ec.Dominance(1), ec.Mass(3))
    mover((0, 9), (1, 1), (0, 0), ec.Slide())

    rules.try_out(read_bodies(2), 1.0)

    assert rules.idle == OFF.keys() - {ec.Velocity}


@pytest.mark.slow_in_python
def test_every_step_of_crowds_with_dominance_is_the_exact_one(choose_worlds):  # noqa: F811
    tally = Tally()
    n_lasting = 0
    for number in choose_worlds(4, 20, 192):
        rng = random.Random(f"ranks {number}")
        space = ec.install()
        crowd = [member(rng, cell, number) for cell in rng.sample(range(16), rng.randint(7, 10))]
        for entity in crowd:
            if rng.random() < 0.4:
                esper.add_component(entity, ec.Dominance(*rng.choice([(1,), (2,), (2, True)])))
        if number % 3 == 0:
            box((7.0, 7.0), (0.5, 0.5))
        for step in range(6):
            for entity in crowd:
                place = esper.component_for_entity(entity, ec.Position)
                speed = esper.component_for_entity(entity, ec.Velocity)
                speed.set(*(rng.choice([2.0, 4.0, 5.0]) * (7.0 - x) for x in (place.x, place.y)))
            bodies = read_bodies(2)
            esper.process(1 / 8)
            try:
                tally += compare_step(bodies, 1 / 8, space)
            except AssertionError as wrong:
                raise AssertionError(f"crowd {number}, step {step}") from wrong
            n_lasting += space._state.timeline.solver.clusters.n_lasting > 0
    print(tally, n_lasting)

    assert n_lasting > 0
    assert tally.impacts > tally.steps
    assert tally.cut_short < tally.steps / 4


@pytest.mark.slow_in_python
def test_every_step_of_people_who_block_on_a_raft_is_the_exact_one(volume):
    tally = Tally()
    for number in range(volume(24, 64, 1600, least=3)):
        rng = random.Random(f"people {number}")
        with another_world(f"{esper.current_world} people {number}"):
            people = create_on_raft(rng)
            space, standing = ec.install(), Standing()
            for step in range(12):
                for person in people if step % 3 == 2 else ():
                    speed = rng.choice([0.0, 0.0, 16.0, -16.0, 24.0])
                    esper.component_for_entity(person, ec.Velocity).x = speed
                bodies = read_bodies(2)
                standing = standing.at_start(2)
                tally += take_step(bodies, 1 / 16, space, standing, f"{number}, step {step}")
                standing = standing_in(space)

    print(tally)
    assert tally.impacts > tally.steps / 8
    assert tally.cut_short < tally.steps / 40


def create_on_raft(rng):
    """Create people who block on a raft, and some beside it; return those on the raft."""
    raft = rng.choice([-64.0, -24.0, 40.0, 64.0])
    mover((0, -8), (400, 8), (raft, 0), ec.Carry())
    for x in rng.sample([-404, -412, 404, 412], 2):
        mover((x, 7), (4, 7), (0, 0), ec.Slide(), ec.Dominance(rng.choice([0, 1]), blocks=True))
    people, x = [], rng.choice([-360.0, 340.0])
    for _ in range(rng.randint(2, 4)):
        x += 8 + rng.choice([0, 1, 4])
        response = rng.choice([ec.Slide(), ec.Slide(), ec.Stop(), ec.Deflect(0.5)])
        rank = ec.Dominance(rng.choice([0, 0, 0, 1]), blocks=rng.random() < 0.9)
        people.append(mover((x, 4), (4, 4), (0, 0), response, rank))
    return people


@pytest.mark.slow_in_python
def test_every_step_of_bodies_that_leave_others_is_the_exact_one(volume):
    tally = Tally()
    for number in range(volume(24, 64, 1600, least=3)):
        rng = random.Random(f"ways out {number}")
        with another_world(f"{esper.current_world} ways out {number}"):
            draw = Draw(
                rng, rng.choice([2, 2, 3]), without=WITHOUT, mixture=0.6, on_grid=number % 2 == 0
            )
            create_overlapping(draw)
            space, dt = ec.install(dim=draw.dim), rng.choice([1 / 64, 1 / 8, 1 / 2])
            standing = Standing()
            for step in range(4):
                bodies = read_bodies(draw.dim)
                standing = standing.at_start(draw.dim)
                which = f"world {number}, step {step} of {dt} s"
                tally += take_step(bodies, dt, space, standing, which)
                standing = standing_in(space)

    print(tally)
    assert tally.impacts > tally.steps / 4
    assert tally.cut_short < tally.steps / 8


def create_overlapping(draw):
    """Create a room with two posts, and bodies in each other of which half can leave."""
    axes = range(draw.dim)
    for axis, at in itertools.product(axes, (-9.0, 9.0)):
        box([at if k == axis else 0.0 for k in axes], [2.0 if k == axis else 12.0 for k in axes])
    for n in range(draw.rng.randint(4, 8)):
        ways = [kind for kind in (ec.PushOut, ec.Separate) if draw.rng.random() < 0.5]
        parts = [ec.Position(*draw.vector(5.0)), ec.Extents(*(draw.number(0.5, 1.5) for _ in axes))]
        parts += map(draw.component, ways)
        moves = [ec.Velocity(*draw.vector(9.0))] if n > 1 else []
        draw.body(*parts, *moves, moves=n > 1)


@pytest.mark.parametrize(("mass", "n_roundings"), [(3.0, 0), (10.0, 1)])
def test_rounding_decides_who_joins_a_lasting_cluster_whose_path_is_as_fast(mass, n_roundings):
    # The ball leaves the upper crate with the velocity of the lower one, which becomes the path
    # of the cluster of both: the ball closes by nothing, or by what the rounding of 5 / 11 adds.
    lower = mover((0, 0), (1, 1), (0, 0), ec.Slide(), ec.Mass(mass))
    upper = mover((0, 2.5), (1, 1), (0, -4 if mass == 3.0 else -5), ec.Slide())
    ball = mover((0, 9), (1, 1), (0, -7), ec.Deflect(0.5), ec.Mass(0.5))
    space = ec.install()
    bodies = read_bodies(2)

    esper.process(1.0)

    assert compare_step(bodies, 1.0, space).roundings == n_roundings
    assert space._state.timeline.solver.clusters.n_lasting == 1
    assert velocity(upper) == velocity(lower)
    assert (velocity(ball) == velocity(lower)) is (n_roundings == 1)
