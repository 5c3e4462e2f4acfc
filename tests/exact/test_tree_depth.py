"""No order and no mixture of boxes makes the tree deep, and no history does.

The promise is a depth of at most 2 * log2(n) + 8 for n boxes.  The tree is in
fact as flat as a tree of nodes with 4 to 8 children, as long as none are taken
out; that is what is asserted, since only that would notice a fault.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from ecs_collide._kernel import backend
from ecs_collide.tree import AABBTree


@pytest.fixture
def new_tree(kernels, monkeypatch):
    monkeypatch.setattr(backend, "kernels", kernels)
    return AABBTree


@pytest.fixture
def n(kernels, monkeypatch, volume) -> int:
    monkeypatch.setattr(backend, "kernels", kernels)
    return volume(1024, 2048, 4096, least=256)


def promised(n: int) -> float:
    return 2 * math.log2(n) + 8 if n > 1 else 0


def flat(n: int) -> int:
    """Return the most levels of a tree whose nodes, but the root, have four children or more."""
    return math.ceil(math.log(n, 4)) if n > 1 else 0


def boxes_of(kind: str, n: int, dim: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of `n` boxes that give a tree nothing to go by, or too much."""
    along = np.arange(float(n))[:, None]
    some = rng.uniform(-100, 100, (n, dim))
    line = np.eye(1, dim)
    if kind == "collinear":  # thin bars one behind the other, and each a little into the next
        return along * line, (along + 1.5) * line
    if kind == "collinear on a diagonal":
        return along * np.ones(dim), along * np.ones(dim)
    if kind == "parallel bars":
        return along * line - 1e6 * (1 - line), along * line + 1e6 * (1 - line)
    if kind == "crosses":  # all through one point
        long = np.eye(dim)[np.arange(n) % dim] * (along + 1)
        return -long, long
    if kind == "tiny in the huge":  # half the world, or a millionth of a pixel
        half = np.where(rng.random((n, 1)) < 0.5, 1e9, 1e-9)
        return some - half, some + half
    if kind == "of all sizes":
        half = 2.0 ** rng.integers(-400, 400, (n, 1))
        return some - half, some + half
    if kind == "at all distances":  # from denormal to 2**490, and both signs
        far = rng.choice([-1, 1], (n, dim)) * 2.0 ** rng.integers(-1074, 490, (n, dim))
        return far, far
    if kind == "twins":  # pairs in one place, of which one has no size
        half = (along % 2) * np.ones(dim)
        some[1::2] = some[::2][: n // 2]
        return some - half, some + half
    if kind == "neighbours":  # one ulp apart
        place = 1e3 + np.arange(n)[:, None] * np.spacing(1e3) * np.ones(dim)
        return place, place
    assert kind == "some of each"
    parts = [boxes_of(other, n, dim, rng) for other in KINDS if other != kind]
    which = rng.integers(len(parts), size=n)
    return tuple(np.array([parts[w][c][i] for i, w in enumerate(which)]) for c in (0, 1))


KINDS = [
    "collinear",
    "collinear on a diagonal",
    "parallel bars",
    "crosses",
    "tiny in the huge",
    "of all sizes",
    "at all distances",
    "twins",
    "neighbours",
    "some of each",
]


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_that_grows_and_shrinks_box_by_box_stays_flat(new_tree, n, kind, dim):
    rng = np.random.default_rng(7)
    mins, maxs = boxes_of(kind, n, dim, rng)
    assert (mins <= maxs).all()
    tree = new_tree(dim)

    for i in range(n):
        tree.insert(i, mins[i], maxs[i])
        assert tree.depth <= flat(i + 1)
    tree.check()
    for left in range(n - 1, -1, -1):
        tree.remove(left)
        assert tree.depth <= promised(left)
    tree.check()
    assert tree._tree.n_nodes == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_whose_boxes_turn_into_others_stays_flat(new_tree, n, kind):
    # One by one, in several orders, and back: every box has its place taken by another.
    rng = np.random.default_rng(8)
    n //= 4
    before = boxes_of("some of each", n, 2, rng)
    after = boxes_of(kind, n, 2, rng)
    tree = new_tree()
    tree.insert_many(range(n), *before)

    for mins, maxs in (after, before, after):
        for i in rng.permutation(n).tolist():
            tree.update(i, mins[i], maxs[i])
            assert tree.depth <= flat(n)
        tree.check()


@pytest.mark.parametrize("keep", [2, 9])
def test_what_is_left_of_a_large_tree_hangs_no_deeper_than_promised(new_tree, n, keep):
    # Each time the last few of a crowd are those that hung furthest apart.
    tree = new_tree()
    rng = np.random.default_rng(9)
    places = rng.uniform(0, 1e6, (n, 2))
    for turn in range(4):
        tree.insert_many(range(keep, n), places[keep:], places[keep:])
        if turn == 0:
            tree.insert_many(range(keep), places[:keep], places[:keep])
        for i in range(keep, n):
            tree.remove(i)
        tree.check()
        assert tree.depth <= promised(keep)
        assert len(tree) == keep


@pytest.mark.parametrize("dim", [2, 3])
def test_what_hangs_together_at_the_end_hangs_from_the_root(new_tree, n, dim):
    rng = np.random.default_rng(3)
    places = rng.uniform(0, 1e6, (n, dim))
    tree = new_tree(dim)
    tree.insert_many(range(n), places, places)
    for id in range(n, n + 3):  # three in one place, far away: they share a node
        tree.insert(id, (2e6,) * dim, (2e6,) * dim)

    for id in range(n):
        tree.remove(id)

    tree.check()
    assert tree.depth == 1
