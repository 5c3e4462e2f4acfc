"""What a small step costs, in counts that are the same on every machine.

The steps are those of an arena of bouncing boxes, in which nobody listens to events.
"""

from __future__ import annotations

import gc
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import esper

from benchmarks.engines import Ours, arena
from benchmarks.scenes import DT

N_BEFORE = 30  # steps in which the fat bounds settle
N_COUNTED = 300


def python_of_a_step(
    n: int, prepare: Callable[[Any], object] = lambda space: None
) -> tuple[int, int]:
    """Return the bytecodes and the calls of Python functions in a step of `n` boxes.

    The median of `N_COUNTED` steps.  `prepare` is called with the space before the first one.
    """
    prepare(Ours(arena(n)).space)
    for _ in range(N_BEFORE):
        esper.process(DT)
    counts = []
    for _ in range(N_COUNTED):
        bytecodes = frames = 0

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal bytecodes, frames
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            bytecodes += event == "opcode"
            frames += event == "call"
            return trace

        gc.disable()  # it may have callbacks
        sys.settrace(trace)
        esper.process(DT)
        sys.settrace(None)
        gc.enable()
        counts.append((bytecodes, frames))
    return statistics.median_high(counts)  # a step whose arrays grow has more


def run(n: int, n_steps: int) -> None:
    """Run an arena of `n` boxes."""
    Ours(arena(n))
    for _ in range(n_steps):
        esper.process(DT)


def instructions_of_a_step(n: int) -> float | None:
    """Return the instructions of a step of `n` boxes, their mean; None without valgrind."""
    if shutil.which("valgrind") is None:
        return None
    least, most = (_instructions(n, n_steps) for n_steps in (N_BEFORE, N_BEFORE + N_COUNTED))
    return (most - least) / N_COUNTED


def _instructions(n: int, n_steps: int) -> int:
    """Return the instructions of a process that takes some steps."""
    code = f"from benchmarks import counts; counts.run({n}, {n_steps})"
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*command, sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    line = next(line for line in done.stderr.splitlines() if "Collected" in line)
    return int(line.split()[-1])
