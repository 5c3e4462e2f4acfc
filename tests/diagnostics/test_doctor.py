"""What `explain` and `doctor` say: the cause of each surprise, in a sentence."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from fractions import Fraction

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from tests.scenes import another_world, box, mover, of
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world")


class Hover(ec.Velocity):
    """A game's own kind of velocity."""


class Tagged:
    """A game's own response."""


class Other(esper.Processor):
    """A system of the game."""

    def process(self, dt=1.0):
        """Do nothing."""


@pytest.fixture
def space(world):
    return ec.install()


def causes(findings):
    return [finding.cause for finding in findings]


@pytest.fixture
def runner(world):
    return mover((0, 0), (1, 1), (1, 0), ec.Slide())


@pytest.fixture
def wall(world):
    return box((5, 0), (1, 1))


# -- explain --


def test_two_that_will_meet(runner, wall, space):
    esper.process(1.0)

    answer = space.explain(wall, runner)

    assert answer.verdict is ec.Verdict.SOLID
    assert (answer.first, answer.second) == (runner, wall)
    assert str(answer) == (
        f"entities {runner} and {wall} collide when they meet: gap 2 on x, closing by 1 a second"
    )
    of(runner, ec.Velocity).x = 4.0
    assert "left alone they meet in 0.5 seconds" in str(space.explain(runner, wall))


def test_two_that_met_in_the_last_step(runner, wall, space):
    of(runner, ec.Velocity).x = 6.0
    esper.process(1.0)

    text = str(space.explain(runner, wall))

    assert "they touch on x" in text
    assert "in the last step they met 1 time(s), first at time 0.5: RESOLVED" in text


def test_a_gap_names_the_axis_and_whether_it_closes(runner, space):
    ledge = box((3, -2.3), (1, 1))

    found = space.explain(runner, ledge).findings

    assert [str(f) for f in found if f.cause == "gap"] == [
        "gap 1 on x, closing by 1 a second",
        "gap 0.3 on y, which does not close",
    ]


@pytest.mark.parametrize(
    ("components", "cause", "text"),
    [
        ((ec.Position(5, 0),), "no_extents", "has Position but no Extents"),
        ((ec.Extents(1, 1), ec.Stop()), "no_position", "has Extents but no Position"),
        ((ec.Slide(),), "no_body", "has Slide but neither Position nor Extents"),
        ((Tagged(),), "no_body", "has no component that the space reads"),
    ],
)
def test_what_is_no_body(components, cause, text, runner, space):
    entity = esper.create_entity(*components)

    answer = space.explain(runner, entity)

    assert answer.verdict is ec.Verdict.IGNORED
    assert causes(f for f in answer.findings if f.entities == (entity,)) == [cause]
    assert f"entity {entity} {text}" in str(answer)


def test_one_that_does_not_exist_is_deleted_or_new(runner, wall, space):
    late = box((9, 9), (1, 1))
    assert f"entity {late} is new since the last step" in str(space.explain(runner, late))
    esper.process(1.0)
    assert "new" not in str(space.explain(runner, late))

    esper.add_component(late, ec.Mass(2))
    assert "has got or lost components since the last step" in str(space.explain(runner, late))
    esper.delete_entity(late)
    assert "is deleted, and gone with the next esper.process()" in str(space.explain(runner, late))
    esper.process(1.0)
    answer = space.explain(runner, late)
    assert str(answer).endswith(f"cannot collide: entity {late} does not exist")
    assert answer.verdict is ec.Verdict.IGNORED


def test_one_and_the_same(runner, space):
    assert "one and the same" in str(space.explain(runner, runner))


def test_a_pair_at_rest_is_not_looked_at(wall, space):
    other = box((6, 0), (1, 1))
    esper.process(1.0)

    answer = space.explain(wall, other)
    assert answer.verdict is ec.Verdict.IGNORED
    assert "both are without Velocity and Growth" in str(answer)

    of(other, ec.Position).x = 6.5
    answer = space.explain(wall, other)
    assert answer.verdict is ec.Verdict.CROSSING
    assert "the game has set where entity" in str(answer)
    esper.process(1.0)
    assert len(space.contacts()) == 1  # and so it was


def test_neither_is_dynamic(runner, wall, space):
    esper.remove_component(runner, ec.Slide)

    answer = space.explain(runner, wall)

    assert answer.verdict is ec.Verdict.CROSSING
    assert "neither is dynamic: that takes Velocity, a response" in str(answer)


def test_a_sensor_is_crossed(runner, wall, space):
    esper.add_component(wall, ec.Sensor())

    answer = space.explain(runner, wall)

    assert answer.verdict is ec.Verdict.CROSSING
    assert f"entity {wall} is a Sensor, which is crossed" in str(answer)


@pytest.mark.parametrize(
    ("components", "cause", "text"),
    [
        ((ec.Stop(),), "several_responses", "Stop and Slide: Stop wins"),
        ((ec.Deflect(), ec.Stop()), "several_responses", "Stop and Slide and Deflect: Stop wins"),
        ((ec.Sensor(),), "sensor_wins", "Slide and Sensor: Sensor wins"),
        ((ec.Mass(math.inf),), "infinite_mass", "Slide and an infinite Mass: nothing pushes it, "),
    ],
)
def test_components_that_have_no_effect(components, cause, text, runner, wall, space):
    for component in components:
        esper.add_component(runner, component)

    assert f"entity {runner} has {text}" in str(space.explain(runner, wall))
    assert causes(space.doctor()) == [cause]


def test_a_response_without_velocity(wall, runner, space):
    esper.add_component(wall, ec.Deflect())

    assert "has Deflect but no Velocity: it is static" in str(space.explain(runner, wall))


def test_a_response_of_the_games_own_counts(runner, wall, space):
    esper.remove_component(runner, ec.Slide)
    esper.add_component(runner, Tagged())
    assert space.explain(runner, wall).verdict is ec.Verdict.CROSSING

    space.respond_with(Tagged, lambda impact: ec.DEFAULT)

    assert space.explain(runner, wall).verdict is ec.Verdict.SOLID


def test_a_subclass_that_esper_does_not_find(runner, space):
    entity = box((5, 0), (1, 1), Hover(1, 0))

    text = f"entity {entity} has a Hover, a subclass of Velocity under which esper does not find it"
    assert text in str(space.explain(runner, entity))
    assert [finding.entities for finding in space.doctor()] == [(entity,)]

    esper.remove_component(entity, Hover)
    esper.add_component(entity, Hover(1, 0), type_alias=ec.Velocity)
    assert space.doctor() == []


def test_a_quarantine_from_its_cause_to_its_end(runner, wall, space):
    esper.process(0.0)
    of(runner, ec.Velocity).x = math.nan
    before = space.explain(runner, wall)
    with pytest.warns(RuntimeWarning):
        esper.process(0.0)
    during = space.explain(runner, wall)
    of(runner, ec.Velocity).x = 1.0
    mended = space.explain(runner, wall)
    esper.process(0.0)

    assert [a.verdict for a in (before, during)] == [ec.Verdict.IGNORED] * 2
    assert "is skipped by the next step: Velocity.x is nan, it must be finite" in str(before)
    assert f"entity {runner} is quarantined: Velocity.x is nan since step 1" in str(during)
    assert "was put right since" in str(mended)
    assert space.explain(runner, wall).verdict is ec.Verdict.SOLID
    assert space.doctor() == []


def test_a_quarantine_within_its_step_and_after_the_game_has_cleared_the_reports(runner, space):
    other = mover((0, 9), (1, 1), (9, 0), ec.Slide(), Tagged())
    box((5, 9), (1, 1))
    said = []
    space.respond_with(Tagged, lambda impact: said.extend(space.doctor()))
    of(runner, ec.Velocity).x = math.nan
    with pytest.warns(RuntimeWarning):
        esper.process(1.0)

    assert [str(finding) for finding in said] == [
        f"entity {runner} is quarantined: Velocity.x is nan since step 0"
    ]
    space.reports.clear()
    assert str(space.doctor()[0]) == (
        f"entity {runner} is quarantined: Velocity.x is nan, "
        "it must be finite and within -2**500 ... 2**500"
    )
    assert space.explain(runner, other).verdict is ec.Verdict.IGNORED


def test_what_is_no_number(runner, wall, space):
    of(runner, ec.Velocity).x = "east"
    assert "Velocity.x is 'east', which is no number" in str(space.explain(runner, wall))

    del of(runner, ec.Velocity).x
    assert causes(space.doctor()) == ["no_number"]


def test_a_step_in_milliseconds(space):
    esper.process(16.67)
    assert causes(space.doctor()) == ["long_step"]
    assert "the last step was 16.67 seconds long" in str(space.doctor())

    esper.process(1.0)  # one frame: velocities are in units per frame
    assert space.doctor() == []


def test_two_that_are_inside_each_other(space):
    box((0, 0), (2, 2))
    inside = mover((1.5, 0), (1, 1), (-1, 0), ec.Slide())
    esper.process(1.0)

    text = "inside each other, 1.5 deep on x: they may part"
    assert text in str(space.explain(1, inside))
    assert [(f.cause, f.entities) for f in space.doctor()] == [("inside", (1, inside))]
    assert text in str(space.doctor()[0])

    of(inside, ec.Velocity).x = 2.0
    esper.process(1.0)
    assert space.doctor() == []


def test_two_that_are_inside_each_other_are_told_what_moves_them_out(space):
    floor = box((0, 0), (2, 2))
    sunk = mover((1.5, 0), (1, 1), (0, 0), ec.Slide())
    box((3.5, 0), (1, 5)), box((-1.5, 3), (3, 1)), box((-1.5, -3), (3, 1))  # no way out
    esper.process(1.0)
    text = "nothing pushes them out: that takes PushOut on one that is dynamic"
    assert text in str(space.explain(floor, sunk))
    assert text in str(space.doctor())

    esper.add_component(sunk, ec.PushOut(10))
    esper.process(1.0)
    text = "PushOut moves one of them out when nothing is in its way"
    assert text in str(space.explain(floor, sunk))
    assert text in str(space.doctor())


def test_a_corner_is_no_contact(runner, space):
    corner = box((2, 2), (1, 1))

    assert "they touch at a corner only" in str(space.explain(runner, corner))


def test_explaining_a_foreign_world_is_refused(runner, wall, space, world):
    with another_world(f"{world} beyond"):
        with pytest.raises(RuntimeError, match="is current"):
            space.explain(runner, wall)
        with pytest.raises(RuntimeError, match="is current"):
            space.doctor()
    with pytest.raises(RuntimeError, match="belongs to no world yet"):
        ec.Space().doctor()


# -- doctor --


def test_a_sound_world_has_no_findings(runner, wall, space):
    mover((0, 9), (1, 1), (1, 0), ec.Deflect(), ec.Mass(3))
    box((5, 9), (1, 1), ec.Sensor())
    esper.create_entity(Tagged())
    for _ in range(3):
        esper.process(1 / 60)

    assert space.doctor() == []


def test_what_is_true_of_many_is_said_once(space):
    marks = [esper.create_entity(ec.Position(i, 0)) for i in range(9)]

    (finding,) = space.doctor()

    assert finding.cause == "no_extents"
    assert finding.entities == tuple(marks)
    assert str(finding) == (
        "entity 1 has Position but no Extents: a body has both "
        "(the same of 8 more: 2, 3, 4, 5, 6, ...)"
    )


def test_a_game_that_moves_what_the_library_moves(runner, wall, space):
    for n in range(5):  # the first step has not seen it anywhere before
        assert causes(space.doctor()) == (["teleports"] if n > 3 else [])
        place, speed = of(runner, ec.Position), of(runner, ec.Velocity)
        place.x += speed.x / 60
        esper.process(1 / 60)
    assert "before each of the last 4 steps: each is a teleport" in str(space.doctor()[0])

    esper.process(1 / 60)
    assert space.doctor() == []


def test_z_in_a_flat_space(runner, space):
    of(runner, ec.Position).z = 2.0

    assert "Position.z = 2.0, which a space of 2 axes does not read" in str(space.doctor()[0])


def test_a_limit_that_was_reached(space):
    mover((0, 1000), (1, 1), (1e4, 0), ec.Deflect())
    box((-3, 1000), (1, 5))
    box((3, 1000), (1, 5))
    esper.process(1.0)

    assert causes(space.doctor()) == ["pair_limit"]


def test_bodies_that_were_held_or_took_turns(space):
    for n in range(600):  # planes an ulp apart
        mover((1 + n * 2.0**-52, 1000), (0, 1), (0, n % 2), ec.Deflect())
    esper.process(1.0)

    assert "waiting" in causes(space.doctor())


def test_a_step_in_which_one_body_is_hit_too_often(space):
    # 128 bullets hit one body from above, one after another, and each hit turns it.
    def shoot(x):
        mover((x, 1000), (200, 1), (0, 0), ec.Deflect(), ec.Mass(1e6))
        for n in range(128):
            mover((x + 3.0 * n - 192, 1010 + n), (1, 1), (0, -200), ec.Deflect())

    shoot(0)
    esper.process(1.0)
    assert causes(space.doctor()) == ["sweep_limit"]

    space.pair_limit = 10_000
    shoot(9000)
    esper.process(1.0)

    (finding,) = (found for found in space.doctor() if found.cause == "many_sweeps")
    assert f"took {space.stats.sweeps} swept tests for {space.stats.pairs} pairs" in str(finding)


@pytest.mark.parametrize(
    ("change", "cause", "text"),
    [
        (lambda: esper.remove_processor(ec.MotionSystem), "system_missing", ": nothing moves"),
        (
            lambda: esper.remove_processor(ec.ResponseSystem),
            "no_response_system",
            "ResponseSystem is missing: impacts are reported and not resolved",
        ),
        (lambda: esper.add_processor(Other(), 115), "system_between", "Other runs between"),
    ],
)
def test_systems_that_are_not_as_install_makes_them(change, cause, text, space):
    change()

    (finding,) = space.doctor()

    assert finding.cause == cause
    assert text in str(finding)


def test_systems_of_the_game_outside_the_four_are_no_finding(space):
    esper.add_processor(Other(), 131)
    esper.add_processor(Other(), 0)

    assert space.doctor() == []


def test_systems_are_found_one_by_one_where_esper_does_not_list_them(space, monkeypatch):
    monkeypatch.delattr(esper, "_processors")
    assert space.doctor() == []

    esper._processors_dict.pop(ec.MotionSystem)
    assert causes(space.doctor()) == ["system_missing"]
    monkeypatch.undo()


def test_a_space_without_systems(world):
    space = ec.install()
    for system in (ec.BroadphaseSystem, ec.NarrowphaseSystem, ec.ResponseSystem, ec.MotionSystem):
        esper.remove_processor(system)

    assert causes(space.doctor()) == ["no_systems"]


@pytest.mark.parametrize(
    ("y", "x", "slope", "doctor", "explain"),
    [
        (5, 6, {}, [], ["touching"]),
        (6, 6, {}, [], ["gap"]),
        (4.5, 6, {}, ["inside"], ["inside"]),
        (1, 6, {"ceiling": True}, [], ["touching"]),
        (3, 6, {"high": 0.5}, [], ["touching"]),
        (5, 15, {"high": 0.5}, [], ["touching"]),
    ],
    ids=["on the line", "above", "beyond", "ceiling", "lower than its box", "on its top"],
)
def test_most_of_the_box_of_a_slope_is_air(y, x, slope, doctor, explain):
    ramp = esper.create_entity(ec.Position(8, 4), ec.Extents(8, 4), ec.Slope("right", **slope))
    crate = mover((x, y), (2, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1)

    found = causes(space.explain(ramp, crate).findings)

    assert causes(space.doctor()) == doctor
    assert [cause for cause in found if cause != "met"] == explain


class TestOtherGames:
    """Spaces whose games move the bodies, or have components of their own."""

    def test_a_wall_with_a_custom_response_is_in_order(self, world):
        class Bumper: ...

        def bumper(x, *components):
            return esper.create_entity(ec.Position(x, 0), ec.Extents(1, 1), Bumper(), *components)

        bumper(0)
        bumper(5, ec.Velocity(1, 0), ec.Mass(math.inf))
        crate = bumper(10, ec.Slide())
        space = ec.install()
        space.respond_with(Bumper, lambda impact: ec.DEFAULT)
        esper.process(0)

        (finding,) = space.doctor()
        assert (finding.cause, finding.entities) == ("no_velocity", (crate,))
        assert "has Slide but no Velocity" in finding.message

    def test_a_game_that_moves_its_bodies_needs_no_velocity(self, world):
        crate = esper.create_entity(ec.Position(0, 2.25), ec.Extents(1, 1), ec.Slide())
        floor = esper.create_entity(ec.Position(0, 0), ec.Extents(5, 1))
        space = ec.install(ec.Space(motion="swept"))
        for _ in range(5):
            esper.component_for_entity(crate, ec.Position).x += 0.1
            esper.process(1 / 60)

        assert space.doctor() == []
        told = space.explain(crate, floor)
        assert told.verdict is ec.Verdict.SOLID
        assert "gap 0.25 on y" in str(told)
        esper.component_for_entity(crate, ec.Position).y = 0.0
        assert "the next step sweeps it there" in str(space.explain(crate, floor))

    def test_what_does_not_yield_there_is_said(self, world):
        one = esper.create_entity(ec.Position(0, 3), ec.Extents(1, 1), ec.Velocity(0, 0))
        other = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1))
        space = ec.install(ec.Space(motion="swept"))
        esper.process(1 / 60)

        assert "that takes a response" in str(space.explain(one, other))

    def test_corners_and_whole_sizes_are_understood(self, world):
        class Corner:
            def __init__(self, x, y):
                self.x, self.y = x, y

        crate = esper.create_entity(
            Corner(0, 10.25), ec.Extents(3, 3), ec.Velocity(0, -1), ec.Slide()
        )
        floor = esper.create_entity(Corner(-5, 8), ec.Extents(20, 2))
        components = ec.Components(position=Corner, anchor=(0, 0), whole_sizes=True)
        space = ec.install(components=components)
        esper.process(0.0)

        assert space.doctor() == []
        assert "gap 0.25 on y, closing by 1 a second" in str(space.explain(crate, floor))


# -- traits --


@pytest.mark.parametrize(
    ("one", "two", "cause", "text"),
    [
        (ec.Filter(1, 2), None, "filter", "mask 0x2, and none of its bits is among"),
        (None, ec.Filter(1, 2), "filter", "the categories of entity 1, 0x1"),
        (ec.Filter(group=-4), ec.Filter(group=-4), "group", "both are of group -4"),
    ],
)
def test_filters_that_keep_two_apart(one, two, cause, text):
    mover((0, 0), (1, 1), (1, 0), ec.Slide(), *([one] if one else []))
    box((5, 0), (1, 1), *([two] if two else []))
    space = ec.install()
    esper.process(1.0)

    answer = space.explain(1, 2)
    assert answer.verdict is ec.Verdict.IGNORED
    assert causes(answer.findings)[0] == cause
    assert text in str(answer)
    assert len(space.collisions) == 0


def test_a_group_that_brings_two_together(space):
    mover((0, 0), (1, 1), (1, 0), ec.Slide(), ec.Filter(0, 0, 3))
    box((5, 0), (1, 1), ec.Filter(0, 0, 3))
    esper.process(1.0)

    assert space.explain(1, 2).verdict is ec.Verdict.SOLID


def test_a_predicate_that_keeps_two_apart(runner, wall, space):
    def never(first, second):
        return False

    remove = space.filter_pairs(never, ec.Slide)
    esper.process(1.0)
    answer = space.explain(runner, wall)
    assert (answer.verdict, causes(answer.findings)[0]) == (ec.Verdict.IGNORED, "predicate")
    assert "filter_pairs() callback never rejects this pair" in str(answer)

    remove()
    space.filter_pairs(never, Other)
    assert space.explain(runner, wall).verdict is ec.Verdict.SOLID


@pytest.mark.parametrize(
    ("y", "normal", "text"),
    [
        (5, (0, 1), "to which y points; entity 2: it is there"),
        (-5, (0, 1), "to which y points; entity 2: it is not, and passes"),
        (-5, (0, -1), "to which -y points; entity 2: it is there"),
        (2, (0, 1), "it is there"),
    ],
)
def test_on_which_side_of_a_platform_it_is(y, normal, text, space):
    box((0, 0), (5, 1), ec.OneWay(normal))
    mover((0, y), (1, 1), (0, 0), ec.Slide())
    esper.process(0.0)

    answer = space.explain(1, 2)
    assert answer.verdict is ec.Verdict.SOLID
    assert text in str(answer)


def ignore(impact):
    """Do nothing, at length."""


class Ignoring:
    def ignore(self, impact): ...


@pytest.mark.parametrize(
    ("function", "is_empty"),
    [
        *((ignore, True), (lambda impact: None, True), (Ignoring().ignore, True)),
        *((lambda impact: ec.DEFAULT, False), (lambda impact: impact.resolve(), False)),
        *((print, False), (lambda impact: impact.cross(), False)),
    ],
)
def test_walls_with_a_function_that_does_nothing(function, is_empty, space):
    wall = box((5, 0), (1, 9), Tagged())
    mover((0, 0), (1, 1), (9, 0), ec.Deflect(1))
    space.respond_with(Tagged, function)
    findings = space.doctor()

    esper.process(1.0)

    assert [each.cause for each in findings] == ["empty_response"] * is_empty
    if is_empty:
        assert findings[0].entities == (wall,)
        assert [each.outcome for each in space.collisions] == [ec.Outcome.FORCED]


@pytest.mark.parametrize(
    ("parts", "cause", "text"),
    [
        ((ec.Filter(0, 1),), "meets_nobody", "Filter(categories=0, mask=1, group=0): it meets"),
        ((ec.Filter(1, 0, -2),), "meets_nobody", "meets no other body"),
        ((ec.PushOut(),), "push_out_idle", "PushOut and is not dynamic"),
        ((ec.Sensor(), ec.OneWay((0, 1))), "sensor_idle", "OneWay and Sensor"),
        ((ec.Velocity(0, 0), ec.Stop(), ec.Friction(1)), "friction_idle", "Friction and Stop"),
        ((ec.Sensor(), ec.Restitution(1)), "sensor_idle", "Restitution and Sensor"),
        ((ec.Velocity(0, 0), ec.Dominance(1)), "dominance_idle", "Dominance and is not dynamic"),
        ((ec.Acceleration(1, 0),), "acceleration_idle", "Acceleration and is not dynamic"),
        ((ec.Growth(0, 0), ec.MaxSpeed(1)), "max_speed_idle", "MaxSpeed, and no Velocity"),
        ((ec.LockedAxes(x=True),), "locked_idle", "LockedAxes and nothing that moves it"),
    ],
)
def test_traits_that_have_no_effect(parts, cause, text, space):
    box((0, 0), (1, 1), *parts)
    esper.process(1.0)

    (finding,) = space.doctor()
    assert finding.cause == cause
    assert text in str(finding)


@pytest.mark.parametrize(
    "parts",
    [
        (ec.Filter(0, 0, 2),),
        (ec.Velocity(0, 0), ec.Slide(), ec.Friction(1), ec.PushOut(), ec.Carry()),
        (ec.Friction(1), ec.OneWay((0, 1)), ec.Carry()),
    ],
)
def test_traits_in_order(parts, space):
    box((0, 0), (1, 1), *parts)
    esper.process(1.0)
    assert space.doctor() == []


def test_the_repr_of_a_finding_about_many_entities_is_short():
    many = ec.Finding("inside", tuple(range(1500)), "they are inside each other")

    assert repr(many) == (
        "Finding(cause='inside', entities=(0, 1, 2, 3, 4, ... 1495 more), "
        "message='they are inside each other')"
    )
    for n in range(6):
        few = ec.Finding("inside", tuple(range(n)), "...")
        assert eval(repr(few), vars(ec)) == few


WRONG = [None, "5", b"5", math.nan, math.inf, -1, 0.5, Decimal("NaN"), Decimal("sNaN"),
         Decimal("1e600"), Fraction(1, 3), 10**400, [], object(), ec.Slide]  # fmt: skip
FIELDS = [
    (kind, name)
    for kind, names in {
        ec.Position: "xyz", ec.Extents: "xyz", ec.Velocity: "xyz", ec.Growth: "xyz",
        ec.Mass: ["value"], ec.Deflect: ["restitution"], ec.Friction: ["value", "code"],
        ec.Filter: ["categories", "mask", "group"], ec.OneWay: "xyz",
        ec.Carry: ["x", "y", "z", "normal_x", "normal_y", "normal_z"], ec.PushOut: ["speed"],
        ec.Dominance: ["level"], ec.Restitution: ["value", "code"], ec.MaxSpeed: ["speed"],
        ec.LockedAxes: "xyz",
    }.items()
    for name in names
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), FIELDS)
@pytest.mark.parametrize("stepped", [True, *further(False)])
def test_doctor_and_explain_never_fail_on_what_they_should_report(kind, name, stepped, space):
    parts = [
        ec.Growth(0, 0), ec.Mass(2), ec.Deflect(), ec.Friction(1), ec.Filter(1, ec.ALL, 1),
        ec.OneWay((0, 1)), ec.Carry(), ec.PushOut(), ec.Dominance(1), ec.Restitution(0.5),
        ec.MaxSpeed(9), ec.LockedAxes(x=True),
    ]  # fmt: skip
    sick = mover((0, 0), (1, 1), (1, 0), *parts)
    other = mover((9, 0), (1, 1), (1, 0), ec.Filter(1, ec.ALL, 1), ec.Slide())
    if stepped:
        esper.process(0.0)
    component = of(sick, kind)
    right = getattr(component, name)
    ignored = name in ("z", "normal_z")  # in 2D

    for wrong in WRONG:
        setattr(component, name, wrong)
        findings = space.doctor()
        text = str(space.explain(sick, other)) + str(space.explain(other, sick))
        said = ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                esper.process(0.0)
        except (TypeError, ValueError, RuntimeWarning) as error:
            said = str(error)
        if said:
            assert not ignored
            assert f"entity {sick}" in said
            assert f"{kind.__name__}.{name}" in said
            assert f"{kind.__name__}.{name}" in text, wrong
            assert {"no_number", "wrong_number"} & set(causes(findings)), wrong
        space.doctor()
        str(space.explain(sick, other))
    delattr(component, name)
    space.doctor()
    text = str(space.explain(sick, other))
    if not ignored:
        assert f"entity {sick}: {kind.__name__}.{name} is missing" in text
        with pytest.raises(AttributeError, match=rf"entity {sick}: {kind.__name__}.{name} is mis"):
            esper.process(0.0)
    setattr(component, name, right)
    esper.process(0.0)
    space.check()
    assert space.explain(sick, other).verdict is ec.Verdict.SOLID


def test_a_class_without_parentheses_is_no_component(space):
    crate = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Velocity(0, 0), ec.Slide)
    esper.process(0.0)

    (finding,) = space.doctor()

    assert finding.cause == "class_as_component"
    assert str(finding) == (
        f"entity {crate} has the class Slide as a component, where an instance is meant: Slide(...)"
    )
    assert "has the class Slide" in str(space.explain(crate, crate + 1))
    esper.remove_component(crate, type)
    esper.add_component(crate, ec.Velocity, type_alias=ec.Velocity)
    assert causes(space.doctor()) == ["class_as_component", "no_number"]


def test_an_instance_that_two_entities_share_is_found(space):
    place, size, slide = ec.Position(0, 0), ec.Extents(1, 1), ec.Slide()
    one = esper.create_entity(place, size, slide, ec.Velocity(0, 0))
    two = esper.create_entity(place, ec.Extents(1, 1), slide, ec.Velocity(0, 0))
    three = esper.create_entity(ec.Position(9, 9), size, slide, ec.Velocity(0, 0))
    gone = esper.create_entity(ec.Position(50, 9), ec.Extents(1, 1), slide)
    esper.add_component(gone, esper.component_for_entity(three, ec.Position))
    esper.delete_entity(gone)
    esper.process(0.0)

    found = [finding for finding in space.doctor() if finding.cause == "shared"]

    (finding,) = found
    assert finding.entities == (one, two, three)
    assert f"entities {one}, {two} share one instance of Position: a number" in str(finding)
    esper.add_component(two, ec.Position(5, 5))
    esper.add_component(three, ec.Extents(1, 1))
    assert "shared" not in causes(space.doctor())


def test_findings_print_as_a_line_each():
    space = ec.install()
    assert str(space.doctor()) == repr(space.doctor()) == "no findings"
    one = esper.create_entity(ec.Position(0, 0))
    box((0, 0), (1, 1), ec.Slide())

    found = space.doctor()

    assert isinstance(found, ec.Findings)
    assert str(found).splitlines() == [
        f"no_extents: entity {one} has Position but no Extents: a body has both",
        f"no_velocity: {found[1].message}",
    ]
    many = ec.Findings(found * 15)
    assert len(str(many).splitlines()) == 21
    assert str(many).endswith("\n... 10 more")


def test_a_character_without_slide_is_found():
    space = ec.install(up=(0, 1))
    body = [ec.Position(0, 0), ec.Extents(5, 8)]
    hero = esper.create_entity(*body, ec.Velocity(0, 0), Character())
    assert causes(space.doctor()) == ["no_slide"]
    esper.add_component(hero, ec.Stop())
    assert "Character and Stop instead of Slide" in str(space.doctor())
    esper.remove_component(hero, ec.Stop)
    esper.add_component(hero, ec.Slide())
    assert causes(space.doctor()) == []
    esper.remove_component(hero, ec.Velocity)
    assert "no_character" in causes(space.doctor())
    assert "has Character but no Velocity" in str(space.doctor())


@pytest.mark.parametrize("up", [(0, 1, 0), (0, 0, -1), (1, 0, 0)])
def test_a_character_with_lengths_above_its_height_is_found(up):
    space = ec.install(dim=3, up=up)
    half = tuple(0.9 if part else 50.0 for part in up)
    hero = Character(step_height=1.8, snap_distance=0.0, corner=1.8)
    esper.create_entity(
        ec.Position(0, 0, 0), ec.Extents(*half), ec.Velocity(0, 0, 0), ec.Slide(), hero
    )
    assert causes(space.doctor()) == []

    for name in ("step_height", "snap_distance", "corner"):
        setattr(hero, name, 1.9)
        (found,) = space.doctor()
        assert found.cause == "character_units"
        assert f"has Character with {name}=1.9, more than the height 1.8 of" in found.message
        setattr(hero, name, 0.0)
    hero.step_height = hero.corner = 6.0
    assert "step_height=6.0 and corner=6.0, more" in str(space.doctor())


@pytest.mark.parametrize("value", [math.nan, -1.0, "9", None])
def test_an_ability_of_a_character_that_the_game_has_set_wrongly_is_found(value):
    space = ec.install(up=(0, 1))
    hero = Character()
    esper.create_entity(ec.Position(0, 0), ec.Extents(5, 8), ec.Velocity(0, 0), ec.Slide(), hero)
    hero.fall_speed = value

    (found,) = space.doctor()

    assert found.cause == "bad_ability"
    assert f"entity 1: Character.fall_speed is {value!r}, it must be" in found.message


def test_a_character_that_the_game_resolves_itself_needs_no_slide():
    class Bouncy:
        pass

    space = ec.install(up=(0, 1))
    space.respond_with(Bouncy, lambda impact: ec.DEFAULT)
    body = [ec.Position(0, 0), ec.Extents(5, 8), ec.Velocity(0, 0)]
    esper.create_entity(*body, Character(), Bouncy())
    esper.process(0.0)

    assert causes(space.doctor()) == []


@pytest.mark.filterwarnings("ignore:entity")
def test_a_box_that_stays_attached_to_a_box_was_not_put_right():
    space = ec.install()
    owner, box, chained = (
        esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1)) for _ in range(3)
    )
    esper.add_component(box, ec.Attached(owner))
    esper.add_component(chained, ec.Attached(box))
    assert causes(space.doctor()) == ["wrong_number"]
    esper.process(1 / 60)

    for _ in range(2):
        (found,) = space.doctor()
        assert found.cause == "quarantined"
        assert "put right" not in found.message
        assert f"must not be attached itself: attach both boxes to entity {owner}" in found.message
        space.reports.clear()

    esper.component_for_entity(chained, ec.Attached).owner = owner
    assert "attached itself" not in str(space.doctor())
    esper.process(1 / 60)
    assert causes(space.doctor()) == []


@pytest.mark.filterwarnings("ignore:entity")
def test_a_body_that_still_leads_too_far_was_not_put_right():
    space = ec.install()
    velocity = ec.Velocity(2.0**499, 0)
    esper.create_entity(ec.Position(2.0**499, 0), ec.Extents(1, 1), velocity)
    esper.process(10.0)
    assert "put right" not in str(space.doctor())

    velocity.x = 0.0
    assert "was put right since" in str(space.doctor())


@pytest.mark.filterwarnings("ignore:entity")
def test_fixed_box_that_is_attached_is_found(space):
    owner = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    hitbox = box((0, 0), (1, 1), ec.Attached(owner, (0, 1)), ec.Fixed())
    esper.process(1 / 60)

    (found,) = space.doctor()

    assert found.cause == "fixed_moves"
    assert f"entity {hitbox} has Fixed and Attached" in found.message


class Keys(esper.Processor):
    """A processor of a game that sets what the player wishes."""

    def process(self, dt):
        for _, hero in esper.get_component(Character):
            hero.walk = 1.0


class Push(esper.Processor):
    """A processor of a game that sets velocities."""

    def process(self, dt):
        for _, velocity in esper.get_component(ec.Velocity):
            velocity.set(velocity.x + 1.0, 0.0)


class Arrows(esper.Processor):
    """A processor that reads velocities, and sets attributes of the same names."""

    x = 0.0

    def process(self, dt):
        for _, velocity in esper.get_component(ec.Velocity):
            self.x = velocity.x


@pytest.mark.parametrize(
    ("kind", "priority", "found"),
    [
        (Keys, 0, "late_wishes"),
        (Keys, 115, "late_wishes"),
        (Keys, 131, None),
        (Push, 0, "late_velocity"),
        (Push, 131, None),
        (Arrows, 0, None),
    ],
)
def test_a_processor_whose_values_the_step_reads_late_is_found(kind, priority, found):
    space = ec.install(up=(0, 1))
    body = [ec.Position(0, 0), ec.Extents(5, 8), ec.Velocity(0, 0), ec.Slide()]
    esper.create_entity(*body, *[Character()] * (kind is Keys))
    esper.add_processor(kind(), priority)
    esper.process(1 / 60)

    late = [each for each in space.doctor() if each.cause.startswith("late")]

    assert [each.cause for each in late] == [found] * (found is not None)
    assert all(f"install(after={kind.__name__})" in each.message for each in late)


def test_a_step_of_a_second_under_gravity_is_found():
    space = ec.install(gravity=(0, -900))
    mover((0, 0), (1, 1), (0, 0), ec.Slide())
    esper.process()

    assert "long_step" in causes(space.doctor())
    esper.process(1 / 60)
    assert "long_step" not in causes(space.doctor())


def test_a_slope_that_has_no_effect_is_found():
    space = ec.install(up=(0, 1))
    mover((0, 0), (1, 1), (0, 0), ec.Slide(), ec.Slope("right"))
    mover((9, 0), (1, 1), (0, 0), ec.Slope("right"))
    box((18, 0), (1, 1), ec.Slope("right"))
    esper.create_entity(ec.Position(27, 0), ec.Extents(1, 1), ec.Growth(1, 1), ec.Slope("right"))

    (found,) = (each for each in space.doctor() if each.cause == "slope_idle")

    assert found.entities == (1, 4)


@pytest.mark.parametrize("sign", [1, -1])
def test_bodies_that_fall_out_of_the_level_are_found(sign):
    space = ec.install(gravity=(0, -900 * sign))
    box((0, 0), (50, 8))
    fallen = mover((200, -30 * sign), (1, 1), (0, 0), ec.Slide())
    mover((0, 30 * sign), (1, 1), (0, 0), ec.Slide())
    mover((200, -30 * sign), (1, 1), (0, 5 * sign), ec.Slide(), ec.GravityScale(0))
    esper.process(1 / 60)

    (found,) = (each for each in space.doctor() if each.cause == "below_all")

    assert found.entities == (fallen,)


@pytest.mark.parametrize("wrong", ["hero", None, 1.5, True])
def test_explain_of_what_is_no_entity_is_refused_by_name(wrong):
    space = ec.install()
    body = mover((0, 0), (1, 1), (0, 0), ec.Slide())

    with pytest.raises(TypeError, match=rf"explain\(first={wrong!r}\) must be the id"):
        space.explain(wrong, body)
    with pytest.raises(TypeError, match=rf"explain\(second={wrong!r}\) must be the id"):
        space.explain(body, wrong)
