"""Positions between the last two steps: at its ends exact, and right over all that jumps."""

from __future__ import annotations

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import box, gas, mover, of, set_velocity, steps

pytestmark = pytest.mark.usefixtures("world", "implementation")


def place(entity):
    return of(entity, ec.Position)


def test_fractions_lie_between_the_last_two_steps():
    wall = box((50, 0), (1, 1))
    runner = mover((0, 0), (1, 1), (8, -4))
    space = ec.install()
    esper.process(1.0)
    esper.process(0.5)

    assert space.interpolated(0).tolist() == [[50, 0], [8, -4]]
    assert space.interpolated(0.25).tolist() == [[50, 0], [9, -4.5]]
    assert space.interpolated(1).tolist() == [[50, 0], [12, -6]]
    assert space.interpolated(0.5, [runner, wall]).tolist() == [[10, -5], [50, 0]]
    assert space.interpolated_of(runner, 0.5) == (10, -5)
    assert space.interpolated(0.5, []).shape == (0, 2)


@pytest.mark.parametrize("dim", [2, 3])
def test_ends_are_bit_by_bit_the_positions_of_the_two_steps(dim):
    gas(40, 3.0, 60.0, dim=dim)
    space = ec.install(dim=dim)
    esper.process(1 / 60)
    for _ in range(20):
        before = space.positions()
        esper.process(1 / 60)
        assert space.interpolated(0.0).tobytes() == before.tobytes()
        assert space.interpolated(1.0).tobytes() == space.positions().tobytes()
        assert (space.interpolated(0.3) - before == 0).all(axis=1).sum() == 2 * dim  # the walls


def test_a_teleported_body_does_not_glide():
    still, runner = box((0, 50), (1, 1)), mover((0, 0), (1, 1), (8, 0))
    space = ec.install()
    esper.process(1.0)

    place(still).xy = 100, 50
    space.teleport(runner, (200, 0))
    assert space.interpolated(0).tolist() == [[0, 50], [0, 0]]  # no step has seen it yet
    esper.process(1.0)

    assert space.interpolated(0).tolist() == [[100, 50], [200, 0]]
    assert space.interpolated(0.5).tolist() == [[100, 50], [204, 0]]


def test_a_body_that_a_response_has_put_elsewhere_does_not_glide():
    class Portal:
        pass

    def through(impact):
        place(runner).xy = 500, 0

    runner = mover((0, 0), (1, 1), (8, 0), Portal())
    box((6, 0), (1, 1))
    space = ec.install()
    space.respond_with(Portal, through)

    esper.process(1.0)

    assert place(runner).x > 400
    assert space.interpolated_of(runner, 0.25) == place(runner).xy
    esper.process(1.0)
    assert space.interpolated_of(runner, 0.5)[0] == place(runner).x - 4


def test_a_body_that_a_response_has_turned_is_shown_between_both_ends():
    class Bouncer:
        pass

    def bounce(impact):
        impact.resolve()

    runner = mover((0, 0), (1, 1), (8, 0), Bouncer(), ec.Deflect())
    box((6, 0), (1, 1))  # met at 4
    space = ec.install()
    space.respond_with(Bouncer, bounce)

    esper.process(0.75)

    assert place(runner).x == 2
    assert space.interpolated_of(runner, 0) == (0, 0)
    assert space.interpolated_of(runner, 0.5) == (1, 0)


def test_births_are_shown_from_where_they_were_made():
    space = ec.install()
    old = mover((0, 0), (1, 1), (8, 0))
    esper.process(1.0)
    new = mover((100, 0), (1, 1), (8, 0))
    assert space.interpolated(0.5).tolist() == [[4, 0]]
    assert space.interpolated_of(new, 0.5) == (100, 0)  # no step has moved it yet
    esper.process(1.0)

    assert space.entities == [old, new]
    assert space.interpolated(0.5).tolist() == [[12, 0], [104, 0]]


def test_deaths_leave_the_others_where_they_are():
    space = ec.install()
    entities = [mover((10 * n, 0), (1, 1), (1, 0)) for n in range(4)]
    esper.process(1.0)
    esper.delete_entity(entities[1])
    assert space.interpolated(0).tolist() == [[0, 0], [10, 0], [20, 0], [30, 0]]
    esper.process(1.0)
    late = mover((70, 0), (1, 1), (1, 0))  # may get the row of the one that is gone
    esper.process(1.0)

    assert space.entities == [entities[0], *entities[2:], late]
    assert space.interpolated(0.5).tolist() == [[2.5, 0], [22.5, 0], [32.5, 0], [70.5, 0]]


def test_an_id_that_is_used_again_is_shown_where_the_new_body_is():
    space = ec.install()
    old = mover((0, 0), (1, 1), (8, 0))
    esper.process(1.0)
    esper.clear_database()
    new = mover((300, 0), (1, 1), (8, 0))
    assert new == old

    assert space.interpolated_of(new, 0.5) == (300, 0)


@pytest.mark.parametrize(
    ("start", "speed", "shown"),
    [(95, 10, 97.5), (99, 10, 1.5), (5, -10, 2.5), (1, -10, 98.5), (10, 170, 52.5), (0, 100, 25)],
)
def test_the_edge_of_a_wrapped_world_is_crossed_the_way_the_body_went(start, speed, shown):
    runner = mover((start, 0), (1, 1), (speed, 0))
    space = ec.install(wrap=(100, None))

    esper.process(1.0)

    assert space.interpolated_of(runner, 0) == (start, 0)
    assert space.interpolated_of(runner, 0.25) == (shown, 0)
    assert space.interpolated_of(runner, 1) == ((start + speed) % 100, 0)


def test_sleep_and_fixed_bodies_are_shown_where_they_lie():
    crate = mover((0, 1), (1, 1), (0, 0), ec.Slide())
    floor = box((0, -1), (9, 1), ec.Fixed())
    space = ec.install()
    steps(20, 1.0)
    assert space.stats.asleep == 1
    assert space.interpolated(0.5, [crate, floor]).tolist() == [[0, 1], [0, -1]]

    ram = mover((-11, 1), (1, 1), (16, 0), ec.Slide())  # hits the sleeper at 0.5625
    esper.process(1.0)
    assert space.interpolated(0.0, [crate, ram]).tolist() == [[0, 1], [-11, 1]]
    half = (np.array([[0, 1], [-11, 1]]) + space.positions([crate, ram])) / 2
    assert space.interpolated(0.5, [crate, ram]).tolist() == half.tolist()
    assert half[0, 0] > 0


def test_bodies_that_the_game_sweeps_are_shown_on_their_way():
    hero = box((0, 0), (1, 1), ec.Slide())
    lone = box((0, 50), (1, 1))
    box((11, 0), (1, 9))
    space = ec.Space(motion="swept")
    ec.install(space)
    esper.process(1.0)
    place(hero).xy = 20, 0
    place(lone).xy = 4, 50
    esper.process(1.0)

    assert space.interpolated(0.5, [hero, lone]).tolist() == [[4.5, 0], [2, 50]]
    space.teleport(lone, (80, 50))
    esper.process(1.0)
    assert space.interpolated_of(lone, 0.5) == (80, 50)


def test_restored_bodies_are_shown_where_they_are_until_the_next_step():
    runner = mover((0, 0), (1, 1), (8, 0))
    space = ec.install()
    esper.process(1.0)
    data = space.snapshot()
    esper.process(1.0)
    esper.process(1.0)
    space.interpolated(0.5)

    space.restore(data)
    assert space.interpolated_of(runner, 0.5) == (8, 0)
    esper.process(1.0)
    assert space.interpolated_of(runner, 0.5) == (12, 0)


def test_a_step_that_does_not_happen_leaves_bodies_where_they_are():
    runner = mover((0, 0), (1, 1), (8, 0))
    space = ec.install()
    esper.process(1.0)
    place(runner).y = "high"
    with pytest.raises(TypeError):
        esper.process(1.0)
    place(runner).y = 0.0

    assert space.interpolated_of(runner, 0.5) == (8, 0)
    esper.process(1.0)
    assert space.interpolated_of(runner, 0.5) == (12, 0)


def test_bodies_in_quarantine_are_shown_as_positions_shows_them():
    runner = mover((0, 0), (1, 1), (8, 0))
    lost = mover((0, 50), (1, 1), (8, 0))
    space = ec.install()
    esper.process(1.0)
    place(lost).x = float("inf")
    with pytest.warns(RuntimeWarning):
        esper.process(1.0)

    shown = space.interpolated(0.5)
    assert shown[0].tolist() == [12, 0]
    assert shown[1].tolist() == space.positions([lost])[0].tolist()
    assert space.interpolated_of(runner, 0.5) == (12, 0)


def test_a_step_of_no_time_shows_bodies_where_they_are():
    runner = mover((0, 0), (1, 1), (8, 0))
    space = ec.install()
    esper.process(1.0)
    esper.process(0.0)
    assert space.interpolated_of(runner, 0.5) == (8, 0)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan"), "0.5", None, True])
def test_what_is_no_fraction_is_refused(fraction):
    space = ec.install()
    with pytest.raises(ValueError, match="fraction="):
        space.interpolated(fraction)


def test_who_is_no_body_and_the_middle_of_a_step_are_refused():
    class Probe:
        pass

    errors = []

    def ask(impact):
        with pytest.raises(RuntimeError, match="within a step") as caught:
            space.interpolated(0.5)
        errors.append(caught)

    runner = mover((0, 0), (1, 1), (8, 0), Probe())
    box((6, 0), (1, 1))
    space = ec.install()
    with pytest.raises(KeyError, match="entity 99"):
        space.interpolated_of(99, 0.5)
    space.respond_with(Probe, ask)
    seen = []
    space.on_collision(lambda event: seen.append(space.interpolated_of(runner, 0.0)))

    esper.process(1.0)

    assert len(errors) == 1
    assert seen == [(0, 0)]
    set_velocity(runner, 0, 0)
