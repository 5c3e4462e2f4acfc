"""The table that finds the row of an id, against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest

SPREADS = {
    "close together": lambda rng: int(rng.integers(0, 60)),
    "negative too": lambda rng: int(rng.integers(-30, 30)),
    "of 64 bits": lambda rng: int(rng.integers(-(2**63), 2**63 - 1)) if rng.random() < 0.5 else 7,
    "the same but for high bits": lambda rng: int(rng.integers(0, 60)) << 40,
}


@pytest.mark.parametrize("spread", SPREADS)
def test_any_sequence_of_calls_gives_what_a_dictionary_gives(kernels, spread):
    rng = np.random.default_rng(3)
    rows, known = kernels.id_map.IdMap(0), {}
    for _ in range(2000):
        id = SPREADS[spread](rng)
        assert rows.find(id) == known.get(id, -1)
        if id in known:
            assert rows.remove(id) == known.pop(id)
        else:
            rows.reserve(1)
            known[id] = rows.add(id)
        assert rows.n == len(known)
    assert sorted(rows.in_use()) == sorted(known)
    assert len(set(known.values())) == len(known)
    for id, row in known.items():
        assert rows.ids[row] == id


def test_many_are_found_up_to_the_first_that_is_unknown_or_there_twice(kernels):
    rows = kernels.id_map.IdMap(8)
    ids, found = np.array([5, -2, 2**60, 9]), np.zeros(4, np.int64)

    assert rows.add_many(ids.data, found.data) == 4
    assert rows.find_many(ids[::-1].copy().data, found.data) == 4
    assert found.tolist() == [3, 2, 1, 0]
    assert rows.find_many(np.array([9, 4, 5]).data, found.data) == 1
    assert found[1] == -1
    assert rows.find_many(np.array([9, 5, 9]).data, found.data) == 2
    assert found[2] == -2
    assert rows.add_many(np.array([6, 5]).data, found.data) == 1
    rows.remove_many(ids.data)
    assert rows.in_use() == [6]
