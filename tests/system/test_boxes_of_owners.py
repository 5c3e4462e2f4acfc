"""Attached boxes go with their owner, and are found by it."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, of, steps

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 60


class Blade: ...


def attached(owner: int, x: float) -> int:
    return box((0, 0), (2, 2), ec.Attached(owner, (x, 0)), Blade())


@pytest.mark.parametrize("n_steps", [0, 2])
def test_boxes_of_an_owner_are_found_before_and_after_steps(n_steps):
    owner, other = (mover((x, 0), (2, 2), (0, 0), ec.Slide()) for x in (0, 50))
    mine = [attached(owner, x) for x in (5, -5)]
    attached(other, 5)
    space = ec.install()
    steps(n_steps, DT)

    assert space.boxes_of(owner) == mine
    assert space.boxes_of(mine[0]) == []
    esper.delete_entity(mine[0], immediate=True)
    assert space.boxes_of(owner) == mine[1:]
    with pytest.raises(KeyError, match="entity 99 is no body"):
        space.boxes_of(99)


@pytest.mark.parametrize("immediate", [False, True])
@pytest.mark.parametrize("saves", [False, True])
def test_boxes_are_deleted_with_their_owner(immediate, saves):
    owner, other = (mover((x, 0), (2, 2), (0, 0), ec.Slide()) for x in (0, 50))
    boxes, left = [attached(owner, x) for x in (5, -5)], attached(other, 5)
    wall = box((6, 0), (1, 9))
    space = ec.install()
    esper.process(DT)
    assert {each.other(wall) for each in space.contacts(wall)} >= {boxes[0]}
    esper.delete_entity(owner, immediate=immediate)
    data = space.snapshot()
    if saves:
        esper.process(DT)
        space.restore(data)

    esper.process(DT)

    assert not any(map(esper.entity_exists, (owner, *boxes)))
    assert space.entities == [other, left, wall]
    assert {end.reason for end in space.contacts_ended} == {ec.EndReason.ENTITY_DELETED}
    assert space.reports == []
    space.check()


def test_a_box_with_a_new_owner_stays():
    owner, other = (mover((x, 0), (2, 2), (0, 0), ec.Slide()) for x in (0, 50))
    blade = attached(owner, 5)
    space = ec.install()
    esper.process(DT)
    of(blade, ec.Attached).owner = other
    esper.delete_entity(owner)

    esper.process(DT)

    assert space.position_of(blade) == (55, 0)


def test_boxes_that_the_game_deletes_with_their_owner_are_deleted_once():
    owner = mover((0, 0), (2, 2), (0, 0), ec.Slide())
    boxes = [attached(owner, x) for x in (5, -5)]
    space = ec.install()
    esper.process(DT)
    for entity in (boxes[0], owner):
        esper.delete_entity(entity)

    esper.process(DT)

    assert space.entities == []
    esper.process(DT)


def test_boxes_of_an_owner_that_only_lost_its_box_stay():
    owner = mover((0, 0), (2, 2), (0, 0), ec.Slide())
    blade = attached(owner, 5)
    space = ec.install()
    esper.process(DT)
    esper.remove_component(owner, ec.Extents)

    with pytest.warns(RuntimeWarning, match="Attached.owner"):
        esper.process(DT)

    assert esper.entity_exists(blade)
    assert space.boxes_of(blade) == []


@pytest.mark.parametrize("n_steps", [0, 2])
@pytest.mark.parametrize("immediate", [False, True])
@pytest.mark.parametrize("saves", [False, True])
def test_boxes_of_an_owner_that_dies_before_its_first_step_are_deleted(n_steps, immediate, saves):
    other = mover((50, 0), (2, 2), (0, 0), ec.Slide())
    left, moved = (attached(other, x) for x in (5, -5))
    space = ec.install()
    steps(n_steps, DT)
    owner = mover((0, 0), (2, 2), (0, 0), ec.Slide())
    mine = attached(owner, 5)
    esper.add_component(moved, ec.Attached(owner, (9, 0)))
    esper.delete_entity(owner, immediate=immediate)
    data = space.snapshot()
    if saves:
        esper.process(DT)
        space.restore(data)

    esper.process(DT)

    assert not any(map(esper.entity_exists, (owner, mine, moved)))
    assert space.entities == [other, left]
    assert space.reports == []
    assert space.doctor() == []


@pytest.mark.parametrize("is_body", [False, True])
def test_a_box_whose_owner_has_never_been_or_is_no_body_yet_waits_for_it(is_body):
    space = ec.install()
    owner = esper.create_entity(Blade())
    box_of_it = attached(owner if is_body else owner + 2, 5)
    with pytest.warns(RuntimeWarning, match="Attached.owner"):
        esper.process(DT)

    assert esper.entity_exists(box_of_it)
    assert len(space.reports) == 1
