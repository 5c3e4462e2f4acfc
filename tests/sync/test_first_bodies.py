"""The first body that a game creates after a level costs no more than the next one."""

from __future__ import annotations

import tracemalloc

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover

KINDS = {
    "a wall": lambda n: box((-9.0, 9.0 * n), (1, 1)),
    "a fixed wall": lambda n: box((-9.0, 9.0 * n), (1, 1), ec.Fixed()),
    "a bullet": lambda n: mover((-9.0, 9.0 * n), (1, 1), (1, 0)),
}


@pytest.mark.slow_in_python
@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_tiles", [1000, 4096])
def test_the_first_body_after_a_level_copies_no_table(kind, n_tiles):
    for n in range(n_tiles):
        box((4.0 * (n % 100), 4.0 * (n // 100)), (1, 1), ec.Fixed())
    mover((-50, 0), (1, 1), (1, 0))
    ec.install()
    for _ in range(3):
        esper.process(1 / 60)
    peaks = []
    for n in range(3):
        KINDS[kind](n)
        tracemalloc.start()
        esper.process(1 / 60)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[0] < peaks[2] + 16 * n_tiles  # the tables have 800 bytes a row
