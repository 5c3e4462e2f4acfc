"""Queries about the present, after `Space.update`, and the filters that all queries take."""

from __future__ import annotations

import random
from contextlib import suppress

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.queries.present import PresentBodies
from tests.scenes import box, enter_new_world, mover, of

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 60


class Enemy:
    """A component of the game."""


def set_position(entity, *place):
    of(entity, ec.Position).set(*place)


def found_at(space, point):
    return space.query_point(point)


def test_a_body_that_was_moved_is_found_where_it_is_after_update():
    space = ec.install()
    wall = box((0, 0), (1, 1))
    esper.process(DT)

    set_position(wall, 50, 0)

    assert found_at(space, (0, 0)) == [wall]
    space.update()
    assert found_at(space, (0, 0)) == []
    assert found_at(space, (50, 0)) == [wall]
    assert space.cast_ray((40, 0), (20, 0)).time == 0.45
    assert space.bounds(wall) == ((49, -1), (51, 1))


def test_the_next_step_ends_what_update_has_read():
    space = ec.install()
    ball = mover((0, 0), (1, 1), (60, 0))
    space.update()

    esper.process(1.0)

    assert found_at(space, (0, 0)) == []
    assert found_at(space, (60, 0)) == [ball]


def test_restoring_a_snapshot_ends_what_update_has_read():
    space = ec.install()
    wall = box((0, 0), (1, 1))
    esper.process(DT)
    saved = space.snapshot()
    set_position(wall, 50, 0)
    space.update()

    space.restore(saved)

    assert found_at(space, (50, 0)) == []
    assert found_at(space, (0, 0)) == [wall]


@pytest.mark.parametrize("wrap", [None, (40.0, None)])
def test_update_changes_nothing_about_the_steps_to_come(wrap):
    hashes = []
    for updates in (False, True):
        enter_new_world()
        rng = random.Random(5)
        space = ec.install(wrap=wrap)
        bodies = [
            mover(
                (rng.uniform(0, 40), rng.uniform(0, 40)),
                (1, 1),
                (rng.uniform(-90, 90), rng.uniform(-90, 90)),
                ec.Deflect(0.5) if n % 2 else ec.Slide(),
            )
            for n in range(30)
        ]
        run = []
        for _ in range(40):
            esper.process(DT)
            some = rng.choice(bodies)
            set_position(some, rng.uniform(0, 40), rng.uniform(0, 40))
            bodies.append(box((rng.uniform(0, 40), rng.uniform(0, 40)), (0.5, 0.5)))
            if updates:
                space.update()
                space.query((0, 0), (40, 40))
            run.append(space.state_hash())
        space.check()
        hashes.append(run)

    assert hashes[0] == hashes[1]


def test_update_within_a_step_is_refused():
    space = ec.install()
    mover((0, 0), (1, 1), (60, 0), Enemy())
    box((5, 0), (1, 1))
    refusals = []

    def respond(impact):
        for call in (
            space.update,
            lambda: space.move(impact.first, (1, 0)),
            lambda: space.check_move(impact.first, (1, 0)),
        ):
            try:
                call()
            except RuntimeError as error:
                refusals.append(str(error))

    space.respond_with(Enemy, respond)
    esper.process(1.0)

    assert [text.split(" was called within a step")[0] for text in refusals] == [
        "update()",
        "move()",
        "check_move()",
    ]


def test_update_names_the_component_that_holds_no_number():
    space = ec.install()
    wall = box((0, 0), (1, 1))
    esper.process(DT)

    of(wall, ec.Position).x = "far"

    with pytest.raises(TypeError, match=f"entity {wall}.*Position.*far"):
        space.update()
    assert found_at(space, (0, 0)) == [wall]


# Filters ------------------------------------------------------------------------------------


def scene_of_categories():
    """Return a space, and boxes on the x axis: a wall, an enemy, a pickup, a sensor."""
    space = ec.install()
    wall = box((10, 0), (1, 1), ec.Filter(categories=2))
    enemy = box((20, 0), (1, 1), ec.Filter(categories=4), Enemy())
    ghost = box((30, 0), (1, 1), ec.Filter(categories=8, mask=16))
    zone = box((5, 0), (1, 1), ec.Sensor())
    esper.process(DT)
    return space, wall, enemy, ghost, zone


def all_results(space, **how):
    """Return what each query finds on the x axis, as entities; the single ones first."""
    low, high = (0, -1), (100, 1)
    ray, half = ((0, 0), (100, 0)), (0.5, 0.5)
    first_of = {
        "cast_ray": space.cast_ray(*ray, **how),
        "cast_box": space.cast_box((0, 0), half, (100, 0), **how),
    }
    single = {
        "query": space.query(low, high, **how),
        "ray_hits": sorted(hit.entity for hit in space.ray_hits(*ray, **how)),
        "box_hits": sorted(hit.entity for hit in space.box_hits((0, 0), half, (100, 0), **how)),
        "nearest": sorted(hit.entity for hit in space.nearest((0, 0), 9, **how)),
        "near box": sorted(hit.entity for hit in space.nearest_to_box((0, 0), (1, 1), 9, **how)),
        "query_many": space.query_many([low], [high], **how).ids.tolist(),
        "nearest_many": sorted(
            e for e in space.nearest_many([(0, 0)], 9, **how).ids[0].tolist() if e >= 0
        ),
    }
    firsts = {name: hit and hit.entity for name, hit in first_of.items()}
    for name, found in (
        ("cast_rays", space.cast_rays([(0, 0)], [(100, 0)], **how).ids[0]),
        ("cast_boxes", space.cast_boxes([(0, 0)], half, [(100, 0)], **how).ids[0]),
    ):
        firsts[name] = None if found < 0 else int(found)
    return single, firsts


@pytest.mark.parametrize("updated", [False, True])
def test_all_queries_filter_by_categories_and_mask(updated):
    space, wall, enemy, ghost, zone = scene_of_categories()
    if updated:
        space.update()

    for how, expected in (
        ({}, [wall, enemy, ghost, zone]),
        ({"solid": True}, [wall, enemy, ghost]),
        ({"filter": ec.Filter(mask=2 | 4)}, [wall, enemy]),
        ({"filter": ec.Filter(categories=16, mask=8)}, [ghost]),
        ({"filter": ec.Filter(mask=8)}, []),  # it does not want to be met by the default category
        ({"filter": Enemy}, [enemy]),
        ({"filter": lambda entity: entity in (wall, zone), "solid": True}, [wall]),
    ):
        single, firsts = all_results(space, **how)
        by_x = [entity for entity in (zone, wall, enemy, ghost) if entity in expected]
        assert set(map(tuple, single.values())) == {tuple(sorted(expected))}, how
        assert set(firsts.values()) == {by_x[0] if by_x else None}, how


def test_filters_in_bulk_agree_with_single_queries_in_random_worlds():
    rng = np.random.default_rng(3)
    space = ec.install()
    for n in range(120):
        parts = [
            ec.Filter(int(rng.integers(1, 16)), int(rng.integers(1, 16)), int(rng.integers(-1, 2)))
        ]
        parts += [ec.Sensor()] * (n % 3 == 0)
        box(tuple(rng.uniform(0, 60, 2)), tuple(rng.uniform(0.5, 3, 2)), *parts)
    esper.process(DT)
    origins, ways = rng.uniform(0, 60, (40, 2)), rng.uniform(-40, 40, (40, 2))

    for how in (
        {"filter": ec.Filter(5, 3)},
        {"filter": ec.Filter(5, 3, 1), "solid": True},
        {"filter": ec.Filter(7, 9, -1)},
    ):
        rays = space.cast_rays(origins, ways, **how).ids.tolist()
        boxes = space.cast_boxes(origins, (1, 1), ways, **how).ids.tolist()
        near = space.nearest_many(origins, 3, **how).ids.tolist()
        for origin, way, ray, hit, some in zip(
            origins.tolist(), ways.tolist(), rays, boxes, near, strict=True
        ):
            one = space.cast_ray(origin, way, **how)
            other = space.cast_box(origin, (1, 1), way, **how)
            assert (one.entity if one else -1) == ray
            assert (other.entity if other else -1) == hit
            assert [each.entity for each in space.nearest(origin, 3, **how)] == some


def test_a_box_meets_the_bodies_on_its_way_in_order():
    space = ec.install()
    far, near, off = box((30, 0), (1, 1)), box((10, 0), (1, 1)), box((20, 9), (1, 1))
    esper.process(DT)

    hits = space.box_hits((0, 0), (1, 1), (100, 0))

    assert [(hit.entity, hit.time) for hit in hits] == [(near, 0.08), (far, 0.28)]
    assert off not in [hit.entity for hit in hits]


def test_distance_to_a_box_is_between_the_nearest_points():
    #
    #   +---+          +---+
    #   | Q |  3 right | A |
    #   +---+ \        +---+
    #          5
    #            \ +---+
    #              | B |   3 right, 4 down
    #              +---+
    #
    space = ec.install()
    right, below = box((6, 1), (1, 1)), box((6, -5), (1, 1))
    inside = box((0.5, 0.5), (0.1, 0.1))
    esper.process(DT)

    found = space.nearest_to_box((0, 0), (2, 2), 3)

    assert [(hit.entity, hit.distance) for hit in found] == [(inside, 0), (right, 3), (below, 5)]
    assert found[2].point == (5, -4)
    with pytest.raises(ValueError, match="must not be above"):
        space.nearest_to_box((1, 0), (0, 2))


def test_an_unknown_filter_names_the_valid_ones():
    space = ec.install()
    esper.process(DT)

    with pytest.raises(TypeError, match=r"filter=3 must be a component type.*a Filter"):
        space.query((0, 0), (1, 1), filter=3)


def answers(space, entity):
    """Return what several queries say about where a body is."""
    (low, high), centre = space.bounds(entity), space.position_of(entity)
    lows, highs = space.boxes([entity])
    return {
        "bounds": tuple((a + b) / 2 for a, b in zip(low, high, strict=True)),
        "position_of": centre,
        "positions": tuple(space.positions([entity])[0].tolist()),
        "boxes": tuple(((lows + highs) / 2)[0].tolist()),
        "interpolated": tuple(space.interpolated(1.0, [entity])[0].tolist()),
        "query_point": next(
            at for at in ((0.0, 0.0), (50.0, 0.0), (70.0, 0.0)) if entity in found_at(space, at)
        ),
    }


@pytest.mark.parametrize("fixed", [False, True])
def test_all_queries_say_the_same_of_where_a_body_is_that_was_put_elsewhere(fixed):
    space = ec.install()
    wall = box((0, 0), (1, 1), *[ec.Fixed()] * fixed)
    esper.process(DT)

    space.teleport(wall, (50, 0))
    before = answers(space, wall)
    assert {before.pop(of_one) for of_one in ("bounds", "position_of")} == {(50, 0)}
    assert set(before.values()) == {(0, 0)}
    space.update()
    assert set(answers(space, wall).values()) == {(50, 0)}
    space.teleport(wall, (70, 0))
    assert set(answers(space, wall).values()) == {(70, 0)}
    space.set_positions([wall], [(0, 0)])
    assert set(answers(space, wall).values()) == {(0, 0)}
    if not fixed:
        set_position(wall, 50, 0)
        space.update()
        assert set(answers(space, wall).values()) == {(50, 0)}
        assert space.positions().tolist() == [[50, 0]]
    esper.process(DT)
    assert len(set(answers(space, wall).values())) == 1


def change_something(rng, space):
    """Do to a random body what a game may do between two steps, or do a step."""
    entities = [
        entity for entity in esper.get_entities() if esper.has_component(entity, ec.Extents)
    ]
    entity = rng.choice(entities)
    at = [rng.randrange(-40, 40), rng.randrange(-40, 40)]
    fixed, disabled = (esper.has_component(entity, kind) for kind in (ec.Fixed, ec.Disabled))
    what = rng.randrange(14)
    if what == 0:
        more = [ec.Fixed()], [ec.Sensor()], [ec.Velocity(9, 9), ec.Slide()], [ec.Disabled()], []
        esper.create_entity(ec.Position(*at), ec.Extents(2, 1), *rng.choice(more))
    elif what == 1:
        offset = ec.Attached(entity, (3, rng.randrange(9)))
        box((0, 0), (1, 1), offset)
    elif what == 2 and len(entities) > 5:
        esper.delete_entity(entity, immediate=rng.random() < 0.5)
    elif what == 3:
        esper.add_component(entity, ec.Position(*at))
    elif what == 4:
        kind = rng.choice([ec.Disabled, ec.Fixed])
        if esper.has_component(entity, kind):
            esper.remove_component(entity, kind)
        else:
            esper.add_component(entity, kind())
    elif what in (5, 6):
        space.teleport(entity, at)
    elif what == 7 and not disabled:
        space.set_extents([entity], [(rng.randrange(4), 1)])
    elif what == 8 and not disabled:
        space.move(entity, at)
    elif what in (9, 10) and not fixed:
        set_position(entity, *at)
    elif what == 11 and not fixed:
        of(entity, ec.Position).x = rng.choice([float("nan"), 1, True])
    elif what == 12 and (attached := esper.try_component(entity, ec.Attached)):
        attached.offset, attached.owner = at, rng.choice(entities)
    elif what == 13:
        esper.process(DT)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("wrap", [None, (60, None)])
@pytest.mark.parametrize("seed", range(4))
def test_update_after_changes_finds_what_a_first_look_at_the_world_finds(seed, wrap, volume):
    rng = random.Random(seed)
    space = ec.install(wrap=wrap)
    for n in range(12):
        box((5 * n - 30, rng.randrange(9)), (1, 2), *[ec.Fixed()] * (n % 3 == 0))
    for _ in range(volume(150, 300, 1000)):
        for _ in range(rng.randrange(4)):
            with suppress(KeyError):  # it or its owner cannot be moved, or is deleted
                change_something(rng, space)
        space.update()

        updated = space._queried.present
        first = PresentBodies(
            space.world, space._registry, space._queried._presence, 2, space._queried._domain
        )
        first.refresh(False)
        boxes = [
            {
                int(each.table.ids[row]): (
                    each.table.tight_min[row].tolist(),
                    each.table.tight_max[row].tolist(),
                )
                for row in each.rows.tolist()
            }
            for each in (updated, first)
        ]
        assert boxes[0] == boxes[1]
        found = space.query((-1e6, -1e6), (1e6, 1e6)) if wrap is None else sorted(boxes[1])
        assert found == sorted(boxes[1])
        updated._tree.check()
