"""Measure the equations of state of the page: ``python -m demos.hard_squares.measure``.

Each run starts from a fixed seed and repeats.  All of them take about 8 minutes of one
core, and write ``measured.csv``; ``--tables`` prints the tables of the page from that file.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import esper

from demos.hard_squares.fluid import Fluid, Measured, seconds_for
from demos.hard_squares.published import FACTORS
from demos.hard_squares.virial import coefficients, free_volume, series

FILE = Path(__file__).with_name("measured.csv")
N_BLOCKS = 40
LEFT_OUT = 0.25  # the start of a run that is not measured, as a fraction of the measured part


class State(NamedTuple):
    """One run: which boxes, how densely, and about how many collisions."""

    dim: int
    per_side: int
    packing: float
    n_collisions: int


class Row(NamedTuple):
    """One line of ``measured.csv``."""

    dim: int
    per_side: int
    packing: float
    n_collisions: int
    z: float
    error: float
    highest: float  # positional order, along the axis where it is highest
    lowest: float  # and along the one where it is lowest


def states() -> list[State]:
    """Return all runs."""
    low, dense = (0.1, 0.2, 0.3, 0.4), (0.5, 0.6, 0.65, 0.7, 0.75, 0.78, 0.8, 0.82, 0.85, 0.9)
    melting, cubes = (0.65, 0.7, 0.75, 0.8, 0.85), (0.45, 0.5, 0.55, 0.6, 0.65, 0.7)
    return [
        *(State(2, 20, packing, 1_000_000) for packing in low),
        *(State(3, 10, packing, 1_000_000) for packing in (*low, *cubes)),
        *(State(2, 20, packing, 2_000_000) for packing in dense),
        *(State(2, 10, packing, 1_000_000) for packing in melting),
        *(State(2, 40, packing, 1_600_000) for packing in melting),
        *(State(3, 6, packing, 1_000_000) for packing in cubes),
    ]


def run(state: State) -> Measured:
    """Make one run in a new esper world, which is deleted afterwards."""
    previous, name = esper.current_world, f"hard squares {state}"
    esper.switch_world(name)
    try:
        dim, per_side, packing, n_collisions = state
        guess = series(min(packing, 0.5), coefficients(dim))
        if packing > 0.5:
            guess = max(guess, free_volume(packing, dim))
        dt = min(0.5, seconds_for(1.0, guess, dim))
        fluid = Fluid(dim, per_side, packing, seed=per_side, dt=dt)
        seconds = seconds_for(n_collisions / fluid.n, guess, dim)
        fluid.run(LEFT_OUT * seconds)
        measured = fluid.measure(seconds, N_BLOCKS)
        if not fluid.is_conserved() or fluid.deepest_overlap() > 1e-12:
            raise RuntimeError(f"{state}: momentum, energy or distances are wrong")
        return measured
    finally:
        esper.switch_world(previous)
        esper.delete_world(name)


def write(rows: Iterable[Row], path: Path = FILE) -> None:
    """Write each row as soon as it is measured."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        for row in rows:
            writer.writerow([f"{part:.5f}" if isinstance(part, float) else part for part in row])
            file.flush()


def read(path: Path = FILE) -> list[Row]:
    """Return the rows of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                int(line["dim"]),
                int(line["per_side"]),
                float(line["packing"]),
                int(line["n_collisions"]),
                float(line["z"]),
                float(line["error"]),
                float(line["highest"]),
                float(line["lowest"]),
            )
            for line in csv.DictReader(file)
        ]


def table(dim: int, rows: list[Row]) -> str:
    """Return a Markdown table of the runs of a dimension, by packing fraction and number."""
    lines = [
        "| packing | boxes | measured Z | published Z | seven terms | free volume | order |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    terms = coefficients(dim)
    for row in sorted(rows, key=lambda row: (row.packing, row.per_side)):
        if row.dim != dim:
            continue
        published = FACTORS[dim, row.per_side].get(row.packing)
        known = "" if published is None else f"{published:.3f}"
        theory = f"{series(row.packing, terms):.4f} | {free_volume(row.packing, dim):.4f}"
        found = f"{row.per_side**dim:,} | {row.z:.4f} ± {row.error:.4f} | {known}"
        lines.append(
            f"| {row.packing:.2f} | {found} | {theory} | {row.highest:.3f}, {row.lowest:.3f} |"
        )
    return "\n".join(lines)


def _measure_all() -> Iterable[Row]:
    for state in states():
        measured = run(state)
        ends = measured.order[0], measured.order[-1]
        row = Row(*state[:3], measured.n_collisions, measured.z, measured.error, *ends)
        print(row, flush=True)
        yield row


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m demos.hard_squares.measure")
    parser.add_argument(
        "--tables", action="store_true", help="measure nothing: print the tables of the page"
    )
    if not parser.parse_args().tables:
        write(_measure_all())
    for dim in (2, 3):
        print(table(dim, read()), "\n")


if __name__ == "__main__":
    main()
