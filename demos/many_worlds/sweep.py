"""A sweep over parameters: how hard is a room? On the cores of one machine, or on many machines.

``python -m demos.many_worlds.sweep --out rooms.csv`` uses joblib on this machine;
``--dask`` uses Dask here, and ``--dask tcp://scheduler:8786`` a cluster.  The rows are the same
in every way of running it: each world follows from its parameters and its seed.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from demos.many_worlds.rooms import Rooms, head_for_goal

Row = dict[str, Any]
Run = Callable[..., Mapping[str, Any]]


def play(n_drones: int, drone_speed: float, seed: int, n_rooms: int = 64, steps: int = 150) -> Row:
    """Play with agents that head straight for their goals; return the results.

    Returns
    -------
    dict
        ``reached`` and ``hit`` are counts of rooms, ``seconds`` is the mean time to the goal, and
        ``state`` is the fingerprint of the world after the last step.
    """
    rooms = Rooms(n_rooms, n_drones, drone_speed)
    try:
        everybody = np.arange(n_rooms)
        rooms.seed(everybody, seed * 1_000_003 + everybody)
        rooms.reset(everybody)
        over = np.zeros(n_rooms, bool)
        n_reached = n_hit = total = 0
        for step in range(1, steps + 1):
            reached, hit, _ = rooms.step(head_for_goal(rooms))
            n_reached += int((reached & ~over).sum())
            n_hit += int((hit & ~over).sum())
            total += step * int((reached & ~over).sum())
            over |= reached | hit
        with rooms.current():
            state = rooms.space.state_hash().hex()
    finally:
        rooms.close()
    seconds = round(total / n_reached / 15, 4) if n_reached else None
    return {
        "rooms": n_rooms,
        "reached": n_reached,
        "hit": n_hit,
        "seconds": seconds,
        "state": state,
    }


def grid(**values: Sequence[Any]) -> list[Row]:
    """Return all combinations of some values by name, the last name changing fastest."""
    return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


def _run_one(run: Run, parameters: Row) -> Row:
    return {**parameters, **run(**parameters)}


def sweep(run: Run, jobs: Sequence[Row], *, workers: int = -1, progress: bool = True) -> list[Row]:
    """Call a function for each job in processes of this machine, by joblib.

    Parameters
    ----------
    run : callable
        A function of a module, which takes a job's values by name and returns results by name.
    jobs : list of dict
    workers : int
        Number of processes; -1 for one on each core, 1 for only this one.
    progress : bool
        Whether to show a bar.

    Returns
    -------
    list of dict
        Parameters and results of each job, in the order of the jobs.
    """
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=workers, return_as="generator")
    done = parallel(delayed(_run_one)(run, job) for job in jobs)
    return list(_shown(done, len(jobs), progress))


def sweep_on_dask(
    run: Run, jobs: Sequence[Row], client: Any, *, progress: bool = True
) -> list[Row]:
    """Call a function for each job on the workers of a Dask client, which may be many machines.

    The workers need `ecs_collide` and the module of the function.  The rest is as for `sweep`.
    """
    from dask.distributed import as_completed

    futures = client.map(lambda job: _run_one(run, job), jobs, pure=False)
    place = {future.key: n for n, future in enumerate(futures)}
    rows: list[Row] = [{} for _ in jobs]
    for future in _shown(as_completed(futures), len(jobs), progress):
        rows[place[future.key]] = future.result()
    return rows


def _shown(items: Iterable[Any], n: int, progress: bool) -> Iterable[Any]:
    if not progress:
        return items
    from tqdm import tqdm  # type: ignore[import-untyped]

    shown: Iterable[Any] = tqdm(items, total=n, unit="world")
    return shown


def write_csv(path: str | Path, rows: Sequence[Row]) -> None:
    """Write rows as a table; ``pandas.DataFrame(rows)`` takes them too."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Sweep over drones and their speed, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m demos.many_worlds.sweep")
    parser.add_argument("--out", type=Path, default=Path("rooms.csv"))
    parser.add_argument("--workers", type=int, default=-1)
    parser.add_argument("--seeds", type=int, default=4, help="worlds for each combination")
    parser.add_argument("--dask", nargs="?", const="local", metavar="ADDRESS", help="use Dask")
    given = parser.parse_args(arguments)
    jobs = grid(n_drones=[1, 3, 6], drone_speed=[3.0, 6.0, 12.0], seed=list(range(given.seeds)))
    if given.dask is None:
        rows = sweep(play, jobs, workers=given.workers)
    else:
        from dask.distributed import Client

        n_workers = None if given.workers < 1 else given.workers
        where = {"n_workers": n_workers, "threads_per_worker": 1}
        with Client(**where) if given.dask == "local" else Client(given.dask) as client:
            rows = sweep_on_dask(play, jobs, client)
    write_csv(given.out, rows)
    print(f"{given.out}: {len(rows)} rows")


if __name__ == "__main__":
    main()
