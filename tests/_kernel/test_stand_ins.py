"""What kernels rely on of Cython, where they run as Python."""

from __future__ import annotations

import pytest

from ecs_collide._kernel import Public, ReadOnly, stand_ins

cython = stand_ins


class Base:
    """A base without fields."""


@stand_ins.final
class Parts(Base):
    """One field of each form."""

    number: cython.double
    count: Public[cython.Py_ssize_t]
    flag: ReadOnly[cython.bint]
    at: cython.pointer[Base]
    vector: cython.double[3]
    rows: Public[cython.longlong[2]]
    table: cython.double[2, 3]
    view: cython.double[:, ::1]
    part: Base
    entries: Public[set]

    def __init__(self, count):
        self.count += count


def test_fields_of_c_types_are_zero_at_first():
    parts = Parts(4)

    assert repr(parts.number) == "0.0"
    assert (parts.count, parts.flag, parts.at) == (4, False, None)
    assert (parts.vector, parts.rows) == ([0.0] * 3, [0] * 2)
    assert parts.table == [[0.0] * 3, [0.0] * 3]


def test_arrays_are_not_shared():
    one, other = Parts(0), Parts(0)
    one.vector[0] = one.table[0][0] = 1.0

    assert (other.vector, other.table) == ([0.0] * 3, [[0.0] * 3] * 2)
    assert one.table[1] == [0.0] * 3


@pytest.mark.parametrize("name", ["view", "part", "entries"])
def test_other_fields_must_be_set(name):
    with pytest.raises(AttributeError):
        getattr(Parts(0), name)
