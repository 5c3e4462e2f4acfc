"""The tree of boxes: its answers, its shape, its fat bounds, and what it refuses.

Answers are compared with a twin that tries all boxes one by one.  Names that
begin with a source's mark are rows of the source documents, with their numbers.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable

import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from ecs_collide.tree import AABBTree, RayHit
from tests import plain

NewTree = Callable[..., AABBTree]


@pytest.fixture(scope="session")
def new_tree(kernels: backend.Kernels) -> NewTree:
    """Return a maker of trees that live on the kernels of either life."""

    def make(*args, **kwargs) -> AABBTree:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backend, "kernels", kernels)
            return AABBTree(*args, **kwargs)

    return make


@pytest.fixture(scope="session")
def many(kernels: backend.Kernels) -> int:
    """Return how many boxes a large test may have in this life."""
    return 2_000 if kernels.compiled else 300


def scattered(n: int, dim: int = 2, seed: int = 1, side: float = 100.0):
    """Return corners of `n` boxes of many sizes; every tenth is a point, some touch."""
    rng = np.random.default_rng(seed)
    mins = np.round(rng.uniform(0, side, (n, dim)))
    sizes = np.round(rng.exponential(side / n ** (1 / dim), (n, dim)))
    sizes[::10] = 0.0
    return mins, mins + sizes


def touching_by_hand(mins, maxs, low, high) -> list[int]:
    return np.flatnonzero(((mins <= high) & (maxs >= low)).all(axis=1)).tolist()


def pairs_by_hand(mins, maxs) -> list[list[int]]:
    n = len(mins)
    rows = (touching_by_hand(mins, maxs, mins[i], maxs[i]) for i in range(n))
    return [[i, j] for i, row in enumerate(rows) for j in row if i < j]


def depth_bound(n: int) -> float:
    return 2 * math.log2(n) + 8


def put_all(tree, items, mins, maxs) -> int:
    """Give items of a kernel's tree their boxes, with no motion and no margin."""
    boxes = memoryview(mins), memoryview(maxs)
    still = memoryview(np.zeros_like(mins))
    return tree.renew(memoryview(np.array(items)), *boxes, still, True, 0.0, 0.0)


# What the guide to AABB trees asks for


@pytest.mark.parametrize("dim", [2, 3])
def test_boxes_that_come_one_by_one_or_at_once_give_all_answers(new_tree, dim, many):
    mins, maxs = scattered(many, dim)
    at_once, one_by_one = new_tree(dim), new_tree(dim, capacity=3)  # far more than there is room

    at_once.insert_many(range(many), mins, maxs)
    for id in range(many):
        one_by_one.insert(id, mins[id], maxs[id])

    expected = pairs_by_hand(mins, maxs)
    for tree in (at_once, one_by_one):
        tree.check()
        assert tree.pairs().tolist() == expected
        for low, high in zip(*scattered(20, dim, seed=2), strict=True):
            assert tree.query(low, high) == touching_by_hand(mins, maxs, low, high)


def test_the_root_is_nothing_then_above_boxes_then_a_branch(new_tree):
    tree = new_tree()
    depths = [tree.depth]

    for id in range(9):
        tree.insert(id, (id, 0), (id + 1, 1))
        tree.check()
        depths.append(tree.depth)

    assert depths == [0, 0, *7 * [1], 2]


def test_a_box_joins_those_whose_bounds_grow_least(new_tree):
    #
    #   +0+ +1+ ... +7+  +a+                +8+ +9+ ... +15+
    #
    n = 56
    places = np.arange(n) % 8 + np.repeat(100.0 * np.arange(n // 8), 8)
    mins = np.stack([places, np.zeros(n)], axis=1)
    tree = new_tree(margin=0.0)
    tree.insert_many(range(n), mins, mins + 0.5)
    before = tree._tree.cost
    tree.insert(n, (10, 0), (10.5, 0.5))
    tree.check()

    # The first eight are cut in two, 0 to 3 and 4 to 7 with the new one: from (0, 7.5) on x to
    # (0, 3.5) and (4, 10.5).  Above them what held 0 to 7 grew by 3 at most, once a level.
    grown = (3.5 + 0.5) + (6.5 + 0.5) - (7.5 + 0.5)
    assert before + grown <= tree._tree.cost <= before + grown + 3.0 * tree.depth


def test_queries_do_not_recurse(new_tree):
    tree = new_tree()
    corners = np.repeat(np.arange(1000.0)[:, None], 2, axis=1)
    tree.insert_many(range(1000), -corners, corners)
    limit = sys.getrecursionlimit()
    frame, used = sys._getframe(), 0
    while frame:
        frame, used = frame.f_back, used + 1

    sys.setrecursionlimit(used + 20)
    try:
        found = tree.query((0, 0), (0, 0))
        hit = tree.cast_ray((-2000, 0), (4000, 0))
    finally:
        sys.setrecursionlimit(limit)

    assert len(found) == 1000
    assert hit.id == 999


def test_a_box_that_stays_inside_its_fat_bounds_is_not_reinserted(new_tree):
    tree = new_tree(margin=1.0, lookahead=0.0)
    tree.insert(0, (0, 0), (4, 4))

    renewed = [tree.update(0, (x, 0), (x + 4, 4)) for x in (0.5, 1.0, 1.5, 2.0, 3.0)]

    assert renewed == [False, False, True, False, True]
    assert tree.bounds(0) == ((3, 0), (7, 4))
    assert tree.fat_bounds(0) == ((2, -1), (8, 5))


def test_any_integer_is_an_id_and_any_capacity_will_do(new_tree):
    ids = [0, -1, 7, 2**40, -(2**63), 2**63 - 1, np.int32(12)]
    for capacity in (0, 1, 1000):
        tree = new_tree(capacity=capacity)
        for id in ids:
            tree.insert(id, (0, 0), (1, 1))
        tree.check()

        assert len(tree) == len(ids)
        assert list(tree) == tree.query((0, 0), (0, 0)) == sorted(ids)
        assert 2**40 in tree
        assert 8 not in tree
        for id in ids:
            tree.remove(id)
        tree.check()
        assert list(tree) == []


def test_fat_bounds_reach_out_at_rest_and_across_the_motion(new_tree):
    tree = new_tree(lookahead=2.0)
    tree.insert(0, (0, 0), (10, 10))
    assert tree.fat_bounds(0) == ((-10, -10), (20, 20))

    tree.update(0, (100, 0), (110, 10), motion=(3, 0))

    (left, bottom), (right, top) = tree.fat_bounds(0)
    assert (left, bottom, top) == (90, -10, 20)
    assert 123 < right <= 135  # swept box, margin, and a share of 12: of 4 more steps


def test_fat_bounds_cover_a_bounce(new_tree):
    tree = new_tree()
    tree.insert(0, (0, 0), (10, 10))
    tree.update(0, (50, 0), (60, 10), motion=(0.5, 0))

    assert not tree.update(0, (50.5, 0), (60.5, 10), motion=(-0.5, 0.5))


def test_bounds_that_have_become_far_too_big_shrink(new_tree):
    tree = new_tree()
    tree.insert(0, (0, 0), (100, 100))

    assert not tree.update(0, (0, 0), (26, 26))
    assert tree.update(0, (0, 0), (20, 20))
    assert tree.fat_bounds(0) == ((-20, -20), (40, 40))


def rows_of_tall_trees(n: int):
    ones = np.ones((n, 2))
    numbers = np.arange(float(n))[:, None] * ones
    return {
        "sorted row": (numbers * (2, 0), numbers * (2, 0) + 1),
        "sorted backwards": (-numbers * (2, 0), -numbers * (2, 0) + 1),
        "diagonal": (numbers, numbers + 1),
        "identical": (0 * ones, ones),
        "nested": (-numbers - 1, numbers + 1),
        "nested inwards": (numbers - n, n - numbers),
        "zero size in one point": (ones, ones),
        "zero size in a row": (numbers * (1, 0), numbers * (1, 0)),
        "growing distances": (2.0 ** (numbers % 400) * (1, 0), 2.0 ** (numbers % 400) * (1, 0)),
    }


@pytest.mark.parametrize("scene", rows_of_tall_trees(1))
def test_no_input_makes_the_tree_deep(new_tree, kernels, scene):
    n = 1000
    mins, maxs = rows_of_tall_trees(n)[scene]
    tree = new_tree()

    for id in range(n):
        tree.insert(id, mins[id], maxs[id])
    one_by_one = tree.depth
    tree.check()
    for id in range(0, n, 2):
        tree.remove(id)
    halved = tree.depth
    tree.check()
    tree.insert_many(range(0, n, 2), mins[::2], maxs[::2])
    tree.check()

    assert one_by_one <= 6 < depth_bound(n)
    assert halved <= 6
    assert tree.depth <= 6


# The shape in the long run


def test_bulk_rebuilds_are_as_flat_as_a_tree_of_eights_can_be(new_tree):
    for n in [*range(1, 70), 127, 128, 129, 511, 512, 513]:
        tree = new_tree()
        tree.insert_many(range(n), *scattered(n, seed=n))
        tree.check()

        assert 8 ** (tree.depth - 1) < n <= 8**tree.depth or tree.depth == 0 == n - 1


@pytest.mark.parametrize("dim", [2, 3])
def test_a_crowd_far_from_an_outlier_is_rebuilt_as_well_as_alone(dim):
    dynamic_tree = plain.kernel("broadphase.dynamic_tree")

    n = 1000
    mins, maxs = np.zeros((n + 1, dim)), np.zeros((n + 1, dim))
    mins[:n], maxs[:n] = scattered(n, dim)
    mins[n] = maxs[n] = -1e12
    alone, together = dynamic_tree.Tree(dim), dynamic_tree.Tree(dim)

    put_all(alone, range(n), mins, maxs)
    put_all(together, range(n + 1), mins, maxs)

    def crowd_cost(tree) -> float:
        nodes = tree.nodes
        costs = [nodes.cost(node) for node in range(1, nodes.node_room) if nodes.level[node] == 0]
        return sum(cost for cost in costs if cost < 1e9)

    assert crowd_cost(together) == pytest.approx(crowd_cost(alone), rel=0.2)


def test_freed_nodes_are_reused(new_tree):
    mins, maxs = scattered(100)
    tree = new_tree(capacity=100)
    room = tree._tree.node_room

    for turn in range(5):
        tree.insert_many(range(turn, turn + 100), mins, maxs)
        for id in range(turn, turn + 100):
            tree.update(id, mins[id - turn] + turn, maxs[id - turn] + turn)
        tree.remove_many(range(turn, turn + 100))
        tree.check()

    assert tree._tree.node_room == room
    assert tree._tree.n_nodes == 0


@pytest.mark.slow_in_python
def test_the_tree_stays_good_while_a_crowd_disperses(new_tree, volume):
    n = volume(1000, 2000, least=1000)
    rng = np.random.default_rng(1)
    mins = rng.normal(0, 0.1, (n, 2))
    speeds = rng.normal(0, 1, (n, 2)) * rng.choice([0.1, 1, 10], (n, 1))
    tree = new_tree(margin=0)
    tree.insert_many(range(n), mins, mins + 1)
    for _ in range(8):
        mins += speeds
        for id in range(n):
            tree.update(id, mins[id], mins[id] + 1)
        fresh = new_tree(margin=0)
        fresh.insert_many(range(n), mins, mins + 1)

        assert tree.depth <= 6
        assert tree._tree.cost < 1.7 * fresh._tree.cost  # its nodes are not full
    tree.check()


def test_the_same_calls_give_the_same_tree_compiled_and_in_pure_python():
    try:
        implementations = [backend.load(compiled=True), backend.load(compiled=False)]
    except ImportError:
        pytest.skip("the compiled kernels are not installed")
    mins, maxs = scattered(300)
    moves = np.random.default_rng(5).normal(0, 3, (300, 2))
    logs = []
    for kernels in implementations:
        tree = kernels.tree.Tree(2)
        log = []
        for id in range(300):
            put_all(tree, [id], mins, maxs)
            log.append(tree.cost)
        for id in range(0, 300, 3):
            tree.drop(id)
            log.append(tree.cost)
        there, moved = mins + moves, maxs + moves
        for id in range(0, 300, 2):
            put_all(tree, [id], there, moved)
            n = tree.touching_one(memoryview(there[id]), memoryview(moved[id]))
            log.append((tree.cost, tree.depth, list(tree.found)[:n]))
        put_all(tree, np.arange(0, 300, 5), there - 50, moved + 50)
        n = tree.touching_one(memoryview(there[0]), memoryview(moved[0]))
        log.append((tree.cost, tree.depth, list(tree.found)[:n]))
        tree.check()
        logs.append(log)

    assert logs[0] == logs[1]


# Fat bounds


def test_fat_bounds_never_change_a_result(new_tree, many):
    mins, maxs = scattered(many // 4, side=50)
    motions = np.random.default_rng(6).normal(0, 5, mins.shape)
    answers = []
    for margin, lookahead in ((0, 0), (None, 2), (5, 0), (1e9, 1e9), (2.0**500, 2.0**500)):
        tree = new_tree(margin=margin, lookahead=lookahead)
        tree.insert_many(range(len(mins)), mins, maxs)
        tree.update_many(range(len(mins)), mins + motions, maxs + motions, motions)
        tree.check()
        answers.append(
            (
                tree.pairs().tolist(),
                tree.query((10, 10), (20, 20)),
                [tree.query_id(id) for id in tree],
                tree.cast_ray((0, 0), (60, 50)),
            )
        )

    assert all(answer == answers[0] for answer in answers)
    assert answers[0][0] == pairs_by_hand(mins + motions, maxs + motions)


def test_fat_bounds_hold_the_swept_box(new_tree):
    tree = new_tree(margin=0.0, lookahead=0.0)
    tree.insert(0, (0, 0), (1, 1))

    assert tree.update(0, (0, 0), (1, 1), motion=(30, -40))
    assert tree.fat_bounds(0) == ((0, -40), (31, 1))
    assert tree.bounds(0) == ((0, 0), (1, 1))
    assert tree.query((20, -40), (20, -20)) == []


def test_fat_bounds_reach_ahead_by_up_to_twice_the_lookahead_however_fast_the_box_is(new_tree):
    tree = new_tree(margin=0.0, lookahead=10.0)
    reaches = []
    for id in range(50):
        tree.insert(id, (0, 0), (8, 2))
        tree.update(id, (0, 0), (8, 2), motion=(1000, -500))
        (left, bottom), (right, top) = tree.fat_bounds(id)

        assert (left, top) == (0, 2)
        assert right - 1008 == pytest.approx(-2 * (bottom + 500))
        reaches.append(right - 1008)
    assert 0 <= min(reaches) < 2000
    assert 18_000 < max(reaches) <= 20_000


def test_bounds_that_reach_ahead_are_renewed_when_the_box_stops_and_not_before(new_tree):
    tree = new_tree()
    for id in range(20):
        tree.insert(id, (0, 0), (8, 2))
        assert tree.update(id, (0, 0), (8, 2), motion=(1000, 0))
        ahead = tree.fat_bounds(id)

        assert not tree.update(id, (0, 0), (8, 2), motion=(1000, 0))
        assert tree.fat_bounds(id) == ahead
        assert tree.update(id, (0, 0), (8, 2))
        assert tree.fat_bounds(id) == ((-8, -8), (16, 10))


def test_boxes_of_one_speed_do_not_all_escape_in_one_step(new_tree):
    n = 300
    mins = np.zeros((n, 2))
    mins[:, 1] = np.arange(n) * 20.0
    motions = np.tile((0.5, 0.0), (n, 1))
    tree = new_tree()
    tree.insert_many(range(n), mins, mins + 10)

    renewed = []
    for _ in range(100):
        mins += motions
        renewed.append(tree.update_many(range(n), mins, mins + 10, motions))

    assert renewed[:20] == [0] * 19 + [n]  # the motion was not known before
    assert 0 < max(renewed[20:]) < 0.15 * n
    assert sum(renewed[20:]) < n * 80 / 20


# Rays


@pytest.mark.parametrize(
    ("origin", "direction", "expected"),
    [
        ((-4, 5), (10, 0), (0.4, (0, 5), (-1, 0))),
        ((14, 5), (-8, 0), (0.5, (10, 5), (1, 0))),
        ((5, -4), (0, 4), (1.0, (5, 0), (0, -1))),
        ((5, 14), (0, -3), None),
        ((5, 5), (100, 0), (0.0, (5, 5), (0, 0))),
        ((0, 5), (1, 0), (0.0, (0, 5), (-1, 0))),
        ((10, 5), (1, 0), (0.0, (10, 5), (0, 0))),
        ((0, -1), (0, 2), (0.5, (0, 0), (0, -1))),
        ((-1, -1), (2, 2), (0.5, (0, 0), (-1, 0))),
        ((3, 3), (0, 0), (0.0, (3, 3), (0, 0))),
        ((-1, 3), (0, 0), None),
        ((-1, 3), (5e-324, 0), None),
    ],
)
def test_ray_meets_a_box(new_tree, origin, direction, expected):
    #
    #    y
    #    10 +------+
    #       |  7   |
    #     0 +------+
    #       0     10  x
    #
    tree = new_tree()
    tree.insert(7, (0, 0), (10, 10))

    hit = tree.cast_ray(origin, direction)

    assert hit == (expected and RayHit(7, *expected))


# One by one and in bulk


@pytest.mark.parametrize("dim", [2, 3])
def test_bulk_forms_give_what_single_forms_give(new_tree, dim):
    n = 120
    mins, maxs = scattered(n, dim, side=30)
    single, bulk = new_tree(dim), new_tree(dim)
    rng = np.random.default_rng(9)

    for id in range(n):
        single.insert(id, mins[id], maxs[id])
    bulk.insert_many(np.arange(n), mins, maxs)
    for turn in range(6):
        some = rng.permutation(n)[: 20 if turn % 2 else n]
        motions = rng.normal(0, 3, (len(some), dim))
        boxes = mins[some] + motions * turn, maxs[some] + motions * turn
        n_renewed = sum(
            single.update(int(id), low, high, motion)
            for id, low, high, motion in zip(some, *boxes, motions, strict=True)
        )

        assert bulk.update_many(some, *boxes, motions) == n_renewed
        for id in range(n):
            assert bulk.bounds(id) == single.bounds(id)
            assert bulk.fat_bounds(id) == single.fat_bounds(id)
        assert (bulk.pairs() == single.pairs()).all()
    for id in range(0, n, 3):
        single.remove(id)
    bulk.remove_many(range(0, n, 3))

    bulk.check()
    assert list(bulk) == list(single)
    assert (bulk.pairs() == single.pairs()).all()


@pytest.mark.parametrize("dim", [2, 3])
def test_bulk_forms_call_a_filter_for_each_id(new_tree, dim):
    mins, maxs = scattered(120, dim)
    tree = new_tree(dim)
    tree.insert_many(np.arange(120) * 3, mins, maxs)
    rng = np.random.default_rng(6)
    starts, ways = rng.uniform(0, 100, (12, dim)), rng.normal(0, 60, (12, dim))
    halves = rng.uniform(0, 4, (12, dim))

    def is_odd(id: int) -> bool:
        return id % 2 == 1

    rays = tree.cast_rays(starts, ways, filter=is_odd)
    boxes = tree.cast_boxes(starts, halves, ways, exclude=9, filter=is_odd)
    near = tree.nearest_many(starts, 2, filter=is_odd)
    found = tree.query_many(starts - 9, starts + 9, filter=is_odd)

    assert {id % 2 for id in (*rays.ids.tolist(), *boxes.ids.tolist()) if id != -1} == {1}
    for n in range(12):
        ray = tree.cast_ray(starts[n], ways[n], filter=is_odd)
        hit = tree.cast_box(starts[n], halves[n], ways[n], exclude=9, filter=is_odd)
        assert rays.ids[n] == (-1 if ray is None else ray.id)
        assert boxes.ids[n] == (-1 if hit is None else hit.id)
        assert near.ids[n].tolist() == [one.id for one in tree.nearest(starts[n], 2, filter=is_odd)]
        region = found.ids[found.offsets[n] : found.offsets[n + 1]].tolist()
        assert region == tree.query(starts[n] - 9, starts[n] + 9, filter=is_odd)
    with pytest.raises(TypeError, match="must be a function that takes an id"):
        tree.cast_rays(starts, ways, filter=ec.Sensor)


def test_all_boxes_of_a_tree_are_solid(new_tree):
    tree = new_tree()
    tree.insert(5, (0, 0), (2, 2))

    assert tree.query_point((2, 1)) == tree.query_point((2, 1), solid=True) == [5]
    assert tree.query_point((2, 1), exclude=5) == tree.query_point((2.5, 1)) == []
    assert tree.cast_ray((-1, 1), (9, 0), solid=True).id == 5
    assert tree.cast_rays((-1, 1), (9, 0), solid=True).ids.tolist() == [5]


def test_bulk_forms_take_nothing_and_lists(new_tree):
    tree = new_tree()
    tree.insert_many([], [], [])
    tree.insert_many([4, 2], [[0, 0], [5, 5]], [[1, 1], [6, 6]])

    assert tree.update_many([], np.zeros((0, 2)), np.zeros((0, 2))) == 0
    assert tree.pairs().shape == (0, 2)
    assert tree.pairs().dtype == np.int64
    tree.remove_many([])
    assert repr(tree) == "<AABBTree of 2 boxes in 2D, 1 deep>"


def test_rows_of_removed_ids_do_not_haunt_the_bulk_forms(new_tree):
    tree = new_tree()
    tree.insert_many([1, 2], [[0, 0], [5, 5]], [[1, 1], [6, 6]])
    tree.update_many([1, 2], [[0, 0], [5, 5]], [[1, 1], [6, 6]])
    tree.remove(1)
    tree.insert(3, (9, 9), (9, 9))

    with pytest.raises(KeyError, match=r"ids\[0\]=1 is not in the tree"):
        tree.update_many([1, 2], [[0, 0], [5, 5]], [[1, 1], [6, 6]])
    assert tree.bounds(3) == ((9, 9), (9, 9))


def test_negative_zero_does_not_come_back(new_tree):
    tree = new_tree(margin=0.0)
    tree.insert(0, (-0.0, -0.0), (-0.0, -0.0))
    tree.insert_many([1], [[-0.0, -0.0]], [[-0.0, -0.0]])
    hit = tree.cast_ray((-0.0, 1), (-0.0, -1))

    numbers = [*tree.bounds(0), *tree.bounds(1), *tree.fat_bounds(1), hit.point, (hit.time,)]
    assert all(math.copysign(1, v) == 1 for v in itertools.chain(*numbers))


def test_huge_and_tiny_boxes_live_together(new_tree):
    tree = new_tree(3)
    edge = 2.0**500
    tree.insert(0, (-edge,) * 3, (edge,) * 3)
    tree.insert(1, (5e-324,) * 3, (1e-300,) * 3)
    tree.insert(2, (1e12,) * 3, (1e12 + 1,) * 3)
    tree.update(2, (1e12,) * 3, (1e12 + 1,) * 3, motion=(edge, -edge, 0))
    tree.insert(3, (edge,) * 3, (edge,) * 3)

    tree.check()
    assert tree.pairs().tolist() == [[0, 1], [0, 2], [0, 3]]


# What is refused


BAD_BOXES = [
    pytest.param((math.nan, 0), (1, 1), r"min.*nan", id="F-b1, G-b10, N-b10: nan"),
    pytest.param((0, 0), (1, math.inf), r"max.*inf", id="F-b3: infinite"),
    pytest.param((0, 0), (-1, 1), r"min.*0\.0.*max.*-1\.0", id="F-b3: negative size"),
    pytest.param((0, 0), (1, 2.0**501), r"max.*must be", id="too large"),
    pytest.param((0, 0, 0), (1, 1, 1), r"min", id="another dimension"),
    pytest.param((0,), (1, 1), r"min", id="too short"),
    pytest.param("ab", (1, 1), r"min", id="text"),
    pytest.param((0, 0), None, r"max", id="nothing"),
    pytest.param(((0, 0), (0, 0)), (1, 1), r"min", id="two"),
]


@pytest.mark.parametrize(("low", "high", "told"), BAD_BOXES)
def test_bad_boxes_are_refused_and_nothing_changes(new_tree, low, high, told):
    tree = new_tree()
    tree.insert(0, (0, 0), (1, 1))

    with pytest.raises(ValueError, match=told):
        tree.insert(1, low, high)
    with pytest.raises(ValueError, match=told):
        tree.update(0, low, high)
    with pytest.raises(ValueError, match=told):
        tree.query(low, high)
    with pytest.raises(ValueError, match=told):
        tree.insert_many([1, 2], [(0, 0), low], [(1, 1), high])
    with pytest.raises(ValueError, match=told):
        tree.update_many([0], [low], [high])

    tree.check()
    assert list(tree) == [0]
    assert tree.bounds(0) == ((0, 0), (1, 1))


def test_a_bad_row_is_named(new_tree):
    tree = new_tree()
    boxes = np.zeros((3, 2)), np.ones((3, 2))
    boxes[0][2, 1] = math.nan

    with pytest.raises(ValueError, match=r"mins\[2\]=\(0\.0, nan\)"):
        tree.insert_many([5, 6, 7], *boxes)
    boxes[0][2, 1] = 7
    with pytest.raises(ValueError, match=r"mins\[2\]=\(0\.0, 7\.0\) .* maxs\[2\]=\(1\.0, 1\.0\)"):
        tree.insert_many([5, 6, 7], *boxes)
    with pytest.raises(ValueError, match=r"mins must have shape \(2, 2\)"):
        tree.insert_many([5, 6], *boxes)
    assert len(tree) == 0


def test_bad_ids_are_refused_and_nothing_changes(new_tree):
    tree = new_tree()
    tree.insert(1, (0, 0), (1, 1))
    box = [[0, 0], [0, 0]], [[1, 1], [1, 1]]

    with pytest.raises(ValueError, match="id=1 is in the tree already"):
        tree.insert(1, (0, 0), (1, 1))
    with pytest.raises(TypeError, match="id='x' must be an integer"):
        tree.insert("x", (0, 0), (1, 1))
    with pytest.raises(TypeError, match=r"id=1\.5 must be an integer"):
        tree.insert(1.5, (0, 0), (1, 1))
    with pytest.raises(ValueError, match="64 bits"):
        tree.insert(2**63, (0, 0), (1, 1))
    with pytest.raises(ValueError, match=r"ids\[1\]=1 is in the tree already"):
        tree.insert_many([2, 1], *box)
    with pytest.raises(ValueError, match=r"ids\[1\]=2 is given twice"):
        tree.insert_many([2, 2], *box)
    with pytest.raises(ValueError, match=r"ids\[1\]=1 is given twice"):
        tree.update_many([1, 1], *box)
    with pytest.raises(ValueError, match="ids must be integers"):
        tree.insert_many([2.0, 3.0], *box)
    with pytest.raises(ValueError, match="ids must be integers"):
        tree.insert_many([[2, 3]], *box)
    with pytest.raises(ValueError, match="ids must be integers"):
        tree.insert_many([2, 2**63], *box)
    with pytest.raises(KeyError, match=r"ids\[1\]=2 is not in the tree"):
        tree.remove_many([1, 2])
    for ask in (tree.remove, tree.bounds, tree.fat_bounds, tree.query_id):
        with pytest.raises(KeyError, match="id=2 is not in the tree"):
            ask(2)
    with pytest.raises(KeyError, match="id=2 is not in the tree"):
        tree.update(2, (0, 0), (1, 1))

    tree.check()
    assert list(tree) == [1]


def test_bad_motions_and_rays_are_refused(new_tree):
    tree = new_tree()
    tree.insert(0, (0, 0), (1, 1))

    with pytest.raises(ValueError, match=r"motion.*nan"):
        tree.update(0, (0, 0), (1, 1), motion=(math.nan, 0))
    with pytest.raises(ValueError, match=r"motions\[0\].*inf"):
        tree.update_many([0], [[0, 0]], [[1, 1]], [[math.inf, 0]])
    with pytest.raises(ValueError, match="motions must have shape"):
        tree.update_many([0], [[0, 0]], [[1, 1]], [[0, 0], [0, 0]])
    with pytest.raises(ValueError, match=r"origin.*nan"):
        tree.cast_ray((math.nan, 0), (1, 0))
    with pytest.raises(ValueError, match="direction"):
        tree.cast_ray((0, 0), (1, 0, 0))


@pytest.mark.parametrize(
    "wrong",
    [{"dim": 1}, {"dim": 4}, {"capacity": -1}, {"margin": -1.0}, {"margin": math.nan},
     {"lookahead": math.inf}],
    ids=str,
)  # fmt: skip
def test_bad_settings_are_refused(new_tree, wrong):
    (name, value), *_ = wrong.items()

    with pytest.raises(ValueError, match=f"{name}={value}"):
        new_tree(**wrong)


def test_the_kernel_refuses_items_that_are_no_rows(kernels):
    tree = kernels.tree.Tree(2)
    box = memoryview(np.zeros((1, 2)))

    with pytest.raises(IndexError, match="must be a row number"):
        put_all(tree, [0, -1], np.zeros((1, 2)), np.zeros((1, 2)))
    with pytest.raises(IndexError, match="must be a row number"):
        tree.renew_one(-1, box, box, box, True, 0.0, 0.0)
    with pytest.raises(IndexError, match=r"must be less than 2\*\*27"):
        tree.renew_one(2**27, box, box, box, True, 0.0, 0.0)
    for item in (-1, 2**27):
        assert not tree.drop(item)
        assert not tree.holds(item)
        assert not tree.bounds_into(item, box, box, 0)
    tree.check()
    with pytest.raises(ValueError, match="dim=1"):
        kernels.tree.Tree(1)


@pytest.mark.parametrize("what", ["level", "bounds", "wide", "place", "item", "count", "change"])
def test_check_finds_what_is_broken(what):
    dynamic_tree = plain.kernel("broadphase.dynamic_tree")

    tree = dynamic_tree.Tree(2)
    put_all(tree, range(50), *scattered(50))
    tree.forget_changes()
    tree.check()

    nodes, root = tree.nodes, tree.nodes.root()
    if what == "level":
        nodes.level[root] += 1
    elif what == "bounds":
        nodes.box[4 * nodes.place_of[7]] -= 100.0
    elif what == "wide":
        nodes.box[4 * nodes.place[root]] -= 100.0
    elif what == "place":
        nodes.place[nodes.child[8 * root]] = 8 * root + 1
    elif what == "item":
        nodes.place_of[3] = nodes.place_of[4]
    elif what == "count":
        nodes.count[nodes.child[8 * root]] -= 1
    else:
        nodes.is_changed[3] = 1

    for _ in range(2):  # the first one has repaired nothing
        with pytest.raises(AssertionError, match="the tree is broken"):
            tree.check()


# What is kept, and what is asked in bulk


@pytest.mark.parametrize("dim", [2, 3])
def test_kept_pairs_are_those_of_a_tree_that_keeps_none(new_tree, dim):
    rng = np.random.default_rng(11)
    n = 150
    mins, maxs = scattered(n, dim, side=20)
    tree, boxes = new_tree(dim), {}
    ids = rng.permutation(1000)[:n] - 500
    tree.insert_many(ids, mins, maxs)
    boxes.update(zip(ids.tolist(), zip(mins, maxs, strict=True), strict=True))

    for turn in range(30):
        some = rng.permutation(list(boxes))[: int(rng.choice([0, 1, 5, 60]))]
        for id in some.tolist():
            way = rng.normal(0, 2, dim)
            if turn % 3 == 0:
                tree.remove(id)
                del boxes[id]
                id = int(rng.integers(1000, 10**12))
            low, high = mins[turn] + way, maxs[turn] + way
            (tree.update if id in boxes else tree.insert)(id, low, high)
            boxes[id] = low, high
        tree.check()

        fresh = new_tree(dim)
        fresh.insert_many(list(boxes), *map(np.array, zip(*boxes.values(), strict=True)))
        assert tree.pairs().tolist() == fresh.pairs().tolist()
        tree.pairs()[:] = 0  # what is handed out is the caller's own


def test_one_box_that_touches_all_others(new_tree, many):
    mins, maxs = scattered(many)
    tree = new_tree()
    tree.insert_many(range(1, many + 1), mins, maxs)
    tree.pairs()
    tree.insert(0, mins.min(axis=0), maxs.max(axis=0))

    pairs = tree.pairs().tolist()
    assert pairs[:many] == [[0, id] for id in range(1, many + 1)]
    assert pairs == sorted(pairs)


def test_a_single_vector_holds_for_all_rays(new_tree):
    tree = new_tree()
    tree.insert(7, (0, 0), (2, 2))

    assert tree.cast_rays((1, 5), [(0, -3), (0, -6), (1, 1)]).ids.tolist() == [7, 7, -1]
    assert tree.cast_rays([(1, 5), (9, 9)], (0, -5)).times.tolist() == [0.6, math.inf]
    assert tree.cast_rays((1, 5), (0, -5)).points.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="must have 2 axes in this tree"):
        tree.cast_rays((1, 5, 0), (0, -5, 0))
    with pytest.raises(ValueError, match="the same number of rows"):
        tree.cast_rays([(1, 5)] * 2, [(0, -5)] * 3)
    with pytest.raises(ValueError, match=r"directions\[1\]"):
        tree.cast_rays((1, 5), [(0, -5), (0, math.nan)])


def test_queries_accept_any_numbers(new_tree):
    tree = new_tree()
    tree.insert(7, (0, 0), (2, 2))

    for two in ((1, 1), (1.0, 1), [1, 1], np.array([1, 1]), np.array([1.0, 1.0]), (np.int8(1), 1)):
        assert tree.query(two, two) == [7]
        assert tree.cast_ray((-1, 1), two).time == 1.0
    for bad in ((1, 2, 3), (1, None), "ab", (math.nan, 0.0), (10**400, 0), 5):
        with pytest.raises(ValueError, match="must"):
            tree.query(bad, bad)
        with pytest.raises(ValueError, match="must"):
            tree.cast_ray(bad, (1, 1))
    with pytest.raises(ValueError, match="must not be above"):
        tree.query((1, 1), (0, 2))


@pytest.mark.parametrize("dim", [2, 3])
def test_fat_bounds_are_the_same_in_both_lives(dim):
    try:
        implementations = [backend.load(compiled=True), backend.load(compiled=False)]
    except ImportError:
        pytest.skip("the compiled kernels are not installed")
    rng = np.random.default_rng(8)
    frames = []
    mins, maxs = scattered(80, dim)
    for _ in range(40):
        motions = rng.normal(0, 0.4, (80, dim)) * rng.choice([0.0, 1.0, 5.0], (80, 1))
        mins, maxs = mins + motions, maxs + motions
        frames.append((mins, maxs, motions))
    for by_item in (False, True):
        logs = []
        for kernels in implementations:
            tree, log = kernels.tree.Tree(dim), []
            fat = np.zeros((2, 1, dim))
            for frame in frames:
                arrays = (memoryview(array) for array in frame)
                log.append(tree.renew(memoryview(np.arange(80)), *arrays, by_item, -1.0, 2.0))
                tree.check()
                for item in range(80):
                    tree.bounds_into(item, fat[0].data, fat[1].data, 0)
                    log.append(fat.tobytes())
            logs.append(log)
        assert logs[0] == logs[1]


# What a picture of the tree shows


@pytest.mark.parametrize("dim", [2, 3])
def test_branches_hold_one_another_and_the_boxes(new_tree, dim, many):
    tree = new_tree(dim)
    mins, maxs = scattered(many, dim)
    tree.insert_many(range(many), mins, maxs)
    tree.update_many(range(0, many, 3), mins[::3] + 7.0, maxs[::3] + 7.0)
    tree.remove_many(range(0, many, 5))

    low, high, depths, _ = tree.branches()

    assert low.shape == high.shape == (len(depths), dim)
    assert (np.diff(depths) >= 0).all()
    assert depths[0] == 0
    assert (depths == 0).sum() == 1
    assert depths[-1] == tree.depth - 1
    bounds = np.array([tree.bounds(id) for id in tree])
    for depth in range(tree.depth):
        inside = depths == depth + 1
        inner_low = low[inside] if inside.any() else bounds[:, 0]
        inner_high = high[inside] if inside.any() else bounds[:, 1]
        outer = depths == depth
        for a, b in zip(inner_low, inner_high, strict=True):
            assert ((low[outer] <= a) & (high[outer] >= b)).all(axis=1).any()
        # Fitted: each face of a branch is that of something on the floor below.
        for n in np.flatnonzero(outer):
            for axis in range(dim):
                assert (inner_low[:, axis] == low[n, axis]).any()
                assert (inner_high[:, axis] == high[n, axis]).any()


def test_branches_of_small_trees_are_the_box_or_none(new_tree):
    tree = new_tree()
    assert [len(part) for part in tree.branches()] == [0, 0, 0, 0]

    tree.insert(5, (1, 2), (3, 4))
    branches = tree.branches()

    assert isinstance(branches, ec.Branches)
    assert [part.tolist() for part in branches] == [[[1.0, 2.0]], [[3.0, 4.0]], [0], [False]]
    branches.mins[:] = 99.0  # a copy
    assert tree.branches().mins.tolist() == [[1.0, 2.0]]


def test_a_tree_counts_escapes_reinsertions_and_rebuilds_apart(new_tree):
    tree = new_tree()
    mins = np.array([(10.0 * (n % 10), 10.0 * (n // 10)) for n in range(100)])
    ids = np.arange(100)

    def counts() -> tuple[int, int, int]:
        return tree.n_escapes, tree.n_reinsertions, tree.n_rebuilds

    tree.insert_many(ids, mins, mins + 2.0)
    assert counts() == (0, 0, 1)
    tree.update(0, (1.9, 0.0), (3.9, 2.0))  # inside the margin
    assert counts() == (0, 0, 1)
    tree.update(0, (2.1, 0.0), (4.1, 2.0))  # outside of it
    assert counts() == (1, 1, 1)
    tree.insert(100, (0.0, 0.0), (2.0, 2.0))
    assert counts() == (1, 1, 1)
    tree.update_many(ids, mins + 500.0, mins + 502.0)
    assert counts() == (101, 1, 2)
