"""What is imported when: an import in the middle of a game is a hitch, at its start a wait."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide._kernel.arrays import are_among, first_of_each, union

PACKAGE = Path(ec.__file__).parent
TOOLS = ("debug", "levels", "testing", "diagnostics")  # folders of which no step calls anything
IMPORTING = re.compile(r"\bnp\.(?:unique|union1d|isin|in1d|intersect1d|setdiff1d|setxor1d)\b")

PROGRAM = '''
import sys
import warnings
import esper
import ecs_collide as ec
from ecs_collide.character import Character

N_STEPS = int(sys.argv[1])
# What saves, records and explains is imported by the first call of each.
ec.record, ec.Random, ec.Space().state_hash()
import ecs_collide.diagnostics.doctor, ecs_collide.diagnostics.explain
known = set(sys.modules)


class Spike:
    pass


def box(x, y, w, h, *more):
    return esper.create_entity(ec.Position(x, y), ec.Extents(w, h), *more)


def play(n_steps, **settings):
    """Run a world with everything switched on."""
    space = ec.install(ec.Space(**settings))
    recorder = ec.record(space)
    ec.name_categories("hero", "crate")
    box(0, -10, 500, 10)
    box(-400, 200, 10, 400, ec.Fixed(), ec.Friction(0.5))
    box(400, 200, 10, 400, ec.Restitution(0.5))
    box(0, 150, 60, 4, ec.OneWay())
    lift = box(200, 40, 40, 4, ec.Velocity(0, 20), ec.Carry((5, 0)))
    zone = box(-200, 40, 80, 40, ec.Sensor())
    crates = [
        box(-100 + 17 * (n % 12), 8 + 16.5 * (n // 12), 8, 8, ec.Velocity(0, 0), ec.Slide(),
            ec.Mass(1 + n), ec.Filter("crate"), ec.Friction(0.3))
        for n in range(48)
    ]
    balls = [
        box(-300 + 40 * n, 300, 5, 5, ec.Velocity(200, 30 * n), kind, *more)
        for n, (kind, more) in enumerate([
            (ec.Deflect(), [ec.Restitution(0.9)]), (ec.Deflect(0.5), [ec.MaxSpeed(300)]),
            (ec.Push(), [ec.Damping(0.1)]), (ec.Stop(), [ec.GravityScale(0)]),
            (ec.Slide(), [ec.LockedAxes(x=True)]), (ec.Slide(), [ec.Growth(1, 1)]),
            (ec.Slide(), [ec.Separate(60)]), (ec.Slide(), [ec.Separate(60)]),
            (ec.Slide(), [ec.PushOut(60)]), (ec.Slide(), [ec.Dominance(2)]),
            (ec.Deflect(), [Spike()]),
        ])
    ]
    character = Character()
    hero = box(200, 60, 6, 12, ec.Velocity(0, 0), ec.Slide(), ec.Random(1))
    if "motion" not in settings:
        esper.add_component(hero, character)
    sword = box(0, 0, 4, 2, ec.Attached(hero, (10, 0)))
    space.respond_with(Spike, lambda impact: ec.DEFAULT)
    space.filter_pairs(lambda first, second: first != zone, Spike, ec.Deflect)
    space.on_collision(lambda event: None, Spike, ec.Slide)
    space.on_contact_began(lambda event: event.swapped())
    space.on_contact_ended(lambda event: None, ec.Slide, ec.Sensor)
    space.on_contact(lambda contact: None, ec.Slide, ec.Sensor)
    kept = []
    for step in range(n_steps):
        character.walk, character.jump = float(step % 3 - 1), step % 20 == 0
        if step == n_steps // 3:
            esper.component_for_entity(crates[0], ec.Velocity).set(800, 200)
        if step == n_steps // 2:
            esper.delete_entity(crates[1])
            esper.add_component(crates[2], ec.Disabled())
            esper.remove_component(balls[0], ec.Deflect)
            esper.component_for_entity(crates[3], ec.Position).x = float("nan")
            space.teleport(crates[4], (0, 400))
            space.set_positions(crates[5:7], [(50, 300), (90, 300)])
            space.resize(crates[8], height=20)
            esper.component_for_entity(crates[9], ec.Extents).set(4, 4)
        if step == n_steps // 2 + 2:
            esper.remove_component(crates[2], ec.Disabled)
            esper.component_for_entity(crates[3], ec.Position).x = 300.0
            esper.remove_component(crates[10], ec.Velocity)
            esper.add_component(crates[10], ec.Fixed())
            box(0, 500, 5, 5, ec.Velocity(0, 0), ec.Slide())
        if step % 7 == 0:
            ask(space, hero)
        if step % 10 == 9:
            kept.append(space.snapshot())
        with warnings.catch_warnings(record=True):
            esper.process(1 / 60)
        tell(f"step {step} with {settings}")
    for data in kept[:: max(len(kept) // 3, 1)]:
        space.restore(data)
        esper.process(1 / 60)
        tell(f"a restore with {settings}")
    recorder.recording
    tell("a recording")
    space.explain(hero, lift), space.doctor(), repr(space.doctor())
    tell("explain() and doctor()")
    esper.clear_database()
    esper.process(1 / 60)
    tell("an empty world")


def ask(space, hero):
    """Ask all that can be asked."""
    low, high, half, motion = (-50, -50), (50, 200), (2, 2), (300, -200)
    for more in ({}, {"filter": ec.Slide}, {"filter": ec.Filter("hero"), "solid": True}):
        space.query(low, high, **more), space.query_point((0, 0), **more)
        space.query_many([low, low], [high, high], **more)
        space.cast_ray(low, motion, **more), space.ray_hits(low, motion, **more)
        space.cast_rays([low, high], [motion, motion], **more)
        space.cast_box(low, half, motion, **more), space.box_hits(low, half, motion, **more)
        space.cast_boxes([low, high], [half, half], [motion, motion], **more)
        space.nearest((0, 0), 3, **more), space.nearest_to_box(low, half, 3, **more)
        space.nearest_many([low, high], 2, **more)
    list(space.collisions), list(space.contacts_began), list(space.contacts_ended)
    list(space.contacts()), space.contacts(hero, filter=ec.Slide), space.is_on(hero)
    space.collision_array, space.contact_array, space.collisions_between(ec.Slide, ec.Deflect)
    space.positions(), space.velocities(), space.bounds(hero), space.carried(hero)
    space.interpolated(0.5), space.interpolated_of(hero, 0.5), space.body_kinds(), space.reports
    space.boxes(), space.fat_bounds(), space.swept_bounds(), space.branches()
    space.candidate_pairs(), space.contact_points(), space.impact_boxes(), space.state_hash()
    space.stats, space.handlers
    space.check_move(hero, (3, 0)), space.move(hero, (1, 0)), space.drop_through(hero)
    space.check()


def tell(when):
    """Print the modules that are new."""
    new = sorted(set(sys.modules) - known)
    if new:
        print(when, "imported", *new)
    known.update(new)


DOWN = {"gravity": (0, -400)}
for number, (n_steps, settings) in enumerate([
    (N_STEPS, DOWN), (N_STEPS // 4, {"sleep": False, "rest_speed": 13.0, **DOWN}),
    (N_STEPS // 4, {"wrap": (900, None), **DOWN}), (N_STEPS // 4, {"motion": "swept"}),
]):
    esper.switch_world(f"world {number}")
    play(n_steps, **settings)
'''


FIRST_STEP = """
import sys
import esper, numpy
before = set(sys.modules)
import ecs_collide as ec
esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1))
esper.create_entity(ec.Position(9, 0), ec.Extents(1, 1), ec.Velocity(-90, 0), ec.Deflect())
space = ec.install()
space.on_collision(lambda event: None)
esper.process(0.1)
assert len(space.collisions) == 1
print(*sorted(set(sys.modules) - before))
"""
# Top modules and packages, and the modules of `character` that are kernels or hold their constants.
NEEDED = {
    *("_checks", "_kernel", "_kernels", "_shared", "broadphase", "character", "clocks"),
    *("components", "esper_world", "events", "motion", "narrowphase", "queries", "response"),
    *("settings", "space", "steering", "step", "sync", "systems", "tree", "world_log"),
    "world_probe",
}
NOT_NEEDED = {"asyncio", "base64", "gzip", "hashlib", "json", "pathlib", "socket", "tempfile"}
NOT_NEEDED |= {"threading", "urllib", "xml", "zipfile"}


@pytest.mark.quick
def test_a_game_imports_only_what_its_steps_and_queries_use():
    done = subprocess.run(
        [sys.executable, "-c", FIRST_STEP], cwd=PACKAGE.parent, capture_output=True, text=True,
        timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    new = done.stdout.split()

    own = {name.removeprefix("ecs_collide.") for name in new if name.startswith("ecs_collide.")}
    own.remove("diagnostics")  # the package alone, which has the list of examiners
    assert {name.partition(".")[0] for name in own} <= NEEDED
    assert "character.character" not in own
    assert not NOT_NEEDED & set(new)


@pytest.mark.parametrize("plain", [False, pytest.param(True, marks=pytest.mark.long)])
def test_no_step_or_query_imports_anything_and_no_second_snapshot(plain, volume):
    if not plain and not ec.COMPILED:
        plain = True
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ECS_COLLIDE")}
    environment["ECS_COLLIDE_PURE_PYTHON"] = "1" if plain else "0"
    n_steps = 20 if plain else volume(60, 120, 300)

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(n_steps)],
        env=environment, cwd=PACKAGE.parent, capture_output=True, text=True, timeout=280,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == ""


def test_nothing_that_a_step_calls_uses_the_set_functions_of_numpy():
    used = [
        f"{path.relative_to(PACKAGE)}: {found}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in TOOLS
        for found in IMPORTING.findall(path.read_text("utf-8"))
    ]

    assert used == []


@pytest.mark.quick
def test_sets_of_whole_numbers_are_those_of_python(volume):
    rng = np.random.default_rng(1)
    for _ in range(volume(100, 200, 1000)):
        reach = int(10 ** rng.uniform(0, 15))
        first, second = (rng.integers(-reach, reach, rng.integers(0, 9)) for _ in range(2))
        listed, others = first.tolist(), second.tolist()

        assert union(first, second).tolist() == sorted({*listed, *others})
        assert are_among(first, others).tolist() == [number in others for number in listed]
        assert first_of_each(first).tolist() == [listed.index(number) for number in listed]
