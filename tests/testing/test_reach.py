"""The search for inputs that lead to a goal."""

from __future__ import annotations

import re
from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from ecs_collide import testing
from ecs_collide.character import Character
from tests.testing import rooms
from tests.testing.rooms import Goal, Player, Room

pytestmark = pytest.mark.slow_in_python  # a search plays thousands of steps

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
WAYS = ["left", "right", "left jump", "right jump"]


def enter(sim, rows):
    room = sim.build(Room, rows)
    sim.step()
    return room


def place_of(sim, player=Player):
    return sim.space.positions([esper.get_component(player)[0][0]])[0]


def touches(sim, player, goal):
    """Return whether the player's box touches a goal's, compared here."""
    one, other = (sim.space.bounds(esper.get_component(kind)[0][0]) for kind in (player, goal))
    return all(a <= d and c <= b for a, b, c, d in zip(*one, *other, strict=True))


def play(rows, tape):
    """Play a tape in a new world; return the space's hash after each step and the last place."""
    with testing.Sim() as sim:
        enter(sim, rows)
        hashes = []
        for names, n in tape:
            sim.press(names)
            for _ in range(n):
                sim.step()
                hashes.append(sim.space.state_hash())
            sim.release(names)
        return hashes, touches(sim, Player, Goal)


# -- levels that can be done, and levels that cannot --


@pytest.mark.parametrize("name", ["STAIRS", "GAP", "SHELF", "PIT", "CRATE", "TUNNEL"])
def test_tape_that_is_found_leads_to_the_goal_in_a_new_world_bit_for_bit(sim, name):
    rows = getattr(rooms, name)
    enter(sim, rows)

    found = testing.reach(sim, Player, Goal)

    assert found
    assert play(rows, found.tape) == play(rows, found.tape)
    assert play(rows, found.tape)[1]


def test_door_that_is_shut_is_reached_by_way_of_its_key(sim):
    enter(sim, rooms.DOOR)
    assert testing.reach(sim, Player, Goal)

    for key, _ in esper.get_component(rooms.Key):
        esper.delete_entity(key)
    sim.step()
    assert not testing.reach(sim, Player, Goal, WAYS, bounds=((0, 0), (112, 80)))


def test_lift_is_taken_and_nothing_else_leads_up(sim):
    enter(sim, rooms.LIFT)
    lift = esper.get_component(rooms.Lift)[0][0]

    found = testing.reach(sim, Player, Goal, WAYS)

    assert play(rooms.LIFT, found.tape)[1]
    esper.delete_entity(lift)
    sim.step()
    assert not testing.reach(sim, Player, Goal, WAYS, bounds=((0, 0), (112, 96)))


@pytest.mark.parametrize(
    "name",
    [
        "WELL",
        pytest.param("CANYON", marks=pytest.mark.long),
        pytest.param("LID", marks=pytest.mark.long),
        pytest.param("SPIKES", marks=pytest.mark.long),
    ],
)
def test_goal_that_is_too_far_is_not_reached_and_the_search_says_that_it_tried_all(sim, name):
    enter(sim, getattr(rooms, name))

    found = testing.reach(sim, Player, Goal)

    assert not found
    assert found.tape is None
    assert found.is_complete
    assert found.nearest > 0
    assert f"not reached, {found.nearest:.6g} away" in repr(found)


def test_player_who_starts_elsewhere_gets_out_of_a_pit_and_not_out_of_a_well(sim):
    room = enter(sim, rooms.PIT)
    assert testing.reach(sim, Player, Goal, start=(24, 56))

    with testing.Sim() as other:
        room = enter(other, rooms.WELL)
        assert testing.reach(other, Player, Goal, start=(24, 104))
        assert not testing.reach(other, room.player, Goal)


def test_tutorials_level_can_be_played_to_its_last_coin(sim, tmp_path):
    from ecs_collide.levels import tiled

    path = tmp_path / "level.tmx"
    path.write_text(re.search(r"```xml\n(.*?)```", TUTORIAL.read_text("utf-8"), re.S)[1])
    level = tiled.load(path)
    level.create_solids()
    hero = Character(walk_speed=200)
    body = ec.Extents(12, 20), ec.Velocity(0, 0), ec.Slide(), hero, Player()
    esper.create_entity(ec.Position(*level.of_type("start")[0].centre), *body)
    x, y = max(coin.centre for coin in level.of_type("coin"))
    keys = rooms.Keys()
    sim.build(lambda: TutorialGame(keys, hero))
    sim.step(20)

    found = testing.reach(sim, Player, ((x - 8, y - 8), (x + 8, y + 8)), hold=8)

    assert found
    sim.play(found.tape)
    assert abs(place_of(sim) - (x, y)).max() <= 28


class TutorialGame:
    def __init__(self, inputs, hero):
        self.inputs, self.hero = inputs, hero
        self.space = ec.install()

    def step(self):
        self.hero.walk = float(self.inputs.right) - float(self.inputs.left)
        self.hero.jump = self.inputs.jump
        esper.process(1 / 60)


@pytest.mark.long
def test_demos_level_is_played_from_checkpoint_to_checkpoint(sim, volume):
    from demos.platformer import game as platformer
    from demos.platformer.machines import Player as DemoPlayer

    game = sim.build(platformer.build)
    sim.step(30)
    checkpoints = sorted(game.level.of_type("checkpoint"), key=lambda each: each.name)
    shaft = game.lifts["shaft"]
    found = []

    for place in checkpoints[: volume(1, 1, 3)]:  # the third takes 30 times as long
        (x, y), (half_x, half_y) = place.centre, place.half
        found.append(
            testing.reach(
                sim,
                DemoPlayer,
                ((x - half_x, y - half_y), (x + half_x, y + half_y)),
                WAYS,
                hold=volume(30, 30, 12),  # longer holds reach the first one in a fifth of the time
                key=lambda: sim.space.positions([shaft])[0, 1] // 64,
            )
        )
        assert found[-1]
        sim.play(found[-1].tape)
        assert abs(place_of(sim, DemoPlayer) - (x, y)).max() <= 46

    n_steps = [sum(n for _, n in each.tape) for each in found]
    assert sum(n_steps[:2]) < 420  # 1,482 units at 4 a step are 371
    # Up the shaft with a lift that must be waited for: 50 ms a moment are less than a minute.
    assert max(each.n_moments for each in found) < 1000


# -- the map --


def test_places_are_all_on_which_the_player_can_stand(sim):
    enter(sim, rooms.SHELF)

    found = testing.reach(sim, Player, inputs=WAYS, bounds=((0, 0), (80, 110)))

    assert found.tape is None
    assert found.is_complete
    feet = {round(float(y) - 8) for _, y in found.places}
    assert feet == {16, 48, 80}  # the floor and both shelves
    assert len(found.places) == len({(x // 12, y // 12) for x, y in found.places})
    assert repr(found) == f"<Reach: {len(found.places)} places; {found.n_moments} moments>"


# -- the search leaves no trace --


def test_search_leaves_the_game_as_it_was(sim):
    room = enter(sim, rooms.DOOR)
    sim.hold("right", 10)
    before = sim.space.state_hash(), sim.n_steps, vars(room.keys).copy(), len(sim.space)

    assert testing.reach(sim, Player, Goal)

    assert (sim.space.state_hash(), sim.n_steps, vars(room.keys), len(sim.space)) == before
    assert esper.entity_exists(esper.get_component(rooms.Key)[0][0])


def test_game_that_fails_is_brought_back_and_its_error_passes_through(sim):
    room = enter(sim, rooms.STAIRS)
    before = sim.space.state_hash()

    def fail():
        if place_of(sim)[0] > 40:
            raise LookupError("a fault of the game")
        return False

    with pytest.raises(LookupError, match="a fault of the game"):
        testing.reach(sim, Player, fail)
    assert sim.space.state_hash() == before
    assert not room.keys.right


# -- goals --


def test_goal_may_be_a_box_an_entity_a_component_or_a_question(sim):
    enter(sim, rooms.GAP)
    goal = esper.get_component(Goal)[0][0]
    low, high = sim.space.bounds(goal)

    tapes = [
        testing.reach(sim, Player, each).tape
        for each in (goal, Goal, (low, high), lambda: touches(sim, Player, Goal))
    ]

    assert tapes[0] == tapes[1] == tapes[2]
    assert tapes[3] is not None


def test_tape_is_no_longer_than_that_of_a_search_without_a_hint(sim):
    enter(sim, rooms.GAP)

    hinted = testing.reach(sim, Player, Goal)
    blind = testing.reach(sim, Player, lambda: touches(sim, Player, Goal))

    steps = [sum(n for _, n in found.tape) for found in (hinted, blind)]
    assert abs(steps[0] - steps[1]) <= 6
    assert hinted.n_moments < blind.n_moments


def test_player_at_the_goal_needs_no_tape(sim):
    enter(sim, rooms.GAP)

    found = testing.reach(sim, Player, tuple(sim.space.bounds(sim.game.player)))

    assert found.tape == []
    assert found
    assert repr(found) == "<Reach: reached in 0 steps; 0 moments, 0 places>"


def test_search_that_is_cut_off_says_so(sim):
    enter(sim, rooms.STAIRS)

    found = testing.reach(sim, Player, Goal, at_most=3)

    assert not found
    assert not found.is_complete
    assert found.n_moments == 3
    assert "not reached yet" in repr(found)


def test_game_without_inputs_is_searched_too(sim):
    def build():
        esper.create_entity(ec.Position(0, -10), ec.Extents(100, 10))
        body = ec.Position(0, 4), ec.Extents(4, 4), ec.Velocity(30, 0), ec.Slide()
        esper.create_entity(*body, Player())
        ec.install(gravity=(0, -100))

    sim.build(build)
    sim.step()

    found = testing.reach(sim, Player, ((50, 0), (60, 10)), ["wave"])

    assert found.tape == [("", 91)]  # half a unit in a step: 46 units in 92, one before
    assert not sim.inputs.wave


# -- errors --


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hold": 0}, r"reach\(hold=0\) must be above 0"),
        ({"cell": -1.0}, r"reach\(cell=-1.0\) must be above 0"),
        ({"at_most": 0}, r"reach\(at_most=0\) must be above 0"),
        ({"player": 999}, "no body is the player, entity 999"),
        ({"player": rooms.Door}, "no body is the player, Door"),
        ({"player": rooms.Spikes}, "2 bodies are the player, Spikes"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(sim, arguments, message):
    enter(sim, "P..^.^..G\n#########")
    arguments = {"player": Player, **arguments}

    with pytest.raises(ValueError, match=message):
        testing.reach(sim, goal=Goal, **arguments)


def test_input_that_the_game_does_not_have_is_named(sim):
    enter(sim, rooms.GAP)

    with pytest.raises(AttributeError, match="'fly' is no input of Keys"):
        testing.reach(sim, Player, Goal, ["fly"])


def test_object_that_cannot_be_brought_back_is_named(sim):
    room = enter(sim, rooms.GAP)
    room.numbers = (n for n in range(3))

    with pytest.raises(AssertionError, match=r"reach\(\) cannot keep a generator"):
        testing.reach(sim, Player, Goal)
