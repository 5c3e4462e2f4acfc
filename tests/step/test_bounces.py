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
    for seed in range(volume(8, 16, 300, least=6)):
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


@pytest.mark.parametrize("mirror", [(1, 1), (-1, 1), (1, -1), (-1, -1)])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("gravity", "unit"), [(0.0, 1.0), (-16.0, 1.0), (0.0, 2.0**-10)])
def test_the_impulses_of_bounces_at_one_instant_are_what_the_bodies_get(
    gravity, unit, axis, mirror
):
    #   +---+       +---+
    #   | A |->  <- |   |      A and B meet C and D, as the hammer H meets them from behind
    #   +---+ +---+ | H |
    #         | C | |   |
    #   +---+ +---+ |   |
    #   | B |-> | D | |   |
    shapes = [
        ((-8, 3), (2, 1), 12, 1), ((-8, -3), (2, 1), 12, 2),
        ((0, 2), (2, 3), 0, 3), ((0, -3), (2, 1), 0, 1), ((11, 0), (1, 9), -24, 5),
    ]  # fmt: skip
    bodies = []
    for (x, y), (wide, high), speed, mass in shapes:
        place, half, go = [0.0] * 3, [1.0] * 3, [0.0] * 3
        place[axis], half[axis], go[axis] = mirror[0] * x, wide, mirror[0] * speed
        place[(axis + 1) % 3], half[(axis + 1) % 3] = mirror[1] * y, high
        bodies.append(mover(place, half, go, ec.Deflect(0.5), ec.Mass(unit * mass)))
    fall = [0.0] * 3
    fall[(axis + 2) % 3] = gravity
    space = ec.install(dim=3, gravity=fall)

    esper.process(1 / 2)

    hits = [hit for hit in space.collisions if hit.time == space.collisions[0].time]
    assert [hit.outcome.name for hit in hits].count("RESOLVED") == 1
    assert len(hits) == 4
    for n, body in enumerate(bodies):
        change = unit * shapes[n][3] * (velocity(body, 3)[axis] - mirror[0] * shapes[n][2])
        got = sum(hit.impulse_on(body)[axis] for hit in hits if body in (hit.first, hit.second))
        assert got == pytest.approx(change, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("unit", [1.0, 2.0**-10])
@pytest.mark.parametrize("mirror", [1, -1])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_outer_bodies_of_a_ring_divide_their_change_by_width(axis, mirror, unit):
    #   +---+ +---+ +---+
    #   | A | | B | | D |      A and D come together, with B and C between them
    #   |   |>+---+<|   |
    #   |   | | C | |   |
    #   +---+ +---+ +---+
    shapes = [(-9, 0, 2, 4, 12, 3), (0, 3, 1, 1, 0, 1), (0, -1, 1, 3, 0, 2), (3.5, 0, 2, 4, -1, 5)]
    bodies = []
    for x, y, wide, high, speed, mass in shapes:
        place, half, go = ((mirror * x, y), (wide, high), (mirror * speed, 0))
        if axis:
            place, half, go = place[::-1], half[::-1], go[::-1]
        bodies.append(mover(place, half, go, ec.Deflect(0.5), ec.Mass(unit * mass)))
    space = ec.install()

    esper.process(1.0)

    assert [hit.time for hit in space.collisions] == [0.5] * 4
    for n in (0, 3):
        change = unit * shapes[n][5] * abs(velocity(bodies[n])[axis] - mirror * shapes[n][4])
        for between, part in ((1, 1 / 4), (2, 3 / 4)):
            (hit,) = (
                hit
                for hit in space.collisions
                if {hit.first, hit.second} == {bodies[n], bodies[between]}
            )
            assert hit.impulse == pytest.approx(change * part, rel=1e-12)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("unit", [1.0, 2.0**-30])
@pytest.mark.parametrize(("mass", "bounce", "after"), [(1, 1, 10), (1, 0.5, 4.5), (3, 1, 8 / 3)])
def test_a_ball_bounces_off_a_row_that_has_formed_in_the_step(
    mass, bounce, after, unit, axis, order
):
    #   +---+    +---+ +---+                +---+
    #   | A |->  | B | | C |             <- | D |      A meets B, both meet C, and D meets them
    #   +---+    +---+ +---+                +---+
    def on_axis(x):
        return (0, x) if axis else (x, 0)

    shapes = [(-4, 8, ec.Slide(), 1), (0, 0, ec.Slide(), 1), (3, 0, ec.Slide(), 1)]
    shapes.append((13, -12, ec.Deflect(bounce), mass))
    bodies = [
        mover(on_axis(x), (1, 1), on_axis(speed * unit), answer, ec.Mass(weight))
        for x, speed, answer, weight in shapes[::order]
    ][::order]
    space = ec.install()

    esper.process(1 / unit)

    speeds = [velocity(body)[axis] / unit for body in bodies]
    row = (8 - mass * (12 + after)) / 3
    assert speeds == pytest.approx([row, row, row, after])
    assert [hit.time for hit in space.collisions] == pytest.approx([1 / 4, 1 / 2, 1 / 2, 2 / 3])


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("mass", "bounce"), [(1, 1), (3, 0.5), (8, 1), (8, 0.5)])
def test_the_impulse_of_a_ball_tells_its_change_whether_or_not_it_parts_from_the_row(
    mass, bounce, order
):
    # The path of the row would go on into a heavy ball, so they merge after the bounce.
    shapes = [(-4, 8, ec.Slide(), 1), (0, 0, ec.Slide(), 1), (3, 0, ec.Slide(), 1)]
    shapes.append((13, -12, ec.Deflect(bounce), mass))
    bodies = [
        mover((x, 0), (1, 1), (speed, 0), answer, ec.Mass(weight))
        for x, speed, answer, weight in shapes[::order]
    ][::order]
    space = ec.install()

    esper.process(1)

    hit = space.collisions[-1]
    change = mass * (velocity(bodies[3])[0] + 12)
    assert hit.impulse_on(bodies[3]) == (pytest.approx(change), 0)
