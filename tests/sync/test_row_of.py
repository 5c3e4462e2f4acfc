"""The rows of entities, found in the order of the ids, against a dictionary."""

from __future__ import annotations

import random

import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide._kernel.constants import Has
from ecs_collide.motion.body_table import BodyTable


@pytest.fixture
def lists(kernels):
    return kernels.body_lists.BodyLists(kernels.bodies.Bodies(2))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 100])
@pytest.mark.parametrize("spread", [1, 5, 2**50])
def test_every_entity_is_found_and_no_other(lists, n, spread):
    rng = np.random.default_rng(n)
    ids = np.unique(rng.integers(-n * spread, n * spread + 1, n))
    rows = rng.permutation(len(ids))
    lists.set_bodies(ids, rows)
    known = dict(zip(ids.tolist(), rows.tolist(), strict=True))

    assert lists.row_of.rows_of(ids.tolist()).tolist() == rows.tolist()
    for id in {*known, *(ids - 1).tolist(), *(ids + 1).tolist(), 0, 2**63 - 1, -(2**63)}:
        assert lists.row_of.find(id) == known.get(id, -1)
        assert lists.row_of.get(id, "none") == known.get(id, "none")
        assert (id in lists.row_of) == (id in known)


def test_what_is_no_whole_number_of_64_bits_is_no_body(lists):
    lists.set_bodies(np.array([3, 4, 2**40]), np.array([2, 0, 1]))

    assert lists.row_of[np.int64(4)] == 0
    for entity in ("4", 4.0, None, [4], 2**64 + 4, -(2**70)):
        assert lists.row_of.get(entity) is None
        assert entity not in lists.row_of
        with pytest.raises(KeyError):
            lists.row_of[entity]


@pytest.mark.parametrize("most", [3, 200])
def test_lists_follow_changes_as_a_list_of_all_bodies_does(kernels, most):
    bodies = kernels.bodies.Bodies(2)
    bodies.reserve(4000)
    table = BodyTable(bodies)
    lists, rng = kernels.body_lists.BodyLists(bodies), random.Random(most)
    row_of: dict[int, int] = {}
    saved = lists.saved(), {}

    for n in range(300):
        changes = {}
        for _ in range(rng.randrange(most + 1)):
            entity = rng.choice([*row_of, rng.randrange(500), rng.randrange(500)])
            if entity not in row_of:
                if bodies.make_room(1):
                    table.bind()
                row_of[entity] = bodies.allocate([entity])[0].item()
                table.n_cached[row_of[entity]] = 2
            elif rng.random() < 0.4:
                table.n_cached[row_of[entity]] = 0
                changes[entity] = row_of.pop(entity)
                continue
            row = row_of[entity]
            table.has[row] = rng.choice([0, Has.FIXED, Has.VELOCITY])
            table.disabled[row], table.attached[row] = rng.random() < 0.2, rng.random() < 0.2
            changes[entity] = row
        lists.update(sorted(changes.items()))
        bodies.reuse_freed()

        assert lists.n == len(row_of)
        assert all(lists.row_of.get(e) == row_of.get(e) for e in range(0, 500, 7))
        if n % 5 == 0:
            assert dict(zip(lists.entities.tolist(), lists.rows.tolist(), strict=True)) == row_of
            assert lists.entities.tolist() == sorted(row_of)
        in_order = [row_of[e] for e in sorted(row_of) if not table.disabled[row_of[e]]]
        attached = [row for row in in_order if table.attached[row]]
        watched = [row for row in in_order if not table.attached[row]]
        assert [*lists.attached] == attached
        assert [*lists.watched] == [row for row in watched if not table.has[row] & Has.FIXED]
        if n % 50 == 49:
            before, known = saved
            saved = lists.saved(), dict(row_of)
            lists.set_bodies(*before)
            assert dict(zip(lists.entities.tolist(), lists.rows.tolist(), strict=True)) == known
            lists.set_bodies(*saved[0])


def test_no_number_at_all_is_a_body_of_a_space():
    space = ec.Space()

    assert 2**70 not in space
    assert "1" not in space
