"""Read the numbers of all components of a type at once, and write them back in place.

`sync.reader` reads the fields of bodies that a step needs.  This module reads every field of all
entities, for a snapshot.  Numbers are compared and written as bits, so zeros keep their signs.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

import numpy as np

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import are_among
from ecs_collide.components.attributes import read_number, write_number
from ecs_collide.sync.slots import (
    Slots,
    fields_read,
    fields_write,
    place_of_type,
    same_bits,
    slots_free,
    slots_new,
)

START: cython.Py_ssize_t = 0  # index of the number at whose address a row starts


@cython.final
class ComponentRecords:
    """The components of one type in a world."""

    type: ReadOnly[object]
    names: ReadOnly[tuple]  # tuple of str: the attributes that are numbers, eight at most
    whole: tuple  # tuple of str: the whole numbers among `names`
    items: ReadOnly[list]  # the components, in the order of their entities
    is_exact: ReadOnly[cython.bint]  # whether all are of this type itself
    slots: cython.pointer[Slots]
    width: cython.Py_ssize_t

    def __init__(self, type: object, names: tuple, whole: tuple):
        self.type = type
        self.names = names
        self.whole = whole
        self.items = []
        self.is_exact = True
        self.width = len(names)
        self.slots = slots_new(type, names)

    def __dealloc__(self):
        slots_free(self.slots)

    @cython.ccall
    def read(self, numbers: cython.double[::1], start: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read the numbers of all components.

        Parameters
        ----------
        numbers : float64 (start + len(items) * width or more,)
            Written from `start` on, one component after the other.
        start : int

        Returns
        -------
        int
            The index of a component with a field that is not a number, or -1.
        """
        return self._read_all(self.items, numbers, start)

    def read_rows(
        self, items: list, rows: cython.longlong[::1], numbers: cython.double[:, ::1]
    ) -> None:
        """Write the numbers of components, given by row, to an array (n, width).

        Rows without a component, or with one that has something else than numbers, stay.
        """
        there: list = []
        places: list = []

        for n in range(rows.shape[0]):
            item = items[rows[n]] if 0 <= rows[n] < len(items) else None
            if item is not None:
                there.append(item)
                places.append(n)
        found = np.zeros((len(there), self.width))
        wrong: cython.Py_ssize_t = self._read_all(there, found.reshape(-1).data, 0)
        while wrong >= 0:
            del there[wrong], places[wrong]
            found = np.zeros((len(there), self.width))
            wrong = self._read_all(there, found.reshape(-1).data, 0)
        if places:
            np.asarray(numbers)[places] = found

    def _read_all(
        self, items: list, numbers: cython.double[::1], start: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Read the numbers of some components, as `read`."""
        i: cython.Py_ssize_t = -1

        _require_room(numbers, start, len(items) * self.width)
        if self.width == 0 or len(items) == 0:
            return -1
        while True:
            i += 1
            if i < len(items):
                i = fields_read(self.slots, items, i, cython.address(numbers[start]))
            if i >= len(items):
                return -1
            item = items[i]
            try:
                for k in range(self.width):
                    value = read_number(item, self.names[k])
                    if isinstance(value, (str, bytes, bytearray)):
                        return i
                    numbers[start + i * self.width + k] = float(value)
            except (AttributeError, TypeError, ValueError, OverflowError):
                return i

    @cython.ccall
    def put(
        self, items: list, numbers: cython.double[::1], start: cython.Py_ssize_t
    ) -> cython.void:
        """Write numbers, laid out as in `read`, into those components that differ."""
        i: cython.Py_ssize_t = -1
        at: cython.Py_ssize_t

        _require_room(numbers, start, len(items) * self.width)
        if self.width == 0:
            return
        while True:
            i += 1
            if i < len(items) and not self.whole:
                i = fields_write(self.slots, items, i, cython.address(numbers[start]))
            if i >= len(items):
                return
            at = start + i * self.width
            some = np.asarray(numbers)[at : at + self.width]
            _put_by_name(items[i], self.names, self.whole, some)

    def put_rows(self, items: list, rows: cython.longlong[::1], numbers: cython.double[::1]) -> int:
        """Write numbers into components by row, unless one of them is missing.

        Parameters
        ----------
        items : list
            The components by row, or None.
        rows : int64 (n,)
        numbers : float64 (n * width,)

        Returns
        -------
        int
            The first place in `rows` without a component; nothing is written then.  Otherwise -1.
        """
        there: list = []

        for n in range(rows.shape[0]):
            item = items[rows[n]] if 0 <= rows[n] < len(items) else None
            if item is None:
                return n
            there.append(item)
        self.put(there, numbers, 0)
        return -1

    def agree(
        self,
        numbers: cython.double[:, ::1],
        rows: cython.longlong[::1],
        seen: cython.double[:, ::1],
    ) -> bool:
        """Return whether numbers are known to equal a column bit by bit.

        Parameters
        ----------
        numbers : float64 (n, width)
        rows : int64 (n,)
            The row of each in the column, -1 for none.
        seen : float64 (n_rows, width or less)
        """
        width: cython.Py_ssize_t = seen.shape[1]

        if not cython.compiled:
            return False  # the caller then compares whole arrays
        for n in range(rows.shape[0]):
            if rows[n] >= 0 and not same_bits(
                cython.address(numbers[n, START]), cython.address(seen[rows[n], START]), width
            ):
                return False
        return True


def _require_room(
    numbers: cython.double[::1], start: cython.Py_ssize_t, n: cython.Py_ssize_t
) -> cython.void:
    """Raise IndexError unless an array has n numbers from `start` on."""
    if start < 0 or start + n > numbers.shape[0]:
        raise IndexError(f"{n} numbers from {start} on, and there are {numbers.shape[0]}")


def read_all(all_records: list, numbers: cython.double[::1]) -> tuple:
    """Read the numbers of all components of some types, one type after the other.

    Returns
    -------
    tuple of int
        Which type has a component with a field that is not a number, and the index of that
        component; -1 and -1 if there is none.
    """
    record: ComponentRecords
    start: cython.Py_ssize_t = 0

    for n in range(len(all_records)):
        record = all_records[n]
        if record.items:
            wrong: cython.Py_ssize_t = record.read(numbers, start)
            if wrong >= 0:
                return n, wrong
            start += len(record.items) * record.width
    return -1, -1


def put_all(all_records: list, numbers: cython.double[::1]):
    """Write numbers, laid out as in `read_all`, into the components that hold others."""
    record: ComponentRecords
    start: cython.Py_ssize_t = 0

    for record in all_records:
        if record.items:
            record.put(record.items, numbers, start)
            start += len(record.items) * record.width


def _put_by_name(item, names, whole, numbers):
    """Write numbers into a component by attribute name."""
    for name, number in zip(names, numbers, strict=True):
        if name in whole:
            setattr(item, name, int(number) if number.is_integer() else float(number))
            continue
        try:
            there = np.float64(read_number(item, name))
        except (AttributeError, TypeError, ValueError, OverflowError):
            there = None
        if there is None or there.tobytes() != number.tobytes():
            write_number(item, name, float(number))


def gather_components(entities: dict, dead, all_records: list) -> tuple:
    """Collect the components of all entities of a world in their records.

    Parameters
    ----------
    entities : dict
        The components by type, a dict, for each entity.
    dead : frozenset of int
        Entities that are treated as deleted.
    all_records : list of ComponentRecords
        Their `items` are written.

    Returns
    -------
    tuple of int64 (n,), uint64 (n, words), int64
        The entities that have any of these, by rising id; their masks; and the other entities.
        Bit k of a mask stands for the k-th record, with 64 bits in a word.
    """
    items: list = []
    record: ComponentRecords

    for record in all_records:
        record.items = []
        record.is_exact = True
        items.append(record.items)
    everybody: list = sorted(entities.keys() - dead if dead else entities)
    return _gathered(entities, everybody, all_records, items)


def _gathered(entities: dict, some: list, all_records: list, items: list) -> tuple:
    """Append the components of some entities, by rising id, to lists by type; return their masks."""
    types: list = []
    one: cython.ulonglong = 1
    record: ComponentRecords

    for record in all_records:
        types.append(record.type)
    ids = np.array(some, np.int64)
    masks = np.zeros((len(ids), max(1, (len(types) + 63) // 64)), np.uint64)
    words: cython.ulonglong[:, ::1] = masks.data
    for i in range(len(some)):
        components: dict = entities[some[i]]
        for kind, component in components.items():
            n: cython.Py_ssize_t = place_of_type(types, kind)
            if n >= 0:
                words[i, n >> 6] |= one << (n & 63)
                items[n].append(component)
                if type(component) is not kind:
                    record = all_records[n]
                    record.is_exact = False
    has = masks.any(axis=1)
    return ids[has], masks[has], ids[~has]


def gather_again(entities: dict, dead, noted: list, all_records: list, found: tuple):
    """Update what `gather_components` `found` for the entities that have changed since.

    `noted` are these entities, by rising id.  The others cost a copy of their ids and masks.
    Return None if entities without any component came or went, which no log notes.
    """
    one: cython.ulonglong = 1
    record: ComponentRecords
    ids, masks, others = found
    some = np.array(noted, np.int64)
    there: list = []
    items: list = []
    for entity in noted:
        if entity in entities and entity not in dead:
            there.append(entity)
    for _ in range(len(all_records)):
        items.append([])
    new_ids, new_masks, new_others = _gathered(entities, there, all_records, items)
    places = ids.searchsorted(some)
    is_known = places < len(ids)
    is_known[is_known] = ids[places[is_known]] == some[is_known]
    known = places[is_known]

    for n in range(len(all_records)):
        bit = np.uint64(one << (n & 63))
        had = masks[known, n >> 6] & bit != 0
        if not had.any() and not items[n]:
            continue
        record = all_records[n]
        having = ids[masks[:, n >> 6] & bit != 0]
        for place in having.searchsorted(some[is_known][had])[::-1].tolist():
            del record.items[place]
        left = np.delete(having, having.searchsorted(some[is_known][had]))
        now = left.searchsorted(new_ids[new_masks[:, n >> 6] & bit != 0]).tolist()
        for place, item in zip(now[::-1], items[n][::-1], strict=True):
            record.items.insert(place, item)
    ids, masks = np.delete(ids, known), np.delete(masks, known, axis=0)
    at = ids.searchsorted(new_ids)
    others = np.sort(np.concatenate([others[~are_among(others, some)], new_others]))
    n_there = len(ids) + len(new_ids) + len(others)
    if n_there != len(entities) - len(entities.keys() & dead) or not all(
        map(entities.__contains__, others.tolist())
    ):
        return None
    return np.insert(ids, at, new_ids), np.insert(masks, at, new_masks, axis=0), others
