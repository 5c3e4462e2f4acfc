"""Between the narrowphase and the response systems a game reads and decides about impacts."""

from __future__ import annotations

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import Ledger, box, mixed_log, mixed_run, mover, position, set_velocity, velocity

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


# Reading ---------------------------------------------------------------------------------


def test_the_coming_impacts_are_seen_before_any_is_answered():
    seen = []
    runner = mover((0, 0), (1, 1), (8, 2), ec.Slide())
    wall = box((7, 0), (2, 9))
    install(lambda impacts: seen.append(list(impacts)))

    esper.process(1.0)

    ((impact,),) = seen
    assert (impact.time, impact.first, impact.second, impact.normal) == (0.5, runner, wall, (-1, 0))
    assert (impact.kind, impact.closing_speed, impact.crosses) == (ec.SweepKind.IMPACT, 8, False)
    assert (impact.position_first, impact.position_second) == ((4, 1), (7, 0))
    assert (impact.velocity_first, impact.velocity_second) == ((8, 2), (0, 0))
    assert impact.exit == 1.25
    assert impact.other(runner) == wall
    assert impact.normal_for(wall) == (1, 0)
    assert repr(impact).startswith("ComingImpact(time=0.5, exit=1.25, first=1, second=2, ")


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
        assert array.dtype == ec.impact_dtype(dim)
        assert len(impacts) == len(array)
        assert not array.flags.writeable
        for impact, row in zip(impacts, array, strict=True):
            for name in array.dtype.names:
                assert np.array_equal(getattr(impact, name), row[name]), name
        seen.append(len(array))
        assert space.impact_array is space.impact_array
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
    esper.switch_world(f"{world} looking")
    try:
        assert mixed_log(30, make_space=lambda: install(lambda impacts: list(impacts))) == expected
    finally:
        esper.switch_world(world)
        esper.delete_world(f"{world} looking")


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
    assert space.impact_array.dtype == ec.impact_dtype(2)
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
    install(lambda impacts: seen.append([(hit.second, hit.time, hit.crosses) for hit in impacts]))

    for _ in range(3):
        esper.process(1.0)

    assert seen == [[(coin, 0.75, True)], [], []]
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


# Deciding --------------------------------------------------------------------------------


@pytest.mark.parametrize("until_separate", [False, True])
def test_a_veto_lets_the_pair_cross(until_separate):
    asked = []
    runner = mover((0, 0), (1, 1), (8, 2), ec.Slide())
    box((5, 0), (0.5, 9))

    class Asked(ec.ResponseSystem):
        def respond(self, impact):
            asked.append(impact)

    space = install(lambda impacts: [impact.cross(until_separate) for impact in impacts])
    esper.add_processor(Asked(space), priority=112)
    ledger = Ledger(space)

    esper.process(1.0)
    ledger.record()

    assert position(runner) == (8, 2)
    assert [(hit.time, hit.answer) for hit in space.collisions] == [(0.4375, ec.Answer.CROSSED)]
    assert asked == []
    assert [end.value for _, end in ledger.ends] == ["separated"]


def test_a_vetoed_pair_moves_bit_by_bit_as_one_that_crosses_freely(world):
    def play(*components):
        runner = mover((0.1, 0.2), (1.1, 1.3), (7.7, 0.3), *components)
        box((5.3, 0.7), (0.3, 9.1))
        install(lambda impacts: [impact.cross() for impact in impacts])
        esper.process(0.9)
        return position(runner)

    expected = play(ec.Sensor())
    esper.switch_world(f"{world} vetoed")
    assert play(ec.Slide()) == expected
    esper.switch_world(world)
    esper.delete_world(f"{world} vetoed")


def test_a_veto_holds_for_the_pair_to_the_end_of_the_step():
    # Through the wall, off the bumper behind it, and back through the wall.
    ghost = mover((0, 0), (1, 1), (16, 0), ec.Deflect())
    wall = box((4, 0), (1, 9))
    box((9, 0), (1, 9))
    space = install(
        lambda impacts: [hit.cross() for hit in impacts if wall in (hit.first, hit.second)]
    )

    esper.process(1.0)

    assert [(hit.time, hit.answer.name) for hit in space.collisions] == [
        (0.125, "CROSSED"),
        (0.4375, "ANSWERED"),
        (0.5, "CROSSED"),
    ]
    assert position(ghost) == (-2, 0)


def test_a_veto_until_the_two_separate_outlasts_the_step():
    runner = mover((0, 0), (1, 1), (4, 0), ec.Slide())
    box((5, 0), (2, 9))
    vetoed = []

    def veto(impacts):
        for impact in impacts:
            vetoed.append(impact.kind)
            impact.cross(until_separate=True)

    space = install(veto)
    for _ in range(3):
        esper.process(1.0)

    assert position(runner) == (12, 0)
    assert vetoed == [ec.SweepKind.IMPACT]
    assert len(space.contacts()) == 0


def test_a_veto_of_an_impact_that_does_not_come_does_nothing():
    runner = mover((0, 0), (1, 1), (20, 0), ec.Stop())
    box((5, 0), (1, 9))
    far = box((11, 0), (1, 9))
    space = install(
        lambda impacts: [hit.cross() for hit in impacts if far in (hit.first, hit.second)]
    )

    for _ in range(2):
        esper.process(1.0)

    assert position(runner) == (3, 0)
    assert len(space.contacts()) == 1


def test_a_veto_of_the_ground_ends_the_solid_contact():
    crate = mover((0, 2), (1, 1), (0, -1), ec.Slide())
    box((0, 0), (4, 1))
    opened = []
    space = install(lambda impacts: [hit.cross(until_separate=True) for hit in impacts if opened])
    ledger = Ledger(space)
    heights = []

    for step in range(4):
        opened += [True] * (step == 2)
        set_velocity(crate, 0, -1)
        esper.process(1.0)
        ledger.record()
        heights.append(position(crate)[1])

    assert heights == [2, 2, 1, 0]
    assert [end.value for _, end in ledger.ends] == ["filter_changed"]


@pytest.mark.parametrize(
    ("response", "after"),
    [(ec.Deflect(0.5), (-1.5, 4)), (ec.Slide(), (0, 4)), (ec.Push(), (0, 5)), (ec.Stop(), (0, 0))],
)
def test_an_impact_is_redirected_to_another_response(response, after):
    asked = []

    class Asked(ec.ResponseSystem):
        def respond(self, impact):
            asked.append(impact)

    ball = mover((0, 0), (1, 1), (3, 4), ec.Deflect())
    box((3.5, 0), (1, 9))
    space = install(lambda impacts: [impact.answer(response) for impact in impacts])
    esper.add_processor(Asked(space), priority=112)

    esper.process(1.0)

    assert velocity(ball) == after
    assert [hit.answer for hit in space.collisions] == [ec.Answer.ANSWERED]
    assert asked == []


def test_a_redirection_holds_for_the_pair_to_the_end_of_the_step():
    # The left wall is to halve the speed, each time that the ball comes back to it.
    ball = mover((0, 0), (1, 1), (-64, 0), ec.Deflect())
    right, left = box((6, 0), (1, 9)), box((-6, 0), (1, 9))
    space = install(
        lambda impacts: [hit.answer(ec.Deflect(0.5)) for hit in impacts if hit.second == left]
    )

    esper.process(1.0)

    assert [(hit.time, hit.second) for hit in space.collisions] == [
        (0.0625, left),
        (0.3125, right),
        (0.5625, left),
    ]
    assert velocity(ball) == (16, 0)


def test_the_last_decision_about_a_pair_counts():
    def decide(impacts):
        impacts[0].cross()
        impacts[0].answer(ec.Deflect())

    ball = mover((0, 0), (1, 1), (8, 0), ec.Slide())
    box((7, 0), (2, 9))
    install(decide)

    esper.process(1.0)

    assert velocity(ball) == (-8, 0)


def test_a_pair_that_crosses_has_nothing_to_be_answered():
    def decide(impacts):
        with pytest.raises(ValueError, match=r"1 and 2 cross freely: neither yields, or one is a"):
            impacts[0].answer(ec.Slide())
        impacts[0].cross()  # which it does anyway

    runner = mover((0, 0), (1, 1), (8, 0), ec.Slide())
    box((5, 0), (1, 1), ec.Sensor())
    install(decide)

    esper.process(1.0)

    assert position(runner) == (8, 0)


def test_what_is_no_response_is_refused():
    def decide(impacts):
        with pytest.raises(TypeError, match="must be a Deflect, Slide, Push or Stop"):
            impacts[0].answer(ec.Sensor())

    runner = mover((0, 0), (1, 1), (8, 0), ec.Slide())
    box((7, 0), (2, 9))
    install(decide)

    esper.process(1.0)

    assert position(runner) == (4, 0)


def test_nothing_can_be_decided_once_impacts_are_being_answered():
    kept = []
    mover((0, 0), (1, 1), (8, 0), ec.Deflect())
    box((7, 0), (2, 9))
    space = install(kept.extend)
    esper.process(1.0)
    (late,) = kept
    with pytest.raises(RuntimeError, match="or it is over"):
        late.cross()

    def decide():
        for impact in space.impacts:
            assert impact != late
        with pytest.raises(RuntimeError, match="or it is over"):
            late.answer(ec.Slide())

    esper.add_processor(Between(decide), priority=114)
    esper.process(1.0)
    assert late.time == 0.5  # what it says, it still says


def test_deciding_in_another_world_is_refused(elsewhere):
    def decide(impacts):
        elsewhere()
        try:
            with pytest.raises(RuntimeError, match="is current"):
                impacts[0].cross()
        finally:
            esper.switch_world(here)

    here = esper.current_world
    runner = mover((0, 0), (1, 1), (8, 0), ec.Slide())
    box((7, 0), (2, 9))
    install(decide)

    esper.process(1.0)

    assert position(runner) == (4, 0)


def test_a_decision_of_a_step_that_was_broken_off_is_forgotten():
    class Breaks(ec.ResponseSystem):
        n = 0

        def respond(self, impact):
            self.n += 1
            if self.n == 1:
                raise KeyboardInterrupt
            return ec.DEFAULT

    is_on = [True]
    ghost = mover((0, 0), (1, 1), (8, 0), ec.Slide())
    box((7, 0), (2, 9))
    mover((0, 30), (1, 1), (16, 0), ec.Slide())
    box((7, 30), (2, 9))
    space = install(
        lambda impacts: [hit.cross(True) for hit in impacts if hit.first == ghost and is_on[0]]
    )
    esper.add_processor(Breaks(space), priority=112)
    with pytest.raises(KeyboardInterrupt):
        esper.process(1.0)
    is_on[0] = False

    esper.process(1.0)

    assert position(ghost) == (4, 0)


def test_explain_knows_what_was_decided_in_the_step_under_way():
    def decide(impacts):
        impacts[0].cross()
        impacts[1].answer(ec.Stop())
        for impact in impacts:
            found = space.explain(impact.first, impact.second)
            told.append((found.verdict, [finding.cause for finding in found.findings]))

    told = []
    for y in (0, 20):
        mover((0, y), (1, 1), (8, 0), ec.Slide())
        box((7, y), (2, 9))
    space = install(decide)

    esper.process(1.0)

    assert [verdict for verdict, _ in told] == [ec.Verdict.CROSSING, ec.Verdict.SOLID]
    assert "let_cross" in told[0][1]
    assert "redirected" in told[1][1]
    assert "redirected" not in [f.cause for f in space.explain(3, 4).findings]


def test_a_veto_reaches_bodies_that_sleep():
    crate = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    floor = box((0, 0), (4, 1))
    is_on = []
    space = install(lambda impacts: [hit.cross(True) for hit in impacts if is_on])
    ledger = Ledger(space)
    for _ in range(30):
        esper.process(1.0)
        ledger.record()
    assert space.stats.asleep == 1
    stone = mover((0, 10), (1, 1), (0, -8), ec.Slide())
    is_on.append(True)

    for _ in range(3):
        esper.process(1.0)
        ledger.record()

    assert position(stone) == (0, -14)
    assert position(crate) == (0, 2)
    assert [(c.first, c.second) for c in space.contacts()] == [(crate, floor)]


def test_a_decision_is_about_both_bodies_at_all_their_images():
    # It goes around the world and through the same wall again.
    ghost = mover((50, 50), (1, 1), (250, 0), ec.Deflect())
    box((75, 50), (2, 4))
    space = install(lambda impacts: [hit.cross() for hit in impacts[:1]], wrap=(100, None))

    esper.process(1.0)

    assert [hit.answer.name for hit in space.collisions] == ["CROSSED"] * 3
    assert position(ghost) == (0, 50)
