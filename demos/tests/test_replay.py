"""Runs that are recorded and played back: the same, step by step, in any order of looking."""

from __future__ import annotations

import http
import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import esper
import numpy as np
import pytest

import ecs_collide as ec
from demos import __main__ as runner
from demos import ten_thousand
from demos.app import catalogue, replay
from demos.app.replay import Memory, Player, Recording, RecordingError, Tape
from demos.app.scene import Scene
from demos.tests.conftest import few
from tests.volume import Volume

ROOT = Path(__file__).parents[2]


@pytest.fixture
def steps(volume: Volume) -> int:
    return volume(140, 240, 400, least=130)


def record_boxes(n_steps: int = 30, n: int = 40, seed: int = 3) -> Recording:
    """Record some steps of the boxes in the current world."""
    options = {"seed": seed, "n": n}
    scene = ten_thousand.build(**options)
    tape = Tape(scene, "ten_thousand", options)
    for _ in range(n_steps):
        tape.step()
    return tape.recording()


def record_platformer(n_steps: int) -> Recording:
    """Record a run that a pair of hands plays at first, and then the bot."""
    from demos.platformer import game as platformer

    options = {"seed": 2, "one_body_per_tile": False}
    scene = platformer.build(**options)
    tape = Tape(scene, "platformer", options)
    hands = random.Random(5)
    for number in range(n_steps):
        scene.keys.right = hands.random() < 0.7
        scene.keys.jump = hands.random() < 0.3
        scene.keys.shoot = hands.random() < 0.2
        scene.keys.bot = number > n_steps // 3
        tape.step()
    assert scene.coins + scene.bullets > 0
    return tape.recording()


@pytest.fixture
def recording(world: str) -> Recording:
    return record_boxes()


def play(recording: Recording) -> Player:
    player = Player(recording)
    while player.position < player.n_steps:
        player.step()
    return player


def test_replay_does_what_was_recorded(recording: Recording) -> None:
    player = play(recording)

    assert player.first_difference is None
    assert player.verdict() == "as recorded"
    assert player.scene.n_steps == 30
    assert len({row.tobytes() for row in recording.hashes}) == 31
    player.close()


def test_world_of_before_is_current_again(recording: Recording, world: str) -> None:
    Player(recording).close()

    assert esper.current_world == world
    assert not [name for name in esper.list_worlds() if name.startswith("replay")]


def test_first_step_that_differs_is_named(recording: Recording) -> None:
    hashes = recording.hashes.copy()
    hashes[17:] ^= 1
    player = play(replace(recording, hashes=hashes))

    assert player.first_difference == 17
    assert player.verdict() == "differs first in step 17 of 30"
    player.seek(5)
    player.seek(20)
    assert player.first_difference == 17
    player.close()


def test_difference_is_named_that_is_found_after_going_back(world: str) -> None:
    recording = record_boxes(100)
    hashes = recording.hashes.copy()
    hashes[75] ^= 1
    player = Player(replace(recording, hashes=hashes))

    for position in (70, 10, 90):  # from 10 by way of step 60, which is remembered
        player.seek(position)

    assert player.first_difference == 75
    player.close()


def test_other_keys_make_a_difference_when_they_are_pressed(world: str) -> None:
    recording = record_platformer(90)
    inputs = recording.inputs.copy()
    right = recording.names.index("right")
    inputs[12:, right] = 1 - inputs[12:, right]

    player = play(replace(recording, inputs=inputs))

    assert player.first_difference == 13
    player.close()


def test_other_options_make_another_world(recording: Recording) -> None:
    player = play(replace(recording, options={"seed": 4, "n": 40}))

    assert player.first_difference == 0
    assert "differs from its beginning" in player.verdict()
    player.close()


def test_file_holds_the_recording(recording: Recording, tmp_path: Path) -> None:
    path = tmp_path / "new" / "run.npz"
    recording.save(path)

    found = Recording.load(path)

    assert (found.name, found.options, found.names) == (
        "ten_thousand",
        {"seed": 3, "n": 40},
        recording.names,
    )
    assert np.array_equal(found.inputs, recording.inputs)
    assert np.array_equal(found.hashes, recording.hashes)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("text", "is no recording of a demo"),
        ("cut", "is no recording of a demo"),
        ("flipped", "is no recording of a demo"),
        ("format", "has format 7, not 1"),
        ("short", "is cut short, or damaged"),
        ("array", "is no recording of a demo"),
    ],
)
def test_damaged_files_are_refused(
    recording: Recording, tmp_path: Path, damage: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.npz"
    if damage == "format":
        monkeypatch.setattr(replay, "FORMAT", 7)
    if damage == "short":
        recording.inputs = recording.inputs[:-1]
    recording.save(path)
    monkeypatch.undo()
    data = bytearray(path.read_bytes())
    if damage == "text":
        path.write_text("no recording")
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flipped":
        middle = data.index(b"hashes.npy") + 200
        data[middle] ^= 0xFF
        path.write_bytes(data)
    elif damage == "array":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))

    with pytest.raises(RecordingError, match=says):
        Recording.load(path)


@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        ("name", 5, "a name is no text"),
        ("names", ("left",) * 7, "a key is there twice"),
        ("names", (1, 2, 3, 4, 5, 6, 7, 8), "a name is no text"),
        ("options", [], "there are no options"),
        ("inputs", np.full((30, 8), "1"), "inputs are <U1"),
        ("inputs", np.full((30, 8), np.nan), "neither up nor down"),
        ("inputs", np.full((30, 8), 1e300), "neither up nor down"),
        ("inputs", np.zeros(30), "inputs are float64 (30,), not float64 (30, 8)"),
        ("hashes", np.zeros((31, 16)), "hashes are float64 (31, 16), not uint8 (31, 16)"),
        ("hashes", np.zeros((0, 16), np.uint8), "hashes are uint8 (0, 16)"),
        ("hashes", np.uint8(3), "hashes are uint8 ()"),
    ],
)
def test_forged_parts_are_refused(
    recording: Recording, tmp_path: Path, part: str, value: object, says: str
) -> None:
    path = tmp_path / "run.npz"
    setattr(recording, part, value)
    recording.save(path)

    with pytest.raises(RecordingError, match=f"damaged: .*{re.escape(says)}"):
        Recording.load(path)


def test_refusal_of_a_file_gives_no_dangerous_advice(tmp_path: Path) -> None:
    text, objects = tmp_path / "README.md", tmp_path / "run.npz"
    text.write_text("no recording")
    np.savez(objects, about=np.array([{}], object))

    for path in (text, objects):
        with pytest.raises(RecordingError) as refused:
            Recording.load(path)

        assert str(refused.value) == f"{path} is no recording of a demo"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"seed": 0, "bogus": 1}, "an option that no demo knows: bogus"),
        ({"seed": -1}, "seed is -1, and must be int, 0 or more"),
        ({"seed": "0"}, "seed is '0', and must be int, 0 or more"),
        ({"seed": True}, "seed is True, and must be int, 0 or more"),
        ({"n": 3.5}, "n is 3.5, and must be int"),
        ({"n": 0}, "make no world: n=0 must be at least 1"),
    ],
)
def test_options_that_the_demo_would_not_take_are_refused(
    recording: Recording, world: str, options: dict[str, object], says: str
) -> None:
    with pytest.raises(RecordingError, match=says):
        Player(replace(recording, options=options))

    assert esper.current_world == world
    assert not [name for name in esper.list_worlds() if name.startswith("replay")]


def test_replay_of_a_forged_recording_ends_with_one_line(
    recording: Recording, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replace(recording, options={"seed": -1}).save(Path("bad.npz"))

    assert runner.main(["replay", "bad.npz", "--headless"]) == 2

    said = capsys.readouterr()
    assert said.err == "replay: the recording's seed is -1, and must be int, 0 or more\n"
    assert said.out == ""


def test_recordings_of_strange_demos_and_keys_are_refused(recording: Recording) -> None:
    for name in ("tetris", "app", "window", "os.path", "../ten_thousand"):
        with pytest.raises(RecordingError, match="which does not exist"):
            Player(replace(recording, name=name))
    with pytest.raises(RecordingError, match="keys that no demo knows: fly"):
        Player(replace(recording, names=("fly",)))


@pytest.mark.parametrize("name", ["ten_thousand", "platformer"])
def test_going_to_and_fro_never_needs_a_new_start(
    world: str, name: str, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    recording = record_boxes(steps) if name == "ten_thousand" else record_platformer(steps)
    player = Player(recording)
    assert player.verify() is None
    starts: list[int] = []
    again = player.rebuild
    monkeypatch.setattr(player, "rebuild", lambda: (starts.append(player.position), again()))
    places = random.Random(7)

    for _ in range(12):
        position = places.randrange(player.n_steps + 1)
        player.seek(position)
        assert player.position == position == player.scene.n_steps
        assert player.is_as_recorded()

    player.seek(-5)
    assert player.position == 0
    player.seek(10**6)
    assert player.position == player.n_steps
    assert player.first_difference is None
    assert starts == []
    player.close()


def test_score_of_a_step_is_the_same_however_one_comes_to_it(world: str, steps: int) -> None:
    player = Player(record_platformer(steps))
    scores = []
    while player.position < player.n_steps:
        player.step()
        scores.append(score(player.scene))
    assert len(set(scores)) > 2

    for position in range(player.n_steps, 0, -29):
        player.seek(position)
        assert score(player.scene) == scores[position - 1]
    player.close()


def score(scene: Scene) -> str:
    return f"{scene.status()} {scene.n_collisions} {scene.n_contacts} {scene.report()[:3]}"


def test_what_cannot_be_remembered_is_played_from_the_beginning(
    world: str, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    recording = record_platformer(steps)
    monkeypatch.setattr(Memory, "_collect", lambda *_: [])  # nothing but the space
    player = Player(recording)
    player.seek(player.n_steps)
    starts: list[int] = []
    again = player.rebuild
    monkeypatch.setattr(player, "rebuild", lambda: (starts.append(player.position), again()))

    for position in (steps - 40, 70, 115, 3):
        player.seek(position)
        assert player.position == position
        assert player.is_as_recorded()

    assert starts
    assert player.first_difference is None
    player.close()


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


@pytest.mark.parametrize("name", runner.names())
def test_every_demo_shows_what_the_run_showed_however_one_comes_to_a_step(
    world: str, name: str, volume: Volume
) -> None:
    n_steps = volume(75, 320, least=75)
    options = {"seed": 5, **few(name)}
    chance = random.Random(name)
    places = [chance.randrange(n_steps + 1) for _ in range(volume(5, 12))]
    places += [n_steps, n_steps - 1, n_steps - 70, n_steps - 10, 1]
    scene = catalogue.load(name).build(**options)
    tape = Tape(scene, name, options)
    seen = {0: look(scene)}
    for step in range(1, n_steps + 1):
        if step % 20 == 1:
            scene.keys.bot = step % 140 < 70
            for key in ("left", "right", "up", "down", "jump", "shoot", "dash"):
                setattr(scene.keys, key, chance.random() < 0.4)
        tape.step()
        if step in places:
            seen[step] = look(scene)
    player = Player(tape.recording())
    assert player.verify() is None

    for place in places:
        player.seek(place)
        assert look(player.scene) == seen[place]

    assert player.first_difference is None
    assert bool(player._memory.steps) != player.scene.counts_work
    player.close()


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
    memory = Memory(scene)
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
    memory = Memory(scene)
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


def test_command_records_replays_and_finds_a_difference(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["ten_thousand", "--headless", "--seconds", "0.5", "--n", "30", "--seed", "9"]
    assert runner.main([*run, "--save", "made/run.npz"]) == 0
    said = capsys.readouterr().out
    assert "wrote made/run.npz: python -m demos replay made/run.npz" in said.replace("\\", "/")

    assert runner.main(["replay", "made/run.npz", "--headless"]) == 0
    assert "ten_thousand (seed 9, n 30), 30 steps: as recorded" in capsys.readouterr().out

    recording = Recording.load(Path("made/run.npz"))
    recording.hashes = recording.hashes.copy()
    recording.hashes[8] = 0
    recording.save(Path("bad.npz"))
    assert runner.main(["replay", "bad.npz", "--headless"]) == 1
    assert "differs first in step 8 of 30" in capsys.readouterr().out

    assert runner.main(["replay", "none.npz", "--headless"]) == 2
    assert "none.npz" in capsys.readouterr().err
    Path("text.npz").write_text("no recording")
    assert runner.main(["replay", "text.npz"]) == 2
    assert "text.npz is no recording of a demo" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        runner.main(["ten_thousand", "--save", "run.txt"])
    assert "run.txt must end in .npz" in capsys.readouterr().err
    esper.switch_world("default")
    esper.delete_world("demo ten_thousand")


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
            ["ten_thousand", "--headless", "--seconds", "1", "--n", "9", "--save", "run.npz"]
        )

    recording = Recording.load(Path("run.npz"))
    assert recording.n_steps == 11
    player = play(recording)
    assert player.first_difference is None
    player.close()
    esper.switch_world("default")
    esper.delete_world("demo ten_thousand")


@pytest.mark.skipif(not ec.COMPILED, reason="the other life is the one that runs")
def test_run_with_the_other_kernels_is_the_same_run(folder: Path, world: str) -> None:
    code = "import sys; from demos.__main__ import main; sys.exit(main())"
    options = ["--headless", "--seconds", "1.5", "--seed", "1", "--save", "plain.npz"]
    own = {"ECS_COLLIDE_PURE_PYTHON": "1", "ECS_COLLIDE_REQUIRE_COMPILED": "0"}
    environment = {**os.environ, **own, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-c", code, "platformer", *options],
        env=environment, cwd=folder, check=True, capture_output=True,
    )  # fmt: skip

    player = play(Recording.load(Path("plain.npz")))

    assert player.n_steps == 90
    assert player.first_difference is None
    player.close()
