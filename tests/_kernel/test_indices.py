"""Where numpy's indices have 32 bits, as in Pyodide, ids and rows still have 64."""

from __future__ import annotations

import esper
import numpy as np
import pytest

import ecs_collide as ec


@pytest.fixture
def _narrow_indices(monkeypatch):
    """Let numpy find indices of 32 bits, and refuse counts of 64."""

    def narrow(find):
        return lambda *args, **options: find(*args, **options).astype(np.int32)

    def strict(use, place):
        def use_narrow(*args, **options):
            if np.asarray(args[place]).dtype == np.int64:
                raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32')")
            return use(*args, **options)

        return use_narrow

    monkeypatch.setattr(np, "intp", np.int32)
    for name in ("argsort", "cumsum", "flatnonzero", "lexsort", "searchsorted"):
        monkeypatch.setattr(np, name, narrow(getattr(np, name)))
    monkeypatch.setattr(np, "bincount", strict(narrow(np.bincount), 0))
    monkeypatch.setattr(np, "repeat", strict(np.repeat, 1))


@pytest.mark.quick
@pytest.mark.usefixtures("_narrow_indices")
def test_tree_lists_its_pairs_where_numpys_indices_have_32_bits():
    tree = ec.AABBTree(2)
    tree.insert_many(np.array([7, 5, 3]), [(0, 0), (1, 1), (9, 9)], [(2, 2), (3, 3), (10, 10)])

    pairs = tree.pairs()

    assert pairs.tolist() == [[5, 7]]
    assert pairs.dtype == np.int64


@pytest.mark.quick
@pytest.mark.usefixtures("_narrow_indices", "world")
def test_regions_of_a_wrapped_world_are_found_where_numpys_indices_have_32_bits():
    space = ec.install(wrap=(100, 100))
    made = [
        esper.create_entity(ec.Position(x, 50), ec.Extents(2, 2), ec.Velocity(1, 0))
        for x in (1, 50, 99)
    ]
    esper.process(1.0)

    hits = space.query_many([(95, 45), (45, 45)], [(105, 55), (55, 55)])

    assert hits.offsets.tolist() == [0, 2, 3]
    assert hits.offsets.dtype == np.int64
    assert hits.ids.tolist() == [made[0], made[2], made[1]]
