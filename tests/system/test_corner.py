"""A box into a corner: two walls at one instant."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, gaps, mover, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


def corner(dim):
    """Build the floors of the axes: the room is where all coordinates are > 0."""
    walls = []
    for axis in range(dim):
        centre, size = [20.0] * dim, [40.0] * dim
        centre[axis], size[axis] = -1.0, 1.0
        walls.append(box(centre, size))
    return walls


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Push])
def test_a_box_into_the_corner_rests_there(dim, response):
    walls = corner(dim)
    runner = mover([9.0] * dim, [1.0] * dim, [-16.0] * dim, response())
    space = ec.install(dim=dim)

    esper.process(1.0)

    # Stop is stopped by the first wall; then it goes no further.
    assert position(runner, dim) == (1,) * dim
    assert velocity(runner, dim) == (0,) * dim
    assert {hit.time for hit in space.collisions} == {0.5}
    if response is ec.Slide:
        assert [hit.other(runner) for hit in space.collisions] == walls


@pytest.mark.parametrize("dim", [2, 3])
def test_an_elastic_box_comes_back_the_way_it_came(dim):
    corner(dim)
    ball = mover([9.0] * dim, [1.0] * dim, [-16.0] * dim, ec.Deflect())
    space = ec.install(dim=dim)

    esper.process(1.0)

    assert position(ball, dim) == (9,) * dim
    assert velocity(ball, dim) == (16,) * dim
    assert len(space.collisions) == dim


@pytest.mark.parametrize("dim", [2, 3])
def test_pressed_into_the_corner_it_does_not_creep(dim):
    walls = corner(dim)
    start = [0.1 + 0.7, 0.1 + 0.2, 0.3][:dim]
    runner = mover(start, [0.1, 0.2, 0.3][:dim], [0.0] * dim, ec.Slide())
    ec.install(dim=dim)
    esper.process(1 / 60)

    places = set()
    for _ in range(300):
        set_velocity(runner, *[-7.3] * dim)
        esper.process(1 / 60)
        places.add(position(runner, dim))
        assert all(max(gaps(runner, wall, dim)) >= 0 for wall in walls)

    assert position(runner, dim) == (0.1, 0.2, 0.3)[:dim]
    assert len(places) <= 8  # the way there


def test_an_outer_corner_hit_exactly_goes_to_one_side():
    # Both gaps of one box close at once: the faster axis is the normal, else the lowest.
    runner = mover((0, 0), (1, 1), (4, 4), ec.Slide())
    box((4, 4), (1, 1))
    space = ec.install()

    esper.process(1.0)

    (hit,) = space.collisions
    assert (hit.time, hit.normal) == (0.5, (-1, 0))
    assert velocity(runner) == (0, 4)
    assert position(runner) == (2, 4)


def test_a_narrow_slot_between_tiles_lets_a_box_of_its_width_in():
    # A shaft exactly as wide as the box, entered from above.
    box((-2, -5), (1, 5))
    box((2, -5), (1, 5))
    runner = mover((0, 3), (1, 1), (0, -4), ec.Slide())
    space = ec.install()

    for _ in range(2):
        esper.process(1.0)

    assert len(space.collisions) == 0
    assert position(runner) == (0, -5)
    assert velocity(runner) == (0, -4)


def test_a_face_impact_that_becomes_a_corner_within_its_instant_waits_for_the_other_faces():
    # All at t = 0.5: the bullet hits the runner from below, which comes so fast out of it that
    # the edge by which it overlaps the post on y is within the slop.  What was a face is a corner.
    #
    # The bullet comes first, as its centre is the leftmost; the dart would come after the post.
    #
    #   +------+
    #   | post |------+  +-+
    #   +------|runner|<-|D|
    #          +------+  +-+
    #   [    bullet   ]
    edge, speed = 2.0**-22, 2.0**25
    bullet = mover((-3, -1.5 - speed / 2), (4, 0.5), (0, speed), ec.Deflect())
    runner = mover((4, 0), (1, 1), (-8, 0), ec.Deflect())
    post = mover(
        (-2, 2 - edge), (1, 1), (0, 0), ec.Deflect()
    )  # a wall would come before the bullet
    dart = mover((9.5, 0), (0.5, 0.5), (-16, 0), ec.Deflect())
    space = ec.install()

    esper.process(1.0)

    assert [(hit.time, hit.first, hit.second, hit.normal) for hit in space.collisions][:3] == [
        (0.5, bullet, runner, (0, -1)),
        (0.5, runner, dart, (-1, 0)),
        (0.5, runner, post, (0, -1)),
    ]
