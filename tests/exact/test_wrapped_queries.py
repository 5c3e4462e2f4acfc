"""Questions to a world that wraps against a tree that holds every body at all its places.

Numbers are fourths, so that nothing is rounded but times and distances, which come from the same
numbers: answers must be the same, bit for bit.
"""

from __future__ import annotations

import itertools
import math
import random

import esper
import numpy as np
import pytest

import ecs_collide as ec

pytestmark = pytest.mark.usefixtures("world", "implementation")

ROUNDS = 3  # copies on each side; questions are chosen to reach no further

WORLDS = [
    (2, (16.0, None)),
    (2, (None, 12.0)),
    (2, (16.0, 12.0)),
    (3, (12.0, None, 8.0)),
    (3, (8.0, 8.0, 8.0)),
]


_numbers = itertools.count()


class Marked:
    """Every third body has it."""


class Copies:
    """A world that wraps, and all its copies in a tree."""

    def __init__(self, rng, dim, widths, n):
        self.dim, self.rng = dim, rng
        self.widths = np.array([width or 0.0 for width in widths])
        self.wrapped = self.widths > 0
        self.tree, self.of = ec.AABBTree(dim), []
        for number in range(n):
            centre = np.array([rng.randrange(int(4 * (w or 12))) / 4 for w in widths])
            half = np.array([rng.randrange(0, int(2 * (w or 8)) + 1) / 4 for w in widths])
            half *= rng.choice((0.25, 0.25, 1.0))
            parts = [Marked()] * (number % 3 == 0) + [ec.Velocity(0.0, 0.0)] * (number % 2)
            entity = esper.create_entity(ec.Position(*centre), ec.Extents(*half), *parts)
            for numbers in np.ndindex(*((2 * ROUNDS + 1) * self.wrapped + ~self.wrapped)):
                shift = (np.array(numbers) - ROUNDS) * self.widths
                low, high = centre + shift - half, centre + shift + half
                self.tree.insert(len(self.of), tuple(low), tuple(high))
                self.of.append(entity)
        self.of = np.array(self.of)
        self.space = ec.install(ec.Space(dim, wrap=widths))
        esper.process(1.0)

    def place(self):
        return tuple(self.rng.randrange(-24, 24 * 4) / 4 for _ in range(self.dim))

    def inside(self, place):
        """Return where in the world a place is."""
        where = np.array(place)
        where[self.wrapped] %= self.widths[self.wrapped]
        return tuple(where.tolist())

    def about(self, place):
        """Return the same but for roundings, which points on the path have."""
        return self.inside(np.round(np.array(place) * 2.0**20) / 2.0**20)

    def path(self):
        longest = 4 * np.where(self.wrapped, self.widths, 12.0)
        kinds = (0.0, 0.25, 1.0, 2.0)
        return tuple(
            round(self.rng.uniform(-1, 1) * self.rng.choice(kinds) * most / 4) / 1.0
            for most in longest
        )

    def first_of_each(self, hits):
        """Return key and entity of the first image of each body, sorted."""
        best = {}
        for copy, key in hits:
            entity = int(self.of[copy])
            best[entity] = min(key, best.get(entity, math.inf))
        return sorted((key, entity) for entity, key in best.items())


@pytest.fixture(params=WORLDS, ids=lambda world: str(world[1]))
def worlds(request, volume):
    """Yield worlds one after the other, each an esper world of its own."""

    def make():
        for seed in range(volume(2, 4, 7)):
            name = f"copies {seed} {next(_numbers)}"
            esper.switch_world(name)
            yield Copies(random.Random(seed), *request.param, 10 - 2 * request.param[0])
            esper.switch_world("default")
            esper.delete_world(name)

    return make


def test_regions_and_points(worlds):
    for c in worlds():
        lows, highs, found = [], [], []
        for _ in range(20):
            low = c.place()
            high = tuple(at + c.rng.randrange(0, 80) / 4 for at in low)
            start = c.inside(low)
            end = tuple(np.array(start) + np.array(high) - np.array(low))
            wanted = sorted(set(c.of[c.tree.query(start, end)].tolist()))

            assert c.space.query(low, high) == wanted
            assert c.space.query(np.array(low), list(high), exclude=wanted[:1]) == wanted[1:]
            assert c.space.query(low, high, filter=Marked) == [
                entity for entity in wanted if esper.has_component(entity, Marked)
            ]
            at = sorted(set(c.of[c.tree.query(start, start)].tolist()))
            assert c.space.query_point(low) == at
            lows.append(low)
            highs.append(high)
            found.append(wanted)
        hits = c.space.query_many(lows, highs)
        ends = zip(hits.offsets, hits.offsets[1:], strict=False)
        assert [hits.ids[a:b].tolist() for a, b in ends] == found
        nothing = np.zeros((0, c.dim))
        assert c.space.query_many(nothing, nothing).offsets.tolist() == [0]


def test_rays(worlds):
    n_hits = n_around = 0
    for c in worlds():
        starts, paths, firsts = [], [], []
        for _ in range(20):
            start, path = c.place(), c.path()
            here = c.inside(start)
            copies = c.tree.ray_hits(here, path)
            wanted = c.first_of_each((hit.id, hit.time) for hit in copies)
            told = {
                (int(c.of[hit.id]), hit.time, c.about(hit.point), hit.normal or (0.0,) * c.dim)
                for hit in copies
            }

            hits = c.space.ray_hits(start, path)
            assert [(hit.time, hit.entity) for hit in hits] == wanted
            for hit in hits:
                assert (hit.entity, hit.time, c.about(hit.point), hit.normal) in told
                assert hit.point == c.inside(hit.point)
            first = c.space.cast_ray(start, path)
            assert first == (hits[0] if hits else None)
            rest = [hit for hit in hits if hit.entity != (first and first.entity)]
            assert c.space.ray_hits(start, path, exclude=[first.entity] if first else []) == rest
            marked = [hit for hit in hits if esper.has_component(hit.entity, Marked)]
            assert c.space.cast_ray(start, path, filter=Marked) == (marked[0] if marked else None)
            starts.append(start)
            paths.append(path)
            firsts.append(first)
            n_hits += len(hits)
            n_around += any(hit.time > 0 for hit in hits)
        many = c.space.cast_rays(starts, paths)
        assert many.ids.tolist() == [-1 if hit is None else hit.entity for hit in firsts]
        for row, hit in enumerate(firsts):
            if hit is None:
                assert many.times[row] == math.inf
                assert np.isnan(many.points[row]).all()
                continue
            assert (many.times[row], tuple(many.points[row]), tuple(many.normals[row])) == hit[1:]
        second = [
            c.space.cast_ray(*ray, exclude=excluded_each)
            for *ray, excluded_each in zip(starts, paths, many.ids, strict=True)
        ]
        others = c.space.cast_rays(starts, paths, exclude_each=many.ids)
        assert others.ids.tolist() == [-1 if hit is None else hit.entity for hit in second]
        assert others.times.tolist() == [math.inf if hit is None else hit.time for hit in second]
    assert n_hits >= n_around > 0


def test_boxes_that_are_cast(worlds):
    n_hits = 0
    for c in worlds():
        rows = []
        for _ in range(20):
            start, path = c.place(), c.path()
            half = tuple(c.rng.randrange(0, 9) / 4 for _ in range(c.dim))
            here = c.inside(start)
            copies, excluded = [], []
            while True:  # all hits of the tree, one after the other
                hit = c.tree.cast_box(here, half, path, exclude=excluded)
                if hit is None:
                    break
                copies.append(hit)
                excluded.append(hit.id)
            wanted = c.first_of_each((hit.id, hit.time) for hit in copies)
            told = {
                (int(c.of[hit.id]), hit.time, c.about(hit.centre), hit.normal, hit.depth)
                for hit in copies
            }

            hit = c.space.cast_box(start, half, path)
            assert (hit and (hit.time, hit.entity)) == (wanted[0] if wanted else None)
            assert hit is None or tuple(hit._replace(centre=c.about(hit.centre))) in told
            if hit is not None:
                n_hits += 1
                then = c.space.cast_box(start, half, path, exclude=hit.entity)
                assert (then and (then.time, then.entity)) == (wanted[1] if wanted[1:] else None)
            marked = c.space.cast_box(start, half, path, filter=Marked)
            assert (marked and marked.entity) == next(
                (entity for _, entity in wanted if esper.has_component(entity, Marked)), None
            )
            rows.append((start, half, path, hit))
        many = c.space.cast_boxes(*([row[n] for row in rows] for n in range(3)))
        for row, (*_, hit) in enumerate(rows):
            assert many.ids[row] == (-1 if hit is None else hit.entity)
            if hit is not None:
                assert tuple(hit)[1:] == (
                    many.times[row], tuple(many.centres[row]), tuple(many.normals[row]),
                    many.depths[row],
                )  # fmt: skip
        excluded_each = [-1 if hit is None else hit.entity for *_, hit in rows]
        others = c.space.cast_boxes(
            *([row[n] for row in rows] for n in range(3)), exclude_each=excluded_each
        )
        for row, (start, half, path, hit) in enumerate(rows):
            then = c.space.cast_box(start, half, path, exclude=hit and [hit.entity])
            assert others.ids[row] == (-1 if then is None else then.entity)
    assert n_hits > 2


def test_nearest(worlds):
    for c in worlds():
        points, all_found = [], []
        for _ in range(15):
            point = c.place()
            here = c.inside(point)
            copies = c.tree.nearest(here, len(c.of))
            wanted = c.first_of_each((hit.id, hit.distance) for hit in copies)
            told = {(int(c.of[h.id]), h.distance, c.inside(h.point)) for h in copies}

            found = c.space.nearest(point, 6)
            assert [(hit.distance, hit.entity) for hit in found] == wanted
            assert {tuple(hit) for hit in found} <= told
            assert c.space.nearest(point, 3) == found[:3]
            assert c.space.nearest(point, exclude=found[0].entity) == found[1:2]
            within = found[2].distance
            assert c.space.nearest(point, 8, within=within) == [
                hit for hit in found if hit.distance <= within
            ]
            assert c.space.nearest(point, 8, filter=Marked) == [
                hit for hit in found if esper.has_component(hit.entity, Marked)
            ]
            points.append(point)
            all_found.append(found)
        for k in (1, 3, 11):
            many = c.space.nearest_many(points, k)
            for row, found in enumerate(all_found):
                n = min(k, len(found))
                assert many.ids[row].tolist() == [hit.entity for hit in found[:k]] + [-1] * (k - n)
                assert many.distances[row, :n].tolist() == [hit.distance for hit in found[:k]]
                assert list(map(tuple, many.points[row, :n])) == [hit.point for hit in found[:k]]
                assert np.isinf(many.distances[row, n:]).all()
                assert np.isnan(many.points[row, n:]).all()
        excluded_each = [found[0].entity for found in all_found]
        others = c.space.nearest_many(points, 1, exclude_each=excluded_each)
        assert others.ids[:, 0].tolist() == [found[1].entity for found in all_found]


def test_an_empty_world_answers_nothing():
    space = ec.install(ec.Space(wrap=(16, 12)))

    assert space.query((0, 0), (99, 99)) == []
    assert space.cast_ray((0, 0), (9, 9)) is None
    assert space.cast_box((0, 0), (1, 1), (9, 9)) is None
    assert space.nearest((0, 0), 3) == []
    assert space.cast_rays([(0, 0)], (9, 9)).ids.tolist() == [-1]
    assert space.cast_boxes([(0, 0)], (1, 1), (9, 9)).ids.tolist() == [-1]
    assert space.nearest_many([(0, 0)], 2).ids.tolist() == [[-1, -1]]


def test_queries_that_lead_too_far_are_refused():
    esper.create_entity(ec.Position(1, 1), ec.Extents(1, 1))
    space = ec.install(ec.Space(wrap=(16, None)))
    esper.process(1.0)

    assert space.cast_ray((0, 1), (64 * 16, 0)).entity == 1
    assert space.cast_ray((0, 9), (0, 1e9)) is None  # on this axis there is no edge
    for ask in (
        lambda: space.cast_ray((0, 0), (64 * 16 + 1, 0)),
        lambda: space.ray_hits((0, 0), (-64 * 16 - 1, 0)),
        lambda: space.cast_rays([(0, 0)], (64 * 16 + 1, 0)),
        lambda: space.cast_box((0, 0), (1, 1), (64 * 16 + 1, 0)),
        lambda: space.cast_boxes([(0, 0)], (1, 1), (64 * 16 + 1, 0)),
    ):
        with pytest.raises(ValueError, match=r"64 times around the world, which is 16.0 wide"):
            ask()
    for ask in (
        lambda: space.cast_box((0, 0), (8.5, 1), (1, 0)),
        lambda: space.cast_boxes([(0, 0)], (8.5, 1), (1, 0)),
    ):
        with pytest.raises(ValueError, match=r"at most 8.0 on x: the world is 16.0 wide"):
            ask()
    with pytest.raises(ValueError, match="must be finite"):
        space.cast_ray((0, float("nan")), (1, 0))
    with pytest.raises(ValueError, match="exclude_each must have an id for each"):
        space.cast_boxes([(0, 0)], (1, 1), (1, 0), exclude_each=[1, 2])
    with pytest.raises(ValueError, match="exclude_each must have an id for each"):
        space.nearest_many([(0, 0)], exclude_each=[1, 2])
