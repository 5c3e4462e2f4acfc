"""Steps without a response system, with a subclass of it, and with a game's own."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import another_world, box, mixed_log, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


def install(space, response=None):
    """Add the broadphase, narrowphase and motion systems, and `response` between them."""
    esper.add_processor(ec.BroadphaseSystem(space), priority=40)
    esper.add_processor(ec.NarrowphaseSystem(space), priority=30)
    if response is not None:
        esper.add_processor(response, priority=20)
    esper.add_processor(ec.MotionSystem(space), priority=10)
    return space


class TakesEachImpact(ec.ResponseSystem):
    """Takes all impacts, and resolves as the built-in response does."""

    def __init__(self, space):
        super().__init__(space)
        self.times = []

    def respond(self, impact):
        self.times.append(impact.time)
        self.resolve(impact)

    def resolve(self, impact):
        impact.resolve()


# Without -------------------------------------------------------------------------------


def test_without_a_response_system_first_impacts_are_emitted_unanswered():
    runner = mover((0, 0), (1, 1), (20, 2), ec.Slide())
    near = box((5, 0), (1, 9))
    far = box((11, 0), (1, 9))
    space = install(ec.Space())

    esper.process(1.0)

    assert [(hit.other(runner), hit.time, hit.outcome) for hit in space.collisions] == [
        (near, 0.15, ec.Outcome.UNRESOLVED),
        (far, 0.45, ec.Outcome.UNRESOLVED),
    ]
    assert not any(hit.resolved for hit in space.collisions)
    assert position(runner) == (20, 2)
    assert velocity(runner) == (20, 2)


def test_without_a_response_system_a_pair_is_emitted_once_a_step():
    mover((0, 0), (1, 1), (3, 0), ec.Deflect())
    box((5, 0), (1, 9))
    space = install(ec.Space())

    counts = []
    for _ in range(5):
        esper.process(1.0)
        counts.append([hit.kind for hit in space.collisions])

    # Gap 3: the impact at exactly 1 belongs to the second step; then it is inside.
    assert counts[0] == []
    assert counts[1] == [ec.SweepKind.IMPACT]
    assert all(len(kinds) <= 1 for kinds in counts[2:])


def test_without_a_response_system_sensors_have_their_contacts():
    runner = mover((0, 0), (1, 1), (20, 0))
    coin = box((5, 0), (1, 1), ec.Sensor())
    space = install(ec.Space())

    esper.process(1.0)

    assert [(e.first, e.second) for e in space.contacts_began] == [(runner, coin)]
    assert [(e.first, e.second) for e in space.contacts_ended] == [(runner, coin)]


# A subclass ----------------------------------------------------------------------------


def test_a_subclass_that_changes_nothing_gives_the_same_log(world):
    class Watching(ec.ResponseSystem):
        n_seen = 0

        def respond(self, impact):
            self.n_seen += 1
            return super().respond(impact)

    expected = mixed_log(12)
    with another_world(f"{world} subclass"):
        space = ec.Space()
        system = Watching(space)
        assert mixed_log(12, make_space=lambda: install(space, system)) == expected
        assert system.n_seen > 20


def test_a_subclass_resolves_in_its_own_way():
    class Trampolines(ec.ResponseSystem):
        def respond(self, impact):
            if impact.closing_speed > 5:
                x, y = impact.velocity(runner)
                impact.set_velocity(runner, (x, -2 * y))
                return None
            return super().respond(impact)

    runner = mover((0, 2), (1, 1), (1, -8), ec.Slide())
    box((0, -1), (9, 1))
    space = ec.Space()
    install(space, Trampolines(space))

    esper.process(1.0)

    # 1 above the floor: 0.125 of the step down, the rest up at twice the speed.
    assert velocity(runner) == (1, 16)
    assert position(runner) == (1, 1 + 0.875 * 16)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.RESOLVED]


# A subclass that takes all impacts -------------------------------------------------------


@pytest.mark.parametrize("dim", [2, 3])
def test_taking_each_impact_and_asking_for_the_built_in_response_gives_the_same_log(world, dim):
    expected = mixed_log(30, dim=dim)
    with another_world(f"{world} own"):
        space = ec.Space(dim=dim)
        system = TakesEachImpact(space)
        assert mixed_log(30, dim=dim, make_space=lambda: install(space, system)) == expected
        assert len(system.times) > 10


def test_impacts_are_offered_in_time_order():
    ball = mover((0, 0), (1, 1), (90, 0), ec.Deflect())
    right, left = box((12, 0), (1, 5)), box((-22, 0), (1, 5))
    space = ec.Space()
    seen = []

    class Own(TakesEachImpact):
        def resolve(self, impact):
            x, _ = impact.position_first
            seen.append((impact.first, impact.second, impact.velocity_first, x))
            super().resolve(impact)

    system = Own(space)
    install(space, system)

    esper.process(1.0)

    assert system.times == pytest.approx([1 / 9, 4 / 9, 7 / 9])
    assert seen == [
        (ball, right, (90, 0), 10),
        (ball, left, (-90, 0), -20),
        (ball, right, (90, 0), 10),
    ]


#        | v             The system lets the falling box cross the left one.  It bounces off the
#      +---+             right one alone, though both bounces would otherwise be one.
#    +--+ +--+
def test_no_box_bounces_that_was_not_offered():
    class Passes(ec.ResponseSystem):
        def respond(self, impact):
            if left in (impact.first, impact.second):
                impact.cross(until_separate=True)
            return ec.DEFAULT

    left, right = (mover((x, 0), (2, 1), (0, 0), ec.Deflect()) for x in (2, -2))
    falling = mover((0, 4), (1, 1), (0, -3), ec.Deflect())
    space = ec.Space()
    install(space, Passes(space))

    esper.process(1.0)

    assert [velocity(body) for body in (left, right, falling)] == [(0, 0), (0, -3), (0, 0)]


def test_a_response_system_run_by_hand_after_another_one_is_refused():
    mover((0, 0), (1, 1), (8, 0), ec.Stop())
    space = ec.Space()
    one, two = ec.ResponseSystem(space), ec.ResponseSystem(space)
    for system in (ec.BroadphaseSystem(space), ec.NarrowphaseSystem(space), one):
        system.process(1.0)

    with pytest.raises(RuntimeError, match="it was offered none of them"):
        two.process(1.0)

    ec.MotionSystem(space).process(1.0)
    for system in (ec.BroadphaseSystem(space), ec.NarrowphaseSystem(space), two):
        system.process(1.0)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_a_response_lets_stop_does_not_ask_whether_another_body_has_stop(elsewhere):
    #      +------+
    #      | high | <-       stops on the low one, which the game has slowed in the same instant
    #   ->+------+
    #     | low  |
    #   ============
    box((0, -8), (96, 8))
    low = mover((0, 8), (8, 8), (64, -64), ec.Slide())
    high = mover((0, 24), (8, 8), (-64, -64), ec.Slide())
    if elsewhere:
        mover((3000, 0), (8, 8), (0, 0), ec.Stop())

    class Slows(ec.ResponseSystem):
        def respond(self, impact):
            if high in (impact.first, impact.second):
                impact.resolve(ec.Stop())
            else:
                impact.resolve()
                impact.set_velocity(low, (32, 0))

    space = ec.install()
    esper.add_processor(Slows(space), priority=115)
    esper.process(1 / 16)

    assert (velocity(low), velocity(high)) == ((32, 0), (32, 0))
