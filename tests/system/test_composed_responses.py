"""Several response systems in one world: who is offered which impact, and in which order."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import another_world, box, mixed_log, mover, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Portal:
    """A custom component."""


class Spring:
    """Another."""


class Notes(ec.ResponseSystem):
    """Notes its name and the entities, and answers with what it was told to return."""

    notes: list
    returns = ec.DEFAULT

    def respond(self, impact):
        self.notes.append((type(self).__name__, impact.first, impact.second))
        return self.returns


def system(name, notes, base=Notes, **attributes):
    """Make a class of response systems."""
    return type(name, (base,), {"notes": notes, **attributes})


def ball_and_wall(*components, speed=8, y=0):
    """Create a ball that meets a wall at half of a step of one second."""
    ball = mover((0, y), (1, 1), (speed, 2), *(components or (ec.Slide(),)))
    return ball, box((3 + speed / 2, y), (2, 4))


# Order -----------------------------------------------------------------------------------


def test_systems_are_offered_an_impact_by_priority_and_then_by_order_of_adding():
    notes = []
    ball_and_wall()
    space = ec.install()
    for name, priority in [("Low", 111), ("One", 115), ("Two", 115), ("High", 119)]:
        esper.add_processor(system(name, notes)(space), priority=priority)

    esper.process(1.0)

    assert [name for name, *_ in notes] == ["High", "One", "Two", "Low"]


def test_a_system_is_offered_what_those_before_it_have_left():
    notes = []
    left, right = ball_and_wall()
    space = ec.install()
    esper.add_processor(system("First", notes)(space), priority=118)
    esper.add_processor(system("Second", notes, returns=None)(space), priority=116)
    esper.add_processor(system("Third", notes)(space), priority=114)

    esper.process(1.0)

    assert notes == [("First", left, right), ("Second", left, right)]
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.FORCED]


@pytest.mark.parametrize("priority", [119, 115, 105, 50, 0, 400])
def test_a_system_is_offered_impacts_wherever_it_is_as_long_as_another_is_in_place(priority):
    notes = []
    ball, _ = ball_and_wall()
    space = ec.install()
    esper.add_processor(system("Mine", notes)(space), priority=priority)

    for _ in range(2):
        esper.process(1.0)
        esper.component_for_entity(ball, ec.Velocity).x = 8.0

    assert len(notes) == 2
    assert position(ball)[0] == 4
    assert [found.cause for found in space.doctor()] == []


def test_a_system_that_alone_is_out_of_place_says_so():
    ball_and_wall()
    space = ec.install()
    esper.remove_processor(ec.ResponseSystem)
    esper.add_processor(system("Mine", [])(space))

    with pytest.raises(RuntimeError, match="ResponseSystem was run out of order"):
        esper.process(1.0)
    assert "system_order" in [found.cause for found in space.doctor()]


def test_systems_are_asked_before_functions_and_functions_before_the_built_in_response():
    notes = []
    ball, _ = ball_and_wall(ec.Deflect(), Portal())
    space = ec.install()
    space.respond_with(Portal, lambda impact: notes.append(("function",)) or ec.DEFAULT)
    esper.add_processor(system("System", notes)(space), priority=105)

    esper.process(1.0)

    assert [name for name, *_ in notes] == ["System", "function"]
    assert velocity(ball) == (-8, 2)


def test_a_function_is_not_called_for_what_a_system_has_resolved():
    notes = []
    ball_and_wall(ec.Deflect(), Portal())
    space = ec.install()
    space.respond_with(Portal, lambda impact: notes.append("function"))
    esper.add_processor(system("System", notes, returns=None)(space), priority=115)

    esper.process(1.0)

    assert [note[0] for note in notes] == ["System"]


def test_two_systems_and_the_built_in_one_share_the_impacts_of_a_step():
    class Flips(ec.ResponseSystem):
        handles = Spring

        def respond(self, impact):
            for entity in (impact.first, impact.second):
                if esper.has_component(entity, ec.Velocity):
                    impact.set_velocity(entity, (-2 * impact.velocity(entity)[0], 0))

    class Passes(ec.ResponseSystem):
        handles = Portal

        def respond(self, impact):
            impact.cross()

    plain, _ = ball_and_wall()
    flung, _ = ball_and_wall(ec.Slide(), Spring(), y=20)
    ghost, _ = ball_and_wall(ec.Slide(), Portal(), y=40)
    space = ec.install()
    esper.add_processor(Flips(space), priority=115)
    esper.add_processor(Passes(space), priority=115)

    esper.process(1.0)

    assert [velocity(ball) for ball in (plain, flung, ghost)] == [(0, 2), (-16, 0), (8, 2)]
    assert [hit.outcome for hit in space.collisions] == [
        ec.Outcome.RESOLVED,
        ec.Outcome.RESOLVED,
        ec.Outcome.CROSSED,
    ]
    assert space.stats.resolutions == 2


# What the event says -----------------------------------------------------------------------


@pytest.mark.parametrize("n_systems", [1, 2, 3])
def test_an_impact_that_every_system_leaves_is_resolved_and_not_forced(n_systems):
    ball, _ = ball_and_wall(ec.Deflect(0.5))
    space = ec.install()
    for number in range(n_systems):
        esper.add_processor(system(f"Leaves{number}", [])(space), priority=111 + number)

    esper.process(1.0)

    assert velocity(ball) == (-4, 2)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.RESOLVED]
    assert space.stats.forced == 0


def test_a_bounce_that_a_system_has_set_before_it_leaves_the_impact_is_kept():
    # It turns the ball round, and then asks for the built-in response, which would turn it back.
    class Turns(ec.ResponseSystem):
        def respond(self, impact):
            impact.set_velocity(ball, (-3, 0))
            return ec.DEFAULT

    ball, _ = ball_and_wall(ec.Deflect())
    space = ec.install()
    esper.add_processor(Turns(space), priority=115)

    esper.process(1.0)

    assert velocity(ball) == (-3, 0)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.RESOLVED]


@pytest.mark.parametrize("dim", [2, 3])
def test_systems_that_leave_all_impacts_change_no_bit(dim, world):
    expected = mixed_log(40, dim=dim)

    def make():
        space = ec.install(dim=dim)
        for number in range(3):
            esper.add_processor(system(f"Leaves{number}", [])(space), priority=111 + number)
        return space

    with another_world(f"{world} composed"):
        assert mixed_log(40, dim=dim, make_space=make) == expected


@pytest.mark.slow_in_python
@pytest.mark.parametrize("dim", [2, 3])
def test_asking_for_the_built_in_response_changes_no_bit(dim, world):
    class Asks(ec.ResponseSystem):
        def respond(self, impact):
            impact.resolve()

    expected = mixed_log(40, dim=dim)

    def make():
        space = ec.install(dim=dim)
        esper.add_processor(Asks(space), priority=115)
        return space

    with another_world(f"{world} asking"):
        assert mixed_log(40, dim=dim, make_space=make) == expected


# handles ---------------------------------------------------------------------------------


class Late(esper.Processor):
    """Adds a response system when the step has begun."""

    def __init__(self, joins):
        self.joins = joins

    def process(self, dt=1.0):
        esper.add_processor(self.joins, priority=115)


@pytest.mark.parametrize("is_late", [False, True])
def test_a_system_is_offered_only_impacts_of_the_component_that_it_handles(is_late):
    notes = []
    ball_and_wall()
    marked, wall = ball_and_wall(ec.Slide(), Portal(), y=20)
    other, post = ball_and_wall(y=40)
    esper.add_component(post, Portal())
    space = ec.install()
    portals = system("Portals", notes, handles=Portal)(space)
    if is_late:
        esper.add_processor(Late(portals), priority=125)
    else:
        esper.add_processor(portals, priority=115)

    esper.process(1.0)

    assert notes == [("Portals", marked, wall), ("Portals", other, post)]
    assert len(space.collisions) == 3


def test_a_system_may_handle_several_components():
    notes = []
    ball_and_wall()
    one, wall = ball_and_wall(ec.Slide(), Portal(), y=20)
    two, post = ball_and_wall(ec.Slide(), Spring(), y=40)
    space = ec.install()
    esper.add_processor(system("Both", notes, handles=(Portal, Spring))(space), priority=115)

    esper.process(1.0)

    assert notes == [("Both", one, wall), ("Both", two, post)]


def test_a_system_may_handle_a_component_of_the_library():
    notes = []
    ball_and_wall()
    ball, wall = ball_and_wall(ec.Deflect(), y=20)
    space = ec.install()
    esper.add_processor(system("Bounces", notes, handles=ec.Deflect)(space), priority=115)

    esper.process(1.0)

    assert notes == [("Bounces", ball, wall)]
    assert velocity(ball) == (-8, 2)


def test_a_handled_component_makes_no_body_dynamic():
    notes = []
    ghost = mover((0, 0), (1, 1), (8, 0), Portal())
    box((7, 0), (2, 9))
    space = ec.install()
    esper.add_processor(system("Portals", notes, handles=Portal)(space), priority=115)

    esper.process(1.0)

    assert notes == []
    assert position(ghost) == (8, 0)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.CROSSED]


def test_a_component_that_comes_and_goes_is_handled_from_the_next_step_on():
    notes = []
    ball, wall = ball_and_wall(ec.Deflect())
    space = ec.install()
    esper.add_processor(system("Portals", notes, handles=Portal)(space), priority=115)

    counts = []
    for change in (None, esper.add_component, None, esper.remove_component, None):
        if change is esper.add_component:
            esper.add_component(wall, Portal())
        elif change is not None:
            esper.remove_component(wall, Portal)
        esper.component_for_entity(ball, ec.Position).xy = (0, 0)
        esper.component_for_entity(ball, ec.Velocity).xy = (8, 0)
        esper.process(1.0)
        counts.append(len(notes))

    assert counts == [0, 1, 2, 2, 2]


def test_other_impacts_do_not_leave_the_kernel():
    ball_and_wall()
    ball_and_wall(ec.Slide(), Portal(), y=20)
    space = ec.install()
    taken = []
    take = space._responses._make_impact
    space._responses._make_impact = lambda: taken.append(None) or take()
    esper.add_processor(system("Portals", [], handles=Portal)(space), priority=115)

    esper.process(1.0)

    assert (len(taken), len(space.collisions)) == (1, 2)


def test_impacts_do_not_leave_the_kernel_once_the_system_that_handles_them_is_removed():
    ball, _ = ball_and_wall(ec.Slide(), Portal())
    space = ec.install()
    taken = []
    take = space._responses._make_impact
    space._responses._make_impact = lambda: taken.append(None) or take()
    portals = system("Portals", [], handles=Portal)
    esper.add_processor(portals(space), priority=115)
    counts = []

    for is_added in (True, False, True):
        if not is_added:
            esper.remove_processor(portals)
        elif counts:
            esper.add_processor(portals(space), priority=115)
        set_velocity(ball, 8, 0)
        esper.process(1.0)
        counts.append(len(taken))
        assert len(space.collisions) == 1

    assert counts == [1, 1, 2]


@pytest.mark.parametrize("handles", ["Portal", (Portal, 3), 7, ()])
def test_handles_that_name_no_component_types_are_refused(handles):
    space = ec.install()

    with pytest.raises(TypeError, match=r"Wrong\.handles"):
        system("Wrong", [], handles=handles)(space)


# Undoing ---------------------------------------------------------------------------------


def test_a_system_that_was_removed_is_offered_no_impacts():
    notes = []
    mine = system("Mine", notes, handles=Portal)
    ball, _ = ball_and_wall(ec.Deflect(), Portal())
    space = ec.install()
    esper.add_processor(mine(space), priority=115)
    esper.process(1.0)
    esper.remove_processor(mine)
    esper.component_for_entity(ball, ec.Velocity).xy = (8, 0)

    for _ in range(3):
        esper.process(1.0)

    assert len(notes) == 1
    assert space.explain(*space.entities).findings[-1].cause != "offered"


def test_a_component_makes_bodies_dynamic_until_that_is_taken_back():
    ball = mover((0, 0), (1, 1), (8, 0), Spring())
    box((7, 0), (2, 9))
    space = ec.install()
    stop = space.make_dynamic(Spring)

    esper.process(1.0)
    assert position(ball) == (4, 0)
    assert velocity(ball) == (0, 0)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.RESOLVED]

    stop()
    stop()
    esper.component_for_entity(ball, ec.Velocity).x = 8.0
    esper.process(1.0)
    assert position(ball) == (12, 0)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.CROSSED]


def test_what_makes_bodies_dynamic_twice_has_to_be_taken_back_twice():
    # By name, and by a function that answers.
    ball = mover((0, 0), (1, 1), (8, 0), Spring())
    wall = box((7, 0), (2, 9))
    space = ec.install()
    undo = space.make_dynamic(Spring)
    stop_resolving = space.respond_with(Spring, lambda impact: ec.DEFAULT)
    assert space.explain(ball, wall).verdict is ec.Verdict.SOLID

    stop_resolving()
    assert space.explain(ball, wall).verdict is ec.Verdict.SOLID
    esper.process(1.0)
    assert position(ball) == (4, 0)

    undo()
    assert space.explain(ball, wall).verdict is ec.Verdict.CROSSING


def test_make_dynamic_refuses_what_is_no_component_type():
    with pytest.raises(TypeError, match="component="):
        ec.Space().make_dynamic("Spring")


# Resolving as another response -----------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "after"),
    [
        (ec.Deflect(), (-3, 4)),
        (ec.Deflect(0.5), (-1.5, 4)),
        (ec.Slide(), (0, 4)),
        (ec.Push(), (0, 5)),
        (ec.Stop(), (0, 0)),
        (None, (0, 0)),
    ],
)
def test_an_impact_is_resolved_as_a_component_says(response, after):
    class Resolves(ec.ResponseSystem):
        def respond(self, impact):
            impact.resolve(response)
            seen.append(impact.velocity(ball))

    seen = []
    ball = mover((0, 0), (1, 1), (3, 4), ec.Stop())
    box((3.5, 0), (1, 9))
    space = ec.install()
    esper.add_processor(Resolves(space), priority=115)

    esper.process(1.0)

    assert seen == [after]
    assert velocity(ball) == after
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.RESOLVED]
    assert esper.has_component(ball, ec.Stop)


def test_of_two_dynamic_bodies_both_follow_the_component():
    class Bounces(ec.ResponseSystem):
        def respond(self, impact):
            impact.resolve(ec.Deflect())

    left = mover((0, 0), (1, 1), (4, 0), ec.Slide(), ec.Mass(3))
    right = mover((6, 0), (1, 1), (-4, 0), ec.Stop())
    space = ec.install()
    esper.add_processor(Bounces(space), priority=115)

    esper.process(1.0)

    assert (velocity(left), velocity(right)) == ((0, 0), (8, 0))


def test_a_resolved_impact_is_offered_to_nobody_else_whatever_is_returned():
    class Resolves(ec.ResponseSystem):
        def respond(self, impact):
            impact.resolve(ec.Deflect())
            return ec.DEFAULT

    notes = []
    ball, _ = ball_and_wall()
    space = ec.install()
    esper.add_processor(Resolves(space), priority=118)
    esper.add_processor(system("Later", notes)(space), priority=115)

    esper.process(1.0)

    assert notes == []
    assert velocity(ball) == (-8, 2)


@pytest.mark.parametrize("wrong", [ec.Sensor(), ec.Slide, "slide", 0.5, ec.Friction(0.5)])
def test_what_is_no_response_is_refused_as_a_resolution(wrong):
    class Resolves(ec.ResponseSystem):
        def respond(self, impact):
            with pytest.raises(TypeError, match="must be a Deflect, Slide, Push or Stop"):
                impact.resolve(wrong)
            asked.append(impact.is_decided)
            return ec.DEFAULT

    asked = []
    ball, _ = ball_and_wall()
    space = ec.install()
    esper.add_processor(Resolves(space), priority=115)

    esper.process(1.0)

    assert asked == [False]
    assert velocity(ball) == (0, 2)


def test_an_impossible_restitution_is_refused_as_a_resolution():
    class Resolves(ec.ResponseSystem):
        def respond(self, impact):
            rubber = ec.Deflect()
            rubber.restitution = 2.0
            impact.resolve(rubber)

    ball, _ = ball_and_wall()
    space = ec.install()
    esper.add_processor(Resolves(space), priority=115)

    with pytest.raises(ValueError, match="restitution from 0 to 1"):
        esper.process(1.0)
    assert velocity(ball) == (0, 2)


# Errors ----------------------------------------------------------------------------------


def test_an_impact_is_offered_to_the_next_system_when_one_fails():
    class Fails(ec.ResponseSystem):
        def respond(self, impact):
            raise LookupError("the game's own fault")

    notes = []
    ball, wall = ball_and_wall(ec.Deflect())
    space = ec.install()
    esper.add_processor(Fails(space), priority=118)
    esper.add_processor(system("Later", notes)(space), priority=115)

    with pytest.raises(LookupError, match="own fault"):
        esper.process(1.0)

    assert notes == [("Later", ball, wall)]
    assert velocity(ball) == (-8, 2)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.RESOLVED]
    esper.remove_processor(Fails)
    esper.process(1.0)
    space.check()


def test_a_system_that_deletes_a_body_ends_the_offering():
    class Shatters(ec.ResponseSystem):
        def respond(self, impact):
            esper.delete_entity(impact.second, immediate=True)
            return ec.DEFAULT

    notes = []
    ball, _ = ball_and_wall()
    space = ec.install()
    esper.add_processor(Shatters(space), priority=118)
    esper.add_processor(system("Later", notes)(space), priority=115)

    esper.process(1.0)

    assert notes == []
    assert position(ball) == (8, 2)


# Repeatability ---------------------------------------------------------------------------


def test_the_order_of_offers_does_not_depend_on_the_order_in_which_entities_are_made(world):
    def play(order):
        notes = []
        space = ec.install()
        for name, priority in [("Low", 111), ("High", 119)]:
            esper.add_processor(system(name, notes)(space), priority=priority)
        entities = [esper.create_entity() for _ in range(12)]
        for number in order:
            x = 4.0 * number
            parts = ec.Position(x, 0), ec.Extents(1, 1), ec.Velocity(20 * (-1) ** number, 0)
            for part in (*parts, ec.Deflect()):
                esper.add_component(entities[number], part)
        for _ in range(4):
            esper.process(0.25)
        return notes

    expected = play(range(12))
    for turn in range(3):
        order = list(range(12))
        random.Random(turn).shuffle(order)
        with another_world(f"{world} {turn}"):
            assert play(order) == expected
    assert len(expected) > 40
