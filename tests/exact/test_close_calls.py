"""What the tree and the sweep decide where rounding could mislead them."""

from __future__ import annotations

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from ecs_collide.tree import AABBTree
from tests.scenes import box, mover


@pytest.fixture
def new_tree(kernels, monkeypatch):
    monkeypatch.setattr(backend, "kernels", kernels)
    return AABBTree


def row_with_gaps(n, dim, gap):
    """Return the corners of boxes in a row 1000 long, each apart from the next by a hair."""
    mins = np.zeros((n, dim))
    mins[:, 0] = np.arange(n) * (1000.0 / n)
    maxs = mins + 1.0
    maxs[:-1, 0] = mins[1:, 0] - gap
    maxs[-1, 0] = 1000.0
    return mins, maxs


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("gap", [1e-6, 1e-12])
def test_boxes_apart_by_less_than_single_precision_do_not_touch(new_tree, dim, gap):
    #
    #   The nodes compare in single precision, which knows steps of 6e-5 at this size.
    #
    n = 20
    mins, maxs = row_with_gaps(n, dim, gap)
    tree = new_tree(dim)
    tree.insert_many(range(n), mins, maxs)

    assert tree.pairs().tolist() == []
    for i in range(n):
        assert tree.query_id(i) == []
        assert tree.query(mins[i], maxs[i]) == [i]
        assert tree._tree.touching_one(mins[i].data, maxs[i].data) == 1
    assert tree.query(maxs[3], maxs[3]) == [3]


@pytest.mark.usefixtures("world", "implementation")
def test_a_body_and_a_wall_apart_by_less_than_single_precision_are_no_pair():
    for i in range(4):
        box((250.0 * i, 0.0), (100.0, 1.0))
    above = mover((250.0, 2.0 + 1e-9), (100.0, 1.0), (1.0, 0.0), ec.Slide())
    space = ec.install()

    esper.process(1.0)
    assert space.stats.pairs == 0

    esper.component_for_entity(above, ec.Position).set(250.0, 2.0)
    esper.process(1.0)
    assert space.stats.pairs == 1


@pytest.mark.parametrize("dim", [2, 3])
def test_rays_into_an_empty_tree_meet_nothing(new_tree, dim):
    tree = new_tree(dim)

    assert tree.cast_ray((0.0,) * dim, (1.0,) * dim) is None
    hits = tree.cast_rays(np.zeros((3, dim)), np.ones((3, dim)))
    assert hits.ids.tolist() == [-1, -1, -1]
    assert np.isinf(hits.times).all()


def test_many_crowds_far_apart_are_each_rebuilt_as_well_as_alone(new_tree):
    #
    #   : . . : . .  :  heaps so far from each other that each falls into one cell of the grid, and
    #   : . . : . .  :  is sorted again by a grid of its own: more of them than room is kept for
    #
    heaps, per_heap = 64, 64
    rng = np.random.default_rng(2)
    middles = rng.permutation(heaps * heaps)[:heaps]
    middles = np.stack([middles // heaps, middles % heaps], axis=1) * 1e6
    heap = rng.random((per_heap, 2))
    mins = (middles[:, None] + heap).reshape(-1, 2)
    tree, alone = new_tree(margin=0.0), new_tree(margin=0.0)

    tree.insert_many(range(len(mins)), mins, mins)
    alone.insert_many(range(per_heap), heap, heap)

    tree.check()
    nodes = tree._tree.nodes if hasattr(tree._tree, "nodes") else None
    if nodes is not None:  # the plain life shows its nodes
        low = [nodes.cost(k) for k in range(1, nodes.node_room) if nodes.level[k] == 0]
        nodes = alone._tree.nodes
        own = [nodes.cost(k) for k in range(1, nodes.node_room) if nodes.level[k] == 0]
        within = [cost for cost in low if cost < 10.0]  # two heaps may share a cell
        assert len(within) >= len(low) - 8
        assert sum(within) < 1.1 * heaps * sum(own)
    for i in range(0, len(mins), 97):
        inside = ((mins >= mins[i]) & (mins <= mins[i] + 0.25)).all(axis=1)
        assert tree.query(mins[i], mins[i] + 0.25) == np.flatnonzero(inside).tolist()


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("opens", [True, False])
def test_a_plate_thinner_than_the_slop_is_hit_only_where_it_opens_beyond_it(opens):
    #
    #   At 1000 the slop is 6e-11: both plates are as good as flat on y.  Where the runner rises as
    #   fast as the top of the wall grows, on that side they stay as near as they are; only where
    #   it rises slower does one get inside the other by more than rounding.
    #
    thin = 1e-12
    centre, wall = (-3.0, 1000.0 - 5e-13), (3.0, 1000.0)
    rise = 0.5 if opens else 1.0

    hit = ec.sweep(
        centre, (1.0, thin), (8.0, rise), wall, (1.0, thin), (0.0, 0.0), growth2=(0.0, 1.0)
    )

    assert hit.kind is (ec.SweepKind.IMPACT if opens else ec.SweepKind.TOUCH)
    assert (hit.time, hit.normal) == ((0.5, (-1.0, 0.0)) if opens else (None, None))


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("walls", [1, 3, 200])
def test_the_pairs_of_a_step_are_all_that_may_meet_and_no_others(walls):
    # Two trees of different height, in either order: many movers and few walls, and few and many.
    rng = np.random.default_rng(walls)
    n = 220 - walls
    middles = rng.uniform(0.0, 100.0, (n + walls, 2))
    motions = rng.uniform(-5.0, 5.0, (n, 2))
    for middle in middles[:walls].tolist():
        box(middle, (1.0, 1.0))
    for middle, motion in zip(middles[walls:].tolist(), motions.tolist(), strict=True):
        mover(middle, (1.0, 1.0), motion)
    space = ec.install()

    esper.process(1.0)

    ends = middles.copy()
    ends[walls:] += motions
    low, high = np.minimum(middles, ends) - 1.0, np.maximum(middles, ends) + 1.0
    meet = ((low[:, None] <= high) & (low <= high[:, None])).all(axis=2)
    meet[:walls, :walls] = False
    assert space.stats.pairs == np.triu(meet, 1).sum()
