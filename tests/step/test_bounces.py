"""Bounces of several bodies at one instant: each gets w + e (w - v), as `MetBounces` says."""

from __future__ import annotations

import copy

import esper
import pytest

import ecs_collide as ec
from tests.rows import rows_that_meet
from tests.scenes import another_world, box, mover, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


@pytest.mark.parametrize("gravity", [0.0, -16.0])
@pytest.mark.parametrize(
    ("masses", "bounce", "after"),
    [
        ((2, 1, 1), 1.0, (0, -8, -8)),
        ((2, 1, 1), 0.5, (-2, -6, -6)),
        ((4, 2, 2), 0.25, (-3, -5, -5)),
        ((6, 1, 1), 1.0, (-4, -12, -12)),
    ],
)
def test_who_hits_two_at_once_bounces_off_both_while_all_fall(gravity, masses, bounce, after):
    #    +-----------+
    #    |     A     |    A comes down on B and C, in the middle of the step
    #    +-----------+
    #      v       v
    #    +---+   +---+
    #    | B |   | C |
    #    +---+   +---+
    places = {(0, 2): (3, 1), (-2, -1): (1, 1), (2, -1): (1, 1)}
    bodies = [
        mover(place, half, (0, -8 if n == 0 else 0), ec.Deflect(bounce), ec.Mass(masses[n]))
        for n, (place, half) in enumerate(places.items())
    ]
    space = ec.install(gravity=(0, gravity))

    esper.process(1 / 4)

    assert [velocity(body) for body in bodies] == [(0, v + gravity / 4) for v in after]
    (_, top), *below = [position(body) for body in bodies]
    assert [top - y for _, y in below] == [3 - 1 + (after[0] - after[1]) / 8] * 2
    assert [x for x, _ in below] == [-2, 2]
    assert [event.time for event in space.collisions] == [0.5, 0.5]


@pytest.mark.parametrize("gravity", [0.0, -4.0])
@pytest.mark.parametrize("lift", [(0, 0), (4, 0), (4, 2), (4, -4)])
def test_who_hits_two_at_once_on_a_lift_bounces_as_on_the_ground(gravity, lift):
    #         +---+
    #    +--+ | C |
    #    |A | +---+      A slides to B and C, which stand on each other
    #    |  | | B |
    #    +--+ +---+
    #   =============    lift
    platform = mover((0, -1), (40, 1), lift, ec.Carry())
    bodies = [
        mover((-4, 2), (1, 2), (0, 0), ec.Deflect(0.5), ec.Mass(2)),
        mover((0, 1), (1, 1), (0, 0), ec.Deflect(0.5)),
        mover((0, 3), (1, 1), (0, 0), ec.Deflect(0.5)),
    ]
    space = ec.install(gravity=(0, gravity), rest_speed=4.0)
    esper.process(0.0)  # who stands where is known from now on
    set_velocity(bodies[0], 8, 0)

    esper.process(1 / 2)

    assert [velocity(body) for body in bodies] == [(2, 0), (6, 0), (6, 0)]
    hits = [event for event in space.collisions if platform not in (event.first, event.second)]
    assert [event.time for event in hits if event.first == bodies[0]] == [0.5, 0.5]
    for body, own in zip(bodies, (-1.5, 1.5, 1.5), strict=True):
        assert position(body)[0] - position(platform)[0] == pytest.approx(own, abs=1e-12)
        assert space.carried(body) == lift


@pytest.mark.parametrize("how", ["snapshot", "save_state"])
@pytest.mark.parametrize("gravity", [0.0, -16.0])
@pytest.mark.parametrize("dim", [2, 3])
def test_rows_that_bounce_go_on_the_same_after_a_restore_at_any_step(dim, gravity, how, volume):
    n_steps, n_at_once = 8, 0
    for seed in range(volume(8, 30, 300, least=6)):
        boxes = rows_that_meet(seed, dim, {"Deflect", "Mass"})
        with another_world("rows"):
            bodies = [
                mover(place, half, speed, *[copy.copy(part) for part in parts])
                for place, half, speed, parts in boxes
            ]
            box((0, -40, 0)[:dim], (60, 1, 60)[:dim])
            space = ec.install(dim=dim, gravity=(0, gravity, 0)[:dim])

            def step():
                esper.process(3 / 64)
                times = [event.time for event in space.collisions]  # noqa: B023
                state = [position(body, dim) + velocity(body, dim) for body in bodies]  # noqa: B023
                return state, times

            saved, expected = [], []
            for _ in range(n_steps):
                saved.append(getattr(space, how)())
                expected.append(step())
            for n in range(n_steps):
                space.restore(saved[n])
                assert [step() for _ in range(n_steps - n)] == expected[n:], (seed, n)
        n_at_once += sum(len(times) > len({*times}) for _, times in expected)

    assert n_at_once > 0
