"""Every question to a tree against all boxes tried one by one.

Boxes that touch, without size, huge and tiny, far out; rays along faces and through
corners; casts that start inside or flush, or go nowhere.  A case is one question to one
world.  20,000 cases compiled, a tenth of that as plain Python, and 1,000,000 with
``--long``.  All answers must have the bits of the formulas below; where numbers are whole
they must be what exact arithmetic says.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ecs_collide import AABBTree, RayHit, backend, sweep_pairs
from tests.exact.reference import IMPACT, OVERLAP, exactly, meet, sides_of

pytestmark = pytest.mark.usefixtures("implementation")

M = 25  # questions of each sort to one world
SORTS = 4  # casts, points, rays, regions
SIZES = (0, 1, 7, 40, 40, 40, 300)
INF = math.inf


@pytest.fixture
def n_worlds(volume):
    """Return how many worlds to ask, of one kind in one dimension."""
    n_cases = volume(4000, 8_000, 1_000_000)
    return math.ceil(n_cases / (M * SORTS) / len(KINDS) / 2)


def whole(rng, dim, n):
    """Small whole numbers: most boxes touch others, many have no size."""
    return rng.integers(-8, 9, (n, dim)) * 1.0, rng.integers(0, 3, (n, dim)) * 1.0


def rough(rng, dim, n):
    return rng.uniform(-9, 9, (n, dim)), rng.uniform(0, 2, (n, dim))


def decimals(rng, dim, n):
    """Tenths: what looks flush is so but for roundings."""
    return rng.integers(-60, 61, (n, dim)) / 10, rng.integers(0, 9, (n, dim)) / 10


def sizes(rng, dim, n):
    """Boxes a trillion times the size of others."""
    return (
        rng.choice((-1.0, 1.0), (n, dim)) * 10.0 ** rng.uniform(-6, 6, (n, dim)),
        10.0 ** rng.uniform(-6, 6, (n, dim)),
    )


def far_out(rng, dim, n):
    centres, halves = whole(rng, dim, n)
    return centres * 0.1 + 1e8, halves * 0.1


def tiny(rng, dim, n):
    """Near the smallest numbers there are."""
    scale = rng.choice((1e-310, 1e-205, 1e-199, 1e-160))
    centres, halves = whole(rng, dim, n)
    return centres * scale, halves * scale


def huge(rng, dim, n):
    """Near the largest numbers that are let in, 2**500, beside plain ones."""
    centres, halves = whole(rng, dim, n)
    scale = np.where(rng.random((n, 1)) < 0.8, 2.0**493, 1.0)
    return centres * scale, halves * scale


KINDS = (whole, rough, decimals, sizes, far_out, tiny, huge)


class Asked:
    """A tree of one kind, questions made to mislead it, and whom they leave out."""

    def __init__(self, kind, dim, seed):
        rng = np.random.default_rng((seed, dim, KINDS.index(kind)))
        self.rng, self.dim = rng, dim
        self.n = n = int(rng.choice(SIZES))
        self.centres, self.halves = kind(rng, dim, n)
        self.low, self.high = self.centres - self.halves, self.centres + self.halves
        self.ids = rng.permutation(3 * n)[:n] - n
        self.tree = AABBTree(dim)
        self.tree.insert_many(self.ids, self.low, self.high)
        self.exclude = None
        if rng.random() < 0.5:
            self.exclude = [*rng.choice(self.ids, n // 3, replace=False).tolist(), 10**6]
        self.excluded = np.isin(self.ids, self.exclude or [])

        # Places: anywhere, on faces, flush beside boxes; a few an ulp off.
        other, more = kind(rng, dim, M), kind(rng, dim, M)
        self.points, self.half = other[0] + 0.0, np.where(rng.random((M, 1)) < 0.3, 0.0, other[1])
        if n:
            near = rng.integers(0, n, M)
            side = rng.choice((-1.0, 0.0, 1.0), (M, dim))
            face = np.where(side > 0, self.high[near], self.low[near])
            flush = np.where(side == 0, self.centres[near], face)
            flush = flush + side * self.half * rng.choice((0.0, 1.0), (M, 1))
            flush = flush + rng.choice((0, 0, 0, 1, -1), (M, dim)) * np.spacing(flush)
            self.points = np.where(rng.random((M, 1)) < 0.7, flush, self.points)
        # Paths: anywhere, along axes, to faces and centres of boxes, and none.
        self.paths = more[0] - self.points
        if n:
            goal = rng.integers(0, n, M)
            side = rng.choice((-1.0, 0.0, 1.0), (M, dim))
            aimed = self.centres[goal] + side * self.halves[goal] - self.points
            self.paths = np.where(rng.random((M, 1)) < 0.6, aimed, self.paths)
        self.paths = self.paths * rng.choice((1.0, 1.0, 2.0, 0.5), (M, 1))
        self.paths[rng.random((M, dim)) < 0.3] = 0.0
        self.each = rng.choice(self.ids, M) if n and rng.random() < 0.5 else None

    def without(self, keys, each=None):
        """Return keys, inf for what is left out."""
        out = np.broadcast_to(self.excluded, keys.shape).copy()
        if each is not None:
            out |= self.ids == each[:, None]
        return np.where(out, INF, keys)

    def order(self, keys):
        """Return the columns of each row by key, then id, and how many are not inf."""
        ids = np.broadcast_to(self.ids, keys.shape)
        return np.lexsort((ids, keys), axis=-1), np.isfinite(keys).sum(axis=1)


def worlds(kind, n_worlds):
    for dim in (2, 3):
        for seed in range(n_worlds):
            yield Asked(kind, dim, seed)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_box_that_is_cast_meets_what_the_sweeps_of_all_say(kind, n_worlds):
    n_met = 0
    for w in worlds(kind, n_worlds):
        bodies = np.vstack([w.centres, w.points]), np.vstack([w.halves, w.half])
        motions = np.vstack([np.zeros((w.n, w.dim)), w.paths])
        pairs = np.array([(w.n + i, j) for i in range(M) for j in range(w.n)]).reshape(-1, 2)
        batch = sweep_pairs(*bodies, motions, pairs)
        times = np.where(np.isnan(batch.time), INF, batch.time).reshape(M, w.n)
        order, n_hits = w.order(w.without(times, w.each))

        hits = w.tree.cast_boxes(w.points, w.half, w.paths, exclude=w.exclude, exclude_each=w.each)

        for i in range(M):
            if n_hits[i] == 0:
                assert (hits.ids[i], hits.times[i]) == (-1, INF)
                assert np.isnan([*hits.centres[i], *hits.normals[i], hits.depths[i]]).all()
                continue
            n_met += 1
            j = order[i, 0]
            sweep = batch[i * w.n + j]
            assert (hits.ids[i], hits.times[i]) == (w.ids[j], sweep.time)
            assert tuple(hits.normals[i]) == sweep.normal
            assert hits.depths[i] == sweep.depth
            straight = w.points[i] + sweep.time * w.paths[i]
            beside = np.arange(w.dim) != sweep.axis
            assert (hits.centres[i] == straight)[beside].all()
            placed, half = hits.centres[i, sweep.axis], w.half[i, sweep.axis]
            if sweep.kind == OVERLAP:
                assert placed == straight[sweep.axis]
            else:
                if sweep.sign < 0:
                    gap = w.low[j, sweep.axis] - (placed + half)
                else:
                    gap = (placed - half) - w.high[j, sweep.axis]
                assert 0.0 <= gap <= np.spacing(abs(placed) + half)
        some = int(w.rng.integers(M))
        single = w.tree.cast_box(w.points[some], w.half[some], w.paths[some], exclude=w.exclude)
        order, n_hits = w.order(w.without(times))
        assert (single and (single.id, single.time)) == (
            (w.ids[order[some, 0]], times[some, order[some, 0]]) if n_hits[some] else None
        )
    assert n_met > 2 * n_worlds


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_nearest_boxes_are_those_of_all(kind, n_worlds):
    for w in worlds(kind, n_worlds):
        gaps = np.maximum(w.low - w.points[:, None], w.points[:, None] - w.high).clip(0.0)
        scale = np.where(gaps.max(axis=2, initial=0.0) < 2.0**-400, 2.0**600, 1.0)
        squares = (gaps * scale[:, :, None]) ** 2
        total = squares[:, :, 0] + squares[:, :, 1]
        if w.dim == 3:
            total = total + squares[:, :, 2]
        distances = np.sqrt(total) / scale
        k = int(w.rng.integers(1, 6))
        within = float(w.rng.choice(distances.ravel())) if w.n and w.rng.random() < 0.3 else INF
        limited = np.where(distances <= within, distances, INF)
        order, n_hits = w.order(w.without(limited, w.each))

        hits = w.tree.nearest_many(
            w.points, k, within=within, exclude=w.exclude, exclude_each=w.each
        )

        for i in range(M):
            there = order[i, : min(k, n_hits[i])]
            n = len(there)
            assert hits.ids[i].tolist() == w.ids[there].tolist() + [-1] * (k - n)
            assert hits.distances[i].tolist() == distances[i, there].tolist() + [INF] * (k - n)
            closest = np.clip(w.points[i], w.low[there], w.high[there])
            assert (hits.points[i, :n] == closest).all()
            assert np.isnan(hits.points[i, n:]).all()
        some = int(w.rng.integers(M))
        order, n_hits = w.order(w.without(limited))
        single = w.tree.nearest(w.points[some], k, within=within, exclude=w.exclude)
        assert [hit.id for hit in single] == w.ids[order[some, : min(k, n_hits[some])]].tolist()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_ray_hits_all_that_it_meets(kind, n_worlds):
    for w in worlds(kind, n_worlds):
        times = ray_times(w)
        order, n_hits = w.order(w.without(times, w.each))
        many = w.tree.cast_rays(w.points, w.paths, exclude=w.exclude, exclude_each=w.each)
        firsts = [w.ids[order[i, 0]] if n_hits[i] else -1 for i in range(M)]
        assert many.ids.tolist() == firsts
        order, n_hits = w.order(w.without(times))
        for i in range(M):
            origin, way = tuple(w.points[i].tolist()), tuple(w.paths[i].tolist())

            hits = w.tree.ray_hits(origin, way, exclude=w.exclude)

            assert [hit.id for hit in hits] == w.ids[order[i, : n_hits[i]]].tolist()
            assert [(h.time, h.id) for h in hits] == sorted((h.time, h.id) for h in hits)
            first = hits[0] if hits else None
            assert w.tree.cast_ray(origin, way, exclude=w.exclude) == first
            for hit in hits[:2]:  # each as if it were alone
                alone = AABBTree(w.dim)
                alone.insert(hit.id, *w.tree.bounds(hit.id))
                assert alone.cast_ray(origin, way) == hit == RayHit(*hit)


def ray_times(w):
    """Return when each ray is first in each box, inf for never."""
    first = w.low - w.points[:, None]
    last = w.high - w.points[:, None]
    way = np.broadcast_to(w.paths[:, None], first.shape)
    with np.errstate(all="ignore"):
        enter = np.where(way > 0, first, last) / way
        leave = np.where(way > 0, last, first) / way
    still = way == 0.0
    enter = np.where(still, np.where((first > 0) | (last < 0), INF, 0.0), enter)
    # A box behind the ray, be it by less than a quotient can tell from 0.
    enter = np.where(~still & np.where(way > 0, last < 0, first > 0), INF, enter)
    enter = enter.max(axis=2, initial=0.0)
    leave = np.where(still, INF, leave).min(axis=2, initial=INF)
    return np.where((enter <= leave) & (enter <= 1.0), enter, INF)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_regions_in_bulk_hold_what_touches_them(kind, n_worlds):
    for w in worlds(kind, n_worlds):
        low, high = w.points - w.half, w.points + w.half
        touch = ((w.low <= high[:, None]) & (low[:, None] <= w.high)).all(axis=2) & ~w.excluded

        found = w.tree.query_many(low, high, exclude=w.exclude)

        assert found.offsets[0] == 0
        assert found.offsets[-1] == len(found.ids)
        for i in range(M):
            ids = found.ids[found.offsets[i] : found.offsets[i + 1]].tolist()
            assert ids == sorted(w.ids[touch[i]].tolist())
            assert w.tree.query(low[i], high[i], exclude=w.exclude) == ids


@pytest.mark.parametrize("dim", [2, 3])
def test_among_whole_numbers_answers_are_those_of_exact_arithmetic(dim, volume):
    kinds = set()
    for seed in range(volume(6, 12, 20, least=4)):
        w = Asked(whole, dim, 1000 + seed)
        if w.n > 40:
            continue
        points, half, paths = np.round(w.points), np.round(w.half), np.round(w.paths)
        still = [0] * dim
        boxes = [exactly(*box, still) for box in zip(w.low.tolist(), w.high.tolist(), strict=True)]
        for i in range(M):
            cast = exactly((points[i] - half[i]).tolist(), (points[i] + half[i]).tolist(), paths[i])
            best = None
            for id, box in zip(w.ids.tolist(), boxes, strict=True):
                answer = meet(sides_of(cast, box))
                if answer.kind in (IMPACT, OVERLAP):
                    time = answer.enter if answer.kind == IMPACT else Fraction(0)
                    best = min(best or (INF,), (time, id, answer))
            hit = w.tree.cast_box(points[i], half[i], paths[i])
            if best is None:
                assert hit is None
                kinds.add("none")
            else:
                time, id, answer = best
                normal = [0.0] * dim
                normal[answer.axis] = float(answer.sign)
                assert hit == (id, float(time), hit.centre, tuple(normal), float(answer.depth))
                kinds.add(answer.kind)

            squares = sorted(
                (sum(max(low - x, x - high, 0) ** 2 for low, high, x in zip(*row)), id)  # noqa: B905
                for row, id in zip(
                    [(box.low, box.high, map(int, points[i])) for box in boxes],
                    w.ids.tolist(),
                    strict=True,
                )
            )
            near = w.tree.nearest(points[i], 3)
            assert [(h.distance, h.id) for h in near] == [
                (math.sqrt(square), id) for square, id in squares[:3]
            ]
    assert kinds == {"none", IMPACT, OVERLAP}


@pytest.mark.parametrize("dim", [2, 3])
def test_compiled_and_pure_python_answer_with_the_same_bits(dim, monkeypatch):
    try:
        implementations = [backend.load(compiled=True), backend.load(compiled=False)]
    except ImportError:
        pytest.skip("the compiled kernels are not installed")
    logs = []
    for kernels in implementations:
        monkeypatch.setattr(backend, "kernels", kernels)
        log = []
        for kind in KINDS:
            for seed in range(3):
                w = Asked(kind, dim, seed)
                log += [part.tobytes() for part in w.tree.cast_boxes(w.points, w.half, w.paths)]
                log += [part.tobytes() for part in w.tree.nearest_many(w.points, 3)]
                log += [
                    part.tobytes()
                    for part in w.tree.query_many(w.points - w.half, w.points + w.half)
                ]
                log += [repr(w.tree.ray_hits(*ray)) for ray in zip(w.points, w.paths, strict=True)]
        logs.append(log)

    assert logs[0] == logs[1]
