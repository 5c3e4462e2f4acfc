"""Questions to a space: boxes that are cast, nearest bodies, all on a ray, and who is left out."""

from __future__ import annotations

import math

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide._kernel.constants import QueryKind
from tests.scenes import another_world, box, mover, position

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Enemy:
    """A tag of a game."""


class Solid:
    """Another."""


# Casting a box ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("centre", "motion", "expected"),
    [
        ((0, 5), (16, 0), (0.5, (8, 5), (-1, 0), 0.0)),
        ((0, 5), (8, 0), None),  # its way ends where they touch
        ((8, 5), (1, 0), (0.0, (8, 5), (-1, 0), 0.0)),  # begins flush, and closes
        ((8, 5), (-1, 0), None),
        ((8, 5), (0, 30), None),  # slides along the face
        ((0, 15), (40, 0), None),  # over the top, touching
        ((0, 14.5), (40, 0), (0.2, (8, 14.5), (-1, 0), 0.0)),
        ((13, 5), (0, 0), (0.0, (13, 5), (-1, 0), 5.0)),  # begins inside
        ((13, 5), (-40, 0), (0.0, (13, 5), (-1, 0), 5.0)),
        ((0, 5), (0, 0), None),
    ],
)
def test_a_cast_box_meets_what_a_body_would(centre, motion, expected):
    #
    #    y
    #    10         +-----------+
    #               |   wall    |
    #     0         +-----------+
    #              10          30   x       the box that is cast is 4 wide and 10 high
    #
    wall = box((20, 5), (10, 5))
    space = ec.install()
    esper.process(0)

    hit = space.cast_box(centre, (2, 5), motion)

    assert hit == (expected and (wall, *expected))
    assert hit is None or hit.entity == wall


def test_a_cast_box_that_grazes_a_corner_or_a_seam_meets_nothing():
    for x in range(0, 100, 10):
        box((x + 5, -5), (5, 5))
    space = ec.install()
    esper.process(0)

    assert space.cast_box((5, 2), (2, 2), (80, 0)) is None
    assert space.cast_box((-2, 12), (2, 2), (-20, -20)) is None
    assert space.cast_box((-22, 22), (2, 2), (40, -40)).time == 0.5


def test_a_body_put_where_a_cast_ended_touches_and_does_not_overlap():
    wall = box((1 / 3, 0.7), (0.1, 10.3))
    space = ec.install()
    esper.process(0)

    hit = space.cast_box((17.3, 0.1), (0.7, 0.3), (-33.3, 0.3))
    body = mover(hit.centre, (0.7, 0.3), (0, 0), ec.Slide())
    esper.process(0)

    (contact,) = space.contacts(body)
    assert contact.other(body) == wall
    assert contact.normal_for(body) == hit.normal == (1, 0)
    assert not list(space.collisions)
    assert position(body) == hit.centre


def test_a_cast_agrees_with_what_a_step_does():
    rng = np.random.default_rng(3)
    for _ in range(20):
        box(rng.uniform(-20, 20, 2), rng.uniform(0.1, 3, 2))
    space = ec.install()
    esper.process(0)
    n_hits = 0
    for _ in range(30):
        centre, half, way = rng.uniform(-20, 20, 2), rng.uniform(0.1, 2, 2), rng.normal(0, 20, 2)
        hit = space.cast_box(centre, half, way)

        body = mover(centre, half, way, ec.Stop())
        esper.process(1.0)
        events = [event for event in space.collisions if body in (event.first, event.second)]

        if hit is None:
            assert events == []
        elif not hit.depth:  # what starts inside several bodies is answered where it closes
            n_hits += 1
            assert (events[0].other(body), events[0].time) == (hit.entity, hit.time)
            assert events[0].normal_for(body) == hit.normal
            assert position(body) == hit.centre
        esper.delete_entity(body, immediate=True)
        esper.process(0)
    assert 5 < n_hits < 30


@pytest.mark.parametrize("turned", [False, True])
def test_a_gap_too_small_to_count_is_none_for_all(turned):
    # The sweep takes a gap below 1e-200 for none: both are hits at time 0.
    made = [(1, (9e-201, 0), (1, 1)), (2, (-1, -0.25), (1, 0.25))]
    tree = ec.AABBTree()
    for id, low, high in reversed(made) if turned else made:
        tree.insert(id, low, high)

    hit = tree.cast_box((-0.5, 0), (0.5, 0.5), (2e-200, 0))

    assert (hit.id, hit.time, hit.depth) == (1, 0.0, 0.0)
    assert tree.cast_box((-0.5, 0), (0.5, 0.5), (2e-200, 0), exclude=1).depth == 0.75


def test_of_bodies_met_at_once_the_lowest_is_told():
    made = [box((10, y), (1, 1)) for y in (4, 0, -4)]
    made.append(mover((10, 0), (1, 1), (0, 0), ec.Sensor()))
    space = ec.install()
    esper.process(0)

    assert space.cast_box((0, 0), (1, 9), (20, 0)).entity == min(made)
    assert [hit.entity for hit in space.nearest((10, 20), 9)] == [
        made[0],
        made[1],
        made[3],
        made[2],
    ]
    assert [hit.entity for hit in space.ray_hits((10, 9), (0, -20))] == [
        made[0], made[1], made[3], made[2],
    ]  # fmt: skip


# Nearest ---------------------------------------------------------------------------------


def test_nearest_bodies_come_in_order_of_their_distance():
    near, far = box((10, 0), (1, 1)), box((0, 20), (1, 1))
    around = box((0, 0), (2, 2))
    space = ec.install()
    esper.process(0)

    hits = space.nearest((1, 1), k=5)

    assert hits == [
        (around, 0.0, (1, 1)),
        (near, 8.0, (9, 1)),
        (far, 18.0, (1, 19)),
    ]
    assert [hit.entity for hit in space.nearest((1, 1))] == [around]
    assert [hit.id for hit in space.nearest((1, 1), 3, within=8)] == [around, near]
    assert space.nearest((6, 5), exclude=around) == [(near, 5.0, (9, 1))]


def test_nearest_in_an_empty_space_is_nothing():
    space = ec.install()
    esper.process(0)

    assert space.nearest((0, 0), 3) == []
    assert space.nearest_many([(0, 0)], 2).ids.tolist() == [[-1, -1]]
    assert space.cast_box((0, 0), (1, 1), (5, 0)) is None
    assert space.ray_hits((0, 0), (1, 0)) == []
    assert space.query_many([(0, 0)], [(1, 1)]).offsets.tolist() == [0, 0]


# Bodies that rest and bodies that move are asked as one ------------------------------------


@pytest.mark.parametrize("dim", [2, 3])
def test_queries_see_all_bodies_where_the_step_left_them(dim):
    rng = np.random.default_rng(dim)
    for i in range(60):
        centre, half = rng.integers(-30, 30, dim) / 2, rng.integers(0, 5, dim) / 2
        if i % 2:
            box(centre, half)
        else:
            mover(centre, half, rng.integers(-40, 40, dim), ec.Sensor())
    space = ec.install(dim=dim)
    for _ in range(3):
        esper.process(0.25)
    twin = ec.AABBTree(dim)
    for entity in space.entities:
        twin.insert(entity, *space.bounds(entity))
    exclude = space.entities[::7]
    points, ways = rng.integers(-30, 30, (2, 40, dim)) / 2
    each = rng.choice(space.entities, 40)
    half = (0.5,) * dim

    skip = {"exclude": exclude, "exclude_each": each}
    for ask, arguments in (
        ("cast_boxes", (points, half, ways)),
        ("cast_rays", (points, ways)),
        ("nearest_many", (points, 4)),
    ):
        answer = getattr(space, ask)(*arguments, **skip)
        for mine, expected in zip(answer, getattr(twin, ask)(*arguments, **skip), strict=True):
            np.testing.assert_array_equal(mine, expected)
    for mine, expected in zip(
        space.query_many(points, points + 1.0), twin.query_many(points, points + 1.0), strict=True
    ):
        np.testing.assert_array_equal(mine, expected)
    for point, way in zip(points, ways, strict=True):
        hits, expected = space.ray_hits(point, way), twin.ray_hits(point, way)
        assert [(h.entity, h.time, h.point) for h in hits] == [h[:3] for h in expected]
        assert space.cast_ray(point, way) == (hits[0] if hits else None)
        assert space.cast_box(point, half, way) == twin.cast_box(point, half, way)
        assert space.nearest(point, 3) == twin.nearest(point, 3)


# Who is left out -------------------------------------------------------------------------


@pytest.fixture
def row():
    """Return five bodies in a row and their space: the second and fourth enemies, two solid."""
    tags = [(), (Enemy(), Solid()), (Solid(),), (Enemy(),), ()]
    made = [box((10 * i + 10, 0), (1, 1), *tag) for i, tag in enumerate(tags)]
    space = ec.install()
    esper.process(0)
    return made, space


def asked(space, **options):
    """Return whom each question finds first, with these options."""
    firsts = [
        space.cast_ray((0, 0), (100, 0), **options),
        (space.ray_hits((0, 0), (100, 0), **options) or [None])[0],
        space.cast_box((0, 0), (1, 1), (100, 0), **options),
        (space.nearest((0, 0), **options) or [None])[0],
    ]
    found = [hit and hit[0] for hit in firsts]
    for entities in (
        space.query((0, -1), (100, 1), **options),
        [e for x in range(10, 60, 10) for e in space.query_point((x, 0), **options)],
    ):
        found.append(entities[0] if entities else None)
    assert len(set(found)) == 1, found
    return found[0]


def test_queries_exclude_what_they_are_given(row):
    made, space = row

    assert asked(space) == made[0]
    assert asked(space, exclude=made[0]) == made[1]
    assert asked(space, exclude=[made[1], made[0]]) == made[2]
    assert asked(space, exclude=set(made[:4])) == made[4]
    assert asked(space, exclude=np.array(made[:2])) == made[2]
    assert asked(space, exclude=made) is None
    assert asked(space, exclude=[]) == asked(space, exclude=10**9) == made[0]  # no body: nobody
    assert asked(space) == made[0]  # and nobody is left out the next time
    regions = space.query_many([(0, 0), (35, 0)], (100, 0), exclude=made[:2])
    assert (regions.offsets.tolist(), regions.ids.tolist()) == ([0, 3, 5], [*made[2:], *made[3:]])
    assert asked(space) == made[0]


def test_a_row_leaves_out_its_own_body_and_only_that_row_does(row):
    made, space = row
    centres = [(10 * i + 10, 0) for i in range(5)]

    casts = space.cast_boxes(centres, (1, 1), (-100, 0), exclude_each=made)
    assert casts.ids.tolist() == [-1, *made[:4]]
    rays = space.cast_rays(centres, (-100, 0), exclude_each=made)
    assert rays.ids.tolist() == [-1, *made[:4]]
    assert rays.times[0] == math.inf
    assert np.isnan([*rays.points[0], *rays.normals[0]]).all()
    rays = space.cast_rays(centres, (-100, 0), exclude=made[:3], exclude_each=[-1, *made[1:]])
    assert rays.ids.tolist() == [-1, -1, -1, -1, made[3]]
    space.cast_boxes((0, 0), (1, 1), (100, 0), exclude_each=made[:1])
    assert asked(space) == made[0]
    near = space.nearest_many(centres, exclude_each=np.array([-1, *made[1:]]))
    assert near.ids[:, 0].tolist() == [made[0], made[0], made[1], made[2], made[3]]
    space.nearest_many([(0, 0)], exclude_each=made[:1])
    assert asked(space) == made[0]


def test_a_filter_is_a_component_some_components_or_a_function(row):
    made, space = row

    assert asked(space, filter=Enemy) == made[1]
    assert asked(space, filter=Solid, exclude=made[1]) == made[2]
    assert asked(space, filter=(Enemy, Solid)) == made[1]
    assert asked(space, filter=(Enemy, Solid), exclude=made[1]) == made[2]
    both = lambda entity: esper.has_components(entity, Enemy, Solid)  # noqa: E731
    assert asked(space, filter=both) == made[1]
    assert asked(space, filter=both, exclude=made[1]) is None
    assert asked(space, filter=ec.Velocity) is None
    assert asked(space, filter=lambda entity: entity == made[4]) == made[4]
    assert asked(space, filter=lambda entity: entity > made[0], exclude=made[1]) == made[2]


def test_a_filter_is_asked_from_the_first_hit_on_and_no_longer_than_needed():
    made = [box((2 * i, 0), (0.5, 0.5)) for i in range(100)]
    space = ec.install()
    esper.process(0)
    seen = []

    def is_late(entity):
        seen.append(entity)
        return entity >= made[30]

    assert space.cast_box((-5, 0), (1, 1), (500, 0), filter=is_late).entity == made[30]
    assert seen == made[:31]
    seen.clear()
    assert [hit.id for hit in space.nearest((-5, 0), 3, filter=is_late)] == made[30:33]
    assert seen == made[:33]
    seen.clear()
    assert [hit.entity for hit in space.ray_hits((-5, 0), (500, 0), filter=is_late)] == made[30:]
    assert seen == made


def test_a_filter_may_ask_the_space_and_delete_entities(row):
    made, space = row

    def is_in_sight(entity):
        return space.cast_ray((0, 0), (100, 0), filter=Enemy).entity == entity

    assert asked(space, filter=is_in_sight) == made[1]
    esper.delete_entity(made[1], immediate=True)
    assert asked(space) == made[0]
    assert asked(space, filter=Enemy) == made[3]  # one that is gone has no components

    def process(entity):
        esper.process(1 / 60)
        return entity == made[3]

    assert space.nearest((0, 0), 1, filter=process)[0].entity == made[3]


@pytest.mark.parametrize("solid", [False, True])
def test_a_filter_that_makes_bodies_and_steps_is_offered_them_where_they_are(solid):
    space = ec.install()
    old = [box((10.0 * n, 0), (1, 1)) for n in range(20)]
    esper.process(0)
    made: list[int] = []
    seen: list[int] = []

    def is_made(entity):
        if not made:
            made.extend(box((1000.0 + n, 0), (0.25, 0.25)) for n in range(300))
            esper.process(0)
        seen.append(entity)
        return entity in made

    found = space.nearest((0, 0), 1, filter=is_made, solid=solid)

    assert [hit.entity for hit in found] == made[:1]
    assert found[0].distance == 999.75
    assert seen == [*old, made[0]]


def test_an_error_in_a_filter_comes_out(row):
    _, space = row

    with pytest.raises(ZeroDivisionError):
        space.nearest((0, 0), filter=lambda entity: 1 / 0)


@pytest.mark.parametrize("name", ["query", "cast_ray", "cast_box", "nearest"])
def test_what_is_no_filter_and_nobody_to_exclude_is_refused(row, name):
    _, space = row
    arguments = {"cast_box": ((0, 0), (1, 1), (5, 0)), "nearest": ((0, 0),)}
    ask, given = getattr(space, name), arguments.get(name, ((0, 0), (5, 5)))

    for wrong in ("Enemy", 5, (), (Enemy, "Solid"), Enemy()):
        with pytest.raises(TypeError, match="must be a component type"):
            ask(*given, filter=wrong)
    for wrong in ("me", [1.5], 2.5):
        with pytest.raises(TypeError, match="must be an id, or several"):
            ask(*given, exclude=wrong)


def test_components_of_another_world_are_not_looked_at(row):
    _, space = row
    with another_world("another"):
        with pytest.raises(RuntimeError, match="current"):
            space.nearest((0, 0), filter=Enemy)
        assert space.nearest((0, 0)) != []


# What goes in ----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [ec.AABBTree, ec.Space])
def test_queries_that_make_no_sense_are_refused(make):
    asked = make()

    for bad in ((1, 2, 3), (1, None), "ab", (math.nan, 0.0), (10**400, 0), 5):
        for call in (
            lambda bad=bad: asked.nearest(bad),
            lambda bad=bad: asked.cast_box(bad, (1, 1), (1, 1)),
            lambda bad=bad: asked.cast_box((1, 1), (1, 1), bad),
            lambda bad=bad: asked.ray_hits((1, 1), bad),
        ):
            with pytest.raises(ValueError, match="must"):
                call()
    with pytest.raises(ValueError, match=r"half=\(1.0, -1.0\) must be >= 0"):
        asked.cast_box((0, 0), (1, -1), (1, 1))
    with pytest.raises(ValueError, match=r"halves\[1\].* must be >= 0"):
        asked.cast_boxes((0, 0), [(1, 1), (-1, 1)], (1, 1))
    with pytest.raises(ValueError, match=r"mins\[1\].* must not be above"):
        asked.query_many([(0, 0), (0, 5)], [(1, 1), (1, 1)])
    with pytest.raises(ValueError, match="must have 2 axes in this"):
        asked.nearest_many([(0, 0, 0)])
    with pytest.raises(ValueError, match="for each of the 2 rows; got 1"):
        asked.nearest_many([(0, 0), (1, 1)], exclude_each=[5])
    with pytest.raises(ValueError, match="for each of the 2 rows; got 1"):
        asked.cast_rays([(0, 0), (1, 1)], (1, 1), exclude_each=[5])
    with pytest.raises(ValueError, match="ids, one for each row"):
        asked.cast_boxes((0, 0), (1, 1), (1, 1), exclude_each=[1.5])
    for k in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            asked.nearest((0, 0), k)
    with pytest.raises(TypeError, match="whole number"):
        asked.nearest((0, 0), 1.5)
    for within in (-1.0, math.nan, "far"):
        with pytest.raises(ValueError, match="distance in world units"):
            asked.nearest((0, 0), within=within)


def test_vectors_of_all_sorts_are_the_same_question(row):
    made, space = row

    for half in ((1, 1), [1.0, 1], np.array([1, 1]), (np.float64(1), True)):
        assert space.cast_box(half, half, [100, 0]).entity == made[0]
        assert space.nearest(half)[0].entity == made[0]
    one = space.cast_boxes((0, 0), (1, 1), [(100, 0), (-1, 0), (0, 0)])
    assert one.ids.tolist() == [made[0], -1, -1]
    assert one.times.tolist() == [0.08, math.inf, math.inf]
    none = space.cast_boxes(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 2)))
    assert none.centres.shape == (0, 2)
    assert space.nearest_many([], 3).points.shape == (0, 3, 2)
    assert space.query_many([], []).ids.tolist() == []


def test_a_query_that_is_cut_short_leaves_nobody_out_of_the_next():
    space = ec.install()
    near, far = box((5, 0), (1, 1)), box((10, 0), (1, 1))
    esper.process(1.0)

    search = space._queries._queried.search
    boxes = space._queries._queried.boxes
    row = space._queries._queried.row(near)
    with pytest.raises(TypeError):
        search.search((QueryKind.RAY, ((0.0, 0.0), (20.0, 0.0)), 1, 1.0), (row, "no row"), boxes)

    hit = space.cast_ray((0, 0), (20, 0), exclude=far)

    assert hit.entity == near
