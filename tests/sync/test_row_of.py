"""The rows of entities, found in the order of the ids, against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest

import ecs_collide as ec


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


def test_no_number_at_all_is_a_body_of_a_space():
    space = ec.Space()

    assert 2**70 not in space
    assert "1" not in space
