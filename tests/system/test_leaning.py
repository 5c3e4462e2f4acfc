"""Bodies that lean on each other since the last step bounce no more, unless nothing is lost.

`Stop` and `Push` let them slide along each other while they push.
"""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, of, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 64


def stack(n, restitution, *, dim=2, axis=1, away=1.0):
    """Return a space and `n` crates that rest on each other on a floor, the lowest one first."""
    pull = [0.0] * dim
    pull[axis] = -512.0 * away
    space = ec.install(dim=dim, gravity=tuple(pull))
    floor = [0.0] * dim
    floor[axis] = -8.0 * away
    esper.create_entity(ec.Position(*floor), ec.Extents(*[8.0] * dim))
    crates = []
    for number in range(n):
        place = [0.0] * dim
        place[axis] = (4.0 + 8.0 * number) * away
        crates.append(
            esper.create_entity(
                ec.Position(*place), ec.Extents(*[4.0] * dim), ec.Velocity(*[0.0] * dim),
                ec.Deflect(restitution),
            )
        )  # fmt: skip
    return space, crates


def rest(steps):
    """Let the crates lie for some steps."""
    for _ in range(steps):
        esper.process(DT)


def hit(space, body, axis, speed):
    """Give a body a velocity, and take a step without gravity."""
    space.gravity = (0.0,) * space.dim
    change = [0.0] * space.dim
    change[axis] = speed
    esper.component_for_entity(body, ec.Velocity).set(*change)
    esper.process(DT)


@pytest.mark.parametrize("away", [1.0, -1.0])
@pytest.mark.parametrize(("dim", "axis"), [(2, 0), (2, 1), (3, 2)])
@pytest.mark.parametrize("before", ["awake", "asleep", "restored"])
def test_a_crate_that_lies_on_another_one_is_lifted_with_it(dim, axis, away, before):
    space, (lower, upper) = stack(2, 0.5, dim=dim, axis=axis, away=away)
    space.sleep = before == "asleep"
    rest(60)
    assert space.stats.asleep == 2 * (before == "asleep")
    if before == "restored":
        space.restore(space.snapshot())

    hit(space, lower, axis, 64.0 * away)

    assert velocity(lower, dim)[axis] == velocity(upper, dim)[axis] == 32.0 * away


def test_crates_that_touch_but_did_not_meet_bounce():
    space, (lower, upper) = stack(2, 0.5)
    space.gravity = (0.0, 0.0)
    rest(3)

    hit(space, lower, 1, 64.0)

    assert (velocity(lower)[1], velocity(upper)[1]) == (16.0, 48.0)


def test_nothing_is_lost_where_all_speed_is_returned():
    space, (lower, upper) = stack(2, 1.0)
    rest(3)

    hit(space, lower, 1, 64.0)

    assert (velocity(lower)[1], velocity(upper)[1]) == (0.0, 64.0)


def test_a_flipper_throws_what_lies_on_it():
    """Only two dynamic bodies lean on each other."""
    space = ec.install(gravity=(0, -512))
    flipper = box((0, -8), (8, 8), ec.Velocity(0, 0))
    ball = box((0, 4), (4, 4), ec.Velocity(0, 0), ec.Deflect(0.5))
    rest(3)

    hit(space, flipper, 1, 64.0)

    assert velocity(ball)[1] == 96.0


def test_a_crate_that_has_been_away_bounces_again():
    space, (_, upper) = stack(2, 0.5)
    rest(3)
    hit(space, upper, 1, 64.0)
    assert not space.contacts(upper)

    hit(space, upper, 1, -640.0)

    assert velocity(upper)[1] > 0.0


def test_a_rack_that_lies_still_is_broken_up():
    """Boxes that touch without a press pass a hit on, each as its restitution says."""
    ec.install()
    rack = [box((8.0 * n, 0), (4, 4), ec.Velocity(0, 0), ec.Deflect(0.9)) for n in range(4)]
    rest(10)
    box((-24, 0), (4, 4), ec.Velocity(2048, 0), ec.Deflect(0.9))

    esper.process(DT)

    assert velocity(rack[-1])[0] == pytest.approx(2048 * 0.95**4)


def test_a_bounce_that_the_game_asks_for_is_one():
    space, (lower, upper) = stack(2, 0.5)
    rest(3)
    space.respond_with(ec.Deflect, lambda impact: impact.resolve(ec.Deflect(0.5)))

    hit(space, lower, 1, 64.0)

    assert (velocity(lower)[1], velocity(upper)[1]) == (16.0, 48.0)


@pytest.mark.parametrize("n_steps", [1, 8])
def test_who_has_been_away_within_a_step_bounces(n_steps):
    """The number of steps a second changes nothing."""
    ec.install()
    box((-60, 0), (10, 10), ec.Restitution(1.0))
    one = box((-10, 0), (1, 1), ec.Velocity(0, 0), ec.Deflect(0.5))
    two = box((-8, 0), (1, 1), ec.Velocity(-1, 0), ec.Deflect(0.5))
    esper.process(1 / 2)
    esper.component_for_entity(one, ec.Velocity).set(-128, 0)
    esper.component_for_entity(two, ec.Velocity).set(0, 0)

    for _ in range(n_steps):
        esper.process(1 / n_steps)

    assert (velocity(one)[0], velocity(two)[0]) == (32.0, 96.0)


@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_crate_leans_on_both_crates_that_it_lies_on(side, is_swapped):
    """Of the two that it meets at once, one has stopped it before the other is resolved."""
    space = ec.install(gravity=(0, -512))
    box((0, -8), (40, 8))
    under = {}
    for x in (-side, side) if is_swapped else (side, -side):
        under[x] = box((4.5 * x, 4), (4, 4), ec.Velocity(0, 0), ec.Deflect(0.5))
    top = box((0, 12), (4, 4), ec.Velocity(0, 0), ec.Deflect(0.5))
    rest(20)

    hit(space, under[side], 1, 64.0)

    assert velocity(top)[1] == velocity(under[side])[1] == 32.0


def respond_as(body, response):
    """Give a body another response."""
    esper.remove_component(body, ec.Deflect)
    esper.add_component(body, response)


def push(body, way, along, *, dim=2, axis=0):
    """Take a step in which the game gives a body a velocity on an axis, and one on the next."""
    change = [0.0] * dim
    change[axis], change[(axis + 1) % dim] = way, along
    esper.component_for_entity(body, ec.Velocity).set(*change)
    esper.process(DT)
    moved = velocity(body, dim)
    return moved[axis], moved[(axis + 1) % dim]


@pytest.mark.parametrize("away", [1.0, -1.0])
@pytest.mark.parametrize(("dim", "axis"), [(2, 0), (2, 1), (3, 2)])
@pytest.mark.parametrize("is_restored", [False, True])
@pytest.mark.parametrize("response", [ec.Stop, ec.Push])
def test_who_pushes_a_crate_since_the_last_step_slides_along_it(
    response, is_restored, dim, axis, away
):
    space, (pusher, _) = stack(2, 0.0, dim=dim, axis=axis, away=away)
    space.gravity = (0.0,) * dim
    respond_as(pusher, response())

    hit = push(pusher, 64.0 * away, 48.0, dim=dim, axis=axis)
    if is_restored:
        space.restore(space.snapshot())
    pushes = push(pusher, 64.0 * away, 48.0, dim=dim, axis=axis)

    assert hit[1] != 48.0
    assert pushes == (48.0 * away, 48.0)


def beside(*parts):
    """Return a body with `Stop` that touches another body, with these components."""
    other = box((8, 0), (4, 400), *parts)
    return box((0, 0), (4, 4), ec.Velocity(0, 0), ec.Stop()), other


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (ec.Velocity(0, 0),),
        (ec.Velocity(0, 0), ec.Slide(), ec.LockedAxes(x=True)),
        (ec.Velocity(0, 0), ec.Slide(), ec.Dominance(1)),
    ],
)
def test_who_pushes_a_wall_is_stopped_by_it_in_each_step(parts):
    ec.install()
    pusher, _ = beside(*parts)

    for _ in range(3):
        assert push(pusher, 64.0, 48.0) == (0.0, 0.0)


def test_who_lies_on_a_crate_by_its_weight_is_stopped_by_it_in_each_step():
    _, (_, upper) = stack(2, 0.0)
    respond_as(upper, ec.Stop())
    rest(3)

    for _ in range(3):
        assert push(upper, 48.0, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_who_is_below_two_takes_the_same_velocity_whichever_of_them_is_met_first(side):
    #        +-------+
    #        |  <-   |
    #    +---+---++--+----+
    #  <---Stop  ||       |     the upper crate lies on both lower ones
    #   =+=======++=======+==
    ec.install(gravity=(0, -512))
    box((0, -8), (40, 8))
    stops = box((-4.5 * side, 4), (4, 4), ec.Velocity(0, 0), ec.Stop())
    box((4.5 * side, 4), (4, 4), ec.Velocity(0, 0), ec.Slide())
    upper = box((0, 12), (4, 4), ec.Velocity(0, 0), ec.Slide())
    rest(3)

    of(stops, ec.Velocity).x = -48.0 * side
    of(upper, ec.Velocity).x = -16.0 * side
    esper.process(DT)

    width = 3.5  # of the contact with the upper crate; that with the floor is 8 wide
    assert velocity(stops)[0] == pytest.approx(-16.0 * side * width / (width + 8))


def test_a_stop_that_the_game_asks_for_is_one():
    space = ec.install()
    pusher, crate = beside(ec.Velocity(0, 0), ec.Slide())
    space.respond_with(ec.Stop, lambda impact: impact.resolve(ec.Stop()))

    for _ in range(3):
        assert push(pusher, 64.0, 48.0)[1] == velocity(crate)[1]


def test_who_leans_on_a_crate_rubs_on_it():
    ec.install()
    crate = box((8, 0), (4, 400), ec.Velocity(0, 0), ec.Slide())
    pusher = box((0, 0), (4, 4), ec.Velocity(0, 0), ec.Slide(), ec.Friction(0.5))
    push(pusher, 64.0, 0.0)

    way, along = push(pusher, 64.0, 48.0)

    assert (way, along) == (48.0, 40.0)
    assert velocity(crate)[1] == 8.0
