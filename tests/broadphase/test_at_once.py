"""Trees are updated and searched as arrays (`_kernel.at_once`) as by the loops of the kernels."""

from __future__ import annotations

import sys
from unittest import mock

import numpy as np
import pytest

from ecs_collide._kernel import at_once
from tests import plain

LOOPS, ARRAYS = sys.maxsize, 1  # values of `MANY`


def found_by(tree, many, limit):
    """Return the pairs of all parts of a traversal, and the number of parts."""
    finder, pairs, n_parts = tree.overlap_finder, [], 1
    finder.limit = limit
    with mock.patch.object(at_once, "MANY", many):
        finder.within(tree.nodes, False)
    pairs += finder.found[: 2 * finder.n].tolist()
    while finder.top >= 0:
        finder.more_within(tree.nodes, False)
        pairs += finder.found[: 2 * finder.n].tolist()
        n_parts += 1
    return pairs, n_parts


@pytest.mark.parametrize("dim", [2, 3])
def test_pairs_are_those_of_the_loop_in_its_order_and_in_parts_beyond_the_limit(dim, volume):
    for seed in range(volume(20, 200, least=20)):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([2, 8, 9, 60, 300]))
        tree = plain.kernel("broadphase.dynamic_tree").Tree(dim)
        for _ in range(2):  # the second time the tree has nodes that are not full, and free ones
            rows = rng.permutation(n)[: rng.integers(n // 2, n + 1)].astype(np.int64)
            low = rng.integers(0, 12, (n, dim)) * 1.0  # many faces touch
            high = low + rng.integers(0, 3, (n, dim))
            tree.renew(rows.data, low.data, high.data, (0.0 * low).data, True, 0.0, 0.0)
            for row in rows[: n // 3].tolist():
                tree.drop(row)
        limit = int(rng.choice([1, 5, 50, 10**9]))
        loops, n_parts = found_by(tree, LOOPS, limit)

        assert found_by(tree, ARRAYS, limit) == (loops, n_parts), seed
        assert len(loops) > 20 or n < 300


@pytest.mark.parametrize("dim", [2, 3])
def test_boxes_are_renewed_as_by_the_loop_also_where_they_were_before(dim, volume):
    for seed in range(volume(10, 100, least=10)):
        rng = np.random.default_rng(seed)
        trees = [plain.kernel("broadphase.dynamic_tree").Tree(dim) for _ in range(2)]
        low = rng.uniform(0, 50, (60, dim))
        for _ in range(4):
            rows = rng.permutation(60)[: rng.integers(20, 60)].astype(np.int64)
            dropped = rng.integers(0, 60, 5).tolist()
            low += rng.choice([0.0, 0.0, 0.1, 3.0], (60, 1))
            for tree, many in zip(trees, (LOOPS, ARRAYS), strict=True):
                with mock.patch.object(at_once, "MANY", many):
                    tree.renew(
                        rows.data, low.data, (low + 1).data, (0.01 * low).data, True, 0.2, 1.0
                    )
                for row in dropped:  # the next time they come back, often to their old bounds
                    tree.drop(row)

            assert contents(trees[1]) == contents(trees[0]), seed


def contents(tree):
    nodes, fat = tree.nodes, tree.fat_bounds
    lists = (nodes.box, nodes.child, nodes.place_of, nodes.changed, nodes.is_changed)
    return [repr(each) for each in lists], fat.bounds.tolist(), sorted(fat.moved[: fat.n_moved])
