"""Random worlds and their mirror images, also created in another order: they go on alike."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import another_world

pytestmark = pytest.mark.usefixtures("world", "implementation")

# What of a body or of a floor is drawn: name, chance, and the arguments to choose from.
OF_BODIES = [
    ("Friction", 0.5, [(0.2,), (0.5,), (1,)]),
    ("Mass", 0.5, [(1,), (2,), (4,)]),
    ("Dominance", 0.2, [(0,), (1,)]),
    ("LockedAxes", 0.1, [(True, False), (False, True)]),
    ("GravityScale", 0.2, [(0.5,), (0,), (2,)]),
    ("MaxSpeed", 0.2, [(200,)]),
    ("Damping", 0.3, [(0.5,), (4,)]),
]
OF_FLOORS = [
    ("Friction", 0.4, [(0,), (0.5,), (1,)]),
    ("Restitution", 0.2, [(0.5,), (0.9,)]),
]
SETS = {
    "friction": {"Slide", "Friction", "Mass"},
    "bounces": {"Slide", "Deflect"},
    "walls that throw": {"Slide", "Restitution", "Dominance", "MaxSpeed"},
    "damped": {"Slide", "Friction", "Damping"},
    "locked": {"Slide", "Friction", "GravityScale", "LockedAxes"},
}


def parts_of(chances, parts, draw):
    return [
        (name, draw.choice(choices))
        for name, chance, choices in chances
        if name in parts and draw.random() < chance
    ]


def world_of(seed, parts):
    """Return the boxes of a random world: position, velocity or None, and components."""
    draw = random.Random(seed)
    floors = [(16 * n + 8, -8) for n in range(-8, 8)]
    floors += [(side * 136, 16 * n + 8) for n in range(5) for side in (1, -1)]
    floors += [(16 * draw.randint(-7, 6) + 8, 8 + 16 * draw.randint(0, 2)) for _ in range(3)]
    boxes = [(place, None, parts_of(OF_FLOORS, parts, draw)) for place in floors]
    # One that bounces off two others at once takes the first in space first: a known limit.
    most = 2 if "Deflect" in parts or "Restitution" in parts else 8
    for n in range(draw.randint(2, most)):
        place = 16 * draw.randint(-7, 6) + 8 * draw.randint(0, 1), 60 + 20 * n
        velocity = draw.choice([0, 0, 60, -60, 120, -120, 240]), -draw.choice([0, 100])
        response = draw.choice(sorted(parts & {"Slide", "Deflect"}))
        arguments = (draw.choice([0.5, 0.9]),) if response == "Deflect" else ()
        more = parts_of(OF_BODIES, parts, draw)
        boxes.append((place, velocity, [(response, arguments), *more]))
    return boxes


def play(boxes, n_steps, mirror=(1, 1), order=1):
    """Return where the moving boxes are after each step, mirrored back."""

    def seen(vector):
        return tuple(x * side for x, side in zip(vector, mirror, strict=True))

    ids = {}
    for n in range(len(boxes))[::order]:
        place, velocity, more = boxes[n]
        made = [getattr(ec, name)(*values) for name, values in more]
        made += [] if velocity is None else [ec.Velocity(*seen(velocity))]
        ids[n] = esper.create_entity(ec.Position(*seen(place)), ec.Extents(8, 8), *made)
    space = ec.install(gravity=(0, -900 * mirror[1]))
    places = []
    for _ in range(n_steps):
        esper.process(1 / 60)
        places.append(
            [seen(space.position_of(ids[n])) for n in sorted(ids) if boxes[n][1] is not None]
        )
    return places


@pytest.mark.parametrize("parts", SETS.values(), ids=SETS)
def test_mirror_images_stay_mirror_images(parts, implementation):
    for seed in range(2 if implementation == "plain" else 20):
        boxes = world_of(seed, parts)
        n_steps = 60 if implementation == "plain" else 120
        with another_world("mirror"):
            places = play(boxes, n_steps)
        for changes in ({"mirror": (-1, 1)}, {"mirror": (1, -1)}, {"order": -1}):
            with another_world("mirror"):
                other = play(boxes, n_steps, **changes)
            for n in range(n_steps):
                for one, two in zip(places[n], other[n], strict=True):
                    assert one == pytest.approx(two, abs=1e-6), (seed, changes, n)


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
