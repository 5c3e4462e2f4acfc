"""The kit for tests of games: the sim, its traces, the assertions and what they leave behind."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import defaultdict

import esper
import pytest

import ecs_collide as ec
from ecs_collide import testing
from ecs_collide.components.filters import NAMES
from ecs_collide.debug.pictures import draw_svg, draw_text
from ecs_collide.recording.recording import Recording
from ecs_collide.testing import Sim, assertions
from ecs_collide.testing.failures import RECORDERS
from ecs_collide.testing.watch import find_space, watch

DT = 1 / 60


class Player:
    """What the keys move."""


class Wall:
    """What stops the player."""


class Coin:
    """What is collected."""


class Keys:
    def __init__(self):
        self.right = False
        self.jump = 0.0


class Game:
    """A box that runs to the right over a floor, through a coin and against a wall."""

    def __init__(self):
        esper.create_entity(ec.Position(0, -10), ec.Extents(300, 10))
        self.wall = esper.create_entity(ec.Position(100, 20), ec.Extents(5, 20), Wall())
        self.coin = esper.create_entity(ec.Position(50, 4), ec.Extents(2, 2), ec.Sensor(), Coin())
        self.velocity = ec.Velocity(0, 0)
        body = ec.Position(0, 4), ec.Extents(4, 4), self.velocity, ec.Slide()
        self.player = esper.create_entity(*body, Player())
        self.space = ec.install()
        self.keys = Keys()
        self.coins = 0
        self.space.on_collision(self.collect, Player, Coin)
        esper.add_processor(Controls(self), priority=500)

    def collect(self, event):
        self.coins += 1
        esper.delete_entity(event.second, immediate=True)


class Controls(esper.Processor):
    def __init__(self, game):
        self.game = game

    def process(self, dt):
        self.game.velocity.x = 120.0 * self.game.keys.right
        self.game.velocity.y -= 600.0 * dt
        if self.game.keys.jump and self.game.space.is_on(self.game.player):
            self.game.velocity.y = 200.0


@pytest.fixture
def game(sim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return sim.build(Game)


def x_of(game):
    return esper.component_for_entity(game.player, ec.Position).x


# -- the sim --


def test_sim_builds_in_a_world_of_its_own_and_takes_over_the_games_keys(sim, game):
    assert esper.current_world == sim.world
    assert sim.space is game.space
    assert sim.inputs is game.keys


def test_sim_leaves_the_world_that_was_current_and_forgets_its_own():
    before, names = esper.current_world, list(NAMES.names)
    with Sim() as sim:
        ec.Filter("a new category")
        sim.build(Game)
        world = sim.world
        with Sim() as inner:
            assert inner.world not in ("default", world)
        assert esper.current_world == world

    assert esper.current_world == before
    assert world not in esper.list_worlds()
    assert NAMES.names == names


def test_sim_that_is_closed_is_recorded_no_longer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = dict(RECORDERS)
    with Sim() as sim:
        game = sim.build(Game)
        sim.step()
        assert RECORDERS[game.space].n_steps == 1
        with testing.assert_never_inside():
            sim.step()

    assert before == RECORDERS


def test_assertion_over_two_worlds_records_neither_afterwards(world):
    before = dict(RECORDERS)
    here, there = esper.current_world, f"{esper.current_world} 2"
    first = Game().space
    with testing.assert_never_inside(space=first):
        esper.process(DT)
        esper.switch_world(there)
        second = Game().space
        esper.process(DT)
        recorded = set(RECORDERS) - set(before)

    esper.switch_world(here)
    esper.delete_world(there)
    assert recorded == {first, second}
    assert before == RECORDERS


def test_event_of_a_body_that_was_made_and_deleted_in_the_step_is_waited_for(sim, game):
    class Bullet:
        pass

    class Gun(esper.Processor):
        def process(self, dt):
            body = ec.Position(0, 30), ec.Extents(1, 1), ec.Velocity(12_000, 0), ec.Stop()
            esper.create_entity(*body, Bullet())

    game.space.on_collision(lambda event: esper.delete_entity(event.other(game.wall)), Bullet)
    esper.add_processor(Gun(), priority=400)

    hit = sim.wait_for(ec.Collision, Bullet, Wall, at_most=1)

    assert hit.second == game.wall
    assert not esper.entity_exists(hit.first)


def test_input_is_held_for_some_steps_and_released(sim, game):
    sim.step(2)

    sim.hold("right", 30)

    assert x_of(game) == pytest.approx(60.0)
    assert game.keys.right is False
    sim.step(5)
    assert x_of(game) == pytest.approx(60.0)


def test_input_that_is_a_number_becomes_that_number(sim, game):
    sim.press("jump right")
    assert (game.keys.jump, game.keys.right) == (1.0, True)
    sim.release("jump")
    assert type(game.keys.jump) is float


def test_input_that_the_game_does_not_have_is_refused(sim, game):
    with pytest.raises(AttributeError, match="'rigth' is no input of Keys"):
        sim.hold("rigth", 3)


def test_inputs_of_another_kind_are_refused_with_those_that_work(sim):
    sim.inputs = set()
    with pytest.raises(AttributeError) as caught:
        sim.press("right")
    assert str(caught.value) == (
        "'right' is no input of set: set(); the inputs of a game must be a dict like "
        "{'right': False} or an object with an attribute 'right'"
    )


def test_inputs_may_be_a_dict_or_the_sims_own(sim):
    sim.press("anything")
    assert sim.inputs.anything is True
    assert sim.inputs.never is False
    sim.inputs = {"right": 0}
    sim.press("right")
    assert sim.inputs == {"right": 1}


@pytest.mark.parametrize("inputs", [{}, defaultdict(bool, left=False)])
def test_a_dict_without_names_takes_all(sim, inputs):
    sim.inputs = inputs
    sim.press("right")
    sim.press("jump")
    assert sim.inputs["right"] is sim.inputs["jump"] is True


def test_a_name_that_a_dict_of_inputs_does_not_have_is_refused(sim):
    sim.inputs = {"right": False}
    with pytest.raises(AttributeError, match=r"'rihgt' is no input of dict: {'right': False}"):
        sim.press("rihgt")


def test_script_is_played_part_by_part(sim, game):
    sim.play([("right", 10), ("", 5), ("right", 10)])

    assert sim.n_steps == 25
    assert x_of(game) == pytest.approx(40.0)
    with pytest.raises(ValueError, match="in a script must be as"):
        sim.play([(5, "right")])


def test_step_of_the_game_is_called_where_it_has_one(sim):
    calls = []

    class Stepping(Game):
        def step(self):
            calls.append(1)
            esper.process(DT)

    sim.build(Stepping)
    sim.step(3)

    assert len(calls) == 3
    assert sim.recording.n_steps == 3


def test_until_returns_how_many_steps_it_took(sim, game):
    sim.press("right")

    assert sim.until(lambda: x_of(game) > 19) == 10
    assert sim.until(lambda: True) == 0


def test_until_fails_with_a_report_after_too_many_steps(sim, game):
    def player_flies():
        return False

    with pytest.raises(AssertionError, match="player_flies does not hold within 7 steps"):
        sim.until(player_flies, at_most=7)
    assert sim.n_steps == 7


def test_wait_for_returns_the_event_in_the_order_asked_for(sim, game):
    sim.press("right")

    found = sim.wait_for(ec.Collision, Player, Wall)

    assert (found.first, found.second) == (game.player, game.wall)
    assert found.normal == (-1, 0)


def test_wait_for_sees_what_a_handler_has_deleted(sim, game):
    sim.press("right")

    found = sim.wait_for(ec.Collision, Coin, Player)

    assert found.first == game.coin
    assert not esper.entity_exists(game.coin)
    assert game.coins == 1


def test_wait_for_waits_for_contacts_too(sim, game):
    sim.step()
    sim.press("jump")

    assert sim.wait_for(ec.ContactEnded, Player).first == game.player
    assert sim.wait_for(ec.ContactBegan, Player, at_most=120).first == game.player


def test_wait_for_fails_with_what_it_waited_for(sim, game):
    with pytest.raises(AssertionError, match="no Collision of Player and Wall within 5 steps"):
        sim.wait_for(ec.Collision, Player, Wall, at_most=5)


def test_world_without_a_space_is_named(sim):
    with pytest.raises(RuntimeError, match=r"has no space: build it with ecs_collide.install\(\)"):
        sim.step()


# -- traces --


def test_trace_is_a_table_of_what_is_watched(sim, game):
    trace = sim.trace(["Player.Position.x", (game.player, ec.Velocity, "x"), x_of_player])
    sim.hold("right", 3)

    assert trace.names == ["step", "Player.Position.x", f"{game.player}.Velocity.x", "x_of_player"]
    assert trace.column("step") == [0, 1, 2, 3]
    assert trace.column("Player.Position.x") == pytest.approx([0, 2, 4, 6])
    assert trace.column("x_of_player") == trace.column("Player.Position.x")
    assert len(trace) == 4


def x_of_player():
    ((_, (place, _)),) = esper.get_components(ec.Position, Player)
    return place.x


def test_trace_is_given_as_csv_json_and_text(sim, game, tmp_path):
    trace = sim.trace({"x": "Player.Position.x", "coins": lambda: game.coins})
    sim.hold("right", 2)

    rows = list(csv.DictReader(io.StringIO(trace.to_csv(tmp_path / "x.csv"))))
    assert [float(row["x"]) for row in rows] == trace.column("x")
    assert (tmp_path / "x.csv").read_text() == trace.to_csv()
    assert json.loads(trace.to_json(tmp_path / "x.json")) == trace.rows == list(trace)
    assert str(trace).splitlines()[1].split() == ["0", "0.0", "0"]
    assert trace._repr_html_().count("<tr>") == 4


def test_trace_of_an_entity_that_is_gone_has_none(sim, game):
    trace = sim.trace([f"{game.coin}.Position.x"])
    sim.press("right")
    sim.wait_for(ec.Collision, Coin, Player)

    assert trace.rows[-1][f"{game.coin}.Position.x"] is None


def test_trace_refuses_what_names_no_field_or_several_entities(sim, game):
    with pytest.raises(ValueError, match=r"must be as 'Player\.Velocity\.x'"):
        sim.trace(["Player.x"])
    with pytest.raises(ValueError, match="names 4 entities"):
        sim.trace(["Position.Position.x"])
    with pytest.raises(TypeError, match="must be given a list"):
        sim.trace("Player.Position.x")


# -- hits --


def test_hit_is_returned_as_the_first_body_sees_it(sim, game):
    sim.press("right")
    sim.wait_for(ec.Collision, Player, Wall)

    assert testing.assert_hit(Player, Wall, normal=(-1, 0)).first == game.player
    assert testing.assert_hit(game.wall, game.player, normal=(1, 0)).first == game.wall
    time = testing.assert_hit(Player, Wall).time
    assert testing.assert_hit(Player, Wall, at=pytest.approx(time)).time == time


def test_hit_that_did_not_happen_or_was_another_fails_with_what_there_was(sim, game):
    sim.press("right")
    hit = sim.wait_for(ec.Collision, Player, Wall)

    with pytest.raises(AssertionError, match="Player and Coin did not meet in the last step"):
        testing.assert_hit(Player, Coin)
    with pytest.raises(AssertionError) as caught:
        testing.assert_hit(game.player, game.wall, at=0.25, normal=(0, 1))
    assert f"met at {hit.time!r} with normal (-1.0, 0.0)" in str(caught.value)
    assert "and not at 0.25 with normal (0.0, 1.0)" in str(caught.value)


def test_failure_explains_draws_and_leaves_a_recording(sim, game, tmp_path):
    sim.hold("right", 5)

    with pytest.raises(AssertionError) as caught:
        testing.assert_hit(game.player, game.wall)

    report = str(caught.value)
    assert f"explain: entities {game.wall} and {game.player} collide when they meet" in report
    assert "last events, 1 of 1:\n  Collision of 1 and" in report
    assert f"A entity {game.player}; B entity {game.wall}; from (" in report
    (path,) = tmp_path.glob(".ecs_collide/*.rec")
    assert f"python -m ecs_collide.recording .ecs_collide/{path.name}" in report
    assert Recording.load(path).n_steps == 5
    (picture,) = tmp_path.glob(".ecs_collide/*.svg")
    assert picture.read_text().count("<title>entity") == 4


def test_failure_explains_component_types_that_one_body_each_has(sim, game):
    class Twin:
        pass

    twins = [
        esper.create_entity(ec.Position(x, 300.0), ec.Extents(1, 1), Twin()) for x in (0.0, 9.0)
    ]
    esper.create_entity(Wall())  # is no body
    sim.step()

    with pytest.raises(AssertionError) as caught:
        testing.assert_hit(Player, Wall)
    pair = f"entities {game.wall} and {game.player}"
    assert f"explain: {pair} collide when they meet" in str(caught.value)
    with pytest.raises(AssertionError) as caught:
        testing.assert_hit(game.player, Twin)
    assert "explain:" not in str(caught.value)
    assert f"A entity {game.player}" in str(caught.value)
    with pytest.raises(AssertionError) as caught:
        testing.assert_hit(None, Twin)
    assert "explain:" not in str(caught.value)
    esper.delete_entity(twins[1], immediate=True)
    sim.step()
    with pytest.raises(AssertionError, match=f"explain: entities {game.player} and {twins[0]}"):
        testing.assert_hit(Twin, game.player)


def test_failures_of_one_test_leave_four_files_at_most(sim, game, tmp_path):
    sim.step()
    for _ in range(9):
        with pytest.raises(AssertionError):
            testing.assert_hit(Player, Coin)

    assert len(list(tmp_path.glob(".ecs_collide/*.rec"))) == 4


# -- reaching --


def test_reaching_a_box_tells_in_how_many_steps(sim, game):
    sim.press("right")

    assert testing.assert_reaches(game.player, ((30, 0), (40, 8)), within=60) == 13
    assert testing.assert_reaches(game.player, ((30, 0), (40, 8)), within=60) == 0


def test_not_reaching_a_box_tells_how_far_it_was(sim, game):
    with pytest.raises(AssertionError, match="it is 26 away, and was never nearer than 26"):
        testing.assert_reaches(game.player, ((30, 0), (40, 8)), within=3)
    assert sim.n_steps == 3


def test_body_that_is_deleted_on_its_way_does_not_reach(sim, game):
    game.space.on_collision(lambda event: esper.delete_entity(game.player), Player, Coin)
    sim.press("right")

    with pytest.raises(AssertionError, match="was deleted after 23 steps, before it reached"):
        testing.assert_reaches(game.player, ((80, 0), (90, 8)), within=60)


# -- stretches of steps --


def test_nothing_is_inside_anything_while_the_player_runs_into_a_wall(sim, game):
    with testing.assert_never_inside(Player, Wall), testing.assert_contacts_balanced():
        sim.hold("right", 80)


def test_body_that_comes_to_be_inside_a_wall_is_found_after_the_step(sim, game):
    sim.step(3)

    def play():
        with testing.assert_never_inside(Player):
            sim.step(3)
            esper.component_for_entity(game.player, ec.Position).x = 100.0
            sim.step(4)

    with pytest.raises(AssertionError) as caught:
        play()

    assert f"entities {game.wall} and {game.player} are 8.0 inside each other" in str(caught.value)
    assert sim.n_steps == 6  # the seventh was not finished


#            +----+
#        /|  |\ C |       a corner of each body is on the line of its slope
#   +--+/ |  | \  |
#   +--/  |  |+-+\|
#     +---+   +-+
@pytest.mark.parametrize(
    ("slope", "x", "y", "depth"),
    [
        (ec.Slope("right"), 30.0, 38.0, r"2\.121320"),
        (ec.Slope("left", low=0.5), 30.0, 91.0, r"2\.683281"),
        (ec.Slope("left", ceiling=True), 46.0, 46.0, r"2\.121320"),
        (ec.Slope("right", high=0.25, ceiling=True), 60.0, 10.0, r"2\.910427"),
    ],
)
def test_body_on_a_slope_is_outside_and_one_beyond_its_line_is_inside(sim, slope, x, y, depth):
    place = ec.Position(x, y)
    esper.create_entity(ec.Position(50, 50), ec.Extents(50, 50), slope)
    esper.create_entity(place, ec.Extents(4, 4), ec.Velocity(0, 0), ec.Slide())
    ec.install()
    with testing.assert_never_inside():
        sim.step()
    sim.step()
    inside = 3.0 if slope.ceiling else -3.0

    def sink():
        with testing.assert_never_inside():
            sim.step()
            place.y += inside
            sim.step()

    with pytest.raises(AssertionError, match=rf"are {depth}\d* inside each other"):
        sink()


def test_pairs_that_nobody_asked_for_sensors_and_old_overlaps_are_skipped(sim, game):
    esper.component_for_entity(game.player, ec.Position).x = 100.0
    sim.step()
    with testing.assert_never_inside():
        sim.step(5)
    esper.component_for_entity(game.player, ec.Position).x = 50.0  # in the coin
    with testing.assert_never_inside(Player, Coin), testing.assert_never_inside(Coin):
        sim.step(5)


@pytest.mark.parametrize(
    "make", [testing.assert_never_inside, testing.assert_contacts_balanced], ids=["inside", "even"]
)
def test_block_without_a_step_tests_nothing_and_fails(sim, game, make):
    with pytest.raises(AssertionError, match="no step was done in its block"), make():
        pass


@pytest.mark.parametrize(
    ("listed_at_first", "listed_later", "words"),
    [
        (False, True, "is listed and did not begin"),
        (True, False, "began and is not listed"),
        (False, False, "ended, and had not begun"),
    ],
)
def test_contact_that_begins_or_ends_without_the_other_is_found(
    sim, game, monkeypatch, listed_at_first, listed_later, words
):
    sim.step(3)
    real = game.space.contacts()
    shown = [real if listed_at_first else []]
    monkeypatch.setattr(assertions, "contacts_of_step", lambda space: shown[0])

    def play():
        with testing.assert_contacts_balanced():
            shown[0] = real if listed_later else []
            if words.startswith("ended"):
                game.velocity.y = 100.0
            sim.step(3)

    with pytest.raises(AssertionError, match=f"the contact of 1 and {game.player} {words}"):
        play()


def test_assertions_about_stretches_work_without_a_sim(world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    game = Game()

    def play():
        with testing.assert_never_inside():
            for _ in range(5):
                esper.process(DT)
            esper.component_for_entity(game.player, ec.Position).x = 100.0
            esper.process(DT)

    with pytest.raises(AssertionError, match=r"recording: python -m ecs_collide\.recording"):
        play()

    (path,) = tmp_path.glob(".ecs_collide/*.rec")
    assert Recording.load(path).n_steps == 6


# -- watching and drawing --


def test_esper_is_as_it_was_when_nobody_watches_any_more(world):
    class Observer:
        def before(self, space, dt):
            pass

        after = before

    original = esper.process
    ends = [watch(Observer()), watch(Observer())]
    assert esper.process is not original
    for end in ends:
        end()
    assert esper.process is original


def test_space_is_found_by_a_system_of_the_games_own(world):
    class Broad(ec.BroadphaseSystem):
        pass

    space = ec.Space()
    esper.add_processor(Broad(space))

    assert find_space() is space


def test_picture_of_a_world_has_each_body_in_its_place(world):
    esper.create_entity(ec.Position(0, 0), ec.Extents(10, 1))
    ball = esper.create_entity(ec.Position(0, 5), ec.Extents(1, 1), ec.Velocity(0, 0), ec.Slide())
    space = ec.install()
    esper.process(DT)

    lines = draw_text(space).splitlines()

    assert lines[0] == lines[-2] == "+" + "-" * (len(lines[0]) - 2) + "+"
    rows = [n for n, line in enumerate(lines) if "++" in line[1:-1]]
    floor = [n for n, line in enumerate(lines) if "####" in line]
    assert rows
    assert max(rows) < min(floor)
    assert "A" in draw_text(space, [ball])


def test_picture_has_y_down_where_the_game_has(world, tmp_path):
    esper.create_entity(ec.Position(0, 10), ec.Extents(10, 1))
    esper.create_entity(ec.Position(0, 5), ec.Extents(1, 1), ec.Velocity(0, 0), ec.Slide())
    space = ec.install(up=(0, -1))
    esper.process(DT)

    lines = draw_text(space).splitlines()
    marks = ["".join(lines).index("++", 70), "".join(lines).index("####")]

    assert marks == sorted(marks)
    assert draw_svg(space, tmp_path / "x.svg").read_text().startswith("<svg")


def test_picture_of_a_slope_is_its_solid_part(world, tmp_path):
    #   AA
    #   AAAAAA
    #   AAAAAAAAAA
    ramp = esper.create_entity(ec.Position(30, 10), ec.Extents(30, 10), ec.Slope("left"))
    space = ec.install()
    esper.process(DT)

    rows = [line.strip("| ") for line in draw_text(space, [ramp]).splitlines()[1:-2]]
    drawn = draw_svg(space, tmp_path / "x.svg").read_text()

    lengths = [len(row) for row in rows if row]
    assert lengths == sorted(lengths)
    assert lengths[-1] > 2 * lengths[0]
    (points,) = re.findall(r'points="([^"]*)"', drawn)
    assert len(set(points.split())) == 3


def test_picture_of_nothing_and_of_numbers_that_are_none_is_drawn(world):
    space = ec.install()
    esper.process(DT)
    assert draw_text(space) == "(there is no body to draw)"
    place = ec.Position(0, 0)
    esper.create_entity(place, ec.Extents(0, 0))
    other = ec.Position(5, 5)
    esper.create_entity(other, ec.Extents(1, 1))
    other.x = math.nan
    with pytest.warns(RuntimeWarning):
        esper.process(DT)

    assert "#" in draw_text(space)
