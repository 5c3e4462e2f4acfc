"""The four systems in an esper world: installing them, calling them, what they leave alone."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import (
    Log,
    another_world,
    box,
    mixed_log,
    mover,
    position,
    set_velocity,
    velocity,
)

pytestmark = pytest.mark.usefixtures("world", "implementation")

SYSTEMS = (ec.BroadphaseSystem, ec.NarrowphaseSystem, ec.ResponseSystem, ec.MotionSystem)


@pytest.mark.parametrize(
    ("how", "priorities"),
    [
        ({}, [130, 120, 110, 100]),
        ({"priority": 7}, [37, 27, 17, 7]),
        ({"priority": 5, "spacing": 1}, [8, 7, 6, 5]),
    ],
    ids=str,
)
def test_install_adds_the_four_in_order_and_once(how, priorities):
    given = ec.Space()
    space = ec.install(given, **how)

    assert [esper.get_processor(system).priority for system in SYSTEMS] == priorities
    assert ec.install(**how) is space is given


@pytest.mark.parametrize(
    "other",
    [{"dim": 3}, {"up": (0, -1)}, {"dt": 0.5}, {"priority": 3}, {"spacing": 5}, {"space": "new"}],
    ids=str,
)
def test_install_with_other_arguments_names_the_ways_out(other):
    ec.install(up=(0, 1), dt=0.25)
    if "space" in other:
        other = {"space": ec.Space()}

    with pytest.raises(ValueError, match=r"use that space.*clear_database.*switch_world"):
        ec.install(**other)


@pytest.mark.parametrize("spacing", [-1, -0.5, math.nan, True, "10"])
def test_install_refuses_a_spacing_that_is_none(spacing):
    with pytest.raises(ValueError, match=r"install\(spacing=.*\) must be a number, 0 or more"):
        ec.install(spacing=spacing)
    assert esper.get_processor(ec.BroadphaseSystem) is None


class Input(esper.Processor):
    def process(self, dt):
        pass


class Draw(Input): ...


class Journal(Input): ...


def names():
    """Return the processors in their order; all that are not the game's by the letter S."""
    own = Input, Draw, Journal
    return [type(each).__name__ if type(each) in own else "S" for each in esper._processors]


FOUR = ["S"] * 4


@pytest.mark.parametrize("start", [3, 1.5, -7, 2**40])
@pytest.mark.parametrize(
    ("how", "order"),
    [
        ({"before": Draw, "after": Input}, ["Input", *FOUR, "Draw", "Journal"]),
        ({"before": Journal, "after": Input}, ["Input", "Draw", *FOUR, "Journal"]),
        ({"before": Draw}, ["Input", *FOUR, "Draw", "Journal"]),
        ({"before": Input}, [*FOUR, "Input", "Draw", "Journal"]),
        ({"after": Input}, ["Input", *FOUR, "Draw", "Journal"]),
        ({"after": Journal}, ["Input", "Draw", "Journal", *FOUR]),
    ],
)
def test_install_takes_a_place_between_processors_with_contiguous_priorities(how, order, start):
    for n, kind in enumerate((Input, Draw, Journal)):
        esper.add_processor(kind(), start - n)
    body = falling()

    space = ec.install(**how)
    esper.process(0.5)

    assert names() == order
    assert space.position_of(body) == (4, 0)
    assert space.doctor() == []
    assert ec.install(**how) is space
    running = [each for each in esper._processors if isinstance(each, SYSTEMS)]
    assert [type(each) for each in running] == list(SYSTEMS)


def test_install_without_spacing_runs_where_it_is_called_among_equals():
    esper.add_processor(Input())
    space = ec.install(priority=0, spacing=0)
    esper.add_processor(Draw())
    body = falling()

    esper.process(0.5)

    assert names() == ["Input", *FOUR, "Draw"]
    assert space.position_of(body) == (4, 0)
    assert space.doctor() == []


def test_a_level_that_is_built_again_may_install_at_the_same_place():
    esper.add_processor(Draw(), 1)
    space = ec.install(before=Draw)
    esper.add_processor(Journal(), 2.5)  # between the systems

    assert ec.install(before=Draw) is space
    with pytest.raises(ValueError, match="installed already, with other arguments"):
        ec.install(before=Journal)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"before": Draw, "after": Input}, ValueError, r"are 0 and 0, .* spacing=0\) with that p"),
        (
            {"before": Journal},
            ValueError,
            r"install\(before=Journal\): the world .* no such processor",
        ),
        ({"after": 3}, TypeError, r"install\(after=3\) must be a type of esper.Processor"),
        ({"before": Draw, "priority": 3}, TypeError, "before and after, or priority and spacing"),
    ],
)
def test_a_place_that_there_is_not_is_refused(how, error, message):
    esper.add_processor(Input())
    esper.add_processor(Draw())

    with pytest.raises(error, match=message):
        ec.install(**how)
    assert names() == ["Input", "Draw"]


@pytest.mark.parametrize("priority", ["high", None, True])
def test_install_refuses_a_priority_that_is_no_number(priority):
    with pytest.raises(TypeError, match=r"install\(priority=.*\) must be a number"):
        ec.install(priority=priority)


def test_a_system_run_in_a_foreign_world_says_so(world):
    ec.install()
    systems = [esper.get_processor(system) for system in SYSTEMS]
    with another_world(f"{world} the other"), pytest.raises(RuntimeError, match="world"):
        systems[0].process(1.0)


@pytest.mark.parametrize(
    ("call", "x"),
    [
        (lambda: esper.process(), 3),
        (lambda: esper.process(2), 6),
        (lambda: esper.process(0.5), 1.5),
        (lambda: esper.process(dt=0.5), 1.5),
    ],
)
def test_dt_is_1_or_given_by_place_or_by_name(call, x):
    runner = mover((0, 0), (1, 1), (3, 0), ec.Stop())
    ec.install()

    call()

    assert position(runner) == (x, 0)


def test_more_arguments_for_the_games_own_systems_pass_by():
    class Own(esper.Processor):
        seen: object = None

        def process(self, dt, level, *, paused):
            self.seen = (level, paused)

    own = Own()
    esper.add_processor(own)
    runner = mover((0, 0), (1, 1), (3, 0), ec.Stop())
    ec.install()

    esper.process(0.5, "level one", paused=False)

    assert own.seen == ("level one", False)
    assert position(runner) == (1.5, 0)


def test_timed_process_works():
    mover((0, 0), (1, 1), (3, 0), ec.Stop())
    ec.install()

    esper.timed_process(0.5)

    assert {system.__name__ for system in SYSTEMS} <= set(esper.process_times)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_systems_called_by_hand_give_the_same(world, dim):
    by_esper = mixed_log(12, dim=dim)

    with another_world(f"{world} by hand"):
        space = ec.Space(dim=dim)
        systems = [system(space) for system in SYSTEMS]

        class ByHand(esper.Processor):
            def process(self, dt=1.0):
                for system in systems:
                    system.process(dt)

        def make_space():
            esper.add_processor(ByHand())
            return space

        assert mixed_log(12, dim=dim, make_space=make_space) == by_esper


def test_systems_by_hand_that_see_different_dt_are_refused():
    mover((0, 0), (1, 1), (3, 0), ec.Stop())
    space = ec.Space()
    broadphase, narrowphase = ec.BroadphaseSystem(space), ec.NarrowphaseSystem(space)
    broadphase.process(0.5)

    with pytest.raises(ValueError, match="dt"):
        narrowphase.process(0.25)


def test_the_components_stay_the_games_own_objects():
    parts = (ec.Position(0, 0), ec.Extents(1, 1), ec.Velocity(8, 2), ec.Slide(), ec.Growth(0, 1))
    runner = esper.create_entity(*parts)
    box((5, 0), (1, 50))
    ec.install()

    esper.process(1.0)

    assert all(esper.component_for_entity(runner, type(part)) is part for part in parts)
    assert parts[0].y == 2.0
    assert parts[1].y == 2.0
    assert parts[2].xy == (0.0, 2.0)


def test_the_systems_change_no_structure_of_the_world():
    # One structural change makes every query of the game slow.
    runner = mover((0, 0), (1, 1), (8, 2), ec.Slide())
    box((5, 0), (1, 50))
    ec.install()
    esper.process(1.0)
    before = esper.get_components(ec.Position, ec.Velocity)

    for _ in range(5):
        set_velocity(runner, 8, 2)
        esper.process(1.0)

    assert esper.get_components(ec.Position, ec.Velocity) is before
    assert [entity for entity, _ in before] == [runner]


def test_entities_without_a_box_are_left_alone():
    floating = esper.create_entity(ec.Velocity(5, 5))
    nowhere = esper.create_entity(ec.Extents(1, 1), ec.Velocity(5, 5))
    point = esper.create_entity(ec.Position(3, 3), ec.Velocity(5, 5))
    space = ec.install()

    esper.process(1.0)

    assert space.entities == [] or list(space.entities) == []
    assert position(point) == (3, 3)
    assert esper.entity_exists(floating)
    assert esper.entity_exists(nowhere)


def test_an_empty_world_takes_steps():
    space = ec.install()

    for _ in range(3):
        esper.process(1 / 60)

    assert len(space) == 0
    assert len(space.collisions) == 0
    assert space.positions().shape == (0, 2)


def test_changing_the_mass_or_restitution_in_place_is_seen():
    ball = mover((0, 0), (1, 1), (4, 0), ec.Deflect(1.0))
    box((4, 0), (1, 1))
    ec.install()
    esper.component_for_entity(ball, ec.Deflect).restitution = 0.5

    esper.process(1.0)

    assert velocity(ball) == (-2, 0)


def test_three_dimensional_bodies_in_a_flat_space_ignore_z():
    runner = esper.create_entity(
        ec.Position(0, 0, 7), ec.Extents(1, 1, 1), ec.Velocity(4, 0, 9), ec.Stop()
    )
    box((4, 0), (1, 1))
    ec.install()

    esper.process(1.0)

    assert position(runner, 3) == (2, 0, 7)


def test_a_game_system_at_priority_zero_runs_after_the_four():
    order = []

    class After(esper.Processor):
        def process(self, dt=1.0):
            order.append(position(runner))

    class Before(After):
        pass

    runner = mover((0, 0), (1, 1), (4, 0), ec.Stop())
    ec.install()
    esper.add_processor(After())
    esper.add_processor(Before(), priority=200)

    esper.process(1.0)

    assert order == [(0, 0), (4, 0)]


def test_the_program_of_the_design():
    floor = esper.create_entity(ec.Position(0, -100), ec.Extents(400, 10))
    player = esper.create_entity(
        ec.Position(0, -60), ec.Extents(8, 16), ec.Velocity(120, -900), ec.Slide()
    )
    ball = esper.create_entity(
        ec.Position(300, 40), ec.Extents(4, 4), ec.Velocity(0, -20_000), ec.Deflect(restitution=0.9)
    )
    coin = esper.create_entity(ec.Position(30, -84), ec.Extents(4, 4), ec.Sensor())
    space = ec.install()

    def on_collision(event: ec.Collision) -> None:
        if {event.first, event.second} == {player, coin}:
            esper.delete_entity(coin)

    space.on_collision(on_collision)
    esper.process(1 / 60)

    assert position(player)[1] == -74
    assert velocity(player) == (120, 0)
    assert velocity(ball) == (0, 18_000)
    assert position(ball)[1] > 40
    assert space.query((-50, -50), (50, 50)) == []
    assert space.cast_ray(origin=(0, 0), direction=(0, -200)).entity == player

    for _ in range(30):
        esper.process(1 / 60)
    assert not esper.entity_exists(coin)
    assert player in space
    assert floor in space


def test_a_log_of_nothing_is_not_a_log_of_something():
    # The log that the tests of sameness compare must see a difference of one bit.
    space = ec.install()
    runner = mover((0, 0), (1, 1), (4, 0), ec.Stop())
    logs = []
    for bump in (0.0, 0.0, 2.0**-52):
        esper.component_for_entity(runner, ec.Position).set(1 + bump, 0)
        set_velocity(runner, 4, 0)
        esper.process(0)
        log = Log()
        log.record(space)
        logs.append(log.digest())

    assert logs[1].split()[2] != logs[2].split()[2]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_without_a_space_is_refused_in_its_own_name(system):
    with pytest.raises(TypeError, match=rf"{system.__name__}\.__init__\(\) missing .* 'space'"):
        system()


def systems_of(space):
    return [system(space) for system in SYSTEMS]


def add(systems):
    for place, system in enumerate(systems):
        esper.add_processor(system, priority=9 - place)


def test_a_second_space_made_by_hand_in_one_world_is_refused():
    first, second = ec.Space(), ec.Space()
    add(systems_of(first))

    for system in SYSTEMS:
        with pytest.raises(ValueError, match=r"has the systems of <Space .* move every body twice"):
            system(second)
    with pytest.raises(ValueError, match="installed already"):
        ec.install(second)
    systems_of(first)  # of the space that is there already: allowed

    for system in SYSTEMS:
        esper.remove_processor(system)
    runner = mover((0, 0), (1, 1), (3, 0))
    add(systems_of(second))
    esper.process(1.0)
    assert position(runner) == (3, 0)


def test_two_spaces_whose_systems_were_made_before_they_were_added_are_refused_in_the_step():
    runner = mover((0, 0), (1, 1), (3, 0))
    first, second = ec.Space(), ec.Space()
    ours, theirs = systems_of(first), systems_of(second)
    add(ours)
    esper.process(1.0)
    add(theirs)

    with pytest.raises(RuntimeError, match="would move every body twice"):
        esper.process(1.0)
    assert position(runner) == (3, 0)
    for space in (first, second):
        assert "two_spaces" in [finding.cause for finding in space.doctor()]

    for system in ours:
        esper._processors.remove(system)
    esper.process(1.0)
    assert position(runner) == (6, 0)
    assert "two_spaces" not in [finding.cause for finding in second.doctor()]


def test_the_error_of_a_space_in_a_foreign_world_names_the_world_to_switch_to(world, elsewhere):
    space = ec.install()
    mover((0, 0), (1, 1), (3, 0))
    esper.process(1.0)
    elsewhere()

    for call in (
        lambda: space.query((0, 0), (9, 9), filter=ec.Velocity),
        lambda: space.explain(1, 2),
        space.doctor,
        space.snapshot,
        lambda: space.update_bounds(1.0),
    ):
        with pytest.raises(RuntimeError, match=rf"esper\.switch_world\('{world}'\) first"):
            call()


class OwnBroadphase(ec.BroadphaseSystem):
    """A game's own first stage."""


def test_a_second_space_beside_a_subclassed_system_is_refused():
    first = ec.Space()
    esper.add_processor(OwnBroadphase(first), priority=9)
    add(systems_of(first)[1:])

    with pytest.raises(ValueError, match="has the systems of <Space"):
        ec.install()
    with pytest.raises(ValueError, match="has the systems of <Space"):
        ec.install(ec.Space())


def test_single_systems_of_a_second_space_are_refused_in_the_step():
    runner = mover((0, 0), (1, 1), (3, 0))
    second = ec.Space()
    for system in systems_of(second)[1:]:  # before there is a first space
        esper.add_processor(system, priority=1)
    with pytest.raises(ValueError, match="has the systems of <Space"):
        ec.install()
    for kind in SYSTEMS[1:]:
        esper.remove_processor(kind)
    late = ec.MotionSystem(second)
    space = ec.install()
    esper.process(1.0)
    esper._processors.append(late)

    with pytest.raises(RuntimeError, match="would move every body twice"):
        esper.process(1.0)
    assert position(runner) == (3, 0)
    assert "two_spaces" in [finding.cause for finding in space.doctor()]


class Frames(esper.Processor):
    """A processor of a game that takes no time."""

    def process(self):
        pass


class Events(esper.Processor):
    """A processor of a game that takes events first."""

    def process(self, events, dt):
        pass


def falling():
    return esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Velocity(8, 0), ec.Slide())


def test_a_game_whose_processors_take_no_time_says_how_long_steps_are():
    body = falling()
    space = ec.install(dt=0.25)
    esper.add_processor(Frames())

    for _ in range(3):
        esper.process()

    assert space.time == 0.75
    assert space.position_of(body) == (6, 0)
    assert ec.install(dt=0.25) is ec.install() is space


def test_a_game_whose_processors_take_events_says_where_the_time_is():
    body = falling()
    calls = []
    space = ec.install(dt=lambda events, dt: calls.append(events) or dt, up=(0, 1))
    hero = [ec.Position(900, 0), ec.Extents(1, 1), ec.Velocity(0, 0), ec.Slide()]
    walk = ec.Character(walk_speed=4)
    walk.walk = 1.0
    walker = esper.create_entity(*hero, walk)
    esper.add_processor(Events())

    esper.process(["left"], 0.5)
    esper.process([], dt=0.25)

    assert calls == [["left"], []]  # once in each step, for all systems
    assert space.time == 0.75
    assert space.position_of(body) == (6, 0)
    assert space.position_of(walker)[0] > 900


def test_a_recording_holds_the_time_that_install_was_told():
    falling()
    space = ec.install(dt=0.25)
    recorder = ec.record(space)
    esper.process()
    esper.process()
    recorder.stop()

    assert [frame.dt for frame in recorder.recording.frames][-2:] == [0.25, 0.25]


def test_a_time_that_is_none_names_the_way_to_say_it():
    falling()
    ec.install()

    with pytest.raises(ValueError, match=r"dt=\['left'\] must be a number .* install\(dt=1 / 60\)"):
        esper.process(["left"], 0.5)


@pytest.mark.parametrize("dt", [-1, math.inf, math.nan, True, "1"])
def test_a_time_of_install_that_is_none_is_refused(dt):
    with pytest.raises(ValueError, match=r"install\(dt=.*seconds of each step, 0 or more, or a"):
        ec.install(dt=dt)


class Late(esper.Processor):
    """A processor that installs when it first runs."""

    def __init__(self, install):
        self.install = install

    def process(self, dt):
        self.install()


@pytest.mark.parametrize("priority", [0, 115])
def test_install_in_a_processor_that_runs_later_is_refused_by_name(priority):
    esper.add_processor(Late(ec.install), priority)

    with pytest.raises(RuntimeError, match=f"install.. was called in Late, .* priority {priority}"):
        esper.process(1 / 60)
    assert esper.get_processor(ec.BroadphaseSystem) is None


@pytest.mark.parametrize("priority", [0, 200])
def test_install_in_a_processor_that_has_removed_itself_is_refused_with_the_way_out(priority):
    def boot():
        esper.remove_processor(Late)
        ec.install()

    esper.add_processor(Late(boot), priority)

    with pytest.raises(RuntimeError, match=r"called in Late, .* removed while it runs.* after it"):
        esper.process(1 / 60)
    assert esper.get_processor(ec.BroadphaseSystem) is None


def test_a_processor_that_removes_itself_is_named_as_the_cause_of_a_skipped_system():
    body = falling()
    ec.install()
    esper.add_processor(Late(lambda: esper.remove_processor(Late)), 200)

    with pytest.raises(RuntimeError, match=r"needs BroadphaseSystem .*esper skipped that one"):
        esper.process(1 / 60)
    esper.process(1 / 60)
    assert esper.component_for_entity(body, ec.Position).x == pytest.approx(8 / 60)


@pytest.mark.parametrize("priority", [125, 115, 105])
def test_a_restore_between_the_systems_is_named_as_a_cause_of_a_skipped_one(priority):
    body = falling()
    space = ec.install()
    saved = space.snapshot()
    esper.add_processor(Late(lambda: space.restore(saved)), priority)

    with pytest.raises(RuntimeError, match=r"or restore\(\) has discarded the step"):
        esper.process(1 / 60)
    esper.remove_processor(Late)
    esper.process(1 / 60)
    assert esper.component_for_entity(body, ec.Position).x == pytest.approx(8 / 60)


def test_systems_in_a_wrong_order_are_not_taken_for_skipped_ones():
    space = ec.Space()
    for system in (ec.NarrowphaseSystem, ec.BroadphaseSystem):
        esper.add_processor(system(space))

    with pytest.raises(RuntimeError, match=r"needs BroadphaseSystem before it in the same step$"):
        esper.process(1 / 60)


class Place(ec.Position):
    """A position of the game's own type."""


LED = {  # the components that lead bodies
    "Character": lambda: ec.Character(),
    "Path": lambda: ec.Path([(0, 0), (9, 9)], 5.0),
    "Zone": lambda: ec.Zone(drag=1),
}


@pytest.mark.parametrize("name", LED)
def test_a_component_that_needs_velocities_is_refused_in_a_swept_space_by_its_entity(name):
    space = ec.install(motion="swept")
    falling()
    esper.process(0.25)
    entity = esper.create_entity(ec.Position(50, 0), ec.Extents(1, 1), LED[name]())

    for _ in range(2):
        with pytest.raises(ValueError, match=rf"entity {entity} has {name}, .* install\(motion='v"):
            esper.process(0.25)
    assert "wrong_space" in [each.cause for each in space.doctor()]
    esper.remove_component(entity, getattr(ec, name))
    esper.process(0.25)

    assert space.time == 0.5


@pytest.mark.parametrize(
    ("own", "refused"),
    [
        ({"velocity": (Place, "x", "y")}, ("Character", "Path", "Zone")),
        ({"position": Place}, ("Character", "Path")),
        ({"extents": Place}, ("Character",)),
        ({"anchor": (0, 0)}, ("Character",)),
        ({"whole_sizes": True}, ("Character",)),
        ({"mass": (Place, "x")}, ()),
    ],
)
@pytest.mark.parametrize("name", LED)
def test_a_component_is_refused_in_a_space_whose_components_it_cannot_use(own, refused, name):
    space = ec.install(components=ec.Components(**own))
    entity = esper.create_entity(Place(0, 0), LED[name]())
    (role,) = own

    if name not in refused:
        esper.process(1 / 60)
        return
    message = rf"entity {entity} has {name}, .* default .*\b{role}\b.* has Components\("
    with pytest.raises(ValueError, match=message):
        esper.process(1 / 60)
    assert re.search(message, str(space.doctor()))


WITHOUT = """
import sys
import esper
import ecs_collide as ec

esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Velocity(1, 0), ec.Slide())
space = ec.install(gravity=(0, -9))
esper.process(1 / 60)
space.doctor(), space.snapshot()
names = "Character", "CharacterState", "Ladder", "Path", "Zone"
assert {*names} <= {*dir(ec)} and {*names} <= {*ec.__all__}
steering = sys.modules["ecs_collide.steering"].STEERING
print(steering, [name for name in sys.modules if name in
                 ("ecs_collide.character.system", "ecs_collide.path", "ecs_collide.zone")])
print(ec.Path.__name__, len(steering), ec.Character.__name__, len(steering))
"""


def test_a_game_that_uses_no_characters_paths_and_zones_imports_none():
    run = [sys.executable, "-c", WITHOUT]
    done = subprocess.run(run, capture_output=True, text=True, check=False)

    assert done.stdout.splitlines() == ["[] []", "Path 1 Character 3"], done.stderr


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'ecs_collide' has no attribute 'Charakter'"):
        ec.Charakter  # noqa: B018


def steered():
    """Make a body for each component that leads bodies, with a part of its box in a pool."""
    hero = ec.Character(walk_speed=60)
    hero.walk = 1.0
    esper.create_entity(ec.Position(300, -8), ec.Extents(200, 8))
    body = ec.Position(300, 16), ec.Extents(8, 16), ec.Velocity(0, 0), ec.Slide(), hero
    lift = ec.Path([(0, 0), (0, 90)], 60)
    esper.create_entity(ec.Position(-200, 0), ec.Extents(50, 50), ec.Sensor(), ec.Zone(gravity=-1))
    return (
        esper.create_entity(*body),
        esper.create_entity(ec.Position(0, 0), ec.Extents(9, 2), ec.Velocity(0, 0), lift),
        esper.create_entity(ec.Position(-200, 0), ec.Extents(9, 2), ec.Velocity(0, 0), ec.Slide()),
    )


@pytest.mark.parametrize("n_steps", [0, 3])
def test_what_leads_bodies_works_without_a_call_at_once_and_in_a_world_that_runs(n_steps):
    space = ec.install(gravity=(0, -100))
    for _ in range(n_steps):
        esper.process(1 / 60)
    walker, lift, floating = steered()
    processors = list(esper._processors)

    for _ in range(60):
        esper.process(1 / 60)

    assert space.position_of(walker)[0] > 340
    assert space.position_of(lift) == pytest.approx((0, 60))
    assert space.position_of(floating)[1] > 40
    assert esper._processors == processors
    assert space.doctor() == []


def test_what_leads_bodies_works_in_a_world_that_was_cleared_and_built_again(world):
    space = ec.install(gravity=(0, -100))
    ends = []
    for _ in range(2):
        esper.clear_database()
        bodies = steered()
        for _ in range(30):
            esper.process(1 / 60)
        ends.append([space.position_of(body) for body in bodies])

    assert ends[0] == ends[1]


@pytest.mark.parametrize("dt", [np.float32(0.25), Fraction(1, 4), Decimal("0.25")])
def test_what_leads_bodies_takes_the_time_of_a_step_in_any_type(world, dt):
    space = ec.install()
    walker, lift, _ = steered()

    for _ in range(4):
        esper.process(dt)

    assert space.position_of(lift) == (0, 60)
    assert space.position_of(walker)[0] > 330


@pytest.mark.parametrize("dt", ["left", math.nan, -1.0, [1]])
def test_a_time_that_is_none_changes_nothing_of_what_leads_bodies(world, dt):
    ec.install()
    steered()
    esper.process(0.25)
    before = [str(esper.components_for_entity(each)) for each in esper.get_entities()]

    with pytest.raises(ValueError, match=r"dt=.* must be"):
        esper.process(dt)

    assert [str(esper.components_for_entity(each)) for each in esper.get_entities()] == before


def test_what_leads_bodies_does_nothing_in_another_world(world):
    ec.install()
    steered()
    esper.process(0.25)
    system = esper.get_processor(ec.BroadphaseSystem)
    esper.switch_world(f"{world} elsewhere")

    with pytest.raises(RuntimeError, match="is current"):
        system.process(0.25)


@pytest.mark.parametrize("by_esper", [False, True])
def test_handlers_after_one_that_leaves_the_world_run_in_this_one(world, by_esper):
    #     P --> |
    #           | door         both go through it in one step
    #     P --> |
    def leave(event):
        ran_in.append(esper.current_world)
        esper.delete_entity(event.second)
        esper.switch_world("cave")
        esper.create_entity()

    ran_in = []
    esper.create_entity(ec.Position(20, 50), ec.Extents(4, 90), ec.Sensor())  # the door
    for y in (0, 100):
        place = ec.Position(0, y), ec.Extents(4, 4), ec.Velocity(120, 0), ec.Slide()
        esper.create_entity(*place)
    space = ec.install()
    if by_esper:
        esper.set_handler(ec.CONTACT_BEGAN, leave)
    else:
        space.on_contact_began(leave)

    esper.process(0.5)

    assert ran_in == [world, world]
    assert esper.current_world == "cave"
    assert len(list(esper.get_entities())) == 2
    esper.switch_world(world)
    esper.delete_world("cave")
    esper.process(0.5)
    assert len(space) == 1


def test_install_in_a_processor_that_runs_first_or_for_another_world_works():
    body = falling()
    esper.add_processor(Late(ec.install), 200)

    def install_elsewhere():
        before = esper.current_world
        esper.switch_world("elsewhere")
        ec.install()
        esper.switch_world(before)

    esper.add_processor(Late(install_elsewhere), -5)
    esper.process(0.5)

    assert ec.install().position_of(body) == (4, 0)
    esper.delete_world("elsewhere")


def test_import_beside_esper_2_names_both_versions(tmp_path):
    (tmp_path / "esper.py").write_text(
        'version = "2.5"\nclass Processor: ...\nclass World: ...\n', "utf-8"
    )
    paths = [str(tmp_path), str(Path(ec.__file__).parent.parent)]

    done = subprocess.run(
        [sys.executable, "-c", "import ecs_collide"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "ImportError: ecs_collide needs esper 3.9 or newer, and esper 2.5 is" in done.stderr


def test_a_level_that_is_built_again_may_install_the_same_function_of_time(world):
    def build(seconds):
        esper.clear_database()
        return ec.install(dt=lambda events: seconds)

    space = build(0.25)

    assert build(0.5) is space
    esper.process("a key")
    assert space.time == 0.5


@pytest.mark.parametrize("number", [np.float32(0.5), np.int64(1), Fraction(1, 2), Decimal("0.5")])
def test_the_time_of_a_step_may_be_a_number_of_any_type(world, number):
    space = ec.install(dt=number)

    esper.process("a key")

    assert space.time == float(number)
