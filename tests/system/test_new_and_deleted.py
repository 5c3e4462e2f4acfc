"""What a space answers about entities that came or went since the last step."""

from __future__ import annotations

import math
import random
from decimal import Decimal

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import another_world, box, mover, of, position

pytestmark = pytest.mark.usefixtures("world", "implementation")

EVERYWHERE = (-1000.0, -1000.0), (1000.0, 1000.0)


class Enemy:
    """A component of the game."""


def delete(entity, immediate):
    esper.delete_entity(entity, immediate=immediate)


def everything_found(space, *, filter=None):
    """Return the bodies that each kind of query finds, in a row of boxes on the x axis."""
    low, high = EVERYWHERE if space.dim == 2 else ((-1000.0,) * 3, (1000.0,) * 3)
    far, start = (2000.0, 0.0, 0.0)[: space.dim], (-1000.0, 0.0, 0.0)[: space.dim]
    if space.wrap is not None:
        far, start = (99.0, 0.0), (0.0, 50.0)
    half = (0.5, 0.5, 0.5)[: space.dim]
    n = 100
    found = {
        "query": space.query(low, high, filter=filter),
        "ray_hits": sorted(hit.entity for hit in space.ray_hits(start, far, filter=filter)),
        "nearest": sorted(hit.entity for hit in space.nearest(start, n, filter=filter)),
    }
    first = {
        "cast_ray": space.cast_ray(start, far, filter=filter),
        "cast_box": space.cast_box(start, half, far, filter=filter),
        "nearest": (space.nearest(start, filter=filter) or [None])[0],
    }
    if filter is None:
        found["query_many"] = sorted(space.query_many([low], [high]).ids.tolist())
        found["nearest_many"] = sorted(e for e in space.nearest_many([start], n).ids[0] if e >= 0)
        in_bulk = {
            "cast_rays": space.cast_rays([start], [far]).ids[0],
            "cast_boxes": space.cast_boxes([start], half, [far]).ids[0],
            "nearest_many": space.nearest_many([start]).ids[0, 0],
        }
        first |= {
            name: None if e < 0 else ec.RayHit(int(e), 0.0, (), ()) for name, e in in_bulk.items()
        }
    return found, {name: hit and hit.entity for name, hit in first.items()}


def require_found(space, alive, *, filter=None):
    """Require that queries find exactly these of a row of boxes, the first of them first."""
    found, first = everything_found(space, filter=filter)
    for name, entities in found.items():
        assert entities == sorted(alive), name
    for name, entity in first.items():
        assert entity == (alive[0] if alive else None), name


# -- entities that are new --


@pytest.mark.parametrize("is_first_step_done", [False, True])
@pytest.mark.parametrize("motion", ["velocity", "swept"])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_new_body_is_read_from_its_components(dim, motion, is_first_step_done):
    space = ec.install(ec.Space(dim=dim, motion=motion), dim=dim)
    ground = box((0, -5, 0)[:dim], (50, 1, 50)[:dim])
    if is_first_step_done:
        esper.process(0.0)
    at, half, speed = (1.0, 2.0, 3.0)[:dim], (1.0, 0.5, 0.25)[:dim], (4.0, 5.0, 6.0)[:dim]
    new = mover(at, half, speed, ec.Slide())

    assert space.is_on(new) is None
    assert space.contacts(new) == []
    assert space.carried(new) == (0.0,) * dim
    low = tuple(c - h for c, h in zip(at, half, strict=True))
    high = tuple(c + h for c, h in zip(at, half, strict=True))
    assert space.bounds(new) == (low, high)
    assert np.array_equal(space.boxes([new]), [[low], [high]])
    assert space.positions([new]).tolist() == [list(at)]
    assert space.velocities([new]).tolist() == [list(speed)]
    assert space.position_of(new) == at
    assert space.velocity_of(new) == speed
    assert np.isnan(space.fat_bounds([new])).all()
    assert np.isnan(space.swept_bounds([new])).all()
    assert space.body_kinds([new])[0] == ec.BodyKind.MOVES | ec.BodyKind.DYNAMIC
    assert space.may_meet(new, ground)
    assert space.drop_through(new) is False
    assert space.drop_through(new, ground) is False
    assert new not in space.query((-99.0,) * dim, (99.0,) * dim)  # as of the last step


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ((), ec.BodyKind.STATIC),
        ((ec.Slide(),), ec.BodyKind.STATIC),
        ((ec.Velocity(0, 0),), ec.BodyKind.MOVES),
        ((ec.Growth(0, 0),), ec.BodyKind.MOVES),
        ((ec.Velocity(0, 0), ec.Slide()), ec.BodyKind.MOVES | ec.BodyKind.DYNAMIC),
        ((ec.Velocity(0, 0), Enemy()), ec.BodyKind.MOVES | ec.BodyKind.DYNAMIC),
        ((ec.Velocity(0, 0), ec.Stop(), ec.Mass(math.inf)), ec.BodyKind.MOVES),
        ((ec.Sensor(),), ec.BodyKind.SENSOR),
        ((ec.OneWay((0, 1)),), ec.BodyKind.ONE_WAY),
    ],
)
@pytest.mark.parametrize("motion", ["velocity", "swept"])
def test_the_kind_of_a_new_body_is_that_of_its_first_step(parts, kind, motion):
    space = ec.install(ec.Space(motion=motion))
    space.respond_with(Enemy, lambda impact: ec.DEFAULT)
    new = box((0, 0), (1, 1), *parts)

    before = space.body_kinds([new])[0]
    esper.process(0.0)

    assert before == space.body_kinds([new])[0]
    if motion == "velocity":
        assert before == kind


@pytest.mark.parametrize("n", [1, 40])
@pytest.mark.parametrize("motion", ["velocity", "swept"])
def test_a_new_body_is_written_to_its_components(motion, n):
    old = [mover((-50, -50 - 5 * i), (1, 1), (0, 0)) for i in range(n)]
    space = ec.install(ec.Space(motion=motion))
    esper.process(0.0)
    new = [mover((0, 0), (1, 1), (0, 0)) for _ in range(n)]
    both = [*old, *new]

    space.set_positions(both, [(9.0 * i, 7.0) for i in range(2 * n)])
    space.set_velocities(both, [(0.0, 1.0 * i) for i in range(2 * n)])

    assert [position(entity) for entity in both] == [(9.0 * i, 7.0) for i in range(2 * n)]
    assert [of(entity, ec.Velocity).y for entity in both] == [1.0 * i for i in range(2 * n)]
    assert space.positions(new).tolist() == [[9.0 * i, 7.0] for i in range(n, 2 * n)]
    assert space.velocities(new).tolist() == [[0.0, 1.0 * i] for i in range(n, 2 * n)]
    assert space.boxes(both)[0][n:].tolist() == [[9.0 * i - 1.0, 6.0] for i in range(n, 2 * n)]
    assert space.body_kinds(both).tolist() == [ec.BodyKind.MOVES] * (2 * n)
    space.teleport(new[0], (-7, -8))
    assert space.bounds(new[0]) == ((-8.0, -9.0), (-6.0, -7.0))
    esper.process(0.0)
    assert position(new[0]) == (-7, -8)
    late, still = mover((0, 0), (1, 1), (0, 0)), box((9, 9), (1, 1))
    space.write_velocity(late, (3, 4))
    assert of(late, ec.Velocity).xy == (3, 4)
    with pytest.raises(ValueError, match=f"entity {still} has no Velocity to set"):
        space.write_velocity(still, (3, 4))
    space.check()


def test_a_new_body_of_a_world_that_wraps_is_in_the_world():
    space = ec.install(wrap=(100, None))
    new = box((130, 5), (1, 1))

    assert space.positions([new]).tolist() == [[30.0, 5.0]]
    assert space.bounds(new) == ((29.0, 4.0), (31.0, 6.0))
    esper.process(0.0)
    assert space.bounds(new) == ((29.0, 4.0), (31.0, 6.0))


def test_a_new_body_with_corners_and_whole_sizes_is_read_and_written_by_its_centre():
    class Place:
        def __init__(self, x, y):
            self.x, self.y = x, y

    class Size(Place):
        pass

    own = ec.Components(position=Place, extents=Size, anchor=(0, 0), whole_sizes=True)
    space = ec.install(components=own)
    new = esper.create_entity(Place(10, 20), Size(4, 6))

    assert space.bounds(new) == ((10.0, 20.0), (14.0, 26.0))
    space.set_positions([new], [(0, 0)])
    assert (of(new, Place).x, of(new, Place).y) == (-2.0, -3.0)
    esper.process(0.0)
    of(new, Size).x = 8
    space.set_positions([new], [(0, 0)])
    assert of(new, Place).x == -4.0  # of the size that it has now


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ((), "it has no Position and no Extents"),
        ((ec.Position(0, 0),), "it has no Extents"),
        ((ec.Extents(0, 0), ec.Slide()), "it has no Position"),
    ],
)
def test_what_is_no_body_is_refused_with_the_reason(parts, why):
    space = ec.install()
    ground = box((0, 0), (1, 1))
    entity = esper.create_entity(*parts, Enemy())

    for call in (
        space.bounds, space.contacts, space.is_on, space.carried, space.drop_through,
        space.position_of,
        lambda entity: space.teleport(entity, (0, 0)),
        lambda entity: space.positions([entity]),
        lambda entity: space.positions([entity] * 50),
        lambda entity: space.set_velocities([entity], [(0, 0)]),
        lambda entity: space.may_meet(entity, ground),
    ):  # fmt: skip
        with pytest.raises(KeyError, match=f"entity {entity} is no body of this space, {why}: a"):
            call(entity)
        with pytest.raises(KeyError, match="entity 99 is no body of this space, it does not exist"):
            call(99)
    with pytest.raises(KeyError, match="entity 1 is no body of this space"):
        ec.Space().bounds(1)


def test_a_new_body_whose_numbers_are_none_is_named():
    space = ec.install()
    new = box((0, 0), (1, 1))
    of(new, ec.Position).x = Decimal("2.5")
    assert space.bounds(new) == ((1.5, -1.0), (3.5, 1.0))

    of(new, ec.Position).x = "here"
    with pytest.raises(TypeError, match=f"entity {new}: Position.x is 'here'"):
        space.bounds(new)
    del of(new, ec.Position).x
    with pytest.raises(AttributeError, match=f"entity {new}: Position.x is missing"):
        space.positions([new])


def test_a_body_that_a_failed_step_has_not_read_is_read_from_its_components():
    sick = box((0, 0), (1, 1))
    space = ec.install()
    esper.process(0.0)
    of(sick, ec.Position).x = "here"
    new = [box((10 * i, 5), (1, 2)) for i in range(20)]
    with pytest.raises(TypeError, match=r"Position\.x is 'here'"):
        esper.process(0.0)

    assert space.bounds(new[3]) == ((29.0, 3.0), (31.0, 7.0))
    assert space.positions(new).tolist() == [[10.0 * i, 5.0] for i in range(20)]


# -- components that are new --


def test_numbers_are_written_to_the_component_that_a_body_has_now():
    crate, still = mover((0, 0), (1, 1), (1, 0)), box((9, 9), (1, 1))
    space = ec.install()
    esper.process(0.0)
    esper.add_component(crate, ec.Position(5, 5))
    esper.add_component(crate, ec.Velocity(2, 2))
    esper.add_component(still, ec.Velocity(3, 3))

    space.set_positions([crate], [(7, 7)])
    space.set_velocities([crate, still], [(8, 8), (4, 4)])

    assert position(crate) == (7, 7)
    assert of(crate, ec.Velocity).xy == (8, 8)
    assert of(still, ec.Velocity).xy == (4, 4)
    esper.remove_component(still, ec.Velocity)
    with pytest.raises(ValueError, match=f"entity {still} has no Velocity to set"):
        space.set_velocities([still], [(4, 4)])


# -- entities that are gone --


@pytest.fixture(params=["plane", "space", "ring"])
def row(request):
    """Return a row of boxes on the x axis, the nearer the lower their id, and their space."""
    made, y = [], 50.0 if request.param == "ring" else 0.0
    third = (0.0,) if request.param == "space" else ()
    for i in range(12):
        parts = (ec.Velocity(0, 0),) if i % 2 else ()
        at = 5.0 + 6.0 * i
        made.append(box((at, y, *third), (1, 1, *third), Enemy(), *parts))
    space = {
        "plane": lambda: ec.install(),
        "space": lambda: ec.install(dim=3),
        "ring": lambda: ec.install(wrap=(200, 200)),
    }[request.param]()
    esper.process(0.0)
    return made, space


@pytest.mark.parametrize("immediate", [True, False])
@pytest.mark.parametrize("filter", [None, Enemy, lambda entity: esper.has_component(entity, Enemy)])
def test_no_query_returns_an_entity_that_was_deleted(row, immediate, filter):
    made, space = row
    require_found(space, made, filter=filter)

    for gone in (made[0], made[1], made[7], made[11]):
        delete(gone, immediate)
        made.remove(gone)
        require_found(space, made, filter=filter)
    esper.create_entity(Enemy())
    require_found(space, made, filter=filter)
    while made:
        delete(made.pop(0), immediate)
        require_found(space, made, filter=filter)
    esper.process(0.0)
    require_found(space, made, filter=filter)
    space.check()


@pytest.mark.parametrize("immediate", [True, False])
def test_excluding_goes_on_beside_deleted_entities(row, immediate):
    made, space = row
    y = (50.0,) if space.wrap else (0.0, 0.0)[: space.dim - 1]
    delete(made[0], immediate)
    delete(made[1], immediate)

    start, far = (0.0, *y), (99.0, *(0.0 for _ in y))
    assert space.cast_ray(start, far, exclude=made[2]).entity == made[3]
    assert space.nearest(start, exclude=made[2:4])[0].entity == made[4]
    assert (
        space.cast_rays([start] * 2, far, exclude_each=[made[2], -1]).ids.tolist() == made[3:1:-1]
    )
    assert space.cast_boxes([start] * 2, (0.5,) * space.dim, far, exclude=made[2]).ids[0] == made[3]
    assert made[2] not in space.query((0.0,) * space.dim, (99.0,) * space.dim, exclude=made[2])


def test_what_was_known_to_be_gone_is_forgotten_with_the_step():
    made = [box((3 * i, 0), (1, 1)) for i in range(6)]
    space = ec.install()
    esper.process(0.0)
    delete(made[2], True)
    assert space.query_many([(-9, -9)], [(99, 9)]).ids.tolist() == [*made[:2], *made[3:]]
    new = box((6, 0), (1, 1))
    assert space.query_many([(-9, -9)], [(99, 9)]).ids.tolist() == [*made[:2], *made[3:]]
    esper.process(0.0)  # the new body may have got the row of the deleted one

    space.respond_with(Enemy, lambda impact: None)  # all bodies are to be looked at again

    assert space.query_many([(-9, -9)], [(99, 9)]).ids.tolist() == [*made[:2], *made[3:], new]
    assert space.cast_rays([(6, 9)], (0, -9)).ids.tolist() == [new]


@pytest.mark.parametrize("immediate", [True, False])
def test_nobody_stands_on_ground_that_was_deleted(immediate):
    ground, other = box((0, -5), (3, 5)), box((4, -5), (1, 5))
    hero = mover((3, 1), (1, 1), (0, -1), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    assert space.is_on(hero).other(hero) == ground

    delete(ground, immediate)

    assert space.is_on(hero).other(hero) == other
    delete(other, immediate)
    assert space.is_on(hero) is None
    assert space.contacts(hero) == []  # the next step says that they have ended
    esper.process(1.0)
    assert len(space.contacts_ended) == 2
    assert space.contacts(hero) == []


@pytest.mark.parametrize("immediate", [True, False])
def test_a_deleted_body_may_be_asked_about_until_the_next_step(immediate):
    ground, hero = box((0, -5), (3, 5)), mover((0, 1), (1, 1), (0, -1), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    delete(hero, immediate)

    assert space.bounds(hero) == ((-1.0, 0.0), (1.0, 2.0))
    assert space.contacts(hero) == []
    space.set_velocities([hero], [(3, 3)])
    space.teleport(hero, (5, 5))
    esper.process(1.0)
    for ask in (space.bounds, space.contacts, space.is_on, space.position_of):
        with pytest.raises(KeyError, match=f"entity {hero} is no body"):
            ask(hero)
    assert space.entities == [ground]


def test_an_entity_that_only_lost_components_is_found_as_of_the_last_step():
    made = [box((3 * i, 0), (1, 1), Enemy()) for i in range(3)]
    space = ec.install()
    esper.process(0.0)
    esper.remove_component(made[0], ec.Position)
    esper.remove_component(made[1], ec.Extents)
    esper.add_component(made[2], ec.Position(50, 50))

    assert space.query((-9, -9), (9, 9)) == made
    assert space.query_many([(-9, -9)], [(9, 9)]).ids.tolist() == made


# -- ids that were used again --


@pytest.mark.parametrize("n", [3, 40])
def test_an_id_that_was_used_again_is_a_new_body(n):
    old = [mover((3 * i, 0), (1, 1), (1, 0)) for i in range(n)]
    space = ec.install(ec.Space(motion="velocity"))
    esper.process(0.0)
    esper.clear_database()
    new = [mover((3 * i, 90), (1, 1), (2, 0), ec.Slide()) for i in range(n)]
    assert new == old  # the trap

    assert space.query((-999, -9), (999, 9)) == []
    assert space.query((-999, 80), (999, 99)) == []
    assert space.cast_rays([(0, 9)], (0, -20)).ids.tolist() == [-1]
    assert space.positions(new).tolist() == [[3.0 * i, 90.0] for i in range(n)]
    assert space.bounds(new[1]) == ((2.0, 89.0), (4.0, 91.0))
    assert space.contacts(new[0]) == []
    space.set_velocities(new, [(7, 0)] * n)
    assert [of(entity, ec.Velocity).x for entity in new] == [7.0] * n
    space.teleport(new[0], (-5, 90))
    assert position(new[0]) == (-5, 90)
    assert space.body_kinds(new).tolist() == [3] * n
    esper.process(0.0)
    assert space.query((-999, 80), (999, 99)) == new
    space.check()


# -- other worlds, other espers --


@pytest.mark.parametrize("immediate", [True, False])
def test_a_query_from_another_world_finds_nobody_who_was_deleted(world, elsewhere, immediate):
    made = [box((3 * i, 0), (1, 1)) for i in range(4)]
    space = ec.install()
    esper.process(0.0)
    delete(made[0], immediate)
    new = box((9, 9), (1, 1))
    elsewhere()
    box((0, 0), (1, 1))

    assert space.query((-9, -9), (99, 9)) == made[1:]
    assert space.query_many([(-9, -9)], [(99, 9)]).ids.tolist() == made[1:]
    assert space.bounds(new) == ((8.0, 8.0), (10.0, 10.0))
    space.set_positions([made[2], new], [(70, 70), (80, 80)])
    for _ in range(20):
        assert space.nearest((0, 0))[0].entity == made[1]
    esper.switch_world(world)
    assert position(made[2]) == (70, 70)
    assert position(new) == (80, 80)


def test_nobody_is_found_in_a_world_that_was_deleted(world):
    with another_world(f"{world}, doomed"):
        box((0, 0), (1, 1))
        space = ec.install()
        esper.process(0.0)
        assert len(space.query((-9, -9), (9, 9))) == 1

    assert space.query((-9, -9), (9, 9)) == []


@pytest.mark.parametrize("immediate", [True, False])
def test_an_esper_that_keeps_its_entities_elsewhere_is_asked(row, immediate, monkeypatch):
    made, space = row

    class Mapping(dict):
        """What a later esper might keep its entities in."""

    monkeypatch.setattr(esper, "_entities", Mapping(esper._entities))
    esper.clear_cache()
    delete(made[0], immediate)
    new = box((500, 500, 0)[: space.dim], (1, 1, 1)[: space.dim])

    require_found(space, made[1:])
    assert space.bounds(new)[0][0] == (99.0 if space.wrap else 499.0)


# -- all at once --


@pytest.mark.parametrize("seed", range(6))
def test_queries_find_the_living_bodies_of_the_last_step_whatever_came_and_went(seed):
    rng = random.Random(seed)
    space = ec.install()
    made, seen, n_checked = [], [], 0

    def create():
        parts = rng.choice([(), (ec.Velocity(0, 0), ec.Sensor())])
        made.append(box((rng.uniform(0, 100), rng.uniform(0, 100)), (2, 2), *parts))

    for _ in range(40):
        create()
    for _ in range(400):
        deed = rng.random()
        if deed < 0.15:
            create()
        elif deed < 0.3 and made:
            delete(made.pop(rng.randrange(len(made))), rng.random() < 0.5)
        elif deed < 0.35:
            esper.process(0.0)
            seen = sorted(made)
            space.check()
        elif deed < 0.36:
            esper.clear_database()
            made.clear()
            seen = []
        elif deed < 0.38:
            space.filter_pairs(lambda first, second: True, Enemy)()
        alive = sorted(set(seen) & set(made))
        if deed < 0.7:
            assert space.query(*EVERYWHERE) == alive
            x = rng.uniform(0, 90)
            region = [e for e in alive if x - 2 <= of(e, ec.Position).x <= x + 12]
            assert space.query((x, -9), (x + 10, 109)) == region
            n_checked += 1
        if deed < 0.4:
            assert sorted(space.query_many([(-9, -9)], [(199, 199)]).ids.tolist()) == alive
            assert len(space.nearest((50, 50), 100)) == len(alive)
        for entity in made:
            assert space.positions([entity])[0].tolist() == list(of(entity, ec.Position).xy)
    assert n_checked > 100
