"""The pytest plugin: what it imports, its fixtures, its options, and its golden logs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ecs_collide as ec
from tests.volume import SHORT, choose_examples

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
GAME = """
import struct

import esper
import ecs_collide as ec


class Aim:
    def __init__(self, angle=0.0):  # as a dataclass it would be saved without being told
        self.angle = angle


class Player:
    pass


class Keys:
    right = False


class Runner(esper.Processor):
    def __init__(self, game, nudge_at):
        self.game, self.nudge_at, self.n = game, nudge_at, 0

    def process(self, dt):
        self.n += 1
        for _, (velocity, _, aim) in esper.get_components(ec.Velocity, Player, Aim):
            velocity.x = 120.0 * self.game.keys.right
            velocity.y -= 600.0 * dt
            aim.angle += 0.1
            if self.n == self.nudge_at:
                velocity.x = next_up(velocity.x)


def next_up(number):
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    return struct.unpack("<d", struct.pack("<q", bits + 1))[0]


def save(aim):
    return struct.pack("<d", aim.angle)


def load(data):
    return Aim(*struct.unpack("<d", data))


class Game:
    def __init__(self, nudge_at=None, save=save, load=load):
        self.keys = Keys()
        esper.create_entity(ec.Position(0, -10), ec.Extents(300, 10))
        esper.create_entity(ec.Position(60, 20), ec.Extents(5, 20))
        body = ec.Position(0, 4), ec.Extents(4, 4), ec.Velocity(0, 0), ec.Slide()
        self.player = esper.create_entity(*body, Player(), Aim())
        self.space = ec.install()
        self.space.snapshot_with(Player, lambda player: b"", lambda data: Player())
        if save is not None:
            self.space.snapshot_with(Aim, save, load)
        esper.add_processor(Runner(self, nudge_at), priority=500)
"""


@pytest.fixture
def folder(pytester, monkeypatch):
    """Give a folder with a game."""
    pytester.makepyfile(game=GAME)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(pytester.path)]))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    if not ec.COMPILED:  # without a warning that there are no compiled kernels
        monkeypatch.setenv("ECS_COLLIDE_PURE_PYTHON", "1")
    return pytester


USUAL = ("-p", "ecs_collide_pytest", "-p", "no:cacheprovider", "-W", "error")


def run(folder, *arguments):
    """Run the tests of a folder in this process."""
    syrupy = sys.modules.get("syrupy")
    session = getattr(syrupy, "_syrupy", None)
    folder.syspathinsert()
    try:
        return folder.runpytest_inprocess(*USUAL, "-p", "no:hypothesispytest", *arguments)
    finally:
        if syrupy is not None:
            syrupy._syrupy = session  # the plugin keeps the session of the last run there


def run_apart(folder, *arguments):
    """Run the tests of a folder in a process of its own."""
    return folder.runpytest_subprocess(*USUAL, *arguments)


# -- being loaded --


def test_plugin_imports_nothing_heavy_before_it_is_used():
    code = (
        "import sys, ecs_collide_pytest\n"
        "print([name for name in ('ecs_collide', 'numpy', 'esper', 'hypothesis', 'syrupy') "
        "if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"


def test_run_without_its_fixtures_imports_neither_numpy_nor_hypothesis(folder):
    folder.makepyfile(
        """
        import sys

        def test_modules():
            assert "numpy" not in sys.modules
            assert "ecs_collide" not in sys.modules
        """
    )

    run_apart(folder, "-p", "no:hypothesispytest").assert_outcomes(passed=1)


def test_library_without_the_kit_imports_no_pytest():
    code = (
        "import sys, ecs_collide, ecs_collide.recording.replay, ecs_collide.testing\n"
        "print([name for name in ('pytest', 'hypothesis', 'syrupy', 'pyglet') "
        "if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"


def test_plugin_that_is_named_and_installed_is_loaded_once(folder):
    # As pip installs an entry point: its name is that of the module, so pytest knows it already.
    dist = folder.mkdir("ecs_collide-0.1.0.dist-info")
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: ecs_collide\nVersion: 0.1.0\n")
    (dist / "entry_points.txt").write_text("[pytest11]\necs_collide_pytest = ecs_collide_pytest\n")
    folder.makepyfile("def test_sim(sim): assert sim.n_steps == 0")

    run_apart(folder).assert_outcomes(passed=1)


def test_missing_packages_are_named_only_when_they_are_needed(folder):
    # A None in sys.modules is how Python marks a module that cannot be imported.
    folder.makeconftest(
        """
        import importlib.util, sys

        MISSING = ("hypothesis", "syrupy")
        sys.modules.update(dict.fromkeys(MISSING))
        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name: None if name in MISSING else find(name)
        """
    )
    folder.makepyfile(
        """
        from ecs_collide import testing

        def test_sim(sim):
            assert testing.Sim

        def test_log(golden_log):
            pass

        def test_boxes():
            testing.boxes
        """
    )

    result = run_apart(folder, "-pno:syrupy", "-pno:hypothesispytest")

    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines_random(
        [
            "*golden_log needs syrupy: pip install 'ecs_collide?testing?'*",
            "*testing.boxes needs Hypothesis: pip install 'ecs_collide?testing?'*",
        ]
    )


# -- golden logs --

LOGGED = """
from game import Game

def test_run(sim, golden_log):
    sim.build(Game, nudge_at={nudge_at})
    sim.hold("right", 40)
    golden_log(sim)
"""


@pytest.fixture
def logged(folder):
    pytest.importorskip("syrupy")
    folder.makepyfile(test_log=LOGGED.format(nudge_at=None))
    run(folder, "--snapshot-update").assert_outcomes(passed=1)
    return folder


def test_golden_log_is_written_as_one_readable_file_for_each_test(logged):
    (path,) = logged.path.glob("__snapshots__/**/*.log")

    lines = path.read_text().splitlines()

    assert lines[:3] == ["# 40 steps", "step 0", "  entity 1: Position x=0.0 y=-10.0"]
    run(logged).assert_outcomes(passed=1)


def test_golden_log_names_the_step_and_the_field_of_one_bit(logged):
    logged.makepyfile(test_log=LOGGED.format(nudge_at=17))

    result = run(logged)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*step 17 is the first that differs:*",
            "*entity 3 (Aim, Player): Velocity.x 120.0 in the golden log, now 120.00000000000001*",
            "*pytest --snapshot-update*",
            "*python -m ecs_collide.recording *",
        ]
    )
    run(logged, "--snapshot-update").assert_outcomes(passed=1)
    run(logged).assert_outcomes(passed=1)


def test_golden_log_that_is_missing_is_not_written_unasked(folder):
    pytest.importorskip("syrupy")
    folder.makepyfile(test_log=LOGGED.format(nudge_at=None))

    result = run(folder)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*does not exist*"])


def test_golden_log_of_nothing_fails(folder):
    pytest.importorskip("syrupy")
    folder.makepyfile(
        """
        import esper
        import ecs_collide as ec

        def test_run(sim, golden_log):
            esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1))
            ec.install()
            sim.step(5)
            golden_log(sim)
        """
    )

    result = run(folder, "--snapshot-update")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*nothing moved and nothing met in 5 steps*"])


# -- options --

PLAIN = """
import esper
from game import *

def test_run(sim):
    game = Game({how})
    sim.inputs = game.keys
    for step in range(30):
        esper.component_for_entity(game.player, ec.Velocity).y -= 1.0
        sim.inputs.right = step > 5
        esper.process(1 / 60)
    assert esper.component_for_entity(game.player, ec.Position).x > 40
"""
BAD_SAVE = (
    "save=lambda aim: struct.pack('<d', next_up(aim.angle) if 1.65 < aim.angle else aim.angle)"
)
NO_SAVE = "save=None"


@pytest.mark.parametrize("option", ["--physics-heavy", "--physics-rollback=8"])
def test_game_that_can_be_saved_passes_with_options(folder, option):
    folder.makepyfile(test_run=PLAIN.format(how=""))

    result = run(folder, option)

    result.assert_outcomes(passed=1)
    times = 31 if option == "--physics-heavy" else 23
    result.stdout.fnmatch_lines([f"{option}: the world was checked {times} times"])


@pytest.mark.parametrize("option", ["--physics-heavy", "--physics-rollback=4"])
def test_character_that_walks_by_whole_numbers_passes_with_options(folder, option):
    folder.makepyfile(
        """
        import esper
        import ecs_collide as ec
        from ecs_collide.character import Character

        def test_walk(sim):
            hero = Character()
            esper.create_entity(ec.Position(0, -10), ec.Extents(300, 10))
            body = ec.Position(0, 4), ec.Extents(4, 4), ec.Velocity(0, 0), ec.Slide()
            esper.create_entity(*body, hero)
            ec.install()
            for step in range(12):
                hero.walk = (step % 3) - 1
                sim.step()
        """
    )

    run(folder, option).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("option", "how", "words"),
    [
        ("--physics-heavy", BAD_SAVE, "*step 17 is the first that differs*"),
        ("--physics-heavy", NO_SAVE, "*restored from step 1 to step 0;*"),
        ("--physics-rollback=8", NO_SAVE, "*restored from step 8 to step 0:*"),
    ],
    ids=["heavy, one bit", "heavy, not saved", "rollback, not saved"],
)
def test_options_name_step_and_field_of_what_does_not_come_back(folder, option, how, words):
    folder.makepyfile(test_run=PLAIN.format(how=how))

    result = run(folder, option)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([words, "*entity 3 (Aim, Player): Aim.angle * against *"])
    run(folder).assert_outcomes(passed=1)


def test_one_bit_that_the_library_itself_would_lose_is_named(folder):
    folder.makeconftest(
        """
        import pytest
        import ecs_collide as ec
        from game import next_up

        @pytest.fixture(autouse=True)
        def planted(monkeypatch):
            restore, n = ec.Space.restore, [0]

            def broken(self, data):
                restore(self, data)
                n[0] += 1
                if n[0] == 17:
                    import esper
                    velocity = esper.component_for_entity(3, ec.Velocity)
                    velocity.x = next_up(velocity.x)

            monkeypatch.setattr(ec.Space, "restore", broken)
        """
    )
    folder.makepyfile(test_run=PLAIN.format(how=""))

    result = run(folder, "--physics-heavy")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*entity 3 (Aim, Player): Velocity.x * against *"])


def test_game_that_acts_otherwise_the_second_time_is_found(folder):
    folder.makepyfile(test_run=PLAIN.format(how="nudge_at=37"))

    result = run(folder, "--physics-rollback=8")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*and played on: step * is the first that differs:*", "*Velocity.x *"]
    )


def test_option_that_checked_nothing_says_so(folder):
    folder.makepyfile("def test_nothing(): pass")

    result = run(folder, "--physics-heavy")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["--physics-heavy: the world was checked 0 times"])


def test_rollback_of_a_negative_number_of_steps_is_refused(folder):
    result = run(folder, "--physics-rollback=-1")

    result.stderr.fnmatch_lines(["*--physics-rollback=STEPS must be 1 or more*"])


@pytest.mark.parametrize(("option", "n_kept"), [("failed", 1), ("all", 2), ("none", 0)])
def test_recordings_are_kept_of_tests_that_fail_or_of_all(folder, option, n_kept):
    folder.makepyfile(
        """
        import esper
        from game import Game

        def play():
            Game()
            for _ in range(5):
                esper.process(1 / 60)

        def test_fine(sim):
            play()

        def test_bad(sim):
            play()
            assert False
        """
    )

    result = run(folder, f"--physics-record={option}")

    result.assert_outcomes(passed=1, failed=1)
    kept = sorted(folder.path.glob(".ecs_collide/*.rec"))
    assert len(kept) == n_kept
    if kept:
        result.stdout.fnmatch_lines(
            [f"python -m ecs_collide.recording .ecs_collide/{kept[0].name}"]
        )


@pytest.mark.long
def test_options_count_what_the_workers_of_xdist_checked(folder):
    pytest.importorskip("xdist")
    folder.makepyfile(test_run=PLAIN.format(how=""))

    result = run_apart(folder, "-n", "1", "--physics-heavy")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["--physics-heavy: the world was checked 31 times"])


# -- the page --


@pytest.mark.long
def test_tests_of_the_page_pass(folder, volume):
    for package in ("syrupy", "hypothesis"):
        pytest.importorskip(package)
    page = (ROOT / "docs" / "testing.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    tests = [block for block in blocks if "def test_" in block or ".TestCase" in block]
    assert len(tests) == 5
    for n, block in enumerate(tests):
        folder.path.joinpath(f"test_page_{n}.py").write_text(block, "utf-8")

    choose_examples(SHORT)  # the page shows how tests are written: 400 examples add nothing
    run(folder, "--snapshot-update").assert_outcomes(passed=9)
    run(folder, "test_page_1.py").assert_outcomes(passed=1)
    choose_examples(volume.level)


# -- worlds at a place --


def test_test_that_leads_to_a_place_is_played_once_for_those_that_start_there(folder):
    folder.makepyfile(
        """
        import esper
        from game import *
        from ecs_collide.testing import leads_to

        runs = []

        @leads_to("wall")
        def test_player_runs_to_the_wall(sim):
            sim.build(Game)
            sim.press("right")
            sim.wait_for(ec.Collision, Player, 2)
            runs.append(sim)

        def test_first(world_at):
            sim = world_at("wall")
            x = esper.component_for_entity(sim.game.player, ec.Position).x
            sim.release("right")
            esper.component_for_entity(sim.game.player, ec.Position).x = x - 9
            sim.step(3)

        def test_second(world_at):
            sim = world_at("wall")
            assert sim.inputs.right
            assert esper.component_for_entity(sim.game.player, ec.Position).x == 51
            assert len(runs) == 2
        """
    )

    run(folder, "-p", "no:randomly").assert_outcomes(passed=3)
