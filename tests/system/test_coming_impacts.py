"""Between the narrowphase and the response systems a game reads the impacts that are due."""

from __future__ import annotations

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import (
    another_world,
    box,
    mixed_log,
    mixed_run,
    mover,
    position,
    set_velocity,
    steps,
)

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Between(esper.Processor):
    """Calls a function between the narrowphase and the response system."""

    def __init__(self, function):
        self.function = function

    def process(self, dt=1.0):
        self.function()


def install(function, priority=115, **settings):
    """Install a space and a system that calls a function with its impacts."""
    space = ec.install(ec.Space(**settings))
    esper.add_processor(Between(lambda: function(space.impacts)), priority=priority)
    return space


def test_the_coming_impacts_are_seen_before_any_is_resolved():
    seen = []
    runner = mover((0, 0), (1, 1), (8, 2), ec.Slide())
    wall = box((7, 0), (2, 9))
    install(lambda impacts: seen.append(list(impacts)))

    esper.process(1.0)

    ((impact,),) = seen
    assert (impact.time, impact.first, impact.second, impact.normal) == (0.5, runner, wall, (-1, 0))
    assert (impact.kind, impact.closing_speed) == (ec.SweepKind.IMPACT, 8)
    assert (impact.outcome, impact.impulse, impact.solids) == (ec.Outcome.UNRESOLVED, 0, ())
    assert (impact.contact_min, impact.contact_max) == ((5, 0), (5, 2))
    assert (impact.position_first, impact.position_second) == ((4, 1), (7, 0))
    assert (impact.velocity_first, impact.velocity_second) == ((8, 2), (0, 0))
    assert impact.exit == 1.25
    assert impact.other(runner) == wall
    assert impact.normal_for(wall) == (1, 0)
    assert repr(impact).startswith("Collision(time=0.5, exit=1.25, first=1, second=2, ")


def test_the_coming_impacts_are_in_the_order_in_which_they_are_due():
    seen = []
    for number, speed in enumerate([30, 90, 50, 70, 50]):
        mover((0, 10 * number), (1, 1), (speed, 0), ec.Deflect())
        box((12, 10 * number), (1, 2))
    space = install(lambda impacts: seen.extend((hit.time, hit.first) for hit in impacts))

    esper.process(1.0)

    assert seen == sorted(seen)
    assert [first for _, first in seen] == [3, 7, 5, 9, 1]
    assert seen == [(hit.time, hit.first) for hit in space.collisions]


@pytest.mark.parametrize("dim", [2, 3])
def test_array_and_objects_say_the_same(dim):
    seen = []

    def look(impacts):
        array = impacts.array
        assert array is not None
        assert array.dtype == ec.collision_dtype(dim)
        assert len(impacts) == len(array)
        assert not array.flags.writeable
        for impact, row in zip(impacts, array, strict=True):
            for name in set(array.dtype.names) - {"solids"}:  # (-1, -1) and ()
                assert np.array_equal(getattr(impact, name), row[name]), name
        seen.append(len(array))
        if len(impacts):
            assert space.impacts[0] == impacts[0]
            assert impacts[-1:] == [impacts[len(impacts) - 1]]

    run = mixed_run(dim=dim)
    next(run)
    space = ec.install(dim=dim)
    esper.add_processor(Between(lambda: look(space.impacts)), priority=115)
    for _ in range(30):
        next(run)

    assert sum(seen) > 20


def test_looking_at_the_coming_impacts_changes_no_bit(world):
    expected = mixed_log(30)
    with another_world(f"{world} looking"):
        assert mixed_log(30, make_space=lambda: install(lambda impacts: list(impacts))) == expected


def test_there_are_no_coming_impacts_at_other_times():
    lengths = {}
    mover((0, 0), (1, 1), (8, 2), ec.Slide())
    box((7, 0), (2, 9))
    space = ec.install()
    assert len(space.impacts) == 0
    for priority in (200, 125, 115, 105, 50):
        look = lambda at=priority: lengths.update({at: len(space.impacts)})  # noqa: E731
        esper.add_processor(Between(look), priority=priority)
    space.on_collision(lambda event: lengths.update({"handler": len(space.impacts)}))

    esper.process(1.0)

    assert lengths == {200: 0, 125: 0, 115: 1, 105: 0, 50: 0, "handler": 0}
    assert space.impacts == []
    assert space.impacts.array.dtype == ec.collision_dtype(2)
    assert ec.Space(dim=3).impacts == []


def test_an_impact_that_an_earlier_one_prevents_is_seen_coming_and_not_reported():
    #  o ------> | ........> |
    seen = []
    runner = mover((0, 0), (1, 1), (20, 0), ec.Stop())
    near = box((5, 0), (1, 9))
    far = box((11, 0), (1, 9))
    space = install(lambda impacts: seen.append([hit.other(runner) for hit in impacts]))

    esper.process(1.0)

    assert seen == [[near, far]]
    assert [hit.other(runner) for hit in space.collisions] == [near]


def test_entering_a_sensor_is_seen_coming_and_leaving_one_is_not():
    seen = []
    runner = mover((0, 0), (1, 1), (4, 0), ec.Slide())
    coin = box((5, 0), (1, 1), ec.Sensor())
    install(lambda impacts: seen.append([(hit.second, hit.time, hit.outcome) for hit in impacts]))

    steps(3, 1.0)

    assert seen == [[(coin, 0.75, ec.Outcome.CROSSED)], [], []]
    assert position(runner) == (12, 0)


def test_a_contact_at_rest_under_gravity_is_seen_coming_in_each_step():
    seen = []
    crate = mover((0, 2), (1, 1), (0, -1), ec.Slide())
    box((0, 0), (4, 1))
    install(lambda impacts: seen.append([hit.time for hit in impacts]))

    for _ in range(3):
        set_velocity(crate, 0, -1)
        esper.process(1.0)

    assert seen == [[0], [0], [0]]


@pytest.mark.parametrize("parts", [[], [ec.Sensor()]])
def test_a_coming_impact_of_a_falling_body_has_the_speeds_of_that_instant(parts):
    seen = []
    mover((0, 3), (1, 1), (2, -5), ec.Slide())
    box((0, 0), (4, 1), *parts)
    space = install(seen.extend, gravity=(0, -10))

    esper.process(0.5)

    (hit,) = space.collisions
    assert hit.closing_speed == pytest.approx(5 + 10 * hit.time * 0.5)
    for name in ("time", "closing_speed", "velocity_first", "position_first"):
        assert getattr(seen[0], name) == pytest.approx(getattr(hit, name)), name


def test_a_coming_impact_that_gravity_alone_closes_has_the_closing_speed_0():
    seen = []
    mover((0, 2), (1, 1), (0, 0), ec.Slide(), ec.Growth(0, -0.25))
    box((0, 0), (4, 1))
    space = install(seen.extend, gravity=(0, -900))

    esper.process(0.125)

    assert [hit.closing_speed for hit in (*seen, *space.collisions)] == [0, 0]


def test_impacts_across_the_edge_of_the_world_are_seen_coming():
    seen = []
    mover((98, 50), (1, 1), (8, 0), ec.Slide())
    box((5, 50), (2, 4))
    install(
        lambda impacts: seen.extend((h.time, h.position_first, h.position_second) for h in impacts),
        wrap=(100, None),
    )

    esper.process(1.0)

    assert seen == [(0.5, (2, 50), (5, 50))]


def test_a_coming_impact_that_was_kept_says_the_same_when_the_step_is_over():
    kept = []
    mover((0, 0), (1, 1), (8, 0), ec.Deflect())
    box((7, 0), (2, 9))
    install(kept.extend)

    steps(2, 1.0)

    assert [impact.time for impact in kept] == [0.5]
    with pytest.raises(AttributeError):
        kept[0].time = 0.25
