"""One type of component: the object of each body, and its values when last read or written.

A game may set any attribute at any time, so every step reads every body.  The
last value is stored twice: as a number in a `seen` column, and as the object
that held it.  Numbers are immutable, so a component that still holds the same
object has the same value, and bodies at rest cost next to nothing.

An attribute that is not a slot may round a value that is written into it.
`components.attributes` then stores the exact number, and only such attributes are read back.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from math import copysign, floor
from typing import Any

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import DOUBLE, zeros
from ecs_collide._kernel.constants import INF
from ecs_collide.components.attributes import (
    ROUNDED,
    exact_numbers,
    forget_exact,
    is_rounding,
    keeps_numbers,
    part_of,
    read_number,
    taken_number,
    write_number,
)
from ecs_collide.motion.bodies import flat
from ecs_collide.sync.slots import (
    Slots,
    slots_bind,
    slots_cache,
    slots_forget,
    slots_free,
    slots_hold,
    slots_learn,
    slots_make_room,
    slots_new,
    slots_read,
    slots_use,
    slots_write,
)
from ecs_collide.sync.undo import Undo

# The seen columns of a component with a number and a code for a rule.
VALUE = 0
CODE = 1


@cython.final
class ComponentBinding:
    """One type of component: the object of each body, and its seen values."""

    type: ReadOnly[Any]
    names: ReadOnly[tuple]
    mark: Public[cython.int]
    response: ReadOnly[cython.int]
    columns: ReadOnly[tuple]
    column: ReadOnly[Any]
    counts: Public[cython.int]
    items: ReadOnly[list]
    slots: cython.pointer[Slots]
    width: cython.Py_ssize_t
    has_parts: cython.bint
    keeps: cython.bint
    parts: list
    n_rows: cython.Py_ssize_t
    numbers: cython.double[3]
    minimum: cython.double[3]
    maximum: cython.double[3]
    whole: cython.bint[3]
    seen: cython.double[:, ::1]
    now: cython.double[:, ::1]
    # the kernel object whose column `target` gets the first number; see `components.table.Column`
    user: object
    target: cython.double[::1]
    has_target: cython.bint
    default: Public[cython.double]  # the number of bodies without the component
    flag: str  # the attribute of `user` to set once a body has the component; "" when it is set
    index: Public[cython.Py_ssize_t]  # among the kinds of a reader
    undo: Public[Undo]  # of that reader; None if no step uses it
    written: cython.double[:, ::1]  # see `store_all`

    def __init__(
        self,
        type,
        names: tuple,
        mark: cython.int,
        response: cython.int,
        columns: tuple = ("seen_mass", "seen_mass"),
        bounds: tuple = (),
        column: Any = None,
    ):
        self.type = type
        self.names = names  # of its attributes, three at most; see `components.attributes`
        self.mark = mark  # the bit of `Has`; 0 for a component that all bodies have
        self.response = response  # its response code, or 0
        self.columns = columns  # the seen values, and the values to write; unused without numbers
        self.column = column
        self.has_target = column is not None
        self.default = column.default if self.has_target else 0.0
        self.flag = column.flag if self.has_target else ""
        self.items = []  # the component in each row, or None; empty until there is one
        self.width = len(names)
        self.parts = list(map(part_of, names))
        self.has_parts = self.parts != [None] * self.width
        self.keeps = all(map(keeps_numbers, [type] * self.width, names))
        self.counts = 1  # 0 if another kind of the same type comes before it
        self.slots = slots_new(type, names)
        self.undo = None  # type: ignore[assignment]
        self.written = zeros(DOUBLE, 0, self.width)
        for k, each in enumerate(bounds):
            self.minimum[k] = each.minimum
            self.maximum[k] = INF if each.may_be_infinite else each.maximum
            self.whole[k] = each.is_whole

    def __dealloc__(self):
        slots_free(self.slots)

    def bind(
        self,
        n_rows: cython.Py_ssize_t,
        seen: cython.double[:, ::1],
        now: cython.double[:, ::1],
        user: object = None,
    ):
        """Set the columns of `n_rows` rows: seen values, values to write, and the column of `user`."""
        if min(seen.shape[0], now.shape[0]) < n_rows:
            raise IndexError(f"{n_rows} rows of {self.type.__name__} do not fit into their columns")
        if self.items:
            self._make_room(n_rows)
        self.n_rows = n_rows
        self.seen = seen
        self.now = now
        self.user = user
        if self.has_target:
            self.target = getattr(user, self.column.name)
        slots_bind(self.slots, cython.address(seen[0, 0]), cython.address(now[0, 0]))

    def clear(self, i: cython.Py_ssize_t) -> cython.void:
        """Set the kernel's column to its default, for a body without the component."""
        if self.has_target:
            self.target[i] = self.default

    def fill(self, i: cython.Py_ssize_t) -> cython.void:
        """Copy the seen number to the column of a kernel."""
        if self.has_target:
            self.target[i] = self.seen[i, VALUE]
            if self.flag:
                setattr(self.user, self.flag, True)
                self.flag = ""

    def _make_room(self, n_rows: cython.Py_ssize_t) -> cython.void:
        slots_make_room(self.slots, n_rows)  # first, as `items` tells how much room there is
        self.items.extend([None] * (n_rows - len(self.items)))
        slots_use(self.slots, self.items)

    @cython.ccall
    def require(self, n_rows: cython.Py_ssize_t) -> cython.int:
        """Raise IndexError unless there is room for `n_rows` rows."""
        if self.n_rows < n_rows or (self.items and len(self.items) < n_rows):
            raise IndexError(f"{self.type.__name__} has room for {self.n_rows} rows, not {n_rows}")
        return 0

    @cython.ccall
    def cache(self, i: cython.Py_ssize_t, component: object) -> cython.bint:
        """Cache a component, or None, in row i; return whether it is not None."""
        if not self.items:
            if component is None:
                return False
            self._make_room(self.n_rows)
        if not 0 <= i < len(self.items):
            raise IndexError(f"row {i} of {self.type.__name__} must be below {len(self.items)}")
        slots_cache(self.slots, i, component)
        self.items[i] = component
        return component is not None

    def forget(self, i: cython.Py_ssize_t) -> cython.void:
        """Forget the known objects of row i, so that its numbers are read again."""
        if self.items:
            for k in range(self.width):
                slots_forget(self.slots, i, k)

    def learn(self, rows: cython.longlong[::1], writes: cython.bint) -> cython.void:
        """Remember which objects hold the seen values of `rows`; the next step reads the others.

        With `writes`, known objects may be changed so that they do.
        """
        if self.items and rows.shape[0]:
            slots_learn(self.slots, cython.address(rows[0]), rows.shape[0], writes)

    def read(self, i: cython.Py_ssize_t) -> cython.bint:
        """Read the numbers of a component; return whether one has changed.

        Raise, and change nothing, if a number cannot be read.
        """
        differs: cython.bint = False

        if self._holds_seen(i):
            return False
        if not slots_read(self.slots, i, self.numbers):
            self.read_by_name(i)
        for k in range(self.width):
            differs |= self.numbers[k] != self.seen[i, k]
        if differs:
            if self.undo is not None:
                self._store_seen(i, i)
            for k in range(self.width):
                self.seen[i, k] = self.numbers[k]
        return differs

    def _holds_seen(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a component is known to hold its seen values."""
        return slots_hold(self.slots, i) if cython.compiled else self._equals_seen(i)

    @cython.cfunc
    def _equals_seen(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether the attributes of a component are its seen values, in pure Python."""
        item: object = self.items[i]

        if self.has_parts or (len(ROUNDED) > 0 and not self._keeps(item)):
            return False
        try:
            for k in range(self.width):
                value: Any = getattr(item, self.names[k])
                if type(value) is not float or value != self.seen[i, k]:
                    return False
        except AttributeError:
            return False
        return True

    def is_cached(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether there is a component in row i."""
        return len(self.items) > 0 and self.items[i] is not None

    def allows(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a seen number is within its bounds."""
        number: cython.double = self.seen[i, k]

        return self.minimum[k] <= number <= self.maximum[k] and (
            not self.whole[k] or floor(number) == number
        )

    def allows_all(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether all seen numbers of a component are within their bounds."""
        k: cython.int
        fine: cython.bint = True

        for k in range(self.width):
            fine &= self.allows(i, k)
        return fine

    @cython.ccall
    def differs(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a component, if there is one, holds other numbers than its seen values."""
        if not self.is_cached(i) or slots_hold(self.slots, i):
            return False
        if not slots_read(self.slots, i, self.numbers):
            return self.is_other(i)
        differs: cython.bint = False
        for k in range(self.width):
            differs |= self.numbers[k] != self.seen[i, k]
        return differs

    @cython.ccall
    def show(self, i: cython.Py_ssize_t, numbers: tuple) -> cython.int:
        """Store the seen values of row i, and write the numbers that differ, if there is a component."""
        if not self.is_cached(i):
            return 0
        self.store(i)
        for k in range(self.width):
            number: cython.double = numbers[k]
            if number != self.seen[i, k]:
                self.write_one(i, k, number)
        return 0

    @cython.ccall
    def is_other(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a component differs from its seen values."""
        if not self.is_cached(i) or slots_hold(self.slots, i):
            return False
        for k in range(self.width):
            value = read_number(self.items[i], self.names[k], None)
            seen = self.seen[i, k]
            if value != seen and (value == value or seen == seen):  # two nans are equal
                return True
        return False

    def read_by_name(self, i: cython.Py_ssize_t) -> cython.void:
        """Read the numbers of a component by attribute name."""
        item: object = self.items[i]
        known: dict = {}
        if len(ROUNDED) > 0 and not self._keeps(item):
            known = exact_numbers(item)

        for k in range(self.width):
            value: Any = self._read_part(item, k)
            if known and self.names[k] in known:
                value = taken_number(item, self.names[k], value)
            if type(value) is not float and (not cython.compiled or isinstance(value, float)):
                value = _number(value)  # C converts others on assignment
            self.numbers[k] = value
            slots_forget(self.slots, i, k)

    def _keeps(self, item: object) -> cython.bint:
        """Return whether the attributes of a component store numbers unchanged."""
        return self.keeps and type(item) is self.type

    @cython.cfunc
    def _read_part(self, item: object, k: cython.Py_ssize_t) -> object:
        """Return the value of an attribute or of a part of a vector."""
        part = self.parts[k]
        if part is None:
            return getattr(item, self.names[k])  # not the exact number, as the caller asks for it
        attribute, key = part
        try:
            vector = getattr(item, attribute)
            return vector[key] if isinstance(key, int) else getattr(vector, key)
        except (IndexError, KeyError, TypeError, AttributeError):
            pass  # the next line raises a clear error
        return read_number(item, self.names[k])

    def _write_part(self, item: object, k: cython.Py_ssize_t, number: cython.double) -> cython.void:
        """Write a number that may be a part of a vector, like `write_number`."""
        part = self.parts[k]
        if part is not None and isinstance(part[1], int):
            attribute, key = part
            try:
                getattr(item, attribute)[key] = number
                if float(getattr(item, attribute)[key]) == number:
                    if len(ROUNDED) > 0:
                        forget_exact(item, self.names[k])
                    return
            except (IndexError, KeyError, TypeError, AttributeError):
                pass  # it cannot change, or the next line raises a clear error
        write_number(item, self.names[k], number)

    def store_all(self, rows: cython.longlong[::1]) -> cython.void:
        """Store the seen values of `rows`, which may be overwritten next."""
        n_rows: cython.Py_ssize_t = rows.shape[0]

        if not self.items:
            return
        if self.written.shape[0] < n_rows:
            self.written = zeros(DOUBLE, n_rows + n_rows // 8, self.width)
        seen: cython.p_double = flat(self.seen)
        written: cython.p_double = flat(self.written)
        for n in range(n_rows):
            for k in range(self.width):
                written[self.width * n + k] = seen[self.width * rows[n] + k]
        self.undo.stored.append(self)

    def write(self, i: cython.Py_ssize_t) -> cython.void:
        """Write the values that differ from the seen ones into a component."""
        if slots_write(self.slots, i):
            return
        for k in range(self.width):
            if self.now[i, k] != self.seen[i, k]:
                self.write_one(i, k, self.now[i, k])
            else:
                self.now[i, k] = self.seen[i, k]  # zeros may differ in sign

    @cython.ccall
    def write_one(
        self, i: cython.Py_ssize_t, k: cython.Py_ssize_t, number: cython.double
    ) -> cython.int:
        """Write a number into a component by name."""
        item: object = self.items[i]
        if self._keeps(item):
            setattr(item, self.names[k], number)
        else:
            self._write_part(item, k, number)
        slots_forget(self.slots, i, k)
        self.seen[i, k] = number
        return 0

    def note(self, i: cython.Py_ssize_t, k: cython.Py_ssize_t, number: cython.double):
        """Record a number that a response has set in a component."""
        slots_forget(self.slots, i, k)
        self.seen[i, k] = number

    # -- a step that is cut short --

    @cython.ccall
    def store(self, i: cython.Py_ssize_t) -> cython.int:
        """Store the seen values of row i before a response may change the component."""
        if not 0 <= i < self.n_rows:
            raise IndexError(f"row {i} of {self.type.__name__} must be below {self.n_rows}")
        self._store_seen(i, -1 - i)
        return 0

    def _store_seen(self, i: cython.Py_ssize_t, code: cython.Py_ssize_t) -> cython.void:
        """Store the seen values of row i in `undo`; `code` is as in `Undo.rows`."""
        undo: Undo = self.undo

        undo.make_room()
        for k in range(self.width):
            undo.numbers[undo.n, k] = self.seen[i, k]
        undo.add(self.index, code)

    def put_back_all(self, rows: cython.longlong[::1]):
        """Put back the numbers that `store_all` has stored of `rows`."""
        for n in range(rows.shape[0]):
            self.put_back(rows[n], self.written, n, True, False)

    def put_back(
        self,
        i: cython.Py_ssize_t,
        before: cython.double[:, ::1],
        n: cython.Py_ssize_t,
        is_written: cython.bint,
        is_known: cython.bint,
    ):
        """Put back the seen values of row i from row n of `before`.

        With `is_written`, the component gets them too; unless `is_known`, only where it holds
        numbers of the step.
        """
        for k in range(self.width):
            if is_written and i < len(self.items):
                self._put_back_one(i, k, before[n, k], is_known)
            self.seen[i, k] = before[n, k]

    def _put_back_one(
        self,
        i: cython.Py_ssize_t,
        k: cython.Py_ssize_t,
        before: cython.double,
        is_known: cython.bint,
    ) -> cython.void:
        item: object = self.items[i]
        ours: cython.double = self.seen[i, k]
        if ours == before:  # a write may have been cut short
            ours = self.now[i, k]
        try:
            there: cython.double = read_number(item, self.names[k])
            is_ours: cython.bint = is_known or there == ours
            if not is_ours and not self._keeps(item):
                is_ours = is_rounding(there, ours)
            if is_ours and there != before:
                write_number(item, self.names[k], before)
        except MemoryError:
            raise
        except Exception:  # raised by a custom component, which then keeps its value
            return

    def see_none(self, i: cython.Py_ssize_t, number: cython.double) -> cython.void:
        """Set the seen values of a body without such a component to a number."""
        differs: cython.bint = False

        for k in range(self.width):
            there: cython.double = self.seen[i, k]
            differs |= there != number or copysign(1.0, there) != copysign(1.0, number)
        if differs:  # else no page of the column is written for a component that nobody has
            for k in range(self.width):
                self.seen[i, k] = number


def _number(value):
    """Return a number as a float; raise TypeError for text."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"must be a number, not {value!r}")
    return float(value)
