"""Random worlds and their mirror images, also created in another order: they go on alike."""

from __future__ import annotations

import copy
import itertools
import math
import random

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.rows import STEP, rows_that_meet
from tests.scenes import another_world

pytestmark = pytest.mark.usefixtures("world", "implementation")

CRATES = {
    "Slide": lambda draw: ec.Slide(),
    "Push": lambda draw: ec.Push(),
    "Stop": lambda draw: ec.Stop(),
    "Deflect": lambda draw: ec.Deflect(draw.choice([0.5, 0.9])),
}
# The share of the crates, and of the floors, that have a component, and what makes one.
OF_CRATES = {
    "Friction": (0.5, lambda draw: ec.Friction(draw.choice([0.2, 0.5, 1]))),
    "Mass": (0.5, lambda draw: ec.Mass(draw.choice([1, 2, 4]))),
    "Dominance": (0.2, lambda draw: ec.Dominance(draw.choice([-1, 1, 2]))),
    "Blockers": (0.4, lambda draw: ec.Dominance(draw.choice([0, 1]), True)),
    "LockedAxes": (0.1, lambda draw: ec.LockedAxes(*draw.choice([(True, False), (False, True)]))),
    "GravityScale": (0.2, lambda draw: ec.GravityScale(draw.choice([0.5, 0, 2]))),
    "MaxSpeed": (0.2, lambda draw: ec.MaxSpeed(200)),
    "Damping": (0.3, lambda draw: ec.Damping(draw.choice([0.5, 4]))),
    "Acceleration": (
        0.3,
        lambda draw: ec.Acceleration(draw.choice([-200, 0, 200]), draw.choice([-300, 0, 300])),
    ),
    "Growth": (0.3, lambda draw: ec.Growth(draw.choice([-4, 0, 4, 8]), draw.choice([-4, 0, 4]))),
    "PushOut": (0.2, lambda draw: ec.PushOut(60)),
    "OneWay": (0.2, lambda draw: ec.OneWay(draw.choice([None, (0, 1), (1, 0)]))),
}
OF_FLOORS = {
    "Friction": (0.4, lambda draw: ec.Friction(draw.choice([0, 0.5, 1]))),
    "Restitution": (0.2, lambda draw: ec.Restitution(draw.choice([0.5, 0.9]))),
    "OneWay": (0.2, lambda draw: ec.OneWay(draw.choice([None, (0, 1), (1, 0)]))),
    "Growth": (0.2, lambda draw: ec.Growth(draw.choice([0, 4, 8]), draw.choice([0, 4]))),
    "Sensor": (0.15, lambda draw: ec.Sensor()),
    "Carry": (0.5, lambda draw: ec.Carry((draw.choice([-40, -25, 0, 30, 50]), 0))),
}
# No set has what is known to differ; docs/exactness.md names it.
SETS = {
    "friction": {"Slide", "Friction", "Mass"},
    "bounces": {"Slide", "Deflect"},
    "walls that throw": {"Slide", "Restitution", "Dominance", "MaxSpeed"},
    "damped": {"Slide", "Friction", "Damping"},
    "locked": {"Slide", "Friction", "GravityScale", "LockedAxes"},
    "ranks": {"Slide", "Mass", "Dominance"},
    "ranks with friction": {"Slide", "Mass", "Dominance", "Friction"},
    "blockers": {"Slide", "Blockers"},
    "growing": {"Slide", "Growth"},
    "one-way": {"Slide", "OneWay", "Sensor"},
    "driven": {"Slide", "Acceleration", "PushOut"},
    "steering": {"Slide", "Push", "Acceleration", "Damping"},
    "turned": {"Slide", "Push", "Stop", "Acceleration"},
    "belts": {"Slide", "Carry"},
    "blockers on belts": {"Slide", "Blockers", "Carry"},
    "belts with friction": {"Slide", "Carry", "Friction", "Mass"},
}
# With more crates some worlds differ: where one bounces off two others at once, and where crates
# stand on several others that belts carry.
MOST = {"Deflect": 2, "Restitution": 2, "Carry": 4}


def parts_of(table, parts, draw):
    return [
        make(draw)
        for name, (share, make) in table.items()
        if name in parts and draw.random() < share
    ]


def world_of(seed, parts):
    """Return the boxes of a random world: position, whether it moves, and components."""
    draw = random.Random(seed)
    floors = [(16 * n + 8, -8) for n in range(-8, 8)]
    floors += [(side * 136, 16 * n + 8) for n in range(5) for side in (1, -1)]
    floors += [(16 * draw.randint(-7, 6) + 8, 8 + 16 * draw.randint(0, 2)) for _ in range(3)]
    boxes = [(place, False, parts_of(OF_FLOORS, parts, draw)) for place in floors]
    most = min(MOST.get(part, 8) for part in parts)
    for n in range(draw.randint(2, most)):
        place = 16 * draw.randint(-7, 6) + 8 * draw.randint(0, 1), 60 + 20 * n
        velocity = draw.choice([0, 0, 60, -60, 120, -120, 240]), -draw.choice([0, 100])
        response = CRATES[draw.choice(sorted(parts & {*CRATES}))](draw)
        more = parts_of(OF_CRATES, parts, draw)
        boxes.append((place, True, [ec.Velocity(*velocity), response, *more]))
    return boxes


def mirrored(part, mirror):
    """Return the mirror image of a component; 2 stands for the up of the space."""
    image = copy.copy(part)
    if isinstance(part, (ec.Velocity, ec.Acceleration, ec.OneWay, ec.Carry)):
        for name, side in zip("xy", mirror, strict=True):
            value = getattr(part, name)
            setattr(image, name, value if value == 2 else side * value)
    return image


def play(boxes, n_steps, mirror=(1, 1), order=1):
    """Return where the moving boxes are after each step, mirrored back."""

    def seen(vector):
        return tuple(x * side for x, side in zip(vector, mirror, strict=True))

    ids = {}
    for n in range(len(boxes))[::order]:
        place, _, parts = boxes[n]
        made = [mirrored(part, mirror) for part in parts]
        ids[n] = esper.create_entity(ec.Position(*seen(place)), ec.Extents(8, 8), *made)
    space = ec.install(gravity=(0, -900 * mirror[1]))
    moving = [ids[n] for n in sorted(ids) if boxes[n][1]]
    places = []
    for _ in range(n_steps):
        esper.process(1 / 60)
        places.append(space.positions(moving))
    return np.array(places) * mirror


def differ(one, other):
    """Return for each step whether any number of two worlds differs by more than rounding."""
    return ~(np.abs(one - other) <= 1e-6).all(axis=(1, 2))


@pytest.mark.parametrize("name", SETS)
def test_mirror_images_stay_mirror_images(name, volume):
    n_steps = volume(100, 100, least=60)
    parts = SETS[name]
    for seed in range(volume(12, 40, 200)):
        if name == "growing" and seed == 83:
            continue  # of two equal contacts of a body in a vice, the first in space is crushed
        boxes = world_of(seed, parts)
        with another_world("mirror"):
            places = play(boxes, n_steps)
        for changes in ({"mirror": (-1, 1)}, {"mirror": (1, -1)}, {"order": -1}):
            with another_world("mirror"):
                other = play(boxes, n_steps, **changes)
            assert not differ(places, other).any(), (seed, changes, differ(places, other).argmax())


ROWS = {
    "bounces": {"Deflect"},
    "bounces of all masses": {"Deflect", "Mass"},
    "bounces of some": {"Deflect", "Slide", "Mass"},
    "walls that throw": {"Slide", "Restitution"},
    "bounces that rub": {"Deflect", "Friction"},
    "Stop": {"Stop", "Mass"},
    "Push": {"Push", "Slide"},
    "all responses": {"Deflect", "Slide", "Push", "Stop", "Mass", "Restitution"},
    "stops that rub": {"Slide", "Stop", "Friction"},
}


def play_rows(boxes, dim, mirror, order=1):
    """Return where the boxes of rows are after each of three steps, mirrored back."""

    def seen(vector):
        return tuple(x * side for x, side in zip(vector, mirror, strict=True))

    ids = {}
    for n in range(len(boxes))[::order]:
        place, half, velocity, parts = boxes[n]
        ids[n] = esper.create_entity(
            ec.Position(*seen(place)),
            ec.Extents(*half),
            ec.Velocity(*seen(velocity)),
            *[copy.copy(part) for part in parts],
        )
    space = ec.install(dim=dim)
    places = []
    for _ in range(3):
        esper.process(STEP)
        places.append(space.positions([ids[n] for n in sorted(ids)]))
    return np.array(places) * mirror


def images(dim):
    """Return the mirrors, each with an order of creation, in which a world must go on alike."""
    mirrors = [(tuple(-1 if k == axis else 1 for k in range(dim)), 1) for axis in range(dim)]
    return [*mirrors, ((1,) * dim, -1)]


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", ROWS)
def test_rows_that_meet_at_one_instant_go_on_as_their_mirror_images(name, dim, volume):
    n_worlds, others = volume(20, 40, 2000), []
    for seed in range(n_worlds):
        boxes = rows_that_meet(seed, dim, ROWS[name])
        with another_world("mirror"):
            places = play_rows(boxes, dim, (1,) * dim)
        for mirror, order in images(dim):
            with another_world("mirror"):
                other = play_rows(boxes, dim, mirror, order)
            if differ(places, other).any():
                others.append((seed, mirror, order))

    # What makes others due may go on differently: bounces in 1 of 1,000 worlds, friction in 10.
    assert len(others) <= n_worlds // (50 if name == "stops that rub" else 500), others


def pile_of(seed, dim, responses):
    """Return the crates of a random pile of two or three layers, which lie on the floor at once."""
    draw = random.Random(f"pile {seed}")
    boxes = []
    for layer in range(draw.randint(2, 3)):
        left = draw.uniform(-4, 4)
        for _ in range(draw.randint(1, 4 - layer)):
            place = left, 4 + 8 * layer, draw.uniform(-4, 4)
            hit = draw.choice([0, draw.uniform(-64, 64)]), 0, draw.choice([0, 16])
            parts = responses[draw.choice(sorted(responses))](draw), ec.Mass(draw.choice([1, 2, 4]))
            boxes.append((place[:dim], hit[:dim], parts))
            left += 8 + draw.choice([0, draw.uniform(0, 3)])
    return boxes


def play_pile(boxes, dim, mirror, order=1):
    """Return the velocities after each step, mirrored back; the crates are hit in the fifth."""

    def seen(vector):
        return tuple(x * side for x, side in zip(vector, mirror, strict=True))

    esper.create_entity(ec.Position(*seen((0, -8, 0)[:dim])), ec.Extents(*(650, 8, 650)[:dim]))
    velocities = {}
    for n in range(len(boxes))[::order]:
        place, _, parts = boxes[n]
        velocities[n] = ec.Velocity(*[0] * dim)
        crate = [copy.copy(part) for part in parts]
        esper.create_entity(
            ec.Position(*seen(place)), ec.Extents(*[4] * dim), velocities[n], *crate
        )
    ec.install(dim=dim, gravity=seen((0, -400, 0)[:dim]))
    found = []
    for step in range(12):
        if step == 4:
            for n, velocity in velocities.items():
                velocity.set(*seen(boxes[n][1]))
        esper.process(1 / 64)
        found.append([(v.x, v.y, v.z)[:dim] for _, v in sorted(velocities.items())])
    return np.array(found) * mirror


@pytest.mark.parametrize("dim", [2, 3])
def test_a_pile_that_is_hit_goes_on_as_its_mirror_images(dim, volume):
    responses = {name: make for name, make in CRATES.items() if name in ("Slide", "Stop")}
    for seed in range(volume(20, 80, 2000)):
        boxes = pile_of(seed, dim, responses)
        with another_world("mirror"):
            found = play_pile(boxes, dim, (1,) * dim)
        for mirror, order in images(dim):
            with another_world("mirror"):
                other = play_pile(boxes, dim, mirror, order)
            step = differ(found, other).argmax()
            assert not differ(found, other).any(), (seed, mirror, order, step)


@pytest.mark.parametrize("dx", [4, 9])
def test_a_ball_that_hits_a_crate_as_it_lands_on_a_belt_finds_the_velocity_of_the_crate(dx):
    #       +----+
    #       | ●  | v        the crate lands on a belt that rises, and the ball on the crate, at once
    #     +-+----+-+
    #     | crate  |
    #   ->->->->->->->->    ^
    def play(side):
        ec.install(gravity=(0, -900))
        belt = ec.Carry((side * 30, 0)), ec.OneWay(), ec.Velocity(0, 90)
        esper.create_entity(ec.Position(side * -100, -6), ec.Extents(60, 6), *belt)
        crate = ec.Velocity(0, 0), ec.Slide(), ec.Friction(0.4), ec.Mass(64)
        esper.create_entity(ec.Position(side * -52, 68.5), ec.Extents(8, 8), *crate)
        ball = ec.Velocity(side * -18, 0), ec.Deflect(0.5), ec.Friction(0.4), ec.Mass(25)
        place = ec.Position(side * (-52 + dx), 88.5)
        esper.create_entity(place, ec.Extents(5, 5), *ball)
        velocities = []
        for _ in range(40):
            esper.process(1 / 60)
            velocities.append((side * ball[0].x, ball[0].y))
        return velocities

    with another_world("mirrored"):
        mirrored = play(-1)
    assert play(1) == mirrored


@pytest.mark.parametrize("side", [1, -1])
def test_a_crate_on_two_belts_moves_at_the_mean_of_their_velocities_by_width(side):
    #      +-----+
    #      |     |
    #      +-----+
    #   -->-->|->->-     a quarter of it stands on the slower belt
    for n, speed in ((0, 40), (1, 20)):
        place = ec.Position(side * (16 * n - 8), -8)
        esper.create_entity(place, ec.Extents(8, 8), ec.Carry((side * speed, 0)))
    velocity = ec.Velocity(0, 0)
    crate = esper.create_entity(ec.Position(side * -4, 8), ec.Extents(8, 8), velocity, ec.Slide())
    space = ec.install(gravity=(0, -900))
    esper.process(0.0)
    assert space.carried(crate) == (side * 35, 0)
    for _ in range(25):
        esper.process(1 / 60)
    assert space.carried(crate) == (side * 20, 0)
    assert velocity.xy == pytest.approx((side * 15, 0))  # it keeps the speed that it had


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("side", [1, -1])
def test_two_that_press_turn_by_what_each_had_as_they_land(side, order, dim):
    #   +----+----+
    #   |Push|Stop|     the first presses on the second, and turns all of its speed
    #   +----+----+
    #         `->
    # ------------------
    ec.install(dim=dim)
    esper.create_entity(ec.Position(0, -8), ec.Extents(*[500, 8, 500][:dim]))
    parts = [(ec.Push(), ec.Mass(1), ec.Acceleration(side * 6, 0)), (ec.Stop(), ec.Mass(3))]
    velocities = [ec.Velocity(side * 60, -90) for _ in parts]
    for n in (0, 1)[::order]:
        place = ec.Position(side * (10 * n - 20), 6)
        esper.create_entity(place, ec.Extents(*[5] * dim), velocities[n], *parts[n])
    for _ in range(2):
        esper.process(1 / 60)
        for velocity in velocities:
            assert (side * velocity.x, velocity.y) == pytest.approx(
                (math.hypot(60, 90) / 4, 0), 0.01
            )


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
@pytest.mark.parametrize("friction", [0.1, 0.15, 0.2, 0.3])
@pytest.mark.parametrize("speed", [0.8, 1.6, 3, 6])
@pytest.mark.parametrize("side", [1, -1])
def test_crates_that_friction_holds_and_one_hits_go_on_alike_in_each_order(
    side, speed, friction, order
):
    #          +----+----+
    #   +--+   | -> | <- |
    #   |  | ->|    |    |     both would move to the right if friction did not hold them
    #  -+--+---+----+----+--
    def play(side, order):
        space = ec.install(gravity=(0, -900))
        esper.create_entity(ec.Position(0, -8), ec.Extents(500, 8))
        pulls = {n: ec.Acceleration(side * pull, 0) for n, pull in ((1, 200), (2, -200))}
        velocities = [ec.Velocity(0, 0) for _ in range(3)]
        ids = {}
        for n in order:
            rubs = (pulls[n], ec.Friction(friction if n == 1 else 1)) if n else ()
            ids[n] = esper.create_entity(
                ec.Position(side * (10 * n - 10), 5), ec.Extents(5, 5), velocities[n],
                ec.Slide(), ec.Mass([1, 4, 1][n]), *rubs,
            )  # fmt: skip
        places = []
        for step in range(8):
            if step == 3:
                velocities[0].set(side * speed, 0)
            esper.process(1 / 60)
            places.append(space.positions([ids[n] for n in range(3)]))
        return np.array(places) * (side, 1)

    with another_world("mirror"):
        places = play(1, (0, 1, 2))
    assert not differ(places, play(side, order)).any()


@pytest.mark.parametrize("growth", [0, 4])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("side", [1, -1])
def test_who_runs_into_two_crates_that_are_pushed_slows_both(side, dim, growth):
    #          +---+ +---+
    #   +---+  |   | |   | <-     the crates are met at 0.2 s, and both meet the runner at 0.6 s
    #   |   |  +---+ +---+
    #   |   | ->
    #   |   |  +---+ +---+
    #   +---+  |   | |   | <-
    #          +---+ +---+
    def make(x, y, height, speed, mass, *more):
        velocity = ec.Velocity(speed, *[0] * (dim - 1))
        esper.create_entity(
            ec.Position(*(x, side * y, 0)[:dim]),
            ec.Extents(*(1, height, 1)[:dim]),
            velocity, ec.Slide(), ec.Mass(mass), *more,
        )  # fmt: skip
        return velocity

    space = ec.install(dim=dim)
    grows = [ec.Growth(*(growth, 0, 0)[:dim])] * (growth != 0)
    runner = make(0, 0, 4, 20, 1, *grows)
    crates = [make(10, y, 1, 0, 2) for y in (2, -2)]
    pushers = [make(14, y, 1, -20, 2) for y in (2, -2)]

    esper.process(0.5)

    assert [v.x for v in pushers] == [-10, -10]
    shared = (20 - 2 * 2 * 10 + growth) / 5
    assert [v.x for v in (runner, *crates)] == pytest.approx([shared - growth, shared, shared])
    outcomes = [collision.outcome for collision in space.collisions[2:]]
    assert outcomes == [ec.Outcome.RESOLVED, ec.Outcome.STOPPED_ALREADY]
    assert space.collisions[3].impulse == pytest.approx(2 * (10 + shared))
