"""Rows for ids: where in its columns a tree keeps the box of each id."""

from __future__ import annotations

from operator import index
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers: TypeAlias = NDArray[np.int64]


class Rows:
    """A row for each id; rows of ids that are gone are given out again.

    Attributes
    ----------
    row_of : dict of int to int
    ids : ndarray
        int64, shape (room,): the id of each row.  Another array after growth.
    """

    def __init__(self, room: int) -> None:
        self.row_of: dict[int, int] = {}
        self.ids: Integers = np.zeros(room, np.int64)
        self._free: list[int] = []
        self._last_ids = self._last_rows = np.zeros(0, np.int64)

    def add(self, id: int) -> int:
        """Return a row for a new id, a free one if there is any."""
        row = self._free.pop() if self._free else len(self.row_of)
        if row == len(self.ids):
            self.ids = np.concatenate([self.ids, np.zeros_like(self.ids)])
        self.row_of[id] = row
        self.ids[row] = id
        return row

    def remove(self, id: int) -> int:
        """Free the row of an id and return it."""
        row = self.of(id)
        del self.row_of[id]
        self._free.append(row)
        self._last_ids = self._last_rows = np.zeros(0, np.int64)
        return row

    def of(self, id: int) -> int:
        """Return the row of an id; KeyError if it has none."""
        try:
            return self.row_of[id]
        except KeyError:
            raise KeyError(f"id={id!r} is not in the tree") from None

    def of_many(self, ids: ArrayLike) -> Integers:
        """Return the rows of ids, quickly where they are those of the last time.

        Raises
        ------
        KeyError
            One has none.
        ValueError
            One is there twice.
        """
        array = np.asarray(ids)
        if len(self._last_ids) > 0 and np.array_equal(array, self._last_ids):
            return self._last_rows
        numbers = checked_ids(array)
        rows = np.array([self.row_of.get(id, -1) for id in numbers.tolist()], np.int64)
        unknown = np.flatnonzero(rows < 0)
        if len(unknown) > 0:
            raise KeyError(f"ids[{unknown[0]}]={numbers[unknown[0]]} is not in the tree")
        self._last_ids, self._last_rows = numbers, rows
        return rows


def checked_id(id: int) -> int:
    """Return an id as an int; TypeError or ValueError if it is none of 64 bits."""
    try:
        number = index(id)
    except TypeError:
        raise TypeError(f"id={id!r} must be an integer") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"id={id!r} must fit into 64 bits")
    return number


def checked_ids(ids: ArrayLike) -> Integers:
    """Return ids as an int64 array of our own; ValueError if one is there twice."""
    array = np.asarray(ids)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1 or (array > 2**63 - 1).any():
        raise ValueError(
            f"ids must be integers of 64 bits, shape (n,); got {array.dtype}, shape {array.shape}"
        )
    numbers = np.array(array, np.int64)
    order = np.argsort(numbers, kind="stable")
    again = order[1:][numbers[order[1:]] == numbers[order[:-1]]]
    if len(again) > 0:
        row = int(again.min())
        raise ValueError(f"ids[{row}]={numbers[row]} is there twice")
    return numbers
