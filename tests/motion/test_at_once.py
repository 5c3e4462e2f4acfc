"""Paths begin and end as arrays (`_kernel.at_once`) as in the loops of `motion.bodies`."""

from __future__ import annotations

import sys
from unittest import mock

import numpy as np
import pytest

from ecs_collide._kernel import at_once
from ecs_collide._kernel.constants import MAX_REST_COUNT
from tests import plain

N_ROWS = 24
TINY = 2.0**-1074
SPECIAL = [0.0, -0.0, TINY, -TINY, 1.0, -1.0, 0.1, 2.0**200, -(2.0**200)]
STEPS = [1.0 / 60.0, 1.0, TINY, 2.0**-30]


@pytest.mark.parametrize("dim", [2, 3])
def test_many_paths_begin_and_end_with_the_bits_of_the_loops(dim, volume):
    bodies = plain.kernel("motion.bodies").Bodies(dim)
    for seed in range(volume(40, 400, least=40)):
        by_loops = states(bodies, seed, many=sys.maxsize)

        assert states(bodies, seed, many=1) == by_loops, seed


def states(bodies, seed, many):
    """Return all memory of bodies with random numbers after the start and at the end of a step."""
    rng = np.random.default_rng(seed)
    for memory in bodies.memory:
        memory[...] = 0
    rows = rng.permutation(N_ROWS)[: rng.integers(1, N_ROWS + 1)].astype(np.int64).data
    for name in ("centre", "velocity", "growth", "half"):
        column = np.asarray(getattr(bodies, name))
        numbers = rng.uniform(-1e3, 1e3, column.shape)
        is_special = rng.random(column.shape) < 0.5 * (seed % 3 > 0)
        numbers = np.where(is_special, rng.choice(SPECIAL, column.shape), numbers)
        numbers *= (rng.random(len(column)) < 0.7)[:, None]
        column[:] = abs(numbers) if name == "half" else numbers
    np.asarray(bodies.rest_count)[:N_ROWS] = rng.choice(
        [0, 1, MAX_REST_COUNT - 1, MAX_REST_COUNT], N_ROWS
    )
    np.asarray(bodies.interrupted)[:N_ROWS] = rng.random(N_ROWS) < 0.3
    bodies.farthest = 0.0
    with mock.patch.object(at_once, "MANY", many):
        bodies.begin_step(rows, STEPS[seed % 4])
        found = contents(bodies)
        np.asarray(bodies.base)[:N_ROWS] = rng.choice([0.0, 0.3, 1.0, TINY], N_ROWS)
        bodies.finish_step(rows)
    return found + contents(bodies)


def contents(bodies):
    columns = [column.tobytes() for column in bodies.memory]
    return [columns, repr(bodies.farthest), bool(bodies.any_resize)]
