"""A world that is saved and restored goes on bit by bit as one that never was."""

from __future__ import annotations

import hashlib
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from tests.scenes import Falls, in_a_world, mixed_bodies, mover
from tests.system.test_compiled_and_pure import in_both_implementations

ROOT = Path(__file__).parents[2]
DT = 1 / 60

pytestmark = pytest.mark.filterwarnings("ignore:.*skipped in all collisions:RuntimeWarning")
KINDS = (
    ec.Position, ec.Extents, ec.Velocity, ec.Growth, ec.Mass, ec.Deflect,
    ec.Push, ec.Slide, ec.Stop, ec.Sensor, Falls,
)  # fmt: skip


class Portal:
    """A custom component, with a response of its own."""

    def __init__(self, uses=0):
        self.uses = uses


class Game:
    """The mixed room, and a game that does to it all that a game may do.

    What it does before a step depends on the number of the step and on what it
    finds in the world, so it goes on in a world that was restored.
    """

    def __init__(self, dim=2, seed=1, furnished=True):
        self.dim = dim
        self.seed = seed
        if furnished:
            for body in mixed_bodies(seed, dim):
                esper.create_entity(*body)
            at = self.vector(ec.Position, 22.0, 9.0), self.vector(ec.Extents, 1.0, 1.0)
            esper.create_entity(*at, Portal())
        self.space = ec.install(dim=dim)
        self.space.respond_with(Portal, self.through)
        self.space.snapshot_with(
            Portal,
            save=lambda portal: portal.uses.to_bytes(4, "little"),
            load=lambda data: Portal(int.from_bytes(data, "little")),
        )
        self.space.snapshot_with(Falls, save=lambda falls: b"", load=lambda data: Falls())

    def through(self, impact):
        for entity in (impact.first, impact.second):
            portal = esper.try_component(entity, Portal)
            if portal is not None:
                portal.uses += 1
            elif portal is None and esper.has_component(entity, ec.Velocity):
                impact.set_velocity(entity, tuple(-2.0 * v for v in impact.velocity(entity)))

    def vector(self, kind, x, y):
        return kind(x, y, 0.5) if self.dim == 3 else kind(x, y)

    def act(self, n):
        """Do what this game does before the n-th step."""
        rng = random.Random(1000 * self.seed + n)
        for entity, _ in sorted(esper.get_component(Falls), key=lambda pair: pair[0]):
            speed = esper.try_component(entity, ec.Velocity)
            if speed is not None:
                speed.y -= 10.0 * DT
        bodies = [e for e in self.space.entities if esper.entity_exists(e) and e > 64]
        for _ in range(rng.choice([0, 0, 1, 2]) if bodies else 0):
            self.surprise(rng, rng.choice(bodies))
        if n % 7 == 3:
            at = rng.uniform(2.0, 58.0), rng.uniform(2.0, 38.0)
            mover(at, (0.2, 0.2, 0.2)[: self.dim], (900.0, rng.uniform(-50.0, 50.0)), ec.Deflect())

    def surprise(self, rng, entity):
        """Do one thing to a body that no step has asked for."""
        if not esper.entity_exists(entity):
            return  # two things in one step, the first of them deleted it
        what = rng.randrange(13)
        position = esper.try_component(entity, ec.Position)
        speed = esper.try_component(entity, ec.Velocity)
        if what == 0 and position is not None:
            position.xy = (rng.uniform(1.0, 59.0), rng.uniform(1.0, 39.0))
        elif what == 1:
            esper.delete_entity(entity)
        elif what == 2:
            esper.delete_entity(entity, immediate=True)
        elif what == 3 and speed is not None:
            esper.remove_component(entity, ec.Velocity)
        elif what == 4:
            esper.add_component(entity, self.vector(ec.Velocity, rng.uniform(-30.0, 30.0), 5.0))
        elif what == 5 and speed is not None:
            speed.x = rng.choice([math.nan, -0.0, 7])
        elif what == 6 and position is not None:
            esper.add_component(entity, type(position)(position.x, position.y, position.z))
        elif what == 7:
            esper.try_remove_component(entity, rng.choice([ec.Extents, ec.Position]))
        elif what == 8:
            response = rng.choice([ec.Slide(), ec.Stop(), ec.Push(), ec.Deflect(0.5), ec.Sensor()])
            esper.add_component(entity, response)
        elif what == 9:
            for kind in (ec.Slide, ec.Stop, ec.Push, ec.Deflect, ec.Sensor):
                esper.try_remove_component(entity, kind)
        elif what == 10:
            esper.add_component(entity, self.vector(ec.Position, rng.uniform(1.0, 59.0), 20.0))
            esper.add_component(entity, self.vector(ec.Extents, 0.5, 0.5))
        elif what == 11:
            esper.add_component(entity, ec.Mass(rng.choice([0.5, 3.0, math.inf])))
        elif what == 12:
            esper.add_component(entity, self.vector(ec.Growth, 0.3, -0.2))


def seen(game):
    """Return all that a game can see after a step, as one short text."""
    space = game.space
    found = hashlib.sha256()
    for array in (space.collision_array, space.contact_array):
        found.update(len(array).to_bytes(4, "little") + array.tobytes())
    for entity in sorted(e for e in esper.get_entities() if esper.entity_exists(e)):
        found.update(entity.to_bytes(4, "little"))
        for kind in KINDS:
            component = esper.try_component(entity, kind)
            if component is not None:
                fields = [getattr(component, f) for f in getattr(kind, "__match_args__", ())]
                found.update(kind.__name__.encode() + np.array(fields, float).tobytes())
        portal = esper.try_component(entity, Portal)
        found.update(b"" if portal is None else portal.uses.to_bytes(4, "little"))
    found.update(repr(space.contacts()).encode() + repr(space.entities).encode())
    found.update(space.positions().tobytes() + space.velocities().tobytes())
    found.update(repr([str(report) for report in space.reports]).encode())
    found.update(repr(space.query((0, 0, -9)[: game.dim], (30, 20, 9)[: game.dim])).encode())
    return f"{space.stats.step} {len(space.collisions)} {found.hexdigest()}"


@pytest.fixture
def length(volume):
    """Return how many steps to take."""
    return volume(60, 250, 2000, least=30)


def never_saved(dim, n_steps):
    game = Game(dim)
    steps = []
    for n in range(n_steps):
        game.act(n)
        esper.process(DT)
        steps.append(seen(game))
    return steps


@pytest.mark.parametrize("dim", [2, 3])
def test_every_step_taken_twice_is_the_same_as_never_saved(dim, length):
    expected = in_a_world("never saved", lambda: never_saved(dim, length))

    def saved_at_every_step():
        game = Game(dim)
        steps = []
        for n in range(length):
            game.act(n)
            before = game.space.snapshot()
            esper.process(DT)
            first = seen(game)
            after = game.space.snapshot()
            game.act(n + 1)  # a guess at what comes, which turns out wrong
            esper.process(DT)
            game.space.restore(before)
            assert game.space.snapshot() == before
            game.space.check()
            esper.process(DT)
            assert seen(game) == first, f"step {n} differs"
            assert game.space.snapshot() == after
            steps.append(first)
        return steps

    assert in_a_world("saved", saved_at_every_step) == expected
    assert sum(int(step.split()[1]) for step in expected) > length  # there is something to see


@pytest.mark.parametrize("dim", [2, 3])
def test_a_snapshot_of_any_step_goes_on_in_an_empty_world(dim, length):
    game_over = length // 3
    expected, saved = [], []

    def play():
        game = Game(dim)
        for n in range(game_over + 5):
            game.act(n)
            saved.append(game.space.snapshot())
            esper.process(DT)
            expected.append(seen(game))

    in_a_world("played", play)

    for start in range(game_over):

        def go_on(start=start):
            game = Game(dim, furnished=False)
            game.space.restore(saved[start])
            game.space.check()
            assert game.space.snapshot() == saved[start]
            steps = []
            for n in range(start, start + 5):
                if n > start:
                    game.act(n)
                esper.process(DT)
                steps.append(seen(game))
            return steps

        assert in_a_world("gone on", go_on) == expected[start : start + 5], f"from step {start}"


FRESH = """
import esper, sys, warnings
warnings.simplefilter("ignore")
from tests.system.test_snapshots import DT, Game, seen
game = Game({dim}, furnished=False)
game.space.restore(open({path!r}, "rb").read())
for n in range({start}, {start} + 20):
    if n > {start}:
        game.act(n)
    esper.process(DT)
    print(seen(game))
"""


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("plain", [False, True])
def test_a_fresh_process_goes_on_compiled_and_in_pure_python(dim, plain, tmp_path):
    path = tmp_path / "saved"
    start = 12

    def play():
        game = Game(dim)
        steps = []
        for n in range(start + 20):
            game.act(n)
            if n == start:
                path.write_bytes(game.space.snapshot())
            esper.process(DT)
            steps.append(seen(game))
        return steps[start:]

    expected = in_a_world("played", play)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ECS_COLLIDE")}
    if plain or not backend.kernels.compiled:
        environment["ECS_COLLIDE_PURE_PYTHON"] = "1"
    code = FRESH.format(dim=dim, path=str(path), start=start)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected


@pytest.mark.parametrize("dim", [2, 3])
def test_compiled_and_pure_python_give_the_same_bytes(dim, monkeypatch):
    def run():
        game = Game(dim)
        saved = []
        for n in range(25):
            game.act(n)
            saved.append(game.space.snapshot())
            esper.process(DT)
        return saved

    compiled, plain = in_both_implementations(monkeypatch, run)

    assert compiled == plain
