"""``python -m demos``: what it lists, runs, writes and refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import esper
import numpy as np
import pytest

import ecs_collide
import ecs_collide as ec
from demos import __main__ as runner
from demos.app import headless
from demos.ten_thousand import game as ten_thousand
from tests.screens import need

ROOT = Path(__file__).parents[2]


def demos(*arguments: str, hide: str = "", folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``python -m demos`` in a process of its own, without a display."""
    hidden = "".join(f"sys.modules[{name!r}] = None; " for name in hide.split())
    code = f"import sys; {hidden}from demos.__main__ import main; sys.exit(main())"
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": ""}
    if not ecs_collide.COMPILED:
        environment["ECS_COLLIDE_PURE_PYTHON"] = "1"  # else the import says that it is slower
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=False,
    )


def test_list_names_all_demos_with_what_they_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["--list"]) == 0

    said = capsys.readouterr().out
    for name in runner.names():
        assert f"  {name:13} {runner.summary(name)}\n" in said
    assert "platformer    Run, jump" in said
    assert "ten_thousand  Ten thousand boxes" in said
    assert "python -m demos NAME" in said


def test_module_runs_as_a_program(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demos", "--list"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.startswith("demos of ecs_collide:")


def test_unknown_demo_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["tetris"]) == 2

    said = capsys.readouterr().err
    assert said == f"there is no demo 'tetris'; there are: {', '.join(runner.names())}, " + (
        f"{', '.join(runner.examples())}\n"
    )
    assert "ten_thousand" in said


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--seconds", "0"], "0 seconds: say more than 0, and less than 1000000"),
        (["--seconds", "nan"], "nan seconds: say more than 0, and less than 1000000"),
        (["--seconds", "2000000"], "2000000 seconds: say more than 0, and less than 1000000"),
        (["--seconds", "soon"], "invalid"),
        (["--record", "out.mp4"], "must end in .gif"),
        (["--record-from", "1"], "--record-from: there is no --record OUT.GIF"),
        (["--record-from", "nan", "--record", "a.gif"], "nan seconds: say 0 or more, less than"),
        (["--record-from", "-1", "--record", "a.gif"], "-1 seconds: say 0 or more, less than"),
        (["--seed", "x"], "invalid int"),
        (["--n", "0"], "say 1 or more"),
        (["--colour"], "unrecognized"),
    ],
)
def test_wrong_options_are_refused(
    arguments: list[str], word: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        runner.main(["ten_thousand", "--headless", "--n", "9", *arguments])

    assert stop.value.code == 2
    assert word in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "own"), [("ten_thousand", ["--n", "200"]), ("platformer", ["--one-body-per-tile"])]
)
def test_headless_run_leaves_a_picture_and_an_animation(
    name: str, own: list[str], folder: Path
) -> None:
    need("PIL", "tqdm")
    from PIL import Image, ImageSequence

    options = ["--headless", "--seconds", "0.5", "--seed", "4", "--record", "made/a.gif"]
    done = demos(name, *options, *own, folder=folder)

    assert done.returncode == 0, done.stderr
    assert f"{name}: 30 steps of 1/60 s" in done.stdout
    assert "ms per step" in done.stdout
    assert "collisions" in done.stdout
    with Image.open(folder / "out" / f"{name}.png") as picture:
        assert picture.width == 960
        assert len(np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0)) > 20
    with Image.open(folder / "made" / "a.gif") as animation:
        assert len(list(ImageSequence.Iterator(animation))) == 6
        assert animation.width == 480


def test_without_a_screen_it_says_so_and_runs_all_the_same(folder: Path) -> None:
    need("pyglet")
    if sys.platform != "linux":
        pytest.skip("only X11 can be taken away by a variable")

    done = demos("ten_thousand", "--seconds", "0.1", "--n", "20", folder=folder)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("no window (NoSuchDisplayException")
    assert "ten_thousand: 6 steps" in done.stdout


def test_no_name_and_no_screen_lists_the_demos(folder: Path) -> None:
    need("pyglet")
    if sys.platform != "linux":
        pytest.skip("only X11 can be taken away by a variable")

    done = demos(folder=folder)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("no window (NoSuchDisplayException")
    assert "\ndemos of ecs_collide:\n  survivors" in done.stdout


def test_no_name_and_no_pyglet_lists_the_demos(folder: Path) -> None:
    done = demos(hide="pyglet", folder=folder)

    assert done.returncode == 0, done.stderr
    assert 'no window (a window needs pyglet: pip install "ecs_collide[demos]")' in done.stdout
    assert "\n  platformer    Run, jump" in done.stdout


@pytest.mark.parametrize(
    ("hidden", "line"),
    [
        ("pyglet", 'a window needs pyglet: pip install "ecs_collide[demos]"'),
        ("tqdm", 'it needs tqdm: pip install "ecs_collide[demos]"'),
        ("PIL", 'pictures need Pillow: pip install "ecs_collide[demos]"'),
    ],
)
def test_what_is_missing_is_named_and_the_run_goes_on(hidden: str, line: str, folder: Path) -> None:
    done = demos("ten_thousand", "--seconds", "0.1", "--n", "20", hide=hidden, folder=folder)

    assert done.returncode == 0, done.stderr
    assert line in done.stdout
    assert "ten_thousand: 6 steps" in done.stdout


def test_recording_without_pillow_is_refused_before_the_run(folder: Path) -> None:
    options = ["--headless", "--n", "20", "--record", "a.gif"]
    done = demos("ten_thousand", *options, hide="PIL", folder=folder)

    assert done.returncode == 1
    assert done.stderr == 'ten_thousand: pictures need Pillow: pip install "ecs_collide[demos]"\n'
    assert done.stdout == ""


@pytest.mark.parametrize("name", runner.names())
def test_negative_seeds_are_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        runner.main([name, "--headless", "--seed", "-1"])

    assert stop.value.code == 2
    assert "argument --seed: -1 is no seed: say 0 or more" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--save", "--record"])
@pytest.mark.parametrize("place", ["file/run", "folder"])
def test_file_that_cannot_be_written_is_refused_before_the_run(
    option: str, place: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = ".rec" if option == "--save" else ".gif"
    Path("file").write_text("in the way")
    Path(f"folder{ending}").mkdir()

    with pytest.raises(SystemExit) as stop:
        runner.main(["ten_thousand", "--headless", "--n", "9", option, place + ending])

    said = capsys.readouterr()
    assert stop.value.code == 2
    assert f"argument {option}: {Path(place + ending)} cannot be written: " in said.err
    assert said.out == ""


def test_looking_whether_a_file_can_be_written_leaves_it_as_it_is(folder: Path) -> None:
    old, new = Path("old.rec"), Path("made") / "new.rec"
    old.write_text("an old run")

    found = [runner._trouble(path) for path in (old, new)]

    assert found == ["", ""]
    assert old.read_text() == "an old run"
    assert not new.exists()


def run_boxes(*options: str) -> int:
    """Run half a second of a few boxes that records and saves, and tidy up."""
    files = ["--save", "run.rec", "--record", "run.gif"]
    try:
        return runner.main(
            ["ten_thousand", "--headless", "--seconds", "0.5", "--n", "9", *files, *options]
        )
    finally:
        esper.switch_world("default")
        esper.delete_world("demo ten_thousand")


def test_run_that_cannot_be_saved_after_all_still_leaves_its_picture(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need("PIL")

    def fail(self: ec.Recorder, path: Path) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(ec.Recorder, "save", fail)

    assert run_boxes() == 1
    assert "ten_thousand: run.rec could not be written: no space left\n" in capsys.readouterr().err
    assert Path("run.gif").stat().st_size > 0


def test_run_that_is_broken_off_leaves_both_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need("PIL")
    from PIL import Image, ImageSequence

    step = ten_thousand.TenThousand.step

    def break_off(scene: ten_thousand.TenThousand) -> None:
        if scene.n_steps == 11:
            raise KeyboardInterrupt
        step(scene)

    monkeypatch.setattr(ten_thousand.TenThousand, "step", break_off)

    assert run_boxes() == 130
    assert ec.Recording.load(Path("run.rec")).frames[-1].step == 11
    with Image.open("run.gif") as animation:
        assert len(list(ImageSequence.Iterator(animation))) == 2  # steps 5 and 10


def test_recording_that_would_begin_after_the_end_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("PIL")

    assert run_boxes("--record-from", "0.5") == 2

    assert capsys.readouterr().err == "ten_thousand: --record-from 0.5: the run lasts 0.5 seconds\n"
    assert list(folder.iterdir()) == []


def test_run_that_ends_before_the_recording_begins_leaves_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need("PIL")

    def end_early(*_: object, step: Callable[[], None], **__: object) -> None:
        step()

    monkeypatch.setattr(headless, "run", end_early)

    assert run_boxes("--record-from", "0.4") == 1
    said = capsys.readouterr().err
    assert said == "ten_thousand: no run.gif: the run ended before 0.4 seconds\n"
    assert [path.name for path in folder.iterdir()] == ["run.rec"]


def test_file_in_place_of_the_folder_for_pictures_is_told(
    folder: Path, world: str, capsys: pytest.CaptureFixture[str]
) -> None:
    need("PIL")
    Path("out").write_text("in the way")

    assert headless.run(ten_thousand.build(n=9), "ten_thousand", 0.1) == []

    assert "no picture of the last frame: " in capsys.readouterr().out


def test_recording_may_begin_late(world: str, folder: Path) -> None:
    need("PIL")
    from PIL import Image, ImageSequence

    from demos.app.painter import Recorder

    scene = ten_thousand.build(n=20)
    recorder = Recorder(scene, start=0.5)

    written = headless.run(scene, "ten_thousand", 1.0, recorder=recorder, out=Path("pictures"))
    recorder.save(Path("late.gif"))

    assert written == [Path("pictures/ten_thousand.png")]
    with Image.open("late.gif") as animation:
        assert len(list(ImageSequence.Iterator(animation))) == 7  # steps 30, 35 ... 60
