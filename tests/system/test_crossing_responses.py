"""A response lets two bodies cross, for the rest of a step or until they separate."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Ledger, another_world, box, mover, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

BEGAN, ENDED = ec.BEGAN, ec.ENDED


class Ghost:
    """A custom component."""


class Crosses(ec.ResponseSystem):
    """Makes bodies with a Ghost cross, and counts the impacts that it is offered."""

    handles = Ghost
    until_separate = False
    n_asked = 0

    def respond(self, impact):
        self.n_asked += 1
        impact.cross(self.until_separate)


class CrossesUntilApart(Crosses):
    """The same, until they separate."""

    until_separate = True


def install(kind=Crosses, **settings):
    """Install a space and a system that lets ghosts cross."""
    space = ec.install(ec.Space(**settings))
    system = kind(space)
    esper.add_processor(system, priority=115)
    return space, system


def contact_events(space):
    """Return event, time, kind and reason of the contact events of the last step."""
    return [
        (int(row["event"]), float(row["time"]), ec.ContactKind(row["kind"]), int(row["reason"]))
        for row in space.contact_array
    ]


def reason(name):
    """Return the code of a reason for the end of a contact."""
    return ec.END_REASONS.index(ec.EndReason(name))


#        0    1                 thin          2 steps wide, at speed 8
#   +---+    ........> .......+--+.......>
#   | g |                    |  |
#   +---+                    +--+


@pytest.mark.parametrize("kind", [Crosses, CrossesUntilApart])
def test_a_body_that_is_let_cross_keeps_its_path(kind):
    ghost = mover((0, 0), (1, 1), (8, 2), ec.Slide(), Ghost())
    wall = box((5, 0), (0.5, 9))
    space, system = install(kind)

    esper.process(1.0)

    assert position(ghost) == (8, 2)
    assert velocity(ghost) == (8, 2)
    (hit,) = space.collisions
    assert (hit.time, hit.first, hit.second, hit.outcome) == (
        0.4375,
        ghost,
        wall,
        ec.Outcome.CROSSED,
    )
    assert contact_events(space) == [
        (BEGAN, 0.4375, ec.ContactKind.CROSSING, -1),
        (ENDED, 0.8125, ec.ContactKind.CROSSING, reason("separated")),
    ]
    assert system.n_asked == 1
    assert space.stats.resolutions == 0
    assert space.stats.forced == 0


def test_a_crossing_of_one_step_is_an_overlap_in_the_next():
    ghost = mover((0, 0), (1, 1), (8, 0), ec.Slide(), Ghost())
    box((9, 0), (1, 9))
    space, system = install()
    ledger = Ledger(space)

    esper.process(1.0)
    ledger.record()
    assert [contact.kind for contact in space.contacts()] == [ec.ContactKind.CROSSING]
    esper.process(1.0)
    ledger.record()

    assert system.n_asked == 2
    assert [(hit.time, hit.kind, hit.outcome) for hit in space.collisions] == [
        (0.0, ec.SweepKind.OVERLAP, ec.Outcome.CROSSED)
    ]
    assert contact_events(space)[0] == (
        ENDED,
        0.0,
        ec.ContactKind.CROSSING,
        reason("filter_changed"),
    )
    assert position(ghost) == (16, 0)


def test_bodies_that_cross_until_they_separate_are_let_through_once():
    ghost = mover((-1, 0), (1, 1), (2, 0), ec.Slide(), Ghost())
    box((5, 0), (2, 9))
    space, system = install(CrossesUntilApart)
    ledger = Ledger(space)
    places, events = [], []

    for _ in range(6):
        esper.process(1.0)
        ledger.record()
        places.append(position(ghost)[0])
        events += [(event, kind) for event, _, kind, _ in contact_events(space)]

    assert places == [1, 3, 5, 7, 9, 11]
    assert events == [(BEGAN, ec.ContactKind.CROSSING), (ENDED, ec.ContactKind.CROSSING)]
    assert system.n_asked == 1


def test_bodies_that_have_separated_are_solid_again_in_the_same_step():
    # Through the wall, off the bumper behind it, and back onto the wall.
    class Once(Crosses):
        def respond(self, impact):
            self.n_asked += 1
            if self.n_asked > 1:
                return ec.DEFAULT
            impact.cross(until_separate=True)
            return None

    ghost = mover((0, 0), (1, 1), (16, 0), ec.Deflect(), Ghost())
    box((4, 0), (1, 9))
    bumper = box((9, 0), (1, 9))
    space, system = install(Once)

    esper.process(1.0)

    # In at 2, out at 6, off the bumper at 7, and at 6 again: 8 of 16.
    assert [(hit.time, hit.outcome) for hit in space.collisions] == [
        (0.125, ec.Outcome.CROSSED),
        (0.4375, ec.Outcome.RESOLVED),
        (0.5, ec.Outcome.RESOLVED),
        (0.5625, ec.Outcome.RESOLVED),
        (0.625, ec.Outcome.RESOLVED),
        (0.6875, ec.Outcome.RESOLVED),
        (0.75, ec.Outcome.RESOLVED),
        (0.8125, ec.Outcome.RESOLVED),
        (0.875, ec.Outcome.RESOLVED),
        (0.9375, ec.Outcome.RESOLVED),
    ]
    assert space.collisions[1].other(ghost) == bumper
    assert system.n_asked == 10


def test_bodies_that_cross_for_the_step_cross_again_in_it():
    class Bumps(ec.ResponseSystem):
        def respond(self, impact):
            asked.append(impact.second)
            if impact.second == wall:
                impact.cross()
                return None
            return ec.DEFAULT

    asked = []
    ghost = mover((0, 0), (1, 1), (16, 0), ec.Deflect())
    wall = box((4, 0), (1, 9))
    bumper = box((9, 0), (1, 9))
    space = ec.install()
    esper.add_processor(Bumps(space), priority=115)

    esper.process(1.0)

    assert asked == [wall, bumper]
    assert [(hit.time, hit.outcome) for hit in space.collisions] == [
        (0.125, ec.Outcome.CROSSED),
        (0.4375, ec.Outcome.RESOLVED),
        (0.5, ec.Outcome.CROSSED),
    ]
    assert position(ghost) == (-2, 0)


def test_a_trapdoor_that_opens_ends_the_solid_contact():
    crate = mover((0, 2), (1, 1), (0, -1), ec.Slide())
    door = box((0, 0), (4, 1), Ghost())
    space, system = install(CrossesUntilApart)
    system.respond = lambda impact: ec.DEFAULT
    esper.remove_processor(CrossesUntilApart)
    ledger = Ledger(space)
    esper.process(1.0)
    ledger.record()
    assert space.is_on(crate, (0, 1)) is not None

    esper.add_processor(CrossesUntilApart(space), priority=115)
    set_velocity(crate, 0, -1)
    places = []
    for _ in range(5):
        esper.process(1.0)
        ledger.record()
        places.append(position(crate)[1])

    assert places == [1, 0, -1, -2, -3]
    assert [(pair, end.value) for pair, end in ledger.ends] == [
        ((crate, door), "filter_changed"),
        ((crate, door), "separated"),
    ]


def test_a_body_that_turns_back_inside_leaves_where_it_came_in():
    ghost = mover((0, 0), (1, 1), (4, 0), ec.Slide(), Ghost())
    box((5, 0), (2, 9))
    space, system = install(CrossesUntilApart)
    ledger = Ledger(space)
    asked = []

    for speed in (4, -4, 4):
        set_velocity(ghost, speed, 0)
        esper.process(1.0)
        ledger.record()
        asked.append(system.n_asked)

    # It left at the face through which it came, and was asked about when it came again.
    assert asked == [1, 1, 2]
    assert position(ghost) == (4, 0)
    assert [end.value for _, end in ledger.ends] == ["separated"]


def test_a_body_that_comes_to_rest_inside_leaves_as_freely_as_it_came():
    ghost = mover((0, 0), (1, 1), (4, 0), ec.Slide(), Ghost())
    box((5, 0), (2, 9))
    space, system = install(CrossesUntilApart)
    esper.process(1.0)
    set_velocity(ghost, 0, 0)
    for _ in range(30):
        esper.process(1.0)
    assert space.stats.asleep == 1
    assert [contact.kind for contact in space.contacts()] == [ec.ContactKind.CROSSING]

    set_velocity(ghost, 1, 0)
    for _ in range(6):
        esper.process(1.0)

    assert position(ghost) == (10, 0)
    assert system.n_asked == 1


def test_a_sleeping_body_is_struck_inside_what_it_crosses():
    # The striker pushes it on through the wall.
    ghost = mover((0, 0), (1, 1), (4, 0), ec.Slide())
    box((5, 0), (2, 9), Ghost(), ec.Filter(mask=~2))
    space, system = install(CrossesUntilApart)
    esper.process(1.0)
    set_velocity(ghost, 0, 0)
    for _ in range(30):
        esper.process(1.0)
    assert space.stats.asleep == 1
    striker = mover((-4, 0), (1, 1), (4, 0), ec.Slide(), ec.Mass(3), ec.Filter(categories=2))

    met = []
    for _ in range(4):
        esper.process(1.0)
        met += [(hit.first, hit.second, hit.outcome) for hit in space.collisions]

    assert met == [(ghost, striker, ec.Outcome.RESOLVED)]
    assert velocity(ghost) == velocity(striker) == (3, 0)
    assert position(ghost)[0] > 8
    assert system.n_asked == 1


@pytest.mark.parametrize("how", ["deleted", "component removed", "teleported", "sensor"])
def test_a_crossing_ends_for_other_reasons_too(how):
    ghost = mover((0, 0), (1, 1), (4, 0), ec.Slide(), Ghost())
    wall = box((5, 0), (2, 9))
    space, system = install(CrossesUntilApart)
    ledger = Ledger(space)
    esper.process(1.0)
    ledger.record()
    ends = {
        "deleted": lambda: esper.delete_entity(wall),
        "component removed": lambda: esper.remove_component(wall, ec.Extents),
        "teleported": lambda: space.teleport(ghost, (4.5, 0)),
        "sensor": lambda: esper.add_component(wall, ec.Sensor()),
    }

    ends[how]()
    esper.process(0.25)
    ledger.record()

    expected = {
        "deleted": ["entity_deleted"],
        "component removed": ["component_removed"],
        "teleported": ["teleported"],
        "sensor": [],
    }
    assert [end.value for _, end in ledger.ends] == expected[how]
    # A teleport is a new beginning: it is asked about again.
    assert system.n_asked == (2 if how == "teleported" else 1)


def test_bodies_that_the_game_makes_smaller_until_they_are_apart_are_solid_at_once():
    ghost = mover((0, 0), (1, 1), (4, 0), ec.Slide(), Ghost())
    wall = box((5, 0), (2, 9))
    space, system = install(CrossesUntilApart)
    ledger = Ledger(space)
    esper.process(1.0)
    ledger.record()
    for body in (ghost, wall):
        esper.component_for_entity(body, ec.Extents).x = 0.25

    esper.process(1.0)
    ledger.record()

    assert system.n_asked == 2
    assert [(hit.time, hit.kind) for hit in space.collisions] == [(0.125, ec.SweepKind.IMPACT)]
    assert [(event, time) for event, time, _, _ in contact_events(space)] == [
        (ENDED, 0.0),
        (BEGAN, 0.125),
        (ENDED, 0.375),
    ]


def test_a_body_that_leaves_the_ground_crosses_it_when_it_comes_back():
    # Up to the ceiling and back within a step, in which the ground opens.
    class Opens(Crosses):
        def respond(self, impact):
            if impact.velocity(ghost)[1] > 0:
                return ec.DEFAULT
            impact.cross(until_separate=True)
            return None

    ghost = mover((0, 2), (1, 1), (0, 0), ec.Deflect(), Ghost())
    ground = box((0, 0), (4, 1))
    box((0, 8), (4, 1))
    space, _ = install(Opens)
    ledger = Ledger(space)
    esper.process(1.0)
    ledger.record()
    assert space.is_on(ghost) is not None

    set_velocity(ghost, 0, 9)
    for _ in range(2):
        esper.process(1.0)
        ledger.record()

    assert position(ghost) == (0, -8)
    assert [end.value for pair, end in ledger.ends if ground in pair] == ["separated"] * 2


def test_nothing_pushes_a_body_out_of_what_it_crosses():
    ghost = mover((0, 0), (1, 1), (4, 0), ec.Slide(), ec.PushOut(50), Ghost())
    box((5, 0), (2, 9))
    install(CrossesUntilApart)

    places = []
    for _ in range(4):
        esper.process(1.0)
        places.append(position(ghost)[0])

    assert places == [4, 8, 12, 16]


def test_a_one_way_body_may_be_crossed_until_both_separate():
    faller = mover((0, 4), (1, 1), (0, -2), ec.Slide(), Ghost())
    box((0, 0), (4, 1), ec.OneWay((0, 1)))
    _, system = install(CrossesUntilApart)

    for _ in range(5):
        esper.process(1.0)

    assert position(faller) == (0, -6)
    assert system.n_asked == 1


# Snapshots -------------------------------------------------------------------------------


def run(space, ghost, n):
    """Return what some steps do, bit for bit."""
    found = []
    for _ in range(n):
        esper.process(1.0)
        arrays = (space.collision_array, space.contact_array, space.positions())
        found.append(tuple(array.tobytes() for array in arrays))
        found.append((position(ghost), space.contacts()))
    return found


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_rollback_goes_on_with_the_crossing(after):
    ghost = mover((0, 0), (1, 1), (2, 0), ec.Slide(), Ghost())
    box((5, 0), (2, 9))
    space, system = install(CrossesUntilApart)
    for _ in range(after):
        esper.process(1.0)
    saved = space.snapshot()
    expected = run(space, ghost, 4)

    for _ in range(2):
        space.restore(saved)
        assert space.snapshot() == saved
        assert run(space, ghost, 4) == expected
    assert system.n_asked == (3 if after == 1 else 1)


def test_a_crossing_that_is_over_is_solid_after_a_rollback_too():
    class Once(CrossesUntilApart):
        def respond(self, impact):
            self.n_asked += 1
            if self.n_asked == 1:
                impact.cross(until_separate=True)
                return None
            return ec.DEFAULT

    ghost = mover((0, 0), (1, 1), (4, 0), ec.Slide(), Ghost())
    box((5, 0), (2, 9))
    space, _ = install(Once)
    for _ in range(3):
        esper.process(1.0)
    assert position(ghost) == (12, 0)
    space.restore(space.snapshot())
    set_velocity(ghost, -8, 0)

    esper.process(1.0)

    assert position(ghost) == (8, 0)


def test_another_process_takes_up_a_crossing(world):
    ghost = mover((0, 0), (1, 1), (4, 0), ec.Slide())
    wall = box((5, 0), (2, 9), Ghost())
    space, _ = install(CrossesUntilApart)
    esper.process(1.0)
    saved = space.snapshot()
    expected = run(space, ghost, 3)

    with another_world(f"{world}, later"):
        later = ec.install()  # where no system lets anything cross
        later.snapshot_with(Ghost)
        later.restore(saved)
        assert later.explain(ghost, wall).verdict is ec.Verdict.CROSSING
        assert run(later, ghost, 3) == expected


# What is said of it ----------------------------------------------------------------------


def test_explain_says_that_two_cross_until_they_separate():
    ghost = mover((0, 0), (1, 1), (4, 0), ec.Slide(), Ghost())
    wall = box((5, 0), (2, 9))
    space, _ = install(CrossesUntilApart)
    esper.process(1.0)

    found = space.explain(wall, ghost)

    assert found.verdict is ec.Verdict.CROSSING
    assert found.findings[0].cause == "let_cross"
    assert "makes them cross until they separate" in str(found)
    for _ in range(2):
        esper.process(1.0)
    assert space.explain(wall, ghost).verdict is ec.Verdict.SOLID


def test_explain_says_what_an_impact_is_offered_to():
    def bounce(impact):
        return ec.DEFAULT

    ghost = mover((0, 0), (1, 1), (4, 0), ec.Slide(), Ghost())
    wall = box((15, 0), (2, 9))
    other = box((35, 0), (2, 9))
    space, _ = install(Crosses)
    space.respond_with(Ghost, bounce)
    esper.process(1.0)

    found = {finding.cause: finding for finding in space.explain(wall, ghost).findings}

    assert found["offered"].message == "their impacts are offered to Crosses, then bounce"
    assert "offered" not in [finding.cause for finding in space.explain(wall, other).findings]


@pytest.mark.parametrize("first", ["cross", "resolve"])
@pytest.mark.parametrize("second", ["cross", "resolve"])
def test_an_impact_is_decided_once(first, second):
    class Twice(ec.ResponseSystem):
        def respond(self, impact):
            getattr(impact, first)()
            with pytest.raises(RuntimeError, match=r"was resolved already|crosses already"):
                getattr(impact, second)()
            impacts.append(impact)

    impacts = []
    mover((0, 0), (1, 1), (8, 0), ec.Slide())
    box((5, 0), (0.5, 9))
    space = ec.install()
    esper.add_processor(Twice(space), priority=115)

    esper.process(1.0)

    (impact,) = impacts
    assert impact.is_decided
    assert impact.crosses == ("step" if first == "cross" else None)
    with pytest.raises(RuntimeError, match="is over"):
        impact.cross()


def test_a_velocity_that_is_set_beside_a_crossing_is_kept():
    class Slows(ec.ResponseSystem):
        def respond(self, impact):
            impact.set_velocity(runner, (4, 0))
            impact.cross()

    runner = mover((0, 0), (1, 1), (8, 0), ec.Slide())
    box((7, 0), (2, 9))
    space = ec.install()
    esper.add_processor(Slows(space), priority=115)

    esper.process(1.0)

    assert position(runner) == (6, 0)
    assert velocity(runner) == (4, 0)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.CROSSED]


def test_a_crossing_of_a_body_that_is_deleted_is_none():
    class Vanishes(ec.ResponseSystem):
        def respond(self, impact):
            impact.cross(until_separate=True)
            esper.delete_entity(impact.second, immediate=True)

    runner = mover((0, 0), (1, 1), (8, 0), ec.Slide())
    box((7, 0), (2, 9))
    space = ec.install()
    esper.add_processor(Vanishes(space), priority=115)
    ledger = Ledger(space)

    for _ in range(2):
        esper.process(1.0)
        ledger.record()

    assert position(runner) == (16, 0)
    assert len(ledger.ends) == 1


def test_a_function_lets_cross_too():
    ghost = mover((0, 0), (1, 1), (8, 0), Ghost())
    box((5, 0), (0.5, 9))
    space = ec.install()
    stop = space.respond_with(Ghost, lambda impact: impact.cross())
    esper.process(1.0)
    assert position(ghost) == (8, 0)

    stop()
    space.make_dynamic(Ghost)
    esper.add_processor(Crosses(space), priority=115)
    set_velocity(ghost, -8, 0)
    esper.process(1.0)
    assert position(ghost) == (0, 0)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.CROSSED]


def test_a_crossing_of_a_step_that_was_broken_off_is_forgotten():
    class Breaks(CrossesUntilApart):
        is_broken = False

        def respond(self, impact):
            if impact.first == ghost and not self.is_broken:
                return super().respond(impact)
            if not self.is_broken:
                self.is_broken = True
                raise KeyboardInterrupt
            return ec.DEFAULT

    ghost = mover((0, 0), (1, 1), (8, 0), ec.Slide(), Ghost())
    box((5, 0), (1, 9))
    mover((0, 30), (1, 1), (8, 0), ec.Slide(), Ghost())
    box((7, 30), (2, 9))
    space, _ = install(Breaks)
    with pytest.raises(KeyboardInterrupt):
        esper.process(1.0)

    esper.process(1.0)

    assert position(ghost) == (3, 0)
    assert [hit.outcome.name for hit in space.collisions] == ["RESOLVED", "RESOLVED"]


def test_a_sleeping_body_is_crossed_where_it_lies():
    crate = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    floor = box((0, 0), (4, 1))
    space, _ = install(CrossesUntilApart)
    for _ in range(30):
        esper.process(1.0)
    assert space.stats.asleep == 1
    stone = mover((0, 10), (1, 1), (0, -8), ec.Slide(), Ghost())

    for _ in range(3):
        esper.process(1.0)

    assert position(stone) == (0, -14)
    assert position(crate) == (0, 2)
    assert [(c.first, c.second) for c in space.contacts()] == [(crate, floor)]


def test_a_body_crosses_another_at_each_of_its_images():
    # It goes around the world and through the same wall again.
    ghost = mover((50, 50), (1, 1), (250, 0), ec.Deflect(), Ghost())
    box((75, 50), (2, 4))
    space, _ = install(Crosses, wrap=(100, None))

    esper.process(1.0)

    assert [hit.outcome.name for hit in space.collisions] == ["CROSSED"] * 3
    assert position(ghost) == (0, 50)


# -- under gravity --


@pytest.mark.parametrize("kind", [Crosses, CrossesUntilApart])
def test_a_crate_on_a_thin_platform_does_not_sink_when_ghosts_cross_it(kind):
    ec_space, system = install(kind, gravity=(0, -900))
    box((0, -0.05), (100, 0.05))
    crate = mover((0, 4), (4, 4), (0, 0), ec.Slide())

    for _ in range(20):
        ghost = mover((1, 12), (1, 1), (0, -600), ec.Slide(), Ghost())
        for _ in range(4):
            esper.process(1 / 60)
            assert (position(crate), velocity(crate)) == ((0, 4), (0, 0))
        esper.delete_entity(ghost, immediate=True)

    assert system.n_asked >= 20
    assert ec_space.is_on(crate, (0, 1)) is not None


def test_a_ghost_that_falls_through_a_crate_follows_its_parabola():
    install(gravity=(0, -64))
    mover((0, 0), (1, 1), (0, 0), ec.Slide(), ec.GravityScale(0))
    ghost = mover((0, 8), (1, 1), (3, 0), ec.Slide(), Ghost(), ec.Damping(0.0))

    esper.process(0.5)

    assert position(ghost) == (1.5, 0)
    assert velocity(ghost) == (3, -32)


def test_a_response_that_sets_a_velocity_and_lets_cross_leaves_the_floor_solid():
    class TurnsAndCrosses(Crosses):
        def respond(self, impact):
            self.n_asked += 1
            impact.set_velocity(crate, (30, 0))
            impact.cross()

    _, system = install(TurnsAndCrosses, gravity=(0, -900))
    box((0, -0.05), (100, 0.05))
    crate = mover((0, 4), (4, 4), (0, 0), ec.Slide())
    mover((0, 12), (1, 1), (0, -600), ec.Slide(), Ghost())

    esper.process(1 / 60)

    assert system.n_asked == 1
    assert position(crate)[1] == 4
    assert velocity(crate) == (30, 0)


def test_a_crate_keeps_its_path_when_a_response_deletes_what_hits_it():
    class Deletes(Crosses):
        def respond(self, impact):
            esper.delete_entity(impact.other(crate), immediate=True)

    space, _ = install(Deletes, gravity=(0, -900))
    floor = box((0, -0.05), (100, 0.05))
    crate = mover((0, 4), (4, 4), (0, 0), ec.Slide())
    mover((0, 12), (1, 1), (0, -600), ec.Slide(), Ghost())

    esper.process(1 / 60)

    assert position(crate) == (0, 4)
    assert [(hit.time, hit.first) for hit in space.collisions if hit.first == floor] == [(0, floor)]


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("second", ["cross", "resolve"])
@pytest.mark.parametrize(("first", "speed"), [("cross", 8), ("resolve", -4)])
def test_of_two_functions_that_decide_the_first_does(dim, first, second, speed):
    class Rubber:
        pass

    def bounce_or_cross(impact):
        impact.cross() if first == "cross" else impact.resolve(ec.Deflect(0.5))

    def lift(impact):
        getattr(impact, second)()
        impact.set_velocity(ball, (impact.velocity(ball)[0], 1, *still[2:]))

    still = (0,) * dim
    space = ec.install(dim=dim)
    space.respond_with(Ghost, bounce_or_cross)
    space.respond_with(Rubber, lift)
    ball = mover(still, (1,) * dim, (8, *still[1:]), Ghost())
    box((5, *still[1:]), (0.5, *(9,) * (dim - 1)), Rubber())

    esper.process(1.0)

    assert velocity(ball) == (speed, 1)
    decided = ec.Outcome.CROSSED if first == "cross" else ec.Outcome.RESOLVED
    assert space.collisions[0].outcome is decided
