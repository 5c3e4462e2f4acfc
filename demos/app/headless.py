"""Run a scene without a window: a progress bar, a report, a picture of the last frame."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from demos.app.scene import DT, Scene

if TYPE_CHECKING:
    from demos.app.painter import Recorder


def run(
    scene: Scene,
    name: str,
    seconds: float,
    *,
    out: Path = Path("out"),
    recorder: Recorder | None = None,
    step: Callable[[], None] | None = None,
) -> list[Path]:
    """Step a scene, print a report and write a picture.

    Parameters
    ----------
    scene : Scene
        The demo's world.
    name : str
        The name of the demo; the picture of the last frame is ``<out>/<name>.png``.
    seconds : float
        Seconds of play, not of waiting.
    out : Path
        The folder for the picture.
    recorder : Recorder, optional
        Takes the frames.
    step : callable, optional
        Steps the scene instead of `Scene.step`.

    Returns
    -------
    list of Path
        The picture, if it was written.
    """
    n_steps = max(1, round(seconds / DT))
    scene.keys.bot = True
    mean, worst = _run_steps(scene, n_steps, recorder, step or scene.step)

    steps = scene.n_steps
    print(f"{name}: {steps} steps of 1/60 s, {len(scene.space)} bodies at the end")
    print(f"  collisions  {scene.n_collisions}")
    print(f"  contacts    {scene.n_contacts} begun")
    print(f"  ms per step {mean:.3f} mean, {worst:.3f} worst")
    for line in describe(scene):
        print(f"  {line}")

    picture = out / f"{name}.png"
    try:
        from demos.app.painter import Painter

        out.mkdir(parents=True, exist_ok=True)
        Painter(scene).paint().save(picture, optimize=True)
    except (ImportError, OSError) as error:
        print(f"  no picture of the last frame: {error}")
        return []
    print(f"  wrote {picture}")
    return [picture]


def describe(scene: Scene) -> list[str]:
    """Return the lines of a scene's report, and then of its claims."""
    claims = scene.claims()
    return scene.report() + [
        f"{'true:' if holds else 'BROKEN:':<11} {words}" for words, holds in claims
    ]


def _run_steps(
    scene: Scene, n_steps: int, recorder: Recorder | None, step: Callable[[], None]
) -> tuple[float, float]:
    """Run the steps; return the mean and the worst time that the world took for one, in ms."""
    total = worst = 0.0
    for _ in progress(range(n_steps)):
        step()
        total += scene.ms
        worst = max(worst, scene.ms)
        if recorder is not None:
            recorder.take()
    return total / n_steps, worst


def progress(steps: range) -> Iterator[int]:
    """Yield the steps; show a bar in a terminal if tqdm is installed, otherwise a line."""
    try:
        from tqdm import tqdm  # type: ignore[import-untyped]
    except ImportError:
        tqdm = None
        print('no progress bar: it needs tqdm: pip install "ecs_collide[demos]"')
    else:
        if not sys.stderr.isatty():  # where the control characters of a bar would be text
            print(f"{len(steps)} steps; a terminal shows a progress bar", file=sys.stderr)
    yield from steps if tqdm is None else tqdm(steps, unit="step", leave=False, disable=None)
