"""Columns of numbers as bytes: each number comes back with its type and every bit."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from ecs_collide.snapshot.column_codec import Table, pack_tables, read_description, unpack_tables

pytest.importorskip("hypothesis", reason="any numbers are tried by hypothesis")
from hypothesis import example, given
from hypothesis import strategies as st


def of_bits(bits: int) -> float:
    """Return the float with these bits, among them every NaN."""
    found: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return found


BITS = st.integers(0, 2**64 - 1).map(of_bits)
NANS = st.integers(0x7FF8_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF).map(of_bits)
MIXED = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), BITS, NANS)
COLUMN = st.sampled_from([MIXED, BITS, NANS, st.integers(), st.booleans()]).flatmap(st.lists)


def exactly(value: Any) -> tuple[type, Any]:
    """Return the type and all bits of a number."""
    return type(value), struct.pack("<d", value) if type(value) is float else value


@given(st.lists(COLUMN, max_size=3))
@example([[10**5000, -(10**5000), None]])
@example([[True, 1, 1.0, -0.0, 0, False, None, 2**63, -(2**63), 2**64]])
def test_each_number_comes_back_with_its_type_and_every_bit(columns: list[list[Any]]) -> None:
    length = min(map(len, columns), default=0)
    columns = [column[:length] for column in columns]
    table = Table(tuple(f"field {n}" for n in range(len(columns))), columns)

    text, pieces = pack_tables(["Gun"], [table])
    (back,) = unpack_tables(read_description(text), [length], b"".join(pieces))

    assert back.fields == table.fields
    assert [[*map(exactly, column)] for column in back.columns] == [
        [*map(exactly, column)] for column in columns
    ]


@pytest.mark.parametrize(
    "text", ["nanx", "nan-1", "nan" + 17 * "f", "int", "intx", "import os", ""]
)
def test_text_that_is_no_number_is_refused(text: str) -> None:
    described = read_description(json.dumps([["Gun", [["wait", [text]]]]]).encode())

    with pytest.raises((ValueError, OverflowError)):
        unpack_tables(described, [1], b"")
