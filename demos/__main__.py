"""Open the menu of the demos, list them, or run one: ``python -m demos NAME``."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import esper

import ecs_collide as ec
from demos.app import headless
from demos.app.catalogue import examples, load, names, shown, source, summary
from demos.app.scene import DT, Scene

WINDOWS = {  # the libraries of the examples' windows, and what to install
    "pyglet": "pyglet",
    "pygame": "pygame-ce",
    "arcade": "arcade",
    "pyray": "raylib",
}
LONGEST = 1_000_000  # seconds that a run may last


def list_demos() -> str:
    """Return the text that is printed without the name of a demo."""
    demos, games = (
        [f"  {name:{max(map(len, listed))}}  {summary(name)}" for name in listed]
        for listed in (names(), examples())
    )
    return "\n".join(
        [
            "demos of ecs_collide:",
            *demos,
            "",
            "games to copy, each a file of demos/examples:",
            *games,
            "",
            "choose one:    python -m demos",
            "run one:       python -m demos NAME",
            "its options:   python -m demos NAME --help",
            "record a run:  python -m demos NAME --save RUN.rec",
            "play it back:  python -m ecs_collide.recording RUN.rec",
        ]
    )


def read_arguments(arguments: Sequence[str], name: str, demo: ModuleType) -> argparse.Namespace:
    """Return the options of a run."""
    parser = argparse.ArgumentParser(prog=f"python -m demos {name}", description=summary(name))
    usual = get_type_hints(demo.build)["return"].seconds
    parser.add_argument(
        "--seconds", type=_seconds, help=f"how long to play (default with --headless: {usual:g})"
    )
    parser.add_argument("--seed", type=_seed, default=0, help="seed of all random numbers (0)")
    parser.add_argument("--headless", action="store_true", help="open no window")
    parser.add_argument("--silent", action="store_true", help="begin without sounds (M: on)")
    parser.add_argument(
        "--record",
        type=partial(_ending_in, ".gif"),
        metavar="OUT.GIF",
        help="write an animated picture of the run",
    )
    parser.add_argument(
        "--record-from",
        type=_start,
        metavar="SECONDS",
        help="with --record: skip the beginning of the run",
    )
    parser.add_argument(
        "--save",
        type=partial(_ending_in, ".rec"),
        metavar="RUN.REC",
        help="record the run, for python -m ecs_collide.recording",
    )
    if hasattr(demo, "add_options"):
        demo.add_options(parser)
    options = parser.parse_args(arguments)
    if options.record_from is not None and options.record is None:
        parser.error("argument --record-from: there is no --record OUT.GIF")
    for option in ("save", "record"):
        path = getattr(options, option)
        trouble = "" if path is None else _trouble(path)
        if trouble:
            parser.error(f"argument --{option}: {path} cannot be written: {trouble}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if not arguments:
        return _choose()
    if arguments[0] in ("-h", "--help", "--list"):
        print(list_demos())
        return 0
    name, *others = arguments
    if name not in shown():
        print(f"there is no demo {name!r}; there are: {', '.join(shown())}", file=sys.stderr)
        return 2
    try:
        return _play(name, others) if name in examples() else _run(name, others)
    except KeyboardInterrupt:
        return 130  # as in shells
    except ImportError as error:
        if error.name != "PIL":
            raise
        print(f"{name}: {error}", file=sys.stderr)
        return 1


def _choose() -> int:
    """Open the menu; without a screen, list the demos."""
    from demos.app import window

    def build(name: str) -> Scene | None:
        if name in examples():
            need_window(name)
            subprocess.Popen([sys.executable, "-m", "demos", name])
            return None
        scene: Scene = load(name).build()
        return scene

    try:
        from demos.app.menu import Gallery

        gallery = Gallery({name: summary(name) for name in shown()}, build)
    except (ImportError, window.NoScreenError) as error:
        print(f"no window ({error}): here is a list")
        print(list_demos())
        return 0
    gallery.run()
    return 0


def _play(name: str, others: list[str]) -> int:
    """Open the window of an example."""
    path = os.path.relpath(source(name))
    if others:
        print(f"{name}: a game to copy takes no options: see {path}", file=sys.stderr)
        return 2
    print(f"{summary(name)}\nits source: {path}")
    try:
        load(name).main()
    except ImportError as error:
        print(
            f"no window: pip install {WINDOWS.get(error.name or '', error.name)}", file=sys.stderr
        )
        return 1
    except Exception as error:
        if type(error).__name__ != "NoSuchDisplayException":
            raise
        print(f"no window: {error}", file=sys.stderr)
        return 1
    return 0


def need_window(name: str) -> None:
    """Raise ImportError if the library of an example's window is not installed."""
    for module, package in WINDOWS.items():
        needs = re.search(rf"^ *import {module}\b", source(name).read_text("utf-8"), re.M)
        if needs and find_spec(module) is None:
            raise ImportError(f"its window needs {package}: pip install {package}", name=module)


def _run(name: str, others: list[str]) -> int:
    demo = load(name)
    options = vars(read_arguments(others, name, demo))
    seconds, is_headless = options.pop("seconds"), options.pop("headless")
    recording, start = options.pop("record"), options.pop("record_from") or 0.0
    saving, is_silent = options.pop("save"), options.pop("silent")

    esper.switch_world(f"demo {name}")
    scene = demo.build(**options)
    lasts = scene.seconds if is_headless and seconds is None else seconds
    if lasts is not None and start >= lasts:
        print(f"{name}: --record-from {start:g}: the run lasts {lasts:g} seconds", file=sys.stderr)
        return 2
    recorder = None
    if recording is not None:
        from demos.app.painter import Recorder

        recorder = Recorder(scene, start)
    tape = None if saving is None else ec.Recorder(scene.space, scene.keys)

    def step() -> None:
        if tape is not None:
            tape.begin_step()
        scene.step()
        if tape is not None:
            tape.take(DT)

    screen = None
    if not is_headless:
        from demos.app.window import Screen

        screen = _open(lambda: Screen(scene), ": running without one")
        if screen is not None and is_silent:
            screen.speaker.is_on = False
        if screen is not None and seconds is None:
            screen.announce()
    is_kept = True
    try:
        if screen is None:
            seconds = scene.seconds if seconds is None else seconds
            headless.run(scene, name, seconds, recorder=recorder, step=step)
        else:
            screen.run(seconds, recorder, step)
    finally:  # even if the run fails or is interrupted: it can be played up to there
        if tape is not None:
            saving.parent.mkdir(parents=True, exist_ok=True)
            how = f": python -m ecs_collide.recording {saving}"
            is_kept &= _keep(name, tape.save, saving, how)
        if recorder is not None and scene.n_steps * DT < start:
            print(
                f"{name}: no {recording}: the run ended before {start:g} seconds", file=sys.stderr
            )
            is_kept = False
        elif recorder is not None:
            is_kept &= _keep(name, recorder.save, recording)
    if screen is not None:
        for line in headless.describe(scene):
            print(line)
    broken = [words for words, holds in scene.claims() if not holds]
    for words in broken:
        print(f"{name}: does not hold: {words}", file=sys.stderr)
    return 1 if broken or not is_kept else 0


def _keep(name: str, save: Callable[[Path], object], path: Path, more: str = "") -> bool:
    """Write a file and print the result; return whether it was written."""
    try:
        save(path)
    except OSError as error:
        print(f"{name}: {path} could not be written: {error}", file=sys.stderr)
        return False
    print(f"wrote {path}{more}")
    return True


def _open(make: Callable[[], Any], more: str = "") -> Any:
    """Return a window; or print a line about why there is no screen, and return None."""
    from demos.app.window import NoScreenError

    try:
        return make()
    except (ImportError, NoScreenError) as error:
        print(f"no window ({error}){more}")
        return None


def _number(text: str, kind: type = float) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid {kind.__name__}: {text!r}") from None


def _seconds(text: str) -> float:
    value: float = _number(text)
    if not 0 < value < LONGEST:
        raise argparse.ArgumentTypeError(
            f"{text} seconds: say more than 0, and less than {LONGEST}"
        )
    return value


def _start(text: str) -> float:
    value: float = _number(text)
    if not 0 <= value < LONGEST:
        raise argparse.ArgumentTypeError(f"{text} seconds: say 0 or more, less than {LONGEST}")
    return value


def _seed(text: str) -> int:
    value: int = _number(text, int)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is no seed: say 0 or more")
    return value


def _trouble(path: Path) -> str:
    """Return why a file cannot be written, or nothing; create its folder if needed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not os.path.lexists(path)
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _ending_in(suffix: str, text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != suffix:
        raise argparse.ArgumentTypeError(f"{text} must end in {suffix}")
    return path


if __name__ == "__main__":
    sys.exit(main())
