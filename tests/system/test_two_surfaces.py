"""Surfaces that one side of a body meets in one instant count together, whichever comes first."""

from __future__ import annotations

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

AXES = [(dim, k, sign) for dim in (2, 3) for k in range(dim) for sign in (1, -1)]


class Spring: ...


def vector(dim, k, along, across=0.0, deep=0.0):
    """Return a vector with a number along axis `k`, one on the next axis, and one on the third."""
    found = [deep] * dim
    found[k], found[(k + 1) % dim] = along, across
    return tuple(found)


def lay(dim, k, sign, *special, order=1):
    """Create three floors side by side, from -110 to 110, of which the middle one is special."""
    floors = [(-60, 50, []), (0, 10, [*special]), (60, 50, [])][::order]
    for across, half, parts in floors:
        box(vector(dim, k, -10 * sign, across), vector(dim, k, 10, half, 30), *parts)


@pytest.mark.parametrize("how", ["function", "system"])
@pytest.mark.parametrize("order", [1, -1])
def test_what_the_game_resolves_comes_first(how, order):
    offered = []

    def throw(impact):
        offered.append(impact.closing_speed)
        for entity in (impact.first, impact.second):
            if not esper.has_component(entity, Spring):
                impact.set_velocity(entity, (0, 500))

    class Springs(ec.ResponseSystem):
        handles = Spring

        def respond(self, impact):
            return throw(impact)

    space = ec.install()
    if how == "function":
        space.respond_with(Spring, throw)
    else:
        esper.add_processor(Springs(space), priority=105)
    for x in (-17, -10, 0, 10, 17):
        esper.clear_database()
        offered.clear()
        lay(2, 1, 1, Spring(), order=order)
        body = mover((x, 60), (8, 8), (0, -300), ec.Slide())
        for _ in range(30):
            esper.process(1 / 60)

        assert velocity(body) == (0, 500)
        assert offered == [300]


def test_a_spring_that_is_crossed_leaves_the_floor_beside_it():
    lay(2, 1, 1, Spring())
    body = mover((-10, 60), (8, 8), (0, -300), ec.Slide())
    space = ec.install()
    space.respond_with(Spring, lambda impact: impact.cross())
    for _ in range(30):
        esper.process(1 / 60)

    assert position(body) == (-10, 8)


@pytest.mark.parametrize("speed", [100.0, -100.0])
@pytest.mark.parametrize("x", [-6.0, -4.0, 0.0, 4.0])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("order", [1, -1])
def test_two_floors_rub_by_the_width_of_each_contact(speed, x, dim, order):
    rough = [(ec.Friction(0.25), 0.5), (ec.Friction(1), 1.0)]  # with the crate's: the root of both
    for side, (friction, _) in zip((-1, 1)[::order], rough[::order], strict=True):
        box((50 * side, -10, 0)[:dim], (50, 10, 50)[:dim], friction)
    crate = mover((x, 8, 0)[:dim], (8,) * dim, (speed, 0, 0)[:dim], ec.Slide(), ec.Friction(1))
    ec.install(dim=dim, gravity=(0, -600, 0)[:dim])
    esper.process(1 / 60)

    left, right = 8 - x, 8 + x
    mean = (0.5 * left + 1.0 * right) / 16
    assert abs(velocity(crate, dim)[0]) == pytest.approx(100 - 600 * mean / 60)


def test_tiles_of_one_kind_rub_as_one_floor_to_the_last_bit():
    ways = []
    for n in (1, 30):
        esper.clear_database()
        for tile in range(n):
            half = 150 / n
            box((half * (2 * tile + 1) - 20, -10), (half, 10), ec.Friction(0.3))
        crate = mover((0, 8), (8, 8), (137.7, 0), ec.Slide(), ec.Friction(0.7))
        ec.install(gravity=(0, -600))
        for _ in range(40):
            esper.process(1 / 60)
        ways.append((position(crate), velocity(crate)))

    assert ways[0] == ways[1]


class Other: ...


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("is_restored", [False, True])
def test_of_two_that_the_game_resolves_the_first_in_space_is_offered(order, is_restored):
    tiles = [(-20, []), (0, [Spring()]), (20, [Other()])][::order]
    for x, parts in tiles:
        box((x, -10), (10, 10), *parts)
    body = mover((0, 60), (15, 8), (0, -300), ec.Slide())
    space = ec.install()
    for kind, speed in ((Spring, 500), (Other, 900)):
        space.respond_with(kind, lambda impact, v=speed: impact.set_velocity(body, (0, v)))
        space.snapshot_with(kind, lambda each: b"", lambda data, kind=kind: kind())
    esper.process(1 / 60)
    if is_restored:
        space.restore(space.snapshot())
    for _ in range(20):
        esper.process(1 / 60)

    assert esper.component_for_entity(body, ec.Velocity).y == 500


def test_a_response_that_the_game_chooses_is_not_that_of_the_floor_beside():
    box((-60, -10), (60, 10), Spring())
    box((60, -10), (60, 10), ec.Restitution(0.8))
    body = mover((0, 60), (8, 8), (0, -300), ec.Slide())
    space = ec.install()
    space.respond_with(Spring, lambda impact: impact.resolve(ec.Slide()))
    for _ in range(30):
        esper.process(1 / 60)

    assert velocity(body) == (0, 0)


@pytest.mark.parametrize("carry", [[], [ec.Carry()]])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_lift_that_stands_rubs_as_a_floor(carry, sign):
    box((50 * sign, -10), (50, 10), ec.Friction(0))
    box((-50 * sign, -10), (50, 10), ec.Friction(1), *carry)
    crate = mover((0, 8), (8, 8), (100, 0), ec.Slide(), ec.Friction(1))
    ec.install(gravity=(0, -600))
    esper.process(1 / 60)

    assert velocity(crate)[0] == pytest.approx(100 - 600 * 0.5 / 60)


def test_numbers_that_are_none_are_reported_and_the_step_ends(world):
    lay(2, 1, 1, Spring())
    body = mover((0, 60), (8, 8), (0, -300), ec.Slide())
    space = ec.install()

    def respond(impact):
        esper.component_for_entity(body, ec.Velocity).x = np.zeros(2)
        return ec.DEFAULT

    space.respond_with(Spring, respond)
    for _ in range(10):
        esper.process(1 / 60)
    with pytest.raises((TypeError, ValueError), match=str(body)):
        esper.process(1 / 60)
    esper.component_for_entity(body, ec.Velocity).x = 0.0
    esper.process(1 / 60)
    space.check()


@pytest.mark.parametrize(("dim", "k", "sign"), AXES)
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("speed", [None, 5])
@pytest.mark.parametrize("answer", [ec.Slide(), ec.Stop(), ec.Push(), ec.Deflect(0.5)])
def test_walls_share_an_impulse_by_their_widths(dim, k, sign, order, speed, answer):
    # The body is 10 to each side: 4 of its 20 are over the first floor, 10, 6 over the others.
    floors = {}
    for across, half, part in [(-16, 10, 0.2), (-1, 5, 0.5), (14, 10, 0.3)][::order]:
        motion = [] if speed is None else [ec.Velocity(*vector(dim, k, speed * sign))]
        place = ec.Position(*vector(dim, k, -10 * sign, across))
        size = ec.Extents(*vector(dim, k, 10, half, 30))
        floors[esper.create_entity(place, size, *motion)] = part
    at, size = vector(dim, k, 60 * sign), vector(dim, k, 10, 10, 10)
    body = mover(at, size, vector(dim, k, -300 * sign), answer, ec.Mass(2))
    space = ec.install(dim=dim)
    esper.process(0.5)
    first = [hit for hit in space.collisions if hit.time == space.collisions[0].time]
    hits = {hit.other(body): hit for hit in first}
    restitution = 0.5 if isinstance(answer, ec.Deflect) else 0.0
    whole = 2 * (300 + (speed or 0)) * (1 + restitution)
    assert {floor: hits[floor].impulse for floor in floors} == pytest.approx(
        {floor: part * whole for floor, part in floors.items()}
    )
    assert [hit.outcome.name for hit in hits.values()].count("RESOLVED") == 1


def test_floors_and_walls_of_one_corner_share_apart():
    tiles = [box(at, (10, 10)) for at in [(-5, -10), (15, -10), (30, 5), (30, 25)]]
    body = mover((-15, 35), (10, 10), (150, -150), ec.Slide(), ec.Mass(3))
    space = ec.install()
    esper.process(1.0)
    found = {hit.other(body): (hit.time, hit.impulse) for hit in space.collisions}
    assert {time for time, _ in found.values()} == {1 / 6}
    assert [found[tile][1] for tile in tiles] == pytest.approx([112.5, 337.5, 337.5, 112.5])
