"""Runs that are compared with themselves: repeats, rollbacks, golden logs, worlds that are kept."""

from __future__ import annotations

import struct
import subprocess
import sys
import textwrap

import esper
import pytest

import ecs_collide as ec
from ecs_collide import testing
from ecs_collide.character import Character
from ecs_collide.recording.recording import Recording
from ecs_collide.testing import places
from ecs_collide.testing.logs import explain_log, format_log, require_live
from ecs_collide.testing.repeats import reorder
from ecs_collide.testing.sim import Sim

DT = 1 / 60
SCRIPT = [("right", 20), ("", 10), ("right jump", 20)]

# Where there is no compiled kernel, that variant is skipped, with a warning.
pytestmark = pytest.mark.filterwarnings("ignore:assert_repeats.. skips 'kernels'")


class Aim:
    """Where the player looks: a component that snapshots do not hold without being told."""

    def __init__(self, angle=0.0):
        self.angle = angle


class Player:
    """What the keys move."""


def next_up(number):
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    return struct.unpack("<d", struct.pack("<q", bits + 1))[0]


class Keys:
    right = jump = False


class Runner(esper.Processor):
    """Moves the player; at one step it may change one bit of its velocity."""

    def __init__(self, game, nudge_at=None):
        self.game = game
        self.nudge_at = nudge_at

    def process(self, dt):
        for _, (velocity, _, aim) in esper.get_components(ec.Velocity, Player, Aim):
            velocity.x = 120.0 * self.game.keys.right
            velocity.y -= 600.0 * dt
            if self.game.keys.jump and self.game.space.is_on(self.game.player):
                velocity.y = 200.0
            aim.angle += 0.1
            self.game.n += 1
            if self.nudge_at is not None and self.nudge_at(self.game):
                velocity.x = next_up(velocity.x)


class Game:
    def __init__(self, nudge_at=None, save=None):
        self.keys = Keys()
        self.n = 0
        esper.create_entity(ec.Position(0, -10), ec.Extents(300, 10))
        esper.create_entity(ec.Position(60, 20), ec.Extents(5, 20))
        body = ec.Position(0, 4), ec.Extents(4, 4), ec.Velocity(0, 0), ec.Slide()
        self.player = esper.create_entity(*body, Player(), Aim())
        self.space = ec.install()
        self.space.snapshot_with(Player, lambda player: b"", lambda data: Player())
        if save is not None:
            self.space.snapshot_with(Aim, save, lambda data: Aim(*struct.unpack("<d", data)))
        esper.add_processor(Runner(self, nudge_at), priority=500)


def save_aim(aim):
    return struct.pack("<d", aim.angle)


def build():
    return Game(save=save_aim)


def nudged_in(condition):
    """Return a build whose player gets another bit in step 17 of those runs that differ."""
    return lambda: Game(lambda game: game.n == 17 and condition(game), save_aim)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- repeats --


def test_game_repeats_in_every_variant():
    done = testing.assert_repeats(build, SCRIPT)

    both = ["kernels"] if ec.COMPILED or "kernels" in done else []  # the compiled ones are there
    assert done == ["again", "order", "margins", *both, "hash seed"]


def test_local_function_is_repeated_in_this_process_only():
    with pytest.warns(UserWarning, match=r"skips 'hash seed': another process cannot import"):
        assert "hash seed" not in testing.assert_repeats(lambda: build(), SCRIPT)
    with pytest.raises(ValueError, match="variant 'hash seed' is not possible here"):
        testing.assert_repeats(lambda: build(), SCRIPT, variants=["hash seed"])


def test_game_of_the_script_itself_is_repeated_without_the_other_process(folder):
    script = folder / "script.py"
    program = """
        import esper
        import ecs_collide as ec
        from ecs_collide import testing

        def build():
            esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Velocity(60, 0))
            esper.create_entity(ec.Position(4, 0), ec.Extents(1, 1))
            return ec.install()

        print(testing.assert_repeats(build, 5))
    """
    script.write_text(textwrap.dedent(program))

    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)

    assert done.stdout.startswith("['again', 'order', 'margins'")
    assert "hash seed" not in done.stdout
    assert "UserWarning: assert_repeats() skips 'hash seed'" in done.stderr
    assert "make it a function of a module other than the script that runs" in done.stderr


def test_build_that_does_steps_is_repeated_in_the_other_ways(world):
    def stepped():
        game = Game(save=save_aim)
        esper.process(DT)
        return game

    with (
        pytest.warns(UserWarning, match="skips 'order': it needs a build"),
        pytest.warns(UserWarning, match="skips 'hash seed'"),
    ):
        done = testing.assert_repeats(stepped, SCRIPT)

    assert {"order", "hash seed"}.isdisjoint(done)
    with pytest.raises(ValueError, match="variant 'order' is not possible here: it needs a build"):
        testing.assert_repeats(stepped, SCRIPT, variants=["order"])


def runs():
    """Return a function that is true from the second run on."""
    seen = []

    def is_later(game):
        seen.append(game)
        return len(seen) > 1

    return is_later


@pytest.mark.parametrize(
    ("variant", "condition"),
    [
        ("again", runs()),
        ("order", lambda game: next(iter(esper.get_entities())) != 1),
        ("margins", lambda game: game.space._settings.margin is not None),
    ],
)
def test_repeat_that_differs_in_one_bit_names_step_and_field(variant, condition, folder):
    with pytest.raises(AssertionError) as caught:
        testing.assert_repeats(nudged_in(condition), SCRIPT, variants=[variant])

    report = str(caught.value)
    assert "step 17 is the first that differs:" in report
    assert f"entity 3 (Aim, Player): Velocity.x 120.0 against {next_up(120.0)!r}" in report
    assert "A entity 3; from (" in report
    assert report.count("python -m ecs_collide.recording") == 2
    assert len(list(folder.glob(".ecs_collide/*.rec"))) == 2


def test_repeat_in_another_process_names_what_a_hash_seed_changes():
    with pytest.raises(AssertionError, match=r"PYTHONHASHSEED=\d: step 0 is the first") as caught:
        testing.assert_repeats(build_by_hash, SCRIPT, variants=["hash seed"])
    assert "Position.x" in str(caught.value)


def build_by_hash():
    """Build a game whose player is where the hash of a text says: of two seeds, never the same."""
    game = build()
    esper.component_for_entity(game.player, ec.Position).x = hash("player") * 2.0**-63
    return game


def test_run_in_which_nothing_happens_is_no_test():
    def still():
        esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1))
        ec.install()

    with pytest.raises(AssertionError, match="nothing moved and nothing met in 5 steps"):
        testing.assert_repeats(still, 5)

    def lonely():
        esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Velocity(1, 0))
        ec.install()

    with pytest.raises(AssertionError, match=r"^nothing met in 5 steps"):
        testing.assert_repeats(lonely, 5)


def test_variant_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="variant 'colour' must be one of again, order"):
        testing.assert_repeats(build, 5, variants=["colour"])


def test_world_is_added_again_in_another_order_under_the_same_ids(world):
    game = build()
    before = {e: set(map(id, esper.components_for_entity(e))) for e in esper.get_entities()}

    reorder(game.space)

    assert list(esper.get_entities()) == [3, 2, 1]
    assert {e: set(map(id, esper.components_for_entity(e))) for e in before} == before
    assert esper.create_entity() == 4
    esper.process(DT)
    with pytest.raises(ValueError, match=r"needs a build\(\) that does no step"):
        reorder(game.space)


# -- rollback --


@pytest.mark.parametrize("distance", [1, 8])
def test_game_that_saves_its_own_components_is_safe_for_rollback(distance):
    testing.assert_rollback_safe(build, SCRIPT, distance)


def test_component_that_snapshots_do_not_hold_is_named_by_a_rollback():
    with pytest.raises(AssertionError) as caught:
        testing.assert_rollback_safe(Game, SCRIPT)

    report = str(caught.value)
    assert "restored to step 0 from step 8: step 0 is the first that differs:" in report
    assert "entity 3 (Aim, Player): Aim.angle 0.0 against 0.7999999999999999" in report
    assert "tell Space.snapshot_with how to save what did not come back" in report


def test_game_that_acts_otherwise_the_second_time_is_found_by_a_rollback():
    with pytest.raises(AssertionError, match=r"and played on: step \d+ is the first") as caught:
        testing.assert_rollback_safe(nudged_in(runs()), SCRIPT, 4)
    assert "Velocity.x" in str(caught.value)


class Hero(Game):
    """A character that is told to walk by whole numbers, as in the tutorial."""

    def __init__(self):
        super().__init__(save=save_aim)
        self.hero = Character()
        body = ec.Position(-40, 4), ec.Extents(4, 4), ec.Velocity(0, 0), ec.Slide()
        esper.create_entity(*body, self.hero)

    def step(self):
        self.hero.walk = self.keys.right - 0
        self.hero.jump = int(self.keys.jump)
        esper.process(DT)


def test_character_that_walks_by_whole_numbers_is_safe_for_rollback():
    testing.assert_rollback_safe(Hero, SCRIPT)


def test_distance_of_no_steps_is_refused():
    with pytest.raises(ValueError, match="distance=0 must be 1 step or more"):
        testing.assert_rollback_safe(build, SCRIPT, 0)


# -- logs --


def run_of(how, script=SCRIPT):
    with Sim(keep=None) as sim:
        sim.build(how)
        sim.play(script)
        return sim.recording


def test_log_has_what_changes_and_the_events_and_its_numbers_read_back():
    recording = run_of(build)

    log = format_log(recording)

    lines = log.splitlines()
    assert lines[:2] == ["# 50 steps", "step 0"]
    assert "  entity 1: Position x=0.0 y=-10.0" in lines
    assert sum(line.startswith("  entity 1:") for line in lines) == 2  # it never changes
    assert "Aim" not in log.replace("(Aim, Player)", "")  # of which the library promises nothing
    assert any(line.startswith("  Collision of 2 and 3 (Aim, Player), time ") for line in lines)
    last = [line for line in lines if "entity 3 (Aim, Player): Position" in line][-1]
    x = float(last.partition("x=")[2].partition(" ")[0])
    assert x == recording.frames[-1].entities[3]["Position"]["x"]


def test_log_that_differs_in_one_bit_is_told_by_step_entity_and_field():
    golden = format_log(run_of(build))
    other = format_log(run_of(nudged_in(lambda game: True)))

    assert explain_log(golden, other) == (
        "step 17 is the first that differs:\n  entity 3 (Aim, Player): Velocity.x 120.0 "
        f"in the golden log, now {next_up(120.0)!r}"
    )


def test_log_that_is_longer_or_has_other_events_is_told():
    golden = format_log(run_of(build))

    lines = golden.splitlines()
    at = next(n for n, line in enumerate(lines) if "ContactBegan" in line)
    shorter = "\n".join(lines[:at] + lines[at + 1 :])

    told = explain_log(golden, shorter)

    assert f"in the golden log: {lines[at].strip()}\n  now: absent" in told
    assert explain_log("# 50 steps\n", "# 30 steps\n") == (
        "the golden log has 50 steps, and this run 30 steps"
    )
    gone = explain_log("# 1 steps\nstep 1\n  entity 7: gone\n", "# 1 steps\n")
    assert gone.endswith("entity 7: gone in the golden log, now absent")


def test_log_of_a_run_whose_beginning_is_missing_is_refused(sim):
    sim.keep = 3
    sim.build(build)
    sim.step(9)

    with pytest.raises(ValueError, match=r"set sim\.keep = None before the first step"):
        testing.logs.recording_of(sim)


def test_liveness_counts_moves_of_what_the_library_writes_and_meetings():
    require_live(run_of(build))
    with pytest.raises(AssertionError, match="nothing moved"):
        require_live(Recording([], {}))


# -- worlds that are kept --


@pytest.fixture
def kept(monkeypatch):
    monkeypatch.setattr(places, "PLACES", {})
    found = places.Places()
    yield found
    found.close()


def test_world_at_a_place_is_built_once_and_comes_back_with_the_games_own_state(kept):
    @testing.leads_to("the wall")
    def go(sim):
        sim.build(Game)
        sim.hold("right", 30)

    sim = kept.at("the wall")
    start, n = sim.space.state_hash(), sim.game.n
    sim.hold("right jump", 25)
    assert sim.game.n == n + 25
    kept.leave()
    assert esper.current_world != sim.world

    again = kept.at("the wall")

    assert again is sim
    assert kept.n_built == 1
    assert (again.space.state_hash(), again.game.n) == (start, n)
    assert esper.component_for_entity(again.game.player, Aim).angle == pytest.approx(3.0)
    assert again.n_steps == 0


def test_place_may_begin_at_another_place(kept):
    @testing.leads_to("start")
    def start(sim):
        sim.build(Game)
        sim.step(5)

    @testing.leads_to("middle", start="start")
    def go(sim):
        assert sim.game.n == 5
        sim.hold("right", 5)

    assert kept.at("middle").game.n == 10
    kept.leave()
    assert kept.at("start").game.n == 5


def test_world_whose_systems_or_handlers_a_test_has_changed_is_built_anew(kept):
    @testing.leads_to("start")
    def start(sim):
        sim.build(Game)
        sim.step(5)

    kept.at("start").space.on_collision(print)
    kept.leave()
    assert kept.at("start").space.handlers == []
    kept.leave()

    assert kept.n_built == 2


def test_places_that_begin_at_each_other_are_named_instead_of_played_for_ever(kept):
    testing.leads_to("itself", start="itself")(print)
    testing.leads_to("hall", start="yard")(print)
    testing.leads_to("yard", start="hall")(print)
    testing.leads_to("attic", start="yard")(print)

    with pytest.raises(LookupError, match="one never gets there: 'itself' from 'itself'"):
        kept.at("itself")
    with pytest.raises(LookupError, match="'hall' from 'yard' from 'hall'"):
        kept.at("hall")
    with pytest.raises(LookupError, match="'attic' from 'yard' from 'hall' from 'yard'"):
        kept.at("attic")


def test_place_that_nobody_leads_to_is_named_with_those_that_are_known(kept):
    testing.leads_to("start")(print)

    with pytest.raises(LookupError, match=r"leads_to\('end'\); places that are known: start"):
        kept.at("end")


def test_state_that_cannot_be_kept_is_named(kept):
    class WithGenerator(Game):
        def __init__(self):
            super().__init__()
            self.waves = (n for n in range(3))

    @testing.leads_to("start")
    def start(sim):
        sim.build(WithGenerator)
        sim.step()

    with pytest.raises(AssertionError, match="cannot keep a generator of builtins"):
        kept.at("start")
    assert not any(name.startswith("sim") for name in esper.list_worlds())
