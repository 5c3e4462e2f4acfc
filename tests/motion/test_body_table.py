"""The one table of bodies: it grows at once, keeps what it holds, and Python sees it as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ecs_collide.motion.body_table import BodyTable
from ecs_collide.motion.columns import blocks_of, views_of

GROWN = 500  # rows, many times what there is from the beginning


@pytest.fixture
def bodies(kernels: Any) -> Any:
    return kernels.bodies.Bodies(2)


def names_of(dim: int) -> list[str]:
    return [name for block in blocks_of(dim, True) if block.user for name in block.names]


@pytest.mark.parametrize("dim", [2, 3])
def test_every_column_is_an_attribute_of_the_kernel_and_of_the_table(kernels, dim):
    bodies = kernels.bodies.Bodies(dim, True)
    table = BodyTable(bodies)

    for block in blocks_of(dim, True):
        user = bodies if block.user == "bodies" else getattr(bodies, block.user, None)
        for name in block.names:
            assert len(getattr(table, name)) >= table.capacity, name
            if user is not None:
                assert np.shares_memory(np.asarray(getattr(user, name)), getattr(table, name)), name


def test_a_column_has_one_name():
    names = names_of(2)

    assert len(set(names)) == len(names)


def test_a_table_that_grows_keeps_what_its_columns_hold(bodies):
    table = BodyTable(bodies)
    rows = bodies.allocate([5, 8, 9])
    before = {}
    for n, name in enumerate(views_of(bodies.blocks, bodies.memory)):
        column = getattr(table, name)
        column[:3] = n % 100 + 1
    before = {name: np.array(getattr(table, name)[:3]) for name in names_of(2)[:20]}

    assert bodies.make_room(GROWN)
    table.bind()

    assert rows.tolist() == [0, 1, 2]
    assert table.capacity == bodies.capacity >= GROWN
    for name, numbers in before.items():
        assert (getattr(table, name)[:3] == numbers).all(), name
        assert not getattr(table, name)[3:].any(), name


def test_growth_that_is_cut_short_is_finished_by_the_next_call(bodies, kernels, monkeypatch):
    table = BodyTable(bodies)
    (row,) = bodies.allocate([7]).tolist()
    table.seen_centre[row] = 3.0, 4.0
    monkeypatch.setattr(kernels.bodies, "views_of", None)  # the arrays are there, no views of them

    with pytest.raises(TypeError):
        bodies.make_room(GROWN)
    monkeypatch.undo()
    table.bind()

    assert table.capacity == bodies.capacity >= GROWN
    assert table.seen_centre[row].tolist() == [3.0, 4.0]
    assert np.shares_memory(np.asarray(bodies.seen_centre), table.seen_centre)
    assert len(bodies.allocate(list(range(10, 10 + GROWN)))) == GROWN


def test_growth_for_which_there_is_no_memory_leaves_the_table_as_it_was(
    bodies, kernels, monkeypatch
):
    def refuse(*_: object) -> None:
        raise MemoryError

    table = BodyTable(bodies)
    capacity = table.capacity
    (row,) = bodies.allocate([7]).tolist()
    table.velocity[row] = 1.0, 2.0
    monkeypatch.setattr(kernels.bodies, "allocate", refuse)

    with pytest.raises(MemoryError):
        bodies.make_room(GROWN)

    assert table.capacity == bodies.capacity == capacity
    assert np.asarray(bodies.velocity)[row].tolist() == [1.0, 2.0]
    assert table.velocity[row].tolist() == [1.0, 2.0]


def test_a_row_that_is_given_out_again_holds_nothing_of_the_body_before(bodies):
    table = BodyTable(bodies)
    (row,) = bodies.allocate([7]).tolist()
    table.seen_velocity[row] = 1.0, 2.0
    table.asleep[row] = table.quarantined[row] = 1
    bodies.freed = [row]
    assert bodies.allocate([9]).tolist() != [row]  # a step cut short may still need it
    bodies.reuse_freed()

    assert bodies.allocate([8]).tolist() == [row]

    assert table.ids[row] == 8
    assert table.mass[row] == 1.0
    assert not table.seen_velocity[row].any()
    assert not table.asleep[row]
    assert not table.quarantined[row]


@pytest.mark.parametrize("apart", [False, True])
def test_places_are_the_centres_unless_components_say_something_else(kernels, apart):
    table = BodyTable(kernels.bodies.Bodies(2, apart))

    assert np.shares_memory(table.place, table.centre) is not apart
    assert np.shares_memory(table.seen_size, table.seen_half) is not apart


def test_a_body_that_wraps_is_brought_into_the_world_by_one_formula(kernels):
    places = np.array([-0.0, -1e-300, 10.0, 25.0, -5.0, np.nextafter(10.0, 0.0)])

    kernels.bodies.bring_into_world(places.data, 10.0)

    assert ((places >= 0.0) & (places < 10.0)).all()
    assert places[2:].tolist() == [0.0, 5.0, 5.0, np.nextafter(10.0, 0.0)]
