"""Casts with `solid=True` meet a one-way body exactly if a body in a step would."""

from __future__ import annotations

import random

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, position

pytestmark = pytest.mark.usefixtures("world", "implementation")

NUMBERS = {
    "whole": lambda rng, most: float(rng.randint(-most, most)),  # many touch or meet at corners
    "tenths": lambda rng, most: rng.randint(-10 * most, 10 * most) / 10,
    "rough": lambda rng, most: rng.uniform(-most, most),
}
SIDES = [(k, sign, dim) for dim in (2, 3) for k in range(dim) for sign in (-1, 1)]


def along(k, sign, dim, value, other=0.0):
    """Return a vector with `value` along a direction and `other` on the next axis."""
    vector = [0.0] * dim
    vector[k] = value * sign + 0.0
    vector[(k + 1) % dim] = other
    return tuple(vector)


class Scene:
    """Bodies in one space, most of them one-way, which are replaced by others again and again."""

    def __init__(self, dim, wrap=None):
        self.dim = dim
        self.space = ec.install(dim=dim, wrap=wrap)
        self.bodies = []

    def axis(self, rng):
        return along(rng.randrange(self.dim), rng.choice([-1, 1]), self.dim, 1)

    def fill(self, rng, number):
        """Replace all bodies; some are sloped, and a few are solid on all sides."""
        for body in self.bodies:
            esper.delete_entity(body, immediate=True)
        self.space.up = up = self.axis(rng)
        height = next(k for k, part in enumerate(up) if part)
        self.bodies = []
        for _ in range(rng.randint(1, 7)):
            parts = []
            if rng.random() < 0.85:
                parts += [ec.OneWay(rng.choice([None, self.axis(rng), self.axis(rng)]))]
            if rng.random() < 0.3:
                run = rng.choice([k for k in range(self.dim) if k != height])
                rise = along(run, rng.choice([-1, 1]), self.dim, 1)
                parts += [ec.Slope(rise, *rng.choice([(0, 1), (0.25, 0.75)]), rng.random() < 0.3)]
            if rng.random() < 0.3:
                parts += [ec.Fixed()]
            centre = [number(rng, 10) for _ in range(self.dim)]
            half = [abs(number(rng, 4)) for _ in range(self.dim)]
            self.bodies.append(box(centre, half, *parts))

    def first_in_a_step(self, centre, half, motion):
        """Return time, partner and normal of the first collision of such a body, or None."""
        body = mover(centre, half, motion, ec.Stop())
        moved = self.space.check_move(body, motion, ec.Stop())
        esper.process(1.0)
        assert moved.position == pytest.approx(position(body, self.dim), abs=1e-9)
        met = self.space.collisions_of(body)
        esper.delete_entity(body, immediate=True)
        return (met[0].time, met[0].other(body), met[0].normal_for(body)) if met else None

    def is_in_solid(self, centre, half):
        """Return whether a box overlaps a body that is solid on all sides."""
        hits = self.space.box_hits(centre, half, [0.0] * self.dim)
        return any(not esper.has_component(hit.id, ec.OneWay) for hit in hits)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("dim", [2, 3])
def test_a_cast_box_meets_what_a_body_meets_in_a_step(dim, numbers, wrap, volume):
    scene, number = Scene(dim, (64.0,) * dim if wrap else None), NUMBERS[numbers]
    n_met = n_passed = 0
    for seed in range(volume(80, 240, 5000, least=60)):
        rng = random.Random(f"{seed} {dim} {numbers}")
        scene.fill(rng, number)
        esper.process(0.0) if rng.random() < 0.5 else scene.space.update()
        centre = [number(rng, 8) for _ in range(dim)]
        half = [abs(number(rng, 2)) for _ in range(dim)]
        motion = [number(rng, 16) if rng.random() < 0.7 else 0.0 for _ in range(dim)]
        if scene.is_in_solid(centre, half):
            continue

        hits = scene.space.box_hits(centre, half, motion, solid=True)
        one = scene.space.cast_box(centre, half, motion, solid=True)
        many = scene.space.cast_boxes([centre], half, motion, solid=True)
        n_passed += len(scene.space.box_hits(centre, half, motion)) - len(hits)
        met = scene.first_in_a_step(centre, half, motion)

        assert [one] == (hits[:1] or [None]), seed
        assert many.ids.tolist() == [one.id if one else -1], seed
        assert bool(met) == bool(hits), seed
        if met:
            n_met += 1
            (hit,) = [hit for hit in hits if hit.id == met[1]]
            assert hit.time == hits[0].time == pytest.approx(met[0], abs=1e-12), seed
            assert hit.normal == pytest.approx(met[2], abs=1e-12), seed
    assert n_met
    assert n_passed


@pytest.mark.parametrize("dim", [2, 3])
def test_a_ray_meets_what_a_point_meets_in_a_step(dim, volume):
    scene, number = Scene(dim), NUMBERS["rough"]
    n_met = n_passed = 0
    for seed in range(volume(150, 400, 5000, least=30)):
        rng = random.Random(f"{seed} {dim}")
        scene.fill(rng, number)
        esper.process(0.0) if rng.random() < 0.5 else scene.space.update()
        start = [number(rng, 12) for _ in range(dim)]
        motion = [number(rng, 20) for _ in range(dim)]
        if scene.is_in_solid(start, [0.0] * dim):
            continue

        hits = scene.space.ray_hits(start, motion, solid=True)
        one = scene.space.cast_ray(start, motion, solid=True)
        many = scene.space.cast_rays([start], motion, solid=True)
        n_passed += len(scene.space.ray_hits(start, motion)) - len(hits)
        met = scene.first_in_a_step(start, [0.0] * dim, motion)

        assert [one] == (hits[:1] or [None]), seed
        assert many.ids.tolist() == [one.id if one else -1], seed
        assert bool(met) == bool(one), seed
        if met:
            n_met += 1
            assert (one.time, one.id) == (pytest.approx(met[0]), met[1]), seed
            assert one.normal == pytest.approx(met[2], abs=1e-12), seed
    assert n_met
    assert n_passed


@pytest.mark.parametrize(("k", "sign", "dim"), SIDES)
@pytest.mark.parametrize(
    ("start", "way", "time"),
    [  # along the normal, and beside it
        ((3, 0), (-4, 0), 0.5),
        ((3, 0), (-2, 0), 1.0),  # it ends on the face
        ((1, 0), (-1, 0), 0.0),  # it begins on the face
        ((1 - 2.0**-50, 0), (-1, 0), 0.0),  # it does but for rounding
        ((3, -6), (-4, 4), 0.5),  # over the corner
        ((1, 0), (1, 0), None),
        ((1, -9), (0, 9), None),  # along the face
        ((0.5, 0), (-4, 0), None),  # from inside
        ((-3, 0), (6, 0), None),
        ((0, -9), (0, 20), None),
        ((0.5, -9), (-0.25, 20), None),  # in by another side
    ],
)
def test_a_ray_meets_the_solid_side_from_outside(k, sign, dim, start, way, time):
    plank = box((0,) * dim, along(k, 1, dim, 1, 4)[:2] + (2,) * (dim - 2), ec.OneWay())
    esper.component_for_entity(plank, ec.Extents).set(*(4.0 if n != k else 1.0 for n in range(dim)))
    space = ec.install(dim=dim, up=along(k, sign, dim, 1))
    esper.process(1.0)
    ray = along(k, sign, dim, *start), along(k, sign, dim, *way)

    hit = space.cast_ray(*ray, solid=True)

    assert space.cast_ray(*ray).id == plank
    assert (hit and hit.time) == time
    if hit:
        assert hit.point[k] == sign
        assert hit.normal == along(k, sign, dim, 1)


def test_a_box_that_starts_flush_meets_the_side_that_it_moves_against():
    plank = box((0, 0), (4, 1), ec.OneWay())
    space = ec.install()
    esper.process(1.0)

    def hit(centre, motion):
        return space.cast_box(centre, (1, 1), motion, solid=True)

    assert hit((0, 2), (0, -1)) == (plank, 0.0, (0, 2), (0, 1), 0.0)
    assert hit((-7, 4), (4, -4)) == (plank, 0.5, (-5, 2), (0, 1), 0.0)  # over the corner
    assert hit((0, 2), (5, 0)) is None
    assert hit((0, 1.5), (0, -4)) is None
    assert hit((0, -2), (0, 9)) is None
    assert hit((-5, 0), (9, -1)) is None


def test_a_circle_meets_what_a_box_around_it_meets():
    plank = box((0, 0), (4, 1), ec.OneWay())
    space = ec.install()
    esper.process(1.0)

    assert space.cast_circle((0, 5), 1, (0, -6), solid=True).id == plank
    assert space.cast_circle((0, -5), 1, (0, 6)).id == plank
    assert space.cast_circle((0, -5), 1, (0, 6), solid=True) is None
    assert space.cast_circle((-9, 0), 1, (9, 0), solid=True) is None


def test_what_has_no_direction_finds_it_whole():
    plank = box((0, 0), (4, 1), ec.OneWay())
    space = ec.install()
    esper.process(1.0)

    assert space.query((-9, -9), (9, 0), solid=True) == [plank]
    assert space.query_point((0, 0.5), solid=True) == [plank]
    assert space.query_circle((0, -2), 1, solid=True) == [plank]
    assert space.nearest((0, -2), solid=True)[0].id == plank
    assert not space.is_free((-1, 0), (1, 2))
    assert space.occupancy(((-1, 0), (1, 2)), 1).any()


def test_queries_after_an_update_ask_the_sides_of_now():
    side = ec.OneWay()
    plank, other = box((0, 0), (4, 1), side), box((20, 0), (4, 1))
    space = ec.install()
    esper.process(1.0)

    def falls_through(x):
        space.update()
        return space.cast_ray((x, 9), (0, -18), solid=True) is None

    assert not falls_through(0)
    side.normal = (0, -1)
    assert falls_through(0)
    assert space.cast_box((0, -9), (1, 1), (0, 18), solid=True).id == plank
    side.normal = None
    space.up = (0, -1)
    assert falls_through(0)
    esper.remove_component(plank, ec.OneWay)
    assert not falls_through(0)

    assert not falls_through(20)
    esper.add_component(other, ec.OneWay((1, 0)))
    assert falls_through(20)
    esper.process(1.0)
    assert space.cast_ray((20, 9), (0, -18), solid=True) is None
    assert space.cast_ray((29, 0), (-9, 0), solid=True).id == other


def test_region_seen_through_open_sides_has_the_points_to_which_a_ray_is_free(volume):
    scene, number = Scene(2), NUMBERS["rough"]
    n_seen = n_hidden = 0
    for seed in range(volume(20, 60, 150, least=5)):
        rng = random.Random(seed)
        scene.fill(rng, number)
        esper.process(0.0)
        eye = np.array([number(rng, 12), number(rng, 12)])
        ring = scene.space.visible_region(eye, 25)
        if scene.is_in_solid(eye.tolist(), [0.0, 0.0]):
            assert not len(ring)
            continue
        ways, nexts = ring - eye, np.roll(ring, -1, axis=0) - eye
        doubled = ways[:, 0] * nexts[:, 1] - ways[:, 1] * nexts[:, 0]
        for _ in range(60):
            way = np.array([rng.uniform(-25, 25), rng.uniform(-25, 25)])
            with np.errstate(divide="ignore", invalid="ignore"):  # in one of its triangles?
                a = (way[0] * nexts[:, 1] - way[1] * nexts[:, 0]) / doubled
                b = (ways[:, 0] * way[1] - ways[:, 1] * way[0]) / doubled
                is_seen = ((a >= -1e-9) & (b >= -1e-9) & (a + b <= 1 + 1e-9)).any()
            assert is_seen == (scene.space.cast_ray(eye, way, solid=True) is None), (seed, way)
            n_seen, n_hidden = n_seen + is_seen, n_hidden + (not is_seen)
    assert n_seen
    assert n_hidden


def test_region_seen_from_the_faces_of_a_plank():
    box((0, 0), (4, 1), ec.OneWay())
    space = ec.install()
    esper.process(1.0)

    def lowest(x, y):
        return space.visible_region((x, y), 10)[:, 1].min()

    assert lowest(0, 1) == 1
    assert lowest(0, 0.5) == -9.5
    assert lowest(4, 0) == -10
    assert len(space.visible_region((0, -1), 10)) == 4
