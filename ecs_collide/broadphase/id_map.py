"""A hash table from ids to rows, such as the rows of a tree's boxes.

It uses open addressing with linear probing.  A search starts at the hash of an id and ends at an
empty slot.  A removal closes its gap by moving later entries up.
"""

# Compiled with -O3: its long loops take 5 to 13 % fewer instructions than with -O2.
from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import BYTE, LONG, grown, nones, zeros
from ecs_collide._kernel.constants import HASH, LOW_31_BITS, LOW_32_BITS

TWICE: cython.Py_ssize_t = -2  # instead of the row of an id that occurs a second time


@cython.final
class IdMap:
    """A row for each id; rows of removed ids are reused."""

    n: ReadOnly[cython.Py_ssize_t]  # number of ids
    # int64 (room,): the id of each row.  Replaced when it grows
    ids: Public[cython.longlong[::1]]
    n_used: cython.Py_ssize_t  # rows that were ever used
    n_free: cython.Py_ssize_t
    used: Public[cython.schar[::1]]  # int8 (room,): 1 for the rows that are in use
    free: cython.longlong[::1]  # the first `n_free` are rows for reuse
    stamp: cython.longlong
    stamps: cython.longlong[::1]  # of each row: the last `find_many` that found it
    table: cython.longlong[::1]  # in each slot a row, or -1
    bits: cython.int  # number of bits of a slot number

    def __init__(self, room: cython.Py_ssize_t) -> None:
        self.ids = zeros(LONG, 0)
        self.used = zeros(BYTE, 0)
        self.free = zeros(LONG, 0)
        self.stamps = zeros(LONG, 0)
        self.table = nones(0)
        self.reserve(max(room, 8))

    @property
    def room(self) -> int:
        """The number of rows, in use or not."""
        return self.ids.shape[0]

    @cython.ccall
    def reserve(self, n_more: cython.Py_ssize_t) -> cython.bint:
        """Make room for `n_more` ids; return whether that has added rows."""
        room: cython.Py_ssize_t = self.ids.shape[0]

        if self.n + n_more <= room:
            return False
        room = max((self.n + n_more) * 5 // 4, 2 * room)  # or the next id would copy all
        bits: cython.int = 4
        while 1 << bits < 2 * room:
            bits += 1
        ids: cython.longlong[::1] = grown(self.ids, room)
        used: cython.schar[::1] = grown(self.used, room)
        free: cython.longlong[::1] = grown(self.free, room)
        stamps: cython.longlong[::1] = grown(self.stamps, room)
        table: cython.longlong[::1] = nones(1 << bits)

        self.ids = ids
        self.used = used
        self.free = free
        self.stamps = stamps
        self.table = table
        self.bits = bits
        for row in range(self.n_used):
            if self.used[row]:
                self.table[self._address(self.ids[row])] = row
        return True

    @cython.ccall
    def find(self, id: cython.longlong) -> cython.Py_ssize_t:
        """Return the row of an id, or -1."""
        return self.table[self._address(id)]

    @cython.ccall
    def add(self, id: cython.longlong) -> cython.Py_ssize_t:
        """Add a new id and return its row.  `reserve` must have made room."""
        if self.n_free > 0:
            self.n_free -= 1
            row: cython.Py_ssize_t = self.free[self.n_free]
        else:
            row = self.n_used
            self.n_used += 1
        self.n += 1
        self.ids[row] = id
        self.used[row] = 1
        self.table[self._address(id)] = row
        return row

    @cython.ccall
    def remove(self, id: cython.longlong) -> cython.Py_ssize_t:
        """Remove an id, which must be known, and return its row."""
        table: cython.longlong[::1] = self.table
        mask: cython.Py_ssize_t = table.shape[0] - 1
        hole: cython.Py_ssize_t = self._address(id)
        row: cython.Py_ssize_t = table[hole]
        at: cython.Py_ssize_t = hole

        self.used[row] = 0
        self.free[self.n_free] = row
        self.n_free += 1
        self.n -= 1
        table[hole] = -1
        while True:
            at = (at + 1) & mask
            if table[at] < 0:
                return row
            slot: cython.Py_ssize_t = self._first_slot(self.ids[table[at]])
            # The entry may move up unless its first slot lies after the hole.
            if ((at - slot) & mask) >= ((at - hole) & mask):
                table[hole] = table[at]
                table[at] = -1
                hole = at

    def find_many(self, ids: cython.longlong[::1], rows: cython.longlong[::1]) -> int:
        """Write the row of each id, up to the first that is unknown (-1) or repeated (-2).

        Returns the index of that id, or the number of ids.
        """
        self.stamp += 1
        for i in range(ids.shape[0]):
            row: cython.Py_ssize_t = self.find(ids[i])
            if row >= 0:
                if self.stamps[row] == self.stamp:
                    row = TWICE
                else:
                    self.stamps[row] = self.stamp
            rows[i] = row
            if row < 0:
                return i
        return ids.shape[0]

    def add_many(self, ids: cython.longlong[::1], rows: cython.longlong[::1]) -> int:
        """Add new ids and write their rows.  `reserve` must have made room.

        Stops at the first id that is known already; returns the number of rows written.
        """
        for i in range(ids.shape[0]):
            if self.find(ids[i]) >= 0:
                return i
            rows[i] = self.add(ids[i])
        return ids.shape[0]

    def remove_many(self, ids: cython.longlong[::1]) -> None:
        """Remove ids, all of which must be known."""
        for i in range(ids.shape[0]):
            self.remove(ids[i])

    def in_use(self) -> list:
        """Return all ids, in the order of their rows."""
        ids: list = []

        for row in range(self.n_used):
            if self.used[row]:
                ids.append(self.ids[row])
        return ids

    def _first_slot(self, id: cython.longlong) -> cython.Py_ssize_t:
        """Return the slot at which the search for an id starts."""
        low: cython.longlong = ((id & LOW_31_BITS) * HASH) & LOW_32_BITS
        high: cython.longlong = (((id >> 31) & LOW_31_BITS) * HASH) & LOW_32_BITS

        return ((low + (high >> 1)) & LOW_32_BITS) >> (32 - self.bits)

    def _address(self, id: cython.longlong) -> cython.Py_ssize_t:
        """Return the slot of an id in the table, or the empty slot for it."""
        mask: cython.Py_ssize_t = self.table.shape[0] - 1
        at: cython.Py_ssize_t = self._first_slot(id)

        # No local for the table, because acquiring a memoryview costs more than this loop.
        while self.table[at] >= 0 and self.ids[self.table[at]] != id:
            at = (at + 1) & mask
        return at
