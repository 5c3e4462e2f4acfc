"""`exclude` of a body means its attached boxes too, in each question."""

from __future__ import annotations

from typing import Any

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import box, mover

pytestmark = pytest.mark.usefixtures("world", "implementation")


def ids_of(found: Any) -> set[int]:
    """Return the ids in a result of a query, of whatever form."""
    if found is None:
        return set()
    if isinstance(found, list):
        return {getattr(each, "id", each) for each in found}
    ids = getattr(found, "ids", None)
    if ids is None:
        return {found.id}
    return {int(each) for each in np.ravel(ids) if each >= 0}


QUESTIONS = {
    "query": lambda s, **e: s.query((-9, -9), (9, 9), **e),
    "query_point": lambda s, **e: s.query_point((2, 0), **e),
    "query_circle": lambda s, **e: s.query_circle((0, 0), 9, **e),
    "query_many": lambda s, **e: s.query_many([(-9, -9)], [(9, 9)], **e),
    "cast_ray": lambda s, **e: s.cast_ray((0, 0), (20, 0), **e),
    "ray_hits": lambda s, **e: s.ray_hits((0, 0), (20, 0), **e),
    "cast_rays": lambda s, **e: s.cast_rays([(0, 0)], [(20, 0)], **e),
    "cast_box": lambda s, **e: s.cast_box((0, 0), (0.5, 0.5), (20, 0), **e),
    "box_hits": lambda s, **e: s.box_hits((0, 0), (0.5, 0.5), (20, 0), **e),
    "cast_boxes": lambda s, **e: s.cast_boxes([(0, 0)], [(0.5, 0.5)], [(20, 0)], **e),
    "cast_circle": lambda s, **e: s.cast_circle((0, 0), 0.5, (20, 0), **e),
    "nearest": lambda s, **e: s.nearest((0, 0), 9, **e),
    "nearest_to_box": lambda s, **e: s.nearest_to_box((-1, -1), (1, 1), 9, **e),
    "nearest_many": lambda s, **e: s.nearest_many([(0, 0)], 9, **e),
}


@pytest.mark.parametrize("updated", [False, True])
@pytest.mark.parametrize("wrap", [None, (64, 64)])
@pytest.mark.parametrize("name", QUESTIONS)
def test_boxes_go_with_their_owner(name, wrap, updated):
    owner = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    sword = box((2, 0), (1, 0.5), ec.Attached(owner, (2, 0)))
    other = mover((0, 4), (1, 1), (0, 0))
    box((4, 4), (1, 1), ec.Attached(other, (4, 0)))
    wall = box((12, 0), (1, 9))
    space = ec.install(wrap=wrap)
    esper.process(1 / 60)
    if updated:
        space.update()
    ask = QUESTIONS[name]

    assert not ids_of(ask(space, exclude=owner)) & {owner, sword}
    assert not ids_of(ask(space, exclude=[wall, owner])) & {owner, sword, wall}
    assert owner in ids_of(ask(space, exclude=sword)) or name == "query_point"
    assert ids_of(ask(space)) & {owner, sword}


@pytest.mark.parametrize("updated", [False, True])
@pytest.mark.parametrize("wrap", [None, (64, 64)])
def test_each_of_many_queries_leaves_out_the_boxes_of_its_own(wrap, updated):
    guards = [mover((0, 6 * n), (1, 1), (0, 0), ec.Slide()) for n in range(5)]
    swords = [box((2, 6 * n), (1, 0.5), ec.Attached(guards[n], (2, 0))) for n in (0, 1, 3)]
    swords.append(box((2, 6), (0.25, 2), ec.Attached(guards[1], (2, 0))))
    wall = box((12, 12), (1, 20))
    space = ec.install(wrap=wrap)
    esper.process(1 / 60)
    if updated:
        space.update()
    each = [*guards, swords[0], -1]
    places = [space.position_of(guard) for guard in guards] + [(0.0, 0.0)] * 2
    ways, halves = [(20.0, 0.0)] * len(each), [(0.5, 0.5)] * len(each)

    rays = space.cast_rays(places, ways, exclude_each=each)
    boxes = space.cast_boxes(places, halves, ways, exclude_each=each)
    near = space.nearest_many(places, 9, exclude_each=each, exclude=swords[2])

    for n, (place, own) in enumerate(zip(places, each, strict=True)):
        alone = {"exclude": None if own < 0 else own}
        ray = space.cast_ray(place, ways[n], **alone)
        assert (rays.ids[n], rays.times[n]) == (ray.entity, ray.time)
        cast = space.cast_box(place, halves[n], ways[n], **alone)
        assert (boxes.ids[n], boxes.times[n]) == (cast.entity, cast.time)
        found = [hit.entity for hit in space.nearest(place, 9, exclude=[own, swords[2]])]
        assert [int(id) for id in near.ids[n] if id >= 0] == found
    assert rays.ids[:5].tolist() == [wall] * 5


def test_free_regions_maps_and_views_leave_the_boxes_out():
    owner = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    shield = box((3, 0), (0.5, 2), ec.Attached(owner, (3, 0)))
    space = ec.install()
    esper.process(1 / 60)

    assert not space.is_free((2, -1), (4, 1), solid=False)
    assert space.is_free((2, -1), (4, 1), solid=False, exclude=owner)
    some = {"solid": False, "exclude": owner}
    assert not space.occupancy(((-4, -4), (4, 4)), 2, **some).any()
    assert len(space.visible_region((0.0, 1.5), 8, solid=False, exclude=[owner])) == 4
    assert len(space.visible_region((0.0, 1.5), 8, solid=False, exclude=[shield])) != 4


def test_box_of_a_new_owner_is_left_out_after_update():
    owner = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)
    sword = box((2, 0), (1, 0.5), ec.Attached(owner, (2, 0)))
    space.update()
    assert space.query((-9, -9), (9, 9)) == [owner, sword]
    assert space.query((-9, -9), (9, 9), exclude=owner) == []
