"""Demos that are saved and restored in the middle, and recorded runs."""

from __future__ import annotations

import http
import os
import random
import subprocess
import sys
from pathlib import Path

import esper
import numpy as np
import pytest

import ecs_collide as ec
from demos import __main__ as runner
from demos.app import catalogue
from demos.app.scene import Scene
from demos.ten_thousand import game as ten_thousand
from demos.tests.conftest import few
from ecs_collide.recording.replay import main as replay
from ecs_collide.testing.memory import Memory
from tests.volume import Volume

ROOT = Path(__file__).parents[2]


def remember(scene: Scene) -> Memory:
    """Return a memory of a scene."""
    return Memory(scene.space, [scene], {"demos"})


def look(scene: Scene) -> dict[str, object]:
    """Return all that can be seen of a scene."""
    quads = scene.quads()
    return {
        "boxes": [part.tobytes() for part in scene.boxes()],
        "quads": None if quads is None else [part.tobytes() for part in quads],
        "labels": [label for label in scene.labels() if " ms" not in label.text],
        "report": scene.report(),
        "status": scene.status(),
        "claims": scene.claims(),
        "camera": scene.camera(),
        "counts": (scene.n_steps, scene.n_collisions, scene.n_contacts),
    }


@pytest.mark.parametrize("name", sorted({*runner.names()} - {"rollback"}))  # it has two worlds
def test_every_demo_shows_the_same_again_after_it_was_restored(
    world: str, name: str, volume: Volume
) -> None:
    n_steps = volume(60, 240, least=60)
    chance = random.Random(name)
    scene = catalogue.load(name).build(seed=5, **few(name))
    keys = [
        {key: chance.random() < 0.4 for key in ("left", "right", "up", "jump", "shoot", "dash")}
        for _ in range(n_steps // 20 + 1)
    ]
    memory, seen = remember(scene), [look(scene)]

    def step() -> dict[str, object]:
        scene.keys.bot = scene.n_steps % 40 < 20
        for key, is_down in keys[scene.n_steps // 20].items():
            setattr(scene.keys, key, is_down)
        scene.step()
        return look(scene)

    for n in range(n_steps):
        if n % 13 == 0:
            memory.take(n)
        seen.append(step())

    assert memory.obstacle is None
    for start in chance.sample(memory.steps, 3):
        memory.bring_back(start)  # what was about to be deleted is gone, and drawn no more
        for n in range(start + 1, min(start + 20, n_steps)):
            assert step() == seen[n]


def test_scene_with_what_cannot_be_brought_back_is_not_remembered(world: str) -> None:
    class Own(Scene):
        pass

    class Scores(list[int]):
        best = 0

    n = 0
    scene = Own(ec.install(), (1.0, 1.0), (1.0, 1.0))
    scores = Scores()
    scores.best = 9
    once = (n for n in range(3))
    strange = [ec.AABBTree(), once, iter([1]), lambda: n, ec.Position(0, 0), scores]
    memory = remember(scene)
    for thing in strange:
        scene.thing = [thing]  # type: ignore[attr-defined]
        memory.take(1)
        assert memory.steps == []
        assert memory.obstacle is type(thing)

    names = (http.HTTPMethod.GET, ec.Outcome.CRUSHED)
    scene.thing = (None, 1.5, np.float64(2), max, Path(), scene.step, names)  # type: ignore[attr-defined]
    memory.take(1)

    assert memory.steps == [1]


def test_memory_puts_things_right_in_place(world: str) -> None:
    class Dice:
        def __init__(self) -> None:
            self.dice, self.log = random.Random(3), [1]

    class Cup:
        __slots__ = ("__n",)

        def __init__(self) -> None:
            self.__n = 0

        def add(self) -> int:
            self.__n += 1
            return self.__n

    class Own(Scene):
        pass

    space = ec.install()
    scene = Own(space, (1.0, 1.0), (1.0, 1.0))
    dice = scene.dice = Dice()  # type: ignore[attr-defined]
    shared = scene.shared = dice.log  # type: ignore[attr-defined]
    numbers = scene.numbers = np.zeros(3)  # type: ignore[attr-defined]
    cup = scene.cup = Cup()  # type: ignore[attr-defined]
    thing = esper.create_entity(dice)
    esper.process(0.1)
    memory = remember(scene)
    memory.take(1)
    thrown = dice.dice.random()

    shared.append(2)
    numbers += 1
    cup.add()
    dice.dice.random()
    scene.late = 1  # type: ignore[attr-defined]
    esper.delete_entity(thing, immediate=True)
    memory.bring_back(1)

    assert scene.dice is dice
    assert dice.log is shared
    assert shared == [1]
    assert numbers.tolist() == [0, 0, 0]
    assert cup.add() == 1
    assert dice.dice.random() == thrown
    assert not hasattr(scene, "late")
    assert esper.component_for_entity(thing, Dice) is dice
    assert memory.steps == [1]


def test_command_records_a_run_which_the_library_plays_back_and_compares(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, seed in (("one", 9), ("same", 9), ("other", 8)):
        run = ["ten_thousand", "--headless", "--seconds", "0.5", "--n", "30", "--seed", str(seed)]
        assert runner.main([*run, "--save", f"made/{name}.rec"]) == 0
        esper.switch_world("default")
        esper.delete_world("demo ten_thousand")
    said = capsys.readouterr().out.replace("\\", "/")
    assert "wrote made/one.rec: python -m ecs_collide.recording made/one.rec" in said

    assert replay(["made/one.rec", "--compare", "made/same.rec"]) == 0
    assert replay(["made/one.rec", "--compare", "made/other.rec"]) == 1
    assert "the same in steps 0 to 30" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        runner.main(["ten_thousand", "--save", "run.txt"])
    assert "run.txt must end in .rec" in capsys.readouterr().err


def test_run_of_two_worlds_is_recorded(folder: Path) -> None:
    assert runner.main(["rollback", "--headless", "--seconds", "0.5", "--save", "run.rec"]) == 0

    assert ec.Recording.load("run.rec").frames[-1].step == 30
    esper.switch_world("default")
    for name in ("demo rollback", "demo rollback, the other machine"):
        esper.delete_world(name)


def test_run_that_fails_is_saved_up_to_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = ten_thousand.TenThousand.step

    def fail(scene: ten_thousand.TenThousand) -> None:
        if scene.n_steps == 11:
            raise ZeroDivisionError
        step(scene)

    monkeypatch.setattr(ten_thousand.TenThousand, "step", fail)
    with pytest.raises(ZeroDivisionError):
        runner.main(
            ["ten_thousand", "--headless", "--seconds", "1", "--n", "9", "--save", "run.rec"]
        )

    assert ec.Recording.load("run.rec").frames[-1].step == 11
    esper.switch_world("default")
    esper.delete_world("demo ten_thousand")


@pytest.mark.skipif(not ec.COMPILED, reason="the other life is the one that runs")
def test_run_with_the_other_kernels_is_the_same_run(folder: Path) -> None:
    code = "import sys; from demos.__main__ import main; sys.exit(main())"
    for name, pure in (("plain", {"ECS_COLLIDE_PURE_PYTHON": "1"}), ("compiled", {})):
        options = ["--headless", "--seconds", "1", "--seed", "1", "--save", f"{name}.rec"]
        own = {"ECS_COLLIDE_REQUIRE_COMPILED": "0", **pure}
        environment = {**os.environ, **own, "PYTHONPATH": str(ROOT)}
        subprocess.run(
            [sys.executable, "-c", code, "platformer", *options],
            env=environment, cwd=folder, check=True, capture_output=True,
        )  # fmt: skip

    assert replay(["plain.rec", "--compare", "compiled.rec"]) == 0
