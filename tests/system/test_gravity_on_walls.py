"""Bodies that friction or `Stop` holds on a wall against gravity, and that others turn.

Gravity is (-512, -512) and a step takes 1/64 second, so it adds -8 to each velocity.  A wall on the
left holds the bodies that touch it.  Whatever turns one of them, no energy comes from the hold.
"""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 64
GRIP = 16.0  # times the weight: more than holds anything here


def room():
    """Install gravity and a wall, with its face at x = 0."""
    ec.install(gravity=(-512.0, -512.0))
    box((-1, 0), (1, 100), ec.Friction(GRIP))


def held(y, response, *components):
    """Create a box of size 2 on the wall, at rest."""
    return mover((1, y), (1, 1), (0, 0), response(), *components)


@pytest.mark.parametrize("hold", [(ec.Stop,), (ec.Slide, ec.Friction(GRIP))])
def test_a_body_held_on_a_wall_falls_with_the_crate_that_lies_on_it(hold):
    room()
    lower = held(0, *hold)
    upper = mover((2, 2), (1, 1), (0, 0), ec.Slide())

    esper.process(DT)

    assert velocity(lower) == (0, -8)
    assert velocity(upper) == (-8, -8)
    assert position(lower)[1] == -4 / 64
    assert position(upper)[1] == 2 - 4 / 64


def test_a_body_that_stops_on_a_wall_and_is_hit_from_below_falls_again():
    room()
    upper = held(2, ec.Stop)
    lower = mover((2, 0), (1, 1), (0, 12), ec.Slide())

    esper.process(DT)

    # Both have 6 after the impact, and lose 8 to the end of the step.
    assert velocity(upper) == (0, -2)
    assert velocity(lower) == (-8, -2)
    assert position(upper)[1] == 2 + 2 / 64
    assert position(lower)[1] == 2 / 64


@pytest.mark.parametrize("friction", [GRIP, 0.25 / GRIP])  # the second bears half of the weight
def test_a_body_that_rubs_on_a_wall_and_is_hit_from_below_falls_again(friction):
    room()
    upper = held(2, ec.Slide, ec.Friction(friction))
    lower = mover((2, 0), (1, 1), (0, 12), ec.Slide())

    esper.process(DT)

    # Friction takes the 6 of the impact, and the lower one gives 3 more.  Both lose 8.
    assert velocity(upper) == (0, -5)
    assert velocity(lower) == (-8, -5)


def test_a_held_body_gives_no_speed_to_the_one_below_it():
    room()
    box((0, -1), (100, 1))
    below = mover((3, 1), (2, 1), (8, 0), ec.Push())
    held(3, ec.Stop)
    mover((2, 5), (1, 1), (0, 0), ec.Slide())

    esper.process(DT)

    assert velocity(below) == (0, 0)  # gravity has taken 8


@pytest.mark.parametrize("wall", ["wall", "locked body"])
def test_friction_holds_a_body_on_another_that_is_locked_along_the_surface(wall):
    if wall == "wall":
        ec.install(gravity=(-512.0, -512.0))
        box((1, 0), (1, 3), ec.Friction(4))
    else:
        room()
        held(0, ec.Slide, ec.Friction(4), ec.LockedAxes(y=True))
    crate = mover((3, 0), (1, 1), (0, -4), ec.Slide(), ec.Friction(4))

    esper.process(DT)

    assert velocity(crate) == (0, 0)
    assert position(crate) == (3, 0)


@pytest.mark.parametrize("speed", [16, -16])
def test_two_bodies_with_stop_of_which_a_wall_holds_one_are_both_stopped(speed):
    room()
    inner = held(0, ec.Stop)
    outer = mover((3, 0), (1, 1), (0, speed), ec.Stop())

    esper.process(DT)

    # They are one along the surface, and the wall holds the inner one; the outer one falls.
    assert velocity(inner) == (0, 0)
    assert velocity(outer) == (0, -8)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("speed", [16, -16])
def test_friction_that_takes_a_held_body_along_does_not_lift_it(speed, side):
    ec.install(gravity=(-512.0 * side, -512.0))
    box((-side, 0), (1, 100), ec.Friction(GRIP))
    inner = mover((side, 0), (1, 1), (0, 0), ec.Slide(), ec.Friction(GRIP))
    outer = mover((3 * side, 0), (1, 1), (0, speed), ec.Slide(), ec.Friction(GRIP))

    esper.process(DT)

    # The wall bears both and holds two thirds of the inner one; the outer one rubs on the rest.
    assert velocity(inner) == (0, pytest.approx(speed / 4 - 8 / 3))
    assert velocity(outer) == (0, pytest.approx(speed * 3 / 4 - 8))
