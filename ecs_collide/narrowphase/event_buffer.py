"""The events of a step as arrays: collisions, begins and ends of contacts."""

from __future__ import annotations

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.arrays import BYTE, DOUBLE, LONG, grown, interleaved, reread, zeros
from ecs_collide.broadphase.pair_table import FIRST, SECOND
from ecs_collide.motion.bodies import flat, vector_of
from ecs_collide.narrowphase.packed import bytes_of, packed_rows

# The phase of a step in which a contact event was found; it orders events of one time.
AT_START = 0
WITHIN = 1
AT_END = 2

NORMAL = 4  # the first column of the normal in `EventBuffer.numbers`
# The columns of `EventBuffer.codes`.
EVENT_KIND = 0
OUTCOME = 1
# The columns of `EventBuffer.contact_codes`.
CHANGE = 0
PHASE = 1
CONTACT_KIND = 2
REASON = 3


@cython.final
class EventBuffer:
    """Growing columns, which `take` moves to another buffer at the end of each step."""

    dim: cython.int
    n_collisions: Public[cython.Py_ssize_t]
    n_contacts: Public[cython.Py_ssize_t]
    # (n, 8 + 7 * dim): time, exit, two entity ids (as int64), normal, closing speed, both
    # positions, both velocities, both corners of the shared region, impulse, two more ids: the
    # order of `events.collision_dtype`
    numbers: Public[cython.double[:, ::1]]
    flat_numbers: cython.p_double  # the same as a flat sequence of rows of `width`
    width: cython.Py_ssize_t
    time: Public[cython.double[:]]
    exit: Public[cython.double[:]]
    impulse: cython.double[:]
    first: Public[cython.longlong[:]]
    second: Public[cython.longlong[:]]
    solid_first: cython.longlong[:]
    solid_second: cython.longlong[:]
    codes: Public[cython.schar[:, ::1]]  # (n, 2): kind, outcome
    contact_time: Public[cython.double[::1]]  # (n,)
    contact_bodies: Public[cython.longlong[:, ::1]]  # (n, 2), entity ids
    contact_codes: Public[cython.schar[:, ::1]]  # (n, 4): change, phase, kind, reason
    contact_normals: Public[cython.double[:, ::1]]  # (n, dim), from the second body to the first
    # (n,): the image of the second body; see `broadphase.images`
    contact_images: Public[cython.longlong[::1]]
    image: Public[cython.longlong]  # of the next contact events

    def __init__(self, dim: cython.int):
        self.dim = dim
        self.width = 8 + 7 * dim
        self.numbers = zeros(DOUBLE, 16, self.width)
        self.codes = zeros(BYTE, 16, 2)
        self._name_columns()
        self.contact_time = zeros(DOUBLE, 16)
        self.contact_bodies = zeros(LONG, 16, 2)
        self.contact_codes = zeros(BYTE, 16, 4)
        self.contact_normals = zeros(DOUBLE, 16, dim)
        self.contact_images = zeros(LONG, 16)
        self.image = 0

    @cython.ccall
    def clear(self) -> cython.void:
        """Remove all events."""
        self.n_collisions = 0
        self.n_contacts = 0

    def _name_columns(self):
        self.flat_numbers = flat(self.numbers)
        self.time, self.exit, *_, self.impulse, _, _ = interleaved(self.numbers)
        _, _, self.first, self.second, *_, self.solid_first, self.solid_second = interleaved(
            reread(self.numbers, LONG)
        )

    @cython.ccall
    def take(self, other: EventBuffer) -> cython.void:
        """Exchange all events and their memory with another buffer; then remove all of that one."""
        self.n_collisions, other.n_collisions = other.n_collisions, 0
        self.n_contacts, other.n_contacts = other.n_contacts, 0
        self.numbers, other.numbers = other.numbers, self.numbers
        self.flat_numbers, other.flat_numbers = other.flat_numbers, self.flat_numbers
        self.time, other.time = other.time, self.time
        self.exit, other.exit = other.exit, self.exit
        self.impulse, other.impulse = other.impulse, self.impulse
        self.first, other.first = other.first, self.first
        self.second, other.second = other.second, self.second
        self.solid_first, other.solid_first = other.solid_first, self.solid_first
        self.solid_second, other.solid_second = other.solid_second, self.solid_second
        self.codes, other.codes = other.codes, self.codes
        self.contact_time, other.contact_time = other.contact_time, self.contact_time
        self.contact_bodies, other.contact_bodies = other.contact_bodies, self.contact_bodies
        self.contact_codes, other.contact_codes = other.contact_codes, self.contact_codes
        self.contact_images, other.contact_images = other.contact_images, self.contact_images
        self.contact_normals, other.contact_normals = other.contact_normals, self.contact_normals

    def add_collision(self) -> cython.Py_ssize_t:
        """Add a collision; return its row, which the caller fills."""
        n: cython.Py_ssize_t = self.n_collisions

        if n == self.codes.shape[0]:
            # `codes` last, because its length is the room.
            room: cython.Py_ssize_t = n + n // 2
            self.numbers = grown(self.numbers, room)
            self._name_columns()
            self.codes = grown(self.codes, room)
        self.n_collisions = n + 1
        return n

    def add_contact(
        self,
        change: cython.int,
        phase: cython.int,
        time: cython.double,
        first: cython.longlong,
        second: cython.longlong,
        normal: cython.p_double,
        kind: cython.int,
        reason: cython.int,
    ) -> cython.void:
        """Add the begin or the end of a contact."""
        n: cython.Py_ssize_t = self.n_contacts

        if n == self.contact_time.shape[0]:
            # The times last, because their length is the room.
            room: cython.Py_ssize_t = n + n // 2
            self.contact_bodies = grown(self.contact_bodies, room)
            self.contact_codes = grown(self.contact_codes, room)
            self.contact_normals = grown(self.contact_normals, room)
            self.contact_images = grown(self.contact_images, room)
            self.contact_time = grown(self.contact_time, room)
        self.n_contacts = n + 1
        self.contact_time[n] = time
        self.contact_images[n] = self.image
        self.contact_bodies[n, FIRST] = first
        self.contact_bodies[n, SECOND] = second
        self.contact_codes[n, CHANGE] = change
        self.contact_codes[n, PHASE] = phase
        self.contact_codes[n, CONTACT_KIND] = kind
        self.contact_codes[n, REASON] = reason
        for k in range(self.dim):
            self.contact_normals[n, k] = normal[k]

    def packed_collisions(self) -> bytes:
        """Return the collisions as rows of `events.collision_dtype`."""
        n: cython.Py_ssize_t = self.n_collisions

        if cython.compiled:
            numbers, codes = cython.address(self.numbers[0, 0]), cython.address(self.codes[0, 0])
        else:
            numbers, codes = self.numbers, self.codes
        return packed_rows(numbers, codes, n, self.width, NORMAL + self.dim)

    def packed_contacts(self) -> tuple:
        """Return the times, bodies, codes, images and normals of begins and ends, as bytes."""
        n: cython.Py_ssize_t = self.n_contacts

        if cython.compiled:
            times, bodies = (
                cython.address(self.contact_time[0]),
                cython.address(self.contact_bodies[0, 0]),
            )
            codes, images, normals = (
                cython.address(self.contact_codes[0, 0]),
                cython.address(self.contact_images[0]),
                cython.address(self.contact_normals[0, 0]),
            )
        else:
            times, bodies = self.contact_time, self.contact_bodies
            codes, images, normals = (
                self.contact_codes, self.contact_images, self.contact_normals,
            )  # fmt: skip
        return (
            bytes_of(times, 8 * n), bytes_of(bodies, 16 * n), bytes_of(codes, 4 * n),
            bytes_of(images, 8 * n), bytes_of(normals, 8 * self.dim * n),
        )  # fmt: skip

    # -- for handlers, who want objects at once: arrays would cost more than a few events --

    def collision_rows(self, indices) -> list:
        """Return collisions as tuples in the order of `events.collision_dtype`; all for None."""
        rows: list = []
        n: cython.Py_ssize_t

        for n in range(self.n_collisions) if indices is None else indices:
            rows.append(self.collision_row(n))
        return rows

    @cython.ccall
    def collision_row(self, n: cython.Py_ssize_t) -> tuple:
        """Return a collision as a tuple in the order of `events.collision_dtype`."""
        dim: cython.int = self.dim
        numbers: cython.p_double = self.flat_numbers
        normal: cython.Py_ssize_t = self.width * n + NORMAL
        at: cython.Py_ssize_t = normal + dim + 1  # the first number after normal and speed

        return (
            self.time[n], self.exit[n], self.first[n], self.second[n],
            vector_of(numbers, normal, dim), self.codes[n, EVENT_KIND], numbers[at - 1],
            vector_of(numbers, at, dim), vector_of(numbers, at + dim, dim),
            vector_of(numbers, at + 2 * dim, dim), vector_of(numbers, at + 3 * dim, dim),
            vector_of(numbers, at + 4 * dim, dim), vector_of(numbers, at + 5 * dim, dim),
            self.impulse[n], (self.solid_first[n], self.solid_second[n]), self.codes[n, OUTCOME],
        )  # fmt: skip

    def contact_rows(self) -> list:
        """Return the begins and ends as tuples in the order of `events.contact_dtype`, by time."""
        rows: list = []
        normals: cython.p_double = flat(self.contact_normals)
        n: cython.Py_ssize_t
        k: cython.int

        for n in range(self.n_contacts):
            # By time; then by phase (start of the step, within, end), ids and image.
            rows.append(
                (
                    self.contact_time[n], self.contact_codes[n, PHASE],
                    self.contact_bodies[n, FIRST], self.contact_bodies[n, SECOND],
                    self.contact_images[n], n,
                )
            )  # fmt: skip
        rows.sort()
        for k in range(len(rows)):
            n = rows[k][5]
            rows[k] = (
                self.contact_codes[n, CHANGE], self.contact_bodies[n, FIRST],
                self.contact_bodies[n, SECOND],
                vector_of(normals, n * self.dim, self.dim),
                self.contact_time[n], self.contact_codes[n, CONTACT_KIND],
                self.contact_codes[n, REASON],
            )  # fmt: skip
        return rows

    def contact_columns(self):
        """Return copies of the columns of the contact events, the arguments of `recover`."""
        n: cython.Py_ssize_t = self.n_contacts
        return (
            grown(self.contact_time, n, 0, n),
            grown(self.contact_bodies, n, 0, n),
            grown(self.contact_codes, n, 0, n),
            grown(self.contact_normals, n, 0, n),
        )

    def recover(
        self,
        times: cython.double[::1],
        bodies: cython.longlong[:, ::1],
        codes: cython.schar[:, ::1],
        normals: cython.double[:, ::1],
    ):
        """Replace all events by contact events, given as columns."""
        self.clear()
        for n in range(times.shape[0]):
            self.add_contact(
                codes[n, CHANGE], codes[n, PHASE], times[n], bodies[n, FIRST], bodies[n, SECOND],
                flat(normals[n : n + 1]), codes[n, CONTACT_KIND], codes[n, REASON],
            )  # fmt: skip
