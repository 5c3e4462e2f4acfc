"""One job in a separate process: reads what to do as JSON, writes what came out as JSON.

``python -m benchmarks.child`` is started by `measure`, which sets the
environment: one thread, and which life of the kernels.
"""

from __future__ import annotations

import hashlib
import json
import re
import statistics
import sys
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks import costs
from benchmarks.competitors import ENGINES, FINDERS, PRESSERS
from benchmarks.crowds import CROWDS, Presser, depths
from benchmarks.engines import SPEED, Engine, arena
from benchmarks.scenes import Integers, scene
from benchmarks.trees import Finder


def main() -> None:
    """Do the job on standard input."""
    job = json.load(sys.stdin)
    kind = job.pop("kind")
    jobs = {"tree": run_tree, "engine": run_engine, "crowd": run_crowd, "cost": run_cost}
    out = jobs[kind](**job)
    json.dump(out, sys.stdout)


def run_tree(
    who: str,
    scene_name: str,
    n: int,
    dim: int,
    frames: int,
    warmup: int,
    budget: float,
    check: bool,
) -> dict[str, Any]:
    """Time a finder over the frames of a scene.

    Parameters
    ----------
    budget : float
        Seconds; when the frames have taken that long, no further one is begun.
    check : bool
        Tell the pairs too, which the clock does not see, but the caches may feel.

    Returns
    -------
    dict
        ``times``: ms of each frame after the warm-up.  ``pairs``: number and
        digest for each frame, the warm-up included.
    """
    played = scene(scene_name, n, dim, warmup + frames)
    competitor: Finder = FINDERS[who](played)
    times: list[float] = []
    pairs: list[tuple[int, str]] = []
    for frame in played.frames[1:]:
        before = perf_counter()
        answer = competitor.step(frame)
        times.append((perf_counter() - before) * 1e3)
        if check:
            pairs.append(digest(competitor.pairs(answer), len(played.resting)))
        if sum(times) > budget * 1e3 and len(times) >= warmup + 3:
            break
    return {"times": times[warmup:], "pairs": pairs}


def digest(pairs: Integers, n_resting: int) -> tuple[int, str]:
    """Return the number and the digest of pairs in which at least one box moves."""
    rows = np.sort(pairs.astype(np.int64), axis=1)
    rows = rows[rows[:, 1] >= n_resting]
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    return len(rows), hashlib.sha256(rows.tobytes()).hexdigest()[:16]


def run_engine(who: str, n: int, frames: int, warmup: int) -> dict[str, Any]:
    """Time an engine in the arena, by the clock of the process: of all its threads.

    Returns
    -------
    dict
        ``times``: ms of each step after the warm-up.  ``collisions``: mean number
        that began in a step.  ``energy``: what is left of it, 1 being all.
        ``escaped``: how many boxes have left the arena.  ``in_game``: the median of further
        steps, with the work of a game between them.
    """
    start = arena(n)
    engine: Engine = ENGINES[who](start)
    times, collisions = [], 0
    for k in range(warmup + frames):
        before = process_time()
        begun = engine.step()
        after = process_time()
        if k >= warmup:
            times.append((after - before) * 1e3)
            collisions += begun
    game, in_game = Game(), []
    for _ in range(frames):
        game.work()
        before = process_time()
        engine.step()
        in_game.append((process_time() - before) * 1e3)
    positions, velocities = engine.state()
    slack = SPEED / 60.0  # a box that a solver is still pushing back is inside
    escaped = ((positions < -slack) | (positions > start.side + slack)).any(axis=1)
    return {
        "times": times,
        "collisions": collisions / frames,
        "energy": float((velocities**2).sum() / (start.velocities**2).sum()),
        "escaped": int(np.count_nonzero(escaped)),
        "in_game": statistics.median(in_game),
    }


class Game:
    """The work of a game between two steps, which pushes a step out of the caches."""

    def __init__(self) -> None:
        self.pixels = np.zeros(500_000)  # 4 MB
        self.things = {f"thing {n}": [n, str(n) * 5] for n in range(300)}

    def work(self) -> None:
        """Write all pixels, and run other code of Python and C."""
        self.pixels += 1.0
        re.findall(r"thing (\d+)", json.dumps(self.things))
        sorted(self.things, key=lambda name: name[::-1])


def run_crowd(who: str, scene_name: str, n: int, frames: int, warmup: int) -> dict[str, Any]:
    """Time an engine in a scene in which boxes press on each other, as in `run_engine`.

    Returns
    -------
    dict
        ``times``: ms of each step after the warm-up, in which the crowd forms.  ``sweeps``: swept
        tests for each candidate pair, on average.  ``depth``: how deep boxes are in each other
        at the end that are, in units, on average; ``deepest``: the most.
    """
    played = CROWDS[scene_name](n)
    presser: Presser = PRESSERS[who](played)
    times, n_pairs, n_sweeps = [], 0, 0
    for k in range(warmup + frames):
        presser.steer()
        before = process_time()
        presser.step()
        after = process_time()
        if k >= warmup:
            times.append((after - before) * 1e3)
            pairs, sweeps = presser.counts()
            n_pairs += pairs
            n_sweeps += sweeps
    inside = depths(played, presser.places())
    return {
        "times": times,
        "sweeps": n_sweeps / max(n_pairs, 1),
        "deepest": float(inside.max(initial=0.0)),
        "depth": float(inside.mean()) if len(inside) else 0.0,
    }


def run_cost(name: str, **sizes: int) -> dict[str, Any]:
    """Measure one of the costs."""
    return {"figures": costs.COSTS[name](**sizes)}


if __name__ == "__main__":
    main()
