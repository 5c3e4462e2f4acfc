"""Responses of a game's own, called in time order."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Ledger, box, enter_new_world, gaps, mover, of, position, steps, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Rubber:
    """A custom response component."""


class Fragile:
    """Another."""


def test_a_response_is_called_with_the_impact():
    seen = []

    def respond(impact):
        seen.append(
            (
                *(impact.time, impact.first, impact.second, impact.normal, impact.kind),
                *(impact.closing_speed, impact.position_first, impact.position_second),
                *(impact.velocity_first, impact.velocity_second),
            )
        )
        return ec.DEFAULT

    runner = mover((0, 0), (1, 1), (8, 2), ec.Slide(), Rubber())
    wall = box((7, 0), (2, 9), Fragile())
    space = ec.install()
    space.respond_with(Rubber, respond)
    space.respond_with(Fragile, lambda impact: seen.append("partner") or ec.DEFAULT)

    esper.process(1.0)

    assert seen == [
        (0.5, runner, wall, (-1, 0), ec.SweepKind.IMPACT, 8, (4, 1), (7, 0), (8, 2), (0, 0)),
        "partner",
    ]
    assert velocity(runner) == (0, 2)


def resolve_and_turn_back(impact):
    impact.resolve()
    impact.velocity_first = (8, 3)


ANSWERS = {
    "the built-in one": (lambda impact: ec.DEFAULT, (-4, 2), ec.Outcome.RESOLVED),
    "a velocity": (
        lambda impact: impact.set_velocity(impact.first, (-20, 6)),
        *((-20, 6), ec.Outcome.RESOLVED),
    ),
    # What leaves the pair closing is slid along its surface.
    "none": (lambda impact: None, (0, 2), ec.Outcome.FORCED),
    "a velocity that closes": (
        lambda impact: impact.set_velocity(impact.first, (80, 5)),
        *((0, 5), ec.Outcome.FORCED),
    ),
    "two": (resolve_and_turn_back, (0, 3), ec.Outcome.FORCED),
}


def replace_the_system(space, respond):
    class Mine(ec.ResponseSystem):
        def respond(self, impact):
            return respond(impact)

    esper.remove_processor(ec.ResponseSystem)
    esper.add_processor(Mine(space), priority=110)


@pytest.mark.parametrize("by", ["respond_with", "a system"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_response_sets_the_velocities_and_an_event_says_how_it_went(answer, by):
    respond, after, outcome = ANSWERS[answer]
    ball = mover((0, 0), (1, 1), (8, 2), ec.Deflect(0.5), Rubber())
    wall = box((7, 0), (2, 9))
    space = ec.install()
    if by == "respond_with":
        space.respond_with(Rubber, respond)
    else:
        replace_the_system(space, respond)

    esper.process(1.0)

    assert velocity(ball) == after
    assert position(ball) == (4 + after[0] / 2, 1 + after[1] / 2)
    (hit,) = space.collisions
    assert (hit.outcome, hit.resolved, hit.velocity_first) == (outcome, True, (8, 2))
    assert space.stats.forced == (outcome is ec.Outcome.FORCED)
    assert gaps(ball, wall)[0] >= 0


def test_a_component_of_the_games_own_makes_a_body_dynamic():
    # It needs none of the built-in responses beside it.
    def bounce(impact):
        x, y = impact.velocity(ball)
        impact.set_velocity(ball, (-x, y))

    ball = mover((0, 0), (1, 1), (8, 2), Rubber())
    box((7, 0), (2, 9))
    space = ec.install()
    space.respond_with(Rubber, bounce)

    esper.process(1.0)

    assert velocity(ball) == (-8, 2)
    assert position(ball) == (0, 2)


def test_a_response_of_the_partner_is_called_too():
    # The spikes answer, whoever comes.
    seen = []

    def respond(impact):
        seen.append((impact.other(spikes), impact.normal_for(spikes)))
        return ec.DEFAULT

    spikes = box((7, 0), (2, 9), Fragile())
    runner = mover((0, 0), (1, 1), (8, 2), ec.Slide())
    space = ec.install()
    space.respond_with(Fragile, respond)

    esper.process(1.0)

    assert seen == [(runner, (1, 0))]
    assert velocity(runner) == (0, 2)


def test_responses_are_called_in_time_order():
    times = []

    def respond(impact):
        times.append((impact.time, impact.first))
        return ec.DEFAULT

    balls = [
        mover((0, 10 * i), (1, 1), (speed, 0), ec.Deflect(), Rubber())
        for i, speed in enumerate([30, 90, 50, 70])
    ]
    for i in range(4):
        box((12, 10 * i), (1, 2))
        box((-22, 10 * i), (1, 2))
    space = ec.install()
    space.respond_with(Rubber, respond)

    esper.process(1.0)

    assert times == [(hit.time, hit.first) for hit in space.collisions]
    assert [time for time, _ in times] == sorted(time for time, _ in times)
    # At 0.11, 0.14, 0.2 and 0.33.
    assert [ball for _, ball in times][:4] == [balls[1], balls[3], balls[2], balls[0]]


@pytest.mark.parametrize("immediate", [True, False])
@pytest.mark.parametrize(
    ("deleted", "met"), [("glass", ["glass", "wall"]), ("bullet", ["glass"]), ("both", ["glass"])]
)
def test_a_response_deletes_one_or_both(deleted, met, immediate):
    ids = {
        "bullet": mover((0, 0), (1, 1), (20, 0), ec.Stop()),
        "glass": box((5, 0), (1, 1), Fragile()),
        "wall": box((15, 0), (1, 1)),
    }
    gone = ["bullet", "glass"] if deleted == "both" else [deleted]
    space = ec.install()

    def shatter(impact):
        for name in gone:
            esper.delete_entity(ids[name], immediate=immediate)

    space.respond_with(Fragile, shatter)
    esper.process(1.0)

    assert [hit.other(ids["bullet"]) for hit in space.collisions] == [ids[name] for name in met]
    assert deleted != "glass" or position(ids["bullet"]) == (13, 0)
    esper.process(1.0)
    for name, entity in ids.items():
        assert (entity in space) == esper.entity_exists(entity) == (name not in gone)
    assert len(space.collisions) == 0


def test_a_target_that_a_response_deletes_is_not_met_by_a_ball_that_turns_towards_it_later():
    #
    #                                      bullet, which falls
    #   wall <---- ball                    target
    #     '-------------------------------------------------> ball
    #
    box((-1, 0), (1, 10))
    ball = mover((11, 0), (1, 1), (-100, 0), ec.Deflect())
    target = box((50, 0), (1, 10))
    mover((50, 11), (1, 1), (0, -1), ec.Slide(), Fragile())
    space = ec.install()
    space.respond_with(Fragile, lambda impact: esper.delete_entity(target))

    esper.process(1.0)

    assert position(ball) == (1 + 90, 0)


def test_a_response_may_create_entities_that_join_at_the_next_step():
    made = []

    def spawn(impact):
        made.append(box((50, 50), (1, 1)))
        return ec.DEFAULT

    mover((0, 0), (1, 1), (8, 0), ec.Stop(), Fragile())
    box((5, 0), (1, 1))
    space = ec.install()
    space.respond_with(Fragile, spawn)

    esper.process(1.0)
    assert made[0] not in space

    esper.process(1.0)
    assert made[0] in space


def test_an_exception_in_a_response_is_raised_and_the_next_step_works():
    def fail(impact):
        raise LookupError("the game's own fault")

    ball = mover((0, 0), (1, 1), (8, 0), ec.Deflect(), Rubber())
    wall = box((7, 0), (2, 9))
    space = ec.install()
    stop = space.respond_with(Rubber, fail)

    with pytest.raises(LookupError, match="own fault"):
        esper.process(1.0)

    stop()
    space.respond_with(Rubber, lambda impact: ec.DEFAULT)
    for _ in range(3):
        esper.process(0.25)
        assert gaps(ball, wall)[0] >= 0
    space.check()


def test_a_response_that_accelerates_is_met_again_in_the_same_step():
    # Each bounce doubles the speed: 1, 2, 4, ... between walls 8 apart.
    def double(impact):
        x, y = impact.velocity(ball)
        impact.set_velocity(ball, (-2 * x, y))

    ball = mover((0, 0), (1, 1), (8, 0), ec.Deflect(), Rubber())
    box((6, 0), (1, 5))
    box((-6, 0), (1, 5))
    space = ec.install()
    space.respond_with(Rubber, double)

    esper.process(1.0)

    # 4 units at 8, then 8 units at 16; the next at 32 comes at 1.25.
    assert [hit.time for hit in space.collisions] == [0.5]
    esper.process(0.75)
    # 0.5 s left of the 0.5 s at 16: at 0.0, then 0.25 s, 0.125 s, 0.0625 s ...
    assert [abs(hit.velocity_first[0]) for hit in space.collisions][:3] == [16, 32, 64]


def test_a_response_taken_away_no_longer_answers():
    called = []
    runner = mover((0, 0), (1, 1), (8, 0), Rubber())
    wall = box((7, 0), (2, 9))
    space = ec.install()
    stop = space.respond_with(Rubber, lambda impact: called.append(impact.second) or ec.DEFAULT)
    esper.process(1.0)
    assert called == [wall]
    assert position(runner) == (4, 0)

    stop()
    of(runner, ec.Velocity).x = 8.0
    esper.process(1.0)

    assert called == [wall]
    assert position(runner) == (12, 0)  # it has no response any more, and crosses the wall
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.CROSSED]
    stop()  # once more changes nothing


def test_a_second_response_for_a_type_is_refused_until_the_first_is_taken_away():
    def first(impact):
        """Do nothing."""

    def second(impact):
        """Do nothing."""

    space = ec.install()
    for wrong in (("Rubber", first), (Rubber, "bounce")):
        with pytest.raises(TypeError):
            space.respond_with(*wrong)
    stop = space.respond_with(Rubber, first)
    with pytest.raises(ValueError, match=r"respond_with\(Rubber, .*first.* resolves for Rubber"):
        space.respond_with(Rubber, second)
    assert space.respond_with(Rubber, first) is not None  # the same one is no second one
    space.respond_with(Fragile, second)

    stop()
    stop_second = space.respond_with(Rubber, second)
    stop()  # of a registration that is gone: it does not touch the new one
    with pytest.raises(ValueError, match="second"):
        space.respond_with(Rubber, first)
    stop_second()
    space.respond_with(Rubber, first)


def test_a_response_taken_away_within_a_response_is_not_asked_again():
    called = []
    for i in range(3):
        mover((0, 10 * i), (1, 1), (8 + i, 0), ec.Slide(), Rubber())
        box((7, 10 * i), (2, 2))
    space = ec.install()

    def once(impact):
        called.append(impact)
        stop()
        return ec.DEFAULT

    stop = space.respond_with(Rubber, once)
    esper.process(1.0)
    esper.process(1.0)

    assert len(called) == 1
    space.check()


def test_a_box_that_a_response_moves_away_no_longer_presses_on_what_it_touched():
    #     pusher  taken   crate
    #    +------++------++------+
    #    |  2>  ||  1>  ||      |     all faces touch; the response moves the second box
    #    +------++------++------+
    pusher = mover((0, 0), (1, 1), (2, 0), ec.Slide(), Rubber())
    taken = mover((2, 0), (1, 1), (1, 0), ec.Slide())
    mover((4, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()

    def respond(impact):
        of(taken, ec.Position).y = 50.0
        return ec.DEFAULT

    space.respond_with(Rubber, respond)

    esper.process(0.5)

    assert [(hit.first, hit.second) for hit in space.collisions][:1] == [(pusher, taken)]
    assert velocity(taken) == (1, 0)


@pytest.mark.parametrize("mirror", [1, -1])
@pytest.mark.parametrize("place", [60, -60])
def test_the_built_in_response_by_hand_leaves_the_friction_of_all_others_as_it_is(place, mirror):
    ends = []
    for respond in (lambda _: ec.DEFAULT, lambda impact: impact.resolve()):
        enter_new_world()
        box((0, -1), (100, 1))
        rough = ec.Friction(0.5, rule="multiply")
        low = mover((0, 2), (9, 2), (mirror * 50, 0), ec.Slide(), rough)
        top = mover((0, 10), (3, 6), (mirror * 60, 0), ec.Slide())
        mover((mirror * place, 5), (4, 5), (0, 0), ec.Slide(), Rubber())
        space = ec.install(gravity=(0, -150))
        space.respond_with(Rubber, respond)
        steps(3, 1 / 30)
        ends.append((velocity(low), velocity(top)))

    assert ends[0] == ends[1]


@pytest.mark.parametrize("order", ["dog", "god", "odg"])
@pytest.mark.parametrize("sensors", ["", "d", "o"])
@pytest.mark.parametrize("places", [(10.5, 10.25), (10.5, 40, 10.5), (10.5, 10.5, 8)])
def test_two_still_bodies_have_one_contact_wherever_a_response_puts_one(order, sensors, places):
    #  the gun hits the door in each step, and the door goes into the other body or away from it
    kinds = {name: [ec.Sensor()] if name in sensors else [] for name in order}
    made = {
        name: mover((0, 0), (1, 1), (100, 0), ec.Deflect())
        if name == "g"
        else box((5 if name == "d" else 10, 0), (1, 1), *kinds[name])
        for name in order
    }
    to_come = [*places]
    space = ec.install()
    ledger = Ledger(space)
    place = esper.component_for_entity(made["d"], ec.Position)

    def put(impact):
        if impact.other(made["g"]) == made["d"] and waiting:
            place.x = waiting.pop()
        return ec.DEFAULT

    space.respond_with(ec.Deflect, put)
    for _ in range(6):
        waiting = [to_come.pop(0)] if to_come else []
        esper.component_for_entity(made["g"], ec.Position).xy = (place.x - 3, 0)
        esper.component_for_entity(made["g"], ec.Velocity).xy = (100, 0)
        esper.process(0.1)
        ledger.record()
        space.check()
