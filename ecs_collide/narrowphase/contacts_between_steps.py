"""The contacts of a space between two steps.

`ContactsInStep` reads them at the start of a step and replaces them at its end.  Between steps the
game ends contacts if it deletes a body, moves it, or drops it through a one-way body.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython, struct
from ecs_collide._kernel.arrays import DOUBLE, LONG, nones, zeros
from ecs_collide._kernel.constants import ENDED
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.broadphase.images import widths_of
from ecs_collide.broadphase.pair_table import FIRST, SECOND
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.event_buffer import AT_START, EventBuffer
from ecs_collide.narrowphase.slopes import Slopes

# `ContactRow.kind`.  Snapshots contain these numbers.
#
#                       drop                 step begins
#             SOLID ------------> LEAVING ----------------> PASSING
SOLID = 0
CROSSING = 1
PASSING = 2  # one falls through the other until they separate; no event reports it
LEAVING = 3  # solid until the next step, in which one starts to fall through the other
UNTIL_APART = 4  # crossing until they separate, because of a response

# The columns of an array of contacts, beside FIRST and SECOND.
KIND = 2
AXIS = 3
SIGN = 4
HAD_IMPACT = 5
N_COLUMNS = 6

N_SCANS = 4  # to go through all contacts for so many bodies is quicker than to link them


@struct
class ContactRow:
    """A contact of two bodies."""

    # the rows of its bodies; `first` has the lower entity id
    first: cython.int
    second: cython.int
    kind: cython.schar  # SOLID to UNTIL_APART
    axis: cython.schar  # of the normal, which points from the second body to the first
    sign: cython.schar
    had_impact: cython.schar  # 1 if its bodies met in the last step in which one of them moved
    is_handled: cython.schar  # within a step: 1 once the step has processed it
    # in a world that wraps, the image of the second body that touches; see `broadphase.images`
    image: cython.longlong
    since: cython.double  # its begin, in seconds of the space's time


@cython.final
class ContactRows:
    """An array of contacts that grows."""

    n: ReadOnly[cython.Py_ssize_t]
    at: cython.pointer[ContactRow]
    memory: StructMemory
    # calls of `find` since the contacts have changed; more than `N_SCANS` once they are linked
    n_finds: cython.Py_ssize_t
    # The contacts of each body as a linked list of ends: 2 n is the first body of contact n, and
    # 2 n + 1 the second one.
    first_end: cython.longlong[::1]  # by row of a body; -1 for none
    next_end: cython.longlong[::1]  # by end; -1 for none

    def __init__(self):
        self.memory = StructMemory()
        self.first_end = self.next_end = nones(0)
        self.reserve(16)

    def reserve(self, n: cython.Py_ssize_t) -> cython.void:
        """Make room for `n` contacts."""
        if n > self.memory.room:
            self.at = cython.cast(
                cython.pointer(ContactRow), self.memory.grow(cython.sizeof(ContactRow), n)
            )

    def clear(self) -> cython.void:
        """Remove all contacts."""
        self.cut(0)

    def cut(self, n: cython.Py_ssize_t) -> cython.void:
        """Remove all contacts except for the first `n`."""
        self.n = n
        self.n_finds = 0

    @cython.inline
    def add(
        self,
        first: cython.Py_ssize_t,
        second: cython.Py_ssize_t,
        kind: cython.int,
        axis: cython.int,
        sign: cython.int,
        had_impact: cython.int,
        image: cython.longlong,
        since: cython.double,
    ) -> cython.void:
        """Add a contact behind the others."""
        n: cython.Py_ssize_t = self.n

        if n == self.memory.room:
            self.reserve(2 * n)
        self.n_finds = 0
        self.at[n].first = first
        self.at[n].second = second
        self.at[n].kind = kind
        self.at[n].axis = axis
        self.at[n].sign = sign
        self.at[n].had_impact = had_impact
        self.at[n].is_handled = 0
        self.at[n].image = image
        self.at[n].since = since
        self.n = n + 1

    def move(self, n: cython.Py_ssize_t, to: cython.Py_ssize_t) -> cython.void:
        """Move a contact to an earlier place."""
        if n != to:
            _copy(self.at, n, self.at, to)

    def copy_from(self, other: ContactRows) -> cython.void:
        """Copy the contacts of another array."""
        self.reserve(other.n)
        for n in range(other.n):
            _copy(other.at, n, self.at, n)
        self.cut(other.n)

    def swap(self, other: ContactRows) -> cython.void:
        """Exchange the contacts with another array."""
        self.memory, other.memory = other.memory, self.memory
        self.at, other.at = other.at, self.at
        self.n, other.n = other.n, self.n
        self.n_finds = other.n_finds = 0

    @cython.inline
    def body(self, n: cython.Py_ssize_t, side: cython.int) -> cython.Py_ssize_t:
        """Return the row of the first body of a contact (side 0) or of the second one (1)."""
        return self.at[n].second if side else self.at[n].first

    @cython.inline
    def partner(self, n: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the row of the other body of a contact."""
        return self.at[n].first + self.at[n].second - row

    def face(self, n: cython.Py_ssize_t) -> cython.int:
        """Return (axis + 1) * sign of the normal of a contact."""
        return (self.at[n].axis + 1) * (1 if self.at[n].sign > 0 else -1)

    def find(self, row: cython.Py_ssize_t) -> list:
        """Return the numbers of the contacts of a body, in ascending order."""
        found: list = []

        if self.n_finds < N_SCANS:
            self.n_finds += 1
            for n in range(self.n):
                if self.at[n].first == row or self.at[n].second == row:
                    found.append(n)
            return found
        self.link()
        end: cython.Py_ssize_t = self.end_of(row)
        while end >= 0:
            found.append(end >> 1)
            end = self.next_end[end]
        return found

    def end_of(self, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first end of a body, -1 for none; `link` the contacts before."""
        return self.first_end[row] if 0 <= row < self.first_end.shape[0] else -1

    def link(self) -> cython.void:
        """Link the contacts of each body in ascending order, unless they are linked."""
        n_rows: cython.Py_ssize_t = 0

        if self.n_finds > N_SCANS:
            return
        for n in range(self.n):
            n_rows = max(n_rows, self.at[n].first + 1, self.at[n].second + 1)
        self.first_end = nones(n_rows)
        self.next_end = nones(2 * self.n)
        for end in range(2 * self.n - 1, -1, -1):
            row: cython.Py_ssize_t = self.body(end >> 1, end & 1)
            self.next_end[end] = self.first_end[row]
            self.first_end[row] = end
        self.n_finds = N_SCANS + 1

    def tuples_of(self, numbers) -> list:
        """Return some contacts as tuples: rows of the bodies, kind, axis, sign, image, since."""
        n: cython.Py_ssize_t
        found: list = []

        for n in numbers:
            found.append(
                (
                    self.at[n].first, self.at[n].second, self.at[n].kind, self.at[n].axis,
                    self.at[n].sign, self.at[n].image, self.at[n].since,
                )
            )  # fmt: skip
        return found

    def arrays(self) -> tuple:
        """Return copies of all contacts as arrays.

        Returns
        -------
        codes : int64 (n, 6)
            Rows of the first and the second body, kind, axis, sign, and whether they met.
        since : float64 (n,)
            The begin of each, in seconds of the space's time.
        images : int64 (n,)
            The image of the second body.
        """
        codes: cython.longlong[:, ::1] = zeros(LONG, self.n, N_COLUMNS)
        since: cython.double[::1] = zeros(DOUBLE, self.n)
        images: cython.longlong[::1] = zeros(LONG, self.n)

        for n in range(self.n):
            codes[n, FIRST] = self.at[n].first
            codes[n, SECOND] = self.at[n].second
            codes[n, KIND] = self.at[n].kind
            codes[n, AXIS] = self.at[n].axis
            codes[n, SIGN] = self.at[n].sign
            codes[n, HAD_IMPACT] = self.at[n].had_impact
            since[n] = self.at[n].since
            images[n] = self.at[n].image
        return codes, since, images


@cython.cfunc
@cython.inline
def _copy(
    rows: cython.pointer[ContactRow],
    n: cython.Py_ssize_t,
    others: cython.pointer[ContactRow],
    m: cython.Py_ssize_t,
) -> cython.void:
    """Copy contact n of one array to index m of another."""
    others[m].first = rows[n].first
    others[m].second = rows[n].second
    others[m].kind = rows[n].kind
    others[m].axis = rows[n].axis
    others[m].sign = rows[n].sign
    others[m].had_impact = rows[n].had_impact
    others[m].is_handled = rows[n].is_handled
    others[m].image = rows[n].image
    others[m].since = rows[n].since


@cython.final
class Contacts:
    """The contacts of a space."""

    bodies: Bodies
    slopes: Slopes
    event_buffer: EventBuffer
    rows: ReadOnly[ContactRows]
    saved: ReadOnly[ContactRows]  # the contacts before the step
    # list of int: rows of bodies, asleep or not, that have lost a contact; the caller clears it
    left: ReadOnly[list]
    # list of int: rows of bodies that `forget` was called for; the caller clears it
    forgotten: ReadOnly[list]
    clock: Public[cython.double]  # the space's time at the start of the step, in seconds
    n_pressed: cython.Py_ssize_t
    n_free: cython.Py_ssize_t
    # (n_free + n_pressed or more,): rows of the moving bodies; behind the others the dynamic ones
    # in contact with other dynamic bodies at the step's start
    parted: cython.longlong[::1]
    pressed_in: cython.longlong[::1]  # by row: `n_calls` of the last call that found it pressed
    n_calls: cython.longlong  # of `find_pressed`
    n_forgotten: cython.longlong  # bodies, in all calls of `forget`
    places: cython.longlong[::1]  # by row: the number of a body among these, in each call backwards

    def __init__(self, bodies: Bodies, event_buffer: EventBuffer):
        self.bodies = bodies
        self.slopes = Slopes(bodies)
        self.event_buffer = event_buffer
        self.rows = ContactRows()
        self.saved = ContactRows()
        self.left = []
        self.forgotten = []
        self.parted = zeros(LONG, 1)
        self.pressed_in = zeros(LONG, 1)
        self.places = zeros(LONG, 1)

    @cython.ccall
    def save(self) -> cython.void:
        """Copy the contacts before a step to `saved`."""
        self.saved.copy_from(self.rows)

    def recover(
        self,
        codes: cython.longlong[:, ::1],
        since: cython.double[::1],
        images: cython.longlong[::1],
    ):
        """Replace all contacts.

        Parameters
        ----------
        codes, since, images : as returned by `ContactRows.arrays`
        """
        self.rows.clear()
        for n in range(codes.shape[0]):
            self.rows.add(
                codes[n, FIRST], codes[n, SECOND], codes[n, KIND], codes[n, AXIS], codes[n, SIGN],
                codes[n, HAD_IMPACT], images[n], since[n],
            )  # fmt: skip

    @cython.ccall
    def find_pressed(self, moving: cython.longlong[::1]) -> cython.void:
        """Find which moving dynamic bodies are in contact with other dynamic bodies.

        Sets `parted`, if there are any contacts.  In a world that wraps none is
        pressed, because pairs across an edge are found by the paths alone.
        """
        b: Bodies = self.bodies
        rows: ContactRows = self.rows

        if self.parted.shape[0] < b.centre.shape[0]:
            self.pressed_in = zeros(LONG, b.centre.shape[0])
            self.parted = zeros(LONG, b.centre.shape[0])  # last, because its length is the room
        self.n_pressed = self.n_free = 0
        if b.wraps or rows.n == 0:
            return
        self.n_calls += 1
        for n in range(rows.n):
            if rows.at[n].kind != SOLID or not b.dynamic[rows.at[n].first]:
                continue
            if b.dynamic[rows.at[n].second]:
                self.pressed_in[rows.at[n].first] = self.n_calls
                self.pressed_in[rows.at[n].second] = self.n_calls
        for n in range(moving.shape[0]):
            if self.pressed_in[moving[n]] != self.n_calls:
                self.parted[self.n_free] = moving[n]
                self.n_free += 1
        for n in range(moving.shape[0]):
            if self.pressed_in[moving[n]] == self.n_calls:
                self.parted[self.n_free + self.n_pressed] = moving[n]
                self.n_pressed += 1

    # -- between two steps --

    def forget(self, rows: cython.longlong[::1], reasons: cython.schar[::1]):
        """End all contacts of some bodies, each body's for its reason, in one pass.

        If both bodies of a contact are among them, the one that comes first gives the reason.
        O(bodies given + contacts).
        """
        n_left: cython.Py_ssize_t = 0

        if self.places.shape[0] < self.bodies.centre.shape[0]:
            self.places = zeros(LONG, self.bodies.centre.shape[0])
        last: cython.longlong = self.n_forgotten  # the largest place of earlier calls
        places: cython.longlong[::1] = self.places
        self.n_forgotten += rows.shape[0]
        for n in range(rows.shape[0]):
            self.forgotten.append(rows[n])
            places[rows[n]] = self.n_forgotten - n
        for n in range(self.rows.n):
            place: cython.longlong = max(
                places[self.rows.at[n].first], places[self.rows.at[n].second]
            )
            if place > last:
                self.report_end(n, AT_START, 0.0, reasons[self.n_forgotten - place])
                self._wake_partner(n, rows[self.n_forgotten - place])
            else:
                self.rows.move(n, n_left)
                n_left += 1
        self.rows.cut(n_left)

    def wake_partners(self, row: cython.Py_ssize_t):
        """Add the sleeping bodies in contact with a body that the game has moved to `left`."""
        n: cython.Py_ssize_t

        for n in self.rows.find(row):
            self._wake_partner(n, row)

    def _wake_partner(self, n: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.void:
        """Add the other body of a contact to `left`."""
        self.left.append(self.rows.partner(n, row))

    def drop(self, row: cython.Py_ssize_t, platform: cython.Py_ssize_t) -> int:
        """Make a body fall through one-way bodies on which it stands, from the next step on.

        Parameters
        ----------
        row, platform : int
            Rows; a platform of -1 stands for all one-way bodies.

        Returns
        -------
        int
            Number of one-way bodies that the body begins to fall through.
        """
        rows: ContactRows = self.rows
        n: cython.Py_ssize_t
        n_dropped: cython.Py_ssize_t = 0

        for n in rows.find(row):
            if rows.at[n].kind not in (SOLID, LEAVING):
                continue
            other: cython.Py_ssize_t = rows.partner(n, row)
            if platform >= 0 and other != platform:
                continue
            # The face of the second body; the first body touches with the opposite one.
            face: cython.int = rows.face(n)
            if self.bodies.rare.one_way[other] != (face if rows.at[n].second == other else -face):
                continue
            rows.at[n].kind = LEAVING
            n_dropped += 1
            self.left.append(row)  # it must be awake to fall
        return n_dropped

    def report_end(
        self,
        n: cython.Py_ssize_t,
        phase: cython.int,
        time: cython.double,
        reason: cython.int,
    ) -> cython.void:
        """Report that a contact ended, except for PASSING, whose begin was not reported."""
        rows: ContactRows = self.rows
        kind: cython.int = rows.at[n].kind

        self.event_buffer.image = rows.at[n].image
        if kind == PASSING:
            return
        if kind == LEAVING:
            kind = SOLID
        elif kind == UNTIL_APART:
            kind = CROSSING
        self._find_normal(n)
        self.event_buffer.add_contact(
            ENDED, phase, time,
            self.bodies.ids[rows.at[n].first], self.bodies.ids[rows.at[n].second],
            self.slopes.unit, kind, reason,
        )  # fmt: skip

    def _find_normal(self, n: cython.Py_ssize_t) -> cython.void:
        """Find the unit normal of a contact, as `slopes.unit`."""
        rows: ContactRows = self.rows

        self.slopes.find_normal(
            rows.at[n].first, rows.at[n].second, rows.at[n].axis, rows.at[n].sign
        )

    # -- for other modules --

    def until_apart(self) -> set:
        """Return pairs of rows that cross until they separate, each pair in both orders."""
        found: set = set()

        for n in range(self.rows.n):
            if self.rows.at[n].kind == UNTIL_APART:
                found.add((self.rows.at[n].first, self.rows.at[n].second))
                found.add((self.rows.at[n].second, self.rows.at[n].first))
        return found

    def shift_images(self, shifts: cython.longlong[::1]):
        """Update the images after bodies were moved back into the world.

        Parameters
        ----------
        shifts : int64 (n_rows,)
            The image by which each body was moved.
        """
        for n in range(self.rows.n):
            self.rows.at[n].image += shifts[self.rows.at[n].second] - shifts[self.rows.at[n].first]

    def offsets_into(self, offsets: cython.double[:, ::1]):
        """Write the offset of the image of each contact's second body, float64 (n, dim)."""
        for n in range(self.rows.n):
            for k in range(self.bodies.dim):
                offsets[n, k] = widths_of(self.rows.at[n].image, k) * self.bodies.width[k]

    def normals_into(self, normals: cython.double[:, ::1]):
        """Write the unit normal of each contact, float64 (n, dim)."""
        for n in range(self.rows.n):
            self._find_normal(n)
            for k in range(self.bodies.dim):
                normals[n, k] = self.slopes.unit[k]

    def check(self) -> None:
        """Verify the rows; raise AssertionError if one cannot be a contact."""
        seen: set = set()

        for n in range(self.rows.n):
            key = (self.rows.at[n].first, self.rows.at[n].second, self.rows.at[n].image)
            kind: cython.int = self.rows.at[n].kind
            axis: cython.int = self.rows.at[n].axis
            sign: cython.int = self.rows.at[n].sign
            since: cython.double = self.rows.at[n].since
            is_valid: cython.bint = SOLID <= kind <= UNTIL_APART and 0 <= axis < self.bodies.dim
            is_valid = is_valid and 1 <= abs(sign) <= 2 and since == since  # a sign of 2 at a slope
            assert is_valid, f"contact {n} of {key}: {kind=} {axis=} {sign=} {since=}"
            assert key not in seen, f"contact {n} is there twice: {key}"
            assert (key[1], key[0], -key[2]) not in seen, f"contact {n} is there twice: {key}"
            seen.add(key)
