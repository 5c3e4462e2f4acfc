# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""One type of component: who has it, and what its numbers were last known to be.

A game may set any attribute at any time, so every body is looked at in every
step.  What was seen last is kept twice: as a number in a `seen` column, and as
the very object that held it.  Numbers never change: where a component still
holds the same object there is nothing to read, and bodies at rest cost next
to nothing.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if not cython.compiled:
    # In Python all components go the way by name; the quick one stands in _slots.h.
    def slots_new(type, names):
        """Return None: no slots are found."""

    def slots_free(slots):
        """Free nothing."""

    def slots_make_room(slots, n_rows):
        """Have no rows."""

    def slots_file(slots, i, item):
        """File nothing."""

    def slots_forget(slots, i, k):
        """Forget nothing."""

    def slots_bind(slots, seen, now):
        """Look at no columns."""

    def slots_hold(slots, i):
        """Return False: not known without a look."""
        return False

    def slots_read(slots, i, numbers):
        """Return False: nothing was read."""
        return False

    def slots_write(slots, i):
        """Return False: nothing was written."""
        return False


@cython.final
@cython.cclass
class Kind:
    """One type of component: who has it, and what its numbers were last known to be.

    Attributes
    ----------
    type : type
    names : tuple of str
        The attributes that are numbers, three at most.
    mark : int
        The bit that says that a body has it; 0 for those that all bodies have.
    response : int
        Its code among the responses, or 0.
    items : list
        The component in each row, or None; empty until there is one.
    counts : int
        0 if another kind of the same type comes before it.
    """

    def __init__(self, type: object, names: tuple, mark: cython.int, response: cython.int):
        self.type = type
        self.names = names
        self.mark = mark
        self.response = response
        self.items = []
        self.width = len(names)
        self.counts = 1
        self.n_rows = 0
        self.slots = slots_new(type, names)
        if not cython.compiled:
            self.numbers = [0.0] * 3

    def __dealloc__(self):
        slots_free(self.slots)

    def bind(
        self, n_rows: cython.Py_ssize_t, seen: cython.double[:, ::1], now: cython.double[:, ::1]
    ):
        """Use columns of so many rows: what was seen, and what is to be written."""
        self.n_rows = n_rows
        self.seen = seen
        self.now = now
        if cython.compiled:
            slots_bind(self.slots, cython.address(seen[0, 0]), cython.address(now[0, 0]))
        if self.items:
            self._make_room()

    def _make_room(self):
        slots_make_room(self.slots, self.n_rows)  # first: where there is no memory, nothing is said
        self.items.extend([None] * (self.n_rows - len(self.items)))

    @cython.cfunc
    def file(self, i: cython.Py_ssize_t, component: object) -> cython.bint:
        """File a component, or None, in row i; tell whether it is one."""
        if not self.items:
            if component is None:
                return False
            self._make_room()
        slots_file(self.slots, i, component)
        self.items[i] = component
        return component is not None

    @cython.cfunc
    def forget(self, i: cython.Py_ssize_t) -> cython.int:
        """Know nothing of the component in row i any more: its numbers are read anew."""
        k: cython.Py_ssize_t

        if self.items:
            for k in range(self.width):
                slots_forget(self.slots, i, k)
        return 0

    def replace(self, i: cython.Py_ssize_t, component: object):
        """File another component in place of the one in row i, within a step."""
        if self.items[i] is not component:
            self.file(i, component)

    @cython.cfunc
    def read(self, i: cython.Py_ssize_t) -> cython.bint:
        """Take over the numbers of a component; tell whether one was not seen before.

        What cannot be read raises, and nothing is taken over then.
        """
        k: cython.Py_ssize_t
        differs: cython.bint = False

        if cython.compiled and slots_hold(self.slots, i):
            return False
        if not cython.compiled or not slots_read(self.slots, i, self.numbers):
            self.read_by_name(i)
        for k in range(self.width):
            differs |= self.numbers[k] != self.seen[i, k]
        if differs:
            for k in range(self.width):
                self.seen[i, k] = self.numbers[k]
        return differs

    def is_other(self, i: cython.Py_ssize_t) -> bool:
        """Return whether a component says something else than what was seen last."""
        k: cython.Py_ssize_t

        if not self.items or self.items[i] is None:
            return False
        for k in range(self.width):
            value = getattr(self.items[i], self.names[k], None)
            seen = self.seen[i, k]
            if value != seen and (value == value or seen == seen):  # nan is what nan was
                return True
        return False

    @cython.cfunc
    def read_by_name(self, i: cython.Py_ssize_t) -> cython.int:
        """Read the numbers of a component as Python does."""
        item: object = self.items[i]
        k: cython.Py_ssize_t

        for k in range(self.width):
            value = getattr(item, self.names[k])
            if not cython.compiled and type(value) is not float:  # compiled, the next line does it
                value = _number(value)
            self.numbers[k] = value
            if cython.compiled:
                slots_forget(self.slots, i, k)
        return 0

    @cython.cfunc
    def write(self, i: cython.Py_ssize_t) -> cython.int:
        """Write what differs from what was seen into a component; then both are the same."""
        k: cython.Py_ssize_t

        if not slots_write(self.slots, i):
            for k in range(self.width):
                if self.now[i, k] != self.seen[i, k]:
                    self.put(i, k, self.now[i, k])
                else:
                    self.now[i, k] = self.seen[i, k]  # zeros may differ in their signs
        return 0

    @cython.ccall
    def put(self, i: cython.Py_ssize_t, k: cython.Py_ssize_t, number: cython.double) -> cython.int:
        """Write a number into a component by name."""
        setattr(self.items[i], self.names[k], number)
        slots_forget(self.slots, i, k)
        self.seen[i, k] = number
        return 0

    def note(self, i: cython.Py_ssize_t, k: cython.Py_ssize_t, number: cython.double):
        """Take over a number that was found in a component within the step."""
        slots_forget(self.slots, i, k)
        self.seen[i, k] = number


def _number(value):
    """Return a number as a float; text is none."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"must be a number, not {value!r}")
    return float(value)
