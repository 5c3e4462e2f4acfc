"""How the clock is held.

Each competitor runs in a separate process, on one thread, with Python's
garbage collector on, as in a game.  Competitors take turns, round after round,
so that what else the machine does falls on all.  The first frames of a run are
not counted: caches fill and structures find their form.  In the first round the
pairs of every frame are checked too, between one frame and the next.

Steps of whole engines are timed by the clock of their process, which other programs do not
advance.  Figures are those of the quietest run, by its mean; only the *worst* frame is
taken over all runs, as the slowest frame when each counts with its least time:
a frame that is slow in every run is slow by itself.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.competitors import ENGINES, FINDERS, OURS, PRESSERS, installed
from benchmarks.scenes import WITH_REST

ROOT = Path(__file__).parents[1]
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
QUICK_COSTS: dict[str, dict[str, int]] = {
    "counts": {"sizes": (10,), "instructions": False},
    "changes": {"tiles": 300, "bodies": 50, "cells": 20, "n": 10, "frames": 3},
    "quiet": {"n": 1000, "movers": 10, "frames": 10},
    "resting": {"n": 1000, "movers": 10, "frames": 10},
    "characters": {"n": 20, "frames": 3, "rounds": 1},
    "churn": {"n": 500, "frames": 3},
    "pool": {"n": 100, "frames": 3},
    "build": {"n": 5000, "rounds": 2},
    "query": {"n": 1000, "calls": 500},
    "memory": {"n": 5000},
    "snapshot": {"n": 500, "rounds": 3},
    "bounds": {"n": 400, "frames": 10, "rounds": 1},
    "pressed": {"n": 200, "frames": 3, "rounds": 1},
    "import": {"rounds": 1},
    "plain": {"n": 20, "frames": 3},
    "cubes": {"n": 27, "frames": 3},
}


@dataclass
class Result:
    """What came of one competitor in one race.

    Attributes
    ----------
    name : str
    version : str
    runs : list of list of float
        Milliseconds of each frame, for each run.
    pairs : list
        Number and digest of the pairs of each frame, where they were told.
    notes : dict
        What else it told.
    missing : str
        Why it is left out; empty where it is not.
    """

    name: str
    version: str = ""
    runs: list[list[float]] = field(default_factory=list)
    pairs: list[tuple[int, str]] = field(default_factory=list)
    notes: dict[str, float] = field(default_factory=dict)
    missing: str = ""

    @property
    def quietest(self) -> list[float]:
        """The run with the least mean."""
        return min(self.runs, key=statistics.fmean)

    @property
    def mean(self) -> float:
        """Mean of the quietest run, in ms."""
        return statistics.fmean(self.quietest)

    @property
    def median(self) -> float:
        """Median of the quietest run, in ms."""
        return statistics.median(self.quietest)

    @property
    def worst(self) -> float:
        """Slowest frame, each counting with its least time over the runs, in ms."""
        return max(min(frame) for frame in zip(*self.runs))  # noqa: B905, runs may be cut short


@dataclass
class Race:
    """A table of the report: several competitors at one piece of work.

    Attributes
    ----------
    kind : str
        ``"tree"``, ``"engine"`` or ``"crowd"``.
    scene : str
    n, dim : int
    results : list of Result
        This library first.
    wrong : str
        What is wrong with the pairs; empty where all agree.
    """

    kind: str
    scene: str
    n: int
    dim: int
    results: list[Result]
    wrong: str = ""

    @property
    def finished(self) -> list[Result]:
        """Those that were measured."""
        return [result for result in self.results if not result.missing]


class ChildError(Exception):
    """A child did not finish; the message says why."""


def run_child(job: dict[str, Any], patience: float) -> dict[str, Any]:
    """Do a job in a separate process."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.child"],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
            timeout=patience,
        )
    except subprocess.TimeoutExpired:
        raise ChildError(f"gave up after {patience:.0f} s") from None
    if done.returncode < 0:
        raise ChildError(f"killed by signal {-done.returncode}")
    if done.returncode:
        raise ChildError((done.stderr.strip().splitlines() or ["no reason given"])[-1])
    out: dict[str, Any] = json.loads(done.stdout)
    return out


@dataclass(frozen=True)
class Effort:
    """How much is run.

    Attributes
    ----------
    frames, warmup : int
        Counted and not counted, in each run.
    rounds : int
        Runs of each competitor.
    budget : float
        Seconds after which a run is cut short, for the slow ones.
    patience : float
        Seconds after which a process is given up.
    """

    frames: int = 60
    warmup: int = 10
    rounds: int = 3
    budget: float = 1.5
    patience: float = 300.0


def entrants(kind: str, dim: int, scene: str, only: list[str]) -> list[Result]:
    """Return those who can do the work, and say of each whether it is there."""
    entered = []
    fields: dict[str, dict[str, Any]] = {"tree": FINDERS, "engine": ENGINES, "crowd": PRESSERS}
    for name, competitor in fields[kind].items():
        fits = True
        if kind == "tree":
            fits = dim in competitor.dims and (scene in WITH_REST or not competitor.resting_only)
        elif kind == "crowd":
            fits = not competitor.scenes or scene in competitor.scenes
        if not fits or (only and name != OURS and not any(o in name for o in only)):
            continue
        known = installed(competitor.needs)
        missing = f"{competitor.needs} is not installed" if known is None else ""
        entered.append(Result(name, known or "", missing=missing))
    return entered


def race(
    kind: str, scene: str, n: int, dim: int, effort: Effort, only: list[str], tick: Any
) -> Race:
    """Let all competitors do one piece of work.

    Parameters
    ----------
    only : list of str
        Parts of names of the peers wanted; empty for all.
    tick : callable
        Called with a text before each run.
    """
    held = Race(kind, scene, n, dim, entrants(kind, dim, scene, only))
    for turn in range(effort.rounds):
        for result in held.finished:
            tick(f"{kind} {scene} {dim}D {n:,}: {result.name}")
            job = {"kind": kind, "who": result.name, "n": n}
            job |= {"frames": effort.frames, "warmup": effort.warmup}
            if kind == "tree":
                job |= {"scene_name": scene, "dim": dim, "budget": effort.budget}
                job |= {"check": turn == 0}
            if kind == "crowd":
                job["scene_name"] = scene
            try:
                out = run_child(job, effort.patience)
            except ChildError as error:
                result.missing = str(error)
                continue
            result.runs.append(out.pop("times"))
            result.pairs = out.pop("pairs", None) or result.pairs
            if kind == "engine":
                out["in_game"] = min(out["in_game"], result.notes.get("in_game", out["in_game"]))
            result.notes = out
    if kind != "crowd":
        held.wrong = disagreement(held.finished) if kind == "tree" else escapes(held.finished)
    return held


def disagreement(results: list[Result]) -> str:
    """Return who finds other pairs than most, and in which frame; empty where all agree."""
    wrong = []
    for k in range(max((len(result.pairs) for result in results), default=0)):
        told = {result.name: tuple(result.pairs[k]) for result in results if k < len(result.pairs)}
        usual, _ = Counter(told.values()).most_common(1)[0]
        for name, pairs in told.items():
            if pairs != usual and not any(text.startswith(f"{name} ") for text in wrong):
                wrong.append(f"{name} finds {pairs[0]} pairs in frame {k + 1}, not {usual[0]}")
    return "; ".join(wrong)


def escapes(results: list[Result]) -> str:
    """Return who loses boxes; empty where nobody does."""
    return "; ".join(
        f"{result.name} lets {result.notes['escaped']:.0f} boxes out of the arena"
        for result in results
        if result.notes["escaped"]
    )


def cost(name: str, quick: bool, patience: float = 600.0) -> list[tuple[str, float, str]]:
    """Measure one of the costs."""
    job = {"kind": "cost", "name": name, **(QUICK_COSTS[name] if quick else {})}
    figures = run_child(job, patience)["figures"]
    return [(what, value, unit) for what, value, unit in figures]
