"""Sleep under gravity changes nothing but the collisions that resting bodies repeat.

All scenes run twice, with sleep and without.  Gravity is that of the space, or the game adds
it to each velocity in each step.
"""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import another_world, box, mover, of, set_velocity
from tests.system.test_sleep import REPEATED, RESPONSES, Yard, twice
from tests.system.test_sleep_in_snapshots import Pile
from tests.volume import further

DT = 1 / 60
G = 10.0


def side_by_side(build, n_steps, **settings):
    """Play a scene twice, as `twice`, but for the collisions that resting bodies repeat."""
    return twice(build, n_steps, but=REPEATED, **settings)


def pull_down(dt, g=G):
    """Add gravity to all that yields, as games do that know no other way."""
    for entity, (velocity,) in sorted(esper.get_components(ec.Velocity)):
        if esper.has_component(entity, ec.Slide) or esper.has_component(entity, ec.Deflect):
            velocity.y -= g * dt


def yields(entity):
    return esper.has_component(entity, ec.Velocity) and any(
        esper.has_component(entity, kind) for kind in RESPONSES
    )


def gravity_of(by, dim=2):
    return {"gravity": (0.0, -G, 0.0)[:dim]} if by == "space" else {}


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("by", ["space", "game"])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("wild", [0.0, 0.5])
@pytest.mark.parametrize("seed", [0, *further(1, 6)])
def test_a_yard_under_gravity_in_which_everything_happens(
    seed, wild, dim, by, implementation, volume
):
    class Ground(Yard):
        def respond(self, impact):
            # Not into others: what meets there at the start of a step would be met once more.
            self.somewhere, inside = (lambda: self.at(rng.randrange(-12, 13), 40.0)), self.somewhere
            rng = self.rng
            # Nor what others lie on, at the start of a step: they would fall in that step already.
            self.may_change = impact.time > 0.0 or (yields(impact.first) and yields(impact.second))
            try:
                return super().respond(impact)
            finally:
                self.somewhere = inside

        def play(self, step):
            dt = super().play(step)
            if by == "game":
                pull_down(DT if dt is None else dt)
            return dt

    def build(space):
        ground = Ground(space, seed, dim, wild)
        ground.stills.append(box(ground.at(0.0, -12.0), ground.size(60.0, 2.0)))
        return ground.play

    asleep = side_by_side(
        build, volume(80, 160, 400, least=40), dim=dim, rest_speed=0.5, **gravity_of(by, dim)
    )

    assert max(asleep) > 0


@pytest.mark.parametrize("on", ["box", "floor"])
def test_what_bounces_by_its_restitution_bounces_though_it_slept(on):
    def build(space):
        bouncy = (ec.Restitution(0.5),)
        box((0.0, -1.0), (9.0, 1.0), *(bouncy if on == "floor" else ()))
        crate = mover(
            (0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), *(bouncy if on == "box" else ())
        )

        def play(step):
            pull_down(DT)
            if step == 40:
                set_velocity(crate, (0.0, -12.0))

        return play

    asleep = side_by_side(build, 60, rest_speed=0.5)

    assert asleep[39] == 1
    assert asleep[40] == 0


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.slow_in_python
@pytest.mark.parametrize("by", ["space", "game"])
@pytest.mark.parametrize("seed", [0, *further(1, 2)])
def test_heaps_of_crates_to_which_things_happen(seed, by, implementation, volume):
    asleep = side_by_side(
        lambda space: Pile(seed, by, 2, space=space).act,
        volume(400, 600, 1500, least=200),
        rest_speed=0.5,
        **gravity_of(by),
    )

    assert max(asleep) > 3


@pytest.mark.parametrize("by", ["space", "game"])
def test_who_sleeps_on_a_platform_drops_through_it(by, implementation):
    def build(space):
        box((0.0, 0.0), (5.0, 1.0), ec.OneWay((0.0, 1.0)))
        crates = [mover((0.0, 2.0 + 2 * k), (1.0, 1.0), (0.0, 0.0), ec.Slide()) for k in range(3)]

        def play(step):
            if by == "game":
                pull_down(DT)
            if step == 40:
                assert space.drop_through(crates[0])

        return play

    asleep = side_by_side(build, 60, **gravity_of(by))

    assert asleep[39] == 3
    assert asleep[40] == 0


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize("by", ["space", "game"])
def test_nobody_falls_asleep_in_the_step_in_which_its_support_leaves(
    by, is_first, world, implementation
):
    for n_rests in range(4, 20):  # one of them is the step in which it would fall asleep
        with another_world(f"{world}, {n_rests}"):
            space = ec.install(**gravity_of(by))
            crate = mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide()) if is_first else None
            support = mover((0.0, -1.0), (2.0, 1.0), (0.0, 0.0))
            crate = crate or mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
            for step in range(n_rests + 3):
                if by == "game":
                    pull_down(DT)
                set_velocity(support, 400.0 if step == n_rests else 0.0, 0.0)
                esper.process(DT)

            assert of(crate, ec.Position).y < 1.0, n_rests
            assert space.stats.asleep < 2


@pytest.mark.parametrize("by", ["space", "game"])
def test_a_velocity_that_presses_out_of_another_body_wakes(by, world, implementation):
    space = ec.install(**gravity_of(by))
    box((0.0, -1.0), (9.0, 1.0))
    box((0.9, 1.0), (0.5, 1.0))
    crate = mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())  # inside the second box
    for _ in range(24):
        if by == "game":
            pull_down(DT)
        esper.process(DT)
    # What the game pulls down again in each step would be woken by it in each.
    assert space.stats.asleep == (1 if by == "space" else 0)

    set_velocity(crate, 5.0, 0.0)
    esper.process(DT)

    assert space.stats.asleep == 0


@pytest.mark.parametrize("by", ["space", "game"])
def test_a_velocity_that_only_presses_wakes_nobody(by, world, implementation):
    space = ec.install(**gravity_of(by))
    box((0.0, -1.0), (9.0, 1.0))
    crates = [mover((0.0, 1.0 + 2 * k), (1.0, 1.0), (0.0, 0.0), ec.Slide()) for k in range(3)]
    for _ in range(24):
        if by == "game":
            pull_down(DT)
        esper.process(DT)
    assert space.stats.asleep == 3

    for speed in (-0.1, -3.0, -500.0):
        set_velocity(crates[-1], 0.0, speed)
        esper.process(DT)
        assert space.stats.asleep == 3
        assert of(crates[-1], ec.Velocity).xy == (0.0, 0.0)
    set_velocity(crates[-1], 0.0, 5.0)
    esper.process(DT)
    assert space.stats.asleep == 0


@pytest.mark.slow_in_python
@pytest.mark.parametrize("by", ["space", "game"])
def test_a_hundred_crates_that_drop_half_a_unit_are_all_asleep_after_240_steps(
    by, world, implementation
):
    space = ec.install(**({"gravity": (0.0, -900.0)} if by == "space" else {}))
    box((0.0, -10.0), (1000.0, 10.0))
    for k in range(100):
        mover((3.0 * k - 150.0, 1.5), (1.0, 1.0), (0.0, 0.0), ec.Slide())

    for _ in range(240):
        if by == "game":
            pull_down(DT, 900.0)
        esper.process(DT)

    assert space.stats.asleep == 100


@pytest.mark.parametrize("keep", ["feet", "centre", "head"])
@pytest.mark.parametrize("height", [1.0, 3.0])
def test_a_pile_on_a_floor_that_is_resized_starts_to_fall_as_an_awake_one(
    height, keep, implementation
):
    def build(space):
        floor = box((0, -1), (100, 1), ec.Velocity(0, 0))
        for level in range(3):
            mover((0, 1 + 2 * level), (1, 1), (0, 0), ec.Slide())

        def play(step):
            if step == 30:
                space.resize(floor, height=height, keep=keep)

        return play

    asleep = side_by_side(build, 40, gravity=(0, -G))

    assert max(asleep) == 4
