"""The numbers of custom dataclasses: a column for each field, and columns as bytes.

A column keeps the type of each number. A whole number of any size stays whole, and a float keeps
every bit.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from struct import pack, unpack
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBER_TYPES = (bool, int, float, NoneType)
"""The types of the values that a column may have."""

PACKED_AS = {"d": "<f8", "q": "<i8", "Q": "<u8", "?": "|u1"}
"""The codes of packed columns: floats, 64-bit whole numbers with and without a sign, bools."""

_LONGEST_DECIMAL = 1024  # bits; Python reads decimals of at most 4300 digits

Described = list[tuple[str, list[tuple[str, object]]]]
"""For each dataclass its name, its fields, and the codes of their packed columns."""


@dataclass(slots=True)
class Table:
    """The numbers of all components of a type, by rising entity."""

    fields: tuple[str, ...]
    columns: list[list[Any]]  # of bool, int, float or None, for each field

    def rows(self, n: int) -> list[tuple[Any, ...]]:
        """Return the numbers of each of n components."""
        return list(zip(*self.columns, strict=True)) if self.columns else [()] * n

    def with_one_nan(self) -> Table:
        """Return the table with one NaN for all, as platforms make different ones."""
        columns = [[nan if x != x else x for x in column] for column in self.columns]
        return Table(self.fields, columns)


def pack_tables(names: Sequence[str], tables: Sequence[Table]) -> tuple[bytes, list[bytes]]:
    """Return the dataclasses with their fields as text, and their columns."""
    described, pieces = [], []
    for name, table in zip(names, tables, strict=True):
        packed = [pack_column(column) for column in table.columns]
        codes = (code for code, _ in packed)
        described.append([name, [list(pair) for pair in zip(table.fields, codes, strict=True)]])
        pieces += [data for _, data in packed]
    return json.dumps(described, separators=(",", ":")).encode(), pieces


def read_description(data: bytes) -> Described:
    """Return the dataclasses in the text of `pack_tables`.

    Other bytes raise ValueError, TypeError or RecursionError.
    """
    found = [(name, [(f, code) for f, code in columns]) for name, columns in json.loads(data)]
    for name, columns in found:
        names = [field for field, _ in columns]
        if not all(type(each) is str for each in (name, *names)) or len({*names}) < len(names):
            raise ValueError(f"{name!r} with the fields {names!r}")
    return found


def unpack_tables(described: Described, counts: Sequence[int], data: bytes) -> list[Table]:
    """Return the tables of dataclasses; `counts` has the number of components of each.

    Other bytes raise ValueError, TypeError or OverflowError.
    """
    tables, rest = [], memoryview(data)
    for (_, columns), count in zip(described, counts, strict=True):
        unpacked = []
        for _, code in columns:
            column, taken = unpack_column(code, rest, count)
            unpacked.append(column)
            rest = rest[taken:]
        tables.append(Table(tuple(field for field, _ in columns), unpacked))
    if rest:
        raise ValueError("too many bytes")
    return tables


def pack_column(column: list[Any]) -> tuple[Any, bytes]:
    """Return the code of a packed column, one of `PACKED_AS`, and its bytes.

    If the values have several types, are None, or are too large for 64 bits, the values
    themselves, as in JSON, are returned instead of a code.
    """
    kinds = set(map(type, column))
    if kinds <= {float}:
        return "d", np.array(column, "<f8").tobytes()
    if kinds == {bool}:
        return "?", bytes(column)
    if kinds == {int}:
        low, high = min(column), max(column)
        if low >= -(2**63) and high < 2**63:
            return "q", np.array(column, "<i8").tobytes()
        if low >= 0 and high < 2**64:
            return "Q", np.array(column, "<u8").tobytes()
    return [*map(_pack_value, column)], b""


def unpack_column(code: object, data: memoryview, n: int) -> tuple[list[Any], int]:
    """Return a column of n numbers from the beginning of some bytes, and how many it took."""
    if isinstance(code, list):
        if len(code) != n:
            raise ValueError(f"{len(code)} numbers, and not {n}")
        return [_unpack_value(value) for value in code], 0
    if not isinstance(code, str) or code not in PACKED_AS:
        raise ValueError(f"no column is packed as {code!r}")
    if n == 0:
        return [], 0
    dtype = np.dtype(PACKED_AS[code])
    taken = n * dtype.itemsize
    if taken > len(data):
        raise ValueError("too few bytes")
    array: NDArray[Any] = np.frombuffer(data, dtype, n)
    if code == "?":
        if (array > 1).any():
            raise ValueError("a bool is neither 0 nor 1")
        array = array.astype(bool)
    return array.tolist(), taken


def _pack_value(value: Any) -> Any:
    if type(value) is float:  # hexadecimal keeps every bit, also those of a NaN
        return value.hex() if value == value else f"nan{pack('>d', value).hex()}"
    if type(value) is int and value.bit_length() > _LONGEST_DECIMAL:
        return f"int{value:x}"
    return value


def _unpack_value(value: object) -> Any:
    if isinstance(value, str):
        if value.startswith("int"):
            return int(value[3:], 16)
        if value.startswith("nan") and len(value) > 3:
            return unpack(">d", int(value[3:], 16).to_bytes(8, "big"))[0]
        return float.fromhex(value)
    if type(value) not in (int, bool, NoneType):
        raise TypeError(f"no number: {value!r}")
    return value
