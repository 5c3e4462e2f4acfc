"""``python -m benchmarks [names] [--scene ...] [--n ...] [--dim ...]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import measure, report
from benchmarks.competitors import OURS
from benchmarks.costs import COSTS
from benchmarks.crowds import CROWDS
from benchmarks.measure import Effort, Race
from benchmarks.scenes import SCENES

ENGINE_SIZES = [10, 50, 200, 800, 2_000, 10_000]
NAMES = ("tree", "growth", "engine", "crowd", *COSTS)


def parsed(words: list[str]) -> argparse.Namespace:
    """Return the arguments of a command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure ecs_collide and what else a Python game can import.",
        epilog='The peers come with: pip install -e ".[bench]"',
    )
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"what to measure, default all: {', '.join(NAMES)}"
    )
    parser.add_argument("--scene", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--crowd", nargs="+", choices=CROWDS, default=list(CROWDS))
    parser.add_argument(
        "--n",
        nargs="+",
        type=int,
        help="bodies; default 10,000, whole engines 10 to 10,000, crowds 50, 200 and 800",
    )
    parser.add_argument(
        "--dim",
        nargs="+",
        type=int,
        choices=(2, 3),
        help="default 2, and 3 for gas and mostly-static",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="peer",
        help="peers whose name contains one of these",
    )
    parser.add_argument("--frames", type=int, help="counted frames of a run")
    parser.add_argument("--rounds", type=int, help="runs of each competitor")
    parser.add_argument("--quick", action="store_true", help="few bodies and frames: does it run?")
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"write {report.MEASURED.name}, or of it the named crowds or engine, then as --draw",
    )
    parser.add_argument(
        "--draw",
        action="store_true",
        help=f"only make {report.PAGE.name}, its pictures and the figures of other pages "
        f"from {report.MEASURED.name}",
    )
    arguments = parser.parse_args(words)
    unknown = set(arguments.names) - set(NAMES)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: choose from {', '.join(NAMES)}")
    if arguments.write and (
        arguments.quick or arguments.only or arguments.names not in ([], ["crowd"], ["engine"])
    ):
        parser.error("--write: the page needs all figures, so measure everything, crowds or engine")
    return arguments


def effort_of(arguments: argparse.Namespace, kind: str, n: int) -> Effort:
    """Return how much to run of a kind of race with `n` bodies."""
    frames, warmup, rounds, budget = (60, 10, 3, 1.5) if n <= 20_000 else (20, 5, 3, 10.0)
    if kind == "crowd":
        frames, warmup = 120, 120  # two seconds in which it forms
    if arguments.quick:
        frames, warmup, rounds, budget = 4, 2, 1, 1.0
    return Effort(arguments.frames or frames, warmup, arguments.rounds or rounds, budget)


def planned(arguments: argparse.Namespace) -> list[tuple[str, str, int, int, list[str]]]:
    """Return the races to hold: kind, scene, n, dim, and which peers, empty for all."""
    wanted = arguments.names or NAMES
    races: list[tuple[str, str, int, int, list[str]]] = []
    if "tree" in wanted:
        races += [
            ("tree", scene, n, dim, arguments.only)
            for n in arguments.n or ([300] if arguments.quick else [10_000])
            for dim in arguments.dim or (2, 3)
            for scene in arguments.scene
            if dim == 2 or arguments.dim or scene in ("gas", "mostly-static")
        ]
    if "growth" in wanted:
        small = 300 if arguments.quick else 10_000
        for n in (small, 10 * small):
            known = {race[:4] for race in races}
            races += [
                ("tree", "gas", n, dim, [OURS])
                for dim in arguments.dim or (2, 3)
                if ("tree", "gas", n, dim) not in known
            ]
    if "engine" in wanted:
        sizes = arguments.n or ([100] if arguments.quick else ENGINE_SIZES)
        races += [("engine", "arena", n, 2, arguments.only) for n in sizes]
    if "crowd" in wanted:
        sizes = arguments.n or ([20] if arguments.quick else [50, 200, 800])
        races += [
            ("crowd", scene, n, 2, arguments.only) for scene in arguments.crowd for n in sizes
        ]
    return races


def run(arguments: argparse.Namespace) -> tuple[list[Race], list[tuple[str, float, str]]]:
    """Hold all races and measure all costs, printing each when it is done."""
    plan = planned(arguments)
    wanted = [name for name in COSTS if name in (arguments.names or COSTS)]
    efforts = [effort_of(arguments, race[0], race[2]) for race in plan]
    total = len(wanted) + sum(
        effort.rounds * len(measure.entrants(kind, dim, scene, only))
        for (kind, scene, _n, dim, only), effort in zip(plan, efforts, strict=True)
    )
    races: list[Race] = []
    figures: list[tuple[str, float, str]] = []
    with progress(total) as (tick, tell):
        for (kind, scene, n, dim, only), effort in zip(plan, efforts, strict=True):
            races.append(measure.race(kind, scene, n, dim, effort, only, tick))
            tell(report.table(races[-1]))
        tell(report.steadiness(races))
        for name in wanted:
            tick(name)
            rows = measure.cost(name, arguments.quick)
            figures += rows
            tell("\n".join(f"{what}: {report.figure(value)} {unit}" for what, value, unit in rows))
    return races, figures


@contextmanager
def progress(total: int) -> Iterator[tuple[Any, Any]]:
    """Show a bar; give a function that moves it on and one that prints above it."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield (lambda text: print(text, file=sys.stderr)), print
        return
    with tqdm(total=total, unit="run", leave=False) as bar:

        def tick(text: str) -> None:
            bar.set_description(text)
            bar.update()

        yield tick, tqdm.write


def main(words: list[str]) -> int:
    """Run the command; 1 where pairs are wrong."""
    arguments = parsed(words)
    if arguments.draw:
        report.write()
        return 0
    races, figures = run(arguments)
    if arguments.write:
        command = " ".join(["python -m benchmarks", *words])
        if arguments.names:
            text = report.renewed(report.MEASURED.read_text("utf-8"), races)
        else:
            text = report.tables(races, figures, command)
        report.MEASURED.write_text(text, "utf-8")
        report.write()
        print(f"written: {report.MEASURED.relative_to(measure.ROOT)} and {report.PAGE.name}")
    return 1 if any(race.wrong for race in races) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
